//! `shared_memory`.

use gpurf_blocks::config::Config;
use gpurf_blocks::memory::{SHARED_BANKS, SharedMemory, SharedMemoryIn, SharedMemoryOut, SharedMemoryProbe};
use gpurf_blocks::shape::{MAX_WARPS, SmShape, Straps};
use gpurf_blocks::{Block, LANES, Ports, WarpData};
use gpurf_lockstep::Rng;

use gpurf_arith::float::{add, is_nan};
use gpurf_arith::{INFINITY, Mode, ONE, Rounding, SIGN};

use super::lanes::{Pending, RESET, addresses, past, set_lanes};
use crate::driver::{Reset, alias};
use crate::floats::{awkward, near};
use crate::{Cover, Driver, Knob, Knobs, Unreached};

const LOAD: u8 = 0;
const STORE: u8 = 1;
const ATOMIC: u8 = 2;
/// Atomic operations that shared memory performs.
const OPERATIONS: [u8; 13] = [0, 1, 2, 3, 4, INC, DEC, 7, 8, 9, 10, ADD_FLOAT, CAS];
/// Counts up to the operand, then begins again.
const INC: u8 = 5;
/// Counts down to zero, then begins again at the operand.
const DEC: u8 = 6;
/// Sum of floats.
const ADD_FLOAT: u8 = 11;
/// Compare and swap.
const CAS: u8 = 12;

pub(crate) struct SharedMemoryDriver {
    bytes: u64,
    /// Operands are often this one, or differ from it in one bit.
    word: u32,
    reset: Reset,
    pending: Pending,
    /// The access at hand.
    access: Box<SharedMemoryIn>,
    /// Says which lanes are served.
    twin: SharedMemory,
    out: Box<SharedMemoryOut>,
}

const OFFER: usize = 0;
const ROOM: usize = 1;
const NEAR: usize = 2;
const PARTIAL: usize = 3;
const STORES: usize = 4;
const ATOMICS: usize = 5;
const SMALL: usize = 6;
const WITHDRAW: usize = 7;
const AGAIN: usize = 8;
const FLOATS: usize = 9;

impl Driver for SharedMemoryDriver {
    type In = SharedMemoryIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "offer", doc: "an access begins", values: &[300, 1000, 1000] },
        Knob { name: "room", doc: "the side queue has room", values: &[400, 1000, 1000] },
        Knob { name: "near", doc: "addresses are among the first few", values: &[0, 800, 1000] },
        Knob { name: "partial", doc: "lanes do not take part", values: &[0, 500, 900] },
        Knob { name: "stores", doc: "an access is a store", values: &[100, 400] },
        Knob { name: "atomics", doc: "any other access is an atomic operation", values: &[0, 300, 900] },
        Knob { name: "small", doc: "operands are among the first few numbers", values: &[0, 800, 1000] },
        Knob { name: "withdraw", doc: "an offer is withdrawn for a cycle", values: &[0, 50] },
        Knob { name: "again", doc: "an access has the addresses of the one before", values: &[100, 300, 700] },
        Knob {
            name: "floats",
            doc: "operands are floats that meet, atomic operations their sums",
            values: &[0, 300, 600],
        },
        RESET,
    ];

    fn new(shape: &SmShape, config: &Config) -> Self {
        let mut access = Box::new(SharedMemoryIn::zeroed());
        access.cfg_i = Straps::of(config).shared_bandwidth;
        Self {
            bytes: 4 * shape.shared_words as u64,
            word: 0,
            reset: Reset::default(),
            pending: Pending::default(),
            access,
            twin: SharedMemory::new(shape),
            out: Box::new(SharedMemoryOut::zeroed()),
        }
    }

    fn unreached(shape: &SmShape, _: &Config) -> Vec<Unreached> {
        past("addr_i", 4 * shape.shared_words as u64, "shared memory ends there").collect()
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, inputs: &mut SharedMemoryIn) {
        if self.pending.left == 0 && rng.chance(knobs.get(OFFER)) {
            self.begin(rng, knobs);
        }
        let access = &mut *self.access;
        access.rst_ni = self.reset.next(rng, knobs.get(10));
        access.valid_i = (self.pending.left != 0 && !rng.chance(knobs.get(WITHDRAW))).into();
        access.lanes_i = self.pending.left;
        access.room_i = rng.chance(knobs.get(ROOM)).into();
        access.last_i = 0;
        self.twin.early(&mut self.out);
        self.twin.late(access, &mut self.out);
        access.last_i = self.pending.last(self.out.served_o).into();
        self.twin.clock(access, &self.out);
        self.pending.serve(self.out.served_o, access.rst_ni == 0);
        *inputs = *access;
    }
}

