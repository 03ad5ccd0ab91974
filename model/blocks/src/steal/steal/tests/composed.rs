//! The register file against its blocks, each alone, wired as the page says.

use super::super::*;
use crate::Ports;
use crate::mrf::tests::composed::collecting;
use crate::mrf::{
    MrfAllocatorIn, MrfAllocatorOut, MrfAllocatorProbe, MrfBankIn, MrfBankMapIn, MrfBankMapOut, MrfBankOut,
    MrfCollectorProbe, MrfCrossbarIn, MrfCrossbarOut, MrfCrossbarProbe, MrfWriteQueueIn, MrfWriteQueueOut,
};
use crate::steal::{
    StealArbiterIn, StealArbiterOut, StealArbiterProbe, StealCandidatesIn, StealCandidatesOut, StealCandidatesProbe,
    StealCollector, StealCollectorIn, StealCollectorOut, StealDependence, StealDependenceIn, StealDependenceOut,
    StealReturnIn, StealReturnOut, StealReturnProbe, StealTableIn, StealTableOut,
};
use crate::testing::{Random, Wired};

/// Bank and entry of a register.
fn map(block: &mut Wired<MrfBankMap>, warp_i: u8, base_i: u16, reg_i: u8) -> (u8, u16) {
    block.inputs = MrfBankMapIn { warp_i, reg_i, base_i };
    block.late();
    let MrfBankMapOut { bank_o, entry_o } = block.out;
    (bank_o, entry_o)
}

pub(super) struct Composed {
    shape: MrfShape,
    map: Wired<MrfBankMap>,
    queues: Vec<Wired<MrfWriteQueue>>,
    /// Results in the queues that were read next when they came.
    next: u8,
    collectors: Vec<Wired<StealCollector>>,
    candidates: Wired<StealCandidates>,
    table: Wired<StealTable>,
    returns: Wired<StealReturn>,
    allocator: Wired<MrfAllocator>,
    dependence: Wired<StealDependence>,
    arbiter: Wired<StealArbiter>,
    banks: Vec<Wired<MrfBank>>,
    crossbar: Wired<MrfCrossbar>,
}

impl Composed {
    pub(super) fn new(shape: MrfShape) -> Self {
        Self {
            map: Wired::new(&shape),
            queues: Wired::many(&shape, shape.issue_ports),
            next: 0,
            collectors: Wired::many(&shape, shape.collectors),
            candidates: Wired::new(&shape),
            table: Wired::new(&shape),
            returns: Wired::new(&shape),
            allocator: Wired::new(&shape),
            dependence: Wired::new(&shape),
            arbiter: Wired::new(&shape),
            banks: Wired::many(&shape, shape.banks),
            crossbar: Wired::new(&shape),
            shape,
        }
    }

    /// Ports that offer an instruction in the cycle that begins.
    pub(super) fn offered(&mut self) -> u8 {
        let mut nets = StealProbe::zeroed();
        self.show_queues_and_collectors(&mut nets);
        self.allocate(&StealIn::zeroed(), &mut StealOut::zeroed(), &mut nets);
        nets.dispatch_valid
    }

    pub(super) fn cycle(&mut self, inputs: &StealIn) -> (StealOut, StealProbe) {
        let mut out = StealOut::zeroed();
        let mut nets = StealProbe::zeroed();
        self.show_queues_and_collectors(&mut nets);
        self.show_table_and_return(&mut nets);
        self.allocate(inputs, &mut out, &mut nets);
        self.map(inputs, &mut nets);
        self.want(inputs, &out, &mut nets);
        self.look(inputs, &mut nets);
        self.arbitrate(inputs, &mut nets);
        self.tell(inputs, &mut nets);
        self.collect(inputs, &mut out, &mut nets);
        self.queue(inputs, &mut out, &mut nets);
        self.access(inputs, &mut nets);
        self.cross(inputs, &mut out, &mut nets);
        self.dispatch(&mut out, &nets);
        self.events(inputs, &mut out, &nets);
        let pushed = inputs.write_valid_i & out.write_ready_o;
        self.next = self.next & !pushed | inputs.write_next_i & pushed;
        self.next *= inputs.rst_ni;
        self.queues.iter_mut().for_each(Wired::clock);
        self.collectors.iter_mut().for_each(Wired::clock);
        self.banks.iter_mut().for_each(Wired::clock);
        self.candidates.clock();
        self.table.clock();
        self.returns.clock();
        self.allocator.clock();
        self.arbiter.clock();
        self.crossbar.clock();
        (out, nets)
    }

