//! The register file without conflicts, alone and beside the main register file.

use super::*;
use crate::designs::Organisation;
use crate::mrf::tests::counted;
use crate::mrf::{Mrf, MrfIn, MrfOut, MrfShape, MrfSizes, phases};
use crate::testing::{Driver, Random, SHAPES, SM_SHAPES, bytes};
use crate::write::WriteWord;
use crate::{Block, OPERANDS, Ports, WarpData};

const TWO_PORTS: MrfShape = MrfShape { issue_ports: 2, ..MrfShape::BASELINE };

#[test]
fn early_outputs_depend_on_state_alone() {
    macro_rules! check_each {
        ($folder:ident: $($module:ident $block:ident $summary:literal,)+) => { $(phases::check::<$block>(&SHAPES);)+ };
    }
    mrf_ideal_blocks!(check_each);
}

#[test]
fn three_operands_of_one_bank_are_there_after_three_cycles() {
    let mut file = Driver::<MrfIdeal>::new(&MrfShape::BASELINE);
    file.preload(0..64);
    file.inputs.dispatch_ready_i = 1;
    file.issue(0, 0, [Some(1), Some(17), Some(33)]);
    file.step();
    let out = file.step();
    assert_eq!((counted(&out, "read"), counted(&out, "read_groups"), counted(&out, "conflict_intra")), (3, 24, 0));
    assert_eq!(file.step().dispatch_valid_o, 0);
    let out = file.step();
    assert_eq!((out.dispatch_valid_o, out.dispatch_src_valid_o), (1, 0b111));
    assert_eq!([0, 1, 2].map(|s| out.dispatch_data_o[s].0[31]), [1, 17, 33]);
}

#[test]
fn one_register_in_three_sources_is_read_once() {
    let mut file = Driver::<MrfIdeal>::new(&MrfShape::BASELINE);
    file.preload(0..8);
    file.issue(0, 0, [Some(5), Some(5), Some(5)]);
    file.step();
    assert_eq!(counted(&file.step(), "read"), 1);
    file.step();
    assert_eq!([0, 1, 2].map(|s| file.cycle().dispatch_data_o[s].0[0]), [5, 5, 5]);
}

#[test]
fn a_read_has_the_value_before_a_write_at_the_same_edge() {
    let mut file = Driver::<MrfIdeal>::new(&MrfShape::BASELINE);
    file.preload(0..8);
    file.issue(0, 0, [Some(5), None, None]);
    file.write(0, 0, 5, 99);
    file.step();
    let out = file.step();
    assert_eq!((counted(&out, "read"), counted(&out, "write"), counted(&out, "write_held")), (1, 1, 0));
    file.issue(0, 1, [None; OPERANDS]);
    file.step();
    assert_eq!(file.step().dispatch_data_o[0].0, [5; 32]);
    assert_eq!(file.block.memories()[0].words[5 * 32], 99);
}

#[test]
fn two_results_of_one_bank_are_written_at_once_and_of_one_word_bus_1_stays() {
    let mut file = Driver::<MrfIdeal>::new(&TWO_PORTS);
    file.write(0, 0, 1, 10);
    file.write(1, 0, 17, 20);
    file.step();
    let out = file.step();
    assert_eq!((out.write_done_o, counted(&out, "write"), counted(&out, "write_groups")), (0b11, 2, 16));
    file.write(0, 0, 1, 11);
    file.write(1, 0, 1, 21);
    file.inputs.write_i[1].change(|write| write.mask = 0xffff_0000);
    file.step();
    file.step();
    let memories = file.block.memories();
    assert_eq!([32, 63, 17 * 32].map(|lane| memories[0].words[lane]), [11, 21, 20]);
}

/// Where no two accesses of the main register file meet, the two files do the same in every cycle.
#[test]
fn without_conflicts_it_is_the_main_register_file() {
    let shape = MrfShape { banks: 32, depth: 32, dual_port: true, ..MrfShape::BASELINE };
    let (mut ideal, mut mrf) = (Driver::<MrfIdeal>::new(&shape), Driver::<Mrf>::new(&shape));
    let mut random = Random(7);
    let mut taken = 0;
    for _ in 0..5_000 {
        let (mut inputs, ready) = (MrfIn::zeroed(), random.next() & 3 != 0);
        (inputs.rst_ni, inputs.dispatch_ready_i) = (1, ready.into());
        // One operand an instruction: no two of them are ever requested together. Results go to other registers.
        (inputs.issue_valid_i, inputs.issue_src_valid_i) = (random.next() as u8 & 1, 1 << (random.next() % 3));
        (inputs.issue_warp_i[0], inputs.issue_mask_i[0]) = (random.next() as u8 % 8, random.next() as u32);
        inputs.issue_src_reg_i = [random.next() as u8 % 16; OPERANDS * 2];
        let (valid, warp) = (random.next() as u8 & 1, random.next() as u8 % 8);
        let write = WriteWord::new(warp, random.next() as u8 | 0x80, random.next() as u32);
        (inputs.write_valid_i, inputs.write_i[0]) = (valid, write);
        inputs.write_data_i[0] = WarpData(std::array::from_fn(|_| random.next() as u32));
        (ideal.inputs, mrf.inputs) = (inputs, inputs);
        let (a, b) = (ideal.cycle(), mrf.cycle());
        for field in MrfOut::fields(&shape) {
            let (a, b) = (field.bytes(bytes(&a), 0), field.bytes(bytes(&b), 0));
            assert!(a == b || field.name == "dispatch_data_o", "{}", field.name);
        }
        if a.dispatch_valid_o != 0 {
            let s = a.dispatch_src_valid_o.trailing_zeros() as usize;
            assert_eq!(a.dispatch_data_o[s].0, b.dispatch_data_o[s].0);
            taken += usize::from(ready);
        }
    }
    assert!(taken > 1_000, "{taken}");
}

#[test]
fn it_is_a_design_of_the_operand_stage() {
    let shape = SM_SHAPES[0];
    let shape = crate::shape::SmShape { organisation: Organisation::MrfIdeal(MrfSizes { places: false }), ..shape };
    assert_eq!((shape.organisation.number(), shape.organisation.design().name), (5, MrfIdeal::NAME));
    phases::check::<crate::operands::OperandStage>(&[shape]);
}
