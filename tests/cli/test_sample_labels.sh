#!/usr/bin/env bash
# `ocdm sample` and labels: records without them, labels that look misread, what options say about labels by name. $1: the program.
. "$(dirname "$0")/tap.sh"
ocdm=$1
cd "$place" || exit 1

# fails CODE MESSAGE HINT WORDS...
fails() {
    local want=$1 message=$2 hint=$3
    shift 3
    run "$ocdm" sample "$@"
    same "$want" "$code" && same "" "$(cat "$out")" && same "error: $message" "$(head -n 1 "$err")" && same "hint: $hint" "$(sed -n 2p "$err")"
}

# Posters as a new user has them: 1,000, every tenth without a genre, nearly all others dramas.
awk 'BEGIN { split("Comedy War Western", rare, " ")
    for (i = 0; i < 1000; i++)
        printf "{\"id\":%d,\"labels\":[%s]}\n", i, i % 10 == 3 ? "" : "\"" (i % 25 ? "Drama" : rare[i / 25 % 3 + 1]) "\"" }' > posters.jsonl

# ---- records without labels ----

unlabelled_are_left_out() {
    run "$ocdm" sample -m 200 --summary s.json posters.jsonl
    same 0 "$code" && same 0 "$(grep -c '\[\]' "$out")" && same 200 "$(wc -l < "$out")" && grep -q '^{"records":900,"skipped":0,"unlabelled":100,"kept":200,' s.json &&
        grep -qx 'warning: 100 of 1000 records have no label and were left out (--unlabelled keep samples them too)' "$err" || return 1
    grep -v '\[\]' posters.jsonl > labelled.jsonl
    "$ocdm" sample -q -m 200 labelled.jsonl | cmp - "$out"
}

unlabelled_are_kept_when_asked() {
    run "$ocdm" sample -m 200 --unlabelled keep --summary s.json posters.jsonl
    same 0 "$code" && [ "$(grep -c '\[\]' "$out")" -gt 90 ] && grep -q '^{"records":1000,"skipped":0,"unlabelled":0,"kept":200,' s.json && ! grep -q warning "$err"
}

unlabelled_are_an_error_when_asked() {
    fails 3 'posters.jsonl:4:7: no label' '--unlabelled drop leaves such records out' -m 200 --unlabelled error posters.jsonl || return 1
    run "$ocdm" sample -m 200 --unlabelled error --skip-bad posters.jsonl
    same 0 "$code" && grep -q '^skipped 100 bad records, the first: posters.jsonl:4:7: no label$' "$err" || return 1
    printf '{"labels":"a"}\n{"labels":""}\n{"labels":["","b"]}\n' > blank.jsonl
    run "$ocdm" sample --summary s.json blank.jsonl
    same 0 "$code" && grep -q '^{"records":2,"skipped":0,"unlabelled":1,"kept":2,"classes":2,' s.json || return 1
    printf 'id,labels\n1,a\n2,\n' > empty.csv
    fails 3 'empty.csv:3:1: no label' '--unlabelled drop leaves such records out' --unlabelled error empty.csv || return 1
    "$ocdm" sample --help | grep -q 'no member or column of labels' && "$ocdm" sample --help | grep -q -- '--unlabelled'
}

shards_add_up_unlabelled() {
    head -n 500 posters.jsonl > a.jsonl
    tail -n 500 posters.jsonl > b.jsonl
    "$ocdm" sample -q -m 50 --shard 0 --summary a.json -o a.kept a.jsonl && "$ocdm" sample -q -m 50 --shard 1 --unlabelled keep --summary b.json -o b.kept b.jsonl || return 1
    run "$ocdm" merge -m 100 a.kept b.kept --summary a.json b.json --merged-summary m.json
    same 0 "$code" && cat a.kept b.kept | cmp - "$out" && grep -q '"unlabelled":50,' m.json && grep -qx 'warning: 50 of 1000 records .*' "$err"
}

# ---- how many labels ----

