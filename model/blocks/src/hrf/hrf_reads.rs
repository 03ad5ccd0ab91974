//! `hrf_reads`: selects the operands that are read. `docs/blocks/hrf_reads.md`.

use super::hrf_operands::Fill;
use super::shape::{BUFFER_REG_BITS, HrfShape, PARITIES};
use crate::mrf::bits::{is_set, lowest, oldest, pack, set_bits};
use crate::mrf::{MAX_COLLECTORS, MAX_SLOTS};
use crate::{Block, Decode, LANES, LaneMask, OPERANDS, REG_BITS, WARP_BITS, field, ports};

/// Fields of `hrf_reads_event_t`, most significant first.
pub const HRF_READS_EVENT: &[(&str, u32)] = &[
    ("read", 1),
    ("read_groups", 4),
    ("conflict_intra", 6),
    ("conflict_inter", 6),
    ("conflict_read_write", 6),
    ("hit", 2),
    ("partial", 2),
    ("miss", 2),
    ("buffer_groups", 5),
];

ports! {
    /// Inputs of [`HrfReads`].
    pub struct HrfReadsIn(s: &HrfShape) {
        /// Slots that want their register.
        req_valid_i: u64 = field(s.mrf.slots()),
        /// Slots that hold a register.
        src_valid_i: u64 = field(s.mrf.slots()),
        /// Lanes of each collector.
        col_mask_i: [u32; MAX_COLLECTORS] = field(LANES).count(s.mrf.collectors),
        /// Lanes of each source's register that are in the buffer.
        lanes_i: [u32; OPERANDS] = field(LANES).count(OPERANDS).valid_by("hit_i"),
        /// Bit d of element c: collector d is older than c.
        older_i: [u16; MAX_COLLECTORS] = field(s.mrf.collectors).count(s.mrf.collectors),
        /// First entry of each collector's warp.
        col_base_i: [u16; MAX_COLLECTORS] = field(s.entry_w()).count(s.mrf.collectors),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Strap: read latency of a bank less 1.
        cfg_i: u8 = field(2),
        /// Nothing begins.
        frozen_i: u8 = field(1),
        /// Registers of the slots.
        req_reg_i: [u8; MAX_SLOTS] = field(REG_BITS).count(s.mrf.slots()).valid_by("src_valid_i"),
        /// Warps of the collectors.
        col_warp_i: [u8; MAX_COLLECTORS] = field(WARP_BITS).count(s.mrf.collectors),
        /// Sources whose register is in the buffer.
        hit_i: u8 = field(OPERANDS),
        /// Banks that could begin a read.
        read_ready_i: u8 = field(PARITIES),
        /// Banks to which a write is offered.
        write_valid_i: u8 = field(PARITIES),
    }
}

ports! {
    /// Outputs of [`HrfReads`].
    pub struct HrfReadsOut(s: &HrfShape) {
        /// Slots whose read is performed at this edge.
        grant_o: u64 = field(s.mrf.slots()),
        /// Events of this cycle: `hrf_reads_event_t`.
        event_o: u64 = field(34).shown(Decode::Packed(HRF_READS_EVENT)),
        /// Lanes of each source that come from the buffer.
        take_o: [u32; OPERANDS] = field(LANES).count(OPERANDS),
        /// Entry that the bank reads.
        stt_entry_o: u16 = field(s.entry_w()).valid_by("stt_valid_o"),
        /// Registers of the chosen instruction's sources.
        look_reg_o: [u8; OPERANDS] = field(BUFFER_REG_BITS).count(OPERANDS),
        /// Bank of the chosen instruction.
        bank_o: u8 = field(1),
        /// Banks that begin a read.
        stt_valid_o: u8 = field(PARITIES),
        /// Read ports of the buffer that read.
        buffer_o: u8 = field(OPERANDS),
        /// Source whose reads serve each source.
        port_o: [u8; OPERANDS] = field(2).count(OPERANDS),
    }
}

ports! {
    /// State of [`HrfReads`].
    pub struct HrfReadsProbe(s: &HrfShape) {
        /// Cycles until the read under way is granted.
        left_q: u8 = field(2),
        /// Source of the read in progress.
        source_q: u8 = field(2).valid_by("left_q"),
    }
}

/// The instruction that reads in a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// The collector of the instruction.
    pub(crate) collector: usize,
    /// Sources that still have to be read, and sources that are registers.
    pub(crate) wanted: u8,
    pub(crate) sources: u8,
    /// Registers of its sources.
    pub(crate) reg: [u8; OPERANDS],
    /// Active lanes.
    pub(crate) mask: u32,
    /// First entry of its warp.
    pub(crate) base: u16,
    /// The warp of the instruction.
    pub(crate) warp: u8,
}

