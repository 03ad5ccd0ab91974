//! Reads Verilator's XML into [`Wiring`].
//!
//! If statements may leave a loop or a function early, everything that any of them assigns depends on the conditions of all of them. A call depends
//! on its arguments and on all else that the function reads.

use std::collections::{BTreeMap, HashMap};

use roxmltree::{Document, Node};

use super::{Connection, Instance, Net, Part, Range, Reference, Variable, Wiring};
use crate::elaborated::{self, is_clocked, name};
use crate::{Request, Result, Toolchain};

impl Toolchain {
    /// Reads the wiring of a design. `knob`: the value of the knobs ([`Options::knobs`](crate::Options::knobs)); of a choice by a knob only the selected side counts.
    ///
    /// # Errors
    /// Errors of Verilator, and XML that cannot be read.
    pub fn wiring(&self, request: &Request, knob: u16) -> Result<Wiring> {
        wiring(&self.elaborated(request)?, request, knob)
    }
}

/// Reads the wiring from the text of an elaborated design.
pub(crate) fn wiring(text: &str, request: &Request, knob: u16) -> Result<Wiring> {
    let document = elaborated::parse(text, request.declaration.block)?;
    let wiring = read(&document, request.options.knobs.iter().map(String::as_str).collect(), knob);
    wiring.ok_or_else(|| elaborated::unreadable(request.declaration.block, "it has no top module"))
}

/// Reads a document. `knobs`: names of the variables that have the value `knob`. `None`: there is no top module.
fn read(document: &Document<'_>, knobs: Vec<&str>, knob: u16) -> Option<Wiring> {
    let modules = document.descendants().filter(|node| node.has_tag_name("module"));
    let modules: HashMap<&str, Node<'_, '_>> = modules.map(|m| (name(m), m)).collect();
    let mut reader = Reader { modules, knobs, knob: u32::from(knob), wiring: Wiring::default() };
    let top = *reader.modules.values().find(|module| module.attribute("topModule").is_some())?;
    reader.module(top, String::new(), None);
    let mut places: BTreeMap<(Option<usize>, String), Vec<usize>> = BTreeMap::new();
    for (index, instance) in reader.wiring.instances.iter().enumerate() {
        places.entry((instance.parent, instance.module.clone())).or_default().push(index);
    }
    for alike in places.into_values().filter(|alike| alike.len() > 1) {
        for (place, index) in alike.into_iter().enumerate() {
            reader.wiring.instances[index].place = Some(place);
        }
    }
    Some(reader.wiring)
}

fn parts<'a, 'i>(node: Node<'a, 'i>) -> Vec<Node<'a, 'i>> {
    node.children().filter(Node::is_element).collect()
}

/// The value of a constant such as `5'h1f`, or `32'sh2` if it is signed.
fn constant(node: Node<'_, '_>) -> Option<u32> {
    let (_, digits) = name(node).split_once('\'').filter(|_| node.has_tag_name("const"))?;
    u32::from_str_radix(digits.trim_start_matches('s').strip_prefix('h')?, 16).ok()
}

/// The visible names: those of the module, of each enclosing generate block, and of each block of statements.
type Scopes<'a> = Vec<HashMap<&'a str, usize>>;

fn find(scopes: &Scopes<'_>, name: &str) -> Option<usize> {
    scopes.iter().rev().find_map(|scope| scope.get(name).copied())
}

struct Reader<'a, 'i> {
    modules: HashMap<&'a str, Node<'a, 'i>>,
    knobs: Vec<&'a str>,
    knob: u32,
    wiring: Wiring,
}

/// The position of an element in the design.
struct Place<'a, 'i> {
    module: Node<'a, 'i>,
    instance: usize,
    /// Path through instances and generate blocks, with a dot after each.
    path: String,
    scopes: Scopes<'a>,
}

