//! Accesses of memory to the columns of a register file. The blocks around a register file all have the same ports for them.

use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::MrfShape;
use gpurf_blocks::unified::{BANKS, CLUSTERS, COLUMNS, ColumnsIn, ColumnsOut, WORDS};
use gpurf_blocks::{Block, NoProbe, Ports};
use gpurf_lockstep::Rng;

use super::{ALL, QUAD, banks, bytes_of_store, clusters, columns_of, some_bytes, some_clusters};
use crate::cover::{Contains, Within};
use crate::driver::Names;
use crate::{Points, cover};

/// Memory's accesses to a register file. They do not depend on what is free: an access that is not ready is not performed.
pub(crate) struct Columns {
    shape: MrfShape,
    columns: Names,
    rows: Names,
}

knobs! {
    pub(crate) struct ColumnsKnobs {
        memory_read: "memory reads" = [50, 500, 950],
        memory_write: "memory writes" = [50, 500, 950],
        memory_line: "it accesses a line of the cache: one entry in all clusters" = [100, 500],
        memory_combine: "it accesses several columns of a cluster" = [0, 300, 900],
        memory_near: "its access is to one of a few entries" = [0, 500, 1000],
        memory_keep: "it looks at the column that it read last" = [0, 500, 900],
    }
}

impl Columns {
    pub(crate) fn new(shape: &MrfShape) -> Self {
        let (columns, rows) = (Names::new(2, COLUMNS as u64), Names::new(2, shape.depth as u64));
        Self { shape: *shape, columns, rows }
    }

    /// The inputs of a cycle; none if memory has RAMs of its own.
    pub(crate) fn drive(&mut self, rng: &mut Rng, knobs: &ColumnsKnobs, i: &mut ColumnsIn) {
        if !self.shape.unified {
            return;
        }
        self.columns.renew(rng);
        self.rows.renew(rng);
        for w in 0..WORDS {
            let read = columns_of(&i.memory_read_i, w / QUAD);
            if read != 0 && rng.chance(knobs.memory_keep) {
                // One of the columns that were read in its cluster.
                let from = rng.below(COLUMNS as u64) as u32;
                let turned = read >> from | read << (COLUMNS as u32 - from);
                i.memory_data_column_i[w] = ((from + turned.trailing_zeros()) % COLUMNS as u32) as u8;
            } else if rng.chance(300) {
                i.memory_data_column_i[w] = rng.below(COLUMNS as u64) as u8;
            }
        }
        (i.memory_read_i, i.memory_write_i) = ([0; COLUMNS], [0; COLUMNS]);
        if rng.chance(knobs.memory_read) {
            let line = rng.chance(knobs.memory_line);
            self.access(rng, knobs, line, &mut i.memory_read_i, &mut i.memory_read_entry_i);
        }
        if rng.chance(knobs.memory_write) {
            let line = rng.chance(knobs.memory_line);
            self.access(rng, knobs, line, &mut i.memory_write_i, &mut i.memory_write_entry_i);
            let of_line = bytes_of_store(rng);
            i.memory_write_bytes_i =
                std::array::from_fn(|bank| if line { of_line[bank % CLUSTERS] } else { some_bytes(rng) });
            rng.fill(&mut i.memory_write_data_i.0);
        }
    }

    /// Chooses banks to access, and an entry for each. For a line, these are all clusters of a column, with one entry. For a pass of the scratchpad,
    /// these are some clusters, each with one column or several.
    fn access(
        &self,
        rng: &mut Rng,
        knobs: &ColumnsKnobs,
        line: bool,
        wanted: &mut [u8; COLUMNS],
        entries: &mut [u16; BANKS],
    ) {
        let near = rng.chance(knobs.memory_near);
        let column = |rng: &mut Rng| {
            if near { self.columns.draw(rng) as usize } else { rng.below(COLUMNS as u64) as usize }
        };
        let row = |rng: &mut Rng| (if near { self.rows.draw(rng) } else { rng.below(self.shape.depth as u64) }) as u16;
        if line {
            let (b, row) = (column(rng), row(rng));
            wanted[b] = ALL;
            entries[CLUSTERS * b..][..CLUSTERS].fill(row);
            return;
        }
        let several = rng.chance(knobs.memory_combine);
        for g in clusters(some_clusters(rng)) {
            for _ in 0..if several { 1 + rng.below(COLUMNS as u64) } else { 1 } {
                let b = if several { rng.below(COLUMNS as u64) as usize } else { column(rng) };
                wanted[b] |= 1 << g;
                entries[CLUSTERS * b + g] = row(rng);
            }
        }
    }
}

/// A register whose row exists, in place of this one: if the number of rows is no power of two, row numbers do not wrap.
pub(crate) fn register_in(shape: &MrfShape, base: u16, register: u8) -> u8 {
    let rows = shape.depth.saturating_sub(base.into()).max(1);
    if shape.unified { (usize::from(register) % (rows * shape.banks)) as u8 } else { register }
}

