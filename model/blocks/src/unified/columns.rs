//! The columns of the unified banks in a register file, memory's accesses to them, and their outputs: ports of each block around them.

use crate::mrf::MrfShape;
use crate::unified::unified_bank::ColumnAccess;
use crate::unified::{Accesses, BANKS, CLUSTER_BYTES, CLUSTERS, COLUMN_W, COLUMNS, ColumnsFree, UnifiedBank, WORDS};
use crate::{Block, LaneMask, Memory, WARP_DATA_BITS, WarpData, field, ports};

ports! {
    /// What memory asks of the columns. There only with unified memory.
    pub struct ColumnsIn(s: &MrfShape) {
        /// Data that is written for memory, 16 bytes of each cluster.
        memory_write_data_i: WarpData = field(WARP_DATA_BITS).valid_by("memory_write_i").when(s.unified),
        /// Entry of each bank that is read for memory: element 8b + g of cluster g in column b.
        memory_read_entry_i: [u16; BANKS] =
            field(s.entry_w()).count(BANKS).valid_by("memory_read_i").when(s.unified),
        /// Entry of each bank that is written for memory: element 8b + g of cluster g in column b.
        memory_write_entry_i: [u16; BANKS] =
            field(s.entry_w()).count(BANKS).valid_by("memory_write_i").when(s.unified),
        /// Bytes of each bank that are written for memory.
        memory_write_bytes_i: [u16; BANKS] =
            field(CLUSTER_BYTES).count(BANKS).valid_by("memory_write_i").when(s.unified),
        /// Clusters of each column that are to be read for memory at this edge.
        memory_read_i: [u8; COLUMNS] = field(CLUSTERS).count(COLUMNS).when(s.unified),
        /// Clusters of each column that are to be written for memory at this edge.
        memory_write_i: [u8; COLUMNS] = field(CLUSTERS).count(COLUMNS).when(s.unified),
        /// Column whose output memory wants at each word place.
        memory_data_column_i: [u8; WORDS] = field(COLUMN_W).count(WORDS).when(s.unified),
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
    "memory_data_column_i",
];

ports! {
    /// What the columns say to memory; 0 without unified memory.
    pub struct ColumnsOut(s: &MrfShape) {
        /// The word at each word place, of the column that memory wants there.
        memory_data_o: WarpData = field(WARP_DATA_BITS),
        /// Memory may read in column b.
        memory_read_ready_o: u8 = field(COLUMNS).early(),
        /// Clusters of each column in which memory may write.
        memory_write_ready_o: [u8; COLUMNS] = field(CLUSTERS).count(COLUMNS).early(),
    }
}

/// The names of these ports.
pub(crate) const COLUMNS_OUTPUTS: &[&str] = &["memory_data_o", "memory_read_ready_o", "memory_write_ready_o"];

impl ColumnsIn {
    /// The accesses that are performed.
    pub(crate) fn accesses(&self) -> Accesses {
        Accesses {
            read: self.memory_read_i,
            read_entry: self.memory_read_entry_i,
            write: self.memory_write_i,
            write_entry: self.memory_write_entry_i,
            write_bytes: self.memory_write_bytes_i,
            write_data: self.memory_write_data_i,
        }
    }
}

impl ColumnsOut {
    /// Shows the accesses that registers leave free.
    pub(crate) fn show_free(&mut self, free: &ColumnsFree) {
        (self.memory_read_ready_o, self.memory_write_ready_o) = (free.read, free.write);
    }

    /// Shows the accesses that registers leave free, and the data that memory has read last.
    pub fn show(&mut self, free: &ColumnsFree, data: WarpData) {
        self.show_free(free);
        self.memory_data_o = data;
    }
}

/// Accesses of registers to a column at an edge: the entry that is read; entry, data and lanes of the write.
pub(crate) type RegisterAccess<'a> = (Option<u16>, Option<(u16, &'a WarpData, LaneMask)>);

/// The columns of a register file.
#[derive(Clone)]
pub struct Columns {
    banks: [UnifiedBank; COLUMNS],
    /// Accesses of memory at the next edge.
    asked: Accesses,
}

impl Columns {
    pub(crate) fn new(shape: &MrfShape) -> Self {
        Self { banks: std::array::from_fn(|_| UnifiedBank::new(shape)), asked: Accesses::default() }
    }

    /// Whether registers and memory have ports of their own.
    #[inline]
    pub(crate) fn are_separate(&self) -> bool {
        self.banks[0].is_separate()
    }

    /// The output of a column.
    #[inline]
    pub(crate) fn read_data(&self, column: usize) -> &WarpData {
        self.banks[column].read_data()
    }

    /// The data that memory sees: the word at each word place, each from its own column.
    pub(crate) fn data(&self, columns: &[u8; WORDS]) -> WarpData {
        let outputs = self.banks.each_ref().map(UnifiedBank::memory_data);
        WarpData(std::array::from_fn(|w| outputs[usize::from(columns[w])].0[w]))
    }

    /// Sets the accesses of memory at the next edge.
    #[inline]
    pub(crate) fn ask(&mut self, accesses: &Accesses) {
        self.asked = *accesses;
    }

    /// Performs the clock edge. Nothing is read in reset. `registers`: accesses of registers to a column.
    pub(crate) fn edge<'a>(&mut self, running: bool, registers: impl Fn(usize) -> RegisterAccess<'a>) {
        let Accesses { read_entry, write_entry, write_bytes, write_data, .. } = &self.asked;
        let (read_entry, write_entry) = (read_entry.as_chunks().0, write_entry.as_chunks().0);
        let write_bytes = write_bytes.as_chunks().0;
        for (b, bank) in self.banks.iter_mut().enumerate() {
            let (read, write) = registers(b);
            let memory = ColumnAccess {
                read: if running { self.asked.read[b] } else { 0 },
                read_entry: &read_entry[b],
                write: self.asked.write[b],
                write_entry: &write_entry[b],
                write_bytes: &write_bytes[b],
                write_data,
            };
            bank.edge(read.filter(|_| running), write, &memory);
        }
        (self.asked.read, self.asked.write) = ([0; COLUMNS], [0; COLUMNS]);
    }

    /// The words and the outputs of a column, with their paths in its module.
    pub(crate) fn cells(&mut self) -> impl Iterator<Item = (usize, Vec<Memory<'_>>)> {
        self.banks.iter_mut().map(UnifiedBank::memories).enumerate()
    }
}
