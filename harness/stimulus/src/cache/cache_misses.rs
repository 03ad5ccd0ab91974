//! `cache_misses`.

use std::collections::VecDeque;

use gpurf_blocks::cache::{CacheMisses, CacheMissesIn, CacheMissesOut, CacheMissesProbe};
use gpurf_blocks::config::Config;
use gpurf_blocks::shape::SmShape;
use gpurf_lockstep::Rng;

use super::cache_tags::Lines;
use super::row::{LINE_BYTES, Row};
use crate::driver::{Reset, Twin};
use crate::memory::lanes::set_lanes;
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<CacheMisses, CacheMissesDriver, CacheMissesCover>();

/// A miss that is in use.
#[derive(Clone, Copy)]
struct Miss {
    line: u32,
    open: bool,
    place: usize,
}

/// Misses and rows in use, derived from the block's ports.
struct Waiting {
    misses: VecDeque<Miss>,
    /// The place of the next miss in the ring, and the number of places.
    next: usize,
    places: usize,
    /// The miss of each row in use, and the row.
    rows: Vec<Option<(usize, Row)>>,
    /// The answer at hand: whether it is a fault, and how many bytes exist.
    answer: Option<(bool, u8)>,
}

impl Waiting {
    fn new(shape: &SmShape) -> Self {
        let (places, rows) = (shape.misses(), vec![None; shape.line_rows]);
        Self { misses: VecDeque::new(), next: 0, places, rows, answer: None }
    }

    /// The rows that wait for the first miss, lowest number first.
    fn of_first(&self) -> impl Iterator<Item = usize> {
        let first = self.misses.front().map(|miss| miss.place);
        let waits = move |row: &Option<(usize, Row)>| first.is_some() && row.map(|row| row.0) == first;
        self.rows.iter().enumerate().filter(move |(_, row)| waits(row)).map(|(number, _)| number)
    }

    /// The row that is the next to be served.
    fn oldest(&self) -> Option<Row> {
        self.of_first().next().filter(|_| self.answer.is_some()).and_then(|number| self.rows[number]).map(|row| row.1)
    }

    /// The open miss of a line.
    fn open(&self, line: u32) -> Option<usize> {
        self.misses.iter().position(|miss| miss.open && miss.line == line)
    }

    /// Whether the first miss ends at this clock edge.
    fn ends(&self, o: &CacheMissesOut) -> bool {
        let left = self.of_first().count() - usize::from(o.serve_o);
        self.answer.is_some() && self.misses.front().is_some_and(|miss| !miss.open) && left == 0
    }

    /// The clock edge; `row` is the row of the inputs.
    fn step(&mut self, i: &CacheMissesIn, o: &CacheMissesOut, row: Option<&Row>) {
        let (open, ends, free) = (self.open(i.line_i), self.ends(o), self.rows.iter().position(Option::is_none));
        let served = self.of_first().next().filter(|_| o.serve_o == 1);
        if let Some(number) = served {
            self.rows[number] = None;
        }
        if let (Some(row), Some(number)) = (row.filter(|_| i.row_valid_i == 1), free) {
            let joined = open.map_or(self.next, |miss| self.misses[miss].place);
            self.rows[number] = Some((if i.allocate_i == 1 { self.next } else { joined }, *row));
        }
        if let Some(miss) = open.filter(|_| i.close_i == 1) {
            self.misses[miss].open = false;
        }
        if i.fill_ready_i == 1
            && let Some(first) = self.misses.front_mut()
        {
            first.open = false;
        }
        if self.answer.is_none() && i.mem_rsp_valid_i == 1 {
            self.answer = Some((i.mem_rsp_fault_i == 1, i.mem_rsp_present_i));
        } else if ends {
            (self.answer, _) = (None, self.misses.pop_front());
        }
        if i.allocate_i == 1 {
            self.misses.push_back(Miss { line: i.line_i, open: i.allocate_open_i == 1, place: self.next });
            self.next = (self.next + 1) % self.places;
        }
        if i.rst_ni == 0 {
            self.misses.clear();
            self.rows.fill(None);
            (self.next, self.answer) = (0, None);
        }
    }
}

/// Driver of `cache_misses`. A twin tells which inputs are allowed.
pub(crate) struct CacheMissesDriver {
    reset: Reset,
    twin: Twin<CacheMisses>,
    waiting: Waiting,
    lines: Lines,
    loads: u64,
    /// A byte around which rows and ends of lines lie for a while.
    byte: u8,
}

