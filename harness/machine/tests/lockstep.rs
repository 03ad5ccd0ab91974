//! Kernels on RTL and model in lockstep.

use std::path::Path;

use gpurf_blocks::config::{Config, Start};
use gpurf_compiler::{Options, compile};
use gpurf_kernels::Case;
use gpurf_machine::{LockstepEngine, Machine, Settings, request};
use gpurf_oracle::host::Session;
use verilated::{Library, Toolchain};

fn config(settings: &[&str]) -> Config {
    Config::load(Start::Preset("baseline"), settings).unwrap()
}

fn library(config: &Config) -> Library {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let options = verilated::Options { optimise: false, ..verilated::Options::default() };
    let tools = Toolchain::find(&root.join("target/verilated")).unwrap();
    tools.build(&request(&root.join("rtl"), config, options)).unwrap()
}

#[test]
fn kernels_are_equal_on_both_sides() {
    let config = config(&[]);
    let start = std::time::Instant::now();
    let library = library(&config);
    println!("built in {:?}", start.elapsed());
    for name in ["transpose", "needle", "pathfinder", "sad", "sortingNetworks", "mergeSort"] {
        let case = Case::load(name).unwrap();
        let path = gpurf_kernels::folder().join(format!("{name}.ptx"));
        let text = std::fs::read_to_string(&path).unwrap();
        let compiled = compile(&text, &path.display().to_string(), &Options { registers: 64 }).unwrap();
        let mut session = Session::new(case.manifest(), &compiled.image).unwrap();
        let mut engine = LockstepEngine::new(Settings::new(config), &library).unwrap();
        let start = std::time::Instant::now();
        if let Err(error) = session.run(&mut engine) {
            let folder = engine.write_failure(Path::new("/tmp/env-failures"), &[]);
            panic!("{name}: {error} {folder:?}");
        }
        let s = engine.statistics();
        println!("{name} {:?} {} {:?} {:?}", start.elapsed(), s.cycles, s.judged, engine.compared());
    }
}
