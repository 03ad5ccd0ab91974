//! A cycle of the SM as the harness records it.

use std::sync::LazyLock;

use gpurf_blocks::mrf::MRF_EVENT;
use gpurf_blocks::view;
use gpurf_sm::{Outputs, SM_EVENT, SmIn, SmOut, SmProbe};

/// Inputs, outputs and compared inner signals of a cycle.
#[derive(Clone, Copy)]
pub struct Cycle<'a> {
    /// Inputs.
    pub inputs: &'a SmIn,
    /// Outputs.
    pub out: &'a SmOut,
    /// Inner nets and registers. Outputs of blocks that are not compared are present only in the model's records.
    pub probe: &'a SmProbe,
}

/// Parts of a record begin at multiples of this.
const ALIGN: usize = 64;

impl<'a> Cycle<'a> {
    /// Makes a view of the two parts of a record.
    pub fn of(inputs: &'a [u8], compared: &'a [u8]) -> Self {
        Self { inputs: view(inputs), out: view(compared), probe: probe_of(compared) }
    }
}

/// The inner signals, from the compared part of a record.
pub fn probe_of(compared: &[u8]) -> &SmProbe {
    view(&compared[size_of::<SmOut>().next_multiple_of(ALIGN)..])
}

/// The mask of those fields of an event word for which a test holds.
pub(crate) fn bits(fields: &[(&str, u32)], test: impl Fn(&str) -> bool) -> u64 {
    fields.iter().fold(0, |word, &(name, bits)| {
        let field = if test(name) { u64::MAX >> (u64::BITS - bits) } else { 0 };
        word << bits | field
    })
}

/// Warps that may issue with respect to dependences, power states and barriers.
pub(crate) fn ready(o: &Outputs) -> u64 {
    o.simt_stack.alive_o & o.power_states.clear_o & !o.barrier_unit.held_o
}

/// Whether the SM made progress: an instruction, a request, an answer, a result, or a word of the host moved on.
pub fn progress(inputs: &SmIn, out: &SmOut) -> bool {
    static SM: LazyLock<u64> =
        LazyLock::new(|| bits(SM_EVENT, |name| !name.contains("stall") && !name.contains("wait")));
    static REGISTERS: LazyLock<u64> =
        LazyLock::new(|| bits(MRF_EVENT, |name| matches!(name, "read" | "write" | "dispatch")));
    let host = inputs.code_we_i | inputs.const_we_i | inputs.launch_valid_i;
    let memory = out.mem_req_valid_o & inputs.mem_req_ready_i | inputs.mem_rsp_valid_i & out.mem_rsp_ready_o;
    host | memory == 1 || out.event_o & *SM != 0 || out.mrf_event_o & *REGISTERS != 0
}

/// Whether a warp begins in the cycle.
pub fn starts(out: &SmOut) -> bool {
    static WARP_START: LazyLock<u64> = LazyLock::new(|| bits(SM_EVENT, |name| name == "warp_start"));
    out.event_o & *WARP_START != 0
}

#[cfg(test)]
mod tests {
    use gpurf_blocks::Ports;

    use super::*;

    /// An event word with one field at 1.
    fn event(fields: &[(&str, u32)], wanted: &str) -> u64 {
        fields.iter().fold(0, |word, &(name, bits)| word << bits | u64::from(name == wanted))
    }

    #[test]
    fn waiting_is_no_progress() {
        let (inputs, out) = (SmIn::zeroed(), SmOut::zeroed());
        assert!(!progress(&inputs, &out));
        for (name, moves) in [("issue", true), ("stall_scoreboard", false), ("line_wait", false), ("line_answer", true)]
        {
            assert_eq!(progress(&inputs, &SmOut { event_o: event(SM_EVENT, name), ..out }), moves, "{name}");
        }
        for (name, moves) in [("write", true), ("issue_stall", false), ("conflict_write", false), ("write_held", false)]
        {
            assert_eq!(progress(&inputs, &SmOut { mrf_event_o: event(MRF_EVENT, name), ..out }), moves, "{name}");
        }
        assert!(starts(&SmOut { event_o: event(SM_EVENT, "warp_start"), ..out }) && !starts(&out));
        let offered = SmOut { mem_req_valid_o: 1, ..out };
        assert!(!progress(&inputs, &offered));
        assert!(progress(&SmIn { mem_req_ready_i: 1, ..inputs }, &offered));
        assert!(progress(&SmIn { const_we_i: 1, ..inputs }, &out));
    }
}
