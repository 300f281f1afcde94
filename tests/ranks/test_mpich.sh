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

is_linked_to_mpich() {
    ldd "$parallel" | grep libmpich
}

"$source/tests/ranks/make-stream" "$ocdm" "$place" > "$out" 2> "$err" || { cat "$err"; exit 1; }
run "$ocdm" run s.safetensors -o one --threads 2 "${settings[@]}"
check "the program is linked to MPICH" is_linked_to_mpich
for count in 1 2 3 4; do
    check "cnn on $count ranks of MPICH makes the same run" same_on "$count"
done
finish
