//! The energy of a run on any machine, by the papers' models (`docs/compare.md`).
//!
//! Each model prices only the machines that its tables cover: the hierarchy thesis's tables have no STT-RAM, the hybrid paper's have no level above
//! the banks. So a run has one [`Price`] for each model that covers its register file, and two runs can be compared in the models that both have.

use gpurf_blocks::config::Config;
use gpurf_blocks::designs::Organisation;
use gpurf_energy::storage::{Core, SmEnergy};
use gpurf_energy::{Energies, LeakingEnergy, Level, Part, Traffic, sram_energy};

use crate::energies::EnergyFile;
use crate::sweep::Measured;
use crate::unified;

/// How a design's register file is priced.
#[derive(Clone, Copy)]
pub struct Prices {
    /// Entries of each active warp in the level above the main register file; 0 if there is no such level.
    pub entries: fn(&Config) -> usize,
    /// Accesses by level, for the hierarchy thesis's tables; `None` if the tables do not cover the design's storage.
    pub traffic: fn(&Measured) -> Option<Traffic>,
    /// Energy including leakage by the hybrid paper's tables; `None` if the tables do not cover all levels of the design.
    pub leaking: fn(&Config, &Measured) -> Option<LeakingEnergy>,
}

impl Prices {
    /// Prices of a register file whose accesses all go to the banks of the main register file.
    pub const BANKS: Self =
        Self { entries: |_| 0, traffic: |run| Some(banks(run)), leaking: |_, run| Some(leaking_banks(run)) };
}

/// Accesses of the main register file alone.
fn banks(run: &Measured) -> Traffic {
    let (private_reads, private_writes) = (run.event("read_groups"), run.event("write_groups"));
    // All units are at 1 mm, so the split between private and shared accesses makes no difference.
    Traffic { mrf: Level { private_reads, private_writes, ..Level::default() }, ..Traffic::default() }
}

/// Energy including leakage of the same accesses in a file of SRAM.
fn leaking_banks(run: &Measured) -> LeakingEnergy {
    sram_energy(run.cycles, run.event("read_groups"), run.event("write_groups"))
}

/// The energy of a run by one model.
#[derive(Clone, PartialEq, Debug)]
pub struct Price {
    /// Key of the model in JSON.
    pub key: &'static str,
    /// What the energy covers, in words.
    pub words: &'static str,
    /// Energy in pJ, by part; the first entry is the total.
    pub parts: Vec<(&'static str, f64)>,
}

/// The energy of a run, by each model that covers its machine. `reference` is the run to which an SM's dynamic power is fitted ([`Core::thesis`]):
/// the same kernel on the machine that others are compared with. `file` may replace numbers of the first model, which prices accesses and wires of
/// the register file.
pub fn prices(config: &Config, run: &Measured, reference: &Measured, file: &EnergyFile) -> Vec<Price> {
    let of_design = crate::prices_of(Organisation::of(config).design().name);
    let traffic = (of_design.traffic)(run);
    let sm = traffic.is_some().then(|| of_sm(config, run, reference));
    let levels = traffic.map(|traffic| by_level(&energies_of(config, (of_design.entries)(config), file), &traffic));
    // The table has the leakage of one size of file.
    let has_size = config.mrf.kilobytes == gpurf_energy::LEAKING_KILOBYTES;
    let leaking = (of_design.leaking)(config, run).filter(|_| has_size).map(with_leakage);
    levels.into_iter().chain(sm).chain(leaking).collect()
}

/// The energies of a machine with `entries` entries above the main register file: the thesis's, where the file does not replace them.
pub(crate) fn energies_of(config: &Config, entries: usize, file: &EnergyFile) -> Energies {
    // Without a level above the MRF there are no accesses to price there, so any number of entries will do.
    let mut energies = Energies::thesis(entries.max(1) as u32, config.sm.active_warps.max(1) as u32);
    file.replace_in(&mut energies);
    energies
}

/// Accesses and wires of the register file: hierarchy thesis, tables 4.5 and 4.6.
fn by_level(energies: &Energies, traffic: &Traffic) -> Price {
    let energy = energies.of(traffic);
    let all = |part: Part| part.access + part.wire;
    let parts = vec![
        ("total", energy.total()),
        ("mrf", all(energy.mrf)),
        ("upper", all(energy.upper)),
        ("lrf", all(energy.lrf)),
    ];
    Price { key: "register_file", words: "register file", parts }
}

/// The register file in the hybrid paper's memories, including leakage (table 1).
fn with_leakage(energy: LeakingEnergy) -> Price {
    let LeakingEnergy { dynamic, leakage } = energy;
    let parts = vec![("total", dynamic + leakage), ("dynamic", dynamic), ("leakage", leakage)];
    Price { key: "leaking_file", words: "register file with leakage", parts }
}

/// The SM and its DRAM: hierarchy thesis, chapter 7.
fn of_sm(config: &Config, run: &Measured, reference: &Measured) -> Price {
    let storage = unified::storage(config);
    let core = Core::thesis(reference.cycles, reference.event("issue"));
    let energy = SmEnergy::of(storage, core, &unified::usual_activity(run, storage));
    let parts = vec![
        ("total", energy.total()),
        ("core", energy.core_dynamic),
        ("leakage", energy.core_leakage + energy.sram_leakage),
        ("registers", energy.registers),
        ("scratchpad", energy.scratchpad),
        ("cache", energy.cache),
        ("dram", energy.dram),
    ];
    Price { key: "sm", words: "SM and DRAM", parts }
}

#[cfg(test)]
mod tests {
    use gpurf_blocks::config::presets;

