use std::collections::BTreeMap;
use std::time::Duration;

use gpurf_blocks::config::{Config, Start, presets};
use gpurf_launch::{Manifest, Source};
use gpurf_oracle::host::{OracleEngine, Session, assembled};
use gpurf_oracle::marks::{MarkCounts, MarkJudge, Scope};

use super::*;

mod levels;
mod power;

/// The limits of an SM that has everything that themes are about.
fn limits() -> Limits {
    Limits { caches: true, ..Limits::of(&Config::default()) }
}

fn random(theme: &str, seed: u64) -> Program {
    let weights = themes::find(theme).unwrap().weights();
    Program::random(seed, &weights, &limits()).unwrap_or_else(|error| panic!("{theme}: {error}"))
}

#[test]
fn themes_give_valid_programs_that_meet_their_quotas() {
    for theme in themes::THEMES {
        let weights = theme.weights();
        for seed in 0..6 {
            let program = random(theme.name, seed);
            let coverage = program.measure(16).unwrap_or_else(|error| panic!("{}: {error}", theme.name));
            assert!(coverage.missing(&weights.quotas).is_empty(), "{} {seed}", theme.name);
            assert!(coverage.get("warp instruction") >= 2000);
        }
    }
}

#[test]
fn loads_past_a_cache_are_required_where_there_is_one() {
    let required = |preset: &str| {
        let config = gpurf_blocks::config::preset(preset).expect("a preset").config;
        wanted(&Limits::of(&config)).contains(&"load past the data cache")
    };
    assert!(required("cached"));
    assert!(!required("baseline"), "theme lines, which has such loads, is not run there");
}

#[test]
fn a_few_programs_with_large_extents_access_both_sides_of_2_gib() {
    let weights = themes::find("extents").unwrap().weights();
    for first in [1, 7, 13] {
        let count = |seed: u64| {
            let program = Program::random(seed, &weights, &limits()).unwrap();
            program.measure(16).unwrap().get("global access on both sides of 2 GiB")
        };
        assert!((first..first + 6).map(count).sum::<u64>() >= 20, "seeds from {first} on");
    }
}

#[test]
fn a_full_launch_has_as_many_warps_as_the_sm() {
    for warps in [16, 24, 32] {
        let mut config = Config::default();
        config.sm.warps = warps;
        let limits = Limits::of(&config);
        for theme in ["arithmetic", "latency"] {
            let mut weights = themes::find(theme).unwrap().weights();
            weights.chances.full = 1000;
            for seed in 0..4 {
                let program = Program::random(seed, &weights, &limits).unwrap();
                let (warps, rows) = (program.warps(), u32::from(program.registers).div_ceil(limits.banks));
                assert!(limits.warps.is_multiple_of(warps), "{theme} {seed}: blocks of {warps} warps");
                assert!(warps * program.blocks() >= limits.warps, "{theme} {seed}: {} blocks", program.blocks());
                assert!(limits.warps * rows <= limits.rows, "{theme} {seed}: {} registers", program.registers);
            }
        }
    }
}

/// Runs a program on the oracle under the check for undefined reads.
fn checked(program: &Program) -> Result<(), String> {
    let manifest = Manifest::parse(std::path::Path::new("p.toml"), &program.manifest(None)).unwrap();
    let Source::Assembly(assembly) = &manifest.source else { panic!("it has instructions") };
    let image = assembled(&manifest, assembly).unwrap();
    let mut engine = OracleEngine::default().checking_undefined(true);
    Session::new(&manifest, &image).unwrap().run(&mut engine).map(|_| ()).map_err(|error| error.to_string())
}

#[test]
fn programs_read_only_what_they_have_written() {
    for theme in themes::THEMES {
        for seed in 0..2 {
            let program = random(theme.name, seed);
            checked(&program).unwrap_or_else(|error| panic!("{} {seed}: {error}", theme.name));
        }
    }
}

#[test]
fn registers_and_predicates_begin_as_zero_as_often_as_asked() {
    let zeros = |chance: u32| {
        let mut weights = themes::find("divergence").unwrap().weights();
        weights.chances.unwritten = chance;
        let programs = (0..4).map(|seed| Program::random(seed, &weights, &limits()).unwrap());
        let count = |program: Program| {
            let registers = program.first.iter().filter(|first| matches!(first, First::Constant(0))).count();
            let predicates = program.first_predicates.iter().filter(|&&first| first == 0).count();
            (registers, program.first.len(), predicates, program.first_predicates.len())
        };
        programs.map(count).fold((0, 0, 0, 0), |a, b| (a.0 + b.0, a.1 + b.1, a.2 + b.2, a.3 + b.3))
    };
    assert_eq!(zeros(0).2, 0);
    let (registers, all, predicates, all_predicates) = zeros(1000);
    assert_eq!((registers, predicates), (all, all_predicates));
    let (registers, all, predicates, _) = zeros(300);
    assert!(5 * registers > all && 2 * registers < all && predicates > 0, "{registers} of {all}, {predicates}");
}

