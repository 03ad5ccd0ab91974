//! What programs execute: counts of situations, from a run of the oracle.

mod memory;
mod warp;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use gpurf_isa::modifiers::{Atomic, LoadType, Modifier, Special, StoreType};
use gpurf_isa::{Op, Reg};
use gpurf_oracle::{Issue, Observer};

use super::Limits;
use warp::Warp;

macro_rules! points {
    ($($name:ident $text:literal,)+) => {
        /// A situation that is not one of a family.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        enum Point { $($name,)+ }

        const NAMES: &[&str] = &[$($text,)+];
    };
}

points! {
    Instruction "warp instruction",
    RawNext "read after write, next instruction",
    RawNear "read after write, 2 to 4 instructions",
    WarNear "write after read, up to 4 instructions",
    WawNear "write after write, up to 4 instructions",
    LoadUse "result of a global load read, up to 4 instructions",
    SharedUse "result of shared or constant memory read, up to 4 instructions",
    LoadOverwritten "result of a load overwritten, up to 4 instructions",
    StoreWar "write after a store has read, up to 4 instructions",
    PredicateNext "predicate read after write, next instruction",
    GuardNext "guard read after write, next instruction",
    CarryChain "carry of an addition used by an addition",
    TwoInBank "two sources in a bank",
    ThreeInBank "three sources in a bank",
    RegisterTwice "a register in two sources",
    SourceWritten "a source is the result",
    ThirdNext "third source accessed by the next instruction",
    AccessFar "register accessed after 16 or more instructions",
    ReadByOthers "register read again, by other lanes",
    PartialLost "write to some lanes overwritten after 5 or more instructions, not read",
    LoadAgain "load executed again after up to 12 instructions",
    ZeroRead "RZ read",
    ZeroWritten "RZ written",
    ConstantRead "constant operand",
    GuardSome "guard true in some lanes",
    GuardNone "guard true in no lane",
    GuardedWrite "write under a guard, to some lanes",
    ControlFields "control fields not at rest",
    Splits "branch splits the lanes",
    SplitsOneSided "branch splits the lanes, one side is empty",
    SplitsNowhere "branch splits the lanes, both sides are empty",
    LoopSplits "loop left by some lanes",
    TakenByAll "branch taken by all",
    TakenByNone "branch taken by none",
    Unguarded "branch without guard",
    NoMeeting "branch without meeting point splits",
    Depth2 "2 to 7 groups wait",
    Depth8 "8 to 19 groups wait",
    Depth20 "20 or more groups wait",
    LaneAlone "a lane executes alone",
    PartialWarp "warp of fewer than 32 threads",
    LanesEnd "some lanes end, others go on",
    LanesEndApart "lanes end while others wait on the stack",
    WarpEnds "a warp ends before others of its block",
    EndsLoading "a warp ends after a load whose result is not read",
    BarrierAll "barrier of all warps",
    BarrierCount "barrier of a number of threads",
    BarrierSome "barrier of some warps",
    BarrierRegister "barrier with its number in a register",
    BarrierAfterEnd "barrier in a warp some of whose lanes have ended",
    BarrierPartial "barrier in a warp of fewer than 32 threads",
    SyncAll "WARPSYNC of all lanes",
    SyncSome "WARPSYNC of some lanes",
    Line1 "access of 1 line",
    Line2 "access of 2 lines",
    Line3 "access of 3 to 8 lines",
    Line9 "access of 9 to 16 lines",
    Line17 "access of 17 or more lines",
    StoresMeet "lanes store to one place",
    WholeLine "store to all bytes of a line",
    LoadBypass "load past the data cache",
    Bank1 "shared access of 1 word a bank",
    Bank2 "shared access of 2 words in a bank",
    Bank3 "shared access of 3 to 8 words in a bank",
    Bank9 "shared access of 9 to 16 words in a bank",
    Bank17 "shared access of 17 or more words in a bank",
    Broadcast "shared load of one word by all lanes",
    Constant1 "constant access of 1 word",
    Constant2 "constant access of 2 to 8 words",
    Constant9 "constant access of 9 or more words",
    Aligned8 "access aligned to 8",
    Aligned16 "access aligned to 16",
    OffsetNegative "access with a negative offset",
    GenericGlobal "generic access to global memory",
    GenericShared "generic access to shared memory",
    GenericLocal "generic access to local memory",
    GenericConstant "generic access to constants",
    GenericMixed "generic access to two memories",
    AtomicsMeet "atomic operation of lanes on one word",
    AtomicResult "atomic operation with a result",
    AtomicSilent "atomic operation without a result",
    HighRead "register from R128 on read",
    HighWritten "register from R128 on written",
    TopWritten "register from R192 on written",
    HighBlock "instruction of a block from number 256 on",
    HighAddress "global access from 2 GiB on",
    AcrossHalf "global access on both sides of 2 GiB",
    ShuffleInactive "shuffle from a lane that does not take part",
    ShuffleUp "shuffle up",
    ShuffleDown "shuffle down",
    ShuffleButterfly "shuffle butterfly",
    ShuffleIndex "shuffle by index",
}

/// Memories that points distinguish.
const SPACES: [&str; 4] = ["global", "shared", "local", "constant"];

/// The names of all points, and the index of the first point of each family.
struct Families {
    names: Vec<String>,
    operations: usize,
    specials: usize,
    loads: usize,
    stores: usize,
    atomics: usize,
}

