//! Textures and surfaces: kernels in the oracle, compared with a reference that was written from `docs/textures.md` alone.

use crate::common::{Random, bytes, compiled, run_on, words};
use gpurf_compiler::{Options as CompilerOptions, compile};
use gpurf_isa::Op;
use gpurf_oracle::{BufferIndex, Geometry, Launch, Memory, Options, Oracle, Program};
use std::fmt::Write;

// The reference.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Unsigned,
    Signed,
    Float,
}

/// Address modes, as CUDA numbers them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Wrap,
    Clamp,
    Mirror,
    Border,
}

/// How the coordinates of a fetch become texels.
#[derive(Clone, Copy, Debug)]
struct Sampler {
    linear: bool,
    normalised: bool,
    modes: [Mode; 3],
}

/// What a texel consists of.
#[derive(Clone, Copy, Debug)]
struct Format {
    /// Bytes of a channel: 1, 2 or 4.
    size: usize,
    channels: usize,
    kind: Kind,
    /// Integers are read as floats from 0 to 1, or from -1 to 1.
    unit: bool,
}

impl Format {
    fn bytes(self) -> usize {
        self.size * self.channels
    }

    /// Whether a fetch gives floats.
    fn floats(self) -> bool {
        self.unit || self.kind == Kind::Float
    }

    /// The word that a fetch gives for the bytes of a channel.
    fn word(self, channel: &[u8]) -> u32 {
        let mut raw = [0; 4];
        raw[..self.size].copy_from_slice(channel);
        let (raw, bits) = (u32::from_le_bytes(raw), 8 * self.size as u32);
        let signed = (raw << (32 - bits)) as i32 >> (32 - bits);
        match (self.kind, self.unit) {
            (Kind::Unsigned, false) => raw,
            (Kind::Signed, false) => signed as u32,
            (Kind::Unsigned, true) => (raw as f32 / ((1u32 << bits) - 1) as f32).to_bits(),
            (Kind::Signed, true) => (signed as f32 / ((1u32 << (bits - 1)) - 1) as f32).max(-1.0).to_bits(),
            (Kind::Float, _) if self.size == 2 => half(raw).to_bits(),
            (Kind::Float, _) => raw,
        }
    }
}

/// A float of 16 bits as one of 32.
fn half(bits: u32) -> f32 {
    let (exponent, fraction) = (bits >> 10 & 31, (bits & 0x3ff) as f32);
    let magnitude = match exponent {
        0 => fraction * 2f32.powi(-24),
        31 if bits & 0x3ff == 0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + fraction) * 2f32.powi(exponent as i32 - 25),
    };
    if bits & 0x8000 == 0 { magnitude } else { -magnitude }
}

/// A texture or surface: what its header says, and its memory.
#[derive(Clone, Debug)]
struct Object {
    format: Format,
    sampler: Sampler,
    /// Width, height, and depth or layers.
    extent: [usize; 3],
    pitch: usize,
    plane: usize,
    border: [u32; 4],
    /// Offset of the first texel in the memory.
    first: usize,
    memory: Vec<u8>,
}

/// Where an index leads in one dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    At(usize),
    Border,
    /// Neither in the array nor in the border. The page does not say what is read there.
    Nowhere,
}

/// The place of an index among `n` texels.
fn place(index: i64, n: usize, mode: Mode) -> Place {
    let n = n as i64;
    let outside = index < 0 || index >= n;
    let at = match mode {
        Mode::Border if outside => return Place::Border,
        Mode::Wrap if index < 0 => index + n,
        Mode::Wrap if index >= n => index - n,
        Mode::Clamp | Mode::Mirror => index.clamp(0, n - 1),
        _ => index,
    };
    if (0..n).contains(&at) { Place::At(at as usize) } else { Place::Nowhere }
}

/// The index of the texel at a coordinate, and the weight of its successor in 256ths, which is 0 without the linear filter.
fn index(x: f32, n: usize, sampler: &Sampler, axis: usize, linear: bool) -> (i64, u32) {
    let size = n as f32;
    let x = if sampler.normalised {
        let floor = x.floor();
        let wrapped = x - floor;
        let x = match sampler.modes[axis] {
            Mode::Wrap => wrapped,
            Mode::Mirror if floor % 2.0 == 0.0 => wrapped,
            Mode::Mirror => 1.0 - wrapped,
            Mode::Clamp | Mode::Border => x,
        };
        x * size
    } else {
        x
    };
    let x = if x.is_nan() { 0.0 } else { x.clamp(-2.0, size + 2.0) };
    if !linear {
        return (x.floor() as i64, 0);
    }
    let x = x - 0.5;
    let floor = x.floor();
    let alpha = (f64::from(x - floor) * 256.0 + 0.5).floor();
    (floor as i64, alpha as u32)
}

/// A geometry of the instructions.
#[derive(Clone, Copy, Debug)]
struct Shape {
    name: &'static str,
    /// Dimensions of a layer.
    dimensions: usize,
    layers: bool,
    cube: bool,
}

const fn shape(name: &'static str, dimensions: usize, layers: bool, cube: bool) -> Shape {
    Shape { name, dimensions, layers, cube }
}

const SHAPES: [Shape; 7] = [
    shape("1d", 1, false, false),
    shape("2d", 2, false, false),
    shape("3d", 3, false, false),
    shape("a1d", 1, true, false),
    shape("a2d", 2, true, false),
    shape("cube", 2, false, true),
    shape("acube", 2, true, true),
];

/// Those of surfaces, and of integer coordinates.
fn flat_shapes() -> impl Iterator<Item = Shape> {
    SHAPES.into_iter().filter(|shape| !shape.cube)
}

/// The face of a cube that a direction meets, and the coordinates there. `None` for a NaN, about which the page says nothing.
fn face([x, y, z]: [f32; 3]) -> Option<(usize, [f32; 2])> {
    if x.is_nan() || y.is_nan() || z.is_nan() {
        return None;
    }
    let (face, m, s, t) = if z.abs() >= x.abs() && z.abs() >= y.abs() {
        if z >= 0.0 { (4, z, x, -y) } else { (5, z, -x, -y) }
    } else if y.abs() >= x.abs() {
        if y >= 0.0 { (2, y, x, z) } else { (3, y, x, -z) }
    } else if x >= 0.0 {
        (0, x, -z, -y)
    } else {
        (1, x, z, -y)
    };
    Some((face, [(s / m.abs() + 1.0) / 2.0, (t / m.abs() + 1.0) / 2.0]))
}

/// Texels around a point, in each dimension: the place and its weight in 256ths. The second one is used by the linear filter.
type Around = [[(Place, u32); 2]; 3];

impl Object {
    /// The header, for memory at this address.
    fn header(&self, address: u32) -> [u32; 16] {
        let (format, sampler) = (self.format, self.sampler);
        let mut word = [0, 0, 1, 0, 2][format.size] | (format.channels as u32 - 1) << 2 | (format.kind as u32) << 4;
        word |= u32::from(format.unit) << 6 | u32::from(sampler.linear) << 7 | u32::from(sampler.normalised) << 8;
        for (axis, mode) in sampler.modes.into_iter().enumerate() {
            word |= (mode as u32) << (10 + 2 * axis);
        }
        let mut header = [0; 16];
        header[0] = address + self.first as u32;
        header[2] = word;
        for axis in 0..3 {
            header[3 + axis] = self.extent[axis] as u32;
        }
        header[6] = self.pitch as u32;
        header[7] = self.plane as u32;
        header[8..12].copy_from_slice(&self.border);
        header
    }

    /// The words of the texel at a place, or of the border.
    fn texel(&self, place: [Place; 3]) -> Option<[u32; 4]> {
        let mut result = [0; 4];
        let channels = self.format.channels;
        if place.contains(&Place::Border) {
            result[..channels].copy_from_slice(&self.border[..channels]);
            return Some(result);
        }
        let [Place::At(x), Place::At(y), Place::At(z)] = place else { return None };
        let at = self.first + x * self.format.bytes() + y * self.pitch + z * self.plane;
        let texel = &self.memory[at..at + self.format.bytes()];
        for (word, channel) in result.iter_mut().zip(texel.chunks(self.format.size)) {
            *word = self.format.word(channel);
        }
        Some(result)
    }

    /// The layer that an instruction names.
    fn layer(&self, layer: u32) -> usize {
        (layer as usize).min(self.extent[2] - 1)
    }

    /// Texels around the point `[layer, x, y, z]`.
    fn around(&self, shape: Shape, at: [u32; 4], linear: bool) -> Option<Around> {
        let mut coordinates = [1, 2, 3].map(|axis| f32::from_bits(at[axis]));
        let mut sampler = self.sampler;
        let mut plane = if shape.layers { self.layer(at[0]) } else { 0 };
        if shape.cube {
            let (face, [s, t]) = face(coordinates)?;
            let cube = if shape.layers { (at[0] as usize).min(self.extent[2] / 6 - 1) } else { 0 };
            plane = 6 * cube + face;
            coordinates = [s, t, 0.0];
            sampler.normalised = true;
            sampler.modes = [Mode::Clamp; 3];
        }
        let mut around = [0, 0, plane].map(|at| [(Place::At(at), 256), (Place::Nowhere, 0)]);
        for axis in 0..shape.dimensions {
            let (n, mode) = (self.extent[axis], sampler.modes[axis]);
            let (i, alpha) = index(coordinates[axis], n, &sampler, axis, linear);
            around[axis] = [(place(i, n, mode), 256 - alpha), (place(i + 1, n, mode), alpha)];
        }
        Some(around)
    }

