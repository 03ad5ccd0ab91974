//! `writeback`.

use gpurf_blocks::WarpData;
use gpurf_blocks::config::Config;
use gpurf_blocks::execute::{ResultFields, ResultWord, Writeback, WritebackIn, WritebackOut, WritebackProbe};
use gpurf_blocks::shape::SmShape;
use gpurf_blocks::write::WrittenWord;
use gpurf_lockstep::Rng;

use crate::driver::{Reset, lane_mask, ports};
use crate::{Driver, Points, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<Writeback, WritebackDriver, WritebackCover>();

pub(crate) struct WritebackDriver {
    ports: usize,
    reset: Reset,
}

knobs! {
    pub(crate) struct WritebackKnobs {
        alu: "an ALU has a result" = [100, 500, 950],
        side: "the side queue has a result" = [20, 500],
        memory: "the line table has a result" = [20, 500],
        reg: "a result has a register" = [200, 900],
        pred: "a result has a predicate" = [100, 800],
        done: "a result is the last of its instruction" = [200, 900],
        ready: "a write queue takes a result" = [100, 900, 1000],
        written: "a write queue's result goes into its bank" = [100, 900],
        partial: "lanes are inactive" = [0, 900],
        fp: "a single precision unit has a result" = [20, 300, 900],
        sfu: "the special function unit has a result" = [20, 400],
        constant: "the constant unit has a result" = [20, 500],
        reset,
    }
}

impl Driver for WritebackDriver {
    type In = WritebackIn;
    type Knobs = WritebackKnobs;

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { ports: shape.ports(), reset: Reset::default() }
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &WritebackKnobs, i: &mut WritebackIn) {
        let bit = |rng: &mut Rng, chance: u32| u8::from(rng.chance(chance));
        i.rst_ni = self.reset.next(rng, knobs.reset);
        i.alu_valid_i = ports(rng, self.ports, knobs.alu);
        i.alu_reg_valid_i = i.alu_valid_i & ports(rng, self.ports, knobs.reg);
        i.fp_valid_i = ports(rng, self.ports, knobs.fp);
        i.fp_reg_valid_i = i.fp_valid_i & ports(rng, self.ports, knobs.reg);
        i.write_ready_i = ports(rng, self.ports, knobs.ready);
        i.write_done_i = ports(rng, self.ports, knobs.written);
        for p in 0..self.ports {
            result(rng, knobs, &mut i.alu_result_i[p], &mut i.alu_data_i[p]);
            result(rng, knobs, &mut i.fp_result_i[p], &mut i.fp_data_i[p]);
            let warp = rng.below(64) as u8;
            i.written_i[p] = WrittenWord::new(warp, rng.next_u64() as u8);
        }
        i.side_valid_i = bit(rng, knobs.side);
        i.side_reg_valid_i = i.side_valid_i & bit(rng, knobs.reg);
        result(rng, knobs, &mut i.side_result_i, &mut i.side_data_i);
        i.sfu_valid_i = bit(rng, knobs.sfu);
        i.sfu_reg_valid_i = i.sfu_valid_i & bit(rng, knobs.reg);
        result(rng, knobs, &mut i.sfu_result_i, &mut i.sfu_data_i);
        i.constant_valid_i = bit(rng, knobs.constant);
        i.constant_reg_valid_i = i.constant_valid_i & bit(rng, knobs.reg);
        result(rng, knobs, &mut i.constant_result_i, &mut i.constant_data_i);
        i.memory_valid_i = bit(rng, knobs.memory);
        i.memory_reg_valid_i = i.memory_valid_i & bit(rng, knobs.reg);
        result(rng, knobs, &mut i.memory_result_i, &mut i.memory_data_i);
    }
}

/// Any result. Its fields are random even if it writes nothing: the block has no rule for their values then.
fn result(rng: &mut Rng, knobs: &WritebackKnobs, word: &mut ResultWord, data: &mut WarpData) {
    *word = ResultWord::from(ResultFields {
        done: rng.chance(knobs.done).into(),
        pred_valid: rng.chance(knobs.pred).into(),
        pred: rng.below(8) as u8,
        d: rng.next_u64() as u8,
        warp: rng.below(64) as u8,
        pred_data: rng.next_u64() as u32,
        mask: lane_mask(rng, knobs.partial),
    });
    rng.fill(&mut data.0);
}

