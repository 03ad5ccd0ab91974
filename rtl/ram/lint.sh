# Parameters with which the lints read the modules of this folder: sourced by scripts/lint_rtl.sh.

for cell in ram_1rw ram_1r1w; do
    echo "rtl/ram/$cell.sv -GDepth=5 -GParts=1 -GPartW=17"
    echo "rtl/ram/$cell.sv -GDepth=48 -GParts=40 -GPartW=1"
done
