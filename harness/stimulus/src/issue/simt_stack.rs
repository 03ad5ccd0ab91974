//! `simt_stack`.

use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::NO_PC;
use gpurf_blocks::issue::{Kind, SimtStack, SimtStackIn, SimtStackOut, SimtStackProbe};
use gpurf_blocks::shape::SmShape;
use gpurf_blocks::{Block, Ports};
use gpurf_lockstep::Rng;

use crate::driver::{Reset, alias, any_bit, lane_mask};
use crate::{Driver, Points, Unreached, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<SimtStack, SimtStackDriver, SimtStackCover>();

pub(crate) struct SimtStackDriver {
    shape: SmShape,
    reset: Reset,
    /// Follows the inputs, to know which groups there are and which warps may issue.
    twin: SimtStack,
    out: SimtStackOut,
    probe: SimtStackProbe,
}

knobs! {
    pub(crate) struct SimtStackKnobs {
        start: "a warp begins" = [100, 500],
        issue: "a port issues" = [300, 900, 1000],
        branch: "a branch" = [200, 500, 950],
        exit: "an exit, if it is no branch" = [0, 400, 900],
        one: "one lane jumps or ends" = [0, 200, 950],
        uniform: "all lanes of the group do, or none" = [0, 200, 900],
        away: "addresses are all over the place" = [0, 300, 1000],
        join: "the instruction stands before the reconvergence point" = [50, 300, 800],
        few: "the warp is one of the first three" = [0, 500, 1000],
        meet: "addresses of a branch are those of each other" = [0, 900, 900],
        deep: "a branch that one lane takes, with a join of its own" = [0, 0, 980],
        wither: "the group ends" = [0, 50, 500],
        reset,
    }
}

impl Driver for SimtStackDriver {
    type In = SimtStackIn;
    type Knobs = SimtStackKnobs;

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self {
            shape: *shape,
            reset: Reset::default(),
            twin: SimtStack::new(shape),
            out: SimtStackOut::zeroed(),
            probe: SimtStackProbe::zeroed(),
        }
    }

    fn unreached(shape: &SmShape, _: &Config) -> Vec<Unreached> {
        Unreached::warps(&["start_warp_i", "issue_warp_i"], shape.warps)
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &SimtStackKnobs, inputs: &mut SimtStackIn) {
        self.twin.early(&mut self.out);
        self.twin.probe(inputs, &self.out, &mut self.probe);
        // A group is rarely read from the stack, so a reset that ignores this state could be missed.
        let under_way = self.probe.pop_q != 0 || self.probe.read_valid_q == 1;
        inputs.rst_ni = self.reset.next(rng, knobs.reset * if under_way { 16 } else { 1 });

        let all = self.shape.all_warps();
        let dead = pick(rng, knobs, all & !self.out.alive_o);
        inputs.start_warp_i = dead.unwrap_or_default();
        inputs.start_valid_i = (dead.is_some() && rng.chance(knobs.start)).into();
        inputs.start_mask_i = lane_mask(rng, 300).max(1);

        // Warps with a group that executes; not those whose group is being read from the stack.
        let reading = u64::from(self.probe.read_valid_q) << self.probe.read_warp_q;
        let mut may = self.out.alive_o & !self.probe.pop_q & !reading;
        let mut branches = true;
        (inputs.issue_valid_i, inputs.issue_stop_i) = (0, 0);
        for p in 0..self.shape.ports() {
            let chosen = pick(rng, knobs, may);
            let warp = chosen.unwrap_or_default();
            self.instruction(rng, knobs, p, warp, inputs);
            // At most one branch or exit in a cycle.
            if !branches {
                inputs.issue_kind_i[p] = Kind::Other as u8;
            }
            if chosen.is_some() && rng.chance(knobs.issue) {
                may &= !(1 << warp);
                branches &= inputs.issue_kind_i[p] == Kind::Other as u8;
                inputs.issue_valid_i |= 1 << p;
                inputs.issue_stop_i |= u8::from(rng.chance(500)) << p;
            }
        }
        self.twin.late(inputs, &mut self.out);
        self.twin.clock(inputs, &self.out);
    }
}

