//! Accesses to a scratchpad, and their coverage: for a scratchpad with RAMs of its own, and for one in the unified banks.

use gpurf_blocks::config::Config;
use gpurf_blocks::memory::{SharedMemoryIn, SharedMemoryOut, SharedMemoryProbe};
use gpurf_blocks::shape::{SmShape, Straps};
use gpurf_blocks::sizes::MAX_WARPS;
use gpurf_blocks::{LANES, Ports, WarpData};
use gpurf_lockstep::Rng;

use gpurf_arith::float::{add, is_nan};
use gpurf_arith::{INFINITY, Mode, ONE, Rounding, SIGN};

use super::lanes::{Pending, addresses, past, set_lanes};
use crate::driver::{Reset, alias};
use crate::floats::{awkward, near};
use crate::{Points, Unreached, cover};

pub(crate) const LOAD: u8 = 0;
pub(crate) const STORE: u8 = 1;
pub(crate) const ATOMIC: u8 = 2;
/// Atomic operations that a scratchpad performs.
const OPERATIONS: [u8; 13] = [0, 1, 2, 3, 4, INC, DEC, 7, 8, 9, 10, ADD_FLOAT, CAS];
/// Counts up to the operand, then starts again at zero.
const INC: u8 = 5;
/// Counts down to zero, then starts again at the operand.
const DEC: u8 = 6;
/// Sum of floats.
const ADD_FLOAT: u8 = 11;
/// Compare and swap.
const CAS: u8 = 12;

/// The memory pipeline, as a scratchpad sees it: an access is offered until all of its lanes are served.
pub(crate) struct Accesses {
    bytes: u64,
    /// Bytes of a row that a bank or cluster accesses.
    width: u32,
    /// Operands are often this word, or differ from it in one bit.
    word: u32,
    reset: Reset,
    pending: Pending,
    /// The access that is being offered.
    access: Box<SharedMemoryIn>,
}

knobs! {
    pub(crate) struct AccessKnobs {
        offer: "an access begins" = [300, 1000, 1000],
        room: "the side queue has room" = [400, 1000, 1000],
        near: "addresses are among the first few" = [0, 800, 1000],
        partial: "lanes do not take part" = [0, 500, 900],
        stores: "an access is a store" = [100, 400],
        atomics: "any other access is an atomic operation" = [0, 300, 900],
        small: "operands are among the first few numbers" = [0, 800, 1000],
        withdraw: "an offer is withdrawn for a cycle" = [0, 50],
        again: "an access has the addresses of the one before" = [100, 300, 700],
        floats: "operands are floats that meet, atomic operations their sums" = [0, 300, 600],
        // More often than in other blocks, since the states that a reset has to hit are short.
        reset = [0, 5, 20, 60],
    }
}

impl Accesses {
    /// Accesses to units that access `width` bytes of a row each.
    pub(crate) fn new(width: u32, shape: &SmShape, config: &Config) -> Self {
        let mut access = Box::new(SharedMemoryIn::zeroed());
        let straps = Straps::of(config);
        access.cfg_i = if width > WORD { straps.unified_shared() } else { straps.shared_bandwidth };
        let bytes = 4 * shape.shared_words as u64;
        Self { bytes, width, word: 0, reset: Reset::default(), pending: Pending::default(), access }
    }

    /// Bits of inputs that cannot be both 0 and 1.
    pub(crate) fn unreached(shape: &SmShape) -> Vec<Unreached> {
        past("addr_i", 4 * shape.shared_words as u64, "shared memory ends there").collect()
    }

    /// The inputs of a cycle, without `last_i`.
    pub(crate) fn offer(&mut self, rng: &mut Rng, knobs: &AccessKnobs) -> &SharedMemoryIn {
        if self.pending.left == 0 && rng.chance(knobs.offer) {
            self.begin(rng, knobs);
        }
        let access = &mut *self.access;
        access.rst_ni = self.reset.next(rng, knobs.reset);
        access.valid_i = (self.pending.left != 0 && !rng.chance(knobs.withdraw)).into();
        access.lanes_i = self.pending.left;
        access.room_i = rng.chance(knobs.room).into();
        access.last_i = 0;
        access
    }

