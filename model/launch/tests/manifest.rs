//! Reading manifests: valid ones, and the message of each mistake.

use std::fs;
use std::path::Path;

use gpurf_launch::{
    Address, Argument, BufferId, Cause, ExpectedFault, Expression, Init, Manifest, ManifestError, Repetition, Scalar,
    Source, Type, random,
};
use tempfile::TempDir;

const SAXPY: &str = r#"
source = "saxpy.cu"
kernel = "saxpy"
grid = [64, 1, 1]
block = [256, 1, 1]
dynamic_shared = 0

[[arg]]
scalar = { type = "u32", value = 16000 }
[[arg]]
scalar = { type = "f32", value = 2.5 }
[[arg]]
buffer = { name = "x", type = "f32", len = 4, init = { random = { seed = 1, min = -1.0, max = 1.0 } } }
[[arg]]
buffer = { name = "y", type = "f32", len = 4, init = { file = "y_in.bin" }, output = true }

[[check]]
buffer = "y"
expected = "y_out.bin"
rel = 1e-6
abs = 1e-9
"#;

const SEVERAL: &str = r#"
source = "bfs.ptx"

[[buffer]]
name = "level"
type = "s32"
len = 3
init = { values = [1, -2, 0x7fffffff] }
output = true
[[buffer]]
name = "flag"
type = "u32"
len = 1

[[launch]]
kernel = "start"
grid = [2]
block = [32, 2]
args = [{ buffer = "level" }, { type = "u64", value = 18446744073709551615 }]
[[launch]]
kernel = "step"
grid = [1, 1, 1]
block = [1, 1, 64]
dynamic_shared = 1024
args = [{ buffer = "flag" }, { type = "s32", value = "i" }]
while_nonzero = { buffer = "flag", reset = 0, max = 1000 }
[[launch]]
kernel = "finish"
grid = [1]
block = [1]
args = [{ type = "u8", value = "i" }]
repeat = 8

[[symbol]]
name = "filter"
type = "f64"
init = { values = [1, 2.5, inf] }
"#;

fn start_of(buffer: usize) -> Argument {
    Argument::Address(Address { buffer: BufferId(buffer), offset: 0 })
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("saxpy.ptx"), "").unwrap();
    fs::write(folder.path().join("bfs.ptx"), "").unwrap();
    fs::write(folder.path().join("y_in.bin"), [0; 16]).unwrap();
    fs::write(folder.path().join("y_out.bin"), [0; 16]).unwrap();
    folder
}

fn parse(folder: &TempDir, text: &str) -> Result<Manifest, ManifestError> {
    Manifest::parse(&folder.path().join("m.toml"), text)
}

#[test]
fn a_manifest_of_one_kernel() {
    let folder = folder();
    let path = folder.path().join("m.toml");
    fs::write(&path, SAXPY).unwrap();
    let manifest = Manifest::load(&path).unwrap();
    assert_eq!(manifest.source, Source::File(folder.path().join("saxpy.cu")));
    assert_eq!(manifest.launches.len(), 1);
    let launch = &manifest.launches[0];
    assert_eq!((launch.kernel.as_str(), launch.grid, launch.block), ("saxpy", [64, 1, 1], [256, 1, 1]));
    assert_eq!(manifest.repetition_of(0), Repetition::Times(1));
    assert_eq!(
        launch.args,
        [
            Argument::Scalar(Scalar { ty: Type::U32, bits: 16000 }),
            Argument::Scalar(Scalar::from_f32(2.5)),
            start_of(0),
            start_of(1),
        ]
    );
    assert!(!manifest.buffers[0].output && manifest.buffers[1].output);
    assert_eq!(manifest.buffers[1].initial_bytes().unwrap(), [0; 16]);
    assert_eq!((manifest.checks[0].rel, manifest.checks[0].abs), (Some(1e-6), Some(1e-9)));
    manifest.verify_checks().unwrap();
}

#[test]
fn a_manifest_of_several_launches() {
    let manifest = parse(&folder(), SEVERAL).unwrap();
    assert_eq!(manifest.buffers[0].initial_bytes().unwrap(), [1, 0, 0, 0, 254, 255, 255, 255, 255, 255, 255, 127]);
    assert_eq!(manifest.launches[0].grid, [2, 1, 1]);
    assert_eq!(manifest.launches[0].block, [32, 2, 1]);
    assert_eq!(manifest.launches[0].args[1], Argument::Scalar(Scalar { ty: Type::U64, bits: u64::MAX }));
    assert_eq!(manifest.launches[1].args[1], Argument::Computed(Type::S32, Expression::parse("i").unwrap()));
    let reset = Scalar { ty: Type::U32, bits: 0 };
    assert_eq!(manifest.repetition_of(1), Repetition::WhileNonzero { buffer: BufferId(1), reset, max: 1000 });
    assert_eq!(manifest.repetition_of(2), Repetition::Times(8));
    let symbol = &manifest.symbols[0];
    assert_eq!((symbol.len, symbol.size()), (3, 24));
    assert_eq!(symbol.initial_bytes().unwrap()[16..], f64::INFINITY.to_le_bytes());
}

