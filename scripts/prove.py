#!/usr/bin/env python3
"""Proves the properties of tests/formal: what a warp reads from the hybrid register file is what it last wrote (hrf_property), and the scheduler
keeps to what that takes for granted (alternating_property); what is read from the file whose banks are stolen is what was last written
(steal_property), no access that waits there is starved (steal_liveness_property), and with stealing off that file is the baseline's
(steal_off_property); what a load reads through the data cache is what the last store or atomic operation before it left (cache_property); in the unified banks
registers, scratchpad memory and the data cache each read what was last written in their own space (unified_property), and registers are those of a
file of their own (unified_off_property); no access meets a register that is not ON, and no value is lost unless an instruction says so (power_property); of two warps that share
registers one at a time accesses them, and the older block never waits (share_property); the same of two blocks that share scratchpad memory, where a
probe performs nothing (scratchpad_property).

    prove.py [PROPERTY]... [-G NAME=VALUE]... [--rtl MODULE=FILE]... [--timeout SECONDS] [--keep DIR]
    prove.py --mutants [PROPERTY]...
    prove.py --elaborate [PROPERTY]...

A proof by induction over the RTL itself, at small sizes: a warp has four lanes of one bit, and a few registers; before the data
cache it has two lanes of four bytes, and lines have eight. Two questions go to the solver
for each assertion of a property: does it hold in the first cycle after reset, and does it hold in the cycle behind any cycle in which all of
them hold? Where both answers are yes, they hold for ever, whatever the inputs. (Of an assertion that begins with thus instead of must there is
one question: does it hold in any cycle in which those with must do? Of one that begins with hence: in which those with must and thus do?) Straps
are inputs, chosen once. A question has a limit of processor time, so that a verdict does not depend on what else runs. --mutants puts the faults of
tests/formal/*_mutants.toml into the RTL, one at a time. With each of them the assertion has to fail that the list names: a proof that still
closes says nothing.

Needs pyosys and z3 (scripts/bootstrap.sh --proofs). Exit status: 0 proven, or no mutant survives; 1 an assertion fails, or a mutant survives;
2 no verdict, bad usage, or a list of mutants that does not fit the RTL.
"""
import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import tomllib

from pyosys import libyosys as ys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
Z3 = os.path.join(os.path.dirname(sys.executable), "z3")  # of the same environment as Yosys


def modules(folder):
    """The modules of a folder of rtl/."""
    return sorted(f"{folder}/{file.removesuffix('.sv')}" for file in os.listdir(os.path.join(ROOT, "rtl", folder)) if file.endswith(".sv"))


MRF = [module for module in modules("mrf") if module != "mrf/mrf"]
STEAL = modules("ram") + [module for module in MRF if module not in ("mrf/mrf_arbiter", "mrf/mrf_collector")] + modules("steal")
PROPERTIES = {
    "hrf_property": modules("ram") + ["mrf/mrf_allocator", "mrf/mrf_collector"] + modules("hrf"),
    "alternating_property": ["issue/alternating_scheduler"],
    "cache_property": modules("ram") + ["execute/result_queue"] + modules("cache"),
    "power_property": ["power/power_states"],
    "share_property": ["share/share_locks", "share/register_places"],
    "scratchpad_property": ["share/scratchpad_locks", "memory/address_unit"],
    "unified_property": modules("ram") + ["unified/unified_bank", "unified/unified_arbiter"],
    "unified_off_property": modules("ram") + MRF + ["unified/unified_bank", "mrf/mrf"],
    "steal_property": STEAL,
    "steal_liveness_property": STEAL,
    "steal_off_property": STEAL + ["mrf/mrf_collector", "mrf/mrf_arbiter", "mrf/mrf"],
}
SIZES = {"hrf_property": {"Lanes": 4, "LaneW": 1, "RegW": 4, "RcmRegW": 3}, "alternating_property": {"RegW": 3},
         "cache_property": {"Lanes": 2, "LaneW": 32, "GroupLanes": 2, "RegW": 2, "LineOffsetW": 3, "LineW": 3},
         "power_property": {"RegW": 3},
         "share_property": {"RegW": 3, "BlockSlots": 4}, "scratchpad_property": {"Lanes": 4, "RegW": 3, "BlockSlots": 4},
         "unified_property": {"Lanes": 4, "LaneW": 8, "GroupLanes": 2, "ClusterIdxW": 1, "ClusterBytes": 2, "LineOffsetW": 2, "BankRowsW": 4, "SharedRowW": 4},
         "unified_off_property": {"Lanes": 4, "LaneW": 8, "RegW": 4, "GroupLanes": 2, "ClusterIdxW": 1, "ClusterBytes": 2, "LineOffsetW": 2},
         "steal_property": {"Lanes": 4, "LaneW": 1, "RegW": 2}, "steal_liveness_property": {"Lanes": 4, "LaneW": 1, "RegW": 2},
         "steal_off_property": {"Lanes": 8, "LaneW": 1, "RegW": 4}}
