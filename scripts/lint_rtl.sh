#!/usr/bin/env bash
# Verilator's lints, all of them, without exception: every module of rtl/ alone, the whole register file at sizes in
# which every pair of parameter values occurs, and the SM with each of its schedulers and register files.
set -euo pipefail
cd "$(dirname "$0")/.."

lint() {
    local source=$1 include=(-Irtl)
    shift
    for folder in rtl/*/; do include+=("-I$folder"); done
    # The package that the others may use comes first.
    "${VERILATOR:-verilator}" --lint-only -Wall --assert "${include[@]}" "$@" rtl/gpurf_pkg.sv rtl/*/*_pkg.sv "$source" \
        --top-module "$(basename "$source" .sv)" || { echo "lint: $source with $*" >&2; return 1; }
}
export -f lint

# A design of the register file and its sizes, as `gpurf_pkg` packs them (docs/designs.md).
rfc() { echo "-GOrganisation=1 -GSizes=$(($1 << 2 | $2 << 1 | $3))"; }         # entries, LRF, reads allocate
hierarchy() { echo "-GOrganisation=2 -GSizes=$(($1 << 2 | $2))"; }              # entries of the ORF, banks of the LRF
hrf() { echo "-GOrganisation=3 -GBanks=2 -GDepth=512 -GSizes=$(($1 << 5 | 8))"; }  # entries of a buffer
steal() { echo "-GOrganisation=4"; }

