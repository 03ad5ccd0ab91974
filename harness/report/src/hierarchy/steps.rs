//! The optimisations added one by one, and restricted encodings: hierarchy thesis 6.5.4 and 6.5.5, figures 6.14 and 6.18.

use gpurf_compiler::hierarchy::{Encoding, HierarchyOptions};
use gpurf_energy::{Chip, Encoding as InstructionBits};

use super::{ENTRIES, SIZE, SIZES, basic, less, lines, more, normalised, split, unknown};
use crate::estimate::Estimate;
use crate::plot::Plot;
use crate::row::{Claim, Row, mean};
use crate::sweep::{Results, SweepPlan};

const FIGURE: &str = "hierarchy thesis 6.5.4, figure 6.14";
const FORWARD: Claim = Claim::share(FIGURE, "roughly 2 %: 1.5-2.5 %", 0.015, 0.025);
const OPERANDS: Claim = Claim::share(FIGURE, "roughly 3 %: 2.5-3.5 %", 0.025, 0.035);
const PARTIAL: Claim = Claim::share(FIGURE, "just under 2 %: 1.5-2 %", 0.015, 0.02);
const TOGETHER: Claim = Claim::share(FIGURE, "6.6 %", 0.0655, 0.0665);
const EVERY_SIZE: Claim = Claim::share(FIGURE, "each reduces energy for each capacity", 0.0, 1.0).sign();
const END_BIT: Claim = Claim::share("hierarchy thesis 6.5.5", "at most 0.3 %", 0.0, 0.0035);
const ALL_BITS: Claim = Claim::none("hierarchy thesis 6.5.5: \"a slight increase\"");
const NET: Claim = Claim::share("hierarchy thesis 6.5.4, 6.5.5", "a net saving: above 0", 0.0, 0.058).sign();
const SINGLE: Claim = Claim::share("hierarchy thesis 6.5.5, figure 6.18", "7 %", 0.065, 0.075);
const LRF_MRF: Claim = Claim::share("hierarchy thesis 6.5.5, figure 6.18", "2 %", 0.015, 0.025);

/// The designs without the optimisations, and with the optimisations added one by one in the thesis's order.
const STEPS: [fn(u32) -> HierarchyOptions; 4] = [
    |entries| basic(split(entries)),
    |entries| HierarchyOptions { forward_branches: true, ..basic(split(entries)) },
    |entries| HierarchyOptions { partial_ranges: false, ..split(entries) },
    split,
];

fn single_level(entries: u32) -> HierarchyOptions {
    HierarchyOptions { encoding: Encoding::SingleLevel, ..split(entries) }
}

fn lrf_mrf(entries: u32) -> HierarchyOptions {
    HierarchyOptions { encoding: Encoding::LrfMrfOnly, ..split(entries) }
}

pub fn plan(plan: &mut SweepPlan) {
    for entries in SIZES {
        STEPS.into_iter().chain([single_level as fn(u32) -> _, lrf_mrf]).for_each(|of| plan.levels(of(entries)));
    }
}

/// Instruction bits that ORF and LRF need here (docs/isa.md, "Overhead"): strand end, deschedule, 15 for sources, 5 for the result. The thesis has
/// levels in the names of registers, which need no additional bits.
const BITS: u32 = 22;

/// The power that instruction bits cost, as a part of the chip's dynamic power.
fn bits(claim: Claim, what: &str, bits: u32, encoding: InstructionBits) -> Row {
    let cost = Estimate::number(encoding.overhead(bits));
    claim.row(format!("dynamic power of the chip for {what}"), cost).derived("bits alone")
}

/// The part of the chip's saving that remains after subtracting the power of the bits.
fn net(results: &Results<'_>, words: &str, encoding: InstructionBits) -> Option<Row> {
    let saved = Estimate::mean(super::saved(results, &split(ENTRIES))?);
    let net = saved.scaled(Chip::PAPERS.saving(1.0).of_chip, -encoding.overhead(BITS));
    let metric = format!("dynamic power of the chip saved, 22 bits of {words} paid for, split LRF, {SIZE}");
    Some(NET.row(metric, net).because(|_| unknown(results, "steps")))
}

