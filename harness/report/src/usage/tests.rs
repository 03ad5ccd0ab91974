//! Value usage of hand-written code.

use super::{Usage, UsageObserver};

/// Usage of a program, run in blocks of one warp.
fn usage_of(code: &str, blocks: u32) -> Usage {
    crate::testing::observed(code, blocks, UsageObserver::default()).finish()
}

/// Multiplies counts by the 32 lanes.
fn lanes<const N: usize>(counts: [u64; N]) -> [u64; N] {
    counts.map(|count| 32 * count)
}

#[test]
fn reads_of_each_value_and_lifetimes() {
    // Reads: R1 twice; R2 once, by the next instruction; R3 once, 3 instructions later; R4 once, 4 instructions later; R5, R6, R7 never.
    let usage = usage_of(
        "
        MOV R1, 1
        IADD R2, PT, R1, 1, !PT
        IADD R3, PT, R2, 1, !PT
        MOV R4, 4
        IADD R5, PT, R1, 1, !PT
        IADD R6, PT, R3, 1, !PT
        NOP
        IADD R7, PT, R4, 1, !PT
        EXIT
        ",
        1,
    );
    assert_eq!(usage.values, lanes([3, 3, 1, 0]));
    assert_eq!(usage.lifetimes, lanes([1, 0, 1, 1]));
    assert_eq!(usage.reads, 32 * 5);
    assert_eq!((usage.once_within(1), usage.once_within(3)), (32, 64));
    // R7 evicts R1, after R1's last read.
    assert_eq!((usage.hits, usage.evicted, usage.dead), (32 * 5, 32, 32));
    assert_eq!((usage.reads_avoided(), usage.writes_avoided(), usage.live_writes_avoided()), (1.0, 6.0 / 7.0, 1.0));
    let (moves, sums) = (usage.written["MOV"], usage.written["IADD"]);
    assert_eq!((moves.values, moves.lifetimes), (lanes([0, 1, 1, 0]), lanes([0, 0, 0, 1])));
    assert_eq!((sums.values, sums.lifetimes), (lanes([3, 2, 0, 0]), lanes([1, 0, 1, 0])));
}

#[test]
fn a_register_in_two_slots_is_read_once_and_one_overwritten_is_two_values() {
    let usage = usage_of("MOV R1, 1\n IADD R1, PT, R1, R1, !PT\n IADD R2, PT, R1, R1, !PT\n EXIT", 1);
    assert_eq!(usage.values, lanes([1, 2, 0, 0]));
    assert_eq!(usage.lifetimes, lanes([2, 0, 0, 0]));
}

#[test]
fn the_cache_evicts_what_came_first_and_updates_in_place() {
    // R1 is updated in place, so it is still the oldest entry, and R7 evicts it. It therefore misses when it is read later, and its eviction was
    // necessary.
    let usage = usage_of(
        "
        MOV R1, 1
        MOV R2, 2
        MOV R3, 3
        MOV R1, 1
        MOV R4, 4
        MOV R5, 5
        MOV R6, 6
        MOV R7, 7
        IADD R8, PT, R1, R2, !PT
        EXIT
        ",
        1,
    );
    // R8 evicts R2, which has just been read. The first of R1's two values was overwritten in the cache.
    assert_eq!((usage.reads, usage.hits), (64, 32));
    assert_eq!((usage.evicted, usage.dead), (64, 32));
    assert_eq!((usage.writes_avoided(), usage.live_writes_avoided()), (7.0 / 9.0, 8.0 / 9.0));
}

