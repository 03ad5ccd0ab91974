//! The registers of a design: the variables that its sources assign at a clock edge, as Verilator reads them.
//!
//! Verilator writes the elaborated design ([`elaborated`]). A register is a variable that an `always` with an edge in its sensitivity list assigns and that is not local to
//! that block. Names do not matter: a register may have any name.

use std::collections::{BTreeMap, BTreeSet};

use roxmltree::{Document, Node};

use crate::elaborated::{self, is_clocked, name};
use crate::wiring::{Wiring, wiring};
use crate::{Request, Result, Toolchain};

/// The registers of each module, by its name.
pub(crate) type Registers = BTreeMap<String, BTreeSet<String>>;

impl Toolchain {
    /// The registers of each module of a design, by the module's name: paths inside the module, through its generate blocks (`gen_port[1].valid_q`).
    /// A module that occurs with several parameters has the registers of all of them.
    ///
    /// # Errors
    /// Errors of Verilator, and XML that cannot be read.
    pub fn registers(&self, request: &Request) -> Result<Registers> {
        let text = self.elaborated(request)?;
        Ok(registers(&elaborated::parse(&text, request.declaration.block)?))
    }

    /// The registers of a design and its [wiring](Self::wiring); the design is elaborated only once for both.
    ///
    /// # Errors
    /// As [`Toolchain::registers`].
    pub fn registers_and_wiring(&self, request: &Request, knob: u16) -> Result<(Registers, Wiring)> {
        let text = self.elaborated(request)?;
        Ok((registers(&elaborated::parse(&text, request.declaration.block)?), wiring(&text, request, knob)?))
    }
}

/// The registers of each module of a document.
pub(crate) fn registers(document: &Document<'_>) -> Registers {
    let mut found = Registers::new();
    for module in document.descendants().filter(|node| node.has_tag_name("module")) {
        // `origName` is the name without the numbers that Verilator appends for parameters.
        let original = module.attribute("origName").unwrap_or(name(module));
        scope(module, "", &mut Vec::new(), found.entry(original.to_owned()).or_default());
    }
    found
}

/// Adds the registers of a module or of a generate block inside the scopes of `outer`. Each scope has its path and the variables declared in it.
fn scope<'a>(
    element: Node<'a, '_>,
    path: &str,
    outer: &mut Vec<(String, BTreeSet<&'a str>)>,
    found: &mut BTreeSet<String>,
) {
    outer.push((path.to_owned(), variables(element)));
    for child in element.children() {
        match child.tag_name().name() {
            "begin" => {
                let inner = if name(child).is_empty() { path.to_owned() } else { format!("{path}{}.", name(child)) };
                scope(child, &inner, outer, found);
            }
            "always" if is_clocked(child) => {
                let local: BTreeSet<&str> = child.descendants().flat_map(variables).collect();
                let assignments =
                    child.descendants().filter(|e| e.has_tag_name("assign") || e.has_tag_name("assigndly"));
                for target in assignments.flat_map(targets) {
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

/// The variables that are declared directly in an element.
fn variables<'a>(element: Node<'a, '_>) -> BTreeSet<&'a str> {
    element.children().filter(|node| node.has_tag_name("var")).map(name).collect()
}

/// The variables that an assignment changes. Its last child is the target: a variable, a part of one, or several together. An index, which follows the
/// indexed variable, is not changed.
fn targets<'a>(assignment: Node<'a, '_>) -> Vec<&'a str> {
    fn of<'a>(node: Node<'a, '_>, found: &mut Vec<&'a str>) {
        match node.tag_name().name() {
            "varref" | "varxref" => found.push(name(node)),
            "concat" => node.children().for_each(|part| of(part, found)),
            _ => node.first_element_child().into_iter().for_each(|part| of(part, found)),
        }
    }
    let mut found = Vec::new();
    assignment.last_element_child().into_iter().for_each(|target| of(target, &mut found));
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
        let found = registers(&elaborated::parse(text, "m").unwrap());
        let names: Vec<&str> = found["m"].iter().map(String::as_str).collect();
        assert_eq!(names, ["b", "gen_x[1].inner", "state"]);
    }
}
