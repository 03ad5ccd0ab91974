//! Every kernel through compiler and oracle: its output equals the reference, at both sizes, and with few registers too.

use std::fs;
use std::path::{Path, PathBuf};

use gpurf_compiler::{AddressBits, Compiled, Options, Schedule, compile};
use gpurf_isa::modifiers::{AtomicSpace, Space};
use gpurf_isa::{Instruction, Op, Operand};
use gpurf_kernels::{Case, FERMI, FERMI_16K, KERNELS, Kernel, UNIFIED, UNIFIED_DATA, bfs};
use gpurf_launch::{BufferId, CheckRow, Launch, Source};
use gpurf_oracle::host::{OracleEngine, Session, named};

/// The register limits of the small runs. The last is the compiler's default.
const LIMITS: [u16; 4] = [16, 24, 32, 64];

/// Kernels that add floats with atomics: the order of the warps depends on the code.
const ADDS_FLOATS: [&str; 1] = ["kmeans"];

fn load(name: &str) -> Case {
    Case::load(name).unwrap_or_else(|error| panic!("{error}"))
}

fn build(kernel: &Kernel, registers: u16) -> Compiled {
    build_in(Schedule::None, kernel, registers)
}

fn build_in(schedule: Schedule, kernel: &Kernel, registers: u16) -> Compiled {
    build_file(&ptx_of(kernel), registers, schedule)
}

fn ptx_of(kernel: &Kernel) -> PathBuf {
    gpurf_kernels::folder().join(format!("{}.ptx", kernel.name))
}

/// The code of a manifest.
fn build_of(case: &Case) -> Compiled {
    let Source::File(path) = &case.manifest().source else { panic!("a test kernel has a source") };
    build_file(&path.with_extension("ptx"), LIMITS[3], Schedule::None)
}

fn build_file(path: &Path, registers: u16, schedule: Schedule) -> Compiled {
    build_with(path, &Options { registers, schedule, ..Options::default() })
}

fn build_with(path: &Path, options: &Options) -> Compiled {
    let text = fs::read_to_string(path).expect("PTX lies beside the source");
    let compiled = compile(&text, &path.display().to_string(), options);
    compiled.unwrap_or_else(|diagnostics| panic!("{diagnostics:?}"))
}

/// The final bytes of every buffer.
fn run(case: &Case, compiled: &Compiled) -> Vec<Vec<u8>> {
    let mut session = Session::new(case.manifest(), &compiled.image).unwrap_or_else(|error| panic!("{error}"));
    session.run(&mut OracleEngine::default()).unwrap_or_else(|error| panic!("{error}"));
    (0..case.manifest().buffers.len()).map(|id| session.bytes(BufferId(id))).collect()
}

/// Compares the outputs with the reference, with the tolerances that the small manifest states.
fn compare(kernel: &Kernel, case: &Case, bytes: &[Vec<u8>]) -> Vec<CheckRow> {
    let small = load(kernel.name);
    let (stated, manifest) = (small.manifest(), case.manifest());
    let check_of = |name: &str| stated.checks.iter().find(|check| stated.buffer(check.buffer).name == name);
    let outputs = case.declared((kernel.reference)(case));
    let rows = outputs.iter().map(|output| {
        let id = manifest.buffers.iter().position(|buffer| buffer.name == output.buffer).expect("it is declared");
        let check = check_of(output.buffer).expect("the small run checks every output");
        check.compare(&manifest.buffers[id], &output.bytes, &bytes[id])
    });
    rows.collect()
}

#[test]
fn small_runs_equal_the_reference_with_any_number_of_registers() {
    for kernel in KERNELS {
        let case = load(kernel.name);
        let mut results = Vec::new();
        for registers in LIMITS {
            let compiled = build(kernel, registers);
            for report in &compiled.report.kernels {
                assert!(report.registers <= registers, "{}: {} registers", report.name, report.registers);
            }
            let bytes = run(&case, &compiled);
            let rows = case.manifest().evaluate(|id| &bytes[id.0]).unwrap_or_else(|error| panic!("{error}"));
            for row in rows {
                assert!(row.ok, "{} with {registers} registers: {row:?}", kernel.name);
            }
            results.push(bytes);
        }
        let same = results.windows(2).all(|pair| pair[0] == pair[1]);
        assert!(same || ADDS_FLOATS.contains(&kernel.name), "{}: registers change the output", kernel.name);
    }
}

#[test]
fn small_runs_equal_the_reference_in_every_order_of_instructions() {
    let cost = |compiled: &Compiled| -> u32 {
        compiled.report.kernels.iter().map(|k| k.spill_loads + k.spill_stores + k.recomputed).sum()
    };
    for kernel in KERNELS {
        let case = load(kernel.name);
        for registers in LIMITS {
            let plain = build(kernel, registers);
            for schedule in [Schedule::Tree, Schedule::Latency] {
                let compiled = build_in(schedule, kernel, registers);
                let what = format!("{}, {} with {registers} registers", kernel.name, schedule.name());
                let bytes = run(&case, &compiled);
                let rows = case.manifest().evaluate(|id| &bytes[id.0]).unwrap_or_else(|error| panic!("{error}"));
                for row in rows {
                    assert!(row.ok, "{what}: {row:?}");
                }
                if schedule == Schedule::Latency {
                    assert!(cost(&compiled) <= cost(&plain), "{what}: values lost their registers");
                    let (new, old) = (&compiled.report.kernels, &plain.report.kernels);
                    let within = new.iter().zip(old).all(|(new, old)| new.registers <= old.registers.max(32));
                    assert!(within, "{what}: fewer warps than before");
                }
            }
        }
    }
}

