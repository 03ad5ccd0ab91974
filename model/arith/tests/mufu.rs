//! The approximate functions against the host's double precision, and their values at the special points.

use std::sync::Mutex;
use std::thread;

use gpurf_arith::float::flush;
use gpurf_arith::mufu::{Function, approximate};
use gpurf_arith::{INFINITY, NAN, ONE, SIGN};

/// A bound that the PTX ISA documents, or a figure that we report: the greatest error over a set of inputs.
struct Bound {
    function: Function,
    name: &'static str,
    limit_log2: f64,
    /// The error of `value` at the input, or `None` if the input is not in the set.
    error: fn(x: f64, value: f64, exact: f64) -> Option<f64>,
}

fn relative(value: f64, exact: f64) -> f64 {
    ((value - exact) / exact).abs()
}

fn is_normal(exact: f64) -> bool {
    exact.abs() >= f64::from(f32::MIN_POSITIVE) && exact.abs() <= f64::from(f32::MAX)
}

fn relative_of_normal(_: f64, value: f64, exact: f64) -> Option<f64> {
    is_normal(exact).then(|| relative(value, exact))
}

/// The error in units of 2^-149, the subnormals' last place.
fn places_of_subnormal(_: f64, value: f64, exact: f64) -> Option<f64> {
    (exact.abs() < f64::from(f32::MIN_POSITIVE)).then(|| (value - exact).abs() * 149f64.exp2())
}

fn angle_within(limit: f64, x: f64, value: f64, exact: f64) -> Option<f64> {
    (x.abs() <= limit * std::f64::consts::PI).then(|| (value - exact).abs())
}

#[rustfmt::skip]
const BOUNDS: &[Bound] = &[
    Bound { function: Function::Reciprocal, name: "relative", limit_log2: -23.0, error: relative_of_normal },
    Bound { function: Function::Reciprocal, name: "subnormal, in last places", limit_log2: 0.0, error: places_of_subnormal },
    Bound { function: Function::ReciprocalSquareRoot, name: "relative", limit_log2: -22.9, error: relative_of_normal },
    Bound { function: Function::SquareRoot, name: "relative", limit_log2: -23.0, error: relative_of_normal },
    Bound { function: Function::Exp2, name: "relative", limit_log2: -22.5, error: relative_of_normal },
    Bound { function: Function::Exp2, name: "subnormal, in last places", limit_log2: 0.0, error: places_of_subnormal },
    Bound { function: Function::Log2, name: "absolute in 0.5 ..= 2", limit_log2: -22.6,
            error: |x, value, exact| (0.5..=2.0).contains(&x).then(|| (value - exact).abs()) },
    Bound { function: Function::Log2, name: "relative outside", limit_log2: -22.0,
            error: |x, value, exact| (!(0.5..=2.0).contains(&x)).then(|| relative(value, exact)) },
    Bound { function: Function::Sin, name: "absolute in -2 pi ..= 2 pi", limit_log2: -20.9,
            error: |x, value, exact| angle_within(2.0, x, value, exact) },
    Bound { function: Function::Sin, name: "absolute in -100 pi ..= 100 pi", limit_log2: -14.7,
            error: |x, value, exact| angle_within(100.0, x, value, exact) },
    Bound { function: Function::Cos, name: "absolute in -2 pi ..= 2 pi", limit_log2: -20.9,
            error: |x, value, exact| angle_within(2.0, x, value, exact) },
    Bound { function: Function::Cos, name: "absolute in -100 pi ..= 100 pi", limit_log2: -14.7,
            error: |x, value, exact| angle_within(100.0, x, value, exact) },
];

fn exact(function: Function, x: f64) -> f64 {
    match function {
        Function::Reciprocal => 1.0 / x,
        Function::ReciprocalSquareRoot => 1.0 / x.sqrt(),
        Function::SquareRoot => x.sqrt(),
        Function::Exp2 => x.exp2(),
        Function::Log2 => x.log2(),
        Function::Sin => x.sin(),
        Function::Cos => x.cos(),
    }
}

/// The worst error of each bound of a function over some inputs, with its input.
fn measure(function: Function, inputs: impl Iterator<Item = u32>) -> Vec<(f64, u32)> {
    let bounds: Vec<_> = BOUNDS.iter().filter(|bound| bound.function == function).collect();
    let mut worst = vec![(0.0, 0); bounds.len()];
    for input in inputs {
        let bits = approximate(function, input, false);
        let x = f64::from(f32::from_bits(input));
        let (value, exact) = (f64::from(f32::from_bits(bits)), exact(function, x));
        // `.ftz` is the same as flushing the input and the result.
        let flushed = flush(approximate(function, flush(input, true), false), true);
        assert_eq!(approximate(function, input, true), flushed, "{function:?} of {input:#010x} with .ftz");
        if exact.is_nan() {
            assert_eq!(bits, NAN, "{function:?} of {input:#010x}");
            continue;
        }
        if exact.abs() >= 2f64.powi(128) || value.is_infinite() {
            // Where rounding may go either way the value may be the largest finite one.
            let near = exact.is_finite() && relative(exact, 2f64.powi(128)) < 2f64.powi(-22);
            let right = value.is_infinite() && value.signum() == exact.signum();
            assert!(near || right && exact.abs() >= 2f64.powi(128), "{function:?} of {input:#010x}: {bits:#010x}");
            continue;
        }
        for (worst, bound) in worst.iter_mut().zip(&bounds) {
            match (bound.error)(x, value, exact) {
                // An exact zero has no relative error; the value must be zero too.
                Some(error) if error.is_nan() => assert_eq!(value, exact, "{function:?} of {input:#010x}"),
                Some(error) if error > worst.0 => *worst = (error, input),
                _ => {}
            }
        }
    }
    worst
}

