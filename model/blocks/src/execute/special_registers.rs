//! `special_registers`: the values that S2R reads. `docs/blocks/special_registers.md`.

use crate::execute::result::{UnitResult, destination, each_lane, keep};
use crate::ram::Storage;
use crate::shape::SmShape;
use crate::{Block, GROUP_LANES, LANES, LaneMask, Memory, REG_BITS, WARP_BITS, WarpData, field, ports};

/// Words of the RAM: warps of a block.
const WORDS: usize = 32;
/// Width of the number of a warp in its block.
const INDEX_BITS: u32 = WORDS.ilog2();
/// Width of a special register's number.
const SOURCE_BITS: u32 = 5;

ports! {
    /// Inputs of [`SpecialRegisters`].
    pub struct SpecialRegistersIn(s: &SmShape) {
        /// Coordinates of four lanes: {6'b0, z 6, y 10, x 10} of each.
        tid_data_i: [u32; GROUP_LANES] = field(32).count(GROUP_LANES).valid_by("tid_we_i"),
        /// The time in this cycle.
        time_i: u64 = field(64),
        /// Blocks of the grid in x.
        nctaid_x_i: u32 = field(32),
        /// The block's place in the grid, in x.
        ctaid_x_i: u32 = field(32).valid_by("valid_i"),
        /// Bytes of dynamic shared memory.
        dynamic_shared_i: u32 = field(17),
        /// Active lanes.
        lanes_i: u32 = field(32).valid_by("valid_i"),
        /// Threads of a block in x.
        ntid_x_i: u16 = field(11),
        /// Threads of a block in y.
        ntid_y_i: u16 = field(11),
        /// Blocks of the grid in y.
        nctaid_y_i: u16 = field(16),
        /// Blocks of the grid in z.
        nctaid_z_i: u16 = field(16),
        /// The block's place in the grid, in y.
        ctaid_y_i: u16 = field(16).valid_by("valid_i"),
        /// The block's place in the grid, in z.
        ctaid_z_i: u16 = field(16).valid_by("valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// The launcher writes four lanes.
        tid_we_i: u8 = field(1),
        /// Number in its block of the warp whose coordinates are written.
        tid_index_i: u8 = field(INDEX_BITS).valid_by("tid_we_i"),
        /// Lanes 4g to 4g+3.
        tid_group_i: u8 = field(3).valid_by("tid_we_i"),
        /// Threads of a block in z.
        ntid_z_i: u8 = field(7),
        /// An S2R is performed at this edge if there is also room.
        valid_i: u8 = field(1),
        /// The result queue has room.
        room_i: u8 = field(1),
        /// Warp of the S2R.
        warp_i: u8 = field(WARP_BITS).valid_by("valid_i"),
        /// Number of the special register.
        source_i: u8 = field(SOURCE_BITS).valid_by("valid_i"),
        /// The S2R writes a register.
        reg_valid_i: u8 = field(1).valid_by("valid_i"),
        /// Register that the S2R writes.
        reg_i: u8 = field(REG_BITS).valid_by("reg_valid_i"),
        /// The warp's number in its block.
        index_i: u8 = field(INDEX_BITS).valid_by("valid_i"),
    }
}

ports! {
    /// Outputs of [`SpecialRegisters`].
    pub struct SpecialRegistersOut(s: &SmShape) {
        /// Data of the register.
        result_data_o: WarpData = field(1024).valid_by("result_reg_valid_o").early(),
        /// Lanes served at this edge.
        served_o: u32 = field(32),
        /// Lanes of the result.
        result_mask_o: u32 = field(32).valid_by("result_valid_o").early().shows("mask_q"),
        /// A result is offered.
        result_valid_o: u8 = field(1).early().shows("valid_q"),
        /// Warp of the result.
        result_warp_o: u8 = field(WARP_BITS).valid_by("result_valid_o").early().shows("warp_q"),
        /// The result writes a register.
        result_reg_valid_o: u8 = field(1).early().shows_while("reg_valid_q", "result_valid_o"),
        /// Register of the result.
        result_reg_o: u8 = field(REG_BITS).valid_by("result_reg_valid_o").early().shows("reg_q"),
    }
}

ports! {
    /// State of [`SpecialRegisters`] that no output shows.
    pub struct SpecialRegistersProbe(s: &SmShape) {
        /// Value that is the same in all lanes.
        value_q: u32 = field(32).valid_by("result_valid_o"),
        /// Number of the special register.
        source_q: u8 = field(SOURCE_BITS).valid_by("result_valid_o"),
    }
}

/// Values that are the same for all blocks of a grid.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dimensions {
    /// Threads of a block: x, y, z.
    pub ntid: [u32; 3],
    /// Blocks of the grid: x, y, z.
    pub nctaid: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
}

