# Parameters with which the lints read the modules of this folder: sourced by scripts/lint_rtl.sh.

# Two sets, and as many lines as there can be.
for ways in 1 2 4 8; do
    for lines in $((2 * ways)) 4096; do every cache Lines=$lines Ways=$ways; done
done
for sizes in '4 4' '4 128' '128 4' '128 128'; do
    read -r misses rows <<<"$sizes"
    every cache Misses="$misses" Rows="$rows"
done
for cache in '1 8 1 4 4' '2 4096 8 128 128'; do
    read -r issue lines ways misses rows <<<"$cache"
    echo "rtl/sm/sm.sv -GIssuePorts=$issue -GRows=$rows -GCacheLines=$lines -GCacheWays=$ways -GCacheMisses=$misses"
done
