#!/usr/bin/env bash
# `ocdm report` and `ocdm watch` on made-up run folders. $1: the program, $2: the source folder.
. "$(dirname "$0")/tap.sh"
ocdm=$1
cd "$place" || exit 1
"$2/tests/made-runs" runs paper
"$2/tests/made-runs" odd hostile

writes_a_page() {
    run "$ocdm" report runs -o page.html
    same 0 "$code" && same "page.html: 8 runs" "$(cat "$out")" && same "" "$(cat "$err")" && head -n 1 page.html | grep -qx '<!DOCTYPE html>'
}

# 8 runs of 5,000 steps: at most 2 MB.
page_is_small() {
    local size
    size=$(wc -c < page.html)
    echo "$size bytes"
    [ "$size" -le 2000000 ]
}

# Nothing in it is fetched from anywhere.
# The script is there, and small.
page_script_is_small() {
    local size
    size=$(awk '/^<script>/ { on = 1 } on { print }' page.html | wc -c)
    echo "$size bytes"
    [ "$size" -gt 1000 ] && [ "$size" -le 20000 ]
}

page_needs_nothing_else() {
    ! grep -nE '(src|href)="[^d#"]' page.html && ! grep -n 'url(' page.html && ! grep -n '@import' page.html
}

page_is_the_same_again() {
    "$ocdm" report runs -o again.html > /dev/null && cmp page.html again.html
}

writes_figures() {
    local name
    run "$ocdm" report runs -o page.html --figures figures
    same 0 "$code" || return 1
    for name in memory distance map difference tasks classes thresholds loss stream pairs age class-age time; do
        grep -q '</svg>' "figures/$name.svg" && [ "$(wc -l < "figures/$name.csv")" -gt 3 ] || { echo "$name"; return 1; }
    done
    same 26 "$(find figures -type f | wc -l)"
}

# The numbers of the CSV are those of the files.
figures_have_the_numbers() {
    local want
    want=$(grep -o '"counts":\[[0-9]*' runs/rs-s1/summary.json | tr -dc '0-9')
    grep -q "^rs,1,person,majority,$want," figures/memory.csv
}

# Pairs of runs are found by their names: those of one run may be in another order, those of an older version are not there.
pairs_have_their_names() {
    cp -r runs others
    /usr/bin/python3 - others/rs-*/summary.json << 'END'
import json, sys
for path in sys.argv[1:]:
    summary = json.load(open(path))
    summary["memory"]["pairs"].reverse()
    json.dump(summary, open(path, "w"))
END
    "$ocdm" report others -o others.html --figures others-figures > /dev/null && cmp figures/pairs.svg others-figures/pairs.svg || return 1
    sed -i 's/"pairs":/"no-pairs":/' "$(find others -name summary.json | sort | head -n 1)"
    "$ocdm" report others -o others.html --figures others-figures > /dev/null &&
        same $(($(wc -l < figures/pairs.csv) - 4)) "$(wc -l < others-figures/pairs.csv)"
}

# repeat_of PAGE: the command of the page, as a reader copies it.
repeat_of() {
    sed -n 's/.*<pre data-name="repeat"><code>\(.*\)<\/code><\/pre>.*/\1/p' "$1" | sed 's/<[^>]*>//g; s/&lt;/</g; s/&gt;/>/g; s/&#39;/'"'"'/g; s/&amp;/\&/g'
}

# paste PAGE: runs its command in its folder.
paste_command() {
    (cd "$(dirname "$1")" && PATH="$(dirname "$ocdm"):$PATH" bash -euc "$(repeat_of "$(basename "$1")")" < /dev/null) > "$out" 2> "$err" || { cat "$err"; return 1; }
}

without_times() {
    sed 's/,"times":{.*$//' "$1"
}

