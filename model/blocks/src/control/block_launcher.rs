//! `block_launcher`: places the blocks of a grid in the SM. `docs/blocks/block_launcher.md`.

use crate::config::Config;
use crate::mrf::bits::set_bits;
use crate::shape::{BLOCK_SLOTS, SLOT_BITS, SmShape};
use crate::share::{RegisterLayout, RegisterLayoutFields};
use crate::sizes::{MAX_WARPS, width};
use crate::unified::{LOG_W, Partition, ROW_BYTES, ROWS_W};
use crate::{Block, Decode, GROUP_LANES, LANES, WARP_BITS, field, packed, ports};

/// Width of a warp's number in its block.
const INDEX_BITS: u32 = width(LANES);
/// Width of the number of a group of four lanes.
const GROUP_BITS: u32 = width(LANES / GROUP_LANES);
/// Width of a size of shared memory in bytes.
const BYTES_BITS: u32 = 17;
/// Width of a place in shared memory.
const PLACE_BITS: u32 = 19;
/// Width of the number of threads of a block, and of its x and y.
const THREADS_BITS: u32 = 11;
/// Width of a block's z.
const DEPTH_BITS: u32 = 7;
/// Capacity of the state: every warp number that fits its width.
const NUMBERS: usize = 1 << WARP_BITS;

ports! {
    /// Inputs of [`BlockLauncher`].
    pub struct BlockLauncherIn(s: &SmShape) {
        /// Warps with living lanes.
        alive_i: u64 = field(s.warps),
        /// Warps of which nothing is in flight.
        idle_i: u64 = field(s.warps),
        /// Blocks of the grid in x.
        launch_grid_x_i: u32 = field(32).valid_by("launch_valid_i"),
        /// Bytes of shared memory of a block.
        launch_shared_i: u32 = field(BYTES_BITS).valid_by("launch_valid_i"),
        /// Bytes of shared memory of a block that are private to a guest.
        launch_private_shared_i: u32 = field(BYTES_BITS).valid_by("launch_valid_i"),
        /// Bytes of dynamic shared memory of a block.
        launch_dynamic_i: u32 = field(BYTES_BITS).valid_by("launch_valid_i"),
        /// Blocks of the grid in y.
        launch_grid_y_i: u16 = field(16).valid_by("launch_valid_i"),
        /// Blocks of the grid in z.
        launch_grid_z_i: u16 = field(16).valid_by("launch_valid_i"),
        /// Threads of a block in x.
        launch_block_x_i: u16 = field(THREADS_BITS).valid_by("launch_valid_i"),
        /// Threads of a block in y.
        launch_block_y_i: u16 = field(THREADS_BITS).valid_by("launch_valid_i"),
        /// Threads of a block.
        launch_threads_i: u16 = field(THREADS_BITS).valid_by("launch_valid_i"),
        /// Words of local memory of a thread.
        launch_local_i: u16 = field(16).valid_by("launch_valid_i"),
        /// Rows of the banks for registers.
        launch_register_rows_i: u16 = field(ROWS_W).valid_by("launch_valid_i").when(s.unified()),
        /// Rows of the banks for scratchpad memory.
        launch_shared_rows_i: u16 = field(ROWS_W).valid_by("launch_valid_i").when(s.unified()),
        /// Logarithm of the number of the cache's lines; 0: no cache.
        launch_cache_i: u8 = field(LOG_W).valid_by("launch_valid_i").when(s.unified()),
        /// Threads of a block in z.
        launch_block_z_i: u8 = field(DEPTH_BITS).valid_by("launch_valid_i"),
        /// Registers of a thread.
        launch_registers_i: u8 = field(8).valid_by("launch_valid_i"),
        /// Guests may be added.
        launch_share_i: u8 = field(1).valid_by("launch_valid_i"),
        /// Registers of a thread that are private to a guest.
        launch_private_i: u8 = field(8).valid_by("launch_valid_i"),
        /// Strap: block slots at most.
        cfg_i: u8 = field(SLOT_BITS + 1),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// A grid; taken at this edge while none is in progress.
        launch_valid_i: u8 = field(1),
        /// No request waits at the boundary.
        memory_idle_i: u8 = field(1),
        /// Warp whose shared memory is asked for.
        place_warp_i: u8 = field(WARP_BITS),
        /// Warp whose block is asked for.
        block_warp_i: u8 = field(WARP_BITS),
    }
}

/// Inputs that are read with unified memory only.
const UNIFIED_INPUTS: &[&str] = &["launch_register_rows_i", "launch_shared_rows_i", "launch_cache_i"];

