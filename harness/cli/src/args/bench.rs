//! The command line of `gpurf bench`.

use std::time::Duration;

use clap::Args;

/// `gpurf bench`.
#[derive(Debug, Args)]
pub struct Bench {
    /// Seconds for each measurement: lockstep, plain Verilator, model
    #[arg(long, value_name = "SECONDS", default_value = "4", value_parser = seconds, allow_negative_numbers = true)]
    pub time: Duration,
    /// Measure only the compiler, on each kernel
    #[arg(long)]
    pub compile: bool,
    /// Measure how the SM's cost grows with its hardware: warps, banks, collectors, entries of cache and ORF, latency of memory
    #[arg(long, conflicts_with = "compile")]
    pub sizes: bool,
    /// Compile the RTL of the SM's lockstep with profile-guided optimisation, and measure plain Verilator with it too
    #[arg(long, conflicts_with_all = ["compile", "sizes"])]
    pub train: bool,
    /// Measure only the rows whose names contain this text, such as crc32 or "sm, baseline"
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true, conflicts_with = "compile")]
    pub only: String,
    /// Print one JSON object on standard output
    #[arg(long)]
    pub json: bool,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let wrong = || "expected a number of seconds, such as 1 or 0.5".to_owned();
    let seconds: f64 = text.parse().map_err(|_| wrong())?;
    if seconds > 0.0 { Duration::try_from_secs_f64(seconds).map_err(|_| wrong()) } else { Err(wrong()) }
}
