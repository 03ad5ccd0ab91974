//! `unified_shared`: scratchpad memory in the unified banks. `docs/blocks/unified_shared.md`.

use crate::memory::access::{Access, Answer, WORD, kind};
use crate::memory::rows::line_of;
use crate::memory::scratchpad::{PLACE_BITS, Results, lowest_of_words, replaced, served_at_once, window};
use crate::memory::{SharedMemoryIn, SharedMemoryOut, SharedMemoryProbe};
use crate::mrf::bits::{is_set, set_bits};
use crate::shape::SmShape;
use crate::unified::{BANKS, CLUSTERS, COLUMNS, SHARED_ROW_W, SharedReady, SharedWants, WORD_BYTES, WORDS};
use crate::{Block, Field, GROUP_LANES, Memory, Ports, WARP_DATA_BITS, WarpData, field, ports};

/// Width of the straps: those of a scratchpad with RAMs of its own, and the rule of gathering in the bits above.
const CFG_BITS: u32 = 3;
/// Bit of the straps: a cluster combines its bytes from several of its banks.
const AGGRESSIVE: usize = 2;

ports! {
    @declared
    /// Inputs of [`UnifiedShared`].
    pub struct UnifiedSharedIn(s: &SmShape) {
        /// Data that was read at the last edge, a word at each place.
        data_i: WarpData = field(WARP_DATA_BITS),
        /// Word places that are read at this edge.
        read_ready_i: u32 = field(WORDS),
        /// Word places that are written at this edge.
        write_ready_i: u32 = field(WORDS),
    } +
    /// Those of a scratchpad with RAMs of its own.
    shared: SharedMemoryIn as s
}

// SAFETY: `repr(C)`, made of integers and of a struct of ports.
unsafe impl Ports for UnifiedSharedIn {
    type Shape = SmShape;

    /// The fields of a scratchpad with RAMs of its own, but with a wider strap.
    fn fields(s: &SmShape) -> Vec<Field> {
        let mut fields = Self::declared(s);
        let strap = fields.iter_mut().find(|field| field.name == "cfg_i").expect("a scratchpad has straps");
        (strap.bits, strap.doc) =
            (CFG_BITS, "Straps: bits 1:0 bytes a cycle, 128, 64 or 32; bit 2: aggressive gathering.");
        fields
    }
}

ports! {
    /// Outputs of [`UnifiedShared`].
    pub struct UnifiedSharedOut(s: &SmShape) {
        /// Data that is written, a word at each place.
        data_o: WarpData = field(WARP_DATA_BITS).valid_by("write_o"),
        /// Number of the 128 bytes that the word at each place is in; 0 where it means nothing.
        row_o: [u16; WORDS] = field(SHARED_ROW_W).count(WORDS),
        /// Word places that the pass wants to read.
        read_o: u32 = field(WORDS),
        /// Word places that the pass wants to write.
        write_o: u32 = field(WORDS),
        /// Bytes of each word that are written.
        bytes_o: [u8; WORDS] = field(WORD_BYTES).count(WORDS).valid_by("write_o"),
    } +
    /// Those of a scratchpad with RAMs of its own.
    shared: SharedMemoryOut as s
}

ports! {
    /// State of [`UnifiedShared`] that no output shows.
    pub struct UnifiedSharedProbe(s: &SmShape) {
        /// Words that the last atomic operation with a register has read.
        old_q: WarpData = field(WARP_DATA_BITS),
        /// Word places that the atomic operation at hand has read.
        read_q: u32 = field(WORDS).valid_by("phase_q"),
        /// The result in the first stage is that of an atomic operation.
        first_atomic_q: u8 = field(1).valid_by("first_valid_q"),
    } +
    /// That of a scratchpad with RAMs of its own.
    shared: SharedMemoryProbe as s
}

/// Accesses to the banks that a pass wants, and the lanes that it serves.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnifiedPass {
    selected: u32,
    /// Lanes of `selected` are served in this cycle, where their accesses are free.
    serves: bool,
    wants: SharedWants,
    ready: SharedReady,
    served: u32,
}

impl UnifiedPass {
    /// The accesses that the pass wants.
    #[inline]
    pub fn wants(&self) -> &SharedWants {
        &self.wants
    }

    /// Word places at which the pass is served.
    #[inline]
    pub fn ready(&self) -> SharedReady {
        self.ready
    }

    /// Lanes that are served.
    #[inline]
    pub fn served(&self) -> u32 {
        self.served
    }
}

/// Cluster of an address.
#[inline]
fn cluster(address: u32) -> usize {
    word(address) / GROUP_LANES
}

/// Word place of an address.
#[inline]
fn word(address: u32) -> usize {
    address as usize / WORD_BYTES % WORDS
}

