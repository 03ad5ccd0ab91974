//! `printf`, `assert` and traps in hand-written PTX: code that nvcc writes rarely, and code that is wrong.

use gpurf_compiler::{Diagnostics, Options, compile};
use gpurf_kernels::folder;
use gpurf_launch::Manifest;
use gpurf_oracle::host::{OracleEngine, Printed, Session};

const HEAD: &str = ".version 9.5\n.target sm_75\n.address_size 64\n";
const VARIABLES: &str = "
.global .align 1 .b8 hello[7] = {104, 101, 108, 108, 111, 10};
.global .align 1 .b8 number[4] = {37, 100, 10};
.global .align 1 .b8 two[7] = {37, 100, 32, 37, 100, 10};
.global .align 1 .b8 text[4] = {37, 115, 10};
.const .align 1 .b8 fixed[4] = {37, 117, 10};
.global .align 1 .b8 open[4] = {111, 112, 101, 110};
.global .align 1 .b8 binary[4] = {1, 255, 10};
.global .align 1 .b8 many[71] = {37,100,37,100,37,100,37,100,37,100,37,100,37,100,37,100,37,100,37,100,37,100,37,100,37,100,37,100,37,100,
    37,100,37,100,37,100,37,100,37,100,37,100,37,100,37,100,37,100,37,100,37,100,37,100,37,100,37,100,37,100,37,100,37,100,37,100,37,100,10};
";

/// A call of `printf` whose result goes to %r9.
fn printf(format: &str, arguments: &str) -> String {
    format!(
        "{{ .param .b64 f; st.param.b64 [f+0], {format}; .param .b64 a; st.param.b64 [a+0], {arguments}; .param .b32 r; \
         call.uni (r), vprintf, (f, a); ld.param.b32 %r9, [r+0]; }}\n"
    )
}

/// A kernel with this body; a buffer of a word is its parameter, in which %r9 remains.
fn kernel(body: &str) -> String {
    format!(
        "{HEAD}{VARIABLES}.visible .entry k(.param .u64 out) {{\n.local .align 8 .b8 depot[512];\n.reg .b64 %SP, %SPL;\n.reg .b32 %r<20>;\n\
         .reg .b64 %l<20>;\n.reg .pred %p<4>;\n.reg .f64 %d<4>;\nmov.u64 %SPL, depot;\ncvta.local.u64 %SP, %SPL;\n\
         add.u64 %l8, %SP, 0;\nadd.u64 %l9, %SPL, 0;\nmov.u32 %r9, 0;\n{body}\nld.param.u64 %l0, [out];\nst.global.u32 [%l0], %r9;\nret;\n}}\n"
    )
}

/// Runs a source on the oracle with a block of `threads` threads; returns what it prints, the word that it leaves, and how it ends.
fn run(source: &str, threads: u32, more: &str) -> (Printed, i32, Result<(), String>) {
    let image = compile(source, "k.ptx", &Options::default()).unwrap_or_else(|error| panic!("{error}\n{source}")).image;
    let manifest = format!(
        "source = \"saxpy.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [{threads}]\n{more}\n[[arg]]\nbuffer = {{ name = \"out\", type = \"s32\", len = 1 }}\n"
    );
    let manifest = Manifest::parse(&folder().join("k.toml"), &manifest).unwrap_or_else(|error| panic!("{error}"));
    let mut session = Session::new(&manifest, &image).unwrap_or_else(|error| panic!("{error}"));
    let ended = session.run(&mut OracleEngine::default().checking_undefined(true));
    let bytes = session.bytes(gpurf_launch::BufferId(0));
    let word = i32::from_le_bytes(bytes.try_into().expect("a word"));
    (session.printed().clone(), word, ended.map(|_| ()).map_err(|error| error.to_string()))
}

/// The text and the result of one thread.
#[track_caller]
fn one(body: &str) -> (String, i32) {
    let (printed, word, ended) = run(&kernel(body), 1, "");
    assert_eq!((printed.dropped, ended), (0, Ok(())));
    (printed.text, word)
}

fn refused(body: &str) -> Diagnostics {
    compile(&kernel(body), "k.ptx", &Options::default()).expect_err("it is refused")
}

/// The generic address of a variable in %l1.
fn address(variable: &str) -> String {
    format!("mov.u64 %l2, {variable};\ncvta.global.u64 %l1, %l2;\n")
}

