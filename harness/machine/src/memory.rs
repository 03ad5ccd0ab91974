//! Global and local memory, outside the SM.
//!
//! Requests are performed in the order of their arrival, whole lines of 128 bytes at a time, so the contents of memory depend only on
//! this order. Timing is separate: a request uses the data path for as many cycles as its line needs, one request after another, and is answered a
//! fixed time after its start. See `docs/machine.md`.

mod l2;
mod texture;

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use gpurf_blocks::config::MemoryConfig;
use gpurf_blocks::{LANES, WarpData};
use gpurf_lockstep::Events;
use gpurf_oracle::{Access, Memory, lanes_of};
use gpurf_sm::{SmIn, SmOut};

use l2::{L2, Look};
use texture::TextureUnit;

/// Bytes of a line.
pub(crate) const LINE: u32 = 128;
/// Bit of a line's number that marks local memory.
const LOCAL: u32 = 1 << 25;
/// Maximum number of requests that wait for the data path.
const QUEUE: usize = 8;

/// Number of lines in a DRAM row of 2 KB.
const ROW_LINES: u32 = 16;
/// Number of DRAM banks: consecutive rows are in consecutive banks.
const BANKS: usize = 16;

/// Kinds of request, as on `mem_req_kind_o` and the address unit's `kind_o`.
pub(crate) mod kind {
    pub const LOAD: u8 = 0;
    pub const STORE: u8 = 1;
    pub const ATOMIC: u8 = 2;
    pub const TEXTURE: u8 = 3;
}

/// An access to bytes that belong to no buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outside {
    /// Warp slot of the SM.
    pub warp: u8,
    /// The lowest lane that makes the access.
    pub lane: usize,
    /// Kind of access.
    pub access: Access,
    /// Its address.
    pub address: u32,
    /// Its bytes.
    pub bytes: u32,
}

/// An invalid request, which no correct SM makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Nonsense {
    /// This kind of request does not exist.
    Kind(u8),
    /// Accesses have 1, 2 or 4 bytes, and lie within a word.
    Place {
        /// Logarithm of the bytes.
        size: u8,
        /// Offset of the first byte in the line.
        offset: u8,
    },
    /// This atomic operation does not exist.
    Operation(u8),
    /// A texture fetch of this access does not exist, or its requests do not follow each other.
    Fetch(u32),
}

impl fmt::Display for Nonsense {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind(kind) => write!(f, "a request of kind {kind}, which does not exist"),
            Self::Place { size, offset } => write!(f, "an access of 2^{size} bytes at byte {offset} of a line"),
            Self::Operation(operation) => write!(f, "atomic operation {operation}, which does not exist"),
            Self::Fetch(line) => {
                write!(f, "a texture fetch {line:#x} that does not exist, or without its third coordinate")
            }
        }
    }
}

/// A fault in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemoryFault {
    /// The address is in no buffer.
    Outside(Outside),
    /// The request is invalid.
    Nonsense(Nonsense),
}

/// An answer that has not been delivered yet.
#[derive(Clone)]
struct Answer {
    /// The first cycle in which it can be delivered.
    due: u64,
    data: WarpData,
    fault: bool,
    /// Bytes of the line that exist.
    present: u8,
}

/// Numbers of bytes that memory has moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Moved {
    /// For loads.
    pub read: u64,
    /// For stores and atomic operations.
    pub written: u64,
}

impl Moved {
    /// The bytes moved since `before`.
    pub(crate) fn since(self, before: Self) -> Self {
        Self { read: self.read - before.read, written: self.written - before.written }
    }

    /// Adds the counts to the events of a run.
    pub fn add_to(self, events: &mut Events) {
        let counts = [("memory_read_bytes", self.read), ("memory_written_bytes", self.written)];
        events.extend(counts);
    }
}

/// A bank of DRAM.
#[derive(Clone, Copy, Default)]
struct Bank {
    /// The row that is open.
    open: Option<u32>,
    /// The first cycle after the end of its last request.
    free: u64,
}

