//! `ram_1r1w`: a RAM with a read and a write port. `docs/blocks/ram.md`.

use crate::mrf::MrfShape;
use crate::ram::Storage;
use crate::{Block, LaneMask, Memory, NoProbe, WarpData, field, ports};

ports! {
    /// Inputs of [`Ram1r1w`].
    pub struct Ram1r1wIn(s: &MrfShape) {
        /// Data to write.
        wdata_i: WarpData = field(1024),
        /// Lanes to write.
        wmask_i: u32 = field(32),
        /// Word to read.
        raddr_i: u16 = field(s.entry_w()),
        /// Word to write.
        waddr_i: u16 = field(s.entry_w()),
        /// Read at this edge.
        re_i: u8 = field(1),
        /// Write at this edge.
        we_i: u8 = field(1),
    }
}

ports! {
    /// Outputs of [`Ram1r1w`].
    pub struct Ram1r1wOut(s: &MrfShape) {
        /// Word read last.
        rdata_o: WarpData = field(1024).early(),
    }
}

/// A RAM with a read and a write port: both may be used in one cycle, a write enable for each lane.
#[derive(Clone)]
pub struct Ram1r1w {
    storage: Storage,
}

impl Block for Ram1r1w {
    const NAME: &'static str = "ram_1r1w";
    const PARAMETERS: &'static [&'static str] = &["Depth", "Parts", "PartW"];

    type Shape = MrfShape;
    type In = Ram1r1wIn;
    type Out = Ram1r1wOut;
    type Probe = NoProbe<MrfShape>;

    fn new(shape: &MrfShape) -> Self {
        Self { storage: Storage::new(shape.depth) }
    }

    #[inline]
    fn early(&self, out: &mut Ram1r1wOut) {
        out.rdata_o = *self.storage.rdata();
    }

    #[inline]
    fn late(&mut self, _: &Ram1r1wIn, _: &mut Ram1r1wOut) {}

    #[inline]
    fn clock(&mut self, inputs: &Ram1r1wIn, _: &Ram1r1wOut) {
        // Read before write: one word at the same edge returns its old value.
        if inputs.re_i != 0 {
            self.storage.read(inputs.raddr_i);
        }
        if inputs.we_i != 0 {
            self.storage.write(inputs.waddr_i, &inputs.wdata_i, LaneMask(inputs.wmask_i));
        }
    }

    fn probe(&self, _: &Ram1r1wIn, _: &Ram1r1wOut, _: &mut NoProbe<MrfShape>) {}

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
    fn reading_and_writing_one_word_returns_the_old_one() {
        let mut ram = Driver::<Ram1r1w>::new(&MrfShape::BASELINE);
        (ram.inputs.re_i, ram.inputs.we_i, ram.inputs.wmask_i) = (1, 1, u32::MAX);
        (ram.inputs.raddr_i, ram.inputs.waddr_i) = (9, 9);
        let mut read = Vec::new();
        for value in 1..5 {
            ram.inputs.wdata_i = WarpData([value; 32]);
            read.push(ram.cycle().rdata_o.0[31]);
        }
        assert_eq!(read, [0, 0, 1, 2]);
        // The output holds while others are written.
        (ram.inputs.re_i, ram.inputs.waddr_i) = (0, 8);
        assert_eq!(ram.cycle().rdata_o.0, [3; 32]);
        assert_eq!(ram.cycle().rdata_o.0, [3; 32]);
    }
}
