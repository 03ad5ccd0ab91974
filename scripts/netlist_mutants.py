#!/usr/bin/env python3
"""Builds one netlist of a SystemVerilog module that carries many mutants, one of which is selected at run time.

    netlist_mutants.py --module M --out DIR [-n 40] [--seed 1] [-I dir]... [-G NAME=VALUE]...
                       [--blackbox MODULE]... [--array NAME=N]... [--memory NAME]... [--payload NAME=N,VALID=M]... source.sv ...

Needs pyosys (scripts/bootstrap.sh --mutants). Writes into DIR
    M_netlist.v    netlist (module M_netlist) with one more input, mutant_sel; 0 selects the original
    M.sv           wrapper with the module's own name, parameters and ports, and the variable mutant_sel inside
    mutants.json   what each value of mutant_sel does, and where in the source
    base.il        the netlist without mutants, with the module's assertions as one more output, for prove_equivalent.py
"""
import argparse, collections, json, os, random, re, sys, tempfile, time
from pyosys import libyosys as ys

SEL = "mutant_sel"
SELW = 16
FAILS = "assertion_fails"
LONG = 1000      # longer lines are broken (characters)
REPEATED = re.compile(r"(?<![^\s,{])(\\\S+ (?:\[[\d:]+\])?|[^\s,{}\\]+)(?:, \1(?=[, ]))+")
CLOCK_PORTS = {"CLK", "WR_CLK", "RD_CLK", "C"}
FF = re.compile(r"^\$(a|s|al)?(dff|ff|dlatch)")


class Yosys:
    def __init__(self, log):
        self.d, self.log = ys.Design(), log

    def __call__(self, cmd):
        self.d.run_pass(f"tee -q -a {self.log} {cmd}")


def frontend(y, a):
    cmd = ["read_slang", "--top", a.module, "--no-synthesis-define", "-D", "GPURF_ASSERT_IN_RESET"]
    if not a.memories: cmd += ["--no-implicit-memories"]
    for i in a.I: cmd += ["-I", i]
    for m in getattr(a, "D", []): cmd += ["-D", m]
    for g in a.G: cmd += ["-G", g]
    for b in a.blackbox: cmd += ["--blackboxed-module", b]
    y(" ".join(cmd + a.sources))


def lower(y, a):
    """Lowers the design to a word-level netlist that write_verilog can express, with few redundant pins. Returns the places of registers."""
    for c in ["proc", "opt_expr", "opt_clean", "flatten"]: y(c)
    gather_assertions(y, a.module)
    for c in ["opt_expr -undriven -mux_undef", "wreduce -memx", "peepopt", "opt_clean",
              "bmuxmap", "demuxmap", "bwmuxmap",
              "pmuxtree",                              # write_verilog makes a parallel_case of $pmux, which Verilator asserts
              # Verilator 5.006 widens the negated distance that write_verilog writes for these shifts, and misreads signed comparisons.
              "techmap t:$shift t:$shiftx", "techmap t:$ge t:$gt %u t:$le %u t:$lt %u r:A_SIGNED=1 %i",
              "opt -full -mux_undef -undriven", "setundef -zero -undriven", "opt -full",
              "wreduce", "opt -full", "opt_clean"]:
        y(c)
    places = name_registers(y, a.module)
    y("opt_clean -purge"); y("check -assert")
    return places


def gather_assertions(y, module):
    """Replaces the module's assertions by one output, which is 1 in a cycle in which any assertion fails."""
    mod = y.d.module(ys.IdString("\\" + module))
    fails = ys.SigSpec(ys.Const(0, 1))
    for cell in [c for c in mod.cells_.values() if c.type.str() in ("$check", "$print")]:
        if cell.type.str() == "$check":
            name = cell.name.str()
            holds, failed = mod.addWire(ys.IdString("$holds" + name), 1), mod.addWire(ys.IdString("$failed" + name), 1)
            mod.addNot(ys.IdString("$not" + name), cell.getPort(ys.IdString("\\A")), ys.SigSpec(holds))
            mod.addAnd(ys.IdString("$and" + name), cell.getPort(ys.IdString("\\EN")), ys.SigSpec(holds), ys.SigSpec(failed))
            fails.append(ys.SigSpec(failed))
        mod.remove(cell)
    any_fails = mod.addWire(ys.IdString("\\" + FAILS), 1)
    any_fails.port_output = True
    mod.addReduceOr(ys.IdString("$any$" + FAILS), fails, ys.SigSpec(any_fails))
    mod.fixup_ports()


