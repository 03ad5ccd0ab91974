//! Names of the situations of `two_level_scheduler`.

use gpurf_blocks::Shape;
use gpurf_blocks::config::Config;
use gpurf_blocks::shape::{ActiveShape, Straps};

/// Points that need a warp to leave before its end.
const GOING: [&str; 9] = [
    "a warp that leaves could issue",
    "leaves at a barrier",
    "leaves at a mark",
    "leaves at a mark, nothing outstanding",
    "leaves at a mark, long ones outstanding",
    "a marked head is the first in a slot, and stays",
    "several causes at once",
    "a warp has long ones outstanding and no slot",
    "one of several long ones of a warp without a slot ends",
];

/// What candidates add.
const CANDIDATES: [&str; 12] = [
    "a candidate of the even half",
    "a candidate of the odd half",
    "no candidate beside the one that issues",
    "a stolen warp issues",
    "a stolen warp issues, and another one is named",
    "a stolen warp issues, and nobody is named",
    "a stolen warp issues, its port is not ready",
    "a stolen warp issues, its slot is not the turn's",
    "a warp that was named leaves, and another one issues",
    "a warp that was named leaves, and nobody issues",
    "stolen, but stopped",
    "stolen, and no candidate was there",
];

pub(super) fn of_config(config: &Config) -> Vec<&'static str> {
    let (mut points, straps) = (of_shape(&ActiveShape::of(config)), Straps::of(config));
    if straps.stay {
        points.retain(|point| !GOING.contains(point));
        points.extend(["a barrier does not end a stay", "a mark does not end a stay"]);
    } else {
        points.extend(if straps.patience == 0 {
            ["patience without a limit", "a count of 4095 stays"].as_slice()
        } else {
            [
                "leaves when patience is over",
                "patience is over, and nobody is ready",
                "patience is over in the middle of a strand",
            ]
            .as_slice()
        });
    }
    points.extend(if straps.scheduler == 1 {
        ["the last one may not issue again", "the last one again, though others could issue"].as_slice()
    } else {
        &["the next one, though the last one could issue again"]
    });
    points
}

pub(super) fn of_shape(shape: &ActiveShape) -> Vec<&'static str> {
    let mut points = GOING.to_vec();
    points.extend([
        "a slot is taken",
        "a slot above busy ones is taken",
        "a slot below busy ones is taken",
        "first ready one from the turn is not the lowest",
        "turn of the warps wraps",
        "ready warps, no free slot",
        "a free slot, nobody ready",
        "a slot is taken that has just become free",
        "a warp comes back into the slot that it had",
        "a warp comes back into another slot",
        "issues",
        "nothing to issue",
        "stopped",
        "not ready",
        "not ready, another one needs no operands",
        "a pending warp could issue",
        "first slot from the turn is not the lowest",
        "turn of the slots wraps",
        "an issue that does not go to the operand stage",
        "an instruction without a register",
        "a long one without a register",
        "a short one to a register that was long",
        "issue and dispatch of one slot",
        "a short one and the end of another",
        "a long one and the end of another",
        "a short one ends, long ones outstanding",
        "a long one ends in its slot",
        "a register complete and set again at once",
        "leaves at its end",
        "drains: instructions in the operand stage only",
        "drains: short ones only",
        "drains: both",
        "drains at once",
        "drains while long ones are outstanding",
        "the last instruction dispatched while draining",
        "becomes flushing",
        "flushes for several cycles",
        "flushed at once",
        "is dropped",
        "flushes without drop",
        "ended while draining, and is dropped",
        "flush is done of a slot that does not flush",
        "a warp with long ones outstanding waits alive",
        "a long one ends while its old slot flushes",
        "slots in all states",
        "reset under load",
        "reset while a slot is taken",
    ]);
    if shape.candidates {
        points.extend(CANDIDATES);
        if shape.ports() == 2 {
            points.push("both ports issue stolen warps");
        }
    }
    if shape.ports() == 2 {
        points.extend([
            "two slots are taken",
            "two issue",
            "port 1 alone",
            "branch on port 1",
            "branch on port 1 kept back",
            "branch kept back, another one goes",
            "two dispatched of one slot",
            "two registers of one slot complete",
            "two long ones of one warp end",
            "slots of both ports leave",
            "one port has ready ones, the other has not",
        ]);
    }
    points
}
