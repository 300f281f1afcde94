#!/usr/bin/env bash
# `ocdm sample` and bad input: a clear error with its place, nothing on stdout, the right exit code; with --skip-bad, the rest is
# kept. $1: the program.
. "$(dirname "$0")/tap.sh"
ocdm=$1
cd "$place" || exit 1
good='{"labels":["a"]}'
skipping='`--skip-bad` passes over bad records'
columns="\`--labels NAME\` and \`--id NAME\` say which columns they are; a file without a header needs one: sed '1i id,labels' FILE"
repeated='--on-duplicate skip passes over such records, --no-id ignores ids'

# fails CODE MESSAGE HINT WORDS...: nothing on stdout; the hint is not looked at when empty.
fails() {
    local want=$1 message=$2 hint=$3
    shift 3
    run "$ocdm" sample "$@"
    same "$want" "$code" && same "" "$(cat "$out")" && same "error: $message" "$(head -n 1 "$err")" || return 1
    [ -z "$hint" ] || same "hint: $hint" "$(sed -n 2p "$err")"
}

refuses_flag() { # refuses_flag PATTERN WORDS...: usage, exit code 2
    local pattern=$1
    shift
    run "$ocdm" sample "$@"
    same 2 "$code" && same "" "$(cat "$out")" && grep -q "^error: .*$pattern" "$err" || return 1
    grep -q '^hint: ' "$err"
}

refuses_numbers() {
    local value
    for value in 0 -1 1.5 x '' 2147483648 99999999999999999999; do
        refuses_flag memory -m "$value" || { echo "memory $value"; return 1; }
    done
    for value in 0 -1 1e3; do
        refuses_flag batch -b "$value" || { echo "batch $value"; return 1; }
    done
    for value in nan NaN inf 16.001 -17 x; do
        refuses_flag rho --rho "$value" || { echo "rho $value"; return 1; }
    done
    for value in nan inf -0.1 1000001 x; do
        refuses_flag tolerance --tolerance "$value" || { echo "tolerance $value"; return 1; }
    done
    refuses_flag seed --seed -1 && refuses_flag seed --seed 18446744073709551616
}

refuses_words() {
    refuses_flag policy -p ocmd && grep -q 'did you mean ocdm' "$err" && refuses_flag distance --distance revers-kl &&
        grep -q 'did you mean reverse-kl' "$err" && refuses_flag tie --tie oldes && grep -q 'did you mean oldest' "$err" &&
        refuses_flag format --format jsnol && grep -q 'did you mean jsonl' "$err" && refuses_flag policy -p nonsense
}

refuses_gss() {
    fails 2 "the policy gss needs gradients of a network that learns from the memory; a filter has no network" \
        "all other policies need labels only" -p gss
}

refuses_options_without_sense() {
    printf 'PAR1' > not.records # flags are looked at before the input
    refuses_flag separator --sep ';;' not.records &&
        refuses_flag 'same file' --trace x --summary x && refuses_flag separator --format csv --sep ';;' &&
        refuses_flag svm --format svm --labels x && refuses_flag 'same name' --format csv --labels a --id a &&
        refuses_flag 'empty part' --format jsonl --labels a..b
}

