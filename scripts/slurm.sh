#!/usr/bin/env bash
# `gpurf regress` on a Slurm cluster: an array job with a task for each shard, then a job that merges them. Waits for both jobs, prints the report and
# exits with the status of the merging job. Run it where sbatch works, in a folder that all nodes share.
#
#   scripts/slurm.sh SHARDS FOLDER [--resume] [options of gpurf regress that choose what is run]
#
# Slurm's own variables choose where and how long jobs run: SBATCH_PARTITION, SBATCH_ACCOUNT, SBATCH_TIMELIMIT, ... SBATCH_OPTIONS has other options
# of sbatch, such as '--cpus-per-task=8 --mem=8G'. A shard runs as many cases at a time as its task has processors. GPURF names the program
# (target/release/gpurf).
#
# If a node dies, its task is queued again, and continues where the journal ends. --resume runs only the cases that an earlier submission with the
# same SHARDS and FOLDER has not run. The output of a shard is in FOLDER/shards/I-of-N.log.
set -euo pipefail

fail() { printf 'slurm: %s\n' "$1" >&2; exit "${2:-2}"; }

submit() {
    local root shards folder option program resume=0 options=() more=()
    root=$(cd "$(dirname "$0")/.." && pwd)
    [ $# -ge 2 ] || fail "which SHARDS and FOLDER? scripts/slurm.sh 4 target/regress/nightly --tier nightly"
    shards=$1 folder=$(realpath -m "$2")
    shift 2
    [[ $shards =~ ^[1-9][0-9]{0,3}$ ]] || fail "$shards is no number of shards from 1 to 9999"
    for option in "$@"; do
        case ${option%%=*} in
            --resume) resume=1 ;;
            --shard | --merge | --out | --worker) fail "$option is given by this script" ;;
            --jobs) fail "--jobs: a task's processors are given by SBATCH_OPTIONS=--cpus-per-task=N" ;;
            --json | --junit) fail "$option: results.json and junit.xml are in $folder" ;;
            *) options+=("$option") ;;
        esac
    done
    command -v sbatch >/dev/null || fail "sbatch is missing: this runs where Slurm's commands are. scripts/slurm_cluster.sh starts a cluster to try it" 3
    program=${GPURF:-$root/target/release/gpurf}
    [ -x "$program" ] || fail "there is no program $program: cargo build --release --package gpurf-cli builds it" 3

    local journal
    for journal in "$folder"/shards/*/journal.jsonl; do
        if [ -e "$journal" ] && ! flock --nonblock "$journal" true; then
            fail "a shard is running in ${journal%/*}: choose another FOLDER"
        fi
    done
    if [ $resume = 0 ] && [ -e "$folder/shards" ]; then
        rm -rf "$folder/shards.before"
        mv "$folder/shards" "$folder/shards.before"
    fi
    mkdir -p "$folder/shards"
    # The program is copied, so that tasks that begin hours later, or are queued again, run the same one.
    install -m 755 "$program" "$folder/gpurf"

    local common array merge
    read -ra more <<<"${SBATCH_OPTIONS:-}"
    common=(--parsable --nodes=1 --ntasks=1 --requeue --open-mode=append "${more[@]}")
    rm -f "$folder/merge.log"
    array=$(sbatch "${common[@]}" --job-name=gpurf-regress --array="1-$shards" --output="$folder/shards/%a-of-$shards.log" \
        "$0" shard "$root" "$folder" "$shards" "${options[@]}") || fail "sbatch has refused the array job" 3
    array=${array%%;*}
    echo "slurm: array job $array, $shards shards, in $folder; Ctrl-C ends the waiting, scancel $array the job" >&2
    # afterany: the merging job also runs if a shard has failures or was cancelled, and reports the others.
    local status=0
    merge=$(sbatch "${common[@]}" --wait --job-name=gpurf-merge --dependency="afterany:$array" --output="$folder/merge.log" \
        "$0" merge "$root" "$folder" "$shards" "${options[@]}") || status=$?
    [ -e "$folder/merge.log" ] || fail "the job that merges, ${merge:-which sbatch has refused}, has not run" 3
    cat "$folder/merge.log"
    return "$status"
}

# Slurm runs a copy of this script in another place, so its jobs receive the checkout as an argument: shard|merge ROOT FOLDER SHARDS OPTION...
shard() {
    local folder=$2 shards=$3 shard out
    export GPURF_HOME=$1
    shift 3
    shard=$SLURM_ARRAY_TASK_ID out=$folder/shards/$SLURM_ARRAY_TASK_ID-of-$shards
    # A node that Slurm considers lost may still run the shard, with the journal locked: wait for its end. Cases that it has run are not repeated.
    [ ! -e "$out/journal.jsonl" ] || flock "$out/journal.jsonl" true
    exec "$folder/gpurf" regress --shard "$shard/$shards" --out "$out" --resume --jobs "${SLURM_CPUS_ON_NODE:-1}" "$@"
}

merge() {
    local folder=$2 shards=$3 shard out found=()
    export GPURF_HOME=$1
    shift 3
    for ((shard = 1; shard <= shards; shard++)); do
        out=$folder/shards/$shard-of-$shards
        if [ -e "$out/journal.jsonl" ] && [ "$(wc -l <"$out/journal.jsonl")" -gt 0 ]; then
            found+=(--merge "$out")
        else
            echo "shard $shard has not begun; see $out.log"
        fi
    done
    [ ${#found[@]} -gt 0 ] || fail "no shard has begun" 3
    exec "$folder/gpurf" regress --out "$folder" "${found[@]}" "$@"
}

case ${1:-} in
    shard | merge) "$@" ;;
    *) submit "$@" ;;
esac
