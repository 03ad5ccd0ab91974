//! The launch of a program, and its initial values.

use gpurf_isa::Reg;
use gpurf_lockstep::Rng;

use super::Generator;
use crate::program::lower::{BufferKind, CONSTANT_WORDS, FLOAT_WORDS, INPUT_WORDS, SUM_BYTES};
use crate::program::{First, Fixed, Layout, Limits, Program, Release, Weights};

/// Fewest registers of a program: those with a fixed role, and some to compute with.
const FEWEST_REGISTERS: u32 = 24;
/// Fewest warps of a grid, if the sizes allow it.
const FEWEST_WARPS: u32 = 6;
/// The words of dynamic shared memory are fewer than this.
const MOST_DYNAMIC: u32 = 128;
/// Bytes of the flags at the end of shared memory, and the granularity of its allocation.
const SHARED_SLACK: u32 = 32 + 128;

/// Floats that are awkward: zeros, subnormals, the ends of the range, neighbours of one, halves, infinities, NaNs.
pub const AWKWARD: [u32; 32] = [
    0x0000_0000,
    0x8000_0000,
    0x0000_0001,
    0x8000_0001,
    0x007f_ffff,
    0x807f_ffff,
    0x0080_0000,
    0x8080_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x3f7f_ffff,
    0x3f80_0001,
    0x3f00_0000,
    0xbf00_0000,
    0x3fc0_0000,
    0x4020_0000,
    0x4b00_0000,
    0x4b00_0001,
    0x4b80_0000,
    0x4eff_ffff,
    0x4f00_0000,
    0xcf00_0000,
    0x4f80_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0xffc0_0000,
    0x7f80_0001,
    0x7fff_ffff,
    0x4049_0fdb,
];

/// The middle of global memory (2 GiB), the lowest address of a buffer, the address of the input if it lies across the middle, and the end of the
/// last buffer.
const HALF: u32 = 1 << 31;
const LOWEST: u32 = 1 << 24;
const INPUT_ACROSS_HALF: u32 = HALF - 2 * INPUT_WORDS;
const HIGHEST: u32 = 0xFFFF_0000;
/// Bytes between two buffers; the buffers after them take at most as many.
const GUARD: u32 = 1 << 20;
/// Alignment of buffers.
const ALIGNMENT: u32 = 256;

impl<'a> Generator<'a> {
    pub(super) fn new(seed: u64, attempt: u32, weights: &'a Weights, limits: &'a Limits) -> Self {
        let rng = Rng::new(seed, &format!("program {attempt}"));
        let layout = Layout { shared_words: 32, own_words: 64, local_words: 4, dynamic: 0, interleaved: false };
        let program = Program {
            seed,
            grid: [1; 3],
            block: [32, 1, 1],
            registers: 0,
            ordered: false,
            timed: false,
            body: Vec::new(),
            fixed: [Reg::ZERO; Fixed::COUNT],
            first: Vec::new(),
            first_predicates: [0; 7],
            layout,
            addresses: [None; 4],
            constants: [0; CONSTANT_WORDS as usize],
            floats: Vec::new(),
            textures: Vec::new(),
            split_end: false,
            release: release(seed, limits),
            scratchpad: limits.scratchpad,
            compiler: limits.compiler,
        };
        let mut generator = Self {
            rng,
            weights,
            limits,
            program,
            pool: Vec::new(),
            written: Default::default(),
            read: Default::default(),
            predicates: Default::default(),
            warps_end: false,
            control: false,
            flags: 0,
            exits: 0,
            warp_ends: 0,
            depth: 0,
        };
        generator.launch();
        generator.registers();
        generator.contents();
        if weights.mix.texture > 0 {
            generator.program.textures = generator.textures();
        }
        generator
    }

    fn launch(&mut self) {
        let (sizes, chances) = (&self.weights.sizes, &self.weights.chances);
        let mut warps = self.range(sizes.warps).min(self.limits.warps).min(32);
        // A row of the register file has a register of each bank.
        let rows = |registers: u32| registers.div_ceil(self.limits.banks);
        let full = chances.full > 0 && self.rng.chance(chances.full);
        if full {
            // The SM's warps have to make whole blocks.
            warps = (1..=warps).rev().find(|warps| self.limits.warps.is_multiple_of(*warps)).unwrap_or(1);
        }
        let together = if full { self.limits.warps } else { warps };
        let mut registers = self.range(sizes.registers).min(self.limits.registers);
        while together * rows(registers) > self.limits.rows && registers > FEWEST_REGISTERS {
            registers -= 1;
        }
        while warps > 1 && warps * rows(registers) > self.limits.rows {
            warps -= 1;
        }
        let mut shared_words = self.power_of_two(sizes.shared_words);
        let shared = |words: u32| 8 * (warps * words).next_power_of_two() + SUM_BYTES + SHARED_SLACK;
        let resident = if full { self.limits.warps / warps } else { 1 };
        let spare = if full { 4 * MOST_DYNAMIC } else { 0 };
        let room = (self.limits.shared / resident).saturating_sub(spare).min(gpurf_isa::machine::SHARED_LIMIT);
        while shared(shared_words) > room && shared_words > 32 {
            shared_words /= 2;
        }
        let layout = Layout {
            shared_words,
            own_words: self.power_of_two(sizes.own_words),
            local_words: self.power_of_two(sizes.local_words),
            dynamic: if self.rng.chance(500) { 4 * self.rng.below(u64::from(MOST_DYNAMIC)) as u32 } else { 0 },
            interleaved: chances.interleaved > 0 && self.rng.chance(chances.interleaved),
        };
        let missing = if self.rng.chance(chances.partial) { self.range([1, 31]) } else { 0 };
        // With few warps, programs would have to be long.
        let blocks = self.range(sizes.blocks).max((FEWEST_WARPS / warps).min(sizes.blocks[1]));
        let blocks = if full { blocks.max(resident) } else { blocks };
        self.depth = self.range(sizes.depth);
        self.warps_end = self.rng.chance(chances.warps_end);
        self.control = self.rng.chance(chances.control);
        let program = &mut self.program;
        program.layout = layout;
        program.registers = registers as u16;
        program.block = extent(&mut self.rng, 32 * warps - missing, 64);
        program.grid = match self.weights.chances.tall > 0 && self.rng.chance(self.weights.chances.tall) {
            true if self.rng.chance(500) => [1, blocks, 1],
            true => [1, 1, blocks],
            false => extent(&mut self.rng, blocks, 65_535),
        };
        program.ordered = self.rng.chance(chances.ordered);
        program.timed = self.rng.chance(chances.time);
        program.split_end = self.rng.chance(chances.split_end);
        // Buffers at the end of memory leave no room for those of textures.
        if chances.high > 0 && self.weights.mix.texture == 0 && !layout.interleaved && self.rng.chance(chances.high) {
            self.addresses();
        }
    }

