//! `register_places`.

use gpurf_blocks::NoProbe;
use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::MrfShape;
use gpurf_blocks::share::{RegisterLayout, RegisterLayoutFields, RegisterPlaces, RegisterPlacesIn, RegisterPlacesOut};
use gpurf_lockstep::Rng;

use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<RegisterPlaces, PlacesDriver, PlacesCover>();

pub(crate) struct PlacesDriver;

knobs! {
    pub(crate) struct PlacesKnobs {
        near: "a name or a warp is next to where guests or shared names begin" = [100, 400, 900],
        edge: "a value at the end of its range" = [0, 100, 400],
    }
}

impl Driver for PlacesDriver {
    type In = RegisterPlacesIn;
    type Knobs = PlacesKnobs;

    fn new(_: &MrfShape, _: &Config) -> Self {
        Self
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &PlacesKnobs, inputs: &mut RegisterPlacesIn) {
        let pick = |rng: &mut Rng, range: u64| {
            if rng.chance(knobs.edge) { [0, range - 1][rng.below(2) as usize] } else { rng.below(range) }
        };
        let layout = RegisterLayoutFields {
            guest_base: pick(rng, 1 << 12) as u16,
            host_warps: pick(rng, 65) as u8 | u8::from(rng.chance(10)) << 6,
            private_registers: pick(rng, 256) as u8,
            registers: pick(rng, 256) as u8,
        };
        let next = |rng: &mut Rng, value: u8| value.wrapping_add(rng.below(3) as u8).wrapping_sub(1);
        inputs.layout_i = RegisterLayout::from(layout).0;
        inputs.warp_i = pick(rng, 64) as u8;
        inputs.reg_i = pick(rng, 256) as u8;
        if rng.chance(knobs.near) {
            inputs.warp_i = next(rng, layout.host_warps) & 63;
        }
        if rng.chance(knobs.near) {
            inputs.reg_i = next(rng, layout.private_registers);
        }
    }
}

pub(crate) struct PlacesCover(MrfShape);

#[cover]
impl PlacesCover {
    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self(*shape)
    }

    fn observe(&mut self, i: &RegisterPlacesIn, o: &RegisterPlacesOut, _: &NoProbe<MrfShape>, points: &mut Points) {
        let layout = RegisterLayout(i.layout_i).fields();
        let guest = i.warp_i >= layout.host_warps;
        let private = i.reg_i < layout.private_registers;
        point!("a register of a host", !guest && !private);
        point!("a register of a host, with a name that is private in a guest", !guest && private);
        point!("a private register of a guest", guest && private);
        point!("a shared register of a guest", guest && !private);
        point!("the first guest", i.warp_i == layout.host_warps);
        point!("the last host", i.warp_i + 1 == layout.host_warps);
        point!("the first shared name in a guest", guest && i.reg_i == layout.private_registers);
        point!("the last private name in a guest", guest && i.reg_i.checked_add(1) == Some(layout.private_registers));
        point!("first bank", o.bank_o == 0);
        point!("last bank", usize::from(o.bank_o) == self.0.banks - 1);
        point!("first entry", o.entry_o == 0);
        point!("last entry", usize::from(o.entry_o) == self.0.depth - 1);
    }
}
