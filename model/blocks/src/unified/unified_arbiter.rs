//! `unified_arbiter`: arbitrates memory's accesses to the unified banks. `docs/blocks/unified_arbiter.md`.

use crate::cache::CACHE_EVENT;
use crate::config::Config;
use crate::design::EventWord;
use crate::mrf::bits::{is_set, pack, set_bits};
use crate::ram::LINE_BYTES;
use crate::shape::SmShape;
use crate::unified::{
    BANKS, CLUSTER_BYTES, CLUSTERS, COLUMN_W, COLUMNS, LOG_W, ROWS_W, SHARED_ROW_W, WORD_BYTES, WORDS,
};
use crate::{Block, Decode, GROUP_LANES, NoProbe, WARP_DATA_BITS, WarpData, Wide, field, ports};

/// Fields of `unified_event_t`, most significant first.
pub const UNIFIED_EVENT: EventWord = &[
    ("unified_cache_read_wait", 1),
    ("unified_cache_write_wait", 1),
    ("unified_shared_read_lost", 6),
    ("unified_shared_write_lost", 6),
];

/// Width of `event_o`.
pub(crate) const UNIFIED_EVENT_BITS: u32 = 14;

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
        /// Data that the scratchpad writes, a word at each place.
        shared_data_i: WarpData = field(WARP_DATA_BITS).valid_by("shared_write_i"),
        /// Bytes of the line that are written.
        cache_write_bytes_i: Wide<4> = field(LINE_BYTES).valid_by("cache_write_i"),
        /// Rows of registers.
        register_rows_i: u16 = field(ROWS_W),
        /// Entry of a hit that is to be read.
        cache_read_entry_i: u16 = field(s.line_entry_w()).valid_by("cache_read_i"),
        /// Entry of the line whose bytes are to be written.
        cache_write_entry_i: u16 = field(s.line_entry_w()).valid_by("cache_write_i"),
        /// Number of the 128 bytes of scratchpad memory that the word at each place is in.
        shared_row_i: [u16; WORDS] = field(SHARED_ROW_W).count(WORDS),
        /// Word places that the scratchpad's pass wants to read.
        shared_read_i: u32 = field(WORDS),
        /// Word places that the scratchpad's pass wants to write.
        shared_write_i: u32 = field(WORDS),
        /// Bytes of each word that the scratchpad writes.
        shared_bytes_i: [u8; WORDS] = field(WORD_BYTES).count(WORDS).valid_by("shared_write_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Logarithm of the number of the cache's lines; 0: no cache.
        cache_log_i: u8 = field(LOG_W),
        /// Memory may read in column b.
        column_read_ready_i: u8 = field(COLUMNS),
        /// Clusters of each column in which memory may write.
        column_write_ready_i: [u8; COLUMNS] = field(CLUSTERS).count(COLUMNS),
        /// A hit is to be read.
        cache_read_i: u8 = field(1),
        /// Bytes of a line are to be written.
        cache_write_i: u8 = field(1),
    }
}

ports! {
    /// Outputs of [`UnifiedArbiter`].
    pub struct UnifiedArbiterOut(s: &SmShape) {
        /// Data that is written, 16 bytes of each cluster.
        write_data_o: WarpData = field(WARP_DATA_BITS).valid_by("write_o"),
        /// Row of each bank that is read: element 8b + g of cluster g in column b.
        read_entry_o: [u16; BANKS] = field(s.mrf.entry_w()).count(BANKS).valid_by("read_o"),
        /// Row of each bank that is written: element 8b + g of cluster g in column b.
        write_entry_o: [u16; BANKS] = field(s.mrf.entry_w()).count(BANKS).valid_by("write_o"),
        /// Bytes of each bank that are written.
        write_bytes_o: [u16; BANKS] = field(CLUSTER_BYTES).count(BANKS).valid_by("write_o"),
        /// Word places that the scratchpad reads at this edge.
        shared_read_ready_o: u32 = field(WORDS),
        /// Word places that the scratchpad writes at this edge.
        shared_write_ready_o: u32 = field(WORDS),
        /// Events: `unified_event_t`.
        event_o: u16 = field(UNIFIED_EVENT_BITS).shown(Decode::Packed(UNIFIED_EVENT)),
        /// An access of the cache to column b is performed, if there is a read.
        cache_read_ready_o: u8 = field(COLUMNS),
        /// An access of the cache to column b is performed, if there is a write.
        cache_write_ready_o: u8 = field(COLUMNS),
        /// Clusters of each column that are read at this edge.
        read_o: [u8; COLUMNS] = field(CLUSTERS).count(COLUMNS),
        /// Clusters of each column that are written at this edge.
        write_o: [u8; COLUMNS] = field(CLUSTERS).count(COLUMNS),
        /// Column from which each word place was read last.
        data_column_o: [u8; WORDS] = field(COLUMN_W).count(WORDS).early().shows("column_q"),
    }
}

