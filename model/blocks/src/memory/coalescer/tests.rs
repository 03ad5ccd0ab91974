use super::*;
use crate::testing::{Driver, SM_SHAPES, compare};

/// A coalescer that is offered all lanes of an access with these addresses.
fn offered(kind: u8, address: impl Fn(usize) -> u32) -> Driver<Coalescer> {
    let mut coalescer = Driver::<Coalescer>::new(&SM_SHAPES[0]);
    let inputs = &mut coalescer.inputs;
    (inputs.valid_i, inputs.lanes_i, inputs.kind_i, inputs.size_i) = (1, u32::MAX, kind, 2);
    (inputs.warp_i, inputs.reg_valid_i, inputs.reg_i, inputs.row_room_i) = (3, 1, 77, 1);
    inputs.addr_i = WarpData(std::array::from_fn(&address));
    inputs.store_i = WarpData(std::array::from_fn(|lane| 100 + lane as u32));
    inputs.compare_i = WarpData(std::array::from_fn(|lane| 200 + lane as u32));
    coalescer
}

#[test]
fn a_pass_serves_the_line_of_the_lowest_lane() {
    let mut coalescer = offered(kind::LOAD, |lane| 0xff80 + [0x4, 0x84][lane % 2]);
    coalescer.inputs.mem_req_ready_i = 1;
    let out = coalescer.cycle();
    assert_eq!((out.served_o, out.row_valid_o, out.row_mask_o, out.row_done_o), (0x5555_5555, 1, 0x5555_5555, 0));
    assert_eq!((out.row_offset_o[0], out.row_offset_o[1], out.row_reg_o, out.row_lanewise_o), (4, 0, 77, 0));
    assert_eq!(out.mem_req_valid_o, 0);
    (coalescer.inputs.lanes_i, coalescer.inputs.last_i) = (0xaaaa_aaaa, 1);
    let out = coalescer.cycle();
    assert_eq!((out.served_o, out.row_done_o, out.row_offset_o[0], out.row_offset_o[1]), (0xaaaa_aaaa, 1, 0, 4));
    assert_eq!((out.mem_req_valid_o, out.mem_req_line_o, out.mem_req_mask_o), (1, 0x1ff, 0x5555_5555));
    assert_eq!((out.mem_req_answer_o, out.mem_req_warp_o, out.mem_req_data_o), (1, 3, WarpData::ZERO));
    coalescer.inputs.valid_i = 0;
    let out = coalescer.cycle();
    assert_eq!((out.mem_req_line_o, out.served_o, out.row_valid_o), (0x200, 0, 0));
    assert_eq!(coalescer.cycle().mem_req_valid_o, 0);
}

#[test]
fn words_of_local_memory_lie_side_by_side() {
    let mut coalescer = offered(kind::STORE, |lane| if lane == 5 { 12 } else { 8 });
    (coalescer.inputs.local_i, coalescer.inputs.local_words_i, coalescer.inputs.size_i) = (1, 10, 0);
    coalescer.inputs.addr_i.0[4] = 11;
    let out = coalescer.cycle();
    assert_eq!((out.served_o, out.row_valid_o), (!(1 << 5), 0), "a store has no row");
    let out = coalescer.cycle();
    assert_eq!(out.mem_req_line_o, 1 << 25 | 32);
    assert_eq!((out.mem_req_offset_o[3], out.mem_req_offset_o[4], out.mem_req_offset_o[5]), (12, 19, 0));
    assert_eq!((out.mem_req_data_o.0[4], out.mem_req_data_o.0[5], out.mem_req_answer_o), (104, 0, 0));
}

