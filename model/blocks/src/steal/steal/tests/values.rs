//! A scoreboard, schedulers and a compiler in front of the register file: whatever is stolen, an instruction gets the values that its sources had when it was issued.

use super::super::*;
use super::{DROP, READS, REDIRECT, UNREAD, WRITES, counted, places, stolen};
use crate::Ports;
use crate::steal::shapes;
use crate::testing::{Driver, Random};
use crate::write::WriteWord;
use std::collections::{HashMap, VecDeque};

const WARPS: usize = 4;
const REGS: usize = 8;

/// An instruction that may issue: its sources, and the register that is dead after it.
#[derive(Clone, Copy)]
struct Head {
    warp: usize,
    sources: [Option<usize>; OPERANDS],
    dead: Option<usize>,
}

/// Operands of an instruction.
type Operands = [Option<[u32; 32]>; OPERANDS];

/// A register.
#[derive(Clone, Copy)]
struct Register {
    value: [u32; 32],
    /// A result is due, or offered, or in a queue.
    pending: bool,
    /// The register has no value.
    dead: bool,
    /// An instruction that has not been dispatched yet names the register as dead.
    hinted: bool,
}

struct World {
    shape: MrfShape,
    rows: usize,
    random: Random,
    file: Driver<Steal>,
    regs: [[Register; REGS]; WARPS],
    /// Results that are due.
    due: Vec<(usize, usize, u32)>,
    order: [VecDeque<u64>; WARPS],
    issued: HashMap<u64, (Head, Operands)>,
    candidates: [Option<Head>; MAX_PORTS],
    tag: u64,
    dispatched: usize,
    counts: HashMap<&'static str, u64>,
}

impl World {
    fn new(shape: MrfShape, straps: u8, seed: u64) -> Self {
        // Every warp needs its own rows; one is left over.
        let rows = REGS.div_ceil(shape.banks);
        let depth = shape.depth.max((WARPS * rows + 1).next_power_of_two());
        let shape = MrfShape { depth, tag_w: 64, ..shape };
        let mut file = Driver::<Steal>::new(&shape);
        file.inputs.cfg_i = straps;
        let nothing = Register { value: [0; 32], pending: false, dead: true, hinted: false };
        Self {
            shape,
            rows,
            random: Random(seed),
            file,
            regs: [[nothing; REGS]; WARPS],
            due: Vec::new(),
            order: Default::default(),
            issued: HashMap::new(),
            candidates: [None; MAX_PORTS],
            tag: 0,
            dispatched: 0,
            counts: HashMap::new(),
        }
    }

    fn base(&self, warp: usize) -> u16 {
        (warp * self.rows) as u16
    }

    /// An instruction of a warp of port `p` that is clear.
    fn head(&mut self, p: usize) -> Option<Head> {
        let ports = self.shape.issue_ports;
        let warp = self.random.below(WARPS / ports) * ports + p;
        let regs = &self.regs[warp];
        let random = &mut self.random;
        let sources: [_; OPERANDS] = std::array::from_fn(|_| random.chance(80).then(|| random.below(REGS)));
        if sources.iter().flatten().any(|&reg| regs[reg].pending || regs[reg].dead) {
            return None;
        }
        let dead = random.chance(30).then(|| random.below(REGS)).filter(|&reg| !regs[reg].hinted);
        Some(Head { warp, sources, dead })
    }

    /// One cycle: instructions issue and results come, if the world is busy.
    fn cycle(&mut self, busy: bool) {
        self.offer_results();
        // Thefts are known before any instruction issues.
        let mut shown = MrfOut::zeroed();
        let straps = self.file.inputs.cfg_i;
        self.file.block.see(straps, &mut shown);
        let steal = self.file.block.steal();
        let next = self.schedule(busy, steal);
        self.offer_hints();
        let inputs = self.file.inputs;
        let out = self.file.cycle();
        let i = &mut self.file.inputs;
        (i.issue_valid_i, i.write_valid_i, i.candidate_valid_i, i.hint_valid_i, i.clear_i) = (0, 0, 0, 0, 0);
        assert_eq!(out.steal_o, steal);
        self.check();
        self.leave(&inputs, &out);
        self.enter(&inputs, &out, &next);
        self.results(&inputs, &out);
        if busy {
            self.produce();
        }
        for (name, _) in STEAL_EVENT {
            *self.counts.entry(name).or_default() += stolen(&out, name);
        }
        for (name, _) in STEAL_PLACE_EVENT {
            *self.counts.entry(name).or_default() += places(&out, name);
        }
        *self.counts.entry("hazard 9").or_default() += counted(&out, "write_held");
    }

    /// Offers the results that are due.
    fn offer_results(&mut self) {
        let count = self.shape.issue_ports.min(self.due.len());
        for (p, &(warp, reg, mask)) in self.due.iter().take(count).enumerate() {
            let base = self.base(warp);
            let data = WarpData(std::array::from_fn(|_| self.random.next() as u32));
            let i = &mut self.file.inputs;
            if !self.random.chance(80) {
                continue;
            }
            i.write_valid_i |= 1 << p;
            (i.write_i[p], i.write_base_i[p]) = (WriteWord::new(warp as u8, reg as u8, mask), base);
            i.write_data_i[p] = data;
            i.write_next_i = i.write_next_i & !(1 << p) | u8::from(self.random.chance(30)) << p;
        }
    }

