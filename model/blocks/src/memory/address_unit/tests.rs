use std::cell::RefCell;

use super::*;
use crate::Ports;
use crate::instruction::{InstructionFields, PROBE, RELSSP, Roles, RolesFields, unit};
use crate::testing::{Driver, Random, SM_SHAPES, compare};

/// Opcode of a shuffle.
const SHFL: u8 = 0x13;

/// Modifiers in their places in the two words.
fn words(i: &mut Instruction, opcode: u8, m: u32, offset: i32) {
    let op = u64::from(opcode) | u64::from(m & 15) << 28 | u64::from(offset.cast_unsigned() & 0xff_ffff) << 40;
    i.change(|i| (i.op, i.ctl) = (op, u64::from(m >> 4) << 8));
}

/// Roles that say: register d, predicate p.
fn roles(d: u8, p: u8, b_constant: bool) -> Roles {
    RolesFields { d, p, b_constant: b_constant.into(), unit: unit::MEMORY, ..RolesFields::default() }.into()
}

/// Modifiers of a load of a word.
const LOAD_WORD: u32 = 4 << 2;

/// A unit that is offered an instruction with these addresses in all lanes.
fn offered(opcode: u8, m: u32, address: impl Fn(usize) -> u64) -> Driver<AddressUnit> {
    let mut unit = Driver::<AddressUnit>::new(&SM_SHAPES[0]);
    let inputs = &mut unit.inputs;
    (inputs.shared_bytes_i, inputs.local_words_i, inputs.place_base_i) = (4096, 16, 0x1000);
    (inputs.in_valid_i, inputs.in_mask_i[0], inputs.in_warp_i[0]) = (1, u32::MAX, 5);
    words(&mut inputs.in_instruction_i[0], opcode, m, 0);
    inputs.in_instruction_i[0].change(|i| i.roles = roles(9, NO_PRED, false));
    inputs.in_src_valid_i = 0b111;
    inputs.in_data_i[0] = WarpData(std::array::from_fn(|lane| address(lane) as u32));
    inputs.in_data_i[1] = WarpData(std::array::from_fn(|lane| (address(lane) >> 32) as u32));
    inputs.in_data_i[2] = WarpData(std::array::from_fn(|lane| 100 + lane as u32));
    unit
}

/// The same after it was taken.
fn holding(opcode: u8, m: u32, address: impl Fn(usize) -> u64) -> Driver<AddressUnit> {
    let mut unit = offered(opcode, m, address);
    assert_eq!(unit.cycle().in_ready_o, 1);
    unit.inputs.in_valid_i = 0;
    unit
}

/// The cause and value of an instruction's fault.
fn fault(opcode: u8, m: u32, address: impl Fn(usize) -> u64) -> Option<(u8, u32)> {
    let mut unit = holding(opcode, m, address);
    let out = unit.cycle();
    assert_ne!(out.busy_o, out.fault_valid_o, "held or at fault");
    assert_eq!(unit.cycle().fault_valid_o, 0, "for one cycle");
    (out.fault_valid_o == 1).then_some((out.fault_cause_o, out.fault_value_o))
}

#[test]
fn lanes_are_offered_space_by_space_from_the_lowest_lane_left_on() {
    let generic = 3 | LOAD_WORD;
    let mut unit = holding(operation::LD, generic, |lane| [1, 0, 2, 3][lane % 4] << 32 | 4);
    let out = unit.cycle();
    assert_eq!((out.shared_valid_o, out.lanes_o, out.busy_o, out.in_ready_o), (1, 0x1111_1111, 1, 0));
    assert_eq!((out.addr_o.0[0], out.addr_o.0[1], out.addr_o.0[2]), (0x1004, 4, 4), "only shared addresses are based");
    unit.inputs.shared_served_i = 0x1111_1110;
    unit.cycle();
    unit.inputs.shared_served_i = 0;
    // What was left of the first space comes before the second one.
    let out = unit.cycle();
    assert_eq!((out.shared_valid_o, out.lanes_o, out.last_o), (1, 1, 0));
    unit.inputs.shared_served_i = 1;
    unit.cycle();
    unit.inputs.shared_served_i = 0;
    parts_are_written(&mut unit, 2);
    unit.inputs.global_served_i = 0x2222_2222;
    let out = unit.cycle();
    assert_eq!((out.global_valid_o, out.local_o, out.shared_valid_o, out.lanes_o), (1, 0, 0, 0x2222_2222));
    parts_are_written(&mut unit, 1);
    unit.inputs.global_served_i = 0x4444_4444;
    let out = unit.cycle();
    assert_eq!((out.global_valid_o, out.local_o, out.lanes_o), (1, 1, 0x4444_4444));
    parts_are_written(&mut unit, 1);
    unit.inputs.constant_served_i = 0x8888_8888;
    let out = unit.cycle();
    assert_eq!((out.constant_valid_o, out.lanes_o, out.last_o, out.in_ready_o), (1, 0x8888_8888, 1, 1));
    assert_eq!((out.finish_valid_o, unit.cycle().busy_o), (0, 0), "a load has a result");
}

