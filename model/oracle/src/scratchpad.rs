//! Judges the compiler's part of scratchpad sharing by what threads do (`docs/scratchpad-compiler.md`).
//!
//! The compiler proves on the control-flow graph that no thread accesses the shared part of shared memory after its `RELSSP`, and that accesses with
//! the private mark stay in the private part. This judge does not use the graph: it records which threads have released, and checks the addresses of
//! all accesses.
//!
//! A judge is an [`Observer`] of one launch ([`crate::Oracle::run_observed`]).

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use gpurf_isa::modifiers::{AtomicSpace, Space};
use gpurf_isa::{Op, Slots};

use crate::commit::{Issue, Observer, WarpId};
use crate::execute::{Target, load_bytes, store_bytes};
use crate::lanes::{Mask, lanes_of};

/// Whether threads may end without a release.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// Each thread executes `RELSSP` once, if the code has one or a thread accesses the shared part (sharing thesis 3.2.3).
    EveryThread,
    /// A thread that has ended counts as one that has released, as in hardware.
    MayEnd,
}

/// The bytes of shared memory that belong to a variable: from its first byte up to the one after its last. Dynamic memory has no end.
pub type Bytes = Range<u64>;

/// What is wrong.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Wrong {
    /// The shared part is accessed after the release.
    AfterRelease,
    /// A thread releases a second time.
    Twice,
    /// A thread ends without a release.
    Missing,
    /// An access that is marked private touches the shared part.
    FalseMark,
    /// An access touches variables other than those declared for it.
    Outside,
}

/// A violation of the rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScratchpadFault {
    /// What is wrong.
    pub wrong: Wrong,
    /// The instruction.
    pub pc: u32,
    /// The lanes.
    pub lanes: Mask,
    /// The warp.
    pub warp: WarpId,
}

impl fmt::Display for ScratchpadFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wrong, pc, lanes, warp: WarpId { block, warp } } = self;
        write!(f, "block {block}, warp {warp}, instruction {pc}, lanes {lanes:08x}: {wrong:?}")
    }
}

/// Counts of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ScratchpadCounts {
    /// Accesses of lanes to shared memory.
    pub accesses: u64,
    /// Those accesses that touch the shared part.
    pub shared: u64,
    /// Those accesses that have a private mark.
    pub marked: u64,
    /// Threads that have released.
    pub released: u64,
    /// Instructions that threads execute after their first access of the shared part, up to their release or end.
    pub held: u64,
}

/// The threads of a warp.
#[derive(Clone, Copy, Debug, Default)]
struct Warp {
    /// Those that have released.
    released: Mask,
    /// Those that have accessed the shared part.
    touched: Mask,
}

/// Watches a launch.
#[derive(Debug)]
pub struct ScratchpadJudge {
    /// Bytes of the private part.
    private: u64,
    rule: Rule,
    /// The variables that each instruction may access; `None` if this is not checked.
    variables: Option<HashMap<u32, Vec<Bytes>>>,
    /// The block that runs; blocks run one after the other.
    block: u64,
    warps: HashMap<u32, Warp>,
    /// Whether the shared part has been accessed or released by any thread.
    used: bool,
    faults: Vec<ScratchpadFault>,
    /// Threads that ended without a release: faults once the shared part turns out to be used.
    missing: Vec<ScratchpadFault>,
    counts: ScratchpadCounts,
}

impl ScratchpadJudge {
    /// Number of faults that are kept in each list: the first ones.
    const KEPT: usize = 100;

    /// A judge of a launch of a kernel whose private part has this many bytes.
    pub fn new(private_bytes: u32, rule: Rule) -> Self {
        Self {
            private: private_bytes.into(),
            rule,
            variables: None,
            block: 0,
            warps: HashMap::new(),
            used: false,
            faults: Vec::new(),
            missing: Vec::new(),
            counts: ScratchpadCounts::default(),
        }
    }

    /// Also checks which variables in shared memory each instruction accesses. An instruction that is not in the map may access none.
    #[must_use]
    pub fn with_variables(mut self, variables: HashMap<u32, Vec<Bytes>>) -> Self {
        self.variables = Some(variables);
        self
    }

    /// Ends the launch: returns at most the first hundred missing releases and the first hundred other faults, and the counts.
    pub fn finish(mut self) -> (Vec<ScratchpadFault>, ScratchpadCounts) {
        if self.used && self.rule == Rule::EveryThread {
            self.faults.append(&mut self.missing);
        }
        (self.faults, self.counts)
    }

    fn complain(&mut self, wrong: Wrong, at: &Issue<'_>, lanes: Mask) {
        let list = if wrong == Wrong::Missing { &mut self.missing } else { &mut self.faults };
        if lanes != 0 && list.len() < Self::KEPT {
            list.push(ScratchpadFault { wrong, pc: at.pc, lanes, warp: at.warp });
        }
    }

