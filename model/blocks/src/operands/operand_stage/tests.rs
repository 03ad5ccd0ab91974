use std::mem::offset_of;

use super::*;
use crate::designs::Organisation;
use crate::hrf::HrfSizes;
use crate::mrf::Mrf;
use crate::mrf::{MrfProbe, MrfShape};
use crate::steal::{STEAL_EVENT, StealSizes};
use crate::testing::{Driver, SM_SHAPES, compare, event};

/// Four banks with two ports each, four collectors, two issue ports.
const SHAPE: SmShape = SM_SHAPES[1];

/// Roles with these sources, and all other bits set.
fn roles([a, b, c]: [u8; OPERANDS]) -> u64 {
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
    fn issue(&mut self, p: usize, warp: u8, sources: [u8; OPERANDS], number: u32) {
        let inputs = &mut self.inputs;
        inputs.issue_valid_i |= 1 << p;
        inputs.issue_warp_i[p] = warp;
        inputs.issue_roles_i[p] = roles(sources);
        (inputs.issue_mask_i[p], inputs.issue_pc_i[p]) = (number + 1, number + 2);
        (inputs.issue_op_i[p], inputs.issue_ctl_i[p]) = (u64::from(number) << 40, u64::from(number) << 41 | 1);
        (inputs.issue_s_i[p], inputs.issue_t_i[p]) = (number + 5, number + 6);
    }

    fn write(&mut self, p: usize, warp: u8, reg: u8, value: u32) {
        let inputs = &mut self.inputs;
        inputs.write_valid_i |= 1 << p;
        (inputs.write_warp_i[p], inputs.write_reg_i[p], inputs.write_mask_i[p]) = (warp, reg, u32::MAX);
        inputs.write_data_i[p] = WarpData([value; LANES]);
    }

    fn step(&mut self) -> OperandStageOut {
        let out = self.cycle();
        (self.inputs.issue_valid_i, self.inputs.write_valid_i) = (0, 0);
        out
    }
}

/// Whether port `p` offers the instruction with this number.
fn offers(out: &OperandStageOut, p: usize, number: u32) -> bool {
    is_set(out.dispatch_valid_o, p)
        && (out.dispatch_mask_o[p], out.dispatch_pc_o[p]) == (number + 1, number + 2)
        && (out.dispatch_op_o[p], out.dispatch_ctl_o[p]) == (u64::from(number) << 40, u64::from(number) << 41 | 1)
        && (out.dispatch_s_o[p], out.dispatch_t_o[p]) == (number + 5, number + 6)
}

