# Parameters with which the lints read the modules of this folder: sourced by scripts/lint_rtl.sh.

for file in '1 0 16' '2 0 4' '2 8 8' '2 0 32'; do
    read -r issue active banks <<<"$file"
    sizes="-GOrganisation=4 -GIssuePorts=$issue -GActive=$active -GBanks=$banks -GDepth=$((1024 / banks))"
    echo "rtl/operands/operand_stage.sv $sizes"
    case $banks in 8 | 16) echo "rtl/sm/sm.sv $sizes" ;; esac
done
for banks in 2 32; do every steal Banks=$banks IssuePorts=2 Depth=$((1024 / banks)); done
row=0
for banks in 2 4 8 16 32; do
    for collectors in 4 8 16; do
        row=$((row + 1))
        echo "rtl/steal/steal.sv -GBanks=$banks -GCollectors=$collectors -GIssuePorts=$((1 + row % 2)) -GDepth=$((1024 / banks))"
    done
done