/// Memory as the SM sees it.
#[derive(Clone)]
pub struct GlobalMemory {
    config: MemoryConfig,
    buffers: Memory,
    /// Lines of local memory that have been accessed.
    local: HashMap<u32, [u32; LANES]>,
    moved: Moved,
    cycle: u64,
    /// The first cycle in which the data path is free.
    free: u64,
    /// Start cycles of the requests that wait for the data path.
    waiting: VecDeque<u64>,
    banks: [Bank; BANKS],
    l2: Option<L2>,
    texture: TextureUnit,
    answers: VecDeque<Answer>,
    /// The first access outside all buffers that was answered: the SM reports it itself.
    answered_outside: Option<Outside>,
    /// The fault that ends the run: an access outside all buffers that has no answer, or an invalid request.
    fault: Option<MemoryFault>,
}

impl GlobalMemory {
    /// Memory without buffers.
    pub fn new(config: MemoryConfig) -> Self {
        Self {
            config,
            buffers: Memory::default(),
            local: HashMap::new(),
            moved: Moved::default(),
            cycle: 0,
            free: 0,
            waiting: VecDeque::new(),
            banks: [Bank::default(); BANKS],
            l2: (config.l2_kilobytes > 0).then(|| L2::new(config.l2_kilobytes)),
            texture: TextureUnit::new(config.texture_kilobytes),
            answers: VecDeque::new(),
            answered_outside: None,
            fault: None,
        }
    }

    /// Takes these buffers and words of the constant space for the next launch; local memory is cleared.
    pub fn begin(&mut self, buffers: Memory, constants: Arc<[u32]>) {
        self.buffers = buffers;
        self.texture.begin(constants);
        self.local.clear();
    }

    /// Returns the buffers.
    pub fn take_buffers(&mut self) -> Memory {
        std::mem::take(&mut self.buffers)
    }

    /// The buffers.
    pub fn buffers(&self) -> &Memory {
        &self.buffers
    }

    /// The bytes moved since this memory was created.
    pub fn moved(&self) -> Moved {
        self.moved
    }

    /// The fault that the SM cannot report itself.
    pub fn fault(&self) -> Option<MemoryFault> {
        self.fault
    }

    /// The first access outside all buffers that an answer reported.
    pub fn answered_outside(&self) -> Option<Outside> {
        self.answered_outside
    }

    /// Runs a cycle: reads the outputs of the previous cycle (`inputs` still has the inputs of that cycle), then drives the inputs.
    pub fn drive(&mut self, previous: Option<&SmOut>, inputs: &mut SmIn) {
        if let Some(out) = previous {
            // A request that was offered in the previous cycle, and for which there was room.
            if out.mem_req_valid_o & inputs.mem_req_ready_i == 1 {
                self.accept(out);
            }
            if inputs.mem_rsp_valid_i & out.mem_rsp_ready_o == 1 {
                self.answers.pop_front();
            }
            self.cycle += 1;
        }
        while self.waiting.front().is_some_and(|&start| start <= self.cycle) {
            self.waiting.pop_front();
        }
        inputs.mem_req_ready_i = (self.waiting.len() < QUEUE).into();
        let answer = self.answers.front().filter(|answer| answer.due <= self.cycle);
        inputs.mem_rsp_valid_i = answer.is_some().into();
        if let Some(answer) = answer {
            inputs.mem_rsp_data_i = answer.data;
            inputs.mem_rsp_fault_i = answer.fault.into();
            inputs.mem_rsp_present_i = answer.present;
        }
    }

    /// Number of cycles after this one that have the same inputs if nothing is taken in them.
    pub fn still(&self, inputs: &SmIn) -> u64 {
        let until = |cycle: u64| cycle.saturating_sub(self.cycle + 1);
        let room = if inputs.mem_req_ready_i == 0 { self.waiting.front().map(|&start| until(start)) } else { None };
        let answer = self.answers.front().map(|answer| until(answer.due));
        room.into_iter().chain(answer).min().unwrap_or(u64::MAX)
    }

    /// Skips this many such cycles.
    pub fn skip(&mut self, cycles: u64) {
        self.cycle += cycles;
    }

