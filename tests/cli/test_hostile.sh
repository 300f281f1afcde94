#!/usr/bin/env bash
# What a hostile surrounding does: closed descriptors, links and foreign files in output folders, files that shrink, FIFOs in the
# place of files, leftovers of killed processes. $1: the program.
ocdm=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"
cd "$place" || exit 1

for i in $(seq 30); do echo "{\"id\":$i,\"labels\":[$((i % 3)),$((i % 5))]}"; done > r.jsonl
"$ocdm" stream build --recipe scenes --as features -o s.safetensors > log 2>&1 || exit 1

closed_descriptors_are_not_reused() {
    "$ocdm" sample -m 3 -q r.jsonl --trace zt --summary zs <&- >&- 2> "$err"
    code=$?
    same 4 "$code" && grep -q 'cannot write' "$err" && ! grep -qxFf r.jsonl zt
}

standard_input_that_is_closed_is_an_error() {
    "$ocdm" sample -m 3 -q <&- > "$out" 2> "$err"
    code=$?
    same 4 "$code" && grep -q 'cannot read' "$err"
}

# A run that is stopped at once, so that only its files matter.
short_run() { # short_run FOLDER FLAG...
    local folder=$1
    shift
    run "$ocdm" run s.safetensors -o "$folder" --model none -q "$@"
}

a_log_that_is_a_link_is_refused() {
    mkdir -p linked && echo precious > elsewhere && ln -s ../elsewhere linked/run.jsonl
    short_run linked --resume
    same 4 "$code" && same precious "$(cat elsewhere)"
}

a_result_that_is_a_link_is_replaced() {
    mkdir -p replaced && echo precious > elsewhere && ln -s ../elsewhere replaced/memory.jsonl
    short_run replaced
    same 0 "$code" && same precious "$(cat elsewhere)" && [ ! -L replaced/memory.jsonl ]
}

