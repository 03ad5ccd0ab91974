//! Instructions that leave the operand stage, and the results that return to it.

use gpurf_blocks::WarpData;
use gpurf_blocks::execute::{Offers, Source, UnitResult, Wanted, Writeback};
use gpurf_blocks::memory::Bounds;
use gpurf_blocks::mrf::bits::{is_set, set_bits};
use gpurf_blocks::shape::Straps;

use super::Blocks;
use super::decided::{BusResult, ConstantPass, Decided, Dispatch, Pass};

impl Blocks {
    /// Decides which unit takes which instruction.
    #[inline]
    pub(super) fn decide_dispatch(&self, pass: &Pass, constant: &ConstantPass) -> Dispatch {
        let offered = self.operand_stage.dispatch_valid();
        let mut dispatch = Dispatch::default();
        if offered == 0 {
            return dispatch;
        }
        let mut wanted = Wanted::default();
        for p in set_bits(offered) {
            wanted.add(p, self.operand_stage.dispatched_roles(p));
        }
        for (p, (alu, queue)) in self.alu.iter().zip(&self.alu_queue).enumerate() {
            dispatch.units.alu |= u8::from(alu.ready(queue.ready())) << p;
        }
        for (p, (unit, queue)) in self.fp_unit.iter().zip(&self.fp_queue).enumerate() {
            dispatch.units.fp |= u8::from(unit.ready(queue.ready())) << p;
        }
        dispatch.units.memory = self.address_unit.ready(pass.served);
        dispatch.units.sfu = self.sfu.ready(self.sfu_queue.ready());
        dispatch.units.constant = self.constant_unit.ready(constant.served);
        dispatch.wanted = wanted;
        dispatch.memory = self.dispatcher.memory(wanted);
        dispatch.sfu = self.dispatcher.sfu(wanted);
        dispatch.constant = self.dispatcher.constant(wanted);
        dispatch.barrier = self.dispatcher.barrier(wanted);
        dispatch.ready = self.dispatcher.ready(wanted, dispatch.units);
        dispatch
    }

    /// Decides which result takes which bus. Results that write a register are offered to the operand stage.
    #[inline]
    pub(super) fn decide_results(&mut self, straps: &Straps, decided: &mut Decided) {
        decided.ends = self.writeback.ends(self.operand_stage.write_done());
        for p in 0..self.ports {
            let written = is_set(decided.ends, p).then(|| self.operand_stage.written(p));
            decided.reports[p] = self.writeback.report(written, None);
        }
        let mut offers = Offers {
            alu: 0,
            fp: 0,
            sfu: self.sfu_queue.offers(),
            constant: false,
            side: self.side_queue.offers(),
            memory: self.line_result(straps).is_some(),
        };
        for (p, queue) in self.alu_queue.iter().enumerate() {
            offers.alu |= u8::from(queue.offers()) << p;
        }
        decided.fp_passes = 0;
        for (p, (unit, queue)) in self.fp_unit.iter().zip(&self.fp_queue).enumerate() {
            let passes = queue.passes(straps.fp_latency) && unit.result().is_some();
            decided.fp_passes |= u8::from(passes) << p;
            offers.fp |= u8::from(passes || queue.offers()) << p;
        }
        decided.constant_passes = self.constant_queue.passes(straps.fp_latency) && self.constant_result().is_some();
        offers.constant = decided.constant_passes || self.constant_queue.offers();
        (decided.offers, decided.offered, decided.going) = (offers, 0, 0);
        if offers.alu | offers.fp == 0 && !offers.sfu && !offers.constant && !offers.side && !offers.memory {
            return;
        }
        for p in 0..self.ports {
            let Some(source) = self.writeback.choose(p, offers) else { continue };
            let result = self.result(p, source, straps, decided);
            if let Some(word) = Writeback::write(source, &result) {
                let next = self.operand_stage.asks_for_readers() && self.reads_next(word.warp().into(), word.d());
                self.operand_stage.write(p, word, next);
            }
            decided.offered |= 1 << p;
            let goes = Writeback::goes(&result, is_set(self.operand_stage.write_ready(), p));
            decided.going |= u8::from(goes) << p;
            decided.reports[p] = self.writeback.report(decided.reports[p], goes.then_some(&result));
            decided.result[p] = BusResult { source, result };
        }
    }