ports! {
    /// Outputs of [`BlockLauncher`].
    pub struct BlockLauncherOut(s: &SmShape) {
        /// Layout of the register file; 0 where registers are handed out in rows.
        layout_o: u64 = packed::<RegisterLayout>().early().shows_when(s.places(), "layout_q"),
        /// Lanes that begin.
        start_mask_o: u32 = field(LANES).valid_by("start_valid_o").early(),
        /// Bytes of shared memory of a block.
        shared_bytes_o: u32 = field(BYTES_BITS).valid_by("busy_o").early().shows("shared_q"),
        /// Bytes of dynamic shared memory of a block.
        dynamic_o: u32 = field(BYTES_BITS).valid_by("busy_o").early().shows("dynamic_q"),
        /// Blocks of the grid in x.
        nctaid_x_o: u32 = field(32).valid_by("busy_o").early().shows("grid_x_q"),
        /// First byte of shared memory of the slot of `place_warp_i`.
        place_base_o: u32 = field(PLACE_BITS),
        /// First byte of shared memory of the host of the warp's slot, or of the slot itself if it is no guest's slot.
        place_common_o: u32 = field(PLACE_BITS),
        /// Bytes of shared memory of a block in front of the area that it shares; 0 where registers are handed out in rows.
        private_bytes_o: u32 =
            field(BYTES_BITS).valid_by("busy_o").early().shows_when(s.places(), "private_shared_q"),
        /// Block of `block_warp_i`, in x.
        block_x_o: u32 = field(32),
        /// Coordinates of four threads.
        tid_data_o: [u32; GROUP_LANES] = field(32).count(GROUP_LANES).valid_by("tid_we_o").early(),
        /// Words of local memory of a thread.
        local_words_o: u16 = field(16).valid_by("busy_o").early().shows("local_q"),
        /// Threads of a block in x.
        ntid_x_o: u16 = field(THREADS_BITS).valid_by("busy_o").early().shows("block_x_q"),
        /// Threads of a block in y.
        ntid_y_o: u16 = field(THREADS_BITS).valid_by("busy_o").early().shows("block_y_q"),
        /// Blocks of the grid in y.
        nctaid_y_o: u16 = field(16).valid_by("busy_o").early().shows("grid_y_q"),
        /// Blocks of the grid in z.
        nctaid_z_o: u16 = field(16).valid_by("busy_o").early().shows("grid_z_q"),
        /// Rows of the banks for registers; 0 where they have banks of their own.
        register_rows_o: u16 = field(ROWS_W).early().shows_when(s.unified(), "register_rows_q"),
        /// Block slots with a block.
        slot_busy_o: u16 = field(BLOCK_SLOTS).early().shows("slot_busy_q"),
        /// Block slots whose block began after that of the partner; 0 where registers are handed out in rows.
        slot_young_o: u16 = field(BLOCK_SLOTS).early().shows_when(s.places(), "young_q"),
        /// Block of `block_warp_i`, in y.
        block_y_o: u16 = field(16),
        /// Block of `block_warp_i`, in z.
        block_z_o: u16 = field(16),
        /// A grid is in progress.
        busy_o: u8 = field(1).early(),
        /// The grid has ended.
        done_o: u8 = field(1).early().shows("done_q"),
        /// The SM has been divided for a grid, and no warp has begun.
        fresh_o: u8 = field(1).early(),
        /// Rows of the register file are left over.
        spare_o: u8 = field(1).valid_by("fresh_o").early(),
        /// A warp begins.
        start_valid_o: u8 = field(1).early(),
        /// Warp that begins.
        start_warp_o: u8 = field(WARP_BITS).valid_by("start_valid_o").early().shows("start_warp_q"),
        /// Rows of the register file that a warp has.
        rows_o: u8 = field(8).valid_by("busy_o").early().shows("rows_q"),
        /// Logarithm of the number of the cache's lines; 0 where the number does not change.
        cache_log_o: u8 = field(LOG_W).early().shows_when(s.unified(), "cache_log_q"),
        /// Threads of a block in z.
        ntid_z_o: u8 = field(DEPTH_BITS).valid_by("busy_o").early().shows("block_z_q"),
        /// Warps of all block slots.
        end_warps_o: u8 = field(WARP_BITS + 1).valid_by("busy_o").early().shows("first_q"),
        /// Block slot of each warp.
        slot_o: [u8; MAX_WARPS] = field(SLOT_BITS).count(s.warps).early().shows("slot_q"),
        /// Number of `block_warp_i` in its block.
        block_index_o: u8 = field(INDEX_BITS),
        /// Coordinates of four threads are written.
        tid_we_o: u8 = field(1).early(),
        /// Number in its block of the warp whose coordinates are written.
        tid_index_o: u8 = field(INDEX_BITS).valid_by("tid_we_o").early(),
        /// Group of four lanes whose coordinates are written.
        tid_group_o: u8 = field(GROUP_BITS).valid_by("tid_we_o").early(),
        /// Not one block fits.
        fault_valid_o: u8 = field(1).early().shows("fault_q"),
    }
}

