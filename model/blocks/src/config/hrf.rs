//! The part of a configuration that is about the hybrid register file; see `docs/blocks/hrf.md`.

use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::sm::Number;

/// The hybrid register file: STT-RAM behind write buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HrfConfig {
    /// Shape: the register file is STT-RAM in two banks. Nothing else here means anything without.
    pub stt_ram: bool,
    /// Shape: entries of each write buffer; 0: none.
    pub buffer_entries: usize,
    /// Shape: places of the queue in front of each bank.
    pub load_entries: usize,
    /// Policy: cycles that a bank takes to write.
    pub write_latency: usize,
    /// Policy: cycles that a bank takes to read.
    pub read_latency: usize,
    /// Policy: power gating of the buffers.
    pub gating: bool,
    /// Policy: entries that are always on.
    pub powered_entries: usize,
    /// Policy: cycles until the others have power.
    pub wake_cycles: usize,
    /// Policy: cycles until they are off.
    pub sleep_cycles: usize,
}

impl HrfConfig {
    /// No hybrid file; the paper's sizes for where there is one.
    pub(super) const NONE: Self = Self {
        stt_ram: false,
        buffer_entries: 64,
        load_entries: 8,
        write_latency: 4,
        read_latency: 1,
        gating: false,
        powered_entries: 16,
        wake_cycles: 3,
        sleep_cycles: 3,
    };
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HrfLayer {
    stt_ram: Option<bool>,
    buffer_entries: Option<Spanned<usize>>,
    load_entries: Option<Spanned<usize>>,
    write_latency: Option<Spanned<usize>>,
    read_latency: Option<Spanned<usize>>,
    gating: Option<bool>,
    powered_entries: Option<Spanned<usize>>,
    wake_cycles: Option<Spanned<usize>>,
    sleep_cycles: Option<Spanned<usize>>,
}

impl HrfLayer {
    pub(super) fn apply(self, to: &mut HrfConfig, number: &mut Number<'_>) {
        number("hrf.buffer_entries", self.buffer_entries, &mut to.buffer_entries);
        number("hrf.load_entries", self.load_entries, &mut to.load_entries);
        number("hrf.write_latency", self.write_latency, &mut to.write_latency);
        number("hrf.read_latency", self.read_latency, &mut to.read_latency);
        number("hrf.powered_entries", self.powered_entries, &mut to.powered_entries);
        number("hrf.wake_cycles", self.wake_cycles, &mut to.wake_cycles);
        number("hrf.sleep_cycles", self.sleep_cycles, &mut to.sleep_cycles);
        to.stt_ram = self.stt_ram.unwrap_or(to.stt_ram);
        to.gating = self.gating.unwrap_or(to.gating);
    }
}