    use super::*;

    fn run() -> Measured {
        let events = [("issue", 500), ("read_groups", 800), ("write_groups", 400), ("memory_read_bytes", 1280)];
        Measured::new(1000, events)
    }

    #[test]
    fn a_price_is_the_sum_of_its_parts_and_every_machine_has_one() {
        for preset in presets() {
            let prices = prices(&preset.config, &run(), &run(), &EnergyFile::paper());
            assert!(!prices.is_empty(), "{}", preset.name);
            for Price { key, parts, .. } in prices {
                let (whole, rest) = (parts[0].1, parts[1..].iter().map(|(_, part)| part).sum::<f64>());
                assert!((whole - rest).abs() <= 1e-9 * whole && whole > 0.0, "{}: {key} {parts:?}", preset.name);
            }
        }
    }

    #[test]
    fn a_file_of_another_size_has_no_leakage_in_the_table() {
        let mut config = gpurf_blocks::config::preset("baseline").unwrap().config;
        let has = |config: &Config| {
            prices(config, &run(), &run(), &EnergyFile::paper()).iter().any(|price| price.key == "leaking_file")
        };
        assert!(has(&config));
        config.mrf.kilobytes = 512;
        assert!(!has(&config));
    }

    #[test]
    fn banks_cost_what_the_tables_say() {
        let baseline = gpurf_blocks::config::preset("baseline").unwrap().config;
        let [levels, sm, leaking] = &prices(&baseline, &run(), &run(), &EnergyFile::paper())[..] else {
            panic!("three models")
        };
        // A read and a write of the MRF cost 15.6 and 18.6 pJ with their wires.
        let energies = Energies::thesis(1, 1);
        let expected = 800.0 * energies.mrf_read(true) + 400.0 * energies.mrf_write(true);
        assert!((levels.parts[0].1 - expected).abs() < 1e-6, "{levels:?}");
        assert_eq!((levels.parts[2].1, levels.parts[3].1), (0.0, 0.0));
        // 1280 bytes at 320 pJ each.
        assert_eq!(sm.parts[6], ("dram", 1280.0 * 320.0));
        // 248.7 mW for 1000 cycles of 1/700 us.
        let leaked = leaking.parts[2].1;
        assert!((leaked - 248.7e-3 * 1000.0 / 700e6 * 1e12).abs() < 1e-3 * leaked, "{leaked}");
    }
}
