//! Power states: distances, figure 4.3 of the sharing thesis, and the oracle's judgement of the states.

use super::random::{Random, program};
use super::*;
use crate::marks::flow::{Registers, backward_over};
use crate::marks::power::{self, MOST, NextAccess, state};
use gpurf_isa::PowerState::{self, Off, On, Sleep};
use gpurf_isa::{Places, Reg};
use gpurf_oracle::power::{PowerCounts, PowerFault, PowerJudge};

/// The code with the power states for a threshold.
fn powered(text: &str, threshold: u8) -> Vec<Instruction> {
    let mut code = code(text);
    power::mark(&mut code, threshold, Places::NONE);
    code
}

/// The code with the power states that result if these registers are live.
fn powered_with(text: &str, live: fn(&[Instruction]) -> Vec<Registers>, threshold: u8) -> Vec<Instruction> {
    let mut code = code(text);
    let (main, live) = (code.clone(), live(&code));
    power::mark_live(&mut code, &main, &live, threshold);
    code
}

/// The code with the power states that are made for the code changed by `change`.
fn powered_as_if(text: &str, change: fn(&mut Instruction), threshold: u8) -> Vec<Instruction> {
    let mut code = code(text);
    let mut other = code.clone();
    other.iter_mut().for_each(change);
    power::mark(&mut other, threshold, Places::NONE);
    for (instruction, other) in code.iter_mut().zip(other) {
        // A changed instruction may have lost its operands, and with them its fields.
        instruction.control = other.control;
    }
    code
}

fn judged(code: &[Instruction]) -> (Vec<PowerFault>, PowerCounts) {
    execute(code, PowerJudge::new(16)).finish()
}

/// The registers that lost a value, each once.
fn lost(code: &[Instruction]) -> Vec<Reg> {
    lost_in(code, Places::NONE)
}

/// The registers that lost a value in the main register file of a machine with these places above it, each once.
pub fn lost_in(code: &[Instruction], places: Places) -> Vec<Reg> {
    let (faults, _) = execute(code, PowerJudge::above(16, places)).finish();
    let mut registers: Vec<Reg> = faults.into_iter().map(|fault| fault.register).collect();
    registers.sort();
    registers.dedup();
    registers
}

/// Asserts that no value is lost, and that with the states that result from liveness of the lane this register's value is lost.
fn needs_the_warp(text: &str, register: u8) {
    let right = powered(text, 1);
    assert_eq!(lost(&right), [], "\n{}", listing(&right));
    let lanes = powered_with(text, liveness::of_lane, 1);
    assert_eq!(lost(&lanes), [Reg(register)], "\n{}", listing(&lanes));
}

/// The power states of the instructions after [`START`], as text.
fn shown(text: &str, threshold: u8) -> Vec<String> {
    let code = powered(text, threshold);
    assert_eq!(lost(&code), [], "\n{}", listing(&code));
    code[3..].iter().map(|instruction| instruction.control.to_string()).collect()
}

// Figure 4.3.

const P2: u8 = 200;
const O127: u8 = 201;
const OFS1: u8 = 202;

/// A line of figure 4.3: the registers that it writes and those that it reads, the lines that may follow, and the printed states.
type Line = (&'static [u8], &'static [u8], &'static [usize], &'static [(u8, PowerState)]);

/// Figure 4.3 (a). Lines are numbered from 0 here. The last line stands for the code after the snippet.
const FIGURE: [Line; 25] = [
    (&[P2, O127], &[8, 0], &[1], &[(P2, On), (8, Sleep), (0, On)]),
    (&[], &[], &[2], &[]),
    (&[1], &[0], &[3], &[(1, Sleep), (0, On)]),
    (&[], &[P2], &[4, 17], &[]),
    (&[10], &[0], &[5], &[(10, On), (0, Sleep)]),
    (&[12], &[124], &[6], &[(12, On), (124, Sleep)]),
    (&[11], &[10], &[7], &[(11, On), (10, On)]),
    (&[10], &[10], &[8], &[(10, On), (10, On)]),
    (&[14], &[11], &[9], &[(14, On)]),
    (&[13], &[10], &[10], &[(13, On)]),
    (&[12], &[14, 13, 12], &[11], &[(12, Sleep), (14, Off), (13, Off)]),
    (&[1], &[1], &[12], &[(1, On), (1, On)]),
    (&[P2, O127], &[8, 1], &[13], &[(P2, On), (8, Sleep), (1, Sleep)]),
    (&[10], &[10], &[14], &[(10, Sleep), (10, Sleep)]),
    (&[11], &[11], &[15], &[(11, Sleep), (11, Sleep)]),
    (&[], &[P2], &[8, 16], &[]),
    (&[], &[], &[18], &[]),
    (&[12], &[124], &[18], &[(12, On), (124, Sleep)]),
    (&[0], &[0, 5], &[19], &[(0, On), (0, On), (5, Sleep)]),
    (&[OFS1], &[9], &[20], &[(OFS1, On), (9, On)]),
    (&[P2, O127], &[0, 6], &[21], &[(P2, On), (0, Sleep), (6, Sleep)]),
    (&[], &[12, OFS1], &[22], &[(12, Off)]),
    (&[9], &[9, 7], &[23], &[(9, Sleep), (9, Sleep), (7, Sleep)]),
    (&[], &[P2], &[0, 24], &[]),
    (&[], &[], &[], &[]),
];