    /// What `tex` gives at `[layer, x, y, z]`; `None` where the page does not say.
    fn fetch(&self, shape: Shape, integer: bool, at: [u32; 4]) -> Option<[u32; 4]> {
        if integer {
            let plane = if shape.layers { self.layer(at[0]) } else { 0 };
            let mut places = [0, 0, plane].map(Place::At);
            for axis in 0..shape.dimensions {
                let i = at[axis + 1] as i32;
                places[axis] = place(i.into(), self.extent[axis], self.sampler.modes[axis]);
            }
            return self.texel(places);
        }
        let around = self.around(shape, at, self.sampler.linear)?;
        if !self.sampler.linear {
            return self.texel(around.map(|[first, _]| first.0));
        }
        let mut sum = [0f32; 4];
        for corner in 0..8 {
            let [x, y, z] = [0, 1, 2].map(|axis| around[axis][corner >> axis & 1]);
            let weight = [x, y, z].iter().map(|&(_, weight)| weight as f32 / 256.0).product::<f32>();
            if weight != 0.0 {
                let texel = self.texel([x.0, y.0, z.0])?;
                for (sum, word) in sum.iter_mut().zip(texel) {
                    *sum = weight.mul_add(f32::from_bits(word), *sum);
                }
            }
        }
        Some([0, 1, 2, 3].map(|c| if c < self.format.channels { sum[c].to_bits() } else { 0 }))
    }

    /// What `tld4` gives.
    fn gather(&self, shape: Shape, channel: usize, at: [u32; 4]) -> Option<[u32; 4]> {
        let [x, y, z] = self.around(shape, at, true)?;
        let mut result = [0; 4];
        for (word, (i, j)) in result.iter_mut().zip([(0, 1), (1, 1), (1, 0), (0, 0)]) {
            *word = self.texel([x[i].0, y[j].0, z[0].0])?[channel];
        }
        Some(result)
    }

    /// The offset in memory of an access of `bytes` bytes of a surface at `[layer, x, y, z]`; `None` outside, where with `clamp` it is the nearest
    /// one inside.
    fn access(&self, shape: Shape, bytes: usize, at: [u32; 4], clamp: bool) -> Option<usize> {
        let row = self.extent[0] * self.format.bytes();
        let signed = |word: u32| i64::from(word as i32);
        // Coordinate, last one inside, and distance in memory.
        let mut parts = vec![(signed(at[1]), row - bytes, 1)];
        if shape.dimensions > 1 {
            parts.push((signed(at[2]), self.extent[1] - 1, self.pitch));
        }
        if shape.dimensions > 2 {
            parts.push((signed(at[3]), self.extent[2] - 1, self.plane));
        }
        if shape.layers {
            parts.push((at[0].into(), self.extent[2] - 1, self.plane));
        }
        let mut offset = self.first;
        for (coordinate, last, step) in parts {
            let inside = coordinate.clamp(0, last as i64);
            if inside != coordinate && !clamp {
                return None;
            }
            offset += inside as usize * step;
        }
        Some(offset)
    }
}

// Kernels and their operands.

/// Bytes of an operation's operands: handle, `[layer, x, y, z]`, and four words that `sust` stores.
const RECORD: usize = 48;
/// Bytes of its result.
const RESULT: usize = 16;

/// An operation of a thread.
#[derive(Clone, Debug)]
struct Operation {
    object: usize,
    at: [u32; 4],
    data: [u32; 4],
}

/// A kernel of which each thread executes all these operations. Their text has the handle in `%rd4`, the layer in `%r2`, x, y and z in `%r3` to
/// `%r5` and as floats in `%f1` to `%f3`, data in `%r6` to `%r9`, and the address of the result in `%rd5`.
fn kernel(operations: &[String]) -> String {
    let mut text = String::from(
        ".version 9.5\n.target sm_75\n.address_size 64\n\n\
         .visible .entry k(\n\t.param .u64 k_param_0,\n\t.param .u64 k_param_1\n)\n{\n\
         .reg .pred %p<4>;\n.reg .b16 %rs<9>;\n.reg .b32 %r<20>;\n.reg .f32 %f<20>;\n.reg .b64 %rd<20>;\n\
         ld.param.u64 \t%rd1, [k_param_0];\nld.param.u64 \t%rd2, [k_param_1];\n\
         cvta.to.global.u64 \t%rd3, %rd1;\ncvta.to.global.u64 \t%rd5, %rd2;\nmov.u32 \t%r1, %tid.x;\n",
    );
    let count = operations.len();
    writeln!(
        text,
        "mad.wide.u32 %rd3, %r1, {}, %rd3;\nmad.wide.u32 %rd5, %r1, {}, %rd5;",
        RECORD * count,
        RESULT * count
    )
    .expect("strings grow");
    for operation in operations {
        writeln!(
            text,
            "ld.global.u64 \t%rd4, [%rd3];\nld.global.v4.u32 {{%r2, %r3, %r4, %r5}}, [%rd3+16];\n\
             ld.global.v4.u32 {{%r6, %r7, %r8, %r9}}, [%rd3+32];\n\
             mov.b32 %f1, %r3;\nmov.b32 %f2, %r4;\nmov.b32 %f3, %r5;\n{operation}\n\
             add.s64 %rd3, %rd3, {RECORD};\nadd.s64 %rd5, %rd5, {RESULT};"
        )
        .expect("strings grow");
    }
    text + "ret;\n}\n"
}

/// Puts objects into memory. Returns the addresses of their headers.
fn headers(memory: &mut Memory, objects: &[Object]) -> Vec<u64> {
    let mut all = Vec::new();
    for object in objects {
        let buffer = memory.add("texels", &object.memory).expect("there is room");
        all.extend_from_slice(&object.header(memory.buffer(buffer).address()));
    }
    let buffer = memory.add("headers", &bytes(&all)).expect("there is room");
    let first = u64::from(memory.buffer(buffer).address());
    (0..objects.len() as u64).map(|n| first + 64 * n).collect()
}

/// The operands in memory.
fn records(operations: &[Operation], handles: &[u64]) -> Vec<u8> {
    let mut data = Vec::new();
    for operation in operations {
        let handle = handles[operation.object];
        data.extend_from_slice(&handle.to_le_bytes());
        data.extend_from_slice(&[0xff; 8]);
        data.extend_from_slice(&bytes(&operation.at));
        data.extend_from_slice(&bytes(&operation.data));
    }
    data
}

/// Fills memory for a kernel that gives results.
fn fill(memory: &mut Memory, objects: &[Object], operations: &[Operation]) -> (Vec<u64>, BufferIndex) {
    let handles = headers(memory, objects);
    let operands = memory.add("operands", &records(operations, &handles)).expect("there is room");
    let result = memory.add("result", &vec![0; RESULT * operations.len()]).expect("there is room");
    let parameters = [operands, result].map(|buffer| u64::from(memory.buffer(buffer).address()));
    (parameters.to_vec(), result)
}

/// Runs a kernel of `slots` operations for each thread; the operations are those of thread 0, then those of thread 1 and so on.
fn results(source: &str, slots: usize, objects: &[Object], operations: &[Operation]) -> Vec<[u32; 4]> {
    let threads = (operations.len() / slots) as u32;
    let registers = if slots.is_multiple_of(2) { 32 } else { 64 };
    let found = words(&run_on(source, registers, threads, |memory| fill(memory, objects, operations)));
    found.chunks_exact(4).map(|four| four.try_into().expect("four words")).collect()
}

/// The vector of coordinates as nvcc writes it: the geometry's four-element vectors have an element that is not used.
fn vector(shape: Shape, integer: bool) -> String {
    let [x, y, z] = if integer { ["%r3", "%r4", "%r5"] } else { ["%f1", "%f2", "%f3"] };
    match shape.name {
        "1d" => format!("{{{x}}}"),
        "2d" => format!("{{{x}, {y}}}"),
        "3d" | "cube" => format!("{{{x}, {y}, {z}, {z}}}"),
        "a1d" => format!("{{%r2, {x}}}"),
        "a2d" => format!("{{%r2, {x}, {y}, {y}}}"),
        _ => format!("{{%r2, {x}, {y}, {z}}}"),
    }
}

/// Registers for four results of this type.
fn four(result: &str) -> &'static str {
    if result == "f32" { "{%f4, %f5, %f6, %f7}" } else { "{%r10, %r11, %r12, %r13}" }
}

/// A fetch by `tex`, `tex.level` or `tex.grad`, and the store of its result.
fn fetch_text(name: &str, shape: Shape, integer: bool, result: &str) -> String {
    let (found, coordinates) = (four(result), vector(shape, integer));
    let level = match (name, shape.dimensions + usize::from(shape.cube)) {
        ("tex", _) => "",
        // A level of all kinds of floats: x.
        ("tex.level", _) => ", %f1",
        (_, 1) => ", {%f2}, {%f3}",
        (_, 2) => ", {%f3, %f3}, {%f1, %f3}",
        _ => ", {%f1, %f2, %f3, %f3}, {%f3, %f1, %f2, %f2}",
    };
    // As nvcc writes it, without a space.
    let space = if name == "tex.grad" && shape.cube { "" } else { " \t" };
    let coordinate = if integer { "s32" } else { "f32" };
    format!(
        "{name}.{}.v4.{result}.{coordinate}{space}{found}, [%rd4, {coordinates}]{level};\nst.global.v4.{result} [%rd5], {found};",
        shape.name
    )
}