# bad_line LINE COLUMN REASON: JSON Lines, the second of three.
bad_line() {
    printf '%s\n%b\n%s\n' "$good" "$1" '{"labels":["b"]}' > in.jsonl
    fails 3 "in.jsonl:2:$2: $3" "" in.jsonl || return 1
    run "$ocdm" sample --skip-bad --summary summary.json in.jsonl
    same 0 "$code" && same "$good
{\"labels\":[\"b\"]}" "$(cat "$out")" && grep -q '"records":2,"skipped":1,"unlabelled":0,"kept":2,"classes":2,' summary.json &&
        grep -qF "skipped 1 bad record, the first: in.jsonl:2:$2: $3" "$err"
}

no_labels() {
    bad_line '{"label":["a"],"x":[{"y":1}]}' 1 'the record has no member "labels"; it has: label, x'
}

labels_of_the_wrong_type() {
    bad_line '{"labels":1.5}' 11 'the labels are an array of strings and whole numbers, or one of them' &&
        bad_line '{"labels":{"a":1}}' 11 'the labels are an array of strings and whole numbers, or one of them' &&
        bad_line '{"labels":["a",1.0]}' 16 'a label is a string or a whole number' &&
        bad_line '{"labels":[null]}' 12 'a label is a string or a whole number'
}

broken_json() {
    bad_line '{"labels":["a"]' 16 'broken JSON: the text ends too early' &&
        bad_line '{"labels":["a"],}' 17 'broken JSON: a key in quotes is missing' &&
        bad_line '{"labels":["a" "b"]}' 16 'broken JSON: a comma or ] is missing' &&
        bad_line 'nonsense' 1 'broken JSON: neither true, false nor null' && bad_line '["a"]' 1 'the record is not an object'
}

twice_a_member() {
    bad_line '{"labels":["a"],"labels":["b"]}' 18 'a member that occurs twice'
}

nul_byte() {
    bad_line '{"labels":["a\0000b"]}' 14 'broken JSON: a NUL byte' && bad_line '{"labels":["a"]}\0000' 17 'broken JSON: a NUL byte'
}

invalid_utf8() {
    bad_line '{"labels":["a"],"x":"\0377"}' 22 'broken JSON: invalid UTF-8' &&
        bad_line '{"labels":["\\ud800"]}' 13 'broken JSON: half a surrogate pair'
}

id_of_the_wrong_type() {
    bad_line '{"labels":["a"],"id":null}' 22 'an id is a string or a number'
}

too_many_labels() {
    { echo "$good"; awk 'BEGIN { printf "{\"labels\":[0"; for (i = 1; i < 65536; i++) printf ",%d", i; print "]}" }'; } > in.jsonl
    fails 3 "in.jsonl:2:382112: more than 65535 labels on one record" "$skipping" in.jsonl || return 1
    run "$ocdm" sample -q --skip-bad in.jsonl
    same 0 "$code" && same "$good" "$(cat "$out")"
}

as_many_labels_as_allowed() {
    awk 'BEGIN { printf "{\"labels\":[0"; for (i = 1; i < 65535; i++) printf ",%d", i; print "]}" }' > in.jsonl
    run "$ocdm" sample -q in.jsonl
    same 0 "$code" && cmp in.jsonl "$out"
}

# A line of 64 MiB passes, one byte more does not; skipping it takes little memory.
too_long_a_line() {
    { printf '{"labels":["a"],"x":"'; head -c 67108841 /dev/zero | tr '\0' 'x'; echo '"}'; echo "$good"; } > in.jsonl
    run "$ocdm" sample -q in.jsonl
    same 0 "$code" && cmp in.jsonl "$out" || return 1
    sed -i '1s/x":"/xx":"/' in.jsonl
    fails 3 "in.jsonl:1:67108865: a record of over 64 MiB" "$skipping" in.jsonl || return 1
    cat in.jsonl in.jsonl in.jsonl in.jsonl in.jsonl in.jsonl in.jsonl in.jsonl |
        in_little_memory 250 "$ocdm" sample -q --skip-bad > "$out" 2> "$err"
    code=$?
    same 0 "$code" && same 8 "$(grep -cxF "$good" "$out")" && same 8 "$(wc -l < "$out")"
}

same_id_twice() {
    printf '{"id":1,"labels":["a"]}\n{"id":"1","labels":["b"]}\n{"id":2,"labels":["a"]}\n' > in.jsonl
    fails 3 "in.jsonl:2:7: the id 1, which an earlier record has" "$repeated" in.jsonl &&
        fails 3 "in.jsonl:2:7: the id 1, which an earlier record has" "$repeated" -b 1 in.jsonl || return 1
    run "$ocdm" sample -q -b 1 --skip-bad --trace trace in.jsonl
    same 0 "$code" && same "1
2" "$(sed 's/{"id":\([0-9]*\).*/\1/' "$out")" && same 2 "$(wc -l < trace)"
}

same_id_by_content() {
    printf '{"id":"A","labels":["a"]}\n{"id":"\\u0041","labels":["b"]}\n' > in.jsonl
    fails 3 "in.jsonl:2:7: the id A, which an earlier record has" "$repeated" in.jsonl || return 1
    printf '{"labels":["a"]}\n{"labels":["b"]}\n{"id":0,"labels":["a"]}\n' > in.jsonl
    fails 3 "in.jsonl:3:7: the id 0, which an earlier record has" "$repeated" in.jsonl
}

# However long ago the first one left.
same_id_later() {
    printf '{"id":1,"labels":["a"]}\n{"id":2,"labels":["a"]}\n{"id":3,"labels":["a"]}\n{"id":1,"labels":["b"]}\n' > in.jsonl
    fails 3 "in.jsonl:4:7: the id 1, which an earlier record has" "$repeated" -m 1 -b 1 --tie oldest in.jsonl || return 1
    run "$ocdm" sample --on-duplicate skip --summary summary.json in.jsonl
    same 0 "$code" && cmp "$out" <(head -n 3 in.jsonl) && grep -q '"records":3,"skipped":1,' summary.json &&
        grep -q 'skipped 1 bad record, the first: in.jsonl:4:7: the id 1' "$err" || return 1
    echo bad >> in.jsonl
    fails 3 "in.jsonl:5:1: broken JSON: a value is missing" "$skipping" --on-duplicate skip in.jsonl &&
        refuses_flag on-duplicate --on-duplicate skpi && grep -q 'did you mean skip' "$err"
}

ids_are_ignored() {
    printf '{"id":1,"labels":["a"]}\n{"id":1,"labels":["b"]}\n{"id":null,"labels":["b"]}\n' > in.jsonl
    run "$ocdm" sample -q --no-id --trace trace in.jsonl
    same 0 "$code" && cmp "$out" in.jsonl && grep -q '"in":\[0,1,2\]' trace || return 1
    printf 'id,labels\n1,a\n1,b\n' > in.csv
    run "$ocdm" sample -q --no-id in.csv
    same 0 "$code" && cmp "$out" in.csv && refuses_flag 'no-id' --no-id --id x in.csv
}

numbers_do_not_count_skipped_records() {
    printf '{"labels":["a"]}\n\nbad\n{"labels":["b"]}\n' > in.jsonl
    run "$ocdm" sample -q --skip-bad --trace trace in.jsonl
    same 0 "$code" && grep -q '"in":\[0,1\]' trace
}

bad_csv() {
    printf 'id,labels\n1,a\n2\n3,"b\n' > in.csv
    fails 3 "in.csv:3:1: 1 field where the header has 2" "$skipping" in.csv || return 1
    run "$ocdm" sample --skip-bad in.csv
    same 0 "$code" && same "id,labels
1,a" "$(cat "$out")" && grep -q '^skipped 2 bad records, the first: in.csv:3:1' "$err" || return 1
    printf 'id,tags\n1,a\n' > in.csv
    fails 3 'in.csv:1:1: no column named "labels"; the columns are: id,tags' \
        "$columns" in.csv || return 1
    : > in.csv
    fails 3 "in.csv:1:1: the header is missing" "" in.csv
}

bad_svm() {
    printf '1 2:3\n1 2 3\n' > in.svm
    fails 3 "in.svm:2:3: a feature that is not name:value" "$skipping" in.svm
}

cbrs_and_several_labels() {
    printf '{"labels":["a","a"]}\n{"labels":["a","b"]}\n' > in.jsonl
    fails 3 "in.jsonl:2:1: several labels, and the policy cbrs takes one" "$skipping" -p cbrs in.jsonl || return 1
    run "$ocdm" sample -q -p cbrs --skip-bad in.jsonl
    same 0 "$code" && same '{"labels":["a","a"]}' "$(cat "$out")"
}

everything_bad() {
    yes nonsense | head -n 100000 > in.jsonl
    run "$ocdm" sample --skip-bad in.jsonl
    same 0 "$code" && same "" "$(cat "$out")" && grep -q '^skipped 100000 bad records' "$err"
}

check numbers_out_of_range_are_refused refuses_numbers
check words_are_refused_with_a_suggestion refuses_words
check gss_is_refused_since_it_needs_gradients refuses_gss
check options_without_sense_are_refused refuses_options_without_sense
check record_without_labels_is_bad no_labels
check labels_of_the_wrong_type_are_bad labels_of_the_wrong_type
check broken_json_is_bad_at_its_place broken_json
check member_given_twice_is_bad twice_a_member
check nul_byte_is_bad nul_byte
check invalid_utf8_is_bad invalid_utf8
check id_of_the_wrong_type_is_bad id_of_the_wrong_type
check over_65535_labels_are_bad too_many_labels
check just_65535_labels_are_fine as_many_labels_as_allowed
check line_over_64_mib_is_bad too_long_a_line
check repeated_id_is_bad same_id_twice
check ids_are_the_same_by_content same_id_by_content
check id_is_remembered_when_its_record_has_left same_id_later
check ids_may_repeat_when_they_are_ignored ids_are_ignored
check numbers_as_ids_do_not_count_skipped_records numbers_do_not_count_skipped_records
# Many blank lines before the first record do not shift what is read, nor where an error is said to be.
many_blank_lines() {
    { printf '\357\273\277'; head -c 65533 /dev/zero | tr '\0' '\n'; echo "$good"; } > in.txt
    run "$ocdm" sample -q in.txt
    same 0 "$code" && same "$good" "$(cat "$out")" || return 1
    { head -c 70000 /dev/zero | tr '\0' '\n'; echo "$good"; echo '{'; } > in.txt
    run "$ocdm" sample -q in.txt
    same 3 "$code" && grep -q '^error: in.txt:70002:' "$err"
}

# One stray quote makes a record of all lines up to the next quote, or the end: only its own line is lost.
stray_quote() {
    { echo id,x,labels; seq 1 1000 | sed 's/.*/&,a,l/; 10s/l$/"oops/'; } > in.csv
    fails 3 "in.csv:11:6: a quoted field without an end" "$skipping" in.csv || return 1
    run "$ocdm" sample -q --skip-bad --summary summary.json in.csv
    same 0 "$code" && grep -q '"records":999,"skipped":1,"unlabelled":0,"kept":999,' summary.json && same 1000 "$(wc -l < "$out")"
}

# one_file WORDS...: refused, and the input is as it was.
one_file() {
    run "$ocdm" sample -q "$@"
    same 2 "$code" && same "$good" "$(cat in.jsonl)" && grep -q '^error: .* are the same file$' "$err"
}

results_over_the_input_or_each_other() {
    rm -f trace
    echo "$good" > in.jsonl
    ln -sf in.jsonl link
    one_file --trace in.jsonl in.jsonl && one_file --trace ./in.jsonl in.jsonl && one_file --summary link in.jsonl &&
        one_file --trace trace --summary ./trace in.jsonl && one_file --trace trace --summary "$place/trace" in.jsonl || return 1
    "$ocdm" sample -q --summary in.jsonl < in.jsonl > "$out" 2> "$err"
    same 2 $? && same "$good" "$(cat in.jsonl)" || return 1
    "$ocdm" sample -q --trace both in.jsonl > both 2> "$err"
    same 2 $? || return 1
    "$ocdm" sample -q --trace /dev/null --summary /dev/null in.jsonl > both
    same "$good" "$(cat both)"
}

check csv_with_wrong_fields_or_header_is_bad bad_csv
check blank_lines_may_come_first many_blank_lines
check csv_with_a_stray_quote_loses_one_line stray_quote
check one_file_cannot_be_input_and_result_or_two_results results_over_the_input_or_each_other
check svm_with_a_wrong_feature_is_bad bad_svm
check cbrs_takes_one_label_a_record cbrs_and_several_labels
check everything_may_be_bad_and_skipped everything_bad
finish
