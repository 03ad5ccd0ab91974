//! The compiler as a whole: what it refuses, what it accepts, and what the code that it makes computes.

mod calls;
mod choice;
mod clocks;
mod common;
mod entry;
mod fuzz;
mod golden;
mod operations;
mod programs;
mod refusals;
mod single;
