use std::mem::offset_of;

use super::*;
use crate::instruction::InstructionFields;
use crate::mrf::Mrf;
use crate::mrf::MrfProbe;
use crate::testing::{Driver, SM_SHAPES, compare};

/// Four banks with two ports each, four collectors, two issue ports.
pub(crate) const SHAPE: SmShape = SM_SHAPES[1];

/// Roles with these sources, and all other bits set.
pub(crate) fn roles([a, b, c]: [u8; OPERANDS]) -> u64 {
    0xf_ffff_ff00_0000 | u64::from(c) << 16 | u64::from(b) << 8 | u64::from(a)
}

impl Driver<OperandStage> {
    fn ready() -> Self {
        let mut stage = Self::new(&SHAPE);
        stage.inputs.dispatch_ready_i = 0b11;
        stage.inputs.rows_i = 4;
        stage
    }

    /// An instruction whose fields all follow from its number.
    pub(crate) fn issue(&mut self, p: usize, warp: u8, sources: [u8; OPERANDS], number: u32) {
        let inputs = &mut self.inputs;
        inputs.issue_valid_i |= 1 << p;
        inputs.issue_warp_i[p] = warp;
        inputs.issue_mask_i[p] = number + 1;
        inputs.issue_instruction_i[p] = numbered(roles(sources), number).into();
    }

    pub(crate) fn write(&mut self, p: usize, warp: u8, reg: u8, value: u32) {
        let inputs = &mut self.inputs;
        inputs.write_valid_i |= 1 << p;
        inputs.write_i[p] = WriteWord::new(warp, reg, u32::MAX);
        inputs.write_data_i[p] = WarpData([value; LANES]);
    }

    pub(crate) fn step(&mut self) -> OperandStageOut {
        let out = self.cycle();
        (self.inputs.issue_valid_i, self.inputs.write_valid_i) = (0, 0);
        out
    }
}

/// The instruction with this number.
fn numbered(roles: u64, number: u32) -> InstructionFields {
    let (op, ctl) = (u64::from(number) << 40, u64::from(number) << 41 | 1);
    InstructionFields { pc: number + 2, roles: Roles(roles), t: number + 6, s: number + 5, ctl, op }
}

/// Whether port `p` offers the instruction with this number.
pub(crate) fn offers(out: &OperandStageOut, p: usize, number: u32) -> bool {
    is_set(out.dispatch_valid_o, p)
        && out.dispatch_mask_o[p] == number + 1
        && out.dispatch_instruction_o[p].fields() == numbered(out.dispatch_instruction_o[p].roles().0, number)
}

#[test]
fn an_instruction_comes_out_as_it_went_in_with_its_registers() {
    let mut stage = Driver::ready();
    stage.write(0, 3, 7, 70);
    stage.write(1, 3, 9, 90);
    stage.step();
    let out = stage.step();
    assert_eq!((out.write_done_o, out.written_o.map(WrittenWord::register)), (0b11, [(3, 7), (3, 9)]));
    // A constant or RZ between two registers.
    stage.issue(1, 3, [7, 255, 9], 1000);
    assert_eq!(stage.step().issue_ready_o, 0b11);
    assert_eq!(stage.step().dispatch_valid_o, 0);
    assert_eq!(stage.step().dispatch_valid_o, 0);
    let out = stage.step();
    assert!(offers(&out, 0, 1000));
    assert_eq!((out.dispatch_warp_o[0], out.dispatch_instruction_o[0].roles().0), (3, roles([7, 255, 9])));
    assert_eq!((out.dispatch_src_valid_o, out.dispatch_data_o[0].0), (0b101, [70; LANES]));
    assert_eq!(out.dispatch_data_o[2].0, [90; LANES]);
    assert_eq!(stage.step().dispatch_valid_o, 0);
}

#[test]
fn registers_of_a_warp_begin_at_its_rows() {
    let mut stage = Driver::ready();
    // Warp 7 of four rows each begins at row 28, warp 6 of 60 at row 360 mod 32.
    for (warp, rows, base) in [(7, 4, 28), (6, 60, 8), (0, 255, 0), (1, 32, 0)] {
        stage.inputs.rows_i = rows;
        stage.issue(0, warp, [1, 2, 3], 0);
        stage.write(1, warp, 1, 0);
        stage.step();
        assert_eq!((stage.probe().nets.issue_base[0], stage.probe().nets.write_base[1]), (base, base));
        stage.step();
    }
}

