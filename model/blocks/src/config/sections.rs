//! The sections of the configuration, in one list, and what each design of a register file is in it.

use super::compiler::{CompilerConfig, CompilerLayer};
use super::sm::{MemoryConfig, MemoryLayer, SmConfig, SmLayer};
use super::{Preset, Rule};
use crate::cache::config::CacheLayer;
use crate::hierarchy::config::{LrfLayer, OrfLayer};
use crate::hrf::config::HrfLayer;
use crate::mrf::config::{MrfConfig, MrfLayer};
use crate::mrf_ideal::config::IdealLayer;
use crate::power::config::PowerLayer;
use crate::rfc::config::RfcLayer;
use crate::share::config::ShareLayer;
use crate::steal::config::StealLayer;
use crate::unified::config::{LaunchLayer, UnifiedLayer};

pub use crate::cache::config::CacheConfig;
pub use crate::hierarchy::config::{LrfConfig, OrfConfig};
pub use crate::hrf::config::HrfConfig;
pub use crate::mrf_ideal::config::IdealConfig;
pub use crate::power::config::{PowerConfig, PowerMode};
pub use crate::rfc::config::{Replacement, RfcConfig};
pub use crate::share::config::{CheckRule, LockRule, Reference, ShareConfig, SharedResource};
pub use crate::steal::config::StealConfig;
pub use crate::unified::config::{
    Amount, Gather, LINES_PER_ROW, LaunchConfig, MemoryPorts, UnifiedConfig, least_lines,
};

/// How a design of the register file is selected, and what the configuration has to know of it: declared in the design's `config.rs`.
pub struct Selection {
    /// The key that selects it; empty: it is selected where no other design is.
    pub key: &'static str,
    /// Whether a configuration selects it.
    pub holds: fn(&Config) -> bool,
    /// What its sections may be in view of each other and of other sections.
    pub rules: &'static [Rule],
    /// Its presets.
    pub presets: &'static [Preset],
}

impl Selection {
    /// Of a design that no key selects.
    pub(crate) const NONE: Self = Self { key: "", holds: |_| false, rules: &[], presets: &[] };
}

macro_rules! selections {
    ($($design:ident)+) => {
        &[&crate::mrf::config::SELECTION, $(&crate::$design::config::SELECTION),+]
    };
}

/// Of every design, in the order of their numbers.
pub(super) const SELECTIONS: &[&Selection] = crate::each_design!(selections);

macro_rules! sections {
    ($($(#[$doc:meta])* $section:ident: $config:ty, $layer:ty;)+) => {
        /// Everything that can be chosen.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
        pub struct Config {
            $($(#[$doc])* pub $section: $config,)+
        }

        impl Config {
            /// The preset `baseline`: every section's defaults.
            pub const BASELINE: Self = Self { $($section: <$config>::DEFAULT,)+ };
        }

        /// What a file or a setting says: any part of a configuration.
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct Layer {
            pub(crate) base: Option<toml::Spanned<String>>,
            $($section: Option<$layer>,)+
        }

        impl Layer {
            /// Takes over what it says; `from` gets each key and where its value stands.
            pub(crate) fn apply(self, to: &mut Config, from: &mut dyn FnMut(&'static str, std::ops::Range<usize>)) {
                $(if let Some(section) = self.$section {
                    section.apply(&mut to.$section, from);
                })+
            }
        }

        /// What each member may be, whatever the others are.
        pub(crate) const MEMBER_RULES: &[&[Rule]] = &[$(<$config>::RULES),+];
    };
}

sections! {
    /// The main register file.
    mrf: MrfConfig, MrfLayer;
    /// The streaming multiprocessor around it.
    sm: SmConfig, SmLayer;
    /// The register file cache in front of the main register file.
    rfc: RfcConfig, RfcLayer;
    /// The hybrid register file in the main register file's place.
    hrf: HrfConfig, HrfLayer;
    /// The operand register file in front of the main register file, in a cache's place.
    orf: OrfConfig, OrfLayer;
    /// The last result file above it.
    lrf: LrfConfig, LrfLayer;
    /// The register file whose idle banks are stolen, in the main register file's place.
    steal: StealConfig, StealLayer;
    /// The register file without conflicts, in the main register file's place.
    ideal: IdealConfig, IdealLayer;
    /// Power states of the main register file's registers.
    power: PowerConfig, PowerLayer;
    /// Blocks that share registers.
    share: ShareConfig, ShareLayer;
    /// The data cache in front of global memory.
    cache: CacheConfig, CacheLayer;
    /// One set of banks for registers, scratchpad memory and the data cache.
    unified: UnifiedConfig, UnifiedLayer;
    /// How it is divided at a launch.
    launch: LaunchConfig, LaunchLayer;
    /// Global memory, outside the SM.
    memory: MemoryConfig, MemoryLayer;
    /// The compiler of the kernels.
    compiler: CompilerConfig, CompilerLayer;
}
