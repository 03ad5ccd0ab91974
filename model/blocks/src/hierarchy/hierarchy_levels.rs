//! `hierarchy_levels`: where an instruction's operands are. `docs/blocks/hierarchy_levels.md`.

use super::shape::{ENTRY_BITS, LEVEL_BITS, MAX_LRF_BANKS, MAX_ORF_ENTRIES, PLACE_SET_BITS};
use crate::hierarchy::HierarchyShape;
use crate::instruction::NO_REG;
use crate::mrf::bits::set_bits;
use crate::{Block, NoProbe, OPERANDS, REG_BITS, field, ports};

ports! {
    /// Inputs of [`HierarchyLevels`].
    pub struct HierarchyLevelsIn(s: &HierarchyShape) {
        /// An instruction is offered.
        valid_i: u8 = field(1),
        /// Sources of the offered instruction that are registers.
        src_valid_i: u8 = field(OPERANDS).valid_by("valid_i"),
        /// Levels of the sources.
        src_level_i: [u8; OPERANDS] = field(LEVEL_BITS).count(OPERANDS).valid_by("src_valid_i"),
        /// Register written; 255: none.
        dst_i: u8 = field(REG_BITS).valid_by("valid_i"),
        /// Level of the result.
        dst_level_i: u8 = field(LEVEL_BITS).valid_by("valid_i"),
        /// Long-latency operation.
        long_i: u8 = field(1).valid_by("valid_i"),
    }
}

ports! {
    /// Outputs of [`HierarchyLevels`].
    pub struct HierarchyLevelsOut(s: &HierarchyShape) {
        /// Places that are read.
        read_place_o: u16 = field(PLACE_SET_BITS),
        /// Places that are copied to.
        copy_place_o: u16 = field(PLACE_SET_BITS),
        /// The place that the result goes to; empty: the MRF only.
        result_place_o: u16 = field(PLACE_SET_BITS),
        /// Sources that are read from the MRF.
        mrf_o: u8 = field(OPERANDS),
        /// Sources that are read from the ORF.
        orf_o: u8 = field(OPERANDS),
        /// Sources that are read from the LRF.
        lrf_o: u8 = field(OPERANDS),
        /// Sources that are read from the MRF and copied to the ORF.
        copy_o: u8 = field(OPERANDS),
        /// ORF entry that each source is read from or copied to; 0 without.
        entry_o: [u8; OPERANDS] = field(ENTRY_BITS).count(OPERANDS),
        /// Read port of the ORF that serves each source; 0 without.
        port_o: [u8; OPERANDS] = field(2).count(OPERANDS),
        /// Read ports of the ORF that read.
        orf_read_o: u8 = field(OPERANDS),
        /// Banks of the LRF that are read.
        lrf_read_o: u8 = field(MAX_LRF_BANKS),
        /// The result goes to the MRF too.
        both_o: u8 = field(1),
    }
}

/// Level fields of an instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) src_valid: u8,
    pub(crate) src_level: [u8; OPERANDS],
    pub(crate) dst: u8,
    pub(crate) dst_level: u8,
    pub(crate) long: bool,
}

/// Where the operands are on a machine: sources as masks, places as sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Levels {
    pub(crate) mrf: u8,
    pub(crate) orf: u8,
    pub(crate) lrf: u8,
    /// Sources that are read from the MRF and copied to the ORF.
    pub(crate) copy: u8,
    pub(crate) entry: [u8; OPERANDS],
    /// Read ports of the ORF that serve the sources, and the read ports in use.
    pub(crate) port: [u8; OPERANDS],
    pub(crate) orf_read: u8,
    /// Banks of the LRF that are read.
    pub(crate) lrf_read: u8,
    pub(crate) read_place: u16,
    pub(crate) copy_place: u16,
    pub(crate) result_place: u16,
    /// The result goes to the MRF too.
    pub(crate) both: bool,
}

/// The place that a level names, from 1 to 11 in its low four bits; another number names none.
#[inline]
pub(crate) const fn place(level: u8) -> Option<u8> {
    match level & 0xf {
        n @ 1..=11 => Some(n - 1),
        _ => None,
    }
}

/// Whether a level says "the MRF and a place".
#[inline]
pub(crate) const fn has_both(level: u8) -> bool {
    level >> 4 & 1 == 1
}

/// Interprets the level fields of an instruction on a machine with these entries and banks (hierarchy thesis 6.4; docs/isa.md, "level"). A level that names a place
/// which the machine does not have means the MRF.
///
/// A caller that uses this twin directly asks [`levels`](Self::levels).
#[derive(Clone)]
pub struct HierarchyLevels {
    entries: u8,
    lrf_banks: u8,
}

