//! `mrf_ideal`: a register file without conflicts. `docs/blocks/mrf_ideal.md`.
//!
//! It is [`OperandFile`], as the main register file is, with another storage.

use crate::design::{BankView, Design, Services};
use crate::mrf::bits::{pack, set_bits};
use crate::mrf::mrf_arbiter::{Requests, Writes};
use crate::mrf::mrf_collector::Held;
use crate::mrf::slots::Slots;
use crate::mrf::storage::{Kind, Storage};
use crate::mrf::{
    MRF_ARBITER_EVENT, MrfAllocator, MrfBankMap, MrfCollector, MrfProbe, MrfShape, MrfWriteQueue, OperandFile,
};
use crate::{Block, Field, Memory, OPERANDS, Ports, WarpData};

use super::MrfIdealStore;
use crate::unified::COLUMNS_OUTPUTS;

/// A register file with a port for every read and every write.
pub type MrfIdeal = OperandFile<Ideal>;

/// Storage without conflicts: each requested operand is read and each waiting result is written at once.
#[derive(Clone)]
pub struct Ideal {
    store: MrfIdealStore,
    write_grant: u8,
    grant: Slots,
    event: u64,
    /// Groups of lanes that are written.
    write_groups: u32,
    /// Whether operands were read at the last edge: their instructions are complete after the next one.
    moving: bool,
}

/// The nets inside the file that it shares with the main register file: it has neither arbiter nor banks.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct MrfIdealProbe(MrfProbe);

impl AsRef<MrfProbe> for MrfIdealProbe {
    fn as_ref(&self) -> &MrfProbe {
        &self.0
    }
}

impl AsMut<MrfProbe> for MrfIdealProbe {
    fn as_mut(&mut self) -> &mut MrfProbe {
        &mut self.0
    }
}

// SAFETY: transparent, and a part of the fields of what it contains.
unsafe impl Ports for MrfIdealProbe {
    type Shape = MrfShape;

    fn fields(shape: &MrfShape) -> Vec<Field> {
        MrfProbe::fields_in(shape, false)
    }
}

impl Kind for Ideal {
    const NAME: &'static str = "mrf_ideal";
    const PARAMETERS: &'static [&'static str] = &["Banks", "Collectors", "IssuePorts", "Depth", "TagW"];
    const CHILDREN: &'static [&'static str] =
        &[MrfBankMap::NAME, MrfWriteQueue::NAME, MrfCollector::NAME, MrfAllocator::NAME, MrfIdealStore::NAME];
    const PLACES: bool = false;
    const WITHOUT: &'static [&'static str] = COLUMNS_OUTPUTS;

    type Probe = MrfIdealProbe;
}

impl Storage for Ideal {
    const DESIGN: Design = Design {
        name: Self::NAME,
        blocks: super::BLOCKS,
        services: Services { has_conflicts: false, ..Services::NEUTRAL },
        selection: &super::config::SELECTION,
        main_preset: "mrf-ideal",
        ..Design::PLAIN
    };

    fn new(shape: &MrfShape) -> Self {
        Self {
            store: MrfIdealStore::new(shape),
            write_grant: 0,
            grant: Slots::NONE,
            event: 0,
            write_groups: 0,
            moving: false,
        }
    }

    #[inline]
    fn writes(&mut self, _: &Requests<'_>, writes: &Writes) {
        self.write_grant = writes.valid;
        self.write_groups = set_bits(writes.valid).map(|p| u32::from(writes.groups[p])).sum();
    }

    #[inline]
    fn write_grant(&self) -> u8 {
        self.write_grant
    }

    #[inline]
    fn reads(&mut self, requests: &Requests<'_>, _: bool) {
        self.grant = requests.valid;
        let groups = self.grant.iter().map(|slot| u32::from(requests.groups[slot.collector()])).sum();
        let counts = [self.grant.count(), groups, self.write_grant.count_ones(), self.write_groups, 0, 0, 0, 0, 0];
        self.event = pack(MRF_ARBITER_EVENT, counts);
    }

    #[inline]
    fn grant(&self) -> Slots {
        self.grant
    }

    #[inline]
    fn event(&self) -> u64 {
        self.event
    }

    #[inline]
    fn edge(&mut self, running: bool, fill: Slots, held: &Held, queues: &[MrfWriteQueue]) {
        self.moving = running && !self.grant.is_empty();
        self.store.fill(fill, &held.bank, &held.entry);
        for p in set_bits(self.write_grant) {
            let target = queues[p].target();
            self.store.write(target.bank, target.entry, queues[p].data(), target.mask);
        }
    }

    #[inline]
    fn advance(&mut self, _: bool) {}

    fn reset(&mut self) {}

    #[inline]
    fn operands(&self, collector: usize) -> &[WarpData; OPERANDS] {
        self.store.operands(collector)
    }

    #[inline]
    fn is_quiet(&self) -> bool {
        self.grant.is_empty() && !self.moving
    }

    #[inline]
    fn is_still(&self) -> bool {
        !self.moving
    }

    fn probe(&self, probe: &mut MrfProbe) {
        (probe.grant, probe.write_grant) = (self.grant.to_port(), self.write_grant);
    }

    fn banks(_: &MrfProbe) -> Option<BankView> {
        None
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        Memory::inside("u_store", self.store.memories()).collect()
    }
}
