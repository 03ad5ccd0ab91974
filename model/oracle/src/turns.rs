//! Blocks that wait for each other, such as at a barrier of the whole grid.

use crate::block::Progress;
use crate::commit::Observer;
use crate::context::{Context, State, warps};
use crate::fault::Fault;
use crate::launch::Launch;
use crate::oracle::{Options, restart};
use crate::warp::Warp;

/// The most blocks that are in progress at the same time. It bounds the memory that they need, and the time until a hang is found.
const MOST: usize = 32;

/// A block in progress.
struct Block {
    state: State,
    warps: Vec<Warp>,
}

/// Runs the blocks of a launch one after the other. When all blocks that have begun repeat loops in which nothing changes, another one begins, and
/// from then on they take turns.
///
/// # Errors
/// The first fault. It is a hang when nothing changes any more and no other block can begin.
pub(crate) fn in_turns<O: Observer>(
    context: &mut Context<'_, O>,
    launch: &Launch<'_>,
    options: &Options,
) -> Result<(), Box<Fault>> {
    let mut next = 0..launch.geometry.blocks();
    let (mut begun, mut spare) = (Vec::new(), None);
    loop {
        let room = begun.len() < MOST;
        match next.next().filter(|_| room) {
            Some(index) => begun.push(begin(context, launch, options, index, spare.take())),
            None => return hang(context, &mut begun),
        }
        take_turns(context, &mut begun, &mut spare)?;
    }
}

/// A block before its start, in the memory of one that has ended.
fn begin<O>(
    context: &mut Context<'_, O>,
    launch: &Launch<'_>,
    options: &Options,
    index: u64,
    spare: Option<Block>,
) -> Block {
    let Some(mut block) = spare else {
        return Block {
            state: State::new(launch.program, &launch.geometry, index, options.unwritten_shared),
            warps: warps(launch.program, &launch.geometry, options.first_value),
        };
    };
    std::mem::swap(&mut context.state, &mut block.state);
    restart(context, &mut block.warps, index);
    std::mem::swap(&mut context.state, &mut block.state);
    block
}

/// Runs the blocks in turns until each has ended or spins.
fn take_turns<O: Observer>(
    context: &mut Context<'_, O>,
    begun: &mut Vec<Block>,
    spare: &mut Option<Block>,
) -> Result<(), Box<Fault>> {
    while begun.iter().any(|block| !context.is_spinning(&block.warps)) {
        let mut at = 0;
        while let Some(block) = begun.get_mut(at) {
            let mut progress = Ok(Progress::Running);
            if !context.is_spinning(&block.warps) {
                std::mem::swap(&mut context.state, &mut block.state);
                progress = context.round(&mut block.warps);
                std::mem::swap(&mut context.state, &mut block.state);
            }
            match progress? {
                Progress::Done => *spare = Some(begun.remove(at)),
                Progress::Running => at += 1,
                Progress::Held => unreachable!("a warp waits at an access only in a replay"),
            }
        }
    }
    Ok(())
}

/// The fault of the first block if there is one: none can begin that could end its loop.
fn hang<O: Observer>(context: &mut Context<'_, O>, begun: &mut [Block]) -> Result<(), Box<Fault>> {
    let Some(first) = begun.first_mut() else { return Ok(()) };
    std::mem::swap(&mut context.state, &mut first.state);
    Err(context.hang(&first.warps))
}
