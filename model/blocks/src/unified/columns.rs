//! What memory asks of the columns of the unified banks, and what they say: ports of every block around them.

use crate::mrf::MrfShape;
use crate::unified::{CLUSTER_BYTES, CLUSTERS, COLUMN_W, COLUMNS};
use crate::{WARP_DATA_BITS, WarpData, field, ports};

ports! {
    /// What memory asks of the columns. There only with unified memory.
    pub struct ColumnsIn(s: &MrfShape) {
        /// What is written for memory, 16 bytes of each cluster.
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
