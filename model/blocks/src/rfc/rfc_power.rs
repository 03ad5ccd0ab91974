//! `rfc_power`: power states (ON, SLEEP, OFF) of the words below the cache. `docs/blocks/rfc_power.md`.

use crate::instruction::NO_REG;
use crate::mrf::MAX_PORTS;
use crate::mrf::bits::{is_set, pack, set_bits};
use crate::operands::MAX_TAGS;
use crate::power::words::{Counts, Set, State, WORDS, has, put};
use crate::power::{POWER_CFG_BITS, POWER_EVENT, POWER_WAIT_EVENT, PowerStraps, mode};
use crate::rfc::RfcShape;
use crate::sizes::{MAX_WARPS, WARP_NUMBERS};
use crate::{Block, Decode, Memory, OPERANDS, REG_BITS, WARP_BITS, field, ports};

const MAX_SOURCES: usize = OPERANDS * MAX_PORTS;
/// Maximum number of state changes in a cycle: wake-ups and ends of accesses, of sources and of values.
const MAX_CHANGES: usize = 2 * (MAX_SOURCES + MAX_PORTS);
/// Width of the power state in which an access leaves a word.
const LEFT_BITS: u32 = 2;

ports! {
    /// Inputs of [`RfcPower`].
    pub struct RfcPowerIn(s: &RfcShape) {
        /// Warps that have ended.
        over_i: u64 = field(s.warps),
        /// Straps, `power_straps_t`: mode, cycles until a word in SLEEP is ON, and one that is OFF.
        cfg_i: u16 = field(POWER_CFG_BITS),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// The instruction in T of port p waits for nothing but its words and a collector.
        look_valid_i: u8 = field(s.ports()),
        /// Warp of the instruction in T.
        look_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("look_valid_i"),
        /// Tag of the instruction in T.
        look_tag_i: [u8; MAX_PORTS] = field(s.tag_w()).count(s.ports()).valid_by("look_valid_i"),
        /// Bit 3p+k: source k of the instruction in T of port p is a register.
        look_src_i: u8 = field(s.mrf.sources()),
        /// Bit 3p+k: source k is to be read in the MRF, and no lower one has the register.
        look_asked_i: u8 = field(s.mrf.sources()),
        /// Registers of the sources of the instruction in T.
        look_reg_i: [u8; MAX_SOURCES] = field(REG_BITS).count(s.mrf.sources()).valid_by("look_src_i"),
        /// The state in which each source is left.
        look_left_i: [u8; MAX_SOURCES] = field(LEFT_BITS).count(s.mrf.sources()).valid_by("look_src_i"),
        /// The instruction in T leaves it.
        move_i: u8 = field(s.ports()),
        /// A value is there for write port b of the MRF.
        write_valid_i: u8 = field(s.ports()),
        /// The value for write port b is an eviction.
        write_evict_i: u8 = field(s.ports()),
        /// Warp of the value for the write port.
        write_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("write_valid_i"),
        /// Register of the value for the write port.
        write_reg_i: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("write_valid_i"),
        /// The value for write port b goes into the MRF's queue.
        taken_i: u8 = field(s.ports()),
        /// The value in queue b of the MRF goes into its bank.
        done_i: u8 = field(s.ports()),
        /// An instruction is dispatched on port p.
        read_valid_i: u8 = field(s.ports()),
        /// Tag of the instruction that is dispatched.
        read_tag_i: [u8; MAX_PORTS] = field(s.tag_w()).count(s.ports()).valid_by("read_valid_i"),
        /// Bit 3p+k: another instruction of the warp accesses source k of the instruction dispatched on port p.
        read_keep_i: u8 = field(s.mrf.sources()),
    }
}

ports! {
    /// Outputs of [`RfcPower`].
    pub struct RfcPowerOut(s: &RfcShape) {
        /// Words and changes of their states: `power_event_t`.
        event_o: u64 = field(56).shown(Decode::Packed(POWER_EVENT)),
        /// Instructions that wait for power: `power_wait_event_t`.
        wait_event_o: u16 = field(12).shown(Decode::Packed(POWER_WAIT_EVENT)),
        /// All words that are asked for by the instruction in T of port p are ON.
        look_on_o: u8 = field(s.ports()),
        /// The word of the value for write port b is ON.
        write_on_o: u8 = field(s.ports()),
    }
}

