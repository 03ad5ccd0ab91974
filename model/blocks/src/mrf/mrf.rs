//! `mrf`: the banked main register file. `docs/blocks/mrf.md`.

use crate::mrf::bits::{collectors_of, is_set, only, pack, set_bits, slot_bits, slots_of};
use crate::mrf::{
    BankWrite, Instruction, MAX_BANKS, MAX_COLLECTORS, MAX_PORTS, MAX_SLOTS, MRF_ARBITER_EVENT, MrfAllocator,
    MrfArbiter, MrfArbiterIn, MrfArbiterOut, MrfBank, MrfBankMap, MrfCollector, MrfCrossbar, MrfShape, MrfWriteQueue,
    Offers, WriteTarget,
};
use crate::{Block, Decode, LaneMask, Memory, OPERANDS, Ports, REG_BITS, WARP_BITS, WarpData, field, ports};

const MAX_SOURCES: usize = OPERANDS * MAX_PORTS;

/// Fields of `mrf_event_t`, most significant first: the arbiter's events, then those of the ports.
pub const MRF_EVENT: &[(&str, u32)] = &[
    ("read", 6),
    ("read_groups", 9),
    ("write", 2),
    ("write_groups", 5),
    ("conflict_intra", 6),
    ("conflict_inter", 6),
    ("conflict_read_write", 6),
    ("conflict_write", 2),
    ("write_held", 2),
    ("issue_stall", 2),
    ("dispatch", 2),
    ("dispatch_stall", 2),
];

ports! {
    /// Inputs of [`Mrf`].
    pub struct MrfIn(s: &MrfShape) {
        /// Data of a result.
        write_data_i: [WarpData; MAX_PORTS] = field(1024).count(s.issue_ports).valid_by("write_valid_i"),
        /// Opaque, comes out at dispatch.
        issue_tag_i: [u64; MAX_PORTS] = field(s.tag_w).count(s.issue_ports).valid_by("issue_valid_i"),
        /// Active lanes.
        issue_mask_i: [u32; MAX_PORTS] = field(32).count(s.issue_ports).valid_by("issue_valid_i"),
        /// Lanes to write.
        write_mask_i: [u32; MAX_PORTS] = field(32).count(s.issue_ports).valid_by("write_valid_i"),
        /// First row of the warp's registers.
        issue_base_i: [u16; MAX_PORTS] = field(s.entry_w()).count(s.issue_ports).valid_by("issue_valid_i"),
        /// First row of the warp's registers.
        write_base_i: [u16; MAX_PORTS] = field(s.entry_w()).count(s.issue_ports).valid_by("write_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// Strap: order among the reads of a bank, 0 oldest first, 1 round-robin.
        cfg_i: u8 = field(1),
        /// An instruction is offered on port p.
        issue_valid_i: u8 = field(s.issue_ports),
        /// Warp.
        issue_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.issue_ports).valid_by("issue_valid_i"),
        /// Bit 3p+s: source s of port p is a register.
        issue_src_valid_i: u8 = field(s.sources()),
        /// Register name.
        issue_src_reg_i: [u8; MAX_SOURCES] = field(REG_BITS).count(s.sources()).valid_by("issue_src_valid_i"),
        /// A result is offered on bus p.
        write_valid_i: u8 = field(s.issue_ports),
        /// Warp of the result.
        write_warp_i: [u8; MAX_PORTS] = field(WARP_BITS).count(s.issue_ports).valid_by("write_valid_i"),
        /// Register name of the result.
        write_reg_i: [u8; MAX_PORTS] = field(REG_BITS).count(s.issue_ports).valid_by("write_valid_i"),
        /// The instruction offered on dispatch port p is taken at this edge if also valid.
        dispatch_ready_i: u8 = field(s.issue_ports),
    }
}

