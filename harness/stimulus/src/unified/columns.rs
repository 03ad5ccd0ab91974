//! What memory asks of the columns of a register file around them: the same ports in each of the blocks.

use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::MrfShape;
use gpurf_blocks::unified::{CLUSTERS, COLUMNS, ColumnsIn, ColumnsOut};
use gpurf_blocks::{Block, NoProbe, Ports};
use gpurf_lockstep::Rng;

use super::{ALL, bytes_of_store, clusters, some_bytes, some_clusters};
use crate::cover::{Contains, Within};
use crate::driver::Names;
use crate::{Points, cover};

/// Memory around a register file. It asks whatever is free: what is not ready is not performed.
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
        memory_near: "its access is to one of a few entries" = [0, 500, 1000],
        memory_keep: "it looks at the column that it read last" = [0, 500, 900],
    }
}

impl Columns {
    pub(crate) fn new(shape: &MrfShape) -> Self {
        let (columns, rows) = (Names::new(2, COLUMNS as u64), Names::new(2, shape.depth as u64));
        Self { shape: *shape, columns, rows }
    }

    /// The inputs of a cycle; nothing where memory has RAMs of its own.
    pub(crate) fn drive(&mut self, rng: &mut Rng, knobs: &ColumnsKnobs, i: &mut ColumnsIn) {
        if !self.shape.unified {
            return;
        }
        self.columns.renew(rng);
        self.rows.renew(rng);
        for g in 0..CLUSTERS {
            let read = i.memory_read_i >> g & 1 == 1;
            if read && rng.chance(knobs.memory_keep) {
                i.memory_data_column_i[g] = i.memory_read_column_i[g];
            } else if rng.chance(300) {
                i.memory_data_column_i[g] = rng.below(COLUMNS as u64) as u8;
            }
        }
        (i.memory_read_i, i.memory_write_i) = (0, 0);
        if rng.chance(knobs.memory_read) {
            let line = rng.chance(knobs.memory_line);
            i.memory_read_i = if line { ALL } else { some_clusters(rng) };
            (i.memory_read_column_i, i.memory_read_entry_i) = self.places(rng, knobs, line);
        }
        if rng.chance(knobs.memory_write) {
            let line = rng.chance(knobs.memory_line);
            i.memory_write_i = if line { ALL } else { some_clusters(rng) };
            (i.memory_write_column_i, i.memory_write_entry_i) = self.places(rng, knobs, line);
            i.memory_write_bytes_i = if line { bytes_of_store(rng) } else { std::array::from_fn(|_| some_bytes(rng)) };
            rng.fill(&mut i.memory_write_data_i.0);
        }
    }

    /// Column and entry of each cluster: of a line the same ones.
    fn places(&self, rng: &mut Rng, knobs: &ColumnsKnobs, line: bool) -> ([u8; CLUSTERS], [u16; CLUSTERS]) {
        let mut place = || {
            let near = rng.chance(knobs.memory_near);
            let column = if near { self.columns.draw(rng) } else { rng.below(COLUMNS as u64) };
            let row = if near { self.rows.draw(rng) } else { rng.below(self.shape.depth as u64) };
            (column as u8, row as u16)
        };
        let first = place();
        let places: [_; CLUSTERS] = std::array::from_fn(|_| if line { first } else { place() });
        (places.map(|place| place.0), places.map(|place| place.1))
    }
}

/// A register whose row there is: where the number of rows is no power of two, they do not begin anew behind the last one.
pub(crate) fn register_in(shape: &MrfShape, base: u16, register: u8) -> u8 {
    let rows = shape.depth.saturating_sub(base.into()).max(1);
    if shape.unified { (usize::from(register) % (rows * shape.banks)) as u8 } else { register }
}

/// A block around a register file whose banks serve memory.
pub(crate) trait WithColumns: Block {
    /// The shape of the register file.
    fn file(shape: &Self::Shape) -> &MrfShape;

    /// What memory asks.
    fn asked(inputs: &Self::In) -> (&ColumnsIn, u8);

    /// What the columns say.
    fn said(out: &Self::Out) -> &ColumnsOut;
}

/// What memory asks of a block's columns.
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

/// What was read last in a cluster of a column.
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
    outputs: [[Output; CLUSTERS]; COLUMNS],
    /// Clusters of each column that memory read at the edge before.
    read: [u8; COLUMNS],
    /// Entry of each cluster and column that memory wrote at the edge before.
    written: [[Option<u16>; CLUSTERS]; COLUMNS],
}

