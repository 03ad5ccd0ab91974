#!/usr/bin/env bash
# Verilator's lints, all of them, without exception: every module of rtl/ alone, the whole register file at sizes in
# which every pair of parameter values occurs, and the SM with each of its schedulers and register files.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/allocator.sh

# Starts verilator_bin, in the folder of Verilator's Perl wrapper, with the stack limit of the wrapper, which takes longer than a small lint.
verilator=${VERILATOR:-verilator}
if [ -z "${VERILATOR:-}${VERILATOR_ROOT:-}${VERILATOR_BIN:-}" ]; then
    beside=$(dirname "$(realpath "$(command -v verilator)")")/verilator_bin
    if [ -x "$beside" ]; then
        verilator=$beside
        ulimit -s unlimited 2> /dev/null || true
    fi
fi
export verilator

# A call of a function in an index of what a clock edge assigns. Verilator 5.032, which Debian 13 has, ends with an internal error there.
if grep -rnE '^\s*(if \(.*\)\s*|else )?[a-z_0-9.]+\[[^<=]*[a-z0-9_]\([^<]*\]\S*\s*<=\s' rtl --include='*.sv'; then
    echo 'lint: compute the index outside of the assignment (docs/rtl.md, "Simulation speed")' >&2
    exit 1
fi

lint() {
    local source=$1 command=("$verilator" --lint-only -Wall --assert -Irtl)
    shift
    for folder in rtl/*/; do command+=("-I$folder"); done
    # These passes only make the C++ faster; none of them issues a warning.
    command+=(-fno-reorder -fno-life-post -fno-subst -fno-localize -fno-combine)
    # gpurf_pkg comes first, as the other packages may use it.
    command+=("$@" rtl/gpurf_pkg.sv rtl/*/*_pkg.sv "$source" --top-module "$(basename "$source" .sv)")
    # A loop that assigns registers of an array has to be unrolled, however long it is; other loops need not be (docs/performance.md, "Builds").
    "${command[@]}" --unroll-stmts 5000 2> /dev/null || "${command[@]}" || { echo "lint: $source with $*" >&2; return 1; }
}
export -f lint

# Lists every module of a folder, each with the parameters from the arguments that it has.
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
    # The lint.sh of a folder adds lints of its modules.
    # shellcheck disable=SC1090 # which files there are is not known here; lint.sh reads each of them
    for list in rtl/*/lint.sh; do (source "$list"); done
} | sort -u | xargs -P "$(nproc)" -I '{}' bash -c 'lint {}'
