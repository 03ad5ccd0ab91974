//! A loaded model.

use std::ffi::{CString, c_char, c_int, c_void};
use std::fs;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use libloading::os::unix::{RTLD_LOCAL, RTLD_NOW};

use crate::facts::{self, signal_names};
use crate::shim::StateVariable;
use crate::wiring::wiring;
use crate::{Error, MemoryRequest, Request, Result, Toolchain, Wiring, Words};

type Raw = *mut c_void;

/// Reads inputs, expected records, their stride, their number; writes outputs, a sample of the cycle that differs, and the number of cycles done.
type Follow = unsafe extern "C" fn(Raw, *const u8, *const u8, usize, usize, *mut u8, *mut u8, *mut usize) -> c_int;

/// Return codes of the shim: a failure after which a run must not continue; a difference.
const FATAL: c_int = 2;
const DIFFERS: c_int = 3;

/// The entry points of a shared object; the pointers live as long as `_object`.
struct Entry {
    new: unsafe extern "C" fn(u32) -> Raw,
    delete: unsafe extern "C" fn(Raw),
    cycles: unsafe extern "C" fn(Raw, *const u8, *mut u8, usize, usize, *mut usize) -> c_int,
    follow: Follow,
    is_equal: unsafe extern "C" fn(Raw, *const u8, *const u8) -> c_int,
    settle: unsafe extern "C" fn(Raw, *const u8, *mut u8) -> c_int,
    settle_all: unsafe extern "C" fn(Raw, *const u8, *mut u8) -> c_int,
    edge: unsafe extern "C" fn(Raw) -> c_int,
    text: unsafe extern "C" fn(Raw, *mut c_char, usize) -> usize,
    memory: unsafe extern "C" fn(Raw, usize) -> Raw,
    state: unsafe extern "C" fn(Raw, usize) -> Raw,
    coverage: unsafe extern "C" fn(Raw, *const c_char) -> c_int,
    /// Present if comparisons have witnesses.
    comparison: Option<unsafe extern "C" fn(usize, *mut u32, *mut u64) -> c_int>,
    /// Present if branches are counted.
    profile: Option<unsafe extern "C" fn()>,
    _object: libloading::os::unix::Library,
}

/// A built module, loaded. Cheap to clone; it can have any number of instances, in any threads.
#[derive(Clone)]
pub struct Library {
    entry: Arc<Entry>,
    facts: Arc<Facts>,
    knobs: Option<u16>,
    /// Read when it is first used.
    wiring: Arc<OnceLock<Result<Wiring, String>>>,
}

struct Facts {
    module: String,
    /// The request from which it was built.
    request: Request,
    tools: Toolchain,
    /// The elaborated design, which does not depend on the values of knobs. Read when it is first used.
    elaborated: OnceLock<Result<String, String>>,
    input_bytes: usize,
    record_bytes: usize,
    /// Number of elements of each memory, and width of its words.
    memories: Vec<(usize, u32)>,
    absent: Vec<usize>,
    absent_names: Vec<String>,
    state: Vec<StateVariable>,
}

/// Result of the witness of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Width of the operands; 0: the comparison does not exist in this shape, or was not evaluated after the first clock edge.
    pub bits: u32,
    /// The bits, among the lowest 64, in which the operands have once differed while all other bits were equal.
    pub alone: u64,
}

/// A failure that the RTL itself reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RtlFailure {
    /// What the RTL printed.
    pub message: String,
    /// Whether the model cannot continue (a loop that does not settle). If not, a run may continue after the failure, even after `$fatal`.
    pub fatal: bool,
}

impl std::fmt::Display for RtlFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.message.trim_end())
    }
}

impl std::error::Error for RtlFailure {}

