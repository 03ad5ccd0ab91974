//! `unified_bank`: one column of the unified banks. `docs/blocks/unified_bank.md`.

use crate::mrf::MrfShape;
use crate::mrf::bits::{is_set, set_bits};
use crate::ram::select_bytes;
use crate::unified::{CLUSTER_BYTES, CLUSTERS};
use crate::{Block, GROUP_LANES, LaneMask, Memory, NoProbe, WARP_DATA_BITS, WarpData, field, ports};

ports! {
    /// Inputs of [`UnifiedBank`].
    pub struct UnifiedBankIn(s: &MrfShape) {
        /// Lanes of a register that is written.
        write_data_i: WarpData = field(WARP_DATA_BITS).valid_by("write_valid_i"),
        /// Data that is written for memory, 16 bytes of each cluster.
        memory_write_data_i: WarpData = field(WARP_DATA_BITS).valid_by("memory_write_i"),
        /// Lanes of a register that are written.
        write_mask_i: u32 = field(32).valid_by("write_valid_i"),
        /// Entry of a register that is read.
        read_entry_i: u16 = field(s.entry_w()).valid_by("read_valid_i"),
        /// Entry of a register that is written.
        write_entry_i: u16 = field(s.entry_w()).valid_by("write_valid_i"),
        /// Entry of each cluster that is read for memory.
        memory_read_entry_i: [u16; CLUSTERS] = field(s.entry_w()).count(CLUSTERS).valid_by("memory_read_i"),
        /// Entry of each cluster that is written for memory.
        memory_write_entry_i: [u16; CLUSTERS] = field(s.entry_w()).count(CLUSTERS).valid_by("memory_write_i"),
        /// Bytes of each cluster that are written for memory.
        memory_write_bytes_i: [u16; CLUSTERS] = field(CLUSTER_BYTES).count(CLUSTERS).valid_by("memory_write_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// A register is read at this edge.
        read_valid_i: u8 = field(1),
        /// Lanes of a register are written at this edge.
        write_valid_i: u8 = field(1),
        /// Clusters that are to be read for memory.
        memory_read_i: u8 = field(CLUSTERS),
        /// Clusters that are to be written for memory.
        memory_write_i: u8 = field(CLUSTERS),
    }
}

ports! {
    /// Outputs of [`UnifiedBank`].
    pub struct UnifiedBankOut(s: &MrfShape) {
        /// Output of the RAMs, 16 bytes of each cluster.
        read_data_o: WarpData = field(WARP_DATA_BITS).valid_by("read_data_valid_o").early(),
        /// Output of the RAMs that memory reads, 16 bytes of each cluster.
        memory_data_o: WarpData = field(WARP_DATA_BITS).early(),
        /// A register was read at the last edge.
        read_data_valid_o: u8 = field(1).early().shows("read_data_valid_q"),
        /// Memory may read.
        memory_read_ready_o: u8 = field(1),
        /// Clusters in which memory may write.
        memory_write_ready_o: u8 = field(CLUSTERS),
    }
}

/// Accesses of memory to a column at an edge. An access that is not free is not performed.
#[derive(Clone, Copy)]
pub(crate) struct ColumnAccess<'a> {
    /// Clusters to read, and the entry of each.
    pub(crate) read: u8,
    pub(crate) read_entry: &'a [u16; CLUSTERS],
    /// Clusters to write, and entry, bytes and data of each.
    pub(crate) write: u8,
    pub(crate) write_entry: &'a [u16; CLUSTERS],
    pub(crate) write_bytes: &'a [u16; CLUSTERS],
    pub(crate) write_data: &'a WarpData,
}

/// One RAM of each cluster. Registers use a column like a bank with a read and a write port; memory uses what they leave, cluster by cluster (hierarchy
/// thesis 7.3.2, 7.3.3). With separate ports: one RAM of each cluster for registers, and one for memory.
#[derive(Clone)]
pub struct UnifiedBank {
    depth: usize,
    rams: Rams,
    /// RAMs of memory, where it has its own.
    memory: Option<Rams>,
    /// Valid bit of a column that runs alone; the register file keeps those of all its columns in a mask.
    read_data_valid_q: bool,
}

