//! Finds the block at fault.
//!
//! Before the first differing cycle all cycles agreed. So the fault begins at a net that differs although all its sources within the cycle are equal:
//! a register, or a net with equal sources. The instance that drives this net is blamed. Sources and driving instances of nets
//! are read from the RTL ([`Wiring`]).

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use gpurf_blocks::{Field, Signal, places, registry};
use serde::Serialize;
use verilated::{Net, Part, Wiring};

use crate::{Comparator, Difference};

/// The block at fault, and the evidence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Blame {
    /// Module name, or `environment`.
    pub block: String,
    /// The instance, if there are several: its index among the instances of the module in the enclosing block, in the order of the RTL.
    pub instance: Option<usize>,
    /// Signals (indices) of that block that differ.
    #[serde(skip)]
    pub signals: Vec<usize>,
    /// Why the whole block under test is blamed: the reason for which its wiring cannot be read.
    #[serde(skip)]
    pub unknown: Option<String>,
}

impl Blame {
    /// Blames the environment, not the block: the two environments gave different inputs although the outputs were equal.
    pub(crate) fn of_environment(inputs: &[usize]) -> Self {
        let mut signals = inputs.to_vec();
        signals.dedup();
        Self { block: "environment".to_owned(), signals, ..Self::default() }
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

/// Whether a module is a block without blocks inside. Modules that the project does not know count as part of the enclosing block.
fn is_leaf(module: &str) -> bool {
    registry::find(module).is_some_and(|entry| entry.children.is_empty() && !entry.designs)
}

/// Location of an element of a signal in the RTL: its path, and the net with all its bits. `None`: the RTL has no such variable.
fn place(wiring: &Wiring, field: &Field, element: usize) -> (String, Option<Net>) {
    let mut paths = field.paths();
    let each = field.count / paths.len();
    let path = paths.swap_remove(element / each);
    let is_array = field.array && !matches!(field.net, gpurf_blocks::Net::Each { per: 1, .. });
    let part = Part { elements: is_array.then_some(((element % each) as u32, 1)), bits: None };
    let net = wiring.variable(&path).map(|variable| Net { variable, part });
    (path, net)
}

/// The instance that drives the first element of a signal, or contains it as a register.
pub(crate) fn driver(wiring: &Wiring, field: &Field) -> usize {
    let (path, net) = place(wiring, field, 0);
    net.map_or_else(|| wiring.holder(&path, &is_leaf), |net| wiring.driver(net, &is_leaf, &|_| false))
}

/// Finds the block at fault in the first differing cycle.
pub fn find(comparator: &Comparator, model: &[u8], rtl: &[u8]) -> Blame {
    find_by(comparator, comparator.wiring(), model, rtl)
}

/// The same with a given wiring, or with the reason why there is none.
pub fn find_by(comparator: &Comparator, wiring: Result<&Wiring, &str>, model: &[u8], rtl: &[u8]) -> Blame {
    let differences = comparator.differences(model, rtl);
    match wiring {
        Ok(wiring) => {
            let search = Search::new(comparator, wiring);
            let mut nets = search.differing(&differences, model, rtl);
            search.trace(&mut nets);
            search.accuse(&nets)
        }
        Err(unknown) => {
            let mut signals: Vec<usize> = differences.iter().map(|d| d.signal).collect();
            signals.dedup();
            let block = comparator.declaration().block.to_owned();
            Blame { block, instance: None, signals, unknown: Some(unknown.to_owned()) }
        }
    }
}

/// Whether an element differs in any of these bits.
fn differ(field: &Field, model: &[u8], rtl: &[u8], element: usize, mut bits: Range<u32>) -> bool {
    let [model, rtl] = [model, rtl].map(|record| field.bytes(record, element));
    bits.any(|bit| {
        let byte = (bit / u8::BITS) as usize;
        (model[byte] ^ rtl[byte]) >> (bit % u8::BITS) & 1 == 1
    })
}

/// A differing net, and the signal that it belongs to.
struct Differing {
    signal: usize,
    /// `None`: the RTL has no such variable.
    net: Option<Net>,
    /// The instance that drives this net from compared nets.
    driver: usize,
    /// The net depends on registers only.
    is_early: bool,
    /// Differing nets on which this net depends, with no equal net between them.
    behind: Vec<usize>,
}

struct Search<'a> {
    signals: &'a [Signal],
    wiring: &'a Wiring,
    /// Variables that are compared.
    compared: HashSet<usize>,
    /// Inputs of the block under test.
    inputs: HashSet<usize>,
}

impl<'a> Search<'a> {
    fn new(comparator: &'a Comparator, wiring: &'a Wiring) -> Self {
        let signals = &comparator.declaration().signals;
        let variables = |is_one: &dyn Fn(usize) -> bool| {
            let paths =
                (0..signals.len()).filter(|signal| is_one(*signal)).flat_map(|signal| signals[signal].field.paths());
            paths.filter_map(|path| wiring.variable(&path)).collect()
        };
        let compared = variables(&|signal| comparator.is_compared(signal));
        let inputs = variables(&|signal| comparator.is_input(signal));
        Self { signals, wiring, compared, inputs }
    }

