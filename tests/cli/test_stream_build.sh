#!/usr/bin/env bash
# `ocdm stream build`, `show` and `export`: every source, every recipe, the same bytes twice, bad input. $1: the program.
. "$(dirname "$0")/tap.sh"
ocdm=$1
cd "$place" || exit 1

# npy DTYPE ROWS COLUMNS: a header; the numbers follow from the caller.
npy() {
    local header="{'descr': '$1', 'fortran_order': False, 'shape': ($2, $3), }"
    local length=$(((${#header} + 11 + 63) / 64 * 64 - 10))
    printf '\x93NUMPY\x01\x00'
    printf "\\x$(printf %02x $((length % 256)))\\x$(printf %02x $((length / 256)))"
    printf "%-$((length - 1))s\n" "$header"
}

cat > r.jsonl <<'END'
{"id":10,"labels":["dog","cat"],"task":1,"split":"train"}
{"id":"x\ty","labels":["cat"],"task":0,"split":"train"}
{"id":"007","labels":[],"task":0,"split":"train"}
{"id":13,"labels":["dog"],"task":1,"split":"test"}
END
{ npy '|u1' 4 2; printf '\001\005\003\005\005\005\144\005'; } > f.npy

builds() { # builds FILE FLAG...: and nothing but the file is left
    local file=$1
    shift
    run "$ocdm" stream build -o "$file" "$@"
    same 0 "$code" && [ -s "$file" ] && same '' "$(find . -name "*.tmp*" -o -name ".*.safetensors*")"
}

# refuses CODE MESSAGE FLAG...: one line, and no file.
refuses() {
    local want=$1 message=$2
    shift 2
    rm -f no.safetensors
    run "$ocdm" stream build -o no.safetensors "$@"
    same "$want" "$code" && same "error: $message" "$(head -n 1 "$err")" && [ ! -e no.safetensors ] &&
        same '' "$(find . -newer r.jsonl -name '*no.safetensors*')"
}

# names_sources FILE 'NAME...': in the note of a stream file.
names_sources() {
    same "$2" "$(head -c 4000 "$1" | grep -ao '{[\\]"file[\\]":[\\]"[^\\]*' | sed 's/.*"//' | tr '\n' ' ' | sed 's/ $//')"
}

records_come_back() {
    builds s.safetensors --records r.jsonl || return 1
    run "$ocdm" stream export --split all s.safetensors
    same 0 "$code" && same '{"id":10,"labels":["cat","dog"],"task":1,"split":"train"}' "$(grep '"id":10' "$out")" &&
        same '{"id":"x\ty","labels":["cat"],"task":0,"split":"train"}' "$(grep 'x.ty' "$out")" &&
        same '{"id":"007","labels":[],"task":0,"split":"train"}' "$(grep 007 "$out")" && same 4 "$(wc -l < "$out")"
}

export_goes_task_by_task() {
    run "$ocdm" stream export s.safetensors
    same '0 0 1' "$(sed 's/.*"task":\([0-9]*\).*/\1/' "$out" | tr '\n' ' ' | sed 's/ $//')" || return 1
    run "$ocdm" stream export --order 1,0 s.safetensors
    same '1 0 0' "$(sed 's/.*"task":\([0-9]*\).*/\1/' "$out" | tr '\n' ' ' | sed 's/ $//')" || return 1
    run "$ocdm" stream export --order 1 s.safetensors
    same 2 "$code" && same 'error: the order names 1 tasks, the stream has 2' "$(head -n 1 "$err")"
}

export_feeds_sample() {
    "$ocdm" stream export s.safetensors | "$ocdm" sample -m 2 -q > kept && same 2 "$(wc -l < kept)"
}

verify_says_what_it_verified() {
    run "$ocdm" stream info --verify s.safetensors
    same 0 "$code" && same 'verified           the tables of samples, labels and classes; the stream has no features or images' "$(tail -n 1 "$out")" ||
        return 1
    run "$ocdm" stream info --verify r.jsonl
    same 2 "$code" && same 'error: --verify compares checksums, which records do not have' "$(head -n 1 "$err")"
}

show_refuses_a_task_that_is_not_there() {
    run "$ocdm" stream show s.safetensors --task 9
    same 2 "$code" && same 'error: the stream has no task 9' "$(head -n 1 "$err")" && same '' "$(cat "$out")"
}

info_agrees_with_the_records() {
    "$ocdm" stream info --json r.jsonl > a && "$ocdm" stream info --json --verify s.safetensors > b &&
        same "$(cat a)" "$(sed 's/,"verified":\["tables"\]}$/}/' b)"
}

same_inputs_give_the_same_bytes() {
    mkdir -p elsewhere && cp r.jsonl f.npy elsewhere
    builds one.safetensors --records r.jsonl --features f.npy --standardize &&
        builds two.safetensors --records elsewhere/r.jsonl --features elsewhere/f.npy --standardize && cmp one.safetensors two.safetensors
}

# The file says how; --standardize alone takes all, and the word after it is its own only if it is one of three.
standardize_takes_the_first_task() {
    builds all.safetensors --records r.jsonl --features f.npy --standardize &&
        builds first.safetensors --features f.npy --standardize first-task --records r.jsonl || return 1
    grep -aq -e '--standardize first-task' first.safetensors && ! grep -aq -e '--standardize first-task' all.safetensors &&
        ! cmp -s <(tail -c 300 all.safetensors) <(tail -c 300 first.safetensors) || return 1
    refuses 2 '--standardize "later": unknown standardize' --records r.jsonl --features f.npy --standardize=later
}

show_filters() {
    run "$ocdm" stream show --split test s.safetensors
    same '3  task 1  test   13  dog' "$(cat "$out")" || return 1
    run "$ocdm" stream show --class cat --json -n 1 s.safetensors
    same '{"id":10,"labels":["cat","dog"],"task":1,"split":"train"}' "$(cat "$out")" || return 1
    run "$ocdm" stream show --class bird s.safetensors
    same 2 "$code" && same 'error: the stream has no class "bird"' "$(head -n 1 "$err")"
}

show_shows_control_characters_as_text() {
    run "$ocdm" stream show s.safetensors
    same 0 "$code" && grep -q 'x\\x09y' "$out"
}

classes_and_groups_follow_files() {
    printf 'dog\nbird\n' > classes.txt
    printf 'majority: bird\nminority: dog\n' > groups.txt
    builds c.safetensors --records r.jsonl --classes classes.txt --groups groups.txt || return 1
    run "$ocdm" stream info --json c.safetensors
    same '"groups":{"majority":1,"moderate":0,"minority":1}}' "$(grep -o '"groups".*' "$out")" || return 1
    run "$ocdm" stream export c.safetensors
    same '{"id":10,"labels":["dog"],"task":1,"split":"train"}' "$(grep '"id":10' "$out")"
}

classes_that_do_not_fit_are_told() {
    printf '\357\273\277cat\r\n' > bom.txt
    builds c.safetensors --records r.jsonl --classes bom.txt || return 1
    same 'left out: 2 labels of classes that --classes does not list' "$(cat "$err")" || return 1
    printf 'cat\nc\377t\n' > latin.txt
    refuses 3 'latin.txt:2: the name of a class is not UTF-8' --records r.jsonl --classes latin.txt || return 1
    printf 'horse\n' > horse.txt
    run "$ocdm" stream build --records r.jsonl --classes horse.txt -o no.safetensors
    same 3 "$code" && same 'error: r.jsonl: no sample keeps a label' "$(sed -n 2p "$err")" && [ ! -e no.safetensors ]
}

images_are_checked() {
    mkdir -p pictures/a && : > pictures/a/1.png
    printf '{"id":1,"labels":["x"],"image":"a/1.png"}\n' > i.jsonl
    builds i.safetensors --records i.jsonl --images pictures || return 1
    run "$ocdm" stream show --json i.safetensors
    grep -q '"image":"a/1.png"' "$out" || return 1
    printf '{"id":1,"labels":["x"],"image":"a/2.png"}\n' > j.jsonl
    refuses 3 "sample 0: image $place/pictures/a/2.png: No such file or directory" --records j.jsonl --images pictures || return 1
    printf '{"id":1,"labels":["x"],"image":"a/../../etc/passwd"}\n' > k.jsonl
    run "$ocdm" stream build --records k.jsonl --images pictures -o no.safetensors
    same 3 "$code" && grep -q '^error: k.jsonl:1:' "$err" && [ ! -e no.safetensors ]
}

coco_reads_several_files() {
    printf '{"images":[{"id":1,"file_name":"a.jpg"},{"id":2,"file_name":"b.jpg"}],"categories":[{"id":5,"name":"cat"}],"annotations":[{"image_id":2,"category_id":5}]}' > a.json
    printf '{"annotations":[{"image_id":3,"category_id":1}],"categories":[{"id":1,"name":"dog"}],"images":[{"id":3}]}' > b.json
    builds coco.safetensors --coco a.json b.json || return 1
    run "$ocdm" stream show --json coco.safetensors
    same '{"id":1,"labels":[],"task":0,"split":"train"}{"id":2,"labels":["cat"],"task":0,"split":"train"}{"id":3,"labels":["dog"],"task":0,"split":"train"}' "$(tr -d '\n' < "$out")" || return 1
    printf '{"images":[{"id":1}],"categories":[],"annotations":[{"image_id":1,"category_id":91}]}' > bad.json
    run "$ocdm" stream build --coco bad.json -o no.safetensors
    same 3 "$code" && grep -q '^error: bad.json:1:[0-9]*: annotation 1 names category 91' "$err" && [ ! -e no.safetensors ]
}

coco_takes_a_test_file() {
    builds parts.safetensors --coco a.json --test b.json || return 1
    run "$ocdm" stream show --json --split test parts.safetensors
    same '{"id":3,"labels":["dog"],"task":0,"split":"test"}' "$(cat "$out")" || return 1
    refuses 3 'a.json:1:12: image 1 has id 1, which an image of an earlier file has too' --coco a.json --test a.json
}

nuswide_reads_the_folder() {
    mkdir -p nus/Groundtruth/AllLabels nus/ImageList
    printf 'actor\\0001_11.jpg\nactor\\0002_12.jpg\n' > nus/ImageList/Imagelist.txt
    printf '1\n0\n' > nus/Groundtruth/AllLabels/Labels_sky.txt
    printf '1\n1\n' > nus/Groundtruth/AllLabels/Labels_sea.txt
    builds nus.safetensors --nuswide nus || return 1
    run "$ocdm" stream show --json nus.safetensors
    same '{"id":11,"labels":["sea","sky"],"task":0,"split":"train"}' "$(head -n 1 "$out")" || return 1
    names_sources nus.safetensors 'Imagelist.txt Labels_sea.txt Labels_sky.txt' || return 1
    printf '1\n' > nus/Groundtruth/AllLabels/Labels_sea.txt
    run "$ocdm" stream build --nuswide nus -o no.safetensors
    same 3 "$code" && grep -q 'Labels_sea.txt' "$err" && [ ! -e no.safetensors ]
}

arff_brings_its_features() {
    printf '@relation t\n@attribute x numeric\n@attribute a {0,1}\n@attribute b {0,1}\n@data\n2,1,0\n4,1,1\n' > t-train.arff
    printf '@relation t\n@attribute x numeric\n@attribute a {0,1}\n@attribute b {0,1}\n@data\n{0 8,2 1}\n' > t-test.arff
    run "$ocdm" stream build -o t.safetensors --arff t-train.arff
    same 4 "$code" && grep -q 'there is no t-train.xml' "$err" && grep -q -- '--xml' "$err" || return 1
    printf '<labels><label name="a"/><label name="b"/></labels>' > t.xml
    builds t.safetensors --arff t-train.arff --test t-test.arff --standardize || return 1
    run "$ocdm" stream info --json t.safetensors
    same '{"train":2,"test":1,"classes":2' "$(grep -o '^{"train":2,"test":1,"classes":2' "$out")" || return 1
    run "$ocdm" stream show --json --split test t.safetensors
    same '{"id":2,"labels":["b"],"task":0,"split":"test"}' "$(cat "$out")"
}

# Without its second row the first table has two samples, of the rows 0 and 2: those of the second table are numbered on from there.
rows_that_are_skipped_keep_their_numbers() {
    printf '@relation t\n@attribute x numeric\n@attribute a {0,1}\n@attribute b {0,1}\n@data\n2,1,0\n?,1,1\n4,1,1\n' > gap.arff
    printf '@relation t\n@attribute x numeric\n@attribute a {0,1}\n@attribute b {0,1}\n@data\n2,1,0\n' > after.arff
    printf '<labels><label name="a"/><label name="b"/></labels>' > gap.xml
    run "$ocdm" stream build -o gap.safetensors --arff gap.arff --test after.arff --skip-bad --labels-only
    same 0 "$code" || return 1
    run "$ocdm" stream show --json gap.safetensors
    same '0 2 3 ' "$(grep -o '"id":[0-9]*' "$out" | cut -d: -f2 | tr '\n' ' ')"
}

libsvm_and_multihot() {
    printf 'a,b 1:0.5\nb 2:1\n' > t.svm
    builds v.safetensors --records t.svm || return 1
    run "$ocdm" stream info v.safetensors
    grep -qx 'features           2, f32' "$out" || return 1
    { npy '|u1' 2 3; printf '\001\000\001\000\001\000'; } > l.npy
    { npy '<f4' 2 1; printf '\000\000\200\077\000\000\000\100'; } > g.npy
    builds w.safetensors --multihot l.npy --features g.npy || return 1
    run "$ocdm" stream show --json w.safetensors
    same '{"id":0,"labels":["0","2"],"task":0,"split":"train"}' "$(head -n 1 "$out")"
}

ids_follow_lists() {
    mkdir -p lists/ids
    printf '{"cat":0,"dog":1}' > lists/multihot_map.json
    printf '[13]' > lists/ids/train_task0_id_x.json
    printf '[10]' > lists/ids/test_task0_id_x.json
    builds l.safetensors --ids lists --records r.jsonl || return 1
    run "$ocdm" stream show --json l.safetensors
    same '{"id":13,"labels":["dog"],"task":0,"split":"train"}{"id":10,"labels":["cat","dog"],"task":0,"split":"test"}' "$(tr -d '\n' < "$out")" &&
        names_sources l.safetensors 'r.jsonl multihot_map.json train_task0_id_x.json test_task0_id_x.json'
}

# Two blocks of classes; 60 single-label samples of each class, of d only 40: d is removed.
recipe_paper() {
    awk 'BEGIN { for (i = 0; i < 60; i++) { print "{\"labels\":[\"a\"]}"; print "{\"labels\":[\"b\"]}"; print "{\"labels\":[\"c\"]}"
        print "{\"labels\":[\"a\",\"b\"]}"; print "{\"labels\":[\"c\",\"d\"]}"; if (i < 40) print "{\"labels\":[\"d\"]}" }
        print "{\"labels\":[\"a\",\"c\"]}"; print "{\"labels\":[]}" }' > p.jsonl
    printf 'a, b\nc, d\n' > tasks.txt
    builds p.safetensors --records p.jsonl --recipe paper --tasks tasks.txt --json || return 1
    grep -q '"train":120,"test":150,"classes":3,"tasks":2' "$out" || { cat "$out"; return 1; }
    grep -q '^left out: 1 samples with labels of several tasks' "$err" || { cat "$err"; return 1; }
    cp p.safetensors before && builds p.safetensors --records p.jsonl --recipe paper --tasks 2 --json && "$ocdm" stream export --split all before | sort > x &&
        "$ocdm" stream export --split all p.safetensors | sort > y && cmp x y
}

recipe_split() {
    builds q.safetensors --records p.jsonl --recipe split --tasks tasks.txt --test-share 0.5 --seed 3 || return 1
    run "$ocdm" stream info --json q.safetensors
    same 2 "$(grep -o '"task":' "$out" | wc -l)" || return 1
    printf '{"labels":["a"],"site":"north"}\n{"labels":["b"],"site":"east"}\n' > sites.jsonl
    builds q.safetensors --records sites.jsonl --recipe split --tasks-by site --test-share 0 || return 1
    run "$ocdm" stream show --json q.safetensors
    same '{"id":0,"labels":["a"],"task":1,"split":"train"}{"id":1,"labels":["b"],"task":0,"split":"train"}' "$(tr -d '\n' < "$out")"
}

# Every sample of c has more labels of the first task, so that the second, c, is left with none: the third moves up.
tasks_without_samples_leave() {
    printf '%s\n' '{"labels":["a","b","c"]}' '{"labels":["a","b"]}' '{"labels":["d"]}' > e.jsonl
    printf 'a,b\nc\nd\n' > e.txt
    builds e.safetensors --records e.jsonl --recipe split --tasks e.txt --test-share 0 --json || return 1
    grep -q '"classes":3,"tasks":2,' "$out" && grep -qx 'left out: 1 tasks that no sample is in' "$err" || { cat "$out"; return 1; }
    run "$ocdm" stream show --json e.safetensors
    same '{"id":2,"labels":["d"],"task":1,"split":"train"}' "$(tail -n 1 "$out")"
}

# Tasks with gaps in a source's own numbers stay as they are, and are counted as `stream info` counts them.
own_tasks_keep_their_numbers() {
    printf '{"labels":["a"],"task":0}\n{"labels":["a"],"task":9}\n' > gap.jsonl
    builds gap.safetensors --records gap.jsonl --json || return 1
    grep -q '"tasks":2,' "$out" && same '{"id":1,"labels":["a"],"task":9,"split":"train"}' "$("$ocdm" stream export gap.safetensors | tail -n 1)"
}

scenes_are_the_built_in_stream() {
    builds scenes.safetensors --recipe scenes --as features || return 1
    "$ocdm" demo --print-stream | "$ocdm" stream info --json > a
    "$ocdm" stream info --json scenes.safetensors > b
    same "$(sed 's/"test":[0-9]*/T/g' a)" "$(sed 's/"test":[0-9]*/T/g' b)" && grep -q '^{"train":26617,"test":2200,' b
}

scenes_render() {
    builds small.safetensors --recipe scenes --size 16 -q || return 1
    run "$ocdm" stream info small.safetensors
    grep -qx 'images             16 x 16 pixels' "$out"
}

bad_input_is_one_line() {
    refuses 4 'nowhere.npy: No such file or directory' --records r.jsonl --features nowhere.npy || return 1
    { npy '|u1' 3 2; printf 'abcdef'; } > short.npy
    refuses 3 'short.npy: 3 rows of features for 4 samples' --records r.jsonl --features short.npy || return 1
    { npy '<f4' 4 1; printf '\000\000\300\177\000\000\000\000\000\000\000\000\000\000\000\000'; } > nan.npy
    refuses 3 'nan.npy: row 0, column 0 is nan' --records r.jsonl --features nan.npy || return 1
    { npy '<f4' 4 1; printf '\000\000\000\000\000\000\200\001\000\000\000\000\000\000\177\177'; } > far.npy
    refuses 3 'far.npy: feature 0 of sample 3 is too large for 32 bits when it is standardized' --records r.jsonl --features far.npy --standardize || return 1
    { npy '|O' 4 2; printf 'abcdefgh'; } > object.npy
    run "$ocdm" stream build --records r.jsonl --features object.npy -o no.safetensors
    same 3 "$code" && grep -q '^error: object.npy' "$err" && grep -q '^hint: ' "$err" && [ ! -e no.safetensors ] || return 1
    head -c 100000 /dev/zero | tr '\0' '[' > deep.json
    run "$ocdm" stream build --coco deep.json -o no.safetensors
    same 3 "$code" && grep -q '^error: deep.json:1:' "$err" && [ ! -e no.safetensors ] || return 1
    printf '{"id":1,"labels":["a"]}\n{"id":1,"labels":["b"]}\n' > twice.jsonl
    refuses 3 'twice.jsonl:2:7: the id "1" was used before' --records twice.jsonl || return 1
    builds once.safetensors --records twice.jsonl --skip-bad && grep -q '^left out: 1 ' "$err"
}

# floats FILE N: the features of a stream file of N samples with one each: behind them are a sum for each row and 16 bytes.
floats() {
    tail -c $((16 + 12 * $2)) "$1" | head -c $((4 * $2)) | od -An -v -tf4 -w400 | tr -s ' ' | sed 's/^ //'
}

# Rows stay with their samples when others are left out, also at the end of a file, in the middle of a table, and in several files.
rows_stay_with_their_samples() {
    printf '{"id":1,"labels":["a"]}\n{"id":2,"labels":["a"]}\n{"id"\n' > one.jsonl
    printf '{"id":1,"labels":["a"]}\n{"id":3,"labels":["a"]}\n{\n' > two.jsonl
    { npy '|u1' 6 1; printf '\001\002\003\004\005\006'; } > six.npy
    builds rows.safetensors --records one.jsonl two.jsonl --features six.npy --skip-bad && same '1 2 5' "$(floats rows.safetensors 3)" || return 1
    builds rows.safetensors --records one.jsonl --test two.jsonl --skip-bad && grep -q '^left out: 1 records whose id' "$err" || return 1
    printf '{\n{"labels":["a"]}\n{"labels":["b"]}\n' > nameless.jsonl
    builds rows.safetensors --records nameless.jsonl nameless.jsonl --skip-bad && same '1 2 4 5' "$("$ocdm" stream show rows.safetensors | awk '{ printf "%s%s", (NR > 1 ? " " : ""), $5 }')" || return 1
    { npy '|u1' 6 1; printf '\001\001\007\001\000\007'; } > hot.npy
    builds rows.safetensors --multihot hot.npy --features six.npy --skip-bad && same '1 2 4 5' "$(floats rows.safetensors 4)" || return 1
    printf '{"images":[{"id":1},{"id":1},{"id":2}],"categories":[{"id":5,"name":"cat"}],"annotations":[{"image_id":2,"category_id":5}]}' > again.json
    { npy '|u1' 3 1; printf '\001\002\003'; } > three.npy
    run "$ocdm" stream build --coco again.json --features three.npy --skip-bad -o no.safetensors
    same 3 "$code" && grep -qx 'error: three.npy: 3 rows of features for 2 samples' "$err" && [ ! -e no.safetensors ]
}

misuse_is_told() {
    refuses 2 'no source is given' && refuses 2 'more than one source is given' --records r.jsonl --coco a.json &&
        refuses 2 '--recipe paper needs --tasks' --records r.jsonl --recipe paper &&
        refuses 2 '--recipe scenes does not take --records' --recipe scenes --records r.jsonl &&
        refuses 2 '--standardize is given, but no features' --records r.jsonl --standardize || return 1
    refuses 2 '--recipe scenes does not take --xml' --recipe scenes --xml t.xml &&
        refuses 2 '--recipe scenes does not take r.jsonl' --recipe scenes r.jsonl &&
        refuses 2 '--as features does not take --size' --recipe scenes --as features --size 16 &&
        refuses 2 '--size needs --recipe scenes' --records r.jsonl --size 16 &&
        refuses 2 '--mixed needs --recipe split' --records r.jsonl --recipe paper --tasks 2 --mixed drop &&
        refuses 2 '--format needs --records' --coco a.json --format csv &&
        refuses 2 '--tasks-by and --tasks are both given' --records r.jsonl --recipe split --tasks 2 --tasks-by task &&
        refuses 2 '--feature-type is given, but no features' --records r.jsonl --feature-type f16 &&
        refuses 2 '--tasks takes a number from 1 to 65535, coco44, nus44, or a file' --records r.jsonl --recipe split --tasks 9999999 || return 1
    run "$ocdm" stream build --records r.jsonl -o /dev/stdout
    same 2 "$code" && same '' "$(cat "$out")" || return 1
    run "$ocdm" stream build --records r.jsonl
    same 2 "$code" && same 'error: -o is missing' "$(head -n 1 "$err")" || return 1
    cp r.jsonl own.jsonl
    run "$ocdm" stream build --records own.jsonl -o own.jsonl
    same 2 "$code" && cmp r.jsonl own.jsonl || return 1
    cp groups.txt own.txt
    run "$ocdm" stream build --records r.jsonl --groups own.txt -o own.txt
    same 2 "$code" && cmp groups.txt own.txt || return 1
    run "$ocdm" stream build --records p.jsonl --recipe split --tasks tasks.txt -o tasks.txt
    same 2 "$code" && grep -q '^c, d$' tasks.txt
}

# The limit on the size of a file, and a terminal that closes.
other_signals_leave_nothing_behind() {
    (ulimit -f 100; exec "$ocdm" stream build -q --recipe scenes --as features -o limit.safetensors > "$out" 2> "$err" < /dev/null)
    code=$?
    same 4 "$code" && same 'error: cannot write limit.safetensors: File too large' "$(head -n 1 "$err")" || return 1
    "$ocdm" stream build --recipe scenes -o limit.safetensors > "$out" 2> "$err" < /dev/null &
    local pid=$!
    sleep 0.3
    kill -HUP "$pid"
    wait "$pid"
    code=$?
    same 143 "$code" && same '' "$(find . -name '*limit*' -o -name '*.tmp')"
}

a_signal_leaves_nothing_behind() {
    interruptible "$ocdm" stream build --recipe scenes --size 64 -o stopped.safetensors > "$out" 2> "$err" < /dev/null &
    local pid=$!
    sleep 0.3
    kill -INT "$pid"
    wait "$pid"
    code=$?
    same 130 "$code" || return 1
    same '' "$(find . -name '*stopped*')"
}

recipe_incremental() {
    builds p.safetensors --records r.jsonl --features f.npy --recipe incremental --step 1 || return 1
    grep -q '^left out: 1 samples without a label of any task$' "$err" || return 1
    run "$ocdm" stream show --json p.safetensors
    same '{"id":10,"labels":["cat"],"known":["cat"],"task":0,"split":"train"}
{"id":"10@1","labels":["dog"],"known":["dog"],"task":1,"split":"train"}
{"id":"x\ty","labels":["cat"],"known":["cat"],"task":0,"split":"train"}
{"id":13,"labels":["dog"],"task":1,"split":"test"}' "$(cat "$out")" || return 1
    run "$ocdm" stream info --json p.safetensors
    grep -q ',"known":{"train":50,"test":100}}$' "$out" || return 1
    run "$ocdm" stream info p.safetensors
    grep -q '^known labels       50.0 % of the classes of a training sample, 100.0 % of a test$' "$out" || return 1
    run "$ocdm" run p.safetensors -o p -m 2 --batch 1 --replay 1 -q
    same 0 "$code" || return 1
    printf 'dog\ncat\n' > order
    builds p.safetensors --records r.jsonl --recipe incremental --base 1 --step 1 --classes order || return 1
    run "$ocdm" stream show p.safetensors -n 2
    same '0  task 0  train  10  dog  known: 1 of 2
1  task 1  train  10@1  cat  known: 1 of 2' "$(cat "$out")" &&
        refuses 2 '--recipe incremental needs --step' --records r.jsonl --recipe incremental &&
        refuses 2 '--base needs --recipe incremental' --records r.jsonl --base 1 &&
        refuses 2 '--base 3, but there are 2 classes' --records r.jsonl --recipe incremental --base 3 --step 1
}

a_stream_file_is_told_from_others() {
    run "$ocdm" stream show r.jsonl
    same 3 "$code" || return 1
    head -c 200 s.safetensors > cut.safetensors
    run "$ocdm" stream info cut.safetensors
    same 3 "$code" && grep -q '^error: cut.safetensors' "$err"
}

check records_come_back_from_a_stream_file records_come_back
check export_goes_task_by_task_in_the_order_given export_goes_task_by_task
check export_feeds_sample export_feeds_sample
check info_of_a_stream_file_agrees_with_its_records info_agrees_with_the_records
check build_gives_the_same_bytes_from_any_folder same_inputs_give_the_same_bytes
check build_standardizes_by_the_first_task_alone standardize_takes_the_first_task
check verify_says_what_it_verified verify_says_what_it_verified
check show_refuses_a_task_that_is_not_there show_refuses_a_task_that_is_not_there
check show_filters_by_part_and_class show_filters
check show_shows_control_characters_as_text show_shows_control_characters_as_text
check build_takes_classes_and_groups_from_files classes_and_groups_follow_files
check build_tells_classes_that_do_not_fit classes_that_do_not_fit_are_told
check build_checks_that_images_are_there_and_below_their_root images_are_checked
check build_reads_coco coco_reads_several_files
check build_reads_coco_with_a_test_file coco_takes_a_test_file
check build_reads_nuswide nuswide_reads_the_folder
check build_reads_arff_with_features arff_brings_its_features
check build_keeps_the_numbers_of_skipped_rows rows_that_are_skipped_keep_their_numbers
check build_reads_libsvm_and_multihot libsvm_and_multihot
check build_follows_lists_of_ids ids_follow_lists
check recipe_paper_takes_lists_or_finds_them recipe_paper
check recipe_split_takes_lists_or_a_member recipe_split
check recipe_split_leaves_no_task_without_samples tasks_without_samples_leave
check recipe_incremental_labels_with_the_classes_of_a_task recipe_incremental
check build_keeps_the_numbers_of_own_tasks own_tasks_keep_their_numbers
check recipe_scenes_is_the_built_in_stream scenes_are_the_built_in_stream
check recipe_scenes_renders_images scenes_render
check build_tells_bad_input_in_one_line_and_leaves_nothing bad_input_is_one_line
check build_keeps_rows_with_their_samples_when_others_are_left_out rows_stay_with_their_samples
check build_tells_misuse misuse_is_told
check build_leaves_nothing_behind_when_stopped a_signal_leaves_nothing_behind
check build_leaves_nothing_behind_when_a_limit_or_a_hangup_comes other_signals_leave_nothing_behind
check show_and_info_refuse_what_is_no_stream a_stream_file_is_told_from_others
finish
