#!/usr/bin/env bash
# Which kernels of a collection of CUDA sources the compiler accepts, and why it refuses the others: `gpurf compile --summary` of .cu and .ptx
# files. The .cu files are compiled with nvcc from PyPI (scripts/nvcc.sh) in a temporary folder. Nothing is written to the folders of the sources.
#
#   scripts/acceptance.sh PATH...                        files, and folders with all below them
#   scripts/acceptance.sh PATH... -- -I/home/me/include  options after -- are passed to nvcc
#
# Variables: GPURF, the program (default: the release build, made if need be); JOBS, compilations at a time; JSON, a file for every kernel as JSON.
# A .cu file that nvcc refuses is listed with nvcc's first error, and its kernels are not counted. Exits with 1 when no file is left, with 3 when a
# tool is missing or cannot be fetched, with 2 on a wrong path; otherwise with 0, however much is refused.
set -euo pipefail
here=$PWD
# Names of files are relative to the caller's folder. A program's name without a folder is looked up on PATH.
[ -z "${JSON:-}" ] || JSON=$(realpath -ms "$JSON")
case ${GPURF:-} in */*) GPURF=$(realpath -ms "$GPURF") ;; esac
cd "$(dirname "$0")/.."

readonly caller=acceptance
# shellcheck source=scripts/nvcc.sh
source scripts/nvcc.sh

paths=() options=()
while [ $# -gt 0 ]; do
    if [ "$1" = -- ]; then
        shift
        options=("$@")
        break
    fi
    case $1 in /*) path=$1 ;; *) path=$here/$1 ;; esac
    [ -e "$path" ] || { echo "acceptance: there is no $1" >&2; exit 2; }
    paths+=("$path")
    shift
done
[ ${#paths[@]} -gt 0 ] || { echo "acceptance: name files or folders with .cu or .ptx files" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mapfile -d '' -t sources < <(find "${paths[@]}" -type f -name '*.cu' -print0 | sort -zu)
mapfile -d '' -t texts < <(find "${paths[@]}" -type f -name '*.ptx' -print0 | sort -zu)

if [ ${#sources[@]} -gt 0 ]; then
    install
    have g++ || fail "g++ is missing; nvcc preprocesses with it (Debian: apt-get install g++)"
    find_nvcc
    # Runs nvcc in the file's folder, because its includes are relative to it. The PTX is in the temporary folder, below the file's full path.
    compile() {
        local source=$1 nvcc=$2 work=$3
        shift 3
        local ptx=$work/ptx${source%.cu}.ptx
        mkdir -p "$(dirname "$ptx")"
        cd "$(dirname "$source")"
        if ! "$nvcc" -ptx -arch=sm_75 -w -o "$ptx" "$@" "$(basename "$source")" >"$ptx.log" 2>&1; then
            rm -f "$ptx"
            echo "  $source: $(grep -m1 -i error "$ptx.log" || head -n1 "$ptx.log")" >>"$work/refused"
        fi
    }
    export -f compile
    printf '%s\0' "${sources[@]}" |
        xargs -0 -P "${JOBS:-$(nproc)}" -I{} bash -c 'compile "$@"' compile {} "$nvcc" "$work" "${options[@]}"
    mkdir -p "$work/ptx"
    if [ -e "$work/refused" ]; then
        echo "nvcc compiles $((${#sources[@]} - $(wc -l <"$work/refused"))) of ${#sources[@]} .cu files. It refuses:"
        sort "$work/refused"
    else
        echo "nvcc compiles ${#sources[@]} of ${#sources[@]} .cu files."
    fi
    mapfile -d '' -t compiled < <(find "$work/ptx" -name '*.ptx' -print0 | sort -z)
    texts+=("${compiled[@]}")
fi
[ ${#texts[@]} -gt 0 ] || { echo "acceptance: no PTX is left" >&2; exit 1; }

if [ -z "${GPURF:-}" ]; then
    cargo build --quiet --release --package gpurf-cli
    GPURF=target/release/gpurf
fi
[ -z "${JSON:-}" ] || "$GPURF" compile --summary --json "${texts[@]}" >"$JSON"
"$GPURF" compile --summary "${texts[@]}"
