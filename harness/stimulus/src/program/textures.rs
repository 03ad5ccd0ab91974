//! The textures of a program: read-only words in one buffer, with headers in another one.

use std::fmt::{Result, Write};

use gpurf_isa::Op;

use super::Program;
use super::lower::{CONSTANT_WORDS, CONSTANTS};
use super::tree::{Statement, visit};

/// Number of textures.
pub const TEXTURES: usize = 4;
/// Words of all texels. The largest texture has 12 x 6 x 8 texels of 16 bytes.
const TEXEL_WORDS: u32 = 4096;
/// Words of a header.
const HEADER_WORDS: usize = 16;

/// A texture (`docs/textures.md`, "The header").
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Texture {
    /// Where its texels begin, in units of 16 bytes.
    pub at: u32,
    /// Format and sampler: word 2 of the header.
    pub format: u32,
    /// Width, height, depth.
    pub extent: [u32; 3],
    /// Border color.
    pub border: [u32; 4],
}

impl Texture {
    /// Words 2 to 15 of the header.
    fn words(&self) -> [u32; HEADER_WORDS - 2] {
        let [width, height, depth] = self.extent;
        let row = (width * ((self.format >> 2 & 3) + 1)) << (self.format & 3);
        let mut words = [0; HEADER_WORDS - 2];
        words[..6].copy_from_slice(&[self.format, width, height, depth, row, row * height]);
        words[6..10].copy_from_slice(&self.border);
        words
    }
}

/// Address of the constant word with the handle of a texture: after the table of constants.
pub fn handle_at(texture: usize) -> u32 {
    CONSTANTS + 4 * CONSTANT_WORDS + 8 * texture as u32
}

impl Program {
    /// Whether it fetches from textures.
    pub(super) fn fetches(&self) -> bool {
        let mut fetches = false;
        visit(&self.body, &mut |statement| {
            fetches |= matches!(statement, Statement::Do(instruction) if matches!(instruction.op, Op::Tex { .. }));
        });
        fetches
    }

    /// Writes the arguments that hold the textures' handles.
    pub(super) fn write_handles(&self, text: &mut String) -> Result {
        for texture in 0..TEXTURES {
            writeln!(text, "    {{ buffer = \"headers\", offset = {} }},", HEADER_WORDS * texture)?;
        }
        Ok(())
    }

    /// Writes the buffers of textures.
    pub(super) fn write_textures(&self, text: &mut String) -> Result {
        let seed = self.seed.wrapping_mul(4).wrapping_add(3) & i64::MAX as u64;
        writeln!(text, "[[buffer]]\nname = \"texels\"\ntype = \"u32\"\nlen = {TEXEL_WORDS}")?;
        writeln!(text, "init = {{ random = {{ seed = {seed}, min = 0, max = 4294967295 }} }}\n")?;
        writeln!(text, "[[buffer]]\nname = \"headers\"\ntype = \"u32\"\nlen = {}", HEADER_WORDS * TEXTURES)?;
        writeln!(text, "init = {{ struct = [")?;
        for texture in &self.textures {
            writeln!(text, "    {{ buffer = \"texels\", offset = {} }},", 4 * texture.at)?;
            let words = texture.words().map(|word| format!("{{ type = \"u32\", value = {word:#x} }}"));
            writeln!(text, "    {},", words.join(", "))?;
        }
        writeln!(text, "] }}\n")
    }
}
