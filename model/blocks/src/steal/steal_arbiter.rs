//! `steal_arbiter`: grants accesses to banks, and lets others steal idle banks. `docs/blocks/steal_arbiter.md`.

use super::MAX_SOURCES;
use super::steal_candidates::Wants;
use super::steal_dependence::{Dependence, Force, Reads};
use super::steal_return::Landing;
use super::steal_table::{Parks, Places};
use crate::mrf::bits::{count_ports, first_from, is_set, lowest, oldest, only, pack, set_bits};
use crate::mrf::mrf_arbiter::{Requests, Writes, hits, next_from};
use crate::mrf::slots::Slots;
use crate::mrf::{MAX_BANKS, MAX_COLLECTORS, MAX_PORTS, MAX_SLOTS, MRF_ARBITER_EVENT, MrfShape};
use crate::{Block, Decode, OPERANDS, field, ports};

/// Fields of `steal_arbiter_event_t`, most significant first.
pub const STEAL_ARBITER_EVENT: &[(&str, u32)] = &[
    ("candidate", 2),
    ("sharing", 3),
    ("stolen", 3),
    ("steal", 2),
    ("blocking_read", 2),
    ("write_normal", 2),
    ("write_forced", 2),
    ("write_partial", 2),
    ("write_next", 2),
    ("write_parked", 2),
    ("write_wait_parked", 2),
    ("write_wait_bus", 2),
    ("return_next", 1),
    ("return_later", 1),
    ("return_forced", 1),
    ("force_read", 1),
    ("force_write", 1),
    ("force_alive", 1),
    ("land", 1),
    ("wait_parked", 6),
    ("wait_return", 6),
    ("parked", 6),
    ("places", 6),
];

/// Fields of `steal_place_event_t`, most significant first.
pub const STEAL_PLACE_EVENT: &[(&str, u32)] = &[("redirected", 6), ("dropped", 2)];

/// 4-lane groups of a whole register: the groups of a value that is fetched or that lands.
const ALL_GROUPS: u32 = 8;