    fn map(&mut self, inputs: &StealIn, nets: &mut StealProbe) {
        for i in 0..self.shape.sources() {
            let p = i / OPERANDS;
            (nets.issue_bank[i], nets.issue_entry[i]) =
                map(&mut self.map, inputs.issue_warp_i[p], inputs.issue_base_i[p], inputs.issue_src_reg_i[i]);
            let (warp, base) = (inputs.candidate_warp_i[p], inputs.candidate_base_i[p]);
            (nets.candidate_bank[i], nets.candidate_entry[i]) =
                map(&mut self.map, warp, base, inputs.candidate_src_reg_i[i]);
        }
        for p in 0..self.shape.issue_ports {
            (nets.push_bank[p], nets.push_entry[p]) =
                map(&mut self.map, inputs.write_i[p].warp(), inputs.write_base_i[p], inputs.write_i[p].d());
            let warp = nets.col_warp[usize::from(nets.dispatch_col[p])];
            (nets.hint_bank[p], nets.hint_entry[p]) =
                map(&mut self.map, warp, inputs.hint_base_i[p], inputs.hint_reg_i[p]);
        }
    }

    fn show_table_and_return(&mut self, nets: &mut StealProbe) {
        StealTableOut {
            free_valid_o: nets.free_valid,
            free_entry_o: nets.free_entry,
            parked_o: nets.parked,
            parked_bank_o: nets.parked_bank,
            parked_entry_o: nets.parked_entry,
            hint_taken_o: _,
        } = self.table.out;
        self.returns.inputs.head_valid_i = nets.head_valid;
        self.returns.late();
        StealReturnOut {
            fresh_o: nets.fresh,
            land_entry_o: nets.land_entry,
            land_valid_o: nets.land_valid,
            land_source_o: nets.land_source,
            land_bank_o: nets.land_bank,
            land_port_o: nets.land_port,
            bus_free_o: nets.bus_free,
            bus_any_o: nets.bus_any,
            turn_o: nets.turn,
        } = self.returns.out;
        StealReturnProbe { bus_port: nets.bus_port } = self.returns.probe();
    }

    fn want(&mut self, inputs: &StealIn, out: &StealOut, nets: &mut StealProbe) {
        self.candidates.inputs = StealCandidatesIn {
            rst_ni: inputs.rst_ni,
            candidate_valid_i: inputs.candidate_valid_i,
            candidate_warp_i: inputs.candidate_warp_i,
            candidate_src_valid_i: inputs.candidate_src_valid_i,
            candidate_bank_i: nets.candidate_bank,
            candidate_entry_i: nets.candidate_entry,
            ready_i: out.issue_ready_o,
        };
        self.candidates.late();
        StealCandidatesOut {
            want_entry_o: nets.want_entry,
            want_valid_o: nets.want_valid,
            want_bank_o: nets.want_bank,
            want_warp_o: nets.want_warp,
        } = self.candidates.out;
        StealCandidatesProbe {
            valid_q: nets.candidates_valid_q,
            leader_q: nets.candidates_leader_q,
            warp_q: nets.candidates_warp_q,
            bank_q: nets.candidates_bank_q,
            entry_q: nets.candidates_entry_q,
        } = self.candidates.probe();
    }

    /// Results in the queues that have all lanes.
    fn full(&self, nets: &StealProbe) -> u8 {
        (0..self.shape.issue_ports).fold(0, |full, p| full | u8::from(nets.head_mask[p] == u32::MAX) << p)
    }

