use super::*;
use crate::Ports;
use crate::steal::shapes;
use crate::testing::{Driver, compare};

const TWO_PORTS: MrfShape = MrfShape { issue_ports: 2, ..MrfShape::BASELINE };

impl Driver<StealCandidates> {
    /// Port `p` has a candidate with these sources: bank and entry.
    fn name(&mut self, p: usize, warp: u8, sources: [Option<(u8, u16)>; OPERANDS]) {
        self.inputs.candidate_valid_i |= 1 << p;
        self.inputs.candidate_warp_i[p] = warp;
        self.inputs.candidate_src_valid_i &= !(0b111 << (OPERANDS * p));
        for (s, source) in sources.into_iter().enumerate() {
            let (Some((bank, entry)), i) = (source, OPERANDS * p + s) else { continue };
            self.inputs.candidate_src_valid_i |= 1 << i;
            (self.inputs.candidate_bank_i[i], self.inputs.candidate_entry_i[i]) = (bank, entry);
        }
    }

    /// Runs one cycle, then clears the candidates.
    fn step(&mut self) -> StealCandidatesOut {
        let out = self.cycle();
        self.inputs.candidate_valid_i = 0;
        out
    }
}

fn candidates(shape: &MrfShape) -> Driver<StealCandidates> {
    let mut candidates = Driver::<StealCandidates>::new(shape);
    candidates.inputs.ready_i = 0b11;
    candidates
}

#[test]
fn operands_of_a_candidate_are_wanted_for_one_cycle_if_there_is_a_collector() {
    let mut candidates = candidates(&TWO_PORTS);
    candidates.name(1, 9, [Some((3, 7)), None, Some((4, 8))]);
    assert_eq!(candidates.step().want_valid_o, 0);
    let out = candidates.step();
    assert_eq!((out.want_valid_o, candidates.probe().valid_q), (0b101_000, 0b10));
    assert_eq!((out.want_bank_o[3], out.want_bank_o[5]), (3, 4));
    assert_eq!((out.want_entry_o[3], out.want_entry_o[5], out.want_warp_o[1]), (7, 8, 9));
    assert_eq!(candidates.step().want_valid_o, 0);
    candidates.name(1, 9, [Some((3, 7)), None, None]);
    candidates.step();
    // The collector is the other port's.
    candidates.inputs.ready_i = 0b01;
    let out = candidates.step();
    assert_eq!((out.want_valid_o, out.want_warp_o[1], candidates.probe().valid_q), (0, 9, 0b10));
}

#[test]
fn a_register_is_wanted_once_of_each_candidate() {
    let mut candidates = candidates(&TWO_PORTS);
    candidates.name(0, 1, [Some((3, 7)), Some((3, 7)), Some((3, 7))]);
    candidates.name(1, 2, [None, Some((3, 7)), Some((3, 7))]);
    candidates.step();
    assert_eq!(candidates.step().want_valid_o, 0b010_001);
    // The bank alone or the entry alone is another register.
    candidates.name(0, 1, [Some((3, 7)), Some((3, 8)), Some((4, 7))]);
    candidates.step();
    assert_eq!(candidates.step().want_valid_o, 0b111);
}

#[test]
fn reset_forgets_the_candidates() {
    let mut candidates = candidates(&TWO_PORTS);
    candidates.name(0, 1, [Some((3, 7)), None, None]);
    candidates.inputs.rst_ni = 0;
    candidates.step();
    candidates.inputs.rst_ni = 1;
    assert_eq!((candidates.step().want_valid_o, candidates.probe().valid_q), (0, 0));
}

/// A reference model, written from the page sentence by sentence.
#[derive(Default)]
struct Reference {
    valid: [bool; MAX_PORTS],
    warp: [u8; MAX_PORTS],
    leader: [bool; MAX_SOURCES],
    place: [(u8, u16); MAX_SOURCES],
}

impl Reference {
    fn cycle(&mut self, ports: usize, inputs: &StealCandidatesIn) -> (StealCandidatesOut, StealCandidatesProbe) {
        let mut out = StealCandidatesOut::zeroed();
        let mut probe = StealCandidatesProbe::zeroed();
        for p in 0..ports {
            probe.valid_q |= u8::from(self.valid[p]) << p;
            out.want_warp_o[p] = self.warp[p];
            probe.warp_q[p] = self.warp[p];
            for i in OPERANDS * p..OPERANDS * (p + 1) {
                let wanted = self.valid[p] && inputs.ready_i >> p & 1 == 1 && self.leader[i];
                out.want_valid_o |= u8::from(wanted) << i;
                (out.want_bank_o[i], out.want_entry_o[i]) = self.place[i];
                (probe.bank_q[i], probe.entry_q[i]) = self.place[i];
                probe.leader_q |= u8::from(self.leader[i]) << i;
            }
        }
        for p in 0..ports {
            let named = inputs.candidate_valid_i >> p & 1 == 1;
            self.valid[p] = named && inputs.rst_ni == 1;
            if !named {
                continue;
            }
            self.warp[p] = inputs.candidate_warp_i[p];
            let is_register = |i: usize| inputs.candidate_src_valid_i >> i & 1 == 1;
            let place = |i: usize| (inputs.candidate_bank_i[i], inputs.candidate_entry_i[i]);
            for i in OPERANDS * p..OPERANDS * (p + 1) {
                let earlier = (OPERANDS * p..i).any(|l| is_register(l) && place(l) == place(i));
                self.leader[i] = is_register(i) && !earlier;
                if is_register(i) {
                    self.place[i] = place(i);
                }
            }
        }
        (out, probe)
    }
}

#[test]
fn it_does_what_the_page_says_whatever_it_is_given() {
    for shape in shapes() {
        let mut reference = Reference::default();
        compare::<StealCandidates>(
            &shape,
            10_000,
            |random, inputs| {
                inputs.rst_ni = (!random.chance(2)).into();
                inputs.ready_i |= random.next() as u8 & ((1 << shape.issue_ports) - 1);
                // Few registers, so that conflicts are frequent.
                inputs.candidate_bank_i.iter_mut().for_each(|bank| *bank &= 1);
                inputs.candidate_entry_i.iter_mut().for_each(|entry| *entry &= 1);
            },
            |inputs| reference.cycle(shape.issue_ports, inputs),
        );
    }
}
