# Parameters with which the lints read the modules of this folder: sourced by scripts/lint_rtl.sh.

# The design and its sizes: entries of a buffer.
hrf() { echo "-GOrganisation=3 -GBanks=2 -GDepth=512 -GSizes=$(($1 << 5 | 8))"; }
for entries in 4 5 17 63; do
    every hrf BufferEntries=$entries
    every hrf BufferEntries=$entries Loads=2 Collectors=4 Depth=32 TagW=2
done
for block in hrf/hrf hrf/hrf_results; do echo "rtl/$block.sv -GBufferEntries=0"; done
for file in '2 64' '2 0' '8 0'; do
    read -r active entries <<<"$file"
    echo "rtl/operands/operand_stage.sv -GActive=$active $(hrf "$entries")"
done
for loads in 2 16; do every hrf Loads=$loads Depth=64; done
for collectors in 4 16; do every hrf Collectors=$collectors; done
for file in "$(hrf 64)" "$(hrf 0)"; do echo "rtl/sm/sm.sv -GActive=2 -GAlternate=1 $file"; done
