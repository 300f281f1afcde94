#!/usr/bin/env bash
# `ocdm sample --shard` and `ocdm merge`. That a merge decides as the naive greedy on the union is in property/test_merge.c.
# $1: the program.
. "$(dirname "$0")/tap.sh"
ocdm=$1
cd "$place" || exit 1

awk 'BEGIN { for (i = 0; i < 6000; i++)
    printf "{\"id\":%d,\"labels\":[\"c%d\"%s]}\n", i, i * i % 23, i % 3 ? "" : ",\"c" i * 7 % 23 "\"" }' > all.jsonl
split -n l/3 --numeric-suffixes=1 -a 1 --additional-suffix=.jsonl all.jsonl shard
for k in 1 2 3; do
    "$ocdm" sample -q -m 200 --rho 0.5 --seed 4 --shard "$k" --summary "$k.json" -o "$k.kept" "shard$k.jsonl" || exit 1
done

joins_the_shards() {
    run "$ocdm" merge -q -m 200 --merged-summary merged.json 1.kept 2.kept 3.kept --summary 1.json 2.json 3.json
    same 0 "$code" && same 200 "$(wc -l < "$out")" && same 200 "$(cat 1.kept 2.kept 3.kept | grep -cxFf "$out")" || return 1
    "$ocdm" sample -q -m 200 --rho 0.5 --seed 4 --summary whole.json all.jsonl > /dev/null
    same "$(grep -o '"label":"[^"]*","seen":[0-9]*' whole.json)" "$(grep -o '"label":"[^"]*","seen":[0-9]*' merged.json)" &&
        grep -q '"records":6000,"skipped":0,"unlabelled":0,"kept":200,"classes":23,' merged.json && grep -q '"policy":"ocdm","memory":200,' merged.json
}

order_of_shards_does_not_matter() {
    "$ocdm" merge -q -m 100 1.kept 2.kept 3.kept --summary 1.json 2.json 3.json > one &&
        "$ocdm" merge -q -m 100 3.kept 1.kept 2.kept --summary 3.json 1.json 2.json > two && cmp one two
}

keeps_all_that_fits() {
    "$ocdm" merge -q -m 1k 1.kept 2.kept 3.kept --summary 1.json 2.json 3.json | cmp <(cat 1.kept 2.kept 3.kept) - &&
        "$ocdm" merge -q -m 200 2.kept --summary 2.json | cmp 2.kept -
}

# Shard 0 decides as a stream that is no shard; other shards break ties in other ways.
shards_have_their_own_keys() {
    "$ocdm" sample -q -m 50 all.jsonl > none && "$ocdm" sample -q -m 50 --shard 0 all.jsonl > zero &&
        "$ocdm" sample -q -m 50 --shard 1 all.jsonl > one && cmp none zero && ! cmp -s none one
}

header_and_labels_come_through() {
    printf 'id,tags\n1,a|b\n2,c\n' > a.csv
    printf 'id,tags\n3,a\n4,b|c\n' > b.csv
    "$ocdm" sample -q --labels tags --sep '|' --shard 1 --summary a.json -o a.kept a.csv &&
        "$ocdm" sample -q --labels tags --sep '|' --shard 2 --summary b.json -o b.kept b.csv || return 1
    run "$ocdm" merge -q --labels tags --sep '|' -m 10 a.kept b.kept --summary a.json b.json
    same 0 "$code" && same "id,tags
1,a|b
2,c
3,a
4,b|c" "$(cat "$out")"
}

fails() { # fails CODE PATTERN WORDS...
    local want=$1 pattern=$2
    shift 2
    run "$ocdm" merge "$@"
    same "$want" "$code" && same "" "$(cat "$out")" && grep -q "^error: $pattern" "$err" && grep -q '^hint: ' "$err"
}

refuses_what_does_not_fit() {
    "$ocdm" sample -q --summary plain.json -o plain.kept shard1.jsonl
    "$ocdm" sample -q -m 200 --rho 1 --seed 4 --shard 9 --summary other.json -o other.kept shard1.jsonl
    "$ocdm" sample -q -m 200 -p rs --shard 9 --summary rs.json -o rs.kept shard1.jsonl
    fails 3 'plain.json: the summary of a sample that is no shard' plain.kept --summary plain.json &&
        fails 3 '1.json and 1.json are the same shard' 1.kept 1.kept --summary 1.json 1.json &&
        fails 3 '1.json and other.json differ in "rho"' 1.kept other.kept --summary 1.json other.json &&
        fails 3 'rs.json: only samples of the policies ocdm and onlyone' rs.kept --summary rs.json || return 1
    head -n 5 1.kept > short.kept
    fails 3 'short.kept has 5 records, and its summary 1.json says 200' short.kept --summary 1.json &&
        fails 2 'merge needs files of kept records' 1.kept 2.kept --summary 1.json && fails 2 'merge needs files' 1.kept || return 1
    fails 3 '2.kept does not have the records of its summary 1.json' 1.kept 2.kept --summary 2.json 1.json || return 1
    sed 's/,"kept_checksum":"[^"]*"//' 1.json > older.json
    run "$ocdm" merge -q -m 200 1.kept --summary older.json
    same 0 "$code" && cmp "$out" 1.kept || return 1
    printf '{"id":1,"labels":["a"]}\n' | "$ocdm" sample --only b 2> one.err > one.out
    same "kept 0 of 0 records, 0 classes" "$(head -n 1 one.err)" && same "1 record has none of the labels that count" "$(sed -n 2p one.err)" || return 1
    printf '{"id":1,"labels":["a"]}\n' | "$ocdm" sample 2> one.err > one.out
    same "kept 1 of 1 record, 1 class, kl 0 from the target, 1.00 labels a record, 1.00 in the stream" "$(head -n 1 one.err)" || return 1
    echo '{' > broken.json
    run "$ocdm" merge 1.kept --summary broken.json
    same 3 "$code" && grep -q '^error: broken.json:' "$err"
}

check merge_joins_shards joins_the_shards
check order_of_shards_does_not_matter order_of_shards_does_not_matter
check merge_keeps_all_that_fits keeps_all_that_fits
check shards_have_keys_of_their_own shards_have_their_own_keys
check header_and_label_flags_come_through header_and_labels_come_through
check merge_refuses_what_does_not_fit refuses_what_does_not_fit
finish
