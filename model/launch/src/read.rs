//! Reads the text of a manifest into a [`Manifest`].

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toml::de::{DeTable, DeValue};

use crate::data::{Data, read_buffer, read_init_with_addresses, read_scalar};
use crate::document::{Document, Fields, Node};
use crate::values::{Budget, Passes, Values};
use crate::{
    Address, Argument, Buffer, BufferId, Check, ExpectedFault, Expression, Launch, Loop, Manifest, ManifestError,
    Repetition, Scalar, Source, Symbol, Type, assembly, fault,
};

/// The largest text in bytes: far more than any that is written by hand.
const MAX_FILE: u64 = 64 << 20;

/// The most bytes of all buffers together: they are placed below 4 GiB, with a margin.
const MAX_BUFFER_BYTES: u64 = 2 << 30;

/// CUDA's limits of a grid, and of a block, in x, y, z (compute capability 7.5).
const MAX_GRID: [u32; 3] = [i32::MAX as u32, 65535, 65535];
const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
const MAX_THREADS: u32 = 1024;

/// The largest shared memory of a block (compute capability 7.5).
const MAX_SHARED: u32 = 64 << 10;

/// Bytes of the buffer of `printf`: room for a few records at least.
pub const PRINTF_SIZES: RangeInclusive<u32> = 256..=1 << 30;

const LAUNCH_KEYS: [&str; 7] = ["kernel", "grid", "block", "dynamic_shared", "args", "repeat", "while_nonzero"];

/// The bytes of a text file that a user names. Their number is limited, since the file may be a device without an end.
///
/// # Errors
/// When it cannot be read, or has more than 64 MiB.
pub fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_FILE {
        let message = format!("a text has at most {MAX_FILE} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// A text that a user names, as [`read_bounded`].
///
/// # Errors
/// When it cannot be read, has more than 64 MiB, or is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_bounded(path)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is no UTF-8 text"))
}

impl Manifest {
    /// Reads and checks the manifest at `path`.
    ///
    /// # Errors
    /// The first error in it, with file, line and column where there is one.
    pub fn load(path: &Path) -> Result<Self, ManifestError> {
        let what = match path.extension().and_then(|extension| extension.to_str()) {
            Some("ptx") => Some("PTX"),
            Some("cu") => Some("CUDA source"),
            _ => None,
        };
        if let Some(what) = what {
            return Err(ManifestError::Kernel { path: path.to_owned(), what });
        }
        let unreadable = |source| ManifestError::Unreadable { path: path.to_owned(), source };
        let bytes = read_bounded(path).map_err(unreadable)?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let text = String::from_utf8_lossy(valid);
            let text = Arc::from(text);
            Document { path, text: &text }.error(text.len()..text.len(), "a manifest is UTF-8 text")
        })?;
        Self::parse(path, &text)
    }

    /// Reads and checks a manifest from its text. `path` is where the file would be: other files are looked up relative to it, and messages name it.
    ///
    /// # Errors
    /// As [`Manifest::load`].
    pub fn parse(path: &Path, text: &str) -> Result<Self, ManifestError> {
        let shared = Arc::from(text);
        let document = Document { path, text: &shared };
        let root = document.root()?;
        Reader { document, buffers: Vec::new(), names: HashSet::new(), bytes: 0, budget: Budget::default() }
            .manifest(root.get_ref())
    }
}

