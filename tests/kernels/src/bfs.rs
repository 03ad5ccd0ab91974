//! The level of each node in a breadth-first search, -1 if it is not reached.

use std::collections::VecDeque;

use crate::{Case, Output};

/// The first edge of each node where the lists of edges follow each other, in the order of the nodes.
pub fn first_edges(degree: &[u32]) -> Vec<u32> {
    let mut next = 0;
    let first = |degree: &u32| {
        let first = next;
        next += degree;
        first
    };
    degree.iter().map(first).collect()
}

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (first, degree, edge) = (case.u32s("firstEdge"), case.u32s("degree"), case.s32s("edge"));
    let source = case.size(0, 2);
    let mut level = vec![-1; first.len()];
    level[source] = 0;
    let mut queue = VecDeque::from([source]);
    while let Some(node) = queue.pop_front() {
        for &neighbour in &edge[first[node] as usize..][..degree[node] as usize] {
            let neighbour = neighbour as usize;
            if level[neighbour] < 0 {
                level[neighbour] = level[node] + 1;
                queue.push_back(neighbour);
            }
        }
    }
    vec![Output::s32("level", &level)]
}
