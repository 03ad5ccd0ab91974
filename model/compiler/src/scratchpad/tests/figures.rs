//! Figures 3.4, 3.6 and 3.7 and table 3.5, rebuilt from the text: our copy of the thesis lacks the drawings.

use super::*;
use crate::scratchpad::release::{Graph, Place};
use crate::scratchpad::{Layout, Relssp};
use gpurf_isa::Op;

fn graph(next: &[&[usize]], accesses: &[usize]) -> Graph {
    let next: Vec<Vec<usize>> = next.iter().map(|to| to.to_vec()).collect();
    let accesses = (0..next.len()).map(|b| accesses.contains(&b)).collect();
    Graph { next, accesses }
}

#[test]
fn figure_3_6() {
    // The last accesses are L1 in BB3 and L2 in BB9, the common post-dominator is BB12, and a path through BB4 has no access. Block 0 is Entry.
    let g = graph(
        &[&[1], &[2, 5], &[3, 4], &[12], &[12], &[6, 7], &[8], &[8], &[9], &[10, 11], &[12], &[12], &[13], &[]],
        &[3, 9],
    );
    assert_eq!(g.postdom(), [Place::Block(12)], "pi in BB12");
    // OPT_1 after L1, OPT_2 in BB4, OPT_3 after L2.
    assert_eq!(g.optimal(), [3, 4, 9].map(Place::Block));
    let (front, behind) = g.safe();
    assert!(front[4] && behind[3] && behind[9] && !behind[2] && !behind[1] && !front[9]);
}

#[test]
fn figure_3_7_b() {
    // BB1 leads to BB2 and BB3, and both lead to BB4; the last access is L2 in BB2. pi_4 is in BB4, pi_5 after and pi_6 before L2, pi_7 in BB3, pi_8
    // in BB1.
    let g = graph(&[&[1], &[2, 3], &[4], &[4], &[]], &[2]);
    assert_eq!(g.optimal(), [Place::Block(2), Place::Block(3)], "pi_5 and pi_7");
    let (front, behind) = g.safe();
    assert!(front[4] && behind[2] && front[3], "pi_4, pi_5, pi_7 are safe");
    assert!(!front[2] && !behind[1], "pi_6 and pi_8 are not");
    assert_eq!(g.postdom(), [Place::Block(4)]);
}

#[test]
fn critical_edges_are_split_where_they_get_a_release() {
    // Block 0 leads to a loop with accesses, or directly to its exit.
    let g = graph(&[&[1, 2], &[1, 2], &[]], &[1]);
    assert_eq!(g.optimal(), [Place::Block(2)], "all ways to block 2 get one: it stands at its start");
    let g = graph(&[&[1, 3], &[2, 4], &[4], &[4], &[]], &[1, 2]);
    assert_eq!(g.optimal(), [Place::Block(2), Place::Block(3), Place::Edge(1, 4)]);
    assert_eq!(g.postdom(), [Place::Block(4)]);
    // No accesses, so no release.
    let g = graph(&[&[1, 2], &[1, 2], &[]], &[]);
    assert_eq!((g.optimal(), g.postdom()), (vec![], vec![]));
    // The nearest post-dominator is in a loop that is left elsewhere, so the next one is taken.
    let g = graph(&[&[1], &[2, 3], &[3], &[1, 4], &[]], &[2]);
    assert_eq!((g.optimal(), g.postdom()), (vec![Place::Block(4)], vec![Place::Block(4)]));
    // With two exits, no block is reached by all threads.
    let g = graph(&[&[1, 2], &[], &[3], &[]], &[2]);
    assert_eq!(g.postdom(), [Place::Block(1), Place::Block(3)]);
    assert_eq!(g.optimal(), [Place::Block(1), Place::Block(2)]);
    // A thread that never leaves a loop releases before it enters the loop.
    let g = graph(&[&[1, 2], &[1], &[]], &[0]);
    assert_eq!(g.optimal(), [Place::Block(0)]);
}

