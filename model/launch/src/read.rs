//! From the text of a manifest to a [`Manifest`].

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use crate::data::{Data, read_buffer, read_scalar, read_type};
use crate::document::{Document, Fields, Node};
use crate::{
    Argument, Buffer, BufferId, Check, ExpectedFault, Launch, Manifest, ManifestError, Repetition, Scalar, Source,
    Symbol, Type, assembly, fault,
};

/// The largest manifest: far more than any that is written by hand.
const MAX_FILE: u64 = 64 << 20;

/// All buffers together: they are placed below 4 GiB, with room to spare.
const MAX_BUFFER_BYTES: u64 = 2 << 30;

/// CUDA's limits of a grid, and of a block, in x, y, z (compute capability 7.5).
const MAX_GRID: [u32; 3] = [i32::MAX as u32, 65535, 65535];
const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
const MAX_THREADS: u32 = 1024;

/// The largest shared memory of a block (compute capability 7.5).
const MAX_SHARED: u32 = 64 << 10;

const LAUNCH_KEYS: [&str; 7] = ["kernel", "grid", "block", "dynamic_shared", "args", "repeat", "while_nonzero"];

impl Manifest {
    /// Reads and checks the manifest at `path`.
    ///
    /// # Errors
    /// Whatever is wrong with it, with file, line and column where there is one.
    pub fn load(path: &Path) -> Result<Self, ManifestError> {
        let unreadable = |source| ManifestError::Unreadable { path: path.to_owned(), source };
        let mut bytes = Vec::new();
        File::open(path).and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes)).map_err(unreadable)?;
        if bytes.len() as u64 > MAX_FILE {
            let message = format!("a manifest has at most {MAX_FILE} bytes");
            return Err(unreadable(std::io::Error::new(std::io::ErrorKind::FileTooLarge, message)));
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let text = String::from_utf8_lossy(valid);
            Document { path, text: &text }.error(text.len()..text.len(), "a manifest is UTF-8 text")
        })?;
        Self::parse(path, &text)
    }

    /// Reads and checks a manifest whose text is at hand. `path` is where it would be: files are looked up beside it,
    /// and messages name it.
    ///
    /// # Errors
    /// As [`Manifest::load`].
    pub fn parse(path: &Path, text: &str) -> Result<Self, ManifestError> {
        let document = Document { path, text };
        let root = DeTable::parse(text).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            document.error(span, error.message().trim())
        })?;
        Reader { document, buffers: Vec::new(), bytes: 0 }.manifest(root.get_ref())
    }
}

struct Reader<'a> {
    document: Document<'a>,
    buffers: Vec<Buffer>,
    /// Size of all buffers so far.
    bytes: u64,
}

