use gpurf_blocks::Ports;
use gpurf_blocks::write::{WriteWord, WrittenWord};
use gpurf_oracle::{AccessStep, Commit, Effect, Geometry, Lanes, Observer, Recording, WarpId};
use gpurf_sm::partition::Division;
use gpurf_sm::{SmIn, SmOut, SmProbe};

use super::*;
use crate::cycle::Cycle;
use crate::job::{Job, SharedPlaces};

/// Keeps everything.
#[derive(Default, PartialEq, Debug)]
struct All(Vec<(Key, Write)>);

impl Sink for All {
    fn write(&mut self, key: Key, write: &Write) {
        self.0.push((key, write.clone()));
    }
}

fn key(block: u64, warp: u32, kind: Kind) -> Key {
    Key { warp: WarpId { block, warp }, kind }
}

/// An SM whose nets the test sets, cycle by cycle. Blocks have two warps and 200 bytes of shared memory.
struct Bench {
    tracker: Tracker<All>,
    inputs: SmIn,
    probe: Box<SmProbe>,
}

impl Bench {
    fn new() -> Self {
        let geometry = Geometry { grid: [8, 1, 1], block: [64, 1, 1], dynamic_shared: 0 };
        let job = Job {
            code: Vec::new(),
            constants: [].into(),
            geometry,
            registers: 8,
            share: false,
            private: 1,
            private_shared: 200,
            shared: 200,
            division: Division::NOTHING,
            places: SharedPlaces { step: 256, hosts: u32::MAX, private: 200 },
            local_words: 0,
            fault: false,
            misfit: None,
        };
        let tracker = Tracker::new(&job, All::default(), true);
        let mut bench = Self { tracker, inputs: SmIn::zeroed(), probe: Box::new(SmProbe::zeroed()) };
        // Blocks 0 and 1 in slots 1 and 0: warps 2, 3, then 0, 1.
        for slot in [2, 3, 0, 1] {
            bench.start(slot);
        }
        bench
    }

    /// A cycle with these nets; then all are zero again.
    fn cycle(&mut self) {
        self.tracker.observe(&Cycle { inputs: &self.inputs, out: &SmOut::zeroed(), probe: &self.probe });
        self.inputs = SmIn::zeroed();
        *self.probe = SmProbe::zeroed();
    }

    fn start(&mut self, slot: u8) {
        let launcher = &mut self.probe.outputs.block_launcher;
        (launcher.start_valid_o, launcher.start_warp_o) = (1, slot);
        self.cycle();
    }

    /// A part of a register on a bus.
    fn part(&mut self, bus: usize, slot: u8, register: u8, mask: u32, value: u32) -> &mut Self {
        let back = &mut self.probe.outputs.writeback;
        back.write_valid_o |= 1 << bus;
        back.write_o[bus] = WriteWord::new(slot, register, mask);
        back.write_data_o[bus].0.fill(value);
        self.probe.outputs.operand_stage.write_ready_o |= 1 << bus;
        self
    }

    /// A register is complete.
    fn whole(&mut self, bus: usize, slot: u8, register: u8) -> &mut Self {
        let out = &mut self.probe.outputs;
        out.writeback.finish_valid_o |= 1 << bus;
        let stage = &mut out.operand_stage;
        stage.write_done_o |= 1 << bus;
        stage.written_o[bus] = WrittenWord::new(slot, register);
        self
    }

    /// A pass of the memory pipeline: lane l at address 4 l of global or shared memory, with value l.
    fn pass(&mut self, slot: u8, kind: u8, shared: bool, served: u32, last: bool) -> &mut Self {
        let o = &mut self.probe.outputs;
        let unit = &mut o.address_unit;
        (unit.busy_o, unit.warp_o, unit.kind_o, unit.size_o, unit.last_o) = (1, slot, kind, 2, last.into());
        (unit.shared_valid_o, unit.global_valid_o) = (shared.into(), (!shared).into());
        for lane in 0..32 {
            unit.addr_o.0[lane] = 4 * lane as u32;
            unit.store_o.0[lane] = lane as u32;
        }
        if shared {
            o.shared_memory.served_o = served;
        } else {
            o.coalescer.served_o = served;
        }
        self
    }