    fn look(&mut self, inputs: &StealIn, nets: &mut StealProbe) {
        self.dependence.inputs = StealDependenceIn {
            redirect_i: is_set(inputs.cfg_i, 5).into(),
            drop_i: is_set(inputs.cfg_i, 6).into(),
            write_full_i: self.full(nets),
            req_valid_i: nets.req_valid,
            req_bank_i: nets.req_bank,
            req_entry_i: nets.req_entry,
            write_valid_i: nets.head_valid,
            write_bank_i: nets.head_bank,
            write_entry_i: nets.head_entry,
            want_valid_i: nets.want_valid,
            want_bank_i: nets.want_bank,
            want_entry_i: nets.want_entry,
            free_valid_i: nets.free_valid,
            free_entry_i: nets.free_entry,
            parked_i: nets.parked,
            parked_bank_i: nets.parked_bank,
            parked_entry_i: nets.parked_entry,
            land_valid_i: nets.land_valid,
            land_bank_i: nets.land_bank,
            turn_i: nets.turn,
            bus_any_i: nets.bus_any,
        };
        self.dependence.late();
        StealDependenceOut {
            req_parked_o: nets.req_parked,
            alive_o: nets.alive,
            write_parked_o: nets.write_parked,
            at_bank_o: nets.at_bank,
            at_entry_o: nets.at_entry,
            drop_valid_o: nets.drop_valid,
            drop_bank_o: nets.drop_bank,
            want_parked_o: nets.want_parked,
            force_valid_o: nets.force_valid,
            force_bank_o: nets.force_bank,
            force_read_o: nets.force_read,
            force_write_o: nets.force_write,
            force_alive_o: nets.force_alive,
        } = self.dependence.out;
    }

    fn arbitrate(&mut self, inputs: &StealIn, nets: &mut StealProbe) {
        let full = self.full(nets);
        nets.head_next_q = self.next;
        self.arbiter.inputs = StealArbiterIn {
            rst_ni: inputs.rst_ni,
            cfg_i: inputs.cfg_i,
            req_valid_i: nets.req_valid,
            req_bank_i: nets.req_bank,
            req_entry_i: nets.req_entry,
            req_groups_i: nets.req_groups,
            req_parked_i: nets.req_parked,
            at_bank_i: nets.at_bank,
            at_entry_i: nets.at_entry,
            drop_valid_i: nets.drop_valid,
            drop_bank_i: nets.drop_bank,
            older_i: nets.older,
            write_valid_i: nets.head_valid,
            write_bank_i: nets.head_bank,
            write_entry_i: nets.head_entry,
            write_groups_i: nets.head_groups,
            write_full_i: full,
            write_next_i: nets.head_next_q,
            write_parked_i: nets.write_parked,
            want_valid_i: nets.want_valid,
            want_bank_i: nets.want_bank,
            want_entry_i: nets.want_entry,
            want_parked_i: nets.want_parked,
            free_valid_i: nets.free_valid,
            free_entry_i: nets.free_entry,
            parked_i: nets.parked,
            parked_bank_i: nets.parked_bank,
            alive_i: nets.alive,
            force_valid_i: nets.force_valid,
            force_bank_i: nets.force_bank,
            force_read_i: nets.force_read,
            force_write_i: nets.force_write,
            force_alive_i: nets.force_alive,
            land_valid_i: nets.land_valid,
            land_bank_i: nets.land_bank,
            land_entry_i: nets.land_entry,
            land_port_i: nets.land_port,
            turn_i: nets.turn,
            bus_free_i: nets.bus_free,
            fresh_i: nets.fresh,
        };
        self.arbiter.late();
        StealArbiterOut {
            grant_o: nets.grant,
            event_o: nets.arbiter_event,
            steal_event_o: nets.steal_arbiter_event,
            place_event_o: nets.place_event,
            drop_o: nets.drop,
            read_valid_o: nets.read_valid,
            bank_write_valid_o: nets.bank_write_valid,
            bank_write_port_o: nets.bank_write_port,
            read_entry_o: nets.read_entry,
            bank_write_entry_o: nets.bank_write_entry,
            stolen_o: nets.stolen,
            write_done_o: nets.write_done,
            park_valid_o: nets.park_valid,
            park_bank_o: nets.park_bank,
            fetch_valid_o: nets.fetch_valid,
            fetch_bank_o: nets.fetch_bank,
            fetch_forced_o: nets.fetch_forced,
        } = self.arbiter.out;
        StealArbiterProbe { rr_q: nets.rr_q, turn_q: nets.turn_q, park_turn_q: nets.park_turn_q } =
            self.arbiter.probe();
    }

