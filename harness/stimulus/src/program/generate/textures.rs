//! Texture fetches.

use gpurf_isa::modifiers::{Channel, TextureAccess};
use gpurf_isa::{Instruction, Offset, Op};

use super::Generator;
use super::values::all;
use crate::program::textures::{TEXTURES, Texture, handle_at};

/// Address modes: wrap, clamp, mirror, border.
const MODES: u64 = 4;

/// Accesses with integer coordinates, which a texture with normalised coordinates does not have.
fn is_integer(access: TextureAccess) -> bool {
    use TextureAccess::*;
    matches!(access, D1Int | D2Int | D3Int | A1DInt | A2DInt)
}

impl Generator<'_> {
    /// Textures of any formats. The first half has coordinates that are not normalised; wrap needs normalised ones.
    pub(super) fn textures(&mut self) -> Vec<Texture> {
        (0..TEXTURES).map(|index| self.texture(2 * index >= TEXTURES)).collect()
    }

    fn texture(&mut self, normalised: bool) -> Texture {
        let rng = &mut self.rng;
        let (size, channels) = (rng.below(3) as u32, [0, 1, 3][rng.below(3) as usize]);
        let (kind, as_floats) = match (rng.below(3), size) {
            // There are no floats of 8 bits.
            (2, 0) => (0, 0),
            (2, _) => (2, 0),
            // Words are not read as floats from 0 to 1.
            (kind, 2) => (kind as u32, 0),
            (kind, _) => (kind as u32, rng.below(2) as u32),
        };
        let first = if normalised { 0 } else { 1 };
        let modes =
            (0..3).fold(0, |modes, axis| modes | (first + rng.below(MODES - u64::from(first)) as u32) << (2 * axis));
        let format = size
            | channels << 2
            | kind << 4
            | as_floats << 6
            | (rng.below(2) as u32) << 7
            | u32::from(normalised) << 8
            | modes << 10;
        // A cube map has six layers.
        let extent = [1 + rng.below(12) as u32, 1 + rng.below(6) as u32, 6 + rng.below(3) as u32];
        let border = std::array::from_fn(|channel| if channel as u32 <= channels { rng.next_u64() as u32 } else { 0 });
        Texture { at: rng.below(256) as u32, format, extent, border }
    }

    /// A fetch from any texture, at coordinates from any registers: none leads out of the texture.
    pub(super) fn fetch(&mut self) -> Instruction {
        let accesses = all::<TextureAccess>();
        let access = self.pick(&accesses);
        let textures = if is_integer(access) { TEXTURES / 2 } else { TEXTURES };
        let texture = self.rng.below(textures as u64) as usize;
        let channel = self.pick(&all::<Channel>());
        let op = Op::Tex { access, channel };
        let offset = Offset::new(handle_at(texture) as i32).expect("it is small");
        let mut instruction = Instruction::new(op).guarded(self.guard()).offset(offset);
        self.operands(&mut instruction);
        self.finish(instruction)
    }
}