ports! {
    /// Outputs of [`Mrf`].
    pub struct MrfOut(s: &MrfShape) {
        /// Operands.
        dispatch_data_o: [WarpData; MAX_SOURCES] =
            field(1024).count(s.sources()).valid_by("dispatch_src_valid_o").early().from("mrf_crossbar"),
        /// Tag as issued.
        dispatch_tag_o: [u64; MAX_PORTS] = field(s.tag_w).count(s.issue_ports).valid_by("dispatch_valid_o").early(),
        /// Events of this cycle: `mrf_event_t`.
        event_o: u64 = field(50).shown(Decode::Packed(MRF_EVENT)),
        /// Active lanes as issued.
        dispatch_mask_o: [u32; MAX_PORTS] = field(32).count(s.issue_ports).valid_by("dispatch_valid_o").early(),
        /// The instruction on port p is taken at this edge if also valid.
        issue_ready_o: u8 = field(s.issue_ports).early().from("mrf_allocator"),
        /// The result on bus p is taken at this edge if also valid.
        write_ready_o: u8 = field(s.issue_ports).early().from_each("mrf_write_queue", 1),
        /// The result at the head of queue p goes into its bank at this edge.
        write_done_o: u8 = field(s.issue_ports).early(),
        /// Its warp.
        write_done_warp_o: [u8; MAX_PORTS] = field(WARP_BITS).count(s.issue_ports).valid_by("write_done_o").early(),
        /// Its register name.
        write_done_reg_o: [u8; MAX_PORTS] = field(REG_BITS).count(s.issue_ports).valid_by("write_done_o").early(),
        /// An instruction with all its operands is offered.
        dispatch_valid_o: u8 = field(s.issue_ports).early(),
        /// Warp as issued.
        dispatch_warp_o: [u8; MAX_PORTS] = field(WARP_BITS).count(s.issue_ports).valid_by("dispatch_valid_o").early(),
        /// Bit 3p+s: `dispatch_valid_o[p]` and source s is a register.
        dispatch_src_valid_o: u8 = field(s.sources()).early(),
    }
}