/// The message for the text with one part replaced, without the path.
fn message(text: &str, part: &str, replacement: &str) -> String {
    assert!(text.contains(part), "{part}");
    let folder = folder();
    fs::write(folder.path().join("short.bin"), [0; 15]).unwrap();
    let error = parse(&folder, &text.replacen(part, replacement, 1)).expect_err(replacement).to_string();
    error.replace(&format!("{}{}", folder.path().display(), std::path::MAIN_SEPARATOR), "")
}

#[test]
fn mistakes_have_a_place_and_a_remedy() {
    const MISTAKES: &[(&str, &str, &str, &str)] = &[
        (SAXPY, "grid = [64, 1, 1]", "grid = [64, 1, 1", "5:1: missing comma between array elements, expected `,`"),
        (
            SAXPY,
            "dynamic_shared",
            "dynamic_sharde",
            "6:1: unknown key `dynamic_sharde` in a manifest of one kernel; it has source, assembly, kernel, grid, block, \
             dynamic_shared, repeat, while_nonzero, arg, buffer, symbol, check, fault, replay, printf_buffer",
        ),
        (SAXPY, "kernel = \"saxpy\"", "", "1:1: a manifest of one kernel needs the key `kernel`"),
        (SAXPY, "[64, 1, 1]", "[64, 0, 1]", "4:13: grid in y must be from 1 to 65535"),
        (SAXPY, "[256, 1, 1]", "[256, 8, 1]", "5:9: a block has at most 1024 threads, not 2048"),
        (SAXPY, "[256, 1, 1]", "256", "5:9: expected an array of one to three numbers, found integer"),
        (SAXPY, "[64, 1, 1]", "[65536, 65535, 65535]", "4:8: a grid has at most 4294967295 blocks"),
        (SAXPY, "value = 16000", "value = -1", "9:34: a value of u32 must be from 0 to 4294967295"),
        (SAXPY, "[64, 1, 1]", "[\"20\"]", "4:9: an expression needs `repeat` or `while_nonzero`; without one write 20"),
        (SAXPY, "[64, 1, 1]", "[1.5]", "4:9: expected an integer for grid in x, found float"),
        (SAXPY, "value = 16000", "value = 1.5", "9:34: expected an integer for a value of u32, found float"),
        (SAXPY, "value = 2.5", "value = 1e39", "11:34: the value is too large for f32"),
        (
            SAXPY,
            "value = 16000",
            "value = \"i\"",
            "9:34: `i` depends on the number of the pass: it needs `repeat` or `while_nonzero`",
        ),
        (
            SAXPY,
            "type = \"f32\", len = 4, init = { random",
            "type = \"f16\", len = 4, init = { random",
            "13:31: `f16` is not a type; the types are u8, s8, u16, s16, u32, s32, u64, s64, f32, f64",
        ),
        (
            SAXPY,
            "len = 4, init = { random",
            "len = 1000000000000000000, init = { random",
            "13:44: 1000000000000000000 elements of f32: all buffers together have at most 2 GiB",
        ),
        (SAXPY, "name = \"y\"", "name = \"x\"", "15:10: buffer `x` is defined twice"),
        (SAXPY, "buffer = \"y\"", "buffer = \"z\"", "18:10: there is no buffer `z`; there are x, y"),
        (SAXPY, "rel = 1e-6", "rel = -1", "20:7: rel is finite and not negative"),
        (SAXPY, "saxpy.cu", "saxpy.c", "2:10: the source is a .cu or a .ptx file"),
        (SAXPY, "saxpy.cu", "other.cu", "2:10: there is no file other.cu"),
        (SAXPY, "max = 1.0", "max = -2.0", "13:95: min is at most max, and both and their difference are finite"),
        (SEVERAL, "len = 3", "len = 4", "8:19: `level` has 4 elements, but 3 values"),
        (SEVERAL, "len = 1", "len = -1", "13:7: len must be from 0 to 18446744073709551615"),
        (SEVERAL, "repeat = 8", "repeat = 300", "31:32: `i` is 299 in pass 299: a value of u8 must be from 0 to 255"),
        (SEVERAL, "repeat = 8", "repeat = 0", "32:10: repeat must be from 1 to 4294967295"),
        (
            SEVERAL,
            "repeat = 8",
            "repeat = 8\nwhile_nonzero = { buffer = \"flag\", max = 2 }",
            "33:17: a launch has `repeat` or `while_nonzero`, not both",
        ),
        (
            SEVERAL,
            "{ buffer = \"flag\" }",
            "{ buffer = \"f\" }",
            "25:20: there is no buffer `f`; there are level, flag",
        ),
        (
            SEVERAL,
            "name = \"filter\"",
            "name = \"../filter\"",
            "35:8: the name of a variable is as in the CUDA source, such as `filter` or `app::filter`, or as in the PTX",
        ),
    ];
    let wrong: Vec<_> = MISTAKES
        .iter()
        .map(|(text, part, replacement, expected)| (message(text, part, replacement), format!("m.toml:{expected}")))
        .filter(|(actual, expected)| actual != expected)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let short = message(SAXPY, "file = \"y_in.bin\"", "file = \"short.bin\"");
    assert_eq!(short, "m.toml:15:63: init: short.bin: has 15 bytes, but buffer `y` has 16");
    let init = |file: &str| message(SAXPY, "file = \"y_in.bin\"", &format!("file = \"{file}\""));
    assert!(init("none.bin").starts_with("m.toml:15:63: init: none.bin: cannot be read: "));
    assert_eq!(init("."), "m.toml:15:63: init: . is a folder, not a file");
}

