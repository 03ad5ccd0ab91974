//! The host side: arguments, repeated launches, variables and their addresses.

use std::fs;

use gpurf_isa::Image;
use gpurf_isa::image::{DataRelocation, Kernel, Parameter, Relocation, Symbol, SymbolSpace};
use gpurf_launch::{BufferId, Manifest};
use gpurf_oracle::host::{LoadError, OracleEngine, RunError, Session, named};

fn kernel(name: &str, parameters: &[u32], code: &str) -> Kernel {
    let code = gpurf_isa::assemble(code).unwrap();
    let mut offset = 0u32;
    let parameters = parameters.iter().map(|&bytes| {
        let at = offset.next_multiple_of(bytes);
        offset = at + bytes;
        Parameter { name: format!("p{at}"), offset: at, bytes, align: bytes }
    });
    let parameters = parameters.collect();
    Kernel { name: name.into(), lines: vec![1; code.len()], code, registers: 16, parameters, ..Kernel::default() }
}

/// Adds the 16-bit and the 32-bit argument to the first word of `sum`; counts its second word down and copies it to `flag`.
const COUNT: &str = "
    LDC.B32 R0, [RZ]
    LDC.B32 R1, [RZ+0x8]
    LDC.U16 R2, [RZ+0x10]
    LDC.B32 R3, [RZ+0x14]
    LD.GLOBAL.B32 R4, [R1]
    IADD R4, PT, R4, R2, !PT
    IADD R4, PT, R4, R3, !PT
    ST.GLOBAL.B32 [R1], R4
    LD.GLOBAL.B32 R5, [R1+0x4]
    IADD R5, PT, R5, -1, !PT
    ST.GLOBAL.B32 [R1+0x4], R5
    ST.GLOBAL.B32 [R0], R5
    EXIT
";

fn image() -> Image {
    Image {
        source: "host.ptx".into(),
        kernels: vec![kernel("_Z5countPjS_tj", &[8, 8, 2, 4], COUNT)],
        symbols: Vec::new(),
    }
}

const LAUNCH: &str = r#"
source = "host.ptx"
[[buffer]]
name = "flag"
type = "u32"
len = 1
[[buffer]]
name = "sum"
type = "u32"
len = 2
init = { values = [100, 3] }
output = true
[[launch]]
kernel = "count"
grid = [1, 1, 1]
block = [1, 1, 1]
"#;

/// Runs a manifest; returns the words of its buffers afterwards.
fn run(image: &Image, text: &str) -> Result<Vec<Vec<u32>>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("launch.toml");
    fs::write(&path, text).unwrap();
    // The source is empty: the image is what the compiler would make of it.
    fs::write(folder.path().join(&image.source), "").unwrap();
    let manifest = Manifest::load(&path).map_err(|e| e.to_string())?;
    let mut session = Session::new(&manifest, image).map_err(|e: LoadError| e.to_string())?;
    session.run(&mut OracleEngine::default()).map_err(|e: RunError<_>| e.to_string())?;
    let words =
        |index| session.bytes(BufferId(index)).chunks(4).map(|c| u32::from_le_bytes(c.try_into().unwrap())).collect();
    Ok((0..manifest.buffers.len()).map(words).collect())
}

#[test]
fn launches_repeat_with_the_number_of_the_pass() {
    let args = "args = [{ buffer = \"flag\" }, { buffer = \"sum\" }, { type = \"u16\", value = \"i\" }, { type = \"u32\", value = 10 }]";
    let words = run(&image(), &format!("{LAUNCH}{args}\nrepeat = 4\n")).unwrap();
    assert_eq!(words[1], [100 + 1 + 2 + 3 + 40, u32::MAX]);
}

#[test]
fn launches_repeat_while_a_buffer_is_not_zero() {
    let args = "args = [{ buffer = \"flag\" }, { buffer = \"sum\" }, { type = \"u16\", value = 0 }, { type = \"u32\", value = 1 }]";
    let text = |max: u32| format!("{LAUNCH}{args}\nwhile_nonzero = {{ buffer = \"flag\", reset = 0, max = {max} }}\n");
    assert_eq!(run(&image(), &text(3)).unwrap(), [vec![0], vec![103, 0]]);
    let error = run(&image(), &text(2)).unwrap_err();
    assert!(error.contains("`flag`") && error.contains("after 2 passes"), "{error}");
}

#[test]
fn arguments_have_to_fit_the_parameters() {
    let refused = |args: &str| run(&image(), &format!("{LAUNCH}args = [{args}]\n")).unwrap_err();
    let buffers = "{ buffer = \"flag\" }, { buffer = \"sum\" }";
    // With the place in the manifest: the kernel's name, an argument.
    assert!(refused(buffers).contains("launch.toml:14:10: kernel `count` has 4 parameters, but 2 arguments"));
    let wide = refused(&format!("{buffers}, {{ type = \"u32\", value = 1 }}, {{ type = \"u32\", value = 1 }}"));
    assert!(wide.contains("launch.toml:17:50: argument 3") && wide.contains("the parameter has 2"), "{wide}");
}

