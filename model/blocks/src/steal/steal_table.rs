//! `steal_table`: records free entries, and the registers whose values are parked. `docs/blocks/steal_table.md`.

use crate::mrf::bits::{is_set, only, set_bits};
use crate::mrf::{MAX_BANKS, MAX_PORTS, MrfShape};
use crate::{Block, NoProbe, field, ports};

ports! {
    /// Inputs of [`StealTable`].
    pub struct StealTableIn(s: &MrfShape) {
        /// A head is for the free entry of bank b.
        alive_i: u32 = field(s.banks),
        /// Entries of the registers that are dead.
        hint_entry_i: [u16; MAX_PORTS] = field(s.entry_w()).count(s.issue_ports).valid_by("hint_valid_i"),
        /// Entries of the heads.
        write_entry_i: [u16; MAX_PORTS] = field(s.entry_w()).count(s.issue_ports).valid_by("write_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// A grid is about to begin.
        clear_i: u8 = field(1),
        /// The last row belongs to no warp.
        spare_i: u8 = field(1).valid_by("clear_i"),
        /// A register is dead.
        hint_valid_i: u8 = field(s.issue_ports),
        /// Bank of the register that is dead.
        hint_bank_i: [u8; MAX_PORTS] = field(s.bank_w()).count(s.issue_ports).valid_by("hint_valid_i"),
        /// A result is at the head of write queue p.
        write_valid_i: u8 = field(s.issue_ports),
        /// Bank of the result at the head of write queue p.
        write_bank_i: [u8; MAX_PORTS] = field(s.bank_w()).count(s.issue_ports).valid_by("write_valid_i"),
        /// Head p is parked at this edge.
        park_valid_i: u8 = field(s.issue_ports),
        /// Bank in which the result of queue p is parked.
        park_bank_i: [u8; MAX_PORTS] = field(s.bank_w()).count(s.issue_ports).valid_by("park_valid_i"),
        /// The parked value that head p overwrites is dropped at this edge.
        drop_valid_i: u8 = field(s.issue_ports),
        /// Bank whose value is dropped.
        drop_bank_i: [u8; MAX_PORTS] = field(s.bank_w()).count(s.issue_ports).valid_by("drop_valid_i"),
        /// A parked value is read at this edge.
        fetch_valid_i: u8 = field(1),
        /// Bank in which the parked value is read.
        fetch_bank_i: u8 = field(s.bank_w()).valid_by("fetch_valid_i"),
    }
}

ports! {
    /// Outputs of [`StealTable`].
    pub struct StealTableOut(s: &MrfShape) {
        /// Banks with a free entry.
        free_valid_o: u32 = field(s.banks).early().shows("free_valid_q"),
        /// Banks with a value in their free entry.
        parked_o: u32 = field(s.banks).early().shows("parked_q"),
        /// The free entries.
        free_entry_o: [u16; MAX_BANKS] =
            field(s.entry_w()).count(s.banks).valid_by("free_valid_o").early().shows("free_entry_q"),
        /// Entries to which the values belong.
        parked_entry_o: [u16; MAX_BANKS] =
            field(s.entry_w()).count(s.banks).valid_by("parked_o").early().shows("parked_entry_q"),
        /// Banks to which parked values belong.
        parked_bank_o: [u8; MAX_BANKS] =
            field(s.bank_w()).count(s.banks).valid_by("parked_o").early().shows("parked_bank_q"),
        /// Hints that are taken.
        hint_taken_o: u8 = field(s.issue_ports),
    }
}

/// Registers by port: valid bits, banks and entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Targets {
    pub(crate) valid: u8,
    pub(crate) bank: [u8; MAX_PORTS],
    pub(crate) entry: [u16; MAX_PORTS],
}

impl Targets {
    /// Whether one of the valid registers is this one.
    #[inline]
    fn has(&self, bank: u8, entry: u16) -> bool {
        set_bits(self.valid).any(|p| (self.bank[p], self.entry[p]) == (bank, entry))
    }
}

/// The parkings of a cycle: for each queue that parks, the bank in which it parks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parks {
    pub(crate) valid: u8,
    pub(crate) bank: [u8; MAX_PORTS],
}

impl Parks {
    /// The banks of all parkings.
    #[inline]
    pub(crate) fn banks(&self) -> u32 {
        set_bits(self.valid).fold(0, |banks, p| banks | 1 << self.bank[p])
    }
}

/// The inputs of the table at a clock edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TableEdge {
    /// A grid is about to begin; whether the last row is spare.
    pub(crate) clear: Option<bool>,
    pub(crate) hints: Targets,
    pub(crate) heads: Targets,
    pub(crate) parks: Parks,
    /// The bank whose parked value is fetched.
    pub(crate) fetch: Option<u8>,
    /// The banks whose parked value is dropped.
    pub(crate) drops: u32,
    /// Banks whose free entry is the destination of a head.
    pub(crate) alive: u32,
}

/// The state of the table: for each bank a free entry, and the register whose value is parked there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places {
    pub(crate) free: u32,
    pub(crate) parked: u32,
    pub(crate) free_entry: [u16; MAX_BANKS],
    pub(crate) entry: [u16; MAX_BANKS],
    pub(crate) bank: [u8; MAX_BANKS],
}

