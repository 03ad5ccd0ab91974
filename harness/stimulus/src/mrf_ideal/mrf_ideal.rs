//! `mrf_ideal`, the whole register file.

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::Config;
use gpurf_blocks::mrf::{MrfIn, MrfOut, MrfShape};
use gpurf_blocks::mrf_ideal::{MrfIdeal, MrfIdealProbe};

use crate::mrf::mrf::MrfDriver;
use crate::{Points, cover};

/// Stimulus of the block: it has the ports of the main register file, and its inputs.
pub(crate) const ENTRY: crate::Entry = crate::entry::<MrfIdeal, MrfDriver, FileCover>();

pub(crate) struct FileCover {
    shape: MrfShape,
    /// Words that were written in the cycle before.
    written: Vec<(u8, u16)>,
}

#[cover]
impl FileCover {
    fn new(shape: &MrfShape, _: &Config) -> Self {
        Self { shape: *shape, written: Vec::new() }
    }

    fn observe(&mut self, i: &MrfIn, o: &MrfOut, p: &MrfIdealProbe, points: &mut Points) {
        let (shape, p) = (&self.shape, p.as_ref());
        let taken = i.issue_valid_i & o.issue_ready_o;
        let sourceless =
            (0..shape.issue_ports).any(|q| taken >> q & 1 == 1 && i.issue_src_valid_i >> (OPERANDS * q) & 7 == 0);
        let partial = (0..shape.issue_ports).any(|q| p.head_valid >> q & 1 == 1 && p.head_mask[q] != u32::MAX);
        let behind = (0..shape.collectors).any(|c| p.complete >> c & 1 == 1 && p.same_warp_q[c] != 0);
        let slots = (0..shape.slots()).filter(|slot| p.req_valid >> slot & 1 == 1);
        let read: Vec<(u8, u16)> = slots.map(|slot| (p.req_bank[slot], p.req_entry[slot])).collect();
        let queues = (0..shape.issue_ports).filter(|q| p.head_valid >> q & 1 == 1);
        let written: Vec<(u8, u16)> = queues.map(|q| (p.head_bank[q], p.head_entry[q])).collect();
        point!("issue stalls", i.issue_valid_i & !o.issue_ready_o != 0);
        point!("dispatch stalls", o.dispatch_valid_o & !i.dispatch_ready_i != 0);
        point!("one read fills several slots", p.fill.count_ones() > p.req_valid.count_ones());
        point!(
            "two registers of one bank are read",
            read.iter().enumerate().any(|(n, a)| read[..n].iter().any(|b| a.0 == b.0))
        );
        point!("a word is read and written at one edge", written.iter().any(|place| read.contains(place)));
        point!("a word is read after it was written", self.written.iter().any(|place| read.contains(place)));
        point!("all collectors busy", p.busy.count_ones() as usize == shape.collectors);
        point!("complete, but its warp's older instruction is not", behind);
        point!("instruction without register sources", sourceless);
        point!("partial write", partial);
        point!("reset under load", i.rst_ni == 0 && p.busy != 0 && p.head_valid != 0);
        #[given(self.shape.issue_ports == 2)]
        {
            point!("two instructions taken", taken == 3);
            point!("two dispatched", o.dispatch_valid_o & i.dispatch_ready_i == 3);
            point!("two results for one bank", written.len() == 2 && written[0].0 == written[1].0);
            point!("two results for one word", written.len() == 2 && written[0] == written[1]);
        }
        self.written = written;
    }
}
