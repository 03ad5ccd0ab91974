//! Which rules for the locks of a pair of blocks are free of deadlock: every kernel of a few operations, in every order of its
//! steps. `docs/sharing-deadlock.md` says what follows.

mod kernel;
mod pair;
mod rule;
mod search;

use kernel::{Kernel, Operation};
use rule::Rule;
use search::{Search, count, smallest, table};

use Operation::{Barrier, Lock, Private, Register, Scratchpad, Unlock};
use Rule::{First, Oldest, OldestHoldsAtomics, PerWarp, Unshared};

const PAGE: &str = include_str!("../../../../docs/sharing-deadlock.md");

/// Counts the deadlocks of a family of kernels, and looks for the numbers in the page.
#[track_caller]
fn expect(family: &str, alphabet: &[Operation], longest: usize, kernels: usize, deadlocks: &[(Rule, usize)]) {
    let rules: Vec<Rule> = deadlocks.iter().map(|&(rule, _)| rule).collect();
    let (found, counted) = count(alphabet, longest, &rules);
    let counted: Vec<(Rule, usize)> = rules.into_iter().zip(counted).collect();
    assert_eq!((found, counted.as_slice()), (kernels, deadlocks), "{family}");

    let number = |rule| {
        let of_rule = deadlocks.iter().find(|&&(of, _)| of == rule);
        of_rule.map_or_else(|| "-".to_owned(), |&(_, deadlocks)| deadlocks.to_string())
    };
    let numbers = [PerWarp, First, Oldest, OldestHoldsAtomics].map(number).join(" | ");
    let row = format!("| {family} | {longest} | {kernels} | {numbers} |");
    assert!(PAGE.contains(&row), "docs/sharing-deadlock.md has no row\n{row}");
}

#[test]
fn with_registers_the_rule_of_the_first_is_free_of_deadlock_and_a_lock_for_each_warp_is_not() {
    let alphabet = [Private, Register, Barrier];
    expect("registers", &alphabet, 4, 2232, &[(Unshared, 0), (PerWarp, 343), (First, 0), (Oldest, 0)]);
}

#[test]
fn with_registers_longer_programs_change_nothing() {
    expect("registers", &[Private, Register, Barrier], 5, 17846, &[(Unshared, 0), (First, 0), (Oldest, 0)]);
}

#[test]
fn a_scratchpad_has_one_lock_and_needs_no_more() {
    expect("scratchpad", &[Private, Scratchpad, Barrier], 5, 17846, &[(Unshared, 0), (First, 0), (Oldest, 0)]);
}

#[test]
fn registers_and_a_mutex_need_the_order_by_age_and_atomics_that_wait() {
    let deadlocks = [(Unshared, 0), (PerWarp, 660), (First, 340), (Oldest, 632), (OldestHoldsAtomics, 0)];
    expect("registers, mutex", &[Register, Barrier, Lock, Unlock], 5, 2625, &deadlocks);
}

#[test]
fn a_scratchpad_and_a_mutex_need_them_too() {
    let deadlocks = [(Unshared, 0), (PerWarp, 66), (First, 66), (Oldest, 72), (OldestHoldsAtomics, 0)];
    expect("scratchpad, mutex", &[Scratchpad, Barrier, Lock, Unlock], 4, 437, &deadlocks);
}

#[test]
fn two_resources_with_locks_of_their_own_need_the_order_by_age() {
    let deadlocks = [(Unshared, 0), (PerWarp, 860), (First, 845), (Oldest, 0)];
    expect("registers, scratchpad", &[Register, Scratchpad, Barrier], 4, 2232, &deadlocks);
}

#[test]
fn two_resources_and_a_mutex_are_free_of_deadlock_by_age() {
    let deadlocks = [(Unshared, 0), (PerWarp, 1810), (First, 1980), (Oldest, 807), (OldestHoldsAtomics, 0)];
    let alphabet = [Register, Scratchpad, Barrier, Lock, Unlock];
    expect("registers, scratchpad, mutex", &alphabet, 4, 4872, &deadlocks);
}

/// Figure 2.8 of the thesis: two warps have locks and wait at barriers for warps that need these locks.
#[test]
fn figure_2_8_is_the_smallest_deadlock_of_a_lock_for_each_warp() {
    let (kernel, deadlock) = smallest(&[Private, Register, Barrier], 4, PerWarp).expect("343 kernels deadlock");
    assert_eq!(kernel, Kernel([vec![Register, Barrier], vec![Register, Barrier]]));
    let waiting: Vec<(u8, usize, Operation)> =
        deadlock.waiting.iter().map(|step| (step.block, step.warp, step.operation)).collect();
    assert_eq!(waiting, [(0, 0, Barrier), (0, 1, Register), (1, 0, Register), (1, 1, Barrier)]);
    for rule in [First, Oldest] {
        assert!(Search::new().deadlock(&kernel, rule).is_none(), "{rule:?}");
    }
}

/// The page shows the smallest kernel that deadlocks, and how it does.
#[track_caller]
fn page_shows(alphabet: &[Operation], longest: usize, rule: Rule) {
    let (kernel, deadlock) = smallest(alphabet, longest, rule).expect("the rule is not safe");
    let (kernel, table) = (kernel.to_string(), table(&deadlock));
    for text in [&kernel, &table] {
        assert!(PAGE.contains(text.as_str()), "docs/sharing-deadlock.md does not show for {rule:?}\n{kernel}\n{table}");
    }
}

#[test]
fn the_page_shows_how_the_unsafe_rules_deadlock() {
    page_shows(&[Private, Register, Barrier], 4, PerWarp);
    page_shows(&[Register, Barrier, Lock, Unlock], 5, First);
    page_shows(&[Scratchpad, Barrier, Lock, Unlock], 4, First);
    page_shows(&[Register, Scratchpad, Barrier], 4, First);
    page_shows(&[Register, Barrier, Lock, Unlock], 5, Oldest);
}