knobs! {
    pub(crate) struct CacheMissesKnobs {
        request: "a request changes something" = [100, 600, 1000, 1000],
        join: "its line is that of an open miss" = [0, 300, 800],
        atomic: "its miss is closed from the start" = [0, 200, 600],
        close: "it closes the open miss of its line" = [0, 100, 400],
        alone: "a miss has no row" = [0, 0, 200],
        answer: "memory answers" = [20, 200, 1000, 1000],
        fill: "the line is taken" = [100, 900, 1000],
        pop: "the result is taken" = [100, 900, 1000],
        partial: "a row leaves lanes out" = [0, 500, 900],
        fault: "there is no such place" = [0, 100],
        part: "the line does not exist whole" = [0, 300],
        around: "rows lie around one byte, and lines end there" = [0, 500],
        // Rarely, since it takes long until all places of the ring have been used.
        reset = [0, 0, 0, 20],
    }
}

impl Driver for CacheMissesDriver {
    type In = CacheMissesIn;
    type Knobs = CacheMissesKnobs;

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self {
            reset: Reset::default(),
            twin: Twin::new(shape),
            waiting: Waiting::new(shape),
            // Lines of a cache with four sets; nearly as many as there are misses.
            lines: Lines::new(4, (shape.misses() / 4).max(4)),
            loads: shape.line_rows as u64,
            byte: 0,
        }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &CacheMissesKnobs, i: &mut CacheMissesIn) {
        self.twin.early();
        self.lines.renew(rng);
        if rng.chance(20) {
            self.byte = rng.below(LINE_BYTES.into()) as u8;
        }
        i.rst_ni = self.reset.next(rng, knobs.reset);
        let row = self.request(rng, knobs, i);
        let unanswered = self.waiting.misses.len() > usize::from(self.waiting.answer.is_some());
        i.mem_rsp_valid_i = (unanswered && rng.chance(knobs.answer)).into();
        if i.mem_rsp_valid_i == 1 {
            rng.fill(&mut i.mem_rsp_data_i.0);
            i.mem_rsp_fault_i = rng.chance(knobs.fault).into();
            i.mem_rsp_present_i = match rng.chance(knobs.part) {
                true if rng.chance(300) => self.end_of_row(rng),
                true if rng.chance(knobs.around) => self.byte,
                true => rng.below(u64::from(LINE_BYTES) + 1) as u8,
                false => LINE_BYTES,
            };
        }
        let out = &self.twin.out;
        i.fill_ready_i = out.fill_valid_o & u8::from(rng.chance(knobs.fill));
        i.result_pop_i = out.result_valid_o & u8::from(rng.chance(knobs.pop));
        self.twin.late(i);
        self.twin.clock(i);
        self.waiting.step(i, &self.twin.out, row.as_ref());
    }
}

impl CacheMissesDriver {
    /// The byte after the highest one that a row in use takes, or its neighbour.
    fn end_of_row(&self, rng: &mut Rng) -> u8 {
        let rows: Vec<&Row> = self.waiting.rows.iter().flatten().map(|(_, row)| row).collect();
        if rows.is_empty() {
            return self.byte;
        }
        (rows[rng.below(rows.len() as u64) as usize].end() - u8::from(rng.chance(500))).min(LINE_BYTES)
    }

    /// The request in stage T, and its row.
    fn request(&mut self, rng: &mut Rng, knobs: &CacheMissesKnobs, i: &mut CacheMissesIn) -> Option<Row> {
        let waiting = &self.waiting;
        i.line_i = self.lines.draw(rng);
        if rng.chance(knobs.join) && !waiting.misses.is_empty() {
            i.line_i = waiting.misses[rng.below(waiting.misses.len() as u64) as usize].line;
        }
        let (open, out) = (waiting.open(i.line_i).is_some(), &self.twin.out);
        let (room, row_room) = (out.room_o == 1, out.row_room_o == 1);
        let request = rng.chance(knobs.request);
        i.close_i = (request && rng.chance(knobs.close)).into();
        let atomic = rng.chance(knobs.atomic);
        // A load of a line that an open miss has joins it.
        i.allocate_i = (request && room && (atomic || !open && rng.chance(900))).into();
        i.allocate_open_i = (!atomic).into();
        let closed = i.allocate_i == 1 && atomic;
        let needs = i.allocate_i == 1 || open && i.close_i == 0;
        i.row_valid_i = (request && row_room && needs && !rng.chance(knobs.alone)).into();
        if i.row_valid_i == 0 {
            return None;
        }
        let around = rng.chance(knobs.around).then_some(self.byte);
        let row = if closed { Row::of_atomic(rng, knobs.partial) } else { Row::of_line(rng, knobs.partial, around) };
        i.row_i.0 = row.words();
        i.row_load_i = rng.below(self.loads) as u8;
        Some(row)
    }
}

