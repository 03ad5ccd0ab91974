//! The register file against its blocks, each alone, wired as the page's table of nets says.

use super::super::*;
use crate::Ports;
use crate::mrf::bits::is_set;
use crate::mrf::{
    MrfAllocatorIn, MrfAllocatorOut, MrfAllocatorProbe, MrfArbiter, MrfArbiterIn, MrfArbiterOut, MrfArbiterProbe,
    MrfBank, MrfBankIn, MrfBankMapIn, MrfBankMapOut, MrfBankOut, MrfCollector, MrfCollectorIn, MrfCollectorOut,
    MrfCollectorProbe, MrfCrossbar, MrfCrossbarIn, MrfCrossbarOut, MrfCrossbarProbe, MrfWriteQueueIn, MrfWriteQueueOut,
};
use crate::share::{RegisterPlacesIn, RegisterPlacesOut};
use crate::testing::{Random, SHAPES, UNIFIED_SHAPES, Wired, compare};
use crate::unified::{BANKS, CLUSTERS, UnifiedBank, UnifiedBankIn, WORDS};

struct Composed {
    shape: MrfShape,
    issue_maps: Vec<Wired<MrfBankMap>>,
    write_maps: Vec<Wired<MrfBankMap>>,
    /// Replace both bank maps where registers are allocated one by one.
    issue_places: Vec<Wired<RegisterPlaces>>,
    write_places: Vec<Wired<RegisterPlaces>>,
    queues: Vec<Wired<MrfWriteQueue>>,
    collectors: Vec<Wired<MrfCollector>>,
    allocator: Wired<MrfAllocator>,
    arbiter: Wired<MrfArbiter>,
    banks: Vec<Wired<MrfBank>>,
    /// Replace the banks with unified memory.
    columns: Vec<Wired<UnifiedBank>>,
    crossbar: Wired<MrfCrossbar>,
}

impl Composed {
    fn new(shape: MrfShape) -> Self {
        Self {
            issue_maps: Wired::many(&shape, shape.sources()),
            write_maps: Wired::many(&shape, shape.issue_ports),
            issue_places: Wired::many(&shape, shape.sources()),
            write_places: Wired::many(&shape, shape.issue_ports),
            queues: Wired::many(&shape, shape.issue_ports),
            collectors: Wired::many(&shape, shape.collectors),
            allocator: Wired::new(&shape),
            arbiter: Wired::new(&shape),
            banks: Wired::many(&shape, shape.banks),
            columns: Wired::many(&shape, if shape.unified { shape.banks } else { 0 }),
            crossbar: Wired::new(&shape),
            shape,
        }
    }

    fn cycle(&mut self, inputs: &MrfIn) -> (MrfOut, MrfProbe) {
        let mut out = MrfOut::zeroed();
        let mut nets = MrfProbe::zeroed();
        if self.shape.places {
            self.locate(inputs, &mut nets);
        } else {
            self.map(inputs, &mut nets);
        }
        self.show_queues_and_collectors(&mut nets);
        self.allocate(inputs, &mut out, &mut nets);
        self.arbitrate(inputs, &mut nets);
        self.collect(inputs, &mut nets);
        self.queue(inputs, &mut out, &mut nets);
        self.access(inputs, &nets);
        self.show_banks(&mut nets);
        if self.shape.unified {
            self.access_columns(inputs, &mut out, &mut nets);
        }
        self.cross(inputs, &mut out, &mut nets);
        self.dispatch(&mut out, &nets);
        self.events(inputs, &mut out, &nets);
        self.issue_maps.iter_mut().chain(&mut self.write_maps).for_each(Wired::clock);
        self.queues.iter_mut().for_each(Wired::clock);
        self.collectors.iter_mut().for_each(Wired::clock);
        self.banks.iter_mut().for_each(Wired::clock);
        self.columns.iter_mut().for_each(Wired::clock);
        self.allocator.clock();
        self.arbiter.clock();
        self.crossbar.clock();
        (out, nets)
    }

