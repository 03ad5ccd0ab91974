//! How the kernels of a report are compiled, limited to the choices that a paper's own compiler makes.

use gpurf_blocks::config::{self, CompilerConfig, Config};
use gpurf_compiler::{AddressBits, Options, Schedule};
use serde::Serialize;

/// Compiler choices for a report's kernels. They belong to the kernels, and not to the machines: counts on the oracle depend on nothing else.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Code {
    /// The order of the instructions in a basic block.
    pub schedule: Schedule,
    /// Bits of an address of global memory.
    pub address_bits: AddressBits,
}

impl Code {
    /// Instructions in the order of the PTX, and addresses of 64 bits as in the PTX.
    pub const PTX: Self = Self { schedule: Schedule::None, address_bits: AddressBits::Wide };

    /// The same choices with one setting of the configuration applied; `None` if the setting is not one of these choices.
    pub fn with_setting(self, setting: &str) -> Option<Self> {
        let (key, value) = setting.split_once('=')?;
        match key {
            "compiler.schedule" => {
                let schedule = Schedule::ALL.into_iter().find(|schedule| schedule.name() == value)?;
                Some(Self { schedule, ..self })
            }
            "compiler.address_bits" => {
                let address_bits = AddressBits::ALL.into_iter().find(|bits| bits.number().to_string() == value)?;
                Some(Self { address_bits, ..self })
            }
            _ => None,
        }
    }

    /// The compiler options `options` with these choices.
    pub fn compiler_options(self, options: Options) -> Options {
        Options { schedule: self.schedule, address_bits: self.address_bits, ..options }
    }

    /// A configuration with these choices.
    pub(crate) fn on(self, config: &Config) -> Config {
        let schedule = match self.schedule {
            Schedule::None => config::Schedule::None,
            Schedule::Tree => config::Schedule::Tree,
            Schedule::Latency => config::Schedule::Latency,
        };
        let address_bits = self.address_bits.number().into();
        Config { compiler: CompilerConfig { schedule, address_bits, ..config.compiler }, ..*config }
    }

    /// The options of `gpurf run` that select these choices; empty for [`Code::PTX`].
    pub(crate) fn settings(self) -> String {
        self.unlike(Some(Self::PTX)).map(|(key, value)| format!(" --set compiler.{key}={value}")).collect()
    }

    /// The options of `gpurf report` that select these choices: those in which they differ from `usual`, or all of them without `usual`.
    pub(crate) fn options(self, usual: Option<Self>) -> String {
        self.unlike(usual).map(|(key, value)| format!(" --{} {value}", key.replace('_', "-"))).collect()
    }

    /// The keys of the section `compiler`, with their values, in which `self` differs from `other`; all keys if `other` is `None`.
    fn unlike(self, other: Option<Self>) -> impl Iterator<Item = (&'static str, String)> {
        let differs = |same: fn(Self, Self) -> bool| other.is_none_or(|other| !same(self, other));
        let order = differs(|a, b| a.schedule == b.schedule).then(|| ("schedule", self.schedule.name().to_owned()));
        let addresses = differs(|a, b| a.address_bits == b.address_bits)
            .then(|| ("address_bits", self.address_bits.number().to_string()));
        order.into_iter().chain(addresses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_about_code_change_it_and_others_do_not() {
        let code = Code::PTX.with_setting("compiler.schedule=tree").unwrap();
        assert_eq!(code, Code { schedule: Schedule::Tree, ..Code::PTX });
        let narrow = code.with_setting("compiler.address_bits=32").unwrap();
        assert_eq!(narrow, Code { address_bits: AddressBits::Narrow, ..code });
        assert_eq!(narrow.with_setting("compiler.address_bits=64"), Some(code));
        for setting in ["compiler.address_bits=16", "compiler.schedule=random", "memory.latency=100", "schedule"] {
            assert_eq!(code.with_setting(setting), None, "{setting}");
        }
    }

    #[test]
    fn commands_name_what_differs() {
        let code = Code { schedule: Schedule::Latency, address_bits: AddressBits::Narrow };
        assert_eq!(Code::PTX.settings(), "");
        assert_eq!(code.settings(), " --set compiler.schedule=latency --set compiler.address_bits=32");
        assert_eq!(code.options(Some(code)), "");
        assert_eq!(code.options(Some(Code { schedule: Schedule::Tree, ..code })), " --schedule latency");
        assert_eq!(code.options(None), " --schedule latency --address-bits 32");
        assert_eq!(Code::PTX.options(Some(code)), " --schedule none --address-bits 64");
    }
}