ports! {
    /// State of [`BlockLauncher`] that no output shows.
    pub struct BlockLauncherProbe(s: &SmShape) {
        /// Block that is next, in x.
        next_x_q: u32 = field(32).valid_by("busy_o"),
        /// Bytes between the shared memory of two slots.
        shared_step_q: u32 = field(BYTES_BITS).valid_by("busy_o"),
        /// First byte of shared memory of the next slot.
        base_q: u32 = field(PLACE_BITS + 1).valid_by("busy_o"),
        /// First byte of shared memory of each slot.
        slot_base_q: [u32; BLOCK_SLOTS] = field(PLACE_BITS).count(BLOCK_SLOTS),
        /// Block in each slot, in x.
        ctaid_x_q: [u32; BLOCK_SLOTS] = field(32).count(BLOCK_SLOTS),
        /// Block in each slot, in y.
        ctaid_y_q: [u16; BLOCK_SLOTS] = field(16).count(BLOCK_SLOTS),
        /// Block in each slot, in z.
        ctaid_z_q: [u16; BLOCK_SLOTS] = field(16).count(BLOCK_SLOTS),
        /// Block that is next, in y.
        next_y_q: u16 = field(16).valid_by("busy_o"),
        /// Block that is next, in z.
        next_z_q: u16 = field(16).valid_by("busy_o"),
        /// Rows of the banks for scratchpad memory.
        shared_rows_q: u16 = field(ROWS_W).when(s.unified()),
        /// Threads of a block.
        threads_q: u16 = field(THREADS_BITS).valid_by("busy_o"),
        /// Coordinate of the next thread, in x.
        tid_x_q: u16 = field(THREADS_BITS).valid_by("busy_o"),
        /// Coordinate of the next thread, in y.
        tid_y_q: u16 = field(THREADS_BITS).valid_by("busy_o"),
        /// Coordinate of the next thread, in z.
        tid_z_q: u8 = field(DEPTH_BITS).valid_by("busy_o"),
        /// Warp of the next threads.
        tid_index_q: u8 = field(INDEX_BITS).valid_by("busy_o"),
        /// Group of the next threads.
        tid_group_q: u8 = field(GROUP_BITS).valid_by("busy_o"),
        /// State of the launcher.
        state_q: u8 = field(2).shown(Decode::Enum(&["idle", "divide", "coordinates", "run"])),
        /// Slots that there are.
        slots_q: u8 = field(SLOT_BITS + 1),
        /// Warps of a block.
        warps_q: u8 = field(WARP_BITS).valid_by("busy_o"),
        /// Number of each warp in its block.
        index_q: [u8; MAX_WARPS] = field(INDEX_BITS).count(s.warps),
        /// Warps of a block are being started.
        starting_q: u8 = field(1),
        /// Slot of the block whose warps are being started.
        start_slot_q: u8 = field(SLOT_BITS).valid_by("starting_q"),
        /// Number in the block of the warp that begins.
        start_index_q: u8 = field(INDEX_BITS).valid_by("starting_q"),
        /// Guests are being added.
        extending_q: u8 = field(1).when(s.places()),
        /// Slots of hosts.
        hosts_q: u8 = field(SLOT_BITS + 1).when(s.places()),
        /// Guests may be added to the grid.
        share_q: u8 = field(1).valid_by("busy_o").when(s.places()),
    }
}

/// A grid to be launched.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Launch {
    /// Blocks in x, y, z.
    pub grid: Coordinates,
    /// Threads of a block in x, y, z.
    pub block: Coordinates,
    /// Threads of a block.
    pub threads: u16,
    /// Registers of a thread.
    pub registers: u8,
    /// Guests may be added.
    pub share: bool,
    /// Registers of a thread that are private to a guest.
    pub private: u8,
    /// Bytes of shared memory of a block that are private to a guest.
    pub private_shared: u32,
    /// Bytes of shared memory of a block.
    pub shared: u32,
    /// Bytes of dynamic shared memory among these.
    pub dynamic: u32,
    /// Words of local memory of a thread.
    pub local_words: u16,
    /// With unified memory: rows of registers, and lines of the cache.
    pub partition: Partition,
    /// With unified memory: rows of scratchpad memory.
    pub shared_rows: u16,
}

