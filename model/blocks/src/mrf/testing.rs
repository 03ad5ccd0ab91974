//! What the tests of this family share.

use crate::{Block, Field, Ports};

/// A block with its buffers, driven cycle by cycle.
pub(crate) struct Driver<B: Block> {
    pub(crate) block: B,
    /// What the next cycle gets; `rst_ni` is high at first, all else zero.
    pub(crate) inputs: B::In,
    out: B::Out,
    probe: B::Probe,
}

impl<B: Block> Driver<B> {
    pub(crate) fn new(shape: &B::Shape) -> Self {
        let mut inputs = B::In::zeroed();
        for field in B::In::fields(shape) {
            if field.name == "rst_ni" {
                bytes_mut(&mut inputs)[field.offset] = 1;
            }
        }
        Self { block: B::new(shape), inputs, out: B::Out::zeroed(), probe: B::Probe::zeroed() }
    }

    /// One cycle; gives its outputs.
    pub(crate) fn cycle(&mut self) -> B::Out {
        self.block.early(&mut self.out);
        self.block.late(&self.inputs, &mut self.out);
        self.block.probe(&self.inputs, &self.out, &mut self.probe);
        self.block.clock(&self.inputs, &self.out);
        self.out
    }

    /// The probes of the last cycle.
    pub(crate) fn probe(&self) -> &B::Probe {
        &self.probe
    }
}

/// A small generator of random numbers (xorshift64*).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 32) as usize % limit
    }

    /// True in `percent` of a hundred cases.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Fills a struct of ports with values that fit the shape.
    pub(crate) fn fill<T: Ports>(&mut self, fields: &[Field], ports: &mut T) {
        let bytes = bytes_mut(ports);
        for field in fields {
            for element in 0..field.count {
                let start = field.offset + element * field.elem_bytes;
                for word in bytes[start..start + field.elem_bytes].chunks_mut(8) {
                    let value = self.next() & u64::MAX >> (64 - field.bits.min(64));
                    let length = word.len();
                    word.copy_from_slice(&value.to_le_bytes()[..length]);
                }
            }
        }
    }
}

/// The bytes of a struct of ports.
pub(crate) fn bytes<T: Ports>(ports: &T) -> &[u8] {
    // SAFETY: the caller's structs are made by `zeroed`, so that no byte of them is uninitialised.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(ports).cast(), size_of::<T>()) }
}

/// The bytes of a struct of ports.
pub(crate) fn bytes_mut<T: Ports>(ports: &mut T) -> &mut [u8] {
    // SAFETY: as above, and any bytes are a value (promised by `Ports`).
    unsafe { std::slice::from_raw_parts_mut(std::ptr::from_mut(ports).cast(), size_of::<T>()) }
}
