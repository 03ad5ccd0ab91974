#!/usr/bin/env python3
"""Proves the properties of tests/formal:

    hrf_property             a warp reads from the hybrid register file the value that it last wrote
    alternating_property     the scheduler satisfies what that proof assumes of it
    steal_property           a read of the register file whose banks are stolen returns the value last written
    steal_liveness_property  no access that waits in that file is starved
    steal_off_property       with stealing off, that file behaves as the baseline's
    cache_property           a load through the data cache reads the value that the last store or atomic operation before it left
    unified_property         in the unified banks, registers, scratchpad memory and the data cache each read the value last written in their own space
    unified_off_property     registers in the unified banks behave as in a register file of their own
    power_property           no access meets a register that is not ON, and no value is lost unless an instruction says so
    share_property           of two warps that share registers, one at a time accesses them, and the older block never waits
    scratchpad_property      the same for two blocks that share scratchpad memory, where a probe has no effect

    prove.py [PROPERTY]... [-G NAME=VALUE]... [--rtl MODULE=FILE]... [--timeout SECONDS] [--keep DIR]
    prove.py --mutants [PROPERTY]...
    prove.py --elaborate [PROPERTY]...

A proof is by induction over the RTL itself, at small sizes: a warp has four lanes of one bit, and a few registers; for the data
cache it has two lanes of four bytes, and lines have eight bytes. The solver is asked two questions about each assertion of a property whose name
begins with must: does it hold in the first cycle after reset, and does it hold in the cycle after any cycle in which all assertions hold? If the
answers are yes for all of them, they hold in every cycle, whatever the inputs. (There is one question about an assertion that begins with thus: does
it hold in any cycle in which the must assertions hold? And one about an assertion that begins with hence: does it hold in any cycle in which the must
and thus assertions hold?) Straps are inputs that stay constant. Each question has a limit of processor time, so that a verdict does not depend on
the load of the machine. --mutants puts the faults of tests/formal/*_mutants.toml into the RTL, one at a time. With each fault, the assertion that the
list names has to fail: a proof that still succeeds would show nothing.

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
Z3 = os.path.join(os.path.dirname(sys.executable), "z3")  # in the same Python environment as Yosys


def modules(folder):
    """The modules in a folder of rtl/, as folder/name."""
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
KEPT_WITH_BYTES = ("size_mask(", "loaded(", "loaded_lanes(", "are_aligned(")  # only if a lane has 32 bits


def small_package(text, sizes):
    """The package at the sizes of the proof, without the functions that are correct at full size only."""
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
    """The property and its design as SMT-LIB functions, and the name of each assertion by its number."""
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
    """The solver's answer to the conjunction of the claims: sat, unsat, or unknown. The timeout is in seconds of processor time."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (timeout, timeout + 1))
    query = text + "".join(f"(assert {claim})\n" for claim in claims) + "(check-sat)\n"
    with tempfile.NamedTemporaryFile("w", suffix=".smt2") as file:
        file.write(query)
        file.flush()
        answer = subprocess.run([Z3, file.name], capture_output=True, text=True, preexec_fn=limit).stdout.split()
    return answer[0] if answer and answer[0] in ("sat", "unsat") else "unknown"


def verdicts(top, folder, arguments, only=None):
    """Asks about each assertion, or about one. Yields its name, the solver's answer to each question, and the seconds that they took."""
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
    """Prints the verdicts and returns the exit status."""
    verdict = {"unsat": "holds", "sat": "FAILS", "unknown": "no verdict"}
    worst = 0
    for name, answers, seconds in verdicts(top, folder, arguments):
        said = ", ".join(f"{question} {verdict[answer]}" for question, answer in answers.items())
        print(f"{top}.{name}: {said} ({seconds:.0f} s)", flush=True)
        worst = max(worst, *({"unsat": 0, "sat": 1, "unknown": 2}[answer] for answer in answers.values()))
    return worst


def elaborate(top, folder, arguments):
    """Prints how many assertions a property has, without asking about them, and returns 0. If Yosys cannot read them, it ends the program with 1."""
    _, names = transition_system(top, folder, arguments)
    print(f"{top}: {len(names)} assertions", flush=True)
    return 0


def wrong(what):
    """Ends the program with this message and status 2: there is no verdict."""
    print(f"prove: {what}", file=sys.stderr)
    sys.exit(2)


def mutants_of(top):
    """The faults listed for a property, each with the text of its module that contains the fault."""
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
    """Tries each fault of the property's list: the assertion that the list names must fail. Returns 1 if one does not, else 0."""
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