    /// Checks the bytes that the lanes of an access touch in shared memory.
    fn access(&mut self, at: &Issue<'_>, space: Space, bytes: u64) {
        let (mut touched, mut outside): (Mask, Mask) = (0, 0);
        for lane in lanes_of(at.mask) {
            let Some(address) = shared_address(at, space, lane) else { continue };
            let behind = u64::from(address) + bytes;
            self.counts.accesses += 1;
            self.counts.marked += u64::from(at.instruction.control.private);
            if behind > self.private {
                touched |= 1 << lane;
            }
            if let Some(variables) = &self.variables {
                let inside = |b: &Bytes| b.start <= address.into() && behind <= b.end;
                let known = variables.get(&at.pc).is_some_and(|list| list.iter().any(inside));
                outside |= u32::from(!known) << lane;
            }
        }
        self.counts.shared += u64::from(touched.count_ones());
        self.used |= touched != 0;
        let warp = self.warps.entry(at.warp.warp).or_default();
        warp.touched |= touched;
        let late = touched & warp.released;
        self.complain(Wrong::AfterRelease, at, late);
        self.complain(Wrong::Outside, at, outside);
        if at.instruction.control.private {
            self.complain(Wrong::FalseMark, at, touched);
        }
    }

    fn release(&mut self, at: &Issue<'_>) {
        self.used = true;
        let warp = self.warps.entry(at.warp.warp).or_default();
        let again = warp.released & at.mask;
        self.counts.released += u64::from((at.mask & !warp.released).count_ones());
        warp.released |= at.mask;
        self.complain(Wrong::Twice, at, again);
    }
}

/// The address of a lane in shared memory, if its access goes there.
fn shared_address(at: &Issue<'_>, space: Space, lane: usize) -> Option<u32> {
    let low = at.sources[0].0[lane];
    let offset = at.instruction.offset.bytes();
    // Addresses of CAS have no upper word, and are never in a window.
    let has_upper = at.instruction.op.slots().has(Slots::PAIR);
    let address = match space {
        Space::Generic if has_upper => {
            (u64::from(at.sources[1].0[lane]) << 32 | u64::from(low)).wrapping_add(offset as u64)
        }
        Space::Generic => u64::from(low).wrapping_add(offset as u64),
        _ => low.wrapping_add(offset as u32).into(),
    };
    match Target::of(space, address) {
        Target::Shared(address) => Some(address),
        _ => None,
    }
}

const fn space_of(space: AtomicSpace) -> Space {
    match space {
        AtomicSpace::Global => Space::Global,
        AtomicSpace::Shared => Space::Shared,
        AtomicSpace::Generic => Space::Generic,
    }
}

impl Observer for ScratchpadJudge {
    const TRACES: bool = true;

    fn issue(&mut self, at: &Issue<'_>) {
        if at.warp.block != self.block {
            self.block = at.warp.block;
            self.warps.clear();
        }
        let warp = self.warps.get(&at.warp.warp).copied().unwrap_or_default();
        self.counts.held += u64::from((at.active & warp.touched & !warp.released).count_ones());
        match at.instruction.op {
            Op::Ld { space, kind, .. } => self.access(at, space, load_bytes(kind).into()),
            Op::St { space, kind, .. } => self.access(at, space, store_bytes(kind).into()),
            Op::Atom { space, .. } | Op::Cas { space } => self.access(at, space_of(space), 4),
            Op::Relssp {} => self.release(at),
            Op::Exit {} => self.complain(Wrong::Missing, at, at.mask & !warp.released),
            _ => {}
        }
    }
}

/// A variable in shared memory, with the place that a compiler chose.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placed {
    /// Its first byte.
    pub at: u32,
    /// Its size; `None` for dynamic memory.
    pub bytes: Option<u32>,
    /// Its alignment.
    pub align: u32,
}

/// Describes the first error in a layout of a block's variables in `static_shared` bytes of static shared memory: variables that overlap, are
/// misaligned or lie outside. `None` if there is no error.
pub fn overlaps(variables: &[Placed], static_shared: u32) -> Option<String> {
    for (i, v) in variables.iter().enumerate() {
        if v.at % v.align != 0 {
            return Some(format!("variable {i} is misaligned"));
        }
        let Some(bytes) = v.bytes else {
            if v.at < static_shared {
                return Some(format!("dynamic memory {i} begins within static memory"));
            }
            continue;
        };
        if v.at + bytes > static_shared {
            return Some(format!("variable {i} ends beyond static memory"));
        }
        for (k, w) in variables[..i].iter().enumerate() {
            if w.bytes.is_some_and(|other| v.at < w.at + other && w.at < v.at + bytes) {
                return Some(format!("variables {k} and {i} overlap"));
            }
        }
    }
    None
}
