use super::*;
use crate::mir::{Block, Inst, Pred, Term, V, Val};
use gpurf_isa::Op;
use gpurf_isa::modifiers::{Addition, Alignment, LoadType, Space, StoreType};
use std::collections::HashMap;

const ROOM: Limits = Limits { general: 64, predicates: 6 };

fn add(d: V, a: Val, b: Val) -> Inst {
    Inst { d: Some(d), src: [a, b, Val::ZERO], ..Inst::new(Op::Iadd { mode: Addition::Add }, 1) }
}

fn load(d: V, space: Space, base: Val, offset: i32) -> Inst {
    let op = Op::Ld { space, kind: LoadType::B32, align: Alignment::Natural, bypass: false };
    Inst { d: Some(d), src: [base, Val::ZERO, Val::ZERO], offset, ..Inst::new(op, 1) }
}

fn store(space: Space, base: Val, offset: i32, value: Val) -> Inst {
    let op = Op::St { space, kind: StoreType::B32, align: Alignment::Natural };
    Inst { src: [base, Val::ZERO, value], offset, ..Inst::new(op, 1) }
}

/// A function of one block with this many values, all of them general.
fn block(values: u32, insts: Vec<Inst>) -> Function {
    let classes = vec![Class::General; values as usize];
    Function { blocks: vec![Block { insts, term: Term::Exit, term_line: 1 }], classes, addresses: Vec::new() }
}

/// The new position of each instruction of the block.
fn places(f: &Function, schedule: impl FnOnce(&mut Function)) -> Vec<usize> {
    let mut numbered = f.clone();
    for (i, inst) in numbered.blocks[0].insts.iter_mut().enumerate() {
        inst.line = i as u32;
    }
    schedule(&mut numbered);
    let order: Vec<usize> = numbered.blocks[0].insts.iter().map(|inst| inst.line as usize).collect();
    (0..order.len()).map(|i| order.iter().position(|&at| at == i).expect("it is there")).collect()
}

fn in_latency(f: &Function) -> Vec<usize> {
    places(f, |f| latency(f, ROOM))
}

const fn r(n: u32) -> Val {
    Val::Reg(V(n))
}

#[test]
fn latency_puts_what_is_independent_between_a_load_and_its_reader() {
    let insts = vec![
        load(V(1), Space::Global, r(0), 0),
        add(V(2), r(1), Val::Imm(1)),
        add(V(3), r(0), Val::Imm(2)),
        load(V(4), Space::Global, r(0), 8),
        store(Space::Shared, r(3), 0, r(2)),
        store(Space::Shared, r(3), 4, r(4)),
    ];
    let f = block(5, insts);
    let at = in_latency(&f);
    assert!(at[0] < 2 && at[3] < 2, "both loads first: {at:?}");
    assert!(at[2] < at[1], "the addition waits for nothing: {at:?}");
    assert_eq!(places(&f, tree), [0, 1, 2, 4, 3, 5], "the second load stands before its reader");
}

#[test]
fn accesses_that_may_meet_keep_their_order() {
    let cases = [
        // Another base may be the same address.
        (store(Space::Global, r(0), 0, r(1)), load(V(2), Space::Global, r(3), 0), false),
        (store(Space::Global, r(0), 0, r(1)), load(V(2), Space::Global, r(0), 4), true),
        (store(Space::Global, r(0), 0, r(1)), load(V(2), Space::Global, r(0), 3), false),
        (store(Space::Global, r(0), 0, r(1)), load(V(2), Space::Global, r(0), -3), false),
        (store(Space::Global, r(0), 0, r(1)), load(V(2), Space::Shared, r(0), 0), true),
        (store(Space::Shared, r(0), 0, r(1)), load(V(2), Space::Generic, r(3), 0), false),
        // Another lane may access the same byte.
        (store(Space::Shared, r(0), 0, r(1)), load(V(2), Space::Shared, r(0), 4), false),
        (load(V(4), Space::Global, r(0), 0), load(V(2), Space::Global, r(3), 0), true),
        (
            Inst::new(Op::Membar { scope: gpurf_isa::modifiers::Scope::Block }, 1),
            load(V(2), Space::Local, r(0), 0),
            false,
        ),
        (
            Inst { ordered: true, ..load(V(4), Space::Global, r(0), 0) },
            Inst { ordered: true, ..load(V(2), Space::Global, r(3), 0) },
            false,
        ),
    ];
    for (first, second, may_pass) in cases {
        // The longest path begins with the second access.
        let longer = [add(V(5), r(2), r(2)), add(V(6), r(5), r(5)), store(Space::Local, r(6), 0, r(6))];
        let insts: Vec<Inst> = [first.clone(), second.clone()].into_iter().chain(longer).collect();
        let at = in_latency(&block(7, insts));
        assert_eq!(at[1] < at[0], may_pass, "{first:?}\n{second:?}");
    }
}

