//! The published tables, and interpolation between their entries.

/// Energy of an access to 128 bits, one register in four lanes, in pJ.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Access {
    /// A read.
    pub read: f64,
    /// A write.
    pub write: f64,
}

/// A row of a table of RFC or ORF.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct UpperRow {
    /// Entries of a thread.
    pub entries: u32,
    /// Active warps.
    pub active_warps: u32,
    /// Area in square micrometres, if the paper prints it.
    pub area: Option<f64>,
    /// Energy for 128 bits.
    pub access: Access,
}

const fn access(read: f64, write: f64) -> Access {
    Access { read, write }
}

const fn row(entries: u32, active_warps: u32, area: Option<f64>, read: f64, write: f64) -> UpperRow {
    UpperRow { entries, active_warps, area, access: access(read, write) }
}

/// RFC paper, table 2: 3 read ports and 1 write port, 40 nm, 1 GHz, 0.9 V.
pub const RFC_PAPER: [UpperRow; 9] = [
    row(4, 4, Some(5100.0), 1.2, 3.8),
    row(4, 6, Some(7400.0), 1.2, 4.4),
    row(4, 8, Some(9600.0), 1.9, 6.1),
    row(6, 4, Some(7400.0), 1.2, 4.4),
    row(6, 6, Some(10800.0), 1.7, 5.4),
    row(6, 8, Some(14300.0), 2.2, 6.7),
    row(8, 4, Some(9600.0), 1.9, 6.1),
    row(8, 6, Some(14300.0), 2.2, 6.7),
    row(8, 8, Some(18800.0), 3.4, 10.9),
];

/// Hierarchy thesis, table 4.5: ORF and RFC for eight active warps (4.4).
pub const THESIS: [UpperRow; 8] = [
    row(1, 8, None, 0.7, 2.0),
    row(2, 8, None, 1.2, 3.8),
    row(3, 8, None, 1.2, 4.4),
    row(4, 8, None, 1.9, 6.1),
    row(5, 8, None, 2.0, 6.0),
    row(6, 8, None, 2.0, 6.7),
    row(7, 8, None, 2.4, 7.7),
    row(8, 8, None, 3.4, 10.9),
];

/// The MRF: a bank of 4 KB with one read and one write port (RFC paper, table 3; hierarchy thesis, table 4.5).
pub const MRF: Access = access(8.0, 11.0);

/// The LRF of one entry (hierarchy thesis, table 4.5).
pub const LRF: Access = access(0.7, 2.0);

/// Area of a bank of the MRF in square micrometres (RFC paper, table 3).
pub const BANK_AREA: f64 = 38_000.0;

/// Energy of 32 bits over one millimetre, in pJ (RFC paper, table 3; hierarchy thesis, table 4.6).
pub const WIRE: f64 = 1.9;

/// The same energy, computed from wire capacitance in fF/mm and voltage. On average one bit in two changes, and half of the changes charge the wire.
pub fn wire_energy(capacitance: f64, volts: f64) -> f64 {
    let charged = 0.5 * 0.5;
    32.0 * charged * capacitance * volts * volts / 1000.0
}

/// Energies at one capacity.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point {
    /// Words per lane: entries of a thread times active warps.
    pub words: u32,
    /// Energy for 128 bits.
    pub access: Access,
}

/// Which of the published tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Table {
    /// [`RFC_PAPER`].
    RfcPaper,
    /// [`THESIS`].
    Thesis,
}

impl Table {
    /// Its entries by capacity, ascending, each capacity once.
    pub fn points(self) -> Vec<Point> {
        let rows: &[UpperRow] = match self {
            Self::RfcPaper => &RFC_PAPER,
            Self::Thesis => &THESIS,
        };
        let point = |row: &UpperRow| Point { words: row.entries * row.active_warps, access: row.access };
        let mut points: Vec<Point> = rows.iter().map(point).collect();
        points.sort_by_key(|point| point.words);
        points.dedup_by_key(|point| point.words);
        points
    }

    /// Energies of an RFC or ORF with this many entries per thread, for this many active warps.
    ///
    /// Only the capacity, entries times warps, counts: table 2 gives equal numbers for equal products, and energy is "roughly linear in relation to
    /// capacity" (hierarchy thesis 5.2.1). Between two capacities of the table the energies are interpolated linearly; below the smallest and above
    /// the greatest they are proportional to capacity.
    pub fn access(self, entries: u32, active_warps: u32) -> Access {
        let words = entries * active_warps;
        let points = self.points();
        let scaled = |point: &Point| {
            let factor = f64::from(words) / f64::from(point.words);
            access(point.access.read * factor, point.access.write * factor)
        };
        let (first, last) = (&points[0], &points[points.len() - 1]);
        if words <= first.words {
            return scaled(first);
        }
        let Some(above) = points.iter().position(|point| point.words >= words) else { return scaled(last) };
        let (low, high) = (points[above - 1], points[above]);
        let part = f64::from(words - low.words) / f64::from(high.words - low.words);
        let between = |low: f64, high: f64| low + part * (high - low);
        access(between(low.access.read, high.access.read), between(low.access.write, high.access.write))
    }
}
