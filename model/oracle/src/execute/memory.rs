//! Loads and stores.

use std::sync::atomic::Ordering;

use gpurf_isa::Op;
use gpurf_isa::machine::{CONSTANT_WINDOW, LOCAL_WINDOW, SHARED_WINDOW};
use gpurf_isa::modifiers::{Alignment, LoadType, Space, StoreType};

use super::{Step, report, texture, write};
use crate::commit::{Effect, Observer};
use crate::context::Context;
use crate::fault::{Access, FaultKind, LaneFault};
use crate::lanes::{Lanes, Mask, WIDTH, each, lanes_of, map1};
use crate::memory::{Place, store as store_bits};
use crate::program::Decoded;
use crate::shared::{Accessor, SharedFault};
use crate::warp::Warp;

/// A place in one of the memories.
#[derive(Clone, Copy)]
pub enum Target {
    Global(u64),
    Shared(u32),
    Local(u32),
    Constant(u32),
}

impl Target {
    #[inline(always)]
    pub fn of(space: Space, address: u64) -> Self {
        match space {
            Space::Global => Self::Global(address),
            Space::Shared => Self::Shared(address as u32),
            Space::Local => Self::Local(address as u32),
            Space::Generic => match (address >> 32) as u32 {
                SHARED_WINDOW => Self::Shared(address as u32),
                LOCAL_WINDOW => Self::Local(address as u32),
                CONSTANT_WINDOW => Self::Constant(address as u32),
                _ => Self::Global(address),
            },
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Global(_) => "global",
            Self::Shared(_) => "shared",
            Self::Local(_) => "local",
            Self::Constant(_) => "constant",
        }
    }

    /// As a generic address.
    pub fn generic(self) -> u64 {
        let window = |window: u32, address: u32| u64::from(window) << 32 | u64::from(address);
        match self {
            Self::Global(address) => address,
            Self::Shared(address) => window(SHARED_WINDOW, address),
            Self::Local(address) => window(LOCAL_WINDOW, address),
            Self::Constant(address) => window(CONSTANT_WINDOW, address),
        }
    }
}

/// The address of each lane: 64 bits where there is an upper word, else 32.
#[inline(always)]
pub fn addresses<O: Observer>(context: &Context<'_, O>, warp: &Warp, ins: &Decoded, space: Space) -> [u64; WIDTH] {
    let low = &warp.row(ins.a).0;
    match space {
        Space::Global | Space::Generic => {
            let high = &warp.b(context.program, ins.b).0;
            each(|lane| (u64::from(high[lane]) << 32 | u64::from(low[lane])).wrapping_add(ins.offset as u64))
        }
        Space::Shared | Space::Local => each(|lane| low[lane].wrapping_add(ins.offset as u32).into()),
    }
}

pub fn load_bytes(kind: LoadType) -> u32 {
    match kind {
        LoadType::U8 | LoadType::S8 => 1,
        LoadType::U16 | LoadType::S16 => 2,
        LoadType::B32 => 4,
    }
}

pub fn store_bytes(kind: StoreType) -> u32 {
    match kind {
        StoreType::B8 => 1,
        StoreType::B16 => 2,
        StoreType::B32 => 4,
    }
}

/// Extends a value of the load's width, whose upper bits are zero, to the value of the register.
#[inline(always)]
fn extend(kind: LoadType, value: u32) -> u32 {
    match kind {
        LoadType::U8 | LoadType::U16 | LoadType::B32 => value,
        LoadType::S8 => value as i8 as u32,
        LoadType::S16 => value as i16 as u32,
    }
}

fn alignment(align: Alignment, bytes: u32) -> u32 {
    match align {
        Alignment::Natural => bytes,
        Alignment::Bytes8 => 8,
        Alignment::Bytes16 => 16,
    }
}

#[inline(always)]
pub fn check_aligned(access: Access, lane: usize, target: Target, address: u64, align: u32) -> Result<(), LaneFault> {
    if address & u64::from(align - 1) == 0 {
        return Ok(());
    }
    Err(LaneFault::new(lane, FaultKind::Misaligned { access, space: target.name(), address, align }))
}

fn out_of_bounds(access: Access, space: &'static str, address: u64, bytes: u32, nearest: String) -> FaultKind {
    FaultKind::OutOfBounds { access, space, address, bytes, nearest }
}

/// Accesses of fewer lanes are performed lane by lane.
const TOGETHER: u32 = 6;

/// The address of the first lane of `mask`, and those of all lanes: lanes that do not take part have that of the first.
#[inline(always)]
fn filled(addresses: &[u64; WIDTH], mask: Mask) -> (u64, [u64; WIDTH]) {
    let first = addresses[mask.trailing_zeros() as usize];
    (first, each(|lane| if mask >> lane & 1 == 1 { addresses[lane] } else { first }))
}

