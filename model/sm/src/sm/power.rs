//! Power states of registers, where they exist: `power_states` and `access_table`.

use gpurf_blocks::design::MainRoles;
use gpurf_blocks::instruction::{Instruction, Roles};
use gpurf_blocks::mrf::MAX_PORTS;
use gpurf_blocks::mrf::bits::set_bits;
use gpurf_blocks::power::{
    Access, AccessTable, Changing, Course, Leaves, PassedBy, PowerStates, PowerStraps, Tabled, Written, count_event,
    main_states,
};
use gpurf_blocks::shape::{SmShape, Straps};
use gpurf_blocks::{Block, OPERANDS};

use super::Blocks;
use super::decided::{BusResult, Decided};
use crate::nets::Outputs;
use crate::ports::{POWER_EVENTS, SmIn};

/// The two blocks, and their decisions in a cycle.
#[derive(Clone)]
pub(super) struct Power {
    pub(super) states: PowerStates,
    pub(super) table: AccessTable,
    /// Function that selects the registers of an instruction accessed in the main register file, and the sizes that it needs.
    main_roles: MainRoles,
    sizes: u32,
    /// The register file keeps the states itself; only the table is here.
    inside: bool,
    straps: PowerStraps,
    changing: Changing,
    /// Instructions that go to the operand stage.
    sets: [Option<Access>; MAX_PORTS],
    passed: PassedBy,
}

impl Power {
    pub(super) fn new(shape: &SmShape) -> Self {
        Self {
            states: PowerStates::new(shape),
            table: AccessTable::new(shape),
            main_roles: shape.services().main_roles.expect("the configuration has been checked"),
            sizes: shape.organisation.sizes(),
            inside: shape.services().keeps_states,
            straps: PowerStraps::default(),
            changing: Changing::default(),
            sets: [None; MAX_PORTS],
            passed: PassedBy::default(),
        }
    }

    /// An instruction's registers that are accessed in the main register file.
    #[inline]
    pub(super) fn main(&self, roles: Roles, op: u64, ctl: u64) -> Roles {
        (self.main_roles)(self.sizes, roles, op, ctl)
    }

    /// The heads of a set whose registers are all ON.
    #[inline]
    pub(super) fn clear(&self, clear: u64) -> u64 {
        if self.inside { clear } else { self.states.clear(self.straps, clear) }
    }

    /// Sets the state that holds for the cycle that begins.
    #[inline]
    pub(super) fn begin(&mut self, straps: &Straps) {
        self.straps = PowerStraps::of(straps.power);
    }

    /// Clock edge in reset.
    pub(super) fn reset(&mut self) {
        self.states.reset();
        self.table.reset();
    }
}

impl Blocks {
    /// Passes to a register file that keeps the states itself the table's outputs for dispatched instructions, and ended warps.
    #[inline(never)]
    pub(super) fn tell_words(&mut self, decided: &Decided) {
        let Some(power) = self.power.as_ref().filter(|power| power.inside) else { return };
        let mut keeps = 0;
        for p in set_bits(decided.dispatch.ready & self.operand_stage.dispatch_valid()) {
            let issued = &self.operand_stage.dispatched(p).issued;
            let roles = power.main(issued.instruction.roles(), issued.instruction.op(), issued.instruction.ctl());
            let keep = power.table.reads(&Tabled { warp: issued.warp, pc: issued.instruction.pc(), roles });
            keeps |= keep << (OPERANDS * p);
        }
        let over = !self.simt_stack.alive() & self.scoreboard.idle();
        self.operand_stage.tell_power(keeps, over);
    }

