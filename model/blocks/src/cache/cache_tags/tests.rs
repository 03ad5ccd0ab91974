use super::*;
use crate::testing::{CACHE_SHAPES, Driver, Random, UNIFIED_SHAPES};

/// Two sets of two ways.
fn tags() -> Driver<CacheTags> {
    Driver::<CacheTags>::new(&CACHE_SHAPES[1])
}

/// A line of set 0 with this tag.
fn line(tag: u32) -> u32 {
    tag << 1
}

/// A line comes; gives whether it is kept, and where.
fn fill(tags: &mut Driver<CacheTags>, line: u32) -> Option<u16> {
    (tags.inputs.fill_valid_i, tags.inputs.fill_line_i) = (1, line);
    let out = tags.cycle();
    tags.inputs.fill_valid_i = 0;
    (out.fill_keep_o != 0).then_some(out.fill_entry_o)
}

/// Reads the set of a line, then looks it up with these uses; gives its entry.
fn look(tags: &mut Driver<CacheTags>, line: u32, touch: u8, invalidate: u8) -> Option<u16> {
    (tags.inputs.read_valid_i, tags.inputs.read_line_i) = (1, line);
    tags.cycle();
    (tags.inputs.read_valid_i, tags.inputs.line_i) = (0, line);
    (tags.inputs.touch_i, tags.inputs.invalidate_i) = (touch, invalidate);
    let out = tags.cycle();
    (tags.inputs.touch_i, tags.inputs.invalidate_i) = (0, 0);
    (out.hit_o != 0).then_some(out.entry_o)
}

#[test]
fn lines_go_to_invalid_ways_first_and_then_to_the_one_used_least_recently() {
    for fifo in [0, 1] {
        let mut tags = tags();
        tags.inputs.cfg_i = fifo;
        assert_eq!(look(&mut tags, line(7), 0, 0), None);
        assert_eq!((fill(&mut tags, line(7)), fill(&mut tags, line(8))), (Some(0), Some(2)));
        assert_eq!(fill(&mut tags, line(7) | 1), Some(1), "another set");
        assert_eq!(look(&mut tags, line(7), 1, 0), Some(0));
        let (kept, gone, entry) = if fifo == 1 { (8, 7, 0) } else { (7, 8, 2) };
        assert_eq!(fill(&mut tags, line(9)), Some(entry), "fifo {fifo}");
        assert_eq!(look(&mut tags, line(9), 0, 0), Some(entry));
        assert_eq!(look(&mut tags, line(kept), 0, 0), Some(2 - entry));
        assert_eq!(look(&mut tags, line(gone), 0, 0), None);
    }
}

#[test]
fn a_fill_at_the_edge_of_the_read_is_seen() {
    let mut tags = tags();
    let inputs = &mut tags.inputs;
    (inputs.read_valid_i, inputs.read_line_i, inputs.line_i) = (1, line(5), line(5));
    assert_eq!(fill(&mut tags, line(5)), Some(0));
    let out = tags.cycle();
    assert_eq!((out.hit_o, out.entry_o), (1, 0));
    let probe = tags.probe();
    assert_eq!((probe.bypass_valid_q, probe.bypass_way_q, probe.bypass_tag_q), (1, 0, 5));
    // By now the cell has it.
    assert_eq!((tags.cycle().hit_o, tags.probe().bypass_valid_q), (1, 0));
    // A fill in the other set is no business of the read.
    assert_eq!(fill(&mut tags, line(5) | 1), Some(1));
    tags.cycle();
    assert_eq!(tags.probe().bypass_valid_q, 0);
}

#[test]
fn a_way_in_use_is_not_taken() {
    let mut tags = tags();
    fill(&mut tags, line(1));
    fill(&mut tags, line(2));
    // Way 0 is the next to make room.
    (tags.inputs.pin_valid_i, tags.inputs.pin_entry_i) = (1, 0);
    assert_eq!(fill(&mut tags, line(3)), None);
    tags.inputs.pin_entry_i = 2;
    // It is touched at this edge.
    (tags.inputs.read_valid_i, tags.inputs.read_line_i, tags.inputs.line_i) = (1, line(1), line(1));
    tags.cycle();
    tags.inputs.touch_i = 1;
    assert_eq!(fill(&mut tags, line(3)), None);
    // Then way 2 is the next, which is pinned; way 0 is not.
    tags.inputs.touch_i = 0;
    assert_eq!(fill(&mut tags, line(3)), None);
    tags.inputs.pin_valid_i = 0;
    assert_eq!(fill(&mut tags, line(3)), Some(2));
    assert_eq!(look(&mut tags, line(1), 0, 0), Some(0));
}