#[test]
fn the_result_is_the_number_of_arguments() {
    assert_eq!(one(&(address("hello") + &printf("%l1", "0"))), ("hello\n".to_owned(), 0));
    let stored = "mov.u32 %r1, 42;\nst.local.u32 [%l9], %r1;\n";
    assert_eq!(one(&(stored.to_owned() + &address("number") + &printf("%l1", "%l8"))), ("42\n".to_owned(), 1));
    // Without a format.
    assert_eq!(one(&printf("0", "0")), (String::new(), -1));
    // Of 34 arguments 32 are used; the conversions of the others are printed as text.
    let stored: String = (0..34).map(|n| format!("st.local.u32 [%l9+{}], {n};\n", 4 * n)).collect();
    let numbers: String = (0..32).map(|n| n.to_string()).collect();
    assert_eq!(one(&(stored + &address("many") + &printf("%l1", "%l8"))), (numbers + "%d%d\n", 32));
}

#[test]
fn a_format_is_chosen_when_the_kernel_runs() {
    let chosen = |by: u32| {
        let stored = "st.local.v2.u32 [%l9], {7, 8};\n";
        let choice = format!(
            "mov.u64 %l2, number;\ncvta.global.u64 %l3, %l2;\nmov.u64 %l4, two;\ncvta.global.u64 %l5, %l4;\nmov.u64 %l6, hello;\n\
             cvta.global.u64 %l7, %l6;\nmov.u32 %r1, {by};\nsetp.eq.u32 %p0, %r1, 0;\nselp.b64 %l1, %l3, %l5, %p0;\n\
             setp.ne.u32 %p1, %r1, 2;\n@%p1 bra on;\nmov.u64 %l1, %l7;\non:\n"
        );
        one(&(stored.to_owned() + &choice + &printf("%l1", "%l8")))
    };
    assert_eq!(chosen(0), ("7\n".to_owned(), 1));
    assert_eq!(chosen(1), ("7 8\n".to_owned(), 2));
    assert_eq!(chosen(2), ("hello\n".to_owned(), 0));
    // A part of a string, and one in constant memory.
    assert_eq!(one(&format!("{}add.s64 %l3, %l1, 2;\n{}", address("hello"), printf("%l3", "0"))).0, "llo\n");
    let constant = "st.local.u32 [%l9], -1;\nmov.u64 %l2, fixed;\ncvta.const.u64 %l1, %l2;\n".to_owned();
    assert_eq!(one(&(constant + &printf("%l1", "%l8"))), ("4294967295\n".to_owned(), 1));
}

#[test]
fn what_was_not_passed_is_not_read() {
    let stored = "st.local.u32 [%l9], 5;\n".to_owned();
    assert_eq!(one(&(stored + &address("two") + &printf("%l1", "%l8"))), ("5 %d\n".to_owned(), 2));
    assert_eq!(one(&(address("two") + &printf("%l1", "0"))), ("%d %d\n".to_owned(), 2));
}

#[test]
fn strings_may_be_anywhere() {
    let with = |pointer: &str| {
        let stored = format!("mov.u64 %l3, {pointer};\nst.local.u64 [%l9], %l3;\n");
        one(&(stored + &address("text") + &printf("%l1", "%l8"))).0
    };
    assert_eq!(with("0"), "(null)\n");
    // A string without a zero at its end.
    assert_eq!(with("open"), "open\n");
    assert_eq!(with("binary"), "\u{1}\u{fffd}\n\n");
    // Shared and local memory, the constant space's end, below and beyond the buffers.
    for address in
        [0x1_0000_0000u64, 0x2_0000_0000, 0x3_1000_0000, 0x3_ffff_ffff, 5, 0xffff_ffff, u64::MAX, 0x4_0000_0000]
    {
        assert_eq!(with(&address.to_string()), format!("(bad address {address:#x})\n"));
    }
}

