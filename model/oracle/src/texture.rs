//! Texture fetches, as `docs/textures.md` specifies them: what the instruction TEX reads and gives.
//!
//! The texture unit of the machine (`docs/machine.md`) performs fetches by the same functions. They work on all lanes of a warp together: loops over
//! lanes without branches become vector code.

use gpurf_isa::modifiers::{Channel, Modifier, TextureAccess};
use multiversion::multiversion;

use crate::lanes::{Mask, WIDTH, each, lanes_of};

/// A word of each lane.
type Words = [u32; WIDTH];

/// A NaN that arithmetic makes (`docs/arithmetic.md`).
const NAN: u32 = 0x7fff_ffff;

/// Words of a header that a fetch needs.
const WORDS: usize = 12;

/// The place of a texel that is outside of the texture. All other places are positive.
const OUTSIDE: i32 = -1;

/// How an index that is outside of the texture is replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Wrap,
    Clamp,
    Mirror,
    Border,
}

/// How the coordinates of a dimension become texels.
#[derive(Clone, Copy)]
struct Axis {
    size: u32,
    mode: Mode,
    normalised: bool,
    linear: bool,
}

/// The two texels around a coordinate of each lane, and the weight of the second one.
#[derive(Clone, Copy)]
struct Around {
    texels: [[i32; WIDTH]; 2],
    alpha: [f32; WIDTH],
}

impl Around {
    /// Texels that are alone.
    fn only(texels: [i32; WIDTH]) -> Self {
        Self { texels: [texels; 2], alpha: [0.0; WIDTH] }
    }
}

/// The texels that an access reads in each lane.
#[allow(clippy::large_enum_variant, reason = "a value lives for one instruction, on the stack")]
enum Wanted {
    /// Those at these places, without a filter.
    Single([[i32; WIDTH]; 3]),
    /// Those around the coordinates, in so many dimensions.
    Around([Around; 3], usize),
}

/// The texels with these indices, which may lie outside.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn inside(Axis { size, mode, .. }: Axis, index: &[i32; WIDTH]) -> [i32; WIDTH] {
    let size = size.cast_signed();
    let last = size.wrapping_sub(1);
    match mode {
        Mode::Wrap => each(|lane| {
            let index = index[lane];
            let below = if index < 0 { size } else { 0 };
            let above = if index > last { size } else { 0 };
            index.wrapping_add(below).wrapping_sub(above)
        }),
        Mode::Clamp | Mode::Mirror => each(|lane| index[lane].min(last).max(0)),
        Mode::Border => each(|lane| if index[lane] < 0 || index[lane] > last { OUTSIDE } else { index[lane] }),
    }
}

/// The texels around coordinates; without the filter the first ones are the nearest.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn around(axis: Axis, at: &[f32; WIDTH]) -> Around {
    let size = axis.size as f32;
    let mut x = *at;
    if axis.normalised {
        match axis.mode {
            Mode::Wrap => x = each(|lane| x[lane] - x[lane].floor()),
            Mode::Mirror => {
                x = each(|lane| {
                    let whole = x[lane].floor();
                    let half = whole * 0.5;
                    let rest = x[lane] - whole;
                    if half.floor() == half { rest } else { 1.0 - rest }
                });
            }
            Mode::Clamp | Mode::Border => {}
        }
        x = each(|lane| x[lane] * size);
    }
    x = each(|lane| if x[lane].is_nan() { 0.0 } else { x[lane].max(-2.0).min(size + 2.0) });
    let mut alpha = [0.0; WIDTH];
    if axis.linear {
        x = each(|lane| x[lane] - 0.5);
        alpha = each(|lane| ((x[lane] - x[lane].floor()) * 256.0 + 0.5).floor() * (1.0 / 256.0));
    }
    let first = each(|lane| x[lane].floor() as i32);
    let second = if axis.linear { each(|lane| first[lane].wrapping_add(1)) } else { first };
    Around { texels: [inside(axis, &first), inside(axis, &second)], alpha }
}

/// The weights of the texels that are the second ones in these dimensions.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn weights(axes: &[Around; 3], second: [bool; 3]) -> [f32; WIDTH] {
    let mut weights = [1.0; WIDTH];
    for (axis, second) in axes.iter().zip(second) {
        weights = each(|lane| weights[lane] * if second { axis.alpha[lane] } else { 1.0 - axis.alpha[lane] });
    }
    weights
}

/// Adds weighted texels; those of weight 0 are not there.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn add(sums: &mut [f32; WIDTH], weights: &[f32; WIDTH], texels: &Words) {
    *sums = each(|lane| {
        let sum = weights[lane].mul_add(f32::from_bits(texels[lane]), sums[lane]);
        if weights[lane] == 0.0 { sums[lane] } else { sum }
    });
}

