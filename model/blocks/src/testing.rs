//! What the tests of blocks share.

use crate::config::{Config, Reference, Start, presets};
use crate::design::Services;
use crate::designs::Organisation;
use crate::mrf::{MrfShape, MrfSizes};
use crate::shape::{ActiveShape, SM_CFG_BITS, Shared, SmShape, Straps};
use crate::{Block, Declaration, Field, Ports, erase};

/// Shapes that differ in every size; the second one has conflicts and hazards all the time.
pub(crate) const SHAPES: [MrfShape; 4] = [
    MrfShape::BASELINE,
    MrfShape {
        banks: 2,
        dual_port: false,
        collectors: 4,
        issue_ports: 2,
        depth: 2,
        tag_w: 1,
        places: false,
        unified: false,
        separate: false,
    },
    MrfShape {
        banks: 4,
        dual_port: true,
        collectors: 8,
        issue_ports: 2,
        depth: 4,
        tag_w: 64,
        places: false,
        unified: false,
        separate: false,
    },
    MrfShape {
        banks: 32,
        dual_port: true,
        collectors: 16,
        issue_ports: 1,
        depth: 32,
        tag_w: 8,
        places: false,
        unified: false,
        separate: false,
    },
];

/// SMs that differ in every size; the second one is full all the time.
pub(crate) const SM_SHAPES: [SmShape; 2] = [
    SmShape {
        mrf: MrfShape { tag_w: 3, ..MrfShape::BASELINE },
        active: 0,
        alternate: false,
        organisation: Organisation::Mrf(MrfSizes { places: false }),
        warps: 32,
        code_words: 4096,
        const_words: 17408,
        shared_words: 16384,
        line_rows: 64,
        queue_depth: 32,
        sources: 3,
        power_entries: 3,
        share: Shared::Nothing,
        throttle: 0,
        reference: Reference::Sampled,
        cache_lines: 0,
        cache_ways: 4,
        cache_misses: 64,
    },
    SmShape {
        mrf: MrfShape {
            banks: 4,
            dual_port: true,
            collectors: 4,
            issue_ports: 2,
            depth: 32,
            tag_w: 2,
            places: false,
            unified: false,
            separate: false,
        },
        active: 0,
        alternate: false,
        organisation: Organisation::Mrf(MrfSizes { places: false }),
        warps: 8,
        code_words: 64,
        const_words: 1024,
        shared_words: 1024,
        line_rows: 4,
        queue_depth: 16,
        sources: 1,
        power_entries: 0,
        share: Shared::Nothing,
        throttle: 3,
        reference: Reference::Sampled,
        cache_lines: 0,
        cache_ways: 4,
        cache_misses: 64,
    },
];

/// Data caches that differ in every size; the second one is full all the time.
pub(crate) const CACHE_SHAPES: [SmShape; 5] = [
    SmShape { cache_lines: 512, cache_ways: 4, cache_misses: 64, ..SM_SHAPES[0] },
    SmShape { cache_lines: 4, cache_ways: 2, cache_misses: 4, line_rows: 4, ..SM_SHAPES[1] },
    SmShape { cache_lines: 8, cache_ways: 1, cache_misses: 8, line_rows: 128, ..SM_SHAPES[1] },
    SmShape { cache_lines: 4096, cache_ways: 8, cache_misses: 128, line_rows: 16, ..SM_SHAPES[0] },
    SmShape { cache_lines: 384, cache_ways: 3, cache_misses: 16, line_rows: 16, ..SM_SHAPES[0] },
];

/// SMs with unified memory that differ in every size; the first one is full all the time.
pub(crate) const UNIFIED_SHAPES: [SmShape; 2] = [
    SmShape {
        mrf: MrfShape { depth: 96, unified: true, ..SM_SHAPES[1].mrf },
        shared_words: 128 * 96,
        cache_lines: 16,
        cache_ways: 2,
        cache_misses: 4,
        throttle: 0,
        ..SM_SHAPES[1]
    },
    SmShape {
        mrf: MrfShape { banks: 4, dual_port: true, depth: 768, unified: true, ..SM_SHAPES[0].mrf },
        shared_words: 128 * 768,
        power_entries: 0,
        cache_lines: 2048,
        cache_ways: 4,
        cache_misses: 64,
        ..SM_SHAPES[0]
    },
];