    /// Passes the decisions to the table and to the return block.
    fn tell(&mut self, inputs: &StealIn, nets: &mut StealProbe) {
        self.table.inputs = StealTableIn {
            rst_ni: inputs.rst_ni,
            clear_i: inputs.clear_i,
            spare_i: inputs.spare_i,
            hint_valid_i: inputs.hint_valid_i,
            hint_bank_i: nets.hint_bank,
            hint_entry_i: nets.hint_entry,
            write_valid_i: nets.head_valid,
            write_bank_i: nets.head_bank,
            write_entry_i: nets.head_entry,
            park_valid_i: nets.park_valid,
            park_bank_i: nets.park_bank,
            fetch_valid_i: nets.fetch_valid,
            fetch_bank_i: nets.fetch_bank,
            drop_valid_i: nets.drop,
            drop_bank_i: nets.drop_bank,
            alive_i: nets.alive,
        };
        self.table.late();
        nets.hint_taken = self.table.out.hint_taken_o;
        self.returns.inputs = StealReturnIn {
            rst_ni: inputs.rst_ni,
            head_valid_i: nets.head_valid,
            park_valid_i: nets.park_valid,
            park_bank_i: nets.park_bank,
            fetch_valid_i: nets.fetch_valid,
            fetch_bank_i: nets.fetch_bank,
            parked_bank_i: nets.parked_bank,
            parked_entry_i: nets.parked_entry,
        };
    }

    fn collect(&mut self, inputs: &StealIn, out: &mut StealOut, nets: &mut StealProbe) {
        for p in 0..self.shape.issue_ports {
            let steals = nets.stolen >> (OPERANDS * p) & 0b111 != 0;
            out.steal_o |= u8::from(steals) << p;
            let taken = steals && is_set(inputs.issue_valid_i, p) && inputs.issue_warp_i[p] == nets.want_warp[p];
            nets.stolen_taken |= u8::from(taken) << p;
        }
        let at = self.at(inputs, nets);
        for (c, collector) in self.collectors.iter_mut().enumerate() {
            let p = usize::from(is_set(nets.alloc_port, c));
            let takes = is_set(nets.alloc_valid, c) && is_set(nets.stolen_taken, p);
            collector.inputs = StealCollectorIn {
                rst_ni: inputs.rst_ni,
                alloc_valid_i: is_set(nets.alloc_valid, c).into(),
                alloc_warp_i: inputs.issue_warp_i[p],
                alloc_mask_i: inputs.issue_mask_i[p],
                alloc_tag_i: inputs.issue_tag_i[p],
                alloc_src_valid_i: inputs.issue_src_valid_i >> (OPERANDS * p) & 0b111,
                alloc_bank_i: std::array::from_fn(|s| nets.issue_bank[OPERANDS * p + s]),
                alloc_entry_i: std::array::from_fn(|s| nets.issue_entry[OPERANDS * p + s]),
                alloc_read_i: if takes { nets.stolen >> (OPERANDS * p) & 0b111 } else { 0 },
                // A slot that shares the read of another one is of the same register, and has no request of its own.
                at_bank_i: std::array::from_fn(|s| at[OPERANDS * c + s]),
                grant_i: (nets.grant >> (OPERANDS * c)) as u8 & 0b111,
                free_i: is_set(nets.free, c).into(),
            };
            collector.late();
            nets.fill |= u64::from(collector.out.fill_o) << (OPERANDS * c);
            nets.fill_bank[OPERANDS * c..][..OPERANDS].copy_from_slice(&collector.out.fill_bank_o);
        }
    }

    /// Where the register of each slot is read, whether the slot requests it or not.
    fn at(&self, inputs: &StealIn, nets: &StealProbe) -> [u8; MAX_SLOTS] {
        std::array::from_fn(|i| {
            let register = (nets.req_bank[i], nets.req_entry[i]);
            let is_it = |&b: &usize| (nets.parked_bank[b], nets.parked_entry[b]) == register;
            let parked = set_bits(nets.parked).filter(is_it).last();
            parked.filter(|_| is_set(inputs.cfg_i, 5)).map_or(register.0, |b| b as u8)
        })
    }

    fn access(&mut self, inputs: &StealIn, nets: &mut StealProbe) {
        self.show_banks(nets);
        for (b, bank) in self.banks.iter_mut().enumerate() {
            let p = usize::from(is_set(nets.bank_write_port, b));
            let lands = nets.land_valid == 1 && usize::from(nets.land_port) == p;
            let landing = (u32::MAX, nets.read_data[usize::from(nets.land_source)]);
            let (write_mask_i, write_data_i) = if lands { landing } else { (nets.head_mask[p], nets.head_data[p]) };
            bank.inputs = MrfBankIn {
                rst_ni: inputs.rst_ni,
                read_valid_i: is_set(nets.read_valid, b).into(),
                read_entry_i: nets.read_entry[b],
                write_valid_i: is_set(nets.bank_write_valid, b).into(),
                write_entry_i: nets.bank_write_entry[b],
                write_mask_i,
                write_data_i,
            };
            bank.late();
        }
    }

