//! `writeback`: assigns results to buses. `docs/blocks/writeback.md`.

use crate::execute::result::{ResultWord, UnitResult};
use crate::mrf::MAX_PORTS;
use crate::mrf::bits::is_set;
use crate::shape::SmShape;
use crate::write::{WriteFields, WriteWord, WrittenWord};
use crate::{Block, REG_BITS, WARP_BITS, WarpData, field, packed, ports};

/// Instructions that may end in a cycle.
const MAX_FINISHES: usize = 2 * MAX_PORTS;

ports! {
    /// Inputs of [`Writeback`].
    pub struct WritebackIn(s: &SmShape) {
        /// ALU p's result: data of the register.
        alu_data_i: [WarpData; MAX_PORTS] = field(1024).count(s.ports()).valid_by("alu_reg_valid_i"),
        /// Single precision unit p's result: data of the register.
        fp_data_i: [WarpData; MAX_PORTS] = field(1024).count(s.ports()).valid_by("fp_reg_valid_i"),
        /// The side queue's result: data of the register.
        side_data_i: WarpData = field(1024).valid_by("side_reg_valid_i"),
        /// The special function unit's result: data of the register.
        sfu_data_i: WarpData = field(1024).valid_by("sfu_reg_valid_i"),
        /// The constant unit's result: data of the register.
        constant_data_i: WarpData = field(1024).valid_by("constant_reg_valid_i"),
        /// The line table's result: data of the register.
        memory_data_i: WarpData = field(1024).valid_by("memory_reg_valid_i"),
        /// ALU p's result.
        alu_result_i: [ResultWord; MAX_PORTS] = packed::<ResultWord>().count(s.ports()).valid_by("alu_valid_i"),
        /// Single precision unit p's result.
        fp_result_i: [ResultWord; MAX_PORTS] = packed::<ResultWord>().count(s.ports()).valid_by("fp_valid_i"),
        /// The side queue's result.
        side_result_i: ResultWord = packed::<ResultWord>().valid_by("side_valid_i"),
        /// The special function unit's result.
        sfu_result_i: ResultWord = packed::<ResultWord>().valid_by("sfu_valid_i"),
        /// The constant unit's result.
        constant_result_i: ResultWord = packed::<ResultWord>().valid_by("constant_valid_i"),
        /// The line table's result.
        memory_result_i: ResultWord = packed::<ResultWord>().valid_by("memory_valid_i"),
        /// The completed write.
        written_i: [WrittenWord; MAX_PORTS] = packed::<WrittenWord>().count(s.ports()).valid_by("write_done_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// ALU p has a result.
        alu_valid_i: u8 = field(s.ports()),
        /// ALU p's result writes a register.
        alu_reg_valid_i: u8 = field(s.ports()),
        /// Single precision unit p has a result.
        fp_valid_i: u8 = field(s.ports()),
        /// Single precision unit p's result writes a register.
        fp_reg_valid_i: u8 = field(s.ports()),
        /// The side queue has a result.
        side_valid_i: u8 = field(1),
        /// The side queue's result writes a register.
        side_reg_valid_i: u8 = field(1),
        /// The special function unit has a result.
        sfu_valid_i: u8 = field(1),
        /// The special function unit's result writes a register.
        sfu_reg_valid_i: u8 = field(1),
        /// The constant unit has a result.
        constant_valid_i: u8 = field(1),
        /// The constant unit's result writes a register.
        constant_reg_valid_i: u8 = field(1),
        /// The line table has a result.
        memory_valid_i: u8 = field(1),
        /// The line table's result writes a register.
        memory_reg_valid_i: u8 = field(1),
        /// The operand stage takes a result on bus p.
        write_ready_i: u8 = field(s.ports()),
        /// The result in bus p's queue goes into its bank at this edge.
        write_done_i: u8 = field(s.ports()),
    }
}

ports! {
    /// Outputs of [`Writeback`].
    pub struct WritebackOut(s: &SmShape) {
        /// Data of the result.
        write_data_o: [WarpData; MAX_PORTS] = field(1024).count(s.ports()).valid_by("write_valid_o"),
        /// The result for the operand stage.
        write_o: [WriteWord; MAX_PORTS] = packed::<WriteWord>().count(s.ports()).valid_by("write_valid_o"),
        /// Lanes to write in the predicate.
        pred_mask_o: [u32; MAX_PORTS] = field(32).count(s.ports()).valid_by("pred_valid_o"),
        /// Value to write in each lane of the predicate.
        pred_data_o: [u32; MAX_PORTS] = field(32).count(s.ports()).valid_by("pred_valid_o"),
        /// ALU p's result is taken at this edge.
        alu_pop_o: u8 = field(s.ports()),
        /// Single precision unit p's result is taken at this edge.
        fp_pop_o: u8 = field(s.ports()),
        /// The side queue's result is taken at this edge.
        side_pop_o: u8 = field(1),
        /// The special function unit's result is taken at this edge.
        sfu_pop_o: u8 = field(1),
        /// The constant unit's result is taken at this edge.
        constant_pop_o: u8 = field(1),
        /// The line table's result is taken at this edge.
        memory_pop_o: u8 = field(1),
        /// A result for the operand stage.
        write_valid_o: u8 = field(s.ports()),
        /// A predicate is written.
        pred_valid_o: u8 = field(s.ports()),
        /// Warp whose predicate is written.
        pred_warp_o: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("pred_valid_o"),
        /// Predicate that is written.
        pred_o: [u8; MAX_PORTS] = field(3).count(s.ports()).valid_by("pred_valid_o"),
        /// A register is complete.
        reg_valid_o: u8 = field(s.ports()),
        /// Warp whose register is complete.
        reg_warp_o: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("reg_valid_o"),
        /// Register that is complete.
        reg_o: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("reg_valid_o"),
        /// An instruction has ended.
        finish_valid_o: u8 = field(2 * s.ports()),
        /// Warp whose instruction has ended.
        finish_warp_o: [u8; MAX_FINISHES] = field(WARP_BITS).count(2 * s.ports()).valid_by("finish_valid_o"),
    }
}

ports! {
    /// State of [`Writeback`].
    pub struct WritebackProbe(s: &SmShape) {
        /// The result in bus p's write queue is the last of its instruction.
        last_q: u8 = field(s.ports()),
    }
}

/// A unit that has a result for a bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The ALU of the bus.
    Alu,
    /// The single precision unit of the bus.
    Fp,
    /// The special function unit.
    Sfu,
    /// The constant unit.
    Constant,
    /// The side queue.
    Side,
    /// The line table.
    Memory,
}