KEPT = ("active_groups(", "lowest_warp(", "next_warp(", "returning_atomic(", "uses_memory(", "opcode_of(", "constant_of(", "modifiers_of(")
KEPT_WITH_BYTES = ("size_mask(", "loaded(", "loaded_lanes(", "are_aligned(")  # where a lane has 32 bits


def small_package(text, sizes):
    """The package at the sizes of the proof, without the functions that mean something at full size only."""
    for name, value in sizes.items():
        text, found = re.subn(rf"(localparam int unsigned {name} =) [^;]+;", rf"\1 {value};", text)
        assert found == 1, f"{name} is not in the package"
    names = KEPT + (() if sizes.get("LaneW", 32) < 32 else KEPT_WITH_BYTES)
    def kept(match):
        return match.group(0) if any(name in match.group(0).split(";")[0] for name in names) else ""
    return re.sub(r"  function automatic.*?endfunction\n", kept, text, flags=re.S)


def small_cell(text, sizes):
    """A RAM cell at the sizes of the proof: a word is a warp register unless an instance says otherwise."""
    for name, size in (("Parts", "Lanes"), ("PartW", "LaneW")):
        text, found = re.subn(rf"(parameter int unsigned {name} =) 32", rf"\1 {sizes[size]}", text)
        assert found == 1, f"{name} is not in the cell"
    return text


def transition_system(top, folder, arguments):
    """The property with its design as SMT-LIB functions, and the assertions by name."""
    replaced = dict(pair.split("=", 1) for pair in arguments.rtl)
    sources = []
    for module in ["gpurf_pkg", *PROPERTIES[top]]:
        name = os.path.basename(module)
        source = replaced.get(name) or os.path.join(ROOT, f"rtl/{module}.sv")
        shrink = {"gpurf_pkg": small_package, "ram_1rw": small_cell, "ram_1r1w": small_cell}.get(name)
        if shrink:
            with open(source) as original:
                text = shrink(original.read(), SIZES[top])
            source = os.path.join(folder, f"{name}.sv")
            with open(source, "w") as small:
                small.write(text)
        sources.append(source)
    sources.append(os.path.join(ROOT, f"tests/formal/{top}.sv"))
    command = ["read_slang", "--top", top, "-D", "SYNTHESIS", "-I", os.path.join(ROOT, "rtl"), "-I", os.path.join(ROOT, "tests/formal")]
    for value in arguments.G:
        command += ["-G", value]
    smt = os.path.join(folder, "property.smt2")
    design = ys.Design()
    for step in [" ".join(command + sources), f"hierarchy -top {top}", "proc", "flatten", "opt -full", "memory_map", "opt -full",
                 "async2sync", "chformal -lower", "dffunmap", "opt_clean", f"write_smt2 -stbv {smt}"]:
        design.run_pass(f"tee -q -o {os.path.join(folder, 'yosys.log')} {step}")
    with open(smt) as file:
        text = file.read()
    names = dict(re.findall(r"; yosys-smt2-assert (\d+) ((?:must|thus|hence)_\S+)", text))
    assert names and len(names) == text.count("; yosys-smt2-assert "), "an assertion has no name"
    return text, names


