//! The energy of a run, event by event.

use gpurf_blocks::config::Config;
use gpurf_blocks::designs::Organisation;
use gpurf_energy::{Access, Energies, Traffic};
use serde::Serialize;

use super::file::{BlockEnergies, EnergyFile};
use super::machine::modules;
use crate::energy::energies_of;
use crate::sweep::Measured;

/// The energy of one kind of event in a run.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct EventEnergy {
    /// The level of the register file, or the block.
    pub of: &'static str,
    /// The event.
    pub event: &'static str,
    /// Number of events.
    pub events: u64,
    /// Energy of one event, in pJ.
    pub pj: f64,
    /// Energy of all events, in pJ.
    pub energy: f64,
    /// Fraction of the total energy that is counted.
    pub share: f64,
}

/// The energies of a group of events, with their sum.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Group {
    /// Sum, in pJ.
    pub total: f64,
    /// Event by event.
    pub rows: Vec<EventEnergy>,
}

/// The energy of a run.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ByEvent {
    /// Name of the energies used: `paper`, `rtl` or a file.
    pub energies: String,
    /// How the energies were obtained, in the file's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Energy that the papers price: accesses and wires. `None` if their tables do not cover the machine's register file.
    pub papers: Option<Group>,
    /// Energy that the papers leave out: blocks.
    pub left_out: Group,
    /// Sum of both, in pJ; `None` if the first is unknown.
    pub total: Option<f64>,
    /// Blocks of the machine for which neither the papers nor the file have an energy.
    pub without: Vec<&'static str>,
}

impl Group {
    fn new(rows: Vec<EventEnergy>) -> Self {
        // The sum of nothing is -0.0.
        Self { total: rows.iter().map(|row| row.energy).sum::<f64>() + 0.0, rows }
    }

    fn share_of(&mut self, whole: f64) {
        self.rows.iter_mut().for_each(|row| row.share = crate::ratio(row.energy, whole));
    }
}

/// The energy of a run on a machine.
pub fn by_event(config: &Config, run: &Measured, file: &EnergyFile) -> ByEvent {
    let prices = crate::prices_of(Organisation::of(config).design().name);
    let levels = (prices.traffic)(run)
        .map(|traffic| Group::new(levels(&energies_of(config, (prices.entries)(config), file), &traffic)));
    let there = modules(config);
    let of_block = |module: &&'static str| file.of_block(module).map(|block| rows(block, run));
    let mut left_out = Group::new(there.iter().filter_map(of_block).flatten().collect());
    let whole = levels.as_ref().map_or(0.0, |group| group.total) + left_out.total;
    left_out.share_of(whole);
    let papers = levels.map(|mut group| {
        group.share_of(whole);
        group
    });
    let is_priced = |module: &&&'static str| file.of_block(module).is_some();
    let mut without: Vec<&'static str> = there.iter().filter(|m| !is_priced(m) && has_logic(m)).copied().collect();
    without.sort_unstable();
    ByEvent {
        energies: file.name.clone(),
        note: file.note.clone(),
        total: papers.as_ref().map(|group| group.total + left_out.total),
        papers,
        left_out,
        without,
    }
}

/// Whether a block has logic of its own, and not only RAM or other blocks: the papers already price the RAM of the register file.
fn has_logic(module: &str) -> bool {
    gpurf_sm::find(module).is_some_and(|entry| {
        entry.children.is_empty() && entry.cells.is_empty() && !entry.designs && !entry.path.starts_with("ram/")
    })
}

/// The energies of those events of a block that the machine counts.
fn rows(block: &BlockEnergies, run: &Measured) -> Vec<EventEnergy> {
    let row = |&(event, pj): &(&'static str, f64)| {
        let events = if event == "cycle" { Some(run.cycles) } else { run.events.get(event).copied() };
        Some(counted(block.block, event, events?, pj))
    };
    block.events.iter().filter_map(row).collect()
}

/// Energy of accesses and wires, for each level that is accessed.
fn levels(energies: &Energies, traffic: &Traffic) -> Vec<EventEnergy> {
    let mut rows = Vec::new();
    let mut level = |of, access: Access, [reads, writes]: [u64; 2], wires: [(&'static str, u64, f64); 2]| {
        if reads + writes == 0 {
            return;
        }
        rows.push(counted(of, "read", reads, access.read));
        rows.push(counted(of, "write", writes, access.write));
        let wires = wires.into_iter().filter(|&(_, sent, _)| sent > 0);
        rows.extend(wires.map(|(event, sent, millimetres)| counted(of, event, sent, energies.wire(1, millimetres))));
    };
    for (of, access, counts, way) in [
        ("mrf", energies.mrf, &traffic.mrf, energies.mrf_distance),
        ("upper", energies.upper, &traffic.upper, energies.upper_distance),
    ] {
        let private = counts.private_reads + counts.private_writes;
        let shared = counts.shared_reads + counts.shared_writes;
        let wires = [("wire to ALUs", private, way.private), ("wire to shared units", shared, way.shared)];
        level(of, access, [counts.reads(), counts.writes()], wires);
    }
    let lrf = &traffic.lrf;
    let wires = [("wire to ALUs", lrf.reads + lrf.writes, energies.lrf_distance), ("", 0, 0.0)];
    level("lrf", energies.lrf, [lrf.reads + lrf.moving_reads, lrf.writes], wires);
    rows
}

fn counted(of: &'static str, event: &'static str, events: u64, pj: f64) -> EventEnergy {
    EventEnergy { of, event, events, pj, energy: events as f64 * pj, share: 0.0 }
}