def name_registers(y, module):
    """Gives every register a net of its own, named as in the source, and a buffer after it.

    `mutate` replaces single bits of the net that a cell drives. With the buffer in between, the
    output mutations fall on the buffer, the register keeps its name, and a harness that fills or
    reads `rdata_q` finds it in the netlist. An array of the source may be several registers: returns for
    each name whose bits are all held by registers (or constant) the place of each bit, lowest first: net, its width, bit."""
    jm = read_json(y)["modules"][module]
    alias = {}                                              # bit -> [(wire, index)]
    for w, nn in jm["netnames"].items():
        if nn.get("hide_name"): continue
        for i, b in enumerate(nn["bits"]):
            if isinstance(b, int): alias.setdefault(b, []).append((w, i, len(nn["bits"])))
    mod = y.d.module(ys.IdString("\\" + module))
    Q = ys.IdString("\\Q")
    used = set(jm["netnames"]) | set(jm["cells"])
    held = {b: (b, 1, None) for b in ("0", "1")}
    for cname, c in jm["cells"].items():
        if not FF.match(c["type"]): continue
        bits = c["connections"]["Q"]
        names = sorted(alias.get(bits[0], []), key=lambda t: (not t[0].endswith("_q"), t[2], t[0]))
        names = [n for n in names if all((n[0], n[1] + k, n[2]) in alias.get(b, []) for k, b in enumerate(bits))]
        if not names: continue
        w, lo, width = names[0]
        new = w if len(bits) == width else f"{w}_{lo + len(bits) - 1}_{lo}"
        if new == w:
            old = ys.IdString("\\" + w)
            if mod.wire(old) is None: continue
            if jm["ports"].get(w): new = w + "__reg"         # a port that is itself the register
            else: mod.rename(old, ys.IdString("\\" + w + "__net"))
        while new in used and new != w: new += "_"
        used.add(new)
        cell = mod.cell(ys.IdString(("" if cname.startswith("$") else "\\") + cname))
        q = cell.getPort(Q)
        held.update((b, (new, len(bits), k)) for k, b in enumerate(bits))
        wire = mod.addWire(ys.IdString("\\" + new), len(bits))
        cell.setPort(Q, ys.SigSpec(wire))
        buf = mod.addPos(ys.IdString("$regbuf$" + new), ys.SigSpec(wire), q, False, cell.get_src_attribute())
        buf.set_bool_attribute(ys.IdString("\\keep"), True)      # opt_clean dissolves other buffers
    places = {w: [held.get(b) for b in nn["bits"]] for w, nn in jm["netnames"].items() if re.fullmatch(r"[A-Za-z]\w*", w)}
    return {w: bits for w, bits in places.items() if all(bits) and any(place[2] is not None for place in bits)}


def looping_wires(mod):
    """Wires in a combinational loop of whole wires: a cell connects its inputs to its outputs; registers and instances break a loop."""
    reads = collections.defaultdict(set)                     # wire -> wires computed from it
    wires = lambda signal: {b.wire.name.str() for b in signal.to_sigbit_vector() if b.is_wire()}
    for cell in mod.cells_.values():
        if FF.match(cell.type.str()) or not cell.type.str().startswith("$"): continue
        ends = [(cell.output(port), wires(signal)) for port, signal in cell.connections_.items()]
        outputs = set().union(*(names for out, names in ends if out))
        for name in set().union(*(names for out, names in ends if not out)): reads[name] |= outputs
    # Repeatedly removes wires that are not computed from a remaining wire, or from which none is computed. Loops and wires between them remain.
    edges = dict(reads)
    while True:
        read = set().union(*edges.values()) if edges else set()
        left = {w: {r for r in to if r in edges} for w, to in edges.items() if w in read}
        left = {w: to for w, to in left.items() if to}
        if left == edges: return sorted(edges)
        edges = left


def split_vectors(y, module):
    """Splits vectors that look like loops to Verilator into a wire for each bit.

    Verilator schedules whole variables, and did not always settle vectors whose bits depend on each other. An output keeps its width
    and is driven by such wires."""
    mod = y.d.module(ys.IdString("\\" + module))
    for port in [w for w in mod.wires_.values() if w.port_output]:
        inner = mod.addWire(ys.IdString(port.name.str() + "__bits"), port.width)
        mod.swap_names(port, inner)                          # now the cells drive `port`, and `inner` is the port
        inner.port_output, inner.port_id, port.port_output, port.port_id = True, port.port_id, False, 0
        mod.connect(ys.SigSpec(inner), ys.SigSpec(port))
    mod.fixup_ports()
    loops = looping_wires(mod)
    for name in loops: mod.wire(ys.IdString(name)).set_bool_attribute(ys.IdString("\\loops"), True)
    if loops: y("splitnets a:loops")


