pub(crate) mod composed;

use super::*;
use crate::mrf::bits::is_set;
use crate::testing::{Driver, Random, SHAPES, event};
use crate::write::WriteWord;

const TWO_PORTS: MrfShape = MrfShape { issue_ports: 2, ..MrfShape::BASELINE };

impl<S: Storage> Driver<OperandFile<S>> {
    pub(crate) fn issue(&mut self, p: usize, warp: u8, sources: [Option<u8>; OPERANDS]) {
        self.inputs.issue_valid_i |= 1 << p;
        self.inputs.issue_warp_i[p] = warp;
        self.inputs.issue_mask_i[p] = u32::MAX;
        self.inputs.issue_src_valid_i &= !(0b111 << (OPERANDS * p));
        for (s, source) in sources.into_iter().enumerate() {
            let Some(reg) = source else { continue };
            self.inputs.issue_src_valid_i |= 1 << (OPERANDS * p + s);
            self.inputs.issue_src_reg_i[OPERANDS * p + s] = reg;
        }
    }

    pub(crate) fn write(&mut self, p: usize, warp: u8, reg: u8, value: u32) {
        self.inputs.write_valid_i |= 1 << p;
        self.inputs.write_i[p] = WriteWord::new(warp, reg, u32::MAX);
        self.inputs.write_data_i[p] = WarpData([value; 32]);
    }

    /// Runs one cycle, then clears all offers.
    pub(crate) fn step(&mut self) -> MrfOut {
        let out = self.cycle();
        (self.inputs.issue_valid_i, self.inputs.write_valid_i) = (0, 0);
        out
    }

    pub(crate) fn steps(&mut self, cycles: usize) {
        for _ in 0..cycles {
            self.step();
        }
    }

    /// Sets each register of warp 0 to its own number.
    pub(crate) fn preload(&mut self, regs: std::ops::Range<u8>) {
        for reg in regs {
            self.write(0, 0, reg, reg.into());
            assert_eq!(self.step().write_ready_o & 1, 1);
        }
        self.step();
    }
}

pub(crate) fn counted(out: &MrfOut, name: &str) -> u64 {
    event(MRF_EVENT, out.event_o, name)
}

#[test]
fn an_instruction_takes_three_cycles_when_nothing_delays_it() {
    let mut mrf = Driver::<Mrf>::new(&MrfShape::BASELINE);
    mrf.preload(0..8);
    mrf.inputs.dispatch_ready_i = 1;
    mrf.inputs.issue_tag_i[0] = 0xabcd;
    mrf.issue(0, 0, [Some(1), None, Some(3)]);
    // t: taken.
    let out = mrf.step();
    assert_eq!((out.issue_ready_o, counted(&out, "read")), (1, 0));
    // t+1: requests and reads.
    let out = mrf.step();
    assert_eq!((counted(&out, "read"), counted(&out, "read_groups"), out.dispatch_valid_o), (2, 16, 0));
    // t+2: at the bank's output.
    assert_eq!(mrf.step().dispatch_valid_o, 0);
    assert_eq!(mrf.probe().read_data_valid, 0b1010);
    // t+3: offered.
    let out = mrf.step();
    assert_eq!((out.dispatch_valid_o, out.dispatch_src_valid_o, out.dispatch_tag_o[0]), (1, 0b101, 0xabcd));
    assert_eq!((out.dispatch_warp_o[0], out.dispatch_mask_o[0]), (0, u32::MAX));
    assert_eq!((out.dispatch_data_o[0].0, out.dispatch_data_o[2].0), ([1; 32], [3; 32]));
    assert_eq!((counted(&out, "dispatch"), counted(&out, "dispatch_stall")), (1, 0));
    assert_eq!(mrf.step().dispatch_valid_o, 0);
}

