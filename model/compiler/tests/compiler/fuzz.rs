//! The compiler on damaged PTX: it must produce an image or a message within the time limit, and never panic.

use crate::common::Random;
use gpurf_compiler::{Diagnostics, Module, Options, WideAccesses};
use proptest::prelude::*;
use std::time::{Duration, Instant};

/// PTX as nvcc produces it, from the test kernels.
const SOURCES: [&str; 11] = [
    include_str!("../../../../tests/kernels/saxpy.ptx"),
    include_str!("../../../../tests/kernels/reduction.ptx"),
    include_str!("../../../../tests/kernels/histogram.ptx"),
    include_str!("../../../../tests/kernels/bfs.ptx"),
    include_str!("../../../../tests/kernels/mri-q.ptx"),
    include_str!("../../../../tests/kernels/mersenneTwister.ptx"),
    include_str!("../../../../tests/kernels/launch/variables.ptx"),
    include_str!("../../../../tests/kernels/launch/atomics.ptx"),
    include_str!("../../../../tests/kernels/launch/calls.ptx"),
    include_str!("../../../../tests/kernels/launch/halves.ptx"),
    include_str!("../../../../tests/kernels/launch/ranking.ptx"),
];

/// Far more time than any of these needs, even on a busy machine.
const TIME: Duration = Duration::from_secs(120);

fn survives(source: &str) {
    let start = Instant::now();
    let wide_accesses = if source.len().is_multiple_of(2) { WideAccesses::Strong } else { WideAccesses::All };
    let options = Options { registers: 16, wide_accesses, ..Options::default() };
    let has_place = |e: Diagnostics| {
        let text = e.to_string();
        assert!(text.contains("fuzz.ptx:"), "a message without a place: {text}");
    };
    // Kernels that are not damaged are compiled, even if another kernel is.
    match Module::parse(source, "fuzz.ptx").and_then(|module| module.compile(&options, &|_| true)) {
        Ok(compiled) => compiled.refused.into_iter().for_each(|refused| has_place(refused.diagnostics)),
        Err(e) => has_place(e),
    }
    let first: String = source.chars().take(1000).collect();
    assert!(start.elapsed() < TIME, "took {:?}:\n{first}", start.elapsed());
}

/// Meaningful pieces of PTX, to be inserted where they do not belong.
const PIECES: [&str; 47] = [
    "{",
    "}",
    ";",
    ",",
    "[",
    "]",
    "(",
    ")",
    "<",
    ">",
    "|",
    "!",
    "@",
    "-",
    "+",
    "%r1",
    "%rd1",
    "%p1",
    "%f1",
    "_",
    "0",
    "0xffffffffffffffff",
    "4294967296",
    "0f7FC00000",
    ".u64",
    ".pred",
    ".reg",
    ".b32",
    ".shared",
    ".align",
    "bra",
    "call",
    "_Z3overPKiii",
    ".f16x2",
    ".param",
    "ret;",
    "ld.global.u32",
    "ld.volatile.u64",
    ".relaxed",
    ".mmio",
    "mad.wide.s32",
    "$L__BB0_1",
    "$L__BB0_1:",
    "/*",
    "\"",
    "é",
    "999999999",
];