#[test]
fn a_port_takes_its_own_free_slot_whatever_the_other_does() {
    let mut stage = Driver::ready();
    stage.inputs.dispatch_ready_i = 0;
    stage.issue(1, 0, [255; 3], 10);
    stage.step();
    assert_eq!(stage.probe().nets.issue_tag, [0, 1]);
    stage.step();
    assert_eq!((stage.probe().nets.slot_busy_q, stage.probe().nets.issue_tag), (0b0010, [0, 2]));
    stage.issue(0, 1, [255; 3], 20);
    stage.issue(1, 2, [255; 3], 30);
    stage.step();
    let out = stage.step();
    assert_eq!((out.issue_ready_o, stage.probe().nets.slot_busy_q), (0b01, 0b0111));
    stage.issue(0, 3, [255; 3], 40);
    stage.issue(1, 4, [255; 3], 50);
    stage.step();
    let out = stage.step();
    assert_eq!((out.issue_ready_o, stage.probe().nets.slot_busy_q), (0, 0b1111), "the one on port 1 was not taken");
    assert!(offers(&out, 0, 10) && offers(&out, 1, 20));

    // The oldest instruction leaves; the others keep their slots, and a new instruction gets the free slot.
    stage.inputs.dispatch_ready_i = 0b01;
    stage.step();
    stage.inputs.dispatch_ready_i = 0;
    stage.issue(0, 5, [255; 3], 60);
    let out = stage.step();
    assert!(offers(&out, 0, 20) && offers(&out, 1, 30));
    assert_eq!((stage.probe().nets.slot_busy_q, stage.probe().nets.issue_tag[0]), (0b1101, 1));
    stage.inputs.dispatch_ready_i = 0b11;
    stage.step();
    let out = stage.step();
    assert!(offers(&out, 0, 40) && offers(&out, 1, 60));
    assert_eq!(stage.probe().nets.dispatch_tag, [3, 1]);
}

#[test]
fn in_reset_slots_are_freed_and_payload_is_written() {
    let mut stage = Driver::ready();
    stage.issue(0, 0, [255; 3], 10);
    stage.step();
    stage.inputs.rst_ni = 0;
    stage.issue(0, 1, [255; 3], 20);
    stage.step();
    stage.inputs.rst_ni = 1;
    let out = stage.step();
    assert_eq!((out.dispatch_valid_o, stage.probe().nets.slot_busy_q), (0, 0));
    let memories = stage.block.memories();
    let held = memories.iter().find(|m| m.path == "instruction_q").expect("the instructions by slot");
    let words = held.words.chunks_exact(held.stride());
    let pc: Vec<u32> = words.map(|word| Instruction(word.try_into().expect("an instruction")).pc()).collect();
    assert_eq!((pc.len(), &pc[..2]), (4, &[12, 22][..]));
}

#[test]
fn memories_are_those_of_the_stage_and_of_its_provider() {
    let mut stage = OperandStage::new(&SHAPE);
    let memories = stage.memories();
    let paths: Vec<&str> = memories.iter().map(|m| m.path.as_str()).collect();
    assert_eq!(paths[0], "instruction_q");
    assert_eq!(paths[1], "gen_mrf.u_provider.gen_bank[0].gen_alone.u_bank.gen_1r1w.u_ram.mem_q");
    assert_eq!(paths[5..], ["gen_mrf.u_provider.u_crossbar.operand_q"]);
    assert_eq!((memories[0].len(), memories[0].bits), (SHAPE.mrf.collectors, Instruction::BITS));
}

#[test]
fn what_is_compared_inside_the_provider_is_found_there() {
    let fields = OperandStageProbe::fields(&SHAPE);
    let find = |name: &str| fields.iter().find(|f| f.name == name).expect("a field of this name");
    let turn = find("turn_q");
    let offset = offset_of!(OperandStageProbe, provider) + offset_of!(MrfProbe, turn_q);
    assert_eq!((turn.scope.as_str(), turn.offset), ("gen_mrf.u_provider.", offset));
    assert_eq!((find("slot_busy_q").scope.as_str(), find("issue_bank").valid_by), ("", Some("issue_src_valid")));
    let names: std::collections::HashSet<_> = fields.iter().map(|f| f.name).collect();
    assert_eq!(names.len(), fields.len());
}

/// A reference stage: a provider with all its ports, and a list of instructions.
struct Reference {
    shape: SmShape,
    provider: Mrf,
    out: MrfOut,
    held: Vec<Option<Issued>>,
}

