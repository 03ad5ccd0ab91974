//! `predicate_file`: seven predicates for each warp. `docs/blocks/predicate_file.md`.

use crate::instruction::NO_PRED;
use crate::mrf::MAX_PORTS;
use crate::mrf::bits::set_bits;
use crate::shape::SmShape;
use crate::sizes::MAX_WARPS;
use crate::{Block, LANES, Memory, WARP_BITS, field, ports};

/// Width of a predicate's number.
pub const PRED_BITS: u32 = 3;
/// Words of a warp: one for each predicate number, including the number that means true.
const WORDS: usize = 1 << PRED_BITS;
/// Bit that inverts the value read.
const INVERTED: u8 = 1 << PRED_BITS;

ports! {
    /// Inputs of [`PredicateFile`].
    pub struct PredicateFileIn(s: &SmShape) {
        /// Lanes to write.
        write_mask_i: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("write_valid_i"),
        /// Value to write in each lane of the predicate.
        write_data_i: [u32; MAX_PORTS] = field(LANES).count(s.ports()).valid_by("write_valid_i"),
        /// Synchronous reset, active low; predicates have none.
        rst_ni: u8 = field(1),
        /// Warp that is read on port p.
        read_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()),
        /// Guard that is read on port p: inverted, number.
        read_guard_i: [u8; MAX_PORTS] = field(PRED_BITS + 1).count(s.ports()),
        /// Source s that is read on port p: inverted, number.
        read_s_i: [u8; MAX_PORTS] = field(PRED_BITS + 1).count(s.ports()),
        /// Source t that is read on port p: inverted, number.
        read_t_i: [u8; MAX_PORTS] = field(PRED_BITS + 1).count(s.ports()),
        /// A predicate is written at this edge.
        write_valid_i: u8 = field(s.ports()),
        /// Warp whose predicate is written.
        write_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.ports()).valid_by("write_valid_i"),
        /// Predicate that is written.
        write_pred_i: [u8; MAX_PORTS] = field(PRED_BITS).count(s.ports()).valid_by("write_valid_i"),
    }
}

ports! {
    /// Outputs of [`PredicateFile`].
    pub struct PredicateFileOut(s: &SmShape) {
        /// Lanes whose guard is true.
        guard_o: [u32; MAX_PORTS] = field(LANES).count(s.ports()),
        /// Lanes whose source s is true.
        s_o: [u32; MAX_PORTS] = field(LANES).count(s.ports()),
        /// Lanes whose source t is true.
        t_o: [u32; MAX_PORTS] = field(LANES).count(s.ports()),
    }
}

ports! {
    /// State of [`PredicateFile`].
    pub struct PredicateFileProbe(s: &SmShape) {
        /// Every predicate of every warp: number n of warp w is element 8w+n.
        pred_q: [u32; WORDS * MAX_WARPS] = field(LANES).count(WORDS * s.warps),
    }
}

/// One bit for each lane of seven predicates a warp: read at issue (guard, s and t of each port), written when a result arrives.
#[derive(Clone)]
pub struct PredicateFile {
    /// Word `8 * warp + number`. Number 7 has words too, which are never read or written.
    pred_q: Box<[u32]>,
    /// The bits of a warp's number that are used: until reset has been clocked in, inputs may name warps that do not exist.
    warp_bits: u8,
}

impl PredicateFile {
    /// A predicate of a warp as an instruction names it: inverted, number.
    #[inline]
    pub fn read(&self, warp: u8, name: u8) -> u32 {
        let number = name % INVERTED;
        let inverted = if name & INVERTED == 0 { 0 } else { u32::MAX };
        let value = match number {
            NO_PRED => u32::MAX,
            _ => self.pred_q.get(self.place(warp, number)).copied().unwrap_or_default(),
        };
        value ^ inverted
    }

    /// Writes the lanes of `mask` at a clock edge, in reset too. Of two writes at one edge, that of the higher port comes second.
    #[inline]
    pub fn write(&mut self, warp: u8, number: u8, mask: u32, data: u32) {
        if number == NO_PRED {
            return;
        }
        let place = self.place(warp, number);
        if let Some(word) = self.pred_q.get_mut(place) {
            *word = *word & !mask | data & mask;
        }
    }

    #[inline]
    fn place(&self, warp: u8, number: u8) -> usize {
        WORDS * usize::from(warp & self.warp_bits) + usize::from(number)
    }

    /// The words, `8 * warp + number`.
    pub(crate) fn words(&mut self) -> &mut [u32] {
        &mut self.pred_q
    }
}

