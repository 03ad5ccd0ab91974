//! Verilator's JSON of an elaborated design, rewritten in the form of its XML, which the readers of a design expect.
//!
//! A node of the JSON is an object: its type, its attributes, and lists of nodes in the order of Verilator's operands. Other nodes are named by address.

use std::collections::HashMap;
use std::fmt::{self, Write};
use std::io;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A node of the design.
struct Node {
    /// Type, name and others, as text.
    attributes: Vec<(String, String)>,
    operands: Vec<(String, Vec<Node>)>,
}

impl Node {
    /// An attribute; empty if it is absent.
    fn attribute(&self, name: &str) -> &str {
        self.attributes.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
    }

    fn kind(&self) -> &str {
        self.attribute("type")
    }

    /// The nodes of an operand.
    fn operand(&self, name: &str) -> &[Node] {
        self.operands.iter().find(|(key, _)| key == name).map_or(&[], |(_, nodes)| nodes)
    }

    /// The nodes of all operands.
    fn children(&self) -> impl Iterator<Item = &Node> {
        self.operands.iter().flat_map(|(_, nodes)| nodes)
    }
}

/// The value of a key.
enum Value {
    Attribute(String),
    Operand(Vec<Node>),
}

/// Reads a node.
struct NodeReader;

impl<'de> Visitor<'de> for NodeReader {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a node of the design")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Node, M::Error> {
        let mut node = Node { attributes: Vec::new(), operands: Vec::new() };
        while let Some((key, value)) = map.next_entry()? {
            match value {
                Value::Attribute(text) => node.attributes.push((key, text)),
                Value::Operand(nodes) => node.operands.push((key, nodes)),
            }
        }
        Ok(node)
    }
}

/// Reads the value of a key.
struct ValueReader;

impl<'de> Visitor<'de> for ValueReader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an attribute or a list of nodes")
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Attribute(text.to_owned()))
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Value, E> {
        Ok(Value::Attribute(truth.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Attribute(number.to_string()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Attribute(number.to_string()))
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<Value, S::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = list.next_element()? {
            nodes.push(node);
        }
        Ok(Value::Operand(nodes))
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(NodeReader)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueReader)
    }
}

/// Bytes of stack for reading a design: a long expression is nested deeply. Only what is used takes memory.
const STACK: usize = 1 << 30;

/// The XML of a design.
///
/// # Errors
/// The text is not JSON of this form, or there is no thread to read it.
pub(crate) fn to_xml(text: &str) -> io::Result<String> {
    std::thread::scope(|scope| {
        let reader = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || write(text))?;
        let written = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        written.map_err(io::Error::other)
    })
}

fn write(text: &str) -> Result<String, serde_json::Error> {
    let mut json = serde_json::Deserializer::from_str(text);
    json.disable_recursion_limit();
    let netlist = Node::deserialize(&mut json)?;
    let modules = netlist.operand("modulesp");
    let level = |module: &&Node| module.attribute("level").parse::<u32>().unwrap_or(u32::MAX);
    let top = modules.iter().filter(|node| node.kind() == "MODULE").min_by_key(level);
    let mut writer = Writer {
        text: String::with_capacity(text.len() / 2),
        modules: modules.iter().map(|module| (module.attribute("addr"), module.attribute("name"))).collect(),
        directions: HashMap::new(),
        top: top.map(|module| module.attribute("addr")),
    };
    modules.iter().for_each(|module| writer.note_directions(module));
    writer.element("verilator_xml", &[], |w| w.element("netlist", &[], |w| w.nodes(modules)));
    Ok(writer.text)
}

/// Writes nodes as elements.
struct Writer<'a> {
    text: String,
    /// Names of modules by address.
    modules: HashMap<&'a str, &'a str>,
    /// Directions of ports by the address of their variable.
    directions: HashMap<&'a str, &'static str>,
    /// Address of the top module, which has the lowest level.
    top: Option<&'a str>,
}

impl<'a> Writer<'a> {
    fn note_directions(&mut self, module: &'a Node) {
        for variable in module.operand("stmtsp").iter().filter(|node| node.kind() == "VAR") {
            let direction = match variable.attribute("direction") {
                "INPUT" => "in",
                "OUTPUT" => "out",
                "INOUT" => "inout",
                _ => continue,
            };
            self.directions.insert(variable.attribute("addr"), direction);
        }
    }

    fn element(&mut self, tag: &str, attributes: &[(&str, &str)], inside: impl FnOnce(&mut Self)) {
        self.text.push('<');
        self.text.push_str(tag);
        for (name, value) in attributes.iter().filter(|(_, value)| !value.is_empty()) {
            let escaped = value.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
            write!(self.text, " {name}=\"{escaped}\"").expect("a string takes all text");
        }
        self.text.push('>');
        inside(self);
        write!(self.text, "</{tag}>").expect("a string takes all text");
    }

    fn nodes<'n>(&mut self, nodes: impl IntoIterator<Item = &'n Node>) {
        nodes.into_iter().for_each(|node| self.node(node));
    }

    fn node(&mut self, node: &Node) {
        let name = node.attribute("name");
        match node.kind() {
            "MODULE" => {
                let top = if self.top == Some(node.attribute("addr")) { "1" } else { "" };
                let attributes = [("name", name), ("origName", node.attribute("origName")), ("topModule", top)];
                self.element("module", &attributes, |w| w.nodes(node.operand("stmtsp")));
            }
            "VAR" => {
                let direction = node.attribute("direction").to_lowercase();
                let direction = if direction == "none" { "" } else { &direction };
                self.element("var", &[("name", name), ("dir", direction)], |_| {});
            }
            "CELL" => {
                let module = self.modules.get(node.attribute("modp")).copied().unwrap_or_default();
                self.element("instance", &[("name", name), ("defName", module)], |w| w.nodes(node.operand("pinsp")));
            }
            "PIN" => {
                let direction = self.directions.get(node.attribute("modVarp")).copied().unwrap_or_default();
                self.element("port", &[("name", name), ("direction", direction)], |w| w.nodes(node.operand("exprp")));
            }
            "GENBLOCK" | "BEGIN" => self.element("begin", &[("name", name)], |w| w.nodes(node.children())),
            "ALWAYS" if node.attribute("keyword") == "cont_assign" => self.nodes(node.operand("stmtsp")),
            "ASSIGNW" => self.element("contassign", &[], |w| w.nodes(node.children())),
            // A loop tests its condition in a statement. In the XML, it has statements before it, a condition, and a body.
            "LOOP" => {
                let (tests, body): (Vec<_>, Vec<_>) = node.children().partition(|child| child.kind() == "LOOPTEST");
                self.element("while", &[], |w| {
                    w.element("begin", &[], |_| {});
                    w.element("begin", &[], |w| w.nodes(tests.into_iter().flat_map(Node::children)));
                    w.element("begin", &[], |w| w.nodes(body));
                });
            }
            // The width is an attribute; in the XML it is the third operand.
            "SEL" => self.element("sel", &[], |w| {
                w.nodes(node.children());
                let width = node.attribute("widthConst").parse().unwrap_or(0_u32);
                w.element("const", &[("name", &format!("32'h{width:x}"))], |_| {});
            }),
            kind => {
                let attributes = [("name", name), ("edgeType", node.attribute("edgeType"))];
                self.element(&kind.to_lowercase(), &attributes, |w| w.nodes(node.children()));
            }
        }
    }
}
