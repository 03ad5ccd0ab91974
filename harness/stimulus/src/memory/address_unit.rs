//! `address_unit`.

use gpurf_blocks::config::Config;
use gpurf_blocks::instruction::{Instruction, NO_PRED, NO_REG, RolesFields, cause, modifiers, opcode};
use gpurf_blocks::memory::{AddressUnit, AddressUnitIn, AddressUnitOut, AddressUnitProbe};
use gpurf_blocks::shape::SmShape;
use gpurf_blocks::sizes::MAX_WARPS;
use gpurf_blocks::write::WrittenWord;
use gpurf_blocks::{LANES, OPERANDS, WarpData};
use gpurf_lockstep::Rng;

use super::lanes::{set_lanes, some_lanes};
use crate::driver::{Reset, Twin, alias, any_instruction, ports};
use crate::{Driver, Points, Unreached, cover};

/// Stimulus of the block.
pub(crate) const ENTRY: crate::Entry = crate::entry::<AddressUnit, AddressUnitDriver, AddressUnitCover>();

const SHFL: u8 = 0x13;
const LD: u8 = 0x40;
const ST: u8 = 0x41;
const ATOM: u8 = 0x43;
const CAS: u8 = 0x44;
const TEX: u8 = 0x46;
const RELSSP: u8 = 0x08;
/// No instruction of a program: a probe, which finds out where the accesses of an instruction lie.
const PROBE: u8 = 0x45;

/// Spaces of loads, stores and atomic operations. The upper words of generic addresses have the same numbers, except for global ones.
const GLOBAL: u32 = 0;
const SHARED: u32 = 1;
const LOCAL: u32 = 2;
const GENERIC: u32 = 3;
/// The constant space, in the upper word of a generic address.
const CONSTANT: u32 = 3;

pub(crate) struct AddressUnitDriver {
    shape: SmShape,
    reset: Reset,
    /// Follows the inputs, to know which lanes are offered to which unit.
    twin: Twin<AddressUnit>,
    /// Parts of the result of the held instruction that have not been written yet.
    parts: u32,
}

knobs! {
    pub(crate) struct AddressUnitKnobs {
        offer: "an instruction is offered" = [200, 800, 1000],
        serve: "a unit serves lanes" = [200, 800, 1000],
        few: "it serves some of them, not all" = [0, 100, 600, 1000],
        one: "of some lanes it serves one" = [100, 500, 1000],
        written: "a part of the result is written" = [20, 150, 600, 1000],
        generics: "an address is generic" = [100, 800],
        mixed: "generic addresses of an instruction are in several spaces" = [0, 700],
        fault: "an instruction is at fault" = [0, 300, 700],
        partial: "lanes do not take part" = [0, 500, 900],
        other: "a shuffle, a texture fetch or a release" = [50, 300],
        probe: "an access is a probe" = [0, 300, 900],
        released: "the block has released the common area" = [0, 200, 800],
        // More often than in other blocks, since the states that a reset has to hit are short.
        reset = [0, 5, 20, 60],
    }
}

/// Bits of the address at which a block's shared memory begins, and of its size.
const BASE_BITS: u32 = 19;
const BYTES_BITS: u32 = 17;

/// Why a bit of the operation word keeps its value.
const NOT_IN_AN_OPCODE: &str = "no operation of the unit has it in its opcode";

