//! `block_launcher`.

use gpurf_blocks::LANES;
use gpurf_blocks::config::Config;
use gpurf_blocks::control::{BlockLauncher, BlockLauncherIn, BlockLauncherOut, BlockLauncherProbe, Coordinates};
use gpurf_blocks::shape::{BLOCK_SLOTS, SmShape, Straps};
use gpurf_blocks::share::RegisterLayout;
use gpurf_lockstep::Rng;

use crate::driver::{Reset, Twin};
use crate::unified::cache_rows;
use crate::{Driver, Points, Unaliased, Unreached, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<BlockLauncher, BlockLauncherDriver, BlockLauncherCover>();

/// Driver of `block_launcher`, as the host, and as the warps that the launcher starts: it decides how long they live.
pub(crate) struct BlockLauncherDriver {
    shape: SmShape,
    /// Most block slots.
    most_slots: u8,
    reset: Reset,
    /// Follows the inputs, to know which warps begin.
    twin: Twin<BlockLauncher>,
    alive: u64,
    /// Cycles until the next march, while none is in progress.
    quiet: u64,
    time: u64,
    /// The long marches that are left, and the number of glimpses so far.
    marches: Vec<(usize, u32)>,
    glimpses: u32,
    march: Option<March>,
}

/// A grid of many small blocks in one dimension whose warps end at once.
#[derive(Clone, Copy)]
struct March {
    /// x, y or z.
    dimension: usize,
    blocks: u32,
    /// Cycles that it may take, before it ends in a reset.
    limit: u64,
    /// Whether it is in progress.
    begun: bool,
}

/// Most cycles before a march; later 16 times as many.
const QUIET: u64 = 250;
/// Dimensions and blocks of the long marches, last one first: x needs more than 16 bits, y and z need their uppermost bit. Then the cycle from which
/// on they begin.
const LONGEST: [(usize, u32); 3] = [(2, 0x8002), (1, 0x8002), (0, 0x1_0002)];
const LONG_FROM: u64 = 30_000;
/// Cycles of a glimpse: only the beginning of a long grid is run.
const GLIMPSE: u64 = 60;
/// Bits of the number of blocks in each dimension.
const GRID_BITS: [u32; 3] = [u32::BITS, u16::BITS, u16::BITS];

knobs! {
    pub(crate) struct BlockLauncherKnobs {
        launch: "a grid is offered" = [100, 500, 1000],
        scarce: "a block needs much of one thing" = [300, 900],
        long: "a grid has many blocks" = [100, 500],
        end: "a living warp ends" = [100, 400, 900],
        idle: "nothing of a warp is in flight" = [600, 950, 1000],
        share: "guests may be added" = [200, 800],
        memory: "no request waits at the boundary" = [300, 900],
        divide: "the rows are just divided, or one is missing" = [200, 800],
        // Dividing takes a few cycles only.
        reset = [0, 0, 5, 50],
    }
}

/// Most bytes of shared memory that a launch may request.
const MOST_SHARED: u64 = (1 << 17) - 128;
/// Most rows that a launch may request, for registers or for shared memory.
const MOST_ROWS: u64 = (1 << 11) - 1;
/// Bytes of a row of unified memory.
const ROW_BYTES: u64 = 512;

impl Driver for BlockLauncherDriver {
    type In = BlockLauncherIn;
    type Knobs = BlockLauncherKnobs;

    fn new(shape: &SmShape, config: &Config) -> Self {
        Self {
            shape: *shape,
            most_slots: Straps::of(config).blocks,
            reset: Reset::default(),
            twin: Twin::new(shape),
            alive: 0,
            quiet: QUIET,
            time: 0,
            marches: LONGEST.to_vec(),
            glimpses: 0,
            march: None,
        }
    }

    fn unreached(shape: &SmShape, _: &Config) -> Vec<Unreached> {
        Unreached::warps(&["place_warp_i", "block_warp_i"], shape.warps)
    }

    fn unaliased(_: &SmShape, _: &Config) -> Vec<Unaliased> {
        const WHY: &str = "a block has 1,024 threads at most, and they are counted from 1 on";
        ["successor.x == block_x_q", "successor.y == block_y_q"]
            .map(|comparison| Unaliased::bits(comparison, 10..=10, WHY))
            .into()
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &BlockLauncherKnobs, inputs: &mut BlockLauncherIn) {
        let warps = self.shape.warps as u64;
        inputs.cfg_i = self.most_slots;
        let marches = self.marches(rng);
        let begun = marches.is_some_and(|march| march.begun);
        inputs.rst_ni = self.reset.next(rng, if begun { 0 } else { knobs.reset });
        let waits = marches.is_some_and(|march| !march.begun && self.twin.out.busy_o == 1);
        if marches.is_some_and(|march| march.begun && march.limit == 0) || waits && rng.chance(20) {
            // A glimpse has taken its cycles; or a grid that takes very long is in the way of a march.
            inputs.rst_ni = 0;
        }
        inputs.launch_valid_i = rng.chance(knobs.launch).into();
        self.launch(rng, knobs, inputs);
        if let Some(march) = marches.filter(|march| !march.begun) {
            march.launch(rng, inputs);
            if self.shape.unified() {
                let rows = self.shape.mrf.depth as u16;
                (inputs.launch_register_rows_i, inputs.launch_shared_rows_i, inputs.launch_cache_i) = (rows, 0, 0);
            }
        }
        inputs.alive_i = self.alive;
        inputs.idle_i = rng.mask(warps as u32, if begun { 1000 } else { knobs.idle });
        inputs.memory_idle_i = rng.chance(knobs.memory).into();
        inputs.place_warp_i = rng.below(warps) as u8;
        inputs.block_warp_i = rng.below(warps) as u8;

        self.twin.early();
        self.twin.late(inputs);
        self.twin.clock(inputs);
        let idle = self.twin.out.busy_o == 0 && inputs.rst_ni == 1;
        if let Some(march) = self.march.as_mut().filter(|_| idle && inputs.launch_valid_i == 1) {
            march.begun = true;
        }
        self.alive &= !rng.mask(warps as u32, if begun { 1000 } else { knobs.end });
        if self.twin.out.start_valid_o == 1 {
            self.alive |= 1 << self.twin.out.start_warp_o;
        }
        if inputs.rst_ni == 0 {
            self.alive = 0;
        }
    }
}

impl March {
    fn launch(&self, rng: &mut Rng, inputs: &mut BlockLauncherIn) {
        let of = |dimension| if dimension == self.dimension { self.blocks } else { 1 };
        (inputs.launch_grid_x_i, inputs.launch_grid_y_i, inputs.launch_grid_z_i) = (of(0), of(1) as u16, of(2) as u16);
        let threads = 1 + rng.below(LANES as u64) as u16;
        (inputs.launch_block_x_i, inputs.launch_block_y_i, inputs.launch_block_z_i) = (threads, 1, 1);
        (inputs.launch_threads_i, inputs.launch_registers_i, inputs.launch_share_i) = (threads, 1, 0);
        (inputs.launch_shared_i, inputs.launch_dynamic_i, inputs.launch_private_shared_i) = (0, 0, 0);
    }
}

impl BlockLauncherDriver {
    /// The march that is in progress, or that begins with the next grid.
    fn marches(&mut self, rng: &mut Rng) -> Option<March> {
        self.twin.early();
        self.time += 1;
        if self.march.is_some_and(|march| march.begun && self.twin.out.busy_o == 0) {
            let most = if self.time < LONG_FROM { QUIET } else { 16 * QUIET };
            (self.march, self.quiet) = (None, rng.below(most));
        }
        match &mut self.march {
            Some(march) if march.begun => march.limit -= 1,
            Some(_) => {}
            None if self.quiet == 0 => self.march = Some(self.next_march(rng)),
            None => self.quiet -= 1,
        }
        self.march
    }

    fn next_march(&mut self, rng: &mut Rng) -> March {
        let (begun, long) = (false, if self.time >= LONG_FROM { self.marches.pop() } else { None });
        if let Some((dimension, blocks)) = long {
            return March { dimension, blocks, limit: u64::MAX, begun };
        }
        if rng.chance(100) {
            let bits = if self.time < LONG_FROM { 6 } else { 10 };
            let blocks = (2 << rng.below(bits)) + rng.below(3) as u32;
            return March { dimension: rng.below(3) as usize, blocks, limit: u64::MAX, begun };
        }
        // Each bit of each dimension, one after another: in the first comparison only this bit differs. z is compared from 0 on, the others from 1
        // on.
        let mut bit = self.glimpses % GRID_BITS.iter().sum::<u32>();
        self.glimpses += 1;
        let mut dimension = 0;
        while bit >= GRID_BITS[dimension] {
            bit -= GRID_BITS[dimension];
            dimension += 1;
        }
        let blocks = if dimension == 2 { 1 << bit } else { 1 << bit | 1 };
        March { dimension, blocks, limit: GLIMPSE, begun }
    }

    fn launch(&self, rng: &mut Rng, knobs: &BlockLauncherKnobs, inputs: &mut BlockLauncherIn) {
        let scarce = rng.chance(knobs.scarce).then(|| SCARCE_THINGS[rng.below(SCARCE_THINGS.len() as u64) as usize]);
        let block = block(rng, scarce == Some(Thing::Warps));
        (inputs.launch_block_x_i, inputs.launch_block_y_i, inputs.launch_block_z_i) =
            (block.x as u16, block.y, block.z as u8);
        inputs.launch_threads_i = block.x as u16 * block.y * block.z;
        let long = rng.chance(knobs.long);
        let dimension = |rng: &mut Rng| 1 + rng.below(if long { 4 } else { 2 });
        (inputs.launch_grid_x_i, inputs.launch_grid_y_i, inputs.launch_grid_z_i) =
            (dimension(rng) as u32, dimension(rng) as u16, dimension(rng) as u16);
        if rng.chance(20) {
            // A grid of which only the beginning is run.
            inputs.launch_grid_x_i = rng.next_u64() as u32 | 1;
        }
        let warps = usize::from(inputs.launch_threads_i).div_ceil(LANES);
        let room = self.room(rng, knobs, scarce, inputs);
        inputs.launch_registers_i = self.registers(rng, scarce == Some(Thing::Rows), warps, room.rows);
        (inputs.launch_share_i, inputs.launch_private_i) = (rng.chance(knobs.share).into(), 1);
        if self.shape.places() && inputs.launch_share_i == 1 && rng.chance(600) {
            inputs.launch_registers_i = self.sharing_registers(rng, warps);
            if rng.chance(500) {
                // So many blocks that slots of both kinds are taken again.
                inputs.launch_grid_x_i = inputs.launch_grid_x_i.max(4 + rng.below(12) as u32);
            }
        }
        inputs.launch_private_i = self.private(rng, inputs.launch_registers_i.into(), warps) as u8;
        inputs.launch_shared_i = shared(rng, scarce, room.bytes);
        inputs.launch_private_shared_i = self.private_shared(rng, inputs.launch_shared_i);
        if self.shape.places() && inputs.launch_share_i == 1 && rng.chance(250) {
            self.share_memory(rng, inputs);
        }
        inputs.launch_dynamic_i = rng.below(u64::from(inputs.launch_shared_i) + 1) as u32;
        inputs.launch_local_i = rng.next_u64() as u16;
    }

    /// What a launch has for its blocks. With unified memory the launch divides the rows first: it requests just as many as there are, one too many,
    /// or fewer; or any numbers.
    fn room(&self, rng: &mut Rng, knobs: &BlockLauncherKnobs, scarce: Option<Thing>, i: &mut BlockLauncherIn) -> Room {
        if !self.shape.unified() {
            return Room { rows: self.shape.mrf.depth, bytes: 4 * self.shape.shared_words as u64 };
        }
        let depth = self.shape.mrf.depth as u64;
        let just = rng.chance(knobs.divide);
        let logs = u64::from((4 * depth).ilog2());
        // The number of lines is at least 4.
        let sizes = if rng.chance(900) { logs - 1 } else { 14 };
        let log = if rng.chance(300) { 0 } else { 2 + rng.below(sizes) };
        let cache = cache_rows(log as u8) as u64;
        // If the cache alone is too large, it does not reduce the rows of the others.
        let left = if cache > depth && rng.chance(800) { depth } else { depth.saturating_sub(cache) };
        let part = |rng: &mut Rng, of: u64| rng.below(of + 1);
        let (registers, shared) = match (scarce, rng.below(8)) {
            _ if rng.chance(20) => (part(rng, MOST_ROWS), part(rng, MOST_ROWS)),
            // All rows for one of the two.
            (Some(Thing::Rows), 0) => (left, 0),
            (Some(Thing::Shared), 0) => (1.min(left), left.saturating_sub(1)),
            (Some(Thing::Rows), _) => (part(rng, left), part(rng, 1)),
            _ if rng.chance(20) => (0, left),
            _ => {
                let registers = part(rng, left);
                (registers, if just { left - registers } else { part(rng, left - registers) })
            }
        };
        // One row more or less for one of them.
        let (more, less) = (just && rng.chance(150), just && rng.chance(150));
        let (registers, shared) = match rng.below(2) {
            0 => (registers + u64::from(more), shared.saturating_sub(u64::from(less))),
            _ => (registers.saturating_sub(u64::from(less)), shared + u64::from(more)),
        };
        let [registers, shared] = [registers, shared].map(|rows| rows.min(MOST_ROWS));
        (i.launch_register_rows_i, i.launch_shared_rows_i, i.launch_cache_i) =
            (registers as u16, shared as u16, log as u8);
        Room { rows: registers as usize, bytes: ROW_BYTES * shared }
    }

    /// Registers of a thread: few, or so many that a number of blocks just fit, or just do not.
    fn registers(&self, rng: &mut Rng, many: bool, warps: usize, depth: usize) -> u8 {
        if !many {
            // Mostly as many as one row has.
            let most = if rng.chance(700) { self.shape.mrf.banks.min(8) } else { 8 };
            return 1 + rng.below(most as u64) as u8;
        }
        let blocks = BLOCKS[rng.below(BLOCKS.len() as u64) as usize] as usize;
        let rows = (depth / (warps * blocks)).max(1);
        let registers = rows * self.shape.mrf.banks + usize::from(rng.chance(300));
        if rng.chance(700) { registers.clamp(1, 255) as u8 } else { 1 + rng.below(255) as u8 }
    }

    /// Registers of a thread that are private to a guest: few, any number, or so many that what is left over is just enough for some guests.
    fn private(&self, rng: &mut Rng, registers: usize, warps: usize) -> usize {
        let places = self.shape.mrf.banks * self.shape.mrf.depth;
        match rng.below(3) {
            0 => 1 + rng.below(registers as u64) as usize,
            1 => 1 + rng.below(registers.div_ceil(8) as u64) as usize,
            _ => (places % (warps * registers) / (warps * (1 + rng.below(3) as usize))).clamp(1, registers),
        }
    }

    /// Registers of a thread that leave some of the file over after a few hosts.
    fn sharing_registers(&self, rng: &mut Rng, warps: usize) -> u8 {
        let hosts = 1 + rng.below(4) as usize;
        let places = self.shape.mrf.banks * self.shape.mrf.depth;
        let (most, least) = (places / (warps * hosts), places / (warps * (hosts + 1)) + 1);
        let between = least + rng.below((most + 1).saturating_sub(least).max(1) as u64) as usize;
        between.clamp(1, 255) as u8
    }

    /// Bytes of shared memory that are private to a guest: all, any number, or few.
    fn private_shared(&self, rng: &mut Rng, shared: u32) -> u32 {
        match rng.below(3) {
            0 => shared,
            1 => rng.below(u64::from(shared) + 1) as u32,
            _ => rng.below(u64::from(shared) / 8 + 1) as u32,
        }
    }

    /// Shared memory is what runs out after a few hosts; all registers of guests are private.
    fn share_memory(&self, rng: &mut Rng, inputs: &mut BlockLauncherIn) {
        let all = 4 * self.shape.shared_words as u64;
        let hosts = 1 + rng.below(4);
        let (most, least) = (all / hosts, all / (hosts + 1) + 1);
        let shared = least + rng.below(most - least + 1);
        let left = all - hosts * shared.next_multiple_of(4).min(most);
        let guests = 1 + rng.below(hosts);
        let private = match rng.below(4) {
            // Guests take the last byte, or one of them just does not fit.
            0 => left / guests,
            1 => left / guests + 1,
            2 => rng.below(shared + 1),
            _ => rng.below(shared / 4 + 1),
        };
        inputs.launch_shared_i = shared.min(MOST_SHARED) as u32;
        inputs.launch_private_shared_i = private.min(shared) as u32;
        inputs.launch_dynamic_i = rng.below(u64::from(inputs.launch_shared_i) + 1) as u32;
        (inputs.launch_registers_i, inputs.launch_private_i) = (1, 1);
        inputs.launch_grid_x_i = inputs.launch_grid_x_i.max(4 + rng.below(12) as u32);
    }
}

/// Bytes of shared memory of a block: few; or, if it is scarce, so many that a number of blocks just fit, or just do not; or more than there are.
fn shared(rng: &mut Rng, scarce: Option<Thing>, all: u64) -> u32 {
    let bytes = match (scarce, rng.below(6)) {
        (Some(Thing::TooMuch), 0..3) => all + 1,
        (Some(Thing::TooMuch), _) => all + 1 + rng.below(MOST_SHARED.saturating_sub(all).max(1)),
        (Some(Thing::Shared), 0..4) => fitting(rng, all),
        (Some(Thing::Shared), 4) => fitting(rng, all) + 1,
        (Some(Thing::Shared), _) => rng.below(all.max(1)),
        (_, 0..2) => 0,
        _ => rng.below(200),
    };
    bytes.min(MOST_SHARED) as u32
}

/// What a launch may allocate.
struct Room {
    /// Rows of registers.
    rows: usize,
    /// Bytes of shared memory.
    bytes: u64,
}

/// So many bytes for a block that a number of blocks just fit.
fn fitting(rng: &mut Rng, all: u64) -> u64 {
    all / BLOCKS[rng.below(BLOCKS.len() as u64) as usize] / 128 * 128
}

/// Resources that a block may need much of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Thing {
    Warps,
    Rows,
    Shared,
    /// More shared memory than there is.
    TooMuch,
}

