//! `power_states`: registers that are ON, in SLEEP or OFF. `docs/blocks/power_states.md`.

use crate::instruction::{NO_REG, Roles};
use crate::mrf::MAX_PORTS;
use crate::mrf::bits::{is_set, pack, set_bits};
use crate::power::words::{Counts, Set, State, WORDS, has, put};
use crate::shape::SmShape;
use crate::sizes::{MAX_WARPS, WARP_NUMBERS};
use crate::{Block, Decode, OPERANDS, REG_BITS, WARP_BITS, field, packed, ports};

/// Registers that an instruction names.
const NAMES: usize = OPERANDS + 1;
/// Width of the states that an instruction leaves: two bits each for two sources and the result.
pub const STATES_BITS: u32 = 6;
/// Width of the straps: `power_straps_t`.
pub const POWER_CFG_BITS: u32 = 10;

/// Fields of `power_event_t`, most significant first.
pub const POWER_EVENT: &[(&str, u32)] =
    &[("on", 14), ("asleep", 14), ("wake_sleep", 8), ("wake_off", 8), ("to_sleep", 4), ("to_off", 4), ("kept", 4)];

/// Fields of `power_wait_event_t`, most significant first.
pub const POWER_WAIT_EVENT: &[(&str, u32)] = &[("wait_wake", 6), ("wait_read", 6)];

ports! {
    /// Inputs of [`PowerStates`].
    pub struct PowerStatesIn(s: &SmShape) {
        /// The head of warp w may issue as far as its results and predicates go.
        clear_i: u64 = field(s.warps),
        /// Warps with living lanes.
        alive_i: u64 = field(s.warps),
        /// Warps of which nothing is in flight.
        idle_i: u64 = field(s.warps),
        /// Roles of the head of each warp.
        head_roles_i: [u64; MAX_WARPS] = packed::<Roles>().count(s.warps).valid_by("clear_i"),
        /// Roles of the instruction that goes to the operand stage.
        set_roles_i: [u64; MAX_PORTS] = packed::<Roles>().count(s.ports()).valid_by("set_valid_i"),
        /// Roles of the instruction that is dispatched.
        read_roles_i: [u64; MAX_PORTS] = packed::<Roles>().count(s.ports()).valid_by("read_valid_i"),
        /// Straps, `power_straps_t`: mode, cycles until a register in SLEEP is ON, and one that is OFF.
        cfg_i: u16 = field(POWER_CFG_BITS),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// An instruction goes to the operand stage.
        set_valid_i: u8 = field(s.ports()),
        /// Warp of the instruction that goes to the operand stage.
        set_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("set_valid_i"),
        /// States that the instruction that goes to the operand stage leaves.
        set_states_i: [u8; MAX_PORTS] = field(STATES_BITS).count(s.ports()).valid_by("set_valid_i"),
        /// An instruction is dispatched: all its sources have been read.
        read_valid_i: u8 = field(s.ports()),
        /// Warp of the instruction that is dispatched.
        read_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("read_valid_i"),
        /// States that the instruction that is dispatched leaves.
        read_states_i: [u8; MAX_PORTS] = field(STATES_BITS).count(s.ports()).valid_by("read_valid_i"),
        /// Bit 3p + s: another instruction of the warp accesses source s of the instruction dispatched on port p.
        read_keep_i: u8 = field((OPERANDS * s.ports()) as u32),
        /// A register has been written, for good.
        reg_valid_i: u8 = field(s.ports()),
        /// Warp whose register has been written.
        reg_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("reg_valid_i"),
        /// Register that has been written.
        reg_i: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("reg_valid_i"),
        /// Another instruction of the warp accesses the register that has been written.
        reg_keep_i: u8 = field(s.ports()),
        /// A warp begins.
        start_valid_i: u8 = field(1),
        /// The warp that begins.
        start_warp_i: u8 = field(WARP_BITS).valid_by("start_valid_i"),
        /// A grid is taken at this edge.
        launch_valid_i: u8 = field(1),
        /// Registers of a thread of the grid.
        launch_registers_i: u8 = field(8).valid_by("launch_valid_i"),
    }
}

