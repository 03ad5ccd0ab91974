//! Event counts of a run in the form in which AccelWattch reads hardware counters: `hw_perf.csv` (`docs/energy.md`, "AccelWattch").
//!
//! The column names, their order and their units are those of `util/accelwattch/accelwattch_hw_profiler/gen_hw_perf_csv.py` of accel-sim-framework,
//! which writes such files, and of `hw_perf_t` and `parse_hw_file` of gpgpu-sim_distribution, which reads them. AccelWattch reads every column as a
//! number, so a count that is not available is written as 0, as the profiler does for counters that it does not measure.

use gpurf_blocks::config::Config;

use crate::sweep::Measured;

/// Bytes of a sector, the unit in which AccelWattch counts accesses of caches and DRAM.
const SECTOR_BYTES: u64 = 32;

/// Sectors of a cache line: the cache looks up, reads and fills whole lines.
const LINE_SECTORS: u64 = 4;

/// Voltage of the chip: the profiler writes this constant, because it does not measure the voltage either.
const VOLTS: f64 = 1.0;

/// A column after benchmark and kernel: its name, and the count of a run; `None` if the machine does not count it.
type Column = (&'static str, fn(&Config, &Measured) -> Option<u64>);

const COLUMNS: [Column; 16] = [
    ("L1_RH", |config, run| of_lines(config, run, &["cache_hit"])),
    ("L1_RM", |config, run| of_lines(config, run, &["cache_merge", "cache_miss"])),
    // Events count the bytes of stores, not their sectors.
    ("L1_WH", |_, _| None),
    ("L1_WM", |_, _| None),
    ("CC_ACC", |_, run| Some(run.event("constant"))),
    // Shared-memory instructions: exactly one pass of each instruction, the last one, leaves no lane for a later pass.
    ("SHRD_ACC", |_, run| Some(run.event("shared") - run.event("shared_conflict").min(run.event("shared")))),
    ("DRAM_Rd", |config, run| sectors(config, run, "memory_read_bytes")),
    ("DRAM_Wr", |config, run| sectors(config, run, "memory_written_bytes")),
    // The optional L2 cache belongs to the testbench and has no events, there is no network, and the pipeline duty cycle is defined for Volta's five
    // pipes.
    ("L2_RH", |_, _| None),
    ("L2_RM", |_, _| None),
    ("L2_WH", |_, _| None),
    ("L2_WM", |_, _| None),
    ("NOC", |_, _| None),
    ("Pipeline_Duty", |_, _| None),
    // The modelled chip has only this SM.
    ("Num_Idle_SMs", |_, _| Some(0)),
    ("Elapsed_Cycles", |_, run| Some(run.cycles)),
];

/// Sectors of the lines that loads look up; `None` without a cache.
fn of_lines(config: &Config, run: &Measured, events: &[&str]) -> Option<u64> {
    let lines: u64 = events.iter().map(|event| run.event(event)).sum();
    config.sm_shape().caches().then_some(LINE_SECTORS * lines)
}

/// Sectors that memory moves; `None` if the memory granule is not a whole number of sectors.
fn sectors(config: &Config, run: &Measured, event: &str) -> Option<u64> {
    let whole = (config.memory.granule as u64).is_multiple_of(SECTOR_BYTES);
    whole.then(|| run.event(event) / SECTOR_BYTES)
}

/// Event counts of an average launch.
#[derive(Clone, PartialEq, Debug)]
pub struct Counters {
    /// Name and value of each column; the value is `None` if the machine does not count it.
    pub columns: Vec<(&'static str, Option<f64>)>,
}

impl Counters {
    /// The counts of a run, divided by its number of launches: AccelWattch takes a row for each launch of the kernel.
    pub fn of(config: &Config, run: &Measured, launches: u64) -> Self {
        let of_launch = |count: u64| crate::ratio(count as f64, launches as f64);
        Self { columns: COLUMNS.iter().map(|&(name, count)| (name, count(config, run).map(of_launch))).collect() }
    }

    /// Columns that the machine does not count.
    pub fn not_available(&self) -> Vec<&'static str> {
        self.columns.iter().filter(|(_, value)| value.is_none()).map(|&(name, _)| name).collect()
    }

    /// The contents of the CSV file: a line of names, and a line for the kernel. A row without a kernel name stands for any kernel of the benchmark.
    pub fn csv(&self, benchmark: &str, kernel: Option<&str>) -> String {
        let names = self.columns.iter().map(|(name, _)| (*name).to_owned());
        let values = self.columns.iter().map(|(_, value)| format!("{:?}", value.unwrap_or(0.0)));
        let heading = ["Benchmark", "Kernel"].map(str::to_owned).into_iter().chain(names);
        let row = [benchmark, kernel.unwrap_or_default()].map(str::to_owned).into_iter().chain(values);
        let line = |words: Vec<String>, last: String| format!("{},{last}\n", words.join(","));
        line(heading.collect(), "Chip Voltage".to_owned()) + &line(row.collect(), format!("{VOLTS:?}"))
    }
}

#[cfg(test)]
mod tests {
    use gpurf_blocks::config::preset;

    use super::*;

    /// The first line of `hw_perf.csv` of accel-sim-framework.
    const HEADING: &str = "Benchmark,Kernel,L1_RH,L1_RM,L1_WH,L1_WM,CC_ACC,SHRD_ACC,DRAM_Rd,DRAM_Wr,L2_RH,L2_RM,L2_WH,L2_WM,NOC,Pipeline_Duty,\
                           Num_Idle_SMs,Elapsed_Cycles,Chip Voltage";

    fn run() -> Measured {
        let cache = [("cache_hit", 5), ("cache_merge", 1), ("cache_miss", 2)];
        let shared = [("shared", 30), ("shared_conflict", 10), ("constant", 8)];
        let memory = [("memory_read_bytes", 1280), ("memory_written_bytes", 640)];
        Measured::new(1000, cache.into_iter().chain(shared).chain(memory))
    }

    #[test]
    fn columns_stand_in_accelwattchs_order_and_what_is_not_counted_is_0() {
        let csv = |preset_name: &str, kernel| {
            let mut config = preset(preset_name).unwrap().config;
            config.memory.granule = 32;
            Counters::of(&config, &run(), 2).csv("saxpy", kernel)
        };
        let cached = csv("cached", Some("_Z5saxpyifPfS_"));
        let expected = "saxpy,_Z5saxpyifPfS_,10.0,6.0,0.0,0.0,4.0,10.0,20.0,10.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,500.0,1.0";
        assert_eq!(cached, format!("{HEADING}\n{expected}\n"));
        // Without a cache its columns are 0; a row for several kernels has no kernel name.
        let plain = csv("baseline", None);
        assert!(plain.ends_with("\nsaxpy,,0.0,0.0,0.0,0.0,4.0,10.0,20.0,10.0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,500.0,1.0\n"));
    }

    #[test]
    fn what_is_not_available_is_told_from_what_is_0() {
        let of = |preset_name: &str| Counters::of(&preset(preset_name).unwrap().config, &Measured::new(10, []), 1);
        let value = |counters: &Counters, name: &str| counters.columns.iter().find(|(n, _)| *n == name).unwrap().1;
        assert_eq!((value(&of("cached"), "L1_RH"), value(&of("baseline"), "L1_RH")), (Some(0.0), None));
        assert_eq!((value(&of("baseline"), "SHRD_ACC"), value(&of("baseline"), "NOC")), (Some(0.0), None));
    }

    #[test]
    fn sectors_are_counted_where_memory_moves_whole_ones() {
        let mut config = preset("baseline").unwrap().config;
        config.memory.granule = 16;
        let counters = Counters::of(&config, &run(), 1);
        let value = |name: &str| counters.columns.iter().find(|(n, _)| *n == name).unwrap().1;
        assert_eq!((value("DRAM_Rd"), value("DRAM_Wr")), (None, None));
        let not_available = counters.not_available();
        assert!(not_available.contains(&"DRAM_Rd") && !not_available.contains(&"CC_ACC"), "{not_available:?}");
    }
}