# With every name that a comparison and the figures of its report have.
links_in_the_folders_of_comparisons_and_figures_are_replaced() {
    local name
    run "$ocdm" compare s.safetensors -o compared --model linear --methods ocdm --seeds 1 -q
    same 0 "$code" && run "$ocdm" report compared -o page.html --figures figures && same 0 "$code" || return 1
    echo precious > elsewhere
    for name in compare.json runs.json; do ln -sf ../elsewhere "compared/$name"; done
    for name in figures/*; do ln -sf ../elsewhere "$name"; done
    run "$ocdm" compare s.safetensors -o compared --model linear --methods ocdm --seeds 1 -q
    same 0 "$code" && run "$ocdm" report compared -o page.html --figures figures
    same 0 "$code" && same precious "$(cat elsewhere)" && same "" "$(find compared figures -type l)"
}

# Escape sequences and marks of direction in names of classes, wherever a terminal shows them.
names_do_not_command_the_terminal() {
    local mark words name
    name=$(printf 'x\342\200\256y\342\201\246z\330\234w\342\200\217v\302\233')
    awk -v n="$name" 'BEGIN { for (i = 0; i < 60; i++) print (i % 2 ? n : "b"), "1:" i % 3, "2:" i % 5 }' > marks.svm
    "$ocdm" stream build --format svm --records marks.svm --test marks.svm -q -o marks.st && "$ocdm" run marks.st -o marks --model linear -m 20 -q || return 1
    for words in "sample -m 4 -o /dev/null marks.svm" "stream info marks.st" "stream show marks.st" "eval marks.st --weights marks/weights.safetensors --per-class" \
        "weights info marks/weights.safetensors" "paper memory --stream mscoco=marks.st --runs mp" "watch marks" "sample --labels $name r.jsonl"; do
        # shellcheck disable=SC2086
        "$ocdm" $words > shown 2>&1
        for mark in '\342\200\256' '\342\201\246' '\330\234' '\342\200\217' '\302\233'; do
            grep -qF "$(printf "$mark")" shown && { echo "$words shows $mark"; return 1; }
        done
    done
    "$ocdm" stream show marks.st | grep -qF 'x\xE2\x80\xAEy\xE2\x81\xA6z'
}

a_log_of_another_program_is_kept() {
    mkdir -p foreign && echo '{"epoch": 1}' > foreign/run.jsonl
    short_run foreign --resume
    same 2 "$code" && same '{"epoch": 1}' "$(cat foreign/run.jsonl)" && grep -q 'not the log of a run' "$err"
}

a_log_that_was_only_begun_is_ours() {
    mkdir -p begun && printf '{"type":"st' > begun/run.jsonl
    short_run begun --resume
    same 0 "$code" && [ -e begun/summary.json ]
}

leftovers_of_killed_processes_are_removed() {
    mkdir -p left && touch left/.ocdm-1-0.tmp left/.ocdm-99999-3.tmp left/.ocdm-x-0.tmp left/other.tmp
    short_run left
    same 0 "$code" && same ".ocdm-x-0.tmp other.tmp" "$(cd left && echo $(ls -A | grep tmp))"
}

a_temporary_file_in_use_is_kept() {
    mkdir -p busy && touch busy/.ocdm-1-0.tmp
    exec 8< busy/.ocdm-1-0.tmp
    flock 8
    short_run busy
    exec 8<&-
    same 0 "$code" && [ -e busy/.ocdm-1-0.tmp ]
}

fifos_are_refused_at_once() {
    mkfifo fifo
    local command
    for command in "weights info fifo" "run fifo -o x" "stream build --coco fifo -o x" "stream build --records r.jsonl --features fifo -o x" \
        "stream build --multihot fifo -o x" "stream build --arff fifo --xml fifo -o x" "run s.safetensors --model none --groups fifo -o x"; do
        # shellcheck disable=SC2086
        run timeout 20 "$ocdm" $command
        same 4 "$code" || { echo "of: $command"; return 1; }
        grep -q 'is not a regular file' "$err" || return 1
    done
    mkdir -p piped && mkfifo piped/run.jsonl piped/summary.json
    for command in "watch piped" "report piped -o x" "stream build --records r.jsonl --features fifo --classes fifo -o x"; do
        # shellcheck disable=SC2086
        run timeout 20 "$ocdm" $command
        same 4 "$code" && grep -q 'is not a regular file' "$err" || { echo "of: $command"; return 1; }
    done
}

# The stream is cut after it was opened: while the first rows of the log appear, a second process shortens the file.
a_file_that_shrinks_is_named() {
    cp s.safetensors shrinks.safetensors
    "$ocdm" run shrinks.safetensors -o shrinking --model linear --lr 0.001 --epochs 1000 --method multitask -q > "$out" 2> "$err" &
    local process=$!
    for _ in $(seq 200); do
        [ -s shrinking/run.jsonl ] && break
        sleep 0.05
    done
    : > shrinks.safetensors
    wait "$process"
    code=$?
    same 4 "$code" && grep -q 'shrinks.safetensors: the file became shorter' "$err"
}

# The n-th row of the features of s.safetensors, damaged in one byte.
damage_row() { # damage_row ROW FILE
    /usr/bin/python3 - "$1" "$2" << 'END'
import json, struct, sys
data = bytearray(open("s.safetensors", "rb").read())
header = 8 + struct.unpack("<Q", data[:8])[0]
features = json.loads(data[8:header])["features"]
data[header + features["data_offsets"][0] + int(sys.argv[1]) * features["shape"][1] * 4 + 1] ^= 16
open(sys.argv[2], "wb").write(data)
END
}

a_damaged_row_is_named() {
    damage_row 17 damaged.safetensors
    run "$ocdm" run damaged.safetensors -o damaged --model linear -q
    same 3 "$code" && grep -q 'damaged.safetensors: "features": row 17, of the sample 17, is damaged' "$err"
}

a_run_is_not_resumed_onto_a_damaged_copy() {
    run "$ocdm" run damaged.safetensors -o damaged --model linear -q --resume
    same 3 "$code" && grep -q 'row 17, of the sample 17, is damaged' "$err" || return 1
    cp s.safetensors damaged.safetensors
    run "$ocdm" run damaged.safetensors -o damaged --model linear -q --resume
    same 0 "$code"
}

# A folder in the place of a file cannot be read, whoever asks.
a_report_is_not_made_without_what_cannot_be_read() {
    short_run reported
    local name
    for name in summary.json memory.jsonl; do
        mv "reported/$name" kept && mkdir "reported/$name"
        run "$ocdm" report reported -o page.html
        rmdir "reported/$name" && mv kept "reported/$name"
        same 4 "$code" && grep -q "reported/$name" "$err" || return 1
    done
    rm reported/memory.jsonl
    run "$ocdm" report reported -o page.html
    same 0 "$code"
}

a_table_of_many_tasks_has_a_hundred_columns() {
    for i in $(seq 0 299); do echo "{\"labels\":[\"c$((i % 2))\"],\"task\":$i}"; done > tasks.jsonl
    run "$ocdm" stream info tasks.jsonl
    same 0 "$code" && grep -q 'training samples of task, the first 100 of 300 tasks' "$out" &&
        same 101 "$(grep '^c0 ' "$out" | grep -oE ' [0-9]+' | head -101 | wc -l | tr -d ' ')" &&
        same 150 "$(grep '^c0 ' "$out" | awk '{ print $102 }')"
}

a_killed_compare_takes_its_runs_along() {
    "$ocdm" compare s.safetensors -o killed --methods multitask --model linear --lr 0.001 --epochs 1000 -q > "$out" 2> "$err" &
    local process=$! child=
    for _ in $(seq 200); do
        child=$(cat "/proc/$process/task/$process/children" 2> /dev/null | tr -d ' ')
        [ -n "$child" ] && [ -n "$(ls killed/*/run.jsonl 2> /dev/null)" ] && break
        sleep 0.05
    done
    [ -n "$child" ] || return 1
    kill -KILL "$process"
    wait "$process"
    for _ in $(seq 400); do
        [ -e "/proc/$child/exe" ] || return 0
        sleep 0.05
    done
    kill -KILL "$child"
    return 1
}