ports! {
    /// Nets between the blocks of [`Mrf`], and the state that no net shows.
    pub struct MrfProbe(s: &MrfShape) {
        /// Data of each bank.
        read_data: [WarpData; MAX_BANKS] = field(1024)
            .count(s.banks).valid_by("read_data_valid").from_each("mrf_bank", 1).to("mrf_crossbar"),
        /// Data at the head of each write queue.
        head_data: [WarpData; MAX_PORTS] = field(1024)
            .count(s.issue_ports).valid_by("head_valid").from_each("mrf_write_queue", 1).to("mrf_bank"),
        /// Tag of each collector.
        col_tag: [u64; MAX_COLLECTORS] = field(s.tag_w)
            .count(s.collectors).valid_by("busy").from_each("mrf_collector", 1),
        /// Slot i wants its bank.
        req_valid: u64 = field(s.slots()).from_each("mrf_collector", OPERANDS).to("mrf_arbiter"),
        /// Slot i will be filled by the read granted now.
        fill: u64 = field(s.slots()).from_each("mrf_collector", OPERANDS).to("mrf_crossbar"),
        /// Slot i belongs to an instruction whose source it is.
        col_src_valid: u64 = field(s.slots()).from_each("mrf_collector", OPERANDS),
        /// The read of slot i is performed at this edge.
        grant: u64 = field(s.slots()).from("mrf_arbiter").to_each("mrf_collector", OPERANDS),
        /// Events of the arbiter.
        arbiter_event: u64 = field(44)
            .at("u_arbiter.event_o").from("mrf_arbiter").shown(Decode::Packed(MRF_ARBITER_EVENT)),
        /// Slot i takes its data in this cycle.
        fill_q: u64 = field(s.slots()).at("u_crossbar.fill_q").from("mrf_crossbar"),
        /// Active lanes of each collector's instruction.
        col_mask: [u32; MAX_COLLECTORS] = field(32)
            .count(s.collectors).valid_by("busy").from_each("mrf_collector", 1),
        /// Lanes that the head of each write queue writes.
        head_mask: [u32; MAX_PORTS] = field(32)
            .count(s.issue_ports).valid_by("head_valid").from_each("mrf_write_queue", 1).to("mrf_bank"),
        /// Bank b reads.
        read_valid: u32 = field(s.banks).from("mrf_arbiter").to_each("mrf_bank", 1),
        /// Bank b writes.
        bank_write_valid: u32 = field(s.banks).from("mrf_arbiter").to_each("mrf_bank", 1),
        /// From which queue.
        bank_write_port: u32 = field(s.banks).from("mrf_arbiter").to_each("mrf_bank", 1),
        /// Bank b has data.
        read_data_valid: u32 = field(s.banks).from_each("mrf_bank", 1).to("mrf_crossbar"),
        /// Entry of each source that is issued.
        issue_entry: [u16; MAX_SOURCES] = field(s.entry_w())
            .count(s.sources()).valid_by("issue_src_valid_i").from_each("mrf_bank_map", 1).to("mrf_collector"),
        /// Entry of each result that arrives.
        push_entry: [u16; MAX_PORTS] = field(s.entry_w())
            .count(s.issue_ports).valid_by("write_valid_i").from_each("mrf_bank_map", 1).to_each("mrf_write_queue", 1),
        /// Entry that the head of each write queue goes to.
        head_entry: [u16; MAX_PORTS] = field(s.entry_w())
            .count(s.issue_ports).valid_by("head_valid").from_each("mrf_write_queue", 1).to("mrf_arbiter"),
        /// Collector c takes an instruction at this edge.
        alloc_valid: u16 = field(s.collectors).from("mrf_allocator").to_each("mrf_collector", 1),
        /// From which port.
        alloc_port: u16 = field(s.collectors).from("mrf_allocator").to_each("mrf_collector", 1),
        /// Collector c is freed at this edge.
        free: u16 = field(s.collectors).from("mrf_allocator").to_each("mrf_collector", 1),
        /// Bit d of element c: d holds an older instruction than c.
        older: [u16; MAX_COLLECTORS] = field(s.collectors)
            .count(s.collectors).from("mrf_allocator").to("mrf_arbiter"),
        /// Bit d of element c: d is older than c and of the same warp.
        same_warp_q: [u16; MAX_COLLECTORS] = field(s.collectors)
            .count(s.collectors).at("u_allocator.same_warp_q").from("mrf_allocator"),
        /// Collector c holds an instruction.
        busy: u16 = field(s.collectors).from_each("mrf_collector", 1).to("mrf_allocator"),
        /// Collector c has all its operands.
        complete: u16 = field(s.collectors).from_each("mrf_collector", 1).to("mrf_allocator"),
        /// Entry of each register source.
        req_entry: [u16; MAX_SLOTS] = field(s.entry_w())
            .count(s.slots()).valid_by("col_src_valid").from_each("mrf_collector", OPERANDS).to("mrf_arbiter"),
        /// Entry bank b reads.
        read_entry: [u16; MAX_BANKS] = field(s.entry_w())
            .count(s.banks).valid_by("read_valid").from("mrf_arbiter").to_each("mrf_bank", 1),
        /// Entry bank b writes.
        bank_write_entry: [u16; MAX_BANKS] = field(s.entry_w())
            .count(s.banks).valid_by("bank_write_valid").from("mrf_arbiter").to_each("mrf_bank", 1),
        /// Bank of each source that is issued.
        issue_bank: [u8; MAX_SOURCES] = field(s.bank_w())
            .count(s.sources()).valid_by("issue_src_valid_i").from_each("mrf_bank_map", 1).to("mrf_collector"),
        /// Bank of each result that arrives.
        push_bank: [u8; MAX_PORTS] = field(s.bank_w())
            .count(s.issue_ports).valid_by("write_valid_i").from_each("mrf_bank_map", 1).to_each("mrf_write_queue", 1),
        /// A result waits in queue p.
        head_valid: u8 = field(s.issue_ports).from_each("mrf_write_queue", 1).to("mrf_arbiter"),
        /// Bank that the head of each write queue goes to.
        head_bank: [u8; MAX_PORTS] = field(s.bank_w())
            .count(s.issue_ports).valid_by("head_valid").from_each("mrf_write_queue", 1).to("mrf_arbiter"),
        /// Warp of the head of each write queue.
        head_warp: [u8; MAX_PORTS] = field(WARP_BITS)
            .count(s.issue_ports).valid_by("head_valid").from_each("mrf_write_queue", 1),
        /// Register name of the head of each write queue.
        head_reg: [u8; MAX_PORTS] = field(REG_BITS)
            .count(s.issue_ports).valid_by("head_valid").from_each("mrf_write_queue", 1),
        /// 4-lane groups that the head of each write queue writes.
        head_groups: [u8; MAX_PORTS] = field(4)
            .count(s.issue_ports).valid_by("head_valid").from_each("mrf_write_queue", 1).to("mrf_arbiter"),
        /// Dispatch port p offers an instruction.
        dispatch_valid: u8 = field(s.issue_ports).from("mrf_allocator").to("mrf_crossbar"),
        /// Of which collector.
        dispatch_col: [u8; MAX_PORTS] = field(s.col_w())
            .count(s.issue_ports).valid_by("dispatch_valid").from("mrf_allocator").to("mrf_crossbar"),
        /// Bank of each register source.
        req_bank: [u8; MAX_SLOTS] = field(s.bank_w())
            .count(s.slots()).valid_by("col_src_valid").from_each("mrf_collector", OPERANDS)
            .to("mrf_arbiter").to("mrf_crossbar"),
        /// 4-lane groups a read of collector c costs.
        req_groups: [u8; MAX_COLLECTORS] = field(4)
            .count(s.collectors).valid_by("busy").from_each("mrf_collector", 1).to("mrf_arbiter"),
        /// Warp of each collector's instruction.
        col_warp: [u8; MAX_COLLECTORS] = field(WARP_BITS)
            .count(s.collectors).valid_by("busy").from_each("mrf_collector", 1).to("mrf_allocator"),
        /// The write of queue p is performed at this edge.
        write_grant: u8 = field(s.issue_ports).from("mrf_arbiter").to_each("mrf_write_queue", 1),
        /// Slots of each collector that were granted in the last cycle.
        inflight_q: [u8; MAX_COLLECTORS] = field(OPERANDS)
            .count(s.collectors).each("gen_collector[{}].u_collector.inflight_q", 1).from_each("mrf_collector", 1),
        /// The slot that reads for each slot.
        leader_q: [u8; MAX_SLOTS] = field(OPERANDS.ilog2() + 1)
            .count(s.slots()).each("gen_collector[{}].u_collector.leader_q", OPERANDS).valid_by("busy")
            .from_each("mrf_collector", OPERANDS),
        /// Collector where bank b's next round-robin search begins.
        rr_q: [u8; MAX_BANKS] = field(s.col_w()).count(s.banks).at("u_arbiter.rr_q").from("mrf_arbiter"),
        /// Queue that goes first when both want a bank.
        turn_q: u8 = field(1).at("u_arbiter.turn_q").from("mrf_arbiter"),
        /// Bank from which slot i takes its data.
        fill_bank_q: [u8; MAX_SLOTS] = field(s.bank_w())
            .count(s.slots()).valid_by("fill_q").at("u_crossbar.fill_bank_q").from("mrf_crossbar"),
    }
}

