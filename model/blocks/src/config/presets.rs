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

/// The sharing thesis's SM (table 4.2): 256 KB in 32 banks, and loose round-robin. Of its 4 schedulers and 64 warps there are as many as
/// this SM has at most. What the table leaves open is as in the stealing paper's SM ([`BANKS_16`]), which stands for a Kepler-like machine too (docs/power.md).
pub const KEPLER: Config = Config {
    mrf: MrfConfig { banks: 32, kilobytes: 256, ..BANKS_16.mrf },
    sm: SmConfig { scheduler: Scheduler::RoundRobin, ..BANKS_16.sm },
    ..BANKS_16
};