impl Library {
    pub(crate) fn load(folder: &Path, tools: &Toolchain, request: &Request) -> Result<Self> {
        let path = folder.join("model.so");
        let facts_path = folder.join("facts");
        let text = fs::read_to_string(&facts_path).map_err(|source| Error::Cache { path: facts_path, source })?;
        let (absent, state) = facts::read(&text);
        let load = |source| Error::Load { path: path.clone(), source };
        // SAFETY: the object was made by this crate from `shim/model.cpp`: the types of its entry points are those of
        // `Entry`, and its initialisers touch nothing outside it.
        let entry = unsafe {
            let object = libloading::os::unix::Library::open(Some(&path), RTLD_NOW | RTLD_LOCAL).map_err(load)?;
            macro_rules! entry {
                ($name:literal) => {
                    *object.get(concat!($name, "\0").as_bytes()).map_err(load)?
                };
            }
            Entry {
                new: entry!("gpurf_new"),
                delete: entry!("gpurf_delete"),
                cycles: entry!("gpurf_cycles"),
                follow: entry!("gpurf_follow"),
                is_equal: entry!("gpurf_is_equal"),
                settle: entry!("gpurf_settle"),
                settle_all: entry!("gpurf_settle_all"),
                edge: entry!("gpurf_edge"),
                text: entry!("gpurf_text"),
                memory: entry!("gpurf_memory"),
                state: entry!("gpurf_state"),
                coverage: entry!("gpurf_coverage"),
                comparison: object.get(b"gpurf_comparison\0").ok().map(|symbol| *symbol),
                profile: object.get(b"gpurf_profile\0").ok().map(|symbol| *symbol),
                _object: object,
            }
        };
        let facts = Facts {
            module: request.declaration.block.to_owned(),
            request: request.clone(),
            tools: tools.clone(),
            elaborated: OnceLock::new(),
            input_bytes: request.declaration.input_bytes,
            record_bytes: request.declaration.record_bytes,
            memories: if request.options.probes { elements(&request.memories) } else { Vec::new() },
            absent_names: signal_names(&request.declaration, &absent),
            absent,
            state,
        };
        Ok(Self { entry: Arc::new(entry), facts: Arc::new(facts), knobs: None, wiring: Arc::default() })
    }

    /// The wiring of the RTL from which the library was built. It is read once, when it is first used.
    ///
    /// # Errors
    /// Why it cannot be read: Verilator's message on the sources in their present state.
    pub fn wiring(&self) -> Result<&Wiring, &str> {
        let Facts { tools, request, elaborated, .. } = &*self.facts;
        let read = || {
            let text = elaborated.get_or_init(|| tools.elaborated(request).map_err(|error| error.to_string()));
            wiring(text.as_ref().map_err(String::clone)?, request, self.knobs.unwrap_or(0))
                .map_err(|error| error.to_string())
        };
        self.wiring.get_or_init(read).as_ref().map_err(String::as_str)
    }

    /// Signals of the declaration (by index) that this RTL lacks: they are not compared.
    pub fn absent(&self) -> &[usize] {
        &self.facts.absent
    }

    /// Results of the witnesses of comparisons, over all instances: see `Options::comparisons`.
    pub fn compared(&self) -> Vec<Compared> {
        let mut all = Vec::new();
        let Some(comparison) = self.entry.comparison else { return all };
        loop {
            let mut compared = Compared::default();
            // SAFETY: an entry point of the object, which `self.entry` keeps loaded; it writes the two numbers.
            if unsafe { comparison(all.len(), &raw mut compared.bits, &raw mut compared.alone) } == 0 {
                return all;
            }
            all.push(compared);
        }
    }

    /// Whether the library has the signals that lockstep compares: see [`Options::probes`](crate::Options::probes).
    pub fn has_probes(&self) -> bool {
        self.facts.request.options.probes
    }

    /// Writes the counts of branches taken by all instances, if branches are counted. After this call nothing is counted.
    pub(crate) fn write_profile(&self) {
        if let Some(write) = self.entry.profile {
            // SAFETY: an entry point of the object, which `self.entry` keeps loaded; it writes files and touches no model.
            unsafe { write() }
        }
    }

    /// Names of the signals that this RTL lacks.
    pub fn absent_names(&self) -> &[String] {
        &self.facts.absent_names
    }