impl Driver for AddressUnitDriver {
    type In = AddressUnitIn;
    type Knobs = AddressUnitKnobs;

    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { shape: *shape, reset: Reset::default(), twin: Twin::new(shape), parts: 0 }
    }

    fn unreached(shape: &SmShape, _: &Config) -> Vec<Unreached> {
        let mut all = vec![Unreached::field::<Instruction>("in_instruction_i", "op", 5..=5, NOT_IN_AN_OPCODE)];
        // An empty block may begin where shared memory ends.
        let past = (4 * shape.shared_words).ilog2() + 1;
        let common = shape.shares_scratchpad().then_some(("place_common_i", BASE_BITS));
        for (signal, bits) in [("place_base_i", BASE_BITS), ("shared_bytes_i", BYTES_BITS)].into_iter().chain(common) {
            if past < bits {
                all.push(Unreached::bits(signal, past..=bits - 1, "shared memory ends before"));
            }
        }
        if shape.shares_scratchpad() {
            for signal in ["place_base_i", "place_common_i", "private_bytes_i"] {
                all.push(Unreached::bits(signal, 0..=1, "shared memory is handed out in words"));
            }
        } else {
            all.push(Unreached::bits("place_base_i", 0..=6, "a block's shared memory begins at a multiple of 128"));
            for signal in ["place_common_i", "place_released_i", "private_bytes_i"] {
                all.push(Unreached::all(signal, "blocks share no shared memory"));
            }
        }
        if shape.ports() == 1 {
            all.push(Unreached::all("in_port_i", "there is one port"));
        }
        all
    }

    fn drive(&mut self, rng: &mut Rng, knobs: &AddressUnitKnobs, inputs: &mut AddressUnitIn) {
        self.twin.early();
        inputs.rst_ni = self.reset.next(rng, knobs.reset);
        let served = self.served(rng, knobs);
        let to = |valid: u8| if valid == 1 { served } else { 0 };
        inputs.global_served_i = to(self.twin.out.global_valid_o);
        inputs.shared_served_i = to(self.twin.out.shared_valid_o);
        inputs.constant_served_i = to(self.twin.out.constant_valid_o);
        inputs.shuffle_served_i = to(self.twin.out.shuffle_valid_o);
        inputs.in_valid_i = rng.chance(knobs.offer).into();
        if inputs.in_valid_i == 1 {
            self.bounds(rng, knobs, inputs);
            inputs.in_port_i = rng.below(self.shape.ports() as u64) as u8;
            inputs.in_src_valid_i = 0;
            for port in 0..self.shape.ports() {
                self.instruction(rng, knobs, inputs, port);
            }
        }
        let written = self.write(rng, knobs, inputs);
        self.twin.late(inputs);
        let out = &self.twin.out;
        let lanes =
            inputs.global_served_i | inputs.shared_served_i | inputs.constant_served_i | inputs.shuffle_served_i;
        if inputs.in_valid_i & out.in_ready_o == 1 || out.busy_o == 0 {
            self.parts = 0;
        } else {
            self.parts = self.parts + u32::from(lanes != 0 && out.reg_valid_o == 1) - u32::from(written);
        }
        self.twin.clock(inputs);
    }
}

/// An instruction before it is encoded.
struct Draft {
    opcode: u8,
    m: u32,
    /// Registers by number; [`NO_REG`] for none.
    d: u8,
    a: u8,
    b: u8,
    c: u8,
    p: u8,
    /// Source b is this constant.
    constant: Option<u32>,
    offset: i32,
}

impl Draft {
    fn instruction(&self, rng: &mut Rng) -> Instruction {
        // Fields that the unit does not read are random.
        let mut any = any_instruction(rng);
        let upper = match self.constant {
            Some(constant) => u64::from(constant),
            None => u64::from(self.b) | u64::from(self.offset.cast_unsigned() & 0xff_ffff) << 8,
        };
        let b_constant = u8::from(self.constant.is_some());
        any.op = u64::from(self.opcode)
            | u64::from(b_constant) << 7
            | any.op & 0xf << 8
            | u64::from(self.d) << 12
            | u64::from(self.a) << 20
            | u64::from(self.m & 15) << 28
            | upper << 32;
        any.ctl = u64::from(self.c) | u64::from(self.m >> 4) << 8 | any.ctl >> 20 << 20;
        let Self { a, b, c, d, p, .. } = *self;
        any.roles = RolesFields { a, b, c, d, p, b_constant, ..any.roles.fields() }.into();
        any.into()
    }
}

fn register(rng: &mut Rng, present: u32) -> u8 {
    if rng.chance(present) { rng.below(NO_REG.into()) as u8 } else { NO_REG }
}

impl AddressUnitDriver {
    /// The lanes that are served by the unit to which they are offered.
    fn served(&self, rng: &mut Rng, knobs: &AddressUnitKnobs) -> u32 {
        let offered = self.twin.out.lanes_o;
        if !rng.chance(knobs.serve) {
            0
        } else if !rng.chance(knobs.few) {
            offered
        } else if rng.chance(knobs.one) {
            offered & offered.wrapping_neg()
        } else {
            offered & rng.next_u64() as u32
        }
    }

    /// Results that go into the register file: at most one part of the held result, and others. Returns whether there is such a part.
    fn write(&self, rng: &mut Rng, knobs: &AddressUnitKnobs, inputs: &mut AddressUnitIn) -> bool {
        let out = &self.twin.out;
        let held = (out.warp_o, out.reg_o);
        let part = self.parts > 0 && rng.chance(knobs.written);
        let bus = rng.below(self.shape.ports() as u64) as usize;
        inputs.write_done_i = ports(rng, self.shape.ports(), 500);
        for p in 0..self.shape.ports() {
            let any = (rng.below(MAX_WARPS as u64) as u8, rng.below(NO_REG.into()) as u8);
            let (warp, register) = match rng.below(3) {
                0 => (alias(rng, held.0.into(), MAX_WARPS as u64) as u8, held.1),
                1 => (held.0, alias(rng, held.1.into(), NO_REG.into()) as u8),
                _ => any,
            };
            // Other results are of another register or of another warp. Where no result is written, they may be any.
            let (warp, register) = match inputs.write_done_i >> p & 1 {
                0 if rng.chance(500) => held,
                1 if (warp, register) == held => (warp ^ 1, register),
                _ => (warp, register),
            };
            inputs.written_i[p] = WrittenWord::new(warp, register);
        }
        if part {
            inputs.write_done_i |= 1 << bus;
            inputs.written_i[bus] = WrittenWord::new(held.0, held.1);
        }
        part
    }