impl SimtStackDriver {
    /// The instruction that port p issues of a warp, if it issues. Its addresses never have the value that stands for none.
    fn instruction(&self, rng: &mut Rng, knobs: &SimtStackKnobs, p: usize, warp: u8, inputs: &mut SimtStackIn) {
        if rng.chance(knobs.deep) {
            return self.deep(rng, p, warp, inputs);
        }
        let (mask, own) = (self.out.mask_o[usize::from(warp)], self.out.reconvergence_o[usize::from(warp)]);
        let address = |rng: &mut Rng| {
            let range = if rng.chance(knobs.away) { u64::from(NO_PC) - 1 } else { 8 };
            rng.below(range) as u32
        };
        let withers = rng.chance(knobs.wither);
        let kind = if withers {
            Kind::Exit
        } else if rng.chance(knobs.branch) {
            Kind::Branch
        } else if rng.chance(knobs.exit) {
            Kind::Exit
        } else {
            Kind::Other
        };
        // Never the value that stands for no address.
        let near = |rng: &mut Rng, address: u32| alias(rng, address.into(), u64::from(NO_PC)) as u32;
        let (joins, aliases) = (rng.chance(knobs.join), rng.chance(200));
        let pc = match own {
            NO_PC | 0 => address(rng),
            _ if joins => own - 1,
            _ if aliases => near(rng, own).saturating_sub(1),
            _ => address(rng),
        };
        let exec = if withers {
            mask
        } else if rng.chance(knobs.uniform) {
            if rng.chance(700) { mask } else { 0 }
        } else if rng.chance(knobs.one) {
            lane_of(rng, mask)
        } else {
            mask & rng.next_u64() as u32
        };
        let (mut target, mut join) = (address(rng), address(rng));
        let own_or_away = if own == NO_PC { target } else { own };
        match rng.below(6) {
            _ if aliases => match rng.below(4) {
                0 => join = near(rng, pc + 1),
                1 => join = near(rng, target),
                2 => (target, join) = (near(rng, pc + 1), pc + 1),
                _ => join = near(rng, own_or_away),
            },
            _ if !rng.chance(knobs.meet) => join = if rng.chance(200) { NO_PC } else { join },
            0 => (target, join) = (pc + 1, pc + 1),
            1 => (target, join) = (own_or_away, own),
            2 => join = pc + 1,
            3 => join = target,
            4 => join = own,
            _ => target = pc + 1,
        }
        (inputs.issue_warp_i[p], inputs.issue_pc_i[p], inputs.issue_kind_i[p]) = (warp, pc, kind as u8);
        (inputs.issue_mask_i[p], inputs.issue_target_i[p], inputs.issue_join_i[p]) = (exec, target, join);
    }

    /// The branch that makes a stack deepest: one lane jumps, and all of its addresses are new to the warp. A group of one lane waits, and a warp
    /// that has lost lanes ends, so that it begins with all lanes again.
    fn deep(&self, rng: &mut Rng, p: usize, warp: u8, inputs: &mut SimtStackIn) {
        let (mask, live) = (self.out.mask_o[usize::from(warp)], self.out.live_o[usize::from(warp)]);
        let depth = self.probe.depth_q[usize::from(warp)];
        let single = mask.is_power_of_two();
        let kind = match single {
            false => Kind::Branch,
            true if depth < DEEP_ENOUGH || live != u32::MAX => Kind::Exit,
            true => Kind::Other,
        };
        let address = |rng: &mut Rng| FRESH + rng.below(1 << 18) as u32;
        (inputs.issue_warp_i[p], inputs.issue_pc_i[p], inputs.issue_kind_i[p]) = (warp, address(rng), kind as u8);
        inputs.issue_mask_i[p] = if single { mask } else { lane_of(rng, mask) };
        (inputs.issue_target_i[p], inputs.issue_join_i[p]) = (address(rng), address(rng));
    }
}

/// Addresses from here on are used once.
const FRESH: u32 = 1 << 19;
/// Depth of a stack, out of its 62 places, if all of its branches but one had joins of their own.
const DEEP_ENOUGH: u8 = 61;

/// A warp of a set, often one of the first three.
fn pick(rng: &mut Rng, knobs: &SimtStackKnobs, set: u64) -> Option<u8> {
    let few = set & FIRST;
    let set = if few != 0 && rng.chance(knobs.few) { few } else { set };
    any_bit(rng, set).map(|warp| warp as u8)
}

/// The first three warps.
const FIRST: u64 = 0b111;

/// One of the lanes of a mask; no lane if the mask is empty.
fn lane_of(rng: &mut Rng, mask: u32) -> u32 {
    let from = rng.below(32) as u32;
    let turned = mask.rotate_right(from);
    (turned & turned.wrapping_neg()).rotate_left(from)
}

pub(crate) struct SimtStackCover {
    shape: SmShape,
}

