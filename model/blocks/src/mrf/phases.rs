//! A rule that holds for every block: outputs that are declared early depend on state alone.

use crate::mrf::*;
use crate::ram::*;
use crate::testing::{Random, SHAPES, bytes};
use crate::{Block, Ports};

/// `late` leaves early outputs unchanged and gives the same when called again, whatever it was called with before; the
/// early outputs are those of the state until the clock edge; `early` fills these outputs and no others.
pub(crate) fn check<B: Block>(shapes: &[B::Shape]) {
    for shape in shapes {
        let mut random = Random(3);
        let (in_fields, out_fields) = (B::In::fields(shape), B::Out::fields(shape));
        let mut block = B::new(shape);
        for memory in block.memories() {
            // The bits of a word that exist in the hardware.
            let mask = u32::MAX >> 32u32.saturating_sub(memory.bits);
            memory.words.fill_with(|| random.next() as u32 & mask);
        }
        for _ in 0..500 {
            let (mut other, mut inputs) = (B::In::zeroed(), B::In::zeroed());
            random.fill(&in_fields, &mut other);
            random.fill(&in_fields, &mut inputs);

            let mut early = B::Out::zeroed();
            block.early(&mut early);
            let mut out = early;
            block.late(&other, &mut out);
            let mut again = B::Out::zeroed();
            block.early(&mut again);
            block.late(&inputs, &mut again);
            let mut later = B::Out::zeroed();
            block.early(&mut later);

            for field in &out_fields {
                for element in 0..field.count {
                    let of = |ports| field.bytes(bytes(ports), element);
                    assert_eq!(of(&early), of(&later), "{}: {}: `early` changed within a cycle", B::NAME, field.name);
                    if field.early {
                        assert_eq!(of(&out), of(&early), "{}: {}[{element}] is early", B::NAME, field.name);
                        assert_eq!(of(&again), of(&early), "{}: {}[{element}] is early", B::NAME, field.name);
                    } else {
                        let zero = of(&early).iter().all(|&byte| byte == 0);
                        assert!(zero, "{}: {}[{element}] is not early", B::NAME, field.name);
                    }
                }
            }
            // The clock edge uses the inputs of the last call of `late`.
            block.clock(&inputs, &again);
        }
    }
}

#[test]
fn early_outputs_depend_on_state_alone() {
    macro_rules! check_each {
        ($folder:ident: $($module:ident $block:ident $summary:literal,)+) => { $(check::<$block>(&SHAPES);)+ };
    }
    crate::ram_blocks!(check_each);
    mrf_blocks!(check_each);
}