#[test]
fn the_cache_has_the_lanes_that_were_written_since_it_took_the_register() {
    // R7 evicts R1 in all lanes; it is allocated again with 16 lanes.
    let usage = usage_of(
        "
        S2R.TID.X R0
        ISETP.LT.AND P0, R0, 16, PT
        MOV R1, 1
        MOV R2, 1
        MOV R3, 1
        MOV R4, 1
        MOV R5, 1
        MOV R6, 1
        MOV R7, 1
        @P0 MOV R1, 2
        IADD R8, PT, R1, 1, !PT
        EXIT
        ",
        1,
    );
    // R0's read hits, and half of R1's.
    assert_eq!((usage.reads, usage.hits), (64, 32 + 16));
    // R0, R1, R2 and R3 are evicted, R0 after its last read.
    assert_eq!((usage.evicted, usage.dead), (4 * 32, 32));
}

#[test]
fn lanes_count_for_themselves() {
    // Lanes 0 to 15 read R1 once more, 2 instructions later; guarded instructions also count in the lanes that they do not execute in.
    let usage = usage_of(
        "
        S2R.TID.X R0
        MOV R1, 1
        ISETP.LT.AND P0, R0, 16, PT
        @P0 IADD R2, PT, R1, 1, !PT
        @!P0 NOP
        IADD R3, PT, R1, 1, !PT
        EXIT
        ",
        1,
    );
    // R0: once, 2 later. R1: in 16 lanes twice, in 16 once, 4 later. R2 (16 values) and R3 (32 values): never.
    assert_eq!(usage.values, [48, 32 + 16, 16, 0]);
    assert_eq!(usage.lifetimes, [0, 32, 0, 16]);
}

#[test]
fn threads_on_two_sides_of_a_branch_count_their_own_instructions() {
    // The fall-through path runs first; its instructions do not count for the threads of the other path.
    let usage = usage_of(
        "
        S2R.TID.X R0
        ISETP.LT.AND P0, R0, 16, PT
        MOV R1, 1
        @P0 BRA 6, join 7
        NOP
        BRA 7, join none
        IADD R2, PT, R1, 1, !PT
        EXIT
        ",
        1,
    );
    assert_eq!(usage.values, [16 + 16, 32 + 16, 0, 0]);
    // R0 is read 1 instruction later, R1 2 later.
    assert_eq!(usage.lifetimes, [32, 16, 0, 0]);
}

#[test]
fn blocks_begin_with_no_values() {
    let one = usage_of("IADD R1, PT, R1, 1, !PT\n EXIT", 1);
    assert_eq!((one.values, one.reads), (lanes([1, 0, 0, 0]), 0));
    let three = usage_of("IADD R1, PT, R1, 1, !PT\n EXIT", 3);
    assert_eq!((three.values, three.reads), (lanes([3, 0, 0, 0]), 0));
    assert_eq!(three.part(three.values[0]), 1.0);
    assert_eq!(Usage::default().part(0), 0.0);
}

#[test]
fn values_cross_the_ends_of_strands() {
    // R1 is read in its own strand, and twice each in two others; R2 in one other; R3 is written and read in the last strand only.
    let usage = usage_of(
        "
        MOV R1, 1
        MOV R2, 2
        IADD R4, PT, R1, 1, !PT {strand_end}
        IADD R4, PT, R1, R2, !PT
        IADD R4, PT, R1, R2, !PT
        BAR.ID0 RZ
        MOV R3, 3
        IADD R4, PT, R1, R3, !PT
        IADD R4, PT, R1, R3, !PT
        EXIT
        ",
        2,
    );
    assert_eq!((usage.live_in, usage.live_out), (2 * 32 * 3, 2 * 32 * 2));
    assert_eq!(usage.instructions, 2 * 32 * 10);
}

#[test]
fn a_strand_ends_for_all_lanes_and_values_cross_it_in_those_that_read_them() {
    let usage = usage_of(
        "
        S2R.TID.X R0
        ISETP.LT.AND P0, R0, 16, PT
        MOV R1, 1
        @P0 NOP {strand_end}
        @P0 IADD R2, PT, R1, 1, !PT
        EXIT
        ",
        1,
    );
    assert_eq!((usage.live_in, usage.live_out), (16, 16));
    assert_eq!(usage.instructions, 4 * 32 + 2 * 16);
}