#[cover]
impl SimtStackCover {
    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { shape: *shape }
    }

    fn observe(&mut self, i: &SimtStackIn, o: &SimtStackOut, q: &SimtStackProbe, points: &mut Points) {
        let (warps, ports) = (self.shape.warps, self.shape.ports());
        let running = i.rst_ni == 1;
        let returns = o.resume_valid_o >> ports & 1 == 1;
        let passed = q.read_valid_q == 1 && !returns;
        let served = (q.pop_q != 0).then(|| q.pop_q.trailing_zeros() as usize);
        let (mut split, mut pushed_banks, mut give_way, mut issued) = (false, [false; 2], 0, 0);
        for p in (0..ports).filter(|p| i.issue_valid_i >> p & 1 == 1) {
            issued += 1;
            let w = usize::from(i.issue_warp_i[p]);
            let (mask, live, own, depth) = (o.mask_o[w], o.live_o[w], o.reconvergence_o[w], q.depth_q[w]);
            let (exec, target, join, next) =
                (i.issue_mask_i[p], i.issue_target_i[p], i.issue_join_i[p], i.issue_pc_i[p] + 1);
            let resumes = o.resume_valid_o >> p & 1 == 1;
            let stopped = i.issue_stop_i >> p & 1 == 1;
            let kind = Kind::from_bits(i.issue_kind_i[p]);
            let (other, exit, branch) = (kind == Kind::Other, kind == Kind::Exit, kind == Kind::Branch);
            let ends = exit && live & !exec == 0;
            let same = next == target && next == join;
            let splits = branch && exec != 0 && exec != mask && !same;
            let whole = splits && join != NO_PC && join != own;
            let jumps = splits && next != join && target != join;
            give_way += usize::from(!(resumes || ends || other && next != own));
            split |= splits;
            for (n, push) in [whole, jumps].into_iter().filter(|&push| push).enumerate() {
                pushed_banks[(usize::from(depth) + n) % 2] |= push;
            }
            let places = usize::from(depth) + usize::from(whole) + usize::from(jumps);
            if running {
                point!("other: fetch goes on by itself", other && !resumes && next != own);
                point!("other: fetch goes on from here", other && resumes);
                point!("other: gives way", other && next == own && !stopped);
                point!("other: gives way, fetch stopped by the instruction too", other && next == own && stopped);
                point!("exit: no lane", exit && exec == 0);
                point!("exit: some", exit && exec != 0 && resumes);
                point!("exit: some, the others give way", exit && exec != 0 && exec != mask && !resumes);
                point!("exit: the group, others wait", exit && exec == mask && !ends);
                point!("exit: the warp", ends && depth == 0);
                point!("exit: the warp, with places in use", ends && depth != 0);
                point!("branch: no lane", branch && exec == 0 && resumes);
                point!("branch: no lane, gives way", branch && exec == 0 && !resumes);
                point!("branch: all lanes", branch && exec == mask && resumes);
                point!("branch: all lanes, gives way", branch && exec == mask && !resumes);
                point!(
                    "branch: to the next instruction, where they meet",
                    branch && exec != 0 && exec != mask && same && resumes
                );
                point!("branch: likewise, and gives way", branch && exec != 0 && exec != mask && same && !resumes);
                point!("branch: to the next instruction, meeting elsewhere", splits && next == target);
                point!("split: two groups wait, the first in the even bank", whole && jumps && depth % 2 == 0);
                point!("split: two groups wait, the first in the odd bank", whole && jumps && depth % 2 == 1);
                point!("split: only the whole group waits, as lanes fall through to the join", whole && next == join);
                point!(
                    "split: only the whole group waits, as lanes jump to the join",
                    whole && !jumps && target == join
                );
                point!(
                    "split: only the lanes that jump wait, by a join that is the group's",
                    jumps && !whole && join != NO_PC
                );
                point!("split: only the lanes that jump wait, without a join", jumps && join == NO_PC && own == NO_PC);
                point!(
                    "split: no lane is pushed, as lanes fall through to the group's join",
                    splits && !whole && next == join
                );
                point!(
                    "split: no lane is pushed, as lanes jump to the group's join",
                    splits && !whole && !jumps && target == join
                );
                point!("split: without a join inside one with a join", jumps && join == NO_PC && own != NO_PC);
                point!("more than 30 places in use", places > 30);
                point!("62 places in use", depth == 62);
                point!("last warp pushes", w == warps - 1 && (whole || jumps));
                point!(
                    "branch on port 0 and an instruction on port 1",
                    !other && p == 0 && i.issue_valid_i == 3,
                    given = self.shape.ports() == 2
                );
                point!(
                    "branch on port 1 and an instruction on port 0",
                    !other && p == 1 && i.issue_valid_i == 3,
                    given = self.shape.ports() == 2
                );
            }
        }
        let begins = i.start_valid_i == 1;
        let read_bank = served.map(|w| usize::from(q.depth_q[w] + 1) % 2);
        let ended = q.read_valid_q == 1 && o.live_o[usize::from(q.read_warp_q)] != 0;
        if running {
            point!("warp begins", begins);
            point!("warp begins as another one issues", begins && issued > 0);
            point!("group returns, even bank", returns && q.read_odd_q == 0);
            point!("group returns, odd bank", returns && q.read_odd_q == 1);
            point!("group returns without lanes that have ended", returns && ended);
            point!("group passed over", passed);
            point!("two warps wait for the stack", q.pop_q.count_ones() >= 2);
            point!("group returns as another one is read", returns && served.is_some());
            point!("group passed over as another one is read", passed && served.is_some());
            point!("group returns as another warp splits", returns && split);
            point!(
                "group is read as another warp pushes into its bank",
                read_bank.is_some_and(|bank| pushed_banks[bank])
            );
            point!("both ports give way", give_way == 2, given = self.shape.ports() == 2);
            point!("three resume", o.resume_valid_o == 7, given = self.shape.ports() == 2);

            return;
        }
        point!("reset with groups waiting", q.depth_q.iter().any(|&depth| depth > 0));
        point!("reset as a group returns", returns);
        point!("reset as a group is read", served.is_some());
        point!("reset as a group splits", split);
        point!("reset as a warp begins", begins);
    }
}
