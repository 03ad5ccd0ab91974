//! `writeback`.

use gpurf_blocks::config::Config;
use gpurf_blocks::execute::{WritebackIn, WritebackOut, WritebackProbe};
use gpurf_blocks::shape::SmShape;
use gpurf_lockstep::Rng;

use crate::driver::{RESET, Reset, lane_mask, ports};
use crate::{Cover, Driver, Knob, Knobs};

pub(crate) struct WritebackDriver {
    ports: usize,
    reset: Reset,
}

const ALU: usize = 0;
const SIDE: usize = 1;
const MEMORY: usize = 2;
const REG: usize = 3;
const PRED: usize = 4;
const DONE: usize = 5;
const READY: usize = 6;
const WRITTEN: usize = 7;
const PARTIAL: usize = 8;
const FP: usize = 9;
const SFU: usize = 10;

impl Driver for WritebackDriver {
    type In = WritebackIn;
    const KNOBS: &'static [Knob] = &[
        Knob { name: "alu", doc: "an ALU has a result", values: &[100, 500, 950] },
        Knob { name: "side", doc: "the side queue has a result", values: &[20, 500] },
        Knob { name: "memory", doc: "the line table has a result", values: &[20, 500] },
        Knob { name: "reg", doc: "a result has a register", values: &[200, 900] },
        Knob { name: "pred", doc: "a result has a predicate", values: &[100, 800] },
        Knob { name: "done", doc: "a result is the last of its instruction", values: &[200, 900] },
        Knob { name: "ready", doc: "a write queue takes a result", values: &[100, 900, 1000] },
        Knob { name: "written", doc: "a write queue's result goes into its bank", values: &[100, 900] },
        Knob { name: "partial", doc: "lanes are inactive", values: &[0, 900] },
        Knob { name: "fp", doc: "a single precision unit has a result", values: &[20, 300, 900] },
        Knob { name: "sfu", doc: "the special function unit has a result", values: &[20, 400] },
        RESET,
    ];

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { ports: shape.ports(), reset: Reset::default() }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &Knobs, i: &mut WritebackIn) {
        let bit = |rng: &mut Rng, knob: usize| u8::from(rng.chance(knobs.get(knob)));
        i.rst_ni = self.reset.next(rng, knobs.get(11));
        i.alu_valid_i = ports(rng, self.ports, knobs.get(ALU));
        i.alu_reg_valid_i = i.alu_valid_i & ports(rng, self.ports, knobs.get(REG));
        i.alu_pred_valid_i = i.alu_valid_i & ports(rng, self.ports, knobs.get(PRED));
        i.alu_done_i = ports(rng, self.ports, knobs.get(DONE));
        i.fp_valid_i = ports(rng, self.ports, knobs.get(FP));
        i.fp_reg_valid_i = i.fp_valid_i & ports(rng, self.ports, knobs.get(REG));
        i.fp_pred_valid_i = i.fp_valid_i & ports(rng, self.ports, knobs.get(PRED));
        i.fp_done_i = ports(rng, self.ports, knobs.get(DONE));
        i.write_ready_i = ports(rng, self.ports, knobs.get(READY));
        i.write_done_i = ports(rng, self.ports, knobs.get(WRITTEN));
        for p in 0..self.ports {
            i.alu_warp_i[p] = rng.below(64) as u8;
            i.alu_mask_i[p] = lane_mask(rng, knobs.get(PARTIAL));
            i.alu_reg_i[p] = rng.next_u64() as u8;
            i.alu_pred_i[p] = rng.below(8) as u8;
            i.alu_pred_data_i[p] = rng.next_u64() as u32;
            i.write_done_warp_i[p] = rng.below(64) as u8;
            i.write_done_reg_i[p] = rng.next_u64() as u8;
            rng.fill(&mut i.alu_data_i[p].0);
            i.fp_warp_i[p] = rng.below(64) as u8;
            i.fp_mask_i[p] = lane_mask(rng, knobs.get(PARTIAL));
            i.fp_reg_i[p] = rng.next_u64() as u8;
            i.fp_pred_i[p] = rng.below(8) as u8;
            i.fp_pred_data_i[p] = rng.next_u64() as u32;
            rng.fill(&mut i.fp_data_i[p].0);
        }
        i.side_valid_i = bit(rng, SIDE);
        i.side_reg_valid_i = i.side_valid_i & bit(rng, REG);
        i.side_pred_valid_i = i.side_valid_i & bit(rng, PRED);
        i.side_done_i = bit(rng, DONE);
        i.side_warp_i = rng.below(64) as u8;
        i.side_mask_i = lane_mask(rng, knobs.get(PARTIAL));
        i.side_reg_i = rng.next_u64() as u8;
        i.side_pred_i = rng.below(8) as u8;
        i.side_pred_data_i = rng.next_u64() as u32;
        rng.fill(&mut i.side_data_i.0);
        i.sfu_valid_i = bit(rng, SFU);
        i.sfu_reg_valid_i = i.sfu_valid_i & bit(rng, REG);
        i.sfu_done_i = bit(rng, DONE);
        i.sfu_warp_i = rng.below(64) as u8;
        i.sfu_mask_i = lane_mask(rng, knobs.get(PARTIAL));
        i.sfu_reg_i = rng.next_u64() as u8;
        rng.fill(&mut i.sfu_data_i.0);
        i.memory_valid_i = bit(rng, MEMORY);
        i.memory_reg_valid_i = i.memory_valid_i & bit(rng, REG);
        i.memory_done_i = bit(rng, DONE);
        i.memory_warp_i = rng.below(64) as u8;
        i.memory_mask_i = lane_mask(rng, knobs.get(PARTIAL));
        i.memory_reg_i = rng.next_u64() as u8;
        rng.fill(&mut i.memory_data_i.0);
    }
}

