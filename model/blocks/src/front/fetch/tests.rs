use super::*;
use crate::Ports;
use crate::testing::{Driver, SM_SHAPES, compare};

const ALL: u64 = u64::MAX >> 32;

/// A fetch whose code memory holds address plus 1000 and address plus 2000, and whose warps have room.
fn fetch() -> Driver<Fetch> {
    let mut fetch = Driver::<Fetch>::new(&SM_SHAPES[0]);
    for addr in 0..SM_SHAPES[0].code_words as u32 {
        fetch.block.write_code(addr, u64::from(addr) + 1000, u64::from(addr) + 2000);
    }
    fetch.inputs.room_i = ALL;
    fetch.inputs.reconvergence_i = [1 << 19; MAX_WARPS];
    fetch
}

/// Warps begin, one a cycle, and nothing is fetched meanwhile.
fn start(fetch: &mut Driver<Fetch>, warps: impl IntoIterator<Item = u8>) {
    for warp in warps {
        (fetch.inputs.start_valid_i, fetch.inputs.start_warp_i) = (1, warp);
        fetch.inputs.held_i = ALL;
        assert_eq!(decoded(fetch), None);
    }
    (fetch.inputs.start_valid_i, fetch.inputs.held_i) = (0, 0);
}

/// One cycle; warp and address at decode on the first path.
fn decoded(fetch: &mut Driver<Fetch>) -> Option<(u8, u32)> {
    decoded_on(&fetch.cycle(), 0)
}

fn decoded_on(out: &FetchOut, p: usize) -> Option<(u8, u32)> {
    is_set(out.decode_valid_o, p).then_some((out.decode_warp_o[p], out.decode_pc_o[p]))
}

#[test]
fn a_warp_has_one_fetch_under_way() {
    let mut fetch = fetch();
    assert_eq!(decoded(&mut fetch), None, "no warp has begun");
    start(&mut fetch, [7]);
    let found: Vec<_> = (0..7).map(|_| decoded(&mut fetch)).collect();
    assert_eq!(found, [None, Some((7, 0)), None, Some((7, 1)), None, Some((7, 2)), None]);
    let out = fetch.cycle();
    assert_eq!((out.decode_op_o[0], out.decode_ctl_o[0], out.decode_pc_o[0]), (1003, 2003, 3));
}

#[test]
fn each_path_fetches_for_its_own_warps_from_its_own_copy() {
    let mut fetch = Driver::<Fetch>::new(&SM_SHAPES[1]);
    for addr in 0..8 {
        let inputs = &mut fetch.inputs;
        (inputs.code_we_i, inputs.code_addr_i) = (1, addr);
        (inputs.code_op_i, inputs.code_ctl_i) = (u64::from(addr) + 1000, u64::from(addr) + 2000);
        fetch.cycle();
    }
    fetch.inputs.code_we_i = 0;
    (fetch.inputs.room_i, fetch.inputs.reconvergence_i) = (ALL, [1 << 19; MAX_WARPS]);
    start(&mut fetch, [2, 4, 5]);
    let out: Vec<_> = (0..6).map(|_| fetch.cycle()).collect();
    let even: Vec<_> = out.iter().map(|out| decoded_on(out, 0)).collect();
    let odd: Vec<_> = out.iter().map(|out| decoded_on(out, 1)).collect();
    assert_eq!(even, [None, Some((2, 0)), Some((4, 0)), Some((2, 1)), Some((4, 1)), Some((2, 2))]);
    assert_eq!(odd, [None, Some((5, 0)), None, Some((5, 1)), None, Some((5, 2))]);
    assert_eq!((out[3].decode_op_o, out[3].decode_ctl_o), ([1001; 2], [2001; 2]));
    assert_eq!((fetch.probe().rr_q, fetch.block.memories().len()), ([3, 6], 8));
    // A stop is its path's.
    fetch.inputs.decode_stop_i = 0b01;
    fetch.cycle();
    fetch.cycle();
    assert_eq!(fetch.probe().running_q, 0b10_0100);
}