ports! {
    /// Inputs of [`StealArbiter`].
    pub struct StealArbiterIn(s: &MrfShape) {
        /// Slot i wants to read.
        req_valid_i: u64 = field(s.slots()),
        /// The read of slot i waits for a parked value.
        req_parked_i: u64 = field(s.slots()),
        /// Banks with a free entry.
        free_valid_i: u32 = field(s.banks),
        /// Banks with a value in their free entry.
        parked_i: u32 = field(s.banks),
        /// Banks whose free entry a head is for.
        alive_i: u32 = field(s.banks),
        /// Banks in which a value was parked in the last cycle.
        fresh_i: u32 = field(s.banks),
        /// Entry that slot i wants to read.
        req_entry_i: [u16; MAX_SLOTS] = field(s.entry_w()).count(s.slots()).valid_by("req_valid_i"),
        /// Entry in which the read of slot i is performed.
        at_entry_i: [u16; MAX_SLOTS] = field(s.entry_w()).count(s.slots()).valid_by("req_valid_i"),
        /// Bit d of element c: collector d is older than c.
        older_i: [u16; MAX_COLLECTORS] = field(s.collectors).count(s.collectors),
        /// Entry each queue writes.
        write_entry_i: [u16; MAX_PORTS] = field(s.entry_w()).count(s.issue_ports).valid_by("write_valid_i"),
        /// Entry of each operand of the candidates.
        want_entry_i: [u16; MAX_SOURCES] = field(s.entry_w()).count(s.sources()).valid_by("want_valid_i"),
        /// The free entries, and those with a value in them.
        free_entry_i: [u16; MAX_BANKS] = field(s.entry_w()).count(s.banks),
        /// Entry into which a landing value goes.
        land_entry_i: u16 = field(s.entry_w()).valid_by("land_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Straps: order among the reads of a bank, read stealing, write stealing, eager, unread; two of `steal_dependence`.
        cfg_i: u8 = field(7),
        /// Bank that slot i wants to read.
        req_bank_i: [u8; MAX_SLOTS] = field(s.bank_w()).count(s.slots()).valid_by("req_valid_i"),
        /// Bank in which the read of slot i is performed.
        at_bank_i: [u8; MAX_SLOTS] = field(s.bank_w()).count(s.slots()).valid_by("req_valid_i"),
        /// 4-lane groups a read of collector c costs.
        req_groups_i: [u8; MAX_COLLECTORS] = field(4).count(s.collectors),
        /// Banks to which parked values belong.
        parked_bank_i: [u8; MAX_BANKS] = field(s.bank_w()).count(s.banks).valid_by("parked_i"),
        /// A result waits in queue p.
        write_valid_i: u8 = field(s.issue_ports),
        /// Bank each queue writes.
        write_bank_i: [u8; MAX_PORTS] = field(s.bank_w()).count(s.issue_ports).valid_by("write_valid_i"),
        /// 4-lane groups each queue writes.
        write_groups_i: [u8; MAX_PORTS] = field(4).count(s.issue_ports).valid_by("write_valid_i"),
        /// The result has all lanes.
        write_full_i: u8 = field(s.issue_ports).valid_by("write_valid_i"),
        /// The next instruction of the result's warp reads it.
        write_next_i: u8 = field(s.issue_ports).valid_by("write_valid_i"),
        /// The result waits for a parked value.
        write_parked_i: u8 = field(s.issue_ports),
        /// The result overwrites a parked value whole.
        drop_valid_i: u8 = field(s.issue_ports),
        /// Bank of this value.
        drop_bank_i: [u8; MAX_PORTS] = field(s.bank_w()).count(s.issue_ports).valid_by("drop_valid_i"),
        /// Operands of the candidates.
        want_valid_i: u8 = field(s.sources()),
        /// Bank of each operand.
        want_bank_i: [u8; MAX_SOURCES] = field(s.bank_w()).count(s.sources()).valid_by("want_valid_i"),
        /// The register of the candidate's operand is parked somewhere.
        want_parked_i: u8 = field(s.sources()),
        /// A parked value is fetched now, whoever wants its bank.
        force_valid_i: u8 = field(1),
        /// Bank from which the parked value is fetched.
        force_bank_i: u8 = field(s.bank_w()).valid_by("force_valid_i"),
        /// A read needs the value that is fetched.
        force_read_i: u8 = field(1).valid_by("force_valid_i"),
        /// A write needs the value that is fetched.
        force_write_i: u8 = field(1).valid_by("force_valid_i"),
        /// A write needs the entry in which the value is parked.
        force_alive_i: u8 = field(1).valid_by("force_valid_i"),
        /// A value lands.
        land_valid_i: u8 = field(1),
        /// Bank that takes the landing value.
        land_bank_i: u8 = field(s.bank_w()).valid_by("land_valid_i"),
        /// Bus of the landing value.
        land_port_i: u8 = field(1).valid_by("land_valid_i"),
        /// Bank at which the search for a value begins.
        turn_i: u8 = field(s.bank_w()),
        /// A result bus is free.
        bus_free_i: u8 = field(1),
    }
}

ports! {
    /// Outputs of [`StealArbiter`].
    pub struct StealArbiterOut(s: &MrfShape) {
        /// The read of slot i is performed at this edge.
        grant_o: u64 = field(s.slots()),
        /// Events of this cycle: `mrf_arbiter_event_t`.
        event_o: u64 = field(44).shown(Decode::Packed(MRF_ARBITER_EVENT)),
        /// Events of this cycle: `steal_arbiter_event_t`.
        steal_event_o: u64 = field(57).shown(Decode::Packed(STEAL_ARBITER_EVENT)),
        /// Events of this cycle: `steal_place_event_t`.
        place_event_o: u64 = field(8).shown(Decode::Packed(STEAL_PLACE_EVENT)),
        /// Bank b reads.
        read_valid_o: u32 = field(s.banks),
        /// Bank b writes.
        bank_write_valid_o: u32 = field(s.banks),
        /// Bit b: bus whose result bank b writes; 0 where `bank_write_valid_o[b]` is 0.
        bank_write_port_o: u32 = field(s.banks),
        /// Entry bank b reads.
        read_entry_o: [u16; MAX_BANKS] = field(s.entry_w()).count(s.banks).valid_by("read_valid_o"),
        /// Entry bank b writes.
        bank_write_entry_o: [u16; MAX_BANKS] = field(s.entry_w()).count(s.banks).valid_by("bank_write_valid_o"),
        /// The operand of a candidate is read at this edge.
        stolen_o: u8 = field(s.sources()),
        /// The result of queue p is written into its bank or parked at this edge.
        write_done_o: u8 = field(s.issue_ports),
        /// The result of queue p is parked.
        park_valid_o: u8 = field(s.issue_ports),
        /// Bank in which the result of queue p is parked.
        park_bank_o: [u8; MAX_PORTS] = field(s.bank_w()).count(s.issue_ports).valid_by("park_valid_o"),
        /// The parked value that the result of queue p overwrites is dropped at this edge.
        drop_o: u8 = field(s.issue_ports),
        /// A parked value is read at this edge.
        fetch_valid_o: u8 = field(1),
        /// Bank in which the parked value is read.
        fetch_bank_o: u8 = field(s.bank_w()).valid_by("fetch_valid_o"),
        /// The fetch of the parked value was forced.
        fetch_forced_o: u8 = field(1),
    }
}

ports! {
    /// State of [`StealArbiter`].
    pub struct StealArbiterProbe(s: &MrfShape) {
        /// Collector where bank b's next round-robin search begins.
        rr_q: [u8; MAX_BANKS] = field(s.col_w()).count(s.banks),
        /// Queue that goes first when both want a bank.
        turn_q: u8 = field(1),
        /// Bank where the next search for a parking place begins.
        park_turn_q: u8 = field(s.bank_w()),
    }
}

/// The straps.
#[derive(Clone, Copy)]
struct StealStraps {
    round_robin: bool,
    reads: bool,
    writes: bool,
    eager: bool,
    unread: bool,
}

impl StealStraps {
    #[inline]
    fn of(word: u8) -> Self {
        let bit = |bit: usize| is_set(word, bit);
        Self { round_robin: bit(0), reads: bit(1), writes: bit(2), eager: bit(3), unread: bit(4) }
    }

    /// Results that may not be parked, because the next instruction of their warp reads them.
    #[inline]
    fn needed_soon(self, around: &Around<'_>) -> u8 {
        if self.unread { around.next } else { 0 }
    }
}

/// Inputs that `mrf_arbiter` does not have.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    pub(crate) places: &'a Places,
    pub(crate) wants: &'a Wants,
    /// The registers of the reads, in their own places, wherever the reads are performed.
    pub(crate) own: &'a Reads<'a>,
    pub(crate) needs: &'a Dependence,
    pub(crate) landing: Option<Landing>,
    /// Results that write all lanes.
    pub(crate) full: u8,
    /// Results that the next instruction of their warp reads.
    pub(crate) next: u8,
    /// The bank at which the search for a value begins; whether a bus is free for it; banks with a newly parked value.
    pub(crate) turn: u8,
    pub(crate) bus_free: bool,
    pub(crate) fresh: u32,
}

