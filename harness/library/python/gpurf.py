"""libgpurf for Python: blocks of the model of gpurf, for cocotb and other testbenches.

    import gpurf

    arbiter = gpurf.Block("mrf_arbiter", settings="mrf.banks=8")
    arbiter["rst_ni"] = 0
    arbiter.step()
    arbiter["rst_ni"] = 1
    arbiter["req_valid_i"] = 0b101
    arbiter["req_bank_i"] = [3] * 24     # an unpacked array: one number for each element
    arbiter.settle()
    print(arbiter["grant_o"], arbiter["read_entry_o"])
    arbiter.edge()

The library is found beside this file, in ../lib or ../../../target/release and target/debug of a checkout, or where the
environment variable LIBGPURF says. docs/library.md describes blocks, signals and cycles. Errors of the library are GpurfError.
"""

import ctypes
import os
from collections import namedtuple
from ctypes import POINTER, byref, c_char_p, c_int, c_uint32, c_uint64, c_void_p
from pathlib import Path

INPUT, OUTPUT, PROBE = 0, 1, 2

Signal = namedtuple("Signal", "name meaning role bits elements is_array number")
Memory = namedtuple("Memory", "path bits words")


class GpurfError(Exception):
    """What the library says of a call that fails."""


class _SignalInfo(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("meaning", c_char_p),
        ("role", c_uint32),
        ("bits", c_uint32),
        ("elements", c_uint32),
        ("is_array", c_uint32),
    ]


class _MemoryInfo(ctypes.Structure):
    _fields_ = [("path", c_char_p), ("bits", c_uint32), ("words", c_uint64)]


class _PointInfo(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("count", c_uint64)]


_WORDS = POINTER(c_uint32)
_FUNCTIONS = {
    "gpurf_abi": (c_uint32, []),
    "gpurf_version": (c_char_p, []),
    "gpurf_error": (c_char_p, []),
    "gpurf_blocks": (c_uint32, []),
    "gpurf_block_name": (c_char_p, [c_uint32]),
    "gpurf_block_summary": (c_char_p, [c_uint32]),
    "gpurf_new": (c_void_p, [c_char_p, c_char_p, c_char_p]),
    "gpurf_free": (None, [c_void_p]),
    "gpurf_parameters": (c_int, [c_void_p]),
    "gpurf_parameter": (c_int, [c_void_p, c_uint32, POINTER(c_char_p), POINTER(c_uint64)]),
    "gpurf_signals": (c_int, [c_void_p]),
    "gpurf_describe_signal": (c_int, [c_void_p, c_uint32, POINTER(_SignalInfo)]),
    "gpurf_set_words": (c_int, [c_void_p, c_uint32, c_uint32, _WORDS, c_uint32]),
    "gpurf_get_words": (c_int, [c_void_p, c_uint32, c_uint32, _WORDS, c_uint32]),
    "gpurf_is_valid": (c_int, [c_void_p, c_uint32, c_uint32]),
    "gpurf_input_bits": (c_int, [c_void_p]),
    "gpurf_output_bits": (c_int, [c_void_p]),
    "gpurf_put_inputs": (c_int, [c_void_p, _WORDS]),
    "gpurf_get_inputs": (c_int, [c_void_p, _WORDS]),
    "gpurf_put_outputs": (c_int, [c_void_p, _WORDS]),
    "gpurf_get_outputs": (c_int, [c_void_p, _WORDS]),
    "gpurf_settle": (c_int, [c_void_p]),
    "gpurf_edge": (c_int, [c_void_p]),
    "gpurf_step": (c_int, [c_void_p]),
    "gpurf_ignore": (c_int, [c_void_p, c_char_p]),
    "gpurf_check": (c_int, [c_void_p]),
    "gpurf_report": (c_char_p, [c_void_p]),
    "gpurf_cycle": (c_uint64, [c_void_p]),
    "gpurf_watch": (c_int, [c_void_p, c_int]),
    "gpurf_seed": (c_int, [c_void_p, c_uint64]),
    "gpurf_stimulate": (c_int, [c_void_p]),
    "gpurf_cover": (c_int, [c_void_p]),
    "gpurf_points": (c_int, [c_void_p]),
    "gpurf_describe_point": (c_int, [c_void_p, c_uint32, POINTER(_PointInfo)]),
    "gpurf_memories": (c_int, [c_void_p]),
    "gpurf_describe_memory": (c_int, [c_void_p, c_uint32, POINTER(_MemoryInfo)]),
    "gpurf_memory_get": (c_int, [c_void_p, c_uint32, c_uint64, _WORDS, c_uint32]),
    "gpurf_memory_set": (c_int, [c_void_p, c_uint32, c_uint64, _WORDS, c_uint32]),
    "gpurf_save": (c_void_p, [c_void_p]),
    "gpurf_restore": (c_int, [c_void_p, c_void_p]),
    "gpurf_free_state": (None, [c_void_p]),
}
_ABI = 1


