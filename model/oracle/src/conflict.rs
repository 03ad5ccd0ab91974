//! Detects whether the order of blocks matters.
//!
//! The blocks of a launch may run at the same time only if the result does not show it. So a parallel run notes for every word of global memory which
//! block wrote it and which block read it. Two blocks conflict if both write the same word, or if one writes a word that the other reads: the run is
//! then discarded, and the blocks run again one after the other, in ascending order, which is the defined order of a launch. So the result is the
//! same for any number of threads. Atomic additions and similar operations whose results no instruction uses commute; those of one kind count as one
//! kind of access.
//!
//! A block makes each note once, by a read-modify-write, and then checks the other kind of note, that of readers or of writers. Of two blocks that do
//! so at the same time at least one sees the other's note. Notes of earlier launches have lower numbers and are ignored, so that nothing needs to be
//! cleared between launches.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::memory::{Memory, Place};

/// Notes on every word of global memory.
#[derive(Debug)]
pub struct Conflicts {
    /// The writing block of each word, by buffer.
    writers: Vec<Box<[AtomicU32]>>,
    /// The reading block of each word, or `many`.
    readers: Vec<Box<[AtomicU32]>>,
    /// Notes up to this one are of earlier launches.
    base: u32,
    /// The note that stands for more than one reading block; above it are those for atomic operations.
    many: u32,
    found: AtomicBool,
}

/// Notes above `many`: one for each kind of atomic operation.
const KINDS: u32 = 16;

impl Conflicts {
    /// No notes yet.
    pub fn new(memory: &Memory) -> Self {
        let notes = || memory.word_counts().map(|words| (0..words).map(|_| AtomicU32::new(0)).collect()).collect();
        Self { writers: notes(), readers: notes(), base: 0, many: 0, found: AtomicBool::new(false) }
    }

    /// Whether the notes cover all words of a memory.
    pub fn covers(&self, memory: &Memory) -> bool {
        memory.word_counts().eq(self.writers.iter().map(|words| words.len()))
    }

    /// Begins a launch of this many blocks. Returns false if there are too many for each to have its own note.
    pub fn begin(&mut self, blocks: u64) -> bool {
        *self.found.get_mut() = false;
        let used = self.many.saturating_add(KINDS);
        let Some(many) = u32::try_from(blocks).ok().and_then(|blocks| used.checked_add(blocks)?.checked_add(1)) else {
            return false;
        };
        if many > u32::MAX - 2 * KINDS {
            return false;
        }
        self.base = used;
        self.many = many;
        true
    }

    /// Whether a conflict was found.
    pub fn found(&self) -> bool {
        self.found.load(Ordering::Relaxed)
    }

    /// Records a conflict.
    pub fn assume(&self) {
        self.found.store(true, Ordering::Relaxed);
    }

    /// The note that stands for a block.
    pub fn note(&self, block: u64) -> u32 {
        self.base + block as u32 + 1
    }

    fn is_current(&self, note: u32) -> bool {
        note > self.base
    }

    /// The block of this note reads a word.
    #[inline(always)]
    pub fn read(&self, note: u32, place: Place) {
        let seen = self.readers[place.buffer][place.word].load(Ordering::Relaxed);
        if seen != note && seen != self.many {
            self.first_read(note, place, seen);
        }
    }

    #[cold]
    fn first_read(&self, note: u32, place: Place, seen: u32) {
        let reader = &self.readers[place.buffer][place.word];
        if self.is_current(seen) || reader.compare_exchange(seen, note, Ordering::SeqCst, Ordering::SeqCst).is_err() {
            reader.swap(self.many, Ordering::SeqCst);
        }
        let writer = self.writers[place.buffer][place.word].load(Ordering::SeqCst);
        if self.is_current(writer) && writer != note {
            self.assume();
        }
    }

    /// The block of this note writes a word.
    #[inline(always)]
    pub fn write(&self, note: u32, place: Place) {
        if self.writers[place.buffer][place.word].load(Ordering::Relaxed) != note {
            self.first_write(note, note, place);
        }
    }

    /// The block of this note performs an atomic operation of a kind that commutes with itself.
    #[inline(always)]
    pub fn accumulate(&self, note: u32, kind: u32, place: Place) {
        let as_writer = self.many + 1 + kind;
        if self.writers[place.buffer][place.word].load(Ordering::Relaxed) != as_writer {
            self.first_write(note, as_writer, place);
        }
        // An earlier load by this block is a conflict too, just as one by another block.
        if self.is_current(self.readers[place.buffer][place.word].load(Ordering::SeqCst)) {
            self.assume();
        }
    }

    #[cold]
    fn first_write(&self, note: u32, as_writer: u32, place: Place) {
        let writer = &self.writers[place.buffer][place.word];
        let seen = writer.load(Ordering::Relaxed);
        let other = if self.is_current(seen) {
            Some(seen)
        } else {
            writer.compare_exchange(seen, as_writer, Ordering::SeqCst, Ordering::SeqCst).err()
        };
        if other.is_some_and(|other| other != as_writer) {
            self.assume();
        }
        let reader = self.readers[place.buffer][place.word].load(Ordering::SeqCst);
        if self.is_current(reader) && reader != note {
            self.assume();
        }
    }
}
