//! A manifest as references see it, and the outputs that they return.

use std::path::{Path, PathBuf};

use gpurf_launch::{Address, Argument, Buffer, Init, Launch, Manifest, ManifestError, Scalar, Type};

/// A manifest as a reference reads it: buffers and symbols by name, scalar arguments by their place.
///
/// The methods panic, with a message that names the manifest, when it has no such buffer or argument: a reference and
/// its manifests belong together.
pub struct Case {
    manifest: Manifest,
}

impl Case {
    /// Reads the manifest of that name in `tests/kernels`, without its `.toml`.
    ///
    /// # Errors
    /// Those of [`Manifest::load`].
    pub fn load(name: &str) -> Result<Self, ManifestError> {
        Ok(Self { manifest: Manifest::load(&path_of(name))? })
    }

    /// The manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The initial contents of a buffer of `f32`.
    pub fn f32s(&self, buffer: &str) -> Vec<f32> {
        chunks(&self.bytes(buffer, Type::F32)).map(f32::from_le_bytes).collect()
    }

    /// The initial contents of a buffer of `f32`, in double precision.
    pub fn f64s(&self, buffer: &str) -> Vec<f64> {
        widen(&self.f32s(buffer))
    }

    /// The initial contents of a buffer of `u32`.
    pub fn u32s(&self, buffer: &str) -> Vec<u32> {
        chunks(&self.bytes(buffer, Type::U32)).map(u32::from_le_bytes).collect()
    }

    /// The initial contents of a buffer of `s32`.
    pub fn s32s(&self, buffer: &str) -> Vec<i32> {
        chunks(&self.bytes(buffer, Type::S32)).map(i32::from_le_bytes).collect()
    }

    /// The initial contents of a buffer of `u64`.
    pub fn u64s(&self, buffer: &str) -> Vec<u64> {
        chunks(&self.bytes(buffer, Type::U64)).map(u64::from_le_bytes).collect()
    }

    /// The initial contents of a buffer of `u16`.
    pub fn u16s(&self, buffer: &str) -> Vec<u16> {
        chunks(&self.bytes(buffer, Type::U16)).map(u16::from_le_bytes).collect()
    }

    /// The initial contents of a buffer of `s16`.
    pub fn s16s(&self, buffer: &str) -> Vec<i16> {
        chunks(&self.bytes(buffer, Type::S16)).map(i16::from_le_bytes).collect()
    }

    /// The initial contents of a buffer of `u8`.
    pub fn u8s(&self, buffer: &str) -> Vec<u8> {
        self.bytes(buffer, Type::U8)
    }

    /// Width, height and depth of a texture, from its header (`docs/textures.md`).
    pub fn texture_size(&self, header: &str) -> [usize; 3] {
        let path = self.manifest.path.display();
        let Init::Layout(header) = &self.buffer(header).init else { panic!("{path}: {header} is no header") };
        let word = |n: u64| match header.parts().iter().find(|(at, _)| *at == 4 * n) {
            Some((_, Argument::Scalar(Scalar { bits, .. }))) => *bits as usize,
            _ => panic!("{path}: a header has a value in word {n}"),
        };
        [3, 4, 5].map(word)
    }

    /// The initial value of a variable of `f32`.
    pub fn symbol_f32s(&self, symbol: &str) -> Vec<f32> {
        chunks(&self.symbol_bytes(symbol, Type::F32)).map(f32::from_le_bytes).collect()
    }

    /// The initial value of a variable of `u32`.
    pub fn symbol_u32s(&self, symbol: &str) -> Vec<u32> {
        chunks(&self.symbol_bytes(symbol, Type::U32)).map(u32::from_le_bytes).collect()
    }

    /// The initial value of a variable of `s32`.
    pub fn symbol_s32s(&self, symbol: &str) -> Vec<i32> {
        chunks(&self.symbol_bytes(symbol, Type::S32)).map(i32::from_le_bytes).collect()
    }

    /// The number of elements of a buffer.
    pub fn len(&self, buffer: &str) -> usize {
        self.buffer(buffer).len as usize
    }

    /// An `s32` argument of a launch, which is not negative: a size.
    pub fn size(&self, launch: usize, argument: usize) -> usize {
        self.s32(launch, argument) as usize
    }

    /// An `s32` argument of a launch.
    pub fn s32(&self, launch: usize, argument: usize) -> i32 {
        self.scalar(launch, argument, Type::S32) as i32
    }

    /// A `u32` argument of a launch.
    pub fn u32(&self, launch: usize, argument: usize) -> u32 {
        self.scalar(launch, argument, Type::U32) as u32
    }

    /// A `u64` argument of a launch.
    pub fn u64(&self, launch: usize, argument: usize) -> u64 {
        self.scalar(launch, argument, Type::U64)
    }

    /// An `f32` argument of a launch.
    pub fn f32(&self, launch: usize, argument: usize) -> f32 {
        f32::from_bits(self.scalar(launch, argument, Type::F32) as u32)
    }