#[test]
fn without_register_sources_it_is_offered_in_the_next_cycle() {
    let mut mrf = Driver::<Mrf>::new(&MrfShape::BASELINE);
    mrf.issue(0, 5, [None; OPERANDS]);
    mrf.step();
    for _ in 0..3 {
        let out = mrf.step();
        assert_eq!((out.dispatch_valid_o, out.dispatch_src_valid_o, out.dispatch_warp_o[0]), (1, 0, 5));
        assert_eq!((counted(&out, "dispatch"), counted(&out, "dispatch_stall")), (0, 1));
    }
}

#[test]
fn a_result_is_written_one_cycle_later_and_read_from_then_on() {
    let mut mrf = Driver::<Mrf>::new(&MrfShape::BASELINE);
    mrf.write(0, 3, 17, 99);
    // t: taken. A read granted in t+2 returns it, so its instruction is issued in t+1.
    assert_eq!((mrf.step().write_ready_o, mrf.probe().push_bank[0]), (1, (17 + 3) % 16));
    mrf.issue(0, 3, [Some(17), None, None]);
    let out = mrf.step();
    assert_eq!((out.write_done_o, out.written_o[0].register()), (1, (3, 17)));
    assert_eq!((counted(&out, "write"), counted(&out, "write_groups")), (1, 8));
    assert_eq!(counted(&mrf.step(), "read"), 1);
    mrf.step();
    assert_eq!(mrf.step().dispatch_data_o[0].0, [99; 32]);
}

#[test]
fn hazard_9_holds_a_result_until_its_register_has_been_read() {
    for dual_port in [false, true] {
        let mut mrf = Driver::<Mrf>::new(&MrfShape { dual_port, ..TWO_PORTS });
        mrf.preload(0..64);
        // Registers 1, 17 and 33 share a bank, so that register 33 is read last.
        mrf.issue(0, 0, [Some(1), Some(17), Some(33)]);
        mrf.issue(1, 0, [Some(1), None, None]);
        mrf.write(0, 0, 33, 1000);
        mrf.step();
        // Its read has priority over any other request of the bank: an older slot, and a write that is not held back.
        let out = mrf.step();
        assert_eq!((counted(&out, "write_held"), out.write_done_o, out.write_ready_o), (1, 0, 0b10));
        assert_eq!(mrf.probe().grant, 0b100);
        assert_eq!((counted(&out, "conflict_intra"), counted(&out, "conflict_inter")), (2, 1));
        assert_eq!(mrf.step().write_done_o, 1);
        for _ in 0..8 {
            let out = mrf.step();
            if out.dispatch_valid_o & 1 == 1 {
                assert_eq!(out.dispatch_data_o[..3].iter().map(|word| word.0[0]).collect::<Vec<_>>(), [1, 17, 33]);
            }
        }
        mrf.inputs.dispatch_ready_i = 0b11;
        mrf.step();
        mrf.issue(0, 0, [Some(33), None, None]);
        mrf.steps(3);
        assert_eq!(mrf.step().dispatch_data_o[0].0, [1000; 32]);
    }
}

#[test]
fn a_register_in_several_sources_is_read_once() {
    let mut mrf = Driver::<Mrf>::new(&MrfShape::BASELINE);
    mrf.preload(0..8);
    mrf.issue(0, 0, [Some(6), Some(6), Some(6)]);
    mrf.step();
    let out = mrf.step();
    assert_eq!((counted(&out, "read"), mrf.probe().grant, mrf.probe().fill), (1, 0b001, 0b111));
    mrf.step();
    let out = mrf.step();
    assert_eq!((out.dispatch_src_valid_o, out.dispatch_data_o[..3].to_vec()), (0b111, vec![WarpData([6; 32]); 3]));
}

