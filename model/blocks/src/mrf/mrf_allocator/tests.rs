use super::*;
use crate::Ports;
use crate::mrf::bits::is_set;
use crate::testing::{Driver, SHAPES, compare};

const TWO_PORTS: MrfShape = MrfShape { issue_ports: 2, collectors: 4, ..MrfShape::BASELINE };

/// An allocator, with collectors that become complete when the test decides.
struct Collectors {
    driver: Driver<MrfAllocator>,
}

impl Collectors {
    fn new(shape: &MrfShape) -> Self {
        Self { driver: Driver::new(shape) }
    }

    fn cycle(&mut self) -> MrfAllocatorOut {
        let out = self.driver.cycle();
        let inputs = &mut self.driver.inputs;
        for c in set_bits(out.alloc_valid_o) {
            inputs.col_warp_i[c] = inputs.issue_warp_i[usize::from(is_set(out.alloc_port_o, c))];
        }
        inputs.busy_i = inputs.busy_i & !out.free_o | out.alloc_valid_o;
        inputs.complete_i &= !out.free_o;
        out
    }

    /// Offers instructions of these warps on the ports.
    fn issue(&mut self, warps: &[u8]) -> MrfAllocatorOut {
        self.driver.inputs.issue_valid_i = (1 << warps.len()) - 1;
        self.driver.inputs.issue_warp_i[..warps.len()].copy_from_slice(warps);
        let out = self.cycle();
        self.driver.inputs.issue_valid_i = 0;
        out
    }
}

#[test]
fn port_p_takes_the_free_collector_p() {
    let mut collectors = Collectors::new(&TWO_PORTS);
    collectors.driver.inputs.issue_valid_i = 0b10;
    let out = collectors.cycle();
    // Collector 0 is kept for port 0, whether or not it has an instruction.
    assert_eq!((out.issue_ready_o, out.alloc_valid_o, out.alloc_port_o), (0b11, 0b0010, 0b0010));
    let out = collectors.issue(&[1, 2]);
    assert_eq!((out.issue_ready_o, out.alloc_valid_o, out.alloc_port_o), (0b11, 0b0101, 0b0100));
    let out = collectors.issue(&[1, 2]);
    assert_eq!((out.issue_ready_o, out.alloc_valid_o, out.alloc_port_o), (0b01, 0b1000, 0));
    assert_eq!(collectors.cycle().issue_ready_o, 0);
}

#[test]
fn port_0_is_older_than_port_1() {
    let mut collectors = Collectors::new(&TWO_PORTS);
    collectors.issue(&[7, 7]);
    let out = collectors.cycle();
    assert_eq!(out.older_o[..4], [0, 0b01, 0, 0]);
    assert_eq!(collectors.driver.probe().same_warp_q[..4], [0, 0b01, 0, 0]);
    collectors.issue(&[8, 7]);
    let out = collectors.cycle();
    assert_eq!(out.older_o[..4], [0, 0b0001, 0b0011, 0b0111]);
    assert_eq!(collectors.driver.probe().same_warp_q[..4], [0, 0b0001, 0, 0b0011]);
}

#[test]
fn the_oldest_leave_first_and_a_warp_in_order() {
    let mut collectors = Collectors::new(&TWO_PORTS);
    collectors.issue(&[7, 7]);
    collectors.issue(&[8, 9]);
    // Collector 1 is complete but follows collector 0 of its warp.
    collectors.driver.inputs.complete_i = 0b1110;
    let out = collectors.cycle();
    assert_eq!((out.dispatch_valid_o, out.dispatch_col_o, out.free_o), (0b11, [2, 3], 0));
    collectors.driver.inputs.dispatch_ready_i = 0b10;
    assert_eq!(collectors.cycle().free_o, 0b1000);
    collectors.driver.inputs.complete_i |= 0b0001;
    collectors.driver.inputs.dispatch_ready_i = 0b01;
    let out = collectors.cycle();
    assert_eq!((out.dispatch_valid_o, out.dispatch_col_o, out.free_o), (0b11, [0, 2], 0b0001));
    let out = collectors.cycle();
    assert_eq!((out.dispatch_valid_o, out.dispatch_col_o, out.free_o), (0b11, [1, 2], 0b0010));
    assert_eq!(out.older_o[..4], [0, 0, 0b0010, 0]);
}

