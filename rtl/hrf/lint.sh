# Parameters with which the lints read the modules of this folder: sourced by scripts/lint_rtl.sh.

# The design and its sizes: entries of a buffer.
hrf() { echo "-GOrganisation=3 -GBanks=2 -GDepth=512 -GSizes=$(($1 << 5 | 8))"; }
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
for file in "$(hrf 64)" "$(hrf 0)"; do echo "rtl/sm/sm.sv -GActive=2 -GAlternate=1 $file"; done
