//! Code for blocks that share a part of their shared memory: every kernel computes the same results, and releases as the judge of the oracle demands.

mod common;

use std::collections::{HashMap, HashSet};

use common::{build, compiled_with, observed, percent};
use gpurf_compiler::scratchpad::{Layout, Relssp, Variables};
use gpurf_compiler::{Compiled, Options, Scratchpad, ScratchpadOptions};
use gpurf_isa::Image;
use gpurf_kernels::{Case, KERNELS, Kernel};
use gpurf_launch::BufferId;
use gpurf_oracle::host::{OracleEngine, Session};
use gpurf_oracle::scratchpad::{Bytes, Placed, Rule, ScratchpadCounts, ScratchpadJudge, overlaps};

fn shared(kernel: &Kernel, scratchpad: ScratchpadOptions) -> Compiled {
    compiled_with(&Options { scratchpad, ..Options::default() }, kernel)
}

/// The bytes that each instruction may access, for the judge.
fn allowed(scratchpad: &Scratchpad) -> HashMap<u32, Vec<Bytes>> {
    let all = || scratchpad.variables.iter().enumerate();
    let of = |set: Variables| {
        let bytes = all().filter(|(n, _)| set.contains(*n)).map(|(_, v)| {
            let at = u64::from(v.at);
            at..v.bytes.map_or(u64::MAX, |bytes| at + u64::from(bytes))
        });
        bytes.collect()
    };
    scratchpad.accesses.iter().map(|&(pc, set)| (pc, of(set))).collect()
}

/// The final bytes of every buffer.
fn run(kernel: &Kernel, image: &Image) -> Vec<Vec<u8>> {
    let case = Case::load(kernel.name).unwrap_or_else(|error| panic!("{error}"));
    let mut session = Session::new(case.manifest(), image).unwrap_or_else(|error| panic!("{error}"));
    session.run(&mut OracleEngine::default()).unwrap_or_else(|error| panic!("{error}"));
    (0..case.manifest().buffers.len()).map(|id| session.bytes(BufferId(id))).collect()
}

/// The counts of the judges of a kernel's launches; there have to be no faults.
fn judge(kernel: &Kernel, compiled: &Compiled, options: ScratchpadOptions) -> ScratchpadCounts {
    let rule = if options.relssp == Relssp::None { Rule::MayEnd } else { Rule::EveryThread };
    for (code, scratchpad) in compiled.image.kernels.iter().zip(&compiled.scratchpad) {
        let place =
            |v: &gpurf_compiler::scratchpad::SharedVariable| Placed { at: v.at, bytes: v.bytes, align: v.align };
        let placed: Vec<Placed> = scratchpad.variables.iter().map(place).collect();
        assert_eq!(overlaps(&placed, code.static_shared), None, "{}", code.name);
    }
    let variables: HashMap<&str, &Scratchpad> =
        compiled.image.kernels.iter().map(|k| k.name.as_str()).zip(&compiled.scratchpad).collect();
    let begin = |code: &gpurf_isa::image::Kernel| {
        ScratchpadJudge::new(options.private_bytes, rule).with_variables(allowed(variables[code.name.as_str()]))
    };
    let mut sum = ScratchpadCounts::default();
    for judge in observed(kernel, &compiled.image, begin) {
        let (faults, counts) = judge.finish();
        assert!(faults.is_empty(), "{} with {options:?}: {}", kernel.name, faults[0]);
        sum.accesses += counts.accesses;
        sum.shared += counts.shared;
        sum.marked += counts.marked;
        sum.released += counts.released;
        sum.held += counts.held;
    }
    sum
}

/// With `--nocapture` it prints a row of numbers for each kernel.
#[test]
fn every_kernel_releases_shared_memory_and_does_what_it_did() {
    let mut seen = HashSet::new();
    for kernel in KERNELS {
        let plain = shared(kernel, ScratchpadOptions::NONE);
        assert_eq!(plain.image, build(kernel, Options::default().registers));
        if plain.scratchpad.iter().all(|s| s.variables.is_empty()) {
            // Nothing is inserted.
            let relssp = ScratchpadOptions { private_bytes: 128, layout: Layout::Minimal, relssp: Relssp::Optimal };
            assert_eq!(shared(kernel, relssp).image, plain.image, "{}", kernel.name);
            continue;
        }
        seen.insert(kernel.name);
        let want = run(kernel, &plain.image);
        let bytes = plain.image.kernels.iter().map(|k| k.static_shared).max().unwrap_or(0).max(256);
        for tenths in [1, 5] {
            let private_bytes = (bytes * tenths).div_ceil(10).next_multiple_of(4);
            let mut held = Vec::new();
            for relssp in [Relssp::None, Relssp::Postdom, Relssp::Optimal] {
                let options = ScratchpadOptions { private_bytes, layout: Layout::Minimal, relssp };
                let compiled = shared(kernel, options);
                let counts = judge(kernel, &compiled, options);
                assert_eq!(run(kernel, &compiled.image), want, "{} with {options:?}", kernel.name);
                held.push(counts.held);
                if relssp == Relssp::Optimal {
                    let releases: usize = compiled.scratchpad.iter().map(|s| s.releases).sum();
                    let moved =
                        compiled.scratchpad.iter().zip(&plain.scratchpad).any(|(a, b)| a.variables != b.variables);
                    let accesses = compiled.scratchpad.iter().flat_map(|s| &s.accesses);
                    let (all, of_any) =
                        (accesses.clone().count(), accesses.filter(|(_, v)| *v == Variables::ALL).count());
                    println!(
                        "| {} | {private_bytes} | {}{} | {all}, {of_any} | {:.1} % | {:.1} % | {releases} | {:.1} % | {:.1} % |",
                        kernel.name,
                        compiled.scratchpad.iter().map(|s| s.variables.len()).sum::<usize>(),
                        if moved { ", moved" } else { "" },
                        percent(counts.shared, counts.accesses),
                        percent(counts.marked, counts.accesses),
                        percent(held[1], held[0]),
                        percent(held[2], held[0]),
                    );
                }
            }
            assert!(held[2] <= held[1], "{}: {held:?}", kernel.name);
        }
    }
    assert!(seen.len() > 15, "{seen:?}");
}
