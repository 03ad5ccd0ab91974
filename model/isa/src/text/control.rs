//! The control fields as text.

use std::fmt;

use crate::cache_marks::MARKS;
use crate::control::{Control, PowerState};
use crate::levels::{ResultLevel, SourceLevel, read_result_level, read_source_level};
use crate::registers::{Reg, Slot};

impl fmt::Display for PowerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::On => "ON",
            Self::Sleep => "SLEEP",
            Self::Off => "OFF",
        })
    }
}

/// The fields that do not have their default values, with spaces between them; empty if all have.
impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = Vec::new();
        let last: String = Slot::ALL.into_iter().filter(|slot| self.is_last_read(*slot)).map(Slot::letter).collect();
        if !last.is_empty() {
            fields.push(format!("last={last}"));
        }
        for (name, flag) in flags() {
            if *flag(&mut { *self }) {
                fields.push(name.into());
            }
        }
        for slot in Slot::ALL {
            let level = self.source_level(slot);
            if level != SourceLevel::Mrf {
                fields.push(format!("{}={level}", slot.letter()));
            }
        }
        if self.result_level != ResultLevel::Mrf {
            fields.push(format!("d={}", self.result_level));
        }
        let power = [self.source_power[0], self.source_power[1], self.result_power];
        if power != [PowerState::On; 3] {
            fields.push(format!("power={},{},{}", power[0], power[1], power[2]));
        }
        if let Some(register) = self.free_register {
            fields.push(format!("free={register}"));
        }
        f.write_str(&fields.join(" "))
    }
}

/// A field that is one bit.
type Flag = fn(&mut Control) -> &mut bool;

/// The fields that are one bit, by name.
fn flags() -> impl Iterator<Item = (&'static str, Flag)> {
    FLAGS.into_iter().chain(MARKS.into_iter().map(|(_, name, _, mark)| (name, mark)))
}

const FLAGS: [(&str, Flag); 3] =
    [("deschedule", |c| &mut c.deschedule), ("strand_end", |c| &mut c.strand_end), ("private", |c| &mut c.private)];

/// Reads what [`Control`]'s `Display` writes.
pub fn read(text: &str) -> Result<Control, String> {
    let mut control = Control::default();
    for field in text.split_whitespace() {
        read_field(field, &mut control).ok_or_else(|| format!("`{field}` is no control field"))?;
    }
    Ok(control)
}

fn read_field(field: &str, control: &mut Control) -> Option<()> {
    if let Some((_, flag)) = flags().find(|(name, _)| *name == field) {
        *flag(control) = true;
        return Some(());
    }
    let (name, value) = field.split_once('=')?;
    match name {
        "last" => {
            for letter in value.chars() {
                control.last_read[slot(letter)?.index()] = true;
            }
        }
        "d" => control.result_level = read_result_level(value)?,
        "power" => {
            let states: Vec<PowerState> = value.split(',').map(power_state).collect::<Option<_>>()?;
            let [first, second, result] = states.try_into().ok()?;
            control.source_power = [first, second];
            control.result_power = result;
        }
        "free" => control.free_register = Some(register(value)?),
        _ => {
            let [letter] = name.chars().collect::<Vec<_>>().try_into().ok()?;
            control.source_levels[slot(letter)?.index()] = read_source_level(value)?;
        }
    }
    Some(())
}

fn slot(letter: char) -> Option<Slot> {
    Slot::ALL.into_iter().find(|slot| slot.letter() == letter)
}

fn power_state(text: &str) -> Option<PowerState> {
    [PowerState::On, PowerState::Sleep, PowerState::Off].into_iter().find(|state| state.to_string() == text)
}

/// A general register other than `RZ`.
fn register(text: &str) -> Option<Reg> {
    super::register(text).filter(|r| !r.is_zero())
}
