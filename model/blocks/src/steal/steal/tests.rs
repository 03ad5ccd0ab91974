mod composed;
mod stage;
mod values;

use super::*;
use crate::mrf::Mrf;
use crate::steal::shapes;
use crate::testing::{Driver, Random, compare, event};
use crate::write::WriteWord;
use crate::{Block, Ports};
use composed::{Composed, drive};
use std::cell::RefCell;

const TWO_PORTS: MrfShape = MrfShape { issue_ports: 2, ..MrfShape::BASELINE };
/// Straps.
const READS: u8 = 0b0010;
const WRITES: u8 = 0b0100;
const EAGER: u8 = 0b1000;
const UNREAD: u8 = 0b1_0000;
const REDIRECT: u8 = 0b10_0000;
const DROP: u8 = 0b100_0000;

impl Driver<Steal> {
    fn with(straps: u8) -> Self {
        let mut file = Self::new(&TWO_PORTS);
        (file.inputs.cfg_i, file.inputs.dispatch_ready_i) = (straps, 0b11);
        file
    }

    fn issue(&mut self, p: usize, warp: u8, sources: [Option<u8>; OPERANDS]) {
        self.inputs.issue_valid_i |= 1 << p;
        (self.inputs.issue_warp_i[p], self.inputs.issue_mask_i[p]) = (warp, u32::MAX);
        let valid = registers(p, sources, &mut self.inputs.issue_src_reg_i);
        self.inputs.issue_src_valid_i = self.inputs.issue_src_valid_i & !(0b111 << (OPERANDS * p)) | valid;
    }

    fn name(&mut self, p: usize, warp: u8, sources: [Option<u8>; OPERANDS]) {
        self.inputs.candidate_valid_i |= 1 << p;
        self.inputs.candidate_warp_i[p] = warp;
        let valid = registers(p, sources, &mut self.inputs.candidate_src_reg_i);
        self.inputs.candidate_src_valid_i = self.inputs.candidate_src_valid_i & !(0b111 << (OPERANDS * p)) | valid;
    }

    fn write(&mut self, p: usize, warp: u8, reg: u8, value: u32) {
        self.inputs.write_valid_i |= 1 << p;
        self.inputs.write_i[p] = WriteWord::new(warp, reg, u32::MAX);
        self.inputs.write_data_i[p] = WarpData([value; 32]);
    }

    /// Runs one cycle, then clears all offers.
    fn step(&mut self) -> StealOut {
        let out = self.cycle();
        let i = &mut self.inputs;
        (i.issue_valid_i, i.write_valid_i, i.candidate_valid_i, i.hint_valid_i, i.clear_i) = (0, 0, 0, 0, 0);
        out
    }

    fn steps(&mut self, cycles: usize) {
        for _ in 0..cycles {
            self.step();
        }
    }

    /// Sets each register of warp 0 to its own number.
    fn preload(&mut self, regs: std::ops::Range<u8>) {
        for reg in regs {
            self.write(0, 0, reg, reg.into());
            self.step();
        }
        self.step();
    }

    /// A grid is about to begin; the last row is spare.
    fn clear(&mut self) {
        (self.inputs.clear_i, self.inputs.spare_i) = (1, 1);
        self.step();
    }

    /// The value that a warp reads from a register; runs some cycles.
    fn value(&mut self, warp: u8, reg: u8) -> u32 {
        self.issue(0, warp, [Some(reg), None, None]);
        loop {
            let out = self.step();
            if out.dispatch_valid_o & 1 == 1 {
                return out.dispatch_data_o[0].0[7];
            }
        }
    }
}

/// Sets the register numbers of port `p`; returns the sources that are registers.
fn registers(p: usize, sources: [Option<u8>; OPERANDS], names: &mut [u8; MAX_SOURCES]) -> u8 {
    let mut valid = 0;
    for (s, source) in sources.into_iter().enumerate() {
        let Some(reg) = source else { continue };
        valid |= 1 << (OPERANDS * p + s);
        names[OPERANDS * p + s] = reg;
    }
    valid
}

fn counted(out: &StealOut, name: &str) -> u64 {
    event(MRF_EVENT, out.event_o, name)
}

fn stolen(out: &StealOut, name: &str) -> u64 {
    event(STEAL_EVENT, out.steal_event_o, name)
}