struct Reader<'a> {
    document: Document<'a>,
    buffers: Vec<Buffer>,
    /// The names of the buffers.
    names: HashSet<String>,
    /// Size of all buffers so far.
    bytes: u64,
    budget: Budget,
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
                "buffer",
                "symbol",
                "check",
                "fault",
                "replay",
                "printf_buffer",
            ]
        } else {
            &["source", "assembly", "buffer", "launch", "symbol", "check", "fault", "replay", "printf_buffer"]
        };
        let what = if short { "a manifest of one kernel" } else { "a manifest with `[[launch]]`" };
        let fields = Fields::new(document, root, 0..0, what, keys)?;
        let source = self.source(&fields)?;

        let mut declared = Vec::new();
        for node in fields.list(document, "buffer", "`[[buffer]]` tables")? {
            declared.push((self.declare(node)?, node));
        }
        let args = fields.list(document, "arg", "`[[arg]]` tables")?;
        let mut own = Vec::new();
        for node in args {
            let buffer = self.declared_argument(node);
            let id = buffer.map(|buffer| self.declare(buffer)).transpose()?;
            own.push(id);
            declared.extend(id.zip(buffer));
        }
        for (id, node) in declared {
            let Buffer { ty, len, .. } = self.buffers[id.0];
            let init = read_init_with_addresses(&Values::new(document, &self.buffers, &self.budget), node, ty, len)?;
            if let Some(init) = init {
                self.buffers[id.0].init = init;
            }
        }

        let reader = Launches { values: Values::new(document, &self.buffers, &self.budget) };
        let (mut launches, mut loops) = (Vec::new(), Vec::new());
        if short {
            let (repetition, passes) = reader.repetition(&fields)?;
            let read = |(node, own): (&Node, &Option<BufferId>)| reader.short_argument(node, *own, passes);
            let read = args.iter().zip(&own).map(read).collect::<Result<_, _>>()?;
            launches.push(reader.launch(&fields, read, args, passes)?);
            loops.push(Loop { launches: 0..1, repetition });
        } else {
            let nodes = fields.list(document, "launch", "`[[launch]]` tables")?;
            if nodes.is_empty() {
                return Err(document.error(0..0, "a manifest has at least one launch"));
            }
            for node in nodes {
                loops.push(reader.listed(node, &mut launches)?);
            }
        }

        let (mut symbols, mut symbol_names) = (Vec::new(), HashSet::new());
        for node in fields.list(document, "symbol", "`[[symbol]]` tables")? {
            let Data { name, ty, len, mut init, .. } = read_buffer(document, node, "a symbol", false)?;
            self.account(node, len, ty)?;
            if let Some(found) =
                read_init_with_addresses(&Values::new(document, &self.buffers, &self.budget), node, ty, len)?
            {
                init = found;
            }
            if !symbol_names.insert(name.clone()) {
                return Err(document.error(node.span(), format!("symbol `{name}` is defined twice")));
            }
            let origin = document.origin(node.span());
            symbols.push(Symbol { name, ty, len, init, origin });
        }
        let checks = fields.list(document, "check", "`[[check]]` tables")?;
        let checks = checks.iter().map(|node| self.check(node)).collect::<Result<_, _>>()?;
        let fault = fields.get("fault").map(|node| self.fault(&fields, node, &loops)).transpose()?;
        let replay = fields.get("replay").map(|node| assembly::read_replay(document, node)).transpose()?;
        let printf_buffer = fields
            .get("printf_buffer")
            .map(|node| {
                let (least, most) = (i128::from(*PRINTF_SIZES.start()), i128::from(*PRINTF_SIZES.end()));
                document.integer(node, "`printf_buffer`", least..most + 1)
            })
            .transpose()?
            .map(|bytes| bytes as u32);
        let path = document.path.to_owned();
        Ok(Manifest {
            path,
            source,
            buffers: self.buffers,
            symbols,
            launches,
            loops,
            checks,
            fault,
            replay,
            printf_buffer,
        })
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
        let Data { name, ty, len, init, output, address, symbol } = read_buffer(self.document, node, "a buffer", true)?;
        self.account(node, len, ty)?;
        if !self.names.insert(name.clone()) {
            return Err(self.document.error(node.span(), format!("buffer `{name}` is defined twice")));
        }
        let origin = self.document.origin(node.span());
        self.buffers.push(Buffer { name, ty, len, init, output, address, symbol, origin });
        Ok(BufferId(self.buffers.len() - 1))
    }

    /// The buffer that an `[[arg]]` of a manifest of one kernel declares: one with keys other than `name` and `offset`.
    fn declared_argument<'n, 'd>(&self, node: &'n Node<'d>) -> Option<&'n Node<'d>> {
        let buffer = node.get_ref().get("buffer")?;
        let table = buffer.get_ref().as_table()?;
        let names_only =
            table.contains_key("name") && table.keys().all(|key| ["name", "offset"].contains(&key.get_ref().as_ref()));
        (!names_only).then_some(buffer)
    }
}

/// Reads launches once all buffers are known.
struct Launches<'a> {
    values: Values<'a>,
}

