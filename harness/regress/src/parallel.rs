//! Jobs on several threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;

/// Bytes of stack: what Verilator makes of a netlist has wide vectors by the thousand as local variables.
const STACK: usize = 256 << 20;

/// Calls `work` for every item on `threads` threads and gives the results in the order of the items. `done` is told of
/// each result as it comes, in any order.
pub fn run_all<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
    done: impl Fn(usize, &R) + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<R>>> = Mutex::new(items.iter().map(|_| None).collect());
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, items.len().max(1)) {
            let worker = Builder::new().stack_size(STACK).spawn_scoped(scope, || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { return };
                    let result = work(item);
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

#[cfg(test)]
mod tests {
    use super::*;

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
