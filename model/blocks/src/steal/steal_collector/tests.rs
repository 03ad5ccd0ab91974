use super::*;
use crate::steal::shapes;
use crate::testing::{Driver, compare};

/// A collector that takes an instruction with these sources in the next cycle: bank and entry.
fn taking(sources: [Option<(u8, u16)>; OPERANDS], read: u8) -> Driver<StealCollector> {
    let mut driver = Driver::<StealCollector>::new(&MrfShape::BASELINE);
    let inputs = &mut driver.inputs;
    (inputs.alloc_valid_i, inputs.alloc_tag_i, inputs.alloc_warp_i, inputs.alloc_mask_i) = (1, 77, 9, 0xff);
    inputs.alloc_read_i = read;
    for (s, source) in sources.into_iter().enumerate() {
        let Some((bank, entry)) = source else { continue };
        inputs.alloc_src_valid_i |= 1 << s;
        (inputs.alloc_bank_i[s], inputs.alloc_entry_i[s]) = (bank, entry);
    }
    driver
}

impl Driver<StealCollector> {
    /// Runs the cycle in which the collector takes the instruction.
    fn takes(&mut self) -> StealCollectorOut {
        let out = self.cycle();
        self.inputs.alloc_valid_i = 0;
        out
    }
}

#[test]
fn an_operand_that_is_read_when_the_instruction_comes_is_under_way_and_the_others_are_requested() {
    let mut collector = taking([Some((1, 10)), None, Some((2, 20))], 0b100);
    let out = collector.takes();
    assert_eq!((out.busy_o, out.fill_o, out.fill_bank_o[2]), (0, 0b100, 2));
    let out = collector.cycle();
    assert_eq!((out.busy_o, out.complete_o, out.req_valid_o, out.src_valid_o), (1, 0, 0b001, 0b101));
    assert_eq!((out.fill_o, collector.probe().inflight_q), (0, 0b100));
    assert_eq!((out.tag_o, out.warp_o, out.mask_o, out.req_groups_o), (77, 9, 0xff, 2));
    collector.inputs.grant_i = 0b001;
    // Where the register is read the collector gets as an input: here, where its value is parked.
    collector.inputs.at_bank_i = [5, 0, 2];
    let out = collector.cycle();
    assert_eq!((out.fill_o, out.fill_bank_o[0], collector.probe().inflight_q), (0b001, 5, 0));
    collector.inputs.grant_i = 0;
    assert_eq!(collector.cycle().complete_o, 0);
    assert_eq!(collector.cycle().complete_o, 1);
}

#[test]
fn it_is_complete_two_cycles_after_the_issue_if_everything_is_stolen() {
    let mut collector = taking([Some((1, 10)), Some((2, 10)), Some((3, 10))], 0b111);
    assert_eq!(collector.takes().fill_o, 0b111);
    assert_eq!(collector.cycle().complete_o, 0);
    let out = collector.cycle();
    assert_eq!((out.complete_o, out.req_valid_o), (1, 0));
}

#[test]
fn the_read_of_a_leader_fills_all_its_slots() {
    let mut collector = taking([Some((1, 10)), Some((2, 20)), Some((1, 10))], 0b001);
    assert_eq!(collector.takes().fill_o, 0b101);
    let out = collector.cycle();
    assert_eq!((out.req_valid_o, collector.probe().inflight_q, collector.probe().leader_q), (0b010, 0b001, [0, 1, 0]));
    let mut collector = taking([None, Some((1, 10)), Some((1, 10))], 0b010);
    assert_eq!(collector.takes().fill_o, 0b110);
    // A source that is no register is not filled.
    let mut collector = taking([None, Some((1, 10)), None], 0b101);
    assert_eq!(collector.takes().fill_o, 0);
}

#[test]
fn what_is_granted_when_an_instruction_comes_fills_nothing() {
    let mut collector = taking([Some((1, 10)), None, None], 0);
    collector.takes();
    // Driven against the rules of the interface: the collector is busy, and gets a grant and an instruction.
    let inputs = &mut collector.inputs;
    (inputs.alloc_valid_i, inputs.alloc_read_i, inputs.grant_i, inputs.alloc_bank_i[0]) = (1, 0b001, 0b001, 5);
    let out = collector.cycle();
    assert_eq!((out.fill_o, out.fill_bank_o[0]), (0b001, 5));
    (collector.inputs.alloc_valid_i, collector.inputs.grant_i) = (0, 0);
    assert_eq!((collector.cycle().req_valid_o, collector.probe().inflight_q), (0, 0b001));
}