#[test]
fn variables_have_values_and_addresses() {
    // Loads through the pointer that the constant variable holds, and through the address in the code.
    let mut kernel = kernel(
        "k",
        &[8],
        "
        LDC.B32 R0, [RZ]
        LDC.B32 R1, [RZ+0x1008]
        LDC.B32 R2, [RZ+0x100c]
        LD.GENERIC.B32 R3, [R1:R2]
        MOV R4, 0
        MOV R5, 0
        LD.GENERIC.B32 R6, [R4:R5]
        ST.GLOBAL.B32 [R0], R3
        ST.GLOBAL.B32 [R0+0x4], R6
        EXIT
        ",
    );
    let relocation = |instruction, upper| Relocation { instruction, symbol: "table".into(), addend: 4, upper };
    kernel.relocations = vec![relocation(4, false), relocation(5, true)];
    let symbol = |name: &str, space, initial: &[u32]| Symbol {
        name: name.into(),
        space,
        bytes: 16,
        align: 8,
        initial: initial.iter().flat_map(|w| w.to_le_bytes()).collect(),
        relocations: Vec::new(),
    };
    let mut pointer = symbol("_ZL7pointer", SymbolSpace::Constant { offset: 4096 }, &[1]);
    pointer.relocations = vec![DataRelocation { at: 8, symbol: "table".into(), addend: 12 }];
    let symbols = vec![pointer, symbol("table", SymbolSpace::Global, &[5, 6])];
    let image = Image { source: "k.ptx".into(), kernels: vec![kernel], symbols };
    let text = "source = \"k.ptx\"\nkernel = \"k\"\ngrid = [1, 1, 1]\nblock = [1, 1, 1]\n[[arg]]\nbuffer = { name = \"out\", type = \"u32\", len = 2 }\n";
    assert_eq!(run(&image, text).unwrap()[0], [0, 6]);
    let given = "[[symbol]]\nname = \"table\"\ntype = \"u32\"\nlen = 4\ninit = { values = [1, 2, 3, 4] }\n";
    assert_eq!(run(&image, &format!("{text}{given}")).unwrap()[0], [4, 2]);
    // A shorter value replaces the address in the constant variable too; the load then reads address 0.
    let short = "[[symbol]]\nname = \"_ZL7pointer\"\ntype = \"u32\"\nlen = 1\ninit = { values = [1] }\n";
    let fault = run(&image, &format!("{text}{short}")).unwrap_err();
    assert!(fault.contains("LD.GENERIC"), "{fault}");
    let wrong = run(&image, &format!("{text}{}", given.replace("table", "cable"))).unwrap_err();
    assert!(wrong.contains("no variable `cable`") && wrong.contains("`table`"), "{wrong}");
    let long = given.replace("len = 4", "len = 5").replace("4] }", "4, 5] }");
    assert!(run(&image, &format!("{text}{long}")).unwrap_err().contains("20 bytes"));
}

/// Block 0 adds the number of blocks to the word at byte 8 of a variable of 16 bytes, and stores the lower word of the variable's address.
const COUNTER: &str = "
    S2R.CTAID.X R8
    ISETP.NE.AND P0, R8, 0, PT
    @P0 EXIT
    LDC.B32 R0, [RZ]
    MOV R4, 0
    LD.GLOBAL.B32 R6, [R4+0x8]
    S2R.NCTAID.X R7
    IADD R6, PT, R6, R7, !PT
    ST.GLOBAL.B32 [R4+0x8], R6
    ST.GLOBAL.B32 [R0], R4
    EXIT
";

/// A kernel that uses `app::counter`, which begins as 1, 2 and the address of itself; and `_ZL5table` in constant memory.
fn variables() -> Image {
    let mut kernel = kernel("k", &[8], COUNTER);
    kernel.relocations =
        vec![Relocation { instruction: 4, symbol: "_ZN3app7counterE".into(), addend: 0, upper: false }];
    let counter = Symbol {
        name: "_ZN3app7counterE".into(),
        space: SymbolSpace::Global,
        bytes: 16,
        align: 8,
        initial: [1u32, 2].iter().flat_map(|w| w.to_le_bytes()).collect(),
        relocations: vec![DataRelocation { at: 8, symbol: "_ZN3app7counterE".into(), addend: 0 }],
    };
    let space = SymbolSpace::Constant { offset: 4096 };
    let table =
        Symbol { name: "_ZL5table".into(), space, relocations: Vec::new(), initial: Vec::new(), ..counter.clone() };
    Image { source: "k.ptx".into(), kernels: vec![kernel], symbols: vec![counter, table] }
}

