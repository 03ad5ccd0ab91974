//! Registers that are live at a kernel's entry: which kernels have some, and that no result depends on what registers and local memory hold when a
//! thread starts.

use std::fs;
use std::path::{Path, PathBuf};

use gpurf_compiler::{Options, compile};
use gpurf_isa::Image;
use gpurf_isa::image::Purpose;
use gpurf_kernels::{Case, KERNELS, Kernel, folder};
use gpurf_launch::{BufferId, Manifest};
use gpurf_oracle::Oracle;
use gpurf_oracle::host::{OracleEngine, RunError, Session};

const LIMITS: [u16; 4] = [16, 24, 32, 64];

/// Kernels that are not among [`KERNELS`], with a register that is live at the entry: its PTX name, the thread that reads it first, and the text of
/// the PTX line that does so.
const UNWRITTEN: [(&str, &str, u32, &str); 2] =
    [("census", "%f9", 18, "setp.gt.f32 \t%p4, %f9, %f4;"), ("dynproc", "%rs8", 0, "and.b16  \t%rs6, %rs8, 255;")];

/// The names of the values that the compiler writes zero to at the entries of a module's kernels.
fn zeros(image: &Image) -> Vec<String> {
    let added = image.kernels.iter().flat_map(|kernel| &kernel.added);
    let name = |purpose: &Purpose| match purpose {
        Purpose::Zero { of } => Some(of.clone().unwrap_or_else(|| "of the compiler's own".to_owned())),
        Purpose::Spill | Purpose::Ahead => None,
    };
    let mut names: Vec<String> = added.filter_map(|added| name(&added.purpose)).collect();
    names.sort();
    names.dedup();
    names
}

fn unwritten(name: &str, ending: &str) -> PathBuf {
    folder().join("unwritten").join(format!("{name}.{ending}"))
}

fn build(kernel: &Kernel, registers: u16) -> Image {
    image(&folder().join(format!("{}.ptx", kernel.name)), registers)
}

fn unwritten_image(name: &str, registers: u16) -> Image {
    image(&unwritten(name, "ptx"), registers)
}

fn image(path: &Path, registers: u16) -> Image {
    let text = fs::read_to_string(path).unwrap();
    compile(&text, &path.display().to_string(), &Options { registers, ..Options::default() }).unwrap().image
}

/// The final bytes of every buffer, if registers and local memory begin with the value `first`.
fn run(manifest: &Manifest, image: &Image, first: u32) -> Vec<Vec<u8>> {
    let options = gpurf_oracle::Options { first_value: first, ..Default::default() };
    let mut session = Session::new(manifest, image).unwrap();
    session.run(&mut OracleEngine::new(Oracle::new(options))).unwrap_or_else(|error| panic!("{error}"));
    (0..manifest.buffers.len()).map(|id| session.bytes(BufferId(id))).collect()
}

#[test]
fn how_many_kernels_have_a_register_that_is_live_at_the_entry() {
    for registers in LIMITS {
        let found = KERNELS.iter().map(|kernel| (kernel.name, zeros(&build(kernel, registers))));
        let found: Vec<_> = found.filter(|(_, names)| !names.is_empty()).collect();
        println!("{registers} registers: {} of {} kernels: {found:?}", found.len(), KERNELS.len());
        assert_eq!(found, [], "{registers} registers");
        for (name, register, ..) in UNWRITTEN {
            assert_eq!(zeros(&unwritten_image(name, registers)), [register], "{name}, {registers} registers");
        }
    }
}

#[test]
fn results_do_not_depend_on_what_registers_hold_when_a_thread_starts() {
    for registers in [LIMITS[0], LIMITS[3]] {
        for kernel in KERNELS {
            let (case, image) = (Case::load(kernel.name).unwrap(), build(kernel, registers));
            let results = [0, u32::MAX].map(|first| run(case.manifest(), &image, first));
            assert!(results[0] == results[1], "{}, {registers} registers", kernel.name);
        }
        for (name, ..) in UNWRITTEN {
            let (manifest, image) =
                (Manifest::load(&unwritten(name, "toml")).unwrap(), unwritten_image(name, registers));
            for first in [0, u32::MAX, 0x7f00_0001] {
                let bytes = run(&manifest, &image, first);
                for row in manifest.evaluate(|id| &bytes[id.0]).unwrap() {
                    assert!(row.ok, "{name}, {registers} registers, {first:#x}: {row:?}");
                }
            }
        }
    }
}

#[test]
fn reads_of_what_was_not_written_are_found_with_thread_and_line() {
    for registers in LIMITS {
        for (name, register, thread, text) in UNWRITTEN {
            let (manifest, image) =
                (Manifest::load(&unwritten(name, "toml")).unwrap(), unwritten_image(name, registers));
            let mut engine = OracleEngine::default().checking_undefined(true);
            let error = Session::new(&manifest, &image).unwrap().run(&mut engine).unwrap_err();
            let RunError::Engine(gpurf_oracle::host::OracleError::Fault(fault)) = error else {
                panic!("{name}: {error}")
            };
            assert_eq!(fault.thread, [thread, 0, 0], "{name}: {fault}");
            assert!(fault.kind.to_string().starts_with(&format!("reads `{register}` (here ")), "{name}: {fault}");
            let ptx = fs::read_to_string(unwritten(name, "ptx")).unwrap();
            let line = ptx.lines().nth(fault.line as usize - 1).unwrap().trim();
            assert_eq!(line, text, "{name}: {fault}");
        }
    }
}

#[test]
fn the_test_kernels_read_only_what_they_have_written() {
    for kernel in KERNELS {
        for registers in [LIMITS[0], LIMITS[3]] {
            let (case, image) = (Case::load(kernel.name).unwrap(), build(kernel, registers));
            let mut engine = OracleEngine::default().checking_undefined(true);
            let ran = Session::new(case.manifest(), &image).unwrap().run(&mut engine);
            ran.unwrap_or_else(|error| panic!("{}, {registers} registers: {error}", kernel.name));
        }
    }
}
