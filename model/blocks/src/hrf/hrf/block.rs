//! The hybrid register file as a block of its own.

use super::{Buffers, Hrf, HrfIn, HrfOut, HrfProbe};
use crate::design::SlotView;
use crate::hrf::{
    HrfBank, HrfBuffer, HrfDrain, HrfLoads, HrfOperands, HrfPower, HrfRcm, HrfReads, HrfResults, HrfShape,
};
use crate::mrf::bits::only;
use crate::mrf::mrf_allocator::Choice;
use crate::mrf::mrf_collector::Collectors;
use crate::mrf::{MrfAllocator, MrfCollector, MrfIn, MrfOut};
use crate::sizes::MAX_ACTIVE;
use crate::{Block, Memory, OPERANDS, Ports};

impl HrfIn {
    /// Fills the inputs that the MRF has as well.
    fn narrow(&self, given: &mut MrfIn) {
        (given.rst_ni, given.dispatch_ready_i) = (self.rst_ni, self.dispatch_ready_i);
        (given.issue_valid_i, given.issue_src_valid_i) = (self.issue_valid_i, self.issue_src_valid_i);
        (given.issue_warp_i[0], given.issue_base_i[0]) = (self.issue_warp_i, self.issue_base_i);
        (given.issue_mask_i[0], given.issue_tag_i[0]) = (self.issue_mask_i, self.issue_tag_i);
        given.issue_src_reg_i[..OPERANDS].copy_from_slice(&self.issue_src_reg_i);
        given.write_valid_i = self.write_valid_i;
        (given.write_i[0], given.write_base_i[0]) = (self.write_i, self.write_base_i);
    }
}

impl Block for Hrf {
    const NAME: &'static str = "hrf";
    const PARAMETERS: &'static [&'static str] = &["Collectors", "Depth", "TagW", "BufferEntries", "Loads"];
    const CHILDREN: &'static [&'static str] = &[
        HrfRcm::NAME,
        HrfBuffer::NAME,
        HrfDrain::NAME,
        HrfLoads::NAME,
        HrfPower::NAME,
        HrfBank::NAME,
        HrfResults::NAME,
        HrfReads::NAME,
        HrfOperands::NAME,
        MrfCollector::NAME,
        MrfAllocator::NAME,
    ];

    type Shape = HrfShape;
    type In = HrfIn;
    type Out = HrfOut;
    type Probe = HrfProbe;

    fn new(shape: &HrfShape) -> Self {
        let mut hrf = Self {
            entry_bits: shape.entry_bits(),
            tag_w: shape.mrf.tag_w,
            allocator: MrfAllocator::new(&shape.mrf),
            collectors: Collectors::new(),
            reads: HrfReads::new(shape),
            operands: HrfOperands::new(shape),
            results: HrfResults::new(shape),
            banks: std::array::from_fn(|_| HrfBank::new(shape)),
            buffers: shape.buffered().then(|| Box::new(Buffers::new(shape))),
            direct_q: 0,
            free_collectors: Choice::default(),
            offers: Choice::default(),
            frozen: false,
            seen: Default::default(),
            late: Default::default(),
            outside: MrfIn::zeroed(),
        };
        hrf.settle();
        hrf
    }

    fn early(&self, out: &mut HrfOut) {
        let mut shown = MrfOut::zeroed();
        self.show(&mut shown);
        (out.issue_ready_o, out.dispatch_valid_o) = (shown.issue_ready_o, shown.dispatch_valid_o);
        (out.dispatch_src_valid_o, out.dispatch_mask_o) = (shown.dispatch_src_valid_o, shown.dispatch_mask_o[0]);
        (out.dispatch_warp_o, out.dispatch_tag_o) = (shown.dispatch_warp_o[0], shown.dispatch_tag_o[0]);
        if shown.dispatch_valid_o != 0 {
            out.dispatch_data_o = *self.operands();
        }
    }

    fn late(&mut self, inputs: &HrfIn, out: &mut HrfOut) {
        let mut warp = [0; MAX_ACTIVE];
        warp[..inputs.slot_warp_i.len()].copy_from_slice(&inputs.slot_warp_i);
        let slots = SlotView {
            valid: inputs.slot_valid_i.into(),
            flush: inputs.flush_i.into(),
            drop: inputs.drop_i.into(),
            warp: &warp,
        };
        let mut shown = MrfOut::zeroed();
        self.see(inputs.cfg_i, &slots, |b| inputs.slot_base_i[b], &mut shown);
        (out.write_ready_o, out.write_done_o) = (shown.write_ready_o, shown.write_done_o);
        out.written_o = only(&shown.written_o, shown.write_done_o)[0];
        out.flush_done_o = self.flush_done() as u8;
        let mut outside = self.outside;
        inputs.narrow(&mut outside);
        Hrf::late(self, &outside);
        self.outside = outside;
        out.mrf_event_o = self.mrf_event();
        (out.event_o, out.count_event_o) = self.events();
    }

    fn clock(&mut self, inputs: &HrfIn, _: &HrfOut) {
        let outside = self.outside;
        self.edge(&outside, |_| &inputs.write_data_i);
    }

    fn probe(&self, _: &HrfIn, _: &HrfOut, probe: &mut HrfProbe) {
        self.record(probe);
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let mut all = Vec::new();
        for (b, bank) in self.banks.iter_mut().enumerate() {
            all.extend(Memory::inside(format_args!("gen_bank[{b}].u_bank"), bank.memories()));
        }
        all.extend(Memory::inside("u_operands", self.operands.memories()));
        if let Some(buffers) = &mut self.buffers {
            all.extend(Memory::inside("gen_buffers.u_rcm", buffers.rcm.memories()));
            for (b, parity) in buffers.parity.iter_mut().enumerate() {
                all.extend(Memory::inside(
                    format_args!("gen_buffers.gen_parity[{b}].u_buffer"),
                    parity.buffer.memories(),
                ));
                all.extend(Memory::inside(
                    format_args!("gen_buffers.gen_parity[{b}].u_loads"),
                    parity.loads.memories(),
                ));
            }
        }
        all
    }
}