#[test]
fn a_base_that_changes_is_another_base() {
    let insts = vec![
        store(Space::Global, r(0), 0, r(1)),
        add(V(0), r(0), Val::Imm(4)),
        load(V(2), Space::Global, r(0), 4),
        store(Space::Local, r(2), 0, r(2)),
    ];
    let at = in_latency(&block(3, insts));
    assert!(at[0] < at[1] && at[1] < at[2], "{at:?}");
}

#[test]
fn values_end_where_registers_are_few() {
    // Sixteen loads, each with a reader of its own.
    let mut insts = Vec::new();
    for n in 0..16 {
        insts.push(load(V(1 + 2 * n), Space::Global, r(0), 4 * n as i32));
        insts.push(add(V(2 + 2 * n), r(1 + 2 * n), Val::Imm(1)));
        insts.push(store(Space::Shared, r(0), 4 * n as i32, r(2 + 2 * n)));
    }
    let f = block(33, insts);
    let most = |general| {
        let mut f = f.clone();
        latency(&mut f, Limits { general, predicates: 6 });
        let live = Liveness::new(&f, Class::General);
        let mut most = 0;
        live.walk(&f, BlockId(0), |_, _, live| most = most.max(live.iter().count()));
        most
    };
    assert_eq!((most(64), most(6)), (17, 6));
}

/// For each instruction, by its line, the writer of each value that it reads.
type Reads = HashMap<u32, Vec<Option<u32>>>;

/// The writers of the values that are read, and the last writer of each value.
fn reads(insts: &[Inst]) -> (Reads, HashMap<V, u32>) {
    let mut writer: HashMap<V, u32> = HashMap::new();
    let mut reads = HashMap::new();
    for inst in insts {
        let kept = inst.defs().filter(|_| inst.is_partial());
        reads.insert(inst.line, inst.uses().chain(kept).map(|v| writer.get(&v).copied()).collect());
        inst.defs().for_each(|v| _ = writer.insert(v, inst.line));
    }
    (reads, writer)
}

#[test]
fn every_read_finds_its_value_in_random_blocks() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) % n
    };
    let (mut moved, mut blocks) = (0, 0);
    while blocks < 300 {
        let mut f = block(10, Vec::new());
        f.classes.extend([Class::Predicate; 3]);
        for line in 0..below(60) as u32 {
            let [a, b] = [(); 2].map(|()| r(below(10) as u32));
            let d = V(below(10) as u32);
            let offset = 4 * below(4) as i32;
            let inst = match below(8) {
                0 => load(d, Space::Global, a, offset),
                1 => store(Space::Global, a, offset, b),
                2 => Inst { p: Some(V(10 + below(3) as u32)), ..add(d, a, b) },
                3 => load(d, Space::Shared, a, offset),
                _ => add(d, a, b),
            };
            let guard = match below(3) {
                0 => Pred::Reg(V(10 + below(3) as u32), below(2) == 0),
                _ => Pred::TRUE,
            };
            f.blocks[0].insts.push(Inst { guard, line, ..inst });
        }
        let before = reads(&f.blocks[0].insts);
        for general in [3, 64] {
            let mut ordered = f.clone();
            latency(&mut ordered, Limits { general, predicates: 2 });
            assert_eq!(reads(&ordered.blocks[0].insts), before, "{f:?}");
            moved += usize::from(ordered.blocks[0].insts != f.blocks[0].insts);
        }
        let mut ordered = f.clone();
        tree(&mut ordered);
        assert_eq!(reads(&ordered.blocks[0].insts), before, "{f:?}");
        moved += usize::from(ordered.blocks[0].insts != f.blocks[0].insts);
        blocks += 1;
    }
    assert!(moved > blocks, "{moved} of {} blocks have another order", 3 * blocks);
}