/// Parts of the held instruction of [`offered`] are written, one in a cycle; until the last one is, no lane is offered.
fn parts_are_written(unit: &mut Driver<AddressUnit>, parts: usize) {
    unit.inputs.written_i[0] = WrittenWord::new(5, 9);
    for left in (1..=parts).rev() {
        for done in [0, 1] {
            unit.inputs.write_done_i = done;
            let out = unit.cycle();
            let offered = out.global_valid_o | out.shared_valid_o | out.constant_valid_o | out.shuffle_valid_o;
            assert_eq!((out.busy_o, offered, unit.probe().parts_q), (1, 0, left as u8));
        }
    }
    unit.inputs.write_done_i = 0;
}

/// A load whose lane 0 is in shared memory and has been served, the others in global memory; register and warp as in [`offered`].
fn half_performed(register: u8) -> Driver<AddressUnit> {
    let mut unit = offered(operation::LD, 3 | LOAD_WORD, |lane| u64::from(lane == 0) << 32 | 4);
    unit.inputs.in_instruction_i[0].change(|i| i.roles = roles(register, NO_PRED, false));
    unit.cycle();
    unit.inputs.in_valid_i = 0;
    unit.inputs.shared_served_i = 1;
    assert_eq!(unit.cycle().shared_valid_o, 1);
    unit.inputs.shared_served_i = 0;
    unit
}

#[test]
fn other_results_are_no_parts() {
    for (warp, register) in [(5, 8), (4, 9), (4, 8)] {
        let mut unit = half_performed(9);
        (unit.inputs.write_done_i, unit.inputs.written_i[0]) = (1, WrittenWord::new(warp, register));
        unit.cycle();
        unit.inputs.write_done_i = 0;
        assert_eq!(unit.cycle().global_valid_o, 0);
        parts_are_written(&mut unit, 1);
        assert_eq!(unit.cycle().global_valid_o, 1);
    }
}

#[test]
fn without_a_register_nothing_waits() {
    assert_eq!(half_performed(NO_REG).cycle().global_valid_o, 1);
}

#[test]
fn the_next_instruction_has_no_parts_yet() {
    // Of a load in shared memory the only part is not written when the next one comes, which is in global memory.
    let mut unit = holding(operation::LD, 1 | LOAD_WORD, |_| 4);
    unit.inputs.shared_served_i = u32::MAX;
    let next = offered(operation::LD, LOAD_WORD, |_| 4).inputs;
    (unit.inputs.in_valid_i, unit.inputs.in_instruction_i, unit.inputs.in_data_i) =
        (1, next.in_instruction_i, next.in_data_i);
    assert_eq!(unit.cycle().in_ready_o, 1);
    unit.inputs.in_valid_i = 0;
    assert_eq!(unit.cycle().global_valid_o, 1);
}

#[test]
fn the_coalescer_s_first_pass_is_known() {
    let mut unit = half_performed(NO_REG);
    unit.inputs.global_served_i = 2;
    assert_eq!((unit.cycle().line_first_o, unit.cycle().line_first_o), (1, 0));
}

#[test]
fn the_next_instruction_comes_with_the_last_pass() {
    let mut unit = offered(operation::ST, 1 | 2 << 2, |lane| 4 * lane as u64);
    unit.cycle();
    unit.inputs.in_warp_i[0] = 6;
    let out = unit.cycle();
    assert_eq!((out.in_ready_o, out.warp_o, out.place_warp_o), (0, 5, 6));
    assert_eq!((out.kind_o, out.size_o, out.reg_valid_o, out.store_o.0[3]), (kind::STORE, WORD, 1, 103));
    unit.inputs.shared_served_i = u32::MAX;
    let out = unit.cycle();
    assert_eq!((out.last_o, out.finish_valid_o, out.finish_warp_o, out.in_ready_o), (1, 1, 5, 1));
    unit.inputs.in_valid_i = 0;
    let out = unit.cycle();
    assert_eq!((out.busy_o, out.warp_o, out.lanes_o), (1, 6, u32::MAX));
    let out = unit.cycle();
    assert_eq!((out.busy_o, out.last_o, out.reg_valid_o, out.in_ready_o), (0, 0, 0, 1));
}

