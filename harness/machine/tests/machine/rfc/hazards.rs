//! The hazards of the register file cache and the two-level scheduler (docs/blocks/rfc.md, "Hazards"): a small program for each, on the RTL. It leaves what it should,
//! and with the hazard's handling taken out of the RTL it does not.
//!
//! One build has all of that: where a handling is taken out, the source asks for `removed == N`, which is written from here. The oracle is asked on the model, where the
//! intact program has to give the same results in the same cycles.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::OnceLock;

use crate::common::{Program, settings};
use gpurf_machine::{Machine, ModelEngine, RtlEngine, Settings, request};
use verilated::{Library, Options, Toolchain};

/// Two slots with two entries each: whatever is written is soon evicted.
const SET: &[&str] = &[
    "mrf.banks=4",
    "mrf.collectors=4",
    "mrf.kilobytes=32",
    "sm.warps=8",
    "sm.active_warps=2",
    "sm.patience=16",
    "sm.code_words=2048",
    "sm.const_kilobytes=4",
    "sm.shared_kilobytes=4",
    "sm.line_rows=4",
    "rfc.entries=2",
    "rfc.live=true",
    "memory.latency=20",
];

/// A handling, taken out: texts of modules, each of which occurs once, and what stands there instead. `REMOVED` is whether it is out.
struct Removal {
    what: &'static str,
    places: &'static [(&'static str, &'static str, &'static str)],
}

/// A program, and what it comes to.
struct Case {
    hazard: u8,
    code: fn() -> String,
    threads: u32,
    /// What a thread leaves in the buffer, and 128 words after it.
    leaves: fn(u32) -> [u32; 2],
    /// Events that show that the program met what it is about, and events that must not come.
    some: &'static [&'static str],
    none: &'static [&'static str],
    /// Whether the oracle can say what it does: warps may see each other's stores.
    judged: bool,
    removals: &'static [Removal],
}

/// Lanes of the even threads are those of P0.
const EVEN: &str = "LOP3.LUT192 R5, R0, 1, RZ\nISETP.EQ.AND P0, R5, 0, PT";

/// Results take the entries of all others, and there is time for that.
fn evict() -> String {
    "MOV R20, 0x11111111\nMOV R21, 0x22222222\nMOV R22, 0x33333333\n".to_owned() + &wait(16)
}

const FIRST: &str = "[R2:RZ]";
const SECOND: &str = "[R2:RZ+0x200]";

/// That many cycles without anything else to issue.
fn wait(cycles: usize) -> String {
    "NOP\n".repeat(cycles)
}

/// What most of them have.
const CASE: Case = Case {
    hazard: 0,
    code: String::new,
    threads: 32,
    leaves: |_| [0, 0],
    some: &[],
    none: &[],
    judged: true,
    removals: &[],
};

