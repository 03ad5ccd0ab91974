//! Votes and matches among groups of a warp: each lane's mask has the lanes of its own group, and all groups execute the instruction together.

use crate::common::{Random, bytes, compiled, run, words};
use gpurf_isa::Op;

const LANES: usize = 32;
/// Words that a lane writes.
const RESULTS: usize = 9;

/// Loads a lane's mask, a word whose lowest bit is its predicate, and 64 bits of which few values occur; writes one word for each operation.
fn kernel() -> String {
    let operations = [
        "vote.sync.ballot.b32 %r10, %p1, %r2;",
        "vote.sync.ballot.b32 %r10, !%p1, %r2;",
        "vote.sync.any.pred %p2, %p1, %r2; selp.b32 %r10, 1, 0, %p2;",
        "vote.sync.all.pred %p2, %p1, %r2; selp.b32 %r10, 1, 0, %p2;",
        "vote.sync.uni.pred %p2, !%p1, %r2; selp.b32 %r10, 1, 0, %p2;",
        "match.any.sync.b32 %r10, %r4, %r2;",
        "match.any.sync.b64 %r10, %l4, %r2;",
        "match.all.sync.b32 %r10|%p2, %r4, %r2;",
        "match.all.sync.b64 %r10|%p2, %l4, %r2; selp.b32 %r10, %r10, 7, %p2;",
    ];
    let body: Vec<String> = (operations.iter().enumerate())
        .map(|(n, text)| format!("{{ {text} st.global.u32 [%l2+{}], %r10; }}\n", 4 * n))
        .collect();
    format!(
        ".version 9.5\n.target sm_75\n.address_size 64\n.visible .entry f(.param .u64 p0, .param .u64 p1)\n{{\n\
         .reg .pred %p<3>;\n.reg .b32 %r<12>;\n.reg .b64 %l<6>;\n\
         ld.param.u64 %l1, [p0]; ld.param.u64 %l2, [p1]; mov.u32 %r1, %tid.x;\n\
         mul.wide.u32 %l3, %r1, 16; add.s64 %l1, %l1, %l3;\n\
         mul.wide.u32 %l3, %r1, {}; add.s64 %l2, %l2, %l3;\n\
         ld.global.v4.u32 {{%r2, %r3, %r4, %r5}}, [%l1]; mov.b64 %l4, {{%r4, %r5}};\n\
         and.b32 %r3, %r3, 1; setp.ne.u32 %p1, %r3, 0;\n{}ret;\n}}\n",
        4 * RESULTS,
        body.concat()
    )
}

#[test]
fn votes_and_matches_are_among_the_lanes_of_the_mask() {
    let mut random = Random(7);
    for round in 0..40 {
        // Some rounds have one group of all lanes, and some a block that ends inside the warp, so that masks name lanes that do not exist.
        let (groups, threads) = (1 + round % 5, if round % 4 == 3 { 19 } else { LANES });
        let group: Vec<usize> = (0..LANES).map(|_| random.below(groups)).collect();
        let few = |random: &mut Random| random.below(1 + round / 10) as u32;
        let lanes: Vec<[u32; 4]> = (0..LANES)
            .map(|lane| {
                let mask = (0..LANES).filter(|&other| group[other] == group[lane]).map(|other| 1 << other).sum();
                [mask, u32::from(random.below(groups + 1) > 0), few(&mut random), few(&mut random)]
            })
            .collect();
        let input: Vec<u32> = lanes.iter().flatten().copied().collect();
        let found = words(&run(&kernel(), 40, &[bytes(&input)], 4 * RESULTS * threads, threads as u32));
        for lane in 0..threads {
            let members: Vec<usize> = (0..threads).filter(|&other| group[other] == group[lane]).collect();
            let those = |is: &dyn Fn(&[u32; 4]) -> bool| -> u32 {
                members.iter().filter(|&&other| is(&lanes[other])).map(|&other| 1 << other).sum()
            };
            let all = those(&|_| true);
            let (yes, no) = (those(&|of| of[1] == 1), those(&|of| of[1] == 0));
            let (same, same_both) = (those(&|of| of[2] == lanes[lane][2]), those(&|of| of[2..] == lanes[lane][2..]));
            let expected = [
                yes,
                no,
                u32::from(yes != 0),
                u32::from(no == 0),
                u32::from(yes == 0 || no == 0),
                same,
                same_both,
                if same == all { all } else { 0 },
                if same_both == all { all } else { 7 },
            ];
            assert_eq!(found[RESULTS * lane..][..RESULTS], expected, "round {round}, lane {lane}");
        }
    }
}

/// A mask of all lanes costs nothing, also if it is in a register.
#[test]
fn a_vote_of_all_lanes_is_one_instruction() {
    for mask in ["-1", "%r3"] {
        let source = format!(
            ".version 9.5\n.target sm_75\n.address_size 64\n.visible .entry f(.param .u64 p0)\n{{\n.reg .pred %p<3>;\n\
             .reg .b32 %r<4>;\n.reg .b64 %l<3>;\nld.param.u64 %l1, [p0]; mov.u32 %r1, %tid.x; mov.b32 %r3, -1;\n\
             setp.gt.u32 %p1, %r1, 3; vote.sync.all.pred %p2, %p1, {mask}; selp.b32 %r2, 1, 0, %p2;\n\
             st.global.u32 [%l1], %r2; ret;\n}}\n"
        );
        let code = &compiled(&source, 16).image.kernels[0].code;
        let count = |is: fn(&Op) -> bool| code.iter().filter(|inst| is(&inst.op)).count();
        let found = [
            count(|op| matches!(op, Op::Vote { .. })),
            count(|op| matches!(op, Op::Ballot {})),
            count(|op| matches!(op, Op::Isetp { .. })),
            count(|op| matches!(op, Op::Plop { .. })),
        ];
        assert_eq!(found, [1, 0, 1, 0], "{mask}");
    }
}
