//! `unified_shared`: scratchpad memory in the unified banks. `docs/blocks/unified_shared.md`.

use crate::memory::access::{Access, Answer, WORD, kind};
use crate::memory::rows::line_of;
use crate::memory::scratchpad::{PLACE_BITS, Results, lowest_of_words, replaced, served_at_once, window};
use crate::memory::{SharedMemoryIn, SharedMemoryOut, SharedMemoryProbe};
use crate::mrf::bits::{is_set, set_bits};
use crate::shape::SmShape;
use crate::unified::{CLUSTER_BYTES, CLUSTERS, SHARED_ROW_W, SharedReady, SharedWants};
use crate::{Block, Memory, WARP_DATA_BITS, WarpData, field, ports};

ports! {
    /// Inputs of [`UnifiedShared`].
    pub struct UnifiedSharedIn(s: &SmShape) {
        /// What was read at the last edge, 16 bytes of each cluster.
        data_i: WarpData = field(WARP_DATA_BITS),
        /// Clusters that are read at this edge.
        read_ready_i: u8 = field(CLUSTERS),
        /// Clusters that are written at this edge.
        write_ready_i: u8 = field(CLUSTERS),
    } +
    /// Those of a scratchpad with RAMs of its own.
    shared: SharedMemoryIn as s
}

ports! {
    /// Outputs of [`UnifiedShared`].
    pub struct UnifiedSharedOut(s: &SmShape) {
        /// What is written, 16 bytes of each cluster.
        data_o: WarpData = field(WARP_DATA_BITS).valid_by("write_o"),
        /// Number of the 128 bytes that each cluster accesses; 0 where it means nothing.
        row_o: [u16; CLUSTERS] = field(SHARED_ROW_W).count(CLUSTERS),
        /// Bytes of each cluster that are written.
        bytes_o: [u16; CLUSTERS] = field(CLUSTER_BYTES).count(CLUSTERS).valid_by("write_o"),
        /// Clusters that the pass wants to read.
        read_o: u8 = field(CLUSTERS),
        /// Clusters that the pass wants to write.
        write_o: u8 = field(CLUSTERS),
    } +
    /// Those of a scratchpad with RAMs of its own.
    shared: SharedMemoryOut as s
}

ports! {
    /// State of [`UnifiedShared`] that no output shows.
    pub struct UnifiedSharedProbe(s: &SmShape) {
        /// Words that the last atomic operation with a register has read.
        old_q: WarpData = field(WARP_DATA_BITS),
        /// Clusters that the atomic operation at hand has read.
        read_q: u8 = field(CLUSTERS).valid_by("phase_q"),
        /// The result in the first stage is an atomic operation's.
        first_atomic_q: u8 = field(1).valid_by("first_valid_q"),
    } +
    /// That of a scratchpad with RAMs of its own.
    shared: SharedMemoryProbe as s
}

/// What a pass wants of the banks, and whom it serves.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnifiedPass {
    selected: u32,
    /// Clusters of each lane of `selected`, which may be served by a pass that wants something.
    serves: bool,
    wants: SharedWants,
    ready: SharedReady,
    served: u32,
}

impl UnifiedPass {
    /// What it wants.
    #[inline]
    pub fn wants(&self) -> &SharedWants {
        &self.wants
    }

    /// Clusters in which it is served.
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
    (address >> 4) as usize % CLUSTERS
}

/// Number of the 128 bytes of an address.
#[inline]
fn row(address: u32) -> u16 {
    (address >> PLACE_BITS) as u16 & ((1 << SHARED_ROW_W) - 1)
}

/// Scratchpad memory whose words are in the unified banks, 16 bytes of each cluster a cycle (hierarchy thesis 7.3.2, the simple design).
///
/// In a cycle: what a pass wants ([`want`](Self::want)), whom it serves where so much is free ([`serve`](Self::serve)), and the edge.
pub struct UnifiedShared {
    phase_q: bool,
    read_q: u8,
    first_atomic_q: bool,
    /// A memory of one word for the harness.
    old_q: [WarpData; 1],
    results: Results,
    /// Of the last `late`, for the edge.
    pass: UnifiedPass,
}

impl UnifiedShared {
    /// The result.
    #[inline]
    pub fn result(&self) -> Option<&Answer> {
        self.results.result()
    }

