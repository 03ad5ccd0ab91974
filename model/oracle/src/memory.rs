//! Global memory: buffers with guard gaps between them.
//!
//! Words are atomic, so that blocks on several host threads can share them; all accesses are relaxed, which costs nothing on the usual hosts.
//! [`crate::conflict`] detects whether their order matters.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::lanes::{WIDTH, each};

/// Address of the first buffer; the addresses below it catch null pointers with an offset.
const FIRST_ADDRESS: u32 = 1 << 24;
/// Alignment of buffers, as of CUDA's allocator.
const ALIGNMENT: u32 = 256;
/// The least number of bytes between two buffers that belong to no buffer.
const GUARD: u32 = 64 << 10;

/// A buffer does not fit at its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OutOfMemory {
    /// Memory is full.
    #[error("a buffer of {bytes} bytes does not fit: all buffers have to end 64 KiB below 4 GiB")]
    Full {
        /// Size of the buffer.
        bytes: u64,
    },
    /// The requested address is not free.
    #[error("its address is {address:#x}, but after the buffers before it the next free address is {next:#x}")]
    Taken {
        /// The requested address.
        address: u32,
        /// The lowest address that the buffer could have.
        next: u64,
    },
}

/// Index of a buffer of a [`Memory`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BufferIndex(pub usize);

/// Global memory.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    buffers: Vec<Buffer>,
}

/// A buffer.
#[derive(Debug)]
pub struct Buffer {
    name: String,
    base: u32,
    bytes: u32,
    words: Box<[AtomicU32]>,
}

impl Clone for Buffer {
    fn clone(&self) -> Self {
        let words = self.words.iter().map(|word| AtomicU32::new(word.load(Relaxed))).collect();
        Self { name: self.name.clone(), base: self.base, bytes: self.bytes, words }
    }
}

impl Buffer {
    /// Its name in fault messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The address of its first byte.
    pub fn address(&self) -> u32 {
        self.base
    }

    /// Its size in bytes.
    pub fn size(&self) -> u32 {
        self.bytes
    }

    /// The bytes from `offset` on, up to the first zero or the buffer's end.
    pub(crate) fn text(&self, offset: u32) -> Vec<u8> {
        let byte = |at: u32| (self.words[at as usize / 4].load(Relaxed) >> (8 * (at % 4))) as u8;
        (offset..self.bytes).map(byte).take_while(|byte| *byte != 0).collect()
    }

    /// Its words. Bytes of the last word beyond the buffer's end are zero, and have to remain zero.
    pub fn words(&self) -> &[AtomicU32] {
        &self.words
    }
}

/// A word of memory that an access concerns: its buffer and its index there.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub buffer: usize,
    pub word: usize,
}

impl Memory {
    /// A new buffer after all others, with these bytes, at the next free address.
    ///
    /// # Errors
    /// When it does not fit below 4 GiB.
    pub fn add(&mut self, name: &str, bytes: &[u8]) -> Result<BufferIndex, OutOfMemory> {
        self.add_at(name, bytes, None)
    }

    /// A new buffer after all others, with these bytes: at `address`, a multiple of 256, or at the next free one.
    ///
    /// # Errors
    /// When it does not fit below 4 GiB, or the address is not beyond the other buffers.
    pub fn add_at(&mut self, name: &str, bytes: &[u8], address: Option<u32>) -> Result<BufferIndex, OutOfMemory> {
        let full = OutOfMemory::Full { bytes: bytes.len() as u64 };
        let base = match self.buffers.last() {
            Some(last) => u64::from(last.base) + u64::from(last.bytes) + u64::from(GUARD),
            None => FIRST_ADDRESS.into(),
        };
        let next = base.next_multiple_of(ALIGNMENT.into());
        let base = address.map_or(next, u64::from);
        if let Some(address) = address.filter(|_| base < next) {
            return Err(OutOfMemory::Taken { address, next });
        }
        if base + bytes.len() as u64 + u64::from(GUARD) > 1 << 32 {
            return Err(full);
        }
        let words = bytes.chunks(4).map(|chunk| {
            let mut word = [0; 4];
            word[..chunk.len()].copy_from_slice(chunk);
            AtomicU32::new(u32::from_le_bytes(word))
        });
        let buffer = Buffer { name: name.into(), base: base as u32, bytes: bytes.len() as u32, words: words.collect() };
        self.buffers.push(buffer);
        Ok(BufferIndex(self.buffers.len() - 1))
    }

