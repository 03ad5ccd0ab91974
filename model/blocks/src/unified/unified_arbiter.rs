//! `unified_arbiter`: memory's accesses to the unified banks. `docs/blocks/unified_arbiter.md`.

use crate::cache::CACHE_EVENT;
use crate::config::Config;
use crate::design::EventWord;
use crate::mrf::bits::{is_set, pack, set_bits};
use crate::ram::LINE_BYTES;
use crate::shape::SmShape;
use crate::unified::{CLUSTER_BYTES, CLUSTERS, COLUMN_W, COLUMNS, LOG_W, ROWS_W, SHARED_ROW_W};
use crate::{Block, Decode, NoProbe, WARP_DATA_BITS, WarpData, Wide, field, ports};

/// Fields of `unified_event_t`, most significant first.
pub const UNIFIED_EVENT: EventWord = &[
    ("unified_cache_read_wait", 1),
    ("unified_cache_write_wait", 1),
    ("unified_shared_read_lost", 4),
    ("unified_shared_write_lost", 4),
];

/// Width of `event_o`.
pub(crate) const UNIFIED_EVENT_BITS: u32 = 10;

/// Fields of `cache_event_o` of the SM: those of the cache below the arbiter's.
pub const UNIFIED_CACHE_EVENT: EventWord = &{
    let mut fields = [("", 0); UNIFIED_EVENT.len() + CACHE_EVENT.len()];
    let mut i = 0;
    while i < fields.len() {
        fields[i] = if i < UNIFIED_EVENT.len() { UNIFIED_EVENT[i] } else { CACHE_EVENT[i - UNIFIED_EVENT.len()] };
        i += 1;
    }
    fields
};

ports! {
    /// Inputs of [`UnifiedArbiter`].
    pub struct UnifiedArbiterIn(s: &SmShape) {
        /// Data that is written to a line of the cache.
        cache_write_data_i: WarpData = field(WARP_DATA_BITS).valid_by("cache_write_i"),
        /// Data that the scratchpad writes, 16 bytes of each cluster.
        shared_data_i: WarpData = field(WARP_DATA_BITS).valid_by("shared_write_i"),
        /// Bytes of the line that are written.
        cache_write_bytes_i: Wide<4> = field(LINE_BYTES).valid_by("cache_write_i"),
        /// Rows of registers.
        register_rows_i: u16 = field(ROWS_W),
        /// Entry of a hit that is to be read.
        cache_read_entry_i: u16 = field(s.line_entry_w()).valid_by("cache_read_i"),
        /// Entry of the line whose bytes are to be written.
        cache_write_entry_i: u16 = field(s.line_entry_w()).valid_by("cache_write_i"),
        /// Number of the 128 bytes of scratchpad memory that each cluster accesses.
        shared_row_i: [u16; CLUSTERS] = field(SHARED_ROW_W).count(CLUSTERS),
        /// Bytes of each cluster that the scratchpad writes.
        shared_bytes_i: [u16; CLUSTERS] = field(CLUSTER_BYTES).count(CLUSTERS).valid_by("shared_write_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Logarithm of the number of the cache's lines; 0: no cache.
        cache_log_i: u8 = field(LOG_W),
        /// No register is read in column b.
        column_read_ready_i: u8 = field(COLUMNS),
        /// Clusters of each column in which no register is written.
        column_write_ready_i: [u8; COLUMNS] = field(CLUSTERS).count(COLUMNS),
        /// A hit is to be read.
        cache_read_i: u8 = field(1),
        /// Bytes of a line are to be written.
        cache_write_i: u8 = field(1),
        /// Clusters that the scratchpad's pass wants to read.
        shared_read_i: u8 = field(CLUSTERS),
        /// Clusters that the scratchpad's pass wants to write.
        shared_write_i: u8 = field(CLUSTERS),
    }
}

ports! {
    /// Outputs of [`UnifiedArbiter`].
    pub struct UnifiedArbiterOut(s: &SmShape) {
        /// Data that is written, 16 bytes of each cluster.
        write_data_o: WarpData = field(WARP_DATA_BITS).valid_by("write_o"),
        /// Row of each cluster that is read.
        read_entry_o: [u16; CLUSTERS] = field(s.mrf.entry_w()).count(CLUSTERS).valid_by("read_o"),
        /// Row of each cluster that is written.
        write_entry_o: [u16; CLUSTERS] = field(s.mrf.entry_w()).count(CLUSTERS).valid_by("write_o"),
        /// Bytes of each cluster that are written.
        write_bytes_o: [u16; CLUSTERS] = field(CLUSTER_BYTES).count(CLUSTERS).valid_by("write_o"),
        /// Events: `unified_event_t`.
        event_o: u16 = field(UNIFIED_EVENT_BITS).shown(Decode::Packed(UNIFIED_EVENT)),
        /// An access of the cache to column b is performed, if there is a read.
        cache_read_ready_o: u8 = field(COLUMNS),
        /// An access of the cache to column b is performed, if there is a write.
        cache_write_ready_o: u8 = field(COLUMNS),
        /// Clusters that the scratchpad reads at this edge.
        shared_read_ready_o: u8 = field(CLUSTERS),
        /// Clusters that the scratchpad writes at this edge.
        shared_write_ready_o: u8 = field(CLUSTERS),
        /// Clusters that are read at this edge.
        read_o: u8 = field(CLUSTERS),
        /// Clusters that are written at this edge.
        write_o: u8 = field(CLUSTERS),
        /// Column of each cluster that is read.
        read_column_o: [u8; CLUSTERS] = field(COLUMN_W).count(CLUSTERS).valid_by("read_o"),
        /// Column of each cluster that is written.
        write_column_o: [u8; CLUSTERS] = field(COLUMN_W).count(CLUSTERS).valid_by("write_o"),
        /// Column that was read last in each cluster.
        data_column_o: [u8; CLUSTERS] = field(COLUMN_W).count(CLUSTERS).early().shows("column_q"),
    }
}

/// What memory asks of the columns at an edge, as it is performed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accesses {
    /// Clusters that are read; column and row of each.
    pub(crate) read: u8,
    pub(crate) read_column: [u8; CLUSTERS],
    pub(crate) read_entry: [u16; CLUSTERS],
    /// Clusters that are written; column, row and bytes of each, and the data.
    pub(crate) write: u8,
    pub(crate) write_column: [u8; CLUSTERS],
    pub(crate) write_entry: [u16; CLUSTERS],
    pub(crate) write_bytes: [u16; CLUSTERS],
    pub(crate) write_data: WarpData,
}

