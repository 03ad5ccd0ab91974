//! `access_table`: registers of the instructions in progress. `docs/blocks/access_table.md`.

use crate::instruction::{NO_PRED, NO_REG, PC_BITS, Roles};
use crate::issue::PRED_BITS;
use crate::mrf::MAX_PORTS;
use crate::mrf::bits::{first_from, is_set, pack, set_bits};
use crate::shape::SmShape;
use crate::sizes::{MAX_WARPS, WARP_NUMBERS};
use crate::{Block, Decode, OPERANDS, Ports, REG_BITS, WARP_BITS, field, packed, ports};

/// Capacity of the twin: entries of a warp.
pub const MAX_TABLE_ENTRIES: usize = 4;
/// Capacity of the twin: entries.
const MAX_PLACES: usize = MAX_TABLE_ENTRIES * MAX_WARPS;

/// Fields of `access_table_event_t`, most significant first.
pub const ACCESS_TABLE_EVENT: &[(&str, u32)] = &[("used", 8), ("full", 2)];

ports! {
    /// Inputs of [`AccessTable`].
    pub struct AccessTableIn(s: &SmShape) {
        /// Roles of the instruction that is decoded.
        push_roles_i: [u64; MAX_PORTS] = packed::<Roles>().count(s.ports()).valid_by("push_valid_i"),
        /// Roles of the instruction that is dispatched.
        read_roles_i: [u64; MAX_PORTS] = packed::<Roles>().count(s.ports()).valid_by("read_valid_i"),
        /// Address of the instruction that is decoded.
        push_pc_i: [u32; MAX_PORTS] = field(PC_BITS).count(s.ports()).valid_by("push_valid_i"),
        /// Address of the instruction that issues.
        issue_pc_i: [u32; MAX_PORTS] = field(PC_BITS).count(s.ports()).valid_by("issue_valid_i"),
        /// Address of the instruction that is dispatched.
        read_pc_i: [u32; MAX_PORTS] = field(PC_BITS).count(s.ports()).valid_by("read_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// An instruction is decoded: it goes into the instruction buffer.
        push_valid_i: u8 = field(s.ports()),
        /// Warp of the instruction that is decoded.
        push_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("push_valid_i"),
        /// An instruction issues.
        issue_valid_i: u8 = field(s.ports()),
        /// Warp of the instruction that issues.
        issue_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("issue_valid_i"),
        /// The instruction that issues goes to the operand stage.
        issue_stays_i: u8 = field(s.ports()).valid_by("issue_valid_i"),
        /// An instruction is dispatched.
        read_valid_i: u8 = field(s.ports()),
        /// Warp of the instruction that is dispatched.
        read_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("read_valid_i"),
        /// A register has been written, for good.
        reg_valid_i: u8 = field(s.ports()),
        /// Warp whose register has been written.
        reg_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("reg_valid_i"),
        /// Register that has been written.
        reg_i: [u8; MAX_PORTS] = field(REG_BITS).count(s.ports()).valid_by("reg_valid_i"),
        /// A predicate has been written.
        pred_valid_i: u8 = field(s.ports()),
        /// Warp whose predicate has been written.
        pred_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("pred_valid_i"),
        /// Predicate that has been written.
        pred_i: [u8; MAX_PORTS] = field(PRED_BITS).count(s.ports()).valid_by("pred_valid_i"),
    }
}

ports! {
    /// Outputs of [`AccessTable`].
    pub struct AccessTableOut(s: &SmShape) {
        /// Entries: `access_table_event_t`.
        event_o: u16 = field(10).shown(Decode::Packed(ACCESS_TABLE_EVENT)),
        /// Bit 3p + s: source s of the instruction dispatched on port p is a register that another instruction accesses.
        read_keep_o: u8 = field((OPERANDS * s.ports()) as u32),
        /// Another instruction accesses the register that port p has written.
        reg_keep_o: u8 = field(s.ports()),
    }
}

ports! {
    /// State of [`AccessTable`].
    pub struct AccessTableProbe(s: &SmShape) {
        /// Address of the instruction in each entry.
        pc_q: [u32; MAX_PLACES] = field(PC_BITS).count(places(s)).valid_by("valid_q"),
        /// An instruction is in the entry.
        valid_q: [u8; MAX_PLACES] = field(1).count(places(s)),
        /// The instruction in the entry has issued.
        issued_q: [u8; MAX_PLACES] = field(1).count(places(s)).valid_by("valid_q"),
        /// Source a of the instruction in each entry; 255: none.
        a_q: [u8; MAX_PLACES] = field(REG_BITS).count(places(s)).valid_by("valid_q"),
        /// Source b of the instruction in each entry; 255: none.
        b_q: [u8; MAX_PLACES] = field(REG_BITS).count(places(s)).valid_by("valid_q"),
        /// Source c of the instruction in each entry; 255: none.
        c_q: [u8; MAX_PLACES] = field(REG_BITS).count(places(s)).valid_by("valid_q"),
        /// Register that the instruction in each entry writes; 255: none.
        d_q: [u8; MAX_PLACES] = field(REG_BITS).count(places(s)).valid_by("valid_q"),
        /// Predicate that the instruction in each entry writes; 7: none.
        p_q: [u8; MAX_PLACES] = field(PRED_BITS).count(places(s)).valid_by("valid_q"),
    }
}

/// Entries of a warp: at least one, so that the block can be run alone in any configuration.
fn entries(s: &SmShape) -> usize {
    s.power_entries.max(1)
}

/// Number of all entries.
fn places(s: &SmShape) -> usize {
    entries(s) * s.warps
}

/// An instruction that enters the table or is dispatched.
#[derive(Clone, Copy, Debug)]
pub struct Tabled {
    /// Warp of the instruction.
    pub warp: u8,
    /// Address of the instruction.
    pub pc: u32,
    /// Roles of the instruction.
    pub roles: Roles,
}

/// An instruction that issues.
#[derive(Clone, Copy, Debug)]
pub struct Leaves {
    /// Warp of the instruction.
    pub warp: u8,
    /// Address of the instruction.
    pub pc: u32,
    /// The instruction goes to the operand stage.
    pub stays: bool,
}

/// Events that one clock edge acts on.
#[derive(Clone, Copy, Debug, Default)]
pub struct PassedBy {
    /// Instructions that are decoded.
    pub pushed: [Option<Tabled>; MAX_PORTS],
    /// Instructions that issue.
    pub issued: [Option<Leaves>; MAX_PORTS],
    /// Instructions that are dispatched.
    pub read: [Option<Tabled>; MAX_PORTS],
    /// Warps whose registers have been written, with these registers.
    pub written: [Option<(u8, u8)>; MAX_PORTS],
    /// Warps whose predicates have been written, with these predicates.
    pub decided: [Option<(u8, u8)>; MAX_PORTS],
}

/// An entry.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    pc: u32,
    names: [u8; OPERANDS + 1],
    p: u8,
}

