//! Kinds of values, by how often and how soon they are read.

use crate::usage::{Usage, Written};

/// Kinds of values.
#[derive(Clone, Copy)]
pub enum Count {
    /// Read once.
    Once,
    /// Read more than twice.
    Often,
    /// Read more than once.
    Again,
    /// Read once, within three instructions.
    Soon,
    /// Read once, by the next instruction.
    Next,
}

impl Count {
    fn of(self, written: &Written) -> u64 {
        let Written { values, lifetimes } = written;
        match self {
            Self::Once => values[1],
            Self::Often => values[3],
            Self::Again => values[2] + values[3],
            Self::Soon => lifetimes[..3].iter().sum(),
            Self::Next => lifetimes[0],
        }
    }

    /// The fraction of all values that are of this kind.
    pub fn part(self, usage: &Usage) -> f64 {
        usage.part(usage.written.values().map(|written| self.of(written)).sum())
    }
}