    /// The inputs of the cycle in which these lanes are served, up to its clock edge.
    pub(crate) fn serve(&mut self, served: u32) -> &SharedMemoryIn {
        self.access.last_i = self.pending.last(served).into();
        self.pending.serve(served, self.access.rst_ni == 0);
        &self.access
    }

    fn begin(&mut self, rng: &mut Rng, knobs: &AccessKnobs) {
        self.pending.begin(rng, knobs.partial);
        let access = &mut *self.access;
        let again = rng.chance(knobs.again);
        // Words that have just been stored may be compared: with the same words, and with words that differ in one bit.
        let stored = access.store_i;
        let compares = again && access.kind_i == STORE && access.size_i == 2 && rng.chance(500);
        access.kind_i = if compares {
            ATOMIC
        } else if again && access.kind_i == ATOMIC && rng.chance(700) {
            LOAD
        } else if rng.chance(knobs.stores) {
            STORE
        } else if rng.chance(knobs.atomics) {
            ATOMIC
        } else {
            LOAD
        };
        let (atomic, floats) = (access.kind_i == ATOMIC, rng.chance(knobs.floats));
        access.atomic_i = match atomic {
            false => 0,
            true if compares => CAS,
            true if floats => ADD_FLOAT,
            true if rng.chance(400) => [INC, DEC, CAS][rng.below(3) as usize],
            true => OPERATIONS[rng.below(OPERATIONS.len() as u64) as usize],
        };
        access.size_i = if atomic { 2 } else { rng.below(3) as u8 };
        access.signed_i = (access.kind_i == LOAD && access.size_i < 2 && rng.chance(500)).into();
        access.warp_i = rng.below(MAX_WARPS as u64) as u8;
        (access.reg_valid_i, access.reg_i) = (rng.chance(900).into(), rng.below(256) as u8);
        if again {
            access.addr_i.0.iter_mut().for_each(|address| *address = *address >> access.size_i << access.size_i);
        } else {
            access.addr_i = addresses(rng, self.bytes, access.size_i, knobs.near);
            // Consecutive lanes access consecutive wide units.
            if self.width > WORD && rng.chance(100) {
                let (row, place) =
                    (rng.below(self.bytes / u64::from(ROW_BYTES)) as u32, rng.below(ROW_BYTES.into()) as u32);
                let address = |lane: usize| row * ROW_BYTES + (place + self.width * lane as u32) % ROW_BYTES;
                access.addr_i = WarpData(std::array::from_fn(|lane| address(lane) >> access.size_i << access.size_i));
            } else if self.width > WORD && rng.chance(80) {
                // Words of few units, in two rows whose numbers differ in one bit: a comparison that ignores this bit takes them for one row.
                let rows = self.bytes / u64::from(ROW_BYTES);
                let (base, bit) = (rng.below(rows), rng.below(u64::from(rows.next_power_of_two().ilog2()).max(1)));
                let other = if base ^ 1 << bit < rows { base ^ 1 << bit } else { base };
                let (first, units) = (rng.below(ROW_BYTES.into()) as u32, 1 + rng.below(8) as u32);
                access.addr_i.0.fill_with(|| {
                    let row = if rng.chance(500) { base } else { other } as u32;
                    let place = (first + rng.below(u64::from(units * self.width)) as u32) % ROW_BYTES;
                    (row * ROW_BYTES + place) >> access.size_i << access.size_i
                });
            } else if self.width > WORD && rng.chance(250) {
                // A few rows of all columns, and often of a few units: their lanes conflict in banks and in word places.
                let rows = self.bytes / u64::from(ROW_BYTES);
                let (base, span) = (rng.below(rows), [4, 5, 8][rng.below(3) as usize].min(rows));
                let (first, units) = (rng.below(ROW_BYTES.into()) as u32, 1 + rng.below(8) as u32);
                access.addr_i.0.fill_with(|| {
                    let row = ((base + rng.below(span)) % rows) as u32;
                    let place = (first + rng.below(u64::from(units * self.width)) as u32) % ROW_BYTES;
                    (row * ROW_BYTES + place) >> access.size_i << access.size_i
                });
            }
        }
        if rng.chance(3) {
            self.word = rng.next_u64() as u32;
        }
        access.store_i = if floats { float_operands(rng) } else { operands(rng, knobs.small, self.word) };
        access.compare_i = operands(rng, knobs.small, self.word);
        if compares {
            let near = |word: u32| if rng.chance(300) { word } else { alias(rng, word.into(), 1 << u32::BITS) as u32 };
            access.compare_i = WarpData(stored.0.map(near));
        }
        for lane in self.pending.blank(rng) {
            (access.addr_i.0[lane], access.store_i.0[lane], access.compare_i.0[lane]) = (0, 0, 0);
        }
    }
}

