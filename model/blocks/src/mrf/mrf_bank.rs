//! `mrf_bank`: one bank. `docs/blocks/mrf_bank.md`.

use crate::mrf::MrfShape;
use crate::ram::Storage;
use crate::{Block, LaneMask, Memory, NoProbe, WarpData, field, ports};

ports! {
    /// Inputs of [`MrfBank`].
    pub struct MrfBankIn(s: &MrfShape) {
        /// Data to write.
        write_data_i: WarpData = field(1024).valid_by("write_valid_i"),
        /// Lanes to write.
        write_mask_i: u32 = field(32).valid_by("write_valid_i"),
        /// Entry to read.
        read_entry_i: u16 = field(s.entry_w()).valid_by("read_valid_i"),
        /// Entry to write.
        write_entry_i: u16 = field(s.entry_w()).valid_by("write_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Read at this edge.
        read_valid_i: u8 = field(1),
        /// Write at this edge.
        write_valid_i: u8 = field(1),
    }
}

ports! {
    /// Outputs of [`MrfBank`].
    pub struct MrfBankOut(s: &MrfShape) {
        /// Data of the read.
        read_data_o: WarpData = field(1024).valid_by("read_data_valid_o").early().shows(if s.dual_port {
            "gen_1r1w.u_ram.rdata_q"
        } else {
            "gen_1rw.u_ram.rdata_q"
        }),
        /// A read was performed at the last edge.
        read_data_valid_o: u8 = field(1).early().shows("read_data_valid_q"),
    }
}

/// One bank: a RAM with its valid bit. Single-ported as in the stealing paper, III-B, or with one read and one write port,
/// RFC paper, 2.1 ("multiple dual-ported banks (1 read and 1 write per cycle)").
#[derive(Clone)]
pub struct MrfBank {
    storage: Storage,
    dual_port: bool,
    /// Used only by a bank that runs alone; the register file keeps the valid bits of all its banks in a mask.
    read_data_valid_q: bool,
}

impl MrfBank {
    /// The data of the last read.
    #[inline]
    pub(crate) fn read_data(&self) -> &WarpData {
        self.storage.rdata()
    }

    /// A clock edge with a read. With a write at the same edge, call this before [`write`](Self::write): a read and a
    /// write of one entry return the old value.
    #[inline]
    pub(crate) fn read(&mut self, entry: u16) {
        self.storage.read(entry);
    }

    /// A clock edge with a write. RAM cells have no reset, so this also applies in reset.
    #[inline]
    pub(crate) fn write(&mut self, entry: u16, data: &WarpData, mask: LaneMask) {
        self.storage.write(entry, data, mask);
    }

    /// Path of the RAM array inside the module.
    pub(crate) fn memory_path(&self) -> &'static str {
        if self.dual_port { "gen_1r1w.u_ram.mem_q" } else { "gen_1rw.u_ram.mem_q" }
    }

    /// The words of the RAM.
    pub(crate) fn words(&mut self) -> &mut [WarpData] {
        self.storage.contents().0
    }
}