ports! {
    /// Outputs of [`PowerStates`].
    pub struct PowerStatesOut(s: &SmShape) {
        /// The head of warp w may issue: also, all its registers are ON, and none of them waits for a change.
        clear_o: u64 = field(s.warps),
        /// Registers and changes of their states: `power_event_t`.
        event_o: u64 = field(56).shown(Decode::Packed(POWER_EVENT)),
        /// Heads that wait: `power_wait_event_t`.
        wait_event_o: u16 = field(12).shown(Decode::Packed(POWER_WAIT_EVENT)),
    }
}

ports! {
    /// State of [`PowerStates`].
    pub struct PowerStatesProbe(s: &SmShape) {
        /// Bit r mod 64 of element 4w + r / 64: register r of warp w is OFF.
        off_q: [u64; WORDS * MAX_WARPS] = field(u64::BITS).count(WORDS * s.warps),
        /// Bit r mod 64 of element 4w + r / 64: register r of warp w is in SLEEP.
        asleep_q: [u64; WORDS * MAX_WARPS] = field(u64::BITS).count(WORDS * s.warps),
        /// Bit r mod 64 of element 4w + r / 64: register r of warp w is ON, an access of it is in progress, and its bits in `off_q` and
        /// `asleep_q` are the state that it takes after that.
        pending_q: [u64; WORDS * MAX_WARPS] = field(u64::BITS).count(WORDS * s.warps),
        /// Cycles until the registers of the head of each warp are ON; 0: no wake-up is in progress.
        wake_q: [u8; MAX_WARPS] = field(4).count(s.warps),
        /// Registers of each warp that are ON.
        on_count_q: [u8; MAX_WARPS] = field(8).count(s.warps),
        /// Registers of each warp that are in SLEEP.
        asleep_count_q: [u8; MAX_WARPS] = field(8).count(s.warps),
        /// Registers of a thread of the grid.
        registers_q: u8 = field(8),
    }
}

/// The straps of the power states: `power_straps_t`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PowerStraps {
    /// Mode: see [`mode`].
    pub mode: u8,
    /// Cycles until a register in SLEEP is ON.
    pub wake_sleep: u8,
    /// Cycles until a register that is OFF is ON.
    pub wake_off: u8,
}

/// Modes.
pub mod mode {
    /// No state changes.
    pub const ALWAYS_ON: u8 = 0;
    /// A register sleeps after each access.
    pub const SLEEP_ALWAYS: u8 = 1;
    /// An access leaves the state that the instruction names.
    pub const HINTS: u8 = 2;
    /// As `HINTS`, but a register stays ON if another instruction in progress accesses it.
    pub const HINTS_AND_TABLE: u8 = 3;
}

impl PowerStraps {
    /// Decodes the straps on the port `cfg_i`.
    #[inline]
    pub fn of(word: u16) -> Self {
        let latency = |low: u32| (word >> low) as u8 & 0xf;
        Self { mode: word as u8 & 3, wake_sleep: latency(2), wake_off: latency(6) }
    }

    /// The straps in the form of the port `cfg_i`.
    #[inline]
    pub fn word(self) -> u16 {
        u16::from(self.mode & 3) | u16::from(self.wake_sleep & 0xf) << 2 | u16::from(self.wake_off & 0xf) << 6
    }
}

/// Registers that an access leaves in a state other than ON: each once, with its slot and its state. A source that is also the result is
/// not among them; `result` is.
#[derive(Clone, Copy, Debug, Default)]
struct Changes {
    sources: [Option<(u8, State)>; OPERANDS],
    result: Option<(u8, State)>,
}

impl Changes {
    /// The changes of an instruction.
    #[inline]
    fn of(mode: u8, roles: Roles, states: u8) -> Self {
        let state = |bits: u8| if mode == mode::SLEEP_ALWAYS { State::Sleep } else { State::of(bits) };
        let not_on = |reg: u8, state: State| (state != State::On).then_some((reg, state));
        let (names, d) = (roles.sources(), roles.d());
        let mut changes = Self::default();
        let mut place = 0;
        for (slot, &reg) in names.iter().enumerate() {
            if reg == NO_REG {
                continue;
            }
            let own = match place {
                0 | 1 => state(states >> (2 * place)),
                _ => State::Sleep,
            };
            place += 1;
            if reg != d && !names[..slot].contains(&reg) {
                changes.sources[slot] = not_on(reg, own);
            }
        }
        if d != NO_REG {
            changes.result = not_on(d, state(states >> 4));
        }
        changes
    }
}

