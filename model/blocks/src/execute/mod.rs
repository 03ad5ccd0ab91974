//! Units and result buses: `docs/sm.md`.

mod alu;
mod dispatcher;
mod fp_unit;
mod lane_crossbar;
#[cfg(test)]
mod phases;
mod result;
mod result_queue;
mod sfu;
mod special_registers;
mod writeback;

pub use alu::*;
pub use dispatcher::*;
pub use fp_unit::*;
pub use lane_crossbar::*;
pub use result::UnitResult;
pub use result_queue::*;
pub use sfu::*;
pub use special_registers::*;
pub use writeback::*;

use crate::entry::{Entry, entry};

/// Its blocks, leaves first.
pub const BLOCKS: &[Entry] = &[
    entry::<Dispatcher>("execute/dispatcher", "operand stage to units", &[]),
    entry::<Alu>("execute/alu", "integers, bits, predicates", &[]),
    Entry { packages: &["execute/fp_pkg"], ..entry::<FpUnit>("execute/fp_unit", "single precision", &[]) },
    Entry {
        packages: &["execute/fp_pkg", "execute/sfu_tables_pkg"],
        ..entry::<Sfu>("execute/sfu", "special functions", &[])
    },
    entry::<ResultQueue>("execute/result_queue", "results until their latency is over", &[]),
    entry::<Writeback>("execute/writeback", "results to buses", &[]),
    entry::<LaneCrossbar>("execute/lane_crossbar", "shuffles", &[]),
    entry::<SpecialRegisters>("execute/special_registers", "what S2R reads", &["ram_1r1w"]),
];