    /// Sets the sizes and places of the threads' memories.
    fn bounds(&self, rng: &mut Rng, knobs: &AddressUnitKnobs, inputs: &mut AddressUnitIn) {
        let blocks = self.shape.shared_words as u64 / 32;
        // The largest block, and the last place, that the inputs can name.
        let size = if rng.chance(100) { 0 } else { rng.below(blocks.min((1 << BYTES_BITS) / 128 - 1) + 1) };
        let last = (blocks - size).min((1 << BASE_BITS) / 128 - 1);
        inputs.place_base_i = 128 * if rng.chance(100) { last } else { rng.below(last + 1) } as u32;
        inputs.shared_bytes_i = (128 * size).saturating_sub(rng.below(128)) as u32;
        if self.shape.shares_scratchpad() {
            let words = |rng: &mut Rng, bytes: u32| 4 * rng.below(u64::from(bytes) / 4 + 1) as u32;
            // If the block has the rest of a row, it begins at any word of it.
            inputs.place_base_i += words(rng, 128 * size as u32 - inputs.shared_bytes_i);
            inputs.private_bytes_i = match rng.below(4) {
                0 => inputs.shared_bytes_i.div_ceil(4) * 4,
                1 => words(rng, inputs.shared_bytes_i.min(64)),
                _ => words(rng, inputs.shared_bytes_i),
            };
            let all = (4 * self.shape.shared_words as u32).min((1 << BASE_BITS) - 4);
            inputs.place_common_i = if rng.chance(300) {
                inputs.place_base_i
            } else {
                words(rng, all - inputs.shared_bytes_i.div_ceil(4) * 4)
            };
            inputs.place_released_i = rng.chance(knobs.released).into();
        }
        inputs.local_words_i = [0, 1, 40, 65535][rng.below(4) as usize];
    }

    fn instruction(&self, rng: &mut Rng, knobs: &AddressUnitKnobs, inputs: &mut AddressUnitIn, port: usize) {
        inputs.in_warp_i[port] = rng.below(MAX_WARPS as u64) as u8;
        inputs.in_mask_i[port] = some_lanes(rng, knobs.partial);
        let mut operands = [WarpData::ZERO; OPERANDS];
        operands.iter_mut().for_each(|data| rng.fill(&mut data.0));
        let draft = if rng.chance(knobs.other) {
            match rng.below(10) {
                0..3 => release(),
                3..6 => fetch(rng),
                _ => shuffle(rng),
            }
        } else {
            let access = self.access(rng, knobs, inputs, inputs.in_mask_i[port], &mut operands);
            // Only accesses that may be of shared memory are probed.
            let space = access.m & 3;
            let may = space == SHARED || space == GENERIC && access.opcode != CAS;
            let probed = self.shape.shares_scratchpad() && may && rng.chance(knobs.probe);
            if probed { Draft { opcode: PROBE, c: NO_REG, d: NO_REG, ..access } } else { access }
        };
        inputs.in_instruction_i[port] = draft.instruction(rng);
        for (k, register) in [draft.a, draft.b, draft.c].into_iter().enumerate() {
            let place = OPERANDS * port + k;
            inputs.in_src_valid_i |= u8::from(register != NO_REG) << place;
            inputs.in_data_i[place] = operands[k];
        }
    }

