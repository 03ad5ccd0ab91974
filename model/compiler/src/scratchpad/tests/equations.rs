//! The equations on graphs: table 3.1, and random graphs compared with random paths through them.

use super::random::Random;
use crate::scratchpad::layout::choose;
use crate::scratchpad::loops::Region;
use crate::scratchpad::ranges::{Accesses, Ranges};
use crate::scratchpad::release::{Graph, Place};
use crate::scratchpad::{SharedVariable, Variables, place};

/// Figure 3.3, reconstructed from table 3.1 and the text: the successors of each block, and the variables that it accesses. Block 0 is Entry, block 7
/// Exit.
const FIGURE: [(&[usize], &str); 8] =
    [(&[1], ""), (&[2], "A"), (&[3], "B"), (&[2, 4], "B"), (&[5], "A"), (&[6], "C"), (&[7], "C"), (&[], "")];

/// Table 3.1 as printed: for IN of A, B, C, OUT of A, B, C, IN of AB, BC, CA, OUT of AB, BC, CA.
const TABLE: [&str; 8] = [
    "ffffffffffff", // Entry
    "ffftffffftft",
    "ttfttftttttt",
    "ttfttftttttt",
    "tffffftttftt",
    "ffffftfttftt",
    "fftffffttfff",
    "ffffffffffff", // Exit
];

fn set(names: &str) -> Variables {
    names.bytes().map(|name| usize::from(name - b'A')).collect()
}

fn figure() -> Accesses {
    Accesses {
        next: FIGURE.iter().map(|(next, _)| next.to_vec()).collect(),
        steps: FIGURE.iter().map(|(_, names)| vec![set(names)]).collect(),
    }
}

#[test]
fn table_3_1() {
    let accesses = figure();
    let ranges = Ranges::new(&accesses);
    let mut cells = 0;
    for (node, printed) in TABLE.iter().enumerate() {
        let columns = [["A", "B", "C"], ["AB", "BC", "CA"]];
        let found = columns.iter().flat_map(|names| {
            let front = names.map(|s| ranges.acc_in(set(s), node));
            front.into_iter().chain(names.map(|s| ranges.acc_out(set(s), node)))
        });
        let found: String = found.map(|holds| if holds { 't' } else { 'f' }).collect();
        assert_eq!(&found, printed, "block {node}");
        cells += found.len();
    }
    assert_eq!(cells, 96);
}

#[test]
fn example_3_2_3() {
    // Variables of equal size, two of which are shared; each block has the same number of instructions.
    let mut accesses = figure();
    for steps in &mut accesses.steps {
        *steps = vec![steps[0]; 10];
    }
    let ranges = Ranges::new(&accesses);
    let region = Region::new(&accesses.next, &|_| 1);
    let cost = |set: Variables| region.longest(&|node| ranges.count(set, node) as u128);
    assert_eq!(["AB", "BC", "CA"].map(|s| cost(set(s))), [40, 50, 60]);
    let mut variables = ["A", "B", "C"].map(|name| SharedVariable::new(name, Some(100), 4));
    let end = place(&mut variables, &[0, 1, 2]);
    assert_eq!(choose(&variables, end, 100, &cost), Some(vec![2, 0, 1]), "C is private");
    // Without a loop around BB2 and BB3 the choice is the same; with many iterations, the accesses there dominate.
    let often = Region::new(&accesses.next, &|_| 1024);
    assert_eq!(often.longest(&|node| ranges.count(set("C"), node) as u128), 20);
    assert_eq!(often.longest(&|node| ranges.count(set("A"), node) as u128), 10 + 20 * 1024 + 10);
}

#[test]
fn an_instruction_counts_between_the_first_and_the_last_access() {
    let none = Variables::NONE;
    let [a, b] = [set("A"), set("B")];
    let accesses = Accesses { next: vec![vec![]], steps: vec![vec![none, a, none, b, none, a, none]] };
    let ranges = Ranges::new(&accesses);
    assert_eq!([a, b, a.union(b), set("C")].map(|s| ranges.count(s, 0)), [5, 1, 5, 0]);
}

#[test]
fn of_a_branch_the_longer_side_counts_and_loops_multiply() {
    // 0 -> 1 -> (2 | 3) -> 4 -> 1, 4 -> 5 -> 5, 5 -> 6
    let next: Vec<Vec<usize>> = vec![vec![1], vec![2, 3], vec![4], vec![4], vec![1, 5], vec![5, 6], vec![]];
    let costs = [1u128, 10, 7, 100, 1, 3, 5];
    let trips = |nodes: &[usize]| if nodes == [5] { 4 } else { 1024 };
    let region = Region::new(&next, &trips);
    assert_eq!(region.longest(&|b| costs[b]), 1 + 1024 * (10 + 100 + 1) + 4 * 3 + 5);
    // A nested loop.
    let next: Vec<Vec<usize>> = vec![vec![1], vec![2], vec![2, 3], vec![1, 4], vec![]];
    let region = Region::new(&next, &|nodes| if nodes.len() == 1 { 10 } else { 100 });
    assert_eq!(region.longest(&|_| 1), 1 + 100 * (1 + 10 + 1) + 1);
    // A loop with two entries.
    let next: Vec<Vec<usize>> = vec![vec![1, 2], vec![2], vec![1, 3], vec![]];
    assert_eq!(Region::new(&next, &|_| 10).longest(&|_| 1), 1 + 10 + 1);
}

