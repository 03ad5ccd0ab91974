//! The texture unit beside memory (`docs/machine.md`, "Texture unit").

use std::collections::BTreeSet;
use std::sync::Arc;

use gpurf_blocks::WarpData;
use gpurf_isa::modifiers::{Channel, Modifier, TextureAccess};
use gpurf_oracle::Access;
use gpurf_oracle::texture::Texture;
use gpurf_sm::SmOut;

use super::l2::{L2, Look};
use super::{GlobalMemory, LINE, MemoryFault, Nonsense, Outside, global, nonsense, place};

/// Lanes of which the unit performs the fetches in a cycle.
const LANES_A_CYCLE: u64 = 4;

/// State of the texture unit.
#[derive(Clone)]
pub(super) struct TextureUnit {
    /// The constant space of the launch.
    constants: Arc<[u32]>,
    /// Third coordinates of the fetch whose last request is to come.
    third: Option<WarpData>,
    /// The first cycle in which the unit is free.
    free: u64,
    /// Built like the L2 cache.
    cache: Option<L2>,
}

/// What a request says of the texture.
struct Request {
    /// The constant word with the handle.
    constant: usize,
    access: TextureAccess,
    channel: Channel,
}

impl Request {
    fn of(line: u32) -> Option<Self> {
        let access = TextureAccess::from_bits(line & 0x1f)?;
        let channel = Channel::from_bits(line >> 5 & 3)?;
        (line >> 7 & 7 == 0 && line >> 25 == 0).then_some(Self { constant: (line >> 10) as usize, access, channel })
    }
}

impl TextureUnit {
    /// The unit after reset.
    pub(super) fn new(kilobytes: usize) -> Self {
        let cache = (kilobytes > 0).then(|| L2::new(kilobytes));
        Self { constants: [].into(), third: None, free: 0, cache }
    }

    /// Takes the constant space of the next launch.
    pub(super) fn begin(&mut self, constants: Arc<[u32]>) {
        (self.constants, self.third) = (constants, None);
    }
}

impl GlobalMemory {
    /// Accepts a texture request of this cycle.
    pub(super) fn fetch(&mut self, out: &SmOut) {
        let line = out.mem_req_line_o;
        let expected = out.mem_req_answer_o == 1;
        let request = Request::of(line).filter(|request| {
            // The third coordinate comes in front of the last request, and only where there is one.
            out.mem_req_mask_o != 0 && request.access.has_third() == (self.texture.third.is_some() || !expected)
        });
        let Some(request) = request else {
            self.answer(expected, self.cycle, Err(nonsense(Nonsense::Fetch(line))), 0);
            return;
        };
        if !expected {
            self.texture.third = Some(out.mem_req_data_o);
            return;
        }
        let mut lines = BTreeSet::new();
        let result = self.texels(&request, out, &mut lines);
        let begin = self.texture.free.max(self.cycle);
        self.texture.free = begin + u64::from(out.mem_req_mask_o.count_ones()).div_ceil(LANES_A_CYCLE);
        if begin > self.cycle {
            self.waiting.push_back(begin);
        }
        let last = lines.into_iter().filter_map(|line| self.texels_line(line)).fold(begin, u64::max);
        self.answer(true, last + self.config.latency as u64, result, LINE as u8);
    }

    /// Reads what the lanes of a request fetch; `lines` receives the lines of the texels.
    fn texels(&mut self, request: &Request, out: &SmOut, lines: &mut BTreeSet<u32>) -> Result<WarpData, MemoryFault> {
        let third = self.texture.third.take().unwrap_or(WarpData::ZERO);
        let handle = self.texture.constants.get(request.constant).copied().unwrap_or_default();
        let buffers = &self.buffers;
        let read = |lane: usize, address: u32, bytes: u32| {
            let (line, present) = global(buffers, address / LINE * LINE);
            let offset = address % LINE;
            if offset + bytes > present {
                let (warp, access) = (out.mem_req_warp_o, Access::Load);
                return Err(MemoryFault::Outside(Outside { warp, lane, access, address, bytes }));
            }
            let (index, shift) = place(offset as u8);
            Ok(line.word(index) >> shift & u32::MAX >> (u32::BITS - 8 * bytes))
        };
        let first = out.mem_req_mask_o.trailing_zeros() as usize;
        let texture = Texture::at(handle, |address, bytes| read(first, address, bytes))?;
        let at = [&out.mem_req_data_o.0, &out.mem_req_compare_o.0, &third.0];
        let words =
            texture.fetch(request.access, request.channel, at, out.mem_req_mask_o, |lane, address, bytes| {
                lines.insert(address / LINE);
                read(lane, address, bytes)
            })?;
        Ok(WarpData(words))
    }

    /// Looks up a line of texels, and moves it if it misses; returns the first cycle in which it uses the data path.
    fn texels_line(&mut self, line: u32) -> Option<u64> {
        if let Some(cache) = &mut self.texture.cache
            && cache.look(line, false) == Look::Hit
        {
            return None;
        }
        if let Some(l2) = &mut self.l2 {
            match l2.look(line, false) {
                Look::Hit => return None,
                Look::Miss { evicted: Some(evicted) } => _ = self.transfer(evicted, LINE, false),
                Look::Miss { evicted: None } => {}
            }
        }
        Some(self.transfer(line, LINE, true))
    }
}