/// A manifest whose buffer `counter` is the variable. `buffer` and `launch` are further lines of that buffer and of the only launch.
fn of_counter(buffer: &str, launch: &str) -> String {
    format!(
        "source = \"k.ptx\"\n[[buffer]]\nname = \"counter\"\ntype = \"u32\"\nsymbol = \"app::counter\"\n{buffer}\n\
         [[buffer]]\nname = \"out\"\ntype = \"u32\"\nlen = 1\n[[launch]]\nkernel = \"k\"\nblock = [1]\n\
         args = [{{ buffer = \"out\" }}]\n{launch}\n"
    )
}

#[test]
fn a_variable_is_a_buffer() {
    let once = "grid = [3]";
    // The initial value is that of the source, with the variable's own address, to which the kernel adds the number of blocks.
    let words = run(&variables(), &of_counter("len = 4", once)).unwrap();
    let address = words[1][0];
    assert_eq!(words[0], [1, 2, address + 3, 0]);
    assert!(address >= 1 << 24);
    // The initial value is that of the manifest, which replaces the address.
    let given = of_counter("len = 4\ninit = { values = [7, 8, 9, 10] }", once);
    assert_eq!(run(&variables(), &given).unwrap()[0], [7, 8, 12, 10]);
    // An argument can point to it as to any buffer.
    let pointed = given.replace("args = [{ buffer = \"out\" }]", "args = [{ buffer = \"counter\", offset = 3 }]");
    assert_eq!(run(&variables(), &pointed).unwrap()[0], [7, 8, 12, address]);
    let zero = of_counter("len = 4\ninit = \"zero\"", once);
    assert_eq!(run(&variables(), &zero).unwrap()[0], [0, 0, 3, 0]);
    let wrong = run(&variables(), &of_counter("len = 3", once)).unwrap_err();
    assert!(
        wrong.contains("launch.toml:2:1: buffer `counter` has 12 bytes, but its variable `app::counter` has 16"),
        "{wrong}"
    );
    let constant = of_counter("len = 4", once).replace("app::counter", "table");
    assert!(run(&variables(), &constant).unwrap_err().contains("a `[[symbol]]` gives its value"));
    let none = of_counter("len = 4", once).replace("app::counter", "app::count");
    let wrong = run(&variables(), &none).unwrap_err();
    assert!(wrong.contains("no variable `app::count`; there are `app::counter`"), "{wrong}");
    let symbol = "[[symbol]]\nname = \"app::counter\"\ntype = \"u32\"\nlen = 4";
    let twice = run(&variables(), &format!("{}{symbol}", of_counter("len = 4", once))).unwrap_err();
    assert!(twice.contains("is defined twice"), "{twice}");
}

#[test]
fn grids_change_from_pass_to_pass() {
    let buffer = "len = 4\ninit = { values = [0, 0, 0, 0] }";
    let shrinking = of_counter(buffer, "grid = [\"16 >> i\"]\nrepeat = 5");
    assert_eq!(run(&variables(), &shrinking).unwrap()[0][2], 16 + 8 + 4 + 2 + 1);
    let step = |grid: &str| {
        format!("[[launch.step]]\nkernel = \"k\"\nblock = [1]\ngrid = [{grid}]\nargs = [{{ buffer = \"out\" }}]\n")
    };
    let text = of_counter(buffer, "grid = [100]");
    let text = format!("{text}[[launch]]\nrepeat = 3\n{}{}", step("\"1 + i\""), step("10"));
    assert_eq!(run(&variables(), &text).unwrap()[0][2], 100 + (1 + 10) + (2 + 10) + (3 + 10));
}

/// Follows a list { word, next } from the address in its struct { byte, first node } to its end, and stores the sum of the byte and the words.
const LIST: &str = "
    LDC.B32 R0, [RZ]
    LDC.B32 R1, [RZ+0x10]
    LDC.U8 R2, [RZ+0x8]
next:
    LD.GLOBAL.B32 R3, [R1]
    IADD R2, PT, R2, R3, !PT
    LD.GLOBAL.B32 R1, [R1+0x8]
    ISETP.NE.AND P0, R1, 0, PT
    @P0 BRA next, join done
done:
    ST.GLOBAL.B32 [R0], R2
    EXIT
";

