#!/usr/bin/env bash
# Labels as people write them: lists in cells, one-hot columns, multi-hot arrays; in `ocdm sample`, `stream info` and `stream
# build` with the same flags, and one warning line where the flag is missing. $1: the program.
. "$(dirname "$0")/tap.sh"
ocdm=$1
cd "$place" || exit 1

printf "id,labels\r\n1,\"['Drama', 'War']\"\r\n2,\"[\"\"War\"\", 3]\"\r\n3,[]\r\n" > list.csv
printf 'id,genre_a,genre_b,year\n1,1,0,1999\n2,0,1.0,2001\n3,True,1,2002\n' > hot.csv
printf 'id,tags\n1,Action|Comedy\n2,Drama|War\n3,War\n' > bars.csv
printf '{"labels":[0,1,1]}\n{"labels":[1,0,0]}\n' > hot.jsonl

# counts FILE WORDS...: label seen ..., sorted
counts() {
    "$ocdm" sample -q --summary counts.json "$@" > /dev/null || return 1
    grep -o '"label":"[^"]*","seen":[0-9]*' counts.json | sed 's/"label":"\(.*\)","seen":/\1 /' | tr '\n' ';'
}

warns() { # warns TEXT WORDS...: one warning, that one; and none under -q
    local text=$1
    shift
    run "$ocdm" sample "$@"
    same 0 "$code" && same "warning: $text" "$(grep '^warning' "$err")" || return 1
    run "$ocdm" sample -q "$@"
    same "" "$(cat "$err")"
}

reads_lists_in_cells() {
    same "3 1;Drama 1;War 2;" "$(counts --label-form list list.csv)" &&
        warns "labels such as ['Drama', 'War'] look like lists: --label-form list" list.csv || return 1
    printf "labels\n\"['a, b', 'it\\\\'s', c d ,'']\"\n" > odd.csv
    same "a, b 1;c d 1;it\\'s 1;" "$(counts --label-form list odd.csv | sed 's/\\\\/\\/')" || return 1
    printf "labels\nplain\n" > plain.csv
    run "$ocdm" sample --label-form list plain.csv
    same 3 "$code" && grep -q "^error: plain.csv:2:1: the labels are no list such as \['a', 'b'\]" "$err"
    printf "labels\n['a\n" > open.csv
    run "$ocdm" sample --label-form list open.csv
    same 3 "$code"
}

reads_one_hot_columns() {
    same "a 2;b 2;" "$(counts --one-hot 'genre_*' hot.csv)" && same "genre_a 2;genre_b 2;" "$(counts --one-hot genre_a:genre_b hot.csv)" || return 1
    run "$ocdm" sample --one-hot genre_a:year hot.csv
    same 3 "$code" && grep -q '^error: hot.csv:2:7: the column "year" has neither 0 nor 1' "$err" || return 1
    run "$ocdm" sample --one-hot 'x*' hot.csv
    same 3 "$code" && grep -q '^error: hot.csv:1:1: no columns "x\*"; the columns are: id,genre_a,genre_b,year$' "$err" || return 1
    run "$ocdm" sample --one-hot genre_a:nothing hot.csv
    same 3 "$code" && grep -q '^error: hot.csv:1:1: no columns' "$err" || return 1
    warns "all labels are 0 or 1: --one-hot COLUMNS, if each label has a column" --labels genre_a <(printf 'genre_a\n1\n0\n1\n')
}

reads_multi_hot_arrays() {
    same "0 1;1 1;2 1;" "$(counts --label-form multi-hot hot.jsonl)" &&
        warns "all labels are 0 or 1: --label-form multi-hot, if their places are labels" hot.jsonl || return 1
    printf '{"labels":[0,2]}\n' > two.jsonl
    run "$ocdm" sample --label-form multi-hot two.jsonl
    same 3 "$code" && grep -q '^error: two.jsonl:1:14: a multi-hot array has zeros and ones only' "$err"
}

warns_about_the_separator() {
    warns "labels such as Action|Comedy look like several: --sep '|'" --labels tags bars.csv &&
        same "Action 1;Comedy 1;Drama 1;War 2;" "$(counts --labels tags --sep '|' bars.csv)" || return 1
    printf 'id,tags\n1,a/b\n2,c\n3,d;e\n' > mixed.csv
    run "$ocdm" sample --labels tags mixed.csv
    same 0 "$code" && ! grep -q warning "$err"
}

takes_a_single_label() {
    printf '{"labels":"a"}\n{"labels":["a"]}\n{"labels":7}\n' > one.jsonl
    same "7 1;a 2;" "$(counts one.jsonl)"
}

messages_have_no_question_marks() {
    printf 'id,tags\r\n1,a\r\n' > crlf.csv
    run "$ocdm" sample crlf.csv
    same 3 "$code" && same 'error: crlf.csv:1:1: no column named "labels"; the columns are: id,tags' "$(head -n 1 "$err")"
}

