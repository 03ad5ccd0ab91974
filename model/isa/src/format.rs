//! The format strings of `printf`, as CUDA reads them.
//!
//! Compiler and host read them in the same way: the compiler needs the sizes of the arguments, the host prints the arguments. A format is a sequence
//! of pieces of text and directives `%[flags][width][.precision][size]type`. Anything that is not a directive is text, so that every string is a
//! format.

use std::ops::Range;

use crate::machine::print::MOST_ARGUMENTS;

/// A part of a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Piece<'a> {
    /// Bytes that are printed as they stand.
    Text(&'a [u8]),
    /// `%%`.
    Percent,
    /// A directive that prints an argument.
    Directive(Directive<'a>),
}

/// `%[flags][width][.precision][size]type`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Directive<'a> {
    /// The whole directive, as written.
    pub text: &'a [u8],
    /// Its flags.
    pub flags: Flags,
    /// The least number of characters that it prints.
    pub width: Option<Count>,
    /// The least number of digits of an integer, the number of digits of a fraction, or the largest number of characters of a string.
    pub precision: Option<Count>,
    /// The size of an integer.
    pub size: Size,
    /// The type, such as `d`.
    pub kind: u8,
}

/// `#0- +`
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Flags {
    /// `#`: always with `0x`, `0`, or a point.
    pub alternative: bool,
    /// `0`: leading zeros.
    pub zeros: bool,
    /// `-`: blanks after the text instead of before it.
    pub left: bool,
    /// ` `: a blank before a number without a sign.
    pub blank: bool,
    /// `+`: always with a sign.
    pub plus: bool,
}

/// A width or a precision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Count {
    /// A number, [`Count::MOST`] at most.
    Number(usize),
    /// `*`: the next argument.
    Argument,
}

impl Count {
    /// Larger numbers count as this one: the longest conversion that C guarantees.
    pub const MOST: usize = 4095;
}

/// The size of an integer argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Size {
    /// `hh`
    Char,
    /// `h`
    Short,
    /// No size.
    #[default]
    Int,
    /// `l`, `ll`, `j`, `z`, `t`, and `L`, which makes no difference to a float: 64 bits on the device.
    Long,
}

/// The types that CUDA knows, `F` and `G`, which C has in addition, and `n`.
const TYPES: &[u8] = b"cdiouxXpeEfFgGaAsn";

impl Directive<'_> {
    /// Bytes of the argument that it prints, which follows those of width and precision: 4 or 8.
    pub fn argument(&self) -> u32 {
        match self.kind {
            b'd' | b'i' | b'o' | b'u' | b'x' | b'X' if self.size != Size::Long => 4,
            b'c' => 4,
            _ => 8,
        }
    }

    /// Bytes of all its arguments, in their order.
    pub fn arguments(&self) -> impl Iterator<Item = u32> + use<> {
        let counts = [self.width, self.precision].into_iter().filter(|count| *count == Some(Count::Argument));
        counts.map(|_| 4).chain([self.argument()])
    }
}

/// Reads bytes from the front of a format.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// `*`, digits, or nothing.
    fn count(&mut self) -> Option<Count> {
        if self.take(b'*') {
            return Some(Count::Argument);
        }
        let mut number = None;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            let more = number.unwrap_or(0) * 10 + usize::from(digit - b'0');
            number = Some(more.min(Count::MOST));
            self.at += 1;
        }
        number.map(Count::Number)
    }

    fn flags(&mut self) -> Flags {
        let mut flags = Flags::default();
        loop {
            match self.peek() {
                Some(b'#') => flags.alternative = true,
                Some(b'0') => flags.zeros = true,
                Some(b'-') => flags.left = true,
                Some(b' ') => flags.blank = true,
                Some(b'+') => flags.plus = true,
                _ => return flags,
            }
            self.at += 1;
        }
    }

    fn size(&mut self) -> Size {
        if self.take(b'h') {
            return if self.take(b'h') { Size::Char } else { Size::Short };
        }
        if self.take(b'l') {
            self.take(b'l');
            return Size::Long;
        }
        let long = [b'j', b'z', b't', b'L'].into_iter().any(|letter| self.take(letter));
        if long { Size::Long } else { Size::Int }
    }
}