impl SharedMemoryDriver {
    fn begin(&mut self, rng: &mut Rng, knobs: &Knobs) {
        self.pending.begin(rng, knobs.get(PARTIAL));
        let access = &mut *self.access;
        let again = rng.chance(knobs.get(AGAIN));
        // Words that have just been stored may be compared: with themselves, and with what differs in one bit.
        let stored = access.store_i;
        let compares = again && access.kind_i == STORE && access.size_i == 2 && rng.chance(500);
        access.kind_i = if compares {
            ATOMIC
        } else if again && access.kind_i == ATOMIC && rng.chance(700) {
            LOAD
        } else if rng.chance(knobs.get(STORES)) {
            STORE
        } else if rng.chance(knobs.get(ATOMICS)) {
            ATOMIC
        } else {
            LOAD
        };
        let (atomic, floats) = (access.kind_i == ATOMIC, rng.chance(knobs.get(FLOATS)));
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
            access.addr_i = addresses(rng, self.bytes, access.size_i, knobs.get(NEAR));
        }
        if rng.chance(3) {
            self.word = rng.next_u64() as u32;
        }
        access.store_i = if floats { float_operands(rng) } else { operands(rng, knobs.get(SMALL), self.word) };
        access.compare_i = operands(rng, knobs.get(SMALL), self.word);
        if compares {
            let near = |word: u32| if rng.chance(300) { word } else { alias(rng, word.into(), 1 << u32::BITS) as u32 };
            access.compare_i = WarpData(stored.0.map(near));
        }
        for lane in self.pending.blank(rng) {
            (access.addr_i.0[lane], access.store_i.0[lane], access.compare_i.0[lane]) = (0, 0, 0);
        }
    }
}

/// Numbers that meet: around zero, of one family that differ in a bit, or any.
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

/// Floats whose sums cancel, lie between two values, are subnormal, or too large; awkward ones.
fn float_operands(rng: &mut Rng) -> WarpData {
    let middle = [1, 24, 127, 127, 252][rng.below(5) as usize];
    // What is there already is often the same as one of these, or its opposite.
    let few = [ONE, 0x3380_0000, 0x3400_0001, 0, INFINITY, INFINITY - 1, 0x0080_0000];
    let one = rng.chance(700).then(|| [0, INFINITY, INFINITY - 1][rng.below(3) as usize]);
    WarpData(std::array::from_fn(|_| match (one, rng.below(6)) {
        (Some(number), 0..5) => number | (rng.below(2) as u32) << 31,
        (_, 0) => awkward(rng),
        (_, 1..4) => few[rng.below(few.len() as u64) as usize] | (rng.below(2) as u32) << 31,
        _ => near(rng, middle, 3),
    }))
}

/// An access whose result is on its way.
#[derive(Clone)]
struct Performed {
    access: Box<SharedMemoryIn>,
    served: u32,
}

pub(crate) struct SharedMemoryCover {
    bandwidth: u8,
    rows: usize,
    /// What was done in the cycle before, and before that.
    before: [Option<Performed>; 2],
    /// The access of the cycle before was not served at all.
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

fn bank(address: u32) -> usize {
    address as usize / 4 % SHARED_BANKS
}

impl SharedMemoryCover {
    fn names(&self) -> Vec<&'static str> {
        let (inputs, out) = (SharedMemoryIn::zeroed(), SharedMemoryOut::zeroed());
        self.situations(&inputs, &out, &SharedMemoryProbe::zeroed()).into_iter().map(|s| s.0).collect()
    }