#[test]
fn a_fault_is_read_and_belongs_to_a_launch_that_runs_once() {
    let part = "\n[[symbol]]";
    let with = |fault: &str| parse(&folder(), &SEVERAL.replace("repeat = 8", "repeat = 1").replace(part, fault));
    let text = "\n[fault]\ncause = \"misaligned\"\nvalue = 0xffffffff\nblock = [1, 2, 3]\nwarp = 4\ninstruction = 5\n\
                oracle = \"trap\"\n[[symbol]]";
    let expected = ExpectedFault {
        cause: Cause::Misaligned,
        value: Some(u32::MAX),
        block: Some([1, 2, 3]),
        warp: Some(4),
        instruction: Some(5),
        oracle: Some(Cause::Trap),
    };
    assert_eq!(with(text).unwrap().fault, Some(expected));
    assert_eq!(with("\n[[symbol]]").unwrap().fault, None);
    let wrong = |fault: &str| with(&format!("\n[fault]\n{fault}\n[[symbol]]")).unwrap_err().to_string();
    assert!(wrong("value = 1").contains("`[fault]` needs the key `cause`"));
    assert!(wrong("cause = \"tarp\"").contains("there is no cause `tarp`; there are trap, unsupported, "));
    assert!(wrong("cause = \"trap\"\nblock = [1]").contains("a block has three coordinates, not 1"));
    assert!(wrong("cause = \"trap\"\nvalue = -1").contains("value must be from 0 to 4294967295"));
    assert!(message(SEVERAL, part, text).contains("it has neither `repeat` nor `while_nonzero`"));
    let checked = parse(&folder(), &format!("{SAXPY}\n[fault]\ncause = \"trap\"\n")).unwrap_err().to_string();
    assert!(checked.contains("a manifest with `[fault]` has no `[[check]]`"), "{checked}");
}

#[test]
fn what_is_not_text_is_an_error_with_a_place() {
    let folder = folder();
    let path = folder.path().join("m.toml");
    fs::write(&path, b"source = \"a\"\nkernel = \"\xff\"").unwrap();
    let error = Manifest::load(&path).unwrap_err().to_string();
    assert!(error.ends_with("m.toml:2:11: a manifest is UTF-8 text"), "{error}");
    assert!(Manifest::load(folder.path()).unwrap_err().to_string().contains("cannot be read"));
    assert!(Manifest::load(Path::new("/none/m.toml")).unwrap_err().to_string().starts_with("/none/m.toml: cannot be"));
}

#[test]
fn an_argument_may_name_an_earlier_buffer() {
    let text = SAXPY.replace(
        "name = \"y\", type = \"f32\", len = 4, init = { file = \"y_in.bin\" }, output = true",
        "name = \"x\"",
    );
    let text = text.replace("buffer = \"y\"", "buffer = \"x\"");
    let manifest = parse(&folder(), &text).unwrap();
    assert_eq!(manifest.buffers.len(), 1);
    assert_eq!(manifest.launches[0].args[2..], [start_of(0), start_of(0)]);
}

#[test]
fn empty_buffers_are_buffers() {
    let manifest = parse(&folder(), &SAXPY.replace("len = 4, init = { random", "len = 0, init = { random")).unwrap();
    assert_eq!(manifest.buffers[0].initial_bytes().unwrap(), []);
}

