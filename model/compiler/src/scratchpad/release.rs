//! Where threads release the shared part of shared memory: `RELSSP` (sharing thesis 3.2.3).
//!
//! The graph is the thread's control-flow graph. Its Exit is not a node: it follows each node without successors.

use super::mutation::{Mutation, broken};
use super::{Relssp, ScratchpadOptions, SharedVariable, in_shared_part};
use crate::mir::{Block, BlockId, Function, Inst, Term, cfg};
use gpurf_isa::Op;
use std::collections::{HashMap, HashSet};

/// A place of `RELSSP`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Place {
    /// In a block, after its last access of the shared part; at its start if it has no access.
    Block(usize),
    /// On the edge from one block to another.
    Edge(usize, usize),
}

/// The properties of a function that the placement needs. Block 0 is the entry.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The successors of each block.
    pub next: Vec<Vec<usize>>,
    /// Whether each block may access the shared part.
    pub accesses: Vec<bool>,
}

impl Graph {
    /// The blocks that can be reached after `block`; this includes `block` only if it is on a cycle.
    fn behind(&self, block: usize) -> Vec<bool> {
        let mut reached = vec![false; self.next.len()];
        let mut open = self.next[block].clone();
        while let Some(b) = open.pop() {
            if !std::mem::replace(&mut reached[b], true) {
                open.extend(&self.next[b]);
            }
        }
        reached
    }

    /// The blocks that a thread may reach.
    fn reached(&self) -> Vec<bool> {
        let mut reached = self.behind(0);
        reached[0] = true;
        reached
    }

    fn exits(&self) -> impl Iterator<Item = usize> {
        let reached = self.reached();
        (0..self.next.len()).filter(move |&b| reached[b] && self.next[b].is_empty())
    }

    /// `SafeIN` and `SafeOUT` of each block: whether a thread that releases there makes no access to the shared part afterwards.
    pub fn safe(&self) -> (Vec<bool>, Vec<bool>) {
        let n = self.next.len();
        let (mut front, mut behind) = (vec![true; n], vec![true; n]);
        let mut changed = true;
        while changed {
            changed = false;
            for b in (0..n).rev() {
                let mut next = self.next[b].iter().map(|&s| front[s]);
                let out = if broken(Mutation::AnySuccessor) && !self.next[b].is_empty() {
                    next.any(|safe| safe)
                } else {
                    next.all(|safe| safe)
                };
                let new = out && !self.accesses[b];
                changed |= (front[b], behind[b]) != (new, out) && !broken(Mutation::OneIteration);
                (front[b], behind[b]) = (new, out);
            }
        }
        (front, behind)
    }

    /// Solves equations 3.1 and 3.2. If equation 3.2 holds for all edges to a block, they become one place at its start.
    pub fn optimal(&self) -> Vec<Place> {
        let (front, behind) = self.safe();
        let reached = self.reached();
        let mut previous = vec![Vec::new(); self.next.len()];
        for b in (0..self.next.len()).filter(|&b| reached[b]) {
            self.next[b].iter().for_each(|&s| previous[s].push(b));
        }
        let mut places = Vec::new();
        for b in (0..self.next.len()).filter(|&b| reached[b]) {
            if behind[b] && !front[b] && !broken(Mutation::NoEnds) {
                places.push(Place::Block(b));
            }
            let unsafe_ways: Vec<usize> = previous[b].iter().copied().filter(|&p| !behind[p]).collect();
            if !front[b] || unsafe_ways.is_empty() || broken(Mutation::NoStarts) {
                continue;
            }
            if unsafe_ways.len() == previous[b].len() || broken(Mutation::NoSplit) {
                places.push(Place::Block(b));
            } else {
                places.extend(unsafe_ways.into_iter().map(|p| Place::Edge(p, b)));
            }
        }
        if broken(Mutation::ExitsToo) {
            places.extend(self.exits().map(Place::Block));
        }
        places.sort_unstable();
        places.dedup();
        places
    }

