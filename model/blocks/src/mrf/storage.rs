//! The storage of a register file: its words and their ports. Files with and without banks differ only here.

use crate::design::{BankView, Design, Services};
use crate::mrf::bits::{is_set, set_bits};
use crate::mrf::mrf_arbiter::{Requests, Writes};
use crate::mrf::mrf_collector::Held;
use crate::mrf::slots::Slots;
use crate::mrf::{
    MrfAllocator, MrfArbiter, MrfBank, MrfBankMap, MrfCollector, MrfCrossbar, MrfProbe, MrfShape, MrfWriteQueue,
};
use crate::share::RegisterPlaces;
use crate::unified::unified_bank::clusters_of;
use crate::unified::{COLUMNS, Columns, ColumnsFree, UnifiedBank};
use crate::{Block, Memory, OPERANDS, Ports, WarpData};

/// The names of a register file with this storage, and its parts.
pub trait Kind: Send + 'static {
    /// The module of the whole file.
    const NAME: &'static str;
    /// The parameters of this module.
    const PARAMETERS: &'static [&'static str];
    /// The blocks inside it, in evaluation order.
    const CHILDREN: &'static [&'static str];
    /// Registers may be allocated one by one.
    const PLACES: bool;
    /// Ports that this file does not have.
    const WITHOUT: &'static [&'static str];
    /// What lockstep compares inside the file.
    type Probe: Ports<Shape = MrfShape> + AsRef<MrfProbe> + AsMut<MrfProbe>;
}

/// The words of a register file, their ports, and the operand latches after them.
///
/// In each cycle: [`writes`](Self::writes) right after the edge, then [`reads`](Self::reads) and [`edge`](Self::edge).
pub(crate) trait Storage: Kind + Clone {
    /// The declaration of the file as a design.
    const DESIGN: Design;

    /// Creates the storage of a shape, with all words 0.
    fn new(shape: &MrfShape) -> Self;

    /// Decides which of the waiting results are written. The decision follows from state alone.
    fn writes(&mut self, requests: &Requests<'_>, writes: &Writes);

    /// Queues whose result is written at this edge.
    fn write_grant(&self) -> u8;

    /// Decides which of the requested operands are read, and packs the events.
    fn reads(&mut self, requests: &Requests<'_>, round_robin: bool);

    /// Slots whose read is performed at this edge.
    fn grant(&self) -> Slots;

    /// The events of this cycle: `mrf_arbiter_event_t`.
    fn event(&self) -> u64;

    /// The clock edge of words and latches. `fill`: the slots that take the data of the reads.
    fn edge(&mut self, running: bool, fill: Slots, held: &Held, queues: &[MrfWriteQueue]);

    /// The clock edge of the arbitration state.
    fn advance(&mut self, round_robin: bool);

    /// The clock edge of the arbitration state in reset.
    fn reset(&mut self);

    /// The operand latches of a collector.
    fn operands(&self, collector: usize) -> &[WarpData; OPERANDS];

    /// Whether no read is performed at this edge, and no operand is on its way to its latch.
    fn is_quiet(&self) -> bool;

    /// Whether no operand is on its way to its latch.
    fn is_still(&self) -> bool;

    /// Records the inner nets and state that lockstep compares.
    fn probe(&self, probe: &mut MrfProbe);

    /// The view of the banks, from a record. `None`: the file has no banks.
    fn banks(probe: &MrfProbe) -> Option<BankView>;

    /// With unified memory: the columns.
    fn columns(&self) -> Option<&Columns> {
        None
    }

    /// With unified memory: the columns, to change them.
    fn columns_mut(&mut self) -> Option<&mut Columns> {
        None
    }

    /// The column ports that registers leave free in this cycle. `queues` hold the results.
    fn columns_free(&self, _queues: &[MrfWriteQueue]) -> ColumnsFree {
        ColumnsFree::default()
    }

    /// Words and latches, with their paths inside the file's module.
    fn memories(&mut self) -> Vec<Memory<'_>>;
}

/// Single- or dual-ported banks, an arbiter in front of them, a crossbar after them.
#[derive(Clone)]
pub struct Banked {
    pub(super) arbiter: MrfArbiter,
    pub(super) banks: Vec<MrfBank>,
    /// The columns of unified memory, which replace the banks.
    pub(super) columns: Option<Box<Columns>>,
    pub(super) crossbar: MrfCrossbar,
    /// Valid bits of the banks.
    pub(super) read_data_valid: u32,
}

impl Banked {
    #[inline]
    fn clock_banks(&mut self, running: bool, queues: &[MrfWriteQueue]) {
        let decided = self.arbiter.decisions();
        for b in set_bits(decided.read_valid) {
            self.banks[b].read(decided.read_entry[b]);
        }
        for b in set_bits(decided.bank_write_valid) {
            let queue = &queues[usize::from(is_set(decided.bank_write_port, b))];
            self.banks[b].write(decided.bank_write_entry[b], queue.data(), queue.target().mask);
        }
        self.read_data_valid = if running { decided.read_valid } else { 0 };
    }
}

impl Banked {
    /// The output of a bank.
    #[inline]
    pub(crate) fn read_data(&self, bank: usize) -> &WarpData {
        match &self.columns {
            None => self.banks[bank].read_data(),
            Some(columns) => columns.read_data(bank),
        }
    }

    /// The clock edge with unified memory: crossbar and columns.
    fn clock_columns(&mut self, running: bool, queues: &[MrfWriteQueue]) {
        let Some(columns) = &mut self.columns else { return };
        self.crossbar.take(|bank| columns.read_data(bank));
        let decided = self.arbiter.decisions();
        columns.edge(running, |b| {
            let queue = |b: usize| &queues[usize::from(is_set(decided.bank_write_port, b))];
            let write = |b: usize| (decided.bank_write_entry[b], queue(b).data(), queue(b).target().mask);
            (
                is_set(decided.read_valid, b).then(|| decided.read_entry[b]),
                is_set(decided.bank_write_valid, b).then(|| write(b)),
            )
        });
        self.read_data_valid = if running { decided.read_valid } else { 0 };
    }
}

impl Kind for Banked {
    const NAME: &'static str = "mrf";
    const PARAMETERS: &'static [&'static str] =
        &["Banks", "DualPort", "Collectors", "IssuePorts", "Depth", "TagW", "Places", "Unified"];
    const CHILDREN: &'static [&'static str] = &[
        MrfBankMap::NAME,
        RegisterPlaces::NAME,
        MrfWriteQueue::NAME,
        MrfCollector::NAME,
        MrfAllocator::NAME,
        MrfArbiter::NAME,
        MrfBank::NAME,
        UnifiedBank::NAME,
        MrfCrossbar::NAME,
    ];
    const PLACES: bool = true;
    const WITHOUT: &'static [&'static str] = &[];
    type Probe = MrfProbe;
}

