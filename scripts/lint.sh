#!/usr/bin/env bash
# Format and lints: Rust (rustfmt, clippy, rustdoc), scripts (ShellCheck, Ruff) and RTL (Verilator).
set -euo pipefail
cd "$(dirname "$0")/.."
# Its own target folder, so that clippy and a concurrent build do not wait for each other. They could share nothing but build scripts.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target/lint}
# Every file is named: rustfmt does not follow modules that a macro declares, such as those of each_design!.
find harness model tests -name '*.rs' -print0 | xargs -0 rustfmt --edition 2024 --check
python3 scripts/format_ports.py --check
cargo clippy --quiet --workspace --all-targets -- -D warnings
# Checks the documentation's links and markup; takes half a minute.
RUSTDOCFLAGS='-D warnings' cargo doc --quiet --no-deps --workspace
# In scripts, the layout is not checked, only mistakes.
target/venv/bin/shellcheck --external-sources --severity warning scripts/*.sh .ci/run
target/venv/bin/shellcheck --shell bash --severity warning rtl/*/lint.sh
target/venv/bin/ruff check --quiet --isolated --select B,E9,F scripts tests examples harness/library/python
scripts/lint_rtl.sh
mapfile -t modules < <(find rtl -name '*.sv' ! -name '*_pkg.sv' | sort)
target/venv/bin/python scripts/lint_casts.py -I rtl rtl/gpurf_pkg.sv rtl/*/*_pkg.sv "${modules[@]}"
