#!/usr/bin/env python3
"""Proves that mutants of netlist_mutants.py equal the original, or fails to.

    prove_equivalent.py DIR [--select K,K,..] [--reset rst_ni=0] [--maxsteps 10] [--timeout 30]

DIR is what netlist_mutants.py wrote. All input sequences that begin with a cycle of reset are considered; outputs that are payloads
are compared where they are valid, as in lockstep; nothing is assumed of the inputs, so "different" does not mean that a real register file could show the difference. Prints one JSON object:
{"select": "equivalent" | "different" | "unknown"}.
"""
import argparse, functools, json, os, re, tempfile, time
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
    """gold and gate copies plus both proof forms; memories become registers."""
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


def trigger_is_zero(d):
    with tempfile.NamedTemporaryFile(suffix=".json") as f:
        d.run_pass(f"tee -q write_json {f.name}")
        return json.load(open(f.name))["modules"]["mi"]["ports"]["trigger"]["bits"] == ["0"]


def decide(base, module, m, payloads, a):
    log = os.path.join(tempfile.gettempdir(), f"eq{os.getpid()}.log")
    t0 = time.time()
    # 1. both copies in one module; shared logic and registers that are structurally the same merge,
    #    what remains is the difference
    d = miter(base, module, m, payloads); q = lambda c: d.run_pass("tee -q " + c)
    q("miter -equiv -flatten gold gate mi"); q("hierarchy -top mi")
    for c in ["setattr -unset keep */t:$pos", "opt_expr", "opt_clean -purge", "zinit -all",
              "opt_merge -share_all", "opt_clean -purge", "opt -full -share_all", "opt_clean -purge",
              "dffunmap", "simplemap", "opt_merge -share_all", "opt_expr", "opt_clean -purge"]: q(c)
    if trigger_is_zero(d): return "equivalent", "structure", time.time() - t0

    def by_cases():
        """The same for each value of a narrow input: what it selects becomes constant, and what it never selects vanishes."""
        for name, width in narrow_inputs(base):
            e = miter(base, module, m, payloads); r = lambda c: e.run_pass("tee -q " + c)
            for c in ["miter -equiv -flatten gold gate mi", "hierarchy -top mi", "setattr -unset keep */t:$pos", "opt_expr", "opt_clean -purge",
                      "zinit -all", "opt_merge -share_all", "opt_clean -purge", f"delete -input mi/w:in_{name}", "design -save open"]: r(c)

            def closed(value):
                for c in ["design -load open", "cd mi", f"connect -set in_{name} {width}'d{value}", "cd ..", "opt_expr", "opt -full -share_all",
                          "opt_clean -purge", "dffunmap", "simplemap", "opt_merge -share_all", "opt_expr", "opt_clean -purge"]: r(c)
                return trigger_is_zero(e)

            if all(closed(value) for value in range(1 << width)): return "equivalent", f"every value of {name}", time.time() - t0
        return None

    clocked = a.reset and a.reset.split("=")[0] in module_of(base)["ports"]
    rst = "-set-at 1 in_%s %s -seq 1" % tuple(a.reset.split("=")) if clocked else ""

    def sat(steps, timeout):
        d.run_pass(f"tee -q -o {log} sat -tempinduct -prove trigger 0 {rst} -set-init-zero -timeout {timeout} "
                   f"-maxsteps {steps} -dump_vcd {a.out}/counterexample_{m['select']}.vcd mi")
        t = open(log).read()
        if "Induction step proven: SUCCESS!" in t: return "equivalent", "tempinduct", time.time() - t0
        if "model found for base case: FAIL!" in t:
            n = len(re.findall(r"\[base case\s+\d+\] Solving", t))
            return "different", f"counterexample, {n} cycles", time.time() - t0
        return None

    def by_register():
        e = miter(base, module, m, payloads)
        for c in ["setattr -unset keep */t:$pos", "opt_clean", "dffunmap", "equiv_make gold gate eq",
                  "hierarchy -top eq", "opt_clean", "equiv_struct", "equiv_simple", "equiv_induct -seq 2"]:
            e.run_pass("tee -q " + c)
        e.run_pass(f"tee -q -o {log} equiv_status")      # -assert would exit the process
        if " and 0 are unproven" in open(log).read(): return "equivalent", "equiv_induct", time.time() - t0
        return None

    # 2. by cases; register by register under the same names, and a short induction from reset: of the last two the first is
    #    slow where there are thousands of register bits, the second where the logic is deep
    quick = [by_register, lambda: sat(3, 10)]
    for step in [by_cases] + (quick if register_bits(base) < 4000 else quick[::-1]):
        v = step()
        if v: return v
    # 3. a longer run
    return sat(a.maxsteps, a.timeout) or ("unknown", "no verdict", time.time() - t0)


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
    """Inputs of two to four bits: few enough cases."""
    ports = module_of(base)["ports"].items()
    return [(n, len(p["bits"])) for n, p in ports if p["direction"] == "input" and 2 <= len(p["bits"]) <= 4]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("out"); ap.add_argument("--select", default="")
    ap.add_argument("--reset", default="rst_ni=0", help="name=active value (looked at if there is such a port), or empty"); ap.add_argument("--maxsteps", type=int, default=10)
    ap.add_argument("--timeout", type=int, default=30)
    a = ap.parse_args()
    j = json.load(open(os.path.join(a.out, "mutants.json")))
    want = {int(x) for x in a.select.split(",") if x}
    verdicts = {}
    for m in j["mutants"]:
        if want and m["select"] not in want: continue
        v, _, _ = decide(os.path.join(a.out, "base.il"), j["module"], m, j["payloads"], a)
        if os.path.exists(lf := os.path.join(tempfile.gettempdir(), f"eq{os.getpid()}.log")): os.remove(lf)
        verdicts[str(m["select"])] = v
    print(json.dumps(verdicts))


if __name__ == "__main__":
    main()
