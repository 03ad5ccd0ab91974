//! The requests of the runtime library that an application has loaded (`cudart/cudart.c`), and what is said in answer.
//!
//! A request is its number, the number of its words and that of its bytes (4, 4 and 8 bytes), then the words, of 8 bytes, and the bytes. An
//! answer is an error of CUDA's in place of the number, and the same again. All in the order of the machine: both are one.

use std::io::{self, Read, Write};

use crate::CudaError;

/// Raised when a request changes its meaning.
pub const PROTOCOL: u64 = 1;

/// A request has at most so many words.
const MOST_WORDS: u32 = 16;
/// And at most so many bytes: those of all memory.
const MOST_BYTES: u64 = 1 << 32;

macro_rules! calls {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $c:literal;)+) => {
        /// What is asked for. Words and bytes that come and go, in order.
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

        /// The numbers as the library needs them: `calls.h`.
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
    /// Words: as before. Answer: the address at which host and device share it.
    ManagedVariable = 5, "MANAGED_VARIABLE";
    /// Words: stub. Answer, bytes: offset and size of each parameter, of 4 bytes each.
    Parameters = 6, "PARAMETERS";
    /// Words: stub, grid, block, dynamic shared memory, stream. Bytes: parameters. Answer: the error that ended the device, if one did; bytes: text.
    Launch = 7, "LAUNCH";
    /// Answer, bytes: the text that follows what a launch has printed.
    Printed = 8, "PRINTED";
    /// Words: stub. Answer: bytes of shared, constant, local memory, threads of a block at most, registers, dynamic shared memory at most.
    Attributes = 9, "ATTRIBUTES";
    /// Words: stub, attribute, value.
    SetAttribute = 10, "SET_ATTRIBUTE";
    /// Words: stub, threads, dynamic shared memory. Answer: resident blocks.
    Occupancy = 11, "OCCUPANCY";
    /// Words: size. Answer: address.
    Allocate = 12, "ALLOCATE";
    /// The same of memory that host and device share.
    AllocateShared = 13, "ALLOCATE_SHARED";
    /// Words: address. Answer: the bytes to be unmapped by the host.
    Free = 14, "FREE";
    /// Words: address. Bytes: what goes there.
    Write = 15, "WRITE";
    /// Words: address, size. Answer, bytes: what is there.
    Read = 16, "READ";
    /// Words: to, from, size.
    Copy = 17, "COPY";
    /// Words: address, pitch, width, height, value of a byte.
    Fill = 18, "FILL";
    /// Words: shadow of a variable. Answer: its address, 0 in constant memory, and its size.
    Symbol = 19, "SYMBOL";
    /// Words: shadow, offset. Bytes: what goes there.
    WriteSymbol = 20, "WRITE_SYMBOL";
    /// Words: shadow, offset, size. Answer, bytes: what is there.
    ReadSymbol = 21, "READ_SYMBOL";
    /// Answer: bytes that are free, and all.
    Memory = 22, "MEMORY";
    /// Words: a pointer. Answer: 1 of the host, 2 of the device, 3 shared; begin and size of the allocation.
    Pointer = 23, "POINTER";
    /// Words: flags. Answer: handle.
    CreateStream = 24, "CREATE_STREAM";
    /// Words: handle.
    DestroyStream = 25, "DESTROY_STREAM";
    /// Words: handle. Whether it is one; all before it is done.
    Stream = 26, "STREAM";
    /// Words: flags. Answer: handle.
    CreateEvent = 27, "CREATE_EVENT";
    /// Words: handle.
    DestroyEvent = 28, "DESTROY_EVENT";
    /// Words: handle. Whether it is one.
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
    /// Everything that the process has made is gone.
    Reset = 35, "RESET";
    /// Bytes: a function that is not there.
    Refused = 36, "REFUSED";
    /// Words: a limit of the device, its new value.
    SetLimit = 37, "SET_LIMIT";
}

/// A request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// What is asked for; nothing where the number is not one.
    pub call: Option<Call>,
    /// Its words.
    pub words: Vec<u64>,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl Request {
    /// The next request; nothing when the process has gone.
    ///
    /// # Errors
    /// What is no request, and what the connection says.
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
        // As much memory as there are bytes, whatever the size says.
        let mut bytes = Vec::new();
        from.take(size).read_to_end(&mut bytes)?;
        if bytes.len() as u64 != size {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Some(Self { call: Call::from_number(call), words: read_words, bytes }))
    }
}

/// What is said in answer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Answer {
    /// Words.
    pub words: Vec<u64>,
    /// Bytes.
    pub bytes: Vec<u8>,
}

impl Answer {
    /// Of words alone.
    pub fn words(words: impl Into<Vec<u64>>) -> Self {
        Self { words: words.into(), bytes: Vec::new() }
    }

    /// Of bytes alone.
    pub fn bytes(bytes: Vec<u8>) -> Self {
        Self { words: Vec::new(), bytes }
    }
}

/// Writes an answer, or the error in place of one.
///
/// # Errors
/// When the process has gone.
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
