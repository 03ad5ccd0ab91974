#!/usr/bin/env python3
"""Proves that mutants of netlist_mutants.py equal the original, or fails to.

    prove_equivalent.py DIR [--select K,K,..] [--limit 120]

DIR is the folder that netlist_mutants.py wrote. Payload outputs are compared where they are valid, as in lockstep. The module's assertions, including
those about its inputs, are assumed, because lockstep checks them in every cycle. Nothing else is assumed of the inputs, so "different" does not mean
that a real register file could show the difference. A proof has a limit of processor time, which does not depend on the load of the machine.
Prints one JSON object: {"select": "equivalent" | "different" | "out of time" | "unknown"}.
"""
import argparse, json, os, re, resource, signal, subprocess, sys, tempfile, traceback
import pyosys
from pyosys import libyosys as ys
import netlist_mutants as M

ABC = os.path.join(os.path.dirname(pyosys.__file__), "yosys-abc")
RESET, BEGAN = "rst_ni", "began"
OUT_OF_TIME = "out of time"
# An input of a RAM cell is used only when these inputs are set.
RAM_MEANS = {"raddr_i": ["re_i"], "addr_i": ["en_i"], "we_i": ["en_i"], "waddr_i": ["we_i"], "wmask_i": ["we_i", "en_i"], "wdata_i": ["we_i", "en_i"]}


def name(text):
    return ys.IdString("\\" + text)


