# Parameters with which the lints read the modules of this folder: sourced by scripts/lint_rtl.sh.

for file in '1 8 1' '1 48 4' '2 8 3' '2 48 2' '2 32 1'; do
    read -r issue warps entries <<<"$file"
    every power IssuePorts=$issue Warps=$warps TableEntries=$entries
done
for file in '1 0 3' '2 8 2'; do
    read -r issue active entries <<<"$file"
    echo "rtl/sm/sm.sv -GIssuePorts=$issue -GActive=$active -GPowerEntries=$entries"
done
# With the scoreboard of a hierarchy in front, and with the alternating scheduler behind.
echo "rtl/sm/sm.sv -GActive=8 -GOrganisation=2 -GSizes=$((3 << 2 | 1)) -GPowerEntries=2"
echo "rtl/sm/sm.sv -GActive=2 -GAlternate=1 -GPowerEntries=2"
