//! `two_level_scheduler`: few active warps issue, the others wait. `docs/blocks/two_level_scheduler.md`.

use crate::mrf::MAX_PORTS;
use crate::shape::{ActiveShape, MAX_ACTIVE, MAX_WARPS};
use crate::{Block, Decode, Memory, REG_BITS, WARP_BITS, field, ports};

/// Registers of a warp, as a set in words.
const REGISTER_WORDS: usize = 8;

/// Fields of `two_level_event_t`, most significant first.
pub const TWO_LEVEL_EVENT: &[(&str, u32)] = &[
    ("activate", 2),
    ("leave_end", 6),
    ("leave_barrier", 6),
    ("leave_mark", 6),
    ("leave_patience", 6),
    ("active", 6),
    ("drain", 6),
    ("flush", 6),
    ("ready", 6),
];

/// States of a slot.
const SHOW_STATE: Decode = Decode::Enum(&["free", "active", "draining", "flushing"]);

ports! {
    /// Inputs of [`TwoLevelScheduler`].
    pub struct TwoLevelSchedulerIn(s: &ActiveShape) {
        /// The warp's head may issue as far as dependences go.
        clear_i: u64 = field(s.warps),
        /// The head goes to the operand stage.
        operand_i: u64 = field(s.warps),
        /// The head is a branch or an exit.
        branch_i: u64 = field(s.warps),
        /// The warp has a head.
        head_valid_i: u64 = field(s.warps),
        /// It is marked "deschedule".
        mark_i: u64 = field(s.warps),
        /// Warps with living lanes.
        alive_i: u64 = field(s.warps),
        /// Warps that wait at a barrier.
        held_i: u64 = field(s.warps),
        /// The provider has nothing left of slot s.
        flush_done_i: u64 = field(s.active),
        /// Straps: bit 0 greedy, bit 1 *stay*, bits 13:2 *patience*.
        cfg_i: u16 = field(14),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// The operand stage takes an instruction on port p.
        ready_i: u8 = field(s.ports()),
        /// Nothing issues.
        stop_i: u8 = field(1),
        /// The instruction issued on port p goes to the operand stage.
        set_valid_i: u8 = field(s.ports()),
        /// The register that it writes.
        set_d_i: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("set_valid_i"),
        /// It is a long-latency operation.
        set_long_i: u8 = field(s.ports()),
        /// An instruction leaves the operand stage.
        dispatch_valid_i: u8 = field(s.ports()),
        /// Its warp.
        dispatch_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("dispatch_valid_i"),
        /// A register is complete.
        reg_valid_i: u8 = field(s.ports()),
        /// Its warp.
        reg_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("reg_valid_i"),
        /// It.
        reg_i: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("reg_valid_i"),
    }
}

ports! {
    /// Outputs of [`TwoLevelScheduler`].
    pub struct TwoLevelSchedulerOut(s: &ActiveShape) {
        /// The set of warps that issue.
        pop_o: u64 = field(s.warps),
        /// Warps in an active slot that they do not leave.
        active_o: u64 = field(s.warps),
        /// Slots that have a warp.
        slot_valid_o: u64 = field(s.active).early(),
        /// Slots that are to be emptied.
        flush_o: u64 = field(s.active).early(),
        /// What they have is to be thrown away.
        drop_o: u64 = field(s.active).early(),
        /// Events: `two_level_event_t`.
        event_o: u64 = field(50).shown(Decode::Packed(TWO_LEVEL_EVENT)),
        /// Port p issues.
        issue_valid_o: u8 = field(s.ports()),
        /// The warp whose head it issues; 0 where there is none.
        issue_warp_o: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()),
        /// Its slot; 0 where there is none.
        issue_slot_o: [u8; MAX_PORTS] = field(s.slot_w()).count(s.ports()),
        /// The warp of each slot.
        slot_warp_o: [u8; MAX_ACTIVE] = field(WARP_BITS).count(s.active).valid_by("slot_valid_o").early(),
    }
}

ports! {
    /// State of [`TwoLevelScheduler`].
    pub struct TwoLevelSchedulerProbe(s: &ActiveShape) {
        /// State of each slot.
        state_q: [u8; MAX_ACTIVE] = field(2).count(s.active).shown(SHOW_STATE),
        /// Its warp.
        warp_q: [u8; MAX_ACTIVE] = field(WARP_BITS).count(s.active).valid_by("state_q"),
        /// Instructions that it has issued since it took the slot, up to 4095.
        issued_q: [u16; MAX_ACTIVE] = field(12).count(s.active).valid_by("state_q"),
        /// Its instructions in the operand stage.
        resident_q: [u8; MAX_ACTIVE] = field(6).count(s.active).valid_by("state_q"),
        /// Its short results that are outstanding.
        short_q: [u8; MAX_ACTIVE] = field(8).count(s.active).valid_by("state_q"),
        /// Long ones of each warp.
        long_count_q: [u8; MAX_WARPS] = field(8).count(s.warps),
        /// The warp at which each port's search for a ready one begins.
        outer_q: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()),
        /// The slot of each port that issued last.
        last_q: [u8; MAX_PORTS] = field(6).count(s.ports()),
    }
}

/// A small set of active warps has slots and issues; all others are pending (RFC paper 3.2; hierarchy thesis 2.5).
pub struct TwoLevelScheduler {
    long_q: Box<[[u32; REGISTER_WORDS]]>,
}

impl Block for TwoLevelScheduler {
    const NAME: &'static str = "two_level_scheduler";
    const PARAMETERS: &'static [&'static str] = &["Warps", "IssuePorts", "Active"];

    type Shape = ActiveShape;
    type In = TwoLevelSchedulerIn;
    type Out = TwoLevelSchedulerOut;
    type Probe = TwoLevelSchedulerProbe;

    fn new(shape: &ActiveShape) -> Self {
        Self { long_q: vec![[0; REGISTER_WORDS]; shape.active].into() }
    }

    fn early(&self, _: &mut TwoLevelSchedulerOut) {}

    fn late(&mut self, _: &TwoLevelSchedulerIn, _: &mut TwoLevelSchedulerOut) {}

    fn clock(&mut self, _: &TwoLevelSchedulerIn, _: &TwoLevelSchedulerOut) {}

    fn probe(&self, _: &TwoLevelSchedulerIn, _: &TwoLevelSchedulerOut, _: &mut TwoLevelSchedulerProbe) {}

    fn memories(&mut self) -> Vec<Memory<'_>> {
        vec![Memory {
            path: "long_q".into(),
            block: Self::NAME,
            words: self.long_q.as_flattened_mut(),
            bits: 1 << REG_BITS,
        }]
    }
}
