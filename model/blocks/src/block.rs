//! The synchronous machine that every twin is.

use crate::config::Config;
use crate::{Layout, Ports, WARP_DATA_BITS, WarpData};

/// A synchronous machine.
///
/// A cycle is `early`, `late`, `clock`. Buffers belong to the caller and live as long as the block, so nothing is
/// allocated in a cycle and a twin may leave alone what it does not define: an output whose valid (`valid_by`) is low is
/// never looked at. Twins do well to leave it zero all the same, because equal bytes are compared fastest.
///
/// `rst_ni` is an input like others: a low value takes effect in `clock`, and the outputs of that cycle are those of the
/// state before it.
pub trait Block: Clone + Send + 'static {
    /// The RTL module's name.
    const NAME: &'static str;
    /// The names of the RTL parameters that the shape gives, in the module's order.
    const PARAMETERS: &'static [&'static str];
    /// The modules of the blocks inside it. Empty for a leaf.
    const CHILDREN: &'static [&'static str] = &[];
    /// Further modules inside it, such as RAM cells.
    const CELLS: &'static [&'static str] = &[];
    /// It contains the design of the register file: any of them.
    const DESIGNS: bool = false;
    /// Ports of its structs that its module does not have.
    const WITHOUT: &'static [&'static str] = &[];
    /// Its words are registers, not a RAM cell.
    const WORDS_ARE_REGISTERS: bool = false;

    /// Its memories whose words are packed structs.
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

    /// Inputs of the module that a shape does not read: the model does not have them, and they are not driven.
    fn unused(_: &Self::Shape) -> Vec<&'static str> {
        Vec::new()
    }

    /// Its shape where it runs alone.
    fn shape_alone(config: &Config) -> Self::Shape {
        Self::Shape::of(config)
    }

    /// The block out of reset.
    fn new(shape: &Self::Shape) -> Self;

    /// Fills the outputs that depend on state only (declared with [`Field::early`](crate::Field::early)).
    fn early(&self, out: &mut Self::Out);

    /// Fills the remaining outputs; `early` has been called in this cycle with the same `out`.
    ///
    /// It may keep what it computes in scratch space inside the block, for `clock` to use.
    fn late(&mut self, inputs: &Self::In, out: &mut Self::Out);

    /// The edge.
    fn clock(&mut self, inputs: &Self::In, out: &Self::Out);

    /// Copies inner nets and state of this cycle; called between `late` and `clock`, and only when records are compared.
    fn probe(&self, inputs: &Self::In, out: &Self::Out, probe: &mut Self::Probe);

    /// How many cycles from the next one on, with these inputs in each of them, change nothing but what counts time: they are all alike, in their
    /// outputs too. 0 where that is not certain.
    fn still(&self, _inputs: &Self::In) -> u64 {
        0
    }

    /// Lets that many cycles pass that [`still`](Block::still) has spoken for.
    fn skip(&mut self, _cycles: u64) {}

    /// No block of the grid begins any more; those that have begun run to their end. The RTL has no such thing: it is for estimates, which the model makes alone.
    fn drain(&mut self) {}

    /// The memories, in a fixed order: filled from the seed before a run and compared whole.
    fn memories(&mut self) -> Vec<Memory<'_>> {
        Vec::new()
    }
}

/// A memory whose words are packed structs: the last name of its path, and the fields.
pub type PackedMemory = (&'static str, fn() -> Layout);

/// A memory of the model, and where its RTL counterpart is.
pub struct Memory<'a> {
    /// Path of the array (or the register, for a memory of one word) inside the RTL module, e.g. `gen_bank[3].u_bank.gen_1rw.u_ram.mem_q`.
    pub path: String,
    /// The block (module) it belongs to, for blame.
    pub block: &'static str,
    /// Its words one after another, each in [`Memory::stride`] elements, lowest bits first, zero above the word's width.
    pub words: &'a mut [u32],
    /// Width of a word.
    pub bits: u32,
}

impl<'a> Memory<'a> {
    /// A memory of warp registers.
    pub fn of_warps(path: impl Into<String>, block: &'static str, words: &'a mut [WarpData]) -> Self {
        Self { path: path.into(), block, words: WarpData::as_lanes_mut(words), bits: WARP_DATA_BITS }
    }

    /// The memories of a block as those of the block around it, in which it is `instance`.
    pub fn inside(instance: impl std::fmt::Display, memories: Vec<Self>) -> impl Iterator<Item = Self> {
        memories.into_iter().map(move |m| Self { path: format!("{instance}.{}", m.path), ..m })
    }

    /// Elements of a word.
    pub fn stride(&self) -> usize {
        self.bits.div_ceil(u32::BITS) as usize
    }

    /// Number of words.
    pub fn len(&self) -> usize {
        self.words.len() / self.stride()
    }

    /// Whether it has no words.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Fills every word with what `fill` puts into its elements, and clears the bits above the word's width.
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
    /// The sizes that a configuration gives it.
    fn of(config: &Config) -> Self;

    /// Value of the RTL parameter `name`.
    ///
    /// # Panics
    /// When the shape has no such parameter: a mistake in the block's `PARAMETERS`.
    fn parameter(&self, name: &str) -> u64;
}