/// A source in which some words are replaced, dropped or duplicated, and sometimes a byte is changed.
fn damaged(source: &str, seed: u64) -> String {
    let mut random = Random(seed | 1);
    let mut words: Vec<&str> = source.split_inclusive([' ', '\t', '\n', ',', ';', '.']).collect();
    for _ in 0..1 + random.below(4) {
        let at = random.below(words.len());
        let other = words[random.below(words.len())];
        match random.below(6) {
            0 => _ = words.remove(at),
            1 => words.insert(at, other),
            2 => words[at] = other,
            3 => words.insert(at, PIECES[random.below(PIECES.len())]),
            4 => words[at] = PIECES[random.below(PIECES.len())],
            _ => words.truncate(at.max(1)),
        }
        if words.is_empty() {
            words.push(" ");
        }
    }
    let mut text = words.concat();
    if random.below(4) == 0 {
        let mut bytes = text.into_bytes();
        let at = random.below(bytes.len());
        bytes[at] = random.bits() as u8;
        text = String::from_utf8_lossy(&bytes).into_owned();
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_sources(which in 0..SOURCES.len(), seed: u64) {
        survives(&damaged(SOURCES[which], seed));
    }

    #[test]
    fn any_text(text in "\\PC{0,200}") {
        survives(&text);
        survives(&format!(".version 9.5\n.target sm_75\n.address_size 64\n{text}"));
        survives(&format!(".version 9.5\n.target sm_75\n.address_size 64\n.entry k() {{ {text} }}"));
    }
}

#[test]
#[ignore = "long: 300,000 damaged sources"]
fn many_damaged_sources() {
    for seed in 1..=300_000u64 {
        survives(&damaged(SOURCES[seed as usize % SOURCES.len()], seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    }
}

#[test]
fn sizes_are_bounded() {
    let module = |text: &str| format!(".version 9.5\n.target sm_75\n.address_size 64\n{text}");
    survives(&module(&format!(".entry k() {{ {} ret; }}", "{".repeat(100_000))));
    survives(&module(&format!(".entry k() {{ .reg .pred %p<2>; setp.eq.s32 %p0, {}1; }}", "!".repeat(100_000))));
    survives(&module(".entry k() { .reg .b32 %r<16777216>; mov.u32 %r16777215, 1; ret; }"));
    survives(&module(".entry k() { .reg .b32 %r<99999999999>; ret; }"));
    survives(&module(".global .b8 x[4294967296][4294967296][4294967296];"));
    survives(&module(".global .align 65536 .b8 x[3] = {1, 2, 3};"));
    survives(&module(".global .b8 x[1073741824] = {1};"));
    survives(&module(&format!(".global .b8 x[9] = {}1{};", "{".repeat(100_000), "}".repeat(100_000))));
    survives(&module(&format!(".entry k() {{ .reg .b32 %r<2>; {} }}", "L: ".repeat(10_000))));
    let labels: String = (0..5000).map(|n| format!("L{n}: bra L{};", (n * 7 + 1) % 5000)).collect();
    survives(&module(&format!(".entry k() {{ {labels} }}")));
    let branches: String =
        (0..2000).map(|n| format!("L{n}: setp.eq.s32 %p0, %r0, {n}; @%p0 bra L{};", (n * 7 + 1) % 2000)).collect();
    survives(&module(&format!(".entry k() {{ .reg .b32 %r<2>; .reg .pred %p<2>; {branches} }}")));
    let exits = "@%p0 bra E; ".repeat(20_000);
    survives(&module(&format!(".entry k() {{ .reg .pred %p<2>; {exits} E: ret; }}")));
    let guarded: String = (0..5000).map(|n| format!("@%p0 mov.u32 %r{n}, {n};")).collect();
    survives(&module(&format!(".entry k() {{ .reg .b32 %r<5000>; .reg .pred %p<2>; {guarded} }}")));
    // Calls: chains, chains in braces, copies of copies, and a circle in which every function calls all others.
    let chain = |count: usize, body: &dyn Fn(usize) -> String| -> String {
        (0..count)
            .map(|n| format!(".func f{n}() {{ {} ret; }} ", if n == 0 { String::new() } else { body(n - 1) }))
            .collect()
    };
    let called = |functions: String, name: &str| module(&format!("{functions} .entry k() {{ call {name}; ret; }}"));
    survives(&called(chain(10_000, &|n| format!("call f{n};")), "f9999"));
    let braces = |n: usize| format!("{} call f{n}; {}", "{".repeat(60), "}".repeat(60));
    survives(&called(chain(64, &braces), "f63"));
    survives(&called(chain(40, &|n| format!("call f{n}; call f{n};")), "f39"));
    let fences = "membar.gl; ".repeat(1000);
    survives(&called(chain(40, &|n| format!("{fences} call f{n}; call f{n}; call f{n};")), "f39"));
    let all: String = (0..60).map(|n| format!("call f{n};")).collect();
    let circle: String = (0..60).map(|n| format!(".func f{n}() {{ {all} ret; }} ")).collect();
    survives(&called(circle, "f0"));
    survives(&module(
        ".func f(.param .b8 x[32764]) { ret; } .entry k() { { .param .b8 y[32764]; call f, (y); } ret; }",
    ));
    survives(&module(
        ".func f(.param .b8 x[1073741824]) { ret; } .entry k() { { .param .b8 y[1073741824]; call f, (y); } }",
    ));
    // Many values live at the same time.
    for count in [600, 20_000] {
        let loads: String = (0..count).map(|n| format!("ld.global.u32 %r{n}, [%l0+{}];", n * 4)).collect();
        let stores: String =
            (0..count).map(|n| format!("st.global.u32 [%l0+{}], %r{};", n * 4, count - 1 - n)).collect();
        survives(&module(&format!(
            ".entry k(.param .u64 p) {{ .reg .b32 %r<{count}>; .reg .b64 %l<2>; ld.param.u64 %l0, [p]; {loads} {stores} }}"
        )));
    }
}