/// The baseline register file of the papers: banks behind operand collectors, one arbiter, one crossbar.
///
/// An instruction reserves a collector, asks the banks for its source registers, and leaves for an execution unit when
/// all of them have arrived. A result waits in its bus's write queue until its bank is free.
///
/// All outputs but the events follow from state alone, through several blocks. They are therefore settled once, right
/// after the edge, and [`early`](Block::early) hands them out.
pub struct Mrf {
    ports: usize,
    bank_map: MrfBankMap,
    queues: Vec<MrfWriteQueue>,
    collectors: Vec<MrfCollector>,
    allocator: MrfAllocator,
    arbiter: MrfArbiter,
    banks: Vec<MrfBank>,
    crossbar: MrfCrossbar,

    /// Nets to and from the arbiter. Those that come from collectors and queues are brought up to date where these change.
    arbiter_in: MrfArbiterIn,
    arbiter_out: MrfArbiterOut,
    /// Nets of the collectors, which are brought up to date where they change.
    busy: u16,
    complete: u16,
    inflight: u16,
    col_warp: [u8; MAX_COLLECTORS],
    read_data_valid: u32,
    /// Settled after the edge.
    offers: Offers,
    issue_ready: u8,
    write_ready: u8,
    /// Settled late.
    taken: [Option<usize>; MAX_PORTS],
    free: u16,
    fill: u64,
}