def ask(text, claims, timeout):
    """What the solver says to the conjunction of the claims: sat, unsat, or unknown. The timeout is in seconds of processor time."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (timeout, timeout + 1))
    query = text + "".join(f"(assert {claim})\n" for claim in claims) + "(check-sat)\n"
    with tempfile.NamedTemporaryFile("w", suffix=".smt2") as file:
        file.write(query)
        file.flush()
        answer = subprocess.run([Z3, file.name], capture_output=True, text=True, preexec_fn=limit).stdout.split()
    return answer[0] if answer and answer[0] in ("sat", "unsat") else "unknown"


def verdicts(top, folder, arguments, only=None):
    """Asks about each assertion, or about one: its name, what the solver says to each question, seconds."""
    text, names = transition_system(top, folder, arguments)
    text += f"(declare-const s0 |{top}_s|)\n(declare-const s1 |{top}_s|)\n"
    step = f"(|{top}_t| s0 s1)"
    started = [f"(|{top}_n started_q| s{cycle})" for cycle in (0, 1)]
    def holding(*kinds):
        return [f"(|{top}_a {number}| s1)" for number, name in names.items() if name.startswith(kinds)]
    others = {"thus": holding("must_"), "hence": holding("must_", "thus_")}
    asked = [pair for pair in names.items() if only in (None, pair[1].split("_", 1)[1])]
    if not asked:
        wrong(f"{top} has no assertion {only}")
    kinds = ["must", "thus", "hence"]
    for number, name in sorted(asked, key=lambda pair: (kinds.index(pair[1].split("_", 1)[0]), pair[1])):
        fails = f"(not (|{top}_a {number}| s1))"
        if name.startswith("must_"):
            questions = {
                "after reset": [step, f"(|{top}_i| s0)", fails],
                "from cycle to cycle": [step, f"(|{top}_a| s0)", started[0], fails],
            }
        else:
            questions = {"given the others": [started[1], *others[name.split("_", 1)[0]], fails]}
        begin = time.time()
        answers = {question: ask(text, claims, arguments.timeout) for question, claims in questions.items()}
        yield name.split("_", 1)[1], answers, time.time() - begin


def prove(top, folder, arguments):
    """Prints the verdicts; the exit status that they make."""
    verdict = {"unsat": "holds", "sat": "FAILS", "unknown": "no verdict"}
    worst = 0
    for name, answers, seconds in verdicts(top, folder, arguments):
        said = ", ".join(f"{question} {verdict[answer]}" for question, answer in answers.items())
        print(f"{top}.{name}: {said} ({seconds:.0f} s)", flush=True)
        worst = max(worst, *({"unsat": 0, "sat": 1, "unknown": 2}[answer] for answer in answers.values()))
    return worst


def elaborate(top, folder, arguments):
    """Prints how many assertions a property has, without asking about them; 0. Yosys itself ends the program, with 1, if it cannot read them."""
    _, names = transition_system(top, folder, arguments)
    print(f"{top}: {len(names)} assertions", flush=True)
    return 0


def wrong(what):
    """Ends with what is wrong: no proof has said anything."""
    print(f"prove: {what}", file=sys.stderr)
    sys.exit(2)


def mutants_of(top):
    """The faults listed for a property, each with the path of its module and the text with the fault."""
    file = f"tests/formal/{top.removesuffix('_property')}_mutants.toml"
    paths = {os.path.basename(module): f"rtl/{module}.sv" for module in PROPERTIES[top]}
    with open(os.path.join(ROOT, file), "rb") as listed:
        mutants = tomllib.load(listed)["mutant"]
    for mutant in mutants:
        name = f"{file}: {mutant.get('module')}: {mutant.get('name')}"
        if set(mutant) != {"module", "name", "find", "replace", "fails"}:
            wrong(f"{name}: the fields are module, name, find, replace, fails")
        if mutant["module"] not in paths:
            wrong(f"{name}: the module is not one of those that the proof reads: {', '.join(paths)}")
        with open(os.path.join(ROOT, paths[mutant["module"]])) as original:
            text = original.read()
        if (count := text.count(mutant["find"])) != 1:
            wrong(f"{name}: the text to find is in {paths[mutant['module']]} {count} times; it has to be there once")
        yield mutant, text.replace(mutant["find"], mutant["replace"])


def try_mutants(top, folder, arguments):
    """With each fault of the property's list the assertion that the list names must fail; 1 if one does not."""
    survivors = 0
    for mutant, text in list(mutants_of(top)):
        mutated = os.path.join(folder, "mutant.sv")
        with open(mutated, "w") as written:
            written.write(text)
        faulty = argparse.Namespace(**{**vars(arguments), "rtl": [*arguments.rtl, f"{mutant['module']}={mutated}"]})
        ((_, answers, seconds),) = verdicts(top, folder, faulty, mutant["fails"])
        caught = "sat" in answers.values()
        said = f"{mutant['fails']} fails" if caught else "SURVIVES"
        print(f"{top}: {mutant['module']}: {mutant['name']}: {said} ({seconds:.0f} s)", flush=True)
        survivors += not caught
    return int(survivors > 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("properties", nargs="*", choices=[[], *PROPERTIES], metavar="PROPERTY", help=" ".join(PROPERTIES))
    parser.add_argument("-G", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the property")
    parser.add_argument("--rtl", action="append", default=[], metavar="MODULE=FILE", help="another file for a module")
    parser.add_argument("--mutants", action="store_true", help="try the faults that the property must not survive")
    parser.add_argument("--elaborate", action="store_true", help="only read the properties and their RTL (what Yosys says: yosys.log, with --keep)")
    parser.add_argument("--timeout", type=int, default=600, help="seconds of processor time for each question")
    parser.add_argument("--keep", help="a folder for what is made on the way")
    arguments = parser.parse_args()
    worst = 0
    run = try_mutants if arguments.mutants else elaborate if arguments.elaborate else prove
    for top in arguments.properties or PROPERTIES:
        with tempfile.TemporaryDirectory() as temporary:
            folder = arguments.keep or temporary
            os.makedirs(folder, exist_ok=True)
            worst = max(worst, run(top, folder, arguments))
    sys.exit(worst)


if __name__ == "__main__":
    main()