impl<'a, 'i> Reader<'a, 'i> {
    /// Adds an instance and everything inside it. Returns the names of its variables.
    fn module(&mut self, module: Node<'a, 'i>, path: String, parent: Option<usize>) -> HashMap<&'a str, usize> {
        let original = module.attribute("origName").unwrap_or(name(module)).to_owned();
        let instance = self.wiring.instances.len();
        self.wiring.instances.push(Instance { module: original, parent, place: None, path: path.clone() });
        let mut place = Place { module, instance, path, scopes: Vec::new() };
        self.scope(module, &mut place);
        place.scopes.swap_remove(0)
    }

    /// Adds the contents of a module or of a generate block. The names of a module remain visible.
    fn scope(&mut self, element: Node<'a, 'i>, place: &mut Place<'a, 'i>) {
        self.declare(element, place);
        let declared = place.scopes.last().into_iter().flatten();
        self.wiring.by_path.extend(declared.map(|(name, &variable)| (format!("{}{name}", place.path), variable)));
        for child in parts(element) {
            match child.tag_name().name() {
                "begin" => {
                    let before = place.path.len();
                    if !name(child).is_empty() {
                        place.path.push_str(&format!("{}.", name(child)));
                    }
                    self.scope(child, place);
                    place.scopes.pop();
                    place.path.truncate(before);
                }
                "contassign" => self.assign(child, place, &[], false),
                "always" => self.statements(child, place, &mut Vec::new(), is_clocked(child)),
                "instance" => self.instance(child, place),
                _ => {}
            }
        }
    }

    /// Declares the variables directly in an element as the innermost names.
    fn declare(&mut self, element: Node<'a, 'i>, place: &mut Place<'a, 'i>) {
        let mut names = HashMap::new();
        for variable in element.children().filter(|node| node.has_tag_name("var")) {
            names.insert(name(variable), self.wiring.variables.len());
            self.wiring.variables.push(Variable { instance: place.instance, connections: Vec::new() });
        }
        place.scopes.push(names);
    }

    fn instance(&mut self, element: Node<'a, 'i>, place: &Place<'a, 'i>) {
        let Some(&module) = element.attribute("defName").and_then(|module| self.modules.get(module)) else { return };
        let inside = self.module(module, format!("{}{}.", place.path, name(element)), Some(place.instance));
        for port in element.children().filter(|node| node.has_tag_name("port")) {
            let (Some(&variable), Some(outside)) = (inside.get(name(port)), port.first_element_child()) else {
                continue;
            };
            let inner = Reference { net: Net { variable, part: Part::default() }, is_element: false, is_exact: true };
            if port.attribute("direction") == Some("in") {
                let sources = self.reads(outside, place);
                let copied = self.reference(outside, place).filter(|source| source.is_exact);
                self.connect(Connection { target: inner, sources, copied, is_clocked: false });
            } else {
                for target in self.targets(outside, place) {
                    let copied = target.is_exact.then_some(inner);
                    self.connect(Connection { target, sources: vec![inner.net], copied, is_clocked: false });
                }
            }
        }
    }

    fn connect(&mut self, connection: Connection) {
        self.wiring.variables[connection.target.net.variable].connections.push(connection);
    }

    /// Adds statements; `conditions` are the nets that decide whether they are executed.
    fn statements(
        &mut self,
        element: Node<'a, 'i>,
        place: &mut Place<'a, 'i>,
        conditions: &mut Vec<Net>,
        is_clocked: bool,
    ) {
        let before = conditions.len();
        match element.tag_name().name() {
            "assign" | "assigndly" => return self.assign(element, place, conditions, is_clocked),
            "taskref" | "funcref" => return self.call(element, place, conditions, is_clocked),
            "if" | "case" => conditions.extend(self.condition(element, place)),
            // The parts are: statements before the loop, condition, body, statements after each turn.
            "while" => conditions.extend(parts(element).get(1).map_or_else(Vec::new, |c| self.reads(*c, place))),
            "jumpblock" => {
                let leaves = |node: &Node<'a, 'i>| node.descendants().any(|inner| inner.has_tag_name("jumpgo"));
                for choice in element.descendants().filter(leaves) {
                    conditions.extend(self.condition(choice, place));
                }
            }
            _ => {}
        }
        self.declare(element, place);
        for child in parts(element) {
            self.statements(child, place, conditions, is_clocked);
        }
        place.scopes.pop();
        conditions.truncate(before);
    }

    /// The nets on which an `if` or a `case` depends.
    fn condition(&self, element: Node<'a, 'i>, place: &Place<'a, 'i>) -> Vec<Net> {
        let is_choice = matches!(element.tag_name().name(), "if" | "case");
        element.first_element_child().filter(|_| is_choice).map_or_else(Vec::new, |first| self.reads(first, place))
    }

    fn assign(&mut self, element: Node<'a, 'i>, place: &Place<'a, 'i>, conditions: &[Net], is_clocked: bool) {
        let [value, .., target] = parts(element)[..] else { return };
        let targets = self.targets(target, place);
        let copied = (conditions.is_empty() && targets.len() == 1 && targets[0].is_exact && !is_clocked)
            .then(|| self.reference(self.chosen(value), place).filter(|source| source.is_exact))
            .flatten();
        let mut sources = Vec::new();
        if !is_clocked {
            sources.extend(self.reads(value, place).into_iter().chain(conditions.iter().copied()));
            self.read_indices(target, place, &mut sources);
        }
        for target in targets {
            self.connect(Connection { target, sources: sources.clone(), copied, is_clocked });
        }
    }

    /// A call as a statement: its results depend on all arguments.
    fn call(&mut self, call: Node<'a, 'i>, place: &Place<'a, 'i>, conditions: &[Net], is_clocked: bool) {
        let mut sources = if is_clocked { Vec::new() } else { self.reads(call, place) };
        sources.extend(conditions.iter().filter(|_| !is_clocked));
        let Some(function) = self.function(call, place) else { return };
        let ports = function.children().filter(|v| v.has_tag_name("var") && v.has_attribute("dir"));
        let ports = ports.filter(|port| name(*port) != name(function));
        let outputs = ports.zip(parts(call)).filter(|(port, _)| port.attribute("dir") != Some("input"));
        let arguments: Vec<_> = outputs.filter_map(|(_, argument)| argument.first_element_child()).collect();
        for target in arguments.into_iter().flat_map(|argument| self.targets(argument, place)).collect::<Vec<_>>() {
            self.connect(Connection { target, sources: sources.clone(), copied: None, is_clocked });
        }
    }

    fn function(&self, call: Node<'a, 'i>, place: &Place<'a, 'i>) -> Option<Node<'a, 'i>> {
        let is_one =
            |node: &Node<'a, 'i>| matches!(node.tag_name().name(), "func" | "task") && name(*node) == name(call);
        place.module.children().find(is_one)
    }

    /// The side that a knob selects; any other value is returned unchanged.
    fn chosen(&self, value: Node<'a, 'i>) -> Node<'a, 'i> {
        let sides = parts(value);
        let [condition, new, old] = sides[..] else { return value };
        if !value.has_tag_name("cond") || !condition.has_tag_name("eq") {
            return value;
        }
        let compared = parts(condition);
        let is_knob = |node: &Node<'a, 'i>| node.has_tag_name("varref") && self.knobs.contains(&name(*node));
        match compared.iter().find_map(|node| constant(*node)) {
            Some(number) if compared.iter().any(is_knob) => self.chosen(if number == self.knob { new } else { old }),
            _ => value,
        }
    }

    /// The nets on which an expression depends.
    fn reads(&self, expression: Node<'a, 'i>, place: &Place<'a, 'i>) -> Vec<Net> {
        let mut found = Vec::new();
        self.read(expression, place, &mut Vec::new(), &mut found);
        found
    }

    fn read(&self, expression: Node<'a, 'i>, place: &Place<'a, 'i>, inside: &mut Vec<&'a str>, found: &mut Vec<Net>) {
        let expression = self.chosen(expression);
        if let Some(reference) = self.reference(expression, place) {
            found.push(reference.net);
            return self.read_indices(expression, place, found);
        }
        if expression.has_tag_name("funcref") || expression.has_tag_name("taskref") {
            self.read_function(expression, place, inside, found);
        }
        for child in parts(expression) {
            self.read(child, place, inside, found);
        }
    }

    /// What a function reads besides its arguments.
    fn read_function(
        &self,
        call: Node<'a, 'i>,
        place: &Place<'a, 'i>,
        inside: &mut Vec<&'a str>,
        found: &mut Vec<Net>,
    ) {
        if inside.contains(&name(call)) {
            return;
        }
        let Some(function) = self.function(call, place) else { return };
        inside.push(name(call));
        let own: Vec<&str> = function.descendants().filter(|node| node.has_tag_name("var")).map(name).collect();
        for node in function.descendants() {
            match node.tag_name().name() {
                "varref" if !own.contains(&name(node)) => {
                    let variable = place.scopes.first().and_then(|names| names.get(name(node)));
                    found.extend(variable.map(|&variable| Net { variable, part: Part::default() }));
                }
                "funcref" | "taskref" => self.read_function(node, place, inside, found),
                _ => {}
            }
        }
        inside.pop();
    }

    /// Adds the nets of indices that are not constant.
    fn read_indices(&self, selection: Node<'a, 'i>, place: &Place<'a, 'i>, found: &mut Vec<Net>) {
        if let [from, rest @ ..] = &parts(selection)[..] {
            self.read_indices(*from, place, found);
            rest.iter().for_each(|index| found.extend(self.reads(*index, place)));
        }
    }

    /// The nets that an assignment changes.
    fn targets(&self, target: Node<'a, 'i>, place: &Place<'a, 'i>) -> Vec<Reference> {
        match self.reference(target, place) {
            Some(reference) => vec![reference],
            None => parts(target).into_iter().flat_map(|part| self.targets(part, place)).collect(),
        }
    }

    /// A variable, or a part of one.
    fn reference(&self, expression: Node<'a, 'i>, place: &Place<'a, 'i>) -> Option<Reference> {
        let tag = expression.tag_name().name();
        if tag == "varref" {
            let net = Net { variable: find(&place.scopes, name(expression))?, part: Part::default() };
            return Some(Reference { net, is_element: false, is_exact: true });
        }
        let children = parts(expression);
        let whole = match tag {
            "extend" | "arraysel" | "sel" | "slicesel" => self.reference(*children.first()?, place)?,
            _ => return None,
        };
        let number = |child: usize| children.get(child).and_then(|node| constant(*node));
        let part: Option<Range> = match tag {
            "extend" => return Some(whole),
            "arraysel" => number(1).map(|index| (index, 1)),
            _ => number(1).zip(number(2)),
        };
        let mut of = whole.net.part;
        let is_free = if tag == "sel" { of.bits.is_none() } else { of.elements.is_none() };
        if is_free {
            *(if tag == "sel" { &mut of.bits } else { &mut of.elements }) = part;
        }
        Some(Reference {
            net: Net { part: of, ..whole.net },
            is_element: whole.is_element || tag == "arraysel" && part.is_some(),
            is_exact: whole.is_exact && is_free && part.is_some(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elaborated::json;
    use crate::registers::registers;

    /// tests/wiring.sv as Verilator 5.006 and 5.050 elaborate it, without what is not read.
    const XML: &str = include_str!("../../tests/wiring.xml");
    const JSON: &str = include_str!("../../tests/wiring.json");

    /// All connections, with paths in place of indices, sorted.
    fn connections(wiring: &Wiring) -> Vec<String> {
        let paths: HashMap<usize, &str> = wiring.by_path.iter().map(|(path, &index)| (index, &path[..])).collect();
        let net = |net: &Net| format!("{} {:?}", paths.get(&net.variable).unwrap_or(&"-"), net.part);
        let mut lines = Vec::new();
        for Connection { target, sources, copied, is_clocked } in wiring.variables.iter().flat_map(|v| &v.connections) {
            let mut sources: Vec<String> = sources.iter().map(net).collect();
            sources.sort();
            sources.dedup();
            let copied = copied.map(|copied| net(&copied.net));
            lines.push(format!("{} <- {sources:?} {copied:?} {is_clocked}", net(&target.net)));
        }
        lines.sort();
        lines
    }

    #[test]
    fn the_json_of_newer_versions_is_read_as_the_xml_is() {
        let json = json::to_xml(JSON).unwrap();
        let [xml, json] = [XML, &json[..]].map(|text| elaborated::parse(text, "wiring").unwrap());
        assert_eq!(registers(&json), registers(&xml));
        assert!(registers(&json)["wiring_leaf"].contains("table_q"));
        for knob in [0, 1] {
            let [xml, json] = [&xml, &json].map(|document| read(document, vec!["mutant_sel"], knob).unwrap());
            assert_eq!(connections(&json), connections(&xml));
            assert!(connections(&json).len() > 20);
            let modules =
                |wiring: &Wiring| wiring.instances.iter().map(|i| (i.module.clone(), i.path.clone())).collect();
            let modules: [BTreeMap<String, String>; 2] = [modules(&json), modules(&xml)];
            assert_eq!(modules[0], modules[1]);
        }
    }

    #[test]
    fn json_that_is_no_design_is_an_error() {
        for text in ["", "{", "[]", "{\"type\":\"NETLIST\",\"modulesp\":[1]}"] {
            assert!(json::to_xml(text).is_err(), "{text}");
        }
    }
}