impl Accesses {
    /// Whether something is read.
    #[inline]
    pub fn reads(&self) -> bool {
        self.read != 0
    }
}

/// What registers leave of the columns in a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnsFree {
    /// Columns in which none is read.
    pub(crate) read: u8,
    /// Clusters of each column in which none is written.
    pub(crate) write: [u8; COLUMNS],
}

impl ColumnsFree {
    /// Columns in which the cache may read, and those in which it may write: it needs all clusters.
    #[inline]
    pub fn of_cache(&self) -> CacheColumns {
        let write = self.write.iter().enumerate();
        CacheColumns { read: self.read, write: write.fold(0, |all, (b, &free)| all | u8::from(free == u8::MAX) << b) }
    }
}

/// Columns that are free for the data cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheColumns {
    /// Those in which it may read.
    pub(crate) read: u8,
    /// Those in which it may write.
    pub(crate) write: u8,
}

impl CacheColumns {
    /// Of a cache with a RAM of its own.
    pub const ALL: Self = Self { read: u8::MAX, write: u8::MAX };

    /// Whether the entry's column is free for a read.
    #[inline]
    pub(crate) fn reads(self, entry: u16) -> bool {
        is_set(self.read, column(entry))
    }

    /// Whether the entry's column is free for a write.
    #[inline]
    pub(crate) fn writes(self, entry: u16) -> bool {
        is_set(self.write, column(entry))
    }
}

/// Bytes of a line that are to be written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineWrite<'a> {
    pub(crate) entry: u16,
    pub(crate) bytes: u128,
    pub(crate) data: &'a WarpData,
}

/// What the data cache wants of the banks.
#[derive(Clone, Copy, Debug, Default)]
pub struct CacheWants<'a> {
    /// Entry of the line that is to be read.
    pub(crate) read: Option<u16>,
    pub(crate) write: Option<LineWrite<'a>>,
}

/// What the scratchpad's pass wants of the banks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedWants {
    /// Clusters to read, or to write.
    pub(crate) read: u8,
    pub(crate) write: u8,
    /// Number of the 128 bytes that each cluster accesses.
    pub(crate) row: [u16; CLUSTERS],
    /// Bytes of each cluster that are written, and the data.
    pub(crate) bytes: [u16; CLUSTERS],
    pub(crate) data: WarpData,
}

