//! `issue_stage`.

use gpurf_blocks::NoProbe;
use gpurf_blocks::config::Config;
use gpurf_blocks::front::roles;
use gpurf_blocks::instruction::{NO_REG, PC_BITS, Roles, opcode, unit};
use gpurf_blocks::issue::{IssueStage, IssueStageIn, IssueStageOut};
use gpurf_blocks::shape::SmShape;
use gpurf_lockstep::Rng;

use crate::driver::{lane_mask, ports};
use crate::front::instruction;
use crate::{Driver, Points, Unreached, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<IssueStage, IssueStageDriver, IssueStageCover>();

pub(crate) struct IssueStageDriver {
    shape: SmShape,
}

knobs! {
    pub(crate) struct IssueStageKnobs {
        issue: "a port issues" = [200, 900],
        special: "an operation that is known by name" = [200, 900],
        diverged: "some lanes wait on the stack" = [0, 500],
        guarded: "the guard is false in some lanes" = [0, 200, 900],
        stray: "a port issues a warp of any number" = [0, 300],
        probe: "a memory instruction issues as a probe" = [0, 500],
    }
}

/// Opcodes that the block knows: BRA, EXIT, BAR, WARPSYNC, TRAP, and one that no block knows.
const SPECIALS: [u64; 6] = [0x02, 0x03, 0x04, 0x05, 0x07, 0x7f];
/// Opcodes of instructions that may issue as probes.
const LD: u64 = 0x40;
const ST: u64 = 0x41;
const ATOM: u64 = 0x43;
const CAS: u64 = 0x44;

impl Driver for IssueStageDriver {
    type In = IssueStageIn;
    type Knobs = IssueStageKnobs;

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { shape: *shape }
    }

    fn unreached(shape: &SmShape, _: &Config) -> Vec<Unreached> {
        Unreached::warps(&["issue_warp_i"], shape.warps)
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &IssueStageKnobs, inputs: &mut IssueStageIn) {
        let (warps, count) = (self.shape.warps, self.shape.ports());
        inputs.issue_valid_i = ports(rng, count, knobs.issue);
        for p in 0..count {
            // The scheduler gives each port its own half of the warps, on which this block does not rely. The head that issues and one more head are
            // new in each cycle.
            let own = if rng.chance(knobs.stray) {
                rng.below(warps as u64) as usize
            } else {
                (rng.below((warps / count) as u64) * count as u64) as usize + p
            };
            self.head(rng, knobs, own, inputs);
            inputs.issue_warp_i[p] = if inputs.issue_valid_i >> p & 1 == 1 { own as u8 } else { 0 };
            // The guard may leave out a single lane.
            let single = rng.chance(200);
            inputs.guard_i[p] = if single { !(1 << rng.below(32)) } else { lane_mask(rng, knobs.guarded) };
            (inputs.s_i[p], inputs.t_i[p]) = (rng.next_u64() as u32, rng.next_u64() as u32);
        }
        let any = rng.below(warps as u64) as usize;
        self.head(rng, knobs, any, inputs);
    }
}

impl IssueStageDriver {
    /// A new head for a warp.
    fn head(&self, rng: &mut Rng, knobs: &IssueStageKnobs, warp: usize, inputs: &mut IssueStageIn) {
        let (mut op, ctl) = instruction(rng, 50);
        if rng.chance(knobs.special) {
            op = op & !0x7f | SPECIALS[rng.below(SPECIALS.len() as u64) as usize];
        }
        (inputs.head_op_i[warp], inputs.head_ctl_i[warp], inputs.head_roles_i[warp]) = (op, ctl, roles(op, ctl).0);
        let accesses = matches!(op & 0x7f, LD | ST | ATOM | CAS);
        let probe = u64::from(accesses && rng.chance(knobs.probe)) << warp;
        inputs.probe_i = inputs.probe_i & !(1 << warp) | probe;
        inputs.head_pc_i[warp] = rng.below(1 << PC_BITS) as u32;
        inputs.live_i[warp] = lane_mask(rng, 500);
        inputs.mask_i[warp] = inputs.live_i[warp] & lane_mask(rng, knobs.diverged);
    }
}