    fn map(&mut self, inputs: &MrfIn, nets: &mut MrfProbe) {
        for (i, map) in self.issue_maps.iter_mut().enumerate() {
            let p = i / OPERANDS;
            map.inputs = MrfBankMapIn {
                warp_i: inputs.issue_warp_i[p],
                reg_i: inputs.issue_src_reg_i[i],
                base_i: inputs.issue_base_i[p],
            };
            map.late();
            MrfBankMapOut { bank_o: nets.issue_bank[i], entry_o: nets.issue_entry[i] } = map.out;
        }
        for (p, map) in self.write_maps.iter_mut().enumerate() {
            map.inputs = MrfBankMapIn {
                warp_i: inputs.write_i[p].warp(),
                reg_i: inputs.write_i[p].d(),
                base_i: inputs.write_base_i[p],
            };
            map.late();
            MrfBankMapOut { bank_o: nets.push_bank[p], entry_o: nets.push_entry[p] } = map.out;
        }
    }

    fn locate(&mut self, inputs: &MrfIn, nets: &mut MrfProbe) {
        let layout_i = inputs.layout_i;
        for (i, places) in self.issue_places.iter_mut().enumerate() {
            let (warp_i, reg_i) = (inputs.issue_warp_i[i / OPERANDS], inputs.issue_src_reg_i[i]);
            places.inputs = RegisterPlacesIn { layout_i, warp_i, reg_i };
            places.late();
            RegisterPlacesOut { bank_o: nets.issue_bank[i], entry_o: nets.issue_entry[i] } = places.out;
        }
        for (p, places) in self.write_places.iter_mut().enumerate() {
            let (warp_i, reg_i) = inputs.write_i[p].register();
            places.inputs = RegisterPlacesIn { layout_i, warp_i, reg_i };
            places.late();
            RegisterPlacesOut { bank_o: nets.push_bank[p], entry_o: nets.push_entry[p] } = places.out;
        }
    }

    fn arbitrate(&mut self, inputs: &MrfIn, nets: &mut MrfProbe) {
        self.arbiter.inputs = MrfArbiterIn {
            rst_ni: inputs.rst_ni,
            cfg_i: inputs.cfg_i,
            req_valid_i: nets.req_valid,
            req_bank_i: nets.req_bank,
            req_entry_i: nets.req_entry,
            req_groups_i: nets.req_groups,
            older_i: nets.older,
            write_valid_i: nets.head_valid,
            write_bank_i: nets.head_bank,
            write_entry_i: nets.head_entry,
            write_groups_i: nets.head_groups,
        };
        self.arbiter.late();
        MrfArbiterOut {
            grant_o: nets.grant,
            write_grant_o: nets.write_grant,
            read_valid_o: nets.read_valid,
            read_entry_o: nets.read_entry,
            bank_write_valid_o: nets.bank_write_valid,
            bank_write_port_o: nets.bank_write_port,
            bank_write_entry_o: nets.bank_write_entry,
            event_o: nets.arbiter_event,
        } = self.arbiter.out;
        MrfArbiterProbe { rr_q: nets.rr_q, turn_q: nets.turn_q } = self.arbiter.probe();
    }

    fn collect(&mut self, inputs: &MrfIn, nets: &mut MrfProbe) {
        for (c, collector) in self.collectors.iter_mut().enumerate() {
            let p = usize::from(is_set(nets.alloc_port, c));
            collector.inputs = MrfCollectorIn {
                rst_ni: inputs.rst_ni,
                alloc_valid_i: is_set(nets.alloc_valid, c).into(),
                alloc_warp_i: inputs.issue_warp_i[p],
                alloc_mask_i: inputs.issue_mask_i[p],
                alloc_tag_i: inputs.issue_tag_i[p],
                alloc_src_valid_i: inputs.issue_src_valid_i >> (OPERANDS * p) & 0b111,
                alloc_bank_i: std::array::from_fn(|s| nets.issue_bank[OPERANDS * p + s]),
                alloc_entry_i: std::array::from_fn(|s| nets.issue_entry[OPERANDS * p + s]),
                grant_i: (nets.grant >> (OPERANDS * c)) as u8 & 0b111,
                free_i: is_set(nets.free, c).into(),
            };
            collector.late();
            nets.fill |= u64::from(collector.out.fill_o) << (OPERANDS * c);
        }
    }