impl Reference {
    fn cycle(&mut self, inputs: &OperandStageIn) -> (OperandStageOut, OperandStageProbe) {
        let base = |warp: u8| (usize::from(warp) * usize::from(inputs.rows_i) % self.shape.mrf.depth) as u16;
        let mut nets = OperandStageNets::zeroed();
        let mut given = MrfIn::zeroed();
        (given.rst_ni, given.cfg_i) = (inputs.rst_ni, inputs.cfg_i & 1);
        (given.issue_valid_i, given.write_valid_i) = (inputs.issue_valid_i, inputs.write_valid_i);
        given.dispatch_ready_i = inputs.dispatch_ready_i;
        (given.issue_warp_i, given.issue_mask_i) = (inputs.issue_warp_i, inputs.issue_mask_i);
        (given.write_i, given.write_data_i) = (inputs.write_i, inputs.write_data_i);
        let mut free = (0..self.held.len()).filter(|&slot| self.held[slot].is_none());
        for p in 0..self.shape.ports() {
            let slot = free.next().unwrap_or_default();
            given.issue_tag_i[p] = slot as u64;
            given.issue_base_i[p] = base(inputs.issue_warp_i[p]);
            given.write_base_i[p] = base(inputs.write_i[p].warp());
            (nets.issue_base[p], nets.write_base[p]) = (given.issue_base_i[p], given.write_base_i[p]);
            nets.issue_tag[p] = slot as u8;
            for (k, &reg) in inputs.issue_instruction_i[p].roles().0.to_le_bytes()[..OPERANDS].iter().enumerate() {
                let register = reg != 255 && is_set(inputs.issue_valid_i, p);
                given.issue_src_valid_i |= u8::from(register) << (OPERANDS * p + k);
                given.issue_src_reg_i[OPERANDS * p + k] = reg;
            }
        }
        nets.issue_src_valid = given.issue_src_valid_i;
        nets.issue_src_reg = given.issue_src_reg_i;
        for (slot, held) in self.held.iter().enumerate() {
            nets.slot_busy_q |= u32::from(held.is_some()) << slot;
        }
        self.provider.early(&mut self.out);
        self.provider.late(&given, &mut self.out);
        let mut probe = OperandStageProbe::zeroed();
        let mut inside = MrfProbe::zeroed();
        self.provider.probe(&given, &self.out, &mut inside);
        probe.provider.mrf = inside;

        let mut out = OperandStageOut::zeroed();
        // Without a cache there is nothing to flush.
        (out.event_o, out.flush_done_o) = (self.out.event_o, inputs.flush_i);
        out.void_o = u64::MAX >> (64 - self.shape.slots());
        (out.issue_ready_o, out.write_ready_o) = (self.out.issue_ready_o, self.out.write_ready_o);
        (out.write_done_o, out.written_o) = (self.out.write_done_o, self.out.written_o);
        (out.dispatch_valid_o, out.dispatch_warp_o) = (self.out.dispatch_valid_o, self.out.dispatch_warp_o);
        (out.dispatch_src_valid_o, out.dispatch_data_o) = (self.out.dispatch_src_valid_o, self.out.dispatch_data_o);
        let mut left = Vec::new();
        for p in set_bits(out.dispatch_valid_o) {
            let tag = self.out.dispatch_tag_o[p];
            nets.dispatch_tag[p] = tag as u8;
            let held = self.held[tag as usize].expect("what is offered has been issued");
            (out.dispatch_instruction_o[p], out.dispatch_mask_o[p]) = (held.instruction, held.mask);
            assert_eq!((out.dispatch_warp_o[p], self.out.dispatch_mask_o[p]), (held.warp, held.mask));
            if is_set(inputs.dispatch_ready_i, p) {
                left.push(tag as usize);
            }
        }
        probe.nets = nets;

        let taken = inputs.issue_valid_i & out.issue_ready_o;
        for p in set_bits(taken) {
            let slot = given.issue_tag_i[p] as usize;
            assert!(self.held[slot].is_none(), "ready says that there is a free slot");
            self.held[slot] = Some(issued(inputs, p));
        }
        left.into_iter().for_each(|slot| self.held[slot] = None);
        if inputs.rst_ni == 0 {
            self.held.fill(None);
        }
        self.provider.clock(&given, &self.out);
        (out, probe)
    }
}