fn places(out: &StealOut, name: &str) -> u64 {
    event(STEAL_PLACE_EVENT, out.place_event_o, name)
}

#[test]
fn the_event_word_is_as_wide_as_the_page_says() {
    assert_eq!(STEAL_EVENT.iter().map(|&(_, bits)| bits).sum::<u32>(), 63);
    assert_eq!((STEAL_EVENT[0].0, STEAL_EVENT[22].0), ("candidate", "places"));
    assert_eq!(STEAL_EVENT[23..].iter().map(|field| field.0).collect::<Vec<_>>(), ["wasted", "hint", "hint_ignored"]);
}

#[test]
fn a_stolen_operand_is_read_when_its_instruction_issues() {
    let mut file = Driver::with(READS);
    file.preload(0..64);
    // t-1: registers 1 and 17 share a bank; 2 has one of its own.
    file.name(1, 0, [Some(1), Some(17), Some(2)]);
    assert_eq!(file.step().steal_o, 0);
    // t
    file.inputs.issue_tag_i[1] = 5;
    file.issue(1, 0, [Some(1), Some(17), Some(2)]);
    let out = file.step();
    assert_eq!((out.steal_o, file.probe().stolen, file.probe().stolen_taken), (0b10, 0b001_000, 0b10));
    assert_eq!((file.probe().fill, file.probe().fill_bank[3], counted(&out, "read_groups")), (0b001_000, 1, 8));
    let counts = ["candidate", "sharing", "stolen", "steal", "wasted"].map(|name| stolen(&out, name));
    assert_eq!((counts, counted(&out, "read")), ([1, 2, 1, 1, 0], 1));
    // t+1: operands that were not stolen are read.
    let out = file.step();
    assert_eq!((counted(&out, "read"), file.probe().grant, file.probe().inflight_q[1]), (2, 0b110_000, 0b001));
    assert_eq!(file.step().dispatch_valid_o, 0);
    let out = file.step();
    assert_eq!((out.dispatch_valid_o, out.dispatch_tag_o[0]), (0b01, 5));
    assert_eq!(out.dispatch_data_o[..3].iter().map(|word| word.0[9]).collect::<Vec<_>>(), [1, 17, 2]);
}

#[test]
fn an_instruction_of_which_everything_is_stolen_is_offered_two_cycles_after_its_issue() {
    let mut file = Driver::with(READS | EAGER);
    file.preload(0..8);
    file.name(0, 0, [Some(6), Some(6), Some(3)]);
    file.step();
    file.issue(0, 0, [Some(6), Some(6), Some(3)]);
    file.inputs.issue_mask_i[0] = 0x1111;
    let out = file.step();
    // One read for each register, each of the instruction's groups.
    assert_eq!((out.steal_o, file.probe().fill & 0b111, counted(&out, "read")), (0b01, 0b111, 2));
    assert_eq!(counted(&out, "read_groups"), 2 * 4);
    assert_eq!(file.step().dispatch_valid_o, 0);
    let out = file.step();
    assert_eq!(out.dispatch_valid_o, 0b01);
    assert_eq!(out.dispatch_data_o[..3].iter().map(|word| word.0[9]).collect::<Vec<_>>(), [6, 6, 3]);
}

#[test]
fn what_was_read_is_dropped_if_the_candidate_does_not_issue() {
    // Cases: no instruction issues; another warp issues; the candidate issues.
    for (warp, wasted) in [(None, 1), (Some(1), 1), (Some(0), 0)] {
        let mut file = Driver::with(READS);
        file.preload(0..64);
        file.name(0, 0, [Some(1), Some(17), None]);
        file.step();
        if let Some(warp) = warp {
            file.issue(0, warp, [Some(1), Some(17), None]);
        }
        let out = file.step();
        assert_eq!((out.steal_o, stolen(&out, "wasted"), counted(&out, "read")), (0b01, wasted, 1));
        assert_eq!(counted(&out, "read_groups"), 8 * (1 - wasted));
        assert_eq!((file.probe().fill, u64::from(file.probe().stolen_taken)), (1 - wasted, 1 - wasted));
    }
}