/// Coordinates of a block or a thread, or counts of them in each dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Coordinates {
    /// In x.
    pub x: u32,
    /// In y.
    pub y: u16,
    /// In z.
    pub z: u16,
}

impl Coordinates {
    /// The next coordinates in counting order, x first, within `size`.
    fn successor(self, size: &Self) -> Self {
        let (x, y, z) = (self.x.wrapping_add(1), self.y.wrapping_add(1), self.z.wrapping_add(1));
        if x != size.x {
            Self { x, ..self }
        } else if y != size.y {
            Self { x: 0, y, z: self.z }
        } else {
            Self { x: 0, y: 0, z }
        }
    }
}

/// Coordinates of four threads for the RAM from which S2R reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TidWrite {
    /// Number of the warp in its block.
    pub index: u8,
    /// Group of four lanes.
    pub group: u8,
    /// Words of these lanes: {6'b0, z 6, y 10, x 10}.
    pub data: [u32; GROUP_LANES],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Idle,
    Divide,
    Coordinates,
    Run,
}

/// Divides the SM once for each grid, since its blocks are alike: block slot k has n warps from k*n on, n being the warps of a block; warp w has `rows` rows of
/// the register file from `w * rows` on; slot k has shared memory from `k * bytes` on. Then it computes the threads' coordinates, and puts blocks into slots
/// until none is left.
///
/// With places, registers are allocated one by one, and guests may be added: blocks that share registers with blocks that fit whole (sharing thesis 2.2).
#[derive(Clone)]
pub struct BlockLauncher {
    warps: usize,
    banks: usize,
    depth: usize,
    /// Registers are allocated one by one.
    places: bool,
    /// An even warp and the next warp have the same rows.
    paired_rows: bool,
    /// Rows of a warp at most.
    max_rows: usize,
    shared_bytes: u32,

    state: State,
    done: bool,
    fault: bool,
    slots: u8,
    slot_busy: u16,
    starting: bool,

    launch: Launch,
    rows: u8,
    /// Warps of a block.
    block_warps: u8,
    shared_step: u32,
    first: u8,
    base: u32,
    slot: [u8; NUMBERS],
    index: [u8; NUMBERS],
    slot_base: [u32; BLOCK_SLOTS],
    tid: Coordinates,
    tid_index: u8,
    tid_group: u8,
    next: Coordinates,
    ctaid: [Coordinates; BLOCK_SLOTS],
    start_slot: u8,
    start_index: u8,
    start_warp: u8,
    /// Guests are being added; slots of hosts; slots whose block began after that of the partner; how the register file is divided.
    extending: bool,
    hosts: u8,
    young: u16,
    layout: RegisterLayout,
    /// Bytes of shared memory of a block that are private to a guest.
    private_shared: u32,
    /// With unified memory: how its rows are divided.
    unified: bool,
    partition: Partition,
    shared_rows: u16,
    /// Ended warps and occupied slots at the last search that found no slot to free: the search is not repeated before one of them changes.
    not_freed: (u64, u16),
}

impl BlockLauncher {
    /// A grid is in progress.
    #[inline]
    pub fn busy(&self) -> bool {
        self.state != State::Idle
    }

    /// The grid has ended.
    #[inline]
    pub fn done(&self) -> bool {
        self.done
    }

    /// Not one block fits.
    #[inline]
    pub fn fault(&self) -> bool {
        self.fault
    }

    /// The SM has been divided for a grid, and no warp has begun: whether rows of the register file are left over.
    #[inline]
    pub fn fresh(&self) -> Option<bool> {
        let rows = usize::from(self.first) * usize::from(self.rows);
        (self.state == State::Coordinates).then_some(rows < self.depth)
    }

    /// The warp that begins in this cycle, with its lanes.
    #[inline]
    pub fn start(&self) -> Option<(u8, u32)> {
        if !self.starting {
            return None;
        }
        let lanes = if self.start_index == self.last_index() {
            let threads = u32::from(self.launch.threads).wrapping_sub(LANES as u32 * u32::from(self.start_index));
            // A full warp, or the threads that remain.
            u32::MAX.checked_shr((LANES as u32).wrapping_sub(threads)).unwrap_or(u32::MAX)
        } else {
            u32::MAX
        };
        Some((self.start_warp, lanes))
    }

    /// The grid that is in progress.
    #[inline]
    pub fn grid(&self) -> &Launch {
        &self.launch
    }

    /// Rows of the register file that a warp has.
    #[inline]
    pub fn rows(&self) -> u8 {
        self.rows
    }

    /// Layout of the register file; 0 where registers are allocated in rows.
    #[inline]
    pub fn layout(&self) -> RegisterLayout {
        self.layout
    }