/// The same code in the machine's instructions. P2 is a predicate here, which has no power state.
const FIGURE_CODE: &str = "
    b4:
        ISETP.LE.SIGNED.AND P2, R8, R0, PT
        NOP
        MOV R1, R0
        @P2 BRA b8, join b9
        SHL R10, R0, 2
        MOV R12, R124
        IADD R11, PT, R10, 0x18, !PT
        IADD R10, PT, R10, 0x20, !PT
    b6:
        LD.GLOBAL.B32 R14, [R11]
        LD.GLOBAL.B32 R13, [R10]
        FFMA R12, R14, R13, R12
        IADD R1, PT, R1, 0x400, !PT
        ISETP.GT.SIGNED.AND P2, R8, R1, PT
        IADD R10, PT, R10, 0x1000, !PT
        IADD R11, PT, R11, 0x1000, !PT
        @P2 BRA b6, join b7
    b7:
        BRA b9, join none
    b8:
        MOV R12, R124
    b9:
        IADD R0, PT, R0, R5, !PT
        SHL R202, R9, 0
        ISETP.LE.SIGNED.AND P2, R0, R6, PT
        ST.SHARED.B32 [R202], R12
        IADD R9, PT, R9, R7, !PT
        @P2 BRA b4, join out
    out:
        EXIT
";

fn set(registers: &[u8]) -> Registers {
    registers.iter().map(|&register| Reg(register)).collect()
}

/// The number of the figure's states that the equations give, and the number of all states.
fn agreement(threshold: u8) -> (usize, usize) {
    let accessed: Vec<Registers> = FIGURE.iter().map(|(d, s, ..)| set(d).union(set(s))).collect();
    let successors: Vec<Vec<usize>> = FIGURE.iter().map(|(_, _, to, _)| to.to_vec()).collect();
    let live = backward_over(&successors, |line, after| after.minus(set(FIGURE[line].0)).union(set(FIGURE[line].1)));
    let next = NextAccess::of(&accessed, &successors, threshold);
    let stated = FIGURE.iter().enumerate().flat_map(|(line, figure)| figure.3.iter().map(move |stated| (line, stated)));
    let same = stated.clone().filter(|&(line, &(register, stated))| {
        state(live[line].contains(Reg(register)), next.is_far(line, Reg(register))) == stated
    });
    (same.count(), stated.count())
}

#[test]
fn figure_4_3() {
    // "Using a threshold value (W) 7" (example 4.2.1).
    assert_eq!(agreement(7), (41, 41));
    // The figure does not distinguish W = 7 from its neighbours.
    let all: Vec<u8> = (1..=MOST).filter(|&threshold| agreement(threshold).0 == 41).collect();
    assert_eq!(all, [5, 6, 7, 8, 9]);
}

#[test]
fn figure_4_3_in_the_machine_s_instructions() {
    let mut code = assemble(FIGURE_CODE).unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!(code.len(), FIGURE.len());
    power::mark(&mut code, 7, Places::NONE);
    let mut states = 0;
    for (instruction, (.., stated)) in code.iter().zip(FIGURE) {
        for &(register, stated) in stated.iter().filter(|(register, _)| *register != P2) {
            let found = instruction.power_states(Places::NONE).find(|(there, _)| *there == Reg(register));
            assert_eq!(found, Some((Reg(register), stated)), "{instruction}");
            states += 1;
        }
    }
    assert_eq!(states, 38);
    assert_eq!(code[10].control.to_string(), "power=OFF,OFF,SLEEP");
}

// Distances.

/// A random graph of few nodes, with the registers that each node accesses.
struct Graph {
    accessed: Vec<Registers>,
    successors: Vec<Vec<usize>>,
}

impl Graph {
    const REGISTERS: u8 = 3;