/// An S2R as the block takes it.
#[derive(Clone, Copy, Debug)]
pub struct SpecialRead {
    /// The time.
    pub time: u64,
    /// The block's place in the grid: x, y, z.
    pub ctaid: [u32; 3],
    /// Active lanes.
    pub lanes: u32,
    /// Warp.
    pub warp: u8,
    /// Number of the special register.
    pub source: u8,
    /// Register written.
    pub reg: Option<u8>,
    /// The warp's number in its block.
    pub index: u8,
}

impl SpecialRead {
    /// The value of a register that is the same in all lanes; 0 for other registers.
    fn value(&self, grid: &Dimensions) -> u32 {
        match self.source {
            axis @ 3..=5 => grid.ntid[usize::from(axis) - 3],
            axis @ 6..=8 => self.ctaid[usize::from(axis) - 6],
            axis @ 9..=11 => grid.nctaid[usize::from(axis) - 9],
            13 => self.index.into(),
            19 => self.lanes,
            20 => grid.dynamic_shared,
            21 => self.time as u32,
            22 => (self.time >> 32) as u32,
            _ => 0,
        }
    }

    /// Whether the S2R reads the thread's coordinates.
    fn is_tid(&self) -> bool {
        self.source < 3
    }
}

/// Thread, block and lane numbers, and the time, for S2R. The threads' coordinates are computed by the launcher once for each grid (all
/// blocks are alike) into a RAM with a word for each warp of a block.
#[derive(Clone)]
pub struct SpecialRegisters {
    tid: Storage,
    result_q: UnitResult,
    value_q: u32,
    source_q: u8,
    valid_q: bool,
    /// The value of each lane: it follows from the registers and the RAM's output.
    data: WarpData,
}

impl SpecialRegisters {
    /// The result that is offered.
    #[inline]
    pub fn result(&self) -> Option<&UnitResult> {
        self.valid_q.then_some(&self.result_q)
    }

    /// Data of the result that is offered; meaningful where it writes a register.
    #[inline]
    pub fn data(&self) -> &WarpData {
        &self.data
    }

    /// The value of each lane, from the registers and the RAM's output.
    fn lanes(&self) -> [u32; LANES] {
        let below = |l: usize| (1u32 << l) - 1;
        let up_to = |l: usize| u32::MAX >> (LANES - 1 - l);
        match self.source_q {
            0 => self.tid.rdata().0.map(|word| word & 0x3ff),
            1 => self.tid.rdata().0.map(|word| word >> 10 & 0x3ff),
            2 => self.tid.rdata().0.map(|word| word >> 20 & 0x3f),
            12 => each_lane(|l| l as u32),
            14 => each_lane(|l| 1 << l),
            15 => each_lane(below),
            16 => each_lane(up_to),
            17 => each_lane(|l| !up_to(l)),
            18 => each_lane(|l| !below(l)),
            _ => [self.value_q; LANES],
        }
    }

    /// Whether no S2R is in flight.
    #[inline]
    pub fn idle(&self) -> bool {
        !self.valid_q
    }