static FAMILIES: LazyLock<Families> = LazyLock::new(|| {
    let mut names: Vec<String> = NAMES.iter().map(|&name| name.to_owned()).collect();
    let operations = names.len();
    names.extend(rows().map(|row| row.mnemonic.to_owned()));
    let specials = names.len();
    names.extend(Special::all().map(|special| format!("S2R.{}", special.suffix(""))));
    let loads = names.len();
    for space in SPACES {
        names.extend(LoadType::all().map(|kind| format!("load {} from {space} memory", kind.suffix(""))));
    }
    let stores = names.len();
    for space in &SPACES[..3] {
        names.extend(StoreType::all().map(|kind| format!("store {} to {space} memory", kind.suffix(""))));
    }
    let atomics = names.len();
    for space in &SPACES[..2] {
        let operations = Atomic::all().map(|operation| operation.suffix("")).chain(["CAS".to_owned()]);
        names.extend(operations.map(|operation| format!("atomic {operation} on {space} memory")));
    }
    Families { names, operations, specials, loads, stores, atomics }
});

/// Operations that the programs of every machine may have: not TRAP, and not RELSSP, which is used only where blocks share scratchpad memory.
fn rows() -> impl Iterator<Item = &'static gpurf_isa::Row> {
    Op::TABLE.iter().filter(|row| !matches!(row.mnemonic, "TRAP" | "RELSSP"))
}

/// The names of all points.
pub static POINTS: LazyLock<Vec<&'static str>> = LazyLock::new(|| FAMILIES.names.iter().map(String::as_str).collect());

/// Least bytes of shared memory with which a warp's part of a half has more than 16 words in each bank: in a smaller part, no access has 17 words in
/// one bank.
const MANY_ROWS: u32 = 16 << 10;

/// The points that can be reached on an SM.
pub fn wanted(limits: &Limits) -> Vec<&'static str> {
    let is_float = |name: &str| {
        let mut floats = Op::TABLE.iter().filter(|row| (0x30..0x40).contains(&row.number));
        floats.any(|row| row.mnemonic == name) || name == "atomic ADD.F32 on shared memory"
    };
    let high = [Point::HighRead, Point::HighWritten].map(|point| NAMES[point as usize]);
    let top = NAMES[Point::TopWritten as usize];
    let fits = |name: &&str| {
        (limits.floats || !is_float(name))
            && (limits.caches || *name != NAMES[Point::LoadBypass as usize])
            && (limits.atomic_results || *name != NAMES[Point::AtomicResult as usize])
            && (limits.registers > 128 || !high.contains(name))
            && (limits.registers > 192 || *name != top)
            && (limits.shared >= MANY_ROWS || *name != NAMES[Point::Bank17 as usize])
    };
    POINTS.iter().copied().filter(fits).collect()
}

/// Counts of what a program executes.
#[derive(Clone, Debug)]
pub struct Coverage {
    counts: Vec<u64>,
    /// The first instruction that counts: those before it set initial values.
    body: u32,
    banks: u32,
    /// The block that is running, and its warps: the oracle runs blocks one after the other.
    block: u64,
    warps: Vec<Option<Box<Warp>>>,
}

impl Coverage {
    /// All counts are 0. Instructions below `body` do not count; bank conflicts are those of a register file with `banks` banks.
    pub fn new(body: u32, banks: u32) -> Self {
        Self { counts: vec![0; POINTS.len()], body, banks, block: 0, warps: Vec::new() }
    }

    /// Points and how often each was reached.
    pub fn counts(&self) -> Vec<(&'static str, u64)> {
        POINTS.iter().copied().zip(self.counts.iter().copied()).collect()
    }

    /// How often a point was reached.
    pub fn get(&self, point: &str) -> u64 {
        POINTS.iter().position(|name| *name == point).map_or(0, |index| self.counts[index])
    }

    /// Quotas that are not met: point, count, quota.
    pub fn missing(&self, quotas: &BTreeMap<String, u64>) -> Vec<(String, u64, u64)> {
        let counted = quotas.iter().map(|(point, quota)| (point.clone(), self.get(point), *quota));
        counted.filter(|(_, count, quota)| count < quota).collect()
    }

    fn hit(&mut self, point: Point) {
        self.counts[point as usize] += 1;
    }

    fn hit_if(&mut self, point: Point, holds: bool) {
        self.counts[point as usize] += u64::from(holds);
    }

    fn hit_family(&mut self, first: usize, index: usize) {
        self.counts[first + index] += 1;
    }

    /// Counts the first of several points whose bound the number does not exceed.
    fn hit_size(&mut self, number: usize, points: &[(usize, Point)]) {
        if let Some((_, point)) = points.iter().find(|(most, _)| number <= *most) {
            self.hit(*point);
        }
    }
}

impl Observer for Coverage {
    const ACTIVE: bool = false;
    const TRACES: bool = true;

    fn issue(&mut self, issue: &Issue<'_>) {
        if issue.warp.block != self.block {
            self.block = issue.warp.block;
            self.warps.clear();
        }
        let index = issue.warp.warp as usize;
        if self.warps.len() <= index {
            self.warps.resize_with(index + 1, || None);
        }
        let mut warp = self.warps[index].take().unwrap_or_else(|| Box::new(Warp::new(issue.living)));
        if issue.pc >= self.body {
            self.hit(Point::Instruction);
            let from = |least: u8| move |register: Reg| register.0 >= least && !register.is_zero();
            let (high, top) = (from(128), from(192));
            self.hit_if(Point::HighRead, issue.instruction.sources().any(|(_, register)| high(register)));
            self.hit_if(Point::HighWritten, issue.instruction.destination().is_some_and(high));
            self.hit_if(Point::TopWritten, issue.instruction.destination().is_some_and(top));
            self.hit_if(Point::HighBlock, issue.warp.block >= 256);
            self.dependences(issue, &warp);
            self.rests(issue, &warp);
            self.operands(issue);
            self.control(issue, &warp);
            self.memory(issue);
        }
        warp.note(issue);
        self.warps[index] = Some(warp);
    }
}
