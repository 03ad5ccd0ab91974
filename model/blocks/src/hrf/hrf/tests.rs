mod stage;

use super::*;
use crate::Block;
use crate::testing::{Driver, Random, event};
use crate::write::WriteWord;

const WARPS: usize = 6;
const REGISTERS: usize = 12;
/// The paper's latencies, with and without power gating of all but four entries.
const STRAPS: u32 = 4 | 3 << 10 | 3 << 14;
const GATED: u32 = STRAPS | 1 << 6;

impl Driver<Hrf> {
    fn with(settings: &[&str], straps: u32) -> Self {
        let mut hrf = Self::new(&HrfShape::preset(settings));
        (hrf.inputs.cfg_i, hrf.inputs.dispatch_ready_i) = (straps, 1);
        hrf
    }

    /// Runs one cycle, then clears all offers.
    fn step(&mut self) -> HrfOut {
        let out = self.cycle();
        (self.inputs.issue_valid_i, self.inputs.issue_src_valid_i, self.inputs.write_valid_i) = (0, 0, 0);
        out
    }

    /// A warp takes the slot of its parity.
    fn open(&mut self, warp: u8) {
        let b = usize::from(warp) % PARITIES;
        self.inputs.slot_valid_i |= 1 << b;
        (self.inputs.slot_warp_i[b], self.inputs.slot_base_i[b]) = (warp, base(warp.into()));
    }

    /// The warp gives up its slot; returns the number of cycles until its buffer is empty.
    fn close(&mut self, warp: u8) -> usize {
        let bit = 1 << (warp % 2);
        self.inputs.flush_i |= bit;
        let mut cycles = 0;
        while self.step().flush_done_o & bit == 0 {
            cycles += 1;
        }
        self.inputs.flush_i &= !bit;
        self.inputs.slot_valid_i &= !bit;
        cycles
    }

    /// An instruction that reads these registers.
    fn issue(&mut self, warp: u8, regs: [u8; OPERANDS], sources: u8) -> &mut Self {
        let inputs = &mut self.inputs;
        (inputs.issue_valid_i, inputs.issue_warp_i, inputs.issue_base_i) = (1, warp, base(warp.into()));
        (inputs.issue_mask_i, inputs.issue_tag_i) = (u32::MAX, 5);
        (inputs.issue_src_valid_i, inputs.issue_src_reg_i) = (sources, regs);
        self
    }

    fn write(&mut self, warp: u8, reg: u8, mask: u32, value: u32) -> &mut Self {
        let inputs = &mut self.inputs;
        (inputs.write_valid_i, inputs.write_base_i) = (1, base(warp.into()));
        inputs.write_i = WriteWord::new(warp, reg, mask);
        inputs.write_data_i = WarpData([value; LANES]);
        self
    }

    /// The number of cycles until an instruction is offered, and the outputs in that cycle.
    fn wait(&mut self) -> (usize, HrfOut) {
        for cycle in 0..100 {
            let out = self.step();
            if out.dispatch_valid_o != 0 {
                return (cycle, out);
            }
        }
        panic!("nothing is offered");
    }
}

fn base(warp: usize) -> u16 {
    ((warp & !1) * REGISTERS.div_ceil(PARITIES)) as u16
}

fn count(out: &HrfOut, name: &str) -> u64 {
    let (layout, word) = if HRF_EVENT.iter().any(|&(field, _)| field == name) {
        (HRF_EVENT, out.event_o)
    } else {
        (HRF_COUNT_EVENT, out.count_event_o.into())
    };
    event(layout, word, name)
}

