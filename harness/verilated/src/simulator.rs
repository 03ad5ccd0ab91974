//! The simulators that can run the RTL.

use std::fmt;

/// The simulator that runs the RTL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Simulator {
    /// Verilator: fast, and the default for everything.
    #[default]
    Verilator,
    /// CXXRTL of Yosys, with the slang frontend: an independent reading of the language, to check Verilator's.
    Cxxrtl,
}

impl Simulator {
    /// The name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Verilator => "verilator",
            Self::Cxxrtl => "cxxrtl",
        }
    }
}

impl fmt::Display for Simulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
