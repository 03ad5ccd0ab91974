//! Energy of the RTL (`scripts/energy.py`): a flip-flop and an inverter against numbers worked out by hand, and netlists that are refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use gpurf_regress::Project;
use serde_json::Value;

const LIBRARY: &str = "/usr/share/qflow/tech/osu018/osu018_stdcells.lib";
const TOY: &str = "module toy (
  input  logic clk_i,
  input  logic d_i,
  output logic q_o,
  output logic n_o
);
  always_ff @(posedge clk_i) q_o <= d_i;
  assign n_o = ~q_o;
endmodule
";
/// From cycle 2 on, `d_i` rises once and falls once, and so do the signals that depend on it.
const RECORDING: &str = r#"{
  "inputs": {"d_i": [0, 0, 1, 1, 0, 0]},
  "outputs": {"q_o": [null, 0, 0, 1, 1, 0], "n_o": [null, 1, 1, 0, 0, 1]},
  "from": 2
}"#;

/// Without the library there is nothing to test. `scripts/bootstrap.sh --energy`, and so `make test`, installs it.
fn without_library() -> bool {
    let without = !Path::new(LIBRARY).exists();
    if without {
        eprintln!("skipped: {LIBRARY} is missing; run scripts/bootstrap.sh --energy");
    }
    without
}

/// Runs the program on a module and a recording; returns its output, and the file with its numbers.
fn energy(folder: &Path, module: &str, recording: &str, more: &[&str]) -> (Output, PathBuf) {
    let (source, recorded, numbers) = (folder.join("toy.sv"), folder.join("toy.json"), folder.join("numbers.json"));
    fs::write(&source, module).unwrap();
    fs::write(&recorded, recording).unwrap();
    let root = Project::find().root;
    let mut command = verilated::tool(root.join("target/venv/bin/python"));
    command.arg(root.join("scripts/energy.py")).args(["--top", "toy", "--recorded"]).arg(&recorded);
    command.arg("--log").arg(folder.join("log")).arg("--json").arg(&numbers).args(more).arg(&source);
    (command.output().unwrap(), numbers)
}