#[test]
fn an_atomic_operation_without_register_finishes_like_a_store() {
    for (register, finishes) in [(9, 0), (NO_REG, 1)] {
        let mut unit = offered(operation::ATOM, 0, |_| 64);
        unit.inputs.in_instruction_i[0].change(|i| i.roles = roles(register, NO_PRED, false));
        unit.cycle();
        unit.inputs.in_valid_i = 0;
        unit.inputs.global_served_i = u32::MAX;
        assert_eq!(unit.cycle().finish_valid_o, finishes);
    }
}

#[test]
fn addresses_have_64_bits_where_there_is_an_upper_word() {
    for (a, upper, offset, expected) in [
        (0xffff_fff0, 0, 0x20, (0x10, Server::Shared)),
        (0x10, 2, -0x20, (0xffff_fff0, Server::Shared)),
        (0x10, 0, 0x7f_fff0, (0x80_0000, Server::Global)),
        (0x20, 0, -0x20, (0, Server::Global)),
    ] {
        let mut unit = offered(operation::LD, 3 | LOAD_WORD, |_| upper << 32 | a);
        words(&mut unit.inputs.in_instruction_i[0], operation::LD, 3 | LOAD_WORD, offset);
        (unit.inputs.shared_bytes_i, unit.inputs.place_base_i) = (1 << 16, 0);
        unit.cycle();
        let out = unit.cycle();
        if expected == (0xffff_fff0, Server::Shared) {
            assert_eq!((out.fault_cause_o, out.fault_value_o), (cause::OUT_OF_BOUNDS, expected.0));
        } else {
            let shared = u8::from(expected.1 == Server::Shared);
            assert_eq!((out.shared_valid_o, out.global_valid_o, out.addr_o.0[7]), (shared, 1 - shared, expected.0));
        }
    }
    // Elsewhere the sum has 32 bits, and b is no part of it.
    let mut unit = offered(operation::CAS, 0, |_| 7 << 32 | 0xffff_fff0);
    words(&mut unit.inputs.in_instruction_i[0], operation::CAS, 0, 0x20);
    unit.cycle();
    let out = unit.cycle();
    assert_eq!((out.global_valid_o, out.addr_o.0[7], out.compare_o.0[7], out.atomic_o), (1, 0x10, 7, atomic::CAS));
}

#[test]
fn a_fault_is_that_of_the_lowest_lane_and_the_first_of_the_list() {
    let generic = 3 | LOAD_WORD;
    let store = 3 | 2 << 2;
    let at = |lane: usize, bad: u64, good: u64| move |l: usize| if l == lane { bad } else { good };
    assert_eq!(fault(operation::LD, generic, |_| 0x100), None);
    assert_eq!(fault(operation::LD, generic, at(7, 0x102, 0x100)), Some((cause::MISALIGNED, 0x102)));
    assert_eq!(fault(operation::LD, generic, at(7, 4 << 32, 0x100)), Some((cause::WIDE_ADDRESS, 0)));
    assert_eq!(
        fault(operation::LD, LOAD_WORD, at(7, 1 << 32, 0x100)),
        Some((cause::WIDE_ADDRESS, 0)),
        "global is not generic"
    );
    assert_eq!(fault(operation::ST, store, at(7, 3 << 32 | 2, 0x100)), Some((cause::CONSTANT_WRITTEN, 2)));
    assert_eq!(fault(operation::ATOM, 3, at(7, 3 << 32 | 2, 0x100)), Some((cause::CONSTANT_WRITTEN, 2)));
    assert_eq!(fault(operation::ATOM, 3, at(7, 2 << 32 | 2, 0x100)), Some((cause::LOCAL_ATOMIC, 2)));
    assert_eq!(fault(operation::ATOM, 2, |_| 4), Some((cause::LOCAL_ATOMIC, 4)));
    let float_add = u32::from(atomic::ADD_FLOAT) << 2;
    assert_eq!(fault(operation::ATOM, 1 | float_add, |_| 2), Some((cause::MISALIGNED, 2)));
    assert_eq!(fault(operation::ATOM, 1 | float_add, |_| 4), None);
    assert_eq!(fault(operation::ATOM, float_add, |_| 4), None);
    // Two lanes at fault: the lower one's cause and address.
    let mixed = |lane: usize| [0x100, 0x100, 4 << 32, 2][lane.min(3)];
    assert_eq!(fault(operation::LD, generic, mixed), Some((cause::WIDE_ADDRESS, 0)));
}