/// Numbers that are often equal or close: around zero, around one word from which they differ in a bit, or any.
fn operands(rng: &mut Rng, small: u32, word: u32) -> WarpData {
    let mut numbers = WarpData::ZERO;
    if rng.chance(450) {
        let mut near = || if rng.chance(500) { word } else { alias(rng, word.into(), 1 << u32::BITS) as u32 };
        numbers.0.iter_mut().for_each(|number| *number = near());
    } else if rng.chance(small) {
        numbers.0.iter_mut().for_each(|number| *number = (rng.below(4) as u32).wrapping_sub(1));
    } else {
        rng.fill(&mut numbers.0);
    }
    numbers
}

/// Floats whose sums cancel, lie between two values, are subnormal, or too large; and corner cases.
fn float_operands(rng: &mut Rng) -> WarpData {
    let middle = [1, 24, 127, 127, 252][rng.below(5) as usize];
    // The word in memory is often equal to one of these, or its opposite.
    let few = [ONE, 0x3380_0000, 0x3400_0001, 0, INFINITY, INFINITY - 1, 0x0080_0000];
    let one = rng.chance(700).then(|| [0, INFINITY, INFINITY - 1][rng.below(3) as usize]);
    WarpData(std::array::from_fn(|_| match (one, rng.below(6)) {
        (Some(number), 0..5) => number | (rng.below(2) as u32) << 31,
        (_, 0) => awkward(rng),
        (_, 1..4) => few[rng.below(few.len() as u64) as usize] | (rng.below(2) as u32) << 31,
        _ => near(rng, middle, 3),
    }))
}

/// An access whose result is pending.
#[derive(Clone)]
struct Performed {
    access: Box<SharedMemoryIn>,
    served: u32,
}

/// The scratchpad has units that access `width` bytes of a row each: banks, or clusters.
pub(crate) struct ScratchpadCover {
    width: u32,
    bandwidth: u8,
    rows: usize,
    /// The access of the previous cycle, and the one before it.
    before: [Option<Performed>; 2],
    /// Whether no lane of the access of the previous cycle was served.
    waiting: bool,
}

fn added(m: u32, c: u32) -> u32 {
    add(m, c, Mode::IEEE)
}

fn inexact(m: u32, c: u32) -> bool {
    add(m, c, Mode::rounded(Rounding::Down)) != add(m, c, Mode::rounded(Rounding::Up)) && m != c ^ SIGN
}

fn is_finite(a: u32) -> bool {
    a & !SIGN < INFINITY
}

fn is_subnormal(a: u32) -> bool {
    a & INFINITY == 0 && a & !SIGN != 0
}

/// Bytes of a row.
const ROW_BYTES: u32 = 128;
/// Bytes of a word.
const WORD: u32 = 4;
/// Strap of a scratchpad in the unified banks: a cluster combines words of several columns.
const AGGRESSIVE: u8 = 1 << 2;
/// Bits of the straps that select the number of bytes a cycle.
const BANDWIDTH: u8 = 3;

/// The row of an address.
pub(crate) fn row(address: u32) -> u32 {
    address / ROW_BYTES
}

/// Whether two lanes of a unit cannot be served in one pass.
fn conflict(i: &SharedMemoryIn, one: usize, other: usize) -> bool {
    let [one, other] = [one, other].map(|lane| i.addr_i.0[lane]);
    let differ = row(one) != row(other);
    let (word, column) = (one % ROW_BYTES / WORD == other % ROW_BYTES / WORD, row(one) % 4 == row(other) % 4);
    if i.cfg_i & AGGRESSIVE == 0 { differ } else { differ && (word || column) }
}

