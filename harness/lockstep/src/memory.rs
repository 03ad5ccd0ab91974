//! The memories of both sides: filled with the same words, and compared whole.

use gpurf_blocks::{Memory, Twin};
use verilated::{Instance, Words};

use crate::{LostWord, Rng};

/// A memory word in which the two sides differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryDifference {
    /// Path of the memory.
    pub path: String,
    /// The block that contains the memory.
    pub block: &'static str,
    /// Index of the word.
    pub word: usize,
    /// Width of a word.
    pub bits: u32,
    /// The model's value, lowest bits first.
    pub model: Vec<u32>,
    /// The RTL's value.
    pub rtl: Vec<u32>,
}

/// Fills every memory of both sides with the same random words.
///
/// # Panics
/// When the two do not have the same memories: the RTL was built for another twin.
pub fn fill_memories(twin: &mut dyn Twin, rtl: &mut Instance, seed: u64) {
    fill_twin(twin, seed);
    copy_memories(twin, rtl);
}

/// Copies all memories of the model to the RTL. Memories that the RTL lacks are skipped.
///
/// # Panics
/// When the two do not have the same memories: the RTL was built for another twin.
pub(crate) fn copy_memories(twin: &mut dyn Twin, rtl: &mut Instance) {
    for (index, memory) in twin.memories().iter().enumerate().take(rtl.memory_count()) {
        let mut other = rtl.memory(index);
        if !other.is_empty() {
            assert_eq!(other.len(), memory.words.len(), "{}: equal sizes", memory.path);
            other.copy_from(memory.words);
        }
    }
}

/// Fills the memories of a twin that runs alone, with the same words.
pub fn fill_twin(twin: &mut dyn Twin, seed: u64) {
    for memory in &mut twin.memories() {
        let mut rng = Rng::new(seed, &memory.path);
        memory.fill_words(|word| rng.fill(word));
    }
}

/// Gives words of the model random values. Words that do not exist are skipped.
pub fn lose_in_twin(twin: &mut dyn Twin, lost: &[LostWord]) {
    if lost.is_empty() {
        return;
    }
    let mut memories = twin.memories();
    for word in lost {
        let Some(memory) = memories.get_mut(word.memory) else { continue };
        let (stride, bits) = (memory.stride(), memory.bits);
        if let Some(elements) = memory.words.chunks_exact_mut(stride).nth(word.word) {
            elements.copy_from_slice(&word.value(bits));
        }
    }
}

/// Gives the same words of the RTL the same values.
pub(crate) fn lose_in_rtl(rtl: &mut Instance, lost: &[LostWord]) {
    for word in lost {
        if word.memory < rtl.memory_count() {
            let value = word.value(rtl.memory_bits(word.memory));
            rtl.memory(word.memory).set_word(word.word, &value);
        }
    }
}

impl LostWord {
    /// The random value for a word of this many bits.
    fn value(&self, bits: u32) -> Vec<u32> {
        let mut rng = Rng::new(self.seed, "lost words");
        let mut elements = vec![0; bits.div_ceil(u32::BITS) as usize];
        rng.fill(&mut elements);
        if let Some(last) = elements.last_mut() {
            *last &= u32::MAX >> ((u32::BITS - bits % u32::BITS) % u32::BITS);
        }
        elements
    }
}

/// The first differing word of each differing memory. Memories that the RTL lacks are skipped.
pub(crate) fn differing_memories(twin: &mut dyn Twin, rtl: &mut Instance) -> Vec<MemoryDifference> {
    if rtl.memory_count() == 0 {
        return Vec::new();
    }
    let memories = twin.memories().into_iter().enumerate();
    memories.filter_map(|(index, memory)| first_difference(&memory, &rtl.memory(index))).collect()
}

fn first_difference(memory: &Memory<'_>, rtl: &Words<'_>) -> Option<MemoryDifference> {
    if rtl.is_equal(memory.words) {
        return None;
    }
    let (stride, rtl) = (memory.stride(), rtl.to_vec());
    let mut words = memory.words.chunks_exact(stride).zip(rtl.chunks_exact(stride)).enumerate();
    let (word, (model, rtl)) = words.find(|(_, (model, rtl))| model != rtl)?;
    Some(MemoryDifference {
        path: memory.path.clone(),
        block: memory.block,
        word,
        bits: memory.bits,
        model: model.to_vec(),
        rtl: rtl.to_vec(),
    })
}
