//! `scratchpad_locks`.

use std::collections::VecDeque;

use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::NO_REG;
use gpurf_blocks::mrf::MAX_PORTS;
use gpurf_blocks::shape::SmShape;
use gpurf_blocks::share::{RegisterLayout, ScratchpadLocks, ScratchpadLocksIn};
use gpurf_lockstep::Rng;

use super::grid::{Grid, launched};
use crate::driver::{Reset, Twin, any_bit, ports};
use crate::{Driver, Unreached};

mod cover;

pub(crate) use cover::ScratchpadLocksCover;

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<ScratchpadLocks, ScratchpadLocksDriver, ScratchpadLocksCover>();

/// Driver of `scratchpad_locks`, as launcher, warps and memory pipeline: grids with hosts and guests, heads that stay until they issue, memory
/// instructions that the address unit takes in order within a warp. A twin tells which heads may issue, and which of them as probes.
pub(crate) struct ScratchpadLocksDriver {
    shape: SmShape,
    reset: Reset,
    twin: Twin<ScratchpadLocks>,
    /// Straps; they change between grids.
    straps: u8,
    grid: Option<Grid>,
    warps: Vec<Warp>,
    /// The warp and the request that the address unit took in the previous cycle, if it answers it.
    answer: Option<(usize, Request)>,
}

#[derive(Clone, Default)]
struct Warp {
    live: u32,
    head: Option<Head>,
    /// Memory instructions that the address unit has not taken yet.
    requests: VecDeque<Request>,
    /// Whether another instruction is in flight.
    in_flight: bool,
    /// Whether a probe or a release is in flight.
    held: bool,
}

#[derive(Clone, Copy)]
struct Head {
    op: u64,
    ctl: u64,
    roles: u64,
    /// Lanes that execute it, if they live.
    lanes: u32,
    /// Whether a lane lies in the common area, if the instruction accesses scratchpad memory at all.
    common: bool,
}

#[derive(Clone, Copy)]
struct Request {
    /// Whether it is answered: it is a probe or a release.
    answered: bool,
    release: bool,
    common: bool,
    lanes: u32,
}

knobs! {
    pub(crate) struct ScratchpadLocksKnobs {
        first: "strap: who comes first gets the lock" = [0, 500, 1000],
        hold: "strap: returning atomic operations wait" = [0, 500, 1000],
        owner_first: "strap: owners are preferred" = [0, 500, 1000],
        mark: "strap: marks decide" = [0, 0, 1000],
        guests: "a block that could be a guest is one" = [500, 1000],
        place: "a block is put into a free slot" = [50, 300, 1000],
        fetch: "a warp without a head gets one" = [100, 500, 1000],
        clear: "a head is clear" = [100, 500, 950],
        issue: "a head that may issue does" = [200, 700, 1000],
        take: "the address unit takes an instruction" = [200, 700, 1000],
        flight: "what else issues is in flight" = [200, 800],
        land: "all of that comes to its end" = [100, 500],
        end: "lanes of a warp without a head end" = [5, 30, 200],
        memory: "an instruction accesses memory" = [300, 900],
        shared: "it accesses scratchpad memory" = [300, 900],
        marked: "it is marked private" = [0, 300],
        common: "a lane lies in the common area" = [100, 500, 900],
        release: "an instruction is a release" = [10, 100, 400],
        partial: "lanes do not take part" = [0, 300, 800],
        reset,
    }
}

const LD: u64 = 0x40;
const ST: u64 = 0x41;
const ATOM: u64 = 0x43;
const CAS: u64 = 0x44;
const RELSSP: u64 = 0x08;
const SHARED: u64 = 1;
const GENERIC: u64 = 3;
/// Bit of the control word: the access lies in the private part.
const MARK: u32 = 61;
/// Most memory instructions of a warp that the address unit has not taken yet.
const REQUESTS: usize = 4;

