use super::*;
use gpurf_oracle::host::OracleEngine;

use crate::Functional;

/// `scale` multiplies words by a factor in constant memory and counts them in a variable; the compiler refuses `outside`.
pub(super) const PTX: &str = "\
.version 9.0
.target sm_75
.address_size 64
.visible .const .align 4 .b8 factor[8];
.visible .global .align 4 .u32 count = 5;
.visible .entry scale(.param .u64 p_x, .param .u32 p_n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [p_x];
    ld.param.u32 %r1, [p_n];
    mov.u32 %r2, %tid.x;
    setp.ge.u32 %p1, %r2, %r1;
    @%p1 bra done;
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r2, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.u32 %r3, [%rd4];
    ld.const.u32 %r4, [factor+4];
    mul.lo.s32 %r5, %r3, %r4;
    st.global.u32 [%rd4], %r5;
    atom.global.add.u32 %r6, [count], 1;
done:
    ret;
}
.visible .entry outside(.param .f64 p)
{
    .reg .f64 %d<3>;
    ld.param.f64 %d1, [p];
    rem.f64 %d2, %d1, %d1;
    ret;
}
";

/// A fat binary with a text that is not compressed.
pub(super) fn fat(text: &str) -> Vec<u8> {
    let mut data = text.as_bytes().to_vec();
    data.resize(text.len().next_multiple_of(8), 0);
    let mut bytes = 0xba55_ed50u32.to_le_bytes().to_vec();
    bytes.extend([1, 0, 16, 0]);
    bytes.extend((64 + data.len() as u64).to_le_bytes());
    let mut head = vec![0; 64];
    (head[0], head[4], head[28]) = (1, 64, 75);
    head[8..16].copy_from_slice(&(data.len() as u64).to_le_bytes());
    bytes.extend(head);
    bytes.extend(data);
    bytes
}

/// Runs a test with a device on the oracle.
pub(super) fn with_device(test: impl FnOnce(&mut Device<'_>)) {
    recorded(None, test);
}

/// A device whose launches may be recorded.
fn recorded(recorder: Option<&mut Recorder>, test: impl FnOnce(&mut Device<'_>)) {
    let setup = Setup { config: Config::default(), preset: "baseline".to_owned(), registers: 64, verbose: false };
    let mut runner = Functional::new(OracleEngine::default());
    let mut log = Log::default();
    let file = tempfile::tempfile().unwrap();
    file.set_len(1 << 32).unwrap();
    test(&mut Device::new(&setup, &mut runner, recorder, &mut log, file));
}

pub(super) fn ask(device: &mut Device<'_>, call: Call, words: &[u64], bytes: &[u8]) -> Result<Answer, CudaError> {
    device.answer(&Request { call: Some(call), words: words.to_vec(), bytes: bytes.to_vec() })
}

pub(super) const STUB: u64 = 0x5555_0000;
pub(super) const OTHER: u64 = 0x5555_0010;
pub(super) const FACTOR: u64 = 0x5555_1000;
pub(super) const COUNT: u64 = 0x5555_1008;

/// Registers the module with its kernels and variables, as the constructors of an application do.
pub(super) fn register(device: &mut Device<'_>) {
    let module = ask(device, Call::Module, &[1], &fat(PTX)).unwrap().words[0];
    ask(device, Call::Function, &[module, STUB], b"scale").unwrap();
    ask(device, Call::Function, &[module, OTHER], b"outside").unwrap();
    ask(device, Call::Variable, &[module, FACTOR, 8], b"factor").unwrap();
    ask(device, Call::Variable, &[module, COUNT, 4], b"count").unwrap();
}

fn launch(device: &mut Device<'_>, x: u64, n: u32, block: u64) -> Result<Answer, CudaError> {
    let parameters = [&x.to_ne_bytes()[..], &n.to_ne_bytes()].concat();
    ask(device, Call::Launch, &[STUB, 1, 1, 1, block, 1, 1, 0, 0], &parameters)
}

pub(super) fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// Two kernels that store one value each: a clock, and a number.
const CLOCKS: &str = "\
.version 9.0
.target sm_75
.address_size 64
.visible .entry stamp(.param .u64 p_x)
{
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p_x];
    mov.u64 %rd2, %clock64;
    st.global.u64 [%rd1], %rd2;
    ret;
}
.visible .entry number(.param .u64 p_x)
{
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p_x];
    st.global.u64 [%rd1], 7;
    ret;
}
";