const CASES: &[Case] = &[
    Case {
        hazard: 1,
        code: || {
            let evict = evict();
            format!(
                "{EVEN}
                IADD R9, PT, R0, 100, !PT
                {evict}
                @P0 IADD R9, PT, R0, 200, !PT
                ST.GLOBAL.B32 {FIRST}, R9
                {evict}
                ST.GLOBAL.B32 {SECOND}, R9"
            )
        },
        leaves: |thread| [thread + if thread % 2 == 0 { 200 } else { 100 }; 2],
        some: &["rfc_partial", "rfc_evict"],
        removals: &[
            Removal {
                what: "a read takes all lanes from the entry",
                places: &[(
                    "rfc_tags",
                    "valid_q[index_of(look_slot_i, e)] & look_mask_i",
                    "(REMOVED ? look_mask_i : valid_q[index_of(look_slot_i, e)] & look_mask_i)",
                )],
            },
            Removal {
                what: "an eviction writes all lanes",
                places: &[("rfc_tags", "= dirty_q[evict_index_o];", "= dirty_q[evict_index_o] | {Lanes{REMOVED}};")],
            },
        ],
        ..CASE
    },
    Case {
        hazard: 2,
        // The fall-through runs first; its lanes do not read R9 again.
        code: || {
            let evict = evict();
            format!(
                "{EVEN}
                IADD R9, PT, R0, 300, !PT
                @P0 BRA even, join joined
                IADD R10, PT, R9, 1, !PT {{last=a}}
                {evict}
                BRA joined, join none
                even:
                IADD R10, PT, R9, 2, !PT
                joined:
                ST.GLOBAL.B32 {FIRST}, R10"
            )
        },
        leaves: |thread| [thread + if thread % 2 == 0 { 302 } else { 301 }, 0],
        some: &["rfc_marked"],
        removals: &[Removal {
            what: "a last read makes all lanes dead",
            places: &[(
                "rfc_tags",
                "<= dirty_q[Entries*j+e] & ~look_mask_i;",
                "<= REMOVED ? '0 : dirty_q[Entries*j+e] & ~look_mask_i;",
            )],
        }],
        ..CASE
    },
    Case {
        hazard: 4,
        code: || {
            let evict = evict();
            format!(
                "{EVEN}
                IADD R9, PT, R0, 400, !PT
                {evict}
                @P0 IADD R9, PT, R0, 500, !PT
                IADD R10, PT, R9, 1, !PT
                @P0 IADD R11, PT, R10, 1, !PT {{last=a}}
                @!P0 IADD R11, PT, R10, 2, !PT {{last=a}}
                ST.GLOBAL.B32 {FIRST}, R11
                {evict}
                ST.GLOBAL.B32 {SECOND}, R11"
            )
        },
        leaves: |thread| [thread + if thread % 2 == 0 { 502 } else { 403 }; 2],
        some: &["rfc_dead"],
        removals: &[
            Removal {
                what: "a guarded write is taken for one of all lanes",
                places: &[(
                    "rfc_tags",
                    "valid_q[Entries*j+e] <= op_mask_i;",
                    "valid_q[Entries*j+e] <= op_mask_i | {Lanes{REMOVED}};",
                )],
            },
            Removal {
                what: "a guarded last read kills nothing",
                places: &[(
                    "rfc_tags",
                    "if (look_last_i[k] && hit[k])",
                    "if (look_last_i[k] && hit[k] && !(REMOVED && look_mask_i != '1))",
                )],
            },
        ],
        ..CASE
    },
    Case {
        hazard: 6,
        // The load is of the even lanes, and of zeros. What it has not written has to come through an eviction.
        code: || {
            let evict = evict();
            format!(
                "{EVEN}
                IADD R9, PT, R0, 600, !PT
                @P0 LD.GLOBAL.B32 R9, {FIRST}
                ST.GLOBAL.B32 {FIRST}, R9
                {evict}
                ST.GLOBAL.B32 {SECOND}, R9"
            )
        },
        leaves: |thread| [if thread % 2 == 0 { 0 } else { thread + 600 }; 2],
        some: &["rfc_kill"],
        removals: &[
            Removal {
                what: "the older copy stays",
                places: &[(
                    "rfc_tags",
                    "= op_valid_i && op_kill_i && op_found;",
                    "= op_valid_i && op_kill_i && op_found && !REMOVED;",
                )],
            },
            Removal {
                what: "the older copy goes in all lanes",
                places: &[
                    (
                        "rfc_tags",
                        "<= valid_q[Entries*j+e] & ~op_mask_i;",
                        "<= REMOVED ? '0 : valid_q[Entries*j+e] & ~op_mask_i;",
                    ),
                    (
                        "rfc_tags",
                        "<= dirty_q[Entries*j+e] & ~op_mask_i &",
                        "<= {Lanes{!REMOVED}} & dirty_q[Entries*j+e] & ~op_mask_i &",
                    ),
                ],
            },
        ],
        ..CASE
    },
    Case {
        hazard: 7,
        // R11 takes the entry of R9, sooner or later around the read of R9.
        code: || sum((0..8).map(|gap| (gap, 0)), |round| format!("IADD R12, PT, R9, {round}, !PT")),
        leaves: |thread| [8 * thread + (0..8).map(|round| 1000 * (round + 1) + round).sum::<u32>(), 0],
        some: &["rfc_hit", "rfc_evict"],
        removals: &[Removal {
            what: "results are written a cycle sooner, with their tags",
            places: &[
                ("rfc_data", ".we_i   (d_write_q)", ".we_i   (REMOVED ? write_valid_i : d_write_q)"),
                ("rfc_data", ".waddr_i(d_write_index_q)", ".waddr_i(REMOVED ? write_index_i : d_write_index_q)"),
                ("rfc_data", ".wmask_i(d_write_mask_q)", ".wmask_i(REMOVED ? write_mask_i : d_write_mask_q)"),
                ("rfc_data", ": d_write_data_q),", ": REMOVED ? write_data_i : d_write_data_q),"),
            ],
        }],
        ..CASE
    },
    Case {
        hazard: 8,
        // R9 is read shortly after its eviction.
        code: || sum((0..24).map(|gap| (0, gap)), |round| format!("IADD R12, PT, R9, {round}, !PT")),
        leaves: |thread| [24 * thread + (0..24).map(|round| 1000 * (round + 1) + round).sum::<u32>(), 0],
        some: &["rfc_stall_eviction"],
        removals: &[Removal {
            what: "what is missed is read at once",
            places: &[(
                "rfc",
                "if (missing[Operands*p+k] && evictions_look_match[p][k])",
                "if (missing[Operands*p+k] && evictions_look_match[p][k] && !REMOVED)",
            )],
        }],
        ..CASE
    },
    Case {
        hazard: 8,
        // R9 is loaded, zeros, and its older value is evicted sooner or later around that.
        code: || {
            let mut code = String::from("MOV R13, 0\n");
            for round in 0..24 {
                let (value, gap) = (1000 * (round + 1), wait(round));
                write!(
                    code,
                    "IADD R9, PT, R0, {value}, !PT
                    MOV R10, 1
                    LD.GLOBAL.B32 R9, {SECOND}
                    {gap}MOV R11, 2
                    IADD R13, PT, R13, R9, !PT\n"
                )
                .unwrap();
            }
            code + "ST.GLOBAL.B32 [R2:RZ], R13"
        },
        leaves: |_| [0, 0],
        some: &["rfc_kill", "rfc_evict"],
        removals: &[Removal {
            what: "a result around the cache passes the older value",
            places: &[("rfc_results", "& ~match_i &", "& (~match_i | {IssuePorts{REMOVED}}) &")],
        }],
        ..CASE
    },
    Case {
        hazard: 10,
        // The warp leaves while the addition is under way, and loads that go to eight lines each wait in the operand stage.
        code: || {
            format!(
                "LDC.B32 R3, [RZ+0x8]
                LOP3.LUT192 R4, R0, 7, RZ
                IMAD.LO R4, PT, R4, 128, R3, !PT
                IADD R9, PT, R0, 500, !PT
                LD.GLOBAL.B32 R8, [R4:RZ]
                LD.GLOBAL.B32 R8, [R4:RZ]
                LD.GLOBAL.B32 R11, [R4:RZ]
                IADD R9, PT, R9, 7, !PT
                IADD R10, PT, R8, R9, !PT {{deschedule}}
                IADD R10, PT, R10, R11, !PT
                ST.GLOBAL.B32 {FIRST}, R10"
            )
        },
        threads: 128,
        leaves: |thread| [thread + 507, 0],
        some: &["leave_mark", "drain"],
        removals: &[
            Removal {
                what: "results are not waited for",
                places: &[("two_level_scheduler", "&& short_q[s] == '0;", "&& (short_q[s] == '0 || REMOVED);")],
            },
            Removal {
                what: "instructions in the operand stage are not waited for",
                places: &[(
                    "two_level_scheduler",
                    "&& resident_q[s] == '0 &&",
                    "&& (resident_q[s] == '0 || REMOVED) &&",
                )],
            },
        ],
        ..CASE
    },
    Case {
        hazard: 12,
        // Warps come back into slots that others have had.
        code: || {
            format!(
                "IADD R9, PT, R0, 700, !PT
                LD.GLOBAL.B32 R8, {FIRST}
                IADD R10, PT, R0, 50, !PT
                IADD R9, PT, R9, R8, !PT {{deschedule}}
                IADD R9, PT, R9, R10, !PT
                ST.GLOBAL.B32 {FIRST}, R9"
            )
        },
        threads: 128,
        leaves: |thread| [2 * thread + 750, 0],
        some: &["rfc_flush"],
        removals: &[Removal {
            what: "a slot is given out before it is empty",
            places: &[("two_level_scheduler", "if (flush_done_i[s])", "if (flush_done_i[s] || REMOVED)")],
        }],
        ..CASE
    },
    Case {
        hazard: 13,
        code: || format!("BAR.ID0 RZ\nST.GLOBAL.B32 {FIRST}, R0"),
        threads: 128,
        leaves: |thread| [thread, 0],
        some: &["leave_barrier"],
        removals: &[Removal {
            what: "a warp at a barrier keeps its slot",
            places: &[(
                "two_level_scheduler",
                "!stay && held_i[IndexW'(warp_q[s])]",
                "!stay && !REMOVED && held_i[IndexW'(warp_q[s])]",
            )],
        }],
        ..CASE
    },
    Case {
        hazard: 14,
        // The first two warps have the slots, and look for what the others write; after a while they give up.
        code: || {
            format!(
                "MOV R8, 0
                MOV R9, 0x5eed
                ISETP.LT.AND P0, R0, 64, PT
                @P0 BRA spin, join none
                ST.SHARED.B32 [RZ], R9
                ST.GLOBAL.B32 {FIRST}, R9
                EXIT
                spin:
                LD.SHARED.B32 R7, [RZ]
                IADD R8, PT, R8, 1, !PT
                ISETP.NE.AND P1, R7, R9, PT
                ISETP.LT.AND P1, R8, 200, P1
                @P1 BRA spin, join none
                ST.GLOBAL.B32 {FIRST}, R7"
            )
        },
        threads: 128,
        leaves: |_| [0x5eed, 0],
        some: &["leave_patience"],
        judged: false,
        removals: &[Removal {
            what: "a warp that spins keeps its slot",
            places: &[("two_level_scheduler", "issued_q[s] >= patience &&", "issued_q[s] >= patience && !REMOVED &&")],
        }],
        ..CASE
    },
    Case {
        hazard: 16,
        // Every warp ends with values in the cache.
        code: || format!("ST.GLOBAL.B32 {FIRST}, R0\nIADD R9, PT, R0, 1, !PT\nIADD R10, PT, R0, 1, !PT"),
        threads: 128,
        leaves: |thread| [thread, 0],
        some: &["leave_end"],
        none: &["rfc_flush"],
        removals: &[Removal {
            what: "values of a warp that has ended are written back",
            places: &[(
                "two_level_scheduler",
                "<= ~alive_i[IndexW'(warp_q[s])];",
                "<= ~alive_i[IndexW'(warp_q[s])] && !REMOVED;",
            )],
        }],
        ..CASE
    },
    Case {
        hazard: 16,
        // Loads of warps that have left come while others have their slots, and the loads' register in them.
        code: || {
            let long = wait(14);
            format!(
                "ISETP.LT.AND P0, R0, 64, PT
                @P0 BRA loads, join none
                IADD R8, PT, R0, 800, !PT
                {long}{long}{long}{long}{long}{long}{long}{long}
                ST.GLOBAL.B32 {FIRST}, R8
                EXIT
                loads:
                LD.GLOBAL.B32 R8, {FIRST}
                IADD R8, PT, R8, 900, !PT {{deschedule}}
                ST.GLOBAL.B32 {FIRST}, R8"
            )
        },
        threads: 128,
        leaves: |thread| [if thread < 64 { 900 } else { thread + 800 }, 0],
        some: &["leave_mark"],
        removals: &[Removal {
            what: "a result goes to the slot that it comes from, whoever has it",
            places: &[(
                "rfc_results",
                "if (slot_valid_i[s-1] && slot_warp_i[s-1] == warp_q[b]) begin",
                "if (REMOVED ? s == 1 : slot_valid_i[s-1] && slot_warp_i[s-1] == warp_q[b]) begin",
            )],
        }],
        ..CASE
    },
    Case {
        hazard: 17,
        // R9 is loaded, zeros, after evictions for the results of more and more moves; it is read when they have issued.
        code: || {
            let mut code = String::from("MOV R13, 0\n");
            for round in 0..40 {
                let moves: String = (0..round).map(|n| format!("MOV R{}, {n}\n", 20 + n % 8)).collect();
                write!(
                    code,
                    "IADD R9, PT, R0, {}, !PT
                    LD.GLOBAL.B32 R9, {SECOND}
                    {moves}IADD R13, PT, R13, R9, !PT\n",
                    1000 * (round + 1)
                )
                .unwrap();
            }
            code + "ST.GLOBAL.B32 [R2:RZ], R13"
        },
        some: &["rfc_stall_result", "rfc_evict"],
        removals: &[Removal {
            what: "a register is read whose result is in its latch",
            places: &[(
                "rfc",
                "if (src_valid_q[p][k] && src_reg_q[Operands*p+k] == results_result_reg[b])",
                "if (src_valid_q[p][k] && src_reg_q[Operands*p+k] == results_result_reg[b] && !REMOVED)",
            )],
        }],
        ..CASE
    },
];