/// The set of the registers whose names are below `n`.
fn below(n: u8) -> Set {
    let mut set = Set::default();
    (0..n).for_each(|r| put(&mut set, r, true));
    set
}

/// An instruction whose accesses begin or end.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// Warp of the instruction.
    pub warp: u8,
    /// Roles of the instruction.
    pub roles: Roles,
    /// The states in which it leaves its registers: bits 52:47 of its control word.
    pub states: u8,
    /// Bit s: another instruction of the warp accesses source s. Used for an instruction that is dispatched.
    pub keep: u8,
}

/// A register that has been written.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    /// Warp of the register.
    pub warp: u8,
    /// Name of the register.
    pub reg: u8,
    /// Another instruction of the warp accesses the register.
    pub keep: bool,
}

/// Events of warps at an edge, besides accesses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Course {
    /// Warps with living lanes.
    pub alive: u64,
    /// Warps of which nothing is in flight.
    pub idle: u64,
    /// The warp that begins.
    pub start: Option<u8>,
    /// Registers of a thread of the grid that is taken.
    pub launch: Option<u8>,
}

/// An access that ends and whose register changes its state, or would.
#[derive(Clone, Copy, Debug, Default)]
struct Ended {
    warp: u8,
    reg: u8,
    kept: bool,
}

/// Accesses that end at an edge: a result and three sources a port.
const MAX_ENDED: usize = NAMES * MAX_PORTS;

/// Decisions about the states in a cycle, for its edge and its events.
#[derive(Clone, Copy, Debug, Default)]
pub struct Changing {
    /// Heads that wait for a wake-up.
    waking: u64,
    /// Waiting heads whose registers are ON after the edge.
    woken: u64,
    /// The accesses that end; only the first `endings` elements are valid.
    ended: [Ended; MAX_ENDED],
    endings: usize,
    /// `power_event_t`.
    pub event: u64,
    /// `power_wait_event_t`.
    pub wait_event: u16,
}

/// The power states of all registers (sharing thesis 4.2.3, 4.2.4).
///
/// The condition for which a head waits is kept, and updated only where the head or a register of its warp has changed. A direct caller reports each
/// new head ([`head`](Self::head)) and calls [`settle`](Self::settle) before it asks ([`clear`](Self::clear), [`changing`](Self::changing)); it ends the cycle
/// with [`advance`](Self::advance).
#[derive(Clone)]
pub struct PowerStates {
    off_q: Box<[Set; WARP_NUMBERS]>,
    asleep_q: Box<[Set; WARP_NUMBERS]>,
    pending_q: Box<[Set; WARP_NUMBERS]>,
    wake_q: [u8; WARP_NUMBERS],
    counts: Counts,
    registers_q: u8,
    /// The heads that [`head`](Self::head) got last.
    roles: Box<[Roles; WARP_NUMBERS]>,
    /// Heads with a register whose state is about to change, and other heads with a register that is not ON; not valid for the warps of `stale`.
    waits_read: u64,
    waits_wake: u64,
    stale: u64,
    /// Used only when the block runs alone: the decisions of the cycle, for its edge.
    decided: Changing,
}

/// The set of all registers: all names except that of no register, whose bits never change.
const ALL: Set = [u64::MAX, u64::MAX, u64::MAX, u64::MAX >> 1];

impl PowerStates {
    /// Reports that warp `w` has a new head.
    #[inline]
    pub fn head(&mut self, w: usize, roles: Roles) {
        self.roles[w] = roles;
        self.stale |= 1 << w;
    }

    /// Updates those heads of `clear` for which something has changed.
    #[inline]
    pub fn settle(&mut self, clear: u64) {
        let changed = self.stale & clear;
        for w in set_bits(changed) {
            let (off, asleep, pending) = (&self.off_q[w], &self.asleep_q[w], &self.pending_q[w]);
            let names = names(self.roles[w]);
            let read = names.iter().any(|&r| has(pending, r));
            let wake = !read && names.iter().any(|&r| has(off, r) || has(asleep, r));
            self.waits_read = self.waits_read & !(1 << w) | u64::from(read) << w;
            self.waits_wake = self.waits_wake & !(1 << w) | u64::from(wake) << w;
        }
        self.stale &= !changed;
    }

