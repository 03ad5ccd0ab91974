//! The machine code of a manifest's kernels for a machine.

use gpurf_blocks::config::{Config, SharedResource};
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
    Ok(compiled)
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
        let bytes = half.kernels.iter().map(|kernel| kernel.static_shared).max().unwrap();
        let given = format!("compiler.private_shared={}", bytes.div_ceil(2).next_multiple_of(4));
        assert_eq!(half, code(&["share.private=5", "compiler.relssp=optimal", &given]));
        assert_ne!(half, code(&["share.private=5", "compiler.relssp=optimal", "compiler.private_shared=4"]));
        let plain = Config::load(Start::Preset("fermi-16k"), &[] as &[&str]).unwrap();
        let unmarked = compiled_for(&text, &ptx, &plain, 64, &manifest).unwrap().image;
        let code = |image: &Image| image.kernels.iter().flat_map(|kernel| kernel.code.clone()).collect::<Vec<_>>();
        assert!(code(&unmarked).iter().all(|instruction| !instruction.control.private));
    }
}
