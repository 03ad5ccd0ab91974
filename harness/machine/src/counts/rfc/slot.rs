//! The cache of an active warp as the papers have it: a few entries, of which the one that has been there longest (FIFO), or has not been used for longest
//! (LRU), makes room (RFC paper 3.1; hierarchy thesis 5.2).

use gpurf_oracle::Mask;

/// What an entry has of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Entry {
    /// Which entry of its slot.
    id: usize,
    /// The register; without meaning where no lane is valid.
    pub register: u8,
    /// Lanes that it has.
    pub valid: Mask,
    /// Of these the ones that the MRF does not have, and a later read may want.
    pub dirty: Mask,
}

impl Entry {
    /// It with another register's value.
    pub fn holding(self, register: u8, lanes: Mask, clean: bool) -> Self {
        Self { register, valid: lanes, dirty: if clean { 0 } else { lanes }, ..self }
    }

    /// Whether it has something of a register.
    pub fn is_of(&self, register: u8) -> bool {
        self.valid != 0 && self.register == register
    }

    /// It has these lanes no longer.
    pub fn lose(&mut self, lanes: Mask) {
        self.valid &= !lanes;
        self.dirty &= !lanes;
    }

    /// It has these lanes too.
    pub fn gain(&mut self, lanes: Mask, clean: bool) {
        self.valid |= lanes;
        self.dirty |= if clean { 0 } else { lanes };
    }
}

/// The entries of a warp, the next one to make room first.
#[derive(Clone, Debug)]
pub struct Slot {
    entries: Vec<Entry>,
    /// The last result, above the entries.
    pub last: Entry,
}

impl Slot {
    /// Empty.
    pub fn new(entries: usize) -> Self {
        let entry = |id| Entry { id, ..Entry::default() };
        Self { entries: (0..entries).map(entry).collect(), last: Entry::default() }
    }

    /// The entry that has something of a register.
    pub fn find(&self, register: u8) -> Option<Entry> {
        self.entries.iter().find(|entry| entry.is_of(register)).copied()
    }

    /// The entry that makes room next.
    pub fn victim(&self) -> Entry {
        self.entries[0]
    }

    /// The entry as it was found.
    pub fn at(&mut self, found: Entry) -> &mut Entry {
        let index = self.place(found);
        &mut self.entries[index]
    }

    fn place(&self, found: Entry) -> usize {
        self.entries.iter().position(|entry| entry.id == found.id).expect("entries stay in their slot")
    }

    /// An entry is the last one to make room from now on.
    pub fn renew(&mut self, found: Entry) {
        let entry = self.entries.remove(self.place(found));
        self.entries.push(entry);
    }

    /// Whether nothing has to be written back from the entries.
    pub fn is_clean(&self) -> bool {
        self.entries.iter().all(|entry| entry.dirty == 0)
    }

    /// The entries are empty. Nothing in them tells them apart, so that their order does not matter.
    pub fn empty(&mut self) {
        self.entries.iter_mut().for_each(|entry| entry.lose(Mask::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(slot: &mut Slot, register: u8) -> Entry {
        let victim = slot.victim();
        *slot.at(victim) = Entry { register, valid: 1, dirty: 1, ..victim };
        slot.renew(victim);
        victim
    }

    #[test]
    fn the_entry_that_was_renewed_last_makes_room_last() {
        let mut slot = Slot::new(3);
        for register in [1, 2, 3] {
            assert_eq!(write(&mut slot, register).valid, 0);
        }
        let found = slot.find(1).unwrap();
        slot.renew(found);
        let evicted: Vec<u8> = [4, 5, 6, 7].map(|register| write(&mut slot, register).register).into();
        assert_eq!(evicted, [2, 3, 1, 4]);
        slot.at(slot.find(7).unwrap()).lose(1);
        assert_eq!((slot.find(7), slot.is_clean()), (None, false));
        slot.empty();
        assert!(slot.is_clean() && slot.find(5).is_none());
    }
}
