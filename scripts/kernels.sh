#!/usr/bin/env bash
# Recompiles the test kernels: tests/kernels/NAME.cu and launch/NAME.cu to NAME.ptx beside it, with nvcc from PyPI in an environment of its own
# (target/nvcc, 370 MB, downloaded once). Needs no GPU. The PTX is checked in, so only those who change a kernel need this.
#
#   scripts/kernels.sh               all kernels
#   scripts/kernels.sh NAME...       these kernels only, such as saxpy or launch/loops
#
# Exits with 3 when a tool is missing or cannot be fetched, with 1 when a kernel does not compile, with 2 on a wrong name.
set -euo pipefail
cd "$(dirname "$0")/.."

# One release, so that the same source gives the same PTX on every machine.
readonly release=13.5.37
readonly packages=(
    "nvidia-cuda-nvcc==$release" "nvidia-nvvm==$release" "nvidia-cuda-crt==$release" "nvidia-cuda-runtime==$release"
    "nvidia-cuda-cccl==13.3.5.0.6"
)
readonly environment=target/nvcc stamp=target/nvcc/installed-$release log=target/nvcc.log folder=tests/kernels

have() { command -v "$1" >/dev/null 2>&1; }
fail() { printf 'kernels: %s\n' "$@" >&2; exit 3; }

quietly() {
    echo "\$ $*" >>"$log"
    "$@" >>"$log" 2>&1
}

install() {
    [ -e "$stamp" ] && return
    have python3 || fail "python3 is missing; nvcc is fetched with its pip. Install Python 3 (Debian: apt-get install python3 python3-venv)"
    python3 -c 'import ensurepip, venv' 2>/dev/null ||
        fail "this Python has no venv or no pip. Install them (Debian: apt-get install python3-venv)"
    echo "kernels: installing nvcc $release into $environment (370 MB; log: $log)" >&2
    mkdir -p target
    rm -rf "$environment"
    quietly python3 -m venv "$environment" || fail "no Python environment could be made in $environment; see $log"
    if ! quietly "$environment/bin/pip" install --disable-pip-version-check --no-deps "${packages[@]}"; then
        tail -n 5 "$log" >&2
        fail "nvcc could not be fetched from PyPI (log: $log). Check the network, or point pip at a mirror" \
            "(PIP_INDEX_URL=...), and run this again. The PTX of the kernels is checked in: nothing else needs nvcc."
    fi
    : >"$stamp"
}

find_nvcc() {
    local found=("$environment"/lib/python3*/site-packages/nvidia/cu*/bin/nvcc)
    [ -x "${found[0]}" ] || fail "$environment holds no nvcc. Remove the folder and run this again"
    # Absolute, as the sources are compiled from within their folder: so no path gets into the PTX.
    nvcc=$PWD/${found[0]}
}

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