// Random cases.

/// All formats.
fn formats() -> Vec<Format> {
    let mut all = Vec::new();
    for channels in [1, 2, 4] {
        for size in [1, 2, 4] {
            for (kind, unit) in [
                (Kind::Unsigned, false),
                (Kind::Signed, false),
                (Kind::Unsigned, true),
                (Kind::Signed, true),
                (Kind::Float, false),
            ] {
                if !(unit && size == 4 || kind == Kind::Float && size == 1) {
                    all.push(Format { size, channels, kind, unit });
                }
            }
        }
    }
    all
}

/// A float of moderate size; rarely an extreme one.
fn float(random: &mut Random) -> f32 {
    const EXTREMES: [f32; 8] =
        [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, -0.0, 1e-40, f32::MIN_POSITIVE, -3e38];
    match random.below(64) {
        0 => EXTREMES[random.below(EXTREMES.len())],
        1 => f32::from_bits(random.bits() as u32),
        _ => random.bits() as i32 as f32 / (1u64 << random.below(40)) as f32,
    }
}

/// Random memory; random floats where the format has them.
fn memory(random: &mut Random, format: Format, size: usize) -> Vec<u8> {
    let word = |random: &mut Random| match (format.kind, format.size) {
        (Kind::Float, 4) => float(random).to_bits(),
        // Few halves are infinite or NaN.
        (Kind::Float, _) if random.below(32) > 0 => random.bits() as u32 & 0xbfff_bfff,
        _ => (random.bits() >> 13) as u32,
    };
    let data: Vec<u32> = (0..size.div_ceil(4)).map(|_| word(random)).collect();
    bytes(&data)[..size].to_vec()
}

/// A sampler that an object with this format can have.
fn sampler(random: &mut Random, format: Format) -> Sampler {
    let normalised = random.below(2) == 0;
    let modes = if normalised {
        [Mode::Wrap, Mode::Clamp, Mode::Mirror, Mode::Border]
    } else {
        [Mode::Clamp, Mode::Border, Mode::Clamp, Mode::Border]
    };
    let modes = [(); 3].map(|()| modes[random.below(4)]);
    Sampler { linear: format.floats() && random.below(3) > 0, normalised, modes }
}

/// A texture.
fn texture(random: &mut Random, format: Format, shape: Shape) -> Object {
    let mut extent = [(); 3].map(|()| if random.below(2) == 0 { 1 + random.below(4) } else { 1 + random.below(11) });
    if shape.cube {
        extent = [extent[0], extent[0], 6 * if shape.layers { extent[2] } else { 1 }];
    } else {
        if shape.dimensions < 2 {
            extent[1] = 1;
        }
        if shape.dimensions < 3 && !shape.layers {
            extent[2] = 1;
        }
    }
    sized(random, format, extent)
}

/// A texture of this size, with bytes that belong to no texel around its rows and planes.
fn sized(random: &mut Random, format: Format, extent: [usize; 3]) -> Object {
    let texel = format.bytes();
    let pitch = (extent[0] + random.below(3)) * texel;
    let plane = extent[1] * pitch + random.below(3) * texel;
    let first = random.below(3) * texel;
    let mut border = [(); 4].map(|()| if format.floats() { float(random).to_bits() } else { random.word() });
    // Words of channels that the texel does not have are zero in a header.
    border[format.channels..].fill(0);
    let memory = memory(random, format, first + extent[2] * plane);
    Object { format, sampler: sampler(random, format), extent, pitch, plane, border, first, memory }
}

/// A coordinate among `n` texels, also outside, at ties of rounding and next to them.
fn coordinate(random: &mut Random, n: usize, normalised: bool) -> f32 {
    const EXTREMES: [f32; 16] = [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::MAX,
        f32::MIN,
        1e10,
        -1e10,
        3e-39,
        -3e-39,
        -0.0,
        -1e-9,
        0.499_999_97,
        16_777_215.0,
        -16_777_215.0,
        8_388_607.5,
        -2.5,
    ];
    let size = n as f32;
    let x = match random.below(16) {
        0 => return EXTREMES[random.below(EXTREMES.len())],
        1 => return f32::from_bits(random.bits() as u32),
        2..5 => random.below(2 * n + 12) as f32 / 2.0 - 3.0,
        5..9 => {
            // Often in the first texel, where the subtraction of 0.5 keeps more bits than elsewhere.
            let texels = [1, n + 2][random.below(2)];
            let tie = random.below(512 * texels) as f32 / 512.0 - if texels == 1 { 0.0 } else { 1.0 };
            [tie, tie.next_up(), tie.next_down()][random.below(3)]
        }
        _ => (random.below(1 << 24) as f32 / (1 << 24) as f32) * (size + 6.0) - 3.0,
    };
    if !normalised {
        return x;
    }
    let shift = if random.below(2) == 0 { 0.0 } else { random.below(7) as f32 - 3.0 };
    x / size + shift
}

/// A direction into a cube: often one with components of the same magnitude, or one to a tie of rounding on its face.
fn direction(random: &mut Random) -> [f32; 3] {
    let fraction = |random: &mut Random| random.below(1 << 23) as f32 / (1 << 22) as f32 - 1.0;
    if random.below(2) == 0 {
        let (m, axis) = (fraction(random), random.below(3));
        // Near -1 the quotient's last bit is not lost in the sum with 1.
        let near = [512, 2049][random.below(2)];
        let mut tie = || (random.below(near) as f32 / 1024.0 - 1.0) * m;
        let mut direction = [tie(), tie(), tie()];
        direction[axis] = m;
        return direction;
    }
    let scale = if random.below(8) == 0 { 2f32.powi(random.below(240) as i32 - 120) } else { 1.0 };
    [(); 3].map(|()| match random.below(16) {
        0 => [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, 1e-40][random.below(6)],
        1..4 => scale,
        4..6 => -scale,
        6 => scale.next_down(),
        7 => scale / 2.0,
        _ => fraction(random) * scale,
    })
}

/// An unsigned layer; often one that does not exist.
fn layer(random: &mut Random, layers: usize) -> u32 {
    match random.below(8) {
        0 => [u32::MAX, 0x8000_0000, 0x7fff_ffff, 0x1000_0000, 0x2aaa_aaab][random.below(5)],
        _ => random.below(layers + 2) as u32,
    }
}

/// Random coordinates `[layer, x, y, z]` for which the page says what a fetch gives, and that.
fn point(
    random: &mut Random,
    object: &Object,
    shape: Shape,
    integer: bool,
    want: impl Fn([u32; 4]) -> Option<[u32; 4]>,
) -> ([u32; 4], [u32; 4]) {
    for _ in 0..1000 {
        let layers = if shape.cube { object.extent[2] / 6 } else { object.extent[2] };
        let mut at = [layer(random, layers), 0, 0, 0];
        let directions = direction(random);
        for axis in 0..3 {
            let n = object.extent[axis];
            at[axis + 1] = if shape.cube {
                directions[axis].to_bits()
            } else if integer && random.below(8) == 0 {
                [0x8000_0000, 0x7fff_ffff, 0xffff_0000, 0x4000_0000][random.below(4)]
            } else if integer {
                (random.below(n + 6) as u32).wrapping_sub(3)
            } else {
                coordinate(random, n, object.sampler.normalised).to_bits()
            };
        }
        if let Some(words) = want(at) {
            return (at, words);
        }
    }
    panic!("the page does not say what a fetch from this texture gives");
}

/// Compares a result. NaN has the same bits as in memory only in a fetch that does not compute.
fn assert_same(object: &Object, found: [u32; 4], want: [u32; 4], what: &dyn Fn() -> String) {
    let computed = object.sampler.linear || object.format.size == 2;
    let nan = |word: u32| f32::from_bits(word).is_nan();
    let same =
        |(&found, &want): (&u32, &u32)| found == want || object.format.floats() && computed && nan(found) && nan(want);
    assert!(
        found.iter().zip(&want).all(same),
        "{}: {found:#x?}, not {want:#x?}; as floats {:?}, not {:?}\n{:?} {:?}, size {:?}, pitch {}, plane {}, border {:x?}",
        what(),
        found.map(f32::from_bits),
        want.map(f32::from_bits),
        object.format,
        object.sampler,
        object.extent,
        object.pitch,
        object.plane,
        object.border
    );
}

/// The objects of the threads' operations: the same one for all threads of a warp in the first half of the threads, any one in the second half.
fn object_of(random: &mut Random, thread: usize, threads: usize, objects: usize) -> usize {
    if thread < threads / 2 { thread / 32 % objects } else { random.below(objects) }
}

