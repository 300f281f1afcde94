#!/usr/bin/env bash
# ocdm-mpi built with MPICH: $1: ocdm; $2: the source folder; $3: ocdm-mpi. Its launcher kills the other ranks at once when one
# dies, so that no rank has the time to name it; the launcher names the exit code.
set -u
ocdm=$1
source=$2
parallel=$3
# shellcheck source=tests/cli/tap.sh
. "$source/tests/cli/tap.sh"
cd "$place" || exit 1
settings=(--model cnn --crop 32 --resize 32 -m 20 -q)

same_on() { # same_on RANKS
    run mpirun.mpich -n "$1" "$parallel" run s.safetensors -o "many-$1" --threads 1 "${settings[@]}"
    same 0 "$code" && cmp one/weights.safetensors "many-$1/weights.safetensors" && cmp one/memory.jsonl "many-$1/memory.jsonl"
}

# Its launcher passes SIGTERM on and waits.
saves_when_the_launcher_is_asked_to_stop() {
    mpirun.mpich -n 3 "$parallel" run s.safetensors -o stopped --threads 1 --checkpoint-every 1 "${settings[@]}" > "$out" 2> "$err" &
    local job=$!
    for _ in $(seq 1200); do
        [ -s stopped/checkpoint.safetensors ] && break
        sleep 0.05
    done
    kill -TERM "$job"
    wait "$job"
    code=$?
    same 143 "$code" && grep 'and saved' "$err" || return 1
    run "$ocdm" run s.safetensors -o stopped --threads 1 --checkpoint-every 1 --resume "${settings[@]}"
    same 0 "$code" && cmp one/weights.safetensors stopped/weights.safetensors
}

is_linked_to_mpich() {
    ldd "$parallel" | grep libmpich
}

"$source/tests/ranks/make-stream" "$ocdm" "$place" > "$out" 2> "$err" || { cat "$err"; exit 1; }
run "$ocdm" run s.safetensors -o one --threads 2 "${settings[@]}"
check "the program is linked to MPICH" is_linked_to_mpich
for count in 1 2 3 4; do
    check "cnn on $count ranks of MPICH makes the same run" same_on "$count"
done
check "a run saves when MPICH's launcher is asked to stop" saves_when_the_launcher_is_asked_to_stop
finish