#[test]
fn clocks_go_on_and_what_holds_times_is_no_check_of_a_record() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::new(folder.path().to_owned());
    let setup = Setup { config: Config::default(), preset: "baseline".to_owned(), registers: 64, verbose: false };
    let settings = gpurf_machine::Settings::new(setup.config);
    let model = gpurf_machine::ModelEngine::new(settings);
    let mut runner = crate::OnMachine::new(model, "model", folder.path().to_owned(), Vec::new());
    let mut log = Log::default();
    let file = tempfile::tempfile().unwrap();
    file.set_len(1 << 32).unwrap();
    let device = &mut Device::new(&setup, &mut runner, Some(&mut recorder), &mut log, file);
    let module = ask(device, Call::Module, &[1], &fat(CLOCKS)).unwrap().words[0];
    ask(device, Call::Function, &[module, STUB], b"stamp").unwrap();
    ask(device, Call::Function, &[module, OTHER], b"number").unwrap();
    let x = ask(device, Call::Allocate, &[8], &[]).unwrap().words[0];
    let mut run = |stub: u64| {
        let before = device.runner.cycles().unwrap();
        ask(device, Call::Launch, &[stub, 1, 1, 1, 1, 1, 1, 0, 0], &x.to_ne_bytes()).unwrap();
        let found = ask(device, Call::Read, &[x, 8], &[]).unwrap().bytes;
        (before..device.runner.cycles().unwrap(), u64::from_ne_bytes(found.try_into().unwrap()))
    };
    for _ in 0..2 {
        let (cycles, time) = run(STUB);
        assert!(cycles.contains(&time), "{time} in {cycles:?}");
    }
    assert_eq!(run(OTHER).1, 7);
    let manifest = |number: u32| std::fs::read_to_string(folder.path().join(format!("{number:04}.toml"))).unwrap();
    for (number, checks, says) in [(1, 0, true), (2, 0, true), (3, 1, false)] {
        let text = manifest(number);
        assert_eq!((text.matches("[[check]]").count(), text.contains("reads clocks")), (checks, says), "{text}");
    }
}

#[test]
fn a_launch_changes_memory_and_variables() {
    with_device(|device| {
        register(device);
        let x = ask(device, Call::Allocate, &[20], &[]).unwrap().words[0];
        ask(device, Call::Write, &[x], &bytes(&[1, 2, 3, 4, 5])).unwrap();
        ask(device, Call::WriteSymbol, &[FACTOR, 4], &bytes(&[7])).unwrap();
        let places = ask(device, Call::Parameters, &[STUB], &[]).unwrap().bytes;
        assert_eq!(places, bytes(&[0, 8, 8, 4]));
        assert_eq!(launch(device, x, 3, 32).unwrap().words, [0]);
        assert_eq!(ask(device, Call::Read, &[x, 20], &[]).unwrap().bytes, bytes(&[7, 14, 21, 4, 5]));
        // A part of it, at an address that is no multiple of four.
        assert_eq!(ask(device, Call::Read, &[x + 3, 3], &[]).unwrap().bytes, [0, 14, 0]);
        assert_eq!(ask(device, Call::ReadSymbol, &[COUNT, 0, 4], &[]).unwrap().bytes, bytes(&[8]));
        let symbol = ask(device, Call::Symbol, &[COUNT], &[]).unwrap().words;
        assert_eq!(ask(device, Call::Read, &[symbol[0], symbol[1]], &[]).unwrap().bytes, bytes(&[8]));
        ask(device, Call::Fill, &[x + 1, 8, 2, 2, 0xab], &[]).unwrap();
        let filled = ask(device, Call::Read, &[x, 12], &[]).unwrap().bytes;
        assert_eq!(filled, [7, 0xab, 0xab, 0, 14, 0, 0, 0, 21, 0xab, 0xab, 0]);
        let occupancy = ask(device, Call::Occupancy, &[STUB, 256, 0], &[]).unwrap().words[0];
        let whole = device.properties.attribute(39) / 256;
        assert!(occupancy >= 1 && occupancy <= whole, "{occupancy} of {whole}");
        assert_eq!(ask(device, Call::Occupancy, &[STUB, 5000, 0], &[]).unwrap().words, [0]);
        assert_eq!(device.log.kernels["scale"], KernelCount { launches: 1, ..KernelCount::default() });
        // A cooperative launch has as many blocks as there is room for.
        let cooperative = |device: &mut Device, x: u64, y: u64| {
            ask(device, Call::Cooperative, &[STUB, x, y, 1, 64, 2, 2, 0], &[]).map(|answer| answer.words)
        };
        assert_eq!(cooperative(device, occupancy, 1), Ok(vec![]));
        assert_eq!(cooperative(device, occupancy + 1, 1), Err(CudaError::CooperativeTooLarge));
        assert_eq!(cooperative(device, 1, occupancy + 1), Err(CudaError::CooperativeTooLarge));
        // The launch itself says what is wrong with impossible sizes.
        assert_eq!(cooperative(device, u64::from(u32::MAX), u64::MAX), Ok(vec![]));
        assert_eq!(device.log.kernels["scale"], KernelCount { launches: 1, refused: 2, ..KernelCount::default() });
    });
}

