//! `mrf_allocator`: which collector takes an instruction, which one sends its own away. `docs/blocks/mrf_allocator.md`.

use crate::mrf::bits::{collectors_where, lowest, oldest, set_bits};
use crate::mrf::{MAX_COLLECTORS, MAX_PORTS, MrfShape};
use crate::{Block, WARP_BITS, field, ports};

ports! {
    /// Inputs of [`MrfAllocator`].
    pub struct MrfAllocatorIn(s: &MrfShape) {
        /// Collector c holds an instruction.
        busy_i: u16 = field(s.collectors),
        /// Collector c has all its operands.
        complete_i: u16 = field(s.collectors),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// An instruction is offered on port p.
        issue_valid_i: u8 = field(s.issue_ports),
        /// Its warp.
        issue_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.issue_ports).valid_by("issue_valid_i"),
        /// Warp of each collector.
        col_warp_i: [u8; MAX_COLLECTORS] = field(WARP_BITS).count(s.collectors).valid_by("busy_i"),
        /// The instruction offered on dispatch port p is taken.
        dispatch_ready_i: u8 = field(s.issue_ports),
    }
}

ports! {
    /// Outputs of [`MrfAllocator`].
    pub struct MrfAllocatorOut(s: &MrfShape) {
        /// Collector c takes an instruction at this edge.
        alloc_valid_o: u16 = field(s.collectors),
        /// Bit c: from which port; 0 where `alloc_valid_o[c]` is 0.
        alloc_port_o: u16 = field(s.collectors),
        /// Bit d of element c: d holds an older instruction than c.
        older_o: [u16; MAX_COLLECTORS] = field(s.collectors).count(s.collectors).early(),
        /// Collector c is freed at this edge.
        free_o: u16 = field(s.collectors),
        /// At least p + 1 collectors are free.
        issue_ready_o: u8 = field(s.issue_ports),
        /// Port p offers an instruction.
        dispatch_valid_o: u8 = field(s.issue_ports),
        /// Of which collector.
        dispatch_col_o: [u8; MAX_PORTS] = field(s.col_w()).count(s.issue_ports).valid_by("dispatch_valid_o"),
    }
}

ports! {
    /// State of [`MrfAllocator`] that no output shows.
    pub struct MrfAllocatorProbe(s: &MrfShape) {
        /// Bit d of element c: d is older than c and of the same warp.
        same_warp_q: [u16; MAX_COLLECTORS] = field(s.collectors).count(s.collectors),
    }
}

/// The collectors chosen for the ports, each a set of one or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Choice([u16; MAX_PORTS]);

impl Choice {
    /// The ports that have one.
    #[inline]
    pub(crate) fn ports(&self) -> u8 {
        u8::from(self.0[0] != 0) | u8::from(self.0[1] != 0) << 1
    }

    /// The set of them.
    #[inline]
    pub(crate) fn all(&self) -> u16 {
        self.0[0] | self.0[1]
    }

    /// That of port 1.
    #[inline]
    pub(crate) fn second(&self) -> u16 {
        self.0[1]
    }

    /// The collector of port `p`, which has one.
    #[inline]
    pub(crate) fn of(&self, p: usize) -> usize {
        debug_assert_ne!(self.0[p], 0);
        self.0[p].trailing_zeros() as usize % MAX_COLLECTORS
    }

    /// Without the ports that are not in `ports`.
    #[inline]
    pub(crate) fn only(&self, ports: u8) -> Self {
        let keep = |p: usize| u16::from(ports >> p & 1).wrapping_neg();
        Self([self.0[0] & keep(0), self.0[1] & keep(1)])
    }
}

/// Hands free collectors to the issue ports, remembers who is older than whom, and chooses what is dispatched.
pub struct MrfAllocator {
    /// One bit for each port, one for each collector.
    ports: u8,
    collectors: u16,
    older_q: [u16; MAX_COLLECTORS],
    same_warp_q: [u16; MAX_COLLECTORS],
}

impl MrfAllocator {
    /// Bit d of element c: d holds an older instruction than c.
    #[inline]
    pub(crate) fn older(&self) -> &[u16; MAX_COLLECTORS] {
        &self.older_q
    }

    /// Bit d of element c: d is older than c and of the same warp.
    pub(crate) fn same_warp(&self) -> &[u16; MAX_COLLECTORS] {
        &self.same_warp_q
    }

    /// The collector each issue port would fill.
    #[inline]
    pub(crate) fn free_collectors(&self, busy: u16) -> Choice {
        let free = self.collectors & !busy;
        let first = lowest(free);
        Choice([first, lowest(free & !first)]).only(self.ports)
    }