/// Clusters in which the scratchpad is served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedReady {
    /// Those that are read.
    pub(crate) read: u8,
    /// Those that are written.
    pub(crate) write: u8,
}

/// How the rows are divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Partition {
    /// Rows of registers.
    pub register_rows: u16,
    /// Logarithm of the number of the cache's lines; 0: no cache.
    pub cache_log: u8,
}

impl Partition {
    /// Nothing for registers, no cache.
    pub const NOTHING: Self = Self { register_rows: 0, cache_log: 0 };
}

impl Partition {
    /// Rows of the cache.
    #[inline]
    pub fn cache_rows(self) -> usize {
        (1 << self.cache_log) / COLUMNS
    }
}

/// What memory wants of the banks in a cycle.
#[derive(Clone, Copy, Debug)]
pub struct Wants<'a> {
    /// The data cache.
    pub cache: CacheWants<'a>,
    /// The scratchpad.
    pub shared: &'a SharedWants,
}

/// Maps the accesses of data cache and scratchpad to columns and rows, and decides between them (hierarchy thesis 7.3.2, 7.3.3).
pub struct UnifiedArbiter {
    depth: u16,
    row_mask: u16,
    column_q: [u8; CLUSTERS],
}

/// Column of an entry of the cache, or of 128 bytes of scratchpad.
#[inline]
fn column(number: u16) -> usize {
    usize::from(number) % COLUMNS
}

impl UnifiedArbiter {
    /// The column that was read last in each cluster.
    #[inline]
    pub fn columns(&self) -> &[u8; CLUSTERS] {
        &self.column_q
    }

    /// Row of an entry of the cache.
    #[inline]
    fn row_of_entry(&self, partition: Partition, entry: u16) -> u16 {
        self.depth.wrapping_sub(partition.cache_rows() as u16).wrapping_add(entry / COLUMNS as u16) & self.row_mask
    }

    /// Row of 128 bytes of scratchpad.
    #[inline]
    fn row_of_shared(&self, partition: Partition, number: u16) -> u16 {
        partition.register_rows.wrapping_add(number / COLUMNS as u16) & self.row_mask
    }

    /// What is performed, the scratchpad's part of it, and `unified_event_t`.
    pub fn decide(
        &self,
        partition: Partition,
        free: &ColumnsFree,
        wants: &Wants<'_>,
        accesses: &mut Accesses,
    ) -> (SharedReady, u16) {
        let Wants { cache, shared } = *wants;
        let columns = free.of_cache();
        let mut ready = SharedReady::default();
        *accesses = Accesses::default();
        let (mut read_waits, mut write_waits) = (false, false);
        if let Some(entry) = cache.read {
            read_waits = !columns.reads(entry);
        }
        if let Some(entry) = cache.read.filter(|_| !read_waits) {
            accesses.read = u8::MAX;
            accesses.read_column = [column(entry) as u8; CLUSTERS];
            accesses.read_entry = [self.row_of_entry(partition, entry); CLUSTERS];
        } else {
            for g in set_bits(shared.read) {
                let b = column(shared.row[g]);
                if is_set(free.read, b) {
                    ready.read |= 1 << g;
                    accesses.read_column[g] = b as u8;
                    accesses.read_entry[g] = self.row_of_shared(partition, shared.row[g]);
                }
            }
            accesses.read = ready.read;
        }
        if let Some(write) = cache.write {
            write_waits = !columns.writes(write.entry);
        }
        if let Some(LineWrite { entry, bytes, data }) = cache.write.filter(|_| !write_waits) {
            accesses.write = u8::MAX;
            accesses.write_column = [column(entry) as u8; CLUSTERS];
            accesses.write_entry = [self.row_of_entry(partition, entry); CLUSTERS];
            accesses.write_bytes = std::array::from_fn(|g| (bytes >> (CLUSTER_BYTES * g)) as u16);
            accesses.write_data = *data;
        } else {
            for g in set_bits(shared.write) {
                let b = column(shared.row[g]);
                if is_set(free.write[b], g) {
                    ready.write |= 1 << g;
                    accesses.write_column[g] = b as u8;
                    accesses.write_entry[g] = self.row_of_shared(partition, shared.row[g]);
                    accesses.write_bytes[g] = shared.bytes[g];
                }
            }
            accesses.write = ready.write;
            if accesses.write != 0 {
                accesses.write_data = shared.data;
            }
        }
        let lost = |wanted: u8, served: u8| (wanted & !served).count_ones();
        let counts =
            [read_waits.into(), write_waits.into(), lost(shared.read, ready.read), lost(shared.write, ready.write)];
        (ready, pack(UNIFIED_EVENT, counts) as u16)
    }