pub(crate) struct WritebackCover {
    ports: usize,
}

impl Cover for WritebackCover {
    type In = WritebackIn;
    type Out = WritebackOut;
    type Probe = WritebackProbe;

    fn points(shape: &SmShape) -> Vec<&'static str> {
        let mut points = vec![
            "ALU's result goes",
            "side queue's result goes",
            "line table's result goes",
            "side queue before ALU",
            "line table before ALU",
            "single precision unit's result goes",
            "special function unit's result goes",
            "single precision unit before ALU",
            "special function unit before ALU",
            "special function unit before single precision unit",
            "side queue before single precision unit",
            "line table before single precision unit",
            "line table before special function unit",
            "single precision unit's predicate goes",
            "single precision unit's result without register ends its instruction",
            "special function unit's result without register ends its instruction",
            "special function unit's register is taken",
            "single precision unit's register is taken",
            "a register waits for the write queue",
            "a predicate waits with its register",
            "a result that could go waits behind one that cannot",
            "a result without register goes past a full write queue",
            "register and predicate go",
            "predicate alone goes",
            "side queue's predicate goes",
            "neither register nor predicate goes",
            "an instruction without register ends",
            "a result without register that is not the last",
            "an instruction with register ends",
            "a part of a register is written",
            "one register complete, the next one taken at once",
            "the last part follows another one at once",
            "two instructions end at one bus",
            "reset with a last result in the queue",
            "ALU's register is private",
            "single precision unit's register is private",
            "side queue's register is not private",
            "special function unit's register is not private",
            "line table's register is not private",
            "a private unit's result without register",
        ];
        if shape.ports() == 1 {
            points.extend([
                "line table before side queue",
                "all five at once",
                "side queue before special function unit",
            ]);
        } else {
            points.extend([
                "side queue and line table at once",
                "both ALUs",
                "four instructions end",
                "one write queue takes, the other does not",
                "line table's result at bus 1 leaves ALU 0 alone",
                "both single precision units",
                "side queue and special function unit at once",
                "ALU at one bus, single precision unit at the other",
            ]);
        }
        points
    }

    fn new(shape: &SmShape) -> Self {
        Self { ports: shape.ports() }
    }

    fn observe(&mut self, i: &WritebackIn, o: &WritebackOut, p: &WritebackProbe, hit: &mut dyn FnMut(&'static str)) {
        let last_bus = self.ports - 1;
        let (side, memory) = (i.side_valid_i == 1, i.memory_valid_i == 1);
        let taken = o.write_valid_o & i.write_ready_i;
        for bus in 0..self.ports {
            let at = |mask: u8| mask >> bus & 1 == 1;
            let (by_memory, by_side) = (memory && bus == last_bus, side && bus == 0);
            let (by_sfu, by_fp) = (i.sfu_valid_i == 1 && bus == last_bus, at(i.fp_valid_i));
            let others = by_memory || by_side || by_sfu;
            let pred = match () {
                () if by_memory => false,
                () if by_side => i.side_pred_valid_i == 1,
                () if by_sfu => false,
                () if by_fp => at(i.fp_pred_valid_i),
                () => at(i.alu_pred_valid_i),
            };
            let alu_waits = at(i.alu_valid_i) && (others || by_fp);
            let popped =
                at(o.alu_pop_o | o.fp_pop_o) || by_side && o.side_pop_o == 1 || by_sfu && o.sfu_pop_o == 1 || by_memory;
            let goes = at(taken) || !at(o.write_valid_o) && popped;
            let free_behind = alu_waits && !at(i.alu_reg_valid_i) || by_memory && by_side && i.side_reg_valid_i == 0;
            let (fp_goes, sfu_goes) = (at(o.fp_pop_o), bus == last_bus && o.sfu_pop_o == 1);
            let ended = o.finish_valid_o >> (self.ports + bus) & 1 == 1;
            let points = [
                ("single precision unit before ALU", by_fp && !others && at(i.alu_valid_i)),
                ("special function unit before ALU", by_sfu && !by_memory && !by_side && alu_waits),
                ("special function unit before single precision unit", by_sfu && !by_memory && !by_side && by_fp),
                ("side queue before single precision unit", by_side && !by_memory && by_fp),
                ("line table before single precision unit", by_memory && by_fp),
                ("line table before special function unit", by_memory && by_sfu),
                ("side queue before special function unit", by_side && !by_memory && by_sfu),
                ("single precision unit's predicate goes", fp_goes && at(o.pred_valid_o)),
                ("single precision unit's result without register ends its instruction", fp_goes && ended),
                ("special function unit's result without register ends its instruction", sfu_goes && ended),
                ("special function unit's register is taken", sfu_goes && at(taken)),
                ("single precision unit's register is taken", fp_goes && at(taken)),
                ("side queue before ALU", by_side && !by_memory && alu_waits),
                ("line table before ALU", by_memory && alu_waits),
                ("a register waits for the write queue", at(o.write_valid_o) && !at(taken)),
                ("a predicate waits with its register", at(o.write_valid_o) && !at(taken) && pred),
                (
                    "a result that could go waits behind one that cannot",
                    at(o.write_valid_o) && !at(taken) && free_behind,
                ),
                (
                    "a result without register goes past a full write queue",
                    goes && !at(o.write_valid_o) && !at(i.write_ready_i),
                ),
                ("register and predicate go", at(taken) && at(o.pred_valid_o)),
                ("predicate alone goes", !at(o.write_valid_o) && at(o.pred_valid_o)),
                ("side queue's predicate goes", by_side && o.side_pop_o == 1 && at(o.pred_valid_o)),
                ("neither register nor predicate goes", goes && !at(taken) && !at(o.pred_valid_o)),
                ("an instruction without register ends", ended),
                ("a result without register that is not the last", goes && !at(taken) && !ended),
                ("an instruction with register ends", at(o.reg_valid_o)),
                ("a part of a register is written", at(i.write_done_i) && !at(p.last_q)),
                ("one register complete, the next one taken at once", at(o.reg_valid_o) && at(taken)),
                ("the last part follows another one at once", at(i.write_done_i) && !at(p.last_q) && at(taken)),
                ("two instructions end at one bus", at(o.reg_valid_o) && ended),
                ("ALU's register is private", at(o.write_valid_o) && !others && !by_fp),
                ("single precision unit's register is private", at(o.write_valid_o) && !others && by_fp),
                ("side queue's register is not private", at(o.write_valid_o) && by_side && !by_memory && alu_waits),
                (
                    "special function unit's register is not private",
                    at(o.write_valid_o) && by_sfu && !by_side && !by_memory && alu_waits,
                ),
                ("line table's register is not private", at(o.write_valid_o) && by_memory && alu_waits),
                ("a private unit's result without register", at(o.alu_pop_o | o.fp_pop_o) && !at(o.write_valid_o)),
            ];
            points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
        }
        let points = [
            ("ALU's result goes", o.alu_pop_o != 0),
            ("side queue's result goes", o.side_pop_o == 1),
            ("single precision unit's result goes", o.fp_pop_o != 0),
            ("special function unit's result goes", o.sfu_pop_o == 1),
            ("both single precision units", o.fp_pop_o == 3),
            ("side queue and special function unit at once", o.side_pop_o == 1 && o.sfu_pop_o == 1),
            ("ALU at one bus, single precision unit at the other", o.alu_pop_o != 0 && o.fp_pop_o != 0),
            ("line table's result goes", o.memory_pop_o == 1),
            ("reset with a last result in the queue", i.rst_ni == 0 && p.last_q != 0),
            ("line table before side queue", last_bus == 0 && memory && side),
            ("all five at once", last_bus == 0 && memory && side && i.alu_valid_i & i.fp_valid_i & i.sfu_valid_i == 1),
            ("side queue and line table at once", o.side_pop_o == 1 && o.memory_pop_o == 1),
            ("both ALUs", o.alu_pop_o == 3),
            ("four instructions end", o.finish_valid_o == 15),
            ("one write queue takes, the other does not", o.write_valid_o == 3 && i.write_ready_i.count_ones() == 1),
            ("line table's result at bus 1 leaves ALU 0 alone", o.memory_pop_o == 1 && o.alu_pop_o == 1),
        ];
        points.into_iter().filter(|p| p.1).for_each(|p| hit(p.0));
    }
}