#[test]
fn a_collector_freed_at_this_edge_is_not_older() {
    let mut collectors = Collectors::new(&TWO_PORTS);
    collectors.issue(&[7]);
    collectors.driver.inputs.complete_i = 0b0001;
    collectors.driver.inputs.dispatch_ready_i = 0b01;
    collectors.issue(&[7, 7]);
    let out = collectors.cycle();
    assert_eq!(out.older_o[..4], [0, 0, 0b0010, 0]);
    assert_eq!(collectors.driver.probe().same_warp_q[..4], [0, 0, 0b0010, 0]);
}

#[test]
fn reset_forgets_the_order() {
    let mut collectors = Collectors::new(&TWO_PORTS);
    collectors.issue(&[7, 7]);
    collectors.driver.inputs.rst_ni = 0;
    collectors.issue(&[7, 7]);
    assert_eq!(collectors.cycle().older_o, [0; MAX_COLLECTORS]);
    assert_eq!(collectors.driver.probe().same_warp_q, [0; MAX_COLLECTORS]);
}

/// A reference model, written from the page sentence by sentence.
struct Reference {
    shape: MrfShape,
    older: [u16; MAX_COLLECTORS],
    same_warp: [u16; MAX_COLLECTORS],
}

impl Reference {
    fn oldest(&self, set: u16) -> Option<usize> {
        (0..self.shape.collectors).find(|&c| is_set(set, c) && self.older[c] & set == 0)
    }

    fn cycle(&mut self, inputs: &MrfAllocatorIn) -> (MrfAllocatorOut, MrfAllocatorProbe) {
        let MrfShape { collectors, issue_ports, .. } = self.shape;
        let mut out = MrfAllocatorOut::zeroed();
        out.older_o = self.older;
        let probe = MrfAllocatorProbe { same_warp_q: self.same_warp };
        let free: Vec<usize> = (0..collectors).filter(|&c| !is_set(inputs.busy_i, c)).collect();
        let mut filled = [None; MAX_PORTS];
        for p in 0..issue_ports {
            out.issue_ready_o |= u8::from(free.len() > p) << p;
            if is_set(inputs.issue_valid_i, p) && free.len() > p {
                filled[p] = Some(free[p]);
                out.alloc_valid_o |= 1 << free[p];
                out.alloc_port_o |= (p as u16) << free[p];
            }
        }
        let mut eligible: u16 = (0..collectors)
            .filter(|&c| is_set(inputs.complete_i, c) && self.same_warp[c] == 0)
            .fold(0, |set, c| set | 1 << c);
        for p in 0..issue_ports {
            let Some(c) = self.oldest(eligible) else { continue };
            eligible &= !(1 << c);
            out.dispatch_valid_o |= 1 << p;
            out.dispatch_col_o[p] = c as u8;
            if is_set(inputs.dispatch_ready_i, p) {
                out.free_o |= 1 << c;
            }
        }
        for c in 0..collectors {
            self.older[c] &= !out.free_o;
            self.same_warp[c] &= !out.free_o;
        }
        for p in 0..issue_ports {
            let Some(c) = filled[p] else { continue };
            (self.older[c], self.same_warp[c]) = (0, 0);
            for d in 0..collectors {
                let stays = is_set(inputs.busy_i & !out.free_o, d);
                let before = p == 1 && filled[0] == Some(d);
                let warp = if before { inputs.issue_warp_i[0] } else { inputs.col_warp_i[d] };
                self.older[c] |= u16::from(stays || before) << d;
                self.same_warp[c] |= u16::from((stays || before) && warp == inputs.issue_warp_i[p]) << d;
            }
        }
        for c in 0..collectors {
            if is_set(out.free_o, c) || inputs.rst_ni == 0 {
                (self.older[c], self.same_warp[c]) = (0, 0);
            }
        }
        (out, probe)
    }
}

#[test]
fn it_does_what_the_page_says_whatever_it_is_given() {
    for shape in SHAPES {
        let mut reference = Reference { shape, older: [0; MAX_COLLECTORS], same_warp: [0; MAX_COLLECTORS] };
        compare::<MrfAllocator>(
            &shape,
            20_000,
            |random, inputs| {
                inputs.rst_ni = (!random.chance(1)).into();
                inputs.busy_i |= random.next() as u16 & ((1 << shape.collectors) - 1) as u16;
                // Few warps, so that conflicts are frequent.
                inputs.col_warp_i.iter_mut().chain(&mut inputs.issue_warp_i).for_each(|warp| *warp &= 3);
            },
            |inputs| reference.cycle(inputs),
        );
    }
}