#[test]
fn an_operand_comes_from_the_buffer_lane_by_lane_and_else_from_the_bank() {
    let mut hrf = Driver::with(&[], STRAPS);
    // While no slot is open a result goes through the queue into the bank.
    hrf.write(3, 7, u32::MAX, 70).step();
    let out = hrf.step();
    assert_eq!((out.write_done_o, count(&out, "hrf_load"), count(&out, "hrf_load_groups")), (1, 1, 8));
    hrf.open(3);
    hrf.step();
    hrf.write(3, 7, 0xff, 71).step();
    let out = hrf.write(3, 8, u32::MAX, 80).step();
    assert_eq!((count(&out, "hrf_write"), count(&out, "hrf_write_groups"), count(&out, "hrf_coalesced")), (1, 2, 0));
    hrf.write(3, 7, 0xf00, 72).step();
    let out = hrf.step();
    assert_eq!((count(&out, "hrf_write"), count(&out, "hrf_coalesced"), count(&out, "hrf_look")), (1, 1, 1));
    hrf.step();
    assert_eq!(hrf.issue(3, [7, 8, 9], 0b111).step().issue_ready_o, 1);
    let out = hrf.step();
    assert_eq!((count(&out, "hrf_hit"), count(&out, "hrf_partial"), count(&out, "hrf_miss")), (1, 1, 0));
    assert_eq!((count(&out, "hrf_read_groups"), count(&out, "hrf_look")), (3 + 8, 2));
    let out = hrf.step();
    assert_eq!((count(&out, "hrf_miss"), count(&out, "hrf_look"), out.dispatch_valid_o), (1, 1, 0));
    assert_eq!(hrf.step().dispatch_valid_o, 0);
    let out = hrf.step();
    assert_eq!((out.dispatch_valid_o, out.dispatch_tag_o, out.dispatch_src_valid_o), (1, 5, 0b111));
    let expected: [u32; LANES] = std::array::from_fn(|lane| [71, 71, 72, 70, 70, 70, 70, 70][lane / 4]);
    assert_eq!((out.dispatch_data_o[0].0, out.dispatch_data_o[1].0), (expected, [80; LANES]));
    assert_eq!(out.dispatch_data_o[2].0, [0; LANES]);
}

#[test]
fn a_buffer_is_emptied_while_the_next_warp_fills_the_other() {
    let mut hrf = Driver::with(&[], STRAPS);
    hrf.open(2);
    hrf.step();
    for reg in 0..3 {
        hrf.write(2, reg, u32::MAX, u32::from(reg) + 20).step();
    }
    hrf.step();
    hrf.inputs.flush_i = 0b01;
    let out = hrf.step();
    assert_eq!((count(&out, "hrf_period"), count(&out, "hrf_period_entries"), count(&out, "hrf_draining")), (1, 3, 1));
    hrf.open(5);
    let out = hrf.write(5, 0, u32::MAX, 50).step();
    assert_eq!((count(&out, "hrf_drain"), count(&out, "hrf_drain_groups"), count(&out, "hrf_period")), (1, 8, 0));
    let mut drains = 1;
    loop {
        let out = hrf.step();
        drains += count(&out, "hrf_drain");
        if out.flush_done_o & 1 != 0 {
            assert_eq!((count(&out, "hrf_period"), count(&out, "hrf_draining")), (0, 0));
            break;
        }
    }
    assert_eq!(drains, 3);
    (hrf.inputs.flush_i, hrf.inputs.slot_valid_i) = (0, 0b10);
    hrf.issue(5, [0, 0, 1], 0b011).step();
    let (_, out) = hrf.wait();
    assert_eq!((out.dispatch_data_o[0].0, out.dispatch_data_o[1].0), ([50; LANES], [50; LANES]));
    hrf.close(5);
    hrf.open(2);
    hrf.step();
    hrf.issue(2, [2, 1, 0], 0b111).step();
    let (cycles, out) = hrf.wait();
    assert_eq!((cycles, out.dispatch_data_o.map(|data| data.0[0])), (4, [22, 21, 20]), "one a cycle from one bank");
}

#[test]
fn what_comes_for_a_warp_that_has_given_up_lands_behind_its_buffer() {
    let mut hrf = Driver::with(&[], STRAPS);
    hrf.open(2);
    hrf.step();
    for reg in 0..4 {
        hrf.write(2, reg, u32::MAX, 20).step();
    }
    hrf.step();
    hrf.inputs.flush_i = 0b01;
    hrf.write(2, 3, 1, 99).step();
    assert_eq!(count(&hrf.step(), "hrf_load"), 1);
    hrf.close(2);
    hrf.open(2);
    hrf.issue(2, [3; OPERANDS], 1).step();
    let (cycles, out) = hrf.wait();
    assert_eq!(out.dispatch_data_o[0].0[..2], [99, 20]);
    assert!(cycles > 4, "{cycles}: the read waits for the queue and the bank");
}