#[test]
fn warps_take_turns_from_the_one_behind_the_last() {
    let mut fetch = fetch();
    start(&mut fetch, [0, 5, 31]);
    let found: Vec<_> = (0..7).map(|_| decoded(&mut fetch)).collect();
    assert_eq!(found[1..], [(0, 0), (5, 0), (31, 0), (0, 1), (5, 1), (31, 1)].map(Some));
    // The one after 31 is 0.
    fetch.inputs.room_i = 1 << 31;
    decoded(&mut fetch);
    decoded(&mut fetch);
    assert_eq!(fetch.probe().rr_q[0], 0);
}

#[test]
fn without_room_or_held_a_warp_does_not_fetch() {
    let mut fetch = fetch();
    start(&mut fetch, [3, 4, 5]);
    fetch.inputs.room_i = ALL & !(1 << 3);
    fetch.inputs.held_i = 1 << 4;
    let found: Vec<_> = (0..5).map(|_| decoded(&mut fetch)).collect();
    assert_eq!(found, [None, Some((5, 0)), None, Some((5, 1)), None]);
}

#[test]
fn behind_an_instruction_that_may_go_elsewhere_a_warp_waits_to_be_told() {
    let mut fetch = fetch();
    start(&mut fetch, [2]);
    decoded(&mut fetch);
    fetch.inputs.decode_stop_i = 1;
    assert_eq!(decoded(&mut fetch), Some((2, 0)));
    fetch.inputs.decode_stop_i = 0;
    assert_eq!(decoded(&mut fetch), None);
    assert_eq!((decoded(&mut fetch), fetch.probe().running_q), (None, 0));
    let inputs = &mut fetch.inputs;
    (inputs.resume_valid_i, inputs.resume_warp_i[1], inputs.resume_pc_i[1]) = (0b10, 2, 40);
    decoded(&mut fetch);
    fetch.inputs.resume_valid_i = 0;
    decoded(&mut fetch);
    assert_eq!(decoded(&mut fetch), Some((2, 40)));
    // Without a valid instruction at decode the stop means nothing.
    fetch.inputs.decode_stop_i = 1;
    assert_eq!(decoded(&mut fetch), None);
    fetch.inputs.decode_stop_i = 0;
    assert_eq!(decoded(&mut fetch), Some((2, 41)));
}

#[test]
fn before_the_reconvergence_point_of_its_group_a_warp_waits() {
    let mut fetch = fetch();
    start(&mut fetch, [2]);
    fetch.inputs.reconvergence_i[2] = 2;
    let found: Vec<_> = (0..7).map(|_| decoded(&mut fetch)).collect();
    assert_eq!(found, [None, Some((2, 0)), None, Some((2, 1)), None, None, None]);
}

#[test]
fn addresses_count_in_twenty_bits_and_the_code_memory_repeats() {
    let mut fetch = fetch();
    let inputs = &mut fetch.inputs;
    (inputs.resume_valid_i, inputs.resume_warp_i[0], inputs.resume_pc_i[0]) = (1, 9, (1 << PC_BITS) - 1);
    decoded(&mut fetch);
    fetch.inputs.resume_valid_i = 0;
    fetch.inputs.reconvergence_i[9] = 0;
    decoded(&mut fetch);
    let out = fetch.cycle();
    assert_eq!((out.decode_pc_o[0], out.decode_op_o[0]), ((1 << PC_BITS) - 1, 1000 + 4095));
    fetch.cycle();
    assert_eq!(fetch.probe().running_q, 0, "the next address is 0, which is the reconvergence point");
}

