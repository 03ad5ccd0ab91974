//! `special_registers`.

use gpurf_blocks::config::Config;
use gpurf_blocks::execute::{SpecialRegistersIn, SpecialRegistersOut, SpecialRegistersProbe};
use gpurf_blocks::shape::SmShape;
use gpurf_lockstep::Rng;

use crate::driver::{RESET, Reset, lane_mask};
use crate::{Cover, Driver, Knob, Knobs, Unreached};

pub(crate) struct SpecialRegistersDriver {
    reset: Reset,
}

const READ: usize = 0;
const ROOM: usize = 1;
const WRITE: usize = 2;
const COORDINATE: usize = 3;
const NEAR: usize = 4;
const REG: usize = 5;
const PARTIAL: usize = 6;
const GRID: usize = 7;

/// Bits of a thread's three coordinates.
const COORDINATE_BITS: u32 = 26;
/// Special registers that have a number.
const SOURCES: u64 = 21;

impl Driver for SpecialRegistersDriver {
    type In = SpecialRegistersIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "read", doc: "an S2R is offered", values: &[100, 500, 1000] },
        Knob { name: "room", doc: "the side queue has room", values: &[200, 900, 1000] },
        Knob { name: "write", doc: "the launcher writes coordinates", values: &[0, 300, 1000] },
        Knob { name: "coordinate", doc: "a coordinate is read", values: &[100, 800] },
        Knob { name: "near", doc: "the warp is one of the first two of its block", values: &[0, 500, 1000] },
        Knob { name: "reg", doc: "it writes a register", values: &[500, 1000] },
        Knob { name: "partial", doc: "lanes are inactive", values: &[0, 300, 900] },
        Knob { name: "grid", doc: "the grid is another one", values: &[5, 200] },
        RESET,
    ];

    fn new(_: &SmShape, _: &Config) -> Self {
        Self { reset: Reset::default() }
    }

    fn unreached(_: &SmShape, _: &Config) -> Vec<Unreached> {
        vec![Unreached::bits("tid_data_i", COORDINATE_BITS..=31, "three coordinates have 26 bits")]
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, i: &mut SpecialRegistersIn) {
        let bits = |rng: &mut Rng, width: u32| rng.below(1 << width);
        let warps = if rng.chance(knobs.get(NEAR)) { 2 } else { 32 };
        i.rst_ni = self.reset.next(rng, knobs.get(8));
        i.tid_we_i = rng.chance(knobs.get(WRITE)).into();
        i.tid_index_i = rng.below(warps) as u8;
        i.tid_group_i = bits(rng, 3) as u8;
        i.tid_data_i = std::array::from_fn(|_| bits(rng, COORDINATE_BITS) as u32);
        if rng.chance(knobs.get(GRID)) {
            (i.ntid_x_i, i.ntid_y_i, i.ntid_z_i) = (bits(rng, 11) as u16, bits(rng, 11) as u16, bits(rng, 7) as u8);
            (i.nctaid_x_i, i.nctaid_y_i, i.nctaid_z_i) =
                (bits(rng, 32) as u32, bits(rng, 16) as u16, bits(rng, 16) as u16);
            i.dynamic_shared_i = bits(rng, 17) as u32;
        }
        i.valid_i = rng.chance(knobs.get(READ)).into();
        i.room_i = rng.chance(knobs.get(ROOM)).into();
        i.warp_i = bits(rng, 6) as u8;
        i.lanes_i = lane_mask(rng, knobs.get(PARTIAL));
        i.source_i = if rng.chance(knobs.get(COORDINATE)) {
            rng.below(3)
        } else if rng.chance(30) {
            rng.below(32)
        } else {
            rng.below(SOURCES)
        } as u8;
        i.reg_valid_i = rng.chance(knobs.get(REG)).into();
        i.reg_i = bits(rng, 8) as u8;
        i.index_i = rng.below(warps) as u8;
        (i.ctaid_x_i, i.ctaid_y_i, i.ctaid_z_i) = (bits(rng, 32) as u32, bits(rng, 16) as u16, bits(rng, 16) as u16);
    }
}

pub(crate) struct SpecialRegistersCover {
    /// The word and group that the launcher wrote in the cycle before.
    written: Option<u8>,
}

/// A name for each source.
const NAMES: [&str; SOURCES as usize] = [
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
];

impl Cover for SpecialRegistersCover {
    type In = SpecialRegistersIn;
    type Out = SpecialRegistersOut;
    type Probe = SpecialRegistersProbe;

    fn points(_: &SmShape) -> Vec<&'static str> {
        let mut points = NAMES.to_vec();
        points.extend([
            "a number without a register",
            "coordinates written and read at once",
            "coordinates read in the cycle after they were written",
            "coordinates written while another warp's are read",
            "coordinates written while they are in the first stage",
            "no room",
            "one S2R behind the other",
            "coordinates of two warps one behind the other",
            "some active lanes",
            "no active lane",
            "no register",
            "coordinates written in reset",
            "coordinates read in reset",
            "reset with an S2R in the first stage",
            "reset with a result",
        ]);
        points
    }

    fn new(_: &SmShape) -> Self {
        Self { written: None }
    }

    fn observe(
        &mut self,
        i: &SpecialRegistersIn,
        o: &SpecialRegistersOut,
        p: &SpecialRegistersProbe,
        hit: &mut dyn FnMut(&'static str),
    ) {
        let (performed, write) = (i.valid_i & i.room_i == 1, i.tid_we_i == 1);
        let coordinate = performed && i.source_i < 3;
        let one = i.tid_index_i == i.index_i;
        let before = std::mem::replace(&mut self.written, write.then_some(i.tid_index_i));
        let held = p.first_valid_q == 1 && p.source_q < 3;
        let reset = i.rst_ni == 0;
        if performed {
            hit(NAMES.get(usize::from(i.source_i)).copied().unwrap_or("a number without a register"));
        }
        let points = [
            ("coordinates written and read at once", coordinate && write && one),
            ("coordinates read in the cycle after they were written", coordinate && before == Some(i.index_i)),
            ("coordinates written while another warp's are read", coordinate && write && !one),
            ("coordinates written while they are in the first stage", held && write),
            ("no room", i.valid_i == 1 && i.room_i == 0),
            ("one S2R behind the other", performed && p.first_valid_q == 1),
            ("coordinates of two warps one behind the other", coordinate && held),
            ("some active lanes", performed && !matches!(i.lanes_i, 0 | u32::MAX)),
            ("no active lane", performed && i.lanes_i == 0),
            ("no register", o.result_valid_o == 1 && o.result_reg_valid_o == 0),
            ("coordinates written in reset", write && reset),
            ("coordinates read in reset", coordinate && reset),
            ("reset with an S2R in the first stage", p.first_valid_q == 1 && reset),
            ("reset with a result", o.result_valid_o == 1 && reset),
        ];
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
    }
}
