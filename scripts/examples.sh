#!/usr/bin/env bash
# Compiles the applications in examples/cuda with nvcc from PyPI (scripts/nvcc.sh) into target/examples, and runs them with `gpurf exec`.
#
#   scripts/examples.sh                   all of them, on the functional engine and on the model
#   scripts/examples.sh NAME...           these, such as bfs
#
# Variables: GPURF, the program (default: the release build, made if need be); ENGINE, one engine in place of both.
# Exits with 3 when a tool is missing or cannot be fetched, with 1 when an application does not compile or fails, with 2 on a wrong name.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly caller=examples folder=examples/cuda out=target/examples
# shellcheck source=scripts/nvcc.sh
source scripts/nvcc.sh

names=("$@")
if [ ${#names[@]} = 0 ]; then
    for source in "$folder"/*.cu; do names+=("$(basename "$source" .cu)"); done
fi
for name in "${names[@]}"; do
    [ -e "$folder/$name.cu" ] || { echo "examples: there is no $folder/$name.cu" >&2; exit 2; }
done

install
have g++ || fail "g++ is missing; nvcc compiles the host's part with it (Debian: apt-get install g++)"
find_nvcc
if [ -z "${GPURF:-}" ]; then
    cargo build --quiet --release --package gpurf-cli
    GPURF=target/release/gpurf
fi
library=$("$GPURF" exec --library)
mkdir -p "$out"
failed=()
for name in "${names[@]}"; do
    if ! "$nvcc" -cudart shared -L"$library" -gencode arch=compute_75,code=compute_75 -o "$out/$name" "$folder/$name.cu"; then
        failed+=("$name")
        continue
    fi
    for engine in ${ENGINE:-functional model}; do
        echo "== $name, $engine"
        "$GPURF" exec --engine "$engine" -- "$out/$name" || failed+=("$name ($engine)")
    done
done
if [ ${#failed[@]} -gt 0 ]; then
    echo "examples: these fail: ${failed[*]}" >&2
    exit 1
fi
echo "examples: ${#names[@]} applications passed"
