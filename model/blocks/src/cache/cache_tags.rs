//! `cache_tags`: the tags of the lines in the cache. `docs/blocks/cache_tags.md`.

use crate::config::Config;
use crate::memory::LINE_BITS;
use crate::ram::Words;
use crate::shape::SmShape;
use crate::sizes::width;
use crate::unified::LOG_W;
use crate::{Block, Memory, Ports, field, ports};

/// Least width of a word of the cells.
const MIN_WORD_BITS: u32 = 17;
/// Bits of the number of a set in the smallest cache with unified memory.
const LEAST_SET_W: u32 = 2;

ports! {
    /// Inputs of [`CacheTags`].
    pub struct CacheTagsIn(s: &SmShape) {
        /// Line whose set is read.
        read_line_i: u32 = field(LINE_BITS).valid_by("read_valid_i"),
        /// The line that is looked up.
        line_i: u32 = field(LINE_BITS),
        /// Line of the fill.
        fill_line_i: u32 = field(LINE_BITS).valid_by("fill_valid_i"),
        /// An entry that no fill may take.
        pin_entry_i: u16 = field(s.line_entry_w()).valid_by("pin_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Strap: 0 least recently used, 1 first in, first out.
        cfg_i: u8 = field(1),
        /// Every line becomes invalid at this edge.
        flush_i: u8 = field(1),
        /// Logarithm of the number of lines; 0: no cache.
        log_i: u8 = field(LOG_W).when(s.unified()),
        /// The tags of a set are read at this edge.
        read_valid_i: u8 = field(1),
        /// The line that is looked up is used at this edge.
        touch_i: u8 = field(1).valid_by("hit_o"),
        /// The line that is looked up becomes invalid at this edge.
        invalidate_i: u8 = field(1).valid_by("hit_o"),
        /// There is an entry that no fill may take.
        pin_valid_i: u8 = field(1),
        /// A line comes at this edge.
        fill_valid_i: u8 = field(1),
    }
}

/// Inputs that are read with unified memory only.
const UNIFIED_INPUTS: &[&str] = &["log_i"];

ports! {
    /// Outputs of [`CacheTags`].
    pub struct CacheTagsOut(s: &SmShape) {
        /// Entry of the line that is looked up; 0 without a hit.
        entry_o: u16 = field(s.line_entry_w()),
        /// Entry of the line that comes; 0 where it is not kept.
        fill_entry_o: u16 = field(s.line_entry_w()),
        /// The line that is looked up is there.
        hit_o: u8 = field(1),
        /// The line that comes is kept.
        fill_keep_o: u8 = field(1),
    }
}

ports! {
    /// State of [`CacheTags`].
    pub struct CacheTagsProbe(s: &SmShape) {
        /// Tag of the fill that the last read has missed.
        bypass_tag_q: u32 =
            field(LINE_BITS - if s.unified() { LEAST_SET_W } else { width(s.sets()) }).valid_by("bypass_valid_q"),
        /// A fill was kept in the set that was read, at the same edge.
        bypass_valid_q: u8 = field(1),
        /// Way of the fill that the last read has missed.
        bypass_way_q: u8 = field(s.way_w()).valid_by("bypass_valid_q"),
    }
}

/// Inputs of [`CacheTags`] at a clock edge.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TagsEdge {
    /// Replacement is first in, first out.
    pub(crate) fifo: bool,
    pub(crate) flush: bool,
    /// Line whose set is read next.
    pub(crate) read: Option<u32>,
    /// Entry of the line that is looked up, if the line is used.
    pub(crate) touch: Option<u16>,
    /// Entry of the line that is looked up, if the line becomes invalid.
    pub(crate) invalidate: Option<u16>,
    /// A line that is installed, and its entry.
    pub(crate) fill: Option<(u32, u16)>,
}

/// Tags, valid bits and the order of replacement. The tags are read at one edge and compared in the next cycle.
#[derive(Clone)]
pub struct CacheTags {
    /// Sets that are in use; with unified memory their number is chosen at each launch.
    sets: usize,
    /// Bits of a set's number.
    set_w: u32,
    /// The cache has lines.
    has_lines: bool,
    /// Largest number of sets.
    most_sets: usize,
    ways: u32,
    way_w: u32,
    unified: bool,
    /// Bits of a line that are below its tag.
    tag_at: u32,
    tag_bits: u32,
    /// The valid ways of each set, one bit each.
    valid_q: Box<[u32]>,
    /// The order of the ways of each set; the way used last is in the lowest bits.
    order_q: Box<[u32]>,
    /// The tags of each way.
    ram: Box<[Words]>,
    bypass_valid_q: bool,
    bypass_way_q: u8,
    bypass_tag_q: u32,
}

