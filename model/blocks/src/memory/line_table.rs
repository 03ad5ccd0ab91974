//! `line_table`: lines in flight. `docs/blocks/line_table.md`.

use crate::execute::{ResultWord, UnitResult};
use crate::memory::access::{Answer, Header, extract, masked};
use crate::memory::coalescer::{OFFSET_BITS, Row};
use crate::mrf::bits::set_bits;
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

/// A row but its offsets, from the highest bit down: done, mask, warp, whether there is a register, which, size, sign, lanewise.
mod meta {
    use super::{Header, Row};

    /// Width.
    pub(super) const BITS: u32 = 52;

    pub(super) fn pack(row: &Row<'_>) -> u64 {
        let Header { mask, warp, reg, done } = row.header;
        let fields = [
            (u64::from(mask), 32),
            (warp.into(), 6),
            (reg.is_some().into(), 1),
            (reg.unwrap_or_default().into(), 8),
            (row.size.into(), 2),
            (row.signed.into(), 1),
            (row.lanewise.into(), 1),
        ];
        fields.into_iter().fold(done.into(), |word, (value, bits)| word << bits | value)
    }

    pub(super) fn header(word: u64) -> Header {
        Header {
            mask: (word >> 19) as u32,
            warp: (word >> 13) as u8 & 0x3f,
            reg: (word >> 12 & 1 == 1).then_some((word >> 4) as u8),
            done: word >> 51 & 1 == 1,
        }
    }

    pub(super) const fn size(word: u64) -> u8 {
        (word >> 2) as u8 & 3
    }

    pub(super) const fn signed(word: u64) -> bool {
        word >> 1 & 1 == 1
    }

    pub(super) const fn lanewise(word: u64) -> bool {
        word & 1 == 1
    }
}

/// Elements of a row's offsets: 32 of 7 bits.
const OFFSET_WORDS: usize = LANES * OFFSET_BITS as usize / 32;
/// Lanes whose offsets fill whole bytes.
const OFFSET_GROUP: usize = 8;

/// A row's offsets as the table has them: lane l in bits 7l+6:7l.
fn pack_offsets(offset: &[u8; LANES]) -> [u32; OFFSET_WORDS] {
    let mut bytes = [0; 4 * OFFSET_WORDS];
    let groups = offset.as_chunks::<OFFSET_GROUP>().0.iter().zip(bytes.chunks_exact_mut(OFFSET_BITS as usize));
    for (&group, packed) in groups {
        // Neighbours move together: pairs, then fours, then all eight.
        let eight = u64::from_le_bytes(group);
        let pairs = eight & 0x007f_007f_007f_007f | (eight & 0x7f00_7f00_7f00_7f00) >> 1;
        let fours = pairs & 0x0000_3fff_0000_3fff | (pairs & 0x3fff_0000_3fff_0000) >> 2;
        let all = fours & 0x0fff_ffff | (fours & 0x0fff_ffff_0000_0000) >> 4;
        packed.copy_from_slice(&all.to_le_bytes()[..OFFSET_BITS as usize]);
    }
    std::array::from_fn(|word| u32::from_le_bytes(bytes.as_chunks().0[word]))
}

/// The inverse of [`pack_offsets`].
fn unpack_offsets(words: &[u32]) -> [u8; LANES] {
    let mut bytes = [0; 4 * OFFSET_WORDS];
    for (four, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
        *four = word.to_le_bytes();
    }
    let mut offset = [0; LANES];
    let groups = offset.as_chunks_mut::<OFFSET_GROUP>().0.iter_mut().zip(bytes.chunks_exact(OFFSET_BITS as usize));
    for (group, packed) in groups {
        let all = packed.iter().rev().fold(0, |all, &byte| all << u8::BITS | u64::from(byte));
        let fours = all & 0x0fff_ffff | (all & 0x00ff_ffff_f000_0000) << 4;
        let pairs = fours & 0x0000_3fff_0000_3fff | (fours & 0x0fff_c000_0fff_c000) << 2;
        let eight = pairs & 0x007f_007f_007f_007f | (pairs & 0x3f80_3f80_3f80_3f80) << 1;
        *group = eight.to_le_bytes();
    }
    offset
}

/// A row for each request that waits for an answer, in order: memory answers in the order of requests. When a line comes, its row
/// says which lanes take what from it, and these are written to the register file at once, so that nothing gathers a whole
/// register.
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

    /// No row is in use and no result waits.
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

    /// The warp that asked for a place that does not exist.
    #[inline]
    pub fn fault(&self) -> Option<u8> {
        (self.rsp_valid_q && self.rsp_fault_q).then(|| meta::header(self.meta(self.first_q)).warp)
    }

    /// The edge: a row that is put in, an answer that is offered with whether it is a fault, and whether the result is taken.
    #[inline]
    pub fn advance(&mut self, row: Option<&Row<'_>>, answer: Option<(&WarpData, bool)>, pop: bool) {
        if row.is_none() && answer.is_none() && !self.rsp_valid_q {
            self.result_valid_q &= !pop;
        } else {
            self.step(row, answer, pop);
        }
    }

    /// [`advance`](Self::advance) where there is more to do than that the result goes.
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

    /// An edge in reset: rows are written like the words of a RAM.
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

    /// The oldest row and the answer make a result.
    fn finish(&mut self) {
        let row = self.meta(self.first_q);
        self.result_q.header = meta::header(row);
        let Header { mask, reg, .. } = self.result_q.header;
        if reg.is_some() {
            let line = &self.rsp_data_q;
            self.result_q.data = if meta::lanewise(row) {
                masked(line, mask)
            } else {
                let offset = unpack_offsets(&self.offset_q[OFFSET_WORDS * self.first_q..][..OFFSET_WORDS]);
                let (size, signed) = (meta::size(row), meta::signed(row));
                let mut data = WarpData::ZERO;
                for lane in set_bits(mask) {
                    let byte = offset[lane];
                    data.0[lane] = extract(line.0[usize::from(byte >> 2)], byte.into(), size, signed);
                }
                data
            };
        }
        self.rsp_valid_q = false;
        self.result_valid_q = true;
        self.first_q = (self.first_q + 1) & (self.rows - 1);
        self.count_q = self.counted(-1);
    }

    /// Where a row goes.
    fn place(&self) -> usize {
        (self.first_q + self.count_q) & (self.rows - 1)
    }

    /// The count a step on, in its width.
    fn counted(&self, step: isize) -> usize {
        self.count_q.wrapping_add_signed(step) & (2 * self.rows - 1)
    }

    fn meta(&self, row: usize) -> u64 {
        u64::from(self.meta_q[META_WORDS * row]) | u64::from(self.meta_q[META_WORDS * row + 1]) << 32
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
        *probe = LineTableProbe::zeroed();
        (probe.first_q, probe.count_q) = (self.first_q as u8, self.count_q as u8);
        probe.place = self.place() as u8;
        (0..self.rows).for_each(|row| probe.meta_q[row] = self.meta(row));
        if self.rsp_valid_q {
            (probe.rsp_valid_q, probe.rsp_fault_q, probe.rsp_data_q) = (1, self.rsp_fault_q.into(), self.rsp_data_q);
        }
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let cells = self.cells().into_iter();
        cells.map(|(path, words, bits)| Memory { path: path.into(), block: Self::NAME, words, bits }).collect()
    }
}

#[cfg(test)]
mod tests;