pub(crate) struct WritebackCover {
    shape: SmShape,
}

#[cover]
impl WritebackCover {
    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { shape: *shape }
    }

    fn observe(&mut self, i: &WritebackIn, o: &WritebackOut, p: &WritebackProbe, points: &mut Points) {
        let last_bus = self.shape.ports() - 1;
        let (side, memory) = (i.side_valid_i == 1, i.memory_valid_i == 1);
        let taken = o.write_valid_o & i.write_ready_i;
        for bus in 0..self.shape.ports() {
            let at = |mask: u8| mask >> bus & 1 == 1;
            let (by_memory, by_side) = (memory && bus == last_bus, side && bus == 0);
            let (by_sfu, by_fp) = (i.sfu_valid_i == 1 && bus == last_bus, at(i.fp_valid_i));
            let by_constant = i.constant_valid_i == 1 && bus == 0;
            let others = by_memory || by_side || by_sfu || by_constant;
            let slower = by_memory || by_side || by_sfu;
            let chosen = match () {
                () if by_memory => i.memory_result_i,
                () if by_side => i.side_result_i,
                () if by_sfu => i.sfu_result_i,
                () if by_constant => i.constant_result_i,
                () if by_fp => i.fp_result_i[bus],
                () => i.alu_result_i[bus],
            };
            let pred = chosen.pred_valid() == 1;
            let alu_waits = at(i.alu_valid_i) && (others || by_fp);
            let popped = at(o.alu_pop_o | o.fp_pop_o)
                || by_side && o.side_pop_o == 1
                || by_sfu && o.sfu_pop_o == 1
                || by_constant && o.constant_pop_o == 1
                || by_memory;
            let goes = at(taken) || !at(o.write_valid_o) && popped;
            let free_behind = alu_waits && !at(i.alu_reg_valid_i) || by_memory && by_side && i.side_reg_valid_i == 0;
            let (fp_goes, sfu_goes) = (at(o.fp_pop_o), bus == last_bus && o.sfu_pop_o == 1);
            let constant_goes = bus == 0 && o.constant_pop_o == 1;
            let ended = o.finish_valid_o >> (self.shape.ports() + bus) & 1 == 1;
            point!("single precision unit before ALU", by_fp && !others && at(i.alu_valid_i));
            let constant_waits = i.constant_valid_i == 1 && bus == 0;
            point!("constant unit before ALU", by_constant && !slower && at(i.alu_valid_i));
            point!("constant unit before single precision unit", by_constant && !slower && by_fp);
            point!("side queue before constant unit", by_side && !by_memory && constant_waits);
            point!(
                "special function unit before constant unit",
                by_sfu && !by_side && !by_memory && constant_waits,
                given = self.shape.ports() == 1
            );
            point!(
                "line table before constant unit",
                by_memory && !by_side && constant_waits,
                given = self.shape.ports() == 1
            );
            point!("constant unit's register is taken", constant_goes && at(taken));
            point!("constant unit's result without register ends its instruction", constant_goes && ended);
            point!(
                "constant unit's register is not private",
                at(o.write_valid_o) && by_constant && !slower && at(i.alu_valid_i)
            );
            point!("special function unit before ALU", by_sfu && !by_memory && !by_side && alu_waits);
            point!("special function unit before single precision unit", by_sfu && !by_memory && !by_side && by_fp);
            point!("side queue before single precision unit", by_side && !by_memory && by_fp);
            point!("line table before single precision unit", by_memory && by_fp);
            point!("line table before special function unit", by_memory && by_sfu);
            point!(
                "side queue before special function unit",
                by_side && !by_memory && by_sfu,
                given = self.shape.ports() == 1
            );
            point!("single precision unit's predicate goes", fp_goes && at(o.pred_valid_o));
            point!("single precision unit's result without register ends its instruction", fp_goes && ended);
            point!("special function unit's result without register ends its instruction", sfu_goes && ended);
            point!("special function unit's register is taken", sfu_goes && at(taken));
            point!("single precision unit's register is taken", fp_goes && at(taken));
            point!("side queue before ALU", by_side && !by_memory && alu_waits);
            point!("line table before ALU", by_memory && alu_waits);
            point!("a register waits for the write queue", at(o.write_valid_o) && !at(taken));
            point!("a predicate waits with its register", at(o.write_valid_o) && !at(taken) && pred);
            point!(
                "a result that could go waits for one that cannot",
                at(o.write_valid_o) && !at(taken) && free_behind
            );
            point!(
                "a result without register goes past a full write queue",
                goes && !at(o.write_valid_o) && !at(i.write_ready_i)
            );
            point!("register and predicate go", at(taken) && at(o.pred_valid_o));
            point!("predicate alone goes", !at(o.write_valid_o) && at(o.pred_valid_o));
            point!("side queue's predicate goes", by_side && o.side_pop_o == 1 && at(o.pred_valid_o));
            point!("neither register nor predicate goes", goes && !at(taken) && !at(o.pred_valid_o));
            point!("an instruction without register ends", ended);
            point!("a result without register that is not the last", goes && !at(taken) && !ended);
            let ends = at(i.write_done_i & p.last_q);
            point!("an instruction with register ends", ends);
            point!("a register is reported", at(o.reg_valid_o));
            #[given(self.shape.services().reports_taken)]
            {
                point!("a register is reported, another one's instruction ends", at(o.reg_valid_o) && ends);
                point!("a part that is not the last is taken", at(taken) && !at(o.reg_valid_o));
                point!(
                    "a part waits that is the last",
                    !at(taken) && by_fp && !others && chosen.done() == 1 && at(i.fp_reg_valid_i)
                );
            }
            point!("a part of a register is written", at(i.write_done_i) && !at(p.last_q));
            point!("one register complete, the next one taken at once", ends && at(taken));
            point!("the last part follows another one at once", at(i.write_done_i) && !at(p.last_q) && at(taken));
            point!("two instructions end at one bus", ends && ended);
            point!("ALU's register is private", at(o.write_valid_o) && !others && !by_fp);
            point!("single precision unit's register is private", at(o.write_valid_o) && !others && by_fp);
            point!("side queue's register is not private", at(o.write_valid_o) && by_side && !by_memory && alu_waits);
            point!(
                "special function unit's register is not private",
                at(o.write_valid_o) && by_sfu && !by_side && !by_memory && alu_waits
            );
            point!("line table's register is not private", at(o.write_valid_o) && by_memory && alu_waits);
            point!("a private unit's result without register", at(o.alu_pop_o | o.fp_pop_o) && !at(o.write_valid_o));
        }
        point!("ALU's result goes", o.alu_pop_o != 0);
        point!("side queue's result goes", o.side_pop_o == 1);
        point!("single precision unit's result goes", o.fp_pop_o != 0);
        point!("special function unit's result goes", o.sfu_pop_o == 1);
        point!("constant unit's result goes", o.constant_pop_o == 1);
        point!("line table's result goes", o.memory_pop_o == 1);
        point!("reset with a last result in the queue", i.rst_ni == 0 && p.last_q != 0);
        point!("line table before side queue", last_bus == 0 && memory && side, given = self.shape.ports() == 1);
        point!(
            "all six at once",
            last_bus == 0 && memory && side && i.alu_valid_i & i.fp_valid_i & i.sfu_valid_i & i.constant_valid_i == 1,
            given = self.shape.ports() == 1
        );
        #[given(self.shape.ports() != 1)]
        {
            point!("both single precision units", o.fp_pop_o == 3);
            point!("side queue and special function unit at once", o.side_pop_o == 1 && o.sfu_pop_o == 1);
            point!("ALU at one bus, single precision unit at the other", o.alu_pop_o != 0 && o.fp_pop_o != 0);
            point!("constant unit and line table at once", o.constant_pop_o == 1 && o.memory_pop_o == 1);
            point!("side queue and line table at once", o.side_pop_o == 1 && o.memory_pop_o == 1);
            point!("both ALUs", o.alu_pop_o == 3);
            point!("four instructions end", o.finish_valid_o == 15);
            point!(
                "one write queue takes, the other does not",
                o.write_valid_o == 3 && i.write_ready_i.count_ones() == 1
            );
            point!("line table's result at bus 1 leaves ALU 0 alone", o.memory_pop_o == 1 && o.alu_pop_o == 1);
        }
    }
}