impl Source {
    /// Whether the unit is private: each port has its own.
    #[inline]
    pub fn is_private(self) -> bool {
        matches!(self, Self::Alu | Self::Fp)
    }
}

/// The units that have results in a cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct Offers {
    /// The ALUs.
    pub alu: u8,
    /// The single precision units.
    pub fp: u8,
    /// The special function unit.
    pub sfu: bool,
    /// The constant unit.
    pub constant: bool,
    /// The side queue.
    pub side: bool,
    /// The line table.
    pub memory: bool,
}

/// Chooses which result takes which bus, sends it to the register file's write queue and the predicate file, and reports
/// to the scoreboard what is complete.
#[derive(Clone)]
pub struct Writeback {
    ports: usize,
    /// Registers are reported when their results are taken.
    reports_taken: bool,
    last_q: u8,
}

impl Writeback {
    /// The source whose result goes first on bus `p`, even if it cannot go: what has waited longest for memory holds up most.
    #[inline]
    pub fn choose(&self, p: usize, offers: Offers) -> Option<Source> {
        let last = p + 1 == self.ports;
        if offers.memory && last {
            Some(Source::Memory)
        } else if offers.side && p == 0 {
            Some(Source::Side)
        } else if offers.sfu && last {
            Some(Source::Sfu)
        } else if offers.constant && p == 0 {
            Some(Source::Constant)
        } else if offers.fp >> p & 1 == 1 {
            Some(Source::Fp)
        } else {
            (offers.alu >> p & 1 == 1).then_some(Source::Alu)
        }
    }

    /// The part of a result that the register file gets, if it writes a register.
    #[inline]
    pub fn write(source: Source, result: &UnitResult) -> Option<WriteWord> {
        let fields =
            |d| WriteFields { from_private: source.is_private().into(), d, warp: result.warp, mask: result.mask };
        result.reg.map(|reg| fields(reg).into())
    }

    /// Whether the result chosen for a bus leaves at this edge.
    #[inline]
    pub fn goes(result: &UnitResult, write_ready: bool) -> bool {
        result.reg.is_none() || write_ready
    }

    /// The buses whose instruction ends as its register is written at this edge.
    #[inline]
    pub fn ends(&self, write_done: u8) -> u8 {
        write_done & self.last_q
    }

    /// The register that bus `p` reports to the scoreboard, with its warp: that of the completed write, if an instruction
    /// ends ([`ends`](Self::ends)), or that of the result that leaves.
    #[inline]
    pub fn report(&self, written: Option<(u8, u8)>, goes: Option<&UnitResult>) -> Option<(u8, u8)> {
        if self.reports_taken {
            goes.filter(|result| result.done).and_then(|result| Some((result.warp, result.reg?)))
        } else {
            written
        }
    }

    /// Clock edge of bus `p` at which the write queue takes a result.
    #[inline]
    pub fn take(&mut self, p: usize, done: bool) {
        self.last_q = self.last_q & !(1 << p) | u8::from(done) << p;
    }

    /// Clock edge in reset.
    #[inline]
    pub fn reset(&mut self) {
        self.last_q = 0;
    }
}

