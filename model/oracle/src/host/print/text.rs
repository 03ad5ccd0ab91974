//! Converts a format and the bytes of its arguments to text, as C's `printf` does (glibc's where C leaves something
//! open).

use gpurf_isa::format::{Count, Directive, Flags, Piece, Size, pieces};

/// Looks up the string that a `%s` points to; `None` if there is none at the address.
pub type Strings<'a> = dyn Fn(u64) -> Option<Vec<u8>> + 'a;

/// Reads arguments from their bytes: each lies at a multiple of its size.
struct Arguments<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Arguments<'_> {
    /// The next argument of 4 or 8 bytes; `None` if it was not passed.
    fn next(&mut self, size: usize) -> Option<u64> {
        let start = self.at.next_multiple_of(size);
        let bytes = self.bytes.get(start..start + size)?;
        self.at = start + size;
        Some(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }
}

/// The output of a directive, before it is padded to its width.
struct Field {
    /// Sign or `0x`, which precedes the zeros that fill the width.
    prefix: Vec<u8>,
    body: Vec<u8>,
    /// Whether zeros may fill the width.
    zeros: bool,
}

impl Field {
    fn text(body: Vec<u8>) -> Self {
        Self { prefix: Vec::new(), body, zeros: false }
    }
}

/// The text of a format with these arguments.
pub fn text(format: &[u8], arguments: &[u8], strings: &Strings<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut arguments = Arguments { bytes: arguments, at: 0 };
    for piece in pieces(format) {
        match piece {
            Piece::Text(text) => out.extend_from_slice(text),
            Piece::Percent => out.push(b'%'),
            Piece::Directive(directive) => {
                if print(directive, &mut arguments, strings, &mut out).is_none() {
                    // An argument is missing.
                    out.extend_from_slice(directive.text);
                }
            }
        }
    }
    out
}

/// The value of a width or precision.
fn number(count: Count, arguments: &mut Arguments<'_>) -> Option<i64> {
    let most = Count::MOST as i64;
    match count {
        Count::Number(number) => Some(number as i64),
        Count::Argument => Some(i64::from(arguments.next(4)? as u32 as i32).clamp(-most, most)),
    }
}

fn print(d: Directive<'_>, arguments: &mut Arguments<'_>, strings: &Strings<'_>, out: &mut Vec<u8>) -> Option<()> {
    let mut flags = d.flags;
    let width = d.width.map_or(Some(0), |count| number(count, arguments))?;
    // A negative width is the flag `-` and a width; a negative precision counts as none.
    flags.left |= width < 0;
    let width = width.unsigned_abs() as usize;
    let precision = match d.precision {
        Some(count) => usize::try_from(number(count, arguments)?).ok(),
        None => None,
    };
    let value = arguments.next(d.argument() as usize)?;
    let field = match d.kind {
        b'd' | b'i' => {
            let value = signed(value, d.size);
            integer(flags, precision, sign(flags, value < 0), value.unsigned_abs().to_string())
        }
        b'u' => integer(flags, precision, b"", unsigned(value, d.size).to_string()),
        b'o' => octal(flags, precision, unsigned(value, d.size)),
        b'x' | b'X' => hexadecimal(flags, precision, unsigned(value, d.size), d.kind == b'X'),
        b'c' => Field::text(vec![value as u8]),
        b's' => Field::text(string(value, precision, strings)),
        b'p' if value == 0 => Field::text(b"(nil)".to_vec()),
        b'p' => {
            let mut field = hexadecimal(Flags { alternative: true, ..flags }, precision, value, false);
            // glibc's pointers may have a sign.
            field.prefix.splice(0..0, sign(flags, false).iter().copied());
            field
        }
        b'n' => Field::text(d.text.to_vec()),
        kind => float(flags, precision, f64::from_bits(value), kind),
    };
    let room = width.saturating_sub(field.prefix.len() + field.body.len());
    let fill = |byte: u8, out: &mut Vec<u8>| out.resize(out.len() + room, byte);
    let zeros = field.zeros && flags.zeros && !flags.left;
    if !zeros && !flags.left {
        fill(b' ', out);
    }
    out.extend_from_slice(&field.prefix);
    if zeros {
        fill(b'0', out);
    }
    out.extend_from_slice(&field.body);
    if flags.left {
        fill(b' ', out);
    }
    Some(())
}

fn signed(value: u64, size: Size) -> i64 {
    match size {
        Size::Char => i64::from(value as i8),
        Size::Short => i64::from(value as i16),
        Size::Int => i64::from(value as i32),
        Size::Long => value as i64,
    }
}

