#!/usr/bin/env bash
# One archive for a paper's appendix: every report as text, page, table and JSON, the digests of the goldens, the versions of the tools,
# and the commit. Arguments are those of `gpurf report`, such as --small. GPURF is the program, OUT the archive.
set -euo pipefail
# Names of files are relative to the caller's folder. A program's name without a folder is looked up on PATH.
[ -z "${OUT:-}" ] || OUT=$(realpath -ms "$OUT")
case ${GPURF:-} in */*) GPURF=$(realpath -ms "$GPURF") ;; esac
cd "$(dirname "$0")/.."

version=$(sed -n 's/^version *= *"\(.*\)"/\1/p' Cargo.toml | head -n 1)
readonly name=gpurf-$version-artifact
readonly gpurf=${GPURF:-target/release/gpurf} out=${OUT:-target/$name.tar.gz}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
readonly target=$folder/$name
mkdir "$target"

# The second call reuses the runs of the first one, from disk.
"$gpurf" report "$@" --html "$target/reports.html" --csv "$target/reports.csv" >"$target/reports.txt"
"$gpurf" report "$@" --json >"$target/reports.json"

find tests/goldens -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum >"$target/goldens.sha256"
cp Cargo.lock "$target"

# Prints the first line of a tool's version, if the tool is installed.
tool() { printf '%-10s %s\n' "$1" "$({ "$@" 2>/dev/null || echo 'not installed'; } | head -n 1)"; }
commit=$(git rev-parse HEAD 2>/dev/null || echo unknown)
changed=$(git status --porcelain 2>/dev/null | wc -l)
{
    printf '%-10s %s\n' gpurf "$version"
    printf '%-10s %s\n' commit "$commit$([ "$changed" = 0 ] || echo ", with $changed changed files")"
    printf '%-10s %s\n' goldens "$(sha256sum <"$target/goldens.sha256" | cut -d ' ' -f 1)"
    tool rustc --version
    tool cargo --version
    tool "${VERILATOR:-verilator}" --version
    tool "${CXX:-g++}" --version
    tool uname -srm
    printf '%-10s %s\n' command "gpurf report $*"
} >"$target/versions.txt"
cat >"$target/README.txt" <<END
The results of gpurf $version (commit $commit).

reports.html     the papers' results beside ours, with plots; needs no other file
reports.txt      the same as text
reports.csv      a line for each row
reports.json     the same for programs
goldens.sha256   digests of the accepted behaviour of the model, on every kernel and preset
versions.txt     what this was made with; the digest of goldens.sha256
Cargo.lock       versions of the libraries

To make it again: git checkout $commit && make artifact
END

# Order, times and owners are fixed, so that the same results give the same archive.
when=$(git log -1 --format=%ct 2>/dev/null || echo 0)
mkdir -p "$(dirname "$out")"
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$when" -C "$folder" -cf - "$name" | gzip -n >"$out.new"
mv "$out.new" "$out"
echo "$out"
