//! `fetch`.

use gpurf_blocks::config::Config;
use gpurf_blocks::front::{Fetch, FetchIn, FetchOut, FetchProbe};
use gpurf_blocks::instruction::{NO_PC, PC_BITS};
use gpurf_blocks::shape::SmShape;
use gpurf_blocks::{Block, Ports};
use gpurf_lockstep::Rng;

use crate::driver::{Reset, alias, ports};
use crate::{Driver, Points, Unreached, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<Fetch, FetchDriver, FetchCover>();

pub(crate) struct FetchDriver {
    shape: SmShape,
    reset: Reset,
    /// Follows the inputs, to know which instruction is at decode and which warp fetches.
    twin: Fetch,
    out: FetchOut,
    probe: FetchProbe,
}

knobs! {
    pub(crate) struct FetchKnobs {
        room: "a warp's buffer has room" = [50, 500, 950],
        held: "a warp is held" = [0, 100, 800],
        stop: "the instruction at decode stops its warp" = [20, 200, 800],
        join: "the reconvergence point is directly after it" = [20, 200],
        resume: "a warp goes on, on each way" = [50, 300, 800],
        start: "a warp begins" = [5, 200],
        few: "what is said of a warp is said of one of the first four" = [0, 500, 950],
        meet: "a resume or a start is of the warp at decode or the one that fetches" = [0, 500],
        write: "the host writes an instruction" = [0, 300, 900],
        reset,
    }
}

impl Driver for FetchDriver {
    type In = FetchIn;
    type Knobs = FetchKnobs;

    fn new(shape: &SmShape, _: &Config) -> Self {
        let twin = Fetch::new(shape);
        Self { shape: *shape, reset: Reset::default(), twin, out: FetchOut::zeroed(), probe: FetchProbe::zeroed() }
    }

    fn unreached(shape: &SmShape, _: &Config) -> Vec<Unreached> {
        Unreached::warps(&["start_warp_i", "resume_warp_i"], shape.warps)
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &FetchKnobs, inputs: &mut FetchIn) {
        let (warps, ways) = (self.shape.warps, self.shape.ports() + 1);
        self.twin.early(&mut self.out);
        self.twin.probe(inputs, &self.out, &mut self.probe);
        inputs.rst_ni = self.reset.next(rng, knobs.reset);
        inputs.room_i = rng.mask(warps as u32, knobs.room);
        inputs.held_i = rng.mask(warps as u32, knobs.held);
        let paths = self.shape.ports();
        let chosen: Vec<Option<usize>> =
            (0..paths).map(|p| self.twin.chosen(p, inputs.room_i, inputs.held_i)).collect();

        inputs.decode_stop_i = ports(rng, paths, knobs.stop);
        for reconvergence in &mut inputs.reconvergence_i[..warps] {
            *reconvergence = if rng.chance(500) { NO_PC } else { address(rng) };
        }
        for p in 0..paths {
            let (warp, next) = (usize::from(self.out.decode_warp_o[p]), (self.out.decode_pc_o[p] + 1) & NO_PC);
            if rng.chance(knobs.join) {
                inputs.reconvergence_i[warp] = next;
            } else if rng.chance(300) {
                inputs.reconvergence_i[warp] = alias(rng, next.into(), 1 << PC_BITS) as u32;
            }
        }

        let at_decode = self.out.decode_warp_o;
        let warp = |rng: &mut Rng| {
            let range = if rng.chance(knobs.few) { 4 } else { warps as u64 };
            let (any, p) = (rng.below(range) as u8, rng.below(paths as u64) as usize);
            let met = if rng.chance(500) { at_decode[p] } else { chosen[p].map_or(any, |w| w as u8) };
            if rng.chance(knobs.meet) { met } else { any }
        };
        inputs.start_valid_i = rng.chance(knobs.start).into();
        inputs.start_warp_i = warp(rng);
        inputs.resume_valid_i = rng.mask(ways as u32, knobs.resume) as u8;
        for k in 0..ways {
            (inputs.resume_warp_i[k], inputs.resume_pc_i[k]) = (warp(rng), address(rng));
            // A warp is resumed at most once in a cycle.
            if inputs.resume_warp_i[..k].contains(&inputs.resume_warp_i[k]) {
                inputs.resume_valid_i &= !(1 << k);
            }
        }

        inputs.code_we_i = rng.chance(knobs.write).into();
        (inputs.code_op_i, inputs.code_ctl_i) = (rng.next_u64(), rng.next_u64());
        inputs.code_addr_i = rng.below(self.shape.code_words as u64) as u32;
        let path = rng.below(paths as u64) as usize;
        if let Some(w) = chosen[path].filter(|_| rng.chance(200)) {
            inputs.code_addr_i = (self.probe.pc_q[w] as usize % self.shape.code_words) as u32;
        }
        self.twin.clock(inputs, &self.out);
    }
}

/// An address: a low one, so that a warp executes it again; any; or one of the last.
fn address(rng: &mut Rng) -> u32 {
    match rng.below(8) {
        0 => NO_PC - rng.below(2) as u32,
        1 | 2 => rng.below(1 << PC_BITS) as u32,
        _ => rng.below(24) as u32,
    }
}

pub(crate) struct FetchCover {
    shape: SmShape,
}

#[cover]
impl FetchCover {
    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { shape: *shape }
    }

    fn observe(&mut self, i: &FetchIn, o: &FetchOut, p: &FetchProbe, points: &mut Points) {
        let ports = self.shape.ports();
        let paths: Vec<Path> = (0..ports).map(|path| Path::of(&self.shape, path, i, o, p)).collect();
        let any = |holds: &dyn Fn(&Path) -> bool| paths.iter().any(holds);
        let all = |holds: &dyn Fn(&Path) -> bool| ports == 2 && paths.iter().all(holds);
        let resumes: Vec<usize> = (0..=ports).filter(|&k| i.resume_valid_i >> k & 1 == 1).collect();
        let resumed = |w: usize| resumes.iter().any(|&k| usize::from(i.resume_warp_i[k]) == w);
        let started = |w: usize| i.start_valid_i == 1 && usize::from(i.start_warp_i) == w;
        let running = i.rst_ni == 1;
        let fetches = |path: &Path| path.chosen.is_some();
        let word = |path: &Path| path.address.map(|pc| pc as usize % self.shape.code_words);
        point!("a warp fetches", running && any(&fetches));
        point!("no warp runs", p.running_q == 0);
        point!(
            "only the warp at decode could fetch",
            any(&|path| path.behind == 0 && path.own & i.room_i & !i.held_i != 0)
        );
        point!(
            "no room where one could fetch",
            any(&|path| path.behind & !i.held_i != 0 && path.behind & i.room_i == 0)
        );
        point!("held where one could fetch", any(&|path| path.behind & i.room_i != 0 && !fetches(path)));
        point!("turn wraps", running && any(&|path| path.chosen.is_some_and(|w| w < path.from)));
        point!("last warp fetches", running && any(&|path| path.chosen == Some(self.shape.warps - 1)));
        point!("stopped by the instruction", running && any(&|path| path.valid && path.stop && !path.joins));
        point!("stopped before the reconvergence point", running && any(&|path| path.joins && !path.stop));
        point!(
            "stop without an instruction",
            running && any(&|path| !path.valid && path.stop && p.running_q >> path.at_decode & 1 == 1)
        );
        point!("port resumes", running && resumes.first().is_some_and(|&k| k < ports));
        point!("stack resumes", running && resumes.last() == Some(&ports));
        point!("two resume", running && resumes.len() == 2);
        point!(
            "resume meets stop",
            running && any(&|path| path.stops() && resumed(path.at_decode) && !started(path.at_decode))
        );
        point!("resume meets fetch", running && any(&|path| path.chosen.is_some_and(|w| resumed(w) && !started(w))));
        point!(
            "start meets stop",
            running && any(&|path| path.stops() && started(path.at_decode) && !resumed(path.at_decode))
        );
        point!("start meets fetch", running && any(&|path| path.chosen.is_some_and(|w| started(w) && !resumed(w))));
        point!("start meets resume", running && i.start_valid_i == 1 && resumed(i.start_warp_i.into()));
        point!(
            "address beyond the code memory",
            running && any(&|path| path.address.is_some_and(|pc| pc as usize >= self.shape.code_words))
        );
        point!("last address", running && any(&|path| path.address == Some(NO_PC)));
        point!("reconvergence at the first address", running && any(&|path| path.joins && path.next == 0));
        point!(
            "word read while it is written",
            i.code_we_i == 1 && any(&|path| word(path) == Some(i.code_addr_i as usize))
        );
        point!("reset while running", !running && p.running_q != 0);
        point!("host writes in reset", !running && i.code_we_i == 1);
        point!("warp chosen in reset", !running && any(&fetches));
        point!("start or resume in reset", !running && (i.start_valid_i == 1 || !resumes.is_empty()));
        #[given(self.shape.ports() == 2)]
        {
            point!("all three resume", running && resumes.len() == 3);
            point!("both paths fetch", running && all(&fetches));
            point!("only path 1 fetches", running && ports == 2 && !fetches(&paths[0]) && fetches(&paths[1]));
            point!(
                "both paths read one word",
                running && all(&|path| word(path).is_some() && word(path) == word(&paths[0]))
            );
            point!("both are stopped", running && all(&Path::stops));
            point!(
                "only path 1's is stopped",
                running && ports == 2 && !paths[0].stops() && paths[1].stops() && paths[0].valid
            );
            point!(
                "one path has a warp that could fetch, the other has none",
                running && any(&|path| path.behind != 0) && any(&|path| path.behind == 0)
            );
        }
    }
}