pub(crate) struct IssueStageCover {
    shape: SmShape,
}

#[cover]
impl IssueStageCover {
    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { shape: *shape }
    }

    fn observe(&mut self, i: &IssueStageIn, o: &IssueStageOut, _: &NoProbe<SmShape>, points: &mut Points) {
        point!("nothing issues", i.issue_valid_i == 0);
        #[given(self.shape.ports() == 2)]
        {
            point!("two issue", i.issue_valid_i == 3);
            point!("port 1 alone", i.issue_valid_i == 2);
            point!("two faults", o.fault_valid_o == 3);
        }

        for p in 0..self.shape.ports() {
            let valid = i.issue_valid_i >> p & 1 == 1;
            point!("head of warp 0 while nothing issues", !valid && o.read_guard_o[p] != 0);
            if !valid {
                continue;
            }
            let w = usize::from(i.issue_warp_i[p]);
            let (roles, name, exec) = (Roles(i.head_roles_i[w]), opcode(i.head_op_i[w]), o.exec_o[p]);
            let (mask, live) = (i.mask_i[w], i.live_i[w]);
            let fault = o.fault_valid_o >> p & 1 == 1;
            let unsupported = roles.unit() == unit::UNSUPPORTED;
            point!("to an ALU", roles.unit() == unit::ALU && exec != 0);
            point!("to the memory pipeline", roles.unit() == unit::MEMORY && exec != 0);
            point!("to a single precision unit", roles.unit() == unit::FP && exec != 0);
            point!("to the special function unit", roles.unit() == unit::SFU && exec != 0);
            point!("to the constant unit", roles.unit() == unit::CONSTANT && exec != 0);
            point!("to the barrier unit: held", o.hold_valid_o >> p & 1 == 1);
            point!("without lanes", exec == 0 && matches!(roles.unit(), unit::ALU | unit::MEMORY));
            point!("barrier without lanes", exec == 0 && roles.unit() == unit::BARRIER);
            point!("WARPSYNC", name == 0x05 && exec != 0);
            point!("branch", name == 0x02 && exec != 0);
            point!("branch without lanes", name == 0x02 && exec == 0);
            point!("exit", name == 0x03 && exec != 0);
            point!("nothing to do", roles.unit() == unit::NOTHING);
            point!("guard leaves lanes out", exec != mask && exec != 0);
            point!("lanes wait on the stack", mask != live && exec != 0);
            point!("fault: operation that does not exist", unsupported && exec != 0);
            point!("fault: likewise, without lanes", unsupported && exec == 0);
            point!("fault: TRAP", name == 0x07 && fault);
            point!("TRAP without lanes", name == 0x07 && !fault);
            point!("fault: BAR, lanes on the stack", name == 0x04 && fault && exec == mask);
            point!("fault: BAR, guard false", name == 0x04 && fault && mask == live);
            point!("stop", o.stop_o >> p & 1 == 1);
            let probe = i.probe_i >> w & 1 == 1;
            let named = |opcode: u64| probe && exec != 0 && i.head_op_i[w] & 0x7f == opcode;
            point!("a probe of a load", named(LD) && roles.d() != NO_REG);
            point!("a probe of a store", named(ST) && roles.c() != NO_REG);
            point!("a probe of an atomic operation", named(ATOM) && roles.d() != NO_REG && roles.c() != NO_REG);
            point!("a probe of a compare and swap", named(CAS) && roles.d() != NO_REG && roles.b() != NO_REG);
            point!("a probe without lanes", probe && exec == 0);
            point!("a memory instruction that is no probe", !probe && exec != 0 && roles.unit() == unit::MEMORY);
            point!("last warp", w == self.shape.warps - 1);
        }
    }
}
