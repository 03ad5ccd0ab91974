//! `mrf_allocator`.

use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::{MAX_COLLECTORS, MrfAllocator, MrfAllocatorIn, MrfAllocatorOut, MrfAllocatorProbe, MrfShape};
use gpurf_blocks::{Block, Ports};
use gpurf_lockstep::Rng;

use crate::driver::{Names, RESET, Reset, ports};
use crate::{Cover, Driver, Knob, Knobs};

/// Plays the collectors: which are busy, which complete, with which warp.
pub(crate) struct AllocatorDriver {
    shape: MrfShape,
    reset: Reset,
    twin: MrfAllocator,
    out: MrfAllocatorOut,
    busy: u16,
    complete: u16,
    warps: [u8; MAX_COLLECTORS],
    few: Names,
}

/// Numbers of warps.
const MAX_WARPS: u64 = 64;

const ISSUE: usize = 0;
const COMPLETE: usize = 1;
const READY: usize = 2;
const WARPS: usize = 3;

impl Driver for AllocatorDriver {
    type In = MrfAllocatorIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "issue", doc: "an instruction is offered", values: &[100, 500, 950] },
        Knob { name: "complete", doc: "a busy collector becomes complete", values: &[50, 300, 900] },
        Knob { name: "ready", doc: "a unit takes what is offered", values: &[100, 500, 1000] },
        Knob { name: "few_warps", doc: "the warp is one of two", values: &[0, 500, 1000] },
        RESET,
    ];

    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self {
            shape: *shape,
            reset: Reset::default(),
            twin: MrfAllocator::new(shape),
            out: MrfAllocatorOut::zeroed(),
            busy: 0,
            complete: 0,
            warps: [0; MAX_COLLECTORS],
            few: Names::new(2, MAX_WARPS),
        }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, inputs: &mut MrfAllocatorIn) {
        let shape = self.shape;
        inputs.rst_ni = self.reset.next(rng, knobs.get(4));
        inputs.busy_i = self.busy;
        inputs.complete_i = self.complete;
        inputs.col_warp_i = self.warps;
        self.few.renew(rng);
        inputs.issue_valid_i = ports(rng, shape.issue_ports, knobs.get(ISSUE));
        for port in 0..shape.issue_ports {
            let few = rng.chance(knobs.get(WARPS));
            inputs.issue_warp_i[port] = if few { self.few.draw(rng) } else { rng.below(MAX_WARPS) } as u8;
        }
        inputs.dispatch_ready_i = ports(rng, shape.issue_ports, knobs.get(READY));

        self.twin.early(&mut self.out);
        self.twin.late(inputs, &mut self.out);
        self.twin.clock(inputs, &self.out);
        if inputs.rst_ni == 0 {
            (self.busy, self.complete) = (0, 0);
            return;
        }
        self.busy &= !self.out.free_o;
        self.complete &= !self.out.free_o;
        for collector in (0..shape.collectors).filter(|c| self.out.alloc_valid_o >> c & 1 == 1) {
            self.busy |= 1 << collector;
            self.warps[collector] = inputs.issue_warp_i[usize::from(self.out.alloc_port_o >> collector & 1)];
        }
        self.complete |= self.busy & rng.mask(shape.collectors as u32, knobs.get(COMPLETE)) as u16;
    }
}

pub(crate) struct AllocatorCover(MrfShape);

impl Cover for AllocatorCover {
    type In = MrfAllocatorIn;
    type Out = MrfAllocatorOut;
    type Probe = MrfAllocatorProbe;

    fn points(shape: &MrfShape) -> Vec<&'static str> {
        let mut points = vec![
            "issue refused",
            "all collectors busy",
            "complete but behind its warp's older instruction",
            "dispatch not taken",
            "taken while another is freed",
            "several are eligible",
            "reset while busy",
        ];
        if shape.issue_ports == 2 {
            points.extend([
                "two instructions of one warp",
                "second port alone",
                "two dispatched",
                "second dispatched alone",
            ]);
        }
        points
    }

    fn new(shape: &MrfShape) -> Self {
        Self(*shape)
    }

    fn observe(
        &mut self,
        i: &MrfAllocatorIn,
        o: &MrfAllocatorOut,
        p: &MrfAllocatorProbe,
        hit: &mut dyn FnMut(&'static str),
    ) {
        let collectors = self.0.collectors;
        let complete = (0..collectors).filter(|c| i.complete_i >> c & 1 == 1);
        let (behind, eligible): (Vec<usize>, Vec<usize>) = complete.partition(|&c| p.same_warp_q[c] != 0);
        let both = i.issue_valid_i & o.issue_ready_o == 3;
        let dispatched = o.dispatch_valid_o & i.dispatch_ready_i;
        let points = [
            ("issue refused", i.issue_valid_i & !o.issue_ready_o != 0),
            ("all collectors busy", i.busy_i.count_ones() as usize == collectors),
            ("complete but behind its warp's older instruction", !behind.is_empty()),
            ("dispatch not taken", o.dispatch_valid_o & !i.dispatch_ready_i != 0),
            ("taken while another is freed", o.alloc_valid_o != 0 && o.free_o != 0),
            ("several are eligible", eligible.len() > 1),
            ("reset while busy", i.busy_i != 0 && i.rst_ni == 0),
            ("two instructions of one warp", both && i.issue_warp_i[0] == i.issue_warp_i[1]),
            ("second port alone", i.issue_valid_i == 2 && o.alloc_valid_o != 0),
            ("two dispatched", dispatched == 3),
            ("second dispatched alone", dispatched == 2),
        ];
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
    }
}