    /// A load, store or atomic operation, and its operands.
    fn access(
        &self,
        rng: &mut Rng,
        knobs: &AddressUnitKnobs,
        inputs: &AddressUnitIn,
        mask: u32,
        operands: &mut [WarpData; OPERANDS],
    ) -> Draft {
        let opcode = [LD, LD, ST, ATOM, ATOM, CAS][rng.below(6) as usize];
        let generic = rng.chance(knobs.generics);
        let space = if generic { GENERIC } else { rng.below(3) as u32 };
        let align = if rng.chance(500) { 0 } else { rng.below(3) as u32 };
        let kind = rng.below(5) as u32;
        let operation = rng.below(12) as u32;
        let (m, size) = match opcode {
            LD => (space | kind << 2 | align << 5, kind / 2),
            ST => (space | (kind % 3) << 2 | align << 4, kind % 3),
            ATOM => (space | operation << 2, 2),
            _ => (space, 2),
        };
        let wide = matches!(space, GLOBAL | GENERIC) && opcode != CAS;
        let at_fault = rng.chance(knobs.fault);
        // Spaces of the addresses, as the upper word of a generic address names them.
        let windows: &[u32] = match (opcode, space) {
            (CAS, SHARED) => &[SHARED],
            (CAS, _) | (_, GLOBAL) => &[GLOBAL],
            (_, SHARED) => &[SHARED],
            (_, LOCAL) => &[LOCAL],
            (LD, _) => &[GLOBAL, SHARED, LOCAL, CONSTANT],
            (ST, _) if at_fault => &[GLOBAL, SHARED, CONSTANT],
            (ST, _) => &[GLOBAL, SHARED, LOCAL],
            _ if at_fault => &[GLOBAL, SHARED, LOCAL, CONSTANT],
            _ => &[GLOBAL, SHARED],
        };
        let choose = |rng: &mut Rng| windows[rng.below(windows.len() as u64) as usize];
        let (only, mixed) = (choose(rng), rng.chance(knobs.mixed));
        let step = [1, 8, 16][align as usize].max(1 << size);
        let wrong = if at_fault { some_lanes(rng, 1000) & mask } else { 0 };
        let two_kinds = rng.chance(500);
        let fault = rng.below(8);
        // Mostly a window that does not exist.
        let bit = alias(rng, only.into(), 1 << u32::BITS);
        let offset = match rng.below(4) {
            0 => 0,
            1 => rng.below(256) as i32 - 128,
            _ => (rng.next_u64() as i32) >> 8,
        };
        // Lanes that do not take part may have addresses too.
        let formed = if rng.chance(500) { u32::MAX } else { mask };
        for lane in set_lanes(formed) {
            let window = if mixed { choose(rng) } else { only };
            let end = self.end(window, inputs);
            let below = match rng.below(8) {
                0 => end,
                1 => end.saturating_sub(rng.below(64)),
                2 => rng.below(256).min(end),
                // On both sides of the first common byte.
                3 if window == SHARED => (u64::from(inputs.private_bytes_i) + rng.below(12)).min(end),
                _ => rng.below(end.max(1)),
            };
            let mut address = (u64::from(window) << 32) + below.saturating_sub(step) / step * step;
            if wrong >> lane & 1 == 1 {
                let fault = if two_kinds { rng.below(8) } else { fault };
                address = match fault {
                    0 => address + 1,
                    1 => address + (1 << size),
                    2 => u64::from(window) << 32 | (end.div_ceil(step) * step) & 0xffff_ffff,
                    3 => u64::from(window) << 32 | (0x1_0000_0000 - step),
                    4 => address % (1 << 32) + ((4 + rng.below(8)) << 32),
                    5 | 6 => address % (1 << 32) + (bit << 32),
                    _ => address % (1 << 32) + (rng.next_u64() << 32),
                };
            }
            // CAS compares with b.
            let base = address.wrapping_add_signed(-i64::from(offset));
            operands[0].0[lane] = base as u32;
            if wide {
                operands[1].0[lane] = (base >> 32) as u32;
            }
        }
        let no_upper = set_lanes(mask).all(|lane| operands[1].0[lane] == 0);
        let reads_b = opcode == CAS || space != SHARED && (space != LOCAL || opcode == ATOM);
        Draft {
            opcode,
            m,
            d: if opcode == ST { NO_REG } else { register(rng, 700) },
            a: register(rng, 970),
            b: register(
                rng,
                if !reads_b {
                    0
                } else if wide && no_upper {
                    300
                } else {
                    970
                },
            ),
            c: register(rng, if opcode == LD { 0 } else { 900 }),
            p: NO_PRED,
            constant: None,
            offset,
        }
    }

    /// Bytes of a space.
    fn end(&self, window: u32, inputs: &AddressUnitIn) -> u64 {
        match window {
            SHARED => inputs.shared_bytes_i.into(),
            LOCAL => 4 * u64::from(inputs.local_words_i),
            CONSTANT => 4 * self.shape.const_words as u64,
            _ => 1 << 32,
        }
    }
}

/// A release.
fn release() -> Draft {
    let (a, b, c, d) = (NO_REG, NO_REG, NO_REG, NO_REG);
    Draft { opcode: RELSSP, m: 0, d, a, b, c, p: NO_PRED, constant: None, offset: 0 }
}

/// A texture fetch.
fn fetch(rng: &mut Rng) -> Draft {
    let (access, channel) = (rng.below(32) as u32, rng.below(4) as u32);
    let [d, a, b, c] = [800, 900, 700, 500].map(|present| register(rng, present));
    let offset = 4 * rng.below(1 << 15) as i32;
    Draft { opcode: TEX, m: access | channel << 5, d, a, b, c, p: NO_PRED, constant: None, offset }
}