/// Sizes of the two-level scheduler that differ in everything.
pub(crate) const ACTIVE_SHAPES: [ActiveShape; 2] = [
    ActiveShape { mrf: MrfShape::BASELINE, warps: 32, active: 8, candidates: false },
    ActiveShape {
        mrf: MrfShape {
            banks: 4,
            dual_port: true,
            collectors: 4,
            issue_ports: 2,
            depth: 32,
            tag_w: 3,
            places: false,
            unified: false,
            separate: false,
        },
        warps: 8,
        active: 6,
        candidates: false,
    },
];

/// The organisation of a design that asks for such services.
pub(crate) fn organisation_with(asks: impl Fn(&Services) -> bool) -> Organisation {
    let mut all = presets().map(|preset| Organisation::of(&preset.config));
    all.find(|organisation| asks(&organisation.design().services)).expect("a design asks for it")
}

/// The same SM with a design that takes candidates.
pub(crate) fn with_candidates(shape: &SmShape) -> SmShape {
    SmShape { organisation: organisation_with(|services| services.takes_candidates), ..*shape }
}

/// The warps below `warps` of which something holds.
pub(crate) fn set_of(is: impl Fn(usize) -> bool, warps: usize) -> u64 {
    (0..warps).fold(0, |set, w| set | u64::from(is(w)) << w)
}

/// A division of so many warps as the launcher makes it, with guests: each warp's slot; gives the warps of hosts, and of all slots.
pub(crate) fn divided(random: &mut Random, warps: usize, slot: &mut [u8]) -> (u8, u8) {
    let n = 1 + random.below(4);
    let hosts = 1 + random.below((warps / n / 2).min(8));
    let guests = random.below(hosts + 1).min(warps / n - hosts);
    for (w, slot) in slot[..warps].iter_mut().enumerate() {
        *slot = (w / n).min(15) as u8;
    }
    ((hosts * n) as u8, ((hosts + guests) * n) as u8)
}

/// The baseline with these settings.
pub(crate) fn set(settings: &[impl AsRef<str>]) -> Result<Config, String> {
    Config::load(Start::Preset("baseline"), settings).map_err(|e| e.to_string())
}

/// Loads a file with this text; the message has `FILE` in place of its path.
pub(crate) fn file(text: &str) -> Result<Config, String> {
    static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("gpurf-config-{}-{count}.toml", std::process::id()));
    std::fs::write(&path, text).unwrap();
    let result = Config::load(Start::File(&path), &[] as &[&str]);
    std::fs::remove_file(&path).unwrap();
    result.map_err(|e| e.to_string().replace(&path.display().to_string(), "FILE"))
}

/// Every value of a key is refused with what is allowed: key, values, words.
pub(crate) fn refuses(cases: &[(&str, &[&str], &str)]) {
    for (key, values, allowed) in cases {
        for value in *values {
            let message = format!("--set: {key} = {value} is not allowed: it has to be {allowed}");
            assert_eq!(set(&[&format!("{key}={value}")]), Err(message));
        }
    }
}

/// A preset with these settings.
pub(crate) fn config(preset: &str, settings: &[&str]) -> Config {
    Config::load(Start::Preset(preset), settings).expect("a configuration")
}

/// The straps of a configuration's design. All its straps come back from the SM's ports.
pub(crate) fn design_straps(config: &Config) -> u128 {
    let straps = Straps::of(config);
    assert!(u128::from(straps.word()) >> SM_CFG_BITS == 0);
    assert_eq!(Straps::of_ports(straps.word(), &straps.design_word()), straps, "{:?}", config.settings());
    straps.design.straps
}

