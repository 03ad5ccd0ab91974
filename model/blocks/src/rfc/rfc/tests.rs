use super::*;
use crate::Shape;
use crate::config::{Config, Start};
use crate::testing::{Driver, Random, event};
use crate::write::WriteFields;

const WARPS: usize = 8;
const REGISTERS: usize = 8;

fn shape(settings: &[&str]) -> RfcShape {
    RfcShape::of(&Config::load(Start::Preset("rfc"), settings).expect("a configuration"))
}

impl Driver<Rfc> {
    /// Slot s has warp s.
    fn with_slots(shape: &RfcShape) -> Self {
        let mut rfc = Self::new(shape);
        rfc.inputs.slot_valid_i = u64::MAX >> (64 - shape.active);
        for s in 0..shape.active {
            (rfc.inputs.slot_warp_i[s], rfc.inputs.slot_base_i[s]) = (s as u8, base(shape, s));
        }
        rfc.inputs.dispatch_ready_i = 0b11;
        rfc
    }

    /// Runs one cycle, then clears all offers.
    fn step(&mut self) -> RfcOut {
        let out = self.cycle();
        (self.inputs.issue_valid_i, self.inputs.issue_src_valid_i, self.inputs.write_valid_i) = (0, 0, 0);
        out
    }

    /// An instruction of warp and slot 0 that reads these registers.
    fn issue(&mut self, tag: u8, regs: [u8; 3], sources: u8) -> &mut Self {
        let inputs = &mut self.inputs;
        (inputs.issue_valid_i, inputs.issue_tag_i[0], inputs.issue_mask_i[0]) = (1, tag, u32::MAX);
        (inputs.issue_src_valid_i, inputs.issue_dst_i[0]) = (sources, NO_REG);
        inputs.issue_src_reg_i[..3].copy_from_slice(&regs);
        self
    }

    fn write(&mut self, reg: u8, mask: u32, value: u32) -> &mut Self {
        let inputs = &mut self.inputs;
        inputs.write_valid_i = 1;
        inputs.write_i[0].change(|write| (write.d, write.mask) = (reg, mask));
        inputs.write_data_i[0] = WarpData([value; LANES]);
        self
    }
}

fn base(shape: &RfcShape, warp: usize) -> u16 {
    (warp * REGISTERS.div_ceil(shape.mrf.banks)) as u16
}

fn count(out: &RfcOut, name: &str) -> u64 {
    let (layout, word) = if RFC_EVENT.iter().any(|&(field, _)| field == name) {
        (RFC_EVENT, out.event_o)
    } else {
        (RFC_COUNT_EVENT, out.count_event_o.into())
    };
    event(layout, word, name)
}

fn extra(out: &RfcOut, name: &str) -> u64 {
    event(RFC_EXTRA_EVENT, out.extra_event_o, &format!("rfc_{name}"))
}

#[test]
fn a_hit_is_offered_four_cycles_after_it_is_taken_as_a_miss_is() {
    for cached in [false, true] {
        let mut rfc = Driver::<Rfc>::with_slots(&shape(&[]));
        if cached {
            rfc.write(5, u32::MAX, 7).step();
            assert_eq!(rfc.step().write_done_o, 1);
        }
        assert_eq!(rfc.issue(3, [5; 3], 1).step().issue_ready_o, 1);
        let out = rfc.step();
        assert_eq!((count(&out, "rfc_hit"), count(&out, "rfc_miss")), (cached.into(), (!cached).into()));
        assert_eq!((rfc.step().dispatch_valid_o, rfc.step().dispatch_valid_o), (0, 0));
        let out = rfc.step();
        assert_eq!((out.dispatch_valid_o, out.dispatch_tag_o[0], out.dispatch_src_valid_o), (1, 3, 1));
        assert_eq!(out.dispatch_data_o[0].0[31], if cached { 7 } else { 0 });
    }
}

