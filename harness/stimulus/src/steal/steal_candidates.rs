//! `steal_candidates`.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::MrfShape;
use gpurf_blocks::steal::{StealCandidates, StealCandidatesIn, StealCandidatesOut, StealCandidatesProbe};
use gpurf_lockstep::Rng;

use crate::driver::{Reset, alias, ports};
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<StealCandidates, CandidatesDriver, CandidatesCover>();

pub(crate) struct CandidatesDriver {
    shape: MrfShape,
    reset: Reset,
}

knobs! {
    pub(crate) struct CandidatesKnobs {
        candidate: "a port has a candidate" = [100, 500, 950],
        source: "a source is a register" = [0, 500, 900, 1000],
        same: "a source has bank and entry of another one" = [0, 300, 700],
        near: "a source has bank and entry of another one but for a bit" = [0, 300],
        ready: "a collector is free for a port" = [200, 600, 1000],
        reset,
    }
}

impl Driver for CandidatesDriver {
    type In = StealCandidatesIn;
    type Knobs = CandidatesKnobs;

    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self { shape: *shape, reset: Reset::default() }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &CandidatesKnobs, i: &mut StealCandidatesIn) {
        let shape = self.shape;
        i.rst_ni = self.reset.next(rng, knobs.reset);
        i.candidate_valid_i = ports(rng, shape.issue_ports, knobs.candidate);
        i.candidate_src_valid_i = rng.mask(shape.sources() as u32, knobs.source) as u8;
        i.ready_i = ports(rng, shape.issue_ports, knobs.ready);
        for p in 0..shape.issue_ports {
            i.candidate_warp_i[p] = rng.below(64) as u8;
        }
        for k in 0..shape.sources() {
            (i.candidate_bank_i[k], i.candidate_entry_i[k]) =
                (rng.below(shape.banks as u64) as u8, rng.below(shape.depth as u64) as u16);
            if k == 0 {
                continue;
            }
            // The other source may be one of the other port.
            let other = rng.below(k as u64) as usize;
            let (same, near) = (rng.chance(knobs.same), rng.chance(knobs.near));
            if !same && !near {
                continue;
            }
            (i.candidate_bank_i[k], i.candidate_entry_i[k]) = (i.candidate_bank_i[other], i.candidate_entry_i[other]);
            if same {
                continue;
            }
            if rng.chance(500) {
                i.candidate_bank_i[k] = alias(rng, i.candidate_bank_i[k].into(), shape.banks as u64) as u8;
            } else {
                i.candidate_entry_i[k] = alias(rng, i.candidate_entry_i[k].into(), shape.depth as u64) as u16;
            }
        }
    }
}

pub(crate) struct CandidatesCover {
    shape: MrfShape,
    /// Ports that had a candidate in the cycle before.
    had: u8,
}

#[cover]
impl CandidatesCover {
    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self { shape: *shape, had: 0 }
    }

    fn observe(
        &mut self,
        i: &StealCandidatesIn,
        o: &StealCandidatesOut,
        p: &StealCandidatesProbe,
        points: &mut Points,
    ) {
        let running = i.rst_ni == 1;
        let ports: Vec<usize> = (0..self.shape.issue_ports).filter(|p| i.candidate_valid_i >> p & 1 == 1).collect();
        let at = |k: usize| (i.candidate_bank_i[k], i.candidate_entry_i[k]);
        let register = |k: usize| i.candidate_src_valid_i >> k & 1 == 1;
        let sources = |port: usize| i.candidate_src_valid_i >> (OPERANDS * port) & 7;
        let pairs = |port: usize| [(0, 1), (0, 2), (1, 2)].map(|(a, b)| (OPERANDS * port + a, OPERANDS * port + b));
        let equal = |port: usize| {
            pairs(port).into_iter().filter(|&(a, b)| register(a) && register(b) && at(a) == at(b)).count()
        };
        let any_pair = |holds: &dyn Fn(usize, usize) -> bool| {
            ports.iter().any(|&port| pairs(port).into_iter().any(|(a, b)| holds(a, b)))
        };
        let both = |a: usize, b: usize| register(a) && register(b);
        let three = |port: usize| sources(port) == 7 && equal(port) == 0;
        let meets = || (0..OPERANDS).any(|a| (OPERANDS..2 * OPERANDS).any(|b| both(a, b) && at(a) == at(b)));
        point!("a candidate", running && !ports.is_empty());
        point!("a candidate directly after another one", running && i.candidate_valid_i & self.had != 0);
        point!("no operands are wanted", o.want_valid_o == 0);
        point!("a candidate without register sources", running && ports.iter().any(|&port| sources(port) == 0));
        point!("three different registers", running && ports.iter().any(|&port| three(port)));
        point!("one register in two sources", running && ports.iter().any(|&port| equal(port) == 1));
        point!("one register in all sources", running && ports.iter().any(|&port| equal(port) == 3));
        point!(
            "two sources of one bank",
            running && any_pair(&|a, b| both(a, b) && at(a).0 == at(b).0 && at(a).1 != at(b).1)
        );
        point!(
            "two sources of one entry in different banks",
            running && any_pair(&|a, b| both(a, b) && at(a).0 != at(b).0 && at(a).1 == at(b).1)
        );
        point!(
            "the lower one of two equal sources is no register",
            running && any_pair(&|a, b| !register(a) && register(b) && at(a) == at(b))
        );
        point!("operands are wanted", o.want_valid_o != 0);
        point!("no collector for the candidate", p.valid_q & !i.ready_i != 0);
        point!("collectors, but no candidate", !p.valid_q & i.ready_i != 0);
        point!("a source keeps what it had", running && ports.iter().any(|&port| sources(port) != 7));
        point!("sources of no candidate", running && ports.is_empty() && i.candidate_src_valid_i != 0);
        point!("reset with a candidate", !running && p.valid_q != 0);
        point!("a candidate comes in reset", !running && !ports.is_empty());
        #[given(self.shape.issue_ports == 2)]
        {
            point!("two candidates", running && ports.len() == 2);
            point!("port 1's candidate alone", running && ports == [1]);
            point!("one register on both ports", running && ports.len() == 2 && meets());
            point!("a collector for port 0's candidate only", p.valid_q == 3 && i.ready_i == 1);
        }

        self.had = if running { i.candidate_valid_i } else { 0 };
    }
}