impl Block for PredicateFile {
    const NAME: &'static str = "predicate_file";
    const PARAMETERS: &'static [&'static str] = &["Warps", "IssuePorts"];
    const WORDS_ARE_REGISTERS: bool = true;

    type Shape = SmShape;
    type In = PredicateFileIn;
    type Out = PredicateFileOut;
    type Probe = PredicateFileProbe;

    fn new(shape: &SmShape) -> Self {
        let warp_bits = shape.warps.next_power_of_two() as u8 - 1;
        Self { pred_q: vec![0; WORDS * shape.warps].into(), warp_bits }
    }

    fn early(&self, _: &mut PredicateFileOut) {}

    fn late(&mut self, inputs: &PredicateFileIn, out: &mut PredicateFileOut) {
        for p in 0..MAX_PORTS {
            let warp = inputs.read_warp_i[p];
            out.guard_o[p] = self.read(warp, inputs.read_guard_i[p]);
            out.s_o[p] = self.read(warp, inputs.read_s_i[p]);
            out.t_o[p] = self.read(warp, inputs.read_t_i[p]);
        }
    }

    fn clock(&mut self, inputs: &PredicateFileIn, _: &PredicateFileOut) {
        for p in set_bits(inputs.write_valid_i) {
            let (warp, number) = (inputs.write_warp_i[p], inputs.write_pred_i[p]);
            self.write(warp, number, inputs.write_mask_i[p], inputs.write_data_i[p]);
        }
    }

    fn probe(&self, _: &PredicateFileIn, _: &PredicateFileOut, probe: &mut PredicateFileProbe) {
        probe.pred_q[..self.pred_q.len()].copy_from_slice(&self.pred_q);
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        vec![Memory { path: "pred_q".into(), block: Self::NAME, words: self.words(), bits: u32::BITS }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ports;
    use crate::testing::{Driver, SM_SHAPES, compare};

    fn file() -> Driver<PredicateFile> {
        Driver::new(&SM_SHAPES[1])
    }

    fn write(file: &mut Driver<PredicateFile>, p: usize, warp: u8, number: u8, mask: u32, data: u32) {
        let inputs = &mut file.inputs;
        inputs.write_valid_i |= 1 << p;
        (inputs.write_warp_i[p], inputs.write_pred_i[p]) = (warp, number);
        (inputs.write_mask_i[p], inputs.write_data_i[p]) = (mask, data);
    }

    /// What port 1 reads in this cycle; afterwards nothing is written any more.
    fn read(file: &mut Driver<PredicateFile>, warp: u8, names: [u8; 3]) -> [u32; 3] {
        let inputs = &mut file.inputs;
        inputs.read_warp_i[1] = warp;
        [inputs.read_guard_i[1], inputs.read_s_i[1], inputs.read_t_i[1]] = names;
        let out = file.cycle();
        file.inputs.write_valid_i = 0;
        [out.guard_o[1], out.s_o[1], out.t_o[1]]
    }

    #[test]
    fn lanes_of_the_mask_are_written_and_read_from_the_next_cycle_on() {
        let mut file = file();
        write(&mut file, 0, 7, 6, u32::MAX, 0x1234_5678);
        write(&mut file, 1, 7, 0, u32::MAX, 0xf);
        assert_eq!(read(&mut file, 7, [6, 0, 6 | INVERTED]), [0, 0, u32::MAX]);
        write(&mut file, 0, 7, 6, 0xffff, 0xaaaa_bbbb);
        assert_eq!(read(&mut file, 7, [6, 0, 6 | INVERTED]), [0x1234_5678, 0xf, !0x1234_5678]);
        assert_eq!(read(&mut file, 7, [6, 0, 6 | INVERTED]), [0x1234_bbbb, 0xf, !0x1234_bbbb]);
        assert_eq!(read(&mut file, 6, [6, 0, 1]), [0; 3], "another warp");
    }

    #[test]
    fn number_seven_is_true_whatever_is_written() {
        let mut file = file();
        write(&mut file, 0, 3, 7, u32::MAX, 0);
        file.cycle();
        assert_eq!(read(&mut file, 3, [7, 7 | INVERTED, 7]), [u32::MAX, 0, u32::MAX]);
        assert!(file.block.words().iter().all(|&word| word == 0));
    }

    #[test]
    fn lanes_of_the_higher_port_win() {
        let mut file = file();
        write(&mut file, 0, 5, 2, 0x0ff, 0x0aa);
        write(&mut file, 1, 5, 2, 0xff0, 0xc50);
        file.cycle();
        file.inputs.write_valid_i = 0;
        assert_eq!(read(&mut file, 5, [2, 7, 7])[0], 0xc5a);
    }

    #[test]
    fn predicates_are_written_in_reset_too() {
        let mut file = file();
        file.inputs.rst_ni = 0;
        write(&mut file, 1, 1, 1, u32::MAX, 9);
        file.cycle();
        file.inputs.rst_ni = 1;
        assert_eq!(read(&mut file, 1, [1, 7, 7])[0], 9);
    }

    #[test]
    fn every_word_is_where_the_page_says() {
        for shape in SM_SHAPES {
            let mut words = vec![0u32; WORDS * shape.warps];
            compare::<PredicateFile>(
                &shape,
                3000,
                |random, inputs| {
                    let warps = inputs.read_warp_i.iter_mut().chain(&mut inputs.write_warp_i);
                    warps.for_each(|warp| *warp = random.below(shape.warps) as u8);
                },
                |inputs| {
                    let read = |names: &[u8; MAX_PORTS]| {
                        std::array::from_fn(|p| {
                            let (name, warp) = (names[p], usize::from(inputs.read_warp_i[p]));
                            let value = if name & 7 == 7 { u32::MAX } else { words[8 * warp + usize::from(name & 7)] };
                            if name & 8 != 0 { !value } else { value }
                        })
                    };
                    let out = PredicateFileOut {
                        guard_o: read(&inputs.read_guard_i),
                        s_o: read(&inputs.read_s_i),
                        t_o: read(&inputs.read_t_i),
                    };
                    let mut probe = PredicateFileProbe::zeroed();
                    probe.pred_q[..words.len()].copy_from_slice(&words);
                    for p in (0..shape.ports()).filter(|p| inputs.write_valid_i >> p & 1 == 1) {
                        let (warp, number) = (usize::from(inputs.write_warp_i[p]), usize::from(inputs.write_pred_i[p]));
                        let mask = if number == 7 { 0 } else { inputs.write_mask_i[p] };
                        let word = &mut words[8 * warp + number];
                        *word = *word & !mask | inputs.write_data_i[p] & mask;
                    }
                    (out, probe)
                },
            );
        }
    }
}
