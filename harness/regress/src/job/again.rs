//! The command line that repeats a job, and the job that a reproducer describes.

use gpurf_blocks::config::{Config, DEFAULT_PRESET, Start, presets};
use gpurf_lockstep::{Reproducer, quoted};
use verilated::absolute;

use super::{Inputs, LockstepJob, RtlSources};
use crate::JobError;

impl LockstepJob {
    /// The run that a reproducer describes.
    ///
    /// # Errors
    /// When there is no such block or configuration.
    pub fn of_reproducer(reproducer: Reproducer) -> Result<Self, JobError> {
        let block = gpurf_sm::find(&reproducer.block)
            .ok_or_else(|| JobError::Input(format!("there is no block {}", reproducer.block)))?;
        let config = Config::load(Start::Preset(DEFAULT_PRESET), &reproducer.settings)
            .map_err(|e| JobError::Input(e.to_string()))?;
        let (seed, cycles) = (reproducer.seed, reproducer.cycles.len() as u64);
        Ok(Self::new(block.name, config, seed, cycles, Inputs::Replay(reproducer)))
    }

    /// The preset with its sizes and policies; `None` for a reproducer, which drives the policies itself.
    pub fn preset(&self) -> Option<&'static str> {
        if matches!(self.inputs, Inputs::Replay(_)) {
            return None;
        }
        presets().find(|preset| preset.config == self.config).map(|preset| preset.name)
    }

    /// The command that runs this job alone, for `cycles` cycles; `options` name RTL that replaces the project's.
    pub fn command(&self, cycles: u64, options: &[String]) -> String {
        let mut words = vec![match &self.inputs {
            Inputs::Kernel(kernel) => {
                format!("gpurf cosim --kernel {}", quoted(&kernel.manifest.display().to_string()))
            }
            Inputs::Program(program) => format!("gpurf cosim --programs 1 --weights {}", quoted(&program.name)),
            _ => format!("gpurf cosim --block {}", self.block),
        }];
        match self.preset() {
            Some(preset) => words.push(format!("--preset {preset}")),
            None => words.extend(self.config.settings().iter().map(|setting| format!("--set {setting}"))),
        }
        if let Inputs::Pinned(pins) = &self.inputs {
            words.extend(pins.iter().map(|(name, value)| format!("--knob {name}={value}")));
        }
        words.push(format!("--seed {}", self.seed));
        if !matches!(self.inputs, Inputs::Kernel(_) | Inputs::Program(_)) {
            words.push(format!("--cycles {cycles}"));
        }
        words.extend(options.iter().cloned());
        words.join(" ")
    }
}

/// Options needed besides `--replay`: a reproducer names the files of modules, but not file lists or allowed absences.
pub(crate) fn replay_options(options: &[String]) -> String {
    let needed = options.iter().filter(|option| !option.starts_with("--rtl "));
    needed.map(|option| format!(" {option}")).collect()
}

/// The files that replace modules, as a reproducer names them.
pub(crate) fn overrides(rtl: &RtlSources) -> Vec<String> {
    rtl.overrides.iter().map(|(module, file)| format!("{module}={}", absolute(file).display())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite;

    fn config(settings: &[&str]) -> Config {
        Config::load(Start::Preset("baseline"), settings).unwrap()
    }

    fn reproducer(settings: &[&str]) -> Reproducer {
        Reproducer {
            gpurf_reproducer: 2,
            block: "mrf_bank".into(),
            settings: settings.iter().map(|&s| s.into()).collect(),
            seed: 7,
            rtl: Vec::new(),
            cycles: Vec::new(),
        }
    }

    #[test]
    fn a_reproducer_gives_the_configuration() {
        let job = LockstepJob::of_reproducer(reproducer(&["mrf.ports=1r1w", "mrf.banks=8"])).unwrap();
        assert_eq!((job.config, job.seed), (config(&["mrf.ports=1r1w", "mrf.banks=8"]), 7));
    }

    #[test]
    fn a_reproducer_with_a_wrong_configuration_is_refused() {
        let message = LockstepJob::of_reproducer(reproducer(&["mrf.banks=5"])).unwrap_err().to_string();
        assert_eq!(message, "--set: mrf.banks = 5 is not allowed: it has to be 2, 4, 8, 16 or 32");
    }

    #[test]
    fn a_command_names_what_differs_from_the_baseline() {
        let other = config(&["mrf.banks=8", "mrf.ports=1r1w", "mrf.read_order=round_robin"]);
        let command = suite::random("mrf", other, 3, 500).command(500, &[]);
        let options = "--set mrf.banks=8 --set mrf.ports=1r1w --set mrf.read_order=round_robin --seed 3 --cycles 500";
        assert_eq!(command, format!("gpurf cosim --block mrf {options}"));
        let inputs = Inputs::Pinned(vec![("offer".into(), 1000), ("reset".into(), 0)]);
        let command =
            LockstepJob { inputs, ..suite::random("alu", config(&[]), 1, 9) }.command(9, &["--rtl alu=/a.sv".into()]);
        let options = "--preset baseline --knob offer=1000 --knob reset=0 --seed 1 --cycles 9 --rtl alu=/a.sv";
        assert_eq!(command, format!("gpurf cosim --block alu {options}"));
    }

    #[test]
    fn a_command_can_be_pasted_into_a_shell() {
        let kernel = crate::KernelInputs {
            manifest: "/my kernels/it's.toml".into(),
            ptx: Default::default(),
            text: None,
            registers: crate::REGISTERS,
        };
        let command = suite::kernel(kernel, config(&[]), 1).command(9, &[]);
        assert_eq!(command, r"gpurf cosim --kernel '/my kernels/it'\''s.toml' --preset baseline --seed 1");
    }

    #[test]
    fn a_replay_needs_what_a_reproducer_does_not_hold() {
        let options = ["--rtl alu=/a.sv", "--rtl-list /b.f", "--allow-absent turn_q"].map(String::from);
        assert_eq!(replay_options(&options), " --rtl-list /b.f --allow-absent turn_q");
    }
}
