//! Area: hybrid paper 6.5, from its tables 1 and 2.

use gpurf_energy::hybrid::{GATING, HybridFile};

use super::{command, percent};
use crate::plot::{Plot, Series, Style};
use crate::row::{Claim, PerKernel, Row};
use crate::sweep::Results;

const STT_RAM: Claim = Claim::share("hybrid paper 6.5", "19.6 %", 0.1955, 0.1965);
const WHOLE: Claim = Claim::share("hybrid paper 6.3 and 6.5", "28.3 %", 0.2825, 0.2835);

const ENTRIES: u32 = 64;
const POWERED: u32 = 16;

/// Area by that of the SRAM.
pub fn part(file: HybridFile) -> f64 {
    crate::ratio(file.area(), HybridFile::SRAM.area())
}

pub fn rows(results: &Results<'_>) -> Vec<Row> {
    let row = |claim: Claim, metric: &str, file: HybridFile| {
        claim.row(metric, part(file), PerKernel::new()).because(|_| why(results))
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

/// The sum of the tables, and that with one buffer only.
fn why(results: &Results<'_>) -> (String, String) {
    let whole = HybridFile::stt_ram(ENTRIES);
    let stt_ram = part(HybridFile::stt_ram(0));
    let why = format!(
        "a function of tables 1 and 2: {} for the STT-RAM, and {} for two buffers of 64 entries of 38 bits and the register control module, which power gating makes {:.2} times as large. With one of \
         the buffers it would be {}, without gating {}",
        percent(stt_ram),
        percent(part(whole) - stt_ram),
        GATING.area,
        percent(part(HybridFile::stt_ram(ENTRIES / 2).gated(POWERED / 2))),
        percent(part(whole)),
    );
    (why, command(results, "area"))
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
