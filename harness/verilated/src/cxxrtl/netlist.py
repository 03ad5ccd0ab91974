"""Turns SystemVerilog into C++ with Yosys: slang reads it, CXXRTL writes it.

    netlist.py --versions
    netlist.py --top M --out DIR [-I dir]... [-D macro]... [-G NAME=VALUE]... [--no-assertions]
               [--net PATH]... [--memory PATH]... [--knob NAME]... source.sv ...

Writes into DIR
    design.h, design.cc   the class of the design, and its code
    members               a line for each thing that the harness reads or writes: what it is, its path, sizes, C++ members

Every net that is asked for becomes an output of the netlist under a number, so that Yosys keeps it and evaluates it like any
other output. A variable that nothing drives becomes an input, if its name is that of a knob. All names that nobody asks for are
dropped, so that their nets can be folded into the expressions that read them.
"""
import argparse, os, re, sys
from importlib.metadata import version

import pyosys
from pyosys import libyosys as ys

# What read_slang leaves that CXXRTL does not take ($buf), and what no output needs. Nothing here rewrites logic.
CLEAN = ["opt_expr", "opt_clean"]
FLIP_FLOP = re.compile(r"^\$(?:a|s|al)?dff")
MEMBER = re.compile(r"^\t(?:/\*\w+\*/ )?(wire|value|memory)<(\d+)> (\w+)", re.M)


def ident(name):
    return ys.IdString("\\" + name)


def mangled(name):
    """The C++ name that CXXRTL gives to a public name."""
    return "p_" + "".join(c if c.isalnum() else "__" if c == "_" else f"_{ord(c):x}_" for c in name)


def read(y, a):
    command = ["read_slang", "--top", a.top, "--no-synthesis-define"]
    for option in "IDG":
        for value in getattr(a, option): command += [f"-{option}", value]
    for c in [" ".join(command + a.sources), f"hierarchy -top {a.top}", "proc", "flatten"]: y(c)


def keep(module, a):
    """Makes outputs of the nets and keeps registers that are written from outside. Gives the output of each net, and the registers."""
    outputs, registers = {}, []
    for cell in [c for c in module.cells_.values() if c.type.str() == "$buf"]:
        # slang gives 'x to a variable that nothing drives.
        value, to = cell.getPort(ident("A")), cell.getPort(ident("Y"))
        if value.is_fully_undef() and to.is_wire() and to.as_wire().name.str()[1:].rpartition(".")[2] in a.knob:
            to.as_wire().port_input = True
            module.remove(cell)
    for path in a.net:
        wire = module.wire(ident(path))
        if wire is None: continue                            # a memory, or not there
        output = module.addWire(ident(f"net_{len(outputs)}"), wire.width)
        output.port_output = True
        module.connect(ys.SigSpec(output), ys.SigSpec(wire))
        outputs[path] = (output.name.str()[1:], wire.width)
    for path in a.memory:
        wire = module.wire(ident(path))
        if wire is None: continue
        wire.set_bool_attribute(ident("keep"), True)
        registers.append(path)
    for number, memory in enumerate(module.memories.values()):
        if memory.name.str()[1:] in a.net + a.memory: read_row(module, memory, number)
    module.fixup_ports()
    return outputs, registers


def read_row(module, memory, number):
    """A reader for a memory, which Yosys would drop if nothing in the design reads it."""
    output = module.addWire(ident(f"row_{number}"), memory.width)
    output.port_output = True
    bits = 32
    cell = module.addCell(ident(f"row_{number}_read"), ys.IdString("$memrd"))
    for name, value in (("MEMID", ys.Const(memory.name.str())), ("ABITS", ys.Const(bits)), ("WIDTH", ys.Const(memory.width)),
                        ("CLK_ENABLE", ys.Const(0, 1)), ("CLK_POLARITY", ys.Const(0, 1)), ("TRANSPARENT", ys.Const(0, 1))):
        cell.setParam(ident(name), value)
    for name, value in (("CLK", ys.Const(0, 1)), ("EN", ys.Const(1, 1)), ("ADDR", ys.Const(memory.start_offset, bits))):
        cell.setPort(ident(name), ys.SigSpec(value))
    cell.setPort(ident("DATA"), ys.SigSpec(output))


def name_assertions(y, module, wanted):
    """An assertion says its name: the text of its $error does not get here."""
    if not wanted: y("delete t:$check t:$print")
    for cell in list(module.cells_.values()):
        if cell.type.str() == "$check":
            cell.setParam(ident("FORMAT"), ys.Const(f"assertion {cell.name.str()[1:]} fails\n"))


