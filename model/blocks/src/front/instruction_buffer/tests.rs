use std::collections::VecDeque;

use super::*;
use crate::Ports;
use crate::testing::{Driver, Random, SM_SHAPES, compare};

fn buffer() -> Driver<InstructionBuffer> {
    Driver::new(&SM_SHAPES[0])
}

/// An instruction is offered, all of whose fields are different.
fn push(buffer: &mut Driver<InstructionBuffer>, warp: u8, number: u32) {
    push_from(buffer, 0, warp, number);
}

/// The same, by this fetch path.
fn push_from(buffer: &mut Driver<InstructionBuffer>, p: usize, warp: u8, number: u32) {
    let (inputs, instruction) = (&mut buffer.inputs, instruction(number));
    inputs.push_valid_i |= 1 << p;
    (inputs.push_warp_i[p], inputs.push_pc_i[p]) = (warp, instruction.pc);
    (inputs.push_op_i[p], inputs.push_ctl_i[p]) = (instruction.op, instruction.ctl);
    inputs.push_roles_i[p] = instruction.roles.0;
}

fn instruction(number: u32) -> Decoded {
    let number = u64::from(number);
    Decoded { op: u64::MAX - number, ctl: 1 << 40 | number, roles: Roles(1 << 51 | number << 8), pc: number as u32 }
}

/// One cycle, after which nothing is pushed or popped; the head of a warp.
fn head(buffer: &mut Driver<InstructionBuffer>, warp: usize) -> Option<Decoded> {
    let out = buffer.cycle();
    (buffer.inputs.push_valid_i, buffer.inputs.pop_i) = (0, 0);
    let (op, ctl) = (out.head_op_o[warp], out.head_ctl_o[warp]);
    let head = Decoded { op, ctl, roles: Roles(out.head_roles_o[warp]), pc: out.head_pc_o[warp] };
    (out.head_valid_o >> warp & 1 == 1).then_some(head)
}

#[test]
fn two_instructions_leave_in_the_order_in_which_they_came() {
    let mut buffer = buffer();
    push(&mut buffer, 31, 1);
    assert_eq!(head(&mut buffer, 31), None);
    push(&mut buffer, 31, 2);
    assert_eq!(head(&mut buffer, 31), Some(instruction(1)));
    let out = buffer.cycle();
    assert_eq!((out.head_valid_o, out.room_o), (1 << 31, (1 << 31) - 1));
    buffer.inputs.pop_i = 1 << 31;
    assert_eq!(head(&mut buffer, 31), Some(instruction(1)));
    assert_eq!(head(&mut buffer, 31), Some(instruction(2)));
    assert_eq!(buffer.cycle().room_o, (1 << 32) - 1);
    buffer.inputs.pop_i = 1 << 31;
    assert_eq!(head(&mut buffer, 31), Some(instruction(2)));
    assert_eq!(head(&mut buffer, 31), None);
}

#[test]
fn a_push_into_a_full_buffer_takes_the_place_of_the_head_that_leaves() {
    let mut buffer = buffer();
    for number in 1..3 {
        push(&mut buffer, 4, number);
        head(&mut buffer, 4);
    }
    push(&mut buffer, 4, 3);
    buffer.inputs.pop_i = 1 << 4;
    assert_eq!(head(&mut buffer, 4), Some(instruction(1)));
    assert_eq!((head(&mut buffer, 4), buffer.probe().count_q[4]), (Some(instruction(2)), 2));
    buffer.inputs.pop_i = 1 << 4;
    head(&mut buffer, 4);
    assert_eq!(head(&mut buffer, 4), Some(instruction(3)));
}

#[test]
fn a_push_and_a_pop_of_the_only_instruction_leave_one() {
    let mut buffer = buffer();
    push(&mut buffer, 9, 1);
    head(&mut buffer, 9);
    push(&mut buffer, 9, 2);
    buffer.inputs.pop_i = 1 << 9;
    assert_eq!(head(&mut buffer, 9), Some(instruction(1)));
    assert_eq!((head(&mut buffer, 9), buffer.probe().count_q[9]), (Some(instruction(2)), 1));
}

#[test]
fn warps_do_not_concern_each_other() {
    let mut buffer = buffer();
    for warp in 0..32 {
        push(&mut buffer, warp, u32::from(warp) + 100);
        head(&mut buffer, 0);
    }
    buffer.inputs.pop_i = 0x5555_5555;
    buffer.cycle();
    buffer.inputs.pop_i = 0;
    assert_eq!(buffer.cycle().head_valid_o, 0xaaaa_aaaa);
    assert_eq!(head(&mut buffer, 17), Some(instruction(117)));
}