impl Place {
    #[inline]
    fn d(&self) -> u8 {
        self.names[OPERANDS]
    }

    #[inline]
    fn writes_nothing(&self) -> bool {
        self.d() == NO_REG && self.p == NO_PRED
    }
}

/// For each warp, a few instructions that have been decoded and not yet written back (sharing thesis 4.2.3; 4.2.4, item 6).
///
/// A direct caller asks ([`reads`](Self::reads), [`wrote`](Self::wrote), [`event`](Self::event)) and ends the cycle with
/// [`advance`](Self::advance).
#[derive(Clone)]
pub struct AccessTable {
    /// The set of a warp's entries.
    all: u8,
    /// Entries in use, and those whose instruction has issued: a set for each warp.
    valid_q: [u8; WARP_NUMBERS],
    issued_q: [u8; WARP_NUMBERS],
    place_q: Box<[[Place; MAX_TABLE_ENTRIES]; WARP_NUMBERS]>,
    /// Number of entries in use.
    used: u32,
}

impl AccessTable {
    /// The entries of a set for which `so` holds.
    #[inline]
    fn those(&self, w: usize, set: u8, so: impl Fn(&Place) -> bool) -> u8 {
        set_bits(set).filter(|&e| so(&self.place_q[w][e])).fold(0, |found, e| found | 1 << e)
    }

    /// Whether entries of a set access a register.
    #[inline]
    fn access(&self, w: usize, set: u8, reg: u8) -> bool {
        reg != NO_REG && set_bits(set).any(|e| self.place_q[w][e].names.contains(&reg))
    }

