//! `steal_dependence`: detects parked values that are needed. `docs/blocks/steal_dependence.md`.

use super::MAX_SOURCES;
use super::steal_candidates::Wants;
use super::steal_table::{Parks, Places, Targets};
use crate::mrf::bits::{first_from, is_set, set_bits};
use crate::mrf::slots::Slots;
use crate::mrf::{MAX_BANKS, MAX_PORTS, MAX_SLOTS, MrfShape};
use crate::{Block, NoProbe, field, ports};

ports! {
    /// Inputs of [`StealDependence`].
    pub struct StealDependenceIn(s: &MrfShape) {
        /// Reads that the collectors want.
        req_valid_i: u64 = field(s.slots()),
        /// Banks with a free entry.
        free_valid_i: u32 = field(s.banks),
        /// Banks with a value in their free entry.
        parked_i: u32 = field(s.banks),
        /// Entries of the reads.
        req_entry_i: [u16; MAX_SLOTS] = field(s.entry_w()).count(s.slots()).valid_by("req_valid_i"),
        /// Entries of the heads.
        write_entry_i: [u16; MAX_PORTS] = field(s.entry_w()).count(s.issue_ports).valid_by("write_valid_i"),
        /// Entries of the candidates' operands.
        want_entry_i: [u16; MAX_SOURCES] = field(s.entry_w()).count(s.sources()).valid_by("want_valid_i"),
        /// The free entries.
        free_entry_i: [u16; MAX_BANKS] = field(s.entry_w()).count(s.banks).valid_by("free_valid_i"),
        /// Entries to which parked values belong.
        parked_entry_i: [u16; MAX_BANKS] = field(s.entry_w()).count(s.banks).valid_by("parked_i"),
        /// Banks of the reads.
        req_bank_i: [u8; MAX_SLOTS] = field(s.bank_w()).count(s.slots()).valid_by("req_valid_i"),
        /// Banks to which parked values belong.
        parked_bank_i: [u8; MAX_BANKS] = field(s.bank_w()).count(s.banks).valid_by("parked_i"),
        /// A result is at the head of write queue p.
        write_valid_i: u8 = field(s.issue_ports),
        /// Bank of the result at the head of write queue p.
        write_bank_i: [u8; MAX_PORTS] = field(s.bank_w()).count(s.issue_ports).valid_by("write_valid_i"),
        /// Operands of the candidates.
        want_valid_i: u8 = field(s.sources()),
        /// The head has all lanes.
        write_full_i: u8 = field(s.issue_ports).valid_by("write_valid_i"),
        /// Strap: a read of a parked register reads the value where it is parked.
        redirect_i: u8 = field(1),
        /// Strap: a parked value whose register is overwritten whole is dropped.
        drop_i: u8 = field(1),
        /// Bank of each operand of the candidates.
        want_bank_i: [u8; MAX_SOURCES] = field(s.bank_w()).count(s.sources()).valid_by("want_valid_i"),
        /// A value lands.
        land_valid_i: u8 = field(1),
        /// Bank that takes the landing value.
        land_bank_i: u8 = field(s.bank_w()).valid_by("land_valid_i"),
        /// Bank at which the search for a value begins.
        turn_i: u8 = field(s.bank_w()),
        /// A forced fetch finds a bus.
        bus_any_i: u8 = field(1),
    }
}

ports! {
    /// Outputs of [`StealDependence`].
    pub struct StealDependenceOut(s: &MrfShape) {
        /// The read of slot i waits for a parked value.
        req_parked_o: u64 = field(s.slots()),
        /// Entry in which the register of slot i is read.
        at_entry_o: [u16; MAX_SLOTS] = field(s.entry_w()).count(s.slots()).valid_by("req_valid_i"),
        /// Bank in which the register of slot i is read.
        at_bank_o: [u8; MAX_SLOTS] = field(s.bank_w()).count(s.slots()).valid_by("req_valid_i"),
        /// A head is for the free entry of bank b.
        alive_o: u32 = field(s.banks),
        /// The head of queue p waits for a parked value.
        write_parked_o: u8 = field(s.issue_ports),
        /// The head of queue p overwrites a parked value whole.
        drop_valid_o: u8 = field(s.issue_ports),
        /// Bank of this value.
        drop_bank_o: [u8; MAX_PORTS] = field(s.bank_w()).count(s.issue_ports).valid_by("drop_valid_o"),
        /// The register of the candidate's operand is parked somewhere.
        want_parked_o: u8 = field(s.sources()),
        /// A value is fetched in this cycle, whoever else wants the bank.
        force_valid_o: u8 = field(1),
        /// Bank from which the parked value is fetched.
        force_bank_o: u8 = field(s.bank_w()).valid_by("force_valid_o"),
        /// A read needs the value that is fetched.
        force_read_o: u8 = field(1),
        /// A write needs the value that is fetched.
        force_write_o: u8 = field(1),
        /// A write needs the entry in which the value is parked.
        force_alive_o: u8 = field(1),
    }
}

