//! The RTL's interpolation tables are the model's.

#[path = "../examples/sfu_tables/package.rs"]
mod package;

#[test]
fn the_package_of_the_rtl_is_what_the_generator_makes() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../rtl/execute/sfu_tables_pkg.sv");
    let text = std::fs::read_to_string(path).expect("the package is there");
    let again = "cargo run -p verilated --example sfu_tables > rtl/execute/sfu_tables_pkg.sv";
    assert!(text == package::text(), "{path} is not what the generator makes; make it with: {again}");
}
