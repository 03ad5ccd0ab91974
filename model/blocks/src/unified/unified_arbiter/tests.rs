use super::*;
use crate::testing::{Driver, UNIFIED_SHAPES, compare, event};
use crate::{LANES, Ports};

/// A reference model from the page, word by word and bank by bank.
struct Reference {
    depth: usize,
    row_mask: usize,
    columns: [u8; WORDS],
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
        let (mut read_lost, mut write_lost) = ([false; 32], [false; 32]);
        for g in 0..CLUSTERS {
            if cache_reads {
                out.read_o[column] |= 1 << g;
                out.read_entry_o[8 * column + g] = row as u16;
            }
            if cache_writes {
                out.write_o[write_column] |= 1 << g;
                out.write_entry_o[8 * write_column + g] = write_row as u16;
                out.write_bytes_o[8 * write_column + g] = (i.cache_write_bytes_i.0[g / 2] >> (g % 2 * 16)) as u16;
            }
        }
        for w in 0..32 {
            let (g, (b, row)) = (w / 4, of_shared(i.shared_row_i[w]));
            let mut column_read = cache_reads.then_some(column);
            if i.shared_read_i >> w & 1 == 1 {
                if !cache_reads && i.column_read_ready_i >> b & 1 == 1 {
                    out.shared_read_ready_o |= 1 << w;
                    out.read_o[b] |= 1 << g;
                    out.read_entry_o[8 * b + g] = row as u16;
                    column_read = Some(b);
                } else {
                    read_lost[8 * b + g] = true;
                }
            }
            if let Some(column) = column_read {
                self.columns[w] = column as u8;
            }
            if i.shared_write_i >> w & 1 == 1 {
                if !cache_writes && i.column_write_ready_i[b] >> g & 1 == 1 {
                    out.shared_write_ready_o |= 1 << w;
                    out.write_o[b] |= 1 << g;
                    out.write_entry_o[8 * b + g] = row as u16;
                    out.write_bytes_o[8 * b + g] |= u16::from(i.shared_bytes_i[w]) << (4 * (w % 4));
                } else {
                    write_lost[8 * b + g] = true;
                }
            }
        }
        if out.write_o != [0; COLUMNS] {
            out.write_data_o = if cache_writes { i.cache_write_data_i } else { i.shared_data_i };
        }
        let count = |banks: [bool; 32]| banks.into_iter().filter(|&lost| lost).count() as u16;
        let waits = [i.cache_read_i == 1 && !cache_reads, i.cache_write_i == 1 && !cache_writes];
        out.event_o = u16::from(waits[0]) << 13 | u16::from(waits[1]) << 12 | count(read_lost) << 6 | count(write_lost);
        if i.rst_ni == 0 {
            self.columns = [0; WORDS];
        }
        out
    }
}

