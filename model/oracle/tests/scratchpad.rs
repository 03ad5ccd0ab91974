//! The judge of scratchpad sharing: what it reports, and what it accepts.

mod common;

use common::Setup;
use gpurf_oracle::scratchpad::{
    Bytes, Placed, Rule, ScratchpadCounts, ScratchpadFault, ScratchpadJudge, Wrong, overlaps,
};
use std::collections::HashMap;

/// Runs code on a block of 32 threads with 64 bytes of shared memory, of which 16 are private.
fn judge(code: &str, rule: Rule) -> (Vec<ScratchpadFault>, ScratchpadCounts) {
    run(&Setup::new(code).shared(64), ScratchpadJudge::new(16, rule))
}

fn run(setup: &Setup, mut judge: ScratchpadJudge) -> (Vec<ScratchpadFault>, ScratchpadCounts) {
    let (ran, _) = setup.with(|oracle, launch, memory| oracle.run_observed(launch, memory, &mut judge));
    ran.unwrap_or_else(|fault| panic!("{fault}"));
    judge.finish()
}

/// What is wrong with code, with the instruction and the lanes.
fn wrong(code: &str) -> Vec<(Wrong, u32, u32)> {
    judge(code, Rule::EveryThread).0.into_iter().map(|fault| (fault.wrong, fault.pc, fault.lanes)).collect()
}

const ALL: u32 = u32::MAX;

#[test]
fn a_release_behind_the_last_access() {
    assert_eq!(wrong("ST.SHARED.B32 [RZ+0x10], RZ\nRELSSP\nST.SHARED.B32 [RZ+0xc], RZ\nEXIT"), []);
    let (_, counts) = judge("ST.SHARED.B32 [RZ+0x10], RZ\nNOP\nRELSSP\nNOP\nEXIT", Rule::EveryThread);
    // NOP and RELSSP are executed while the shared part is held.
    assert_eq!((counts.accesses, counts.shared, counts.released, counts.held), (32, 32, 32, 64));
    // No thread uses the shared part: none has to release it.
    assert_eq!(wrong("ST.SHARED.B32 [RZ+0xc], RZ\nEXIT"), []);
}

#[test]
fn an_access_behind_the_release() {
    let late = |access: &str| wrong(&format!("ST.SHARED.B32 [RZ+0x10], RZ\nRELSSP\n{access}\nEXIT"));
    let all = [(Wrong::AfterRelease, 2, ALL)];
    assert_eq!(late("LD.SHARED.B32 R1, [RZ+0x10]"), all);
    assert_eq!(late("ST.SHARED.B8 [RZ+0x3f], RZ"), all);
    assert_eq!(late("ATOM.SHARED.ADD R1, [RZ+0x10], R2"), all);
    assert_eq!(late("CAS.SHARED R1, [RZ+0x10], R2, R3"), all);
    assert_eq!(late("MOV R1, 1\nST.GENERIC.B32 [RZ:R1+0x10], RZ"), [(Wrong::AfterRelease, 3, ALL)]);
    // In the private part, in no lane, in global memory.
    assert_eq!(late("ST.SHARED.B32 [RZ+0xc], RZ"), []);
    assert_eq!(late("@!PT ST.SHARED.B32 [RZ+0x10], RZ"), []);
    assert_eq!(late("LDC.B32 R1, [RZ]\nST.GENERIC.B32 [R1:RZ+0x10], RZ"), []);
    assert_eq!(late("LDC.B32 R1, [RZ]\nCAS.GENERIC R2, [R1+0x10], R2, R3"), []);
    // An access across the bound. Aligned ones do not straddle a bound that is a multiple of 4.
    let setup = Setup::new("RELSSP\nST.SHARED.B32 [RZ+0xc], RZ\nEXIT").shared(64);
    let (faults, _) = run(&setup, ScratchpadJudge::new(14, Rule::EveryThread));
    assert_eq!(faults.first().map(|fault| fault.wrong), Some(Wrong::AfterRelease));
}

#[test]
fn releases_and_ends_of_lanes() {
    let start = "S2R.LANEID R0\nISETP.LT.AND P0, R0, 4, PT\nST.SHARED.B32 [RZ+0x10], RZ\n";
    let of = |code: &str| wrong(&format!("{start}{code}"));
    assert_eq!(of("@P0 RELSSP\n@!P0 RELSSP\nEXIT"), []);
    assert_eq!(of("RELSSP\n@P0 RELSSP\nEXIT"), [(Wrong::Twice, 4, 0xf)]);
    assert_eq!(of("@P0 RELSSP\nEXIT"), [(Wrong::Missing, 4, !0xf)]);
    assert_eq!(of("@P0 EXIT\nRELSSP\nEXIT"), [(Wrong::Missing, 3, 0xf)]);
    assert_eq!(of("EXIT"), [(Wrong::Missing, 3, ALL)], "code without a release");
    assert_eq!(
        of("@P0 RELSSP\n@P0 LD.SHARED.B32 R1, [RZ+0x10]\n@!P0 LD.SHARED.B32 R1, [RZ+0x10]\n@!P0 RELSSP\nEXIT"),
        [(Wrong::AfterRelease, 4, 0xf)]
    );
    // In hardware a thread that has ended counts as one that has released.
    for code in ["@P0 RELSSP\nEXIT", "@P0 EXIT\nRELSSP\nEXIT", "EXIT"] {
        assert_eq!(judge(&format!("{start}{code}"), Rule::MayEnd).0, [], "{code}");
    }
    // A thread that ends before another one uses the shared part has not released it either.
    let late = "S2R.LANEID R0\nISETP.LT.AND P0, R0, 4, PT\n@P0 EXIT\nST.SHARED.B32 [RZ+0x10], RZ\nRELSSP\nEXIT";
    assert_eq!(wrong(late), [(Wrong::Missing, 2, 0xf)]);
}