/// Rounds of: R9 and R10 are new, R11 takes the entry of R9, `read` puts something into R12, which is added up. Before R11, and before the read, there is a gap.
fn sum(gaps: impl Iterator<Item = (usize, usize)>, read: impl Fn(usize) -> String) -> String {
    let mut code = String::from("MOV R13, 0\n");
    for (round, (before, behind)) in gaps.enumerate() {
        let (value, before, behind, read) = (1000 * (round + 1), wait(before), wait(behind), read(round));
        write!(
            code,
            "IADD R9, PT, R0, {value}, !PT\nMOV R10, 1\n{before}MOV R11, 2\n{behind}{read}\nIADD R13, PT, R13, R12, !PT\n"
        )
        .unwrap();
    }
    code + "ST.GLOBAL.B32 [R2:RZ], R13"
}

/// All removals, numbered from 1.
fn removals() -> impl Iterator<Item = (u8, &'static Case, &'static Removal)> {
    let all = CASES.iter().flat_map(|case| case.removals.iter().map(move |removal| (case, removal)));
    (1..).zip(all).map(|(number, (case, removal))| (number, case, removal))
}

/// The RTL with all places.
fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hazards");
        std::fs::create_dir_all(&folder).unwrap();
        let options =
            Options { optimise: false, probes: false, knobs: vec!["removed".to_owned()], ..Options::default() };
        let mut request = request(&root.join("rtl"), &settings(SET).config, options);
        let mut sources: BTreeMap<&str, String> = BTreeMap::new();
        for (number, _, removal) in removals() {
            for (module, it, instead) in removal.places {
                let source = sources.entry(*module).or_insert_with(|| {
                    let path = request.sources.iter().find(|path| path.file_stem().unwrap() == *module).unwrap();
                    let text = std::fs::read_to_string(path).unwrap();
                    text.replacen("\n);\n", "\n);\n  logic [7:0] removed;\n", 1)
                });
                assert_eq!(source.matches(it).count(), 1, "{}: {it:?} in {module}", removal.what);
                *source = source.replace(it, &instead.replace("REMOVED", &format!("(removed == 8'd{number})")));
            }
        }
        for (module, source) in sources {
            let file = folder.join(format!("{module}.sv"));
            // One that is as it was is not built again.
            if !std::fs::read_to_string(&file).is_ok_and(|old| old == source) {
                std::fs::write(&file, source).unwrap();
            }
            assert!(request.replace(module, &file));
        }
        Toolchain::find(&root.join("target/verilated")).unwrap().build(&request).unwrap()
    })
}

