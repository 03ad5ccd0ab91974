//! Values that are live at the entry: which of them the compiler sets to zero, and what the oracle reports when they are read.

use crate::common::{bytes, compiled, words};
use gpurf_isa::image::Purpose;
use gpurf_oracle::{Geometry, Launch, Memory, Oracle, Program};

/// A kernel with the thread's index in `%t`, its word of the input at `%in`, and its word of the result at `%out`.
fn kernel(body: &str) -> String {
    format!(
        ".version 9.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p0, .param .u64 p1)
{{
.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<99>; .reg .b64 %l<9>; .reg .b32 %t; .reg .b64 %in; .reg .b64 %out;
mov.u32 %t, %tid.x;
ld.param.u64 %in, [p0]; mad.wide.u32 %in, %t, 4, %in;
ld.param.u64 %out, [p1]; mad.wide.u32 %out, %t, 4, %out;
setp.lt.u32 %p0, %t, 20;
{body}
ret;
}}
"
    )
}

/// The PTX names of the values that the compiler sets to zero.
fn zeros(body: &str, registers: u16) -> Vec<String> {
    let image = compiled(&kernel(body), registers).image;
    let added = image.kernels[0].added.iter();
    let name = |purpose: &Purpose| match purpose {
        Purpose::Zero { of } => Some(of.clone().unwrap_or_default()),
        Purpose::Spill | Purpose::Ahead => None,
    };
    added.filter_map(|added| name(&added.purpose)).collect()
}

/// Runs the kernel for 32 threads on an oracle that checks for undefined reads. Returns the text of the first fault, its thread and its line of PTX.
fn undefined(body: &str, registers: u16) -> Option<(String, u32, String)> {
    let source = kernel(body);
    let image = compiled(&source, registers).image;
    let mut memory = Memory::default();
    let mut constant = Vec::new();
    for _ in 0..2 {
        let buffer = memory.add("buffer", &[1; 256]).expect("there is room");
        constant.extend_from_slice(&u64::from(memory.buffer(buffer).address()).to_le_bytes());
    }
    let program = Program::new(&image.kernels[0], "test.ptx").unwrap();
    let geometry = Geometry { grid: [1; 3], block: [32, 1, 1], dynamic_shared: 0 };
    let launch = Launch { program: &program, geometry, constant: &constant };
    let fault = Oracle::default().run_checked(&launch, &memory).err()?;
    let line = source.lines().nth(fault.line as usize - 1).unwrap().to_owned();
    Some((fault.kind.to_string(), fault.thread[0], line))
}

/// The result of 32 threads, with registers that are not zero at the start.
fn result(body: &str) -> Vec<u32> {
    let input: Vec<u32> = (0..64).collect();
    words(&crate::common::run(&kernel(body), 16, &[bytes(&input)], 128, 32))
}

const ONE_SIDE: &str = "@!%p0 bra SKIP;
ld.global.u32 %r1, [%in];
SKIP:
";

#[test]
fn what_only_some_lanes_write_is_zero_in_the_others() {
    let body = format!("{ONE_SIDE}add.u32 %r2, %r1, 5;\nst.global.u32 [%out], %r2;");
    assert_eq!(zeros(&body, 16), ["%r1"]);
    let want: Vec<u32> = (0..32).map(|t| if t < 20 { t + 5 } else { 5 }).collect();
    assert_eq!(result(&body), want);
    let (text, thread, line) = undefined(&body, 16).unwrap();
    assert!(text.starts_with("reads `%r1` (here R"), "{text}");
    assert_eq!((thread, line.as_str()), (20, "add.u32 %r2, %r1, 5;"));
}

#[test]
fn halves_of_pairs_and_predicates_count_too() {
    let body = "@!%p0 bra SKIP;
ld.global.u64 %l1, [%in+0];
setp.gt.u64 %p1, %l1, 5;
SKIP:
add.u64 %l2, %l1, 1; shr.u64 %l2, %l2, 32; cvt.u32.u64 %r1, %l2; @%p1 add.u32 %r1, %r1, 1;
st.global.u32 [%out], %r1;";
    let body = body.replace("ld.global.u64 %l1, [%in+0];", "mov.b64 %l1, {%t, %t};");
    let mut found = zeros(&body, 16);
    found.sort();
    assert_eq!(found, ["%l1", "%l1", "%p1"]);
    let want: Vec<u32> = (0..32).map(|t| if t < 20 { t + u32::from(t > 0) } else { 0 }).collect();
    assert_eq!(result(&body), want);
    assert_eq!(undefined(&body, 16).unwrap().1, 20);
}