    fn finish(self) -> (Vec<(Key, Write)>, Recording) {
        let (all, recording) = self.tracker.finish();
        (all.0, recording.unwrap())
    }
}

fn addresses(base: u64) -> [u64; 32] {
    std::array::from_fn(|lane| base.wrapping_add(4 * lane as u64))
}

fn numbers() -> [u32; 32] {
    std::array::from_fn(|lane| lane as u32)
}

#[test]
fn parts_of_a_load_are_one_write() {
    let mut bench = Bench::new();
    bench.part(0, 2, 5, 0xff, 1).part(1, 0, 5, u32::MAX, 9).cycle();
    // Another instruction's result between the parts.
    bench.part(0, 2, 6, 1, 3).cycle();
    bench.whole(0, 2, 6).whole(1, 0, 5).part(1, 2, 5, 0xff00, 2).cycle();
    // Offered and not taken.
    bench.part(0, 3, 1, 1, 1);
    bench.probe.outputs.operand_stage.write_ready_o = 0;
    bench.cycle();
    // Complete in the very cycle in which the next write of another register goes.
    bench.whole(1, 2, 5).part(1, 2, 7, 1, 1).cycle();
    let values = std::array::from_fn(|lane| if lane < 8 { 1 } else { 2 });
    let expected = [
        (key(0, 0, Kind::Register(6)), Write::register(1, &[3; 32])),
        (key(1, 0, Kind::Register(5)), Write::register(u32::MAX, &[9; 32])),
        (key(0, 0, Kind::Register(5)), Write::register(0xffff, &values)),
    ];
    assert_eq!(bench.finish().0, expected);
}

#[test]
fn predicates_belong_to_the_block_that_has_the_slot() {
    let mut bench = Bench::new();
    let predicate = |bench: &mut Bench, bus: usize, slot: u8, mask: u32, data: u32| {
        let back = &mut bench.probe.outputs.writeback;
        back.pred_valid_o |= 1 << bus;
        (back.pred_warp_o[bus], back.pred_o[bus]) = (slot, 3);
        (back.pred_mask_o[bus], back.pred_data_o[bus]) = (mask, data);
    };
    predicate(&mut bench, 0, 1, 0xf, 0xff);
    predicate(&mut bench, 1, 3, 0xf0, 0x30);
    bench.cycle();
    // The third block takes the slot of the first.
    bench.start(2);
    bench.start(3);
    predicate(&mut bench, 0, 3, 1, 0);
    bench.cycle();
    let expected = [
        (key(1, 1, Kind::Predicate(3)), Write::predicate(0xf, 0xf)),
        (key(0, 1, Kind::Predicate(3)), Write::predicate(0xf0, 0x30)),
        (key(2, 1, Kind::Predicate(3)), Write::predicate(1, 0)),
    ];
    assert_eq!(bench.finish().0, expected);
}

#[test]
fn passes_of_a_store_are_one_write() {
    let mut bench = Bench::new();
    bench.pass(0, 1, false, 0x0f, false).cycle();
    // Nothing is served: the request register is full.
    bench.pass(0, 1, false, 0, false).cycle();
    bench.pass(0, 1, false, 0xf0, true).cycle();
    // A load commits a register, nothing else.
    bench.pass(0, 0, false, u32::MAX, true).cycle();
    // So does a texture fetch.
    bench.pass(0, 3, false, u32::MAX, true).cycle();
    // Shared memory of slot 1 begins at 256: 200 bytes rounded up. Here its addresses run over the end, which the SM would not allow.
    bench.pass(3, 1, true, 3, true).cycle();
    // Local memory.
    bench.pass(3, 1, false, 4, true);
    bench.probe.outputs.address_unit.local_o = 1;
    bench.cycle();
    let shared = std::array::from_fn(|lane| 1 << 32 | u64::from((4 * lane as u32).wrapping_sub(256)));
    let expected = [
        (key(1, 0, Kind::Memory), Write::store(0xff, &addresses(0), &numbers(), 4)),
        (key(0, 1, Kind::Memory), Write::store(3, &shared, &numbers(), 4)),
        (key(0, 1, Kind::Memory), Write::store(4, &addresses(2 << 32), &numbers(), 4)),
    ];
    assert_eq!(bench.finish().0, expected);
}

