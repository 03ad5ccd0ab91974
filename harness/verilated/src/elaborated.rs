//! The elaborated design from Verilator, with generate blocks and parameters resolved, not flattened.
//!
//! Verilator writes it as XML, newer versions as JSON ([`json`]), which is rewritten as XML.

pub(crate) mod json;

use roxmltree::{Document, Node};

use crate::compile::add_sources;
use crate::toolchain::checked_tool;
use crate::{Error, Request, Result, Toolchain};

/// The first version of Verilator that writes JSON and no XML.
const JSON_ALONE: (u32, u32) = (5, 44);

impl Toolchain {
    /// The text of the XML, without assertions.
    pub(crate) fn elaborated(&self, request: &Request) -> Result<String> {
        let scratch = tempfile::tempdir().map_err(|source| Error::Cache { path: std::env::temp_dir(), source })?;
        let path = scratch.path().join("design");
        let mut command = self.verilator();
        let is_json = self.verilator_version >= JSON_ALONE;
        let [format, output] =
            if is_json { ["--json-only", "--json-only-output"] } else { ["--xml-only", "--xml-output"] };
        command.args([format, "-Wno-fatal", "-Wno-lint", "-Wno-style", "-Wno-MULTITOP", "-Wno-UNOPTFLAT"]);
        command.args(["-DSYNTHESIS", "--top-module", request.declaration.block, output]).arg(&path);
        command.arg("-Mdir").arg(scratch.path());
        command.args(request.declaration.parameters.iter().map(|(name, value)| format!("-G{name}={value}")));
        command.args(request.defines.iter().map(|d| format!("-D{d}")));
        add_sources(&mut command, request, scratch.path());
        checked_tool(&mut command, &self.verilator, request.declaration.block)?;
        let text = std::fs::read_to_string(&path).map_err(|source| Error::Source { path, source })?;
        if is_json {
            return json::to_xml(&text).map_err(|error| unreadable(request.declaration.block, &error.to_string()));
        }
        Ok(text)
    }
}

/// Parses the XML of the design with top module `top`.
pub(crate) fn parse<'a>(text: &'a str, top: &str) -> Result<Document<'a>> {
    Document::parse(text).map_err(|error| unreadable(top, &error.to_string()))
}

/// The error for a design that cannot be read.
pub(crate) fn unreadable(top: &str, why: &str) -> Error {
    let tool = "the reader of Verilator's elaborated design".to_owned();
    Error::Build { tool, what: top.to_owned(), message: why.to_owned() }
}

/// The attribute `name`; empty if it is absent.
pub(crate) fn name<'a>(node: Node<'a, '_>) -> &'a str {
    node.attribute("name").unwrap_or_default()
}

/// Whether an `always` has an edge in its sensitivity list.
pub(crate) fn is_clocked(always: Node<'_, '_>) -> bool {
    let edge = |item: Node<'_, '_>| matches!(item.attribute("edgeType"), Some("POS" | "NEG" | "BOTH"));
    always.descendants().any(|node| node.has_tag_name("senitem") && edge(node))
}