#[test]
fn warps_and_blocks_are_distinguished() {
    let setup = Setup::new("ST.SHARED.B32 [RZ+0x10], RZ\nRELSSP\nEXIT").shared(64).grid([3, 1, 1]).block([40, 1, 1]);
    let (faults, counts) = run(&setup, ScratchpadJudge::new(16, Rule::EveryThread));
    assert_eq!((faults, counts.released), (vec![], 3 * 40), "40 threads are active of 64");
    let some = Setup::new("S2R.CTAID.X R0\nISETP.EQ.AND P0, R0, 1, PT\n@!P0 RELSSP\nEXIT").grid([3, 1, 1]);
    let (faults, _) = run(&some, ScratchpadJudge::new(0, Rule::EveryThread));
    assert_eq!(faults.iter().map(|fault| fault.warp.block).collect::<Vec<_>>(), [1]);
    assert_eq!(faults[0].to_string(), "block 1, warp 0, instruction 3, lanes ffffffff: Missing");
}

#[test]
fn private_marks() {
    assert_eq!(wrong("ST.SHARED.B32 [RZ+0xc], RZ {private}\nEXIT"), []);
    let (_, counts) = judge("ST.SHARED.B32 [RZ+0xc], RZ {private}\nST.SHARED.B32 [RZ], RZ\nEXIT", Rule::MayEnd);
    assert_eq!((counts.accesses, counts.marked, counts.shared), (64, 32, 0));
    let code = "S2R.LANEID R0\nSHL R0, R0, 1\nST.SHARED.B16 [R0], RZ {private}\nRELSSP\nEXIT";
    // Lanes 0 to 7 are in the first 16 bytes.
    assert_eq!(wrong(code), [(Wrong::FalseMark, 2, !0xff)]);
    assert_eq!(
        wrong("MOV R1, 1\nST.SHARED.B32 [RZ+0x10], RZ\nATOM.GENERIC.ADD R2, [RZ:R1+0x10], R3 {private}\nRELSSP\nEXIT")
            .len(),
        1
    );
}

#[test]
fn variables_of_accesses() {
    let code = "ST.SHARED.B32 [RZ+0x4], RZ\nST.SHARED.B32 [RZ+0x8], RZ\nST.SHARED.B8 [RZ+0x9], RZ\nEXIT";
    let seen = |variables: &[(u32, &[(u64, u64)])]| {
        let variables: HashMap<u32, Vec<Bytes>> =
            variables.iter().map(|(pc, list)| (*pc, list.iter().map(|&(from, to)| from..to).collect())).collect();
        let judge = ScratchpadJudge::new(64, Rule::MayEnd).with_variables(variables);
        let faults = run(&Setup::new(code).shared(64), judge).0;
        faults.into_iter().map(|fault| (fault.wrong, fault.pc)).collect::<Vec<_>>()
    };
    assert_eq!(seen(&[(0, &[(4, 8)]), (1, &[(0, 4), (8, 12)]), (2, &[(9, 10)])]), []);
    assert_eq!(
        seen(&[(0, &[(0, 8)]), (1, &[(4, 10), (10, 12)]), (2, &[(9, 10)])]),
        [(Wrong::Outside, 1)],
        "across two variables"
    );
    assert_eq!(seen(&[(0, &[(4, 7)]), (1, &[(8, u64::MAX)])]), [(Wrong::Outside, 0), (Wrong::Outside, 2)]);
}

#[test]
fn layouts() {
    let v = |at, bytes, align| Placed { at, bytes, align };
    let says = |list: &[Placed]| overlaps(list, 32);
    assert_eq!(says(&[v(0, Some(8), 8), v(8, Some(24), 4), v(32, None, 16), v(32, None, 4)]), None);
    assert_eq!(says(&[v(16, Some(16), 4), v(0, Some(16), 4)]), None);
    assert_eq!(says(&[v(16, Some(16), 4), v(0, Some(17), 4)]).as_deref(), Some("variables 0 and 1 overlap"));
    assert_eq!(says(&[v(0, Some(17), 4), v(16, Some(16), 4)]).as_deref(), Some("variables 0 and 1 overlap"));
    assert_eq!(says(&[v(4, Some(4), 8)]).as_deref(), Some("variable 0 is misaligned"));
    assert_eq!(says(&[v(28, Some(5), 4)]).as_deref(), Some("variable 0 ends beyond static memory"));
    assert_eq!(says(&[v(16, None, 4)]).as_deref(), Some("dynamic memory 0 begins within static memory"));
}
