//! A situation in the register file (table, results, reads, operands of candidates, landing), in which accesses often meet. It provides the inputs of
//! the parts that only make decisions.

use gpurf_blocks::Ports;
use gpurf_blocks::mrf::MrfShape;
use gpurf_blocks::steal::{StealDependence, StealDependenceIn, StealDependenceOut};
use gpurf_lockstep::Rng;

use super::pick;
use crate::driver::{Names, Twin, ports};

/// A bank and an entry.
type Place = (u8, u16);

pub(crate) struct Scene {
    shape: MrfShape,
    twin: Twin<StealDependence>,
    pub(crate) i: StealDependenceIn,
    pub(crate) land_entry: u16,
    pub(crate) land_port: u8,
    pub(crate) bus_free: bool,
    crowd: u8,
    /// Entries that are used.
    entries: Names,
}

knobs! {
    pub(crate) struct SceneKnobs {
        request: "a slot requests" = [20, 100, 400, 900],
        write: "a result waits" = [200, 700, 1000],
        want: "an operand of a candidate is wanted" = [100, 600, 1000],
        crowd: "an access is to one bank of all" = [0, 300, 800],
        free: "a bank has a free entry" = [100, 500, 950],
        parked: "a value is parked there" = [0, 300, 900],
        land: "a value lands" = [0, 200, 700],
        r#match: "an access is to a register whose value is parked" = [0, 50, 300],
        alive: "a result is for a free entry" = [0, 100, 500],
        hazard: "a result is for the register of a read" = [0, 100, 500],
        full: "a result has all lanes" = [0, 700, 1000],
        redirect: "parked values are read where they are" = [0, 1000],
        drop: "parked values that are overwritten are dropped" = [0, 1000],
    }
}

/// Entries that are used: few, so that they are met again.
const ENTRIES: usize = 8;

impl Scene {
    pub(crate) fn new(shape: &MrfShape) -> Self {
        let twin = Twin::new(shape);
        let (i, entries) = (StealDependenceIn::zeroed(), Names::new(ENTRIES, shape.depth as u64));
        Self { shape: *shape, twin, i, land_entry: 0, land_port: 0, bus_free: false, crowd: 0, entries }
    }

    /// Makes the next situation. It does not depend on earlier ones.
    pub(crate) fn next(&mut self, rng: &mut Rng, knobs: &SceneKnobs) {
        let shape = self.shape;
        self.entries.renew(rng);
        let entries = &self.entries;
        let entry = |rng: &mut Rng| entries.draw(rng) as u16;
        if rng.chance(100) {
            self.crowd = rng.below(shape.banks as u64) as u8;
        }
        let crowd = self.crowd;
        let any = |rng: &mut Rng| -> Place {
            let bank = if rng.chance(knobs.crowd) { crowd } else { rng.below(shape.banks as u64) as u8 };
            (bank, entry(rng))
        };
        let i = &mut self.i;
        let parked = table(rng, knobs.free, knobs.parked, &shape, entries, i);

        i.req_valid_i = rng.mask(shape.slots() as u32, knobs.request);
        for s in 0..shape.slots() {
            (i.req_bank_i[s], i.req_entry_i[s]) = known(rng, knobs.r#match, &parked).unwrap_or_else(|| any(rng));
        }
        i.write_valid_i = ports(rng, shape.issue_ports, knobs.write);
        i.write_full_i = ports(rng, shape.issue_ports, knobs.full);
        (i.redirect_i, i.drop_i) = (rng.chance(knobs.redirect).into(), rng.chance(knobs.drop).into());
        for p in 0..shape.issue_ports {
            let request = rng.below(shape.slots() as u64) as usize;
            let b = rng.below(shape.banks as u64) as usize;
            (i.write_bank_i[p], i.write_entry_i[p]) = match known(rng, knobs.r#match, &parked) {
                Some(place) => place,
                None if rng.chance(knobs.alive) => (b as u8, i.free_entry_i[b]),
                None if rng.chance(knobs.hazard) => (i.req_bank_i[request], i.req_entry_i[request]),
                // A bank in which a value is parked, which a read may need.
                None if rng.chance(150) => (pick(rng, i.parked_i).unwrap_or(crowd), entry(rng)),
                None => any(rng),
            };
        }
        i.want_valid_i = rng.mask(shape.sources() as u32, knobs.want) as u8;
        for k in 0..shape.sources() {
            (i.want_bank_i[k], i.want_entry_i[k]) = known(rng, knobs.r#match, &parked).unwrap_or_else(|| any(rng));
        }

        i.turn_i = rng.below(shape.banks as u64) as u8;
        i.land_valid_i = rng.chance(knobs.land).into();
        // More often than by chance to the bank of a read, or of a value that is wanted back.
        let from = rng.below(shape.banks as u64) as u8;
        (i.land_bank_i, self.land_entry) = match rng.below(3) {
            0 => (i.req_bank_i[usize::from(from) % shape.slots()], entry(rng)),
            1 => (from, entry(rng)),
            _ => any(rng),
        };
        if parked.contains(&(i.land_bank_i, self.land_entry)) {
            // A value that lands has been fetched: it is not parked.
            i.land_valid_i = 0;
        }
        self.land_port = rng.below(shape.issue_ports as u64) as u8;
        let queues = (1 << shape.issue_ports) - 1;
        self.bus_free = i.write_valid_i != queues;
        i.bus_any_i = (self.bus_free || i.land_valid_i == 0 || shape.issue_ports == 2).into();
        self.twin.late(&self.i);
    }

    /// The outputs of `steal_dependence` for this situation.
    pub(crate) fn dependence(&self) -> &StealDependenceOut {
        &self.twin.out
    }
}

/// Chooses free entries and parked values. Returns the places to which the values belong: each of them is parked only once.
fn table(
    rng: &mut Rng,
    free: u32,
    parked: u32,
    shape: &MrfShape,
    entries: &Names,
    i: &mut StealDependenceIn,
) -> Vec<Place> {
    let entry = |rng: &mut Rng| entries.draw(rng) as u16;
    i.free_valid_i = rng.mask(shape.banks as u32, free) as u32;
    i.parked_i = 0;
    let mut places = Vec::new();
    for b in 0..shape.banks {
        i.free_entry_i[b] = entry(rng);
        let to = (rng.below(shape.banks as u64) as u8, entry(rng));
        (i.parked_bank_i[b], i.parked_entry_i[b]) = to;
        let free = i.free_valid_i >> b & 1 == 1;
        if free && rng.chance(parked) && !places.contains(&to) && usize::from(to.0) != b {
            i.parked_i |= 1 << b;
            places.push(to);
        }
    }
    places
}

/// One of these places, with this chance.
fn known(rng: &mut Rng, chance: u32, places: &[Place]) -> Option<Place> {
    (!places.is_empty() && rng.chance(chance)).then(|| places[rng.below(places.len() as u64) as usize])
}
