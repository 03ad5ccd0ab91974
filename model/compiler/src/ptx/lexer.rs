//! Splits PTX text into tokens, one at a time, so that memory does not grow with the source.

use crate::diagnostic::{Error, Span};

/// A token of PTX.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token<'a> {
    /// A name: opcode, register, symbol, label, or `_`.
    Name(&'a str),
    /// `.word` of a directive, type or modifier, without its dot; `shared::cta` is one word.
    Dot(&'a str),
    /// An integer literal.
    Int(u64),
    /// `0f` literal: the bits of an f32.
    F32(u32),
    /// `0d` or decimal literal: the bits of an f64.
    F64(u64),
    /// A string in quotes, as written.
    Text(&'a str),
    /// A punctuation character.
    Sign(char),
    /// The end of the source.
    End,
}

/// The lexer. At the end of the source, `next` returns [`Token::End`] on every call.
#[derive(Clone, Debug)]
pub struct Lexer<'a> {
    source: &'a str,
    at: usize,
}

fn word_start(c: u8) -> bool {
    c.is_ascii_alphabetic() || matches!(c, b'_' | b'$' | b'%')
}

fn word_part(c: u8) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, b'_' | b'$')
}

impl<'a> Lexer<'a> {
    /// A lexer at the start of `source`.
    pub fn new(source: &'a str) -> Self {
        Self { source, at: 0 }
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.source.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    fn error(&self, start: usize, message: impl Into<String>) -> Error {
        // The span must end at a character boundary of the source.
        let mut end = (start + 1).min(self.source.len());
        while !self.source.is_char_boundary(end) {
            end += 1;
        }
        Error::new(Span { start: start as u32, end: end as u32 }, message)
    }

    /// Skips the rest of the current line (`.loc` and `.file` end with it).
    pub fn skip_line(&mut self) {
        self.at = self.source[self.at..].find('\n').map_or(self.source.len(), |n| self.at + n);
    }

    /// Continues at this byte of the source, which must be the start of a token or the end.
    pub fn go_to(&mut self, at: usize) {
        self.at = at;
    }

    /// The next token; text that is not a token is skipped.
    pub fn next_that_is_one(&mut self) -> (Token<'a>, Span) {
        loop {
            let before = self.at;
            match self.next() {
                Ok(found) => return found,
                Err(_) if self.at > before => {}
                Err(_) => {
                    self.at += 1;
                    while !self.source.is_char_boundary(self.at) {
                        self.at += 1;
                    }
                }
            }
        }
    }

    fn skip_blank(&mut self) -> Result<(), Error> {
        loop {
            match self.peek(0) {
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                b'/' if self.peek(1) == b'/' => self.skip_line(),
                b'/' if self.peek(1) == b'*' => {
                    let start = self.at;
                    match self.source[start + 2..].find("*/") {
                        Some(n) => self.at = start + 2 + n + 2,
                        None => return Err(self.error(start, "this comment is not closed")),
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    /// The next token and its position.
    pub fn next(&mut self) -> Result<(Token<'a>, Span), Error> {
        self.skip_blank()?;
        let start = self.at;
        let c = self.peek(0);
        let token = if start >= self.source.len() {
            Token::End
        } else if word_start(c) {
            self.at += 1;
            self.word();
            Token::Name(&self.source[start..self.at])
        } else if c.is_ascii_digit() {
            self.number()?
        } else if c == b'.' && word_part(self.peek(1)) {
            self.at += 1;
            self.word();
            while self.peek(0) == b':' && self.peek(1) == b':' && word_part(self.peek(2)) {
                self.at += 2;
                self.word();
            }
            Token::Dot(&self.source[start + 1..self.at])
        } else if c == b'"' {
            let rest = &self.source[start + 1..];
            match rest.find(['"', '\n']) {
                Some(n) if rest.as_bytes()[n] == b'"' => {
                    self.at = start + n + 2;
                    Token::Text(&rest[..n])
                }
                _ => return Err(self.error(start, "this string is not closed")),
            }
        } else if c.is_ascii_punctuation() {
            self.at += 1;
            Token::Sign(c as char)
        } else {
            return Err(self.error(start, "this character is not part of PTX"));
        };
        Ok((token, Span { start: start as u32, end: self.at as u32 }))
    }

    fn word(&mut self) {
        while word_part(self.peek(0)) {
            self.at += 1;
        }
    }

    fn number(&mut self) -> Result<Token<'a>, Error> {
        let start = self.at;
        self.word();
        let text = &self.source[start..self.at];
        let bad = |lexer: &Self| Err(lexer.error(start, format!("`{text}` is not a number of PTX")));
        let prefix = text.as_bytes().get(1).map(u8::to_ascii_lowercase);
        let hex_float = |digits: usize| text.len() == digits + 2 && text[2..].bytes().all(|b| b.is_ascii_hexdigit());
        match (text.as_bytes()[0], prefix) {
            (b'0', Some(b'f')) => match u32::from_str_radix(&text[2..], 16) {
                Ok(bits) if hex_float(8) => return Ok(Token::F32(bits)),
                _ => return bad(self),
            },
            (b'0', Some(b'd')) => match u64::from_str_radix(&text[2..], 16) {
                Ok(bits) if hex_float(16) => return Ok(Token::F64(bits)),
                _ => return bad(self),
            },
            _ => {}
        }
        let decimal = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'e' | b'E'));
        if decimal && (self.peek(0) == b'.' && self.peek(1).is_ascii_digit() || text.contains(['e', 'E'])) {
            if self.peek(0) == b'.' {
                self.at += 1;
                self.word();
            }
            if matches!(self.source.as_bytes()[self.at - 1], b'e' | b'E') && matches!(self.peek(0), b'+' | b'-') {
                self.at += 1;
                self.word();
            }
            let text = &self.source[start..self.at];
            return match text.parse::<f64>() {
                Ok(value) => Ok(Token::F64(value.to_bits())),
                Err(_) => Err(self.error(start, format!("`{text}` is not a number of PTX"))),
            };
        }
        let digits = text.strip_suffix('U').unwrap_or(text);
        let value = match (digits.as_bytes()[0], prefix) {
            (b'0', Some(b'x')) => u64::from_str_radix(&digits[2..], 16),
            (b'0', Some(b'b')) => u64::from_str_radix(&digits[2..], 2),
            (b'0', Some(_)) if digits.len() > 1 => u64::from_str_radix(digits, 8),
            _ => digits.parse::<u64>(),
        };
        match value {
            Ok(value) => Ok(Token::Int(value)),
            Err(_) => bad(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(source: &str) -> Vec<Token<'_>> {
        let mut lexer = Lexer::new(source);
        let mut out = Vec::new();
        loop {
            match lexer.next().unwrap().0 {
                Token::End => return out,
                token => out.push(token),
            }
        }
    }

    #[test]
    fn literals() {
        use Token::*;
        assert_eq!(
            tokens("0x1F 017 0b11 12U 0 0f3F800000 0d3FF0000000000000 9.5 1e3 2.5e-1"),
            [
                Int(31),
                Int(15),
                Int(3),
                Int(12),
                Int(0),
                F32(0x3f80_0000),
                F64(1f64.to_bits()),
                F64(9.5f64.to_bits()),
                F64(1e3f64.to_bits()),
                F64(0.25f64.to_bits())
            ]
        );
    }

    #[test]
    fn words_and_comments() {
        use Token::*;
        assert_eq!(
            tokens("ld.shared::cta.u32 %r1, [_ZZ1kE1s+4]; // x\n/* y */ @!%p bra $L__BB0_1;"),
            [
                Name("ld"),
                Dot("shared::cta"),
                Dot("u32"),
                Name("%r1"),
                Sign(','),
                Sign('['),
                Name("_ZZ1kE1s"),
                Sign('+'),
                Int(4),
                Sign(']'),
                Sign(';'),
                Sign('@'),
                Sign('!'),
                Name("%p"),
                Name("bra"),
                Name("$L__BB0_1"),
                Sign(';')
            ]
        );
    }

    #[test]
    fn bad_words_are_errors() {
        for source in ["0f3F8", "0x", "09", "\"abc", "/* abc", "99999999999999999999999", "é", "0xg"] {
            let mut lexer = Lexer::new(source);
            let mut steps = 0;
            while let Ok((token, _)) = lexer.next() {
                steps += 1;
                assert!(token != Token::End && steps < 10, "{source} was accepted");
            }
        }
    }
}