/// A shuffle.
fn shuffle(rng: &mut Rng) -> Draft {
    let m = rng.next_u64() as u32 & 0xffff;
    let constant = rng.chance(500).then(|| rng.next_u64() as u32);
    Draft {
        opcode: SHFL,
        m,
        d: register(rng, 800),
        a: register(rng, 900),
        b: register(rng, if constant.is_none() { 900 } else { 0 }),
        c: NO_REG,
        p: m as u8 & 7,
        constant,
        offset: 0,
    }
}

/// The instruction that was taken in the previous cycle.
#[derive(Clone, Copy, Default)]
struct Taken {
    op: u64,
    ctl: u64,
    mask: u32,
    src_valid: u8,
    b_constant: bool,
    a: WarpData,
    b: WarpData,
    base: u32,
    common: u32,
    private: u32,
    released: bool,
    shared_bytes: u32,
    local_words: u16,
}

pub(crate) struct AddressUnitCover {
    shape: SmShape,
    taken: Option<Box<Taken>>,
}

#[cover]
impl AddressUnitCover {
    fn new(shape: &SmShape, _: &Config) -> Self {
        Self { shape: *shape, taken: None }
    }

    fn observe(&mut self, i: &AddressUnitIn, o: &AddressUnitOut, p: &AddressUnitProbe, points: &mut Points) {
        self.situations(i, o, p, points);
        let taken = i.in_valid_i == 1 && o.in_ready_o == 1 && i.rst_ni == 1;
        let port = usize::from(i.in_port_i);
        let source = |k: usize| {
            let place = OPERANDS * port + k;
            if i.in_src_valid_i >> place & 1 == 1 { i.in_data_i[place] } else { WarpData::ZERO }
        };
        self.taken = taken.then(|| {
            Box::new(Taken {
                op: i.in_instruction_i[port].op(),
                ctl: i.in_instruction_i[port].ctl(),
                mask: i.in_mask_i[port],
                src_valid: i.in_src_valid_i >> (OPERANDS * port),
                b_constant: i.in_instruction_i[port].roles().b_constant() == 1,
                a: source(0),
                b: source(1),
                base: i.place_base_i,
                common: i.place_common_i,
                private: i.private_bytes_i,
                released: i.place_released_i == 1,
                shared_bytes: i.shared_bytes_i,
                local_words: i.local_words_i,
            })
        });
    }

