//! The test kernels on the model of the SM: buffers right, commits as the oracle says.

use gpurf_blocks::config::{Config, Start};
use gpurf_compiler::{Options, compile};
use gpurf_kernels::{Case, KERNELS, Kernel};
use gpurf_machine::{LaunchError, Machine, Misfit, ModelEngine, Settings, Statistics};
use gpurf_oracle::host::{RunError, Session};

fn config(settings: &[&str]) -> Config {
    Config::load(Start::Preset("baseline"), settings).unwrap()
}

/// Runs the small manifest of a kernel; nothing if the SM has no unit for it.
fn run(kernel: &Kernel, settings: Settings) -> Option<Statistics> {
    let case = Case::load(kernel.name).unwrap();
    let path = gpurf_kernels::folder().join(format!("{}.ptx", kernel.name));
    let text = std::fs::read_to_string(&path).unwrap();
    let compiled = compile(&text, &path.display().to_string(), &Options { registers: 64 }).unwrap();
    let mut session = Session::new(case.manifest(), &compiled.image).unwrap();
    let mut engine = ModelEngine::judged(settings);
    match session.run(&mut engine) {
        Ok(_) => {}
        Err(RunError::Engine(LaunchError::Refused(refusal)))
            if matches!(refusal.misfit, Misfit::Operations { .. } | Misfit::SharedFloatAtomic) =>
        {
            println!("{refusal}");
            return None;
        }
        Err(error) => panic!("{}: {error}", kernel.name),
    }
    for row in session.checks().unwrap() {
        assert!(row.ok, "{}: {row:?}", kernel.name);
    }
    Some(engine.statistics())
}

#[test]
fn kernels_leave_what_they_must_and_commit_what_the_oracle_says() {
    let only = std::env::var("KERNEL").ok();
    let mut ran = 0;
    for kernel in KERNELS.iter().filter(|k| only.as_ref().is_none_or(|o| o == k.name)) {
        let start = std::time::Instant::now();
        match run(kernel, Settings::new(config(&[]))) {
            Some(s) => {
                println!(
                    "{} {:?} cycles {} {:?} ipc {:.3}",
                    kernel.name,
                    start.elapsed(),
                    s.cycles,
                    s.judged,
                    s.events["issue"] as f64 / s.cycles as f64
                );
                ran += 1;
            }
            None => println!("{} refused", kernel.name),
        }
    }
    println!("{ran}");
}
