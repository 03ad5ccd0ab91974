//! Text on standard output and standard error.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::os::fd::AsFd;
use std::sync::OnceLock;

use anstyle::{AnsiColor, Style};

use crate::failure::Failure;

/// Style of passed results.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// Style of results that neither passed nor failed.
pub const DOUBTFUL: Style = AnsiColor::Yellow.on_default();
/// Style of failed results.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// Style of headings.
pub const HEADING: Style = Style::new().bold();
/// Style of secondary information.
pub const QUIET: Style = Style::new().dimmed();

/// Standard output, if this program alone writes to it.
static CLAIMED: OnceLock<File> = OnceLock::new();

/// From here on [`print`] alone writes to standard output. What RTL writes there, also by file descriptor, is written to standard error.
///
/// # Errors
/// If the system refuses.
pub fn claim() -> Result<&'static File, Failure> {
    if let Some(own) = CLAIMED.get() {
        return Ok(own);
    }
    let cannot = |e: std::io::Error| Failure::tool(format!("cannot duplicate standard output: {e}"));
    let own = std::io::stdout().as_fd().try_clone_to_owned().map_err(cannot)?;
    rustix::stdio::dup2_stdout(std::io::stderr()).map_err(|e| cannot(e.into()))?;
    Ok(CLAIMED.get_or_init(|| own.into()))
}

/// Writes to standard output; colours only reach a terminal.
///
/// # Errors
/// If the output cannot be written, for example on a full disk. A reader that has closed the pipe is not an error.
pub fn print(text: &str) -> Result<(), Failure> {
    let written = match CLAIMED.get() {
        Some(mut out) => out.write_all(text.as_bytes()),
        None => {
            let mut out = anstream::stdout().lock();
            out.write_all(text.as_bytes()).and_then(|()| out.flush())
        }
    };
    match written {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::tool(format!("cannot write to standard output: {e}")))
        }
        _ => Ok(()),
    }
}

/// Writes a line to standard error; errors are ignored.
pub fn note(text: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// Writes an error to standard error.
pub fn error(text: &str) {
    note(&format!("{BAD}error:{BAD:#} {text}"));
}

/// A column of a table.
pub struct Column {
    /// Its heading.
    pub heading: &'static str,
    /// Whether the column is aligned to the right, as numbers are.
    pub right: bool,
}

/// A column of words.
pub const fn words(heading: &'static str) -> Column {
    Column { heading, right: false }
}

/// A column of numbers.
pub const fn numbers(heading: &'static str) -> Column {
    Column { heading, right: true }
}

/// A cell of a table: text, and its style.
pub struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// A cell in a style.
    pub fn styled(text: impl ToString, style: Style) -> Self {
        Self { text: text.to_string(), style }
    }

    /// The cell with its text wrapped to this width.
    pub fn wrapped(self, width: usize) -> Self {
        Self { text: textwrap::fill(&self.text, width), ..self }
    }
}

impl<T: ToString> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::styled(text, Style::new())
    }
}

/// Width of wrapped text if standard output is not a terminal.
const COLUMNS: usize = 100;

/// The width of the terminal, if standard output is one.
fn terminal() -> Option<usize> {
    terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0))
}

/// Wraps text to the width of the terminal.
pub fn wrapped(text: &str) -> String {
    textwrap::fill(text, terminal().unwrap_or(COLUMNS))
}

/// Lays out a table: each column is as wide as its widest cell, with two spaces between columns. On a terminal that is too narrow, words are cut
/// short.
pub fn table(columns: &[Column], rows: &[Vec<Cell>]) -> String {
    table_within(columns, rows, terminal().unwrap_or(usize::MAX))
}

/// The narrowest width to which a column of words is cut.
const NARROWEST: usize = 8;

/// The widths of columns: columns of words shrink, the widest first, until the table fits. The first and the last column, which name a row and its
/// result, keep their width.
fn fit(columns: &[Column], mut widths: Vec<usize>, within: usize) -> Vec<usize> {
    let gaps = 2 * columns.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > within {
        let inner = 1..columns.len().saturating_sub(1);
        let widest = inner.filter(|&index| !columns[index].right).max_by_key(|&index| widths[index]);
        match widest {
            Some(index) if widths[index] > NARROWEST => widths[index] -= 1,
            _ => break,
        }
    }
    widths
}

/// Cuts a cell's text to a width.
pub fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['\u{2026}']).collect()
}

