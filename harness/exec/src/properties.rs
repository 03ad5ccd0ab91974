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
    /// Its offset in `cudaDeviceProp`.
    at: Places,
}

/// Offsets of a field in `cudaDeviceProp`: of CUDA 11 and 12, which share their first part, and of CUDA 13.
type Places = [Option<usize>; 2];

/// Versions of CUDA, the size of `cudaDeviceProp` in each, and the index of its layout in [`Field::at`].
const SIZES: [(u64, usize, usize); 3] = [(11, 728, 0), (12, 1032, 0), (13, 1008, 1)];

/// Limits of textures and surfaces, those of compute capability 7.5: the attribute of the first dimension, the place of the structure's field, and the
/// sizes, whose attributes have consecutive numbers. There are none of mipmapped arrays.
const IMAGE_LIMITS: [(u32, Places, &[u64]); 17] = [
    // Textures: of arrays, of linear memory (CUDA 13 has it as an attribute only) and of memory with a pitch, with gathers.
    (21, [Some(408), Some(396)], &[131_072]),
    (69, [Some(416), None], &[1 << 28]),
    (22, [Some(420), Some(404)], &[131_072, 65_536]),
    (70, [Some(436), Some(420)], &[131_072, 65_000, 2_097_120]),
    (45, [Some(448), Some(432)], &[32_768, 32_768]),
    (24, [Some(456), Some(440)], &[16_384, 16_384, 16_384]),
    (47, [Some(468), Some(452)], &[8192, 8192, 32_768]),
    // Cube maps, layers.
    (52, [Some(480), Some(464)], &[32_768]),
    (42, [Some(484), Some(468)], &[32_768, 2048]),
    (27, [Some(492), Some(476)], &[32_768, 32_768, 2048]),
    (53, [Some(504), Some(488)], &[32_768, 2046]),
    // Surfaces, in the same order.
    (55, [Some(512), Some(496)], &[32_768]),
    (56, [Some(516), Some(500)], &[131_072, 65_536]),
    (58, [Some(524), Some(508)], &[16_384, 16_384, 16_384]),
    (61, [Some(536), Some(520)], &[32_768, 2048]),
    (63, [Some(544), Some(528)], &[32_768, 32_768, 2048]),
    (66, [Some(556), Some(540)], &[32_768, 32_768, 2046]),
];

fn image_limits() -> impl Iterator<Item = (Field, u64)> {
    IMAGE_LIMITS.into_iter().flat_map(|(first, places, sizes)| {
        sizes.iter().enumerate().map(move |(index, &size)| {
            let at = places.map(|place| place.map(|place| place + 4 * index));
            (Field { attribute: Some(first + index as u32), bytes: 4, at }, size)
        })
    })
}

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
            (field(Some(51), 8, Some(376), Some(376)), 32),
            (field(Some(16), 4, Some(388), Some(384)), 1),
            (field(Some(19), 4, Some(400), Some(392)), 1),
            // Memory's clock in kilohertz, and the width of its bus: 64 bytes a cycle.
            (field(Some(36), 4, Some(608), None), CYCLES_PER_MILLISECOND as u64),
            (field(Some(37), 4, Some(612), Some(592)), 256),
            (field(Some(41), 4, Some(604), Some(588)), 1),
            (field(Some(30), 8, Some(568), Some(552)), 512),
            (field(Some(39), 4, Some(624), Some(604)), threads),
            (field(Some(81), 8, Some(640), Some(624)), u64::from(room.scratchpad)),
            (field(Some(82), 4, Some(648), Some(632)), registers),
            (field(Some(83), 4, Some(652), Some(636)), 1),
            // Cooperative launches.
            (field(Some(95), 4, Some(688), Some(668)), 1),
            (field(Some(97), 8, Some(696), Some(672)), shared),
            (field(Some(106), 4, Some(712), Some(688)), u64::from(room.blocks)),
        ];
        let values = values.into_iter().chain(image_limits()).collect();
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

    /// The places are those of the structure's fields in the headers of CUDA 11.8, 12.9 and 13.
    #[test]
    fn limits_of_textures_and_surfaces_are_attributes_and_fields() {
        let properties = Properties::new(&Config::default(), "baseline");
        let fields = [
            // maxTexture1D, maxTexture2D, maxTexture2DLinear, maxTexture2DGather, maxTexture3D, maxTexture3DAlt.
            (408, 396, vec![21]),
            (420, 404, vec![22, 23]),
            (436, 420, vec![70, 71, 72]),
            (448, 432, vec![45, 46]),
            (456, 440, vec![24, 25, 26]),
            (468, 452, vec![47, 48, 49]),
            // maxTextureCubemap, maxTexture1DLayered, maxTexture2DLayered, maxTextureCubemapLayered.
            (480, 464, vec![52]),
            (484, 468, vec![42, 43]),
            (492, 476, vec![27, 28, 29]),
            (504, 488, vec![53, 54]),
            // The same of surfaces.
            (512, 496, vec![55]),
            (516, 500, vec![56, 57]),
            (524, 508, vec![58, 59, 60]),
            (536, 520, vec![61, 62]),
            (544, 528, vec![63, 64, 65]),
            (556, 540, vec![66]),
            (560, 544, vec![67, 68]),
            // textureAlignment, texturePitchAlignment, surfaceAlignment.
            (368, 368, vec![14]),
            (376, 376, vec![51]),
            (568, 552, vec![30]),
        ];
        for (version, _, layout) in SIZES {
            let bytes = properties.structure(version).unwrap();
            let word = |at: usize| u64::from(u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()));
            for (old, new, attributes) in &fields {
                for (index, &attribute) in attributes.iter().enumerate() {
                    let value = properties.attribute(attribute);
                    assert!(value > 0 && word([*old, *new][layout] + 4 * index) == value, "{version}: {attribute}");
                }
            }
        }
        let structure = properties.structure(12).unwrap();
        assert_eq!(structure[416..420], (1u32 << 28).to_le_bytes(), "maxTexture1DLinear, which CUDA 13 does not have");
        assert_eq!(
            [21, 23, 69, 72, 49, 54].map(|a| properties.attribute(a)),
            [131_072, 65_536, 1 << 28, 2_097_120, 32_768, 2046]
        );
        // There are no mipmapped arrays.
        assert_eq!([73, 74, 77].map(|a| properties.attribute(a)), [0; 3]);
    }
}