#[test]
fn lines_become_invalid() {
    let mut tags = tags();
    fill(&mut tags, line(1));
    fill(&mut tags, line(2));
    assert_eq!(look(&mut tags, line(1), 0, 1), Some(0));
    assert_eq!(look(&mut tags, line(1), 0, 0), None);
    assert_eq!(fill(&mut tags, line(3)), Some(0), "the invalid way, not the oldest");
    tags.inputs.flush_i = 1;
    fill(&mut tags, line(4) | 1);
    tags.inputs.flush_i = 0;
    for other in [line(2), line(3), line(4) | 1] {
        assert_eq!(look(&mut tags, other, 0, 0), None);
    }
}

#[test]
fn lines_are_found_as_in_a_list_of_each_set() {
    for (shape, fifo) in CACHE_SHAPES.iter().flat_map(|shape| [(shape, false), (shape, true)]) {
        let (sets, ways) = (shape.sets(), shape.ways());
        let mut tags = Driver::<CacheTags>::new(shape);
        tags.inputs.cfg_i = fifo.into();
        // Lines of each set, those used last in front; a place without a line is empty.
        let mut list: Vec<Vec<(u16, Option<u32>)>> = Vec::new();
        for set in 0..sets {
            list.push((0..ways).map(|way| ((way * sets + set) as u16, None)).collect());
        }
        let mut random = Random(3);
        for _ in 0..3000 {
            // Few sets, few tags.
            let line = (random.below(2.min(sets)) + sets * random.below(2 * ways)) as u32;
            let of_set = &mut list[line as usize % sets];
            let place = of_set.iter().position(|&(_, held)| held == Some(line));
            let (touch, invalidate) = [(0, 0), (1, 0), (0, 1)][random.below(3)];
            let found = look(&mut tags, line, touch, invalidate);
            assert_eq!(found, place.map(|place| of_set[place].0));
            match place {
                Some(place) if invalidate == 1 => of_set[place].1 = None,
                Some(place) if touch == 1 && !fifo => of_set[..=place].rotate_right(1),
                Some(_) => {}
                None => {
                    let entry = fill(&mut tags, line).expect("nothing is pinned");
                    let free = of_set.iter().filter(|(_, held)| held.is_none()).map(|&(entry, _)| entry).min();
                    let place = of_set.iter().position(|&(at, _)| at == entry).expect("of its set");
                    assert_eq!(free.unwrap_or(of_set[ways - 1].0), entry);
                    of_set[..=place].rotate_right(1);
                    of_set[0].1 = Some(line);
                }
            }
        }
    }
}

#[test]
fn with_unified_memory_the_number_of_sets_is_chosen() {
    // Two ways, sixteen lines at most.
    let mut tags = Driver::<CacheTags>::new(&UNIFIED_SHAPES[0]);
    for (log, sets) in [(3u8, 4u32), (4, 8)] {
        (tags.inputs.log_i, tags.inputs.flush_i) = (log, 1);
        tags.cycle();
        tags.inputs.flush_i = 0;
        let (a, b, c) = (3, 3 + sets, 3 + 2 * sets);
        assert_eq!((fill(&mut tags, a), fill(&mut tags, b)), (Some(3), Some(3 + sets as u16)), "{log}");
        assert_eq!((look(&mut tags, a, 1, 0), look(&mut tags, c, 0, 0)), (Some(3), None));
        assert_eq!(fill(&mut tags, c), Some(3 + sets as u16), "the line used last stays");
        assert_eq!((look(&mut tags, a, 0, 0), look(&mut tags, b, 0, 0)), (Some(3), None));
        // Lines that differ in the bits between the smallest and the largest number of sets are distinguished.
        assert_eq!(look(&mut tags, c ^ 4, 0, 0), None);
    }
    (tags.inputs.log_i, tags.inputs.flush_i) = (0, 1);
    tags.cycle();
    tags.inputs.flush_i = 0;
    assert_eq!((fill(&mut tags, 3), look(&mut tags, 3, 0, 0)), (None, None));
    let memories = tags.block.memories();
    assert_eq!((memories[2].path.as_str(), memories[2].bits, memories[2].len()), ("gen_way[0].u_ram.mem_q", 24, 8));
}
