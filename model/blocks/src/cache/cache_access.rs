//! `cache_access`: the data of the cache. `docs/blocks/cache_access.md`.

use crate::cache::cache_results::LoadResult;
use crate::cache::row::{ROW_WORDS, RowPort};
use crate::cache::{CacheRow, ROW_BITS};
use crate::config::Config;
use crate::memory::rows::line_of;
use crate::memory::{OFFSET_BITS, Request};
use crate::ram::{LINE_BYTES, Storage};
use crate::shape::SmShape;
use crate::unified::{COLUMNS, CacheColumns, CacheWants, LineWrite};
use crate::{Block, LANES, LaneMask, Memory, Ports, REG_BITS, WARP_BITS, WarpData, Wide, field, ports};

ports! {
    /// Inputs of [`CacheAccess`].
    pub struct CacheAccessIn(s: &SmShape) {
        /// Values of a store, in the low bits of each lane.
        in_data_i: WarpData = field(1024).valid_by("in_valid_i"),
        /// A line that is written.
        fill_data_i: WarpData = field(1024).valid_by("fill_valid_i"),
        /// Line that was read in the banks at the last edge.
        data_i: WarpData = field(1024).when(s.unified()),
        /// Row of a load.
        in_row_i: RowPort = field(ROW_BITS).valid_by("in_valid_i"),
        /// Lanes of a store.
        in_mask_i: u32 = field(LANES).valid_by("in_valid_i"),
        /// Entry of the hit.
        in_entry_i: u16 = field(s.line_entry_w()).valid_by("in_valid_i"),
        /// Entry of the line that is written.
        fill_entry_i: u16 = field(s.line_entry_w()).valid_by("fill_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// A hit is offered.
        in_valid_i: u8 = field(1),
        /// The hit is a store.
        in_store_i: u8 = field(1).valid_by("in_valid_i"),
        /// Number of the load.
        in_load_i: u8 = field(s.row_w()).valid_by("in_valid_i"),
        /// Bytes of a store as a power of two.
        in_size_i: u8 = field(2).valid_by("in_valid_i"),
        /// Place of each lane's first byte in the line, of a store.
        in_offset_i: [u8; LANES] = field(OFFSET_BITS).count(LANES).valid_by("in_valid_i"),
        /// A line is written at this edge.
        fill_valid_i: u8 = field(1),
        /// The hit's result is taken at this edge.
        push_ready_i: u8 = field(1),
        /// Column b is free for a read.
        read_ready_i: u8 = field(COLUMNS).when(s.unified()),
        /// Column b is free for a write.
        write_ready_i: u8 = field(COLUMNS).when(s.unified()),
    }
}

/// Inputs that are read with unified memory only.
const UNIFIED_INPUTS: &[&str] = &["data_i", "read_ready_i", "write_ready_i"];

ports! {
    /// Outputs of [`CacheAccess`].
    pub struct CacheAccessOut(s: &SmShape) {
        /// Lanes of the register; 0 without one.
        push_data_o: WarpData = field(1024).valid_by("push_reg_valid_o").early_when(!s.unified()),
        /// Bytes that are to be written to the banks.
        ram_write_data_o: WarpData = field(1024).valid_by("ram_write_o"),
        /// Places of the bytes that are to be written to the banks.
        ram_write_bytes_o: Wide<BYTE_WORDS> = field(LINE_BYTES).valid_by("ram_write_o"),
        /// Lanes of the hit's result.
        push_mask_o: u32 = field(LANES).valid_by("push_valid_o").early(),
        /// Entry of the hit in stage C; 0 without one.
        pin_entry_o: u16 = field(s.line_entry_w()).early(),
        /// Entry that is to be read in the banks; 0 without one.
        ram_read_entry_o: u16 = field(s.line_entry_w()).valid_by("ram_read_o"),
        /// Entry that is to be written in the banks; 0 without one.
        ram_write_entry_o: u16 = field(s.line_entry_w()).valid_by("ram_write_o"),
        /// Stage C is free or becomes free at this edge.
        in_ready_o: u8 = field(1),
        /// Stage C has a hit.
        pin_valid_o: u8 = field(1).early().shows("access_valid_q"),
        /// Stage C writes at this edge.
        write_o: u8 = field(1).early(),
        /// A hit's result is offered.
        push_valid_o: u8 = field(1).early().shows("line_valid_q"),
        /// Warp of the hit's result.
        push_warp_o: u8 = field(WARP_BITS).valid_by("push_valid_o").early(),
        /// The hit's result writes a register.
        push_reg_valid_o: u8 = field(1).early(),
        /// Register that is written.
        push_reg_o: u8 = field(REG_BITS).valid_by("push_reg_valid_o").early(),
        /// Number of the load.
        push_load_o: u8 = field(s.row_w()).valid_by("push_valid_o").early().shows("line_load_q"),
        /// A line is to be read in the banks.
        ram_read_o: u8 = field(1),
        /// Bytes of a line are to be written in the banks.
        ram_write_o: u8 = field(1),
    }
}

ports! {
    /// State of [`CacheAccess`] that no output shows.
    pub struct CacheAccessProbe(s: &SmShape) {
        /// Bytes that the store in stage C writes; 0 elsewhere.
        data_q: WarpData = field(1024).valid_by("write_o"),
        /// Line that was read last, from the cycle after the one in which the banks show it.
        kept_q: WarpData = field(1024).when(s.unified()),
        /// Row of the load in stage D.
        line_row_q: RowPort = field(ROW_BITS).valid_by("push_valid_o"),
        /// Row of the last load in stage C.
        row_q: RowPort = field(ROW_BITS),
        /// Places of the bytes that the store in stage C writes.
        bytes_q: Wide<BYTE_WORDS> = field(LINE_BYTES).valid_by("write_o"),
        /// Entry of the hit in stage C.
        entry_q: u16 = field(s.line_entry_w()).valid_by("pin_valid_o"),
        /// The hit in stage C is a store.
        store_q: u8 = field(1).valid_by("pin_valid_o"),
        /// The banks show the line that was read last.
        fresh_q: u8 = field(1).when(s.unified()),
        /// Number of the last load in stage C.
        load_q: u8 = field(s.row_w()),
    }
}

/// Number of 32-bit words in a set of a line's bytes.
const BYTE_WORDS: usize = LINE_BYTES / u32::BITS as usize;

/// A store to a line that is in the cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoreHit<'a> {
    pub(crate) mask: u32,
    pub(crate) size: u8,
    pub(crate) offset: &'a [u8; LANES],
    pub(crate) data: &'a WarpData,
}