#[test]
fn a_warp_dispatches_in_the_order_of_issue() {
    let mut mrf = Driver::<Mrf>::new(&TWO_PORTS);
    mrf.inputs.dispatch_ready_i = 0b11;
    // The first instruction of warp 0 needs three reads of one bank, the second none.
    mrf.inputs.issue_tag_i = [1, 2];
    mrf.issue(0, 0, [Some(0), Some(16), Some(32)]);
    mrf.issue(1, 0, [None; OPERANDS]);
    mrf.step();
    mrf.inputs.issue_tag_i = [3, 0];
    mrf.issue(0, 1, [None; OPERANDS]);
    let mut order = Vec::new();
    for _ in 0..10 {
        let out = mrf.step();
        order.extend(set_bits(out.dispatch_valid_o).map(|p| out.dispatch_tag_o[p]));
    }
    // Another warp overtakes.
    assert_eq!(order, [3, 1, 2]);
}

#[test]
fn full_collectors_stall_the_issue() {
    let mut mrf = Driver::<Mrf>::new(&MrfShape { collectors: 4, ..TWO_PORTS });
    for ready in [0b11, 0b11, 0b00] {
        mrf.issue(0, 0, [None; OPERANDS]);
        mrf.issue(1, 1, [None; OPERANDS]);
        let out = mrf.step();
        assert_eq!((out.issue_ready_o, counted(&out, "issue_stall")), (ready, if ready == 0 { 2 } else { 0 }));
    }
    mrf.inputs.dispatch_ready_i = 0b10;
    assert_eq!(counted(&mrf.step(), "dispatch"), 1);
    assert_eq!(mrf.step().issue_ready_o, 0b01);
}

#[test]
fn reset_empties_everything_but_the_banks() {
    let mut mrf = Driver::<Mrf>::new(&MrfShape::BASELINE);
    mrf.preload(0..8);
    for _ in 0..8 {
        mrf.issue(0, 0, [Some(1), Some(17), Some(33)]);
        mrf.write(0, 0, 2, 50);
        mrf.step();
    }
    mrf.inputs.rst_ni = 0;
    mrf.issue(0, 0, [Some(1), None, None]);
    mrf.step();
    mrf.inputs.rst_ni = 1;
    let out = mrf.step();
    assert_eq!((out.issue_ready_o, out.write_ready_o, out.write_done_o, out.dispatch_valid_o), (1, 1, 0, 0));
    let probe = mrf.probe();
    assert_eq!((probe.busy, probe.req_valid, probe.fill_q, probe.read_data_valid), (0, 0, 0, 0));
    mrf.issue(0, 0, [Some(3), None, None]);
    mrf.steps(3);
    assert_eq!(mrf.step().dispatch_data_o[0].0, [3; 32]);
}

#[test]
fn memories_are_where_the_rtl_has_them() {
    let mut mrf = Mrf::new(&MrfShape { banks: 2, dual_port: true, collectors: 4, ..MrfShape::BASELINE });
    let memories = mrf.memories();
    let paths: Vec<_> = memories.iter().map(|m| (m.path.as_str(), m.block, m.len())).collect();
    assert_eq!(
        paths,
        [
            ("gen_bank[0].gen_alone.u_bank.gen_1r1w.u_ram.mem_q", "mrf_bank", 64),
            ("gen_bank[1].gen_alone.u_bank.gen_1r1w.u_ram.mem_q", "mrf_bank", 64),
            ("u_crossbar.operand_q", "mrf_crossbar", 12),
        ]
    );
}

