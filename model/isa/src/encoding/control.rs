//! The control fields in the control word.

use super::{Bits, DecodeError};
use crate::control::{Control, LrfBank, OrfEntry, PowerState, ResultLevel, SourceLevel, Upper};
use crate::registers::Reg;

const LAST_READ: [Bits; 3] = [Bits(20, 1), Bits(21, 1), Bits(22, 1)];
const DESCHEDULE: Bits = Bits(23, 1);
const STRAND_END: Bits = Bits(24, 1);
const LRF_BYPASS: Bits = Bits(25, 1);
const RFC_BYPASS: Bits = Bits(26, 1);
const SOURCE_LEVELS: [Bits; 3] = [Bits(27, 5), Bits(32, 5), Bits(37, 5)];
const RESULT_LEVEL: Bits = Bits(42, 5);
const SOURCE_POWER: [Bits; 2] = [Bits(47, 2), Bits(49, 2)];
const RESULT_POWER: Bits = Bits(51, 2);
const FREE_REGISTER: Bits = Bits(53, 8);

/// Names of fields, as errors give them, for slots a, b, c.
pub const LAST_READ_NAMES: [&str; 3] = ["last read of a", "last read of b", "last read of c"];
pub const LEVEL_NAMES: [&str; 3] = ["level of a", "level of b", "level of c"];
pub const POWER_NAMES: [&str; 2] = ["power of the first source", "power of the second source"];

/// Bits of the control word above source c, modifiers and reconvergence that belong to a field.
pub const CONTROL_BITS: u64 = Bits(LAST_READ[0].0, FREE_REGISTER.0 + FREE_REGISTER.1 - LAST_READ[0].0).mask();

impl Control {
    pub(super) fn encode(&self, word: &mut u64) {
        for (bits, flag) in LAST_READ.into_iter().zip(self.last_read) {
            bits.set(word, flag.into());
        }
        DESCHEDULE.set(word, self.deschedule.into());
        STRAND_END.set(word, self.strand_end.into());
        LRF_BYPASS.set(word, self.lrf_bypass.into());
        RFC_BYPASS.set(word, self.rfc_bypass.into());
        for (bits, level) in SOURCE_LEVELS.into_iter().zip(self.source_levels) {
            bits.set(word, source_level_bits(level));
        }
        RESULT_LEVEL.set(word, result_level_bits(self.result_level));
        for (bits, power) in SOURCE_POWER.into_iter().zip(self.source_power) {
            bits.set(word, power as u32);
        }
        RESULT_POWER.set(word, self.result_power as u32);
        // Inverted: RZ, which says that there is none, is then zero.
        FREE_REGISTER.set(word, (!self.free_register.unwrap_or(Reg::ZERO).0).into());
    }

    pub(super) fn decode(mnemonic: &'static str, word: u64) -> Result<Self, DecodeError> {
        let value = |field, bits: Bits| DecodeError::Value { mnemonic, field, value: bits.get(word) };
        let flag = |bits: Bits| bits.get(word) == 1;
        let mut source_levels = [SourceLevel::Mrf; 3];
        for (i, bits) in SOURCE_LEVELS.into_iter().enumerate() {
            source_levels[i] = source_level(bits.get(word)).ok_or_else(|| value(LEVEL_NAMES[i], bits))?;
        }
        let mut source_power = [PowerState::On; 2];
        for (i, bits) in SOURCE_POWER.into_iter().enumerate() {
            source_power[i] = power_state(bits.get(word)).ok_or_else(|| value(POWER_NAMES[i], bits))?;
        }
        let free_register = Reg(!(FREE_REGISTER.get(word) as u8));
        Ok(Self {
            last_read: LAST_READ.map(flag),
            deschedule: flag(DESCHEDULE),
            strand_end: flag(STRAND_END),
            source_levels,
            result_level: result_level(RESULT_LEVEL.get(word))
                .ok_or_else(|| value("level of the result", RESULT_LEVEL))?,
            lrf_bypass: flag(LRF_BYPASS),
            rfc_bypass: flag(RFC_BYPASS),
            source_power,
            result_power: power_state(RESULT_POWER.get(word))
                .ok_or_else(|| value("power of the result", RESULT_POWER))?,
            free_register: (!free_register.is_zero()).then_some(free_register),
        })
    }
}

/// The MRF besides a level above.
const ALSO_MRF: u32 = 1 << 4;

/// 1 to 8: ORF entries; 9 to 11: LRF banks.
fn upper_bits(upper: Upper) -> u32 {
    match upper {
        Upper::Orf(entry) => 1 + u32::from(entry.number()),
        Upper::Lrf(bank) => 1 + u32::from(OrfEntry::COUNT) + u32::from(bank.number()),
    }
}

fn upper(bits: u32) -> Option<Upper> {
    let number = (bits & (ALSO_MRF - 1)).checked_sub(1)? as u8;
    match OrfEntry::new(number) {
        Some(entry) => Some(Upper::Orf(entry)),
        None => LrfBank::new(number - OrfEntry::COUNT).map(Upper::Lrf),
    }
}

fn source_level_bits(level: SourceLevel) -> u32 {
    match level {
        SourceLevel::Mrf => 0,
        SourceLevel::Upper(level) => upper_bits(level),
        SourceLevel::MrfCopied(entry) => ALSO_MRF | upper_bits(Upper::Orf(entry)),
    }
}

fn source_level(bits: u32) -> Option<SourceLevel> {
    match (bits, upper(bits)) {
        (0, _) => Some(SourceLevel::Mrf),
        (_, Some(Upper::Orf(entry))) if bits & ALSO_MRF != 0 => Some(SourceLevel::MrfCopied(entry)),
        (_, Some(level)) if bits & ALSO_MRF == 0 => Some(SourceLevel::Upper(level)),
        _ => None,
    }
}

fn result_level_bits(level: ResultLevel) -> u32 {
    match level {
        ResultLevel::Mrf => 0,
        ResultLevel::Upper(level) => upper_bits(level),
        ResultLevel::Both(level) => ALSO_MRF | upper_bits(level),
    }
}

fn result_level(bits: u32) -> Option<ResultLevel> {
    match (bits, upper(bits)) {
        (0, _) => Some(ResultLevel::Mrf),
        (_, Some(level)) if bits & ALSO_MRF != 0 => Some(ResultLevel::Both(level)),
        (_, Some(level)) => Some(ResultLevel::Upper(level)),
        _ => None,
    }
}

fn power_state(bits: u32) -> Option<PowerState> {
    [PowerState::On, PowerState::Sleep, PowerState::Off].get(bits as usize).copied()
}
