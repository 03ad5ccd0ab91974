//! `libgpurf`: the model for testbenches in C, C++, SystemVerilog and Python.
//!
//! `docs/library.md` describes the interface; `include/gpurf.h` is generated from this file. All of its behaviour is in [`mod@bench`], in safe Rust;
//! this file only converts pointers and texts of C.
//!
//! # Safety
//! The caller of each function of the C interface guarantees: a block or state comes from this library and has not been freed, it is used by one
//! thread at a time, texts end with a zero, and arrays have the stated number of elements. A null pointer in place of a block is an error, not
//! undefined behaviour.

// The rules are the same for all functions, and are stated once, above.
#![allow(clippy::missing_safety_doc)]
#![allow(non_camel_case_types)]

pub mod bench;
pub mod vector;

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr::{null, null_mut};
use std::str::Utf8Error;
use std::sync::OnceLock;

use bench::{Bench, BenchError, State};
use gpurf_blocks::Role;

/// Version of this interface: it changes when a function changes its meaning or is removed.
pub const GPURF_ABI: u32 = 1;
/// Role of a signal: set by the testbench.
pub const GPURF_INPUT: u32 = 0;
/// Role of a signal: an output port.
pub const GPURF_OUTPUT: u32 = 1;
/// Role of a signal: a net or register inside the block.
pub const GPURF_PROBE: u32 = 2;
/// Words of 32 bits in a chunk of a vector: 1024 bits.
pub const GPURF_CHUNK: usize = 32;

/// A block of the model.
pub struct gpurf_block {
    bench: Bench,
    block_name: CString,
    signals: Vec<Texts>,
    parameters: Vec<(CString, u64)>,
    memories: Vec<(CString, u32, usize)>,
    /// The text that was returned last: it is valid until the next one.
    text: CString,
}

/// Texts of a signal.
struct Texts {
    name: CString,
    meaning: CString,
}

/// A state of a block.
pub struct gpurf_state {
    saved: State,
}

/// Description of a signal.
#[repr(C)]
pub struct gpurf_signal_info {
    /// Name of the port; of a probe the path inside the block. It lives as long as the block.
    name: *const c_char,
    /// What it means. It lives as long as the block.
    meaning: *const c_char,
    /// GPURF_INPUT, GPURF_OUTPUT or GPURF_PROBE.
    role: u32,
    /// Width of an element in bits.
    bits: u32,
    /// Number of elements.
    elements: u32,
    /// 1: an unpacked array in the RTL.
    is_array: u32,
}

/// Description of a memory.
#[repr(C)]
pub struct gpurf_memory_info {
    /// Path of the array inside the block. It lives as long as the block.
    path: *const c_char,
    /// Width of a word in bits.
    bits: u32,
    /// Number of words.
    words: u64,
}

/// A situation that the block's page describes.
#[repr(C)]
pub struct gpurf_point_info {
    /// Its name. It lives until the next function that gives a text for the block.
    name: *const c_char,
    /// How often it was reached.
    count: u64,
}

thread_local! {
    static ERROR: RefCell<CString> = RefCell::default();
}

fn c_string(text: impl Into<Vec<u8>>) -> CString {
    let mut bytes = text.into();
    bytes.retain(|&byte| byte != 0);
    CString::new(bytes).unwrap_or_default()
}

