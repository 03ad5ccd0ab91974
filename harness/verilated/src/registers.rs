//! The registers of a design: what its sources assign at a clock edge, as Verilator reads them.
//!
//! Verilator writes the elaborated design as XML. A register is a variable that an `always` with an edge in its sensitivity list assigns and that is not local to
//! that block. Names say nothing: a register may be called anything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use crate::toolchain::checked;
use crate::{Error, Request, Result, Toolchain};

impl Toolchain {
    /// The registers of each module of a design, by the module's name: paths inside the module, through its generate blocks (`gen_port[1].valid_q`).
    /// A module that occurs with several parameters has the registers of all of them.
    ///
    /// # Errors
    /// What Verilator refuses, and a dump that cannot be read.
    pub fn registers(&self, request: &Request) -> Result<BTreeMap<String, BTreeSet<String>>> {
        let scratch = tempfile::tempdir().map_err(|source| Error::Cache { path: std::env::temp_dir(), source })?;
        let path = scratch.path().join("design.xml");
        let mut command = Command::new(&self.verilator);
        command.args(["--xml-only", "-Wno-fatal", "-Wno-lint", "-Wno-style", "-Wno-MULTITOP", "-Wno-UNOPTFLAT"]);
        command.args(["-DSYNTHESIS", "--top-module", request.declaration.block, "--xml-output"]).arg(&path);
        command.arg("-Mdir").arg(scratch.path());
        command.args(request.declaration.parameters.iter().map(|(name, value)| format!("-G{name}={value}")));
        command.args(request.include_dirs.iter().map(|d| format!("-I{}", d.display())));
        command.args(request.defines.iter().map(|d| format!("-D{d}")));
        command.args(&request.sources);
        checked(&mut command, request.declaration.block)?;
        let text = fs::read_to_string(&path).map_err(|source| Error::Source { path, source })?;
        Ok(registers(&parse(&text)))
    }
}

/// An element of the dump.
#[derive(Default)]
struct Element<'a> {
    tag: &'a str,
    attributes: &'a str,
    children: Vec<Self>,
}

impl<'a> Element<'a> {
    fn attribute(&self, name: &str) -> Option<&'a str> {
        let mut rest = self.attributes;
        while let Some((key, after)) = rest.split_once("=\"") {
            let (value, next) = after.split_once('"')?;
            if key.trim() == name {
                return Some(value);
            }
            rest = next;
        }
        None
    }

    /// Itself and all below it.
    fn all(&self) -> impl Iterator<Item = &Self> {
        let mut open = vec![self];
        std::iter::from_fn(move || {
            let element = open.pop()?;
            open.extend(&element.children);
            Some(element)
        })
    }
}

/// The tree of a document, of which only elements and attributes are of interest.
fn parse(text: &str) -> Element<'_> {
    let mut open = vec![Element::default()];
    for part in text.split('<').skip(1) {
        let Some((tag, _)) = part.split_once('>') else { continue };
        if tag.starts_with(['?', '!']) {
            continue;
        }
        if !tag.starts_with('/') {
            let whole = tag.trim_end_matches('/');
            let (name, attributes) = whole.split_once(char::is_whitespace).unwrap_or((whole, ""));
            open.push(Element { tag: name, attributes, children: Vec::new() });
        }
        if tag.starts_with('/') || tag.ends_with('/') {
            let done = open.pop().unwrap_or_default();
            if let Some(parent) = open.last_mut() {
                parent.children.push(done);
            }
        }
    }
    open.into_iter().next().unwrap_or_default()
}

fn registers(document: &Element<'_>) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for module in document.all().filter(|e| e.tag == "module") {
        // `origName` is the name without the numbers that parameters add.
        let name = module.attribute("origName").or_else(|| module.attribute("name")).unwrap_or_default();
        scope(module, "", &mut Vec::new(), found.entry(name.to_owned()).or_default());
    }
    found
}

/// Adds the registers of a module or of a generate block, which stands inside those of `outer`: paths, and the variables declared there.
fn scope<'a>(
    element: &Element<'a>,
    path: &str,
    outer: &mut Vec<(String, BTreeSet<&'a str>)>,
    found: &mut BTreeSet<String>,
) {
    outer.push((path.to_owned(), variables(element)));
    for child in &element.children {
        match child.tag {
            "begin" => {
                let name = child.attribute("name").unwrap_or_default();
                let inner = if name.is_empty() { path.to_owned() } else { format!("{path}{name}.") };
                scope(child, &inner, outer, found);
            }
            "always" if child.all().any(|e| e.tag == "senitem" && e.attribute("edgeType").is_some_and(is_edge)) => {
                let local: BTreeSet<&str> = child.all().flat_map(variables).collect();
                for target in child.all().filter(|e| matches!(e.tag, "assign" | "assigndly")).flat_map(targets) {
                    let holder = outer.iter().rev().find(|(_, variables)| variables.contains(target));
                    // Verilator's own temporaries begin with `__V`.
                    if let Some((path, _)) = holder.filter(|_| !local.contains(target) && !target.starts_with("__V")) {
                        found.insert(format!("{path}{target}"));
                    }
                }
            }
            _ => {}
        }
    }
    outer.pop();
}

fn is_edge(kind: &str) -> bool {
    matches!(kind, "POS" | "NEG" | "BOTH")
}

/// The variables that stand directly in an element.
fn variables<'a>(element: &Element<'a>) -> BTreeSet<&'a str> {
    let variables = element.children.iter().filter(|e| e.tag == "var");
    variables.filter_map(|e| e.attribute("name")).collect()
}

/// The variables that an assignment changes: its last child is what is assigned to, a variable, a part of one or several together. An index, which comes after
/// what is indexed, changes nothing.
fn targets<'a>(assignment: &Element<'a>) -> Vec<&'a str> {
    fn of<'a>(element: &Element<'a>, found: &mut Vec<&'a str>) {
        match element.tag {
            "varref" | "varxref" => found.extend(element.attribute("name")),
            "concat" => element.children.iter().for_each(|part| of(part, found)),
            _ => element.children.iter().take(1).for_each(|part| of(part, found)),
        }
    }
    let mut found = Vec::new();
    assignment.children.iter().rev().take(1).for_each(|target| of(target, &mut found));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_clock_edge_assigns_is_a_register_whatever_its_name() {
        let text = r#"<?xml version="1.0" ?><verilator_xml><netlist>
            <module name="m__pi1" origName="m"><var name="clk_i" dir="input"/><var name="state"/><var name="next"/><var name="a"/><var name="b"/>
              <always><sentree><senitem edgeType="POS"><varref name="clk_i"/></senitem></sentree>
                <begin name="row"><var name="local"/>
                  <assign><varref name="next"/><varref name="local"/></assign>
                  <assigndly><varref name="next"/><arraysel><varref name="state"/><varref name="a"/></arraysel></assigndly>
                </begin></always>
              <always><assign><varref name="state"/><varref name="next"/></assign></always>
              <begin name="gen_x[1]"><var name="inner"/>
                <always><sentree><senitem edgeType="NEG"/></sentree>
                  <assigndly><const name="1"/><concat><varref name="inner"/><sel><varref name="b"/></sel></concat></assigndly></always>
              </begin>
            </module></netlist></verilator_xml>"#;
        let found = registers(&parse(text));
        let names: Vec<&str> = found["m"].iter().map(String::as_str).collect();
        assert_eq!(names, ["b", "gen_x[1].inner", "state"]);
    }
}
