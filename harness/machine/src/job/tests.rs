use gpurf_blocks::config::{Start, presets};
use gpurf_isa::image::Kernel;

use super::*;

fn config(settings: &[&str]) -> Config {
    Config::load(Start::Preset("baseline"), settings).unwrap()
}

fn kernel(code: &str) -> Kernel {
    Kernel { name: "k".into(), code: gpurf_isa::assemble(code).unwrap(), registers: 16, ..Kernel::default() }
}

/// Makes a launch of a block of so many threads ready.
fn job(settings: &[&str], kernel: &Kernel, threads: u32, constant: &[u8]) -> Result<Job, Refusal> {
    let geometry = Geometry { grid: [1; 3], block: [threads, 1, 1], dynamic_shared: 100 };
    Job::new(&config(settings), &KernelLaunch { kernel, source: "k.ptx", geometry, constant, fault: None })
}

#[track_caller]
fn refused(settings: &[&str], kernel: &Kernel, threads: u32, constant: &[u8], words: &str) {
    let refusal = job(settings, kernel, threads, constant).unwrap_err();
    assert_eq!(refusal.to_string(), format!("kernel `k` does not fit this SM: {words}"));
}

#[test]
fn a_launch_in_the_hosts_words() {
    let kernel = Kernel { static_shared: 50, local_bytes: 9, ..kernel("MOV R1, 7\nEXIT") };
    let ready = job(&[], &kernel, 100, &[1, 2, 3, 4, 5]).unwrap();
    assert_eq!(ready.code, [kernel.code[0].encode(), kernel.code[1].encode()]);
    assert_eq!(*ready.constants, [0x0403_0201, 5]);
    assert_eq!((ready.registers, ready.shared, ready.local_words), (16, 150, 3));
    // A kernel without registers has one all the same: the launcher asks for it.
    let kernel = Kernel { registers: 0, ..kernel };
    assert_eq!(job(&[], &kernel, 100, &[]).unwrap().registers, 1);
}

#[test]
fn what_does_not_fit_is_refused() {
    let small = kernel("EXIT");
    let long = kernel(&"NOP\n".repeat(64));
    assert!(job(&["sm.code_words=64"], &long, 32, &[]).is_ok());
    let longer = kernel(&"NOP\n".repeat(65));
    let words = "it has 65 instructions, the code memory has room for 64 (sm.code_words)";
    refused(&["sm.code_words=64"], &longer, 32, &[], words);

    assert!(job(&["sm.const_kilobytes=4"], &small, 32, &[0; 4096]).is_ok());
    let words = "its parameters and constants take 4097 bytes, the constant memory has 4096 (sm.const_kilobytes)";
    refused(&["sm.const_kilobytes=4"], &small, 32, &[0; 4097], words);

    let shared = |bytes| Kernel { static_shared: bytes, ..small.clone() };
    assert!(job(&["sm.shared_kilobytes=4"], &shared(3996), 32, &[]).is_ok());
    let words = "a block takes 4224 bytes of shared memory, there are 4096 (sm.shared_kilobytes)";
    refused(&["sm.shared_kilobytes=4"], &shared(3997), 32, &[], words);

    assert!(job(&["sm.warps=8"], &small, 256, &[]).is_ok());
    refused(&["sm.warps=8"], &small, 257, &[], "a block has 9 warps, the SM has 8 (sm.warps)");

    // 128 KB are 64 rows of 16 banks; 8 warps of 128 registers take 8 rows each.
    let registers = |registers| Kernel { registers, ..small.clone() };
    assert!(job(&[], &registers(128), 256, &[]).is_ok());
    let words = "a block of 8 warps with 129 registers takes 72 rows of the register file, which has 64 (mrf.kilobytes; \
                 --registers limits those of a thread)";
    refused(&[], &registers(129), 256, &[], words);

    let mut all = presets().map(|preset| preset.config);
    let paired = all.find(|config| config.sm_shape().services().pairs_rows).expect("a design pairs rows").settings();
    let paired: Vec<&str> = paired.iter().map(String::as_str).collect();
    assert!(job(&paired, &registers(64), 512, &[]).is_ok());
    let words =
        "a thread has 65 registers, and this register file holds at most 64 for a warp; --registers limits them";
    refused(&paired, &registers(65), 512, &[], words);
    let words = "a block of 17 warps with 64 registers takes 576 rows of the register file, which has 512 (mrf.kilobytes; \
                 --registers limits those of a thread)";
    refused(&paired, &registers(64), 544, &[], words);

    let local = |bytes| Kernel { local_bytes: bytes, ..small.clone() };
    assert!(job(&[], &local(4 * 65_535), 32, &[]).is_ok());
    let words = "a thread has 65536 words of local memory, it can have 65535";
    refused(&[], &local(4 * 65_535 + 1), 32, &[], words);
}

