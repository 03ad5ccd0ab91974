//! Reads the SM's commits from the nets that lockstep compares.

use gpurf_blocks::sizes::MAX_WARPS;
use gpurf_blocks::write::WriteFields;
use gpurf_isa::machine::{LOCAL_WINDOW, SHARED_WINDOW};
use gpurf_isa::modifiers::{Modifier, Special};
use gpurf_oracle::{AccessStep, Geometry, Mask, Recording, WarpId, lanes_of};

use super::owners::Owners;
use super::sequences::{Key, Kind, Sink, Write};
use crate::cycle::Cycle;
use crate::job::{Job, SharedPlaces};
use crate::memory::kind::{LOAD, STORE, TEXTURE};

/// Parts of a register write that is not complete yet.
struct Parts {
    slot: u8,
    register: u8,
    mask: Mask,
    values: [u32; 32],
}

/// The instruction that the memory pipeline performs, as far as it has been seen.
#[derive(Default)]
struct Access {
    mask: Mask,
    addresses: [u64; 32],
    values: [u32; 32],
}

/// Special registers that hold words of the time.
const TIME: [Special; 2] = [Special::TimeLow, Special::TimeHigh];

/// Follows a launch cycle by cycle, and hands each warp's commits to a sink.
///
/// The block of a warp slot follows from the launcher's starts: blocks start in order, and so do their warps. A register is written
/// when its result enters a write queue; the parts of a load are one write, which is complete when its last part has been written. Memory is
/// written in passes; together they are one write, which is complete when the address unit has no lane left.
pub struct Tracker<S> {
    sink: S,
    geometry: Geometry,
    places: SharedPlaces,
    owners: Owners,
    parts: Vec<Parts>,
    access: Access,
    /// Number of memory accesses that each warp slot has performed.
    accesses: [u64; MAX_WARPS],
    /// The order of accesses and the times that warps read, if an observer wants them.
    recording: Option<Recording>,
}

impl<S: Sink> Tracker<S> {
    /// A tracker before the launch of a job.
    pub fn new(job: &Job, sink: S, records: bool) -> Self {
        Self {
            sink,
            geometry: job.geometry,
            places: job.places,
            owners: Owners::new(job.geometry),
            parts: Vec::new(),
            access: Access::default(),
            accesses: [0; MAX_WARPS],
            recording: records.then(|| Recording { accesses: Some(Vec::new()), ..Recording::default() }),
        }
    }

    /// The sink, and the recording.
    pub fn finish(self) -> (S, Option<Recording>) {
        (self.sink, self.recording)
    }

    /// Observes a cycle.
    pub fn observe(&mut self, cycle: &Cycle<'_>) {
        if let Some(slot) = self.owners.observe(cycle) {
            self.accesses[slot] = 0;
        }
        self.registers(cycle);
        self.predicates(cycle);
        self.memory(cycle);
        self.time(cycle);
    }

    /// Passes on a write of a warp slot. If no warp has started in the slot, the write has no name, and cannot equal any write of the oracle.
    fn write(&mut self, slot: u8, kind: Kind, write: &Write) {
        const UNKNOWN: WarpId = WarpId { block: u64::MAX, warp: u32::MAX };
        let warp = self.owners.of(slot).unwrap_or(UNKNOWN);
        self.sink.write(Key { warp, kind }, write);
    }

