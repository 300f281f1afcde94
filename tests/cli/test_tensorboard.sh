#!/usr/bin/env bash
# Event files for TensorBoard, read by a reader of their own. $1: the program, $2: the source folder.
. "$(dirname "$0")/tap.sh"
ocdm=$1
reader=$2/tests/cli/events.py
file=events.out.tfevents.ocdm
cd "$place" || exit 1

"$ocdm" stream build --recipe scenes --as features -o s.safetensors --quiet

# events FOLDER: its events without their times.
events() {
    /usr/bin/python3 "$reader" "$1/$file" | sed 's/, "wall_time": [^,}]*//; s/"wall_time": [^,}]*, //'
}

the_events_are_those_of_the_log() {
    run "$ocdm" run s.safetensors -o whole --batch 3 --replay 3 --memory 200 --checkpoint-every 50 --tensorboard --quiet
    same 0 "$code" || return 1
    /usr/bin/python3 "$reader" "whole/$file" > found || return 1
    /usr/bin/python3 - << 'END'
import json, struct
found = [json.loads(line) for line in open("found")]
log = [json.loads(line) for line in open("whole/run.jsonl")]
single = lambda value: struct.unpack("<f", struct.pack("<f", value))[0]
assert found[0]["version"] == "brain.Event:2"
lines = [line for line in log if line["type"] in ("step", "evaluation")]
assert len(lines) == len(found) - 1, (len(lines), len(found))
for line, event in zip(lines, found[1:]):
    assert event["step"] == line["step"]
    expected = {}
    if line["type"] == "step":
        expected = {"loss": line["loss"], "distance/in_play": line["distance"], "distance/seen": line["distance_seen"],
                    "memory/samples": line["kept"]}
        if "counts" in line:
            counts, shown = line["counts"], event["histograms"]["memory/samples_per_class"]
            expected |= {"memory/smallest_class": min(counts), "memory/largest_class": max(counts)}
            assert (shown["min"], shown["max"], shown["num"], shown["sum"]) == (min(counts), max(counts), len(counts), sum(counts))
            assert shown["sum_squares"] == sum(count * count for count in counts)
            below = 0
            for limit, bucket in zip(shown["limits"], shown["buckets"]):
                assert bucket == sum(below <= count < limit for count in counts)
                below = limit
    else:
        for group in ("majority", "moderate", "minority", "total"):
            expected |= {f"{metric}/{group}": line[group][metric] for metric in ("CF1", "OF1", "mAP")}
        expected |= {f"mAP/task_{task['task']}": task["mAP"] for task in line["tasks"]}
    expected = {tag: single(value) for tag, value in expected.items() if value is not None}
    assert event["scalars"] == expected, (event, expected)
times = [event["wall_time"] for event in found]
assert times == sorted(times) and times[0] > 1.7e9
END
}

# Killed in the middle, with half a record at the end of the file.
a_resumed_run_has_every_event_once() {
    "$ocdm" run s.safetensors -o killed --batch 3 --replay 3 --memory 200 --checkpoint-every 50 --tensorboard --quiet &
    for _ in $(seq 1000); do
        [ -s "killed/$file" ] && grep -q '"step":200,' killed/run.jsonl && break
        sleep 0.01
    done
    kill -KILL $! && wait $! 2> /dev/null
    [ ! -e killed/summary.json ] || return 1
    printf 'half a record' >> "killed/$file"
    run "$ocdm" run s.safetensors -o killed --batch 3 --replay 3 --memory 200 --checkpoint-every 50 --tensorboard --quiet --resume
    same 0 "$code" && grep -q '"resumed":' killed/run.jsonl && events whole > a && events killed > b && cmp a b
}

an_old_run_gets_the_same_file() {
    mkdir -p damaged && echo '{' > damaged/summary.json
    events whole > a && rm "whole/$file" && run "$ocdm" report --tensorboard whole damaged
    same 1 "$(grep -c '^note: damaged: ' "$err")" || return 1
    same 0 "$code" && same "whole/$file" "$(cat "$out")" && [ ! -e report.html ] && events whole > b && cmp a b
}

# The memory of a stream of images: as many tiles as samples, eight across.
kept_images_are_shown() {
    "$ocdm" stream build --recipe scenes --as images --size 24 -o i.safetensors --quiet || return 1
    run "$ocdm" run i.safetensors -o images --model none --memory 20 --tensorboard --quiet
    same 0 "$code" || return 1
    /usr/bin/python3 "$reader" "images/$file" | tail -n 1 > last
    grep -q '"images": {"memory/images": \[768, 288, [1-9][0-9]*\]}' last || { cat last; return 1; }
    /usr/bin/python3 "$reader" "images/$file" > a && run "$ocdm" report --tensorboard images &&
        /usr/bin/python3 "$reader" "images/$file" | tail -n 1 | sed 's/, "wall_time": [^,}]*//' > b &&
        same "$(sed 's/, "wall_time": [^,}]*//' last)" "$(cat b)"
}

an_unwritable_file_is_told() {
    mkdir blocked && mkdir "blocked/$file"
    run "$ocdm" run s.safetensors -o blocked --model none --memory 20 --tensorboard --quiet
    same 4 "$code" && grep -q "^error: .*blocked/$file" "$err" && [ -e blocked/summary.json ]
}

check the_events_are_those_of_the_log the_events_are_those_of_the_log
check a_resumed_run_has_every_event_once a_resumed_run_has_every_event_once
check an_old_run_gets_the_same_file an_old_run_gets_the_same_file
check kept_images_are_shown kept_images_are_shown
check an_unwritable_file_is_told an_unwritable_file_is_told
finish
