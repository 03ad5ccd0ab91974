//! The SM's RTL, compiled with a profile of itself: for runs that take minutes (docs/performance.md, "Trained").

use gpurf_blocks::config::Config;
use gpurf_machine::{LockstepEngine, RtlEngine, Settings};
use gpurf_stimulus::program::{Limits, Program, Weights};
use verilated::{Library, Request, Toolchain};

use crate::JobError;
use crate::programs::execute;

/// Themes of the random programs on which it is trained, one program each: all units, dependences, divergent warps. They are the same for every configuration and
/// run, so the build does not depend on what is run afterwards.
const PROGRAMS: [&str; 3] = ["mixed", "dependences", "divergence"];

/// Builds the SM of a configuration. With [`Options::profile`](verilated::Options::profile) it is trained on random programs, otherwise it is
/// [`Toolchain::build`].
///
/// # Errors
/// As [`Toolchain::build`].
pub fn build_sm(tools: &Toolchain, request: &Request, config: &Config) -> Result<Library, JobError> {
    let train = |library: &Library| {
        for (seed, theme) in (1..).zip(PROGRAMS) {
            // A program that fails ends early, and so does RTL that lacks something: the counts up to this point are used, and the actual run reports the error.
            let _ = train_on(library, config, theme, seed);
        }
    };
    Ok(tools.build_trained(request, train)?)
}

fn train_on(library: &Library, config: &Config, theme: &str, seed: u64) -> Result<(), JobError> {
    let failed = |e: &dyn std::fmt::Display| JobError::Build(e.to_string());
    let weights = Weights::load(theme).map_err(|e| failed(&e))?;
    let settings = Settings::new(weights.surrounded(config));
    let program = Program::random(seed, &weights, &Limits::of(&settings.config)).map_err(|e| failed(&e))?;
    // The code of the comparison is compiled with the profile too.
    let ran = if library.has_probes() {
        execute(&program, &mut LockstepEngine::new(settings, library).map_err(|e| failed(&e))?)
    } else {
        execute(&program, &mut RtlEngine::new(settings, library).map_err(|e| failed(&e))?)
    };
    ran?.map_err(|e| failed(&e))
}