# One record in ten has three labels that others have alone: a balanced memory can do without them, one with the stream's shares cannot.
labels_per_record_are_told() {
    awk 'BEGIN { for (i = 0; i < 3000; i++) printf "{\"id\":%d,\"labels\":[%s]}\n", i, i % 10 ? "\"c" i % 3 "\"" : "\"c0\",\"c1\",\"c2\"" }' > triples.jsonl
    run "$ocdm" sample -m 100 --summary s.json triples.jsonl
    local mean
    mean=$(awk '{ n += gsub(/"c[0-9]/, "") } END { printf "%.2f", n / NR }' "$out")
    same 0 "$code" && grep -q "^kept 100 of 3000 records, 3 classes, .*, $mean labels a record, 1.20 in the stream$" "$err" && grep -q '"labels_seen":1.2,' s.json &&
        same "$mean" "$(grep -o '"labels":[0-9.]*' s.json | cut -d: -f2 | xargs printf %.2f)" || return 1
    "$ocdm" stream build --records triples.jsonl -q -o triples.st && run "$ocdm" compare triples.st --model none --methods rs,ocdm --memory 100 --seeds 1 -o m
    same 0 "$code" && grep -q 'labels' "$out" && grep -q 'Labels: per sample in memory; the stream has 1.20.' "$out"
}

# ---- when they came ----

# deciles WORDS...: how many of 200 kept records come from each tenth of the stream, whose labels are in no order.
deciles() {
    "$ocdm" sample -q -m 200 --shard 0 --summary s.json "$@" shuffled.jsonl > kept || return 1
    grep -o '"kept_at":[^]]*' s.json | grep -o '[0-9]\+' | awk '{ count[int($1 / 1000)]++ } END { for (i = 0; i < 10; i++) printf "%d ", count[i] }'
}

# A sample is not a uniform draw over time, and docs/methods.md tells for which policies: only rs draws uniformly.
share_of_each_tenth_is_as_documented() {
    awk 'BEGIN { srand(7); for (i = 0; i < 10000; i++) { a = int(40 * rand() * rand()); b = int(40 * rand() * rand()); c = int(40 * rand() * rand())
        printf "{\"id\":%d,\"labels\":[\"c%d\"%s%s]}\n", i, a, b == a || rand() < 0.2 ? "" : ",\"c" b "\"", c == a || c == b || rand() < 0.4 ? "" : ",\"c" c "\"" } }' > shuffled.jsonl
    local counts rs greedy rho prs random
    rs=$(deciles -p rs) && greedy=$(deciles) && rho=$(deciles --rho 1) && prs=$(deciles -p prs) && random=$(deciles -p random) || return 1
    echo "rs $rs; ocdm $greedy; rho 1 $rho; prs $prs; random $random"
    for counts in "$rs" "$greedy" "$rho" "$prs" "$random"; do
        same 200 "$(awk '{ for (i = 1; i <= 10; i++) sum += $i; print sum }' <<< "$counts")" || return 1
    done
    awk -v n="$rs" 'BEGIN { split(n, at, " "); for (i = 1; i <= 10; i++) if (at[i] < 7 || at[i] > 38) exit 1 }' || return 1
    [ "$(cut -d' ' -f10 <<< "$greedy")" -gt 38 ] && [ "$(cut -d' ' -f10 <<< "$rho")" -gt 60 ] && [ "$(cut -d' ' -f1 <<< "$prs")" -gt 60 ] &&
        [ "$(cut -d' ' -f10 <<< "$random")" -gt 190 ]
}

# ---- labels that look misread ----

