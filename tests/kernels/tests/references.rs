//! The files of the kernels fit together: sources, PTX, manifests, references, expected outputs.

use std::collections::BTreeSet;
use std::fs;

use gpurf_kernels::{Case, FERMI_16K, KERNELS, folder};
use gpurf_launch::{Repetition, Source};

/// The greatest relative tolerance of a check.
const GREATEST_REL: f64 = 1e-4;

/// Outputs without a check, as their order depends on that of atomics. Other outputs of the same run do not, and are checked.
const IN_ANY_ORDER: [(&str, &str); 1] = [("compact", "kept")];

fn load(name: &str) -> Case {
    Case::load(name).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_source_is_of_a_kernel_and_has_all_its_files() {
    let files = fs::read_dir(folder()).expect("the folder is there").map(|entry| entry.expect("an entry").path());
    let sources = files.filter(|path| path.extension().is_some_and(|extension| extension == "cu"));
    let found: BTreeSet<String> = sources.map(|path| path.file_stem().expect("a name").display().to_string()).collect();
    let of_runs = FERMI_16K.iter().map(|run| match &load(run.manifest).manifest().source {
        Source::File(path) => path.file_stem().expect("a name").display().to_string(),
        Source::Assembly(_) => panic!("{}: it has a source", run.manifest),
    });
    let known: BTreeSet<String> = KERNELS.iter().map(|kernel| kernel.name.to_owned()).chain(of_runs).collect();
    assert_eq!(found, known);

    for name in found {
        let ptx = fs::read_to_string(folder().join(format!("{name}.ptx"))).expect("PTX lies beside the source");
        assert!(ptx.contains("// Cuda compilation tools, release"), "{name}: the header names nvcc's version");
    }
}

#[test]
fn expected_files_are_what_the_references_give() {
    for kernel in KERNELS {
        let case = load(kernel.name);
        let outputs = (kernel.reference)(&case);
        let of = |name: &str| outputs.iter().find(|output| output.buffer == name);
        for check in &case.manifest().checks {
            let buffer = case.manifest().buffer(check.buffer);
            let output = of(&buffer.name).unwrap_or_else(|| panic!("{}: no reference of {}", kernel.name, buffer.name));
            let row = check.evaluate(buffer, &output.bytes).unwrap_or_else(|error| panic!("{error}"));
            // The mathematical functions of the host's library may differ in a last bit.
            assert!(row.ok && (row.max_rel < 1e-6 || row.max_abs < 1e-9), "{}: {row:?}", kernel.name);
        }
    }
}

#[test]
fn small_runs_check_every_output_within_the_allowed_tolerance() {
    for kernel in KERNELS {
        let case = load(kernel.name);
        let manifest = case.manifest();
        for (id, buffer) in manifest.buffers.iter().enumerate().filter(|(_, buffer)| buffer.output) {
            let check = manifest.checks.iter().find(|check| check.buffer.0 == id);
            if IN_ANY_ORDER.contains(&(kernel.name, buffer.name.as_str())) {
                assert!(check.is_none(), "{}: {} is checked", kernel.name, buffer.name);
                continue;
            }
            let check = check.unwrap_or_else(|| panic!("{}: output {} is not checked", kernel.name, buffer.name));
            let exact = check.rel.is_none() && check.abs.is_none();
            let stated = buffer.ty.is_float() && check.rel.is_some_and(|rel| rel <= GREATEST_REL);
            assert!(exact || stated, "{}: tolerance of {}", kernel.name, buffer.name);
        }
    }
}

#[test]
fn large_runs_have_a_thousand_blocks() {
    for kernel in KERNELS {
        let case = load(&kernel.manifests()[1]);
        let manifest = case.manifest();
        let blocks: u64 = (0..manifest.launches.len())
            .map(|number| {
                let passes = if let Repetition::Times(passes) = manifest.repetition_of(number) { passes } else { 1 };
                manifest.launches[number].grid.iter().map(|&n| u64::from(n)).product::<u64>() * u64::from(passes)
            })
            .sum();
        assert!(blocks >= 1000, "{}: {blocks} blocks", kernel.name);
    }
}
