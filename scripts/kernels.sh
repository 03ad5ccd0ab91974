#!/usr/bin/env bash
# Recompiles the test kernels: tests/kernels/NAME.cu and launch/NAME.cu to NAME.ptx in the same folder, with nvcc from PyPI in an environment of its
# own (target/nvcc, 370 MB, downloaded once). Needs no GPU. The PTX is checked in, so this is needed only after a change to a kernel.
#
#   scripts/kernels.sh               all kernels
#   scripts/kernels.sh NAME...       these kernels only, such as saxpy or launch/loops
#
# Exits with 3 when a tool is missing or cannot be fetched, with 1 when a kernel does not compile, with 2 on a wrong name.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly caller=kernels folder=tests/kernels
# shellcheck source=scripts/nvcc.sh
source scripts/nvcc.sh

names=()
for argument in "$@"; do
    name=${argument##*"$folder"/}
    name=${name%.cu}
    if [ ! -e "$folder/$name.cu" ]; then
        echo "kernels: there is no $folder/$name.cu" >&2
        exit 2
    fi
    names+=("$name")
done
if [ ${#names[@]} = 0 ]; then
    for source in "$folder"/*.cu "$folder"/launch/*.cu; do
        name=${source#"$folder"/}
        names+=("${name%.cu}")
    done
fi

install
have g++ || fail "g++ is missing; nvcc preprocesses with it (Debian: apt-get install g++)"
find_nvcc
cd "$folder"
changed=0 failed=()
for name in "${names[@]}"; do
    if ! "$nvcc" -ptx -arch=sm_75 -o "$name.ptx.new" "$name.cu"; then
        rm -f "$name.ptx.new"
        failed+=("$name")
    elif cmp -s "$name.ptx.new" "$name.ptx"; then
        rm "$name.ptx.new"
    else
        mv "$name.ptx.new" "$name.ptx"
        echo "kernels: $folder/$name.ptx is new"
        changed=$((changed + 1))
    fi
done
echo "kernels: ${#names[@]} compiled with nvcc $release, $changed changed"
if [ ${#failed[@]} -gt 0 ]; then
    echo "kernels: these do not compile: ${failed[*]}" >&2
    exit 1
fi