/// Accesses of memory to the columns at an edge, in the form in which they are performed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accesses {
    /// Clusters of each column that are read, and the row of each bank.
    pub(crate) read: [u8; COLUMNS],
    pub(crate) read_entry: [u16; BANKS],
    /// Clusters of each column that are written; row and bytes of each bank, and the data.
    pub(crate) write: [u8; COLUMNS],
    pub(crate) write_entry: [u16; BANKS],
    pub(crate) write_bytes: [u16; BANKS],
    pub(crate) write_data: WarpData,
}

impl Accesses {
    /// Whether something is read.
    #[inline]
    pub fn reads(&self) -> bool {
        self.read != [0; COLUMNS]
    }

    /// Makes all clusters of a column read a row.
    fn read_line(&mut self, column: usize, row: u16) {
        self.read[column] = u8::MAX;
        self.read_entry[CLUSTERS * column..][..CLUSTERS].fill(row);
    }

    /// Makes all clusters of a column write bytes of a row.
    fn write_line(&mut self, column: usize, row: u16, bytes: u128) {
        self.write[column] = u8::MAX;
        self.write_entry[CLUSTERS * column..][..CLUSTERS].fill(row);
        for (g, of_cluster) in self.write_bytes[CLUSTERS * column..][..CLUSTERS].iter_mut().enumerate() {
            *of_cluster = (bytes >> (CLUSTER_BYTES * g)) as u16;
        }
    }
}

/// The accesses to the columns that registers leave free in a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ColumnsFree {
    /// Columns in which memory may read.
    pub(crate) read: u8,
    /// Clusters of each column in which memory may write.
    pub(crate) write: [u8; COLUMNS],
}

impl ColumnsFree {
    /// Everything is free: memory has ports of its own.
    pub(crate) const ALL: Self = Self { read: (1 << COLUMNS) - 1, write: [u8::MAX; COLUMNS] };

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
    /// Columns in which the cache may read.
    pub(crate) read: u8,
    /// Columns in which the cache may write.
    pub(crate) write: u8,
}

impl CacheColumns {
    /// All columns, for a cache with a RAM of its own.
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

/// Accesses to the banks that the data cache wants.
#[derive(Clone, Copy, Debug, Default)]
pub struct CacheWants<'a> {
    /// Entry of the line that is to be read.
    pub(crate) read: Option<u16>,
    pub(crate) write: Option<LineWrite<'a>>,
}

/// Accesses to the banks that the scratchpad's pass wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedWants {
    /// Word places to read, or to write.
    pub(crate) read: u32,
    pub(crate) write: u32,
    /// Number of the 128-byte row that contains the word at each place.
    pub(crate) row: [u16; WORDS],
    /// Bytes of each word that are written, and the data.
    pub(crate) bytes: [u8; WORDS],
    pub(crate) data: WarpData,
}

/// Word places at which the scratchpad is served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedReady {
    /// Word places that are read.
    pub(crate) read: u32,
    /// Word places that are written.
    pub(crate) write: u32,
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

/// Accesses to the banks that memory wants in a cycle.
#[derive(Clone, Copy, Debug)]
pub struct Wants<'a> {
    /// The data cache.
    pub cache: CacheWants<'a>,
    /// The scratchpad.
    pub shared: &'a SharedWants,
}

/// Maps the accesses of cache and scratchpad to columns and rows, and arbitrates between them (hierarchy thesis 7.3.2, 7.3.3).
#[derive(Clone)]
pub struct UnifiedArbiter {
    depth: u16,
    row_mask: u16,
    column_q: [u8; WORDS],
    /// Value of `column_q` after the edge of this cycle.
    next: [u8; WORDS],
}

/// The column of an entry of the cache, or of a 128-byte row of scratchpad.
#[inline]
fn column(number: u16) -> usize {
    usize::from(number) % COLUMNS
}

/// The banks of words, one bit for each bank.
fn banks_of(words: u32, rows: &[u16; WORDS]) -> u32 {
    set_bits(words).fold(0, |banks, w| banks | 1 << (CLUSTERS * column(rows[w]) + w / GROUP_LANES))
}

