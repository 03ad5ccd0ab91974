//! The runtime library in an application that does by hand what nvcc's host code does (`runtime.c`), with the server and a device on the oracle.

use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use gpurf_blocks::config::Config;
use gpurf_exec::{Functional, Library, Log, Runner, Served, Setup, Stopped, serve};
use gpurf_oracle::Memory;
use gpurf_oracle::host::{KernelLaunch, OracleEngine};
use tempfile::TempDir;

/// A kernel and its variables: in constant memory, of the device, managed.
const PTX: &str = "\
.version 9.0
.target sm_75
.address_size 64
.visible .const .align 4 .b8 factor[8] = {0, 0, 0, 0, 3, 0, 0, 0};
.visible .global .align 4 .u32 count = 100;
.visible .global .attribute(.managed) .align 4 .u32 total = 40;
.visible .entry scale(.param .u64 p_x, .param .u32 p_n)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [p_x];
    cvta.to.global.u64 %rd2, %rd1;
    ld.global.u32 %r1, [%rd2];
    ld.const.u32 %r2, [factor+4];
    mul.lo.s32 %r3, %r1, %r2;
    st.global.u32 [%rd2], %r3;
    red.global.add.u32 [count], 1;
    red.global.add.u32 [total], 1;
    ret;
}
";

/// Versions of the runtime, for which the application is built, and their libraries.
const VERSIONS: [(u32, &str); 3] = [(11, "libcudart.so.11.0"), (12, "libcudart.so.12"), (13, "libcudart.so.13")];

/// The library, the application and its fat binary.
struct Built {
    library: Library,
    folder: TempDir,
}

static BUILT: LazyLock<Built> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let library = Library::build(&folder.path().join("cudart")).unwrap();
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/runtime.c");
    for (version, name) in VERSIONS {
        let mut compiler = Command::new("cc");
        compiler.args(["-Wall", "-Werror", "-pie", "-o"]).arg(folder.path().join(format!("runtime-{version}")));
        compiler.arg(format!("-DCUDART={version}")).arg(&source).arg("-L").arg(&library.folder);
        let output = compiler.arg(format!("-l:{name}")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    std::fs::write(folder.path().join("fat"), fat(PTX)).unwrap();
    Built { library, folder }
});

/// A fat binary with a text that is not compressed.
fn fat(ptx: &str) -> Vec<u8> {
    let mut data = ptx.as_bytes().to_vec();
    data.resize(ptx.len().next_multiple_of(8), 0);
    let mut head = vec![0; 64];
    (head[0], head[4], head[28]) = (1, 64, 75);
    head[8..16].copy_from_slice(&(data.len() as u64).to_le_bytes());
    let size = (64 + data.len() as u64).to_le_bytes();
    [&0xba55_ed50u32.to_le_bytes()[..], &[1, 0, 16, 0], &size, &head, &data].concat()
}

/// Runs a script of a shell that calls the application as `$app MODE`; returns its standard output.
fn run_with(runner: &mut dyn Runner, script: &str) -> (Served, String) {
    let (served, printed, _) = run_version(13, runner, script);
    (served, printed)
}

/// As `run_with`, with a version of the runtime; returns also what happened.
fn run_version(version: u32, runner: &mut dyn Runner, script: &str) -> (Served, String, Log) {
    let Built { library, folder } = &*BUILT;
    let printed = tempfile::NamedTempFile::new().unwrap();
    let mut command = Command::new("sh");
    command
        .args(["-c", script])
        .env("app", format!("./runtime-{version} fat"))
        .current_dir(folder.path())
        .stdout(printed.reopen().unwrap());
    let setup = Setup { config: Config::default(), preset: "baseline".to_owned(), registers: 64, verbose: false };
    let (mut log, stop) = (Log::default(), AtomicBool::new(false));
    let served = serve(&mut command, library, &setup, runner, None, &mut log, &stop).unwrap();
    (served, std::fs::read_to_string(printed.path()).unwrap(), log)
}

fn run(script: &str) -> (Served, String) {
    run_with(&mut Functional::new(OracleEngine::default()), script)
}

/// The modes of the application that check a part of the runtime, and print a line if they find an error.
#[track_caller]
fn check(mode: &str) {
    let (served, printed) = run(&format!("exec $app {mode}"));
    assert!(served.status.success() && printed.is_empty(), "{}: {printed}", served.status);
}

#[test]
fn the_address_of_a_variable_of_the_device_is_not_the_hosts() {
    check("variables");
}

#[test]
fn copies_that_cannot_be_are_errors_and_the_device_stays() {
    check("directions");
}

#[test]
fn each_kind_of_memory_has_its_functions() {
    check("kinds");
}

#[test]
fn a_copy_that_does_not_fit_changes_nothing() {
    check("extents");
}