/// The decisions of the arbiter: its outputs. Entries of idle banks have no meaning.
#[derive(Clone, Copy, Default)]
pub(crate) struct Decisions {
    pub(crate) grant: Slots,
    pub(crate) stolen: u8,
    pub(crate) write_done: u8,
    pub(crate) parks: Parks,
    /// Results that drop the parked value of their register; number of reads that are performed where their value is parked.
    pub(crate) drop: u8,
    pub(crate) redirected: u32,
    pub(crate) fetch: Option<u8>,
    pub(crate) forced: bool,
    pub(crate) read_valid: u32,
    pub(crate) bank_write_valid: u32,
    pub(crate) bank_write_port: u32,
    pub(crate) read_entry: [u16; MAX_BANKS],
    pub(crate) bank_write_entry: [u16; MAX_BANKS],
    /// The fields of `mrf_arbiter_event_t`, and those of `steal_arbiter_event_t`.
    pub(crate) counts: [u32; MRF_ARBITER_EVENT.len()],
    pub(crate) steal_counts: [u32; STEAL_ARBITER_EVENT.len()],
}

impl Decisions {
    /// The fields of `steal_place_event_t`.
    pub(crate) fn place_counts(&self) -> [u32; STEAL_PLACE_EVENT.len()] {
        [self.redirected, count_ports(self.drop)]
    }
}