/// Each of them as often as its share in the choice.
const SCARCE_THINGS: [Thing; 7] =
    [Thing::Warps, Thing::Warps, Thing::Rows, Thing::Rows, Thing::Shared, Thing::Shared, Thing::TooMuch];

/// Numbers of blocks among which a resource is divided: mostly without a remainder.
const BLOCKS: [u64; 8] = [1, 1, 2, 2, 4, 4, 8, 3];

/// Dimensions of a block: mostly few warps, of any form.
fn block(rng: &mut Rng, large: bool) -> Coordinates {
    let most = if large { [256, 512, 1024][rng.below(3) as usize] } else { [32, 64, 100][rng.below(3) as usize] };
    if rng.chance(20) {
        // Only y has its upper bits set.
        return Coordinates { x: 1, y: 257 + rng.below(768) as u16, z: 1 };
    }
    let narrow = rng.chance(300);
    let first = 1 + rng.below(if narrow { 4 } else { most });
    let second = 1 + rng.below(most / first);
    let third = 1 + rng.below((most / (first * second)).min(64));
    match rng.below(4) {
        0 => Coordinates { x: 32 * (1 + rng.below(most / LANES as u64)) as u32, y: 1, z: 1 },
        1 => Coordinates { x: third as u32, y: first as u16, z: second.min(64) as u16 },
        _ => Coordinates { x: first as u32, y: second as u16, z: third as u16 },
    }
}