    /// Addresses of buffers, in ascending order. Successive seeds take the arrangements in turn, so that a few programs have all of them.
    fn addresses(&mut self) {
        let program = &self.program;
        let (own_bytes, warps) = (4 * program.layout.own_words, program.warps() * program.blocks());
        let size = own_bytes * warps;
        let aligned = |address: u32| address & !(ALIGNMENT - 1);
        let low = aligned(LOWEST + self.rng.below(u64::from(HALF - LOWEST - size - GUARD)) as u32);
        let (own, input) = match program.seed % 3 {
            // The words of a warp in the middle lie on both sides of 2 GiB, if they take more than the alignment.
            0 => (Some(aligned(HALF - own_bytes * (warps / 2) - own_bytes / 2)), None),
            1 => (None, Some(INPUT_ACROSS_HALF)),
            _ => (Some(low), Some(low | HALF)),
        };
        let mut addresses = [None; BufferKind::ALL.len()];
        addresses[BufferKind::Own as usize] = own;
        addresses[BufferKind::Input as usize] = input.filter(|input| *input < HIGHEST - GUARD);
        addresses[BufferKind::Sums as usize] = Some(aligned(HIGHEST - SUM_BYTES));
        self.program.addresses = addresses;
    }

    /// Whether the read-only words lie on both sides of 2 GiB.
    pub(super) fn has_input_across_half(&self) -> bool {
        self.program.addresses[BufferKind::Input as usize] == Some(INPUT_ACROSS_HALF)
    }

    /// Chooses the registers. Those with a fixed role have random numbers, so that they are spread over the banks.
    fn registers(&mut self) {
        let mut numbers: Vec<u8> = (0..self.program.registers as u8).collect();
        self.rng.shuffle(&mut numbers);
        self.pool = numbers.split_off(Fixed::COUNT).into_iter().map(Reg).collect();
        self.program.fixed = std::array::from_fn(|role| Reg(numbers[role]));
        self.program.first = (0..self.program.registers).map(|_| self.first()).collect();
        self.program.first_predicates = std::array::from_fn(|_| if self.is_unwritten() { 0 } else { self.word() });
    }

    /// Whether a register or a predicate is initially zero, as the compiler makes one that is live at a kernel's entry.
    fn is_unwritten(&mut self) -> bool {
        let chance = self.weights.chances.unwritten;
        chance > 0 && self.rng.chance(chance)
    }

    fn first(&mut self) -> First {
        if self.is_unwritten() {
            return First::Constant(0);
        }
        match self.rng.below(8) {
            0 => First::Constant(self.pick(&AWKWARD)),
            1 => First::Constant(self.rng.below(64) as u32),
            2 => First::Hash(1),
            _ => First::Hash(self.word() | 1),
        }
    }

    fn contents(&mut self) {
        self.program.constants = std::array::from_fn(|_| match self.rng.below(3) {
            0 => self.rng.below(40) as u32,
            1 => self.pick(&AWKWARD),
            _ => self.word(),
        });
        self.program.floats = (0..FLOAT_WORDS).map(|_| self.float()).collect();
    }

    /// A float: awkward, near others, or any.
    fn float(&mut self) -> u32 {
        match self.rng.below(3) {
            0 => self.pick(&AWKWARD),
            1 => self.word() & 0x83ff_ffff | 0x3c00_0000,
            _ => self.word(),
        }
    }
}

/// Where threads release shared memory. On machines in which blocks share it, half of the programs release it as early as they can. Programs for
/// other machines do not depend on the choice.
fn release(seed: u64, limits: &Limits) -> Release {
    match Rng::new(seed, "release").below(4) {
        _ if limits.scratchpad.is_none() => Release::Never,
        0 => Release::Never,
        1 => Release::Last,
        _ => Release::Early,
    }
}

/// Splits `count` into one to three dimensions, of which the last one is at most `deepest`.
fn extent(rng: &mut Rng, count: u32, deepest: u32) -> [u32; 3] {
    let divisor = |rng: &mut Rng, of: u32, most: u32| {
        let divisors: Vec<u32> = (1..=of.min(most)).filter(|n| of.is_multiple_of(*n)).collect();
        divisors[rng.below(divisors.len() as u64) as usize]
    };
    if rng.chance(400) {
        return [count, 1, 1];
    }
    let z = if rng.chance(500) { divisor(rng, count, deepest) } else { 1 };
    let y = divisor(rng, count / z, 1024);
    [count / z / y, y, z]
}
