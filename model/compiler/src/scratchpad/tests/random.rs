//! Random programs with shared memory.
//!
//! Each thread has its own elements in each variable, so that no two threads access the same byte; the exception is one variable that is only read,
//! by any thread at any index. Addresses pass through registers, selections, guarded writes, memory, shuffles and generic addresses. Control flow
//! consists of loops, branches, early exits and jumps out of both, so that there are critical edges.

use super::*;
use crate::scratchpad::{Layout, Relssp};
use std::fmt::Write;

/// A small random generator (xorshift) with the same results on all machines.
pub struct Random(pub u64);

impl Random {
    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// A program, and how it is compiled and run.
pub struct Sample {
    pub source: String,
    pub threads: u32,
    pub dynamic: u32,
    pub options: ScratchpadOptions,
}

/// Number of values that a thread writes at its end.
const VALUES: usize = 5;
const POINTERS: usize = 5;
const PREDICATES: usize = 5;
const TEMPORARIES: usize = 4;

struct Writer<'a> {
    random: &'a mut Random,
    text: String,
    threads: usize,
    /// Number of words that each thread has in each variable that is written. The dynamic variable, if there is one, is the last.
    words: Vec<usize>,
    names: Vec<String>,
    labels: usize,
    budget: usize,
    /// Number of statements so far. Each has registers of its own, so that a register usually holds the address of one variable only.
    statement: usize,
}

