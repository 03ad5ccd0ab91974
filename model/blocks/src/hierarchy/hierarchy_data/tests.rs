use super::*;
use crate::hierarchy::HIERARCHY_SHAPES;
use crate::testing::Driver;

impl Driver<HierarchyData> {
    /// A cycle, after which nothing comes any more.
    fn step(&mut self) -> HierarchyDataOut {
        let out = self.cycle();
        self.inputs = HierarchyDataIn { rst_ni: 1, ..HierarchyDataIn::zeroed() };
        out
    }

    fn orf(&mut self, slot: u8, entry: u8, mask: u32, value: u32) -> &mut Self {
        let inputs = &mut self.inputs;
        (inputs.orf_valid_i, inputs.orf_slot_i, inputs.orf_entry_i, inputs.orf_mask_i) = (1, slot, entry, mask);
        inputs.orf_data_i = WarpData([value; LANES]);
        self
    }

    fn lrf(&mut self, slot: u8, bank: u8, value: u32) -> &mut Self {
        let inputs = &mut self.inputs;
        (inputs.lrf_valid_i, inputs.lrf_slot_i, inputs.lrf_bank_i, inputs.lrf_mask_i) = (1, slot, bank, u32::MAX);
        inputs.lrf_data_i = WarpData([value; LANES]);
        self
    }

    fn moves(&mut self, slot: u8, orf: u8, lrf: u8, entry: [u8; 3], port: [u8; 3]) -> &mut Self {
        let inputs = &mut self.inputs;
        (inputs.move_valid_i, inputs.move_tag_i, inputs.move_slot_i) = (1, 5, slot);
        (inputs.move_orf_i, inputs.move_lrf_i) = (orf, lrf);
        (inputs.move_entry_i, inputs.move_port_i) = (entry, port);
        inputs.move_orf_read_i =
            (0..3).filter(|&k| orf >> k & 1 == 1 && port[k] == k as u8).fold(0, |set, k| set | 1 << k);
        inputs.move_lrf_read_i = lrf;
        self
    }
}

#[test]
fn operands_come_two_cycles_after_the_instruction() {
    let mut data = Driver::<HierarchyData>::new(&HIERARCHY_SHAPES[0]);
    data.orf(6, 2, u32::MAX, 10).lrf(6, 1, 20).step();
    data.orf(6, 1, u32::MAX, 30).step();
    data.moves(6, 0b101, 0b010, [2, 0, 2], [0, 0, 0]).step();
    assert_eq!(data.step().land_valid_o, 0);
    assert_eq!((data.probe().d_move_q, data.probe().d_index_q[0]), (1, 20));
    let out = data.step();
    assert_eq!((out.land_valid_o, out.land_tag_o, out.land_fill_o), (1, 5, 0b111));
    assert_eq!([0, 1, 2].map(|k| out.land_data_o[k].0[31]), [10, 20, 10]);
    assert_eq!(data.step().land_valid_o, 0);
    // What reads nothing does not land.
    data.moves(6, 0, 0, [0; 3], [0; 3]).step();
    data.step();
    assert_eq!((data.step().land_valid_o, data.probe().o_land_q), (0, 0));
}

#[test]
fn what_is_read_and_written_at_one_edge_is_read_as_it_was() {
    let mut data = Driver::<HierarchyData>::new(&HIERARCHY_SHAPES[0]);
    data.orf(0, 0, u32::MAX, 1).lrf(0, 0, 2).step();
    data.moves(0, 0b010, 0b001, [0; 3], [0, 1, 0]).step();
    data.orf(0, 0, 0b10, 3).lrf(0, 0, 4).step();
    let out = data.moves(0, 0b010, 0b001, [0; 3], [0, 1, 0]).step();
    assert_eq!((out.land_data_o[0].0[1], out.land_data_o[1].0[1]), (2, 1));
    data.step();
    let out = data.step();
    assert_eq!((out.land_data_o[0].0[1], out.land_data_o[1].0[..3].to_vec()), (4, vec![1, 3, 1]));
}

#[test]
fn a_unified_lrf_serves_every_source() {
    let mut data = Driver::<HierarchyData>::new(&HIERARCHY_SHAPES[1]);
    data.lrf(2, 0, 9).step();
    data.moves(2, 0, 0b110, [0; 3], [0; 3]);
    data.inputs.move_lrf_read_i = 1;
    data.step();
    data.step();
    let out = data.step();
    assert_eq!((out.land_fill_o, out.land_data_o[1].0[0], out.land_data_o[2].0[0]), (0b110, 9, 9));
    let paths: Vec<String> = data.block.memories().iter().map(|m| m.path.clone()).collect();
    assert_eq!(
        paths[4..],
        ["gen_orf[2].u_ram.mem_q", "gen_orf[2].u_ram.rdata_q", "gen_lrf[0].u_ram.mem_q", "gen_lrf[0].u_ram.rdata_q"]
    );
}
