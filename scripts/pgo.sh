#!/usr/bin/env bash
# `make pgo`: the program in target/pgo/gpurf, optimised by a profile of itself. A first build counts which branches it takes while it runs kernels on
# every preset; a second build uses these counts. This takes seven minutes on two cores, and the model is faster by a sixth
# (docs/performance.md, "The model of the SM"). The results of the program do not change.
# bootstrap.sh --pgo checks for the tool that merges the counts.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly out=target/pgo kernels=(collatz crc32 radixSort sortingNetworks transpose)
triple=$(rustc -vV | sed -n 's/^host: //p')

# build KIND FLAGS: builds the program in $out/KIND. With --target, the flags do not apply to build scripts.
build() {
    RUSTFLAGS=$2 cargo build --quiet --release --package gpurf-cli --target "$triple" --target-dir "$out/$1"
}

rm -rf "$out/counts"
build counting "-Cprofile-generate=$PWD/$out/counts"
counting=$out/counting/$triple/release/gpurf
for preset in $("$counting" presets --json | python3 -c 'import json, sys; print(*(p["preset"] for p in json.load(sys.stdin)["presets"]))'); do
    for kernel in "${kernels[@]}"; do
        "$counting" run "tests/kernels/$kernel.toml" --preset "$preset" --engine model > /dev/null
    done
done
# Reports have their own engine, which needs a profile too.
"$counting" report --only headlines --kernel tests/kernels/hotspot.toml --jobs 1 --fresh > /dev/null
"$(rustc --print target-libdir)/../bin/llvm-profdata" merge -o "$out/profile" "$out/counts"
build use "-Cprofile-use=$PWD/$out/profile"
cp "$out/use/$triple/release/gpurf" "$out/gpurf"
echo "pgo: $out/gpurf. For instance: make reproduce GPURF=$out/gpurf"