    /// The differing nets. A narrow vector is split into bits, a wide packed struct into fields.
    fn differing(&self, differences: &[Difference], model: &[u8], rtl: &[u8]) -> Vec<Differing> {
        let mut found = Vec::new();
        for &Difference { signal, element } in differences {
            let field = &self.signals[signal].field;
            let (path, net) = place(self.wiring, field, element);
            let of = |net, driver| Differing { signal, net, driver, is_early: true, behind: Vec::new() };
            let Some(net) = net else {
                found.push(of(None, self.wiring.holder(&path, &is_leaf)));
                continue;
            };
            let bits: Vec<_> = if let (true, Some(layout)) = (field.is_wide(), field.decode.layout(element)) {
                let differs = |&(_, low, bits): &(_, u32, u32)| differ(field, model, rtl, element, low..low + bits);
                places(layout).filter(differs).map(|(_, low, bits)| Some((low, bits))).collect()
            } else if field.is_wide() {
                vec![None]
            } else {
                let bits = field.value(model, element) ^ field.value(rtl, element);
                (0..u64::BITS).filter(|bit| bits >> bit & 1 == 1).map(|bit| Some((bit, 1))).collect()
            };
            for bits in bits {
                let net = Net { part: Part { bits, ..net.part }, ..net };
                let driver = self.wiring.driver(net, &is_leaf, &|variable| self.compared.contains(&variable));
                found.push(of(Some(net), driver));
            }
        }
        found
    }

    /// Traces each net back to compared nets.
    fn trace(&self, nets: &mut [Differing]) {
        let mut at: HashMap<usize, Vec<(usize, Net)>> = HashMap::new();
        for (index, net) in nets.iter().enumerate().filter_map(|(index, differing)| Some((index, differing.net?))) {
            at.entry(net.variable).or_default().push((index, net));
        }
        for (index, differing) in nets.iter_mut().enumerate() {
            let Some(net) = differing.net else { continue };
            self.wiring.visit_sources(net, &mut |source| {
                let here = at.get(&source.variable).into_iter().flatten();
                let behind = here.filter(|(other, net)| *other != index && net.part.overlaps(&source.part));
                differing.behind.extend(behind.map(|(other, _)| *other));
                let is_compared = self.compared.contains(&source.variable);
                differing.is_early &= !self.inputs.contains(&source.variable);
                differing.is_early &= !is_compared || self.wiring.is_register(source.variable);
                !is_compared
            });
        }
    }

    /// The instance that drives a net which no other differing net explains. A block without blocks inside is preferred to its wiring; then a net that
    /// depends on registers only is preferred to others.
    fn accuse(&self, nets: &[Differing]) -> Blame {
        let origins = origins(nets);
        let origins = || origins.iter().map(|&net| &nets[net]);
        let wires = |net: &Differing| !is_leaf(&self.wiring.instances()[net.driver].module);
        let first = origins().min_by_key(|net| (wires(net), !net.is_early, net.driver));
        let driver = first.map_or(0, |net| net.driver);
        let mut signals: Vec<usize> = origins().filter(|net| net.driver == driver).map(|net| net.signal).collect();
        signals.dedup();
        let instance = &self.wiring.instances()[driver];
        Blame { block: instance.module.clone(), instance: instance.place, signals, unknown: None }
    }
}

/// The nets that no other differing net explains. In a combinational loop each net may be the origin.
fn origins(nets: &[Differing]) -> Vec<usize> {
    let all = || 0..nets.len();
    let first: Vec<usize> = all().filter(|&net| nets[net].behind.is_empty()).collect();
    if !first.is_empty() {
        return first;
    }
    let reached: Vec<HashSet<usize>> = all().map(|net| reached(nets, net)).collect();
    all().filter(|net| reached[*net].iter().all(|&other| reached[other].contains(net))).collect()
}

/// All differing nets on which one net depends.
fn reached(nets: &[Differing], from: usize) -> HashSet<usize> {
    let (mut found, mut open) = (HashSet::new(), vec![from]);
    while let Some(net) = open.pop() {
        open.extend(nets[net].behind.iter().filter(|behind| found.insert(**behind)));
    }
    found
}
