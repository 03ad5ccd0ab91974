//! Simpler forms of a statement.

use gpurf_isa::{Control, Instruction, Predicate, PredicateSource, Slots};

use crate::program::tree::{Access, Action, Condition, Count, If, Loop, Pattern, Place, Statement, Test, Trips};

/// Candidates to replace a statement, each a little simpler than it.
pub fn plainer(statement: &Statement) -> Vec<Statement> {
    match statement {
        Statement::Do(instruction) => instructions(instruction).into_iter().map(Statement::Do).collect(),
        Statement::Access(access) => accesses(access).into_iter().map(Statement::Access).collect(),
        Statement::If(branch) => {
            tests(&branch.test).into_iter().map(|test| Statement::If(If { test, ..branch.clone() })).collect()
        }
        Statement::Loop(repeat) => {
            let fewer = [1, 2].map(Trips::Fixed).into_iter().filter(|trips| trips.most() < repeat.trips.most());
            fewer.map(|trips| Statement::Loop(Loop { trips, ..repeat.clone() })).collect()
        }
        Statement::Leave(leave) => tests(&leave.test)
            .into_iter()
            .map(|test| Statement::Leave(crate::program::tree::Leave { test, ..leave.clone() }))
            .collect(),
        Statement::Barrier(barrier) if barrier.count != Count::All => {
            vec![Statement::Barrier(crate::program::tree::Barrier { count: Count::All, ..*barrier })]
        }
        Statement::Skip(dead) if dead.len() > 1 => vec![Statement::Skip(dead[..1].to_vec())],
        _ => Vec::new(),
    }
}

fn instructions(instruction: &Instruction) -> Vec<Instruction> {
    let slots = instruction.op.slots();
    let mut plainer = vec![
        Instruction { guard: PredicateSource::TRUE, ..*instruction },
        Instruction { control: Control::default(), ..*instruction },
    ];
    if slots.has(Slots::D) {
        plainer.push(Instruction { p: Predicate::TRUE, ..*instruction });
    }
    for rest in [PredicateSource::TRUE, PredicateSource::FALSE] {
        let at_rest = |source: PredicateSource| source.predicate.is_true();
        if !at_rest(instruction.s) && slots.has(Slots::S) {
            plainer.push(Instruction { s: rest, ..*instruction });
        }
        if !at_rest(instruction.t) && slots.has(Slots::T) {
            plainer.push(Instruction { t: rest, ..*instruction });
        }
    }
    plainer.retain(|other| other != instruction);
    plainer
}

fn accesses(access: &Access) -> Vec<Access> {
    let place = |place: Place| Access { place, ..access.clone() };
    let mut plainer = vec![
        Access { guard: PredicateSource::TRUE, ..access.clone() },
        Access { other: None, ..access.clone() },
        Access { offset: 0, ..access.clone() },
        Access { wide: false, ..access.clone() },
        Access { bypass: false, ..access.clone() },
        place(Place { start: 0, ..access.place }),
    ];
    if access.other.is_none() && access.generic {
        plainer.push(Access { generic: false, ..access.clone() });
    }
    if !matches!(access.place.pattern, Pattern::Uniform | Pattern::Strided(_)) {
        plainer.push(place(Place { pattern: Pattern::Strided(access.action.bytes() as i32), ..access.place }));
    }
    if access.action.parts() > 1 {
        let action = match &access.action {
            Action::Load(kind, registers) => Action::Load(*kind, registers[..1].to_vec()),
            Action::Store(kind, registers) => Action::Store(*kind, registers[..1].to_vec()),
            other => other.clone(),
        };
        plainer.push(Access { action, ..access.clone() });
    }
    plainer.retain(|other| other != access);
    plainer
}

fn tests(test: &Test) -> Vec<Test> {
    let with = |condition| Test { condition, ..test.clone() };
    match test.condition {
        Condition::Always(_) => Vec::new(),
        Condition::Lanes(0xffff) => vec![with(Condition::Always(true))],
        Condition::Lanes(_) => vec![with(Condition::Always(true)), with(Condition::Lanes(0xffff))],
        _ => {
            // Threads that took the same path have to do so with the new condition too: there may be a barrier inside.
            let simple = [Condition::Always(true), Condition::Always(false), Condition::Lanes(0xffff)];
            simple.into_iter().filter(|simple| simple.flow() >= test.condition.flow()).map(with).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpurf_isa::modifiers::Vote;

    #[test]
    fn lanes_that_go_together_stay_together() {
        let predicate = Predicate::TRUE;
        let conditions = [
            Condition::Block(1, 0),
            Condition::Warp(1, 0),
            Condition::Vote(Vote::Any, PredicateSource::TRUE),
            Condition::Lanes(1),
            Condition::Held(PredicateSource::TRUE),
        ];
        for condition in conditions {
            let test = Test { predicate, condition };
            let simpler = tests(&test);
            assert!(simpler.len() > 1, "{:?}", test.condition);
            assert!(simpler.iter().all(|simple| simple.condition.flow() >= test.condition.flow()), "{simpler:?}");
        }
    }
}