    /// Decides which states change, after all other decisions; returns the events.
    #[inline(never)]
    pub(super) fn decide_power(&mut self, decided: &Decided) -> [u64; POWER_EVENTS] {
        let clear = self.gated();
        let Some(power) = &mut self.power else { return [0; POWER_EVENTS] };
        power.passed = PassedBy::default();
        power.sets = [None; MAX_PORTS];
        for (p, (warp, decoded)) in decided.decoded.iter().enumerate().filter_map(|(p, path)| Some((p, (*path)?))) {
            let roles = power.main(decoded.roles, decoded.op, decoded.ctl);
            power.passed.pushed[p] = Some(Tabled { warp, pc: decoded.pc, roles });
        }
        for (p, issue) in decided.issues() {
            let (warp, head) = (issue.warp, &issue.head);
            power.passed.issued[p] = Some(Leaves { warp, pc: head.pc, stays: issue.operands });
            let roles = power.main(head.roles, head.op, head.ctl);
            let access = Access { warp, roles, states: main_states(head.roles, roles, head.ctl), keep: 0 };
            power.sets[p] = issue.operands.then_some(access);
        }
        let (mut reads, mut written) = ([None; MAX_PORTS], [None; MAX_PORTS]);
        for p in set_bits(decided.dispatch.ready & self.operand_stage.dispatch_valid()) {
            let issued = &self.operand_stage.dispatched(p).issued;
            let (warp, instruction): (u8, &Instruction) = (issued.warp, &issued.instruction);
            let (all, ctl) = (instruction.roles(), instruction.ctl());
            let tabled = Tabled { warp, pc: instruction.pc(), roles: power.main(all, instruction.op(), ctl) };
            power.passed.read[p] = Some(tabled);
            let keep = power.table.reads(&tabled);
            reads[p] = Some(Access { warp, roles: tabled.roles, states: main_states(all, tabled.roles, ctl), keep });
        }
        power.passed.written = decided.reports;
        for (p, (warp, reg)) in decided.reports.iter().enumerate().filter_map(|(p, report)| Some((p, (*report)?))) {
            written[p] = Some(Written { warp, reg, keep: power.table.wrote(warp, reg) });
        }
        for (p, BusResult { result, .. }) in decided.results(decided.going) {
            power.passed.decided[p] = result.pred.map(|pred| (result.warp, pred));
        }
        let table = power.table.event(&power.passed.pushed);
        if power.inside {
            let (event, wait_event) = self.operand_stage.power_events();
            return [event, count_event(wait_event.into(), table.into())];
        }
        power.changing = power.states.changing(power.straps, clear, &reads, &written);
        [power.changing.event, count_event(power.changing.wait_event.into(), table.into())]
    }

    /// Clock edge, before the edges of the blocks whose state it reads. `start`: the warp that begins.
    #[inline(never)]
    pub(super) fn clock_power(&mut self, inputs: &SmIn, start: Option<u8>, alive: u64, idle: u64) {
        let Some(power) = &mut self.power else { return };
        let taken = inputs.launch_valid_i != 0 && !self.block_launcher.busy();
        let launch = taken.then_some(inputs.launch_registers_i);
        if !power.inside {
            power.states.advance(power.straps, &power.changing, &power.sets, &Course { alive, idle, start, launch });
        }
        power.table.advance(&power.passed);
    }

    /// Whether no state changes as long as nothing is decoded, issues, is dispatched or written.
    pub(super) fn power_is_still(&self) -> bool {
        let (clear, alive, idle) = (self.gated(), self.simt_stack.alive(), self.scoreboard.idle());
        self.power.as_ref().is_none_or(|power| match power.inside {
            true => self.operand_stage.words_are_still(!alive & idle),
            false => power.states.is_still(power.straps, clear, alive, idle),
        })
    }

    /// Records the outputs of both blocks. Without them the net at `clear_o` is that of the issue gate.
    pub(super) fn record_power(&self, o: &mut Outputs) {
        o.power_states.clear_o = self.powered();
        let Some(power) = &self.power else { return };
        let table = &mut o.access_table;
        (table.read_keep_o, table.reg_keep_o) = power.table.keeps(&power.passed);
    }
}
