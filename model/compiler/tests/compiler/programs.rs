//! Random programs with branches, loops and guards, at several register limits, compared with an interpreter written for them.
//!
//! Each program ends by storing variables, which are compared: every other program stores all of them. The others store some, and have statements after
//! the stores, so that many of their statements have no effect, and blocks and branches become empty. In debug builds, the allocator is also checked,
//! by following values through registers along all paths.
//!
//! In every third program, some variables and predicates are not written at the start: the compiler sets them to zero, while the oracle's registers
//! begin with another value.

use crate::common::{Random, bytes, run, words};
use std::fmt::Write;

const VARIABLES: usize = 22;
const PREDICATES: usize = 10;
const THREADS: usize = 64;
const LIMITS: [u16; 5] = [16, 20, 24, 32, 64];

/// A statement over the variables.
enum Statement {
    /// `to = op(a, b, c)`, guarded or not.
    Compute {
        to: usize,
        op: usize,
        from: [usize; 3],
        guard: Option<(usize, bool)>,
    },
    /// `to = a < b`, unsigned.
    Compare {
        to: usize,
        from: [usize; 2],
    },
    /// `to = a xor b`
    Combine {
        to: usize,
        from: [usize; 2],
    },
    If {
        when: usize,
        then: Vec<Statement>,
        otherwise: Vec<Statement>,
    },
    /// Runs the body `(variable & 3) + 1` times.
    Loop {
        by: usize,
        body: Vec<Statement>,
    },
    /// Ends the thread if the predicate is true.
    Leave {
        when: usize,
    },
}

