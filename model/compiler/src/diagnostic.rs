//! What the compiler says about a source that it does not accept: file, line, column, source text and a caret.

use std::fmt;

/// A stretch of the source, in bytes from its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The smallest stretch that holds both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// An error at a place, before the source text is attached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Where.
    pub span: Span,
    /// What is wrong and, where there is one, the way out. Lower case, no full stop.
    pub message: String,
}

impl Error {
    /// An error at `span`.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }
}

/// One complaint about the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Line in the file, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Number of characters that the complaint is about; at least 1, and never past the end of the line.
    pub width: u32,
    /// What is wrong.
    pub message: String,
    /// The source line, without its line end.
    pub text: String,
}

/// All complaints about one source. `Display` prints them as compilers do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Diagnostics {
    /// Name of the file, as the caller gave it.
    pub file: String,
    /// The complaints, in order of their place; never empty.
    pub entries: Vec<Diagnostic>,
    /// How many more there were than [`Diagnostics::MAX`].
    pub dropped: usize,
}

impl Diagnostics {
    /// So many complaints are kept for one source.
    pub const MAX: usize = 20;

    /// Attaches lines, columns and source text to `errors`.
    pub fn new(file: &str, source: &str, mut errors: Vec<Error>) -> Self {
        errors.sort_by_key(|e| (e.span.start, e.span.end));
        errors.dedup();
        let dropped = errors.len().saturating_sub(Self::MAX);
        errors.truncate(Self::MAX);
        let lines = LineIndex::new(source);
        let entries = errors.into_iter().map(|e| lines.diagnostic(source, e)).collect();
        Self { file: file.to_owned(), entries, dropped }
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, d) in self.entries.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            let number = d.line.to_string();
            let pad = " ".repeat(number.len());
            writeln!(f, "error: {}", d.message)?;
            writeln!(f, "{pad}--> {}:{}:{}", self.file, d.line, d.column)?;
            writeln!(f, "{pad} |")?;
            // A tab is one column here and one character in the caret line, so both lines keep their tabs.
            writeln!(f, "{number} | {}", d.text)?;
            let lead: String =
                d.text.chars().take(d.column as usize - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
            write!(f, "{pad} | {lead}{}", "^".repeat(d.width as usize))?;
        }
        if self.dropped > 0 {
            write!(f, "\n(and {} more)", self.dropped)?;
        }
        Ok(())
    }
}

/// Finds the line of a byte offset.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<u32>,
}

impl LineIndex {
    /// Indexes `source`.
    pub fn new(source: &str) -> Self {
        let mut starts = vec![0];
        starts.extend(source.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(i, _)| i as u32 + 1));
        Self { starts }
    }

    /// The line of byte `offset`, from 1.
    pub fn line(&self, offset: u32) -> u32 {
        self.starts.partition_point(|&s| s <= offset) as u32
    }

    fn diagnostic(&self, source: &str, error: Error) -> Diagnostic {
        let line = self.line(error.span.start);
        let start = self.starts[line as usize - 1] as usize;
        let end = self.starts.get(line as usize).map_or(source.len(), |&s| s as usize);
        let text = source[start..end].trim_end_matches(['\n', '\r']);
        // A very long line is cut: the terminal is not the place for it.
        let text: String = text.chars().take(400).collect();
        let before = (error.span.start as usize).saturating_sub(start);
        let column = source[start..end].char_indices().take_while(|&(i, _)| i < before).count();
        let length = text.chars().count();
        let column = column.min(length);
        let width = source
            .get(error.span.start as usize..error.span.end as usize)
            .map_or(1, |s| s.chars().count())
            .clamp(1, (length - column).max(1));
        Diagnostic { line, column: column as u32 + 1, width: width as u32, message: error.message, text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_is_under_the_word() {
        let source = "a\n\tmul.f64 x;\n";
        let d = Diagnostics::new("k.ptx", source, vec![Error::new(Span { start: 3, end: 10 }, "no f64")]);
        assert_eq!(d.to_string(), "error: no f64\n --> k.ptx:2:2\n  |\n2 | \tmul.f64 x;\n  | \t^^^^^^^");
    }

    #[test]
    fn a_place_at_the_end_of_the_source_is_a_place() {
        let d = Diagnostics::new("k.ptx", "ab", vec![Error::new(Span { start: 2, end: 2 }, "ends here")]);
        assert_eq!((d.entries[0].line, d.entries[0].column, d.entries[0].width), (1, 3, 1));
        let d = Diagnostics::new("k.ptx", "", vec![Error::new(Span::default(), "empty")]);
        assert_eq!((d.entries[0].line, d.entries[0].column), (1, 1));
    }
}
