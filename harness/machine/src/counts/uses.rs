//! What a register file has to know of an instruction, read from the instruction set and not from the SM's decoder.

use gpurf_isa::{Instruction, Op, ResultLevel, Slot, SourceLevel};

/// A register that an instruction reads; it counts once, even if the instruction names it several times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Source {
    /// The register.
    pub register: u8,
    /// No lane that executes the instruction reads this value again.
    pub last: bool,
}

/// What a register file has to know of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Uses {
    /// Whether it is sent for operands at all: it is not a branch or an end, and it computes something.
    pub operands: bool,
    /// The registers that it reads, each at the first slot that names it.
    pub sources: [Option<Source>; 3],
    /// The register that it writes.
    pub destination: Option<u8>,
    /// Its result takes hundreds of cycles.
    pub long: bool,
    /// A unit of the private datapath executes it.
    pub private: bool,
    /// Its result goes past the cache.
    pub bypass: bool,
    /// Its result goes past the LRF above the cache.
    pub past: bool,
    /// A register that is dead after it.
    pub free: Option<u8>,
    /// Where its sources are read, by slot.
    pub levels: [SourceLevel; 3],
    /// Where its result is written.
    pub result: ResultLevel,
    /// It is the last instruction of its strand.
    pub ends_strand: bool,
}

impl Uses {
    /// The uses of an instruction.
    pub fn of(instruction: &Instruction) -> Self {
        let control = &instruction.control;
        let mut sources: [Option<Source>; 3] = [None; 3];
        for (slot, register) in instruction.sources() {
            if !sources.iter().flatten().any(|source| source.register == register.0) {
                let k = Slot::ALL.iter().position(|&at| at == slot).unwrap_or_default();
                sources[k] = Some(Source { register: register.0, last: control.is_last_read(slot) });
            }
        }
        let ends = matches!(instruction.op, Op::Nop {} | Op::Bra {} | Op::Exit {} | Op::Membar { .. } | Op::Trap {});
        let destination = instruction.destination().map(|register| register.0);
        Self {
            operands: !ends,
            sources,
            destination,
            long: instruction.is_long_latency() && destination.is_some(),
            // The ALU reads the mask of a WARPSYNC, which computes nothing.
            private: instruction.unit().is_private() || matches!(instruction.op, Op::Warpsync {}),
            bypass: control.bypass.cache,
            past: control.bypass.lrf,
            free: control.free_register.map(|register| register.0),
            levels: Slot::ALL.map(|slot| control.source_level(slot)),
            result: control.result_level,
            ends_strand: control.strand_end,
        }
    }

    /// The uses of its probe: the address is computed, nothing else is read, and nothing is written.
    pub fn of_probe(self) -> Self {
        let [a, b, _] = self.sources;
        Self { sources: [a, b, None], destination: None, long: false, ..self }
    }

    /// The registers that it reads, each once, with their slots.
    pub fn registers(&self) -> impl Iterator<Item = (usize, Source)> + use<> {
        self.sources.into_iter().enumerate().filter_map(|(k, source)| source.map(|source| (k, source)))
    }
}
