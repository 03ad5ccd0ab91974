//! Structs, addresses and loops of launches in manifests, and the message of each mistake.

use std::fs;

use gpurf_launch::{Address, Argument, BufferId, Init, Loop, Manifest, ManifestError, Repetition};

const BUFFERS: &str = r#"source = "k.ptx"
[[buffer]]
name = "cells"
type = "f32"
len = 10
[[buffer]]
name = "flag"
type = "u8"
len = 4
"#;

fn parse(text: &str) -> Result<Manifest, ManifestError> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("k.ptx"), "").unwrap();
    Manifest::parse(&folder.path().join("m.toml"), text)
}

/// A manifest whose only launch has these arguments, in line 12, and `rest` at its end.
fn launch(args: &str, rest: &str) -> Result<Manifest, ManifestError> {
    parse(&format!("{BUFFERS}[[launch]]\nargs = [{args}]\nkernel = \"k\"\nblock = [1]\ngrid = [1]\n{rest}\n"))
}

fn accepted(args: &str, rest: &str) -> Manifest {
    launch(args, rest).unwrap_or_else(|error| panic!("{args} {rest}: {error}"))
}

/// The error message, from the line number on.
fn refused(manifest: Result<Manifest, ManifestError>) -> String {
    let error = manifest.expect_err("this is wrong").to_string();
    error.split_once("m.toml:").unwrap_or_else(|| panic!("{error} has no place")).1.to_owned()
}

/// Buffers begin at multiples of 0x100.
fn begin_of(buffer: BufferId) -> u64 {
    0x100 * (1 + buffer.0 as u64)
}

fn bytes(args: &str, rest: &str, pass: u32) -> Vec<u8> {
    accepted(args, rest).launches[0].args[0].bytes(pass, &begin_of)
}

