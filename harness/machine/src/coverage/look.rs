//! The view of a cycle from which the tables determine situations.

use gpurf_blocks::design::CollectorView;
use gpurf_blocks::mrf::MAX_PORTS;
use gpurf_blocks::mrf::bits::set_bits;
use gpurf_blocks::shape::SmShape;
use gpurf_sm::{Outputs, SmIn, SmOut, States};

use crate::cycle::Cycle;

/// A cycle, and the necessary state from earlier cycles.
pub(super) struct Look<'a> {
    /// Inputs of the SM.
    pub(super) inputs: &'a SmIn,
    /// Its outputs.
    pub(super) out: &'a SmOut,
    /// Outputs of its blocks.
    pub(super) o: &'a Outputs,
    /// State of its blocks.
    pub(super) s: &'a States,
    pub(super) shape: &'a SmShape,
    pub(super) past: &'a Past,
    pub(super) file: CollectorView,
    /// Warps with living lanes.
    pub(super) alive: u64,
    /// Warps whose heads wait for a pending register, a pending predicate, or a pending place of ORF or LRF.
    pub(super) blocked: u64,
}

/// State from earlier cycles.
#[derive(Clone, Copy, Default)]
pub(super) struct Past {
    /// Warps whose heads waited in the cycle before.
    pub(super) blocked: u64,
    /// Warps that had arrived at a barrier.
    pub(super) arrived: u64,
    /// Which warp each port issued last.
    pub(super) issued: [Option<u8>; MAX_PORTS],
    /// Block slots that had a block.
    pub(super) slots: u16,
    /// Block slots whose block had ended in the cycle before.
    pub(super) freed: u16,
}

impl<'a> Look<'a> {
    pub(super) fn new(cycle: &Cycle<'a>, shape: &'a SmShape, past: &'a Past) -> Self {
        let (o, s) = (&cycle.probe.outputs, &cycle.probe.states);
        Self {
            inputs: cycle.inputs,
            out: cycle.out,
            file: shape.organisation.collectors(&s.operand_stage.provider),
            alive: o.simt_stack.alive_o,
            blocked: o.instruction_buffer.head_valid_o & !o.power_states.clear_o,
            o,
            s,
            shape,
            past,
        }
    }

    /// The state for the next cycle.
    pub(super) fn past_of_next(&self) -> Past {
        let mut issued = self.past.issued;
        for p in set_bits(self.o.warp_scheduler.issue_valid_o) {
            issued[p] = Some(self.o.warp_scheduler.issue_warp_o[p]);
        }
        Past {
            blocked: self.blocked,
            arrived: self.s.barrier_unit.arrived_q,
            issued,
            slots: self.o.block_launcher.slot_busy_o,
            freed: self.past.slots & !self.o.block_launcher.slot_busy_o,
        }
    }

    /// The number of issue ports.
    pub(super) fn ports(&self) -> usize {
        self.shape.ports()
    }

    /// Whether a test holds for an instruction that issues; its arguments are the port and the warp.
    pub(super) fn issues(&self, test: impl Fn(usize, usize) -> bool) -> bool {
        let valid = self.o.warp_scheduler.issue_valid_o;
        (0..self.ports()).any(|p| valid >> p & 1 != 0 && test(p, self.o.warp_scheduler.issue_warp_o[p].into()))
    }

    /// Warps that could issue, as far as dependences and barriers go.
    pub(super) fn ready(&self) -> u64 {
        crate::cycle::ready(self.o)
    }
}
