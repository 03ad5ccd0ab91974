#!/usr/bin/env bash
# Prints the cost of the SM: at the baseline's parameters, or with --full in gates at small parameters, because mapping a 32-lane machine to gates
# takes long. First it checks that the table of bank stealing has the cost that the paper states, in files of several sizes, and prints which share of the
# paper's file all logic of bank stealing is.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/allocator.sh

small=(Warps=8 CodeWords=64 ConstWords=1024 SharedWords=1024 Rows=4 Banks=4 Collectors=4 Depth=32)
arguments=()
for argument in "$@"; do
    case $argument in
        --full) arguments+=(--full); for value in "${small[@]}"; do arguments+=(-G "$value"); done ;;
        *) echo "synth: $argument is not an option; there is --full" >&2; exit 2 ;;
    esac
done
log2() { local n=$1 bits=0; while ((n > 1)); do n=$((n / 2)) bits=$((bits + 1)); done; echo "$bits"; }
mapfile -t sources < <(find rtl -name '*.sv' ! -name '*_pkg.sv' | sort)
mkdir -p target
# Stealing paper, figure 9: two valids, the free entry, bank and entry of the parked register; 19 bits a bank if there are eight banks of 128 entries.
for size in '8 128' '2 64' '4 16' '16 64' '32 32'; do
    read -r banks depth <<<"$size"
    bits=$((2 + $(log2 "$depth") + $(log2 $((banks * depth)))))
    target/venv/bin/python scripts/synth.py --top steal_table -I rtl -G "Banks=$banks" -G "Depth=$depth" -G IssuePorts=2 --flip-flops $((banks * bits)) \
        rtl/gpurf_pkg.sv rtl/steal/steal_table.sv
done
# Stealing paper IV-D2: the file of 128 KB in eight banks, with two schedulers, compared with the same file without stealing.
target/venv/bin/python scripts/synth.py --top steal --beyond mrf -I rtl -G Banks=8 -G Depth=128 -G Collectors=8 -G IssuePorts=2 \
    rtl/gpurf_pkg.sv rtl/ram/*.sv rtl/mrf/*.sv rtl/steal/*.sv
target/venv/bin/python scripts/synth.py --top sm -I rtl "${arguments[@]}" rtl/gpurf_pkg.sv rtl/*/*_pkg.sv "${sources[@]}"
