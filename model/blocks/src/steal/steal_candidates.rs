//! `steal_candidates`: operands that are likely to be requested next. `docs/blocks/steal_candidates.md`.

use super::MAX_SOURCES;
use super::steal_collector::leaders;
use crate::mrf::bits::{only, set_bits};
use crate::mrf::{MAX_PORTS, MrfShape};
use crate::{Block, Memory, OPERANDS, WARP_BITS, field, ports};

ports! {
    /// Inputs of [`StealCandidates`].
    pub struct StealCandidatesIn(s: &MrfShape) {
        /// Entry of each source.
        candidate_entry_i: [u16; MAX_SOURCES] =
            field(s.entry_w()).count(s.sources()).valid_by("candidate_src_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Port p has a candidate.
        candidate_valid_i: u8 = field(s.issue_ports),
        /// Warp of port p's candidate.
        candidate_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.issue_ports).valid_by("candidate_valid_i"),
        /// Bit 3p+s: source s of port p's candidate is a register.
        candidate_src_valid_i: u8 = field(s.sources()),
        /// Bank of each source.
        candidate_bank_i: [u8; MAX_SOURCES] =
            field(s.bank_w()).count(s.sources()).valid_by("candidate_src_valid_i"),
        /// A collector is free for port p.
        ready_i: u8 = field(s.issue_ports),
    }
}

ports! {
    /// Outputs of [`StealCandidates`].
    pub struct StealCandidatesOut(s: &MrfShape) {
        /// Entry of each operand.
        want_entry_o: [u16; MAX_SOURCES] = field(s.entry_w()).count(s.sources()).valid_by("want_valid_o"),
        /// Operands of the candidates of the cycle before that are to be read, if these issue.
        want_valid_o: u8 = field(s.sources()),
        /// Bank of each operand.
        want_bank_o: [u8; MAX_SOURCES] = field(s.bank_w()).count(s.sources()).valid_by("want_valid_o"),
        /// Warp of each port's candidate.
        want_warp_o: [u8; MAX_PORTS] = field(WARP_BITS).count(s.issue_ports).valid_by("valid_q").early(),
    }
}

ports! {
    /// State of [`StealCandidates`]: what was latched last, whether a candidate is there or not.
    pub struct StealCandidatesProbe(s: &MrfShape) {
        /// Entry of each operand.
        entry_q: [u16; MAX_SOURCES] = field(s.entry_w()).count(s.sources()),
        /// Bank of each operand.
        bank_q: [u8; MAX_SOURCES] = field(s.bank_w()).count(s.sources()),
        /// Warp of each port's candidate latched last.
        warp_q: [u8; MAX_PORTS] = field(WARP_BITS).count(s.issue_ports),
        /// Bit 3p+s: source s of the candidate latched last is a register that no lower source names.
        leader_q: u8 = field(s.sources()),
        /// Port p had a candidate.
        valid_q: u8 = field(s.issue_ports),
    }
}

/// A candidate: its register sources, and the bank and entry of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) entry: [u16; OPERANDS],
    pub(crate) bank: [u8; OPERANDS],
    pub(crate) src_valid: u8,
    pub(crate) warp: u8,
}

/// Operands of candidates: those that are wanted, and the bank and entry of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wants {
    pub(crate) entry: [u16; MAX_SOURCES],
    pub(crate) bank: [u8; MAX_SOURCES],
    pub(crate) valid: u8,
}

/// The latch of the arbitration stage for the instructions that probably issue next: the operands of each port's candidate, mapped to banks (stealing paper, IV-B2, figure 7).
#[derive(Clone, Debug)]
pub struct StealCandidates {
    shape: MrfShape,
    valid_q: u8,
    // One 32-bit word each: the form in which the harness reads them.
    warp_q: [u32; MAX_PORTS],
    leader_q: [u32; 1],
    bank_q: [u32; MAX_SOURCES],
    entry_q: [u32; MAX_SOURCES],
}

impl StealCandidates {
    /// Ports that had a candidate in the previous cycle.
    #[inline]
    pub(crate) fn valid(&self) -> u8 {
        self.valid_q
    }

    /// Warp of port `p`'s candidate.
    #[inline]
    pub(crate) fn warp(&self, p: usize) -> u8 {
        self.warp_q[p] as u8
    }

