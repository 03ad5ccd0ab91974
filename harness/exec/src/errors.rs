//! The errors of CUDA's runtime that a call can return.

macro_rules! errors {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $cuda:literal, $text:literal;)+) => {
        /// An error of CUDA's runtime, by its number there.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
        #[repr(i32)]
        pub enum CudaError {
            $($(#[$doc])* #[error($text)] $name = $code,)+
        }

        /// The text of `errors.h`: name and text of each error, for the library.
        pub(crate) fn header() -> String {
            let mut text = String::from("ERROR(0, \"cudaSuccess\", \"no error\")\n");
            $(text.push_str(concat!("ERROR(", $code, ", \"", $cuda, "\", \"", $text, "\")\n"));)+
            text
        }
    };
}

errors! {
    /// An argument is wrong.
    InvalidValue = 1, "cudaErrorInvalidValue", "invalid argument";
    /// Memory is full.
    OutOfMemory = 2, "cudaErrorMemoryAllocation", "out of memory";
    /// Grid or block have impossible sizes.
    InvalidConfiguration = 9, "cudaErrorInvalidConfiguration", "invalid configuration argument";
    /// A pitch is smaller than a row.
    InvalidPitch = 12, "cudaErrorInvalidPitchValue", "invalid pitch argument";
    /// No variable has this address.
    InvalidSymbol = 13, "cudaErrorInvalidSymbol", "invalid device symbol";
    /// No memory of the device has this address.
    InvalidDevicePointer = 17, "cudaErrorInvalidDevicePointer", "invalid device pointer";
    /// Texels are not 1, 2 or 4 channels of the same size.
    InvalidChannelDescriptor = 20, "cudaErrorInvalidChannelDescriptor", "invalid channel descriptor";
    /// A copy has no valid direction.
    InvalidDirection = 21, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy";
    /// A linear filter for a fetch that gives integers.
    InvalidFilterSetting = 26, "cudaErrorInvalidFilterSetting", "linear filtering not supported for non-float type";
    /// Another process uses the device, or gpurf has ended.
    Unavailable = 46, "cudaErrorDevicesUnavailable", "CUDA-capable device(s) is/are busy or unavailable";
    /// A stub was called without sizes.
    MissingConfiguration = 52, "cudaErrorMissingConfiguration", "__global__ function call is not configured";
    /// No kernel has this stub.
    InvalidFunction = 98, "cudaErrorInvalidDeviceFunction", "invalid device function";
    /// There is no such device: the only one is 0.
    InvalidDevice = 101, "cudaErrorInvalidDevice", "invalid device ordinal";
    /// The fat binary cannot be read.
    InvalidImage = 200, "cudaErrorInvalidKernelImage", "device kernel image is invalid";
    /// There is no PTX, or the compiler refuses the kernel.
    NoImage = 209, "cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device";
    /// A limit that the device does not have.
    UnsupportedLimit = 215, "cudaErrorUnsupportedLimit", "limit is not supported on this architecture";
    /// The compiler does not understand the PTX.
    InvalidPtx = 218, "cudaErrorInvalidPtx", "a PTX JIT compilation failed";
    /// The operating system refuses something.
    OperatingSystem = 304, "cudaErrorOperatingSystem", "OS call failed or operation not supported on this OS";
    /// No stream or event has this handle.
    InvalidHandle = 400, "cudaErrorInvalidResourceHandle", "invalid resource handle";
    /// A capture cannot begin or end now.
    IllegalState = 401, "cudaErrorIllegalState", "the operation cannot be performed in the present state";
    /// An access outside of memory.
    IllegalAddress = 700, "cudaErrorIllegalAddress", "an illegal memory access was encountered";
    /// A block does not fit the machine.
    OutOfResources = 701, "cudaErrorLaunchOutOfResources", "too many resources requested for launch";
    /// A launch that does not complete.
    LaunchTimeout = 702, "cudaErrorLaunchTimeout", "the launch timed out and was terminated";
    /// An assertion of a kernel failed.
    Assert = 710, "cudaErrorAssert", "device-side assert triggered";
    /// Memory of the host is registered twice.
    AlreadyRegistered = 712, "cudaErrorHostMemoryAlreadyRegistered", "part or all of the requested memory range is already mapped";
    /// Memory of the host is not registered.
    NotRegistered = 713, "cudaErrorHostMemoryNotRegistered", "pointer does not correspond to a registered memory region";
    /// A word that is no instruction.
    IllegalInstruction = 715, "cudaErrorIllegalInstruction", "an illegal instruction was encountered";
    /// An address that is not a multiple of the size of the access.
    MisalignedAddress = 716, "cudaErrorMisalignedAddress", "misaligned address";
    /// Something else went wrong in a kernel.
    LaunchFailure = 719, "cudaErrorLaunchFailure", "unspecified launch failure";
    /// The blocks of a cooperative launch are not all on the SM at the same time.
    CooperativeTooLarge = 720, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch";
    /// gpurf does not support the function.
    NotSupported = 801, "cudaErrorNotSupported", "operation not supported";
    /// A call that captures of streams do not allow.
    CaptureUnsupported = 900, "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing";
    /// The capture has ended with an earlier error.
    CaptureInvalidated = 901, "cudaErrorStreamCaptureInvalidated", "operation failed due to a previous error during capture";
    /// A stream of one capture would depend on another capture.
    CaptureMerge = 902, "cudaErrorStreamCaptureMerge", "operation would result in a merge of separate capture sequences";
    /// The capture has begun in another stream.
    CaptureUnmatched = 903, "cudaErrorStreamCaptureUnmatched", "capture was not ended in the same stream as it began";
    /// The first stream of a capture does not wait for another stream of it.
    CaptureUnjoined = 904, "cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work";
    /// A stream of a capture would depend on work that is not recorded.
    CaptureIsolation = 905, "cudaErrorStreamCaptureIsolation", "dependency created on uncaptured work in another stream";
    /// The legacy stream would wait for a stream of a capture.
    CaptureImplicit = 906, "cudaErrorStreamCaptureImplicit", "operation would make the legacy stream depend on a capturing blocking stream";
    /// An event that was last recorded in a capture.
    CapturedEvent = 907, "cudaErrorCapturedEvent", "operation not permitted on an event last recorded in a capturing stream";
    /// The capture has begun in another thread.
    CaptureWrongThread = 908, "cudaErrorStreamCaptureWrongThread", "attempt to terminate a thread-local capture sequence from another thread";
    /// An executable graph cannot become another graph.
    GraphUpdateFailure = 910, "cudaErrorGraphExecUpdateFailure", "the graph update was not performed because it included changes \
        which violated constraints specific to instantiated graph update";
    /// The model and the RTL, or the machine and the oracle, differ; or the run was interrupted.
    Unknown = 999, "cudaErrorUnknown", "unknown error";
}

impl CudaError {
    /// The error's number in CUDA.
    pub const fn code(self) -> i32 {
        self as i32
    }
}
