//! The memory pipeline: the address unit and the units that serve it.

use gpurf_blocks::execute::{Dimensions, Shuffle, SpecialRead, UnitResult};
use gpurf_blocks::memory::{Answer, ConstantMemory, ConstantServer, LinePass, Row, Server};
use gpurf_blocks::shape::Straps;

use super::Blocks;
use super::decided::{ConstantPass, Decided, Pass};
use super::unified::shared_result;
use crate::ports::SmIn;

impl Blocks {
    /// Decides how the current request proceeds, and which lanes are offered.
    #[inline]
    pub(super) fn begin_pass(&self, inputs: &SmIn, straps: &Straps, pass: &mut Pass) {
        pass.offer = self.address_unit.offer();
        pass.free = self.decide_request(inputs, straps, &mut pass.cache);
    }

    /// Decides which of the offered lanes are served.
    #[inline]
    pub(super) fn decide_pass(&self, straps: &Straps, constant: &ConstantPass, pass: &mut Pass) {
        (pass.served, pass.last, pass.line) = (0, false, None);
        let Some((server, lanes)) = pass.offer else { return };
        let access = self.address_unit.access(lanes);
        match server {
            Server::Global | Server::Local => {
                let room = self.has_row();
                let words = self.block_launcher.grid().local_words;
                pass.line = self.coalescer.pass(&access, server == Server::Local, words, room, pass.free);
                pass.served = pass.line.as_ref().map_or(0, LinePass::served);
            }
            Server::Shared if let Some(unified) = &self.unified => pass.served = unified.served(),
            Server::Shared => {
                pass.shared = self.shared_memory.pass(&access, straps.shared_bandwidth, self.side_queue.room());
                pass.served = pass.shared.served();
            }
            _ if !self.side_queue.room() => {}
            Server::Constant if constant.by(ConstantServer::Constant) != 0 => {}
            Server::Constant => pass.served = ConstantMemory::served(&access),
            Server::Shuffle => pass.served = lanes,
        }
        pass.last = self.address_unit.last(pass.served);
    }

    /// Decides which of the constant unit's lanes are served, before [`decide_pass`](Self::decide_pass): its lanes go first.
    #[inline]
    pub(super) fn decide_constant(&self, pass: &mut ConstantPass) {
        *pass = ConstantPass { offer: self.constant_unit.offer(), served: 0, last: false };
        let Some((server, lanes)) = pass.offer else { return };
        if self.constant_queue.room() {
            pass.served = match server {
                ConstantServer::Constant => ConstantMemory::served(&self.constant_unit.access()),
                ConstantServer::Special => lanes,
            };
        }
        pass.last = self.constant_unit.last(pass.served);
    }

    /// Clock edge at which results of the units after the address unit go into the side queue, before the units' edge.
    #[inline]
    pub(super) fn push_side_results(&mut self, latency: u8) {
        // If several have a result, the last source counts; in a design that meets its contract only one has a result.
        let of = |answer: &Answer| UnitResult::from(answer.header);
        let (result, data) = if let Some(result) = self.lane_crossbar.result() {
            (*result, self.lane_crossbar.data())
        } else if let Some(answer) = self.constant_memory.result() {
            (of(answer), &answer.data)
        } else if let Some(answer) = shared_result(&self.shared_memory, self.unified.as_deref()) {
            (of(answer), &answer.data)
        } else {
            return;
        };
        if self.side_queue.ready() {
            self.side_queue.push(latency, &result, data);
        }
    }

    /// Clock edge of the units at this time, before that of the address unit. Returns the row for the line table.
    #[inline]
    pub(super) fn clock_units<'d>(&mut self, time: u64, decided: &'d Decided) -> Option<Row<'d>> {
        let pass = &decided.pass;
        self.lane_crossbar.advance();
        let (shared, constant) =
            (matches!(pass.offer, Some((Server::Shared, _))), matches!(pass.offer, Some((Server::Constant, _))));
        if !shared {
            self.clock_idle_shared();
        }
        let direct = decided.constant.by(ConstantServer::Constant);
        if direct != 0 {
            self.constant_memory.advance(&self.constant_unit.access(), direct, decided.constant.last, true);
        } else if !constant && !self.constant_memory.idle() {
            self.constant_memory.collect();
        }
        self.clock_special(time, &decided.constant);
        let ready = pass.free;
        let Some((server, lanes)) = pass.offer else {
            self.coalescer.wait(ready);
            return None;
        };
        let access = self.address_unit.access(lanes);
        if let Some(line) = &pass.line {
            self.coalescer.perform(&access, line);
            return line.row(&access, pass.last);
        }
        self.coalescer.wait(ready);
        match server {
            Server::Global | Server::Local => {}
            Server::Shared => match &mut self.unified {
                None => self.shared_memory.advance(Some((&access, pass.shared)), pass.last),
                Some(unified) => unified.clock_shared(Some(&access), pass.last),
            },
            Server::Constant if direct != 0 => {}
            Server::Constant => self.constant_memory.advance(&access, pass.served, pass.last, false),
            Server::Shuffle if pass.served == 0 => {}
            Server::Shuffle => {
                let shuffle = Shuffle {
                    modifiers: self.address_unit.modifiers().into(),
                    lanes,
                    warp: access.warp,
                    reg: access.reg,
                    pred: self.address_unit.pred(),
                };
                self.lane_crossbar.perform(&shuffle, access.addr, access.compare);
            }
        }
        None
    }

    /// Clock edge of the scratchpad where no lanes are offered to it.
    #[inline]
    fn clock_idle_shared(&mut self) {
        if let Some(unified) = &mut self.unified {
            unified.clock_shared(None, false);
        } else if !self.shared_memory.idle() {
            self.shared_memory.advance(None, false);
        }
    }

    /// Clock edge of the special registers, in a cycle with this time.
    #[inline]
    fn clock_special(&mut self, time: u64, pass: &ConstantPass) {
        self.special_registers.advance();
        let lanes = pass.by(ConstantServer::Special);
        if lanes == 0 {
            return;
        }
        let access = self.constant_unit.access();
        let (warp, reg) = (access.warp, access.reg);
        let (index, block) = self.block_launcher.block_of(warp);
        let ctaid = [block.x, block.y.into(), block.z.into()];
        let read = SpecialRead { time, ctaid, lanes, warp, source: self.constant_unit.source(), reg, index };
        self.special_registers.perform(&read, &self.dimensions());
    }

    /// Values that are the same for all blocks of the grid.
    fn dimensions(&self) -> Dimensions {
        let grid = self.block_launcher.grid();
        Dimensions {
            ntid: [grid.block.x, grid.block.y.into(), grid.block.z.into()],
            nctaid: [grid.grid.x, grid.grid.y.into(), grid.grid.z.into()],
            dynamic_shared: grid.dynamic,
        }
    }
}
