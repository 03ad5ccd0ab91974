//! Layout, sets of variables, marks and refusals, in hand-written PTX.

use super::figures::{judged, kernel, options};
use super::*;
use crate::RegisterOrder;
use crate::marks::private::{Threads, mark};
use crate::scratchpad::{Layout, Relssp};
use gpurf_isa::{Op, assemble};

fn minimal(private_bytes: u32) -> ScratchpadOptions {
    ScratchpadOptions { private_bytes, layout: Layout::Minimal, relssp: Relssp::None }
}

/// Names of the variables in the order of their addresses.
fn order(source: &str, options: ScratchpadOptions) -> Vec<String> {
    let mut variables = compiled(source, options).scratchpad[0].variables.clone();
    variables.sort_by_key(|v| v.at);
    variables.into_iter().map(|v| v.name).collect()
}

/// A kernel that accesses `x` first and last, `y` in the middle.
fn three(declared: &str, middle: &str) -> String {
    format!(
        ".version 9.5\n.target sm_75\n.address_size 64\n.extern .shared .align 4 .b8 dyn[];\n.visible .entry k(.param .u64 p0)\n{{\n{declared}\n\
         .reg .pred %p<9>; .reg .b32 %x<9>; .reg .b32 %t; .reg .b32 %s; .reg .b32 %n; .reg .b64 %d<4>;\n\
         ld.param.u64 %d0, [p0]; mov.u32 %t, %tid.x; mov.u32 %s, x; st.shared.u32 [%s], 1;\n{middle}\n\
         ld.shared.u32 %x1, [%s]; st.global.u32 [%d0], %x1; ret;\n}}\n"
    )
}

#[test]
fn what_is_accessed_for_a_short_time_is_shared() {
    let declared = ".shared .align 4 .b8 y[64]; .shared .align 4 .b8 x[64]; .shared .align 16 .b8 z[64];";
    let source = three(declared, "st.shared.u32 [y], 2; st.shared.u32 [z+4], 3;");
    let swapped = minimal(64);
    assert_eq!(order(&source, swapped), ["x", "y", "z"]);
    assert_eq!(order(&source, ScratchpadOptions { layout: Layout::Declared, ..swapped }), ["y", "x", "z"]);
    // If no variable fits or all do, the declared order is kept.
    assert_eq!(order(&source, minimal(60)), ["y", "x", "z"]);
    assert_eq!(order(&source, minimal(192)), ["y", "x", "z"]);
    assert_eq!(order(&source, minimal(0)), ["y", "x", "z"]);
    // Two variables fit, so y alone or z alone is shared. Among sets of equal cost, the one with more private bytes
    // wins, then the one declared first.
    assert_eq!(order(&source, minimal(128)), ["y", "x", "z"]);
    let scratchpad = &compiled(&source, minimal(128)).scratchpad[0];
    let shared: Vec<bool> = (0..3).map(|v| scratchpad.shared.contains(v)).collect();
    assert_eq!(shared, [false, false, true]);
}

#[test]
fn a_larger_block_is_not_taken() {
    // With x before y, the block would be 12 bytes larger.
    let declared = ".shared .align 16 .b8 y[64]; .shared .align 4 .b8 x[4];";
    let source = three(declared, "st.shared.u32 [y], 2;");
    assert_eq!(order(&source, minimal(8)), ["y", "x"]);
    assert_eq!(compiled(&source, minimal(8)).image.kernels[0].static_shared, 68);
}

#[test]
fn dynamic_memory_stays_last_and_is_shared() {
    let declared = ".shared .align 4 .b8 y[64]; .shared .align 4 .b8 x[64];";
    let source = three(declared, "mov.u32 %x3, dyn; st.shared.u32 [%x3], 2; st.shared.u32 [y], 3;");
    let found = compiled(&source, minimal(64));
    let variables = &found.scratchpad[0].variables;
    let places: Vec<(&str, u32)> = variables.iter().map(|v| (v.name.as_str(), v.at)).collect();
    assert_eq!(places, [("dyn", 128), ("y", 64), ("x", 0)]);
    assert!(found.scratchpad[0].shared.contains(0), "whatever the bound");
    assert!(compiled(&source, minimal(65536)).scratchpad[0].shared.contains(0));
}