def _load():
    here = Path(__file__).resolve().parent
    places = [here, here.parent / "lib"]
    places += [here.parents[2] / "target" / kind for kind in ("release", "debug")] if len(here.parents) > 2 else []
    files = [Path(os.environ["LIBGPURF"])] if "LIBGPURF" in os.environ else [place / "libgpurf.so" for place in places]
    file = next((file for file in files if file.exists()), None)
    if file is None:
        tried = ", ".join(map(str, files))
        raise GpurfError(f"libgpurf.so is not at {tried}: build it with `make library`, or set LIBGPURF to its path")
    library = ctypes.CDLL(str(file))
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    if library.gpurf_abi() != _ABI:
        raise GpurfError(f"{file} has version {library.gpurf_abi()} of the interface; this module is for version {_ABI}")
    return library


_library = _load()


def _checked(result):
    if result is None or result == -1:
        raise GpurfError(_library.gpurf_error().decode())
    return result


def _words(value, count):
    mask = (1 << 32 * count) - 1
    if value < 0 or value > mask:
        raise GpurfError(f"{value} does not fit in {count} words of 32 bits")
    return (c_uint32 * count)(*(value >> 32 * word & 0xFFFF_FFFF for word in range(count)))


def _number(words):
    return sum(word << 32 * place for place, word in enumerate(words))


def version():
    """The version of gpurf."""
    return _library.gpurf_version().decode()


def blocks():
    """Names of all blocks, with a line on what each does."""
    count = _library.gpurf_blocks()
    names = ((_library.gpurf_block_name(i).decode(), _library.gpurf_block_summary(i).decode()) for i in range(count))
    return dict(names)


