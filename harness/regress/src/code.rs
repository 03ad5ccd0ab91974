//! The machine code of a manifest's kernels for a machine.

use std::collections::{BTreeMap, BTreeSet};

use gpurf_blocks::config::{Config, SharedResource};
use gpurf_compiler::marks::private::{self, Threads};
use gpurf_compiler::{Compiled, Diagnostics, Module, Options};
use gpurf_isa::image::{Image, Kernel};
use gpurf_launch::Manifest;
use gpurf_oracle::Geometry;
use gpurf_oracle::host::{LoadError, Session, named};

use crate::compiler_options;

/// Why a manifest has no machine code.
#[derive(Debug, thiserror::Error)]
pub enum CodeError {
    /// Errors of the compiler: in the file, or in a kernel that is launched.
    #[error(transparent)]
    Refused(#[from] Diagnostics),
    /// A launch names a kernel that the file does not have.
    #[error(transparent)]
    Name(#[from] LoadError),
}

/// Compiles those kernels of PTX that a manifest launches; other kernels of the file may be unsuitable for this machine.
///
/// # Errors
/// A kernel of a launch does not exist, or the compiler rejects it.
pub fn launched(module: &Module<'_>, options: &Options, manifest: &Manifest) -> Result<Compiled, CodeError> {
    let names: Vec<&str> = module.kernels().map(|(name, _)| name).collect();
    let mut wanted = BTreeSet::new();
    for launch in &manifest.launches {
        let mismatch = |problem| LoadError::at(manifest, &launch.origin, problem);
        wanted.insert(*named("kernel", &launch.kernel, &names, |name| name).map_err(mismatch)?);
    }
    let compiled = module.compile(options, &|name| wanted.contains(name))?;
    compiled.complaints().map_or(Ok(compiled), |complaints| Err(complaints.into()))
}

/// Compiles PTX for the launches of a manifest on a machine: only the kernels that they name.
///
/// If blocks share scratchpad memory, the compiler has to know which bytes of it are private. Unless the configuration sets their number
/// (`compiler.private_shared`), it follows from the launches: the smallest number that a launch of the manifest leaves private.
///
/// # Errors
/// Those of [`launched`].
pub fn compiled_for(
    text: &str,
    name: &str,
    config: &Config,
    registers: u16,
    manifest: &Manifest,
) -> Result<Compiled, CodeError> {
    let module = Module::parse(text, name)?;
    let compile = |options: &Options| launched(&module, options, manifest);
    // A manifest that does not fit its kernels is reported when it is run.
    let launches = |image: &Image| {
        let session = Session::new(manifest, image).ok();
        session
            .iter()
            .flat_map(Session::launches)
            .map(|launch| BlockSize::of(launch.kernel, &launch.geometry))
            .collect()
    };
    compiled_for_sizes(config, registers, compile, launches)
}

/// The block size of a launch.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct BlockSize {
    /// The kernel, by its name in the image.
    pub kernel: String,
    /// Threads in each dimension.
    pub block: [u32; 3],
    /// Bytes of shared memory, static and dynamic.
    pub shared: u32,
}

impl BlockSize {
    /// The block size of a launch of a kernel.
    pub fn of(kernel: &Kernel, geometry: &Geometry) -> Self {
        let shared = kernel.static_shared + geometry.dynamic_shared;
        Self { kernel: kernel.name.clone(), block: geometry.block, shared }
    }
}

/// Compiles for launches of these sizes on a machine, as [`compiled_for`] does. `compile` compiles with given options, `sizes` returns the
/// launches of an image.
///
/// # Errors
/// Those of `compile`.
pub fn compiled_for_sizes<E>(
    config: &Config,
    registers: u16,
    compile: impl Fn(&Options) -> Result<Compiled, E>,
    sizes: impl Fn(&Image) -> Vec<BlockSize>,
) -> Result<Compiled, E> {
    let mut options = compiler_options(config, registers);
    let mut compiled = compile(&options)?;
    if !private_part_follows(config) {
        return Ok(compiled);
    }
    // The smallest number of bytes that a launch leaves private, if any launch has shared memory.
    let private_bytes = |image: &Image| {
        let shared = sizes(image).into_iter().map(|size| size.shared);
        shared.filter(|bytes| *bytes > 0).map(|bytes| config.share.private_shared(bytes)).min()
    };
    // A different layout may take fewer bytes, and then fewer bytes are private.
    let mut bound = u32::MAX;
    while let Some(private) = private_bytes(&compiled.image).filter(|private| *private < bound) {
        bound = private;
        options.scratchpad.private_bytes = private;
        compiled = compile(&options)?;
    }
    mark_private(&sizes(&compiled.image), &mut compiled.image, options.scratchpad.private_bytes);
    Ok(compiled)
}

/// Whether the code depends on the sizes of the launches: blocks share scratchpad memory, and the size of the private part follows from them.
pub fn private_part_follows(config: &Config) -> bool {
    config.share.present && config.share.resource == SharedResource::Scratchpad && config.compiler.private_shared == 0
}

/// Marks accesses that lie in the private part for the block sizes of the launches; the compiler has to assume that any size is possible.
fn mark_private(launches: &[BlockSize], image: &mut Image, private: u32) {
    let mut blocks: BTreeMap<&str, [u32; 3]> = BTreeMap::new();
    for launch in launches {
        let block = blocks.entry(&launch.kernel).or_default();
        *block = std::array::from_fn(|k| block[k].max(launch.block[k]));
    }
    for kernel in &mut image.kernels {
        if let Some(&block) = blocks.get(kernel.name.as_str()) {
            private::mark(&mut kernel.code, private, Threads::of_block(block));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpurf_blocks::config::Start;

    /// Three kernels, one of them outside of the supported subset.
    const MIXED: &str = ".version 9.0\n.target sm_75\n.address_size 64\n\
        .entry _Z3onev() { .reg .b32 %r<2>; mov.u32 %r1, 1; ret; }\n\
        .entry _Z3twov() { .reg .f64 %d<2>; rem.f64 %d1, %d0, %d0; ret; }\n\
        .entry _Z5threev() { .reg .b32 %r<2>; mov.u32 %r1, 3; ret; }\n";

    #[test]
    fn only_what_is_launched_is_compiled() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("k.ptx"), MIXED).unwrap();
        let launch = |kernel: &str| format!("[[launch]]\nkernel = \"{kernel}\"\ngrid = [1]\nblock = [1]\n");
        let image = |kernels: &[&str]| {
            let launches: String = kernels.iter().map(|kernel| launch(kernel)).collect();
            let text = format!("source = \"k.ptx\"\n{launches}");
            let manifest = Manifest::parse(&folder.path().join("m.toml"), &text).unwrap();
            let config = Config::load(Start::Preset("baseline"), &[] as &[&str]).unwrap();
            let compiled = compiled_for(MIXED, "k.ptx", &config, 64, &manifest)?;
            Ok::<_, CodeError>(compiled.image.kernels.into_iter().map(|kernel| kernel.name).collect::<Vec<_>>())
        };
        assert_eq!(image(&["three", "one", "three"]).unwrap(), ["_Z3onev", "_Z5threev"]);
        let refused = image(&["one", "two"]).unwrap_err().to_string();
        assert!(refused.starts_with("kernel `_Z3twov`: ") && refused.contains("double precision"), "{refused}");
        assert!(refused.contains("k.ptx:5:"), "{refused}");
        // All kernels of the file are there to be named, those that cannot be compiled too.
        let unknown = image(&["four"]).unwrap_err().to_string();
        assert!(unknown.contains("no kernel `four`") && unknown.contains("`two()` (`_Z3twov`)"), "{unknown}");
    }

    /// A kernel with two sizes of shared memory would have the smaller bound; this one has one size, of which a half is private.
    #[test]
    fn the_bound_follows_from_the_launches() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/kernels");
        let [ptx, toml] = ["ptx", "toml"].map(|ending| format!("{folder}/transpose.{ending}"));
        let text = std::fs::read_to_string(&ptx).unwrap();
        let manifest = Manifest::load(toml.as_ref()).unwrap();
        let code = |settings: &[&str]| {
            let config = Config::load(Start::Preset("share-scratchpad"), settings).unwrap();
            compiled_for(&text, &ptx, &config, 64, &manifest).unwrap().image
        };
        let half = code(&["share.private=5", "compiler.relssp=optimal"]);
        let marked = |image: &Image| image.kernels.iter().flat_map(|k| &k.code).filter(|i| i.control.private).count();
        assert!(marked(&half) > 0);
        let tenth = code(&["share.private=1", "compiler.relssp=optimal"]);
        assert!(marked(&tenth) < marked(&half));
        let plain = Config::load(Start::Preset("fermi-16k"), &[] as &[&str]).unwrap();
        let unmarked = compiled_for(&text, &ptx, &plain, 64, &manifest).unwrap().image;
        assert_eq!(marked(&unmarked), 0);
    }
}