def repeated(part, n):
    if n > 32 and re.search(r"\[\d+\]$", part): return f"({part} ? {{{n}{{1'b1}}}} : {{{n}{{1'b0}}}})"   # not a loop over the bits
    return f"{{{n}{{{part}}}}}"


def shorten(path):
    """Writes repeated parts of a concatenation as replications, and breaks lines that are still long. A mask spread over lanes has a part for
    each bit, which Verilator concatenates one by one; it refuses lines of more than 40,000 tokens."""
    with open(path) as f: lines = f.read().splitlines(True)
    with open(path, "w") as f:
        for line in lines:
            if len(line) > LONG: line = REPEATED.sub(lambda m: repeated(m[1], 1 + m[0].count(", ")), line)
            f.write(line if len(line) <= LONG else line.replace(", ", ",\n    "))


def read_json(y):
    with tempfile.NamedTemporaryFile(suffix=".json") as f:
        y(f"write_json {f.name}")
        return json.load(open(f.name))


WIDE = 32        # in a wider port, only this many bits (both ends and random ones) are candidates


def some_bits(width, cname, port):
    if width <= WIDE: return range(width)
    rng = random.Random(f"{cname}/{port}")
    return sorted({0, width - 1, *rng.sample(range(width), WIDE - 2)})


def candidates(mod):
    """All single-pin mutations, one per semantically distinct (net or pin, mode)."""
    users = collections.Counter()
    names = {}                                   # net id -> "wire[bit]" (public name)
    for c in mod["cells"].values():
        for p, bits in c["connections"].items():
            if c["port_directions"][p] == "input":
                users.update(b for b in bits if isinstance(b, int))
    for p in mod["ports"].values():
        if p["direction"] == "output":
            users.update(b for b in p["bits"] if isinstance(b, int))
    for w, nn in sorted(mod["netnames"].items(), key=lambda kv: kv[1].get("hide_name", 0)):
        if nn.get("hide_name"): continue
        for i, b in enumerate(nn["bits"]):
            idx = nn.get("offset", 0) + i
            names.setdefault(b, w if len(nn["bits"]) == 1 else f"{w}[{idx}]")
    clocks = {b for c in mod["cells"].values() for p, bits in c["connections"].items()
              if p in CLOCK_PORTS for b in bits}
    seen, out = set(), []
    for cname, c in mod["cells"].items():
        src = c["attributes"].get("src", "")
        for port, bits in c["connections"].items():
            if port in CLOCK_PORTS: continue
            # the enable and resets of an asynchronous read port are not real pins
            if c["type"].startswith("$memrd") and port not in ("ADDR", "DATA"): continue
            if c["type"] in ("$scopeinfo",): continue
            is_in = c["port_directions"][port] == "input"
            if not is_in and FF.match(c["type"]): continue            # the buffer after it is mutated instead
            if is_in and cname.startswith("$regbuf$"): continue       # mutating its output does the same
            for i in some_bits(len(bits), cname, port):
                b = bits[i]
                if b in clocks or b in ("x", "z"): continue
                if not is_in and users[b] == 0: continue            # unread output bit
                whole = (not is_in) or users[b] == 1                # pin == whole net
                site = ("net", b) if whole and isinstance(b, int) else ("pin", cname, port, i)
                for mode in ("inv", "const0", "const1", "cnot0", "cnot1"):
                    ctrl = None
                    if isinstance(b, str):                          # tied pin: only inv differs
                        if mode != "inv": continue
                    if mode.startswith("cnot"):
                        # the control is a bit below the mutated one, so that two such mutants never form a loop
                        lo = [j for j in range(i) if isinstance(bits[j], int) and bits[j] != b]
                        if not lo: continue
                        ctrl = lo[hash_(cname, port, i, mode) % len(lo)]
                    key = site + (mode, None if ctrl is None else bits[ctrl])
                    if key in seen: continue
                    seen.add(key)
                    out.append(dict(cell=cname, type=c["type"], port=port, bit=i, mode=mode,
                                    ctrlbit=ctrl, pin="input" if is_in else "output",
                                    net=names.get(b) if isinstance(b, int) else b,
                                    ctrl_net=None if ctrl is None else names.get(bits[ctrl]),
                                    src=src.split("|") if src else []))
    return out


