#!/usr/bin/env bash
# Format and lints: Rust (rustfmt, clippy) and RTL (Verilator).
set -euo pipefail
cd "$(dirname "$0")/.."
cargo fmt --all --check
cargo clippy --quiet --workspace --all-targets -- -D warnings
scripts/lint_rtl.sh
