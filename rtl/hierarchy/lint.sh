# Parameters with which the lints read the modules of this folder: sourced by scripts/lint_rtl.sh.

# The design and its sizes: entries of the ORF, banks of the LRF.
hierarchy() { echo "-GOrganisation=2 -GSizes=$(($1 << 2 | $2))"; }
for levels in '1 0' '1 3' '3 1' '8 0' '8 3'; do
    read -r entries banks <<<"$levels"
    for slots in 1 5 48; do every hierarchy Entries=$entries LrfBanks=$banks Slots=$slots; done
    echo "rtl/hierarchy/hierarchy_entries.sv -GEntries=$entries -GLrfBanks=$banks -GActive=1"
    for active in 2 10; do
        every hierarchy Entries=$entries LrfBanks=$banks IssuePorts=2 Active=$active Collectors=4
    done
    echo "rtl/operands/operand_stage.sv -GIssuePorts=2 -GActive=8 $(hierarchy "$entries" "$banks")"
done
for levels in '1 3 1' '2 8 3'; do
    read -r issue entries banks <<<"$levels"
    echo "rtl/sm/sm.sv -GIssuePorts=$issue -GActive=8 $(hierarchy "$entries" "$banks")"
done
for active in 2 10 48; do every hierarchy Warps=48 IssuePorts=2 Active=$active Tags=$((active % 13 + 4)); done
