//! `mrf_ideal_store`: storage with a port for everyone. `docs/blocks/mrf_ideal_store.md`.

use crate::mrf::bits::set_bits;
use crate::mrf::slots::Slots;
use crate::mrf::{MAX_PORTS, MAX_SLOTS, MrfShape};
use crate::{Block, LaneMask, Memory, NoProbe, OPERANDS, WarpData, field, ports};

ports! {
    /// Inputs of [`MrfIdealStore`].
    pub struct MrfIdealStoreIn(s: &MrfShape) {
        /// Data of a result.
        write_data_i: [WarpData; MAX_PORTS] = field(1024).count(s.issue_ports).valid_by("write_valid_i"),
        /// Slot i takes its register at this edge.
        fill_i: u64 = field(s.slots()),
        /// Lanes to write.
        write_mask_i: [u32; MAX_PORTS] = field(32).count(s.issue_ports).valid_by("write_valid_i"),
        /// Entry of each slot's register.
        fill_entry_i: [u16; MAX_SLOTS] = field(s.entry_w()).count(s.slots()).valid_by("fill_i"),
        /// Entry that each bus writes.
        write_entry_i: [u16; MAX_PORTS] = field(s.entry_w()).count(s.issue_ports).valid_by("write_valid_i"),
        /// Bank of each slot's register.
        fill_bank_i: [u8; MAX_SLOTS] = field(s.bank_w()).count(s.slots()).valid_by("fill_i"),
        /// Bank that each bus writes.
        write_bank_i: [u8; MAX_PORTS] = field(s.bank_w()).count(s.issue_ports).valid_by("write_valid_i"),
        /// The result of bus p is written at this edge.
        write_valid_i: u8 = field(s.issue_ports),
        /// Port p hands on the operands.
        dispatch_valid_i: u8 = field(s.issue_ports),
        /// Collector whose operands port p hands on.
        dispatch_col_i: [u8; MAX_PORTS] = field(s.col_w()).count(s.issue_ports).valid_by("dispatch_valid_i"),
    }
}

ports! {
    /// Outputs of [`MrfIdealStore`].
    pub struct MrfIdealStoreOut(s: &MrfShape) {
        /// Operands: element 3p+s is slot s of the collector that port p names.
        dispatch_data_o: [WarpData; OPERANDS * MAX_PORTS] =
            field(1024).count(s.sources()).valid_by("dispatch_valid_i"),
    }
}

/// The words of a register file and its operand latches, with a read port for each latch and a write port for each bus.
#[derive(Clone)]
pub struct MrfIdealStore {
    banks: usize,
    word_q: Box<[WarpData]>,
    operand_q: Box<[WarpData]>,
}

impl MrfIdealStore {
    /// The number of a register's word.
    #[inline]
    fn index(&self, bank: u8, entry: u16) -> usize {
        usize::from(entry) * self.banks + usize::from(bank)
    }

    /// The edge, first part: latches take their words.
    #[inline]
    pub(crate) fn fill(&mut self, fill: Slots, bank: &[u8; MAX_SLOTS], entry: &[u16; MAX_SLOTS]) {
        for slot in fill.iter() {
            let i = slot.index();
            self.operand_q[i] = self.word_q[self.index(bank[i], entry[i])];
        }
    }

    /// The edge, second part: a result is written.
    #[inline]
    pub(crate) fn write(&mut self, bank: u8, entry: u16, data: &WarpData, mask: LaneMask) {
        let index = self.index(bank, entry);
        self.word_q[index].merge(data, mask);
    }

    /// The latches of a collector.
    #[inline]
    pub(crate) fn operands(&self, collector: usize) -> &[WarpData; OPERANDS] {
        &self.operand_q.as_chunks().0[collector]
    }
}

impl Block for MrfIdealStore {
    const NAME: &'static str = "mrf_ideal_store";
    const PARAMETERS: &'static [&'static str] = &["Banks", "Collectors", "IssuePorts", "Depth"];
    const WORDS_ARE_REGISTERS: bool = true;

    type Shape = MrfShape;
    type In = MrfIdealStoreIn;
    type Out = MrfIdealStoreOut;
    type Probe = NoProbe<MrfShape>;

    fn new(shape: &MrfShape) -> Self {
        Self {
            banks: shape.banks,
            word_q: vec![WarpData::ZERO; shape.banks * shape.depth].into(),
            operand_q: vec![WarpData::ZERO; shape.slots()].into(),
        }
    }

    fn early(&self, _: &mut MrfIdealStoreOut) {}

    fn late(&mut self, inputs: &MrfIdealStoreIn, out: &mut MrfIdealStoreOut) {
        for p in set_bits(inputs.dispatch_valid_i) {
            let operands = self.operands(inputs.dispatch_col_i[p].into());
            out.dispatch_data_o[OPERANDS * p..][..OPERANDS].copy_from_slice(operands);
        }
    }

    fn clock(&mut self, inputs: &MrfIdealStoreIn, _: &MrfIdealStoreOut) {
        self.fill(Slots::from_port(inputs.fill_i), &inputs.fill_bank_i, &inputs.fill_entry_i);
        for p in set_bits(inputs.write_valid_i) {
            let mask = LaneMask(inputs.write_mask_i[p]);
            self.write(inputs.write_bank_i[p], inputs.write_entry_i[p], &inputs.write_data_i[p], mask);
        }
    }

    fn probe(&self, _: &MrfIdealStoreIn, _: &MrfIdealStoreOut, _: &mut NoProbe<MrfShape>) {}

    fn memories(&mut self) -> Vec<Memory<'_>> {
        vec![
            Memory::of_warps("word_q", Self::NAME, &mut self.word_q),
            Memory::of_warps("operand_q", Self::NAME, &mut self.operand_q),
        ]
    }
}