#[test]
fn it_does_what_the_page_says_cycle_by_cycle() {
    for shape in UNIFIED_SHAPES {
        let row_mask = shape.mrf.depth.next_power_of_two() - 1;
        let mut reference = Reference { depth: shape.mrf.depth, row_mask, columns: [0; WORDS] };
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
                // A bank has one row.
                let high: [u16; BANKS] = std::array::from_fn(|_| random.below(1 << 10) as u16);
                for (w, row) in i.shared_row_i.iter_mut().enumerate() {
                    let b = usize::from(*row) % COLUMNS;
                    *row = high[CLUSTERS * b + w / 4] << 2 | b as u16;
                }
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
    // Words 0 and 2 of cluster 0, and word 3 of cluster 1.
    (inputs.shared_read_i, inputs.shared_row_i) = (0b1000_0101, [7; WORDS]);
    let out = arbiter.cycle();
    // Of 96 rows the last four are the cache's; entry 14 is in the last one of them.
    let rows = std::array::from_fn(|bank| if bank / CLUSTERS == 2 { 95 } else { 0 });
    assert_eq!((out.read_o, out.read_entry_o), ([0, 0, 0xff, 0], rows));
    assert_eq!((out.shared_read_ready_o, event(UNIFIED_EVENT, out.event_o.into(), "unified_shared_read_lost")), (0, 2));
    // Its column is not free: the scratchpad reads.
    arbiter.inputs.column_read_ready_i = 0b1011;
    let out = arbiter.cycle();
    assert_eq!((out.read_o, out.read_entry_o[24..27].to_vec()), ([0, 0, 0, 0b11], vec![11, 11, 0]));
    assert_eq!(out.shared_read_ready_o, 0b1000_0101);
    assert_eq!(event(UNIFIED_EVENT, out.event_o.into(), "unified_cache_read_wait"), 1);
    assert_eq!(out.data_column_o, [2; WORDS], "what was read at the last edge");
    let columns = arbiter.cycle().data_column_o;
    assert_eq!((columns[..8].to_vec(), columns[8..].iter().all(|&b| b == 2)), (vec![3, 2, 3, 2, 2, 2, 2, 3], true));
}

#[test]
fn a_store_that_finds_one_cluster_in_use_waits_and_the_scratchpad_writes_the_others() {
    let mut arbiter = Driver::<UnifiedArbiter>::new(&UNIFIED_SHAPES[0]);
    let inputs = &mut arbiter.inputs;
    inputs.cache_log_i = 4;
    inputs.column_write_ready_i = [0xff, 0xf7, 0xff, 0xff];
    (inputs.cache_write_i, inputs.cache_write_entry_i, inputs.cache_write_data_i) = (1, 1, WarpData([1; LANES]));
    // Word 1 of clusters 2 and 3.
    inputs.shared_write_i = 0b10_0010 << 8;
    (inputs.shared_row_i, inputs.shared_data_i) = ([1; WORDS], WarpData([2; LANES]));
    inputs.shared_bytes_i = [0xf; WORDS];
    let out = arbiter.cycle();
    assert_eq!((out.cache_write_ready_o, out.write_o), (0b1101, [0, 0b100, 0, 0]));
    assert_eq!(out.shared_write_ready_o, 0b10 << 8);
    assert_eq!((out.write_bytes_o[10], out.write_entry_o[10], out.write_data_o.0), (0x00f0, 0, [2; LANES]));
    let of = |name| event(UNIFIED_EVENT, out.event_o.into(), name);
    assert_eq!((of("unified_cache_write_wait"), of("unified_shared_write_lost")), (1, 1));
}

/// Cluster 1 has four words, of three columns; one of these is not free.
#[test]
fn a_cluster_combines_words_of_several_columns_and_each_place_remembers_its_own() {
    let mut arbiter = Driver::<UnifiedArbiter>::new(&UNIFIED_SHAPES[0]);
    let inputs = &mut arbiter.inputs;
    (inputs.rst_ni, inputs.register_rows_i, inputs.column_read_ready_i) = (1, 10, 0b1101);
    inputs.column_write_ready_i = [0xff, 0xff, 0xfd, 0xff];
    (inputs.shared_read_i, inputs.shared_row_i[4], inputs.shared_row_i[5]) = (0xf0, 8, 13);
    (inputs.shared_row_i[6], inputs.shared_row_i[7]) = (2, 8);
    let out = arbiter.cycle();
    assert_eq!((out.read_o, out.shared_read_ready_o), ([0b10, 0, 0b10, 0], 0xd0));
    assert_eq!((out.read_entry_o[1], out.read_entry_o[9], out.read_entry_o[17]), (12, 0, 10));
    assert_eq!(event(UNIFIED_EVENT, out.event_o.into(), "unified_shared_read_lost"), 1);
    let inputs = &mut arbiter.inputs;
    (inputs.shared_read_i, inputs.shared_write_i) = (0, 0xf0);
    inputs.shared_bytes_i[4..8].copy_from_slice(&[1, 2, 4, 8]);
    let out = arbiter.cycle();
    assert_eq!(out.data_column_o[3..9], [0, 0, 0, 2, 0, 0]);
    assert_eq!((out.write_o, out.shared_write_ready_o), ([0b10, 0b10, 0, 0], 0xb0));
    assert_eq!((out.write_bytes_o[1], out.write_bytes_o[9], out.write_bytes_o[17]), (0x8001, 0x0020, 0));
    assert_eq!(event(UNIFIED_EVENT, out.event_o.into(), "unified_shared_write_lost"), 1);
}

#[test]
fn events_of_cache_and_banks_are_one_word() {
    let names: Vec<&str> = UNIFIED_CACHE_EVENT.iter().map(|(name, _)| *name).collect();
    assert_eq!((names[0], names[3], names[4]), ("unified_cache_read_wait", "unified_shared_write_lost", "cache_hit"));
    assert_eq!(UNIFIED_CACHE_EVENT.iter().map(|(_, bits)| bits).sum::<u32>(), 31);
    assert_eq!(UNIFIED_EVENT.iter().map(|(_, bits)| bits).sum::<u32>(), UNIFIED_EVENT_BITS);
}
