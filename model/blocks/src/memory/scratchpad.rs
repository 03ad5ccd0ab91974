//! Functions of a scratchpad, wherever its words are stored: which lanes of a pass are served at once, atomic operations, and the two stages of results.

use crate::memory::access::{Access, Answer, Asked, atomic, extract};
use crate::memory::{SharedMemoryOut, SharedMemoryProbe};
use crate::mrf::bits::{is_set, set_bits};
use crate::{LANES, Ports, WarpData};

/// Width of a byte's place in a row of all banks.
pub(crate) const PLACE_BITS: u32 = 7;

/// The lanes that a pass considers, of those offered: all lanes, those of a half, or those of a quarter. `bandwidth`: the strap.
#[inline]
pub(crate) fn window(lanes: u32, bandwidth: u8) -> u32 {
    let lanes_at_once = LANES >> bandwidth.min(2);
    let group = lanes.trailing_zeros() as usize / lanes_at_once;
    lanes & (u32::MAX >> (LANES - lanes_at_once)) << (group * lanes_at_once)
}

/// The lanes of a window that are served at once: in each of `PARTS` parts, the lanes that want the row of its lowest lane. `place`: part and row of a
/// lane.
#[inline]
pub(crate) fn served_at_once<const PARTS: usize>(window: u32, place: impl Fn(usize) -> (usize, usize)) -> u32 {
    let (mut row_of, mut taken, mut selected) = ([0; PARTS], 0u32, 0);
    for lane in set_bits(window) {
        let (part, row) = place(lane);
        if !is_set(taken, part) {
            taken |= 1 << part;
            row_of[part] = row;
            selected |= 1 << lane;
        } else if row_of[part] == row {
            selected |= 1 << lane;
        }
    }
    selected
}

/// The lowest lane of each word, among the lanes that are served at once.
#[inline]
pub(crate) fn lowest_of_words(selected: u32, addr: &WarpData) -> u32 {
    let (mut words, mut lowest) = (0u32, 0);
    for lane in set_bits(selected) {
        let word = 1 << (addr.0[lane] >> 2 & 0x1f);
        if words & word == 0 {
            words |= word;
            lowest |= 1 << lane;
        }
    }
    lowest
}

/// The value with which an atomic operation replaces `old`.
pub(crate) fn replaced(operation: u8, old: u32, operand: u32, compare: u32) -> u32 {
    match operation {
        atomic::ADD => old.wrapping_add(operand),
        atomic::MIN_UNSIGNED => old.min(operand),
        atomic::MIN_SIGNED => old.cast_signed().min(operand.cast_signed()).cast_unsigned(),
        atomic::MAX_UNSIGNED => old.max(operand),
        atomic::MAX_SIGNED => old.cast_signed().max(operand.cast_signed()).cast_unsigned(),
        atomic::INC if old >= operand => 0,
        atomic::INC => old + 1,
        atomic::DEC if old == 0 || old > operand => operand,
        atomic::DEC => old - 1,
        atomic::AND => old & operand,
        atomic::OR => old | operand,
        atomic::XOR => old ^ operand,
        atomic::EXCH => operand,
        atomic::ADD_FLOAT => gpurf_arith::float::add(old, operand, gpurf_arith::Mode::IEEE),
        atomic::CAS if old == compare => operand,
        _ => old,
    }
}

/// Results in flight: in the first stage while their words are read, in the second one with their data.
#[derive(Clone)]
pub(crate) struct Results {
    first_q: Option<Asked>,
    place_q: [u8; LANES],
    result_valid_q: bool,
    result_q: Answer,
}

impl Results {
    /// Value before the first result.
    pub(crate) const NOTHING: Self =
        Self { first_q: None, place_q: [0; LANES], result_valid_q: false, result_q: Answer::NOTHING };

    /// The result.
    #[inline]
    pub(crate) fn result(&self) -> Option<&Answer> {
        self.result_valid_q.then_some(&self.result_q)
    }

    /// Whether nothing is in flight.
    #[inline]
    pub(crate) fn idle(&self) -> bool {
        self.first_q.is_none() && !self.result_valid_q
    }

    /// First part of the clock edge: the second stage takes the words of the first one. `word`: the word at a byte's place.
    #[inline]
    pub(crate) fn collect(&mut self, word: impl Fn(u32) -> u32) {
        let first = self.first_q.take();
        self.result_valid_q = first.is_some();
        let Some(Asked { header, size, signed }) = first else { return };
        self.result_q.header = header;
        if header.reg.is_some() {
            let mut data = WarpData::ZERO;
            for lane in set_bits(header.mask) {
                let place = u32::from(self.place_q[lane]);
                data.0[lane] = extract(word(place), place, size, signed);
            }
            self.result_q.data = data;
        }
    }

    /// Second part of the clock edge: lanes are served. Starts a result if the access returns one, and returns whether it does.
    #[inline]
    pub(crate) fn start(&mut self, access: &Access<'_>, served: u32, last: bool) -> bool {
        let starts = served != 0 && access.answers();
        if starts {
            self.first_q = Some(Asked::of(access, served, last));
            self.place_q = [0; LANES];
            for lane in set_bits(served) {
                self.place_q[lane] = access.addr.0[lane] as u8 % (1 << PLACE_BITS);
            }
        }
        starts
    }

    /// Clock edge in reset, after everything else.
    pub(crate) fn reset(&mut self) {
        (self.first_q, self.result_valid_q) = (None, false);
    }

    /// Shows the output ports.
    pub(crate) fn show(&self, out: &mut SharedMemoryOut) {
        *out = SharedMemoryOut::zeroed();
        if let Some(Answer { header, data }) = self.result() {
            out.result_valid_o = 1;
            (out.result_warp_o, out.result_mask_o, out.result_done_o) = (header.warp, header.mask, header.done.into());
            if let Some(reg) = header.reg {
                (out.result_reg_valid_o, out.result_reg_o, out.result_data_o) = (1, reg, *data);
            }
        }
    }

    /// Shows the registers that no output shows. `phase`: the banks hold the words of an atomic operation.
    pub(crate) fn record(&self, phase: bool, probe: &mut SharedMemoryProbe) {
        *probe = SharedMemoryProbe::zeroed();
        probe.phase_q = phase.into();
        if let Some(Asked { header, size, signed }) = self.first_q {
            probe.first_valid_q = 1;
            (probe.first_mask_q, probe.first_warp_q) = (header.mask, header.warp);
            (probe.first_reg_valid_q, probe.first_reg_q) =
                (header.reg.is_some().into(), header.reg.unwrap_or_default());
            (probe.first_size_q, probe.first_signed_q) = (size, signed.into());
            (probe.first_done_q, probe.place_q) = (header.done.into(), self.place_q);
        }
    }
}