impl Driver for ScratchpadLocksDriver {
    type In = ScratchpadLocksIn;
    type Knobs = ScratchpadLocksKnobs;

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self {
            shape: *shape,
            reset: Reset::default(),
            twin: Twin::new(shape),
            straps: 0,
            grid: None,
            warps: vec![Warp::default(); shape.warps],
            answer: None,
        }
    }

    fn unreached(shape: &SmShape, _: &Config) -> Vec<Unreached> {
        let mut all = Unreached::warps(&["issue_warp_i", "answer_warp_i", "start_warp_i", "place_warp_i"], shape.warps);
        all.push(Unreached::field::<RegisterLayout>("layout_i", "host_warps", 6..=6, "there are fewer warps"));
        all
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &ScratchpadLocksKnobs, i: &mut ScratchpadLocksIn) {
        self.twin.early();
        i.rst_ni = self.reset.next(rng, knobs.reset);
        self.launch(rng, knobs, i);
        self.heads(rng, knobs, i);
        self.answer(rng, i);
        i.place_warp_i = rng.below(self.shape.warps as u64) as u8;
        self.twin.late(i);
        let issued = self.issue(rng, knobs, i);
        self.twin.clock(i);
        self.edge(rng, knobs, i, &issued);
        if i.rst_ni == 0 {
            (self.grid, self.answer) = (None, None);
            self.warps.fill(Warp::default());
        }
    }
}

impl ScratchpadLocksDriver {
    /// Drives the launcher's outputs, and the straps.
    fn launch(&mut self, rng: &mut Rng, knobs: &ScratchpadLocksKnobs, i: &mut ScratchpadLocksIn) {
        let straps = (&mut self.straps, &[knobs.first, knobs.hold, knobs.owner_first, knobs.mark][..]);
        let mut division = launched(&mut self.grid, &self.shape, rng, knobs.guests, straps);
        i.cfg_i = self.straps;
        if self.grid.is_none() {
            // The address unit may query the layout at any time.
            let mut layout = RegisterLayout(division.layout).fields();
            layout.host_warps = layout.host_warps.min(self.shape.warps as u8);
            division.layout = RegisterLayout::from(layout).0;
        }
        (i.layout_i, i.end_warps_i, i.slot_i) = (division.layout, division.end_warps, division.slot);
        (i.slot_busy_i, i.slot_young_i) = (division.busy, division.young);
        let begins = self.grid.as_ref().and_then(Grid::begins);
        i.start_valid_i = begins.is_some().into();
        i.start_warp_i = begins.unwrap_or_else(|| rng.below(self.shape.warps as u64) as usize) as u8;
    }

    fn heads(&mut self, rng: &mut Rng, knobs: &ScratchpadLocksKnobs, i: &mut ScratchpadLocksIn) {
        (i.clear_i, i.idle_i) = (0, 0);
        for (w, warp) in self.warps.iter_mut().enumerate() {
            if warp.live != 0 && warp.head.is_none() && rng.chance(knobs.fetch) {
                warp.head = Some(head(rng, knobs));
            }
            let random = Head {
                op: rng.next_u64(),
                ctl: rng.next_u64(),
                roles: rng.next_u64() >> (64 - 53),
                lanes: 0,
                common: false,
            };
            let shown = warp.head.unwrap_or(random);
            (i.head_op_i[w], i.head_ctl_i[w], i.head_roles_i[w]) = (shown.op, shown.ctl, shown.roles);
            i.clear_i |= u64::from(warp.head.is_some() && rng.chance(knobs.clear)) << w;
            i.live_i[w] = warp.live;
            let answers = self.answer.is_some_and(|(answered, _)| answered == w);
            i.idle_i |= u64::from(!warp.in_flight && warp.requests.is_empty() && !answers) << w;
        }
    }

    /// Drives the address unit's answer to the request that it has taken.
    fn answer(&mut self, rng: &mut Rng, i: &mut ScratchpadLocksIn) {
        i.answer_valid_i = self.answer.is_some().into();
        let any =
            Request { answered: true, release: rng.chance(500), common: rng.chance(500), lanes: rng.next_u64() as u32 };
        let (w, request) = self.answer.unwrap_or_else(|| (rng.below(self.shape.warps as u64) as usize, any));
        i.answer_warp_i = w as u8;
        i.answer_release_i = request.release.into();
        i.answer_shared_i = request.common.into();
        i.answer_mask_i = request.lanes;
    }

    /// Drives the warps that issue. Returns them, and whether they issue as probes.
    fn issue(&mut self, rng: &mut Rng, knobs: &ScratchpadLocksKnobs, i: &mut ScratchpadLocksIn) -> Vec<(usize, bool)> {
        let room = |w: &usize| self.warps[*w].requests.len() < REQUESTS;
        let mut ready = (0..self.shape.warps).filter(room).fold(0, |set, w| set | 1 << w) & self.twin.out.clear_o;
        let offered = ports(rng, self.shape.ports(), knobs.issue);
        (i.issue_valid_i, i.set_valid_i) = (0, 0);
        let mut issued = Vec::new();
        for p in 0..self.shape.ports().min(MAX_PORTS) {
            i.issue_warp_i[p] = rng.below(self.shape.warps as u64) as u8;
            if offered >> p & 1 == 0 {
                continue;
            }
            let Some(w) = any_bit(rng, ready) else { continue };
            let Some(head) = self.warps[w].head else { continue };
            i.issue_valid_i |= 1 << p;
            i.issue_warp_i[p] = w as u8;
            i.set_valid_i |= u8::from(head.lanes & self.warps[w].live != 0) << p;
            ready &= !(1 << w);
            issued.push((w, self.twin.out.probe_o >> w & 1 == 1));
        }
        issued
    }