impl Mrf {
    /// Brings the nets of a collector up to date.
    #[inline]
    fn show_collector(&mut self, c: usize) {
        let collector = &self.collectors[c];
        let set = |mask: &mut u16, value: bool| *mask = *mask & !(1 << c) | u16::from(value) << c;
        set(&mut self.busy, collector.busy());
        set(&mut self.complete, collector.complete());
        set(&mut self.inflight, collector.inflight() != 0);
        let requests = &mut self.arbiter_in.req_valid_i;
        *requests = *requests & !slots_of(c) | u64::from(collector.pending()) << (OPERANDS * c);
    }

    /// Brings the nets of what a collector has taken up to date.
    #[inline]
    fn show_instruction(&mut self, c: usize) {
        let instruction = self.collectors[c].instruction();
        self.col_warp[c] = instruction.warp;
        self.arbiter_in.req_groups_i[c] = instruction.mask.groups();
        for s in 0..OPERANDS {
            self.arbiter_in.req_bank_i[OPERANDS * c + s] = instruction.bank[s];
            self.arbiter_in.req_entry_i[OPERANDS * c + s] = instruction.entry[s];
        }
    }

    /// Brings the nets of a write queue up to date.
    #[inline]
    fn show_queue(&mut self, p: usize) {
        let queue = &self.queues[p];
        let inputs = &mut self.arbiter_in;
        inputs.write_valid_i = inputs.write_valid_i & !(1 << p) | u8::from(queue.valid()) << p;
        let target = queue.target();
        inputs.write_bank_i[p] = target.bank;
        inputs.write_entry_i[p] = target.entry;
        inputs.write_groups_i[p] = target.mask.groups();
    }

    /// Computes what follows from state alone.
    #[inline]
    fn settle(&mut self) {
        self.offers = self.allocator.offers(self.complete);
        self.issue_ready = self.allocator.ready(self.busy);
        self.arbiter_in.older_i = *self.allocator.older();
        self.arbiter.writes(&self.arbiter_in, &mut self.arbiter_out);
        self.write_ready = 0;
        for (p, queue) in self.queues.iter().enumerate() {
            self.write_ready |= u8::from(queue.ready(is_set(self.arbiter_out.write_grant_o, p))) << p;
        }
    }

    /// The instruction on an issue port.
    #[inline]
    fn offered(&self, inputs: &MrfIn, p: usize) -> Instruction {
        let mut instruction = Instruction {
            tag: inputs.issue_tag_i[p],
            mask: LaneMask(inputs.issue_mask_i[p]),
            warp: inputs.issue_warp_i[p],
            src_valid: inputs.issue_src_valid_i >> (OPERANDS * p) & 0b111,
            ..Instruction::default()
        };
        for s in 0..OPERANDS {
            let reg = inputs.issue_src_reg_i[OPERANDS * p + s];
            (instruction.bank[s], instruction.entry[s]) =
                self.bank_map.map(instruction.warp, inputs.issue_base_i[p], reg);
        }
        instruction
    }

    /// The result on a result bus.
    #[inline]
    fn arriving(&self, inputs: &MrfIn, p: usize) -> WriteTarget {
        let (warp, reg) = (inputs.write_warp_i[p], inputs.write_reg_i[p]);
        let (bank, entry) = self.bank_map.map(warp, inputs.write_base_i[p], reg);
        WriteTarget { mask: LaneMask(inputs.write_mask_i[p]), entry, bank, warp, reg }
    }

    #[inline]
    fn clock_crossbar(&mut self, running: bool) {
        let banks = &self.banks;
        self.crossbar.take(|bank| banks[bank].read_data());
        self.crossbar.ask(if running { self.fill } else { 0 }, &self.arbiter_in.req_bank_i);
    }

