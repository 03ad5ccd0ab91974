//! Resolves labels to numbers, and gives branches that may split a warp their reconvergence points.

use gpurf_isa::{Instruction, Op, Operand, PredicateSource};

use super::{Item, Label, Lowered, pc};

/// Concatenates prologue and body, and resolves labels and reconvergence points.
pub fn link(prologue: Vec<Item>, body: Vec<Item>, labels: usize, shared: u32, local: u32) -> Lowered {
    let is_code = |item: &&Item| matches!(item, Item::Op(_) | Item::Branch(..));
    let body_start = prologue.iter().filter(is_code).count();
    let items: Vec<Item> = prologue.into_iter().chain(body).collect();
    let mut places = vec![0; labels];
    let mut at = 0;
    for item in &items {
        match item {
            Item::Label(Label(label)) => places[*label] = at,
            Item::Op(_) | Item::Branch(..) => at += 1,
            Item::Note(_) => {}
        }
    }
    let (mut code, mut notes) = (Vec::with_capacity(at), Vec::new());
    for item in items {
        match item {
            Item::Op(instruction) => code.push(instruction),
            Item::Branch(guard, Label(to)) => {
                let target = Operand::Imm(places[to] as u32);
                code.push(Instruction { b: target, ..Instruction::new(Op::Bra {}).guarded(guard) });
            }
            Item::Note(text) => notes.push((code.len(), text)),
            Item::Label(_) => {}
        }
    }
    let joins = immediate_postdominators(&code);
    for (index, join) in joins.into_iter().enumerate() {
        if code[index].may_diverge() {
            code[index].reconvergence = join.map(pc);
        }
    }
    Lowered { code, notes, body: body_start, shared, local }
}

/// The immediate postdominator of each instruction: the first instruction that all paths from it pass. `None` if the paths end without one. Lanes
/// that end in the middle of a program do not count as a path: the other lanes reconverge nonetheless.
fn immediate_postdominators(code: &[Instruction]) -> Vec<Option<usize>> {
    let end = code.len();
    let successors = |index: usize| -> Vec<usize> {
        let instruction = &code[index];
        let next = index + 1;
        match instruction.op {
            Op::Bra {} => {
                let target = instruction.target().map_or(end, |pc| pc.index());
                if instruction.guard == PredicateSource::TRUE { vec![target] } else { vec![next, target] }
            }
            Op::Exit {} if next == end || ends_a_path(code, index) => vec![end],
            _ => vec![next],
        }
    };
    // The algorithm of Cooper, Harvey and Kennedy. In code without gotos the order of addresses is close enough to a postorder of the reversed graph
    // that a few rounds suffice.
    let mut dominator: Vec<Option<usize>> = vec![None; end + 1];
    dominator[end] = Some(end);
    let mut changed = true;
    while changed {
        changed = false;
        for index in (0..end).rev() {
            let known = successors(index).into_iter().filter(|&next| dominator[next].is_some());
            let new = known.reduce(|a, b| meet(&dominator, a, b));
            if new.is_some() && dominator[index] != new {
                dominator[index] = new;
                changed = true;
            }
        }
    }
    dominator.truncate(end);
    dominator.into_iter().map(|at| at.filter(|&at| at != end)).collect()
}

/// Whether this is an EXIT without guard right before the last instruction, which is such an EXIT too: two paths that end.
fn ends_a_path(code: &[Instruction], index: usize) -> bool {
    let ends = |index: usize| code[index].op == Op::Exit {} && code[index].guard == PredicateSource::TRUE;
    index + 2 == code.len() && ends(index) && ends(index + 1)
}

/// The first instruction that is on both chains of postdominators. Addresses increase along a chain, since every backward branch of this code is
/// conditional.
fn meet(dominator: &[Option<usize>], mut a: usize, mut b: usize) -> usize {
    let end = dominator.len() - 1;
    while a != b {
        if a < b {
            a = dominator[a].unwrap_or(end);
        } else {
            b = dominator[b].unwrap_or(end);
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joins(text: &str) -> Vec<Option<usize>> {
        immediate_postdominators(&gpurf_isa::assemble(text).unwrap())
    }

    #[test]
    fn sides_meet_behind_them() {
        let both = joins("@P0 BRA 3, join none\nNOP\nBRA 4, join none\nNOP\nEXIT");
        assert_eq!(both[0], Some(4));
        let one = joins("@P0 BRA 2, join none\nNOP\nEXIT");
        assert_eq!(one[0], Some(2));
    }

    #[test]
    fn loops_are_left_together() {
        let code = "NOP\n@P1 BRA 3, join none\n@P2 BRA 5, join none\nNOP\n@P0 BRA 0, join none\nEXIT";
        let joins = joins(code);
        // A side that may leave the loop has no meeting point inside.
        assert_eq!((joins[1], joins[2], joins[4]), (Some(5), Some(5), Some(5)));
    }

    #[test]
    fn the_next_round_is_a_meeting_point() {
        let joins = joins("@P1 BRA 2, join none\nNOP\nNOP\n@P0 BRA 0, join none\nEXIT");
        assert_eq!(joins[0], Some(2));
    }

    #[test]
    fn paths_that_end_have_none() {
        assert_eq!(joins("@P0 BRA 2, join none\nEXIT\nEXIT")[0], None);
        assert_eq!(joins("@P0 BRA 2, join none\nEXIT\nNOP\nEXIT")[0], Some(2), "a path that ends in the middle");
    }
}