#[test]
fn the_stage_is_a_provider_with_a_list_of_instructions() {
    for shape in SM_SHAPES {
        let mut reference = Reference {
            shape,
            provider: Mrf::new(&shape.mrf),
            out: MrfOut::zeroed(),
            held: vec![None; shape.mrf.collectors],
        };
        let mut cycle = 0;
        let mut percent = [50; 3];
        compare::<OperandStage>(
            &shape,
            6000,
            |random, inputs| {
                if cycle % 100 == 0 {
                    percent = std::array::from_fn(|_| 10 + random.below(90));
                    inputs.rows_i = random.below(20) as u8;
                }
                cycle += 1;
                inputs.rst_ni = (!random.chance(1)).into();
                let mut mask =
                    |percent: usize| (0..shape.ports()).fold(0, |mask, p| mask | u8::from(random.chance(percent)) << p);
                (inputs.issue_valid_i, inputs.write_valid_i) = (mask(percent[0]), mask(percent[1]));
                inputs.dispatch_ready_i = mask(percent[2]);
                inputs.issue_warp_i.iter_mut().for_each(|warp| *warp &= 3);
                inputs.write_i.iter_mut().for_each(|write| write.change(|w| (w.warp, w.d) = (w.warp & 3, w.d & 7)));
                for instruction in &mut inputs.issue_instruction_i {
                    // Few registers, and none.
                    let none = [0xff_0000, 0xff00, 0xff, 0].into_iter().filter(|_| random.chance(25)).sum::<u64>();
                    instruction.change(|i| i.roles.0 = i.roles.0 & !0xf8_f8f8 | none);
                }
            },
            |inputs| reference.cycle(inputs),
        );
    }
}

/// Memory writes the word of a register while nothing moves, and reads the result that an instruction writes there.
#[test]
fn memory_reaches_the_columns_whether_registers_move_or_not() {
    for shape in crate::unified::tests::stages().into_iter().filter(|shape| shape.ports() == 2) {
        let mut stage = Driver::<OperandStage>::new(&shape);
        (stage.inputs.dispatch_ready_i, stage.inputs.rows_i) = (0b11, 4);
        // Register 5 of warp 2: column 3, row 9.
        let columns = &mut stage.inputs.columns;
        (columns.memory_write_i, columns.memory_write_entry_i) = ([0, 0, 0, 0xff], [9; 32]);
        (columns.memory_write_bytes_i, columns.memory_write_data_i) = ([0xffff; 32], WarpData([7; LANES]));
        columns.memory_write_bytes_i[8 * 3 + 7] = 0x0ff0;
        let out = stage.step();
        assert_eq!((out.columns.memory_read_ready_o, out.columns.memory_write_ready_o), (0b1111, [0xff; 4]));
        stage.inputs.columns.memory_write_i = [0; 4];
        stage.issue(0, 2, [5, 255, 255], 30);
        let mut busy = 0;
        let out = (0..20).map(|_| {
            let out = stage.step();
            busy |= !out.columns.memory_read_ready_o & 0b1111;
            out
        });
        let out = out.into_iter().find(|out| out.dispatch_valid_o & 1 == 1).expect("it comes soon");
        assert_eq!((out.dispatch_data_o[0].0[0], out.dispatch_data_o[0].0[28..].to_vec()), (7, vec![0, 7, 7, 0]));
        assert_eq!(busy, 0b1000, "its column was read");
        // Lanes 4 to 7 of the register: cluster 1 alone is written.
        stage.write(1, 2, 5, 9);
        stage.inputs.write_i[1].change(|write| write.mask = 0xf0);
        let mut writing = Vec::new();
        for _ in 0..8 {
            writing.push(stage.step().columns.memory_write_ready_o);
        }
        let wrote = writing.into_iter().filter(|free| *free != [0xff; 4]).collect::<Vec<_>>();
        assert_eq!(wrote, [[0xff, 0xff, 0xff, 0xfd]]);
        let columns = &mut stage.inputs.columns;
        (columns.memory_read_i, columns.memory_read_entry_i) = ([0, 0, 0, 0b11], [9; 32]);
        columns.memory_data_column_i = [3; 32];
        stage.step();
        stage.inputs.columns.memory_read_i = [0; 4];
        let data = stage.step().columns.memory_data_o;
        assert_eq!(data.0[2..6], [7, 7, 9, 9]);
        let memories = stage.block.memories();
        let words = memories.iter().filter(|memory| memory.path.contains("gen_unified.u_bank.gen_cluster[")).count();
        assert_eq!(words, 4 * 8 * 2, "mem_q and rdata_q");
    }
}
