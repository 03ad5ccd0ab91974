//! `unified_shared`.

use gpurf_blocks::Block;
use gpurf_blocks::WarpData;
use gpurf_blocks::config::Config;
use gpurf_blocks::shape::{SmShape, Straps};
use gpurf_blocks::unified::{
    CLUSTER_BYTES, CLUSTERS, COLUMNS, UnifiedShared, UnifiedSharedIn, UnifiedSharedOut, UnifiedSharedProbe, WORDS,
};
use gpurf_lockstep::Rng;

use super::{ALL, QUAD, clusters, clusters_of, words, words_where};
use crate::cover::{Contains, Within};
use crate::driver::Twin;
use crate::memory::lanes::set_lanes;
use crate::memory::scratchpad::{ATOMIC, AccessKnobs, Accesses, LOAD, STORE, ScratchpadCover, row, selected};
use crate::{Coverage, Driver, Points, Unreached, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry =
    crate::Entry { coverage, ..crate::entry::<UnifiedShared, UnifiedSharedDriver, UnifiedSharedCover>() };

/// Points of every scratchpad, and those of this one.
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

/// Driver of `unified_shared`: the memory pipeline, and the banks.
pub(crate) struct UnifiedSharedDriver {
    accesses: Accesses,
    /// Tells which word places are requested, and which lanes are served.
    twin: Twin<UnifiedShared>,
    /// The rows of 128 bytes.
    rows: Vec<WarpData>,
    /// The word that was read for each word place at the previous clock edge.
    read: [Option<u32>; WORDS],
}

knobs! {
    pub(crate) struct UnifiedSharedKnobs {
        free: "registers and cache leave all that is wanted" = [50, 500, 900, 1000],
        other: "others read at a word place" = [0, 500, 1000],
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
            rows: vec![WarpData::ZERO; shape.shared_words / WORDS],
            read: [None; WORDS],
        }
    }

    fn unreached(_: &SmShape, config: &Config) -> Vec<Unreached> {
        Accesses::unreached(&UnifiedShared::shape_alone(config))
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &UnifiedSharedKnobs, i: &mut UnifiedSharedIn) {
        i.shared = *self.accesses.offer(rng, &knobs.accesses);
        (i.read_ready_i, i.write_ready_i) = (0, 0);
        let read = std::mem::take(&mut self.read);
        // Any other read in a cluster changes the cluster's outputs.
        let others = rng.mask(CLUSTERS as u32, knobs.other) as u8;
        for (w, (output, read)) in i.data_i.0.iter_mut().zip(read).enumerate() {
            match read {
                Some(word) => *output = word,
                None if others >> (w / QUAD) & 1 == 1 => *output = self.any(rng, w),
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

/// The word places at which a pass is served: those of the requested ones that registers and cache leave free.
fn served(rng: &mut Rng, knobs: &UnifiedSharedKnobs, wanted: u32, rows: &[u16; WORDS]) -> u32 {
    if wanted == 0 || rng.chance(knobs.free) {
        return wanted;
    }
    wanted
        & match rng.below(5) {
            // The cache takes all clusters.
            0 => 0,
            // Registers take whole columns.
            1 | 2 => {
                let columns = rng.next_u64();
                words_where(|w| columns >> (rows[w] % 4) & 1 == 1)
            }
            // Registers take clusters of several columns.
            3 => {
                let banks = rng.next_u64();
                words_where(|w| banks >> (CLUSTERS * usize::from(rows[w] % 4) + w / QUAD) & 1 == 1)
            }
            // Words of one bank are always served together, but the scratchpad does not rely on that.
            _ => rng.next_u64() as u32,
        }
}

impl UnifiedSharedDriver {
    /// The output of a word place after another read there: any word, or that of another row.
    fn any(&self, rng: &mut Rng, w: usize) -> u32 {
        if rng.chance(300) {
            return self.rows[rng.below(self.rows.len() as u64) as usize].0[w];
        }
        rng.next_u64() as u32
    }

    /// The clock edge of the banks.
    fn access(&mut self, i: &UnifiedSharedIn) {
        let out = &self.twin.out;
        for w in words(i.read_ready_i) {
            self.read[w] = Some(self.rows[usize::from(out.row_o[w])].0[w]);
        }
        for w in words(i.write_ready_i) {
            for bits in (0..4).filter(|byte| out.bytes_o[w] >> byte & 1 == 1).map(|byte| 0xff << (8 * byte)) {
                let old = &mut self.rows[usize::from(out.row_o[w])].0[w];
                *old = *old & !bits | out.data_o.0[w] & bits;
            }
        }
    }
}

pub(crate) struct UnifiedSharedCover {
    /// Whether the bandwidth is 128 bytes a cycle, so that a pass considers all lanes.
    whole: bool,
    /// Whether a cluster combines words of several columns.
    aggressive: bool,
    /// Word places that the atomic operation requested and did not read, and those that it read and did not write, in its cycles so far.
    unread: u32,
    unwritten: u32,
    /// Word places that the pass of the previous cycle requested, and at which it was not served.
    lost: u32,
}

fn cluster(address: u32) -> usize {
    address as usize / CLUSTER_BYTES % CLUSTERS
}

/// Word place of an address.
fn word(address: u32) -> usize {
    address as usize / 4 % WORDS
}

/// The largest number of columns that words of one cluster are in.
fn most_columns(o: &UnifiedSharedOut, set: u32) -> u32 {
    let of_cluster = |g: usize| words(set & 0xf << (QUAD * g)).fold(0u8, |columns, w| columns | 1 << (o.row_o[w] % 4));
    (0..CLUSTERS).map(|g| of_cluster(g).count_ones()).max().unwrap_or(0)
}

#[cover]
impl UnifiedSharedCover {
    fn new(_: &SmShape, config: &Config) -> Self {
        let Straps { shared_bandwidth, gather_aggressive: aggressive, .. } = Straps::of(config);
        Self { whole: shared_bandwidth == 0, aggressive, unread: 0, unwritten: 0, lost: 0 }
    }

    fn observe(&mut self, i: &UnifiedSharedIn, o: &UnifiedSharedOut, p: &UnifiedSharedProbe, points: &mut Points) {
        self.passes(i, o, p, points);
        self.atomics(i, o, p, points);
        self.words(i, o, p, points);
        if self.aggressive {
            self.combined(i, o, p, points);
        }
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
        let differ = words(wanted).any(|w| o.row_o[w] != o.row_o[first]);
        let columns = words(wanted).any(|w| o.row_o[w] % 4 != o.row_o[first] % 4);
        let (of_wanted, of_ready) = (clusters_of(wanted), clusters_of(ready));
        let some = of_ready != 0 && of_ready != of_wanted;
        let one = of_ready.is_power_of_two() && wanted == ready;
        let conflict = self.refused(i) != 0;
        point!("a load in all clusters", load && of_ready == ALL);
        point!("a load is served in some of its clusters", load && some);
        point!("a load that wants clusters is not served", load && wanted != 0 && ready == 0);
        point!("a load in one cluster", load && one);
        point!("a store in all clusters", store && of_ready == ALL);
        point!("a store is served in some of its clusters", store && some);
        point!("a store is not served", store && wanted != 0 && ready == 0);
        point!("a store in one cluster", store && one);
        point!("all clusters, one row", load && of_wanted == ALL && !differ);
        point!("rows of several columns", load && columns);
        point!("rows of one column", load && differ && !columns);
        point!("a conflict in a cluster that is served", load && some && conflict);
        point!("a word is served at which the pass before was not", self.lost & ready != 0 && !self.atomic(i));
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

    /// Lanes of the window that the pass does not serve, whichever word places are free.
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
        let wanted = set_lanes(selected).fold(0u32, |set, lane| set | 1 << word(i.shared.addr_i.0[lane]));
        point!("an atomic operation reads all clusters", first && clusters_of(read) == ALL);
        point!("an atomic operation reads all that it wants", first && read == o.read_o);
        point!("an atomic operation reads some of its clusters", first && read != 0 && read != o.read_o);
        point!("an atomic operation reads nothing", first && read == 0);
        point!("an atomic operation writes all that it has read", second && written == p.read_q);
        point!("an atomic operation writes some of what it has read", second && written != 0 && written != p.read_q);
        point!("an atomic operation writes nothing", second && written == 0);
        point!("an atomic operation writes nothing, and there is no room", second && written == 0 && !room);
        point!("words are left that were not read", second && wanted & !p.read_q != 0);
        point!(
            "some words were not read, and some of the others are not written",
            second && wanted & !p.read_q != 0 && written != p.read_q
        );
        point!("a word is read that could not be read", first && read & self.unread != 0);
        point!("a word is read again that could not be written", first && read & self.unwritten != 0);
        point!(
            "a word that could not be written is not read again at once",
            first && self.unwritten & !read != 0 && read != 0
        );
        point!("lanes are served that a cluster has left", second && served != 0 && self.unread != 0);
        let together = |a: usize, b: usize| a != b && i.shared.addr_i.0[a] / 16 == i.shared.addr_i.0[b] / 16;
        let two = set_lanes(served).any(|a| set_lanes(served).any(|b| together(a, b)));
        point!("atomic operations on two words of a cluster", second && two);
        point!(
            "atomic operations on words of several rows",
            second && words(written).any(|w| o.row_o[w] != o.row_o[written.trailing_zeros() as usize])
        );
        point!(
            "an atomic operation is withdrawn after a part of it was read",
            p.shared.phase_q == 1 && !atomic && clusters_of(p.read_q) != ALL
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
        // Words that lanes are served from.
        let places = set_lanes(o.shared.served_o).fold(0u32, |set, lane| set | 1 << word(address(lane)));
        let most = (0..CLUSTERS).map(|g| (places >> (QUAD * g) & 0xf).count_ones()).max().unwrap_or(0);
        let bytes = |g: usize| {
            let of_word = |k: usize| match i.write_ready_i >> (QUAD * g + k) & 1 {
                0 => 0,
                _ => u16::from(o.bytes_o[QUAD * g + k]),
            };
            (0..QUAD).fold(0u16, |set, k| set | of_word(k) << (4 * k))
        };
        let served = || clusters(clusters_of(i.write_ready_i));
        point!("two words of a cluster", load && most == 2);
        point!("all words of a cluster", load && most == 4);
        point!("all words of all clusters", load && places == u32::MAX, given = self.whole);
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
                    .any(|lane| clusters_of(i.read_ready_i) >> cluster(p.shared.place_q[lane].into()) & 1 == 0)
        );
        let lowest = |g: usize| set_lanes(i.shared.lanes_i).find(|&lane| cluster(address(lane)) == g);
        point!(
            "the lowest lane of a cluster decides against more lanes of another row",
            load && clusters(clusters_of(i.read_ready_i)).any(|g| {
                let Some(first) = lowest(g) else { return false };
                let (_, selected) = selected(&i.shared, CLUSTER_BYTES as u32);
                let of = |set: u32| set_lanes(set).filter(|&lane| cluster(address(lane)) == g).count();
                selected >> first & 1 == 1 && of(self.refused(i)) > of(selected)
            })
        );
        let rows = set_lanes(o.shared.served_o).map(|lane| row(address(lane))).max();
        point!("a row past the first 256", rows.is_some_and(|row| row >= 256));
    }

    /// Points that gathering from several banks adds.
    #[given(self.aggressive)]
    fn combined(&self, i: &UnifiedSharedIn, o: &UnifiedSharedOut, p: &UnifiedSharedProbe, points: &mut Points) {
        let valid = i.shared.valid_i == 1;
        let (load, store) = (valid && i.shared.kind_i == LOAD, valid && i.shared.kind_i == STORE);
        let atomic = self.atomic(i);
        let second = atomic && p.shared.phase_q == 1;
        let (wanted, ready) = (o.read_o | o.write_o, i.read_ready_i | i.write_ready_i);
        let address = |lane: usize| i.shared.addr_i.0[lane];
        let served = o.shared.served_o;
        let (_, selected) = selected(&i.shared, CLUSTER_BYTES as u32);
        let most = most_columns(o, ready);
        point!("a load of two columns of a cluster", load && most == 2);
        point!("a load of three columns of a cluster", load && most == 3);
        point!("a load of all columns of a cluster", load && most == COLUMNS as u32);
        point!("a store to two columns of a cluster", store && most == 2);
        point!("a store to three columns of a cluster", store && most == 3);
        point!("a store to all columns of a cluster", store && most == COLUMNS as u32);
        point!("an atomic operation reads two columns of a cluster", atomic && !second && most == 2);
        point!("an atomic operation writes two columns of a cluster", second && most == 2);
        point!("an atomic operation writes three columns or more of a cluster", second && most > 2);
        // Lanes that are refused, and a lane of their cluster that is served.
        let refused_by = |holds: &dyn Fn(u32, u32) -> bool| {
            set_lanes(self.refused(i)).any(|lane| {
                let (one, cluster_of) = (address(lane), cluster(address(lane)));
                set_lanes(served).any(|other| cluster(address(other)) == cluster_of && holds(one, address(other)))
            })
        };
        let same_word = |one: u32, other: u32| word(one) == word(other);
        let same_column = |one: u32, other: u32| row(one) % 4 == row(other) % 4;
        let differ = |one: u32, other: u32| row(one) != row(other);
        let of_word = refused_by(&|a, b| differ(a, b) && same_word(a, b) && !same_column(a, b));
        let of_bank = refused_by(&|a, b| differ(a, b) && !same_word(a, b) && same_column(a, b));
        let of_both = refused_by(&|a, b| differ(a, b) && same_word(a, b) && same_column(a, b));
        point!("loads conflict in a word place", load && of_word);
        point!("loads conflict in a row of a bank", load && of_bank);
        point!("loads conflict in both", load && of_both);
        point!("stores conflict in a word place", store && of_word);
        point!("stores conflict in a row of a bank", store && of_bank);
        point!("atomic operations conflict in a word place", second && of_word);
        point!("atomic operations conflict in a row of a bank", second && of_bank);
        // A lane that conflicts only with lanes that are refused themselves.
        let lone = |lane: usize| {
            let before = set_lanes(self.refused(i)).take_while(|&other| other < lane);
            before.into_iter().any(|other| {
                let (a, b) = (address(lane), address(other));
                cluster(a) == cluster(b) && differ(a, b) && (same_word(a, b) || same_column(a, b))
            })
        };
        point!(
            "a lane is served that conflicts with one that is refused before it",
            load && set_lanes(served & selected).any(lone)
        );
        point!(
            "two lanes have one word, beside words of other columns of the cluster",
            load && set_lanes(served).any(|lane| {
                let together = |other: usize| other != lane && address(other) / 4 == address(lane) / 4;
                let beside = |other: usize| {
                    cluster(address(other)) == cluster(address(lane)) && !same_column(address(other), address(lane))
                };
                set_lanes(served).any(together) && set_lanes(served).any(beside)
            })
        );
        let part = |g: usize| {
            let of_cluster = 0xf << (QUAD * g);
            ready & of_cluster != 0 && wanted & !ready & of_cluster != 0
        };
        let partly = (0..CLUSTERS).any(part);
        point!("a load is served at some word places of a cluster", load && partly);
        point!("a store is served at some word places of a cluster", store && partly);
        point!("an atomic operation reads some word places of a cluster", atomic && !second && partly);
        point!("an atomic operation writes some word places of a cluster that it has read", second && partly);
        point!(
            "an atomic operation leaves words of a cluster that it could not read",
            second
                && (0..CLUSTERS).any(|g| {
                    let of_cluster = |set: u32| set & 0xf << (QUAD * g);
                    let lanes = set_lanes(selected).fold(0u32, |set, lane| set | 1 << word(address(lane)));
                    of_cluster(o.write_o) != 0 && of_cluster(lanes & !p.read_q) != 0
                })
        );
    }
}