/// Number of the 128-byte row of an address.
#[inline]
fn row(address: u32) -> u16 {
    (address >> PLACE_BITS) as u16 & ((1 << SHARED_ROW_W) - 1)
}

/// Bits of the straps: bytes a cycle.
const BANDWIDTH: u8 = 3;

/// The lanes of a window that are served at once where each cluster has one row, that of its lowest lane; for an atomic operation, one lane of each word.
fn of_lowest_rows(window: u32, access: &Access<'_>) -> u32 {
    let selected = served_at_once::<CLUSTERS>(window, |lane| {
        let address = access.addr.0[lane];
        (cluster(address), row(address).into())
    });
    if access.kind == kind::ATOMIC { lowest_of_words(selected, access.addr) } else { selected }
}

/// Contents of numbered places: each place takes one row.
struct Rows<const N: usize> {
    taken: u32,
    row: [u16; N],
}

impl<const N: usize> Rows<N> {
    const NONE: Self = Self { taken: 0, row: [0; N] };

    /// Whether a place is free, or has this row.
    #[inline]
    fn admits(&self, place: usize, row: u16) -> bool {
        !is_set(self.taken, place) || self.row[place] == row
    }

    #[inline]
    fn take(&mut self, place: usize, row: u16) {
        self.taken |= 1 << place;
        self.row[place] = row;
    }
}

/// The lanes of a window that are served at once where a cluster combines words of several banks: from the lowest lane up, those that want no other word of a
/// word place than an earlier lane, and no other row of a bank. An atomic operation also excludes a word that an earlier lane wants.
fn gathered(window: u32, access: &Access<'_>) -> u32 {
    let (mut words, mut banks) = (Rows::<WORDS>::NONE, Rows::<BANKS>::NONE);
    let mut selected = 0;
    for lane in set_bits(window) {
        let address = access.addr.0[lane];
        let (w, row) = (word(address), row(address));
        let bank = CLUSTERS * (usize::from(row) % COLUMNS) + w / GROUP_LANES;
        let again = access.kind == kind::ATOMIC && is_set(words.taken, w);
        if !again && words.admits(w, row) && banks.admits(bank, row) {
            selected |= 1 << lane;
            words.take(w, row);
            banks.take(bank, row);
        }
    }
    selected
}

/// Scratchpad memory whose words are in the unified banks, 16 bytes of each cluster a cycle (hierarchy thesis 7.3.2).
///
/// In a cycle: the accesses that a pass wants ([`want`](Self::want)), the lanes served where these are free ([`serve`](Self::serve)), and the edge.
#[derive(Clone)]
pub struct UnifiedShared {
    phase_q: bool,
    read_q: u32,
    first_atomic_q: bool,
    /// The harness sees this as a memory of one word.
    old_q: [WarpData; 1],
    results: Results,
    /// Set by the last `late`, used at the clock edge.
    pass: UnifiedPass,
}

impl UnifiedShared {
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

    /// The accesses that a pass over these lanes wants; `cfg`: the straps; `room`: the side queue has room; `data`: the data read at the last edge.
    pub fn want(&self, access: &Access<'_>, cfg: u8, room: bool, data: &WarpData) -> UnifiedPass {
        let second = access.kind == kind::ATOMIC && self.phase_q;
        if access.lanes == 0 || !(room || second || access.kind == kind::STORE) {
            return UnifiedPass::default();
        }
        let window = window(access.lanes, cfg & BANDWIDTH);
        let selected = if is_set(cfg, AGGRESSIVE) { gathered(window, access) } else { of_lowest_rows(window, access) };
        let serves = access.kind != kind::ATOMIC || second;
        let mut pass = UnifiedPass { selected, serves, ..UnifiedPass::default() };
        let reads = if second { self.read_q } else { u32::MAX };
        let mut wanted = 0;
        for lane in set_bits(selected) {
            let address = access.addr.0[lane];
            let w = word(address);
            if is_set(reads, w) {
                wanted |= 1 << w;
                pass.wants.row[w] = row(address);
            }
        }
        match access.kind {
            kind::STORE => pass.write(access, access.size, selected, access.store, wanted),
            kind::ATOMIC if second => {
                let (mut words, mut lanes) = (WarpData::ZERO, 0);
                for lane in set_bits(selected) {
                    let address = access.addr.0[lane];
                    if is_set(wanted, word(address)) {
                        let old = data.0[word(address)];
                        words.0[lane] = replaced(access.atomic, old, access.store.0[lane], access.compare.0[lane]);
                        lanes |= 1 << lane;
                    }
                }
                pass.write(access, WORD, lanes, &words, wanted);
            }
            _ => pass.wants.read = wanted,
        }
        pass
    }