/// A forced fetch: the bank to fetch from, and the reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Force {
    pub(crate) bank: u8,
    pub(crate) read: bool,
    pub(crate) write: bool,
    pub(crate) alive: bool,
}

/// The results of the dependence check.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Dependence {
    /// Reads that wait for a parked value.
    pub(crate) reads: Slots,
    /// Heads that wait for a parked value.
    pub(crate) writes: u8,
    /// Heads that overwrite a whole parked value, and the bank where it is parked.
    pub(crate) drops: Parks,
    /// Operands of candidates whose values are parked.
    pub(crate) wants: u8,
    /// Banks whose free entry is the destination of a head.
    pub(crate) alive: u32,
    pub(crate) force: Option<Force>,
}

/// State that decides whether a value can be fetched back.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Way {
    /// The bank that a landing value takes.
    pub(crate) landing: Option<u8>,
    /// The bank at which the search for a value begins.
    pub(crate) turn: u8,
    /// A forced fetch would find a bus.
    pub(crate) any: bool,
}

/// Options from the straps, and the heads that write all lanes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spares {
    /// A read of a register with a parked value is performed where the value is parked.
    pub(crate) redirect: bool,
    /// Heads that drop the parked value that they overwrite.
    pub(crate) drop: u8,
}

/// The bank and entry where each read is performed, by slot.
#[derive(Clone, Copy)]
pub(crate) struct At {
    pub(crate) bank: [u8; MAX_SLOTS],
    pub(crate) entry: [u16; MAX_SLOTS],
}

impl At {
    /// The places where registers are parked, or else their own places. `slots`: slots that are looked up.
    #[inline]
    pub(crate) fn of(places: &Places, redirect: bool, slots: Slots, own: &Reads<'_>) -> Self {
        let mut at = Self { bank: *own.bank, entry: *own.entry };
        if redirect && places.parked != 0 {
            for slot in slots.iter() {
                let i = slot.index();
                if let Some(place) = places.place_of(own.bank[i], own.entry[i]) {
                    (at.bank[i], at.entry[i]) = place;
                }
            }
        }
        at
    }
}

/// Banks and entries of the reads in `valid`, by slot.
#[derive(Clone, Copy)]
pub(crate) struct Reads<'a> {
    pub(crate) valid: Slots,
    pub(crate) bank: &'a [u8; MAX_SLOTS],
    pub(crate) entry: &'a [u16; MAX_SLOTS],
}