pub(crate) struct BlockLauncherCover {
    shape: SmShape,
    /// Most block slots.
    most_slots: usize,
    /// Slots that became free at the last clock edge, and at the one before.
    freed: u16,
    freed_before: u16,
}

#[cover]
impl BlockLauncherCover {
    fn new(shape: &SmShape, config: &Config) -> Self {
        Self { shape: *shape, most_slots: config.sm.blocks, freed: 0, freed_before: 0 }
    }

    fn observe(&mut self, i: &BlockLauncherIn, o: &BlockLauncherOut, p: &BlockLauncherProbe, points: &mut Points) {
        if p.state_q == DIVIDE {
            self.dividing(o, p, points);
        }
        self.counting(i, o, p, points);
        let freed = freed(i, o, p);
        self.running(i, o, p, freed, points);
        (self.freed_before, self.freed) = (self.freed, freed);
    }

    fn dividing(&self, o: &BlockLauncherOut, p: &BlockLauncherProbe, points: &mut Points) {
        let end = usize::from(o.end_warps_o) + usize::from(p.warps_q);
        let (taken, there) = self.registers(o, p, end);
        let (shared, all) = (p.base_q + p.shared_step_q, self.shared(p));
        let rows = [usize::from(o.register_rows_o), p.shared_rows_q.into(), cache_rows(o.cache_log_o)];
        let divided: usize = if self.shape.unified() { rows.iter().sum() } else { 0 };
        let full = [
            usize::from(p.slots_q) == self.most_slots,
            end > self.shape.warps,
            taken > there,
            shared > all,
            divided > self.shape.mrf.depth,
        ];
        let alone = |k: usize| full[k] && full.iter().filter(|&&f| f).count() == 1;
        let fits = !full.contains(&true);
        point!("not one block fits", !fits && p.slots_q == 0);
        // A warp has one row at least, and a block one warp.
        point!(
            "slots are what runs out",
            alone(0),
            given = self.shape.warps > self.most_slots && self.shape.mrf.depth > self.most_slots
        );
        point!("warps are what runs out", alone(1), given = self.shape.warps < self.shape.mrf.depth);
        point!("rows are what runs out", alone(2));
        point!("shared memory is what runs out", alone(3));
        point!(
            "the last block takes the last warp",
            fits && end == self.shape.warps,
            given = self.shape.warps <= self.shape.mrf.depth
        );
        point!("the last block takes the last row", fits && taken == there);
        point!("the last block takes the last of shared memory", fits && shared == all);
        point!("shared memory is rounded up", o.shared_bytes_o != p.shared_step_q);
        point!("no shared memory", p.shared_step_q == 0);
        let extending = p.extending_q == 1;
        // A block that does not fit whole is tried as a guest in the same cycle.
        let asked = !extending && !fits && p.slots_q != 0 && p.share_q == 1;
        let (tried, hosts) = (extending || asked, if extending { p.hosts_q } else { p.slots_q });
        let guests = p.slots_q.wrapping_sub(hosts);
        let paired = tried && guests == hosts;
        let layout = RegisterLayout(o.layout_o);
        let host_warps = usize::from(if extending { layout.host_warps() } else { o.end_warps_o });
        let [of_host, private] = [layout.registers(), layout.private_registers()].map(usize::from);
        let with_guest = host_warps * of_host + end.saturating_sub(host_warps) * private;
        let private_step = (4 * o.private_bytes_o.div_ceil(4)).min(1 << 17);
        let guest_end = p.base_q + private_step;
        #[given(self.shape.unified())]
        {
            let depth = self.shape.mrf.depth;
            let [registers, shared_rows, cache] = rows;
            point!("the parts are one row more than there are", alone(4) && divided == depth + 1);
            point!("the parts are all rows", fits && divided == depth && rows.iter().all(|&part| part != 0));
            point!("the parts are one row less than there are", fits && divided + 1 == depth);
            point!(
                "the parts are more than there are, none of them is alone",
                alone(4) && rows.iter().all(|&part| part < depth)
            );
            point!(
                "the sum of the parts has more bits than each",
                alone(4) && divided > 2047 && rows.iter().all(|&part| part <= 2047)
            );
            point!("the cache alone is more than there is", alone(4) && cache > depth);
            point!("no cache", fits && cache == 0);
            point!("a cache", fits && cache != 0);
            point!("the smallest number of lines", fits && cache == 1);
            point!("no rows of scratchpad", fits && shared_rows == 0);
            point!("no rows of scratchpad are what runs out", alone(3) && shared_rows == 0);
            point!("no rows of registers", registers == 0 && full[2] && !full[3] && !full[4]);
            point!("one row of registers is missing", alone(2) && taken == there + 1);
            point!("128 bytes of scratchpad are missing", alone(3) && shared == all + 128);
            point!("rows run out that others have", alone(2) && taken <= depth);
            point!("scratchpad runs out that others have", alone(3) && shared as usize <= 512 * depth);
            point!("scratchpad of more than 2^17 bytes", fits && shared > 1 << 17, given = self.shape.mrf.depth > 256);
        }
        let guest = [full[0], full[1], with_guest > there, guest_end > all];
        let alone = |k: usize| guest[k] && guest.iter().filter(|&&f| f).count() == 1;
        let fits_as_guest = !guest.contains(&true);
        #[given(self.shape.places())]
        {
            point!("guests are asked for", asked);
            point!("no guests are asked for", !fits && p.slots_q != 0 && p.share_q == 0);
            point!("a guest is added", tried && fits_as_guest && !paired);
            point!("no room for a guest", asked && !fits_as_guest);
            point!("each host has a guest, and there is room", paired && fits_as_guest);
            point!("a host has no guest", extending && !paired && !fits_as_guest);
            point!("registers for guests run out", tried && !paired && alone(2));
            point!("warps for guests run out", tried && !paired && alone(1));
            point!("shared memory for guests runs out", tried && !paired && alone(3));
            point!("a guest takes the last byte", tried && fits_as_guest && !paired && guest_end == all);
            point!("a guest fits with its private bytes alone", tried && fits_as_guest && !paired && full[3]);
            point!(
                "private bytes are rounded up",
                tried && fits_as_guest && !paired && private_step != o.private_bytes_o
            );
            point!("a guest takes the last register", tried && fits_as_guest && !paired && with_guest == there);
        }
        point!(
            "slots for guests run out",
            tried && !paired && alone(0),
            given = self.shape.places() && self.shape.warps > self.most_slots && self.shape.mrf.depth > self.most_slots
        );
    }

