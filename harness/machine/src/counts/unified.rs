//! Unified memory, followed: which accesses of memory get a column, from the sentences of `docs/unified.md`, "Partition" and "Accesses".
//!
//! What is wanted, the SM says: hits and lines of the cache, clusters of the scratchpad's pass, registers that are read. Who gets what is decided here.

use gpurf_blocks::config::Config;
use gpurf_blocks::designs::Organisation;
use gpurf_blocks::shape::SmShape;
use gpurf_blocks::unified::{CLUSTERS, COLUMNS, UNIFIED_CACHE_EVENT};
use gpurf_oracle::lanes_of;

use super::seen::Seen;
use super::words::{Place, Tally, Word};

/// The event word that is counted: what waits.
pub const WORDS: &[Word] = &[Word {
    fields: UNIFIED_CACHE_EVENT,
    at: Place::Cache,
    only: &[
        "unified_cache_read_wait",
        "unified_cache_write_wait",
        "unified_shared_read_lost",
        "unified_shared_write_lost",
    ],
}];

/// Lines of the cache in a row.
const LINES_PER_ROW: u32 = 4;

/// Unified memory that is followed.
pub struct Replay {
    organisation: Organisation,
    shape: SmShape,
    /// Rows of registers, of scratchpad memory, and the first one of the cache.
    registers: u32,
    shared_end: u32,
    cache_begin: u32,
}

/// What is wanted of one port, reads or writes.
struct Port<'a> {
    /// An entry of the cache.
    cache: Option<u16>,
    /// Clusters of the scratchpad, and the number of the 128 bytes that each of them wants.
    shared: u8,
    rows: &'a [u16; CLUSTERS],
    /// Clusters of each column that registers leave.
    free: [u8; COLUMNS],
}

/// What became of it.
struct Granted {
    cache_waits: bool,
    lost: u32,
    /// Clusters that access their bank, and their rows.
    rows: Vec<(usize, u32)>,
}

impl Replay {
    /// Of an SM that has just been reset; nothing where it has no unified memory.
    pub fn new(config: &Config) -> Option<Self> {
        let shape = config.sm_shape();
        shape.unified().then(|| Self {
            organisation: Organisation::of(config),
            shape,
            registers: 0,
            shared_end: 0,
            cache_begin: 0,
        })
    }

    fn depth(&self) -> u32 {
        self.shape.mrf.depth as u32
    }

    /// A cycle.
    pub fn observe(&mut self, seen: &Seen<'_>, tally: &mut Tally) {
        let (o, inputs, out) = (&seen.cycle.probe.outputs, seen.cycle.inputs, seen.cycle.out);
        if inputs.rst_ni == 0 {
            return;
        }
        let columns = &o.operand_stage.columns;
        let banks = self.organisation.banks(&seen.inside.provider);
        let (read, written) = banks.map_or((0, 0), |banks| (banks.read, banks.written));
        let shared = &o.unified_shared;
        // A register that is read takes its whole column; one that is written takes the clusters of its lanes.
        let free_to_read = std::array::from_fn(|b| if read >> b & 1 == 0 { u8::MAX } else { 0 });
        for b in 0..COLUMNS {
            let is_written = columns.memory_write_ready_o[b] != u8::MAX;
            if (written >> b & 1 == 1) != is_written {
                tally.object(|| format!("column {b} is not what a register's write leaves of it"));
            }
        }
        let wanted = |valid: u8, entry: u16| (valid == 1).then_some(entry);
        let reads = Port {
            cache: wanted(o.cache.ram_read_o, o.cache.ram_read_entry_o),
            shared: shared.read_o,
            rows: &shared.row_o,
            free: free_to_read,
        };
        let writes = Port {
            cache: wanted(o.cache.ram_write_o, o.cache.ram_write_entry_o),
            shared: shared.write_o,
            rows: &shared.row_o,
            free: columns.memory_write_ready_o,
        };
        let (reads, writes) = (self.grant(&reads, tally), self.grant(&writes, tally));
        tally.add("unified_cache_read_wait", reads.cache_waits);
        tally.add("unified_cache_write_wait", writes.cache_waits);
        tally.add("unified_shared_read_lost", reads.lost);
        tally.add("unified_shared_write_lost", writes.lost);
        let arbiter = &o.unified_arbiter;
        let accesses = [
            (reads, arbiter.read_o, &arbiter.read_entry_o, "read"),
            (writes, arbiter.write_o, &arbiter.write_entry_o, "write"),
        ];
        for (granted, clusters, entries, what) in accesses {
            let performed: Vec<(usize, u32)> = lanes_of(clusters.into()).map(|g| (g, u32::from(entries[g]))).collect();
            if performed != granted.rows {
                tally.object(|| format!("memory does not {what} the rows that it is granted"));
            }
        }
        if inputs.launch_valid_i == 1 && out.busy_o == 0 {
            let lines = if inputs.launch_cache_i == 0 { 0 } else { 1 << inputs.launch_cache_i };
            self.registers = inputs.launch_register_rows_i.into();
            self.shared_end = self.registers + u32::from(inputs.launch_shared_rows_i);
            self.cache_begin = self.depth().saturating_sub(lines / LINES_PER_ROW);
        }
    }

    /// Registers have gone first; then the cache, whole or not at all; then the scratchpad, cluster by cluster.
    fn grant(&self, port: &Port<'_>, tally: &mut Tally) -> Granted {
        let mut rows = Vec::new();
        let cache = port.cache.map(u32::from);
        let goes = cache.is_some_and(|entry| port.free[entry as usize % COLUMNS] == u8::MAX);
        if let Some(entry) = cache.filter(|_| goes) {
            let row = self.cache_begin + entry / LINES_PER_ROW;
            if row >= self.depth() || self.cache_begin < self.shared_end {
                tally.object(|| format!("the cache accesses row {row}, which is not its own"));
            }
            rows = (0..CLUSTERS).map(|g| (g, row)).collect();
        }
        let mut lost = 0;
        for g in lanes_of(port.shared.into()) {
            let number = u32::from(port.rows[g]);
            if goes || port.free[number as usize % COLUMNS] >> g & 1 == 0 {
                lost += 1;
                continue;
            }
            let row = self.registers + number / COLUMNS as u32;
            if row >= self.shared_end {
                tally.object(|| format!("scratchpad memory is accessed in row {row}, which is not its own"));
            }
            rows.push((g, row));
        }
        Granted { cache_waits: cache.is_some() && !goes, lost, rows }
    }
}
