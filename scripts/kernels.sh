#!/usr/bin/env bash
# Recompiles the test kernels: tests/kernels/NAME.cu and launch/NAME.cu to NAME.ptx in the same folder, with nvcc from PyPI in an environment of its
# own (target/nvcc, 370 MB, downloaded once). Needs no GPU. The PTX is checked in, so this is needed only after a change to a kernel. Without names it
# also recompiles the library of the compiler (model/compiler/library).
#
#   scripts/kernels.sh               all kernels, and the library
#   scripts/kernels.sh NAME...       these kernels only, such as saxpy or launch/loops
#
# Exits with 3 when a tool is missing or cannot be fetched, with 1 when a kernel does not compile, with 2 on a wrong name.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly caller=kernels folder=tests/kernels library=model/compiler/library
# shellcheck source=scripts/nvcc.sh
source scripts/nvcc.sh

names=() everything=
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
    everything=yes
    for source in "$folder"/*.cu "$folder"/launch/*.cu; do
        name=${source#"$folder"/}
        names+=("${name%.cu}")
    done
fi

install
have g++ || fail "g++ is missing; nvcc preprocesses with it (Debian: apt-get install g++)"
find_nvcc
changed=0 failed=()
# The PTX of a file, with options for nvcc. nvcc writes the name of the file as it is given, so that it runs in the file's folder.
compile() {
    local in=$1 name=$2
    shift 2
    if ! (cd "$in" && "$nvcc" -ptx -arch=sm_75 "$@" -o "$name.ptx.new" "$name.cu"); then
        rm -f "$in/$name.ptx.new"
        failed+=("$name")
    elif cmp -s "$in/$name.ptx.new" "$in/$name.ptx"; then
        rm "$in/$name.ptx.new"
    else
        mv "$in/$name.ptx.new" "$in/$name.ptx"
        echo "kernels: $in/$name.ptx is new"
        changed=$((changed + 1))
    fi
}
for name in "${names[@]}"; do compile "$folder" "$name"; done
if [ -n "$everything" ]; then
    # The library says itself where it rounds once (fmaf). Its functions are kept although no kernel calls them.
    for source in "$library"/*.cu; do compile "$library" "$(basename "$source" .cu)" -fmad=false -rdc=true; done
fi
echo "kernels: ${#names[@]} compiled with nvcc $release, $changed changed"
if [ ${#failed[@]} -gt 0 ]; then
    echo "kernels: these do not compile: ${failed[*]}" >&2
    exit 1
fi
