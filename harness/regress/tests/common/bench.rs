//! Jobs and runs of single blocks, with failures in a folder that is removed afterwards.

use std::sync::atomic::AtomicBool;

use gpurf_blocks::config::{Config, MrfConfig};
use gpurf_blocks::{Twin, registry};
use gpurf_lockstep::Lockstep;
use gpurf_regress::{JobResult, LockstepJob, Project, RtlSources, request, run_job, suite};
use verilated::{Options, Toolchain};

/// A small register file.
pub const SMALL: Config = Config {
    mrf: MrfConfig { banks: 4, collectors: 4, kilobytes: 8, tag_bits: 16, ..Config::BASELINE.mrf },
    ..Config::BASELINE
};
/// A stop flag that is never set.
pub static GO: AtomicBool = AtomicBool::new(false);

/// A checkout with another folder for failures.
pub struct Bench {
    /// The checkout.
    pub project: Project,
    /// Its tools.
    pub tools: Toolchain,
    /// The folder for its failures and changed sources.
    pub folder: tempfile::TempDir,
}

impl Bench {
    /// A bench with the tools of this machine.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let project = Project { failures: folder.path().join("failures"), ..Project::find() };
        let tools = Toolchain::find(&project.cache()).expect("Verilator and a C++ compiler");
        Self { project, tools, folder }
    }

    /// A module's source with a text replaced, as `--rtl` would give it.
    pub fn broken(&self, module: &str, find: &str, replace: &str) -> RtlSources {
        let path = registry::find(module).unwrap().path;
        let text = std::fs::read_to_string(self.project.rtl().join(path).with_extension("sv")).unwrap();
        assert_eq!(text.matches(find).count(), 1, "{find}");
        let file = self.folder.path().join(format!("{module}.sv"));
        std::fs::write(&file, text.replace(find, replace)).unwrap();
        RtlSources { overrides: vec![(module.into(), file)], ..RtlSources::default() }
    }

    /// Options for quick builds.
    pub fn options() -> Options {
        Options { optimise: false, ..Options::default() }
    }

    /// Runs a job.
    pub fn run(&self, job: &LockstepJob, rtl: &RtlSources) -> JobResult {
        run_job(&self.project, &self.tools, job, rtl, &Self::options(), &GO).unwrap()
    }

    /// Both sides of a block, with `twin` as the model.
    pub fn sides(&self, twin: Box<dyn Twin>) -> Lockstep {
        let request =
            request(&self.project, twin.declaration().block, &SMALL, &RtlSources::default(), Self::options()).unwrap();
        let library = self.tools.build(&request).unwrap();
        Lockstep::new(twin, library.instance(1).unwrap())
    }
}

/// Random inputs for the write queue.
pub fn queue_job() -> LockstepJob {
    suite::random("mrf_write_queue", SMALL, 3, 5_000)
}

/// All values of a variable, by cycle, as bit strings.
pub fn values(wave: &mut wellen::simple::Waveform, path: &[&str], name: &str) -> Vec<(u64, String)> {
    let variable = wave.hierarchy().lookup_var(path, name).unwrap_or_else(|| panic!("{path:?} {name}"));
    let signal = wave.hierarchy()[variable].signal_ref();
    wave.load_signals(&[signal]);
    let times = wave.time_table().to_vec();
    let signal = wave.get_signal(signal).unwrap();
    signal.iter_changes().map(|(index, value)| (times[index as usize], value.to_bit_string().unwrap())).collect()
}

/// The value at a time.
pub fn at(changes: &[(u64, String)], time: u64) -> &str {
    &changes.iter().rev().find(|c| c.0 <= time).expect("a value from the beginning").1
}