def fill_src(mod):
    """Gives cells made by a Yosys pass, which have no source line, that of a cell that they drive (or read)."""
    drv, usr = {}, collections.defaultdict(list)
    for n, c in mod["cells"].items():
        for p, bits in c["connections"].items():
            for b in bits:
                if isinstance(b, int):
                    if c["port_directions"][p] == "output": drv[b] = n
                    else: usr[b].append(n)
    for _ in range(20):
        todo = {}
        for n, c in mod["cells"].items():
            if c["attributes"].get("src"): continue
            near = [u for p, bits in c["connections"].items() if c["port_directions"][p] == "output"
                    for b in bits for u in usr.get(b, [])]
            near += [drv[b] for p, bits in c["connections"].items() if c["port_directions"][p] != "output"
                     for b in bits if b in drv]
            for u in near:
                s = mod["cells"][u]["attributes"].get("src")
                if s: todo[n] = s; break
        if not todo: break
        for n, s in todo.items(): mod["cells"][n]["attributes"]["src"] = s


def hash_(*a):
    h = 2166136261
    for ch in "/".join(map(str, a)): h = ((h ^ ord(ch)) * 16777619) & 0xffffffff
    return h


def line_of(c):
    return re.sub(r"\.\d+.*$", "", c["src"][0]) if c["src"] else "?"


def sample(cands, n, seed):
    """Round-robin over source lines, then cells, then ports; wide buses do not swamp control logic."""
    rng = random.Random(seed)
    tree = collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(list)))
    for c in cands:
        tree[line_of(c)][c["cell"]][c["port"]].append(c)
    queues = []
    for line in sorted(tree):
        cells = []
        for cell in sorted(tree[line]):
            ports = []
            for port in sorted(tree[line][cell]):
                leaf = tree[line][cell][port]; rng.shuffle(leaf); ports.append(leaf)
            rng.shuffle(ports); cells.append(roundrobin(ports))
        rng.shuffle(cells); queues.append(roundrobin(cells))
    rng.shuffle(queues)
    return roundrobin(queues)[:n] if n else roundrobin(queues)


def roundrobin(lists):
    out, k = [], 0
    longest = max((len(l) for l in lists), default=0)
    for k in range(longest):
        out += [l[k] for l in lists if k < len(l)]
    return out


def mutate_cmd(m, module, value=None):
    c = f"mutate -mode {m['mode']} -module {module} -cell {m['cell']} -port {m['port']} -portbit {m['bit']}"
    if m["ctrlbit"] is not None: c += f" -ctrlbit {m['ctrlbit']}"
    if value is not None: c += f" -ctrl {SEL} {SELW} {value}"
    return c


def describe(m):
    what = {"inv": "invert", "const0": "stuck at 0", "const1": "stuck at 1",
            "cnot0": "invert when {c} is 0", "cnot1": "invert when {c} is 1"}[m["mode"]]
    if m["ctrlbit"] is not None:
        what = what.format(c=(m["ctrl_net"] or "").replace("__net", "") or f"{m['port']}[{m['ctrlbit']}]")
    loc = re.sub(r"^(.*?):(\d+)\.(\d+).*$", r"\1:\2:\3", m["src"][0]) if m["src"] else "?"
    net = f" ({m['net'].replace('__net', '')})" if m["net"] else ""
    kind = "register" if m["cell"].startswith("$regbuf$") else m["type"]
    return f"{os.path.basename(loc)} {what}: {kind} {m['pin']} {m['port']}[{m['bit']}]{net}"


# ---------------------------------------------------------------- wrapper

def strip_comments(t):
    return re.sub(r"//[^\n]*|/\*.*?\*/", lambda m: " " + "\n" * m.group().count("\n"), t, flags=re.S)


def header(sources, module):
    for s in sources:
        t = strip_comments(open(s).read())
        m = re.search(rf"\bmodule\s+(?:automatic\s+|static\s+)?{re.escape(module)}\b", t)
        if not m: continue
        # the header ends at the first ';' outside parentheses which is not part of an import
        i, depth, start = m.end(), 0, None
        while True:
            ch = t[i]
            if ch in "([{": 
                if depth == 0 and ch == "(": start = i
                depth += 1
            elif ch in ")]}": depth -= 1
            elif ch == ";" and depth == 0 and not re.search(r"\bimport\s[^;]*$", t[m.end():i].split(")")[-1]):
                return t[m.start():i + 1], t[start + 1:t.rindex(")", 0, i)]
            i += 1
    sys.exit(f"module {module} not found in sources")