    /// How the rows of unified memory are divided.
    #[inline]
    pub fn partition(&self) -> Partition {
        self.partition
    }

    /// Warps of all block slots.
    #[inline]
    pub fn end_warps(&self) -> u8 {
        self.first
    }

    /// Block slots with a block.
    #[inline]
    pub fn slot_busy(&self) -> u16 {
        self.slot_busy
    }

    /// Block slots whose block began after that of the partner.
    #[inline]
    pub fn slot_young(&self) -> u16 {
        self.young
    }

    /// Block slot of each warp.
    #[inline]
    pub fn slots(&self) -> &[u8; MAX_WARPS] {
        self.slot.first_chunk().expect("there are more numbers than warps")
    }

    /// First byte of shared memory of a warp's block.
    #[inline]
    pub fn place(&self, warp: u8) -> u32 {
        self.slot_base[usize::from(self.slot[usize::from(warp)])]
    }

    /// First byte of shared memory of the host of a warp's block; of its own, if it is no guest.
    #[inline]
    pub fn place_common(&self, warp: u8) -> u32 {
        let slot = self.slot[usize::from(warp)];
        let host = if self.hosts != 0 { slot.checked_sub(self.hosts) } else { None };
        self.slot_base[usize::from(host.unwrap_or(slot))]
    }

    /// Bytes of shared memory of a block in front of the area that it shares.
    #[inline]
    pub fn private_bytes(&self) -> u32 {
        self.private_shared
    }

    /// Number of a warp in its block, and its block.
    #[inline]
    pub fn block_of(&self, warp: u8) -> (u8, &Coordinates) {
        let warp = usize::from(warp);
        (self.index[warp], &self.ctaid[usize::from(self.slot[warp])])
    }

    /// Coordinates that are written in this cycle.
    pub fn tid_write(&self) -> Option<TidWrite> {
        if self.state != State::Coordinates {
            return None;
        }
        let mut tid = self.tid;
        let data = std::array::from_fn(|_| {
            let word = u32::from(tid.z & 0x3f) << 20 | u32::from(tid.y & 0x3ff) << 10 | tid.x & 0x3ff;
            tid = tid.successor(&self.launch.block);
            word
        });
        Some(TidWrite { index: self.tid_index, group: self.tid_group, data })
    }

    /// Number of the last warp of a block.
    fn last_index(&self) -> u8 {
        self.block_warps.wrapping_sub(1) % (1 << INDEX_BITS)
    }

    /// Performs the clock edge. `launch` is taken while no grid is in progress; `most_slots`: the strap.
    #[inline]
    pub fn edge(&mut self, most_slots: u8, launch: Option<&Launch>, alive: u64, idle: u64, memory_idle: bool) {
        (self.done, self.fault) = (false, false);
        match self.state {
            State::Idle => {
                if let Some(launch) = launch {
                    self.take(launch);
                }
            }
            State::Divide => self.divide(most_slots),
            State::Coordinates => self.count_threads(),
            State::Run => self.run(!alive & idle, memory_idle),
        }
    }

    /// Whether an edge without a launch changes nothing: blocks run, none can be started, and none has ended.
    pub fn is_still(&self, alive: u64, idle: u64, memory_idle: bool) -> bool {
        let runs = self.state == State::Run && !self.starting && !self.done && !self.fault;
        let waits = if self.next.z < self.launch.grid.z {
            self.slot_busy.trailing_ones() >= self.slots.into()
        } else {
            self.slot_busy != 0 || !memory_idle
        };
        runs && waits && self.freed(!alive & idle) == 0
    }

    /// Clock edge in reset.
    pub fn reset(&mut self) {
        self.state = State::Idle;
        (self.done, self.fault, self.starting) = (false, false, false);
        (self.slots, self.slot_busy) = (0, 0);
        (self.slot, self.index) = ([0; NUMBERS], [0; NUMBERS]);
        (self.slot_base, self.ctaid) = ([0; BLOCK_SLOTS], [Coordinates::default(); BLOCK_SLOTS]);
        (self.extending, self.hosts, self.young, self.layout) = (false, 0, 0, RegisterLayout::default());
        self.private_shared = 0;
        (self.partition, self.shared_rows) = (Partition::default(), 0);
    }

