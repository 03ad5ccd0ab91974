//! The launches of `tests/kernels/faults` on the oracle and on the model: each ends with the fault that it expects, and together they reach every
//! source of `fault_unit` with every cause, and faults of several sources in one cycle.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::common::first_faults;
use gpurf_blocks::config::{Config, Start};
use gpurf_blocks::designs::DESIGNS;
use gpurf_isa::image::Kernel;
use gpurf_launch::{Cause, ExpectedFault, Manifest, Source};
use gpurf_machine::{Cycle, Job, LaunchError, Misfit, ModelEngine, Refusal, Settings};
use gpurf_oracle::Geometry;
use gpurf_oracle::host::{KernelLaunch, OracleEngine, RunError, RunReport, Session, assembled};

/// Numbers of issue ports.
const PORTS: [usize; 2] = [1, 2];

/// The first main preset with so many issue ports: the default suite runs these launches on it.
fn settings(ports: usize) -> Settings {
    let mut configs = DESIGNS.iter().map(|design| design.config());
    Settings::new(configs.find(|config| config.mrf.issue_ports == ports).unwrap())
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/kernels/faults")
}

fn manifests() -> Vec<Manifest> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
    paths.sort();
    paths.iter().map(|path| Manifest::load(path).unwrap_or_else(|error| panic!("{error}"))).collect()
}

fn session(manifest: &Manifest) -> Session<'_> {
    let Source::Assembly(assembly) = &manifest.source else { panic!("no instructions") };
    Session::new(manifest, &assembled(manifest, assembly).unwrap()).unwrap()
}

/// Runs a manifest on the model, with the oracle's verdict.
fn judged(manifest: &Manifest, ports: usize) -> Result<RunReport, RunError<LaunchError>> {
    session(manifest).run(&mut ModelEngine::judged(settings(ports)))
}

#[test]
fn every_launch_ends_with_the_fault_that_it_expects() {
    for manifest in &manifests() {
        let name = manifest.path.display();
        session(manifest).run(&mut OracleEngine::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
        for ports in PORTS {
            judged(manifest, ports).unwrap_or_else(|error| panic!("{name}, {ports} ports: {error}"));
        }
    }
}

/// Of loads and atomic operations the instruction is known by the number of its load.
#[test]
fn every_launch_ends_with_the_fault_that_it_expects_with_a_data_cache_too() {
    let config = Config::load(Start::Preset("cached-tiny"), &[] as &[&str]).unwrap();
    let input_bytes = (gpurf_sm::ENTRY.twin)(&config).declaration().input_bytes;
    let mut by_the_cache = 0;
    for manifest in &manifests() {
        let name = manifest.path.display();
        let settings = || Settings { config, ..settings(PORTS[0]) };
        session(manifest).run(&mut ModelEngine::judged(settings())).unwrap_or_else(|error| panic!("{name}: {error}"));
        let seen = Rc::new(RefCell::new(false));
        let watcher = seen.clone();
        let watch = Box::new(move |record: &[u8]| {
            let (inputs, compared) = record.split_at(input_bytes);
            *watcher.borrow_mut() |= first_faults(&Cycle::of(inputs, compared)).contains(&("cache".to_owned(), 11));
        });
        session(manifest).run(&mut ModelEngine::watched(settings(), watch)).unwrap();
        by_the_cache += u32::from(seen.take());
    }
    assert!(by_the_cache >= 2, "{by_the_cache}");
}

#[test]
fn every_source_reports_every_cause_that_it_has() {
    for ports in PORTS {
        let mut found = BTreeSet::new();
        let mut together = 0;
        for manifest in &manifests() {
            let settings = settings(ports);
            let input_bytes = (gpurf_sm::ENTRY.twin)(&settings.config).declaration().input_bytes;
            let seen = Rc::new(RefCell::new(BTreeSet::new()));
            let watcher = seen.clone();
            let watch = Box::new(move |record: &[u8]| {
                let (inputs, compared) = record.split_at(input_bytes);
                let mut seen = watcher.borrow_mut();
                if seen.is_empty() {
                    *seen = first_faults(&Cycle::of(inputs, compared));
                }
            });
            // Without the oracle: watched.
            session(manifest).run(&mut ModelEngine::watched(settings, watch)).unwrap();
            let seen = seen.take();
            together += u32::from(seen.len() > 1);
            found.extend(seen);
        }
        let mut expected = BTreeSet::new();
        for port in 0..ports {
            expected.extend([1, 2, 3].map(|cause| (format!("issue_stage {port}"), cause)));
            expected.insert((format!("alu {port}"), 10));
        }
        expected.extend([4, 5, 6, 7, 8].map(|cause| ("address_unit".to_owned(), cause)));
        expected.insert(("line_table".to_owned(), 11));
        expected.insert(("barrier_unit".to_owned(), 12));
        expected.insert(("block_launcher".to_owned(), 13));
        assert_eq!(found, expected, "{ports} ports");
        assert!(together > 0, "{ports} ports: no launch with faults of several sources in one cycle");
    }
}

/// The message of a manifest of which a part is replaced.
fn wrong(name: &str, part: &str, replacement: &str) -> String {
    let path = folder().join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(part), "{part}");
    let manifest = Manifest::parse(&path, &text.replace(part, replacement)).unwrap();
    let error = judged(&manifest, PORTS[0]).unwrap_err();
    assert!(matches!(error, RunError::Fault { .. }), "{error}");
    error.to_string()
}