#[test]
fn an_instruction_that_is_taken_behind_a_result_finds_it() {
    let mut rfc = Driver::<Rfc>::with_slots(&shape(&[]));
    rfc.write(5, u32::MAX, 7).step();
    rfc.issue(3, [5; 3], 1).step();
    assert_eq!(count(&rfc.step(), "rfc_hit"), 1);
    rfc.step();
    rfc.step();
    let out = rfc.step();
    assert_eq!((out.dispatch_valid_o, out.dispatch_data_o[0].0[31]), (1, 7));
}

#[test]
fn an_instruction_waits_in_t_for_a_result_that_waits_in_its_latch() {
    // The instruction reads the register of the result; writes it; uses other registers.
    for (sources, dst, waits) in [(1, NO_REG, 1), (0, 7, 1), (0, 8, 0)] {
        let mut rfc = Driver::<Rfc>::with_slots(&shape(&["rfc.entries=4"]));
        for reg in 1..5 {
            rfc.write(reg, u32::MAX, reg.into()).step();
        }
        rfc.step();
        // All read ports are in use when the result of register 7 would evict register 1.
        rfc.write(7, u32::MAX, 70).issue(0, [2, 3, 4], 0b111).step();
        rfc.issue(1, [7; 3], sources);
        rfc.inputs.issue_dst_i[0] = dst;
        let out = rfc.step();
        assert_eq!((count(&out, "rfc_tag_check"), count(&out, "rfc_wait"), out.write_done_o), (1, 1, 0));
        let out = rfc.step();
        assert_eq!((count(&out, "rfc_stall_result"), out.write_done_o), (waits, 1));
        assert_eq!(count(&out, "rfc_tag_check"), 1 - waits);
        let out = rfc.step();
        assert_eq!((count(&out, "rfc_tag_check"), count(&out, "rfc_hit")), (waits, u64::from(sources)));
        rfc.step();
        let out = rfc.step();
        assert!(sources == 0 || out.dispatch_data_o[0].0[31] == 2, "the older instruction is first");
        let out = rfc.step();
        assert!(sources == 0 || out.dispatch_data_o[0].0[31] == 70);
    }
}

#[test]
fn an_instruction_waits_for_what_is_on_its_way_to_the_mrf() {
    let mut rfc = Driver::<Rfc>::with_slots(&shape(&["rfc.entries=1"]));
    rfc.write(5, u32::MAX, 7).step();
    rfc.write(6, u32::MAX, 8).step();
    rfc.issue(0, [5, 6, 0], 0b11);
    let out = rfc.step();
    assert_eq!((count(&out, "rfc_evict"), count(&out, "rfc_evict_groups")), (1, 8));
    let mut stalls = 0;
    let out = loop {
        let out = rfc.step();
        if out.dispatch_valid_o != 0 {
            break out;
        }
        stalls += count(&out, "rfc_stall_eviction");
    };
    assert!(stalls > 2, "{stalls}");
    assert_eq!((out.dispatch_data_o[0].0[0], out.dispatch_data_o[1].0[0]), (7, 8));
}

#[test]
fn a_flush_is_done_when_the_last_value_is_in_its_bank() {
    let mut rfc = Driver::<Rfc>::with_slots(&shape(&[]));
    for reg in 0..3 {
        rfc.write(reg, 0xff, 7).step();
    }
    rfc.step();
    rfc.inputs.flush_i = 1;
    let (mut cycles, mut writes) = (0, 0);
    while rfc.step().flush_done_o == 0 {
        cycles += 1;
        writes += u64::from(rfc.probe().nets.results_evict_done);
    }
    assert_eq!(writes, 3);
    assert!(cycles > 5, "{cycles}");
    rfc.inputs.flush_i = 0;
    rfc.issue(0, [2; 3], 1).step();
    assert_eq!(count(&rfc.step(), "rfc_miss"), 1);
    rfc.step();
    rfc.step();
    assert_eq!(rfc.step().dispatch_data_o[0].0[..9], [7, 7, 7, 7, 7, 7, 7, 7, 0]);
    // A dropped slot does not wait for write-backs.
    rfc.write(2, u32::MAX, 9).step();
    rfc.step();
    (rfc.inputs.flush_i, rfc.inputs.drop_i) = (1, 1);
    assert_eq!(rfc.step().flush_done_o, 1);
}