#[test]
fn start_goes_before_resume_the_higher_resume_before_the_lower_and_both_before_the_fetch() {
    // At the edge: an increment, a stop, two resumes, a start; each one wins over what is left of it.
    for (resume, started, expected) in
        [(0b00, false, None), (0b01, false, Some(70)), (0b11, false, Some(90)), (0b11, true, Some(0))]
    {
        let mut fetch = fetch();
        start(&mut fetch, [6]);
        decoded(&mut fetch);
        let inputs = &mut fetch.inputs;
        (inputs.decode_stop_i, inputs.resume_valid_i) = (1, resume);
        (inputs.resume_warp_i, inputs.resume_pc_i) = ([6; 3], [70, 90, 0]);
        (inputs.start_valid_i, inputs.start_warp_i) = (started.into(), 6);
        assert_eq!(decoded(&mut fetch), Some((6, 0)));
        let inputs = &mut fetch.inputs;
        (inputs.decode_stop_i, inputs.resume_valid_i, inputs.start_valid_i) = (0, 0, 0);
        decoded(&mut fetch);
        assert_eq!(decoded(&mut fetch).map(|(_, pc)| pc), expected);
    }
    // A resume at the edge at which the warp fetches.
    let mut fetch = fetch();
    start(&mut fetch, [6]);
    let inputs = &mut fetch.inputs;
    (inputs.resume_valid_i, inputs.resume_warp_i[0], inputs.resume_pc_i[0]) = (1, 6, 70);
    decoded(&mut fetch);
    fetch.inputs.resume_valid_i = 0;
    assert_eq!(decoded(&mut fetch), Some((6, 0)));
    decoded(&mut fetch);
    assert_eq!(decoded(&mut fetch), Some((6, 70)));
}

#[test]
fn a_word_that_is_written_while_it_is_read_is_the_old_one() {
    let mut fetch = fetch();
    start(&mut fetch, [0]);
    let inputs = &mut fetch.inputs;
    (inputs.code_we_i, inputs.code_addr_i, inputs.code_op_i, inputs.code_ctl_i) = (1, 0, 1, 2);
    fetch.cycle();
    let out = fetch.cycle();
    assert_eq!((out.decode_op_o[0], out.decode_ctl_o[0]), (1000, 2000));
    assert_eq!(fetch.block.memories()[2].words[..4], [2, 0, 2001, 0]);
}

#[test]
fn reset_ends_all_fetching_and_leaves_the_code_memory_alone() {
    let mut fetch = fetch();
    start(&mut fetch, [4, 8]);
    fetch.cycle();
    let inputs = &mut fetch.inputs;
    (inputs.rst_ni, inputs.start_valid_i, inputs.start_warp_i) = (0, 1, 1);
    (inputs.resume_valid_i, inputs.resume_warp_i, inputs.resume_pc_i) = (1, [2; 3], [50; 3]);
    (inputs.code_we_i, inputs.code_addr_i, inputs.code_op_i) = (1, 3, 77);
    assert_eq!(decoded(&mut fetch), Some((4, 0)));
    let inputs = &mut fetch.inputs;
    (inputs.rst_ni, inputs.start_valid_i, inputs.resume_valid_i, inputs.code_we_i) = (1, 0, 0, 0);
    assert_eq!(decoded(&mut fetch), None);
    assert_eq!((fetch.probe().running_q, fetch.probe().rr_q[0]), (0, 0));
    assert_eq!(fetch.block.memories()[0].words[6], 77, "written in reset");
    assert_eq!(fetch.block.memories()[1].words[0], 1000, "read in reset: warp 8 was chosen");
}

/// A reference model from the page, sentence by sentence; the code memory apart.
struct Reference {
    shape: SmShape,
    code: Vec<(u64, u64)>,
    running: Vec<bool>,
    pc: Vec<u32>,
    /// Of each path.
    rr: Vec<usize>,
    decode: Vec<Option<AtDecode>>,
}

/// Warp, address, words.
type AtDecode = (usize, u32, (u64, u64));

impl Reference {
    fn new(shape: &SmShape) -> Self {
        Self {
            shape: *shape,
            code: vec![(0, 0); shape.code_words],
            running: vec![false; shape.warps],
            pc: vec![0; shape.warps],
            rr: vec![0; shape.ports()],
            decode: vec![None; shape.ports()],
        }
    }

