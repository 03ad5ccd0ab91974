//! A replay of unified memory: which memory accesses get a column, from the sentences of `docs/unified.md`, "Partition" and "Accesses".
//!
//! The SM supplies the requests: hits and lines of the cache, clusters of the scratchpad's pass, registers that are read. The grants are decided here.

use std::collections::{BTreeMap, BTreeSet};

use gpurf_blocks::config::{Config, MemoryPorts};
use gpurf_blocks::designs::Organisation;
use gpurf_blocks::shape::SmShape;
use gpurf_blocks::unified::{BANKS, CLUSTERS, COLUMNS, UNIFIED_CACHE_EVENT};
use gpurf_blocks::{GROUP_LANES, LANES};
use gpurf_oracle::lanes_of;

use super::seen::Seen;
use super::words::{Place, Tally, Word};

/// The event word that is counted: accesses that wait.
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

/// Lines of the cache in one row.
const LINES_PER_ROW: u32 = 4;

/// The replay of unified memory.
pub struct Replay {
    organisation: Organisation,
    shape: SmShape,
    /// Registers and memory have separate ports.
    separate: bool,
    /// Rows of registers and of scratchpad memory, and the first row of the cache.
    registers: u32,
    shared_end: u32,
    cache_begin: u32,
}

/// The requests to one port, reads or writes.
struct Port<'a> {
    /// An entry of the cache.
    cache: Option<u16>,
    /// Requested words of the scratchpad; `rows`: for each the number of the 128 bytes that contain it.
    shared: u32,
    rows: &'a [u16; LANES],
    /// Clusters of each column that registers do not use.
    free: [u8; COLUMNS],
}

/// The accesses that were granted.
struct Granted {
    cache_waits: bool,
    lost: usize,
    /// The banks that are accessed, with their rows. Cluster g of column b is bank 8b + g.
    rows: BTreeMap<usize, u32>,
}

impl Replay {
    /// A replay for an SM that has just been reset; `None` if it has no unified memory.
    pub fn new(config: &Config) -> Option<Self> {
        let shape = config.sm_shape();
        shape.unified().then(|| Self {
            organisation: Organisation::of(config),
            separate: config.unified.ports == MemoryPorts::Separate,
            shape,
            registers: 0,
            shared_end: 0,
            cache_begin: 0,
        })
    }

    fn depth(&self) -> u32 {
        self.shape.mrf.depth as u32
    }

    /// Observes a cycle.
    pub fn observe(&mut self, seen: &Seen<'_>, tally: &mut Tally) {
        let (o, inputs, out) = (&seen.cycle.probe.outputs, seen.cycle.inputs, seen.cycle.out);
        if inputs.rst_ni == 0 {
            return;
        }
        let columns = &o.operand_stage.columns;
        let banks = self.organisation.banks(&seen.inside.provider);
        let (read, written) = banks.map_or((0, 0), |banks| (banks.read, banks.written));
        let shared = &o.unified_shared;
        // A register read takes its whole column; a register write takes its lanes' clusters. If memory has its own ports, all columns are free.
        let (read, written) = if self.separate { (0, 0) } else { (read, written) };
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
        tally.add("unified_shared_read_lost", reads.lost as u64);
        tally.add("unified_shared_write_lost", writes.lost as u64);
        let arbiter = &o.unified_arbiter;
        let accesses = [
            (reads, arbiter.read_o, &arbiter.read_entry_o, "read"),
            (writes, arbiter.write_o, &arbiter.write_entry_o, "write"),
        ];
        for (granted, clusters, entries, what) in accesses {
            let is_accessed = |bank: &usize| clusters[bank / CLUSTERS] >> (bank % CLUSTERS) & 1 == 1;
            let performed: BTreeMap<usize, u32> =
                (0..BANKS).filter(is_accessed).map(|bank| (bank, u32::from(entries[bank]))).collect();
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

    /// Registers have priority, then the cache, which gets all that it requests or nothing; then the scratchpad, bank by bank.
    fn grant(&self, port: &Port<'_>, tally: &mut Tally) -> Granted {
        let mut rows = BTreeMap::new();
        let cache = port.cache.map(u32::from);
        let goes = cache.is_some_and(|entry| port.free[entry as usize % COLUMNS] == u8::MAX);
        if let Some(entry) = cache.filter(|_| goes) {
            let row = self.cache_begin + entry / LINES_PER_ROW;
            if row >= self.depth() || self.cache_begin < self.shared_end {
                tally.object(|| format!("the cache accesses row {row}, which is not its own"));
            }
            rows = (0..CLUSTERS).map(|g| (CLUSTERS * (entry as usize % COLUMNS) + g, row)).collect();
        }
        let mut lost = BTreeSet::new();
        for w in lanes_of(port.shared) {
            let (g, number) = (w / GROUP_LANES, u32::from(port.rows[w]));
            let column = number as usize % COLUMNS;
            if goes || port.free[column] >> g & 1 == 0 {
                lost.insert((column, g));
                continue;
            }
            let row = self.registers + number / COLUMNS as u32;
            if row >= self.shared_end {
                tally.object(|| format!("scratchpad memory is accessed in row {row}, which is not its own"));
            }
            if rows.insert(CLUSTERS * column + g, row).is_some_and(|other| other != row) {
                tally.object(|| format!("cluster {g} accesses two rows of column {column}"));
            }
        }
        Granted { cache_waits: cache.is_some() && !goes, lost: lost.len(), rows }
    }
}
