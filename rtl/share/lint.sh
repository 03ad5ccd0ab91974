# Parameters with which the lints read the modules of this folder: sourced by scripts/lint_rtl.sh.

for file in '2 512' '8 128' '16 64' '16 16' '32 32'; do
    read -r banks depth <<<"$file"
    echo "rtl/share/register_places.sv -GBanks=$banks -GDepth=$depth"
done
for file in '1 8' '1 48' '2 8' '2 48'; do
    read -r issue warps <<<"$file"
    echo "rtl/share/share_locks.sv -GIssuePorts=$issue -GWarps=$warps"
done
echo "rtl/sm/sm.sv -GIssuePorts=2 -GWarps=48 -GSizes=1"
for file in '8 1' '16 2'; do
    read -r banks issue <<<"$file"
    echo "rtl/mrf/mrf.sv -GBanks=$banks -GIssuePorts=$issue -GDepth=$((1024 / banks)) -GPlaces=1"
done
echo "rtl/control/block_launcher.sv -GPlaces=1"
echo "rtl/issue/warp_scheduler.sv -GWarps=48 -GIssuePorts=2 -GClasses=1"
for period in 1 1000 65535; do echo "rtl/share/share_throttle.sv -GPeriod=$period"; done
for file in '1 8' '1 48' '2 8' '2 48'; do
    read -r issue warps <<<"$file"
    echo "rtl/share/scratchpad_locks.sv -GIssuePorts=$issue -GWarps=$warps"
done
for issue in 1 2; do echo "rtl/memory/address_unit.sv -GIssuePorts=$issue -GShares=1"; done
for reference in 1 2; do echo "rtl/share/share_throttle.sv -GReference=$reference"; done
# What is shared, in pairs with the numbers of ports and warps.
for file in '1 8 1' '2 48 1' '1 48 2' '2 8 2'; do
    read -r issue warps share <<<"$file"
    echo "rtl/sm/sm.sv -GIssuePorts=$issue -GWarps=$warps -GSizes=1 -GShare=$share"
done
for reference in 0 2; do
    echo "rtl/sm/sm.sv -GIssuePorts=2 -GWarps=48 -GSizes=1 -GShare=1 -GThrottle=1000 -GReference=$reference"
done
