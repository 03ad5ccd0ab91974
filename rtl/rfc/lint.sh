# Parameters with which the lints read the modules of this folder: sourced by scripts/lint_rtl.sh.

# The design and its sizes: entries, LRF, reads allocate.
rfc() { echo "-GOrganisation=1 -GSizes=$(($1 << 2 | $2 << 1 | $3))"; }
for sizes in '1 1' '5 13' '48 16' '24 1'; do
    read -r slots entries <<<"$sizes"
    every rfc Slots=$slots Entries=$entries IssuePorts=2
done
for tags in 7 16 19; do every rfc IssuePorts=2 Active=$((tags * 2 + 2)) Tags=$tags; done
for active in 2 10 48; do every rfc IssuePorts=2 Active=$active Entries=$((active % 7 + 1)) Collectors=4; done
for above in '1 8 1 0' '1 5 0 1' '2 8 1 0' '2 2 0 1' '2 10 1 1'; do
    read -r issue active lrf reads <<<"$above"
    echo "rtl/rfc/rfc.sv -GIssuePorts=$issue -GActive=$active -GLrf=$lrf -GReads=$reads"
done
for cache in '1 32 13' '2 8 6'; do
    read -r issue active entries <<<"$cache"
    echo "rtl/operands/operand_stage.sv -GIssuePorts=$issue -GActive=$active $(rfc "$entries" 0 0)"
done
# An SM takes seconds, and most of them are for modules that are read alone too.
for cache in '1 32 13 0 0' '2 8 6 1 1'; do
    read -r issue active entries lrf reads <<<"$cache"
    echo "rtl/sm/sm.sv -GIssuePorts=$issue -GActive=$active $(rfc "$entries" "$lrf" "$reads")"
done
# Results leave their latches early.
for issue in 1 2; do every rfc IssuePorts=$issue Active=$((issue * 6)) Release=1; done
echo "rtl/sm/sm.sv -GIssuePorts=2 -GActive=8 -GOrganisation=1 -GSizes=$((1 << 14 | 6 << 2))"
# Words below the cache have power states; some of them with the SM around.
for power in '1 8 8 0 0 sm' '2 48 10 1 1 sm' '2 32 8 0 0'; do
    read -r issue warps active lrf reads sm <<<"$power"
    every rfc IssuePorts="$issue" Warps="$warps" Power="$warps" Active="$active" Lrf="$lrf" Reads="$reads"
    sizes=$((warps << 7 | 6 << 2 | lrf << 1 | reads))
    echo "rtl/operands/operand_stage.sv -GIssuePorts=$issue -GActive=$active -GOrganisation=1 -GSizes=$sizes"
    [ -z "$sm" ] || echo "rtl/sm/sm.sv -GIssuePorts=$issue -GWarps=$warps -GActive=$active -GOrganisation=1 -GSizes=$sizes -GPowerEntries=2"
done
