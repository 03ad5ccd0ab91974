//! `steal_return`: returns a parked value to its register. `docs/blocks/steal_return.md`.

use super::steal_table::Parks;
use crate::mrf::{MAX_BANKS, MAX_PORTS, MrfShape};
use crate::{Block, field, ports};

ports! {
    /// Inputs of [`StealReturn`].
    pub struct StealReturnIn(s: &MrfShape) {
        /// Entries to which parked values belong.
        parked_entry_i: [u16; MAX_BANKS] = field(s.entry_w()).count(s.banks),
        /// Banks to which parked values belong.
        parked_bank_i: [u8; MAX_BANKS] = field(s.bank_w()).count(s.banks),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// A result is in queue p.
        head_valid_i: u8 = field(s.issue_ports),
        /// Values are parked at this edge.
        park_valid_i: u8 = field(s.issue_ports),
        /// Bank in which the result of queue p is parked.
        park_bank_i: [u8; MAX_PORTS] = field(s.bank_w()).count(s.issue_ports).valid_by("park_valid_i"),
        /// A parked value is read at this edge.
        fetch_valid_i: u8 = field(1),
        /// Bank in which the parked value is read.
        fetch_bank_i: u8 = field(s.bank_w()).valid_by("fetch_valid_i"),
    }
}

ports! {
    /// Outputs of [`StealReturn`].
    pub struct StealReturnOut(s: &MrfShape) {
        /// Banks in which a value was parked in the last cycle.
        fresh_o: u32 = field(s.banks).early().shows("fresh_q"),
        /// Entry into which the value goes.
        land_entry_o: u16 = field(s.entry_w()).valid_by("land_valid_o").early().shows("land_entry_q"),
        /// A value is on its bus and goes into its register at this edge.
        land_valid_o: u8 = field(1).early().shows("land_valid_q"),
        /// Bank whose output has the landing value.
        land_source_o: u8 = field(s.bank_w()).valid_by("land_valid_o").early().shows("land_source_q"),
        /// Bank that takes the landing value.
        land_bank_o: u8 = field(s.bank_w()).valid_by("land_valid_o").early().shows("land_bank_q"),
        /// Bus of the landing value.
        land_port_o: u8 = field(1).valid_by("land_valid_o").early().shows("land_port_q"),
        /// Some queue is empty.
        bus_free_o: u8 = field(1),
        /// Some queue is empty, or some bus has no landing value.
        bus_any_o: u8 = field(1),
        /// Bank at which the search for a value begins.
        turn_o: u8 = field(s.bank_w()).early().shows("turn_q"),
    }
}

ports! {
    /// What [`StealReturn`] decides inside.
    pub struct StealReturnProbe(s: &MrfShape) {
        /// The bus of a fetch.
        bus_port: u8 = field(1),
    }
}

/// A value that is written back into its register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Landing {
    pub(crate) entry: u16,
    /// The bank that has the value at its output.
    pub(crate) source: u8,
    /// The bank that the value is written into.
    pub(crate) bank: u8,
    /// The result bus that the value uses.
    pub(crate) port: u8,
}

/// The result buses, as fetches see them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Buses {
    /// Some queue is empty, so an unforced fetch finds a bus.
    pub(crate) free: bool,
    /// A forced fetch would find a bus.
    pub(crate) any: bool,
    /// The bus that a fetch uses.
    pub(crate) port: u8,
}

/// Holds for one cycle the destination of the value that is being fetched, and selects its result bus (stealing paper, IV-C2).
#[derive(Clone, Debug)]
pub struct StealReturn {
    banks: u8,
    /// One bit for each bus.
    ports: u8,
    landing_q: Option<Landing>,
    turn_q: u8,
    fresh_q: u32,
}

impl StealReturn {
    /// The value that lands.
    #[inline]
    pub(crate) fn landing(&self) -> Option<Landing> {
        self.landing_q
    }

    /// The bank at which the next search for a value begins.
    #[inline]
    pub(crate) fn turn(&self) -> u8 {
        self.turn_q
    }

    /// Banks in which a value was parked in the last cycle.
    #[inline]
    pub(crate) fn fresh(&self) -> u32 {
        self.fresh_q
    }

    /// The buses, for queues of which those in `heads` hold a result.
    #[inline]
    pub(crate) fn buses(&self, heads: u8) -> Buses {
        let empty = !heads & self.ports;
        let quiet = self.ports & !self.landing_q.map_or(0, |landing| 1 << landing.port);
        let candidates = if empty != 0 { empty } else { quiet };
        let port = if candidates == 0 { 0 } else { candidates.trailing_zeros() as u8 };
        Buses { free: empty != 0, any: candidates != 0, port }
    }

    /// The clock edge. `fetch`: the value that is read, with its destination and its bus; `parks`: the results that are parked.
    #[inline]
    pub(crate) fn advance(&mut self, running: bool, fetch: Option<Landing>, parks: &Parks) {
        if !running {
            (self.landing_q, self.turn_q, self.fresh_q) = (None, 0, 0);
            return;
        }
        self.landing_q = fetch;
        if let Some(landing) = fetch {
            self.turn_q = (landing.source + 1) % self.banks;
        }
        self.fresh_q = parks.banks();
    }
}

impl Block for StealReturn {
    const NAME: &'static str = "steal_return";
    const PARAMETERS: &'static [&'static str] = &["Banks", "IssuePorts", "Depth"];

    type Shape = MrfShape;
    type In = StealReturnIn;
    type Out = StealReturnOut;
    type Probe = StealReturnProbe;

    fn new(shape: &MrfShape) -> Self {
        Self {
            banks: shape.banks as u8,
            ports: u8::MAX >> (u8::BITS as usize - shape.issue_ports),
            landing_q: None,
            turn_q: 0,
            fresh_q: 0,
        }
    }

    fn early(&self, out: &mut StealReturnOut) {
        out.land_valid_o = self.landing_q.is_some().into();
        let Landing { entry, source, bank, port } = self.landing_q.unwrap_or_default();
        (out.land_entry_o, out.land_source_o, out.land_bank_o, out.land_port_o) = (entry, source, bank, port);
        (out.turn_o, out.fresh_o) = (self.turn_q, self.fresh_q);
    }

    fn late(&mut self, inputs: &StealReturnIn, out: &mut StealReturnOut) {
        let buses = self.buses(inputs.head_valid_i);
        (out.bus_free_o, out.bus_any_o) = (buses.free.into(), buses.any.into());
    }

    fn clock(&mut self, inputs: &StealReturnIn, _: &StealReturnOut) {
        let source = inputs.fetch_bank_i;
        let fetch = (inputs.fetch_valid_i != 0).then(|| Landing {
            entry: inputs.parked_entry_i[usize::from(source)],
            source,
            bank: inputs.parked_bank_i[usize::from(source)],
            port: self.buses(inputs.head_valid_i).port,
        });
        self.advance(inputs.rst_ni != 0, fetch, &Parks { valid: inputs.park_valid_i, bank: inputs.park_bank_i });
    }

    fn probe(&self, inputs: &StealReturnIn, _: &StealReturnOut, probe: &mut StealReturnProbe) {
        probe.bus_port = self.buses(inputs.head_valid_i).port;
    }
}

#[cfg(test)]
mod tests;
