//! Runs a manifest.

use std::path::PathBuf;

use gpurf_isa::Image;
use gpurf_isa::image::Kernel;
use gpurf_launch::{BufferId, CheckRow, ExpectedFault, Launch, Loop, Manifest, ManifestError, Repetition, Scalar};

use super::loader::{LoadError, Loaded, check, load};
use super::names::named;
use super::print::{PrintBuffers, Printed};
use super::{Engine, KernelLaunch};
use crate::context::Geometry;
use crate::memory::Memory;

/// Why the launches of a manifest do not run to completion.
#[derive(Debug, thiserror::Error)]
pub enum RunError<E: std::error::Error + 'static> {
    /// The engine ended a launch with an error.
    #[error(transparent)]
    Engine(E),
    /// A repeated launch does not finish within its passes.
    #[error("{}: launch {launch} of kernel `{kernel}` leaves a value that is not zero in buffer `{buffer}` after {max} passes, its `max`", manifest.display())]
    Passes {
        /// The manifest.
        manifest: PathBuf,
        /// The launch, from 1.
        launch: usize,
        /// Its kernel.
        kernel: String,
        /// The buffer that decides whether it repeats.
        buffer: String,
        /// The most passes that it may have.
        max: u32,
    },
    /// The last launch does not end with the fault that the manifest expects.
    #[error("{}: the last launch is expected to end with the fault `{expected}`, but {}", manifest.display(), ending(found))]
    Fault {
        /// The manifest.
        manifest: PathBuf,
        /// What it expects.
        expected: Box<ExpectedFault>,
        /// The error that the launch ends with; `None` if it runs to completion.
        found: Option<E>,
    },
}

/// How a launch ends, in words.
fn ending<E: std::fmt::Display>(found: &Option<E>) -> String {
    found
        .as_ref()
        .map_or_else(|| "ends without a fault".to_owned(), |error| format!("ends with another error: {error}"))
}

/// Counts of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RunReport {
    /// Launches, each pass counted.
    pub launches: u64,
}

/// A manifest and an image, loaded: ready to run, in progress, or done.
#[derive(Debug)]
pub struct Session<'a> {
    manifest: &'a Manifest,
    loaded: Loaded,
    /// The kernel of each launch, as an index into the image's kernels.
    kernels: Vec<usize>,
    /// The buffers into which kernels print.
    buffers: PrintBuffers,
    printed: Printed,
}

impl<'a> Session<'a> {
    /// Places buffers and variables, and checks that all launches fit their kernels.
    ///
    /// # Errors
    /// When manifest and image do not match, or a file cannot be read.
    pub fn new(manifest: &'a Manifest, image: &Image) -> Result<Self, LoadError> {
        let mut kernels = Vec::new();
        for launch in &manifest.launches {
            let kernel = named("kernel", &launch.kernel, &image.kernels, |k: &Kernel| &k.name)
                .map_err(|problem| LoadError::at(manifest, &launch.origin, problem))?;
            check(launch, kernel).map_err(|(origin, problem)| LoadError::at(manifest, &origin, problem))?;
            kernels.extend(image.kernels.iter().position(|k| k.name == kernel.name));
        }
        let loaded = load(manifest, image)?;
        let buffers = PrintBuffers::of(&loaded.memory);
        Ok(Self { manifest, loaded, kernels, buffers, printed: Printed::default() })
    }

    /// Runs all launches, in order.
    ///
    /// # Errors
    /// When a launch does not run to completion, or the last one does not end with the fault that the manifest expects.
    pub fn run<E: Engine>(&mut self, engine: &mut E) -> Result<RunReport, RunError<E::Error>> {
        let mut report = RunReport::default();
        let manifest = self.manifest;
        for Loop { launches, repetition } in &manifest.loops {
            let mut once = |this: &mut Self, pass: u32| {
                launches.clone().try_for_each(|number| this.pass(engine, number, pass, &mut report))
            };
            match *repetition {
                Repetition::Times(passes) => (0..passes).try_for_each(|pass| once(self, pass))?,
                Repetition::WhileNonzero { buffer, reset, max } => {
                    let mut pass = 0;
                    loop {
                        self.fill(buffer, reset);
                        once(self, pass)?;
                        if self.bytes(buffer).iter().all(|&byte| byte == 0) {
                            break;
                        }
                        pass += 1;
                        if pass == max {
                            return Err(RunError::Passes {
                                manifest: manifest.path.clone(),
                                launch: launches.end,
                                kernel: manifest.launches[launches.end - 1].kernel.clone(),
                                buffer: manifest.buffer(buffer).name.clone(),
                                max,
                            });
                        }
                    }
                }
            }
        }
        Ok(report)
    }