    /// Bytes of shared memory that the launch has.
    fn shared(&self, p: &BlockLauncherProbe) -> u32 {
        if self.shape.unified() {
            return ROW_BYTES as u32 * u32::from(p.shared_rows_q);
        }
        (4 * self.shape.shared_words) as u32
    }

    /// Rows that are taken with one more block, and rows of the file. Registers in place of rows, if registers are allocated one by one.
    fn registers(&self, o: &BlockLauncherOut, p: &BlockLauncherProbe, end: usize) -> (usize, usize) {
        let (banks, depth) = (self.shape.mrf.banks, self.shape.mrf.depth);
        if !self.shape.places() {
            let there = if self.shape.unified() { o.register_rows_o.into() } else { depth };
            return (end * usize::from(o.rows_o), there);
        }
        let layout = RegisterLayout(o.layout_o);
        let hosts = if p.extending_q == 1 { usize::from(layout.host_warps()) } else { end };
        let [all, private] = [layout.registers(), layout.private_registers()].map(usize::from);
        (hosts * all + (end - hosts) * private, banks * depth)
    }

    fn counting(&self, i: &BlockLauncherIn, o: &BlockLauncherOut, p: &BlockLauncherProbe, points: &mut Points) {
        let (fresh, spare) = (o.fresh_o == 1, o.spare_o == 1);
        let left = self.shape.mrf.depth.saturating_sub(usize::from(o.end_warps_o) * usize::from(o.rows_o));
        let counts = o.tid_we_o == 1;
        let [x, y] = [0, 10].map(|low| o.tid_data_o.map(|word| word >> low & 0x3ff));
        let anew = |values: [u32; 4]| values.windows(2).any(|pair| pair[1] < pair[0]);
        let lane = LANES * usize::from(p.tid_index_q) + 4 * usize::from(p.tid_group_q);
        point!("x of a thread begins anew", counts && anew(x));
        point!("y of a thread begins anew", counts && anew(y));
        point!("a block of one thread in x", counts && o.ntid_x_o == 1);
        point!("lanes after the last thread", counts && lane + 3 >= usize::from(p.threads_q));
        point!("a grid is offered while one is in progress", o.busy_o == 1 && i.launch_valid_i == 1);
        point!("a grid is taken in the cycle in which one has ended", o.done_o == 1 && i.launch_valid_i == 1);
        // Whether rows are left over matters where registers have power states.
        point!("a row is left over", fresh && spare && left == 1, given = !self.shape.unified());
        point!("no row is left over", fresh && !spare, given = !self.shape.unified());
        point!("rows are left over, though no further block fits", fresh && spare && left > 1);
        point!("reset while dividing", i.rst_ni == 0 && p.state_q == DIVIDE);
        point!("reset while counting threads", i.rst_ni == 0 && p.state_q == COUNT);
        point!("reset while running", i.rst_ni == 0 && p.state_q == RUN);
    }