/// A mask of the low `bytes` bytes of a word.
fn low_mask(bytes: u32) -> u32 {
    u32::MAX >> (32 - 8 * bytes)
}

impl<O: Observer> Context<'_, O> {
    #[inline(always)]
    pub(super) fn place(
        &self,
        warp: &mut Warp,
        access: Access,
        lane: usize,
        address: u64,
        bytes: u32,
    ) -> Result<Place, LaneFault> {
        let low = u32::try_from(address).ok();
        low.and_then(|low| self.memory.locate(low, bytes, &mut warp.buffer_hint)).ok_or_else(|| {
            let nearest = self.memory.nearest(address);
            LaneFault::new(lane, out_of_bounds(access, "global", address, bytes, nearest))
        })
    }

    #[cold]
    pub(super) fn shared_fault(&self, access: Access, lane: usize, address: u32, fault: SharedFault) -> LaneFault {
        LaneFault::new(
            lane,
            match fault {
                SharedFault::Address(kind) => kind,
                SharedFault::Race(race) => FaultKind::SharedRace {
                    access,
                    address,
                    other: race.other,
                    other_warp: race.other_warp,
                    other_line: self.program.line(race.other_pc),
                },
            },
        )
    }

    fn local_index(&self, access: Access, lane: usize, address: u32, bytes: u32) -> Result<usize, LaneFault> {
        let size = self.program.local_bytes;
        if u64::from(address) + u64::from(bytes) > size.into() {
            let nearest = format!("the thread has {size} bytes of local memory");
            return Err(LaneFault::new(lane, out_of_bounds(access, "local", address.into(), bytes, nearest)));
        }
        Ok(address as usize / 4)
    }

    fn constant(&self, lane: usize, address: u32, bytes: u32) -> Result<u32, LaneFault> {
        let at = address as usize;
        let Some(found) = self.constant.get(at..at.saturating_add(bytes as usize)) else {
            let nearest = format!("its last byte is {:#x}", self.constant.len().saturating_sub(1));
            return Err(LaneFault::new(lane, out_of_bounds(Access::Load, "constant", address.into(), bytes, nearest)));
        };
        let mut word = [0; 4];
        word[..found.len()].copy_from_slice(found);
        Ok(u32::from_le_bytes(word))
    }

    /// The words that the lanes of `mask` load, if all of them lie in one memory, at places that are right; the byte at the address comes first.
    /// `None` if the lanes have to be looked at one by one.
    #[inline(always)]
    fn load_together(
        &mut self,
        warp: &mut Warp,
        space: Space,
        addresses: &[u64; WIDTH],
        bytes: u32,
        align: u32,
        mask: Mask,
    ) -> Option<Lanes> {
        let (first, at) = filled(addresses, mask);
        match Target::of(space, first) {
            Target::Global(_) => {
                self.memory.locate(u32::try_from(first).ok()?, bytes, &mut warp.buffer_hint)?;
                let buffer = warp.buffer_hint;
                let (words, index) = self.memory.locate_together(&at, bytes, align, buffer)?;
                if let Some((conflicts, note)) = self.conflicts {
                    index.iter().for_each(|word| conflicts.read(note, Place { buffer, word: *word as usize }));
                }
                let word = |lane: usize| words[index[lane] as usize].load(Ordering::Relaxed) >> (8 * (at[lane] & 3));
                Some(Lanes(each(word)))
            }
            Target::Shared(low) => {
                // All in the same window.
                let window = first - u64::from(low);
                let who = Accessor { warp: warp.number, pc: warp.stack.top.pc };
                self.state.shared.load_together(who, &each(|lane| at[lane].wrapping_sub(window)), bytes, align)
            }
            Target::Local(low) => {
                let end = u64::from(low) + u64::from(bytes);
                let same = at.iter().all(|at| *at == first);
                if !same || low & (align - 1) != 0 || end > self.program.local_bytes.into() {
                    return None;
                }
                Some(map1(&warp.local[low as usize / 4], |word| word >> (8 * (low & 3))))
            }
            Target::Constant(_) => None,
        }
    }

    /// Stores the values of the lanes of `mask`, in ascending order, if all of them lie in one memory, at places that are right. Otherwise it stores
    /// nothing, and returns `None`: the lanes have to be looked at one by one.
    #[inline(always)]
    fn store_together(
        &mut self,
        warp: &mut Warp,
        space: Space,
        addresses: &[u64; WIDTH],
        values: &Lanes,
        (bytes, align): (u32, u32),
        mask: Mask,
    ) -> Option<()> {
        let (first, at) = filled(addresses, mask);
        let mut changed = 0;
        match Target::of(space, first) {
            Target::Global(_) => {
                self.memory.locate(u32::try_from(first).ok()?, bytes, &mut warp.buffer_hint)?;
                let buffer = warp.buffer_hint;
                let (words, index) = self.memory.locate_together(&at, bytes, align, buffer)?;
                for lane in lanes_of(mask) {
                    let (word, shift) = (index[lane] as usize, 8 * (at[lane] & 3));
                    if let Some((conflicts, note)) = self.conflicts {
                        conflicts.write(note, Place { buffer, word });
                    }
                    changed += u64::from(store_bits(&words[word], low_mask(bytes) << shift, values.0[lane] << shift));
                }
            }
            Target::Shared(low) => {
                let window = first - u64::from(low);
                let who = Accessor { warp: warp.number, pc: warp.stack.top.pc };
                let at = each(|lane| at[lane].wrapping_sub(window));
                changed = self.state.shared.store_together(who, &at, values, (bytes, align), mask)?;
            }
            Target::Local(_) | Target::Constant(_) => return None,
        }
        self.changes += changed;
        Some(())
    }

    #[inline(always)]
    fn load_one(&mut self, warp: &mut Warp, lane: usize, target: Target, bytes: u32) -> Result<u32, LaneFault> {
        let word = match target {
            Target::Global(address) => {
                let place = self.place(warp, Access::Load, lane, address, bytes)?;
                if let Some((conflicts, note)) = self.conflicts {
                    conflicts.read(note, place);
                }
                self.memory.word(place).load(std::sync::atomic::Ordering::Relaxed) >> (8 * (address & 3))
            }
            Target::Shared(address) => {
                let who = Accessor { warp: warp.number, pc: warp.stack.top.pc };
                match self.state.shared.load(who, address, bytes) {
                    Ok(value) => return Ok(value),
                    Err(fault) => return Err(self.shared_fault(Access::Load, lane, address, *fault)),
                }
            }
            Target::Local(address) => {
                let index = self.local_index(Access::Load, lane, address, bytes)?;
                warp.local[index].0[lane] >> (8 * (address & 3))
            }
            Target::Constant(address) => return self.constant(lane, address, bytes),
        };
        Ok(word & low_mask(bytes))
    }

    #[inline(always)]
    fn store_one(
        &mut self,
        warp: &mut Warp,
        lane: usize,
        target: Target,
        bytes: u32,
        value: u32,
    ) -> Result<(), LaneFault> {
        let shifted = |address: u32| (low_mask(bytes) << (8 * (address & 3)), value << (8 * (address & 3)));
        let changed = match target {
            Target::Global(address) => {
                let place = self.place(warp, Access::Store, lane, address, bytes)?;
                if let Some((conflicts, note)) = self.conflicts {
                    conflicts.write(note, place);
                }
                let (mask, value) = shifted(address as u32);
                self.memory.store(place, mask, value)
            }
            Target::Shared(address) => {
                let who = Accessor { warp: warp.number, pc: warp.stack.top.pc };
                let stored = self.state.shared.store(who, address, bytes, value);
                stored.map_err(|fault| self.shared_fault(Access::Store, lane, address, *fault))?
            }
            Target::Local(address) => {
                let index = self.local_index(Access::Store, lane, address, bytes)?;
                let (mask, value) = shifted(address);
                let word = &mut warp.local[index].0[lane];
                let old = std::mem::replace(word, *word & !mask | value & mask);
                old != *word
            }
            Target::Constant(_) => {
                return Err(LaneFault::new(lane, FaultKind::ConstantWrite { access: Access::Store }));
            }
        };
        self.changes += u64::from(changed);
        Ok(())
    }
}

