//! The shared memory of a block, with the state of its checks.
//!
//! Each granule (a word, or a byte in kernels with accesses narrower than a word) records the warps that have read and written it since the last
//! barrier. Accesses of two warps are a data race if one of them writes, unless both write the same value: then the order does not show. Atomic
//! operations are not checked, and every barrier that completes counts as one for all warps, whichever warps wait there: a race across a barrier of
//! other warps is not detected, but no false race is reported.

use crate::fault::{Access, FaultKind};
use crate::lanes::{Lanes, Mask, WIDTH, each, lanes_of};

/// Shared memory with its checks.
#[derive(Debug)]
pub struct Shared {
    /// Its size in bytes; `bytes` has whole words.
    size: u32,
    bytes: Vec<u8>,
    granules: Vec<Granule>,
    /// Logarithm of a granule's size.
    shift: u32,
    /// Number of barriers so far, plus 1.
    epoch: u32,
    /// Whether a byte that nothing has written may be read: it is zero.
    unwritten: bool,
    /// Whether races are looked for.
    races: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Granule {
    /// The epoch in which `readers` and `writers` were recorded; in any other epoch they are stale.
    epoch: u32,
    /// Warps that have read, by bit.
    readers: u32,
    /// Warps that have written.
    writers: u32,
    /// Instruction of the last read, and of the last write.
    read_pc: u32,
    write_pc: u32,
    initialised: bool,
}

/// The origin of an access to shared memory.
#[derive(Clone, Copy, Debug)]
pub struct Accessor {
    /// Warp number in the block, below 32.
    pub warp: u32,
    /// The instruction.
    pub pc: u32,
}

/// A race: the earlier access, whose line the caller looks up.
#[derive(Clone, Copy, Debug)]
pub struct Race {
    /// Its kind.
    pub other: Access,
    /// Its warp.
    pub other_warp: u32,
    /// Its instruction.
    pub other_pc: u32,
}

/// What is wrong with an access.
#[derive(Debug)]
pub enum SharedFault {
    /// The address is out of bounds or was never written.
    Address(FaultKind),
    /// The access is a race.
    Race(Race),
}

impl Shared {
    /// This many bytes; `narrow` if there are accesses of less than a word, `unwritten` if bytes that were never written may be read, `races` if data
    /// races are faults.
    pub fn new(size: u32, narrow: bool, unwritten: bool, races: bool) -> Self {
        let shift = if narrow { 0 } else { 2 };
        let bytes = size.next_multiple_of(4) as usize;
        Self {
            size,
            bytes: vec![0; bytes],
            granules: vec![Granule::default(); bytes >> shift],
            shift,
            epoch: 1,
            unwritten,
            races,
        }
    }

    /// The bit of a warp in the notes. Where races are not looked for, all warps have the same.
    #[inline(always)]
    fn bit(&self, who: Accessor) -> u32 {
        if self.races { 1 << who.warp } else { 1 }
    }

    /// Resets everything to the start, for the next block.
    pub fn reset(&mut self) {
        self.bytes.fill(0);
        self.granules.fill(Granule::default());
        self.epoch = 1;
    }

    /// A barrier is complete.
    pub fn barrier(&mut self) {
        self.epoch += 1;
    }

    #[cold]
    fn out_of_bounds(&self, access: Access, address: u32, bytes: u32) -> Box<SharedFault> {
        let nearest = format!("the block has {} bytes of shared memory", self.size);
        let address = address.into();
        Box::new(SharedFault::Address(FaultKind::OutOfBounds { access, space: "shared", address, bytes, nearest }))
    }

    #[inline(always)]
    fn covered(&self, address: u32, bytes: u32) -> std::ops::RangeInclusive<usize> {
        (address >> self.shift) as usize..=((address + bytes - 1) >> self.shift) as usize
    }

    #[inline(always)]
    fn check(&self, access: Access, address: u32, bytes: u32) -> Result<(), Box<SharedFault>> {
        if u64::from(address) + u64::from(bytes) > self.size.into() {
            return Err(self.out_of_bounds(access, address, bytes));
        }
        Ok(())
    }

