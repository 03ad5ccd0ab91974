//! The number of instructions on the longest path through a graph with loops: the longer side of each branch counts, and a loop counts as often as it
//! runs.

/// Maximum nesting of loops that is analysed. In deeper loops, all sides of branches count.
const DEPTH: usize = 8;

/// A part of a graph without backward edges: blocks and loops, each after its predecessors.
#[derive(Debug)]
pub struct Region {
    items: Vec<Item>,
    /// The predecessors of each item.
    from: Vec<Vec<usize>>,
}

#[derive(Debug)]
enum Item {
    Block(usize),
    /// A loop, and how often it runs.
    Loop(Region, u64),
    /// The blocks of a loop that is not analysed further, and how often it runs.
    Flat(Vec<usize>, u64),
}

impl Region {
    /// The region of a graph from node 0 on. `trips` returns how often a loop of these nodes runs.
    pub fn new(next: &[Vec<usize>], trips: &dyn Fn(&[usize]) -> u64) -> Self {
        let order = postorder(0, &|b| next[b].clone(), next.len());
        Self::of(&order.into_iter().rev().collect::<Vec<_>>(), &[], next, trips, 0)
    }

    /// The region of these nodes, without the edges to `heads`. The nodes are in reverse postorder, except for backward edges.
    fn of(
        nodes: &[usize],
        heads: &[usize],
        next: &[Vec<usize>],
        trips: &dyn Fn(&[usize]) -> u64,
        depth: usize,
    ) -> Self {
        let mut inside = vec![false; next.len()];
        nodes.iter().for_each(|&b| inside[b] = true);
        let goes = |b: usize| -> Vec<usize> {
            next[b].iter().copied().filter(|&s| inside[s] && !heads.contains(&s)).collect()
        };
        let mut previous = vec![Vec::new(); next.len()];
        nodes.iter().for_each(|&b| goes(b).into_iter().for_each(|s| previous[s].push(b)));
        // Strongly connected components, each after its predecessors (Kosaraju).
        let mut order = Vec::new();
        let mut seen = vec![false; next.len()];
        for &root in nodes {
            if !seen[root] {
                order.extend(postorder_unseen(root, &goes, &mut seen));
            }
        }
        let mut part = vec![usize::MAX; next.len()];
        let mut parts: Vec<Vec<usize>> = Vec::new();
        for &root in order.iter().rev() {
            if part[root] != usize::MAX {
                continue;
            }
            let (mut members, mut open) = (Vec::new(), vec![root]);
            part[root] = parts.len();
            while let Some(b) = open.pop() {
                members.push(b);
                for &p in &previous[b] {
                    if part[p] == usize::MAX {
                        part[p] = parts.len();
                        open.push(p);
                    }
                }
            }
            parts.push(members);
        }
        let from = parts.iter().enumerate().map(|(i, members)| {
            let mut from: Vec<usize> =
                members.iter().flat_map(|&b| &previous[b]).map(|&p| part[p]).filter(|&p| p != i).collect();
            from.sort_unstable();
            from.dedup();
            from
        });
        let from = from.collect();
        let items = parts.iter().enumerate().map(|(i, members)| {
            let [only] = members[..] else { return Self::looping(i, members, &part, heads, next, trips, depth) };
            if goes(only).contains(&only) { Item::Flat(vec![only], trips(members)) } else { Item::Block(only) }
        });
        Self { items: items.collect(), from }
    }

    fn looping(
        i: usize,
        members: &[usize],
        part: &[usize],
        heads: &[usize],
        next: &[Vec<usize>],
        trips: &dyn Fn(&[usize]) -> u64,
        depth: usize,
    ) -> Item {
        let trips_here = trips(members);
        if depth >= DEPTH {
            return Item::Flat(members.to_vec(), trips_here);
        }
        // The nodes where the loop is entered: from outside, or at the function's start.
        let mut entered = vec![false; next.len()];
        entered[0] = true;
        let outside = next.iter().enumerate().filter(|&(b, _)| part[b] != i);
        outside.flat_map(|(_, to)| to).for_each(|&s| entered[s] = true);
        heads.iter().for_each(|&h| entered[h] = true);
        let mut inner: Vec<usize> = members.iter().copied().filter(|&b| entered[b]).collect();
        if inner.is_empty() {
            inner.push(members[0]);
        }
        Item::Loop(Self::of(members, &inner, next, trips, depth + 1), trips_here)
    }

    /// The largest sum of costs on a path.
    pub fn longest(&self, cost: &dyn Fn(usize) -> u128) -> u128 {
        let mut best = vec![0u128; self.items.len()];
        for (i, item) in self.items.iter().enumerate() {
            let own = match item {
                Item::Block(b) => cost(*b),
                Item::Loop(region, trips) => region.longest(cost).saturating_mul((*trips).into()),
                Item::Flat(blocks, trips) => {
                    blocks.iter().fold(0u128, |sum, &b| sum.saturating_add(cost(b))).saturating_mul((*trips).into())
                }
            };
            let before = self.from[i].iter().map(|&p| best[p]).max().unwrap_or(0);
            best[i] = before.saturating_add(own);
        }
        best.into_iter().max().unwrap_or(0)
    }
}

fn postorder(root: usize, next: &dyn Fn(usize) -> Vec<usize>, count: usize) -> Vec<usize> {
    postorder_unseen(root, next, &mut vec![false; count])
}

fn postorder_unseen(root: usize, next: &dyn Fn(usize) -> Vec<usize>, seen: &mut [bool]) -> Vec<usize> {
    let (mut out, mut stack) = (Vec::new(), vec![(root, next(root).into_iter())]);
    seen[root] = true;
    while let Some((b, rest)) = stack.last_mut() {
        match rest.next() {
            Some(to) if std::mem::replace(&mut seen[to], true) => {}
            Some(to) => stack.push((to, next(to).into_iter())),
            None => {
                out.push(*b);
                stack.pop();
            }
        }
    }
    out
}
