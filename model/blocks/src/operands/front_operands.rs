//! `front_operands`: merges operands from the levels in front of the MRF with those from the MRF. `docs/blocks/front_operands.md`.

use crate::config::Config;
use crate::mrf::bits::set_bits;
use crate::mrf::{MAX_COLLECTORS, MAX_PORTS, MrfShape};
use crate::sizes::width;
use crate::{Block, LANES, LaneMask, Memory, OPERANDS, Shape, WARP_DATA_BITS, WarpData, field, ports};

/// Maximum number of instructions in front stages: in the T stages and after them, in front of the operand collectors.
pub(crate) fn front_places(issue_ports: usize) -> usize {
    2 * issue_ports - 1
}

/// Capacity of the twins: the largest number of instructions in the operand stage.
pub const MAX_TAGS: usize = MAX_COLLECTORS + 2 * MAX_PORTS - 1;

/// Sizes of [`FrontOperands`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FrontShape {
    /// The main register file.
    pub mrf: MrfShape,
    /// Maximum number of instructions in the operand stage.
    pub tags: usize,
}

impl FrontShape {
    /// Width of the tag of an instruction.
    pub fn tag_w(&self) -> u32 {
        width(self.tags)
    }
}

impl Shape for FrontShape {
    /// The sizes of a design with front stages, so that the block can run alone in any configuration.
    fn of(config: &Config) -> Self {
        let mrf = config.shape();
        Self { mrf, tags: mrf.collectors + front_places(mrf.issue_ports) }
    }

    fn parameter(&self, name: &str) -> u64 {
        if name == "Tags" { self.tags as u64 } else { self.mrf.parameter(name) }
    }
}

const MAX_SOURCES: usize = OPERANDS * MAX_PORTS;

ports! {
    /// Inputs of [`FrontOperands`].
    pub struct FrontOperandsIn(s: &FrontShape) {
        /// Operands that the cache gives.
        land_data_i: [WarpData; MAX_SOURCES] = field(WARP_DATA_BITS).count(s.mrf.sources()).valid_by("land_fill_i"),
        /// Operands that the MRF offers.
        mrf_data_i: [WarpData; MAX_SOURCES] =
            field(WARP_DATA_BITS).count(s.mrf.sources()).valid_by("mrf_src_valid_i"),
        /// Lanes of each source that come from the cache.
        move_hit_i: [u32; MAX_SOURCES] = field(LANES).count(s.mrf.sources()).valid_by("move_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// An instruction leaves T of port p.
        move_valid_i: u8 = field(s.mrf.issue_ports),
        /// Tag of the instruction that leaves T.
        move_tag_i: [u8; MAX_PORTS] = field(s.tag_w()).count(s.mrf.issue_ports).valid_by("move_valid_i"),
        /// Operands have come from the cache.
        land_valid_i: u8 = field(s.mrf.issue_ports),
        /// Tag of the instruction whose operands have come.
        land_tag_i: [u8; MAX_PORTS] = field(s.tag_w()).count(s.mrf.issue_ports).valid_by("land_valid_i"),
        /// Sources whose operands have come.
        land_fill_i: u8 = field(s.mrf.sources()),
        /// The MRF offers an instruction on dispatch port p.
        mrf_valid_i: u8 = field(s.mrf.issue_ports),
        /// Tag of the instruction that the MRF offers.
        mrf_tag_i: [u8; MAX_PORTS] = field(s.tag_w()).count(s.mrf.issue_ports).valid_by("mrf_valid_i"),
        /// Sources that came from the MRF, of the instruction that it offers.
        mrf_src_valid_i: u8 = field(s.mrf.sources()),
        /// The instruction on dispatch port p is taken.
        dispatch_ready_i: u8 = field(s.mrf.issue_ports),
    }
}

ports! {
    /// Outputs of [`FrontOperands`].
    pub struct FrontOperandsOut(s: &FrontShape) {
        /// Operands of the offered instruction.
        dispatch_data_o: [WarpData; MAX_SOURCES] =
            field(WARP_DATA_BITS).count(s.mrf.sources()).valid_by("dispatch_src_valid_o"),
        /// The instruction that the MRF offers on port p is taken.
        mrf_ready_o: u8 = field(s.mrf.issue_ports),
        /// An instruction with all its operands is offered.
        dispatch_valid_o: u8 = field(s.mrf.issue_ports),
        /// Sources of the complete instruction that came from the MRF or the cache.
        dispatch_src_valid_o: u8 = field(s.mrf.sources()),
    }
}

ports! {
    /// State of [`FrontOperands`].
    pub struct FrontOperandsProbe(s: &FrontShape) {
        /// Instructions for which nothing is to come from the cache any more.
        got_q: u32 = field(s.tags as u32),
    }
}

/// Holds the lanes that the cache provides for each instruction until the MRF's collectors have the rest, and offers it (hazard 1).
#[derive(Clone)]
pub struct FrontOperands {
    ports: usize,
    tags: usize,
    got_q: u32,
    hit_q: [u32; OPERANDS * MAX_TAGS],
    data_q: [WarpData; OPERANDS * MAX_TAGS],
}

impl FrontOperands {
    /// Whether all lanes that come from the cache for an instruction have arrived.
    #[inline]
    pub(crate) fn got(&self, tag: u8) -> bool {
        self.got_q >> (tag & 31) & 1 == 1
    }

    /// Lanes of each source of an instruction that come from the cache.
    #[inline]
    pub(crate) fn hits(&self, tag: u8) -> [u32; OPERANDS] {
        let first = OPERANDS * usize::from(tag);
        self.hit_q.get(first..first + OPERANDS).map_or([0; OPERANDS], |hits| [hits[0], hits[1], hits[2]])
    }

    /// Sources of an instruction with lanes from the cache.
    #[inline]
    pub(crate) fn cached(&self, tag: u8) -> u8 {
        let hits = self.hits(tag);
        (0..OPERANDS).fold(0, |sources, k| sources | u8::from(hits[k] != 0) << k)
    }

    /// Overrides the MRF's lanes with those that came from the cache; takes the whole value where the source was not read from the MRF.
    #[inline]
    pub(crate) fn merge(&self, tag: u8, from_mrf: u8, data: &mut [WarpData; OPERANDS]) {
        if usize::from(tag) >= self.tags {
            return;
        }
        let first = OPERANDS * usize::from(tag);
        for (k, (data, hit)) in data.iter_mut().zip(self.hits(tag)).enumerate() {
            if from_mrf >> k & 1 == 0 || hit == u32::MAX {
                *data = self.data_q[first + k];
            } else if hit != 0 {
                data.merge(&self.data_q[first + k], LaneMask(hit));
            }
        }
    }

    /// The clock edge at which an instruction leaves T.
    #[inline]
    pub(crate) fn moved(&mut self, tag: u8, hits: &[u32; OPERANDS]) {
        if usize::from(tag) < self.tags {
            self.hit_q[OPERANDS * usize::from(tag)..][..OPERANDS].copy_from_slice(hits);
            let bit = 1 << tag;
            self.got_q = if *hits == [0; OPERANDS] { self.got_q | bit } else { self.got_q & !bit };
        }
    }

    /// The clock edge at which operands of an instruction arrive from the cache.
    #[inline]
    pub(crate) fn landed<'a>(&mut self, tag: u8, fill: u8, data: impl Fn(usize) -> &'a WarpData) {
        if usize::from(tag) < self.tags {
            self.got_q |= 1 << tag;
            for k in set_bits(fill) {
                self.data_q[OPERANDS * usize::from(tag) + k] = *data(k);
            }
        }
    }

    /// A clock edge in reset.
    pub(crate) fn reset(&mut self) {
        self.got_q = 0;
    }
}

