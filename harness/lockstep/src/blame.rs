//! Which block is at fault.
//!
//! In the first cycle in which anything differs, all earlier cycles agreed. So a register, or a net that depends on registers only,
//! that differs accuses the block that holds it: everything it saw before was equal. Where only combinational nets differ,
//! the first block in evaluation order is accused of which an output differs although the inputs that it depends on agree. Where no inner block qualifies,
//! it is the wiring between them: the top itself.

use std::collections::BTreeSet;

use gpurf_blocks::{Declaration, Endpoint, Role, Signal};
use serde::Serialize;

use crate::{Comparator, Difference};

/// The block at fault, and on what evidence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Blame {
    /// Module name, or `environment`.
    pub block: String,
    /// Which instance, where there are several.
    pub instance: Option<usize>,
    /// Signals (indices) of that block that differ.
    #[serde(skip)]
    pub signals: Vec<usize>,
}

impl Blame {
    /// The surroundings, not the block: they did not do the same on both sides although the outputs were equal.
    pub(crate) fn of_environment(inputs: &[usize]) -> Self {
        let mut signals = inputs.to_vec();
        signals.dedup();
        Self { block: "environment".to_owned(), instance: None, signals }
    }
}

impl std::fmt::Display for Blame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.instance {
            Some(instance) => write!(f, "{}[{instance}]", self.block),
            None => f.write_str(&self.block),
        }
    }
}

/// A block of which there may be several: `None` stands for the only one, or for all.
type Instance = Option<usize>;

/// Whether an inner net depends on the registers of the block that drives it only. (An early output of the top may come
/// through several blocks.)
fn is_early(signal: &Signal) -> bool {
    let path = match &signal.field.net {
        gpurf_blocks::Net::At(path) | gpurf_blocks::Net::Each { path, .. } => path,
        gpurf_blocks::Net::Own => signal.field.name,
    };
    signal.role == Role::Probe && (signal.field.early || path.ends_with("_q"))
}

/// The instances of an endpoint that a difference touches.
fn instances(
    declaration: &Declaration,
    end: &Endpoint,
    difference: &Difference,
    model: &[u8],
    rtl: &[u8],
) -> Vec<Instance> {
    let field = &declaration.signals[difference.signal].field;
    if end.per == 0 {
        return vec![None];
    }
    if field.count > 1 || field.array {
        return vec![Some(difference.element / end.per)];
    }
    let differing = field.value(model, 0) ^ field.value(rtl, 0);
    let set: BTreeSet<usize> = (0..64).filter(|bit| differing >> bit & 1 == 1).map(|bit| bit / end.per).collect();
    set.into_iter().map(Some).collect()
}

/// Finds the block at fault in the first differing cycle.
pub fn find(comparator: &Comparator, model: &[u8], rtl: &[u8]) -> Blame {
    let declaration = comparator.declaration();
    let differences = comparator.differences(model, rtl);
    let mut early: Vec<(&str, Instance, usize)> = Vec::new();
    let mut driven: Vec<(&str, Instance, usize)> = Vec::new();
    let mut read: Vec<(&Endpoint, Instance)> = Vec::new();
    for difference in &differences {
        let signal = &declaration.signals[difference.signal];
        if let Some(from) = &signal.field.from {
            for instance in instances(declaration, from, difference, model, rtl) {
                let entry = (from.block, instance, difference.signal);
                if is_early(signal) {
                    early.push(entry);
                }
                driven.push(entry);
            }
        }
        for to in &signal.field.to {
            read.extend(instances(declaration, to, difference, model, rtl).into_iter().map(|i| (to, i)));
        }
    }
    let blame = |accused: &[(&str, Instance, usize)], block: &str, instance: Instance| {
        let mut signals: Vec<usize> =
            accused.iter().filter(|(b, i, _)| *b == block && *i == instance).map(|&(_, _, s)| s).collect();
        signals.dedup();
        Blame { block: block.to_owned(), instance, signals }
    };
    for &child in &declaration.children {
        if let Some(&(block, instance, _)) = early.iter().find(|(b, _, _)| *b == child) {
            return blame(&early, block, instance);
        }
    }
    for &child in &declaration.children {
        for &(block, instance, signal) in driven.iter().filter(|(b, _, _)| *b == child) {
            let name = declaration.signals[signal].field.name;
            let inputs_differ = read.iter().any(|&(to, reader)| {
                let same = to.block == block && (instance.is_none() || reader.is_none() || reader == instance);
                same && to.reaches.is_none_or(|reached| reached.iter().any(|net| name.starts_with(net)))
            });
            if !inputs_differ {
                return blame(&driven, block, instance);
            }
        }
    }
    let mut signals: Vec<usize> = differences.iter().map(|d| d.signal).collect();
    signals.dedup();
    Blame { block: declaration.block.to_owned(), instance: None, signals }
}
