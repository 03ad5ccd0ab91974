#!/usr/bin/env python3
"""Compares the speed of two checkouts: each runs the same kernels, in alternation, and the ratios of processor time are printed.

    bench_pair.py OLD NEW [--rounds N] [--kernel NAME]... [--preset NAME]... [--engine model|lockstep]...

OLD and NEW are folders of checkouts. Each is built first, with `cargo build --release`. Other load on a machine changes slowly: a round therefore
runs OLD and NEW one right after the other, the order alternates from round to round, and each round has its own ratio. The first round, in which RTL
is built, does not count. Processor time is that of the program and of all processes that it starts, on one thread.

Prints for each engine, preset and kernel the median of the ratios NEW / OLD (below 1: NEW is faster), and the range of nine in ten rounds. "slower"
or "faster" is printed if that range does not contain 1 and the median differs from 1 by 5 % or more. The exit status does not depend on speed: it is
2 if a program does not run or the two do not do the same work.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

# Kernels of each engine that take about a second.
KERNELS = {"model": ["transpose-large", "needle-large"], "lockstep": ["crc32", "radixSort"]}
# The default; --preset names others.
PRESETS = ["baseline", "two-level"]
# A difference that is worth a look.
NOTABLE = 0.05


def fail(message):
    print(f"bench_pair: {message}", file=sys.stderr)
    sys.exit(2)


def program(checkout):
    """Builds the program of a checkout and returns its path."""
    if not (checkout / "Cargo.toml").is_file():
        fail(f"{checkout} is no checkout of the project: it has no Cargo.toml")
    print(f"bench_pair: building {checkout}", file=sys.stderr)
    built = subprocess.run(["cargo", "build", "--quiet", "--release", "--package", "gpurf-cli"], cwd=checkout, check=False)
    if built.returncode:
        fail(f"{checkout} does not build")
    return checkout / "target/release/gpurf"


def run(checkout, path, engine, preset, kernel):
    """Processor time of a run in seconds, and its number of issue slots."""
    manifest = f"tests/kernels/{kernel}.toml"
    command = [str(path), "run", manifest, "--engine", engine, "--preset", preset, "--json"]
    if engine == "lockstep":
        command += ["--threads", "1"]
    environment = {**os.environ, "GPURF_HOME": str(checkout), "RAYON_NUM_THREADS": "1"}
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        ran = subprocess.Popen(command, cwd=checkout, env=environment, stdout=output, stderr=errors)
        _, status, usage = os.wait4(ran.pid, 0)
        ran.returncode = os.waitstatus_to_exitcode(status)
        for file in (output, errors):
            file.seek(0)
        if ran.returncode:
            fail(f"{checkout}: {' '.join(command[1:])} ended with {ran.returncode}:\n{errors.read().strip()}")
        return usage.ru_utime + usage.ru_stime, json.load(output)["stats"]["issue_slots"]


def compare(old, new, rounds, job):
    """The ratio of each round, and the median time of each side."""
    ratios, times = [], {"old": [], "new": []}
    for number in range(rounds + 1):
        sides = [("old", *old), ("new", *new)]
        if number % 2:
            sides.reverse()
        took = {}
        for side, checkout, path in sides:
            took[side] = run(checkout, path, *job)
        if took["old"][1] != took["new"][1]:
            fail(f"{' '.join(job)}: {took['old'][1]} issue slots before, {took['new'][1]} now: they do not do the same work")
        if number:
            ratios.append(took["new"][0] / took["old"][0])
            for side in times:
                times[side].append(took[side][0])
    return ratios, {side: statistics.median(all) for side, all in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--kernel", action="append")
    parser.add_argument("--preset", action="append")
    parser.add_argument("--engine", action="append", choices=list(KERNELS))
    args = parser.parse_args()
    if args.rounds < 1:
        fail("--rounds has to be at least 1")
    old, new = [(path.resolve(), program(path.resolve())) for path in (args.old, args.new)]
    print(f"{'engine':9} {'preset':14} {'kernel':18} {'old, s':>8} {'new, s':>8} {'new by old':>10}  nine of ten rounds")
    for engine in args.engine or KERNELS:
        for preset in args.preset or PRESETS:
            for kernel in args.kernel or KERNELS[engine]:
                ratios, seconds = compare(old, new, args.rounds, (engine, preset, kernel))
                ratios.sort()
                rest = len(ratios) // 20
                low, middle, high = ratios[rest], statistics.median(ratios), ratios[-1 - rest]
                word = ""
                if abs(middle - 1) >= NOTABLE and not low <= 1 <= high:
                    word = "slower" if middle > 1 else "faster"
                print(
                    f"{engine:9} {preset:14} {kernel:18} {seconds['old']:8.2f} {seconds['new']:8.2f} {middle:10.2f}  {low:.2f} to {high:.2f}  {word}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