    /// The nearest block that post-dominates all blocks with accesses and dominates Exit; if there is none, all exits.
    pub fn postdom(&self) -> Vec<Place> {
        let (n, reached) = (self.next.len(), self.reached());
        if !(0..n).any(|b| reached[b] && self.accesses[b]) {
            return Vec::new();
        }
        // Exit is node n.
        let id = |b: usize| BlockId(b as u32);
        let mut next: Vec<Vec<BlockId>> = vec![Vec::new(); n + 1];
        for b in (0..n).filter(|&b| reached[b]) {
            next[b] = self.next[b].iter().map(|&s| id(s)).collect();
            if next[b].is_empty() {
                next[b].push(id(n));
            }
        }
        let mut previous = vec![Vec::new(); n + 1];
        next.iter().enumerate().for_each(|(b, to)| to.iter().for_each(|s| previous[s.index()].push(id(b))));
        let post = cfg::immediate_dominators(id(n), &previous, &next);
        let dominators = cfg::immediate_dominators(id(0), &next, &previous);
        // The chain of dominators from a block to the root.
        let chain = |of: &[Option<BlockId>], from: usize| -> Vec<usize> {
            let mut chain = vec![from];
            while let Some(b) = of[chain[chain.len() - 1]]
                && b.index() != chain[chain.len() - 1]
            {
                chain.push(b.index());
            }
            chain
        };
        // Blocks from which Exit cannot be reached do not count.
        let accessing = (0..n).filter(|&b| reached[b] && self.accesses[b] && post[b].is_some());
        let ways: Vec<Vec<usize>> = accessing.map(|b| chain(&post, b)).collect();
        let common = ways.first().into_iter().flatten().copied().filter(|d| ways.iter().all(|way| way.contains(d)));
        let on_all_ways = chain(&dominators, n);
        let found = common.filter(|&d| d != n).find(|&d| {
            let behind = self.behind(d);
            let last = !behind[d] && (0..n).all(|b| !(behind[b] && self.accesses[b]));
            (on_all_ways.contains(&d) || broken(Mutation::NoDominance)) && (last || broken(Mutation::InLoop))
        });
        found.map_or_else(|| self.exits().map(Place::Block).collect(), |d| vec![Place::Block(d)])
    }
}

/// Whether an instruction may access the shared part.
fn touches(inst: &Inst, shared: super::Variables) -> bool {
    let left_out = match inst.op {
        Op::St { .. } => broken(Mutation::Stores),
        Op::Atom { .. } | Op::Cas { .. } => broken(Mutation::Atomics),
        _ => false,
    };
    let generic =
        matches!(inst.op, Op::Ld { space, .. } | Op::St { space, .. } if space == gpurf_isa::modifiers::Space::Generic);
    let left_out =
        left_out || (broken(Mutation::GuardedAccesses) && inst.is_partial()) || (broken(Mutation::Generic) && generic);
    inst.variables.meets(shared) && !left_out
}

/// Inserts `RELSSP` into a kernel with these variables. `meets` gives the block where the lanes of each block's branch reconverge. Returns the number
/// of places.
///
/// # Errors
/// If the kernel already has a `RELSSP`.
pub fn run(
    f: &mut Function,
    meets: &mut Vec<Option<BlockId>>,
    variables: &[SharedVariable],
    options: &ScratchpadOptions,
) -> Result<usize, String> {
    if options.relssp == Relssp::None {
        return Ok(0);
    }
    if f.blocks.iter().flat_map(|block| &block.insts).any(|inst| inst.op == (Op::Relssp {})) {
        return Err("has relssp of its own: compile it with relssp none".to_owned());
    }
    let shared = in_shared_part(variables, options.private_bytes);
    let touches = |inst: &Inst| touches(inst, shared);
    let graph = Graph {
        next: f.blocks.iter().map(|b| b.term.successors().map(BlockId::index).collect()).collect(),
        accesses: f.blocks.iter().map(|b| b.insts.iter().any(touches)).collect(),
    };
    let places = match options.relssp {
        Relssp::Postdom => graph.postdom(),
        _ => graph.optimal(),
    };
    let order = Order::new(f, &places);
    for &place in &places {
        let Place::Block(b) = place else { continue };
        let block = &mut f.blocks[b];
        let last = block.insts.iter().rposition(touches);
        let at = last.map_or(0, |last| last + usize::from(!broken(Mutation::InFrontOfAccess)));
        let near = block.insts.get(last.unwrap_or(0));
        let line = near.map_or(block.term_line, |inst| inst.line);
        block.insts.insert(at, Inst::new(Op::Relssp {}, line));
    }
    order.apply(f, meets);
    Ok(places.len())
}

