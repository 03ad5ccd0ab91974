use super::*;
use crate::testing::{Driver, UNIFIED_SHAPES, compare, event};
use crate::{LANES, Ports};

/// The page, cluster by cluster.
struct Reference {
    depth: usize,
    row_mask: usize,
    columns: [u8; CLUSTERS],
}

impl Reference {
    fn cycle(&mut self, i: &UnifiedArbiterIn) -> UnifiedArbiterOut {
        let mut out = UnifiedArbiterOut { data_column_o: self.columns, ..UnifiedArbiterOut::zeroed() };
        let rows = if i.cache_log_i == 0 { 0 } else { (1 << i.cache_log_i) / 4 };
        let of_cache =
            |entry: u16| (usize::from(entry) % 4, (self.depth - rows + usize::from(entry) / 4) & self.row_mask);
        let of_shared = |number: u16| {
            (usize::from(number) % 4, (usize::from(i.register_rows_i) + usize::from(number) / 4) & self.row_mask)
        };
        for b in 0..COLUMNS {
            out.cache_read_ready_o |= i.column_read_ready_i & 1 << b;
            out.cache_write_ready_o |= u8::from(i.column_write_ready_i[b] == 0xff) << b;
        }
        let (column, row) = of_cache(i.cache_read_entry_i);
        let cache_reads = i.cache_read_i == 1 && i.column_read_ready_i >> column & 1 == 1;
        let (write_column, write_row) = of_cache(i.cache_write_entry_i);
        let cache_writes = i.cache_write_i == 1 && i.column_write_ready_i[write_column] == 0xff;
        let (mut read_lost, mut write_lost) = (0, 0);
        for g in 0..CLUSTERS {
            let (b, shared_row) = of_shared(i.shared_row_i[g]);
            let mut place = (column, row);
            let mut reads = cache_reads;
            if i.shared_read_i >> g & 1 == 1 {
                if !cache_reads && i.column_read_ready_i >> b & 1 == 1 {
                    out.shared_read_ready_o |= 1 << g;
                    (reads, place) = (true, (b, shared_row));
                } else {
                    read_lost += 1;
                }
            }
            if reads {
                out.read_o |= 1 << g;
                (out.read_column_o[g], out.read_entry_o[g]) = (place.0 as u8, place.1 as u16);
                if i.rst_ni == 1 {
                    self.columns[g] = place.0 as u8;
                }
            }
            let (mut place, mut bytes) =
                ((write_column, write_row), (i.cache_write_bytes_i.0[g / 2] >> (g % 2 * 16)) as u16);
            let mut writes = cache_writes;
            if i.shared_write_i >> g & 1 == 1 {
                if !cache_writes && i.column_write_ready_i[b] >> g & 1 == 1 {
                    out.shared_write_ready_o |= 1 << g;
                    (writes, place, bytes) = (true, (b, shared_row), i.shared_bytes_i[g]);
                } else {
                    write_lost += 1;
                }
            }
            if writes {
                out.write_o |= 1 << g;
                (out.write_column_o[g], out.write_entry_o[g]) = (place.0 as u8, place.1 as u16);
                out.write_bytes_o[g] = bytes;
            }
        }
        if out.write_o != 0 {
            out.write_data_o = if cache_writes { i.cache_write_data_i } else { i.shared_data_i };
        }
        let waits = [i.cache_read_i == 1 && !cache_reads, i.cache_write_i == 1 && !cache_writes];
        out.event_o = u16::from(waits[0]) << 9 | u16::from(waits[1]) << 8 | read_lost << 4 | write_lost;
        if i.rst_ni == 0 {
            self.columns = [0; CLUSTERS];
        }
        out
    }
}

