//! The library as C and Python use it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The project's folder.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the project's folder").to_owned()
}

/// The shared library that cargo has built for this test.
fn library() -> PathBuf {
    let program = std::env::current_exe().expect("this test");
    let file = program.parent().expect("its folder").join("libgpurf.so");
    assert!(file.exists(), "{}", file.display());
    file
}

fn text(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
}

/// Installs the library; returns the folder.
fn installed() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let script = root().join("scripts/library.sh");
    let output = Command::new(script).arg(folder.path()).env("LIBGPURF", library()).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    folder
}

#[test]
fn the_example_in_c_runs_with_the_shared_and_the_static_library() {
    let installed = installed();
    let [include, lib] = ["include", "lib"].map(|name| installed.path().join(name));
    let config = std::fs::read_to_string(lib.join("pkgconfig/gpurf.pc")).unwrap();
    let libs = config.lines().find_map(|line| line.strip_prefix("Libs.private: ")).expect("further libraries");
    for (kind, how) in [
        ("shared", vec!["-L".into(), lib.clone().into_os_string(), "-lgpurf".into()]),
        (
            "static",
            std::iter::once(lib.join("libgpurf.a").into_os_string()).chain(libs.split(' ').map(Into::into)).collect(),
        ),
    ] {
        let program = installed.path().join(kind);
        let mut compiler = Command::new("cc");
        compiler.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-I"]).arg(&include);
        let output =
            compiler.arg(root().join("examples/testbench/look_up.c")).args(how).arg("-o").arg(&program).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{kind}: {}", text(&output));
        let output = Command::new(&program).env("LD_LIBRARY_PATH", &lib).output().unwrap();
        let expected = "cycle 2: hit_mask_o[0] = 0x0000ffff, entry 6\n\
                        cycle 3: hit_mask_o[0] = 0x00000000\n\
                        cycle 2: hit_mask_o[0] = 0x0000ffff\n";
        assert_eq!(text(&output), expected, "{kind}");
    }
}

#[test]
fn python_sees_what_rust_sees() {
    let installed = installed();
    let script = r#"
import gpurf
arbiter = gpurf.Block("mrf_arbiter", settings="mrf.banks=8")
assert arbiter.parameters["Banks"] == 8, arbiter.parameters
arbiter.seed(7)
arbiter.cover()
arbiter.watch()
state = None
for cycle in range(400):
    arbiter.stimulate()
    arbiter.settle()
    outputs = arbiter.get_outputs()
    assert arbiter.vector({s.name: arbiter[s.name] for s in arbiter.outputs}, arbiter.outputs) == outputs
    assert arbiter.vector({s.name: arbiter[s.name] for s in arbiter.inputs}, arbiter.inputs) == arbiter.get_inputs()
    assert arbiter.check(outputs) == []
    if cycle == 300:
        state = arbiter.save()
assert len(arbiter["rr_q"]) == 8 and sum(arbiter.points.values()) > 0
arbiter.restore(state)
assert arbiter.cycle == 301
arbiter["older_i"] = list(range(8))
assert arbiter["older_i"] == list(range(8))
for wrong in (lambda: arbiter["nothing"], lambda: arbiter.__setitem__("older_i", [1]), lambda: gpurf.Block("none")):
    try:
        wrong()
        raise SystemExit("no error")
    except gpurf.GpurfError as error:
        print(str(error).split(";")[0])
file = gpurf.Block("mrf")
file.write(0, 5, 1 << 1000 | 3)
assert file.read(0, 5) == 1 << 1000 | 3 and file.memories[0].bits == 1024
assert "mrf_arbiter" in gpurf.blocks()
"#;
    let mut python = Command::new("python3");
    let output = python.args(["-c", script]).env("PYTHONPATH", installed.path().join("python")).output().unwrap();
    let said = "mrf_arbiter has no signal nothing\nmrf_arbiter.older_i has 8 elements, not 1\nthere is no block none";
    assert!(output.status.success() && text(&output).trim_end() == said, "{}", text(&output));
}

/// A null pointer is an error with its reason, and has no other effect.
#[test]
fn null_pointers_are_errors() {
    use std::ffi::{CStr, c_int};
    use std::ptr::{null, null_mut};
    let refused = |status: c_int, reason: &str| {
        // SAFETY: the text lives until another call fails.
        let said = unsafe { CStr::from_ptr(gpurf::gpurf_error()) }.to_str().unwrap();
        assert_eq!((status, said), (-1, reason));
    };
    let block = "the block is a null pointer: gpurf_new failed, and gpurf_error said why";
    // SAFETY: null pointers are allowed, and the block is used as the header says.
    unsafe {
        refused(gpurf::gpurf_step(null_mut()), block);
        refused(gpurf::gpurf_signals(null_mut()), block);
        let made = gpurf::gpurf_new(c"mrf".as_ptr(), null(), null());
        assert!(!made.is_null());
        refused(gpurf::gpurf_put_inputs(made, null()), "the array of words is a null pointer");
        refused(gpurf::gpurf_restore(made, null()), "the state is a null pointer");
        refused(gpurf::gpurf_signal(made, c"\xff".as_ptr()), "a text is not UTF-8");
        assert_eq!((gpurf::gpurf_step(made), gpurf::gpurf_cycle(made)), (0, 1));
        gpurf::gpurf_free(made);
    }
}