#[test]
fn wrong_arguments_are_errors_of_cuda() {
    with_device(|device| {
        register(device);
        let x = ask(device, Call::Allocate, &[20], &[]).unwrap().words[0];
        let mut fails = |call, words: &[u64], data: &[u8]| ask(device, call, words, data).unwrap_err();
        assert_eq!(fails(Call::Launch, &[77, 1, 1, 1, 1, 1, 1, 0, 0], &[]), CudaError::InvalidFunction);
        assert_eq!(fails(Call::Launch, &[STUB, 1, 1, 1, 1, 1, 1, 0, 99], &[0; 12]), CudaError::InvalidHandle);
        for size in [
            [0, 1, 1, 1, 1, 1],
            [1, 1, 1, 0, 1, 1],
            [1, 1, 1, 1025, 1, 1],
            [1, 1, 1, 32, 1, 65],
            [1 << 40, 1, 1, 1, 1, 1],
        ] {
            let words = [&[STUB], &size[..], &[0, 0]].concat();
            assert_eq!(fails(Call::Launch, &words, &[0; 12]), CudaError::InvalidConfiguration, "{size:?}");
        }
        let said = "<<<(1, 1, 1), (0, 1, 1)>>>: sizes are 1 or more, and a block has at most 1,024 threads: ";
        assert!(device.log.shown.iter().any(|text| text.contains(said)), "{:?}", device.log.shown);
        let mut fails = |call, words: &[u64], data: &[u8]| ask(device, call, words, data).unwrap_err();
        assert_eq!(fails(Call::Launch, &[STUB, 1, 1, 1, 1, 1, 1, 1 << 17, 0], &[0; 12]), CudaError::InvalidValue);
        assert_eq!(fails(Call::Launch, &[STUB, 1, 1, 1, 1, 1, 1, 0, 0], &[0; 8]), CudaError::InvalidValue);
        // The compiler refuses the kernel; others of its module run.
        assert_eq!(fails(Call::Parameters, &[OTHER], &[]), CudaError::NoImage);
        assert_eq!(fails(Call::Write, &[x + 17], &[1, 2, 3, 4]), CudaError::InvalidValue);
        assert_eq!(fails(Call::Read, &[x, 21], &[]), CudaError::InvalidValue);
        assert_eq!(fails(Call::Read, &[u64::MAX, 2], &[]), CudaError::InvalidValue);
        assert_eq!(fails(Call::Copy, &[x, x + 8, u64::MAX], &[]), CudaError::InvalidValue);
        assert_eq!(fails(Call::Fill, &[x, 1 << 63, 2, 3, 0], &[]), CudaError::InvalidValue);
        assert_eq!(fails(Call::WriteSymbol, &[FACTOR, 5], &[1, 2, 3, 4]), CudaError::InvalidValue);
        assert_eq!(fails(Call::ReadSymbol, &[FACTOR, u64::MAX, 2], &[]), CudaError::InvalidValue);
        assert_eq!(fails(Call::Symbol, &[3], &[]), CudaError::InvalidSymbol);
        assert_eq!(fails(Call::Variable, &[1, 9, 5], b"count"), CudaError::InvalidSymbol);
        assert_eq!(fails(Call::Variable, &[9, 9, 4], b"count"), CudaError::InvalidImage);
        assert_eq!(fails(Call::Module, &[1], b"no fat binary at all"), CudaError::InvalidImage);
        assert_eq!(fails(Call::Module, &[1], &fat("no PTX")), CudaError::InvalidPtx);
        assert_eq!(fails(Call::Free, &[x + 4], &[]), CudaError::InvalidValue);
        assert_eq!(fails(Call::Allocate, &[1 << 40], &[]), CudaError::OutOfMemory);
        assert_eq!(fails(Call::DestroyStream, &[5], &[]), CudaError::InvalidHandle);
        assert_eq!(fails(Call::Elapsed, &[5, 6], &[]), CudaError::InvalidHandle);
        assert_eq!(fails(Call::Allocate, &[], &[]), CudaError::InvalidValue);
        ask(device, Call::Free, &[x], &[]).unwrap();
        assert_eq!(ask(device, Call::Read, &[x, 4], &[]), Err(CudaError::InvalidValue));
        assert_eq!(ask(device, Call::Free, &[x], &[]), Err(CudaError::InvalidValue));
    });
}