# The page is neither where the runs are nor where the program was started; the command is one of compare, with what it was given.
repeats_a_comparison() {
    mkdir -p data 'a b' &&
        "$ocdm" stream build -q --recipe scenes --as features -o data/s.safetensors &&
        "$ocdm" compare data/s.safetensors --methods rs --seeds 2..3 --memory 50 --grid lr=0.001,0.01 --batch 200 --log-every 50 -q -o data/runs > /dev/null &&
        "$ocdm" report data/runs -o 'a b/page.html' > /dev/null || return 1
    repeat_of 'a b/page.html' | grep -q '^ocdm compare \.\./data/s\.safetensors --methods .* --seeds 2\.\.3 --memory 50 .* --grid lr=0\.001,0\.01 .* -o \.\./data/runs-again$' || { repeat_of 'a b/page.html'; return 1; }
    paste_command 'a b/page.html' || return 1
    cmp <(without_times data/runs/rs-s2/summary.json) <(without_times data/runs-again/rs-s2/summary.json) &&
        cmp <(without_times data/runs/rs-s3/summary.json) <(without_times data/runs-again/rs-s3/summary.json)
}

# The page is in the folder of the runs, which has been moved with the stream; a file of weights of classes comes along.
repeats_a_run() {
    local class
    class=$(grep -o '"classes":\[{"name":"[^"]*' data/runs/rs-s2/summary.json | sed 's/.*"//')
    mkdir -p one && cp data/s.safetensors one/ && printf '{"%s": 2}\n' "$class" > one/w.json
    "$ocdm" run one/s.safetensors -o one/r --method rs --memory 50 --batch 200 --lr 0.01 --seed 5 --class-weights one/w.json > /dev/null || return 1
    mkdir -p moved && mv one moved/two && "$ocdm" report moved/two/r -o moved/two/page.html > /dev/null || return 1
    repeat_of moved/two/page.html | grep -q '^ocdm run s\.safetensors .* --class-weights w\.json .* -o r-again$' || { repeat_of moved/two/page.html; return 1; }
    paste_command moved/two/page.html && cmp <(without_times moved/two/r/summary.json) <(without_times moved/two/r-again/summary.json)
}

# A stream that is not there any more is said to be missing.
names_a_stream_that_is_missing() {
    "$ocdm" report runs/rs-s0 -o missing.html > /dev/null && grep -q 'The stream was not found from here' missing.html &&
        ! grep -q 'The stream was not found from here' moved/two/page.html
}

takes_runs_one_by_one() {
    run "$ocdm" report runs/ocdm-s0 runs/rs-s0/ -o two.html --title 'A <title>'
    same 0 "$code" && same "two.html: 2 runs" "$(cat "$out")" && grep -q '<title>A &lt;title&gt;</title>' two.html
}

names_what_is_not_whole() {
    run "$ocdm" report odd nowhere -o odd.html
    same 0 "$code" && same "odd.html: 3 runs" "$(cat "$out")" && same 5 "$(grep -c '^note: ' "$err")" && grep -qx 'note: nowhere: there is no such folder' "$err" &&
        grep -q 'the log ends at step' odd.html
}

refuses_nothing_at_all() {
    run "$ocdm" report nowhere -o none.html
    same 4 "$code" && same "error: nowhere: there is no such folder" "$(head -n 1 "$err")" && grep -q '^hint: ' "$err" && [ ! -e none.html ] || return 1
    run "$ocdm" report
    same 2 "$code" && grep -q '^error: .*needs a run folder' "$err"
}

fails_when_it_cannot_write() {
    run "$ocdm" report runs -o nofolder/page.html
    same 4 "$code" && same "" "$(cat "$out")" || return 1
    run "$ocdm" report runs -o page2.html --figures page.html
    same 4 "$code" && [ ! -e page2.html ]
}

watch_prints_lines_when_not_on_a_terminal() {
    run "$ocdm" watch odd/rs-s0
    same 0 "$code" && same "" "$(cat "$err")" && grep -q '^step 10, task 0, loss ' "$out" && grep -q '^evaluation at step 500, after task 2, mAP ' "$out" &&
        same "ended after 500 steps" "$(tail -n 1 "$out")" && same 12 "$(wc -l < "$out")"
}