    /// First part of the clock edge: the result leaves.
    #[inline]
    pub fn advance(&mut self) {
        self.valid_q = false;
    }

    /// Second part of the clock edge: an S2R is performed. It reads the RAM in reset, too, and therefore comes before
    /// [`reset`](Self::reset) and [`write`](Self::write).
    pub fn perform(&mut self, read: &SpecialRead, grid: &Dimensions) {
        if read.is_tid() {
            self.tid.read(read.index.into());
        }
        let SpecialRead { lanes, warp, reg, .. } = *read;
        self.result_q = UnitResult { mask: lanes, pred_data: 0, warp, reg, pred: None, done: true };
        self.source_q = read.source;
        self.value_q = read.value(grid);
        self.valid_q = true;
        self.data.0 = self.lanes();
        keep(&mut self.data.0, lanes);
    }

    /// Clock edge at which the launcher writes the coordinates of four lanes, also in reset: RAM cells have no reset.
    pub fn write(&mut self, index: u8, group: u8, coordinates: &[u32; GROUP_LANES]) {
        let first = GROUP_LANES * usize::from(group);
        let mut word = WarpData::ZERO;
        word.0[first..first + GROUP_LANES].copy_from_slice(coordinates);
        self.tid.write(index.into(), &word, LaneMask(0xf << first));
    }

    /// Clock edge in reset.
    pub fn reset(&mut self) {
        self.valid_q = false;
    }

    /// The coordinates, for the harness; `at` gives the path of a memory inside the module.
    pub(crate) fn contents<'a>(&'a mut self, at: impl Fn(&str) -> String) -> Vec<Memory<'a>> {
        let (words, rdata_q) = self.tid.contents();
        vec![
            Memory::of_warps(at("u_tid_ram.mem_q"), Self::NAME, words),
            Memory::of_warps(at("u_tid_ram.rdata_q"), Self::NAME, rdata_q),
        ]
    }
}

