//! Instructions that meet a conflict at a bank (`docs/machine.md`, "Measures").
//!
//! Event words count the waits of each cycle. To count an instruction once, this module follows it: in its collector, in the memory pipeline while
//! lanes are left, and in the data cache while one of its lines is accessed.
//!
//! There are two definitions: an instruction that has waited for a bank, whichever access the bank performed; and one that itself accesses a bank
//! more than once.

use std::sync::LazyLock;

use gpurf_blocks::OPERANDS;
use gpurf_blocks::config::{Config, Gather, MemoryPorts};
use gpurf_blocks::designs::Organisation;
use gpurf_blocks::mrf::MAX_COLLECTORS;
use gpurf_blocks::unified::{CLUSTER_BYTES, CLUSTERS, COLUMNS, UNIFIED_CACHE_EVENT, WORD_BYTES};
use gpurf_lockstep::Events;
use gpurf_oracle::lanes_of;

use crate::cycle::{Cycle, bits};
use crate::memory::kind::{ATOMIC, STORE};

/// Instructions that have waited for a bank, for any reason.
pub const IN_CONFLICT: &str = "in_conflict";
/// Instructions with a register read that has waited for its bank.
pub const IN_CONFLICT_REGISTERS: &str = "in_conflict_registers";
/// Instructions with a scratchpad pass that has left lanes.
pub const IN_CONFLICT_SCRATCHPAD: &str = "in_conflict_scratchpad";
/// Instructions with a hit of the data cache that has waited for its column.
pub const IN_CONFLICT_CACHE: &str = "in_conflict_cache";
/// Instructions that access a bank more than once, in any way.
pub const IN_CONFLICT_OWN: &str = "in_conflict_own";
/// Instructions that read two registers of a bank.
pub const IN_CONFLICT_OWN_REGISTERS: &str = "in_conflict_own_registers";
/// Instructions whose lanes need more than one pass of the scratchpad.
pub const IN_CONFLICT_OWN_SCRATCHPAD: &str = "in_conflict_own_scratchpad";
/// Instructions that read scratchpad or cache in a bank in which they have read a register.
pub const IN_CONFLICT_OWN_MEMORY: &str = "in_conflict_own_memory";

/// Kinds of conflicts, by their bits in a set of kinds.
#[derive(Clone, Copy)]
enum Kind {
    Registers,
    Scratchpad,
    Cache,
    OwnRegisters,
    OwnScratchpad,
    OwnMemory,
}

/// The names under which instructions with each kind are counted.
const KINDS: [&str; 6] = [
    IN_CONFLICT_REGISTERS,
    IN_CONFLICT_SCRATCHPAD,
    IN_CONFLICT_CACHE,
    IN_CONFLICT_OWN_REGISTERS,
    IN_CONFLICT_OWN_SCRATCHPAD,
    IN_CONFLICT_OWN_MEMORY,
];

/// The names under which instructions with any kind of a definition are counted, and the set of these kinds.
const DEFINITIONS: [(&str, u8); 2] = [(IN_CONFLICT, 0b00_0111), (IN_CONFLICT_OWN, 0b11_1000)];

/// Memory instructions are numbered in order; 0: none.
type Number = u64;

/// The lanes of the scratchpad that are served together.
#[derive(Clone, Copy)]
enum Gathering {
    /// A word of each of 32 banks.
    Words,
    /// 16 bytes of one row of each cluster.
    Clusters,
    /// A word at each word place, and a row of each unified bank.
    Banks,
}

impl Gathering {
    fn of(config: &Config) -> Self {
        match (config.unified.is_present(), config.unified.gather) {
            (false, _) => Self::Words,
            (true, Gather::Simple) => Self::Clusters,
            (true, Gather::Aggressive) => Self::Banks,
        }
    }

    /// Whether lanes with these addresses are not served together.
    fn clash(self, a: u32, b: u32, atomic: bool) -> bool {
        let word = |address: u32| address as usize / WORD_BYTES % (CLUSTERS * CLUSTER_BYTES / WORD_BYTES);
        let cluster = |address: u32| word(address) * WORD_BYTES / CLUSTER_BYTES;
        let differ = row(a) != row(b);
        let clash = match self {
            Self::Words => differ && word(a) == word(b),
            Self::Clusters => differ && cluster(a) == cluster(b),
            Self::Banks => {
                differ && (word(a) == word(b) || cluster(a) == cluster(b) && column(row(a)) == column(row(b)))
            }
        };
        clash || atomic && a as usize / WORD_BYTES == b as usize / WORD_BYTES
    }
}