def forget_names(module, registers):
    kept = {"\\" + path for path in registers}
    for wire in list(module.wires_.values()):
        name = wire.name.str()
        if name[0] == "\\" and name not in kept and not (wire.port_input or wire.port_output):
            module.rename(wire, ys.IdString("$" + name))


def held_bits(module):
    """The bits that flip-flops hold, as wire and number."""
    held = set()
    for cell in module.cells_.values():
        if FLIP_FLOP.match(cell.type.str()):
            bits = cell.getPort(ident("Q")).to_sigbit_vector()
            held.update((bit.wire.name.str(), bit.offset) for bit in bits if bit.is_wire())
    return held


def members(module, a, outputs, registers, header):
    """The lines of the file of that name."""
    declared = {name: (kind, int(bits)) for kind, bits, name in MEMBER.findall(header)}
    chunks = lambda name: f"{name}.curr.data" if declared[name][0] == "wire" else f"{name}.data"
    lines = [f"design {mangled(a.top)}"]
    for wire in module.wires_.values():
        name = wire.name.str()[1:]
        if wire.port_input and name.rpartition(".")[2] in a.knob:
            lines.append(f"knob {name} {wire.width} {chunks(mangled(name))}")
        elif wire.port_input: lines.append(f"in {name} {wire.width} {chunks(mangled(name))}")
        elif wire.port_output and not re.fullmatch(r"(net|row)_\d+", name):
            lines.append(f"out {name} {wire.width} {chunks(mangled(name))}")
    for path, (output, width) in outputs.items():
        lines.append(f"net {path} {width} {chunks(mangled(output))}")
    held = held_bits(module)
    for path in registers:
        wire, name = module.wire(ident(path)), mangled(path)
        loose = [i for i in range(wire.width) if ("\\" + path, i) not in held]
        if loose or declared.get(name, ("",))[0] != "wire":
            sys.exit(f"{path}: Yosys does not keep it as one register, so it cannot be filled")
        lines.append(f"register {path} {wire.width} {name}.curr.data {name}.next.data")
    memories = {memory.name.str()[1:]: memory for memory in module.memories.values()}
    first = lambda path: f"memory_{mangled(path)}.data[0].data"
    for kind, paths in (("rows", a.net), ("memory", a.memory)):
        for path in (path for path in paths if path in memories):
            lines.append(f"{kind} {path} {memories[path].width} {memories[path].size} {first(path)}")
    # What begins with any value: what flip-flops hold, and memories that are written. A table of constants is a memory too.
    for name, (kind, bits) in declared.items():
        if kind == "wire": lines.append(f"unset {bits} 1 {name}.curr.data {name}.next.data")
    written = {cell.parameters[ident("MEMID")].decode_string()[1:]
               for cell in module.cells_.values() if cell.type.str().startswith("$memwr")}
    for path in sorted(written):
        lines.append(f"unset {memories[path].width} {memories[path].size} {first(path)} {first(path)}")
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--versions", action="store_true", help="print the version of Yosys and where the C++ runtime is")
    parser.add_argument("--top")
    parser.add_argument("--out")
    for option in "IDG": parser.add_argument(f"-{option}", action="append", default=[])
    parser.add_argument("--no-assertions", dest="assertions", action="store_false")
    parser.add_argument("--net", action="append", default=[], metavar="PATH", help="a net to read")
    parser.add_argument("--memory", action="append", default=[], metavar="PATH", help="a memory or register to read and write")
    parser.add_argument("--knob", action="append", default=[], metavar="NAME", help="a variable to write, wherever it is")
    parser.add_argument("sources", nargs="*")
    a = parser.parse_args()
    if a.versions:
        runtime = os.path.join(os.path.dirname(pyosys.__file__), "share/include/backends/cxxrtl/runtime")
        print(f"pyosys {version('pyosys')}\n{runtime}")
        return
    out = lambda name: os.path.join(a.out, name)
    design = ys.Design()
    y = lambda command: design.run_pass(f"tee -q -a {out('yosys.log')} {command}")
    read(y, a)
    module = design.module(ident(a.top))
    outputs, registers = keep(module, a)
    name_assertions(y, module, a.assertions)
    for command in CLEAN: y(command)
    y("check -assert")
    forget_names(module, registers)
    y(f"write_cxxrtl -header -g0 {out('design.cc')}")
    with open(out("design.h")) as f: header = f.read()
    with open(out("members"), "w") as f: f.write("\n".join(members(module, a, outputs, registers, header)) + "\n")


if __name__ == "__main__":
    main()