/// Why a function fails.
#[derive(Debug, thiserror::Error)]
enum CallError {
    /// A pointer of the caller is null; the text says which.
    #[error("{0}")]
    Null(&'static str),
    #[error("a text is not UTF-8")]
    NotUtf8(#[from] Utf8Error),
    #[error(transparent)]
    Bench(#[from] BenchError),
}

/// Runs a function of the interface. If it fails, keeps the text of its error and returns `failed`.
fn call<T>(failed: T, work: impl FnOnce() -> Result<T, CallError>) -> T {
    work().unwrap_or_else(|error| {
        ERROR.with(|last| *last.borrow_mut() = c_string(error.to_string()));
        failed
    })
}

/// As [`call`], for a function that returns 0, or -1 for an error.
fn status(work: impl FnOnce() -> Result<(), CallError>) -> c_int {
    call(-1, || work().map(|()| 0))
}

/// The text of a caller. A null pointer is an empty text.
unsafe fn text<'a>(text: *const c_char) -> Result<&'a str, CallError> {
    if text.is_null() {
        return Ok("");
    }
    // SAFETY: the caller's text ends with a zero and lives during the call.
    Ok(unsafe { CStr::from_ptr(text) }.to_str()?)
}

/// The block of a pointer, which may be null.
unsafe fn block<'a>(block: *mut gpurf_block) -> Result<&'a mut gpurf_block, CallError> {
    let null = "the block is a null pointer: gpurf_new failed, and gpurf_error said why";
    // SAFETY: it comes from `gpurf_new` and is used by one thread at a time.
    unsafe { block.as_mut() }.ok_or(CallError::Null(null))
}

const NO_WORDS: CallError = CallError::Null("the array of words is a null pointer");

/// An array of the caller's.
unsafe fn words<'a>(words: *const u32, count: usize) -> Result<&'a [u32], CallError> {
    if words.is_null() {
        return Err(NO_WORDS);
    }
    // SAFETY: the caller has so many words there.
    Ok(unsafe { std::slice::from_raw_parts(words, count) })
}

/// An array of the caller's that is written.
unsafe fn words_mut<'a>(words: *mut u32, count: usize) -> Result<&'a mut [u32], CallError> {
    if words.is_null() {
        return Err(NO_WORDS);
    }
    // SAFETY: the caller has so many words there, and nothing else uses them during the call.
    Ok(unsafe { std::slice::from_raw_parts_mut(words, count) })
}

/// The element of a list, or the error that there is none.
fn nth<'a, T>(block: &'static str, what: &'static str, list: &'a [T], index: u32) -> Result<&'a T, BenchError> {
    list.get(index as usize).ok_or(BenchError::NoSuch { block, what, index: index.into(), count: list.len() })
}

/// Words that hold a number of 64 bits.
fn pair(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

type Names = Vec<(CString, CString)>;

fn catalogue() -> &'static Names {
    static BLOCKS: OnceLock<Names> = OnceLock::new();
    BLOCKS.get_or_init(|| gpurf_sm::all().map(|entry| (c_string(entry.name), c_string(entry.summary))).collect())
}

/// The version of this interface, GPURF_ABI when the library was built.
#[unsafe(no_mangle)]
pub extern "C" fn gpurf_abi() -> u32 {
    GPURF_ABI
}

/// The version of gpurf, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn gpurf_version() -> *const c_char {
    const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a version has no zero in it"),
    };
    VERSION.as_ptr()
}

/// Why the last function of this thread that failed did so. The text lives until another one fails.
#[unsafe(no_mangle)]
pub extern "C" fn gpurf_error() -> *const c_char {
    ERROR.with(|error| error.borrow().as_ptr())
}

/// Number of blocks that can be created.
#[unsafe(no_mangle)]
pub extern "C" fn gpurf_blocks() -> u32 {
    catalogue().len() as u32
}

/// Name of a block by its number. Null: there is no such block.
#[unsafe(no_mangle)]
pub extern "C" fn gpurf_block_name(index: u32) -> *const c_char {
    catalogue().get(index as usize).map_or(null(), |names| names.0.as_ptr())
}

/// One line on what a block does, by its number. Null: there is no such block.
#[unsafe(no_mangle)]
pub extern "C" fn gpurf_block_summary(index: u32) -> *const c_char {
    catalogue().get(index as usize).map_or(null(), |names| names.1.as_ptr())
}

