//! `ram_1rw`: a RAM with one port. `docs/blocks/ram.md`.

use crate::mrf::MrfShape;
use crate::ram::Storage;
use crate::{Block, LaneMask, Memory, NoProbe, WarpData, field, ports};

ports! {
    /// Inputs of [`Ram1rw`].
    pub struct Ram1rwIn(s: &MrfShape) {
        /// Data to write.
        wdata_i: WarpData = field(1024),
        /// Lanes to write.
        wmask_i: u32 = field(32),
        /// Word to read or write.
        addr_i: u16 = field(s.entry_w()),
        /// Access at this edge.
        en_i: u8 = field(1),
        /// 1: write, 0: read.
        we_i: u8 = field(1),
    }
}

ports! {
    /// Outputs of [`Ram1rw`].
    pub struct Ram1rwOut(s: &MrfShape) {
        /// Word read last.
        rdata_o: WarpData = field(1024).early(),
    }
}

/// A RAM with one port: a read or a write a cycle, a write enable for each lane.
#[derive(Clone)]
pub struct Ram1rw {
    storage: Storage,
}

impl Block for Ram1rw {
    const NAME: &'static str = "ram_1rw";
    const PARAMETERS: &'static [&'static str] = &["Depth", "Parts", "PartW"];

    type Shape = MrfShape;
    type In = Ram1rwIn;
    type Out = Ram1rwOut;
    type Probe = NoProbe<MrfShape>;

    fn new(shape: &MrfShape) -> Self {
        Self { storage: Storage::new(shape.depth) }
    }

    #[inline]
    fn early(&self, out: &mut Ram1rwOut) {
        out.rdata_o = *self.storage.rdata();
    }

    #[inline]
    fn late(&mut self, _: &Ram1rwIn, _: &mut Ram1rwOut) {}

    #[inline]
    fn clock(&mut self, inputs: &Ram1rwIn, _: &Ram1rwOut) {
        if inputs.en_i == 0 {
            return;
        }
        if inputs.we_i != 0 {
            self.storage.write(inputs.addr_i, &inputs.wdata_i, LaneMask(inputs.wmask_i));
        } else {
            self.storage.read(inputs.addr_i);
        }
    }

    fn probe(&self, _: &Ram1rwIn, _: &Ram1rwOut, _: &mut NoProbe<MrfShape>) {}

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let (words, rdata_q) = self.storage.contents();
        vec![Memory::of_warps("mem_q", Self::NAME, words), Memory::of_warps("rdata_q", Self::NAME, rdata_q)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Driver;

    #[test]
    fn an_access_reads_or_writes() {
        let mut ram = Driver::<Ram1rw>::new(&MrfShape::BASELINE);
        (ram.inputs.en_i, ram.inputs.we_i, ram.inputs.addr_i, ram.inputs.wmask_i) = (1, 1, 9, 0b11);
        ram.inputs.wdata_i = WarpData([4; 32]);
        ram.cycle();
        ram.inputs.we_i = 0;
        assert_eq!(ram.cycle().rdata_o.0, [0; 32], "a write leaves the output alone");
        assert_eq!(ram.cycle().rdata_o.0[..3], [4, 4, 0]);
        // Without `en_i` nothing else is looked at.
        (ram.inputs.en_i, ram.inputs.we_i, ram.inputs.wmask_i) = (0, 1, u32::MAX);
        ram.cycle();
        (ram.inputs.en_i, ram.inputs.we_i) = (1, 0);
        ram.cycle();
        assert_eq!(ram.cycle().rdata_o.0[..3], [4, 4, 0]);
    }
}