/// An outstanding result. A result of a long-latency operation comes in two parts.
struct Pending {
    warp: usize,
    reg: usize,
    mask: u32,
    due: usize,
    long: bool,
}

/// An instruction in the cache or the MRF.
#[derive(Clone, Copy)]
struct Held {
    warp: usize,
    sources: u8,
    mask: u32,
    /// The expected values of its sources.
    read: [[u32; LANES]; 3],
    /// The register that it writes.
    d: Option<usize>,
    long: bool,
}

/// Warps that follow the rules of the SM, with a plain register file as model; registers have the value written last.
struct Warps {
    random: Random,
    shape: RfcShape,
    straps: u8,
    value: [[[u32; LANES]; REGISTERS]; WARPS],
    /// Lanes that are not read again before they are written.
    dead: [[u32; REGISTERS]; WARPS],
    /// Outstanding results of each register, and whether they are of long latency.
    open: [[u8; REGISTERS]; WARPS],
    long: [[bool; REGISTERS]; WARPS],
    resident: [u8; WARPS],
    /// The instruction of each tag.
    held: Vec<Option<Held>>,
    pending: Vec<Pending>,
    away: [usize; WARPS],
}

impl Warps {
    fn new(shape: RfcShape, straps: u8) -> Self {
        Self {
            random: Random(5),
            shape,
            straps,
            value: [[[0; LANES]; REGISTERS]; WARPS],
            dead: [[0; REGISTERS]; WARPS],
            open: [[0; REGISTERS]; WARPS],
            long: [[false; REGISTERS]; WARPS],
            resident: [0; WARPS],
            held: (0..shape.tags()).map(|_| None).collect(),
            pending: Vec::new(),
            away: [0; WARPS],
        }
    }

    fn lanes(&mut self) -> u32 {
        match self.random.below(4) {
            0 => self.random.next() as u32,
            1 => 1 << self.random.below(LANES),
            _ => u32::MAX,
        }
    }

    /// An instruction on port p of a warp that is in a slot.
    fn issue(&mut self, p: usize, inputs: &mut RfcIn) {
        let ports = self.shape.ports();
        let w = self.random.below(WARPS / ports) * ports + p;
        let Some(tag) = (0..self.held.len()).filter(|&t| self.held[t].is_none()).nth(p) else { return };
        if inputs.slot_valid_i >> w & !(inputs.flush_i >> w) & 1 == 0 {
            return;
        }
        let mask = self.lanes();
        let (mut sources, mut last, mut read) = (0, 0, [[0; LANES]; 3]);
        let mut regs = [0; 3];
        for k in 0..3 {
            let reg = self.random.below(REGISTERS);
            regs[k] = reg as u8;
            if self.open[w][reg] == 0 && self.dead[w][reg] & mask == 0 {
                sources |= 1 << k;
                read[k] = self.value[w][reg];
            }
        }
        for k in 0..3 {
            let before = (0..k).find(|&l| sources >> l & 1 == 1 && regs[l] == regs[k]);
            let says = before.map_or(self.random.chance(30), |l| last >> l & 1 == 1);
            if sources >> k & 1 == 1 && says {
                last |= 1 << k;
                self.dead[w][usize::from(regs[k])] |= mask;
            }
        }
        let d = self.random.below(REGISTERS);
        let writes = self.open[w][d] == 0 && self.random.chance(80);
        let long = writes && self.random.chance(20);
        inputs.issue_valid_i |= 1 << p;
        (inputs.issue_warp_i[p], inputs.issue_slot_i[p]) = (w as u8, w as u8);
        (inputs.issue_base_i[p], inputs.issue_tag_i[p]) = (base(&self.shape, w), tag as u8);
        inputs.issue_mask_i[p] = mask;
        inputs.issue_src_valid_i |= sources << (3 * p);
        inputs.issue_last_i = inputs.issue_last_i & !(0b111 << (3 * p)) | last << (3 * p);
        inputs.issue_src_reg_i[3 * p..][..3].copy_from_slice(&regs);
        inputs.issue_dst_i[p] = if writes { d as u8 } else { NO_REG };
        inputs.issue_long_i = inputs.issue_long_i & !(1 << p) | u8::from(long) << p;
        let bypass = !long && self.random.chance(20);
        inputs.issue_bypass_i = inputs.issue_bypass_i & !(1 << p) | u8::from(bypass) << p;
        let past = self.shape.lrf && self.random.chance(20);
        inputs.issue_past_i = inputs.issue_past_i & !(1 << p) | u8::from(past) << p;
        self.resident[w] += 1;
        if writes {
            self.open[w][d] = 1 + u8::from(long);
            self.long[w][d] = long;
        }
        self.held[tag] = Some(Held { warp: w, sources, mask, read, d: writes.then_some(d), long });
    }