#[test]
fn a_candidate_without_a_collector_is_not_stolen_for() {
    let mut file = Driver::with(READS);
    file.inputs.dispatch_ready_i = 0;
    // Seven of eight collectors are in use.
    for _ in 0..7 {
        file.issue(0, 1, [None; OPERANDS]);
        file.step();
    }
    file.name(0, 0, [Some(1), Some(17), None]);
    file.name(1, 2, [Some(1), Some(17), None]);
    file.step();
    // Port 1 would need two free collectors.
    assert_eq!((file.step().steal_o, file.probe().want_valid), (0b01, 0b011));
}

#[test]
fn a_result_that_meets_a_read_is_parked_and_brought_back() {
    let mut file = Driver::with(WRITES);
    file.preload(0..64);
    file.clear();
    // Registers 1, 17 and 33 share a bank. t-1: taken.
    file.issue(0, 0, [Some(17), None, None]);
    file.write(1, 0, 1, 1000);
    file.step();
    // t: parked. The scoreboard releases its dependents now.
    let out = file.step();
    assert_eq!((out.write_done_o, out.written_o[1].register()), (0b10, (0, 1)));
    assert_eq!((stolen(&out, "write_parked"), counted(&out, "write"), counted(&out, "read")), (1, 1, 1));
    let place = file.probe().park_bank[1];
    assert_eq!((place, file.probe().bank_write_entry[0]), (0, 63));
    // t+1: fetched. A dependent issues.
    file.issue(0, 0, [Some(1), None, None]);
    let out = file.step();
    assert_eq!((stolen(&out, "return_next"), stolen(&out, "parked"), file.probe().fetch_bank), (1, 1, place));
    assert_eq!((counted(&out, "read"), counted(&out, "read_groups"), file.probe().read_entry[0]), (1, 8, 63));
    // t+2: lands; its dependent waits.
    let out = file.step();
    assert_eq!((stolen(&out, "land"), stolen(&out, "parked"), stolen(&out, "wait_return")), (1, 0, 1));
    assert_eq!((counted(&out, "write"), counted(&out, "write_groups")), (1, 8));
    assert_eq!((file.probe().bank_write_valid, file.probe().bank_write_entry[1]), (0b10, 0));
    assert_eq!(counted(&file.step(), "read"), 1);
    file.step();
    assert_eq!(file.step().dispatch_data_o[0].0, [1000; 32]);
}

/// What counts is the next instruction in the cycle in which the result is taken.
#[test]
fn with_unread_a_result_that_is_read_next_goes_into_its_bank() {
    for (taken, decided, parked) in [(0b10, 0b00, 0), (0b00, 0b10, 1), (0b01, 0b10, 1)] {
        let mut file = Driver::with(WRITES | UNREAD);
        file.preload(0..64);
        file.clear();
        file.issue(0, 0, [Some(17), None, None]);
        file.write(1, 0, 1, 1000);
        file.inputs.write_next_i = taken;
        file.step();
        file.inputs.write_next_i = decided;
        let out = file.step();
        assert_eq!((out.write_done_o, stolen(&out, "write_parked")), (0b10, parked), "{taken:#b}");
        assert_eq!((stolen(&out, "write_forced"), stolen(&out, "write_next")), (1 - parked, 1 - parked));
    }
}

#[test]
fn a_dependent_forces_a_parked_value_back_whatever_the_buses_do() {
    let mut file = Driver::with(WRITES);
    file.preload(0..64);
    file.clear();
    // Two reads of the bank: the value is left where it is while one of them waits.
    file.issue(0, 0, [Some(17), Some(33), Some(49)]);
    file.write(1, 0, 1, 1000);
    file.step();
    file.step();
    file.issue(0, 0, [Some(1), None, None]);
    // Both buses have results, those of an older time.
    file.write(0, 0, 2, 50);
    file.write(1, 0, 3, 51);
    let out = file.step();
    assert_eq!((stolen(&out, "parked"), file.probe().fetch_valid), (1, 0));
    file.write(0, 0, 4, 52);
    file.write(1, 0, 5, 53);
    let out = file.step();
    assert_eq!((stolen(&out, "return_forced"), stolen(&out, "force_read"), stolen(&out, "wait_parked")), (1, 1, 1));
    let out = file.step();
    // The landing takes bus 0, and its result waits.
    assert_eq!((stolen(&out, "land"), stolen(&out, "write_wait_bus"), out.write_done_o), (1, 1, 0b10));
    assert_eq!(counted(&file.step(), "read"), 1);
    file.steps(8);
    assert_eq!([1, 2, 3, 4, 5].map(|reg| file.value(0, reg)), [1000, 50, 51, 52, 53]);
}

