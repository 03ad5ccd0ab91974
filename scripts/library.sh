#!/usr/bin/env bash
# Builds libgpurf and installs it below a prefix: header, SystemVerilog package, shared and static library, pkg-config file, Python
# module. docs/library.md describes them.
#
#   scripts/library.sh [PREFIX]     default: target/library
#
# Variables: LIBGPURF, a shared library that is already built, with the static one in the same folder (default: the release build, made if need be).
# Exits with 3 when the library cannot be built or installed.
set -euo pipefail
prefix=$(realpath -m "${1:-"$(dirname "$0")/../target/library"}")
cd "$(dirname "$0")/.."

if [ -z "${LIBGPURF:-}" ]; then
    cargo build --quiet --release --package gpurf-library || exit 3
    LIBGPURF=target/release/libgpurf.so
fi
version=$(sed -n 's/^version *= *"\(.*\)"/\1/p' Cargo.toml)
mkdir -p "$prefix"/{include,lib/pkgconfig,python} || exit 3
install -m 644 harness/library/include/gpurf.h harness/library/include/gpurf_dpi.sv "$prefix/include"
install -m 755 "$LIBGPURF" "$prefix/lib/libgpurf.so"
install -m 644 "${LIBGPURF%.so}.a" "$prefix/lib/libgpurf.a"
install -m 644 harness/library/python/gpurf.py "$prefix/python"
cat >"$prefix/lib/pkgconfig/gpurf.pc" <<PC
prefix=$prefix
libdir=\${prefix}/lib
includedir=\${prefix}/include

Name: gpurf
Description: Bit- and cycle-accurate model of GPU register files, for testbenches
Version: $version
Libs: -L\${libdir} -lgpurf
Libs.private: -lpthread -ldl -lm
Cflags: -I\${includedir}
PC
echo "libgpurf $version is in $prefix"
