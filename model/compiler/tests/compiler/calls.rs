//! Calls of device functions: inlined copies, recursion, and calls through pointers (`docs/compiler.md`, "Calls").

use crate::common::{Random, bytes, fault, run, words};
use gpurf_compiler::{Options as CompilerOptions, compile};
use gpurf_isa::machine::trap;
use gpurf_oracle::{Geometry, Launch, Memory, Options, Oracle, Program};
use std::fmt::Write;

const HEADER: &str = ".version 9.5\n.target sm_75\n.address_size 64\n";
const THREADS: u32 = 64;
/// Depth of nested calls in the random programs.
const DEPTH: u32 = 3;

/// A step of a random function over its values x, y and the sum a.
enum Step {
    /// Computes new values of a and x.
    Mix(u32),
    /// Writes a to a word of its local array.
    Store(usize),
    /// Reads a word of its local array.
    Load(usize),
    /// Calls `target` `times` times, if this bit of a is set.
    Call { target: Target, bit: u32, times: u32 },
}

/// The callee.
enum Target {
    Function(usize),
    /// One of two functions, selected by the lowest bit of x, through a pointer.
    Pointer(usize, usize),
}

/// A random function. Its parameters are three words, or a struct of three words; its result is a word, or a struct of
/// two.
struct Function {
    structs: bool,
    steps: Vec<Step>,
}

/// Random functions. `may_call(f, g)` says whether f may call g.
fn functions(random: &mut Random, may_call: &dyn Fn(usize, usize) -> bool) -> Vec<Function> {
    let count = 2 + random.below(4);
    let structs: Vec<bool> = (0..count).map(|_| random.below(2) == 0).collect();
    (0..count)
        .map(|f| {
            let targets: Vec<usize> = (0..count).filter(|&g| may_call(f, g)).collect();
            let mut calls = 0;
            let mut steps = vec![Step::Mix(random.word())];
            for _ in 0..3 + random.below(4) {
                steps.push(match random.below(5) {
                    0 => Step::Store(random.below(4)),
                    1 => Step::Load(random.below(4)),
                    2 => Step::Mix(random.word()),
                    _ if targets.is_empty() || calls == 2 => Step::Mix(random.word()),
                    _ => {
                        calls += 1;
                        let mut any = || targets[random.below(targets.len())];
                        let (one, other) = (any(), any());
                        let pointer = structs[one] == structs[other] && random.below(2) == 0;
                        let target = if pointer { Target::Pointer(one, other) } else { Target::Function(one) };
                        let (bit, times) = (random.below(8) as u32, 1 + random.below(2) as u32);
                        Step::Call { target, bit, times }
                    }
                });
            }
            Function { structs: structs[f], steps }
        })
        .collect()
}

/// The result of function `f`, computed in Rust.
fn computed(functions: &[Function], f: usize, x: u32, y: u32, depth: u32) -> [u32; 2] {
    let (mut a, mut x) = (y, x);
    let mut array = [0; 4];
    for step in &functions[f].steps {
        match step {
            Step::Mix(number) => {
                a = a.wrapping_mul(1_664_525).wrapping_add(x ^ number);
                x = x.wrapping_add(a >> 3);
            }
            Step::Store(n) => array[*n] = a,
            Step::Load(n) => a ^= array[*n],
            Step::Call { target, bit, times } => {
                if depth > 0 && a >> bit & 1 == 1 {
                    for _ in 0..*times {
                        let callee = match *target {
                            Target::Function(f) => f,
                            Target::Pointer(one, other) => [other, one][(x & 1) as usize],
                        };
                        let [low, high] = computed(functions, callee, a, x, depth - 1);
                        a = a.wrapping_add(low);
                        x ^= high;
                    }
                }
            }
        }
    }
    [a, if functions[f].structs { x } else { 0 }]
}

