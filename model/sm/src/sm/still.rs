//! Cycles in which nothing happens: every warp waits, for memory or for a latency to be over.

use gpurf_blocks::memory::Server;
use gpurf_blocks::mrf::MAX_PORTS;
use gpurf_blocks::shape::Straps;

use super::Blocks;
use super::decided::{ConstantPass, Dispatch, Pass};
use crate::ports::SmIn;

impl Blocks {
    /// Number of cycles, from the next one on, that change nothing but counts of time, with these inputs in each of them (but the time: no S2R reads it); 0 if this is not certain.
    ///
    /// The test is sufficient, not necessary: a rare way of waiting counts as activity.
    pub(super) fn still(&self, inputs: &SmIn) -> u64 {
        let straps = Straps::of_ports(inputs.cfg_i, &inputs.design_cfg_i);
        let quiet = self.nothing_comes(inputs, &straps)
            && self.nothing_is_under_way()
            && self.nothing_is_served(inputs, &straps)
            && self.nothing_issues(&straps)
            && self.no_block_goes_on()
            && self.power_is_still()
            && self.share_is_still();
        if !quiet {
            return 0;
        }
        let queues = self.alu_queue.iter().chain(&self.fp_queue).chain([
            &self.sfu_queue,
            &self.constant_queue,
            &self.side_queue,
        ]);
        let hits = self.cache.as_ref().and_then(|cache| cache.hit_waits());
        queues.filter_map(|queue| queue.waits()).chain(hits).min().unwrap_or(u64::MAX)
    }

    /// Lets that many such cycles pass.
    pub(super) fn pass_time(&mut self, cycles: u64) {
        self.alu_queue.iter_mut().chain(&mut self.fp_queue).for_each(|queue| queue.pass(cycles));
        self.sfu_queue.pass(cycles);
        self.constant_queue.pass(cycles);
        self.side_queue.pass(cycles);
        self.cache.iter_mut().for_each(|cache| cache.pass_time(cycles));
        self.barrier_unit.pass(cycles);
    }

    /// Whether nothing arrives from outside.
    fn nothing_comes(&self, inputs: &SmIn, straps: &Straps) -> bool {
        inputs.rst_ni != 0
            && inputs.code_we_i | inputs.const_we_i | inputs.launch_valid_i == 0
            && inputs.mem_rsp_valid_i == 0
            && (self.cache.is_some() || self.coalescer.request().is_none() || inputs.mem_req_ready_i == 0)
            && self.cache_is_still(inputs, straps)
    }

    /// Whether nothing is in flight in the pipelines.
    fn nothing_is_under_way(&self) -> bool {
        self.fetch.is_idle()
            && self.simt_stack.idle()
            && self.operand_stage.is_still()
            && self.alu.iter().all(|alu| alu.result().is_none())
            && self.fp_unit.iter().all(|unit| unit.idle())
            && self.sfu.idle()
            && self.address_unit.fault().is_none()
            && self.address_unit.answer().is_none()
            && self.shared_is_idle()
            && self.constant_unit.idle()
            && self.constant_memory.idle()
            && self.lane_crossbar.idle()
            && self.special_registers.idle()
            && (self.cache.is_some() || self.line_table.waits())
    }

    /// Whether nothing is served, and no request is made. Lanes may be offered to the coalescer, which has no room; an instruction may be offered to a unit that does not take it.
    fn nothing_is_served(&self, inputs: &SmIn, straps: &Straps) -> bool {
        let mut pass = Pass::default();
        if let Some((server, _)) = self.address_unit.offer() {
            if !matches!(server, Server::Global | Server::Local) {
                return false;
            }
            self.begin_pass(inputs, straps, &mut pass);
            self.decide_pass(straps, &ConstantPass::default(), &mut pass);
        }
        let Dispatch { ready, .. } = self.decide_dispatch(&pass, &ConstantPass::default());
        pass.served == 0 && pass.line.is_none() && ready == 0
    }

    /// Whether no warp fetches, no head leaves, no slot changes its state.
    fn nothing_issues(&self, straps: &Straps) -> bool {
        let (outer, turn) = (self.outer(straps), self.turn(straps));
        self.fault_unit.fault().is_none()
            && (0..self.ports).all(|p| self.fetching(p).is_none())
            && self.two_level.as_ref().is_none_or(|scheduler| scheduler.is_still(&outer))
            && self.alternating.as_ref().is_none_or(|scheduler| scheduler.is_still(&turn))
            && self.has_no_candidate()
            && self.chosen(straps, if self.alternating.is_some() { turn.active } else { outer.active }).warp
                == [None; MAX_PORTS]
    }

    /// Whether no block begins or ends, and no barrier opens.
    fn no_block_goes_on(&self) -> bool {
        let (alive, idle) = (self.simt_stack.alive(), self.scoreboard.idle());
        self.block_launcher.is_still(alive, idle, self.memory_idle())
            && self.barrier_unit.is_still(alive, self.block_launcher.slots())
    }
}