    fn situations(&self, i: &AddressUnitIn, o: &AddressUnitOut, p: &AddressUnitProbe, points: &mut Points) {
        let (busy, reset, offered) = (o.busy_o == 1, i.rst_ni == 0, i.in_valid_i == 1);
        let served = i.global_served_i | i.shared_served_i | i.constant_served_i | i.shuffle_served_i;
        let taken = offered && o.in_ready_o == 1 && !reset;
        let nothing = Taken::default();
        let before = self.taken.as_deref();
        let t = before.unwrap_or(&nothing);
        let new = before.is_some() && busy;
        let op = opcode(t.op);
        let m = modifiers(t.op, t.ctl);
        let space = m & 3;
        let held = |opcodes: &[u8], spaces: &[u32]| new && opcodes.contains(&op) && spaces.contains(&space);
        let fault = |number: u8| o.fault_valid_o == 1 && o.fault_cause_o == number;
        // The place of the fault before the block's base was added, from what was taken.
        let offset = i64::from((t.op >> 32) as i32 >> 8);
        let wide = matches!(op, LD | ST | ATOM) && matches!(space, GLOBAL | GENERIC);
        let sum = |lane: usize| {
            let upper = if wide { u64::from(t.b.0[lane]) << 32 } else { 0 };
            (upper | u64::from(t.a.0[lane])).wrapping_add_signed(offset)
        };
        let lowest_wrong = before.is_some() && {
            let first = t.mask.trailing_zeros() as usize % LANES;
            o.fault_valid_o == 1 && sum(first) as u32 != o.fault_value_o
        };
        let carries = |from: u32, to: u32| {
            new && wide && set_lanes(t.mask).any(|l| t.b.0[l] == from && (sum(l) >> 32) as u32 == to)
        };
        let ends_at = |end: u32| {
            let size = u32::from(o.size_o);
            set_lanes(t.mask).any(|l| (sum(l) as u32).wrapping_add(1 << size) == end)
        };
        let aligned = |bits: u32| match op {
            LD => m >> 5 & 3 == bits,
            ST => m >> 4 & 3 == bits,
            _ => false,
        };
        let spaces = [p.shared_q, p.local_q, p.constant_q, p.lanes_q & !(p.shared_q | p.local_q | p.constant_q)];
        let in_spaces = if new { spaces.iter().filter(|&&lanes| lanes != 0).count() } else { 0 };
        let memory = [GLOBAL, SHARED, LOCAL, GENERIC];
        let left = o.lanes_o & !served;
        let source = |k: usize| t.src_valid >> k & 1 == 1;
        point!("load: global", held(&[LD], &[GLOBAL]));
        point!("load: shared", held(&[LD], &[SHARED]));
        point!("load: local", held(&[LD], &[LOCAL]));
        point!("load: generic", held(&[LD], &[GENERIC]));
        point!("store: global", held(&[ST], &[GLOBAL]));
        point!("store: shared", held(&[ST], &[SHARED]));
        point!("store: local", held(&[ST], &[LOCAL]));
        point!("store: generic", held(&[ST], &[GENERIC]));
        point!("atomic operation: global", held(&[ATOM], &[GLOBAL]));
        point!("atomic operation: shared", held(&[ATOM], &[SHARED]));
        point!("atomic operation: generic", held(&[ATOM], &[GENERIC]));
        point!("float atomic operation: global", held(&[ATOM], &[GLOBAL]) && o.atomic_o == 11);
        point!("float atomic operation: shared", held(&[ATOM], &[SHARED]) && o.atomic_o == 11);
        point!("compare and swap: global", held(&[CAS], &[GLOBAL]));
        point!("compare and swap: shared", held(&[CAS], &[SHARED]));
        point!("compare and swap: other spaces are global", held(&[CAS], &[LOCAL, GENERIC]));
        point!("load: in the constant space", held(&[LD], &[GENERIC]) && p.constant_q != 0);
        point!("shuffle", new && op == SHFL);
        point!("texture fetch", new && op == TEX);
        point!("texture fetch without a register", new && op == TEX && o.reg_valid_o == 0);
        point!("texture fetch of some lanes", new && op == TEX && t.mask != u32::MAX);
        point!("texture fetch whose a is zero", new && op == TEX && !source(0));
        point!("texture fetch with three coordinates", new && op == TEX && t.src_valid & 7 == 7);
        point!("a texture fetch ends", o.last_o == 1 && o.kind_o == 3);
        point!("shuffle by a constant", new && op == SHFL && t.b_constant);
        point!("unsigned byte", held(&[LD], &memory) && (o.size_o, o.signed_o) == (0, 0));
        point!("signed byte", held(&[LD], &memory) && (o.size_o, o.signed_o) == (0, 1));
        point!("unsigned half", held(&[LD], &memory) && (o.size_o, o.signed_o) == (1, 0));
        point!("signed half", held(&[LD], &memory) && (o.size_o, o.signed_o) == (1, 1));
        point!("signed half of the constant space", new && p.constant_q != 0 && (o.size_o, o.signed_o) == (1, 1));
        point!("store of a byte", held(&[ST], &memory) && o.size_o == 0);
        point!("store of a half", held(&[ST], &memory) && o.size_o == 1);
        point!("aligned to 8", new && aligned(1));
        point!("aligned to 16", new && aligned(2));
        point!("two spaces", in_spaces == 2);
        point!("three spaces", in_spaces == 3);
        point!("four spaces", in_spaces == 4);
        point!("the offset carries into the upper word", carries(0, 1));
        point!("the offset borrows from the upper word", carries(1, 0));
        point!("the sum wraps to global addresses", carries(u32::MAX, 0));
        point!("up to the end of shared memory", held(&[LD, ST], &[SHARED]) && ends_at(t.shared_bytes));
        point!("up to the end of local memory", held(&[LD, ST], &[LOCAL]) && ends_at(4 * u32::from(t.local_words)));
        point!(
            "up to the end of the constant space",
            new && p.constant_q != 0 && ends_at(4 * self.shape.const_words as u32)
        );
        point!("the block is not the first in shared memory", new && p.shared_q != 0 && t.base != 0);
        point!("a is zero", new && !source(0));
        point!("no upper word", new && wide && !source(1));
        point!("c is zero", held(&[ST, ATOM, CAS], &memory) && !source(2));
        point!("lanes outside the mask", new && t.mask != u32::MAX);
        self.sharing(o, p, t, before.is_some(), points);
        point!("misaligned", fault(cause::MISALIGNED));
        point!("misaligned as the first part of 8 bytes", fault(cause::MISALIGNED) && aligned(1));
        point!("misaligned as the first part of 16 bytes", fault(cause::MISALIGNED) && aligned(2));
        point!("out of bounds: shared", fault(cause::OUT_OF_BOUNDS) && space == SHARED);
        point!("out of bounds: local", fault(cause::OUT_OF_BOUNDS) && space == LOCAL);
        point!("out of bounds: generic", fault(cause::OUT_OF_BOUNDS) && space == GENERIC);
        point!(
            "out of bounds: the very next address",
            fault(cause::OUT_OF_BOUNDS) && space == GENERIC && o.fault_value_o == 4 * self.shape.const_words as u32
        );
        point!("out of bounds: the highest address", fault(cause::OUT_OF_BOUNDS) && o.fault_value_o >= 0xffff_fff0);
        point!("wide address: global", fault(cause::WIDE_ADDRESS) && space == GLOBAL);
        point!("wide address: generic", fault(cause::WIDE_ADDRESS) && space == GENERIC);
        point!("constant space written", fault(cause::CONSTANT_WRITTEN) && op == ST);
        point!("constant space changed", fault(cause::CONSTANT_WRITTEN) && op == ATOM);
        point!("atomic operation on local memory", fault(cause::LOCAL_ATOMIC) && space == LOCAL);
        point!("generic atomic operation on local memory", fault(cause::LOCAL_ATOMIC) && space == GENERIC);
        point!("a release is performed", o.answer_valid_o == 1 && o.answer_release_o == 1);
        point!("a release, while the next instruction is taken", o.answer_valid_o == 1 && taken);
        point!("reset with an answer", reset && o.answer_valid_o == 1);
        point!("fault of a lane that is not the first", lowest_wrong);
        point!("fault while the next instruction is taken", o.fault_valid_o == 1 && taken);
        point!("taken while idle", taken && !busy);
        point!("taken with the last pass", taken && busy);
        point!("refused", offered && o.in_ready_o == 0);
        point!("last pass, none follows", o.last_o == 1 && !offered);
        point!("lanes of the pass are left", busy && served != 0 && left != 0);
        point!("lanes of another space are left", busy && served != 0 && left == 0 && o.last_o == 0);
        point!("nothing is served", busy && served == 0);
        point!("a store ends", o.finish_valid_o == 1 && o.kind_o == 1);
        point!("an atomic operation without register ends", o.finish_valid_o == 1 && o.kind_o == 2);
        point!("an atomic operation with a register ends", o.last_o == 1 && o.kind_o == 2 && o.reg_valid_o == 1);
        point!("a load ends", o.last_o == 1 && o.kind_o == 0 && p.shuffle_q == 0);
        point!("a load without a register", new && op == LD && o.reg_valid_o == 0);
        point!("a predicate is written", new && o.pred_valid_o == 1);
        point!("reset while busy", reset && busy);
        point!("reset with a fault", reset && o.fault_valid_o == 1);
        point!("offered under reset", reset && offered);

        self.parts(i, o, p, taken, points);

        #[given(self.shape.ports() == 2)]
        {
            point!("taken from the second port", taken && i.in_port_i == 1);
            point!("taken from the first port", taken && i.in_port_i == 0);
        }
    }