#[test]
fn a_pass_waits_for_the_register_and_where_there_is_an_answer_for_a_row() {
    for (operation, register, answers) in [
        (kind::LOAD, 1, true),
        (kind::LOAD, 0, true),
        (kind::STORE, 1, false),
        (kind::ATOMIC, 1, true),
        (kind::ATOMIC, 0, false),
    ] {
        let mut coalescer = offered(operation, |_| 64);
        (coalescer.inputs.reg_valid_i, coalescer.inputs.row_room_i) = (register, 0);
        let out = coalescer.cycle();
        assert_eq!((out.served_o != 0, out.row_valid_o), (!answers, 0));
        coalescer.inputs.row_room_i = 1;
        if answers {
            let out = coalescer.cycle();
            assert_eq!((out.served_o, out.row_valid_o, out.row_reg_valid_o), (u32::MAX, 1, register));
            assert_eq!(out.row_lanewise_o == 1, operation == kind::ATOMIC);
        }
        // The register is full now.
        let out = coalescer.cycle();
        assert_eq!((out.mem_req_valid_o, out.mem_req_answer_o == 1, out.served_o), (1, answers, 0));
        coalescer.inputs.mem_req_ready_i = 1;
        assert_eq!(coalescer.cycle().served_o, u32::MAX, "it empties and takes the next request");
        assert_eq!(coalescer.cycle().mem_req_valid_o, 1);
    }
}

#[test]
fn only_compare_and_swap_carries_what_it_compares_with() {
    for (operation, compare) in [(atomic::ADD, 0), (atomic::CAS, 207)] {
        let mut coalescer = offered(kind::ATOMIC, |_| 64);
        (coalescer.inputs.atomic_i, coalescer.inputs.lanes_i) = (operation, 0x80);
        coalescer.cycle();
        let out = coalescer.cycle();
        assert_eq!((out.mem_req_data_o.0[7], out.mem_req_compare_o.0[7]), (107, compare));
        assert_eq!((out.mem_req_data_o.0[6], out.mem_req_compare_o.0[6]), (0, 0));
    }
}

#[test]
fn reset_drops_the_request() {
    let mut coalescer = offered(kind::STORE, |_| 64);
    coalescer.cycle();
    coalescer.inputs.rst_ni = 0;
    assert_eq!(coalescer.cycle().mem_req_valid_o, 1);
    coalescer.inputs.rst_ni = 1;
    assert_eq!(coalescer.cycle().mem_req_valid_o, 0);
}

/// A reference model from the page, lane by lane.
fn reference(request: &mut Option<CoalescerOut>, i: &CoalescerIn) -> CoalescerOut {
    let mut out = request.unwrap_or(CoalescerOut::zeroed());
    let place = |lane: usize| {
        let address = u64::from(i.addr_i.0[lane]);
        if i.local_i == 1 {
            let word = (u64::from(i.warp_i) * u64::from(i.local_words_i) + address / 4) % (1 << 25);
            (1 << 25 | word as u32, lane as u8 * 4 + (address % 4) as u8)
        } else {
            ((address / 128) as u32, (address % 128) as u8)
        }
    };
    let answers = i.kind_i == 0 || i.kind_i == 2 && i.reg_valid_i == 1;
    let free = request.is_none() || i.mem_req_ready_i == 1;
    let performed = i.valid_i == 1 && free && (!answers || i.row_room_i == 1);
    if free {
        *request = None;
    }
    if performed {
        let offered = |lane: &usize| i.lanes_i >> lane & 1 == 1;
        let line = place((0..LANES).find(offered).expect("lanes are offered")).0;
        out.pass_line_o = line;
        let mut next = CoalescerOut::zeroed();
        for lane in (0..LANES).filter(offered).filter(|&lane| place(lane).0 == line) {
            out.served_o |= 1 << lane;
            out.row_offset_o[lane] = place(lane).1;
            next.mem_req_data_o.0[lane] = if i.kind_i == 0 { 0 } else { i.store_i.0[lane] };
            next.mem_req_compare_o.0[lane] = if i.kind_i == 2 && i.atomic_i == 12 { i.compare_i.0[lane] } else { 0 };
        }
        (out.row_valid_o, out.row_mask_o, out.row_warp_o) = (answers.into(), out.served_o, i.warp_i);
        (out.row_reg_valid_o, out.row_reg_o, out.row_done_o) = (i.reg_valid_i & out.row_valid_o, i.reg_i, i.last_i);
        (out.row_size_o, out.row_signed_o, out.row_lanewise_o) = (i.size_i, i.signed_i, (i.kind_i == 2).into());
        (next.mem_req_valid_o, next.mem_req_kind_o, next.mem_req_atomic_o) = (1, i.kind_i, i.atomic_i);
        (next.mem_req_size_o, next.mem_req_answer_o, next.mem_req_warp_o) = (i.size_i, answers.into(), i.warp_i);
        next.bypass_o = i.bypass_i & u8::from(i.kind_i == 0);
        (next.mem_req_line_o, next.mem_req_mask_o, next.mem_req_offset_o) = (line, out.served_o, out.row_offset_o);
        *request = Some(next);
    }
    if i.rst_ni == 0 {
        *request = None;
    }
    out
}

