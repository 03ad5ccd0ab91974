//! Times of single results, on programs whose times are known, and on kernels.

use std::collections::BTreeMap;

use crate::common::{Program, alone, settings};
use gpurf_blocks::config::{Config, Start};
use gpurf_blocks::designs::DESIGNS;
use gpurf_machine::measures::{
    FIRST_READ, IN_CONFLICT, IN_CONFLICT_CACHE, IN_CONFLICT_OWN, IN_CONFLICT_OWN_MEMORY, IN_CONFLICT_OWN_REGISTERS,
    IN_CONFLICT_OWN_SCRATCHPAD, IN_CONFLICT_REGISTERS, IN_CONFLICT_SCRATCHPAD, PARKED_CYCLES, PARKED_FIRST_READ,
    READY_WARPS,
};
use gpurf_machine::{Machine, ModelEngine, Settings, Statistics};

fn measured(set: &[&str]) -> Settings {
    Settings { measure: true, ..settings(set) }
}

/// A warp whose links are so many instructions whose results are not read after one that reads its own result; `tail` at the end.
fn chain(links: usize, apart: usize, tail: &str) -> Statistics {
    let others: String = (0..apart).map(|k| format!("MOV R{}, 0\n", 8 + k)).collect();
    let link = format!("IADD R4, PT, R4, 1, !PT\n{others}");
    let program = Program::new(&format!("MOV R4, 0\n{}{tail}", link.repeat(links)), 1, 32);
    let mut engine = ModelEngine::new(measured(&[]));
    program.run(&mut engine).unwrap();
    engine.statistics()
}

/// What a spread has more than another one.
fn more(of: &Statistics, than: &Statistics, name: &str) -> BTreeMap<u64, u64> {
    let less = |value: &u64| than.spreads[name].get(value).copied().unwrap_or(0);
    let more = of.spreads[name].iter().map(|(value, count)| (*value, count - less(value)));
    more.filter(|(_, count)| *count > 0).collect()
}

#[test]
fn a_result_is_first_read_as_much_later_as_its_reader_comes() {
    let links = |apart| more(&chain(30, apart, ""), &chain(10, apart, ""), FIRST_READ);
    // The reader waits for its operand: it issues in the cycle after the write, and its read is there in the next one.
    assert_eq!(links(0), [(2, 20)].into());
    assert_eq!(links(3), [(2, 20)].into());
    // A warp alone issues every second cycle, and the result is written in the twelfth one after the issue.
    for apart in [6, 7, 14, 20] {
        let issue = 2 * (apart as u64 + 1);
        assert_eq!(links(apart), [(issue + 1 - 12, 20)].into(), "{apart}");
    }
}

#[test]
fn only_the_first_read_of_a_result_counts() {
    let all = |statistics: &Statistics| statistics.spreads[FIRST_READ].values().sum::<u64>();
    let once = chain(10, 0, "");
    // A second reader of the last link's result, one register twice, and a result that is not read.
    let again = chain(10, 0, "IADD R8, PT, R4, R4, !PT\nIADD R9, PT, R4, R4, !PT\n");
    assert_eq!(all(&again), all(&once) + 1);
    assert!(again.spreads[PARKED_FIRST_READ].is_empty() && again.spreads[PARKED_CYCLES].is_empty());
}

#[test]
fn a_warp_is_ready_in_the_cycles_in_which_it_may_issue() {
    // It waits for its own result, and issues as soon as it may.
    let ready = |links| chain(links, 0, "").events[READY_WARPS];
    assert_eq!(ready(30) - ready(10), 20);
}

#[test]
fn a_new_warp_has_no_results() {
    // What the first block leaves in R4 is not read by the second one.
    let blocks = |blocks| {
        let program = Program::new("IADD R4, PT, R9, 1, !PT\nMOV R9, 0", blocks, 32);
        let mut engine = ModelEngine::new(measured(&["sm.warps=8"]));
        program.run(&mut engine).unwrap();
        engine.statistics().spreads[FIRST_READ].values().sum::<u64>()
    };
    assert_eq!(blocks(40), 40 * blocks(1));
}

/// Instructions in conflict that a warp alone has more with some instructions than without them: of any kind, about registers, scratchpad, cache.
fn in_conflict(preset: &str, before: &str, code: &str) -> [u64; 4] {
    counted([IN_CONFLICT, IN_CONFLICT_REGISTERS, IN_CONFLICT_SCRATCHPAD, IN_CONFLICT_CACHE], preset, before, code)
}

/// Likewise instructions that access a bank more than once: of any kind, registers alone, lanes of the scratchpad, registers and memory.
fn in_own_conflict(preset: &str, before: &str, code: &str) -> [u64; 4] {
    let kinds = [IN_CONFLICT_OWN_REGISTERS, IN_CONFLICT_OWN_SCRATCHPAD, IN_CONFLICT_OWN_MEMORY];
    counted([IN_CONFLICT_OWN, kinds[0], kinds[1], kinds[2]], preset, before, code)
}