impl Writer<'_> {
    /// Writes a line. `%u0` to `%u3` stand for the registers of the current statement.
    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        let text = (0..TEMPORARIES).fold(text.to_string(), |text, n| {
            text.replace(&format!("%u{n}"), &format!("%w{}", TEMPORARIES * self.statement + n))
        });
        self.text.push_str(&text);
        self.text.push('\n');
    }

    fn below(&mut self, n: usize) -> usize {
        self.random.below(n)
    }

    /// A guard in `percent` of all cases, else nothing.
    fn guard(&mut self, percent: usize) -> String {
        if !self.random.chance(percent) {
            return String::new();
        }
        let (not, p) = (if self.random.chance(50) { "!" } else { "" }, self.below(PREDICATES));
        format!("@{not}%p{p} ")
    }

    /// The offset in bytes of one of thread 0's words in a variable.
    fn word(&mut self, variable: usize) -> usize {
        let (words, threads) = (self.words[variable], self.threads);
        self.below(words) * 4 * threads
    }

    /// Computes the address of one of the thread's own words into `%u0`.
    fn own_address(&mut self) {
        self.statement += 1;
        let v = self.below(self.words.len());
        let (name, at) = (self.names[v].clone(), self.word(v));
        match self.below(6) {
            0 => self.line(format_args!("mov.u32 %u1, {name}; add.s32 %u0, %u1, %t4; add.s32 %u0, %u0, {at};")),
            1 => self.line(format_args!("mov.u32 %u1, {name}; mad.lo.u32 %u0, %t, 4, %u1; add.s32 %u0, %u0, {at};")),
            2 => self.line(format_args!("mov.u32 %u1, {name}+{at}; add.s32 %u0, %t4, %u1;")),
            3 => self.line(format_args!("mov.u32 %u1, {name}; sub.s32 %u2, %t4, 44; add.s32 %u0, %u2, %u1; add.s32 %u0, %u0, {};", at + 44)),
            4 => self.line(format_args!("mov.u32 %u1, {name}; and.b32 %u2, %t, 63; shl.b32 %u2, %u2, 2; add.s32 %u0, %u1, %u2; add.s32 %u0, %u0, {at};")),
            _ => self.line(format_args!("mov.u32 %u1, {name}; bfe.u32 %u2, %t, 0, 6; mad.lo.u32 %u0, %u2, 4, %u1; add.s32 %u0, %u0, {at};")),
        }
    }

    fn pointer(&mut self) {
        let [to, a, b] = [POINTERS; 3].map(|n| self.below(n));
        let p = self.below(PREDICATES);
        match self.below(10) {
            0..4 => {
                self.own_address();
                let guard = self.guard(40);
                self.line(format_args!("{guard}mov.u32 %a{to}, %u0;"));
            }
            4..6 => self.line(format_args!("selp.b32 %a{to}, %a{a}, %a{b}, %p{p};")),
            6 => self.line(format_args!("activemask.b32 %u1; mov.u32 %u2, %laneid; shfl.sync.idx.b32 %a{to}, %a{a}, %u2, 31, %u1;")),
            7 => self.line(format_args!("st.local.u32 [spare], %a{a}; ld.local.u32 %a{to}, [spare];")),
            8 => self.line(format_args!(
                "sub.s32 %u1, %a{a}, %a{b}; st.local.u32 [spare+4], %u1; ld.local.u32 %u2, [spare+4]; add.s32 %a{to}, %a{b}, %u2;"
            )),
            // A difference that has passed through a shuffle is added to an address of another variable.
            _ => self.line(format_args!(
                "sub.s32 %u1, %a{a}, %a{b}; activemask.b32 %u2; mov.u32 %u3, %laneid; shfl.sync.idx.b32 %u1, %u1, %u3, 31, %u2; add.s32 %a{to}, %a{b}, %u1;"
            )),
        }
    }

    fn access(&mut self) {
        let (x, a, v) = (self.below(VALUES), self.below(POINTERS), self.below(self.words.len()));
        let guard = self.guard(35);
        match self.below(17) {
            0..3 => self.line(format_args!("{guard}ld.shared.u32 %x{x}, [%a{a}];")),
            3..6 => self.line(format_args!("{guard}st.shared.u32 [%a{a}], %x{x};")),
            6 => self.line(format_args!("{guard}ld.shared.u8 %x{x}, [%a{a}+3];")),
            7 => self.line(format_args!("{guard}st.shared.u8 [%a{a}+1], %x{x};")),
            8 | 9 => self.line(format_args!("{guard}atom.shared.add.u32 %x{x}, [%a{a}], 3;")),
            10 => self.line(format_args!("{guard}atom.shared.cas.b32 %x{x}, [%a{a}], 0, %x{x};")),
            11 => {
                let (name, at) = (self.names[v].clone(), self.word(v));
                self.line(format_args!("@%z st.shared.u32 [{name}+{at}], %x{x};"));
            }
            12 => {
                self.own_address();
                let guard = self.guard(40);
                self.line(format_args!("{guard}ld.shared.u32 %x{x}, [%u0];"));
            }
            13 => {
                self.line(format_args!("cvt.u64.u32 %b0, %a{a}; cvta.shared.u64 %b0, %b0; {guard}ld.u32 %x{x}, [%b0];"))
            }
            14 => {
                self.line(format_args!("cvt.u64.u32 %b0, %a{a}; cvta.shared.u64 %b0, %b0; {guard}st.u32 [%b0], %x{x};"))
            }
            15 => self.line(format_args!("add.s32 %u0, %a{a}, -64; {guard}ld.shared.u32 %x{x}, [%u0+64];")),
            // Any element of the variable that is only read.
            _ => {
                let index = match self.below(5) {
                    0 => format!("and.b32 %u1, %x{x}, 7;"),
                    1 => "shl.b32 %u1, %t, 29; shr.u32 %u1, %u1, 29;".to_owned(),
                    2 => format!("min.u32 %u1, %x{x}, 7;"),
                    3 => {
                        let p = self.below(PREDICATES);
                        format!("mov.u32 %u1, 0; @%p{p} mov.u32 %u1, 7;")
                    }
                    _ => {
                        let p = self.below(PREDICATES);
                        format!("mov.u32 %u1, 7; @%p{p} mov.u32 %u1, 0;")
                    }
                };
                self.line(format_args!("{index} shl.b32 %u1, %u1, 2; mov.u32 %u2, only; add.s32 %u0, %u1, %u2; {guard}ld.shared.u32 %x{x}, [%u0];"));
            }
        }
    }

    /// Writes statements; `out` is the label for jumps out of the innermost loop.
    fn statements(&mut self, depth: usize, out: Option<usize>) {
        // Forward jumps whose target has not been written yet.
        let mut pending: Vec<usize> = Vec::new();
        for _ in 0..2 + self.below(6) {
            if self.budget == 0 {
                break;
            }
            self.budget -= 1;
            self.statement += 1;
            let (x, y, p) = (self.below(VALUES), self.below(VALUES), self.below(PREDICATES));
            match self.below(20) {
                0..6 => self.access(),
                6..9 => self.pointer(),
                9 | 10 => self.line(format_args!("mad.lo.u32 %x{x}, %x{y}, 13, %t; xor.b32 %x{y}, %x{y}, %x{x};")),
                11 | 12 => {
                    let bit = self.below(5);
                    self.line(format_args!("bfe.u32 %u1, %x{x}, {bit}, 1; setp.eq.u32 %p{p}, %u1, 0;"));
                }
                13 | 14 if depth > 0 => self.branch(depth, out, p),
                15 | 16 if depth > 0 => self.looping(depth, p),
                17 => {
                    if let Some(label) = out.filter(|_| self.random.chance(60)) {
                        self.line(format_args!("@%p{p} bra OUT{label};"));
                    } else if self.random.chance(30) {
                        let end = if self.random.chance(50) { "bra LEAVE" } else { "ret" };
                        self.line(format_args!("@%p{p} {end};"));
                    }
                }
                18 => {
                    let label = self.labels;
                    self.labels += 1;
                    pending.push(label);
                    self.line(format_args!("@%p{p} bra ON{label};"));
                }
                _ => {
                    if let Some(label) = pending.pop() {
                        self.line(format_args!("ON{label}:"));
                    }
                }
            }
        }
        for label in pending {
            self.line(format_args!("ON{label}:"));
        }
    }

    fn branch(&mut self, depth: usize, out: Option<usize>, p: usize) {
        let n = self.labels;
        self.labels += 1;
        self.line(format_args!("@!%p{p} bra ELSE{n};"));
        self.statements(depth - 1, out);
        if self.random.chance(60) {
            self.line(format_args!("bra.uni END{n};\nELSE{n}:"));
            self.statements(depth - 1, out);
            self.line(format_args!("END{n}:"));
        } else {
            self.line(format_args!("ELSE{n}:"));
        }
    }

    fn looping(&mut self, depth: usize, p: usize) {
        let n = self.labels;
        self.labels += 1;
        let times = 1 + self.below(3);
        if self.random.chance(50) {
            // A loop that is tested at the end, and sometimes also at the start.
            if self.random.chance(50) {
                self.line(format_args!("@%p{p} bra OUT{n};"));
            }
            self.line(format_args!("mov.u32 %n{n}, 0;\nLOOP{n}:"));
            self.statements(depth - 1, Some(n));
            self.line(format_args!(
                "add.s32 %n{n}, %n{n}, 1; setp.lt.u32 %q{n}, %n{n}, {times}; @%q{n} bra LOOP{n};\nOUT{n}:"
            ));
        } else {
            self.line(format_args!("mov.u32 %n{n}, {times};\nLOOP{n}:\nsetp.eq.u32 %q{n}, %n{n}, 0; @%q{n} bra OUT{n}; sub.s32 %n{n}, %n{n}, 1;"));
            self.statements(depth - 1, Some(n));
            self.line(format_args!("bra.uni LOOP{n};\nOUT{n}:"));
        }
    }
}