    /// The instructions that issue, and the next candidates.
    fn schedule(&mut self, busy: bool, steal: u8) -> [Option<Head>; MAX_PORTS] {
        let mut issue = [None; MAX_PORTS];
        for (p, issue) in issue.iter_mut().enumerate().take(self.shape.issue_ports) {
            let candidate = self.candidates[p].take();
            let mut other = if busy { self.head(p) } else { None };
            if is_set(steal, p) {
                let candidate = candidate.expect("a theft is for a candidate");
                // Now and then the SM stops issuing.
                *issue = (busy && self.random.chance(95)).then_some(candidate);
            } else if self.random.chance(70) {
                *issue = other.take();
            }
            // A head that did not issue, of another warp than the one that issues.
            let named = other.or_else(|| if busy { self.head(p) } else { None });
            self.candidates[p] = named.filter(|named| issue.is_none_or(|head: Head| head.warp != named.warp));
        }
        for (p, (issue, named)) in issue.into_iter().zip(self.candidates).enumerate() {
            if let Some(head) = issue {
                self.offer(p, &head, false);
            }
            if let Some(head) = named {
                self.offer(p, &head, true);
            }
        }
        issue
    }

    fn offer(&mut self, p: usize, head: &Head, candidate: bool) {
        let base = self.base(head.warp);
        let i = &mut self.file.inputs;
        let valid = set_bits(0b111u8).fold(0, |valid, s| valid | u8::from(head.sources[s].is_some()) << s);
        let (src_valid, src_reg) = match candidate {
            true => (&mut i.candidate_src_valid_i, &mut i.candidate_src_reg_i),
            false => (&mut i.issue_src_valid_i, &mut i.issue_src_reg_i),
        };
        *src_valid = *src_valid & !(0b111 << (OPERANDS * p)) | valid << (OPERANDS * p);
        for s in set_bits(valid) {
            src_reg[OPERANDS * p + s] = head.sources[s].unwrap_or_default() as u8;
        }
        if candidate {
            i.candidate_valid_i |= 1 << p;
            (i.candidate_warp_i[p], i.candidate_base_i[p]) = (head.warp as u8, base);
        } else {
            i.issue_valid_i |= 1 << p;
            (i.issue_warp_i[p], i.issue_base_i[p]) = (head.warp as u8, base);
            (i.issue_mask_i[p], i.issue_tag_i[p]) = (self.random.next() as u32, self.tag + p as u64);
        }
    }

    /// Which instructions are dispatched, and what they say is dead.
    fn offer_hints(&mut self) {
        let ports = self.shape.issue_ports;
        self.file.inputs.dispatch_ready_i = self.random.next() as u8 & ((1 << ports) - 1);
        let mut shown = MrfOut::zeroed();
        self.file.block.show(&mut shown);
        for p in set_bits(shown.dispatch_valid_o & self.file.inputs.dispatch_ready_i) {
            let (Head { warp, dead, .. }, _) = self.issued[&shown.dispatch_tag_o[p]];
            let (Some(reg), base) = (dead, self.base(warp)) else { continue };
            let i = &mut self.file.inputs;
            i.hint_valid_i |= 1 << p;
            (i.hint_reg_i[p], i.hint_base_i[p]) = (reg as u8, base);
        }
    }

    /// The page's assertions.
    fn check(&self) {
        let nets = self.file.probe();
        assert_eq!(nets.read_valid & nets.bank_write_valid, 0, "one access for each bank");
        assert_eq!(nets.parked & !nets.free_valid, 0, "a value is in a free entry");
        let is_free =
            |bank: u8, entry| is_set(nets.free_valid, bank.into()) && nets.free_entry[usize::from(bank)] == entry;
        for slot in set_bits(nets.req_valid) {
            assert!(!is_free(nets.req_bank[slot], nets.req_entry[slot]), "a read of a free entry");
        }
        for i in set_bits(nets.want_valid) {
            let (bank, entry) = (nets.want_bank[i], nets.want_entry[i]);
            assert!(!is_free(bank, entry), "an operand in a free entry");
            let result = set_bits(nets.head_valid).any(|p| (nets.head_bank[p], nets.head_entry[p]) == (bank, entry));
            assert!(!result, "a result for an operand of a candidate");
        }
        for p in set_bits(nets.park_valid) {
            let bank = usize::from(nets.park_bank[p]);
            assert!(is_set(nets.free_valid & !nets.parked & !nets.alive, bank), "a place");
        }
        assert!(nets.fetch_valid == 0 || is_set(nets.parked, nets.fetch_bank.into()), "a fetch of a value");
    }

