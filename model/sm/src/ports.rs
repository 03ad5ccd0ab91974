//! The ports of the SM: `docs/blocks/sm.md`.

use gpurf_blocks::cache::CACHE_EVENT;
use gpurf_blocks::design::{DESIGN_CFG_BITS, DESIGN_EVENT_BITS, DESIGN_EVENTS, EventWord};
use gpurf_blocks::issue::{ALTERNATING_EVENT, TWO_LEVEL_EVENT};
use gpurf_blocks::mrf::MRF_EVENT;
use gpurf_blocks::power::{POWER_COUNT_EVENT, POWER_EVENT};
use gpurf_blocks::shape::{SM_CFG_BITS, Shared, SmShape};
use gpurf_blocks::share::{SCRATCHPAD_EVENT, SHARE_COUNT_EVENT, THROTTLE_COUNT_BITS};
use gpurf_blocks::unified::UNIFIED_CACHE_EVENT;
use gpurf_blocks::{Decode, LANES, WARP_BITS, WarpData, Wide, field, ports};

/// Fields of `sm_event_t`, most significant first.
pub const SM_EVENT: &[(&str, u32)] = &[
    ("fetch", 2),
    ("issue", 2),
    ("issue_lanes", 7),
    ("stall_empty", 2),
    ("stall_barrier", 2),
    ("stall_fetch", 2),
    ("stall_scoreboard", 2),
    ("stall_inactive", 2),
    ("stall_collector", 2),
    ("stall_other", 2),
    ("alu", 2),
    ("fp", 2),
    ("sfu", 1),
    ("constants", 1),
    ("memory", 1),
    ("barrier", 1),
    ("barrier_open", 1),
    ("line", 1),
    ("line_lanes", 6),
    ("line_wait", 1),
    ("shared", 1),
    ("shared_lanes", 6),
    ("shared_conflict", 1),
    ("constant", 1),
    ("constant_conflict", 1),
    ("constant_wait", 1),
    ("shuffle", 1),
    ("special", 1),
    ("result_wait", 4),
    ("warp_start", 1),
    ("line_answer", 1),
];

/// Fields of `scheduler_event_o`: those of the SM's scheduler.
pub fn scheduler_event(shape: &SmShape) -> EventWord {
    match (shape.active, shape.alternate) {
        (0, _) => &[],
        (_, false) => TWO_LEVEL_EVENT,
        (_, true) => ALTERNATING_EVENT,
    }
}

/// Words of `power_event_o`.
pub const POWER_EVENTS: usize = 2;

/// Fields of `power_event_o`: none where registers have no power states.
pub fn power_events(shape: &SmShape) -> &'static [EventWord; POWER_EVENTS] {
    match shape.power_entries {
        0 => &[&[], &[]],
        _ => &[POWER_EVENT, POWER_COUNT_EVENT],
    }
}

/// Fields of `share_event_o`: none where blocks share nothing.
pub fn share_event(shape: &SmShape) -> EventWord {
    match shape.share {
        Shared::Nothing => &[],
        Shared::Registers => SHARE_COUNT_EVENT,
        Shared::Scratchpad => SCRATCHPAD_EVENT,
    }
}

/// Fields of `cache_event_o`, those of unified memory above those of the cache: none where there is no data cache.
pub fn cache_event(shape: &SmShape) -> EventWord {
    match (shape.caches(), shape.unified()) {
        (false, _) => &[],
        (true, false) => CACHE_EVENT,
        (true, true) => UNIFIED_CACHE_EVENT,
    }
}

/// The ports that only a data cache uses.
pub(crate) const CACHE_PORTS: &[&str] = &["mem_rsp_present_i"];

/// The ports that only unified memory uses.
pub(crate) const UNIFIED_PORTS: &[&str] = &["launch_register_rows_i", "launch_shared_rows_i", "launch_cache_i"];

/// The ports that only a throttle with an external reference uses.
pub(crate) const THROTTLE_PORTS: &[&str] = &["throttle_reference_valid_i", "throttle_reference_i"];

/// Width of the event word.
const SM_EVENT_BITS: u32 = {
    let (mut bits, mut i) = (0, 0);
    while i < SM_EVENT.len() {
        bits += SM_EVENT[i].1;
        i += 1;
    }
    bits
};

