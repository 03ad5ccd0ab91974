//! Kernels with registers that are live at the entry: on the model of the SM, under the oracle's eyes, from any first contents.

use std::path::PathBuf;

use crate::common::{Program, settings};
use gpurf_blocks::config::Config;
use gpurf_blocks::{Declaration, Memory as TwinMemory, Twin, view_mut};
use gpurf_compiler::{Options, compile};
use gpurf_isa::{Image, Instruction, Op, Reg};
use gpurf_launch::Manifest;
use gpurf_lockstep::Records;
use gpurf_machine::{LaunchError, Machine, ModelEngine, Settings};
use gpurf_oracle::host::{RunError, Session};
use gpurf_sm::SmIn;

fn path(name: &str, ending: &str) -> PathBuf {
    gpurf_kernels::folder().join("unwritten").join(format!("{name}.{ending}"))
}

fn compiled(name: &str, registers: u16) -> Image {
    let text = std::fs::read_to_string(path(name, "ptx")).unwrap();
    compile(&text, name, &Options { registers, ..Options::default() }).unwrap().image
}

/// Runs a kernel's manifest on the model; its checks hold.
fn run(name: &str, image: &Image, settings: Settings) -> Result<(), RunError<LaunchError>> {
    let manifest = Manifest::load(&path(name, "toml")).unwrap();
    let mut session = Session::new(&manifest, image).unwrap();
    let mut engine = ModelEngine::judged(settings);
    session.run(&mut engine)?;
    for row in session.checks().unwrap() {
        assert!(row.ok, "{name}: {row:?}");
    }
    let judged = engine.statistics().judged.unwrap();
    assert_eq!((judged.equal, judged.undecided), (manifest.launches.len() as u64, 0), "{name}");
    Ok(())
}

#[test]
fn what_the_sm_commits_does_not_depend_on_what_registers_hold() {
    for name in ["census", "dynproc"] {
        for registers in [16, 64] {
            let image = compiled(name, registers);
            for seed in 1..=10 {
                let settings = Settings { seed, ..settings(&[]) };
                run(name, &image, settings).unwrap_or_else(|error| panic!("{name}, seed {seed}: {error}"));
            }
        }
    }
}

#[test]
fn a_difference_that_may_be_the_programs_fault_says_so() {
    let register = Program::new("IADD R10, PT, R9, 1, !PT", 1, 32);
    let mut engine = ModelEngine::judged(settings(&[]));
    let message = register.run(&mut engine).unwrap_err().to_string();
    assert!(message.contains("the SM does not do what the oracle says"), "{message}");
    assert!(message.contains("the program may be the cause"), "{message}");
    assert!(message.contains("test.ptx:106: kernel test, block (0, 0, 0), thread (0, 0, 0): reads R9"), "{message}");
}

#[test]
fn without_the_zeros_the_oracle_disagrees() {
    for name in ["census", "dynproc"] {
        let mut image = compiled(name, 64);
        for kernel in &mut image.kernels {
            assert!(!kernel.added.is_empty());
            for added in std::mem::take(&mut kernel.added) {
                kernel.code[added.instruction as usize] = Instruction::new(Op::Nop {});
            }
        }
        let error = run(name, &image, settings(&[])).unwrap_err();
        assert!(error.to_string().contains("the SM does not do what the oracle says"), "{name}: {error}");
    }
}

/// An SM in which comparisons of floats read the wrong register as source a.
struct Faulty {
    inner: Box<dyn Twin>,
    inputs: Records,
}

impl Faulty {
    fn twin(config: &Config) -> Box<dyn Twin> {
        let inner = (gpurf_sm::ENTRY.twin)(config);
        let inputs = Records::zeroed(inner.declaration().input_bytes, 1);
        Box::new(Self { inner, inputs })
    }

    /// The inputs, with another register in the code that is written.
    fn change(&mut self, inputs: &[u8]) {
        let changed = self.inputs.get_mut(0);
        changed.copy_from_slice(inputs);
        let ports = view_mut::<SmIn>(changed);
        if ports.code_we_i != 0
            && let Ok(mut instruction) = Instruction::decode([ports.code_op_i, ports.code_ctl_i])
            && let Op::Fsetp { .. } = instruction.op
        {
            instruction.a = Reg(instruction.a.0 ^ 1);
            [ports.code_op_i, ports.code_ctl_i] = instruction.encode();
        }
    }
}

impl Twin for Faulty {
    fn declaration(&self) -> &Declaration {
        self.inner.declaration()
    }
    fn cycle(&mut self, inputs: &[u8], compared: &mut [u8]) {
        self.change(inputs);
        self.inner.cycle(self.inputs.get(0), compared);
    }
    fn cycle_unprobed(&mut self, inputs: &[u8], compared: &mut [u8]) {
        self.change(inputs);
        self.inner.cycle_unprobed(self.inputs.get(0), compared);
    }
    fn memories(&mut self) -> Vec<TwinMemory<'_>> {
        self.inner.memories()
    }
    fn duplicate(&self) -> Box<dyn Twin> {
        Box::new(Self { inner: self.inner.duplicate(), inputs: self.inputs.clone() })
    }
}

#[test]
fn a_wrong_register_is_still_noticed() {
    let image = compiled("census", 64);
    let error = run("census", &image, Settings { model: Faulty::twin, ..settings(&[]) }).unwrap_err();
    assert!(error.to_string().contains("the SM does not do what the oracle says"), "{error}");
}