    #[inline(always)]
    fn raw(&self, address: u32, bytes: u32) -> u32 {
        let at = address as usize;
        match bytes {
            1 => self.bytes[at].into(),
            2 => u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]).into(),
            _ => u32::from_le_bytes(self.bytes[at..at + 4].try_into().expect("four bytes")),
        }
    }

    #[inline(always)]
    fn put(&mut self, address: u32, bytes: u32, value: u32) {
        let (at, new) = (address as usize, value.to_le_bytes());
        match bytes {
            1 => self.bytes[at] = new[0],
            2 => self.bytes[at..at + 2].copy_from_slice(&new[..2]),
            _ => self.bytes[at..at + 4].copy_from_slice(&new),
        }
    }

    /// The zero-extended value at an aligned address.
    #[inline(always)]
    pub fn load(&mut self, who: Accessor, address: u32, bytes: u32) -> Result<u32, Box<SharedFault>> {
        self.check(Access::Load, address, bytes)?;
        let me = self.bit(who);
        for index in self.covered(address, bytes) {
            let granule = &mut self.granules[index];
            if !granule.initialised && !self.unwritten {
                return Err(Box::new(SharedFault::Address(FaultKind::UninitialisedShared { address })));
            }
            granule.enter(self.epoch);
            if granule.writers & !me != 0 {
                return Err(Box::new(SharedFault::Race(granule.writer(me))));
            }
            granule.readers |= me;
            granule.read_pc = who.pc;
        }
        Ok(self.raw(address, bytes))
    }

    /// The words at these addresses, if all accesses are right; the byte at the address comes first. `None` if one has to be looked at by itself:
    /// then this has noted no more than [`Shared::load`] notes for the accesses that are right.
    #[inline(always)]
    pub fn load_together(&mut self, who: Accessor, at: &[u64; WIDTH], bytes: u32, align: u32) -> Option<Lanes> {
        self.are_inside(at, bytes, align).then_some(())?;
        let me = self.bit(who);
        for at in at {
            let granule = &mut self.granules[*at as usize >> self.shift];
            if !granule.initialised && !self.unwritten {
                return None;
            }
            granule.enter(self.epoch);
            if granule.writers & !me != 0 {
                return None;
            }
            granule.readers |= me;
            granule.read_pc = who.pc;
        }
        let (words, _) = self.bytes.as_chunks();
        Some(Lanes(each(|lane| u32::from_le_bytes(words[at[lane] as usize / 4]) >> (8 * (at[lane] & 3)))))
    }

    /// Whether accesses at these addresses are inside and aligned, and concern one granule each.
    #[inline(always)]
    fn are_inside(&self, at: &[u64; WIDTH], bytes: u32, align: u32) -> bool {
        let Some(last) = self.size.checked_sub(bytes) else { return false };
        let outside = at.iter().fold(0, |all, at| all | u64::from(*at > last.into()) | at & u64::from(align - 1));
        outside == 0 && (self.shift != 0 || bytes == 1)
    }

    /// Stores the values of the lanes of `mask`, in ascending order, if all accesses are right and no other warp has accessed these places since the
    /// last barrier. Returns how often that changed a value. Otherwise nothing is stored.
    #[inline(always)]
    pub fn store_together(
        &mut self,
        who: Accessor,
        at: &[u64; WIDTH],
        values: &Lanes,
        (bytes, align): (u32, u32),
        mask: Mask,
    ) -> Option<u64> {
        self.are_inside(at, bytes, align).then_some(())?;
        let me = self.bit(who);
        let others = |at: &u64| {
            let granule = &self.granules[*at as usize >> self.shift];
            granule.epoch == self.epoch && (granule.readers | granule.writers) & !me != 0
        };
        if at.iter().any(others) {
            return None;
        }
        let mut changed = 0;
        for lane in lanes_of(mask) {
            let (address, value) = (at[lane] as u32, values.0[lane]);
            changed += u64::from((self.raw(address, bytes) ^ value) << (32 - 8 * bytes) != 0);
            let granule = &mut self.granules[address as usize >> self.shift];
            granule.enter(self.epoch);
            granule.writers |= me;
            granule.write_pc = who.pc;
            granule.initialised = true;
            self.put(address, bytes, value);
        }
        Some(changed)
    }

    /// Stores the low bytes of a value at an aligned address; returns whether that changed them.
    #[inline(always)]
    pub fn store(&mut self, who: Accessor, address: u32, bytes: u32, value: u32) -> Result<bool, Box<SharedFault>> {
        self.check(Access::Store, address, bytes)?;
        let changes = (self.raw(address, bytes) ^ value) << (32 - 8 * bytes) != 0;
        let me = self.bit(who);
        for index in self.covered(address, bytes) {
            let granule = &mut self.granules[index];
            granule.enter(self.epoch);
            if granule.readers & !me != 0 {
                let other_warp = (granule.readers & !me).trailing_zeros();
                let other_pc = granule.read_pc;
                return Err(Box::new(SharedFault::Race(Race { other: Access::Load, other_warp, other_pc })));
            }
            if changes && granule.writers & !me != 0 {
                return Err(Box::new(SharedFault::Race(granule.writer(me))));
            }
            granule.writers |= me;
            granule.write_pc = who.pc;
            granule.initialised = true;
        }
        self.put(address, bytes, value);
        Ok(changes)
    }

    /// Replaces the word at an aligned address by a function of itself; returns the old word, and whether the new one differs.
    pub fn update(&mut self, address: u32, f: impl FnOnce(u32) -> u32) -> Result<(u32, bool), Box<SharedFault>> {
        self.check(Access::Atomic, address, 4)?;
        if !self.unwritten && self.covered(address, 4).any(|index| !self.granules[index].initialised) {
            return Err(Box::new(SharedFault::Address(FaultKind::UninitialisedShared { address })));
        }
        let old = self.raw(address, 4);
        let new = f(old);
        self.put(address, 4, new);
        Ok((old, old != new))
    }
}

impl Granule {
    /// Drops what was recorded before the last barrier.
    #[inline(always)]
    fn enter(&mut self, epoch: u32) {
        if self.epoch != epoch {
            (self.epoch, self.readers, self.writers) = (epoch, 0, 0);
        }
    }

    /// The last write, as the earlier access of a race.
    fn writer(&self, me: u32) -> Race {
        Race { other: Access::Store, other_warp: (self.writers & !me).trailing_zeros(), other_pc: self.write_pc }
    }
}
