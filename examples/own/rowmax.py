#!/usr/bin/env python3
"""The expected results of rowmax.toml: its random matrix (docs/launch.md, "The random generator"), the maximum of each row."""

import pathlib
import struct

ROWS, COLUMNS, SEED, LOW, HIGH = 16, 96, 7, -100_000, 100_000
MASK = 2**64 - 1


def element(index):
    x = (SEED + (index + 1) * 0x9E3779B97F4A7C15) & MASK
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return LOW + ((x ^ x >> 31) * (HIGH - LOW + 1) >> 64)


largest = [max(element(COLUMNS * row + column) for column in range(COLUMNS)) for row in range(ROWS)]
pathlib.Path(__file__).with_name("rowmax.largest.bin").write_bytes(struct.pack(f"<{ROWS}i", *largest))