impl Dependence {
    /// Looks up all reads, heads and wants.
    #[inline]
    pub(crate) fn of(
        places: &Places,
        spares: Spares,
        reads: &Reads<'_>,
        heads: &Targets,
        wants: &Wants,
        way: &Way,
    ) -> Self {
        let mut found = Self::default();
        for p in set_bits(heads.valid) {
            let bank = heads.bank[p];
            if is_set(places.free, bank.into()) && heads.entry[p] == places.free_entry[usize::from(bank)] {
                found.alive |= 1 << bank;
                found.writes |= u8::from(is_set(places.parked, bank.into())) << p;
            }
        }
        if places.parked == 0 {
            return found;
        }
        let (mut by_read, mut by_write) = (0u32, 0u32);
        for b in set_bits(places.parked) {
            let (bank, entry) = (places.bank[b], places.entry[b]);
            let is_it = |other: (u8, u16)| other == (bank, entry);
            for slot in reads.valid.when(!spares.redirect).iter() {
                let hit = is_it((reads.bank[slot.index()], reads.entry[slot.index()]));
                found.reads |= Slots::from(slot).when(hit);
                by_read |= u32::from(hit) << b;
            }
            for p in set_bits(heads.valid) {
                if !is_it((heads.bank[p], heads.entry[p])) {
                    continue;
                }
                if is_set(spares.drop, p) {
                    found.drops.valid |= 1 << p;
                    found.drops.bank[p] = b as u8;
                } else {
                    found.writes |= 1 << p;
                    by_write |= 1 << b;
                }
            }
            for i in set_bits(wants.valid) {
                found.wants |= u8::from(is_it((wants.bank[i], wants.entry[i]))) << i;
            }
        }
        let needed = by_read | by_write | places.parked & found.alive;
        // If the first value in turn would have to be fetched from the bank of a landing, it keeps the turn, and no value is fetched.
        if way.any
            && let Some(bank) = first_from(needed.into(), way.turn.into())
            && way.landing.is_none_or(|landing| usize::from(landing) != bank)
        {
            let (read, write) = (is_set(by_read, bank), is_set(by_write, bank));
            found.force = Some(Force { bank: bank as u8, read, write: write && !read, alive: !write && !read });
            // The forced value lands in the next cycle; the result that would have dropped it is written later.
            for p in set_bits(found.drops.valid) {
                found.writes |= u8::from(usize::from(found.drops.bank[p]) == bank) << p;
            }
        }
        found
    }
}

/// The arbiter's dependence check (stealing paper, IV-C1, IV-D1): looks up every register that is read or written in the table, and forces a fetch of values that are needed.
#[derive(Clone)]
pub struct StealDependence;

impl Block for StealDependence {
    const NAME: &'static str = "steal_dependence";
    const PARAMETERS: &'static [&'static str] = &["Banks", "Collectors", "IssuePorts", "Depth"];
    const CLOCKED: bool = false;

    type Shape = MrfShape;
    type In = StealDependenceIn;
    type Out = StealDependenceOut;
    type Probe = NoProbe<MrfShape>;

    fn new(_: &MrfShape) -> Self {
        Self
    }

    fn early(&self, _: &mut StealDependenceOut) {}

    fn late(&mut self, inputs: &StealDependenceIn, out: &mut StealDependenceOut) {
        let places = Places {
            free: inputs.free_valid_i,
            parked: inputs.parked_i,
            free_entry: inputs.free_entry_i,
            entry: inputs.parked_entry_i,
            bank: inputs.parked_bank_i,
        };
        let reads =
            Reads { valid: Slots::from_port(inputs.req_valid_i), bank: &inputs.req_bank_i, entry: &inputs.req_entry_i };
        let heads = Targets { valid: inputs.write_valid_i, bank: inputs.write_bank_i, entry: inputs.write_entry_i };
        let wants = Wants { valid: inputs.want_valid_i, bank: inputs.want_bank_i, entry: inputs.want_entry_i };
        let way = Way {
            landing: (inputs.land_valid_i != 0).then_some(inputs.land_bank_i),
            turn: inputs.turn_i,
            any: inputs.bus_any_i != 0,
        };
        let spares =
            Spares { redirect: inputs.redirect_i != 0, drop: if inputs.drop_i != 0 { inputs.write_full_i } else { 0 } };
        let found = Dependence::of(&places, spares, &reads, &heads, &wants, &way);
        let at = At::of(&places, spares.redirect, reads.valid, &reads);
        for slot in reads.valid.iter() {
            let i = slot.index();
            (out.at_bank_o[i], out.at_entry_o[i]) = (at.bank[i], at.entry[i]);
        }
        (out.drop_valid_o, out.drop_bank_o) = (found.drops.valid, found.drops.bank);
        (out.req_parked_o, out.write_parked_o) = (found.reads.to_port(), found.writes);
        (out.want_parked_o, out.alive_o) = (found.wants, found.alive);
        let Force { bank, read, write, alive } = found.force.unwrap_or_default();
        (out.force_valid_o, out.force_bank_o) = (found.force.is_some().into(), bank);
        (out.force_read_o, out.force_write_o, out.force_alive_o) = (read.into(), write.into(), alive.into());
    }

    fn clock(&mut self, _: &StealDependenceIn, _: &StealDependenceOut) {}

    fn probe(&self, _: &StealDependenceIn, _: &StealDependenceOut, _: &mut NoProbe<MrfShape>) {}
}

#[cfg(test)]
mod tests;
