//! `steal_dependence`.

use gpurf_blocks::NoProbe;
use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::MrfShape;
use gpurf_blocks::steal::{StealDependence, StealDependenceIn, StealDependenceOut};
use gpurf_lockstep::Rng;

use super::scene::{Scene, SceneKnobs};
use crate::{Driver, Points, Unreached, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<StealDependence, DependenceDriver, DependenceCover>();

pub(crate) struct DependenceDriver(Scene);

impl Driver for DependenceDriver {
    type In = StealDependenceIn;
    type Knobs = SceneKnobs;

    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self(Scene::new(shape))
    }

    fn unreached(shape: &MrfShape, _: &Config) -> Vec<Unreached> {
        let free = Unreached::all("bus_any_i", "a value lands on one of two buses at most");
        Some(free).filter(|_| shape.issue_ports == 2).into_iter().collect()
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &SceneKnobs, i: &mut StealDependenceIn) {
        self.0.next(rng, knobs);
        *i = self.0.i;
    }
}

pub(crate) struct DependenceCover {
    shape: MrfShape,
}

#[cover]
impl DependenceCover {
    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self { shape: *shape }
    }

    fn observe(&mut self, i: &StealDependenceIn, o: &StealDependenceOut, _: &NoProbe<MrfShape>, points: &mut Points) {
        let banks = self.shape.banks;
        let bit = |set: u32, b: usize| set >> b & 1 == 1;
        let parked: Vec<usize> = (0..banks).filter(|&b| bit(i.parked_i, b)).collect();
        let to = |b: usize| (i.parked_bank_i[b], i.parked_entry_i[b]);
        let reads: Vec<_> = (0..self.shape.slots())
            .filter(|s| i.req_valid_i >> s & 1 == 1)
            .map(|s| (i.req_bank_i[s], i.req_entry_i[s]))
            .collect();
        let heads: Vec<_> = (0..self.shape.issue_ports)
            .filter(|p| i.write_valid_i >> p & 1 == 1)
            .map(|p| (i.write_bank_i[p], i.write_entry_i[p]))
            .collect();
        let by_read = |b: usize| reads.iter().filter(|&&r| r == to(b)).count();
        let (redirect, drop) = (i.redirect_i == 1, i.drop_i == 1);
        let head_of = |p: usize| (i.write_bank_i[p], i.write_entry_i[p]);
        let waiting: Vec<_> = (0..self.shape.issue_ports)
            .filter(|p| i.write_valid_i >> p & 1 == 1 && !(drop && i.write_full_i >> p & 1 == 1))
            .map(head_of)
            .collect();
        let by_write = |b: usize| waiting.contains(&to(b));
        let dropped = |b: usize| {
            (0..self.shape.issue_ports).any(|p| o.drop_valid_o >> p & 1 == 1 && usize::from(o.drop_bank_o[p]) == b)
        };
        let for_entry = |b: usize| heads.contains(&(b as u8, i.free_entry_i[b]));
        let needed: Vec<usize> =
            parked.iter().copied().filter(|&b| by_read(b) > 0 && !redirect || by_write(b) || for_entry(b)).collect();
        let some = |holds: &dyn Fn(usize) -> bool| parked.iter().any(|&b| holds(b));
        let any = |holds: &dyn Fn(usize) -> bool| (0..banks).any(holds);
        let free = |b: usize| bit(i.free_valid_i, b);
        let turn = usize::from(i.turn_i);
        let first = (0..banks).map(|n| (turn + n) % banks).find(|b| needed.contains(b));
        let lands = |b: usize| i.land_valid_i == 1 && usize::from(i.land_bank_i) == b;
        let forced = o.force_valid_o == 1;
        let read_of = |b: usize| by_read(b) > 0 && !redirect;
        let moved = |b: usize| by_read(b) > 0 && redirect;
        let is_forced = |b: usize| forced && usize::from(o.force_bank_o) == b;
        point!("a read is redirected", some(&moved));
        point!("two reads are redirected to one place", some(&|b| moved(b) && by_read(b) == 2));
        point!("two reads are redirected to two places", parked.iter().filter(|&&b| moved(b)).count() > 1);
        point!("a read is redirected whose register a result without all lanes forces back", {
            some(&|b| moved(b) && by_write(b) && is_forced(b))
        });
        point!("a read is redirected to an entry that comes alive", some(&|b| moved(b) && for_entry(b)));
        point!("a result overwrites a parked value whole", some(&dropped));
        point!("a result that has not all lanes forces it back, with drop", drop && some(&by_write));
        point!(
            "a value that a result overwrites is forced back by a read",
            some(&|b| dropped(b) && is_forced(b) && o.force_read_o == 1)
        );
        point!(
            "a value that a result overwrites is needed by a read, another one goes first",
            forced && some(&|b| dropped(b) && read_of(b) && !is_forced(b))
        );
        point!("a read is redirected whose register a result overwrites whole", some(&|b| moved(b) && dropped(b)));
        let near =
            |which: usize| some(&|b| reads.iter().any(|r| r != &to(b) && [r.0 == to(b).0, r.1 == to(b).1][which]));
        point!("nothing is parked", parked.is_empty());
        point!("values are parked, no instruction needs one", !parked.is_empty() && needed.is_empty());
        point!("a read needs a parked value", some(&read_of));
        point!("two reads need one parked value", some(&|b| by_read(b) == 2));
        point!("two reads need two parked values", parked.iter().filter(|&&b| read_of(b)).count() > 1);
        point!("a read needs what has been parked there before", any(&|b| !bit(i.parked_i, b) && read_of(b)));
        point!("a read of the parked value's bank, another entry", near(0));
        point!("a read of its entry in another bank", near(1));
        point!("a result is for the register of a parked value", some(&by_write));
        point!("a result is for the entry in which a value is parked", some(&for_entry));
        point!(
            "a result is for a free entry, nothing is parked there",
            any(&|b| free(b) && !bit(i.parked_i, b) && for_entry(b))
        );
        point!("a result is for an entry that was free", any(&|b| !free(b) && for_entry(b)));
        point!(
            "an operand of a candidate is parked, no other instruction needs it",
            o.want_parked_o != 0 && needed.is_empty()
        );
        point!("forced by a read", o.force_read_o == 1);
        point!("forced by a result of its register", o.force_write_o == 1);
        point!("forced by the entry", o.force_alive_o == 1);
        point!("a read and a result need one value", some(&|b| read_of(b) && by_write(b)));
        point!("a read and the entry need one value", some(&|b| read_of(b) && for_entry(b)));
        point!("the first needed one from the turn is not the lowest", forced && first != needed.first().copied());
        point!("the turn begins anew", forced && first.is_some_and(|b| b < turn));
        point!("the needed one is where a value lands", !forced && first.is_some_and(lands));
        point!(
            "another one waits too, as a value lands in the first one's bank",
            first.is_some_and(lands) && needed.len() > 1 && i.bus_any_i == 1
        );
        point!("all values are parked in banks above the turn", !needed.is_empty() && needed.iter().all(|&b| b > turn));
        point!(
            "reads and results need different values",
            some(&|b| read_of(b) && !by_write(b) && !for_entry(b)) && some(&|b| !read_of(b) && by_write(b))
        );
        point!(
            "no bus for the needed value",
            !needed.is_empty() && i.bus_any_i == 0,
            given = self.shape.issue_ports == 1
        );
        #[given(self.shape.issue_ports != 1)]
        {
            point!("both results are for parked values", o.write_parked_o == 3);
            point!("both results overwrite parked values whole", o.drop_valid_o == 3);
            point!("a value that a result overwrites is forced back by the entry", {
                some(&|b| dropped(b) && is_forced(b) && o.force_alive_o == 1)
            });
            point!("both results are for one free entry", heads.len() == 2 && heads[0] == heads[1] && o.alive_o != 0);
            point!("a result of its register and the entry need one value", some(&|b| by_write(b) && for_entry(b)));
        }
    }
}