fn table_within(columns: &[Column], rows: &[Vec<Cell>], within: usize) -> String {
    let wide = |text: &str| text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    let width = |index: usize, column: &Column| {
        let cells = rows.iter().map(|row| wide(&row[index].text));
        cells.chain([column.heading.chars().count()]).max().unwrap_or(0)
    };
    let widths = fit(columns, columns.iter().enumerate().map(|(i, c)| width(i, c)).collect(), within);
    let mut text = String::new();
    let mut line = |cells: &mut dyn Iterator<Item = (&str, Style)>| {
        let mut parts = Vec::new();
        for ((cell, style), (column, &width)) in cells.zip(columns.iter().zip(&widths)) {
            let cell = cut(cell, width);
            let space = " ".repeat(width - cell.chars().count());
            let (before, after) = if column.right { (space.as_str(), "") } else { ("", space.as_str()) };
            // An empty cell has no style, because spaces at the end of the line are trimmed.
            let style = if cell.is_empty() { Style::new() } else { style };
            parts.push(format!("{before}{style}{cell}{style:#}{after}"));
        }
        text.push_str(parts.join("  ").trim_end());
        text.push('\n');
    };
    line(&mut columns.iter().map(|c| (c.heading, HEADING)));
    for row in rows {
        let height = row.iter().map(|cell| cell.text.lines().count()).max().unwrap_or(0).max(1);
        for index in 0..height {
            line(&mut row.iter().map(|cell| (cell.text.lines().nth(index).unwrap_or(""), cell.style)));
        }
    }
    text
}

/// Formats a count with its digits in groups of three.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let mut text = digits[..first].to_owned();
    for group in digits.as_bytes()[first..].chunks(3) {
        if !text.is_empty() {
            text.push(' ');
        }
        text.extend(group.iter().map(|&d| char::from(d)));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// The test runs itself again in a process of its own, of which it may change the standard output.
    #[test]
    fn what_rtl_writes_to_standard_output_goes_to_standard_error() {
        const AGAIN: &str = "GPURF_TEST_OF_CLAIM";
        const NAME: &str = "output::tests::what_rtl_writes_to_standard_output_goes_to_standard_error";
        if std::env::var_os(AGAIN).is_some() {
            claim().unwrap();
            File::options().write(true).open("/dev/stdout").unwrap().write_all(b"of the RTL\n").unwrap();
            print("of gpurf\n").unwrap();
            return;
        }
        let mut again = Command::new(std::env::current_exe().unwrap());
        let output = again.args([NAME, "--exact"]).env(AGAIN, "1").output().unwrap();
        let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        assert!(out.contains("of gpurf\n") && !out.contains("of the RTL"), "{out}");
        assert!(err.contains("of the RTL\n"), "{err}");
    }

    #[test]
    fn a_table_is_aligned_and_has_no_spaces_at_line_ends() {
        let rows = vec![vec!["mrf".into(), 7.into()], vec!["ram_1rw".into(), 1234.into()]];
        let text = table(&[words("block"), numbers("cycles")], &rows);
        let plain = anstream::adapter::strip_str(&text).to_string();
        assert_eq!(plain, "block    cycles\nmrf           7\nram_1rw    1234\n");
    }

    #[test]
    fn a_table_that_is_too_wide_is_cut_in_its_words() {
        let columns = [words("block"), words("policy"), words("shape"), numbers("cycles"), words("result")];
        let row = ["mrf_arbiter", "oldest read, greedy, two-level", "16b 1rw 8c", "1234", "DIVERGED"];
        let rows = vec![row.map(Cell::from).into_iter().collect::<Vec<_>>()];
        let lines = |within| {
            let text = anstream::adapter::strip_str(&table_within(&columns, &rows, within)).to_string();
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(lines(60)[1], "mrf_arbiter  oldest read, gre\u{2026}  16b 1rw 8c    1234  DIVERGED");
        assert_eq!(lines(usize::MAX)[1], "mrf_arbiter  oldest read, greedy, two-level  16b 1rw 8c    1234  DIVERGED");
        // Columns that cannot be cut further make the table wider than the terminal.
        assert_eq!(lines(10)[1], "mrf_arbiter  oldest \u{2026}  16b 1rw\u{2026}    1234  DIVERGED");
    }

    #[test]
    fn a_cell_has_as_many_lines_as_it_takes() {
        let rows = vec![vec![Cell::from("reads that are avoided").wrapped(10), 7.into()], vec!["b".into(), 8.into()]];
        let text = table(&[words("result"), numbers("ours")], &rows);
        let plain = anstream::adapter::strip_str(&text).to_string();
        assert_eq!(plain, "result      ours\nreads that     7\nare\navoided\nb              8\n");
    }

    #[test]
    fn digits_stand_in_groups() {
        let cases = [(0, "0"), (999, "999"), (1000, "1 000"), (1_234_567, "1 234 567")];
        for (number, text) in cases {
            assert_eq!(grouped(number), text);
        }
    }
}