/// Sums of products with the sizes of texel, row and plane, from `base` on.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn addresses(places: &[[i32; WIDTH]; 3], sizes: [u32; 3], base: u32) -> Words {
    each(|lane| {
        let [x, y, z] = places.each_ref().map(|place| place[lane].cast_unsigned());
        let [texel, row, plane] = sizes;
        let line = y.wrapping_mul(row).wrapping_add(z.wrapping_mul(plane));
        base.wrapping_add(x.wrapping_mul(texel)).wrapping_add(line)
    })
}

/// The lanes whose texel is outside in some dimension.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn outside(places: &[[i32; WIDTH]; 3]) -> Mask {
    (0..WIDTH).fold(0, |mask, lane| {
        let [x, y, z] = places.each_ref().map(|place| place[lane]);
        mask | Mask::from(x | y | z < 0) << lane
    })
}

/// What the channels of a texture hold.
#[derive(Clone, Copy)]
struct Format {
    /// Bits of a channel: 8, 16 or 32.
    width: u32,
    /// Number of channels.
    channels: u32,
    signed: bool,
    float: bool,
    /// Integers are read as floats from 0 or -1 to 1.
    as_floats: bool,
}

/// Channels of 8 or 16 bits as a fetch gives them.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn converted(format: Format, bits: &Words) -> Words {
    let unused = u32::BITS - format.width;
    let signed = |bits: u32| (bits << unused).cast_signed() >> unused;
    let (most, most_signed) = ((u32::MAX >> unused) as f32, (i32::MAX >> unused) as f32);
    match format {
        Format { float: true, .. } => each(|lane| float_of_half(bits[lane])),
        Format { signed: false, as_floats: false, .. } => *bits,
        Format { signed: true, as_floats: false, .. } => each(|lane| signed(bits[lane]).cast_unsigned()),
        // A conversion from signed numbers is a vector operation; these are small.
        Format { signed: false, .. } => each(|lane| (bits[lane].cast_signed() as f32 / most).to_bits()),
        Format { signed: true, .. } => each(|lane| (signed(bits[lane]) as f32 / most_signed).max(-1.0).to_bits()),
    }
}

/// The header of a texture.
pub struct Texture {
    words: [u32; WORDS],
}

impl Texture {
    /// Reads the header at a handle, whose lowest two bits are not used; `read` reads so many bytes at an address.
    ///
    /// # Errors
    /// The first one of `read`.
    pub fn at<E>(handle: u32, mut read: impl FnMut(u32, u32) -> Result<u32, E>) -> Result<Self, E> {
        let mut words = [0; WORDS];
        for (index, word) in words.iter_mut().enumerate() {
            *word = read((handle & !3).wrapping_add(4 * index as u32), 4)?;
        }
        Ok(Self { words })
    }

    /// A channel of the texture at the coordinates of an instruction, in the lanes of `mask`; `read` reads for a lane, at an address, so many bytes.
    ///
    /// # Errors
    /// The first one of `read`.
    pub fn fetch<E>(
        &self,
        access: TextureAccess,
        channel: Channel,
        at: [&Words; 3],
        mask: Mask,
        mut read: impl FnMut(usize, u32, u32) -> Result<u32, E>,
    ) -> Result<Words, E> {
        let (axes, dimensions) = match self.wanted(access, at) {
            Wanted::Single(places) => return self.texels(&places, channel, mask, &mut read),
            Wanted::Around(axes, dimensions) => (axes, dimensions),
        };
        let mut sums = [0.0; WIDTH];
        for corner in 0..1 << dimensions {
            let second = [0, 1, 2].map(|axis| corner >> axis & 1 == 1);
            let weights = weights(&axes, second);
            let counting = (0..WIDTH).fold(0, |lanes, lane| lanes | Mask::from(weights[lane] != 0.0) << lane);
            if counting & mask != 0 {
                let places = std::array::from_fn(|axis| axes[axis].texels[usize::from(second[axis])]);
                let texels = self.texels(&places, channel, counting & mask, &mut read)?;
                add(&mut sums, &weights, &texels);
            }
        }
        Ok(sums.map(|sum| if sum.is_nan() { NAN } else { sum.to_bits() }))
    }

