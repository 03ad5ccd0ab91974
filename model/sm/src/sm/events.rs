//! The event word.

use gpurf_blocks::execute::Offers;
use gpurf_blocks::low_bit;
use gpurf_blocks::memory::{ConstantServer, Server};
use gpurf_blocks::mrf::bits::{count_ports, is_set};

use super::Blocks;
use super::decided::Decided;
use crate::ports::{SM_EVENT, SmIn};

/// Place of a field's lowest bit in the event word.
const fn at(name: &str) -> u32 {
    low_bit(SM_EVENT, name)
}

/// `value` in the field `name`.
macro_rules! event {
    ($name:literal, $value:expr) => {
        u64::from($value) << const { at($name) }
    };
}

/// The ports of an event word that issue nothing although a head is clear.
#[inline]
pub(super) fn stalls(events: u64) -> u8 {
    let ports = |low: u32| (events >> low & 3) as u8;
    ports(const { at("stall_collector") }) + ports(const { at("stall_other") })
}

impl Blocks {
    /// The event word of a cycle.
    #[inline]
    pub(super) fn events(&self, inputs: &SmIn, decided: &Decided) -> u64 {
        let started = self.block_launcher.start().is_some();
        let answered = inputs.mem_rsp_valid_i != 0 && self.takes_answer();
        event!("fetch", decided.decoded.iter().flatten().count() as u64)
            | self.issue_events(decided)
            | self.dispatch_events(decided)
            | self.pass_events(decided)
            | self.constant_events(decided)
            | event!("barrier_open", decided.opening != 0)
            | event!("result_wait", results_that_wait(decided))
            | event!("warp_start", started)
            | event!("line_answer", answered)
    }

    #[inline]
    fn issue_events(&self, decided: &Decided) -> u64 {
        let (mut issued, mut lanes, mut stalls) = (0u32, 0, 0);
        for p in 0..self.ports {
            if is_set(decided.issuing, p) {
                let issue = &decided.issue[p];
                if !issue.probe {
                    issued += 1;
                    lanes += issue.exec.count_ones();
                }
            } else {
                // Two ports may have the same reason: its field is a count.
                stalls += self.stall(p, decided.outer.active);
            }
        }
        event!("issue", issued) | event!("issue_lanes", lanes) | stalls
    }

    /// The reason why port p issues nothing.
    #[inline]
    fn stall(&self, p: usize, active: u64) -> u64 {
        let alive = self.own[p] & self.simt_stack.alive();
        let there = alive & !self.barrier_unit.held();
        let clear = there & self.clear();
        if alive == 0 {
            event!("stall_empty", 1u64)
        } else if there == 0 {
            event!("stall_barrier", 1u64)
        } else if there & self.instruction_buffer.head_valid() == 0 {
            event!("stall_fetch", 1u64)
        } else if clear == 0 {
            event!("stall_scoreboard", 1u64)
        } else if clear & active == 0 {
            event!("stall_inactive", 1u64)
        } else if clear & active & !self.scoreboard.operand() == 0 && !is_set(self.operand_stage.issue_ready(), p) {
            event!("stall_collector", 1u64)
        } else {
            event!("stall_other", 1u64)
        }
    }

    #[inline]
    fn dispatch_events(&self, decided: &Decided) -> u64 {
        let dispatch = &decided.dispatch;
        let units = &dispatch.units;
        event!("alu", count_ports(dispatch.wanted.alu & units.alu))
            | event!("fp", count_ports(dispatch.wanted.fp & units.fp))
            | event!("sfu", dispatch.sfu != 0 && units.sfu)
            | event!("constants", dispatch.constant != 0 && units.constant)
            | event!("memory", dispatch.memory != 0 && units.memory)
            | event!("barrier", dispatch.barrier != 0)
    }

    #[inline]
    fn pass_events(&self, decided: &Decided) -> u64 {
        let pass = &decided.pass;
        let Some((server, offered)) = pass.offer else { return 0 };
        let (serves, lanes) = (pass.served != 0, pass.served.count_ones());
        let leaves = serves && pass.served != offered;
        match server {
            Server::Global | Server::Local => {
                event!("line", serves) | event!("line_lanes", lanes) | event!("line_wait", !serves)
            }
            Server::Shared => {
                event!("shared", serves) | event!("shared_lanes", lanes) | event!("shared_conflict", leaves)
            }
            Server::Constant => {
                let waits = decided.constant.by(ConstantServer::Constant) != 0;
                event!("constant", serves) | event!("constant_conflict", leaves) | event!("constant_wait", waits)
            }
            Server::Shuffle => event!("shuffle", serves),
        }
    }

    /// The constant unit's passes. While one is performed in constant memory, none of the memory pipeline is.
    #[inline]
    fn constant_events(&self, decided: &Decided) -> u64 {
        let pass = &decided.constant;
        let Some((server, offered)) = pass.offer else { return 0 };
        let serves = pass.served != 0;
        match server {
            ConstantServer::Constant => {
                event!("constant", serves) | event!("constant_conflict", serves && pass.served != offered)
            }
            ConstantServer::Special => event!("special", serves),
        }
    }
}

/// Number of results that stay although they are offered.
#[inline]
fn results_that_wait(decided: &Decided) -> u32 {
    let Offers { alu, fp, sfu, constant, side, memory } = decided.offers;
    let shared = u32::from(sfu) + u32::from(constant) + u32::from(side) + u32::from(memory);
    count_ports(alu) + count_ports(fp) + shared - count_ports(decided.going)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_reasons_are_stalls() {
        let count = |name| {
            let low = at(name);
            [1u64, 2].map(|ports| stalls(ports << low))
        };
        assert_eq!((count("stall_collector"), count("stall_other")), ([1, 2], [1, 2]));
        let stalled = ["stall_collector", "stall_other"];
        let others = SM_EVENT.iter().filter(|(name, _)| !stalled.contains(name));
        for (name, _) in others {
            assert_eq!(stalls(1 << at(name)), 0, "{name}");
        }
    }

    #[test]
    fn the_last_field_is_the_least_significant() {
        assert_eq!((at("line_answer"), at("warp_start"), at("result_wait")), (0, 1, 2));
        let below: u32 = SM_EVENT[1..].iter().map(|&(_, bits)| bits).sum();
        assert_eq!(at("fetch"), below);
    }
}