/// After a kernel has used freed memory, each call returns the error until the device is reset. Variables in global memory then have their initial
/// values.
#[test]
fn a_fault_ends_the_device_until_it_is_reset() {
    with_device(|device| {
        register(device);
        let x = ask(device, Call::Allocate, &[20], &[]).unwrap().words[0];
        let y = ask(device, Call::Allocate, &[20], &[]).unwrap().words[0];
        assert_eq!(launch(device, y, 1, 1).unwrap().words, [0]);
        ask(device, Call::Free, &[x], &[]).unwrap();
        assert_eq!(launch(device, x, 1, 1).unwrap().words, [CudaError::IllegalAddress.code() as u64]);
        assert_eq!(ask(device, Call::Read, &[y, 4], &[]), Err(CudaError::IllegalAddress));
        assert_eq!(launch(device, y, 1, 1), Err(CudaError::IllegalAddress));
        ask(device, Call::Reset, &[0], &[]).unwrap();
        assert_eq!(ask(device, Call::Read, &[y, 4], &[]), Err(CudaError::InvalidValue));
        assert_eq!(ask(device, Call::ReadSymbol, &[COUNT, 0, 4], &[]).unwrap().bytes, bytes(&[5]));
        assert_eq!(device.log.faults, 1);
        // Kernels use the variables' addresses after the reset.
        let z = ask(device, Call::Allocate, &[4], &[]).unwrap().words[0];
        assert_eq!(launch(device, z, 1, 1).unwrap().words, [0]);
        assert_eq!(ask(device, Call::ReadSymbol, &[COUNT, 0, 4], &[]).unwrap().bytes, bytes(&[6]));
    });
}

#[test]
fn a_reset_gives_variables_and_limits_their_first_values() {
    with_device(|device| {
        register(device);
        ask(device, Call::WriteSymbol, &[FACTOR, 0], &bytes(&[7, 8])).unwrap();
        ask(device, Call::WriteSymbol, &[COUNT, 0], &bytes(&[9])).unwrap();
        let limits = [LIMIT_OF_STACK, LIMIT_OF_PRINTF];
        let values = |device: &mut Device<'_>| limits.map(|l| ask(device, Call::Limit, &[l], &[]).unwrap().words[0]);
        let first = values(device);
        for limit in limits {
            ask(device, Call::SetLimit, &[limit, 4096], &[]).unwrap();
        }
        assert_eq!(values(device), [4096; 2]);
        ask(device, Call::Reset, &[], &[]).unwrap();
        assert_eq!(values(device), first);
        assert_eq!(ask(device, Call::ReadSymbol, &[FACTOR, 0, 8], &[]).unwrap().bytes, [0; 8]);
        assert_eq!(ask(device, Call::ReadSymbol, &[COUNT, 0, 4], &[]).unwrap().bytes, bytes(&[5]));
    });
}

/// The host has mapped managed variables, and no others.
#[test]
fn only_managed_variables_are_shared() {
    with_device(|device| {
        register(device);
        let address = ask(device, Call::Symbol, &[COUNT], &[]).unwrap().words[0];
        let place = |device: &mut Device<'_>| ask(device, Call::Pointer, &[address + 3], &[]).unwrap().words;
        assert_eq!(place(device), [2, address, 4]);
        assert_eq!(ask(device, Call::ManagedVariable, &[1, COUNT, 4], b"count").unwrap().words, [address]);
        assert_eq!(place(device), [3, address, 4]);
        assert_eq!(ask(device, Call::ReadSymbol, &[COUNT, 0, 4], &[]).unwrap().bytes, bytes(&[5]));
        // No call frees a variable.
        for call in [Call::Free, Call::FreeHost] {
            assert_eq!(ask(device, call, &[address], &[]), Err(CudaError::InvalidValue));
        }
        ask(device, Call::WriteSymbol, &[COUNT, 0], &bytes(&[9])).unwrap();
        ask(device, Call::Reset, &[], &[]).unwrap();
        assert_eq!(place(device), [3, address, 4]);
        assert_eq!(ask(device, Call::ReadSymbol, &[COUNT, 0, 4], &[]).unwrap().bytes, bytes(&[5]));
    });
}

