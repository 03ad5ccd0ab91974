//! List scheduling: of the instructions whose operands have arrived, the one with the longest path to the block's end
//! is next.

use super::dependences::{Dependences, latency};
use super::{Limits, Liveness};
use crate::mir::{BlockId, Class, Function, Inst, V};
use std::cmp::Reverse;
use std::collections::HashMap;

/// The order of a block's instructions. Among equals, the instruction that came first in the block is next.
pub fn order(f: &Function, b: BlockId, live: &[Liveness; 2], limits: Limits) -> Vec<usize> {
    let block = &f.blocks[b.index()];
    let dependences = Dependences::new(block);
    let height = heights(&block.insts, &dependences);
    let mut pressure = Pressure::new(f, b, live);
    let mut before = dependences.before.clone();
    let mut arrives = vec![0; block.insts.len()];
    let mut ready: Vec<usize> = (0..block.insts.len()).filter(|&i| before[i] == 0).collect();
    let (mut order, mut cycle) = (Vec::with_capacity(block.insts.len()), 0);
    while !ready.is_empty() {
        let best = match pressure.full(limits) {
            Some(class) => ready.iter().enumerate().min_by_key(|&(_, &i)| (pressure.growth(i, class), i)),
            None => {
                let first = ready.iter().map(|&i| arrives[i]).min().unwrap_or(cycle);
                cycle = cycle.max(first);
                let arrived = ready.iter().enumerate().filter(|&(_, &i)| arrives[i] <= cycle);
                arrived.max_by_key(|&(_, &i)| (height[i], Reverse(i)))
            }
        };
        let at = best.expect("one is ready, and the first of them has arrived").0;
        let i = ready.swap_remove(at);
        cycle = cycle.max(arrives[i]);
        for edge in &dependences.next[i] {
            arrives[edge.to] = arrives[edge.to].max(cycle + edge.latency);
            before[edge.to] -= 1;
            if before[edge.to] == 0 {
                ready.push(edge.to);
            }
        }
        pressure.place(i);
        order.push(i);
        cycle += 1;
    }
    order
}

/// For each instruction, the cycles from its issue to the block's end, including the latency of results that are read
/// after the block.
fn heights(insts: &[Inst], dependences: &Dependences) -> Vec<u32> {
    let mut height = vec![0; insts.len()];
    for (i, inst) in insts.iter().enumerate().rev() {
        let own = if inst.defs().next().is_some() { latency(inst.op) } else { 0 };
        let later = dependences.next[i].iter().map(|edge| edge.latency + height[edge.to]);
        height[i] = later.fold(own, u32::max);
    }
    height
}

/// A value: from a write that replaces all of it to the next such write.
struct Range {
    class: Class,
    /// The number of its readers that have not been placed. Guarded writes count as readers, since they keep a part of
    /// the value.
    readers: usize,
    /// Whether it is read after the block.
    leaves: bool,
}

impl Range {
    /// Whether it is live when only this many of its readers are left.
    fn lives(&self, readers: usize) -> bool {
        self.leaves || readers > 0
    }
}

/// The values of a block, and how many of them are live.
struct Pressure {
    ranges: Vec<Range>,
    /// For each instruction, the values that it reads, each once.
    reads: Vec<Vec<usize>>,
    /// For each instruction, the values that begin with it.
    begins: Vec<Vec<usize>>,
    /// The number of live general values and of live predicates.
    live: [usize; 2],
}

impl Pressure {
    fn new(f: &Function, b: BlockId, live: &[Liveness; 2]) -> Self {
        let block = &f.blocks[b.index()];
        let mut new = Self { ranges: Vec::new(), reads: Vec::new(), begins: Vec::new(), live: [0; 2] };
        let mut current: HashMap<V, usize> = HashMap::new();
        for v in live.iter().flat_map(|l| l.walk(f, b, |_, _, _| {}).iter().collect::<Vec<_>>()) {
            current.insert(v, new.begin(f.classes[v.index()]));
        }
        for inst in &block.insts {
            let kept = inst.defs().filter(|_| inst.is_partial());
            let mut reads: Vec<usize> = inst.uses().chain(kept).filter_map(|v| current.get(&v).copied()).collect();
            reads.sort_unstable();
            reads.dedup();
            reads.iter().for_each(|&range| new.ranges[range].readers += 1);
            new.reads.push(reads);
            let mut begins = Vec::new();
            for v in inst.defs() {
                if !(inst.is_partial() && current.contains_key(&v)) {
                    begins.push(new.begin(f.classes[v.index()]));
                    current.insert(v, new.ranges.len() - 1);
                }
            }
            new.begins.push(begins);
        }
        for (v, range) in current {
            let is_read_behind = live.iter().any(|l| l.out[b.index()].contains(v));
            new.ranges[range].leaves = is_read_behind || block.term.predicate() == Some(v);
        }
        let first = new.begins.iter().flatten().min().copied().unwrap_or(new.ranges.len());
        for range in &new.ranges[..first] {
            new.live[range.class as usize] += 1;
        }
        new
    }

    fn begin(&mut self, class: Class) -> usize {
        self.ranges.push(Range { class, readers: 0, leaves: false });
        self.ranges.len() - 1
    }

    /// A class whose number of live values has reached its limit.
    fn full(&self, limits: Limits) -> Option<Class> {
        [(Class::General, limits.general), (Class::Predicate, limits.predicates)]
            .into_iter()
            .find_map(|(class, limit)| (self.live[class as usize] >= limit).then_some(class))
    }

    /// By how many the live values of the class increase with an instruction.
    fn growth(&self, i: usize, class: Class) -> isize {
        let of_class = |range: &&usize| self.ranges[**range].class == class;
        let begun = |range: &&usize| self.ranges[**range].lives(self.ranges[**range].readers);
        let ended = |range: &&usize| !self.ranges[**range].lives(self.ranges[**range].readers - 1);
        let begun = self.begins[i].iter().filter(of_class).filter(begun).count();
        let ended = self.reads[i].iter().filter(of_class).filter(ended).count();
        begun as isize - ended as isize
    }

    fn place(&mut self, i: usize) {
        for class in [Class::General, Class::Predicate] {
            let growth = self.growth(i, class);
            let live = &mut self.live[class as usize];
            *live = live.checked_add_signed(growth).expect("only what is live ends");
        }
        for &range in &self.reads[i] {
            self.ranges[range].readers -= 1;
        }
    }
}
