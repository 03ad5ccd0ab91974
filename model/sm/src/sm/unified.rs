//! Unified memory: scratchpad and data cache in the banks of the register file.

use gpurf_blocks::cache::{Cache, CachePass};
use gpurf_blocks::memory::{Access, Answer, Server, SharedMemory};
use gpurf_blocks::operands::OperandStage;
use gpurf_blocks::shape::{SmShape, Straps};
use gpurf_blocks::unified::{
    Accesses, ColumnsFree, Partition, UnifiedArbiter, UnifiedPass, UnifiedShared, UnifiedSharedOut, UnifiedSharedProbe,
    Wants,
};
use gpurf_blocks::{Block, WarpData};

use super::Blocks;
use super::decided::Pass;
use crate::nets::{Outputs, States};

/// The block that replaces shared memory, and the arbiter that brings memory to the banks.
#[derive(Clone)]
pub(super) struct Unified {
    pub(super) shared: UnifiedShared,
    arbiter: UnifiedArbiter,
    /// Accesses to the columns that registers leave free in this cycle. They follow from state alone.
    free: ColumnsFree,
    /// Data that memory has read last.
    data: WarpData,
    /// The scratchpad's pass of this cycle.
    pass: UnifiedPass,
    /// Accesses of memory to the columns at this edge, and the arbiter's events.
    accesses: Accesses,
    event: u16,
}

impl Unified {
    pub(super) fn new(shape: &SmShape) -> Self {
        Self {
            shared: UnifiedShared::new(shape),
            arbiter: UnifiedArbiter::new(shape),
            free: ColumnsFree::default(),
            data: WarpData::ZERO,
            pass: UnifiedPass::default(),
            accesses: Accesses::default(),
            event: 0,
        }
    }

    /// Lanes of the scratchpad's pass that are served.
    #[inline]
    pub(super) fn served(&self) -> u32 {
        self.pass.served()
    }

    /// `unified_event_t`.
    #[inline]
    pub(super) fn event(&self) -> u16 {
        self.event
    }

    /// Decides the accesses to the columns. `access`: lanes that are offered to the scratchpad.
    fn decide(
        &mut self,
        cache: &Cache,
        of_cache: &CachePass,
        partition: Partition,
        access: Option<&Access<'_>>,
        (cfg, room): (u8, bool),
    ) {
        let want = |access| self.shared.want(access, cfg, room, &self.data);
        self.pass = access.map_or_else(UnifiedPass::default, want);
        let wants = Wants { cache: cache.wants(of_cache), shared: self.pass.wants() };
        let (ready, event) = self.arbiter.decide(partition, &self.free, &wants, &mut self.accesses);
        self.event = event;
        if let Some(access) = access {
            self.shared.serve(access, &mut self.pass, ready);
        }
    }

    /// Clock edge of the scratchpad. `access`: lanes that are offered.
    pub(super) fn clock_shared(&mut self, access: Option<&Access<'_>>, last: bool) {
        if access.is_some() || !self.shared.idle() {
            self.shared.advance(access.map(|access| (access, &self.pass)), last, &self.data);
        }
    }

    /// Clock edge of the columns, before that of the operand stage.
    #[inline(never)]
    pub(super) fn clock_columns(&mut self, stage: &mut OperandStage) {
        stage.access_columns(&self.accesses);
        self.arbiter.advance();
    }

    /// Clock edge in reset, after everything else.
    pub(super) fn reset(&mut self) {
        self.shared.reset();
        self.arbiter.reset();
    }

    /// After the edge: updates which accesses are free, and the data that has been read.
    #[inline]
    fn settle(&mut self, stage: &OperandStage) {
        self.free = stage.columns_free();
        if self.accesses.reads() {
            self.data = stage.column_data(self.arbiter.columns());
        }
    }
}

/// The result of the SM's scratchpad.
#[inline]
pub(super) fn shared_result<'a>(shared: &'a SharedMemory, unified: Option<&'a Unified>) -> Option<&'a Answer> {
    match unified {
        None => shared.result(),
        Some(unified) => unified.shared.result(),
    }
}

impl Blocks {
    /// With unified memory: decides the accesses of memory to the columns.
    #[inline(never)]
    pub(super) fn decide_columns(&mut self, straps: &Straps, pass: &Pass) {
        let (Some(unified), Some(cache)) = (&mut self.unified, &self.cache) else { return };
        let lanes = match pass.offer {
            Some((Server::Shared, lanes)) => Some(lanes),
            _ => None,
        };
        let access = lanes.map(|lanes| self.address_unit.access(lanes));
        let how = (straps.unified_shared(), self.side_queue.room());
        unified.decide(cache, &pass.cache, self.block_launcher.partition(), access.as_ref(), how);
    }

    /// Updates unified memory after the edge.
    #[inline(never)]
    pub(super) fn settle_unified(&mut self) {
        let (Some(unified), Some(cache)) = (&mut self.unified, &mut self.cache) else { return };
        unified.settle(&self.operand_stage);
        let log = self.block_launcher.partition().cache_log;
        cache.see(log, unified.free.of_cache(), &unified.data);
    }

    /// Records the ports.
    pub(super) fn record_unified(&self, pass: &Pass, o: &mut Outputs) {
        let Some(unified) = &self.unified else { return };
        let columns = unified.arbiter.columns();
        o.operand_stage.columns.show(&unified.free, self.operand_stage.column_data(columns));
        unified.shared.early(&mut o.unified_shared);
        o.unified_shared.show(&unified.pass);
        // The outputs of the scratchpad are also recorded as `shared_memory`, wherever its words are.
        let UnifiedSharedOut { shared, .. } = o.unified_shared;
        o.shared_memory = shared;
        let out = &mut o.unified_arbiter;
        unified.arbiter.early(out);
        out.show_cache(unified.free.of_cache());
        out.show_ready(unified.pass.ready());
        out.show(&unified.accesses);
        if let Some(cache) = &self.cache {
            o.cache.show_wants(&cache.wants(&pass.cache));
        }
    }

    /// Records the registers.
    pub(super) fn probe_unified(&self, states: &mut States) {
        let Some(unified) = &self.unified else { return };
        unified.shared.record(&mut states.unified_shared);
        let UnifiedSharedProbe { shared, .. } = states.unified_shared;
        states.shared_memory = shared;
    }

    /// Whether nothing is in flight in the scratchpad.
    #[inline]
    pub(super) fn shared_is_idle(&self) -> bool {
        self.shared_memory.idle() && self.unified.as_ref().is_none_or(|unified| unified.shared.idle())
    }
}