#[cover]
impl ColumnsCover {
    const COLUMN: [&str; COLUMNS] = ["0", "1", "2", "3"];

    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self {
            shape: *shape,
            rst_ni: 1,
            outputs: [[Output::Nothing; CLUSTERS]; COLUMNS],
            read: [0; COLUMNS],
            written: [[None; CLUSTERS]; COLUMNS],
        }
    }

    fn observe(&mut self, i: &ColumnsIn, o: &ColumnsOut, _: &NoProbe<MrfShape>, points: &mut Points) {
        if !self.shape.unified {
            return;
        }
        self.reads(i, o, points);
        self.writes(i, o, points);
        self.outputs(i, points);
        (self.read, self.written) = ([0; COLUMNS], [[None; CLUSTERS]; COLUMNS]);
        for b in 0..COLUMNS {
            if !free(o, b) {
                self.outputs[b] = [Output::Register; CLUSTERS];
            }
        }
        for g in clusters(i.memory_read_i) {
            let b = usize::from(i.memory_read_column_i[g]);
            if free(o, b) {
                self.outputs[b][g] = Output::Memory;
                self.read[b] |= 1 << g;
            }
        }
        for g in clusters(i.memory_write_i) {
            let b = usize::from(i.memory_write_column_i[g]);
            if o.memory_write_ready_o[b] >> g & 1 == 1 {
                self.written[b][g] = Some(i.memory_write_entry_i[g]);
            }
        }
    }

    #[given(self.shape.unified)]
    fn reads(&self, i: &ColumnsIn, o: &ColumnsOut, points: &mut Points) {
        let (wanted, column) = (i.memory_read_i, |g: usize| usize::from(i.memory_read_column_i[g]));
        let served = clusters(wanted).filter(|&g| free(o, column(g))).fold(0u8, |set, g| set | 1 << g);
        let first = wanted.trailing_zeros() as usize;
        let one_column = clusters(wanted).all(|g| column(g) == column(first));
        let last = |g: usize| usize::from(i.memory_read_entry_i[g]) == self.shape.depth - 1;
        let before = |g: usize| self.written[column(g)][g] == Some(i.memory_read_entry_i[g]);
        let at_once = |g: usize| {
            let written = i.memory_write_i >> g & 1 == 1 && o.memory_write_ready_o[column(g)] >> g & 1 == 1;
            written
                && i.memory_write_column_i[g] == i.memory_read_column_i[g]
                && i.memory_write_entry_i[g] == i.memory_read_entry_i[g]
        };
        point!("memory reads all clusters of a column", served == ALL && one_column);
        point!("memory reads in several columns", served == wanted && served != 0 && !one_column);
        point!("memory's read meets a register's in its column", wanted != 0 && served == 0 && one_column);
        point!("some of memory's reads meet registers' reads", served != 0 && served != wanted);
        point!("memory reads beside registers in other columns", served != 0 && o.memory_read_ready_o != 0xf);
        point!(
            "registers are read in all columns but one, which memory reads",
            served != 0 && o.memory_read_ready_o.is_power_of_two()
        );
        point!("memory reads the last row", clusters(served).any(last));
        point!("memory reads what it wrote at the edge before", clusters(served).any(before));
        point!("memory reads what it writes at this edge", clusters(served).any(at_once));
        point!("memory reads under reset", self.rst_ni == 0 && served != 0);
    }

    #[given(self.shape.unified)]
    fn writes(&self, i: &ColumnsIn, o: &ColumnsOut, points: &mut Points) {
        let (wanted, column) = (i.memory_write_i, |g: usize| usize::from(i.memory_write_column_i[g]));
        let ready = |g: usize| o.memory_write_ready_o[column(g)];
        let served = clusters(wanted).filter(|&g| ready(g) >> g & 1 == 1).fold(0u8, |set, g| set | 1 << g);
        let first = wanted.trailing_zeros() as usize;
        let one_column = clusters(wanted).all(|g| column(g) == column(first));
        let busy = |b: usize| o.memory_write_ready_o[b] != ALL;
        point!("memory writes all clusters of a column", served == ALL && one_column);
        point!("memory writes in several columns", served == wanted && served != 0 && !one_column);
        point!("memory's write meets a register's lanes", wanted != 0 && served == 0);
        point!("some of memory's writes meet registers' lanes", served != 0 && served != wanted);
        point!("memory writes beside a register's lanes in its column", clusters(served).any(|g| busy(column(g))));
        point!(
            "memory writes beside a register in another column",
            clusters(served).any(|g| !busy(column(g))) && (0..COLUMNS).any(busy)
        );
        point!(
            "memory writes the last row",
            clusters(served).any(|g| usize::from(i.memory_write_entry_i[g]) == self.shape.depth - 1)
        );
        point!("memory writes under reset", self.rst_ni == 0 && served != 0);
    }

    #[given(self.shape.unified)]
    fn outputs(&self, i: &ColumnsIn, points: &mut Points) {
        let column = |g: usize| usize::from(i.memory_data_column_i[g]);
        let shown = |output: Output| (0..CLUSTERS).any(|g| self.outputs[column(g)][g] == output);
        let fresh = |g: usize| self.read[column(g)] >> g & 1 == 1;
        let elsewhere = |g: usize| !fresh(g) && self.read.iter().any(|read| read >> g & 1 == 1);
        point!("memory sees what it has just read", (0..CLUSTERS).any(fresh));
        point!("memory sees in each cluster what it has just read", (0..CLUSTERS).all(fresh));
        point!("memory sees a column that it has not just read", (0..CLUSTERS).any(elsewhere));
        point!(
            "memory sees what it has read before",
            (0..CLUSTERS).any(|g| !fresh(g) && self.outputs[column(g)][g] == Output::Memory)
        );
        point!("memory sees a register", shown(Output::Register));
        for b in 0..COLUMNS {
            point!(
                "memory sees what it has just read in column {COLUMN[b]}",
                (0..CLUSTERS).any(|g| column(g) == b && fresh(g))
            );
        }
        let differ = |g: usize| column(g) != column(0);
        point!("memory sees several columns", (0..CLUSTERS).any(differ));
    }
}

/// Whether no register is read in a column.
fn free(o: &ColumnsOut, column: usize) -> bool {
    o.memory_read_ready_o >> column & 1 == 1
}