fn check(function: Function, worst: &[(f64, u32)]) {
    for (bound, (error, input)) in BOUNDS.iter().filter(|bound| bound.function == function).zip(worst) {
        let log2 = error.log2();
        println!("{function:?}, {}: 2^{log2:.2} at {input:#010x} (bound 2^{})", bound.name, bound.limit_log2);
        assert!(log2 <= bound.limit_log2, "{function:?}, {}: 2^{log2} at {input:#010x}", bound.name);
    }
}

#[test]
fn errors_of_sampled_inputs() {
    for function in Function::ALL {
        // A step without small factors meets all exponents and, over them, all table rows.
        let worst = measure(function, (0..1 << 19).map(|i: u32| i.wrapping_mul(0x1f35_9b1d)));
        check(function, &worst);
    }
}

fn measure_all_inputs(function: Function) {
    let start = std::time::Instant::now();
    let worst = Mutex::new(measure(function, std::iter::empty()));
    let next = Mutex::new((0..1u64 << 32).step_by(1 << 24));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(first) = { next.lock().unwrap().next() } {
                    let part = measure(function, (first..first + (1 << 24)).map(|i| i as u32));
                    for (worst, part) in worst.lock().unwrap().iter_mut().zip(part) {
                        if part.0 > worst.0 {
                            *worst = part;
                        }
                    }
                }
            });
        }
    });
    check(function, &worst.into_inner().unwrap());
    let seconds = start.elapsed().as_secs_f64();
    println!("{function:?}: all inputs in {seconds:.1} s, {:.1} million a second", 4294.967296 / seconds);
}

/// A test of all inputs for each function.
macro_rules! all_inputs {
    ($($test:ident $function:ident)*) => {$(
        #[test]
        #[ignore = "long: all 2^32 inputs, minutes in release"]
        fn $test() {
            measure_all_inputs(Function::$function);
        }
    )*};
}

all_inputs! {
    all_inputs_of_reciprocal Reciprocal
    all_inputs_of_reciprocal_square_root ReciprocalSquareRoot
    all_inputs_of_square_root SquareRoot
    all_inputs_of_exp2 Exp2
    all_inputs_of_log2 Log2
    all_inputs_of_sin Sin
    all_inputs_of_cos Cos
}

#[test]
fn special_values_are_those_of_the_ptx_isa() {
    let infinity = [INFINITY, INFINITY | SIGN];
    let zero = [0, SIGN];
    let tiny = [1, SIGN | 1];
    // Columns: +infinity, -infinity, +0, -0, and both subnormals with .ftz.
    #[rustfmt::skip]
    let table = [
        (Function::Reciprocal, [0, SIGN, INFINITY, INFINITY | SIGN, INFINITY, INFINITY | SIGN]),
        (Function::ReciprocalSquareRoot, [0, NAN, INFINITY, INFINITY | SIGN, INFINITY, INFINITY | SIGN]),
        (Function::SquareRoot, [INFINITY, NAN, 0, SIGN, 0, SIGN]),
        (Function::Exp2, [INFINITY, 0, ONE, ONE, ONE, ONE]),
        (Function::Log2, [INFINITY, NAN, INFINITY | SIGN, INFINITY | SIGN, INFINITY | SIGN, INFINITY | SIGN]),
        (Function::Sin, [NAN, NAN, 0, SIGN, 0, SIGN]),
        (Function::Cos, [NAN, NAN, ONE, ONE, ONE, ONE]),
    ];
    for (function, expected) in table {
        let inputs = [infinity, zero, tiny].concat();
        let values: Vec<_> = inputs.iter().map(|&x| approximate(function, x, true)).collect();
        assert_eq!(values, expected, "{function:?}");
        for nan in [0x7fc0_0000, 0x7f80_0001, 0xffff_ffff] {
            assert_eq!(approximate(function, nan, false), NAN, "{function:?}");
        }
    }
    for function in [Function::ReciprocalSquareRoot, Function::SquareRoot, Function::Log2] {
        assert_eq!(approximate(function, SIGN | 1, false), NAN, "{function:?} of a negative subnormal");
        assert_eq!(approximate(function, SIGN | ONE, false), NAN, "{function:?} of -1");
    }
}

#[test]
fn simple_values_are_exact() {
    for exponent in 1..=253u32 {
        let power = exponent << 23;
        assert_eq!(approximate(Function::Reciprocal, power, false), (254 - exponent) << 23);
        let log2 = exponent as f32 - 127.0;
        assert_eq!(approximate(Function::Log2, power, false), log2.to_bits());
        assert_eq!(approximate(Function::Exp2, log2.to_bits(), false), power);
        if exponent % 2 == 1 {
            let root = (exponent + 127) / 2;
            assert_eq!(approximate(Function::SquareRoot, power, false), root << 23);
            assert_eq!(approximate(Function::ReciprocalSquareRoot, power, false), (254 - root) << 23);
        }
    }
}