flags_that_do_not_apply_are_refused() {
    for words in "--label-form list hot.jsonl" "--one-hot a:b hot.jsonl" "--label-form multi-hot bars.csv"; do
        # shellcheck disable=SC2086
        run "$ocdm" sample $words
        same 2 "$code" && grep -q '^error: a flag about labels does not apply to the format' "$err" || { echo "$words"; return 1; }
    done
}

info_reads_what_sample_reads() {
    gzip -c list.csv > list.csv.gz
    "$ocdm" stream info --json --label-form list list.csv.gz > got && grep -q '^{"train":3,"test":0,"classes":3,' got || return 1
    "$ocdm" stream info --json --one-hot 'genre_*' hot.csv | grep -q '^{"train":3,"test":0,"classes":2,' || return 1
    printf 'tags\tsplit\ttask\na|b\ttrain\t0\nb\ttest\t1\nc\t\t1\n' > part.tsv
    "$ocdm" stream info --json --labels tags --sep '|' part.tsv > got
    same '{"train":2,"test":1,"classes":3,"amlr":66.66666666666667,"tasks":[{"task":0,"train":1,"test":0,"classes":2,"amlr":100},{"task":1,"train":1,"test":1,"classes":1,"amlr":0}],"groups":{"majority":0,"moderate":3,"minority":0}}' "$(sed 's/66\.6666666666666[0-9]*/66.66666666666667/' got)" || return 1
    run "$ocdm" stream info --labels tags bars.csv
    same 0 "$code" && grep -q "^warning: labels such as Action|Comedy look like several: --sep '|'" "$err"
}

build_takes_operands_and_names() {
    mkdir -p p && printf x > p/1.jpg && printf x > p/2.jpg && printf x > p/3.jpg
    printf 'name,tags,file,part,t\na,x|y,p/1.jpg,train,0\nb,y,p/2.jpg,test,1\nc,x,p/3.jpg,train,1\n' | gzip > m.csv.gz
    run "$ocdm" stream build m.csv.gz --id name --labels tags --sep '|' --split part --task t --labels-only -o m.st
    same 0 "$code" && same "0  task 0  train  a  x, y
1  task 1  test   b  y
2  task 1  train  c  x" "$("$ocdm" stream show m.st | sed 's/  *$//')" || { "$ocdm" stream show m.st; return 1; }
    run "$ocdm" stream build m.csv.gz --labels tags --image nothing -o n.st
    same 3 "$code" && grep -q '^error: m.csv.gz:1:1: no column named "nothing"' "$err" || return 1
    run "$ocdm" stream build --split part -o n.st
    same 2 "$code" && grep -q '^error: --split needs --records' "$err" || return 1
    echo '@relation x' | gzip > x.arff.gz
    run "$ocdm" stream build --arff x.arff.gz --xml list.csv -o n.st
    same 3 "$code" || return 1
    printf '{}' | gzip > coco.json.gz
    run "$ocdm" stream build --coco coco.json.gz -o n.st
    same 3 "$code" && same "error: coco.json.gz: gzip data, which is unpacked for records only" "$(head -n 1 "$err")" &&
        same "hint: unpack it first: gunzip -k coco.json.gz" "$(sed -n 2p "$err")"
}

multihot_columns_get_names() {
    printf "\223NUMPY\001\000\166\000{'descr': '|u1', 'fortran_order': False, 'shape': (3, 2), }%58s\n" "" > y.npy
    printf '\001\000\000\001\001\001' >> y.npy
    printf 'cat\ndog\n' > two.txt
    printf 'cat\ndog\nbird\n' > three.txt
    run "$ocdm" stream build --multihot y.npy --classes two.txt -o y.st
    same 0 "$code" && same "cat;dog;cat, dog;" "$("$ocdm" stream show y.st | sed 's/.*  //' | tr '\n' ';')" || return 1
    run "$ocdm" stream build --multihot y.npy --classes three.txt -o y.st
    same 3 "$code" && grep -q '^error: three.txt has 3 classes, and the table 2 columns' "$err"
}

check lists_in_cells_are_read reads_lists_in_cells
check one_hot_columns_are_read reads_one_hot_columns
check multi_hot_arrays_are_read reads_multi_hot_arrays
check separator_that_never_occurs_is_doubted warns_about_the_separator
check single_label_needs_no_array takes_a_single_label
check crlf_leaves_no_question_mark messages_have_no_question_marks
check label_flags_of_other_formats_are_refused flags_that_do_not_apply_are_refused
check info_reads_what_sample_reads info_reads_what_sample_reads
check build_takes_operands_and_names_of_columns build_takes_operands_and_names
check multihot_columns_are_named_by_classes multihot_columns_get_names
finish