#[test]
fn the_last_byte_of_a_space_is_the_last_one() {
    for (opcode, m, end) in
        [(operation::LD, 1 | LOAD_WORD, 4096), (operation::ST, 1 | 2 << 2, 4096), (operation::LD, 2 | LOAD_WORD, 64)]
    {
        assert_eq!(fault(opcode, m, |_| end - 4), None);
        assert_eq!(fault(opcode, m, |_| end), Some((cause::OUT_OF_BOUNDS, end as u32)));
        assert_eq!(fault(opcode, m, |_| 0xffff_fffc), Some((cause::OUT_OF_BOUNDS, 0xffff_fffc)), "the end has 33 bits");
    }
    let constant_bytes = 4 * SM_SHAPES[0].const_words as u64;
    let constant = |address: u64| fault(operation::LD, 3 | LOAD_WORD, move |_| 3 << 32 | address);
    assert_eq!(constant(constant_bytes - 4), None);
    assert_eq!(constant(constant_bytes), Some((cause::OUT_OF_BOUNDS, constant_bytes as u32)));
    assert_eq!(fault(operation::LD, 1 | 1 << 2, |_| 4095), None, "a byte");
    assert_eq!(fault(operation::LD, 1 | 2 << 2, |_| 4094), None, "two bytes");
    assert_eq!(fault(operation::LD, 1 | 2 << 2, |_| 4093), Some((cause::MISALIGNED, 4093)));
    // The first part of a longer access.
    for (align, bytes) in [(1, 8), (2, 16)] {
        assert_eq!(fault(operation::LD, 1 | LOAD_WORD | align << 5, |_| bytes), None);
        assert_eq!(
            fault(operation::LD, 1 | LOAD_WORD | align << 5, |_| bytes / 2),
            Some((cause::MISALIGNED, bytes as u32 / 2))
        );
        assert_eq!(
            fault(operation::ST, 1 | 2 << 2 | align << 4, |_| bytes / 2),
            Some((cause::MISALIGNED, bytes as u32 / 2))
        );
    }
}

#[test]
fn lanes_outside_the_mask_have_no_fault_and_are_zero() {
    let mut unit = offered(operation::ST, 1 | 2 << 2, |lane| if lane < 2 { 8 } else { 3 });
    unit.inputs.in_mask_i[0] = 0b11;
    unit.cycle();
    let out = unit.cycle();
    assert_eq!((out.shared_valid_o, out.lanes_o, unit.probe().shared_q), (1, 0b11, 0b11));
    assert_eq!((out.addr_o.0[..3].to_vec(), out.store_o.0[..3].to_vec()), (vec![0x1008, 0x1008, 0], vec![100, 101, 0]));
}

#[test]
fn a_shuffle_keeps_the_values_of_all_lanes() {
    let mut unit = offered(SHFL, 0x123 << 3, |lane| lane as u64);
    unit.inputs.in_mask_i[0] = 0xf0;
    words(&mut unit.inputs.in_instruction_i[0], SHFL, 0x123 << 3, 0);
    unit.inputs.in_instruction_i[0].change(|i| i.op |= 3 << 32);
    unit.inputs.in_instruction_i[0].change(|i| i.roles = roles(1, 4, true));
    unit.inputs.in_src_valid_i = 0b001;
    unit.cycle();
    let out = unit.cycle();
    assert_eq!((out.shuffle_valid_o, out.lanes_o, out.modifiers_o), (1, 0xf0, 0x123 << 3));
    assert_eq!((out.pred_valid_o, out.pred_o, out.reg_o), (1, 4, 1));
    assert_eq!((out.addr_o.0[31], out.compare_o.0[4], out.compare_o.0[3], out.store_o.0[4]), (31, 3, 0, 0));
}

#[test]
fn reset_drops_instruction_and_fault() {
    let mut unit = holding(operation::LD, 1 | LOAD_WORD, |_| 2);
    unit.inputs.in_valid_i = 1;
    unit.inputs.rst_ni = 0;
    assert_eq!(unit.cycle().fault_valid_o, 1);
    unit.inputs.in_valid_i = 0;
    unit.inputs.rst_ni = 1;
    let out = unit.cycle();
    assert_eq!((out.busy_o, out.fault_valid_o), (0, 0));
}

/// A reference model from the page, lane by lane.
#[derive(Default)]
struct Reference {
    const_bytes: u64,
    out: Option<Box<AddressUnitOut>>,
    lanes: u32,
    shuffle: bool,
    /// Of each lane: 0 global, 1 shared, 2 local, 3 constant.
    space: [u8; LANES],
    /// Results of passes that are not written; the space of the last pass; the coalescer has performed one.
    unwritten: u8,
    last_space: u8,
    any_line: bool,
    fault: Option<(u8, u8, u32)>,
}

impl Reference {
    fn space_mask(&self, space: u8) -> u32 {
        (0..LANES).fold(0, |mask, lane| mask | u32::from(self.space[lane] == space) << lane)
    }