#[test]
fn loops_with_constant_bounds_count_as_often_as_they_run() {
    // y is accessed in a loop of 3 iterations, x over a hundred instructions.
    let body = |bound: &str| {
        let fill = "add.s32 %x2, %x2, %t; xor.b32 %x2, %x2, 7; ".repeat(30);
        format!(
            "mov.u32 %n, 0; mov.u32 %x2, %t; {bound}\n\
             LOOP: ld.shared.u32 %x4, [y]; add.s32 %x2, %x2, %x4; st.shared.u32 [y], %x2; add.s32 %n, %n, 1;\n\
             setp.lt.u32 %p0, %n, %x5; @%p0 bra LOOP;\n{fill}\nst.global.u32 [%d0+4], %x2;"
        )
    };
    let declared = ".shared .align 4 .b8 x[64]; .shared .align 4 .b8 y[64];";
    let cost = |source: &str| (order(source, minimal(64)), order(source, ScratchpadOptions::NONE));
    // x is accessed all the time, so it is private in both cases.
    let known = three(declared, &body("mov.u32 %x5, 3;"));
    assert_eq!(
        cost(&known),
        (vec!["x".into(), "y".into(), "dyn".into()], vec!["x".into(), "y".into(), "dyn".into()]).map_names()
    );
    // w is accessed in 40 straight instructions, y in a loop.
    let two = |bound: &str, straight: usize| {
        let fill = "add.s32 %x2, %x2, %t; xor.b32 %x2, %x2, 7; ".repeat(straight);
        three(
            ".shared .align 4 .b8 x[64]; .shared .align 4 .b8 w[64]; .shared .align 4 .b8 y[64];",
            &format!(
                "mov.u32 %n, 0; mov.u32 %x2, %t; {bound}\nst.shared.u32 [w], %t; {fill} st.shared.u32 [w+4], %x2;\nst.shared.u32 [y], %t;\n\
                 LOOP: ld.shared.u32 %x4, [y]; add.s32 %x2, %x2, %x4; add.s32 %n, %n, 1; setp.lt.u32 %p0, %n, %x5; @%p0 bra LOOP;\n\
                 st.global.u32 [%d0+4], %x2;"
            ),
        )
    };
    // x must be private, and there is room for one more variable.
    let names = |source: &str| order(source, minimal(128));
    assert_eq!(names(&two("mov.u32 %x5, 3;", 30)), ["x", "w", "y"], "y is shared: 3 rounds of 5 instructions");
    assert_eq!(names(&two("mov.u32 %x5, 300;", 30)), ["x", "y", "w"], "300 rounds");
    assert_eq!(names(&two("ld.param.u32 %x5, [p0];", 30)), ["x", "y", "w"], "1024 rounds");
    assert_eq!(names(&two("ld.param.u32 %x5, [p0];", 3000)), ["x", "w", "y"], "6000 instructions");
}

trait Names {
    fn map_names(self) -> Self;
}

/// Drops the name of the variable that the kernel does not mention.
impl Names for (Vec<String>, Vec<String>) {
    fn map_names(self) -> Self {
        let keep = |names: Vec<String>| names.into_iter().filter(|name| name != "dyn").collect();
        (keep(self.0), keep(self.1))
    }
}

#[test]
fn more_than_ten_variables_are_chosen_greedily() {
    let names: Vec<String> = (0..14).map(|n| format!("v{n}")).collect();
    let declared: String = names.iter().map(|n| format!(".shared .align 4 .b8 {n}[32]; ")).collect();
    // The last variables are accessed at the start and at the end.
    let early: String = names[10..].iter().map(|n| format!("st.shared.u32 [{n}], 1; ")).collect();
    let middle: String = names[..10].iter().map(|n| format!("st.shared.u32 [{n}], 1; ")).collect();
    let source = three(&format!(".shared .align 4 .b8 x[4]; {declared}"), &format!("{early}{middle}{early}"));
    let found = order(&source, minimal(4 + 4 * 32));
    assert_eq!(found[..5], ["x", "v10", "v11", "v12", "v13"]);
    let scratchpad = &compiled(&source, minimal(4 + 4 * 32)).scratchpad[0];
    assert_eq!((0..15).filter(|&v| !scratchpad.shared.contains(v)).count(), 5);
}