/// On a machine whose addresses have 32 bits all buffers lie where they do on others, and no access reads an upper word.
#[test]
fn small_runs_equal_the_reference_with_addresses_of_32_bits() {
    let instructions = |compiled: &Compiled| -> u32 { compiled.report.kernels.iter().map(|k| k.instructions).sum() };
    for kernel in KERNELS {
        let case = load(kernel.name);
        for schedule in [Schedule::None, Schedule::Latency] {
            for registers in [LIMITS[0], LIMITS[3]] {
                let narrow = Options { registers, schedule, address_bits: AddressBits::Narrow, ..Options::default() };
                let compiled = build_with(&ptx_of(kernel), &narrow);
                let what = format!("{}, {} with {registers} registers", kernel.name, schedule.name());
                let bytes = run(&case, &compiled);
                let rows = case.manifest().evaluate(|id| &bytes[id.0]).unwrap_or_else(|error| panic!("{error}"));
                for row in rows {
                    assert!(row.ok, "{what}: {row:?}");
                }
                let code = compiled.image.kernels.iter().flat_map(|kernel| &kernel.code);
                let upper = code.filter(|instruction| reads_an_upper_word(instruction)).count();
                assert_eq!(upper, 0, "{what}: accesses that read the upper word of an address");
                // If values are spilled, it differs which ones.
                if registers == LIMITS[3] {
                    let wide = build_with(&ptx_of(kernel), &Options { address_bits: AddressBits::Wide, ..narrow });
                    assert!(instructions(&compiled) < instructions(&wide), "{what}: not fewer than with 64 bits");
                }
            }
        }
    }
}

/// Whether it accesses global memory and has a register for the upper word of the address.
fn reads_an_upper_word(instruction: &Instruction) -> bool {
    let is_global = match instruction.op {
        Op::Ld { space, .. } | Op::St { space, .. } => space == Space::Global,
        Op::Atom { space, .. } => space == AtomicSpace::Global,
        _ => false,
    };
    is_global && instruction.b != Operand::ZERO
}

/// Checks that a run of another size leaves the results of the reference.
fn expect_equal(kernel: &Kernel, manifest: &str) {
    let case = load(manifest);
    let bytes = run(&case, &build_of(&case));
    let rows = compare(kernel, &case, &bytes);
    assert!(!rows.is_empty(), "{manifest}: no output");
    for row in rows {
        assert!(row.ok, "{manifest}: {row:?}");
    }
}

#[test]
fn large_runs_equal_the_reference() {
    for kernel in KERNELS {
        expect_equal(kernel, &kernel.manifests()[1]);
    }
}

#[test]
fn runs_for_unified_memory_equal_the_reference() {
    for name in UNIFIED {
        expect_equal(kernel_of(name), &format!("{name}-unified"));
    }
    for (name, manifest) in UNIFIED_DATA {
        expect_equal(kernel_of(name), manifest);
    }
}

#[test]
fn edge_lists_that_follow_each_other_are_those_of_the_degrees() {
    let case = load("bfs-unified-lists");
    assert_eq!(case.u32s("degree"), load("bfs-unified-98304").u32s("degree"));
    assert!(
        case.u32s("firstEdge") == bfs::first_edges(&case.u32s("degree")),
        "cargo run -p gpurf-kernels --example inputs"
    );
}

/// Section 7.1 of the hierarchy thesis: no kernel spills with 64 registers, dgemm and PCR do with few.
#[test]
fn kernels_for_unified_memory_spill_nothing_with_all_registers() {
    let spills = |name: &str, registers: u16| -> u32 {
        build(kernel_of(name), registers).report.kernels.iter().map(|k| k.spill_loads + k.spill_stores).sum()
    };
    for name in UNIFIED {
        assert_eq!(spills(name, 64), 0, "{name}");
    }
    for name in ["cgemm", "pcr", "bicubicTexture"] {
        assert!(spills(name, 32) > 0, "{name}");
    }
}

#[test]
fn runs_with_the_blocks_of_the_sharing_thesis_equal_the_reference() {
    for (name, threads) in FERMI {
        let manifest = format!("{name}-fermi");
        let case = load(&manifest);
        assert_eq!(case.manifest().launches.last().map(threads_of), Some(threads), "{manifest}");
        expect_equal(kernel_of(name), &manifest);
    }
}

#[test]
fn runs_with_the_shared_memory_of_the_sharing_thesis_equal_the_reference() {
    for limited in FERMI_16K {
        let case = load(limited.manifest);
        let code = build_of(&case).image.kernels;
        for launch in &case.manifest().launches {
            let kernel = named("kernel", &launch.kernel, &code, |kernel| &kernel.name).expect("it is in the source");
            let found = (threads_of(launch), kernel.static_shared, launch.dynamic_shared);
            assert_eq!(found, (limited.threads, limited.bytes, 0), "{}", limited.manifest);
        }
        expect_equal(kernel_of(limited.kernel), limited.manifest);
    }
}

fn threads_of(launch: &Launch) -> u32 {
    launch.block.iter().product()
}

fn kernel_of(name: &str) -> &'static Kernel {
    KERNELS.iter().find(|kernel| kernel.name == name).expect("it is a test kernel")
}