#[test]
fn a_full_buffer_sends_results_to_the_bank_and_the_pipeline_stands_still() {
    let mut hrf = Driver::with(&["hrf.buffer_entries=4"], STRAPS);
    hrf.open(2);
    hrf.step();
    for reg in 0..5 {
        hrf.write(2, reg, u32::MAX, u32::from(reg) + 20).step();
    }
    let out = hrf.step();
    assert_eq!((count(&out, "hrf_direct"), count(&out, "hrf_direct_groups"), out.issue_ready_o), (1, 8, 1));
    for _ in 0..4 {
        let out = hrf.issue(2, [4, 0, 0], 0b011).step();
        assert_eq!((out.issue_ready_o, count(&out, "hrf_frozen")), (0, 1));
    }
    assert_eq!(hrf.issue(2, [4, 0, 0], 0b011).step().issue_ready_o, 1);
    let (_, out) = hrf.wait();
    assert_eq!((out.dispatch_data_o[0].0, out.dispatch_data_o[1].0), ([24; LANES], [20; LANES]));
}

#[test]
fn the_first_entry_without_power_waits_for_it() {
    let mut hrf = Driver::with(&[], GATED);
    hrf.open(2);
    hrf.step();
    for reg in 0..5 {
        assert_eq!(hrf.write(2, reg, u32::MAX, 20).step().write_ready_o, 1);
    }
    let out = hrf.step();
    assert_eq!((count(&out, "hrf_wait_wake"), count(&out, "hrf_wake"), count(&out, "hrf_gated")), (1, 1, 2));
    for _ in 0..2 {
        let out = hrf.step();
        assert_eq!((count(&out, "hrf_wait_wake"), count(&out, "hrf_waking"), count(&out, "hrf_gated")), (1, 1, 1));
    }
    assert_eq!(count(&hrf.step(), "hrf_write"), 1);
    hrf.close(2);
    assert_eq!(count(&hrf.step(), "hrf_sleeping"), 1);
    // A drop writes nothing.
    hrf.open(3);
    hrf.step();
    hrf.write(3, 1, u32::MAX, 7).step();
    hrf.step();
    hrf.inputs.drop_i = 0b10;
    assert_eq!(hrf.close(3), 0);
    assert_eq!(hrf.probe().nets.bank_write_valid, 0);
}

#[test]
fn without_buffers_every_write_stops_the_pipeline() {
    let mut hrf = Driver::with(&["hrf.buffer_entries=0"], STRAPS);
    hrf.write(3, 7, u32::MAX, 70).step();
    let out = hrf.write(2, 6, u32::MAX, 60).step();
    assert_eq!((count(&out, "hrf_direct"), count(&out, "hrf_look"), out.write_ready_o), (1, 0, 1));
    let mut frozen = 0;
    while hrf.issue(3, [7; OPERANDS], 1).step().issue_ready_o == 0 {
        frozen += 1;
    }
    assert_eq!(frozen, 4 + 1, "the second write begins a cycle later");
    let (_, out) = hrf.wait();
    assert_eq!(out.dispatch_data_o[0].0, [70; LANES]);
    hrf.inputs.flush_i = 0b10;
    assert_eq!(hrf.step().flush_done_o, 0b10);
}

/// An outstanding result. A result of a long-latency operation comes in two parts.
struct Pending {
    warp: usize,
    reg: usize,
    mask: u32,
    due: usize,
}

/// An instruction in the file.
#[derive(Clone, Copy)]
struct Held {
    warp: usize,
    sources: u8,
    mask: u32,
    /// The expected values of its sources.
    read: [[u32; LANES]; OPERANDS],
    /// The register that it writes.
    d: Option<usize>,
    long: bool,
}

/// Warps that follow the rules of the SM, with a plain register file as model; registers have the value written last.
struct Warps {
    random: Random,
    /// One warp is active at a time.
    alternate: bool,
    /// The active warp.
    active: Option<usize>,
    value: [[[u32; LANES]; REGISTERS]; WARPS],
    /// Lanes that are not read before they are written.
    dead: [[u32; REGISTERS]; WARPS],
    /// Outstanding results of each register, and whether they are of long latency.
    open: [[u8; REGISTERS]; WARPS],
    long: [[bool; REGISTERS]; WARPS],
    resident: [u8; WARPS],
    /// The instruction of each tag.
    held: Vec<Option<Held>>,
    pending: Vec<Pending>,
}