impl Storage for Banked {
    const DESIGN: Design = Design {
        name: Self::NAME,
        blocks: crate::mrf::BLOCKS,
        selection: &crate::mrf::config::SELECTION,
        main_preset: "baseline",
        size_words: |sizes| (if sizes & 1 == 0 { "" } else { "places" }).to_owned(),
        services: Services { main_roles: Services::ALL_MAIN, serves_memory: true, ..Services::NEUTRAL },
        ..Design::PLAIN
    };

    fn new(shape: &MrfShape) -> Self {
        Self {
            arbiter: MrfArbiter::new(shape),
            banks: if shape.unified { Vec::new() } else { (0..shape.banks).map(|_| MrfBank::new(shape)).collect() },
            columns: shape.unified.then(|| Box::new(Columns::new(shape))),
            crossbar: MrfCrossbar::new(shape),
            read_data_valid: 0,
        }
    }

    #[inline]
    fn writes(&mut self, requests: &Requests<'_>, writes: &Writes) {
        self.arbiter.writes(requests, writes);
    }

    #[inline]
    fn write_grant(&self) -> u8 {
        self.arbiter.decisions().write_grant
    }

    #[inline]
    fn reads(&mut self, requests: &Requests<'_>, round_robin: bool) {
        self.arbiter.reads(requests, round_robin);
    }

    #[inline]
    fn grant(&self) -> Slots {
        self.arbiter.decisions().grant
    }

    #[inline]
    fn event(&self) -> u64 {
        self.arbiter.decisions().event
    }

    #[inline]
    fn edge(&mut self, running: bool, fill: Slots, held: &Held, queues: &[MrfWriteQueue]) {
        // The crossbar takes the output of the banks before the banks read again.
        if self.columns.is_some() {
            self.clock_columns(running, queues);
            self.crossbar.ask(fill.when(running), &held.bank);
            return;
        }
        self.crossbar.take(|bank| self.banks[bank].read_data());
        self.crossbar.ask(fill.when(running), &held.bank);
        self.clock_banks(running, queues);
    }

    #[inline]
    fn advance(&mut self, round_robin: bool) {
        self.arbiter.advance(round_robin);
    }

    fn reset(&mut self) {
        self.arbiter.reset();
    }

    #[inline]
    fn operands(&self, collector: usize) -> &[WarpData; OPERANDS] {
        self.crossbar.operands(collector)
    }

    #[inline]
    fn is_quiet(&self) -> bool {
        self.arbiter.decisions().read_valid == 0 && self.is_still()
    }

    #[inline]
    fn is_still(&self) -> bool {
        self.read_data_valid == 0 && self.crossbar.is_idle()
    }

    fn probe(&self, probe: &mut MrfProbe) {
        self.probe_arbiter(probe);
        self.probe_data(probe);
    }

    fn banks(probe: &MrfProbe) -> Option<BankView> {
        Some(BankView::of(probe))
    }

    fn columns(&self) -> Option<&Columns> {
        self.columns.as_deref()
    }

    fn columns_mut(&mut self) -> Option<&mut Columns> {
        self.columns.as_deref_mut()
    }

    fn columns_free(&self, queues: &[MrfWriteQueue]) -> ColumnsFree {
        if self.columns.as_ref().is_some_and(|columns| columns.are_separate()) {
            return ColumnsFree::ALL;
        }
        let decided = self.arbiter.decisions();
        let written = |b: usize| {
            let queue = &queues[usize::from(is_set(decided.bank_write_port, b))];
            if is_set(decided.bank_write_valid, b) { clusters_of(queue.target().mask) } else { 0 }
        };
        // Each bank with a read request performs a read, because it has two ports.
        let read = !self.arbiter.wanted() as u8 & ((1 << COLUMNS) - 1);
        ColumnsFree { read, write: std::array::from_fn(|b| !written(b)) }
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let mut memories = Vec::new();
        for (b, bank) in self.banks.iter_mut().enumerate() {
            let path = format!("gen_bank[{b}].gen_alone.u_bank.{}", bank.memory_path());
            memories.push(Memory::of_warps(path, MrfBank::NAME, bank.words()));
        }
        for (b, cells) in self.columns.iter_mut().flat_map(|columns| columns.cells()) {
            memories.extend(Memory::inside(format_args!("gen_bank[{b}].gen_unified.u_bank"), cells));
        }
        memories.push(Memory::of_warps("u_crossbar.operand_q", MrfCrossbar::NAME, self.crossbar.latches()));
        memories
    }
}