/// LD.
pub fn load<O: Observer>(
    context: &mut Context<'_, O>,
    warp: &mut Warp,
    ins: &Decoded,
    space: Space,
    kind: LoadType,
    align: Alignment,
    mask: Mask,
) -> Result<Lanes, LaneFault> {
    let addresses = addresses(context, warp, ins, space);
    let bytes = load_bytes(kind);
    let align = alignment(align, bytes);
    if mask.count_ones() >= TOGETHER
        && let Some(words) = context.load_together(warp, space, &addresses, bytes, align, mask)
    {
        return Ok(map1(&words, |word| extend(kind, word & low_mask(bytes))));
    }
    let mut values = Lanes::ZERO;
    for lane in lanes_of(mask) {
        let target = Target::of(space, addresses[lane]);
        check_aligned(Access::Load, lane, target, addresses[lane], align)?;
        values.0[lane] = extend(kind, context.load_one(warp, lane, target, bytes)?);
    }
    Ok(values)
}

/// LDC.
pub fn load_constant<O: Observer>(
    context: &Context<'_, O>,
    warp: &Warp,
    ins: &Decoded,
    kind: LoadType,
    align: Alignment,
    mask: Mask,
) -> Result<Lanes, LaneFault> {
    let bytes = load_bytes(kind);
    let align = alignment(align, bytes);
    let mut values = Lanes::ZERO;
    let (first, low) = (mask.trailing_zeros() as usize, warp.row(ins.a));
    if low.0.iter().all(|address| *address == low.0[first]) {
        // The fault of a wrong address is that of the first lane.
        let address = low.0[first].wrapping_add(ins.offset as u32);
        check_aligned(Access::Load, first, Target::Constant(address), address.into(), align)?;
        return Ok(Lanes::splat(extend(kind, context.constant(first, address, bytes)?)));
    }
    for lane in lanes_of(mask) {
        let address = low.0[lane].wrapping_add(ins.offset as u32);
        check_aligned(Access::Load, lane, Target::Constant(address), address.into(), align)?;
        values.0[lane] = extend(kind, context.constant(lane, address, bytes)?);
    }
    Ok(values)
}