impl Warps {
    fn new(shape: &HrfShape) -> Self {
        Self {
            random: Random(7),
            alternate: shape.buffered(),
            active: None,
            value: [[[0; LANES]; REGISTERS]; WARPS],
            dead: [[0; REGISTERS]; WARPS],
            open: [[0; REGISTERS]; WARPS],
            long: [[false; REGISTERS]; WARPS],
            resident: [0; WARPS],
            held: vec![None; shape.mrf.collectors],
            pending: Vec::new(),
        }
    }

    fn lanes(&mut self) -> u32 {
        match self.random.below(4) {
            0 => self.random.next() as u32,
            1 => 1 << self.random.below(LANES),
            _ => u32::MAX,
        }
    }

    /// The active warp gives up, or another one becomes active.
    fn slots(&mut self, inputs: &mut HrfIn) {
        if !self.alternate {
            self.active = Some(self.random.below(WARPS));
            return;
        }
        if let Some(w) = self.active {
            let short = (0..REGISTERS).any(|reg| self.open[w][reg] != 0 && !self.long[w][reg]);
            if self.resident[w] == 0 && !short && self.random.chance(8) {
                self.active = None;
                inputs.flush_i |= 1 << (w % 2);
                if self.random.chance(10) {
                    inputs.drop_i |= 1 << (w % 2);
                    self.dead[w] = [u32::MAX; REGISTERS];
                }
            }
            return;
        }
        let w = self.random.below(WARPS);
        if inputs.slot_valid_i >> (w % 2) & 1 == 0 && (0..REGISTERS).all(|reg| self.open[w][reg] == 0) {
            self.active = Some(w);
            inputs.slot_valid_i |= 1 << (w % 2);
            (inputs.slot_warp_i[w % 2], inputs.slot_base_i[w % 2]) = (w as u8, base(w));
        }
    }

    /// An instruction of the active warp.
    fn issue(&mut self, inputs: &mut HrfIn) {
        let Some(w) = self.active else { return };
        let Some(tag) = self.held.iter().position(Option::is_none) else { return };
        let mask = self.lanes();
        let (mut sources, mut read, mut regs) = (0, [[0; LANES]; OPERANDS], [0; OPERANDS]);
        for k in 0..OPERANDS {
            let reg = self.random.below(REGISTERS);
            regs[k] = reg as u8;
            if self.open[w][reg] == 0 && self.dead[w][reg] & mask == 0 {
                sources |= 1 << k;
                read[k] = self.value[w][reg];
            }
        }
        let d = self.random.below(REGISTERS);
        let writes = self.open[w][d] == 0 && self.random.chance(80);
        let long = writes && self.random.chance(20);
        (inputs.issue_valid_i, inputs.issue_warp_i, inputs.issue_base_i) = (1, w as u8, base(w));
        (inputs.issue_tag_i, inputs.issue_mask_i) = (tag as u64, mask);
        (inputs.issue_src_valid_i, inputs.issue_src_reg_i) = (sources, regs);
        self.resident[w] += 1;
        if writes {
            self.open[w][d] = 1 + u8::from(long);
            self.long[w][d] = long;
        }
        self.held[tag] = Some(Held { warp: w, sources, mask, read, d: writes.then_some(d), long });
    }

    /// A result.
    fn write(&mut self, cycle: usize, inputs: &mut HrfIn) {
        let Some(i) = self.pending.iter().position(|result| result.due <= cycle) else { return };
        let Pending { warp, reg, mask, .. } = self.pending.remove(i);
        (inputs.write_valid_i, inputs.write_base_i) = (1, base(warp));
        inputs.write_i = WriteWord::new(warp as u8, reg as u8, mask);
        for lane in 0..LANES {
            let value = self.random.next() as u32;
            inputs.write_data_i.0[lane] = value;
            if mask >> lane & 1 == 1 {
                self.value[warp][reg][lane] = value;
            }
        }
        self.dead[warp][reg] &= !mask;
    }