impl HierarchyLevels {
    /// Whether the machine has a place.
    #[inline]
    fn is_there(&self, place: u8) -> bool {
        match place.checked_sub(MAX_ORF_ENTRIES as u8) {
            None => place < self.entries,
            Some(bank) => bank < self.lrf_banks,
        }
    }

    /// The place that a level names, if the machine has it.
    #[inline]
    fn place(&self, level: u8) -> Option<u8> {
        place(level).filter(|&place| self.is_there(place))
    }

    /// Where the operands of an instruction are.
    #[inline]
    pub(crate) fn levels(&self, asked: &Asked) -> Levels {
        let mut levels = Levels::default();
        if asked.dst != NO_REG
            && !asked.long
            && let Some(place) = self.place(asked.dst_level)
        {
            (levels.result_place, levels.both) = (1 << place, has_both(asked.dst_level));
        }
        for k in set_bits(asked.src_valid) {
            let level = asked.src_level[k];
            match self.place(level).filter(|_| !has_both(level)) {
                None => levels.mrf |= 1 << k,
                Some(place) => levels.read(k, place),
            }
            let copied = self.place(level).filter(|&place| has_both(level) && place < self.entries);
            if let Some(place) = copied
                && (levels.result_place | levels.copy_place) & 1 << place == 0
            {
                levels.copy |= 1 << k;
                levels.copy_place |= 1 << place;
                levels.entry[k] = place;
            }
        }
        if self.lrf_banks == 1 {
            levels.lrf_read = u8::from(levels.lrf != 0);
        } else {
            levels.lrf_read = levels.lrf;
        }
        levels
    }
}

impl Levels {
    /// Source `k` is read from a place. Of several sources that read one entry, the lowest reads it for all.
    #[inline]
    fn read(&mut self, k: usize, place: u8) {
        self.read_place |= 1 << place;
        if usize::from(place) >= MAX_ORF_ENTRIES {
            self.lrf |= 1 << k;
            return;
        }
        self.entry[k] = place;
        let first = set_bits(self.orf).find(|&j| self.entry[j] == place);
        self.port[k] = first.unwrap_or(k) as u8;
        self.orf |= 1 << k;
        self.orf_read |= u8::from(first.is_none()) << k;
    }

    /// Sources that come from ORF or LRF.
    #[inline]
    pub(crate) fn above(&self) -> u8 {
        self.orf | self.lrf
    }
}

impl Block for HierarchyLevels {
    const NAME: &'static str = "hierarchy_levels";
    const PARAMETERS: &'static [&'static str] = &["Entries", "LrfBanks"];
    const CLOCKED: bool = false;

    type Shape = HierarchyShape;
    type In = HierarchyLevelsIn;
    type Out = HierarchyLevelsOut;
    type Probe = NoProbe<HierarchyShape>;

    fn new(shape: &HierarchyShape) -> Self {
        Self { entries: shape.entries as u8, lrf_banks: shape.lrf_banks as u8 }
    }

    fn early(&self, _: &mut HierarchyLevelsOut) {}

    fn late(&mut self, inputs: &HierarchyLevelsIn, out: &mut HierarchyLevelsOut) {
        let asked = Asked {
            src_valid: inputs.src_valid_i,
            src_level: inputs.src_level_i,
            dst: inputs.dst_i,
            dst_level: inputs.dst_level_i,
            long: inputs.long_i != 0,
        };
        let levels = if inputs.valid_i == 0 { Levels::default() } else { self.levels(&asked) };
        (out.mrf_o, out.orf_o, out.lrf_o, out.copy_o) = (levels.mrf, levels.orf, levels.lrf, levels.copy);
        (out.entry_o, out.port_o) = (levels.entry, levels.port);
        (out.orf_read_o, out.lrf_read_o) = (levels.orf_read, levels.lrf_read);
        (out.read_place_o, out.copy_place_o) = (levels.read_place, levels.copy_place);
        (out.result_place_o, out.both_o) = (levels.result_place, levels.both.into());
    }

    fn clock(&mut self, _: &HierarchyLevelsIn, _: &HierarchyLevelsOut) {}

    fn probe(&self, _: &HierarchyLevelsIn, _: &HierarchyLevelsOut, _: &mut NoProbe<HierarchyShape>) {}
}

#[cfg(test)]
mod tests;
