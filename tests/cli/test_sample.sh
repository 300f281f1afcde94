#!/usr/bin/env bash
# `ocdm sample`: what comes out, byte for byte, in every format; what it writes beside; chunks, signals, full disks. Bad input is
# in test_sample_bad.sh. $1: the program.
. "$(dirname "$0")/tap.sh"
ocdm=$1
cd "$place" || exit 1

# A stream of $1 records with $2 classes, some with two labels, ids from 0.
stream() {
    awk -v n="$1" -v c="$2" 'BEGIN { for (i = 0; i < n; i++) {
        a = i * i % c; b = i * 7 % c
        printf "{\"id\":%d,\"labels\":[\"c%d\"%s]}\n", i, a, i % 3 ? "" : ",\"c" b "\""
    } }'
}
stream 2000 13 > stream.jsonl

is_subsequence() { # every line of the file $1 is in $2, in the same order
    awk 'NR == FNR { want[++n] = $0; next } $0 == want[k + 1] { k++ } END { exit k != n }' "$1" "$2"
}

# ---- the kept lines ----

keeps_everything_that_fits() {
    run "$ocdm" sample -q -m 5000 stream.jsonl
    same 0 "$code" && cmp stream.jsonl "$out" && same "" "$(cat "$err")"
}

keeps_m_lines_in_order() {
    local policy
    for policy in ocdm rs prs cbes onlyone max random; do
        run "$ocdm" sample -q -m 100 -p "$policy" stream.jsonl
        same 0 "$code" && same 100 "$(wc -l < "$out")" && is_subsequence "$out" stream.jsonl || { echo "by $policy"; return 1; }
    done
}

# spread POLICY: how far apart the least and the most kept class are.
spread() {
    "$ocdm" sample -q -m 130 -p "$1" --summary summary.json stream.jsonl > /dev/null || return 1
    grep -o '"kept":[0-9]*,"target"' summary.json | grep -o '[0-9]*' | sort -n | awk 'NR == 1 { least = $1 } END { print $1 - least }'
}

balances_the_classes() {
    echo "ocdm $(spread ocdm), rs $(spread rs)"
    [ "$(spread ocdm)" -le 12 ] && [ "$(spread rs)" -ge 20 ]
}

prints_lines_byte_for_byte() {
    printf '{"labels":["a"],  "x":1 }\t\r\n\n  {"labels":["\303\251\\u00e9"],"id":"i"}\r\n{"labels":[],"y":[1,{"z":null}]}' > odd.jsonl
    printf '{"labels":["a"],  "x":1 }\t\r\n  {"labels":["\303\251\\u00e9"],"id":"i"}\r\n{"labels":[],"y":[1,{"z":null}]}\n' > want
    run "$ocdm" sample -q --unlabelled keep odd.jsonl
    same 0 "$code" && cmp want "$out"
}

empty_input_gives_empty_output() {
    : > empty
    run "$ocdm" sample -q empty
    same 0 "$code" && same "" "$(cat "$out" "$err")" || return 1
    run "$ocdm" sample --format jsonl --summary summary.json
    same 0 "$code" && same "" "$(cat "$out")" && grep -q '"records":0,"skipped":0,"unlabelled":0,"kept":0,"classes":0,"labels":null,"labels_seen":null,"distance":null,"distance_seen":null' summary.json
}

seeds_make_a_difference() {
    "$ocdm" sample -q -m 50 --seed 1 stream.jsonl > one && "$ocdm" sample -q -m 50 --seed 2 stream.jsonl > two &&
        "$ocdm" sample -q -m 50 --seed 1 < stream.jsonl > again && cmp one again && ! cmp -s one two
}

reads_stdin_as_dash_or_nothing() {
    "$ocdm" sample -q -m 50 - < stream.jsonl > dash && "$ocdm" sample -q -m 50 < stream.jsonl > nothing &&
        "$ocdm" sample -q -m 50 stream.jsonl > file && cmp dash file && cmp nothing file
}

chunks_do_not_matter() {
    local size
    head -n 300 stream.jsonl > short.jsonl
    "$ocdm" sample -q -m 40 short.jsonl > whole
    for size in 1 3 17 1000; do
        dd if=short.jsonl bs="$size" 2> /dev/null | "$ocdm" sample -q -m 40 > pieces && cmp whole pieces || { echo "by $size"; return 1; }
    done
    { head -c 5000 short.jsonl; sleep 0.3; tail -c +5001 short.jsonl; } | "$ocdm" sample -q -m 40 > pieces && cmp whole pieces
}

