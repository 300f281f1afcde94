#!/usr/bin/env bash
# Files of version 0.1 (tests/golden/0.1) are read by this one: a stream, a run that was stopped in the middle, weights.
# memory.jsonl there is what 0.1 left of the same run when nothing stopped it. Memories: tests/python/test_memory.py.
# $1: the program; $2: the source folder.
. "$(dirname "$0")/tap.sh"
ocdm=$1
old=$2/tests/golden/0.1
cp -r "$old/run" "$place/run"

stream_opens() {
    run "$ocdm" stream info "$old/stream.safetensors" --verify
    same 0 "$code" && same "" "$(cat "$err")" && grep -q '203 train, 37 test' "$out"
}

run_goes_on() {
    run "$ocdm" run "$old/stream.safetensors" -o "$place/run" -m 30 --batch 1 --replay 2 --ema 0.9 --eval-every 1 --threads 1 --resume -q
    same 0 "$code" && same "" "$(cat "$err")" && cmp "$old/memory.jsonl" "$place/run/memory.jsonl" && grep -q '"resumed":' "$place/run/run.jsonl"
}

weights_load() {
    run "$ocdm" eval "$old/stream.safetensors" --weights "$old/weights.safetensors" --json
    same 0 "$code" && grep -q '"mAP":' "$out"
}

check stream_of_0.1_opens stream_opens
check run_of_0.1_goes_on_to_the_same_memory run_goes_on
check weights_of_0.1_are_evaluated weights_load
finish
