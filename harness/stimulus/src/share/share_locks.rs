//! `share_locks`.

use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::NO_REG;
use gpurf_blocks::mrf::MAX_PORTS;
use gpurf_blocks::shape::SmShape;
use gpurf_blocks::share::{ShareLocks, ShareLocksIn};
use gpurf_blocks::sizes::MAX_WARPS;
use gpurf_lockstep::Rng;

use super::grid::{Grid, launched};
use crate::driver::{Reset, Twin, any_bit, ports};
use crate::{Driver, Unreached};

mod cover;

pub(crate) use cover::ShareLocksCover;

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<ShareLocks, ShareLocksDriver, ShareLocksCover>();

/// Driver of `share_locks`, as launcher and warps: grids with hosts and guests, warps that begin, issue and end. A twin tells which heads may issue.
pub(crate) struct ShareLocksDriver {
    shape: SmShape,
    reset: Reset,
    twin: Twin<ShareLocks>,
    /// Straps; they change between grids.
    straps: u8,
    grid: Option<Grid>,
    alive: u64,
    in_flight: u64,
    /// A warp's head: its roles and its operation word.
    heads: [Option<(u64, u64)>; MAX_WARPS],
}

knobs! {
    pub(crate) struct ShareLocksKnobs {
        first: "strap: who asks first gets the lock" = [0, 500, 1000],
        hold: "strap: returning atomic operations wait" = [0, 500, 1000],
        owner_first: "strap: owners are preferred" = [0, 500, 1000],
        guests: "a block that could be a guest is one" = [500, 1000],
        place: "a block is put into a free slot" = [50, 300, 1000],
        fetch: "a warp without a head gets one" = [100, 500, 1000],
        clear: "a head is clear" = [100, 500, 950],
        issue: "a head that may issue does" = [200, 700, 1000],
        flight: "what issues is in flight" = [200, 800],
        land: "all of a warp's instructions come to their end" = [100, 500],
        end: "a warp without a head ends" = [20, 100, 400],
        shared: "a register has a name at the first shared one" = [100, 400, 900],
        none: "an instruction has no register in a place" = [300, 700, 950],
        memory: "an instruction accesses memory" = [50, 500],
        allow: "non-owners may use memory" = [0, 500, 1000, 1000],
        reset,
    }
}

/// Opcodes of loads, stores and atomic operations, and of a load of a constant. Atomic operations are more frequent than others, since few of them
/// are held.
const OPCODES: [u64; 7] = [0x40, 0x41, 0x43, 0x44, 0x43, 0x44, 0x42];

impl Driver for ShareLocksDriver {
    type In = ShareLocksIn;
    type Knobs = ShareLocksKnobs;

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self {
            shape: *shape,
            reset: Reset::default(),
            twin: Twin::new(shape),
            straps: 0,
            grid: None,
            alive: 0,
            in_flight: 0,
            heads: [None; MAX_WARPS],
        }
    }

    fn unreached(shape: &SmShape, _: &Config) -> Vec<Unreached> {
        Unreached::warps(&["issue_warp_i"], shape.warps)
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &ShareLocksKnobs, i: &mut ShareLocksIn) {
        self.twin.early();
        i.rst_ni = self.reset.next(rng, knobs.reset);
        i.allow_i = rng.chance(knobs.allow).into();
        self.launch(rng, knobs, i);
        self.heads(rng, knobs, i);
        self.twin.late(i);
        let issued = self.issue(rng, knobs, i);
        self.twin.clock(i);
        self.edge(rng, knobs, i, issued);
        if i.rst_ni == 0 {
            (self.grid, self.alive, self.in_flight) = (None, 0, 0);
            self.heads.fill(None);
        }
    }
}