fn bytes(ty: &str, len: usize, init: &str) -> Vec<u8> {
    let buffer = format!("[[arg]]\nbuffer = {{ name = \"b\", type = \"{ty}\", len = {len}, init = {init} }}\n");
    let text = format!("source = \"bfs.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [1]\n{buffer}");
    parse(&folder(), &text).unwrap().buffers[0].initial_bytes().unwrap()
}

#[test]
fn ways_to_begin() {
    assert_eq!(bytes("u8", 300, "\"iota\"")[254..258], [254, 255, 0, 1]);
    assert_eq!(bytes("u16", 2, "\"zero\""), [0; 4]);
    assert_eq!(bytes("f32", 3, "\"iota\"")[8..], 2f32.to_le_bytes());
    assert_eq!(bytes("f32", 1, "{ values = [0.1] }"), 0.1f32.to_le_bytes());
    assert_eq!(bytes("s8", 2, "{ values = [-1, 0x7f] }"), [255, 127]);
    // A decimal halfway between two singles but for its last digit: rounding twice would lose that.
    assert_eq!(bytes("f32", 1, "{ values = [1.00000005960464477539062501] }"), 0x3f80_0001u32.to_le_bytes());
}

#[test]
fn the_random_generator_is_the_documented_one() {
    // SplitMix64 from seed 1234567, as published with its reference implementation.
    assert_eq!(random::bits(1234567, 0), 6457827717110365317);
    assert_eq!(random::bits(1234567, 1), 3203168211198807973);
    let ints = bytes("s32", 1000, "{ random = { seed = 9, min = -3, max = 3 } }");
    let ints: Vec<_> = ints.chunks_exact(4).map(|b| i32::from_le_bytes(b.try_into().unwrap())).collect();
    assert_eq!((ints.iter().min(), ints.iter().max()), (Some(&-3), Some(&3)));
    assert_eq!(ints[0], -3 + ((u128::from(random::bits(9, 0)) * 7) >> 64) as i32);
    let floats = bytes("f32", 1000, "{ random = { seed = 9, min = -1.0, max = 3.0 } }");
    let floats: Vec<_> = floats.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
    assert!(floats.iter().all(|x| (-1.0..=3.0).contains(x)));
    let u = (random::bits(9, 5) >> 11) as f64 / 2f64.powi(53);
    assert_eq!(floats[5], (-1.0 + 4.0 * u) as f32);
    // The whole range of the widest type, and a single value.
    let all = bytes("u64", 1, "{ random = { seed = 3, min = 0, max = 18446744073709551615 } }");
    assert_eq!(all, random::bits(3, 0).to_le_bytes());
    assert_eq!(bytes("f64", 1, "{ random = { seed = 3, min = 0.25, max = 0.25 } }"), 0.25f64.to_le_bytes());
}

#[test]
fn a_file_that_changes_after_reading_is_an_error() {
    let folder = folder();
    let manifest = parse(&folder, SAXPY).unwrap();
    assert!(matches!(manifest.buffers[1].init, Init::File(_)));
    fs::write(folder.path().join("y_in.bin"), [0; 20]).unwrap();
    let error = manifest.buffers[1].initial_bytes().unwrap_err().to_string();
    assert!(error.ends_with("y_in.bin: has 20 bytes, but buffer `y` has 16"), "{error}");
    fs::remove_file(folder.path().join("y_out.bin")).unwrap();
    let error = manifest.verify_checks().unwrap_err().to_string();
    assert!(error.contains(":19:12: expected: ") && error.contains("y_out.bin: cannot be read: "), "{error}");
    fs::create_dir(folder.path().join("y_out.bin")).unwrap();
    let error = manifest.verify_checks().unwrap_err().to_string();
    assert!(error.ends_with("y_out.bin is a folder, not a file"), "{error}");
}

#[test]
fn a_kernel_and_a_device_are_no_manifests() {
    let message = |path: &str| Manifest::load(Path::new(path)).unwrap_err().to_string();
    assert_eq!(message("saxpy.ptx"), "saxpy.ptx is PTX, not a launch manifest (docs/launch.md)");
    assert_eq!(message("saxpy.cu"), "saxpy.cu is CUDA source, not a launch manifest (docs/launch.md)");
    assert_eq!(message("/dev/zero"), "/dev/zero: cannot be read: a text has at most 67108864 bytes");
}

#[test]
fn the_manifests_of_the_test_kernels_can_be_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/kernels");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") && !path.ends_with("Cargo.toml") {
            let manifest = Manifest::load(&path).unwrap_or_else(|error| panic!("{error}"));
            for buffer in &manifest.buffers {
                assert_eq!(buffer.initial_bytes().unwrap().len() as u64, buffer.size());
            }
        }
    }
}