/// Operations on the texture that is the kernel's third parameter. Each operation is done for `operations.len() / texts.len()` threads. Asserts that
/// the unit fetches.
fn results_by_unit(texts: &[String], object: &Object, operations: &[Operation]) -> Vec<[u32; 4]> {
    let texts: Vec<String> = texts.iter().map(|text| text.replace("[%rd4,", "[%rd6,")).collect();
    let source = kernel(&texts)
        .replace(".param .u64 k_param_1\n", ".param .u64 k_param_1,\n\t.param .u64 k_param_2\n")
        .replace("mov.u32 \t%r1, %tid.x;", "ld.param.u64 \t%rd6, [k_param_2];\nmov.u32 \t%r1, %tid.x;");
    let code = compiled(&source, 32).image.kernels[0].code.clone();
    let fetches = code.iter().filter(|i| matches!(i.op, Op::Tex { .. })).count();
    assert_eq!(fetches, 4 * texts.len(), "{source}");
    let objects = std::slice::from_ref(object);
    let found = run_on(&source, 32, (operations.len() / texts.len()) as u32, |memory| {
        let operations: Vec<Operation> = operations.iter().map(|o| Operation { object: 0, ..o.clone() }).collect();
        let (mut parameters, result) = fill(memory, objects, &operations);
        // The headers are behind the texels, and there is no other buffer in front of the operands.
        let headers = memory.buffers().iter().find(|buffer| buffer.name() == "headers").expect("it is there");
        parameters.push(headers.address().into());
        (parameters, result)
    });
    words(&found).chunks_exact(4).map(|four| four.try_into().expect("four words")).collect()
}

/// A fetch of one of some textures at some coordinates, in words.
type Reference<'a> = &'a dyn Fn(&Object, [u32; 4]) -> Option<[u32; 4]>;