#[test]
fn another_fault_than_the_expected_one_fails() {
    let message = wrong("trap.toml", "cause = \"trap\"", "cause = \"misaligned\"");
    let expected = "expected to end with the fault `misaligned, value 0x1234567, block (0, 0, 0), warp 5`, but ends \
                    with another error: ";
    assert!(message.contains(expected), "{message}");
    assert!(message.contains("warp 5 (warp 5 of the SM): trap 19088743"), "{message}");
    wrong("trap.toml", "value = 0x1234567", "value = 0x1234566");
    wrong("trap.toml", "warp = 5", "warp = 4");
    wrong("trap-second-block.toml", "block = [1, 0, 0]", "block = [0, 0, 0]");
    wrong("trap.toml", "warp = 5\n", "warp = 5\ninstruction = 5\n");
    assert!(wrong("trap.toml", "@P0 TRAP 0x1234567", "NOP").ends_with(", but ends without a fault"));
}

#[test]
fn a_fault_that_the_oracle_does_not_find_fails() {
    // Both stop with a trap, and the oracle is expected to stop with another cause first.
    let path = folder().join("trap.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let manifest = Manifest::parse(&path, &format!("{text}oracle = \"misaligned\"\n")).unwrap();
    let RunError::Engine(LaunchError::Mismatch(mismatch)) = judged(&manifest, PORTS[0]).unwrap_err() else {
        panic!("no mismatch")
    };
    let text = mismatch.to_string();
    assert!(text.contains("it stops with another fault: ") && text.contains("; the oracle says: "), "{text}");
    assert!(session(&manifest).run(&mut OracleEngine::default()).is_err());
}

/// A kernel of this code, whose threads have so many registers, made ready for blocks of 1024 threads.
fn job(code: &str, registers: u16, cause: Option<Cause>) -> Result<Job, Refusal> {
    let expected =
        |cause| ExpectedFault { cause, value: None, block: None, warp: None, instruction: None, oracle: None };
    let code = gpurf_isa::assemble(code).unwrap();
    let kernel = &Kernel { name: "k".into(), code, registers, ..Kernel::default() };
    let geometry = Geometry { grid: [1; 3], block: [1024, 1, 1], dynamic_shared: 0 };
    let fault = cause.map(expected);
    let launch = KernelLaunch { kernel, source: "k.ptx", geometry, constant: &[], fault };
    Job::new(&settings(PORTS[0]).config, &launch)
}

#[test]
fn code_whose_end_can_be_passed_is_followed_by_no_instruction() {
    for code in ["NOP", "@P0 EXIT", "@!P3 TRAP 7", "NOP\n@P0 BRA 0, join none"] {
        assert_eq!(job(code, 8, None).unwrap().code.last(), Some(&[u64::MAX; 2]), "{code}");
    }
    for code in ["NOP\nEXIT", "TRAP 7", "NOP\nBRA 0, join none"] {
        assert_eq!(job(code, 8, None).unwrap().code.len(), code.lines().count(), "{code}");
    }
    assert!(gpurf_isa::Instruction::decode([u64::MAX; 2]).is_err());
}

#[test]
fn what_is_expected_not_to_fit_is_not_refused() {
    let ready = job("EXIT", 255, Some(Cause::DoesNotFit)).unwrap();
    assert!(matches!(ready.misfit, Some(Misfit::Registers { registers: 255, .. })));
    assert!(job("EXIT", 255, Some(Cause::Trap)).is_err());
    assert!(job("EXIT", 255, None).is_err());
    // What fits does fit, whatever is expected.
    assert_eq!(job("EXIT", 8, Some(Cause::DoesNotFit)).unwrap().misfit, None);
}

/// On the model alone, which does not follow the instructions of a launch that ends well.
#[test]
fn the_model_alone_names_the_instruction_at_fault() {
    let alone = |manifest: &Manifest| session(manifest).run(&mut ModelEngine::new(settings(PORTS[0])));
    for manifest in &manifests() {
        let name = manifest.path.display();
        alone(manifest).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    // The load in misaligned.toml.
    const AT: u32 = 8;
    let path = folder().join("misaligned.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let (code, _) = text.split_once("[fault]").unwrap();
    let expected = |instruction: u32| format!("{code}[fault]\ncause = \"misaligned\"\ninstruction = {instruction}\n");
    alone(&Manifest::parse(&path, &expected(AT)).unwrap()).unwrap();
    let message = alone(&Manifest::parse(&path, &expected(99)).unwrap()).unwrap_err().to_string();
    for words in ["with another error: ", "misaligned.toml:", &format!("; instruction {AT}: ")] {
        assert!(message.contains(words), "{words}: {message}");
    }
}