    /// The places that an access means.
    fn wanted(&self, access: TextureAccess, at: [&Words; 3]) -> Wanted {
        use TextureAccess::*;
        let [a, b, c] = at;
        let flat = [0; WIDTH];
        let index = |dimension, at: &Words| inside(self.axis(dimension), &at.map(u32::cast_signed));
        let layer = |layer: &Words| layer.map(|layer| layer.min(self.words[5].wrapping_sub(1)).cast_signed());
        let along = |dimension, at: &Words| around(self.axis(dimension), &at.map(f32::from_bits));
        let (axes, dimensions) = match access {
            D1Int => return Wanted::Single([index(0, a), flat, flat]),
            D2Int => return Wanted::Single([index(0, a), index(1, b), flat]),
            D3Int => return Wanted::Single([index(0, a), index(1, b), index(2, c)]),
            A1DInt => return Wanted::Single([index(0, a), flat, layer(b)]),
            A2DInt => return Wanted::Single([index(0, a), index(1, b), layer(c)]),
            D2Gather0 | D2Gather1 | D2Gather2 | D2Gather3 | A2DGather0 | A2DGather1 | A2DGather2 | A2DGather3 => {
                let plane = if access.has_third() { layer(c) } else { flat };
                let [x, y] = [[0, 1], [1, 1], [1, 0], [0, 0]][access.bits() as usize & 3];
                let texels = |dimension, at: &Words| {
                    around(Axis { linear: true, ..self.axis(dimension) }, &at.map(f32::from_bits)).texels
                };
                return Wanted::Single([texels(0, a)[x], texels(1, b)[y], plane]);
            }
            D1 => ([along(0, a), Around::only(flat), Around::only(flat)], 1),
            A1D => ([along(0, a), Around::only(flat), Around::only(layer(b))], 1),
            D2 => ([along(0, a), along(1, b), Around::only(flat)], 2),
            A2D => ([along(0, a), along(1, b), Around::only(layer(c))], 2),
            D3 => ([along(0, a), along(1, b), along(2, c)], 3),
            Cube => (self.cube(at), 2),
        };
        if self.bit(7) { Wanted::Around(axes, dimensions) } else { Wanted::Single(axes.map(|axis| axis.texels[0])) }
    }

    fn bit(&self, bit: u32) -> bool {
        self.words[2] >> bit & 1 == 1
    }

    fn axis(&self, dimension: usize) -> Axis {
        let modes = [Mode::Wrap, Mode::Clamp, Mode::Mirror, Mode::Border];
        Axis {
            size: self.words[3 + dimension],
            mode: modes[self.words[2] as usize >> (10 + 2 * dimension) & 3],
            normalised: self.bit(8),
            linear: self.bit(7),
        }
    }

    fn format(&self) -> Format {
        let word = self.words[2];
        Format {
            // The fourth size does not exist; it counts as words.
            width: 8 << (word & 3).min(2),
            channels: (word >> 2 & 3) + 1,
            signed: word >> 4 & 3 == 1,
            float: word >> 5 & 1 == 1,
            as_floats: self.bit(6),
        }
    }

    /// Where directions meet the cube: in a face, whose number takes the place of a layer.
    fn cube(&self, at: [&Words; 3]) -> [Around; 3] {
        let mut faces = [0; WIDTH];
        let mut coordinates = [[0.0; WIDTH]; 2];
        for lane in 0..WIDTH {
            let [x, y, z] = at.map(|at| f32::from_bits(at[lane]));
            let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
            let (face, m, s, t) = if az >= ax && az >= ay {
                if z < 0.0 { (5, az, -x, -y) } else { (4, az, x, -y) }
            } else if ay >= ax {
                if y < 0.0 { (3, ay, x, -z) } else { (2, ay, x, z) }
            } else if x < 0.0 {
                (1, ax, z, -y)
            } else {
                (0, ax, -z, -y)
            };
            faces[lane] = face;
            (coordinates[0][lane], coordinates[1][lane]) = ((s / m + 1.0) / 2.0, (t / m + 1.0) / 2.0);
        }
        let axis = |dimension| Axis { mode: Mode::Clamp, normalised: true, ..self.axis(dimension) };
        [around(axis(0), &coordinates[0]), around(axis(1), &coordinates[1]), Around::only(faces)]
    }

    /// A channel of the texels at these places, in the lanes of `mask`.
    fn texels<E>(
        &self,
        places: &[[i32; WIDTH]; 3],
        channel: Channel,
        mask: Mask,
        read: &mut impl FnMut(usize, u32, u32) -> Result<u32, E>,
    ) -> Result<Words, E> {
        let (format, channel) = (self.format(), channel.bits());
        let outside = outside(places) & mask;
        let bytes = format.width / 8;
        let mut words = [0; WIDTH];
        if channel < format.channels {
            let sizes = [format.channels * bytes, self.words[6], self.words[7]];
            let addresses = addresses(places, sizes, self.words[0].wrapping_add(channel * bytes));
            for lane in lanes_of(mask & !outside) {
                words[lane] = read(lane, addresses[lane] & !(bytes - 1), bytes)?;
            }
            if bytes < 4 {
                words = converted(format, &words);
            }
        }
        for lane in lanes_of(outside) {
            words[lane] = self.words[8 + channel as usize];
        }
        Ok(words)
    }
}

/// The float of 32 bits that equals one of 16 bits.
#[inline(always)]
fn float_of_half(bits: u32) -> u32 {
    let (sign, exponent, fraction) = (bits & 0x8000, bits >> 10 & 31, bits & 0x3ff);
    match exponent {
        31 if fraction != 0 => NAN,
        31 => sign << 16 | 0x7f80_0000,
        0 => {
            // A multiple of 2^-24, which a float of 32 bits holds exactly.
            let magnitude = fraction as f32 / (1 << 24) as f32;
            sign << 16 | magnitude.to_bits()
        }
        _ => sign << 16 | (exponent + 112) << 23 | fraction << 13,
    }
}
