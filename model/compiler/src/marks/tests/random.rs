//! Random code with branches, loops, guards, shuffles, loads, barriers and exits, on few registers.

use super::*;
use gpurf_isa::Reg;
use std::fmt::Write;

/// The generator SplitMix64.
pub struct Random(pub u64);

impl Random {
    /// A number below a limit.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % limit as u64) as usize
    }
}

/// Writes code. R3 to R8 hold values, R9 an address, and R10 upward the counters of loops. P0 to P3 are arbitrary predicates; P6 ends a loop.
struct Writer {
    random: Random,
    text: String,
    labels: usize,
    budget: usize,
}

impl Writer {
    fn line(&mut self, line: &str) {
        writeln!(self.text, "{line}").expect("strings grow");
    }

    fn value(&mut self) -> Reg {
        Reg(3 + self.random.below(6) as u8)
    }

    fn guard(&mut self) -> String {
        match self.random.below(12) {
            n @ 0..4 => format!("@P{n} "),
            4 => "@!P0 ".into(),
            _ => String::new(),
        }
    }

    fn statements(&mut self, depth: u32) {
        for _ in 0..3 + self.random.below(6) {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            match self.random.below(20) {
                0 | 1 if depth < 3 => self.branch(depth),
                2 if depth < 3 => self.repeat(depth),
                3 if depth == 0 => self.line("BAR.ID0 RZ"),
                4 if self.random.below(4) == 0 => {
                    let p = self.random.below(4);
                    self.line(&format!("@P{p} EXIT"));
                }
                5..8 => {
                    let (p, a, b) = (self.random.below(4), self.value(), self.value());
                    self.line(&format!("ISETP.LT.AND P{p}, {a}, {b}, PT"));
                }
                _ => self.operation(),
            }
        }
    }

    fn operation(&mut self) {
        let (g, d, a, b, c) = (self.guard(), self.value(), self.value(), self.value(), self.value());
        let at = 4 * self.random.below(16);
        match self.random.below(14) {
            0 => self.line(&format!("{g}MOV {d}, {at}")),
            1 => self.line(&format!("{g}MUFU.RCP {d}, {a}")),
            2 => self.line(&format!("{g}SHFL.BFLY.CLAMP31.SEGMENT0 {d}, PT, {a}, {at}")),
            3 | 4 => self.line(&format!("{g}LD.GLOBAL.B32 {d}, [R2+{at}]")),
            5 => {
                self.line(&format!("LOP3.LUT192 R9, {a}, 0x3c, RZ"));
                self.line(&format!("{g}LD.LOCAL.B32 {d}, [R9]"));
            }
            6 => self.line(&format!("{g}LDC.B32 {d}, [RZ]")),
            7 => self.line(&format!("{g}ST.GLOBAL.B32 [R2+{at}], {a}")),
            8 => self.line(&format!("{g}LOP3.LUT150 {d}, {a}, {b}, {c}")),
            9 => self.line(&format!("{g}IADD {d}, P1, {a}, {a}, !PT")),
            10 => self.line(&format!("{g}IADD {d}, PT, {d}, {b}, !PT")),
            11 => self.line(&format!("{g}ATOM.GLOBAL.ADD {d}, [R2+{at}], {a}")),
            _ => self.line(&format!("{g}IADD {d}, PT, {a}, {b}, !PT")),
        }
    }

    fn label(&mut self) -> usize {
        self.labels += 1;
        self.labels
    }

    fn branch(&mut self, depth: u32) {
        let (n, p) = (self.label(), self.random.below(4));
        if self.random.below(3) == 0 {
            self.line(&format!("@P{p} BRA meet{n}, join meet{n}"));
            self.statements(depth + 1);
        } else {
            self.line(&format!("@P{p} BRA taken{n}, join meet{n}"));
            self.statements(depth + 1);
            self.line(&format!("BRA meet{n}, join none\ntaken{n}:"));
            self.statements(depth + 1);
        }
        self.line(&format!("meet{n}:"));
    }

    fn repeat(&mut self, depth: u32) {
        let (n, counter, by) = (self.label(), 10 + depth, self.value());
        self.line(&format!("LOP3.LUT192 R{counter}, {by}, 3, RZ\nloop{n}:"));
        self.statements(depth + 1);
        self.line(&format!("IADD.SUB R{counter}, PT, R{counter}, 1, PT"));
        self.line(&format!("ISETP.GE.SIGNED.AND P6, R{counter}, 0, PT"));
        self.line(&format!("@P6 BRA loop{n}, join out{n}\nout{n}:"));
    }
}

/// Generates code to follow [`START`].
pub fn program(seed: u64) -> String {
    let random = Random(seed);
    let mut writer = Writer { random, text: String::new(), labels: 0, budget: 60 };
    for r in 3..9 {
        writer.line(&format!("IMAD.LO R{r}, PT, R0, {}, R0, !PT", r * 37 % 11));
    }
    for p in 1..4 {
        writer.line(&format!("LOP3.LUT192 R9, R0, {p}, RZ\nISETP.EQ.AND P{p}, R9, 0, PT"));
    }
    writer.statements(0);
    for r in 3..6 {
        writer.line(&format!("ST.GLOBAL.B32 [R2], R{r}"));
    }
    writer.line("EXIT");
    writer.text
}

#[test]
fn marks_of_random_code_hold() {
    let mut counts = MarkCounts::default();
    // The number of seeds for which the judge notices that a rule was broken.
    let mut seen = [0; 5];
    for seed in 0..400 {
        let text = program(seed);
        let right = marked(&text);
        let (wrong, new) = judge(&right, Scope::Lanes);
        assert_eq!(wrong, [], "seed {seed}\n{}", listing(&right));
        counts.add(&new);

        let warp = marked_for_warp(&text);
        assert_eq!(judge(&warp, Scope::Warp).0, [], "seed {seed}\n{}", listing(&warp));

        seen[0] += u32::from(judge(&right, Scope::Warp).0.contains(&Wrong::ReadBehindLast));
        let mut lanes = right.clone();
        frees::mark_dead(&mut lanes, &liveness::of_lane(&right), &frees::BANKS);
        seen[4] += u32::from(judge(&lanes, Scope::Lanes).0 == [Wrong::ReadOfFree]);
        let changes: [fn(&mut Instruction); 3] = [without_guards, without_guarded, without_branches];
        for (seen, change) in seen[1..].iter_mut().zip(changes) {
            *seen += u32::from(!judge(&marked_as_if(&text, change), Scope::Lanes).0.is_empty());
        }
    }
    assert!(seen.iter().all(|&n| n > 40), "{seen:?}");
    assert!(counts.free_registers > 1000, "{counts:?}");
    assert!(counts.last_reads > 1000 && counts.past_cache > 1000 && counts.past_lrf > 1000, "{counts:?}");
    assert!(counts.deschedules > 1000 && counts.waits_for_other_lanes > 100, "{counts:?}");
}
