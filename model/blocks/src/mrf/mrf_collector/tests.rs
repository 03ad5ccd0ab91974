use super::*;
use crate::testing::{Driver, SHAPES, compare};

/// A collector that has taken an instruction with these sources: bank and entry, `None` for no register.
fn holding(sources: [Option<(u8, u16)>; OPERANDS]) -> Driver<MrfCollector> {
    let mut driver = Driver::<MrfCollector>::new(&MrfShape::BASELINE);
    let inputs = &mut driver.inputs;
    (inputs.alloc_valid_i, inputs.alloc_tag_i, inputs.alloc_warp_i, inputs.alloc_mask_i) = (1, 77, 9, 0xff);
    for (s, source) in sources.into_iter().enumerate() {
        let Some((bank, entry)) = source else { continue };
        inputs.alloc_src_valid_i |= 1 << s;
        (inputs.alloc_bank_i[s], inputs.alloc_entry_i[s]) = (bank, entry);
    }
    assert_eq!(driver.cycle().busy_o, 0);
    driver.inputs.alloc_valid_i = 0;
    driver
}

#[test]
fn operands_are_requested_granted_under_way_and_complete() {
    let mut collector = holding([Some((1, 10)), None, Some((2, 10))]);
    let out = collector.cycle();
    assert_eq!((out.busy_o, out.complete_o, out.req_valid_o, out.src_valid_o), (1, 0, 0b101, 0b101));
    assert_eq!((out.tag_o, out.warp_o, out.mask_o, out.req_groups_o), (77, 9, 0xff, 2));
    assert_eq!((out.req_bank_o, out.req_entry_o), ([1, 0, 2], [10, 0, 10]));
    collector.inputs.grant_i = 0b100;
    assert_eq!(collector.cycle().fill_o, 0b100);
    collector.inputs.grant_i = 0b001;
    let out = collector.cycle();
    assert_eq!((out.req_valid_o, out.fill_o, collector.probe().inflight_q), (0b001, 0b001, 0b100));
    collector.inputs.grant_i = 0;
    let out = collector.cycle();
    assert_eq!((out.req_valid_o, out.complete_o, collector.probe().inflight_q), (0, 0, 0b001));
    collector.inputs.free_i = 1;
    let out = collector.cycle();
    assert_eq!((out.complete_o, out.src_valid_o, out.req_bank_o), (1, 0b101, [1, 0, 2]));
    let out = collector.cycle();
    assert_eq!((out.busy_o, out.complete_o, out.src_valid_o), (0, 0, 0));
}

#[test]
fn a_register_is_read_once_for_all_its_sources() {
    let mut collector = holding([Some((1, 10)), Some((1, 10)), Some((1, 10))]);
    collector.inputs.grant_i = 0b001;
    let out = collector.cycle();
    assert_eq!((out.req_valid_o, out.fill_o, collector.probe().leader_q), (0b001, 0b111, [0, 0, 0]));

    let mut collector = holding([None, Some((1, 10)), Some((1, 10))]);
    collector.inputs.grant_i = 0b010;
    let out = collector.cycle();
    assert_eq!((out.req_valid_o, out.fill_o, collector.probe().leader_q), (0b010, 0b110, [0, 1, 1]));

    // The bank alone or the entry alone is another register.
    let mut collector = holding([Some((1, 10)), Some((1, 11)), Some((2, 10))]);
    assert_eq!(collector.cycle().req_valid_o, 0b111);
}

#[test]
fn without_register_sources_it_is_complete_at_once() {
    let mut collector = holding([None; OPERANDS]);
    let out = collector.cycle();
    assert_eq!((out.complete_o, out.req_valid_o, out.src_valid_o), (1, 0, 0));
}

#[test]
fn allocation_wins_over_grant_and_free() {
    let mut collector = holding([Some((1, 10)), Some((2, 10)), None]);
    let inputs = &mut collector.inputs;
    (inputs.alloc_valid_i, inputs.alloc_src_valid_i, inputs.grant_i, inputs.free_i) = (1, 0b100, 0b011, 1);
    (inputs.alloc_bank_i[2], inputs.alloc_entry_i[2]) = (3, 4);
    collector.cycle();
    let inputs = &mut collector.inputs;
    (inputs.alloc_valid_i, inputs.grant_i, inputs.free_i) = (0, 0, 0);
    let out = collector.cycle();
    assert_eq!((out.busy_o, out.req_valid_o, out.src_valid_o), (1, 0b100, 0b100));
    assert_eq!((out.req_bank_o, out.req_entry_o, collector.probe().inflight_q), ([0, 0, 3], [0, 0, 4], 0));
}

#[test]
fn reset_empties_it() {
    let mut collector = holding([Some((1, 10)), None, None]);
    collector.inputs.grant_i = 0b001;
    collector.inputs.rst_ni = 0;
    collector.cycle();
    collector.inputs.rst_ni = 1;
    collector.inputs.grant_i = 0;
    let out = collector.cycle();
    assert_eq!((out.busy_o, out.req_valid_o, out.src_valid_o, collector.probe().inflight_q), (0, 0, 0, 0));
}

/// A reference model, written from the page sentence by sentence.
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
    fn cycle(&mut self, inputs: &MrfCollectorIn) -> (MrfCollectorOut, MrfCollectorProbe) {
        let mask = |bits: [bool; OPERANDS]| (0..OPERANDS).fold(0, |mask, s| mask | u8::from(bits[s]) << s);
        let grant: [bool; OPERANDS] = std::array::from_fn(|s| inputs.grant_i >> s & 1 == 1);
        let out = MrfCollectorOut {
            tag_o: self.payload.0,
            mask_o: self.payload.1,
            req_entry_o: self.entry,
            req_valid_o: mask(self.pending),
            req_bank_o: self.bank,
            req_groups_o: (0..8).filter(|g| self.payload.1 >> (4 * g) & 0xf != 0).count() as u8,
            fill_o: mask(std::array::from_fn(|s| self.src_valid[s] && grant[self.leader[s]])),
            busy_o: self.busy.into(),
            complete_o: (self.busy && mask(self.pending) == 0 && mask(self.inflight) == 0).into(),
            warp_o: self.payload.2,
            src_valid_o: mask(self.src_valid),
        };
        let probe = MrfCollectorProbe { inflight_q: mask(self.inflight), leader_q: self.leader.map(|l| l as u8) };
        if inputs.rst_ni == 0 {
            (self.busy, self.pending, self.inflight, self.src_valid) = Default::default();
        } else if inputs.alloc_valid_i == 1 {
            self.busy = true;
            self.inflight = [false; OPERANDS];
            self.payload = (inputs.alloc_tag_i, inputs.alloc_mask_i, inputs.alloc_warp_i);
            for s in 0..OPERANDS {
                self.src_valid[s] = inputs.alloc_src_valid_i >> s & 1 == 1;
                self.leader[s] = s;
                if self.src_valid[s] {
                    (self.bank[s], self.entry[s]) = (inputs.alloc_bank_i[s], inputs.alloc_entry_i[s]);
                    let same = |&l: &usize| {
                        self.src_valid[l] && self.bank[l] == self.bank[s] && self.entry[l] == self.entry[s]
                    };
                    self.leader[s] = (0..=s).find(same).unwrap();
                }
                self.pending[s] = self.src_valid[s] && self.leader[s] == s;
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
    for shape in SHAPES {
        let mut reference = Reference::default();
        compare::<MrfCollector>(
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