/// The names of the variables that each access may touch, in the order of the code.
fn sets(source: &str) -> Vec<String> {
    let scratchpad = &compiled(source, ScratchpadOptions::NONE).scratchpad[0];
    let of = |set: &Variables| {
        let all = scratchpad.variables.iter().enumerate();
        all.filter(|(n, _)| set.contains(*n)).map(|(_, v)| v.name.as_str()).collect()
    };
    scratchpad.accesses.iter().map(|(_, set)| of(set)).collect()
}

#[test]
fn accesses_touch_the_variables_of_their_addresses() {
    let of = |body: &str| sets(&kernel(&format!("{body} ret;")));
    assert_eq!(
        of("st.shared.u32 [%s], 1; st.shared.u32 [b+8], 1; st.shared.v2.u32 [a+8], {%t, %t};"),
        ["a", "b", "a", "a"]
    );
    let b = "mov.u32 %x0, b; mad.lo.u32 %x1, %t, 8, %x0; or.b32 %x2, %x1, 4;";
    assert_eq!(of(&format!("{b} st.shared.u32 [%x2], 1;")), ["b"]);
    assert_eq!(of(&format!("{b} setp.eq.u32 %p0, %t, 1; selp.b32 %x3, %s, %x1, %p0; st.shared.u32 [%x3], 1;")), ["ab"]);
    assert_eq!(of(&format!("{b} setp.eq.u32 %p0, %t, 1; @%p0 mov.u32 %x1, %s; st.shared.u32 [%x1], 1;")), ["ab"]);
    // Generic addresses; the kernel's parameter counts as a number.
    assert_eq!(of("cvt.u64.u32 %d1, %s; cvta.shared.u64 %d1, %d1; st.u32 [%d1], 1;"), ["a"]);
    assert_eq!(of("cvta.shared.u64 %d1, b; mul.wide.u32 %d2, %t, 4; add.s64 %d1, %d1, %d2; st.u32 [%d1], 1;"), ["b"]);
    assert_eq!(of("st.u32 [%d0], 1; st.shared.u32 [b], 1;"), ["ab", "b"]);
    assert_eq!(
        of("ld.param.u32 %x0, [p0]; add.s32 %x0, %x0, %s; st.shared.u32 [%x0], 1; st.shared.u32 [b], 1;"),
        ["a", "b"]
    );
    // A value loaded from memory may be an address; an address that is only a number may be that of any variable.
    assert_eq!(of("ld.shared.u32 %x0, [b]; add.s32 %x0, %x0, %s; st.shared.u32 [%x0], 1;"), ["b", "ab"]);
    assert_eq!(
        of("st.shared.u32 [a], 1; st.shared.u32 [b], 1; st.shared.u32 [16], 1; st.shared.u32 [%t4], 1;"),
        ["a", "b", "ab", "ab"]
    );
    assert_eq!(of("shfl.sync.idx.b32 %x0, %s, 0, 31, -1; st.shared.u32 [%x0], 1; st.shared.u32 [b], 1;"), ["ab", "b"]);
    assert_eq!(
        of("atom.shared.add.u32 %x0, [%s], 1; atom.shared.cas.b32 %x0, [b], 1, 2; red.shared.add.u32 [%x0], 1;"),
        ["a", "b", "ab"]
    );
    // The accesses to the word of a reduction at a barrier.
    assert_eq!(
        of("setp.eq.u32 %p0, %t, 1; barrier.cta.red.popc.aligned.u32 %x0, 0, %p0; st.shared.u32 [%s], %x0;"),
        ["", "", "", "a"]
    );
}

