# Parameters with which the lints read the modules of this folder: sourced by scripts/lint_rtl.sh.

for file in '1 2 4 512' '2 32 16 32' '2 2 4 2'; do
    read -r issue banks collectors depth <<<"$file"
    every mrf_ideal IssuePorts=$issue Banks=$banks Collectors=$collectors Depth=$depth
done
for file in '1 0 16' '2 8 4'; do
    read -r issue active banks <<<"$file"
    sizes="-GOrganisation=5 -GIssuePorts=$issue -GActive=$active -GBanks=$banks -GDepth=$((1024 / banks))"
    echo "rtl/operands/operand_stage.sv $sizes"
    echo "rtl/sm/sm.sv $sizes"
done
row=0
for banks in 2 4 8 16 32; do
    for collectors in 4 8 16; do
        issue=$((1 + row / 2 % 2)) row=$((row + 1))
        echo "rtl/mrf_ideal/mrf_ideal.sv -GBanks=$banks -GCollectors=$collectors -GIssuePorts=$issue -GDepth=$((1024 / banks))"
    done
done