/// The functions as PTX, and a kernel that calls the first.
fn program(functions: &[Function]) -> String {
    let mut k = HEADER.to_owned();
    let mut line = |text: String| writeln!(k, "{text}").expect("strings grow");
    let head = |f: usize, structs: bool| match structs {
        true => format!(".func (.param .align 4 .b8 rv[8]) f{f}(.param .align 8 .b8 q[16])"),
        false => format!(".func (.param .b32 rv) f{f}(.param .b32 q0, .param .b32 q1, .param .b32 q2)"),
    };
    for (f, function) in functions.iter().enumerate() {
        line(format!("{};", head(f, function.structs)));
    }
    for (f, function) in functions.iter().enumerate() {
        line(format!("{} {{", head(f, function.structs)));
        line(".local .align 4 .b8 array[16]; .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %l<4>;".to_owned());
        line(match function.structs {
            true => "ld.param.v2.u32 {%r0, %r1}, [q]; ld.param.u32 %r2, [q+8];".to_owned(),
            false => "ld.param.u32 %r0, [q0]; ld.param.u32 %r1, [q1]; ld.param.u32 %r2, [q2];".to_owned(),
        });
        line("mov.u32 %r3, 0; mov.u64 %l0, array; st.local.v4.u32 [%l0], {%r3, %r3, %r3, %r3};".to_owned());
        for (n, step) in function.steps.iter().enumerate() {
            match step {
                Step::Mix(number) => line(format!(
                    "xor.b32 %r3, %r0, {number}; mad.lo.u32 %r1, %r1, 1664525, %r3; shr.u32 %r4, %r1, 3; add.u32 %r0, %r0, %r4;"
                )),
                Step::Store(at) => line(format!("st.local.u32 [%l0+{}], %r1;", at * 4)),
                Step::Load(at) => line(format!("ld.local.u32 %r3, [%l0+{}]; xor.b32 %r1, %r1, %r3;", at * 4)),
                Step::Call { target, bit, times } => {
                    line(format!("setp.eq.u32 %p0, %r2, 0; shr.u32 %r3, %r1, {bit}; and.b32 %r3, %r3, 1;"));
                    line(format!("setp.eq.u32 %p1, %r3, 0; or.pred %p0, %p0, %p1; @%p0 bra SKIP{n};"));
                    line(format!("mov.u32 %r5, 0;\nAGAIN{n}: sub.u32 %r6, %r2, 1;"));
                    let (callee, structs, last) = match *target {
                        Target::Function(g) => (format!("f{g}"), functions[g].structs, ""),
                        Target::Pointer(one, other) => {
                            line("and.b32 %r3, %r0, 1; setp.eq.u32 %p2, %r3, 1;".to_owned());
                            line(format!("mov.u64 %l1, f{one}; mov.u64 %l2, f{other}; selp.b64 %l3, %l1, %l2, %p2;"));
                            ("%l3".to_owned(), functions[one].structs, ", proto")
                        }
                    };
                    line("{".to_owned());
                    if structs {
                        line(".param .align 8 .b8 a0[16]; .param .align 4 .b8 back[8];".to_owned());
                        line("st.param.v2.b32 [a0], {%r1, %r0}; st.param.b32 [a0+8], %r6;".to_owned());
                        line(format!("call (back), {callee}, (a0){last};"));
                        line("ld.param.b32 %r7, [back]; ld.param.b32 %r8, [back+4];".to_owned());
                    } else {
                        line(".param .b32 a0; .param .b32 a1; .param .b32 a2; .param .b32 back;".to_owned());
                        line("st.param.b32 [a0], %r1; st.param.b32 [a1], %r0; st.param.b32 [a2], %r6;".to_owned());
                        line(format!("call (back), {callee}, (a0, a1, a2){last};"));
                        line("ld.param.b32 %r7, [back]; mov.u32 %r8, 0;".to_owned());
                    }
                    line("}".to_owned());
                    line("add.u32 %r1, %r1, %r7; xor.b32 %r0, %r0, %r8; add.u32 %r5, %r5, 1;".to_owned());
                    line(format!("setp.lt.u32 %p3, %r5, {times}; @%p3 bra AGAIN{n};\nSKIP{n}:"));
                }
            }
        }
        line(match function.structs {
            true => "st.param.b32 [rv], %r1; st.param.b32 [rv+4], %r0; ret;\n}".to_owned(),
            false => "st.param.b32 [rv], %r1; ret;\n}".to_owned(),
        });
    }
    line(".visible .entry k(.param .u64 p0, .param .u64 p1) {".to_owned());
    line(".reg .b32 %r<8>; .reg .b64 %l<4>;".to_owned());
    line("ld.param.u64 %l0, [p0]; ld.param.u64 %l1, [p1]; mov.u32 %r0, %tid.x;".to_owned());
    line("mad.wide.u32 %l0, %r0, 4, %l0; mad.wide.u32 %l1, %r0, 8, %l1; ld.global.u32 %r1, [%l0];".to_owned());
    line(format!("mov.u32 %r2, {DEPTH}; mov.u32 %r4, 0;\n{{"));
    if functions[0].structs {
        line(".param .align 8 .b8 a0[16]; .param .align 4 .b8 back[8];".to_owned());
        line("st.param.v2.b32 [a0], {%r1, %r0}; st.param.b32 [a0+8], %r2; call (back), f0, (a0);".to_owned());
        line("ld.param.v2.b32 {%r3, %r4}, [back];\n}".to_owned());
    } else {
        line(".param .b32 a0; .param .b32 a1; .param .b32 a2; .param .b32 back;".to_owned());
        line("st.param.b32 [a0], %r1; st.param.b32 [a1], %r0; st.param.b32 [a2], %r2;".to_owned());
        line("call (back), f0, (a0, a1, a2); ld.param.b32 %r3, [back];\n}".to_owned());
    }
    line("st.global.v2.u32 [%l1], {%r3, %r4}; ret;\n}".to_owned());
    k
}

