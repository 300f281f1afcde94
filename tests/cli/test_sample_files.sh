#!/usr/bin/env bash
# `ocdm sample` on files as people have them: several, compressed, of another kind than records; shares of them, an output file,
# and the choice of labels. $1: the program.
. "$(dirname "$0")/tap.sh"
ocdm=$1
cd "$place" || exit 1

awk 'BEGIN { for (i = 0; i < 3000; i++)
    printf "{\"id\":%d,\"labels\":[\"c%d\"%s]}\n", i, i * i % 13, i % 3 ? "" : ",\"c" i * 7 % 13 "\"" }' > all.jsonl
head -n 1234 all.jsonl > first.jsonl
tail -n +1235 all.jsonl > second.jsonl

# fails_with CODE ERROR HINT WORDS...
fails_with() {
    local want=$1 message=$2 hint=$3
    shift 3
    run "$ocdm" sample -q "$@"
    same "$want" "$code" && same "" "$(cat "$out")" && same "error: $message" "$(head -n 1 "$err")" &&
        same "hint: $hint" "$(sed -n 2p "$err")"
}

# ---- several files ----

several_files_are_one() {
    "$ocdm" sample -q -m 100 --trace one all.jsonl > want && "$ocdm" sample -q -m 100 --trace two first.jsonl second.jsonl > got &&
        cmp want got && cmp one two && "$ocdm" sample -q -m 100 first.jsonl - < second.jsonl | cmp want -
}

names_the_file_of_a_bad_record() {
    { cat second.jsonl; echo '{"labels":[}'; } > bad.jsonl
    fails_with 3 "bad.jsonl:1767:12: broken JSON: a value is missing" '`--skip-bad` passes over bad records' first.jsonl bad.jsonl &&
        fails_with 3 "second.jsonl:1:7: the id 1234, which an earlier record has" '--on-duplicate skip passes over such records, --no-id ignores ids' all.jsonl second.jsonl
}

later_headers_are_no_records() {
    printf 'id,labels\r\n1,a\r\n2,b;a' > x.csv
    printf '\357\273\277id,labels\n3,c\n4,a\n' > y.csv
    printf '5,a\n6,b\n' > z.csv
    printf 'id,labels\r\n1,a\r\n2,b;a\n3,c\n4,a\n5,a\n6,b\n' > want
    run "$ocdm" sample --summary summary.json x.csv y.csv z.csv
    same 0 "$code" && cmp want "$out" && grep -q '"records":6,"skipped":0,"unlabelled":0,"kept":6,"classes":3,' summary.json || return 1
    { cat y.csv; sed 's/^.*id/id/' y.csv; } > twice.csv
    run "$ocdm" sample -q --on-duplicate skip twice.csv
    same 0 "$code" && same 3 "$(wc -l < "$out")" || return 1
    printf 'labels,id\nc,7\n' > other.csv
    fails_with 3 "other.csv:1:1: another header than that of the first file: labels,id" \
        "files that are read together have the same columns" x.csv other.csv
    printf '3 4 2\n0 1:1\n1 2:1\n' > a.svm
    printf '1 4 2\n0 3:1\n' > b.svm
    run "$ocdm" sample -q a.svm b.svm
    same 0 "$code" && same "0 1:1
1 2:1
0 3:1" "$(cat "$out")"
}

kinds_do_not_mix() {
    printf 'id,labels\n1,a\n' > x.csv
    fails_with 2 "x.csv is csv by its name, and the files before it are jsonl" \
        'records of one kind at a time, or `--format` for all of them' all.jsonl x.csv
    : > empty
    fails_with 2 "empty is empty, so that the format is not known" '`--format` tells it' empty all.jsonl
}

# ---- compression ----

compressed_files_are_unpacked() {
    gzip -c first.jsonl > first.gz
    gzip -c second.jsonl > second.jsonl.gz
    "$ocdm" sample -q -m 100 all.jsonl > want
    "$ocdm" sample -q -m 100 first.gz second.jsonl.gz | cmp want - && "$ocdm" sample -q -m 100 first.jsonl second.jsonl.gz | cmp want - &&
        cat first.gz second.jsonl.gz | "$ocdm" sample -q -m 100 | cmp want - || return 1
    dd if=first.gz bs=7 2> /dev/null | "$ocdm" sample -q -m 100 - second.jsonl | cmp want -
}

zstd_is_unpacked() {
    zstd -qc first.jsonl > first.zst && zstd -qc second.jsonl > second.zst
    "$ocdm" sample -q -m 100 all.jsonl > want
    "$ocdm" sample -q -m 100 first.zst second.zst | cmp want - && cat first.zst second.zst | "$ocdm" sample -q -m 100 | cmp want -
}

