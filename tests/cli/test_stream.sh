#!/usr/bin/env bash
# `ocdm stream info`: exact numbers of small streams and of the built-in one, the text, bad records. $1: the program.
. "$(dirname "$0")/tap.sh"
ocdm=$1
cd "$place" || exit 1
hint='`ocdm stream info --help` describes the records'

# tells JSON LINE...: what `stream info --json` makes of the records.
tells() {
    local want=$1
    shift
    printf '%s\n' "$@" > s.jsonl
    run "$ocdm" stream info --json s.jsonl
    same 0 "$code" && same "$want" "$(cat "$out")" && same "" "$(cat "$err")"
}

# Task 3: a alone, a with b: MLR 50 and 100. Task 1: a alone. In total a: 1 of 3. Labels of the test part do not count.
counts_tasks_and_splits() {
    tells '{"train":4,"test":2,"classes":2,"amlr":66.66666666666667,"tasks":[{"task":1,"train":1,"test":0,"classes":1,"amlr":0},{"task":3,"train":3,"test":2,"classes":2,"amlr":75}],"groups":{"majority":0,"moderate":0,"minority":2}}' \
        '{"id":1,"labels":["a"],"task":3,"split":"train"}' \
        '{"task":3,"labels":["a","b","a"]}' \
        '{"split":"test","labels":["c","a"],"task":3}' \
        '{"labels":[],"task":3,"split":"test"}' \
        '{"labels":[],"task":3}' \
        '{"labels":["a","a"],"\u0074ask":1,"split":"\u0074rain"}'
}

# Members of objects inside a record are not its own.
counts_without_tasks() {
    tells '{"train":2,"test":0,"classes":2,"amlr":75,"tasks":[],"groups":{"majority":0,"moderate":0,"minority":2}}' \
        '{"labels":[7,"8"],"meta":{"task":"x","split":[{"split":1}]}}' '{"labels":["7"]}'
}

counts_nothing() {
    tells '{"train":0,"test":0,"classes":0,"amlr":null,"tasks":[],"groups":{"majority":0,"moderate":0,"minority":0}}' '' || return 1
    run "$ocdm" stream info s.jsonl
    same 0 "$code" && grep -qx 'samples            0 train, 0 test' "$out" && ! grep -qi 'nan' "$out"
}

# Test records alone: a task with no classes.
counts_test_only() {
    tells '{"train":0,"test":1,"classes":0,"amlr":null,"tasks":[{"task":0,"train":0,"test":1,"classes":0,"amlr":null}],"groups":{"majority":0,"moderate":0,"minority":0}}' \
        '{"labels":["a"],"task":0,"split":"test"}' || return 1
    run "$ocdm" stream info s.jsonl
    same 0 "$code" && grep -qx '     0          0          1        0        -' "$out"
}

groups_follow_bounds() {
    printf '{"labels":["a","b"]}\n{"labels":["a"]}\n{"labels":["a","c"]}\n{"labels":["c"]}\n' > g.jsonl
    run "$ocdm" stream info --json --groups 2,2 g.jsonl
    same '"groups":{"majority":1,"moderate":1,"minority":1}}' "$(grep -o '"groups".*' "$out")"
}

refuses_bounds() {
    local value
    for value in 1 1,2 3,2,1 x,1 -1,0 ''; do
        run "$ocdm" stream info --groups "$value" g.jsonl
        same 2 "$code" && same "" "$(cat "$out")" && grep -q '^error: .*groups' "$err" || { echo "groups $value"; return 1; }
    done
}

# The second line is bad; its place is that of the value.
refuses() { # refuses COLUMN REASON LINE
    printf '{"labels":["a"],"task":0}\n%s\n' "$3" > bad.jsonl
    run "$ocdm" stream info bad.jsonl
    same 3 "$code" && same "" "$(cat "$out")" && same "error: bad.jsonl:2:$1: $2" "$(head -n 1 "$err")" &&
        same "hint: $hint" "$(sed -n 2p "$err")"
}

