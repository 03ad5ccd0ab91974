//! Why warps and issue ports do not issue, from the nets that lockstep compares.
//!
//! The conditions are those of the `stall_*` events of the SM (`docs/blocks/sm.md`). If several blocks take part in an event, each of them has a separate wait
//! in "no head is clear".

use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::MAX_PORTS;
use gpurf_blocks::shape::SmShape;
use gpurf_sm::Outputs;

use super::flight::Stage;
use crate::cycle::Cycle;

/// Why an issue port does not issue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stall {
    Empty,
    Barrier,
    Fetch,
    Scoreboard,
    Inactive,
    Collector,
    Other,
}

impl Stall {
    /// The event that counts it.
    pub const fn event(self) -> &'static str {
        match self {
            Self::Empty => "stall_empty",
            Self::Barrier => "stall_barrier",
            Self::Fetch => "stall_fetch",
            Self::Scoreboard => "stall_scoreboard",
            Self::Inactive => "stall_inactive",
            Self::Collector => "stall_collector",
            Self::Other => "stall_other",
        }
    }
}

/// Determines the waits of warps and ports in a configuration.
pub struct Waits {
    shape: SmShape,
    /// The warps of each port.
    own: [u64; MAX_PORTS],
    has_gate: bool,
    has_power: bool,
}

/// The waits of a cycle: sets of warps.
pub struct Seen {
    /// The wait of each port.
    pub ports: [Option<Stall>; MAX_PORTS],
    /// Warps with living lanes.
    pub alive: u64,
    /// Warps that may issue with respect to dependences and barriers.
    pub ready: u64,
    held: u64,
    scoreboard: u64,
    gate: u64,
    power: u64,
    clear: u64,
    active: u64,
    operand: u64,
    issue_ready: u8,
    issues: u8,
    count: usize,
}

impl Waits {
    /// Of an SM.
    pub fn new(config: &Config) -> Self {
        let shape = config.sm_shape();
        let of_port = |port: usize| {
            let warps = (0..shape.warps).filter(|warp| warp % shape.ports() == port);
            warps.fold(0, |set, warp| set | 1 << warp)
        };
        let has_power = shape.power_entries != 0 && !shape.services().keeps_states;
        let has_gate = shape.organisation.issue_gate(&shape.stage_sizes()).is_some();
        Self { own: std::array::from_fn(of_port), has_gate, has_power, shape }
    }

    /// The waits of a cycle.
    pub fn of(&self, cycle: &Cycle<'_>) -> Seen {
        let o: &Outputs = &cycle.probe.outputs;
        // An absent block passes its inputs through; the RTL then has no net for it.
        let scoreboard = o.scoreboard.clear_o;
        let gate = if self.has_gate { o.issue_gate.clear_o } else { scoreboard };
        let power = if self.has_power { o.power_states.clear_o } else { gate };
        let clear = if self.shape.shares() { o.share_locks.clear_o } else { power };
        let (alive, held) = (o.simt_stack.alive_o, o.barrier_unit.held_o);
        let scheduler = &o.warp_scheduler;
        let mut seen = Seen {
            ports: [None; MAX_PORTS],
            alive,
            ready: alive & !held & clear,
            held,
            scoreboard,
            gate,
            power,
            clear,
            active: if self.shape.active == 0 { u64::MAX } else { scheduler.active_o },
            operand: o.scoreboard.operand_o,
            issue_ready: o.operand_stage.issue_ready_o,
            issues: scheduler.issue_valid_o,
            count: self.shape.ports(),
        };
        for port in 0..seen.count {
            seen.ports[port] = seen.stall(port, self.own[port], o.instruction_buffer.head_valid_o);
        }
        seen
    }
}

impl Seen {
    fn stall(&self, port: usize, own: u64, heads: u64) -> Option<Stall> {
        if self.issues >> port & 1 == 1 {
            return None;
        }
        let alive = own & self.alive;
        let there = alive & !self.held;
        let (clear, ready) = (there & self.clear, self.issue_ready >> port & 1 == 1);
        let active = clear & self.active;
        Some(match () {
            () if alive == 0 => Stall::Empty,
            () if there == 0 => Stall::Barrier,
            () if there & heads == 0 => Stall::Fetch,
            () if clear == 0 => Stall::Scoreboard,
            () if active == 0 => Stall::Inactive,
            () if active & !self.operand == 0 && !ready => Stall::Collector,
            () => Stall::Other,
        })
    }

    /// What the oldest instruction of a warp waits for, if it does not issue.
    pub fn of_head(&self, slot: u8) -> Stage {
        let is = |set: u64| set.checked_shr(slot.into()).unwrap_or(0) & 1 == 1;
        let port = usize::from(slot) % self.count.max(1);
        if is(self.held) {
            Stage::Barrier
        } else if !is(self.scoreboard) {
            Stage::Scoreboard
        } else if !is(self.gate) {
            Stage::Levels
        } else if !is(self.power) {
            Stage::Power
        } else if !is(self.clear) {
            Stage::Lock
        } else if !is(self.active) {
            Stage::Inactive
        } else if is(self.operand) && self.issue_ready >> port & 1 == 0 {
            Stage::Collector
        } else if self.issues >> port & 1 == 1 {
            Stage::Turn
        } else {
            Stage::Other
        }
    }
}
