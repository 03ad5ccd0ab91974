//! Where registers live, which entries are free, and what is parked there (stealing paper, II-B, figure 9).

/// An entry of a bank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The bank.
    pub bank: usize,
    /// The entry.
    pub entry: usize,
}

/// The file's sizes.
#[derive(Clone, Copy, Debug)]
pub struct Map {
    /// Banks.
    pub banks: usize,
    /// Entries of a bank.
    pub depth: usize,
    /// Entries of each bank that a warp has.
    pub rows: usize,
}

impl Map {
    /// Where a register of a warp lives: neighbours in neighbouring banks, and those of the next warp one further.
    pub fn place(&self, warp: u8, register: u8) -> Place {
        let (warp, register) = (usize::from(warp), usize::from(register));
        let entry = (warp * self.rows + register / self.banks) % self.depth;
        Place { bank: (register + warp) % self.banks, entry }
    }

    /// Whether a register is one of its warp's.
    pub fn has(&self, register: u8) -> bool {
        usize::from(register) / self.banks < self.rows
    }
}

/// A value that is parked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parked {
    /// Where it belongs.
    pub home: Place,
    /// In which cycle it was parked.
    pub since: u64,
}

/// What is known of each bank.
#[derive(Clone, Debug)]
pub struct Table {
    /// The entry that no warp needs.
    pub free: Vec<Option<usize>>,
    /// What is parked in it.
    pub parked: Vec<Option<Parked>>,
}

impl Table {
    /// Nothing is free.
    pub fn new(banks: usize) -> Self {
        Self { free: vec![None; banks], parked: vec![None; banks] }
    }

    /// The bank in which the value of a register is parked.
    pub fn find(&self, home: Place) -> Option<usize> {
        self.parked.iter().position(|parked| parked.is_some_and(|parked| parked.home == home))
    }

    /// Whether an entry is its bank's free one.
    pub fn is_free(&self, place: Place) -> bool {
        self.free[place.bank] == Some(place.entry)
    }

    /// A new grid, whose warps have the last entry of each bank or not.
    pub fn clear(&mut self, last: Option<usize>) {
        self.free.fill(last);
        self.parked.fill(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_spread_over_banks_and_warps_have_rows() {
        let map = Map { banks: 4, depth: 8, rows: 3 };
        assert_eq!(map.place(0, 5), Place { bank: 1, entry: 1 });
        assert_eq!(map.place(1, 5), Place { bank: 2, entry: 4 });
        assert_eq!(map.place(3, 0), Place { bank: 3, entry: 1 });
        assert!(map.has(11) && !map.has(12));
        let mut table = Table::new(4);
        table.clear(Some(7));
        assert!(table.is_free(Place { bank: 2, entry: 7 }) && !table.is_free(Place { bank: 2, entry: 6 }));
        let home = Place { bank: 1, entry: 3 };
        table.parked[2] = Some(Parked { home, since: 5 });
        assert_eq!((table.find(home), table.find(Place { bank: 3, ..home })), (Some(2), None));
        table.clear(None);
        assert_eq!((table.find(home), table.free[0]), (None, None));
    }
}
