# Parameters with which the lints read the modules of this folder: sourced by scripts/lint_rtl.sh.

# The design and its sizes: entries of the ORF, banks of the LRF.
hierarchy() { echo "-GOrganisation=2 -GSizes=$(($1 << 2 | $2))"; }
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
