//! Sequences of commits: hashes of all of them, and one sequence with its values.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use gpurf_oracle::{Mask, WarpId, lanes_of};

/// The target of a write.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// A general register.
    Register(u8),
    /// A predicate.
    Predicate(u8),
    /// Memory: stores and atomic operations, in one sequence.
    Memory,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Register(register) => write!(f, "R{register}"),
            Self::Predicate(predicate) => write!(f, "P{predicate}"),
            Self::Memory => f.write_str("memory"),
        }
    }
}

/// Identifies a sequence: the warp, and the target.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Key {
    /// The warp.
    pub warp: WarpId,
    /// The target.
    pub kind: Kind,
}

/// An element of a sequence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Write {
    /// A register takes these values in the lanes of the mask; other lanes hold zero.
    Register {
        /// Lanes.
        mask: Mask,
        /// Values.
        values: [u32; 32],
    },
    /// A predicate takes these values in the lanes of the mask; other lanes hold zero.
    Predicate {
        /// Lanes.
        mask: Mask,
        /// Values.
        values: Mask,
    },
    /// Memory takes values at generic addresses; lanes outside the mask hold zero.
    Store {
        /// Lanes.
        mask: Mask,
        /// Addresses.
        addresses: [u64; 32],
        /// Values.
        values: [u32; 32],
        /// Bytes of each.
        bytes: u32,
    },
    /// An atomic operation on generic addresses; lanes outside the mask hold zero.
    Atomic {
        /// Lanes.
        mask: Mask,
        /// Addresses.
        addresses: [u64; 32],
    },
}

impl Write {
    /// A register write, other lanes cleared.
    pub fn register(mask: Mask, values: &[u32; 32]) -> Self {
        Self::Register { mask, values: masked(mask, values) }
    }

    /// A predicate write, other lanes cleared.
    pub fn predicate(mask: Mask, values: Mask) -> Self {
        Self::Predicate { mask, values: values & mask }
    }

    /// A store, other lanes and bytes cleared.
    pub fn store(mask: Mask, addresses: &[u64; 32], values: &[u32; 32], bytes: u32) -> Self {
        let low = u32::MAX >> (u32::BITS - 8 * bytes);
        let values = masked(mask, &values.map(|value| value & low));
        Self::Store { mask, addresses: masked(mask, addresses), values, bytes }
    }

    /// An atomic operation, other lanes cleared.
    pub fn atomic(mask: Mask, addresses: &[u64; 32]) -> Self {
        Self::Atomic { mask, addresses: masked(mask, addresses) }
    }

    fn mask(&self) -> Mask {
        match self {
            Self::Register { mask, .. } | Self::Predicate { mask, .. } => *mask,
            Self::Store { mask, .. } | Self::Atomic { mask, .. } => *mask,
        }
    }

    /// What the write does in a lane, as text.
    fn lane(&self, lane: usize) -> String {
        if self.mask() >> lane & 1 == 0 {
            return "does not take part".to_owned();
        }
        match self {
            Self::Register { values, .. } => format!("{:#010x}", values[lane]),
            Self::Predicate { values, .. } => (values >> lane & 1).to_string(),
            Self::Store { addresses, values, bytes, .. } => {
                format!("store of {:#x} ({bytes} bytes) at {:#x}", values[lane], addresses[lane])
            }
            Self::Atomic { addresses, .. } => format!("atomic operation at {:#x}", addresses[lane]),
        }
    }

    /// The first lane in which two writes differ, and the text of each write in that lane.
    pub fn difference(&self, other: &Self) -> Option<(usize, String, String)> {
        (0..32).map(|lane| (lane, self.lane(lane), other.lane(lane))).find(|(_, mine, theirs)| mine != theirs)
    }

    /// Adds the whole write to a hash.
    fn fold(&self, hash: &mut Hash) {
        match self {
            Self::Register { mask, values } => {
                hash.add(u64::from(*mask) | 1 << 32);
                hash.words(values);
            }
            Self::Predicate { mask, values } => hash.add(u64::from(*mask) | u64::from(*values) << 32),
            Self::Store { mask, addresses, values, bytes } => {
                hash.add(u64::from(*mask) | u64::from(*bytes) << 32);
                addresses.iter().for_each(|&address| hash.add(address));
                hash.words(values);
            }
            Self::Atomic { mask, addresses } => {
                hash.add(u64::from(*mask) | 1 << 40);
                addresses.iter().for_each(|&address| hash.add(address));
            }
        }
    }
}

