//! Colours the interference graph: conservative merging of copies, then optimistic colouring.

use super::graph::Graph;
use crate::mir::V;
use std::collections::HashSet;

/// Assigns a register to each value. If that fails, returns what to spill: groups of merged values, each of which can
/// share one memory location.
pub fn colour(graph: &Graph, limit: u16, is_temporary: impl Fn(V) -> bool) -> Result<Vec<Option<u8>>, Vec<Vec<V>>> {
    let mut work = Colouring::new(graph, usize::from(limit));
    work.merge_copies(&is_temporary);
    let order = work.order(&is_temporary);
    work.assign(order)
}

struct Colouring<'g> {
    graph: &'g Graph,
    limit: usize,
    /// The value that a value was merged into, or itself.
    leader: Vec<V>,
    /// Neighbours of each leader. They may since have been merged into other leaders.
    neighbours: Vec<Vec<V>>,
    pairs: HashSet<(V, V)>,
    cost: Vec<f32>,
}

impl<'g> Colouring<'g> {
    fn new(graph: &'g Graph, limit: usize) -> Self {
        Self {
            graph,
            limit,
            leader: (0..graph.cost.len() as u32).map(V).collect(),
            neighbours: graph.neighbours.clone(),
            pairs: graph.pairs.clone(),
            cost: graph.cost.clone(),
        }
    }

    fn find(&self, mut v: V) -> V {
        while self.leader[v.index()] != v {
            v = self.leader[v.index()];
        }
        v
    }

    fn touch(&self, a: V, b: V) -> bool {
        self.pairs.contains(&(a.min(b), a.max(b)))
    }

    /// Merges the two sides of a copy if the result has fewer than `limit` neighbours of degree `limit` or more
    /// (Briggs). The short-lived temporaries of spilled values are not merged, since merging would make them long-lived
    /// again.
    fn merge_copies(&mut self, is_temporary: &impl Fn(V) -> bool) {
        let mut copies = self.graph.copies.clone();
        copies.sort_by(|a, b| b.2.total_cmp(&a.2).then((a.0, a.1).cmp(&(b.0, b.1))));
        copies.retain(|c| !is_temporary(c.0) && !is_temporary(c.1));
        let mut changed = true;
        while changed {
            changed = false;
            copies.retain(|&(a, b, _)| {
                let (a, b) = (self.find(a), self.find(b));
                if a == b || self.touch(a, b) {
                    return false;
                }
                if self.is_safe(a, b) {
                    self.merge(a, b);
                    changed = true;
                    return false;
                }
                true
            });
        }
    }

    fn is_safe(&self, a: V, b: V) -> bool {
        let mut seen: Vec<V> = self.neighbours[a.index()].iter().chain(&self.neighbours[b.index()]).copied().collect();
        seen.sort_unstable();
        seen.dedup();
        let hard = seen.iter().filter(|&&n| {
            // A common neighbour loses one neighbour in the merge.
            let common = self.touch(n, a) && self.touch(n, b);
            self.neighbours[n.index()].len() - usize::from(common) >= self.limit
        });
        hard.take(self.limit).count() < self.limit
    }

    fn merge(&mut self, a: V, b: V) {
        self.leader[b.index()] = a;
        self.cost[a.index()] += self.cost[b.index()];
        for n in std::mem::take(&mut self.neighbours[b.index()]) {
            self.neighbours[n.index()].retain(|&v| v != b);
            if self.pairs.insert((a.min(n), a.max(n))) {
                self.neighbours[a.index()].push(n);
                self.neighbours[n.index()].push(a);
            }
        }
    }

    /// The order in which values are removed from the graph; they are coloured in the reverse order. Values with fewer
    /// than `limit` neighbours are removed first. If all have more, the one with the lowest spill cost per neighbour is
    /// removed.
    fn order(&self, is_temporary: &impl Fn(V) -> bool) -> Vec<V> {
        let mut left: Vec<V> = self.graph.values.iter().copied().filter(|&v| self.leader[v.index()] == v).collect();
        let mut degree: Vec<usize> = self.neighbours.iter().map(Vec::len).collect();
        let mut gone = vec![false; degree.len()];
        let mut order = Vec::with_capacity(left.len());
        let mut easy: Vec<V> = left.iter().copied().filter(|v| degree[v.index()] < self.limit).collect();
        easy.reverse();
        loop {
            let v = match easy.pop() {
                Some(v) if gone[v.index()] => continue,
                Some(v) => v,
                None => {
                    left.retain(|v| !gone[v.index()]);
                    let worth = |v: V| {
                        let cost = if is_temporary(v) { f32::INFINITY } else { self.cost[v.index()] };
                        cost / degree[v.index()] as f32
                    };
                    match left.iter().copied().min_by(|&a, &b| worth(a).total_cmp(&worth(b)).then(a.cmp(&b))) {
                        Some(v) => v,
                        None => return order,
                    }
                }
            };
            gone[v.index()] = true;
            order.push(v);
            for &n in &self.neighbours[v.index()] {
                degree[n.index()] -= 1;
                if degree[n.index()] + 1 == self.limit && !gone[n.index()] {
                    easy.push(n);
                }
            }
        }
    }

    fn assign(&self, order: Vec<V>) -> Result<Vec<Option<u8>>, Vec<Vec<V>>> {
        let mut place: Vec<Option<u8>> = vec![None; self.leader.len()];
        let mut partners: Vec<Vec<V>> = vec![Vec::new(); self.leader.len()];
        for &(a, b, _) in &self.graph.copies {
            let (a, b) = (self.find(a), self.find(b));
            partners[a.index()].push(b);
            partners[b.index()].push(a);
        }
        let mut spills = Vec::new();
        for v in order.into_iter().rev() {
            let mut taken = [false; 256];
            for n in &self.neighbours[v.index()] {
                if let Some(r) = place[n.index()] {
                    taken[usize::from(r)] = true;
                }
            }
            // Prefer the register of the copy's other side, so that the copy disappears even though it was not merged.
            let wished = partners[v.index()].iter().filter_map(|p| place[p.index()]).find(|&r| !taken[usize::from(r)]);
            let free = wished.or_else(|| (0..self.limit as u8).find(|&r| !taken[usize::from(r)]));
            match free {
                Some(r) => place[v.index()] = Some(r),
                None => spills.push(v),
            }
        }
        if !spills.is_empty() {
            let group = |leader: &V| self.graph.values.iter().copied().filter(|v| self.find(*v) == *leader).collect();
            return Err(spills.iter().map(group).collect());
        }
        for &v in &self.graph.values {
            place[v.index()] = place[self.find(v).index()];
        }
        Ok(place)
    }
}