    #[inline]
    fn clock_banks(&mut self, running: bool) {
        let nets = &self.arbiter_out;
        for b in set_bits(self.read_data_valid | nets.read_valid_o | nets.bank_write_valid_o) {
            let read_entry = is_set(nets.read_valid_o, b).then_some(nets.read_entry_o[b]);
            let write = is_set(nets.bank_write_valid_o, b).then(|| {
                let queue = &self.queues[usize::from(is_set(nets.bank_write_port_o, b))];
                BankWrite { entry: nets.bank_write_entry_o[b], mask: queue.target().mask, data: queue.data() }
            });
            self.banks[b].advance(read_entry, write);
            if !running {
                self.banks[b].reset();
            }
        }
        self.read_data_valid = if running { nets.read_valid_o } else { 0 };
    }

    #[inline]
    fn clock_queues(&mut self, inputs: &MrfIn) {
        let popped = self.arbiter_out.write_grant_o;
        let pushed = inputs.write_valid_i & self.write_ready;
        for p in set_bits(pushed | popped) {
            if is_set(pushed, p) {
                let target = self.arriving(inputs, p);
                self.queues[p].push(target, &inputs.write_data_i[p]);
            } else {
                self.queues[p].pop();
            }
            self.show_queue(p);
        }
    }

    #[inline]
    fn clock_collectors(&mut self, inputs: &MrfIn) {
        let grant = self.arbiter_out.grant_o;
        let mut allocated = 0;
        for p in 0..self.ports {
            let Some(c) = self.taken[p] else { continue };
            let instruction = self.offered(inputs, p);
            self.collectors[c].allocate(&instruction);
            self.show_instruction(c);
            self.show_collector(c);
            allocated |= 1 << c;
        }
        for c in set_bits((self.inflight | self.free | collectors_of(grant)) & !allocated) {
            self.collectors[c].advance(slot_bits(grant, c), is_set(self.free, c));
            self.show_collector(c);
        }
    }

    /// What an edge in reset does to the control; the memories have no reset.
    fn reset(&mut self) {
        for p in 0..self.ports {
            self.queues[p].reset();
            self.show_queue(p);
        }
        for c in 0..self.collectors.len() {
            self.collectors[c].reset();
            self.show_collector(c);
        }
        self.allocator.reset();
        self.arbiter.reset();
    }
}

