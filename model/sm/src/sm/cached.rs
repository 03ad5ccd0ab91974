//! Answers of memory: through the line table, or through the data cache in its place.

use gpurf_blocks::WarpData;
use gpurf_blocks::cache::{CACHE_EVENT, CacheCycle, CachePass, LineAnswer};
use gpurf_blocks::execute::{Source, UnitResult};
use gpurf_blocks::memory::{Request, Row, Server};
use gpurf_blocks::shape::Straps;

use super::Blocks;
use super::decided::Decided;
use crate::ports::SmIn;

/// Width of the cache's own events.
const CACHE_EVENT_BITS: usize = CACHE_EVENT.len();

/// Signals that the cache needs, and that other edges change before the cache's own edge.
#[derive(Clone, Copy)]
pub(super) struct Held {
    /// The current request.
    request: Option<Request>,
    /// The coalescer has served no lane of the instruction in the address unit yet.
    first: bool,
    /// No grid is in progress: a grid that is offered is taken.
    free: bool,
}

/// Inputs of the edge of the line table or the cache: values computed before the edge.
#[derive(Clone, Copy)]
pub(super) struct LinesEdge<'a> {
    /// Present with a cache.
    pub(super) held: Option<&'a Held>,
    /// The row that arrives.
    pub(super) row: Option<&'a Row<'a>>,
    /// The result leaves.
    pub(super) pop: bool,
    /// Not in reset.
    pub(super) running: bool,
}

impl Blocks {
    /// The request that is offered to memory, and whether its whole line is wanted.
    #[inline]
    pub(super) fn offered(&self) -> Option<(&Request, bool)> {
        let request = self.coalescer.request()?;
        match &self.cache {
            None => Some((request, false)),
            Some(cache) => match cache.offers(self.cache_cfg, request) {
                (false, _) => None,
                (true, whole) => Some((request, whole)),
            },
        }
    }

    /// Whether an answer of memory is taken at this edge.
    #[inline]
    pub(super) fn takes_answer(&self) -> bool {
        self.cache.as_ref().map_or_else(|| self.line_table.ready(), |cache| cache.ready())
    }

    /// Whether a row can be accepted.
    #[inline]
    pub(super) fn has_row(&self) -> bool {
        self.cache.as_ref().map_or_else(|| self.line_table.room(), |cache| cache.room())
    }

    /// Whether no access is in flight that may still change memory or the cache.
    #[inline]
    pub(super) fn memory_idle(&self) -> bool {
        let request = self.coalescer.request();
        self.cache.as_ref().map_or(request.is_none(), |cache| cache.idle(request))
    }

    /// The warp that accessed a place that does not exist.
    #[inline]
    pub(super) fn line_fault(&self) -> Option<u8> {
        self.cache.as_ref().map_or_else(|| self.line_table.fault(), |cache| cache.fault())
    }

    /// The result for the buses, and its register's data.
    #[inline]
    pub(super) fn line_result(&self, straps: &Straps) -> Option<(UnitResult, &WarpData)> {
        match &self.cache {
            None => self.line_table.result().map(|answer| (answer.header.into(), &answer.data)),
            Some(cache) => cache.result(straps.cache()),
        }
    }

    /// Decides how the current request proceeds. Returns whether its register is free for another request.
    #[inline]
    pub(super) fn decide_request(&self, inputs: &SmIn, straps: &Straps, pass: &mut CachePass) -> bool {
        let ready = inputs.mem_req_ready_i != 0;
        match &self.cache {
            None => ready,
            Some(cache) => {
                *pass = cache.decide(straps.cache(), self.coalescer.request(), ready);
                pass.ready()
            }
        }
    }

    /// Saves the signals before the edge.
    #[inline]
    pub(super) fn hold(&self) -> Option<Held> {
        self.cache.as_ref().map(|_| Held {
            request: self.coalescer.request().copied(),
            first: self.address_unit.line_first(),
            free: !self.block_launcher.busy(),
        })
    }

    /// Clock edge of the line table, or of the cache.
    #[inline]
    pub(super) fn clock_lines(&mut self, inputs: &SmIn, straps: &Straps, decided: &Decided, edge: &LinesEdge<'_>) {
        let LinesEdge { held, row, pop, running } = *edge;
        self.cache_cfg = straps.cache();
        if let (Some(cache), Some(held)) = (&mut self.cache, held) {
            cache.advance(&cache_cycle(inputs, straps, decided, held, row, pop), running);
        } else if running {
            let fault = inputs.mem_rsp_fault_i != 0;
            let answer = (inputs.mem_rsp_valid_i != 0).then_some((&inputs.mem_rsp_data_i, fault));
            self.line_table.advance(row, answer, pop);
        } else {
            self.line_table.reset(row);
        }
    }

    /// Calls a function with the cache's inputs in this cycle, before the edge.
    pub(super) fn with_cache_cycle<T>(
        &self,
        inputs: &SmIn,
        straps: &Straps,
        decided: &Decided,
        use_it: impl FnOnce(&CacheCycle<'_>) -> T,
    ) -> Option<T> {
        let held = self.hold()?;
        let pass = &decided.pass;
        let access = pass.offer.map(|(_, lanes)| self.address_unit.access(lanes));
        let row = pass.line.as_ref().zip(access.as_ref()).and_then(|(line, access)| line.row(access, pass.last));
        let pop = decided.results(decided.going).any(|(_, result)| result.source == Source::Memory);
        Some(use_it(&cache_cycle(inputs, straps, decided, &held, row.as_ref(), pop)))
    }

    /// `cache_event_o`.
    #[inline(never)]
    pub(super) fn cache_event(&self, inputs: &SmIn, straps: &Straps, decided: &Decided) -> u64 {
        let Some(cache) = &self.cache else { return 0 };
        let event =
            self.with_cache_cycle(inputs, straps, decided, |cycle| cache.event(cycle)).unwrap_or_default().into();
        match &self.unified {
            None => event,
            Some(unified) => event | u64::from(unified.event()) << CACHE_EVENT_BITS,
        }
    }

    /// With a cache: whether it only waits in cycles like this one.
    pub(super) fn cache_is_still(&self, inputs: &SmIn, straps: &Straps) -> bool {
        let Some(cache) = &self.cache else { return true };
        let request = self.coalescer.request();
        cache.is_still()
            && (request.is_none() || !cache.decide(straps.cache(), request, inputs.mem_req_ready_i != 0).ready())
    }
}

fn cache_cycle<'a>(
    inputs: &'a SmIn,
    straps: &Straps,
    decided: &'a Decided,
    held: &'a Held,
    row: Option<&Row<'a>>,
    pop: bool,
) -> CacheCycle<'a> {
    let pass = &decided.pass;
    let answer = LineAnswer {
        data: &inputs.mem_rsp_data_i,
        fault: inputs.mem_rsp_fault_i != 0,
        present: inputs.mem_rsp_present_i,
    };
    debug_assert!(pass.line.is_none() || matches!(pass.offer, Some((Server::Global | Server::Local, _))));
    CacheCycle {
        cfg: straps.cache(),
        flush: inputs.launch_valid_i != 0 && held.free,
        request: held.request.as_ref(),
        pass: &pass.cache,
        line: pass.line.as_ref().and_then(|line| line.line()),
        row: row.map(|row| (*row, held.first)),
        answer: (inputs.mem_rsp_valid_i != 0).then_some(answer),
        pop,
    }
}