/// By what fraction the energy of one design is less than that of another.
fn gain(results: &Results<'_>, of: HierarchyOptions, than: HierarchyOptions) -> Option<Estimate> {
    Some(less(&normalised(results, &of)?, &normalised(results, &than)?))
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let step = |claim: Claim, metric: &str, from: usize, to: usize| {
        let gain = gain(results, STEPS[to](ENTRIES), STEPS[from](ENTRIES))?;
        let row = claim.row(format!("less energy {metric}, split LRF, {SIZE}"), gain);
        Some(row.because(|_| unknown(results, "steps")))
    };
    let restricted = |claim: Claim, metric: &str, of: fn(u32) -> HierarchyOptions| {
        let more = more(&normalised(results, &of(ENTRIES))?, &normalised(results, &split(ENTRIES))?);
        let row = claim.row(format!("more energy if {metric}, split LRF, {SIZE}"), more);
        Some(row.because(|_| unknown(results, "steps")))
    };
    let rows = [
        step(FORWARD, "with values across forward branches", 0, 1),
        step(OPERANDS, "with read operands too", 1, 2),
        step(PARTIAL, "with partial ranges too", 2, 3),
        step(TOGETHER, "with all three optimisations", 0, 3),
        every_size(results),
        Some(bits(END_BIT, "a bit for the end of a strand", 1, InstructionBits::THESIS)),
        Some(bits(
            ALL_BITS,
            "the 22 bits that ORF and LRF have here, instructions of 32 bits",
            BITS,
            InstructionBits::THESIS,
        )),
        Some(bits(
            ALL_BITS,
            "the 22 bits that ORF and LRF have here, instructions of 128 bits",
            BITS,
            InstructionBits::MACHINE,
        )),
        net(results, "32 bits", InstructionBits::THESIS),
        net(results, "128 bits", InstructionBits::MACHINE),
        restricted(SINGLE, "a result goes to one level", single_level),
        restricted(LRF_MRF, "a result goes to LRF and MRF, or to one level", lrf_mrf),
    ];
    rows.into_iter().flatten().collect()
}

/// The least gain of a step at any size.
fn every_size(results: &Results<'_>) -> Option<Row> {
    let mut least: Option<Estimate> = None;
    for entries in SIZES {
        for step in 1..STEPS.len() {
            let gain = gain(results, STEPS[step](entries), STEPS[step - 1](entries))?;
            if least.as_ref().is_none_or(|least| gain.value < least.value) {
                least = Some(gain);
            }
        }
    }
    let Estimate { value, per_kernel, .. } = least?;
    let metric = "less energy by an optimisation, the least of all sizes and optimisations, split LRF";
    Some(EVERY_SIZE.row(metric, Estimate::extreme(value, per_kernel)).because(|_| unknown(results, "steps")))
}

pub fn plots(results: &Results<'_>) -> Vec<Plot> {
    let at = |of: fn(u32) -> HierarchyOptions| {
        move |entries: u32| normalised(results, &of(entries)).map(|energy| mean(&energy))
    };
    let [none, forward, operands, all] = STEPS.map(at);
    let (sizes, ratio) = (("entries", &SIZES[..]), "ratio, mean");
    let plots = [
        lines(
            "Energy with optimisations, split LRF, by that of the MRF alone (figure 6.14)",
            sizes,
            ratio,
            &[
                ("none", &none),
                ("forward branches", &forward),
                ("read operands too", &operands),
                ("partial ranges too", &all),
            ],
            None,
        ),
        lines(
            "Energy with restricted encodings, split LRF, by that of the MRF alone (figure 6.18)",
            sizes,
            ratio,
            &[("two levels", &at(split)), ("one level", &at(single_level)), ("LRF and MRF, or one", &at(lrf_mrf))],
            None,
        ),
    ];
    plots.into_iter().flatten().collect()
}