    /// The lowest free address from `from` on, a multiple of `alignment`, at which a buffer of this many bytes fits between the others.
    pub fn room(&self, bytes: u64, alignment: u32, from: u32) -> Option<u32> {
        let (guard, align) = (u64::from(GUARD), u64::from(alignment.max(ALIGNMENT)));
        if bytes > 1 << 32 {
            return None;
        }
        let mut at = u64::from(from.max(FIRST_ADDRESS)).next_multiple_of(align);
        for buffer in &self.buffers {
            let (begin, end) = (u64::from(buffer.base), u64::from(buffer.base) + u64::from(buffer.bytes));
            if at + bytes + guard > begin && end + guard > at {
                at = (end + guard).next_multiple_of(align);
            }
        }
        (at + bytes + guard <= 1 << 32).then_some(at as u32)
    }

    /// A new buffer of zeros among the others, at an address from [`Memory::room`]. Indices of the buffers after it change.
    ///
    /// # Errors
    /// When it would lie in another buffer, or too near to one.
    pub fn insert(&mut self, name: &str, bytes: u32, address: u32) -> Result<(), OutOfMemory> {
        if self.room(bytes.into(), 1, address) != Some(address) {
            let next = self.room(bytes.into(), 1, address).map_or(1 << 32, u64::from);
            return Err(OutOfMemory::Taken { address, next });
        }
        let at = self.buffers.partition_point(|buffer| buffer.base < address);
        let words = (0..bytes.div_ceil(4)).map(|_| AtomicU32::new(0)).collect();
        self.buffers.insert(at, Buffer { name: name.into(), base: address, bytes, words });
        Ok(())
    }

    /// Removes the buffer that begins at an address; returns whether there was one. Indices of the buffers after it change.
    pub fn remove(&mut self, address: u32) -> bool {
        let found = self.buffers.binary_search_by_key(&address, |buffer| buffer.base);
        found.is_ok_and(|at| {
            self.buffers.remove(at);
            true
        })
    }

    /// Reads this many bytes; `None` unless they lie in one buffer.
    pub fn bytes_at(&self, address: u32, bytes: u32) -> Option<Vec<u8>> {
        let (buffer, begin) = self.within(address, bytes.into())?;
        let (begin, end) = (begin as usize, begin as usize + bytes as usize);
        let words = &buffer.words[begin / 4..end.div_ceil(4)];
        let mut all: Vec<u8> = words.iter().flat_map(|word| word.load(Relaxed).to_le_bytes()).collect();
        all.drain(..begin % 4);
        all.truncate(bytes as usize);
        Some(all)
    }

    /// Writes bytes at an address; writes nothing and returns `None` unless they lie in one buffer.
    pub fn write_at(&mut self, address: u32, bytes: &[u8]) -> Option<()> {
        let (buffer, begin) = self.within(address, bytes.len() as u64)?;
        let mut at = begin as usize;
        let mut rest = bytes;
        while !rest.is_empty() {
            let (word, offset) = (&buffer.words[at / 4], at % 4);
            let (now, later) = rest.split_at(rest.len().min(4 - offset));
            let mut new = word.load(Relaxed).to_le_bytes();
            new[offset..offset + now.len()].copy_from_slice(now);
            word.store(u32::from_le_bytes(new), Relaxed);
            (at, rest) = (at + now.len(), later);
        }
        Some(())
    }

    /// The buffer that contains `bytes` bytes at an address, and their offset in it.
    pub fn within(&self, address: u32, bytes: u64) -> Option<(&Buffer, u32)> {
        let buffer = self.buffer_below(address)?;
        let begin = address - buffer.base;
        (u64::from(begin).checked_add(bytes)? <= buffer.bytes.into()).then_some((buffer, begin))
    }

    /// The buffer of this index.
    pub fn buffer(&self, index: BufferIndex) -> &Buffer {
        &self.buffers[index.0]
    }