/// What a warp alone counts more with some instructions than without them.
fn counted(names: [&str; 4], preset: &str, before: &str, code: &str) -> [u64; 4] {
    let counts = |code: &str| {
        let mut program = Program::new(&format!("{before}\n{code}"), 1, 32);
        program.kernel.static_shared = 8192;
        let config = preset_config(preset);
        let mut engine = ModelEngine::new(Settings { measure: true, ..Settings::new(config) });
        program.run(&mut engine).unwrap();
        let events = engine.statistics().events;
        names.map(|name| events[name])
    };
    let (with, without) = (counts(&code.repeat(10)), counts(""));
    std::array::from_fn(|kind| with[kind] - without[kind])
}

fn preset_config(name: &str) -> Config {
    gpurf_blocks::config::preset(name).expect("a preset").config
}

#[test]
fn an_instruction_that_reads_two_registers_of_a_bank_is_in_conflict_once() {
    let reads = |code| in_conflict("mrf-1r1w", "", code);
    assert_eq!(reads("IADD R8, PT, R4, R12, !PT\n"), [10, 10, 0, 0], "one bank of four");
    assert_eq!(reads("IADD R8, PT, R4, R13, !PT\n"), [0; 4], "two banks");
    assert_eq!(reads("IADD R8, PT, R4, R4, !PT\n"), [0; 4], "one register is read once");
    // Three reads of one bank: two of them wait, one of them twice.
    assert_eq!(reads("IMAD.LO R8, PT, R4, R12, R16, !PT\n"), [10, 10, 0, 0]);
}

/// Lane l's address in R4: `stride` bytes apart, and odd lanes so many bytes further.
fn addresses(stride: u32, odd: u32) -> String {
    format!(
        "LOP3.LUT192 R5, R0, 1, RZ\nIMAD.LO R5, PT, R5, {odd}, RZ, !PT\nIMAD.LO R4, PT, R0, {stride}, R5, !PT\nMOV R7, 0\n"
    )
}

#[test]
fn an_instruction_whose_lanes_share_a_bank_of_the_scratchpad_is_in_conflict_once() {
    let store = "ST.SHARED.B32 [R4], R7\n";
    for (stride, odd, fixed, unified) in [
        (4, 0, 0, 0),
        // All lanes in one bank: 32 passes.
        (128, 0, 10, 10),
        // 32 banks of four bytes, and two rows of each cluster's 16 bytes.
        (4, 128, 0, 10),
    ] {
        let before = addresses(stride, odd);
        assert_eq!(in_conflict("cached", &before, store), [fixed, 0, fixed, 0], "{stride} {odd}");
        assert_eq!(in_conflict("unified-tiny", &before, store), [unified, 0, unified, 0], "{stride} {odd}");
    }
    // Address and value in one bank of registers too: one instruction all the same.
    let twice = "ST.SHARED.B32 [R4], R8\n";
    assert_eq!(in_conflict("cached", &addresses(128, 0), twice), [10, 10, 10, 0]);
}

/// Instructions of other warps and of other kinds do not count.
#[test]
fn an_instruction_that_accesses_a_bank_twice_is_in_conflict_with_itself() {
    let reads = |code| in_own_conflict("mrf-1r1w", "", code);
    assert_eq!(reads("IADD R8, PT, R4, R12, !PT\n"), [10, 10, 0, 0], "one bank of four");
    assert_eq!(reads("IADD R8, PT, R4, R13, !PT\n"), [0; 4], "two banks");
    assert_eq!(reads("IADD R8, PT, R4, R4, !PT\n"), [0; 4], "one register is read once");
    assert_eq!(reads("IMAD.LO R8, PT, R4, R12, R16, !PT\n"), [10, 10, 0, 0], "three reads of a bank");
    // Lanes of the scratchpad: the same as without other instructions.
    let store = "ST.SHARED.B32 [R4], R7\n";
    for (stride, odd, fixed, unified) in [(4, 0, 0, 0), (128, 0, 10, 10), (4, 128, 0, 10)] {
        let before = addresses(stride, odd);
        assert_eq!(in_own_conflict("cached", &before, store), [fixed, 0, fixed, 0], "{stride} {odd}");
        assert_eq!(in_own_conflict("unified-tiny", &before, store), [unified, 0, unified, 0], "{stride} {odd}");
    }
    // The address is in column 0. A load from the same column meets it, a load from the next column and a store do not.
    let load = "LD.SHARED.B32 R9, [R4]\n";
    let next = format!("{}IADD R4, PT, R4, 128, !PT\n", addresses(4, 0));
    for (before, code, unified) in [(&addresses(4, 0), load, 10), (&next, load, 0), (&addresses(4, 0), store, 0)] {
        assert_eq!(in_own_conflict("unified-tiny", before, code), [unified, 0, 0, unified], "{code}");
        assert_eq!(in_own_conflict("cached", before, code), [0; 4], "{code}");
    }
}