memory_does_not_grow_with_the_stream() {
    awk 'BEGIN { while (length(text) < 1000) text = text "some more to read, "
                 for (i = 0; i < 300000; i++) printf "{\"id\":%d,\"labels\":[%d],\"text\":\"%s\"}\n", i, i % 50, text }' |
        in_little_memory 60 "$ocdm" sample -q -m 100 > "$out" 2> "$err"
    code=$?
    same 0 "$code" && same 100 "$(wc -l < "$out")"
}

# Ids cost 43 bytes a record at most: 2,000,000 of them fit where their lines would not. Ignoring them costs nothing.
ids_cost_little_memory() {
    local flag limit=170
    for flag in --skip-bad --no-id; do
        awk 'BEGIN { for (i = 0; i < 2000000; i++) printf "{\"id\":%d,\"labels\":[%d]}\n", i, i % 50 }' |
            in_little_memory "$limit" "$ocdm" sample -q -b 1000 -m 100 "$flag" > "$out" 2> "$err"
        code=$?
        same 0 "$code" && same 100 "$(wc -l < "$out")" || { echo "with $flag"; return 1; }
        limit=60
    done
}

# Three cats for each dog, where the stream has as many of both; a label that never comes does no harm.
weights_shape_what_is_kept() {
    awk 'BEGIN { for (i = 0; i < 4000; i++) printf "{\"id\":%d,\"labels\":[\"%s\"]}\n", i, i % 2 ? "cat" : "dog" }' > animals.jsonl
    run "$ocdm" sample -q -m 400 --weight 'cat=3,no=such=2' --summary summary.json animals.jsonl
    same 0 "$code" && same 300 "$(grep -c '"cat"' "$out")" && same 400 "$(wc -l < "$out")" &&
        grep -q '"label":"cat","seen":2000,"kept":300,"target":0.75,"weight":3}' summary.json || return 1
    "$ocdm" sample -q -m 400 --weight cat=1 animals.jsonl > ones && "$ocdm" sample -q -m 400 animals.jsonl > plain && cmp ones plain
}

weights_that_make_no_sense_are_refused() {
    local weight
    for weight in cat =3 cat= cat=x cat=3x cat=0 cat=-1 cat=1e7 cat=nan 'cat=3,' ',cat=3'; do
        run "$ocdm" sample -q --weight "$weight" stream.jsonl
        same 2 "$code" && [ ! -s "$out" ] && grep -q weight "$err" || { echo "$weight"; return 1; }
    done
}

# ---- formats ----

csv_stays_csv() {
    printf 'id,note,labels\r\n1,"two\nlines, ""quoted""",a;b\r\n2,, a ;;b \n\n3,x,\n' > in.csv
    printf 'id,note,labels\r\n1,"two\nlines, ""quoted""",a;b\r\n2,, a ;;b \n3,x,\n' > want
    run "$ocdm" sample -q --unlabelled keep --summary summary.json in.csv
    same 0 "$code" && cmp want "$out" && grep -q '"classes":2,' summary.json && grep -q '"label":"a","seen":2,"kept":2' summary.json &&
        grep -q '"format":"csv"' summary.json
}

csv_columns_by_name() {
    printf 'key,tags\nk1,a|b\nk2,b\n' > in.txt
    run "$ocdm" sample -q --labels tags --id key --sep '|' --trace trace --summary summary.json in.txt
    same 0 "$code" && grep -q '"in":\["k1","k2"\]' trace && grep -q '"label":"b","seen":2' summary.json
}

tsv_by_its_first_line() {
    printf 'id\tlabels\n1\t"a;b\n2\tb\n' > in.txt
    run "$ocdm" sample -q --summary summary.json in.txt
    same 0 "$code" && cmp in.txt "$out" && grep -q '"format":"tsv"' summary.json && grep -q '"label":"\\"a"' summary.json
}