/// The program for a seed.
pub fn sample(seed: u64) -> Sample {
    let random = &mut Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for _ in 0..4 {
        random.below(2);
    }
    let threads = [16, 32, 40, 33][random.below(4)];
    // Three in a hundred have more variables than the limit up to which all subsets are tried.
    let count = if random.chance(3) { 12 } else { 1 + random.below(5) };
    let dynamic = if random.chance(25) { 4 * threads as u32 } else { 0 };
    let words: Vec<usize> = (0..count).map(|_| 1 + random.below(2)).collect();
    let mut declared = String::new();
    let mut total = 0;
    for (v, words) in words.iter().enumerate() {
        let (align, bytes) = ([4, 4, 8, 16][random.below(4)], 4 * threads * words + random.below(4));
        writeln!(declared, ".shared .align {align} .b8 v{v}[{bytes}];").expect("strings grow");
        total += bytes;
    }
    writeln!(declared, ".shared .align 4 .b8 only[32];").expect("strings grow");
    let mut names: Vec<String> = (0..count).map(|v| format!("v{v}")).collect();
    let mut all = words;
    if dynamic > 0 {
        names.push("dyn".to_owned());
        all.push(1);
    }
    let budget = 10 + random.below(40);
    let mut w = Writer { random, text: String::new(), threads, words: all, names, labels: 0, budget, statement: 0 };
    // Sometimes one block does nothing, so that the entry block does not access shared memory.
    if w.random.chance(40) {
        w.line(format_args!("mov.u32 %u0, %ctaid.x; setp.eq.u32 %c, %u0, 1; @%c bra LEAVE;"));
    }
    // The oracle refuses reads of memory that was never written.
    for v in 0..w.words.len() {
        w.statement += 1;
        let (name, words) = (w.names[v].clone(), w.words[v]);
        w.line(format_args!("mov.u32 %u1, {name}; add.s32 %u0, %u1, %t4;"));
        (0..words).for_each(|word| w.line(format_args!("st.shared.u32 [%u0+{}], %x0;", 4 * threads * word)));
    }
    (0..8).for_each(|word| w.line(format_args!("@%z st.shared.u32 [only+{}], {word};", 4 * word)));
    w.line(format_args!("bar.sync 0;"));
    for a in 0..POINTERS {
        w.own_address();
        w.line(format_args!("mov.u32 %a{a}, %u0;"));
    }
    w.statements(3, None);
    if w.random.chance(50) {
        w.statements(3, None);
    }
    let (body, labels, temporaries) = (std::mem::take(&mut w.text), w.labels, TEMPORARIES * (w.statement + 1));
    let mut s = String::from(".version 9.5\n.target sm_75\n.address_size 64\n");
    if dynamic > 0 {
        s.push_str(".extern .shared .align 16 .b8 dyn[];\n");
    }
    s.push_str(".visible .entry k(.param .u64 p0)\n");
    match w.random.below(3) {
        0 => writeln!(s, ".reqntid {threads}, 1, 1"),
        1 => writeln!(s, ".maxntid {threads}, 1, 1"),
        _ => writeln!(s),
    }
    .expect("strings grow");
    writeln!(s, "{{\n{declared}.local .align 4 .b8 spare[8];").expect("strings grow");
    writeln!(s, ".reg .b32 %x<{VALUES}>; .reg .b32 %a<{POINTERS}>; .reg .b32 %u<2>; .reg .b32 %w<{temporaries}>; .reg .b64 %b<3>;").expect("strings grow");
    writeln!(s, ".reg .pred %p<{PREDICATES}>; .reg .pred %z; .reg .pred %c; .reg .b32 %n<{0}>; .reg .pred %q<{0}>; .reg .b32 %t; .reg .b32 %t4;", labels + 1)
        .expect("strings grow");
    s.push_str("mov.u32 %t, %tid.x; shl.b32 %t4, %t, 2; setp.eq.u32 %z, %t, 0;\n");
    for x in 0..VALUES {
        writeln!(s, "mad.lo.u32 %x{x}, %t, {}, {x};", 2 * x + 3).expect("strings grow");
    }
    for p in 0..PREDICATES {
        writeln!(s, "bfe.u32 %u0, %x{p}, {p}, 1; setp.eq.u32 %p{p}, %u0, 0;").expect("strings grow");
    }
    s.push_str(&body);
    s.push_str(
        "LEAVE:\nld.param.u64 %b1, [p0]; mov.u32 %u0, %ctaid.x; mov.u32 %u1, %ntid.x; mad.lo.u32 %u0, %u0, %u1, %t;\n",
    );
    writeln!(s, "mad.wide.u32 %b1, %u0, {}, %b1;", 4 * VALUES).expect("strings grow");
    for x in 0..VALUES {
        writeln!(s, "st.global.u32 [%b1+{}], %x{x};", 4 * x).expect("strings grow");
    }
    s.push_str("ret;\n}\n");
    let random = w.random;
    let private_bytes = match random.below(8) {
        0 => 0,
        _ => 4 * random.below(total / 4 + 24) as u32,
    };
    let layout = [Layout::Declared, Layout::Minimal][random.below(2)];
    let relssp = [Relssp::Postdom, Relssp::Optimal, Relssp::Optimal][random.below(3)];
    let options = ScratchpadOptions { private_bytes, layout, relssp };
    Sample { source: s, threads: threads as u32, dynamic, options }
}

