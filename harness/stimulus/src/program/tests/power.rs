//! Programs whose registers have power states.

use gpurf_blocks::config::{Config, Start};
use gpurf_compiler::Options;
use gpurf_isa::{Instruction, PowerState};
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
            // Nothing but the states differs. Without a threshold a program has any states, which no machine heeds.
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
        // No states but the compiler's.
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