#[test]
fn it_does_what_the_page_says_whatever_it_is_given() {
    let mut request = None;
    let mut several = 0;
    compare::<Coalescer>(
        &SM_SHAPES[0],
        20_000,
        |random, i| {
            i.rst_ni = (!random.chance(2)).into();
            i.lanes_i = i.lanes_i.max(1);
            i.kind_i = random.below(3) as u8;
            i.atomic_i = if i.kind_i == 2 { [0, 12][random.below(2)] } else { 0 };
            // Few lines, so that lanes meet.
            let lines = random.next() as u32 & 0xffff_ff00;
            i.addr_i.0.iter_mut().for_each(|address| *address = lines | *address & 0x1ff);
            i.local_words_i &= 0xff;
        },
        |i| {
            let out = reference(&mut request, i);
            several += u32::from(out.served_o != 0 && out.served_o != i.lanes_i);
            (out, CoalescerProbe::zeroed())
        },
    );
    assert!(several > 1_000, "{several}");
}

#[test]
fn a_fetch_is_one_request_or_two() {
    // Two coordinates: the bit of the third one is not set.
    let mut coalescer = offered(kind::TEXTURE, |lane| lane as u32);
    (coalescer.inputs.texture_i, coalescer.inputs.lanes_i, coalescer.inputs.mem_req_ready_i) = (0x155_5541, 0x0f0f, 1);
    let out = coalescer.cycle();
    assert_eq!((out.served_o, out.row_valid_o, out.row_lanewise_o, out.row_mask_o), (0x0f0f, 1, 1, 0x0f0f));
    assert_eq!((out.pass_line_o, out.row_offset_o), (0x155_5541, [0; LANES]));
    coalescer.inputs.valid_i = 0;
    let out = coalescer.cycle();
    assert_eq!((out.mem_req_kind_o, out.mem_req_answer_o, out.mem_req_line_o), (3, 1, 0x155_5541));
    assert_eq!((out.mem_req_data_o.0[8], out.mem_req_compare_o.0[8]), (8, 208), "a and b");
    assert_eq!((out.mem_req_data_o.0[4], out.mem_req_compare_o.0[4]), (0, 0), "a lane outside");
    // Three: the first request needs no row, and is not repeated while the second one waits for one.
    (coalescer.inputs.texture_i, coalescer.inputs.valid_i, coalescer.inputs.row_room_i) = (0x10, 1, 0);
    let out = coalescer.cycle();
    assert_eq!((out.served_o, out.row_valid_o, out.pass_line_o), (0, 0, 0));
    let out = coalescer.cycle();
    assert_eq!((out.mem_req_valid_o, out.mem_req_answer_o, out.mem_req_mask_o, out.served_o), (1, 0, 0x0f0f, 0));
    assert_eq!((out.mem_req_data_o.0[8], out.mem_req_compare_o), (108, WarpData::ZERO), "c alone");
    assert_eq!(coalescer.cycle().mem_req_valid_o, 0);
    coalescer.inputs.row_room_i = 1;
    let out = coalescer.cycle();
    assert_eq!((out.served_o, out.row_valid_o, out.pass_line_o), (0x0f0f, 1, 0x10));
    // The next fetch begins with its third coordinate again.
    let out = coalescer.cycle();
    assert_eq!((out.mem_req_answer_o, out.mem_req_data_o.0[8], out.served_o), (1, 8, 0));
    assert_eq!(coalescer.cycle().mem_req_answer_o, 0);
}