/// Lanes of the window, and those of them that a pass may serve. From the lowest lane up, these are the lanes that do not conflict with a selected
/// lane of their unit; of an atomic operation, only the lowest lane of each word.
pub(crate) fn selected(i: &SharedMemoryIn, width: u32) -> (u32, u32) {
    let group = LANES >> (i.cfg_i & BANDWIDTH).min(2);
    let first = i.lanes_i.trailing_zeros() as usize % LANES / group * group;
    let window = (u32::MAX >> (LANES - group)) << first;
    let address = |lane: usize| i.addr_i.0[lane];
    let unit = |lane: usize| address(lane) % ROW_BYTES / width;
    let mut selected = 0u32;
    for lane in set_lanes(i.lanes_i & window) {
        let refused = set_lanes(selected).any(|other| unit(other) == unit(lane) && conflict(i, other, lane));
        let taken = i.kind_i == ATOMIC && set_lanes(selected).any(|other| address(other) / 4 == address(lane) / 4);
        if !refused && !taken {
            selected |= 1 << lane;
        }
    }
    (window, selected)
}

#[cover]
impl ScratchpadCover {
    /// Names of the operations, in the order of `OPERATIONS`.
    const NAMES: [&str; OPERATIONS.len()] = [
        "add",
        "unsigned min",
        "signed min",
        "unsigned max",
        "signed max",
        "inc",
        "dec",
        "and",
        "or",
        "xor",
        "exchange",
        "sum of floats",
        "compare and swap",
    ];

    /// For banks of the width of a word.
    fn new(shape: &SmShape, config: &Config) -> Self {
        Self::of(4, shape, config)
    }

    pub(crate) fn of(width: u32, shape: &SmShape, config: &Config) -> Self {
        Self {
            width,
            bandwidth: Straps::of(config).shared_bandwidth,
            rows: 4 * shape.shared_words / ROW_BYTES as usize,
            before: [None, None],
            waiting: false,
        }
    }

    fn unit(&self, address: u32) -> usize {
        (address % ROW_BYTES / self.width) as usize
    }

    fn observe(&mut self, i: &SharedMemoryIn, o: &SharedMemoryOut, p: &SharedMemoryProbe, points: &mut Points) {
        self.situations(i, o, p, points);
        self.waiting = i.valid_i == 1 && i.kind_i != ATOMIC && o.served_o == 0 && i.rst_ni == 1;
        let performed = Performed { access: Box::new(*i), served: o.served_o };
        self.before[1] = self.before[0].replace(performed).filter(|_| i.rst_ni == 1);
    }