impl Places {
    /// Whether the value of a register is parked in any bank.
    #[inline]
    pub(crate) fn holds(&self, bank: u8, entry: u16) -> bool {
        set_bits(self.parked).any(|b| (self.bank[b], self.entry[b]) == (bank, entry))
    }

    /// The bank and the entry in which the value of a register is parked; the highest such bank.
    #[inline]
    pub(crate) fn place_of(&self, bank: u8, entry: u16) -> Option<(u8, u16)> {
        let found = set_bits(self.parked).filter(|&b| (self.bank[b], self.entry[b]) == (bank, entry)).last();
        found.map(|b| (b as u8, self.free_entry[b]))
    }
}

/// For each bank one free entry, and the register whose value is parked there (stealing paper, figure 9).
#[derive(Clone, Debug)]
pub struct StealTable {
    last: u16,
    all: u32,
    places_q: Places,
}

impl StealTable {
    /// The state of the table.
    #[inline]
    pub(crate) fn places(&self) -> &Places {
        &self.places_q
    }

    /// The hints that are taken.
    #[inline]
    pub(crate) fn taken(&self, edge: &TableEdge) -> u8 {
        if edge.clear.is_some() {
            return 0;
        }
        let (places, hints) = (&self.places_q, &edge.hints);
        let occupied = places.parked | edge.parks.banks();
        set_bits(hints.valid).fold(0, |taken, p| {
            let (bank, entry) = (hints.bank[p], hints.entry[p]);
            let refused = is_set(occupied, bank.into()) || places.holds(bank, entry) || edge.heads.has(bank, entry);
            taken | u8::from(!refused) << p
        })
    }

    /// The clock edge. Payload is loaded in reset, too.
    #[inline]
    pub(crate) fn advance(&mut self, running: bool, edge: &TableEdge) {
        let taken = self.taken(edge);
        let places = &mut self.places_q;
        if let Some(spare) = edge.clear {
            places.free = if spare { self.all } else { 0 };
            places.free_entry = [self.last; MAX_BANKS];
            places.parked = 0;
        } else {
            places.free &= !(edge.alive & !places.parked);
            // The higher port is handled last, so that it overrides.
            for p in set_bits(taken) {
                let bank = edge.hints.bank[p];
                places.free |= 1 << bank;
                places.free_entry[usize::from(bank)] = edge.hints.entry[p];
            }
            if let Some(bank) = edge.fetch {
                places.parked &= !(1 << bank);
            }
            places.parked &= !edge.drops;
            for p in set_bits(edge.parks.valid) {
                let bank = usize::from(edge.parks.bank[p]);
                places.parked |= 1 << bank;
                (places.bank[bank], places.entry[bank]) = (edge.heads.bank[p], edge.heads.entry[p]);
            }
        }
        if !running {
            (places.free, places.parked) = (0, 0);
        }
    }
}

/// The inputs of the table at the ports.
fn told(inputs: &StealTableIn) -> TableEdge {
    TableEdge {
        clear: (inputs.clear_i != 0).then_some(inputs.spare_i != 0),
        hints: Targets { valid: inputs.hint_valid_i, bank: inputs.hint_bank_i, entry: inputs.hint_entry_i },
        heads: Targets { valid: inputs.write_valid_i, bank: inputs.write_bank_i, entry: inputs.write_entry_i },
        parks: Parks { valid: inputs.park_valid_i, bank: inputs.park_bank_i },
        drops: Parks { valid: inputs.drop_valid_i, bank: inputs.drop_bank_i }.banks(),
        fetch: (inputs.fetch_valid_i != 0).then_some(inputs.fetch_bank_i),
        alive: inputs.alive_i,
    }
}

impl Block for StealTable {
    const NAME: &'static str = "steal_table";
    const PARAMETERS: &'static [&'static str] = &["Banks", "IssuePorts", "Depth"];

    type Shape = MrfShape;
    type In = StealTableIn;
    type Out = StealTableOut;
    type Probe = NoProbe<MrfShape>;

    fn new(shape: &MrfShape) -> Self {
        Self { last: (shape.depth - 1) as u16, all: u32::MAX >> (MAX_BANKS - shape.banks), places_q: Places::default() }
    }

    fn early(&self, out: &mut StealTableOut) {
        let Places { free, parked, free_entry, entry, bank } = &self.places_q;
        (out.free_valid_o, out.free_entry_o) = (*free, only(free_entry, *free));
        (out.parked_o, out.parked_bank_o, out.parked_entry_o) = (*parked, only(bank, *parked), only(entry, *parked));
    }

    fn late(&mut self, inputs: &StealTableIn, out: &mut StealTableOut) {
        out.hint_taken_o = self.taken(&told(inputs));
    }

    fn clock(&mut self, inputs: &StealTableIn, _: &StealTableOut) {
        self.advance(inputs.rst_ni != 0, &told(inputs));
    }

    fn probe(&self, _: &StealTableIn, _: &StealTableOut, _: &mut NoProbe<MrfShape>) {}
}

#[cfg(test)]
mod tests;
