#!/usr/bin/env python3
"""Reads the whole RTL with Yosys, checks it, and prints its cost.

    synth.py [--top sm] [--full] [-G NAME=VALUE]... [--json FILE] [--flip-flops N | --beyond TOP] source.sv ...

Needs pyosys (scripts/bootstrap.sh --mutants). Every module is elaborated at the parameters of the command line; RAM cells stay black boxes, because
a technology library replaces them. Fails if there is a latch, a combinational loop, or a net with several drivers or none.

Prints a row for each module: its instances, and the flip-flop bits and cells of all of them together. Without --full, cells are word-level (an adder
is one cell); with --full, `synth` maps everything to gates. With --flip-flops N, only the total is printed, and the script fails unless the design
has N flip-flop bits. With --beyond TOP, rows are differences to another top with the same parameters, in gates, with their share of the whole.
"""
import argparse
import collections
import json
import re
import sys
import tempfile
import time

from pyosys import libyosys as ys

RAMS = ["ram_1rw", "ram_1r1w"]
FLIP_FLOP = re.compile(r"^\$_?(a|s|al)?(dff|sdff|adff|DFF|SDFF|DFFE)")
LATCH = re.compile(r"^\$_?(a|s)?(dlatch|DLATCH|sr|SR_)")
# Word-level cells that are wires, or say something about the design instead of being part of it.
NO_CELLS = {"$scopeinfo", "$print", "$check"}


def read_json(design):
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        design.run_pass(f"tee -q write_json {file.name}")
        return json.load(open(file.name))["modules"]


def base_name(module):
    """The module's name in the source; read_slang appends the instance or the parameters to it."""
    return re.split(r"[\\$]", module.lstrip("\\$"))[0] or module


def read_sources(args, top):
    """Elaborates a top, checks it, and returns its modules."""
    design = ys.Design()
    # Output of the passes goes to the log; the terminal shows only what this program prints.
    run = lambda command: design.run_pass(f"tee -q -a {args.log} {command}")
    read = ["read_slang", "--top", top, "--ignore-assertions", "--keep-hierarchy", "--no-implicit-memories", "-D", "SYNTHESIS"]
    for name in args.G: read += ["-G", name]
    for folder in args.I: read += ["-I", folder]
    for ram in RAMS: read += ["--blackboxed-module", ram]
    run(" ".join(read + args.sources))
    run("hierarchy -check")
    run("proc")
    run("opt_clean")
    # `check` finds conflicting drivers, undriven nets and combinational loops; those that span blocks only in the flattened design.
    run("check -assert")
    latches = [
        f"{name}: {cell}"
        for name, module in read_json(design).items()
        for cell, contents in module["cells"].items()
        if LATCH.match(contents["type"])
    ]
    if latches:
        sys.exit("latches:\n  " + "\n  ".join(latches))
    run("design -save hierarchical")
    run("flatten")
    run("opt_clean")
    run("check -assert")
    run("design -load hierarchical")
    run("opt_expr" if not args.full else f"synth -run begin:check -noabc -top {top}")
    return read_json(design)


def ram_bits(ports):
    """Bits of a RAM with these ports: rows times the width of written data."""
    width = lambda ending: max(len(port["bits"]) for name, port in ports.items() if name.endswith(ending))
    return 2 ** width("addr_i") * width("wdata_i")


def measure(args, top):
    """The cost of each block, the sum, and the bits of RAM."""
    modules = read_sources(args, top)
    counts = collections.Counter()

    def visit(name):
        counts[name] += 1
        for cell in modules[name]["cells"].values():
            if cell["type"] in modules: visit(cell["type"])

    visit(next(name for name in modules if base_name(name) == top))
    rows = collections.defaultdict(lambda: {"instances": 0, "flip_flops": 0, "cells": 0})
    ram = 0
    for name, count in counts.items():
        if modules[name].get("attributes", {}).get("blackbox"):
            ram += count * ram_bits(modules[name]["ports"])
            continue
        own = modules[name]["cells"].values()
        flip_flops = [cell for cell in own if FLIP_FLOP.match(cell["type"])]
        row = rows[base_name(name)]
        row["instances"] += count
        row["flip_flops"] += count * sum(len(cell["connections"]["Q"]) for cell in flip_flops)
        row["cells"] += count * sum(c["type"] not in modules and c["type"] not in NO_CELLS for c in own)
    total = {key: sum(row[key] for row in rows.values()) for key in ("flip_flops", "cells")}
    return rows, total, ram


def beyond(args):
    """Prints the difference between a top and another one, block by block, and as a share of the whole."""
    rows, total, ram = measure(args, args.top)
    others, other, _ = measure(args, args.beyond)
    # `steal_arbiter` stands where `mrf_arbiter` does, and `mrf_crossbar` is in both.
    tops = (args.top, args.beyond)
    role = lambda name: next((name.removeprefix(top).lstrip("_") for top in tops if name.startswith(top)), name)
    more = collections.defaultdict(collections.Counter)
    for sign, blocks in ((1, rows), (-1, others)):
        for name, row in blocks.items():
            for key in ("flip_flops", "cells"): more[role(name)][key] += sign * row[key]
    print(" ".join([args.top, *args.G]) + f", more than {args.beyond}:")
    print(f"{'block':<20} {'flip-flops':>11} {'gates':>9}")
    for name, row in sorted(more.items(), key=lambda item: -item[1]["cells"]):
        if any(row.values()): print(f"{name or 'between them':<20} {row['flip_flops']:>11} {row['cells']:>9}")
    flip_flops, gates = (total[key] - other[key] for key in ("flip_flops", "cells"))
    print(f"{'all':<20} {flip_flops:>11} {gates:>9}")
    whole = total["cells"] + ram
    print(f"of {total['flip_flops']} flip-flops and {total['cells']} gates, flip-flops among them, and {ram} bits of RAM:")
    print(f"{100 * gates / total['cells']:.2f} % of the gates; {100 * gates / whole:.2f} % with a bit of RAM counted as a gate\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--top", default="sm")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("-G", action="append", default=[])
    parser.add_argument("-I", action="append", default=[])
    parser.add_argument("--json")
    parser.add_argument("--flip-flops", type=int, metavar="N")
    parser.add_argument("--beyond", metavar="TOP")
    parser.add_argument("--log", default="target/synth.log")
    parser.add_argument("sources", nargs="+")
    args = parser.parse_args()

    open(args.log, "w").close()
    started = time.time()
    if args.beyond:
        args.full = True
        return beyond(args)
    rows, total, _ = measure(args, args.top)
    if args.flip_flops is not None:
        print(" ".join([args.top, *args.G]) + f": {total['flip_flops']} flip-flops")
        sys.exit(0 if total["flip_flops"] == args.flip_flops else f"{args.top} must have {args.flip_flops}")
    kind = "gates" if args.full else "word-level cells"
    print(f"{'block':<20} {'instances':>9} {'flip-flops':>11} {kind:>17}")
    for name, row in sorted(rows.items(), key=lambda item: -item[1]["flip_flops"]):
        print(f"{name:<20} {row['instances']:>9} {row['flip_flops']:>11} {row['cells']:>17}")
    print(f"{'all':<20} {'':>9} {total['flip_flops']:>11} {total['cells']:>17}")
    print(f"\nno latches, no loops, no net with several drivers; {time.time() - started:.0f} s, log: {args.log}")
    if args.json:
        with open(args.json, "w") as file:
            json.dump({"top": args.top, "parameters": args.G, "blocks": rows, "total": total}, file, indent=1)


if __name__ == "__main__":
    main()
