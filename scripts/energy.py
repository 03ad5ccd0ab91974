#!/usr/bin/env python3
"""Measures the energy of a block of the RTL: gates of an open cell library, driven by recorded inputs. docs/energy-rtl.md describes it.

    energy.py --block B [--preset P] [--set KEY=VALUE]... [--kernel LAUNCH.toml [--toml FILE]] [--cycles N] [--seed S] [--json FILE]
    energy.py --top M --recorded FILE.json [-G NAME=VALUE]... source.sv ...

Needs scripts/bootstrap.sh --energy. The first form measures a block of the project in a configuration. Its inputs are those of a kernel that the
model runs; without --kernel, they are the constrained random inputs of libgpurf. The second form measures a user's own module. FILE.json is
{"inputs": {PORT: [number of each cycle]}, "outputs": {PORT: [number, or null where it is not compared]}, "from": CYCLE}; changes count from cycle
CYCLE on (default: 1).

Exits with 1 when the netlist's outputs differ from the recorded ones, with 2 on bad input, with 3 when a tool or the library is missing.
"""
import argparse, collections, ctypes, functools, json, os, re, subprocess, sys, tempfile, tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# For each block: whether it is wiring only, and the events among which its energy is divided.
BLOCKS = tomllib.loads((ROOT / "scripts/energy.toml").read_text())
LIBERTY = "/usr/share/qflow/tech/osu018/osu018_stdcells.lib"
RAMS = ["ram_1rw", "ram_1r1w"]
RESET = 4           # cycles of reset before the first cycle that counts
# Maps to gates by size and delay, and buffers long nets. ABC's default script takes ten times as long on wide multiplexers.
ABC = "+strash;&get,-n;&nf;&put;buffer,-N,16;upsize;dnsize"


class Refused(Exception):
    def __init__(self, message, status=2):
        super().__init__(message)
        self.status = status


try:
    import libparse, numpy
    from pyosys import libyosys as ys
except ImportError as missing:
    print(f"energy: {missing}; run scripts/bootstrap.sh --energy, and this program with target/venv/bin/python", file=sys.stderr)
    sys.exit(3)


# ------------------------------------------------------------------ the cell library
def children(node, *names): return [child for child in node.children if child.id in names]
def value(node, name, otherwise=None):
    found = children(node, name)
    return found[0].value.strip('"') if found else otherwise
def numbers(node, name): return [float(n) for line in children(node, name)[0].args for n in line.replace(",", " ").split()]


class Table:
    """Energies by load and slew, or by slew alone: interpolated linearly between points, constant outside of the table."""

    def __init__(self, node, templates):
        axes = templates[node.args[0]]
        if axes not in (["total_output_net_capacitance", "input_transition_time"], ["input_transition_time"]):
            raise Refused(f"the cell library has a power table over {' and '.join(axes)}, which this program does not read")
        self.axes = [numbers(node, f"index_{i + 1}") for i in range(len(axes))]
        self.values = numpy.array(numbers(node, "values")).reshape([len(axis) for axis in self.axes])

    def at(self, load, slew):
        if len(self.axes) == 1: return float(numpy.interp(slew, self.axes[0], self.values))
        return float(numpy.interp(load, self.axes[0], [numpy.interp(slew, self.axes[1], row) for row in self.values]))


class Cell:
    def __init__(self, node, templates):
        self.name, self.leakage = node.args[0], float(value(node, "cell_leakage_power", 0))
        self.pins = {pin.args[0]: pin for pin in children(node, "pin")}
        self.inputs = [name for name, pin in self.pins.items() if value(pin, "direction") == "input"]
        self.outputs = [name for name, pin in self.pins.items() if value(pin, "direction") == "output"]
        self.load = {name: float(value(pin, "capacitance", 0)) for name, pin in self.pins.items()}
        self.clock = [name for name, pin in self.pins.items() if value(pin, "clock") == "true"]
        self.is_register = bool(children(node, "ff", "latch"))
        # For each pin, the tables of a rise and those of a fall: one table for each related pin.
        self.power = {
            name: [
                [Table(table, templates) for power in children(pin, "internal_power") for table in children(power, edge, "power")]
                for edge in ("rise_power", "fall_power")
            ]
            for name, pin in self.pins.items()
        }

    def internal(self, pin, load, slew, choose):
        """Energy inside the cell of a rise and of a fall of a pin. Its cause is one of the related pins: `choose` reduces their energies to one."""
        return [choose([table.at(load, slew) for table in tables]) if tables else 0.0 for tables in self.power[pin]]

    def truth(self, output):
        """The function of an output as a truth table: bit i is the output for inputs i, the first input in the lowest bit of i."""
        text = value(self.pins[output], "function")
        if len(self.inputs) > 4: raise Refused(f"the cell {self.name} has more than four inputs")
        # Liberty writes "and" as `*`, as `&` or by juxtaposition. A misread function would show in the comparison with the recorded outputs.
        words = re.findall(r"\w+|\S", text)
        if not all(re.fullmatch(r"\w+|[!()+*&|^]", word) for word in words): raise Refused(f"the function of {self.name} is not understood: {text}")
        text = ""
        for before, word in zip(["(", *words[:-1]], words, strict=True):
            if re.fullmatch(r"\w+|\)", before) and re.fullmatch(r"\w+|[(!]", word): text += "&"
            text += {"!": "~", "+": "|", "*": "&"}.get(word, word)
        code, bits = compile(text, self.name, "eval"), 0
        for row in range(16):
            names = {name: row >> i & 1 for i, name in enumerate(self.inputs)}
            bits |= (eval(code, {"__builtins__": {}}, names) & 1) << row
        return bits


