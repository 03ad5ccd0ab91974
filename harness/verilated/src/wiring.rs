//! The wiring of a design: which nets depend on which within a cycle, and which instance drives them.
//!
//! It is read from the RTL itself. Verilator writes the elaborated design, not flattened (`read.rs`); each assignment and each port of an
//! instance becomes a connection. Nets are elements and bits of variables as far as constant indices separate them. A clock edge cuts: a register
//! depends on nothing within the cycle.

mod read;

pub(crate) use read::wiring;

use std::collections::{HashMap, HashSet};

/// The first of consecutive elements or bits, and their number.
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
    /// Whether the two parts have bits in common.
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
    /// The part of the variable.
    pub part: Part,
}

/// An instance of a module; the first one is the top.
#[derive(Clone, Debug)]
pub struct Instance {
    /// Name of its module, without suffixes for parameters.
    pub module: String,
    /// The instance that contains it.
    pub parent: Option<usize>,
    /// Its index among the instances of the same module in its parent. `None`: it is the only one.
    pub place: Option<usize>,
    /// Its path with generate blocks, and a dot at the end; empty for the top.
    path: String,
}

/// A net, as it appears in an expression.
#[derive(Clone, Copy, Debug)]
struct Reference {
    net: Net,
    /// It is one element, selected by a constant index.
    is_element: bool,
    /// All indices are constant: the expression names exactly this net.
    is_exact: bool,
}

/// What drives a variable, or a part of it.
struct Connection {
    target: Reference,
    /// All nets on which it depends within a cycle; none if a clock edge assigns it.
    sources: Vec<Net>,
    /// The net of which it is a copy, by an assignment without logic or by a port.
    copied: Option<Reference>,
    /// A clock edge assigns it.
    is_clocked: bool,
}

impl Connection {
    /// The part of a copy's source that is copied to part `want` of its target.
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
    /// Indices of variables by their path.
    by_path: HashMap<String, usize>,
}

impl Instance {
    /// Its path in the top module, with generate blocks, and a dot at the end; empty for the top.
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl Wiring {
    /// The instances, in the order of the sources; the first is the top.
    pub fn instances(&self) -> &[Instance] {
        &self.instances
    }

    /// The variable with this path, through instances and generate blocks, as in a declaration.
    pub fn variable(&self, path: &str) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    /// Visits the nets on which a net depends within a cycle, the nearest first. `visit` returns whether to continue beyond a net.
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

    /// The instance that drives a net, or that contains it if it is a register. Copies are followed to their source up to the
    /// first instance whose module satisfies `is_leaf`, or to logic outside such an instance, but not to a variable for which `ends` holds.
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

    /// The instance that a path leads into, or the leaf that contains this instance.
    pub fn holder(&self, path: &str, is_leaf: &dyn Fn(&str) -> bool) -> usize {
        let holds = |i: &usize| path.starts_with(&self.instances[*i].path);
        let inner = (0..self.instances.len()).filter(holds).max_by_key(|&i| self.instances[i].path.len());
        let inner = inner.unwrap_or_default();
        self.leaf(inner, is_leaf).unwrap_or(inner)
    }

    /// The outermost leaf among an instance and the instances around it.
    fn leaf(&self, instance: usize, is_leaf: &dyn Fn(&str) -> bool) -> Option<usize> {
        let inside = std::iter::successors(Some(instance), |&i| self.instances[i].parent);
        inside.filter(|&i| is_leaf(&self.instances[i].module)).last()
    }
}