impl Chosen {
    /// The number of the buffer and bank of the warp.
    #[inline]
    pub(crate) fn bank(&self) -> usize {
        usize::from(self.warp) % PARITIES
    }

    /// The register to look up for source `k`.
    #[inline]
    pub(crate) fn look(&self, k: usize) -> u8 {
        if is_set(self.wanted, k) { self.reg[k] & ((1 << BUFFER_REG_BITS) - 1) } else { 0 }
    }
}

/// The reads of a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reads {
    /// Slots whose read is granted, the buffer or bank that serves them, and the lanes that come from the buffer.
    pub(crate) fill: Fill,
    /// Read ports of the buffer that perform a read.
    pub(crate) buffer: u8,
    /// Bank and entry of the read that begins.
    pub(crate) stt: Option<(usize, u16)>,
    /// The source whose read begins.
    begins: Option<usize>,
    /// Events.
    pub(crate) event: u64,
}

/// The state of the banks in a cycle.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Banks {
    /// No read may begin.
    pub(crate) frozen: bool,
    /// Read latency less 1.
    pub(crate) latency: u8,
    /// Banks that could begin a read.
    pub(crate) read_ready: u8,
    /// Banks to which a write is offered.
    pub(crate) write_valid: u8,
}

/// Selects the instruction that reads, and its operands to read (hybrid paper 4.4): all that are whole in the buffer, and one of the others at a time.
#[derive(Clone, Debug)]
pub struct HrfReads {
    entry_bits: u16,
    left_q: u8,
    source_q: u8,
}

impl HrfReads {
    /// The collector that reads, among the collectors in `wanting`, which make requests.
    #[inline]
    pub(crate) fn choose(wanting: u16, older: &[u16; MAX_COLLECTORS]) -> Option<usize> {
        let one = lowest(oldest(wanting, older));
        (one != 0).then(|| one.trailing_zeros() as usize)
    }

    /// Whether no read of a bank is in progress.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.left_q == 0
    }

    /// Decides the reads. `hit`: sources in the buffer, with `lanes`; `requests`: number of requests of all collectors together.
    pub(crate) fn read(
        &self,
        chosen: Option<&Chosen>,
        hit: u8,
        lanes: &[u32; OPERANDS],
        banks: Banks,
        requests: u32,
    ) -> Reads {
        let Some(chosen) = chosen else {
            let inter = pack(HRF_READS_EVENT, [0, 0, 0, requests, 0, 0, 0, 0, 0]);
            return Reads { event: inter, ..Reads::default() };
        };
        let (mask, bank) = (chosen.mask, chosen.bank());
        let (mut whole, mut some) = (0u8, 0u8);
        for k in set_bits(hit & 0b111) {
            whole |= u8::from(mask & !lanes[k] == 0) << k;
            some |= u8::from(mask & lanes[k] != 0) << k;
        }
        let mut reads = Reads::default();
        reads.fill.bank = bank as u8;
        for k in set_bits(chosen.wanted) {
            reads.fill.take[k] = match (is_set(whole, k), is_set(some, k)) {
                (true, _) => u32::MAX,
                (false, true) => lanes[k],
                (false, false) => 0,
            };
        }
        for k in 0..OPERANDS {
            let same = |&j: &usize| is_set(chosen.sources, j) && chosen.reg[j] == chosen.reg[k];
            let leader = is_set(chosen.sources, k).then(|| (0..k).find(same)).flatten();
            reads.fill.port[k] = leader.unwrap_or(k) as u8;
        }

        // The granted sources, and the source whose read occupies the bank, whether it begins now or has begun before.
        let (mut grant, mut holds) = (0u8, None);
        if self.left_q != 0 {
            holds = Some(usize::from(self.source_q));
            if self.left_q == 1 {
                grant = chosen.wanted & (1u8 << self.source_q);
            }
        } else if !banks.frozen {
            grant = chosen.wanted & whole;
            let others = chosen.wanted & !whole;
            if others != 0 && is_set(banks.read_ready, bank) && !is_set(banks.write_valid, bank) {
                let s = others.trailing_zeros() as usize;
                let entry = chosen.base.wrapping_add(chosen.reg[s].into()) & self.entry_bits;
                (reads.stt, reads.begins, holds) = (Some((bank, entry)), Some(s), Some(s));
                if banks.latency == 0 {
                    grant |= 1 << s;
                }
            }
        }
        reads.fill.slots = u64::from(grant) << (OPERANDS * chosen.collector);
        reads.buffer = grant & (whole | some);

        let groups = |mask: u32| u32::from(LaneMask(mask).groups());
        let held = holds.map_or(0, |s| 1u8 << s);
        let waiting = (chosen.wanted & !grant & !held).count_ones();
        let (intra, read_write) = if holds.is_some() { (waiting, 0) } else { (0, waiting) };
        let begins = reads.stt.is_some();
        reads.event = pack(
            HRF_READS_EVENT,
            [
                begins.into(),
                if begins { groups(mask) } else { 0 },
                intra,
                requests - chosen.wanted.count_ones(),
                read_write,
                (grant & whole).count_ones(),
                (grant & some & !whole).count_ones(),
                (grant & !some & !whole).count_ones(),
                set_bits(reads.buffer).map(|k| groups(mask & lanes[k])).sum(),
            ],
        );
        reads
    }

    /// The clock edge.
    #[inline]
    pub(crate) fn advance(&mut self, running: bool, reads: &Reads, latency: u8) {
        match reads.begins {
            _ if self.left_q != 0 => self.left_q -= 1,
            Some(source) if latency != 0 => (self.left_q, self.source_q) = (latency, source as u8),
            _ => {}
        }
        if !running {
            self.left_q = 0;
        }
    }
}