#[test]
fn reset_empties_it_and_payloads_are_written_all_the_same() {
    let mut buffer = buffer();
    push(&mut buffer, 2, 1);
    head(&mut buffer, 2);
    push(&mut buffer, 2, 5);
    buffer.inputs.rst_ni = 0;
    head(&mut buffer, 2);
    buffer.inputs.rst_ni = 1;
    assert_eq!(head(&mut buffer, 2), None);
    assert_eq!((buffer.probe().count_q[2], buffer.probe().first_q), (0, 0));
    assert_eq!(buffer.block.memories()[0].words[4..6], [1, 5], "into the place behind the one that was there");
    // A warp that does not exist, as it may come until reset has been clocked in.
    push(&mut buffer, 32 + 5, 9);
    buffer.inputs.rst_ni = 0;
    buffer.cycle();
    assert_eq!(buffer.block.memories()[0].words[10], 9, "warp 5");
    let mut buffer = Driver::<InstructionBuffer>::new(&SmShape { warps: 48, ..SM_SHAPES[0] });
    push(&mut buffer, 48, 9);
    buffer.inputs.rst_ni = 0;
    buffer.cycle();
    assert!(buffer.block.memories()[0].words.iter().all(|&word| word == 0), "there is no place");
}

#[test]
fn both_paths_push_in_one_cycle() {
    let mut buffer = Driver::<InstructionBuffer>::new(&SM_SHAPES[1]);
    push_from(&mut buffer, 0, 4, 1);
    push_from(&mut buffer, 1, 7, 2);
    head(&mut buffer, 0);
    push_from(&mut buffer, 1, 5, 3);
    assert_eq!((head(&mut buffer, 4), buffer.probe().count_q[7]), (Some(instruction(1)), 1));
    assert_eq!((head(&mut buffer, 7), head(&mut buffer, 5)), (Some(instruction(2)), Some(instruction(3))));
    // In reset a warp need not be the path's own: where both write one place, the higher one's stays.
    buffer.inputs.rst_ni = 0;
    push_from(&mut buffer, 0, 2, 4);
    push_from(&mut buffer, 1, 8 + 2, 5);
    head(&mut buffer, 0);
    assert_eq!(buffer.block.memories()[0].words[4], 5);
}

#[test]
fn memories_hold_what_the_registers_hold() {
    let mut buffer = buffer();
    push(&mut buffer, 1, 7);
    buffer.cycle();
    let memories: Vec<_> = buffer.block.memories().iter().map(|m| (m.path.clone(), m.bits, m.len())).collect();
    let expected = [("pc_q", 20), ("op_q", 64), ("ctl_q", 64), ("roles_q", 53)];
    assert_eq!(memories, expected.map(|(path, bits)| (path.to_owned(), bits, 64)));
    assert_eq!(buffer.block.memories()[1].words[4..6], [u32::MAX - 7, u32::MAX]);
}

/// A queue for each warp.
#[test]
fn it_is_a_queue_for_each_warp() {
    for shape in SM_SHAPES {
        let mut queues = vec![VecDeque::new(); shape.warps];
        let mut first = 0;
        // The driver may push where there is room or a pop, and pop where there is something.
        let mut shadow = InstructionBuffer::new(&shape);
        let drive = |random: &mut Random, inputs: &mut InstructionBufferIn| {
            inputs.rst_ni = (!random.chance(1)).into();
            inputs.pop_i &= shadow.head_valid() & (random.next() | random.next());
            for p in 0..shape.ports() {
                let warp = random.below(shape.warps / shape.ports()) * shape.ports() + p;
                inputs.push_warp_i[p] = warp as u8;
                inputs.push_valid_i &= !(u8::from(!is_set(shadow.room() | inputs.pop_i, warp)) << p);
            }
            shadow.clock(inputs, &InstructionBufferOut::zeroed());
        };
        let reference = |inputs: &InstructionBufferIn| {
            let (mut out, mut probe) = (InstructionBufferOut::zeroed(), InstructionBufferProbe::zeroed());
            probe.first_q = first;
            for (w, queue) in queues.iter_mut().enumerate() {
                probe.count_q[w] = queue.len() as u8;
                out.room_o |= u64::from(queue.len() < 2) << w;
                out.head_valid_o |= u64::from(!queue.is_empty()) << w;
                if let Some(&(op, ctl, roles, pc)) = queue.front() {
                    (out.head_op_o[w], out.head_ctl_o[w], out.head_roles_o[w], out.head_pc_o[w]) = (op, ctl, roles, pc);
                }
                if inputs.pop_i >> w & 1 == 1 {
                    queue.pop_front();
                    first ^= 1 << w;
                }
                let p = w % shape.ports();
                if inputs.push_valid_i >> p & 1 == 1 && usize::from(inputs.push_warp_i[p]) == w {
                    let (op, ctl) = (inputs.push_op_i[p], inputs.push_ctl_i[p]);
                    queue.push_back((op, ctl, inputs.push_roles_i[p], inputs.push_pc_i[p]));
                }
                if inputs.rst_ni == 0 {
                    queue.clear();
                }
            }
            if inputs.rst_ni == 0 {
                first = 0;
            }
            (out, probe)
        };
        compare::<InstructionBuffer>(&shape, 20_000, drive, reference);
    }
}
