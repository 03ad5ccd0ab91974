//! Checks that figures which the papers derive from their tables follow from ours.

use gpurf_energy::*;

/// Whether a number rounds to a printed one with this many decimals.
fn prints(value: f64, printed: f64, decimals: i32) -> bool {
    (value - printed).abs() <= 0.5 * 10f64.powi(-decimals) + 1e-9
}

/// Reads per write that give the RFC paper's 58 %: 1.70 to 1.90 round to it.
const READS: f64 = 1.8;

/// Operands and results in proportion: a thousand instructions' worth.
fn traffic(mrf_reads: f64, mrf_writes: f64, write_backs: f64) -> Traffic {
    let count = |part: f64| (part * 1000.0).round() as u64;
    let mut traffic = Traffic::default();
    traffic.mrf.private_reads = count(mrf_reads);
    traffic.mrf.private_writes = count(mrf_writes);
    traffic.mrf.moving_writes = count(write_backs);
    traffic.upper.private_reads = count(READS - mrf_reads);
    traffic.upper.private_writes = count(1.0 - mrf_writes);
    traffic.upper.moving_reads = count(write_backs);
    traffic
}

fn normalised(energies: &Energies, traffic: &Traffic) -> f64 {
    energies.of(traffic).total() / energies.of(&traffic.flat()).total()
}

fn at(mut energies: Energies, mrf: f64, upper: f64) -> Energies {
    energies.mrf_distance = Distance { private: mrf, shared: mrf };
    energies.upper_distance = Distance { private: upper, shared: upper };
    energies
}

#[test]
fn the_tables_agree_where_they_should() {
    let [paper, thesis] = [Table::RfcPaper, Table::Thesis].map(|table| table.access(6, 8));
    assert_eq!((paper.read, paper.write), (2.2, 6.7));
    assert_eq!((thesis.read, thesis.write), (2.0, 6.7));
    for entries in [4, 8] {
        assert_eq!(Table::RfcPaper.access(entries, 8), Table::Thesis.access(entries, 8));
    }
    // Equal capacities have equal energies and areas in table 2, so that only the capacity counts.
    for a in RFC_PAPER {
        for b in RFC_PAPER.iter().filter(|b| a.entries * a.active_warps == b.entries * b.active_warps) {
            assert_eq!((a.area, a.access), (b.area, b.access));
        }
    }
    for row in RFC_PAPER {
        assert_eq!(Table::RfcPaper.access(row.entries, row.active_warps), row.access);
    }
    for row in THESIS {
        assert_eq!(Table::Thesis.access(row.entries, row.active_warps), row.access);
    }
}

#[test]
fn entries_that_no_table_has() {
    // Between 4 and 6 entries for 8 warps lie 36 words, which the paper has as 6 entries for 6 warps.
    let five = Table::RfcPaper.access(5, 8);
    assert!(
        (five.read - (1.7 + 0.5 / 12.0 * 4.0)).abs() < 1e-9 && (five.write - (5.4 + 1.3 / 12.0 * 4.0)).abs() < 1e-9
    );
    // Outside the table energies are proportional to capacity.
    let one = Table::RfcPaper.access(1, 8);
    assert!((one.read - 0.6).abs() < 1e-9 && (one.write - 1.9).abs() < 1e-9);
    let thirteen = Table::RfcPaper.access(13, 8);
    assert!((thirteen.read - 3.4 * 13.0 / 8.0).abs() < 1e-9 && (thirteen.write - 10.9 * 13.0 / 8.0).abs() < 1e-9);
    for table in [Table::RfcPaper, Table::Thesis] {
        let writes: Vec<f64> = (8..=13).map(|entries| table.access(entries, 8).write).collect();
        assert!(writes.windows(2).all(|pair| pair[0] < pair[1]), "{writes:?}");
    }
}

#[test]
fn wires_of_table_3() {
    assert!(prints(wire_energy(300.0, 0.9), WIRE, 1));
    // Hierarchy thesis 4.4: five times less for the ORF, twenty times less for the LRF.
    let energies = Energies::thesis(3, 8);
    assert!((energies.mrf_distance.private / energies.upper_distance.private - 5.0).abs() < 1e-9);
    assert!((energies.mrf_distance.private / energies.lrf_distance - 20.0).abs() < 1e-9);
}

#[test]
fn upper_levels_are_four_to_eleven_times_cheaper_to_read() {
    // Hierarchy thesis 4.4, of the structures that it builds: LRF, and ORF up to 5 or 6 entries.
    assert!(prints(MRF.read / LRF.read, 11.0, 0));
    assert!(prints(MRF.read / Table::Thesis.access(6, 8).read, 4.0, 0));
}