    fn situations(&self, i: &SharedMemoryIn, o: &SharedMemoryOut, p: &SharedMemoryProbe, points: &mut Points) {
        let (valid, passes, reset) = (i.valid_i == 1, o.served_o != 0, i.rst_ni == 0);
        let (phase, room, register) = (p.phase_q == 1, i.room_i == 1, i.reg_valid_i == 1);
        let kind = |kind: u8| valid && i.kind_i == kind;
        let (load, store, atomic) = (passes && kind(LOAD), passes && kind(STORE), passes && kind(ATOMIC));
        let left = if valid { i.lanes_i & !o.served_o } else { 0 };
        let (window, selected) = selected(i, self.width);
        let (group, first) = (LANES >> self.bandwidth, window.trailing_zeros());
        let lowest = set_lanes(o.served_o).next().unwrap_or(0);
        let refused = if passes { left & window & !selected } else { 0 };

        let banks = set_lanes(o.served_o).fold(0u32, |banks, lane| banks | 1 << self.unit(i.addr_i.0[lane]));
        let most = group.min((ROW_BYTES / self.width) as usize) as u32;
        let served = o.served_o.count_ones();
        let one_word = set_lanes(o.served_o).all(|lane| i.addr_i.0[lane] / 4 == i.addr_i.0[lowest] / 4);
        // Whether lanes that are served share a byte, or a word without sharing a byte.
        let shares = |unit: u32| {
            let mut seen = std::collections::HashSet::new();
            passes && !set_lanes(o.served_o).all(|lane| seen.insert(i.addr_i.0[lane] / unit))
        };
        let same_byte = shares(1);
        let same_word = shares(4);
        let row = |lane: usize| row(i.addr_i.0[lane]) as usize;
        let top_row = set_lanes(o.served_o).any(|lane| row(lane) == self.rows - 1);

        // Whether a lane that is served now accesses a word that this earlier access accessed.
        let meets = |before: &Option<Performed>, wanted: u8| {
            before.as_ref().filter(|b| b.access.kind_i == wanted).is_some_and(|b| {
                let mut words = set_lanes(b.served).map(|lane| b.access.addr_i.0[lane] / 4);
                words.any(|word| set_lanes(o.served_o).any(|lane| i.addr_i.0[lane] / 4 == word))
            })
        };
        let disturbs = p.first_valid_q == 1
            && kind(LOAD)
            && set_lanes(o.served_o).any(|lane| {
                set_lanes(p.first_mask_q).any(|other| self.unit(p.place_q[other].into()) == self.unit(i.addr_i.0[lane]))
            });

        // Old value, operand and comparand of the lanes of the atomic operation whose result is offered.
        let old: Vec<(u32, u32, u32)> = match &self.before[1] {
            Some(b) if o.result_reg_valid_o == 1 && b.access.kind_i == ATOMIC => set_lanes(b.served)
                .map(|l| (o.result_data_o.0[l], b.access.store_i.0[l], b.access.compare_i.0[l]))
                .collect(),
            _ => Vec::new(),
        };
        let was = |operation: u8, holds: fn(u32, u32, u32) -> bool| {
            let operation = self.before[1].as_ref().is_some_and(|b| b.access.atomic_i == operation);
            operation && old.iter().any(|&(m, c, compare)| holds(m, c, compare))
        };
        let signs = |m: u32, c: u32, _: u32| (m ^ c) >> 31 == 1;
        let loaded = self.before[1].as_ref().is_some_and(|b| b.access.kind_i == LOAD) && o.result_reg_valid_o == 1;
        let size_was = |size: u8, signed: u8| {
            loaded && self.before[1].as_ref().is_some_and(|b| (b.access.size_i, b.access.signed_i) == (size, signed))
        };
        let any_result = |holds: fn(u32) -> bool| set_lanes(o.result_mask_o).any(|l| holds(o.result_data_o.0[l]));

        point!("load", load);
        point!("store", store);
        point!("atomic operation", atomic);
        point!("as many banks at once as there can be", banks.count_ones() == most);
        point!("one word for as many lanes as there can be", load && served == group as u32 && one_word);
        point!("words for several lanes in several banks", load && banks.count_ones() > 1 && same_word);
        point!("conflict of loads", load && refused != 0);
        point!("conflict of stores", store && refused != 0);
        point!("conflict and broadcast in one pass", load && refused != 0 && same_word);
        point!("lanes after those refused are served", load && o.served_o & refused << 1 != 0);
        point!("every lane in one bank", load && served == 1 && refused.count_ones() == group as u32 - 1);
        point!("the last row", passes && top_row);
        point!("stores to one byte", store && same_byte);
        point!("stores to other bytes of one word", store && same_word && !same_byte);
        point!("stores of bytes", store && i.size_i == 0);
        point!("stores of two bytes", store && i.size_i == 1);
        point!("stores of words", store && i.size_i == 2);
        point!("unsigned bytes with the sign set", size_was(0, 0) && any_result(|v| v & 0x80 != 0));
        point!("signed bytes with the sign set", size_was(0, 1) && any_result(|v| v >> 7 == u32::MAX >> 7));
        point!("unsigned halves with the sign set", size_was(1, 0) && any_result(|v| v & 0x8000 != 0));
        point!("signed halves with the sign set", size_was(1, 1) && any_result(|v| v >> 15 == u32::MAX >> 15));
        point!("words read", size_was(2, 0));
        point!("load without room", kind(LOAD) && !room);
        point!("store without room", store && !room);
        point!("atomic operation waits for room", kind(ATOMIC) && !room && !phase);
        point!("second cycle without room", atomic && !room);
        point!("served after waiting", passes && self.waiting);
        point!("atomic operation in several banks", atomic && banks.count_ones() > 1);
        point!(
            "atomic operations on one word",
            atomic && set_lanes(refused).any(|l| i.addr_i.0[l] == i.addr_i.0[lowest])
        );
        point!(
            "atomic operations on two words of a bank",
            atomic
                && set_lanes(refused)
                    .any(|l| self.unit(i.addr_i.0[l]) == self.unit(i.addr_i.0[lowest]) && row(l) != row(lowest))
        );
        point!("atomic operation without a register", atomic && !register);
        point!("load without a register", load && !register);
        point!("atomic operation withdrawn", phase && !valid);
        point!("compared and equal", was(CAS, |m, _, compare| m == compare));
        point!("compared and different", was(CAS, |m, _, compare| m != compare));
        point!("compared and swapped for another value", was(CAS, |m, c, compare| m == compare && c != m));
        point!("inc counts", was(INC, |m, c, _| m < c));
        point!("inc begins again at its limit", was(INC, |m, c, _| m == c));
        point!("inc begins again above its limit", was(INC, |m, c, _| m > c));
        point!("floats cancel", was(ADD_FLOAT, |m, c, _| m & !SIGN != 0 && m == c ^ SIGN));
        point!("floats: one of them is zero", was(ADD_FLOAT, |m, c, _| (m & !SIGN == 0) != (c & !SIGN == 0)));
        point!("floats: zeros of different signs", was(ADD_FLOAT, |m, c, _| m & !SIGN == 0 && m ^ c == SIGN));
        point!("floats: subnormal sum", was(ADD_FLOAT, |m, c, _| is_subnormal(added(m, c))));
        point!("floats: too large", was(ADD_FLOAT, |m, c, _| is_finite(m) && is_finite(c) && !is_finite(added(m, c))));
        point!("floats: NaN", was(ADD_FLOAT, |m, c, _| is_nan(m) || is_nan(c)));
        point!(
            "floats: infinities of different signs",
            was(ADD_FLOAT, |m, c, _| m & !SIGN == INFINITY && m ^ c == SIGN)
        );
        point!("floats: inexact", was(ADD_FLOAT, |m, c, _| is_finite(added(m, c)) && inexact(m, c)));
        point!("dec counts", was(DEC, |m, c, _| m != 0 && m <= c));
        point!("dec counts from its limit", was(DEC, |m, c, _| m != 0 && m == c));
        point!("dec begins again at zero", was(DEC, |m, c, _| m == 0 && c != 0));
        point!("dec begins again above its limit", was(DEC, |m, c, _| m > c));
        point!("unsigned minimum of other signs", was(1, signs));
        point!("signed minimum of other signs", was(2, signs));
        point!("unsigned maximum of other signs", was(3, signs));
        point!("signed maximum of other signs", was(4, signs));
        point!("a word stored in the cycle before is read", load && meets(&self.before[0], STORE));
        point!("a word changed in the cycle before is read", load && meets(&self.before[0], ATOMIC));
        point!("a bank is read while its output goes into a result", disturbs);
        point!("passes one after the other", passes && p.first_valid_q == 1 && o.result_valid_o == 1);
        point!("last pass", load && i.last_i == 1);
        point!("last here, lanes left elsewhere", load && left == 0 && i.last_i == 0);
        point!("last atomic pass", atomic && i.last_i == 1);
        point!("reset with both stages full", reset && p.first_valid_q == 1 && o.result_valid_o == 1);
        point!("reset between the cycles of an atomic operation", reset && atomic);
        point!("store under reset", reset && store);
        point!("load under reset", reset && load);

        #[given(self.bandwidth > 0)]
        {
            point!("lanes wait beyond the window", passes && left & !window != 0);
            point!("a window that is not the first", passes && first >= group as u32);
            point!("the whole window", o.served_o == window && passes);
            point!(
                "a lane outside the window wants a served word",
                load && set_lanes(left & !window).any(|l| i.addr_i.0[l] / 4 == i.addr_i.0[lowest] / 4)
            );
        }
        let operation = OPERATIONS.iter().position(|&op| atomic && i.atomic_i == op);
        point!("{NAMES[operation.unwrap_or_default()]}", operation.is_some());
    }
}