impl UnifiedArbiter {
    /// The column from which each word place was read last.
    #[inline]
    pub fn columns(&self) -> &[u8; WORDS] {
        &self.column_q
    }

    /// The row of an entry of the cache.
    #[inline]
    fn row_of_entry(&self, partition: Partition, entry: u16) -> u16 {
        self.depth.wrapping_sub(partition.cache_rows() as u16).wrapping_add(entry / COLUMNS as u16) & self.row_mask
    }

    /// The row of 128 bytes of scratchpad.
    #[inline]
    fn row_of_shared(&self, partition: Partition, number: u16) -> u16 {
        partition.register_rows.wrapping_add(number / COLUMNS as u16) & self.row_mask
    }

    /// The accesses that are performed, the scratchpad's part of them, and `unified_event_t`.
    pub fn decide(
        &mut self,
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
        self.next = self.column_q;
        if let Some(entry) = cache.read.filter(|_| !read_waits) {
            accesses.read_line(column(entry), self.row_of_entry(partition, entry));
            self.next = [column(entry) as u8; WORDS];
        } else {
            for w in set_bits(shared.read) {
                let (b, g) = (column(shared.row[w]), w / GROUP_LANES);
                if is_set(free.read, b) {
                    ready.read |= 1 << w;
                    self.next[w] = b as u8;
                    accesses.read[b] |= 1 << g;
                    accesses.read_entry[CLUSTERS * b + g] = self.row_of_shared(partition, shared.row[w]);
                }
            }
        }
        if let Some(write) = cache.write {
            write_waits = !columns.writes(write.entry);
        }
        if let Some(LineWrite { entry, bytes, data }) = cache.write.filter(|_| !write_waits) {
            accesses.write_line(column(entry), self.row_of_entry(partition, entry), bytes);
            accesses.write_data = *data;
        } else {
            for w in set_bits(shared.write) {
                let (b, g) = (column(shared.row[w]), w / GROUP_LANES);
                if is_set(free.write[b], g) {
                    ready.write |= 1 << w;
                    accesses.write[b] |= 1 << g;
                    accesses.write_entry[CLUSTERS * b + g] = self.row_of_shared(partition, shared.row[w]);
                    accesses.write_bytes[CLUSTERS * b + g] |=
                        u16::from(shared.bytes[w]) << (WORD_BYTES * (w % GROUP_LANES));
                }
            }
            if ready.write != 0 {
                accesses.write_data = shared.data;
            }
        }
        let lost = |wanted: u32, served: u32| banks_of(wanted & !served, &shared.row).count_ones();
        let counts =
            [read_waits.into(), write_waits.into(), lost(shared.read, ready.read), lost(shared.write, ready.write)];
        (ready, pack(UNIFIED_EVENT, counts) as u16)
    }

    /// Clock edge of the cycle for which [`decide`](Self::decide) was called.
    #[inline]
    pub fn advance(&mut self) {
        self.column_q = self.next;
    }

    /// Clock edge in reset.
    pub fn reset(&mut self) {
        self.column_q = [0; WORDS];
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
    /// Shows the columns that are free for the cache.
    pub fn show_cache(&mut self, columns: CacheColumns) {
        (self.cache_read_ready_o, self.cache_write_ready_o) = (columns.read, columns.write);
    }

    /// Shows the word places at which the scratchpad is served.
    pub fn show_ready(&mut self, ready: SharedReady) {
        (self.shared_read_ready_o, self.shared_write_ready_o) = (ready.read, ready.write);
    }

    /// Shows the accesses that are performed, in the form of the ports.
    pub fn show(&mut self, accesses: &Accesses) {
        (self.read_o, self.read_entry_o) = (accesses.read, accesses.read_entry);
        (self.write_o, self.write_entry_o) = (accesses.write, accesses.write_entry);
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
        let (column_q, next) = ([0; WORDS], [0; WORDS]);
        Self { depth: shape.mrf.depth as u16, row_mask: shape.mrf.entry_mask(), column_q, next }
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

    fn clock(&mut self, inputs: &UnifiedArbiterIn, _: &UnifiedArbiterOut) {
        if inputs.rst_ni == 0 {
            self.reset();
        } else {
            self.advance();
        }
    }

    fn probe(&self, _: &UnifiedArbiterIn, _: &UnifiedArbiterOut, _: &mut NoProbe<SmShape>) {}
}

#[cfg(test)]
mod tests;