    // Runs only before blocks run, which is rare: the code is kept away from that of every cycle, as is that of the next two functions.
    #[cold]
    fn take(&mut self, launch: &Launch) {
        self.launch = *launch;
        self.block_warps = usize::from(launch.threads).div_ceil(LANES) as u8 % (1 << WARP_BITS);
        self.rows = usize::from(launch.registers).div_ceil(self.banks) as u8;
        self.shared_step = launch.shared.next_multiple_of(shared_step(self.places));
        (self.slots, self.first, self.base, self.slot_busy) = (0, 0, 0, 0);
        (self.tid, self.tid_index, self.tid_group) = (Coordinates::default(), 0, 0);
        self.next = Coordinates::default();
        self.not_freed = (0, 0);
        self.state = State::Divide;
        if self.unified {
            (self.partition, self.shared_rows) = (launch.partition, launch.shared_rows);
        }
        if self.places {
            (self.hosts, self.young, self.private_shared) = (0, 0, launch.private_shared);
            self.layout = RegisterLayoutFields {
                guest_base: 0,
                host_warps: self.warps as u8,
                private_registers: launch.private,
                registers: launch.registers,
            }
            .into();
        }
    }

    #[cold]
    fn divide(&mut self, most_slots: u8) {
        let end = usize::from(self.first) + usize::from(self.block_warps);
        let has_place = self.slots < most_slots && end <= self.warps;
        let fits_as_it_is = |launcher: &Self| {
            has_place && launcher.base + launcher.step() <= launcher.shared_room() && launcher.has_registers(end)
        };
        let mut fits = fits_as_it_is(self);
        if !fits && self.places && self.launch.share && !self.extending && self.slots > 0 {
            let guest_base = u16::from(self.first) * u16::from(self.launch.registers);
            (self.extending, self.hosts) = (true, self.slots);
            self.layout.change(|layout| (layout.host_warps, layout.guest_base) = (self.first, guest_base));
            fits = fits_as_it_is(self);
        }
        if fits {
            for (index, w) in (usize::from(self.first)..end).enumerate() {
                (self.slot[w], self.index[w]) = (self.slots, index as u8);
            }
            self.slot_base[usize::from(self.slots)] = self.base;
            self.slots += 1;
            self.first = end as u8;
            self.base += self.step();
        } else if self.slots == 0 {
            self.fault = true;
            self.state = State::Idle;
        } else {
            self.extending = false;
            self.state = State::Coordinates;
        }
    }

    /// Bytes of shared memory that blocks may have.
    fn shared_room(&self) -> u32 {
        if self.unified { ROW_BYTES * u32::from(self.shared_rows) } else { self.shared_bytes }
    }

    /// Rows of the register file; none where the parts of unified memory exceed its size.
    fn register_rows(&self) -> usize {
        if !self.unified {
            return self.depth;
        }
        let rows = usize::from(self.partition.register_rows);
        let all = rows + usize::from(self.shared_rows) + self.partition.cache_rows();
        if all <= self.depth { rows } else { 0 }
    }

    /// Bytes of shared memory of one more slot; for a guest only its private bytes.
    fn step(&self) -> u32 {
        if self.extending { self.private_shared.next_multiple_of(shared_step(true)) } else { self.shared_step }
    }

    /// Whether one more slot, whose warps end before `end`, has registers: a guest needs its private registers, and a host.
    fn has_registers(&self, end: usize) -> bool {
        let registers = usize::from(self.launch.registers);
        if self.extending {
            let host_warps = usize::from(self.layout.host_warps());
            let taken = host_warps * registers + (end - host_warps) * usize::from(self.launch.private);
            self.slots - self.hosts < self.hosts && taken <= self.banks * self.depth
        } else if self.places {
            end * registers <= self.banks * self.depth
        } else {
            // With paired rows an even warp and the next one have the same rows, each in its bank (hybrid paper, 4.3).
            let placed = if self.paired_rows { end.next_multiple_of(2) } else { end };
            let rows = usize::from(self.rows);
            placed * rows <= self.register_rows() && rows <= self.max_rows
        }
    }

    #[cold]
    fn count_threads(&mut self) {
        for _ in 0..GROUP_LANES {
            self.tid = self.tid.successor(&self.launch.block);
        }
        self.tid_group = (self.tid_group + 1) % (1 << GROUP_BITS);
        if self.tid_group == 0 {
            if self.tid_index == self.last_index() {
                self.state = State::Run;
            }
            self.tid_index = (self.tid_index + 1) % (1 << INDEX_BITS);
        }
    }

    /// `ended`: warps without living lanes of which nothing is in flight.
    fn run(&mut self, ended: u64, memory_idle: bool) {
        let known = (ended, self.slot_busy) == self.not_freed && !self.starting;
        let freed = if known { 0 } else { self.freed(ended) };
        self.not_freed = if freed == 0 && !self.starting { (ended, self.slot_busy) } else { (0, 0) };
        if self.starting {
            self.starting = self.start_index != self.last_index();
            self.start_index = (self.start_index + 1) % (1 << INDEX_BITS);
            self.start_warp = (self.start_warp + 1) % (1 << WARP_BITS);
        } else if self.next.z < self.launch.grid.z {
            self.fill_slot();
        } else if self.slot_busy == 0 && memory_idle {
            self.state = State::Idle;
            self.done = true;
        }
        self.slot_busy &= !freed;
    }

