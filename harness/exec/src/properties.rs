//! The properties of the device: sizes of the configured SM, and other values that applications query.

use gpurf_blocks::config::Config;
use gpurf_isa::machine::{BLOCK_THREADS, LANES, SHARED_LIMIT};
use gpurf_sm::residency::Room;

/// Cycles of the SM in a millisecond, for the times of events: a clock of 1 GHz.
pub const CYCLES_PER_MILLISECOND: f64 = 1e6;

/// The most that global memory holds: buffers lie between 16 MiB and 4 GiB.
pub const GLOBAL_BYTES: u64 = (1 << 32) - (32 << 20);

/// Properties of the device, in the order of the table below.
#[derive(Clone, Debug)]
pub struct Properties {
    name: String,
    values: Vec<(Field, u64)>,
}

/// A property that the API returns in several places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Field {
    /// Number of the attribute in `cudaDeviceAttr`, where it has one.
    attribute: Option<u32>,
    /// Bytes of the structure's field.
    bytes: usize,
    /// Its offset in `cudaDeviceProp`: of CUDA 11 and 12, which share their first part, and of CUDA 13.
    at: [Option<usize>; 2],
}

/// Versions of CUDA, the size of `cudaDeviceProp` in each, and the index of its layout in [`Field::at`].
const SIZES: [(u64, usize, usize); 3] = [(11, 728, 0), (12, 1032, 0), (13, 1008, 1)];

impl Properties {
    /// The properties of the SM of a configuration, with the name of its preset.
    pub fn new(config: &Config, preset: &str) -> Self {
        let (shape, room) = (config.sm_shape(), Room::of(config));
        let lanes = u64::from(LANES);
        let threads = lanes * shape.warps as u64;
        let registers = u64::from(room.registers) * lanes;
        let shared = u64::from(room.scratchpad.min(SHARED_LIMIT));
        let constant = 4 * shape.const_words as u64;
        let block = u64::from(BLOCK_THREADS).min(threads);
        let field = |attribute, bytes, old, new| Field { attribute, bytes, at: [old, new] };
        let values = vec![
            (field(None, 8, Some(288), Some(288)), GLOBAL_BYTES),
            (field(Some(8), 8, Some(296), Some(296)), shared),
            (field(Some(12), 4, Some(304), Some(304)), registers),
            (field(Some(10), 4, Some(308), Some(308)), lanes),
            (field(Some(11), 8, Some(312), Some(312)), (1 << 31) - 1),
            (field(Some(1), 4, Some(320), Some(320)), block),
            (field(Some(2), 4, Some(324), Some(324)), 1024),
            (field(Some(3), 4, Some(328), Some(328)), 1024),
            (field(Some(4), 4, Some(332), Some(332)), 64),
            (field(Some(5), 4, Some(336), Some(336)), (1 << 31) - 1),
            (field(Some(6), 4, Some(340), Some(340)), 65535),
            (field(Some(7), 4, Some(344), Some(344)), 65535),
            // Kilohertz.
            (field(Some(13), 4, Some(348), None), CYCLES_PER_MILLISECOND as u64),
            (field(Some(9), 8, Some(352), Some(352)), constant),
            (field(Some(75), 4, Some(360), Some(360)), 7),
            (field(Some(76), 4, Some(364), Some(364)), 5),
            (field(Some(14), 8, Some(368), Some(368)), 512),
            (field(Some(16), 4, Some(388), Some(384)), 1),
            (field(Some(19), 4, Some(400), Some(392)), 1),
            // Memory's clock in kilohertz, and the width of its bus: 64 bytes a cycle.
            (field(Some(36), 4, Some(608), None), CYCLES_PER_MILLISECOND as u64),
            (field(Some(37), 4, Some(612), Some(592)), 256),
            (field(Some(41), 4, Some(604), Some(588)), 1),
            (field(Some(39), 4, Some(624), Some(604)), threads),
            (field(Some(81), 8, Some(640), Some(624)), u64::from(room.scratchpad)),
            (field(Some(82), 4, Some(648), Some(632)), registers),
            (field(Some(83), 4, Some(652), Some(636)), 1),
            (field(Some(97), 8, Some(696), Some(672)), shared),
            (field(Some(106), 4, Some(712), Some(688)), u64::from(room.blocks)),
        ];
        Self { name: format!("gpurf {preset}"), values }
    }

    /// An attribute of `cudaDeviceGetAttribute`; 0 if the device does not have it.
    pub fn attribute(&self, number: u64) -> u64 {
        let found = self.values.iter().find(|(field, _)| field.attribute.map(u64::from) == Some(number));
        found.map_or(0, |(_, value)| *value)
    }

    /// The structure `cudaDeviceProp` of a version of CUDA; `None` for an unknown version.
    pub fn structure(&self, version: u64) -> Option<Vec<u8>> {
        let (_, size, layout) = SIZES.into_iter().find(|(known, ..)| *known == version)?;
        let mut bytes = vec![0; size];
        let name = self.name.as_bytes();
        let length = name.len().min(255);
        bytes[..length].copy_from_slice(&name[..length]);
        for (field, value) in &self.values {
            if let Some(at) = field.at[layout] {
                bytes[at..at + field.bytes].copy_from_slice(&value.to_le_bytes()[..field.bytes]);
            }
        }
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layouts_of_all_versions_hold_the_same_values() {
        let config = Config::default();
        let properties = Properties::new(&config, "baseline");
        for (version, size, _) in SIZES {
            let bytes = properties.structure(version).unwrap();
            assert_eq!(bytes.len(), size);
            assert_eq!(&bytes[..15], b"gpurf baseline\0");
            let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
            assert_eq!((word(308), word(320), word(360), word(364)), (32, 1024, 7, 5));
        }
        assert_eq!(properties.structure(10), None);
        assert_eq!((properties.attribute(10), properties.attribute(75), properties.attribute(9999)), (32, 7, 0));
        assert_eq!(properties.attribute(39), 32 * config.sm.warps as u64);
    }
}
