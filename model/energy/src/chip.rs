//! What a saving in the register file means for a chip (hierarchy thesis 4.4.1; RFC paper 5.5).

/// A chip.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Chip {
    /// Its total power, in W.
    pub watts: f64,
    /// The part of its power that is leakage.
    pub leakage: f64,
    /// The part of the dynamic power that goes to the SMs; the rest goes to memory.
    pub sms: f64,
    /// Number of SMs.
    pub sm_count: f64,
    /// The register file's part of an SM's dynamic power: arrays, wires, operand routing and buffering.
    pub register_file: f64,
}

/// The size of a saving. The saved share of arrays and wires is assumed to apply to operand routing and buffering too, as in the papers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Saving {
    /// In an SM, in W.
    pub sm_watts: f64,
    /// In the chip, in W.
    pub chip_watts: f64,
    /// As a part of an SM's dynamic power.
    pub of_sm: f64,
    /// As a part of the chip's dynamic power.
    pub of_chip: f64,
}

impl Chip {
    /// The chip of the papers, in which the register file takes 15 % of an SM's power.
    pub const PAPERS: Self = Self { watts: 130.0, leakage: 1.0 / 3.0, sms: 0.7, sm_count: 16.0, register_file: 0.15 };

    /// Dynamic power, in W.
    pub fn dynamic(&self) -> f64 {
        self.watts * (1.0 - self.leakage)
    }

    /// Dynamic power of an SM, in W.
    pub fn sm(&self) -> f64 {
        self.dynamic() * self.sms / self.sm_count
    }

    /// The saving in the chip if `part` of the register file's energy is saved.
    pub fn saving(&self, part: f64) -> Saving {
        let of_sm = self.register_file * part;
        let sm_watts = self.sm() * of_sm;
        Saving { sm_watts, chip_watts: sm_watts * self.sm_count, of_sm, of_chip: of_sm * self.sms }
    }
}