    /// The clock edge: updates warps and blocks.
    fn edge(&mut self, rng: &mut Rng, knobs: &ScratchpadLocksKnobs, i: &ScratchpadLocksIn, issued: &[(usize, bool)]) {
        let ended = (0..self.shape.warps)
            .filter(|&w| i.live_i[w] == 0 && i.idle_i >> w & 1 == 1)
            .fold(0u64, |set, w| set | 1 << w);
        if let Some((w, _)) = self.answer.take() {
            self.warps[w].held = false;
        }
        if rng.chance(knobs.take) {
            let waiting = |w: &usize| !self.warps[*w].requests.is_empty();
            let waiting = (0..self.shape.warps).filter(waiting).fold(0u64, |set, w| set | 1 << w);
            if let Some(w) = any_bit(rng, waiting) {
                let request = self.warps[w].requests.pop_front();
                self.answer = request.filter(|request| request.answered).map(|request| (w, request));
            }
        }
        let winds_up = self.grid.as_ref().is_some_and(Grid::winds_up);
        for (w, warp) in self.warps.iter_mut().enumerate() {
            match issued.iter().find(|(other, _)| *other == w) {
                Some(&(_, probe)) => warp.issues(rng, knobs, probe),
                None if warp.in_flight && rng.chance(knobs.land) => warp.in_flight = false,
                None => {}
            }
            if warp.head.is_none() && !warp.held && (winds_up || rng.chance(knobs.end)) {
                let lanes = if winds_up || rng.chance(500) { u32::MAX } else { rng.next_u64() as u32 };
                warp.live &= !lanes;
            }
        }
        let Some(grid) = &mut self.grid else { return };
        if let Some(w) = grid.begins() {
            let lanes = if rng.chance(700) { u32::MAX } else { rng.next_u64() as u32 | 1 };
            self.warps[w] = Warp { live: lanes, ..Warp::default() };
        }
        grid.edge(rng, knobs.place, ended);
    }
}

impl Warp {
    /// The warp's head issues.
    fn issues(&mut self, rng: &mut Rng, knobs: &ScratchpadLocksKnobs, probe: bool) {
        let Some(head) = self.head else { return };
        let lanes = head.lanes & self.live;
        let opcode = head.op & 0x7f;
        if !probe {
            self.head = None;
        }
        if lanes == 0 {
            return;
        }
        let release = !probe && opcode == RELSSP;
        if [LD, ST, ATOM, CAS, RELSSP].contains(&opcode) {
            let common = head.common && opcode != RELSSP;
            self.requests.push_back(Request { answered: probe || release, release, common, lanes });
            self.held = probe || release;
        }
        if !probe && !release && rng.chance(knobs.flight) {
            self.in_flight = true;
        }
    }
}

fn head(rng: &mut Rng, knobs: &ScratchpadLocksKnobs) -> Head {
    let mut op = rng.next_u64();
    let mut ctl = rng.next_u64() & !(1 << MARK);
    let mut roles = rng.next_u64() >> (64 - 53);
    if rng.chance(300) {
        roles |= u64::from(NO_REG) << 24;
    }
    let release = rng.chance(knobs.release);
    if release {
        op = op & !0x7f | RELSSP;
    } else if rng.chance(knobs.memory) {
        op = op & !0x7f | [LD, ST, ATOM, CAS, ATOM, CAS][rng.below(6) as usize];
        if rng.chance(knobs.shared) {
            op = op & !(3 << 28) | [SHARED, SHARED, GENERIC][rng.below(3) as usize] << 28;
        }
        ctl |= u64::from(rng.chance(knobs.marked)) << MARK;
    } else {
        // An instruction that accesses no memory may have the bit too.
        ctl |= u64::from(rng.chance(500)) << MARK;
    }
    let lanes = if !rng.chance(knobs.partial) {
        u32::MAX
    } else if rng.chance(300) {
        0
    } else {
        rng.next_u64() as u32
    };
    Head { op, ctl, roles, lanes, common: rng.chance(knobs.common) }
}
