//! Output of kernels: prepares the buffers of `printf` and `assert` before a launch, and converts their contents to text after it.
//!
//! Kernels leave records in global memory (`docs/compiler.md`, "printf and assert"), which are the same on all engines except for their order.

mod text;

use std::collections::HashMap;

use gpurf_isa::image::{Kernel, Print};
use gpurf_isa::machine::{
    CONSTANT_WINDOW,
    print::{ASSERT_BUFFER, ASSERTION_RECORD, HEADER, IDENTITY, PRINTF_BUFFER, RECORD, ROOM},
};

use crate::context::Geometry;
use crate::memory::{BufferIndex, Memory};

/// What the kernels of a session have printed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Printed {
    /// The text that `printf` prints in all launches.
    pub text: String,
    /// Calls of `printf` whose record did not fit into the buffer.
    pub dropped: u64,
    /// CUDA's message for each thread whose assertion failed.
    pub assertions: Vec<String>,
}

/// The generic address of each variable.
pub type Addresses = HashMap<String, u64>;

/// The block and the thread that wrote a record.
#[derive(Clone, Copy)]
struct Whose {
    block: [u32; 3],
    thread: [u32; 3],
}

impl Whose {
    fn of(words: [u32; 3]) -> Self {
        let [x, yz, thread] = words;
        Self { block: [x, yz & 0xffff, yz >> 16], thread: [thread & 0x3ff, thread >> 10 & 0x3ff, thread >> 20] }
    }

    /// The block by its number, and the warp: records are printed in this order.
    fn order(&self, geometry: &Geometry) -> (u64, u32) {
        let ([x, y, z], [grid_x, grid_y, _]) = (self.block.map(u64::from), geometry.grid.map(u64::from));
        let ([thread_x, thread_y, thread_z], [block_x, block_y, _]) = (self.thread, geometry.block);
        let thread = thread_x + block_x * (thread_y + block_y * thread_z);
        (x + grid_x * (y + grid_y * z), thread / gpurf_isa::machine::LANES)
    }
}

/// The buffers into which kernels print, where memory has them. For a host other than a [`Session`](super::Session): before a launch
/// [`prepare`](Self::prepare), after it [`print`](Self::print), however it ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct PrintBuffers {
    printf: Option<BufferIndex>,
    assert: Option<BufferIndex>,
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
}

/// How many records fit into a buffer.
fn room(bytes: u32, record: u32) -> u32 {
    bytes.saturating_sub(HEADER) / record.max(1)
}

impl PrintBuffers {
    /// Finds them among the buffers of memory: the last ones that have their names (`gpurf_isa::machine::print`).
    pub fn of(memory: &Memory) -> Self {
        // They come after the buffers of the program, which may have any name.
        let find = |name| memory.buffers().iter().rposition(|buffer| buffer.name() == name).map(BufferIndex);
        Self { printf: find(PRINTF_BUFFER), assert: find(ASSERT_BUFFER) }
    }

    /// Empties the buffers that a kernel uses.
    pub fn prepare(&self, kernel: &Kernel, memory: &mut Memory) {
        let printf = self.printf.filter(|_| !kernel.prints.is_empty()).map(|index| (index, kernel.print_record()));
        let assert = self.assert.filter(|_| kernel.asserts).map(|index| (index, ASSERTION_RECORD));
        for (index, record) in [printf, assert].into_iter().flatten() {
            let size = memory.buffer(index).size();
            let mut bytes = vec![0; size as usize];
            for (at, value) in [(ROOM, room(size, record)), (RECORD, record)] {
                if let Some(place) = bytes.get_mut(at as usize..at as usize + 4) {
                    place.copy_from_slice(&value.to_le_bytes());
                }
            }
            memory.write(index, &bytes);
        }
    }