#[test]
fn accesses_come_in_the_order_of_their_passes() {
    let mut bench = Bench::new();
    bench.pass(0, 2, false, 1, false).cycle();
    // Nothing is served.
    bench.pass(0, 2, false, 0, false).cycle();
    bench.pass(0, 2, false, 6, true).cycle();
    bench.pass(2, 0, true, 1, true).cycle();
    bench.pass(0, 1, true, 8, true).cycle();
    // A load by a generic address of the constant space.
    bench.pass(0, 0, true, 0, true);
    bench.probe.outputs.address_unit.shared_valid_o = 0;
    (bench.probe.outputs.address_unit.constant_valid_o, bench.probe.outputs.constant_memory.served_o) = (1, 4);
    bench.cycle();
    // A shuffle is no access.
    bench.pass(0, 0, false, 2, true);
    bench.probe.outputs.address_unit.global_valid_o = 0;
    bench.probe.outputs.address_unit.shuffle_valid_o = 1;
    bench.cycle();
    // Another block takes the slot.
    bench.start(2);
    bench.start(3);
    bench.pass(2, 0, false, 1, true).cycle();
    let step = |block, occurrence, lanes| AccessStep { warp: WarpId { block, warp: 0 }, occurrence, lanes };
    let (writes, recording) = bench.finish();
    let first = [step(1, 0, 1), step(1, 0, 6), step(0, 0, 1), step(1, 1, 8), step(1, 2, 4)];
    assert_eq!(recording.accesses.unwrap(), [&first[..], &[step(2, 0, 1)]].concat());
    assert_eq!(writes.len(), 2);
    assert_eq!(writes[0], (key(1, 0, Kind::Memory), Write::atomic(7, &addresses(0))));
}

#[test]
fn times_are_those_of_the_cycle_in_which_they_are_read() {
    let mut bench = Bench::new();
    let mut read = |slot: u8, source: u8, served: u32, time: u64| {
        let o = &mut bench.probe.outputs;
        (o.constant_unit.busy_o, o.constant_unit.special_valid_o) = (1, 1);
        (o.constant_unit.warp_o, o.constant_unit.source_o) = (slot, source);
        o.special_registers.served_o = served;
        bench.inputs.time_i = time;
        bench.cycle();
    };
    read(0, 21, 0, 10);
    read(0, 21, 1, 11);
    read(3, 22, u32::MAX, 12);
    // Other special registers, and other numbers.
    read(0, 20, 1, 13);
    read(0, 23, 1, 14);
    read(0, 22, 1, 1 << 40);
    let warp = |block, warp| WarpId { block, warp };
    let expected = [(warp(1, 0), vec![11, 1 << 40]), (warp(0, 1), vec![12])];
    let (writes, recording) = bench.finish();
    assert!(writes.is_empty());
    assert_eq!(recording, Recording { accesses: Some(Vec::new()), times: expected.into_iter().collect() });
}

#[test]
fn steps_of_a_replayed_atomic_are_one_write() {
    let mut observed = Observed::new(All::default());
    let warp = WarpId { block: 1, warp: 0 };
    let addresses = addresses(0x100);
    let mut commit = |number: u64, mask: u32, effect: Effect<'_>| {
        observed.commit(&Commit { warp, number, pc: 0, mask, effect });
    };
    let atomic = Effect::Atomic { addresses: &addresses, occurrence: 0 };
    let (first, second, other) = (Lanes::splat(1), Lanes::splat(2), Lanes::splat(3));
    commit(4, 1, atomic);
    commit(4, 1, Effect::Register { register: 9, values: &first });
    commit(4, 6, atomic);
    commit(4, 6, Effect::Register { register: 9, values: &second });
    commit(5, 1, Effect::Register { register: 9, values: &other });
    commit(6, 1, Effect::Store { addresses: &addresses, values: &Lanes::splat(0x1234), bytes: 1 });
    commit(7, 4, atomic);
    let mut values = [2; 32];
    values[0] = 1;
    let expected = [
        (key(1, 0, Kind::Memory), Write::atomic(7, &addresses)),
        (key(1, 0, Kind::Register(9)), Write::register(7, &values)),
        (key(1, 0, Kind::Register(9)), Write::register(1, &[3; 32])),
        (key(1, 0, Kind::Memory), Write::store(1, &addresses, &[0x34; 32], 1)),
        (key(1, 0, Kind::Memory), Write::atomic(4, &addresses)),
    ];
    assert_eq!(observed.finish().0, expected);
}