    /// The edge of a cycle in which this is performed.
    #[inline]
    pub fn advance(&mut self, accesses: &Accesses) {
        for g in set_bits(accesses.read) {
            self.column_q[g] = accesses.read_column[g];
        }
    }

    /// An edge in reset.
    pub fn reset(&mut self) {
        self.column_q = [0; CLUSTERS];
    }
}

impl UnifiedArbiterIn {
    fn free(&self) -> ColumnsFree {
        ColumnsFree { read: self.column_read_ready_i, write: self.column_write_ready_i }
    }

    fn partition(&self) -> Partition {
        Partition { register_rows: self.register_rows_i, cache_log: self.cache_log_i }
    }

    fn shared(&self) -> SharedWants {
        SharedWants {
            read: self.shared_read_i,
            write: self.shared_write_i,
            row: self.shared_row_i,
            bytes: self.shared_bytes_i,
            data: self.shared_data_i,
        }
    }

    fn cache(&self) -> CacheWants<'_> {
        let write = LineWrite {
            entry: self.cache_write_entry_i,
            bytes: self.cache_write_bytes_i.to_u128(),
            data: &self.cache_write_data_i,
        };
        CacheWants {
            read: (self.cache_read_i != 0).then_some(self.cache_read_entry_i),
            write: (self.cache_write_i != 0).then_some(write),
        }
    }
}

impl UnifiedArbiterOut {
    /// The columns that are free for the cache.
    pub fn show_cache(&mut self, columns: CacheColumns) {
        (self.cache_read_ready_o, self.cache_write_ready_o) = (columns.read, columns.write);
    }

    /// Clusters in which the scratchpad is served.
    pub fn show_ready(&mut self, ready: SharedReady) {
        (self.shared_read_ready_o, self.shared_write_ready_o) = (ready.read, ready.write);
    }

    /// What is performed, as the ports have it.
    pub fn show(&mut self, accesses: &Accesses) {
        (self.read_o, self.read_column_o, self.read_entry_o) =
            (accesses.read, accesses.read_column, accesses.read_entry);
        (self.write_o, self.write_column_o, self.write_entry_o) =
            (accesses.write, accesses.write_column, accesses.write_entry);
        (self.write_bytes_o, self.write_data_o) = (accesses.write_bytes, accesses.write_data);
    }
}

impl Block for UnifiedArbiter {
    const NAME: &'static str = "unified_arbiter";
    const PARAMETERS: &'static [&'static str] = &["Depth", "Lines"];

    type Shape = SmShape;
    type In = UnifiedArbiterIn;
    type Out = UnifiedArbiterOut;
    type Probe = NoProbe<SmShape>;

    /// Where the configuration has no unified memory, that of the preset `unified-tiny`.
    fn shape_alone(config: &Config) -> SmShape {
        let shape = config.sm_shape();
        if shape.unified() { shape } else { super::config::TINY.sm_shape() }
    }

    fn new(shape: &SmShape) -> Self {
        Self { depth: shape.mrf.depth as u16, row_mask: shape.mrf.entry_mask(), column_q: [0; CLUSTERS] }
    }

    fn early(&self, out: &mut UnifiedArbiterOut) {
        out.data_column_o = self.column_q;
    }

    fn late(&mut self, inputs: &UnifiedArbiterIn, out: &mut UnifiedArbiterOut) {
        let (free, shared) = (inputs.free(), inputs.shared());
        out.show_cache(free.of_cache());
        let mut accesses = Accesses::default();
        let wants = Wants { cache: inputs.cache(), shared: &shared };
        let (ready, event) = self.decide(inputs.partition(), &free, &wants, &mut accesses);
        out.show_ready(ready);
        out.event_o = event;
        out.show(&accesses);
    }

    fn clock(&mut self, inputs: &UnifiedArbiterIn, out: &UnifiedArbiterOut) {
        if inputs.rst_ni == 0 {
            self.reset();
            return;
        }
        for g in set_bits(out.read_o) {
            self.column_q[g] = out.read_column_o[g];
        }
    }

    fn probe(&self, _: &UnifiedArbiterIn, _: &UnifiedArbiterOut, _: &mut NoProbe<SmShape>) {}
}

#[cfg(test)]
mod tests;