    fn cycle(&mut self, inputs: &FetchIn) -> (FetchOut, FetchProbe) {
        let (warps, ports) = (self.shape.warps, self.shape.ports());
        let bit = |mask: u64, w: usize| mask >> w & 1 == 1;
        let mut out = FetchOut::zeroed();
        let mut probe = FetchProbe {
            running_q: (0..warps).fold(0, |set, w| set | u64::from(self.running[w]) << w),
            pc_q: std::array::from_fn(|w| self.pc.get(w).copied().unwrap_or_default()),
            rr_q: [0; MAX_PORTS],
        };
        for p in 0..ports {
            probe.rr_q[p] = self.rr[p] as u8;
            let Some((warp, pc, (op, ctl))) = self.decode[p] else { continue };
            out.decode_valid_o |= 1 << p;
            (out.decode_op_o[p], out.decode_ctl_o[p]) = (op, ctl);
            (out.decode_pc_o[p], out.decode_warp_o[p]) = (pc, warp as u8);
        }

        let chosen: Vec<Option<usize>> = (0..ports)
            .map(|p| {
                let eligible = |&w: &usize| {
                    let waits = self.decode[p].is_none_or(|d| d.0 != w);
                    w % ports == p && self.running[w] && bit(inputs.room_i, w) && !bit(inputs.held_i, w) && waits
                };
                (self.rr[p]..warps).chain(0..self.rr[p]).find(eligible)
            })
            .collect();
        if inputs.rst_ni == 0 {
            self.running.fill(false);
            self.decode.fill(None);
            self.rr.fill(0);
        } else {
            for (p, &chosen) in chosen.iter().enumerate() {
                if let Some((warp, pc, _)) = self.decode[p] {
                    let stop = bit(inputs.decode_stop_i.into(), p);
                    if stop || (pc + 1) % (1 << 20) == inputs.reconvergence_i[warp] {
                        self.running[warp] = false;
                    }
                }
                self.decode[p] = chosen.map(|w| (w, self.pc[w], self.code[self.pc[w] as usize % self.code.len()]));
                if let Some(w) = chosen {
                    self.pc[w] = (self.pc[w] + 1) % (1 << 20);
                    self.rr[p] = (w + 1) % warps;
                }
            }
            for k in 0..=self.shape.ports() {
                if bit(inputs.resume_valid_i.into(), k) {
                    let w = usize::from(inputs.resume_warp_i[k]);
                    (self.running[w], self.pc[w]) = (true, inputs.resume_pc_i[k]);
                }
            }
            if inputs.start_valid_i == 1 {
                let w = usize::from(inputs.start_warp_i);
                (self.running[w], self.pc[w]) = (true, 0);
            }
        }
        if inputs.code_we_i == 1 {
            self.code[inputs.code_addr_i as usize] = (inputs.code_op_i, inputs.code_ctl_i);
        }
        (out, probe)
    }
}

#[test]
fn it_is_what_the_page_says() {
    for shape in SM_SHAPES {
        let mut reference = Reference::new(&shape);
        let drive = |random: &mut crate::testing::Random, inputs: &mut FetchIn| {
            inputs.rst_ni = (!random.chance(1)).into();
            inputs.room_i |= random.next() & shape.all_warps();
            inputs.held_i &= random.next();
            inputs.start_valid_i = random.chance(5).into();
            inputs.start_warp_i = random.below(shape.warps) as u8;
            inputs.decode_stop_i &= random.next() as u8 & random.next() as u8;
            inputs.resume_valid_i &= random.next() as u8;
            for k in 0..=shape.ports() {
                inputs.resume_warp_i[k] = random.below(shape.warps) as u8;
                inputs.resume_pc_i[k] &= 15;
            }
            for reconvergence in &mut inputs.reconvergence_i {
                *reconvergence &= 63;
            }
        };
        compare::<Fetch>(&shape, 20_000, drive, |inputs| reference.cycle(inputs));
    }
}