svm_without_its_header() {
    printf '3 9 4\n1,2 0:0.5 8:1\n# nothing\n 3:1\n2 1:1\n' > in.txt
    printf '1,2 0:0.5 8:1\n 3:1\n2 1:1\n' > want
    run "$ocdm" sample -q --unlabelled keep --trace trace --summary summary.json in.txt
    same 0 "$code" && cmp want "$out" && grep -q '"records":3,.*"classes":2,.*"format":"svm"' summary.json &&
        grep -q '"in":\[0,1,2\]' trace
}

jsonl_members_by_path() {
    printf '{"meta":{"tags":["a",1],"key":"k"},"labels":0}\n{"meta":{"key":2,"tags":["1"]}}\n' > in.txt
    run "$ocdm" sample -q --labels meta.tags --id meta.key --trace trace --summary summary.json in.txt
    same 0 "$code" && cmp in.txt "$out" && grep -q '"in":\["k",2\]' trace && grep -q '"label":"1","seen":2' summary.json
}

format_can_be_forced() {
    printf 'labels\n{"a":1}\n' > in.jsonl
    run "$ocdm" sample -q --format csv in.jsonl
    same 0 "$code" && cmp in.jsonl "$out"
}

# ---- trace and summary ----

traces_every_batch() {
    local number='-?[0-9.]+(e[-+]?[0-9]+)?'
    run "$ocdm" sample -q -m 20 -b 7 --trace trace stream.jsonl
    same 0 "$code" && same 286 "$(wc -l < trace)" || return 1
    grep -vE "^\{\"step\":[0-9]+,\"in\":\[[0-9,]+\],\"out\":\[[0-9,]*\],\"size\":[0-9]+,\"distance\":($number|null)\}$" trace && return 1
    same '{"step":1,"in":[0,1,2,3,4,5,6],"out":[],"size":7,' "$(head -n 1 trace | grep -o '.*"size":7,')" || return 1
    same '{"step":286,"in":[1995,1996,1997,1998,1999],' "$(tail -n 1 trace | grep -o '^.*"in":[^]]*],')" || return 1
    # What came and did not go is what was kept.
    sed 's/.*"in":\[\([^]]*\)\].*/\1/' trace | tr ',' '\n' | sort > came
    sed 's/.*"out":\[\([^]]*\)\].*/\1/' trace | tr ',' '\n' | grep . | sort > went
    comm -23 came went | sort -n > stayed
    sed 's/{"id":\([0-9]*\),.*/\1/' "$out" > kept
    cmp kept stayed
}

trace_shows_ids_as_they_came() {
    printf '{"id":"a\\u0041","labels":["x"]}\n{"id":-1.50,"labels":["x"]}\n{"labels":["x"]}\n{"id":"2 ","labels":["x"]}\n' > in.jsonl
    run "$ocdm" sample -q -m 1 -b 4 --tie oldest --trace trace in.jsonl
    same 0 "$code" && same '{"step":1,"in":["a\u0041",-1.50,2,"2 "],"out":["a\u0041",-1.50,2],"size":1,"distance":0}' "$(cat trace)"
}

trace_has_null_for_no_distribution() {
    printf '{"labels":[]}\n' > in.jsonl
    run "$ocdm" sample -q --unlabelled keep --trace trace in.jsonl
    same 0 "$code" && same '{"step":1,"in":[0],"out":[],"size":1,"distance":null}' "$(cat trace)"
}

summary_has_its_fields() {
    printf '{"labels":["b","a\\n"]}\n{"labels":["b"]}\n{"labels":["B"]}\n' > in.jsonl
    run "$ocdm" sample -q -m 2 -b 3 --rho 1 --seed 5 --summary summary.json in.jsonl
    same 0 "$code" || return 1
    sed 's/"seconds":[-+.0-9e]*/"seconds":S/; s/"distance\(_seen\)\?":[-+.0-9e]*/"distance\1":D/g' summary.json > shape
    grep -qxF '{"records":3,"skipped":0,"unlabelled":0,"kept":2,"classes":3,"labels":1.5,"labels_seen":1.3333333333333333,"distance":D,"distance_seen":D,"policy":"ocdm","memory":2,"batch":3,"rho":1,"seed":5,"distance_name":"kl","tie":"key","tolerance":0,"format":"jsonl","seconds":S,"per_class":[{"label":"B","seen":1,"kept":1,"target":0.25},{"label":"a\n","seen":1,"kept":1,"target":0.25},{"label":"b","seen":2,"kept":1,"target":0.5}]}' shape && return 0
    cat shape
    return 1
}