    /// Makes a new model. State that reset does not set is initialised from the seed.
    ///
    /// # Errors
    /// When the RTL fails while it is constructed.
    pub fn instance(&self, seed: u64) -> Result<Instance, RtlFailure> {
        // Verilator takes a positive 31-bit seed and reads 0 as "choose one".
        let seed = (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 34) as u32 + 1;
        // SAFETY: an entry point of the object, which `self.entry` keeps loaded.
        let model = unsafe { (self.entry.new)(seed) };
        if model.is_null() {
            return Err(RtlFailure {
                message: format!("{} failed while it was constructed", self.facts.module),
                fatal: true,
            });
        }
        let mut instance = Instance { model, library: self.clone() };
        if let Some(value) = self.knobs {
            instance.set_knobs(value);
        }
        Ok(instance)
    }

    /// The same library, but its instances start with every knob ([`Options::knobs`](crate::Options::knobs)) at this value. Registers are not changed.
    #[must_use]
    pub fn with_knobs(self, value: u16) -> Self {
        Self { knobs: Some(value), wiring: Arc::default(), ..self }
    }
}

/// The number of elements of each memory, and the width of its words.
fn elements(memories: &[MemoryRequest]) -> Vec<(usize, u32)> {
    memories.iter().map(|m| (m.words * m.bits.div_ceil(u32::BITS) as usize, m.bits)).collect()
}

/// A register of an instance, by name, for audits and knobs.
pub struct StateElement<'a> {
    /// Verilator's name, with `__DOT__` for dots.
    pub name: &'a str,
    /// Width of an element in bits.
    pub bits: u32,
    /// Bytes of an element.
    pub elem_bytes: usize,
    /// All elements.
    pub bytes: &'a mut [u8],
}

/// Result of running a model against expected records.
#[derive(Debug)]
pub struct Followed {
    /// Number of cycles that were equal and whose edges were taken; it includes a cycle that failed to settle.
    pub done: usize,
    /// In the next cycle some bytes differ. The model has settled in that cycle and is in front of its edge: [`Instance::edge`].
    pub differs: bool,
    /// A failure of the RTL, in the last of these cycles.
    pub result: Result<(), RtlFailure>,
}

/// One model of a library.
pub struct Instance {
    model: Raw,
    library: Library,
}

// SAFETY: a model is used by one thread at a time (`&mut self`). The shim sets Verilator's thread context at every entry that evaluates the model; other entries only
// read and write memory that the model owns.
unsafe impl Send for Instance {}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: made by `new`, dropped once.
        unsafe { (self.library.entry.delete)(self.model) }
    }
}

impl Instance {
    /// The library that this model belongs to.
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// Runs `count` cycles over as many consecutive records: takes the inputs from each record, settles, fills in the compared part,
    /// and takes the edge. Returns the number of cycles whose record is filled.
    ///
    /// # Errors
    /// A failure of the RTL (assertion, `$error`, `$fatal`); the cycle in which it happened is the last one counted.
    ///
    /// # Panics
    /// When `records` is shorter than `count` records.
    pub fn cycles(&mut self, records: &mut [u8], count: usize) -> (usize, Result<(), RtlFailure>) {
        let facts = &self.library.facts;
        assert!(records.len() >= count * facts.record_bytes, "a record for each cycle");
        let mut done = 0;
        let base = records.as_mut_ptr();
        // SAFETY: the generated exchange reads and writes within a record from the two pointers, `count` times.
        let status = unsafe {
            (self.library.entry.cycles)(
                self.model,
                base,
                base.add(facts.input_bytes),
                facts.record_bytes,
                count,
                &raw mut done,
            )
        };
        (done, self.outcome(status))
    }