    /// A result on bus b.
    fn write(&mut self, b: usize, cycle: usize, inputs: &mut RfcIn, busy: u8) {
        if busy >> b & 1 == 1 {
            return;
        }
        let Some(i) = self.pending.iter().position(|result| result.due <= cycle) else { return };
        let Pending { warp, reg, mask, long, .. } = self.pending.remove(i);
        let private = self.shape.lrf && !long && self.random.chance(70);
        inputs.write_valid_i |= 1 << b;
        inputs.write_i[b] = WriteFields { from_private: private.into(), d: reg as u8, warp: warp as u8, mask }.into();
        inputs.write_base_i[b] = base(&self.shape, warp);
        for lane in 0..LANES {
            let value = self.random.next() as u32;
            inputs.write_data_i[b].0[lane] = value;
            if mask >> lane & 1 == 1 {
                self.value[warp][reg][lane] = value;
            }
        }
        self.dead[warp][reg] &= !mask;
    }

    /// Flushes slots, frees them and assigns them again.
    fn slots(&mut self, inputs: &mut RfcIn) {
        for w in 0..WARPS {
            let bit = 1 << w;
            let short = (0..REGISTERS).any(|reg| self.open[w][reg] != 0 && !self.long[w][reg]);
            let quiet = self.resident[w] == 0 && !short;
            if inputs.slot_valid_i & bit != 0 && inputs.flush_i & bit == 0 && quiet && self.random.chance(5) {
                inputs.flush_i |= bit;
                if self.random.chance(10) {
                    inputs.drop_i |= bit;
                    self.dead[w] = [u32::MAX; REGISTERS];
                }
            } else if inputs.slot_valid_i & bit == 0 {
                self.away[w] -= 1;
                if self.away[w] == 0 {
                    inputs.slot_valid_i |= bit;
                }
            }
        }
    }