/// A block around a register file whose banks serve memory.
pub(crate) trait WithColumns: Block {
    /// The shape of the register file.
    fn file(shape: &Self::Shape) -> &MrfShape;

    /// Memory's accesses, and `rst_ni`.
    fn asked(inputs: &Self::In) -> (&ColumnsIn, u8);

    /// The outputs of the columns.
    fn said(out: &Self::Out) -> &ColumnsOut;
}

/// Coverage of memory's accesses to a block's columns.
pub(crate) type ColumnsOf<B> = Within<B, ColumnsCover>;

impl<B: WithColumns> Contains<ColumnsCover> for B {
    fn cover(shape: &B::Shape, config: &Config) -> ColumnsCover {
        ColumnsCover::new(B::file(shape), config)
    }

    fn observe(cover: &mut ColumnsCover, i: &B::In, o: &B::Out, _: &B::Probe, points: &mut Points) {
        let (asked, rst_ni) = B::asked(i);
        cover.rst_ni = rst_ni;
        crate::Cover::observe(cover, asked, B::said(o), &NoProbe::zeroed(), points);
    }
}

/// What was read last in a bank.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Output {
    Nothing,
    Register,
    Memory,
}

pub(crate) struct ColumnsCover {
    shape: MrfShape,
    /// The block's reset: it is no port of the columns.
    rst_ni: u8,
    /// For each bank: what its output, which memory sees, was read for.
    outputs: [Output; BANKS],
    /// Clusters of each column that memory read at the previous clock edge.
    read: [u8; COLUMNS],
    /// Entry of each bank that memory wrote at the previous clock edge.
    written: [Option<u16>; BANKS],
}

/// The column of a bank.
fn column(bank: usize) -> usize {
    bank / CLUSTERS
}

/// Whether a bank's cluster is among those of its column.
fn has(of_columns: &[u8; COLUMNS], bank: usize) -> bool {
    of_columns[column(bank)] >> (bank % CLUSTERS) & 1 == 1
}

/// The intersection of two sets of banks.
fn both(one: [u8; COLUMNS], other: [u8; COLUMNS]) -> [u8; COLUMNS] {
    std::array::from_fn(|b| one[b] & other[b])
}

/// The largest number of columns that are accessed in one cluster.
fn most_columns(of_columns: &[u8; COLUMNS]) -> u32 {
    (0..CLUSTERS).map(|g| columns_of(of_columns, g).count_ones()).max().unwrap_or(0)
}

/// Number of columns in which something is accessed.
fn used(of_columns: [u8; COLUMNS]) -> u32 {
    of_columns.iter().filter(|&&clusters| clusters != 0).count() as u32
}

const NOTHING: [u8; COLUMNS] = [0; COLUMNS];

