//! The L2 cache in front of memory's data path: tracks which lines it has. It has no data, as it affects timing only.

/// Number of lines in a set.
const WAYS: usize = 8;
/// A set has 1 KB: its ways are eight lines of 128 bytes. So there is one set for each KB.
const _: () = assert!(WAYS * super::LINE as usize == 1024);

#[derive(Clone, Copy)]
struct Line {
    number: u32,
    dirty: bool,
}

/// The result of a lookup.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Look {
    Hit,
    /// The line is allocated. `evicted`: the line that it replaces, if that has to be written to memory.
    Miss {
        evicted: Option<u32>,
    },
}

/// The lines of each set, the least recently used first.
#[derive(Clone)]
pub(super) struct L2 {
    sets: Vec<Vec<Line>>,
}

impl L2 {
    /// An empty cache of that many KB.
    pub fn new(kilobytes: usize) -> Self {
        Self { sets: vec![Vec::with_capacity(WAYS); kilobytes] }
    }

    /// Looks up a line, and allocates it if it is absent. `writes`: the request makes it dirty.
    pub fn look(&mut self, number: u32, writes: bool) -> Look {
        let index = number as usize % self.sets.len();
        let set = &mut self.sets[index];
        let found = set.iter().position(|line| line.number == number).map(|at| set.remove(at));
        let replaced = if found.is_none() && set.len() == WAYS { Some(set.remove(0)) } else { None };
        set.push(Line { number, dirty: writes || found.is_some_and(|line| line.dirty) });
        match found {
            Some(_) => Look::Hit,
            None => Look::Miss { evicted: replaced.filter(|line| line.dirty).map(|line| line.number) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLEAN: Look = Look::Miss { evicted: None };

    #[test]
    fn the_least_recently_used_line_of_a_set_goes() {
        let mut cache = L2::new(2);
        // Nine lines of set 1, of which the first is used once more before the ninth comes.
        for i in 0..8 {
            assert_eq!(cache.look(2 * i + 1, false), CLEAN);
        }
        assert_eq!(cache.look(1, false), Look::Hit);
        assert_eq!(cache.look(17, false), CLEAN);
        assert_eq!(cache.look(1, false), Look::Hit);
        assert_eq!(cache.look(3, false), CLEAN, "line 3 was the least recently used");
        assert_eq!(cache.look(0, false), CLEAN, "the other set");
    }

    #[test]
    fn a_dirty_line_is_written_when_it_goes() {
        let mut cache = L2::new(1);
        for i in 0..8 {
            assert_eq!(cache.look(i, i == 2), CLEAN);
        }
        let dirty = |line| Look::Miss { evicted: Some(line) };
        // A hit that writes makes a line dirty; one that reads leaves it so.
        assert_eq!((cache.look(0, true), cache.look(0, false)), (Look::Hit, Look::Hit));
        let replacing: Vec<Look> = (8..16).map(|i| cache.look(i, false)).collect();
        assert_eq!(replacing, [CLEAN, dirty(2), CLEAN, CLEAN, CLEAN, CLEAN, CLEAN, dirty(0)], "lines 1 to 7, then 0");
    }
}
