//! The waveform of a range of cycles that the user asked for.

use std::io;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use gpurf_blocks::Declaration;
use gpurf_lockstep::wave::Scopes;
use gpurf_lockstep::{Comparator, WaveFolder};
use verilated::Library;

use super::Settings;

/// Records a range of cycles.
#[derive(Default)]
pub struct Window {
    recording: Option<Recording>,
    error: Option<io::Error>,
}

struct Recording {
    cycles: RangeInclusive<u64>,
    comparator: Comparator,
    folder: WaveFolder,
}

impl Window {
    /// The recording that the settings ask for. `library`: the RTL, if it takes part.
    pub fn new(settings: &Settings, declaration: &Declaration, library: Option<&Library>, scopes: Scopes) -> Self {
        let Some((cycles, parent)) = &settings.wave else { return Self::default() };
        let comparator = Comparator::new(declaration, library);
        match WaveFolder::create(parent, &comparator, scopes) {
            Ok(folder) => {
                Self { recording: Some(Recording { cycles: cycles.clone(), comparator, folder }), error: None }
            }
            Err(error) => Self { recording: None, error: Some(error) },
        }
    }

    /// Whether a cycle is to be recorded.
    pub fn has(&self, cycle: u64) -> bool {
        self.recording.as_ref().is_some_and(|recording| recording.cycles.contains(&cycle))
    }

    /// Records a cycle, if it is in the range.
    pub fn cycle(&mut self, cycle: u64, model: &[u8], rtl: &[u8]) {
        if let Some(Recording { cycles, comparator, folder }) = &mut self.recording
            && cycles.contains(&cycle)
            && let Err(error) = folder.cycle(comparator, cycle, model, rtl)
        {
            self.error = Some(error);
            self.recording = None;
        }
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// When something could not be written, now or earlier.
    pub fn finish(&mut self) -> io::Result<Option<PathBuf>> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let Some(Recording { cycles, comparator, folder }) = self.recording.take() else { return Ok(None) };
        folder.finish(&comparator, &format!("cycles {} to {}, as asked for\n", cycles.start(), cycles.end()))
    }
}