    fn random(random: &mut Random) -> Self {
        let nodes = 1 + random.below(10);
        let some = |random: &mut Random| (0..Self::REGISTERS).filter(|_| random.below(4) == 0).map(Reg).collect();
        let mut graph = Self { accessed: Vec::new(), successors: Vec::new() };
        for node in 0..nodes {
            graph.accessed.push(some(random));
            // Most nodes lead only to the next one, so that paths are long; some are an end, a branch, or a branch with three targets.
            let ways = [0, 1, 1, 1, 1, 1, 2, 2, 2, 3][random.below(10)];
            let mut to: Vec<usize> = (1..ways).map(|_| random.below(nodes)).collect();
            to.extend((ways > 0).then_some((node + 1) % nodes));
            to.sort();
            to.dedup();
            graph.successors.push(to);
        }
        graph
    }

    /// All paths that start after a node, up to `most` nodes long or to the end.
    fn paths(&self, node: usize, most: usize) -> Vec<Vec<usize>> {
        if most == 0 || self.successors[node].is_empty() {
            return vec![Vec::new()];
        }
        let from = |&to: &usize| self.paths(to, most - 1).into_iter().map(move |rest| [vec![to], rest].concat());
        self.successors[node].iter().flat_map(from).collect()
    }

    /// The distance, computed by walking every path: the largest number of nodes up to the first access; `None` if a path has no access in
    /// `threshold` nodes.
    fn walked(&self, node: usize, register: Reg, threshold: usize) -> Option<usize> {
        let first = |path: Vec<usize>| {
            path.iter().position(|&node| self.accessed[node].contains(register)).map(|index| index + 1)
        };
        self.paths(node, threshold).into_iter().map(first).try_fold(0, |most, first| Some(most.max(first?)))
    }

    /// Whether the distances solve the equations 4.1, as they are printed.
    fn solves(&self, next: &NextAccess, threshold: usize) -> bool {
        let infinite = usize::MAX;
        (0..Self::REGISTERS).map(Reg).all(|register| {
            let out = |node| next.distance(node, register).unwrap_or(infinite);
            let inc = |x: usize| if x == threshold || x == infinite { infinite } else { x + 1 };
            let front = |node: usize| if self.accessed[node].contains(register) { 1 } else { inc(out(node)) };
            (0..self.accessed.len())
                .all(|node| out(node) == self.successors[node].iter().map(|&to| front(to)).max().unwrap_or(infinite))
        })
    }
}

#[test]
fn distances_are_those_of_the_longest_way() {
    let mut random = Random(43);
    let (mut finite, mut infinite) = ([0; 6], 0);
    for _ in 0..4000 {
        let graph = Graph::random(&mut random);
        let threshold = 1 + random.below(5);
        let next = NextAccess::of(&graph.accessed, &graph.successors, threshold as u8);
        assert!(graph.solves(&next, threshold), "{:?} {:?}", graph.accessed, graph.successors);
        for node in 0..graph.accessed.len() {
            for register in (0..Graph::REGISTERS).map(Reg) {
                let distance = next.distance(node, register);
                let context = || format!("{:?} {:?} {threshold}", graph.accessed, graph.successors);
                assert_eq!(distance, graph.walked(node, register, threshold), "{node} {register} {}", context());
                assert_eq!(next.is_far(node, register), distance.is_none());
                match distance {
                    Some(distance) => finite[distance] += 1,
                    None => infinite += 1,
                }
            }
        }
    }
    assert!(finite[1..].iter().all(|&n| n > 100) && infinite > 1000, "{finite:?} {infinite}");
}

// Finished code.

/// R1 is written by the first instruction and read by the fifth.
const FOUR_APART: &str = "
    MOV R1, 5
    NOP
    NOP
    NOP
    IADD R3, PT, R1, 1, !PT
    ST.GLOBAL.B32 [R2], R3
    EXIT
";

#[test]
fn an_access_within_the_threshold_keeps_the_register_on() {
    assert_eq!(shown(FOUR_APART, 4)[0], "");
    assert_eq!(shown(FOUR_APART, 3)[0], "power=ON,ON,SLEEP");
    // The last read of R1 switches it off; R3 is read by the next instruction.
    assert_eq!(shown(FOUR_APART, 4)[4], "power=OFF,ON,ON");
    assert_eq!(shown(FOUR_APART, 1)[5], "power=OFF,OFF,ON");
    assert!(shown(FOUR_APART, 0).iter().all(String::is_empty));
}

#[test]
fn a_write_is_an_access_and_no_need_of_the_value() {
    let text = "
        MOV R1, 5
        ST.GLOBAL.B32 [R2], R1
        NOP
        NOP
        MOV R1, 6
        ST.GLOBAL.B32 [R2], R1
        EXIT
    ";
    assert_eq!(shown(text, 3)[1], "power=SLEEP,ON,ON");
    assert_eq!(shown(text, 2)[1], "power=SLEEP,OFF,ON");
}

#[test]
fn a_result_that_is_never_read_is_switched_off() {
    assert_eq!(shown("MOV R1, 5\n NOP\n EXIT", 1)[0], "power=ON,ON,OFF");
}