impl Sample {
    /// Compiles and runs the program.
    pub fn run(&self, options: ScratchpadOptions) -> Run {
        let rule = if options.relssp == Relssp::None { Rule::MayEnd } else { Rule::EveryThread };
        let bytes = (BLOCKS * self.threads) as usize * 4 * VALUES;
        run(&compiled(&self.source, options), options.private_bytes, rule, self.threads, self.dynamic, bytes)
    }

    /// The first fault that the judges found, if any.
    pub fn complaint(&self, run: &Run) -> Option<String> {
        let layout = run.overlap.clone();
        layout.or_else(|| run.faults.first().map(ToString::to_string))
    }
}

/// Sums over all programs, compiled with their options.
#[derive(Debug, Default)]
struct Sums {
    programs: u32,
    releasing: u32,
    accesses: u64,
    shared: u64,
    marked: u64,
    /// Additional instructions apart from the releases.
    jumps: u64,
    held: [u64; 3],
}

/// Judges the programs of some seeds with their options, and compares their results with those of plain code.
fn judge(seeds: std::ops::Range<u64>) -> Sums {
    let mut sums = Sums::default();
    for seed in seeds {
        let sample = sample(seed);
        let plain = sample.run(ScratchpadOptions::NONE);
        let run = sample.run(sample.options);
        for (run, options) in [(&plain, ScratchpadOptions::NONE), (&run, sample.options)] {
            let complaint = sample.complaint(run);
            let (none, sample) = ((None, &None), &sample.source);
            assert_eq!((complaint, &run.error), none, "seed {seed}, {options:?}\n{sample}");
        }
        assert!(run.result == plain.result, "seed {seed} computes something else\n{}", sample.source);
        let threads = u64::from(BLOCKS * sample.threads);
        assert!([0, threads].contains(&run.counts.released), "seed {seed}: {:?}", run.counts);
        // The compiler adds one instruction for each thread, and a jump for some (thesis 3.4.1.3).
        let without = sample.run(ScratchpadOptions { relssp: Relssp::None, ..sample.options });
        let more = run.issued - without.issued;
        assert!(
            (run.counts.released..=2 * run.counts.released).contains(&more),
            "seed {seed}: {more} instructions more"
        );
        sums.jumps += more - run.counts.released;
        sums.programs += 1;
        sums.releasing += u32::from(run.counts.released > 0);
        sums.accesses += run.counts.accesses;
        sums.shared += run.counts.shared;
        sums.marked += run.counts.marked;
        // How long the shared part is held, in a third of the programs.
        if seed % 3 == 0 {
            for (i, relssp) in [Relssp::None, Relssp::Postdom, Relssp::Optimal].into_iter().enumerate() {
                sums.held[i] += sample.run(ScratchpadOptions { relssp, ..sample.options }).counts.held;
            }
        }
    }
    sums
}

fn expect(sums: &Sums) {
    println!("{sums:?}");
    assert!(sums.releasing > sums.programs / 3, "{sums:?}");
    assert!(sums.marked > sums.accesses / 50 && sums.shared > sums.accesses / 5, "{sums:?}");
    assert!(sums.held[2] < sums.held[1] && sums.held[1] < sums.held[0], "{sums:?}");
}

#[test]
fn random_programs_pass_the_judges() {
    expect(&judge(1..250));
}

#[test]
#[ignore = "long: 20,000 random programs"]
fn twenty_thousand_random_programs_pass_the_judges() {
    let half = std::thread::spawn(|| judge(100_000..110_000));
    expect(&judge(110_000..120_000));
    expect(&half.join().expect("the other half"));
}