#[test]
fn straddling_variables_are_shared_and_nothing_is_put_in_where_all_are_private() {
    let source = kernel("st.shared.u32 [%s], %t; st.global.u32 [%d0], %t; ret;");
    let releases = |private, relssp| {
        let found = compiled(&source, options(private, relssp));
        let code = &found.image.kernels[0].code;
        assert_eq!(code.iter().filter(|i| i.op == (Op::Relssp {})).count(), found.scratchpad[0].releases);
        judged(&source, options(private, relssp), 32);
        found.scratchpad[0].releases
    };
    for relssp in [Relssp::Postdom, Relssp::Optimal] {
        // a has 128 bytes.
        assert_eq!([0, 4, 124, 128, 256, 384].map(|private| releases(private, relssp)), [1, 1, 1, 0, 0, 0]);
    }
    assert_eq!(releases(0, Relssp::None), 0);
}

#[test]
fn relssp_of_the_program_is_kept_and_not_joined_by_others() {
    let source = kernel("setp.lt.u32 %p0, %t, 8; st.shared.u32 [%s], %t; @%p0 relssp; @!%p0 relssp; ret;");
    let found = compiled(&source, ScratchpadOptions::NONE);
    let code = &found.image.kernels[0].code;
    let releases: Vec<bool> = code.iter().filter(|i| i.op == (Op::Relssp {})).map(|i| i.is_guarded()).collect();
    assert_eq!(releases, [true, true]);
    let of = |rule| run(&found, 0, rule, 32, 0, 4096);
    assert_eq!((of(Rule::EveryThread).faults, of(Rule::EveryThread).counts.released), (vec![], u64::from(32 * BLOCKS)));
    let options = Options { scratchpad: options(0, Relssp::Optimal), ..Options::default() };
    let refused = compile(&source, "test.ptx", &options).unwrap_err().to_string();
    assert!(refused.contains("`k` has relssp of its own: compile it with relssp none"), "{refused}");
    let odd = Options { scratchpad: ScratchpadOptions { private_bytes: 6, ..ScratchpadOptions::NONE }, ..options };
    assert!(compile(&source, "test.ptx", &odd).unwrap_err().to_string().contains("private_shared is 6"));
}

#[test]
fn ended_threads_have_released_for_hardware_and_are_missed_by_the_thesis() {
    // Eight threads end before they reach the release.
    let source =
        kernel("setp.lt.u32 %p0, %t, 8; st.shared.u32 [%s], %t; @%p0 ret; relssp; st.global.u32 [%d0], %t; ret;");
    let found = compiled(&source, ScratchpadOptions::NONE);
    let of = |rule| run(&found, 0, rule, 32, 0, 4096).faults;
    assert_eq!(of(Rule::MayEnd), []);
    assert_eq!(of(Rule::EveryThread).first().map(|fault| fault.lanes), Some(0xff));
}

#[test]
fn names_by_first_use_and_schedules_keep_releases_behind_accesses() {
    let source = kernel(
        "setp.lt.u32 %p0, %t, 8; st.shared.u32 [%s], %t; @%p0 bra A; ld.shared.u32 %x0, [%s]; st.global.u32 [%d0], %x0; bra.uni E;\n\
         A: ld.shared.u32 %x1, [b]; mul.lo.u32 %x2, %x1, %x1; st.global.u32 [%d0], %x2; E: ret;",
    );
    let source = source.replace("st.shared.u32 [%s], %t;", "st.shared.u32 [%s], %t; st.shared.u32 [b], 7;");
    for schedule in [crate::Schedule::None, crate::Schedule::Tree, crate::Schedule::Latency] {
        let options = Options {
            schedule,
            register_order: RegisterOrder::FirstUse,
            scratchpad: options(0, Relssp::Optimal),
            ..Options::default()
        };
        let found = compile(&source, "test.ptx", &options).unwrap();
        let run = run(&found, 0, Rule::EveryThread, 32, 0, 4096);
        assert_eq!((&run.faults[..], &run.error), (&[][..], &None));
        assert_eq!((found.scratchpad[0].releases, run.counts.released), (2, u64::from(32 * BLOCKS)));
    }
}

