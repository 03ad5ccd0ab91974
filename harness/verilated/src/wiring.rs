//! The wiring of a design: which nets follow from which within a cycle, and which instance makes them.
//!
//! It is read from the RTL itself. Verilator writes the elaborated design, not flattened, as XML (`read.rs`); each assignment and each port of an
//! instance becomes a connection. Nets are elements and bits of variables as far as constant indices tell them apart. A clock edge cuts: a register
//! follows from nothing.

mod read;

pub(crate) use read::wiring;

use std::collections::{HashMap, HashSet};

/// The first of some consecutive elements or bits, and their number.
type Range = (u32, u32);

/// A part of a variable. `None`: all elements, all bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Part {
    /// Elements of an unpacked array: the first, and how many.
    pub elements: Option<Range>,
    /// Bits: the lowest, and how many.
    pub bits: Option<Range>,
}

impl Part {
    /// Whether the two have bits in common.
    pub fn overlaps(&self, other: &Self) -> bool {
        let common = |a: Option<Range>, b: Option<Range>| match (a, b) {
            (Some(a), Some(b)) => a.0 < b.0 + b.1 && b.0 < a.0 + a.1,
            _ => true,
        };
        common(self.elements, other.elements) && common(self.bits, other.bits)
    }
}

/// A part of a variable of [`Wiring`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Net {
    /// Index of the variable.
    pub variable: usize,
    /// Which part of it.
    pub part: Part,
}

/// An instance of a module; the first one is the top.
#[derive(Clone, Debug)]
pub struct Instance {
    /// Name of its module, without what parameters add to it.
    pub module: String,
    /// The instance that it is in.
    pub parent: Option<usize>,
    /// Its place among the instances of the same module there. `None`: it is the only one.
    pub place: Option<usize>,
    /// Its path with generate blocks, and a dot at the end; empty for the top.
    path: String,
}

/// A net as an expression names it.
#[derive(Clone, Copy, Debug)]
struct Reference {
    net: Net,
    /// It is one element, by a constant index.
    is_element: bool,
    /// Constant indices only: it is this net and no other.
    is_exact: bool,
}

/// What makes a variable, or a part of it.
struct Connection {
    target: Reference,
    /// All that it follows from within a cycle. Nothing after a clock edge.
    sources: Vec<Net>,
    /// What it is a copy of: an assignment without logic, or a port.
    copied: Option<Reference>,
    /// A clock edge makes it.
    is_clocked: bool,
}

impl Connection {
    /// The part of a copy's source that becomes `want` of its target.
    fn behind(&self, source: &Reference, want: &Part) -> Net {
        let target = &self.target.net.part;
        let inner = |want: Option<Range>, target: Option<Range>| match (want, target) {
            (Some((first, count)), Some((low, size))) => {
                let begin = first.max(low);
                Some((begin - low, (first + count).min(low + size).saturating_sub(begin)))
            }
            (want, None) => want,
            (None, Some(_)) => None,
        };
        let outer = |inner: Option<Range>, source: Option<Range>| match (inner, source) {
            (Some((first, count)), Some((low, _))) => Some((low + first, count)),
            (inner, source) => inner.or(source),
        };
        let part = source.net.part;
        let within = if self.target.is_element { None } else { inner(want.elements, target.elements) };
        let elements = if source.is_element { part.elements } else { outer(within, part.elements) };
        let bits = outer(inner(want.bits, target.bits), part.bits);
        Net { variable: source.net.variable, part: Part { elements, bits } }
    }
}

struct Variable {
    instance: usize,
    connections: Vec<Connection>,
}

/// The wiring of a design: see [`Library::wiring`](crate::Library::wiring).
#[derive(Default)]
pub struct Wiring {
    instances: Vec<Instance>,
    variables: Vec<Variable>,
    /// Variables by their path.
    by_path: HashMap<String, usize>,
}

impl Instance {
    /// Its path in the top, with generate blocks, and a dot at the end; empty for the top.
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl Wiring {
    /// The instances, in the order of the sources; the top is the first.
    pub fn instances(&self) -> &[Instance] {
        &self.instances
    }

    /// The variable at a path: through instances and generate blocks, as in a declaration.
    pub fn variable(&self, path: &str) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    /// Visits what a net follows from within a cycle, the nearest first. `visit` says whether to go on after a net.
    pub fn visit_sources(&self, net: Net, visit: &mut dyn FnMut(&Net) -> bool) {
        let mut seen = HashSet::from([net]);
        let mut open = std::collections::VecDeque::from([net]);
        while let Some(net) = open.pop_front() {
            for source in self.sources(&net) {
                if seen.insert(source) && visit(&source) {
                    open.push_back(source);
                }
            }
        }
    }

    fn sources(&self, net: &Net) -> impl Iterator<Item = Net> {
        self.making(net).flat_map(|connection| match &connection.copied {
            Some(source) => vec![connection.behind(source, &net.part)],
            None => connection.sources.clone(),
        })
    }

    fn making(&self, net: &Net) -> impl Iterator<Item = &Connection> {
        let part = net.part;
        self.variables[net.variable].connections.iter().filter(move |c| c.target.net.part.overlaps(&part))
    }

    /// Whether a clock edge assigns a variable.
    pub fn is_register(&self, variable: usize) -> bool {
        self.variables[variable].connections.iter().any(|connection| connection.is_clocked)
    }

    /// The instance that makes a net, or holds it, if it is a register. Copies are followed from where the net is to the
    /// first instance of which `is_leaf` holds, by its module, or to logic outside of such an instance, but not to a variable of which `ends` holds.
    pub fn driver(&self, net: Net, is_leaf: &dyn Fn(&str) -> bool, ends: &dyn Fn(usize) -> bool) -> usize {
        let mut seen = HashSet::new();
        let mut at = net;
        while seen.insert(at) {
            if let Some(leaf) = self.leaf(self.variables[at.variable].instance, is_leaf) {
                return leaf;
            }
            let first = self.making(&at).next();
            let Some((connection, source)) = first.and_then(|c| Some((c, c.copied.as_ref()?))) else { break };
            let source = connection.behind(source, &at.part);
            if ends(source.variable) {
                break;
            }
            at = source;
        }
        self.variables[at.variable].instance
    }

    /// The instance that a path leads into, or the leaf that this instance is in.
    pub fn holder(&self, path: &str, is_leaf: &dyn Fn(&str) -> bool) -> usize {
        let holds = |i: &usize| path.starts_with(&self.instances[*i].path);
        let inner = (0..self.instances.len()).filter(holds).max_by_key(|&i| self.instances[i].path.len());
        let inner = inner.unwrap_or_default();
        self.leaf(inner, is_leaf).unwrap_or(inner)
    }

    /// The outermost leaf that an instance is, or is in.
    fn leaf(&self, instance: usize, is_leaf: &dyn Fn(&str) -> bool) -> Option<usize> {
        let inside = std::iter::successors(Some(instance), |&i| self.instances[i].parent);
        inside.filter(|&i| is_leaf(&self.instances[i].module)).last()
    }
}