{
    find rtl -name '*.sv' ! -name '*_pkg.sv' | sort
    for cell in ram_1rw ram_1r1w; do
        echo "rtl/ram/$cell.sv -GDepth=5 -GParts=1 -GPartW=17"
        echo "rtl/ram/$cell.sv -GDepth=48 -GParts=40 -GPartW=1"
    done
    for block in execute/dispatcher execute/writeback operands/operand_stage issue/scoreboard issue/warp_scheduler issue/simt_stack \
        issue/issue_stage issue/predicate_file front/fetch front/instruction_buffer memory/address_unit control/barrier_unit; do
        echo "rtl/$block.sv -GIssuePorts=2"
    done
    for warps in 8 48; do echo "rtl/sm/sm.sv -GIssuePorts=2 -GWarps=$warps"; done
    for slots in '1 8 2' '2 8 2' '2 48 6' '1 48 48'; do
        read -r issue warps active <<<"$slots"
        echo "rtl/issue/two_level_scheduler.sv -GIssuePorts=$issue -GWarps=$warps -GActive=$active"
    done
    for sizes in '1 1' '5 13' '48 16' '24 1'; do
        read -r slots entries <<<"$sizes"
        for block in rfc_tags rfc_data; do echo "rtl/rfc/$block.sv -GSlots=$slots -GEntries=$entries"; done
        echo "rtl/rfc/rfc_evictions.sv -GSlots=$slots -GIssuePorts=2"
        echo "rtl/rfc/rfc_lrf.sv -GSlots=$slots"
    done
    for tags in 7 16 19; do
        echo "rtl/rfc/rfc_operands.sv -GIssuePorts=2 -GTags=$tags"
        echo "rtl/rfc/rfc_fills.sv -GIssuePorts=2 -GActive=$((tags * 2 + 2)) -GTags=$tags"
    done
    for active in 2 10 48; do
        echo "rtl/rfc/rfc_results.sv -GIssuePorts=2 -GActive=$active"
        echo "rtl/rfc/rfc.sv -GIssuePorts=2 -GActive=$active -GEntries=$((active % 7 + 1)) -GCollectors=4"
    done
    for above in '1 8 1 0' '1 5 0 1' '2 8 1 0' '2 2 0 1' '2 10 1 1'; do
        read -r issue active lrf reads <<<"$above"
        echo "rtl/rfc/rfc.sv -GIssuePorts=$issue -GActive=$active -GLrf=$lrf -GReads=$reads"
    done
    for issue in 1 2; do echo "rtl/operands/operand_stage.sv -GIssuePorts=$issue -GActive=8"; done
    for cache in '1 32 13' '2 8 6'; do
        read -r issue active entries <<<"$cache"
        echo "rtl/operands/operand_stage.sv -GIssuePorts=$issue -GActive=$active $(rfc "$entries" 0 0)"
    done
    for cache in '1 32 13' '2 8 6'; do
        read -r issue active entries <<<"$cache"
        for above in '0 0' '1 1'; do
            read -r lrf reads <<<"$above"
            echo "rtl/sm/sm.sv -GIssuePorts=$issue -GActive=$active $(rfc "$entries" "$lrf" "$reads")"
        done
    done
    for warps in 8 48; do echo "rtl/issue/alternating_scheduler.sv -GWarps=$warps"; done
    echo "rtl/control/block_launcher.sv -GPairedRows=1 -GMaxRegisters=64 -GBanks=2 -GDepth=512"
    for entries in 4 5 17 63; do
        for block in hrf_buffer hrf_rcm hrf_drain hrf_power hrf_results; do echo "rtl/hrf/$block.sv -GBufferEntries=$entries"; done
        echo "rtl/hrf/hrf.sv -GBufferEntries=$entries -GLoads=2 -GCollectors=4 -GDepth=32 -GTagW=2"
    done
    for block in hrf/hrf hrf/hrf_results; do echo "rtl/$block.sv -GBufferEntries=0"; done
    for file in '2 64' '2 0' '8 0'; do
        read -r active entries <<<"$file"
        echo "rtl/operands/operand_stage.sv -GActive=$active $(hrf "$entries")"
    done
    for loads in 2 16; do echo "rtl/hrf/hrf_loads.sv -GLoads=$loads -GDepth=64"; done
    for collectors in 4 16; do
        for block in hrf_reads hrf_operands; do echo "rtl/hrf/$block.sv -GCollectors=$collectors"; done
    done
    for file in "$(hrf 64)" "$(hrf 0)" ''; do echo "rtl/sm/sm.sv -GActive=2 -GAlternate=1 $file"; done
    for slots in '1 32 0' '2 48 0' '2 8 2' '2 48 6' '1 48 48'; do
        read -r issue warps active <<<"$slots"
        if [ "$active" = 0 ]; then
            echo "rtl/issue/warp_scheduler.sv -GCandidates=1 -GIssuePorts=$issue -GWarps=$warps"
        else
            echo "rtl/issue/two_level_scheduler.sv -GCandidates=1 -GIssuePorts=$issue -GWarps=$warps -GActive=$active"
        fi
    done
    for file in '1 0 16' '2 0 4' '2 8 8' '2 0 32'; do
        read -r issue active banks <<<"$file"
        sizes="$(steal) -GIssuePorts=$issue -GActive=$active -GBanks=$banks -GDepth=$((1024 / banks))"
        echo "rtl/operands/operand_stage.sv $sizes"
        echo "rtl/sm/sm.sv $sizes"
    done
    for levels in '1 0' '1 3' '3 1' '8 0' '8 3'; do
        read -r entries banks <<<"$levels"
        sizes="-GEntries=$entries -GLrfBanks=$banks"
        echo "rtl/hierarchy/hierarchy_levels.sv $sizes"
        for slots in 1 5 48; do echo "rtl/hierarchy/hierarchy_data.sv $sizes -GSlots=$slots"; done
        echo "rtl/hierarchy/hierarchy_entries.sv $sizes -GActive=1"
        for active in 2 10; do
            echo "rtl/hierarchy/hierarchy_entries.sv $sizes -GIssuePorts=2 -GActive=$active"
            echo "rtl/hierarchy/hierarchy.sv $sizes -GIssuePorts=2 -GActive=$active -GCollectors=4"
        done
        echo "rtl/operands/operand_stage.sv -GIssuePorts=2 -GActive=8 $(hierarchy "$entries" "$banks")"
    done
    for levels in '1 3 1' '2 8 3'; do
        read -r issue entries banks <<<"$levels"
        echo "rtl/sm/sm.sv -GIssuePorts=$issue -GActive=8 $(hierarchy "$entries" "$banks")"
    done
    for active in 2 10 48; do
        echo "rtl/hierarchy/hierarchy_results.sv -GIssuePorts=2 -GActive=$active"
        echo "rtl/hierarchy/hierarchy_copies.sv -GIssuePorts=2 -GActive=$active -GTags=$((active % 13 + 4))"
        echo "rtl/hierarchy/hierarchy_scoreboard.sv -GWarps=48 -GActive=$active"
    done
    for sizes in '8 1' '12 3' '32 4'; do
        read -r depth sources <<<"$sizes"
        echo "rtl/execute/result_queue.sv -GQueueDepth=$depth -GSources=$sources"
    done
    for block in candidates table dependence arbiter return; do
        for banks in 2 32; do echo "rtl/steal/steal_$block.sv -GBanks=$banks -GIssuePorts=2 -GDepth=$((1024 / banks))"; done
    done
    row=0
    for banks in 2 4 8 16 32; do
        for collectors in 4 8 16; do
            # The two kinds of port and of issue alternate with different periods, so that they meet in all four ways.
            dual=$((row % 2)) issue=$((1 + row / 2 % 2)) row=$((row + 1))
            echo "rtl/mrf/mrf.sv -GBanks=$banks -GDualPort=$dual -GCollectors=$collectors -GIssuePorts=$issue -GDepth=$((1024 / banks))"
            echo "rtl/steal/steal.sv -GBanks=$banks -GCollectors=$collectors -GIssuePorts=$((1 + row % 2)) -GDepth=$((1024 / banks))"
        done
    done
} | xargs -P "$(nproc)" -I '{}' bash -c 'lint {}'
