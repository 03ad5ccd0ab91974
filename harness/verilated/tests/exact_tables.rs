//! The interpolation tables of the RTL against an evaluation in 192 bits (`docs/arithmetic.md`, "Approximate
//! functions").
//!
//! Model, twin and RTL have their tables from one generator, so none of them can judge a coefficient of the others.
//! This test reads the checked-in package and shares nothing with the generator: the functions are those of the crate
//! `astro-float-num`, and a row's parabola is taken from differences. The page leaves no choice: a coefficient is the
//! one number that is less than half a unit away from the parabola's.

use std::ops::Range;
use std::sync::LazyLock;

use astro_float_num::{BigFloat, Consts, RoundingMode};

const PACKAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../rtl/execute/sfu_tables_pkg.sv");
const SFU: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../rtl/execute/sfu.sv");

/// Binary places of the coefficients.
const PLACES: u32 = 28;

/// Bits of the three coefficients in the package; the second and the third are signed.
const WIDTHS: [u32; 3] = [29, 24, 18];

/// Significant bits of the evaluation.
const PRECISION: usize = 192;
const NEAREST: RoundingMode = RoundingMode::ToEven;

/// Arithmetic in [`PRECISION`] bits.
struct Exact(Consts);

impl Exact {
    fn new() -> Self {
        Self(Consts::new().expect("memory for the constants"))
    }

    fn ratio(&self, numerator: i64, denominator: i64) -> BigFloat {
        integer(numerator).div(&integer(denominator), PRECISION, NEAREST)
    }

    fn root(&self, x: &BigFloat) -> BigFloat {
        x.sqrt(PRECISION, NEAREST)
    }

    fn exp2(&mut self, x: &BigFloat) -> BigFloat {
        integer(2).pow(x, PRECISION, NEAREST, &mut self.0)
    }

    fn log2(&mut self, x: &BigFloat) -> BigFloat {
        x.log2(PRECISION, NEAREST, &mut self.0)
    }

    /// The sine of a part of a quarter turn.
    fn sine(&mut self, quarter: &BigFloat) -> BigFloat {
        let turn = product(&self.0.pi(PRECISION, NEAREST), quarter);
        turn.div(&integer(2), PRECISION, NEAREST).sin(PRECISION, NEAREST, &mut self.0)
    }
}

fn integer(value: i64) -> BigFloat {
    BigFloat::from_i64(value, PRECISION)
}

fn product(a: &BigFloat, b: &BigFloat) -> BigFloat {
    a.mul(b, PRECISION, NEAREST)
}

fn sum(a: &BigFloat, b: &BigFloat) -> BigFloat {
    a.add(b, PRECISION, NEAREST)
}

fn difference(a: &BigFloat, b: &BigFloat) -> BigFloat {
    a.sub(b, PRECISION, NEAREST)
}

/// A table of the page.
struct Table {
    /// Its first row, by the package's name.
    name: &'static str,
    rows: i64,
    /// The function, of a number of half intervals from the start of row 0.
    function: fn(&mut Exact, i64) -> BigFloat,
    /// By how many units `c0` is higher than the function's value.
    lift: i64,
}

/// 1 to 2 in 128 rows.
fn significand(exact: &Exact, halves: i64) -> BigFloat {
    exact.ratio(256 + halves, 256)
}

/// 1 to 2 in 64 rows, then 2 to 4 in 64.
fn of_either_parity(exact: &Exact, halves: i64) -> BigFloat {
    if halves <= 128 { exact.ratio(128 + halves, 128) } else { exact.ratio(halves, 64) }
}

const TABLES: [Table; 6] = [
    Table {
        name: "ReciprocalRows",
        rows: 128,
        function: |exact, halves| integer(1).div(&significand(exact, halves), PRECISION, NEAREST),
        lift: 1,
    },
    Table {
        name: "RsqrtRows",
        rows: 128,
        function: |exact, halves| integer(1).div(&exact.root(&of_either_parity(exact, halves)), PRECISION, NEAREST),
        lift: 0,
    },
    Table {
        name: "SqrtRows",
        rows: 128,
        function: |exact, halves| exact.root(&of_either_parity(exact, halves)),
        lift: 0,
    },
    Table {
        name: "Log2Rows",
        rows: 128,
        function: |exact, halves| {
            let m = significand(exact, halves);
            exact.log2(&m)
        },
        lift: 0,
    },
    Table {
        name: "Exp2Rows",
        rows: 64,
        function: |exact, halves| {
            let f = exact.ratio(halves, 128);
            exact.exp2(&f)
        },
        lift: 0,
    },
    Table {
        name: "SineRows",
        rows: 64,
        function: |exact, halves| {
            let quarter = exact.ratio(halves, 128);
            exact.sine(&quarter)
        },
        lift: 0,
    },
];

/// A coefficient of the package and what it stands for.
struct Coefficient {
    /// The bits in the package, sign extended.
    value: i64,
    /// The parabola's coefficient, in units of the last place.
    exact: BigFloat,
    width: u32,
    signed: bool,
    place: String,
}

impl Coefficient {
    /// The coefficient with other bits.
    fn extended(&self, bits: i64) -> i64 {
        extended(bits, self.width, self.signed)
    }

