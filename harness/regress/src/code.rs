//! The machine code of a manifest's kernels for a machine.

use std::collections::{BTreeMap, BTreeSet};

use gpurf_blocks::config::{Config, SharedResource};
use gpurf_compiler::marks::private::{self, Threads};
use gpurf_compiler::{Compiled, Diagnostics, Module, Options};
use gpurf_isa::image::Image;
use gpurf_launch::Manifest;
use gpurf_oracle::host::{LoadError, Session, named};

use crate::compiler_options;

/// Why there is no machine code for a manifest.
#[derive(Debug, thiserror::Error)]
pub enum CodeError {
    /// What the compiler finds wrong: with the file, or with a kernel that is launched.
    #[error(transparent)]
    Refused(#[from] Diagnostics),
    /// A launch names no kernel of the file.
    #[error(transparent)]
    Name(#[from] LoadError),
}

/// Compiles the kernels of PTX that a manifest launches; what else is in the file need not be for this machine.
///
/// # Errors
/// A kernel of a launch that is not there, or that the compiler refuses.
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

/// Compiles PTX for the launches of a manifest on a machine: the kernels that they name.
///
/// Where blocks share scratchpad memory, the compiler has to know which bytes of it are private. Unless the configuration says so
/// (`compiler.private_shared`), they follow from the launches: the fewest that a launch of the manifest leaves private.
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
    let mut options = compiler_options(config, registers);
    let module = Module::parse(text, name)?;
    let mut compiled = launched(&module, &options, manifest)?;
    let follows = config.share.present
        && config.share.resource == SharedResource::Scratchpad
        && config.compiler.private_shared == 0;
    if !follows {
        return Ok(compiled);
    }
    // Another layout may take fewer bytes, of which fewer are private then.
    let mut bound = u32::MAX;
    while let Some(private) = private_bytes(config, manifest, &compiled.image).filter(|private| *private < bound) {
        bound = private;
        options.scratchpad.private_bytes = private;
        compiled = launched(&module, &options, manifest)?;
    }
    mark_private(manifest, &mut compiled.image, options.scratchpad.private_bytes);
    Ok(compiled)
}

/// Marks accesses that lie in the private part with the sizes of blocks that the launches have: the compiler has to take any size for possible.
fn mark_private(manifest: &Manifest, image: &mut Image, private: u32) {
    let Ok(session) = Session::new(manifest, image) else { return };
    let mut blocks: BTreeMap<String, [u32; 3]> = BTreeMap::new();
    for launch in session.launches() {
        let block = blocks.entry(launch.kernel.name.clone()).or_default();
        *block = std::array::from_fn(|k| block[k].max(launch.geometry.block[k]));
    }
    for kernel in &mut image.kernels {
        if let Some(&block) = blocks.get(&kernel.name) {
            private::mark(&mut kernel.code, private, Threads::of_block(block));
        }
    }
}

/// The fewest bytes that a launch leaves private, if a launch has shared memory at all. A manifest that does not fit its kernels is found wrong where it is run.
fn private_bytes(config: &Config, manifest: &Manifest, image: &Image) -> Option<u32> {
    let session = Session::new(manifest, image).ok()?;
    let bytes = session.launches().map(|launch| launch.kernel.static_shared + launch.geometry.dynamic_shared);
    bytes.filter(|bytes| *bytes > 0).map(|bytes| config.share.private_shared(bytes)).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpurf_blocks::config::Start;

    /// Of three kernels one is outside of the subset.
    const MIXED: &str = ".version 9.0\n.target sm_75\n.address_size 64\n\
        .entry _Z3onev() { .reg .b32 %r<2>; mov.u32 %r1, 1; ret; }\n\
        .entry _Z3twov() { .reg .f64 %d<2>; add.f64 %d1, %d0, %d0; ret; }\n\
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
