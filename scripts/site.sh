#!/usr/bin/env bash
# Builds the site: docs/ as a book, and the documentation of the crates, in target/site (or the folder of the first argument).
set -euo pipefail
cd "$(dirname "$0")/.."
RUSTDOCFLAGS='-D warnings' cargo doc --quiet --no-deps --workspace
python3 scripts/site.py target/mdbook/bin/mdbook "${1:-target/site}"