    /// The launches, in order, each once, for a machine to check whether it can run them: with the grid of the first pass, and parameters that are
    /// not filled in yet.
    pub fn launches(&self) -> impl Iterator<Item = KernelLaunch<'_>> {
        let Loaded { image, constant, .. } = &self.loaded;
        let launches = self.manifest.launches.iter().zip(&self.kernels);
        let last = self.manifest.launches.len() - 1;
        let fault = move |number| self.manifest.fault.filter(|_| number == last);
        launches
            .enumerate()
            .map(move |(number, (launch, &kernel))| kernel_launch(image, constant, launch, kernel, 0, fault(number)))
    }

    fn pass<E: Engine>(
        &mut self,
        engine: &mut E,
        number: usize,
        pass: u32,
        report: &mut RunReport,
    ) -> Result<(), RunError<E::Error>> {
        let (launch, kernel) = (&self.manifest.launches[number], self.kernels[number]);
        let Loaded { image, memory, buffers, constant, addresses } = &mut self.loaded;
        let begin_of = |id: BufferId| memory.buffer(buffers[id.0]).address().into();
        for (argument, parameter) in launch.args.iter().zip(&image.kernels[kernel].parameters) {
            let bytes = argument.bytes(pass, &begin_of);
            constant[parameter.offset as usize..][..bytes.len()].copy_from_slice(&bytes);
        }
        // The last launch, which has no repetition, ends with the expected fault.
        let is_last = number + 1 == self.manifest.launches.len();
        let fault = self.manifest.fault.filter(|_| is_last);
        self.buffers.prepare(&image.kernels[kernel], memory);
        let described = kernel_launch(image, constant, launch, kernel, pass, fault);
        let ended = engine.launch(&described, memory);
        // Output is collected however the launch ends.
        let KernelLaunch { kernel, geometry, constant, .. } = described;
        self.buffers.print(kernel, &geometry, (memory, constant), addresses, &mut self.printed);
        report.launches += 1;
        let wrong = |expected, found| {
            let (manifest, expected) = (self.manifest.path.clone(), Box::new(expected));
            Err(RunError::Fault { manifest, expected, found })
        };
        match (fault.and_then(E::expects), ended) {
            (None, ended) => ended.map_err(RunError::Engine),
            (Some(expected), Ok(())) => wrong(expected, None),
            (Some(expected), Err(error)) => match E::reported(&error) {
                Some(found) if found.is_expected(&expected) => Ok(()),
                Some(_) => wrong(expected, Some(error)),
                None => Err(RunError::Engine(error)),
            },
        }
    }

    fn fill(&mut self, buffer: BufferId, value: Scalar) {
        let len = self.manifest.buffer(buffer).len as usize;
        self.loaded.memory.write(self.loaded.buffers[buffer.0], &value.bytes().repeat(len));
    }

    /// The bytes of a buffer of the manifest.
    pub fn bytes(&self, buffer: BufferId) -> Vec<u8> {
        self.loaded.memory.read(self.loaded.buffers[buffer.0])
    }

    /// What the kernels have printed so far.
    pub fn printed(&self) -> &Printed {
        &self.printed
    }

    /// Global memory.
    pub fn memory(&self) -> &Memory {
        &self.loaded.memory
    }

    /// Evaluates the manifest's checks on the present contents of the buffers.
    ///
    /// # Errors
    /// When a file of expected bytes cannot be read.
    pub fn checks(&self) -> Result<Vec<CheckRow>, ManifestError> {
        let buffers: Vec<Vec<u8>> = (0..self.manifest.buffers.len()).map(|i| self.bytes(BufferId(i))).collect();
        self.manifest.evaluate(|id| &buffers[id.0])
    }
}

/// Describes a launch for an engine.
fn kernel_launch<'a>(
    image: &'a Image,
    constant: &'a [u8],
    launch: &Launch,
    kernel: usize,
    pass: u32,
    fault: Option<ExpectedFault>,
) -> KernelLaunch<'a> {
    let kernel = &image.kernels[kernel];
    let has_variables = constant.len() > image.parameter_space() as usize;
    // Without variables the constant space ends after the parameters, so that reads beyond them are detected.
    let end = if has_variables { constant.len() } else { kernel.parameter_bytes() as usize };
    let geometry = Geometry { grid: launch.grid_in(pass), block: launch.block, dynamic_shared: launch.dynamic_shared };
    KernelLaunch { kernel, source: &image.source, geometry, constant: &constant[..end], fault }
}