/// Number of the 128 bytes of an address of the scratchpad.
fn row(address: u32) -> usize {
    address as usize / (CLUSTERS * CLUSTER_BYTES)
}

/// The column of an entry of the cache, or of 128 bytes of the scratchpad.
fn column(number: usize) -> usize {
    number % COLUMNS
}

/// A memory instruction.
#[derive(Clone, Copy)]
struct Followed {
    number: Number,
    /// Conflicts that it has met, a bit for each kind.
    met: u8,
    /// Banks in which it has read registers.
    banks: u32,
}

/// Instructions of an SM from its reset on.
pub struct Conflicts {
    organisation: Organisation,
    gathering: Gathering,
    /// Registers, scratchpad and cache share the ports of their banks.
    common: bool,
    /// Collectors whose instruction has waited for a bank.
    waited: u16,
    /// Collectors whose instruction reads two registers of a bank.
    twice: u16,
    /// Banks in which each collector's instruction reads.
    banks: [u32; MAX_COLLECTORS],
    /// The last instruction that has entered the memory pipeline.
    last: Number,
    /// The instructions in `address_unit`, in the request register of `coalescer`, and in stage C of the data cache: one field each.
    unit: Number,
    request: Number,
    access: Number,
    /// The last instruction whose scratchpad addresses have been compared.
    compared: Number,
    /// Memory instructions that have met conflicts or read registers.
    followed: Vec<Followed>,
    any: [u64; DEFINITIONS.len()],
    of_kind: [u64; KINDS.len()],
}

/// A mask of the cache's event word; its bits of unified memory are always 0 without unified memory.
fn events(test: impl Fn(&str) -> bool) -> u64 {
    bits(UNIFIED_CACHE_EVENT, test)
}

static HITS: LazyLock<u64> =
    LazyLock::new(|| events(|name| matches!(name, "cache_hit" | "cache_store_hit" | "cache_store_full")));
static CACHE_WAITS: LazyLock<u64> = LazyLock::new(|| events(|name| name.starts_with("unified_cache_")));
static SHARED_LOST: LazyLock<u64> = LazyLock::new(|| events(|name| name.starts_with("unified_shared_")));

impl Conflicts {
    /// Of an SM that has just been reset.
    pub fn new(config: &Config) -> Self {
        Self {
            organisation: Organisation::of(config),
            gathering: Gathering::of(config),
            common: config.unified.is_present() && config.unified.ports == MemoryPorts::Shared,
            waited: 0,
            twice: 0,
            banks: [0; MAX_COLLECTORS],
            last: 0,
            unit: 0,
            request: 0,
            access: 0,
            compared: 0,
            followed: Vec::new(),
            any: [0; DEFINITIONS.len()],
            of_kind: [0; KINDS.len()],
        }
    }

    /// A cycle.
    pub fn observe(&mut self, cycle: &Cycle<'_>) {
        let o = &cycle.probe.outputs;
        let happens = |events: &LazyLock<u64>| cycle.out.cache_event_o & **events != 0;
        if o.address_unit.shared_valid_o == 1 {
            let served = o.shared_memory.served_o;
            let some_left = served != 0 && o.address_unit.lanes_o & !served != 0;
            if some_left || happens(&SHARED_LOST) {
                self.meets(self.unit, Kind::Scratchpad);
            }
            self.compare(cycle);
        }
        if happens(&CACHE_WAITS) {
            self.meets(self.access, Kind::Cache);
        }
        let cache = &cycle.probe.states.cache;
        if cache.access.pin_valid_o == 1 && cache.access_state.store_q == 0 {
            self.reads(self.access, 1 << column(cache.access.pin_entry_o.into()));
        }
        if o.coalescer.mem_req_valid_o & o.cache.req_ready_o == 1 && happens(&HITS) {
            self.access = self.request;
        }
        if o.coalescer.served_o != 0 {
            self.request = self.unit;
        }
        self.read(cycle);
    }

