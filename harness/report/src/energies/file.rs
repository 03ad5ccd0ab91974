//! The file of energies that `--energy` names.

use std::path::Path;
use std::sync::Arc;

use gpurf_energy::Energies;
use gpurf_launch::document::{Document, Fields, Node};
use gpurf_launch::{ManifestError, read_text};

use super::machine::known_events;

/// The project's own energies, written by `make energy`.
const RTL: &str = include_str!("rtl.toml");

/// The key for the energy of a cycle, beside the names of events.
const CYCLE: &str = "cycle";

/// A key of the file, and the field of the papers' energies that it replaces.
type Number = (&'static str, fn(&mut Energies) -> &mut f64);

/// Each level, and its keys.
const LEVELS: [(&str, &[Number]); 3] = [
    (
        "mrf",
        &[
            ("read", |energies| &mut energies.mrf.read),
            ("write", |energies| &mut energies.mrf.write),
            ("private_mm", |energies| &mut energies.mrf_distance.private),
            ("shared_mm", |energies| &mut energies.mrf_distance.shared),
        ],
    ),
    (
        "upper",
        &[
            ("read", |energies| &mut energies.upper.read),
            ("write", |energies| &mut energies.upper.write),
            ("private_mm", |energies| &mut energies.upper_distance.private),
            ("shared_mm", |energies| &mut energies.upper_distance.shared),
        ],
    ),
    (
        "lrf",
        &[
            ("read", |energies| &mut energies.lrf.read),
            ("write", |energies| &mut energies.lrf.write),
            ("private_mm", |energies| &mut energies.lrf_distance),
        ],
    ),
];

/// A number of the papers that the file replaces.
#[derive(Clone, Copy, Debug)]
struct Replaced {
    of: fn(&mut Energies) -> &mut f64,
    value: f64,
}

/// Energies of the events of a block.
#[derive(Clone, PartialEq, Debug)]
pub struct BlockEnergies {
    /// Name of the block's module.
    pub block: &'static str,
    /// Energy in pJ of each event of the machine, and of a cycle.
    pub events: Vec<(&'static str, f64)>,
}

/// Energies in pJ: the papers', where the file does not replace them, and those of blocks.
#[derive(Clone, Debug)]
pub struct EnergyFile {
    /// The name of the energies on the command line.
    pub name: String,
    /// How the energies were obtained, in the file's words.
    pub note: Option<String>,
    /// Energies of blocks.
    pub blocks: Vec<BlockEnergies>,
    replaced: Vec<Replaced>,
}

impl EnergyFile {
    /// The papers' energies alone.
    pub fn paper() -> Self {
        Self { name: "paper".to_owned(), note: None, blocks: Vec::new(), replaced: Vec::new() }
    }

    /// Loads `paper`, `rtl`, or a file.
    ///
    /// # Errors
    /// If the file cannot be read, or has a mistake: the message has the place, and what is expected there.
    pub fn load(name: &str) -> Result<Self, ManifestError> {
        match name {
            "paper" => Ok(Self::paper()),
            "rtl" => Ok(Self { name: name.to_owned(), ..Self::parse(Path::new("rtl"), RTL)? }),
            _ => {
                let path = Path::new(name);
                let text =
                    read_text(path).map_err(|source| ManifestError::Unreadable { path: path.to_owned(), source })?;
                Self::parse(path, &text)
            }
        }
    }

    /// Parses the text of a file; messages name `path`.
    ///
    /// # Errors
    /// As [`EnergyFile::load`].
    pub fn parse(path: &Path, text: &str) -> Result<Self, ManifestError> {
        let text = Arc::from(text);
        let document = Document { path, text: &text };
        let root = document.root()?;
        let fields =
            Fields::new(document, root.get_ref(), 0..0, "a file of energies", &["unit", "note", "levels", "blocks"])?;
        let unit = fields.required(document, "unit")?;
        if document.string(unit, "the unit \"pJ\"")? != "pJ" {
            let found = unit.get_ref().as_str().unwrap_or_default();
            return Err(document.error(unit.span(), format!("expected the unit \"pJ\", found \"{found}\"")));
        }
        let note = fields.get("note").map(|node| document.string(node, "a note in words")).transpose()?;
        Ok(Self {
            name: path.display().to_string(),
            note: note.map(str::to_owned),
            replaced: fields.get("levels").map_or(Ok(Vec::new()), |node| levels(document, node))?,
            blocks: fields.get("blocks").map_or(Ok(Vec::new()), |node| blocks(document, node))?,
        })
    }

    /// Replaces the papers' numbers by those of the file.
    pub fn replace_in(&self, energies: &mut Energies) {
        self.replaced.iter().for_each(|replaced| *(replaced.of)(energies) = replaced.value);
    }

    /// Energies of a block, if the file has any.
    pub fn of_block(&self, module: &str) -> Option<&BlockEnergies> {
        self.blocks.iter().find(|block| block.block == module)
    }
}

/// Parses the section `levels`: the numbers to replace.
fn levels(document: Document, node: &Node) -> Result<Vec<Replaced>, ManifestError> {
    let fields = document.fields(node, "`levels`", &["mrf", "upper", "lrf", "wire"])?;
    let mut replaced = Vec::new();
    if let Some(node) = fields.get("wire") {
        replaced.push(Replaced { of: |energies| &mut energies.wire, value: number(document, node, "pJ")? });
    }
    for (level, numbers) in LEVELS {
        let Some(node) = fields.get(level) else { continue };
        let names: Vec<&str> = numbers.iter().map(|(name, _)| *name).collect();
        let of_level = document.fields(node, "a level", &names)?;
        for &(name, of) in numbers {
            let Some(node) = of_level.get(name) else { continue };
            let unit = if name.ends_with("_mm") { "mm" } else { "pJ" };
            replaced.push(Replaced { of, value: number(document, node, unit)? });
        }
    }
    Ok(replaced)
}

/// Parses the section `blocks`: energies of blocks.
fn blocks(document: Document, node: &Node) -> Result<Vec<BlockEnergies>, ManifestError> {
    let mut blocks = Vec::new();
    for (name, node) in document.table(node, "a table of blocks")? {
        let Some(entry) = gpurf_sm::find(name.get_ref()) else {
            let names: Vec<&str> = gpurf_sm::all().map(|entry| entry.name).collect();
            let message = format!("there is no block `{}`; there are: {}", name.get_ref(), names.join(", "));
            return Err(document.error(name.span(), message));
        };
        let mut events = Vec::new();
        for (name, node) in document.table(node, "a table of events")? {
            let event = std::iter::once(&CYCLE).chain(known_events()).find(|event| **event == name.get_ref().as_ref());
            let Some(&event) = event else {
                let message = format!(
                    "no machine counts an event `{}`; expected `{CYCLE}`, or one of `events` of gpurf run --json: {}",
                    name.get_ref(),
                    nearest(name.get_ref())
                );
                return Err(document.error(name.span(), message));
            };
            events.push((event, number(document, node, "pJ")?));
        }
        blocks.push(BlockEnergies { block: entry.name, events });
    }
    Ok(blocks)
}

/// A few events whose names share a word with `name`: a list of all events would fill a page.
fn nearest(name: &str) -> String {
    const MOST: usize = 8;
    let has_word = |event: &&&str| name.split('_').any(|word| word.len() > 2 && event.contains(word));
    let near: Vec<&str> = known_events().iter().filter(has_word).take(MOST).copied().collect();
    let some = if near.is_empty() { known_events().iter().take(MOST).copied().collect() } else { near };
    format!("{}, ...", some.join(", "))
}

/// Parses a finite number that is at least 0.
fn number(document: Document, node: &Node, unit: &str) -> Result<f64, ManifestError> {
    let what = format!("a number of {unit}");
    let value = document.number(node, &what)?;
    if value.is_finite() && value >= 0.0 {
        return Ok(value);
    }
    Err(document.error(node.span(), format!("expected {what}, 0 or more, found {value}")))
}
