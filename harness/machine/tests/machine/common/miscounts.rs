//! Events of the register files are counted a third time: what is counted, and that a wrong count is found whoever agrees with it.

use std::cell::Cell;

use gpurf_blocks::config::Config;
use gpurf_blocks::designs::Organisation;
use gpurf_blocks::mrf::MRF_EVENT;
use gpurf_blocks::power::{POWER_COUNT_EVENT, POWER_EVENT};
use gpurf_blocks::{Declaration, Memory, Twin, places, view_mut};
use gpurf_machine::commits::Difference;
use gpurf_machine::counts::Miscount;
use gpurf_machine::{LaunchError, ModelEngine, Settings};
use gpurf_sm::SmOut;

use super::{Program, settings};

/// Where the SM has an event word.
#[derive(Clone, Copy)]
enum Place {
    /// `mrf_event_o`.
    MainFile,
    /// This element of `design_event_o`.
    Design(usize),
    /// This element of `power_event_o`.
    Power(usize),
}

/// An event word.
type Word = (&'static [(&'static str, u32)], Place);

fn word_at(out: &mut SmOut, place: Place) -> &mut u64 {
    match place {
        Place::MainFile => &mut out.mrf_event_o,
        Place::Design(index) => &mut out.design_event_o[index],
        Place::Power(index) => &mut out.power_event_o[index],
    }
}

/// The event words of a configuration.
fn words(set: &[&str]) -> Vec<Word> {
    let config = settings(set).config;
    let events = Organisation::of(&config).design().events;
    let words = events.iter().enumerate().map(|(index, &fields)| (fields, Place::Design(index)));
    let power = [(POWER_EVENT, Place::Power(0)), (POWER_COUNT_EVENT, Place::Power(1))];
    let power = power.into_iter().filter(|_| config.power.present);
    words.chain(power).chain([(ACCESSES, Place::MainFile)]).collect()
}

/// All fields of the word; only the first four are counted.
const ACCESSES: &[(&str, u32)] = MRF_EVENT;
const NOT_COUNTED: [&str; 8] = [
    "conflict_intra",
    "conflict_inter",
    "conflict_read_write",
    "conflict_write",
    "write_held",
    "issue_stall",
    "dispatch",
    "dispatch_stall",
];

/// A definition of events that RTL and twin would both have got wrong.
pub type Misreading = fn(&mut SmOut);

thread_local! {
    /// The field of an event word that is one too high in one cycle: which word, lowest bit, width.
    static RAISED: Cell<Option<(Place, u32, u32)>> = const { Cell::new(None) };
    static MISREAD: Cell<Option<Misreading>> = const { Cell::new(None) };
}

/// The model, with other event words.
struct Other(Box<dyn Twin>);

impl Twin for Other {
    fn declaration(&self) -> &Declaration {
        self.0.declaration()
    }
    fn cycle(&mut self, inputs: &[u8], compared: &mut [u8]) {
        self.0.cycle(inputs, compared);
        let out = view_mut::<SmOut>(compared);
        if let Some(misread) = MISREAD.get() {
            misread(out);
        }
        if let Some((of, low, bits)) = RAISED.get() {
            let (word, most) = (word_at(out, of), u64::MAX >> (u64::BITS - bits));
            if *word >> low & most != most {
                *word += 1 << low;
                RAISED.set(None);
            }
        }
    }
    fn cycle_unprobed(&mut self, inputs: &[u8], compared: &mut [u8]) {
        self.0.cycle_unprobed(inputs, compared);
    }
    fn memories(&mut self) -> Vec<Memory<'_>> {
        self.0.memories()
    }
    fn duplicate(&self) -> Box<dyn Twin> {
        Box::new(Self(self.0.duplicate()))
    }
}

/// Three warps that load, compute in a loop, and store.
fn program() -> Program {
    let code = "
        LD.GLOBAL.B32 R9, [R2:RZ]
        MOV R10, 3
        MOV R15, 0
        ISETP.LT.AND P1, R0, 16, PT
        IADD R11, PT, R9, R0, !PT
        IADD R12, PT, R11, R9, !PT
        IMAD.LO R13, PT, R12, R11, R9, !PT
        @P1 IADD R15, PT, R13, R12, !PT
        IADD R14, PT, R13, R15, !PT
        IADD R10, PT, R10, -1, !PT
        ISETP.GT.AND P0, R10, 0, PT
        @P0 BRA 10, join none {strand_end}
        IADD R9, PT, R14, R12, !PT {deschedule}
        ST.GLOBAL.B32 [R2:RZ], R9";
    Program::new(code, 2, 96)
}

/// What the judge says of a run on a model with other event words.
fn said(set: &[&str]) -> Result<(), Miscount> {
    let model = |config: &Config| -> Box<dyn Twin> { Box::new(Other((gpurf_sm::ENTRY.twin)(config))) };
    let mut engine = ModelEngine::judged(Settings { model, ..settings(set) });
    match program().run(&mut engine) {
        Ok(_) => Ok(()),
        Err(LaunchError::Mismatch(mismatch)) => match mismatch.difference {
            Difference::Counts(miscount) => Err(miscount),
            other => panic!("{set:?}: {other}"),
        },
        Err(error) => panic!("{set:?}: {error}"),
    }
}

/// A count that is off by one is found in every field.
pub fn every_field_is_counted(set: &[&str]) {
    assert_eq!(said(set), Ok(()), "{set:?}");
    for (fields, of) in words(set) {
        for (name, low, bits) in places(fields) {
            RAISED.set(Some((of, low, bits)));
            let found = said(set);
            assert!(RAISED.take().is_none(), "{name} is never below its most");
            if NOT_COUNTED.contains(&name) {
                assert_eq!(found, Ok(()), "{name}");
                continue;
            }
            let Err(Miscount::Events(events)) = found else { panic!("{name}: {found:?}") };
            let [(event, sm, counted)] = events[..] else { panic!("{name}: {events:?}") };
            assert_eq!((event, sm), (name, counted + 1));
        }
    }
}

/// A field of a word.
fn field(fields: &[(&'static str, u32)], name: &str) -> (u32, u64) {
    let found = places(fields).find(|(field, ..)| *field == name);
    let (_, low, bits) = found.unwrap_or_else(|| panic!("no field {name}"));
    (low, u64::MAX >> (u64::BITS - bits))
}

/// The value of a field.
pub fn value(fields: &[(&'static str, u32)], word: u64, name: &str) -> u64 {
    let (low, mask) = field(fields, name);
    word >> low & mask
}

/// Adds to a field, which wraps.
pub fn add(fields: &[(&'static str, u32)], word: &mut u64, name: &str, more: u64) {
    let (low, mask) = field(fields, name);
    let sum = (*word >> low & mask).wrapping_add(more);
    *word = *word & !(mask << low) | (sum & mask) << low;
}

/// A definition that both sides misread is found, on few slots and entries so that everything happens soon.
pub fn is_found(set: &[&str], misread: Misreading, event: &str) {
    MISREAD.set(Some(misread));
    let found = said(set);
    MISREAD.set(None);
    let Err(Miscount::Events(events)) = found else { panic!("{event}: {found:?}") };
    assert!(events.iter().any(|(name, ..)| *name == event), "{event}: {events:?}");
    let text = Miscount::Events(events).to_string();
    assert!(text.contains(&format!("{event} is ")), "{text}");
}