impl Reader<'_> {
    fn manifest(mut self, root: &DeTable) -> Result<Manifest, ManifestError> {
        let document = self.document;
        let short = !root.contains_key("launch");
        let keys: &[&str] = if short {
            &[
                "source",
                "assembly",
                "kernel",
                "grid",
                "block",
                "dynamic_shared",
                "repeat",
                "while_nonzero",
                "arg",
                "symbol",
                "check",
                "fault",
                "replay",
            ]
        } else {
            &["source", "assembly", "buffer", "launch", "symbol", "check", "fault", "replay"]
        };
        let what = if short { "a manifest of one kernel" } else { "a manifest with `[[launch]]`" };
        let fields = Fields::new(document, root, 0..0, what, keys)?;
        let source = self.source(&fields)?;

        let launches = if short {
            let mut args = Vec::new();
            for node in fields.list(document, "arg", "`[[arg]]` tables")? {
                args.push((self.short_argument(node)?, node.span()));
            }
            vec![self.launch(&fields, args)?]
        } else {
            for node in fields.list(document, "buffer", "`[[buffer]]` tables")? {
                self.declare(node)?;
            }
            let nodes = fields.list(document, "launch", "`[[launch]]` tables")?;
            if nodes.is_empty() {
                return Err(document.error(0..0, "a manifest has at least one launch"));
            }
            nodes.iter().map(|node| self.listed_launch(node)).collect::<Result<_, _>>()?
        };

        let mut symbols: Vec<Symbol> = Vec::new();
        for node in fields.list(document, "symbol", "`[[symbol]]` tables")? {
            let Data { name, ty, len, init, .. } = read_buffer(document, node, "a symbol", false)?;
            self.account(node, len, ty)?;
            if symbols.iter().any(|other| other.name == name) {
                return Err(document.error(node.span(), format!("symbol `{name}` is there twice")));
            }
            symbols.push(Symbol { name, ty, len, init });
        }
        let checks = fields.list(document, "check", "`[[check]]` tables")?;
        let checks = checks.iter().map(|node| self.check(node)).collect::<Result<_, _>>()?;
        let fault = fields.get("fault").map(|node| self.fault(&fields, node, &launches)).transpose()?;
        let replay = fields.get("replay").map(|node| assembly::read_replay(document, node)).transpose()?;
        let path = document.path.to_owned();
        Ok(Manifest { path, source, buffers: self.buffers, symbols, launches, checks, fault, replay })
    }

    fn source(&self, fields: &Fields) -> Result<Source, ManifestError> {
        match (fields.get("assembly"), fields.get("source")) {
            (Some(node), None) => assembly::read_assembly(self.document, node).map(Source::Assembly),
            (Some(node), Some(_)) => {
                Err(self.document.error(node.span(), "a manifest has `source` or `[assembly]`, not both"))
            }
            (None, _) => self.file(fields).map(Source::File),
        }
    }

    fn file(&self, fields: &Fields) -> Result<PathBuf, ManifestError> {
        let node = fields.required(self.document, "source")?;
        let text = self.document.string(node, "the path of a .cu or .ptx file")?;
        let path = self.document.resolve(text);
        let extension = path.extension().and_then(|extension| extension.to_str());
        let exists = match extension {
            Some("ptx") => path.is_file(),
            Some("cu") => path.is_file() || path.with_extension("ptx").is_file(),
            _ => return Err(self.document.error(node.span(), "the source is a .cu or a .ptx file")),
        };
        if exists {
            Ok(path)
        } else {
            Err(self.document.error(node.span(), format!("there is no file {}", path.display())))
        }
    }

    /// Adds a buffer's size to the sum of all, which is bounded.
    fn account(&mut self, node: &Node, len: u64, ty: Type) -> Result<(), ManifestError> {
        let total = len.checked_mul(ty.size() as u64).and_then(|size| size.checked_add(self.bytes));
        match total.filter(|&total| total <= MAX_BUFFER_BYTES) {
            Some(total) => {
                self.bytes = total;
                Ok(())
            }
            None => {
                let message = format!("{len} elements of {}: all buffers together have at most 2 GiB", ty.name());
                let span = node.get_ref().get("len").map_or(node.span(), toml::Spanned::span);
                Err(self.document.error(span, message))
            }
        }
    }

    fn declare(&mut self, node: &Node) -> Result<BufferId, ManifestError> {
        let Data { name, ty, len, init, output, address } = read_buffer(self.document, node, "a buffer", true)?;
        self.account(node, len, ty)?;
        if self.buffers.iter().any(|other| other.name == name) {
            return Err(self.document.error(node.span(), format!("buffer `{name}` is there twice")));
        }
        self.buffers.push(Buffer { name, ty, len, init, output, address });
        Ok(BufferId(self.buffers.len() - 1))
    }

    fn find(&self, node: &Node) -> Result<BufferId, ManifestError> {
        let name = self.document.string(node, "the name of a buffer")?;
        self.buffers.iter().position(|buffer| buffer.name == name).map(BufferId).ok_or_else(|| {
            let names: Vec<_> = self.buffers.iter().map(|buffer| buffer.name.as_str()).collect();
            let names = if names.is_empty() { "none".into() } else { names.join(", ") };
            self.document.error(node.span(), format!("there is no buffer `{name}`; there are {names}"))
        })
    }

    /// An `[[arg]]` of a manifest of one kernel: declares its buffer, or with a name alone, means an earlier one.
    fn short_argument(&mut self, node: &Node) -> Result<Argument, ManifestError> {
        let fields = self.document.fields(node, "an argument", &["scalar", "buffer"])?;
        match (fields.get("scalar"), fields.get("buffer")) {
            (Some(scalar), None) => self.scalar_argument(scalar),
            (None, Some(buffer)) => {
                let table = buffer.get_ref().as_table();
                match buffer.get_ref().get("name") {
                    Some(name) if table.is_some_and(|table| table.len() == 1) => self.find(name).map(Argument::Buffer),
                    _ => self.declare(buffer).map(Argument::Buffer),
                }
            }
            _ => Err(self.document.error(node.span(), "an argument is a `scalar` or a `buffer`")),
        }
    }

    fn scalar_argument(&self, node: &Node) -> Result<Argument, ManifestError> {
        let document = self.document;
        let fields = document.fields(node, "a scalar", &["type", "value"])?;
        let ty = read_type(document, fields.required(document, "type")?)?;
        let value = fields.required(document, "value")?;
        match value.get_ref() {
            DeValue::String(text) if text == "i" && !ty.is_float() => Ok(Argument::PassNumber(ty)),
            DeValue::String(text) if text == "i" => {
                Err(document.error(value.span(), format!("the number of the pass is an integer, not {}", ty.name())))
            }
            _ => read_scalar(document, value, ty).map(Argument::Scalar),
        }
    }

    fn listed_launch(&self, node: &Node) -> Result<Launch, ManifestError> {
        let document = self.document;
        let fields = document.fields(node, "a launch", &LAUNCH_KEYS)?;
        let mut args = Vec::new();
        for node in fields.list(document, "args", "an array of arguments")? {
            let argument = match node.get_ref().get("buffer") {
                Some(buffer) => {
                    document.fields(node, "a buffer argument", &["buffer"])?;
                    Argument::Buffer(self.find(buffer)?)
                }
                None => self.scalar_argument(node)?,
            };
            args.push((argument, node.span()));
        }
        self.launch(&fields, args)
    }

    /// A launch with its arguments and their places.
    fn launch(&self, fields: &Fields, args: Vec<(Argument, Range<usize>)>) -> Result<Launch, ManifestError> {
        let document = self.document;
        let kernel = document.string(fields.required(document, "kernel")?, "the name of a kernel")?.to_owned();
        let grid = self.extent(fields, "grid", MAX_GRID)?;
        let block = self.extent(fields, "block", MAX_BLOCK)?;
        let count = |extent: [u32; 3]| extent.iter().map(|&n| u128::from(n)).product::<u128>();
        if count(grid) > u32::MAX.into() {
            let span = fields.required(document, "grid")?.span();
            return Err(document.error(span, format!("a grid has at most {} blocks", u32::MAX)));
        }
        if count(block) > MAX_THREADS.into() {
            let message = format!("a block has at most {MAX_THREADS} threads, not {}", count(block));
            return Err(document.error(fields.required(document, "block")?.span(), message));
        }
        let dynamic_shared = fields.get("dynamic_shared").map_or(Ok(0), |node| {
            document.integer(node, "dynamic_shared", 0..i128::from(MAX_SHARED) + 1).map(|bytes| bytes as u32)
        })?;
        let repetition = self.repetition(fields)?;
        self.check_pass_numbers(fields, &args, repetition)?;
        let args = args.into_iter().map(|(argument, _)| argument).collect();
        Ok(Launch { kernel, grid, block, dynamic_shared, args, repetition })
    }

    /// One to three extents, the missing ones 1.
    fn extent(&self, fields: &Fields, key: &str, limits: [u32; 3]) -> Result<[u32; 3], ManifestError> {
        let node = fields.required(self.document, key)?;
        let values = self.document.array(node, "an array of one to three numbers")?;
        if values.is_empty() || values.len() > 3 {
            let message = format!("{key} has one to three numbers, not {}", values.len());
            return Err(self.document.error(node.span(), message));
        }
        let mut extent = [1; 3];
        for (i, value) in values.iter().enumerate() {
            let what = format!("{key} in {}", ["x", "y", "z"][i]);
            extent[i] = self.document.integer(value, &what, 1..i128::from(limits[i]) + 1)? as u32;
        }
        Ok(extent)
    }

    fn repetition(&self, fields: &Fields) -> Result<Repetition, ManifestError> {
        let document = self.document;
        let passes = 1..i128::from(u32::MAX) + 1;
        match (fields.get("repeat"), fields.get("while_nonzero")) {
            (Some(repeat), None) => Ok(Repetition::Times(document.integer(repeat, "repeat", passes)? as u32)),
            (None, Some(node)) => {
                let fields = document.fields(node, "`while_nonzero`", &["buffer", "reset", "max"])?;
                let buffer = self.find(fields.required(document, "buffer")?)?;
                let ty = self.buffers[buffer.0].ty;
                let zero = Scalar { ty, bits: 0 };
                let reset = fields.get("reset").map_or(Ok(zero), |node| read_scalar(document, node, ty))?;
                let max = document.integer(fields.required(document, "max")?, "max", passes)? as u32;
                Ok(Repetition::WhileNonzero { buffer, reset, max })
            }
            (None, None) => Ok(Repetition::Times(1)),
            (Some(_), Some(node)) => {
                Err(document.error(node.span(), "a launch has `repeat` or `while_nonzero`, not both"))
            }
        }
    }

    /// The number of the pass is of use only in a repetition, and must fit its type.
    fn check_pass_numbers(
        &self,
        fields: &Fields,
        args: &[(Argument, Range<usize>)],
        repetition: Repetition,
    ) -> Result<(), ManifestError> {
        let passes = match repetition {
            Repetition::Times(passes) | Repetition::WhileNonzero { max: passes, .. } => passes,
        };
        let repeats = fields.get("repeat").is_some() || fields.get("while_nonzero").is_some();
        for (argument, span) in args {
            let Argument::PassNumber(ty) = argument else { continue };
            if !repeats {
                let message = "`value = \"i\"` is the number of the pass: it needs `repeat` or `while_nonzero`";
                return Err(self.document.error(span.clone(), message));
            }
            if i128::from(passes) - 1 > ty.range().1 {
                let message = format!("the number of the last of {passes} passes does not fit {}", ty.name());
                return Err(self.document.error(span.clone(), message));
            }
        }
        Ok(())
    }

    /// `[fault]`: of the last launch, which runs once. Memory after a fault is not checked.
    fn fault(&self, fields: &Fields, node: &Node, launches: &[Launch]) -> Result<ExpectedFault, ManifestError> {
        let document = self.document;
        if launches.last().is_some_and(|launch| launch.repetition != Repetition::Times(1)) {
            let message = "the last launch ends with the fault: it has neither `repeat` nor `while_nonzero`";
            return Err(document.error(node.span(), message));
        }
        if let Some(check) = fields.get("check") {
            let message = "after a fault memory may hold anything: a manifest with `[fault]` has no `[[check]]`";
            return Err(document.error(check.span(), message));
        }
        fault::read_fault(document, node)
    }

    fn check(&self, node: &Node) -> Result<Check, ManifestError> {
        let document = self.document;
        let fields = document.fields(node, "a check", &["buffer", "expected", "rel", "abs"])?;
        let buffer = self.find(fields.required(document, "buffer")?)?;
        let expected = document.string(fields.required(document, "expected")?, "the path of a file")?;
        let tolerance = |key: &str| -> Result<Option<f64>, ManifestError> {
            let Some(node) = fields.get(key) else { return Ok(None) };
            let value = document.number(node, key)?;
            if value.is_finite() && value >= 0.0 {
                Ok(Some(value))
            } else {
                Err(document.error(node.span(), format!("{key} is finite and not negative")))
            }
        };
        Ok(Check { buffer, expected: document.resolve(expected), rel: tolerance("rel")?, abs: tolerance("abs")? })
    }
}