impl Launches<'_> {
    /// An `[[arg]]` of a manifest of one kernel; `declared` is the buffer that it declares.
    fn short_argument(
        &self,
        node: &Node,
        declared: Option<BufferId>,
        passes: Passes,
    ) -> Result<Argument, ManifestError> {
        let document = self.values.document;
        let has = |key: &str| node.get_ref().get(key).is_some();
        if let Some(buffer) = declared {
            document.fields(node, "an argument", &["buffer"])?;
            return Ok(Argument::Address(Address { buffer, offset: 0 }));
        }
        if has("scalar") {
            let fields = document.fields(node, "an argument", &["scalar"])?;
            return self.values.scalar(fields.required(document, "scalar")?, passes);
        }
        match node.get_ref().get("buffer") {
            Some(buffer) if buffer.get_ref().is_table() => {
                document.fields(node, "an argument", &["buffer"])?;
                let fields = document.fields(buffer, "a buffer", &["name", "offset"])?;
                let id = self.values.buffer(fields.required(document, "name")?)?;
                self.values.address(id, fields.get("offset"), passes)
            }
            _ if ["buffer", "buffers", "struct"].iter().any(|key| has(key)) => self.values.argument(node, passes),
            _ => {
                let message = "an argument is a `scalar`, a `buffer`, `buffers` in turn or a `struct`";
                Err(document.error(node.span(), message))
            }
        }
    }

    /// One launch, or several that repeat together.
    fn listed(&self, node: &Node, launches: &mut Vec<Launch>) -> Result<Loop, ManifestError> {
        let document = self.values.document;
        let first = launches.len();
        if node.get_ref().get("step").is_none() {
            let fields = document.fields(node, "a launch", &LAUNCH_KEYS)?;
            let (repetition, passes) = self.repetition(&fields)?;
            launches.push(self.with_args(&fields, passes)?);
            return Ok(Loop { launches: first..first + 1, repetition });
        }
        let fields = document.fields(node, "a loop of launches", &["step", "repeat", "while_nonzero"])?;
        let (repetition, passes) = self.repetition(&fields)?;
        if passes == Passes::Once {
            return Err(document.error(node.span(), "a loop of launches needs `repeat` or `while_nonzero`"));
        }
        let steps = fields.list(document, "step", "`[[launch.step]]` tables")?;
        if steps.is_empty() {
            return Err(document.error(node.span(), "a loop of launches has at least one `[[launch.step]]`"));
        }
        for step in steps {
            let fields = document.fields(step, "a step of a loop", &LAUNCH_KEYS[..5])?;
            launches.push(self.with_args(&fields, passes)?);
        }
        Ok(Loop { launches: first..launches.len(), repetition })
    }

    fn with_args(&self, fields: &Fields, passes: Passes) -> Result<Launch, ManifestError> {
        let nodes = fields.list(self.values.document, "args", "an array of arguments")?;
        let args = nodes.iter().map(|node| self.values.argument(node, passes)).collect::<Result<_, _>>()?;
        self.launch(fields, args, nodes, passes)
    }

    /// A launch with these arguments, whose places are those of `nodes`.
    fn launch(
        &self,
        fields: &Fields,
        args: Vec<Argument>,
        nodes: &[Node],
        passes: Passes,
    ) -> Result<Launch, ManifestError> {
        let document = self.values.document;
        let name = fields.required(document, "kernel")?;
        let kernel = document.string(name, "the name of a kernel")?.to_owned();
        let origin = document.origin(name.span());
        let arg_origins = nodes.iter().map(|node| document.origin(node.span())).collect();
        let (grid, computed_grid) = self.extent(fields, "grid", MAX_GRID, passes)?;
        let (block, computed_block) = self.extent(fields, "block", MAX_BLOCK, Passes::Once)?;
        debug_assert!(computed_block.iter().all(Option::is_none));
        let count = |extent: [u32; 3]| extent.iter().map(|&n| u128::from(n)).product::<u128>();
        if count(block) > MAX_THREADS.into() {
            let message = format!("a block has at most {MAX_THREADS} threads, not {}", count(block));
            return Err(document.error(fields.required(document, "block")?.span(), message));
        }
        let dynamic_shared = fields.get("dynamic_shared").map_or(Ok(0), |node| {
            document.integer(node, "dynamic_shared", 0..i128::from(MAX_SHARED) + 1).map(|bytes| bytes as u32)
        })?;
        let launch = Launch { kernel, grid, computed_grid, block, dynamic_shared, args, origin, arg_origins };
        let passes = match passes {
            Passes::Many(passes) if launch.computed_grid.iter().any(Option::is_some) => passes,
            _ => 1,
        };
        if (0..passes).any(|pass| count(launch.grid_in(pass)) > u32::MAX.into()) {
            let span = fields.required(document, "grid")?.span();
            return Err(document.error(span, format!("a grid has at most {} blocks", u32::MAX)));
        }
        Ok(launch)
    }

    /// One to three extents, where missing ones are 1, and the expressions of those that are computed from the pass number; the extents are those of
    /// the first pass.
    fn extent(
        &self,
        fields: &Fields,
        key: &str,
        limits: [u32; 3],
        passes: Passes,
    ) -> Result<([u32; 3], [Option<Expression>; 3]), ManifestError> {
        let document = self.values.document;
        let node = fields.required(document, key)?;
        let values = document.array(node, "an array of one to three numbers")?;
        if values.is_empty() || values.len() > 3 {
            let message = format!("{key} has one to three numbers, not {}", values.len());
            return Err(document.error(node.span(), message));
        }
        let (mut extent, mut computed) = ([1; 3], [None, None, None]);
        for (i, value) in values.iter().enumerate() {
            let what = format!("{key} in {}", ["x", "y", "z"][i]);
            let range = 1..i128::from(limits[i]) + 1;
            match value.get_ref() {
                DeValue::String(text) if key == "grid" => {
                    let expression = self.values.expression(value, text, passes, &what, range)?;
                    extent[i] = expression.value(0).unwrap_or(1) as u32;
                    computed[i] = Some(expression);
                }
                _ => extent[i] = document.integer(value, &what, range)? as u32,
            }
        }
        Ok((extent, computed))
    }

    /// How often launches run, and the largest number of passes.
    fn repetition(&self, fields: &Fields) -> Result<(Repetition, Passes), ManifestError> {
        let document = self.values.document;
        let repetition = self.repeat_or_while(fields)?;
        let repeats = fields.get("repeat").is_some() || fields.get("while_nonzero").is_some();
        let passes = match repetition {
            Repetition::Times(passes) | Repetition::WhileNonzero { max: passes, .. } => passes,
        };
        debug_assert!(repeats || passes == 1, "{}", document.path.display());
        Ok((repetition, if repeats { Passes::Many(passes) } else { Passes::Once }))
    }

    fn repeat_or_while(&self, fields: &Fields) -> Result<Repetition, ManifestError> {
        let document = self.values.document;
        let passes = 1..i128::from(u32::MAX) + 1;
        match (fields.get("repeat"), fields.get("while_nonzero")) {
            (Some(repeat), None) => Ok(Repetition::Times(document.integer(repeat, "repeat", passes)? as u32)),
            (None, Some(node)) => {
                let fields = document.fields(node, "`while_nonzero`", &["buffer", "reset", "max"])?;
                let buffer = self.values.buffer(fields.required(document, "buffer")?)?;
                let ty = self.values.buffers[buffer.0].ty;
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
}

impl Reader<'_> {
    /// Reads `[fault]`, the fault of the last launch, which runs once. Memory after a fault is not checked.
    fn fault(&self, fields: &Fields, node: &Node, loops: &[Loop]) -> Result<ExpectedFault, ManifestError> {
        let document = self.document;
        if loops.last().is_some_and(|last| last.repetition != Repetition::Times(1)) {
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
        let buffer = Values::new(document, &self.buffers, &self.budget).buffer(fields.required(document, "buffer")?)?;
        let file = fields.required(document, "expected")?;
        let (expected, origin) = (document.string(file, "the path of a file")?, document.origin(file.span()));
        let tolerance = |key: &str| -> Result<Option<f64>, ManifestError> {
            let Some(node) = fields.get(key) else { return Ok(None) };
            let value = document.number(node, key)?;
            if value.is_finite() && value >= 0.0 {
                Ok(Some(value))
            } else {
                Err(document.error(node.span(), format!("{key} is finite and not negative")))
            }
        };
        let (rel, abs) = (tolerance("rel")?, tolerance("abs")?);
        Ok(Check { buffer, expected: document.resolve(expected), origin, rel, abs })
    }
}