    /// Whether the head of a warp reads a register.
    #[inline]
    fn reads_next(&self, warp: usize, reg: u8) -> bool {
        is_set(self.instruction_buffer.head_valid(), warp) && self.instruction_buffer.roles(warp).reads(reg)
    }

    /// The result that a source has for bus `p`.
    #[inline]
    fn result(&self, p: usize, source: Source, straps: &Straps, decided: &Decided) -> UnitResult {
        match source {
            Source::Alu => self.alu_queue[p].head(),
            Source::Fp => match self.fp_passing(p, decided) {
                Some((result, _)) => *result,
                None => self.fp_queue[p].head(),
            },
            Source::Sfu => self.sfu_queue.head(),
            Source::Constant => match self.constant_passing(decided) {
                Some((result, _)) => result,
                None => self.constant_queue.head(),
            },
            Source::Side => self.side_queue.head(),
            Source::Memory => self.line_result(straps).expect("it has been chosen").0,
        }
    }

    /// The result that passes the queue of a single precision unit, and its data.
    #[inline]
    pub(super) fn fp_passing(&self, p: usize, decided: &Decided) -> Option<(&UnitResult, &WarpData)> {
        is_set(decided.fp_passes, p).then(|| self.fp_unit[p].result().zip(Some(self.fp_unit[p].data()))).flatten()
    }

    /// The result of the units after the constant unit, and its data; of two results (in reset), that of the special registers.
    #[inline]
    pub(super) fn constant_result(&self) -> Option<(UnitResult, &WarpData)> {
        if let Some(result) = self.special_registers.result() {
            return Some((*result, self.special_registers.data()));
        }
        self.constant_memory.direct_result().map(|answer| (answer.header.into(), &answer.data))
    }

    /// The result that passes the constant unit's queue, and its data.
    #[inline]
    pub(super) fn constant_passing(&self, decided: &Decided) -> Option<(UnitResult, &WarpData)> {
        if decided.constant_passes { self.constant_result() } else { None }
    }

    /// Clock edge at which the constant unit's results go into their queue. It comes before the edge of the units.
    #[inline]
    pub(super) fn push_constant_results(&mut self, latency: u8) {
        let result = match (self.special_registers.result(), self.constant_memory.direct_result()) {
            (Some(result), _) => Some((*result, self.special_registers.data())),
            (None, Some(answer)) => Some((answer.header.into(), &answer.data)),
            (None, None) => None,
        };
        if let Some((result, data)) = result
            && self.constant_queue.ready()
        {
            self.constant_queue.push(latency, &result, data);
        }
    }

    /// The edge at which the results of ALUs and units of floating point go into their queues, and instructions into the units.
    #[inline]
    pub(super) fn clock_dispatch(&mut self, decided: &Decided, straps: &Straps) {
        let Dispatch { wanted, units, memory, constant, barrier, .. } = decided.dispatch;
        for (p, (alu, queue)) in self.alu.iter_mut().zip(&mut self.alu_queue).enumerate() {
            let ready = queue.ready();
            if ready && let Some(result) = alu.result() {
                queue.push(straps.alu_latency, result, alu.data());
            }
            if is_set(wanted.alu & units.alu, p) {
                let offer = self.operand_stage.dispatched(p);
                alu.take(&offer.issued, offer.src_valid, offer.data.each_ref());
            } else if ready {
                alu.leave();
            }
        }
        self.clock_floats(decided, straps);
        self.dispatcher.advance(wanted, units);
        let mut done = set_bits(self.operand_stage.write_done());
        let written = done.any(|p| self.address_unit.has_part(self.operand_stage.written(p)));
        self.address_unit.serve(decided.pass.served, written);
        if units.memory && memory != 0 {
            let offer = self.operand_stage.dispatched(memory.trailing_zeros() as usize);
            let operands = std::array::from_fn(|k| offer.source(k));
            let grid = self.block_launcher.grid();
            let bounds = Bounds {
                shared_base: self.block_launcher.place(offer.issued.warp),
                shared_bytes: grid.shared,
                common: self.common_area(offer.issued.warp),
                local_words: grid.local_words,
            };
            self.address_unit.take(&offer.issued, operands, &bounds);
        }
        self.constant_unit.serve(decided.constant.served);
        if units.constant && constant != 0 {
            let offer = self.operand_stage.dispatched(constant.trailing_zeros() as usize);
            self.constant_unit.take(&offer.issued, offer.source(0));
        }
        self.barrier_unit.advance(decided.opening);
        if barrier != 0 {
            let offer = self.operand_stage.dispatched(barrier.trailing_zeros() as usize);
            self.barrier_unit.arrive(&offer.issued, offer.source(1));
            self.scoreboard.finish(offer.issued.warp.into());
        }
    }

