//! `mrf_crossbar`: routes read data from the banks to the operand latches. `docs/blocks/mrf_crossbar.md`.

use crate::mrf::bits::{only, set_bits};
use crate::mrf::slots::Slots;
use crate::mrf::{MAX_BANKS, MAX_PORTS, MAX_SLOTS, MrfShape};
use crate::{Block, Memory, OPERANDS, WarpData, field, ports};

ports! {
    /// Inputs of [`MrfCrossbar`].
    pub struct MrfCrossbarIn(s: &MrfShape) {
        /// Data of each bank.
        read_data_i: [WarpData; MAX_BANKS] = field(1024).count(s.banks).valid_by("read_data_valid_i"),
        /// Slot i is served by a read that is performed at this edge.
        fill_i: u64 = field(s.slots()),
        /// Bank b has data.
        read_data_valid_i: u32 = field(s.banks),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Bank that serves slot i.
        fill_bank_i: [u8; MAX_SLOTS] = field(s.bank_w()).count(s.slots()).valid_by("fill_i"),
        /// Port p hands on the operands.
        dispatch_valid_i: u8 = field(s.issue_ports),
        /// Collector whose operands port p hands on.
        dispatch_col_i: [u8; MAX_PORTS] = field(s.col_w()).count(s.issue_ports).valid_by("dispatch_valid_i"),
    }
}

ports! {
    /// Outputs of [`MrfCrossbar`].
    pub struct MrfCrossbarOut(s: &MrfShape) {
        /// Operands: element 3p+s is slot s of collector `dispatch_col_i[p]`.
        dispatch_data_o: [WarpData; OPERANDS * MAX_PORTS] =
            field(1024).count(s.sources()).valid_by("dispatch_valid_i"),
    }
}

ports! {
    /// State of [`MrfCrossbar`] besides the latches.
    pub struct MrfCrossbarProbe(s: &MrfShape) {
        /// Slot i takes its data in this cycle.
        fill_q: u64 = field(s.slots()),
        /// Bank from which slot i takes its data.
        fill_bank_q: [u8; MAX_SLOTS] = field(s.bank_w()).count(s.slots()).valid_by("fill_q"),
    }
}

/// Routes each bank's output to the operand slots that requested it (stealing paper, figure 1: "banked RF with operand
/// collectors and a crossbar unit"), holds the operands, and outputs those of the dispatched collectors. The latches
/// are here, at the crossbar's outputs, because the data arrives here; the collectors hold the control.
#[derive(Clone)]
pub struct MrfCrossbar {
    operand_q: Box<[WarpData]>,
    fill_q: Slots,
    fill_bank_q: [u8; MAX_SLOTS],
}

impl MrfCrossbar {
    /// The latches of a collector.
    #[inline]
    pub(crate) fn operands(&self, collector: usize) -> &[WarpData; OPERANDS] {
        &self.operand_q.as_chunks().0[collector]
    }

    /// The clock edge, first part: latches take the data requested in the last cycle, from `read_data` of their bank.
    #[inline]
    pub(crate) fn take<'a>(&mut self, read_data: impl Fn(usize) -> &'a WarpData) {
        for slot in self.fill_q.iter() {
            self.operand_q[slot.index()] = *read_data(self.fill_bank_q[slot.index()].into());
        }
    }

    /// The clock edge, second part: records which latches take data next. In reset, `fill` must be empty.
    #[inline]
    pub(crate) fn ask(&mut self, fill: Slots, fill_bank: &[u8; MAX_SLOTS]) {
        self.fill_q = fill;
        // Banks of slots that are not filled have no meaning, so all of them may be copied.
        self.fill_bank_q = *fill_bank;
    }

    /// Whether no latch takes data at this clock edge.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.fill_q.is_empty()
    }

    /// The operand latches.
    pub(crate) fn latches(&mut self) -> &mut [WarpData] {
        &mut self.operand_q
    }

    /// The latches that take data in this cycle, and their banks.
    pub(crate) fn state(&self) -> MrfCrossbarProbe {
        let fill_q = self.fill_q.to_port();
        MrfCrossbarProbe { fill_q, fill_bank_q: only(&self.fill_bank_q, fill_q) }
    }
}