    /// Compares the addresses of an access of the scratchpad with each other and with the banks of its operands, once for each instruction.
    fn compare(&mut self, cycle: &Cycle<'_>) {
        let unit = &cycle.probe.outputs.address_unit;
        if self.compared == self.unit {
            return;
        }
        self.compared = self.unit;
        let addresses: Vec<u32> = lanes_of(unit.lanes_o).map(|lane| unit.addr_o.0[lane]).collect();
        let clash = |(place, &a): (usize, &u32)| {
            addresses[..place].iter().any(|&b| self.gathering.clash(a, b, unit.kind_o == ATOMIC))
        };
        if addresses.iter().enumerate().any(clash) {
            self.meets(self.unit, Kind::OwnScratchpad);
        }
        if unit.kind_o != STORE {
            self.reads(self.unit, addresses.iter().fold(0, |columns, &address| columns | 1 << column(row(address))));
        }
    }

    /// Notes that a memory instruction reads scratchpad or cache in these columns.
    fn reads(&mut self, instruction: Number, columns: u32) {
        let meets = |followed: &Followed| followed.number == instruction && followed.banks & columns != 0;
        if self.common && self.followed.iter().any(meets) {
            self.meets(instruction, Kind::OwnMemory);
        }
    }

    /// Reads of registers, and instructions that leave with their operands.
    fn read(&mut self, cycle: &Cycle<'_>) {
        let o = &cycle.probe.outputs;
        let provider = &cycle.probe.states.operand_stage.provider;
        let file = self.organisation.collectors(provider);
        let bank_of = self.organisation.banks(provider).map(|banks| banks.wanted);
        let slots = |set: u64, collector: usize| set >> (OPERANDS * collector) & ((1 << OPERANDS) - 1);
        for collector in lanes_of(file.busy.into()) {
            if slots(file.wanted & !file.granted, collector) != 0 && self.waited >> collector & 1 == 0 {
                self.waited |= 1 << collector;
                self.counts(0, 1 << Kind::Registers as u8);
            }
            let Some(bank_of) = bank_of else { continue };
            let mut banks = 0_u32;
            for operand in lanes_of(slots(file.wanted, collector) as u32) {
                let bank = 1 << bank_of[OPERANDS * collector + operand];
                if banks & bank != 0 && self.twice >> collector & 1 == 0 {
                    self.twice |= 1 << collector;
                    self.counts(0, 1 << Kind::OwnRegisters as u8);
                }
                banks |= bank;
            }
            self.banks[collector] |= banks;
        }
        let memory = (o.dispatcher.memory_valid_o & o.address_unit.in_ready_o == 1)
            .then_some(usize::from(o.dispatcher.memory_port_o));
        for port in lanes_of((file.dispatch & o.dispatcher.dispatch_ready_o).into()) {
            let collector = usize::from(file.leaving[port]);
            let bit = |set: u16, kind: Kind| ((set >> collector & 1) as u8) << kind as u8;
            let met = bit(self.waited, Kind::Registers) | bit(self.twice, Kind::OwnRegisters);
            let banks = std::mem::take(&mut self.banks[collector]);
            self.waited &= !(1 << collector);
            self.twice &= !(1 << collector);
            if memory == Some(port) {
                self.last += 1;
                self.unit = self.last;
                let held = [self.request, self.access];
                self.followed.retain(|followed| held.contains(&followed.number));
                self.followed.push(Followed { number: self.last, met, banks });
            }
        }
    }

    /// Notes that a memory instruction meets a conflict.
    fn meets(&mut self, instruction: Number, kind: Kind) {
        let kind = 1 << kind as u8;
        let known = self.followed.iter_mut().find(|followed| followed.number == instruction);
        let before = known.as_ref().map_or(0, |followed| followed.met);
        match known {
            Some(followed) => followed.met |= kind,
            None => self.followed.push(Followed { number: instruction, met: kind, banks: 0 }),
        }
        if before & kind == 0 {
            self.counts(before, kind);
        }
    }

    /// Counts a kind of conflict that an instruction meets after the kinds in `before`.
    fn counts(&mut self, before: u8, kind: u8) {
        self.of_kind[kind.trailing_zeros() as usize] += 1;
        for (any, (_, kinds)) in self.any.iter_mut().zip(DEFINITIONS) {
            *any += u64::from(kinds & kind != 0 && kinds & before == 0);
        }
    }

    /// Adds what was counted to the sums of event words.
    pub fn add_to(&self, events: &mut Events) {
        events.extend(DEFINITIONS.map(|(name, _)| name).into_iter().zip(self.any));
        events.extend(KINDS.into_iter().zip(self.of_kind));
    }
}