impl Block for SpecialRegisters {
    const NAME: &'static str = "special_registers";
    const PARAMETERS: &'static [&'static str] = &[];
    const CELLS: &'static [&'static str] = &["ram_1r1w"];

    type Shape = SmShape;
    type In = SpecialRegistersIn;
    type Out = SpecialRegistersOut;
    type Probe = SpecialRegistersProbe;

    fn new(_: &SmShape) -> Self {
        Self {
            tid: Storage::new(WORDS),
            result_q: UnitResult::default(),
            value_q: 0,
            source_q: 0,
            valid_q: false,
            data: WarpData::ZERO,
        }
    }

    fn early(&self, out: &mut SpecialRegistersOut) {
        let result = self.result().copied().unwrap_or_default();
        out.result_valid_o = self.valid_q.into();
        (out.result_warp_o, out.result_mask_o) = (result.warp, result.mask);
        (out.result_reg_valid_o, out.result_reg_o) = (result.reg.is_some().into(), result.reg.unwrap_or(0));
        if result.reg.is_some() {
            out.result_data_o = *self.data();
        }
    }

    fn late(&mut self, inputs: &SpecialRegistersIn, out: &mut SpecialRegistersOut) {
        out.served_o = if inputs.valid_i & inputs.room_i != 0 { inputs.lanes_i } else { 0 };
    }

    fn clock(&mut self, inputs: &SpecialRegistersIn, _: &SpecialRegistersOut) {
        self.advance();
        if inputs.valid_i & inputs.room_i != 0 {
            let read = SpecialRead {
                time: inputs.time_i,
                ctaid: [inputs.ctaid_x_i, inputs.ctaid_y_i.into(), inputs.ctaid_z_i.into()],
                lanes: inputs.lanes_i,
                warp: inputs.warp_i,
                source: inputs.source_i,
                reg: destination(inputs.reg_valid_i != 0, inputs.reg_i),
                index: inputs.index_i,
            };
            let grid = Dimensions {
                ntid: [inputs.ntid_x_i.into(), inputs.ntid_y_i.into(), inputs.ntid_z_i.into()],
                nctaid: [inputs.nctaid_x_i, inputs.nctaid_y_i.into(), inputs.nctaid_z_i.into()],
                dynamic_shared: inputs.dynamic_shared_i,
            };
            self.perform(&read, &grid);
        }
        if inputs.tid_we_i != 0 {
            self.write(inputs.tid_index_i, inputs.tid_group_i, &inputs.tid_data_i);
        }
        if inputs.rst_ni == 0 {
            self.reset();
        }
    }

    fn probe(&self, _: &SpecialRegistersIn, _: &SpecialRegistersOut, probe: &mut SpecialRegistersProbe) {
        (probe.value_q, probe.source_q) = if self.valid_q { (self.value_q, self.source_q) } else { (0, 0) };
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        self.contents(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Driver, SM_SHAPES};

    const LANES_ACTIVE: u32 = 0x8000_f00f;

    /// Special registers of a block of 7 by 5 by 3 threads in a grid of 900 by 800 by 700 blocks.
    fn registers() -> Driver<SpecialRegisters> {
        let mut registers = Driver::new(&SM_SHAPES[0]);
        let inputs: &mut SpecialRegistersIn = &mut registers.inputs;
        (inputs.ntid_x_i, inputs.ntid_y_i, inputs.ntid_z_i) = (7, 5, 3);
        (inputs.nctaid_x_i, inputs.nctaid_y_i, inputs.nctaid_z_i) = (900, 800, 700);
        (inputs.ctaid_x_i, inputs.ctaid_y_i, inputs.ctaid_z_i) = (90, 80, 70);
        inputs.dynamic_shared_i = 65536;
        inputs.time_i = 0xfeed_beef_8bad_f00d;
        (inputs.index_i, inputs.lanes_i, inputs.warp_i, inputs.room_i) = (11, LANES_ACTIVE, 40, 1);
        (inputs.reg_valid_i, inputs.reg_i) = (1, 254);
        registers
    }

    /// The lanes of the result of an S2R.
    fn read(registers: &mut Driver<SpecialRegisters>, source: u8) -> [u32; LANES] {
        (registers.inputs.valid_i, registers.inputs.source_i) = (1, source);
        assert_eq!(registers.cycle().served_o, LANES_ACTIVE);
        registers.inputs.valid_i = 0;
        let out = registers.cycle();
        assert_eq!((out.result_valid_o, out.result_warp_o, out.result_mask_o), (1, 40, LANES_ACTIVE));
        assert_eq!((out.result_reg_valid_o, out.result_reg_o), (1, 254));
        assert_eq!(registers.cycle().result_valid_o, 0);
        out.result_data_o.0
    }

    fn expected(value: impl Fn(u32) -> u32) -> [u32; LANES] {
        std::array::from_fn(|l| if LANES_ACTIVE >> l & 1 == 1 { value(l as u32) } else { 0 })
    }

    #[test]
    fn every_source_has_its_value() {
        let mut registers = registers();
        for (source, value) in [
            (3, 7),
            (4, 5),
            (5, 3),
            (6, 90),
            (7, 80),
            (8, 70),
            (9, 900),
            (10, 800),
            (11, 700),
            (13, 11),
            (19, LANES_ACTIVE),
            (20, 65536),
            (21, 0x8bad_f00d),
            (22, 0xfeed_beef),
            (23, 0),
            (31, 0),
        ] {
            assert_eq!(read(&mut registers, source), expected(|_| value), "source {source}");
        }
        type Of = fn(u32) -> u32;
        let of_lane: [(u8, Of); 6] = [
            (12, |l| l),
            (14, |l| 1 << l),
            (15, |l| (0..l).map(|k| 1 << k).sum()),
            (16, |l| (0..=l).map(|k| 1 << k).sum()),
            (17, |l| (l + 1..32).map(|k| 1 << k).sum()),
            (18, |l| (l..32).map(|k| 1 << k).sum()),
        ];
        for (source, value) in of_lane {
            assert_eq!(read(&mut registers, source), expected(value), "source {source}");
        }
    }

    #[test]
    fn coordinates_are_those_that_the_launcher_wrote() {
        let mut registers = registers();
        for index in [10, 11, 12] {
            for group in 0..8 {
                let inputs = &mut registers.inputs;
                (inputs.tid_we_i, inputs.tid_index_i, inputs.tid_group_i) = (1, index, group);
                inputs.tid_data_i = std::array::from_fn(|k| {
                    let lane = u32::from(4 * group) + k as u32;
                    (lane % 64) << 20 | (500 + lane) << 10 | (900 + lane + u32::from(index) - 11)
                });
                registers.cycle();
            }
        }
        registers.inputs.tid_we_i = 0;
        assert_eq!(read(&mut registers, 0), expected(|l| 900 + l));
        assert_eq!(read(&mut registers, 1), expected(|l| 500 + l));
        assert_eq!(read(&mut registers, 2), expected(|l| l));
    }

    #[test]
    fn a_read_and_a_write_of_one_word_at_one_edge_read_the_old_one() {
        let mut registers = registers();
        let inputs = &mut registers.inputs;
        (inputs.tid_we_i, inputs.tid_index_i, inputs.tid_data_i) = (1, 11, [9; 4]);
        (inputs.valid_i, inputs.source_i) = (1, 0);
        registers.cycle();
        registers.inputs.tid_we_i = 0;
        assert_eq!(registers.cycle().result_data_o.0, [0; LANES]);
        registers.inputs.valid_i = 0;
        assert_eq!(registers.cycle().result_data_o.0, expected(|l| if l < 4 { 9 } else { 0 }));
    }

    #[test]
    fn nothing_is_performed_without_room() {
        let mut registers = registers();
        (registers.inputs.valid_i, registers.inputs.room_i) = (1, 0);
        for _ in 0..3 {
            let out = registers.cycle();
            assert_eq!((out.served_o, out.result_valid_o), (0, 0));
        }
    }

    #[test]
    fn the_time_is_that_of_the_cycle_in_which_an_s2r_is_performed() {
        let mut registers = registers();
        let inputs = &mut registers.inputs;
        (inputs.valid_i, inputs.room_i, inputs.source_i, inputs.lanes_i) = (1, 0, 21, u32::MAX);
        // It waits for room from 100 on, and has it at 102.
        for time in 100..105 {
            (registers.inputs.time_i, registers.inputs.room_i) = (time, (time == 102).into());
            let out = registers.cycle();
            assert_eq!(out.result_valid_o, u8::from(time == 103), "{time}");
            if time == 103 {
                assert_eq!(out.result_data_o.0, [102; LANES]);
            }
        }
    }

    #[test]
    fn reset_empties_the_unit_and_leaves_the_ram_alone() {
        let mut registers = registers();
        let inputs = &mut registers.inputs;
        inputs.rst_ni = 0;
        (inputs.tid_we_i, inputs.tid_index_i, inputs.tid_data_i) = (1, 11, [9; 4]);
        (inputs.valid_i, inputs.source_i) = (1, 0);
        for _ in 0..3 {
            assert_eq!(registers.cycle().result_valid_o, 0);
        }
        // The RAM's output is what the last edge read.
        let found: Vec<u32> = registers.block.memories().iter().map(|memory| memory.words[0]).collect();
        assert_eq!(found, [0, 9]);
        registers.inputs.rst_ni = 1;
        registers.inputs.tid_we_i = 0;
        assert_eq!(read(&mut registers, 0)[..5], [9, 9, 9, 9, 0]);
    }
}
