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

/// Counts the flag's word down; adds the pass's number and the scalar to the sum.
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

/// Runs a manifest; the words of its buffers afterwards.
fn run(image: &Image, text: &str) -> Result<Vec<Vec<u32>>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("launch.toml");
    fs::write(&path, text).unwrap();
    // The image stands for what would be made of it.
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
    assert!(refused(buffers).contains("4 parameters, but 2 arguments"));
    let wide = refused(&format!("{buffers}, {{ type = \"u32\", value = 1 }}, {{ type = \"u32\", value = 1 }}"));
    assert!(wide.contains("argument 3") && wide.contains("the parameter has 2"), "{wide}");
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
    let wrong = run(&image, &format!("{text}{}", given.replace("table", "cable"))).unwrap_err();
    assert!(wrong.contains("no variable `cable`") && wrong.contains("`table`"), "{wrong}");
    let long = given.replace("len = 4", "len = 5").replace("4] }", "4, 5] }");
    assert!(run(&image, &format!("{text}{long}")).unwrap_err().contains("20 bytes"));
}

#[test]
fn names_are_those_of_the_ptx_or_of_cpp() {
    let names = ["plain", "_Z3addPfi", "_Z3addPdi", "_ZL5tablei", "_ZN2ns3subEv"];
    let find = |name: &str| named("kernel", name, &names, |n| n).copied();
    assert_eq!(find("plain"), Ok("plain"));
    assert_eq!(find("table"), Ok("_ZL5tablei"));
    assert_eq!(find("_Z3addPdi"), Ok("_Z3addPdi"));
    assert!(find("add").unwrap_err().contains("more than one kernel"));
    assert!(find("sub").unwrap_err().contains("no kernel `sub`"));
}
