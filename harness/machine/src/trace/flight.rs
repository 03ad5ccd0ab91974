//! An instruction in flight.

use std::fmt;
use std::sync::Arc;

use gpurf_blocks::instruction::Roles;
use gpurf_oracle::WarpId;

/// The stage of an instruction, or what it waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// The code memory is read.
    Fetch,
    /// It is decoded.
    Decode,
    /// An older instruction of its warp has to issue first.
    Older,
    /// A register or predicate is pending.
    Scoreboard,
    /// A place of a level above the main register file is pending.
    Levels,
    /// A register has to wake up.
    Power,
    /// Another block holds a shared resource.
    Lock,
    /// The warp is not in an active slot.
    Inactive,
    /// The operand stage does not take an instruction.
    Collector,
    /// It may issue, but another warp issues.
    Turn,
    /// It may issue, but no warp of its port does.
    Other,
    /// It issues.
    Issue,
    /// Its operands are read.
    Operands,
    /// It has its operands, but its unit does not take it.
    Unit,
    /// It goes to its unit.
    Dispatch,
    /// It is in its unit, or its result waits for a bus.
    Execute,
    /// The memory pipeline forms its accesses.
    Access,
    /// Its accesses are performed.
    Memory,
    /// Its result goes into the register file.
    Write,
    /// It is at a barrier that is closed.
    Barrier,
}

impl Stage {
    /// Its name in a trace; that of a wait begins with `wait: `.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fetch => "fetch",
            Self::Decode => "decode",
            Self::Older => "wait: older instruction",
            Self::Scoreboard => "wait: scoreboard",
            Self::Levels => "wait: register levels",
            Self::Power => "wait: power state",
            Self::Lock => "wait: lock",
            Self::Inactive => "wait: not active",
            Self::Collector => "wait: collectors full",
            Self::Turn => "wait: another warp issues",
            Self::Other => "wait: other",
            Self::Issue => "issue",
            Self::Operands => "operands",
            Self::Unit => "wait: unit busy",
            Self::Dispatch => "dispatch",
            Self::Execute => "execute",
            Self::Access => "access",
            Self::Memory => "wait: memory",
            Self::Write => "write",
            Self::Barrier => "wait: barrier",
        }
    }

    /// Its short name for Konata, which has little room: lower case if it is a wait.
    pub const fn short(self) -> &'static str {
        match self {
            Self::Fetch => "F",
            Self::Decode => "D",
            Self::Older => "o",
            Self::Scoreboard => "s",
            Self::Levels => "l",
            Self::Power => "p",
            Self::Lock => "k",
            Self::Inactive => "i",
            Self::Collector => "c",
            Self::Turn => "t",
            Self::Other => "x",
            Self::Issue => "I",
            Self::Operands => "O",
            Self::Unit => "u",
            Self::Dispatch => "P",
            Self::Execute => "X",
            Self::Access => "A",
            Self::Memory => "m",
            Self::Write => "W",
            Self::Barrier => "b",
        }
    }

    /// Whether it is a wait.
    pub fn is_wait(self) -> bool {
        self.name().starts_with("wait: ")
    }

    /// Its category in a trace.
    pub fn category(self) -> &'static str {
        if self.is_wait() { "wait" } else { "stage" }
    }
}

/// A stage of an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The stage.
    pub stage: Stage,
    /// First cycle of the stage; it lasts until the next step begins.
    pub from: u64,
    /// What it waits for, if more is known than the stage says.
    pub detail: Option<String>,
}

/// Source information of an instruction.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Text {
    /// The kernel.
    pub kernel: String,
    /// The instruction's text.
    pub instruction: String,
    /// File and line of the PTX, where they are known.
    pub ptx: Option<String>,
    /// File and line of the CUDA source, where they are known.
    pub cuda: Option<String>,
}

/// A property of an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fact {
    /// A number.
    Number(u64),
    /// Any other value: a run has few different ones.
    Text(String),
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

/// An instruction of a warp, from its fetch on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Flight {
    /// In the order of fetch, from 0.
    pub id: u64,
    /// Warp slot of the SM.
    pub slot: u8,
    /// Block and warp, where they are known.
    pub warp: Option<WarpId>,
    /// The block's coordinates.
    pub block: [u64; 3],
    /// Its address.
    pub pc: u32,
    /// Registers and predicates.
    pub roles: Roles,
    /// Its operation.
    pub opcode: u8,
    /// What is known of it.
    pub text: Arc<Text>,
    /// Lanes that execute it; `None` before it issues.
    pub mask: Option<u32>,
    /// It is not an instruction, but an access that an instruction makes first to find out whether it needs a lock.
    pub probe: bool,
    /// Its stages so far.
    pub steps: Vec<Step>,
    /// The register file has taken its whole result.
    pub(super) taken: bool,
    /// Number of steps that the sink has seen.
    pub(super) shown: usize,
}

impl Flight {
    /// The current stage.
    pub fn stage(&self) -> Option<Stage> {
        self.steps.last().map(|step| step.stage)
    }

    /// Enters a stage in cycle `from`. A stage that lasts for no cycle is removed.
    pub(super) fn enter(&mut self, stage: Stage, from: u64, detail: impl FnOnce() -> Option<String>) {
        if self.stage() == Some(stage) {
            return;
        }
        if self.shown < self.steps.len() && self.steps.last().is_some_and(|last| last.from >= from) {
            self.steps.pop();
            if self.stage() == Some(stage) {
                return;
            }
        }
        self.steps.push(Step { stage, from, detail: detail() });
    }

    /// Whether it has left the instruction buffer.
    pub(super) fn has_issued(&self) -> bool {
        self.mask.is_some()
    }

    /// Whether its unit has taken it.
    pub(super) fn is_performed(&self) -> bool {
        matches!(self.stage(), Some(Stage::Execute | Stage::Access | Stage::Memory | Stage::Write))
    }

    /// Whether it writes this register.
    pub(super) fn gives(&self, register: u8) -> bool {
        self.is_performed() && !self.taken && self.roles.d() == register
    }

    /// Its category in a trace.
    pub fn category(&self) -> &'static str {
        if self.probe { "probe" } else { "instruction" }
    }

    /// Its properties by name; `finished` is false if the trace ends before it does.
    pub fn facts(&self, finished: bool) -> Vec<(&'static str, Fact)> {
        let [x, y, z] = self.block;
        let mut facts = vec![("pc", Fact::Number(self.pc.into()))];
        if let Some(warp) = self.warp {
            facts.push(("block", Fact::Text(format!("({x}, {y}, {z})"))));
            facts.push(("warp", Fact::Number(warp.warp.into())));
        }
        facts.push(("slot", Fact::Number(self.slot.into())));
        if let Some(mask) = self.mask {
            facts.push(("mask", Fact::Text(format!("{mask:#010x}"))));
        }
        facts.push(("kernel", Fact::Text(self.text.kernel.clone())));
        let places = [("ptx", &self.text.ptx), ("cuda", &self.text.cuda)];
        facts.extend(places.into_iter().filter_map(|(name, place)| Some((name, Fact::Text(place.clone()?)))));
        if !finished {
            facts.push(("unfinished", Fact::Text("true".to_owned())));
        }
        facts
    }

    /// Its stages, each with the first cycle and the one after the last; the instruction ends in front of `end`.
    pub fn spans(&self, end: u64) -> impl Iterator<Item = (&Step, u64)> {
        let next = move |index: usize| self.steps.get(index + 1).map_or(end, |step| step.from);
        self.steps.iter().enumerate().map(move |(index, step)| (step, next(index).min(end)))
    }
}