/// Runs operations of the same geometry at random points of these textures, and compares the results.
fn check(random: &mut Random, shape: Shape, integer: bool, objects: &[Object], slots: &[(String, Reference<'_>)]) {
    const THREADS: usize = 256;
    let mut operations = Vec::new();
    let mut wants = Vec::new();
    for thread in 0..THREADS {
        for (_, reference) in slots {
            let object = object_of(random, thread, THREADS, objects.len());
            let (at, want) = point(random, &objects[object], shape, integer, |at| reference(&objects[object], at));
            operations.push(Operation { object, at, data: [0; 4] });
            wants.push(want);
        }
    }
    let texts: Vec<String> = slots.iter().map(|(text, _)| text.clone()).collect();
    let found = results(&kernel(&texts), slots.len(), objects, &operations);
    for (n, (operation, want)) in operations.iter().zip(wants).enumerate() {
        let [layer, x, y, z] = operation.at;
        let what = || {
            let [a, b, c] = [x, y, z].map(f32::from_bits);
            format!("{} at layer {layer:#x}, {x:#x} {y:#x} {z:#x} ({a:?} {b:?} {c:?})", texts[n % slots.len()])
        };
        assert_same(&objects[operation.object], found[n], want, &what);
    }
    // The unit has no fetch with four coordinates.
    if shape.cube && shape.layers {
        return;
    }
    for object in objects {
        let mut operations = Vec::new();
        let mut wants = Vec::new();
        for _ in 0..64 {
            for (_, reference) in slots {
                let (at, want) = point(random, object, shape, integer, |at| reference(object, at));
                operations.push(Operation { object: 0, at, data: [0; 4] });
                wants.push(want);
            }
        }
        let found = results_by_unit(&texts, object, &operations);
        for (n, (operation, want)) in operations.iter().zip(wants).enumerate() {
            let what = || {
                let [layer, at @ ..] = operation.at;
                format!("unit, {} at layer {layer:#x}, {at:x?} {:?}", texts[n % slots.len()], at.map(f32::from_bits))
            };
            assert_same(object, found[n], want, &what);
        }
    }
}

/// The type of an instruction's result for each format, and textures with all formats of this type.
fn textures_by_result(random: &mut Random, shape: Shape) -> Vec<(&'static str, Vec<Object>)> {
    let of = |result: &str, format: &Format| match result {
        "f32" => format.floats(),
        "u32" => !format.floats() && format.kind == Kind::Unsigned,
        _ => !format.floats() && format.kind == Kind::Signed,
    };
    ["f32", "u32", "s32"]
        .map(|result| {
            let formats = formats().into_iter().filter(|format| of(result, format));
            // Two textures of each format of floats, since there are two filters.
            let copies = if result == "f32" { 2 } else { 1 };
            (
                result,
                formats.flat_map(|format| vec![format; copies]).map(|format| texture(random, format, shape)).collect(),
            )
        })
        .to_vec()
}

/// Fetches from textures of all formats by all instructions of a geometry.
fn check_fetches(seed: u64, name: &str) {
    let mut random = Random(seed);
    let shape = SHAPES.into_iter().find(|shape| shape.name == name).expect("there is this geometry");
    for (result, objects) in textures_by_result(&mut random, shape) {
        let float: Reference<'_> = &|object, at| object.fetch(shape, false, at);
        let slot = |name| (fetch_text(name, shape, false, result), float);
        check(&mut random, shape, false, &objects, &[slot("tex")]);
        if result == "f32" {
            check(&mut random, shape, false, &objects, &[slot("tex")]);
            check(&mut random, shape, false, &objects, &["tex", "tex.level", "tex.grad"].map(slot));
        }
        if !shape.cube {
            let integer: Reference<'_> = &|object, at| object.fetch(shape, true, at);
            check(&mut random, shape, true, &objects, &[(fetch_text("tex", shape, true, result), integer)]);
        }
    }
}

#[test]
fn fetches_1d() {
    check_fetches(0x9e37_79b9_7f4a_7c15, "1d");
}

#[test]
fn fetches_2d() {
    check_fetches(0x2545_f491_4f6c_dd1d, "2d");
}

#[test]
fn fetches_3d() {
    check_fetches(0x1234_5678_9abc_def1, "3d");
}

#[test]
fn fetches_of_layers_1d() {
    check_fetches(0x0bad_cafe_1357_9bdf, "a1d");
}

#[test]
fn fetches_of_layers_2d() {
    check_fetches(0xfeed_5eed_0246_8ace, "a2d");
}

#[test]
fn fetches_of_cubes() {
    check_fetches(0x0f1e_2d3c_4b5a_6978, "cube");
}

#[test]
fn fetches_of_layers_of_cubes() {
    check_fetches(0x1020_3040_5060_7081, "acube");
}

#[test]
fn gathers() {
    let mut random = Random(0xc0ff_ee00_dead_10cc);
    for shape in flat_shapes().filter(|shape| shape.dimensions == 2) {
        for (result, objects) in textures_by_result(&mut random, shape) {
            let references = [0, 1, 2, 3].map(|channel| move |object: &Object, at| object.gather(shape, channel, at));
            let slots: Vec<(String, Reference<'_>)> = ["r", "g", "b", "a"]
                .iter()
                .zip(&references)
                .map(|(channel, reference)| {
                    let (found, coordinates) = (four(result), vector(shape, false));
                    let text = format!(
                        "tld4.{channel}.{}.v4.{result}.f32 \t{found}, [%rd4, {coordinates}];\nst.global.v4.{result} [%rd5], {found};",
                        shape.name
                    );
                    (text, reference as Reference<'_>)
                })
                .collect();
            // A gather does not filter, so the bits of a NaN of 32 bits stay; `assert_same` allows more where the sampler is linear.
            check(&mut random, shape, false, &objects, &slots);
        }
    }
}

#[test]
fn wide_textures() {
    let mut random = Random(0x7777_1111_5555_3333);
    let format = |size, channels, kind, unit| Format { size, channels, kind, unit };
    let line = shape("1d", 1, false, false);
    let layers = shape("a2d", 2, true, false);
    for (shape, extent) in [(line, [70_001, 1, 1]), (layers, [3, 300, 90]), (layers, [301, 2, 70])] {
        let objects: Vec<Object> = [
            format(1, 1, Kind::Unsigned, true),
            format(1, 4, Kind::Signed, true),
            format(2, 1, Kind::Float, false),
            format(4, 1, Kind::Float, false),
        ]
        .map(|format| sized(&mut random, format, extent))
        .to_vec();
        for integer in [false, true] {
            let reference: Reference<'_> = &|object, at| object.fetch(shape, integer, at);
            let slots = [(fetch_text("tex", shape, integer, "f32"), reference)];
            check(&mut random, shape, integer, &objects, &slots);
        }
    }
}

/// Coordinates whose alpha is at or next to a tie: each operation on a coordinate is rounded once.
#[test]
fn ties_of_normalised_coordinates() {
    let mut random = Random(0xd728_ae22_7137_4491);
    let shape = shape("1d", 1, false, false);
    let format = Format { size: 4, channels: 1, kind: Kind::Float, unit: false };
    let mut objects = Vec::new();
    for mode in [Mode::Wrap, Mode::Clamp, Mode::Mirror, Mode::Border] {
        for n in [3, 5, 6, 7, 11] {
            let mut object = sized(&mut random, format, [n, 1, 1]);
            object.sampler = Sampler { linear: true, normalised: true, modes: [mode; 3] };
            // A weight's last bit changes the result.
            object.memory =
                bytes(&(0..object.memory.len() / 4).map(|i| (i as f32).exp2().to_bits()).collect::<Vec<_>>());
            objects.push(object);
        }
    }
    let mut operations = Vec::new();
    let mut wants = Vec::new();
    for _ in 0..200 {
        for (number, object) in objects.iter().enumerate() {
            let x = (2 * random.below(384) + 1) as f32 / 512.0 / object.extent[0] as f32;
            let x = [x, x + 1.0, x - 1.0, 2.0 - x][if random.below(2) == 0 { 0 } else { random.below(4) }];
            let at = [0, x.to_bits(), 0, 0];
            operations.push(Operation { object: number, at, data: [0; 4] });
            wants.push(object.fetch(shape, false, at).expect("the page says it"));
        }
    }
    let text = fetch_text("tex", shape, false, "f32");
    let found = results(&kernel(&vec![text; 4]), 4, &objects, &operations);
    for ((operation, found), want) in operations.iter().zip(found).zip(wants) {
        let x = f32::from_bits(operation.at[1]);
        assert_same(&objects[operation.object], found, want, &|| format!("a fetch at {x:?} ({:#x})", operation.at[1]));
    }
}

/// In a texture all of whose texels are equal, a fetch without a border can give nothing else, whatever the coordinates are.
#[test]
fn no_coordinate_leads_out_of_a_texture() {
    let mut random = Random(0x5151_a3a3_0f0f_9696);
    let extremes = [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, -1e-9, 0.999_999_94];
    for shape in SHAPES {
        let mut objects = Vec::new();
        for mode in [Mode::Wrap, Mode::Clamp, Mode::Mirror] {
            for (n, linear) in [(1, false), (1, true), (2, false), (2, true), (3, true)] {
                let format = Format { size: 4, channels: 1, kind: Kind::Float, unit: false };
                let extent = [1, 2, 3].map(|axis| if axis <= shape.dimensions { n } else { 1 });
                let extent = if shape.cube { [n, n, 6] } else { extent };
                let mut object = sized(&mut random, format, extent);
                object.sampler = Sampler { linear, normalised: true, modes: [mode; 3] };
                let texels = extent.iter().product::<usize>();
                (object.pitch, object.plane, object.first) = (4 * extent[0], 4 * extent[0] * extent[1], 64);
                // Other values before and after the texels.
                object.memory =
                    bytes(&[[7f32.to_bits(); 16].to_vec(), vec![2.5f32.to_bits(); texels], vec![0; 64]].concat());
                objects.push(object);
            }
        }
        let operations: Vec<Operation> = (0..1024)
            .map(|_| {
                let mut coordinate = || extremes[random.below(extremes.len())].to_bits();
                let at = [0, coordinate(), coordinate(), coordinate()];
                Operation { object: random.below(objects.len()), at, data: [0; 4] }
            })
            .collect();
        let found = results(&kernel(&[fetch_text("tex", shape, false, "f32")]), 1, &objects, &operations);
        for (operation, found) in operations.iter().zip(found) {
            let object = &objects[operation.object];
            assert_eq!(
                f32::from_bits(found[0]),
                2.5,
                "{} at {:?}: {:?}, size {:?}",
                shape.name,
                operation.at.map(f32::from_bits),
                object.sampler,
                object.extent
            );
        }
    }
}

/// Values worked out by hand, so that the reference is not its own judge.
#[test]
fn known_values() {
    let two = shape("2d", 2, false, false);
    let cube = shape("cube", 2, false, true);
    let bilinear = |modes, normalised| Object {
        format: Format { size: 4, channels: 1, kind: Kind::Float, unit: false },
        sampler: Sampler { linear: true, normalised, modes },
        extent: [2, 2, 1],
        pitch: 8,
        plane: 16,
        border: [100f32.to_bits(), 0, 0, 0],
        first: 0,
        memory: bytes(&[0f32, 1.0, 2.0, 3.0].map(f32::to_bits)),
    };
    let mut signed = bilinear([Mode::Clamp; 3], false);
    signed.format = Format { size: 1, channels: 2, kind: Kind::Signed, unit: true };
    signed.sampler.linear = false;
    (signed.pitch, signed.memory) = (4, vec![0x80, 0x7f, 0x81, 0, 1, 2, 3, 4]);
    let mut faces = bilinear([Mode::Border; 3], false);
    (faces.extent, faces.pitch, faces.plane) = ([1, 1, 6], 4, 4);
    faces.memory = bytes(&[10f32, 11.0, 12.0, 13.0, 14.0, 15.0].map(f32::to_bits));
    let mut halves = bilinear([Mode::Clamp; 3], false);
    halves.format = Format { size: 2, channels: 2, kind: Kind::Float, unit: false };
    halves.memory = [0x3c00u16, 0xc000, 0x3555, 0x0001, 0x7bff, 0, 0, 0].iter().flat_map(|h| h.to_le_bytes()).collect();
    let objects = [
        bilinear([Mode::Clamp; 3], false),
        bilinear([Mode::Wrap; 3], true),
        bilinear([Mode::Mirror; 3], true),
        bilinear([Mode::Border; 3], true),
        signed,
        faces,
        halves,
    ];
    let cases: [(usize, Shape, [f32; 3], [f32; 2]); 19] = [
        (0, two, [1.0, 1.0, 0.0], [1.5, 0.0]),
        (0, two, [0.5, 1.5, 0.0], [2.0, 0.0]),
        (0, two, [0.75, 0.5, 0.0], [0.25, 0.0]),
        // 1/1024 beyond texel 0 is rounded to it; 1/512 is a tie, and becomes 1/256.
        (0, two, [0.5 + 1.0 / 1024.0, 0.5, 0.0], [0.0, 0.0]),
        (0, two, [0.5 + 1.0 / 512.0, 0.5, 0.0], [1.0 / 256.0, 0.0]),
        (0, two, [-1e30, 1e30, 0.0], [2.0, 0.0]),
        (0, two, [f32::NAN, 0.5, 0.0], [0.0, 0.0]),
        (1, two, [0.0, 0.25, 0.0], [0.5, 0.0]),
        (1, two, [-2.75, 1.75, 0.0], [2.0, 0.0]),
        (2, two, [-0.25, 1.25, 0.0], [2.0, 0.0]),
        (2, two, [1.0, 2.0, 0.0], [1.0, 0.0]),
        (3, two, [0.0, 0.25, 0.0], [50.0, 0.0]),
        (4, two, [0.5, 0.5, 0.0], [-1.0, 1.0]),
        (4, two, [1.0, 0.0, 0.0], [-1.0, 0.0]),
        (4, two, [0.0, 1.0, 0.0], [1.0 / 127.0, 2.0 / 127.0]),
        (5, cube, [1.0, 1.0, -1.0], [15.0, 0.0]),
        (5, cube, [-1.0, 1.0, 0.0], [12.0, 0.0]),
        (5, cube, [-1.0, 0.9, 0.5], [11.0, 0.0]),
        (6, two, [1.5, 0.5, 0.0], [0.333_251_95, 5.960_464_5e-8]),
    ];
    for shape in [two, cube] {
        let cases: Vec<_> = cases.iter().filter(|case| case.1.name == shape.name).collect();
        let operations: Vec<Operation> = cases
            .iter()
            .map(|(object, _, [x, y, z], _)| Operation {
                object: *object,
                at: [0, x.to_bits(), y.to_bits(), z.to_bits()],
                data: [0; 4],
            })
            .collect();
        let found = results(&kernel(&[fetch_text("tex", shape, false, "f32")]), 1, &objects, &operations);
        for ((operation, case), found) in operations.iter().zip(cases).zip(found) {
            let want = [case.3[0].to_bits(), case.3[1].to_bits(), 0, 0];
            let reference = objects[operation.object].fetch(shape, false, operation.at);
            assert_eq!(reference, Some(want), "the reference is wrong: {case:?}");
            assert_eq!(found, want, "{case:?}");
        }
    }
}

#[test]
fn queries() {
    let mut random = Random(0x6a09_e667_f3bc_c908);
    let names = ["width", "height", "depth", "array_size"];
    for instruction in ["txq", "suq"] {
        for shape in [SHAPES[2], SHAPES[4]] {
            let objects: Vec<Object> =
                formats().into_iter().map(|format| texture(&mut random, format, shape)).collect();
            let operations: Vec<Operation> =
                (0..64).map(|n| Operation { object: n % objects.len(), at: [0; 4], data: [0; 4] }).collect();
            let mut text = String::new();
            for (n, name) in names.iter().enumerate() {
                writeln!(text, "{instruction}.{name}.b32 \t%r10, [%rd4];\nst.global.u32 [%rd5+{}], %r10;", 4 * n)
                    .expect("strings grow");
            }
            let found = results(&kernel(&[text]), 1, &objects, &operations);
            for (operation, found) in operations.iter().zip(found) {
                let [width, height, depth] = objects[operation.object].extent.map(|n| n as u32);
                assert_eq!(found, [width, height, depth, depth], "{instruction} of {names:?}");
            }
        }
    }
}

// Surfaces.

/// An element's bits, and how many elements.
const ACCESSES: [(usize, usize); 11] =
    [(8, 1), (16, 1), (32, 1), (64, 1), (8, 2), (16, 2), (32, 2), (64, 2), (8, 4), (16, 4), (32, 4)];

/// A `suld.b` with the store of its result, or a `sust.b`.
fn access_text(load: bool, shape: Shape, mode: &str, (bits, elements): (usize, usize)) -> String {
    let names: [&str; 4] = match bits {
        8 | 16 => ["%rs1", "%rs2", "%rs3", "%rs4"],
        32 => ["%r6", "%r7", "%r8", "%r9"],
        _ => ["%rd8", "%rd9", "", ""],
    };
    let vec = ["", "", ".v2", "", ".v4"][elements];
    let (shape, list, at) = (shape.name, names[..elements].join(", "), vector(shape, true));
    if load {
        return format!(
            "suld.b.{shape}{vec}.b{bits}.{mode} {{{list}}}, [%rd4, {at}];\nst.global{vec}.b{bits} [%rd5], {};",
            if elements == 1 { list.clone() } else { format!("{{{list}}}") }
        );
    }
    let data = match bits {
        8 | 16 => "mov.b32 {%rs1, %rs2}, %r6;\nmov.b32 {%rs3, %rs4}, %r7;",
        32 => "",
        _ => "mov.b64 %rd8, {%r6, %r7};\nmov.b64 %rd9, {%r8, %r9};",
    };
    format!("{data}\nsust.b.{shape}{vec}.b{bits}.{mode} \t[%rd4, {at}], {{{list}}};")
}

/// The bytes that a `sust.b` of these words stores.
fn stored(data: [u32; 4], (bits, elements): (usize, usize)) -> Vec<u8> {
    let data = bytes(&data);
    let step = if bits == 8 { 2 } else { bits / 8 };
    (0..elements).flat_map(|n| data[n * step..n * step + bits / 8].to_vec()).collect()
}

/// A surface for accesses of this many bytes: they fit into a row, and all places that are a multiple of their size are aligned.
fn surface(random: &mut Random, shape: Shape, access: usize) -> Object {
    let formats = formats();
    let format = formats[random.below(formats.len())];
    let mut object = texture(random, format, shape);
    object.extent = object.extent.map(|n| 1 + n % 3);
    if shape.dimensions < 2 {
        object.extent[1] = 1;
    }
    if shape.dimensions < 3 && !shape.layers {
        object.extent[2] = 1;
    }
    object.extent[0] *= (access / format.bytes()).max(1);
    object.pitch = (object.extent[0] * format.bytes()).next_multiple_of(16) + 16 * random.below(2);
    object.plane = object.pitch * object.extent[1] + 16 * random.below(2);
    object.first = 16 * random.below(2);
    object.memory = memory(random, format, object.first + object.plane * object.extent[2]);
    object
}

/// Random coordinates of an access of this many bytes.
fn access_point(random: &mut Random, object: &Object, shape: Shape, access: usize, inside: bool) -> [u32; 4] {
    let row = object.extent[0] * object.format.bytes();
    loop {
        let mut at = [layer(random, object.extent[2]), 0, 0, 0];
        for axis in 0..3 {
            let n = if axis == 0 { row / access } else { object.extent[axis] };
            let step = if axis == 0 { access as u32 } else { 1 };
            at[axis + 1] = match random.below(16) {
                0 => [0x8000_0000, 0x7fff_fff0, 0xffff_0000, 0x4000_0000][random.below(4)],
                1..4 => (random.below(n + 4) as u32).wrapping_sub(2).wrapping_mul(step),
                _ => random.below(n) as u32 * step,
            };
        }
        if !inside || object.access(shape, access, at, false).is_some() {
            return at;
        }
    }
}

/// Random surfaces, one for each operation, and operations on them.
fn accesses(random: &mut Random, shape: Shape, inside: bool, threads: usize) -> (Vec<Object>, Vec<Operation>) {
    let mut objects = Vec::new();
    let mut operations = Vec::new();
    for _ in 0..threads {
        for (bits, elements) in ACCESSES {
            let access = bits / 8 * elements;
            let object = surface(random, shape, access);
            let at = access_point(random, &object, shape, access, inside);
            let data = [(); 4].map(|()| random.word());
            operations.push(Operation { object: objects.len(), at, data });
            objects.push(object);
        }
    }
    (objects, operations)
}

const BOUNDARIES: [&str; 3] = ["trap", "clamp", "zero"];

#[test]
fn surface_loads() {
    let mut random = Random(0xbb67_ae85_84ca_a73b);
    for shape in flat_shapes() {
        for mode in BOUNDARIES {
            let (objects, operations) = accesses(&mut random, shape, mode == "trap", 32);
            let texts = ACCESSES.map(|access| access_text(true, shape, mode, access));
            let found = results(&kernel(&texts), ACCESSES.len(), &objects, &operations);
            for (n, (operation, found)) in operations.iter().zip(found).enumerate() {
                let (bits, elements) = ACCESSES[n % ACCESSES.len()];
                let object = &objects[operation.object];
                let mut want = vec![0; 16];
                if let Some(offset) = object.access(shape, bits / 8 * elements, operation.at, mode == "clamp") {
                    let access = &object.memory[offset..offset + bits / 8 * elements];
                    want[..access.len()].copy_from_slice(access);
                }
                let text = &texts[n % ACCESSES.len()];
                assert_eq!(
                    bytes(&found),
                    want,
                    "{text}\nat {:x?}, {:?}, {:?}",
                    operation.at,
                    object.extent,
                    object.format
                );
            }
        }
    }
}

#[test]
fn surface_stores() {
    let mut random = Random(0x3c6e_f372_fe94_f82b);
    for shape in flat_shapes() {
        for mode in BOUNDARIES {
            let (objects, operations) = accesses(&mut random, shape, mode == "trap", 32);
            let texts = ACCESSES.map(|access| access_text(false, shape, mode, access));
            // All surfaces are parts of one buffer, which is the result.
            let parts: Vec<usize> = objects.iter().map(|object| object.memory.len().next_multiple_of(16)).collect();
            let part = |n: usize| parts[..n].iter().sum::<usize>();
            let mut all = vec![0; part(objects.len())];
            for (n, object) in objects.iter().enumerate() {
                all[part(n)..][..object.memory.len()].copy_from_slice(&object.memory);
            }
            let mut want = all.clone();
            for (n, operation) in operations.iter().enumerate() {
                let (bits, elements) = ACCESSES[n % ACCESSES.len()];
                let data = stored(operation.data, (bits, elements));
                let offset = objects[operation.object].access(shape, data.len(), operation.at, mode == "clamp");
                if let Some(offset) = offset {
                    want[part(n) + offset..][..data.len()].copy_from_slice(&data);
                }
            }
            assert_ne!(all, want);
            let fill = |memory: &mut Memory| {
                let result = memory.add("surfaces", &all).expect("there is room");
                let first = memory.buffer(result).address();
                let headers: Vec<u32> =
                    objects.iter().enumerate().flat_map(|(n, object)| object.header(first + part(n) as u32)).collect();
                let headers = memory.add("headers", &bytes(&headers)).expect("there is room");
                let handle = u64::from(memory.buffer(headers).address());
                let handles: Vec<u64> = (0..objects.len() as u64).map(|n| handle + 64 * n).collect();
                let operands = memory.add("operands", &records(&operations, &handles)).expect("there is room");
                let operands = u64::from(memory.buffer(operands).address());
                (vec![operands, operands], result)
            };
            let threads = (operations.len() / ACCESSES.len()) as u32;
            let found = run_on(&kernel(&texts), 40, threads, fill);
            for (n, operation) in operations.iter().enumerate() {
                let memory = part(n)..part(n + 1);
                let object = &objects[n];
                let text = &texts[n % ACCESSES.len()];
                assert_eq!(
                    found[memory.clone()],
                    want[memory],
                    "{text}\nat {:x?}, {:?}, {:?}",
                    operation.at,
                    object.extent,
                    object.format
                );
            }
        }
    }
}

/// Runs threads that each execute one operation. Returns the text of the fault, if there is one.
fn fault_of(text: &str, objects: &[Object], operations: &[Operation]) -> Option<String> {
    let source = kernel(&[text.to_owned()]);
    let image = compiled(&source, 64).image;
    let mut memory = Memory::default();
    let (parameters, _) = fill(&mut memory, objects, operations);
    let constant: Vec<u8> = parameters.iter().flat_map(|parameter| parameter.to_le_bytes()).collect();
    let program = Program::new(&image.kernels[0], "test.ptx").unwrap_or_else(|e| panic!("{e}\n{source}"));
    let geometry = Geometry { grid: [1; 3], block: [operations.len() as u32, 1, 1], dynamic_shared: 0 };
    let launch = Launch { program: &program, geometry, constant: &constant };
    Oracle::new(Options::default()).run(&launch, &memory).err().map(|fault| fault.to_string())
}

#[test]
fn an_access_outside_of_a_surface_ends_the_kernel() {
    let mut random = Random(0xa54f_f53a_5f1d_36f1);
    for shape in flat_shapes() {
        for load in [true, false] {
            let mut object = surface(&mut random, shape, 8);
            object.format = Format { size: 4, channels: 2, kind: Kind::Unsigned, unit: false };
            let extent = [2, if shape.dimensions > 1 { 3 } else { 1 }, 1];
            let depth = if shape.dimensions > 2 || shape.layers { 2 } else { 1 };
            (object.extent, object.pitch, object.plane) = ([extent[0], extent[1], depth], 32, 128);
            (object.first, object.memory) = (64, vec![0; 512]);
            let last = [depth as u32 - 1, 8, extent[1] as u32 - 1, depth as u32 - 1];
            let operations: Vec<Operation> = (0..32).map(|_| Operation { object: 0, at: last, data: [0; 4] }).collect();
            let objects = [object];
            let text = access_text(load, shape, "trap", (32, 2));
            let fault = |operations: &[Operation]| fault_of(&text, &objects, operations);
            // The last place is inside. Threads of the same warp store to it, so a store is executed by one.
            assert_eq!(fault(&operations[..if load { 32 } else { 1 }]), None, "{text}");
            let axes = [(0, shape.layers), (1, true), (2, shape.dimensions > 1), (3, shape.dimensions > 2)];
            for (axis, _) in axes.into_iter().filter(|(_, is_used)| *is_used) {
                let step = if axis == 1 { 8 } else { 1 };
                for outside in [last[axis] + step, 0u32.wrapping_sub(step), 0x8000_0000, 0x7fff_fff8] {
                    let mut operations = operations.clone();
                    operations[19].at[axis] = outside;
                    let operations = if load { &operations[..] } else { &operations[19..20] };
                    let found = fault(operations).unwrap_or_else(|| panic!("{text}\nno fault at {outside:#x}"));
                    let thread = if load { 19 } else { 0 };
                    assert!(found.contains("a surface was accessed outside of its bounds"), "{text}\n{found}");
                    assert!(found.contains(&format!("thread ({thread}, 0, 0)")), "{text}\n{found}");
                }
            }
            // Unused coordinates make no difference.
            let mut operations = operations;
            for (axis, _) in axes.into_iter().filter(|(_, is_used)| !*is_used) {
                operations[0].at[axis] = 77;
            }
            assert_eq!(fault(&operations[..1]), None, "{text}");
        }
    }
}

#[test]
fn an_access_that_is_not_aligned_ends_the_kernel() {
    let mut random = Random(0x510e_527f_ade6_82d1);
    let shape = shape("2d", 2, false, false);
    for mode in BOUNDARIES {
        for load in [true, false] {
            for (bits, elements) in ACCESSES.into_iter().filter(|&access| access != (8, 1)) {
                let access = bits / 8 * elements;
                let mut object = surface(&mut random, shape, access);
                // Three accesses in a row, so that there is a misaligned place inside.
                object.extent[0] = 3 * access.div_ceil(object.format.bytes());
                (object.pitch, object.plane, object.memory) = (192, 1024, vec![0; 2048]);
                let text = access_text(load, shape, mode, (bits, elements));
                for x in [access / 2, access + 1] {
                    let operation = Operation { object: 0, at: [0, x as u32, 0, 0], data: [0; 4] };
                    let found = fault_of(&text, &[object.clone()], &[operation]);
                    let found = found.unwrap_or_else(|| panic!("{text}\nno fault at byte {x}"));
                    assert!(found.contains(&format!("is not aligned to {access} bytes")), "{text}\n{found}");
                }
                let operation = Operation { object: 0, at: [0, access as u32, 0, 0], data: [0; 4] };
                assert_eq!(fault_of(&text, &[object.clone()], &[operation]), None, "{text}");
            }
        }
    }
}

// Programs as nvcc writes them.

/// The beginning of a file.
const MODULE: &str = ".version 9.5\n.target sm_75\n.address_size 64\n\n";

/// `out[y * w + x] = tex2D<float4>(t, (x + 0.5f) / w, (y + 0.5f) / h)`, as nvcc 13.5 compiles it.
const RESIZE: &str = "\
.visible .entry resize(
	.param .u64 resize_param_0,
	.param .u64 resize_param_1,
	.param .u32 resize_param_2,
	.param .u32 resize_param_3
)
{
	.reg .pred 	%p<4>;
	.reg .f32 	%f<13>;
	.reg .b32 	%r<12>;
	.reg .b64 	%rd<6>;


	ld.param.u64 	%rd1, [resize_param_0];
	ld.param.u64 	%rd2, [resize_param_1];
	ld.param.u32 	%r3, [resize_param_2];
	ld.param.u32 	%r4, [resize_param_3];
	mov.u32 	%r5, %ctaid.x;
	mov.u32 	%r6, %ntid.x;
	mov.u32 	%r7, %tid.x;
	mad.lo.s32 	%r1, %r5, %r6, %r7;
	mov.u32 	%r8, %ntid.y;
	mov.u32 	%r9, %ctaid.y;
	mov.u32 	%r10, %tid.y;
	mad.lo.s32 	%r2, %r9, %r8, %r10;
	setp.ge.s32 	%p1, %r1, %r3;
	setp.ge.s32 	%p2, %r2, %r4;
	or.pred  	%p3, %p1, %p2;
	@%p3 bra 	$L__BB2_2;

	cvta.to.global.u64 	%rd3, %rd1;
	cvt.rn.f32.s32 	%f1, %r1;
	add.f32 	%f2, %f1, 0f3F000000;
	cvt.rn.f32.s32 	%f3, %r3;
	div.rn.f32 	%f4, %f2, %f3;
	cvt.rn.f32.s32 	%f5, %r2;
	add.f32 	%f6, %f5, 0f3F000000;
	cvt.rn.f32.s32 	%f7, %r4;
	div.rn.f32 	%f8, %f6, %f7;
	mad.lo.s32 	%r11, %r2, %r3, %r1;
	mul.wide.s32 	%rd4, %r11, 16;
	add.s64 	%rd5, %rd3, %rd4;
	tex.2d.v4.f32.f32 	{%f9, %f10, %f11, %f12}, [%rd2, {%f4, %f8}];
	st.global.v4.f32 	[%rd5], {%f9, %f10, %f11, %f12};

$L__BB2_2:
	ret;

}
";

#[test]
fn a_resize() {
    let mut random = Random(0x9b05_688c_2b3e_6c1f);
    let shape = shape("2d", 2, false, false);
    for format in formats().into_iter().filter(|format| format.floats() && format.channels == 4) {
        let object = Object {
            sampler: Sampler { linear: true, normalised: true, modes: [Mode::Clamp; 3] },
            ..sized(&mut random, format, [7, 3, 1])
        };
        let (width, height) = (61u32, 2u32);
        let found = run_on(&format!("{MODULE}{RESIZE}"), 32, 64, |memory| {
            let handle = headers(memory, std::slice::from_ref(&object))[0];
            let result = memory.add("result", &[0; 61 * 16]).expect("there is room");
            let address = memory.buffer(result).address();
            (vec![address.into(), handle, u64::from(height) << 32 | u64::from(width)], result)
        });
        for (x, found) in words(&found).chunks_exact(4).enumerate() {
            let at = [(x as f32 + 0.5) / width as f32, 0.5 / height as f32].map(f32::to_bits);
            let want = object.fetch(shape, false, [0, at[0], at[1], 0]).expect("it is inside");
            assert_same(&object, found.try_into().expect("four words"), want, &|| format!("column {x}"));
        }
    }
}

/// A fetch in a function that is called, with its handle as an argument; a fetch in one path of a branch; a fetch with a guard.
const PATHS: &str = "\
.func  (.param .b32 func_retval0) _Z6sampleyf(
	.param .b64 _Z6sampleyf_param_0,
	.param .b32 _Z6sampleyf_param_1
)
{
	.reg .f32 	%f<6>;
	.reg .b64 	%rd<2>;


	ld.param.u64 	%rd1, [_Z6sampleyf_param_0];
	ld.param.f32 	%f1, [_Z6sampleyf_param_1];
	tex.1d.v4.f32.f32 	{%f2, %f3, %f4, %f5}, [%rd1, {%f1}];
	st.param.f32 	[func_retval0+0], %f2;
	ret;

}
	// .globl	paths
.visible .entry paths(
	.param .u64 paths_param_0,
	.param .u64 paths_param_1
)
{
	.reg .pred 	%p<3>;
	.reg .f32 	%f<20>;
	.reg .b32 	%r<3>;
	.reg .b64 	%rd<6>;


	ld.param.u64 	%rd1, [paths_param_0];
	ld.param.u64 	%rd2, [paths_param_1];
	cvta.to.global.u64 	%rd3, %rd1;
	mov.u32 	%r1, %tid.x;
	cvt.rn.f32.u32 	%f1, %r1;
	mul.f32 	%f2, %f1, 0f3E99999A;
	{ // callseq 0, 0
	.reg .b32 temp_param_reg;
	.param .b64 param0;
	st.param.b64 	[param0+0], %rd2;
	.param .b32 param1;
	st.param.f32 	[param1+0], %f2;
	.param .b32 retval0;
	call.uni (retval0), 
	_Z6sampleyf, 
	(
	param0, 
	param1
	);
	ld.param.f32 	%f3, [retval0+0];
	} // callseq 0
	mov.f32 	%f4, 0f42280000;
	setp.lt.u32 	%p1, %r1, 20;
	@%p1 bra 	$L__BB1_2;

	tex.1d.v4.f32.s32 	{%f4, %f6, %f7, %f8}, [%rd2, {%r1}];

$L__BB1_2:
	mov.f32 	%f9, 0f42280000;
	mov.f32 	%f10, %f9;
	mov.f32 	%f11, %f9;
	mov.f32 	%f12, %f9;
	and.b32  	%r2, %r1, 1;
	setp.eq.s32 	%p2, %r2, 1;
	@%p2 tex.1d.v4.f32.f32 	{%f9, %f10, %f11, %f12}, [%rd2, {%f1}];
	mul.wide.u32 	%rd4, %r1, 16;
	add.s64 	%rd5, %rd3, %rd4;
	st.global.v4.f32 	[%rd5], {%f3, %f4, %f9, %f12};
	ret;

}
";

#[test]
fn fetches_on_some_paths() {
    let mut random = Random(0x1f83_d9ab_fb41_bd6b);
    let shape = shape("1d", 1, false, false);
    for format in formats().into_iter().filter(|format| format.floats() && format.channels == 4) {
        let mut object = sized(&mut random, format, [33, 1, 1]);
        object.sampler = Sampler { linear: true, normalised: false, modes: [Mode::Border; 3] };
        let found = run_on(&format!("{MODULE}{PATHS}"), 48, 64, |memory| {
            let handle = headers(memory, std::slice::from_ref(&object))[0];
            let result = memory.add("result", &[0; 64 * 16]).expect("there is room");
            (vec![memory.buffer(result).address().into(), handle], result)
        });
        for (thread, found) in words(&found).chunks_exact(4).enumerate() {
            let x = thread as f32;
            let fetched = |integer, x: u32| object.fetch(shape, integer, [0, x, 0, 0]).expect("the page says it");
            let sample = fetched(false, (x * f32::from_bits(0x3e99_999a)).to_bits())[0];
            let old = 42f32.to_bits();
            let branch = if thread < 20 { old } else { fetched(true, thread as u32)[0] };
            let [first, _, _, last] = if thread % 2 == 1 { fetched(false, x.to_bits()) } else { [old; 4] };
            let found = found.try_into().expect("four words");
            assert_same(&object, found, [sample, branch, first, last], &|| format!("thread {thread}"));
        }
    }
}

/// `surf2Dwrite(x * 1.5f, s, x * 4, 1); o[x] = tex2D<float>(t, x, 1)`: a texture gives what the thread has stored.
#[test]
fn a_fetch_after_a_store() {
    let store = "cvt.rn.f32.u32 \t%f9, %r1;\nmul.f32 \t%f10, %f9, 0f3FC00000;\nmov.b32 \t%r14, %f10;\nshl.b32 \t%r15, %r1, 2;\n\
                 mov.u32 \t%r16, 1;\nsust.b.2d.b32.trap \t[%rd4, {%r15, %r16}], {%r14};\nmov.f32 \t%f11, 0f3F800000;\n\
                 tex.2d.v4.f32.f32 \t{%f4, %f5, %f6, %f7}, [%rd4, {%f9, %f11}];\nst.global.v4.f32 [%rd5], {%f4, %f5, %f6, %f7};";
    let mut random = Random(0x5be0_cd19_137e_2179);
    let format = Format { size: 4, channels: 1, kind: Kind::Float, unit: false };
    let mut object = sized(&mut random, format, [64, 2, 1]);
    object.sampler = Sampler { linear: false, normalised: false, modes: [Mode::Clamp; 3] };
    let operations = vec![Operation { object: 0, at: [0; 4], data: [0; 4] }; 64];
    let found = results(&kernel(&[store.to_owned()]), 1, &[object], &operations);
    for (x, found) in found.into_iter().enumerate() {
        assert_eq!(found, [(x as f32 * 1.5).to_bits(), 0, 0, 0], "thread {x}");
    }
}

// Refusals.

/// The messages of a file that is refused.
fn refused(source: &str) -> (String, usize) {
    match compile(source, "k.ptx", &CompilerOptions::default()) {
        Ok(_) => panic!("this was accepted:\n{source}"),
        Err(e) => (e.to_string(), e.entries.len()),
    }
}

/// Whether a message has one of these words.
fn mentions(text: &str, words: &[&str]) -> bool {
    let text = text.to_lowercase();
    // The message quotes the line of PTX, which says nothing about the reason.
    let message: String = text.lines().filter(|line| !line.contains('|')).collect::<Vec<_>>().join("\n");
    words.iter().any(|word| message.contains(word))
}

#[test]
fn what_the_page_does_not_support_is_refused() {
    const HALF: &[&str] = &["half", "f16", "results of another type"];
    const F: &str = "{%f0, %f1, %f2, %f3}";
    let at = |body: &str| body.replace("$f", F);
    for (body, reasons) in [
        // Results in half precision.
        ("tex.2d.v4.f16.f32 {%h0, %h1, %h2, %h3}, [%l1, {%f1, %f2}];", HALF),
        ("tex.2d.v2.f16x2.f32 {%r0, %r1}, [%l1, {%f1, %f2}];", HALF),
        ("tex.1d.v4.f16.s32 {%h0, %h1, %h2, %h3}, [%l1, {%r1}];", HALF),
        // Comparison with a depth.
        ("tex.2d.v4.f32.f32 $f, [%l1, {%f1, %f2}], %f3;", &["depth", "compar"]),
        ("tex.cube.v4.f32.f32 $f, [%l1, {%f1, %f2, %f3, %f3}], %f3;", &["depth", "compar"]),
        ("tld4.r.2d.v4.f32.f32 $f, [%l1, {%f1, %f2}], %f3;", &["depth", "compar"]),
        // Offsets.
        ("tex.2d.v4.f32.f32 $f, [%l1, {%f1, %f2}], {%r1, %r2};", &["offset"]),
        ("tex.1d.v4.f32.s32 $f, [%l1, {%r1}], {%r2};", &["offset"]),
        ("tld4.g.2d.v4.f32.f32 $f, [%l1, {%f1, %f2}], {%r1, %r2};", &["offset"]),
        // The predicate of residency.
        ("tex.2d.v4.f32.f32 $f|%p1, [%l1, {%f1, %f2}];", &["residen", "predicate"]),
        ("tld4.r.2d.v4.f32.f32 $f|%p1, [%l1, {%f1, %f2}];", &["residen", "predicate"]),
        // A sampler apart from the texture.
        ("tex.2d.v4.f32.f32 $f, [%l1, %l2, {%f1, %f2}];", &["sampler"]),
        ("tld4.r.2d.v4.f32.f32 $f, [%l1, %l2, {%f1, %f2}];", &["sampler"]),
        // Multisampled textures.
        ("tex.2dms.v4.f32.s32 $f, [%l1, {%r1, %r2, %r3, %r3}];", &["geometr"]),
        ("tex.a2dms.v4.f32.s32 $f, [%l1, {%r1, %r2, %r3, %r3}];", &["geometr"]),
        // Gathers of other geometries.
        ("tld4.r.cube.v4.f32.f32 $f, [%l1, {%f1, %f2, %f3, %f3}];", &["cube", "2d", "geometr"]),
        ("tld4.r.acube.v4.f32.f32 $f, [%l1, {%r1, %f1, %f2, %f3}];", &["cube", "2d", "geometr"]),
        // Integer coordinates of cubes.
        ("tex.cube.v4.f32.s32 $f, [%l1, {%r1, %r2, %r3, %r3}];", &["cube", "s32", "f32"]),
        // Formatted stores, and reductions.
        ("sust.p.1d.v4.b32.trap [%l1, {%r1}], {%r1, %r2, %r3, %r4};", &["sust.p", ".p", "format"]),
        ("sured.b.add.2d.u32.trap [%l1, {%r1, %r2}], %r3;", &["sured", "reduction"]),
        ("sured.p.min.1d.b32.trap [%l1, {%r1}], %r3;", &["sured", "reduction"]),
        // More than 16 bytes.
        ("suld.b.1d.v4.b64.trap {%l0, %l2, %l3, %l4}, [%l1, {%r1}];", &["16 bytes", "32 bytes", "256 bits", "v4"]),
        ("sust.b.1d.v4.b64.trap [%l1, {%r1}], {%l0, %l2, %l3, %l4};", &["16 bytes", "32 bytes", "256 bits", "v4"]),
        // Other queries.
        ("txq.channel_data_type.b32 %r0, [%l1];", &["quer"]),
        ("txq.channel_order.b32 %r0, [%l1];", &["quer"]),
        ("txq.normalized_coords.b32 %r0, [%l1];", &["quer"]),
        ("txq.num_mipmap_levels.b32 %r0, [%l1];", &["quer"]),
        ("txq.num_samples.b32 %r0, [%l1];", &["quer"]),
        ("txq.filter_mode.b32 %r0, [%l1];", &["quer"]),
        ("txq.addr_mode_0.b32 %r0, [%l1];", &["quer"]),
        ("suq.channel_data_type.b32 %r0, [%l1];", &["quer"]),
        ("suq.memory_layout.b32 %r0, [%l1];", &["quer"]),
    ] {
        let source = format!(
            "{MODULE}.visible .entry k(.param .u64 p0)\n{{\n.reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<8>; .reg .f32 %f<4>;\n\
             .reg .b64 %l<8>;\n{}\nret;\n}}\n",
            at(body)
        );
        let (text, count) = refused(&source);
        assert!(mentions(&text, reasons), "`{body}` is refused by:\n{text}");
        assert!(text.contains("k.ptx:9:"), "`{body}`: the place is wrong:\n{text}");
        assert_eq!(count, 1, "`{body}` has more than one complaint:\n{text}");
    }
}

#[test]
fn references_are_refused() {
    let reasons = &["reference", "object", "texref", "surfref", "samplerref"];
    for source in [
        ".global .texref t;\n",
        ".global .surfref s;\n",
        ".global .samplerref s = { filter_mode = linear };\n",
        ".entry k(.param .texref t) { ret; }\n",
        ".entry k(.param .surfref s) { ret; }\n",
        ".entry k() { .reg .f32 %f<6>; tex.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [t, {%f4}]; ret; }\n",
        ".entry k() { .reg .b32 %r<6>; suld.b.1d.b32.trap {%r0}, [s, {%r1}]; ret; }\n",
        ".global .b32 t;\n.entry k() { .reg .f32 %f<6>; tex.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [t, {%f4}]; ret; }\n",
    ] {
        let (text, _) = refused(&format!("{MODULE}{source}"));
        assert!(mentions(&text, reasons), "{source}is refused by:\n{text}");
    }
}
