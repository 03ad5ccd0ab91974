//! Prints the interpolation tables as a SystemVerilog package:
//! `cargo run -p verilated --example sfu_tables > rtl/execute/sfu_tables_pkg.sv`. A test holds the file against this.

mod package;

fn main() {
    print!("{}", package::text());
}
