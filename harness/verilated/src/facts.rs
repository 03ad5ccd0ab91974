//! Facts about a built library besides its code: one line for each absent signal and each register.

use std::fmt::Write;

use gpurf_blocks::Declaration;

use crate::shim::StateVariable;

pub(crate) fn write(absent: &[usize], state: &[StateVariable]) -> String {
    let mut text = String::new();
    for index in absent {
        writeln!(text, "absent {index}").unwrap();
    }
    for s in state {
        writeln!(text, "state {} {} {} {}", s.name, s.bits, s.count, s.elem_bytes).unwrap();
    }
    text
}

pub(crate) fn read(text: &str) -> (Vec<usize>, Vec<StateVariable>) {
    let (mut absent, mut state) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |i: usize| words[i].parse().expect("written by this crate");
        match words[0] {
            "absent" => absent.push(number(1)),
            _ => state.push(StateVariable {
                name: words[1].into(),
                bits: number(2) as u32,
                count: number(3),
                elem_bytes: number(4),
            }),
        }
    }
    (absent, state)
}

/// Names of signals of the declaration, as messages about a library show them.
pub(crate) fn signal_names(declaration: &Declaration, indices: &[usize]) -> Vec<String> {
    indices.iter().map(|&i| declaration.signals[i].field.name.to_owned()).collect()
}