#[test]
fn a_seed_gives_the_same_program() {
    let texts = |seed| random("mixed", seed).manifest(None);
    assert_eq!(texts(3), texts(3));
    assert_ne!(texts(3), texts(4));
}

#[test]
fn instructions_survive_words_and_text() {
    for seed in 0..20 {
        let code = random(themes::THEMES[seed as usize % themes::THEMES.len()].name, seed).lower().code;
        for instruction in &code {
            assert_eq!(instruction.check(), Ok(()), "{instruction}");
            assert_eq!(Instruction::decode(instruction.encode()).as_ref(), Ok(instruction));
        }
        let text: Vec<String> = code.iter().map(ToString::to_string).collect();
        assert_eq!(gpurf_isa::assemble(&text.join("\n")).unwrap(), code);
    }
}

#[test]
fn marks_hold() {
    let mut counts = MarkCounts::default();
    for seed in 0..26 {
        let theme = &themes::THEMES[seed as usize % themes::THEMES.len()];
        let mut weights = theme.weights();
        // No marks except the compiler's.
        weights.chances.control = 0;
        let program = Program::random(seed, &weights, &limits()).unwrap_or_else(|e| panic!("{}: {e}", theme.name));
        let judge = program.observed(MarkJudge::new(Scope::Lanes)).unwrap_or_else(|e| panic!("{}: {e}", theme.name));
        let (faults, new) = judge.finish();
        assert_eq!(faults, [], "{} {seed}", theme.name);
        counts.add(&new);
    }
    assert!(counts.free_registers > 10_000 && counts.last_reads > 10_000, "{counts:?}");
}

#[test]
fn nothing_writes_the_registers_with_a_meaning() {
    for (seed, theme) in themes::THEMES.iter().enumerate() {
        let program = random(theme.name, seed as u64);
        tree::visit(&program.body, &mut |statement| {
            let written = match statement {
                Statement::Do(instruction) => instruction.destination().into_iter().collect(),
                Statement::Access(tree::Access { action: tree::Action::Load(_, to), .. }) => to.clone(),
                Statement::Access(tree::Access { action: tree::Action::Atomic(_, to, _), .. }) => vec![*to],
                Statement::Access(tree::Access { action: tree::Action::Cas(to, ..), .. }) => vec![*to],
                _ => Vec::new(),
            };
            assert!(!written.iter().any(|register| program.fixed.contains(register)), "{statement:?}");
        });
    }
}

#[test]
fn any_part_of_a_program_is_a_program() {
    let tried = std::sync::atomic::AtomicUsize::new(0);
    let shrink_one = |(seed, theme): (usize, &themes::Theme)| {
        let program = random(theme.name, 100 + seed as u64);
        let mut rng = gpurf_lockstep::Rng::new(seed as u64, "parts");
        let mut left = 60;
        // The oracle accepts every candidate of shrinking.
        let shrunk = shrink(&program, Duration::from_secs(10), &mut |candidate| {
            candidate.measure(16).unwrap_or_else(|error| panic!("{}: {error}", theme.name));
            left -= i32::from(left > 0);
            left > 0 && rng.chance(60)
        });
        tried.fetch_add(shrunk.tried, std::sync::atomic::Ordering::Relaxed);
    };
    // A theme takes seconds.
    std::thread::scope(|scope| {
        for half in [0, 1] {
            scope.spawn(move || themes::THEMES.iter().enumerate().skip(half).step_by(2).for_each(shrink_one));
        }
    });
    let tried = tried.into_inner();
    assert!(tried > 500, "{tried}");
}

#[test]
fn shrinking_finds_the_statement() {
    let fails = |program: &Program| program.lower().code.iter().any(|i| matches!(i.op, Op::Popc {}));
    let program = (1..=20).map(|seed| random("arithmetic", seed)).find(&fails).expect("one of 20 has the operation");
    let shrunk = shrink(&program, Duration::from_secs(60), &mut |candidate| fails(candidate));
    assert!(shrunk.minimal);
    let code = shrunk.program.lower().code;
    assert!(code.len() < 25, "{}", shrunk.program.manifest(None));
    assert_eq!((shrunk.program.blocks(), shrunk.program.threads()), (1, 1));
}

#[test]
fn small_machines_get_small_programs() {
    let config = Config::load(Start::Preset("mrf-1r1w"), &["sm.warps=8", "mrf.kilobytes=16", "sm.shared_kilobytes=4"]);
    let limits = Limits::of(&config.unwrap());
    for theme in themes::THEMES {
        // Some quotas need more memory.
        let weights = Weights { quotas: Weights::default().quotas, ..theme.weights() };
        let program = Program::random(1, &weights, &limits).unwrap_or_else(|error| panic!("{}: {error}", theme.name));
        assert!(program.warps() <= 8 && program.lower().shared <= 4096, "{}", theme.name);
        assert!(program.warps() * u32::from(program.registers).div_ceil(limits.banks) <= limits.rows);
    }
}