    /// Reserves the data path for the request of this cycle, if it needs the path; returns the cycle of the answer, if there is one.
    fn schedule(&mut self, out: &SmOut) -> u64 {
        let (line, load) = (out.mem_req_line_o, out.mem_req_kind_o == kind::LOAD);
        let Some(l2) = &mut self.l2 else {
            return self.transfer(line, moved(out, self.config.granule as u32), load) + self.config.latency as u64;
        };
        if let Look::Miss { evicted } = l2.look(line, !load) {
            if let Some(evicted) = evicted {
                self.transfer(evicted, LINE, false);
            }
            if out.mem_req_kind_o != kind::STORE {
                return self.transfer(line, LINE, true) + self.config.latency as u64;
            }
        }
        self.cycle + self.config.l2_latency as u64
    }

    /// Moves bytes of a line over the data path, out of memory (`read`) or into it; returns the first cycle in which they use it.
    fn transfer(&mut self, line: u32, bytes: u32, read: bool) -> u64 {
        let row = line / ROW_LINES;
        let bank = &mut self.banks[row as usize % BANKS];
        // A row can be opened while other banks use the data path.
        let open = match self.config.row_cycles {
            0 => 0,
            _ if bank.open == Some(row) => 0,
            cycles => bank.free.max(self.cycle) + cycles as u64,
        };
        let start = self.free.max(self.cycle).max(open);
        self.free = start + u64::from(bytes).div_ceil(self.config.bandwidth as u64);
        *bank = Bank { open: Some(row), free: self.free };
        *if read { &mut self.moved.read } else { &mut self.moved.written } += u64::from(bytes);
        self.waiting.push_back(start);
        start
    }

    /// Accepts the request of this cycle.
    fn accept(&mut self, out: &SmOut) {
        if out.mem_req_kind_o == kind::TEXTURE {
            self.fetch(out);
            return;
        }
        let due = self.schedule(out);
        let (mut line, present) = line_at(&self.buffers, &mut self.local, out.mem_req_line_o);
        let result = perform(&mut line, present, out);
        self.answer(out.mem_req_answer_o == 1, due, result, present as u8);
    }

    /// Answers a request, if it expects that, and keeps its fault.
    fn answer(&mut self, expected: bool, due: u64, result: Result<WarpData, MemoryFault>, present: u8) {
        let (data, fault) = match result {
            Ok(data) => (data, None),
            Err(fault) => (WarpData::ZERO, Some(fault)),
        };
        match fault {
            Some(MemoryFault::Outside(outside)) if expected => {
                self.answered_outside.get_or_insert(outside);
            }
            Some(fault) => {
                self.fault.get_or_insert(fault);
            }
            None => {}
        }
        if expected {
            self.answers.push_back(Answer { due, data, fault: fault.is_some(), present });
        }
    }
}

/// A line of memory, with those of its words that exist.
enum Line<'a> {
    Global(&'a [std::sync::atomic::AtomicU32]),
    Local(&'a mut [u32; LANES]),
}

impl Line<'_> {
    /// A word; words that do not exist are zero.
    fn word(&self, index: usize) -> u32 {
        match self {
            Self::Global(words) => words.get(index).map_or(0, |word| word.load(Relaxed)),
            Self::Local(words) => words[index],
        }
    }

    /// Replaces a word, if it exists.
    fn set(&mut self, index: usize, value: u32) {
        match self {
            Self::Global(words) => words[index].store(value, Relaxed),
            Self::Local(words) => words[index] = value,
        }
    }
}

/// The line with this number, and the number of its bytes that exist.
fn line_at<'a>(buffers: &'a Memory, local: &'a mut HashMap<u32, [u32; LANES]>, number: u32) -> (Line<'a>, u32) {
    if number & LOCAL != 0 {
        (Line::Local(local.entry(number).or_insert([0; LANES])), LINE)
    } else {
        global(buffers, number * LINE)
    }
}