#[test]
fn every_access_to_the_upper_level_would_save_58_percent() {
    // RFC paper 5.4, without wires.
    let energies = at(Energies::rfc_paper(6, 8), 0.0, 0.0);
    let saved = |reads: f64| {
        let per_write = |access: Access| access.read * reads + access.write;
        1.0 - per_write(energies.upper) / per_write(energies.mrf)
    };
    assert!(prints(1.0 - normalised(&energies, &traffic(0.0, 0.0, 0.0)), 0.58, 2));
    assert!(prints(saved(1.70), 0.58, 2) && prints(saved(1.90), 0.58, 2));
    assert!(!prints(saved(1.6), 0.58, 2) && !prints(saved(2.0), 0.58, 2));
}

#[test]
fn three_of_the_four_rows_of_table_5() {
    // Columns compute and shaders. Of compute, half of the 1.8 reads and 59 % of the writes are avoided, as the paper says. What it does not print is
    // set here: 22 % of the results bypass the cache. It prints no means for shaders.
    let energies = Energies::rfc_paper(6, 8);
    let columns = [(traffic(0.9, 0.22, 0.19), [0.76, 0.87, 0.65]), (traffic(0.85, 0.196, 0.179), [0.74, 0.86, 0.63])];
    for (traffic, printed) in columns {
        let rows = [(0.0, 0.0), (1.0, 1.0), (1.0, 0.2)];
        for ((mrf, upper), printed) in rows.into_iter().zip(printed) {
            let got = normalised(&at(energies, mrf, upper), &traffic);
            assert!(prints(got, printed, 2), "{mrf} mm, {upper} mm: {got}");
        }
    }
    // The row of 0 mm, printed as 0.63 and 0.60, cannot follow from energies that are linear in distance (docs/errata.md, 1).
    let [compute, shaders] = columns.map(|(traffic, _)| normalised(&at(energies, 1.0, 0.0), &traffic));
    assert!(prints(compute, 0.60, 2) && prints(shaders, 0.57, 2), "{compute} {shaders}");
}

#[test]
fn energy_is_split_by_level_and_by_kind() {
    let mut traffic = Traffic::default();
    traffic.mrf.shared_reads = 10;
    traffic.upper.private_reads = 20;
    traffic.upper.shared_writes = 5;
    traffic.upper.moving_writes = 3;
    traffic.lrf.reads = 7;
    traffic.lrf.moving_reads = 2;
    let energy = Energies::thesis(3, 8).of(&traffic);
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
    close(energy.mrf.access, 80.0);
    close(energy.mrf.wire, 10.0 * 4.0 * 1.9);
    close(energy.upper.access, 20.0 * 1.2 + 8.0 * 4.4);
    close(energy.upper.wire, 20.0 * 7.6 * 0.2 + 5.0 * 7.6 * 0.4);
    close(energy.lrf.access, 9.0 * 0.7);
    close(energy.lrf.wire, 7.0 * 7.6 * 0.05);
    close(energy.total(), energy.access() + energy.wire());
    let flat = traffic.flat();
    assert_eq!((flat.mrf.reads(), flat.mrf.writes(), flat.upper.reads()), (37, 5, 0));
}

#[test]
fn the_chip() {
    // RFC paper 5.5, hierarchy thesis 4.4.1 and 5.4.6.
    let chip = Chip::PAPERS;
    assert!(prints(chip.dynamic(), 87.0, 0) && prints(chip.sm(), 3.8, 1));
    assert!(prints(chip.sm() * chip.register_file, 0.6, 1));
    let saving = chip.saving(0.36);
    assert!(prints(saving.sm_watts, 0.2, 1) && prints(saving.chip_watts, 3.3, 1));
    assert!(prints(saving.of_sm, 0.054, 3) && prints(saving.of_chip, 0.038, 3));
    // Hierarchy thesis 6.5.4 prints 8.3 % and 5.8 % for a saving of 54 %; the model gives 8.1 % and 5.7 %, and 8.3 % at 55 %.
    let saving = chip.saving(0.54);
    assert!(prints(saving.of_sm, 0.081, 3) && prints(saving.of_chip, 0.057, 3));
    assert!(prints(chip.saving(0.55).of_sm, 0.083, 3) && prints(chip.saving(0.55).of_chip, 0.058, 3));
}

#[test]
fn bits_of_the_instruction() {
    assert!(prints(Encoding::THESIS.overhead(1), 0.003, 3));
    // The column of docs/isa.md, in percent.
    for (bits, percent) in [(1, 0.08), (2, 0.16), (4, 0.31), (5, 0.39), (6, 0.47), (8, 0.63), (22, 1.72), (42, 3.28)] {
        let overhead = 100.0 * Encoding::MACHINE.overhead(bits);
        assert!(prints(overhead, percent, 2), "{bits} bits: {overhead}");
    }
}