    /// Whether `value` is the parabola's coefficient rounded to nearest.
    fn is(&self, value: i64) -> bool {
        is_nearest(&self.exact, value)
    }
}

/// Whether `value` is less than half a unit away.
fn is_nearest(exact: &BigFloat, value: i64) -> bool {
    let half = BigFloat::from_f64(0.5, PRECISION);
    difference(exact, &integer(value)).abs().cmp(&half).is_some_and(|order| order < 0)
}

/// The lowest `width` bits as a number.
fn extended(bits: i64, width: u32, signed: bool) -> i64 {
    let bits = bits & ((1 << width) - 1);
    if signed && bits >> (width - 1) == 1 { bits - (1 << width) } else { bits }
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The text between two strings.
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let from = text.find(start).unwrap_or_else(|| panic!("{start:?} is not in the text")) + start.len();
    &text[from..from + text[from..].find(end).unwrap_or_else(|| panic!("{end:?} is not after {start:?}"))]
}

/// The numbers of one coefficient in the package, of all tables.
fn column(package: &str, index: usize) -> Vec<i64> {
    let cells = between(package, &format!(" C{index} [Rows] = '{{"), "}").split(',');
    let cells = cells.map(|cell| {
        let (width, digits) = cell.trim().split_once("'h").unwrap_or_else(|| panic!("C{index}: {cell:?} is no number"));
        assert_eq!(width, WIDTHS[index].to_string(), "C{index}: the width of {cell:?}");
        extended(i64::from_str_radix(digits, 16).expect("hexadecimal digits"), WIDTHS[index], index > 0)
    });
    cells.collect()
}

/// Row numbers of a table in the package.
fn rows(package: &str, table: &Table) -> Range<usize> {
    let declaration = package.lines().find(|line| line.split_whitespace().any(|word| word == table.name));
    let (_, first) = declaration.and_then(|line| line.split_once("'d")).expect("the table's first row");
    let first: usize = first.trim_end_matches(';').parse().expect("a row number");
    first..first + table.rows as usize
}

/// All coefficients of the checked-in package.
static COEFFICIENTS: LazyLock<Vec<Coefficient>> = LazyLock::new(coefficients);

fn coefficients() -> Vec<Coefficient> {
    let package = read(PACKAGE);
    let columns = [0, 1, 2].map(|index| column(&package, index));
    let mut exact = Exact::new();
    let mut coefficients = Vec::new();
    for table in &TABLES {
        let points: Vec<BigFloat> = (0..=2 * table.rows).map(|halves| (table.function)(&mut exact, halves)).collect();
        for (row, place) in rows(&package, table).enumerate() {
            let [start, middle, end] = [0, 1, 2].map(|half| &points[2 * row + half]);
            // The second difference, over half intervals, is half of c2; the difference of the ends is c1 + c2.
            let second = difference(&difference(end, middle), &difference(middle, start));
            let c2 = product(&integer(2), &second);
            let c1 = difference(&difference(end, start), &c2);
            let parabola = [start.clone(), c1, c2];
            for (index, value) in parabola.into_iter().enumerate() {
                let units = product(&value, &integer(1 << PLACES));
                let lift = if index == 0 { table.lift } else { 0 };
                coefficients.push(Coefficient {
                    value: columns[index][place],
                    exact: sum(&units, &integer(lift)),
                    width: WIDTHS[index],
                    signed: index > 0,
                    place: format!("{} + {row}: c{index}", table.name),
                });
            }
        }
    }
    let cells: usize = columns.iter().map(Vec::len).sum();
    assert_eq!(coefficients.len(), cells, "the package has rows that belong to no table");
    coefficients
}

#[test]
fn every_coefficient_is_the_one_nearest_to_the_parabola() {
    assert_eq!(COEFFICIENTS.len(), 3 * 640);
    for c in &*COEFFICIENTS {
        assert!(c.is(c.value), "{}: {} in the package, {} in {PRECISION} bits", c.place, c.value, c.exact);
    }
}

/// What makes the test above worth something.
#[test]
fn a_wrong_bit_or_unit_of_any_coefficient_is_seen() {
    let mut wrong = 0;
    for c in &*COEFFICIENTS {
        let flips = (0..c.width).map(|bit| c.extended(c.value ^ 1 << bit));
        for value in flips.chain([c.value - 1, c.value + 1]) {
            assert!(!c.is(value), "{}: {value} passes in place of {}", c.place, c.value);
            wrong += 1;
        }
    }
    assert_eq!(wrong, 640 * (29 + 24 + 18 + 3 * 2));
}

/// Sine and cosine: the constant by which an angle becomes turns, with 34 binary places.
#[test]
fn the_turns_of_a_radian_are_right_in_the_rtl() {
    let text = between(&read(SFU), "TurnsPerRadian = 32'h", ";").replace('_', "");
    let value = i64::from_str_radix(&text, 16).expect("hexadecimal digits");
    let mut exact = Exact::new();
    let turns = exact.ratio(1 << 33, 1).div(&exact.0.pi(PRECISION, NEAREST), PRECISION, NEAREST);
    assert!(is_nearest(&turns, value), "{value} for {turns}");
    assert!(!is_nearest(&turns, value - 1) && !is_nearest(&turns, value + 1));
}