/// A word of a cluster's bank.
type Quad = [u32; GROUP_LANES];

/// One RAM for each cluster.
#[derive(Clone)]
struct Rams {
    /// Words of each RAM, 16 bytes each. There are more words than entries, so that no entry needs a check.
    words: [Box<[Quad]>; CLUSTERS],
    rdata_q: WarpData,
}

impl Rams {
    fn new(depth: usize) -> Self {
        let words = vec![[0; GROUP_LANES]; depth.next_power_of_two()];
        Self { words: std::array::from_fn(|_| words.clone().into()), rdata_q: WarpData::ZERO }
    }

    /// Reads a register.
    #[inline]
    fn read(&mut self, entry: u16) {
        for (words, rdata) in self.words.iter().zip(self.rdata_q.0.as_chunks_mut().0) {
            *rdata = words[usize::from(entry)];
        }
    }

    /// Performs the reads of memory.
    #[inline]
    fn read_clusters(&mut self, memory: &ColumnAccess<'_>) {
        let outputs = self.rdata_q.0.as_chunks_mut().0;
        for g in set_bits(memory.read) {
            outputs[g] = self.words[g][usize::from(memory.read_entry[g])];
        }
    }

    /// Writes lanes of a register. Returns their clusters.
    #[inline]
    fn write(&mut self, entry: u16, data: &WarpData, mask: LaneMask) -> u8 {
        let clusters = clusters_of(mask);
        let quads: &[Quad] = data.0.as_chunks().0;
        for g in set_bits(clusters) {
            let word = &mut self.words[g][usize::from(entry)];
            for (lane, (old, new)) in word.iter_mut().zip(quads[g]).enumerate() {
                if is_set(mask.0, GROUP_LANES * g + lane) {
                    *old = new;
                }
            }
        }
        clusters
    }

    /// Performs the writes of memory, except in the `taken` clusters.
    #[inline]
    fn write_clusters(&mut self, memory: &ColumnAccess<'_>, taken: u8) {
        let quads: &[Quad] = memory.write_data.0.as_chunks().0;
        for g in set_bits(memory.write & !taken) {
            let word = &mut self.words[g][usize::from(memory.write_entry[g])];
            write_bytes(word, &quads[g], memory.write_bytes[g]);
        }
    }

    /// The words and the output of each RAM. `name`: instance of the RAM.
    fn memories(&mut self, depth: usize, name: &str) -> impl Iterator<Item = Memory<'_>> {
        let outputs: &mut [Quad] = self.rdata_q.0.as_chunks_mut().0;
        let memory =
            |path: String, words| Memory { path, block: UnifiedBank::NAME, words, bits: 8 * CLUSTER_BYTES as u32 };
        self.words.iter_mut().zip(outputs).enumerate().flat_map(move |(g, (words, rdata))| {
            let path = |array: &str| format!("gen_cluster[{g}].{name}.{array}");
            [memory(path("mem_q"), words[..depth].as_flattened_mut()), memory(path("rdata_q"), &mut rdata[..])]
        })
    }
}

impl UnifiedBank {
    /// Whether registers and memory have ports of their own.
    #[inline]
    pub(crate) fn is_separate(&self) -> bool {
        self.memory.is_some()
    }

    /// The outputs of the RAMs that registers read.
    #[inline]
    pub(crate) fn read_data(&self) -> &WarpData {
        &self.rams.rdata_q
    }

    /// The outputs of the RAMs that memory reads.
    #[inline]
    pub(crate) fn memory_data(&self) -> &WarpData {
        &self.memory.as_ref().unwrap_or(&self.rams).rdata_q
    }