    /// Parts of the result that are not written yet, and lanes that wait for them.
    fn parts(&self, i: &AddressUnitIn, o: &AddressUnitOut, p: &AddressUnitProbe, taken: bool, points: &mut Points) {
        let busy = o.busy_o == 1;
        let offered = o.global_valid_o | o.shared_valid_o | o.constant_valid_o | o.shuffle_valid_o == 1;
        let served = i.global_served_i | i.shared_served_i | i.constant_served_i | i.shuffle_served_i != 0;
        let waits = busy && !offered;
        let space = match () {
            () if o.lanes_o & p.shared_q != 0 => SHARED,
            () if o.lanes_o & p.local_q != 0 => LOCAL,
            () if o.lanes_o & p.constant_q != 0 => CONSTANT,
            () => GLOBAL,
        };
        let pair = |from: u32, to: u32| waits && (u32::from(p.space_q), space) == (from, to);
        let quick = |space: u32| matches!(space, SHARED | CONSTANT);
        let (from_quick, to_quick) = (quick(p.space_q.into()), quick(space));
        let register = o.reg_valid_o == 1;
        let done = |bus: usize| i.write_done_i >> bus & 1 == 1;
        let same_warp = |bus: usize| i.written_i[bus].warp() == o.warp_o;
        let same_register = |bus: usize| i.written_i[bus].d() == o.reg_o;
        let part = |bus: usize| busy && register && done(bus) && same_warp(bus) && same_register(bus);
        let mut buses = 0..self.shape.ports();
        let written = buses.clone().any(part);
        point!("a part is written", written && p.parts_q > 1);
        point!("a part is written while another one comes", written && served);
        point!("a pass before the former part is written", served && register && p.parts_q != 0);
        point!("16 parts or more are not written", busy && p.parts_q >= 16);
        point!("24 parts or more are not written", busy && p.parts_q >= 24);
        point!("one of 16 parts or more is written", written && p.parts_q >= 16);
        point!("global lanes wait for parts in shared memory", pair(SHARED, GLOBAL));
        point!("shared lanes wait for parts in global memory", pair(GLOBAL, SHARED));
        point!("global lanes wait for parts in local memory", pair(LOCAL, GLOBAL));
        point!("local lanes wait for parts in global memory", pair(GLOBAL, LOCAL));
        point!("shared lanes wait for constants", pair(CONSTANT, SHARED));
        point!("constants wait for parts in shared memory", pair(SHARED, CONSTANT));
        point!("lanes in a slow memory wait for parts in a quick one", waits && from_quick && !to_quick);
        point!("lanes in a quick memory wait for parts in a slow one", waits && !from_quick && to_quick);
        point!("an atomic operation waits", waits && o.kind_o == 2);
        point!("the last part is written that lanes wait for", waits && written && p.parts_q == 1);
        point!("a part is written, lanes wait for more", waits && written && p.parts_q > 1);
        point!(
            "the same register of another warp is written",
            waits && !written && buses.clone().any(|bus| done(bus) && same_register(bus))
        );
        point!(
            "another register of the warp is written",
            waits && !written && buses.any(|bus| done(bus) && same_warp(bus))
        );
        let other = busy && u32::from(p.space_q) != space;
        point!("lanes of another space do not wait without a register", other && !register && served);
        point!("parts are not written when the next instruction is taken", taken && busy && p.parts_q != 0);
        point!("an instruction is offered while lanes wait", waits && i.in_valid_i == 1);
        let line = o.global_valid_o == 1;
        point!("the coalescer's first pass", line && served && o.line_first_o == 1);
        point!("the coalescer's first pass after one of another unit", line && o.line_first_o == 1 && from_quick);
        point!("the coalescer has performed a pass", line && o.line_first_o == 0);
        point!("reset with parts that are not written", busy && i.rst_ni == 0 && p.parts_q != 0);
        #[given(self.shape.ports() == 2)]
        {
            point!("a part is written over bus 0", part(0));
            point!("a part is written over bus 1", part(1));
        }
    }