    /// The slots whose blocks have ended. The slot that is being started is left out: its warps that have not begun would look ended.
    fn freed(&self, ended: u64) -> u16 {
        let starting = if self.starting { 1 << self.start_slot } else { 0 };
        let n = usize::from(self.block_warps);
        let of_block = (1u64 << n) - 1;
        set_bits(self.slot_busy & !starting)
            .filter(|k| ended >> (k * n) & of_block == of_block)
            .fold(0, |freed, k| freed | 1 << k)
    }

    fn fill_slot(&mut self) {
        let k = self.slot_busy.trailing_ones() as u8;
        if k >= self.slots {
            return;
        }
        self.slot_busy |= 1 << k;
        self.ctaid[usize::from(k)] = self.next;
        self.next = self.next.successor(&self.launch.grid);
        (self.start_slot, self.start_index, self.starting) = (k, 0, true);
        self.start_warp = k.wrapping_mul(self.block_warps) % (1 << WARP_BITS);
        // The new block is the younger one of its pair; a block without a partner is not.
        if let Some(partner) = self.partner(k) {
            self.young = (self.young | 1 << k) & !(1 << partner);
        } else {
            self.young &= !(1 << k);
        }
    }

    /// The slot that a slot shares registers with.
    fn partner(&self, k: u8) -> Option<u8> {
        match k.checked_sub(self.hosts) {
            Some(host) => (self.hosts != 0).then_some(host),
            None => Some(k + self.hosts).filter(|&guest| guest < self.slots),
        }
    }
}

/// Granule of shared memory in bytes: a word, or a line where registers are allocated in rows.
pub const fn shared_step(places: bool) -> u32 {
    if places { size_of::<u32>() as u32 } else { 128 }
}

