//! The register-file designs, in one list.

use crate::config::Config;
use crate::design::{
    BankView, CollectorView, Design, DesignCfg, DesignSizes, Events, ParkingView, RegisterFile, Rows, Sideband,
    SlotView, WordStates,
};
use crate::hierarchy::{Hierarchy, HierarchySizes};
use crate::hrf::{Hrf, HrfSizes};
use crate::mrf::{Mrf, MrfIn, MrfOut, MrfSizes};
use crate::mrf_ideal::MrfIdeal;
use crate::rfc::{Rfc, RfcSizes};
use crate::sizes::{MAX_ACTIVE, StageSizes};
use crate::steal::{Steal, StealSizes};
use crate::unified::{Columns, ColumnsFree};
use crate::{Block, Field, Memory, OPERANDS, WarpData};

/// Calls a macro with the module names of all designs but the main register file: `each_design!(callback)`. A crate that has
/// something for each design keeps it in modules with these names.
#[macro_export]
macro_rules! each_design {
    ($callback:ident) => {
        $callback! { rfc hierarchy hrf steal mrf_ideal }
    };
}

/// The issue gate of the SM: blocks heads that may not issue because of what the register file has in progress.
pub use crate::hierarchy::HierarchyScoreboard as IssueGate;

impl Organisation {
    /// The issue gate's shape and its place in the SM, where the design has one.
    pub fn issue_gate(&self, stage: &StageSizes) -> Option<(<IssueGate as Block>::Shape, &'static str)> {
        match self {
            Self::Hierarchy(sizes) => Some((Hierarchy::shape_in(stage, sizes), "gen_hierarchy.u_hierarchy_scoreboard")),
            _ => None,
        }
    }
}

impl Organisation {
    /// Registers are allocated one by one.
    pub fn has_places(&self) -> bool {
        matches!(self, Self::Mrf(MrfSizes { places: true }))
    }
}