fn is_bare_exit(block: &Block) -> bool {
    block.insts.is_empty() && block.term == Term::Exit
}

/// The order of blocks after new ones are inserted.
///
/// A new block on a fall-through edge is placed directly between its two blocks, so it costs no jump. Other new blocks are placed at the end, and so
/// are exits that were guarded `EXIT`s: fall-through edges across them stay fall-through edges.
struct Order {
    /// The old blocks, and edges that become new blocks.
    order: Vec<Place>,
    /// Exits without instructions that get a release, and so become proper blocks.
    exits: HashSet<usize>,
}

impl Order {
    fn new(f: &Function, places: &[Place]) -> Self {
        let (mut order, mut end, mut exits) = (Vec::new(), Vec::new(), HashSet::new());
        let mut edges: HashMap<usize, Vec<usize>> = HashMap::new();
        for place in places {
            match *place {
                Place::Block(b) if is_bare_exit(&f.blocks[b]) => _ = exits.insert(b),
                Place::Block(_) => {}
                Place::Edge(from, to) => edges.entry(from).or_default().push(to),
            }
        }
        for b in 0..f.blocks.len() {
            let own = Place::Block(b);
            if exits.contains(&b) {
                end.push(own);
                continue;
            }
            order.push(own);
            for &to in edges.get(&b).into_iter().flatten() {
                // Exits of branches are emitted as guarded `EXIT`s in the block before them, so a branch falls through across them.
                let falls_to = (b + 1..f.blocks.len()).find(|&next| !is_bare_exit(&f.blocks[next]));
                if Some(to) == falls_to { &mut order } else { &mut end }.push(Place::Edge(b, to));
            }
        }
        order.append(&mut end);
        Self { order, exits }
    }

    fn apply(&self, f: &mut Function, meets: &mut Vec<Option<BlockId>>) {
        let numbers = self.order.iter().zip(0..).map(|(&place, new)| (place, BlockId(new)));
        let number: HashMap<Place, BlockId> = numbers.collect();
        let of = |b: BlockId| number[&Place::Block(b.index())];
        let (mut blocks, mut joins) = (Vec::new(), Vec::new());
        for &place in &self.order {
            let (block, meet) = match place {
                Place::Block(b) => {
                    let mut block = f.blocks[b].clone();
                    // Lanes that go to such an exit do not return, so the others need not wait for them.
                    let meet = match block.term {
                        Term::Branch { then, otherwise, .. } if self.exits.contains(&then.index()) => Some(otherwise),
                        Term::Branch { then, otherwise, .. } if self.exits.contains(&otherwise.index()) => Some(then),
                        _ => meets[b],
                    };
                    block.term.map(|to| number.get(&Place::Edge(b, to.index())).copied().unwrap_or_else(|| of(to)));
                    (block, meet.map(of))
                }
                Place::Edge(from, to) => {
                    let line = f.blocks[from].term_line;
                    let insts = vec![Inst::new(Op::Relssp {}, line)];
                    let term =
                        if is_bare_exit(&f.blocks[to]) { Term::Exit } else { Term::Jump(of(BlockId(to as u32))) };
                    (Block { insts, term, term_line: line }, None)
                }
            };
            blocks.push(block);
            joins.push(meet);
        }
        f.blocks = blocks;
        *meets = joins;
    }
}