#[test]
fn what_is_never_written_is_zero() {
    let body = "add.u32 %r2, %r1, 5;\nst.global.u32 [%out], %r2;";
    assert_eq!((zeros(body, 16), result(body)), (vec!["%r1".to_owned()], vec![5; 32]));
    assert_eq!(undefined(body, 16).unwrap().1, 0);
}

#[test]
fn nothing_is_added_where_every_way_writes_first() {
    let body = format!("{ONE_SIDE}@%p0 bra ON;\nmov.u32 %r1, 3;\nON:\nst.global.u32 [%out], %r1;");
    // Both branches go the same way, which the graph does not show. So the compiler adds a zero, but no thread reads it.
    assert_eq!((zeros(&body, 16), undefined(&body, 16)), (vec!["%r1".to_owned()], None));
    let body = "@!%p0 bra ELSE;\nmov.u32 %r1, 2;\nbra.uni ON;\nELSE:\nmov.u32 %r1, 3;\nON:\nst.global.u32 [%out], %r1;";
    assert_eq!((zeros(body, 16), undefined(body, 16)), (Vec::new(), None));
    // A value that is not read needs no zero.
    assert_eq!(zeros("@%p0 mov.u32 %r1, 2;", 16), Vec::<String>::new());
}

#[test]
fn a_guarded_load_of_bytes_reads_nothing_in_other_lanes() {
    let body = "@%p0 ld.global.v2.u8 {%h1, %h2}, [%in];
@%p0 cvt.u32.u16 %r1, %h2;
@%p0 st.global.u32 [%out], %r1;";
    assert!(!zeros(body, 16).is_empty());
    assert_eq!(undefined(body, 16), None);
    assert_eq!(result(body), [0; 32]);
}

/// Enough values to force spilling, including `%r1` and `%p1`, all read at the end.
fn crowded() -> String {
    use std::fmt::Write;
    let mut body = format!("{ONE_SIDE}@!%p0 bra OVER;\nsetp.gt.u32 %p1, %r1, 7;\nOVER:\n");
    for n in 10..40 {
        writeln!(body, "ld.global.u32 %r{n}, [%in+{}];", 4 * (n - 10)).unwrap();
    }
    for p in 2..9 {
        writeln!(body, "setp.gt.u32 %p{p}, %r{}, 3;", p + 8).unwrap();
    }
    for n in 10..40 {
        writeln!(body, "@%p{} add.u32 %r{n}, %r{n}, %r{};", n % 7 + 2, (n - 3) % 30 + 10).unwrap();
    }
    for n in 10..40 {
        writeln!(body, "xor.b32 %r5, %r{}, %r{n};\nshl.b32 %r{}, %r5, 1;", n.max(11) - 1, n.max(11) - 1).unwrap();
    }
    for n in 10..40 {
        writeln!(body, "xor.b32 %r9, %r9, %r{n};").unwrap();
    }
    body.replacen("xor.b32 %r9, %r9,", "xor.b32 %r9, %t,", 1)
}

#[test]
fn spilled_values_keep_their_names() {
    let some = format!("{}@%p1 add.u32 %r9, %r9, 1;\nst.global.u32 [%out], %r9;", crowded());
    let report = &compiled(&kernel(&some), 16).report.kernels[0];
    assert!(report.spilled > 0 && report.spilled_predicates > 0, "{report:?}");
    let (text, thread, line) = undefined(&some, 16).unwrap();
    assert!(text.starts_with("reads `%p1` (here P"), "{text}");
    assert_eq!((thread, line.as_str()), (20, "@%p1 add.u32 %r9, %r9, 1;"));
    let other = format!("{}add.u32 %r9, %r9, %r1;\nst.global.u32 [%out], %r9;", crowded());
    let (text, thread, line) = undefined(&other, 16).unwrap();
    assert!(text.starts_with("reads `%r1` (here R"), "{text}");
    assert_eq!((thread, line.as_str()), (20, "add.u32 %r9, %r9, %r1;"));
    // With enough registers for all values, the same read is reported.
    assert_eq!(undefined(&other, 64).unwrap().2, line);
}
