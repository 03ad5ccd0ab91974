//! The papers' machines that several designs start from.

use super::{BankPorts, Config, MrfConfig, Scheduler, SmConfig};

/// The RFC paper's main register file: 4 logical banks with a read and a write port (RFC paper, 2.1).
pub const MRF_1R1W: Config =
    Config { mrf: MrfConfig { banks: 4, ports: BankPorts::Separate, ..MrfConfig::DEFAULT }, ..Config::BASELINE };

/// The same with 8 active warps (RFC paper, 3.2).
pub const TWO_LEVEL: Config = Config { sm: SmConfig { active_warps: 8, ..SmConfig::DEFAULT }, ..MRF_1R1W };

/// The hybrid paper's scheduler: one active warp, even and odd ones in turn (hybrid paper, 4).
pub const ALTERNATING: Config =
    Config { sm: SmConfig { active_warps: 2, alternate: true, ..SmConfig::DEFAULT }, ..Config::BASELINE };

/// The stealing paper's SM (II-A, V-B): two schedulers, and the 48 warps of IV-A. Its table I, with the number of collectors, is
/// not in the text: as in the baseline.
pub const BANKS_16: Config = Config {
    mrf: MrfConfig { issue_ports: 2, ..MrfConfig::DEFAULT },
    sm: SmConfig { warps: 48, ..SmConfig::DEFAULT },
    ..Config::BASELINE
};

/// The same with 8 banks.
pub const BANKS_8: Config = Config { mrf: MrfConfig { banks: 8, ..BANKS_16.mrf }, ..BANKS_16 };

/// Half of the sharing thesis's SM (table 4.2: 256 KB in 32 banks, 64 warps, 4 schedulers, loose round-robin), because this SM has at most 48 warps and
/// two schedulers: so a warp has as many registers as there. What the table leaves open is as in the stealing paper's SM ([`BANKS_16`]), which stands for a
/// Kepler-like machine too (docs/power.md).
pub const KEPLER: Config =
    Config { sm: SmConfig { warps: 32, scheduler: Scheduler::RoundRobin, ..BANKS_16.sm }, ..BANKS_16 };
