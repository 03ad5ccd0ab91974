"""Compares my_rfc_tags with the model in cocotb: the library generates the inputs and compares the outputs.

The environment variable CYCLES is the number of cycles to run (default 2000); BENCH=1 prints the number of cycles per second.
"""

import os
import time

import cocotb
import gpurf
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly


@cocotb.test()
async def equals_the_model(dut):
    cycles = int(os.environ.get("CYCLES", "2000"))
    model = gpurf.Block("rfc_tags", preset="rfc")
    # my_rfc_tags has no event word.
    model.ignore("event_o")
    model.seed(1)
    inputs = [(signal, getattr(dut, signal.name)) for signal in model.inputs]
    outputs = [(signal, getattr(dut, signal.name)) for signal in model.outputs if signal.name != "event_o"]

    cocotb.start_soon(Clock(dut.clk_i, 10, units="ns").start())
    await FallingEdge(dut.clk_i)
    start = time.monotonic()
    for _ in range(cycles):
        # Inputs change at the falling edge. The outputs are read as soon as they have settled; the rising edge follows.
        model.stimulate()
        for signal, handle in inputs:
            value = model[signal.name]
            if signal.is_array:
                for element, number in enumerate(value):
                    handle[element].value = number
            else:
                handle.value = value
        await ReadOnly()
        seen = {"event_o": 0}
        for signal, handle in outputs:
            if signal.is_array:
                seen[signal.name] = [handle[element].value.integer for element in range(signal.elements)]
            else:
                seen[signal.name] = handle.value.integer
        differences = model.check(model.vector(seen, model.outputs))
        assert not differences, "my_rfc_tags differs from the model\n" + "\n".join(differences)
        await FallingEdge(dut.clk_i)
    if os.environ.get("BENCH"):
        print(f"cycles per second: {cycles / (time.monotonic() - start):.0f}")
    cocotb.log.info("%d cycles, equal", cycles)
