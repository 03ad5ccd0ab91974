#!/usr/bin/env python3
"""Reads the whole RTL with Yosys, checks it, and prints what it costs.

    synth.py [--top sm] [--full] [-G NAME=VALUE]... [--json FILE] [--flip-flops N] source.sv ...

Needs pyosys (scripts/bootstrap.sh --mutants). Every module is elaborated at the parameters given; RAM cells stay black boxes, because a
technology library replaces them. Fails when there is a latch, a combinational loop, or a net with several drivers or none.

Prints a row for each module: instances, flip-flop bits and cells of one instance. Without --full cells are word-level (an adder is one
cell); with it `synth` maps everything to gates. With --flip-flops there is one row, and it fails unless the whole has so many bits of them.
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
    """The module's name in the source: read_slang appends the instance or the parameters."""
    return re.split(r"[\\$]", module.lstrip("\\$"))[0] or module


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--top", default="sm")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("-G", action="append", default=[])
    parser.add_argument("-I", action="append", default=[])
    parser.add_argument("--json")
    parser.add_argument("--flip-flops", type=int, metavar="N")
    parser.add_argument("--log", default="target/synth.log")
    parser.add_argument("sources", nargs="+")
    args = parser.parse_args()

    design = ys.Design()
    # The log has every pass's text; the terminal has only what this program prints.
    run = lambda command: design.run_pass(f"tee -q -a {args.log} {command}")
    open(args.log, "w").close()
    started = time.time()
    read = ["read_slang", "--top", args.top, "--ignore-assertions", "--keep-hierarchy", "--no-implicit-memories", "-D", "SYNTHESIS"]
    for name in args.G: read += ["-G", name]
    for folder in args.I: read += ["-I", folder]
    for ram in RAMS: read += ["--blackboxed-module", ram]
    run(" ".join(read + args.sources))
    run("hierarchy -check")
    run("proc")
    run("opt_clean")
    # `check` finds drivers in conflict, undriven nets and combinational loops; across blocks only in the flat design.
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
    run("opt_expr" if not args.full else f"synth -run begin:check -noabc -top {args.top}")

    modules = read_json(design)
    counts = collections.Counter()
    bits, cells = {}, {}

    def visit(name):
        counts[name] += 1
        for cell in modules[name]["cells"].values():
            if cell["type"] in modules: visit(cell["type"])

    visit(next(name for name in modules if base_name(name) == args.top))
    for name in counts:
        own = modules[name]["cells"].values()
        flip_flops = [cell for cell in own if FLIP_FLOP.match(cell["type"])]
        bits[name] = sum(len(cell["connections"]["Q"]) for cell in flip_flops)
        cells[name] = sum(c["type"] not in modules and c["type"] not in NO_CELLS for c in own)
    rows = collections.defaultdict(lambda: {"instances": 0, "flip_flops": 0, "cells": 0})
    for name, count in counts.items():
        if modules[name].get("attributes", {}).get("blackbox"): continue
        row = rows[base_name(name)]
        row["instances"] += count
        row["flip_flops"] += count * bits[name]
        row["cells"] += count * cells[name]
    total = {key: sum(row[key] for row in rows.values()) for key in ("flip_flops", "cells")}
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
