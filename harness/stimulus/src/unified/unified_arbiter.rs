//! `unified_arbiter`.

use gpurf_blocks::config::Config;
use gpurf_blocks::shape::SmShape;
use gpurf_blocks::unified::{
    BANKS, CLUSTERS, COLUMNS, UNIFIED_EVENT, UnifiedArbiter, UnifiedArbiterIn, UnifiedArbiterOut, WORDS,
};
use gpurf_blocks::{Block, NoProbe, Wide};
use gpurf_lockstep::Rng;

use super::{
    ALL, QUAD, banks, bytes_of_store, cache_rows, cache_sizes, clusters_of, clusters_where, columns_of, some_clusters,
    some_words, words,
};
use crate::cover::part;
use crate::driver::{Names, Reset};
use crate::{Driver, Points, Unreached, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<UnifiedArbiter, UnifiedArbiterDriver, UnifiedArbiterCover>();

/// Driver of `unified_arbiter`: the columns of registers, the data cache and the scratchpad.
pub(crate) struct UnifiedArbiterDriver {
    shape: SmShape,
    sizes: Vec<u8>,
    reset: Reset,
    /// Rows of the scratchpad.
    shared_rows: usize,
    /// Columns on which accesses meet.
    columns: Names,
}

knobs! {
    pub(crate) struct UnifiedArbiterKnobs {
        launch: "the rows are divided anew" = [5, 50, 300],
        combine: "its pass combines words of several columns in a cluster" = [0, 300, 900],
        read_free: "no register is read in a column" = [50, 500, 900, 1000],
        write_free: "no register is written in a column" = [50, 500, 900, 1000],
        cache_read: "the cache reads" = [0, 100, 500, 950],
        cache_write: "the cache writes" = [0, 100, 500, 950],
        shared: "the scratchpad has a pass" = [200, 700, 1000],
        store: "its pass writes" = [100, 500, 900],
        together: "accesses are to a few columns" = [0, 500, 1000],
        edge: "an access is to the first or the last place" = [0, 100, 500],
        reset,
    }
}

impl Driver for UnifiedArbiterDriver {
    type In = UnifiedArbiterIn;
    type Knobs = UnifiedArbiterKnobs;

    fn new(_: &SmShape, config: &Config) -> Self {
        let shape = UnifiedArbiter::shape_alone(config);
        Self {
            shape,
            sizes: cache_sizes(shape.ways(), shape.lines()),
            reset: Reset::default(),
            shared_rows: 0,
            columns: Names::new(2, COLUMNS as u64),
        }
    }

    fn unreached(_: &SmShape, config: &Config) -> Vec<Unreached> {
        let shape = UnifiedArbiter::shape_alone(config);
        let sizes = cache_sizes(shape.ways(), shape.lines());
        let used = sizes.into_iter().fold(0, |used, log| used | log);
        // R, the rows of registers, is at most the number of all rows.
        let rows = 1 + shape.mrf.depth.ilog2();
        let shared = (COLUMNS * shape.mrf.depth).next_power_of_two().ilog2();
        let log = (0..4).filter(|bit| used >> bit & 1 == 0);
        let mut excused: Vec<Unreached> =
            log.map(|bit| Unreached::bits("cache_log_i", bit..=bit, "no size of the cache has it")).collect();
        excused.push(Unreached::bits("register_rows_i", rows..=10, "there are fewer rows"));
        excused.push(Unreached::bits("shared_row_i", shared..=11, "there are fewer rows"));
        excused.retain(|unreached| !unreached.bits.is_empty());
        excused
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &UnifiedArbiterKnobs, i: &mut UnifiedArbiterIn) {
        i.rst_ni = self.reset.next(rng, knobs.reset);
        self.columns.renew(rng);
        if rng.chance(knobs.launch) {
            self.launch(rng, i);
        }
        i.column_read_ready_i = rng.mask(COLUMNS as u32, knobs.read_free) as u8;
        for clusters in &mut i.column_write_ready_i {
            // A register's lanes: of all clusters, or of some.
            let lanes = if rng.chance(500) { ALL } else { some_clusters(rng) };
            *clusters = if rng.chance(knobs.write_free) { ALL } else { !lanes };
        }
        self.cache(rng, knobs, i);
        self.scratchpad(rng, knobs, i);
    }
}

impl UnifiedArbiterDriver {
    /// Divides the rows among registers (R), scratchpad (S) and cache (C): together at most all rows, often exactly all.
    fn launch(&mut self, rng: &mut Rng, i: &mut UnifiedArbiterIn) {
        let depth = self.shape.mrf.depth;
        i.cache_log_i = self.sizes[rng.below(self.sizes.len() as u64) as usize];
        let left = depth - cache_rows(i.cache_log_i).min(depth);
        let part = |rng: &mut Rng, of: usize| match rng.below(8) {
            0 => 0,
            1 => of,
            2 => of.min(1),
            _ => rng.below(of as u64 + 1) as usize,
        };
        let registers = part(rng, left);
        i.register_rows_i = registers as u16;
        self.shared_rows = if rng.chance(500) { left - registers } else { part(rng, left - registers) };
    }

    /// A number below a limit, often in one of a few columns.
    fn number(&self, rng: &mut Rng, knobs: &UnifiedArbiterKnobs, limit: usize) -> u16 {
        let number = match rng.chance(knobs.edge) {
            true if rng.chance(500) => 0,
            true => limit - 1,
            false => rng.below(limit as u64) as usize,
        };
        let column = self.columns.draw(rng) as usize;
        (if rng.chance(knobs.together) { number / COLUMNS * COLUMNS + column } else { number }) as u16
    }

    fn cache(&self, rng: &mut Rng, knobs: &UnifiedArbiterKnobs, i: &mut UnifiedArbiterIn) {
        let lines = if i.cache_log_i == 0 { 0 } else { 1 << i.cache_log_i };
        i.cache_read_i = (lines != 0 && rng.chance(knobs.cache_read)).into();
        i.cache_write_i = (lines != 0 && rng.chance(knobs.cache_write)).into();
        if i.cache_read_i == 1 {
            i.cache_read_entry_i = self.number(rng, knobs, lines);
        }
        if i.cache_write_i == 1 {
            i.cache_write_entry_i = self.number(rng, knobs, lines);
            let bytes = if rng.chance(400) { [u16::MAX; CLUSTERS] } else { bytes_of_store(rng) };
            let word = |w: usize| u32::from(bytes[2 * w]) | u32::from(bytes[2 * w + 1]) << 16;
            i.cache_write_bytes_i = Wide(std::array::from_fn(word));
            rng.fill(&mut i.cache_write_data_i.0);
        }
    }

    fn scratchpad(&self, rng: &mut Rng, knobs: &UnifiedArbiterKnobs, i: &mut UnifiedArbiterIn) {
        (i.shared_read_i, i.shared_write_i) = (0, 0);
        let wanted = match self.shared_rows != 0 && rng.chance(knobs.shared) {
            true => some_words(rng),
            false => 0,
        };
        // One row for all, one for each cluster, or for each word its own; but a bank has one row.
        let one = (wanted != 0 && rng.chance(300)).then(|| self.number(rng, knobs, COLUMNS * self.shared_rows));
        let combines = rng.chance(knobs.combine);
        let (mut of_banks, mut of_clusters) = ([None; BANKS], [None; CLUSTERS]);
        i.shared_row_i = [0; WORDS];
        for w in words(wanted) {
            let g = w / QUAD;
            let any = one.unwrap_or_else(|| self.number(rng, knobs, COLUMNS * self.shared_rows));
            let number = if combines { any } else { *of_clusters[g].get_or_insert(any) };
            i.shared_row_i[w] = *of_banks[CLUSTERS * (usize::from(number) % COLUMNS) + g].get_or_insert(number);
        }
        if rng.chance(knobs.store) {
            i.shared_write_i = wanted;
            // All bytes, one, or any but none.
            i.shared_bytes_i = std::array::from_fn(|_| match rng.below(3) {
                0 => 0xf,
                1 => 1 << rng.below(4),
                _ => 1 + rng.below(15) as u8,
            });
            rng.fill(&mut i.shared_data_i.0);
        } else {
            i.shared_read_i = wanted;
        }
    }
}

/// The largest number of columns that words of one cluster are in.
fn most_columns(i: &UnifiedArbiterIn, served: u32) -> u32 {
    let of_cluster = |g: usize| {
        let columns = words(served & 0xf << (QUAD * g)).fold(0u8, |columns, w| columns | 1 << (i.shared_row_i[w] % 4));
        columns.count_ones()
    };
    (0..CLUSTERS).map(of_cluster).max().unwrap_or(0)
}

/// Whether there is a cluster of which some words that are wanted are served, and some are not.
fn partly_served(wanted: u32, served: u32) -> bool {
    clusters_of(served) & clusters_of(wanted & !served) != 0
}

pub(crate) struct UnifiedArbiterCover {
    depth: usize,
    sizes: Vec<u8>,
}

#[cover]
impl UnifiedArbiterCover {
    const COLUMN: [&str; COLUMNS] = ["0", "1", "2", "3"];

    fn new(_: &SmShape, config: &Config) -> Self {
        let shape = UnifiedArbiter::shape_alone(config);
        Self { depth: shape.mrf.depth, sizes: cache_sizes(shape.ways(), shape.lines()) }
    }

    fn observe(&mut self, i: &UnifiedArbiterIn, o: &UnifiedArbiterOut, _: &NoProbe<SmShape>, points: &mut Points) {
        self.reads(i, o, points);
        self.writes(i, o, points);
        self.places(i, o, points);
        let event = |name: &str| part(UNIFIED_EVENT, o.event_o.into(), name);
        let (waits, lost) = (event("unified_cache_read_wait"), event("unified_shared_read_lost"));
        let [log, reset] = [i.cache_log_i, i.rst_ni];
        point!("eight reads of the scratchpad are lost", lost == CLUSTERS as u64);
        point!("eight writes of the scratchpad are lost", event("unified_shared_write_lost") == CLUSTERS as u64);
        point!("more reads of the scratchpad are lost than there are clusters", lost > CLUSTERS as u64);
        point!(
            "more writes of the scratchpad are lost than there are clusters",
            event("unified_shared_write_lost") > CLUSTERS as u64
        );
        point!("reads of the scratchpad are lost beside one of the cache that waits", waits == 1 && lost != 0);
        point!("no cache", log == 0 && o.read_o != [0; COLUMNS]);
        point!("the smallest cache reads", o.cache_read_ready_o != 0 && i.cache_read_i == 1 && log == self.sizes[1]);
        point!("the largest cache reads", i.cache_read_i == 1 && Some(&log) == self.sizes.last());
        point!("nothing is wanted", i.cache_read_i | i.cache_write_i == 0 && i.shared_read_i | i.shared_write_i == 0);
        point!("reset with columns that were read", reset == 0 && o.data_column_o.iter().any(|&column| column != 0));
        point!("a read under reset", reset == 0 && o.read_o[1..].iter().any(|&clusters| clusters != 0));
    }

    fn reads(&self, i: &UnifiedArbiterIn, o: &UnifiedArbiterOut, points: &mut Points) {
        let column = usize::from(i.cache_read_entry_i) % COLUMNS;
        let ready = |column: usize| i.column_read_ready_i >> column & 1 == 1;
        let (wanted, served) = (i.shared_read_i, o.shared_read_ready_o);
        let cache = i.cache_read_i == 1;
        let (reads, waits) = (cache && ready(column), cache && !ready(column));
        let of = |w: usize| usize::from(i.shared_row_i[w]) % COLUMNS;
        let columns = |set: u32| words(set).fold(0u8, |columns, w| columns | 1 << of(w));
        let one_column = columns(wanted).is_power_of_two();
        let of_column = |set: u32| words(set).any(|w| of(w) == column);
        let (some, all) = (clusters_of(served), clusters_of(wanted));
        let most = most_columns(i, served);
        point!("the cache reads alone", reads && wanted == 0);
        point!("the cache reads, and the scratchpad is not served in the same column", reads && of_column(wanted));
        point!(
            "the cache reads, and the scratchpad is not served in another column",
            reads && words(wanted).any(|w| ready(of(w)) && of(w) != column)
        );
        point!("the cache's read waits", waits && wanted == 0);
        point!(
            "the cache's read waits, and all other columns are free",
            waits && (i.column_read_ready_i | 1 << column) & 0xf == 0xf
        );
        point!("the cache's read waits, and the scratchpad is served", waits && served != 0);
        point!("the scratchpad waits for the column for which the cache waits", waits && of_column(wanted));
        point!("the scratchpad reads in all clusters", some == ALL);
        point!("the scratchpad reads all words of one column", served == u32::MAX && one_column);
        point!("the scratchpad reads in several columns", columns(served).count_ones() > 1);
        point!("the scratchpad reads two columns of a cluster", most == 2);
        point!("the scratchpad reads three columns of a cluster", most == 3);
        point!("the scratchpad reads all columns of a cluster", most == 4);
        point!(
            "the scratchpad reads several columns of several clusters",
            (0..CLUSTERS).filter(|&g| columns_of(&o.read_o, g).count_ones() > 1).count() > 1
        );
        point!("of one pass some clusters are read and some are not", some != 0 && some != all);
        point!("of one cluster some words are read and some are not", partly_served(wanted, served));
        point!(
            "a cluster that is not wanted is not ready, whatever its column",
            all != 0 && all != ALL && i.column_read_ready_i == 0xf
        );
        point!(
            "a word that is not wanted is not ready, whatever its column",
            wanted != 0 && wanted != u32::MAX && all == ALL && i.column_read_ready_i == 0xf
        );
        point!("registers take all columns", i.column_read_ready_i == 0 && wanted != 0);
        point!(
            "some words are read, others keep their columns",
            served != 0 && words(!served).any(|w| o.data_column_o[w] != 0)
        );
        point!(
            "some words of a cluster are read, others keep another column",
            (0..CLUSTERS).any(|g| {
                let of_cluster = 0xf << (QUAD * g);
                let column = words(served & of_cluster).map(of).next();
                words(!served & of_cluster).any(|w| column.is_some_and(|b| b != usize::from(o.data_column_o[w])))
            })
        );
        point!("a word place's column changes", words(served).any(|w| of(w) != usize::from(o.data_column_o[w])));
        point!(
            "the cache changes a word place's column",
            reads && o.data_column_o.iter().any(|&b| usize::from(b) != column)
        );
        point!(
            "the cache reads column {COLUMN[column]}, the only one that is free",
            reads && i.column_read_ready_i & 0xf == 1 << column
        );
        let alone = words(served).find(|_| i.column_read_ready_i & 0xf == columns(served));
        let column = alone.map_or(0, of);
        point!(
            "the scratchpad reads column {COLUMN[column]}, the only one that is free",
            alone.is_some() && columns(served).is_power_of_two()
        );
    }

    fn writes(&self, i: &UnifiedArbiterIn, o: &UnifiedArbiterOut, points: &mut Points) {
        let column = usize::from(i.cache_write_entry_i) % COLUMNS;
        let free = i.column_write_ready_i[column];
        let (wanted, served) = (i.shared_write_i, o.shared_write_ready_o);
        let cache = i.cache_write_i == 1;
        let (writes, waits) = (cache && free == ALL, cache && free != ALL);
        let bytes = i.cache_write_bytes_i.to_u128();
        let of = |w: usize| usize::from(i.shared_row_i[w]) % COLUMNS;
        let is_free = |w: usize| i.column_write_ready_i[of(w)] >> (w / QUAD) & 1 == 1;
        let lost_beside = |w: usize| words(served).any(|other| of(other) == of(w));
        let (some, all) = (clusters_of(served), clusters_of(wanted));
        let most = most_columns(i, served);
        point!("the cache writes alone", writes && wanted == 0);
        point!("the cache writes a whole line", writes && bytes == u128::MAX);
        point!(
            "a store writes bytes of some clusters",
            writes && !clusters_where(|g| bytes >> (16 * g) & 0xffff != 0) != 0
        );
        point!(
            "the cache writes, and the scratchpad is not served in the same column",
            writes && words(wanted).any(|w| of(w) == column)
        );
        point!(
            "the cache writes, and the scratchpad is not served in another column",
            writes && words(wanted).any(|w| of(w) != column && is_free(w))
        );
        point!("the cache's write waits for one cluster", waits && free.count_zeros() == 1);
        point!(
            "the cache's write waits, and all other columns are free",
            waits && (0..COLUMNS).all(|b| b == column || i.column_write_ready_i[b] == ALL)
        );
        point!(
            "the cache's write waits, and the scratchpad is served in its column",
            waits && words(served).any(|w| of(w) == column)
        );
        point!(
            "the cache's write waits, and the scratchpad is served in another column",
            waits && words(served).any(|w| of(w) != column)
        );
        point!("the scratchpad writes in all clusters", some == ALL);
        point!("the scratchpad writes two columns of a cluster", most == 2);
        point!("the scratchpad writes three columns of a cluster", most == 3);
        point!("the scratchpad writes all columns of a cluster", most == 4);
        point!(
            "the scratchpad writes several words of one bank",
            (0..BANKS).any(|bank| {
                let of_bank = |w: usize| CLUSTERS * of(w) + w / QUAD == bank;
                words(served).filter(|&w| of_bank(w)).count() > 1
            })
        );
        point!("of one pass some clusters are written and some are not", some != 0 && some != all);
        point!("of one cluster some words are written and some are not", partly_served(wanted, served));
        point!(
            "of one pass and column some clusters are written and some are not",
            words(wanted & !served).any(lost_beside)
        );
        point!(
            "a cluster is free in another column than the one that is wanted",
            !cache
                && words(wanted & !served)
                    .any(|w| i.column_write_ready_i.iter().any(|free| free >> (w / QUAD) & 1 == 1))
        );
        point!(
            "the scratchpad writes as the cache reads",
            served != 0 && o.read_o.contains(&ALL) && i.cache_read_i == 1
        );
        point!("the scratchpad reads as the cache writes", writes && o.shared_read_ready_o != 0);
        let reads = i.cache_read_i == 1 && i.column_read_ready_i >> (i.cache_read_entry_i % 4) & 1 == 1;
        point!(
            "the cache reads and writes in one column",
            writes && reads && i.cache_read_entry_i % 4 == i.cache_write_entry_i % 4
        );
        point!(
            "the cache reads and writes in two columns",
            writes && reads && i.cache_read_entry_i % 4 != i.cache_write_entry_i % 4
        );
        point!("the cache reads, its write waits", waits && reads);
        point!(
            "the cache writes column {COLUMN[column]}, the only one that is free",
            writes && (0..COLUMNS).all(|b| b == column || i.column_write_ready_i[b] != ALL)
        );
    }

    fn places(&self, i: &UnifiedArbiterIn, o: &UnifiedArbiterOut, points: &mut Points) {
        let cache = cache_rows(i.cache_log_i);
        let first = (self.depth - cache) as u16;
        let reads = o.read_o.contains(&ALL) && i.cache_read_i == 1 && i.shared_read_i == 0;
        let writes = o.write_o.contains(&ALL) && i.cache_write_i == 1 && i.shared_write_i == 0;
        let of_line = |entries: &[u16; BANKS], entry: u16| entries[CLUSTERS * (usize::from(entry) % COLUMNS)];
        let read = of_line(&o.read_entry_o, i.cache_read_entry_i);
        let write = of_line(&o.write_entry_o, i.cache_write_entry_i);
        let row = |entries: &[u16; BANKS], accessed: [u8; COLUMNS], words: u32, row: u16| {
            words != 0 && banks(accessed).any(|bank| entries[bank] == row)
        };
        let (shared, stored) = (o.shared_read_ready_o, o.shared_write_ready_o);
        let shared_reads = |wanted: u16| row(&o.read_entry_o, o.read_o, shared, wanted);
        let shared_writes = |wanted: u16| row(&o.write_entry_o, o.write_o, stored, wanted);
        let (r, last) = (i.register_rows_i, (self.depth - 1) as u16);
        point!("the cache reads its first row", reads && read == first);
        point!("the cache reads the last row", reads && read == last);
        point!("the cache writes its first row", writes && write == first);
        point!("the cache writes the last row", writes && write == last);
        point!("the scratchpad reads its first row", shared_reads(r));
        point!("the scratchpad writes its first row", shared_writes(r));
        point!(
            "the scratchpad reads the row in front of the cache",
            cache != 0 && first > r && shared_reads(first - 1)
        );
        point!(
            "the scratchpad writes the row in front of the cache",
            cache != 0 && first > r && shared_writes(first - 1)
        );
        point!("the scratchpad reads the last row", shared_reads(last));
        point!("no rows of registers", r == 0 && shared | stored != 0);
        point!("registers and cache have all rows", cache != 0 && r == first && i.cache_read_i == 1);
        let one = words(i.shared_read_i).next();
        point!(
            "two rows of one column are read",
            words(shared).any(|g| one.is_some_and(|one| i.shared_row_i[g] / 4 != i.shared_row_i[one] / 4
                && i.shared_row_i[g] % 4 == i.shared_row_i[one] % 4))
        );
    }
}
