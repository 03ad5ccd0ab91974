//! The fields "power": the state of a register after an instruction that accesses it (sharing thesis 4.2.1, 4.2.2).
//!
//! A register whose next access is near stays ON. If the next access is far, the register goes to SLEEP if a lane of the warp may still read its
//! value, and OFF if no lane will. Near means: on every path, within a threshold of W instructions.
//!
//! Two analyses decide. [`NextAccess`] is the thesis's distance; a wrong distance costs a wake-up or leakage, never a value. Liveness decides whether
//! a value may be lost. The thesis uses the liveness of a thread, which is wrong where lanes diverge: a register goes OFF for all lanes, including
//! lanes that wait while the other side of a branch runs. So this pass uses the liveness of the warp ([`liveness::of_warp`]).
//!
//! The states are those of words of the main register file. With ORF and LRF above it, an operand that is read or written there does not access the
//! main register file: both analyses ignore it ([`of_main`]).

use super::flow::{Registers, graph, sources};
use super::liveness;
use gpurf_isa::{Instruction, Operand, Places, PowerState, Reg, Slot};

/// The largest threshold. The thesis sweeps W from 1 to 21 (table 4.5).
pub const MOST: u8 = 31;

/// The distance to the next access of each register, after each node of a graph (equations 4.1).
#[derive(Clone, Debug)]
pub struct NextAccess {
    /// Item `k - 1` has, for each node, the registers whose distance is at most `k`.
    within: Vec<Vec<Registers>>,
}

impl NextAccess {
    /// Computes the distances for a graph, given the registers that each node accesses and its successors. Distances above the threshold count as
    /// infinite.
    ///
    /// The equations have one solution, since every cycle without an access makes a distance infinite. It is computed from the smallest distance up.
    /// The distance after a node is at most k if it is at most k before every successor. It is at most k before a successor if the successor accesses
    /// the register, or if the distance after the successor is at most k - 1.
    pub fn of(accessed: &[Registers], successors: &[Vec<usize>], threshold: u8) -> Self {
        let mut fronts = accessed.to_vec();
        let mut within = Vec::with_capacity(threshold.into());
        for _ in 0..threshold {
            // A node without successors has no access after it.
            let behind = |to: &Vec<usize>| {
                to.iter().map(|&to| fronts[to]).reduce(Registers::intersection).unwrap_or(Registers::NONE)
            };
            let behind: Vec<Registers> = successors.iter().map(behind).collect();
            fronts = accessed.iter().zip(&behind).map(|(accessed, behind)| accessed.union(*behind)).collect();
            within.push(behind);
        }
        Self { within }
    }

    /// The distance after a node, in instructions: 1 if every successor accesses the register. `None` if it is infinite.
    pub fn distance(&self, node: usize, register: Reg) -> Option<usize> {
        self.within.iter().position(|within| within[node].contains(register)).map(|index| index + 1)
    }

    /// Whether the distance after a node is infinite: `SleepOff` of the thesis.
    pub fn is_far(&self, node: usize, register: Reg) -> bool {
        self.within.last().is_none_or(|within| !within[node].contains(register))
    }
}

/// The state of a register (table 4.1).
pub fn state(live: bool, far: bool) -> PowerState {
    match (live, far) {
        (_, false) => PowerState::On,
        (true, true) => PowerState::Sleep,
        (false, true) => PowerState::Off,
    }
}

/// Marks the states of the result and of the first two sources, for a threshold of 1 to [`MOST`] instructions, on a machine with these places above
/// its main register file. With threshold 0, nothing is marked.
pub fn mark(code: &mut [Instruction], threshold: u8, places: Places) {
    if threshold > 0 {
        let main = of_main(code, places);
        mark_live(code, &main, &liveness::of_warp(&main), threshold);
    }
}

/// The code without the operands that are above the main register file on a machine with these places: they become RZ.
pub fn of_main(code: &[Instruction], places: Places) -> Vec<Instruction> {
    let of_main = |instruction: &Instruction| {
        let mut main = *instruction;
        for slot in Slot::ALL.into_iter().filter(|&slot| instruction.main_source(slot, places).is_none()) {
            match slot {
                Slot::A => main.a = Reg::ZERO,
                Slot::B if main.b.register().is_some() => main.b = Operand::ZERO,
                Slot::B => {}
                Slot::C => main.c = Reg::ZERO,
            }
        }
        if instruction.main_destination(places).is_none() {
            main.d = Reg::ZERO;
        }
        main
    };
    code.iter().map(of_main).collect()
}

/// Marks the states, given the code as the main register file sees it ([`of_main`]) and the registers that are live after each of its instructions.
pub fn mark_live(code: &mut [Instruction], main: &[Instruction], live: &[Registers], threshold: u8) {
    let accessed: Vec<Registers> = main.iter().map(accesses).collect();
    let next = NextAccess::of(&accessed, &graph(main), threshold);
    for (pc, (instruction, main)) in code.iter_mut().zip(main).enumerate() {
        let state = |register: Reg| state(live[pc].contains(register), next.is_far(pc, register));
        let of_slot = |slot| main.source(slot).map(state).unwrap_or_default();
        let sources = instruction.power_sources().map(|slot| slot.map(of_slot).unwrap_or_default());
        let result = main.destination().map(state).unwrap_or_default();
        instruction.control.source_power = sources;
        instruction.control.result_power = result;
    }
}

/// The registers that an instruction reads or writes.
fn accesses(instruction: &Instruction) -> Registers {
    instruction.destination().into_iter().fold(sources(instruction), Registers::with)
}