/// The pieces of a format. Directives whose arguments exceed the most that CUDA takes are text.
pub fn pieces(format: &[u8]) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut reader = Reader { bytes: format, at: 0 };
    let (mut text, mut taken) = (0, 0);
    let text_of = |range: Range<usize>| (!range.is_empty()).then(|| Piece::Text(&format[range]));
    while let Some(byte) = reader.peek() {
        let start = reader.at;
        reader.at += 1;
        if byte != b'%' {
            continue;
        }
        if reader.take(b'%') {
            pieces.extend(text_of(text..start));
            pieces.push(Piece::Percent);
            text = reader.at;
            continue;
        }
        let flags = reader.flags();
        let width = reader.count();
        let precision = reader.take(b'.').then(|| reader.count().unwrap_or(Count::Number(0)));
        let size = reader.size();
        let Some(kind) = reader.peek().filter(|kind| TYPES.contains(kind)) else {
            // This is not a directive, but one may begin within it.
            reader.at = start + 1;
            continue;
        };
        reader.at += 1;
        let directive = Directive { text: &format[start..reader.at], flags, width, precision, size, kind };
        let arguments = directive.arguments().count();
        if taken + arguments > MOST_ARGUMENTS {
            // The directives after it are text too: their arguments also exceed the limit.
            break;
        }
        taken += arguments;
        pieces.extend(text_of(text..start));
        pieces.push(Piece::Directive(directive));
        text = reader.at;
    }
    pieces.extend(text_of(text..format.len()));
    pieces
}

/// The number of arguments that a format takes, and the byte offsets of their words in ascending order: each argument lies at a multiple of its size.
pub fn arguments(format: &[u8]) -> (u32, Vec<u32>) {
    let (mut count, mut end, mut words) = (0, 0u32, Vec::new());
    for piece in pieces(format) {
        let Piece::Directive(directive) = piece else { continue };
        for size in directive.arguments() {
            count += 1;
            let start = end.next_multiple_of(size);
            end = start + size;
            words.extend((start..end).step_by(4));
        }
    }
    (count, words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(format: &str) -> Vec<String> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        pieces(format.as_bytes())
            .into_iter()
            .map(|piece| match piece {
                Piece::Text(bytes) => format!("text {}", text(bytes)),
                Piece::Percent => "percent".to_owned(),
                Piece::Directive(directive) => format!("print {}", text(directive.text)),
            })
            .collect()
    }

    #[test]
    fn a_format_is_text_and_directives() {
        assert_eq!(shown(""), Vec::<String>::new());
        assert_eq!(shown("a%%b"), ["text a", "percent", "text b"]);
        assert_eq!(shown("x %-+ #08.3lld%s\n"), ["text x ", "print %-+ #08.3lld", "print %s", "text \n"]);
        // Text that is not a directive.
        assert_eq!(shown("50% y%d"), ["text 50% y", "print %d"]);
        assert_eq!(shown("%"), ["text %"]);
        assert_eq!(shown("%5.2"), ["text %5.2"]);
        assert_eq!(shown("%1$d %5%d"), ["text %1$d %5", "print %d"]);
    }

    #[test]
    fn arguments_lie_at_multiples_of_their_sizes() {
        let cases = [
            ("none %%\n", (0, 0)),
            ("%d", (1, 4)),
            ("%d %f", (2, 16)),
            ("%c%hhd%hd%d", (4, 16)),
            ("%f %d", (2, 12)),
            ("%*.*f", (3, 16)),
            ("%s %p %ld %llu %zu %jd %td", (7, 56)),
            ("%d %s %c %e", (4, 32)),
            ("%n %d", (2, 12)),
        ];
        for (format, expected) in cases {
            let (count, words) = arguments(format.as_bytes());
            assert_eq!((count, words.last().map_or(0, |last| last + 4)), expected, "{format}");
        }
    }

    #[test]
    fn in_front_of_eight_bytes_may_be_a_gap() {
        assert_eq!(arguments(b"%d %f %d"), (3, vec![0, 8, 12, 16]));
    }

    #[test]
    fn there_are_32_arguments_at_most() {
        let format = "%d,".repeat(40);
        assert_eq!(arguments(format.as_bytes()), (32, (0..128).step_by(4).collect()));
        let shown = shown(&format);
        assert_eq!(shown.last().unwrap(), &format!("text ,{}", "%d,".repeat(8)));
        // A directive with a `*` that does not fit any more ends them.
        assert_eq!(arguments(("%d".repeat(31) + "%*d%d").as_bytes()).0, 31);
    }

    #[test]
    fn numbers_have_an_end() {
        let wide = "%99999999999999999999999.88888888888888888888f";
        let [Piece::Directive(directive)] = pieces(wide.as_bytes())[..] else { panic!("no directive") };
        assert_eq!(directive.width, Some(Count::Number(Count::MOST)));
        assert_eq!(directive.precision, Some(Count::Number(Count::MOST)));
    }
}