macro_rules! designs {
    ($($(#[$doc:meta])* $variant:ident($file:ident, $sizes:ty) = $number:literal at $instance:literal,)+) => {
        /// The design of an SM's register file, with its sizes: `organisation_e` of `gpurf_pkg`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Organisation {
            $($(#[$doc])* $variant($sizes),)+
        }

        /// Every design, in the order of their numbers.
        pub const DESIGNS: &[&Design] = &[$(&<$variant as RegisterFile>::DESIGN),+];

        /// The designs that a configuration selects: none stands for the main register file. More than one is refused, by rules that ask this too.
        pub(crate) fn selected(config: &Config) -> impl Iterator<Item = &'static Design> {
            DESIGNS.iter().copied().filter(|design| (design.selection.holds)(config))
        }

        impl Organisation {
            /// That of a configuration.
            pub fn of(config: &Config) -> Self {
                debug_assert!(selected(config).count() <= 1, "a configuration selects one design");
                $(if (<$variant as RegisterFile>::DESIGN.selection.holds)(config) {
                    return Self::$variant(<$variant as RegisterFile>::Sizes::of(config));
                })+
                Self::Mrf(MrfSizes::of(config))
            }

            /// The RTL parameter `Organisation`.
            pub fn number(&self) -> u32 {
                match self { $(Self::$variant(_) => $number),+ }
            }

            /// The RTL parameter `Sizes`.
            pub fn sizes(&self) -> u32 {
                match self { $(Self::$variant(sizes) => sizes.word()),+ }
            }

            /// What the project has to know of the design.
            pub fn design(&self) -> &'static Design {
                match self { $(Self::$variant(_) => &<$variant as RegisterFile>::DESIGN),+ }
            }

            /// Whether the design reads the first rows of the slots' warps.
            pub(crate) fn reads_slot_rows(&self) -> bool {
                match self { $(Self::$variant(sizes) => sizes.reads_slot_rows()),+ }
            }

            /// What lockstep compares inside the design, as it is in an operand stage.
            pub(crate) fn fields(&self, stage: &StageSizes) -> Vec<Field> {
                let fields = match self { $(Self::$variant(sizes) => $variant::fields(stage, sizes)),+ };
                fields.into_iter().map(|field| field.inside(self.instance(), 0)).collect()
            }

            /// The design's operand collectors, from a record.
            pub fn collectors(&self, probe: &ProviderProbe) -> CollectorView {
                match self { $(Self::$variant(_) => <$variant as RegisterFile>::collectors(probe.$file())),+ }
            }

            /// The design's banks and the queues in front of them, from a record. `None`: it has banks of another kind.
            pub fn banks(&self, probe: &ProviderProbe) -> Option<BankView> {
                match self { $(Self::$variant(_) => <$variant as RegisterFile>::banks(probe.$file())),+ }
            }

            /// Results that the design parks, from a record.
            pub fn parking(&self, probe: &ProviderProbe) -> ParkingView {
                match self { $(Self::$variant(_) => <$variant as RegisterFile>::parking(probe.$file())),+ }
            }

            /// Power states that the design keeps, from a record. `None`: it keeps none.
            pub fn word_states<'a>(&self, probe: &'a ProviderProbe) -> Option<WordStates<'a>> {
                match self { $(Self::$variant(_) => <$variant as RegisterFile>::word_states(probe.$file())),+ }
                    .filter(|_| self.design().services.keeps_states)
            }

            fn instance(&self) -> &'static str {
                match self { $(Self::$variant(_) => concat!($instance, ".u_provider")),+ }
            }
        }

        /// The register file of an operand stage.
        #[derive(Clone)]
        pub(crate) enum Provider {
            $($variant(Box<$variant>),)+
        }

        impl Provider {
            pub(crate) fn new(organisation: &Organisation, stage: &StageSizes) -> Self {
                match organisation {
                    $(Organisation::$variant(sizes) => {
                        Self::$variant(Box::new($variant::new(&<$variant as RegisterFile>::shape(stage, sizes))))
                    })+
                }
            }

            #[inline]
            pub(crate) fn present(&mut self, cfg: DesignCfg, slots: &SlotView<'_>, rows: Rows, shown: &mut MrfOut) {
                match self { $(Self::$variant(file) => RegisterFile::present(&mut **file, cfg, slots, rows, shown)),+ }
            }

            #[inline]
            pub(crate) fn settle(&mut self, given: &mut MrfIn, side: &Sideband, shown: &mut MrfOut) -> Events {
                match self { $(Self::$variant(file) => RegisterFile::settle(&mut **file, given, side, shown)),+ }
            }

            #[inline]
            pub(crate) fn edge<'a>(&mut self, given: &MrfIn, side: &Sideband, write_data: impl Fn(usize) -> &'a WarpData) {
                match self { $(Self::$variant(file) => RegisterFile::edge(&mut **file, given, side, write_data)),+ }
            }

            #[inline]
            pub(crate) fn show(&self, shown: &mut MrfOut) {
                match self { $(Self::$variant(file) => RegisterFile::show(&**file, shown)),+ }
            }

            #[inline]
            pub(crate) fn operands(&self, p: usize) -> &[WarpData; OPERANDS] {
                match self { $(Self::$variant(file) => RegisterFile::operands(&**file, p)),+ }
            }

            #[inline]
            pub(crate) fn is_quiet(&self, given: &MrfIn, side: &Sideband) -> bool {
                match self { $(Self::$variant(file) => RegisterFile::is_quiet(&**file, given, side)),+ }
            }

            pub(crate) fn is_still(&self) -> bool {
                match self { $(Self::$variant(file) => RegisterFile::is_still(&**file)),+ }
            }

            pub(crate) fn record(&self, given: &MrfIn, side: &Sideband, shown: &MrfOut, probe: &mut ProviderProbe) {
                // SAFETY: the part of this design is made of integers, for which any bytes are values.
                match self {
                    $(Self::$variant(file) => RegisterFile::record(&**file, given, side, shown, unsafe { &mut probe.$file }),)+
                }
            }

            pub(crate) fn memories(&mut self) -> Vec<Memory<'_>> {
                let (instance, memories) = match self {
                    $(Self::$variant(file) => (concat!($instance, ".u_provider"), file.memories()),)+
                };
                Memory::inside(instance, memories).collect()
            }

            #[inline]
            pub(crate) fn flush_done(&self, flush: u64) -> u64 {
                match self { $(Self::$variant(file) => RegisterFile::flush_done(&**file, flush)),+ }
            }

            #[inline]
            pub(crate) fn void(&self, all: u64) -> u64 {
                match self { $(Self::$variant(file) => RegisterFile::void(&**file, all)),+ }
            }

            #[inline]
            pub(crate) fn waits(&self) -> (&[u16; MAX_ACTIVE], u64) {
                match self { $(Self::$variant(file) => RegisterFile::waits(&**file)),+ }
            }

            #[inline]
            pub(crate) fn power_events(&self) -> (u64, u16) {
                match self { $(Self::$variant(file) => RegisterFile::power_events(&**file)),+ }
            }

            pub(crate) fn words_are_still(&self, over: u64) -> bool {
                match self { $(Self::$variant(file) => RegisterFile::words_are_still(&**file, over)),+ }
            }

            #[inline]
            pub(crate) fn columns(&self) -> Option<&Columns> {
                match self { $(Self::$variant(file) => RegisterFile::columns(&**file)),+ }
            }

            #[inline]
            pub(crate) fn columns_mut(&mut self) -> Option<&mut Columns> {
                match self { $(Self::$variant(file) => RegisterFile::columns_mut(&mut **file)),+ }
            }

            #[inline]
            pub(crate) fn columns_free(&self) -> ColumnsFree {
                match self { $(Self::$variant(file) => RegisterFile::columns_free(&**file)),+ }
            }

            #[inline]
            pub(crate) fn candidate_issue(&self) -> u8 {
                match self { $(Self::$variant(file) => RegisterFile::candidate_issue(&**file)),+ }
            }
        }

        /// What lockstep compares inside the register file of an operand stage: the part of the design that there is.
        #[derive(Clone, Copy)]
        #[repr(C)]
        pub union ProviderProbe {
            $(pub(crate) $file: <$variant as Block>::Probe,)+
        }

        impl ProviderProbe {
            $(
                /// The part of this design. Where the SM has another design, the values mean nothing.
                pub fn $file(&self) -> &<$variant as Block>::Probe {
                    // SAFETY: it is made of integers, for which any bytes are values, and all bytes of a record are set.
                    unsafe { &self.$file }
                }
            )+
        }
    };
}

designs! {
    /// The banked main register file, the baseline of the papers.
    Mrf(mrf, MrfSizes) = 0 at "gen_mrf",
    /// A register file cache in front of it.
    Rfc(rfc, RfcSizes) = 1 at "gen_rfc",
    /// ORF and LRF, which the compiler manages, in front of it.
    Hierarchy(hierarchy, HierarchySizes) = 2 at "gen_hierarchy",
    /// The hybrid register file.
    Hrf(hrf, HrfSizes) = 3 at "gen_hrf",
    /// The main register file with bank stealing.
    Steal(steal, StealSizes) = 4 at "gen_steal",
    /// A register file without conflicts.
    MrfIdeal(mrf_ideal, MrfSizes) = 5 at "gen_mrf_ideal",
}