#[test]
fn conflicts_of_instructions_agree_with_what_waits_in_each_cycle() {
    let (mut waited, mut own) = ([0; 2], [0; 2]);
    for (preset, set) in [
        ("cached", &[][..]),
        ("unified-tiny", &[]),
        ("unified-tiny", &["unified.ports=separate"]),
        ("unified-384", &[]),
        ("unified-384-flat", &[]),
        ("fixed-256-flat", &[]),
    ] {
        let config = Config::load(Start::Preset(preset), set).unwrap();
        for name in ["matrixMul", "srad", "bfs", "histogram"] {
            let (Statistics { events, .. }, ..) = alone(name, Settings { measure: true, ..Settings::new(config) });
            let of = |name: &str| events.get(name).copied().unwrap_or(0);
            let kinds = [IN_CONFLICT_REGISTERS, IN_CONFLICT_SCRATCHPAD, IN_CONFLICT_CACHE].map(of);
            let any = of(IN_CONFLICT);
            assert!(any <= kinds.iter().sum() && any >= kinds.into_iter().max().unwrap(), "{name} {preset} {set:?}");
            assert!(any < of("issue"), "{name} {preset} {set:?}");
            // Each conflict is counted in some cycle, and in each cycle with one an instruction has it.
            let reads = of("conflict_intra") + of("conflict_inter");
            let lost = of("unified_shared_read_lost") + of("unified_shared_write_lost");
            let lines = of("unified_cache_read_wait") + of("unified_cache_write_wait");
            for (kind, cycles) in kinds.into_iter().zip([reads, of("shared_conflict") + lost, lines]) {
                assert!(kind <= cycles && (kind > 0) == (cycles > 0), "{name} {preset} {set:?}: {kind} of {cycles}");
            }
            waited[0] += kinds[2];
            waited[1] += lost;
            // An instruction that accesses a bank twice also waits.
            let [registers, lanes, memory] =
                [IN_CONFLICT_OWN_REGISTERS, IN_CONFLICT_OWN_SCRATCHPAD, IN_CONFLICT_OWN_MEMORY].map(of);
            assert!(registers <= kinds[0] && lanes <= kinds[1], "{name} {preset} {set:?}");
            let common = config.unified.is_present() && set.is_empty();
            assert!(common || memory == 0, "{name} {preset} {set:?}");
            own[usize::from(common)] += memory;
            let any = of(IN_CONFLICT_OWN);
            assert!(any <= registers + lanes + memory && any >= registers.max(lanes).max(memory), "{name} {preset}");
        }
    }
    assert!(own[1] > 0, "{own:?}");
    assert!(waited.iter().all(|&count| count > 0), "{waited:?}");
}

#[test]
fn kernels_are_measured_with_every_design_and_nothing_else_changes() {
    for design in DESIGNS {
        let set = design.main_preset;
        let parks = design.events.iter().copied().flatten().any(|(field, _)| *field == "parked");
        let plain = || Settings::new(design.config());
        let measured = || Settings { measure: true, ..plain() };
        let mut in_all = 0;
        for name in ["matrixMul", "blackScholes", "srad"] {
            let (statistics, buffers, skipped) = alone(name, measured());
            // Cycles that are skipped are measured as if they had been run.
            let every = alone(name, Settings { skip: false, ..measured() });
            assert_eq!((&statistics, &buffers, 0), (&every.0, &every.1, every.2), "{name} {set}");
            let (unmeasured, same, _) = alone(name, plain());
            in_all += skipped;
            assert_eq!(same, buffers, "{name} {set}");
            let Statistics { cycles, events, spreads, .. } = statistics;
            let others = |(field, _): &(&&str, &u64)| **field != READY_WARPS && !field.starts_with(IN_CONFLICT);
            assert!(unmeasured.events.iter().eq(events.iter().filter(others)), "{name} {set}");
            assert_eq!(unmeasured.cycles, cycles, "{name} {set}");
            let count = |name| spreads[name].values().sum::<u64>();
            let sum = |name| spreads[name].iter().map(|(value, count)| value * count).sum::<u64>();
            assert!(events[READY_WARPS] >= events["issue"], "{name} {set}");
            assert!(count(FIRST_READ) > 100 && !spreads[FIRST_READ].contains_key(&1), "{name} {set}");
            assert_eq!(count(PARKED_CYCLES) > 0, parks, "{name} {set}");
            if parks {
                let returns: u64 =
                    ["return_next", "return_later", "return_forced"].map(|name| events[name]).iter().sum();
                assert_eq!((count(PARKED_CYCLES), sum(PARKED_CYCLES)), (returns, events["parked"]), "{name}");
                let next = spreads[PARKED_CYCLES].get(&1).copied().unwrap_or(0);
                assert!(next >= events["return_next"], "{name}: {next}");
                let first = &spreads[FIRST_READ];
                assert!(spreads[PARKED_FIRST_READ].iter().all(|(value, count)| first[value] >= *count), "{name}");
                assert!(count(PARKED_FIRST_READ) > 0, "{name}");
            }
        }
        assert!(in_all > 0, "{set}");
    }
}