#[test]
fn releases_go_with_levels_power_states_and_few_registers() {
    // In debug builds, the compiler itself checks allocation and levels.
    for seed in 1..30 {
        let sample = super::random::sample(seed);
        let options = Options {
            registers: 16,
            register_order: RegisterOrder::FirstUse,
            power_threshold: 3,
            scratchpad: sample.options,
            schedule: crate::Schedule::Latency,
            ..Options::with_levels()
        };
        let found = compile(&sample.source, "test.ptx", &options).unwrap();
        let bytes = sample.options.private_bytes;
        let run = run(&found, bytes, Rule::EveryThread, sample.threads, sample.dynamic, 1 << 14);
        assert_eq!((&run.faults[..], &run.overlap, &run.error), (&[][..], &None, &None), "{seed}\n{}", sample.source);
        let plain = sample.run(ScratchpadOptions::NONE).result;
        assert!(run.result.starts_with(&plain), "{seed}");
    }
}

/// Which accesses of a piece of code are marked as in the first 256 bytes of shared memory.
fn marked(text: &str) -> Vec<bool> {
    let mut code = assemble(&format!("{text}\nEXIT")).unwrap_or_else(|e| panic!("{e}\n{text}"));
    mark(&mut code, 256, Threads::ANY);
    code.iter().filter(|i| i.may_be_shared()).map(|i| i.control.private).collect()
}

#[test]
fn ranges_of_addresses() {
    let st = |address: &str| format!("ST.SHARED.B32 [{address}], RZ");
    assert_eq!(marked(&[st("RZ"), st("RZ+0xfc"), st("RZ+0x100"), st("RZ-0x4")].join("\n")), [true, true, false, false]);
    assert_eq!(marked("ST.SHARED.B8 [RZ+0xff], RZ\nST.SHARED.B16 [RZ+0xff], RZ"), [true, false]);
    assert_eq!(
        marked("LD.GENERIC.B32 R1, [RZ:RZ]\nATOM.SHARED.ADD R1, [RZ+0x8], R2\nCAS.SHARED R1, [RZ+0xfc], R2, R3"),
        [false, true, true]
    );
    // A register that nothing has written is unknown.
    assert_eq!(marked(&st("R1")), [false]);
    let with = |computation: &str| marked(&format!("{computation}\n{}", st("R1")))[0];
    let lane = "S2R.LANEID R2\n";
    let cases = [
        ("SHL R1, R2, 2", true),
        ("SHL R1, R2, 3", true),
        ("SHL R1, R2, 4", false),
        ("IADD R1, PT, R2, 0xdc, !PT", true),
        ("IADD R1, PT, R2, 0xdc, PT", true),
        ("IADD R1, PT, R2, 0xdc, P0", true),
        ("IADD R1, PT, R2, 0xde, !PT", false),
        ("IADD R1, PT, R2, 0xffffffff, !PT", false),
        ("IADD.SUB R1, PT, RZ, R2, PT", false),
        ("MOV R3, 0xf0\nIADD.SUB R1, PT, R3, R2, PT", true),
        ("IMAD.LO R1, PT, R2, 4, RZ, !PT", true),
        ("MOV R3, 124\nIMAD.LO R1, PT, R2, 4, R3, !PT", true),
        ("MOV R3, 132\nIMAD.LO R1, PT, R2, 4, R3, !PT", false),
        ("IMAD.HI R1, PT, R2, 4, RZ, !PT", false),
        ("LOP3.LUT192 R1, R3, 0x3c, RZ", true),
        ("LOP3.LUT252 R1, R2, 0x40, RZ", true),
        ("LOP3.LUT252 R1, R2, 0xc0, RZ", false),
        ("LOP3.LUT15 R1, R2, RZ, RZ", false),
        ("SHR R1, R3, 25", true),
        ("SHR.SIGNED R1, R3, 25", false),
        ("BFE R1, R3, 0x700", true),
        ("BFE R1, R3, 0x800", false),
        ("BFE.SIGNED R1, R3, 0x700", false),
        ("IMNMX.MIN R1, R3, 0xf0", true),
        ("IMNMX.MIN.SIGNED R1, R3, 0xf0", false),
        ("IMNMX.MAX R1, R2, 0xf0", true),
        ("SEL R1, R2, 0xfc, P0", true),
        ("SEL R1, R2, 0x100, P0", false),
        ("POPC R1, R3", true),
        ("LDC.U8 R3, [RZ]\nSHR R1, R3, 1", true),
        ("LDC.S8 R1, [RZ]", false),
        ("SHFL.IDX.CLAMP31.SEGMENT0 R1, PT, R2, 5", true),
        // 0 comes from a lane that does not execute the shuffle: 0 - 4 is not below the bound.
        ("IADD R3, PT, R2, 4, !PT\nSHFL.IDX.CLAMP31.SEGMENT0 R1, PT, R3, 5", true),
        ("IADD R3, PT, R2, 4, !PT\nSHFL.IDX.CLAMP31.SEGMENT0 R3, PT, R3, 5\nIADD.SUB R1, PT, R3, 4, PT", false),
        ("IADD R3, PT, R2, 4, !PT\nIADD.SUB R1, PT, R3, 4, PT", true),
        ("MOV R1, R2\n@P0 MOV R1, 0x400", false),
        ("MOV R1, 0x400\n@P0 MOV R1, R2", false),
        ("MOV R1, 0x400\nMOV R1, R2", true),
    ];
    for (text, is) in cases {
        assert_eq!(with(&format!("{lane}{text}")), is, "{text}");
    }
}