#[test]
fn the_driver_divides_unified_memory() {
    let tiny: Vec<String> = Config::load(Start::Preset("unified-tiny"), &["unified.kilobytes=48"]).unwrap().settings();
    let with = |more: &[&'static str]| -> Vec<String> {
        tiny.iter().cloned().chain(more.iter().map(|&setting| setting.to_owned())).collect()
    };
    let of = |more: &[&'static str], kernel: &Kernel, threads| {
        let settings = with(more);
        job(&settings.iter().map(String::as_str).collect::<Vec<_>>(), kernel, threads, &[])
    };
    let small = kernel("EXIT");
    // Two warps of four rows, and 128 bytes, in four slots.
    let division = of(&[], &small, 64).unwrap().division;
    assert_eq!((division.slots, division.register_rows, division.shared_rows, division.cache_lines), (4, 32, 1, 64));
    let refused = |more: &[&'static str], kernel: &Kernel, threads, words: &str| {
        let refusal = of(more, kernel, threads).unwrap_err();
        assert_eq!(refusal.to_string(), format!("kernel `k` does not fit this SM: {words}"));
    };
    let large = Kernel { static_shared: 45_000, ..small.clone() };
    assert!(of(&[], &large, 32).is_ok(), "more than a scratchpad of its own would have");
    let words = "a block takes 16 rows for registers and 89 for shared memory, there are 96 (unified.kilobytes, without \
                 launch.cache_kilobytes)";
    refused(&[], &large, 128, words);
    let words = "a block takes 4 rows for registers and 89 for shared memory, there are 92 (unified.kilobytes, without \
                 launch.cache_kilobytes)";
    refused(&["launch.cache_kilobytes=2"], &large, 32, words);
    let words = "a block has 128 threads, 100 may be resident (launch.threads)";
    refused(&["launch.threads=100"], &small, 128, words);
    assert_eq!(job(&[], &small, 64, &[]).unwrap().division, Division::NOTHING);
}

#[test]
fn every_operation_has_a_unit() {
    let all =
        "FADD R1, R2, R3\nMUFU.RCP R1, R2\nATOM.SHARED.ADD.F32 RZ, [R1], R2\nATOM.GLOBAL.ADD.F32 RZ, [R1:R2], R2\nEXIT";
    assert!(job(&[], &kernel(all), 32, &[]).is_ok());
}

#[test]
fn registers_one_by_one_fit_by_their_number_and_shared_memory_in_words() {
    let places = ["mrf.allocation=registers"];
    let registers = |registers| Kernel { registers, ..kernel("EXIT") };
    // 1024 registers; 24 warps of 42 take 1008 of them, and 72 rows of 64.
    assert!(job(&[], &registers(42), 768, &[]).is_err());
    assert!(job(&places, &registers(42), 768, &[]).is_ok());
    let words = "a block of 24 warps with 43 registers takes 1032 registers of the register file, which has 1024 \
                 (mrf.kilobytes; --registers limits those of a thread)";
    refused(&places, &registers(43), 768, &[], words);
    let shared = |static_shared| Kernel { static_shared, ..kernel("EXIT") };
    let steps = |settings: &[&str]| job(settings, &shared(50), 32, &[]).unwrap().places.step;
    assert_eq!((steps(&[]), steps(&places)), (256, 152));
    let words = "a block takes 4100 bytes of shared memory, there are 4096 (sm.shared_kilobytes)";
    refused(&[places[0], "sm.shared_kilobytes=4"], &shared(3997), 32, &[], words);
}

#[test]
fn guests_are_asked_for_where_blocks_may_share() {
    let settings = ["mrf.allocation=registers", "share.present=true", "share.private=3"];
    let asked = |settings: &[&str]| {
        let kernel = Kernel { static_shared: 50, ..kernel("EXIT") };
        let job = job(settings, &kernel, 32, &[]).unwrap();
        (job.share, job.private, job.private_shared)
    };
    assert_eq!(asked(&settings), (true, 5, 150), "three tenths of 16 registers");
    assert_eq!(asked(&[settings[0]]), (false, 2, 150));
    let scratchpad = [settings[0], settings[1], settings[2], "share.resource=scratchpad"];
    assert_eq!(asked(&scratchpad), (true, 16, 48), "three tenths of 150 bytes, in words");
}

#[test]
fn results_of_global_atomic_operations_need_the_rule_of_the_oldest() {
    let share = ["mrf.allocation=registers", "share.present=true", "share.lock=first"];
    let words = "instruction 1 is an atomic operation on global memory whose result is used. With share.lock = first a block that holds \
                 a mutex may wait for its lock while its partner, which has it, waits for the mutex (share.lock=oldest)";
    for atomic in ["ATOM.GLOBAL.ADD R1, [R2:R3], R4", "CAS.GLOBAL R1, [R2], R3, R4"] {
        let code = kernel(&format!("NOP\n{atomic}\nEXIT"));
        refused(&share, &code, 32, &[], words);
        assert!(job(&share[..2], &code, 32, &[]).is_ok(), "{atomic}");
        assert!(job(&[share[2]], &code, 32, &[]).is_ok(), "without sharing the rule means nothing");
    }
    for code in ["ATOM.SHARED.ADD R1, [R2], R4\nEXIT", "ATOM.GLOBAL.ADD RZ, [R2:R3], R4\nEXIT"] {
        assert!(job(&share, &kernel(code), 32, &[]).is_ok(), "{code}");
    }
}
