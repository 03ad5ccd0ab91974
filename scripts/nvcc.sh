# shellcheck shell=bash
# nvcc from PyPI in an environment of its own (target/nvcc, 370 MB, downloaded once). Sourced by the scripts that need it, from the top folder; the
# variable `caller` is the name that messages begin with. Needs no GPU.

# One release, so that the same source gives the same PTX on every machine.
readonly release=13.5.37
readonly packages=(
    "nvidia-cuda-nvcc==$release" "nvidia-nvvm==$release" "nvidia-cuda-crt==$release" "nvidia-cuda-runtime==$release"
    "nvidia-cuda-cccl==13.3.5.0.6"
)
readonly environment=target/nvcc stamp=target/nvcc/installed-$release log=target/nvcc.log

have() { command -v "$1" >/dev/null 2>&1; }
# shellcheck disable=SC2154 # the script that sources this file sets it
fail() { printf "$caller: %s\n" "$@" >&2; exit 3; }

quietly() {
    echo "\$ $*" >>"$log"
    "$@" >>"$log" 2>&1
}

install() {
    [ -e "$stamp" ] && return
    have python3 || fail "python3 is missing; nvcc is fetched with its pip. Install Python 3 (Debian: apt-get install python3 python3-venv)"
    python3 -c 'import ensurepip, venv' 2>/dev/null ||
        fail "this Python has no venv or no pip. Install them (Debian: apt-get install python3-venv)"
    echo "$caller: installing nvcc $release into $environment (370 MB; log: $log)" >&2
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
    # An absolute path, because nvcc runs in the folder of each source, so that the PTX contains no path.
    # shellcheck disable=SC2034 # for the script that sources this file
    nvcc=$PWD/${found[0]}
}