    fn running(
        &self,
        i: &BlockLauncherIn,
        o: &BlockLauncherOut,
        p: &BlockLauncherProbe,
        freed: u16,
        points: &mut Points,
    ) {
        let run = p.state_q == RUN;
        let starting = p.starting_q == 1;
        let begins = starting && p.start_index_q == 0;
        let started = if starting { warps_of(p, p.start_slot_q.into()) } else { 0 };
        let taken = if begins { 1u16 << p.start_slot_q } else { 0 };
        let left = p.next_z_q < o.nctaid_z_o;
        let free = !o.slot_busy_o & ((1u32 << p.slots_q) - 1) as u16;
        let dead = (0..BLOCK_SLOTS).any(|k| {
            let warps = warps_of(p, if o.slot_busy_o >> k & 1 == 1 { k } else { return false });
            i.alive_i & warps == 0 && i.idle_i & warps != warps
        });
        let last = run && !starting && !left && o.slot_busy_o == 0;
        point!("a block of one warp begins", begins && p.warps_q == 1);
        point!("a block of several warps begins", begins && p.warps_q > 1);
        point!("a warp begins with all lanes", starting && o.start_mask_o == u32::MAX);
        point!("a warp begins with some lanes", starting && o.start_mask_o != u32::MAX);
        point!("x of a block begins anew", begins && p.next_x_q == 0 && o.nctaid_x_o > 1 && p.next_y_q != 0);
        point!("y of a block begins anew", begins && p.next_y_q == 0 && o.nctaid_y_o > 1 && p.next_z_q != 0);
        point!("blocks are left and no slot", run && !starting && left && free == 0);
        point!("a slot is left and no block", run && !starting && !left && o.slot_busy_o != 0 && free != 0);
        point!("a slot becomes free while another is being started", starting && freed != 0);
        point!("two slots become free at once", run && freed.count_ones() > 1);
        point!("a slot is taken in the cycle after it became free", begins && self.freed_before & taken != 0);
        point!("a lower slot is taken while a higher one is busy", begins && o.slot_busy_o & !taken > taken);
        point!("the block that begins looks ended", starting && !i.alive_i & i.idle_i & started == started);
        point!("dead, but something is in flight", run && dead);
        point!("the end waits for memory", last && i.memory_idle_i == 0);
        point!("a grid ends", o.done_o == 1);
        let (k, hosts) = (p.start_slot_q, p.hosts_q);
        let partner = if k < hosts { k + hosts } else { k.wrapping_sub(hosts) };
        let has_partner = begins && hosts != 0 && partner < p.slots_q;
        let beside = has_partner && o.slot_busy_o >> (partner & 15) & 1 == 1;
        let [of_hosts, of_guests] = [hosts, 16].map(|end| (1u32 << end) - 1).map(|set| set as u16);
        let young = o.slot_young_o & o.slot_busy_o;
        let asked_slot = o.slot_o[usize::from(i.place_warp_i)];
        let of_guest = run && hosts != 0 && asked_slot >= hosts;
        #[given(self.shape.places())]
        {
            point!("the host of a pair is the younger one", run && young & of_hosts != 0);
            point!("the guest of a pair is the younger one", run && young & of_guests & !of_hosts != 0);
            point!("asked for the memory of a guest's host", of_guest && o.place_common_o != o.place_base_o);
            point!("asked for a host's memory", run && hosts != 0 && asked_slot < hosts);
            point!("a host's block begins beside its guest's", beside && k < hosts);
            point!("a guest's block begins beside its host's", beside && k >= hosts);
            point!("a block begins, and its partner's slot is empty", has_partner && !beside);
            point!("a block begins in a slot without a partner", begins && hosts != 0 && !has_partner);
        }
    }
}

const DIVIDE: u8 = 1;
const COUNT: u8 = 2;
const RUN: u8 = 3;

/// Slots that become free at this edge.
fn freed(i: &BlockLauncherIn, o: &BlockLauncherOut, p: &BlockLauncherProbe) -> u16 {
    let ended = !i.alive_i & i.idle_i;
    let starting = if p.starting_q == 1 { 1 << p.start_slot_q } else { 0 };
    let able = (0..BLOCK_SLOTS).filter(|k| (o.slot_busy_o & !starting) >> k & 1 == 1);
    able.filter(|&k| ended & warps_of(p, k) == warps_of(p, k)).fold(0, |set, k| set | 1 << k)
}

/// Warps of a slot.
fn warps_of(p: &BlockLauncherProbe, k: usize) -> u64 {
    let n = u32::from(p.warps_q);
    ((1u64 << n) - 1) << (k as u32 * n)
}