    /// The heads of `clear` whose registers are all ON without a pending change. They have been [settled](Self::settle).
    #[inline]
    pub fn clear(&self, straps: PowerStraps, clear: u64) -> u64 {
        debug_assert_eq!(self.stale & clear, 0, "settled");
        if straps.mode == mode::ALWAYS_ON { clear } else { clear & !(self.waits_read | self.waits_wake) }
    }

    /// The changes at the edge, with the instructions that are dispatched and the registers that have been written; the event words.
    #[inline]
    pub fn changing(
        &self,
        straps: PowerStraps,
        clear: u64,
        reads: &[Option<Access>; MAX_PORTS],
        written: &[Option<Written>; MAX_PORTS],
    ) -> Changing {
        debug_assert_eq!(self.stale & clear, 0, "settled");
        let mut changing = Changing::default();
        if straps.mode == mode::ALWAYS_ON {
            return changing;
        }
        let (mut wake_sleep, mut wake_off) = (0, 0);
        changing.waking = clear & self.waits_wake;
        for w in set_bits(changing.waking) {
            if self.wake_cycles(straps, w) == 1 {
                changing.woken |= 1 << w;
                let (sleeping, off) = self.not_on(w);
                (wake_sleep, wake_off) = (wake_sleep + sleeping, wake_off + off);
            }
        }
        for access in reads.iter().flatten() {
            let changes = Changes::of(straps.mode, access.roles, access.states);
            for (slot, (reg, _)) in changes.sources.iter().enumerate().filter_map(|(s, change)| Some((s, (*change)?))) {
                changing.end(straps, access.warp, reg, is_set(access.keep, slot));
            }
        }
        for &Written { warp, reg, keep } in written.iter().flatten() {
            if has(&self.pending_q[usize::from(warp)], reg) {
                changing.end(straps, warp, reg, keep);
            }
        }
        let (mut to_sleep, mut to_off, mut kept) = (0, 0, 0);
        for ended in &changing.ended[..changing.endings] {
            if ended.kept {
                kept += 1;
            } else if has(&self.asleep_q[usize::from(ended.warp)], ended.reg) {
                to_sleep += 1;
            } else {
                to_off += 1;
            }
        }
        let [on, asleep] = self.counts.sums();
        changing.event = pack(POWER_EVENT, [on, asleep, wake_sleep, wake_off, to_sleep, to_off, kept]);
        let waits = [changing.waking.count_ones(), (clear & self.waits_read).count_ones()];
        changing.wait_event = pack(POWER_WAIT_EVENT, waits) as u16;
        changing
    }

    /// Cycles until the registers of the head of `w`, which waits for a wake-up, are ON.
    #[inline]
    fn wake_cycles(&self, straps: PowerStraps, w: usize) -> u8 {
        if self.wake_q[w] != 0 {
            return self.wake_q[w];
        }
        let (off, asleep) = (&self.off_q[w], &self.asleep_q[w]);
        let latency = |r: u8| match (has(off, r), has(asleep, r)) {
            (true, _) => straps.wake_off,
            (_, true) => straps.wake_sleep,
            _ => 0,
        };
        names(self.roles[w]).into_iter().map(latency).fold(1, u8::max)
    }

    /// How many registers of the head of `w` are in SLEEP, and OFF.
    #[inline]
    fn not_on(&self, w: usize) -> (u32, u32) {
        let names = names(self.roles[w]);
        let once = names.iter().enumerate().filter(|&(n, r)| !names[..n].contains(r)).map(|(_, &r)| r);
        once.fold((0, 0), |(sleeping, off), r| {
            (sleeping + u32::from(has(&self.asleep_q[w], r)), off + u32::from(has(&self.off_q[w], r)))
        })
    }