#[test]
fn a_result_for_its_register_or_its_place_waits_for_a_parked_value() {
    // Register 1 is parked in a dead register, number 32, of bank 0. The younger result is for the one or the other.
    for (reg, cause) in [(1, "force_write"), (32, "force_alive")] {
        let mut file = Driver::with(WRITES);
        file.preload(0..64);
        file.issue(0, 0, [None; OPERANDS]);
        file.step();
        (file.inputs.hint_valid_i, file.inputs.hint_reg_i[0]) = (1, 32);
        let out = file.step();
        assert_eq!((stolen(&out, "hint"), stolen(&out, "hint_ignored")), (1, 0));
        file.issue(0, 0, [Some(17), Some(33), Some(49)]);
        file.write(1, 0, 1, 1000);
        file.step();
        file.write(1, 0, reg, 2000);
        let out = file.step();
        assert_eq!((stolen(&out, "write_parked"), file.probe().bank_write_entry[0]), (1, 2));
        let out = file.step();
        assert_eq!((stolen(&out, cause), stolen(&out, "write_wait_parked"), out.write_done_o), (1, 1, 0), "{reg}");
        file.steps(8);
        let values = if reg == 1 { (2000, 1000) } else { (1000, 2000) };
        assert_eq!((file.value(0, 1), file.probe().free_valid), (values.0, (reg == 1).into()));
        if reg == 32 {
            assert_eq!(file.value(0, 32), values.1);
        }
    }
}

#[test]
fn with_redirect_a_dependent_reads_a_parked_value_where_it_is() {
    let mut file = Driver::with(WRITES | REDIRECT);
    file.preload(0..64);
    file.clear();
    // Two reads of the bank: the value is left where it is while one of them waits. The dependent names its register twice.
    file.issue(0, 0, [Some(17), Some(33), Some(49)]);
    file.write(1, 0, 1, 1000);
    file.step();
    file.issue(0, 1, [Some(2), None, None]);
    file.step();
    let place = file.probe().park_bank[1];
    file.issue(0, 0, [Some(1), None, Some(1)]);
    let out = file.step();
    assert_eq!((stolen(&out, "parked"), file.probe().fetch_valid), (1, 0));
    let out = file.step();
    assert_eq!((places(&out, "redirected"), stolen(&out, "return_forced"), stolen(&out, "wait_parked")), (1, 0, 0));
    let nets = file.probe();
    assert_eq!((is_set(nets.read_valid, place.into()), nets.read_entry[usize::from(place)]), (true, 63));
    file.step();
    // Instructions are dispatched in their order.
    let mut seen = None;
    for _ in 0..6 {
        let out = file.step();
        for p in 0..2 {
            if is_set(out.dispatch_valid_o, p) && out.dispatch_src_valid_o >> (OPERANDS * p) & 0b111 == 0b101 {
                seen = Some([0, 2].map(|s| out.dispatch_data_o[OPERANDS * p + s].0[0]));
            }
        }
    }
    assert_eq!(seen, Some([1000; 2]));
    assert_eq!(file.value(0, 1), 1000);
}

#[test]
fn with_drop_a_whole_result_makes_a_parked_value_worthless() {
    for (straps, mask, dropped) in [(WRITES | DROP, u32::MAX, 1), (WRITES | DROP, 1, 0), (WRITES, u32::MAX, 0)] {
        let mut file = Driver::with(straps);
        file.preload(0..64);
        file.clear();
        // A read of its bank is left over for long: the value stays.
        file.issue(0, 0, [Some(17), Some(33), Some(49)]);
        file.write(1, 0, 1, 1000);
        file.step();
        file.write(1, 0, 1, 2000);
        file.inputs.write_i[1].change(|write| write.mask = mask);
        let out = file.step();
        assert_eq!(stolen(&out, "write_parked"), 1);
        let (mut forced, mut drops, mut returns) = (0, 0, 0);
        for _ in 0..10 {
            let out = file.step();
            forced += stolen(&out, "return_forced");
            returns += stolen(&out, "return_next") + stolen(&out, "return_later");
            drops += places(&out, "dropped");
        }
        assert_eq!((drops, forced), (dropped, 1 - dropped), "{straps:#b} {mask:#x}");
        // The second result may have been parked, too.
        assert!(returns <= 1);
        // A result of some lanes leaves the other lanes unchanged.
        assert_eq!(file.value(0, 1), if mask == u32::MAX { 2000 } else { 1000 });
        assert_eq!(file.probe().parked, 0);
    }
}