/// The claims on banks, and the outcomes of results.
#[derive(Clone, Copy, Default)]
struct Claims {
    /// Reads that may be granted, and those of them that hold back a result.
    active: Slots,
    blocking: Slots,
    /// Banks with an active read, and banks with several.
    requested: u32,
    contested: u32,
    /// Banks that a landing or a forced fetch uses; banks with a blocking read; banks worth a theft.
    closed: u32,
    blocked: u32,
    coveted: u32,
    /// Operands that may be stolen.
    stealable: u8,
    /// Results by their outcome.
    held: u8,
    bus: u8,
    opposed: u8,
    going: u8,
    /// Banks that write a result into its own place.
    writing: u32,
}

/// Grants banks to reads and writes, and lets others steal the banks that stay idle (stealing paper, IV-D, figure 10).
#[derive(Clone)]
pub struct StealArbiter {
    banks: u8,
    collectors: u8,
    rr_q: [u8; MAX_BANKS],
    turn_q: u8,
    park_turn_q: u8,
    /// The two turns after this cycle.
    turn_d: u8,
    park_turn_d: u8,
    decisions: Decisions,
    /// Active reads of each requested bank.
    slots: [Slots; MAX_BANKS],
    /// Banks that perform a normal read, and the collector that each read serves.
    reading: u32,
    chosen: [u8; MAX_BANKS],
}

/// The banks of the members of a set.
#[inline]
fn banks_of(set: u8, bank: &[u8]) -> u32 {
    set_bits(set).fold(0, |banks, i| banks | 1 << bank[i])
}

/// The banks that several members of a set have in common.
#[inline]
fn shared(set: u8, bank: &[u8]) -> u32 {
    let (_, several) = set_bits(set).fold((0u32, 0u32), |(one, several), i| {
        let bit = 1 << bank[i];
        (one | bit, several | one & bit)
    });
    several
}

/// The members of a set whose bank is in `banks`.
#[inline]
fn within(set: u8, bank: &[u8], banks: u32) -> u8 {
    set_bits(set).fold(0, |found, i| found | u8::from(is_set(banks, bank[i].into())) << i)
}

impl StealArbiter {
    /// The decisions.
    #[inline]
    pub(crate) fn decisions(&self) -> &Decisions {
        &self.decisions
    }

    /// Makes all decisions. Requests name the banks and entries where the reads are performed.
    #[inline]
    pub(crate) fn decide(&mut self, straps: u8, requests: &Requests<'_>, writes: &Writes, around: &Around<'_>) {
        let straps = StealStraps::of(straps);
        self.decisions = Decisions {
            read_entry: self.decisions.read_entry,
            bank_write_entry: self.decisions.bank_write_entry,
            ..Decisions::default()
        };
        (self.turn_d, self.park_turn_d) = (self.turn_q, self.park_turn_q);
        let mut claims = self.claim(straps, requests, writes, around);
        self.write(straps, writes, around, &mut claims);
        self.read(straps, requests, &claims);
        self.steal(&claims, around.wants);
        self.fetch(requests, around, &claims);
        let decisions = &mut self.decisions;
        decisions.drop = around.needs.drops.valid & decisions.write_done;
        let moved = |i: usize| requests.bank[i] != around.own.bank[i];
        decisions.redirected = decisions.grant.iter().filter(|slot| moved(slot.index())).count() as u32;
        self.count(requests, writes, around.landing.is_some(), &claims);
        self.count_thefts(straps, requests, writes, around, &claims);
    }