/// Runs random programs and compares their results with [`computed`].
fn check(seed: u64, programs: usize, may_call: &dyn Fn(usize, usize) -> bool) {
    let mut random = Random(seed);
    for number in 0..programs {
        let functions = functions(&mut random, may_call);
        let source = program(&functions);
        let input: Vec<u32> = (0..THREADS).map(|_| random.word()).collect();
        let registers = [16, 24, 64][number % 3];
        let found = run(&source, registers, &[bytes(&input)], THREADS as usize * 8, THREADS);
        let expected: Vec<u32> =
            input.iter().zip(0..).flat_map(|(&x, thread)| computed(&functions, 0, x, thread, DEPTH)).collect();
        assert_eq!(words(&found), expected, "program {number}\n{source}");
    }
}

#[test]
fn functions_are_copied() {
    check(0x5eed_0001, 24, &|f, g| g > f);
}

#[test]
fn functions_call_themselves() {
    check(0x5eed_0002, 24, &|f, g| g >= f);
}

#[test]
fn functions_call_each_other() {
    check(0x5eed_0003, 48, &|_, _| true);
}

/// A kernel with a function that calls itself `depth` times.
fn descent(depth: u32) -> String {
    format!(
        "{HEADER}.func f(.param .b32 n) {{ .reg .b32 %r<4>; .reg .pred %p; ld.param.u32 %r0, [n]; setp.eq.u32 %p, %r0, 0;
         @%p ret; sub.u32 %r1, %r0, 1; {{ .param .b32 a; st.param.b32 [a], %r1; call f, (a); }} ret; }}
         .entry k() {{ .reg .b32 %r<2>; mov.u32 %r0, {depth}; {{ .param .b32 a; st.param.b32 [a], %r0; call f, (a); }} ret; }}"
    )
}

#[test]
fn recursion_ends_at_the_end_of_the_stack() {
    // A frame has 16 bytes, and one frame exists even without a call.
    let options = CompilerOptions { stack_bytes: 16 * 8, ..Default::default() };
    let text = fault(&descent(8), &options);
    assert!(text.contains(trap::reason(trap::STACK)), "{text}");
    let image = compile(&descent(7), "test.ptx", &options).expect("it compiles").image;
    let program = Program::new(&image.kernels[0], "test.ptx").expect("it is a program");
    let geometry = Geometry { grid: [1; 3], block: [32, 1, 1], dynamic_shared: 0 };
    let launch = Launch { program: &program, geometry, constant: &[] };
    Oracle::new(Options::default()).run(&launch, &Memory::default()).expect("the stack suffices");
    assert_eq!(image.kernels[0].local_bytes, 16 * 8);
}

