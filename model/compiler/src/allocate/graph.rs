//! Which values are live at the same time.

use crate::mir::{Class, Function, Inst, Pred, V};
use crate::passes::liveness::Liveness;
use gpurf_isa::Op;
use gpurf_isa::modifiers::Combine;
use std::collections::HashSet;

/// Most pairs of values that are live at the same time: some 4,000 values live at one place.
const MAX_PAIRS: usize = 8_000_000;
/// Weight of a loop around an access.
const LOOP_WEIGHT: f32 = 8.0;

/// The interference graph of the values of one class.
#[derive(Debug)]
pub struct Graph {
    /// The values that occur.
    pub values: Vec<V>,
    /// For each value, by its number, those that it must not share a register with.
    pub neighbours: Vec<Vec<V>>,
    /// The same as pairs, the lower number first.
    pub pairs: HashSet<(V, V)>,
    /// Copies from the second to the first value, with their weight.
    pub copies: Vec<(V, V, f32)>,
    /// Weighted number of accesses of each value, by its number.
    pub cost: Vec<f32>,
}

/// The source of a copy of this class that could vanish.
fn copy_source(inst: &Inst, class: Class) -> Option<V> {
    if inst.is_partial() {
        return None;
    }
    match (class, inst.op) {
        (Class::General, Op::Mov {}) => inst.src[1].register(),
        (Class::Predicate, Op::Plop { combine: Combine::And }) if inst.t == Pred::TRUE => match inst.s {
            Pred::Reg(v, false) => Some(v),
            _ => None,
        },
        _ => None,
    }
}

impl Graph {
    /// Builds the graph; nothing if it is too large.
    pub fn new(f: &Function, class: Class, depth: &[u32]) -> Option<Self> {
        let n = f.classes.len();
        let mut graph = Self {
            values: Vec::new(),
            neighbours: vec![Vec::new(); n],
            pairs: HashSet::new(),
            copies: Vec::new(),
            cost: vec![0.0; n],
        };
        let liveness = Liveness::new(f, class);
        let this = |v: &V| f.classes[v.index()] == class;
        let mut occurs = vec![false; n];
        for b in f.block_ids() {
            let weight = LOOP_WEIGHT.powi(depth[b.index()].min(8) as i32);
            if let Some(p) = f.blocks[b.index()].term.predicate().filter(this) {
                occurs[p.index()] = true;
                graph.cost[p.index()] += weight;
            }
            liveness.walk(f, b, |_, inst, live| {
                for v in inst.uses().chain(inst.defs()).filter(this) {
                    occurs[v.index()] = true;
                    graph.cost[v.index()] += weight;
                }
                let from = copy_source(inst, class);
                if let (Some(from), Some(d)) = (from, inst.d.or(inst.p)) {
                    graph.copies.push((d, from, weight));
                }
                for d in inst.defs().filter(this) {
                    for other in live.iter().filter(|&v| v != d && Some(v) != from) {
                        graph.connect(d, other);
                    }
                }
            });
        }
        if graph.pairs.len() > MAX_PAIRS {
            return None;
        }
        graph.values = (0..n as u32).map(V).filter(|v| occurs[v.index()]).collect();
        Some(graph)
    }

    fn connect(&mut self, a: V, b: V) {
        if self.pairs.len() <= MAX_PAIRS && self.pairs.insert((a.min(b), a.max(b))) {
            self.neighbours[a.index()].push(b);
            self.neighbours[b.index()].push(a);
        }
    }
}