    /// Determines the claims on banks.
    #[inline]
    fn claim(&mut self, straps: StealStraps, requests: &Requests<'_>, writes: &Writes, around: &Around<'_>) -> Claims {
        let Around { needs, wants, landing, .. } = around;
        let mut claims = Claims { active: requests.valid - needs.reads, ..Claims::default() };
        claims.closed =
            landing.map_or(0, |landing| 1 << landing.bank) | needs.force.map_or(0, |force| 1u32 << force.bank);
        for slot in claims.active.iter() {
            let bank = requests.bank[slot.index()];
            let bit = 1 << bank;
            let others = if claims.requested & bit != 0 { self.slots[usize::from(bank)] } else { Slots::NONE };
            self.slots[usize::from(bank)] = others | slot.into();
            claims.contested |= claims.requested & bit;
            claims.requested |= bit;
        }
        if writes.valid != 0 {
            let own = Requests { bank: around.own.bank, entry: around.own.entry, ..*requests };
            for (p, hits) in hits(&own, writes).into_iter().enumerate() {
                claims.held |= u8::from(!hits.is_empty()) << p;
                let blocking = hits & claims.active;
                claims.blocking |= blocking;
                for slot in blocking.iter() {
                    claims.blocked |= 1 << requests.bank[slot.index()];
                }
            }
        }
        claims.stealable = wants.valid & !needs.wants;
        if straps.reads {
            let wanted = match straps.eager {
                true => banks_of(claims.stealable, &wants.bank),
                false => shared(claims.stealable, &wants.bank),
            };
            claims.coveted = wanted & !claims.closed & !claims.requested;
        }
        claims.bus = writes.valid & landing.map_or(0, |landing| 1 << landing.port);
        claims
    }

    /// Decides which results are written, and which are parked.
    #[inline]
    fn write(&mut self, straps: StealStraps, writes: &Writes, around: &Around<'_>, claims: &mut Claims) {
        let (places, decisions) = (around.places, &mut self.decisions);
        if let Some(Landing { entry, bank, port, .. }) = around.landing {
            decisions.bank_write_valid = 1 << bank;
            decisions.bank_write_port = u32::from(port) << bank;
            decisions.bank_write_entry[usize::from(bank)] = entry;
        }
        let able = writes.valid & !claims.held & !around.needs.writes & !claims.bus;
        if able == 0 {
            return;
        }
        let taken = claims.closed | claims.requested | claims.coveted;
        claims.opposed = within(able, &writes.bank, taken);
        if straps.writes {
            let idle = !(taken | banks_of(able, &writes.bank));
            let mut left = places.free & !places.parked & !around.needs.alive & idle;
            let parkable = around.full & !straps.needed_soon(around);
            for p in set_bits(claims.opposed & parkable) {
                let Some(bank) = first_from(left.into(), self.park_turn_q.into()) else { break };
                left &= !(1 << bank);
                decisions.parks.valid |= 1 << p;
                decisions.parks.bank[p] = bank as u8;
                self.park_turn_d = (bank as u8 + 1) % self.banks;
                decisions.bank_write_entry[bank] = places.free_entry[bank];
            }
        }
        let mut going = within(able & !decisions.parks.valid, &writes.bank, !(claims.closed | claims.blocked));
        if going == 0b11 && writes.bank[0] == writes.bank[1] {
            going = 1 << self.turn_q;
            self.turn_d = 1 - self.turn_q;
        }
        claims.going = going;
        for p in set_bits(going) {
            let bank = usize::from(writes.bank[p]);
            claims.writing |= 1 << bank;
            decisions.bank_write_entry[bank] = writes.entry[p];
        }
        decisions.bank_write_valid |= claims.writing | decisions.parks.banks();
        decisions.write_done = going | decisions.parks.valid;
        if is_set(going, 1) {
            decisions.bank_write_port |= 1 << writes.bank[1];
        }
        if is_set(decisions.parks.valid, 1) {
            decisions.bank_write_port |= 1 << decisions.parks.bank[1];
        }
    }

