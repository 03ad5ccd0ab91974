//! The thesis's worked examples, rebuilt from its descriptions. A strand begins before each.

use super::*;

fn without(options: HierarchyOptions, change: impl Fn(&mut HierarchyOptions)) -> HierarchyOptions {
    let mut options = options;
    change(&mut options);
    options
}

/// R4 is produced, read twice, and then not read until much later; meanwhile other values need the entry.
const FIGURE_6_7_A: &str = "
    NOP {strand_end}
    IADD R4, PT, R0, 1, !PT
    IADD R5, PT, R4, 1, !PT
    IADD R6, PT, R4, 2, !PT
    MOV R7, 5
    IADD R8, PT, R7, 3, !PT
    MOV R9, 6
    IADD R10, PT, R9, 4, !PT
    ST.GLOBAL.B32 [R2], R4
    EXIT
";

#[test]
fn figure_6_7_a_a_range_that_is_cut_short() {
    let cut = ["d=MRF+ORF0", "a=ORF0", "a=ORF0", "d=ORF0", "a=ORF0", "d=ORF0", "a=ORF0", "", ""];
    expect(FIGURE_6_7_A, &orf(1), &cut);
    let whole = ["", "", "", "d=ORF0", "a=ORF0", "d=ORF0", "a=ORF0", "", ""];
    expect(FIGURE_6_7_A, &without(orf(1), |options| options.partial_ranges = false), &whole);
    // With two entries there is room.
    let room = ["d=ORF1", "a=ORF1", "a=ORF1", "d=ORF0", "a=ORF0", "d=ORF0", "a=ORF0", "c=ORF1", ""];
    expect(FIGURE_6_7_A, &orf(2), &room);
}

#[test]
fn figure_6_7_b_a_value_that_is_read_only() {
    let text = "
        NOP {strand_end}
        IADD R4, PT, R0, 1, !PT
        IADD R5, PT, R0, 2, !PT
        IADD R6, PT, R0, 3, !PT
        ST.GLOBAL.B32 [R2], RZ
        EXIT
    ";
    expect(text, &orf(1), &["a=MRF>ORF0", "a=ORF0", "a=ORF0", "", ""]);
    expect(text, &without(orf(1), |options| options.read_operands = false), &["", "", "", "", ""]);
}

#[test]
fn figure_6_9_a_a_value_of_one_side() {
    let text = "
        NOP {strand_end}
        @P0 BRA bb8, join bb9
        IADD R4, PT, R0, 1, !PT
        BRA bb9, join none
        bb8:
        NOP
        bb9:
        IADD R5, PT, R4, 1, !PT
        EXIT
    ";
    expect(text, &orf(3), &["", "", "", "", "", ""]);
}

#[test]
fn figure_6_9_b_a_value_that_its_own_side_reads_too() {
    let text = "
        NOP {strand_end}
        @P0 BRA bb8, join bb9
        IADD R4, PT, R0, 1, !PT
        IADD R6, PT, R4, 1, !PT
        BRA bb9, join none
        bb8:
        NOP
        bb9:
        IADD R5, PT, R4, 1, !PT
        EXIT
    ";
    expect(text, &orf(3), &["", "d=MRF+ORF0", "a=ORF0", "", "", "", ""]);
}

#[test]
fn figure_6_9_c_a_value_of_both_sides() {
    let text = "
        NOP {strand_end}
        @P0 BRA bb8, join bb9
        IADD R4, PT, R0, 1, !PT
        BRA bb9, join none
        bb8:
        IADD R4, PT, R0, 2, !PT
        bb9:
        IADD R5, PT, R4, 1, !PT
        EXIT
    ";
    expect(text, &orf(3), &["", "d=ORF0", "", "d=ORF0", "a=ORF0", ""]);
    let within_blocks = without(orf(3), |options| options.forward_branches = false);
    expect(text, &within_blocks, &["", "", "", "", "", ""]);
}

#[test]
fn a_guarded_write_and_what_it_leaves() {
    let text = "
        NOP {strand_end}
        IADD R4, PT, R0, 1, !PT
        @P0 IADD R4, PT, R0, 2, !PT
        IADD R5, PT, R4, 1, !PT
        EXIT
    ";
    let options = without(orf(3), |options| options.read_operands = false);
    expect(text, &options, &["d=ORF0", "d=ORF0", "a=ORF0", ""]);
    // The lanes that the guard disables keep a value of another strand.
    let text = "
        NOP {strand_end}
        @P0 IADD R4, PT, R0, 2, !PT
        IADD R5, PT, R4, 1, !PT
        EXIT
    ";
    expect(text, &options, &["", "", ""]);
}