    /// Warp and register of which a result is expected.
    fn expected(&self) -> Option<(u8, u8)> {
        self.out.as_ref().filter(|_| self.unwritten > 0).map(|out| (out.warp_o, out.reg_o))
    }

    fn cycle(&mut self, i: &AddressUnitIn) -> (AddressUnitOut, AddressUnitProbe) {
        let mut out = self.out.as_deref().copied().unwrap_or(AddressUnitOut::zeroed());
        let mut probe = AddressUnitProbe::zeroed();
        let busy = self.out.is_some();
        out.busy_o = busy.into();
        let mut served = 0;
        if busy {
            let lowest = (0..LANES).find(|lane| self.lanes >> lane & 1 == 1).expect("a lane is left");
            let space = self.space[lowest];
            out.lanes_o = self.lanes & if self.shuffle { u32::MAX } else { self.space_mask(space) };
            let to = if self.shuffle { 3 } else { [0, 1, 0, 2][usize::from(space)] };
            let valids =
                [&mut out.global_valid_o, &mut out.shared_valid_o, &mut out.constant_valid_o, &mut out.shuffle_valid_o];
            if self.unwritten == 0 || space == self.last_space {
                *valids.into_iter().nth(to).unwrap() = 1;
                served = [i.global_served_i, i.shared_served_i, i.constant_served_i, i.shuffle_served_i][to];
            }
            out.local_o = (space == 2).into();
            out.line_first_o = (!self.any_line).into();
            (probe.parts_q, probe.space_q) = (self.unwritten, self.last_space);
            probe.line_first_q = out.line_first_o;
            if served != 0 {
                self.last_space = space;
                self.unwritten += out.reg_valid_o;
                self.any_line |= to == 0;
            }
            let ports = 0..MAX_PORTS;
            let part = |p: usize| i.written_i[p].register() == (out.warp_o, out.reg_o);
            self.unwritten -= ports.filter(|&p| i.write_done_i >> p & 1 == 1 && part(p)).count() as u8;
            (probe.lanes_q, probe.shuffle_q) = (self.lanes, self.shuffle.into());
            (probe.shared_q, probe.local_q, probe.constant_q) =
                (self.space_mask(1), self.space_mask(2), self.space_mask(3));
        }
        let last = busy && self.lanes & !served == 0;
        let silent = out.kind_o == 1 || out.kind_o == 2 && out.reg_valid_o == 0;
        (out.last_o, out.in_ready_o) = (last.into(), (!busy || last).into());
        (out.finish_valid_o, out.finish_warp_o) = ((last && silent).into(), out.warp_o);
        out.place_warp_o = i.in_warp_i[usize::from(i.in_port_i)];
        if let Some((warp, cause, value)) = self.fault {
            (out.fault_valid_o, out.fault_warp_o, out.fault_cause_o, out.fault_value_o) = (1, warp, cause, value);
        }

        self.lanes &= !served;
        self.fault = None;
        if last {
            self.out = None;
        }
        if i.in_valid_i == 1 && out.in_ready_o == 1 {
            self.take(i, usize::from(i.in_port_i));
        }
        if i.rst_ni == 0 {
            (self.out, self.fault) = (None, None);
        }
        (out, probe)
    }

