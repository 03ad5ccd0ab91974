#!/usr/bin/env bash
# Compares the module my_BLOCK.sv of examples/testbench with the model through libgpurf: in SystemVerilog with DPI-C, and in Python with
# cocotb.
#
#   scripts/testbench.sh              both
#   scripts/testbench.sh dpi|cocotb   one
#
# Variables: BROKEN=1 switches the module's fault on; BENCH=1 prints cycles per second; CYCLES, how many to run; OUT, the folder
# to build in (default target/testbench); GPURF and LIBGPURF, program and library (default: release builds, made if need be).
# Exits with 3 when a tool is missing, with 1 when the module differs from the model, with 2 on a wrong name.
set -euo pipefail
# Names of files are relative to the caller's folder.
for variable in GPURF LIBGPURF OUT; do
    [ -z "${!variable:-}" ] || declare "$variable=$(realpath -ms "${!variable}")"
done
cd "$(dirname "$0")/.."

readonly example=examples/testbench
modules=("$example"/my_*.sv)
readonly source=${modules[0]}
module=$(basename "$source" .sv)
block=${module#my_}
# Options of `gpurf testbench`: the configuration, and outputs that the module does not have.
read -ra options <"$example/options"
for kind in "$@"; do
    case $kind in
        dpi | cocotb) ;;
        *) echo "testbench: $kind is not a testbench; there are dpi and cocotb" >&2; exit 2 ;;
    esac
done
kinds=("$@")
if [ ${#kinds[@]} = 0 ]; then kinds=(dpi cocotb); fi
if [ -z "${GPURF:-}" ] || [ -z "${LIBGPURF:-}" ]; then
    cargo build --quiet --release --package gpurf-cli --package gpurf-library
fi
GPURF=$(realpath "${GPURF:-target/release/gpurf}")
LIBGPURF=$(realpath "${LIBGPURF:-target/release/libgpurf.so}")
export LIBGPURF

out=${OUT:-target/testbench}
mkdir -p "$out"
out=$(realpath "$out")
# C++ is compiled without optimisation, which takes less time, except for a measurement of speed.
optimise=-O0
if [ -n "${BENCH:-}" ]; then optimise=-O2; fi

# The simulator's exit status is not the same in all versions, so the word in its output decides.
# ShellCheck sees no call: the name after `run_` comes from the command line.
# shellcheck disable=SC2329
run_dpi() {
    # Unchanged files keep their modification time, so that nothing is compiled again.
    mkdir -p "$out/new"
    "$GPURF" testbench "$block" "${options[@]}" --out "$out/new" >/dev/null
    for file in "$out/new"/*.sv; do cmp -s "$file" "$out/$(basename "$file")" || cp "$file" "$out"; done
    "${VERILATOR:-verilator}" --binary --timing --assert -j 2 --Mdir "$out/dpi" -CFLAGS "$optimise" \
        --top-module tb harness/library/include/gpurf_dpi.sv "$out/gpurf_check_$block.sv" "$out/gpurf_drive_$block.sv" \
        "$source" "$example/tb.sv" "$LIBGPURF" -LDFLAGS "-Wl,-rpath,$(dirname "$LIBGPURF")" >"$out/dpi.log" 2>&1 ||
        { cat "$out/dpi.log" >&2; return 3; }
    local start status=0 cycles=${CYCLES:-100000}
    start=$(date +%s%N)
    # If there is a difference, the program ends by abort(), which the shell would report on standard error.
    { ("$out/dpi/Vtb" "+cycles=$cycles" ${BROKEN:+"+broken"} >"$out/dpi.txt" 2>&1); } 2>/dev/null || status=1
    local nanoseconds=$(($(date +%s%N) - start))
    cat "$out/dpi.txt"
    if [ -n "${BENCH:-}" ]; then echo "cycles per second: $((cycles * 1000000000 / nanoseconds))"; fi
    if ! grep -q "gpurf: $block: .* equal" "$out/dpi.txt"; then status=1; fi
    return "$status"
}

# shellcheck disable=SC2329
run_cocotb() {
    scripts/bootstrap.sh --cocotb
    local bin
    bin=$(realpath target/venv/bin)
    cat >"$out/Makefile" <<MAKEFILE
SIM = verilator
TOPLEVEL_LANG = verilog
VERILOG_SOURCES = $PWD/$source
TOPLEVEL = $module
MODULE = test_$block
EXTRA_ARGS = -CFLAGS $optimise
PLUSARGS = ${BROKEN:+"+broken"}
include $("$bin/cocotb-config" --makefiles)/Makefile.sim
MAKEFILE
    local status=0
    PATH="$bin:$PATH" PYTHONPATH="$PWD/$example:$PWD/harness/library/python" CYCLES=${CYCLES:-2000} \
        make -C "$out" --no-print-directory >"$out/cocotb.txt" 2>&1 || status=3
    if ! grep -q '\*\* TESTS=' "$out/cocotb.txt"; then
        tail -n 40 "$out/cocotb.txt" >&2
        return 3
    fi
    sed -n '/running equals_the_model/,$p' "$out/cocotb.txt" | grep -v '^make'
    if ! grep -q '\*\* TESTS=1 PASS=1' "$out/cocotb.txt"; then status=1; fi
    return "$status"
}

worst=0
for kind in "${kinds[@]}"; do
    echo "== $kind"
    status=0
    "run_$kind" || status=$?
    if [ "$status" -gt "$worst" ]; then worst=$status; fi
done
exit "$worst"