/// LD, ST or TEX of a warp whose lanes perform it in a replayed order.
pub fn perform<O: Observer>(
    context: &mut Context<'_, O>,
    warp: &mut Warp,
    ins: &Decoded,
    mask: Mask,
) -> Result<Step, LaneFault> {
    let Some(granted) = context.grant(warp, mask)? else { return Ok(Step::Stop) };
    match ins.op {
        Op::Ld { space, kind, align, .. } => {
            // The values of all lanes are written to the register together, since it may be the register that holds the
            // address.
            let values = load(context, warp, ins, space, kind, align, granted)?;
            warp.loaded.merge(&values, granted);
        }
        Op::Tex { access, channel } => {
            let values = texture::fetch(context, warp, ins, access, channel, granted)?;
            warp.loaded.merge(&values, granted);
        }
        Op::St { space, kind, align } => {
            let addresses = addresses(context, warp, ins, space);
            // Each lane has a local memory of its own.
            let is_common = |lane: usize| !matches!(Target::of(space, addresses[lane]), Target::Local(_));
            let higher = |lane: usize| {
                is_common(lane) && lanes_of(warp.performed).any(|h| h > lane && addresses[h] == addresses[lane])
            };
            let kept = lanes_of(granted).filter(|&lane| !higher(lane)).fold(0, |kept, lane| kept | 1 << lane);
            store(context, warp, ins, space, kind, align, kept)?;
        }
        _ => unreachable!("the caller has dealt with {}", ins.op.mnemonic()),
    }
    if !context.is_whole(warp, mask, granted) {
        return Ok(Step::Stop);
    }
    match ins.op {
        Op::St { space, kind, .. } => report_store(context, warp, ins, space, kind, mask),
        _ => {
            let values = warp.loaded;
            write(context, warp, ins, &values, mask);
        }
    }
    let pc = warp.stack.top.pc;
    warp.stack.advance(pc + 1);
    context.count(warp, mask);
    Ok(Step::On)
}

/// ST; lanes in ascending order, so that the value of the highest lane remains where several store to one address.
pub fn store<O: Observer>(
    context: &mut Context<'_, O>,
    warp: &mut Warp,
    ins: &Decoded,
    space: Space,
    kind: StoreType,
    align: Alignment,
    mask: Mask,
) -> Result<(), LaneFault> {
    let addresses = addresses(context, warp, ins, space);
    let values = *warp.row(ins.c);
    let bytes = store_bytes(kind);
    let align = alignment(align, bytes);
    if mask.count_ones() >= TOGETHER
        && context.store_together(warp, space, &addresses, &values, (bytes, align), mask).is_some()
    {
        return Ok(());
    }
    for lane in lanes_of(mask) {
        let target = Target::of(space, addresses[lane]);
        check_aligned(Access::Store, lane, target, addresses[lane], align)?;
        context.store_one(warp, lane, target, bytes, values.0[lane])?;
    }
    Ok(())
}

/// Reports an ST to the observer.
pub fn report_store<O: Observer>(
    context: &mut Context<'_, O>,
    warp: &Warp,
    ins: &Decoded,
    space: Space,
    kind: StoreType,
    mask: Mask,
) {
    if O::ACTIVE {
        let addresses = addresses(context, warp, ins, space).map(|address| Target::of(space, address).generic());
        let effect = Effect::Store { addresses: &addresses, values: warp.row(ins.c), bytes: store_bytes(kind) };
        report(context, warp, mask, effect);
    }
}
