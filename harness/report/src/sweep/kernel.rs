//! The kernels of a sweep.

use std::path::Path;

use gpurf_blocks::config::Config;
use gpurf_isa::Image;
use gpurf_launch::{Init, Manifest};
use gpurf_machine::{LaunchDemand, demands};
use gpurf_regress::golden::digest_of;
use gpurf_sm::residency::{Room, Sharing};
use serde::Serialize;

use crate::code::Code;

/// The data on which the kernels of a report run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Size {
    /// The project's kernels on their large data, which fill the SM.
    Large,
    /// The project's kernels on little data.
    Small,
    /// Kernels of the user.
    Own,
}

impl Size {
    /// The size in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Large => "large runs",
            Self::Small => "small runs",
            Self::Own => "own kernels",
        }
    }
}

/// A kernel that reports run: a launch manifest and its machine code.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Its name in rows.
    pub name: String,
    /// Its manifest's path in commands.
    pub path: String,
    /// The manifest.
    pub manifest: Manifest,
    /// The machine code.
    pub image: Image,
    /// Its source, for machines that need code of their own; `None` if the source is assembly.
    pub ptx: Option<Ptx>,
    /// How it is compiled.
    pub code: Code,
    /// The data on which it runs.
    pub size: Size,
    /// The name of other data than a report usually has, on which it runs: only points on these data run it.
    pub data: Option<String>,
    /// Cycles after which no new block of a launch starts on the model, which then takes its counts as a sample of the launch; `None`: all blocks
    /// run.
    pub sample: Option<u64>,
}

impl Kernel {
    /// A digest of everything that decides its results: manifest, contents of the files that the manifest names, machine code, PTX, and compiler
    /// choices, as the PTX is compiled again for some machines. `None` if a file cannot be read: the run then reports the error.
    pub(super) fn digest(&self) -> Option<String> {
        let Manifest { buffers, symbols, checks, .. } = &self.manifest;
        let inits = buffers.iter().map(|buffer| &buffer.init).chain(symbols.iter().map(|symbol| &symbol.init));
        let inputs = inits.filter_map(|init| match init {
            Init::File(file) => Some(file.as_path()),
            Init::Zero
            | Init::Iota
            | Init::Random { .. }
            | Init::Values(_)
            | Init::Layout(_)
            | Init::Addresses { .. }
            | Init::Source => None,
        });
        let files = inputs.chain(checks.iter().map(|check| check.expected.as_path()));
        let contents = |file: &Path| std::fs::read(file).ok().map(|bytes| digest_of(&bytes));
        let contents: Vec<String> = files.map(contents).collect::<Option<_>>()?;
        let image = serde_json::to_string(&self.image).ok()?;
        let ptx = self.ptx.as_ref().map(|ptx| (self.code.settings(), ptx.text.as_str()));
        let all = format!("{:?} {} {image} {ptx:?}", self.manifest, contents.join(" "));
        Some(digest_of(all.as_bytes()))
    }

    /// The resources that each of its launches needs.
    pub fn demands(&self) -> impl Iterator<Item = LaunchDemand<'_>> {
        demands(&self.manifest, &self.image)
    }

    /// Whether a block of each launch fits the SM of a configuration.
    pub fn fits(&self, config: &Config) -> bool {
        self.demands().all(|LaunchDemand { demand, threads, .. }| {
            Room::of_launch(config, threads).residency(&demand, Sharing::of(config)).hosts > 0
        })
    }

    /// Registers of a thread: the maximum over the image's kernels.
    pub fn registers(&self) -> u16 {
        self.image.kernels.iter().map(|kernel| kernel.registers).max().unwrap_or(0)
    }
}

/// A file of PTX.
#[derive(Clone, Debug)]
pub struct Ptx {
    /// Its name for the compiler.
    pub name: String,
    /// Its contents.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::compiled;

    /// Compiler options that leave the common code unchanged may change the code of machines that share scratchpad memory.
    #[test]
    fn results_are_those_of_a_kernels_code() {
        let codes = [None, Some("compiler.schedule=tree"), Some("compiler.address_bits=32")];
        let code =
            |setting: Option<&str>| setting.map_or(Code::PTX, |setting| Code::PTX.with_setting(setting).unwrap());
        let [plain, tree, narrow] = codes.map(|setting| Kernel { code: code(setting), ..compiled("saxpy") });
        assert_eq!(plain.digest(), compiled("saxpy").digest());
        assert_ne!(plain.digest(), tree.digest());
        assert_ne!(plain.digest(), narrow.digest());
    }
}
