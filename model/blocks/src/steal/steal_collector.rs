//! `steal_collector`: an operand collector that may start with an operand already in flight. `docs/blocks/steal_collector.md`.

use crate::mrf::mrf_collector::{Collectors, Instruction};
use crate::mrf::slots::Slots;
use crate::mrf::{MrfCollectorProbe, MrfShape};
use crate::{Block, LaneMask, OPERANDS, WARP_BITS, field, ports};

ports! {
    /// Inputs of [`StealCollector`].
    pub struct StealCollectorIn(s: &MrfShape) {
        /// Tag of the instruction.
        alloc_tag_i: u64 = field(s.tag_w).valid_by("alloc_valid_i"),
        /// Active lanes of the instruction.
        alloc_mask_i: u32 = field(32).valid_by("alloc_valid_i"),
        /// Entry of each source.
        alloc_entry_i: [u16; OPERANDS] = field(s.entry_w()).count(OPERANDS).valid_by("alloc_src_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Take the instruction at this edge.
        alloc_valid_i: u8 = field(1),
        /// Warp of the instruction.
        alloc_warp_i: u8 = field(WARP_BITS).valid_by("alloc_valid_i"),
        /// Bit s: source s is a register.
        alloc_src_valid_i: u8 = field(OPERANDS),
        /// Bank of each source.
        alloc_bank_i: [u8; OPERANDS] = field(s.bank_w()).count(OPERANDS).valid_by("alloc_src_valid_i"),
        /// Source s of the arriving instruction is read at this edge.
        alloc_read_i: u8 = field(OPERANDS).valid_by("alloc_valid_i"),
        /// The read of slot s is performed at this edge.
        grant_i: u8 = field(OPERANDS),
        /// Bank in which the register of slot s is read.
        at_bank_i: [u8; OPERANDS] = field(s.bank_w()).count(OPERANDS),
        /// The instruction leaves at this edge.
        free_i: u8 = field(1),
    }
}

ports! {
    /// Outputs of [`StealCollector`].
    pub struct StealCollectorOut(s: &MrfShape) {
        /// Tag of the instruction.
        tag_o: u64 = field(s.tag_w).valid_by("busy_o").early().shows("tag_q"),
        /// Active lanes of the instruction.
        mask_o: u32 = field(32).valid_by("busy_o").early().shows("mask_q"),
        /// Entry of each register source, also of those already read.
        req_entry_o: [u16; OPERANDS] =
            field(s.entry_w()).count(OPERANDS).valid_by("src_valid_o").early().shows("entry_q"),
        /// Slot s wants its bank.
        req_valid_o: u8 = field(OPERANDS).early().shows("pending_q"),
        /// Bank of each register source, also of those already read.
        req_bank_o: [u8; OPERANDS] =
            field(s.bank_w()).count(OPERANDS).valid_by("src_valid_o").early().shows("bank_q"),
        /// 4-lane groups with an active lane, 0 to 8.
        req_groups_o: u8 = field(4).valid_by("busy_o").early(),
        /// Slot s will be filled by a read that is performed at this edge.
        fill_o: u8 = field(OPERANDS),
        /// The bank of this read.
        fill_bank_o: [u8; OPERANDS] = field(s.bank_w()).count(OPERANDS).valid_by("fill_o"),
        /// The collector holds an instruction.
        busy_o: u8 = field(1).early().shows("busy_q"),
        /// Busy, nothing requested, nothing under way.
        complete_o: u8 = field(1).early(),
        /// Warp of the instruction.
        warp_o: u8 = field(WARP_BITS).valid_by("busy_o").early().shows("warp_q"),
        /// Bit s: busy, and source s is a register.
        src_valid_o: u8 = field(OPERANDS).early().shows("src_valid_q"),
    }
}

/// The leader of each source: the lowest register source with the same register. A source that is no register is its own leader.
#[inline]
pub(crate) fn leaders(src_valid: u8, bank: &[u8; OPERANDS], entry: &[u16; OPERANDS]) -> [u8; OPERANDS] {
    let same =
        |l: usize, s: usize| (src_valid >> l & src_valid >> s & 1 == 1) & (bank[l] == bank[s]) & (entry[l] == entry[s]);
    let second = if same(0, 1) { 0 } else { 1 };
    let third = if same(0, 2) {
        0
    } else if same(1, 2) {
        1
    } else {
        2
    };
    [0, second, third]
}

/// The slots of an arriving instruction that are filled if the sources in `read` are read at this clock edge.
#[inline]
pub(crate) fn filled(instruction: &Instruction, read: u8) -> u8 {
    let leader = leaders(instruction.src_valid, &instruction.bank, &instruction.entry);
    (0..OPERANDS).fold(0, |filled, s| filled | (read >> leader[s] & 1) << s) & instruction.src_valid
}

/// Holds an instruction like an `mrf_collector`; its operands may be requested before it arrives (stealing paper, IV-B1).
#[derive(Clone)]
pub struct StealCollector {
    state: Collectors,
}

impl StealCollector {
    /// The instruction that arrives, if there is one.
    fn arriving(inputs: &StealCollectorIn) -> Option<Instruction> {
        (inputs.alloc_valid_i != 0).then_some(Instruction {
            tag: inputs.alloc_tag_i,
            mask: LaneMask(inputs.alloc_mask_i),
            entry: inputs.alloc_entry_i,
            bank: inputs.alloc_bank_i,
            warp: inputs.alloc_warp_i,
            src_valid: inputs.alloc_src_valid_i,
        })
    }
}

impl Block for StealCollector {
    const NAME: &'static str = "steal_collector";
    const PARAMETERS: &'static [&'static str] = &["Banks", "Depth", "TagW"];

    type Shape = MrfShape;
    type In = StealCollectorIn;
    type Out = StealCollectorOut;
    type Probe = MrfCollectorProbe;

    fn new(_: &MrfShape) -> Self {
        Self { state: Collectors::new() }
    }

    fn early(&self, out: &mut StealCollectorOut) {
        let state = &self.state;
        out.req_valid_o = state.pending().bits_of(0);
        (out.busy_o, out.complete_o) = (state.busy() as u8, state.complete() as u8);
        out.src_valid_o = state.src_valid().bits_of(0);
        let held = state.held().only(state.busy());
        (out.tag_o, out.mask_o, out.warp_o, out.req_groups_o) =
            (held.tag[0], held.mask[0], held.warp[0], held.groups[0]);
        out.req_bank_o = std::array::from_fn(|s| held.bank[s]);
        out.req_entry_o = std::array::from_fn(|s| held.entry[s]);
    }

    fn late(&mut self, inputs: &StealCollectorIn, out: &mut StealCollectorOut) {
        (out.fill_o, out.fill_bank_o) = match Self::arriving(inputs) {
            Some(instruction) => (filled(&instruction, inputs.alloc_read_i), instruction.bank),
            None => {
                let fill = self.state.fill(Slots::of_collector(0, inputs.grant_i)).bits_of(0);
                (fill, inputs.at_bank_i)
            }
        };
    }

    fn clock(&mut self, inputs: &StealCollectorIn, _: &StealCollectorOut) {
        if inputs.rst_ni == 0 {
            self.state.reset();
            return;
        }
        self.state.advance(Slots::of_collector(0, inputs.grant_i), inputs.free_i.into());
        if let Some(instruction) = Self::arriving(inputs) {
            self.state.allocate(0, &instruction);
            self.state.begin(0, inputs.alloc_read_i);
        }
    }

    fn probe(&self, _: &StealCollectorIn, _: &StealCollectorOut, probe: &mut MrfCollectorProbe) {
        *probe = self.state.alone();
    }
}

#[cfg(test)]
mod tests;
