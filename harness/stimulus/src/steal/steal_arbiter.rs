//! `steal_arbiter`.

use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::{MAX_COLLECTORS, MrfShape};
use gpurf_blocks::steal::{StealArbiter, StealArbiterIn};
use gpurf_lockstep::Rng;

use super::scene::{Scene, SceneKnobs};
use crate::driver::{Reset, ports};
use crate::{Driver, Unreached};

mod cover;

pub(crate) use cover::ArbiterCover;

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<StealArbiter, ArbiterDriver, ArbiterCover>();

pub(crate) struct ArbiterDriver {
    shape: MrfShape,
    reset: Reset,
    scene: Scene,
    /// Collectors from the oldest to the youngest.
    order: [u8; MAX_COLLECTORS],
}

knobs! {
    pub(crate) struct ArbiterKnobs {
        next: "a result is read next" = [0, 300, 800],
        fresh: "a value was parked in the cycle before" = [100, 600],
        shuffle: "two collectors change places in age" = [100, 900],
        round_robin: "reads of a bank take turns" = [0, 1000],
        read_stealing: "reads steal" = [0, 1000, 1000],
        write_stealing: "results are parked" = [0, 1000, 1000],
        eager: "a theft need not remove a conflict" = [0, 1000],
        unread: "what is read next is not parked" = [0, 1000],
        reset,
        ..scene: SceneKnobs,
    }
}

impl Driver for ArbiterDriver {
    type In = StealArbiterIn;
    type Knobs = ArbiterKnobs;

    fn new(shape: &MrfShape, _: &Config) -> Self {
        let order = std::array::from_fn(|c| c as u8);
        Self { shape: *shape, reset: Reset::default(), scene: Scene::new(shape), order }
    }

    fn unreached(shape: &MrfShape, _: &Config) -> Vec<Unreached> {
        let port = Unreached::all("land_port_i", "there is one port");
        Unreached::age("older_i", shape.collectors).chain(Some(port).filter(|_| shape.issue_ports == 1)).collect()
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &ArbiterKnobs, i: &mut StealArbiterIn) {
        let shape = self.shape;
        i.rst_ni = self.reset.next(rng, knobs.reset);
        let straps = [knobs.round_robin, knobs.read_stealing, knobs.write_stealing, knobs.eager, knobs.unread];
        i.cfg_i = straps.iter().enumerate().fold(0, |cfg, (bit, &knob)| cfg | u8::from(rng.chance(knob)) << bit);
        if rng.chance(knobs.shuffle) {
            let any = |rng: &mut Rng| rng.below(shape.collectors as u64) as usize;
            let (first, second) = (any(rng), any(rng));
            self.order.swap(first, second);
        }
        let mut older = 0;
        for &collector in &self.order[..shape.collectors] {
            i.older_i[usize::from(collector)] = older;
            older |= 1 << collector;
        }
        for c in 0..shape.collectors {
            i.req_groups_i[c] = rng.below(9) as u8;
        }
        for p in 0..shape.issue_ports {
            i.write_groups_i[p] = rng.below(9) as u8;
        }
        i.write_next_i = ports(rng, shape.issue_ports, knobs.next);
        i.fresh_i = rng.mask(shape.banks as u32, knobs.fresh) as u32;

        self.scene.next(rng, &knobs.scene);
        let (scene, follows) = (&self.scene.i, self.scene.dependence());
        (i.req_valid_i, i.req_bank_i, i.req_entry_i) = (scene.req_valid_i, scene.req_bank_i, scene.req_entry_i);
        (i.write_valid_i, i.write_bank_i, i.write_entry_i) =
            (scene.write_valid_i, scene.write_bank_i, scene.write_entry_i);
        (i.want_valid_i, i.want_bank_i, i.want_entry_i) = (scene.want_valid_i, scene.want_bank_i, scene.want_entry_i);
        (i.free_valid_i, i.free_entry_i) = (scene.free_valid_i, scene.free_entry_i);
        (i.parked_i, i.parked_bank_i, i.turn_i) = (scene.parked_i, scene.parked_bank_i, scene.turn_i);
        (i.land_valid_i, i.land_bank_i) = (scene.land_valid_i, scene.land_bank_i);
        (i.land_entry_i, i.land_port_i) = (self.scene.land_entry, self.scene.land_port);
        i.bus_free_i = self.scene.bus_free.into();
        i.cfg_i |= scene.redirect_i << 5 | scene.drop_i << 6;
        i.write_full_i = scene.write_full_i;
        (i.at_bank_i, i.at_entry_i) = (follows.at_bank_o, follows.at_entry_o);
        (i.drop_valid_i, i.drop_bank_i) = (follows.drop_valid_o, follows.drop_bank_o);
        (i.req_parked_i, i.write_parked_i, i.want_parked_i) =
            (follows.req_parked_o, follows.write_parked_o, follows.want_parked_o);
        (i.alive_i, i.force_valid_i, i.force_bank_i) = (follows.alive_o, follows.force_valid_o, follows.force_bank_o);
        (i.force_read_i, i.force_write_i, i.force_alive_i) =
            (follows.force_read_o, follows.force_write_o, follows.force_alive_o);
        if i.force_valid_i == 0 {
            // Without the valid signal they may be anything.
            i.force_bank_i = rng.below(shape.banks as u64) as u8;
            (i.force_read_i, i.force_write_i, i.force_alive_i) =
                (rng.below(2) as u8, rng.below(2) as u8, rng.below(2) as u8);
        }
    }
}