    /// Sources of a dispatched instruction that another instruction of its warp accesses: bit s for source s.
    #[inline]
    pub fn reads(&self, read: &Tabled) -> u8 {
        let w = usize::from(read.warp);
        if self.valid_q[w] == 0 {
            return 0;
        }
        let others = self.those(w, self.valid_q[w], |place| place.pc != read.pc);
        let keep = |(s, &reg): (usize, &u8)| u8::from(self.access(w, others, reg)) << s;
        read.roles.sources().iter().enumerate().map(keep).fold(0, |all, bit| all | bit)
    }

    /// Whether an instruction other than the one that has written a register accesses it.
    #[inline]
    pub fn wrote(&self, warp: u8, reg: u8) -> bool {
        let w = usize::from(warp);
        let valid = self.valid_q[w];
        let writers = self.those(w, valid & self.issued_q[w], |place| place.d() == reg);
        let others = match first_from(writers.into(), 0) {
            Some(writer) => self.those(w, valid, |place| place.pc != self.place_q[w][writer].pc),
            None => valid,
        };
        self.access(w, others, reg)
    }

    /// The outputs for everything that is dispatched and written in a cycle: `read_keep_o` and `reg_keep_o`.
    pub fn keeps(&self, passed: &PassedBy) -> (u8, u8) {
        let read = passed.read.iter().enumerate().filter_map(|(p, read)| Some((p, (*read)?)));
        let written = passed.written.iter().enumerate().filter_map(|(p, written)| Some((p, (*written)?)));
        (
            read.fold(0, |keep, (p, read)| keep | self.reads(&read) << (OPERANDS * p)),
            written.fold(0, |keep, (p, (warp, reg))| keep | u8::from(self.wrote(warp, reg)) << p),
        )
    }

    /// `access_table_event_t` of a cycle in which these instructions are decoded.
    #[inline]
    pub fn event(&self, pushed: &[Option<Tabled>; MAX_PORTS]) -> u16 {
        let full = pushed.iter().flatten().filter(|pushed| self.valid_q[usize::from(pushed.warp)] == self.all);
        pack(ACCESS_TABLE_EVENT, [self.used, full.count() as u32]) as u16
    }

    /// Performs the clock edge.
    #[inline]
    pub fn advance(&mut self, passed: &PassedBy) {
        // All entries are selected by the state before the edge.
        let lowest = |set: u8| set & set.wrapping_neg();
        let taken = passed
            .pushed
            .map(|pushed| pushed.map(|Tabled { warp, .. }| lowest(self.all & !self.valid_q[usize::from(warp)])));
        let issued = passed.issued.map(|issued| {
            issued.map(|Leaves { warp, pc, .. }| {
                let w = usize::from(warp);
                lowest(self.those(w, self.valid_q[w] & !self.issued_q[w], |place| place.pc == pc))
            })
        });
        let in_flight = |w: usize| self.valid_q[w] & self.issued_q[w];
        let read = passed.read.map(|read| {
            let nothing = |read: &Tabled| read.roles.d() == NO_REG && read.roles.p() == NO_PRED;
            read.filter(nothing).map(|Tabled { warp, pc, .. }| {
                let w = usize::from(warp);
                (warp, lowest(self.those(w, in_flight(w), |place| place.pc == pc && place.writes_nothing())))
            })
        });
        let written = passed.written.map(|written| {
            written.map(|(warp, reg)| {
                let w = usize::from(warp);
                (warp, self.those(w, in_flight(w), |place| place.d() == reg))
            })
        });
        let decided = passed.decided.map(|decided| {
            decided.map(|(warp, pred)| {
                let w = usize::from(warp);
                (warp, self.those(w, in_flight(w), |place| place.d() == NO_REG && place.p == pred))
            })
        });
        for (warp, freed) in read.into_iter().chain(written).chain(decided).flatten() {
            self.free(warp.into(), freed);
        }
        for (Leaves { warp, stays, .. }, entry) in passed.issued.iter().zip(issued).filter_map(|(i, e)| (*i).zip(e)) {
            if stays {
                self.issued_q[usize::from(warp)] |= entry;
            } else {
                self.free(warp.into(), entry);
            }
        }
        for (pushed, entry) in passed.pushed.iter().zip(taken).filter_map(|(pushed, entry)| (*pushed).zip(entry)) {
            self.take(&pushed, entry);
        }
    }

    /// Frees entries.
    #[inline]
    fn free(&mut self, w: usize, entries: u8) {
        self.used -= (self.valid_q[w] & entries).count_ones();
        self.valid_q[w] &= !entries;
        self.issued_q[w] &= !entries;
    }

