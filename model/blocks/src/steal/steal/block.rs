//! The register file with bank stealing as a block of its own.

use super::{Late, Seen, Steal, StealIn, StealOut, StealProbe};
use crate::design::Candidates;
use crate::mrf::bits::{only, set_bits};
use crate::mrf::mrf_allocator::Choice;
use crate::mrf::mrf_arbiter::Writes;
use crate::mrf::mrf_collector::Collectors;
use crate::mrf::{MrfAllocator, MrfBank, MrfBankMap, MrfCrossbar, MrfIn, MrfOut, MrfShape, MrfWriteQueue};
use crate::steal::{StealArbiter, StealCandidates, StealCollector, StealDependence, StealReturn, StealTable};
use crate::{Block, Memory, OPERANDS, Ports};

impl StealIn {
    /// Fills the inputs that the MRF has as well.
    pub(super) fn narrow(&self, given: &mut MrfIn) {
        (given.rst_ni, given.dispatch_ready_i) = (self.rst_ni, self.dispatch_ready_i);
        (given.issue_valid_i, given.issue_src_valid_i) = (self.issue_valid_i, self.issue_src_valid_i);
        (given.issue_warp_i, given.issue_base_i) = (self.issue_warp_i, self.issue_base_i);
        (given.issue_mask_i, given.issue_tag_i) = (self.issue_mask_i, self.issue_tag_i);
        given.issue_src_reg_i = self.issue_src_reg_i;
        given.write_valid_i = self.write_valid_i;
        (given.write_i, given.write_base_i) = (self.write_i, self.write_base_i);
    }

    /// The inputs that the MRF does not have.
    pub(super) fn extra(&self) -> Candidates {
        Candidates {
            candidate_valid: self.candidate_valid_i,
            candidate_warp: self.candidate_warp_i,
            candidate_base: self.candidate_base_i,
            candidate_src_valid: self.candidate_src_valid_i,
            candidate_src_reg: self.candidate_src_reg_i,
            write_next: self.write_next_i,
            clear: (self.clear_i != 0).then_some(self.spare_i != 0),
            hint_valid: self.hint_valid_i,
            hint_base: self.hint_base_i,
            hint_reg: self.hint_reg_i,
        }
    }
}

impl Block for Steal {
    const NAME: &'static str = "steal";
    const PARAMETERS: &'static [&'static str] = &["Banks", "Collectors", "IssuePorts", "Depth", "TagW"];
    const CHILDREN: &'static [&'static str] = &[
        MrfBankMap::NAME,
        MrfWriteQueue::NAME,
        StealCollector::NAME,
        MrfAllocator::NAME,
        StealCandidates::NAME,
        StealTable::NAME,
        StealReturn::NAME,
        StealDependence::NAME,
        StealArbiter::NAME,
        MrfBank::NAME,
        MrfCrossbar::NAME,
    ];

    type Shape = MrfShape;
    type In = StealIn;
    type Out = StealOut;
    type Probe = StealProbe;

    fn new(shape: &MrfShape) -> Self {
        // Its banks always have one port, whatever the MRF's banks have.
        let shape = &MrfShape { dual_port: false, ..*shape };
        let mut steal = Self {
            bank_map: MrfBankMap::new(shape),
            queues: (0..shape.issue_ports).map(|_| MrfWriteQueue::new(shape)).collect(),
            ports: u8::MAX >> (u8::BITS as usize - shape.issue_ports),
            collectors: Collectors::new(),
            candidates: StealCandidates::new(shape),
            table: StealTable::new(shape),
            returns: StealReturn::new(shape),
            allocator: MrfAllocator::new(shape),
            arbiter: StealArbiter::new(shape),
            banks: (0..shape.banks).map(|_| MrfBank::new(shape)).collect(),
            crossbar: MrfCrossbar::new(shape),
            read_data_valid: 0,
            writes: Writes::default(),
            full: 0,
            head_next_q: 0,
            free_collectors: Choice::default(),
            offers: Choice::default(),
            seen: Seen::default(),
            late: Late::default(),
            outside: MrfIn::zeroed(),
        };
        steal.settle();
        steal
    }

    fn early(&self, out: &mut StealOut) {
        let mut shown = MrfOut::zeroed();
        self.show(&mut shown);
        (out.issue_ready_o, out.dispatch_valid_o) = (shown.issue_ready_o, shown.dispatch_valid_o);
        (out.dispatch_src_valid_o, out.dispatch_mask_o) = (shown.dispatch_src_valid_o, shown.dispatch_mask_o);
        (out.dispatch_warp_o, out.dispatch_tag_o) = (shown.dispatch_warp_o, shown.dispatch_tag_o);
        for p in set_bits(shown.dispatch_valid_o) {
            out.dispatch_data_o[OPERANDS * p..][..OPERANDS].copy_from_slice(self.operands(p));
        }
    }

    fn late(&mut self, inputs: &StealIn, out: &mut StealOut) {
        let mut shown = MrfOut::zeroed();
        self.see(inputs.cfg_i, &mut shown);
        (out.write_ready_o, out.write_done_o, out.steal_o) = (shown.write_ready_o, shown.write_done_o, self.steal());
        out.written_o = only(&shown.written_o, shown.write_done_o);
        let mut outside = self.outside;
        inputs.narrow(&mut outside);
        let extra = inputs.extra();
        Steal::late(self, &outside, &extra);
        (out.event_o, out.steal_event_o) = self.events(&outside, &extra);
        out.place_event_o = self.place_event();
        self.outside = outside;
    }

    fn clock(&mut self, inputs: &StealIn, _: &StealOut) {
        let outside = self.outside;
        self.edge(&outside, &inputs.extra(), |p| &inputs.write_data_i[p]);
    }

    fn probe(&self, inputs: &StealIn, _: &StealOut, probe: &mut StealProbe) {
        self.record(&self.outside, &inputs.extra(), probe);
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let mut memories = Vec::new();
        for (b, bank) in self.banks.iter_mut().enumerate() {
            let path = format!("gen_bank[{b}].u_bank.{}", bank.memory_path());
            memories.push(Memory::of_warps(path, MrfBank::NAME, bank.words()));
        }
        memories.extend(Memory::inside("u_candidates", self.candidates.memories()));
        memories.push(Memory::of_warps("u_crossbar.operand_q", MrfCrossbar::NAME, self.crossbar.latches()));
        memories
    }
}