    /// Clock edge of the single precision units.
    #[inline]
    fn clock_floats(&mut self, decided: &Decided, straps: &Straps) {
        let Dispatch { wanted, units, sfu, .. } = decided.dispatch;
        for (p, (unit, queue)) in self.fp_unit.iter_mut().zip(&mut self.fp_queue).enumerate() {
            if !unit.idle() {
                let ready = queue.ready();
                if ready && let Some(result) = unit.result() {
                    queue.push(straps.fp_latency, result, unit.data());
                }
                unit.advance(ready);
            }
            if is_set(wanted.fp & units.fp, p) {
                let offer = self.operand_stage.dispatched(p);
                unit.take(&offer.issued, offer.src_valid, offer.data.each_ref());
            }
        }
        if !self.sfu.idle() {
            let ready = self.sfu_queue.ready();
            if ready && let Some(result) = self.sfu.result() {
                self.sfu_queue.push(straps.sfu_latency, result, self.sfu.data());
            }
            self.sfu.advance(ready);
        }
        if units.sfu && sfu != 0 {
            let offer = self.operand_stage.dispatched(sfu.trailing_zeros() as usize);
            let argument = (offer.src_valid & 1 != 0).then_some(&offer.data[0]);
            self.sfu.take(&offer.issued, argument);
        }
    }

    /// Clock edge at which results leave: writes of predicates, and reports to the scoreboard.
    #[inline]
    pub(super) fn clock_results(&mut self, decided: &Decided) {
        for (warp, reg) in decided.reports.into_iter().flatten() {
            self.scoreboard.clear_register(warp.into(), reg);
        }
        for p in set_bits(decided.ends) {
            let (warp, _) = self.operand_stage.written(p);
            self.scoreboard.finish(warp.into());
        }
        if let Some(warp) = self.address_unit.finish(decided.pass.served) {
            self.scoreboard.finish(warp.into());
        }
        for (p, BusResult { result, .. }) in decided.results(decided.going) {
            let w = usize::from(result.warp);
            if let Some(pred) = result.pred {
                self.predicate_file.write(result.warp, pred, result.mask, result.pred_data);
                self.scoreboard.clear_predicate(w, pred);
            }
            if result.reg.is_some() {
                self.writeback.take(p, result.done);
            } else if result.done {
                self.scoreboard.finish(w);
            }
        }
    }

    /// Clock edge of the operand stage, which takes results from where they are: a result that passes a queue is in it by now.
    #[inline]
    pub(super) fn clock_operands(&mut self, straps: &Straps, decided: &Decided, running: bool) {
        if let Some(unified) = &mut self.unified {
            unified.clock_columns(&mut self.operand_stage);
        }
        let (alu, fp, sfu) = (&self.alu_queue, &self.fp_queue, &self.sfu_queue);
        let (constant, side) = (&self.constant_queue, &self.side_queue);
        let (table, cache) = (&self.line_table, &self.cache);
        self.operand_stage.edge(running, |p| match decided.result[p].source {
            Source::Alu => alu[p].head_data(),
            Source::Fp => fp[p].head_data(),
            Source::Sfu => sfu.head_data(),
            Source::Constant => constant.head_data(),
            Source::Side => side.head_data(),
            Source::Memory => match cache {
                None => &table.result().expect("it is offered").data,
                Some(cache) => cache.result(straps.cache()).expect("it is offered").1,
            },
        });
    }

    /// Clock edge at which results leave their queues. Returns whether the result of the line table leaves.
    #[inline]
    pub(super) fn pop_results(&mut self, decided: &Decided) -> bool {
        let mut memory = false;
        for (p, BusResult { source, .. }) in decided.results(decided.going) {
            match source {
                Source::Alu => self.alu_queue[p].pop(),
                Source::Fp => self.fp_queue[p].pop(),
                Source::Sfu => self.sfu_queue.pop(),
                Source::Constant => self.constant_queue.pop(),
                Source::Side => self.side_queue.pop(),
                Source::Memory => memory = true,
            }
        }
        self.alu_queue.iter_mut().chain(&mut self.fp_queue).for_each(|queue| queue.advance());
        self.sfu_queue.advance();
        self.constant_queue.advance();
        self.side_queue.advance();
        memory
    }
}