def split_ports(text):
    parts, depth, cur = [], 0, ""
    for ch in text:
        if ch in "([{": depth += 1
        if ch in ")]}": depth -= 1
        if ch == "," and depth == 0: parts.append(cur); cur = ""
        else: cur += ch
    parts.append(cur)
    out, direction = [], "input"
    for p in parts:
        p = " ".join(p.split())
        if not p or p.startswith("`"): continue
        m = re.search(r"\b([A-Za-z_]\w*)\s*((?:\[[^\]]*\]\s*)*)$", p)
        d = re.match(r"(input|output|inout)\b", p)
        if d: direction = d.group(1)
        out.append((m.group(1), direction, m.group(2).count("[")))
    return out


def slices(bits):
    """The bits, lowest first, as a concatenation of parts of the netlist's nets."""
    parts = []                                               # net, its width, lowest bit, bits; the lowest first
    for net, width, k in bits:
        if parts and k is not None and parts[-1][0] == net and parts[-1][2] + parts[-1][3] == k: parts[-1][3] += 1
        else: parts.append([net, width, k, 1])
    text = []
    for net, width, k, n in reversed(parts):
        name = net if re.fullmatch(r"[A-Za-z_]\w*", net) else f"\\{net} "
        text.append(f"1'b{net}" if k is None else f"u_netlist.{name}" + (f"[{k + n - 1}:{k}]" if n < width else ""))
    return "{" + ", ".join(text) + "}"


def registers(places, arrays):
    """Declarations of the registers that are in the netlist, with the names and dimensions of the source."""
    out = []
    for name, bits in sorted(places.items()):
        if name not in arrays:
            out += [f"  logic [{len(bits)-1}:0] {name};", f"  assign {name} = {slices(bits)};"]
            continue
        n = arrays[name]
        if len(bits) % n: sys.exit(f"{name}: {len(bits)} bits are not {n} elements")
        w = len(bits) // n
        out.append(f"  logic [{w-1}:0] {name} [{n}];")
        # the leftmost index of an unpacked dimension is the most significant element
        out += [f"  assign {name}[{i}] = {slices(bits[(n-1-i)*w:(n-i)*w])};" for i in range(n)]
    return out


def wrapper(a, ports, n, places):
    head, plist = header(a.sources, a.module)
    sigs = split_ports(plist)
    assert {s[0] for s in sigs} == set(ports), (sigs, list(ports))
    o = [f"// Generated by netlist_mutants.py: {a.module} replaced by a netlist with {n} selectable mutants.",
         "// verilator lint_off WIDTH", "// verilator lint_off UNUSED", head,
         f"  logic [{SELW-1}:0] {SEL};", ""]
    for g in a.G:
        k, v = g.split("=", 1)
        o.append(f"  if ({k} != {v}) $error(\"{a.module}: the netlist was built for {k}={v}\");")
    conns = [f".{SEL}({SEL})"]
    for name, direction, dims in sigs:
        w = len(ports[name]["bits"])
        o.append(f"  if ($bits({name}) != {w}) $error(\"{a.module}: port {name} is not {w} bits\");")
        if dims == 0:
            conns.append(f".{name}({name})"); continue
        flat = f"{name}__flat"
        conns.append(f".{name}({flat})")
        o.append(f"  logic [{w-1}:0] {flat};")
        idx, pos, pad = "", "0", "  "
        for d in range(dims):
            g = f"{name}__g{d}"
            # the leftmost index of an unpacked dimension is the most significant element
            o.append(f"{pad}for (genvar {g} = 0; {g} < $size({name},{d+1}); {g}++) begin : gen_{g}")
            pos = f"(({pos})*$size({name},{d+1}) + ($left({name},{d+1}) > $right({name},{d+1})"\
                  f" ? {g} : $size({name},{d+1})-1-{g}))"
            idx += f"[$low({name},{d+1})+{g}]"
            pad += "  "
        elems = "*".join(f"$size({name},{d+1})" for d in range(dims))
        ew = f"({w}/({elems}))"
        sl = f"{flat}[{pos}*{ew} +: {ew}]"
        o.append(f"{pad}assign {sl} = {name}{idx};" if direction == "input" else
                 f"{pad}assign {name}{idx} = {sl};")
        for d in reversed(range(dims)): o.append("  " * (d + 1) + "end")
    # Registers that lockstep compares inside the module are inside the netlist instance.
    o += registers({name: bits for name, bits in places.items() if name not in ports and name not in a.memory},
                   dict(a.array))
    o += ["", f"  {a.module}_netlist u_netlist (", "    " + ",\n    ".join(conns), "  );", "endmodule", ""]
    return "\n".join(o)


