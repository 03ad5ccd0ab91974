//! `mrf_allocator`.

use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::{MAX_COLLECTORS, MrfAllocator, MrfAllocatorIn, MrfAllocatorOut, MrfAllocatorProbe, MrfShape};
use gpurf_lockstep::Rng;

use crate::driver::{Names, Reset, Twin, ports};
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<MrfAllocator, AllocatorDriver, AllocatorCover>();

/// Driver of `mrf_allocator`, as the collectors: which are busy, which are complete, and the warp of each.
pub(crate) struct AllocatorDriver {
    shape: MrfShape,
    reset: Reset,
    twin: Twin<MrfAllocator>,
    busy: u16,
    complete: u16,
    warps: [u8; MAX_COLLECTORS],
    few: Names,
}

/// Numbers of warps.
const MAX_WARPS: u64 = 64;

knobs! {
    pub(crate) struct AllocatorKnobs {
        issue: "an instruction is offered" = [100, 500, 950],
        complete: "a busy collector becomes complete" = [50, 300, 900],
        ready: "a unit takes what is offered" = [100, 500, 1000],
        few_warps: "the warp is one of two" = [0, 500, 1000],
        reset,
    }
}

impl Driver for AllocatorDriver {
    type In = MrfAllocatorIn;
    type Knobs = AllocatorKnobs;

    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self {
            shape: *shape,
            reset: Reset::default(),
            twin: Twin::new(shape),
            busy: 0,
            complete: 0,
            warps: [0; MAX_COLLECTORS],
            few: Names::new(2, MAX_WARPS),
        }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &AllocatorKnobs, inputs: &mut MrfAllocatorIn) {
        let shape = self.shape;
        inputs.rst_ni = self.reset.next(rng, knobs.reset);
        inputs.busy_i = self.busy;
        inputs.complete_i = self.complete;
        inputs.col_warp_i = self.warps;
        self.few.renew(rng);
        inputs.issue_valid_i = ports(rng, shape.issue_ports, knobs.issue);
        for port in 0..shape.issue_ports {
            let few = rng.chance(knobs.few_warps);
            inputs.issue_warp_i[port] = if few { self.few.draw(rng) } else { rng.below(MAX_WARPS) } as u8;
        }
        inputs.dispatch_ready_i = ports(rng, shape.issue_ports, knobs.ready);

        self.twin.early();
        self.twin.late(inputs);
        self.twin.clock(inputs);
        if inputs.rst_ni == 0 {
            (self.busy, self.complete) = (0, 0);
            return;
        }
        self.busy &= !self.twin.out.free_o;
        self.complete &= !self.twin.out.free_o;
        for collector in (0..shape.collectors).filter(|c| self.twin.out.alloc_valid_o >> c & 1 == 1) {
            self.busy |= 1 << collector;
            self.warps[collector] = inputs.issue_warp_i[usize::from(self.twin.out.alloc_port_o >> collector & 1)];
        }
        self.complete |= self.busy & rng.mask(shape.collectors as u32, knobs.complete) as u16;
    }
}

pub(crate) struct AllocatorCover(MrfShape);

#[cover]
impl AllocatorCover {
    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self(*shape)
    }

    fn observe(&mut self, i: &MrfAllocatorIn, o: &MrfAllocatorOut, p: &MrfAllocatorProbe, points: &mut Points) {
        let collectors = self.0.collectors;
        let complete = (0..collectors).filter(|c| i.complete_i >> c & 1 == 1);
        let (behind, eligible): (Vec<usize>, Vec<usize>) = complete.partition(|&c| p.same_warp_q[c] != 0);
        let both = i.issue_valid_i & o.issue_ready_o == 3;
        let dispatched = o.dispatch_valid_o & i.dispatch_ready_i;
        point!("issue refused", i.issue_valid_i & !o.issue_ready_o != 0);
        point!("all collectors busy", i.busy_i.count_ones() as usize == collectors);
        point!("complete, but its warp's older instruction is not", !behind.is_empty());
        point!("dispatch not taken", o.dispatch_valid_o & !i.dispatch_ready_i != 0);
        point!("taken while another is freed", o.alloc_valid_o != 0 && o.free_o != 0);
        point!("several are eligible", eligible.len() > 1);
        point!("reset while busy", i.busy_i != 0 && i.rst_ni == 0);
        #[given(self.0.issue_ports == 2)]
        {
            point!("two instructions of one warp", both && i.issue_warp_i[0] == i.issue_warp_i[1]);
            point!("second port alone", i.issue_valid_i == 2 && o.alloc_valid_o != 0);
            point!("two dispatched", dispatched == 3);
            point!("second dispatched alone", dispatched == 2);
        }
    }
}