    /// Handles instructions that are dispatched.
    fn leave(&mut self, inputs: &StealIn, out: &StealOut) {
        for p in set_bits(out.dispatch_valid_o & inputs.dispatch_ready_i) {
            let (warp, tag) = (usize::from(out.dispatch_warp_o[p]), out.dispatch_tag_o[p]);
            assert_eq!(self.order[warp].pop_front(), Some(tag), "the order in a warp");
            let (head, operands) = self.issued.remove(&tag).expect("it was issued");
            for (s, operand) in operands.into_iter().enumerate() {
                let found = is_set(out.dispatch_src_valid_o, OPERANDS * p + s);
                assert_eq!(found.then_some(out.dispatch_data_o[OPERANDS * p + s].0), operand, "source {s}");
            }
            if let Some(reg) = head.dead {
                self.regs[warp][reg].hinted = false;
            }
            self.dispatched += 1;
        }
    }

    /// Handles instructions that are issued.
    fn enter(&mut self, inputs: &StealIn, out: &StealOut, issue: &[Option<Head>; MAX_PORTS]) {
        for p in set_bits(inputs.issue_valid_i & out.issue_ready_o) {
            let Some(head) = issue[p] else { continue };
            let (tag, regs) = (inputs.issue_tag_i[p], &mut self.regs[head.warp]);
            self.order[head.warp].push_back(tag);
            self.issued.insert(tag, (head, head.sources.map(|source| source.map(|reg| regs[reg].value))));
            if let Some(reg) = head.dead {
                (regs[reg].dead, regs[reg].hinted) = (true, true);
                // The candidate of this warp was another instruction's follower.
                self.candidates[p] = self.candidates[p].filter(|candidate| candidate.warp != head.warp);
            }
        }
        self.tag += MAX_PORTS as u64;
    }

    /// Handles results that are taken, written or parked.
    fn results(&mut self, inputs: &StealIn, out: &StealOut) {
        let taken = inputs.write_valid_i & out.write_ready_o;
        for p in set_bits(taken) {
            let (warp, reg) = (usize::from(inputs.write_i[p].warp()), usize::from(inputs.write_i[p].d()));
            let register = &mut self.regs[warp][reg];
            let mut word = WarpData(register.value);
            word.merge(&inputs.write_data_i[p], LaneMask(inputs.write_i[p].mask()));
            register.value = word.0;
            self.due.retain(|&(w, r, _)| (w, r) != (warp, reg));
        }
        for p in set_bits(out.write_done_o) {
            let (warp, reg) = (usize::from(out.written_o[p].warp()), usize::from(out.written_o[p].d()));
            self.regs[warp][reg].pending = false;
        }
    }

    /// Instructions that will have results.
    fn produce(&mut self) {
        for _ in 0..self.shape.issue_ports {
            let (warp, reg) = (self.random.below(WARPS), self.random.below(REGS));
            let wanted = self.candidates.iter().flatten().any(|head| head.warp == warp);
            let register = &mut self.regs[warp][reg];
            if register.pending || register.hinted || wanted || self.random.chance(20) {
                continue;
            }
            // A register without a value gets all its lanes.
            let whole = register.dead || self.random.chance(60);
            (register.pending, register.dead) = (true, false);
            let mask = if whole { u32::MAX } else { self.random.next() as u32 };
            self.due.push((warp, reg, mask));
        }
    }

    /// Everything ends, and a grid begins.
    fn begin(&mut self) {
        for cycle in 0.. {
            self.cycle(false);
            if self.due.is_empty() && self.issued.is_empty() && self.file.block.is_still() {
                break;
            }
            assert!(cycle < 1000, "something is left for ever");
        }
        for register in self.regs.iter_mut().flatten() {
            register.dead = true;
        }
        (self.file.inputs.clear_i, self.file.inputs.spare_i) = (1, self.random.chance(50).into());
        self.cycle(false);
    }
}

#[test]
fn operands_have_the_values_of_the_time_of_issue() {
    let mut counts: HashMap<&str, u64> = HashMap::new();
    for (number, shape) in shapes().into_iter().enumerate() {
        for straps in [
            READS,
            WRITES,
            READS | WRITES,
            0b1111,
            0b0111,
            READS | WRITES | UNREAD,
            READS | WRITES | REDIRECT,
            READS | WRITES | DROP,
            WRITES | REDIRECT | DROP,
            0b110_1111,
        ] {
            let mut world = World::new(shape, straps, number as u64 + 3);
            for _ in 0..8 {
                world.begin();
                for _ in 0..1000 {
                    world.cycle(true);
                }
            }
            world.begin();
            assert!(world.dispatched > 1500, "{} with {shape:?}", world.dispatched);
            let of = |name| world.counts[name];
            assert!(of("stolen") == 0 || is_set(straps, 1));
            assert!(of("write_parked") + of("write_forced") == 0 || is_set(straps, 2));
            assert!(of("redirected") == 0 || is_set(straps, 5));
            assert!(of("dropped") == 0 || is_set(straps, 6));
            assert!(of("force_read") == 0 || !is_set(straps, 5));
            for (name, count) in world.counts {
                *counts.entry(name).or_default() += count;
            }
        }
    }
    for (name, count) in counts {
        assert!(count > 20, "{name}: {count}");
    }
}