    /// An instruction enters the table; the set has its entry, or is empty.
    #[inline]
    fn take(&mut self, pushed: &Tabled, entry: u8) {
        if entry == 0 {
            return;
        }
        let w = usize::from(pushed.warp);
        self.used += (entry & !self.valid_q[w]).count_ones();
        self.valid_q[w] |= entry;
        self.issued_q[w] &= !entry;
        let [a, b, c] = pushed.roles.sources();
        self.place_q[w][entry.trailing_zeros() as usize] =
            Place { pc: pushed.pc, names: [a, b, c, pushed.roles.d()], p: pushed.roles.p() };
    }

    /// Clock edge in reset.
    pub fn reset(&mut self) {
        (self.valid_q, self.issued_q) = ([0; WARP_NUMBERS], [0; WARP_NUMBERS]);
        self.used = 0;
    }
}

/// The instructions of such ports.
fn tabled(valid: u8, warps: &[u8], pcs: &[u32], roles: &[u64]) -> [Option<Tabled>; MAX_PORTS] {
    std::array::from_fn(|p| is_set(valid, p).then(|| Tabled { warp: warps[p], pc: pcs[p], roles: Roles(roles[p]) }))
}

/// The warps and names of such ports.
fn named(valid: u8, warps: &[u8], names: &[u8]) -> [Option<(u8, u8)>; MAX_PORTS] {
    std::array::from_fn(|p| is_set(valid, p).then(|| (warps[p], names[p])))
}

impl PassedBy {
    fn of(inputs: &AccessTableIn) -> Self {
        Self {
            pushed: tabled(inputs.push_valid_i, &inputs.push_warp_i, &inputs.push_pc_i, &inputs.push_roles_i),
            issued: std::array::from_fn(|p| {
                let (warp, pc, stays) = (inputs.issue_warp_i[p], inputs.issue_pc_i[p], is_set(inputs.issue_stays_i, p));
                is_set(inputs.issue_valid_i, p).then_some(Leaves { warp, pc, stays })
            }),
            read: tabled(inputs.read_valid_i, &inputs.read_warp_i, &inputs.read_pc_i, &inputs.read_roles_i),
            written: named(inputs.reg_valid_i, &inputs.reg_warp_i, &inputs.reg_i),
            decided: named(inputs.pred_valid_i, &inputs.pred_warp_i, &inputs.pred_i),
        }
    }
}

impl Block for AccessTable {
    const NAME: &'static str = "access_table";
    const PARAMETERS: &'static [&'static str] = &["Warps", "IssuePorts", "TableEntries"];

    type Shape = SmShape;
    type In = AccessTableIn;
    type Out = AccessTableOut;
    type Probe = AccessTableProbe;

    fn new(shape: &SmShape) -> Self {
        Self {
            all: (1 << entries(shape)) - 1,
            valid_q: [0; WARP_NUMBERS],
            issued_q: [0; WARP_NUMBERS],
            place_q: Box::new([[Place::default(); MAX_TABLE_ENTRIES]; WARP_NUMBERS]),
            used: 0,
        }
    }

    fn early(&self, _: &mut AccessTableOut) {}

    fn late(&mut self, inputs: &AccessTableIn, out: &mut AccessTableOut) {
        let passed = PassedBy::of(inputs);
        (out.read_keep_o, out.reg_keep_o) = self.keeps(&passed);
        out.event_o = self.event(&passed.pushed);
    }

    fn clock(&mut self, inputs: &AccessTableIn, _: &AccessTableOut) {
        if inputs.rst_ni == 0 {
            self.reset();
        } else {
            self.advance(&PassedBy::of(inputs));
        }
    }

    fn probe(&self, _: &AccessTableIn, _: &AccessTableOut, probe: &mut AccessTableProbe) {
        *probe = AccessTableProbe::zeroed();
        let entries = self.all.count_ones() as usize;
        for w in 0..MAX_WARPS {
            for e in set_bits(self.valid_q[w]) {
                let (place, at) = (&self.place_q[w][e], entries * w + e);
                (probe.valid_q[at], probe.issued_q[at]) = (1, u8::from(is_set(self.issued_q[w], e)));
                [probe.a_q[at], probe.b_q[at], probe.c_q[at], probe.d_q[at]] = place.names;
                (probe.pc_q[at], probe.p_q[at]) = (place.pc, place.p);
            }
        }
    }
}

#[cfg(test)]
mod tests;
