#!/usr/bin/env bash
# Verilator's lints, all of them, without exception: every module of rtl/ alone, the whole register file at sizes in
# which every pair of parameter values occurs, and the SM with each of its schedulers and register files.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/allocator.sh

# The program that Verilator's wrapper in Perl starts, with as large a stack: the wrapper takes longer than a small lint. It lies beside it.
verilator=${VERILATOR:-verilator}
if [ -z "${VERILATOR:-}${VERILATOR_ROOT:-}${VERILATOR_BIN:-}" ]; then
    beside=$(dirname "$(realpath "$(command -v verilator)")")/verilator_bin
    if [ -x "$beside" ]; then
        verilator=$beside
        ulimit -s unlimited 2> /dev/null || true
    fi
fi
export verilator

lint() {
    local source=$1 command=("$verilator" --lint-only -Wall --assert -Irtl)
    shift
    for folder in rtl/*/; do command+=("-I$folder"); done
    # What these passes do makes C++ faster, and none of them warns of anything.
    command+=(-fno-reorder -fno-life-post -fno-subst -fno-localize -fno-combine)
    # The package that the others may use comes first.
    command+=("$@" rtl/gpurf_pkg.sv rtl/*/*_pkg.sv "$source" --top-module "$(basename "$source" .sv)")
    # A loop that assigns registers of an array has to be unrolled, however long it is; others need not be (docs/performance.md, "Builds").
    "${command[@]}" --unroll-stmts 5000 2> /dev/null || "${command[@]}" || { echo "lint: $source with $*" >&2; return 1; }
}
export -f lint

# Every module of a folder, with those of these parameters that it has.
every() {
    local folder=$1 source parameter arguments
    shift
    for source in "rtl/$folder"/*.sv; do
        arguments=()
        for parameter in "$@"; do
            if grep -qw "parameter int unsigned ${parameter%%=*}" "$source"; then arguments+=("-G$parameter"); fi
        done
        echo "$source ${arguments[*]}"
    done
}

{
    find rtl -name '*.sv' ! -name '*_pkg.sv' | sort
    for block in execute/dispatcher execute/writeback operands/operand_stage issue/scoreboard issue/warp_scheduler issue/simt_stack \
        issue/issue_stage issue/predicate_file front/fetch front/instruction_buffer memory/address_unit control/barrier_unit; do
        echo "rtl/$block.sv -GIssuePorts=2"
    done
    for issue in 1 2; do echo "rtl/execute/writeback.sv -GTaken=1 -GIssuePorts=$issue"; done
    for warps in 8 48; do echo "rtl/sm/sm.sv -GIssuePorts=2 -GWarps=$warps"; done
    for slots in '1 8 2' '2 8 2' '2 48 6' '1 48 48'; do
        read -r issue warps active <<<"$slots"
        echo "rtl/issue/two_level_scheduler.sv -GIssuePorts=$issue -GWarps=$warps -GActive=$active"
    done
    for issue in 1 2; do echo "rtl/operands/operand_stage.sv -GIssuePorts=$issue -GActive=8"; done
    for warps in 8 48; do echo "rtl/issue/alternating_scheduler.sv -GWarps=$warps"; done
    echo "rtl/control/block_launcher.sv -GPairedRows=1 -GMaxRegisters=64 -GBanks=2 -GDepth=512"
    for slots in '1 32 0' '2 48 0' '2 8 2' '2 48 6' '1 48 48'; do
        read -r issue warps active <<<"$slots"
        if [ "$active" = 0 ]; then
            echo "rtl/issue/warp_scheduler.sv -GCandidates=1 -GIssuePorts=$issue -GWarps=$warps"
        else
            echo "rtl/issue/two_level_scheduler.sv -GCandidates=1 -GIssuePorts=$issue -GWarps=$warps -GActive=$active"
        fi
    done
    for sizes in '8 1' '12 3' '32 4'; do
        read -r depth sources <<<"$sizes"
        echo "rtl/execute/result_queue.sv -GQueueDepth=$depth -GSources=$sources"
    done
    echo "rtl/sm/sm.sv -GActive=2 -GAlternate=1"
    # Each folder adds its own.
    # shellcheck disable=SC1090 # which files there are is not known here; lint.sh reads each of them
    for list in rtl/*/lint.sh; do (source "$list"); done
} | sort -u | xargs -P "$(nproc)" -I '{}' bash -c 'lint {}'
