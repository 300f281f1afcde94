#!/usr/bin/env bash
# `ocdm split`, and `ocdm sample --rest`: sizes, bytes, formats, groups, mistakes. What is minimised is in unit/test_split.c.
# $1: the program.
. "$(dirname "$0")/tap.sh"
ocdm=$1
cd "$place" || exit 1

awk 'BEGIN { for (i = 0; i < 1000; i++)
    printf "{\"id\":%d,  \"labels\":[\"c%d\"%s],\"patient\":%s}\n", i, i * i % 23, i % 3 ? "" : ",\"c" i * 7 % 23 "\"",
        i % 2 ? i % 200 : "\"p" i % 200 "\"" }' > all.jsonl

in_order() { # in_order FILE ALL: the lines of FILE are lines of ALL, in its order
    diff "$1" "$2" | grep -c '^<' | grep -qx 0
}

together() { # together ALL PART...: the parts have every line of ALL once
    local all=$1
    shift
    cmp <(sort "$all") <(cat "$@" | sort)
}

sizes_are_exact_and_lines_are_kept() {
    run "$ocdm" split all.jsonl --parts train=70%,val=10%,test=20% -o parts
    same 0 "$code" && same "700 100 200" "$(wc -l < parts/train.jsonl) $(wc -l < parts/val.jsonl) $(wc -l < parts/test.jsonl)" &&
        together all.jsonl parts/*.jsonl && in_order parts/train.jsonl all.jsonl && same 3 "$(ls parts | wc -l)"
}

numbers_folds_and_the_default_are_understood() {
    "$ocdm" split -q all.jsonl --parts a=1,b=999 -o numbers && same 1 "$(wc -l < numbers/a.jsonl)" &&
        "$ocdm" split -q all.jsonl --folds 3 -o folds && same "333 333 334" "$(wc -l < folds/fold-1.jsonl) $(wc -l < folds/fold-3.jsonl) $(wc -l < folds/fold-2.jsonl)" &&
        together all.jsonl folds/*.jsonl && "$ocdm" split -q all.jsonl -o default && same "200 800" "$(wc -l < default/test.jsonl) $(wc -l < default/train.jsonl)" &&
        "$ocdm" split -q all.jsonl --test 123 -o default && same "123 877" "$(wc -l < default/test.jsonl) $(wc -l < default/train.jsonl)"
}

labels_keep_their_shares() {
    local label counts
    for label in $(seq 0 22); do
        counts=$(grep -c "\"c$label\"" parts/test.jsonl)
        awk -v all="$(grep -c "\"c$label\"" all.jsonl)" -v part="$counts" 'BEGIN { exit !(part >= all / 5 - 1.5 && part <= all / 5 + 1.5) }' ||
            { echo "c$label: $counts"; return 1; }
    done
}

every_format_is_split() {
    printf 'id,tags\r\n' > a.csv
    awk 'BEGIN { for (i = 0; i < 40; i++) printf "%d,\"a %d;\nb\"\n", i, i % 4 }' >> a.csv
    printf 'x\tlabels\n' > a.tsv
    awk 'BEGIN { for (i = 0; i < 40; i++) printf "%d\tl%d;m\n", i, i % 4 }' >> a.tsv
    awk 'BEGIN { for (i = 0; i < 40; i++) printf "%d,9 1:0.5 2:1\n", i % 4 }' > a.svm
    "$ocdm" split -q a.csv --labels tags --parts one=10,two=30 -o csv && same "id,tags" "$(head -n 1 csv/one.csv | tr -d '\r')" &&
        same "21 61" "$(wc -l < csv/one.csv) $(wc -l < csv/two.csv)" && together <(sed 1d a.csv) <(sed 1d csv/one.csv) <(sed 1d csv/two.csv) &&
        "$ocdm" split -q a.tsv --folds 2 -o tsv && same "21 21" "$(wc -l < tsv/fold-1.tsv) $(wc -l < tsv/fold-2.tsv)" &&
        "$ocdm" split -q a.svm --format svm --folds 4 -o svm && together a.svm svm/fold-?.svm && same 10 "$(wc -l < svm/fold-4.svm)"
}

pipes_and_several_packed_files_are_read() {
    head -n 500 all.jsonl | gzip > 1.gz
    tail -n 500 all.jsonl | zstd -q > 2.zst
    "$ocdm" split -q 1.gz 2.zst -o packed || return 1
    "$ocdm" split -q all.jsonl -o plain && cmp packed/test.jsonl plain/test.jsonl && "$ocdm" split -q -o pipe < all.jsonl && cmp pipe/test.jsonl plain/test.jsonl
}

a_seed_repeats_and_another_differs() {
    "$ocdm" split -q all.jsonl --seed 7 -o one && "$ocdm" split -q all.jsonl --seed 7 -o two && cmp one/test.jsonl two/test.jsonl &&
        "$ocdm" split -q all.jsonl --seed 8 -o two && ! cmp -s one/test.jsonl two/test.jsonl
}

groups_stay_together() {
    "$ocdm" split -q all.jsonl --group patient --test 25% -o groups && same 250 "$(wc -l < groups/test.jsonl)" &&
        same "" "$(comm -12 <(grep -o '"patient".*' groups/test.jsonl | sort -u) <(grep -o '"patient".*' groups/train.jsonl | sort -u))"
}

the_table_names_labels_that_are_too_rare() {
    { cat all.jsonl; echo '{"labels":["seldom","ra\u0007re"]}'; } > rare.jsonl
    run "$ocdm" split rare.jsonl --folds 2
    same 0 "$code" && grep -qx 'too rare for all parts: 2 labels: seldom, ra\\x07re' "$out" && grep -qE '^fold-1 +50[01] ' "$out" && same "" "$(cat "$err")"
}

json_has_the_same() {
    run "$ocdm" split rare.jsonl --folds 2 --json -o json
    same 0 "$code" && same 'records 1001 parts 2 500 missing 0 rare 2 True' "$(/usr/bin/python3 -c '
import json, sys
r = json.load(sys.stdin)
print("records", r["records"], "parts", len(r["parts"]), min(p["records"] for p in r["parts"]), "missing", r["parts"][0]["balance"]["missing"],
      "rare", len(r["rare"]), r["parts"][0]["balance"]["label_error"] < r["parts"][0]["random"]["label_error"])' < "$out")"
}

records_without_labels_are_split_too() {
    awk 'BEGIN { for (i = 0; i < 100; i++) print i % 2 ? "{\"labels\":[]}" : "{\"labels\":[\"a\"]}" }' > empty.jsonl
    "$ocdm" split -q empty.jsonl -o empty && same 10 "$(grep -c '\[\]' empty/test.jsonl)"
}

refused() { # refused CODE MESSAGE ARGUMENT...
    local wanted=$1 message=$2
    shift 2
    run "$ocdm" split "$@" -o refused
    same "$wanted" "$code" && grep -qF -- "$message" "$err" && same 1 "$(grep -c '^error: ' "$err")" && [ ! -e refused/train.jsonl ]
}

mistakes_are_one_error() {
    refused 2 "the shares sum to 0.9, not to 1" all.jsonl --parts a=50%,b=40% &&
        refused 2 "do not sum to 1000" all.jsonl --parts a=50,b=40 &&
        refused 2 "--parts \"a=50,b=5%\"" all.jsonl --parts a=50,b=5% &&
        refused 2 "--parts \"a=5,a=995\"" all.jsonl --parts a=5,a=995 &&
        refused 2 "--parts \"../a=5,b=995\"" all.jsonl --parts ../a=5,b=995 &&
        refused 2 "--parts \"\"" all.jsonl --parts "" &&
        refused 2 "part 2 would be empty" all.jsonl --parts a=99.99%,b=0.01% &&
        refused 2 "--test \"100%\"" all.jsonl --test 100% && refused 2 "--test \"x\"" all.jsonl --test x &&
        refused 2 "part 1 is empty" all.jsonl --test 1000 && refused 2 "exclude each other" all.jsonl --test 5 --folds 2 &&
        refused 2 "part 1 would be empty" empty.jsonl --folds 300 &&
        refused 3 "the record has no value of --group" all.jsonl --group nothing &&
        refused 3 "no records" /dev/null --format jsonl || return 1
    awk 'BEGIN { for (i = 0; i < 10; i++) print "{\"labels\":[\"a\"],\"g\":" (i < 9) "}" }' > one.jsonl
    refused 2 "a group has 9 samples, and the largest part 8" one.jsonl --group g && refused 2 "there are more parts, 5, than groups, 2" one.jsonl --folds 5 --group g
}

a_bad_record_ends_it_unless_it_is_skipped() {
    { cat all.jsonl; echo '{"labels":7'; echo '{"labels":["c1"]}'; } > bad.jsonl
    refused 3 "bad.jsonl:1001:" bad.jsonl && run "$ocdm" split bad.jsonl --skip-bad --json -o skipped
    same 0 "$code" && grep -q '"records":1001,"skipped":1,' "$out" && same 1001 "$(cat skipped/*.jsonl | wc -l)"
}

all_files_are_written_or_none() {
    mkdir -p half/test.jsonl
    echo old > half/train.jsonl
    run "$ocdm" split all.jsonl -o half
    same 4 "$code" && same old "$(cat half/train.jsonl)" && same 2 "$(ls -A half | wc -l)"
}

# ---- sample --rest

rest_has_what_is_not_kept() {
    "$ocdm" sample -q -m 100 --rest rest.jsonl all.jsonl > kept.jsonl && same "100 900" "$(wc -l < kept.jsonl) $(wc -l < rest.jsonl)" && together all.jsonl kept.jsonl rest.jsonl &&
        "$ocdm" sample -q -m 1 -b 7 --rest rest.jsonl all.jsonl > kept.jsonl && together all.jsonl kept.jsonl rest.jsonl &&
        "$ocdm" sample -q -m 10000 --rest rest.jsonl all.jsonl > kept.jsonl && same 0 "$(wc -c < rest.jsonl)"
}

rest_has_records_that_were_left_out() {
    "$ocdm" sample -q -m 5 --rest rest.jsonl empty.jsonl > kept.jsonl && same 50 "$(grep -c '\[\]' rest.jsonl)" && together empty.jsonl kept.jsonl rest.jsonl &&
        "$ocdm" sample -q -m 5 --ignore c1 --rest rest.jsonl all.jsonl > kept.jsonl && together all.jsonl kept.jsonl rest.jsonl
}

rest_of_a_table_has_its_header() {
    "$ocdm" sample -q -m 10 --labels tags --rest rest.csv a.csv > kept.csv && same "$(head -n 1 a.csv)" "$(head -n 1 rest.csv)" && same 61 "$(wc -l < rest.csv)"
}

rest_is_a_file_of_its_own() {
    cp all.jsonl copy.jsonl
    for other in "copy.jsonl" "-o rest.jsonl all.jsonl"; do
        # shellcheck disable=SC2086
        run "$ocdm" sample --rest "$(case $other in copy*) echo copy.jsonl ;; *) echo rest.jsonl ;; esac)" $other
        same 2 "$code" && grep -q "same file" "$err" || return 1
    done
    cmp all.jsonl copy.jsonl
}

check sizes_are_exact_and_lines_are_kept sizes_are_exact_and_lines_are_kept
check numbers_folds_and_the_default_are_understood numbers_folds_and_the_default_are_understood
check labels_keep_their_shares labels_keep_their_shares
check every_format_is_split every_format_is_split
check pipes_and_several_packed_files_are_read pipes_and_several_packed_files_are_read
check a_seed_repeats_and_another_differs a_seed_repeats_and_another_differs
check groups_stay_together groups_stay_together
check the_table_names_labels_that_are_too_rare the_table_names_labels_that_are_too_rare
check json_has_the_same json_has_the_same
check records_without_labels_are_split_too records_without_labels_are_split_too
check mistakes_are_one_error mistakes_are_one_error
check a_bad_record_ends_it_unless_it_is_skipped a_bad_record_ends_it_unless_it_is_skipped
check all_files_are_written_or_none all_files_are_written_or_none
check rest_has_what_is_not_kept rest_has_what_is_not_kept
check rest_has_records_that_were_left_out rest_has_records_that_were_left_out
check rest_of_a_table_has_its_header rest_of_a_table_has_its_header
check rest_is_a_file_of_its_own rest_is_a_file_of_its_own
finish