#[test]
fn last_results_come_first() {
    let text = "
        NOP {strand_end}
        IADD R4, PT, R0, 1, !PT
        IADD R5, PT, R4, 1, !PT
        IADD R6, PT, R4, R5, !PT
        FFMA R7, R6, R6, R4
        ST.GLOBAL.B32 [R2], R7
        EXIT
    ";
    // R5 saves most for each slot, as it is read at once and then dead; R6 follows. R4 finds the single entry taken.
    // The memory unit, which is shared, reads R7.
    let unified = with_lrf(2, LastResultFile::Unified);
    expect(
        text,
        &unified,
        &["d=ORF0", "a=ORF0 d=LRF0", "a=ORF0 b=LRF0 d=LRF0", "a=LRF0 b=LRF0 c=ORF0 d=ORF0", "c=ORF0", ""],
    );
    // R4 is read in slots a and c, R6 in a and b.
    let split = with_lrf(2, LastResultFile::Split);
    expect(
        text,
        &split,
        &["d=ORF1", "a=ORF1 d=LRF1", "a=ORF1 b=LRF1 d=ORF0", "a=ORF0 b=ORF0 c=ORF1 d=ORF0", "c=ORF0", ""],
    );
}

#[test]
fn short_results_of_shared_units_go_to_the_orf_and_long_ones_nowhere() {
    let text = "
        NOP {strand_end}
        LDC.B32 R4, [RZ]
        MUFU.RCP R5, R4
        IADD R6, PT, R5, 1, !PT
        LD.GLOBAL.B32 R7, [R2]
        IADD R8, PT, R7, R6, !PT
        EXIT
    ";
    let options = with_lrf(3, LastResultFile::Unified);
    expect(text, &options, &["d=ORF0", "a=ORF0 d=ORF0", "a=ORF0", "strand_end", "", ""]);
}

#[test]
fn encodings_with_fewer_pairs_of_levels() {
    // R4 is needed after the strand, R5 is not.
    let text = "
        NOP {strand_end}
        IADD R4, PT, R0, 1, !PT
        IADD R5, PT, R4, 1, !PT
        IADD R6, PT, R5, 1, !PT
        NOP {strand_end}
        ST.GLOBAL.B32 [R2], R4
        EXIT
    ";
    let encoded = |options: HierarchyOptions, encoding| HierarchyOptions { encoding, ..options };
    let expect = |options, want: [&str; 3]| expect(text, &options, &[want[0], want[1], want[2], "strand_end", "", ""]);
    expect(orf(3), ["d=MRF+ORF0", "a=ORF0 d=ORF0", "a=ORF0"]);
    expect(encoded(orf(3), Encoding::SingleLevel), ["", "d=ORF0", "a=ORF0"]);
    expect(encoded(orf(3), Encoding::LrfMrfOnly), ["", "d=ORF0", "a=ORF0"]);
    let lrf = with_lrf(3, LastResultFile::Unified);
    expect(encoded(lrf, Encoding::LrfMrfOnly), ["d=MRF+LRF0", "a=LRF0 d=LRF0", "a=LRF0"]);
    expect(encoded(lrf, Encoding::SingleLevel), ["", "d=LRF0", "a=LRF0"]);
}

#[test]
fn a_large_orf_is_dear() {
    // Eight entries: a read of a shared unit saves 9.2 pJ, and a write costs 12.4.
    let text = "
        NOP {strand_end}
        IADD R4, PT, R0, 1, !PT
        ST.GLOBAL.B32 [R2], R4
        NOP {strand_end}
        ST.GLOBAL.B32 [R2], R4
        EXIT
    ";
    expect(text, &orf(3), &["d=MRF+ORF0", "c=ORF0", "strand_end", "", ""]);
    expect(text, &orf(8), &["", "", "strand_end", "", ""]);
    expect(text, &without(orf(8), |options| options.priced_as = 3), &["d=MRF+ORF0", "c=ORF0", "strand_end", "", ""]);
}