damaged_files_are_errors() {
    local hint='the file is damaged or incomplete: fetch or make it again'
    gzip -c all.jsonl > whole.gz
    zstd -qc all.jsonl > whole.zst
    head -c 5000 whole.gz > cut.gz
    head -c 5000 whole.zst > cut.zst
    fails_with 4 "cut.gz: gzip data: it ends too early" "$hint" cut.gz && fails_with 4 "cut.zst: zstd data: it ends too early" "$hint" cut.zst || return 1
    { head -c 3000 whole.gz; head -c 2000 /dev/zero; tail -c +5001 whole.gz; } > torn.gz
    run "$ocdm" sample -q torn.gz
    same 4 "$code" && same "" "$(cat "$out")" && grep -q '^error: torn.gz: gzip data: ' "$err" || return 1
    { cat whole.gz; echo garbage; } > tail.gz
    run "$ocdm" sample -q tail.gz
    same 4 "$code" && grep -q '^error: tail.gz: gzip data: incorrect header check' "$err"
}

unpacks_in_bounded_memory() {
    awk 'BEGIN { while (length(text) < 100000) text = text "some more to read, "
                 for (i = 0; i < 2000; i++) printf "{\"labels\":[%d],\"text\":\"%s\"}\n", i % 50, text }' | gzip -1 |
        in_little_memory 60 "$ocdm" sample -q -m 10 > "$out" 2> "$err"
    code=$?
    same 0 "$code" && same 10 "$(wc -l < "$out")"
}

# ---- files that are not records ----

says_what_a_file_is() {
    printf '[{"labels":["a"]},\n {"labels":["b"]}]\n' > array.json
    printf '{\n  "labels": ["a"]\n}\n' > pretty.json
    printf '{"labels":["a"]}\n' > lines.csv
    printf 'PAR1\0\0\0\0\0' > table.parquet
    printf '\377\376l\0a\0b\0' > wide.csv
    fails_with 3 "array.json: a JSON array, not JSON Lines" "one object per line is wanted: jq -c '.[]' 'array.json' > records.jsonl" array.json &&
        fails_with 3 "pretty.json: a JSON object over several lines, not JSON Lines" \
            "one object per line is wanted: jq -c . 'pretty.json' > records.jsonl" pretty.json &&
        fails_with 3 "lines.csv: JSON, not csv" "--format jsonl reads it" lines.csv &&
        fails_with 3 "table.parquet: a Parquet file, not records" \
            "python3 -c \"import pandas; pandas.read_parquet('table.parquet').to_json('records.jsonl', orient='records', lines=True)\"" \
            table.parquet &&
        fails_with 3 "wide.csv: UTF-16 text, not records" "iconv -f UTF-16 -t UTF-8 wide.csv > records.csv" wide.csv || return 1
    gzip -c array.json > array.json.gz
    fails_with 3 "array.json.gz: a JSON array, not JSON Lines" "one object per line is wanted: jq -c '.[]' 'array.json.gz' > records.jsonl" array.json.gz
    gzip -c array.json.gz > twice.gz
    fails_with 3 "twice.gz: packed twice" "unpack it once first" twice.gz
}

# ---- how many, and where to ----

capacity_has_units_and_shares() {
    "$ocdm" sample -q -m 1000 all.jsonl > want && "$ocdm" sample -q -m 1k all.jsonl | cmp want - || return 1
    "$ocdm" sample -q -m 300 all.jsonl > want && "$ocdm" sample -q -m 10% first.jsonl second.jsonl | cmp want - || return 1
    same 4 "$("$ocdm" sample -q -m 0.12% all.jsonl | wc -l)" && same 1 "$("$ocdm" sample -q -m 0.001% all.jsonl | wc -l)" &&
        same 3000 "$("$ocdm" sample -q -m 1M all.jsonl | wc -l)" || return 1
    fails_with 2 "-m with % counts the records first, and standard input can be read once only" \
        "name the files, or say how many records to keep" -m 10% || return 1
    for value in 0% 101% % k 1kk 1K -5% 99999M; do
        run "$ocdm" sample -m "$value" all.jsonl
        same 2 "$code" && grep -q '^error: --memory ' "$err" || { echo "-m $value"; return 1; }
    done
}

output_file_is_whole_or_old() {
    echo old > kept.jsonl
    run "$ocdm" sample -q -m 50 -o kept.jsonl all.jsonl
    same 0 "$code" && same "" "$(cat "$out")" && "$ocdm" sample -q -m 50 all.jsonl | cmp kept.jsonl - || return 1
    { cat first.jsonl; echo bad; } > bad.jsonl
    run "$ocdm" sample -q -m 50 -o kept.jsonl bad.jsonl
    same 3 "$code" && same 50 "$(wc -l < kept.jsonl)" || return 1
    run "$ocdm" sample -o all.jsonl all.jsonl
    same 2 "$code" && grep -q '^error: the input and --output are the same file' "$err"
}

says_that_it_reads_stdin() {
    script -qec "'$ocdm' sample -m 5" /dev/null <<< $'\x04' | grep -q 'reading records from standard input; Ctrl-D ends it' &&
        ! script -qec "'$ocdm' sample -q -m 5" /dev/null <<< $'\x04' | grep -q 'reading records'
}

