//! Runs jobs on several threads.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Mutex;
use std::thread::Builder;

/// Stack size in bytes: Verilator's C++ of a netlist has thousands of wide vectors as local variables.
const STACK: usize = 256 << 20;

/// Calls `work` for every item on `threads` threads and returns the results in the order of the items. `done` is called with
/// each result as soon as it is known, in any order.
pub fn run_all<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
    done: impl Fn(usize, &R) + Sync,
) -> Vec<R> {
    let alone: Vec<usize> = (0..items.len()).collect();
    run_grouped(items, &alone, threads, work, done)
}

/// Threads that each of `jobs` jobs may use, if `threads` are available in total.
pub fn threads_of_each(jobs: usize, threads: usize) -> usize {
    (threads / jobs.max(1)).max(1)
}

/// As [`run_all`], for items in groups: items of one group need the same thing, such as a build, and the first makes it. Meanwhile the
/// threads do not wait for it but take items of other groups, if there are any. `groups`: the group of each item.
///
/// # Panics
/// When the number of groups differs from the number of items.
pub fn run_grouped<T: Sync, R: Send, G: Eq + Hash + Sync>(
    items: &[T],
    groups: &[G],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
    done: impl Fn(usize, &R) + Sync,
) -> Vec<R> {
    assert_eq!(groups.len(), items.len(), "every item has a group");
    let queue = Mutex::new(Queue { waiting: (0..items.len()).collect(), first: HashMap::new() });
    let take = || queue.lock().expect("no thread panics with the lock").take(groups);
    let made = |index: usize| queue.lock().expect("no thread panics with the lock").first.insert(&groups[index], true);
    let results: Mutex<Vec<Option<R>>> = Mutex::new(items.iter().map(|_| None).collect());
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, items.len().max(1)) {
            let worker = Builder::new().stack_size(STACK).spawn_scoped(scope, || {
                while let Some(index) = take() {
                    let result = work(&items[index]);
                    made(index);
                    done(index, &result);
                    results.lock().expect("no thread panics with the lock")[index] = Some(result);
                }
            });
            worker.expect("the system gives a thread");
        }
    });
    let results = results.into_inner().expect("no thread panics with the lock");
    results.into_iter().map(|r| r.expect("every item was worked on")).collect()
}

/// The items that no thread has taken.
struct Queue<'a, G> {
    waiting: Vec<usize>,
    /// The groups of which an item was taken, and whether one item of the group has ended.
    first: HashMap<&'a G, bool>,
}

impl<'a, G: Eq + Hash> Queue<'a, G> {
    /// The first item that need not wait for another item of its group; if there is none, the first of all.
    fn take(&mut self, groups: &'a [G]) -> Option<usize> {
        let ready = |&index: &usize| self.first.get(&groups[index]) != Some(&false);
        let place = self.waiting.iter().position(ready).unwrap_or(0);
        let index = (place < self.waiting.len()).then(|| self.waiting.remove(place))?;
        self.first.entry(&groups[index]).or_insert(false);
        Some(index)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Both items of the first group need its first item: meanwhile the second thread takes the item of the other group.
    #[test]
    fn a_thread_takes_another_group_while_the_first_of_one_is_at_work() {
        let groups = ["a", "a", "b", "b"];
        let mut queue = Queue { waiting: vec![0, 1, 2, 3], first: HashMap::new() };
        assert_eq!(queue.take(&groups), Some(0));
        assert_eq!(queue.take(&groups), Some(2));
        queue.first.insert(&"b", true);
        assert_eq!(queue.take(&groups), Some(3));
        // There is nothing else left.
        assert_eq!(queue.take(&groups), Some(1));
        assert_eq!(queue.take(&groups), None);
    }

    #[test]
    fn jobs_share_threads_where_they_are_few() {
        let shares = [(1, 1), (1, 2), (2, 2), (700, 2), (3, 8), (0, 4)].map(|(jobs, all)| threads_of_each(jobs, all));
        assert_eq!(shares, [1, 2, 1, 1, 2, 4]);
    }

    #[test]
    fn results_keep_the_order_of_the_items() {
        let items: Vec<u64> = (0..50).collect();
        let told = AtomicUsize::new(0);
        let squares = run_all(
            &items,
            4,
            |x| x * x,
            |_, _| {
                told.fetch_add(1, Ordering::Relaxed);
            },
        );
        assert_eq!(squares, items.iter().map(|x| x * x).collect::<Vec<_>>());
        assert_eq!(told.into_inner(), 50);
    }
}