pub(crate) struct CacheMissesCover {
    places: usize,
    waiting: Waiting,
    /// Whether the line of the first miss was taken or dropped at the previous clock edge.
    closed: bool,
}

#[cover]
impl CacheMissesCover {
    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { places: shape.misses(), waiting: Waiting::new(shape), closed: false }
    }

    fn observe(&mut self, i: &CacheMissesIn, o: &CacheMissesOut, _: &CacheMissesProbe, points: &mut Points) {
        self.request(i, o, points);
        self.answer(i, o, points);
        self.closed = i.fill_ready_i == 1;
        let row = (i.row_valid_i == 1).then(|| Row::of_words(&i.row_i.0));
        self.waiting.step(i, o, row.as_ref());
    }

    fn request(&self, i: &CacheMissesIn, o: &CacheMissesOut, points: &mut Points) {
        let Waiting { misses, rows, .. } = &self.waiting;
        let (allocate, row, close) = (i.allocate_i == 1, i.row_valid_i == 1, i.close_i == 1);
        let (open, new) = (o.open_o == 1, i.allocate_open_i == 1);
        let at = self.waiting.open(i.line_i);
        let joins = row && !allocate;
        let closed = |miss: &Miss| !miss.open && miss.line == i.line_i;
        let used = rows.iter().flatten().count();
        let (lowest, highest) = (rows.iter().position(Option::is_none), rows.iter().rposition(Option::is_some));
        point!("a miss of a line", allocate && new && row);
        point!("a miss that is closed from the start", allocate && !new && row);
        point!("a miss without a row", allocate && !row);
        point!("a row joins the first miss", joins && at == Some(0));
        point!("a row joins a miss that is not the first", joins && at.is_some_and(|at| at > 0));
        point!("a row joins as its answer comes", joins && at == Some(0) && i.mem_rsp_valid_i == 1);
        point!("a row joins as its line is taken", joins && at == Some(0) && i.fill_ready_i == 1);
        point!("a row joins and another one is served", joins && o.serve_o == 1);
        point!("a miss of a line that a closed one has", allocate && new && row && misses.iter().any(closed));
        point!("a closed miss of a line that an open one has", allocate && !new && open && !close);
        point!("an open miss is closed", close && open && !allocate);
        point!("an open miss is closed by a closed one of its line", close && open && allocate && !new);
        point!("nothing is there to be closed", close && !open);
        point!("a miss is open at once, nothing is there to be closed", close && !open && allocate && new);
        point!("the first miss is closed before its answer", close && at == Some(0) && self.waiting.answer.is_none());
        point!("the first miss is closed with its answer at hand", close && o.open_first_o == 1 && i.fill_ready_i == 0);
        point!("the first miss is closed as its line is taken", close && o.open_first_o == 1 && i.fill_ready_i == 1);
        point!("open, and first, its answer not yet at hand", at == Some(0) && o.open_first_o == 0);
        point!("open, not first, an answer at hand", at.is_some_and(|at| at > 0) && self.waiting.answer.is_some());
        point!("the last place of the ring", allocate && self.waiting.next == self.places - 1);
        point!("a miss wraps to place 0", allocate && self.waiting.next == 0 && !misses.is_empty());
        point!("the first miss is the last place", misses.front().is_some_and(|miss| miss.place == self.places - 1));
        point!("no miss is free", misses.len() == self.places && o.room_o == 0);
        point!("one miss is free", allocate && misses.len() == self.places - 1);
        point!("no row is free", used == rows.len() && o.row_room_o == 0);
        point!("the last row", row && used == rows.len() - 1);
        point!("a row is free below others", row && lowest < highest);
        point!("empty", o.empty_o == 1);
        point!("a miss as the first one ends", allocate && self.waiting.ends(o));
        point!("a miss comes to an empty ring", allocate && misses.is_empty());
    }

    fn answer(&self, i: &CacheMissesIn, o: &CacheMissesOut, points: &mut Points) {
        let waiting = &self.waiting;
        let (result, pop, serves) = (o.result_valid_o == 1, i.result_pop_i == 1, o.serve_o == 1);
        let count = waiting.of_first().count();
        let ends = waiting.ends(o);
        let reset = i.rst_ni == 0;
        point!("answer taken", i.mem_rsp_valid_i == 1 && o.mem_rsp_ready_o == 1);
        point!("answer refused", i.mem_rsp_valid_i == 1 && o.mem_rsp_ready_o == 0);
        point!("a whole line is taken", i.fill_ready_i == 1 && o.fill_whole_o == 1);
        point!("a line that is not whole is taken", i.fill_ready_i == 1 && o.fill_whole_o == 0);
        point!("a line waits", o.fill_valid_o == 1 && i.fill_ready_i == 0);
        point!("a line waits, its rows are all served", o.fill_valid_o == 1 && i.fill_ready_i == 0 && count == 0);
        point!("a closed miss has an answer", waiting.answer.is_some() && o.fill_valid_o == 0);
        point!("a row is served as the line is taken", serves && i.fill_ready_i == 1);
        point!("a row is served after the line is taken", serves && self.closed);
        point!("a row is served, others wait for the answer", serves && count > 1);
        point!(
            "a row is served and others wait for other answers",
            serves && waiting.rows.iter().flatten().count() > count
        );
        point!("the last row is served, the miss ends", serves && ends);
        point!("the last row is served, the miss is open", serves && count == 1 && o.fill_valid_o == 1);
        point!("a miss ends without a row", ends && !serves);
        point!("a row waits for the result before it", waiting.answer.is_some() && count != 0 && !serves);
        point!(
            "a row waits alone for the result, the miss is closed",
            o.fill_valid_o == 0 && count == 1 && result && !pop && waiting.answer.is_some()
        );
        point!("result replaced", serves && pop);
        point!("result taken, none follows", pop && !serves);
        point!("result waits", result && !pop);
        point!("the miss has ended, its result waits", o.empty_o == 1 && result);
        point!(
            "reset under load",
            reset && waiting.rows.iter().flatten().count() > 1 && waiting.answer.is_some() && result
        );
        point!("a row under reset", reset && i.row_valid_i == 1 && o.empty_o == 0);
        self.served(o, points);
    }

    fn served(&self, o: &CacheMissesOut, points: &mut Points) {
        let (Some(row), Some((fault, present))) = (self.waiting.oldest(), self.waiting.answer) else { return };
        let (serves, at_fault) = (o.serve_o == 1, o.fault_valid_o == 1);
        let line = !row.lanewise && row.reg.is_some() && serves;
        let part = present < LINE_BYTES;
        point!("a row of bytes, zero above", line && row.size == 0 && !row.signed);
        point!("a row of bytes, with sign", line && row.size == 0 && row.signed);
        point!("a row of halves, zero above", line && row.size == 1 && !row.signed);
        point!("a row of halves, with sign", line && row.size == 1 && row.signed);
        point!("a row of words", line && row.size == 2);
        point!("a row takes the last byte", line && row.end() == LINE_BYTES);
        point!("a row leaves lanes out", line && row.mask != u32::MAX);
        point!(
            "a row exists, and a lane that it leaves out lies after what exists",
            line && !at_fault && set_lanes(!row.mask).any(|lane| row.end_of(lane) > present)
        );
        point!("a word for each lane", serves && row.lanewise);
        point!("a row without a register", serves && row.reg.is_none());
        point!("a row that ends where the line ends", serves && !row.lanewise && part && row.end() == present);
        point!("a row that ends after what exists", serves && !row.lanewise && at_fault);
        point!(
            "a row that ends one byte after what exists",
            serves && at_fault && !row.lanewise && row.end() == present + 1
        );
        point!(
            "a row whose first lane exists and another does not",
            at_fault && row.mask.count_ones() > 1 && row.first_end() <= present && !row.lanewise
        );
        point!("a word for each lane, there is no such place", serves && row.lanewise && fault);
        point!("a word for each lane, the line does not exist whole", serves && row.lanewise && !fault && part);
        point!("a row that exists, the answer a fault", serves && !row.lanewise && fault && !at_fault);
        point!("a row at fault waits", at_fault && !serves);
    }
}
