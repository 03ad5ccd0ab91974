#!/usr/bin/env bash
# The site: docs/ as a book, and the documentation of the crates, in target/site (or the folder that is given).
set -euo pipefail
cd "$(dirname "$0")/.."
RUSTDOCFLAGS='-D warnings' cargo doc --quiet --no-deps --workspace
python3 scripts/site.py target/mdbook/bin/mdbook "${1:-target/site}"