    /// What two blocks have in common; `t` was taken in the cycle before.
    fn sharing(&self, o: &AddressUnitOut, p: &AddressUnitProbe, t: &Taken, any: bool, points: &mut Points) {
        let op = opcode(t.op);
        let space = modifiers(t.op, t.ctl) & 3;
        let offset = i64::from((t.op >> 32) as i32 >> 8);
        let place = |lane: usize| {
            let wide = space == GENERIC && op != CAS;
            let upper = if wide { u64::from(t.b.0[lane]) << 32 } else { 0 };
            let sum = (upper | u64::from(t.a.0[lane])).wrapping_add_signed(offset);
            let inside = space == SHARED || wide && sum >> 32 == u64::from(SHARED);
            (any && inside).then_some(sum as u32)
        };
        let lanes = |wanted: &dyn Fn(u32) -> bool| set_lanes(t.mask).any(|lane| place(lane).is_some_and(wanted));
        let common = lanes(&|a| a >= t.private && a < t.shared_bytes);
        let private = lanes(&|a| a < t.private);
        let elsewhere = any && space == GENERIC && set_lanes(t.mask).any(|lane| place(lane).is_none());
        let answer = o.answer_valid_o == 1 && o.answer_release_o == 0;
        let held = any && o.busy_o == 1 && p.shared_q != 0;
        let refused = o.fault_valid_o == 1 && o.fault_cause_o == cause::RELEASED;
        #[given(self.shape.shares_scratchpad())]
        {
            point!("a probe of common bytes", answer && common && !private);
            point!("a probe of private bytes", answer && private && !common);
            point!("a probe of both", answer && private && common);
            point!("a probe of shared and of other memory", answer && common && elsewhere);
            point!("a probe of other memory", answer && elsewhere && !common && !private);
            point!("a probe of the last private word", answer && !common && lanes(&|a| a.wrapping_add(4) == t.private));
            point!("a probe of the first common byte", answer && common && lanes(&|a| a == t.private));
            let behind = lanes(&|a| a >= t.shared_bytes);
            point!("a probe past the end", answer && behind && !common);
            let inside = |a: u32| a >= t.private && a < t.shared_bytes;
            let masked = |lane: usize| t.mask >> lane & 1 == 0 && place(lane).is_some_and(inside);
            point!("a probe whose common lanes do not take part", answer && !common && (0..LANES).any(masked));
            point!("a probe of a block that has released", answer && common && t.released);
            point!("an access of common bytes", held && common && t.base != t.common);
            point!("an access of both", held && common && private);
            point!("an access of a block that has released, in the private part", held && t.released && private);
            point!("an access after the release", refused && space == SHARED);
            point!("a generic access after the release", refused && space == GENERIC);
            point!("a store after the release", refused && op == ST);
            let lowest = set_lanes(t.mask).next().and_then(place);
            point!("after the release, of a lane that is not the first", refused && lowest != Some(o.fault_value_o));
        }
    }
}