#[test]
fn structs_are_laid_out_as_in_cpp() {
    // struct { char a; short b; char c; float* cells; struct { char d; int e; } inner; char f[3]; };
    let text = "{ struct = [
        { type = \"u8\", value = 1 }, { type = \"s16\", value = -2 }, { type = \"u8\", value = 3 }, { buffer = \"cells\", offset = 2 },
        { struct = [{ type = \"u8\", value = 4 }, { type = \"s32\", value = 5 }] }, { type = \"u8\", array = [6, 7, 8] }] }";
    let manifest = accepted(text, "");
    let argument = &manifest.launches[0].args[0];
    assert_eq!((argument.size(), argument.align()), (32, 8));
    let mut expected = vec![0; 32];
    expected[0] = 1;
    expected[2..4].copy_from_slice(&(-2i16).to_le_bytes());
    expected[4] = 3;
    expected[8..16].copy_from_slice(&0x108u64.to_le_bytes());
    expected[16] = 4;
    expected[20] = 5;
    expected[24..27].copy_from_slice(&[6, 7, 8]);
    assert_eq!(argument.bytes(0, &begin_of), expected);
}

#[test]
fn arrays_and_alignments() {
    let sizes = [
        ("{ struct = [{ type = \"u8\", value = 1 }] }", (1, 1)),
        ("{ struct = [{ type = \"f64\", value = 1 }, { type = \"u8\", value = 1 }] }", (16, 8)),
        ("{ struct = [{ type = \"u8\", value = 1 }], align = 16 }", (16, 16)),
        ("{ struct = [{ type = \"u8\", value = 1 }, { type = \"f32\", array = [1, 2, 3, 4], align = 16 }] }", (32, 16)),
        (
            "{ struct = [{ array = [{ struct = [{ type = \"u16\", value = 1 }, { type = \"u8\", value = 2 }] }], count = 3 }] }",
            (12, 2),
        ),
        ("{ struct = [{ array = [{ buffer = \"cells\" }, { buffer = \"flag\", offset = 4 }] }] }", (16, 8)),
    ];
    for (text, expected) in sizes {
        let manifest = accepted(text, "");
        let argument = &manifest.launches[0].args[0];
        assert_eq!((argument.size(), argument.align()), expected, "{text}");
    }
    assert_eq!(bytes(sizes[4].0, "", 0), [1, 0, 2, 0].repeat(3));
    assert_eq!(bytes(sizes[5].0, "", 0)[8..], 0x204u64.to_le_bytes());
}

#[test]
fn pointers_go_into_the_middle_of_a_buffer() {
    let manifest = accepted("{ buffer = \"cells\", offset = 3 }, { buffer = \"cells\", offset = 10 }", "");
    let place = |offset| Argument::Address(Address { buffer: BufferId(0), offset });
    assert_eq!(manifest.launches[0].args, [place(12), place(40)]);
    let short = "source = \"k.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [1]\n[[buffer]]\nname = \"pool\"\ntype = \"u16\"\nlen = 8\n\
        [[arg]]\nbuffer = { name = \"x\", type = \"u32\", len = 2 }\n[[arg]]\nbuffer = { name = \"pool\", offset = 5 }\n\
        [[arg]]\nstruct = [{ buffer = \"x\", offset = 1 }]\n[[arg]]\nbuffer = \"x\"\n";
    let args = parse(short).unwrap().launches.remove(0).args;
    let bytes: Vec<Vec<u8>> = args.iter().map(|argument| argument.bytes(0, &begin_of)).collect();
    assert_eq!(bytes, [0x200u64, 0x10a, 0x204, 0x200].map(|address| address.to_le_bytes().to_vec()));
}

#[test]
fn arguments_follow_from_the_pass() {
    let rest = "repeat = 4";
    let words = |text: &str| (0..4).map(|pass| bytes(text, rest, pass)[0]).collect::<Vec<_>>();
    assert_eq!(words("{ type = \"u8\", value = \"64 >> i\" }"), [64, 32, 16, 8]);
    assert_eq!(words("{ type = \"s8\", value = \"i - 1\" }"), [255, 0, 1, 2]);
    assert_eq!(words("{ type = \"u8\", values = [9, 8, 7, 5] }"), [9, 8, 7, 5]);
    assert_eq!(words("{ buffer = \"cells\", offset = \"9 - 3 * i\" }"), [36, 24, 12, 0]);
    assert_eq!(words("{ struct = [{ type = \"u8\", value = \"i\" }, { type = \"u8\", value = 7 }] }"), [0, 1, 2, 3]);
    let turn = |pass| bytes("{ buffers = [\"cells\", \"flag\"] }", rest, pass)[1];
    assert_eq!([0, 1, 2, 3].map(turn), [1, 2, 1, 2]);
    let manifest = parse(&format!(
        "{BUFFERS}[[launch]]\nkernel = \"k\"\nblock = [1]\ngrid = [\"ceil_div(10 - i, 4)\", 2, \"1 + i\"]\nrepeat = 10\n"
    ));
    let launch = manifest.unwrap().launches.remove(0);
    assert_eq!(launch.grid, [3, 2, 1]);
    assert_eq!([0, 2, 6, 9].map(|pass| launch.grid_in(pass)), [[3, 2, 1], [2, 2, 3], [1, 2, 7], [1, 2, 10]]);
}

#[test]
fn several_launches_repeat_together() {
    let step = |args: &str| format!("[[launch.step]]\nkernel = \"k\"\ngrid = [1]\nblock = [1]\nargs = [{args}]\n");
    let once = "[[launch]]\nkernel = \"k\"\ngrid = [1]\nblock = [1]\n";
    let (a, b) = (step("{ type = \"u32\", value = \"i\" }"), step(""));
    let text = format!(
        "{BUFFERS}{once}[[launch]]\nrepeat = 3\n{a}{b}[[launch]]\nwhile_nonzero = {{ buffer = \"flag\", max = 9 }}\n{b}{once}"
    );
    let manifest = parse(&text).unwrap();
    assert_eq!(manifest.launches.len(), 5);
    let of = |launches, repetition| Loop { launches, repetition };
    let reset = gpurf_launch::Scalar { ty: gpurf_launch::Type::U8, bits: 0 };
    assert_eq!(
        manifest.loops,
        [
            of(0..1, Repetition::Times(1)),
            of(1..3, Repetition::Times(3)),
            of(3..4, Repetition::WhileNonzero { buffer: BufferId(1), reset, max: 9 }),
            of(4..5, Repetition::Times(1)),
        ]
    );
    assert_eq!(manifest.repetition_of(2), Repetition::Times(3));
    for (text, expected) in [
        (format!("{BUFFERS}[[launch]]\n{a}"), "10:1: a loop of launches needs `repeat` or `while_nonzero`"),
        (format!("{BUFFERS}[[launch]]\nstep = []\nrepeat = 2\n"), "10:1: a loop of launches has at least one"),
        (format!("{BUFFERS}[[launch]]\nrepeat = 2\n{a}repeat = 2\n"), "17:1: unknown key `repeat` in a step of a loop"),
        (
            format!("{BUFFERS}[[launch]]\nrepeat = 2\nkernel = \"k\"\n{a}"),
            "12:1: unknown key `kernel` in a loop of launches",
        ),
    ] {
        assert!(refused(parse(&text)).starts_with(expected), "{}", refused(parse(&text)));
    }
}

#[test]
fn mistakes_in_arguments_have_a_place_and_a_remedy() {
    let mistakes = [
        ("{ buffer = \"cells\", offset = 11 }", "", "11:38: the offset into `cells` must be from 0 to 10"),
        ("{ buffer = \"cells\", offset = -1 }", "", "11:38: the offset into `cells` must be from 0 to 10"),
        (
            "{ buffer = \"cells\", offset = \"i\" }",
            "",
            "11:38: `i` depends on the number of the pass: it needs `repeat`",
        ),
        (
            "{ buffer = \"cells\", offset = \"4 * i\" }",
            "repeat = 4",
            "11:38: `4 * i` is 12 in pass 3: the offset into `cells` must be from 0 to 10",
        ),
        ("{ buffer = \"cell\" }", "", "11:20: there is no buffer `cell`; there are cells, flag"),
        ("{ buffers = [] }", "repeat = 2", "11:21: `buffers` needs at least one name"),
        ("{ buffers = [\"cells\"] }", "", "11:9: `buffers` is taken in turn, one in each pass: it needs `repeat`"),
        ("{ type = \"u8\", value = \"i +\" }", "repeat = 2", "11:32: `i +`: expected `i`, a number, `(`"),
        ("{ type = \"u8\", value = \"8 / i\" }", "repeat = 2", "11:32: `8 / i` in pass 0: it divides by zero"),
        ("{ type = \"u8\", value = \"255 + i\" }", "repeat = 2", "11:32: `255 + i` is 256 in pass 1: a value of u8"),
        (
            "{ type = \"u8\", value = \"i % 2\" }",
            "repeat = 4294967295",
            "11:32: `i % 2` has a value in each of 4294967295 passes: too many",
        ),
        ("{ type = \"f32\", value = \"i\" }", "repeat = 2", "11:33: an expression of the pass number is"),
        ("{ type = \"u8\", values = [1] }", "", "11:33: `values` has a value for each pass: it needs `repeat`"),
        ("{ type = \"u8\", values = [1, 2] }", "repeat = 3", "11:33: there are 3 passes, but 2 values"),
        (
            "{ type = \"u8\", values = [1], value = 1 }",
            "repeat = 1",
            "11:33: a scalar has `value` or `values`, not both",
        ),
        ("{ type = \"u8\" }", "", "11:9: a scalar needs the key `value`"),
        ("{ struct = [] }", "", "11:20: a struct has at least one field"),
        ("{ struct = [5] }", "", "11:21: expected an argument: { type, value }"),
        ("{ struct = [{}] }", "", "11:21: expected an argument: { type, value }"),
        ("{ struct = [{ type = \"u8\", value = 1 }], align = 3 }", "", "11:58: an alignment is a power of two, not 3"),
        ("{ struct = [{ type = \"u8\", value = 256 }] }", "", "11:44: a value of u8 must be from 0 to 255"),
        ("{ struct = [{ type = \"u8\", array = [] }] }", "", "11:44: an array has at least one element"),
        (
            "{ struct = [{ array = [{ type = \"u8\", value = 1 }, { buffer = \"flag\" }] }] }",
            "",
            "11:60: the elements of an array are alike: this is a buffer's address of 8 bytes, the first one u8 of 1",
        ),
        ("{ struct = [{ type = \"u8\", array = [1, 2], count = 1 }] }", "", "11:44: the array has 1 elements, but 2"),
        (
            "{ struct = [{ type = \"u64\", array = [1], count = 1000000 }] }",
            "",
            "11:45: an array with `count` has at most 1048576 bytes",
        ),
        (NESTED, "", "11:103: an array with `count` has at most 1048576 bytes, and all of them together"),
        ("{ strct = [] }", "", "11:9: expected an argument: { type, value }"),
    ];
    let wrong: Vec<_> = mistakes
        .iter()
        .map(|(args, rest, expected)| (refused(launch(args, rest)), expected))
        .filter(|(found, expected)| !found.starts_with(**expected))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let deep = format!("{}{{ type = \"u8\", value = 1 }}{}", "{ struct = [".repeat(20), "] }".repeat(20));
    assert!(refused(launch(&deep, "")).contains("nested at most 16 deep"));
    let grid = |grid: &str| {
        refused(parse(&format!("{BUFFERS}[[launch]]\nkernel = \"k\"\nblock = [1]\ngrid = {grid}\nrepeat = 3\n")))
    };
    assert!(grid("[\"2 - i\"]").starts_with("13:9: `2 - i` is 0 in pass 2: grid in x must be from 1 to 2147483647"));
    assert!(grid("[\"1 << 15 + i\", 65535]").starts_with("13:8: a grid has at most 4294967295 blocks"));
}

/// Two arrays of 1,000 KB each, of arrays with `count`: each is allowed, not both.
const NESTED: &str = "{ struct = [\
    { array = [{ type = \"u8\", array = [0], count = 1024 }], count = 1000 }, \
    { array = [{ type = \"u8\", array = [0], count = 1024 }], count = 1000 }] }";

/// A value of f32 is rounded once, from the text.
#[test]
fn integers_for_f32_are_rounded_once() {
    for (value, bits) in [
        ("1152921573326323713", 0x5d80_0001),
        ("1152921573326323713.0", 0x5d80_0001),
        ("0x1000001000000001", 0x5d80_0001),
        ("-16777217", 0xcb80_0000),
        ("16777219", 0x4b80_0002),
    ] {
        let values = format!("{{ values = [{value}] }}");
        let bytes = buffer("f32", 1, &values).unwrap().buffers[0].initial_bytes().unwrap();
        assert_eq!(bytes, u32::to_le_bytes(bits), "{value}");
    }
}

fn buffer(ty: &str, len: u32, init: &str) -> Result<Manifest, ManifestError> {
    let text = BUFFERS.replace("name = \"cells\"\n", &format!("init = {init}\nname = \"b\"\n")).replace("f32", ty);
    let launch = "[[launch]]\nkernel = \"k\"\nblock = [1]\ngrid = [1]\n";
    parse(&format!("{}{launch}", text.replace("len = 10", &format!("len = {len}"))))
}

fn first_bytes(ty: &str, len: u32, init: &str) -> Vec<u8> {
    let manifest = buffer(ty, len, init).unwrap_or_else(|error| panic!("{init}: {error}"));
    let buffer = &manifest.buffers[0];
    assert!(buffer.has_addresses());
    let mut bytes = buffer.initial_bytes().unwrap();
    assert_eq!(bytes.len() as u64, buffer.size());
    buffer.fill_addresses(&mut bytes, &begin_of);
    bytes
}

#[test]
fn buffers_hold_addresses() {
    let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let values = "{ values = [{ buffer = \"flag\", offset = 3 }, 0, { buffer = \"b\", offset = 1 }] }";
    assert_eq!(first_bytes("u64", 3, values), words(&[0x203, 0, 0x108]));
    let rows = "{ addresses = { buffer = \"b\", offset = 1, step = 1 } }";
    assert_eq!(first_bytes("u64", 3, rows), words(&[0x108, 0x110, 0x118]));
    // A list of two nodes { int value; node* next; }, the second of which is the first one's next.
    let node = |value: u32, next: &str| format!("{{ struct = [{{ type = \"u32\", value = {value} }}, {next}] }}");
    let list = format!(
        "{{ array = [{}, {}] }}",
        node(7, "{ buffer = \"b\", offset = 16 }"),
        node(9, "{ type = \"u64\", value = 0 }")
    );
    assert_eq!(first_bytes("u8", 32, &list), words(&[7, 0x110, 9, 0]));
    let one = "{ struct = [{ buffer = \"flag\" }, { type = \"u32\", array = [5], count = 2 }] }";
    assert_eq!(first_bytes("u32", 4, one), words(&[0x200, 5 << 32 | 5]));
    // Addresses are zero as long as they are unknown.
    assert_eq!(buffer("u32", 4, one).unwrap().buffers[0].initial_bytes().unwrap(), words(&[0, 5 << 32 | 5]));
    let mistakes = [
        ("u32", 1, "{ values = [{ buffer = \"flag\" }] }", "3:20: an address is a value of u64, not of u32"),
        ("u64", 2, "{ values = [{ buffer = \"flag\" }] }", "3:19: the buffer has 2 elements, but 1 values"),
        (
            "u64",
            1,
            "{ values = [{ buffer = \"flag\", offset = 5 }] }",
            "3:48: the offset into `flag` must be from 0 to 4",
        ),
        (
            "u64",
            1,
            "{ values = [{ bufer = \"flag\" }] }",
            "3:22: unknown key `bufer` in an address; it has buffer, offset",
        ),
        ("s64", 1, "{ addresses = { buffer = \"flag\", step = 1 } }", "3:22: an address is a value of u64, not of s64"),
        (
            "u64",
            6,
            "{ addresses = { buffer = \"flag\", step = 1 } }",
            "3:48: the last of 6 addresses is that of element 5 of `flag`, which has 4",
        ),
        ("u64", 1, "{ addresses = { buffer = \"flag\" } }", "3:22: `addresses` needs the key `step`"),
        ("u8", 3, "{ struct = [{ type = \"u16\", value = 1 }] }", "3:8: this has 2 bytes, but the buffer has 3"),
        ("u64", 1, "{ struct = [{ type = \"u64\", value = \"i\" }] }", "3:44: `i` depends on the number of the pass"),
        ("u64", 1, "{ struct = [], addresses = {} }", "3:10: unknown key `struct` in `init`; it has addresses"),
    ];
    let wrong: Vec<_> = mistakes
        .iter()
        .map(|(ty, len, init, expected)| (refused(buffer(ty, *len, init)), expected))
        .filter(|(found, expected)| !found.starts_with(**expected))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_buffer_may_be_a_variable() {
    let text = |line: &str| {
        let launch = "[[launch]]\nkernel = \"k\"\nblock = [1]\ngrid = [1]\n";
        parse(&format!("{}{launch}", BUFFERS.replace("len = 10", &format!("len = 10\n{line}"))))
    };
    let manifest = text("symbol = \"app::Table<int>::cells\"").unwrap();
    assert_eq!(manifest.buffers[0].symbol.as_deref(), Some("app::Table<int>::cells"));
    assert_eq!(manifest.buffers[0].init, Init::Source);
    assert_eq!(text("symbol = \"x\"\ninit = \"zero\"").unwrap().buffers[0].init, Init::Zero);
    assert_eq!(text("").unwrap().buffers[0].symbol, None);
    let found = refused(text("symbol = \"x\"\naddress = 0x2000000"));
    assert!(found.starts_with("7:11: a variable lies where the loader puts it"), "{found}");
    for wrong in ["", "a/b", "a\\\\b", "\\n"] {
        let found = refused(text(&format!("symbol = \"{wrong}\"")));
        assert!(found.starts_with("6:10: the name of a variable is as in the CUDA source"), "{found}");
    }
}
