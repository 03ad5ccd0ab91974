//! `mrf_ideal_store`.

use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::MrfShape;
use gpurf_blocks::mrf_ideal::{MrfIdealStore, MrfIdealStoreIn, MrfIdealStoreOut};
use gpurf_blocks::{NoProbe, OPERANDS};
use gpurf_lockstep::Rng;

use crate::driver::{lane_mask, ports};
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<MrfIdealStore, StoreDriver, StoreCover>();

pub(crate) struct StoreDriver(MrfShape);

knobs! {
    pub(crate) struct StoreKnobs {
        fill: "a slot takes its register" = [20, 100, 500, 1000],
        write: "a result is written" = [100, 500, 950],
        near: "a register is one of four" = [0, 300, 900],
        partial: "lanes are left out" = [0, 300, 900],
        dispatch: "operands are handed on" = [200, 900],
    }
}

impl Driver for StoreDriver {
    type In = MrfIdealStoreIn;
    type Knobs = StoreKnobs;

    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self(*shape)
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &StoreKnobs, inputs: &mut MrfIdealStoreIn) {
        let shape = self.0;
        // One of two banks and of two entries, or any.
        let place = |rng: &mut Rng| {
            let near = rng.chance(knobs.near);
            let [banks, depth] = [shape.banks, shape.depth].map(|all| if near { 2 } else { all } as u64);
            (rng.below(banks) as u8, rng.below(depth) as u16)
        };
        inputs.fill_i = rng.mask(shape.slots() as u32, knobs.fill);
        for slot in 0..shape.slots() {
            (inputs.fill_bank_i[slot], inputs.fill_entry_i[slot]) = place(rng);
        }
        inputs.write_valid_i = ports(rng, shape.issue_ports, knobs.write);
        inputs.dispatch_valid_i = ports(rng, shape.issue_ports, knobs.dispatch);
        for port in 0..shape.issue_ports {
            (inputs.write_bank_i[port], inputs.write_entry_i[port]) = place(rng);
            inputs.write_mask_i[port] = lane_mask(rng, knobs.partial);
            inputs.dispatch_col_i[port] = rng.below(shape.collectors as u64) as u8;
            if inputs.write_valid_i >> port & 1 == 1 {
                rng.fill(&mut inputs.write_data_i[port].0);
            }
        }
    }
}

pub(crate) struct StoreCover {
    shape: MrfShape,
    /// The places that were written in the previous cycle.
    written: Vec<(u8, u16)>,
}

#[cover]
impl StoreCover {
    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self { shape: *shape, written: Vec::new() }
    }

    fn observe(&mut self, i: &MrfIdealStoreIn, _: &MrfIdealStoreOut, _: &NoProbe<MrfShape>, points: &mut Points) {
        let read: Vec<(u8, u16)> = (0..self.shape.slots())
            .filter(|slot| i.fill_i >> slot & 1 == 1)
            .map(|slot| (i.fill_bank_i[slot], i.fill_entry_i[slot]))
            .collect();
        let writes = (0..self.shape.issue_ports).filter(|p| i.write_valid_i >> p & 1 == 1);
        let written: Vec<(u8, u16)> = writes.clone().map(|p| (i.write_bank_i[p], i.write_entry_i[p])).collect();
        let first = OPERANDS * usize::from(i.dispatch_col_i[0]);
        let both = i.dispatch_valid_i == 3;
        point!("no slot takes a register", read.is_empty());
        point!("every slot takes a register", read.len() == self.shape.slots());
        point!("two slots take one register", read.len() > 1 && read[1..].contains(&read[0]));
        point!("a register is read and written at one edge", written.iter().any(|place| read.contains(place)));
        point!("a register is read after it was written", self.written.iter().any(|place| read.contains(place)));
        point!("a partial write", writes.clone().any(|p| i.write_mask_i[p] != u32::MAX));
        point!("handed on while filled", i.dispatch_valid_i & 1 == 1 && i.fill_i >> first & 7 != 0);
        #[given(self.shape.issue_ports == 2)]
        {
            point!("two results for one register", written.len() == 2 && written[0] == written[1]);
            point!(
                "two results for one register and one lane",
                written.len() == 2 && written[0] == written[1] && i.write_mask_i[0] & i.write_mask_i[1] != 0
            );
            point!("two results for one bank", written.len() == 2 && written[0].0 == written[1].0);
            point!("two ports hand on", both);
            point!("one collector at both ports", both && i.dispatch_col_i[0] == i.dispatch_col_i[1]);
        }
        self.written = written;
    }
}