refuses_tasks() {
    local value
    for value in '"1"' -1 1.0 1e2 null true '[0]' '{}' 18446744073709551616; do
        local column=21
        [ "$value" = '"1"' ] && column=22
        refuses $column '"task" must be a whole number from 0' "{\"labels\":[],\"task\":$value}" || { echo "task $value"; return 1; }
    done
    refuses 24 '"task" occurs twice' '{"labels":[],"task":1,"task":1}'
}

refuses_splits() {
    local value
    for value in 0 null '["test"]' false; do
        refuses 22 '"split" must be "train" or "test"' "{\"labels\":[],\"split\":$value}" || { echo "split $value"; return 1; }
    done
    for value in '"Test"' '"tests"' '""' '"val"'; do
        refuses 23 '"split" must be "train" or "test"' "{\"labels\":[],\"split\":$value}" || { echo "split $value"; return 1; }
    done
    refuses 31 '"split" occurs twice' '{"labels":[],"split":"test", "split":"test"}'
}

refuses_broken_records() {
    refuses 11 'broken JSON: a key in quotes is missing' '{"task":1,}' || return 1
    run "$ocdm" stream info missing.jsonl
    same 4 "$code" && grep -q '^error: .*missing.jsonl' "$err"
}

text_is_whole() {
    printf '%s\n' '{"labels":["b","a"],"task":0}' '{"labels":["b"],"task":1}' '{"labels":["b"],"task":1,"split":"test"}' \
        '{"labels":["B\u001b","b"],"task":1}' '{"labels":[]}' > t.jsonl
    run "$ocdm" stream info --groups 2,2 t.jsonl
    cat > want << 'END'
samples            4 train, 1 test
classes            3
tasks              2; samples without one: 1
AMLR               88.89 %
imbalance          3.0: largest class 3, smallest 1
groups             majority 1 (over 2), moderate 0, minority 2 (under 2)
labels per sample  1.250

labels    samples
    0           1  ##############################
    1           1  ##############################
    2           2  ############################################################

  task      train       test  classes     AMLR
     0          1          0        2   100.00
     1          2          1        2    75.00
 total          4          1        3    88.89

      training samples of task
class 0 1 total     MLR
B\x1B 0 1     1  100.00  ##################
a     1 0     1  100.00  ##################
b     1 2     3   66.67  ######################################################
END
    same 0 "$code" && diff want "$out"
}

# Lines end within the 80 columns that are taken for granted where there is no terminal.
builtin_stream_is_as_documented() {
    "$ocdm" demo --print-stream > b.jsonl
    run "$ocdm" stream info b.jsonl
    same 0 "$code" && same '95.65 89.34 84.39 64.16 85.65' "$(sed -n '/AMLR$/,/total/p' "$out" | awk 'NR > 1 { printf "%s%s", (NR > 2 ? " " : ""), $5 }')" &&
        grep -q '^groups  *majority 12 (over 600), moderate 27, minority 5 (under 100)$' "$out" &&
        grep -q '^samples  *26617 train, 0 test$' "$out" && same 44 "$(sed -n '/ MLR$/,$p' "$out" | sed 1d | tee rows | wc -l)" || return 1
    same "$(cat rows)" "$(sort rows)" && same "" "$(awk 'length > 79' "$out")" && grep -q '####' rows || return 1
    "$ocdm" stream info - < b.jsonl | diff "$out" -
}

check info_counts_tasks_and_splits counts_tasks_and_splits
check info_counts_in_total_when_there_are_no_tasks counts_without_tasks
check info_counts_nothing_when_input_is_empty counts_nothing
check info_has_no_ratio_when_there_is_no_training_part counts_test_only
check info_groups_follow_the_bounds groups_follow_bounds
check info_refuses_bounds_that_are_none refuses_bounds
check info_refuses_tasks_that_are_no_whole_numbers refuses_tasks
check info_refuses_splits_other_than_train_and_test refuses_splits
check info_refuses_broken_records refuses_broken_records
check info_text_is_whole text_is_whole
check info_of_the_builtin_stream_is_as_documented builtin_stream_is_as_documented
check family_names_its_verbs same 'hint: one of build, info, show, export, featurize' "$("$ocdm" stream 2>&1 | tail -n 1)"
finish