/// Creates a block, in the state after reset. `preset`: a preset's name or the path of a configuration (*.toml), null or empty: the
/// default. `settings`: KEY=VALUE, separated by spaces, or null. Null: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_new(
    name: *const c_char,
    preset: *const c_char,
    settings: *const c_char,
) -> *mut gpurf_block {
    call(null_mut(), || {
        // SAFETY: texts of the caller.
        let mut bench = unsafe { Bench::new(text(name)?, text(preset)?, text(settings)?) }?;
        let declaration = bench.declaration();
        let parameters = declaration.parameters.iter().map(|&(name, value)| (c_string(name), value)).collect();
        let signals = declaration.signals.iter().map(|signal| Texts {
            name: c_string(format!("{}{}", signal.field.scope, signal.field.name)),
            meaning: c_string(signal.field.doc),
        });
        let signals = signals.collect();
        let block_name = c_string(declaration.block);
        let memories = bench.memories().into_iter().map(|(path, bits, words)| (c_string(path), bits, words)).collect();
        let text = CString::default();
        Ok(Box::into_raw(Box::new(gpurf_block { bench, block_name, signals, parameters, memories, text })))
    })
}

/// Frees a block. A null pointer is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_free(block: *mut gpurf_block) {
    if !block.is_null() {
        // SAFETY: it comes from `gpurf_new` and is not used again.
        drop(unsafe { Box::from_raw(block) });
    }
}

/// Name of the block's module. Null: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_name(handle: *mut gpurf_block) -> *const c_char {
    // SAFETY: the caller's block.
    call(null(), || Ok(unsafe { block(handle) }?.block_name.as_ptr()))
}

/// Number of parameters of the RTL module that the configuration sets. -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_parameters(handle: *mut gpurf_block) -> c_int {
    // SAFETY: the caller's block.
    call(-1, || Ok(unsafe { block(handle) }?.parameters.len() as c_int))
}

/// A parameter by its number: the name, which lives as long as the block, and the value. -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_parameter(
    handle: *mut gpurf_block,
    index: u32,
    name: *mut *const c_char,
    value: *mut u64,
) -> c_int {
    status(|| {
        // SAFETY: the caller's block.
        let block = unsafe { block(handle) }?;
        let found = nth(block.bench.declaration().block, "parameter", &block.parameters, index)?;
        // SAFETY: places of the caller's, or null.
        unsafe { give(name, found.0.as_ptr()) };
        // SAFETY: likewise.
        unsafe { give(value, found.1) };
        Ok(())
    })
}

/// Writes a result to an address of the caller's, unless it is null.
unsafe fn give<T>(to: *mut T, value: T) {
    if !to.is_null() {
        // SAFETY: a place of the caller's for a value of this type.
        unsafe { to.write(value) };
    }
}

/// Number of signals: inputs, outputs, probes. -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_signals(handle: *mut gpurf_block) -> c_int {
    // SAFETY: the caller's block.
    call(-1, || Ok(unsafe { block(handle) }?.signals.len() as c_int))
}

/// Number of the signal of a name: a port's, or the path of a probe. -1: there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_signal(handle: *mut gpurf_block, name: *const c_char) -> c_int {
    // SAFETY: the caller's block and text.
    call(-1, || Ok(unsafe { block(handle)?.bench.find(text(name)?) }? as c_int))
}

/// Describes a signal, by its number. -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_describe_signal(
    handle: *mut gpurf_block,
    index: u32,
    info: *mut gpurf_signal_info,
) -> c_int {
    status(|| {
        // SAFETY: the caller's block.
        let block = unsafe { block(handle) }?;
        let declaration = block.bench.declaration();
        let signal = nth(declaration.block, "signal", &declaration.signals, index)?;
        let texts = &block.signals[index as usize];
        let role = match signal.role {
            Role::Input => GPURF_INPUT,
            Role::Output => GPURF_OUTPUT,
            Role::Probe => GPURF_PROBE,
        };
        let described = gpurf_signal_info {
            name: texts.name.as_ptr(),
            meaning: texts.meaning.as_ptr(),
            role,
            bits: signal.field.bits,
            elements: signal.field.count as u32,
            is_array: signal.field.array.into(),
        };
        // SAFETY: a place of the caller's, or null.
        unsafe { give(info, described) };
        Ok(())
    })
}

/// Sets an element of an input of at most 64 bits. -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_set(handle: *mut gpurf_block, signal: u32, element: u32, value: u64) -> c_int {
    // SAFETY: the caller's block.
    status(|| Ok(unsafe { block(handle) }?.bench.set(signal as usize, element as usize, &pair(value))?))
}