impl CacheTags {
    #[inline]
    fn set(&self, line: u32) -> usize {
        line as usize & (self.sets - 1)
    }

    #[inline]
    fn tag(&self, line: u32) -> u32 {
        line >> self.tag_at
    }

    /// Sets the logarithm of the number of lines, with unified memory; 0: no lines. It changes only while every line is invalid.
    pub(crate) fn divide(&mut self, log: u8) {
        let sets = (1usize << log) / self.ways as usize;
        self.has_lines = log != 0;
        self.sets = sets.clamp(1, self.most_sets);
        self.set_w = width(self.sets);
    }

    /// Whether there are lines.
    #[inline]
    pub(crate) fn has_lines(&self) -> bool {
        self.has_lines
    }

    #[inline]
    fn entry(&self, way: u32, set: usize) -> u16 {
        (way as usize * self.sets + set) as u16
    }

    #[inline]
    fn way_of(&self, entry: u16) -> u32 {
        u32::from(entry) >> self.set_w
    }

    /// The entry of a line whose set was read at the last edge.
    #[inline]
    pub(crate) fn look(&self, line: u32) -> Option<u16> {
        let (set, tag) = (self.set(line), self.tag(line));
        let valid = self.valid_q[set];
        let tags = u64::MAX >> (u64::BITS - self.tag_bits);
        let has = |way: u32| {
            let is_new = self.bypass_valid_q && u32::from(self.bypass_way_q) == way;
            let read = if is_new { self.bypass_tag_q } else { (self.ram[way as usize].rdata() & tags) as u32 };
            valid >> way & 1 == 1 && read == tag
        };
        (0..self.ways).find(|&way| has(way)).map(|way| self.entry(way, set))
    }

    /// The entry allocated for a line; `None`: the line is not kept. `pins`: entries that may not be evicted.
    #[inline]
    pub(crate) fn place(&self, line: u32, pins: [Option<u16>; 2]) -> Option<u16> {
        if !self.has_lines {
            return None;
        }
        let set = self.set(line);
        let free = self.valid_q[set].trailing_ones();
        let way = if free < self.ways { free } else { self.field(self.order_q[set], self.ways - 1) };
        let entry = self.entry(way, set);
        (!pins.contains(&Some(entry))).then_some(entry)
    }

    /// The way at a place of an order.
    #[inline]
    fn field(&self, order: u32, place: u32) -> u32 {
        if self.ways == 1 { 0 } else { order >> (place * self.way_w) & ((1 << self.way_w) - 1) }
    }

    /// Makes a way the one used last in its set.
    fn use_way(&mut self, set: usize, way: u32) {
        if self.ways == 1 {
            return;
        }
        let order = self.order_q[set];
        let place = (0..self.ways).find(|&place| self.field(order, place) == way).unwrap_or(self.ways - 1);
        let newer = order & ((1 << (place * self.way_w)) - 1);
        let all = u32::MAX >> (u32::BITS - self.ways * self.way_w);
        let moved = all & u32::MAX.checked_shl((place + 1) * self.way_w).unwrap_or(0);
        self.order_q[set] = order & moved | newer << self.way_w | way;
    }

    /// Whether an edge at which the same set is read again changes nothing.
    #[inline]
    pub(crate) fn is_still(&self) -> bool {
        !self.bypass_valid_q
    }

    /// Performs the clock edge.
    #[inline]
    pub(crate) fn advance(&mut self, edge: &TagsEdge) {
        let read = edge.read.map(|line| self.set(line));
        self.bypass_valid_q = false;
        if let Some(set) = read {
            self.ram.iter_mut().for_each(|ram| ram.read(set));
        }
        if let Some(entry) = edge.touch
            && !edge.fifo
        {
            self.use_way(usize::from(entry) & (self.sets - 1), self.way_of(entry));
        }
        if let Some(entry) = edge.invalidate {
            self.valid_q[usize::from(entry) & (self.sets - 1)] &= !(1 << self.way_of(entry));
        }
        if let Some((line, entry)) = edge.fill {
            let (set, tag, way) = (self.set(line), self.tag(line), self.way_of(entry));
            self.ram[way as usize].write(set, tag.into(), u64::MAX);
            self.valid_q[set] |= 1 << way;
            self.use_way(set, way);
            (self.bypass_way_q, self.bypass_tag_q) = (way as u8, tag);
            self.bypass_valid_q = read == Some(set);
        }
        if edge.flush {
            self.valid_q.fill(0);
        }
    }

