//! Unified memory: conflicts of registers, data cache and scratchpad in the banks.

use gpurf_blocks::config::{Config, Gather, MemoryPorts};
use gpurf_blocks::unified::{CLUSTERS, COLUMNS};

use super::{Group, Sums, situations, sums};

/// One set of banks holds registers, scratchpad memory and the lines of the data cache.
fn unified(config: &Config) -> bool {
    config.unified.is_present()
}

/// Accesses of memory wait for accesses of registers.
fn shared(config: &Config) -> bool {
    unified(config) && config.unified.ports == MemoryPorts::Shared
}

/// Registers and memory have separate ports.
fn separate(config: &Config) -> bool {
    config.unified.ports == MemoryPorts::Separate
}

/// A cluster combines words of several columns.
fn aggressive(config: &Config) -> bool {
    config.unified.gather == Gather::Aggressive
}

/// Whether something is accessed.
fn any(of_columns: &[u8; COLUMNS]) -> bool {
    of_columns.iter().any(|&clusters| clusters != 0)
}

/// Columns in which something is accessed.
fn used(of_columns: &[u8; COLUMNS]) -> usize {
    of_columns.iter().filter(|&&clusters| clusters != 0).count()
}

/// The largest number of columns that are accessed in one cluster.
fn most_columns(of_columns: &[u8; COLUMNS]) -> usize {
    let of_cluster = |g: usize| of_columns.iter().filter(|&&clusters| clusters >> g & 1 == 1).count();
    (0..CLUSTERS).map(of_cluster).max().unwrap_or(0)
}

/// Whether some of the requested words of a cluster are served, and some are not.
fn partly(wanted: u32, served: u32) -> bool {
    (0..CLUSTERS).any(|g| {
        let of_cluster = |set: u32| set >> (4 * g) & 0xf;
        of_cluster(served) != 0 && of_cluster(served) != of_cluster(wanted)
    })
}

pub(super) static GROUPS: &[Group] = &[
    situations! { "unified_arbiter", unified, |look| {
            let (arbiter, shared, cache) = (&look.o.unified_arbiter, &look.o.unified_shared, &look.o.cache);
            let updates = look.s.unified_shared.shared.phase_q != 0 && shared.write_o != 0;
            let cache_reads = cache.ram_read_o != 0 && arbiter.read_o.contains(&u8::MAX) && arbiter.shared_read_ready_o == 0;
            let (reads, writes) = (arbiter.shared_read_ready_o != 0, arbiter.shared_write_ready_o != 0);
        }
        "a hit is read": cache_reads;
        "a hit and the scratchpad at once": cache.ram_read_o != 0 && shared.read_o != 0;
        "a store or a line and the scratchpad at once": cache.ram_write_o != 0 && shared.write_o != 0;
        "the scratchpad reads nothing": shared.read_o != 0 && arbiter.shared_read_ready_o == 0;
        "the scratchpad reads several columns": reads && used(&arbiter.read_o) > 1;
        "the scratchpad writes several columns": writes && used(&arbiter.write_o) > 1;
        "an atomic operation writes all that it has read": updates && arbiter.shared_write_ready_o == shared.write_o;
        "memory reads and writes at once": any(&arbiter.read_o) && any(&arbiter.write_o);
        "there is no cache in this launch": look.o.block_launcher.cache_log_o == 0 && look.alive != 0;
        "there is a cache in this launch": look.o.block_launcher.cache_log_o != 0 && look.alive != 0;
    },
    situations! { "unified_arbiter", shared, |look| {
            let (arbiter, shared, cache) = (&look.o.unified_arbiter, &look.o.unified_shared, &look.o.cache);
            let columns = &look.o.operand_stage.columns;
            let read_ready = columns.memory_read_ready_o;
            let all = (1 << COLUMNS) - 1;
            let registers_write = columns.memory_write_ready_o.iter().any(|&free| free != u8::MAX);
            let part_write = columns.memory_write_ready_o.iter().any(|&free| free != u8::MAX && free != 0);
            let cache_reads = cache.ram_read_o != 0 && arbiter.read_o.contains(&u8::MAX) && arbiter.shared_read_ready_o == 0;
        }
        "a hit is read beside registers in other columns": cache_reads && read_ready != all;
        "a register is written while memory writes": registers_write && any(&arbiter.write_o);
        "lanes of a register leave clusters to memory": part_write && any(&arbiter.write_o);
        "the scratchpad reads some of its words": arbiter.shared_read_ready_o != 0 && arbiter.shared_read_ready_o != shared.read_o;
        "the scratchpad reads while registers are read": arbiter.shared_read_ready_o != 0 && read_ready != all;
    },
    situations! { "unified_bank", separate, |look| {
            let arbiter = &look.o.unified_arbiter;
            let banks = look.shape.organisation.banks(&look.s.operand_stage.provider);
            let (read, written) = banks.map_or((0, 0), |banks| (banks.read, banks.written));
            let meets = |banks: u32, of_columns: &[u8; COLUMNS]| (0..COLUMNS).any(|b| banks >> b & 1 == 1 && of_columns[b] != 0);
        }
        "a register and memory are read in a column": meets(read, &arbiter.read_o);
        "a register and memory are written in a column": meets(written, &arbiter.write_o);
    },
    situations! { "unified_shared", aggressive, |look| {
            let (arbiter, shared) = (&look.o.unified_arbiter, &look.o.unified_shared);
            let (reads, writes) = (arbiter.shared_read_ready_o, arbiter.shared_write_ready_o);
            let updates = look.s.unified_shared.shared.phase_q != 0 && writes != 0;
        }
        "the scratchpad reads two columns of a cluster": reads != 0 && most_columns(&arbiter.read_o) == 2;
        "the scratchpad reads three columns or more of a cluster": reads != 0 && most_columns(&arbiter.read_o) > 2;
        "the scratchpad writes two columns of a cluster": writes != 0 && most_columns(&arbiter.write_o) == 2;
        "the scratchpad writes three columns or more of a cluster": writes != 0 && most_columns(&arbiter.write_o) > 2;
        "atomic operations write two columns of a cluster": updates && most_columns(&arbiter.write_o) > 1;
        "the scratchpad reads some words of a cluster": partly(shared.read_o, reads);
    },
];

pub(super) static SUMS: &[Sums] = &[
    sums! { "unified_arbiter", shared,
        "unified_cache_read_wait": "a hit waits for its column";
        "unified_cache_write_wait": "a store or a line waits for its column";
    },
    sums! { "unified_arbiter", unified,
        "unified_shared_read_lost": "a bank that the scratchpad wants is not read";
        "unified_shared_write_lost": "a bank that the scratchpad wants is not written";
    },
];