/// Sets an element of an input of any width, from `count` words of 32 bits, the lowest first. -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_set_words(
    handle: *mut gpurf_block,
    signal: u32,
    element: u32,
    from: *const u32,
    count: u32,
) -> c_int {
    status(|| {
        // SAFETY: the caller's block and array.
        let (block, from) = unsafe { (block(handle)?, words(from, count as usize)?) };
        Ok(block.bench.set(signal as usize, element as usize, from)?)
    })
}

/// The lowest 64 bits of an element of a signal. 0 also where it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_get(handle: *mut gpurf_block, signal: u32, element: u32) -> u64 {
    call(0, || {
        let mut read = [0; 2];
        // SAFETY: the caller's block.
        unsafe { block(handle) }?.bench.get(signal as usize, element as usize, &mut read)?;
        Ok(u64::from(read[1]) << 32 | u64::from(read[0]))
    })
}

/// Reads an element of a signal into `count` words of 32 bits, the lowest first. -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_get_words(
    handle: *mut gpurf_block,
    signal: u32,
    element: u32,
    to: *mut u32,
    count: u32,
) -> c_int {
    status(|| {
        // SAFETY: the caller's block and array.
        let (block, to) = unsafe { (block(handle)?, words_mut(to, count as usize)?) };
        Ok(block.bench.get(signal as usize, element as usize, to)?)
    })
}

/// 1: the element means something in this cycle; 0: its valid is low; -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_is_valid(handle: *mut gpurf_block, signal: u32, element: u32) -> c_int {
    // SAFETY: the caller's block.
    call(-1, || Ok(unsafe { block(handle) }?.bench.is_valid(signal as usize, element as usize)?.into()))
}

/// Width of the vector of all inputs in bits. -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_input_bits(handle: *mut gpurf_block) -> c_int {
    // SAFETY: the caller's block.
    call(-1, || Ok(unsafe { block(handle) }?.bench.inputs().bits() as c_int))
}

/// Width of the vector of all outputs in bits. -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_output_bits(handle: *mut gpurf_block) -> c_int {
    // SAFETY: the caller's block.
    call(-1, || Ok(unsafe { block(handle) }?.bench.outputs().bits() as c_int))
}

/// Sets all inputs from their vector, of (gpurf_input_bits + 31) / 32 words. -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_put_inputs(handle: *mut gpurf_block, vector: *const u32) -> c_int {
    status(|| {
        // SAFETY: the caller's block.
        let bench = unsafe { &mut block(handle)?.bench };
        // SAFETY: the caller's vector.
        let vector = unsafe { words(vector, bench.inputs().words()) }?;
        bench.put_inputs(0, vector);
        Ok(())
    })
}

/// Reads all inputs as their vector. -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_get_inputs(handle: *mut gpurf_block, vector: *mut u32) -> c_int {
    status(|| {
        // SAFETY: the caller's block.
        let bench = unsafe { &mut block(handle)?.bench };
        // SAFETY: the caller's vector.
        let vector = unsafe { words_mut(vector, bench.inputs().words()) }?;
        bench.get_inputs(0, vector);
        Ok(())
    })
}

/// Sets the outputs of the RTL, with which gpurf_check compares, from their vector of (gpurf_output_bits + 31) / 32 words. -1: it
/// failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_put_outputs(handle: *mut gpurf_block, vector: *const u32) -> c_int {
    status(|| {
        // SAFETY: the caller's block.
        let bench = unsafe { &mut block(handle)?.bench };
        // SAFETY: the caller's vector.
        let vector = unsafe { words(vector, bench.outputs().words()) }?;
        bench.put_outputs(0, vector);
        Ok(())
    })
}

/// Reads all outputs of the model as their vector. -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_get_outputs(handle: *mut gpurf_block, vector: *mut u32) -> c_int {
    status(|| {
        // SAFETY: the caller's block.
        let bench = unsafe { &mut block(handle)?.bench };
        // SAFETY: the caller's vector.
        let vector = unsafe { words_mut(vector, bench.outputs().words()) }?;
        bench.get_outputs(0, vector);
        Ok(())
    })
}