    /// Runs up to `count` cycles over as many consecutive records, each of which has the inputs and the expected values of a cycle: settles,
    /// compares its values with the record, and takes the edge. The comparison is in place: nothing is copied while all is equal.
    ///
    /// It stops before the edge of the first cycle in which bytes differ, and fills the compared part of `actual`. The caller, which has the rules, decides whether
    /// the difference counts. If no bytes differ, the rules find no difference either.
    ///
    /// # Panics
    /// When the records are shorter than `count` records, or `actual` than one.
    pub fn follow(&mut self, records: &[u8], count: usize, actual: &mut [u8]) -> Followed {
        let facts = &self.library.facts;
        assert!(records.len() >= count * facts.record_bytes && actual.len() >= facts.record_bytes, "whole records");
        let (inputs, actual) = (records.as_ptr(), actual.as_mut_ptr());
        // SAFETY: as in `cycles`; expected records are only read, and the sample is one record's compared part.
        unsafe {
            let expected = inputs.add(facts.input_bytes);
            self.follow_from(inputs, expected, count, std::ptr::null_mut(), actual.add(facts.input_bytes))
        }
    }

    /// The same for a single cycle with the inputs of `own`. Its outputs are written to `own`; the rest of `own` is filled only if bytes differ.
    ///
    /// # Panics
    /// When `own` or `expected` is shorter than a record.
    pub fn follow_with(&mut self, own: &mut [u8], expected: &[u8]) -> Followed {
        let facts = &self.library.facts;
        assert!(own.len() >= facts.record_bytes && expected.len() >= facts.record_bytes, "whole records");
        let inputs = own.as_mut_ptr();
        // SAFETY: as in `follow`; the input part of `own` is not written.
        unsafe {
            let (own, expected) = (inputs.add(facts.input_bytes), expected.as_ptr().add(facts.input_bytes));
            self.follow_from(inputs, expected, 1, own, own)
        }
    }

    /// # Safety
    /// The pointers are those of whole parts of records, `count` of them one after another; `outputs` may be null.
    unsafe fn follow_from(
        &mut self,
        inputs: *const u8,
        expected: *const u8,
        count: usize,
        outputs: *mut u8,
        actual: *mut u8,
    ) -> Followed {
        let (stride, mut done) = (self.library.facts.record_bytes, 0);
        // SAFETY: promised by the caller; the generated exchange stays within a record's parts.
        let status = unsafe {
            (self.library.entry.follow)(self.model, inputs, expected, stride, count, outputs, actual, &raw mut done)
        };
        let differs = status == DIFFERS;
        // If the cycle failed while it settled, its edge reports the failure again.
        let result = if differs { Ok(()) } else { self.outcome(status) };
        Followed { done, differs, result }
    }

    /// Whether the compared signals have the values of this record now: call it after [`Instance::settle`] or [`Instance::settle_all`] with the record's inputs.
    /// The comparison is that of [`Instance::follow`].
    ///
    /// # Panics
    /// When `record` is shorter than a record.
    pub fn is_equal(&mut self, record: &[u8]) -> bool {
        assert!(record.len() >= self.library.facts.record_bytes, "a whole record");
        let base = record.as_ptr();
        // SAFETY: as in `follow`.
        unsafe { (self.library.entry.is_equal)(self.model, base, base.add(self.library.facts.input_bytes)) != 0 }
    }

    /// Drives the inputs, settles, and fills the compared part of the record; does not take the edge.
    ///
    /// # Errors
    /// As [`Instance::cycles`].
    ///
    /// # Panics
    /// When `record` is shorter than a record.
    pub fn settle(&mut self, record: &mut [u8]) -> Result<(), RtlFailure> {
        assert!(record.len() >= self.library.facts.record_bytes, "a whole record");
        let base = record.as_mut_ptr();
        // SAFETY: as in `cycles`.
        let status = unsafe { (self.library.entry.settle)(self.model, base, base.add(self.library.facts.input_bytes)) };
        self.outcome(status)
    }

    /// As [`Instance::settle`], after a write to a register ([`Instance::state`]): all combinational logic is evaluated again.
    /// Only for models built with `Options::state`.
    ///
    /// # Errors
    /// As [`Instance::cycles`].
    ///
    /// # Panics
    /// As [`Instance::settle`].
    pub fn settle_all(&mut self, record: &mut [u8]) -> Result<(), RtlFailure> {
        assert!(record.len() >= self.library.facts.record_bytes, "a whole record");
        let base = record.as_mut_ptr();
        // SAFETY: as in `cycles`.
        let status =
            unsafe { (self.library.entry.settle_all)(self.model, base, base.add(self.library.facts.input_bytes)) };
        self.outcome(status)
    }