#[test]
fn an_instruction_comes_out_as_it_went_in_with_its_registers() {
    let mut stage = Driver::ready();
    stage.write(0, 3, 7, 70);
    stage.write(1, 3, 9, 90);
    stage.step();
    let out = stage.step();
    assert_eq!((out.write_done_o, out.write_done_warp_o, out.write_done_reg_o), (0b11, [3, 3], [7, 9]));
    // A constant or RZ between two registers.
    stage.issue(1, 3, [7, 255, 9], 1000);
    assert_eq!(stage.step().issue_ready_o, 0b11);
    assert_eq!(stage.step().dispatch_valid_o, 0);
    assert_eq!(stage.step().dispatch_valid_o, 0);
    let out = stage.step();
    assert!(offers(&out, 0, 1000));
    assert_eq!((out.dispatch_warp_o[0], out.dispatch_roles_o[0]), (3, roles([7, 255, 9])));
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
fn in_the_hybrid_file_two_warps_have_their_rows_together() {
    let mrf = MrfShape { banks: 2, dual_port: false, issue_ports: 1, ..SHAPE.mrf };
    let organisation = Organisation::Hrf(HrfSizes { buffer_entries: 8, loads: 2 });
    let mut stage = Driver::<OperandStage>::new(&SmShape { mrf, active: 2, alternate: true, organisation, ..SHAPE });
    (stage.inputs.cfg_i, stage.inputs.dispatch_ready_i, stage.inputs.rows_i) = (4 << 1, 1, 4);
    (stage.inputs.slot_valid_i, stage.inputs.slot_warp_i[1]) = (0b10, 5);
    stage.write(0, 5, 7, 70);
    stage.step();
    assert_eq!((stage.probe().nets.write_base[0], stage.probe().nets.slot_base[1]), (16, 16));
    let out = stage.step();
    assert_eq!((out.write_done_o, out.write_done_warp_o[0], out.write_done_reg_o[0]), (1, 5, 7));
    stage.issue(0, 5, [7, 255, 255], 1000);
    stage.step();
    assert_eq!(stage.probe().nets.issue_base[0], 16);
    stage.step();
    stage.step();
    let out = stage.step();
    assert!(offers(&out, 0, 1000));
    assert_eq!((out.dispatch_src_valid_o, out.dispatch_data_o[0].0), (1, [70; LANES]));
    stage.inputs.flush_i = 0b10;
    stage.step();
    let done: Vec<u64> = (0..3).map(|_| stage.step().flush_done_o).collect();
    assert_eq!(done, [0, 0b10, 0b10]);
    assert!(stage.block.memories().iter().any(|m| m.path == "gen_hrf.u_provider.gen_buffers.u_rcm.index_q"));
}

/// Read and write stealing in the straps.
const READ: u128 = 1;
const WRITE: u128 = 1 << 1;

/// Four single-ported banks whose idle ones are stolen; a warp has four rows.
fn stealing(straps: u128) -> Driver<OperandStage> {
    let mrf = MrfShape { dual_port: false, ..SHAPE.mrf };
    let mut stage =
        Driver::<OperandStage>::new(&SmShape { mrf, organisation: Organisation::Steal(StealSizes), ..SHAPE });
    stage.inputs.design_cfg_i = Wide::from_u128(straps);
    (stage.inputs.dispatch_ready_i, stage.inputs.rows_i) = (0b11, 4);
    stage
}

impl Driver<OperandStage> {
    /// Port `p` names a candidate for the cycle that comes.
    fn name(&mut self, p: usize, warp: u8, sources: [u8; OPERANDS]) {
        self.inputs.candidate_valid_i |= 1 << p;
        (self.inputs.candidate_warp_i[p], self.inputs.candidate_roles_i[p]) = (warp, roles(sources));
    }

    /// A cycle, after which nobody is named either.
    fn step_named(&mut self) -> OperandStageOut {
        let out = self.step();
        self.inputs.candidate_valid_i = 0;
        out
    }
}

fn steals(out: &OperandStageOut, name: &str) -> u64 {
    event(STEAL_EVENT, out.design_event_o[0], name)
}

#[test]
fn a_stolen_operand_is_there_a_cycle_earlier() {
    // Register 4 of warp 0 and register 3 of warp 1 are in bank 0.
    for (straps, steal, dispatched) in [(0, 0, 3), (READ, 0b10, 2)] {
        let mut stage = stealing(straps);
        stage.write(0, 1, 3, 30);
        stage.step();
        stage.step();
        stage.name(0, 0, [4, 255, 255]);
        stage.name(1, 1, [255, 3, 255]);
        let out = stage.step_named();
        assert_eq!((out.candidate_issue_o, stage.probe().nets.candidate_src_valid), (0, 0b01_0001));
        let nets = stage.probe().nets;
        assert_eq!((nets.candidate_base, nets.candidate_src_reg), ([0, 4], [4, 0, 0, 0, 3, 0]));
        stage.issue(1, 1, [255, 3, 255], 100);
        let out = stage.step_named();
        assert_eq!(
            (out.candidate_issue_o, steals(&out, "stolen"), steals(&out, "wasted")),
            (steal, u64::from(steal >> 1), 0)
        );
        let first = (1..).find(|_| stage.step_named().dispatch_valid_o != 0);
        assert_eq!(first, Some(dispatched));
    }
    // A port whose word is not about the warp that issues takes nothing.
    let mut stage = stealing(READ);
    stage.name(0, 0, [4, 255, 255]);
    stage.name(1, 1, [255, 3, 255]);
    stage.step_named();
    stage.issue(1, 3, [255, 3, 255], 100);
    let out = stage.step_named();
    assert_eq!((out.candidate_issue_o, steals(&out, "wasted")), (0b10, 1));
    assert_eq!(
        (stage.step_named().candidate_issue_o, stage.probe().nets.candidate_src_valid),
        (0, 0),
        "nobody is named any more"
    );
}

#[test]
fn a_dispatched_instruction_tells_of_a_dead_register_of_its_warps_rows() {
    // Four rows of four banks: registers 0 to 15. RZ is what no hint says, and 254 is beyond any rows.
    for (register, hint) in [(0, true), (7, true), (15, true), (16, false), (254, false), (255, false)] {
        let mut stage = stealing(WRITE);
        stage.issue(1, 6, [255; OPERANDS], 0);
        stage.inputs.issue_ctl_i[1] = u64::from(!register) << 53 | 0x1f << 48;
        stage.inputs.dispatch_ready_i = 0;
        stage.step();
        stage.step();
        assert_eq!(stage.step().dispatch_valid_o, 0b01);
        assert_eq!(stage.probe().nets.hint_valid, 0, "what stays has said nothing yet");
        stage.inputs.dispatch_ready_i = 0b11;
        let out = stage.step();
        let nets = stage.probe().nets;
        assert_eq!((out.dispatch_valid_o, nets.hint_valid), (0b01, hint.into()), "{register}");
        if hint {
            assert_eq!((nets.hint_reg[0], nets.hint_base[0]), (register, 24));
        }
        assert_eq!((steals(&out, "hint"), steals(&out, "hint_ignored")), (hint.into(), 0));
        let out = stage.step();
        assert_eq!((stage.probe().nets.hint_valid, steals(&out, "places")), (0, hint.into()));
    }
}

#[test]
fn a_new_grid_has_its_last_row_to_spare_or_not() {
    let mut stage = stealing(WRITE);
    for (spare, places) in [(1, 4), (0, 0), (1, 4)] {
        (stage.inputs.clear_i, stage.inputs.spare_i) = (1, spare);
        stage.step();
        stage.inputs.clear_i = 0;
        assert_eq!(steals(&stage.step(), "places"), places);
        assert_eq!(steals(&stage.step(), "places"), places);
    }
}

#[test]
fn what_is_stolen_from_is_found_in_its_generate_block() {
    let mrf = MrfShape { dual_port: false, ..SHAPE.mrf };
    let shape = SmShape { mrf, organisation: Organisation::Steal(StealSizes), ..SHAPE };
    let fields = OperandStageProbe::fields(&shape);
    let find = |name: &str| fields.iter().find(|f| f.name == name).expect("a field of this name");
    let (entry, hint) = (find("candidate_entry"), find("hint_entry"));
    assert_eq!((entry.scope.as_str(), entry.valid_by), ("gen_steal.u_provider.", Some("candidate_src_valid")));
    assert_eq!((hint.valid_by, find("issue_bank").valid_by), (Some("hint_valid"), Some("issue_src_valid")));
    assert!(
        OperandStageProbe::fields(&SHAPE).iter().all(|f| !f.name.contains("hint") && !f.name.contains("candidate"))
    );
    let paths: Vec<String> = OperandStage::new(&shape).memories().into_iter().map(|m| m.path).collect();
    assert_eq!(paths[6], "gen_steal.u_provider.gen_bank[0].u_bank.gen_1rw.u_ram.mem_q");
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

    // The oldest leaves; the others keep their slots, and a newcomer gets the one that is free.
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
    let pc = memories.iter().find(|m| m.path == "pc_q").expect("the addresses by slot");
    assert_eq!((pc.words.len(), &pc.words[..2]), (4, &[12, 22][..]));
}

#[test]
fn memories_are_those_of_the_stage_and_of_its_provider() {
    let mut stage = OperandStage::new(&SHAPE);
    let memories = stage.memories();
    let paths: Vec<&str> = memories.iter().map(|m| m.path.as_str()).collect();
    assert_eq!(paths[..6], ["op_q", "ctl_q", "roles_q", "pc_q", "s_q", "t_q"]);
    assert_eq!(paths[6], "gen_mrf.u_provider.gen_bank[0].u_bank.gen_1r1w.u_ram.mem_q");
    assert_eq!(paths[10..], ["gen_mrf.u_provider.u_crossbar.operand_q"]);
    assert!(memories[..6].iter().all(|m| m.len() == SHAPE.mrf.collectors));
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

/// A stage that leaves all to a provider in its full form, and keeps instructions in a list.
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
        (given.write_warp_i, given.write_reg_i) = (inputs.write_warp_i, inputs.write_reg_i);
        (given.write_mask_i, given.write_data_i) = (inputs.write_mask_i, inputs.write_data_i);
        let mut free = (0..self.held.len()).filter(|&slot| self.held[slot].is_none());
        for p in 0..self.shape.ports() {
            let slot = free.next().unwrap_or_default();
            given.issue_tag_i[p] = slot as u64;
            given.issue_base_i[p] = base(inputs.issue_warp_i[p]);
            given.write_base_i[p] = base(inputs.write_warp_i[p]);
            (nets.issue_base[p], nets.write_base[p]) = (given.issue_base_i[p], given.write_base_i[p]);
            nets.issue_tag[p] = slot as u8;
            for (k, &reg) in inputs.issue_roles_i[p].to_le_bytes()[..OPERANDS].iter().enumerate() {
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
        // Without a cache there is nothing to empty.
        (out.event_o, out.flush_done_o) = (self.out.event_o, inputs.flush_i);
        out.void_o = u64::MAX >> (64 - self.shape.slots());
        (out.issue_ready_o, out.write_ready_o) = (self.out.issue_ready_o, self.out.write_ready_o);
        (out.write_done_o, out.write_done_warp_o) = (self.out.write_done_o, self.out.write_done_warp_o);
        out.write_done_reg_o = self.out.write_done_reg_o;
        (out.dispatch_valid_o, out.dispatch_warp_o) = (self.out.dispatch_valid_o, self.out.dispatch_warp_o);
        (out.dispatch_src_valid_o, out.dispatch_data_o) = (self.out.dispatch_src_valid_o, self.out.dispatch_data_o);
        let mut left = Vec::new();
        for p in set_bits(out.dispatch_valid_o) {
            let tag = self.out.dispatch_tag_o[p];
            nets.dispatch_tag[p] = tag as u8;
            let held = self.held[tag as usize].expect("what is offered has been issued");
            (out.dispatch_op_o[p], out.dispatch_ctl_o[p]) = (held.op, held.ctl);
            (out.dispatch_roles_o[p], out.dispatch_mask_o[p]) = (held.roles.0, held.mask);
            (out.dispatch_pc_o[p], out.dispatch_s_o[p], out.dispatch_t_o[p]) = (held.pc, held.s, held.t);
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
                inputs.issue_warp_i.iter_mut().chain(&mut inputs.write_warp_i).for_each(|warp| *warp &= 3);
                inputs.write_reg_i.iter_mut().for_each(|reg| *reg &= 7);
                for roles in &mut inputs.issue_roles_i {
                    // Few registers, and none.
                    *roles &= !0xf8_f8f8;
                    *roles |= [0xff_0000, 0xff00, 0xff, 0].into_iter().filter(|_| random.chance(25)).sum::<u64>();
                }
            },
            |inputs| reference.cycle(inputs),
        );
    }
}