impl Block for MrfCrossbar {
    const NAME: &'static str = "mrf_crossbar";
    const PARAMETERS: &'static [&'static str] = &["Banks", "Collectors", "IssuePorts"];

    type Shape = MrfShape;
    type In = MrfCrossbarIn;
    type Out = MrfCrossbarOut;
    type Probe = MrfCrossbarProbe;

    fn new(shape: &MrfShape) -> Self {
        Self { operand_q: vec![WarpData::ZERO; shape.slots()].into(), fill_q: Slots::NONE, fill_bank_q: [0; MAX_SLOTS] }
    }

    fn early(&self, _: &mut MrfCrossbarOut) {}

    fn late(&mut self, inputs: &MrfCrossbarIn, out: &mut MrfCrossbarOut) {
        for p in set_bits(inputs.dispatch_valid_i) {
            let operands = self.operands(inputs.dispatch_col_i[p].into());
            out.dispatch_data_o[OPERANDS * p..][..OPERANDS].copy_from_slice(operands);
        }
    }

    fn clock(&mut self, inputs: &MrfCrossbarIn, _: &MrfCrossbarOut) {
        self.take(|bank| &inputs.read_data_i[bank]);
        self.ask(Slots::from_port(inputs.fill_i).when(inputs.rst_ni != 0), &inputs.fill_bank_i);
    }

    fn probe(&self, _: &MrfCrossbarIn, _: &MrfCrossbarOut, probe: &mut MrfCrossbarProbe) {
        *probe = self.state();
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        vec![Memory::of_warps("operand_q", Self::NAME, self.latches())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Driver;

    /// The operands of a collector, as dispatch port 0 shows them.
    fn operands(crossbar: &mut Driver<MrfCrossbar>, collector: u8) -> [u32; OPERANDS] {
        crossbar.inputs.dispatch_valid_i = 0b01;
        crossbar.inputs.dispatch_col_i[0] = collector;
        let out = crossbar.cycle();
        std::array::from_fn(|s| out.dispatch_data_o[s].0[31])
    }

    #[test]
    fn data_reaches_every_slot_that_asked_one_cycle_later() {
        let mut crossbar = Driver::<MrfCrossbar>::new(&MrfShape::BASELINE);
        let slots = [3, 5, 23];
        crossbar.inputs.fill_i = slots.iter().fold(0, |fill, slot| fill | 1 << slot);
        for (slot, bank) in slots.into_iter().zip([4, 4, 9]) {
            crossbar.inputs.fill_bank_i[slot] = bank;
        }
        crossbar.cycle();
        crossbar.inputs.fill_i = 0;
        crossbar.inputs.read_data_valid_i = 1 << 4 | 1 << 9;
        crossbar.inputs.read_data_i[4] = WarpData([44; 32]);
        crossbar.inputs.read_data_i[9] = WarpData([99; 32]);
        crossbar.cycle();
        assert_eq!(crossbar.probe().fill_q, 1 << 3 | 1 << 5 | 1 << 23);
        crossbar.inputs.read_data_i[4] = WarpData([0; 32]);
        assert_eq!(operands(&mut crossbar, 1), [44, 0, 44]);
        assert_eq!(operands(&mut crossbar, 7), [0, 0, 99]);
    }

    #[test]
    fn reset_cancels_what_is_asked_and_not_what_arrives() {
        let mut crossbar = Driver::<MrfCrossbar>::new(&MrfShape::BASELINE);
        crossbar.inputs.read_data_i[0] = WarpData([5; 32]);
        crossbar.inputs.fill_i = 0b001;
        crossbar.cycle();
        crossbar.inputs.fill_i = 0b010;
        crossbar.inputs.rst_ni = 0;
        crossbar.cycle();
        crossbar.inputs.rst_ni = 1;
        crossbar.inputs.fill_i = 0;
        crossbar.cycle();
        assert_eq!(operands(&mut crossbar, 0), [5, 0, 0]);
    }

    #[test]
    fn each_port_has_its_own_collector() {
        let mut crossbar = Driver::<MrfCrossbar>::new(&MrfShape { issue_ports: 2, ..MrfShape::BASELINE });
        for (slot, latch) in crossbar.block.latches().iter_mut().enumerate() {
            *latch = WarpData([slot as u32; 32]);
        }
        crossbar.inputs.dispatch_valid_i = 0b11;
        crossbar.inputs.dispatch_col_i = [6, 2];
        assert_eq!(crossbar.cycle().dispatch_data_o.map(|word| word.0[0]), [18, 19, 20, 6, 7, 8]);
    }
}
