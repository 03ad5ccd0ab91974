//! The columns of the unified banks in a register file, what memory asks of them, and what they say: ports of every block around them.

use crate::mrf::MrfShape;
use crate::mrf::bits::set_bits;
use crate::unified::unified_bank::ColumnAccess;
use crate::unified::{Accesses, CLUSTER_BYTES, CLUSTERS, COLUMN_W, COLUMNS, ColumnsFree, UnifiedBank};
use crate::{Block, GROUP_LANES, LaneMask, Memory, WARP_DATA_BITS, WarpData, field, ports};

ports! {
    /// What memory asks of the columns. There only with unified memory.
    pub struct ColumnsIn(s: &MrfShape) {
        /// Data that is written for memory, 16 bytes of each cluster.
        memory_write_data_i: WarpData = field(WARP_DATA_BITS).valid_by("memory_write_i").when(s.unified),
        /// Entry of each cluster that is read for memory.
        memory_read_entry_i: [u16; CLUSTERS] =
            field(s.entry_w()).count(CLUSTERS).valid_by("memory_read_i").when(s.unified),
        /// Entry of each cluster that is written for memory.
        memory_write_entry_i: [u16; CLUSTERS] =
            field(s.entry_w()).count(CLUSTERS).valid_by("memory_write_i").when(s.unified),
        /// Bytes of each cluster that are written for memory.
        memory_write_bytes_i: [u16; CLUSTERS] =
            field(CLUSTER_BYTES).count(CLUSTERS).valid_by("memory_write_i").when(s.unified),
        /// Clusters that are to be read for memory at this edge.
        memory_read_i: u8 = field(CLUSTERS).when(s.unified),
        /// Clusters that are to be written for memory at this edge.
        memory_write_i: u8 = field(CLUSTERS).when(s.unified),
        /// Column of each cluster that is read for memory.
        memory_read_column_i: [u8; CLUSTERS] =
            field(COLUMN_W).count(CLUSTERS).valid_by("memory_read_i").when(s.unified),
        /// Column of each cluster that is written for memory.
        memory_write_column_i: [u8; CLUSTERS] =
            field(COLUMN_W).count(CLUSTERS).valid_by("memory_write_i").when(s.unified),
        /// Column whose output memory wants of each cluster.
        memory_data_column_i: [u8; CLUSTERS] = field(COLUMN_W).count(CLUSTERS).when(s.unified),
    }
}

/// The names of these ports: inputs that nothing reads without unified memory.
pub(crate) const COLUMNS_INPUTS: &[&str] = &[
    "memory_write_data_i",
    "memory_read_entry_i",
    "memory_write_entry_i",
    "memory_write_bytes_i",
    "memory_read_i",
    "memory_write_i",
    "memory_read_column_i",
    "memory_write_column_i",
    "memory_data_column_i",
];

ports! {
    /// What the columns say to memory; 0 without unified memory.
    pub struct ColumnsOut(s: &MrfShape) {
        /// Output of each cluster, in the column that memory wants of it.
        memory_data_o: WarpData = field(WARP_DATA_BITS),
        /// No register is read in column b.
        memory_read_ready_o: u8 = field(COLUMNS).early(),
        /// Clusters of each column in which no register is written.
        memory_write_ready_o: [u8; COLUMNS] = field(CLUSTERS).count(COLUMNS).early(),
    }
}

/// The names of these ports.
pub(crate) const COLUMNS_OUTPUTS: &[&str] = &["memory_data_o", "memory_read_ready_o", "memory_write_ready_o"];

impl ColumnsIn {
    /// What is performed.
    pub(crate) fn accesses(&self) -> Accesses {
        Accesses {
            read: self.memory_read_i,
            read_column: self.memory_read_column_i,
            read_entry: self.memory_read_entry_i,
            write: self.memory_write_i,
            write_column: self.memory_write_column_i,
            write_entry: self.memory_write_entry_i,
            write_bytes: self.memory_write_bytes_i,
            write_data: self.memory_write_data_i,
        }
    }
}

impl ColumnsOut {
    /// What registers leave.
    pub(crate) fn show_free(&mut self, free: &ColumnsFree) {
        (self.memory_read_ready_o, self.memory_write_ready_o) = (free.read, free.write);
    }

    /// What registers leave, and what memory has read last.
    pub fn show(&mut self, free: &ColumnsFree, data: WarpData) {
        self.show_free(free);
        self.memory_data_o = data;
    }
}

/// What registers do in a column at an edge: the entry that is read; entry, data and lanes of the one that is written.
pub(crate) type RegisterAccess<'a> = (Option<u16>, Option<(u16, &'a WarpData, LaneMask)>);

/// The columns of a register file.
pub struct Columns {
    banks: [UnifiedBank; COLUMNS],
    /// What memory does at the next edge.
    asked: Accesses,
}

impl Columns {
    pub(crate) fn new(shape: &MrfShape) -> Self {
        Self { banks: std::array::from_fn(|_| UnifiedBank::new(shape)), asked: Accesses::default() }
    }

    /// The output of a column.
    #[inline]
    pub(crate) fn read_data(&self, column: usize) -> &WarpData {
        self.banks[column].read_data()
    }

    /// The output of each cluster in a column of its own.
    pub(crate) fn data(&self, columns: &[u8; CLUSTERS]) -> WarpData {
        let mut data = WarpData::ZERO;
        for (g, &column) in columns.iter().enumerate() {
            let lanes = GROUP_LANES * g..GROUP_LANES * (g + 1);
            data.0[lanes.clone()].copy_from_slice(&self.read_data(column.into()).0[lanes]);
        }
        data
    }

    /// What memory does at the next edge.
    #[inline]
    pub(crate) fn ask(&mut self, accesses: &Accesses) {
        self.asked = *accesses;
    }

    /// The edge. Nothing is read in reset. `registers`: what registers do in a column.
    pub(crate) fn edge<'a>(&mut self, running: bool, registers: impl Fn(usize) -> RegisterAccess<'a>) {
        let Accesses { read_entry, write_entry, write_bytes, write_data, .. } = &self.asked;
        for (b, bank) in self.banks.iter_mut().enumerate() {
            let of_column = |clusters: u8, columns: &[u8; CLUSTERS]| {
                set_bits(clusters).filter(|&g| usize::from(columns[g]) == b).fold(0, |set, g| set | 1 << g)
            };
            let (read, write) = registers(b);
            let memory = ColumnAccess {
                read: if running { of_column(self.asked.read, &self.asked.read_column) } else { 0 },
                read_entry,
                write: of_column(self.asked.write, &self.asked.write_column),
                write_entry,
                write_bytes,
                write_data,
            };
            bank.edge(read.filter(|_| running), write, &memory);
        }
        (self.asked.read, self.asked.write) = (0, 0);
    }

    /// The words and the outputs of a column, with their paths in its module.
    pub(crate) fn cells(&mut self) -> impl Iterator<Item = (usize, Vec<Memory<'_>>)> {
        self.banks.iter_mut().map(UnifiedBank::memories).enumerate()
    }
}