    fn situations(&self, i: &SharedMemoryIn, o: &SharedMemoryOut, p: &SharedMemoryProbe) -> Vec<(&'static str, bool)> {
        let (valid, passes, reset) = (i.valid_i == 1, o.served_o != 0, i.rst_ni == 0);
        let (phase, room, register) = (p.phase_q == 1, i.room_i == 1, i.reg_valid_i == 1);
        let kind = |kind: u8| valid && i.kind_i == kind;
        let (load, store, atomic) = (passes && kind(LOAD), passes && kind(STORE), passes && kind(ATOMIC));
        let left = if valid { i.lanes_i & !o.served_o } else { 0 };
        let group = LANES >> self.bandwidth;
        let lowest = set_lanes(o.served_o).next().unwrap_or(0);
        let window = (u32::MAX >> (LANES - group)) << (lowest / group * group);
        let refused = if passes { left & window } else { 0 };

        let banks = set_lanes(o.served_o).fold(0u32, |banks, lane| banks | 1 << bank(i.addr_i.0[lane]));
        let served = o.served_o.count_ones();
        // Lanes that share a byte, or a word without sharing a byte, with another one that is served.
        let shares = |unit: u32| {
            let mut seen = std::collections::HashSet::new();
            passes && !set_lanes(o.served_o).all(|lane| seen.insert(i.addr_i.0[lane] / unit))
        };
        let same_byte = shares(1);
        let same_word = shares(4);
        let row = |lane: usize| i.addr_i.0[lane] as usize / 128;
        let top_row = set_lanes(o.served_o).any(|lane| row(lane) == self.rows - 1);

        // The bank of a lane served now, as the one before left it.
        let meets = |before: &Option<Performed>, wanted: u8| {
            before.as_ref().filter(|b| b.access.kind_i == wanted).is_some_and(|b| {
                let mut words = set_lanes(b.served).map(|lane| b.access.addr_i.0[lane] / 4);
                words.any(|word| set_lanes(o.served_o).any(|lane| i.addr_i.0[lane] / 4 == word))
            })
        };
        let disturbs = p.first_valid_q == 1
            && kind(LOAD)
            && set_lanes(o.served_o).any(|lane| {
                set_lanes(p.first_mask_q).any(|other| usize::from(p.place_q[other]) / 4 == bank(i.addr_i.0[lane]))
            });

        // Old value, operand and comparand of the lanes whose atomic operation's result is here.
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

        let mut situations = vec![
            ("load", load),
            ("store", store),
            ("atomic operation", atomic),
            ("as many banks at once as there can be", banks.count_ones() == group as u32),
            ("one word for as many lanes as there can be", load && served == group as u32 && banks.is_power_of_two()),
            ("words for several lanes in several banks", load && banks.count_ones() > 1 && same_word),
            ("conflict of loads", load && refused != 0),
            ("conflict of stores", store && refused != 0),
            ("conflict and broadcast in one pass", load && refused != 0 && same_word),
            ("lanes behind those refused are served", load && o.served_o & refused << 1 != 0),
            ("every lane in one bank", load && served == 1 && refused.count_ones() == group as u32 - 1),
            ("the last row", passes && top_row),
            ("stores to one byte", store && same_byte),
            ("stores to other bytes of one word", store && same_word && !same_byte),
            ("stores of bytes", store && i.size_i == 0),
            ("stores of two bytes", store && i.size_i == 1),
            ("stores of words", store && i.size_i == 2),
            ("unsigned bytes with the sign set", size_was(0, 0) && any_result(|v| v & 0x80 != 0)),
            ("signed bytes with the sign set", size_was(0, 1) && any_result(|v| v >> 7 == u32::MAX >> 7)),
            ("unsigned halves with the sign set", size_was(1, 0) && any_result(|v| v & 0x8000 != 0)),
            ("signed halves with the sign set", size_was(1, 1) && any_result(|v| v >> 15 == u32::MAX >> 15)),
            ("words read", size_was(2, 0)),
            ("load without room", kind(LOAD) && !room),
            ("store without room", store && !room),
            ("atomic operation waits for room", kind(ATOMIC) && !room && !phase),
            ("second cycle without room", atomic && !room),
            ("served after waiting", passes && self.waiting),
            ("atomic operation in several banks", atomic && banks.count_ones() > 1),
            (
                "atomic operations on one word",
                atomic && set_lanes(refused).any(|l| i.addr_i.0[l] == i.addr_i.0[lowest]),
            ),
            (
                "atomic operations on two words of a bank",
                atomic
                    && set_lanes(refused)
                        .any(|l| bank(i.addr_i.0[l]) == bank(i.addr_i.0[lowest]) && row(l) != row(lowest)),
            ),
            ("atomic operation without a register", atomic && !register),
            ("load without a register", load && !register),
            ("atomic operation withdrawn", phase && !valid),
            ("compared and equal", was(CAS, |m, _, compare| m == compare)),
            ("compared and different", was(CAS, |m, _, compare| m != compare)),
            ("compared and swapped for another value", was(CAS, |m, c, compare| m == compare && c != m)),
            ("inc counts", was(INC, |m, c, _| m < c)),
            ("inc begins again at its limit", was(INC, |m, c, _| m == c)),
            ("inc begins again above its limit", was(INC, |m, c, _| m > c)),
            ("floats cancel", was(ADD_FLOAT, |m, c, _| m & !SIGN != 0 && m == c ^ SIGN)),
            ("floats: one of them is zero", was(ADD_FLOAT, |m, c, _| (m & !SIGN == 0) != (c & !SIGN == 0))),
            ("floats: zeros of different signs", was(ADD_FLOAT, |m, c, _| m & !SIGN == 0 && m ^ c == SIGN)),
            ("floats: subnormal sum", was(ADD_FLOAT, |m, c, _| is_subnormal(added(m, c)))),
            ("floats: too large", was(ADD_FLOAT, |m, c, _| is_finite(m) && is_finite(c) && !is_finite(added(m, c)))),
            ("floats: NaN", was(ADD_FLOAT, |m, c, _| is_nan(m) || is_nan(c))),
            ("floats: infinities of different signs", was(ADD_FLOAT, |m, c, _| m & !SIGN == INFINITY && m ^ c == SIGN)),
            ("floats: inexact", was(ADD_FLOAT, |m, c, _| is_finite(added(m, c)) && inexact(m, c))),
            ("dec counts", was(DEC, |m, c, _| m != 0 && m <= c)),
            ("dec counts from its limit", was(DEC, |m, c, _| m != 0 && m == c)),
            ("dec begins again at zero", was(DEC, |m, c, _| m == 0 && c != 0)),
            ("dec begins again above its limit", was(DEC, |m, c, _| m > c)),
            ("unsigned minimum of other signs", was(1, signs)),
            ("signed minimum of other signs", was(2, signs)),
            ("unsigned maximum of other signs", was(3, signs)),
            ("signed maximum of other signs", was(4, signs)),
            ("a word stored in the cycle before is read", load && meets(&self.before[0], STORE)),
            ("a word changed in the cycle before is read", load && meets(&self.before[0], ATOMIC)),
            ("a bank is read while its output goes into a result", disturbs),
            ("passes one after the other", passes && p.first_valid_q == 1 && o.result_valid_o == 1),
            ("last pass", load && i.last_i == 1),
            ("last here, lanes left elsewhere", load && left == 0 && i.last_i == 0),
            ("last atomic pass", atomic && i.last_i == 1),
            ("reset with both stages full", reset && p.first_valid_q == 1 && o.result_valid_o == 1),
            ("reset between the cycles of an atomic operation", reset && atomic),
            ("store under reset", reset && store),
            ("load under reset", reset && load),
        ];
        if self.bandwidth > 0 {
            situations.extend([
                ("lanes wait behind the window", passes && left & !window != 0),
                ("a window that is not the first", passes && lowest >= group),
                ("the whole window", o.served_o == window && passes),
                (
                    "a lane outside the window wants a served word",
                    load && set_lanes(left & !window).any(|l| i.addr_i.0[l] / 4 == i.addr_i.0[lowest] / 4),
                ),
            ]);
        }
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
        situations.extend(NAMES.into_iter().zip(OPERATIONS).map(|(name, op)| (name, atomic && i.atomic_i == op)));
        situations
    }
}