impl ShareLocksDriver {
    /// Drives the launcher's outputs, and the straps.
    fn launch(&mut self, rng: &mut Rng, knobs: &ShareLocksKnobs, i: &mut ShareLocksIn) {
        let straps = (&mut self.straps, &[knobs.first, knobs.hold, knobs.owner_first][..]);
        let division = launched(&mut self.grid, &self.shape, rng, knobs.guests, straps);
        i.cfg_i = self.straps;
        (i.layout_i, i.end_warps_i, i.slot_i) = (division.layout, division.end_warps, division.slot);
        (i.slot_busy_i, i.slot_young_i) = (division.busy, division.young);
    }

    fn heads(&mut self, rng: &mut Rng, knobs: &ShareLocksKnobs, i: &mut ShareLocksIn) {
        let private = self.grid.as_ref().map_or(0, |grid| grid.layout.private_registers);
        (i.clear_i, i.alive_i) = (0, self.alive);
        i.idle_i = self.shape.all_warps() & !self.in_flight;
        for w in 0..self.shape.warps {
            if self.alive >> w & 1 == 1 && self.heads[w].is_none() && rng.chance(knobs.fetch) {
                self.heads[w] = Some(instruction(rng, knobs, private));
            }
            let (roles, op) = self.heads[w].unwrap_or_else(|| (rng.next_u64() >> (64 - 53), rng.next_u64()));
            (i.head_roles_i[w], i.head_op_i[w]) = (roles, op);
            i.clear_i |= u64::from(self.heads[w].is_some() && rng.chance(knobs.clear)) << w;
        }
    }

    /// Warps that issue.
    fn issue(&mut self, rng: &mut Rng, knobs: &ShareLocksKnobs, i: &mut ShareLocksIn) -> u64 {
        let (mut ready, mut issued) = (self.twin.out.clear_o, 0);
        let offered = ports(rng, self.shape.ports(), knobs.issue);
        i.issue_valid_i = 0;
        for p in 0..self.shape.ports().min(MAX_PORTS) {
            i.issue_warp_i[p] = rng.below(self.shape.warps as u64) as u8;
            if offered >> p & 1 == 0 {
                continue;
            }
            let Some(w) = any_bit(rng, ready) else { continue };
            i.issue_valid_i |= 1 << p;
            i.issue_warp_i[p] = w as u8;
            ready &= !(1 << w);
            issued |= 1 << w;
        }
        issued
    }

    /// The clock edge: updates warps and blocks.
    fn edge(&mut self, rng: &mut Rng, knobs: &ShareLocksKnobs, i: &ShareLocksIn, issued: u64) {
        let ended = !i.alive_i & i.idle_i;
        for w in 0..self.shape.warps {
            let bit = 1 << w;
            if issued & bit != 0 {
                self.heads[w] = None;
                if rng.chance(knobs.flight) {
                    self.in_flight |= bit;
                }
            } else if self.in_flight & bit != 0 && rng.chance(knobs.land) {
                self.in_flight &= !bit;
            }
            let winds_up = self.grid.as_ref().is_some_and(Grid::winds_up);
            if self.alive & bit != 0 && self.heads[w].is_none() && (winds_up || rng.chance(knobs.end)) {
                self.alive &= !bit;
            }
        }
        let Some(grid) = &mut self.grid else { return };
        if let Some(w) = grid.begins() {
            self.alive |= 1 << w;
        }
        grid.edge(rng, knobs.place, ended);
    }
}

/// An instruction: its roles, its operation word.
fn instruction(rng: &mut Rng, knobs: &ShareLocksKnobs, private: u8) -> (u64, u64) {
    let mut roles = rng.next_u64() >> (64 - 53) & !0xffff_ffff;
    for place in 0..4 {
        let name = if rng.chance(knobs.none) {
            NO_REG
        } else if rng.chance(knobs.shared) {
            private.wrapping_sub(1).wrapping_add(rng.below(3) as u8)
        } else {
            rng.next_u64() as u8
        };
        roles |= u64::from(name) << (8 * place);
    }
    let mut op = rng.next_u64();
    if rng.chance(knobs.memory) {
        op = op & !0x7f | OPCODES[rng.below(OPCODES.len() as u64) as usize];
    }
    (roles, op)
}