# A stream without features; record i is of task FORMULA.
tasks_of() { # tasks_of NAME FORMULA COUNT
    awk -v count="$3" "BEGIN { for (i = 0; i < count; i++) printf \"{\\\"id\\\":%d,\\\"labels\\\":[%d],\\\"task\\\":%d}\\n\", i, i % 70, $2 }" > "$1.jsonl" &&
        run "$ocdm" stream build --records "$1.jsonl" -o "$1.safetensors" -q && same 0 "$code"
}

gaps_between_task_numbers_cost_nothing() {
    tasks_of gap 'i % 2 ? 9 : 60000' 140 && run "$ocdm" run gap.safetensors -o gap --model none -q && same 0 "$code" &&
        grep -q '"order":\[9,60000\]' gap/summary.json && grep -q '"name":"0",[^}]*"tasks":\[0,2\]' gap/summary.json &&
        grep -q '"name":"1",[^}]*"tasks":\[2,0\]' gap/summary.json &&
        run "$ocdm" report gap -o gap.html --figures gap-figures && same 0 "$code" && grep -q '^1,[a-z]*,9,2$' gap-figures/stream.csv
}

a_run_whose_results_have_no_room_does_not_begin() {
    tasks_of many i 6000 && run "$ocdm" run many.safetensors -o many --model none -q
    same 5 "$code" && grep -q 'in 6000 tasks' "$err" && [ ! -e many/run.jsonl ]
}

an_ignored_interrupt_stays_ignored() {
    (
        trap '' INT
        exec "$ocdm" sample -m 3 -q
    ) < <(cat r.jsonl; sleep 2) > "$out" 2> "$err" &
    local process=$!
    sleep 0.5
    kill -INT "$process"
    wait "$process"
    code=$?
    same 0 "$code" && same 3 "$(wc -l < "$out" | tr -d ' ')"
}

for test in closed_descriptors_are_not_reused standard_input_that_is_closed_is_an_error a_log_that_is_a_link_is_refused \
    a_result_that_is_a_link_is_replaced links_in_the_folders_of_comparisons_and_figures_are_replaced names_do_not_command_the_terminal a_log_of_another_program_is_kept a_log_that_was_only_begun_is_ours \
    leftovers_of_killed_processes_are_removed a_temporary_file_in_use_is_kept fifos_are_refused_at_once a_file_that_shrinks_is_named \
    a_damaged_row_is_named a_run_is_not_resumed_onto_a_damaged_copy \
    a_report_is_not_made_without_what_cannot_be_read a_table_of_many_tasks_has_a_hundred_columns \
    gaps_between_task_numbers_cost_nothing a_run_whose_results_have_no_room_does_not_begin \
    a_killed_compare_takes_its_runs_along an_ignored_interrupt_stays_ignored; do
    check "$test" "$test"
done
finish
