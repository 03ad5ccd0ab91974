# Parameters with which the lints read the modules of this folder: sourced by scripts/lint_rtl.sh.

# The design and its sizes: entries, LRF, reads allocate.
rfc() { echo "-GOrganisation=1 -GSizes=$(($1 << 2 | $2 << 1 | $3))"; }
for sizes in '1 1' '5 13' '48 16' '24 1'; do
    read -r slots entries <<<"$sizes"
    for block in rfc_tags rfc_data; do echo "rtl/rfc/$block.sv -GSlots=$slots -GEntries=$entries"; done
    echo "rtl/rfc/rfc_evictions.sv -GSlots=$slots -GIssuePorts=2"
    echo "rtl/rfc/rfc_lrf.sv -GSlots=$slots"
done
for tags in 7 16 19; do
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
