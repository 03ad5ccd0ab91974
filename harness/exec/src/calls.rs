//! The requests of the runtime library that an application has loaded (`cudart/cudart.c`), and the answers to them.
//!
//! A request consists of its number, the number of its words and the number of its bytes (4, 4 and 8 bytes), then the words, of 8 bytes each, and the
//! bytes. An answer has the same form, with a CUDA error code in place of the number. All numbers are in native byte order: both sides run on the
//! same machine.

use std::io::{self, Read, Write};

use crate::CudaError;

/// Raised when a request changes its meaning.
pub const PROTOCOL: u64 = 3;

/// Maximum number of words of a request.
const MOST_WORDS: u32 = 16;
/// Maximum number of bytes of a request: the size of the whole memory.
const MOST_BYTES: u64 = 1 << 32;

macro_rules! calls {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $c:literal;)+) => {
        /// A kind of request. Its documentation lists the words and bytes of the request and of the answer, in order.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u32)]
        pub enum Call {
            $($(#[$doc])* $name = $number,)+
        }

        impl Call {
            fn from_number(number: u32) -> Option<Self> {
                match number {
                    $($number => Some(Self::$name),)+
                    _ => None,
                }
            }
        }

        /// The text of `calls.h`: the numbers of requests as macros of C, for the library.
        pub(crate) fn header() -> String {
            let mut text = format!("#define PROTOCOL {PROTOCOL}\n");
            $(text.push_str(concat!("#define CALL_", $c, " ", $number, "\n"));)+
            text
        }
    };
}

calls! {
    /// Words: protocol, version of the runtime. The first request of a process.
    Hello = 1, "HELLO";
    /// Words: version of the wrapper. Bytes: a fat binary. Answer: its handle.
    Module = 2, "MODULE";
    /// Words: module, address of the stub. Bytes: name of a kernel.
    Function = 3, "FUNCTION";
    /// Words: module, address of the host's shadow, size. Bytes: name of a variable.
    Variable = 4, "VARIABLE";
    /// Words: as of `Variable`. Answer: the address at which host and device share the variable.
    ManagedVariable = 5, "MANAGED_VARIABLE";
    /// Words: stub. Answer, bytes: offset and size of each parameter, of 4 bytes each.
    Parameters = 6, "PARAMETERS";
    /// Words: stub, grid, block, dynamic shared memory, stream. Bytes: parameters. Answer: the error that ended the device, or 0; bytes: printed
    /// text.
    Launch = 7, "LAUNCH";
    /// Answer, bytes: the next part of the printed text; empty at its end.
    Printed = 8, "PRINTED";
    /// Words: stub. Answer: bytes of shared, constant, local memory, maximum threads of a block, registers, maximum dynamic shared memory.
    Attributes = 9, "ATTRIBUTES";
    /// Words: stub, attribute, value.
    SetAttribute = 10, "SET_ATTRIBUTE";
    /// Words: stub, threads, dynamic shared memory. Answer: resident blocks.
    Occupancy = 11, "OCCUPANCY";
    /// Words: size. Answer: address.
    Allocate = 12, "ALLOCATE";
    /// As `Allocate`, for managed memory, which host and device share.
    AllocateShared = 13, "ALLOCATE_SHARED";
    /// Words: address, of `Allocate` or `AllocateShared`. Answer: the number of bytes that the host has to unmap.
    Free = 14, "FREE";
    /// Words: address. Bytes: the new contents.
    Write = 15, "WRITE";
    /// Words: address, size. Answer, bytes: the contents.
    Read = 16, "READ";
    /// Words: to, from, size.
    Copy = 17, "COPY";
    /// Words: address, pitch, width, height, value of a byte.
    Fill = 18, "FILL";
    /// Words: shadow of a variable. Answer: its address, 0 in constant memory, and its size.
    Symbol = 19, "SYMBOL";
    /// Words: shadow, offset. Bytes: the new contents.
    WriteSymbol = 20, "WRITE_SYMBOL";
    /// Words: shadow, offset, size. Answer, bytes: the contents.
    ReadSymbol = 21, "READ_SYMBOL";
    /// Answer: free bytes, all bytes.
    Memory = 22, "MEMORY";
    /// Words: a pointer. Answer: 1 for the program's own memory, 2 for the device's, 3 for managed memory, 4 for the host's that the device sees; start
    /// and size of the allocation.
    Pointer = 23, "POINTER";
    /// Words: flags. Answer: handle.
    CreateStream = 24, "CREATE_STREAM";
    /// Words: handle.
    DestroyStream = 25, "DESTROY_STREAM";
    /// Words: handle. Fails if no stream has it; otherwise all earlier work of the stream is complete.
    Stream = 26, "STREAM";
    /// Words: flags (2: without a time). Answer: handle.
    CreateEvent = 27, "CREATE_EVENT";
    /// Words: handle.
    DestroyEvent = 28, "DESTROY_EVENT";
    /// Words: handle. Fails if no event has it.
    Event = 29, "EVENT";
    /// Words: event, stream.
    RecordEvent = 30, "RECORD_EVENT";
    /// Words: two events. Answer: milliseconds, the bits of a double.
    Elapsed = 31, "ELAPSED";
    /// Words: a limit of the device. Answer: its value.
    Limit = 32, "LIMIT";
    /// Words: an attribute of the device. Answer: its value.
    DeviceAttribute = 33, "DEVICE_ATTRIBUTE";
    /// Words: version of the layout. Answer, bytes: `cudaDeviceProp`.
    Properties = 34, "PROPERTIES";
    /// Frees all memory, streams and events of the process, gives limits and variables their first values, and clears the error that ended the device;
    /// modules remain.
    Reset = 35, "RESET";
    /// Bytes: the name of a function that was called and is not supported.
    Refused = 36, "REFUSED";
    /// Words: a limit of the device, its new value.
    SetLimit = 37, "SET_LIMIT";
    /// As `AllocateShared`, for memory of the host that the device sees.
    AllocateHost = 38, "ALLOCATE_HOST";
    /// As `Free`, for an address of `AllocateHost`.
    FreeHost = 39, "FREE_HOST";
    /// Words: stub, grid, block, dynamic shared memory. An error if the blocks of this launch cannot wait for each other: not all of them are on the SM
    /// at the same time.
    Cooperative = 40, "COOPERATIVE";
}

/// A request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// The kind of request; `None` if its number is unknown.
    pub call: Option<Call>,
    /// Its words.
    pub words: Vec<u64>,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl Request {
    /// Reads the next request; `None` if the process has closed the connection.
    ///
    /// # Errors
    /// When the request has an impossible size, or the connection fails.
    pub fn read(from: &mut impl Read) -> io::Result<Option<Self>> {
        let mut head = [0; 16];
        match from.read_exact(&mut head) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
        }
        let [call, words] = [0, 4].map(|at| u32::from_ne_bytes(std::array::from_fn(|i| head[at + i])));
        let size = u64::from_ne_bytes(std::array::from_fn(|i| head[8 + i]));
        if words > MOST_WORDS || size > MOST_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a request of impossible size"));
        }
        let mut read_words = Vec::new();
        for _ in 0..words {
            let mut word = [0; 8];
            from.read_exact(&mut word)?;
            read_words.push(u64::from_ne_bytes(word));
        }
        // Memory is taken only for bytes that arrive, whatever size the request states.
        let mut bytes = Vec::new();
        from.take(size).read_to_end(&mut bytes)?;
        if bytes.len() as u64 != size {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Some(Self { call: Call::from_number(call), words: read_words, bytes }))
    }
}

/// An answer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Answer {
    /// Words.
    pub words: Vec<u64>,
    /// Bytes.
    pub bytes: Vec<u8>,
}

impl Answer {
    /// An answer of words only.
    pub fn words(words: impl Into<Vec<u64>>) -> Self {
        Self { words: words.into(), bytes: Vec::new() }
    }

    /// An answer of bytes only.
    pub fn bytes(bytes: Vec<u8>) -> Self {
        Self { words: Vec::new(), bytes }
    }
}

/// Writes an answer, or the error in place of one.
///
/// # Errors
/// When the process has closed the connection.
pub fn write(to: &mut impl Write, answer: Result<Answer, CudaError>) -> io::Result<()> {
    let error = answer.as_ref().err().map_or(0, |error| error.code());
    let Answer { words, bytes } = answer.unwrap_or_default();
    let mut text = Vec::with_capacity(16 + 8 * words.len());
    text.extend(error.to_ne_bytes());
    text.extend((words.len() as u32).to_ne_bytes());
    text.extend((bytes.len() as u64).to_ne_bytes());
    words.iter().for_each(|word| text.extend(word.to_ne_bytes()));
    to.write_all(&text)?;
    to.write_all(&bytes)?;
    to.flush()
}