/// A kernel that reads a variable through its address in constant memory.
const POINTER: &str = "\
.version 9.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 value = 1234;
.visible .const .align 8 .u64 pointer = generic(value);
.visible .entry get(.param .u64 p_x)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [p_x];
    ld.const.u64 %rd2, [pointer];
    ld.u32 %r1, [%rd2];
    st.global.u32 [%rd1], %r1;
    ret;
}
";

#[test]
fn addresses_in_constant_memory_come_back_with_a_reset() {
    with_device(|device| {
        let stub = register_kernel(device, POINTER, "get");
        ask(device, Call::Variable, &[1, FACTOR, 8], b"pointer").unwrap();
        for _ in 0..2 {
            let x = ask(device, Call::Allocate, &[4], &[]).unwrap().words[0];
            let launched = ask(device, Call::Launch, &[stub, 1, 1, 1, 1, 1, 1, 0, 0], &x.to_ne_bytes()).unwrap();
            assert_eq!(launched.words, [0]);
            assert_eq!(ask(device, Call::Read, &[x, 4], &[]).unwrap().bytes, bytes(&[1234]));
            ask(device, Call::WriteSymbol, &[FACTOR, 0], &[0; 8]).unwrap();
            ask(device, Call::Reset, &[], &[]).unwrap();
        }
    });
}

#[test]
fn the_host_sees_shared_memory_in_the_file() {
    with_device(|device| {
        register(device);
        let x = ask(device, Call::AllocateShared, &[8], &[]).unwrap().words[0];
        assert_eq!(x % (64 << 10), 0);
        // The host writes and reads without a call.
        device.memory.write(x, &bytes(&[3, 4])).unwrap();
        ask(device, Call::WriteSymbol, &[FACTOR, 4], &bytes(&[5])).unwrap();
        launch(device, x, 2, 32).unwrap();
        assert_eq!(device.memory.read(x, 8).unwrap(), bytes(&[15, 20]));
        assert_eq!(ask(device, Call::Pointer, &[x + 7], &[]).unwrap().words, [3, x, 8]);
        assert_eq!(ask(device, Call::Pointer, &[x + 8], &[]).unwrap().words[0], 1);
        assert_eq!(ask(device, Call::FreeHost, &[x], &[]), Err(CudaError::InvalidValue));
        assert_eq!(ask(device, Call::Free, &[x], &[]).unwrap().words, [8]);
        let x = ask(device, Call::AllocateHost, &[8], &[]).unwrap().words[0];
        assert_eq!(ask(device, Call::Pointer, &[x], &[]).unwrap().words, [4, x, 8]);
        assert_eq!(ask(device, Call::Free, &[x], &[]), Err(CudaError::InvalidValue));
        assert_eq!(ask(device, Call::FreeHost, &[x], &[]).unwrap().words, [8]);
    });
}

/// A function that calls itself as often as its parameter says.
const RECURSIVE: &str = "\
.version 9.0
.target sm_75
.address_size 64
.func descend(.param .b32 n)
{
    .reg .pred %p;
    .reg .b32 %r<3>;
    ld.param.u32 %r0, [n];
    setp.eq.u32 %p, %r0, 0;
    @%p ret;
    sub.u32 %r1, %r0, 1;
    { .param .b32 less; st.param.b32 [less], %r1; call descend, (less); }
    ret;
}
.visible .entry deep(.param .u32 n)
{
    .reg .b32 %r;
    ld.param.u32 %r, [n];
    { .param .b32 depth; st.param.b32 [depth], %r; call descend, (depth); }
    ret;
}
";