/// What a fetch path does in a cycle.
struct Path {
    /// Running warps of the path, and these without the warp at decode.
    own: u64,
    behind: u64,
    valid: bool,
    at_decode: usize,
    from: usize,
    chosen: Option<usize>,
    /// The address that it fetches.
    address: Option<u32>,
    /// Address after the instruction at decode; then whether its warp reconverges there.
    next: u32,
    joins: bool,
    stop: bool,
}

impl Path {
    fn of(shape: &SmShape, path: usize, i: &FetchIn, o: &FetchOut, p: &FetchProbe) -> Self {
        let (valid, at_decode) = (o.decode_valid_o >> path & 1 == 1, usize::from(o.decode_warp_o[path]));
        let warps = (path..shape.warps).step_by(shape.ports()).fold(0u64, |set, w| set | 1 << w);
        let own = p.running_q & warps;
        let behind = own & !(u64::from(valid) << at_decode);
        let eligible = behind & i.room_i & !i.held_i;
        let from = usize::from(p.rr_q[path]);
        let chosen = (0..shape.warps).map(|n| (from + n) % shape.warps).find(|&w| eligible >> w & 1 == 1);
        let next = (o.decode_pc_o[path] + 1) & NO_PC;
        let (joins, stop) = (valid && next == i.reconvergence_i[at_decode], i.decode_stop_i >> path & 1 == 1);
        let address = chosen.map(|w| p.pc_q[w]);
        Self { own, behind, valid, at_decode, from, chosen, address, next, joins, stop }
    }

    fn stops(&self) -> bool {
        self.valid && (self.stop || self.joins)
    }
}
