use super::*;
use crate::execute::ResultFields;
use crate::testing::{Driver, SM_SHAPES, compare};

/// A table whose next cycle puts in a row of lanes 1 and 31.
fn table() -> Driver<LineTable> {
    let mut table = Driver::<LineTable>::new(&SM_SHAPES[1]);
    let inputs = &mut table.inputs;
    (inputs.row_valid_i, inputs.row_mask_i, inputs.row_warp_i) = (1, 1 << 31 | 2, 7);
    (inputs.row_reg_valid_i, inputs.row_reg_i, inputs.row_size_i) = (1, 200, 2);
    (inputs.row_offset_i[1], inputs.row_offset_i[31]) = (124, 0);
    inputs.mem_rsp_data_i = WarpData(std::array::from_fn(|word| 0x8000_8180 + word as u32));
    table
}

#[test]
fn lanes_take_their_bytes_of_the_line() {
    for (size, signed, offset, value) in [
        (0, 0, 124, 0x9f),
        (0, 1, 124, 0xffff_ff9f),
        (1, 0, 124, 0x819f),
        (1, 1, 126, 0xffff_8000),
        (2, 0, 124, 0x8000_819f),
    ] {
        let mut table = table();
        (table.inputs.row_size_i, table.inputs.row_signed_i, table.inputs.row_offset_i[1]) = (size, signed, offset);
        table.cycle();
        (table.inputs.row_valid_i, table.inputs.mem_rsp_valid_i) = (0, 1);
        assert_eq!(table.cycle().mem_rsp_ready_o, 1);
        table.inputs.mem_rsp_valid_i = 0;
        let out = table.cycle();
        assert_eq!((out.result_valid_o, out.mem_rsp_ready_o, out.empty_o), (0, 0, 0));
        let out = table.cycle();
        assert_eq!((out.result_valid_o, out.result_o.warp(), out.result_o.mask()), (1, 7, 1 << 31 | 2));
        assert_eq!((out.result_reg_valid_o, out.result_o.d(), out.result_o.done()), (1, 200, 0));
        assert_eq!((out.result_data_o.0[0], out.result_data_o.0[1]), (0, value));
        assert_eq!(out.empty_o, 0, "the result waits");
        table.inputs.pop_i = 1;
        table.cycle();
        assert_eq!(table.cycle().empty_o, 1);
    }
}

#[test]
fn an_atomic_operation_takes_a_word_for_each_lane() {
    let mut table = table();
    (table.inputs.row_lanewise_i, table.inputs.row_done_i) = (1, 1);
    table.cycle();
    (table.inputs.row_valid_i, table.inputs.mem_rsp_valid_i) = (0, 1);
    table.cycle();
    table.cycle();
    let out = table.cycle();
    assert_eq!(
        (out.result_data_o.0[0], out.result_data_o.0[1], out.result_data_o.0[31]),
        (0, 0x8000_8181, 0x8000_819f)
    );
    assert_eq!(out.result_o.done(), 1);
}

#[test]
fn rows_come_back_in_order_and_a_full_table_has_no_room() {
    let mut table = table();
    let rows = SM_SHAPES[1].line_rows as u8;
    for warp in 0..rows {
        table.inputs.row_warp_i = warp;
        assert_eq!(table.cycle().room_o, 1);
    }
    table.inputs.row_valid_i = 0;
    (table.inputs.mem_rsp_valid_i, table.inputs.pop_i) = (1, 1);
    assert_eq!(table.cycle().room_o, 0);
    let mut warps = Vec::new();
    for _ in 0..2 * rows {
        let out = table.cycle();
        if out.result_valid_o == 1 {
            warps.push(out.result_o.warp());
        }
        table.inputs.mem_rsp_valid_i = u8::from(warps.len() + 1 < rows.into());
    }
    assert_eq!(warps, (0..rows).collect::<Vec<_>>());
}

#[test]
fn a_result_that_is_not_taken_holds_up_the_answer_behind_it() {
    let mut table = table();
    table.cycle();
    table.inputs.row_warp_i = 8;
    table.inputs.row_reg_valid_i = 0;
    table.inputs.mem_rsp_valid_i = 1;
    table.cycle();
    table.inputs.row_valid_i = 0;
    table.cycle();
    table.cycle();
    table.inputs.mem_rsp_valid_i = 0;
    for _ in 0..3 {
        let out = table.cycle();
        assert_eq!((out.result_o.warp(), out.mem_rsp_ready_o, table.probe().rsp_valid_q), (7, 0, 1));
    }
    table.inputs.pop_i = 1;
    table.cycle();
    let out = table.cycle();
    assert_eq!((out.result_valid_o, out.result_o.warp(), out.result_reg_valid_o), (1, 8, 0));
}

#[test]
fn a_fault_names_the_warp_that_asked_and_makes_a_result() {
    let mut table = table();
    table.cycle();
    (table.inputs.row_valid_i, table.inputs.mem_rsp_valid_i, table.inputs.mem_rsp_fault_i) = (0, 1, 1);
    assert_eq!(table.cycle().fault_valid_o, 0);
    table.inputs.mem_rsp_valid_i = 0;
    let out = table.cycle();
    assert_eq!((out.fault_valid_o, out.fault_warp_o), (1, 7));
    let out = table.cycle();
    assert_eq!((out.fault_valid_o, out.result_valid_o), (0, 1));
}

