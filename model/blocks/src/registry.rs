//! Every block, in one list.

use crate::config::Config;
use crate::shape::SmShape;
use crate::{
    Block, Shape, Twin, control, erase, execute, front, hierarchy, hrf, issue, memory, mrf, operands, ram, rfc, steal,
};

/// A block of the list.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Module name; the RTL is `rtl/<path>.sv`, the twin `model/blocks/src/<path>.rs`.
    pub name: &'static str,
    /// Path in both trees, without the ending.
    pub path: &'static str,
    /// One line on what it does.
    pub summary: &'static str,
    /// The modules it is made of (transitively), itself first: their files are its RTL sources.
    pub sources: &'static [&'static str],
    /// The packages that these import, besides the one that every module does: their files come before all modules'.
    pub packages: &'static [&'static str],
    /// Makes its twin.
    pub twin: fn(&Config) -> Box<dyn Twin>,
}

impl Entry {
    /// Names of the modules that it is made of, itself first.
    pub fn modules(&self) -> impl Iterator<Item = &'static str> {
        self.sources.iter().map(|source| source.rsplit('/').next().unwrap_or(source))
    }

    /// Whether a module is one of them.
    pub fn contains(&self, module: &str) -> bool {
        self.modules().any(|name| name == module)
    }
}

const fn entry<B: Block>(path: &'static str, summary: &'static str, sources: &'static [&'static str]) -> Entry {
    Entry { name: B::NAME, path, summary, sources, packages: &[], twin: |config| erase::<B>(&B::Shape::of(config)) }
}

/// Single precision arithmetic.
const FP: &str = "execute/fp_pkg";
/// Tables of special functions.
const SFU_TABLES: &str = "execute/sfu_tables_pkg";

/// The modules of the register file.
const MRF: &[&str] = &[
    "mrf/mrf",
    "mrf/mrf_bank_map",
    "mrf/mrf_write_queue",
    "mrf/mrf_allocator",
    "mrf/mrf_collector",
    "mrf/mrf_arbiter",
    "mrf/mrf_bank",
    "mrf/mrf_crossbar",
    "ram/ram_1rw",
    "ram/ram_1r1w",
];
/// Those of the register file cache, which stands in front of it.
const RFC: &[&str] = &joined::<{ 8 + MRF.len() }>(
    &[
        "rfc/rfc",
        "rfc/rfc_tags",
        "rfc/rfc_data",
        "rfc/rfc_evictions",
        "rfc/rfc_results",
        "rfc/rfc_operands",
        "rfc/rfc_lrf",
        "rfc/rfc_fills",
    ],
    MRF,
);
/// Those of ORF and LRF, besides the MRF and what they share with the cache.
const HIERARCHY: &[&str] = &[
    "hierarchy/hierarchy",
    "hierarchy/hierarchy_levels",
    "hierarchy/hierarchy_entries",
    "hierarchy/hierarchy_data",
    "hierarchy/hierarchy_results",
    "hierarchy/hierarchy_copies",
];
/// Those of the hybrid register file, besides those that it shares with the register file.
const HRF_OWN: &[&str] = &[
    "hrf/hrf",
    "hrf/hrf_bank",
    "hrf/hrf_buffer",
    "hrf/hrf_rcm",
    "hrf/hrf_drain",
    "hrf/hrf_loads",
    "hrf/hrf_power",
    "hrf/hrf_results",
    "hrf/hrf_reads",
    "hrf/hrf_operands",
];
/// Those of the hybrid register file.
const HRF: &[&str] = &joined::<{ HRF_OWN.len() + 4 }>(
    HRF_OWN,
    &["mrf/mrf_allocator", "mrf/mrf_collector", "ram/ram_1rw", "ram/ram_1r1w"],
);
/// Those of the register file whose banks are stolen, besides those that it shares with the register file.
const STEAL_OWN: &[&str] = &[
    "steal/steal",
    "steal/steal_collector",
    "steal/steal_candidates",
    "steal/steal_table",
    "steal/steal_dependence",
    "steal/steal_arbiter",
    "steal/steal_return",
];
/// Those of the register file whose banks are stolen.
const STEAL: &[&str] = &joined::<{ STEAL_OWN.len() + 7 }>(
    STEAL_OWN,
    &[
        "mrf/mrf_bank_map",
        "mrf/mrf_write_queue",
        "mrf/mrf_allocator",
        "mrf/mrf_bank",
        "mrf/mrf_crossbar",
        "ram/ram_1rw",
        "ram/ram_1r1w",
    ],
);
/// Those of the operand stage, which has one of them.
pub const OPERAND_STAGE: &[&str] = &joined::<{ 1 + PROVIDERS.len() }>(&["operands/operand_stage"], PROVIDERS);
/// Those of all providers.
const PROVIDERS: &[&str] = &joined::<{ RFC.len() + HIERARCHY.len() + HRF_OWN.len() + STEAL_OWN.len() }>(
    RFC,
    &joined::<{ HIERARCHY.len() + HRF_OWN.len() + STEAL_OWN.len() }>(
        HIERARCHY,
        &joined::<{ HRF_OWN.len() + STEAL_OWN.len() }>(HRF_OWN, STEAL_OWN),
    ),
);

