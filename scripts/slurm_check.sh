#!/usr/bin/env bash
# Does a regression on a cluster give the same results if a node dies? Runs a tier as an array job on the two nodes of scripts/slurm_cluster.sh, once
# undisturbed and once with a node killed in the middle of a shard, and compares the results without their times.
#
#   scripts/slurm_check.sh [--tier smoke] [other options of gpurf regress]       the default is --tier cluster, some minutes
#
# GPURF names the program (target/release/gpurf), SHARDS the number of shards (4). The folders stay in target/regress/slurm.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly out=$PWD/target/regress/slurm
readonly shards=${SHARDS:-4}
options=("$@")
[ $# -gt 0 ] || options=(--tier cluster)

fail() { printf 'slurm_check: %s\n' "$@" >&2; exit 1; }

# Number of cases in the journal of a shard, or of the merged regression.
cases() { if [ -e "$1/journal.jsonl" ]; then grep -c '^{"outcome"' "$1/journal.jsonl" || true; else echo 0; fi; }
# Seconds from a time to the report of a regression: the file's time, as sbatch --wait polls rarely whether the job has ended.
seconds() { echo $(($(stat --format=%Y "$out/$1/results.json") - $2)); }

scripts/bootstrap.sh --slurm
export SLURM_CONF
SLURM_CONF=$(scripts/slurm_cluster.sh start)
SLURM_CONF=${SLURM_CONF#*=}
regression=
# Ends sbatch first: without its cluster it would never return.
end() {
    if [ -n "$regression" ] && kill -0 "$regression" 2>/dev/null; then
        pkill -P "$regression" || true
        kill "$regression" 2>/dev/null || true
    fi
    scripts/slurm_cluster.sh stop
}
trap end EXIT
rm -rf "$out"
mkdir -p "$out"

# The first run builds the RTL that is not built yet; the second one finds all of it built.
echo 'slurm_check: without a failure' >&2
started=$(date +%s)
status=0
scripts/slurm.sh "$shards" "$out/whole" "${options[@]}" >"$out/whole.txt" || status=$?
[ "$status" -le 1 ] || { cat "$out/whole.txt"; fail "the run without a failure has ended with status $status"; }
whole_s=$(seconds whole "$started")
all=$(cases "$out/whole")

echo "slurm_check: $all cases in $whole_s s; once more, and node2 dies in the middle of a shard" >&2
started=$(date +%s)
scripts/slurm.sh "$shards" "$out/killed" "${options[@]}" >"$out/killed.txt" &
regression=$!
shard=
folder=
while [ -z "$shard" ] || [ "$(cases "$folder")" -lt $((all / shards / 2)) ]; do
    sleep 0.1
    kill -0 $regression 2>/dev/null || fail "the regression was over before node2 could be killed: give more --cycles"
    shard=$(squeue --noheader --nodelist=node2 --states=running --name=gpurf-regress --format=%K)
    folder=$out/killed/shards/$shard-of-$shards
done
scripts/slurm_cluster.sh kill node2
killed_s=$(($(date +%s) - started))
before=$(cases "$folder")
[ "$before" -lt "$(cases "$out/whole/${folder#"$out/killed/"}")" ] || fail "shard $shard was over when node2 died: give more --cycles"
echo "slurm_check: node2 has died after $killed_s s, with $before cases of shard $shard done" >&2
again=0
wait $regression || again=$?
again_s=$(seconds killed "$started")

[ "$again" = "$status" ] || { cat "$out/killed.txt"; fail "the statuses are $status and $again"; }
sinfo --noheader --nodes=node2 --format=%t | grep -q down || fail "node2 is not down"
grep "^$before of [0-9]* cases have been run before" "$folder.log" || fail "shard $shard has not continued where it stopped; see $folder.log"
python3 - "$out"/{whole,killed}/results.json <<'END' || fail "the results differ: $out/whole/results.json and $out/killed/results.json"
import json
import sys

reports = [json.load(open(name)) for name in sys.argv[1:]]
for report in reports:
    for run in report["runs"]:
        run["build_s"] = run["wall_s"] = 0
sys.exit(reports[0] != reports[1])
END
echo "slurm_check: the same report of $all cases, $whole_s s without, $again_s s with a node that dies after $killed_s s"
