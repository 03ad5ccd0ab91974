//! `line_table`: lines in flight. `docs/blocks/line_table.md`.

use crate::execute::{ResultWord, UnitResult};
use crate::memory::access::{Answer, Header};
use crate::memory::coalescer::{OFFSET_BITS, Row};
use crate::memory::rows::{OFFSET_WORDS, Taken, meta, pack_offsets, unpack_offsets};
use crate::shape::SmShape;
use crate::{Block, LANES, Memory, Ports, REG_BITS, WARP_BITS, WarpData, field, packed, ports};

ports! {
    /// Inputs of [`LineTable`].
    pub struct LineTableIn(s: &SmShape) {
        /// The line, or a word for each lane.
        mem_rsp_data_i: WarpData = field(1024).valid_by("mem_rsp_valid_i"),
        /// Lanes of the row.
        row_mask_i: u32 = field(32).valid_by("row_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// A row at this edge.
        row_valid_i: u8 = field(1),
        /// Warp of the row.
        row_warp_i: u8 = field(WARP_BITS).valid_by("row_valid_i"),
        /// A register is written.
        row_reg_valid_i: u8 = field(1).valid_by("row_valid_i"),
        /// Register that is written.
        row_reg_i: u8 = field(REG_BITS).valid_by("row_reg_valid_i"),
        /// Bytes as a power of two.
        row_size_i: u8 = field(2).valid_by("row_valid_i"),
        /// Sign extension.
        row_signed_i: u8 = field(1).valid_by("row_valid_i"),
        /// The answer has a word for each lane instead of a line.
        row_lanewise_i: u8 = field(1).valid_by("row_valid_i"),
        /// Last of its instruction.
        row_done_i: u8 = field(1).valid_by("row_valid_i"),
        /// Place of each lane's first byte in the line.
        row_offset_i: [u8; LANES] = field(OFFSET_BITS).count(LANES).valid_by("row_valid_i"),
        /// An answer is offered.
        mem_rsp_valid_i: u8 = field(1),
        /// The answer says that there is no such place.
        mem_rsp_fault_i: u8 = field(1).valid_by("mem_rsp_valid_i"),
        /// The result is taken at this edge.
        pop_i: u8 = field(1),
    }
}

ports! {
    /// Outputs of [`LineTable`].
    pub struct LineTableOut(s: &SmShape) {
        /// Lanes of the register.
        result_data_o: WarpData = field(1024).valid_by("result_reg_valid_o").early().shows("result_data_q"),
        /// The result.
        result_o: ResultWord = packed::<ResultWord>().valid_by("result_valid_o").early().shows("result_q"),
        /// A row is free.
        room_o: u8 = field(1).early(),
        /// No row is in use and no result waits.
        empty_o: u8 = field(1).early(),
        /// An answer is taken at this edge if also valid.
        mem_rsp_ready_o: u8 = field(1).early(),
        /// A result is offered.
        result_valid_o: u8 = field(1).early().shows("result_valid_q"),
        /// A register is written.
        result_reg_valid_o: u8 = field(1).early().shows_while("result_reg_valid_q", "result_valid_o"),
        /// The answer says that there is no such place.
        fault_valid_o: u8 = field(1).early(),
        /// Warp whose request was at fault.
        fault_warp_o: u8 = field(WARP_BITS).valid_by("fault_valid_o").early(),
    }
}

ports! {
    /// State of [`LineTable`] that no output shows.
    pub struct LineTableProbe(s: &SmShape) {
        /// Data of the answer that waits.
        rsp_data_q: WarpData = field(1024).valid_by("rsp_valid_q"),
        /// Oldest row.
        first_q: u8 = field(s.row_w()),
        /// Rows in use.
        count_q: u8 = field(s.row_w() + 1),
        /// An answer waits.
        rsp_valid_q: u8 = field(1),
        /// The answer that waits says that there is no such place.
        rsp_fault_q: u8 = field(1).valid_by("rsp_valid_q"),
        /// Place of the next row.
        place: u8 = field(s.row_w()).early(),
        /// Every row but its offsets, in use or not.
        meta_q: [u64; MAX_ROWS] = field(meta::BITS).count(s.line_rows),
    }
}

/// Capacity of the twin: the largest number of rows.
const MAX_ROWS: usize = 128;

/// Has a row for each request that waits for an answer, in order: memory answers in the order of requests. When a line arrives,
/// its row says which lanes take which bytes of it. These lanes go to the register file at once, so that no block collects a
/// whole register.
#[derive(Clone)]
pub struct LineTable {
    rows: usize,
    /// Two elements a row, the low one first.
    meta_q: Box<[u32]>,
    offset_q: Box<[u32]>,
    first_q: usize,
    count_q: usize,
    rsp_valid_q: bool,
    rsp_fault_q: bool,
    rsp_data_q: WarpData,
    result_valid_q: bool,
    result_q: Answer,
}

const META_WORDS: usize = 2;

impl LineTable {
    /// Whether a row is free.
    #[inline]
    pub fn room(&self) -> bool {
        self.count_q < self.rows
    }

    /// Whether no row is in use and no result waits.
    #[inline]
    pub fn empty(&self) -> bool {
        self.count_q == 0 && !self.result_valid_q
    }

    /// Whether no answer and no result is at hand; rows may wait for theirs.
    #[inline]
    pub fn waits(&self) -> bool {
        !self.rsp_valid_q && !self.result_valid_q
    }

    /// Whether an answer is taken at this edge.
    #[inline]
    pub fn ready(&self) -> bool {
        !self.rsp_valid_q
    }

    /// The result.
    #[inline]
    pub fn result(&self) -> Option<&Answer> {
        self.result_valid_q.then_some(&self.result_q)
    }

    /// The warp that accessed a place that does not exist.
    #[inline]
    pub fn fault(&self) -> Option<u8> {
        (self.rsp_valid_q && self.rsp_fault_q).then(|| meta::header(self.meta(self.first_q)).warp)
    }

    /// Clock edge: a row to insert, an answer that is offered and whether it is a fault, and whether the result is taken.
    #[inline]
    pub fn advance(&mut self, row: Option<&Row<'_>>, answer: Option<(&WarpData, bool)>, pop: bool) {
        if row.is_none() && answer.is_none() && !self.rsp_valid_q {
            self.result_valid_q &= !pop;
        } else {
            self.step(row, answer, pop);
        }
    }

    /// The general case of [`advance`](Self::advance): more happens than that the result leaves.
    fn step(&mut self, row: Option<&Row<'_>>, answer: Option<(&WarpData, bool)>, pop: bool) {
        if let Some(row) = row {
            self.write(row);
            self.count_q = self.counted(1);
        }
        self.result_valid_q &= !pop;
        if !self.rsp_valid_q {
            if let Some((data, fault)) = answer {
                (self.rsp_valid_q, self.rsp_fault_q) = (true, fault);
                self.rsp_data_q = *data;
            }
        } else if !self.result_valid_q {
            self.finish();
        }
    }

    /// Clock edge in reset: rows are written like the words of a RAM.
    pub fn reset(&mut self, row: Option<&Row<'_>>) {
        if let Some(row) = row {
            self.write(row);
        }
        (self.first_q, self.count_q) = (0, 0);
        (self.rsp_valid_q, self.result_valid_q) = (false, false);
    }

    fn write(&mut self, row: &Row<'_>) {
        let place = self.place();
        let word = meta::pack(row);
        self.meta_q[META_WORDS * place..][..META_WORDS].copy_from_slice(&[word as u32, (word >> 32) as u32]);
        self.offset_q[OFFSET_WORDS * place..][..OFFSET_WORDS].copy_from_slice(&pack_offsets(row.offset));
    }

    /// Makes a result of the oldest row and the answer.
    fn finish(&mut self) {
        let row = self.meta(self.first_q);
        self.result_q.header = meta::header(row);
        if self.result_q.header.reg.is_some() {
            let offset = || unpack_offsets(&self.offset_q[OFFSET_WORDS * self.first_q..][..OFFSET_WORDS]);
            self.result_q.data = Taken::of(row).from(&self.rsp_data_q, offset);
        }
        self.rsp_valid_q = false;
        self.result_valid_q = true;
        self.first_q = (self.first_q + 1) & (self.rows - 1);
        self.count_q = self.counted(-1);
    }

    /// The place of the next row.
    fn place(&self) -> usize {
        (self.first_q + self.count_q) & (self.rows - 1)
    }

    /// The count changed by `step`, in its width.
    fn counted(&self, step: isize) -> usize {
        self.count_q.wrapping_add_signed(step) & (2 * self.rows - 1)
    }

    fn meta(&self, row: usize) -> u64 {
        meta::word([self.meta_q[META_WORDS * row], self.meta_q[META_WORDS * row + 1]])
    }

    /// The rows.
    pub(crate) fn cells(&mut self) -> [(&'static str, &mut [u32], u32); 2] {
        [("meta_q", &mut self.meta_q, meta::BITS), ("offset_q", &mut self.offset_q, LANES as u32 * OFFSET_BITS)]
    }
}

impl LineTableIn {
    fn row(&self) -> Option<Row<'_>> {
        (self.row_valid_i != 0).then(|| Row {
            header: Header {
                mask: self.row_mask_i,
                warp: self.row_warp_i,
                reg: (self.row_reg_valid_i != 0).then_some(self.row_reg_i),
                done: self.row_done_i != 0,
            },
            offset: &self.row_offset_i,
            size: self.row_size_i,
            signed: self.row_signed_i != 0,
            lanewise: self.row_lanewise_i != 0,
        })
    }
}

impl Block for LineTable {
    const NAME: &'static str = "line_table";
    const PARAMETERS: &'static [&'static str] = &["Rows"];

    type Shape = SmShape;
    type In = LineTableIn;
    type Out = LineTableOut;
    type Probe = LineTableProbe;

    fn new(shape: &SmShape) -> Self {
        let rows = shape.line_rows;
        Self {
            rows,
            meta_q: vec![0; META_WORDS * rows].into(),
            offset_q: vec![0; OFFSET_WORDS * rows].into(),
            first_q: 0,
            count_q: 0,
            rsp_valid_q: false,
            rsp_fault_q: false,
            rsp_data_q: WarpData::ZERO,
            result_valid_q: false,
            result_q: Answer::NOTHING,
        }
    }

    fn early(&self, out: &mut LineTableOut) {
        *out = LineTableOut::zeroed();
        (out.room_o, out.empty_o, out.mem_rsp_ready_o) = (self.room().into(), self.empty().into(), self.ready().into());
        let fault = self.fault();
        (out.fault_valid_o, out.fault_warp_o) = (fault.is_some().into(), fault.unwrap_or_default());
        if let Some(Answer { header, data }) = self.result() {
            out.result_valid_o = 1;
            out.result_o = ResultWord::from(&UnitResult::from(*header));
            if header.reg.is_some() {
                (out.result_reg_valid_o, out.result_data_o) = (1, *data);
            }
        }
    }

    fn late(&mut self, _: &LineTableIn, _: &mut LineTableOut) {}

    fn clock(&mut self, inputs: &LineTableIn, _: &LineTableOut) {
        let row = inputs.row();
        if inputs.rst_ni == 0 {
            self.reset(row.as_ref());
            return;
        }
        let answer = (inputs.mem_rsp_valid_i != 0).then_some((&inputs.mem_rsp_data_i, inputs.mem_rsp_fault_i != 0));
        self.advance(row.as_ref(), answer, inputs.pop_i != 0);
    }

    fn probe(&self, _: &LineTableIn, _: &LineTableOut, probe: &mut LineTableProbe) {
        (probe.first_q, probe.count_q) = (self.first_q as u8, self.count_q as u8);
        probe.place = self.place() as u8;
        let (rows, _) = self.meta_q.as_chunks();
        probe.meta_q.iter_mut().zip(rows).for_each(|(shown, &row)| *shown = meta::word(row));
        (probe.rsp_valid_q, probe.rsp_fault_q) =
            (self.rsp_valid_q.into(), (self.rsp_valid_q && self.rsp_fault_q).into());
        if self.rsp_valid_q {
            probe.rsp_data_q = self.rsp_data_q;
        }
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let cells = self.cells().into_iter();
        cells.map(|(path, words, bits)| Memory { path: path.into(), block: Self::NAME, words, bits }).collect()
    }
}

#[cfg(test)]
mod tests;
