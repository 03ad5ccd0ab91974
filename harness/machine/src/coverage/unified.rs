//! Unified memory: what registers, data cache and scratchpad meet in the banks.

use gpurf_blocks::config::Config;
use gpurf_blocks::unified::COLUMNS;

use super::{Group, Sums, situations, sums};

/// One set of banks has registers, scratchpad memory and the lines of the data cache.
fn unified(config: &Config) -> bool {
    config.unified.is_present()
}

pub(super) static GROUPS: &[Group] = &[situations! { "unified_arbiter", unified, |look| {
        let (arbiter, shared, cache) = (&look.o.unified_arbiter, &look.o.unified_shared, &look.o.cache);
        let columns = &look.o.operand_stage.columns;
        let read_ready = columns.memory_read_ready_o;
        let updates = look.s.unified_shared.shared.phase_q != 0 && shared.write_o != 0;
        let all = (1 << COLUMNS) - 1;
        let registers_write = columns.memory_write_ready_o.iter().any(|&free| free != u8::MAX);
        let part_write = columns.memory_write_ready_o.iter().any(|&free| free != u8::MAX && free != 0);
        let cache_reads = cache.ram_read_o != 0 && arbiter.read_o == u8::MAX && arbiter.shared_read_ready_o == 0;
        let several = |clusters: u8, of: &[u8]| {
            let mut seen = 0u32;
            (0..of.len()).filter(|g| clusters >> g & 1 == 1).for_each(|g| seen |= 1 << of[g]);
            seen.count_ones() > 1
        };
    }
    "a hit is read": cache_reads;
    "a hit is read beside registers in other columns": cache_reads && read_ready != all;
    "a hit and the scratchpad at once": cache.ram_read_o != 0 && shared.read_o != 0;
    "a store or a line and the scratchpad at once": cache.ram_write_o != 0 && shared.write_o != 0;
    "a register is written while memory writes": registers_write && arbiter.write_o != 0;
    "lanes of a register leave clusters to memory": part_write && arbiter.write_o != 0;
    "the scratchpad reads in some clusters": shared.read_o != 0 && arbiter.shared_read_ready_o != shared.read_o;
    "the scratchpad reads in no cluster": shared.read_o != 0 && arbiter.shared_read_ready_o == 0;
    "the scratchpad reads several columns": several(arbiter.shared_read_ready_o, &arbiter.read_column_o);
    "the scratchpad writes several columns": several(arbiter.shared_write_ready_o, &arbiter.write_column_o);
    "the scratchpad reads while registers are read": arbiter.shared_read_ready_o != 0 && read_ready != all;
    "an atomic operation writes all that it has read": updates && arbiter.shared_write_ready_o == shared.write_o;
    "memory reads and writes at once": arbiter.read_o != 0 && arbiter.write_o != 0;
    "there is no cache in this launch": look.o.block_launcher.cache_log_o == 0 && look.alive != 0;
    "there is a cache in this launch": look.o.block_launcher.cache_log_o != 0 && look.alive != 0;
}];

pub(super) static SUMS: &[Sums] = &[sums! { "unified_arbiter", unified,
    "unified_cache_read_wait": "a hit waits for its column";
    "unified_cache_write_wait": "a store or a line waits for its column";
    "unified_shared_read_lost": "a cluster of the scratchpad is not read";
    "unified_shared_write_lost": "a cluster of the scratchpad is not written";
}];
