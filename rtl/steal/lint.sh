# Parameters with which the lints read the modules of this folder: sourced by scripts/lint_rtl.sh.

# Some of them with the SM around.
for file in '1 0 16 sm' '2 0 4' '2 8 8 sm' '2 0 32'; do
    read -r issue active banks sm <<<"$file"
    sizes="-GOrganisation=4 -GIssuePorts=$issue -GActive=$active -GBanks=$banks -GDepth=$((1024 / banks))"
    echo "rtl/operands/operand_stage.sv $sizes"
    [ -z "$sm" ] || echo "rtl/sm/sm.sv $sizes"
done
for banks in 2 32; do every steal Banks=$banks IssuePorts=2 Depth=$((1024 / banks)); done
row=0
for banks in 2 4 8 16 32; do
    for collectors in 4 8 16; do
        row=$((row + 1))
        echo "rtl/steal/steal.sv -GBanks=$banks -GCollectors=$collectors -GIssuePorts=$((1 + row % 2)) -GDepth=$((1024 / banks))"
    done
done
