# Parameters with which the lints read the modules of this folder: sourced by scripts/lint_rtl.sh.

row=0
for banks in 2 4 8 16 32; do
    for collectors in 4 8 16; do
        # The two kinds of port and of issue alternate with different periods, so that they meet in all four ways.
        dual=$((row % 2)) issue=$((1 + row / 2 % 2)) row=$((row + 1))
        echo "rtl/mrf/mrf.sv -GBanks=$banks -GDualPort=$dual -GCollectors=$collectors -GIssuePorts=$issue -GDepth=$((1024 / banks))"
    done
done
