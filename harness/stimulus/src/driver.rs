//! Random inputs with weights.

use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::{Instruction, InstructionFields};
use gpurf_blocks::mrf::bits::set_bits;
use gpurf_blocks::share::{RegisterLayout, RegisterLayoutFields};
use gpurf_blocks::write::{WriteFields, WriteWord};
use gpurf_blocks::{Block, Packed, Ports, Shape, view_mut};
use gpurf_lockstep::{Rng, Stimulus};

use crate::{Unaliased, Unreached};

/// A named weight: a chance in a thousand. For each stretch of a run, one of its `values` is picked at random.
#[derive(Clone, Copy, Debug)]
pub struct Knob {
    /// Name.
    pub name: &'static str,
    /// The event whose chance it is.
    pub doc: &'static str,
    /// Values that the chance may have in a stretch.
    pub values: &'static [u32],
}

/// A set of knobs with their values in the current stretch: a struct that [`knobs!`](crate::knobs) declares.
pub trait Knobs: Send + Sized {
    /// Makes the values for a stretch: calls `roll` for each knob, in the order of the declaration, to get its value.
    fn roll(roll: &mut dyn FnMut(&Knob) -> u32) -> Self;

    /// The knobs, in the order of the declaration.
    fn list() -> Vec<Knob> {
        let mut list = Vec::new();
        Self::roll(&mut |knob| {
            list.push(*knob);
            0
        });
        list
    }
}

/// Declares the knobs of a driver, one per line: the name, the event whose chance it is, and the values that a stretch may use.
///
/// ```ignore
/// knobs! {
///     struct QueueKnobs {
///         push: "an entry is pushed" = [100, 500, 950],
///         pop: "the oldest one is taken" = [100, 900, 1000],
///         reset,
///         ..core: CoreKnobs,
///     }
/// }
/// ```
///
/// The driver says `type Knobs = QueueKnobs` and reads a knob as a field: `rng.chance(knobs.push)`.
///
/// * `reset` is the knob that every block with a reset has; `reset = [0, 5, 20]` gives it other values.
/// * `..core: CoreKnobs` adds the knobs of another set. The driver passes them on as `&knobs.core`.
/// * A knob whose name is a keyword of Rust is written `r#move`.
macro_rules! knobs {
    (@knob reset) => { $crate::driver::RESET };
    (@knob reset $($value:literal)+) => { $crate::Knob { values: &[$($value),+], ..$crate::driver::RESET } };
    (@knob $name:ident $doc:literal $($value:literal)+) => {
        $crate::Knob { name: $crate::driver::plain(stringify!($name)), doc: $doc, values: &[$($value),+] }
    };
    ($vis:vis struct $set:ident {
        $($name:ident $(: $doc:literal)? $(= [$($value:literal),+])?,)*
        $(..$inner:ident: $other:ty,)*
    }) => {
        $vis struct $set {
            $(pub(crate) $name: u32,)*
            $(pub(crate) $inner: $other,)*
        }

        impl $crate::Knobs for $set {
            fn roll(roll: &mut dyn FnMut(&$crate::Knob) -> u32) -> Self {
                Self {
                    $($name: roll(&knobs!(@knob $name $($doc)? $($($value)+)?)),)*
                    $($inner: <$other as $crate::Knobs>::roll(roll),)*
                }
            }
        }
    };
}

/// A name without the prefix `r#` of a raw identifier.
pub(crate) fn plain(name: &'static str) -> &'static str {
    name.strip_prefix("r#").unwrap_or(name)
}

/// Makes a block's inputs.
pub trait Driver: Send + Sized + 'static {
    /// The block's inputs.
    type In: Ports<Shape: Shape>;
    /// The knobs of this driver.
    type Knobs: Knobs;

    /// Makes a driver for this shape, which is the shape of the configuration; `cfg_i` is tied to the configuration's straps.
    fn new(shape: &<Self::In as Ports>::Shape, config: &Config) -> Self;

    /// Bits of inputs that cannot be both 0 and 1 in this configuration, with the reason. Every other bit has to take both values.
    fn unreached(_shape: &<Self::In as Ports>::Shape, _config: &Config) -> Vec<Unreached> {
        Vec::new()
    }

    /// Bits of comparisons in the RTL that cannot be the only difference between the operands in this configuration, with the reason.
    fn unaliased(_shape: &<Self::In as Ports>::Shape, _config: &Config) -> Vec<Unaliased> {
        Vec::new()
    }

    /// The inputs of the next cycle. `inputs` holds those of the cycle before; zeros in the first one.
    fn drive(&mut self, rng: &mut Rng, knobs: &Self::Knobs, inputs: &mut Self::In);
}

/// Length of a stretch in cycles: the least, and the bound of the random number that is added to it.
const STRETCH: (u64, u64) = (64, 512);

/// Knobs that stay at a value, by name.
pub type Pins = [(String, u32)];