#[test]
fn rows_are_written_in_reset_too() {
    let mut table = table();
    table.cycle();
    table.inputs.rst_ni = 0;
    table.inputs.row_warp_i = 9;
    table.cycle();
    (table.inputs.rst_ni, table.inputs.row_valid_i) = (1, 0);
    assert_eq!((table.cycle().empty_o, table.probe().count_q), (1, 0));
    let warp = |row: usize, memories: &[Memory<'_>]| memories[0].words[2 * row] >> 13 & 0x3f;
    let memories = table.block.memories();
    assert_eq!((warp(0, &memories), warp(1, &memories)), (7, 9));
    assert_eq!(memories.iter().map(Memory::len).collect::<Vec<_>>(), [4, 4]);
}

/// A reference model from the page, with a queue of rows.
#[derive(Default)]
struct Reference {
    /// What each row holds but its offsets, in use or not.
    meta: Vec<u64>,
    rows: Vec<LineTableIn>,
    answer: Option<(WarpData, u8)>,
    result: Option<LineTableOut>,
    first: usize,
}

impl Reference {
    fn cycle(&mut self, size: usize, i: &LineTableIn) -> (LineTableOut, LineTableProbe) {
        let mut out = self.result.unwrap_or(LineTableOut::zeroed());
        let mut probe = LineTableProbe::zeroed();
        out.room_o = (self.rows.len() < size).into();
        out.empty_o = (self.rows.is_empty() && self.result.is_none()).into();
        out.mem_rsp_ready_o = self.answer.is_none().into();
        (probe.first_q, probe.count_q) = ((self.first % size) as u8, self.rows.len() as u8);
        let place = (self.first + self.rows.len()) % size;
        self.meta.resize(size, 0);
        probe.place = place as u8;
        probe.meta_q[..size].copy_from_slice(&self.meta);
        if let Some((data, fault)) = self.answer {
            (probe.rsp_valid_q, probe.rsp_data_q, probe.rsp_fault_q) = (1, data, fault);
            (out.fault_valid_o, out.fault_warp_o) = (fault, self.rows[0].row_warp_i);
        }
        if i.pop_i == 1 {
            self.result = None;
        }
        match self.answer {
            Some((data, _)) if self.result.is_none() => {
                self.answer = None;
                self.result = Some(result(&self.rows.remove(0), &data));
                self.first += 1;
            }
            None if i.mem_rsp_valid_i == 1 => self.answer = Some((i.mem_rsp_data_i, i.mem_rsp_fault_i)),
            _ => {}
        }
        if i.row_valid_i == 1 {
            self.rows.push(*i);
            self.meta[place] = meta(i);
        }
        if i.rst_ni == 0 {
            *self = Self { meta: std::mem::take(&mut self.meta), ..Self::default() };
        }
        (out, probe)
    }
}

/// A row but its offsets, as the page lays it out.
fn meta(i: &LineTableIn) -> u64 {
    let reg = if i.row_reg_valid_i == 1 { i.row_reg_i } else { 0 };
    u64::from(i.row_done_i) << 51
        | u64::from(i.row_mask_i) << 19
        | u64::from(i.row_warp_i) << 13
        | u64::from(i.row_reg_valid_i) << 12
        | u64::from(reg) << 4
        | u64::from(i.row_size_i) << 2
        | u64::from(i.row_signed_i) << 1
        | u64::from(i.row_lanewise_i)
}

fn result(row: &LineTableIn, data: &WarpData) -> LineTableOut {
    let mut out = LineTableOut::zeroed();
    (out.result_valid_o, out.result_reg_valid_o) = (1, row.row_reg_valid_i);
    out.result_o = ResultWord::from(ResultFields {
        done: row.row_done_i,
        d: row.row_reg_valid_i * row.row_reg_i,
        warp: row.row_warp_i,
        mask: row.row_mask_i,
        ..ResultFields::default()
    });
    let bytes: Vec<u8> = data.0.iter().flat_map(|word| word.to_le_bytes()).collect();
    for lane in (0..LANES).filter(|lane| row.row_mask_i >> lane & 1 == 1) {
        let from = usize::from(row.row_offset_i[lane]);
        let taken = &bytes[from..][..1 << row.row_size_i];
        let negative = row.row_signed_i == 1 && taken[taken.len() - 1] >= 0x80;
        let fill = if negative { 0xff } else { 0 };
        out.result_data_o.0[lane] = if row.row_lanewise_i == 1 {
            data.0[lane]
        } else {
            u32::from_le_bytes(std::array::from_fn(|byte| *taken.get(byte).unwrap_or(&fill)))
        };
    }
    out
}

#[test]
fn it_does_what_the_page_says_row_by_row() {
    for shape in SM_SHAPES {
        let size = shape.line_rows;
        let reference = std::cell::RefCell::new(Reference::default());
        compare::<LineTable>(
            &shape,
            20_000,
            |random, i| {
                let state = reference.borrow();
                // A table that is emptied faster than it is filled, and the other way round.
                let drains = random.0 >> 50 & 1 == 1;
                i.rst_ni = (!random.chance(1)).into();
                i.row_valid_i = (state.rows.len() < size && random.chance(if drains { 30 } else { 70 })).into();
                let waits = usize::from(state.answer.is_some());
                i.mem_rsp_valid_i = (state.rows.len() > waits && random.chance(90)).into();
                i.row_size_i = random.below(3) as u8;
                i.row_offset_i.iter_mut().for_each(|offset| *offset &= 0x7f << i.row_size_i);
            },
            |i| reference.borrow_mut().cycle(size, i),
        );
    }
}