# The folder's lock is free and the log has no end: nobody is writing it.
watch_ends_when_the_run_has_stopped() {
    run "$ocdm" watch odd/half-s0
    same 0 "$code" && same "the run stopped at step 310 and is not going on" "$(tail -n 1 "$out")"
}

# A log that grows under a lock that is held.
watch_follows_a_log_that_grows() {
    mkdir live
    head -n 3 odd/rs-s0/run.jsonl > live/run.jsonl
    (
        flock 9
        "$ocdm" watch live > live.out 2> live.err 9>&- &
        pid=$!
        sleep 1
        sed -n '4,$p' odd/rs-s0/run.jsonl >> live/run.jsonl
        wait "$pid"
        echo $? > live.code
    ) 9> live/lock
    same 0 "$(cat live.code)" && same "" "$(cat live.err)" && same "ended after 500 steps" "$(tail -n 1 live.out)"
}

# A run that goes on for ever, and somebody who has seen enough.
watch_ends_on_a_signal() {
    mkdir stuck
    head -n 3 odd/rs-s0/run.jsonl > stuck/run.jsonl
    (
        flock 9
        "$ocdm" watch stuck > stuck.out 2>&1 9>&- &
        pid=$!
        sleep 1
        kill -TERM "$pid"
        wait "$pid"
        echo $? > stuck.code
    ) 9> stuck/lock
    same 143 "$(cat stuck.code)" && grep -q '^step 10' stuck.out
}

# A folder that comes later: the log is moved there once watching has said that it waits.
watch_waits_for_a_folder() {
    local i
    "$ocdm" watch later/run > later.out 2> later.err &
    for ((i = 0; i < 600; i++)); do
        [ -s later.err ] && break
        sleep 0.1
    done
    mkdir -p later/made && cp odd/rs-s0/run.jsonl later/made/ && mv later/made later/run
    wait $!
    code=$?
    same 0 "$code" && same "waiting for later/run, which is not there yet" "$(cat later.err)" && same "ended after 500 steps" "$(tail -n 1 later.out)" || return 1
    "$ocdm" watch never > never.out 2> never.err &
    local pid=$!
    for ((i = 0; i < 600; i++)); do
        [ -s never.err ] && break
        sleep 0.1
    done
    kill -TERM "$pid"
    wait "$pid"
    same 143 $?
}

watch_refuses_a_folder_without_a_log() {
    run "$ocdm" watch odd/rs-s0/run.jsonl
    same 4 "$code" && same "error: odd/rs-s0/run.jsonl: Not a directory" "$(head -n 1 "$err")" || return 1
    run "$ocdm" watch
    same 2 "$code"
}

# A run that is shown while it runs, and its page.
run_shows_itself_live() {
    printf '%s\n' '{"labels":["a","b"],"split":"train"}' '{"labels":["b"],"split":"train"}' '{"labels":["a"],"split":"test"}' > w.jsonl
    "$ocdm" stream build -q --records w.jsonl -o w.safetensors
    run "$ocdm" run w.safetensors -o live-run --model none --memory 10 --log-every 1 --watch
    same 0 "$code" && grep -q '^step 1, task 0' "$out" && grep -q '^ended after 1 steps' "$out" && grep -q '"counts":\[1,2\]' live-run/run.jsonl &&
        "$ocdm" report live-run -o live.html > /dev/null
}

for name in writes_a_page page_is_small page_script_is_small page_needs_nothing_else page_is_the_same_again writes_figures figures_have_the_numbers pairs_have_their_names repeats_a_comparison repeats_a_run names_a_stream_that_is_missing takes_runs_one_by_one \
    names_what_is_not_whole refuses_nothing_at_all fails_when_it_cannot_write watch_prints_lines_when_not_on_a_terminal \
    watch_ends_when_the_run_has_stopped watch_follows_a_log_that_grows watch_ends_on_a_signal watch_waits_for_a_folder watch_refuses_a_folder_without_a_log run_shows_itself_live; do
    check "report_$name" "$name"
done
finish
