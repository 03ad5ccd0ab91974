//! A kernel that cannot be compiled does not affect the other kernels of its file, and the feature that it lacks is
//! reported.

use std::collections::BTreeSet;

use gpurf_compiler::{Compiled, Feature, Module, Options, compile};

const HEADER: &str = ".version 9.5\n.target sm_75\n.address_size 64\n";

/// A module with these variables, and kernels with these names and bodies.
fn module(variables: &str, kernels: &[(&str, &str)]) -> String {
    let kernel = |(name, body): &(&str, &str)| {
        format!(
            ".visible .entry {name}(.param .u64 p)\n{{\n.reg .b32 %r<8>; .reg .b64 %l<8>; .reg .f64 %d<4>;\n.reg .f32 %f<4>;\n{body}\nret;\n}}\n"
        )
    };
    format!("{HEADER}{variables}\n{}", kernels.iter().map(kernel).collect::<String>())
}

fn compiled(source: &str, wanted: &dyn Fn(&str) -> bool) -> Compiled {
    let module = Module::parse(source, "k.ptx").unwrap_or_else(|e| panic!("{e}\n{source}"));
    module.compile(&Options::default(), wanted).unwrap_or_else(|e| panic!("{e}\n{source}"))
}

fn names(compiled: &Compiled) -> (Vec<&str>, Vec<&str>) {
    let accepted = compiled.image.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    (accepted, compiled.refused.iter().map(|refused| refused.name.as_str()).collect())
}

const GOOD: &str = "mov.u32 %r1, 7;";

#[test]
fn what_a_kernel_lacks_concerns_that_kernel_alone() {
    let tex = "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [name, {%f1, %f2}];";
    let grid = "{ .param .b64 q; st.param.b64 [q], %l1; .param .b32 r; call.uni (r), cudaCGSynchronizeGrid, (q); }";
    let bodies = [
        ("tanh.approx.f64 %d0, %d1;", Feature::DoublePrecision),
        ("fma.f64 %d0, %d1, %d2, %d3;", Feature::Other),
        (".reg .b128 %q;", Feature::WideTypes),
        (tex, Feature::Textures),
        // No PTX at all, up to a string that is not closed.
        ("this is {no} kernel ;; \" { }", Feature::Other),
        ("mov.u32 %r0, %smid;", Feature::MachineRegisters),
        ("{ .param .b32 q; st.param.b32 [q], %r1; call.uni vprintf, (q); }", Feature::Printf),
        ("call.uni (%r1), f, (%r2);", Feature::Calls),
        ("add.bf16 %r0, %r1, %r2;", Feature::HalfPrecision),
        (".shared .b8 s[70000]; mov.u32 %r1, s;", Feature::Room),
        ("call.uni %l1;", Feature::FunctionPointers),
        ("mov.u64 %l0, bad;", Feature::DynamicParallelism),
        (grid, Feature::GridSynchronisation),
        ("vadd.s32.s32.s32 %r0, %r1, %r2;", Feature::Video),
        ("vabsdiff4.u32.u32.u32.add %r0, %r1.b3210, %r2, %r3;", Feature::Video),
    ];
    for (body, feature) in bodies {
        let source = module("", &[("first", GOOD), ("bad", body), ("last", GOOD)]);
        let all = compiled(&source, &|_| true);
        assert_eq!(names(&all), (vec!["first", "last"], vec!["bad"]), "{body}");
        let diagnostics = &all.refused[0].diagnostics;
        assert_eq!(diagnostics.features, BTreeSet::from([feature]), "{body}");
        assert!(diagnostics.to_string().starts_with("kernel `bad`: "), "{diagnostics}");
        // A kernel that is not wanted is not compiled, so its errors are not reported.
        assert_eq!(names(&compiled(&source, &|name| name == "last")), (vec!["last"], vec![]), "{body}");
        // Compiling the whole module reports the error.
        let whole = compile(&source, "k.ptx", &Options::default()).unwrap_err();
        assert_eq!(whole.features, BTreeSet::from([feature]), "{body}");
    }
}

