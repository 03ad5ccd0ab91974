//! `line_table`.

use gpurf_blocks::config::Config;
use gpurf_blocks::memory::{LineTable, LineTableIn, LineTableOut, LineTableProbe};
use gpurf_blocks::shape::{MAX_WARPS, SmShape};
use gpurf_blocks::{Block, LANES, Ports};
use gpurf_lockstep::Rng;

use super::lanes::{set_lanes, some_lanes};
use crate::driver::{RESET, Reset};
use crate::{Cover, Driver, Knob, Knobs};

pub(crate) struct LineTableDriver {
    rows: u8,
    reset: Reset,
    /// Follows the inputs, to know how many rows wait for an answer.
    twin: LineTable,
    out: Box<LineTableOut>,
    probe: Box<LineTableProbe>,
}

const ROW: usize = 0;
const ANSWER: usize = 1;
const POP: usize = 2;
const LANEWISE: usize = 3;
const PARTIAL: usize = 4;
const FAULT: usize = 5;

impl Driver for LineTableDriver {
    type In = LineTableIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "row", doc: "a row is put in", values: &[300, 1000, 1000] },
        Knob { name: "answer", doc: "memory answers", values: &[200, 1000, 1000] },
        Knob { name: "pop", doc: "the result is taken", values: &[300, 900, 1000] },
        Knob { name: "lanewise", doc: "a row is that of an atomic operation", values: &[0, 300] },
        Knob { name: "partial", doc: "a row leaves lanes out", values: &[0, 500, 900] },
        Knob { name: "fault", doc: "there is no such place", values: &[0, 100] },
        // Rarely: the places of the table come round slowly.
        Knob { values: &[0, 0, 0, 40], ..RESET },
    ];

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self {
            rows: shape.line_rows as u8,
            reset: Reset::default(),
            twin: LineTable::new(shape),
            out: Box::new(LineTableOut::zeroed()),
            probe: Box::new(LineTableProbe::zeroed()),
        }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, inputs: &mut LineTableIn) {
        self.twin.early(&mut self.out);
        self.twin.probe(inputs, &self.out, &mut self.probe);
        inputs.rst_ni = self.reset.next(rng, knobs.get(6));
        inputs.row_valid_i = (self.probe.count_q < self.rows && rng.chance(knobs.get(ROW))).into();
        if inputs.row_valid_i == 1 {
            self.row(rng, knobs, inputs);
        }
        // An answer that waits inside has a row as well. A row may come with its answer.
        let unanswered = self.probe.count_q + inputs.row_valid_i > self.probe.rsp_valid_q;
        inputs.mem_rsp_valid_i = (unanswered && rng.chance(knobs.get(ANSWER))).into();
        if inputs.mem_rsp_valid_i == 1 {
            rng.fill(&mut inputs.mem_rsp_data_i.0);
            inputs.mem_rsp_fault_i = rng.chance(knobs.get(FAULT)).into();
        }
        inputs.pop_i = self.out.result_valid_o & u8::from(rng.chance(knobs.get(POP)));
        self.twin.late(inputs, &mut self.out);
        self.twin.clock(inputs, &self.out);
    }
}

impl LineTableDriver {
    fn row(&self, rng: &mut Rng, knobs: &Knobs, inputs: &mut LineTableIn) {
        inputs.row_mask_i = some_lanes(rng, knobs.get(PARTIAL));
        inputs.row_warp_i = rng.below(MAX_WARPS as u64) as u8;
        (inputs.row_reg_valid_i, inputs.row_reg_i) = (rng.chance(800).into(), rng.below(256) as u8);
        inputs.row_lanewise_i = rng.chance(knobs.get(LANEWISE)).into();
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
    /// What was put into the rows in use, oldest first, and what has been answered.
    held: std::collections::VecDeque<LineTableIn>,
}

impl LineTableCover {
    fn situations(&self, i: &LineTableIn, o: &LineTableOut, p: &LineTableProbe) -> Vec<(&'static str, bool)> {
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
        vec![
            ("row put into an empty table", row && p.count_q == 0),
            ("row put into an empty table together with its answer", row && answer && p.count_q == 0),
            ("row put into the last place", row && p.count_q == self.rows - 1),
            ("rows go on at place 0", row && place == 0 && p.count_q != 0),
            ("row put in while the oldest leaves", row && makes),
            ("row put in while an answer is taken", row && answer && !waits),
            ("the oldest row is the last place", makes && p.first_q == self.rows - 1),
            ("full", p.count_q == self.rows),
            ("full, and the oldest leaves", p.count_q == self.rows && makes),
            ("answer taken", answer && !waits),
            ("answer refused", answer && waits),
            ("answer waits for the result before it", waits && !makes),
            ("result replaced", waits && pop),
            ("result taken, none follows", pop && !waits),
            ("result waits", result && !pop),
            ("nothing is left but the result", p.count_q == 0 && result),
            ("empty", o.empty_o == 1),
            ("unsigned bytes with the sign set", line && size == 0 && !signed && negative),
            ("signed bytes with the sign set", line && size == 0 && signed && negative),
            ("unsigned halves with the sign set", line && size == 1 && !signed && negative),
            ("signed halves with the sign set", line && size == 1 && signed && negative),
            ("words", line && size == 2),
            ("the last byte of the line", line && set_lanes(oldest.row_mask_i).any(|l| oldest.row_offset_i[l] == 127)),
            ("lanes left out", line && oldest.row_mask_i != u32::MAX),
            ("a word for each lane", oldest.row_reg_valid_i == 1 && oldest.row_lanewise_i == 1),
            ("no register", oldest.row_mask_i != 0 && oldest.row_reg_valid_i == 0),
            ("last of its instruction", result && o.result_done_o == 1),
            ("not the last of its instruction", result && o.result_done_o == 0),
            ("fault", o.fault_valid_o == 1 && makes),
            ("fault that waits", o.fault_valid_o == 1 && !makes),
            ("reset with rows, answer and result", reset && p.count_q > 1 && waits && result),
            ("row put in under reset", reset && row && p.count_q != 0),
        ]
    }
}

impl Cover for LineTableCover {
    type In = LineTableIn;
    type Out = LineTableOut;
    type Probe = LineTableProbe;

    fn points(shape: &SmShape) -> Vec<&'static str> {
        let (inputs, out, probe) = (LineTableIn::zeroed(), LineTableOut::zeroed(), LineTableProbe::zeroed());
        Self::new(shape).situations(&inputs, &out, &probe).into_iter().map(|s| s.0).collect()
    }

    fn new(shape: &SmShape) -> Self {
        Self { rows: shape.line_rows as u8, held: std::collections::VecDeque::new() }
    }

    fn observe(&mut self, i: &LineTableIn, o: &LineTableOut, p: &LineTableProbe, hit: &mut dyn FnMut(&'static str)) {
        self.situations(i, o, p).into_iter().filter(|s| s.1).for_each(|s| hit(s.0));
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
}