    /// Checks the instructions that are dispatched.
    fn dispatch(&mut self, cycle: usize, ready: bool, out: &HrfOut) {
        if out.dispatch_valid_o == 0 {
            return;
        }
        let tag = out.dispatch_tag_o as usize;
        let Held { warp: w, sources, mask, read, d, long } = self.held[tag].expect("it has been issued");
        assert_eq!((usize::from(out.dispatch_warp_o), out.dispatch_mask_o), (w, mask), "cycle {cycle}");
        assert_eq!(out.dispatch_src_valid_o, sources, "cycle {cycle}");
        for k in set_bits(sources) {
            for lane in set_bits(mask) {
                let found = out.dispatch_data_o[k].0[lane];
                assert_eq!(found, read[k][lane], "cycle {cycle}, warp {w}, source {k}, lane {lane}");
            }
        }
        if !ready {
            return;
        }
        self.held[tag] = None;
        self.resident[w] -= 1;
        let Some(d) = d else { return };
        let due = cycle + 1 + self.random.below(if long { 60 } else { 12 });
        let parts = if long { vec![mask & 0xffff, mask & !0xffff] } else { vec![mask] };
        for (part, mask) in parts.into_iter().enumerate() {
            self.pending.push(Pending { warp: w, reg: d, mask, due: due + 10 * part });
        }
    }
}

fn run(settings: &[&str], straps: u32, cycles: usize, names: &[&str]) {
    let settings = [&["mrf.kilobytes=16", "mrf.collectors=4"], settings].concat();
    let mut hrf = Driver::with(&settings, straps);
    let mut warps = Warps::new(&HrfShape::preset(&settings));
    // The words of the banks are not zero, and all registers are dead at first.
    for mut memory in hrf.block.memories() {
        memory.fill_words(|word| word.fill_with(|| warps.random.next() as u32));
    }
    warps.dead = [[u32::MAX; REGISTERS]; WARPS];
    let mut sums = vec![0; names.len()];
    for cycle in 0..cycles {
        // An offer that was not taken stays unchanged.
        let waits = hrf.inputs.issue_valid_i != 0;
        warps.slots(&mut hrf.inputs);
        // A warp gives up its slot only when it has nothing in progress, so it pauses now and then.
        if !waits && cycle % 120 < 70 && warps.random.chance(70) {
            warps.issue(&mut hrf.inputs);
        }
        if hrf.inputs.write_valid_i == 0 {
            warps.write(cycle, &mut hrf.inputs);
        }
        let ready = cycle % 200 < 100 || warps.random.chance(50);
        hrf.inputs.dispatch_ready_i = ready.into();
        let out = hrf.cycle();
        warps.dispatch(cycle, ready, &out);
        if out.issue_ready_o != 0 {
            (hrf.inputs.issue_valid_i, hrf.inputs.issue_src_valid_i) = (0, 0);
        }
        hrf.inputs.write_valid_i &= !out.write_ready_o;
        if out.write_done_o != 0 {
            warps.open[usize::from(out.written_o.warp())][usize::from(out.written_o.d())] -= 1;
        }
        for b in set_bits(out.flush_done_o & hrf.inputs.flush_i) {
            hrf.inputs.flush_i &= !(1 << b);
            hrf.inputs.drop_i &= !(1 << b);
            hrf.inputs.slot_valid_i &= !(1 << b);
        }
        for (sum, name) in sums.iter_mut().zip(names) {
            *sum += count(&out, name);
        }
    }
    assert!(sums.iter().all(|&sum| sum > 0), "{settings:?} {straps:#x}: {names:?} {sums:?}");
}

#[test]
fn operands_are_what_was_written_last() {
    let buffered = ["hrf_hit", "hrf_partial", "hrf_miss", "hrf_coalesced", "hrf_load", "hrf_drain", "hrf_period_drop"];
    let full = ["hrf_partial", "hrf_direct", "hrf_wait_full", "hrf_frozen", "hrf_wait_load", "hrf_drain"];
    let gated = ["hrf_wait_wake", "hrf_wake", "hrf_sleep", "hrf_waking", "hrf_sleeping", "hrf_gated", "hrf_drain"];
    let none = ["hrf_miss", "hrf_direct", "hrf_frozen", "hrf_wait_full"];
    for latencies in [1, 4, 2 << 4 | 7, 3 << 4 | 15] {
        run(&["hrf.buffer_entries=12"], latencies, 6000, &buffered);
        run(
            &["hrf.buffer_entries=4", "hrf.load_entries=2"],
            latencies,
            6000,
            &full[..if latencies == 1 { 2 } else { 6 }],
        );
        run(&["hrf.buffer_entries=12"], latencies | 1 << 6 | 3 << 10 | 3 << 14, 6000, &gated);
        run(&["hrf.buffer_entries=0"], latencies, 6000, &none[..if latencies == 1 { 3 } else { 4 }]);
    }
    run(&["hrf.buffer_entries=12"], GATED | 12 << 10, 20_000, &gated);
}
