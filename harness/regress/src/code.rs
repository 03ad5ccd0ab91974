//! The machine code of a manifest's kernels for a machine.

use std::collections::BTreeMap;

use gpurf_blocks::config::{Config, SharedResource};
use gpurf_compiler::marks::private::{self, Threads};
use gpurf_compiler::{Compiled, Diagnostics, compile};
use gpurf_isa::image::Image;
use gpurf_launch::Manifest;
use gpurf_oracle::host::Session;

use crate::compiler_options;

/// Compiles PTX for the launches of a manifest on a machine.
///
/// Where blocks share scratchpad memory, the compiler has to know which bytes of it are private. Unless the configuration says so
/// (`compiler.private_shared`), they follow from the launches: the fewest that a launch of the manifest leaves private.
///
/// # Errors
/// What the compiler finds wrong.
pub fn compiled_for(
    text: &str,
    name: &str,
    config: &Config,
    registers: u16,
    manifest: &Manifest,
) -> Result<Compiled, Diagnostics> {
    let mut options = compiler_options(config, registers);
    let mut compiled = compile(text, name, &options)?;
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
        compiled = compile(text, name, &options)?;
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