class Block:
    """A block of the model. Signals are read and set by name: block["look_reg_i"]."""

    def __init__(self, name, preset="", settings=""):
        self._handle = None
        self.name = name
        self._handle = _checked(_library.gpurf_new(name.encode(), preset.encode(), settings.encode()))
        self.signals = {}
        for number in range(_library.gpurf_signals(self._handle)):
            info = _SignalInfo()
            _checked(_library.gpurf_describe_signal(self._handle, number, byref(info)))
            name, meaning = info.name.decode(), info.meaning.decode()
            self.signals[name] = Signal(name, meaning, info.role, info.bits, info.elements, bool(info.is_array), number)
        self.inputs = [signal for signal in self.signals.values() if signal.role == INPUT]
        self.outputs = [signal for signal in self.signals.values() if signal.role == OUTPUT]
        self._input_words, self._output_words = (
            (_checked(bits(self._handle)) + 31) // 32
            for bits in (_library.gpurf_input_bits, _library.gpurf_output_bits)
        )

    def __del__(self):
        if self._handle is not None:
            _library.gpurf_free(self._handle)
            self._handle = None

    @property
    def parameters(self):
        """Parameters of the RTL module and their values."""
        found = {}
        for number in range(_library.gpurf_parameters(self._handle)):
            name, value = c_char_p(), c_uint64()
            _checked(_library.gpurf_parameter(self._handle, number, byref(name), byref(value)))
            found[name.value.decode()] = value.value
        return found

    def _signal(self, name):
        if name not in self.signals:
            raise GpurfError(f"{self.name} has no signal {name}")
        return self.signals[name]

    def __getitem__(self, name):
        signal = self._signal(name)
        count = (signal.bits + 31) // 32
        values = []
        for element in range(signal.elements):
            words = (c_uint32 * count)()
            _checked(_library.gpurf_get_words(self._handle, signal.number, element, words, count))
            values.append(_number(words))
        return values if signal.is_array else values[0]

    def __setitem__(self, name, value):
        signal = self._signal(name)
        count = (signal.bits + 31) // 32
        values = list(value) if signal.is_array else [value]
        if len(values) != signal.elements:
            raise GpurfError(f"{self.name}.{name} has {signal.elements} elements, not {len(values)}")
        for element, number in enumerate(values):
            words = _words(int(number), count)
            _checked(_library.gpurf_set_words(self._handle, signal.number, element, words, count))

    def is_valid(self, name, element=0):
        """Whether an element of an output means something in this cycle."""
        return bool(_checked(_library.gpurf_is_valid(self._handle, self._signal(name).number, element)))

    def vector(self, values, signals):
        """The numbers of signals, by name, as one vector: signal 0 lowest, element 0 lowest in its signal."""
        result, low = 0, 0
        for signal in signals:
            value = values[signal.name]
            for element in value if signal.is_array else [value]:
                result |= int(element) << low
                low += signal.bits
        return result

    def put_inputs(self, vector):
        """Sets all inputs from their vector."""
        _checked(_library.gpurf_put_inputs(self._handle, _words(vector, self._input_words)))

    def get_inputs(self):
        """All inputs as their vector."""
        words = (c_uint32 * self._input_words)()
        _checked(_library.gpurf_get_inputs(self._handle, words))
        return _number(words)

    def get_outputs(self):
        """All outputs of the model as their vector."""
        words = (c_uint32 * self._output_words)()
        _checked(_library.gpurf_get_outputs(self._handle, words))
        return _number(words)

    def settle(self):
        """Computes the outputs from state and inputs."""
        _checked(_library.gpurf_settle(self._handle))

    def edge(self):
        """The clock edge of the cycle that was settled last."""
        _checked(_library.gpurf_edge(self._handle))

    def step(self):
        """Both."""
        _checked(_library.gpurf_step(self._handle))

    def ignore(self, port):
        """Leaves an output out of the comparison."""
        _checked(_library.gpurf_ignore(self._handle, port.encode()))

    def check(self, outputs):
        """Settles, compares with the vector of the RTL's outputs, and takes the edge.

        Returns the lines of the differences: an empty list where both sides are equal.
        """
        _checked(_library.gpurf_put_outputs(self._handle, _words(outputs, self._output_words)))
        if _checked(_library.gpurf_check(self._handle)) == 0:
            return []
        return _library.gpurf_report(self._handle).decode().splitlines()

    @property
    def cycle(self):
        """Edges since the block was created."""
        return _library.gpurf_cycle(self._handle)

    def watch(self, on=True):
        """Computes probes from the next settling on."""
        _checked(_library.gpurf_watch(self._handle, int(on)))

    def seed(self, seed):
        """Begins random inputs that the block's page allows."""
        _checked(_library.gpurf_seed(self._handle, seed))

    def stimulate(self):
        """Sets the inputs to the random ones of the next cycle."""
        _checked(_library.gpurf_stimulate(self._handle))

    def cover(self):
        """Counts the situations that the block's page describes."""
        _checked(_library.gpurf_cover(self._handle))

    @property
    def points(self):
        """The situations and how often each one was reached."""
        found = {}
        for number in range(_checked(_library.gpurf_points(self._handle))):
            info = _PointInfo()
            _checked(_library.gpurf_describe_point(self._handle, number, byref(info)))
            found[info.name.decode()] = info.count
        return found

    @property
    def memories(self):
        """Path, width of a word in bits and number of words of each memory."""
        found = []
        for number in range(_checked(_library.gpurf_memories(self._handle))):
            info = _MemoryInfo()
            _checked(_library.gpurf_describe_memory(self._handle, number, byref(info)))
            found.append(Memory(info.path.decode(), info.bits, info.words))
        return found

    def read(self, memory, word):
        """A word of a memory."""
        count = (self.memories[memory].bits + 31) // 32
        words = (c_uint32 * count)()
        _checked(_library.gpurf_memory_get(self._handle, memory, word, words, count))
        return _number(words)

    def write(self, memory, word, value):
        """Writes a word of a memory."""
        count = (self.memories[memory].bits + 31) // 32
        _checked(_library.gpurf_memory_set(self._handle, memory, word, _words(value, count), count))

    def save(self):
        """A copy of the block's state, for restore."""
        return State(_checked(_library.gpurf_save(self._handle)))

    def restore(self, state):
        """Goes back to a state."""
        _checked(_library.gpurf_restore(self._handle, state.handle))


class State:
    """What Block.save keeps."""

    def __init__(self, handle):
        self.handle = handle

    def __del__(self):
        _library.gpurf_free_state(self.handle)