#[test]
fn structs_and_buffers_hold_addresses() {
    let mut kernel = kernel("k", &[8, 8], LIST);
    kernel.parameters[1] = Parameter { name: "list".into(), offset: 8, bytes: 16, align: 8 };
    let image = Image { source: "k.ptx".into(), kernels: vec![kernel], symbols: Vec::new() };
    let node = |word: u32, next: &str| format!("{{ struct = [{{ type = \"u32\", value = {word} }}, {next}] }}");
    let nodes = [
        node(10, "{ buffer = \"nodes\", offset = 12 }"),
        node(20, "{ type = \"u64\", value = 0 }"),
        node(30, "{ buffer = \"other\" }"),
        node(40, "{ buffer = \"nodes\", offset = 8 }"),
    ];
    let text = |argument: &str| {
        format!(
            "source = \"k.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [1]\n\
             [[buffer]]\nname = \"nodes\"\ntype = \"u32\"\nlen = 16\ninit = {{ array = [{}] }}\n\
             [[buffer]]\nname = \"other\"\ntype = \"u64\"\nlen = 2\ninit = {{ values = [500, {{ buffer = \"nodes\", offset = 4 }}] }}\n\
             [[arg]]\nbuffer = {{ name = \"out\", type = \"u32\", len = 1 }}\n[[arg]]\n{argument}\n",
            nodes.join(", ")
        )
    };
    let list = "struct = [{ type = \"u8\", value = 1 }, { buffer = \"nodes\" }]";
    // 10, then the fourth node, the third one, the other buffer, and the second one.
    assert_eq!(run(&image, &text(list)).unwrap()[2], [1 + 10 + 40 + 30 + 500 + 20]);
    for (argument, expected) in [
        (
            "struct = [{ buffer = \"nodes\" }]",
            "argument 2 of kernel `k` is a struct of 8 bytes, but the parameter has 16",
        ),
        (
            "struct = [{ type = \"u32\", array = [1, 2, 3, 4] }]",
            "argument 2 of kernel `k` is a struct aligned to 4 bytes, but the parameter is aligned to 8: see `align`",
        ),
    ] {
        let found = run(&image, &text(argument)).unwrap_err();
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn names_are_those_of_the_ptx_or_of_cpp() {
    let names = ["plain", "_Z3addPfi", "_Z3addPdi", "_ZL5tablei", "_ZN2ns3subEv"];
    let find = |name: &str| named("kernel", name, &names, |n| n).copied();
    assert_eq!(find("plain"), Ok("plain"));
    assert_eq!(find("table"), Ok("_ZL5tablei"));
    assert_eq!(find("_Z3addPdi"), Ok("_Z3addPdi"));
    assert_eq!(find("ns::sub"), Ok("_ZN2ns3subEv"));
    assert!(find("add").unwrap_err().contains("more than one kernel"));
    assert!(find("subs").unwrap_err().contains("no kernel `subs`"));
}

/// The name of assembly is that of the PTX; launches may use the name of the source.
#[test]
fn assembly_has_the_parameters_of_its_launch() {
    let text = "[assembly]\nname = \"_Z3fooPj\"\nregisters = 8\ncode = \"EXIT\"\n\
                [[buffer]]\nname = \"x\"\ntype = \"u32\"\nlen = 1\n\
                [[launch]]\nkernel = \"foo\"\ngrid = [1]\nblock = [32]\nargs = [{ buffer = \"x\" }]\n";
    let manifest = Manifest::parse("launch.toml".as_ref(), text).unwrap();
    let gpurf_launch::Source::Assembly(assembly) = &manifest.source else { panic!("{text}") };
    let image = gpurf_oracle::host::assembled(&manifest, assembly).unwrap();
    assert_eq!(image.kernels[0].parameters.len(), 1);
    assert!(Session::new(&manifest, &image).is_ok());
}

/// Counts are of all that was executed, also of a launch that ends with a fault; launches are counted that end without one.
#[test]
fn an_engine_counts_up_to_a_fault() {
    let args =
        "{ buffer = \"flag\" }, { buffer = \"sum\" }, { type = \"u16\", value = 0 }, { type = \"u32\", value = 1 }";
    let text = format!("{LAUNCH}args = [{args}]\n");
    let folder = tempfile::tempdir().unwrap();
    let mut image = image();
    fs::write(folder.path().join(&image.source), "").unwrap();
    let manifest = Manifest::parse(&folder.path().join("launch.toml"), &text).unwrap();
    let mut engine = OracleEngine::default();
    Session::new(&manifest, &image).unwrap().run(&mut engine).unwrap();
    let (whole, launches) = (engine.counts, engine.launches);
    image.kernels[0].code = gpurf_isa::assemble("NOP\nNOP\nMOV R0, 0\nST.GLOBAL.B32 [R0], R0\nEXIT").unwrap();
    image.kernels[0].lines = vec![1; 5];
    assert!(Session::new(&manifest, &image).unwrap().run(&mut engine).is_err());
    assert_eq!((engine.launches, engine.counts.instructions), (launches, whole.instructions + 3));
}
