//! The memories of both sides: filled alike, compared whole.

use gpurf_blocks::{Memory, Twin};
use verilated::Instance;

use crate::Rng;

/// A memory word in which the two sides differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryDifference {
    /// Path of the memory.
    pub path: String,
    /// The block it belongs to.
    pub block: &'static str,
    /// Word.
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
    let mut memories = twin.memories();
    for (index, memory) in memories.iter_mut().enumerate() {
        let mut rng = Rng::new(seed, &memory.path);
        let other = if rtl.memory_count() == 0 { None } else { Some(rtl.memory(index)) };
        memory.fill_words(|word| rng.fill(word));
        if let Some(other) = other.filter(|o| !o.is_empty()) {
            assert_eq!(other.len(), memory.words.len(), "{}: equal sizes", memory.path);
            other.copy_from_slice(memory.words);
        }
    }
}

/// The first differing word of each memory that differs. Memories that the RTL lacks do not.
pub(crate) fn differing_memories(twin: &mut dyn Twin, rtl: &mut Instance) -> Vec<MemoryDifference> {
    if rtl.memory_count() == 0 {
        return Vec::new();
    }
    let memories = twin.memories().into_iter().enumerate();
    memories.filter_map(|(index, memory)| first_difference(&memory, rtl.memory(index))).collect()
}

fn first_difference(memory: &Memory<'_>, rtl: &[u32]) -> Option<MemoryDifference> {
    let stride = memory.stride();
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