#[test]
fn the_path_with_the_farthest_access_decides() {
    let text = "
        MOV R1, 5
        @P0 BRA far, join far
        IADD R3, PT, R1, 1, !PT
    far:
        NOP
        NOP
        IADD R3, PT, R1, 1, !PT
        EXIT
    ";
    // Distances of 2 and 4.
    assert_eq!(shown(text, 4)[0], "");
    assert_eq!(shown(text, 3)[0], "power=ON,ON,SLEEP");
}

#[test]
fn a_guarded_exit_is_no_end_for_the_lanes_that_go_on() {
    let text = "
        MOV R1, 5
        @P0 EXIT
        IADD R3, PT, R1, 1, !PT
        EXIT
    ";
    assert_eq!(shown(text, 2)[0], "");
}

#[test]
fn a_third_source_sleeps_unless_it_is_another_operand() {
    let text = "
        MOV R1, 5
        LOP3.LUT150 R3, R0, R0, R1
        LOP3.LUT150 R3, R0, R1, R0
        LOP3.LUT150 R3, R0, R1, R3
        ST.GLOBAL.B32 [R2], R3
        EXIT
    ";
    let code = powered(text, 1);
    let states = |pc: usize| code[3 + pc].power_states(Places::NONE).collect::<Vec<_>>();
    let r = |register: u8, state| (Reg(register), state);
    // R1 is read by the next instruction, and in the last of them R3 is also the result.
    assert_eq!(states(1), [r(3, On), r(0, On), r(1, Sleep)]);
    assert_eq!(states(2), [r(3, On), r(0, On), r(1, On)]);
    assert_eq!(states(3), [r(3, On), r(0, Off), r(1, Off)]);
    assert_eq!(lost(&code), []);
}

#[test]
fn both_fields_of_a_register_say_the_same() {
    let text = "
        MOV R1, 5
        IADD R1, PT, R1, R1, !PT
        NOP
        ST.GLOBAL.B32 [R2], R1
        EXIT
    ";
    assert_eq!(shown(text, 1)[1], "power=SLEEP,SLEEP,SLEEP");
}

#[test]
fn what_the_other_side_waits_to_read_is_not_off() {
    let text = "
        MOV R1, 5
        IADD R3, PT, R1, 1, !PT
        @P0 BRA taken, join meet
        IADD R3, PT, R1, R3, !PT
        NOP
        BRA meet, join none
    taken:
        IADD R3, PT, R1, R3, !PT
    meet:
        ST.GLOBAL.B32 [R2], R3
        EXIT
    ";
    needs_the_warp(text, 1);
}

#[test]
fn what_one_side_overwrites_is_not_off_before() {
    let text = "
        MOV R1, 5
        @P0 BRA taken, join meet
        IADD R3, PT, R1, 1, !PT
        NOP
        MOV R1, 7
        NOP
    taken:
        NOP
    meet:
        ST.GLOBAL.B32 [R2], R1
        EXIT
    ";
    needs_the_warp(text, 1);
}

#[test]
fn lanes_that_have_left_a_loop_keep_what_they_read_after_it() {
    needs_the_warp(LEFT_LOOP, 1);
}

#[test]
fn a_guarded_write_does_not_end_the_old_value() {
    let text = "
        MOV R1, 7
        IADD R3, PT, R1, 1, !PT
        NOP
        @P0 MOV R1, 9
        NOP
        ST.GLOBAL.B32 [R2], R1
        EXIT
    ";
    let right = powered(text, 1);
    assert_eq!(lost(&right), [], "\n{}", listing(&right));
    assert_eq!(lost(&powered_as_if(text, without_guards, 1)), [Reg(1)]);
}

#[test]
fn states_of_random_code_lose_nothing() {
    let mut counts = PowerCounts::default();
    // The number of seeds for which the judge notices that a rule was broken: liveness of the warp, guards, guarded reads, branches.
    let mut seen = [0; 4];
    for seed in 0..200 {
        let text = program(seed);
        for threshold in [1, 2, 3, 7, MOST] {
            let right = powered(&text, threshold);
            let (faults, new) = judged(&right);
            assert_eq!(faults, [], "seed {seed}, threshold {threshold}\n{}", listing(&right));
            counts += new;
        }
        seen[0] += u32::from(!lost(&powered_with(&text, liveness::of_lane, 1)).is_empty());
        let changes = [without_guards, without_guarded, without_branches];
        for (seen, change) in seen[1..].iter_mut().zip(changes) {
            *seen += u32::from(!lost(&powered_as_if(&text, change, 1)).is_empty());
        }
    }
    assert!(seen.iter().all(|&n| n > 20), "{seen:?}");
    assert!([counts.left.on, counts.left.sleep, counts.left.off].iter().all(|&n| n > 1000), "{counts:?}");
}