/// A scoreboard drives the register file: whatever the conflicts, an instruction gets the values that its sources
/// had when it was issued.
#[test]
fn operands_have_the_values_of_the_time_of_issue() {
    const WARPS: usize = 4;
    const REGS: usize = 8;
    for (cfg, shape) in SHAPES.into_iter().flat_map(|shape| [(0, shape), (1, shape)]) {
        // Every warp needs its own rows.
        let rows = REGS.div_ceil(shape.banks);
        let shape = MrfShape { depth: shape.depth.max(WARPS * rows), tag_w: 32, ..shape };
        let mut random = Random(7);
        let mut mrf = Driver::<Mrf>::new(&shape);
        mrf.inputs.cfg_i = cfg;
        let mut values = [[[0u32; 32]; REGS]; WARPS];
        let mut written = [[false; REGS]; WARPS];
        let mut expected = std::collections::HashMap::new();
        let mut order = vec![std::collections::VecDeque::new(); WARPS];
        let mut dispatched = 0;
        for cycle in 0..20_000u64 {
            let busy = written;
            for p in 0..shape.issue_ports {
                let warp = random.below(WARPS);
                mrf.inputs.issue_base_i[p] = (warp * rows) as u16;
                mrf.inputs.issue_tag_i[p] = cycle * 2 + p as u64;
                let sources: [_; OPERANDS] = std::array::from_fn(|_| random.chance(80).then(|| random.below(REGS)));
                if random.chance(80) && !sources.iter().flatten().any(|&reg| busy[warp][reg]) {
                    mrf.issue(p, warp as u8, sources.map(|source| source.map(|reg| reg as u8)));
                }
            }
            // A write counts as outstanding from its offer, whether it is taken or not.
            let mut offered = Vec::new();
            for p in 0..shape.issue_ports {
                let (warp, reg) = (random.below(WARPS), random.below(REGS));
                if random.chance(70) && !written[warp][reg] {
                    mrf.write(p, warp as u8, reg as u8, 0);
                    mrf.inputs.write_base_i[p] = (warp * rows) as u16;
                    mrf.inputs.write_i[p].change(|write| write.mask = random.next() as u32);
                    mrf.inputs.write_data_i[p] = WarpData(std::array::from_fn(|_| random.next() as u32));
                    written[warp][reg] = true;
                    offered.push((p, warp, reg));
                }
            }
            mrf.inputs.dispatch_ready_i = random.next() as u8 & ((1 << shape.issue_ports) - 1);
            let (issued, inputs) = (mrf.inputs.issue_valid_i, mrf.inputs);
            let out = mrf.step();

            for p in set_bits(out.dispatch_valid_o & inputs.dispatch_ready_i) {
                let (warp, tag) = (usize::from(out.dispatch_warp_o[p]), out.dispatch_tag_o[p]);
                assert_eq!(order[warp].pop_front(), Some(tag), "the order in a warp");
                let operands: [Option<[u32; 32]>; OPERANDS] = expected.remove(&tag).unwrap();
                for (s, operand) in operands.into_iter().enumerate() {
                    let found = is_set(out.dispatch_src_valid_o, OPERANDS * p + s);
                    let found = found.then_some(out.dispatch_data_o[OPERANDS * p + s].0);
                    assert_eq!(found, operand, "cycle {cycle}, source {s}");
                }
                dispatched += 1;
            }
            for p in set_bits(issued & out.issue_ready_o) {
                let warp = usize::from(inputs.issue_warp_i[p]);
                order[warp].push_back(inputs.issue_tag_i[p]);
                let operands: [_; OPERANDS] = std::array::from_fn(|s| {
                    let i = OPERANDS * p + s;
                    is_set(inputs.issue_src_valid_i, i).then(|| values[warp][usize::from(inputs.issue_src_reg_i[i])])
                });
                expected.insert(inputs.issue_tag_i[p], operands);
            }
            for (p, warp, reg) in offered {
                if !is_set(out.write_ready_o, p) {
                    written[warp][reg] = false;
                    continue;
                }
                // Instructions that issue from now on, after `write_done_o`, read the new value.
                let mut word = WarpData(values[warp][reg]);
                word.merge(&inputs.write_data_i[p], LaneMask(inputs.write_i[p].mask()));
                values[warp][reg] = word.0;
            }
            for p in set_bits(out.write_done_o) {
                written[usize::from(out.written_o[p].warp())][usize::from(out.written_o[p].d())] = false;
            }
        }
        assert!(dispatched > 5000, "{dispatched}");
    }
}