fn unsigned(value: u64, size: Size) -> u64 {
    match size {
        Size::Char => u64::from(value as u8),
        Size::Short => u64::from(value as u16),
        Size::Int => u64::from(value as u32),
        Size::Long => value,
    }
}

const fn sign(flags: Flags, negative: bool) -> &'static [u8] {
    match (negative, flags.plus, flags.blank) {
        (true, ..) => b"-",
        (false, true, _) => b"+",
        (false, false, true) => b" ",
        (false, false, false) => b"",
    }
}

/// An integer with these digits, padded with zeros to the precision; zero has no digits if the precision is 0.
fn integer(flags: Flags, precision: Option<usize>, prefix: &[u8], digits: String) -> Field {
    let digits = if precision == Some(0) && digits == "0" { String::new() } else { digits };
    let missing = precision.unwrap_or(0).saturating_sub(digits.len());
    let body = ["0".repeat(missing), digits].concat().into_bytes();
    Field { prefix: prefix.to_vec(), body, zeros: flags.zeros && precision.is_none() }
}

fn octal(flags: Flags, precision: Option<usize>, value: u64) -> Field {
    let mut field = integer(flags, precision, b"", format!("{value:o}"));
    if flags.alternative && field.body.first() != Some(&b'0') {
        field.body.insert(0, b'0');
    }
    field
}

fn hexadecimal(flags: Flags, precision: Option<usize>, value: u64, upper: bool) -> Field {
    let (digits, prefix): (_, &[u8]) =
        if upper { (format!("{value:X}"), b"0X") } else { (format!("{value:x}"), b"0x") };
    integer(flags, precision, if flags.alternative && value != 0 { prefix } else { b"" }, digits)
}

fn string(address: u64, precision: Option<usize>, strings: &Strings<'_>) -> Vec<u8> {
    let mut text = match strings(address) {
        // As in glibc: all of `(null)` or nothing.
        _ if address == 0 && precision.is_some_and(|most| most < 6) => Vec::new(),
        _ if address == 0 => b"(null)".to_vec(),
        Some(text) => text,
        None => format!("(bad address {address:#x})").into_bytes(),
    };
    text.truncate(precision.unwrap_or(usize::MAX));
    text
}

fn float(flags: Flags, precision: Option<usize>, value: f64, kind: u8) -> Field {
    let upper = kind.is_ascii_uppercase();
    let prefix = sign(flags, value.is_sign_negative()).to_vec();
    let magnitude = value.abs();
    if !magnitude.is_finite() {
        let body = if magnitude.is_nan() { "nan" } else { "inf" };
        let body = if upper { body.to_uppercase() } else { body.to_owned() };
        return Field { prefix, body: body.into_bytes(), zeros: false };
    }
    let (mut prefix, point) = (prefix, flags.alternative);
    let mut body = match kind.to_ascii_lowercase() {
        b'a' => {
            prefix.extend_from_slice(b"0x");
            hexadecimal_float(precision, magnitude, point)
        }
        b'e' => {
            let (digits, exponent) = scientific(precision.unwrap_or(6), magnitude);
            with_exponent(with_point(digits, point), exponent)
        }
        b'g' => general(precision.unwrap_or(6).max(1), magnitude, point),
        _ => with_point(format!("{magnitude:.*}", precision.unwrap_or(6)), point),
    };
    if upper {
        body.make_ascii_uppercase();
        prefix.make_ascii_uppercase();
    }
    Field { prefix, body: body.into_bytes(), zeros: true }
}

/// Appends a point if there has to be one and there is none.
fn with_point(digits: String, point: bool) -> String {
    if point && !digits.contains('.') { digits + "." } else { digits }
}