    /// Clock edge: the changes, the instructions that go to the operand stage, and the events of warps.
    #[inline]
    pub fn advance(
        &mut self,
        straps: PowerStraps,
        changing: &Changing,
        sets: &[Option<Access>; MAX_PORTS],
        course: &Course,
    ) {
        if straps.mode != mode::ALWAYS_ON {
            let over = !course.alive & course.idle & self.counts.counted();
            self.wake(straps, changing);
            for &ended in &changing.ended[..changing.endings] {
                self.end(ended);
            }
            for access in sets.iter().flatten() {
                self.begin(straps.mode, access);
            }
            for w in set_bits(over) {
                self.fill(w, 0);
            }
            if let Some(warp) = course.start.filter(|_| straps.mode == mode::SLEEP_ALWAYS) {
                self.fill(warp.into(), self.registers_q);
            }
        }
        if let Some(registers) = course.launch {
            self.registers_q = registers;
        }
    }

    /// Continues wake-ups, and ends some.
    #[inline]
    fn wake(&mut self, straps: PowerStraps, changing: &Changing) {
        for w in set_bits(changing.waking) {
            self.wake_q[w] = self.wake_cycles(straps, w) - 1;
            if is_set(changing.woken, w) {
                let (sleeping, off) = self.not_on(w);
                for r in names(self.roles[w]) {
                    put(&mut self.off_q[w], r, false);
                    put(&mut self.asleep_q[w], r, false);
                }
                let (sleeping, off) = (sleeping as u8, off as u8);
                self.counts.add(w, sleeping.wrapping_add(off), sleeping.wrapping_neg());
                self.stale |= 1 << w;
            }
        }
    }

    /// Ends an access.
    #[inline]
    fn end(&mut self, Ended { warp, reg, kept }: Ended) {
        let w = usize::from(warp);
        put(&mut self.pending_q[w], reg, false);
        if kept {
            put(&mut self.off_q[w], reg, false);
            put(&mut self.asleep_q[w], reg, false);
        } else {
            let sleeps = has(&self.asleep_q[w], reg);
            self.counts.add(w, u8::MAX, sleeps.into());
        }
        self.stale |= 1 << w;
    }

    /// Begins the accesses of an instruction that goes to the operand stage.
    #[inline]
    fn begin(&mut self, mode: u8, access: &Access) {
        let w = usize::from(access.warp);
        let changes = Changes::of(mode, access.roles, access.states);
        for (reg, state) in changes.sources.into_iter().chain([changes.result]).flatten() {
            put(&mut self.pending_q[w], reg, true);
            put(&mut self.off_q[w], reg, state == State::Off);
            put(&mut self.asleep_q[w], reg, state == State::Sleep);
            self.stale |= 1 << w;
        }
    }

    /// Sets the registers of `w` with names below `registers` to SLEEP, and all others to OFF.
    fn fill(&mut self, w: usize, registers: u8) {
        let asleep = below(registers);
        self.off_q[w] = std::array::from_fn(|word| ALL[word] & !asleep[word]);
        (self.asleep_q[w], self.pending_q[w], self.wake_q[w]) = (asleep, Set::default(), 0);
        self.counts.set(w, [0, registers]);
        self.stale |= 1 << w;
    }

    /// Whether nothing changes as long as no access begins or ends: with these heads no wake-up is in progress, and no warp has ended.
    pub fn is_still(&self, straps: PowerStraps, clear: u64, alive: u64, idle: u64) -> bool {
        straps.mode == mode::ALWAYS_ON || clear & self.waits_wake == 0 && !alive & idle & self.counts.counted() == 0
    }

    /// Clock edge in reset.
    pub fn reset(&mut self) {
        *self.off_q = [ALL; WARP_NUMBERS];
        *self.asleep_q = [Set::default(); WARP_NUMBERS];
        *self.pending_q = [Set::default(); WARP_NUMBERS];
        self.wake_q = [0; WARP_NUMBERS];
        self.counts = Counts::NONE;
        self.registers_q = 0;
        self.stale = u64::MAX;
    }
}

impl Changing {
    /// Adds an access of a register that ends.
    #[inline]
    fn end(&mut self, straps: PowerStraps, warp: u8, reg: u8, keep: bool) {
        let kept = keep && straps.mode == mode::HINTS_AND_TABLE;
        self.ended[self.endings] = Ended { warp, reg, kept };
        self.endings += 1;
    }
}

/// The registers that an instruction names; 255 means none, and no bit of it is set.
#[inline]
fn names(roles: Roles) -> [u8; NAMES] {
    let [a, b, c] = roles.sources();
    [a, b, c, roles.d()]
}