impl Block for FrontOperands {
    const NAME: &'static str = "front_operands";
    const PARAMETERS: &'static [&'static str] = &["IssuePorts", "Tags"];

    type Shape = FrontShape;
    type In = FrontOperandsIn;
    type Out = FrontOperandsOut;
    type Probe = FrontOperandsProbe;

    fn new(shape: &FrontShape) -> Self {
        Self {
            ports: shape.mrf.issue_ports,
            tags: shape.tags,
            got_q: 0,
            hit_q: [0; OPERANDS * MAX_TAGS],
            data_q: [WarpData::ZERO; OPERANDS * MAX_TAGS],
        }
    }

    fn early(&self, _: &mut FrontOperandsOut) {}

    fn late(&mut self, inputs: &FrontOperandsIn, out: &mut FrontOperandsOut) {
        (out.mrf_ready_o, out.dispatch_valid_o, out.dispatch_src_valid_o) = (0, 0, 0);
        for p in 0..self.ports {
            let (bit, tag) = (1 << p, inputs.mrf_tag_i[p]);
            if !self.got(tag) {
                continue;
            }
            if inputs.mrf_valid_i & bit != 0 {
                out.dispatch_valid_o |= bit;
                out.mrf_ready_o |= inputs.dispatch_ready_i & bit;
                let from_mrf = inputs.mrf_src_valid_i >> (OPERANDS * p) & 0b111;
                out.dispatch_src_valid_o |= (from_mrf | self.cached(tag)) << (OPERANDS * p);
                let mut data = [0, 1, 2].map(|k| inputs.mrf_data_i[OPERANDS * p + k]);
                self.merge(tag, from_mrf, &mut data);
                out.dispatch_data_o[OPERANDS * p..][..OPERANDS].copy_from_slice(&data);
            }
        }
    }

    fn clock(&mut self, inputs: &FrontOperandsIn, _: &FrontOperandsOut) {
        for p in set_bits(inputs.move_valid_i) {
            let hits = [0, 1, 2].map(|k| inputs.move_hit_i[OPERANDS * p + k]);
            self.moved(inputs.move_tag_i[p], &hits);
        }
        for p in set_bits(inputs.land_valid_i) {
            let fill = inputs.land_fill_i >> (OPERANDS * p) & 0b111;
            self.landed(inputs.land_tag_i[p], fill, |k| &inputs.land_data_i[OPERANDS * p + k]);
        }
        if inputs.rst_ni == 0 {
            self.reset();
        }
    }

    fn probe(&self, _: &FrontOperandsIn, _: &FrontOperandsOut, probe: &mut FrontOperandsProbe) {
        probe.got_q = self.got_q;
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let sources = OPERANDS * self.tags;
        vec![
            Memory { path: "hit_q".into(), block: Self::NAME, words: &mut self.hit_q[..sources], bits: LANES as u32 },
            Memory::of_warps("data_q", Self::NAME, &mut self.data_q[..sources]),
        ]
    }
}

#[cfg(test)]
mod tests;
