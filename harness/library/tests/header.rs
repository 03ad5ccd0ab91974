//! `include/gpurf.h` is what cbindgen generates from the source.

use std::path::Path;

#[test]
fn the_header_is_that_of_the_source() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).expect("a configuration of cbindgen");
    let mut header = Vec::new();
    let made = cbindgen::Builder::new().with_config(config).with_src(folder.join("src/lib.rs")).generate();
    made.expect("a header").write(&mut header);
    let header = String::from_utf8(header).unwrap();
    let file = folder.join("include/gpurf.h");
    if std::env::var_os("GPURF_WRITE_HEADER").is_some() {
        std::fs::write(&file, &header).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        kept == header,
        "include/gpurf.h is not that of src/lib.rs; write it again with:\n    \
         GPURF_WRITE_HEADER=1 cargo test --package gpurf-library --test header"
    );
}

/// Functions that the SystemVerilog package and the Python module name are functions of the header.
#[test]
fn the_other_languages_call_functions_that_exist() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
    let header = read("include/gpurf.h");
    let is_declared = |name: &str| header.contains(&format!("{name}("));
    // Names that are no functions: the package, and functions that `gpurf testbench` writes.
    let other =
        |word: &str| word == "gpurf_dpi" || word.starts_with("gpurf_check_") || word.starts_with("gpurf_drive_");
    for file in ["include/gpurf_dpi.sv", "python/gpurf.py", "../../docs/library.md"] {
        let text = read(file);
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let called: Vec<&str> = words.filter(|word| word.starts_with("gpurf_") && !other(word)).collect();
        assert!(called.len() > 15, "{file}: {called:?}");
        let unknown: Vec<_> = called.into_iter().filter(|name| !is_declared(name)).collect();
        assert!(unknown.is_empty(), "{file}: {unknown:?}");
    }
}