#[test]
fn a_flip_flop_and_an_inverter_take_what_the_cell_library_says() {
    if without_library() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (output, numbers) = energy(folder.path(), TOY, RECORDING, &["--slew", "0.06", "--period", "10"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let numbers: Value = serde_json::from_str(&fs::read_to_string(numbers).unwrap()).unwrap();
    let toy = &numbers["toy"];
    assert_eq!(
        (toy["cells"].as_u64(), toy["flip_flops"].as_u64(), toy["cycles"].as_u64()),
        (Some(2), Some(1), Some(4))
    );
    assert_eq!(toy["changes"], 6.0 / 4.0, "d_i, q_o and n_o, a rise and a fall each, in four cycles");

    // From the library: V, pF of the pins D and CLK of DFFPOSX1 and A of INVX1; pJ at a slew of 0.06 ns, for a rise and for a fall.
    let square = 1.8 * 1.8;
    let (d_load, clk_load, a_load) = (0.00882947, 0.0279235, 0.00932456);
    let (d_inside, clk_inside) = (0.045424 + 0.08841, 0.006865 + 0.11034);
    // Q drives A, a load between the table's 0.005 and 0.0125. The inverter drives nothing, so the edge of its table applies.
    let between = (a_load - 0.005) / (0.0125 - 0.005);
    let q_inside = 0.040752 + between * (0.041217 - 0.040752) + 0.064773 + between * (0.063395 - 0.064773);
    let y_inside = 0.023555 + 0.009213;
    // A rise and a fall take half of C V^2 each, and each occurs once in four cycles. The clock has both in each cycle.
    for (part, expected) in [
        ("nets", (d_load + a_load) * square / 4.0),
        ("cells", (d_inside + q_inside + y_inside) / 4.0),
        ("clock", clk_load * square + clk_inside),
        ("leakage", (0.160725 + 0.0221741) * 10.0 * 1e-6),
    ] {
        let found = toy["pj"][part].as_f64().unwrap();
        assert!((found - expected).abs() < 1e-9, "{part}: {found}, by hand {expected}");
    }
}

#[test]
fn a_netlist_that_differs_from_the_recording_has_no_energy() {
    if without_library() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let faulty = TOY.replace("~q_o", "q_o");
    let loops = TOY.replace("~q_o", "~(n_o & d_i)");
    for (module, recording, status, says) in [
        (faulty.as_str(), RECORDING, 1, "not equal to what was recorded: cycle 1, n_o, bit 0 is 0"),
        (TOY, &RECORDING.replace("[null, 0, 0, 1, 1, 0]", "[null, 0, 0, 1, 1, 1]"), 1, "cycle 5, q_o"),
        (loops.as_str(), RECORDING, 2, "loop"),
        ("module toy (input logic clk_i;\nendmodule\n", RECORDING, 2, "toy.sv:1: ERROR"),
        (TOY, &RECORDING.replace("\"d_i\"", "\"e_i\""), 2, "e_i"),
        (TOY, &RECORDING.replace("[0, 0, 1, 1, 0, 0]", "[0, 0, \"1\", 1, 0, 0]"), 2, "not a recording"),
    ] {
        let (output, numbers) = energy(folder.path(), module, recording, &[]);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(status) && text.contains(says), "{says}: {:?} {text}", output.status);
        assert!(!text.contains("Traceback") && !numbers.exists(), "{text}");
    }
    let (output, _) = energy(folder.path(), TOY, RECORDING, &["--liberty", "/nowhere/cells.lib"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(3) && text.contains("scripts/bootstrap.sh --energy"), "{text}");
}

/// Prints the results of `energy.py` for a measured block of the register file: with events that explain the energy, with events that do not, with an
/// event that the machine does not count, and without issued instructions.
const MEASURED: &str = "
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location('energy', sys.argv[1])
energy = importlib.util.module_from_spec(spec)
spec.loader.exec_module(energy)
def row(event, rate, pj): return {'event': event, 'rate': rate, 'pj': pj}
def block(explained, rows):
    return {'pj': {'nets': 6.0, 'cells': 4.0, 'clock': 99.0}, 'fit': {'events': rows, 'explained': explained}, 'counted': {'issue': 0.25, 'read': 0.5, 'write': 0.2}}
rows = [row('cycle', 1.0, 2.0), row('read', 0.5, 12.0), row('write', 0.25, 8.0)]
print(json.dumps([energy.by_machine_event('mrf_arbiter', block(0.9, rows), 0.1),
                  energy.by_machine_event('mrf_arbiter', block(0.4, rows), 0.1),
                  energy.by_machine_event('mrf_arbiter', block(0.9, [*rows, row('turn', 0.5, 3.0)]), 0.1),
                  energy.by_machine_event('mrf_arbiter', block(0.4, rows) | {'counted': {'issue': 0.0}}, 0.1)]))
";

#[test]
fn energies_of_a_file_are_by_the_machines_events_and_add_up() {
    if without_library() {
        return;
    }
    let root = Project::find().root;
    let mut command = verilated::tool(root.join("target/venv/bin/python"));
    let output = command.args(["-c", MEASURED]).arg(root.join("scripts/energy.py")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let near = |value: &Value, expected: f64| (value.as_f64().unwrap() - expected).abs() < 1e-9;
    // 10 pJ a cycle, of which the fit gives 2 to cycles, 6 to reads and 2 to writes; the machine counts 0.2 writes a cycle. All times 0.1.
    let events = &found[0][0];
    assert!(near(&events["cycle"], 0.2) && near(&events["read"], 1.2) && near(&events["write"], 1.0), "{events}");
    let sum = |events: &Value| {
        let pj = |name: &str| events[name].as_f64().unwrap_or(0.0);
        pj("cycle") + 0.5 * pj("read") + 0.2 * pj("write")
    };
    assert!((sum(events) - 1.0).abs() < 1e-9);
    // If events explain little, or the machine does not count one of them, there is an energy of an instruction, with the reason: one issues in a
    // quarter of the cycles. If none issues, there is an energy of a cycle.
    for (other, why) in [(&found[1], "40 %"), (&found[2], "does not count turn")] {
        assert!(near(&other[0]["issue"], 4.0) && other[0].as_object().unwrap().len() == 1, "{other}");
        assert!(other[1].as_str().unwrap().contains(why), "{other}");
    }
    assert!(near(&found[3][0]["cycle"], 1.0), "{}", found[3]);
}

#[test]
fn a_file_of_energies_needs_a_kernel_and_a_folder() {
    if without_library() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("my.toml");
    let nowhere = folder.path().join("nowhere/my.json");
    let (output, _) = energy(folder.path(), TOY, RECORDING, &["--json", nowhere.to_str().unwrap()]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && text.contains("its folder does not exist"), "{text}");
    for (more, says) in
        [(&["--toml", file.to_str().unwrap()][..], "--toml needs --kernel"), (&["--scale", "2"], "--scale is")]
    {
        let (output, _) = energy(folder.path(), TOY, RECORDING, more);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && text.contains(says), "{says}: {:?} {text}", output.status);
    }
    assert!(!file.exists());
}