joined_labels_in_json_are_doubted() {
    printf '{"labels":"Comedy,Drama"}\n{"labels":"War, Western"}\n{"labels":"Drama"}\n{"labels":"Co\\u006dedy,War"}\n' > joined.jsonl
    run "$ocdm" sample --summary s.json joined.jsonl
    same 0 "$code" && grep -qx "warning: labels such as Comedy,Drama look like several: --sep ','" "$err" || return 1
    run "$ocdm" sample --sep , --summary s.json joined.jsonl
    same 0 "$code" && cmp joined.jsonl "$out" && same 'Comedy Drama War Western' "$(grep -o '"label":"[^"]*' s.json | cut -d'"' -f4 | xargs)" && ! grep -q warning "$err" || return 1
    same '2 2 2 1' "$(grep -o '"seen":[0-9]*' s.json | cut -d: -f2 | xargs)" || return 1
    printf '{"labels":["a,b","c"]}\n{"labels":["d,e"]}\n' > lists.jsonl
    run "$ocdm" sample lists.jsonl
    same 0 "$code" && ! grep -q warning "$err"
}

labels_in_two_spellings_are_doubted() {
    printf '{"labels":["Drama","war"]}\n{"labels":["drama "]}\n{"labels":["DRAMA"]}\n{"labels":["War zone"]}\n' > mixed.jsonl
    run "$ocdm" sample mixed.jsonl
    same 0 "$code" && grep -qx 'warning: 2 of 5 labels differ from others only in case or in spaces, such as "drama " from "Drama": write each label in one way' "$err" || return 1
    run "$ocdm" stream info mixed.jsonl
    same 0 "$code" && grep -q '^warning: 2 of 5 labels differ' "$err" || return 1
    run "$ocdm" stream build --records mixed.jsonl -o mixed.st
    same 0 "$code" && grep -q '^warning: 2 of 5 labels differ' "$err" || return 1
    run "$ocdm" sample posters.jsonl
    ! grep -q 'differ from others' "$err"
}

# ---- labels by name ----

labels_that_never_occur_are_named() {
    local option
    for option in --weight=Wra=10 --min=Wra=10,Drama=2 --ignore=Wra --only=Wra,Drama; do
        run "$ocdm" sample -m 50 "${option%%=*}" "${option#*=}" posters.jsonl
        same 0 "$code" && same 1 "$(grep -c '^warning: no record has the label' "$err")" &&
            grep -qx "warning: no record has the label Wra of ${option%%=*}; did you mean War?" "$err" || { echo "$option"; return 1; }
        run "$ocdm" sample -q -m 50 "${option%%=*}" "${option#*=}" posters.jsonl
        same "" "$(cat "$err")" || return 1
    done
    run "$ocdm" sample -m 50 --min Wester=1,nothing=1,other=1,Drama=1 posters.jsonl
    grep -qx 'warning: no record has the label Wester of --min; nor 2 more of its labels; did you mean Western?' "$err" || return 1
    run "$ocdm" sample -m 50 --ignore War --min Comedy=3 --weight Western=2 posters.jsonl
    same 0 "$code" && ! grep -q 'no record has' "$err"
}

label_named_twice_is_an_error() {
    fails 2 '--min names the label War twice' 'leave one of the two out' --min War=1,Drama=2,War=3 posters.jsonl &&
        fails 2 '--weight names the label War twice' 'leave one of the two out' --weight War=1,War=1 posters.jsonl &&
        fails 2 '--only names the label War twice' 'leave one of the two out' --only War,War posters.jsonl || return 1
    run "$ocdm" sample -q --min War=1 --weight War=2 posters.jsonl
    same 0 "$code"
}

labels_with_commas_can_be_named() {
    local hint='write it as in --min cat=20,dog=5, or --min 5 for every label; a label with a comma goes into double quotes'
    awk 'BEGIN { for (i = 0; i < 300; i++) printf "{\"id\":%d,\"labels\":[\"%s\"]}\n", i, i % 50 ? "c" i % 5 : i % 100 ? "say \\\"hi\\\"" : "Action, Western" }' > commas.jsonl
    run "$ocdm" sample -m 10 --min '"Action, Western"=3,"say ""hi"""=2' commas.jsonl
    same 0 "$code" && same 3 "$(grep -c Action "$out")" && same 2 "$(grep -c say "$out")" && ! grep -q warning "$err" || return 1
    run "$ocdm" sample -q --only '"Action, Western","c1"' commas.jsonl
    same 0 "$code" && same 63 "$(wc -l < "$out")" || return 1
    fails 2 'the minimum ""Action, Western=3" is not label=number of records' "$hint" --min '"Action, Western=3' commas.jsonl &&
        fails 2 'the minimum ""a"b=3" is not label=number of records' "$hint" --min '"a"b=3' commas.jsonl &&
        fails 2 'the minimum "Action" is not label=number of records' "$hint" --min 'Action, Western=3' commas.jsonl
}

# ---- minimums ----

minimum_for_every_label() {
    # a record serves two labels: 8 of each of 14 labels need 56 records, not 112
    awk 'BEGIN { for (i = 0; i < 3000; i++) { k = i % 50 ? 0 : i / 50 % 7; printf "{\"id\":%d,\"labels\":[\"a%d\",\"b%d\"]}\n", i, k, k } }' > pairs.jsonl
    run "$ocdm" sample -q -m 60 --min 8,a0=3,b0=3 --summary s.json pairs.jsonl
    same 0 "$code" && same 60 "$(wc -l < "$out")" && same 14 "$(grep -o '"kept":[0-9]*,"target"' s.json | wc -l)" || return 1
    grep -o '"label":"[^"]*","seen":[0-9]*,"kept":[0-9]*' s.json | awk -F'[:,"]+' '{ if ($NF < ($3 ~ /0/ ? 3 : 8)) { print; bad = 1 } } END { exit bad }' || return 1
    fails 2 'the minimum 61 is more than the memory holds, 60 records' 'a larger -m, or a smaller minimum' -m 60 --min 61 pairs.jsonl
}

# Six labels of one record each do not fit into five records; three records with two labels each do.
minimums_that_do_not_fit() {
    printf '{"labels":["a"]}\n{"labels":["b"]}\n{"labels":["c"]}\n{"labels":["d"]}\n{"labels":["e"]}\n{"labels":["f"]}\n' > six.jsonl
    fails 5 'the minimums do not fit into 5 samples: whichever of memory and batch left, a class would fall below its minimum' \
        'a larger memory, or smaller minimums' -m 5 --min 1 six.jsonl || return 1
    printf '{"labels":["a","b"]}\n{"labels":["c","d"]}\n{"labels":["e","f"]}\n{"labels":["a","b"]}\n{"labels":["a","c"]}\n' > three.jsonl
    run "$ocdm" sample -q -m 3 --min a=1,b=1,c=1,d=1,e=1,f=1 three.jsonl
    same 0 "$code" && same 3 "$(wc -l < "$out")"
}

# ---- other tables ----

columns_between_semicolons() {
    local hint="\`--delimiter ';'\`, if that is between the columns"
    printf 'id;labels;note\n1;a|b;"x;y"\n2;a;z\n' > semi.csv
    fails 3 'semi.csv:1:1: no column named "labels"; the columns are: id;labels;note' "$hint" semi.csv || return 1
    run "$ocdm" sample --delimiter ';' --sep '|' --summary s.json semi.csv
    same 0 "$code" && cmp semi.csv "$out" && grep -q '"label":"a","seen":2,' s.json && grep -q '"label":"b","seen":1,' s.json || return 1
    printf 'id;labels;split\n1;a|b;train\n2;"a";"test"\n' > split.csv
    run "$ocdm" stream build --records split.csv --delimiter ';' --sep '|' -q -o split.st
    same 0 "$code" && "$ocdm" stream info --json split.st | grep -q '"train":1,"test":1,"classes":2,' || return 1
    fails 2 '`--delimiter` does not apply to the format jsonl' 'leave it out, or take `--format csv`' --delimiter ';' posters.jsonl &&
        fails 2 'the delimiter "ab" is not one ASCII character, other than a quote or a blank' 'such as `--delimiter '"';'"'`; `--format tsv` has tabs' \
            --delimiter ab semi.csv || return 1
    printf '1,a;b\n2,a\n' > bare.csv
    fails 3 'bare.csv:1:1: no column named "labels"; the columns are: 1,a;b' \
        "\`--labels NAME\` and \`--id NAME\` say which columns they are; a file without a header needs one: sed '1i id,labels' FILE" bare.csv
}

hints_fit_the_line() {
    local member='has no member "labels"; it has: id, tags'
    { head -n 50 posters.jsonl; echo '{"id":"x","tags":["a"]}'; } > late.jsonl
    fails 3 "late.jsonl:51:1: the record $member" '`--skip-bad` passes over bad records' late.jsonl || return 1
    tail -n 1 late.jsonl > first.jsonl
    fails 3 "first.jsonl:1:1: the record $member" '`--labels NAME` says where the labels are' first.jsonl
}

check records_without_labels_are_left_out unlabelled_are_left_out
check records_without_labels_are_kept_when_asked unlabelled_are_kept_when_asked
check records_without_labels_are_an_error_when_asked unlabelled_are_an_error_when_asked
check shards_add_up_records_without_labels shards_add_up_unlabelled
check labels_per_record_are_told_beside_the_stream labels_per_record_are_told
check share_of_each_tenth_is_as_documented share_of_each_tenth_is_as_documented
check joined_labels_in_json_are_doubted_and_split joined_labels_in_json_are_doubted
check labels_in_two_spellings_are_doubted labels_in_two_spellings_are_doubted
check labels_that_never_occur_are_named labels_that_never_occur_are_named
check label_named_twice_is_an_error label_named_twice_is_an_error
check labels_with_commas_can_be_named labels_with_commas_can_be_named
check minimum_for_every_label minimum_for_every_label
check minimums_that_do_not_fit_end_the_run minimums_that_do_not_fit
check columns_may_have_semicolons_between columns_between_semicolons
check hints_fit_the_line hints_fit_the_line
finish