impl Block for Mrf {
    const NAME: &'static str = "mrf";
    const PARAMETERS: &'static [&'static str] = &["Banks", "DualPort", "Collectors", "IssuePorts", "Depth", "TagW"];
    const CHILDREN: &'static [&'static str] = &[
        MrfBankMap::NAME,
        MrfWriteQueue::NAME,
        MrfCollector::NAME,
        MrfAllocator::NAME,
        MrfArbiter::NAME,
        MrfBank::NAME,
        MrfCrossbar::NAME,
    ];

    type Shape = MrfShape;
    type In = MrfIn;
    type Out = MrfOut;
    type Probe = MrfProbe;

    fn new(shape: &MrfShape) -> Self {
        let mut mrf = Self {
            ports: shape.issue_ports,
            bank_map: MrfBankMap::new(shape),
            queues: (0..shape.issue_ports).map(|_| MrfWriteQueue::new(shape)).collect(),
            collectors: (0..shape.collectors).map(|_| MrfCollector::new(shape)).collect(),
            allocator: MrfAllocator::new(shape),
            arbiter: MrfArbiter::new(shape),
            banks: (0..shape.banks).map(|_| MrfBank::new(shape)).collect(),
            crossbar: MrfCrossbar::new(shape),
            arbiter_in: MrfArbiterIn::zeroed(),
            arbiter_out: MrfArbiterOut::zeroed(),
            busy: 0,
            complete: 0,
            inflight: 0,
            col_warp: [0; MAX_COLLECTORS],
            read_data_valid: 0,
            offers: Offers::default(),
            issue_ready: 0,
            write_ready: 0,
            taken: [None; MAX_PORTS],
            free: 0,
            fill: 0,
        };
        mrf.settle();
        mrf
    }

    fn early(&self, out: &mut MrfOut) {
        out.issue_ready_o = self.issue_ready;
        out.write_ready_o = self.write_ready;
        out.write_done_o = self.arbiter_out.write_grant_o;
        (out.write_done_warp_o, out.write_done_reg_o) = ([0; MAX_PORTS], [0; MAX_PORTS]);
        for p in set_bits(out.write_done_o) {
            let target = self.queues[p].target();
            (out.write_done_warp_o[p], out.write_done_reg_o[p]) = (target.warp, target.reg);
        }
        out.dispatch_valid_o = self.offers.valid;
        out.dispatch_src_valid_o = 0;
        (out.dispatch_tag_o, out.dispatch_mask_o) = ([0; MAX_PORTS], [0; MAX_PORTS]);
        out.dispatch_warp_o = [0; MAX_PORTS];
        for p in set_bits(self.offers.valid) {
            let c = usize::from(self.offers.collector[p]);
            let instruction = self.collectors[c].instruction();
            out.dispatch_tag_o[p] = instruction.tag;
            out.dispatch_mask_o[p] = instruction.mask.0;
            out.dispatch_warp_o[p] = instruction.warp;
            out.dispatch_src_valid_o |= instruction.src_valid << (OPERANDS * p);
            for s in set_bits(instruction.src_valid) {
                out.dispatch_data_o[OPERANDS * p + s] = *self.crossbar.operand(OPERANDS * c + s);
            }
        }
    }

    fn late(&mut self, inputs: &MrfIn, out: &mut MrfOut) {
        self.arbiter_in.cfg_i = inputs.cfg_i;
        self.arbiter.reads(&self.arbiter_in, &mut self.arbiter_out);
        self.taken = self.allocator.allocate(self.busy, inputs.issue_valid_i);
        self.free = self.offers.taken(inputs.dispatch_ready_i);
        let grant = self.arbiter_out.grant_o;
        self.fill = 0;
        for c in set_bits(collectors_of(grant)) {
            self.fill |= u64::from(self.collectors[c].fill(slot_bits(grant, c))) << (OPERANDS * c);
        }
        let at_ports = [
            inputs.issue_valid_i & !self.issue_ready,
            self.offers.valid & inputs.dispatch_ready_i,
            self.offers.valid & !inputs.dispatch_ready_i,
        ];
        let layout = &MRF_EVENT[MRF_ARBITER_EVENT.len()..];
        let width: u32 = layout.iter().map(|&(_, bits)| bits).sum();
        out.event_o = self.arbiter_out.event_o << width | pack(layout, at_ports.map(u8::count_ones));
    }

    fn clock(&mut self, inputs: &MrfIn, _: &MrfOut) {
        let running = inputs.rst_ni != 0;
        // The crossbar takes what the banks have read before these read anew, the banks take what the queues hold before
        // these take anew, and the allocator sees the collectors as they are before the edge.
        self.clock_crossbar(running);
        self.clock_banks(running);
        if running {
            self.arbiter.advance(&self.arbiter_in, &self.arbiter_out);
            self.allocator.advance(self.busy, self.free, &self.taken, &inputs.issue_warp_i, &self.col_warp);
            self.clock_queues(inputs);
            self.clock_collectors(inputs);
        } else {
            self.reset();
        }
        self.settle();
    }

    fn probe(&self, inputs: &MrfIn, out: &MrfOut, probe: &mut MrfProbe) {
        self.probe_ports(inputs, out, probe);
        self.probe_collectors(probe);
        self.probe_arbiter(probe);
        self.probe_data(probe);
    }

    fn memories(&mut self) -> Vec<Memory<'_>> {
        let mut memories = Vec::new();
        for (b, bank) in self.banks.iter_mut().enumerate() {
            let path = format!("gen_bank[{b}].u_bank.{}", bank.memory_path());
            memories.push(Memory { path, block: MrfBank::NAME, words: bank.words() });
        }
        let latches = self.crossbar.latches();
        memories.push(Memory { path: "u_crossbar.operand_q".into(), block: MrfCrossbar::NAME, words: latches });
        memories
    }
}