/// Sets 1024 bits of the vector of inputs, from bit 1024 * chunk on; bits above its width are ignored. For DPI-C, whose arrays have one
/// width for each function. -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_put_input_chunk(handle: *mut gpurf_block, chunk: u32, bits: *const u32) -> c_int {
    status(|| {
        // SAFETY: the caller's block and chunk.
        let (block, bits) = unsafe { (block(handle)?, words(bits, GPURF_CHUNK)?) };
        block.bench.put_inputs(chunk as usize * GPURF_CHUNK, bits);
        Ok(())
    })
}

/// Reads 1024 bits of the vector of inputs; bits above its width are 0. -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_get_input_chunk(handle: *mut gpurf_block, chunk: u32, bits: *mut u32) -> c_int {
    status(|| {
        // SAFETY: the caller's block and chunk.
        let (block, bits) = unsafe { (block(handle)?, words_mut(bits, GPURF_CHUNK)?) };
        block.bench.get_inputs(chunk as usize * GPURF_CHUNK, bits);
        Ok(())
    })
}

/// Sets 1024 bits of the vector of the RTL's outputs, with which gpurf_check compares. -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_put_output_chunk(handle: *mut gpurf_block, chunk: u32, bits: *const u32) -> c_int {
    status(|| {
        // SAFETY: the caller's block and chunk.
        let (block, bits) = unsafe { (block(handle)?, words(bits, GPURF_CHUNK)?) };
        block.bench.put_outputs(chunk as usize * GPURF_CHUNK, bits);
        Ok(())
    })
}

/// Computes the outputs from the state and the inputs; no state changes. -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_settle(handle: *mut gpurf_block) -> c_int {
    // SAFETY: the caller's block.
    status(|| Ok(unsafe { block(handle) }?.bench.settle()?))
}

/// The clock edge of the cycle that was settled last. -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_edge(handle: *mut gpurf_block) -> c_int {
    // SAFETY: the caller's block.
    status(|| Ok(unsafe { block(handle) }?.bench.edge()?))
}

/// gpurf_settle and gpurf_edge. -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_step(handle: *mut gpurf_block) -> c_int {
    // SAFETY: the caller's block.
    status(|| Ok(unsafe { block(handle) }?.bench.step()?))
}

/// Leaves an output port out of the comparison of gpurf_check. -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_ignore(handle: *mut gpurf_block, port: *const c_char) -> c_int {
    // SAFETY: the caller's block and text.
    status(|| Ok(unsafe { block(handle)?.bench.ignore(text(port)?) }?))
}

/// gpurf_settle, a comparison with the outputs of gpurf_put_outputs, gpurf_edge. The number of elements that differ; -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_check(handle: *mut gpurf_block) -> c_int {
    // SAFETY: the caller's block.
    call(-1, || Ok(unsafe { block(handle) }?.bench.check()? as c_int))
}

/// A line for each difference of the last gpurf_check: cycle, block, port, both values, meaning. The text lives until the next function
/// that gives a text for the block. Null: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_report(handle: *mut gpurf_block) -> *const c_char {
    call(null(), || {
        // SAFETY: the caller's block.
        let block = unsafe { block(handle) }?;
        block.text = c_string(block.bench.report());
        Ok(block.text.as_ptr())
    })
}

/// Number of edges since the block was created. 0 also where it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_cycle(handle: *mut gpurf_block) -> u64 {
    // SAFETY: the caller's block.
    call(0, || Ok(unsafe { block(handle) }?.bench.cycle()))
}

/// 1: probes are computed from the next settling on; 0: they are not, which is faster. -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_watch(handle: *mut gpurf_block, on: c_int) -> c_int {
    // SAFETY: the caller's block.
    status(|| {
        unsafe { block(handle) }?.bench.watch(on != 0);
        Ok(())
    })
}

/// Begins random inputs that the block's page allows; the first 4 cycles are reset. The same seed gives the same inputs. -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_seed(handle: *mut gpurf_block, seed: u64) -> c_int {
    // SAFETY: the caller's block.
    status(|| Ok(unsafe { block(handle) }?.bench.seed(seed)?))
}

