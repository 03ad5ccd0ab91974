//! Operands for the tests: the awkward values of single precision, and random ones that meet each other.
#![allow(dead_code, reason = "each test program uses a part of it")]

use gpurf_arith::Rounding;
use rustc_apfloat::Round;

/// Values at which rules change, with both signs: zeros, the ends of the subnormals, of the normals and of the integer
/// types, powers of two and their neighbours, infinities and NaN.
pub fn awkward() -> Vec<u32> {
    let magnitudes = [
        0x0000_0000,
        0x0000_0001,
        0x0000_0002,
        0x0000_0003,
        0x003f_ffff,
        0x0040_0000,
        0x0040_0001,
        0x007f_ffff,
        0x0080_0000,
        0x0080_0001,
        0x00ff_ffff,
        0x0100_0000,
        0x0c00_0000,
        0x0d80_0001,
        0x1f80_0000,
        0x3300_0000,
        0x3380_0000,
        0x3380_0001,
        0x3eff_ffff,
        0x3f00_0000,
        0x3f00_0001,
        0x3f7f_ffff,
        0x3f80_0000,
        0x3f80_0001,
        0x3fc0_0000,
        0x3fff_ffff,
        0x4000_0000,
        0x4020_0000,
        0x4040_0000,
        0x42ff_0000,
        0x4300_0000,
        0x437f_8000,
        0x4b00_0000,
        0x4b7f_ffff,
        0x4b80_0000,
        0x4eff_ffff,
        0x4f00_0000,
        0x4f7f_ffff,
        0x4f80_0000,
        0x5f00_0000,
        0x5f80_0000,
        0x7e7f_ffff,
        0x7e80_0000,
        0x7e80_0001,
        0x7f00_0000,
        0x7f7f_ffff,
        0x7f80_0000,
        0x7f80_0001,
        0x7fc0_0000,
        0x7fff_ffff,
    ];
    magnitudes.iter().flat_map(|&magnitude| [magnitude, magnitude | 1 << 31]).collect()
}

/// A small generator (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    /// A value with any exponent; a quarter have few significant bits, so that ties and exact results occur.
    pub fn float(&mut self) -> u32 {
        let bits = self.next();
        let value = bits as u32;
        if bits >> 62 == 0 { value & (u32::MAX << (bits >> 32 & 31)) } else { value }
    }

    /// A value whose exponent is within 32 of that of `other`.
    pub fn float_near(&mut self, other: u32) -> u32 {
        let bits = self.next();
        let field = (other >> 23 & 0xff) as i32 + (bits >> 56 & 63) as i32 - 32;
        self.float() & 0x807f_ffff | (field.clamp(0, 255) as u32) << 23
    }

    /// An integer of any size.
    pub fn integer(&mut self) -> u64 {
        let bits = self.next();
        let value = self.next();
        match bits & 7 {
            0 => (bits >> 32 & 3).wrapping_sub(2),
            1 => (1u64 << (bits >> 3 & 63)).wrapping_add((bits >> 32 & 3).wrapping_sub(2)),
            _ => value >> (bits >> 3 & 63),
        }
    }

    pub fn rounding(&mut self) -> Rounding {
        Rounding::ALL[(self.next() >> 60 & 3) as usize]
    }
}

pub fn round_of(rounding: Rounding) -> Round {
    match rounding {
        Rounding::NearestEven => Round::NearestTiesToEven,
        Rounding::TowardZero => Round::TowardZero,
        Rounding::Down => Round::TowardNegative,
        Rounding::Up => Round::TowardPositive,
    }
}

/// Runs `part` with a generator of its own on every core, until `cases` cases are done in all, and prints the rate.
pub fn in_parallel(name: &str, cases: u64, part: impl Fn(&mut Random, u64) + Sync) {
    let start = std::time::Instant::now();
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let part = &part;
            scope.spawn(move || part(&mut Random(thread + 1), cases / threads));
        }
    });
    let seconds = start.elapsed().as_secs_f64();
    println!("{name}: {cases} cases in {seconds:.1} s, {:.1} million a second", cases as f64 / seconds / 1e6);
}