    /// An `f32` argument of a launch, in double precision.
    pub fn f64(&self, launch: usize, argument: usize) -> f64 {
        f64::from(self.f32(launch, argument))
    }

    /// The name of the buffer that is this argument of a launch.
    pub fn buffer_argument(&self, launch: usize, argument: usize) -> &str {
        match self.launch(launch).args.get(argument) {
            Some(Argument::Address(Address { buffer, offset: 0 })) => &self.manifest.buffer(*buffer).name,
            _ => panic!("{}: argument {argument} of launch {launch} is no buffer", self.manifest.path.display()),
        }
    }

    /// The number of launches.
    pub fn launches(&self) -> usize {
        self.manifest.launches.len()
    }

    /// A launch.
    pub fn launch(&self, launch: usize) -> &Launch {
        &self.manifest.launches[launch]
    }

    /// The outputs that the manifest declares: a large run may leave out a buffer.
    pub fn declared(&self, outputs: Vec<Output>) -> Vec<Output> {
        outputs.into_iter().filter(|output| self.buffer(output.buffer).output).collect()
    }

    fn scalar(&self, launch: usize, argument: usize, ty: Type) -> u64 {
        match self.launch(launch).args.get(argument) {
            Some(Argument::Scalar(Scalar { ty: found, bits })) if *found == ty => *bits,
            _ => {
                let path = self.manifest.path.display();
                panic!("{path}: argument {argument} of launch {launch} is no value of type {}", ty.name())
            }
        }
    }

    fn buffer(&self, name: &str) -> &Buffer {
        let found = self.manifest.buffers.iter().find(|buffer| buffer.name == name);
        found.unwrap_or_else(|| panic!("{}: there is no buffer {name}", self.manifest.path.display()))
    }

    fn bytes(&self, name: &str, ty: Type) -> Vec<u8> {
        let buffer = self.buffer(name);
        assert_eq!(buffer.ty, ty, "{}: type of the buffer {name}", self.manifest.path.display());
        buffer.initial_bytes().unwrap_or_else(|error| panic!("{error}"))
    }

    fn symbol_bytes(&self, name: &str, ty: Type) -> Vec<u8> {
        let found = self.manifest.symbols.iter().find(|symbol| symbol.name == name);
        let symbol = found.unwrap_or_else(|| panic!("{}: there is no symbol {name}", self.manifest.path.display()));
        assert_eq!(symbol.ty, ty, "{}: type of the symbol {name}", self.manifest.path.display());
        symbol.initial_bytes().unwrap_or_else(|error| panic!("{error}"))
    }
}

/// The folder of the kernels.
pub fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The manifest of that name, without its `.toml`.
pub fn path_of(name: &str) -> PathBuf {
    folder().join(format!("{name}.toml"))
}

/// The final contents of a buffer.
pub struct Output {
    /// The buffer's name.
    pub buffer: &'static str,
    /// Its bytes, little-endian.
    pub bytes: Vec<u8>,
}

impl Output {
    /// A buffer of `f32`.
    pub fn f32(buffer: &'static str, values: &[f32]) -> Self {
        Self { buffer, bytes: values.iter().flat_map(|value| value.to_le_bytes()).collect() }
    }

    /// A buffer of `f32`, from a result in double precision.
    pub fn f64(buffer: &'static str, values: &[f64]) -> Self {
        Self { buffer, bytes: values.iter().flat_map(|&value| (value as f32).to_le_bytes()).collect() }
    }

    /// A buffer of `u32`.
    pub fn u32(buffer: &'static str, values: &[u32]) -> Self {
        Self { buffer, bytes: values.iter().flat_map(|value| value.to_le_bytes()).collect() }
    }

    /// A buffer of `s32`.
    pub fn s32(buffer: &'static str, values: &[i32]) -> Self {
        Self { buffer, bytes: values.iter().flat_map(|value| value.to_le_bytes()).collect() }
    }

    /// A buffer of `u64`.
    pub fn u64(buffer: &'static str, values: &[u64]) -> Self {
        Self { buffer, bytes: values.iter().flat_map(|value| value.to_le_bytes()).collect() }
    }

    /// A buffer of `u16`.
    pub fn u16(buffer: &'static str, values: &[u16]) -> Self {
        Self { buffer, bytes: values.iter().flat_map(|value| value.to_le_bytes()).collect() }
    }

    /// A buffer of `s16`.
    pub fn s16(buffer: &'static str, values: &[i16]) -> Self {
        Self { buffer, bytes: values.iter().flat_map(|value| value.to_le_bytes()).collect() }
    }

    /// A buffer of `u8`.
    pub fn u8(buffer: &'static str, values: Vec<u8>) -> Self {
        Self { buffer, bytes: values }
    }
}

/// The same values in double precision.
pub fn widen(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&value| f64::from(value)).collect()
}

fn chunks<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> {
    bytes.chunks_exact(N).map(|chunk| chunk.try_into().expect("a chunk has N bytes"))
}
