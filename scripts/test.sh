#!/usr/bin/env bash
# Everything that must pass before a change lands: formats, lints, every test of the workspace, the example applications.
# The last line is 'N passed, N failed', over all tests; the status is non-zero if anything failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

step() { printf '\n== %s\n' "$1"; }

# The lints run concurrently with the tests: while the tests are built, one of two processors is often idle. They have a session of their own, so
# that all processes that they have started can be ended with them.
folder=$(mktemp -d)
setsid scripts/lint.sh > "$folder/lints" 2>&1 &
linting=$!
trap 'kill -- "-$linting" 2> /dev/null; rm -rf "$folder"' EXIT

step 'tests'
python3 scripts/run_tests.py 2>&1 | tee "$folder/tests"
tests=${PIPESTATUS[0]}

step 'format and lints of Rust and RTL'
wait "$linting"
lints=$?
cat "$folder/lints"

step 'CUDA applications'
GPURF=target/debug/gpurf scripts/examples.sh
examples=$?

# Sums cargo's line of each test program: 'test result: ok. 12 passed; 0 failed; 0 ignored; ...'.
read -r passed failed < <(awk '/^test result:/ { for (i = 1; i < NF; i++) { if ($(i + 1) ~ /^passed/) p += $i; if ($(i + 1) ~ /^failed/) f += $i } }
    END { print p + 0, f + 0 }' "$folder/tests")
echo
if [ "$lints" != 0 ]; then echo 'the format or a lint failed: see above'; fi
if [ "$tests" != 0 ] && [ "$failed" = 0 ]; then echo 'tests could not be built, or a program of tests ended early: see above'; failed=1; fi
if [ "$examples" != 0 ]; then echo 'an example failed: see above'; fi
for status in "$lints" "$examples"; do
    if [ "$status" != 0 ]; then failed=$((failed + 1)); else passed=$((passed + 1)); fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