#[test]
fn programs_fit_the_registers_that_a_design_has() {
    let mut all = presets().map(|preset| Limits::of(&preset.config));
    let limits = all.find(|limits| limits.registers == 64).expect("a design has 64 registers of a thread");
    let of = |limits: &Limits, seed| {
        Program::random(seed, &themes::find("conflicts").unwrap().weights(), limits).unwrap().registers
    };
    let most = |limits: &Limits| (1..9).map(|seed| of(limits, seed)).max();
    assert!(most(&Limits::of(&Config::default())) > Some(64));
    assert_eq!(most(&limits), Some(64));
}

#[test]
fn quotas_out_of_reach_are_named() {
    let quotas = BTreeMap::from([("FADD".to_owned(), u64::MAX)]);
    let sizes = weights::Sizes { section: [1, 2], ..Default::default() };
    let error =
        Program::random(5, &Weights { quotas, sizes, ..Weights::default() }, &limits()).unwrap_err().to_string();
    assert!(error.starts_with("the program of seed 5 stays below its quotas: FADD "), "{error}");
}

#[test]
#[ignore = "prints what programs are like"]
fn statistics() {
    let mut total: BTreeMap<&str, u64> = BTreeMap::new();
    let mut programs = 0;
    for theme in themes::THEMES {
        let (mut code, mut instructions, mut sizes) = (0, 0, Vec::new());
        for seed in 0..6 {
            let start = std::time::Instant::now();
            let program = match Program::random(seed, &theme.weights(), &limits()) {
                Ok(program) => program,
                Err(error) => {
                    println!("{}: {error}", theme.name);
                    continue;
                }
            };
            let coverage = program.measure(16).unwrap();
            programs += 1;
            for (point, count) in coverage.counts() {
                *total.entry(point).or_default() += count;
            }
            let length = program.lower().code.len();
            code += length;
            instructions += coverage.get("warp instruction");
            sizes.push((
                program.warps(),
                program.blocks(),
                length,
                coverage.get("warp instruction"),
                start.elapsed().as_millis(),
            ));
        }
        println!("{:12} code {code} instructions {instructions} {sizes:?}", theme.name);
    }
    let mut points: Vec<_> = total.into_iter().collect();
    points.sort_by_key(|(_, count)| *count);
    println!("{programs} programs");
    for (point, count) in points.iter().take(70) {
        println!("{count:8} {point}");
    }
}

/// The final bytes of every buffer, from the oracle.
fn left(program: &Program) -> Vec<Vec<u8>> {
    let manifest = Manifest::parse(std::path::Path::new("p.toml"), &program.manifest(None)).unwrap();
    let Source::Assembly(assembly) = &manifest.source else { panic!("it has instructions") };
    let image = assembled(&manifest, assembly).unwrap();
    let mut session = Session::new(&manifest, &image).unwrap();
    session.run(&mut OracleEngine::default()).unwrap();
    (0..manifest.buffers.len()).map(|id| session.bytes(gpurf_launch::BufferId(id))).collect()
}

#[test]
fn scheduled_programs_leave_what_they_left() {
    let mut moved = 0;
    for theme in themes::THEMES {
        for seed in 300..306 {
            // The oracle's time is the number of executed instructions: with another schedule, a warp reads other times after it waited at a barrier.
            let mut weights = theme.weights();
            weights.chances.time = 0;
            let program = Program::random(seed, &weights, &limits()).unwrap();
            let schedule = gpurf_compiler::Schedule::Latency;
            let scheduled = Program { compiler: Options { schedule, ..program.compiler }, ..program.clone() };
            let pairs = program.lower().code.into_iter().zip(scheduled.lower().code);
            moved += pairs.filter(|(a, b)| a.op != b.op).count();
            assert_eq!(left(&program), left(&scheduled), "{} {seed}", theme.name);
        }
    }
    assert!(moved > 1000, "{moved} instructions stand elsewhere");
}

#[test]
fn programs_with_names_by_first_use_leave_what_they_left() {
    let mut renamed = 0;
    for theme in themes::THEMES {
        for seed in 300..306 {
            let program = random(theme.name, seed);
            let register_order = gpurf_compiler::RegisterOrder::FirstUse;
            let named = Program { compiler: Options { register_order, ..program.compiler }, ..program.clone() };
            let (old, new) = (program.lower().code, named.lower().code);
            assert_eq!(old.len(), new.len());
            assert!(old.iter().zip(&new).all(|(a, b)| a.op == b.op), "{} {seed}", theme.name);
            renamed += old.iter().zip(&new).filter(|(a, b)| a.destination() != b.destination()).count();
            assert_eq!(left(&program), left(&named), "{} {seed}", theme.name);
        }
    }
    assert!(renamed > 1000, "{renamed} results have another name");
}
