# Parameters with which the lints read the modules of unified memory: sourced by scripts/lint_rtl.sh.

# Register files whose banks may serve memory: with ports in common (1), or with ports of its own (2).
files=$(grep -l 'input .* memory_data_column_i' rtl/*/*.sv | grep -v '/operand_stage')
# Rows, lines of the largest cache, its ways.
for sizes in '96 128 1' '96 128 8' '768 2048 4' '1024 4096 2'; do
    read -r depth lines ways <<<"$sizes"
    for separate in 0 1; do every unified Depth="$depth" Lines="$lines" Separate="$separate"; done
    every cache Unified=1 Lines="$lines" Ways="$ways"
    echo "rtl/control/block_launcher.sv -GUnified=1 -GBanks=4 -GDepth=$depth -GSharedWords=$((128 * depth))"
    for issue in 1 2; do
        for file in $files; do
            for unified in 1 2; do
                echo "$file -GUnified=$unified -GBanks=4 -GDualPort=1 -GDepth=$depth -GIssuePorts=$issue"
            done
        done
    done
done
# The designs that can have unified banks, and their sizes. An SM takes seconds, so every fifth of them has one: each memory occurs with each
# kind of ports, and each design.
turn=0
for design in '1 0 0 0' '2 0 0 0' '1 8 1 24' '2 8 1 27' '1 8 2 15' '2 8 2 13'; do
    read -r issue active organisation sizes <<<"$design"
    for memory in '96 128 1' '768 2048 4'; do
        read -r depth lines ways <<<"$memory"
        for unified in 1 2; do
            arguments="-GUnified=$unified -GBanks=4 -GDualPort=1 -GDepth=$depth -GIssuePorts=$issue -GActive=$active"
            arguments="$arguments -GOrganisation=$organisation -GSizes=$sizes"
            echo "rtl/operands/operand_stage.sv $arguments"
            if [ $((turn % 5)) = 0 ]; then
                echo "rtl/sm/sm.sv $arguments -GSharedWords=$((128 * depth)) -GCacheLines=$lines -GCacheWays=$ways"
            fi
            turn=$((turn + 1))
        done
    done
done