/// A random graph: each block leads to one or two others, mostly forward; the last one is an exit, as are some others.
fn graph(random: &mut Random) -> Graph {
    let n = 2 + random.below(9);
    let next = |b: usize, random: &mut Random| -> Vec<usize> {
        if b + 1 == n || (b > 0 && random.below(12) == 0) {
            return Vec::new();
        }
        let forward = |random: &mut Random| b + 1 + random.below((n - b - 1).min(3));
        let mut to = vec![forward(random)];
        match random.below(5) {
            0 | 1 => to.push(forward(random)),
            2 => to.push(1 + random.below(b + 1)),
            _ => {}
        }
        to.sort_unstable();
        to.dedup();
        to
    };
    let next = (0..n).map(|b| next(b, random)).collect();
    let percent = [10, 30, 60][random.below(3)];
    Graph { next, accesses: (0..n).map(|_| random.below(100) < percent).collect() }
}

/// Equations 3.1 and 3.2 exactly as written: on a graph with an Exit, in which every critical edge is split. Returns where a thread on this path of
/// the original graph releases: before its n-th block, counted from 0.
fn to_the_letter(graph: &Graph, path: &[usize]) -> Vec<usize> {
    let n = graph.next.len();
    let mut next = graph.next.clone();
    let mut accesses = graph.accesses.clone();
    let mut incoming = vec![0; n];
    graph.next.iter().flatten().for_each(|&s| incoming[s] += 1);
    let mut split = std::collections::HashMap::new();
    for b in 0..n {
        for s in graph.next[b].clone() {
            if graph.next[b].len() > 1 && incoming[s] > 1 {
                let new = next.len();
                next.push(vec![s]);
                accesses.push(false);
                *next[b].iter_mut().find(|t| **t == s).unwrap() = new;
                split.insert((b, s), new);
            }
        }
    }
    let exit = next.len();
    next.iter_mut().filter(|to| to.is_empty()).for_each(|to| to.push(exit));
    next.push(Vec::new());
    accesses.push(false);
    let mut previous = vec![Vec::new(); next.len()];
    next.iter().enumerate().for_each(|(b, to)| to.iter().for_each(|&s| previous[s].push(b)));
    let (mut front, mut behind) = (vec![true; next.len()], vec![true; next.len()]);
    for _ in 0..next.len() + 1 {
        for b in 0..next.len() {
            behind[b] = next[b].iter().all(|&s| front[s]);
            front[b] = behind[b] && !accesses[b];
        }
    }
    let at_out = |b: usize| behind[b] && !front[b];
    let at_in = |b: usize| front[b] && !previous[b].iter().all(|&p| behind[p]);
    let mut found = Vec::new();
    for (i, &b) in path.iter().enumerate() {
        if at_in(b) {
            found.push(i);
        }
        if at_out(b) {
            found.push(i + 1);
        }
        let via = path.get(i + 1).and_then(|&s| split.get(&(b, s)));
        if let Some(&via) = via {
            assert!(!at_out(via));
            if at_in(via) {
                found.push(i + 1);
            }
        }
    }
    found
}

/// Where a thread on a path releases, given these places.
fn releases(graph: &Graph, places: &[Place], path: &[usize]) -> Vec<usize> {
    let mut found = Vec::new();
    for (i, &b) in path.iter().enumerate() {
        if places.contains(&Place::Block(b)) {
            found.push(i + usize::from(graph.accesses[b]));
        }
        if path.get(i + 1).is_some_and(|&s| places.contains(&Place::Edge(b, s))) {
            found.push(i + 1);
        }
    }
    found
}

#[test]
fn on_random_graphs_each_path_releases_once_behind_its_last_access() {
    let random = &mut Random(77);
    let (mut paths, mut edges, mut earlier) = (0, 0, 0);
    for _ in 0..4000 {
        let graph = graph(random);
        let (optimal, postdom) = (graph.optimal(), graph.postdom());
        edges += optimal.iter().filter(|place| matches!(place, Place::Edge(..))).count();
        for _ in 0..12 {
            let mut path = vec![0];
            while path.len() < 60 {
                let next = &graph.next[path[path.len() - 1]];
                if next.is_empty() {
                    break;
                }
                path.push(next[random.below(next.len())]);
            }
            if path.len() == 60 {
                continue;
            }
            paths += 1;
            let found = releases(&graph, &optimal, &path);
            assert_eq!(found, to_the_letter(&graph, &path), "{graph:?} {path:?} {optimal:?}");
            let late = releases(&graph, &postdom, &path);
            assert_eq!(late.len(), found.len(), "{graph:?} {path:?} {postdom:?}");
            let used = path.iter().rposition(|&b| graph.accesses[b]).map_or(0, |last| last + 1);
            if let ([first], [later]) = (&found[..], &late[..]) {
                assert!(used <= *first && first <= later, "{graph:?} {path:?} {optimal:?} {postdom:?}");
                earlier += usize::from(first < later);
            } else {
                assert!(found.is_empty() && used == 0, "{graph:?} {path:?} {optimal:?}");
            }
        }
    }
    println!("{paths} paths, {edges} split edges, {earlier} paths on which optimal is earlier than postdom");
    assert!(paths > 30_000 && edges > 300 && earlier > 1500, "{paths} {edges} {earlier}");
}