#[test]
fn a_hint_is_of_the_warp_that_is_dispatched() {
    let mut file = Driver::with(WRITES);
    file.issue(1, 5, [None; OPERANDS]);
    file.step();
    (file.inputs.hint_valid_i, file.inputs.hint_reg_i[0], file.inputs.hint_base_i[0]) = (1, 18, 3);
    assert_eq!(stolen(&file.step(), "hint"), 1);
    assert_eq!((file.probe().hint_bank[0], file.probe().hint_entry[0]), (7, 4));
    // A register that is on its way.
    file.issue(1, 5, [None; OPERANDS]);
    file.write(0, 5, 18, 1);
    file.inputs.write_base_i[0] = 3;
    file.step();
    (file.inputs.hint_valid_i, file.inputs.hint_reg_i[0], file.inputs.hint_base_i[0]) = (1, 18, 3);
    let out = file.step();
    assert_eq!((stolen(&out, "hint"), stolen(&out, "hint_ignored")), (0, 1));
    assert_eq!((file.probe().free_valid, file.probe().alive), (1 << 7, 1 << 7));
    file.step();
    assert_eq!(file.probe().free_valid, 0);
}

#[test]
fn reset_empties_everything_but_the_banks() {
    let mut file = Driver::with(READS | WRITES);
    file.preload(0..64);
    file.clear();
    for _ in 0..8 {
        file.issue(0, 0, [Some(17), Some(33), Some(49)]);
        file.write(1, 0, 1, 50);
        file.name(0, 0, [Some(1), Some(17), None]);
        file.step();
    }
    file.inputs.rst_ni = 0;
    file.name(0, 0, [Some(1), Some(17), None]);
    file.step();
    file.inputs.rst_ni = 1;
    let out = file.step();
    assert_eq!((out.issue_ready_o, out.write_ready_o, out.write_done_o, out.steal_o), (0b11, 0b11, 0, 0));
    let probe = file.probe();
    assert_eq!((probe.busy, probe.req_valid, probe.fill_q, probe.read_data_valid), (0, 0, 0, 0));
    assert_eq!((probe.free_valid, probe.parked, probe.land_valid, probe.candidates_valid_q), (0, 0, 0, 0));
    assert_eq!(file.value(0, 9), 9);
}

#[test]
fn memories_are_where_the_rtl_has_them() {
    // Its banks have one port, whatever the MRF's have.
    let mut file = Steal::new(&MrfShape { banks: 2, dual_port: true, collectors: 4, ..MrfShape::BASELINE });
    let memories = file.memories();
    let paths: Vec<_> = memories.iter().map(|m| (m.path.as_str(), m.block, m.len())).collect();
    assert_eq!(
        paths,
        [
            ("gen_bank[0].u_bank.gen_1rw.u_ram.mem_q", "mrf_bank", 64),
            ("gen_bank[1].u_bank.gen_1rw.u_ram.mem_q", "mrf_bank", 64),
            ("u_candidates.warp_q", "steal_candidates", 1),
            ("u_candidates.leader_q", "steal_candidates", 1),
            ("u_candidates.bank_q", "steal_candidates", 3),
            ("u_candidates.entry_q", "steal_candidates", 3),
            ("u_crossbar.operand_q", "mrf_crossbar", 12),
        ]
    );
}