fn offers(inputs: &WritebackIn) -> Offers {
    Offers {
        alu: inputs.alu_valid_i,
        fp: inputs.fp_valid_i,
        sfu: inputs.sfu_valid_i != 0,
        constant: inputs.constant_valid_i != 0,
        side: inputs.side_valid_i != 0,
        memory: inputs.memory_valid_i != 0,
    }
}

/// The result of a source, and its data.
fn result_of(i: &WritebackIn, p: usize, source: Source) -> (UnitResult, &WarpData) {
    let (word, reg_valid, data) = match source {
        Source::Alu => (i.alu_result_i[p], is_set(i.alu_reg_valid_i, p), &i.alu_data_i[p]),
        Source::Fp => (i.fp_result_i[p], is_set(i.fp_reg_valid_i, p), &i.fp_data_i[p]),
        Source::Sfu => (i.sfu_result_i, i.sfu_reg_valid_i != 0, &i.sfu_data_i),
        Source::Constant => (i.constant_result_i, i.constant_reg_valid_i != 0, &i.constant_data_i),
        Source::Side => (i.side_result_i, i.side_reg_valid_i != 0, &i.side_data_i),
        Source::Memory => (i.memory_result_i, i.memory_reg_valid_i != 0, &i.memory_data_i),
    };
    (UnitResult::of(word, reg_valid), data)
}

impl Block for Writeback {
    const NAME: &'static str = "writeback";
    const PARAMETERS: &'static [&'static str] = &["IssuePorts", "Taken"];

    type Shape = SmShape;
    type In = WritebackIn;
    type Out = WritebackOut;
    type Probe = WritebackProbe;

    fn new(shape: &SmShape) -> Self {
        Self { ports: shape.ports(), reports_taken: shape.services().reports_taken, last_q: 0 }
    }

    fn early(&self, _: &mut WritebackOut) {}

    fn late(&mut self, inputs: &WritebackIn, out: &mut WritebackOut) {
        let offers = offers(inputs);
        (out.alu_pop_o, out.fp_pop_o) = (0, 0);
        (out.side_pop_o, out.sfu_pop_o, out.constant_pop_o, out.memory_pop_o) = (0, 0, 0, 0);
        (out.write_valid_o, out.pred_valid_o) = (0, 0);
        out.reg_valid_o = 0;
        out.finish_valid_o = self.ends(inputs.write_done_i);
        for p in 0..self.ports {
            let bit = 1 << p;
            let mut written = None;
            if out.finish_valid_o & bit != 0 {
                written = Some(inputs.written_i[p].register());
                out.finish_warp_o[p] = inputs.written_i[p].warp();
            }
            let chosen = self.choose(p, offers).map(|source| (source, result_of(inputs, p, source)));
            let ready = inputs.write_ready_i & bit != 0;
            let goes = chosen.as_ref().is_some_and(|(_, (result, _))| Self::goes(result, ready));
            let going = chosen.as_ref().map(|(_, (result, _))| result).filter(|_| goes);
            if let Some((warp, reg)) = self.report(written, going) {
                out.reg_valid_o |= bit;
                (out.reg_warp_o[p], out.reg_o[p]) = (warp, reg);
            }
            let Some((source, (result, data))) = chosen else { continue };
            if let Some(word) = Self::write(source, &result) {
                out.write_valid_o |= bit;
                (out.write_o[p], out.write_data_o[p]) = (word, *data);
            }
            if !goes {
                continue;
            }
            match source {
                Source::Alu => out.alu_pop_o |= bit,
                Source::Fp => out.fp_pop_o |= bit,
                Source::Sfu => out.sfu_pop_o = 1,
                Source::Constant => out.constant_pop_o = 1,
                Source::Side => out.side_pop_o = 1,
                Source::Memory => out.memory_pop_o = 1,
            }
            if let Some(pred) = result.pred {
                out.pred_valid_o |= bit;
                (out.pred_warp_o[p], out.pred_o[p]) = (result.warp, pred);
                (out.pred_mask_o[p], out.pred_data_o[p]) = (result.mask, result.pred_data);
            }
            if result.reg.is_none() && result.done {
                out.finish_valid_o |= bit << self.ports;
                out.finish_warp_o[self.ports + p] = result.warp;
            }
        }
    }

    fn clock(&mut self, inputs: &WritebackIn, out: &WritebackOut) {
        if inputs.rst_ni == 0 {
            self.reset();
            return;
        }
        let (taken, offers) = (out.write_valid_o & inputs.write_ready_i, offers(inputs));
        for p in 0..self.ports {
            if taken >> p & 1 == 1
                && let Some(source) = self.choose(p, offers)
            {
                self.take(p, result_of(inputs, p, source).0.done);
            }
        }
    }

    fn probe(&self, _: &WritebackIn, _: &WritebackOut, probe: &mut WritebackProbe) {
        probe.last_q = self.last_q;
    }
}

#[cfg(test)]
mod tests;
