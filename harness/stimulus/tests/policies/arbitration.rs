//! Arbitration of a bank (`mrf_arbiter`).

use gpurf_blocks::config::{Config, ReadOrder};
use gpurf_blocks::mrf::{MrfArbiter, MrfShape};
use gpurf_blocks::{OPERANDS, Shape};

use crate::run::{Checker, Cycle, Decided, Turn, config, count, expect, has, passes, refuses, set};

/// The arbiter "only allows a single access to the same bank at a time. Once bank conflicts occur, the requests have
/// to be serialized. For example, write operations usually take higher priority over reads on accessing the same
/// bank" (stealing paper, II-B). A bank with two ports has one of each kind (RFC paper, 2.1).
///
/// A write never overtakes a read of the register that it replaces; such a read goes before all others of its bank.
/// Among the others the oldest instruction goes first, or the collectors take turns. Two writes for a bank take
/// turns.
struct Serves {
    shape: MrfShape,
    order: ReadOrder,
    /// Of each bank: the collectors' turns.
    turns: Vec<Turn>,
    /// The write queue that goes first.
    waited: usize,
}

impl Serves {
    fn new(config: &Config, order: ReadOrder) -> Self {
        let shape = MrfShape::of(config);
        Self { shape, order, turns: vec![Turn::new(shape.collectors); shape.banks], waited: 0 }
    }
}

impl Checker<MrfArbiter> for Serves {
    fn judge(&mut self, cycle: &Cycle<MrfArbiter>, decided: &mut Decided) -> Result<(), String> {
        let (i, o, shape) = (&cycle.inputs, &cycle.out, self.shape);
        let mut waited = self.waited;
        for bank in 0..shape.banks {
            let reads = set(shape.slots(), |s| has(i.req_valid_i, s) && usize::from(i.req_bank_i[s]) == bank);
            let writes = set(shape.issue_ports, |w| has(i.write_valid_i, w) && usize::from(i.write_bank_i[w]) == bank);
            let meet = |s: usize, w: usize| has(reads, s) && has(writes, w) && i.req_entry_i[s] == i.write_entry_i[w];
            let before = set(shape.slots(), |s| (0..shape.issue_ports).any(|w| meet(s, w)));

            let free = set(shape.issue_ports, |w| {
                has(writes, w) && !(0..shape.slots()).any(|s| meet(s, w)) && (shape.dual_port || before == 0)
            });
            let written = if free.count_ones() == 2 { 1 << self.waited } else { free };
            expect(&format!("writes of bank {bank}"), u64::from(o.write_grant_o) & writes, written)?;
            count(decided, "two writes", free.count_ones() == 2);
            if free.count_ones() == 2 {
                waited = 1 - self.waited;
            }

            let contenders = match (shape.dual_port || written == 0, before) {
                (false, _) => 0,
                (true, 0) => reads,
                (true, before) => before,
            };
            let collectors = set(shape.collectors, |c| contenders >> (c * OPERANDS) & 0b111 != 0);
            let first = match self.order {
                ReadOrder::RoundRobin => self.turns[bank].first(collectors),
                ReadOrder::Oldest => {
                    (0..shape.collectors).find(|&c| has(collectors, c) && u64::from(i.older_i[c]) & collectors == 0)
                }
            };
            let slot = first.and_then(|c| (c * OPERANDS..).find(|&s| has(contenders, s)));
            let read = slot.map_or(0, |slot| 1 << slot);
            expect(&format!("reads of bank {bank}"), o.grant_o & reads, read)?;
            count(decided, "several collectors", collectors.count_ones() > 1);
            count(decided, "a write before reads", !shape.dual_port && written != 0 && reads != 0);
            count(decided, "a read before others", before != 0 && read != 0 && reads & !before != 0);
            if let Some(first) = first {
                self.turns[bank].served(first);
            }
        }
        self.waited = waited;
        if i.rst_ni == 0 {
            self.waited = 0;
            self.turns.fill(Turn::new(shape.collectors));
        }
        Ok(())
    }
}

fn configs(order: ReadOrder) -> Vec<Config> {
    let mut configs = ["baseline", "mrf-1r1w", "banks-8"].map(config).to_vec();
    configs.push(Config { mrf: gpurf_blocks::config::MrfConfig { issue_ports: 2, ..configs[1].mrf }, ..configs[1] });
    configs.iter_mut().for_each(|config| config.mrf.read_order = order);
    configs
}

#[test]
fn banks_serve_in_order() {
    for order in [ReadOrder::Oldest, ReadOrder::RoundRobin] {
        for config in configs(order) {
            let shape = MrfShape::of(&config);
            let mut kinds = vec!["several collectors", "a read before others"];
            kinds.extend((!shape.dual_port).then_some("a write before reads"));
            kinds.extend((shape.issue_ports == 2).then_some("two writes"));
            passes(&config, &[], Serves::new(&config, order), &kinds);
        }
    }
}

#[test]
fn another_order_is_refused() {
    for (done, checked) in [(ReadOrder::Oldest, ReadOrder::RoundRobin), (ReadOrder::RoundRobin, ReadOrder::Oldest)] {
        for config in configs(done) {
            refuses(&config, &[], Serves::new(&config, checked), "reads of bank", |_, _| {});
        }
    }
}

#[test]
fn one_write_out_of_turn_is_refused() {
    for config in configs(ReadOrder::Oldest).into_iter().filter(|config| config.mrf.issue_ports == 2) {
        let mut done = false;
        refuses(&config, &[], Serves::new(&config, ReadOrder::Oldest), "writes of bank", |number, cycle| {
            let (i, o) = (&cycle.inputs, &mut cycle.out);
            let one_bank = i.write_valid_i == 3 && i.write_bank_i[0] == i.write_bank_i[1];
            if number > 1_000 && one_bank && matches!(o.write_grant_o, 1 | 2) && !done {
                done = true;
                o.write_grant_o ^= 3;
            }
        });
    }
}