    fn registers(&mut self, cycle: &Cycle<'_>) {
        let (back, stage) = (&cycle.probe.outputs.writeback, &cycle.probe.outputs.operand_stage);
        // This comes before new parts: these parts belong to a write that is complete. The first finish ports belong to the buses.
        for bus in lanes_of((back.finish_valid_o & stage.write_done_o).into()) {
            let (slot, register) = stage.written_o[bus].register();
            let whole = |parts: &Parts| (parts.slot, parts.register) == (slot, register);
            if let Some(index) = self.parts.iter().position(whole) {
                let parts = self.parts.swap_remove(index);
                self.write(slot, Kind::Register(register), &Write::register(parts.mask, &parts.values));
            }
        }
        let taken = back.write_valid_o & stage.write_ready_o;
        for bus in lanes_of(taken.into()) {
            let WriteFields { warp: slot, d: register, mask, .. } = back.write_o[bus].fields();
            let same = |parts: &Parts| (parts.slot, parts.register) == (slot, register);
            let index = self.parts.iter().position(same).unwrap_or_else(|| {
                self.parts.push(Parts { slot, register, mask: 0, values: [0; 32] });
                self.parts.len() - 1
            });
            let parts = &mut self.parts[index];
            parts.mask |= mask;
            lanes_of(mask).for_each(|lane| parts.values[lane] = back.write_data_o[bus].0[lane]);
        }
    }

    fn predicates(&mut self, cycle: &Cycle<'_>) {
        let back = &cycle.probe.outputs.writeback;
        for bus in lanes_of(back.pred_valid_o.into()) {
            let write = Write::predicate(back.pred_mask_o[bus], back.pred_data_o[bus]);
            self.write(back.pred_warp_o[bus], Kind::Predicate(back.pred_o[bus]), &write);
        }
    }

    /// Records the time at which an S2R of it is performed, from the SM's input and not from the result.
    fn time(&mut self, cycle: &Cycle<'_>) {
        let (unit, served) = (&cycle.probe.outputs.constant_unit, cycle.probe.outputs.special_registers.served_o);
        if served != 0
            && TIME.map(|word| word.bits() as u8).contains(&unit.source_o)
            && let Some(Recording { times, .. }) = &mut self.recording
            && let Some(warp) = self.owners.of(unit.warp_o)
        {
            times.entry(warp).or_default().push(cycle.inputs.time_i);
        }
    }

    fn memory(&mut self, cycle: &Cycle<'_>) {
        let outputs = &cycle.probe.outputs;
        let unit = &outputs.address_unit;
        let served = if unit.global_valid_o == 1 {
            outputs.coalescer.served_o
        } else if unit.shared_valid_o == 1 {
            outputs.shared_memory.served_o
        } else if unit.constant_valid_o == 1 {
            outputs.constant_memory.served_o
        } else {
            return;
        };
        if served == 0 {
            return;
        }
        let slot = unit.warp_o;
        if let Some(Recording { accesses: Some(order), .. }) = &mut self.recording {
            let occurrence = &mut self.accesses[usize::from(slot) % MAX_WARPS];
            if let Some(warp) = self.owners.of(slot) {
                order.push(AccessStep { warp, occurrence: *occurrence, lanes: served });
            }
            *occurrence += u64::from(unit.last_o);
        }
        if matches!(unit.kind_o, LOAD | TEXTURE) {
            return;
        }
        let window = match (unit.shared_valid_o, unit.local_o) {
            (1, _) => SHARED_WINDOW,
            (0, 1) => LOCAL_WINDOW,
            _ => 0,
        };
        let block_slot = u32::from(slot) / self.geometry.warps();
        let places = self.places;
        let of_block =
            |address: u32| if unit.shared_valid_o == 1 { places.of_block(block_slot, address) } else { address };
        let access = &mut self.access;
        access.mask |= served;
        for lane in lanes_of(served) {
            access.addresses[lane] = u64::from(window) << 32 | u64::from(of_block(unit.addr_o.0[lane]));
            access.values[lane] = unit.store_o.0[lane];
        }
        if unit.last_o == 0 {
            return;
        }
        let Access { mask, addresses, values } = std::mem::take(&mut self.access);
        if unit.kind_o == STORE {
            self.write(slot, Kind::Memory, &Write::store(mask, &addresses, &values, 1 << unit.size_o.min(2)));
        } else {
            self.write(slot, Kind::Memory, &Write::atomic(mask, &addresses));
        }
    }
}