/// The same with all versions of the runtime, whose structures differ. Returns the functions that were refused, with the number of calls.
#[track_caller]
fn check_versions(mode: &str) -> Vec<(String, u64)> {
    let mut refused = Vec::new();
    for (version, _) in VERSIONS {
        let mut runner = Functional::new(OracleEngine::default());
        let (served, printed, log) = run_version(version, &mut runner, &format!("exec $app {mode}"));
        assert!(served.status.success() && printed.is_empty(), "CUDA {version}, {}: {printed}", served.status);
        refused = log.refused.into_iter().collect();
    }
    refused
}

#[test]
fn arrays_are_copied_in_one_to_three_dimensions_and_layers() {
    check("arrays");
}

#[test]
fn arrays_and_copies_that_cannot_be_are_errors_and_change_nothing() {
    let (_, _, log) = run_version(13, &mut Functional::new(OracleEngine::default()), "exec $app array-errors");
    assert_eq!(log.refused.values().sum::<u64>(), 3, "{:?}", log.refused);
    check("array-errors");
}

#[test]
fn an_objects_handle_is_the_address_of_its_header() {
    check_versions("headers");
}

#[test]
fn objects_that_cannot_be_are_errors() {
    let refused = check_versions("objects");
    let names: Vec<&str> = refused.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "a format of texels that is compressed, planar or normalised",
        "a linear filter across the edges of a cube map (seamlessCubemap)",
        "a texture or a surface of a mipmapped array",
        "a texture with a view of a resource",
        "a texture with an anisotropic filter",
        "a texture with sRGB",
    ];
    assert_eq!(names, expected);
}

#[test]
fn a_reset_and_a_fork_forget_arrays_and_objects() {
    check("forgotten");
}

#[test]
fn calls_at_random_with_arrays_give_errors_that_have_names() {
    check("random");
}

#[test]
fn a_graph_runs_its_nodes_in_the_order_of_their_dependencies() {
    check_versions("graphs");
}

#[test]
fn nodes_and_executable_graphs_can_be_changed() {
    check_versions("graph-updates");
}

#[test]
fn graphs_that_cannot_be_are_errors() {
    let refused = check_versions("graph-errors");
    let names: Vec<&str> = refused.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "a conditional node of a graph",
        "a graph that is launched from the device",
        "a node of a graph for an external semaphore",
    ];
    assert_eq!(names, expected);
}

#[test]
fn a_capture_records_what_its_streams_are_told() {
    check_versions("capture");
}

#[test]
fn calls_that_a_capture_does_not_allow_make_it_invalid() {
    check_versions("capture-errors");
}

#[test]
fn launches_of_a_graph_allocate_its_memory() {
    check_versions("graph-memory");
}

#[test]
fn a_reset_and_a_fork_forget_graphs_and_captures() {
    check_versions("graphs-forgotten");
    check_versions("graphs-reset");
}

#[test]
fn calls_at_random_with_graphs_give_errors_that_have_names() {
    check_versions("graphs-random");
}

/// An engine whose launches take longer than the application lives.
struct Slow(Functional);

impl Runner for Slow {
    fn launch(&mut self, launch: &KernelLaunch<'_>, memory: &mut Memory) -> Result<(), Stopped> {
        std::thread::sleep(Duration::from_secs(3));
        self.0.launch(launch, memory)
    }

    fn cycles(&self) -> Option<u64> {
        self.0.cycles()
    }

    fn name(&self) -> &'static str {
        self.0.name()
    }
}

/// The device of a killed process still runs its launch when the next process starts.
#[test]
fn a_process_waits_for_the_launch_of_one_that_has_ended() {
    let mut runner = Slow(Functional::new(OracleEngine::default()));
    let (served, printed) = run_with(&mut runner, "$app launch; echo $?; $app count");
    assert_eq!((printed.as_str(), served.processes), ("142\n100\n", 2), "142 is the signal of the alarm");
}

/// The child of a process in this mode outlives it, and the next process gets the device.
#[track_caller]
fn child_keeps_no_device(mode: &str) {
    let (served, printed) = run(&format!("$app {mode}; $app count"));
    let (child, counted) = printed.split_once('\n').unwrap();
    end_what_still_runs(child);
    assert_eq!((counted, served.processes), ("100\n", 2));
}

/// Ends a process that runs, and panics if it has ended already.
#[track_caller]
fn end_what_still_runs(process: &str) {
    // After the name: the state. An ended process stays in the table (Z) until its parent has its status.
    let state = std::fs::read_to_string(format!("/proc/{process}/stat"));
    let runs = state.is_ok_and(|state| state.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with('Z')));
    assert!(runs, "the server waited until process {process} had ended");
    assert!(Command::new("kill").args(["-9", process]).status().unwrap().success());
}

/// A child that was forked does not keep the device of its parent, which has ended.
#[test]
fn a_forked_child_keeps_no_device() {
    child_keeps_no_device("child");
}

/// A child that keeps the connection of its parent does not keep the device either.
#[test]
fn a_child_with_the_connection_of_its_parent_keeps_no_device() {
    child_keeps_no_device("left");
}

/// The server does not wait for a process that has the connection of the application.
#[test]
fn the_server_ends_with_the_application() {
    let (served, printed) = run("exec $app left");
    assert!(served.status.success());
    end_what_still_runs(printed.trim());
}