    fn take(&mut self, i: &AddressUnitIn, p: usize) {
        let InstructionFields { op, ctl, roles, .. } = i.in_instruction_i[p].fields();
        let (roles, mask) = (roles.0, i.in_mask_i[p]);
        let m = ((ctl >> 8 & 0xfff) << 4 | op >> 28 & 15) as u32;
        let operand = |k: usize, lane: usize| match i.in_src_valid_i >> (3 * p + k) & 1 {
            1 => i.in_data_i[3 * p + k].0[lane],
            _ if k == 1 && roles >> 48 & 1 == 1 => (op >> 32) as u32,
            _ => 0,
        };
        let of_kind = |kind: u32| [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)][kind as usize];
        let (shuffle, space, kind, (size, signed), align, atomic) = match op as u8 & 0x7f {
            0x40 => (false, m & 3, 0, of_kind(m >> 2 & 7), m >> 5 & 3, 0),
            0x41 => (false, m & 3, 1, ((m >> 2 & 3) as u8, 0), m >> 4 & 3, 0),
            0x43 => (false, m & 3, 2, (2, 0), 0, m >> 2 & 15),
            0x44 => (false, u32::from(m & 3 == 1), 2, (2, 0), 0, 12),
            _ => (true, 0, 0, (0, 0), 0, 0),
        };
        let mut out = AddressUnitOut::zeroed();
        (out.warp_o, out.kind_o, out.size_o, out.signed_o) = (i.in_warp_i[p], kind, size, signed);
        (out.atomic_o, out.modifiers_o) = (atomic as u8, m as u16);
        out.reg_o = (roles >> 24) as u8;
        out.reg_valid_o = (out.reg_o != 255).into();
        out.pred_o = (roles >> 45) as u8 & 7;
        out.pred_valid_o = (out.pred_o != 7).into();
        (self.lanes, self.shuffle, self.space) = (mask, shuffle, [0; LANES]);
        (self.unwritten, self.last_space, self.any_line) = (0, 0, false);
        let offset = i64::from((op >> 32) as i32 >> 8);
        for lane in 0..LANES {
            let takes_part = mask >> lane & 1 == 1;
            if shuffle {
                out.addr_o.0[lane] = operand(0, lane);
            }
            if !takes_part {
                continue;
            }
            (out.compare_o.0[lane], out.store_o.0[lane]) = (operand(1, lane), operand(2, lane));
            if shuffle {
                continue;
            }
            let wide = op as u8 & 0x7f != 0x44 && matches!(space, 0 | 3);
            let a = u64::from(operand(0, lane));
            let sum = if wide {
                (u64::from(operand(1, lane)) << 32 | a).wrapping_add_signed(offset)
            } else {
                a.wrapping_add_signed(offset) & 0xffff_ffff
            };
            let (upper, address) = ((sum >> 32) as u32, sum as u32);
            let place = match (space, upper) {
                (1, _) | (3, 1) => 1,
                (2, _) | (3, 2) => 2,
                (3, 3) => 3,
                _ => 0,
            };
            self.space[lane] = place;
            out.addr_o.0[lane] = if place == 1 { address.wrapping_add(i.place_base_i) } else { address };
            let multiple = [1 << size, 8, 16, 1][align as usize];
            let end = [u64::MAX, i.shared_bytes_i.into(), 4 * u64::from(i.local_words_i), self.const_bytes];
            let cause = match () {
                () if place == 3 && kind != 0 => 7,
                () if place == 2 && kind == 2 => 8,
                () if address % multiple != 0 => 4,
                () if place == 0 && upper != 0 => 6,
                () if u64::from(address) + (1 << size) > end[usize::from(place)] => 5,
                () => continue,
            };
            self.fault = self.fault.or(Some((out.warp_o, cause, address)));
        }
        self.out = self.fault.is_none().then(|| Box::new(out));
    }
}

/// An instruction with addresses that are mostly fine, on port `p`.
fn instruction(random: &mut Random, i: &mut AddressUnitIn, p: usize) {
    let opcode = [operation::LD, operation::ST, operation::ATOM, operation::CAS, SHFL][random.below(5)];
    let generic = random.chance(40);
    let space = if generic { 3 } else { random.below(4) as u32 };
    let align = if random.chance(80) { 0 } else { random.below(3) as u32 };
    let m = match opcode {
        operation::LD => space | (random.below(5) as u32) << 2 | align << 5,
        operation::ST => space | (random.below(3) as u32) << 2 | align << 4,
        operation::ATOM => space | (random.below(12) as u32) << 2,
        operation::CAS => space,
        _ => random.below(1 << 16) as u32,
    };
    let offset = [0, 0x100, -0x100][random.below(3)];
    words(&mut i.in_instruction_i[p], opcode, m, offset);
    let roles = roles([random.below(256) as u8, NO_REG][random.below(2)], random.below(8) as u8, false);
    i.in_instruction_i[p].change(|i| i.roles = roles);
    i.in_src_valid_i &= !(0b111 << (3 * p));
    i.in_src_valid_i |= match opcode {
        SHFL if random.chance(50) => {
            i.in_instruction_i[p].change(|i| {
                i.op |= random.next() << 32;
                i.roles = RolesFields { b_constant: 1, ..i.roles.fields() }.into();
            });
            0b001
        }
        SHFL => 0b011,
        _ => 0b111,
    } << (3 * p);
    let (any_place, any_fault) = (random.chance(50), random.chance(20));
    let (place, wanted) = (random.below(4) as u64, random.below(32));
    for lane in 0..LANES {
        let window = if any_place { random.below(4) as u64 } else { place };
        let limit = [0x1_0000, i.shared_bytes_i, 4 * u32::from(i.local_words_i), 4096][window as usize].max(1);
        let mut target = window << 32 | (random.below(limit as usize) as u64 & !15);
        if any_fault && lane == wanted {
            target += [1, 2, 4, 1 << 17, 4 << 32][random.below(5)];
        }
        let base = target.wrapping_add_signed(-i64::from(offset));
        (i.in_data_i[3 * p].0[lane], i.in_data_i[3 * p + 1].0[lane]) = (base as u32, (base >> 32) as u32);
    }
}

