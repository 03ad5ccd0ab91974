#!/usr/bin/env python3
"""Proves that mutants of source_mutants.py equal the original, or fails to.

    prove_source.py --module M --select K,K,.. [--limit 120] [-I dir]... [-G NAME=VALUE]... [--blackbox MODULE]...
                    [--payload NAME=N,VALID=M]... --original FILE --mutated FILE [source.sv ...]

The original is M's own source; the mutated one is the file that source_mutants.py wrote, in which K = 0 selects no mutant. The sources of other
modules are read first. Comparison, assumptions and output are those of prove_equivalent.py. The proof is for these parameters only.
"""
import argparse, json, os, tempfile
import netlist_mutants as M
import prove_equivalent as P

# Registers keep the width and the name that they have in the source, so that those of the original and of a mutant correspond.
PLAIN = ["opt_expr -undriven -mux_undef", "bmuxmap", "demuxmap", "bwmuxmap", "pmuxtree", "opt_clean", "setundef -zero -undriven", "opt_expr", "opt_clean"]


def netlist(a, source, select, folder):
    """Writes the netlist of a source with one mutant selected, and returns the path of the file."""
    out = os.path.join(folder, f"{select}.il")
    y = M.Yosys(os.path.join(folder, "yosys.log"))
    M.frontend(y, argparse.Namespace(**{**vars(a), "D": [f"MUTANT_SEL={select}"], "sources": [*a.sources, source]}))
    for c in ["proc", "opt_expr", "opt_clean", "flatten"]: y(c)
    M.gather_assertions(y, a.module)
    for c in PLAIN: y(c)
    M.name_registers(y, a.module)
    for c in ["opt_clean -purge", f"write_rtlil {out}"]: y(c)
    return out


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--module", required=True); ap.add_argument("--select", required=True)
    ap.add_argument("--limit", type=int, default=120, help="seconds of processor time for each mutant")
    for f in "IG": ap.add_argument(f"-{f}", action="append", default=[])
    ap.add_argument("--blackbox", action="append", default=[])
    ap.add_argument("--payload", action="append", default=[], metavar="NAME=N,VALID=M", type=M.payload)
    ap.add_argument("--original", required=True); ap.add_argument("--mutated", required=True)
    ap.add_argument("sources", nargs="*")
    a = ap.parse_args()
    a.memories = False
    verdicts = {}
    with tempfile.TemporaryDirectory() as folder:
        original = netlist(a, a.original, "original", folder)
        for select in a.select.split(","):
            mutant = {"base": netlist(a, a.mutated, select, folder)}
            verdicts[select] = P.decide(original, a.module, mutant, a.payload, a.limit)
    print(json.dumps(verdicts))


if __name__ == "__main__":
    main()
