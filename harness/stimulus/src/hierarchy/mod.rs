//! Drivers and coverage of the register hierarchy that software manages.

gpurf_blocks::hierarchy_blocks!(stimulus);

mod core;

use std::ops::Range;

use gpurf_blocks::hierarchy::{HierarchyShape, MAX_ORF_ENTRIES, PLACES};
use gpurf_lockstep::Rng;

use crate::Unreached;

/// Top bit of a level.
pub(crate) const UPPER: u8 = 1 << 4;

/// The number in a level, without its top bit.
pub(crate) fn number(level: u8) -> usize {
    usize::from(level & (UPPER - 1))
}

/// Whether the machine has this place.
pub(crate) fn is_there(shape: &HierarchyShape, place: usize) -> bool {
    if place < MAX_ORF_ENTRIES { place < shape.entries } else { place - MAX_ORF_ENTRIES < shape.lrf_banks }
}

/// The place that a level names, if the machine has it.
pub(crate) fn place_of(shape: &HierarchyShape, level: u8) -> Option<usize> {
    number(level).checked_sub(1).filter(|&place| is_there(shape, place))
}

/// The places that the machine has.
pub(crate) fn places(shape: &HierarchyShape) -> impl Iterator<Item = usize> {
    let shape = *shape;
    (0..PLACES).filter(move |&place| is_there(&shape, place))
}

/// Exceptions for inputs with a bit for each place: the bits of those places, among these numbers, that the machine does not have.
pub(crate) fn absent(shape: &HierarchyShape, signals: &[&'static str], numbers: Range<usize>) -> Vec<Unreached> {
    let absent = || numbers.clone().filter(|&place| !is_there(shape, place)).map(|place| place as u32);
    signals
        .iter()
        .flat_map(|signal| {
            absent().map(|bit| Unreached::bits(signal, bit..=bit, "the machine does not have this place"))
        })
        .collect()
}

/// The index of a slot's place in the arrays of `hierarchy_entries`.
pub(crate) fn element(shape: &HierarchyShape, slot: usize, place: usize) -> usize {
    let within = if place < MAX_ORF_ENTRIES { place } else { place - MAX_ORF_ENTRIES + shape.entries };
    shape.places() * slot + within
}

/// One of the elements of a list; `None` if it is empty.
pub(crate) fn one_of<T: Copy>(rng: &mut Rng, list: &[T]) -> Option<T> {
    list.get(rng.below(list.len().max(1) as u64) as usize).copied()
}

/// This design has no rules for inputs of the operand stage.
pub(crate) const STAGE: Option<crate::operands::StageDesign> = None;
