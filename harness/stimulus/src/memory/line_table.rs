//! `line_table`.

use gpurf_blocks::config::Config;
use gpurf_blocks::memory::{LineTable, LineTableIn, LineTableOut, LineTableProbe};
use gpurf_blocks::shape::SmShape;
use gpurf_blocks::sizes::MAX_WARPS;
use gpurf_blocks::{Block, LANES, Ports};
use gpurf_lockstep::Rng;

use super::lanes::{set_lanes, some_lanes};
use crate::driver::Reset;
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<LineTable, LineTableDriver, LineTableCover>();

pub(crate) struct LineTableDriver {
    rows: u8,
    reset: Reset,
    /// Follows the inputs, to know how many rows wait for an answer.
    twin: LineTable,
    out: Box<LineTableOut>,
    probe: Box<LineTableProbe>,
}

knobs! {
    pub(crate) struct LineTableKnobs {
        row: "a row is put in" = [300, 1000, 1000],
        answer: "memory answers" = [200, 1000, 1000],
        pop: "the result is taken" = [300, 900, 1000],
        lanewise: "a row is that of an atomic operation" = [0, 300],
        partial: "a row leaves lanes out" = [0, 500, 900],
        fault: "there is no such place" = [0, 100],
        // Rarely, since it takes long until all places of the table have been used.
        reset = [0, 0, 0, 40],
    }
}

impl Driver for LineTableDriver {
    type In = LineTableIn;
    type Knobs = LineTableKnobs;

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self {
            rows: shape.line_rows as u8,
            reset: Reset::default(),
            twin: LineTable::new(shape),
            out: Box::new(LineTableOut::zeroed()),
            probe: Box::new(LineTableProbe::zeroed()),
        }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &LineTableKnobs, inputs: &mut LineTableIn) {
        self.twin.early(&mut self.out);
        self.twin.probe(inputs, &self.out, &mut self.probe);
        inputs.rst_ni = self.reset.next(rng, knobs.reset);
        inputs.row_valid_i = (self.probe.count_q < self.rows && rng.chance(knobs.row)).into();
        if inputs.row_valid_i == 1 {
            self.row(rng, knobs, inputs);
        }
        // An answer that waits in the block has a row too. A row may come with its answer.
        let unanswered = self.probe.count_q + inputs.row_valid_i > self.probe.rsp_valid_q;
        inputs.mem_rsp_valid_i = (unanswered && rng.chance(knobs.answer)).into();
        if inputs.mem_rsp_valid_i == 1 {
            rng.fill(&mut inputs.mem_rsp_data_i.0);
            inputs.mem_rsp_fault_i = rng.chance(knobs.fault).into();
        }
        inputs.pop_i = self.out.result_valid_o & u8::from(rng.chance(knobs.pop));
        self.twin.late(inputs, &mut self.out);
        self.twin.clock(inputs, &self.out);
    }
}

impl LineTableDriver {
    fn row(&self, rng: &mut Rng, knobs: &LineTableKnobs, inputs: &mut LineTableIn) {
        inputs.row_mask_i = some_lanes(rng, knobs.partial);
        inputs.row_warp_i = rng.below(MAX_WARPS as u64) as u8;
        (inputs.row_reg_valid_i, inputs.row_reg_i) = (rng.chance(800).into(), rng.below(256) as u8);
        inputs.row_lanewise_i = rng.chance(knobs.lanewise).into();
        let lanewise = inputs.row_lanewise_i == 1;
        inputs.row_size_i = if lanewise { 2 } else { rng.below(3) as u8 };
        inputs.row_signed_i = (inputs.row_size_i < 2 && rng.chance(500)).into();
        inputs.row_done_i = rng.chance(500).into();
        let (start, stride) = (rng.below(128), rng.below(5));
        let scattered = rng.chance(500);
        inputs.row_offset_i = [0; LANES];
        for lane in set_lanes(inputs.row_mask_i) {
            let byte = if scattered { rng.below(128) } else { start + stride * lane as u64 };
            inputs.row_offset_i[lane] = (byte % 128) as u8 >> inputs.row_size_i << inputs.row_size_i;
        }
    }
}