#[cover]
impl ColumnsCover {
    const COLUMN: [&str; COLUMNS] = ["0", "1", "2", "3"];

    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self { shape: *shape, rst_ni: 1, outputs: [Output::Nothing; BANKS], read: NOTHING, written: [None; BANKS] }
    }

    fn observe(&mut self, i: &ColumnsIn, o: &ColumnsOut, _: &NoProbe<MrfShape>, points: &mut Points) {
        if !self.shape.unified {
            return;
        }
        self.reads(i, o, points);
        self.writes(i, o, points);
        self.outputs(i, points);
        for b in (0..COLUMNS).filter(|&b| !free(o, b)) {
            self.outputs[CLUSTERS * b..][..CLUSTERS].fill(Output::Register);
        }
        self.read = both(i.memory_read_i, ready_to_read(o));
        for bank in banks(self.read) {
            self.outputs[bank] = Output::Memory;
        }
        self.written = [None; BANKS];
        for bank in banks(both(i.memory_write_i, o.memory_write_ready_o)) {
            self.written[bank] = Some(i.memory_write_entry_i[bank]);
        }
    }

    #[given(self.shape.unified)]
    fn reads(&self, i: &ColumnsIn, o: &ColumnsOut, points: &mut Points) {
        let wanted = i.memory_read_i;
        let served = both(wanted, ready_to_read(o));
        let (wants, serves) = (wanted != NOTHING, served != NOTHING);
        let last = |bank: usize| usize::from(i.memory_read_entry_i[bank]) == self.shape.depth - 1;
        let before = |bank: usize| self.written[bank] == Some(i.memory_read_entry_i[bank]);
        let stored = both(i.memory_write_i, o.memory_write_ready_o);
        let at_once = |bank: usize| has(&stored, bank) && i.memory_write_entry_i[bank] == i.memory_read_entry_i[bank];
        let most = most_columns(&served);
        point!("memory reads all clusters of a column", served.contains(&ALL) && used(served) == 1);
        point!("memory reads in several columns", serves && served == wanted && used(served) > 1);
        point!("memory reads two columns of a cluster", most == 2);
        point!("memory reads three columns of a cluster", most == 3);
        point!("memory reads all columns of a cluster", most == 4);
        #[given(!self.shape.separate)]
        {
            point!("memory's read meets a register's in its column", wants && !serves && used(wanted) == 1);
            point!("some of memory's reads meet registers' reads", serves && served != wanted);
            point!(
                "some of memory's reads in a cluster meet registers' reads",
                (0..CLUSTERS).any(|g| {
                    let [wanted, served] = [wanted, served].map(|of_columns| columns_of(&of_columns, g));
                    served != 0 && served != wanted
                })
            );
            point!("memory reads beside registers in other columns", serves && o.memory_read_ready_o != 0xf);
            point!(
                "registers are read in all columns but one, which memory reads",
                serves && o.memory_read_ready_o.is_power_of_two()
            );
        }
        point!("memory reads the last row", banks(served).any(last));
        point!("memory reads what it wrote at the edge before", banks(served).any(before));
        point!("memory reads what it writes at this edge", banks(served).any(at_once));
        point!("memory reads under reset", self.rst_ni == 0 && serves);
    }

    #[given(self.shape.unified)]
    fn writes(&self, i: &ColumnsIn, o: &ColumnsOut, points: &mut Points) {
        let wanted = i.memory_write_i;
        let served = both(wanted, o.memory_write_ready_o);
        let (wants, serves) = (wanted != NOTHING, served != NOTHING);
        let busy = |b: usize| o.memory_write_ready_o[b] != ALL;
        let most = most_columns(&served);
        point!("memory writes all clusters of a column", served.contains(&ALL) && used(served) == 1);
        point!("memory writes in several columns", serves && served == wanted && used(served) > 1);
        point!("memory writes two columns of a cluster", most == 2);
        point!("memory writes three columns of a cluster", most == 3);
        point!("memory writes all columns of a cluster", most == 4);
        #[given(!self.shape.separate)]
        {
            point!("memory's write meets a register's lanes", wants && !serves);
            point!("some of memory's writes meet registers' lanes", serves && served != wanted);
            point!(
                "memory writes beside a register's lanes in its column",
                banks(served).any(|bank| busy(column(bank)))
            );
            point!(
                "memory writes beside a register in another column",
                banks(served).any(|bank| !busy(column(bank))) && (0..COLUMNS).any(busy)
            );
        }
        point!(
            "memory writes the last row",
            banks(served).any(|bank| usize::from(i.memory_write_entry_i[bank]) == self.shape.depth - 1)
        );
        point!("memory writes under reset", self.rst_ni == 0 && serves);
    }

    #[given(self.shape.unified)]
    fn outputs(&self, i: &ColumnsIn, points: &mut Points) {
        let column = |w: usize| usize::from(i.memory_data_column_i[w]);
        let bank = |w: usize| CLUSTERS * column(w) + w / QUAD;
        let shown = |output: Output| (0..WORDS).any(|w| self.outputs[bank(w)] == output);
        let fresh = |w: usize| has(&self.read, bank(w));
        let elsewhere = |w: usize| !fresh(w) && columns_of(&self.read, w / QUAD) != 0;
        point!("memory sees what it has just read", (0..WORDS).any(fresh));
        point!("memory sees in each cluster what it has just read", (0..WORDS).all(fresh));
        point!("memory sees a column that it has not just read", (0..WORDS).any(elsewhere));
        point!(
            "memory sees what it has read before",
            (0..WORDS).any(|w| !fresh(w) && self.outputs[bank(w)] == Output::Memory)
        );
        point!("memory sees a register", shown(Output::Register), given = !self.shape.separate);
        for b in 0..COLUMNS {
            point!(
                "memory sees what it has just read in column {COLUMN[b]}",
                (0..WORDS).any(|w| column(w) == b && fresh(w))
            );
        }
        // The number of columns that the words of a cluster have just been read from.
        let of_cluster = |g: usize| {
            (0..QUAD).map(|k| QUAD * g + k).filter(|&w| fresh(w)).fold(0u8, |set, w| set | 1 << column(w)).count_ones()
        };
        let most = (0..CLUSTERS).map(of_cluster).max().unwrap_or(0);
        point!("memory sees several columns", (0..WORDS).any(|w| column(w) != column(0)));
        point!("memory sees words that it has just read in two columns of a cluster", most == 2);
        point!("memory sees words that it has just read in three columns of a cluster", most == 3);
        point!("memory sees words that it has just read in all columns of a cluster", most == 4);
    }
}

/// Whether memory may read in a column.
fn free(o: &ColumnsOut, column: usize) -> bool {
    o.memory_read_ready_o >> column & 1 == 1
}

/// Banks in which memory may read.
fn ready_to_read(o: &ColumnsOut) -> [u8; COLUMNS] {
    std::array::from_fn(|b| if free(o, b) { ALL } else { 0 })
}