    /// Decides the normal reads.
    #[inline]
    fn read(&mut self, straps: StealStraps, requests: &Requests<'_>, claims: &Claims) {
        self.reading = 0;
        for bank in set_bits(claims.requested & !claims.closed & !claims.writing) {
            let mut candidates = self.slots[bank];
            if is_set(claims.blocked, bank) {
                candidates = candidates & claims.blocking;
            }
            let readers = candidates.collectors();
            let reader = match straps.round_robin {
                true => next_from(readers, self.rr_q[bank]),
                false => lowest(oldest(readers, requests.older)),
            };
            if reader == 0 {
                continue;
            }
            let slot = candidates.first_of(reader);
            self.reading |= 1 << bank;
            self.chosen[bank] = slot.collector() as u8;
            self.decisions.grant |= slot.into();
            self.decisions.read_entry[bank] = requests.entry[slot.index()];
        }
        self.decisions.read_valid = self.reading;
    }

    /// Decides the thefts.
    #[inline]
    fn steal(&mut self, claims: &Claims, wants: &Wants) {
        let banks = claims.coveted & !claims.writing;
        for bank in set_bits(banks) {
            let wanted = within(claims.stealable, &wants.bank, 1 << bank);
            let (first, second) = (wanted & 0b111, wanted & 0b111 << OPERANDS);
            let source = if second != 0 { second } else { first }.trailing_zeros() as usize;
            self.decisions.stolen |= 1 << source;
            self.decisions.read_entry[bank] = wants.entry[source];
        }
        self.decisions.read_valid |= banks;
    }

    /// Decides which parked value is fetched.
    #[inline]
    fn fetch(&mut self, requests: &Requests<'_>, around: &Around<'_>, claims: &Claims) {
        let (places, decisions) = (around.places, &mut self.decisions);
        if let Some(force) = around.needs.force {
            (decisions.fetch, decisions.forced) = (Some(force.bank), true);
        } else if around.bus_free && around.needs.reads.is_empty() && around.needs.writes == 0 {
            // No instruction waits for a parked value, so an unforced fetch delays none.
            let idle = !(claims.closed | decisions.read_valid | decisions.bank_write_valid);
            let mut ready = places.parked & idle & !around.needs.drops.banks();
            if ready != 0 {
                let left = (requests.valid - decisions.grant).iter();
                let stalled = left.fold(0u32, |banks, slot| banks | 1 << requests.bank[slot.index()]);
                for bank in set_bits(ready) {
                    ready &= !(u32::from(is_set(stalled, places.bank[bank].into())) << bank);
                }
                decisions.fetch = first_from(ready.into(), around.turn.into()).map(|bank| bank as u8);
            }
        }
        if let Some(bank) = decisions.fetch {
            decisions.read_valid |= 1 << bank;
            decisions.read_entry[usize::from(bank)] = places.free_entry[usize::from(bank)];
        }
    }

    /// Counts the events that `mrf_arbiter` has as well.
    #[inline]
    fn count(&mut self, requests: &Requests<'_>, writes: &Writes, landed: bool, claims: &Claims) {
        let decisions = &mut self.decisions;
        let fetched = decisions.fetch.is_some();
        let groups = |sum, p: usize| sum + u32::from(writes.groups[p]);
        let read_groups = set_bits(self.reading)
            .fold(0, |sum, bank| sum + u32::from(requests.groups[usize::from(self.chosen[bank])]));
        let [intra, inter, read_write] = {
            let waiting = requests.valid - decisions.grant;
            let (mut intra, mut shut) = (Slots::NONE, waiting - claims.active);
            for bank in set_bits(claims.requested & (claims.closed | claims.writing)) {
                shut |= self.slots[bank];
            }
            for bank in set_bits(claims.contested & self.reading) {
                intra |= self.slots[bank] & waiting & Slots::all_of(1 << self.chosen[bank]);
            }
            [intra.count(), (waiting - intra - shut).count(), shut.count()]
        };
        let stolen = decisions.stolen.count_ones();
        decisions.counts = [
            self.reading.count_ones() + stolen + u32::from(fetched),
            read_groups + if fetched { ALL_GROUPS } else { 0 },
            count_ports(decisions.write_done) + u32::from(landed),
            set_bits(decisions.write_done).fold(0, groups) + if landed { ALL_GROUPS } else { 0 },
            intra,
            inter,
            read_write,
            count_ports(writes.valid & !claims.held & !decisions.write_done),
            count_ports(claims.held),
        ];
    }