impl Block for MrfBank {
    const NAME: &'static str = "mrf_bank";
    const PARAMETERS: &'static [&'static str] = &["DualPort", "Depth"];
    const CELLS: &'static [&'static str] = &["ram_1rw", "ram_1r1w"];

    type Shape = MrfShape;
    type In = MrfBankIn;
    type Out = MrfBankOut;
    type Probe = NoProbe<MrfShape>;

    fn new(shape: &MrfShape) -> Self {
        Self { storage: Storage::new(shape.depth), dual_port: shape.dual_port, read_data_valid_q: false }
    }

    fn early(&self, out: &mut MrfBankOut) {
        out.read_data_valid_o = self.read_data_valid_q.into();
        if self.read_data_valid_q {
            out.read_data_o = *self.read_data();
        }
    }

    fn late(&mut self, _: &MrfBankIn, _: &mut MrfBankOut) {}

    fn clock(&mut self, inputs: &MrfBankIn, _: &MrfBankOut) {
        // If a single-ported bank gets a read and a write in one cycle, it performs the write.
        let read = inputs.read_valid_i != 0 && (self.dual_port || inputs.write_valid_i == 0);
        if read {
            self.read(inputs.read_entry_i);
        }
        if inputs.write_valid_i != 0 {
            self.write(inputs.write_entry_i, &inputs.write_data_i, LaneMask(inputs.write_mask_i));
        }
        self.read_data_valid_q = read && inputs.rst_ni != 0;
    }

    fn probe(&self, _: &MrfBankIn, _: &MrfBankOut, _: &mut NoProbe<MrfShape>) {}

    fn memories(&mut self) -> Vec<Memory<'_>> {
        vec![Memory::of_warps(self.memory_path(), Self::NAME, self.words())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Driver;

    const DUAL: MrfShape = MrfShape { dual_port: true, ..MrfShape::BASELINE };

    fn write(bank: &mut Driver<MrfBank>, entry: u16, value: u32, mask: u32) {
        let inputs = &mut bank.inputs;
        (inputs.write_valid_i, inputs.write_entry_i, inputs.write_mask_i) = (1, entry, mask);
        inputs.write_data_i = WarpData([value; 32]);
    }

    fn read(bank: &mut Driver<MrfBank>, entry: u16) {
        (bank.inputs.read_valid_i, bank.inputs.read_entry_i) = (1, entry);
    }

    /// The data of the read in the last cycle, if there was one. This cycle has no read and no write.
    fn result(bank: &mut Driver<MrfBank>) -> Option<[u32; 32]> {
        (bank.inputs.read_valid_i, bank.inputs.write_valid_i) = (0, 0);
        let out = bank.cycle();
        (out.read_data_valid_o != 0).then_some(out.read_data_o.0)
    }

    #[test]
    fn a_read_returns_what_was_written_under_the_mask() {
        for shape in [MrfShape::BASELINE, DUAL] {
            let mut bank = Driver::new(&shape);
            write(&mut bank, 5, 9, 0x8000_0001);
            bank.cycle();
            assert_eq!(result(&mut bank), None);
            read(&mut bank, 5);
            bank.cycle();
            let lanes = std::array::from_fn(|lane| if matches!(lane, 0 | 31) { 9 } else { 0 });
            assert_eq!(result(&mut bank), Some(lanes));
            assert_eq!(result(&mut bank), None);
        }
    }

    #[test]
    fn the_output_keeps_the_old_value_while_the_entry_is_written() {
        for (shape, same_edge) in [(MrfShape::BASELINE, None), (DUAL, Some([1; 32]))] {
            let mut bank = Driver::new(&shape);
            write(&mut bank, 5, 1, u32::MAX);
            bank.cycle();
            // In the cycle after the read.
            bank.inputs.write_valid_i = 0;
            read(&mut bank, 5);
            bank.cycle();
            bank.inputs.read_valid_i = 0;
            write(&mut bank, 5, 1, u32::MAX);
            assert_eq!(bank.cycle().read_data_o.0, [1; 32]);
            // At the same edge: a single-ported bank performs the write and no read.
            read(&mut bank, 5);
            write(&mut bank, 5, 2, u32::MAX);
            bank.cycle();
            assert_eq!(result(&mut bank), same_edge);
            read(&mut bank, 5);
            bank.cycle();
            assert_eq!(result(&mut bank), Some([2; 32]));
        }
    }

    #[test]
    fn in_reset_a_read_is_not_reported_and_a_write_is_performed() {
        let mut bank = Driver::<MrfBank>::new(&DUAL);
        bank.inputs.rst_ni = 0;
        read(&mut bank, 3);
        write(&mut bank, 3, 8, u32::MAX);
        bank.cycle();
        bank.inputs.rst_ni = 1;
        assert_eq!(result(&mut bank), None);
        read(&mut bank, 3);
        bank.cycle();
        assert_eq!(result(&mut bank), Some([8; 32]));
    }
}