    /// What the dispatch ports offer: the oldest collectors that are complete and follow no other of their warp.
    #[inline]
    pub(crate) fn offers(&self, complete: u16) -> Choice {
        let eligible = complete & collectors_where(|c| self.same_warp_q[c] == 0);
        let first = match eligible & eligible.wrapping_sub(1) {
            0 => eligible,
            _ => lowest(oldest(eligible, &self.older_q)),
        };
        let second = match self.ports {
            0b01 => 0,
            _ => lowest(oldest(eligible & !first, &self.older_q)),
        };
        Choice([first, second])
    }

    /// The edge: the collectors that are filled from each port, and those that are freed.
    #[inline]
    pub(crate) fn advance(
        &mut self,
        busy: u16,
        filled: Choice,
        free: u16,
        issue_warp: &[u8; MAX_PORTS],
        col_warp: &[u8; MAX_COLLECTORS],
    ) {
        if free != 0 {
            self.older_q.iter_mut().for_each(|older| *older &= !free);
            self.same_warp_q.iter_mut().for_each(|older| *older &= !free);
        }
        let staying = busy & !free;
        for p in set_bits(filled.ports()) {
            let c = filled.of(p);
            let warp = issue_warp[p];
            // Port 0 is older than port 1.
            let first = if p == 1 { filled.only(0b01).all() } else { 0 };
            self.older_q[c] = staying | first;
            self.same_warp_q[c] = staying & collectors_where(|d| col_warp[d] == warp);
            if warp == issue_warp[0] {
                self.same_warp_q[c] |= first;
            }
        }
        for c in set_bits(free) {
            (self.older_q[c], self.same_warp_q[c]) = (0, 0);
        }
    }

    /// An edge in reset.
    pub(crate) fn reset(&mut self) {
        self.older_q = [0; MAX_COLLECTORS];
        self.same_warp_q = [0; MAX_COLLECTORS];
    }
}

impl Block for MrfAllocator {
    const NAME: &'static str = "mrf_allocator";
    const PARAMETERS: &'static [&'static str] = &["Collectors", "IssuePorts"];

    type Shape = MrfShape;
    type In = MrfAllocatorIn;
    type Out = MrfAllocatorOut;
    type Probe = MrfAllocatorProbe;

    fn new(shape: &MrfShape) -> Self {
        Self {
            ports: u8::MAX >> (u8::BITS as usize - shape.issue_ports),
            collectors: u16::MAX >> (MAX_COLLECTORS - shape.collectors),
            older_q: [0; MAX_COLLECTORS],
            same_warp_q: [0; MAX_COLLECTORS],
        }
    }

    fn early(&self, out: &mut MrfAllocatorOut) {
        out.older_o = self.older_q;
    }

    fn late(&mut self, inputs: &MrfAllocatorIn, out: &mut MrfAllocatorOut) {
        let free = self.free_collectors(inputs.busy_i);
        let filled = free.only(inputs.issue_valid_i);
        out.issue_ready_o = free.ports();
        out.alloc_valid_o = filled.all();
        out.alloc_port_o = filled.second();
        let offers = self.offers(inputs.complete_i);
        out.dispatch_valid_o = offers.ports();
        out.dispatch_col_o = [0; MAX_PORTS];
        for p in set_bits(offers.ports()) {
            out.dispatch_col_o[p] = offers.of(p) as u8;
        }
        out.free_o = offers.only(inputs.dispatch_ready_i).all();
    }

    fn clock(&mut self, inputs: &MrfAllocatorIn, out: &MrfAllocatorOut) {
        if inputs.rst_ni == 0 {
            self.reset();
            return;
        }
        let filled = self.free_collectors(inputs.busy_i).only(inputs.issue_valid_i);
        self.advance(inputs.busy_i, filled, out.free_o, &inputs.issue_warp_i, &inputs.col_warp_i);
    }

    fn probe(&self, _: &MrfAllocatorIn, _: &MrfAllocatorOut, probe: &mut MrfAllocatorProbe) {
        probe.same_warp_q = self.same_warp_q;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ports;
    use crate::mrf::bits::is_set;
    use crate::mrf::testing::{Driver, SHAPES, compare};

    const TWO_PORTS: MrfShape = MrfShape { issue_ports: 2, collectors: 4, ..MrfShape::BASELINE };

    /// Collectors that become complete when the test says so, around an allocator.
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

        /// Offers these warps on the ports.
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

    /// The page, sentence by sentence.
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
                    // Few warps, so that they meet.
                    inputs.col_warp_i.iter_mut().chain(&mut inputs.issue_warp_i).for_each(|warp| *warp &= 3);
                },
                |inputs| reference.cycle(inputs),
            );
        }
    }
}