/// Two lists, one behind the other.
pub const fn joined<const N: usize>(first: &[&'static str], second: &[&'static str]) -> [&'static str; N] {
    assert!(first.len() + second.len() == N);
    let mut all = [""; N];
    let mut index = 0;
    while index < N {
        all[index] = if index < first.len() { first[index] } else { second[index - first.len()] };
        index += 1;
    }
    all
}

/// Every block: leaves first, then what is made of them.
pub const BLOCKS: &[Entry] = &[
    entry::<ram::Ram1rw>("ram/ram_1rw", "RAM cell with one port", &["ram/ram_1rw"]),
    entry::<ram::Ram1r1w>("ram/ram_1r1w", "RAM cell with a read and a write port", &["ram/ram_1r1w"]),
    entry::<mrf::MrfBankMap>("mrf/mrf_bank_map", "bank and entry of a register", &["mrf/mrf_bank_map"]),
    entry::<mrf::MrfWriteQueue>("mrf/mrf_write_queue", "result that waits for its bank", &["mrf/mrf_write_queue"]),
    entry::<mrf::MrfAllocator>("mrf/mrf_allocator", "collectors for issue, age, dispatch", &["mrf/mrf_allocator"]),
    entry::<mrf::MrfCollector>("mrf/mrf_collector", "one operand collector", &["mrf/mrf_collector"]),
    entry::<mrf::MrfArbiter>("mrf/mrf_arbiter", "bank arbitration", &["mrf/mrf_arbiter"]),
    entry::<mrf::MrfBank>("mrf/mrf_bank", "one bank", &["mrf/mrf_bank", "ram/ram_1rw", "ram/ram_1r1w"]),
    entry::<mrf::MrfCrossbar>("mrf/mrf_crossbar", "banks to operand latches to dispatch", &["mrf/mrf_crossbar"]),
    entry::<front::Fetch>("front/fetch", "which warp fetches, code memory", &["front/fetch", "ram/ram_1r1w"]),
    entry::<front::Decode>("front/decode", "what an instruction reads and writes, its unit", &["front/decode"]),
    entry::<front::InstructionBuffer>(
        "front/instruction_buffer",
        "decoded instructions that wait for issue",
        &["front/instruction_buffer"],
    ),
    entry::<issue::WarpScheduler>("issue/warp_scheduler", "which warps issue", &["issue/warp_scheduler"]),
    entry::<issue::TwoLevelScheduler>(
        "issue/two_level_scheduler",
        "which warps are active, and which of them issue",
        &["issue/two_level_scheduler"],
    ),
    entry::<issue::AlternatingScheduler>(
        "issue/alternating_scheduler",
        "one warp issues, even and odd ones take turns",
        &["issue/alternating_scheduler"],
    ),
    entry::<issue::SimtStack>(
        "issue/simt_stack",
        "which lanes of a warp execute, where the others wait",
        &["issue/simt_stack", "ram/ram_1r1w"],
    ),
    entry::<issue::IssueStage>(
        "issue/issue_stage",
        "the instruction that issues, with its lanes and predicates",
        &["issue/issue_stage"],
    ),
    entry::<memory::AddressUnit>("memory/address_unit", "the memory instruction at hand", &["memory/address_unit"]),
    entry::<memory::Coalescer>("memory/coalescer", "lanes into lines of 128 bytes", &["memory/coalescer"]),
    entry::<memory::LineTable>("memory/line_table", "lines in flight", &["memory/line_table"]),
    Entry {
        packages: &[FP],
        ..entry::<memory::SharedMemory>(
            "memory/shared_memory",
            "32 banks of four bytes",
            &["memory/shared_memory", "ram/ram_1rw"],
        )
    },
    entry::<memory::ConstantMemory>(
        "memory/constant_memory",
        "parameters and constants",
        &["memory/constant_memory", "ram/ram_1r1w"],
    ),
    entry::<mrf::Mrf>("mrf/mrf", "banked main register file", MRF),
    entry::<rfc::RfcTags>("rfc/rfc_tags", "what the cache holds, what makes room", &["rfc/rfc_tags"]),
    entry::<rfc::RfcData>("rfc/rfc_data", "data of the cache", &["rfc/rfc_data", "ram/ram_1r1w"]),
    entry::<rfc::RfcEvictions>("rfc/rfc_evictions", "values on their way to the banks", &["rfc/rfc_evictions"]),
    entry::<rfc::RfcResults>("rfc/rfc_results", "results to cache or banks", &["rfc/rfc_results"]),
    entry::<rfc::RfcOperands>("rfc/rfc_operands", "operands from cache and banks", &["rfc/rfc_operands"]),
    entry::<rfc::RfcLrf>("rfc/rfc_lrf", "last results above the cache", &["rfc/rfc_lrf"]),
    entry::<rfc::RfcFills>("rfc/rfc_fills", "operands that reads allocate", &["rfc/rfc_fills"]),
    entry::<rfc::Rfc>("rfc/rfc", "register file cache", RFC),
    entry::<hierarchy::HierarchyLevels>(
        "hierarchy/hierarchy_levels",
        "where an instruction's operands are",
        &["hierarchy/hierarchy_levels"],
    ),
    entry::<hierarchy::HierarchyEntries>(
        "hierarchy/hierarchy_entries",
        "what a strand has written, what is under way",
        &["hierarchy/hierarchy_entries"],
    ),
    entry::<hierarchy::HierarchyData>(
        "hierarchy/hierarchy_data",
        "arrays of ORF and LRF",
        &["hierarchy/hierarchy_data", "ram/ram_1r1w"],
    ),
    entry::<hierarchy::HierarchyResults>(
        "hierarchy/hierarchy_results",
        "results to ORF, LRF and banks",
        &["hierarchy/hierarchy_results"],
    ),
    entry::<hierarchy::HierarchyCopies>(
        "hierarchy/hierarchy_copies",
        "operands that are kept in the ORF",
        &["hierarchy/hierarchy_copies"],
    ),
    entry::<hierarchy::HierarchyScoreboard>(
        "hierarchy/hierarchy_scoreboard",
        "heads that use a place that waits",
        &["hierarchy/hierarchy_scoreboard"],
    ),
    entry::<hierarchy::Hierarchy>(
        "hierarchy/hierarchy",
        "ORF and LRF in front of the banks",
        &joined::<{ HIERARCHY.len() + 1 + MRF.len() }>(
            HIERARCHY,
            &joined::<{ 1 + MRF.len() }>(&["rfc/rfc_operands"], MRF),
        ),
    ),
    entry::<hrf::HrfBank>("hrf/hrf_bank", "bank of STT-RAM", &["hrf/hrf_bank", "ram/ram_1rw"]),
    entry::<hrf::HrfBuffer>("hrf/hrf_buffer", "write buffer", &["hrf/hrf_buffer", "ram/ram_1r1w"]),
    entry::<hrf::HrfRcm>("hrf/hrf_rcm", "which registers are in the buffer", &["hrf/hrf_rcm"]),
    entry::<hrf::HrfDrain>("hrf/hrf_drain", "buffer to bank", &["hrf/hrf_drain"]),
    entry::<hrf::HrfLoads>("hrf/hrf_loads", "results for warps that are not active", &["hrf/hrf_loads"]),
    entry::<hrf::HrfPower>("hrf/hrf_power", "power gating of a buffer", &["hrf/hrf_power"]),
    entry::<hrf::HrfResults>("hrf/hrf_results", "results to buffer, queue or bank", &["hrf/hrf_results"]),
    entry::<hrf::HrfReads>("hrf/hrf_reads", "which operands are read", &["hrf/hrf_reads"]),
    entry::<hrf::HrfOperands>("hrf/hrf_operands", "lanes from buffer or bank, operand latches", &["hrf/hrf_operands"]),
    entry::<hrf::Hrf>("hrf/hrf", "hybrid register file", HRF),
    entry::<steal::StealCandidates>(
        "steal/steal_candidates",
        "operands that will be wanted next",
        &["steal/steal_candidates"],
    ),
    entry::<steal::StealCollector>(
        "steal/steal_collector",
        "operand collector of which operands may be on their way",
        &["steal/steal_collector"],
    ),
    entry::<steal::StealTable>("steal/steal_table", "free entries, parked values", &["steal/steal_table"]),
    entry::<steal::StealDependence>("steal/steal_dependence", "who needs a parked value", &["steal/steal_dependence"]),
    entry::<steal::StealArbiter>("steal/steal_arbiter", "who gets a bank, who steals one", &["steal/steal_arbiter"]),
    entry::<steal::StealReturn>("steal/steal_return", "parked values on their way back", &["steal/steal_return"]),
    entry::<steal::Steal>("steal/steal", "register file whose idle banks are stolen", STEAL),
    entry::<execute::Dispatcher>("execute/dispatcher", "operand stage to units", &["execute/dispatcher"]),
    entry::<execute::Alu>("execute/alu", "integers, bits, predicates", &["execute/alu"]),
    Entry { packages: &[FP], ..entry::<execute::FpUnit>("execute/fp_unit", "single precision", &["execute/fp_unit"]) },
    Entry {
        packages: &[FP, SFU_TABLES],
        ..entry::<execute::Sfu>("execute/sfu", "special functions", &["execute/sfu"])
    },
    entry::<execute::ResultQueue>(
        "execute/result_queue",
        "results until their latency is over",
        &["execute/result_queue"],
    ),
    entry::<execute::Writeback>("execute/writeback", "results to buses", &["execute/writeback"]),
    entry::<execute::LaneCrossbar>("execute/lane_crossbar", "shuffles", &["execute/lane_crossbar"]),
    entry::<execute::SpecialRegisters>(
        "execute/special_registers",
        "what S2R reads",
        &["execute/special_registers", "ram/ram_1r1w"],
    ),
    entry::<issue::Scoreboard>("issue/scoreboard", "which heads may issue", &["issue/scoreboard"]),
    entry::<issue::PredicateFile>("issue/predicate_file", "seven predicates a warp", &["issue/predicate_file"]),
    entry::<operands::OperandStage>("operands/operand_stage", "instructions and the register file", OPERAND_STAGE),
    entry::<control::BarrierUnit>("control/barrier_unit", "warps that wait for each other", &["control/barrier_unit"]),
    entry::<control::BlockLauncher>("control/block_launcher", "blocks into the SM", &["control/block_launcher"]),
    Entry {
        // Alone it has as many sources as in the SM.
        twin: |config| erase::<control::FaultUnit>(&SmShape::new(config).with_fault_sources()),
        ..entry::<control::FaultUnit>("control/fault_unit", "the first fault", &["control/fault_unit"])
    },
];

/// The block of that name.
pub fn find(name: &str) -> Option<&'static Entry> {
    BLOCKS.iter().find(|b| b.name == name)
}