impl<'a> StoreHit<'a> {
    /// The store of a request.
    #[inline]
    pub(crate) fn of(request: &'a Request) -> Self {
        let Request { mask, size, offset, data, .. } = request;
        Self { mask: *mask, size: *size, offset, data }
    }

    /// Whether all bytes of the line are written.
    #[inline]
    pub(crate) fn writes_whole_line(&self) -> bool {
        // Too few lanes cannot write all bytes, whatever their places are.
        (self.mask.count_ones() as usize) << self.size >= LINE_BYTES && self.bytes().0 == u128::MAX
    }

    /// The bytes of the line that are written, and their values; of several lanes the highest one's.
    #[inline]
    fn bytes(&self) -> (u128, WarpData) {
        line_of(self.mask, self.size, |lane| self.offset[lane].into(), self.data)
    }
}

/// A hit that stage C takes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Hit<'a> {
    /// A load: its row, and the number of the load.
    Load(&'a CacheRow, u8),
    Store(StoreHit<'a>),
}

/// The data of the cache, and its accesses: one hit at a time, in order, in stage C; the line that was read, in stage D; and fills.
#[derive(Clone)]
pub struct CacheAccess {
    row_w: u32,
    ram: Storage,
    access_valid_q: bool,
    store_q: bool,
    entry_q: u16,
    // State of the last load: the harness sees memories of one word.
    row_q: [u32; ROW_WORDS],
    load_q: [u32; 1],
    data_q: WarpData,
    bytes_q: u128,
    line_valid_q: bool,
    line_row_q: CacheRow,
    line_load_q: u8,
    /// The values that the row in stage D takes from its line.
    values: WarpData,
    /// With unified memory the lines are in the unified banks. The free columns are those of the cycle; `line` is the data read last.
    unified: bool,
    columns: CacheColumns,
    fresh_q: bool,
    line: WarpData,
    /// The harness sees this as a memory of one word.
    kept_q: [WarpData; 1],
}

impl CacheAccess {
    /// Sets the view of the unified banks in a cycle, with unified memory: the columns that are free, and the data read at the last edge.
    #[inline]
    pub(crate) fn see(&mut self, columns: CacheColumns, data: &WarpData) {
        self.columns = columns;
        if self.fresh_q {
            self.line = *data;
            if self.line_row_q.header().reg.is_some() {
                self.values = self.line_row_q.values(data);
            }
        }
    }

    /// Whether the column of a line is free for a fill.
    #[inline]
    pub(crate) fn has_column(&self, line: u32) -> bool {
        self.columns.writes(line as u16)
    }

    /// Whether stage D is free or becomes free at this edge.
    #[inline]
    fn line_ready(&self, push_ready: bool) -> bool {
        !self.line_valid_q || push_ready
    }

    /// Whether stage C is free or becomes free at this edge.
    #[inline]
    pub(crate) fn ready(&self, push_ready: bool) -> bool {
        if !self.access_valid_q {
            true
        } else if self.store_q {
            self.columns.writes(self.entry_q)
        } else {
            self.line_ready(push_ready) && self.columns.reads(self.entry_q)
        }
    }

    /// The accesses to the banks that are wanted. `fill`: a line to be written, and its entry.
    #[inline]
    pub(crate) fn wants<'a>(&'a self, fill: Option<(u16, &'a WarpData)>, push_ready: bool) -> CacheWants<'a> {
        if !self.unified {
            return CacheWants::default();
        }
        let store = || LineWrite { entry: self.entry_q, bytes: self.bytes_q, data: &self.data_q };
        CacheWants {
            read: self.wanted(push_ready),
            write: match fill {
                _ if self.writes() => Some(store()),
                Some((entry, data)) => Some(LineWrite { entry, bytes: u128::MAX, data }),
                None => None,
            },
        }
    }

    /// The entry that is to be read in the banks.
    #[inline]
    pub(crate) fn wanted(&self, push_ready: bool) -> Option<u16> {
        let reads = self.unified && self.access_valid_q && !self.store_q && self.line_ready(push_ready);
        reads.then_some(self.entry_q)
    }

    /// Whether both stages are free.
    #[inline]
    pub(crate) fn empty(&self) -> bool {
        !self.access_valid_q && !self.line_valid_q
    }

    /// The entry of the hit in stage C.
    #[inline]
    pub(crate) fn pin(&self) -> Option<u16> {
        self.access_valid_q.then_some(self.entry_q)
    }

    /// Whether stage C has a store.
    #[inline]
    pub(crate) fn writes(&self) -> bool {
        self.access_valid_q && self.store_q
    }

    /// The result of the hit in stage D.
    #[inline]
    pub(crate) fn push(&self) -> Option<LoadResult<'_>> {
        let result =
            || LoadResult { result: self.line_row_q.header().into(), data: &self.values, load: self.line_load_q };
        self.line_valid_q.then(result)
    }

    /// Clock edge: a hit that stage C takes (only while it is [`ready`](Self::ready)), with its entry, and a line that is written.
    #[inline]
    pub(crate) fn advance(&mut self, hit: Option<(u16, Hit<'_>)>, fill: Option<(u16, &WarpData)>, push_ready: bool) {
        let leaves = self.access_valid_q && self.ready(push_ready);
        self.line_valid_q &= !push_ready;
        let reads = leaves && !self.store_q;
        if self.unified {
            if self.fresh_q {
                self.kept_q[0] = self.line;
            }
            self.fresh_q = reads;
        }
        if reads {
            self.line_valid_q = true;
            (self.line_row_q, self.line_load_q) = (CacheRow(self.row_q), self.load_q[0] as u8);
        }
        if !self.unified {
            self.access_ram(reads, fill);
        }
        self.access_valid_q &= !leaves;
        if let Some((entry, hit)) = hit {
            (self.access_valid_q, self.entry_q) = (true, entry);
            self.store_q = matches!(hit, Hit::Store(_));
            match hit {
                Hit::Load(row, load) => (self.row_q, self.load_q) = (row.0, [load.into()]),
                Hit::Store(store) => (self.bytes_q, self.data_q) = store.bytes(),
            }
        }
    }

    /// Clock edge of the cache's own RAM. The RAM cell reads before it writes.
    #[inline]
    fn access_ram(&mut self, reads: bool, fill: Option<(u16, &WarpData)>) {
        if reads {
            self.ram.read(self.entry_q);
            if self.line_row_q.header().reg.is_some() {
                self.values = self.line_row_q.values(self.ram.rdata());
            }
        }
        if self.writes() {
            self.ram.write_bytes(self.entry_q, &self.data_q, self.bytes_q);
        }
        if let Some((entry, line)) = fill {
            self.ram.write(entry, line, LaneMask::ALL);
        }
    }

    /// Clock edge in reset, after everything else.
    #[inline]
    pub(crate) fn reset(&mut self) {
        (self.access_valid_q, self.line_valid_q, self.fresh_q) = (false, false, false);
    }
}

impl CacheAccessIn {
    /// A line that is written, and its entry.
    fn fill(&self) -> Option<(u16, &WarpData)> {
        (self.fill_valid_i != 0).then_some((self.fill_entry_i, &self.fill_data_i))
    }
}

impl CacheAccess {
    /// With unified memory the data of the hit's result follows from the output of the banks.
    pub(crate) fn show_data(&self, out: &mut CacheAccessOut) {
        out.push_data_o = if out.push_reg_valid_o == 0 { WarpData::ZERO } else { self.values };
    }
}

/// Shows the accesses to the banks that are wanted.
macro_rules! shows_wants {
    ($outputs:ty) => {
        impl $outputs {
            /// Shows what is wanted of the unified banks.
            pub fn show_wants(&mut self, wants: &CacheWants<'_>) {
                (self.ram_read_o, self.ram_read_entry_o) =
                    (wants.read.is_some().into(), wants.read.unwrap_or_default());
                self.ram_write_o = wants.write.is_some().into();
                (self.ram_write_entry_o, self.ram_write_bytes_o, self.ram_write_data_o) = match wants.write {
                    Some(LineWrite { entry, bytes, data }) => (entry, Wide::from_u128(bytes), *data),
                    None => (0, Wide::from_u128(0), WarpData::ZERO),
                };
            }
        }
    };
}
pub(super) use shows_wants;

shows_wants!(CacheAccessOut);

impl Block for CacheAccess {
    const NAME: &'static str = "cache_access";
    const PARAMETERS: &'static [&'static str] = &["Lines", "Rows", "Unified"];
    const CELLS: &'static [&'static str] = &["ram_1r1w"];

    type Shape = SmShape;
    type In = CacheAccessIn;
    type Out = CacheAccessOut;
    type Probe = CacheAccessProbe;

    fn shape_alone(config: &Config) -> SmShape {
        config.sm_shape().with_shared_ports()
    }

    fn unused(shape: &SmShape) -> Vec<&'static str> {
        if shape.unified() { Vec::new() } else { UNIFIED_INPUTS.to_vec() }
    }

    fn new(shape: &SmShape) -> Self {
        Self {
            row_w: shape.row_w(),
            ram: Storage::new(if shape.unified() { 0 } else { shape.lines() }),
            access_valid_q: false,
            store_q: false,
            entry_q: 0,
            row_q: [0; ROW_WORDS],
            load_q: [0],
            data_q: WarpData::ZERO,
            bytes_q: 0,
            line_valid_q: false,
            line_row_q: CacheRow::NOTHING,
            line_load_q: 0,
            values: WarpData::ZERO,
            unified: shape.unified(),
            columns: CacheColumns::ALL,
            fresh_q: false,
            line: WarpData::ZERO,
            kept_q: [WarpData::ZERO],
        }
    }

    fn early(&self, out: &mut CacheAccessOut) {
        *out = CacheAccessOut::zeroed();
        if let Some(entry) = self.pin() {
            (out.pin_valid_o, out.pin_entry_o) = (1, entry);
        }
        out.write_o = self.writes().into();
        if let Some(LoadResult { result, data, load }) = self.push() {
            (out.push_valid_o, out.push_load_o) = (1, load);
            (out.push_warp_o, out.push_mask_o) = (result.warp, result.mask);
            if let Some(reg) = result.reg {
                (out.push_reg_valid_o, out.push_reg_o) = (1, reg);
                if !self.unified {
                    out.push_data_o = *data;
                }
            }
        }
    }

    fn late(&mut self, inputs: &CacheAccessIn, out: &mut CacheAccessOut) {
        if self.unified {
            self.see(CacheColumns { read: inputs.read_ready_i, write: inputs.write_ready_i }, &inputs.data_i);
            self.show_data(out);
            out.show_wants(&self.wants(inputs.fill(), inputs.push_ready_i != 0));
        }
        out.in_ready_o = self.ready(inputs.push_ready_i != 0).into();
    }

    fn clock(&mut self, inputs: &CacheAccessIn, out: &CacheAccessOut) {
        let row = CacheRow(inputs.in_row_i.0);
        let hit = match inputs.in_store_i {
            0 => Hit::Load(&row, inputs.in_load_i),
            _ => Hit::Store(StoreHit {
                mask: inputs.in_mask_i,
                size: inputs.in_size_i,
                offset: &inputs.in_offset_i,
                data: &inputs.in_data_i,
            }),
        };
        let taken = inputs.in_valid_i != 0 && out.in_ready_o != 0;
        self.advance(taken.then_some((inputs.in_entry_i, hit)), inputs.fill(), inputs.push_ready_i != 0);
        if inputs.rst_ni == 0 {
            self.reset();
        }
    }

    fn probe(&self, _: &CacheAccessIn, _: &CacheAccessOut, probe: &mut CacheAccessProbe) {
        *probe = CacheAccessProbe::zeroed();
        (probe.row_q, probe.load_q) = (Wide(self.row_q), self.load_q[0] as u8);
        (probe.kept_q, probe.fresh_q) = (self.kept_q[0], self.fresh_q.into());
        if self.access_valid_q {
            (probe.entry_q, probe.store_q) = (self.entry_q, self.store_q.into());
        }
        if self.writes() {
            (probe.data_q, probe.bytes_q) = (self.data_q, Wide::from_u128(self.bytes_q));
        }
        if self.line_valid_q {
            probe.line_row_q = Wide(self.line_row_q.0);
        }
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let memory = |path: &str, words, bits| Memory { path: path.into(), block: Self::NAME, words, bits };
        let mut all = vec![memory("row_q", &mut self.row_q, ROW_BITS), memory("load_q", &mut self.load_q, self.row_w)];
        if self.unified {
            all.push(Memory::of_warps("kept_q", Self::NAME, &mut self.kept_q));
        } else {
            let (words, rdata_q) = self.ram.contents();
            all.push(Memory::of_warps("gen_own.u_ram.mem_q", Self::NAME, words));
            all.push(Memory::of_warps("gen_own.u_ram.rdata_q", Self::NAME, rdata_q));
        }
        all
    }
}

#[cfg(test)]
mod tests;