/// Sets the inputs to the random ones of the next cycle. -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_stimulate(handle: *mut gpurf_block) -> c_int {
    // SAFETY: the caller's block.
    status(|| Ok(unsafe { block(handle) }?.bench.stimulate()?))
}

/// Counts the situations that the block's page describes, from 0 on, in cycles without reset. -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_cover(handle: *mut gpurf_block) -> c_int {
    // SAFETY: the caller's block.
    status(|| Ok(unsafe { block(handle) }?.bench.cover()?))
}

/// Number of situations that are counted: 0 before gpurf_cover. -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_points(handle: *mut gpurf_block) -> c_int {
    // SAFETY: the caller's block.
    call(-1, || Ok(unsafe { block(handle) }?.bench.points().len() as c_int))
}

/// A situation by its number, and how often it was reached. -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_describe_point(
    handle: *mut gpurf_block,
    index: u32,
    info: *mut gpurf_point_info,
) -> c_int {
    status(|| {
        // SAFETY: the caller's block.
        let block = unsafe { block(handle) }?;
        let points = block.bench.points();
        let &(name, count) = nth(block.bench.declaration().block, "situation", &points, index)?;
        block.text = c_string(name);
        // SAFETY: a place of the caller's, or null.
        unsafe { give(info, gpurf_point_info { name: block.text.as_ptr(), count }) };
        Ok(())
    })
}

/// Number of memories. -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_memories(handle: *mut gpurf_block) -> c_int {
    // SAFETY: the caller's block.
    call(-1, || Ok(unsafe { block(handle) }?.memories.len() as c_int))
}

/// Describes a memory, by its number. -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_describe_memory(
    handle: *mut gpurf_block,
    index: u32,
    info: *mut gpurf_memory_info,
) -> c_int {
    status(|| {
        // SAFETY: the caller's block.
        let block = unsafe { block(handle) }?;
        let (path, bits, words) = nth(block.bench.declaration().block, "memory", &block.memories, index)?;
        // SAFETY: a place of the caller's, or null.
        unsafe { give(info, gpurf_memory_info { path: path.as_ptr(), bits: *bits, words: *words as u64 }) };
        Ok(())
    })
}

/// Reads a word of a memory into `count` words of 32 bits, the lowest first. -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_memory_get(
    handle: *mut gpurf_block,
    memory: u32,
    word: u64,
    to: *mut u32,
    count: u32,
) -> c_int {
    status(|| {
        // SAFETY: the caller's block and array.
        let (block, to) = unsafe { (block(handle)?, words_mut(to, count as usize)?) };
        Ok(block.bench.read(memory as usize, word, to)?)
    })
}

/// Writes a word of a memory from `count` words of 32 bits, the lowest first. -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_memory_set(
    handle: *mut gpurf_block,
    memory: u32,
    word: u64,
    from: *const u32,
    count: u32,
) -> c_int {
    status(|| {
        // SAFETY: the caller's block and array.
        let (block, from) = unsafe { (block(handle)?, words(from, count as usize)?) };
        Ok(block.bench.write(memory as usize, word, from)?)
    })
}

/// Keeps a copy of the block: state, memories, inputs, outputs, cycle. Null: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_save(handle: *mut gpurf_block) -> *mut gpurf_state {
    // SAFETY: the caller's block.
    call(null_mut(), || Ok(Box::into_raw(Box::new(gpurf_state { saved: unsafe { block(handle) }?.bench.save() }))))
}

/// Goes back to a state of a block of the same name and parameters. The state stays as it is. -1: it failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_restore(handle: *mut gpurf_block, state: *const gpurf_state) -> c_int {
    status(|| {
        // SAFETY: the caller's block and state.
        let (block, state) =
            unsafe { (block(handle)?, state.as_ref().ok_or(CallError::Null("the state is a null pointer"))?) };
        Ok(block.bench.restore(&state.saved)?)
    })
}

/// Frees a state. A null pointer is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpurf_free_state(state: *mut gpurf_state) {
    if !state.is_null() {
        // SAFETY: it comes from `gpurf_save` and is not used again.
        drop(unsafe { Box::from_raw(state) });
    }
}
