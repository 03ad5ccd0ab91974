#!/usr/bin/env bash
# A Slurm cluster of two nodes with a processor each, on this machine alone, for trying scripts that need a cluster. Configuration, key, state and
# logs are in target/slurm, or the folder in SLURM_FOLDER. An installed Slurm's configuration and daemons are not touched. It needs no root.
#
#   scripts/slurm_cluster.sh start       then: export SLURM_CONF=$PWD/target/slurm/slurm.conf
#   scripts/slurm_cluster.sh kill node2  kills the node and all processes on it, as a power failure would
#   scripts/slurm_cluster.sh revive node2
#   scripts/slurm_cluster.sh stop        ends all daemons and jobs; the logs stay
#
# PORT (17817) is the first of three ports of 127.0.0.1.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/sbin

readonly nodes=(node1 node2)
readonly folder=${SLURM_FOLDER:-$PWD/target/slurm}
readonly port=${PORT:-17817}
export SLURM_CONF=$folder/slurm.conf

fail() { printf 'slurm_cluster: %s\n' "$@" >&2; exit 3; }

# Prints the process of a daemon, if it runs: pid FILE NAME. The number in an old file may belong to another program by now.
pid() {
    local number
    number=$(cat "$folder/$1.pid" 2>/dev/null) || return 1
    [ "$(cat "/proc/$number/comm" 2>/dev/null)" = "$2" ] || return 1
    echo "$number"
}

# Prints the processes of this cluster's jobs on a node: Slurm puts both variables into their environment.
processes_on() {
    local environment
    for environment in /proc/[0-9]*/environ; do
        if tr '\0' '\n' 2>/dev/null <"$environment" | awk -v node="SLURMD_NODENAME=$1" -v conf="SLURM_CONF=$SLURM_CONF" \
            '$0 == node { on = 1 } $0 == conf { ours = 1 } END { exit !(on && ours) }'; then
            basename "$(dirname "$environment")"
        fi
    done
}

# Kills a node's processes before they can report anything: first the daemon, then each job's slurmstepd, then the job.
kill_node() {
    local daemon job parent all=()
    if daemon=$(pid "$1" slurmd); then kill -KILL "$daemon" 2>/dev/null || true; fi
    mapfile -t all < <(processes_on "$1")
    for job in "${all[@]}"; do
        parent=$(awk '/^PPid:/ { print $2 }' "/proc/$job/status" 2>/dev/null) || continue
        if [ "$(cat "/proc/$parent/comm" 2>/dev/null)" = slurmstepd ]; then kill -KILL "$parent" 2>/dev/null || true; fi
    done
    # Looks again for processes that were started meanwhile.
    while [ ${#all[@]} -gt 0 ]; do
        kill -KILL "${all[@]}" 2>/dev/null || true
        sleep 0.1
        mapfile -t all < <(processes_on "$1")
    done
    rm -f "$folder/$1.pid"
}

write_configuration() {
    local megabytes
    megabytes=$(awk -v nodes=${#nodes[@]} '/^MemTotal:/ { print int($2 / 1024 / nodes) }' /proc/meminfo)
    cat >"$SLURM_CONF" <<END
ClusterName=gpurf
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$port
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
# A requeued job waits as long as a credential is valid.
AuthInfo=socket=$folder/munge/socket,cred_expire=5
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool/%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobRequeue=1
ReturnToService=2
# A node that has not answered for so many seconds is down.
SlurmdTimeout=10
SchedulerParameters=sched_interval=2
SlurmdParameters=config_overrides
NodeName=node[1-${#nodes[@]}] NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + ${#nodes[@]}))] CPUs=1 RealMemory=$megabytes State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
}

start_node() {
    mkdir -p "$folder/spool/$1"
    slurmd -f "$SLURM_CONF" -N "$1" || fail "slurmd does not start; see $folder/$1.log"
}

start() {
    local tool number
    for tool in munged slurmctld slurmd sbatch; do
        command -v "$tool" >/dev/null || fail "$tool is missing. Install it with:" "    scripts/bootstrap.sh --slurm"
    done
    # The name of a Unix socket has at most 107 characters.
    [ ${#folder} -le 70 ] || fail "the path $folder is too long for Slurm's sockets: name a shorter folder in SLURM_FOLDER"
    if pid slurmctld slurmctld >/dev/null; then fail "a cluster runs already. End it with:" "    scripts/slurm_cluster.sh stop"; fi
    for ((number = port; number <= port + ${#nodes[@]}; number++)); do
        if (: <"/dev/tcp/127.0.0.1/$number") 2>/dev/null; then fail "port $number is in use: name another one in PORT"; fi
    done
    mkdir -p "$folder"
    rm -rf "$folder"/{munge,state,spool} "$folder"/*.log
    mkdir -p "$folder"/{munge,state,spool}
    write_configuration
    (umask 077 && head -c 1024 /dev/urandom >"$folder/munge/key")
    # --force: accepts a socket below a folder that other users cannot enter.
    munged --force --num-threads=4 --key-file="$folder/munge/key" --socket="$folder/munge/socket" --pid-file="$folder/munged.pid" \
        --log-file="$folder/munge.log" --seed-file="$folder/munge/seed" 2>>"$folder/munge.log" || fail "munged does not start; see $folder/munge.log"
    trap 'stop' ERR EXIT
    slurmctld -f "$SLURM_CONF" || fail "slurmctld does not start; see $folder/slurmctld.log"
    local node
    for node in "${nodes[@]}"; do start_node "$node"; done
    for ((number = 0; number < 60; number++)); do
        if [ "$(sinfo --noheader --states=idle --format=%D 2>/dev/null)" = ${#nodes[@]} ]; then
            trap - ERR EXIT
            echo "export SLURM_CONF=$SLURM_CONF"
            return
        fi
        sleep 0.5
    done
    fail "the nodes are not ready after 30 s; see the logs in $folder"
}

stop() {
    trap - ERR EXIT
    local daemon node
    if daemon=$(pid slurmctld slurmctld); then kill -KILL "$daemon"; fi
    for node in "${nodes[@]}"; do kill_node "$node"; done
    if daemon=$(pid munged munged); then kill "$daemon"; fi
    rm -rf "$folder"/{munge,state,spool} "$folder/slurmctld.pid"
}

case ${1:-}/${2:-} in
    start/) start ;;
    stop/) stop ;;
    kill/node[12]) kill_node "$2" ;;
    revive/node[12]) start_node "$2" ;;
    *) echo 'slurm_cluster: start, stop, kill node1|node2, revive node1|node2' >&2; exit 2 ;;
esac
