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

/// Runs the blocks of a launch one after the other. When all blocks that have begun wait, as far as one can see, another one begins, and from then on
/// they take turns.
///
/// # Errors
/// The first fault. It is a hang when nothing changes any more and no other block can begin.
pub(crate) fn in_turns<O: Observer>(
    context: &mut Context<'_, O>,
    launch: &Launch<'_>,
    options: &Options,
) -> Result<(), Box<Fault>> {
    let mut left = 0..launch.geometry.blocks();
    let (mut begun, mut spare): (Vec<Block>, _) = (Vec::new(), None);
    loop {
        if begun.len() < MOST
            && let Some(index) = left.next()
        {
            begun.push(begin(context, launch, options, index, spare.take()));
        } else if begun.iter().all(|block| context.is_spinning(&block.warps)) {
            return hang(context, &mut begun);
        }
        take_turns(context, &mut begun, &mut spare, options, !left.is_empty())?;
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

/// Runs the blocks in turns until each has ended or spins; or until each of them seems to wait, if another block can begin.
fn take_turns<O: Observer>(
    context: &mut Context<'_, O>,
    begun: &mut Vec<Block>,
    spare: &mut Option<Block>,
    options: &Options,
    are_left: bool,
) -> Result<(), Box<Fault>> {
    loop {
        let can_begin = are_left && begun.len() < MOST;
        let stays = |block: &Block| context.is_spinning(&block.warps) || can_begin && context.may_wait(&block.warps);
        if begun.iter().all(stays) {
            return Ok(());
        }
        let mut at = 0;
        while at < begun.len() {
            // The first block has as many turns as all others together, so that a loop of it that never ends reaches the limit of steps in time.
            let turns = if at == 0 { (begun.len() - 1).max(1) } else { 1 };
            if run(context, &mut begun[at], turns)? {
                options.count_block();
                *spare = Some(begun.remove(at));
            } else {
                at += 1;
            }
        }
    }
}

/// Gives a block some turns, as long as it does not spin; returns whether it has ended.
fn run<O: Observer>(context: &mut Context<'_, O>, block: &mut Block, turns: usize) -> Result<bool, Box<Fault>> {
    let mut done = false;
    std::mem::swap(&mut context.state, &mut block.state);
    for _ in 0..turns {
        if done || context.is_spinning(&block.warps) {
            break;
        }
        done = match context.round(&mut block.warps)? {
            Progress::Done => true,
            Progress::Running => false,
            Progress::Held => unreachable!("a warp waits at an access only in a replay"),
        };
    }
    std::mem::swap(&mut context.state, &mut block.state);
    Ok(done)
}

/// The fault of the first block if there is one: none can begin that could end its loop.
fn hang<O: Observer>(context: &mut Context<'_, O>, begun: &mut [Block]) -> Result<(), Box<Fault>> {
    let Some(first) = begun.first_mut() else { return Ok(()) };
    std::mem::swap(&mut context.state, &mut first.state);
    Err(context.hang(&first.warps))
}
