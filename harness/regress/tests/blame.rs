//! Blame on the wiring of the project's RTL: which block is named if certain nets differ.

use std::collections::BTreeSet;

use gpurf_blocks::config::{Config, MrfConfig, presets};
use gpurf_blocks::designs::Organisation;
use gpurf_blocks::{Declaration, Role};
use gpurf_lockstep::{Comparator, blame};
use gpurf_regress::{Project, RtlSources, request};
use verilated::{Options, Toolchain, Wiring};

const TWO_PORTS: Config = Config { mrf: MrfConfig { issue_ports: 2, ..Config::BASELINE.mrf }, ..Config::BASELINE };

fn read(block: &str, config: Config) -> (Declaration, Wiring) {
    let project = Project::find();
    let tools = Toolchain::find(&project.cache()).expect("Verilator and a C++ compiler");
    let request = request(&project, block, &config, &RtlSources::default(), Options::default()).unwrap();
    let wiring = tools.wiring(&request, 0).unwrap();
    (request.declaration, wiring)
}

/// A record in which every payload is valid, and another one in which a bit of an element of each of these signals differs.
fn records(declaration: &Declaration, differing: &[(&str, usize, u32)]) -> [Vec<u8>; 2] {
    let model = vec![0xff; declaration.record_bytes];
    let mut rtl = model.clone();
    for &(name, element, bit) in differing {
        let field = &declaration.signal(name).unwrap_or_else(|| panic!("no signal {name}")).field;
        rtl[field.offset + element * field.elem_bytes + bit as usize / 8] ^= 1 << (bit % 8);
    }
    [model, rtl]
}

/// The block that is blamed if these signals differ.
fn blamed(declaration: &Declaration, wiring: &Wiring, differing: &[(&str, usize, u32)]) -> String {
    let [model, rtl] = records(declaration, differing);
    blame::find_by(&Comparator::new(declaration, None), Ok(wiring), &model, &rtl).to_string()
}

#[test]
fn every_compared_net_is_in_the_wiring() {
    let mut seen = BTreeSet::new();
    for preset in presets() {
        let design = Organisation::of(&preset.config).design().name;
        for block in ["sm", design] {
            // Configurations with the same nets in other sizes have the same wiring.
            let twin = (gpurf_sm::find(block).unwrap().twin)(&preset.config);
            let nets: Vec<&str> = twin.declaration().signals.iter().map(|signal| signal.field.name).collect();
            if !seen.insert((block, nets.join(" "))) {
                continue;
            }
            let (declaration, wiring) = read(block, preset.config);
            for signal in declaration.signals.iter().filter(|signal| signal.role != Role::Input) {
                for path in signal.field.paths() {
                    assert!(wiring.variable(&path).is_some(), "{block} of {}: {path}", preset.name);
                }
            }
        }
    }
}

#[test]
fn the_main_register_file_is_followed_to_where_the_difference_begins() {
    let (declaration, wiring) = read("mrf", TWO_PORTS);
    let blamed = |differing: &[_]| blamed(&declaration, &wiring, differing);
    let grant = [("grant", 0, 7), ("fill_q", 0, 3), ("read_valid", 0, 5), ("event_o", 0, 20)];
    // A differing register is blamed first, then a net that differs although its sources are equal.
    assert_eq!(blamed(&grant), "mrf_crossbar");
    assert_eq!(blamed(&grant[2..]), "mrf_arbiter");
    assert_eq!(blamed(&[grant[0], ("fill", 0, 7)]), "mrf_arbiter");
    // Bit 7 is a slot of collector 2.
    assert_eq!(blamed(&[("fill", 0, 7)]), "mrf_collector[2]");
    assert_eq!(blamed(&[("req_bank", 7, 0), ("grant", 0, 2), ("leader_q", 7, 0)]), "mrf_collector[2]");
    assert_eq!(blamed(&[("read_data", 11, 900)]), "mrf_bank[11]");
    assert_eq!(blamed(&[("head_valid", 0, 1), ("write_grant", 0, 1), ("write_done_o", 0, 1)]), "mrf_write_queue[1]");
    assert_eq!(blamed(&[("write_grant", 0, 1), ("write_done_o", 0, 1)]), "mrf_arbiter");
    // The source of the net is equal, so the wiring is blamed.
    assert_eq!(blamed(&[("write_done_o", 0, 1)]), "mrf");
    assert_eq!(blamed(&[("dispatch_warp_o", 1, 0)]), "mrf");
}

#[test]
fn the_sm_names_its_blocks_and_those_inside_the_register_file() {
    let (declaration, wiring) = read("sm", TWO_PORTS);
    let blamed = |differing: &[_]| blamed(&declaration, &wiring, differing);
    // A decision of the scheduler shows in many nets of the SM in the same cycle.
    let issue = [
        ("issue_stage_operand_valid", 0, 0),
        ("warp_scheduler_issue_valid", 0, 0),
        ("warp_scheduler_pop", 0, 3),
        ("operand_stage_inner_alloc_valid", 0, 0),
    ];
    assert_eq!(blamed(&issue), "warp_scheduler");
    assert_eq!(blamed(&[issue[0], issue[3]]), "issue_stage");
    assert_eq!(blamed(&[issue[3]]), "mrf_allocator");
    // Handshakes depend on both sides: the ready of a unit, the dispatcher, and the queue that takes the result.
    let ready = [("dispatcher_dispatch_ready", 0, 0), ("alu0_ready", 0, 0), ("alu_queue0_count_q", 0, 0)];
    assert_eq!(blamed(&ready[..2]), "alu[0]");
    assert_eq!(blamed(&ready), "result_queue[0]");
    assert_eq!(blamed(&ready[..1]), "dispatcher");
    assert_eq!(
        blamed(&[("operand_stage_inner_busy", 0, 3), ("operand_stage_dispatch_valid", 0, 0)]),
        "mrf_collector[3]"
    );
    assert_eq!(blamed(&[("operand_stage_issue_ready", 0, 1)]), "mrf_allocator");
    assert_eq!(blamed(&[("operand_stage_write_done", 0, 1)]), "mrf");
}

#[test]
fn without_wiring_the_block_under_test_is_named_and_the_reason_given() {
    let (declaration, _) = read("mrf", Config::BASELINE);
    let [model, rtl] = records(&declaration, &[("grant", 0, 7)]);
    let comparator = Comparator::new(&declaration, None);
    let found = blame::find_by(&comparator, Err("no file"), &model, &rtl);
    assert_eq!((found.to_string().as_str(), found.unknown.as_deref()), ("mrf", Some("no file")));
    assert_eq!(found.signals.len(), 1);
    assert_eq!(blame::find(&comparator, &model, &rtl).unknown.as_deref(), Some("there is no RTL"));
}
