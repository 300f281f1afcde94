#!/usr/bin/env bash
# `ocdm predict`, `eval`, `weights info`, `stream featurize`, `bench train`, and `run` on bad images: files made in the shell, so that all numbers are known. $1: the program.
. "$(dirname "$0")/tap.sh"
ocdm=$1
cd "$place" || exit 1

# little N BYTES: a whole number, the lowest byte first.
little() {
    local i number=$1
    for ((i = 0; i < $2; i++)); do
        printf "\\$(printf %03o $((number >> (8 * i) & 255)))"
    done
}

# make_weights FILE NAME=SHAPE...: zeros, except fc.bias, which is all ones. A shape is numbers with commas.
make_weights() {
    local file=$1 header='{' at=0 pair count size number
    shift
    for pair in "$@"; do
        count=1
        for number in $(tr , ' ' <<< "${pair#*=}"); do count=$((count * number)); done
        size=$((4 * count))
        header+="\"${pair%%=*}\":{\"dtype\":\"F32\",\"shape\":[${pair#*=}],\"data_offsets\":[$at,$((at + size))]},"
        at=$((at + size))
    done
    header="${header%,}}"
    {
        little ${#header} 8
        printf %s "$header"
        for pair in "$@"; do
            count=1
            for number in $(tr , ' ' <<< "${pair#*=}"); do count=$((count * number)); done
            if [ "${pair%%=*}" = fc.bias ]; then
                for ((number = 0; number < count; number++)); do printf '\0\0\200\077'; done
            else
                head -c $((4 * count)) /dev/zero
            fi
        done
    } > "$file"
}

# cnn_tensors CLASSES
cnn_tensors() {
    local i in=3 out=32
    for i in 1 2 3 4; do
        echo "conv$i.weight=$out,$in,3,3" "bn$i.weight=$out" "bn$i.bias=$out" "bn$i.running_mean=$out" "bn$i.running_var=$out"
        in=$out
        out=$((2 * out))
    done
    echo "fc.weight=$1,256" "fc.bias=$1"
}

printf '%s\n' 'a 1:1 2:2 3:3' 'b 1:0.5' 'a,b 3:-1' 'c 2:7' > train.svm
printf '%s\n' 'a 1:4' 'c 2:5 3:6' > test.svm
"$ocdm" stream build --records train.svm --test test.svm --format svm -q -o F.safetensors || exit 1
"$ocdm" stream build --records train.svm --test test.svm --format svm --labels-only -q -o L.safetensors || exit 1
"$ocdm" stream build --recipe scenes --size 16 -q -o scenes.safetensors || exit 1
features=$("$ocdm" weights info --json F.safetensors | grep -o '"name":"features"[^}]*' | grep -o '\[6,[0-9]*\]' | tr -d '[]' | cut -d, -f2)
make_weights linear "fc.weight=3,$features" fc.bias=3
make_weights mlp "hidden.weight=512,$features" hidden.bias=512 fc.weight=3,512 fc.bias=3
# shellcheck disable=SC2046
make_weights cnn $(cnn_tensors 44)

# fails CODE ERROR HINT COMMAND...: nothing on stdout, two lines that say so, and nothing written.
fails() {
    local want=$1 message=$2 hint=$3
    shift 3
    run "$ocdm" "$@"
    same "$want" "$code" && same "" "$(cat "$out")" && same 2 "$(wc -l < "$err")" && same "error: $message" "$(head -n 1 "$err")" &&
        same "hint: $hint" "$(sed -n 2p "$err")" && [ ! -e out.npy ] && [ ! -e out.safetensors ]
}

says_header() { # says_header FILE ROWS COLUMNS
    head -c 128 "$1" | tail -c +11 | grep -qa "^{'descr': '<f4', 'fortran_order': False, 'shape': ($2, $3), } *$" &&
        same $((128 + 4 * $2 * $3)) "$(wc -c < "$1")"
}

writes_scores() {
    run "$ocdm" predict F.safetensors --model linear --weights linear -o scores.npy
    same 0 "$code" && same 'scores.npy: test samples: 2, classes: 3' "$(cat "$out")" && says_header scores.npy 2 3 || return 1
    same "$(for i in 1 2 3 4 5 6; do printf ' 1'; done)" "$(tail -c 24 scores.npy | od -An -v -t f4 | tr -s ' \n' ' ' | sed 's/ $//')" || return 1
    run "$ocdm" predict F.safetensors --model mlp --weights mlp --split all --batch 1 --json -o scores.npy
    same 0 "$code" && says_header scores.npy 6 3 &&
        same '{"file":"scores.npy","split":"all","samples":6,"classes":3,"skipped":0}' "$(cat "$out")" || return 1
    run "$ocdm" predict F.safetensors --model linear --weights linear --split train -q -o scores.npy
    same 0 "$code" && says_header scores.npy 4 3 && same "" "$(cat "$out" "$err")"
}

predicts_scenes() {
    run "$ocdm" predict scenes.safetensors --model cnn --weights cnn -q -o scores.npy
    same 0 "$code" && says_header scores.npy 2200 44 && same 96800 "$(tail -c +129 scores.npy | od -An -v -w4 -t f4 | grep -cx ' *1')"
}

refuses_predictions() {
    fails 2 'no stream is given' 'name a file that `ocdm stream build` wrote' predict --model linear --weights linear -o out.npy &&
        fails 2 '--weights is missing' '--help describes it' predict F.safetensors --model linear -o out.npy &&
        fails 2 '--model is missing' '--help describes it' predict F.safetensors --weights linear -o out.npy &&
        fails 2 '--output is missing' '--help describes it' predict F.safetensors --model linear --weights linear &&
        fails 2 'linear is an input and the output' 'write to another file' predict F.safetensors --model linear --weights linear -o ./../"${place##*/}"/linear &&
        fails 2 '--strict and --skip-bad are both given' 'choose one of them' \
            predict F.safetensors --model linear --weights linear --strict --skip-bad -o out.npy &&
        fails 2 'the model linear takes no images' 'leave --resize and --crop out' \
            predict F.safetensors --model linear --weights linear --resize 3 -o out.npy &&
        fails 2 'the model mlp takes no images' 'leave --resize and --crop out' predict F.safetensors --model mlp --weights mlp --crop 3 -o out.npy &&
        fails 3 'linear: the weights are for linear, not for mlp' '`ocdm weights info FILE` shows more about them' \
            predict F.safetensors --model mlp --weights linear -o out.npy &&
        fails 3 'L.safetensors: linear takes features, and the stream has none' 'choose another --model, or a stream of the other kind' \
            predict L.safetensors --model linear --weights linear -o out.npy || return 1
    make_weights four "fc.weight=4,$features" fc.bias=4
    fails 3 'four: the head of the weights has 4 classes, the stream has 3' 'weights can predict the classes that they were trained with' \
        predict F.safetensors --model linear --weights four -o out.npy || return 1
    run "$ocdm" predict F.safetensors --model linear --weights nowhere -o out.npy
    same 4 "$code" && grep -q '^error: .*nowhere' "$err" || return 1
    run "$ocdm" predict F.safetensors --model liner --weights linear -o out.npy
    same 2 "$code" && grep -q '^error: .*liner' "$err" || return 1
    for flag in --resize=0 --crop=0 --crop=99999 --threads=0 --threads=65 --batch=0; do
        run "$ocdm" predict F.safetensors --model linear --weights linear "$flag" -o out.npy
        same 2 "$code" && grep -q "^error: .*${flag%=*}" "$err" || { echo "$flag"; return 1; }
    done
}

# A head that is not there would be drawn at random, and its scores would look like some.
evaluates_no_head_of_its_own() {
    local no='the weights have no head, so they cannot predict' why='`ocdm stream featurize` needs no head; predicting does'
    make_weights headless "hidden.weight=512,$features" hidden.bias=512
    make_weights classless "hidden.weight=512,$features" hidden.bias=512 fc.weight=0,512 fc.bias=0
    make_weights five "fc.weight=5,$features" fc.bias=5
    for file in headless classless; do
        fails 3 "$file: $no" "$why" eval F.safetensors --weights $file -q &&
            fails 3 "$file: $no" "$why" eval F.safetensors --weights $file --model mlp -q &&
            fails 3 "$file: $no" "$why" predict F.safetensors --weights $file --model mlp -o out.npy || return 1
    done
    fails 3 'five: the head of the weights has 5 classes, the stream has 3' 'weights can predict the classes that they were trained with' \
        eval F.safetensors --weights five -q || return 1
    run "$ocdm" eval F.safetensors --weights mlp -q
    same 0 "$code" && grep -q '^total ' "$out"
}

# Weights so large that a logit is infinite, which has a rank all the same.
evaluates_no_infinite_logits() {
    local rest=$((12 * features + 12)) i
    {
        head -c -$rest linear
        for ((i = 0; i < 3 * features; i++)); do printf '\377\377\177\177'; done
        tail -c 12 linear
    } > large
    local what='F.safetensors: sample 4: the logit of class 0 is not a finite number' why='the weights are too large, or not for such inputs'
    fails 3 "$what" "$why" eval F.safetensors --weights large -q &&
        fails 3 "$what" "$why" predict F.safetensors --model linear --weights large -o out.npy
}

# A path to an image that is no image: the whole prediction fails, or the row is NaN. One that is not there fails in either case.
judges_images() {
    printf 'no image' > bad.jpg
    printf '{"id":1,"labels":["a"],"split":"test","image":"bad.jpg"}\n' > i.jsonl
    "$ocdm" stream build --records i.jsonl --images . -q -o I.safetensors || return 1
    # shellcheck disable=SC2046
    make_weights one $(cnn_tensors 1)
    run "$ocdm" predict I.safetensors --model cnn --weights one -o out.npy
    same 3 "$code" && grep -q '^error: .*bad.jpg' "$err" && same 'hint: --skip-bad gives such samples a row of NaN and counts them' "$(sed -n 2p "$err")" &&
        [ ! -e out.npy ] || return 1
    run "$ocdm" predict I.safetensors --model cnn --weights one --skip-bad -o nan.npy
    same 0 "$code" && says_header nan.npy 1 1 && same nan "$(tail -c 4 nan.npy | od -An -t f4 | tr -d ' -')" &&
        grep -q '^rows of NaN: 1, the first because of .*bad.jpg' "$err" || return 1
    mkdir -p empty
    run "$ocdm" predict I.safetensors --model cnn --weights one --skip-bad --images empty -o out.npy
    same 4 "$code" && grep -q '^error: .*empty/bad.jpg' "$err" && [ ! -e out.npy ] || return 1
    run "$ocdm" stream featurize I.safetensors --model cnn --weights one -o out.safetensors
    same 3 "$code" && grep -q '^error: .*bad.jpg' "$err" && [ ! -e out.safetensors ]
}

featurizes() {
    run "$ocdm" stream featurize F.safetensors --model mlp --weights mlp --json --threads 1 -o mlp.safetensors
    same 0 "$code" && grep -q '^{"file":"mlp.safetensors","samples":6,"features":512,"classes":3,"ids_sha256":"[0-9a-f]*"}$' "$out" || return 1
    "$ocdm" stream info --verify mlp.safetensors > /dev/null || return 1
    grep -qa '"command":"ocdm stream featurize --model mlp --weights mlp F.safetensors"' mlp.safetensors &&
        grep -qa "$(sha256sum < F.safetensors | cut -d' ' -f1)" mlp.safetensors && grep -qa "$(sha256sum < mlp | cut -d' ' -f1)" mlp.safetensors || return 1
    diff <("$ocdm" stream export --split all F.safetensors) <("$ocdm" stream export --split all mlp.safetensors) || return 1
    run "$ocdm" stream featurize F.safetensors --model linear --weights linear --standardize --feature-type f16 -o f16.safetensors
    same 0 "$code" && same 'f16.safetensors: samples: 6, features: '"$features"', classes: 3' "$(head -n 1 "$out")" || return 1
    "$ocdm" stream build --records train.svm --test test.svm --format svm --standardize --feature-type f16 -q -o want.safetensors
    same "$(tail -c $((16 + 12 * features)) want.safetensors | head -c $((12 * features)) | od -An -x)" \
        "$(tail -c $((16 + 12 * features)) f16.safetensors | head -c $((12 * features)) | od -An -x)"
}

describes_weights() {
    run "$ocdm" weights info linear
    printf '%s\n' "model       linear, features: $features, classes: 3" 'optimiser   no state' "parameters  $((3 * features + 3))" 'tensors     2' '' \
        'name       type  shape  bytes' "fc.weight  F32   3 x $features  $((12 * features))" 'fc.bias    F32   3      12' > want
    same 0 "$code" && diff want "$out" || return 1
    run "$ocdm" weights info --json linear
    same 0 "$code" && same '{"file":"linear","model":"linear","classes":3,"features":'"$features"',"blocks":null,"parameters":'$((3 * features + 3))',"optimiser":false,"tensors":[{"name":"fc.weight","type":"F32","shape":[3,'"$features"'],"bytes":'$((12 * features))'},{"name":"fc.bias","type":"F32","shape":[3],"bytes":12}]}' \
        "$(cat "$out")" || return 1
    run "$ocdm" weights info cnn
    same 0 "$code" && grep -qx 'model       cnn, classes: 44' "$out" && grep -qx 'tensors     22' "$out" || return 1
    make_weights strange 'a b=2,2' "$(printf 'e\302\233m\177')=1"
    run "$ocdm" weights info strange
    same 0 "$code" && grep -qx 'model       none that is known here' "$out" && grep -qx 'e?m?   F32   1      4' "$out"
}

refuses_weights() {
    fails 2 'no weights file is given' 'name a safetensors file' weights info || return 1
    printf 'PK\003\004 and the rest' > w.pt
    printf '\200\002}q\000.' > w.pth
    for file in w.pt w.pth; do
        fails 3 "$file: a pickled file (.pt, .pth), which could run anything when it is read" \
            'convert it once, in Python: safetensors.torch.save_file(torch.load(FILE, weights_only=True), "W.safetensors")' weights info $file || return 1
    done
    head -c -1 linear > cut
    : > empty-file
    for file in cut empty-file train.svm; do
        run "$ocdm" weights info "$file"
        same 3 "$code" && same "" "$(cat "$out")" && same 2 "$(wc -l < "$err")" && grep -q '^error: .*byte ' "$err" || return 1
    done
    run "$ocdm" weights info nowhere
    same 4 "$code" && grep -q '^error: .*nowhere' "$err"
}

# An agent that saw no image has no results, and neither has an evaluation; of some that could not be decoded, -q still tells.
runs_on_images_alone() {
    local i
    for i in 1 2 3; do printf 'no image' > bad$i.jpg; done
    for i in 1 2 3; do printf '{"id":%d,"labels":["a"],"split":"train","image":"bad%d.jpg"}\n' $i $i; done > all.jsonl
    printf '{"id":4,"labels":["a"],"split":"test","image":"bad1.jpg"}\n' >> all.jsonl
    "$ocdm" stream build --records all.jsonl --images . -q -o all.st || return 1
    run "$ocdm" run all.st --model cnn --resize 36 --crop 32 -m 2 --replay 1 -q -o nothing
    same 3 "$code" && same "" "$(cat "$out")" && same 2 "$(wc -l < "$err")" && [ ! -e nothing/summary.json ] &&
        grep -q '^error: all.st: none of the 3 training images can be decoded, the first because of .*bad[123].jpg' "$err" || return 1
    # shellcheck disable=SC2046
    make_weights one $(cnn_tensors 1)
    run "$ocdm" eval all.st --weights one --resize 36 --crop 32 -q
    same 3 "$code" && same "" "$(cat "$out")" && grep -q '^error: all.st: none of the 1 test images can be decoded, the first because of .*bad1.jpg' "$err" || return 1
    # A PNG of one grey pixel in place of the first.
    printf '\211\120\116\107\015\012\032\012\000\000\000\015\111\110\104\122\000\000\000\001\000\000\000\001\010\000\000\000\000\072\176\233\125\000\000\000\012\111\104\101\124\170\332\143\150\000\000\000\202\000\201\332\105\010\073\000\000\000\000\111\105\116\104\256\102\140\202' > bad1.jpg
    run "$ocdm" run all.st --model cnn --resize 36 --crop 32 -m 2 --replay 1 -q -o some
    same 0 "$code" && same "" "$(cat "$out")" && same 1 "$(wc -l < "$err")" &&
        grep -q '^note: images left out, as they cannot be decoded: 2, the first because of .*bad[23].jpg' "$err" &&
        grep -q '"skipped":2,' some/summary.json || return 1
    run "$ocdm" eval all.st --weights some/weights.safetensors --resize 36 --crop 32 -q
    same 0 "$code" && same "" "$(cat "$err")"
}

# linear and mlp use one thread, whatever is asked for; a flag for images is no error there, as one script times all models.
times_with_its_threads() {
    local model
    for model in linear mlp; do
        run "$ocdm" bench train --model $model --image 224 --features 5 --classes 2 --steps 1 --threads 3 --json
        same 0 "$code" && grep -q "^{\"model\":\"$model\",\"precision\":\"f32\",\"threads\":1," "$out" || return 1
    done
    run "$ocdm" bench train --model linear --features 5 --classes 2 --steps 1 --threads 3
    same 0 "$code" && grep -q ', 1 thread: ' "$out" || return 1
    run "$ocdm" bench train --model cnn --image 16 --batch 2 --classes 2 --steps 1 --threads 3 --json
    same 0 "$code" && grep -q '"threads":3,' "$out"
}

# The first signal ends it in good order; the old file stays.
stops() {
    echo before > kept.npy
    "$ocdm" predict scenes.safetensors --model cnn --weights cnn --split all --resize 128 -q -o kept.npy 2> "$err" &
    local process=$!
    for _ in $(seq 100); do
        compgen -G ".ocdm-$process-*" > /dev/null && break
        sleep 0.1
    done
    kill -TERM $process
    wait $process
    code=$?
    same 143 "$code" && same before "$(cat kept.npy)" && grep -q '^error: stopped while predicting; nothing was left behind$' "$err" &&
        ! compgen -G ".ocdm-$process-*"
}

check predict_writes_the_scores_of_a_part writes_scores
check predict_takes_images_of_the_stream predicts_scenes
check predict_refuses_what_does_not_fit refuses_predictions
check eval_refuses_weights_without_a_head evaluates_no_head_of_its_own
check eval_refuses_logits_that_are_not_finite evaluates_no_infinite_logits
check predict_and_featurize_judge_image_files judges_images
check run_and_eval_fail_when_no_image_can_be_decoded runs_on_images_alone
check featurize_writes_a_stream_of_features featurizes
check weights_info_lists_tensors_and_the_model describes_weights
check weights_info_refuses_what_is_no_safetensors refuses_weights
check bench_train_tells_the_threads_that_it_used times_with_its_threads
check predict_stops_at_a_signal_and_leaves_the_file stops
finish