    fn events(&self, inputs: &StealIn, out: &mut StealOut, nets: &StealProbe) {
        let count = |mask: u8| u64::from(mask.count_ones());
        let stolen_groups: u32 = (0..self.shape.issue_ports)
            .filter(|&p| is_set(nets.stolen_taken, p))
            .map(|p| {
                let groups = (0..8).filter(|g| inputs.issue_mask_i[p] >> (4 * g) & 0xf != 0).count() as u32;
                groups * (nets.stolen >> (OPERANDS * p) & 0b111).count_ones()
            })
            .sum();
        // After `read_groups` there are 29 bits more of the arbiter's events.
        let arbiter = nets.arbiter_event + (u64::from(stolen_groups) << 29);
        out.event_o = arbiter << 6
            | count(inputs.issue_valid_i & !out.issue_ready_o) << 4
            | count(out.dispatch_valid_o & inputs.dispatch_ready_i) << 2
            | count(out.dispatch_valid_o & !inputs.dispatch_ready_i);
        out.place_event_o = nets.place_event;
        out.steal_event_o = nets.steal_arbiter_event << 6
            | count(out.steal_o & !nets.stolen_taken) << 4
            | count(nets.hint_taken) << 2
            | count(inputs.hint_valid_i & !nets.hint_taken);
    }
}

collecting! { Composed: StealIn, StealOut, StealProbe, StealCollectorOut, write_done, fill_bank }

/// A mask of `bits` bits, each set in `percent` of a hundred cases.
fn mask(random: &mut Random, percent: usize, bits: usize) -> u8 {
    (0..bits).fold(0, |mask, bit| mask | u8::from(random.chance(percent)) << bit)
}

/// Drives the file as its neighbours would, but for what a scoreboard keeps apart. `last`: what it was given in the cycle before, `offered`: the ports that offer an instruction.
pub(super) fn drive(
    random: &mut Random,
    shape: &MrfShape,
    density: [usize; 6],
    last: &StealIn,
    offered: u8,
    i: &mut StealIn,
) {
    let ports = shape.issue_ports;
    i.rst_ni = (!random.chance(1)).into();
    i.clear_i = (random.below(300) == 0).into();
    i.issue_valid_i = mask(random, density[0], ports);
    i.issue_src_valid_i = mask(random, density[1], shape.sources());
    i.write_valid_i = mask(random, density[2], ports);
    i.dispatch_ready_i = mask(random, density[3], ports);
    i.candidate_valid_i = mask(random, density[4], ports);
    i.candidate_src_valid_i = mask(random, density[1], shape.sources());
    i.hint_valid_i = mask(random, density[5], ports) & offered & i.dispatch_ready_i;
    // Few warps and registers, so that conflicts are frequent, in 32 banks too.
    let warps = [&mut i.issue_warp_i, &mut i.candidate_warp_i];
    warps.into_iter().flatten().for_each(|warp| *warp &= 3);
    let regs = i.issue_src_reg_i.iter_mut().chain(&mut i.candidate_src_reg_i);
    regs.chain(&mut i.hint_reg_i).for_each(|reg| *reg &= 0x23);
    let bases = [&mut i.issue_base_i, &mut i.write_base_i, &mut i.candidate_base_i, &mut i.hint_base_i];
    bases.into_iter().flatten().for_each(|base| *base &= 1);
    for p in 0..ports {
        let all = if random.chance(50) { u32::MAX } else { 0 };
        i.write_i[p].change(|write| {
            (write.warp, write.d, write.mask) = (write.warp & 3, write.d & 0x23, write.mask | all);
        });
        // Often the candidate issues; of its warp nothing else does.
        if !is_set(last.candidate_valid_i, p) {
            continue;
        }
        if random.chance(60) {
            let sources = 0b111 << (OPERANDS * p);
            i.issue_valid_i |= 1 << p;
            i.issue_warp_i[p] = last.candidate_warp_i[p];
            i.issue_base_i[p] = last.candidate_base_i[p];
            i.issue_src_valid_i = i.issue_src_valid_i & !sources | last.candidate_src_valid_i & sources;
            i.issue_src_reg_i[OPERANDS * p..][..OPERANDS]
                .copy_from_slice(&last.candidate_src_reg_i[OPERANDS * p..][..OPERANDS]);
        } else if i.issue_warp_i[p] == last.candidate_warp_i[p] {
            i.issue_warp_i[p] ^= 1;
        }
    }
}