fn sequences(writes: &[(Key, Write)]) -> Sequences {
    let mut sequences = Sequences::new();
    writes.iter().for_each(|(key, write)| sequences.write(*key, write));
    sequences
}

#[test]
fn order_counts_within_a_register_and_nowhere_else() {
    let write = |block, register, value| (key(block, 0, Kind::Register(register)), Write::register(1, &[value; 32]));
    let one = sequences(&[write(0, 1, 7), write(0, 2, 8), write(3, 1, 9), write(0, 1, 6)]);
    assert_eq!(one.count(), 4);
    let other = sequences(&[write(3, 1, 9), write(0, 2, 8), write(0, 1, 7), write(0, 1, 6)]);
    assert_eq!(one.difference(&other), None);
    let swapped = sequences(&[write(3, 1, 9), write(0, 2, 8), write(0, 1, 6), write(0, 1, 7)]);
    assert_eq!(one.difference(&swapped), Some((key(0, 0, Kind::Register(1)), 2, 2)));
    let fewer = sequences(&[write(0, 1, 7), write(0, 2, 8), write(0, 1, 6)]);
    assert_eq!(one.difference(&fewer), Some((key(3, 0, Kind::Register(1)), 1, 0)));
    assert_eq!(fewer.difference(&one), Some((key(3, 0, Kind::Register(1)), 0, 1)));
}

#[test]
fn every_part_of_a_write_counts() {
    let writes = [
        Write::register(1, &[0; 32]),
        Write::register(3, &[0; 32]),
        Write::register(1, &[1; 32]),
        Write::predicate(1, 0),
        Write::predicate(1, 1),
        Write::predicate(3, 1),
        Write::store(1, &[4; 32], &[5; 32], 4),
        Write::store(1, &[8; 32], &[5; 32], 4),
        Write::store(1, &[4; 32], &[6; 32], 4),
        Write::store(1, &[4; 32], &[5; 32], 2),
        Write::store(3, &[4; 32], &[5; 32], 4),
        Write::atomic(1, &[4; 32]),
        Write::atomic(1, &[8; 32]),
        Write::atomic(3, &[4; 32]),
    ];
    let k = key(0, 0, Kind::Memory);
    let hashes: Vec<Sequences> = writes.iter().map(|write| sequences(&[(k, write.clone())])).collect();
    for (i, one) in hashes.iter().enumerate() {
        for (j, other) in hashes.iter().enumerate() {
            assert_eq!(one.difference(other).is_none(), i == j, "{:?} and {:?}", writes[i], writes[j]);
        }
    }
    // Each bit of a value, in each lane.
    let zero = sequences(&[(k, Write::register(u32::MAX, &[0; 32]))]);
    for bit in 0..1024 {
        let mut values = [0; 32];
        values[bit / 32] = 1 << (bit % 32);
        assert!(zero.difference(&sequences(&[(k, Write::register(u32::MAX, &values))])).is_some());
    }
    // What lies outside the mask, and the upper bytes of a narrow store, do not.
    assert_eq!(Write::register(1, &[7; 32]), Write::register(1, &std::array::from_fn(|l| if l == 0 { 7 } else { 8 })));
    assert_eq!(Write::store(1, &[4; 32], &[0x1ff; 32], 1), Write::store(1, &[4; 32], &[0x2ff; 32], 1));
}

#[test]
fn a_difference_names_lane_and_values() {
    let mut values = [5; 32];
    values[9] = 6;
    let (one, other) = (Write::register(0xffff, &[5; 32]), Write::register(0xffff, &values));
    assert_eq!(one.difference(&other), Some((9, "0x00000005".into(), "0x00000006".into())));
    let fewer = Write::register(0x7fff, &[5; 32]);
    assert_eq!(one.difference(&fewer), Some((15, "0x00000005".into(), "does not take part".into())));
    let store = Write::store(1, &[0x80; 32], &[1; 32], 4);
    let found = store.difference(&Write::atomic(1, &[0x80; 32])).unwrap();
    assert_eq!(found, (0, "store of 0x1 (4 bytes) at 0x80".into(), "atomic operation at 0x80".into()));
}
