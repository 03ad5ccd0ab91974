//! A TOML document in which every value has its place in the file, and error messages that name the place. It serves manifests and other files that
//! users write.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::{ManifestError, Origin};

/// A value of a document, with its place.
pub type Node<'a> = Spanned<DeValue<'a>>;

/// The file that a document was read from.
#[derive(Clone, Copy)]
pub struct Document<'a> {
    /// Its path, which messages name.
    pub path: &'a Path,
    /// Its text.
    pub text: &'a Arc<str>,
}

impl<'d> Document<'d> {
    /// The text as a table.
    ///
    /// # Errors
    /// When the text is not TOML.
    pub fn root(&self) -> Result<Spanned<DeTable<'d>>, ManifestError> {
        DeTable::parse(self.text).map_err(|error| self.error(error.span().unwrap_or(0..0), error.message().trim()))
    }

    /// An error at a place in the file.
    pub fn error(&self, span: Range<usize>, message: impl Into<String>) -> ManifestError {
        let (line, column) = self.origin(span).line_and_column();
        ManifestError::Invalid { path: self.path.to_owned(), line, column, message: message.into() }
    }

    /// The place of a span in the file.
    pub fn origin(&self, span: Range<usize>) -> Origin {
        Origin { text: Arc::clone(self.text), at: span.start }
    }

    /// The line in which the text of a string begins: the line after the quotes, if a line break directly follows them.
    pub fn first_line(&self, node: &Node) -> usize {
        let (before, text) = self.text.split_at(node.span().start.min(self.text.len()));
        let breaks = ["\"\"\"", "'''"].iter().filter_map(|quotes| text.strip_prefix(quotes));
        let next = breaks.into_iter().any(|rest| rest.starts_with('\n') || rest.starts_with("\r\n"));
        before.matches('\n').count() + 1 + usize::from(next)
    }

    /// A path of the document: relative to the folder of the file.
    pub fn resolve(&self, path: &str) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(path)
    }

    /// An error that says what is expected in place of `node`.
    pub fn expected(&self, node: &Node, what: &str) -> ManifestError {
        self.error(node.span(), format!("expected {what}, found {}", node.get_ref().type_str()))
    }

    /// The node as a string.
    ///
    /// # Errors
    /// When it is not a string.
    pub fn string<'n>(&self, node: &'n Node, what: &str) -> Result<&'n str, ManifestError> {
        node.get_ref().as_str().ok_or_else(|| self.expected(node, what))
    }

    /// The node as an integer, in `range`.
    ///
    /// # Errors
    /// When it is not an integer, or out of range.
    pub fn integer(&self, node: &Node, what: &str, range: Range<i128>) -> Result<i128, ManifestError> {
        let integer = node.get_ref().as_integer();
        let integer = integer.ok_or_else(|| self.expected(node, &format!("an integer for {what}")))?;
        i128::from_str_radix(integer.as_str(), integer.radix())
            .ok()
            .filter(|value| range.contains(value))
            .ok_or_else(|| self.error(node.span(), format!("{what} must be from {} to {}", range.start, range.end - 1)))
    }

    /// The node as a number in double precision.
    ///
    /// # Errors
    /// When it is not a number.
    pub fn number(&self, node: &Node, what: &str) -> Result<f64, ManifestError> {
        let text = match node.get_ref() {
            DeValue::Float(float) => float.as_str(),
            DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str(),
            DeValue::Integer(_) => return Ok(self.integer(node, what, i128::MIN..i128::MAX)? as f64),
            _ => return Err(self.expected(node, what)),
        };
        text.parse().map_err(|_| self.error(node.span(), format!("{what} is not a number that can be read")))
    }

    /// The node as an array.
    ///
    /// # Errors
    /// When it is not an array.
    pub fn array<'n, 'a>(&self, node: &'n Node<'a>, what: &str) -> Result<&'n [Node<'a>], ManifestError> {
        node.get_ref().as_array().map(|array| &**array).ok_or_else(|| self.expected(node, what))
    }

    /// The node as a table of any keys.
    ///
    /// # Errors
    /// When it is not a table.
    pub fn table<'n, 'a>(&self, node: &'n Node<'a>, what: &str) -> Result<&'n DeTable<'a>, ManifestError> {
        node.get_ref().as_table().ok_or_else(|| self.expected(node, what))
    }

    /// The node as a table that has only keys in `known`.
    ///
    /// # Errors
    /// When it is not a table, or has another key.
    pub fn fields<'n, 'a>(
        &self,
        node: &'n Node<'a>,
        what: &'static str,
        known: &[&str],
    ) -> Result<Fields<'n, 'a>, ManifestError> {
        let table = self.table(node, what)?;
        Fields::new(*self, table, node.span(), what, known)
    }
}

/// The entries of a table.
#[derive(Clone)]
pub struct Fields<'n, 'a> {
    table: &'n DeTable<'a>,
    /// The place of the table in the file.
    pub span: Range<usize>,
    what: &'static str,
}

impl<'n, 'a> Fields<'n, 'a> {
    /// The entries of `table`, which has only keys in `known`.
    ///
    /// # Errors
    /// When it has another key.
    pub fn new(
        document: Document,
        table: &'n DeTable<'a>,
        span: Range<usize>,
        what: &'static str,
        known: &[&str],
    ) -> Result<Self, ManifestError> {
        let unknown = table.keys().filter(|key| !known.contains(&key.get_ref().as_ref()));
        if let Some(key) = unknown.min_by_key(|key| key.span().start) {
            let message = format!("unknown key `{}` in {what}; it has {}", key.get_ref(), known.join(", "));
            return Err(document.error(key.span(), message));
        }
        Ok(Self { table, span, what })
    }

    /// The value of a key, if it is there.
    pub fn get(&self, key: &str) -> Option<&'n Node<'a>> {
        self.table.get(key)
    }

    /// The value of a key that must be there.
    ///
    /// # Errors
    /// When it is missing.
    pub fn required(&self, document: Document, key: &str) -> Result<&'n Node<'a>, ManifestError> {
        self.get(key).ok_or_else(|| document.error(self.span.clone(), format!("{} needs the key `{key}`", self.what)))
    }

    /// The values of a key that holds an array; empty if there is no such key.
    ///
    /// # Errors
    /// When the key holds something else.
    pub fn list(&self, document: Document, key: &str, what: &str) -> Result<&'n [Node<'a>], ManifestError> {
        self.get(key).map_or(Ok(&[]), |node| document.array(node, what))
    }
}