ports! {
    /// Inputs of [`Sm`].
    pub struct SmIn(s: &SmShape) {
        /// An answer of memory: a line, or a word for each lane.
        mem_rsp_data_i: WarpData = field(1024).valid_by("mem_rsp_valid_i"),
        /// The machine's time in this cycle.
        time_i: u64 = field(64),
        /// Operation word of an instruction to write.
        code_op_i: u64 = field(64).valid_by("code_we_i"),
        /// Control word of an instruction to write.
        code_ctl_i: u64 = field(64).valid_by("code_we_i"),
        /// Constant to write.
        const_data_i: u32 = field(32).valid_by("const_we_i"),
        /// Straps: `sm_straps_t`.
        cfg_i: u64 = field(SM_CFG_BITS),
        /// Straps of the register file's design.
        design_cfg_i: Wide<4> = field(DESIGN_CFG_BITS),
        /// Blocks of the grid in x.
        launch_grid_x_i: u32 = field(32).valid_by("launch_valid_i"),
        /// Bytes of shared memory of a block.
        launch_shared_i: u32 = field(17).valid_by("launch_valid_i"),
        /// Bytes of shared memory of a block that are private to a guest.
        launch_private_shared_i: u32 = field(17).valid_by("launch_valid_i"),
        /// Bytes of dynamic shared memory of a block.
        launch_dynamic_i: u32 = field(17).valid_by("launch_valid_i"),
        /// Rows of the banks for registers.
        launch_register_rows_i: u16 = field(11).valid_by("launch_valid_i").when(s.unified()),
        /// Rows of the banks for scratchpad memory.
        launch_shared_rows_i: u16 = field(11).valid_by("launch_valid_i").when(s.unified()),
        /// Address of the instruction that the host writes.
        code_addr_i: u32 = field(s.code_w()).valid_by("code_we_i"),
        /// Address of the constant that the host writes.
        const_addr_i: u16 = field(s.const_w()).valid_by("const_we_i"),
        /// Blocks of the grid in y.
        launch_grid_y_i: u16 = field(16).valid_by("launch_valid_i"),
        /// Blocks of the grid in z.
        launch_grid_z_i: u16 = field(16).valid_by("launch_valid_i"),
        /// Threads of a block in x.
        launch_block_x_i: u16 = field(11).valid_by("launch_valid_i"),
        /// Threads of a block in y.
        launch_block_y_i: u16 = field(11).valid_by("launch_valid_i"),
        /// Threads of a block.
        launch_threads_i: u16 = field(11).valid_by("launch_valid_i"),
        /// Words of local memory of a thread.
        launch_local_i: u16 = field(16).valid_by("launch_valid_i"),
        /// Synchronous reset, active low.
        rst_ni: u8 = field(1),
        /// The host writes an instruction.
        code_we_i: u8 = field(1),
        /// The host writes a constant.
        const_we_i: u8 = field(1),
        /// A grid is offered.
        launch_valid_i: u8 = field(1),
        /// Threads of a block in z.
        launch_block_z_i: u8 = field(7).valid_by("launch_valid_i"),
        /// Registers of a thread.
        launch_registers_i: u8 = field(8).valid_by("launch_valid_i"),
        /// Logarithm of the number of the cache's lines; 0: no cache.
        launch_cache_i: u8 = field(4).valid_by("launch_valid_i").when(s.unified()),
        /// Guests may be added.
        launch_share_i: u8 = field(1).valid_by("launch_valid_i"),
        /// Registers of a thread that are private to a guest.
        launch_private_i: u8 = field(8).valid_by("launch_valid_i"),
        /// Stalls of the throttle's reference, another SM, in the period that is in progress.
        throttle_reference_i: u32 =
            field(THROTTLE_COUNT_BITS).valid_by("throttle_reference_valid_i").when(s.has_external_reference()),
        /// There is such a reference.
        throttle_reference_valid_i: u8 = field(1).when(s.has_external_reference()),
        /// Memory takes the request.
        mem_req_ready_i: u8 = field(1),
        /// Memory answers.
        mem_rsp_valid_i: u8 = field(1),
        /// The answer says that there is no such place.
        mem_rsp_fault_i: u8 = field(1).valid_by("mem_rsp_valid_i"),
        /// Bytes of the answer's line that exist, from its beginning.
        mem_rsp_present_i: u8 = field(8).valid_by("mem_rsp_valid_i").when(s.caches()),
    }
}