#[test]
fn a_pointer_to_nothing_is_a_fault() {
    let source = format!(
        "{HEADER}.func f() {{ ret; }} .global .u64 taken = f;
         .entry k() {{ .reg .b64 %l; mov.u64 %l, 12345; call %l, (), p; ret; }}"
    );
    let text = fault(&source, &CompilerOptions::default());
    assert!(text.contains(trap::reason(trap::NO_FUNCTION)), "{text}");
}

/// The compiler's message about a kernel that calls these functions.
fn refusal(functions: &str, body: &str) -> String {
    let source = format!("{HEADER}{functions}\n.entry k() {{ .reg .b64 %l; {body} ret; }}");
    compile(&source, "test.ptx", &CompilerOptions::default()).expect_err("it is refused").to_string()
}

#[test]
fn calls_that_cannot_be_made_are_refused() {
    let extern_function = refusal(".extern .func f();", "call f;");
    assert!(extern_function.contains("`f` has no body in this file"), "{extern_function}");
    let other_parameters = refusal(".func f(.param .b32 a) { ret; }", "call f;");
    assert!(other_parameters.contains("`f` has other parameters or results than this call"), "{other_parameters}");
    let none = refusal(".func f(.param .b32 a) { ret; } .global .u64 taken = f;", "mov.u64 %l, 16; call %l, ();");
    assert!(none.contains("has its address taken"), "{none}");
    let mut chain = ".func f0() { ret; }".to_owned();
    (1..70).for_each(|n| write!(chain, " .func f{n}() {{ call f{}; ret; }}", n - 1).expect("strings grow"));
    let deep = refusal(&chain, "call f69;");
    assert!(deep.contains("more than 64 calls inside of each other"), "{deep}");
    let mut doubling = ".func f0() { ret; }".to_owned();
    (1..20)
        .for_each(|n| write!(doubling, " .func f{n}() {{ call f{0}; call f{0}; ret; }}", n - 1).expect("strings grow"));
    let many = refusal(&doubling, "call f19;");
    assert!(many.contains("more than 65536 statements"), "{many}");
    let registers = refusal(".func f(.reg .b32 a) { ret; }", "{ .param .b32 a; call f, (a); }");
    assert!(registers.contains("takes its parameters in registers"), "{registers}");
    let outside = refusal(".func f(.param .b32 a) { ret; }", "{ .param .b32 a; st.param.b64 [a], 0; call f, (a); }");
    assert!(outside.contains("lies outside of the parameter"), "{outside}");
    for access in [
        "ld.param.u32 %r, [q-4];",
        "ld.param.u32 %r, [q+16777216];",
        "ld.param.u32 %r, [q+4294967296];",
        "st.param.b32 [ret+16777216], %r;",
    ] {
        let function = format!(".func (.param .b32 ret) f(.param .b32 q) {{ .reg .b32 %r; {access} ret; }}");
        let text = refusal(&function, "{ .param .b32 a; .param .b32 b; st.param.b32 [a], 0; call (b), f, (a); }");
        assert!(text.contains("this access lies outside of the parameter"), "{access}: {text}");
    }
}

#[test]
fn too_many_braces_are_said_of_the_call_that_goes_into_them() {
    // 50 blocks in each of six functions, each on a line of its own.
    let (open, close) = ("{".repeat(50), "}".repeat(50));
    let mut functions = ".func f0() { ret; }".to_owned();
    (1..7).for_each(|n| {
        let next = n - 1;
        write!(functions, "\n.func f{n}() {{ {open} call f{next}; {close} ret; }}").expect("strings grow");
    });
    let text = refusal(&functions, "call f6;");
    assert!(text.contains("more than 256 blocks in braces"), "{text}");
    // The header has three lines, and f0 is on the fourth. The limit is exceeded in f1, at the call in f2.
    assert!(text.contains("test.ptx:6:") && text.contains("call f1"), "{text}");
}

