use super::*;
use crate::hierarchy::HIERARCHY_SHAPES;
use crate::mrf::bits::is_set;
use crate::testing::{Driver, compare};

fn levels(entries: usize, lrf_banks: usize, sources: [Option<u8>; 3], result: u8) -> HierarchyLevelsOut {
    let mut block = Driver::<HierarchyLevels>::new(&HierarchyShape { entries, lrf_banks, ..HIERARCHY_SHAPES[0] });
    block.inputs.valid_i = 1;
    for (k, level) in sources.into_iter().enumerate() {
        block.inputs.src_valid_i |= u8::from(level.is_some()) << k;
        block.inputs.src_level_i[k] = level.unwrap_or_default();
    }
    (block.inputs.dst_i, block.inputs.dst_level_i) = (7, result);
    block.cycle()
}

#[test]
fn a_level_that_the_machine_does_not_have_is_the_mrf() {
    let out = levels(2, 1, [Some(3), Some(10), Some(19)], 3);
    assert_eq!((out.mrf_o, out.orf_o, out.lrf_o, out.copy_o), (0b111, 0, 0, 0));
    assert_eq!((out.read_place_o, out.copy_place_o, out.result_place_o), (0, 0, 0));
    let out = levels(3, 3, [Some(3), Some(10), Some(18)], 27);
    assert_eq!((out.mrf_o, out.orf_o, out.lrf_o, out.copy_o), (0b100, 0b001, 0b010, 0b100));
    assert_eq!((out.read_place_o, out.copy_place_o), (1 << 2 | 1 << 9, 1 << 1));
    assert_eq!((out.entry_o, out.lrf_read_o, out.result_place_o, out.both_o), ([2, 0, 1], 0b010, 1 << 10, 1));
}

#[test]
fn one_entry_is_read_once() {
    let out = levels(8, 0, [Some(5), Some(8), Some(5)], 0);
    assert_eq!((out.orf_o, out.port_o, out.orf_read_o, out.entry_o), (0b111, [0, 1, 0], 0b011, [4, 7, 4]));
    let out = levels(8, 1, [None, Some(9), Some(9)], 0);
    assert_eq!((out.lrf_o, out.lrf_read_o, out.read_place_o), (0b110, 0b001, 1 << 8));
}

#[test]
fn an_entry_takes_one_copy_and_none_where_the_result_goes() {
    let out = levels(8, 0, [Some(17), Some(17), Some(18)], 2);
    assert_eq!((out.mrf_o, out.copy_o, out.copy_place_o, out.entry_o), (0b111, 0b001, 1, [0, 0, 0]));
}

/// A reference model from the page, word by word.
fn reference(shape: &HierarchyShape, inputs: &HierarchyLevelsIn) -> HierarchyLevelsOut {
    let (e, l) = (shape.entries as u8, shape.lrf_banks as u8);
    let number = |k: usize| inputs.src_level_i[k] & 15;
    let high = |k: usize| inputs.src_level_i[k] >> 4 == 1;
    let valid = |k: usize| inputs.valid_i == 1 && is_set(inputs.src_valid_i, k);
    let (in_orf, in_lrf) = (|n: u8| (1..=e).contains(&n), |n: u8| n >= 9 && n <= 8 + l);
    let mask = |holds: &dyn Fn(usize) -> bool| (0..3).fold(0, |mask, k| mask | u8::from(holds(k)) << k);
    let orf = |k: usize| valid(k) && !high(k) && in_orf(number(k));
    let lrf = |k: usize| valid(k) && !high(k) && in_lrf(number(k));
    let n = inputs.dst_level_i & 15;
    let goes = inputs.valid_i == 1 && (in_orf(n) || in_lrf(n)) && inputs.dst_i != 255 && inputs.long_i == 0;
    let result = if goes { 1 << (n - 1) } else { 0u16 };
    let first = |k: usize| (0..k).all(|j| !(valid(j) && high(j) && number(j) == number(k)));
    let copy = |k: usize| valid(k) && high(k) && in_orf(number(k)) && result >> (number(k) - 1) & 1 == 0 && first(k);
    let port = |k: usize| (0..3).find(|&j| orf(k) && orf(j) && number(j) == number(k)).unwrap_or(0);
    let places =
        |holds: &dyn Fn(usize) -> bool| (0..3).filter(|&k| holds(k)).fold(0, |set, k| set | 1 << (number(k) - 1));
    HierarchyLevelsOut {
        mrf_o: mask(&|k| valid(k) && !orf(k) && !lrf(k)),
        orf_o: mask(&orf),
        lrf_o: mask(&lrf),
        copy_o: mask(&copy),
        entry_o: [0, 1, 2].map(|k| if orf(k) || copy(k) { number(k) - 1 } else { 0 }),
        port_o: [0, 1, 2].map(|k| port(k) as u8),
        orf_read_o: mask(&|k| orf(k) && port(k) == k),
        lrf_read_o: if l == 1 { u8::from((0..3).any(lrf)) } else { mask(&lrf) },
        read_place_o: places(&|k| orf(k) || lrf(k)),
        copy_place_o: places(&copy),
        result_place_o: result,
        both_o: u8::from(goes && inputs.dst_level_i >> 4 == 1),
    }
}

#[test]
fn levels_are_as_the_page_says() {
    for entries in [1, 3, 8] {
        for lrf_banks in [0, 1, 3] {
            let shape = HierarchyShape { entries, lrf_banks, ..HIERARCHY_SHAPES[0] };
            let drive = |random: &mut crate::testing::Random, inputs: &mut HierarchyLevelsIn| {
                inputs.valid_i = (!random.chance(5)).into();
                inputs.dst_i = if random.chance(20) { 255 } else { 7 };
                if random.chance(50) {
                    inputs.src_level_i.iter_mut().for_each(|level| *level &= 0b1_0011);
                }
            };
            compare::<HierarchyLevels>(&shape, 5000, drive, |inputs| {
                (reference(&shape, inputs), crate::Ports::zeroed())
            });
        }
    }
}