    /// Prints the records that a launch has left in the buffers. `addresses` has the variables that hold formats.
    pub fn print(
        &self,
        kernel: &Kernel,
        geometry: &Geometry,
        (memory, constant): (&Memory, &[u8]),
        addresses: &Addresses,
        printed: &mut Printed,
    ) {
        let strings = |address: u64| string(address, memory, constant);
        if let Some(index) = self.printf.filter(|_| !kernel.prints.is_empty()) {
            let bytes = memory.read(index);
            let (records, dropped) = records(&bytes, kernel.print_record(), geometry);
            printed.dropped += dropped;
            // Formats and strings are read when the launch has ended: a kernel may have written them.
            let format = |print: &Print| {
                let address = addresses.get(&print.symbol)?.checked_add(print.offset.into())?;
                strings(address)
            };
            let formats: Vec<Option<Vec<u8>>> = kernel.prints.iter().map(format).collect();
            for (_, record) in records {
                let number = word(record, 0) as usize - 1;
                let (Some(print), Some(Some(format))) = (kernel.prints.get(number), formats.get(number)) else {
                    continue;
                };
                let (start, end) = (IDENTITY as usize, (IDENTITY + print.arguments) as usize);
                let arguments = record.get(start..end).unwrap_or_default();
                printed.text += &String::from_utf8_lossy(&text::text(format, arguments, &strings));
            }
        }
        if let Some(index) = self.assert.filter(|_| kernel.asserts) {
            let bytes = memory.read(index);
            let (records, _) = records(&bytes, ASSERTION_RECORD, geometry);
            let messages = records.into_iter().map(|(whose, record)| assertion(whose, record, &strings));
            printed.assertions.extend(messages);
        }
    }
}

/// The complete records of a buffer, in the order in which they are printed, and the number of those that did not fit.
fn records<'a>(bytes: &'a [u8], record: u32, geometry: &Geometry) -> (Vec<(Whose, &'a [u8])>, u64) {
    let calls = word(bytes, 0);
    let room = room(bytes.len() as u32, record);
    let all = bytes.get(HEADER as usize..).unwrap_or_default().chunks_exact(record as usize);
    let complete = all.take(calls.min(room) as usize).filter(|record| word(record, 0) != 0);
    let whose = |record: &[u8]| Whose::of([4, 8, 12].map(|at| word(record, at)));
    let mut records: Vec<_> = complete.map(|record| (whose(record), record)).collect();
    // The sort is stable: a warp's records stay in its order.
    records.sort_by_key(|(whose, _)| whose.order(geometry));
    (records, calls.saturating_sub(room).into())
}

/// CUDA's message for a failed assertion.
fn assertion(whose: Whose, record: &[u8], strings: &text::Strings<'_>) -> String {
    let at = IDENTITY as usize;
    let [message, file, function] = [4, 12, 20].map(|offset| {
        let (low, high) = (word(record, at + offset), word(record, at + offset + 4));
        let address = u64::from(high) << 32 | u64::from(low);
        let text = strings(address).unwrap_or_else(|| format!("(bad address {address:#x})").into_bytes());
        String::from_utf8_lossy(&text).into_owned()
    });
    let (line, [bx, by, bz], [tx, ty, tz]) = (word(record, at), whose.block, whose.thread);
    format!(
        "{file}:{line}: {function}: block: [{bx},{by},{bz}], thread: [{tx},{ty},{tz}] Assertion `{message}` failed."
    )
}

/// The string at a generic address, up to its zero or the end of its buffer; `None` if the address is in no buffer.
fn string(address: u64, memory: &Memory, constant: &[u8]) -> Option<Vec<u8>> {
    let (window, low) = ((address >> 32) as u32, address as u32);
    let bytes = match window {
        0 => {
            let buffer = memory.buffer_below(low)?;
            let offset = low - buffer.address();
            return (offset < buffer.size()).then(|| buffer.text(offset));
        }
        CONSTANT_WINDOW => constant.get(low as usize..).filter(|rest| !rest.is_empty())?,
        _ => return None,
    };
    Some(bytes.iter().copied().take_while(|byte| *byte != 0).collect())
}