/// The instructions on ports of this form.
fn accesses(valid: u8, warps: &[u8], roles: &[u64], states: &[u8], keep: u8) -> [Option<Access>; MAX_PORTS] {
    std::array::from_fn(|p| {
        let keep = keep >> (OPERANDS * p) & 0b111;
        is_set(valid, p).then(|| Access { warp: warps[p], roles: Roles(roles[p]), states: states[p], keep })
    })
}

impl Block for PowerStates {
    const NAME: &'static str = "power_states";
    const PARAMETERS: &'static [&'static str] = &["Warps", "IssuePorts"];

    type Shape = SmShape;
    type In = PowerStatesIn;
    type Out = PowerStatesOut;
    type Probe = PowerStatesProbe;

    fn new(_: &SmShape) -> Self {
        let mut states = Self {
            off_q: Box::new([ALL; WARP_NUMBERS]),
            asleep_q: Box::new([Set::default(); WARP_NUMBERS]),
            pending_q: Box::new([Set::default(); WARP_NUMBERS]),
            wake_q: [0; WARP_NUMBERS],
            counts: Counts::NONE,
            registers_q: 0,
            roles: Box::new([Roles::default(); WARP_NUMBERS]),
            waits_read: 0,
            waits_wake: 0,
            stale: 0,
            decided: Changing::default(),
        };
        states.reset();
        states
    }

    fn early(&self, _: &mut PowerStatesOut) {}

    fn late(&mut self, inputs: &PowerStatesIn, out: &mut PowerStatesOut) {
        for w in set_bits(inputs.clear_i) {
            let roles = Roles(inputs.head_roles_i[w]);
            if self.roles[w] != roles {
                self.head(w, roles);
            }
        }
        self.settle(inputs.clear_i);
        let straps = PowerStraps::of(inputs.cfg_i);
        let (warps, states) = (&inputs.read_warp_i, &inputs.read_states_i);
        let reads = accesses(inputs.read_valid_i, warps, &inputs.read_roles_i, states, inputs.read_keep_i);
        let written = std::array::from_fn(|p| {
            let (warp, reg, keep) = (inputs.reg_warp_i[p], inputs.reg_i[p], is_set(inputs.reg_keep_i, p));
            is_set(inputs.reg_valid_i, p).then_some(Written { warp, reg, keep })
        });
        self.decided = self.changing(straps, inputs.clear_i, &reads, &written);
        out.clear_o = self.clear(straps, inputs.clear_i);
        (out.event_o, out.wait_event_o) = (self.decided.event, self.decided.wait_event);
    }

    fn clock(&mut self, inputs: &PowerStatesIn, _: &PowerStatesOut) {
        if inputs.rst_ni == 0 {
            self.reset();
            return;
        }
        let (warps, states) = (&inputs.set_warp_i, &inputs.set_states_i);
        let sets = accesses(inputs.set_valid_i, warps, &inputs.set_roles_i, states, 0);
        let course = Course {
            alive: inputs.alive_i,
            idle: inputs.idle_i,
            start: (inputs.start_valid_i != 0).then_some(inputs.start_warp_i),
            launch: (inputs.launch_valid_i != 0).then_some(inputs.launch_registers_i),
        };
        let changing = self.decided;
        self.advance(PowerStraps::of(inputs.cfg_i), &changing, &sets, &course);
    }

    fn probe(&self, _: &PowerStatesIn, _: &PowerStatesOut, probe: &mut PowerStatesProbe) {
        let words = WORDS * MAX_WARPS;
        probe.off_q.copy_from_slice(&self.off_q.as_flattened()[..words]);
        // The bit of no register is OFF from reset on.
        probe.off_q.iter_mut().skip(WORDS - 1).step_by(WORDS).for_each(|word| *word |= !ALL[WORDS - 1]);
        probe.asleep_q.copy_from_slice(&self.asleep_q.as_flattened()[..words]);
        probe.pending_q.copy_from_slice(&self.pending_q.as_flattened()[..words]);
        probe.wake_q.copy_from_slice(&self.wake_q[..MAX_WARPS]);
        let [on, asleep] = self.counts.all();
        probe.on_count_q.copy_from_slice(on);
        probe.asleep_count_q.copy_from_slice(asleep);
        probe.registers_q = self.registers_q;
    }
}

#[cfg(test)]
mod tests;
