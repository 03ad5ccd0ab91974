# Parameters with which the lints read the modules of this folder: sourced by scripts/lint_rtl.sh.

for tags in 7 16 19; do echo "rtl/operands/front_operands.sv -GIssuePorts=2 -GTags=$tags"; done