    /// Counts the events that only this arbiter has.
    #[inline]
    fn count_thefts(
        &mut self,
        straps: StealStraps,
        requests: &Requests<'_>,
        writes: &Writes,
        around: &Around<'_>,
        claims: &Claims,
    ) {
        let Around { places, wants, needs, fresh, .. } = *around;
        let ports = |sources: u8| u32::from(sources & 0b111 != 0) + u32::from(sources >> OPERANDS != 0);
        let decisions = &mut self.decisions;
        let forced = if straps.writes { claims.going & claims.opposed } else { 0 };
        let returns = decisions.fetch.filter(|_| !decisions.forced);
        let next = returns.is_some_and(|bank| is_set(fresh, bank.into()));
        let force = needs.force.unwrap_or_default();
        let of_closed = set_bits(claims.requested & claims.closed).map(|bank| self.slots[bank].count()).sum();
        decisions.steal_counts = [
            ports(wants.valid),
            within(claims.stealable, &wants.bank, shared(claims.stealable, &wants.bank)).count_ones(),
            decisions.stolen.count_ones(),
            ports(decisions.stolen),
            (decisions.grant & claims.blocking).count(),
            count_ports(claims.going & !forced),
            count_ports(forced),
            count_ports(forced & !around.full),
            count_ports(forced & around.full & straps.needed_soon(around)),
            count_ports(decisions.parks.valid),
            count_ports(writes.valid & needs.writes & !claims.held & !claims.bus),
            count_ports(claims.bus),
            next.into(),
            (returns.is_some() && !next).into(),
            decisions.forced.into(),
            force.read.into(),
            force.write.into(),
            force.alive.into(),
            around.landing.is_some().into(),
            (requests.valid - claims.active).count(),
            of_closed,
            places.parked.count_ones(),
            (places.free & !places.parked).count_ones(),
        ];
    }

    /// The clock edge.
    #[inline]
    pub(crate) fn advance(&mut self, round_robin: bool) {
        (self.turn_q, self.park_turn_q) = (self.turn_d, self.park_turn_d);
        if round_robin {
            for bank in set_bits(self.reading) {
                self.rr_q[bank] = (self.chosen[bank] + 1) % self.collectors;
            }
        }
    }

    /// A clock edge in reset.
    pub(crate) fn reset(&mut self) {
        (self.turn_q, self.park_turn_q) = (0, 0);
        self.rr_q = [0; MAX_BANKS];
    }

    /// The position at which each search begins, and the queue that goes first.
    pub(crate) fn state(&self) -> StealArbiterProbe {
        StealArbiterProbe { rr_q: self.rr_q, turn_q: self.turn_q, park_turn_q: self.park_turn_q }
    }
}

/// The places, wants and dependences at the ports.
fn told(inputs: &StealArbiterIn) -> (Places, Wants, Dependence) {
    let places = Places {
        free: inputs.free_valid_i,
        parked: inputs.parked_i,
        free_entry: inputs.free_entry_i,
        entry: [0; MAX_BANKS],
        bank: inputs.parked_bank_i,
    };
    let wants = Wants { valid: inputs.want_valid_i, bank: inputs.want_bank_i, entry: inputs.want_entry_i };
    let needs = Dependence {
        reads: Slots::from_port(inputs.req_parked_i),
        writes: inputs.write_parked_i,
        drops: Parks { valid: inputs.drop_valid_i, bank: inputs.drop_bank_i },
        wants: inputs.want_parked_i,
        alive: inputs.alive_i,
        force: (inputs.force_valid_i != 0).then_some(Force {
            bank: inputs.force_bank_i,
            read: inputs.force_read_i != 0,
            write: inputs.force_write_i != 0,
            alive: inputs.force_alive_i != 0,
        }),
    };
    (places, wants, needs)
}