    /// The state registers of the block.
    pub(crate) fn state(&self) -> StealCandidatesProbe {
        StealCandidatesProbe {
            entry_q: self.entry_q.map(|entry| entry as u16),
            bank_q: self.bank_q.map(|bank| bank as u8),
            warp_q: self.warp_q.map(|warp| warp as u8),
            leader_q: self.leader_q[0] as u8,
            valid_q: self.valid_q,
        }
    }

    /// The wanted operands of the candidates, if the ports in `ready` have a collector.
    #[inline]
    pub(crate) fn wants(&self, ready: u8) -> Wants {
        let ports = set_bits(self.valid_q & ready).fold(0, |sources, p| sources | 0b111 << (OPERANDS * p));
        Wants {
            entry: self.entry_q.map(|entry| entry as u16),
            bank: self.bank_q.map(|bank| bank as u8),
            valid: self.leader_q[0] as u8 & ports,
        }
    }

    /// The clock edge: takes the candidate of each port, if it has one. Payload is taken in reset, too.
    #[inline]
    pub(crate) fn advance(&mut self, running: bool, valid: u8, candidate: impl Fn(usize) -> Candidate) {
        for p in set_bits(valid) {
            let Candidate { entry, bank, src_valid, warp } = candidate(p);
            let leader = leaders(src_valid, &bank, &entry);
            let own = set_bits(src_valid).fold(0, |own, s| own | u32::from(usize::from(leader[s]) == s) << s);
            self.leader_q[0] = self.leader_q[0] & !(0b111 << (OPERANDS * p)) | own << (OPERANDS * p);
            self.warp_q[p] = warp.into();
            for s in set_bits(src_valid) {
                (self.bank_q[OPERANDS * p + s], self.entry_q[OPERANDS * p + s]) = (bank[s].into(), entry[s].into());
            }
        }
        self.valid_q = if running { valid } else { 0 };
    }
}

impl Block for StealCandidates {
    const NAME: &'static str = "steal_candidates";
    const PARAMETERS: &'static [&'static str] = &["Banks", "IssuePorts", "Depth"];

    type Shape = MrfShape;
    type In = StealCandidatesIn;
    type Out = StealCandidatesOut;
    type Probe = StealCandidatesProbe;

    fn new(shape: &MrfShape) -> Self {
        Self {
            shape: *shape,
            valid_q: 0,
            warp_q: [0; MAX_PORTS],
            leader_q: [0],
            bank_q: [0; MAX_SOURCES],
            entry_q: [0; MAX_SOURCES],
        }
    }

    fn early(&self, out: &mut StealCandidatesOut) {
        out.want_warp_o = only(&self.warp_q.map(|warp| warp as u8), self.valid_q);
    }

    fn late(&mut self, inputs: &StealCandidatesIn, out: &mut StealCandidatesOut) {
        let wants = self.wants(inputs.ready_i);
        out.want_valid_o = wants.valid;
        (out.want_bank_o, out.want_entry_o) = (only(&wants.bank, wants.valid), only(&wants.entry, wants.valid));
    }

    fn clock(&mut self, inputs: &StealCandidatesIn, _: &StealCandidatesOut) {
        self.advance(inputs.rst_ni != 0, inputs.candidate_valid_i, |p| Candidate {
            entry: std::array::from_fn(|s| inputs.candidate_entry_i[OPERANDS * p + s]),
            bank: std::array::from_fn(|s| inputs.candidate_bank_i[OPERANDS * p + s]),
            src_valid: inputs.candidate_src_valid_i >> (OPERANDS * p) & 0b111,
            warp: inputs.candidate_warp_i[p],
        });
    }

    fn probe(&self, _: &StealCandidatesIn, _: &StealCandidatesOut, probe: &mut StealCandidatesProbe) {
        *probe = self.state();
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let (sources, ports) = (self.shape.sources(), self.shape.issue_ports);
        let memory = |path: &str, words, bits| Memory { path: path.into(), block: Self::NAME, words, bits };
        vec![
            memory("warp_q", &mut self.warp_q[..ports], WARP_BITS),
            memory("leader_q", &mut self.leader_q, sources as u32),
            memory("bank_q", &mut self.bank_q[..sources], self.shape.bank_w()),
            memory("entry_q", &mut self.entry_q[..sources], self.shape.entry_w()),
        ]
    }
}

#[cfg(test)]
mod tests;
