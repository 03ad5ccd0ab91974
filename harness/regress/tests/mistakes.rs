//! Mistakes of designers that are inserted into the RTL: the mutants that the operators make, and how they are detected.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use gpurf_regress::mutants::{self, Bench, Family, Mutant, MutantResult, Place};
use gpurf_regress::{JobError, Project};
use serde_json::Value;
use verilated::{Simulator, Toolchain};

static GO: AtomicBool = AtomicBool::new(false);

fn script(name: &str) -> Command {
    let root = Project::find().root;
    let python = root.join("target/venv/bin/python");
    assert!(python.exists(), "Yosys and slang are missing; get them with: scripts/bootstrap.sh --mutants");
    let mut command = Command::new(python);
    command.arg(root.join("scripts").join(name));
    command
}

fn toy() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mistakes/toy.sv")
}

fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// All mutants of the toy, with the description of each.
fn toys(folder: &Path) -> Vec<(u64, String)> {
    output(script("source_mutants.py").args(["--module", "toy", "-n", "0", "--out"]).arg(folder).arg(toy()));
    let list = std::fs::read_to_string(folder.join("mutants.json")).unwrap();
    let list: Value = serde_json::from_str(&list).unwrap();
    let what = |m: &Value| (m["select"].as_u64().unwrap(), m["description"].as_str().unwrap().to_owned());
    list["mutants"].as_array().unwrap().iter().map(what).collect()
}

#[test]
fn every_operator_says_what_it_does() {
    let folder = tempfile::tempdir().unwrap();
    let toys = toys(folder.path());
    let has = |text: &str| assert!(toys.iter().any(|(_, what)| what == text), "{text}: {toys:#?}");
    for mutant in [
        "toy.sv:33: top bit lost: reg_q[p] == look_reg_i: top bit not compared",
        "toy.sv:33: bound off by one: look_reg_i <= push_reg_i -> look_reg_i < push_reg_i",
        "toy.sv:29: condition inverted: !push_valid_i -> push_valid_i",
        "toy.sv:33: and for or: valid_q[p] && reg_q[p] == look_reg_i -> ||",
        "toy.sv:47: index plus one: reg_q[turn_q] -> reg_q[turn_q + 1] (of reg_q[turn_q])",
        "toy.sv:43: turn not advanced: turn_q is not advanced when (|pop_ready_i)",
        "toy.sv:39: reset forgotten: reset of valid_q forgotten",
        "toy.sv:40: reset forgotten: reset of reg_q[p] forgotten where 32'(p) == 32'(Places) - 32'd1",
        "toy.sv:45: event lost: if (push_valid_i): not in a cycle of if (pop_ready_i)",
        "toy.sv:33: wrong one of two alike: look_reg_i -> push_reg_i",
        "toy.sv:33: valid of the neighbour: valid_q[p] -> valid_q[p + 1] (of hit_o[p])",
        "toy.sv:47: stage early by one: turn_q -> turn_d",
        "toy.sv:43: stage late by one: turn_d -> turn_q",
        "toy.sv:29: stage late by one: valid_o = |valid_q && !push_valid_i, a cycle later",
        "toy.sv:29: term dropped: |valid_q && !push_valid_i: without |valid_q",
        "toy.sv:28: constant off by one: 2'd1 -> 2'd2 (of turn_d)",
        "toy.sv:54: connections exchanged: u_toy_part: connections of left_i and right_i exchanged",
        "toy.sv:55: order of a concatenation: {look_reg_i[3:0], look_reg_i[7:4]}: look_reg_i[3:0] and look_reg_i[7:4] exchanged",
    ] {
        has(mutant);
    }
}

#[test]
fn a_selected_mutant_differs_and_no_mutant_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let toys = toys(folder.path());
    let number = |text: &str| toys.iter().find(|(_, what)| what.contains(text)).expect("made by its operator").0;
    let different = [
        number(": top bit lost: reg_q[p] == look_reg_i"),
        number(": event lost: "),
        number(": reset forgotten: reset of valid_q"),
        number(": stage late by one: valid_o"),
        number(": connections exchanged: "),
    ];
    let all: Vec<String> = [0].iter().chain(&different).map(u64::to_string).collect();
    let mut prove = script("prove_source.py");
    prove.args(["--module", "toy", "--select", &all.join(","), "--original"]).arg(toy());
    prove.arg("--mutated").arg(folder.path().join("toy.sv"));
    let said: BTreeMap<String, String> = serde_json::from_str(&output(&mut prove)).unwrap();
    assert_eq!(said["0"], "equivalent");
    for select in different {
        assert_eq!(said[&select.to_string()], "different", "{}", toys[select as usize - 1].1);
    }
}

struct Trial {
    project: Project,
    tools: Toolchain,
}

impl Trial {
    fn new() -> Self {
        let project = Project::find();
        let tools = Toolchain::find(&project.cache()).expect("Verilator and a C++ compiler");
        Self { project, tools }
    }

    fn run(&self, mutants: &[Mutant]) -> Result<Vec<MutantResult>, JobError> {
        let Self { project, tools } = self;
        let simulator = Simulator::default();
        let bench = Bench { project, tools, simulator, place: Place::Blocks, seed: 1, stop: &GO };
        mutants::run_mutants(&bench, mutants, 1, |_| {})
    }
}

#[test]
fn a_mistake_of_each_operator_is_caught_and_one_that_does_not_build_is_an_error() {
    let trial = Trial::new();
    // As many mutants as there are operators for this module, so that each is used.
    let module = "writeback";
    let made = mutants::mistakes(&trial.project, &|name| name == module, 11, 1).unwrap();
    let operators: BTreeSet<&str> = made.iter().filter_map(|m| m.operator.as_deref()).collect();
    assert_eq!(operators.len(), 11, "{operators:?}");
    assert!(made.iter().all(|m| m.family == Family::Mistake));
    for verdict in trial.run(&made).unwrap() {
        assert!(verdict.caught.is_some() && verdict.located, "{verdict:?}");
    }

    let file = trial.project.root.join("target/mutants/writeback-source/writeback.sv");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("endmodule", "assign nothing = there; endmodule")).unwrap();
    assert!(matches!(trial.run(&made[..1]), Err(JobError::Build(_))), "what does not build is not caught");
    let changed = text.replace("assign write_valid_o = ", "assign write_valid_o = ~");
    assert_ne!(changed, text);
    std::fs::write(&file, changed).unwrap();
    let Err(JobError::Build(message)) = trial.run(&made[..1]) else { panic!("the original differs") };
    assert!(message.contains("the source of writeback differs from its module without a mutant"), "{message}");
    std::fs::write(&file, text).unwrap();
}