#[test]
fn code_does_not_depend_on_the_other_kernels() {
    let variables = ".const .align 4 .b8 table[64];\n.global .align 8 .u64 cell;";
    let uses = "ld.const.u32 %r1, [table+4]; mov.u64 %l1, cell; st.global.u32 [%l1], %r1;";
    let source = module(variables, &[("a", uses), ("b", "tanh.approx.f64 %d0, %d1;"), ("c", uses)]);
    let (some, c) = (compiled(&source, &|_| true), compiled(&source, &|name| name == "c"));
    assert_eq!(some.image.kernels[1], c.image.kernels[0]);
    assert_eq!(some.image.symbols, c.image.symbols);
}

#[test]
fn a_variable_that_is_refused_concerns_those_who_use_it() {
    let use_of = |name: &str| format!("mov.u64 %l1, {name};");
    let cases = [
        (".global .texref bad;", Feature::Textures),
        (".global .samplerref bad = { addr_mode_0 = clamp_to_edge, filter_mode = nearest };", Feature::Textures),
        (".global .surfref bad;", Feature::Surfaces),
        (".extern .global .u32 bad;", Feature::Extern),
        (".const .b8 bad[70000];", Feature::Room),
        (".global .b128 bad;", Feature::WideTypes),
        (".extern .func f();\n.global .u64 bad[1] = {f};", Feature::FunctionPointers),
        (".extern .func f();\n.global .u64 table[2] = {0, f};\n.global .u64 bad = table;", Feature::FunctionPointers),
    ];
    for (variables, feature) in cases {
        let variables = format!("{variables}\n.global .u32 good;\n.const .u32 behind = 5;");
        let source = module(&variables, &[("one", &use_of("good")), ("two", &use_of("bad"))]);
        let all = compiled(&source, &|_| true);
        assert_eq!(names(&all), (vec!["one"], vec!["two"]), "{variables}");
        assert_eq!(all.refused[0].diagnostics.features, BTreeSet::from([feature]), "{variables}");
        let symbols: Vec<&str> = all.image.symbols.iter().map(|symbol| symbol.name.as_str()).collect();
        assert_eq!(symbols, ["good", "behind"], "{variables}");
    }
}

#[test]
fn managed_variables_are_variables_in_global_memory() {
    for attribute in [".attribute(.managed)", ".attribute(.managed, .unified(1, 2))"] {
        let source = module(&format!(".visible .global {attribute} .align 4 .u32 m = 7;"), &[("k", "mov.u64 %l1, m;")]);
        let symbols = compiled(&source, &|_| true).image.symbols;
        assert_eq!((symbols[0].name.as_str(), &symbols[0].initial), ("m", &vec![7, 0, 0, 0]));
    }
    for wrong in [".attribute(managed)", ".attribute(.managed", ".attribute .managed", ".attribute(.unified(1, 2"] {
        let source = module(&format!(".global {wrong} .u32 m;"), &[("k", GOOD)]);
        assert!(Module::parse(&source, "k.ptx").is_err(), "{wrong}");
    }
}

#[test]
fn what_is_wrong_with_the_module_refuses_all_of_it() {
    for (variables, reason) in [
        (".global .u32 x;\n.global .u32 x;", "declared twice"),
        (".local .u32 x;", "belongs into a kernel"),
        (".global .u32 x", "expected `;`"),
    ] {
        let source = module(variables, &[("k", GOOD)]);
        let parsed = Module::parse(&source, "k.ptx");
        let error = parsed.and_then(|module| module.compile(&Options::default(), &|_| true)).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    }
    // The end of this body cannot be found.
    let source = module("", &[("k", "{ no end")]);
    assert!(Module::parse(&source, "k.ptx").is_err());
}

#[test]
fn kernels_are_listed_with_their_text() {
    let source = module(".global .u32 x;", &[("one", GOOD), ("two", "no PTX")]);
    let module = Module::parse(&source, "k.ptx").unwrap();
    let kernels: Vec<_> = module.kernels().collect();
    assert_eq!(kernels.len(), 2);
    assert!(kernels[0].1.starts_with(".entry one(") && kernels[0].1.ends_with('}'), "{}", kernels[0].1);
    assert!(kernels[1].1.contains("no PTX") && !kernels[1].1.contains("one"), "{}", kernels[1].1);
}
