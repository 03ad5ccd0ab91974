//! The output of the program for each design of the register file, in a file of the design's name.

#[path = "../common/mod.rs"]
mod common;

macro_rules! designs {
    ($($design:ident)+) => {
        $(mod $design;)+
    };
}

gpurf_blocks::each_design!(designs);