impl Block for HrfReads {
    const NAME: &'static str = "hrf_reads";
    const PARAMETERS: &'static [&'static str] = &["Collectors", "Depth"];

    type Shape = HrfShape;
    type In = HrfReadsIn;
    type Out = HrfReadsOut;
    type Probe = HrfReadsProbe;

    fn new(shape: &HrfShape) -> Self {
        Self { entry_bits: shape.entry_bits(), left_q: 0, source_q: 0 }
    }

    fn early(&self, _: &mut HrfReadsOut) {}

    fn late(&mut self, inputs: &HrfReadsIn, out: &mut HrfReadsOut) {
        let chosen = inputs.chosen();
        let reads = self.reads_of(inputs, chosen.as_ref());
        out.look_reg_o = std::array::from_fn(|k| chosen.map_or(0, |chosen| chosen.look(k)));
        out.bank_o = reads.fill.bank;
        (out.stt_valid_o, out.stt_entry_o) = reads.stt.map_or((0, 0), |(bank, entry)| (1 << bank, entry));
        (out.grant_o, out.buffer_o) = (reads.fill.slots, reads.buffer);
        (out.port_o, out.take_o) = (reads.fill.port, reads.fill.take);
        out.event_o = reads.event;
    }

    fn clock(&mut self, inputs: &HrfReadsIn, _: &HrfReadsOut) {
        let reads = self.reads_of(inputs, inputs.chosen().as_ref());
        self.advance(inputs.rst_ni != 0, &reads, inputs.cfg_i);
    }

    fn probe(&self, _: &HrfReadsIn, _: &HrfReadsOut, probe: &mut HrfReadsProbe) {
        probe.left_q = self.left_q;
        probe.source_q = if self.left_q != 0 { self.source_q } else { 0 };
    }
}

impl HrfReads {
    fn reads_of(&self, inputs: &HrfReadsIn, chosen: Option<&Chosen>) -> Reads {
        let banks = Banks {
            frozen: inputs.frozen_i != 0,
            latency: inputs.cfg_i,
            read_ready: inputs.read_ready_i,
            write_valid: inputs.write_valid_i,
        };
        self.read(chosen, inputs.hit_i, &inputs.lanes_i, banks, inputs.req_valid_i.count_ones())
    }
}

impl HrfReadsIn {
    /// The instruction that is selected to read.
    fn chosen(&self) -> Option<Chosen> {
        let bits_of = |slots: u64, c: usize| (slots >> (OPERANDS * c)) as u8 & 0b111;
        let wanting = (0..MAX_COLLECTORS).fold(0, |set, c| set | u16::from(bits_of(self.req_valid_i, c) != 0) << c);
        let c = HrfReads::choose(wanting, &self.older_i)?;
        Some(Chosen {
            collector: c,
            wanted: bits_of(self.req_valid_i, c),
            sources: bits_of(self.src_valid_i, c),
            reg: std::array::from_fn(|k| self.req_reg_i[OPERANDS * c + k]),
            mask: self.col_mask_i[c],
            base: self.col_base_i[c],
            warp: self.col_warp_i[c],
        })
    }
}

#[cfg(test)]
mod tests;