impl Block for StealArbiter {
    const NAME: &'static str = "steal_arbiter";
    const PARAMETERS: &'static [&'static str] = &["Banks", "Collectors", "IssuePorts", "Depth"];

    type Shape = MrfShape;
    type In = StealArbiterIn;
    type Out = StealArbiterOut;
    type Probe = StealArbiterProbe;

    fn new(shape: &MrfShape) -> Self {
        Self {
            banks: shape.banks as u8,
            collectors: shape.collectors as u8,
            rr_q: [0; MAX_BANKS],
            turn_q: 0,
            park_turn_q: 0,
            turn_d: 0,
            park_turn_d: 0,
            decisions: Decisions::default(),
            slots: [Slots::NONE; MAX_BANKS],
            reading: 0,
            chosen: [0; MAX_BANKS],
        }
    }

    fn early(&self, _: &mut StealArbiterOut) {}

    fn late(&mut self, inputs: &StealArbiterIn, out: &mut StealArbiterOut) {
        let requests = Requests {
            valid: Slots::from_port(inputs.req_valid_i),
            bank: &inputs.at_bank_i,
            entry: &inputs.at_entry_i,
            groups: &inputs.req_groups_i,
            older: &inputs.older_i,
        };
        let writes = Writes {
            valid: inputs.write_valid_i,
            bank: inputs.write_bank_i,
            entry: inputs.write_entry_i,
            groups: inputs.write_groups_i,
        };
        let own = Reads { valid: requests.valid, bank: &inputs.req_bank_i, entry: &inputs.req_entry_i };
        let (places, wants, needs) = told(inputs);
        let landing = (inputs.land_valid_i != 0).then_some(Landing {
            entry: inputs.land_entry_i,
            source: 0,
            bank: inputs.land_bank_i,
            port: inputs.land_port_i,
        });
        let around = Around {
            places: &places,
            wants: &wants,
            own: &own,
            needs: &needs,
            landing,
            full: inputs.write_full_i,
            next: inputs.write_next_i,
            turn: inputs.turn_i,
            bus_free: inputs.bus_free_i != 0,
            fresh: inputs.fresh_i,
        };
        self.decide(inputs.cfg_i, &requests, &writes, &around);
        let decided = &self.decisions;
        (out.grant_o, out.stolen_o) = (decided.grant.to_port(), decided.stolen);
        out.event_o = pack(MRF_ARBITER_EVENT, decided.counts);
        out.steal_event_o = pack(STEAL_ARBITER_EVENT, decided.steal_counts);
        out.place_event_o = pack(STEAL_PLACE_EVENT, decided.place_counts());
        out.drop_o = decided.drop;
        (out.write_done_o, out.park_valid_o) = (decided.write_done, decided.parks.valid);
        out.park_bank_o = only(&decided.parks.bank, decided.parks.valid);
        (out.fetch_valid_o, out.fetch_bank_o) = (decided.fetch.is_some().into(), decided.fetch.unwrap_or_default());
        out.fetch_forced_o = decided.forced.into();
        (out.read_valid_o, out.read_entry_o) = (decided.read_valid, only(&decided.read_entry, decided.read_valid));
        (out.bank_write_valid_o, out.bank_write_port_o) = (decided.bank_write_valid, decided.bank_write_port);
        out.bank_write_entry_o = only(&decided.bank_write_entry, decided.bank_write_valid);
    }

    fn clock(&mut self, inputs: &StealArbiterIn, _: &StealArbiterOut) {
        if inputs.rst_ni == 0 {
            self.reset();
        } else {
            self.advance(is_set(inputs.cfg_i, 0));
        }
    }

    fn probe(&self, _: &StealArbiterIn, _: &StealArbiterOut, probe: &mut StealArbiterProbe) {
        *probe = self.state();
    }
}

#[cfg(test)]
mod tests;
