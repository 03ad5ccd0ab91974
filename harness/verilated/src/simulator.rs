//! The programs that can run the RTL.

use std::fmt;

/// Who runs the RTL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Simulator {
    /// Verilator: fast, and what everything runs on.
    #[default]
    Verilator,
    /// CXXRTL of Yosys, with the slang frontend: a second reading of the language, to check the first.
    Cxxrtl,
}

impl Simulator {
    /// Its name on a command line.
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