ports! {
    /// State of [`RfcPower`].
    pub struct RfcPowerProbe(s: &RfcShape) {
        /// Bit r mod 64 of element 4w + r / 64: register r of warp w is OFF.
        off_q: [u64; WORDS * MAX_WARPS] = field(u64::BITS).count(WORDS * s.warps),
        /// Bit r mod 64 of element 4w + r / 64: register r of warp w is in SLEEP.
        asleep_q: [u64; WORDS * MAX_WARPS] = field(u64::BITS).count(WORDS * s.warps),
        /// Registers of each warp that are ON.
        on_count_q: [u8; MAX_WARPS] = field(8).count(s.warps),
        /// Registers of each warp that are in SLEEP.
        asleep_count_q: [u8; MAX_WARPS] = field(8).count(s.warps),
        /// Cycles until the words that T of port p waits for are ON; 0: no wake-up is in progress.
        look_wake_q: [u8; MAX_PORTS] = field(4).count(s.ports()),
        /// The sources in T whose words wake.
        look_waking_q: [u8; MAX_PORTS] = field(OPERANDS).count(s.ports()),
        /// Cycles until the word that write port b waits for is ON; 0: no wake-up is in progress.
        write_wake_q: [u8; MAX_PORTS] = field(4).count(s.ports()),
        /// Write port b woke its last word for an eviction.
        write_waking_q: u8 = field(s.ports()),
        /// Sources of the instruction with each tag that are being read in the MRF.
        reading_q: [u8; MAX_TAGS] = field(OPERANDS).count(s.tags()),
        /// A value is in the MRF's queue b.
        writing_q: u8 = field(s.ports()),
    }
}

/// An instruction in T that waits only for its words and a collector.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asking {
    pub(crate) warp: u8,
    pub(crate) tag: u8,
    /// Sources that are registers, and sources that are to be read from the MRF.
    pub(crate) src: u8,
    pub(crate) asked: u8,
    pub(crate) reg: [u8; OPERANDS],
    pub(crate) left: [u8; OPERANDS],
}

/// A value that waits at a write port of the MRF.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Value {
    pub(crate) warp: u8,
    pub(crate) reg: u8,
    pub(crate) evict: bool,
}

/// The events of a cycle that affect power states.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Around {
    pub(crate) look: [Option<Asking>; MAX_PORTS],
    pub(crate) moved: u8,
    pub(crate) write: [Option<Value>; MAX_PORTS],
    pub(crate) taken: u8,
    pub(crate) done: u8,
    /// The tag of the instruction that each port dispatches, and sources that another instruction accesses as well.
    pub(crate) read: [Option<u8>; MAX_PORTS],
    pub(crate) keep: u8,
    pub(crate) over: u64,
}

/// A word whose state changes.
#[derive(Clone, Copy, Debug, Default)]
struct Change {
    warp: u8,
    reg: u8,
    from: State,
    to: State,
}

/// The changes at the clock edge.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Changing {
    changes: [Change; MAX_CHANGES],
    count: usize,
    /// Cycles left of each wake-up, and the sources or values that wake up.
    look_wake: [u8; MAX_PORTS],
    look_waking: [u8; MAX_PORTS],
    write_wake: [u8; MAX_PORTS],
    write_waking: u8,
    /// Accesses that are still in progress after the clock edge.
    reading: [u8; MAX_TAGS],
    writing: u8,
    ended: u64,
    pub(crate) event: u64,
    pub(crate) wait_event: u16,
}

/// The power states of the words of the main register file. Only below the cache is it known which words are accessed.
///
/// A direct caller asks whether words are ON ([`look_on`](Self::look_on), [`write_on`](Self::write_on)), lets the block compute the changes
/// ([`changing`](Self::changing)), and applies them at the clock edge ([`advance`](Self::advance)).
#[derive(Clone)]
pub struct RfcPower {
    ports: usize,
    tags: usize,
    off_q: Box<[Set; WARP_NUMBERS]>,
    asleep_q: Box<[Set; WARP_NUMBERS]>,
    counts: Counts,
    look_wake_q: [u8; MAX_PORTS],
    look_waking_q: [u8; MAX_PORTS],
    write_wake_q: [u8; MAX_PORTS],
    write_waking_q: u8,
    reading_q: [u8; MAX_TAGS],
    writing_q: u8,
    // One 32-bit word each: the form in which the harness reads them.
    note_src_q: [u32; MAX_TAGS],
    note_warp_q: [u32; MAX_TAGS],
    note_reg_q: [u32; OPERANDS * MAX_TAGS],
    note_left_q: [u32; OPERANDS * MAX_TAGS],
    writing_warp_q: [u32; MAX_PORTS],
    writing_reg_q: [u32; MAX_PORTS],
    straps: PowerStraps,
    /// Used only by a block that runs alone: the events of the cycle, and the decisions.
    around: Around,
    decided: Changing,
}