#[test]
fn the_stack_has_the_size_that_the_application_asks_for() {
    with_device(|device| {
        let stub = register_kernel(device, RECURSIVE, "deep");
        let limit = |device: &mut Device<'_>| ask(device, Call::Limit, &[LIMIT_OF_STACK], &[]).unwrap().words;
        assert_eq!(limit(device), [1024]);
        // A frame has 16 bytes, and the first one needs no call: the initial stack has room for 1,024 frames.
        let deep = |device: &mut Device<'_>, depth: u32| {
            ask(device, Call::Launch, &[stub, 1, 1, 1, 1, 1, 1, 0, 0], &depth.to_ne_bytes()).unwrap().words
        };
        assert_eq!(deep(device, 1023), [0]);
        ask(device, Call::SetLimit, &[LIMIT_OF_STACK, 32 << 10], &[]).unwrap();
        assert_eq!(limit(device), [32 << 10]);
        assert_eq!(deep(device, 2047), [0]);
        let too_much = ask(device, Call::SetLimit, &[LIMIT_OF_STACK, u64::from(STACK_LIMIT) + 1], &[]);
        assert_eq!(too_much, Err(CudaError::InvalidValue));
        assert_eq!(ask(device, Call::SetLimit, &[9, 0], &[]), Err(CudaError::UnsupportedLimit));
        ask(device, Call::SetLimit, &[LIMIT_OF_PRINTF, 1 << 20], &[]).unwrap();
        assert_ne!(deep(device, 2048), [0]);
    });
}

#[test]
fn events_and_streams_have_handles() {
    with_device(|device| {
        let [a, b] = [(); 2].map(|()| ask(device, Call::CreateEvent, &[0], &[]).unwrap().words[0]);
        let stream = ask(device, Call::CreateStream, &[1], &[]).unwrap().words[0];
        assert_eq!(ask(device, Call::Elapsed, &[a, b], &[]), Err(CudaError::InvalidHandle), "not recorded");
        ask(device, Call::RecordEvent, &[a, 0], &[]).unwrap();
        ask(device, Call::RecordEvent, &[b, stream], &[]).unwrap();
        let time = f64::from_bits(ask(device, Call::Elapsed, &[a, b], &[]).unwrap().words[0]);
        assert!((0.0..1e6).contains(&time), "{time}");
        ask(device, Call::DestroyStream, &[stream], &[]).unwrap();
        assert_eq!(ask(device, Call::RecordEvent, &[a, stream], &[]), Err(CudaError::InvalidHandle));
        ask(device, Call::DestroyEvent, &[a], &[]).unwrap();
        assert_eq!(ask(device, Call::Event, &[a], &[]), Err(CudaError::InvalidHandle));
        // cudaEventDisableTiming.
        let untimed = ask(device, Call::CreateEvent, &[2], &[]).unwrap().words[0];
        for event in [b, untimed] {
            ask(device, Call::RecordEvent, &[event, 0], &[]).unwrap();
        }
        ask(device, Call::Elapsed, &[b, b], &[]).unwrap();
        assert_eq!(ask(device, Call::Elapsed, &[b, untimed], &[]), Err(CudaError::InvalidHandle));
    });
}

/// PTX of `tests/kernels/launch`.
fn test_kernel(file: &str) -> String {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/kernels/launch");
    std::fs::read_to_string(folder.join(file)).unwrap()
}

/// Registers a kernel; returns its stub.
fn register_kernel(device: &mut Device<'_>, text: &str, kernel: &str) -> u64 {
    let module = ask(device, Call::Module, &[1], &fat(text)).unwrap().words[0];
    ask(device, Call::Function, &[module, 7], kernel.as_bytes()).unwrap();
    7
}

#[test]
fn what_kernels_print_comes_in_pieces() {
    with_device(|device| {
        let stub = register_kernel(device, &test_kernel("report.ptx"), "_Z6reportPKfiPi");
        let x = ask(device, Call::Allocate, &[4 * 2048], &[]).unwrap().words[0];
        let returned = ask(device, Call::Allocate, &[4 * 2048], &[]).unwrap().words[0];
        let parameters = [&x.to_ne_bytes()[..], &[0, 8, 0, 0, 0, 0, 0, 0], &returned.to_ne_bytes()].concat();
        let launch = [stub, 64, 1, 1, 32, 1, 1, 0, 0];
        let mut answer = ask(device, Call::Launch, &launch, &parameters).unwrap();
        assert_eq!(answer.words, [0]);
        let mut text = Vec::new();
        while !answer.bytes.is_empty() {
            assert!(answer.bytes.len() <= 1 << 16);
            text.extend(answer.bytes);
            answer = ask(device, Call::Printed, &[0], &[]).unwrap();
        }
        let text = String::from_utf8(text).unwrap();
        assert!(text.len() > 1 << 16, "{}", text.len());
        assert!(text.starts_with("x[000] = 0.000e+00|+0.00|0, even, 'a', 0, 0\n"), "{}", &text[..200]);
        // One line of each thread, and one of each block, in the order of the blocks.
        assert_eq!(text.matches("  small\n").count(), 2048);
        assert_eq!(text.matches(" is 0x0p+0 at ").count(), 64);
        assert!(text.find("block 1: ").unwrap() < text.find("block 63: ").unwrap());
    });
}