#[test]
fn ranges_along_ways() {
    // Two paths to an access; then a loop.
    let join = |a: u32, b: u32| {
        marked(&format!(
            "@P0 BRA other, join meet\nMOV R1, {a}\nBRA meet, join none\nother:\nMOV R1, {b}\nmeet:\nST.SHARED.B32 [R1], RZ"
        ))[0]
    };
    assert_eq!([join(0, 252), join(0, 256), join(256, 0)], [true, false, false]);
    let text = "MOV R1, 0\nMOV R2, 0\nloop:\nST.SHARED.B32 [R2], RZ\nLOP3.LUT192 R2, R1, 0x7c, RZ\nST.SHARED.B32 [R1], RZ\nST.SHARED.B32 [R2], RZ\n\
                IADD R1, PT, R1, 4, !PT\nISETP.LT.AND P0, R1, 64, PT\n@P0 BRA loop, join none";
    assert_eq!(marked(text), [true, false, true], "bounds of comparisons are not looked at");
    // A guarded exit does not stop the analysis: the other lanes continue.
    assert_eq!(marked("MOV R1, 8\n@P0 EXIT\nST.SHARED.B32 [R1], RZ"), [true]);
    assert_eq!(
        marked("BRA end, join none\nST.SHARED.B32 [RZ], RZ\nend:\nST.SHARED.B32 [RZ], RZ"),
        [false, true],
        "not reached"
    );
}

#[test]
fn threads_of_a_block_bound_their_numbers() {
    let private = |directive: &str| {
        let source = kernel("st.shared.u32 [%s], %t; ret;")
            .replace("(.param .u64 p0)", &format!("(.param .u64 p0)\n{directive}"));
        compiled(&source, options(128, Relssp::None)).image.kernels[0].code.iter().filter(|i| i.control.private).count()
    };
    assert_eq!(private(""), 0);
    assert_eq!(private(".reqntid 32, 1, 1"), 1);
    assert_eq!(private(".maxntid 32, 1, 1"), 1);
    assert_eq!(private(".reqntid 33, 1, 1"), 0);
}

#[test]
fn marks_are_shown() {
    let source = kernel("st.shared.u32 [a], %t; st.shared.u32 [b+200], %t; ret;");
    let found = compiled(&source, options(128, Relssp::Optimal));
    let text = crate::annotate(&source, &found);
    assert!(
        text.contains("RELSSP") && text.lines().any(|l| l.contains("ST.SHARED") && l.contains("private")),
        "{text}"
    );
    assert_eq!(found.image.kernels[0].code.iter().filter(|i| i.control.private).count(), 1);
}