    /// Whether nothing is on its way, so that an edge without an access does nothing.
    #[inline]
    pub fn idle(&self) -> bool {
        self.results.idle() && !self.phase_q
    }

    /// What a pass over these lanes wants; `bandwidth` is the strap, `room` says that the side queue has room, `data` is what was read at the last edge.
    pub fn want(&self, access: &Access<'_>, bandwidth: u8, room: bool, data: &WarpData) -> UnifiedPass {
        let second = access.kind == kind::ATOMIC && self.phase_q;
        if access.lanes == 0 || !(room || second || access.kind == kind::STORE) {
            return UnifiedPass::default();
        }
        let mut selected = served_at_once::<CLUSTERS>(window(access.lanes, bandwidth), |lane| {
            let address = access.addr.0[lane];
            (cluster(address), row(address).into())
        });
        if access.kind == kind::ATOMIC {
            selected = lowest_of_words(selected, access.addr);
        }
        let serves = access.kind != kind::ATOMIC || second;
        let mut pass = UnifiedPass { selected, serves, ..UnifiedPass::default() };
        let reads = if second { self.read_q } else { u8::MAX };
        let mut clusters = 0;
        for lane in set_bits(selected) {
            let address = access.addr.0[lane];
            let g = cluster(address);
            if is_set(reads, g) {
                clusters |= 1 << g;
                pass.wants.row[g] = row(address);
            }
        }
        match access.kind {
            kind::STORE => pass.write(access, access.size, selected, access.store, clusters),
            kind::ATOMIC if second => {
                let (mut words, mut lanes) = (WarpData::ZERO, 0);
                for lane in set_bits(selected) {
                    let address = access.addr.0[lane];
                    if is_set(clusters, cluster(address)) {
                        let old = data.0[place(address) / size_of::<u32>()];
                        words.0[lane] = replaced(access.atomic, old, access.store.0[lane], access.compare.0[lane]);
                        lanes |= 1 << lane;
                    }
                }
                pass.write(access, WORD, lanes, &words, clusters);
            }
            _ => pass.wants.read = clusters,
        }
        pass
    }

    /// Whom a pass serves in the clusters that are ready.
    #[inline]
    pub fn serve(&self, access: &Access<'_>, pass: &mut UnifiedPass, ready: SharedReady) {
        pass.ready = ready;
        let clusters = ready.read | ready.write;
        pass.served = 0;
        if !pass.serves || clusters == 0 {
            return;
        }
        for lane in set_bits(pass.selected) {
            pass.served |= u32::from(is_set(clusters, cluster(access.addr.0[lane]))) << lane;
        }
    }

    /// The edge: what is offered with its pass, whether no lane is left behind it, and what was read at the last edge.
    pub fn advance(&mut self, access: Option<(&Access<'_>, &UnifiedPass)>, last: bool, data: &WarpData) {
        let words = if self.first_atomic_q { &self.old_q[0] } else { data };
        self.results.collect(|place| words.0[place as usize / size_of::<u32>()]);
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

    /// Registers that no output shows.
    pub fn record(&self, probe: &mut UnifiedSharedProbe) {
        self.results.record(self.phase_q, &mut probe.shared);
        (probe.old_q, probe.read_q) = (self.old_q[0], if self.phase_q { self.read_q } else { 0 });
        probe.first_atomic_q = (probe.shared.first_valid_q != 0 && self.first_atomic_q).into();
    }

    /// An edge in reset, after everything else.
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
    /// It writes values of lanes.
    fn write(&mut self, access: &Access<'_>, size: u8, lanes: u32, values: &WarpData, clusters: u8) {
        let (bytes, data) = line_of(lanes, size.min(WORD), |lane| place(access.addr.0[lane]), values);
        self.wants.write = clusters;
        self.wants.bytes = std::array::from_fn(|g| (bytes >> (CLUSTER_BYTES * g)) as u16);
        self.wants.data = data;
    }
}

impl UnifiedSharedIn {
    fn ready(&self) -> SharedReady {
        SharedReady { read: self.read_ready_i, write: self.write_ready_i }
    }
}

impl UnifiedSharedOut {
    /// What a pass does, as the ports have it.
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
