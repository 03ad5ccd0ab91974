//! The register file: collectors, banks, write queues.

use gpurf_blocks::config::{BankPorts, Config};
use gpurf_blocks::design::BankView;
use gpurf_blocks::designs::Organisation;

use super::look::Look;
use super::{Group, Sums, handshakes, several, situations, sums};

/// Whether the register file has the banks of the main register file.
fn banked(config: &Config) -> bool {
    Organisation::of(config).design().contains("mrf_bank")
}

/// Whether accesses can conflict and wait.
fn conflicts(config: &Config) -> bool {
    Organisation::of(config).design().services.has_conflicts
}

/// Whether a read waits while the same bank is written.
fn one_port(config: &Config) -> bool {
    conflicts(config) && (!banked(config) || config.mrf.ports == BankPorts::Shared)
}

/// The banks of a design that uses those of the main register file.
fn banks(look: &Look<'_>) -> BankView {
    let banks = look.shape.organisation.banks(&look.s.operand_stage.provider);
    banks.expect("the situations of banks are counted where the design has such banks")
}

pub(super) static GROUPS: &[Group] = &[
    situations! { "mrf_collector", |_| true, |look| {
            let file = look.file;
        }
        "no collector holds an instruction": file.busy == 0 && look.alive != 0;
        "one collector holds an instruction": file.busy.is_power_of_two();
    },
    situations! { "mrf_collector", conflicts, |look| {
            let file = look.file;
            let wanted = file.wanted & !file.granted;
        }
        "an operand waits for its bank": wanted != 0;
        "three operands or more wait for their banks": wanted.count_ones() >= 3;
        "two operands of an instruction wait": (wanted & wanted >> 1 | wanted >> 1 & wanted >> 2 | wanted & wanted >> 2) & SOURCE_0 != 0;
    },
    situations! { "mrf_collector", several, |look| {
            let all = u16::MAX >> (u16::BITS as usize - look.shape.mrf.collectors);
        }
        "every collector holds an instruction": look.file.busy == all;
    },
    situations! { "mrf_allocator", |_| true, |look| {
            let file = look.file;
        }
        "no instruction is complete": file.busy != 0 && file.complete == 0;
        "as many instructions are complete as can be offered": file.complete.count_ones() == file.dispatch.count_ones() && file.complete != 0;
        "a complete instruction is not offered": file.complete.count_ones() > file.dispatch.count_ones();
        "every instruction is complete, two at least": file.complete == file.busy && file.busy.count_ones() > 1;
    },
    situations! { "mrf_bank", banked, |look| {
            let BankView { read, written, .. } = banks(look);
        }
        "no bank is used": read | written == 0 && look.alive != 0;
        "one bank reads": read.is_power_of_two();
        "two banks or more read": read & read.wrapping_sub(1) != 0;
        "three banks or more are used": (read | written).count_ones() >= 3;
        "a bank writes": written != 0;
        "a bank reads while another one writes": read & !written != 0 && written & !read != 0;
    },
    situations! { "mrf_bank", |c| banked(c) && c.mrf.ports == BankPorts::Separate, |look| {
            let BankView { read, written, .. } = banks(look);
        }
        "a bank reads and writes": read & written != 0;
    },
    situations! { "mrf_write_queue", banked, |look| {
            let BankView { heads, granted, .. } = banks(look);
        }
        "no queue has a result": heads == 0 && look.alive != 0;
        "a queue has a result": heads != 0;
        "a result is written": granted != 0;
        "a result waits for its bank": heads & !granted != 0;
    },
    situations! { "mrf_write_queue", |c| banked(c) && c.mrf.issue_ports == 2, |look| {
            let BankView { heads, head_bank: [first, second], granted, .. } = banks(look);
        }
        "both queues have a result": heads == 3;
        "two results for one bank (write against write)": heads == 3 && first == second;
        "two results for two banks": heads == 3 && first != second;
        "two results are written": granted == 3;
        "one result is written, the other one waits": heads == 3 && granted.is_power_of_two();
    },
    handshakes! { "operand_stage", |_| true, |look|
        "a result": look.o.writeback.write_valid_o, look.o.operand_stage.write_ready_o;
    },
    situations! { "operand_stage", |_| true, |look| {
            let places = look.s.operand_stage.nets.slot_busy_q;
        }
        "no place holds an instruction": places == 0 && look.alive != 0;
        "one place holds an instruction": places.is_power_of_two();
    },
    situations! { "operand_stage", several, |look| {}
        "no port takes an instruction": look.o.operand_stage.issue_ready_o == 0;
    },
    situations! { "operand_stage", |c| c.mrf.issue_ports == 2, |look| {
            let ready = look.o.operand_stage.issue_ready_o;
        }
        "one port takes an instruction, the other does not": ready.is_power_of_two();
    },
];

/// A mask with the slot of each collector's first source.
const SOURCE_0: u64 = 0o1111_1111_1111_1111;

pub(super) static SUMS: &[Sums] = &[
    sums! { "mrf_arbiter", conflicts,
        "conflict_intra": "an operand waits for another one of its instruction (read against read)";
        "conflict_inter": "an operand waits for one of another instruction (read against read)";
    },
    sums! { "mrf_arbiter", banked,
        "conflict_write": "a result waits for its bank (write)";
        "write_held": "a result is held by an older read of its register (write after read)";
    },
    sums! { "mrf_arbiter", one_port,
        "conflict_read_write": "an operand waits for a result (read against write)";
    },
    sums! { "mrf", |_| true,
        "dispatch": "an instruction leaves the collectors";
        "dispatch_stall": "an instruction with its operands is not taken";
    },
];