/// Each thread prints a line of 12 bytes; the one with this number then traps.
const TALK: &str = "\
.version 9.0
.target sm_75
.address_size 64
.extern .func (.param .b32 func_retval0) vprintf(.param .b64 vprintf_param_0, .param .b64 vprintf_param_1);
.global .align 1 .b8 format[13] = {116, 104, 114, 101, 97, 100, 32, 37, 48, 52, 117, 10, 0};
.visible .entry talk(.param .u32 p_trap)
{
    .local .align 8 .b8 depot[8];
    .reg .b64 %SP, %SPL;
    .reg .pred %p<2>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    mov.u64 %SPL, depot;
    cvta.local.u64 %SP, %SPL;
    ld.param.u32 %r1, [p_trap];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mad.lo.u32 %r5, %r3, %r4, %r2;
    st.local.u32 [%SPL], %r5;
    mov.u64 %rd1, format;
    cvta.global.u64 %rd2, %rd1;
    {
    .param .b64 param0;
    st.param.b64 [param0+0], %rd2;
    .param .b64 param1;
    st.param.b64 [param1+0], %SP;
    .param .b32 retval0;
    call.uni (retval0), vprintf, (param0, param1);
    ld.param.b32 %r6, [retval0+0];
    }
    setp.ne.u32 %p1, %r5, %r1;
    @%p1 bra done;
    trap;
done:
    ret;
}
";

/// Launches `talk` with this many blocks of 32 threads.
fn talk(device: &mut Device<'_>, stub: u64, blocks: u64, trap: u32) -> Answer {
    ask(device, Call::Launch, &[stub, blocks, 1, 1, 32, 1, 1, 0, 0], &trap.to_ne_bytes()).unwrap()
}

/// What is printed before a fault is delivered after it, and not by a later launch.
#[test]
fn a_fault_loses_no_printed_text() {
    with_device(|device| {
        let stub = register_kernel(device, TALK, "talk");
        let mut answer = talk(device, stub, 256, 8191);
        assert_eq!(answer.words, [CudaError::LaunchFailure.code() as u64]);
        let mut text = Vec::new();
        while !answer.bytes.is_empty() {
            text.extend(answer.bytes);
            answer = ask(device, Call::Printed, &[0], &[]).unwrap();
        }
        assert!(text.len() > MOST_TEXT && text.ends_with(b"thread 8191\n"), "{}", text.len());
        assert_eq!(ask(device, Call::Stream, &[0], &[]), Err(CudaError::LaunchFailure));
        ask(device, Call::Reset, &[], &[]).unwrap();
        talk(device, stub, 256, 8191);
        ask(device, Call::Reset, &[], &[]).unwrap();
        let text = talk(device, stub, 1, u32::MAX).bytes;
        assert!(text.len() == 32 * 12 && text.starts_with(b"thread 0000\n"), "{}", String::from_utf8_lossy(&text));
    });
}

