//! The control fields in the control word.

use super::{Bits, DecodeError};
use crate::cache_marks::CacheMarks;
use crate::control::{Control, PowerState};
use crate::levels::{SourceLevel, result_level, result_level_bits, source_level, source_level_bits};
use crate::registers::Reg;

const LAST_READ: [Bits; 3] = [Bits(20, 1), Bits(21, 1), Bits(22, 1)];
const DESCHEDULE: Bits = Bits(23, 1);
const STRAND_END: Bits = Bits(24, 1);
const SOURCE_LEVELS: [Bits; 3] = [Bits(27, 5), Bits(32, 5), Bits(37, 5)];
const RESULT_LEVEL: Bits = Bits(42, 5);
const SOURCE_POWER: [Bits; 2] = [Bits(47, 2), Bits(49, 2)];
const RESULT_POWER: Bits = Bits(51, 2);
const FREE_REGISTER: Bits = Bits(53, 8);
const PRIVATE: Bits = Bits(61, 1);

/// Names of fields, as errors give them, for slots a, b, c.
pub const LAST_READ_NAMES: [&str; 3] = ["last read of a", "last read of b", "last read of c"];
pub const LEVEL_NAMES: [&str; 3] = ["level of a", "level of b", "level of c"];
pub const POWER_NAMES: [&str; 2] = ["power of the first source", "power of the second source"];

/// Bits of the control word above source c, modifiers and reconvergence that belong to a field.
pub const CONTROL_BITS: u64 = Bits(LAST_READ[0].0, PRIVATE.0 + PRIVATE.1 - LAST_READ[0].0).mask();

impl Control {
    pub(super) fn encode(&self, word: &mut u64) {
        for (bits, flag) in LAST_READ.into_iter().zip(self.last_read) {
            bits.set(word, flag.into());
        }
        DESCHEDULE.set(word, self.deschedule.into());
        STRAND_END.set(word, self.strand_end.into());
        self.bypass.encode(word);
        for (bits, level) in SOURCE_LEVELS.into_iter().zip(self.source_levels) {
            bits.set(word, source_level_bits(level));
        }
        RESULT_LEVEL.set(word, result_level_bits(self.result_level));
        for (bits, power) in SOURCE_POWER.into_iter().zip(self.source_power) {
            bits.set(word, power as u32);
        }
        RESULT_POWER.set(word, self.result_power as u32);
        // Inverted, so that RZ, which stands for no register, becomes zero.
        FREE_REGISTER.set(word, (!self.free_register.unwrap_or(Reg::ZERO).0).into());
        PRIVATE.set(word, self.private.into());
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
            bypass: CacheMarks::decode(word),
            source_power,
            result_power: power_state(RESULT_POWER.get(word))
                .ok_or_else(|| value("power of the result", RESULT_POWER))?,
            free_register: (!free_register.is_zero()).then_some(free_register),
            private: flag(PRIVATE),
        })
    }
}

fn power_state(bits: u32) -> Option<PowerState> {
    [PowerState::On, PowerState::Sleep, PowerState::Off].get(bits as usize).copied()
}
