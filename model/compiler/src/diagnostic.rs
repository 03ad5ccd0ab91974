//! Error messages for PTX that the compiler does not accept: file, line, column, source text and a caret.

use std::collections::BTreeSet;
use std::fmt;

/// The feature that the source needs and the supported subset lacks. Errors are counted by feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    /// `.f64`, atomic operations on it included.
    DoublePrecision,
    /// `.bf16`, `.tf32` and their pairs, and operations on `.f16` that the compiler has no instruction sequence for.
    HalfPrecision,
    /// Textures and samplers.
    Textures,
    /// Surfaces.
    Surfaces,
    /// `wmma`, `mma` and similar instructions.
    Tensor,
    /// Functions without a body in the file, and calls in a form that nvcc does not produce.
    Calls,
    /// Addresses of functions without a body in the file, and calls through pointers that can reach no function.
    FunctionPointers,
    /// `printf`.
    Printf,
    /// `assert`.
    Assert,
    /// `malloc` and `free` in a kernel, and local memory of a size that is known only at run time.
    Malloc,
    /// Cooperative groups: a barrier of all blocks of a grid.
    GridSynchronisation,
    /// Kernel launches from a kernel.
    DynamicParallelism,
    /// Special registers whose value identifies a particular machine.
    MachineRegisters,
    /// The video instructions.
    Video,
    /// Features that were introduced after sm_75.
    Newer,
    /// Clusters of blocks.
    Clusters,
    /// Variables that another module defines.
    Extern,
    /// Types of more than 64 bits.
    WideTypes,
    /// More memory, parameters, values or instructions than the machine or the compiler allows.
    Room,
    /// Anything else: an unsupported instruction or form of one, or text that is not PTX.
    Other,
}

impl Feature {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::DoublePrecision => "double precision",
            Self::HalfPrecision => "half precision",
            Self::Textures => "textures",
            Self::Surfaces => "surfaces",
            Self::Tensor => "tensor operations",
            Self::Calls => "calls",
            Self::FunctionPointers => "function pointers",
            Self::Printf => "printf",
            Self::Assert => "assert",
            Self::Malloc => "malloc",
            Self::GridSynchronisation => "grid synchronisation",
            Self::DynamicParallelism => "dynamic parallelism",
            Self::MachineRegisters => "registers of the machine",
            Self::Video => "video instructions",
            Self::Newer => "newer than sm_75",
            Self::Clusters => "clusters",
            Self::Extern => "extern variables",
            Self::WideTypes => "128-bit types",
            Self::Room => "room",
            Self::Other => "other",
        }
    }
}

/// A range of the source, in bytes from its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One more than the last byte.
    pub end: u32,
}

impl Span {
    /// The smallest range that contains both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// An error at a place, before the source text is attached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Where the error is.
    pub span: Span,
    /// The feature that is missing.
    pub feature: Feature,
    /// What is wrong and, if possible, how to avoid it. Lower case, no full stop.
    pub message: String,
    /// The kernel that contains the error, as in the PTX; `None` if the error concerns the whole source.
    pub kernel: Option<String>,
}

impl Error {
    /// An error at `span`.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self::lacks(span, Feature::Other, message)
    }

    /// An error at `span` about a missing feature.
    pub fn lacks(span: Span, feature: Feature, message: impl Into<String>) -> Self {
        Self { span, feature, message: message.into(), kernel: None }
    }

    /// The same error, in this kernel.
    #[must_use]
    pub fn in_kernel(self, name: &str) -> Self {
        Self { kernel: Some(name.to_owned()), ..self }
    }
}

/// One error, with its line and its source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Line in the file, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Number of characters that the error covers: at least 1; more only up to the end of the line.
    pub width: u32,
    /// The kernel that contains the error, as in the PTX; `None` if the error concerns the whole source.
    pub kernel: Option<String>,
    /// The feature that is missing.
    pub feature: Feature,
    /// What is wrong.
    pub message: String,
    /// The source line, without its line end.
    pub text: String,
}

/// All errors of one source. `Display` prints them as compilers do; the caller prints the word `error:` before the first one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Diagnostics {
    /// Name of the file, as the caller passed it.
    pub file: String,
    /// The errors, in source order; never empty.
    pub entries: Vec<Diagnostic>,
    /// Number of errors beyond the first [`Diagnostics::MAX`], which are not kept.
    pub dropped: usize,
    /// The missing features, including those of the dropped errors.
    pub features: BTreeSet<Feature>,
}

