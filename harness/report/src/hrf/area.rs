//! Area: hybrid paper 6.5, from its tables 1 and 2.

use gpurf_energy::hybrid::HybridFile;

use super::{command, errata};
use crate::estimate::Estimate;
use crate::plot::{Plot, Series, Style};
use crate::row::{Claim, Reason, Row};
use crate::sweep::Results;

const STT_RAM: Claim = Claim::share("hybrid paper 6.5", "19.6 %", 0.1955, 0.1965);
const WHOLE: Claim = Claim::share("hybrid paper 6.3 and 6.5", "28.3 %", 0.2825, 0.2835);

const ENTRIES: u32 = 64;
const POWERED: u32 = 16;

/// Area relative to that of the SRAM.
pub fn part(file: HybridFile) -> f64 {
    crate::ratio(file.area(), HybridFile::SRAM.area())
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let row = |claim: Claim, metric: &str, file: HybridFile| {
        let row = claim.row(metric, Estimate::number(part(file))).derived("the paper's tables 1 and 2");
        row.because(|_| why(results))
    };
    vec![
        row(STT_RAM, "area of 128 KB of STT-RAM, by that of SRAM", HybridFile::stt_ram(0)),
        row(
            WHOLE,
            "area of the hybrid file with power gating, by that of SRAM",
            HybridFile::stt_ram(ENTRIES).gated(POWERED),
        ),
    ]
}

/// The area by other readings of the tables.
fn why(results: &Results<'_>) -> Reason {
    let experiments = vec![
        ("with one of the two buffers".to_owned(), Some(part(HybridFile::stt_ram(ENTRIES / 2).gated(POWERED / 2)))),
        ("without power gating".to_owned(), Some(part(HybridFile::stt_ram(ENTRIES)))),
    ];
    Reason { erratum: Some(errata::AREA), ..Reason::found(experiments, command(results, "area")) }
}

pub fn plots(_: &Results<'_>) -> Vec<Plot> {
    let files = [
        ("SRAM", HybridFile::SRAM),
        ("STT-RAM", HybridFile::stt_ram(0)),
        ("hybrid", HybridFile::stt_ram(ENTRIES)),
        ("gated", HybridFile::stt_ram(ENTRIES).gated(POWERED)),
    ];
    let area = Series { name: "area".into(), values: files.iter().map(|(_, file)| part(*file)).collect() };
    vec![Plot {
        title: "Area by that of SRAM (6.5)".into(),
        x: String::new(),
        y: "ratio".into(),
        places: files.iter().map(|(name, _)| (*name).to_owned()).collect(),
        series: vec![area],
        style: Style::Bars,
        band: Some([0.2825, 0.2835]),
    }]
}