    fn access(&mut self, inputs: &MrfIn, nets: &MrfProbe) {
        for (b, bank) in self.banks.iter_mut().enumerate() {
            let p = usize::from(is_set(nets.bank_write_port, b));
            bank.inputs = MrfBankIn {
                rst_ni: inputs.rst_ni,
                read_valid_i: is_set(nets.read_valid, b).into(),
                read_entry_i: nets.read_entry[b],
                write_valid_i: is_set(nets.bank_write_valid, b).into(),
                write_entry_i: nets.bank_write_entry[b],
                write_mask_i: nets.head_mask[p],
                write_data_i: nets.head_data[p],
            };
            bank.late();
        }
    }

    /// Registers access a column as they access a bank; each access of memory goes to the column that it names.
    fn access_columns(&mut self, inputs: &MrfIn, out: &mut MrfOut, nets: &mut MrfProbe) {
        let asked = &inputs.columns;
        for (b, (column, bank)) in self.columns.iter_mut().zip(&self.banks).enumerate() {
            let of_column = |of_banks: &[u16; BANKS]| std::array::from_fn(|g| of_banks[CLUSTERS * b + g]);
            column.inputs = UnifiedBankIn {
                rst_ni: inputs.rst_ni,
                read_valid_i: bank.inputs.read_valid_i,
                read_entry_i: bank.inputs.read_entry_i,
                write_valid_i: bank.inputs.write_valid_i,
                write_entry_i: bank.inputs.write_entry_i,
                write_mask_i: bank.inputs.write_mask_i,
                write_data_i: bank.inputs.write_data_i,
                memory_read_i: asked.memory_read_i[b],
                memory_read_entry_i: of_column(&asked.memory_read_entry_i),
                memory_write_i: asked.memory_write_i[b],
                memory_write_entry_i: of_column(&asked.memory_write_entry_i),
                memory_write_bytes_i: of_column(&asked.memory_write_bytes_i),
                memory_write_data_i: asked.memory_write_data_i,
            };
            column.late();
            let shown = &column.out;
            nets.read_data[b] = shown.read_data_o;
            out.columns.memory_read_ready_o |= shown.memory_read_ready_o << b;
            out.columns.memory_write_ready_o[b] = shown.memory_write_ready_o;
            for w in (0..WORDS).filter(|&w| usize::from(asked.memory_data_column_i[w]) == b) {
                out.columns.memory_data_o.0[w] = shown.memory_data_o.0[w];
            }
        }
    }

    fn events(&self, inputs: &MrfIn, out: &mut MrfOut, nets: &MrfProbe) {
        let count = |mask: u8| u64::from(mask.count_ones());
        out.event_o = nets.arbiter_event << 6
            | count(inputs.issue_valid_i & !out.issue_ready_o) << 4
            | count(out.dispatch_valid_o & inputs.dispatch_ready_i) << 2
            | count(out.dispatch_valid_o & !inputs.dispatch_ready_i);
    }
}