/// Probes: the nets by the blocks that drive them. What means nothing is zero, where that is cheap.
impl Mrf {
    fn probe_ports(&self, inputs: &MrfIn, out: &MrfOut, probe: &mut MrfProbe) {
        (probe.issue_bank, probe.issue_entry) = ([0; MAX_SOURCES], [0; MAX_SOURCES]);
        for i in set_bits(inputs.issue_src_valid_i) {
            let p = i / OPERANDS;
            (probe.issue_bank[i], probe.issue_entry[i]) =
                self.bank_map.map(inputs.issue_warp_i[p], inputs.issue_base_i[p], inputs.issue_src_reg_i[i]);
        }
        (probe.push_bank, probe.push_entry) = ([0; MAX_PORTS], [0; MAX_PORTS]);
        for p in set_bits(inputs.write_valid_i) {
            let WriteTarget { bank, entry, .. } = self.arriving(inputs, p);
            (probe.push_bank[p], probe.push_entry[p]) = (bank, entry);
        }
        (probe.head_warp, probe.head_reg, probe.head_mask) = Default::default();
        (probe.head_bank, probe.head_entry, probe.head_groups) = Default::default();
        probe.head_valid = self.arbiter_in.write_valid_i;
        for p in set_bits(probe.head_valid) {
            let queue = &self.queues[p];
            let WriteTarget { mask, entry, bank, warp, reg } = *queue.target();
            (probe.head_bank[p], probe.head_entry[p]) = (bank, entry);
            (probe.head_warp[p], probe.head_reg[p]) = (warp, reg);
            (probe.head_mask[p], probe.head_groups[p]) = (mask.0, mask.groups());
            probe.head_data[p] = *queue.data();
        }
        (probe.alloc_valid, probe.alloc_port) = (0, 0);
        for (p, collector) in self.taken.iter().enumerate() {
            let Some(c) = collector else { continue };
            probe.alloc_valid |= 1 << c;
            probe.alloc_port |= (p as u16) << c;
        }
        probe.free = self.free;
        probe.older = *self.allocator.older();
        probe.same_warp_q = *self.allocator.same_warp();
        (probe.dispatch_valid, probe.dispatch_col) = (out.dispatch_valid_o, self.offers.collector);
    }

    fn probe_collectors(&self, probe: &mut MrfProbe) {
        (probe.busy, probe.complete) = (self.busy, self.complete);
        (probe.req_valid, probe.fill) = (self.arbiter_in.req_valid_i, self.fill);
        probe.col_warp = only(&self.col_warp, self.busy);
        probe.req_groups = only(&self.arbiter_in.req_groups_i, self.busy);
        (probe.col_mask, probe.col_tag, probe.col_src_valid) = Default::default();
        (probe.leader_q, probe.inflight_q) = ([0; MAX_SLOTS], [0; MAX_COLLECTORS]);
        for c in set_bits(self.busy) {
            let collector = &self.collectors[c];
            let instruction = collector.instruction();
            (probe.col_mask[c], probe.col_tag[c]) = (instruction.mask.0, instruction.tag);
            probe.col_src_valid |= u64::from(instruction.src_valid) << (OPERANDS * c);
            probe.leader_q[OPERANDS * c..][..OPERANDS].copy_from_slice(&collector.leader());
            probe.inflight_q[c] = collector.inflight();
        }
        probe.req_bank = only(&self.arbiter_in.req_bank_i, probe.col_src_valid);
        probe.req_entry = only(&self.arbiter_in.req_entry_i, probe.col_src_valid);
    }

    fn probe_arbiter(&self, probe: &mut MrfProbe) {
        let nets = &self.arbiter_out;
        (probe.grant, probe.write_grant, probe.arbiter_event) = (nets.grant_o, nets.write_grant_o, nets.event_o);
        (probe.read_valid, probe.bank_write_valid) = (nets.read_valid_o, nets.bank_write_valid_o);
        probe.bank_write_port = nets.bank_write_port_o;
        probe.read_entry = only(&nets.read_entry_o, nets.read_valid_o);
        probe.bank_write_entry = only(&nets.bank_write_entry_o, nets.bank_write_valid_o);
        let state = self.arbiter.state();
        (probe.rr_q, probe.turn_q) = (state.rr_q, state.turn_q);
    }

    fn probe_data(&self, probe: &mut MrfProbe) {
        probe.read_data_valid = self.read_data_valid;
        for b in set_bits(self.read_data_valid) {
            probe.read_data[b] = *self.banks[b].read_data();
        }
        let state = self.crossbar.state();
        (probe.fill_q, probe.fill_bank_q) = (state.fill_q, state.fill_bank_q);
    }
}