fn quick() -> Settings {
    Settings { idle_limit: 2000, ..settings(SET) }
}

impl Case {
    fn program(&self) -> Program {
        Program::new(&(self.code)(), 1, self.threads)
    }

    /// Runs the program on an engine; what is wrong with the outcome, if something is.
    fn wrong(&self, engine: &mut impl Machine) -> Option<String> {
        let found = match self.program().run(engine) {
            Ok(found) => found,
            Err(error) => return Some(error.to_string()),
        };
        for thread in 0..self.threads {
            let expected = (self.leaves)(thread);
            let leaves = [found[thread as usize], found[thread as usize + 128]];
            if leaves != expected {
                return Some(format!("thread {thread} leaves {leaves:?}, and not {expected:?}"));
            }
        }
        let events = engine.statistics().events;
        let missing = self.some.iter().find(|event| events[**event] == 0).map(|event| format!("there is no {event}"));
        let too_many = self.none.iter().find(|event| events[**event] != 0);
        missing.or(too_many.map(|event| format!("there are {} {event}", events[*event])))
    }
}

#[test]
fn every_hazard_has_a_program_that_comes_out_right() {
    for case in CASES {
        let name = format!("hazard {}: {}", case.hazard, case.removals[0].what);
        let mut rtl = RtlEngine::new(quick(), library()).unwrap();
        rtl.set_knobs(0);
        assert_eq!(case.wrong(&mut rtl), None, "{name}");
        let mut model = if case.judged { ModelEngine::judged(quick()) } else { ModelEngine::new(quick()) };
        assert_eq!(case.wrong(&mut model), None, "{name}, on the model");
        let (rtl, model) = (rtl.statistics(), model.statistics());
        assert_eq!((rtl.cycles, rtl.events), (model.cycles, model.events), "{name}");
    }
}

#[test]
fn without_the_handling_of_its_hazard_every_program_goes_wrong() {
    let mut unmet = Vec::new();
    for (number, case, removal) in removals() {
        let mut rtl = RtlEngine::new(quick(), library()).unwrap();
        rtl.set_knobs(number);
        let wrong = case.wrong(&mut rtl);
        unmet.extend(wrong.is_none().then_some((case.hazard, removal.what)));
    }
    assert_eq!(unmet, []);
}