/// A kernel with this body. It has variables `a` of 128 and `b` of 256 bytes; `%t` is the thread's index, `%t4` four times that, and `%s` the address
/// of `a` plus `%t4`.
pub fn kernel(body: &str) -> String {
    format!(
        ".version 9.5\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p0)\n{{\n\
         .shared .align 4 .b8 a[128]; .shared .align 4 .b8 b[256]; .reg .pred %p<9>; .reg .b32 %x<9>; .reg .b32 %t; .reg .b32 %t4; .reg .b32 %s;\n\
         .reg .b64 %d<4>; ld.param.u64 %d0, [p0]; mov.u32 %t, %tid.x; shl.b32 %t4, %t, 2; mov.u32 %s, a; add.s32 %s, %s, %t4;\n\
         mul.wide.u32 %d1, %t, 4; add.s64 %d0, %d0, %d1;\n{body}\n}}\n"
    )
}

pub fn options(private_bytes: u32, relssp: Relssp) -> ScratchpadOptions {
    ScratchpadOptions { private_bytes, layout: Layout::Declared, relssp }
}

/// Runs on blocks of one warp with `threads` threads; asserts that the judges find no fault.
pub fn judged(source: &str, options: ScratchpadOptions, threads: u32) -> Run {
    let rule = if options.relssp == Relssp::None { Rule::MayEnd } else { Rule::EveryThread };
    let run = run(&compiled(source, options), options.private_bytes, rule, threads, 0, 4096);
    assert_eq!((&run.faults[..], &run.overlap, &run.error), (&[][..], &None, &None), "{source}");
    run
}

/// The mnemonic of the instruction before each `RELSSP` in the code.
fn in_front(source: &str, options: ScratchpadOptions) -> Vec<&'static str> {
    let code = compiled(source, options).image.kernels[0].code.clone();
    let releases = code.iter().enumerate().filter(|(_, i)| i.op == (Op::Relssp {}));
    releases.map(|(pc, _)| code[pc - 1].op.mnemonic()).collect()
}

#[test]
fn figure_3_7_a() {
    // pi_1 is at the end of the block, pi_2 directly after L1, pi_3 before L1.
    let source =
        kernel("st.shared.u32 [%s], %t; ld.shared.u32 %x0, [%s]; add.s32 %x0, %x0, 1; st.global.u32 [%d0], %x0; ret;");
    for relssp in [Relssp::Postdom, Relssp::Optimal] {
        assert_eq!(in_front(&source, options(0, relssp)), ["LD"]);
        let code = &compiled(&source, options(0, relssp)).image.kernels[0].code;
        let at = code.iter().position(|i| i.op == (Op::Relssp {})).unwrap();
        assert!(code[at - 1].may_be_shared() && code[at + 1..].iter().all(|i| !i.may_be_shared()));
        judged(&source, options(0, relssp), 32);
    }
}

#[test]
fn figure_3_4_every_active_thread_counts_once() {
    let source =
        kernel("setp.lt.u32 %p0, %t, 9; @%p0 bra MEET; st.shared.u32 [%s], %t; MEET: st.global.u32 [%d0], %t; ret;");
    for threads in [1, 9, 10, 31, 32] {
        for relssp in [Relssp::Postdom, Relssp::Optimal] {
            let run = judged(&source, options(0, relssp), threads);
            assert_eq!(run.counts.released, u64::from(BLOCKS * threads), "{threads} threads");
        }
    }
}

/// Number of additional instructions that the threads of each block execute with `relssp`.
fn more(source: &str, relssp: Relssp, threads: u32) -> u64 {
    let plain = judged(source, options(0, Relssp::None), threads);
    let run = judged(source, options(0, relssp), threads);
    assert_eq!(run.result, plain.result);
    (run.issued - plain.issued) / u64::from(BLOCKS)
}