#[test]
fn without_stealing_it_is_the_mrf_cycle_by_cycle() {
    for (shape, cfg) in shapes().into_iter().flat_map(|shape| [(shape, 0), (shape, 1), (shape, EAGER)]) {
        let (mut file, mut mrf) = (Driver::<Steal>::new(&shape), Driver::<Mrf>::new(&shape));
        let (mut random, fields) = (Random(2), StealIn::fields(&shape));
        let mut last = StealIn::zeroed();
        for cycle in 0..3000 {
            random.fill(&fields, &mut file.inputs);
            drive(&mut random, &shape, [50, 70, 50, 60, 50, 50], &last, 0, &mut file.inputs);
            let i = &mut file.inputs;
            i.cfg_i = cfg;
            last = *i;
            let given = &mut mrf.inputs;
            i.narrow(given);
            (given.cfg_i, given.write_data_i) = (cfg & 1, i.write_data_i);
            let (out, expected) = (file.cycle(), mrf.cycle());
            assert_eq!(out.event_o, expected.event_o, "cycle {cycle}");
            assert_eq!((out.issue_ready_o, out.write_ready_o), (expected.issue_ready_o, expected.write_ready_o));
            assert_eq!((out.write_done_o, out.written_o), (expected.write_done_o, expected.written_o));
            let offers = |valid: u8, tag, warp| (valid, tag, warp);
            assert_eq!(
                offers(out.dispatch_valid_o, out.dispatch_tag_o, out.dispatch_warp_o),
                offers(expected.dispatch_valid_o, expected.dispatch_tag_o, expected.dispatch_warp_o)
            );
            assert_eq!(out.dispatch_src_valid_o, expected.dispatch_src_valid_o);
            for source in set_bits(out.dispatch_src_valid_o) {
                assert_eq!(out.dispatch_data_o[source].0, expected.dispatch_data_o[source].0);
            }
            assert_eq!((out.steal_o, file.probe().park_valid, file.probe().fetch_valid), (0, 0, 0));
        }
    }
}

#[test]
fn the_register_file_is_the_sum_of_its_blocks() {
    for (number, shape) in shapes().into_iter().enumerate() {
        let composed = RefCell::new(Composed::new(shape));
        // Bursts of different density.
        let (mut density, mut straps) = ([50; 6], 0);
        let mut phases = Random(number as u64 + 1);
        let (mut cycle, mut last) = (0, StealIn::zeroed());
        let mut seen = 0u64;
        compare::<Steal>(
            &shape,
            12_000,
            |random, inputs| {
                if cycle % 100 == 0 {
                    density = std::array::from_fn(|_| 10 + phases.below(90));
                }
                if cycle % 600 == 0 {
                    straps = phases.below(128) as u8;
                }
                cycle += 1;
                drive(random, &shape, density, &last, composed.borrow_mut().offered(), inputs);
                inputs.cfg_i = straps;
                last = *inputs;
            },
            |inputs| {
                let (out, nets) = composed.borrow_mut().cycle(inputs);
                seen |= out.steal_event_o;
                (out, nets)
            },
        );
        // All events have occurred.
        for (name, _) in STEAL_EVENT {
            assert_ne!(event(STEAL_EVENT, seen, name), 0, "{name} with {shape:?}");
        }
    }
}

/// Two files of which one is not clocked where nothing changes.
#[test]
fn an_edge_that_is_quiet_changes_nothing() {
    let shape = TWO_PORTS;
    let (mut file, mut idle) = (Driver::<Steal>::new(&shape), Driver::<Steal>::new(&shape));
    let (mut random, fields) = (Random(4), StealIn::fields(&shape));
    let (mut last, mut quiet, mut still) = (StealIn::zeroed(), 0, 0);
    for cycle in 0..40_000 {
        random.fill(&fields, &mut file.inputs);
        let busy = if cycle % 20 < 4 { 80 } else { 2 };
        drive(
            &mut random,
            &shape,
            [busy, 70, busy, 30, busy, busy],
            &last,
            file.block.offers.ports(),
            &mut file.inputs,
        );
        (file.inputs.rst_ni, file.inputs.cfg_i) = (1, READS | WRITES);
        last = file.inputs;
        idle.inputs = file.inputs;
        let out = file.cycle();
        let mut found = StealOut::zeroed();
        idle.block.early(&mut found);
        Block::late(&mut idle.block, &idle.inputs, &mut found);
        assert_eq!((found.event_o, found.steal_event_o), (out.event_o, out.steal_event_o), "cycle {cycle}");
        assert_eq!((found.dispatch_valid_o, found.write_done_o), (out.dispatch_valid_o, out.write_done_o));
        still += u32::from(idle.block.is_still());
        if idle.block.is_quiet(&idle.block.outside, &idle.inputs.extra()) {
            quiet += 1;
        } else {
            idle.block.clock(&idle.inputs, &found);
        }
    }
    assert!(quiet > 1000 && still > quiet, "{quiet} {still}");
}
