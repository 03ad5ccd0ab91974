//! `shared_memory`: 32 banks of four bytes. `docs/blocks/shared_memory.md`.

use crate::memory::access::{Access, Answer, WORD, kind};
use crate::memory::scratchpad::{PLACE_BITS, Results, lowest_of_words, replaced, served_at_once, window};
use crate::mrf::bits::set_bits;
use crate::shape::SmShape;
use crate::{Block, LANES, Memory, REG_BITS, WARP_BITS, WarpData, field, ports};

/// Banks of shared memory.
pub const SHARED_BANKS: usize = 32;

ports! {
    /// Inputs of [`SharedMemory`].
    pub struct SharedMemoryIn(s: &SmShape) {
        /// Address of each lane.
        addr_i: WarpData = field(1024).valid_by("valid_i"),
        /// Source c of each lane.
        store_i: WarpData = field(1024).valid_by("valid_i"),
        /// Source b of each lane.
        compare_i: WarpData = field(1024).valid_by("valid_i"),
        /// Lanes that are offered.
        lanes_i: u32 = field(32).valid_by("valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Strap: bytes a cycle, 128, 64 or 32.
        cfg_i: u8 = field(2),
        /// Lanes are offered.
        valid_i: u8 = field(1),
        /// The side queue has room.
        room_i: u8 = field(1),
        /// Warp of the lanes that are offered.
        warp_i: u8 = field(WARP_BITS).valid_by("valid_i"),
        /// Kind of access: 0 load, 1 store, 2 atomic operation.
        kind_i: u8 = field(2).valid_by("valid_i"),
        /// Bytes as a power of two.
        size_i: u8 = field(2).valid_by("valid_i"),
        /// Sign extension.
        signed_i: u8 = field(1).valid_by("valid_i"),
        /// Atomic operation.
        atomic_i: u8 = field(4).valid_by("valid_i"),
        /// A register is written.
        reg_valid_i: u8 = field(1).valid_by("valid_i"),
        /// Register that is written.
        reg_i: u8 = field(REG_BITS).valid_by("reg_valid_i"),
        /// No lane is left after this pass.
        last_i: u8 = field(1).valid_by("valid_i"),
    }
}

ports! {
    /// Outputs of [`SharedMemory`].
    pub struct SharedMemoryOut(s: &SmShape) {
        /// Lanes of the register.
        result_data_o: WarpData = field(1024).valid_by("result_reg_valid_o").early().shows("data_q"),
        /// Lanes served at this edge.
        served_o: u32 = field(32),
        /// Lanes of the result.
        result_mask_o: u32 = field(32).valid_by("result_valid_o").early().shows("mask_q"),
        /// A result is offered.
        result_valid_o: u8 = field(1).early().shows("result_valid_q"),
        /// Warp of the result.
        result_warp_o: u8 = field(WARP_BITS).valid_by("result_valid_o").early().shows("warp_q"),
        /// The result is the last of its instruction.
        result_done_o: u8 = field(1).valid_by("result_valid_o").early().shows("done_q"),
        /// A register is written.
        result_reg_valid_o: u8 = field(1).early().shows_while("reg_valid_q", "result_valid_o"),
        /// Register of the result.
        result_reg_o: u8 = field(REG_BITS).valid_by("result_reg_valid_o").early().shows("reg_q"),
    }
}

ports! {
    /// State of [`SharedMemory`] that no output shows.
    pub struct SharedMemoryProbe(s: &SmShape) {
        /// Lanes of the first stage.
        first_mask_q: u32 = field(32).valid_by("first_valid_q"),
        /// The banks hold the words of an atomic operation.
        phase_q: u8 = field(1),
        /// The first stage has something.
        first_valid_q: u8 = field(1),
        /// Warp in the first stage.
        first_warp_q: u8 = field(WARP_BITS).valid_by("first_valid_q"),
        /// A register is written.
        first_reg_valid_q: u8 = field(1).valid_by("first_valid_q"),
        /// Register that is written.
        first_reg_q: u8 = field(REG_BITS).valid_by("first_reg_valid_q"),
        /// Bytes as a power of two.
        first_size_q: u8 = field(2).valid_by("first_valid_q"),
        /// Sign extension.
        first_signed_q: u8 = field(1).valid_by("first_valid_q"),
        /// The result in the first stage is the last of its instruction.
        first_done_q: u8 = field(1).valid_by("first_valid_q"),
        /// Place of each lane's first byte in a row of all banks.
        place_q: [u8; LANES] = field(PLACE_BITS).count(LANES).valid_by("first_valid_q"),
    }
}

/// The lanes of a pass.
#[derive(Clone, Copy, Debug, Default)]
pub struct SharedPass {
    selected: u32,
    served: u32,
}

impl SharedPass {
    /// Lanes that are served.
    #[inline]
    pub fn served(&self) -> u32 {
        self.served
    }
}

/// Shared memory: 32 banks of 4 bytes (hierarchy thesis 2.4.2), 128 bytes a cycle, or less by a strap (its table 4.4 says 32). A
/// pass serves one word of each bank: the word of the bank's lowest lane left, for all lanes that want this word.
#[derive(Clone)]
pub struct SharedMemory {
    rows: usize,
    /// Mask for the row of an address: the number of rows need not be a power of two.
    row_mask: usize,
    /// Distance between two banks in `words`.
    stride: usize,
    words: Box<[u32]>,
    rdata_q: [u32; SHARED_BANKS],
    phase_q: bool,
    results: Results,
    /// Set by the last `late`, used at the clock edge.
    pass: SharedPass,
}

/// Unused words after each bank, so that one row of all banks does not fall into one set of the host's cache.
const PAD: usize = 16;

/// Bank of an address.
#[inline]
fn bank(address: u32) -> usize {
    (address >> 2) as usize % SHARED_BANKS
}

impl SharedMemory {
    /// The result.
    #[inline]
    pub fn result(&self) -> Option<&Answer> {
        self.results.result()
    }

    /// Whether nothing is in flight, so that an edge without an access does nothing.
    #[inline]
    pub fn idle(&self) -> bool {
        self.results.idle() && !self.phase_q
    }

    /// What a pass over these lanes does; `bandwidth` is the strap, `room` says that the side queue has room.
    pub fn pass(&self, access: &Access<'_>, bandwidth: u8, room: bool) -> SharedPass {
        let starts = match access.kind {
            kind::STORE => true,
            kind::ATOMIC => room || self.phase_q,
            _ => room,
        };
        if !starts || access.lanes == 0 {
            return SharedPass::default();
        }
        let selected = self.select(access, bandwidth);
        let serves = access.kind != kind::ATOMIC || self.phase_q;
        SharedPass { selected, served: if serves { selected } else { 0 } }
    }

    /// The lanes to serve: for each bank the word of its lowest lane in the window, for all lanes of the window that want it;
    /// for an atomic operation that lane alone.
    #[inline]
    fn select(&self, access: &Access<'_>, bandwidth: u8) -> u32 {
        let selected = served_at_once::<SHARED_BANKS>(window(access.lanes, bandwidth), |lane| {
            let address = access.addr.0[lane];
            (bank(address), self.row(address))
        });
        if access.kind == kind::ATOMIC { lowest_of_words(selected, access.addr) } else { selected }
    }

    /// Clock edge: the access that is offered with its pass, and whether no lane is left after it.
    pub fn advance(&mut self, access: Option<(&Access<'_>, SharedPass)>, last: bool) {
        self.results.collect(|place| self.rdata_q[bank(place)]);
        let phase = self.phase_q;
        self.phase_q = false;
        let Some((access, SharedPass { selected, served })) = access else { return };
        match access.kind {
            kind::STORE => self.store(access, selected),
            kind::ATOMIC if phase => self.replace(access, selected),
            kind::ATOMIC => {
                self.phase_q = selected != 0;
                self.read(access, selected);
            }
            _ => self.read(access, selected),
        }
        self.results.start(access, served, last);
    }

    /// Clock edge in reset: the banks have no reset.
    pub fn reset(&mut self, access: Option<(&Access<'_>, SharedPass)>) {
        self.advance(access, false);
        self.phase_q = false;
        self.results.reset();
    }

    fn row(&self, address: u32) -> usize {
        (address >> PLACE_BITS) as usize & self.row_mask
    }

    fn word(&mut self, address: u32) -> &mut u32 {
        &mut self.words[bank(address) * self.stride + self.row(address)]
    }

    fn read(&mut self, access: &Access<'_>, lanes: u32) {
        for lane in set_bits(lanes) {
            let address = access.addr.0[lane];
            self.rdata_q[bank(address)] = *self.word(address);
        }
    }

    /// Writes in ascending order of the lanes, so that the highest lane's bytes remain.
    fn store(&mut self, access: &Access<'_>, lanes: u32) {
        let bytes = u32::MAX >> (u32::BITS - (u8::BITS << access.size.min(WORD)));
        for lane in set_bits(lanes) {
            let address = access.addr.0[lane];
            let shift = u8::BITS * (address & 3);
            let word = self.word(address);
            *word = *word & !(bytes << shift) | (access.store.0[lane] & bytes) << shift;
        }
    }

    /// Performs the second cycle of an atomic operation.
    fn replace(&mut self, access: &Access<'_>, lanes: u32) {
        for lane in set_bits(lanes) {
            let address = access.addr.0[lane];
            let old = self.rdata_q[bank(address)];
            *self.word(address) = replaced(access.atomic, old, access.store.0[lane], access.compare.0[lane]);
        }
    }

    /// The words and the output of each bank.
    pub(crate) fn cells(&mut self) -> impl Iterator<Item = (usize, &mut [u32], &mut [u32])> {
        let rows = self.rows;
        let banks = self.words.chunks_exact_mut(self.stride).zip(self.rdata_q.chunks_exact_mut(1)).enumerate();
        banks.map(move |(bank, (words, rdata))| (bank, &mut words[..rows], rdata))
    }
}

impl SharedMemoryIn {
    /// The access that is offered.
    pub(crate) fn access(&self) -> Option<Access<'_>> {
        (self.valid_i != 0).then(|| Access {
            lanes: self.lanes_i,
            warp: self.warp_i,
            kind: self.kind_i,
            size: self.size_i,
            signed: self.signed_i != 0,
            atomic: self.atomic_i,
            reg: (self.reg_valid_i != 0).then_some(self.reg_i),
            addr: &self.addr_i,
            store: &self.store_i,
            compare: &self.compare_i,
            bypass: false,
            texture: 0,
        })
    }
}

impl Block for SharedMemory {
    const NAME: &'static str = "shared_memory";
    const PARAMETERS: &'static [&'static str] = &["SharedWords"];
    const CELLS: &'static [&'static str] = &["ram_1rw"];

    type Shape = SmShape;
    type In = SharedMemoryIn;
    type Out = SharedMemoryOut;
    type Probe = SharedMemoryProbe;

    fn new(shape: &SmShape) -> Self {
        let rows = shape.shared_words / SHARED_BANKS;
        let stride = rows + PAD;
        Self {
            rows,
            row_mask: rows.next_power_of_two() - 1,
            stride,
            words: vec![0; SHARED_BANKS * stride].into(),
            rdata_q: [0; SHARED_BANKS],
            phase_q: false,
            results: Results::NOTHING,
            pass: SharedPass::default(),
        }
    }

    fn early(&self, out: &mut SharedMemoryOut) {
        self.results.show(out);
    }

    fn late(&mut self, inputs: &SharedMemoryIn, out: &mut SharedMemoryOut) {
        self.pass = inputs
            .access()
            .map_or_else(SharedPass::default, |access| self.pass(&access, inputs.cfg_i, inputs.room_i != 0));
        out.served_o = self.pass.served();
    }

    fn clock(&mut self, inputs: &SharedMemoryIn, _: &SharedMemoryOut) {
        let access = inputs.access();
        let access = access.as_ref().map(|access| (access, self.pass));
        if inputs.rst_ni == 0 {
            self.reset(access);
        } else if access.is_some() || !self.idle() {
            self.advance(access, inputs.last_i != 0);
        }
    }

    fn probe(&self, _: &SharedMemoryIn, _: &SharedMemoryOut, probe: &mut SharedMemoryProbe) {
        self.results.record(self.phase_q, probe);
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let memory = |path: String, words| Memory { path, block: Self::NAME, words, bits: u32::BITS };
        self.cells()
            .flat_map(|(bank, words, rdata)| {
                let of = |name: &str| format!("gen_bank[{bank}].u_ram.{name}");
                [memory(of("mem_q"), words), memory(of("rdata_q"), rdata)]
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