files_are_replaced_whole() {
    echo old > trace
    echo old > summary.json
    echo '{"labels":{}}' > bad.jsonl
    run "$ocdm" sample -q --trace trace --summary summary.json bad.jsonl
    same 3 "$code" && same "old old" "$(cat trace summary.json | xargs)" && same "" "$(cat "$out")" && same "" "$(find . -name '.ocdm-*')"
}

summary_to_stdout_stays_beside_the_lines() {
    echo '{"labels":[1]}' > in.jsonl
    "$ocdm" sample -q --summary /dev/stdout in.jsonl > both
    same 2 "$(wc -l < both)" && grep -q '^{"records":1' both && grep -qx '{"labels":\[1\]}' both
}

# ---- the table ----

table_shows_the_classes() {
    printf '{"labels":["rare\\u001b[2J"]}\n{"labels":["often"]}\n{"labels":["often"]}\n' > in.jsonl
    run "$ocdm" sample -m 10 in.jsonl
    same 0 "$code" && grep -q '^kept 3 of 3 records, 2 classes' "$err" && grep -q '^label  *seen  *kept  *target$' "$err" &&
        grep -q '^often  *2  *2  *1\.5  *###' "$err" && grep -qF 'rare\x1B[2J' "$err"
}

table_leaves_out_the_middle() {
    awk 'BEGIN { for (i = 0; i < 50; i++) for (j = 0; j <= i; j++) printf "{\"labels\":[\"c%02d\"]}\n", i }' > in.jsonl
    run "$ocdm" sample -m 5000 in.jsonl
    same 33 "$(wc -l < "$err")" && grep -q '^\.\.\. 20 classes between' "$err" && grep -q '^c49 .* 50 ' "$err" && grep -q '^c30 ' "$err" &&
        ! grep -q '^c29 ' "$err" && ! grep -q '^c10 ' "$err" && grep -q '^c09 ' "$err" && grep -q '^c00 .* 1 ' "$err"
}

no_progress_in_a_file() {
    run "$ocdm" sample stream.jsonl
    ! grep -q $'\r' "$err"
}

# ---- signals ----

# wait_until_read PID BYTES: until the process has read that much, and is back to waiting.
wait_until_read() {
    local tries=0 bytes=0
    while [ "$bytes" -lt "$2" ] && [ "$tries" -lt 100 ]; do
        sleep 0.1
        bytes=$(awk '$1 == "rchar:" { print $2 }' "/proc/$1/io")
        tries=$((tries + 1))
    done
    sleep 0.3
}

# stopped_by SIGNAL: in the middle of a stream that does not end; the last line is cut short.
stopped_by() {
    mkfifo pipe
    interruptible "$ocdm" sample -q -b 7 --summary summary.json < pipe > "$out" 2> "$err" &
    local pid=$!
    exec 7> pipe
    head -n 100 stream.jsonl >&7
    printf '{"id":100,"lab' >&7
    wait_until_read "$pid" "$(head -n 100 stream.jsonl | wc -c)"
    kill -s "$1" "$pid"
    wait "$pid"
    code=$?
    exec 7>&-
    rm pipe
    head -n 100 stream.jsonl > want
    cmp want "$out" && grep -q '"records":100,' summary.json
}

interrupted() {
    stopped_by INT && same 130 "$code"
}

terminated() {
    stopped_by TERM && same 143 "$code"
}

# ---- output that fails ----

full_disk() {
    "$ocdm" sample -q stream.jsonl > /dev/full 2> "$err"
    code=$?
    same 4 "$code" && grep -q '^error: cannot write standard output: No space left' "$err" && grep -q '^hint: ' "$err"
}

# A full disk under trace or summary does not cost what was kept.
full_disk_beside() {
    local flag
    "$ocdm" sample -q -m 20 stream.jsonl > expected 2> "$err"
    for flag in --trace --summary; do
        run "$ocdm" sample -q -m 20 $flag /dev/full stream.jsonl
        same 4 "$code" && cmp expected "$out" && grep -q '^error: cannot write /dev/full: No space left' "$err" || return 1
    done
}