pub(crate) struct LineTableCover {
    rows: u8,
    /// The inputs with which the rows in use were put in, oldest first; the answered one included.
    held: std::collections::VecDeque<LineTableIn>,
}

#[cover]
impl LineTableCover {
    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { rows: shape.line_rows as u8, held: std::collections::VecDeque::new() }
    }

    fn observe(&mut self, i: &LineTableIn, o: &LineTableOut, p: &LineTableProbe, points: &mut Points) {
        self.situations(i, o, p, points);
        if p.rsp_valid_q == 1 && (o.result_valid_o == 0 || i.pop_i == 1) {
            self.held.pop_front();
        }
        if i.row_valid_i == 1 {
            self.held.push_back(*i);
        }
        if i.rst_ni == 0 {
            self.held.clear();
        }
    }

    fn situations(&self, i: &LineTableIn, o: &LineTableOut, p: &LineTableProbe, points: &mut Points) {
        let (row, answer, pop) = (i.row_valid_i == 1, i.mem_rsp_valid_i == 1, i.pop_i == 1);
        let (waits, result, reset) = (p.rsp_valid_q == 1, o.result_valid_o == 1, i.rst_ni == 0);
        let makes = waits && (!result || pop);
        let zero = LineTableIn::zeroed();
        let oldest = self.held.front().filter(|_| makes && !reset).unwrap_or(&zero);
        let line = oldest.row_reg_valid_i == 1 && oldest.row_lanewise_i == 0;
        let byte = |lane: usize, up: u8| {
            let place = usize::from((oldest.row_offset_i[lane] + up) % 128);
            (p.rsp_data_q.0[place / 4] >> (8 * (place % 4))) as u8
        };
        let (size, signed) = (oldest.row_size_i, oldest.row_signed_i == 1);
        let negative = set_lanes(oldest.row_mask_i).any(|lane| byte(lane, (1 << size) - 1) >= 0x80);
        let place = (u16::from(p.first_q) + u16::from(p.count_q)) % u16::from(self.rows);
        point!("row put into an empty table", row && p.count_q == 0);
        point!("row put into an empty table together with its answer", row && answer && p.count_q == 0);
        point!("row put into the last place", row && p.count_q == self.rows - 1);
        point!("rows go on at place 0", row && place == 0 && p.count_q != 0);
        point!("row put in while the oldest leaves", row && makes);
        point!("row put in while an answer is taken", row && answer && !waits);
        point!("the oldest row is the last place", makes && p.first_q == self.rows - 1);
        point!("full", p.count_q == self.rows);
        point!("full, and the oldest leaves", p.count_q == self.rows && makes);
        point!("answer taken", answer && !waits);
        point!("answer refused", answer && waits);
        point!("answer waits for the result before it", waits && !makes);
        point!("result replaced", waits && pop);
        point!("result taken, none follows", pop && !waits);
        point!("result waits", result && !pop);
        point!("nothing is left but the result", p.count_q == 0 && result);
        point!("empty", o.empty_o == 1);
        point!("unsigned bytes with the sign set", line && size == 0 && !signed && negative);
        point!("signed bytes with the sign set", line && size == 0 && signed && negative);
        point!("unsigned halves with the sign set", line && size == 1 && !signed && negative);
        point!("signed halves with the sign set", line && size == 1 && signed && negative);
        point!("words", line && size == 2);
        point!(
            "the last byte of the line",
            line && set_lanes(oldest.row_mask_i).any(|l| oldest.row_offset_i[l] == 127)
        );
        point!("lanes left out", line && oldest.row_mask_i != u32::MAX);
        point!("a word for each lane", oldest.row_reg_valid_i == 1 && oldest.row_lanewise_i == 1);
        point!("no register", oldest.row_mask_i != 0 && oldest.row_reg_valid_i == 0);
        point!("last of its instruction", result && o.result_o.done() == 1);
        point!("not the last of its instruction", result && o.result_o.done() == 0);
        point!("fault", o.fault_valid_o == 1 && makes);
        point!("fault that waits", o.fault_valid_o == 1 && !makes);
        point!("reset with rows, answer and result", reset && p.count_q > 1 && waits && result);
        point!("row put in under reset", reset && row && p.count_q != 0);
    }
}