impl RfcPower {
    /// Sets the straps that are valid from here on.
    #[inline]
    pub(crate) fn begin(&mut self, straps: PowerStraps) {
        self.straps = straps;
    }

    #[inline]
    fn enabled(&self) -> bool {
        self.straps.mode != mode::ALWAYS_ON
    }

    #[inline]
    fn state(&self, warp: u8, reg: u8) -> State {
        let w = usize::from(warp);
        if has(&self.off_q[w], reg) {
            State::Off
        } else if has(&self.asleep_q[w], reg) {
            State::Sleep
        } else {
            State::On
        }
    }

    /// Sources of an instruction in T whose words are needed and not ON.
    #[inline]
    fn needs(&self, look: &Asking) -> u8 {
        if !self.enabled() {
            return 0;
        }
        let waits = |&k: &usize| self.state(look.warp, look.reg[k]) != State::On;
        set_bits(look.asked).filter(waits).fold(0, |set, k| set | 1 << k)
    }

    /// Whether all words that the instruction reads are ON.
    #[inline]
    pub(crate) fn look_on(&self, look: &Asking) -> bool {
        self.needs(look) == 0
    }

    /// Whether the word of a value to be written is ON.
    #[inline]
    pub(crate) fn write_on(&self, warp: u8, reg: u8) -> bool {
        !self.enabled() || self.state(warp, reg) == State::On
    }

