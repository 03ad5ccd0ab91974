//! Where variables of shared memory are accessed (sharing thesis 3.2.1).
//!
//! `PreIN`, `PreOUT`: the variables that may have been accessed before or after a node on some path from the entry. `PostIN`, `PostOUT`: the
//! variables that may be accessed after that point on some path. A point is in the access range of a set of variables if both hold for some variable
//! of the set. (The equations are for a single variable; here they are solved for all variables at once.)

use super::Variables;

/// A graph, and the variables that the instructions of its nodes access. Node 0 is the entry.
#[derive(Clone, Debug)]
pub struct Accesses {
    /// The successors of each node.
    pub next: Vec<Vec<usize>>,
    /// The instructions of each node, each as the variables that it may access.
    pub steps: Vec<Vec<Variables>>,
}

/// The solution of the equations.
#[derive(Clone, Debug)]
pub struct Ranges<'a> {
    of: &'a Accesses,
    pre_in: Vec<Variables>,
    pre_out: Vec<Variables>,
    post_in: Vec<Variables>,
    post_out: Vec<Variables>,
}

impl<'a> Ranges<'a> {
    /// Solves the equations.
    pub fn new(of: &'a Accesses) -> Self {
        let n = of.next.len();
        let own: Vec<Variables> =
            of.steps.iter().map(|steps| steps.iter().copied().fold(Variables::NONE, Variables::union)).collect();
        let none = vec![Variables::NONE; n];
        let mut new = Self { of, pre_in: none.clone(), pre_out: none.clone(), post_in: none.clone(), post_out: none };
        let mut changed = true;
        while changed {
            changed = false;
            for (b, own) in own.iter().enumerate() {
                let out = new.pre_in[b].union(*own);
                changed |= out != new.pre_out[b];
                new.pre_out[b] = out;
                for &s in &of.next[b] {
                    let joined = new.pre_in[s].union(out);
                    changed |= joined != new.pre_in[s];
                    new.pre_in[s] = joined;
                }
            }
            for (b, own) in own.iter().enumerate().rev() {
                new.post_out[b] = of.next[b].iter().map(|&s| new.post_in[s]).fold(Variables::NONE, Variables::union);
                let front = new.post_out[b].union(*own);
                changed |= front != new.post_in[b];
                new.post_in[b] = front;
            }
        }
        new
    }

    /// Whether the point before a node is in the access range of a set.
    #[cfg(test)]
    pub fn acc_in(&self, set: Variables, node: usize) -> bool {
        self.pre_in[node].meets(set) && self.post_in[node].meets(set)
    }

    /// Whether the point after a node is in the access range of a set.
    #[cfg(test)]
    pub fn acc_out(&self, set: Variables, node: usize) -> bool {
        self.pre_out[node].meets(set) && self.post_out[node].meets(set)
    }

    /// Number of instructions of a node in the access range of a set: those with an access at or before them, and one at or after them.
    pub fn count(&self, set: Variables, node: usize) -> usize {
        let steps = &self.of.steps[node];
        let meets = |step: &Variables| step.meets(set);
        let first = if self.pre_in[node].meets(set) { Some(0) } else { steps.iter().position(meets) };
        let behind = if self.post_out[node].meets(set) {
            Some(steps.len())
        } else {
            steps.iter().rposition(meets).map(|last| last + 1)
        };
        match (first, behind) {
            (Some(first), Some(behind)) => behind.saturating_sub(first),
            _ => 0,
        }
    }
}