/// A reference model, written from the page and from `mrf_collector`'s page sentence by sentence.
#[derive(Default)]
struct Reference {
    busy: bool,
    pending: [bool; OPERANDS],
    inflight: [bool; OPERANDS],
    src_valid: [bool; OPERANDS],
    leader: [usize; OPERANDS],
    payload: (u64, u32, u8),
    bank: [u8; OPERANDS],
    entry: [u16; OPERANDS],
}

impl Reference {
    fn cycle(&mut self, inputs: &StealCollectorIn) -> (StealCollectorOut, MrfCollectorProbe) {
        let mask = |bits: [bool; OPERANDS]| (0..OPERANDS).fold(0, |mask, s| mask | u8::from(bits[s]) << s);
        let bits = |mask: u8| -> [bool; OPERANDS] { std::array::from_fn(|s| mask >> s & 1 == 1) };
        let (grant, read, register) = (bits(inputs.grant_i), bits(inputs.alloc_read_i), bits(inputs.alloc_src_valid_i));
        let place = |s: usize| (inputs.alloc_bank_i[s], inputs.alloc_entry_i[s]);
        let leader: [usize; OPERANDS] = std::array::from_fn(|s| match register[s] {
            true => (0..=s).find(|&l| register[l] && place(l) == place(s)).unwrap(),
            false => s,
        });
        let taken = inputs.alloc_valid_i == 1;
        let out = StealCollectorOut {
            tag_o: self.payload.0,
            mask_o: self.payload.1,
            req_entry_o: self.entry,
            req_valid_o: mask(self.pending),
            req_bank_o: self.bank,
            req_groups_o: (0..8).filter(|g| self.payload.1 >> (4 * g) & 0xf != 0).count() as u8,
            fill_o: mask(std::array::from_fn(|s| match taken {
                true => register[s] && read[leader[s]],
                false => self.src_valid[s] && grant[self.leader[s]],
            })),
            fill_bank_o: if taken { inputs.alloc_bank_i } else { inputs.at_bank_i },
            busy_o: self.busy.into(),
            complete_o: (self.busy && mask(self.pending) == 0 && mask(self.inflight) == 0).into(),
            warp_o: self.payload.2,
            src_valid_o: mask(self.src_valid),
        };
        let probe = MrfCollectorProbe { inflight_q: mask(self.inflight), leader_q: self.leader.map(|l| l as u8) };
        if inputs.rst_ni == 0 {
            (self.busy, self.pending, self.inflight, self.src_valid) = Default::default();
        } else if taken {
            (self.busy, self.src_valid, self.leader) = (true, register, leader);
            self.payload = (inputs.alloc_tag_i, inputs.alloc_mask_i, inputs.alloc_warp_i);
            for s in 0..OPERANDS {
                let leads = register[s] && leader[s] == s;
                (self.pending[s], self.inflight[s]) = (leads && !read[s], leads && read[s]);
                if register[s] {
                    (self.bank[s], self.entry[s]) = place(s);
                }
            }
        } else {
            let stays = inputs.free_i == 0;
            self.pending = std::array::from_fn(|s| self.pending[s] && !grant[s]);
            self.inflight = grant;
            self.src_valid = self.src_valid.map(|valid| valid && stays);
            self.busy &= stays;
        }
        (out, probe)
    }
}

#[test]
fn it_does_what_the_page_says_whatever_it_is_given() {
    for shape in shapes() {
        let mut reference = Reference::default();
        compare::<StealCollector>(
            &shape,
            20_000,
            |random, inputs| {
                inputs.rst_ni = (!random.chance(2)).into();
                inputs.alloc_valid_i = random.chance(25).into();
                inputs.free_i = random.chance(20).into();
                inputs.grant_i &= random.next() as u8;
                // Few registers, so that conflicts are frequent.
                inputs.alloc_bank_i.iter_mut().for_each(|bank| *bank &= 1);
                inputs.alloc_entry_i.iter_mut().for_each(|entry| *entry &= 1);
            },
            |inputs| reference.cycle(inputs),
        );
    }
}
