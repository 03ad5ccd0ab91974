//! Programs whose registers have power states.

use gpurf_blocks::config::{Config, SharedResource, Start, preset, presets};
use gpurf_compiler::Options;
use gpurf_isa::{Instruction, Places, PowerState};
use gpurf_oracle::power::{PowerCounts, PowerJudge};

use super::random;
use crate::program::{Limits, Program, Weights, themes};

/// The instruction without power states.
fn at_rest(mut instruction: Instruction) -> Instruction {
    instruction.control.source_power = Default::default();
    instruction.control.result_power = Default::default();
    instruction
}

#[test]
fn programs_lose_no_value() {
    let mut counts = PowerCounts::default();
    for theme in themes::THEMES {
        for (seed, power_threshold) in [(400, 1), (401, 3), (402, 9)] {
            let program = random(theme.name, seed);
            let marked = Program { compiler: Options { power_threshold, ..program.compiler }, ..program.clone() };
            let name = format!("{} {seed}, W = {power_threshold}", theme.name);
            let judge = marked.observed(PowerJudge::new(marked.registers));
            let (faults, new) = judge.unwrap_or_else(|problem| panic!("{name}: {problem}")).finish();
            let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
            assert!(faults.is_empty(), "{name}:\n{}", faults.join("\n"));
            counts += new;
            // Only the states differ. Without a threshold a program has random states, which every machine ignores.
            let code = |program: Program| program.lower().code.into_iter().map(at_rest);
            assert!(code(marked).eq(code(program)), "{name}");
        }
    }
    assert!([counts.left.on, counts.left.sleep, counts.left.off].iter().all(|&n| n > 10_000), "{counts:?}");
}

#[test]
fn programs_have_states_as_the_configuration_says() {
    let marked = |settings: &[&str]| {
        let config = Config::load(Start::Preset("baseline"), settings).unwrap();
        let mut weights = Weights::default();
        // No states except the compiler's.
        weights.chances.control = 0;
        let program = Program::random(3, &weights, &Limits::of(&config)).unwrap();
        let states = |instruction: &Instruction| {
            let control = instruction.control;
            [control.source_power[0], control.source_power[1], control.result_power]
        };
        program.lower().code.iter().flat_map(states).filter(|state| *state != PowerState::On).count()
    };
    let [none, far, near] = [&[][..], &["compiler.power_threshold=7"], &["compiler.power_threshold=1"]].map(marked);
    assert!(none == 0 && far > 0 && near > far, "{none} {far} {near}");
}

#[test]
fn runs_of_programs_take_the_themes_that_concern_their_configuration() {
    for preset in presets() {
        let taken: Vec<&str> = themes::of(&preset.config).map(|theme| theme.name).collect();
        let shares = |resource| preset.config.share.present && preset.config.share.resource == resource;
        let concerned = [
            ("power", preset.config.power.present),
            ("sharing", shares(SharedResource::Registers)),
            ("scratchpad", shares(SharedResource::Scratchpad)),
            ("lines", preset.config.cache.kilobytes != 0),
        ];
        for (theme, concerns) in concerned {
            assert_eq!(taken.contains(&theme), concerns, "{}: {theme}", preset.name);
        }
        let others = concerned.iter().filter(|(_, concerns)| !concerns).count();
        assert_eq!(taken.len(), themes::THEMES.len() - others, "{}", preset.name);
    }
}

/// What a compiler cannot predict: the next instruction accesses a register that the previous one has left in SLEEP or OFF.
#[test]
fn the_theme_has_instructions_that_access_what_the_one_before_puts_to_rest() {
    let config = preset("greener").unwrap().config;
    let soon = |theme: &str| {
        let weights = themes::find(theme).unwrap().weights();
        let of = |seed| {
            let code = Program::random(seed, &weights, &Limits::of(&config)).unwrap().lower().code;
            let at_rest = |pair: &&[Instruction]| {
                let mut left = pair[0].power_states(Places::NONE).filter(|(_, state)| *state != PowerState::On);
                left.any(|(register, _)| pair[1].power_states(Places::NONE).any(|(other, _)| other == register))
            };
            (code.windows(2).filter(at_rest).count(), code.len())
        };
        (1..=8).map(of).fold((0, 0), |(a, b), (c, d)| (a + c, b + d))
    };
    let ((here, of_here), (elsewhere, of_elsewhere)) = (soon("power"), soon("registers"));
    assert!(
        here > 100 && here * of_elsewhere > 2 * elsewhere * of_here,
        "{here}/{of_here}, {elsewhere}/{of_elsewhere}"
    );
}