#[test]
fn it_does_what_the_page_says_cycle_by_cycle() {
    for shape in UNIFIED_SHAPES {
        let row_mask = shape.mrf.depth.next_power_of_two() - 1;
        let mut reference = Reference { depth: shape.mrf.depth, row_mask, columns: [0; CLUSTERS] };
        let most = shape.lines().ilog2() as u8;
        compare::<UnifiedArbiter>(
            &shape,
            10_000,
            |random, i| {
                i.rst_ni = (!random.chance(2)).into();
                i.cache_log_i = [0, 3, most][random.below(3)];
                // Scratchpad and cache share the clusters now and then.
                let busy = random.below(100);
                (i.cache_read_i, i.cache_write_i) = (random.chance(busy).into(), random.chance(busy).into());
                if i.cache_log_i == 0 {
                    (i.cache_read_i, i.cache_write_i) = (0, 0);
                } else {
                    let lines = (1 << i.cache_log_i) - 1;
                    (i.cache_read_entry_i, i.cache_write_entry_i) =
                        (i.cache_read_entry_i & lines, i.cache_write_entry_i & lines);
                }
                i.column_write_ready_i.iter_mut().for_each(|free| *free |= if random.chance(60) { 0xff } else { 0 });
            },
            |i| (reference.cycle(i), NoProbe::zeroed()),
        );
    }
}

#[test]
fn the_cache_goes_first_and_takes_all_clusters() {
    let mut arbiter = Driver::<UnifiedArbiter>::new(&UNIFIED_SHAPES[0]);
    let inputs = &mut arbiter.inputs;
    (inputs.register_rows_i, inputs.cache_log_i) = (10, 4);
    (inputs.column_read_ready_i, inputs.column_write_ready_i) = (0b1111, [0xff; COLUMNS]);
    (inputs.cache_read_i, inputs.cache_read_entry_i) = (1, 14);
    (inputs.shared_read_i, inputs.shared_row_i) = (0b11, [7; CLUSTERS]);
    let out = arbiter.cycle();
    // Of 96 rows the last four are the cache's; entry 14 is in the last one of them.
    assert_eq!((out.read_o, out.read_column_o, out.read_entry_o), (0xff, [2; CLUSTERS], [95; CLUSTERS]));
    assert_eq!((out.shared_read_ready_o, event(UNIFIED_EVENT, out.event_o.into(), "unified_shared_read_lost")), (0, 2));
    // Its column is not free: the scratchpad reads.
    arbiter.inputs.column_read_ready_i = 0b1011;
    let out = arbiter.cycle();
    assert_eq!((out.read_o, out.read_column_o[0], out.read_entry_o[0], out.shared_read_ready_o), (0b11, 3, 11, 0b11));
    assert_eq!(event(UNIFIED_EVENT, out.event_o.into(), "unified_cache_read_wait"), 1);
    assert_eq!(out.data_column_o, [2; CLUSTERS], "what was read at the last edge");
    assert_eq!(arbiter.cycle().data_column_o, [3, 3, 2, 2, 2, 2, 2, 2]);
}

#[test]
fn a_store_that_finds_one_cluster_in_use_waits_and_the_scratchpad_writes_the_others() {
    let mut arbiter = Driver::<UnifiedArbiter>::new(&UNIFIED_SHAPES[0]);
    let inputs = &mut arbiter.inputs;
    inputs.cache_log_i = 4;
    inputs.column_write_ready_i = [0xff, 0xf7, 0xff, 0xff];
    (inputs.cache_write_i, inputs.cache_write_entry_i, inputs.cache_write_data_i) = (1, 1, WarpData([1; LANES]));
    (inputs.shared_write_i, inputs.shared_row_i, inputs.shared_data_i) = (0b1100, [1; CLUSTERS], WarpData([2; LANES]));
    inputs.shared_bytes_i = [0x00f0; CLUSTERS];
    let out = arbiter.cycle();
    assert_eq!((out.cache_write_ready_o, out.write_o, out.shared_write_ready_o), (0b1101, 0b100, 0b100));
    assert_eq!((out.write_bytes_o[2], out.write_entry_o[2], out.write_data_o.0), (0x00f0, 0, [2; LANES]));
    let of = |name| event(UNIFIED_EVENT, out.event_o.into(), name);
    assert_eq!((of("unified_cache_write_wait"), of("unified_shared_write_lost")), (1, 1));
}

#[test]
fn events_of_cache_and_banks_are_one_word() {
    let names: Vec<&str> = UNIFIED_CACHE_EVENT.iter().map(|(name, _)| *name).collect();
    assert_eq!((names[0], names[3], names[4]), ("unified_cache_read_wait", "unified_shared_write_lost", "cache_hit"));
    assert_eq!(UNIFIED_CACHE_EVENT.iter().map(|(_, bits)| bits).sum::<u32>(), 26);
    assert_eq!(UNIFIED_EVENT.iter().map(|(_, bits)| bits).sum::<u32>(), UNIFIED_EVENT_BITS);
}