/// What a file with collectors is wired like, whatever decides about its banks: its nets have the same names. `$done`: queues whose result goes,
/// `$fill_bank`: the banks from which slots take their data.
macro_rules! collecting {
    ($composed:ty: $in:ty, $out:ty, $probe:ty, $collector_out:ident, $done:ident, $fill_bank:ident) => {
        impl $composed {
            fn show_queues_and_collectors(&mut self, nets: &mut $probe) {
                for (p, queue) in self.queues.iter().enumerate() {
                    let valid;
                    MrfWriteQueueOut {
                        head_valid_o: valid,
                        head_bank_o: nets.head_bank[p],
                        head_entry_o: nets.head_entry[p],
                        head_warp_o: nets.head_warp[p],
                        head_reg_o: nets.head_reg[p],
                        head_mask_o: nets.head_mask[p],
                        head_data_o: nets.head_data[p],
                        head_groups_o: nets.head_groups[p],
                        push_ready_o: _,
                    } = queue.out;
                    nets.head_valid |= valid << p;
                }
                for (c, collector) in self.collectors.iter().enumerate() {
                    let (busy, complete, requests, sources, banks, entries);
                    $collector_out {
                        busy_o: busy,
                        complete_o: complete,
                        req_valid_o: requests,
                        src_valid_o: sources,
                        req_bank_o: banks,
                        req_entry_o: entries,
                        req_groups_o: nets.req_groups[c],
                        warp_o: nets.col_warp[c],
                        mask_o: nets.col_mask[c],
                        tag_o: nets.col_tag[c],
                        ..
                    } = collector.out;
                    nets.busy |= u16::from(busy) << c;
                    nets.complete |= u16::from(complete) << c;
                    nets.req_valid |= u64::from(requests) << (OPERANDS * c);
                    nets.col_src_valid |= u64::from(sources) << (OPERANDS * c);
                    nets.req_bank[OPERANDS * c..][..OPERANDS].copy_from_slice(&banks);
                    nets.req_entry[OPERANDS * c..][..OPERANDS].copy_from_slice(&entries);
                    let probe: MrfCollectorProbe = collector.probe();
                    nets.inflight_q[c] = probe.inflight_q;
                    nets.leader_q[OPERANDS * c..][..OPERANDS].copy_from_slice(&probe.leader_q);
                }
            }

            fn show_banks(&self, nets: &mut $probe) {
                for (b, bank) in self.banks.iter().enumerate() {
                    let valid;
                    MrfBankOut { read_data_valid_o: valid, read_data_o: nets.read_data[b] } = bank.out;
                    nets.read_data_valid |= u32::from(valid) << b;
                }
            }

            fn allocate(&mut self, inputs: &$in, out: &mut $out, nets: &mut $probe) {
                self.allocator.inputs = MrfAllocatorIn {
                    rst_ni: inputs.rst_ni,
                    issue_valid_i: inputs.issue_valid_i,
                    issue_warp_i: inputs.issue_warp_i,
                    busy_i: nets.busy,
                    complete_i: nets.complete,
                    col_warp_i: nets.col_warp,
                    dispatch_ready_i: inputs.dispatch_ready_i,
                };
                self.allocator.late();
                MrfAllocatorOut {
                    issue_ready_o: out.issue_ready_o,
                    alloc_valid_o: nets.alloc_valid,
                    alloc_port_o: nets.alloc_port,
                    older_o: nets.older,
                    dispatch_valid_o: nets.dispatch_valid,
                    dispatch_col_o: nets.dispatch_col,
                    free_o: nets.free,
                } = self.allocator.out;
                MrfAllocatorProbe { same_warp_q: nets.same_warp_q } = self.allocator.probe();
            }

            fn queue(&mut self, inputs: &$in, out: &mut $out, nets: &mut $probe) {
                for (p, queue) in self.queues.iter_mut().enumerate() {
                    queue.inputs = MrfWriteQueueIn {
                        rst_ni: inputs.rst_ni,
                        push_valid_i: is_set(inputs.write_valid_i, p).into(),
                        push_bank_i: nets.push_bank[p],
                        push_entry_i: nets.push_entry[p],
                        push_warp_i: inputs.write_i[p].warp(),
                        push_reg_i: inputs.write_i[p].d(),
                        push_mask_i: inputs.write_i[p].mask(),
                        push_data_i: inputs.write_data_i[p],
                        pop_i: is_set(nets.$done, p).into(),
                    };
                    queue.late();
                    out.write_ready_o |= queue.out.push_ready_o << p;
                }
            }

            fn cross(&mut self, inputs: &$in, out: &mut $out, nets: &mut $probe) {
                self.crossbar.inputs = MrfCrossbarIn {
                    rst_ni: inputs.rst_ni,
                    fill_i: nets.fill,
                    fill_bank_i: nets.$fill_bank,
                    read_data_valid_i: nets.read_data_valid,
                    read_data_i: nets.read_data,
                    dispatch_valid_i: nets.dispatch_valid,
                    dispatch_col_i: nets.dispatch_col,
                };
                self.crossbar.late();
                MrfCrossbarOut { dispatch_data_o: out.dispatch_data_o } = self.crossbar.out;
                MrfCrossbarProbe { fill_q: nets.fill_q, fill_bank_q: nets.fill_bank_q } = self.crossbar.probe();
            }

            fn dispatch(&self, out: &mut $out, nets: &$probe) {
                out.write_done_o = nets.$done;
                out.written_o =
                    std::array::from_fn(|p| $crate::write::WrittenWord::new(nets.head_warp[p], nets.head_reg[p]));
                out.dispatch_valid_o = nets.dispatch_valid;
                for p in 0..self.shape.issue_ports {
                    let c = usize::from(nets.dispatch_col[p]);
                    (out.dispatch_warp_o[p], out.dispatch_mask_o[p]) = (nets.col_warp[c], nets.col_mask[c]);
                    out.dispatch_tag_o[p] = nets.col_tag[c];
                    if is_set(nets.dispatch_valid, p) {
                        out.dispatch_src_valid_o |=
                            ((nets.col_src_valid >> (OPERANDS * c)) as u8 & 0b111) << (OPERANDS * p);
                    }
                }
            }
        }
    };
}
pub(crate) use collecting;