    /// The clock edge. Reads come before writes, so that one entry returns its old value. `read`: entry of a register read; `write`: entry, data and
    /// lanes of the write.
    #[inline]
    pub(crate) fn edge(
        &mut self,
        read: Option<u16>,
        write: Option<(u16, &WarpData, LaneMask)>,
        memory: &ColumnAccess<'_>,
    ) {
        if let Some(entry) = read {
            self.rams.read(entry);
        }
        if let Some(own) = &mut self.memory {
            own.read_clusters(memory);
            own.write_clusters(memory, 0);
        } else if read.is_none() {
            self.rams.read_clusters(memory);
        }
        let taken = write.map_or(0, |(entry, data, mask)| self.rams.write(entry, data, mask));
        if self.memory.is_none() {
            self.rams.write_clusters(memory, taken);
        }
    }

    /// The words and the output of each RAM, with the RAM's path inside the module.
    pub(crate) fn cells(&mut self) -> Vec<Memory<'_>> {
        let own = self.memory.iter_mut().flat_map(|own| own.memories(self.depth, "gen_separate.u_memory"));
        self.rams.memories(self.depth, "u_ram").chain(own).collect()
    }
}

/// The clusters that contain a lane of a mask.
#[inline]
pub(crate) fn clusters_of(mask: LaneMask) -> u8 {
    let mut pairs = mask.0 | mask.0 >> 1;
    pairs |= pairs >> 2;
    (0..CLUSTERS).fold(0, |clusters, g| clusters | (pairs >> (GROUP_LANES * g) & 1) << g) as u8
}

/// Writes the bytes selected by an enable.
#[inline]
fn write_bytes(word: &mut Quad, data: &Quad, bytes: u16) {
    for (lane, (old, new)) in word.iter_mut().zip(data).enumerate() {
        let select = select_bytes(u32::from(bytes) >> (size_of::<u32>() * lane));
        *old = *old & !select | new & select;
    }
}

impl UnifiedBankIn {
    fn access(&self) -> ColumnAccess<'_> {
        ColumnAccess {
            read: self.memory_read_i,
            read_entry: &self.memory_read_entry_i,
            write: self.memory_write_i,
            write_entry: &self.memory_write_entry_i,
            write_bytes: &self.memory_write_bytes_i,
            write_data: &self.memory_write_data_i,
        }
    }
}

impl Block for UnifiedBank {
    const NAME: &'static str = "unified_bank";
    const PARAMETERS: &'static [&'static str] = &["Depth", "Separate"];
    const CELLS: &'static [&'static str] = &["ram_1r1w"];

    type Shape = MrfShape;
    type In = UnifiedBankIn;
    type Out = UnifiedBankOut;
    type Probe = NoProbe<MrfShape>;

    fn new(shape: &MrfShape) -> Self {
        let rams = || Rams::new(shape.depth);
        Self { depth: shape.depth, rams: rams(), memory: shape.separate.then(rams), read_data_valid_q: false }
    }

    fn early(&self, out: &mut UnifiedBankOut) {
        (out.read_data_o, out.read_data_valid_o) = (*self.read_data(), self.read_data_valid_q.into());
        out.memory_data_o = *self.memory_data();
    }

    fn late(&mut self, inputs: &UnifiedBankIn, out: &mut UnifiedBankOut) {
        let separate = self.is_separate();
        out.memory_read_ready_o = (separate || inputs.read_valid_i == 0).into();
        let written =
            if separate || inputs.write_valid_i == 0 { 0 } else { clusters_of(LaneMask(inputs.write_mask_i)) };
        out.memory_write_ready_o = !written;
    }

    fn clock(&mut self, inputs: &UnifiedBankIn, _: &UnifiedBankOut) {
        let running = inputs.rst_ni != 0;
        let read = (running && inputs.read_valid_i != 0).then_some(inputs.read_entry_i);
        let write = (inputs.write_entry_i, &inputs.write_data_i, LaneMask(inputs.write_mask_i));
        let mut memory = inputs.access();
        memory.read = if running { memory.read } else { 0 };
        self.edge(read, (inputs.write_valid_i != 0).then_some(write), &memory);
        self.read_data_valid_q = read.is_some();
    }

    fn probe(&self, _: &UnifiedBankIn, _: &UnifiedBankOut, _: &mut NoProbe<MrfShape>) {}

    fn memories(&mut self) -> Vec<Memory<'_>> {
        self.cells()
    }
}

#[cfg(test)]
mod tests;