ports! {
    /// Outputs of [`Sm`].
    pub struct SmOut(s: &SmShape) {
        /// Source c of each lane.
        mem_req_data_o: WarpData =
            field(1024).valid_by("mem_req_valid_o").early().shows_when(!s.caches(), "u_coalescer.data_q"),
        /// Source b of each lane, for CAS.
        mem_req_compare_o: WarpData =
            field(1024).valid_by("mem_req_valid_o").early().shows_when(!s.caches(), "u_coalescer.compare_q"),
        /// Events: `sm_event_t`.
        event_o: u64 = field(SM_EVENT_BITS).shown(Decode::Packed(SM_EVENT)),
        /// Events of the register file: `mrf_event_t`.
        mrf_event_o: u64 = field(50).shown(Decode::Packed(MRF_EVENT)),
        /// Event words of the register file's design (docs/designs.md).
        design_event_o: [u64; DESIGN_EVENTS] =
            field(DESIGN_EVENT_BITS).count(DESIGN_EVENTS).shown(Decode::PackedEach(s.organisation.design().events)),
        /// Events of the scheduler: `two_level_event_t` or `alternating_event_t`; 0 with the single-level one.
        scheduler_event_o: u64 = field(DESIGN_EVENT_BITS).shown(Decode::Packed(scheduler_event(s))),
        /// Events of power states: `power_event_t` and `power_count_event_t`; 0 where registers have none.
        power_event_o: [u64; POWER_EVENTS] =
            field(DESIGN_EVENT_BITS).count(POWER_EVENTS).shown(Decode::PackedEach(power_events(s))),
        /// Events of locks, below them those of the throttle: `share_count_event_t`; with scratchpad memory `scratchpad_event_t`; 0 where blocks share nothing.
        share_event_o: u64 = field(DESIGN_EVENT_BITS).shown(Decode::Packed(share_event(s))),
        /// Events of the data cache: `cache_event_t`; 0 where there is none.
        cache_event_o: u64 = field(DESIGN_EVENT_BITS).shown(Decode::Packed(cache_event(s))),
        /// Line of a request; the top bit: local memory.
        mem_req_line_o: u32 =
            field(26).valid_by("mem_req_valid_o").early().shows_when(!s.caches(), "u_coalescer.line_q"),
        /// Lanes of the request.
        mem_req_mask_o: u32 =
            field(32).valid_by("mem_req_valid_o").early().shows_when(!s.caches(), "u_coalescer.mask_q"),
        /// Value of a fault.
        fault_value_o: u32 = field(32).valid_by("fault_o").early().shows("u_fault_unit.value_q"),
        /// Place of each lane's first byte in the line.
        mem_req_offset_o: [u8; LANES] =
            field(7).count(LANES).valid_by("mem_req_valid_o").early().shows_when(!s.caches(), "u_coalescer.offset_q"),
        /// A grid is in progress.
        busy_o: u8 = field(1).early(),
        /// The grid has ended.
        done_o: u8 = field(1).early().shows("u_block_launcher.done_q"),
        /// A fault has occurred.
        fault_o: u8 = field(1).early().shows("u_fault_unit.fault_q"),
        /// Warp at fault.
        fault_warp_o: u8 = field(WARP_BITS).valid_by("fault_o").early().shows("u_fault_unit.warp_q"),
        /// Cause of the fault.
        fault_cause_o: u8 = field(4).valid_by("fault_o").early().shows("u_fault_unit.cause_q"),
        /// A request is offered.
        mem_req_valid_o: u8 = field(1).early().shows_when(!s.caches(), "u_coalescer.req_valid_q"),
        /// Kind of access: 0 load, 1 store, 2 atomic operation.
        mem_req_kind_o: u8 =
            field(2).valid_by("mem_req_valid_o").early().shows_when(!s.caches(), "u_coalescer.kind_q"),
        /// Atomic operation.
        mem_req_atomic_o: u8 =
            field(4).valid_by("mem_req_valid_o").early().shows_when(!s.caches(), "u_coalescer.atomic_q"),
        /// Bytes of each lane, as a power of two.
        mem_req_size_o: u8 =
            field(2).valid_by("mem_req_valid_o").early().shows_when(!s.caches(), "u_coalescer.size_q"),
        /// An answer is expected.
        mem_req_answer_o: u8 =
            field(1).valid_by("mem_req_valid_o").early().shows_when(!s.caches(), "u_coalescer.answer_q"),
        /// The whole line is wanted.
        mem_req_whole_o: u8 = field(1).valid_by("mem_req_valid_o").early(),
        /// Warp of the request.
        mem_req_warp_o: u8 =
            field(WARP_BITS).valid_by("mem_req_valid_o").early().shows_when(!s.caches(), "u_coalescer.warp_q"),
        /// An answer is taken.
        mem_rsp_ready_o: u8 = field(1).early(),
    }
}
