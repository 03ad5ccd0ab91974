//! The trait of every twin: a synchronous machine.

use crate::config::Config;
use crate::{Layout, Ports, WARP_DATA_BITS, WarpData};

/// A synchronous machine.
///
/// A cycle is `early`, `late`, `clock`. Buffers belong to the caller and live as long as the block, so no memory is
/// allocated in a cycle, and a twin may leave an undefined output unchanged: an output whose valid (`valid_by`) is low is
/// never read. Twins should set it to zero all the same, because equal bytes are compared fastest.
///
/// `rst_ni` is an input like any other: a low value takes effect in `clock`, and the outputs of that cycle are those of the
/// state before it.
pub trait Block: Clone + Send + 'static {
    /// The RTL module's name.
    const NAME: &'static str;
    /// The names of the RTL parameters that the shape gives, in the module's order.
    const PARAMETERS: &'static [&'static str];
    /// The modules of the blocks inside this block. Empty for a leaf.
    const CHILDREN: &'static [&'static str] = &[];
    /// Further modules inside this block, such as RAM cells.
    const CELLS: &'static [&'static str] = &[];
    /// The block contains the design of the register file, which can be any design.
    const DESIGNS: bool = false;
    /// Ports of the block's structs that its module does not have.
    const WITHOUT: &'static [&'static str] = &[];
    /// The block's words are registers, not a RAM cell.
    const WORDS_ARE_REGISTERS: bool = false;

    /// Memories of the block whose words are packed structs.
    const PACKED_MEMORIES: &'static [PackedMemory] = &[];

    /// Whether the module has a clock (a stateless block has none).
    const CLOCKED: bool = true;

    /// The shape: sizes that are parameters of the RTL.
    type Shape: Shape;
    /// Input ports, without the clock.
    type In: Ports<Shape = Self::Shape>;
    /// Output ports.
    type Out: Ports<Shape = Self::Shape>;
    /// What lockstep compares besides the ports: inner nets and state. See [`NoProbe`](crate::ports::NoProbe).
    type Probe: Ports<Shape = Self::Shape>;

    /// Inputs of the module that the model does not have for this shape. They are not driven.
    fn unused(_: &Self::Shape) -> Vec<&'static str> {
        Vec::new()
    }

    /// The shape of the block when it runs alone.
    fn shape_alone(config: &Config) -> Self::Shape {
        Self::Shape::of(config)
    }

    /// The block out of reset.
    fn new(shape: &Self::Shape) -> Self;

    /// Fills the outputs that depend on state only (declared with [`Field::early`](crate::Field::early)).
    fn early(&self, out: &mut Self::Out);

    /// Fills the remaining outputs; `early` has been called in this cycle with the same `out`.
    ///
    /// The block may keep intermediate results in scratch space for `clock` to use.
    fn late(&mut self, inputs: &Self::In, out: &mut Self::Out);

    /// The clock edge.
    fn clock(&mut self, inputs: &Self::In, out: &Self::Out);

    /// Copies inner nets and state of this cycle; called between `late` and `clock`, and only when records are compared.
    fn probe(&self, inputs: &Self::In, out: &Self::Out, probe: &mut Self::Probe);

    /// Number of cycles, from the next one on, that with these inputs in each of them change nothing but counters of time: all these cycles are alike,
    /// including their outputs. 0 where that is not certain.
    fn still(&self, _inputs: &Self::In) -> u64 {
        0
    }

    /// Skips that many cycles, which [`still`](Block::still) has allowed.
    fn skip(&mut self, _cycles: u64) {}

    /// From here on no block of the grid begins; blocks that have begun run to their end. The RTL has no counterpart: this is for estimates by the model alone.
    fn drain(&mut self) {}

    /// The memories, in a fixed order: filled from the seed before a run and compared whole.
    fn memories(&mut self) -> Vec<Memory<'_>> {
        Vec::new()
    }
}

/// A memory whose words are packed structs: the last name of its path, and the function that returns the fields.
pub type PackedMemory = (&'static str, fn() -> Layout);

/// A memory of the model, and where its RTL counterpart is.
pub struct Memory<'a> {
    /// Path of the array (or the register, for a memory of one word) inside the RTL module, e.g. `gen_bank[3].u_bank.gen_1rw.u_ram.mem_q`.
    pub path: String,
    /// The block (module) that the memory belongs to, so that mismatches can be attributed.
    pub block: &'static str,
    /// The words in sequence, each in [`Memory::stride`] elements, lowest bits first, zero above the word's width.
    pub words: &'a mut [u32],
    /// Width of a word.
    pub bits: u32,
}

impl<'a> Memory<'a> {
    /// Creates a memory of warp registers.
    pub fn of_warps(path: impl Into<String>, block: &'static str, words: &'a mut [WarpData]) -> Self {
        Self { path: path.into(), block, words: WarpData::as_lanes_mut(words), bits: WARP_DATA_BITS }
    }

    /// Converts the memories of a block into those of the surrounding block, in which it is `instance`.
    pub fn inside(instance: impl std::fmt::Display, memories: Vec<Self>) -> impl Iterator<Item = Self> {
        memories.into_iter().map(move |m| Self { path: format!("{instance}.{}", m.path), ..m })
    }

    /// Number of elements of a word.
    pub fn stride(&self) -> usize {
        self.bits.div_ceil(u32::BITS) as usize
    }

    /// Number of words.
    pub fn len(&self) -> usize {
        self.words.len() / self.stride()
    }

    /// Whether the memory has no words.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Sets the elements of every word with `fill`, and clears the bits above the word's width.
    pub fn fill_words(&mut self, mut fill: impl FnMut(&mut [u32])) {
        let stride = self.stride();
        let unused = stride as u32 * u32::BITS - self.bits;
        for word in self.words.chunks_exact_mut(stride) {
            fill(word);
            word[stride - 1] &= u32::MAX >> unused;
        }
    }
}

/// The sizes of a block.
pub trait Shape: Clone + std::fmt::Debug + Send + Sync + 'static {
    /// The sizes of the block for a configuration.
    fn of(config: &Config) -> Self;

    /// Value of the RTL parameter `name`.
    ///
    /// # Panics
    /// When the shape has no such parameter: a mistake in the block's `PARAMETERS`.
    fn parameter(&self, name: &str) -> u64;
}