    /// Whether no wake-up is in progress.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        (self.look_wake_q, self.write_wake_q) == ([0; MAX_PORTS], [0; MAX_PORTS])
    }

    /// Whether ended warps change no power state.
    #[inline]
    pub(crate) fn is_still(&self, over: u64) -> bool {
        !self.enabled() || over & self.counts.counted() == 0
    }

    /// Number of cycles to wake a word up.
    #[inline]
    fn latency(&self, warp: u8, reg: u8) -> u8 {
        let cycles = match self.state(warp, reg) {
            State::Off => self.straps.wake_off,
            State::Sleep => self.straps.wake_sleep,
            State::On => 1,
        };
        cycles.max(1)
    }

    /// Whether an access to a word is still in progress after the clock edge.
    fn in_progress(&self, around: &Around, changing: &Changing, warp: u8, reg: u8) -> bool {
        let reading = |tag: usize| {
            changing.reading[tag] != 0
                && self.note_warp_q[tag] == u32::from(warp)
                && set_bits(changing.reading[tag]).any(|k| self.note_reg_q[OPERANDS * tag + k] == u32::from(reg))
        };
        let writing = |b: usize| (self.writing_warp_q[b], self.writing_reg_q[b]) == (warp.into(), reg.into());
        let moves = |p: usize| {
            around.look[p].is_some_and(|look| look.warp == warp && set_bits(look.asked).any(|k| look.reg[k] == reg))
        };
        let comes = |b: usize| around.write[b].is_some_and(|value| (value.warp, value.reg) == (warp, reg));
        (0..self.tags).any(reading)
            || set_bits(changing.writing).any(writing)
            || set_bits(around.moved).any(moves)
            || set_bits(around.taken).any(comes)
    }

    /// Computes the changes at the clock edge, and the event words.
    #[inline]
    pub(crate) fn changing(&self, around: &Around) -> Changing {
        let mut changing = Changing {
            reading: self.reading_q,
            writing: self.writing_q,
            look_waking: self.look_waking_q,
            write_waking: self.write_waking_q,
            ..Changing::default()
        };
        let (mut waits, mut kept) = (0, 0);
        for (p, look) in around.look.iter().enumerate() {
            let Some(look) = look else { continue };
            let needs = self.needs(look);
            if needs == 0 {
                continue;
            }
            waits += 1;
            let left = if self.look_wake_q[p] != 0 && self.look_waking_q[p] == needs {
                self.look_wake_q[p]
            } else {
                set_bits(needs).map(|k| self.latency(look.warp, look.reg[k])).fold(1, u8::max)
            };
            (changing.look_wake[p], changing.look_waking[p]) = (left - 1, needs);
            if left == 1 {
                set_bits(needs).for_each(|k| self.change(&mut changing, look.warp, look.reg[k], State::On));
            }
        }
        for (b, value) in around.write.iter().enumerate() {
            let Some(value) = value.filter(|value| !self.write_on(value.warp, value.reg)) else { continue };
            waits += 1;
            let same = is_set(self.write_waking_q, b) == value.evict;
            let left = if self.write_wake_q[b] != 0 && same {
                self.write_wake_q[b]
            } else {
                self.latency(value.warp, value.reg)
            };
            changing.write_wake[b] = left - 1;
            changing.write_waking = changing.write_waking & !(1 << b) | u8::from(value.evict) << b;
            if left == 1 {
                self.change(&mut changing, value.warp, value.reg, State::On);
            }
        }
        for (p, tag) in around.read.iter().enumerate() {
            let Some(tag) = tag.map(usize::from).filter(|&tag| tag < self.tags) else { continue };
            for k in set_bits(self.note_src_q[tag] as u8) {
                let read = is_set(changing.reading[tag], k);
                changing.reading[tag] &= !(1 << k);
                let (warp, reg) = (self.note_warp_q[tag] as u8, self.note_reg_q[OPERANDS * tag + k] as u8);
                let left = State::of(self.note_left_q[OPERANDS * tag + k] as u8);
                let keep = self.straps.mode == mode::HINTS_AND_TABLE && is_set(around.keep, OPERANDS * p + k);
                let matters = if read { left != State::On } else { left == State::Off && !keep };
                if !self.enabled() || !matters || self.in_progress(around, &changing, warp, reg) {
                    continue;
                }
                if !keep {
                    self.change(&mut changing, warp, reg, left);
                } else if self.after(&changing, warp, reg) == State::On {
                    kept += 1;
                }
            }
        }
        for b in set_bits(around.done & self.writing_q) {
            changing.writing &= !(1 << b);
            let (warp, reg) = (self.writing_warp_q[b] as u8, self.writing_reg_q[b] as u8);
            if self.enabled() && !self.in_progress(around, &changing, warp, reg) {
                self.change(&mut changing, warp, reg, State::Sleep);
            }
        }
        let over = around.over & self.counts.counted();
        if self.enabled() && over != 0 {
            changing.ended = over & !self.busy(around, &changing);
        }
        if self.enabled() {
            let changes = &changing.changes[..changing.count];
            let count = |to: State, from: &[State]| {
                changes.iter().filter(|change| change.to == to && from.contains(&change.from)).count() as u32
            };
            let any = [State::On, State::Sleep, State::Off];
            let woken = [count(State::On, &[State::Sleep]), count(State::On, &[State::Off])];
            let left = [count(State::Sleep, &any), count(State::Off, &any)];
            let [on, asleep] = self.counts.sums();
            let words = [on, asleep, woken[0], woken[1], left[0], left[1], kept];
            changing.event = pack(POWER_EVENT, words);
            changing.wait_event = pack(POWER_WAIT_EVENT, [waits, 0]) as u16;
        }
        changing
    }

    /// Warps with an access in progress after the clock edge, or with a value that waits for a write port.
    fn busy(&self, around: &Around, changing: &Changing) -> u64 {
        let mut busy = 0;
        for tag in (0..self.tags).filter(|&tag| changing.reading[tag] != 0) {
            busy |= 1u64 << (self.note_warp_q[tag] % 64);
        }
        for look in set_bits(around.moved).filter_map(|p| around.look[p]).filter(|look| look.asked != 0) {
            busy |= 1 << (look.warp % 64);
        }
        for b in set_bits(changing.writing) {
            busy |= 1 << (self.writing_warp_q[b] % 64);
        }
        for value in around.write.iter().flatten() {
            busy |= 1 << (value.warp % 64);
        }
        busy
    }

    /// The state of a word after the changes so far.
    fn after(&self, changing: &Changing, warp: u8, reg: u8) -> State {
        let same = |change: &&Change| (change.warp, change.reg) == (warp, reg);
        let last = changing.changes[..changing.count].iter().rev().find(same);
        last.map_or_else(|| self.state(warp, reg), |change| change.to)
    }

    /// Sets the state of a word, unless it has this state already or would go from OFF to SLEEP.
    fn change(&self, changing: &mut Changing, warp: u8, reg: u8, to: State) {
        let from = self.after(changing, warp, reg);
        if reg == NO_REG || from == to || (from, to) == (State::Off, State::Sleep) {
            return;
        }
        changing.changes[changing.count] = Change { warp, reg, from, to };
        changing.count += 1;
    }

    /// The clock edge.
    #[inline]
    pub(crate) fn advance(&mut self, around: &Around, changing: &Changing) {
        for &Change { warp, reg, from, to } in &changing.changes[..changing.count] {
            let w = usize::from(warp);
            put(&mut self.off_q[w], reg, to == State::Off);
            put(&mut self.asleep_q[w], reg, to == State::Sleep);
            let [on, asleep] = self.counts.of(w);
            let step =
                |count: u8, state: State| count.wrapping_add((to == state).into()).wrapping_sub((from == state).into());
            self.counts.set(w, [step(on, State::On), step(asleep, State::Sleep)]);
        }
        for w in set_bits(changing.ended) {
            (self.off_q[w], self.asleep_q[w]) = ([u64::MAX; WORDS], Set::default());
            self.counts.set(w, [0, 0]);
        }
        (self.look_wake_q, self.look_waking_q) = (changing.look_wake, changing.look_waking);
        (self.write_wake_q, self.write_waking_q) = (changing.write_wake, changing.write_waking);
        self.reading_q = changing.reading;
        self.writing_q = changing.writing | around.taken;
        for look in set_bits(around.moved).filter_map(|p| around.look[p]) {
            let tag = usize::from(look.tag);
            if tag >= self.tags {
                continue;
            }
            self.reading_q[tag] = look.asked;
            let lower = |k: usize| set_bits(look.src).take_while(move |&l| l < k);
            let once = set_bits(look.src).filter(|&k| lower(k).all(|l| look.reg[l] != look.reg[k]));
            self.note_src_q[tag] = once.fold(0, |set, k| set | 1 << k);
            self.note_warp_q[tag] = look.warp.into();
            self.note_reg_q[OPERANDS * tag..][..OPERANDS].copy_from_slice(&look.reg.map(u32::from));
            self.note_left_q[OPERANDS * tag..][..OPERANDS].copy_from_slice(&look.left.map(u32::from));
        }
        for b in set_bits(around.taken) {
            if let Some(value) = around.write[b] {
                (self.writing_warp_q[b], self.writing_reg_q[b]) = (value.warp.into(), value.reg.into());
            }
        }
    }

    /// A clock edge in reset; called after everything else.
    pub(crate) fn reset(&mut self) {
        *self.off_q = [[u64::MAX; WORDS]; WARP_NUMBERS];
        *self.asleep_q = [Set::default(); WARP_NUMBERS];
        self.counts = Counts::NONE;
        (self.look_wake_q, self.look_waking_q) = Default::default();
        (self.write_wake_q, self.write_waking_q) = Default::default();
        (self.reading_q, self.writing_q) = ([0; MAX_TAGS], 0);
    }
}