    /// Checks the instructions that are dispatched.
    fn dispatch(&mut self, cycle: usize, ready: u8, out: &RfcOut) {
        for p in set_bits(out.dispatch_valid_o) {
            let tag = usize::from(out.dispatch_tag_o[p]);
            let Held { warp: w, sources, mask, read, d, long } = self.held[tag].expect("it has been issued");
            assert_eq!((usize::from(out.dispatch_warp_o[p]), out.dispatch_mask_o[p]), (w, mask), "cycle {cycle}");
            let found = out.dispatch_src_valid_o >> (3 * p) & 0b111;
            assert_eq!(found & !sources, 0, "cycle {cycle}");
            assert!(found == sources || mask == 0, "cycle {cycle}");
            for k in set_bits(sources) {
                let data = &out.dispatch_data_o[3 * p + k].0;
                for lane in set_bits(mask) {
                    assert_eq!(data[lane], read[k][lane], "cycle {cycle}, warp {w}, source {k}, lane {lane}");
                }
            }
            if ready >> p & 1 == 0 {
                continue;
            }
            self.held[tag] = None;
            self.resident[w] -= 1;
            if let Some(d) = d {
                let due = cycle + 1 + self.random.below(if long { 60 } else { 12 });
                let parts = if long { vec![mask & 0xffff, mask & !0xffff] } else { vec![mask] };
                for (part, mask) in parts.into_iter().enumerate() {
                    self.pending.push(Pending { warp: w, reg: d, mask, due: due + 10 * part, long });
                }
            }
        }
    }
}

fn run(settings: &[&str], straps: u8, cycles: usize) {
    let shape = shape(&[&["sm.warps=8", "mrf.kilobytes=8"], settings].concat());
    assert_eq!(shape.active, WARPS);
    let mut rfc = Driver::<Rfc>::with_slots(&shape);
    // The words of the banks are not zero, and all registers are dead at first.
    let mut warps = Warps::new(shape, straps);
    warps.dead = [[u32::MAX; REGISTERS]; WARPS];
    rfc.inputs.cfg_i = warps.straps.into();
    let mut sums = [0; 14];
    let (mut issued, mut offered) = (0u8, 0u8);
    for cycle in 0..cycles {
        warps.slots(&mut rfc.inputs);
        for p in 0..shape.ports() {
            // An offer that was not taken stays unchanged.
            if issued >> p & 1 == 0 && warps.random.chance(70) {
                warps.issue(p, &mut rfc.inputs);
            }
            warps.write(p, cycle, &mut rfc.inputs, offered);
        }
        rfc.inputs.dispatch_ready_i = warps.random.below(4) as u8 | if cycle % 200 < 100 { 0b11 } else { 0 };
        let out = rfc.cycle();
        let ready = rfc.inputs.dispatch_ready_i;
        warps.dispatch(cycle, ready, &out);
        for p in set_bits(rfc.inputs.issue_valid_i & out.issue_ready_o) {
            rfc.inputs.issue_valid_i &= !(1 << p);
            rfc.inputs.issue_src_valid_i &= !(0b111 << (3 * p));
        }
        // A result is reported to the warps when it is taken.
        for b in set_bits(rfc.inputs.write_valid_i & out.write_ready_o) {
            let (warp, reg) = (usize::from(rfc.inputs.write_i[b].warp()), usize::from(rfc.inputs.write_i[b].d()));
            warps.open[warp][reg] -= 1;
        }
        rfc.inputs.write_valid_i &= !out.write_ready_o;
        (issued, offered) = (rfc.inputs.issue_valid_i, rfc.inputs.write_valid_i);
        for s in set_bits(out.flush_done_o) {
            rfc.inputs.flush_i &= !(1 << s);
            rfc.inputs.drop_i &= !(1 << s);
            rfc.inputs.slot_valid_i &= !(1 << s);
            warps.away[s] = 1 + warps.random.below(20);
        }
        let names =
            ["rfc_hit", "rfc_partial", "rfc_evict", "rfc_flush", "rfc_kill", "rfc_stall_eviction", "rfc_stall_result"];
        let upper = ["lrf_read_groups", "lrf_spill_groups", "lrf_flush_groups", "lrf_dead", "lrf_same", "lrf_past"];
        let upper = upper.map(|name| (&shape.lrf, name));
        let levels = upper.into_iter().chain([(&shape.reads, "fill_groups")]);
        let more = levels.map(|(there, name)| if *there { extra(&out, name) } else { 1 });
        for (sum, more) in sums.iter_mut().zip(names.map(|name| count(&out, name)).into_iter().chain(more)) {
            *sum += more;
        }
    }
    if straps & 0b00010 == 0 {
        // No lane dies.
        sums[10] += 1;
    }
    if straps & 0b10000 != 0 {
        // Loads are written into the cache: few results go around it, and results hardly wait.
        sums[4] += 1;
        sums[6] += 1;
    }
    assert!(sums.iter().all(|&sum| sum > 0), "{settings:?} {straps:#b}: {sums:?}");
}