    /// Takes the edge after [`Instance::settle`].
    ///
    /// # Errors
    /// As [`Instance::cycles`].
    pub fn edge(&mut self) -> Result<(), RtlFailure> {
        // SAFETY: `model` is alive.
        let status = unsafe { (self.library.entry.edge)(self.model) };
        self.outcome(status)
    }

    fn outcome(&mut self, status: c_int) -> Result<(), RtlFailure> {
        if status == 0 {
            return Ok(());
        }
        let mut buffer = vec![0u8; 8192];
        // SAFETY: writes at most as many bytes as the given capacity.
        let length = unsafe { (self.library.entry.text)(self.model, buffer.as_mut_ptr().cast(), buffer.len()) };
        buffer.truncate(length);
        let mut message = String::from_utf8_lossy(&buffer).into_owned();
        if message.is_empty() {
            message = "the RTL stopped without a message".into();
        }
        Err(RtlFailure { message, fatal: status == FATAL })
    }

    /// Number of memories, in the order of the request.
    pub fn memory_count(&self) -> usize {
        self.library.facts.memories.len()
    }

    /// Width of a word of memory `index`.
    ///
    /// # Panics
    /// When there is no such memory.
    pub fn memory_bits(&self, index: usize) -> u32 {
        self.library.facts.memories[index].1
    }

    /// The words of memory `index`; none if the RTL has no such memory (`Options::netlist`).
    ///
    /// # Panics
    /// When there is no such memory.
    pub fn memory(&mut self, index: usize) -> Words<'_> {
        let (elements, bits) = self.library.facts.memories[index];
        // SAFETY: the exchange was generated only after a check that the variable has as many words of as many bits as were requested. Verilator
        // stores each word in 1, 2, 4 or 8 bytes, or in an array of 4-byte words: `elements` of these sizes in total. Nothing else uses it while `self` is borrowed.
        unsafe {
            let base = (self.library.entry.memory)(self.model, index);
            if base.is_null() {
                return Words::Whole(&mut []);
            }
            match bits {
                ..=8 => Words::Bytes(std::slice::from_raw_parts_mut(base.cast(), elements)),
                9..=16 => Words::Halves(std::slice::from_raw_parts_mut(base.cast(), elements)),
                _ => Words::Whole(std::slice::from_raw_parts_mut(base.cast(), elements)),
            }
        }
    }

    fn set_knobs(&mut self, value: u16) {
        for index in 0..self.state_count() {
            let element = self.state(index);
            if !element.name.ends_with("_q") {
                element.bytes.copy_from_slice(&value.to_le_bytes());
            }
        }
    }

    /// Number of writable registers (see `Options::state` and `Options::knobs`).
    pub fn state_count(&self) -> usize {
        self.library.facts.state.len()
    }

    /// Register `index`.
    ///
    /// # Panics
    /// When there is no such register.
    pub fn state(&mut self, index: usize) -> StateElement<'_> {
        let variable = &self.library.facts.state[index];
        // SAFETY: as in `memory`, with the sizes read from the same header.
        let bytes = unsafe {
            let base = (self.library.entry.state)(self.model, index);
            assert!(!base.is_null(), "a register of the model");
            std::slice::from_raw_parts_mut(base.cast(), variable.count * variable.elem_bytes)
        };
        StateElement { name: &variable.name, bits: variable.bits, elem_bytes: variable.elem_bytes, bytes }
    }

    /// Writes the coverage collected so far (by all models of this thread's context). Returns false if the model was built without coverage.
    pub fn write_coverage(&mut self, file: &Path) -> bool {
        let Ok(file) = CString::new(file.as_os_str().as_encoded_bytes()) else { return false };
        // SAFETY: a terminated string; `model` is alive.
        unsafe { (self.library.entry.coverage)(self.model, file.as_ptr()) != 0 }
    }
}