impl Block for RfcPower {
    const NAME: &'static str = "rfc_power";
    const PARAMETERS: &'static [&'static str] = &["Warps", "IssuePorts", "Tags"];

    type Shape = RfcShape;
    type In = RfcPowerIn;
    type Out = RfcPowerOut;
    type Probe = RfcPowerProbe;

    fn new(shape: &RfcShape) -> Self {
        let mut power = Self {
            ports: shape.ports(),
            tags: shape.tags(),
            off_q: Box::new([Set::default(); WARP_NUMBERS]),
            asleep_q: Box::new([Set::default(); WARP_NUMBERS]),
            counts: Counts::NONE,
            look_wake_q: [0; MAX_PORTS],
            look_waking_q: [0; MAX_PORTS],
            write_wake_q: [0; MAX_PORTS],
            write_waking_q: 0,
            reading_q: [0; MAX_TAGS],
            writing_q: 0,
            note_src_q: [0; MAX_TAGS],
            note_warp_q: [0; MAX_TAGS],
            note_reg_q: [0; OPERANDS * MAX_TAGS],
            note_left_q: [0; OPERANDS * MAX_TAGS],
            writing_warp_q: [0; MAX_PORTS],
            writing_reg_q: [0; MAX_PORTS],
            straps: PowerStraps::default(),
            around: Around::default(),
            decided: Changing::default(),
        };
        power.reset();
        power
    }

    fn early(&self, _: &mut RfcPowerOut) {}

    fn late(&mut self, inputs: &RfcPowerIn, out: &mut RfcPowerOut) {
        self.begin(PowerStraps::of(inputs.cfg_i));
        let look = |p: usize| Asking {
            warp: inputs.look_warp_i[p],
            tag: inputs.look_tag_i[p],
            src: inputs.look_src_i >> (OPERANDS * p) & 0b111,
            asked: inputs.look_asked_i >> (OPERANDS * p) & 0b111,
            reg: inputs.look_reg_i.as_chunks().0[p],
            left: inputs.look_left_i.as_chunks().0[p],
        };
        let value = |b: usize| Value {
            warp: inputs.write_warp_i[b],
            reg: inputs.write_reg_i[b],
            evict: is_set(inputs.write_evict_i, b),
        };
        self.around = Around {
            look: std::array::from_fn(|p| is_set(inputs.look_valid_i, p).then(|| look(p))),
            moved: inputs.move_i,
            write: std::array::from_fn(|b| is_set(inputs.write_valid_i, b).then(|| value(b))),
            taken: inputs.taken_i,
            done: inputs.done_i,
            read: std::array::from_fn(|p| is_set(inputs.read_valid_i, p).then_some(inputs.read_tag_i[p])),
            keep: inputs.read_keep_i,
            over: inputs.over_i,
        };
        self.decided = self.changing(&self.around);
        (out.event_o, out.wait_event_o) = (self.decided.event, self.decided.wait_event);
        (out.look_on_o, out.write_on_o) = (0, 0);
        for p in 0..self.ports {
            let (look, value) = (&self.around.look[p], &self.around.write[p]);
            out.look_on_o |= u8::from(look.is_none_or(|look| self.look_on(&look))) << p;
            out.write_on_o |= u8::from(value.is_none_or(|value| self.write_on(value.warp, value.reg))) << p;
        }
    }

    fn clock(&mut self, inputs: &RfcPowerIn, _: &RfcPowerOut) {
        let (around, decided) = (self.around, self.decided);
        self.advance(&around, &decided);
        if inputs.rst_ni == 0 {
            self.reset();
        }
    }

    fn probe(&self, _: &RfcPowerIn, _: &RfcPowerOut, probe: &mut RfcPowerProbe) {
        let words = WORDS * MAX_WARPS;
        probe.off_q.copy_from_slice(&self.off_q.as_flattened()[..words]);
        probe.asleep_q.copy_from_slice(&self.asleep_q.as_flattened()[..words]);
        let [on, asleep] = self.counts.all();
        probe.on_count_q.copy_from_slice(on);
        probe.asleep_count_q.copy_from_slice(asleep);
        (probe.look_wake_q, probe.look_waking_q) = (self.look_wake_q, self.look_waking_q);
        (probe.write_wake_q, probe.write_waking_q) = (self.write_wake_q, self.write_waking_q);
        (probe.reading_q, probe.writing_q) = (self.reading_q, self.writing_q);
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let (tags, ports, block) = (self.tags, self.ports, Self::NAME);
        let memory = |path: &str, words, bits| Memory { path: path.into(), block, words, bits };
        vec![
            memory("note_src_q", &mut self.note_src_q[..tags], OPERANDS as u32),
            memory("note_warp_q", &mut self.note_warp_q[..tags], WARP_BITS),
            memory("note_reg_q", &mut self.note_reg_q[..OPERANDS * tags], REG_BITS),
            memory("note_left_q", &mut self.note_left_q[..OPERANDS * tags], LEFT_BITS),
            memory("writing_warp_q", &mut self.writing_warp_q[..ports], WARP_BITS),
            memory("writing_reg_q", &mut self.writing_reg_q[..ports], REG_BITS),
        ]
    }
}

#[cfg(test)]
mod tests;
