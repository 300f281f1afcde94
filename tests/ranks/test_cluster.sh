#!/usr/bin/env bash
# A cluster on one machine: two network namespaces with host names of their own, joined by a bridge of 200 Mbit/s, between which MPI
# has nothing but TCP. Needs root. $1: ocdm; $2: the source folder; $3: ocdm-mpi.
set -u
ocdm=$1
source=$2
parallel=$3
# shellcheck source=tests/cli/tap.sh
. "$source/tests/cli/tap.sh"
cd "$place" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# mpirun waits for a daemon that it cannot reach for a quarter of an hour, unless it looks itself before the ranks notice.
keepalive=(--mca oob_tcp_keepalive_time 1 --mca oob_tcp_keepalive_intvl 1 --mca oob_tcp_keepalive_probes 3)
settings=(--model cnn --crop 32 --resize 32 -m 20 -q)

# Ranks of a node that was cut off may still run.
take_down() {
    for node in 1 2; do
        ip netns pids "ocdm$node" | xargs -r kill -9
        ip link del "ocdm-veth$node"
        ip netns del "ocdm$node"
    done
    ip link del ocdm-bridge
} 2> /dev/null
trap 'take_down; rm -rf "$place"' EXIT

set_up() {
    take_down
    ip link add ocdm-bridge type bridge && ip link set ocdm-bridge up || return 1
    for node in 1 2; do
        ip netns add "ocdm$node" && ip link add "ocdm-veth$node" type veth peer name eth0 netns "ocdm$node" &&
            ip link set "ocdm-veth$node" master ocdm-bridge up && ip -n "ocdm$node" address add "10.77.0.$node/24" dev eth0 &&
            ip -n "ocdm$node" link set eth0 up && ip -n "ocdm$node" link set lo up &&
            tc -n "ocdm$node" qdisc add dev eth0 root tbf rate 200mbit burst 256kb latency 50ms || return 1
    done
    # mpirun starts its daemon on the other node by this: AGENT HOST COMMAND...
    printf '%s\n' '#!/bin/bash' 'host=$1' 'shift' \
        'exec ip netns exec "ocdm${host##*.}" unshare --uts bash -c "hostname ocdm${host##*.}; $*"' > agent
    chmod +x agent
}

# on_both COMMAND...: two ranks on each node, mpirun on the first.
on_both() {
    exec ip netns exec ocdm1 unshare --uts bash -c 'hostname ocdm1; exec "$@"' node mpirun.openmpi --mca plm_rsh_agent "$place/agent" \
        --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 --bind-to none --oversubscribe "${keepalive[@]}" \
        -H 10.77.0.1:2,10.77.0.2:2 -n 4 "$parallel" "$@"
}

makes_the_same_run() {
    run "$ocdm" run s.safetensors -o one --threads 2 "${settings[@]}"
    same 0 "$code" || return 1
    (on_both run "$place/s.safetensors" -o "$place/both" --threads 1 "${settings[@]}") > "$out" 2> "$err"
    code=$?
    same 0 "$code" && cmp one/weights.safetensors both/weights.safetensors && cmp one/memory.jsonl both/memory.jsonl
}

ends_when_a_node_is_gone() {
    (on_both run "$place/s.safetensors" -o "$place/gone" --threads 1 --checkpoint-every 1 "${settings[@]}") > "$out" 2> "$err" &
    local job=$!
    for _ in $(seq 1200); do
        [ -s gone/checkpoint.safetensors ] && break
        sleep 0.05
    done
    ip link set ocdm-veth2 down
    ( sleep 60; kill -9 "$job" 2> /dev/null ) &
    local guard=$!
    wait "$job"
    code=$?
    kill "$guard" 2> /dev/null
    [ "$code" -ne 0 ] && [ "$code" -ne 137 ] && grep -E '^error: rank [0-9] of 4 no longer answers; .* step [0-9]+$' "$err" || return 1
    run "$ocdm" run s.safetensors -o gone --threads 2 --checkpoint-every 1 --resume "${settings[@]}"
    same 0 "$code" && cmp one/weights.safetensors gone/weights.safetensors
}

"$source/tests/ranks/make-stream" "$ocdm" "$place" > "$out" 2> "$err" || { cat "$err"; exit 1; }
check "network namespaces can be made" set_up
check "four ranks on two nodes make the same run" makes_the_same_run
check "a node whose link goes down ends the job, and the run goes on" ends_when_a_node_is_gone
finish
