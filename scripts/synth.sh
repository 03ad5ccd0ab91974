#!/usr/bin/env bash
# What the SM costs: at the baseline's parameters, or with --full down to gates at small ones, because gates of a 32-lane machine take long.
set -euo pipefail
cd "$(dirname "$0")/.."

small=(Warps=8 CodeWords=64 ConstWords=1024 SharedWords=1024 Rows=4 Banks=4 Collectors=4 Depth=32)
arguments=()
for argument in "$@"; do
    case $argument in
        --full) arguments+=(--full); for value in "${small[@]}"; do arguments+=(-G "$value"); done ;;
        *) echo "synth: $argument is not an option; there is --full" >&2; exit 2 ;;
    esac
done
mapfile -t sources < <(find rtl -name '*.sv' ! -name '*_pkg.sv' | sort)
mkdir -p target
target/venv/bin/python scripts/synth.py --top sm -I rtl "${arguments[@]}" rtl/gpurf_pkg.sv rtl/*/*_pkg.sv "${sources[@]}"
