//! `special_registers`.

use gpurf_blocks::config::Config;
use gpurf_blocks::execute::{SpecialRegisters, SpecialRegistersIn, SpecialRegistersOut, SpecialRegistersProbe};
use gpurf_blocks::shape::SmShape;
use gpurf_lockstep::Rng;

use crate::driver::{Reset, lane_mask};
use crate::{Driver, Points, Unreached, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry =
    crate::entry::<SpecialRegisters, SpecialRegistersDriver, SpecialRegistersCover>();

pub(crate) struct SpecialRegistersDriver {
    reset: Reset,
}

knobs! {
    pub(crate) struct SpecialRegistersKnobs {
        read: "an S2R is offered" = [100, 500, 1000],
        room: "the result queue has room" = [200, 900, 1000],
        write: "the launcher writes coordinates" = [0, 300, 1000],
        coordinate: "a coordinate is read" = [100, 800],
        time: "the time is read" = [50, 300],
        near: "the warp is one of the first two of its block" = [0, 500, 1000],
        reg: "it writes a register" = [500, 1000],
        partial: "lanes are inactive" = [0, 300, 900],
        grid: "the grid is another one" = [5, 200],
        jump: "the time is another one" = [10, 500],
        carry: "it is close to a carry into its upper word" = [100, 900],
        reset,
    }
}

/// Bits of a thread's three coordinates.
const COORDINATE_BITS: u32 = 26;
/// The words of the time.
const TIME_LOW: u8 = 21;
const TIME_HIGH: u8 = 22;
/// Number of special registers.
const SOURCES: u64 = 23;

impl Driver for SpecialRegistersDriver {
    type In = SpecialRegistersIn;
    type Knobs = SpecialRegistersKnobs;

    fn new(_: &SmShape, _: &Config) -> Self {
        Self { reset: Reset::default() }
    }

    fn unreached(_: &SmShape, _: &Config) -> Vec<Unreached> {
        vec![Unreached::bits("tid_data_i", COORDINATE_BITS..=31, "three coordinates have 26 bits")]
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &SpecialRegistersKnobs, i: &mut SpecialRegistersIn) {
        let bits = |rng: &mut Rng, width: u32| rng.below(1 << width);
        let warps = if rng.chance(knobs.near) { 2 } else { 32 };
        i.rst_ni = self.reset.next(rng, knobs.reset);
        i.tid_we_i = rng.chance(knobs.write).into();
        i.tid_index_i = rng.below(warps) as u8;
        i.tid_group_i = bits(rng, 3) as u8;
        i.tid_data_i = std::array::from_fn(|_| bits(rng, COORDINATE_BITS) as u32);
        if rng.chance(knobs.grid) {
            (i.ntid_x_i, i.ntid_y_i, i.ntid_z_i) = (bits(rng, 11) as u16, bits(rng, 11) as u16, bits(rng, 7) as u8);
            (i.nctaid_x_i, i.nctaid_y_i, i.nctaid_z_i) =
                (bits(rng, 32) as u32, bits(rng, 16) as u16, bits(rng, 16) as u16);
            i.dynamic_shared_i = bits(rng, 17) as u32;
        }
        i.time_i = if !rng.chance(knobs.jump) {
            i.time_i.wrapping_add(1)
        } else if rng.chance(knobs.carry) {
            // The lower word is at its end in a few cycles.
            bits(rng, 32) << 32 | (u64::from(u32::MAX) - rng.below(8))
        } else {
            rng.next_u64()
        };
        i.valid_i = rng.chance(knobs.read).into();
        i.room_i = rng.chance(knobs.room).into();
        i.warp_i = bits(rng, 6) as u8;
        i.lanes_i = lane_mask(rng, knobs.partial);
        i.source_i = if rng.chance(knobs.coordinate) {
            rng.below(3)
        } else if rng.chance(knobs.time) {
            rng.below(2) + u64::from(TIME_LOW)
        } else if rng.chance(30) {
            rng.below(32)
        } else {
            rng.below(SOURCES)
        } as u8;
        i.reg_valid_i = rng.chance(knobs.reg).into();
        i.reg_i = bits(rng, 8) as u8;
        i.index_i = rng.below(warps) as u8;
        (i.ctaid_x_i, i.ctaid_y_i, i.ctaid_z_i) = (bits(rng, 32) as u32, bits(rng, 16) as u16, bits(rng, 16) as u16);
    }
}

pub(crate) struct SpecialRegistersCover {
    /// The word and group that the launcher wrote in the cycle before.
    written: Option<u8>,
    /// The time in the cycle before, and whether it was read there.
    time: (u64, bool),
    /// Whether the time was requested in the previous cycle, and there was no room.
    waited: bool,
}

/// A name for each source.
#[cover]
impl SpecialRegistersCover {
    const NAMES: [&str; SOURCES as usize + 1] = [
        "tid.x",
        "tid.y",
        "tid.z",
        "ntid.x",
        "ntid.y",
        "ntid.z",
        "ctaid.x",
        "ctaid.y",
        "ctaid.z",
        "nctaid.x",
        "nctaid.y",
        "nctaid.z",
        "lane number",
        "warp number",
        "lane's bit",
        "bits below",
        "bits up to",
        "bits above",
        "bits from",
        "active lanes",
        "dynamic shared memory",
        "lower word of the time",
        "upper word of the time",
        "a number without a register",
    ];

    fn new(_: &SmShape, _: &Config) -> Self {
        Self { written: None, time: (0, false), waited: false }
    }

    fn observe(
        &mut self,
        i: &SpecialRegistersIn,
        o: &SpecialRegistersOut,
        p: &SpecialRegistersProbe,
        points: &mut Points,
    ) {
        let (performed, write) = (i.valid_i & i.room_i == 1, i.tid_we_i == 1);
        let coordinate = performed && i.source_i < 3;
        let one = i.tid_index_i == i.index_i;
        let before = std::mem::replace(&mut self.written, write.then_some(i.tid_index_i));
        let there = o.result_valid_o == 1;
        let held = there && p.source_q < 3;
        let reset = i.rst_ni == 0;
        let timed = performed && matches!(i.source_i, TIME_LOW | TIME_HIGH);
        let (time, read) = std::mem::replace(&mut self.time, (i.time_i, timed));
        let carries = i.time_i == time.wrapping_add(1) && i.time_i as u32 == 0;
        let source = usize::from(i.source_i).min(SOURCES as usize);
        point!("{NAMES[source]}", performed);
        point!("coordinates written and read at once", coordinate && write && one);
        point!("coordinates read in the cycle after they were written", coordinate && before == Some(i.index_i));
        point!("coordinates written while another warp's are read", coordinate && write && !one);
        point!("coordinates written while they are a result", held && write);
        point!("the time is read one cycle before it carries into its upper word", read && carries);
        point!("the time is read in the cycle of a carry into its upper word", timed && carries);
        point!("the time is read in two consecutive cycles", timed && read);
        point!("the time is read after a cycle without room", timed && self.waited);
        self.waited = i.valid_i == 1 && i.room_i == 0 && matches!(i.source_i, TIME_LOW | TIME_HIGH);
        point!("no room", i.valid_i == 1 && i.room_i == 0);
        point!("an S2R directly after another", performed && there);
        point!("coordinates of two warps in consecutive cycles", coordinate && held);
        point!("some active lanes", performed && !matches!(i.lanes_i, 0 | u32::MAX));
        point!("no active lane", performed && i.lanes_i == 0);
        point!("no register", there && o.result_reg_valid_o == 0);
        point!("coordinates written in reset", write && reset);
        point!("coordinates read in reset", coordinate && reset);
        point!("reset with a result", there && reset);
    }
}
