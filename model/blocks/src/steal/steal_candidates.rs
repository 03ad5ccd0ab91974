//! `steal_candidates`: the operands that will be wanted next. `docs/blocks/steal_candidates.md`.

use super::MAX_SOURCES;
use super::steal_collector::leaders;
use crate::mrf::bits::{only, set_bits};
use crate::mrf::{MAX_PORTS, MrfShape};
use crate::{Block, OPERANDS, WARP_BITS, field, ports};

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
        /// Its warp.
        candidate_warp_i: [u8; MAX_PORTS] =
            field(WARP_BITS).count(s.issue_ports).valid_by("candidate_valid_i"),
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
    /// State of [`StealCandidates`] that no output shows. (Leaders are shown by what is wanted.)
    pub struct StealCandidatesProbe(s: &MrfShape) {
        /// Port p had a candidate.
        valid_q: u8 = field(s.issue_ports),
    }
}

/// A candidate: sources that are registers, and where these are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) entry: [u16; OPERANDS],
    pub(crate) bank: [u8; OPERANDS],
    pub(crate) src_valid: u8,
    pub(crate) warp: u8,
}

/// Operands of candidates: those that are wanted, and where each of them is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wants {
    pub(crate) entry: [u16; MAX_SOURCES],
    pub(crate) bank: [u8; MAX_SOURCES],
    pub(crate) valid: u8,
}

/// The latch of the arbitration stage for the instructions that probably issue next: of each port's candidate the operands, mapped to banks (stealing paper, IV-B2, figure 7).
#[derive(Debug, Default)]
pub struct StealCandidates {
    valid_q: u8,
    warp_q: [u8; MAX_PORTS],
    leader_q: u8,
    bank_q: [u8; MAX_SOURCES],
    entry_q: [u16; MAX_SOURCES],
}

impl StealCandidates {
    /// Ports that had a candidate.
    #[inline]
    pub(crate) fn valid(&self) -> u8 {
        self.valid_q
    }

    /// Warp of port `p`'s candidate.
    #[inline]
    pub(crate) fn warp(&self, p: usize) -> u8 {
        self.warp_q[p]
    }

    /// What is wanted, if these ports have a collector.
    #[inline]
    pub(crate) fn wants(&self, ready: u8) -> Wants {
        let ports = set_bits(self.valid_q & ready).fold(0, |sources, p| sources | 0b111 << (OPERANDS * p));
        Wants { entry: self.entry_q, bank: self.bank_q, valid: self.leader_q & ports }
    }

    /// The edge: the candidate of each port, if it has one. Payload is taken in reset, too.
    #[inline]
    pub(crate) fn advance(&mut self, running: bool, valid: u8, candidate: impl Fn(usize) -> Candidate) {
        for p in set_bits(valid) {
            let Candidate { entry, bank, src_valid, warp } = candidate(p);
            let leader = leaders(src_valid, &bank, &entry);
            let own = set_bits(src_valid).fold(0, |own, s| own | u8::from(usize::from(leader[s]) == s) << s);
            self.leader_q = self.leader_q & !(0b111 << (OPERANDS * p)) | own << (OPERANDS * p);
            self.warp_q[p] = warp;
            for s in set_bits(src_valid) {
                (self.bank_q[OPERANDS * p + s], self.entry_q[OPERANDS * p + s]) = (bank[s], entry[s]);
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

    fn new(_: &MrfShape) -> Self {
        Self::default()
    }

    fn early(&self, out: &mut StealCandidatesOut) {
        out.want_warp_o = only(&self.warp_q, self.valid_q);
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
        probe.valid_q = self.valid_q;
    }
}

#[cfg(test)]
mod tests;