struct Random<D: Driver> {
    driver: D,
    /// The inputs of the last cycle. They are kept here and not in the caller's buffer, so that the sequence (invalid payloads included) does not
    /// depend on the caller or on the contents of its buffer.
    inputs: Box<D::In>,
    rng: Rng,
    knobs: Option<D::Knobs>,
    left: u64,
    pins: Vec<(String, u32)>,
}

impl<D: Driver> Stimulus for Random<D> {
    fn next(&mut self, inputs: &mut [u8]) -> bool {
        if self.left == 0 {
            self.left = STRETCH.0 + self.rng.below(STRETCH.1);
            let rng = &mut self.rng;
            let pinned = |name: &str| self.pins.iter().find(|pin| pin.0 == name).map(|pin| pin.1);
            self.knobs = Some(D::Knobs::roll(&mut |knob| {
                let rolled = knob.values[rng.below(knob.values.len() as u64) as usize];
                pinned(knob.name).unwrap_or(rolled)
            }));
        }
        self.left -= 1;
        let knobs = self.knobs.as_ref().expect("a stretch begins with the first cycle");
        self.driver.drive(&mut self.rng, knobs, &mut self.inputs);
        *view_mut(inputs) = *self.inputs;
        true
    }
}

pub(crate) fn boxed<D: Driver>(config: &Config, seed: u64, pins: &Pins) -> Box<dyn Stimulus + Send> {
    let (driver, rng) = (D::new(&Shape::of(config), config), Rng::new(seed, "stimulus"));
    let inputs = Box::new(D::In::zeroed());
    Box::new(Random { driver, inputs, rng, knobs: None, left: 0, pins: pins.to_vec() })
}

pub(crate) fn unreached<D: Driver>(config: &Config) -> Vec<Unreached> {
    D::unreached(&Shape::of(config), config)
}

pub(crate) fn unaliased<D: Driver>(config: &Config) -> Vec<Unaliased> {
    D::unaliased(&Shape::of(config), config)
}

/// The knob that every block with a reset has.
pub(crate) const RESET: Knob = Knob { name: "reset", doc: "reset is asserted, under load", values: &[0, 2, 5, 20] };

/// Reset as a stimulus: mostly released, now and then asserted for a few cycles.
#[derive(Default)]
pub(crate) struct Reset {
    left: u64,
}

impl Reset {
    /// The level of `rst_ni`.
    pub(crate) fn next(&mut self, rng: &mut Rng, chance: u32) -> u8 {
        if self.left == 0 && rng.chance(chance) {
            self.left = 1 + rng.below(3);
        }
        let asserted = self.left > 0;
        self.left = self.left.saturating_sub(1);
        u8::from(!asserted)
    }
}

/// An instruction of which all bits are random.
pub(crate) fn any_instruction(rng: &mut Rng) -> InstructionFields {
    let mut words = Instruction::default();
    rng.fill(&mut words.0);
    words.fields()
}

/// A layout of a register file of `places` registers: one that the launcher can make, with or without guests, or random bits.
pub(crate) fn any_layout(rng: &mut Rng, places: usize) -> RegisterLayout {
    if rng.chance(300) {
        return RegisterLayout(rng.next_u64() >> (u64::BITS - RegisterLayout::BITS));
    }
    let few = rng.chance(700);
    let registers = 1 + rng.below(if few { 40 } else { 255 });
    let hosts = 1 + rng.below((places as u64 / registers).clamp(1, 47));
    let guests = rng.chance(800);
    RegisterLayoutFields {
        guest_base: if guests { hosts * registers } else { 0 } as u16,
        host_warps: if guests { hosts } else { 48 } as u8,
        private_registers: 1 + rng.below(registers) as u8,
        registers: registers as u8,
    }
    .into()
}

/// A result for register `d` of a warp; its other fields are random.
pub(crate) fn any_write(rng: &mut Rng, partial: u32, warp: u8, d: u8) -> WriteWord {
    WriteFields { from_private: rng.chance(500).into(), d, warp, mask: lane_mask(rng, partial) }.into()
}

/// A lane mask: all lanes, few, none, or any.
pub(crate) fn lane_mask(rng: &mut Rng, partial: u32) -> u32 {
    if !rng.chance(partial) {
        return u32::MAX;
    }
    match rng.below(8) {
        0 => 0,
        1 => 1 << rng.below(32),
        2 => 0xf << (4 * rng.below(8)),
        3 => u32::MAX >> rng.below(32),
        _ => rng.next_u64() as u32,
    }
}

/// One of the bits of a set, or none of an empty one.
pub(crate) fn any_bit(rng: &mut Rng, set: impl Into<u64>) -> Option<usize> {
    let set = set.into();
    (set != 0).then(|| rng.below(set.count_ones().into()) as usize).and_then(|nth| set_bits(set).nth(nth))
}

/// A number below `end` that differs from `value` in exactly one bit, which is chosen at random. A comparison that ignores this bit takes the number
/// for `value`. Returns `value` itself if there is no such number.
pub(crate) fn alias(rng: &mut Rng, value: u64, end: u64) -> u64 {
    let bits = u64::BITS - end.saturating_sub(1).leading_zeros();
    let from = rng.below(bits.max(1).into()) as u32;
    let mut others = (0..bits).map(|bit| value ^ 1 << ((from + bit) % bits));
    others.find(|&other| other < end).unwrap_or(value)
}