#[test]
fn a_pointer_is_a_declared_register_whatever_its_name() {
    // `next` is a register without a percent sign, through which f calls itself; `%g` is a function with one.
    let source = format!(
        "{HEADER}.func (.param .b32 r) %g(.param .b32 n) {{ .reg .b32 %r; ld.param.u32 %r, [n]; add.u32 %r, %r, 100;
         st.param.b32 [r], %r; ret; }}
         .func (.param .b32 r) f(.param .b32 n) {{ .reg .b32 %r<4>; .reg .pred %p; .reg .b64 next;
         ld.param.u32 %r0, [n]; setp.eq.u32 %p, %r0, 0; @!%p bra more;
         {{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r0; call (b), %g, (a); ld.param.b32 %r2, [b]; }}
         st.param.b32 [r], %r2; ret;
         more: sub.u32 %r1, %r0, 1; mov.u64 next, f;
         {{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), next, (a), p; ld.param.b32 %r2, [b]; }}
         add.u32 %r2, %r2, %r0; st.param.b32 [r], %r2; ret; }}
         .entry k(.param .u64 out) {{ .reg .b32 %r<3>; .reg .b64 %l; ld.param.u64 %l, [out]; mov.u32 %r0, 70;
         {{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r0; call (b), f, (a); ld.param.b32 %r1, [b]; }}
         st.global.u32 [%l], %r1; ret; }}"
    );
    assert_eq!(words(&run(&source, 32, &[], 4, 1)), [100 + 70 * 71 / 2]);
}

#[test]
fn shared_variables_belong_to_the_braces_that_declare_them() {
    // The name is that of a variable of the module, of one of the function, and of three of the kernel.
    let source = format!(
        "{HEADER}.global .align 4 .u32 s;
         .func f() {{ .shared .align 4 .b32 s; st.shared.u32 [s], 99; ret; }}
         .func (.param .b32 ret) g(.param .b32 n) {{ .shared .align 4 .b32 t; .reg .b32 %r; .reg .pred %p; ld.param.u32 %r, [n];
         setp.ne.u32 %p, %r, 0; @%p st.shared.u32 [t], %r; ld.shared.u32 %r, [t]; st.param.b32 [ret], %r; ret; }}
         .entry k(.param .u64 out) {{ .reg .b32 %r<9>; .reg .b64 %l; .reg .pred %p; ld.param.u64 %l, [out];
         st.global.u32 [s], 5; call f; ld.global.u32 %r0, [s];
         {{ .shared .align 4 .b8 s[64]; st.shared.u32 [s+60], 7; st.shared.u32 [s], 6; call f; ld.shared.u32 %r1, [s+60]; mov.u32 %r5, s;
         {{ .shared .align 4 .b32 s; st.shared.u32 [s], 8; call f; ld.shared.u32 %r2, [s]; }}
         ld.shared.u32 %r3, [s]; }}
         {{ .shared .align 4 .b32 s; mov.u32 %r6, s; setp.ne.u32 %p, %r5, %r6; selp.b32 %r4, 1, 0, %p; }}
         {{ .param .b32 a; .param .b32 b; st.param.b32 [b], 3; call (a), g, (b); }}
         {{ .param .b32 a; .param .b32 b; st.param.b32 [b], 0; call (a), g, (b); ld.param.b32 %r5, [a]; }}
         st.global.v2.u32 [%l], {{%r0, %r1}}; st.global.v2.u32 [%l+8], {{%r2, %r3}}; st.global.v2.u32 [%l+16], {{%r4, %r5}}; ret; }}"
    );
    // All calls of a function share its variable.
    assert_eq!(words(&run(&source, 32, &[], 24, 1)), [5, 7, 8, 6, 1, 3]);
}

#[test]
fn a_refusal_in_a_function_is_said_once() {
    let functions = ".func f() { .reg .f64 %d; tanh.approx.f64 %d, %d; ret; }";
    let text = refusal(functions, "call f; call f; call f;");
    assert_eq!(text.matches("double precision is outside").count(), 1, "{text}");
}