#[test]
fn it_does_what_the_page_says_instruction_by_instruction() {
    for shape in SM_SHAPES {
        let reference = Reference { const_bytes: 4 * shape.const_words as u64, ..Reference::default() };
        let reference = RefCell::new(reference);
        let (mut held, mut faults, mut waits) = (0, 0, 0);
        compare::<AddressUnit>(
            &shape,
            20_000,
            |random, i| {
                i.rst_ni = (!random.chance(2)).into();
                i.in_port_i = random.below(shape.ports()) as u8;
                i.shared_bytes_i = random.below(4) as u32 * 1024;
                i.local_words_i = [0, 16, 1000][random.below(3)];
                for p in 0..shape.ports() {
                    instruction(random, i, p);
                    i.in_mask_i[p] = [1, u32::MAX, i.in_mask_i[p] | 2][random.below(3)];
                }
                for served in [&mut i.global_served_i, &mut i.shared_served_i, &mut i.constant_served_i] {
                    *served |= random.next() as u32;
                }
                // At most one part of what is held is written, and only if one is expected.
                let expected = reference.borrow().expected();
                i.write_done_i = 0;
                if let Some((warp, register)) = expected
                    && random.chance(50)
                {
                    let p = random.below(shape.ports());
                    i.write_done_i = 1 << p;
                    i.written_i[p] = WrittenWord::new([warp, warp ^ 1][random.below(2)], register);
                }
            },
            |i| {
                let (out, probe) = reference.borrow_mut().cycle(i);
                let offered = out.global_valid_o | out.shared_valid_o | out.constant_valid_o | out.shuffle_valid_o;
                waits += u32::from(out.busy_o & !offered);
                held += u32::from(out.busy_o);
                faults += u32::from(out.fault_valid_o);
                (out, probe)
            },
        );
        assert!(held > 5_000 && faults > 500 && waits > 100, "{held} {faults} {waits}");
    }
}

/// An SM whose blocks share scratchpad memory.
const SHARING: SmShape = SmShape { share: crate::shape::Shared::Scratchpad, ..SM_SHAPES[0] };

/// A unit of such an SM that is offered an instruction like [`offered`]; the first 256 bytes are private, and the host's memory begins at 0x400.
fn sharing(opcode: u8, m: u32, address: impl Fn(usize) -> u64) -> Driver<AddressUnit> {
    let plain = offered(opcode, m, address);
    let mut unit = Driver::<AddressUnit>::new(&SHARING);
    unit.inputs = plain.inputs;
    (unit.inputs.private_bytes_i, unit.inputs.place_common_i, unit.inputs.place_released_i) = (256, 0x400, 0);
    unit
}

#[test]
fn addresses_behind_the_private_bytes_are_in_the_host_s_memory() {
    let bases = |m: u32, window: u64| {
        let mut unit = sharing(operation::LD, m | LOAD_WORD, |lane| (window << 32) | (252 + 4 * (lane as u64 % 2)));
        unit.cycle();
        let out = unit.cycle();
        assert_eq!(out.fault_valid_o, 0);
        [out.addr_o.0[0], out.addr_o.0[1]]
    };
    assert_eq!(bases(1, 0), [0x10fc, 0x500]);
    assert_eq!(bases(3, 1), [0x10fc, 0x500]);
    assert_eq!(bases(3, 0), [0xfc, 0x100], "global memory");
    // Without sharing there is one base.
    let mut unit = Driver::<AddressUnit>::new(&SM_SHAPES[0]);
    unit.inputs = sharing(operation::LD, 1 | LOAD_WORD, |_| 256).inputs;
    (unit.inputs.place_released_i, unit.inputs.in_valid_i) = (1, 1);
    unit.cycle();
    let out = unit.cycle();
    assert_eq!((out.fault_valid_o, out.addr_o.0[0]), (0, 0x1100));
}

#[test]
fn a_released_common_area_is_a_fault_behind_all_others() {
    let fault = |address: fn(usize) -> u64, m: u32| {
        let mut unit = sharing(operation::LD, m | LOAD_WORD, address);
        unit.inputs.place_released_i = 1;
        unit.cycle();
        let out = unit.cycle();
        assert_ne!(out.busy_o, out.fault_valid_o);
        (out.fault_valid_o == 1).then_some((out.fault_cause_o, out.fault_value_o))
    };
    assert_eq!(fault(|_| 252, 1), None);
    assert_eq!(fault(|lane| if lane == 5 { 256 } else { 0 }, 1), Some((cause::RELEASED, 256)));
    assert_eq!(fault(|lane| if lane == 5 { 1 << 32 | 260 } else { 260 }, 3), Some((cause::RELEASED, 260)));
    assert_eq!(fault(|_| 260, 3), None, "global memory");
    assert_eq!(fault(|_| 258, 1), Some((cause::MISALIGNED, 258)));
    assert_eq!(fault(|_| 4096, 1), Some((cause::OUT_OF_BOUNDS, 4096)));
}