def array(text):
    name, n = text.split("=")
    return name, int(n)


def payload(text):
    return [array(part) for part in text.split(",")]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--module", required=True); ap.add_argument("--out", required=True)
    ap.add_argument("-n", type=int, default=40, help="0 = every candidate")
    ap.add_argument("--seed", type=int, default=1)
    for f in "IG": ap.add_argument(f"-{f}", action="append", default=[])
    ap.add_argument("--memories", action="store_true",
                    help="infer memories from every unpacked array (for the RAM cells)")
    ap.add_argument("--blackbox", action="append", default=[])
    ap.add_argument("--memory", action="append", default=[], metavar="NAME",
                    help="a register that the harness fills and compares as a memory: not declared in the netlist's wrapper")
    ap.add_argument("--array", action="append", default=[], metavar="NAME=N", type=array,
                    help="a register that is an array of N elements in the source")
    ap.add_argument("--payload", action="append", default=[], metavar="NAME=N,VALID=M", type=payload,
                    help="an output of N elements that means something only where VALID is set: a mask, or M elements")
    ap.add_argument("sources", nargs="+")
    a = ap.parse_args()
    os.makedirs(a.out, exist_ok=True)
    out = lambda f: os.path.join(a.out, f)
    open(out("yosys.log"), "w").close()
    t0 = time.time()
    y = Yosys(out("yosys.log"))
    frontend(y, a); t1 = time.time()
    places = lower(y, a)
    y(f"write_rtlil {out('base.il')}")
    for c in [f"delete -port {a.module}/w:{FAILS}", "opt_clean -purge"]: y(c)
    mod = read_json(y)["modules"][a.module]; t2 = time.time()
    fill_src(mod)
    cands = candidates(mod)
    picked = sample(cands, a.n, a.seed)
    if len(picked) >= 1 << SELW: sys.exit("too many mutants for the select width")
    y(f"mutate -ctrl {SEL} {SELW} 0 -mode none -module {a.module}")
    for k, m in enumerate(picked, 1):
        m["select"], m["description"] = k, describe(m)
        y(mutate_cmd(m, a.module, k))
    y("opt_clean"); y("check -assert")
    split_vectors(y, a.module)
    for b in a.blackbox:                       # slang leaves localparams of the module header on its instances
        ptext = header(a.sources, b)[0]
        for lp in re.findall(r"\blocalparam\b[^=,)]*?(\w+)\s*=", ptext):
            y(f"setparam -unset {lp} t:{b}")
    for n, c in mod["cells"].items():          # a path would need escaping; the harness finds their memories by these names
        if c["type"] in a.blackbox and re.search(r"\W", n):
            y(f"cd {a.module}"); y(f"rename {n} {re.sub(r'[^A-Za-z0-9_]+', '_', n)}"); y("cd ..")
    y(f"rename {a.module} {a.module}_netlist")
    y(f"write_verilog -noattr {out(a.module + '_netlist.v')}")
    shorten(out(a.module + "_netlist.v")); t3 = time.time()
    open(out(a.module + ".sv"), "w").write(wrapper(a, mod["ports"], len(picked), places))
    json.dump({n: len(p["bits"]) for n, p in mod["ports"].items()}, open(out("ports.json"), "w"))
    mems = {n: dict(width=m["width"], size=m["size"], offset=m.get("start_offset", 0))
            for n, m in mod.get("memories", {}).items()}
    cells = collections.Counter(c["type"] for c in mod["cells"].values())
    json.dump(dict(module=a.module, parameters=a.G, payloads=a.payload, seed=a.seed, candidates=len(cands),
                   cells=dict(sorted(cells.items())), memories=mems, mutants=picked),
              open(out("mutants.json"), "w"), indent=1)
    print(f"{a.module}: {len(mod['cells'])} cells, {len(cands)} candidates on "
          f"{len({line_of(c) for c in cands})} lines, {len(picked)} mutants, memories {mems}; "
          f"slang {t1-t0:.2f}s lower {t2-t1:.2f}s mutate+write {t3-t2:.2f}s")


if __name__ == "__main__":
    main()