#[test]
fn table_3_5() {
    // Columns: kernel, threads, and the printed number of additional instructions: one for each thread, two for each, or one for each and another one
    // for some.
    let rows: [(&str, u64, u64); 14] = [
        ("backprop", 1_048_576, 2_031_616),
        ("DCT1", 32_768, 32_768),
        ("DCT2", 32_768, 32_768),
        ("DCT3", 32_768, 49_152),
        ("DCT4", 32_768, 49_152),
        ("NQU", 24_576, 48_768),
        ("SRAD1", 4_161_600, 4_161_600),
        ("SRAD2", 4_161_600, 4_161_600),
        ("FDTD3d", 144_384, 288_768),
        ("heartwall", 17_920, 35_840),
        ("histogram", 46_080, 92_160),
        ("MC1", 3_008, 6_016),
        ("NW1", 3_184, 3_184),
        ("NW2", 3_168, 3_168),
    ];
    // Kernels of the three kinds: the last access in straight-line code; or after it a jump, by all threads or by some, to a block where other paths
    // meet.
    let straight = kernel("st.shared.u32 [%s], %t; st.global.u32 [%d0], %t; ret;");
    // Threads below the bound jump from BB1 to a block that others reach after their access in BB2; no thread takes the path through OTHER.
    let body = |bound: u32| {
        format!(
            "setp.gt.u32 %p1, %t, 4000; @%p1 bra OTHER; st.shared.u32 [%s], %t; setp.lt.u32 %p0, %t, {bound}; @%p0 bra MEET;\n\
             st.shared.u32 [%s], %t4; bra.uni MEET;\nOTHER: st.global.u32 [%d0], %t4;\nMEET: st.global.u32 [%d0], %t; ret;"
        )
    };
    for (name, threads, difference) in rows {
        let jumps = difference - threads;
        // `of_32` is the number of 32 threads that jump, in the same proportion as in the row, to the nearest thread.
        let of_32 = (jumps * 32 + threads / 2) / threads;
        let source = if jumps == 0 { straight.clone() } else { kernel(&body(of_32 as u32)) };
        assert_eq!(more(&source, Relssp::Optimal, 32), 32 + of_32, "{name}");
        assert_eq!(more(&source, Relssp::Postdom, 32), 32, "{name}: no edge is split");
        assert!((threads..=2 * threads).contains(&difference), "{name}");
    }
}

#[test]
fn a_split_edge_that_falls_through_costs_no_jump() {
    // The split edge leads from a loop to END, which other threads reach without the loop. END does not follow the loop: 27 threads jump, and 2 more
    // from AWAY.
    let jumps = kernel(
        "mov.u32 %x0, 0; setp.lt.u32 %p0, %t, 5; @%p0 bra AWAY;\n\
         LOOP: st.shared.u32 [%s], %t; add.s32 %x0, %x0, 1; setp.lt.u32 %p1, %x0, 3; @%p1 bra LOOP;\n\
         bra.uni END;\nAWAY: setp.lt.u32 %p2, %t, 2; @%p2 bra END; st.shared.u32 [%s], %x0;\n\
         END: st.global.u32 [%d0], %x0; ret;",
    );
    assert_eq!(more(&jumps, Relssp::Optimal, 32), 32 + 27 + 2);
    assert_eq!(more(&jumps, Relssp::Postdom, 32), 32);
    let falls = kernel(
        "mov.u32 %x0, 0; setp.lt.u32 %p0, %t, 5; @%p0 bra AWAY; st.shared.u32 [%s], %t; setp.lt.u32 %p1, %t, 20; @!%p1 bra MORE;\n\
         MEET: st.global.u32 [%d0], %x0; ret;\nAWAY: st.global.u32 [%d0], %t4; bra.uni MEET;\n\
         MORE: st.shared.u32 [%s], %t4; bra.uni MEET;",
    );
    assert_eq!(more(&falls, Relssp::Optimal, 32), 32);
}

#[test]
fn threads_that_end_early_do_not_keep_the_others() {
    // There are barriers after the branch, so no lane may wait at a point that the others do not reach.
    let source = kernel(
        "setp.gt.u32 %p0, %t, 19; @%p0 ret; mov.u32 %x0, 0;\n\
         LOOP: st.shared.u32 [%s], %x0; bar.sync 0; ld.shared.u32 %x1, [%s]; add.s32 %x0, %x1, 1; setp.lt.u32 %p1, %x0, 3; @%p1 bra LOOP;\n\
         st.global.u32 [%d0], %x0; ret;",
    );
    // 12 threads jump to their exit.
    assert_eq!(more(&source, Relssp::Optimal, 32), 32 + 12);
    assert_eq!(judged(&source, options(0, Relssp::Optimal), 32).counts.released, u64::from(32 * BLOCKS));
}