#[test]
fn the_buffer_of_printf_has_the_size_that_the_application_asks_for() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::new(folder.path().to_owned());
    recorded(Some(&mut recorder), |device| {
        let stub = register_kernel(device, TALK, "talk");
        let limit = |device: &mut Device<'_>| ask(device, Call::Limit, &[LIMIT_OF_PRINTF], &[]).unwrap().words[0];
        let lines =
            |device: &mut Device<'_>| talk(device, stub, 8, u32::MAX).bytes.iter().filter(|b| **b == b'\n').count();
        assert_eq!((limit(device), lines(device)), (1 << 20, 256));
        for size in [1024, 4096, 1 << 20] {
            ask(device, Call::SetLimit, &[LIMIT_OF_PRINTF, size], &[]).unwrap();
            let lines = lines(device) as u64;
            // A record has 16 bytes and its argument, of 4 or 8.
            let fits = if size == 1 << 20 { 256..=256 } else { (size - 40) / 24..=size / 20 };
            assert!(limit(device) == size && fits.contains(&lines), "{size}: {lines}");
        }
        // CUDA may change a size that it does not have.
        for (size, expected) in [(0, 256), (1001, 1004), (u64::MAX, 1 << 30)] {
            ask(device, Call::SetLimit, &[LIMIT_OF_PRINTF, size], &[]).unwrap();
            assert_eq!(limit(device), expected);
        }
    });
    let manifest = |number: u32| std::fs::read_to_string(folder.path().join(format!("{number:04}.toml"))).unwrap();
    for (number, expected) in
        [(1, None), (2, Some("printf_buffer = 1024")), (3, Some("printf_buffer = 4096")), (4, None)]
    {
        assert_eq!(manifest(number).lines().find(|line| line.starts_with("printf_buffer")), expected);
    }
}

/// A manifest has no key for the size of the stack: its first lines name the setting that it needs.
#[test]
fn a_record_says_which_stack_it_needs() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::new(folder.path().to_owned());
    recorded(Some(&mut recorder), |device| {
        let stub = register_kernel(device, RECURSIVE, "deep");
        for bytes in [1024, 32 << 10] {
            ask(device, Call::SetLimit, &[LIMIT_OF_STACK, bytes], &[]).unwrap();
            ask(device, Call::Launch, &[stub, 1, 1, 1, 1, 1, 1, 0, 0], &9u32.to_ne_bytes()).unwrap();
        }
    });
    let says = ["0001.toml", "0002.toml"].map(|name| {
        let text = std::fs::read_to_string(folder.path().join(name)).unwrap();
        text.lines().nth(1).is_some_and(|line| line.ends_with("--set compiler.stack_bytes=32768"))
    });
    assert_eq!(says, [false, true]);
}

#[test]
fn an_assertion_is_an_error_of_its_own() {
    with_device(|device| {
        let stub = register_kernel(device, &test_kernel("asserts.ptx"), "_ZN7numbers5checkEPKii");
        let x = ask(device, Call::Allocate, &[4 * 96], &[]).unwrap().words[0];
        ask(device, Call::Write, &[x], &bytes(&[13; 96])).unwrap();
        let parameters = ask(device, Call::Parameters, &[stub], &[]).unwrap().bytes;
        let size = parameters.chunks(8).map(|place| place[0] as usize + place[4] as usize).max().unwrap();
        let mut given = vec![0; size];
        given[..8].copy_from_slice(&x.to_ne_bytes());
        given[8..12].copy_from_slice(&96u32.to_ne_bytes());
        let answer = ask(device, Call::Launch, &[stub, 2, 1, 1, 48, 1, 1, 0, 0], &given).unwrap();
        assert_eq!(answer.words, [CudaError::Assert.code() as u64]);
        assert_eq!(ask(device, Call::Stream, &[0], &[]), Err(CudaError::Assert));
    });
}

/// Requests at random, of any number of words: each is answered.
#[test]
fn no_request_makes_it_fail() {
    use proptest::test_runner::{Config as Runs, TestRunner};
    let mut runner = TestRunner::new(Runs::with_cases(64));
    let word = proptest::prop_oneof![
        0..20u64,
        proptest::strategy::Just(STUB),
        proptest::strategy::Just(COUNT),
        0x100_0000..0x108_0000u64,
        proptest::num::u64::ANY
    ];
    let request =
        (1..41u32, proptest::collection::vec(word, 0..10), proptest::collection::vec(proptest::num::u8::ANY, 0..40));
    let requests = proptest::collection::vec(request, 0..60);
    let ran = runner.run(&requests, |requests| {
        with_device(|device| {
            register(device);
            for (call, words, data) in &requests {
                let head =
                    [&call.to_ne_bytes()[..], &(words.len() as u32).to_ne_bytes(), &(data.len() as u64).to_ne_bytes()]
                        .concat();
                let words: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
                let message = [head, words, data.clone()].concat();
                let request = Request::read(&mut &message[..]).unwrap().unwrap();
                // Gigabytes of memory are allowed, but slow.
                let is_large = request.words.iter().any(|word| (1 << 26..1 << 33).contains(word));
                if !is_large {
                    let _ = device.answer(&request);
                }
            }
        });
        Ok(())
    });
    ran.unwrap();
}
