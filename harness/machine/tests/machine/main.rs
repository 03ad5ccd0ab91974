//! The SM: its designs, memory and launches, what is counted and what is traced. One program of all, as each would compile the same code of
//! the model.

mod cache;
mod clocks;
mod common;
mod faults;
mod kernels;
mod latency;
mod launches;
mod lockstep;
mod measures;
mod power;
mod power_cache;
mod power_levels;
mod scratchpad;
mod share;
mod trace;
mod unified;
mod unwritten;

macro_rules! designs {
    ($($design:ident)+) => {
        $(mod $design;)+
    };
}

gpurf_blocks::each_design!(designs);
