#!/usr/bin/env python3
"""Proves that mutants of netlist_mutants.py equal the original, or fails to.

    prove_equivalent.py DIR [--select K,K,..] [--reset rst_ni=0] [--maxsteps 10] [--limit 120]

DIR is what netlist_mutants.py wrote. All input sequences that begin with a cycle of reset are considered; outputs that are payloads
are compared where they are valid, as in lockstep; nothing is assumed of the inputs, so "different" does not mean that a real register file could show the difference.
A proof has a limit of processor time, which does not depend on what else the machine does. Prints one JSON object: {"select": "equivalent" | "different" | "out of time" | "unknown"}.
"""
import argparse, functools, json, os, re, resource, signal, sys, tempfile
from pyosys import libyosys as ys
import netlist_mutants as M


def hide_payloads(d, module, payloads):
    """Makes outputs 0 where they mean nothing. How the bits of a valid are shared out: `Field::valid_by`."""
    mod = d.module(ys.IdString("\\" + module))
    wire = lambda name: mod.wire(ys.IdString("\\" + name))
    driven = {}                                              # what the cells drive
    for (name, _), _ in payloads:
        port, driven[name] = wire(name), mod.addWire(ys.IdString("$driven$" + name), wire(name).width)
        mod.swap_names(port, driven[name])
        driven[name], port = port, driven[name]
        port.port_output, port.port_id, driven[name].port_output, driven[name].port_id = True, driven[name].port_id, False, 0
    mod.fixup_ports()
    for (name, n), (by, m) in payloads:
        bits, valid = ys.SigSpec(driven[name]), ys.SigSpec(driven.get(by) or wire(by))
        shares, width, each = m or valid.size(), bits.size() // n, valid.size() // (m or valid.size())
        for e in range(n):
            first = e * shares // n
            count = max(1, (e + 1) * shares // n - first)
            # index 0 of an array is its most significant element
            at = (shares - first - count if m else first) * each
            some = mod.addWire(ys.IdString(f"$valid${name}${e}"), 1)
            mod.addReduceOr(ys.IdString(f"$some${name}${e}"), valid.extract(at, count * each), ys.SigSpec(some))
            place = (n - 1 - e) * width
            mod.addMux(ys.IdString(f"$hide${name}${e}"), ys.SigSpec(ys.Const(0, width)), bits.extract(place, width), ys.SigSpec(some),
                       ys.SigSpec(wire(name)).extract(place, width))


def miter(base, module, m, payloads):
    """The original as gold and the mutant as gate; memories become registers."""
    d = ys.Design(); q = lambda c: d.run_pass("tee -q " + c)
    q(f"read_rtlil {base}"); q(f"rename {module} gold")
    hide_payloads(d, "gold", payloads)
    q("design -stash g0")
    q(f"read_rtlil {base}"); q(f"rename {module} gate")
    q(M.mutate_cmd(m, "gate"))
    hide_payloads(d, "gate", payloads)
    q("design -stash g1")
    q("design -copy-from g0 -as gold gold"); q("design -copy-from g1 -as gate gate")
    q("memory_map"); q("opt_clean")
    return d


def written(d):
    with tempfile.NamedTemporaryFile(suffix=".json") as f:
        d.run_pass(f"tee -q write_json {f.name}")
        return json.load(open(f.name))["modules"]["mi"]


def trigger_is_zero(d):
    return written(d)["ports"]["trigger"]["bits"] == ["0"]


OUT_OF_TIME = "out of time"


def decide(base, module, m, payloads, a):
    """The first verdict of the steps below; each is a process of its own, which ends when its share of the limit is used up."""
    log = os.path.join(tempfile.gettempdir(), f"eq{os.getpid()}.log")

    def structure():
        """Both copies in one module; shared logic and registers that are structurally the same merge, what remains is the difference."""
        d = merged(base, module, m, payloads)
        return "equivalent" if trigger_is_zero(d) else None

    def by_cases():
        """The same for each value of a narrow input: what it selects becomes constant, and what it never selects vanishes."""
        e = merged(base, module, m, payloads); r = lambda c: e.run_pass("tee -q " + c)
        r("design -save merged")
        mi = written(e)
        read = {b for c in mi["cells"].values() for bits in c["connections"].values() for b in bits}
        for name, low, width in narrow_inputs(base):
            if not read & set(mi["ports"]["in_" + name]["bits"][low:low + width]): continue
            for c in ["design -load merged", f"delete -input mi/w:in_{name}", "design -save open"]: r(c)

            def closed(value):
                for c in ["design -load open", "cd mi", f"connect -set in_{name}[{low + width - 1}:{low}] {width}'d{value}", "cd ..", "opt_expr",
                          "opt -full -share_all", "opt_clean -purge", "dffunmap", "simplemap", "opt_merge -share_all", "opt_expr",
                          "opt_clean -purge"]: r(c)
                return trigger_is_zero(e)

            if all(closed(value) for value in range(1 << width)): return "equivalent"
        return None

    clocked = a.reset and a.reset.split("=")[0] in module_of(base)["ports"]
    rst = "-set-at 1 in_%s %s -seq 1" % tuple(a.reset.split("=")) if clocked else ""

    def sat(steps):
        d = merged(base, module, m, payloads)
        d.run_pass(f"tee -q -o {log} sat -tempinduct -prove trigger 0 {rst} -set-init-zero "
                   f"-maxsteps {steps} -dump_vcd {a.out}/counterexample_{m['select']}.vcd mi")
        t = open(log).read()
        if "Induction step proven: SUCCESS!" in t: return "equivalent"
        return "different" if "model found for base case: FAIL!" in t else None

    def by_register():
        e = miter(base, module, m, payloads)
        for c in ["setattr -unset keep */t:$pos", "opt_clean", "dffunmap", "equiv_make gold gate eq",
                  "hierarchy -top eq", "opt_clean", "equiv_struct", "equiv_simple", "equiv_induct -seq 2"]:
            e.run_pass("tee -q " + c)
        e.run_pass(f"tee -q -o {log} equiv_status")      # -assert would exit the process
        return "equivalent" if " and 0 are unproven" in open(log).read() else None

    # Of the steps in the middle the first is slow where there are thousands of register bits, the second where the logic is deep.
    quick = [(by_register, 0.2), (lambda: sat(3), 0.1)]
    steps = [(structure, 0.2), (by_cases, 0.3)] + (quick if register_bits(base) < 4000 else quick[::-1]) + [(lambda: sat(a.maxsteps), 0.3)]
    found = []
    for step, share in steps:
        found.append(within(a.limit * share, step))
        if found[-1] in ("equivalent", "different"): break
    if os.path.exists(log): os.remove(log)
    return found[-1] or ("unknown" if OUT_OF_TIME not in found else OUT_OF_TIME)


def within(seconds, step):
    """What a step says, in a child process with so much processor time."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (max(1, round(seconds)), resource.RLIM_INFINITY))
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        try:
            os.write(write, (step() or "").encode())
            os._exit(0)
        finally:
            os._exit(1)
    os.close(write)
    with os.fdopen(read) as answer: said = answer.read()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU: return OUT_OF_TIME
    if status: sys.exit(f"a proof ended with status {status}")
    return said or None


def merged(base, module, m, payloads):
    d = miter(base, module, m, payloads)
    for c in ["miter -equiv -flatten gold gate mi", "hierarchy -top mi", "setattr -unset keep */t:$pos", "opt_expr", "opt_clean -purge", "zinit -all",
              "opt_merge -share_all", "opt_clean -purge", "opt -full -share_all", "opt_clean -purge",
              "dffunmap", "simplemap", "opt_merge -share_all", "opt_expr", "opt_clean -purge"]: d.run_pass("tee -q " + c)
    return d


@functools.cache
def module_of(base):
    d = ys.Design(); d.run_pass(f"tee -q read_rtlil {base}")
    with tempfile.NamedTemporaryFile(suffix=".json") as f:
        d.run_pass(f"tee -q write_json {f.name}")
        (mod,) = [v for v in json.load(open(f.name))["modules"].values() if v["attributes"].get("top")]
    return mod


def register_bits(base):
    return sum(len(c["connections"]["Q"]) for c in module_of(base)["cells"].values() if M.FF.match(c["type"]))


def narrow_inputs(base):
    """Inputs of two to four bits: few enough cases; and each half of wider ones, as of an array of two tags."""
    out = []
    for name, port in module_of(base)["ports"].items():
        width = len(port["bits"])
        if port["direction"] == "input" and 2 <= width <= 4: out.append((name, 0, width))
        if port["direction"] == "input" and 4 <= width <= 8 and width % 2 == 0: out += [(name, 0, width // 2), (name, width // 2, width // 2)]
    return sorted(out, key=lambda part: part[2])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("out"); ap.add_argument("--select", default="")
    ap.add_argument("--reset", default="rst_ni=0", help="name=active value (looked at if there is such a port), or empty"); ap.add_argument("--maxsteps", type=int, default=10)
    ap.add_argument("--limit", type=int, default=120, help="seconds of processor time for each mutant")
    a = ap.parse_args()
    j = json.load(open(os.path.join(a.out, "mutants.json")))
    want = {int(x) for x in a.select.split(",") if x}
    verdicts = {}
    for m in j["mutants"]:
        if want and m["select"] not in want: continue
        verdicts[str(m["select"])] = decide(os.path.join(a.out, "base.il"), j["module"], m, j["payloads"], a)
    print(json.dumps(verdicts))


if __name__ == "__main__":
    main()