#[test]
fn probes_say_whether_a_lane_lies_in_the_common_area_and_perform_nothing() {
    // Lane 9 has this address, all others 0.
    let answer = |m: u32, mask: u32, address: u64| {
        let mut unit = sharing(PROBE, m, |lane| if lane == 9 { address } else { 0 });
        (unit.inputs.in_mask_i[0], unit.inputs.place_released_i) = (mask, 1);
        assert_eq!(unit.cycle().answer_valid_o, 0);
        unit.inputs.in_valid_i = 0;
        let out = unit.cycle();
        assert_eq!((out.answer_valid_o, out.answer_release_o, out.answer_mask_o, out.warp_o), (1, 0, mask, 5));
        assert_eq!((out.busy_o, out.fault_valid_o, out.in_ready_o), (0, 0, 1));
        assert_eq!((out.finish_valid_o, out.finish_warp_o), (1, 5), "it has no result");
        let after = unit.cycle();
        assert_eq!((after.answer_valid_o, after.finish_valid_o), (0, 0));
        out.answer_shared_o == 1
    };
    assert!(answer(1, u32::MAX, 256));
    assert!(!answer(1, !(1 << 9), 256), "a lane outside the mask");
    assert!(!answer(1, u32::MAX, 255));
    assert!(answer(1, u32::MAX, 4095));
    assert!(!answer(1, u32::MAX, 4096), "past the end: it will be at fault");
    assert!(answer(3, u32::MAX, 1 << 32 | 256));
    assert!(!answer(3, u32::MAX, 256), "global memory");
    assert!(!answer(3, u32::MAX, 2 << 32 | 256), "local memory");
    // Of a shared address b is no part.
    assert!(answer(1, u32::MAX, 2 << 32 | 256));
}

#[test]
fn releases_are_answered_with_their_lanes_in_any_sm() {
    for shape in [SM_SHAPES[0], SHARING] {
        let mut unit = Driver::<AddressUnit>::new(&shape);
        unit.inputs = offered(RELSSP, 0, |_| 256).inputs;
        (unit.inputs.in_mask_i[0], unit.inputs.place_released_i) = (0xf0f0, 1);
        unit.cycle();
        // The next one comes at once.
        (unit.inputs.in_warp_i[0], unit.inputs.in_mask_i[0]) = (6, 0xf);
        let out = unit.cycle();
        assert_eq!((out.answer_valid_o, out.answer_release_o, out.answer_shared_o), (1, 1, 0));
        assert_eq!((out.answer_mask_o, out.warp_o, out.finish_valid_o, out.finish_warp_o), (0xf0f0, 5, 1, 5));
        assert_eq!((out.busy_o, out.fault_valid_o), (0, 0));
        unit.inputs.rst_ni = 0;
        let out = unit.cycle();
        assert_eq!((out.answer_valid_o, out.answer_mask_o, out.warp_o), (1, 0xf, 6));
        assert_eq!(unit.cycle().answer_valid_o, 0, "reset");
    }
}

#[test]
fn a_fetch_goes_to_global_memory_with_its_operands() {
    let mut unit = offered(operation::TEX, 0x7f, |lane| 0x8000_0001 + lane as u64 + (7 << 32));
    let inputs = &mut unit.inputs;
    inputs.in_mask_i[0] = !2;
    words(&mut inputs.in_instruction_i[0], operation::TEX, 0x7f, 0x1_5554);
    unit.cycle();
    unit.inputs.in_valid_i = 0;
    let out = unit.cycle();
    assert_eq!((out.busy_o, out.fault_valid_o, out.global_valid_o, out.local_o), (1, 0, 1, 0), "no address: no fault");
    assert_eq!((out.kind_o, out.size_o, out.lanes_o), (3, 2, !2));
    assert_eq!(out.texture_o, 0x5555 << 10 | 0x7f);
    assert_eq!((out.addr_o.0[0], out.compare_o.0[0], out.store_o.0[0]), (0x8000_0001, 7, 100), "no offset");
    assert_eq!((out.addr_o.0[1], out.compare_o.0[1], out.store_o.0[1]), (0, 0, 0), "a lane outside");
    unit.inputs.global_served_i = !2;
    let out = unit.cycle();
    assert_eq!((out.last_o, out.finish_valid_o), (1, 0), "the answer ends it");
    // Other instructions say nothing of a texture.
    assert_eq!(holding(operation::LD, LOAD_WORD, |_| 0).cycle().texture_o, 0);
}
