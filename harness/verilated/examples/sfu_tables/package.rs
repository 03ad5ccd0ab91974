//! The text of `rtl/execute/sfu_tables_pkg.sv`.

use std::fmt::Write;

use gpurf_arith::mufu::tables::{EXP2, LOG2, RECIPROCAL, RECIPROCAL_SQUARE_ROOT, Row, SIN, SQUARE_ROOT};

/// Widths of the three coefficients; the second and the third are signed.
const WIDTHS: [u32; 3] = [29, 24, 18];

/// Numbers on a line.
const COLUMNS: usize = 6;

const HEAD: &str = "\
// The interpolation tables of the special functions. Generated, do not edit:
//
//   cargo run -p verilated --example sfu_tables > rtl/execute/sfu_tables_pkg.sv
//
// Six tables, one after the other in one ROM; a row has three coefficients with 28 binary places
// (docs/arithmetic.md, \"Approximate functions\"). How they are made: model/arith/src/mufu/tables.rs.
package sfu_tables_pkg;

  // Only `sfu` imports this package. In a lint of any other module newer versions of Verilator (5.050) warn that these
  // parameters are unused.
  // verilator lint_off UNUSEDPARAM
";

/// The package.
pub fn text() -> String {
    let tables: [(&str, &[Row]); 6] = [
        ("Reciprocal", &RECIPROCAL),
        ("Rsqrt", &RECIPROCAL_SQUARE_ROOT),
        ("Sqrt", &SQUARE_ROOT),
        ("Log2", &LOG2),
        ("Exp2", &EXP2),
        ("Sine", &SIN),
    ];
    let rows: Vec<Row> = tables.iter().flat_map(|(_, rows)| rows.iter().copied()).collect();
    let address = usize::BITS - (rows.len() - 1).leading_zeros();
    let mut text = HEAD.to_owned();
    let mut line = |s: String| writeln!(text, "{s}").expect("a string takes everything");
    line(format!("  localparam int unsigned Rows = {};", rows.len()));
    line(format!("  localparam int unsigned AddressW = {address};"));
    for (index, width) in WIDTHS.iter().enumerate() {
        line(format!("  localparam int unsigned C{index}W = {width};"));
    }
    line("\n  // First rows.".to_owned());
    let mut first = 0;
    for (name, rows) in tables {
        // The row's number is put below that of the table by an OR.
        assert_eq!(first % rows.len(), 0, "{name} does not begin at a multiple of its rows");
        line(format!("  localparam logic [AddressW-1:0] {:<14} = {address}'d{first};", format!("{name}Rows")));
        first += rows.len();
    }
    for (index, width) in WIDTHS.into_iter().enumerate() {
        let values = rows.iter().map(|row| [row.c0, row.c1, row.c2][index]);
        let signed = if index == 0 { "" } else { " signed" };
        line(format!("\n  localparam logic{signed} [C{index}W-1:0] C{index} [Rows] = '{{"));
        let cells: Vec<String> = values.map(|value| cell(value, width, index > 0)).collect();
        let lines: Vec<String> = cells.chunks(COLUMNS).map(|cells| format!("    {}", cells.join(", "))).collect();
        line(format!("{}\n  }};", lines.join(",\n")));
    }
    line("\nendpackage".to_owned());
    text
}

/// A number of the width, in hexadecimal digits.
fn cell(value: i32, width: u32, signed: bool) -> String {
    let value = i64::from(value);
    let range = if signed { -(1 << (width - 1))..1 << (width - 1) } else { 0..1 << width };
    assert!(range.contains(&value), "{value} does not fit into {width} bits");
    let digits = width.div_ceil(4) as usize;
    format!("{width}'h{:0digits$x}", value & ((1 << width) - 1))
}
