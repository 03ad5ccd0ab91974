//! Kernels in the machine's own instructions, and the machine of a replay.

use crate::document::{Document, Node};
use crate::{Assembly, ManifestError, Replay};

/// Most general registers of a thread.
const MAX_REGISTERS: i128 = 255;
/// The largest shared memory of a block, and local memory of a thread.
const MAX_SHARED: i128 = 64 << 10;
const MAX_LOCAL: i128 = 4 * 65_535;

/// Reads `[assembly]`.
pub(crate) fn read_assembly(document: Document, node: &Node) -> Result<Assembly, ManifestError> {
    let fields = document.fields(node, "`[assembly]`", &["name", "registers", "shared", "local", "code"])?;
    let number = |key: &str, from: i128, to: i128| {
        fields.get(key).map_or(Ok(0), |node| document.integer(node, key, from..to + 1).map(|n| n as u32))
    };
    fields.required(document, "registers")?;
    let code = fields.required(document, "code")?;
    Ok(Assembly {
        name: document.string(fields.required(document, "name")?, "the name of a kernel")?.to_owned(),
        code: document.string(code, "instructions")?.to_owned(),
        line: document.first_line(code),
        registers: number("registers", 1, MAX_REGISTERS)? as u16,
        shared: number("shared", 0, MAX_SHARED)?,
        local: number("local", 0, MAX_LOCAL)?,
    })
}

/// Reads `[replay]`.
pub(crate) fn read_replay(document: Document, node: &Node) -> Result<Replay, ManifestError> {
    let fields = document.fields(node, "`[replay]`", &["seed", "settings", "rtl"])?;
    let words = |key: &str, what: &str| {
        let nodes = fields.list(document, key, "an array of texts")?;
        nodes.iter().map(|node| document.string(node, what).map(str::to_owned)).collect::<Result<Vec<_>, _>>()
    };
    let seed = fields.required(document, "seed")?;
    Ok(Replay {
        seed: document.integer(seed, "seed", 0..i128::from(u64::MAX) + 1)? as u64,
        settings: words("settings", "a setting such as \"mrf.banks=8\"")?,
        rtl: words("rtl", "a replacement such as \"mrf_arbiter=my_arbiter.sv\"")?,
    })
}