# Of files all are there or none: the disk is full under the kept records, then under the trace.
full_disk_leaves_no_file() {
    echo old > s.old
    cp s.old s.json
    run "$ocdm" sample -q -m 20 -o /dev/full --trace t.jsonl --summary s.json stream.jsonl
    same 4 "$code" && cmp s.old s.json && [ ! -e t.jsonl ] && grep -q '^error: cannot write /dev/full: No space left' "$err" || return 1
    run "$ocdm" sample -q -m 20 -o k.jsonl --trace /dev/full --summary s.json stream.jsonl
    same 4 "$code" && cmp s.old s.json && [ ! -e k.jsonl ] && same 0 "$(find . -name '.ocdm-*' | wc -l)" || return 1
    run "$ocdm" sample -q -m 20 -o k.jsonl --trace t.jsonl --summary s.json stream.jsonl
    same 0 "$code" && [ -s k.jsonl ] && [ -s t.jsonl ] && ! cmp -s s.old s.json
}

# Nothing reads the pipe by the time that the result is written.
closed_pipe() {
    { sleep 0.3; cat stream.jsonl; } | { "$ocdm" sample -q 2> "$err"; echo $? > status; } | exec 0<&- true
    while [ ! -s status ]; do sleep 0.05; done
    code=$(cat status)
    same 4 "$code" && grep -q '^error: cannot write standard output: Broken pipe' "$err"
}

unwritable_folder() {
    run "$ocdm" sample -q --trace no/such/folder/trace stream.jsonl
    same 4 "$code" && same "" "$(cat "$out")" && grep -q '^error: cannot write no/such/folder/trace: No such file' "$err"
}

missing_input() {
    run "$ocdm" sample no-such-file
    same 4 "$code" && same "error: cannot open no-such-file: No such file or directory" "$(head -n 1 "$err")" || return 1
    run "$ocdm" sample .
    same 4 "$code" && grep -q '^error: cannot read \.: Is a directory' "$err"
}

check everything_is_kept_when_it_fits keeps_everything_that_fits
check m_lines_are_kept_in_stream_order_by_every_policy keeps_m_lines_in_order
check classes_are_balanced_by_ocdm balances_the_classes
check lines_are_printed_byte_for_byte prints_lines_byte_for_byte
check empty_input_gives_empty_output empty_input_gives_empty_output
check seeds_decide_what_is_kept seeds_make_a_difference
check stdin_is_read_for_dash_and_for_nothing reads_stdin_as_dash_or_nothing
check chunks_of_the_pipe_do_not_matter chunks_do_not_matter
check memory_does_not_grow_with_the_stream memory_does_not_grow_with_the_stream
check ids_cost_little_memory ids_cost_little_memory
check weights_shape_what_is_kept weights_shape_what_is_kept
check weights_that_make_no_sense_are_refused weights_that_make_no_sense_are_refused
check csv_stays_csv csv_stays_csv
check csv_columns_are_found_by_name csv_columns_by_name
check tsv_is_told_by_its_first_line tsv_by_its_first_line
check svm_header_is_not_printed svm_without_its_header
check jsonl_members_are_found_by_path jsonl_members_by_path
check format_can_be_forced format_can_be_forced
check trace_has_every_batch traces_every_batch
check trace_shows_ids_as_they_came trace_shows_ids_as_they_came
check trace_has_null_when_there_is_no_distribution trace_has_null_for_no_distribution
check summary_has_its_fields summary_has_its_fields
check files_stay_as_they_were_when_the_run_fails files_are_replaced_whole
check summary_to_stdout_replaces_nothing summary_to_stdout_stays_beside_the_lines
check table_shows_the_classes table_shows_the_classes
check table_leaves_out_the_middle_of_many_classes table_leaves_out_the_middle
check progress_is_for_terminals_only no_progress_in_a_file
check sigint_writes_what_is_kept_and_exits_130 interrupted
check sigterm_writes_what_is_kept_and_exits_143 terminated
check full_disk_gives_exit_code_4 full_disk
check kept_records_are_printed_when_the_disk_is_full_beside full_disk_beside
check full_disk_leaves_all_files_or_none full_disk_leaves_no_file
check closed_pipe_gives_exit_code_4 closed_pipe
check unwritable_folder_is_told_before_reading unwritable_folder
check missing_input_gives_exit_code_4 missing_input
finish