collecting! { Composed: MrfIn, MrfOut, MrfProbe, MrfCollectorOut, write_grant, req_bank }

#[test]
fn the_register_file_is_the_sum_of_its_blocks() {
    let with_places = SHAPES.map(|shape| MrfShape { places: true, ..shape });
    let with_memory = UNIFIED_SHAPES.map(|shape| shape.mrf);
    let separate = with_memory.map(|shape| MrfShape { separate: true, ..shape });
    for (number, shape) in SHAPES.into_iter().chain(with_places).chain(with_memory).chain(separate).enumerate() {
        let mut composed = Composed::new(shape);
        // Bursts of different density.
        let mut density = [50; 4];
        let mut phases = Random(number as u64 + 1);
        let mut cycle = 0;
        compare::<Mrf>(
            &shape,
            6000,
            |random, inputs| {
                if cycle % 100 == 0 {
                    density = std::array::from_fn(|_| 10 + phases.below(90));
                }
                cycle += 1;
                inputs.rst_ni = (!random.chance(1)).into();
                let mut mask = |percent: usize, bits: usize| {
                    (0..bits).fold(0, |mask, bit| mask | u8::from(random.chance(percent)) << bit)
                };
                inputs.issue_valid_i = mask(density[0], shape.issue_ports);
                inputs.issue_src_valid_i = mask(density[1], shape.sources());
                inputs.write_valid_i = mask(density[2], shape.issue_ports);
                inputs.dispatch_ready_i = mask(density[3], shape.issue_ports);
                // Few warps and registers, so that conflicts are frequent.
                inputs.issue_warp_i.iter_mut().for_each(|warp| *warp &= 3);
                inputs.issue_src_reg_i.iter_mut().for_each(|reg| *reg &= 7);
                inputs.write_i.iter_mut().for_each(|write| write.change(|w| (w.warp, w.d) = (w.warp & 3, w.d & 7)));
                inputs.issue_base_i.iter_mut().chain(&mut inputs.write_base_i).for_each(|base| *base &= 1);
                let columns = &mut inputs.columns;
                columns
                    .memory_read_entry_i
                    .iter_mut()
                    .chain(&mut columns.memory_write_entry_i)
                    .for_each(|row| *row &= 3);
            },
            |inputs| composed.cycle(inputs),
        );
    }
}