impl Cover for SharedMemoryCover {
    type In = SharedMemoryIn;
    type Out = SharedMemoryOut;
    type Probe = SharedMemoryProbe;

    fn points(shape: &SmShape) -> Vec<&'static str> {
        Self::new(shape).names()
    }

    fn points_of(config: &Config) -> Vec<&'static str> {
        Self { bandwidth: Straps::of(config).shared_bandwidth, ..Self::new(&config.sm_shape()) }.names()
    }

    fn new(shape: &SmShape) -> Self {
        Self { bandwidth: 0, rows: shape.shared_words / SHARED_BANKS, before: [None, None], waiting: false }
    }

    fn observe(
        &mut self,
        i: &SharedMemoryIn,
        o: &SharedMemoryOut,
        p: &SharedMemoryProbe,
        hit: &mut dyn FnMut(&'static str),
    ) {
        self.bandwidth = i.cfg_i;
        self.situations(i, o, p).into_iter().filter(|s| s.1).for_each(|s| hit(s.0));
        self.waiting = i.valid_i == 1 && i.kind_i != ATOMIC && o.served_o == 0 && i.rst_ni == 1;
        let performed = Performed { access: Box::new(*i), served: o.served_o };
        self.before[1] = self.before[0].replace(performed).filter(|_| i.rst_ni == 1);
    }
}