    /// Clock edge in reset, after everything else.
    pub(crate) fn reset(&mut self) {
        self.bypass_valid_q = false;
        self.valid_q.fill(0);
        let all = |order: u32, way: u32| order | way << (way * self.way_w);
        self.order_q.fill((0..self.ways).fold(0, all));
    }
}

impl CacheTagsIn {
    fn pin(&self) -> Option<u16> {
        (self.pin_valid_i != 0).then_some(self.pin_entry_i)
    }

    /// The uses of the line that is looked up; `hit` is its entry.
    fn uses(&self, hit: Option<u16>) -> (Option<u16>, Option<u16>) {
        (hit.filter(|_| self.touch_i != 0), hit.filter(|_| self.invalidate_i != 0))
    }
}

impl Block for CacheTags {
    const NAME: &'static str = "cache_tags";
    const PARAMETERS: &'static [&'static str] = &["Lines", "Ways", "Unified"];
    const CELLS: &'static [&'static str] = &["ram_1r1w"];

    type Shape = SmShape;
    type In = CacheTagsIn;
    type Out = CacheTagsOut;
    type Probe = CacheTagsProbe;

    fn shape_alone(config: &Config) -> SmShape {
        config.sm_shape().with_shared_ports()
    }

    fn unused(shape: &SmShape) -> Vec<&'static str> {
        if shape.unified() { Vec::new() } else { UNIFIED_INPUTS.to_vec() }
    }

    fn new(shape: &SmShape) -> Self {
        let (ways, sets) = (shape.ways(), shape.sets());
        let set_w = width(sets);
        let tag_at = if shape.unified() { LEAST_SET_W } else { set_w };
        let tag_bits = LINE_BITS - tag_at;
        let mut tags = Self {
            sets,
            set_w,
            has_lines: true,
            most_sets: sets,
            ways: ways as u32,
            way_w: shape.way_w(),
            unified: shape.unified(),
            tag_at,
            tag_bits,
            valid_q: vec![0; sets].into(),
            order_q: vec![0; sets].into(),
            ram: (0..ways).map(|_| Words::new(sets, tag_bits.max(MIN_WORD_BITS))).collect(),
            bypass_valid_q: false,
            bypass_way_q: 0,
            bypass_tag_q: 0,
        };
        tags.reset();
        tags
    }

    fn early(&self, _: &mut CacheTagsOut) {}

    fn late(&mut self, inputs: &CacheTagsIn, out: &mut CacheTagsOut) {
        if self.unified {
            self.divide(inputs.log_i);
        }
        let hit = self.look(inputs.line_i);
        (out.hit_o, out.entry_o) = (hit.is_some().into(), hit.unwrap_or_default());
        let (touched, _) = inputs.uses(hit);
        let kept = match inputs.fill_valid_i {
            0 => None,
            _ => self.place(inputs.fill_line_i, [inputs.pin(), touched]),
        };
        (out.fill_keep_o, out.fill_entry_o) = (kept.is_some().into(), kept.unwrap_or_default());
    }

    fn clock(&mut self, inputs: &CacheTagsIn, out: &CacheTagsOut) {
        let (touch, invalidate) = inputs.uses((out.hit_o != 0).then_some(out.entry_o));
        self.advance(&TagsEdge {
            fifo: inputs.cfg_i != 0,
            flush: inputs.flush_i != 0,
            read: (inputs.read_valid_i != 0).then_some(inputs.read_line_i),
            touch,
            invalidate,
            fill: (out.fill_keep_o != 0).then_some((inputs.fill_line_i, out.fill_entry_o)),
        });
        if inputs.rst_ni == 0 {
            self.reset();
        }
    }

    fn probe(&self, _: &CacheTagsIn, _: &CacheTagsOut, probe: &mut CacheTagsProbe) {
        *probe = Ports::zeroed();
        probe.bypass_valid_q = self.bypass_valid_q.into();
        if self.bypass_valid_q {
            (probe.bypass_way_q, probe.bypass_tag_q) = (self.bypass_way_q, self.bypass_tag_q);
        }
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let (ways, order_bits) = (self.ways, self.ways * self.way_w);
        let memory = |path: &str, words, bits| Memory { path: path.into(), block: Self::NAME, words, bits };
        let mut all =
            vec![memory("valid_q", &mut self.valid_q, ways), memory("order_q", &mut self.order_q, order_bits)];
        for (way, ram) in self.ram.iter_mut().enumerate() {
            all.extend(ram.memories(&format!("gen_way[{way}].u_ram"), Self::NAME));
        }
        all
    }
}

#[cfg(test)]
mod tests;