    /// All buffers, by ascending address.
    pub fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }

    /// The last buffer that begins at this address or below it. Since two of them are far apart, an address that is not in this one is in none.
    pub fn buffer_below(&self, address: u32) -> Option<&Buffer> {
        let next = self.buffers.partition_point(|buffer| buffer.base <= address);
        next.checked_sub(1).map(|index| &self.buffers[index])
    }

    /// The bytes of a buffer.
    pub fn read(&self, index: BufferIndex) -> Vec<u8> {
        let buffer = &self.buffers[index.0];
        let mut bytes: Vec<u8> = buffer.words.iter().flat_map(|word| word.load(Relaxed).to_le_bytes()).collect();
        bytes.truncate(buffer.bytes as usize);
        bytes
    }

    /// Writes bytes to a buffer, from its start.
    ///
    /// # Panics
    /// When there are more bytes than the buffer has.
    pub fn write(&mut self, index: BufferIndex, bytes: &[u8]) {
        let buffer = &mut self.buffers[index.0];
        assert!(bytes.len() <= buffer.bytes as usize, "{} bytes in a buffer of {}", bytes.len(), buffer.bytes);
        for (word, chunk) in buffer.words.iter_mut().zip(bytes.chunks(4)) {
            let mut new = word.get_mut().to_le_bytes();
            new[..chunk.len()].copy_from_slice(chunk);
            *word.get_mut() = u32::from_le_bytes(new);
        }
    }

    /// Copies all words, for [`Memory::restore`], in place of an earlier copy: fresh memory would take longer than the copy.
    pub(crate) fn snapshot(&self, copy: &mut Vec<Vec<u32>>) {
        copy.resize_with(self.buffers.len(), Vec::new);
        for (buffer, copy) in self.buffers.iter().zip(copy) {
            copy.clear();
            copy.extend(buffer.words.iter().map(|word| word.load(Relaxed)));
        }
    }

    pub(crate) fn restore(&self, snapshot: &[Vec<u32>]) {
        for (buffer, words) in self.buffers.iter().zip(snapshot) {
            for (word, old) in buffer.words.iter().zip(words) {
                word.store(*old, Relaxed);
            }
        }
    }

    /// Number of words of each buffer.
    pub(crate) fn word_counts(&self) -> impl Iterator<Item = usize> {
        self.buffers.iter().map(|buffer| buffer.words.len())
    }

    /// The place of an access of `size` bytes. `hint` is the buffer that is tried first, and becomes the one that contains the access.
    #[inline(always)]
    pub(crate) fn locate(&self, address: u32, size: u32, hint: &mut usize) -> Option<Place> {
        if let Some(buffer) = self.buffers.get(*hint) {
            let offset = address.wrapping_sub(buffer.base);
            if u64::from(offset) + u64::from(size) <= buffer.bytes.into() {
                return Some(Place { buffer: *hint, word: offset as usize / 4 });
            }
        }
        self.search(address, size, hint)
    }

    #[cold]
    fn search(&self, address: u32, size: u32, hint: &mut usize) -> Option<Place> {
        let index = self.buffers.partition_point(|buffer| buffer.base <= address).checked_sub(1)?;
        let offset = address - self.buffers[index].base;
        if u64::from(offset) + u64::from(size) > self.buffers[index].bytes.into() {
            return None;
        }
        *hint = index;
        Some(Place { buffer: index, word: offset as usize / 4 })
    }

    /// Describes what lies near an address that belongs to no buffer.
    pub fn nearest(&self, address: u64) -> String {
        let distance = |buffer: &Buffer| {
            let (start, end) = (u64::from(buffer.base), u64::from(buffer.base) + u64::from(buffer.bytes));
            if address < start { start - address } else { address.saturating_sub(end) }
        };
        let Some(buffer) = self.buffers.iter().min_by_key(|buffer| distance(buffer)) else {
            return "there are no buffers".into();
        };
        let (name, bytes) = (&buffer.name, buffer.bytes);
        let start = u64::from(buffer.base);
        if address < start {
            format!("the nearest buffer, `{name}` of {bytes} bytes, begins {} bytes further on", start - address)
        } else {
            format!("it is byte {} of the nearest buffer, `{name}`, which has {bytes} bytes", address - start)
        }
    }

    /// The words of a buffer that accesses of `size` bytes at these addresses concern. `None` if one lies elsewhere, or at an address that is no
    /// multiple of `align`.
    #[inline(always)]
    pub(crate) fn locate_together(
        &self,
        at: &[u64; WIDTH],
        size: u32,
        align: u32,
        buffer: usize,
    ) -> Option<(&[AtomicU32], [u32; WIDTH])> {
        let buffer = self.buffers.get(buffer)?;
        let (base, last) = (u64::from(buffer.base), u64::from(buffer.bytes.checked_sub(size)?));
        let outside =
            at.iter().fold(0, |all, at| all | u64::from(at.wrapping_sub(base) > last) | at & u64::from(align - 1));
        (outside == 0).then(|| (&*buffer.words, each(|lane| (at[lane] - base) as u32 / 4)))
    }

    #[inline(always)]
    pub(crate) fn word(&self, place: Place) -> &AtomicU32 {
        &self.buffers[place.buffer].words[place.word]
    }

    /// Replaces some bits of a word; returns whether that changed the word.
    #[inline(always)]
    pub(crate) fn store(&self, place: Place, mask: u32, value: u32) -> bool {
        store(self.word(place), mask, value)
    }
}

/// Replaces some bits of a word; returns whether that changed the word.
#[inline(always)]
pub(crate) fn store(word: &AtomicU32, mask: u32, value: u32) -> bool {
    if mask == u32::MAX {
        // Two blocks that store to one word conflict and run again, so this need not be atomic.
        let old = word.load(Relaxed);
        word.store(value, Relaxed);
        return old != value;
    }
    // Another block may write the word's other bytes.
    let new = |old: u32| Some(old & !mask | value & mask);
    let old = word.fetch_update(Relaxed, Relaxed, new).unwrap_or_else(|old| old);
    (old ^ value) & mask != 0
}
