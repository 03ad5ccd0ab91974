//! The longest matches of queries, found by a search in the text; and the suffix tree in which the kernel finds them.

use std::collections::HashMap;

use crate::{Case, Output};

/// Letters of the alphabet. The text ends with one more, which occurs nowhere else.
const LETTERS: u8 = 4;
/// The texts: what follows `MUM` in the names of their files, and their letters without the last.
pub const TEXTS: [(&str, usize); 3] = [("", 600), ("-unified", 4096), ("-unified-small", 1600)];

/// A node, as the kernel has it.
struct Node {
    child: [usize; LETTERS as usize],
    /// The edge that ends in the text's last letter, which no query has.
    last: Option<usize>,
    start: usize,
    stop: usize,
    depth: usize,
}

/// A text of this number of letters and the last one, in a fixed pseudo-random order.
pub fn text(letters: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let letter = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 30) as u8
    };
    (0..letters).map(letter).chain([LETTERS]).collect()
}

/// The nodes of the text's suffix tree, as the kernel reads them.
pub fn tree(text: &[u8]) -> Vec<i32> {
    let mut nodes = vec![Node { child: [0; LETTERS as usize], last: None, start: 0, stop: 0, depth: 0 }];
    for suffix in 0..text.len() {
        insert(&mut nodes, text, suffix);
    }
    let words = |node: &Node| {
        let link = match node.depth {
            0 => 0,
            // The node of the same letters without the first.
            depth => find(&nodes, text, node.stop - depth + 1, depth - 1),
        };
        node.child.into_iter().chain([node.start, node.stop, node.depth, link]).map(|word| word as i32)
    };
    nodes.iter().flat_map(words).collect()
}

fn next(nodes: &[Node], at: usize, letter: u8) -> Option<usize> {
    let node = &nodes[at];
    if letter == LETTERS { node.last } else { Some(node.child[usize::from(letter)]).filter(|&child| child != 0) }
}

fn set(nodes: &mut [Node], at: usize, letter: u8, child: usize) {
    if letter == LETTERS {
        nodes[at].last = Some(child);
    } else {
        nodes[at].child[usize::from(letter)] = child;
    }
}

fn insert(nodes: &mut Vec<Node>, text: &[u8], suffix: usize) {
    let mut at = 0;
    let mut place = suffix;
    while let Some(child) = next(nodes, at, text[place]) {
        let (start, stop) = (nodes[child].start, nodes[child].stop);
        let equal = text[start..stop].iter().zip(&text[place..]).take_while(|(a, b)| a == b).count();
        if start + equal < stop {
            // The edge is split. Its upper part keeps its place in the text, so that edges refer to the first occurrence of their letters.
            let depth = nodes[at].depth + equal;
            let between = nodes.len();
            nodes.push(Node { child: [0; LETTERS as usize], last: None, start, stop: start + equal, depth });
            set(nodes, at, text[start], between);
            nodes[child].start = start + equal;
            set(nodes, between, text[start + equal], child);
            at = between;
            place += equal;
            break;
        }
        at = child;
        place += equal;
    }
    let leaf =
        Node { child: [0; LETTERS as usize], last: None, start: place, stop: text.len(), depth: text.len() - suffix };
    nodes.push(leaf);
    let leaf = nodes.len() - 1;
    set(nodes, at, text[place], leaf);
}

/// The node of `depth` letters from a place on.
fn find(nodes: &[Node], text: &[u8], place: usize, depth: usize) -> usize {
    let mut at = 0;
    while nodes[at].depth < depth {
        at = next(nodes, at, text[place + nodes[at].depth]).expect("the letters stand in the text");
    }
    assert_eq!(nodes[at].depth, depth, "a node's letters without the first have a node");
    at
}

pub(crate) fn reference(case: &Case) -> Vec<Output> {
    let (queries, letters, fewest) = (case.size(0, 4), case.size(0, 5), case.size(0, 6));
    let (text, query) = (case.u8s("text"), case.u8s("query"));
    assert!(
        case.s32s("node") == tree(&text),
        "the tree is not the text's: cargo run -p gpurf-kernels --example inputs"
    );

    // The places of each sequence of `fewest` letters, the shortest match.
    let mut places: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for (place, letters) in text.windows(fewest).enumerate() {
        places.entry(letters).or_default().push(place);
    }
    let mut matches = vec![0; case.len("match")];
    for number in 0..queries {
        let query: Vec<u8> = (0..letters).map(|at| query[at * queries + number]).collect();
        for first in 0..=letters - fewest {
            if let Some(places) = places.get(&query[first..first + fewest]) {
                let (place, found) = longest(&text, places, &query[first..]);
                let at = 2 * (first * queries + number);
                matches[at..at + 2].copy_from_slice(&[place as i32, found as i32]);
            }
        }
    }
    vec![Output::s32("match", &matches)]
}

/// The first of these places with the longest match of the query's beginning, and the length of the match.
fn longest(text: &[u8], places: &[usize], query: &[u8]) -> (usize, usize) {
    let equal = |place: usize| text[place..].iter().zip(query).take_while(|(a, b)| a == b).count();
    let found = places.iter().map(|&place| (place, equal(place)));
    // Of several the first: of equal elements `max_by_key` returns the last.
    found.rev().max_by_key(|&(_, found)| found).unwrap_or_default()
}