#[test]
fn a_format_that_is_not_known_is_refused() {
    let unknown = "ld.param.u64 %l1, [out];\n".to_owned() + &printf("%l1", "0");
    let text = refused(&unknown).to_string();
    assert!(text.contains("the format of this printf is not known when the kernel is compiled"), "{text}");
    // A format that changes in a loop.
    let circle =
        "mov.u64 %l1, hello;\nagain:\nadd.s64 %l1, %l1, 1;\n".to_owned() + &printf("%l1", "0") + "bra again;\n";
    assert!(refused(&circle).to_string().contains("is not known"));
    // More choices than hand-written code has.
    let mut choices = "mov.u64 %m0, hello;\n".to_owned();
    for n in 1..40 {
        let last = n - 1;
        choices += &format!("selp.b64 %m{n}, %m{last}, %m{last}, %p0;\n");
    }
    let many = format!(".reg .b64 %m<40>;\n{choices}{}", printf("%m39", "0"));
    assert!(refused(&many).to_string().contains("is not known"));
    // A missing parameter, and an unknown one.
    for call in [printf("%l1", "0").replace("(f, a)", "(f)"), printf("%l1", "0").replace("(f, a)", "(f, b)")] {
        let text = refused(&(address("hello") + &call)).to_string();
        assert!(text.contains("not written as nvcc writes it"), "{text}");
    }
}

#[test]
fn a_kernel_that_prints_in_vain_says_how_often() {
    let body = address("hello") + &printf("%l1", "0");
    let (printed, word, ended) = run(&kernel(&body), 70, "printf_buffer = 256");
    // (256 - 16) / 16 records.
    assert_eq!((printed.text, printed.dropped), ("hello\n".repeat(15), 55));
    assert_eq!((word, ended), (0, Ok(())));
}

#[test]
fn a_kernel_may_change_its_format() {
    let body = "mov.u64 %l3, number;\nmov.u32 %r2, 88;\nst.global.u8 [%l3+1], %r2;\nst.local.u32 [%l9], 45;\n"
        .to_owned()
        + &address("number")
        + &printf("%l1", "%l8");
    assert_eq!(one(&body), ("2D\n".to_owned(), 1));
}

#[test]
fn an_assertion_names_its_place_and_stops_the_kernel() {
    let call = |line: u32| {
        format!(
            "{{ .param .b64 m; st.param.b64 [m+0], %l1; .param .b64 f; st.param.b64 [f+0], %l1; .param .b32 n; st.param.b32 [n+0], {line};\n\
             .param .b64 u; st.param.b64 [u+0], 0; .param .b64 c; st.param.b64 [c+0], 1;\ncall.uni __assertfail, (m, f, n, u, c); }}\n"
        )
    };
    let body = "mov.u32 %r1, %tid.y;\nsetp.ne.u32 %p0, %r1, 1;\n@%p0 bra on;\n".to_owned()
        + &address("open")
        + &call(77)
        + "on:\n";
    let source = kernel(&body);
    let (printed, _, ended) = run(&source, 1, "");
    assert_eq!((printed.assertions.len(), ended), (0, Ok(())));
    let image = compile(&source, "k.ptx", &Options::default()).unwrap().image;
    let manifest = "source = \"saxpy.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [2, 2]\n[[arg]]\nbuffer = { name = \"out\", type = \"s32\", len = 1 }\n";
    let manifest = Manifest::parse(&folder().join("k.toml"), manifest).unwrap();
    let mut session = Session::new(&manifest, &image).unwrap();
    let error = session.run(&mut OracleEngine::default()).unwrap_err().to_string();
    assert!(error.contains("thread (0, 1, 0): trap 5: an assertion failed"), "{error}");
    let message =
        |x: u32| format!("open:77: (bad address 0x0): block: [0,0,0], thread: [{x},1,0] Assertion `open` failed.");
    assert_eq!(session.printed().assertions, [message(0), message(1)]);
}

#[test]
fn a_trap_names_its_line_of_the_cuda_source() {
    let trap = |lines: [&str; 2]| format!("{}\nmov.u32 %r9, 1;\n{}\ntrap;\n", lines[0], lines[1]);
    let ended = |lines, files: &str| run(&(kernel(&trap(lines)) + files), 1, "").2.unwrap_err();
    let files = "\t.file\t1 \"scale.cu\"\n\t.file 2 \"/a b/c.h\", 17, 5\n";
    assert!(ended([".loc 1 9 5", ".loc\t1 12 5"], files).contains("executed a trap, at scale.cu:12; instruction"));
    assert!(ended([".loc 2 9 5", ""], files).contains(", at /a b/c.h:9; "));
    // Line 0 is no line, and an unknown file no file.
    assert!(ended([".loc 1 9 5", ".loc 1 0 5"], files).contains(", at scale.cu:9; "));
    assert!(!ended([".loc 3 9 5", ""], files).contains(", at "));
    assert!(!ended(["", ""], files).contains(", at "));
}
