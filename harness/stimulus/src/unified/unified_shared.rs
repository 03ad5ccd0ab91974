//! `unified_shared`.

use gpurf_blocks::Block;
use gpurf_blocks::WarpData;
use gpurf_blocks::config::Config;
use gpurf_blocks::shape::{SmShape, Straps};
use gpurf_blocks::unified::{
    CLUSTER_BYTES, CLUSTERS, UnifiedShared, UnifiedSharedIn, UnifiedSharedOut, UnifiedSharedProbe,
};
use gpurf_lockstep::Rng;

use super::{ALL, clusters, clusters_where};
use crate::cover::{Contains, Within};
use crate::driver::Twin;
use crate::memory::lanes::set_lanes;
use crate::memory::scratchpad::{ATOMIC, AccessKnobs, Accesses, LOAD, STORE, ScratchpadCover, row, selected};
use crate::{Coverage, Driver, Points, Unreached, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry =
    crate::Entry { coverage, ..crate::entry::<UnifiedShared, UnifiedSharedDriver, UnifiedSharedCover>() };

/// What every scratchpad has, and what is this one's.
fn coverage(config: &Config) -> Coverage {
    Coverage::new::<Within<UnifiedShared, ScratchpadCover>>(config).and(Coverage::new::<UnifiedSharedCover>(config))
}

impl Contains<ScratchpadCover> for UnifiedShared {
    fn cover(_: &SmShape, config: &Config) -> ScratchpadCover {
        ScratchpadCover::of(CLUSTER_BYTES as u32, &Self::shape_alone(config), config)
    }

    fn observe(
        cover: &mut ScratchpadCover,
        i: &UnifiedSharedIn,
        o: &UnifiedSharedOut,
        p: &UnifiedSharedProbe,
        points: &mut Points,
    ) {
        crate::Cover::observe(cover, &i.shared, &o.shared, &p.shared, points);
    }
}

/// Words of a cluster's bank.
const QUAD: usize = CLUSTER_BYTES / size_of::<u32>();

/// The memory pipeline, and the banks.
pub(crate) struct UnifiedSharedDriver {
    accesses: Accesses,
    /// Says what is wanted, and which lanes are served.
    twin: Twin<UnifiedShared>,
    /// The rows of 128 bytes.
    rows: Vec<WarpData>,
    /// What each cluster read at the edge before.
    read: [Option<[u32; QUAD]>; CLUSTERS],
}

knobs! {
    pub(crate) struct UnifiedSharedKnobs {
        free: "registers and cache leave all that is wanted" = [50, 500, 900, 1000],
        other: "others read in a cluster" = [0, 500, 1000],
        ..accesses: AccessKnobs,
    }
}

impl Driver for UnifiedSharedDriver {
    type In = UnifiedSharedIn;
    type Knobs = UnifiedSharedKnobs;

    fn new(_: &SmShape, config: &Config) -> Self {
        let shape = UnifiedShared::shape_alone(config);
        Self {
            accesses: Accesses::new(CLUSTER_BYTES as u32, &shape, config),
            twin: Twin::new(&shape),
            rows: vec![WarpData::ZERO; shape.shared_words / (QUAD * CLUSTERS)],
            read: [None; CLUSTERS],
        }
    }

    fn unreached(_: &SmShape, config: &Config) -> Vec<Unreached> {
        Accesses::unreached(&UnifiedShared::shape_alone(config))
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &UnifiedSharedKnobs, i: &mut UnifiedSharedIn) {
        i.shared = *self.accesses.offer(rng, &knobs.accesses);
        (i.read_ready_i, i.write_ready_i) = (0, 0);
        let read = std::mem::take(&mut self.read);
        for (g, (output, read)) in i.data_i.0.as_chunks_mut().0.iter_mut().zip(read).enumerate() {
            // Whoever reads in a cluster takes its output.
            match read {
                Some(words) => *output = words,
                None if rng.chance(knobs.other) => *output = self.any(rng, g),
                None => {}
            }
        }
        self.twin.early();
        self.twin.late(i);
        let out = &self.twin.out;
        i.read_ready_i = served(rng, knobs, out.read_o, &out.row_o);
        i.write_ready_i = served(rng, knobs, out.write_o, &out.row_o);
        self.twin.late(i);
        i.shared = *self.accesses.serve(self.twin.out.shared.served_o);
        self.access(i);
        self.twin.clock(i);
    }
}

/// The clusters in which a pass is served: what registers and cache leave of those that it wants.
fn served(rng: &mut Rng, knobs: &UnifiedSharedKnobs, wanted: u8, rows: &[u16; CLUSTERS]) -> u8 {
    if wanted == 0 || rng.chance(knobs.free) {
        return wanted;
    }
    wanted
        & match rng.below(4) {
            // The cache has all clusters.
            0 => 0,
            // Registers have whole columns.
            1 | 2 => {
                let columns = rng.next_u64();
                clusters_where(|g| columns >> (rows[g] % 4) & 1 == 1)
            }
            // Registers have clusters of several columns.
            _ => rng.next_u64() as u8,
        }
}

impl UnifiedSharedDriver {
    /// What a cluster shows if something else has been read there: any words, or those of another row.
    fn any(&self, rng: &mut Rng, g: usize) -> [u32; QUAD] {
        if rng.chance(300) {
            return self.words(rng.below(self.rows.len() as u64) as usize, g);
        }
        std::array::from_fn(|_| rng.next_u64() as u32)
    }

    fn words(&self, row: usize, g: usize) -> [u32; QUAD] {
        std::array::from_fn(|word| self.rows[row].0[QUAD * g + word])
    }

    /// The edge of the banks.
    fn access(&mut self, i: &UnifiedSharedIn) {
        let out = &self.twin.out;
        for g in clusters(i.read_ready_i) {
            self.read[g] = Some(self.words(out.row_o[g].into(), g));
        }
        for g in clusters(i.write_ready_i) {
            for byte in (0..CLUSTER_BYTES).filter(|byte| out.bytes_o[g] >> byte & 1 == 1) {
                let (word, bits) = (QUAD * g + byte / 4, 0xff << (8 * (byte % 4)));
                let old = &mut self.rows[usize::from(out.row_o[g])].0[word];
                *old = *old & !bits | out.data_o.0[word] & bits;
            }
        }
    }
}

pub(crate) struct UnifiedSharedCover {
    /// 128 bytes a cycle: all lanes are looked at.
    whole: bool,
    /// Clusters that an atomic operation wanted and did not read, and that it read and did not write: in the cycle before, and since the operation
    /// was offered.
    unread: u8,
    unwritten: u8,
    /// Clusters that the pass of the cycle before wanted, and was not served in.
    lost: u8,
}

fn cluster(address: u32) -> usize {
    address as usize / CLUSTER_BYTES % CLUSTERS
}

#[cover]
impl UnifiedSharedCover {
    fn new(_: &SmShape, config: &Config) -> Self {
        Self { whole: Straps::of(config).shared_bandwidth == 0, unread: 0, unwritten: 0, lost: 0 }
    }

    fn observe(&mut self, i: &UnifiedSharedIn, o: &UnifiedSharedOut, p: &UnifiedSharedProbe, points: &mut Points) {
        self.passes(i, o, p, points);
        self.atomics(i, o, p, points);
        self.words(i, o, p, points);
        let wanted = o.read_o | o.write_o;
        self.lost = wanted & !(i.read_ready_i | i.write_ready_i);
        if p.shared.phase_q == 1 {
            (self.unread, self.unwritten) = (self.unread & !o.write_o, o.write_o & !i.write_ready_i);
        } else if i.shared.kind_i == ATOMIC && wanted != 0 {
            (self.unread, self.unwritten) = (wanted & !i.read_ready_i, 0);
        }
        if i.shared.rst_ni == 0 || i.shared.valid_i == 0 || i.shared.kind_i != ATOMIC {
            (self.unread, self.unwritten) = (0, 0);
        }
    }

    fn passes(&self, i: &UnifiedSharedIn, o: &UnifiedSharedOut, p: &UnifiedSharedProbe, points: &mut Points) {
        let valid = i.shared.valid_i == 1;
        let (load, store) = (valid && i.shared.kind_i == LOAD, valid && i.shared.kind_i == STORE);
        let (wanted, ready) = (o.read_o | o.write_o, i.read_ready_i | i.write_ready_i);
        let first = wanted.trailing_zeros() as usize;
        let differ = clusters(wanted).any(|g| o.row_o[g] != o.row_o[first]);
        let columns = clusters(wanted).any(|g| o.row_o[g] % 4 != o.row_o[first] % 4);
        let some = ready != 0 && ready != wanted;
        let conflict = self.refused(i) != 0;
        point!("a load in all clusters", load && ready == ALL);
        point!("a load is served in some of its clusters", load && some);
        point!("a load that wants clusters is not served", load && wanted != 0 && ready == 0);
        point!("a load in one cluster", load && ready.is_power_of_two() && wanted == ready);
        point!("a store in all clusters", store && ready == ALL);
        point!("a store is served in some of its clusters", store && some);
        point!("a store is not served", store && wanted != 0 && ready == 0);
        point!("a store in one cluster", store && ready.is_power_of_two() && wanted == ready);
        point!("all clusters, one row", load && wanted == ALL && !differ);
        point!("rows of several columns", load && columns);
        point!("rows of one column", load && differ && !columns);
        point!("a conflict in a cluster that is served", load && some && conflict);
        point!("a cluster is served in which the pass before was not", self.lost & ready != 0 && !self.atomic(i));
        point!("nothing is wanted", wanted == 0);
        point!("a load without room wants nothing", load && i.shared.room_i == 0 && self.lost != 0);
        let phase = p.shared.phase_q == 1;
        point!(
            "a pass of which no lane is left waits",
            load && wanted & !ready != 0 && !phase && o.shared.served_o != 0
        );
        point!("a load under reset that is not served whole", i.shared.rst_ni == 0 && load && some);
    }

    fn atomic(&self, i: &UnifiedSharedIn) -> bool {
        i.shared.valid_i == 1 && i.shared.kind_i == ATOMIC
    }

    /// Lanes of the window that the pass does not serve, whatever is free.
    fn refused(&self, i: &UnifiedSharedIn) -> u32 {
        let (window, selected) = selected(&i.shared, CLUSTER_BYTES as u32);
        i.shared.lanes_i & window & !selected
    }

    fn atomics(&self, i: &UnifiedSharedIn, o: &UnifiedSharedOut, p: &UnifiedSharedProbe, points: &mut Points) {
        let (atomic, room) = (self.atomic(i), i.shared.room_i == 1);
        let first = atomic && p.shared.phase_q == 0 && o.read_o != 0;
        let second = atomic && p.shared.phase_q == 1;
        let (read, written) = (i.read_ready_i, i.write_ready_i);
        let served = o.shared.served_o;
        let (_, selected) = selected(&i.shared, CLUSTER_BYTES as u32);
        let wanted = set_lanes(selected).fold(0u8, |set, lane| set | 1 << cluster(i.shared.addr_i.0[lane]));
        point!("an atomic operation reads all clusters", first && read == ALL);
        point!("an atomic operation reads all that it wants", first && read == o.read_o);
        point!("an atomic operation reads some of its clusters", first && read != 0 && read != o.read_o);
        point!("an atomic operation reads nothing", first && read == 0);
        point!("an atomic operation writes all that it has read", second && written == p.read_q);
        point!("an atomic operation writes some of what it has read", second && written != 0 && written != p.read_q);
        point!("an atomic operation writes nothing", second && written == 0);
        point!("an atomic operation writes nothing, and there is no room", second && written == 0 && !room);
        point!("clusters are left that were not read", second && wanted & !p.read_q != 0);
        point!(
            "some clusters were not read, and some of the others are not written",
            second && wanted & !p.read_q != 0 && written != p.read_q
        );
        point!("a cluster is read that could not be read", first && read & self.unread != 0);
        point!("a cluster is read again that could not be written", first && read & self.unwritten != 0);
        point!(
            "a cluster that could not be written is not read again at once",
            first && self.unwritten & !read != 0 && read != 0
        );
        point!("lanes are served that a cluster has left", second && served != 0 && self.unread != 0);
        let together = |a: usize, b: usize| a != b && i.shared.addr_i.0[a] / 16 == i.shared.addr_i.0[b] / 16;
        let two = set_lanes(served).any(|a| set_lanes(served).any(|b| together(a, b)));
        point!("atomic operations on two words of a cluster", second && two);
        point!(
            "atomic operations on words of several rows",
            second && clusters(written).any(|g| o.row_o[g] != o.row_o[written.trailing_zeros() as usize])
        );
        point!(
            "an atomic operation is withdrawn after a part of it was read",
            p.shared.phase_q == 1 && !atomic && p.read_q != ALL
        );
        let result = p.shared.first_valid_q == 1 && p.shared.first_reg_valid_q == 1;
        let place = |lane: usize| usize::from(p.shared.place_q[lane]) / 4;
        let changed = set_lanes(p.shared.first_mask_q).any(|lane| i.data_i.0[place(lane)] != p.old_q.0[place(lane)]);
        point!(
            "the words of an atomic operation are not in the banks' outputs any more",
            result && p.first_atomic_q == 1 && changed
        );
        point!(
            "the words of a load are not those of the atomic operation before it",
            result && p.first_atomic_q == 0 && changed
        );
        point!(
            "a load reads while an atomic operation's result is made",
            result && p.first_atomic_q == 1 && i.shared.kind_i == LOAD && read != 0
        );
        point!(
            "an atomic operation reads while a load's result is made",
            result && p.first_atomic_q == 0 && first && read != 0
        );
        point!("an atomic operation without a register writes", second && i.shared.reg_valid_i == 0 && written != 0);
        point!("an atomic operation reads under reset", i.shared.rst_ni == 0 && first && read != 0);
    }

    fn words(&self, i: &UnifiedSharedIn, o: &UnifiedSharedOut, p: &UnifiedSharedProbe, points: &mut Points) {
        let load = i.shared.valid_i == 1 && i.shared.kind_i == LOAD;
        let store = i.shared.valid_i == 1 && i.shared.kind_i == STORE;
        let address = |lane: usize| i.shared.addr_i.0[lane];
        // Words of each cluster that lanes are served from.
        let mut words = [0u8; CLUSTERS];
        set_lanes(o.shared.served_o).for_each(|lane| words[cluster(address(lane))] |= 1 << (address(lane) / 4 % 4));
        let most = words.iter().map(|words| words.count_ones()).max().unwrap_or(0);
        let bytes = |g: usize| o.bytes_o[g];
        let served = || clusters(i.write_ready_i);
        point!("two words of a cluster", load && most == 2);
        point!("all words of a cluster", load && most == 4);
        point!("all words of all clusters", load && words == [0xf; CLUSTERS], given = self.whole);
        point!("a store to all bytes of a cluster", store && served().any(|g| bytes(g) == u16::MAX));
        point!(
            "a store to several words of a cluster",
            store && served().any(|g| bytes(g) & 0xf != 0 && bytes(g) >> 4 != 0)
        );
        point!("a store to the first byte of a cluster alone", store && served().any(|g| bytes(g) == 1));
        point!("a store to the last byte of a cluster alone", store && served().any(|g| bytes(g) == 1 << 15));
        point!(
            "lanes of the same word in two rows",
            load && set_lanes(self.refused(i))
                .any(|lane| set_lanes(o.shared.served_o).any(|other| address(lane) % 128 == address(other) % 128))
        );
        point!(
            "a cluster is not read whose words go into a result",
            p.shared.first_valid_q == 1
                && p.first_atomic_q == 0
                && set_lanes(p.shared.first_mask_q)
                    .any(|lane| i.read_ready_i >> cluster(p.shared.place_q[lane].into()) & 1 == 0)
        );
        let lowest = |g: usize| set_lanes(i.shared.lanes_i).find(|&lane| cluster(address(lane)) == g);
        point!(
            "the lowest lane of a cluster decides against more lanes of another row",
            load && clusters(i.read_ready_i).any(|g| {
                let Some(first) = lowest(g) else { return false };
                let (_, selected) = selected(&i.shared, CLUSTER_BYTES as u32);
                let of = |set: u32| set_lanes(set).filter(|&lane| cluster(address(lane)) == g).count();
                selected >> first & 1 == 1 && of(self.refused(i)) > of(selected)
            })
        );
        let rows = set_lanes(o.shared.served_o).map(|lane| row(address(lane))).max();
        point!("a row past the first 256", rows.is_some_and(|row| row >= 256));
    }
}
