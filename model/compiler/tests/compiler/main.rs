//! Tests of the whole compiler: what it refuses, what it accepts, and what its code computes.

mod calls;
mod choice;
mod clocks;
mod common;
mod doubles;
mod entry;
mod fuzz;
mod golden;
mod operations;
mod programs;
mod refusals;
mod single;
mod textures;
mod votes;
