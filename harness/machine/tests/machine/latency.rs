//! Cycles from the issue of an instruction to that of one that depends on it: chains of one operation in one warp. The
//! table in `docs/sm.md` has them; this test measures it again.

use std::path::Path;

use crate::common::Program;
use gpurf_blocks::config::{Config, Start};
use gpurf_machine::{Machine, ModelEngine, Settings};

/// A link of a chain: instructions each of which depends on the one before, and which of the other operations are in it.
struct Chain {
    name: &'static str,
    link: &'static str,
    /// The operation of the table that closes the link besides its own, whose latency is taken away.
    closed_by: Option<&'static str>,
}

const fn chain(name: &'static str, link: &'static str) -> Chain {
    Chain { name, link, closed_by: None }
}

/// What begins each program: R4 is 0, and so is the first word of shared memory.
const START: &str = "
    MOV R4, 0
    MOV R5, 0
    ST.SHARED.B32 [RZ], RZ
    ISETP.EQ.AND P0, R4, 0, PT
";

const CHAINS: [Chain; 8] = [
    chain("IADD", "IADD R4, PT, R4, 1, !PT"),
    chain("FFMA", "FFMA R4, R4, R4, R4"),
    chain("ISETP", "ISETP.EQ.AND P0, R5, 0, P0"),
    chain("MUFU", "MUFU.RCP R4, R4"),
    chain("LD.SHARED", "LD.SHARED.B32 R4, [R4]"),
    Chain { name: "LDC", link: "LDC.B32 R5, [R4]\nIMAD.LO R4, PT, R5, 0, RZ, !PT", closed_by: Some("IADD") },
    Chain { name: "S2R", link: "@P0 S2R.TID.X R5\nISETP.GE.AND P0, R5, 0, PT", closed_by: Some("ISETP") },
    Chain {
        name: "LD.GLOBAL",
        link: "LD.GLOBAL.B32 R5, [R2:RZ]\nIMAD.LO R2, PT, R5, 0, R2, !PT",
        closed_by: Some("IADD"),
    },
];

fn cycles(config: Config, link: &str, links: usize) -> u64 {
    let program = Program::new(&format!("{START}\n{}", format!("{link}\n").repeat(links)), 1, 32);
    let mut engine = ModelEngine::new(Settings::new(config));
    // In front of the first launch the host writes the code, an instruction a cycle; in front of the second one it is there.
    let [first, second] = [(); 2].map(|()| {
        program.run(&mut engine).unwrap();
        engine.statistics().cycles
    });
    second - first
}

/// The latencies of a configuration, in the order of [`CHAINS`].
fn latencies(config: Config) -> Vec<u64> {
    const LINKS: [usize; 2] = [12, 36];
    let mut found: Vec<u64> = Vec::new();
    for Chain { link, closed_by, .. } in &CHAINS {
        let [few, many] = LINKS.map(|links| cycles(config, link, links));
        let one = (many - few) as f64 / (LINKS[1] - LINKS[0]) as f64;
        let closing =
            closed_by.map_or(0, |name| found[CHAINS.iter().position(|chain| chain.name == name).expect("a chain")]);
        assert_eq!(one.fract(), 0.0, "{link}: {one} cycles on average");
        found.push(one as u64 - closing);
    }
    found
}

/// The rows of the page's table: settings of the configuration, latencies.
fn page() -> Vec<(Vec<String>, Vec<u64>)> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sm.md");
    let text = std::fs::read_to_string(page).unwrap();
    let names: Vec<&str> = CHAINS.iter().map(|chain| chain.name).collect();
    let head = format!("| configuration | {} |", names.join(" | "));
    let rows = text.lines().skip_while(|line| *line != head).skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let words = cells[0].split('`').skip(1).step_by(2).map(str::to_owned).collect();
        (words, cells[1..].iter().map(|cell| cell.parse().unwrap()).collect())
    })
    .collect()
}

#[test]
fn dependent_instructions_issue_when_the_page_says() {
    let rows = page();
    assert!(rows.len() >= 8, "{} rows", rows.len());
    for (words, expected) in rows {
        let config = Config::load(Start::Preset(&words[0]), &words[1..]).unwrap();
        assert_eq!(latencies(config), expected, "{words:?}");
    }
}