impl Diagnostics {
    /// Maximum number of errors that are kept for one source.
    pub const MAX: usize = 20;

    /// Attaches lines, columns and source text to `errors`.
    pub fn new(file: &str, source: &str, mut errors: Vec<Error>) -> Self {
        errors.sort_by_key(|e| (e.span.start, e.span.end));
        errors.dedup();
        let features = errors.iter().map(|e| e.feature).collect();
        let dropped = errors.len().saturating_sub(Self::MAX);
        errors.truncate(Self::MAX);
        let lines = LineIndex::new(source);
        let entries = errors.into_iter().map(|e| lines.diagnostic(source, e)).collect();
        Self { file: file.to_owned(), entries, dropped, features }
    }
}

impl Diagnostics {
    /// Merges the errors of several kernels of one source. `None` if there are none.
    pub fn merged<'a>(all: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        let mut all = all.into_iter();
        let mut merged = all.next()?.clone();
        for other in all {
            merged.entries.extend_from_slice(&other.entries);
            merged.dropped += other.dropped;
            merged.features.extend(&other.features);
        }
        merged.entries.sort_by_key(|entry| (entry.line, entry.column));
        merged.dropped += merged.entries.len().saturating_sub(Self::MAX);
        merged.entries.truncate(Self::MAX);
        Some(merged)
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, d) in self.entries.iter().enumerate() {
            if i > 0 {
                write!(f, "\nerror: ")?;
            }
            if let Some(kernel) = &d.kernel {
                write!(f, "kernel `{kernel}`: ")?;
            }
            let number = d.line.to_string();
            let pad = " ".repeat(number.len());
            writeln!(f, "{}", d.message)?;
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
        // A very long line is cut, to keep the message readable on a terminal.
        let text: String = text.chars().take(400).collect();
        let before = (error.span.start as usize).saturating_sub(start);
        let column = source[start..end].char_indices().take_while(|&(i, _)| i < before).count();
        let length = text.chars().count();
        let column = column.min(length);
        let width = source
            .get(error.span.start as usize..error.span.end as usize)
            .map_or(1, |s| s.chars().count())
            .clamp(1, (length - column).max(1));
        let Error { feature, message, kernel, .. } = error;
        Diagnostic { line, column: column as u32 + 1, width: width as u32, kernel, feature, message, text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_is_under_the_word() {
        let source = "a\n\tmul.f64 x;\n";
        let error = Error::new(Span { start: 3, end: 10 }, "no f64");
        let again = Error::new(Span { start: 11, end: 12 }, "no x").in_kernel("k");
        let d = Diagnostics::new("k.ptx", source, vec![again, error]);
        let place = "2 | \tmul.f64 x;\n  | \t";
        let expected = format!(
            "no f64\n --> k.ptx:2:2\n  |\n{place}^^^^^^^\nerror: kernel `k`: no x\n --> k.ptx:2:10\n  |\n{place}        ^"
        );
        assert_eq!(d.to_string(), expected);
    }

    #[test]
    fn complaints_about_several_kernels_are_one_list() {
        let source = "one\ntwo\n";
        let about = |start, count: usize, feature| {
            let error = |i: usize| Error::lacks(Span { start, end: start + 1 }, feature, format!("{i}")).in_kernel("k");
            Diagnostics::new("k.ptx", source, (0..count).map(error).collect())
        };
        let (late, early) = (about(4, 2, Feature::Video), about(0, 25, Feature::Calls));
        let merged = Diagnostics::merged([&late, &early]).unwrap();
        assert_eq!((merged.entries.len(), merged.dropped), (Diagnostics::MAX, 7));
        assert!(merged.entries.iter().all(|entry| entry.line == 1));
        assert_eq!(merged.features, BTreeSet::from([Feature::Calls, Feature::Video]));
        assert_eq!(Diagnostics::merged([&late]), Some(late));
        assert_eq!(Diagnostics::merged([]), None);
    }

    #[test]
    fn a_place_at_the_end_of_the_source_is_a_place() {
        let d = Diagnostics::new("k.ptx", "ab", vec![Error::new(Span { start: 2, end: 2 }, "ends here")]);
        assert_eq!((d.entries[0].line, d.entries[0].column, d.entries[0].width), (1, 3, 1));
        let d = Diagnostics::new("k.ptx", "", vec![Error::new(Span::default(), "empty")]);
        assert_eq!((d.entries[0].line, d.entries[0].column), (1, 1));
    }
}