fn masked<T: Copy + Default>(mask: Mask, values: &[T; 32]) -> [T; 32] {
    let mut result = [T::default(); 32];
    lanes_of(mask).for_each(|lane| result[lane] = values[lane]);
    result
}

/// Receives writes.
pub trait Sink {
    /// The next write of a sequence.
    fn write(&mut self, key: Key, write: &Write);
}

/// A hash of a sequence. Each step is a bijection of the previous hash, so a difference remains unless a later difference cancels it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Hash(u64);

impl Hash {
    fn add(&mut self, word: u64) {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(ODD);
    }

    fn words(&mut self, words: &[u32; 32]) {
        words.as_chunks::<2>().0.iter().for_each(|&[low, high]| self.add(u64::from(low) | u64::from(high) << 32));
    }
}

/// A sequence as hash and length.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Digest {
    count: u32,
    hash: Hash,
}

impl Digest {
    /// Adds the next element, as a word.
    pub fn add(&mut self, word: u64) {
        self.count += 1;
        self.hash.add(word);
    }

    /// Number of elements.
    pub fn count(self) -> u32 {
        self.count
    }
}

/// The sequences of a warp: predicates, memory, registers.
type OfWarp = Vec<Digest>;

/// Index of the first register in [`OfWarp`].
const REGISTERS: usize = 8;

fn place(kind: Kind) -> usize {
    match kind {
        Kind::Predicate(predicate) => usize::from(predicate % 7),
        Kind::Memory => REGISTERS - 1,
        Kind::Register(register) => REGISTERS + usize::from(register),
    }
}

fn kind_at(place: usize) -> Kind {
    match place {
        0..7 => Kind::Predicate(place as u8),
        7 => Kind::Memory,
        _ => Kind::Register((place - REGISTERS) as u8),
    }
}

/// All sequences of a launch, as hashes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Sequences {
    warps: HashMap<WarpId, OfWarp>,
}

impl Sequences {
    /// No sequences yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The first sequence that differs, with the number of writes on each side; ordered by block, warp, then predicates, memory, registers.
    pub fn difference(&self, other: &Self) -> Option<(Key, u32, u32)> {
        let none = OfWarp::new();
        let warps: BTreeSet<_> = self.warps.keys().chain(other.warps.keys()).collect();
        warps.into_iter().find_map(|&warp| {
            let [mine, theirs] = [self, other].map(|s| s.warps.get(&warp).unwrap_or(&none));
            let at = |digests: &OfWarp, place: usize| digests.get(place).copied().unwrap_or_default();
            let place = (0..mine.len().max(theirs.len())).find(|&p| at(mine, p) != at(theirs, p))?;
            Some((Key { warp, kind: kind_at(place) }, at(mine, place).count, at(theirs, place).count))
        })
    }

    /// One digest of all sequences; it does not depend on the order in which warps write.
    pub fn digest(&self) -> u64 {
        let mut all = Hash::default();
        for (warp, digests) in self.warps.iter().collect::<BTreeMap<_, _>>() {
            for (place, digest) in digests.iter().enumerate().filter(|(_, digest)| digest.count > 0) {
                all.add(warp.block);
                all.add(u64::from(warp.warp) << 32 | place as u64);
                all.add(digest.count.into());
                all.add(digest.hash.0);
            }
        }
        all.0
    }

    /// Number of writes in all sequences.
    pub fn count(&self) -> u64 {
        self.warps.values().flatten().map(|digest| u64::from(digest.count)).sum()
    }
}

impl Sink for Sequences {
    fn write(&mut self, key: Key, write: &Write) {
        let digests = self.warps.entry(key.warp).or_default();
        let place = place(key.kind);
        if digests.len() <= place {
            digests.resize(place + 1, Digest::default());
        }
        let digest = &mut digests[place];
        digest.count += 1;
        write.fold(&mut digest.hash);
    }
}

/// One sequence with its values.
#[derive(Clone, Debug)]
pub struct Writes {
    /// Which sequence.
    pub key: Key,
    /// Its elements.
    pub writes: Vec<Write>,
}

impl Writes {
    /// No writes yet.
    pub fn new(key: Key) -> Self {
        Self { key, writes: Vec::new() }
    }
}

impl Sink for Writes {
    fn write(&mut self, key: Key, write: &Write) {
        if key == self.key {
            self.writes.push(write.clone());
        }
    }
}