#[test]
fn operands_are_what_was_written_last() {
    for ports in ["mrf.issue_ports=1", "mrf.issue_ports=2"] {
        for entries in ["rfc.entries=1", "rfc.entries=2", "rfc.entries=5"] {
            for straps in [0, 0b00010, 0b00100, 0b01110, 0b10010] {
                run(&[ports, entries, "mrf.banks=4"], straps, 12_000);
            }
        }
    }
    run(&["mrf.issue_ports=2", "rfc.entries=3", "mrf.banks=2", "mrf.ports=1rw", "mrf.collectors=4"], 0b00010, 20_000);
}

#[test]
fn with_an_lrf_and_with_reads_that_allocate_they_are_so_too() {
    for levels in [&["rfc.lrf=true"][..], &["rfc.reads=true"], &["rfc.lrf=true", "rfc.reads=true"]] {
        for ports in ["mrf.issue_ports=1", "mrf.issue_ports=2"] {
            for entries in ["rfc.entries=1", "rfc.entries=3"] {
                for straps in [0, 0b00010, 0b01110, 0b10010] {
                    run(&[&[ports, entries, "mrf.banks=4"], levels].concat(), straps, 10_000);
                }
            }
        }
    }
}

#[test]
fn a_result_is_read_in_the_lrf_and_goes_down_when_another_one_comes() {
    let mut rfc = Driver::<Rfc>::with_slots(&shape(&["rfc.lrf=true"]));
    rfc.inputs.write_i[0].change(|write| write.from_private = 1);
    rfc.write(5, u32::MAX, 7).step();
    assert_eq!(extra(&rfc.step(), "lrf_write_groups"), 8);
    rfc.issue(0, [5; 3], 1).step();
    let out = rfc.step();
    assert_eq!((extra(&out, "lrf_read_groups"), count(&out, "rfc_miss"), count(&out, "rfc_read_groups")), (8, 1, 0));
    rfc.write(6, u32::MAX, 8).step();
    let out = rfc.step();
    assert_eq!((extra(&out, "lrf_spill_groups"), count(&out, "rfc_write_groups")), (8, 8));
    let out = rfc.step();
    assert_eq!((out.dispatch_valid_o, out.dispatch_data_o[0].0[31]), (1, 7));
    rfc.issue(0, [5, 6, 0], 0b11).step();
    let out = rfc.step();
    assert_eq!((count(&out, "rfc_hit"), extra(&out, "lrf_read_groups")), (1, 8));
    rfc.step();
    rfc.step();
    let out = rfc.step();
    assert_eq!((out.dispatch_data_o[0].0[0], out.dispatch_data_o[1].0[0]), (7, 8));
}

#[test]
fn an_operand_of_the_mrf_is_in_the_cache_from_then_on() {
    let mut rfc = Driver::<Rfc>::with_slots(&shape(&["rfc.reads=true"]));
    for number in 0..2 {
        rfc.issue(0, [5, 5, 6], 0b111).step();
        let out = rfc.step();
        assert_eq!((count(&out, "rfc_miss"), count(&out, "rfc_hit")), if number == 0 { (2, 0) } else { (0, 2) });
        let fills: u64 = (0..8).map(|_| extra(&rfc.step(), "fill_groups")).sum();
        assert_eq!(fills, if number == 0 { 16 } else { 0 });
    }
    // The filled lanes are clean.
    rfc.inputs.flush_i = 1;
    assert_eq!(rfc.step().flush_done_o, 1);
}
