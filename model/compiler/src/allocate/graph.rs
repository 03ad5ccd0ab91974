//! The interference graph: which values are live at the same time.

use crate::mir::{Class, Function, Inst, Pred, V};
use crate::passes::liveness::Liveness;
use gpurf_isa::Op;
use gpurf_isa::modifiers::Combine;
use std::collections::HashSet;

/// Factor by which each enclosing loop raises the weight of an access.
const LOOP_WEIGHT: f32 = 8.0;

/// The interference graph of the values of one class.
#[derive(Debug)]
pub struct Graph {
    /// The values that occur in the function.
    pub values: Vec<V>,
    /// For each value, by its number, the values that it must not share a register with.
    pub neighbours: Vec<Vec<V>>,
    /// The same relation as pairs, the lower number first.
    pub pairs: HashSet<(V, V)>,
    /// Copies (destination, source, weight).
    pub copies: Vec<(V, V, f32)>,
    /// Weighted number of accesses of each value, by its number.
    pub cost: Vec<f32>,
}

/// The source of a copy between values of this class that merging could remove.
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
    /// Builds the graph. If it has more than `most` pairs, returns what to spill, each value in a group of its own, so that the next graph has some
    /// quarter of them; nothing if only temporaries are left.
    pub fn new(
        f: &Function,
        class: Class,
        depth: &[u32],
        most: usize,
        is_temporary: impl Fn(V) -> bool,
    ) -> Result<Self, Vec<Vec<V>>> {
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
        // How many writes of other values happen during the life of each value.
        let mut crossed = vec![0_u32; n];
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
                        graph.connect(d, other, most);
                        crossed[other.index()] += 1;
                    }
                }
            });
        }
        graph.values = (0..n as u32).map(V).filter(|v| occurs[v.index()]).collect();
        if graph.pairs.len() <= most {
            return Ok(graph);
        }
        // As in colouring, those with the lowest cost per neighbour.
        let worth = |v: &V| graph.cost[v.index()] / crossed[v.index()] as f32;
        let mut spills = graph.values.clone();
        spills.retain(|&v| crossed[v.index()] > 0 && !is_temporary(v));
        spills.sort_by(|a, b| worth(a).total_cmp(&worth(b)).then(a.cmp(b)));
        let mut left: u64 = crossed.iter().copied().map(u64::from).sum();
        let needed = spills.into_iter().take_while(|v| {
            let too_many = left > most as u64 / 4;
            left -= u64::from(crossed[v.index()]);
            too_many
        });
        Err(needed.map(|v| vec![v]).collect())
    }

    /// Adds a pair, until there are more than `most`.
    fn connect(&mut self, a: V, b: V, most: usize) {
        if self.pairs.len() <= most && self.pairs.insert((a.min(b), a.max(b))) {
            self.neighbours[a.index()].push(b);
            self.neighbours[b.index()].push(a);
        }
    }
}