# ---- which labels ----

animals() {
    awk 'BEGIN { for (i = 0; i < 2000; i++) printf "{\"id\":%d,\"labels\":[\"%s\"%s]}\n", i, i % 2 ? "cat" : "dog", i % 10 ? "" : ",\"indoors\"" }'
}

labels_are_ignored() {
    animals > animals.jsonl
    run "$ocdm" sample -q -m 100 --ignore indoors,rain --summary summary.json animals.jsonl
    same 0 "$code" && grep -q '"records":2000,"skipped":0,"unlabelled":0,"passed":0,"kept":100,"classes":2,' summary.json && ! grep -q indoors summary.json || return 1
    run "$ocdm" sample --only indoors --summary summary.json animals.jsonl
    same 0 "$code" && same 200 "$(grep -c indoors "$out")" && same 200 "$(wc -l < "$out")" &&
        grep -q '"records":200,"skipped":0,"unlabelled":0,"passed":1800,"kept":200,"classes":1,' summary.json &&
        grep -q '^1800 records have none of the labels that count$' "$err" || return 1
    fails_with 2 "--ignore and --only are both given" "leave one of the two out" --ignore a --only b animals.jsonl &&
        fails_with 2 '"" in --only is not a label' "write it as in --only cat,dog; a label with a comma goes into double quotes" --only a,,b animals.jsonl
}

# What is passed over is not held: two million lines between two records of the label.
passing_over_takes_no_memory() {
    { echo '{"labels":["rare"]}'; awk 'BEGIN { for (i = 0; i < 2000000; i++) print "{\"labels\":[\"common\"],\"x\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}" }'
      echo '{"labels":["rare"]}'; } | in_little_memory 60 "$ocdm" sample -q --only rare > "$out" 2> "$err"
    code=$?
    same 0 "$code" && same 2 "$(wc -l < "$out")" || return 1
    awk 'BEGIN { for (i = 0; i < 1000000; i++) print "{\"id\":1,\"labels\":[\"a\"],\"x\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}" }' |
        in_little_memory 60 "$ocdm" sample -q --on-duplicate skip > "$out" 2> "$err"
    code=$?
    same 0 "$code" && same 1 "$(wc -l < "$out")"
}

minimums_hold() {
    awk 'BEGIN { for (i = 0; i < 3000; i++) printf "{\"id\":%d,\"labels\":[\"%s\"]}\n", i, i % 100 ? "c" i % 7 : "rare" }' > rare.jsonl
    "$ocdm" sample -q -m 70 rare.jsonl | grep -c rare > plain
    run "$ocdm" sample -q -m 70 --min rare=25,never=3 --trace trace --summary summary.json rare.jsonl
    same 0 "$code" && same 70 "$(wc -l < "$out")" && same 25 "$(grep -c rare "$out")" && [ "$(cat plain)" -lt 15 ] &&
        same 300 "$(grep -c '"spared":[0-9]*,"size"' trace)" && grep -q '"spared":[1-9]' trace && ! grep -q never summary.json || return 1
    fails_with 2 "the minimum a=71 is more than the memory holds, 70 records" "a larger -m, or a smaller minimum" -m 70 --min a=71,b=1 rare.jsonl &&
        fails_with 2 'the minimum "a" is not label=number of records' "write it as in --min cat=20,dog=5, or --min 5 for every label; a label with a comma goes into double quotes" --min a rare.jsonl &&
        fails_with 2 'the minimum "a=1.5" is not label=number of records' "write it as in --min cat=20,dog=5, or --min 5 for every label; a label with a comma goes into double quotes" --min a=1.5 rare.jsonl &&
        fails_with 2 "--min works with the policies ocdm and onlyone and the distance kl only" \
            "leave --min out, or take -p ocdm --distance kl" -p rs --min a=1 rare.jsonl
}

check several_files_are_read_as_one several_files_are_one
check bad_record_is_named_by_its_own_file names_the_file_of_a_bad_record
check headers_of_later_files_are_no_records later_headers_are_no_records
check files_of_different_kinds_do_not_mix kinds_do_not_mix
check gzip_is_unpacked_by_content compressed_files_are_unpacked
check zstd_is_unpacked_by_content zstd_is_unpacked
check damaged_compressed_files_are_errors damaged_files_are_errors
check compressed_files_take_bounded_memory unpacks_in_bounded_memory
check files_that_are_not_records_are_named says_what_a_file_is
check capacity_takes_units_and_shares capacity_has_units_and_shares
check output_file_is_replaced_whole output_file_is_whole_or_old
check terminal_is_told_that_stdin_is_read says_that_it_reads_stdin
check ignored_labels_do_not_count labels_are_ignored
check records_that_are_passed_over_take_no_memory passing_over_takes_no_memory
check minimums_are_kept minimums_hold
finish