/// An operation on three words: its PTX over `$d`, `$a`, `$b`, `$c`, and its result in Rust.
type Operation = (&'static str, fn(u32, u32, u32) -> u32);

const OPERATIONS: &[Operation] = &[
    ("add.u32 $d, $a, $b;", |a, b, _| a.wrapping_add(b)),
    ("sub.u32 $d, $a, $b;", |a, b, _| a.wrapping_sub(b)),
    ("mad.lo.u32 $d, $a, $b, $c;", |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
    ("mov.u32 $d, $a;", |a, _, _| a),
    ("mov.u32 $d, $b;", |_, b, _| b),
    ("mov.u32 $d, 1000;", |_, _, _| 1000),
    ("xor.b32 $d, $a, $b;", |a, b, _| a ^ b),
    ("and.b32 $d, $a, 0xff00ff;", |a, _, _| a & 0xff_00ff),
    ("lop3.b32 $d, $a, $b, $c, 0xe8;", |a, b, c| (a & b) | (a & c) | (b & c)),
    ("shl.b32 $d, $a, 3;", |a, _, _| a << 3),
    ("shf.l.wrap.b32 $d, $a, $b, $c;", |a, b, c| {
        let all = u64::from(b) << 32 | u64::from(a);
        (all << (c & 31) >> 32) as u32
    }),
    ("min.s32 $d, $a, $b;", |a, b, _| (a as i32).min(b as i32) as u32),
    ("mul.hi.u32 $d, $a, $b;", |a, b, _| ((u64::from(a) * u64::from(b)) >> 32) as u32),
    ("popc.b32 $d, $a;", |a, _, _| a.count_ones()),
    ("div.u32 $d, $a, $b;", |a, b, _| a.checked_div(b).unwrap_or(u32::MAX)),
    ("mov.u32 $d, %tid.x;", |_, _, _| u32::MAX),
    ("mul.wide.u32 %l1, $a, $b; add.u64 %l1, %l1, 77; shr.u64 %l1, %l1, 9; cvt.u32.u64 $d, %l1;", |a, b, _| {
        ((u64::from(a) * u64::from(b)).wrapping_add(77) >> 9) as u32
    }),
];
/// Index of the operation that reads the thread's index; the interpreter supplies the value.
const THREAD_NUMBER: usize = 15;

fn generate(random: &mut Random, depth: u32, budget: &mut i32) -> Vec<Statement> {
    let mut out = Vec::new();
    for _ in 0..4 + random.below(8) {
        *budget -= 1;
        if *budget < 0 {
            break;
        }
        let v = |random: &mut Random| random.below(VARIABLES);
        let p = |random: &mut Random| random.below(PREDICATES);
        out.push(match random.below(16) {
            0 if depth > 0 => Statement::If {
                when: p(random),
                then: generate(random, depth - 1, budget),
                otherwise: generate(random, depth - 1, budget),
            },
            1 if depth > 0 => Statement::Loop { by: v(random), body: generate(random, depth - 1, budget) },
            2 if random.below(6) == 0 => Statement::Leave { when: p(random) },
            3..5 => Statement::Compare { to: p(random), from: [v(random), v(random)] },
            5 => Statement::Combine { to: p(random), from: [p(random), p(random)] },
            n => Statement::Compute {
                to: v(random),
                op: random.below(OPERATIONS.len()),
                from: [v(random), v(random), v(random)],
                guard: (n < 9).then(|| (p(random), random.below(2) == 0)),
            },
        });
    }
    out
}

struct Printer {
    text: String,
    labels: usize,
    /// The label to which threads leave.
    leave: &'static str,
}

impl Printer {
    fn statements(&mut self, list: &[Statement]) {
        for statement in list {
            let t = &mut self.text;
            match statement {
                Statement::Compute { to, op, from, guard } => {
                    let mut text = OPERATIONS[*op].0.replace("$d", &format!("%v{to}"));
                    for (name, n) in ["$a", "$b", "$c"].iter().zip(from) {
                        text = text.replace(name, &format!("%v{n}"));
                    }
                    for part in text.split_inclusive(';') {
                        match guard {
                            Some((p, negated)) => writeln!(t, "@{}%p{p} {part}", if *negated { "!" } else { "" }),
                            None => writeln!(t, "{part}"),
                        }
                        .expect("strings grow");
                    }
                }
                Statement::Compare { to, from } => {
                    writeln!(t, "setp.lt.u32 %p{to}, %v{}, %v{};", from[0], from[1]).expect("strings grow");
                }
                Statement::Combine { to, from } => {
                    writeln!(t, "xor.pred %p{to}, %p{}, %p{};", from[0], from[1]).expect("strings grow");
                }
                Statement::If { when, then, otherwise } => {
                    let n = self.labels;
                    self.labels += 1;
                    writeln!(t, "@!%p{when} bra ELSE{n};").expect("strings grow");
                    self.statements(then);
                    writeln!(self.text, "bra.uni END{n};\nELSE{n}:").expect("strings grow");
                    self.statements(otherwise);
                    writeln!(self.text, "END{n}:").expect("strings grow");
                }
                Statement::Loop { by, body } => {
                    let n = self.labels;
                    self.labels += 1;
                    writeln!(t, "and.b32 %n{n}, %v{by}, 3;\nLOOP{n}:").expect("strings grow");
                    self.statements(body);
                    writeln!(self.text, "sub.s32 %n{n}, %n{n}, 1; setp.ge.s32 %q{n}, %n{n}, 0; @%q{n} bra LOOP{n};")
                        .expect("strings grow");
                }
                Statement::Leave { when } => writeln!(t, "@%p{when} bra {};", self.leave).expect("strings grow"),
            }
        }
    }
}

/// Whether a variable or predicate is zero at the start because nothing writes it.
fn is_unwritten(seed: u64, number: usize) -> bool {
    seed.is_multiple_of(3) && (number as u64 + seed / 3).is_multiple_of(4)
}

/// Whether a program stores only some of its variables.
fn is_sparse(seed: u64) -> bool {
    seed.is_multiple_of(2)
}

/// Whether a variable is stored at the end.
fn is_stored(seed: u64, number: usize) -> bool {
    !is_sparse(seed) || (number as u64 + seed / 2).is_multiple_of(7)
}

/// The program; the statements of `tail` come after the stores.
fn print(program: &[Statement], tail: &[Statement], seed: u64) -> String {
    let mut body = Printer { text: String::new(), labels: 0, leave: "LEAVE" };
    body.statements(program);
    let mut end = Printer { text: String::new(), labels: body.labels, leave: "DONE" };
    end.statements(tail);
    let mut k = String::from(".version 9.5\n.target sm_75\n.address_size 64\n");
    k.push_str(".visible .entry k(.param .u64 p0, .param .u64 p1)\n{\n");
    writeln!(k, ".reg .pred %p<{PREDICATES}>; .reg .b32 %v<{VARIABLES}>; .reg .b64 %l<8>;").expect("strings grow");
    writeln!(k, ".reg .b32 %n<{0}>; .reg .pred %q<{0}>; .reg .b32 %t;", end.labels + 1).expect("strings grow");
    writeln!(k, "mov.u32 %t, %tid.x; ld.param.u64 %l2, [p0]; mad.wide.u32 %l2, %t, {}, %l2;", VARIABLES * 4)
        .expect("strings grow");
    for v in (0..VARIABLES).filter(|&v| !is_unwritten(seed, v)) {
        writeln!(k, "ld.global.u32 %v{v}, [%l2+{}];", v * 4).expect("strings grow");
    }
    for p in (0..PREDICATES).filter(|&p| !is_unwritten(seed, p)) {
        writeln!(k, "setp.gt.s32 %p{p}, %v{p}, {};", p * 1000).expect("strings grow");
    }
    k.push_str(&body.text);
    k.push_str("LEAVE:\n");
    writeln!(k, "ld.param.u64 %l3, [p1]; mad.wide.u32 %l3, %t, {}, %l3;", VARIABLES * 4).expect("strings grow");
    for v in (0..VARIABLES).filter(|&v| is_stored(seed, v)) {
        writeln!(k, "st.global.u32 [%l3+{}], %v{v};", v * 4).expect("strings grow");
    }
    k.push_str(&end.text);
    k.push_str("DONE:\nret;\n}\n");
    k
}

struct Thread {
    number: u32,
    v: Vec<u32>,
    p: Vec<bool>,
}

impl Thread {
    /// Runs statements. Returns false if the thread has ended.
    fn run(&mut self, list: &[Statement]) -> bool {
        for statement in list {
            match statement {
                Statement::Compute { to, op, from, guard } => {
                    if guard.is_none_or(|(p, negated)| self.p[p] != negated) {
                        let [a, b, c] = from.map(|n| self.v[n]);
                        self.v[*to] = if *op == THREAD_NUMBER { self.number } else { OPERATIONS[*op].1(a, b, c) };
                    }
                }
                Statement::Compare { to, from } => self.p[*to] = self.v[from[0]] < self.v[from[1]],
                Statement::Combine { to, from } => self.p[*to] = self.p[from[0]] ^ self.p[from[1]],
                Statement::If { when, then, otherwise } => {
                    if !self.run(if self.p[*when] { then } else { otherwise }) {
                        return false;
                    }
                }
                Statement::Loop { by, body } => {
                    for _ in 0..=self.v[*by] & 3 {
                        if !self.run(body) {
                            return false;
                        }
                    }
                }
                Statement::Leave { when } => {
                    if self.p[*when] {
                        return false;
                    }
                }
            }
        }
        true
    }
}

fn check(seed: u64) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let program = generate(&mut random, 3, &mut 90);
    let tail = if is_sparse(seed) { generate(&mut random, 2, &mut 20) } else { Vec::new() };
    let source = print(&program, &tail, seed);
    let start: Vec<u32> = (0..THREADS * VARIABLES).map(|_| random.word()).collect();
    let mut want = Vec::new();
    for (i, v) in start.chunks(VARIABLES).enumerate() {
        let first = |n: usize| if is_unwritten(seed, n) { 0 } else { v[n] };
        let p = (0..PREDICATES).map(|p| !is_unwritten(seed, p) && first(p) as i32 > p as i32 * 1000).collect();
        let mut thread = Thread { number: i as u32, v: (0..VARIABLES).map(first).collect(), p };
        thread.run(&program);
        want.extend(thread.v.iter().enumerate().map(|(v, &value)| if is_stored(seed, v) { value } else { 0 }));
    }
    for limit in LIMITS {
        let got = words(&crate::common::run(&source, limit, &[bytes(&start)], want.len() * 4, THREADS as u32));
        let wrong = got.iter().zip(&want).position(|(g, w)| g != w);
        if let Some(at) = wrong {
            panic!(
                "seed {seed}, {limit} registers, thread {}, variable {}: {:#x}, not {:#x}\n{source}",
                at / VARIABLES,
                at % VARIABLES,
                got[at],
                want[at]
            );
        }
    }
}

#[test]
fn random_programs() {
    (1..60).for_each(check);
}

#[test]
#[ignore = "long: 3,000 random programs"]
fn many_random_programs() {
    (1000..4000).for_each(check);
}

/// `__syncwarp` by the threads of a group, as in cooperative groups: each group of 8 names its own lanes, all of which are active. So do the lanes
/// that remain after a branch.
#[test]
fn groups_of_a_warp_synchronise() {
    let source = "\
.version 9.5
.target sm_75
.address_size 64
.visible .entry groups(.param .u64 result)
{
.reg .pred %p<2>; .reg .b32 %r<12>; .reg .b64 %l<4>;
.shared .align 4 .b8 tile[160];
ld.param.u64 %l0, [result];
mov.u32 %r0, %tid.x;
shl.b32 %r1, %r0, 2;
mov.u32 %r2, tile;
add.s32 %r3, %r2, %r1;
st.shared.u32 [%r3], %r0;
and.b32 %r4, %r0, 24;
shl.b32 %r5, 255, %r4;
bar.warp.sync %r5;
xor.b32 %r6, %r1, 28;
add.s32 %r6, %r2, %r6;
ld.shared.u32 %r7, [%r6];
setp.gt.u32 %p0, %r0, 15;
@%p0 bra store;
bar.warp.sync %r5;
add.s32 %r7, %r7, 100;
store:
cvta.to.global.u64 %l1, %l0;
mul.wide.u32 %l2, %r0, 4;
add.s64 %l1, %l1, %l2;
st.global.u32 [%l1], %r7;
ret;
}
";
    let expected: Vec<u32> = (0..40).map(|i| (i ^ 7) + if i < 16 { 100 } else { 0 }).collect();
    assert_eq!(words(&run(source, 32, &[], 160, 40)), expected);
}

/// The side of a branch that only ends the thread becomes a guarded `EXIT`, also if the other side or what follows becomes empty: here a load, or a
/// write to a variable, that nothing reads.
#[test]
fn branches_whose_sides_become_empty_end_the_program() {
    let kernel = |body: &str| {
        format!(
            "\
.version 9.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 data, .param .u64 result)
{{
.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %l<8>;
ld.param.u64 %l0, [result];
ld.param.u64 %l1, [data];
mov.u32 %r0, %tid.x;
mul.wide.u32 %l2, %r0, 4;
add.u64 %l3, %l0, %l2;
mov.u32 %r1, 1;
mov.u32 %r2, 0;
{body}
END: ret;
}}
"
        )
    };
    let sum = "LOOP: add.u32 %r2, %r2, %r1; add.u32 %r1, %r1, %r0; setp.lt.u32 %p0, %r2, 100; @%p0 bra LOOP;";
    let store = "red.global.add.u32 [%l3], %r2;";
    let bodies = [
        format!("{sum} {store} setp.gt.u32 %p1, %r0, 5; @%p1 bra END; ld.global.u32 %r5, [%l1];"),
        format!("{sum} {store} setp.gt.u32 %p1, %r0, 5; @%p1 bra END; mov.u32 %r1, 5;"),
        format!(
            "{sum} {store} setp.gt.u32 %p1, %r0, 5; @%p1 bra ONE; mov.u32 %r1, 5; bra END;
            ONE: setp.gt.u32 %p2, %r0, 9; @%p2 bra END; ld.global.u32 %r5, [%l1]; bra END;"
        ),
        format!(
            "{sum} setp.gt.u32 %p1, %r0, 5; @%p1 bra ONE; {store} bra TWO; ONE: {store}
            TWO: setp.gt.u32 %p2, %r0, 3; @!%p2 bra END; ld.global.u32 %r5, [%l1+4]; mov.u32 %r1, 7;"
        ),
    ];
    let want: Vec<u32> = (0..40)
        .map(|thread| {
            let (mut sum, mut step) = (0u32, 1u32);
            while sum < 100 {
                (sum, step) = (sum + step, step + thread);
            }
            sum
        })
        .collect();
    for body in bodies {
        let source = kernel(&body);
        assert_eq!(words(&run(&source, 32, &[bytes(&[1, 2])], 160, 40)), want, "{source}");
    }
}