    /// Decides which lanes a pass serves at the word places that are ready.
    #[inline]
    pub fn serve(&self, access: &Access<'_>, pass: &mut UnifiedPass, ready: SharedReady) {
        pass.ready = ready;
        let words = ready.read | ready.write;
        pass.served = 0;
        if !pass.serves || words == 0 {
            return;
        }
        for lane in set_bits(pass.selected) {
            pass.served |= u32::from(is_set(words, word(access.addr.0[lane]))) << lane;
        }
    }

    /// Clock edge: the access that is offered with its pass, whether no lane is left after it, and the data read at the last edge.
    pub fn advance(&mut self, access: Option<(&Access<'_>, &UnifiedPass)>, last: bool, data: &WarpData) {
        let words = if self.first_atomic_q { &self.old_q[0] } else { data };
        self.results.collect(|place| words.0[place as usize / WORD_BYTES]);
        let phase = self.phase_q;
        self.phase_q = false;
        let Some((access, pass)) = access else { return };
        let atomic = access.kind == kind::ATOMIC;
        if atomic && !phase && pass.ready.read != 0 {
            (self.phase_q, self.read_q) = (true, pass.ready.read);
        }
        if atomic && phase && access.reg.is_some() {
            self.old_q[0] = *data;
        }
        if self.results.start(access, pass.served, last) {
            self.first_atomic_q = atomic;
        }
    }

    /// Records the registers that no output shows.
    pub fn record(&self, probe: &mut UnifiedSharedProbe) {
        self.results.record(self.phase_q, &mut probe.shared);
        (probe.old_q, probe.read_q) = (self.old_q[0], if self.phase_q { self.read_q } else { 0 });
        probe.first_atomic_q = (probe.shared.first_valid_q != 0 && self.first_atomic_q).into();
    }

    /// Clock edge in reset, after everything else.
    pub fn reset(&mut self) {
        self.phase_q = false;
        self.results.reset();
    }
}

/// Place of an address in a row of all clusters.
#[inline]
fn place(address: u32) -> usize {
    address as usize % (1 << PLACE_BITS)
}

impl UnifiedPass {
    /// Sets the writes of lanes' values.
    fn write(&mut self, access: &Access<'_>, size: u8, lanes: u32, values: &WarpData, words: u32) {
        let (bytes, data) = line_of(lanes, size.min(WORD), |lane| place(access.addr.0[lane]), values);
        self.wants.write = words;
        self.wants.bytes = std::array::from_fn(|w| (bytes >> (WORD_BYTES * w)) as u8 & 0xf);
        self.wants.data = data;
    }
}

impl UnifiedSharedIn {
    fn ready(&self) -> SharedReady {
        SharedReady { read: self.read_ready_i, write: self.write_ready_i }
    }
}

impl UnifiedSharedOut {
    /// Shows a pass, in the form of the ports.
    pub fn show(&mut self, pass: &UnifiedPass) {
        let SharedWants { read, write, row, bytes, data } = pass.wants;
        (self.read_o, self.write_o, self.row_o, self.bytes_o, self.data_o) = (read, write, row, bytes, data);
        self.shared.served_o = pass.served;
    }
}

impl Block for UnifiedShared {
    const NAME: &'static str = "unified_shared";
    const PARAMETERS: &'static [&'static str] = &[];

    type Shape = SmShape;
    type In = UnifiedSharedIn;
    type Out = UnifiedSharedOut;
    type Probe = UnifiedSharedProbe;

    fn new(_: &SmShape) -> Self {
        Self {
            phase_q: false,
            read_q: 0,
            first_atomic_q: false,
            old_q: [WarpData::ZERO],
            results: Results::NOTHING,
            pass: UnifiedPass::default(),
        }
    }

    fn early(&self, out: &mut UnifiedSharedOut) {
        self.results.show(&mut out.shared);
    }

    fn late(&mut self, inputs: &UnifiedSharedIn, out: &mut UnifiedSharedOut) {
        self.pass = UnifiedPass::default();
        if let Some(access) = inputs.shared.access() {
            let mut pass = self.want(&access, inputs.shared.cfg_i, inputs.shared.room_i != 0, &inputs.data_i);
            self.serve(&access, &mut pass, inputs.ready());
            self.pass = pass;
        }
        out.show(&self.pass);
    }

    fn clock(&mut self, inputs: &UnifiedSharedIn, _: &UnifiedSharedOut) {
        let access = inputs.shared.access();
        let pass = self.pass;
        self.advance(access.as_ref().map(|access| (access, &pass)), inputs.shared.last_i != 0, &inputs.data_i);
        if inputs.shared.rst_ni == 0 {
            self.reset();
        }
    }

    fn probe(&self, _: &UnifiedSharedIn, _: &UnifiedSharedOut, probe: &mut UnifiedSharedProbe) {
        self.record(probe);
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        vec![Memory::of_warps("old_q", Self::NAME, &mut self.old_q)]
    }
}

#[cfg(test)]
mod tests;