class Library:
    def __init__(self, path):
        if not Path(path).exists():
            raise Refused(f"the cell library {path} is missing: run scripts/bootstrap.sh --energy, or name another with --liberty", 3)
        # The parser closes the file's descriptor itself.
        parser = libparse.LibertyParser(open(os.open(path, os.O_RDONLY), closefd=False))
        root = parser.ast
        templates = {
            node.args[0]: [value(node, f"variable_{i}") for i in (1, 2, 3) if value(node, f"variable_{i}")]
            for node in children(root, "power_lut_template")
        }
        units = [value(root, "time_unit"), value(root, "voltage_unit"), value(root, "leakage_power_unit")]
        capacitance = [a.strip().lower() for a in children(root, "capacitive_load_unit")[0].args]
        if units != ["1ns", "1V", "1nW"] or capacitance != ["1", "pf"]:
            raise Refused(f"{path} has units other than 1 ns, 1 V, 1 nW and 1 pF")
        self.path, self.volts = path, float(value(root, "nom_voltage"))
        self.cells = {node.args[0]: Cell(node, templates) for node in children(root, "cell")}


# ------------------------------------------------------------------ the netlist
def run_yosys(args, top, parameters, sources, black_boxes, commands):
    """Reads a module, runs commands on it, and returns Yosys' JSON. Yosys runs in a child process, because it ends its process at an error."""
    read = ["read_slang", "--top", top, "--ignore-assertions", "--no-implicit-memories", "-D", "SYNTHESIS", "-I", str(ROOT / "rtl")]
    for name, number in parameters.items(): read += ["-G", f"{name}={number}"]
    for module in black_boxes: read += ["--blackboxed-module", module]
    read += [str(source) for source in sources]
    with tempfile.NamedTemporaryFile(suffix=".json") as file, open(args.log, "w"):
        child = os.fork()
        if child == 0:
            design = ys.Design()
            try:
                for command in [" ".join(read), *commands, f"write_json {file.name}"]: design.run_pass(f"tee -q -a {args.log} {command}")
            except Exception: os._exit(1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            said = [line.strip() for line in Path(args.log).read_text().splitlines() if "error" in line.lower()]
            raise Refused(f"Yosys does not make a netlist of {top}: {said[0] if said else 'it ended early'}; all that it says is in {args.log}")
        return json.load(open(file.name))["modules"]


def synthesise(args, top, parameters, sources):
    """The netlist of the module, in gates of the library."""
    if args.verbose: print(f"energy: synthesising {top}", file=sys.stderr, flush=True)
    commands = [f"synth -flatten -noabc -top {top}", f"dfflibmap -liberty {args.liberty}", f"abc -liberty {args.liberty} -script {args.abc}",
                "opt_clean -purge"]
    return run_yosys(args, top, parameters, sources, RAMS, commands)[top]


class Netlist:
    """Gates in topological order (each after the gates that it reads), and the energy of each net's changes."""

    def __init__(self, module, library, choose=numpy.mean, slew=0.06):
        self.library, self.ports = library, module["ports"]
        self.number = {"0": 0, "1": 1, "x": 0, "z": 0}
        self.clock_pins, self.registers, gates = [], [], []
        self.count = collections.Counter()
        load, self.leakage = collections.Counter(), 0.0
        clocks = set()
        cells = [(name, library.cells.get(cell["type"]), cell) for name, cell in module["cells"].items() if cell["type"] != "$scopeinfo"]
        for name, kind, cell in cells:
            if kind is None: raise Refused(f"the netlist has a cell that is not in the library: {name}, a {cell['type'].lstrip(chr(92))}")
            pins = {pin: self.net(bits[0]) for pin, bits in cell["connections"].items()}
            self.count[kind.name] += 1
            self.leakage += kind.leakage
            for pin in kind.inputs: load[pins[pin]] += kind.load[pin]
            if kind.is_register:
                if set(kind.inputs) != {"D", "CLK"} or "Q" not in kind.outputs: raise Refused(f"{name} is a {kind.name}, not a plain flip-flop")
                clocks.add(pins["CLK"])
                self.registers.append((pins["D"], pins["Q"]))
            else:
                for output in kind.outputs:
                    if output in pins: gates.append(([pins[pin] for pin in kind.inputs], kind.truth(output), pins[output]))
        if len(clocks) > 1 or clocks & {0, 1}: raise Refused("the netlist has more than one clock")
        self.gates = self.ordered(gates)
        for port in self.ports: self.bits(port)

        # Each change of a net dissipates half of C V^2, whichever cell drives it; the remaining energy is inside the cells.
        V = library.volts
        self.parts = {part: numpy.zeros((len(self.number), 2)) for part in ("nets", "cells")}
        self.clock_energy = 0.0
        known = {}
        for net, farads in load.items(): self.parts["nets"][net] += farads * V * V / 2
        for _, kind, cell in cells:
            for pin, bits in cell["connections"].items():
                net = self.net(bits[0])
                key = (kind.name, pin, load[net])
                if key not in known: known[key] = kind.internal(pin, load[net], slew, choose)
                energies = known[key]
                if pin in kind.clock: self.clock_energy += sum(energies) + kind.load[pin] * V * V
                else: self.parts["cells"][net] += energies
        for net in clocks:
            for part in self.parts.values(): part[net] = 0

    def net(self, bit): return self.number.setdefault(bit, len(self.number) - 2)

    @staticmethod
    def ordered(gates):
        driver = {gate[2]: gate for gate in gates}
        done, order = set(), []
        for first in gates:
            stack = [first]
            while stack:
                gate = stack[-1]
                waits = [driver[net] for net in gate[0] if net in driver and net not in done]
                if gate[2] in done: stack.pop()
                elif waits:
                    if len(stack) > len(gates): raise Refused("the netlist has a combinational loop")
                    stack += waits
                else:
                    order.append(gate)
                    done.add(gate[2])
                    stack.pop()
        return order

    def bits(self, port): return [self.net(bit) for bit in self.ports[port]["bits"]]

    def simulate(self, given, outputs, start, simulator):
        """Runs the cycles of `given` ({port: cycles x bits}). Returns the outputs' bits, rises and falls of each net, and the energy per cycle."""
        def pointer(array): return array.ctypes.data_as(ctypes.c_void_p)
        array = lambda numbers, kind: numpy.ascontiguousarray(numbers, dtype=kind)
        cycles = len(next(iter(given.values())))
        inputs = array([net for port in given for net in self.bits(port)], numpy.int32)
        stimulus = array(numpy.concatenate(list(given.values()), axis=1), numpy.uint8)
        seen_nets = array([net for port in outputs for net in self.bits(port)], numpy.int32)
        nets = len(self.number)
        state = numpy.zeros(nets, numpy.uint8)
        state[1] = 1
        padded = array([(reads + [0] * 4)[:4] for reads, _, _ in self.gates] or numpy.zeros((0, 4)), numpy.int32)
        table = array([bits for _, bits, _ in self.gates], numpy.uint16)
        drives = array([net for _, _, net in self.gates], numpy.int32)
        d, q = (array([pair[i] for pair in self.registers], numpy.int32) for i in (0, 1))
        # A flip-flop without reset begins with a random value, so that an output that depends on this value shows as a difference.
        state[q] = numpy.random.default_rng(1).integers(0, 2, len(q))
        seen = numpy.zeros((cycles, len(seen_nets)), numpy.uint8)
        rise, fall = (array(sum(part[:, i] for part in self.parts.values()), numpy.float64) for i in (0, 1))
        energy, rises, falls = numpy.zeros(cycles), numpy.zeros(nets, numpy.int64), numpy.zeros(nets, numpy.int64)
        n = ctypes.c_int64
        simulator.simulate(
            n(nets), pointer(state), n(len(table)), pointer(padded), pointer(table), pointer(drives), n(len(d)), pointer(d), pointer(q),
            n(len(inputs)), pointer(inputs), pointer(stimulus), n(len(seen_nets)), pointer(seen_nets), pointer(seen), pointer(rise), pointer(fall),
            n(cycles), n(start), pointer(energy), pointer(rises), pointer(falls),
        )
        parts, low = {}, 0
        for port in outputs:
            parts[port] = seen[:, low:low + len(self.bits(port))]
            low += len(self.bits(port))
        return parts, rises, falls, energy


def build_simulator():
    source, built = ROOT / "scripts/gates.cpp", ROOT / "target/energy/gates.so"
    if not built.exists() or built.stat().st_mtime < source.stat().st_mtime:
        built.parent.mkdir(parents=True, exist_ok=True)
        # Built under a name of this process's own and then renamed: two runs may build it at once.
        part = built.with_suffix(f".{os.getpid()}")
        command = [os.environ.get("CXX", "g++"), "-O2", "-shared", "-fPIC", "-o", str(part), str(source)]
        try: subprocess.run(command, check=True)
        except (OSError, subprocess.CalledProcessError) as error: raise Refused(f"{' '.join(command)}: {error}", 3) from None
        part.replace(built)
    return ctypes.CDLL(str(built))


# ------------------------------------------------------------------ activity
class Recorded:
    """Recorded inputs and outputs of a block: for each port, its bits in each cycle, lowest first. `compared` says which bits of outputs are
    compared; changes count from cycle `start` on."""

    def __init__(self):
        self.inputs, self.outputs, self.compared, self.start = {}, {}, {}, 0


def to_bits(numbers_, width):
    """Numbers of any width as rows of bits, lowest bit first."""
    size = (width + 7) // 8
    data = numpy.frombuffer(b"".join(number.to_bytes(size, "little") for number in numbers_), numpy.uint8)
    return numpy.unpackbits(data.reshape(-1, size), axis=1, bitorder="little")[:, :width]


def read_recorded(path, ports):
    try:
        data = json.loads(Path(path).read_text())
        recorded = Recorded()
        recorded.start = int(data.get("from", 1))
        width = lambda port: len(ports[port]["bits"])
        for port, numbers_ in data["inputs"].items(): recorded.inputs[port] = to_bits(numbers_, width(port))
        for port, numbers_ in data["outputs"].items():
            recorded.outputs[port] = to_bits([number or 0 for number in numbers_], width(port))
            recorded.compared[port] = numpy.array([[number is not None] * width(port) for number in numbers_])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise Refused(f"{path} is not a recording of this module's ports: {type(error).__name__}: {error}") from None
    if recorded.start < 0: raise Refused(f"{path}: from is {recorded.start}; it is a cycle")
    if len({len(rows) for rows in [*recorded.inputs.values(), *recorded.outputs.values()]}) != 1:
        raise Refused(f"{path} has ports with different numbers of cycles, or none")
    return recorded


def import_gpurf():
    sys.path.insert(0, str(ROOT / "harness/library/python"))
    try: import gpurf
    except Exception as error: raise Refused(str(error), 3) from None
    return gpurf


def stimulate(block, cycles, seed):
    """Records a block of the library under constrained random inputs, with the model's outputs."""
    recorded = Recorded()
    recorded.start = RESET
    block.seed(seed)
    rows = collections.defaultdict(list)
    for _ in range(cycles + RESET):
        block.stimulate()
        block.settle()
        rows["in"].append(block.get_inputs())
        rows["out"].append(block.get_outputs())
        rows["valid"].append([block.is_valid(signal.name, element) for signal in block.outputs for element in range(signal.elements)])
        block.edge()
    valid = numpy.array(rows["valid"], bool)
    for signals, vectors, target in ((block.inputs, rows["in"], recorded.inputs), (block.outputs, rows["out"], recorded.outputs)):
        bits, low = to_bits(vectors, sum(signal.bits * signal.elements for signal in signals)), 0
        for signal in signals:
            elements = [bits[:, low + i * signal.bits:low + (i + 1) * signal.bits] for i in range(signal.elements)]
            # In Yosys, the first element of an array has the highest bits.
            target[signal.name] = numpy.concatenate(elements[::-1], axis=1)
            low += signal.bits * signal.elements
    column = 0
    for signal in block.outputs:
        elements = [numpy.repeat(valid[:, column + i:column + i + 1], signal.bits, axis=1) for i in range(signal.elements)]
        compared = numpy.concatenate(elements[::-1], axis=1)
        compared[:RESET] = False
        recorded.compared[signal.name] = compared
        column += signal.elements
    return recorded


def design_sources():
    packages = [ROOT / "rtl/gpurf_pkg.sv", *sorted(ROOT.glob("rtl/*/*_pkg.sv"))]
    return packages + sorted(path for path in ROOT.glob("rtl/*/*.sv") if not path.name.endswith("_pkg.sv"))


class Waveform:
    """The model's nets in a run of a kernel: their bits in each cycle (of an array, the first element has the highest bits), and which are valid."""

    def __init__(self, args):
        program = os.environ.get("GPURF", str(ROOT / "target/release/gpurf"))
        with tempfile.TemporaryDirectory() as folder:
            command = [program, "run", args.kernel, "--engine", "model", "--wave", f"0:{args.cycles}", "--failures", folder]
            if args.preset: command += ["--preset", args.preset]
            for setting in args.settings: command += ["--set", setting]
            try: ran = subprocess.run(command, capture_output=True, text=True)
            except OSError as error: raise Refused(f"{program}: {error}; build it with: cargo build --release --package gpurf-cli", 3) from None
            if ran.returncode: raise Refused(f"{' '.join(command)} ends with {ran.returncode}: {ran.stderr.strip()}", ran.returncode)
            self.elements = collections.defaultdict(dict)
            self.read(next(Path(folder).glob("*/wave.vcd")))

    def read(self, path):
        codes, scope, now, cycles = {}, [], 0, 0
        changes = collections.defaultdict(list)
        with open(path) as file:
            for line in file:
                words = line.split()
                if not words: continue
                if words[0] == "$scope": scope.append(words[2])
                elif words[0] == "$upscope": scope.pop()
                elif words[0] == "$var":
                    name, _, element = words[4].partition("(")
                    if words[1] == "wire" and scope[1:2] == ["model"]: codes[words[3]] = (name, int(element.rstrip(")") or 0), int(words[2]))
                elif line[0] == "#": now, cycles = int(line[1:]) // 2, max(cycles, int(line[1:]) // 2)
                elif line[0] == "b" and words[1] in codes: changes[words[1]].append((now, words[0][1:]))
                elif line[0] in "01x" and words[0][1:] in codes: changes[words[0][1:]].append((now, line[0]))
        self.cycles = cycles
        for code, (name, element, width) in codes.items(): self.elements[name][element] = (width, changes[code])

    def width(self, name): return sum(width for width, _ in self.elements[name].values())

    def bits(self, name):
        """The bits of a net in each cycle, and which of them are valid. An invalid bit keeps its last valid value, so that it costs no change."""
        parts = [self.element(name, element) for element in sorted(self.elements[name], reverse=True)]
        return tuple(numpy.concatenate(part, axis=1) for part in zip(*parts, strict=True))

    def element(self, name, element):
        """The same for one element of an array."""
        width, changes = self.elements[name][element]
        bits, known = numpy.zeros((self.cycles, width), numpy.uint8), numpy.zeros((self.cycles, width), bool)
        last = numpy.zeros(width, numpy.uint8)
        for (begin, text), (end, _) in zip(changes, [*changes[1:], (self.cycles, "")], strict=True):
            if "x" not in text:
                last = numpy.frombuffer(text.rjust(width, "0").encode(), numpy.uint8)[::-1] - 48
                known[begin:end] = True
            bits[begin:end] = last
        return bits, known


# Functions of Yosys' gates between blocks, on the bits of all cycles at once.
GATES = {
    "$_BUF_": (lambda a: a, "A"), "$_NOT_": (lambda a: a ^ 1, "A"), "$_AND_": (lambda a, b: a & b, "AB"), "$_OR_": (lambda a, b: a | b, "AB"),
    "$_XOR_": (lambda a, b: a ^ b, "AB"), "$_MUX_": (lambda a, b, s: numpy.where(s, b, a), "ABS"),
}


class Machine:
    """The wiring of the SM, by which the inputs of a block are computed: blocks are black boxes, whose outputs the waveform has."""

    def __init__(self, args, parameters, waveform, library, netlist_of):
        sources, self.waveform, self.library, self.netlist_of = design_sources(), waveform, library, netlist_of
        boxes = [path.stem for path in sources if not path.name.endswith("_pkg.sv") and path.stem not in BLOCKS["wiring"]]
        commands = ["hierarchy -check", "proc", "flatten", "delete t:$*dff*", "opt", "bmuxmap", "demuxmap", "bwmuxmap", "techmap", "opt_clean"]
        modules = run_yosys(args, "sm", parameters, sources, boxes, commands)
        # Registers outside of blocks were deleted above: their values are in the waveform or unknown, so their input logic is not needed.
        self.boxes = {name: cell for name, cell in modules["sm"]["cells"].items() if cell["type"] in boxes}
        self.cells = {name: cell for name, cell in modules["sm"]["cells"].items() if cell["type"] not in boxes and cell["type"] != "$scopeinfo"}
        self.driver = {bit: cell for cell in self.cells.values() for port, bits in cell["connections"].items()
                       if cell["port_directions"][port] == "output" for bit in bits}
        # Names in the waveform: a net of the SM keeps its name; docs/lockstep.md gives the name of a net inside a register file.
        self.known = {}
        for name, net in modules["sm"]["netnames"].items():
            *path, last = name.split(".")
            names = [f"operand_stage_inner_{last}", f"operand_stage_{last}"] if path[:1] == ["u_operand_stage"] and len(path) > 1 else [last]
            # Of instances that exist once per issue port, the waveform has the port's number after the instance's name.
            port = re.search(r"gen_port\[(\d+)\]", name)
            words = last.split("_")
            if path[:1] != ["u_operand_stage"]:
                names += ["_".join([*words[:i], ""])[:-1] + (port[1] if port else "0") + "_" + "_".join(words[i:]) for i in range(1, len(words))]
            for candidate in names if len(path) != 1 or path[0] != "u_operand_stage" else [f"operand_stage_{last}"]:
                if candidate in waveform.elements and waveform.width(candidate) == len(net["bits"]):
                    for i, bit in enumerate(net["bits"]):
                        if isinstance(bit, int): self.known.setdefault(bit, (candidate, i))
                    break
        self.columns, self.simulated, self.under_way = {}, {}, set()
        self.box_of = {bit: name for name, box in self.boxes.items() for port, bits in box["connections"].items()
                       if box["port_directions"][port] == "output" for bit in bits}

    def column(self, name):
        if name not in self.columns: self.columns[name] = self.waveform.bits(name)
        return self.columns[name]

    def value(self, bit):
        """The values of a bit in each cycle, and in which cycles they are valid; None if they are unknown."""
        cycles = self.waveform.cycles
        if bit in ("0", "1", "x", "z"): return numpy.full(cycles, int(bit == "1"), numpy.uint8), numpy.ones(cycles, bool)
        if bit in self.known:
            name, i = self.known[bit]
            bits, valid = self.column(name)
            return bits[:, i], valid[:, i]
        return self.simulated.get(bit)

    def run_box(self, bit):
        """Computes outputs of a block that are not in the waveform, by simulating the block's netlist."""
        name = self.box_of.get(bit)
        if name is None or name in self.under_way:
            raise Refused(f"an input of the block follows from {self.name(bit)}, which neither the waveform nor a netlist has; "
                          "without --kernel its inputs are random")
        self.under_way.add(name)
        box = self.boxes[name]
        recorded = self.record(box)
        netlist = Netlist(self.netlist_of(box), self.library)
        ports = [port for port, shape in netlist.ports.items() if shape["direction"] == "output"]
        seen, *_ = netlist.simulate(recorded.inputs, ports, recorded.start, build_simulator())
        compare(recorded, {port: bits for port, bits in seen.items() if port in recorded.compared}, name)
        for port in ports:
            for i, output in enumerate(box["connections"].get(port, [])):
                if self.value(output) is None: self.simulated[output] = seen[port][RESET:, i], numpy.ones(self.waveform.cycles, bool)
        self.under_way.discard(name)

    def record(self, box):
        """The inputs and outputs of a block during the kernel."""
        recorded = Recorded()
        recorded.start = RESET + 1
        ends = [(port, bits, box["port_directions"][port]) for port, bits in box["connections"].items() if port != "clk_i"]
        wanted = [bit for port, bits, way in ends if way == "input" for bit in bits]
        inputs = self.settle(wanted)
        low = 0
        for port, bits, way in ends:
            if way == "input":
                rows = inputs[:, low:low + len(bits)]
                low += len(bits)
                # The waveform begins after reset, but the netlist has to be reset first: cycles of reset are inserted in front.
                before = numpy.repeat(rows[:1], RESET, axis=0)
                if port == "rst_ni": before = numpy.zeros_like(before)
                recorded.inputs[port] = numpy.concatenate([before, rows])
            else:
                found = [self.value(bit) for bit in bits]
                empty = (numpy.zeros(self.waveform.cycles, numpy.uint8), numpy.zeros(self.waveform.cycles, bool))
                rows, valid = (numpy.stack([(pair or empty)[i] for pair in found], axis=1) for i in (0, 1))
                recorded.outputs[port] = numpy.concatenate([numpy.zeros((RESET, len(bits)), numpy.uint8), rows])
                recorded.compared[port] = numpy.concatenate([numpy.zeros((RESET, len(bits)), bool), valid])
        return recorded

    def settle(self, wanted):
        """The values of these bits in each cycle: from the waveform, or computed by the gates between blocks."""
        values = {}
        def follow(bit):
            stack = [bit]
            while stack:
                bit = stack[-1]
                if bit in values: stack.pop(); continue
                known = self.value(bit)
                if known is not None: values[bit] = known[0]; stack.pop(); continue
                cell = self.driver.get(bit)
                if cell is None or cell["type"] not in GATES:
                    self.run_box(bit)
                    continue
                waits = [b for port, bits in cell["connections"].items() if cell["port_directions"][port] == "input" for b in bits
                         if b not in values and self.value(b) is None]
                if waits:
                    if len(stack) > 100000: raise Refused("the wiring between blocks has a loop")
                    stack += waits
                else:
                    function, pins = GATES[cell["type"]]
                    values[bit] = function(*(self.found(values, cell["connections"][pin][0]) for pin in pins))
        for bit in wanted: follow(bit)
        return numpy.stack([values[bit] for bit in wanted], axis=1)

    def found(self, values, bit): return values[bit] if bit in values else self.value(bit)[0]

    def name(self, bit):
        for name, box in self.boxes.items():
            for port, bits in box["connections"].items():
                if bit in bits and box["port_directions"][port] == "output": return f"{port} of {name}"
        return f"net {bit}"


def compare(recorded, seen, name):
    """Fails at the first bit in which the netlist differs from the recording: its energy would mean nothing. Returns the number of compared bits."""
    first = None
    compared = 0
    for port, bits in seen.items():
        mask = recorded.compared[port]
        compared += int(mask.sum())
        wrong = numpy.argwhere((bits != recorded.outputs[port]) & mask)
        if len(wrong) and (first is None or wrong[0][0] < first[0]): first = (int(wrong[0][0]), port, int(wrong[0][1]))
    if first:
        cycle, port, bit = first
        raise Refused(f"the netlist is not equal to what was recorded: cycle {cycle}, {port}, bit {bit} is {seen[port][cycle][bit]} "
                      f"in the netlist and {recorded.outputs[port][cycle][bit]} in the recording ({name})", 1)
    if not compared: raise Refused("no output was compared: nothing shows that the netlist is right")
    return compared


# ------------------------------------------------------------------ the measurement
def measure(args, module, library, recorded, name):
    """Average energy per cycle by part, and the energy and the ports' values of each cycle."""
    netlist = Netlist(module, library, slew=args.slew)
    missing = [port for port, shape in netlist.ports.items() if shape["direction"] == "input" and port not in [*recorded.inputs, "clk_i"]]
    if missing: raise Refused(f"the recording lacks inputs: {', '.join(missing)}")
    known = {port: bits for port, bits in recorded.inputs.items() if port in netlist.ports}
    outputs = [port for port, shape in netlist.ports.items() if shape["direction"] == "output"]
    for port, bits in (recorded.inputs | recorded.outputs).items():
        width = len(netlist.ports[port]["bits"]) if port in netlist.ports else bits.shape[1]
        if width != bits.shape[1]: raise Refused(f"{port} has {width} bits in the netlist and {bits.shape[1]} in the recording")
    first = max(recorded.start, 1)
    seen, rises, falls, energy = netlist.simulate(known, outputs, first, build_simulator())
    compared = compare(recorded, {port: bits for port, bits in seen.items() if port in recorded.compared}, name)
    cycles = len(energy) - first
    if cycles < 1: raise Refused("there is no cycle to measure: a recording needs two")
    of = lambda part: float(part[:, 0] @ rises + part[:, 1] @ falls) / cycles
    # nW times ns are 1e-6 pJ.
    parts = {name: of(part) for name, part in netlist.parts.items()}
    written = sum(int(rises[q] + falls[q]) for _, q in netlist.registers) / cycles
    gated = netlist.clock_energy * written / max(len(netlist.registers), 1)
    parts |= {"clock": netlist.clock_energy, "leakage": netlist.leakage * 1e-6 * args.period}
    # The pin that causes a change is not known, and slews are not computed: the bounds are the results with extreme choices.
    bounds = []
    for choose, slew in ((min, args.slew), (max, 3 * args.slew)):
        bound = Netlist(module, library, choose, slew)
        bounds.append(sum(of(part) for part in bound.parts.values()) + bound.clock_energy)
    result = {
        "instances": 1, "cells": sum(netlist.count.values()), "flip_flops": len(netlist.registers), "cycles": cycles, "compared_bits": compared,
        "changes": float(rises.sum() + falls.sum()) / cycles, "pj": parts, "clock_gated": gated, "dynamic": sum(parts.values()) - parts["leakage"], "interval": bounds,
    }
    return result, energy[first:], {port: bits[first:] for port, bits in (known | seen).items()}


def total(results):
    """The sum of equal instances."""
    first = results[0]
    summed = {key: sum(result[key] for result in results) for key in ("instances", "compared_bits", "changes", "clock_gated", "dynamic")}
    pj = {part: sum(result["pj"][part] for result in results) for part in first["pj"]}
    return first | summed | {"pj": pj, "interval": [sum(bound) for bound in zip(*(result["interval"] for result in results), strict=True)]}


@functools.cache
def package():
    """The RTL's package, as slang reads it."""
    import pyslang
    compilation = pyslang.ast.Compilation()
    compilation.addSyntaxTree(pyslang.syntax.SyntaxTree.fromFiles([str(path) for path in design_sources()[:1]]))
    return compilation.getPackage("gpurf_pkg")


def counts_of(kind, bits):
    """The value of each field of an event word of this type, in each cycle."""
    counts, low = {}, 0
    for field in reversed(list(package().find(kind).targetType.type.canonicalType)):
        counts[field.name] = bits[:, low:low + field.type.bitWidth] @ (1 << numpy.arange(field.type.bitWidth))
        low += field.type.bitWidth
    return counts


def word_counts(block, ports):
    """The value of each field of a block's event word, in each cycle; empty if the block has no event word."""
    source = next(path for path in design_sources() if path.stem == block).read_text()
    kind = re.search(r"output\s+(\w+_event_t)\s+event_o\b", source)
    return counts_of(kind[1], ports["event_o"]) if kind and "event_o" in ports else {}


def count_events(block, ports):
    """How often each event occurs in each cycle."""
    fields, counts = word_counts(block, ports), {}
    for name in BLOCKS["events"].get(block, [port for port in ports if "valid" in port and port not in fields]):
        counts[name] = fields[name] if name in fields else ports[name].sum(axis=1, dtype=numpy.int64)
    return counts


def fit(counts, energy):
    """Energy of each event in pJ by least squares, none below 0, with 95 % intervals by resampling stretches of cycles; the residual.

    Registers that an event writes change in the next cycle: an event's energy is that of its cycle plus that of the next one."""
    names = [name for name, column in counts.items() if column.any()]
    later = [numpy.concatenate([[0], counts[name][:-1]]) for name in names]
    columns = numpy.array([numpy.ones(len(energy)), *(counts[name] for name in names), *later]).T.astype(float)

    def solve(rows, energies):
        chosen = list(range(rows.shape[1]))
        while True:
            solution, *_ = numpy.linalg.lstsq(rows[:, chosen], energies, rcond=None)
            if solution.min() >= 0 or len(chosen) == 1: break
            del chosen[int(solution.argmin())]
        result = numpy.zeros(rows.shape[1])
        result[chosen] = solution
        return result

    def by_event(solution): return numpy.concatenate([solution[:1], solution[1:len(names) + 1] + solution[len(names) + 1:]])

    solution = solve(columns, energy)
    stretch = max(1, len(energy) // 40)
    starts = numpy.arange(0, len(energy) - stretch + 1, stretch)
    draw = numpy.random.default_rng(1)
    samples = []
    for _ in range(200):
        rows = numpy.concatenate([numpy.arange(begin, begin + stretch) for begin in draw.choice(starts, len(starts))])
        samples.append(by_event(solve(columns[rows], energy[rows])))
    low, high = numpy.percentile(samples, [2.5, 97.5], axis=0)
    left = energy - columns @ solution
    events = {"cycle": 1.0} | {name: float(counts[name].mean()) for name in names}
    rows = [{"event": name, "rate": rate, "pj": float(pj), "interval": [float(a), float(b)]}
            for (name, rate), pj, a, b in zip(events.items(), by_event(solution), low, high, strict=True)]
    return {"events": rows, "residual": float(numpy.sqrt((left ** 2).mean())), "explained": float(1 - left.var() / energy.var()) if energy.var() else 1.0}


def table(title, result):
    print(title, flush=True)
    many = f"{result['instances']} instances of " if result["instances"] > 1 else ""
    print(f"  {many}{result['cells']} cells, {result['flip_flops']} of them flip-flops; {result['cycles']} cycles, "
          f"{result['compared_bits']} bits of outputs equal; {result['changes']:.1f} nets change in a cycle")
    for name, text in (("nets", "nets, as loads of cells"), ("cells", "inside cells"), ("clock", "clock pins of flip-flops"), ("leakage", "leakage")):
        print(f"  {text:<28} {result['pj'][name]:>12.6g} pJ a cycle")
    print(f"  {'  of those that change':<28} {result['clock_gated']:>12.6g} pJ a cycle")
    low, high = result["interval"]
    print(f"  {'all but leakage':<28} {result['dynamic']:>12.6g} pJ a cycle ({low:.6g} to {high:.6g})")
    if "fit" in result:
        print(f"  {'switching by event':<28} {'pJ an event':>12} {'95 % interval':>18} {'events a cycle':>15}")
        for row in result["fit"]["events"]:
            interval = f"{row['interval'][0]:.3g} to {row['interval'][1]:.3g}"
            print(f"  {row['event']:<28} {row['pj']:>12.4g} {interval:>18} {row['rate']:>15.4f}")
        print(f"  {'':<28} residual {result['fit']['residual']:.3g} pJ a cycle, {100 * result['fit']['explained']:.0f} % of the variance explained")


# The papers' energies of 128 bits of the main register file (docs/energy.md), at 40 nm and 0.9 V.
READ, WRITE = 8.0, 11.0
# Ratios of energy at 40 nm and 0.9 V to that of the library: capacitance in proportion to feature size, or to its square root; times V^2.
def scales(volts): return [(40 / 180) ** power * (0.9 / volts) ** 2 for power in (1.0, 0.5)]


def beside(results, accesses, volts):
    """Prints the energy of the blocks, in a kernel, next to the papers' energy of the main register file."""
    reads, writes = accesses
    papers = READ * reads + WRITE * writes
    low, high = scales(volts)
    print(f"beside the papers' energy of the main register file: {reads:.3f} groups read and {writes:.3f} written in a cycle,"
          f" {READ:g} and {WRITE:g} pJ each: {papers:.2f} pJ a cycle")
    print(f"At 40 nm and 0.9 V: pJ here times {low:.3f} to {high:.3f}. Clock: of the flip-flops that change, to that of all of them")
    print(f"{'block':<20} {'switching':>10} {'clock':>18} {'switching, 40 nm':>18} {'by the MRF':>18} {'with the clock':>18}")
    rows = [(name, result["pj"]["nets"] + result["pj"]["cells"], result["clock_gated"], result["pj"]["clock"]) for name, result in results.items()]
    rows.append(("all", *(sum(row[i] for row in rows) for i in (1, 2, 3))))
    for name, switching, gated, clock in rows:
        scaled = f"{low * switching:.2f} to {high * switching:.2f}"
        by = [f"{100 * low * least / papers:.1f} to {100 * high * most / papers:.1f} %" if papers else "-"
              for least, most in ((switching, switching), (switching + gated, switching + clock))]
        print(f"{name:<20} {switching:>10.2f} {f'{gated:.2f} to {clock:.2f}':>18} {scaled:>18} {by[0]:>18} {by[1]:>18}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--block", action="append", default=[])
    parser.add_argument("--preset", default="")
    parser.add_argument("--set", action="append", default=[], dest="settings")
    parser.add_argument("--kernel")
    parser.add_argument("--cycles", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--top")
    parser.add_argument("--recorded")
    parser.add_argument("-G", action="append", default=[])
    parser.add_argument("--liberty", default=LIBERTY)
    parser.add_argument("--slew", type=float, default=0.06, help="transition time of inputs, ns")
    parser.add_argument("--period", type=float, default=10.0, help="of the clock, ns: for leakage")
    parser.add_argument("--abc", default=ABC, help=argparse.SUPPRESS)
    parser.add_argument("--verbose", action="store_true", help="name each netlist before it is made")
    parser.add_argument("--json")
    parser.add_argument("--toml", help="with --kernel: write energies by event that gpurf's --energy reads")
    parser.add_argument("--scale", type=float, help="of energies in --toml, by those of the library (default: to 40 nm and 0.9 V)")
    parser.add_argument("--log", default=str(ROOT / "target/energy.log"))
    parser.add_argument("sources", nargs="*")
    args = parser.parse_args()
    own = [bool(args.top), bool(args.recorded), bool(args.sources)]
    if any(own) and not all(own) or any(own) and (args.block or args.kernel):
        raise Refused("a module of one's own needs --top, --recorded and sources, without --block and --kernel")
    if args.toml and not args.kernel: raise Refused("--toml needs --kernel: energies by the machine's events are of a machine that runs a kernel")
    for option, file in (("--json", args.json), ("--toml", args.toml)):
        # Checked first, because the measurement takes minutes.
        if file and (Path(file).is_dir() or not Path(file).absolute().parent.is_dir()):
            raise Refused(f"{option} {file}: {'it is a folder' if Path(file).is_dir() else 'its folder does not exist'}")
    if args.scale is not None and not (args.toml and 0 < args.scale < float("inf")): raise Refused("--scale is a number above 0, of --toml")
    if args.cycles < 1: raise Refused("--cycles is at least 1")
    library = Library(args.liberty)
    Path(args.log).parent.mkdir(parents=True, exist_ok=True)
    results, accesses = {}, None
    rates = {}
    for name, title, module, recordings in work(args, library, rates):
        runs = [measure(args, module, library, recorded, name) for recorded in recordings]
        result = results[name] = total([run[0] for run in runs])
        if not args.top:
            counts = [count_events(name, ports) for _, _, ports in runs]
            counts = {event: sum(each[event] for each in counts) for event in counts[0]}
            result["fit"] = fit(counts, sum(energy for _, energy, _ in runs))
            if args.kernel: result["counted"] = counted(name, rates)
        if name == "mrf_arbiter": accesses = [float(word_counts(name, runs[0][2])[field].mean()) for field in ("read_groups", "write_groups")]
        table(title, result)
        print(flush=True)
    if args.kernel and accesses: beside(results, accesses, library.volts)
    if args.json: Path(args.json).write_text(json.dumps(results, indent=1) + "\n")
    if args.toml: write_toml(args, results, library.volts)


def machine_counts(parameters, waveform):
    """How often each event of the machine occurs per cycle, by its name in gpurf's results."""
    words = BLOCKS["words"]
    kinds = [(word, 0, "", kind) for word, kind in words["always"].items()]
    if int(parameters["Active"]): kinds.append(("scheduler_event_o", 0, "", words["scheduler"][int(parameters["Alternate"])]))
    design = words["design"].get(str(parameters["Organisation"]), {"prefix": "", "types": []})
    kinds += [("design_event_o", element, design["prefix"], kind) for element, kind in enumerate(design["types"])]
    rates = {}
    for word, element, prefix, kind in kinds:
        bits, _ = waveform.element(word, element)
        rates |= {prefix + name: float(counts.mean()) for name, counts in counts_of(kind, bits).items()}
    return rates


def counted(block, rates):
    """The machine's events among which this block's energy can be divided, and how often each occurs per cycle."""
    return {event: rates[event] for event in (ISSUE, *BLOCKS["counted"].get(block, {}).values()) if event in rates}


# If events explain less than this part of the variance of a block's energy, the whole energy is assigned to issued instructions.
EXPLAINED = 0.5
ISSUE = "issue"


def by_machine_event(name, result, scale):
    """Energy of a block by the machine's events in pJ, times `scale`, as gpurf's --energy reads it; and a comment on how it was divided.

    The energy of a field of the block is assigned to the machine's event that stands for the field. The total over all cycles is unchanged."""
    switching = result["pj"]["nets"] + result["pj"]["cells"]
    explained = result["fit"]["explained"]
    issued = result["counted"].get(ISSUE, 0.0)
    alone, by = ({ISSUE: scale * switching / issued}, "by instruction") if issued else ({"cycle": scale * switching}, "by cycle")
    if explained < EXPLAINED: return alone, f"its events explain {100 * explained:.0f} % of the variance: {by}"
    energies = collections.Counter()
    for row in result["fit"]["events"]:
        field, spent = row["event"], row["pj"] * row["rate"]
        if field == "cycle": energies["cycle"] += spent
        elif spent > 0:
            event = BLOCKS["counted"].get(name, {}).get(field)
            rate = result["counted"].get(event, 0.0)
            if not rate: return alone, f"the machine does not count {field}, which has a part of the energy: {by}"
            energies[event] += spent / rate
    # With no energy allowed below 0, the least-squares sum may differ from the total: it is scaled to the total.
    whole = sum(energy * (1.0 if event == "cycle" else result["counted"][event]) for event, energy in energies.items())
    return {event: scale * energy * switching / whole for event, energy in energies.items()}, f"its events explain {100 * explained:.0f} % of the variance"


def write_toml(args, results, volts):
    """Writes the file that gpurf's --energy reads."""
    if not results: raise Refused("no block was measured: there is nothing to write")
    low, high = scales(volts)
    scale = args.scale or (low * high) ** 0.5
    kept = "" if args.scale else f", the geometric middle of {low:.4g} and {high:.4g} (40 nm and 0.9 V, docs/energy-rtl.md)"
    cycles = next(iter(results.values()))["cycles"]
    of = f"{Path(args.kernel).stem} on {' '.join([args.preset or 'baseline', *args.settings])}, {cycles} cycles"
    lines = ["# Energies of events, measured by scripts/energy.py (docs/energy-rtl.md). gpurf run and gpurf compare read it: --energy FILE.", 'unit = "pJ"',
             f'note = """RTL as gates of {Path(args.liberty).name} at {volts:g} V. Switching of nets and cells, without clock pins and leakage,',
             f'times {scale:.4g}{kept}.', 'Each block at the sizes, and with the activity, of the machine and kernel that its comment names."""']
    for name, result in results.items():
        energies, why = by_machine_event(name, result, scale)
        lines += ["", f"[blocks.{name}]   # {of}; {why}"]
        lines += [f"{event} = {energy:.4g}" for event, energy in sorted(energies.items(), key=lambda pair: (pair[0] != "cycle", pair[0]))]
    Path(args.toml).write_text("\n".join(lines) + "\n")


def work(args, library, rates):
    """Yields for each block its name, title, netlist and recordings. Fills `rates` with the machine's events per cycle."""
    if args.top:
        module = synthesise(args, args.top, dict(setting.partition("=")[::2] for setting in args.G), args.sources)
        yield args.top, f"{args.top}: inputs of {args.recorded}", module, [read_recorded(args.recorded, module["ports"])]
        return
    gpurf = import_gpurf()

    def block_of(name):
        try: return gpurf.Block(name, args.preset, " ".join(args.settings))
        except gpurf.GpurfError as error: raise Refused(str(error)) from None

    machine, netlists = None, {}

    def netlist_of(box):
        """The netlist of a block as instantiated in the SM, where its parameters may differ from those of the block alone."""
        parameters = {name: int(str(box["parameters"].get(name, "0")), 2) if name in box["parameters"] else number
                      for name, number in block_of(box["type"]).parameters.items()}
        key = (box["type"], *parameters.items())
        if key not in netlists: netlists[key] = synthesise(args, box["type"], parameters, design_sources())
        return netlists[key]

    if args.kernel:
        parameters, waveform = block_of("sm").parameters, Waveform(args)
        rates |= machine_counts(parameters, waveform)
        machine = Machine(args, parameters, waveform, library, netlist_of)
    names = args.block or [name for name in BLOCKS["events"] if machine and any(box["type"] == name for box in machine.boxes.values())]
    if not names: raise Refused("name a block (--block), or a kernel (--kernel) for all blocks that have a place in it")
    for name in names:
        title = name + (f", {args.preset}" if args.preset else "")
        if machine:
            boxes = [box for box in machine.boxes.values() if box["type"] == name]
            if not boxes: raise Refused(f"the machine has no {name}")
            try: recordings = [machine.record(box) for box in boxes]
            except Refused as refused:
                if args.block: raise
                print(f"{title}: left out: {refused}\n", flush=True)
                continue
            yield name, f"{title}: {args.kernel}", netlist_of(boxes[0]), recordings
        else:
            block = block_of(name)
            recorded = stimulate(block, args.cycles, args.seed)
            module = synthesise(args, name, block.parameters, design_sources())
            yield name, f"{title}: constrained random inputs, seed {args.seed}", module, [recorded]


if __name__ == "__main__":
    try: main()
    except Refused as refused:
        print(f"energy: {refused}", file=sys.stderr)
        sys.exit(refused.status)