def hide_payloads(d, module, payloads):
    """Makes payload outputs 0 where they are invalid. `Field::valid_by` describes which bits of a valid belong to which element."""
    mod = d.module(name(module))
    wire = lambda port: mod.wire(name(port))
    driven = {}                                              # output -> the wire that the cells drive
    for (out, _), _ in payloads:
        port, driven[out] = wire(out), mod.addWire(ys.IdString("$driven$" + out), wire(out).width)
        mod.swap_names(port, driven[out])
        driven[out], port = port, driven[out]
        port.port_output, port.port_id, driven[out].port_output, driven[out].port_id = True, driven[out].port_id, False, 0
    mod.fixup_ports()
    for (out, n), (by, m) in payloads:
        bits, valid = ys.SigSpec(driven[out]), ys.SigSpec(driven.get(by) or wire(by))
        shares, width, each = m or valid.size(), bits.size() // n, valid.size() // (m or valid.size())
        for e in range(n):
            first = e * shares // n
            count = max(1, (e + 1) * shares // n - first)
            # index 0 of an array is its most significant element
            at = (shares - first - count if m else first) * each
            some = mod.addWire(ys.IdString(f"$valid${out}${e}"), 1)
            mod.addReduceOr(ys.IdString(f"$some${out}${e}"), valid.extract(at, count * each), ys.SigSpec(some))
            place = (n - 1 - e) * width
            mod.addMux(ys.IdString(f"$hide${out}${e}"), ys.SigSpec(ys.Const(0, width)), bits.extract(place, width), ys.SigSpec(some),
                       ys.SigSpec(wire(out)).extract(place, width))


def copy(base, module, mutant, payloads, as_):
    """The original, with its assertions as an assumption, or the mutant. Registers become plain flip-flops, memories become registers. A mutant is a
    change of the original or, as {"base": ...}, a netlist of its own."""
    d = ys.Design(); q = lambda c: d.run_pass("tee -q " + c)
    own = mutant and mutant.get("base")
    q(f"read_rtlil {own or base}"); q(f"rename {module} {as_}")
    mod = d.module(name(as_))
    if own: pass
    elif mutant: q(M.mutate_cmd(mutant, as_))
    else: mod.addAssume(ys.IdString("$assume"), mod.Not(ys.IdString("$none"), ys.SigSpec(mod.wire(name(M.FAILS)))), ys.SigSpec(ys.Const(1, 1)))
    q(f"delete -port {as_}/w:{M.FAILS}")
    hide_payloads(d, as_, payloads)
    for c in ["memory_map", "dffunmap"]: q(c)
    open_cells(mod)
    mod.fixup_ports()
    return d


def sorted_cells(mod, wanted):
    """Numbers the cells of the wanted types, in an order that is the same for the original and a mutant."""
    return list(enumerate(sorted((c for c in mod.cells_.values() if wanted(c.type.str())), key=lambda c: c.name.str())))


def open_cells(mod):
    """Removes the RAM cells: their inputs become outputs of the module, which are 0 where they are unused, and their outputs become inputs."""
    for i, cell in sorted_cells(mod, lambda kind: not kind.startswith("$")):
        ends = {end.str()[1:]: (signal, cell.output(end)) for end, signal in cell.connections_.items()}
        mod.remove(cell)
        for end, (net, output) in ends.items():
            outside = port(mod, f"cell{i}_{end}", net.size(), output=not output)
            if output:
                mod.connect(net, outside)
                continue
            for enable in [e for e in RAM_MEANS.get(end, ()) if e in ends]:
                net = mod.Mux(ys.IdString(f"$means{i}${end}${enable}"), ys.SigSpec(ys.Const(0, net.size())), net, ends[enable][0])
            mod.connect(outside, net)


def port(mod, text, width, output=False):
    wire = mod.addWire(name(text), width)
    wire.port_input, wire.port_output = not output, output
    return ys.SigSpec(wire)


def registers(mod):
    """Registers, each with a name that is the same in two netlists of one module: that of the net that it drives, or else a number."""
    named, others = [], 0
    for _, cell in sorted_cells(mod, M.FF.match):
        bit = cell.getPort(name("Q")).to_sigbit_vector()[0]
        text = re.sub(r"\W", "_", f"{bit.wire.name.str()[1:]}_{bit.offset}") if bit.is_wire() and bit.wire.name.str().startswith("\\") else None
        if text is None: text, others = f"register{others}", others + 1
        named.append((text, cell))
    return named


def cut(mod):
    """Removes the registers: their outputs become inputs of the module, and their next values become outputs."""
    for text, cell in registers(mod):
        data, out = cell.getPort(name("D")), cell.getPort(name("Q"))
        mod.remove(cell)
        mod.connect(out, port(mod, f"state_{text}", out.size()))
        mod.connect(port(mod, f"next_{text}", data.size(), output=True), data)
    mod.fixup_ports()


def start_anywhere(mod):
    """Gives registers an arbitrary value in the first cycle: that of a new input."""
    began = port(mod, BEGAN, 1)
    for text, cell in registers(mod):
        out = cell.getPort(name("Q"))
        held = ys.SigSpec(mod.addWire(ys.IdString(f"$held_{text}"), out.size()))
        cell.setPort(name("Q"), held)
        mod.addMux(ys.IdString(f"$start_{text}"), port(mod, f"start_{text}", out.size()), held, began, out)
    mod.fixup_ports()


def assumed(mod):
    """Removes the assumption from a module and returns its condition."""
    (assume,) = [cell for cell in mod.cells_.values() if cell.type.str() == "$assume"]
    condition = assume.getPort(name("A"))
    mod.remove(assume)
    return condition


def from_reset(mi, holds):
    """Makes the first cycle one of reset. Returns a signal that is 1 as long as no assertion has failed."""
    inside = lambda text: mi.wire(name("in_" + text))
    clock, began = ys.SigSpec(inside("clk_i")), inside(BEGAN)
    began.port_input = False
    mi.addDff(ys.IdString("$begin"), clock, ys.SigSpec(ys.Const(1, 1)), ys.SigSpec(began))
    if reset := inside(RESET):
        reset.port_input = False
        mi.addAnd(ys.IdString("$first"), port(mi, "reset", 1), ys.SigSpec(began), ys.SigSpec(reset))
    broken = ys.SigSpec(mi.addWire(ys.IdString("$broken"), 1))
    holds = mi.And(ys.IdString("$still"), holds, mi.Not(ys.IdString("$unbroken"), broken))
    mi.addDff(ys.IdString("$break"), clock, mi.Not(ys.IdString("$breaks"), holds), broken)
    return holds


def write(d, module, tells, file, undefined="-anyseq"):
    """Writes a module as an AIGER circuit with this one output. Undefined bits become free inputs, or 0 with `-zero`."""
    mod = d.module(name(module))
    for wire in mod.wires_.values(): wire.port_output = False
    mod.connect(port(mod, "tells", 1, output=True), tells)
    mod.fixup_ports()
    # Logic that is the same on both sides is merged before it is split into a cell for each bit.
    for c in [f"hierarchy -top {module}", "opt_clean -purge", "zinit -all", "opt_expr", "opt_merge -share_all", "opt -full -share_all", "opt_clean -purge",
              "dffunmap", "techmap", "opt_expr", "opt_merge", "opt_clean -purge", f"setundef {undefined}", "aigmap", "opt_clean -purge", f"write_aiger -symbols {file}"]:
        d.run_pass("tee -q " + c)


def same_ports(one, other):
    """Gives both netlists the same ports. For a register that only one has, the other gets an unused input, and an output that is 0."""
    ports = lambda mod: {w.name.str()[1:]: w for w in mod.wires_.values() if w.port_input or w.port_output}
    for mod, missing in ((one, {n: w for n, w in ports(other).items() if n not in ports(one)}),
                         (other, {n: w for n, w in ports(one).items() if n not in ports(other)})):
        for text, wire in missing.items():
            added = port(mod, text, wire.width, output=wire.port_output)
            if wire.port_output: mod.connect(added, ys.SigSpec(ys.Const(0, wire.width)))
        mod.fixup_ports()


def write_difference(base, module, mutant, payloads, change, file):
    """Writes a circuit of original and mutant, both after `change`: its output is 1 if they differ and no assertion of the original has failed."""
    d = ys.Design(); q = lambda c: d.run_pass("tee -q " + c)
    sides = []
    for m, as_ in ((None, "gold"), (mutant, "gate")):
        one = copy(base, module, m, payloads, as_)
        change(one.module(name(as_)))
        sides.append((one, as_))
    same_ports(*(one.module(name(as_)) for one, as_ in sides))
    for one, _ in sides:
        one.run_pass(f"tee -q write_rtlil {file}.il")
        q(f"read_rtlil {file}.il")
    os.remove(f"{file}.il")
    for c in ["miter -equiv -flatten gold gate mi", "hierarchy -top mi", "setattr -unset keep */t:$pos"]: q(c)
    mi = d.module(name("mi"))
    holds = assumed(mi)
    if change == start_anywhere: holds = from_reset(mi, holds)
    write(d, "mi", mi.And(ys.IdString("$bad"), ys.SigSpec(mi.wire(name("trigger"))), holds), file)


def write_assertions(base, module, payloads, file):
    """Writes a circuit of the original in any state: its output is 1 if no assertion fails."""
    d = copy(base, module, None, payloads, "gold")
    gold = d.module(name("gold"))
    cut(gold)
    write(d, "gold", assumed(gold), file, "-zero")


# The steps of a proof: the change of both sides, its share of the time limit, ABC's commands, and the verdict by ABC's output. First, whether outputs
# and next state are the same from any state; then, whether outputs are the same from reset on, whatever the registers held before.
STEPS = [(cut, 0.3, "iprove", {"UNSATISFIABLE": "equivalent"}),
         (start_anywhere, 0.7, "scorr; dc2; scorr; pdr; iprove",     # pdr gives no verdict if no register is left, iprove does
          {"Property proved": "equivalent", "UNSATISFIABLE": "equivalent", "was asserted in frame": "different"})]


def ask(file, command, says):
    abc = subprocess.run([ABC, "-c", f"read_aiger {file}; {command}"], capture_output=True, text=True)
    if abc.returncode == -signal.SIGXCPU: return OUT_OF_TIME
    return next((verdict for words, verdict in says.items() if words in abc.stdout), "unknown")


def decide(base, module, mutant, payloads, limit):
    """Runs the steps until one has a verdict, and returns it."""
    for change, share, command, says in STEPS:
        with tempfile.NamedTemporaryFile(suffix=".aig") as file:
            def step(change=change, command=command, says=says):
                write_difference(base, module, mutant, payloads, change, file.name)
                said = ask(file.name, command, says)
                if said != "equivalent": return said
                # Contradictory assertions would imply anything: some state must satisfy them.
                write_assertions(base, module, payloads, file.name)
                possible = ask(file.name, "iprove", {"UNSATISFIABLE": False, "SATISFIABLE": True})
                return "equivalent" if possible is True else "unknown"
            said = within(limit * share, step)
        if said in ("equivalent", "different"): break
    return said


def within(seconds, step):
    """The result of a step. It runs in a child process that may use this much processor time, and so may each process that it starts."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (max(1, round(seconds)), resource.RLIM_INFINITY))
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        try:
            os.write(write, step().encode())
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    os.close(write)
    with os.fdopen(read) as answer: said = answer.read()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU: return OUT_OF_TIME
    if status: sys.exit(f"a proof ended with status {status}")
    return said


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("out"); ap.add_argument("--select", default="")
    ap.add_argument("--limit", type=int, default=120, help="seconds of processor time for each mutant")
    a = ap.parse_args()
    j = json.load(open(os.path.join(a.out, "mutants.json")))
    want = {int(x) for x in a.select.split(",") if x}
    verdicts = {}
    for m in j["mutants"]:
        if want and m["select"] not in want: continue
        verdicts[str(m["select"])] = decide(os.path.join(a.out, "base.il"), j["module"], m, j["payloads"], a.limit)
    print(json.dumps(verdicts))


if __name__ == "__main__":
    main()