/// A few distinct numbers (of warps or registers, for example) for stimulus in which accesses have to collide. They replace 0, 1, 2, ...: all but the
/// first one are aliases of the first one, while it has any. A driver rolls them anew now and then, so that a run has pairs that differ in each
/// single bit.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    limit: u64,
    names: Vec<u64>,
}

impl Names {
    /// `count` names below `limit`, or `limit` names if that is fewer. The initial names are the lowest numbers.
    pub(crate) fn new(count: usize, limit: u64) -> Self {
        Self { limit, names: (0..limit.min(count as u64)).collect() }
    }

    /// Replaces the names by other ones, once in about 200 calls.
    pub(crate) fn renew(&mut self, rng: &mut Rng) {
        if rng.chance(5) {
            self.roll(rng);
        }
    }

    /// Replaces the names by other ones.
    pub(crate) fn roll(&mut self, rng: &mut Rng) {
        self.names[0] = rng.below(self.limit);
        for n in 1..self.names.len() {
            let (known, rest) = self.names.split_at_mut(n);
            let mut name = alias(rng, known[0], self.limit);
            // This alias is taken, perhaps all of them are: use any other number.
            while known.contains(&name) {
                name = rng.below(self.limit);
            }
            rest[0] = name;
        }
    }

    /// One of the names.
    pub(crate) fn draw(&self, rng: &mut Rng) -> u64 {
        self.first(rng, self.names.len())
    }

    /// One of the first `count` names.
    pub(crate) fn first(&self, rng: &mut Rng, count: usize) -> u64 {
        self.names[rng.below(count.min(self.names.len()) as u64) as usize]
    }

    /// Name number `number`, modulo the number of names.
    pub(crate) fn nth(&self, number: u64) -> u64 {
        self.names[(number % self.names.len() as u64) as usize]
    }
}

/// One bit for each port, each set with this chance.
pub(crate) fn ports(rng: &mut Rng, count: usize, chance: u32) -> u8 {
    rng.mask(count as u32, chance) as u8
}

/// A driver's own twin of the block: it follows the inputs, so that the driver knows which inputs the block accepts.
pub(crate) struct Twin<B: Block> {
    block: B,
    /// Outputs of this cycle.
    pub(crate) out: B::Out,
}

impl<B: Block> Twin<B> {
    pub(crate) fn new(shape: &B::Shape) -> Self {
        Self { block: B::new(shape), out: B::Out::zeroed() }
    }

    /// Begins a cycle: computes the outputs that depend on state only.
    pub(crate) fn early(&mut self) {
        self.block.early(&mut self.out);
    }

    /// Computes the other outputs. May be called again with inputs that have been changed.
    pub(crate) fn late(&mut self, inputs: &B::In) {
        self.block.late(inputs, &mut self.out);
    }

    /// The block's probes in this cycle.
    pub(crate) fn probe(&self, inputs: &B::In) -> B::Probe {
        let mut probe = B::Probe::zeroed();
        self.block.probe(inputs, &self.out, &mut probe);
        probe
    }

    /// The clock edge.
    pub(crate) fn clock(&mut self, inputs: &B::In) {
        self.block.clock(inputs, &self.out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alias_differs_in_one_bit_and_every_bit_has_its_turn() {
        let mut rng = Rng::new(1, "alias");
        for (value, end, all) in [(0, 48, 0x3f), (47, 48, 0x3f), (7, 12, 0xf), (255, 256, 0xff), (0, 1, 0)] {
            let mut seen = 0;
            for _ in 0..1000 {
                let other = alias(&mut rng, value, end);
                assert!(other < end && (other ^ value).count_ones() == u32::from(end > 1), "{value} {end}: {other}");
                seen |= other ^ value;
            }
            // A bit whose inversion leads out of the range cannot be reached.
            let reachable = (0..6).filter(|bit| value ^ 1 << bit < end).fold(0u64, |set, bit| set | 1 << bit);
            assert_eq!(seen & 0x3f, reachable & all, "{value} {end}");
        }
    }

    #[test]
    fn a_few_names_differ_and_have_pairs_in_every_bit() {
        let mut rng = Rng::new(1, "test");
        for (count, limit, bits) in [(6, 256, 0xffu64), (20, 255, 0xff), (2, 48, 0x3f), (6, 3, 0b11), (1, 1, 0)] {
            let mut names = Names::new(count, limit);
            let mut met = 0;
            for _ in 0..200 {
                names.roll(&mut rng);
                let all = &names.names;
                assert_eq!(all.len() as u64, limit.min(count as u64));
                assert!(all.iter().enumerate().all(|(n, name)| *name < limit && !all[..n].contains(name)));
                let pairs = all.iter().map(|name| name ^ all[0]).filter(|differ| differ.count_ones() == 1);
                met |= pairs.fold(0, |met, bit| met | bit);
            }
            assert_eq!(met, bits, "{count} below {limit}");
        }
    }
}
