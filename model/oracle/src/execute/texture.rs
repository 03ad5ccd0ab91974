//! Texture fetches.

use std::sync::atomic::Ordering::Relaxed;

use gpurf_isa::modifiers::{Channel, TextureAccess};

use crate::commit::Observer;
use crate::context::Context;
use crate::fault::{Access, FaultKind, LaneFault};
use crate::lanes::{Lanes, Mask};
use crate::program::Decoded;
use crate::texture::Texture;
use crate::warp::Warp;

/// TEX.
pub fn fetch<O: Observer>(
    context: &Context<'_, O>,
    warp: &mut Warp,
    ins: &Decoded,
    access: TextureAccess,
    channel: Channel,
    mask: Mask,
) -> Result<Lanes, LaneFault> {
    let at = ins.offset as usize;
    let word = context.constant.get(at..at + 4);
    let handle = word.map_or(0, |word| u32::from_le_bytes(word.try_into().expect("it has four bytes")));
    let (a, b, c) = (*warp.row(ins.a), *warp.b(context.program, ins.b), *warp.row(ins.c));
    let mut read = |lane: usize, address: u32, bytes: u32| -> Result<u32, LaneFault> {
        let place = context.place(warp, Access::Load, lane, address.into(), bytes)?;
        if let Some((conflicts, note)) = context.conflicts {
            conflicts.read(note, place);
        }
        let word = context.memory.word(place).load(Relaxed) >> (8 * (address & 3));
        Ok(word & u32::MAX >> (u32::BITS - 8 * bytes))
    };
    let first = mask.trailing_zeros() as usize;
    let texture = Texture::at(handle, |address, bytes| read(first, address, bytes))
        .map_err(|fault| noted(fault, &format!("there is no header at the texture's handle, {handle:#x}")))?;
    let fetched = texture.fetch(access, channel, [&a.0, &b.0, &c.0], mask, read);
    fetched.map(Lanes).map_err(|fault| noted(fault, &format!("the header at {handle:#x} says that a texel is there")))
}

/// The fault of an access outside all buffers, with the reason for the access.
fn noted(mut fault: LaneFault, reason: &str) -> LaneFault {
    if let FaultKind::OutOfBounds { nearest, .. } = &mut *fault.kind {
        *nearest = format!("{reason}; {nearest}");
    }
    fault
}
