//! The RTL of the SM alone.

use std::io;
use std::path::PathBuf;

use gpurf_blocks::Declaration;
use gpurf_lockstep::{RESET_CYCLES, Records, Side};
use gpurf_oracle::Memory;
use gpurf_oracle::host::{Engine, KernelLaunch, ReportedFault};
use verilated::{Instance, Library, RtlFailure};

use super::super::{LaunchError, Machine, Settings, Statistics};
use super::{Halt, Other, Solo, fault};
use crate::job::Job;
use crate::trace::Trace;

/// The RTL of the SM alone, under Verilator. Its inner signals are not read, so errors have less detail than with other engines.
pub struct RtlEngine {
    solo: Solo<Instance>,
    /// The SM that is the reference of the throttle, if the configuration has one.
    other: Option<Other>,
}

impl RtlEngine {
    /// An SM that has just been reset, built from [`request`](crate::request); a waveform and a trace show the signals of the build.
    ///
    /// # Errors
    /// When the RTL fails under reset.
    pub fn new(settings: Settings, library: &Library) -> Result<Self, RtlFailure> {
        let declaration = (gpurf_sm::ENTRY.twin)(&settings.config).declaration().clone();
        let mut rtl = library.instance(settings.seed)?;
        reset(&mut rtl, &declaration)?;
        let other = Other::new(&settings);
        let solo = Solo::new(settings, rtl, &declaration, Some(library), Side::Rtl);
        Ok(Self { solo, other })
    }

    /// Sets all variables that were built to be writable ([`verilated::Options::knobs`]) to this value.
    ///
    /// # Panics
    /// When one of them does not have eight bits.
    pub fn set_knobs(&mut self, value: u8) {
        let rtl = &mut self.solo.runner;
        (0..rtl.state_count()).for_each(|index| rtl.state(index).bytes.copy_from_slice(&[value]));
    }
}

fn reset(rtl: &mut Instance, declaration: &Declaration) -> Result<(), RtlFailure> {
    let mut record = Records::zeroed(declaration.record_bytes, 1);
    (0..RESET_CYCLES).try_for_each(|_| rtl.cycles(record.all_mut(), 1).1)
}

impl Engine for RtlEngine {
    type Error = LaunchError;

    fn launch(&mut self, launch: &KernelLaunch<'_>, memory: &mut Memory) -> Result<(), LaunchError> {
        let job = Job::new(&self.solo.settings.config, launch)?;
        let reference = self.other.as_mut().map_or_else(Vec::new, |other| other.run(&job, memory));
        self.solo.begin(launch);
        let ended = self.solo.run(job, std::mem::take(memory), reference, None);
        self.solo.end(&ended);
        *memory = self.solo.surroundings.take_buffers();
        let end = match ended {
            Ok(end) => end,
            Err(Halt::Hung(since)) => return Err(self.solo.hang(launch, since, Vec::new())),
            Err(Halt::Rtl(failure)) => return Err(self.solo.broken(&failure)),
            Err(Halt::Interrupted) => return Err(LaunchError::Interrupted),
            Err(Halt::Reached) => unreachable!("only the model ends early"),
        };
        fault(&end, launch, memory, None, None).map_or(Ok(()), |fault| Err(LaunchError::Fault(Box::new(fault))))
    }

    fn reported(error: &LaunchError) -> Option<ReportedFault> {
        error.reported()
    }
}

impl Machine for RtlEngine {
    fn statistics(&self) -> Statistics {
        self.solo.statistics()
    }

    fn trace(&mut self, trace: Trace) {
        self.solo.trace = Some(trace);
    }

    fn take_trace(&mut self) -> Option<Trace> {
        self.solo.trace.take()
    }

    fn finish_wave(&mut self) -> io::Result<Option<PathBuf>> {
        self.solo.window.finish()
    }
}