impl Block for BlockLauncher {
    const NAME: &'static str = "block_launcher";
    const PARAMETERS: &'static [&'static str] =
        &["Warps", "Banks", "Depth", "SharedWords", "PairedRows", "MaxRegisters", "Places", "Unified"];

    type Shape = SmShape;
    type In = BlockLauncherIn;
    type Out = BlockLauncherOut;
    type Probe = BlockLauncherProbe;

    fn shape_alone(config: &Config) -> SmShape {
        config.sm_shape().with_shared_ports()
    }

    fn unused(shape: &SmShape) -> Vec<&'static str> {
        if shape.unified() { Vec::new() } else { UNIFIED_INPUTS.to_vec() }
    }

    fn new(shape: &SmShape) -> Self {
        Self {
            warps: shape.warps,
            banks: shape.mrf.banks,
            depth: shape.mrf.depth,
            places: shape.places(),
            paired_rows: shape.services().pairs_rows,
            max_rows: shape.services().max_registers / shape.mrf.banks,
            shared_bytes: (shape.shared_words * size_of::<u32>()) as u32,
            state: State::Idle,
            done: false,
            fault: false,
            slots: 0,
            slot_busy: 0,
            starting: false,
            launch: Launch::default(),
            rows: 0,
            block_warps: 0,
            shared_step: 0,
            first: 0,
            base: 0,
            slot: [0; NUMBERS],
            index: [0; NUMBERS],
            slot_base: [0; BLOCK_SLOTS],
            tid: Coordinates::default(),
            tid_index: 0,
            tid_group: 0,
            next: Coordinates::default(),
            ctaid: [Coordinates::default(); BLOCK_SLOTS],
            start_slot: 0,
            start_index: 0,
            start_warp: 0,
            extending: false,
            hosts: 0,
            young: 0,
            layout: RegisterLayout::default(),
            private_shared: 0,
            unified: shape.unified(),
            partition: Partition::default(),
            shared_rows: 0,
            not_freed: (0, 0),
        }
    }

    fn early(&self, out: &mut BlockLauncherOut) {
        (out.busy_o, out.done_o, out.fault_valid_o) = (self.busy().into(), self.done.into(), self.fault.into());
        (out.fresh_o, out.spare_o) = (self.fresh().is_some().into(), self.fresh().unwrap_or_default().into());
        out.start_valid_o = self.starting.into();
        (out.start_warp_o, out.start_mask_o) = self.start().unwrap_or_default();
        let shown = if self.busy() { self.launch } else { Launch::default() };
        out.rows_o = if self.busy() { self.rows } else { 0 };
        (out.shared_bytes_o, out.dynamic_o, out.local_words_o) = (shown.shared, shown.dynamic, shown.local_words);
        (out.ntid_x_o, out.ntid_y_o, out.ntid_z_o) = (shown.block.x as u16, shown.block.y, shown.block.z as u8);
        (out.nctaid_x_o, out.nctaid_y_o, out.nctaid_z_o) = (shown.grid.x, shown.grid.y, shown.grid.z);
        out.private_bytes_o = if self.busy() { self.private_shared } else { 0 };
        out.slot_o = *self.slots();
        (out.register_rows_o, out.cache_log_o) = (self.partition.register_rows, self.partition.cache_log);
        (out.layout_o, out.slot_busy_o, out.slot_young_o) = (self.layout.0, self.slot_busy, self.young);
        out.end_warps_o = if self.busy() { self.first } else { 0 };
        let tid = self.tid_write();
        out.tid_we_o = tid.is_some().into();
        let TidWrite { index, group, data } = tid.unwrap_or(TidWrite { index: 0, group: 0, data: [0; GROUP_LANES] });
        (out.tid_index_o, out.tid_group_o, out.tid_data_o) = (index, group, data);
    }

    fn late(&mut self, inputs: &BlockLauncherIn, out: &mut BlockLauncherOut) {
        out.place_base_o = self.place(inputs.place_warp_i);
        out.place_common_o = self.place_common(inputs.place_warp_i);
        let (index, block) = self.block_of(inputs.block_warp_i);
        (out.block_index_o, out.block_x_o, out.block_y_o, out.block_z_o) = (index, block.x, block.y, block.z);
    }

    fn clock(&mut self, inputs: &BlockLauncherIn, _: &BlockLauncherOut) {
        if inputs.rst_ni == 0 {
            self.reset();
            return;
        }
        let launch = Launch {
            grid: Coordinates { x: inputs.launch_grid_x_i, y: inputs.launch_grid_y_i, z: inputs.launch_grid_z_i },
            block: Coordinates {
                x: inputs.launch_block_x_i.into(),
                y: inputs.launch_block_y_i,
                z: inputs.launch_block_z_i.into(),
            },
            threads: inputs.launch_threads_i,
            registers: inputs.launch_registers_i,
            share: inputs.launch_share_i != 0,
            private: inputs.launch_private_i,
            private_shared: inputs.launch_private_shared_i,
            shared: inputs.launch_shared_i,
            dynamic: inputs.launch_dynamic_i,
            local_words: inputs.launch_local_i,
            partition: Partition { register_rows: inputs.launch_register_rows_i, cache_log: inputs.launch_cache_i },
            shared_rows: inputs.launch_shared_rows_i,
        };
        let offered = (inputs.launch_valid_i != 0).then_some(&launch);
        self.edge(inputs.cfg_i, offered, inputs.alive_i, inputs.idle_i, inputs.memory_idle_i != 0);
    }

    fn drain(&mut self) {
        // The blocks keep the grid that they see.
        self.next.z = self.launch.grid.z;
    }

    fn probe(&self, _: &BlockLauncherIn, _: &BlockLauncherOut, probe: &mut BlockLauncherProbe) {
        *probe = crate::Ports::zeroed();
        probe.state_q = self.state as u8;
        probe.shared_rows_q = self.shared_rows;
        (probe.slots_q, probe.extending_q, probe.hosts_q) = (self.slots, self.extending.into(), self.hosts);
        (probe.slot_base_q, probe.index_q) = (self.slot_base, *self.index.first_chunk().expect("as in `slots`"));
        for (k, block) in self.ctaid.iter().enumerate() {
            (probe.ctaid_x_q[k], probe.ctaid_y_q[k], probe.ctaid_z_q[k]) = (block.x, block.y, block.z);
        }
        if self.busy() {
            (probe.threads_q, probe.warps_q, probe.shared_step_q) =
                (self.launch.threads, self.block_warps, self.shared_step);
            (probe.base_q, probe.share_q) = (self.base, self.launch.share.into());
            (probe.tid_x_q, probe.tid_y_q, probe.tid_z_q) = (self.tid.x as u16, self.tid.y, self.tid.z as u8);
            (probe.tid_index_q, probe.tid_group_q) = (self.tid_index, self.tid_group);
            (probe.next_x_q, probe.next_y_q, probe.next_z_q) = (self.next.x, self.next.y, self.next.z);
        }
        probe.starting_q = self.starting.into();
        if self.starting {
            (probe.start_slot_q, probe.start_index_q) = (self.start_slot, self.start_index);
        }
    }
}

#[cfg(test)]
mod tests;