/// Performs a request on its line, of which `present` bytes exist; returns the line, or the old words of an atomic operation lane by lane.
fn perform(line: &mut Line<'_>, present: u32, out: &SmOut) -> Result<WarpData, MemoryFault> {
    let (kind, mask, size) = (out.mem_req_kind_o, out.mem_req_mask_o, out.mem_req_size_o);
    let (access, bytes) = match (kind, size) {
        (kind::LOAD, 0..=2) => (Access::Load, 1 << size),
        (kind::STORE, 0..=2) => (Access::Store, 1 << size),
        (kind::ATOMIC, 2) => (Access::Atomic, 4),
        (kind::LOAD..=kind::ATOMIC, _) => return Err(nonsense(Nonsense::Place { size, offset: 0 })),
        _ => return Err(nonsense(Nonsense::Kind(kind))),
    };
    for lane in lanes_of(mask) {
        let offset = out.mem_req_offset_o[lane];
        if u32::from(offset) % bytes != 0 {
            return Err(nonsense(Nonsense::Place { size, offset }));
        }
        if u32::from(offset) + bytes > present {
            let address = out.mem_req_line_o * LINE + u32::from(offset);
            let outside = Outside { warp: out.mem_req_warp_o, lane, access, address, bytes };
            return Err(MemoryFault::Outside(outside));
        }
    }
    let mut data = WarpData::ZERO;
    match access {
        Access::Load => data.0 = std::array::from_fn(|index| line.word(index)),
        Access::Store => {
            for lane in lanes_of(mask) {
                let (index, shift) = place(out.mem_req_offset_o[lane]);
                let changed = u32::MAX >> (u32::BITS - 8 * bytes) << shift;
                let old = line.word(index);
                line.set(index, old & !changed | out.mem_req_data_o.0[lane] << shift & changed);
            }
        }
        Access::Atomic => {
            for lane in lanes_of(mask) {
                let (index, _) = place(out.mem_req_offset_o[lane]);
                let old = line.word(index);
                let (operand, compared) = (out.mem_req_data_o.0[lane], out.mem_req_compare_o.0[lane]);
                let new = updated(out.mem_req_atomic_o, old, operand, compared);
                line.set(index, new.ok_or(nonsense(Nonsense::Operation(out.mem_req_atomic_o)))?);
                data.0[lane] = old;
            }
        }
    }
    Ok(data)
}

/// Number of bytes that a request moves: the whole line, or those pieces of it that a lane accesses.
fn moved(out: &SmOut, granule: u32) -> u32 {
    if out.mem_req_whole_o == 1 || granule == LINE {
        return LINE;
    }
    // An access lies within one piece, whatever its alignment.
    let touched = lanes_of(out.mem_req_mask_o)
        .fold(0u32, |set, lane| set | 1 << (u32::from(out.mem_req_offset_o[lane]) / granule));
    touched.count_ones() * granule
}

fn nonsense(what: Nonsense) -> MemoryFault {
    MemoryFault::Nonsense(what)
}

/// Index of the word that contains a byte, and the bit position of the byte in it.
fn place(offset: u8) -> (usize, u32) {
    (usize::from(offset / 4), 8 * u32::from(offset % 4))
}

/// The line that begins at an address, and the number of its bytes that exist. A line never belongs to two buffers: they begin at multiples of its
/// size and do not overlap.
fn global(buffers: &Memory, address: u32) -> (Line<'_>, u32) {
    let Some(buffer) = buffers.buffer_below(address) else {
        return (Line::Global(&[]), 0);
    };
    let first = address - buffer.address();
    let words = buffer.words().get(first as usize / 4..).unwrap_or(&[]);
    (Line::Global(&words[..words.len().min(LANES)]), buffer.size().saturating_sub(first).min(LINE))
}

/// The result of an atomic operation on a word; `None`: the operation does not exist.
fn updated(operation: u8, m: u32, c: u32, compared: u32) -> Option<u32> {
    Some(match operation {
        0 => m.wrapping_add(c),
        1 => m.min(c),
        2 => m.cast_signed().min(c.cast_signed()).cast_unsigned(),
        3 => m.max(c),
        4 => m.cast_signed().max(c.cast_signed()).cast_unsigned(),
        5 => {
            if m >= c {
                0
            } else {
                m + 1
            }
        }
        6 => {
            if m == 0 || m > c {
                c
            } else {
                m - 1
            }
        }
        7 => m & c,
        8 => m | c,
        9 => m ^ c,
        10 => c,
        11 => gpurf_arith::float::add(m, c, gpurf_arith::Mode::FTZ),
        12 => {
            if m == compared {
                c
            } else {
                m
            }
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