/// The digits and the exponent of ten of a number, one digit in front of the point.
fn scientific(precision: usize, magnitude: f64) -> (String, i32) {
    let text = format!("{magnitude:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (digits.to_owned(), exponent.parse().unwrap_or(0))
}

fn with_exponent(digits: String, exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}

/// `%g`: `precision` significant digits, in the shorter of the two forms.
fn general(precision: usize, magnitude: f64, point: bool) -> String {
    let (digits, exponent) = scientific(precision - 1, magnitude);
    let short = |digits: String| {
        if point || !digits.contains('.') {
            return with_point(digits, point);
        }
        digits.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    if exponent < -4 || i64::from(exponent) >= precision as i64 {
        return with_exponent(short(digits), exponent);
    }
    let places = (precision as i64 - 1 - i64::from(exponent)).max(0) as usize;
    short(format!("{magnitude:.places$}"))
}

/// `%a` without its `0x`.
fn hexadecimal_float(precision: Option<usize>, magnitude: f64, point: bool) -> String {
    const DIGITS: usize = 13;
    let bits = magnitude.to_bits();
    let (field, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    let exponent = match (field, fraction) {
        (0, 0) => 0,
        (0, _) => -1022,
        _ => field - 1023,
    };
    // The leading digit is followed by 13 others.
    let mut significand = u64::from(field != 0) << 52 | fraction;
    let digits = match precision {
        Some(precision) if precision < DIGITS => {
            let dropped = 4 * (DIGITS - precision);
            let (rest, half) = (significand & ((1 << dropped) - 1), 1 << (dropped - 1));
            significand >>= dropped;
            significand += u64::from(rest > half || (rest == half && significand & 1 == 1));
            precision
        }
        _ => DIGITS,
    };
    let text = format!("{significand:0width$x}", width = digits + 1);
    let (first, others) = text.split_at(text.len() - digits);
    let others = match precision {
        None => others.trim_end_matches('0').to_owned(),
        Some(precision) => format!("{others:0<precision$}"),
    };
    let dot = if others.is_empty() && !point { "" } else { "." };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{first}{dot}{others}p{sign}{}", exponent.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use std::ffi::{CString, c_char, c_int};

    use super::*;

    unsafe extern "C" {
        fn snprintf(to: *mut c_char, size: usize, format: *const c_char, ...) -> c_int;
    }

    /// An argument, and what C passes for it.
    #[derive(Clone, Copy, Debug)]
    enum Value {
        Int(i32),
        Long(i64),
        Double(f64),
    }

    impl Value {
        fn bytes(self) -> Vec<u8> {
            match self {
                Self::Int(value) => value.to_le_bytes().to_vec(),
                Self::Long(value) => value.to_le_bytes().to_vec(),
                Self::Double(value) => value.to_le_bytes().to_vec(),
            }
        }
    }

    /// The C library's output for one argument.
    fn of_c(format: &str, value: Value) -> String {
        let format = CString::new(format).unwrap();
        let mut to = vec![0u8; 8192];
        let (place, size) = (to.as_mut_ptr().cast(), to.len());
        // SAFETY: the buffer has that size, and the format has one directive, of the argument's type.
        let length = unsafe {
            match value {
                Value::Int(value) => snprintf(place, size, format.as_ptr(), value),
                Value::Long(value) => snprintf(place, size, format.as_ptr(), value),
                Value::Double(value) => snprintf(place, size, format.as_ptr(), value),
            }
        };
        to.truncate(usize::try_from(length).unwrap());
        String::from_utf8(to).unwrap()
    }

    fn of_ours(format: &str, arguments: &[u8]) -> String {
        let strings = |address: u64| (address == 0x100).then(|| b"text".to_vec());
        String::from_utf8(text(format.as_bytes(), arguments, &strings)).unwrap()
    }

    const FLAGS: [&str; 14] = ["", "-", "0", "+", " ", "#", "-0", "+0", " 0", "#0", "+ ", "-#", "+#0", "-+ #0"];
    const WIDTHS: [&str; 4] = ["", "1", "7", "30"];

    fn check(sizes: &[&str], types: &str, precisions: &[&str], values: &[Value]) {
        for flags in FLAGS {
            for width in WIDTHS {
                for precision in precisions {
                    for (size, kind) in sizes.iter().flat_map(|size| types.chars().map(move |kind| (size, kind))) {
                        let format = format!("<%{flags}{width}{precision}{size}{kind}>");
                        for &value in values {
                            let expected = of_c(&format, value);
                            // glibc omits the zeros that `#` requires of `%g` where rounding adds a digit.
                            let forgets = "gG".contains(kind) && expected.to_lowercase().contains(".e+");
                            if !(forgets && flags.contains('#')) {
                                assert_eq!(of_ours(&format, &value.bytes()), expected, "{format} {value:?}");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn integers_are_those_of_c() {
        let ints = [0, 1, -1, 9, 42, -42, 255, 300, -32769, 65535, i32::MAX, i32::MIN].map(Value::Int);
        let longs = [0, 1, -1, 1 << 40, -(1 << 40), i64::MAX, i64::MIN].map(Value::Long);
        let precisions = ["", ".", ".0", ".1", ".5", ".20"];
        check(&["", "h", "hh"], "diuoxX", &precisions, &ints);
        check(&["l", "ll", "j", "z", "t"], "diuoxX", &precisions, &longs);
        check(&[""], "p", &[""], &[Value::Long(1), Value::Long(0x1234_5678_9abc)]);
        check(&[""], "c", &[""], &[Value::Int(65), Value::Int(122)]);
    }

    #[test]
    fn floats_are_those_of_c() {
        let mut values = vec![
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            1.5,
            2.5,
            0.1,
            0.25,
            0.125,
            9.5,
            99.5,
            9.995,
            9.999_999_5,
            999_999.5,
            1e5,
            1e6,
            123_456.0,
            1_234_567.0,
            1e-4,
            1e-5,
            9.9999e-5,
            0.000_123_456_789,
            1e15,
            1e16,
            1e17,
            1e21,
            1e22,
            1e23,
            1e100,
            1e-100,
            f64::MAX,
            f64::MIN_POSITIVE,
            f64::from_bits(1),
            f64::from_bits(0x000f_ffff_ffff_ffff),
            f64::EPSILON,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            -f64::NAN,
            std::f64::consts::PI,
            0.1f32.into(),
            16_777_216.0,
            f64::from_bits(0x3fff_ffff_ffff_ffff),
            f64::from_bits(0x3ff8_0000_0000_0000),
            f64::from_bits(0x3ff0_8000_0000_0000),
        ];
        let mut bits = 0x1234_5678_9abc_def1u64;
        for _ in 0..300 {
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
            values.push(f64::from_bits(bits));
            values.push((bits % 100_000_000) as f64 / 1000.0);
        }
        let values: Vec<Value> = values.into_iter().map(Value::Double).collect();
        check(&[""], "aAeEfFgG", &["", ".", ".1", ".3", ".12", ".13", ".17", ".40"], &values);
    }

    #[test]
    fn a_thousand_digits_are_exact() {
        for value in [f64::from_bits(1), 0.1, 1e300].map(Value::Double) {
            for format in ["%.1100f", "%.1100e", "%.1100g", "%.1100a"] {
                assert_eq!(of_ours(format, &value.bytes()), of_c(format, value), "{format} {value:?}");
            }
        }
    }

    #[test]
    fn strings() {
        let argument = 0x100u64.to_le_bytes();
        for (format, expected) in [
            ("<%s>", "<text>"),
            ("<%7s>", "<   text>"),
            ("<%-7s>", "<text   >"),
            ("<%.2s>", "<te>"),
            ("<%7.0s>", "<       >"),
        ] {
            assert_eq!(of_ours(format, &argument), expected, "{format}");
        }
        assert_eq!(of_ours("<%s>", &[0; 8]), "<(null)>");
        assert_eq!(of_ours("<%9s>", &[0; 8]), "<   (null)>");
        assert_eq!(of_ours("<%.3s>", &[0; 8]), "<>");
        assert_eq!(of_ours("<%p>", &[0; 8]), "<(nil)>");
        assert_eq!(of_ours("<%s>", &u64::MAX.to_le_bytes()), "<(bad address 0xffffffffffffffff)>");
    }

    #[test]
    fn width_and_precision_may_be_arguments() {
        let ints = |values: &[i32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>();
        assert_eq!(of_ours("<%*d>", &ints(&[6, 42])), "<    42>");
        assert_eq!(of_ours("<%*d>", &ints(&[-6, 42])), "<42    >");
        assert_eq!(of_ours("<%.*d>", &ints(&[4, 42])), "<0042>");
        assert_eq!(of_ours("<%0*.*d>", &ints(&[7, 4, 42])), "<   0042>");
        // A negative precision counts as none.
        assert_eq!(of_ours("<%0*.*d>", &ints(&[7, -4, 42])), "<0000042>");
        assert_eq!(of_ours("%*d", &ints(&[i32::MIN, 42])).len(), 4095);
    }

    #[test]
    fn what_cannot_be_printed_stands_there() {
        assert_eq!(of_ours("100% %y %", &[]), "100% %y %");
        // The second argument was not passed, nor was any after it.
        assert_eq!(of_ours("%d %5d %s %%\n", &7i32.to_le_bytes()), "7 %5d %s %\n");
        assert_eq!(of_ours("%f", &[1, 2, 3]), "%f");
        assert_eq!(of_ours("%n %d", &[[0; 8], [5, 0, 0, 0, 0, 0, 0, 0]].concat()), "%n 5");
    }

    #[test]
    fn any_format_gives_a_text() {
        const PARTS: &[u8] = b"%%%%#0-+ .*19hlLjztcdiouxXpeEfFgGaAsn\xff\0y";
        let mut bits = 0x9e37_79b9_7f4a_7c15u64;
        for _ in 0..20_000 {
            let mut next = || {
                bits ^= bits << 13;
                bits ^= bits >> 7;
                bits ^= bits << 17;
                bits
            };
            let format: Vec<u8> = (0..next() % 24).map(|_| PARTS[(next() >> 20) as usize % PARTS.len()]).collect();
            let arguments: Vec<u8> = (0..next() % 40).map(|_| (next() >> 30) as u8).collect();
            text(&format, &arguments, &|_| None);
        }
    }
}