/// A block with its buffers, driven cycle by cycle.
pub(crate) struct Driver<B: Block> {
    pub(crate) block: B,
    /// What the next cycle gets; `rst_ni` is high at first, all else zero.
    pub(crate) inputs: B::In,
    /// What the last cycle gave.
    pub(crate) out: B::Out,
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

/// A field of an event word.
pub(crate) fn event(layout: &[(&str, u32)], word: u64, name: &str) -> u64 {
    let place = layout.iter().position(|&(field, _)| field == name).expect("the event has this field");
    let below: u32 = layout[place + 1..].iter().map(|&(_, bits)| bits).sum();
    word >> below & ((1 << layout[place].1) - 1)
}

/// Runs a block with random inputs, which `drive` corrects, against `reference`, which gives outputs and probes of each
/// cycle: they must agree wherever they mean anything.
pub(crate) fn compare<B: Block>(
    shape: &B::Shape,
    cycles: usize,
    mut drive: impl FnMut(&mut Random, &mut B::In),
    mut reference: impl FnMut(&B::In) -> (B::Out, B::Probe),
) {
    let twin = erase::<B>(shape);
    let declaration = twin.declaration();
    let fields = B::In::fields(shape);
    let mut random = Random(1);
    let mut driver = Driver::<B>::new(shape);
    for cycle in 0..cycles {
        random.fill(&fields, &mut driver.inputs);
        drive(&mut random, &mut driver.inputs);
        let out = driver.cycle();
        let found = record::<B>(declaration, &driver.inputs, &out, driver.probe());
        let (out, probe) = reference(&driver.inputs);
        let expected = record::<B>(declaration, &driver.inputs, &out, &probe);
        for (index, signal) in declaration.signals.iter().enumerate() {
            for element in 0..signal.field.count {
                if declaration.is_valid(&expected, index, element) {
                    let (found, expected) =
                        (signal.field.bytes(&found, element), signal.field.bytes(&expected, element));
                    assert_eq!(found, expected, "cycle {cycle}, {}[{element}]", signal.field.name);
                }
            }
        }
    }
}

/// A cycle of a block as the harness lays it out.
fn record<B: Block>(declaration: &Declaration, inputs: &B::In, out: &B::Out, probe: &B::Probe) -> Vec<u8> {
    let mut record = vec![0; declaration.record_bytes];
    let probe_start = declaration.input_bytes + size_of::<B::Out>().next_multiple_of(64);
    record[..size_of::<B::In>()].copy_from_slice(bytes(inputs));
    record[declaration.input_bytes..][..size_of::<B::Out>()].copy_from_slice(bytes(out));
    record[probe_start..][..size_of::<B::Probe>()].copy_from_slice(bytes(probe));
    record
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

/// A block alone, with its buffers: to be wired to others as a page says.
pub(crate) struct Wired<B: Block> {
    pub(crate) block: B,
    pub(crate) inputs: B::In,
    pub(crate) out: B::Out,
}

impl<B: Block> Wired<B> {
    pub(crate) fn new(shape: &B::Shape) -> Self {
        let mut wired = Self { block: B::new(shape), inputs: B::In::zeroed(), out: B::Out::zeroed() };
        wired.block.early(&mut wired.out);
        wired
    }

    pub(crate) fn many(shape: &B::Shape, count: usize) -> Vec<Self> {
        (0..count).map(|_| Self::new(shape)).collect()
    }

    pub(crate) fn late(&mut self) {
        self.block.late(&self.inputs, &mut self.out);
    }

    pub(crate) fn probe(&self) -> B::Probe {
        let mut probe = B::Probe::zeroed();
        self.block.probe(&self.inputs, &self.out, &mut probe);
        probe
    }

    /// The edge, and what follows from state afterwards.
    pub(crate) fn clock(&mut self) {
        self.block.clock(&self.inputs, &self.out);
        self.block.early(&mut self.out);
    }
}
