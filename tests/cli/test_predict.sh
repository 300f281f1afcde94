#!/usr/bin/env bash
# `ocdm predict`, `eval`, `weights info`, `stream featurize`, `ocdm-bench train`, and `run` on bad images: files made in the shell, so that all numbers are known. $1: the program.
. "$(dirname "$0")/tap.sh"
ocdm=$1
bench=${1%/*}/ocdm-bench
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
            if [[ ${pair%%=*} == *fc.bias ]]; then
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
    fails 2 'no file is given' 'name image files, folders of them, or a stream' predict --model linear --weights linear -o out.npy &&
        fails 2 '--weights is missing' '--help describes it' predict F.safetensors --model linear -o out.npy &&
        fails 2 '--output is missing' '--help describes it' predict F.safetensors --model linear --weights linear &&
        fails 2 'linear is an input and the output' 'write to another file' predict F.safetensors --model linear --weights linear -o ./../"${place##*/}"/linear &&
        fails 2 '--strict and --skip-bad are both given' 'choose one of them' \
            predict F.safetensors --model linear --weights linear --strict --skip-bad -o out.npy &&
        fails 2 'the model linear takes no images' 'leave --resize, --crop and --image-size out' \
            predict F.safetensors --model linear --weights linear --resize 3 -o out.npy &&
        fails 2 'the model mlp takes no images' 'leave --resize, --crop and --image-size out' predict F.safetensors --model mlp --weights mlp --crop 3 -o out.npy &&
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
    run "$ocdm" run all.st --model cnn --image-size 32 -m 2 --replay 1 -q -o some
    same 0 "$code" && same "" "$(cat "$out")" && same 1 "$(wc -l < "$err")" &&
        grep -q '^note: images left out, as they cannot be decoded: 2, the first because of .*bad[23].jpg' "$err" &&
        grep -q '"skipped":2,' some/summary.json && grep -q '"resize":36,"crop":32' some/summary.json || return 1
    for flags in '--resize 36 --crop 32' '--image-size 32'; do
        # shellcheck disable=SC2086
        run "$ocdm" eval all.st --weights some/weights.safetensors $flags -q
        same 0 "$code" && same "" "$(cat "$err")" || return 1
    done
    run "$ocdm" eval all.st --weights some/weights.safetensors --resize 0 -q
    same 'note: the weights were trained with --resize 36 --crop 32; they are used with --resize 0 --crop 32' "$(head -n 1 "$err")" || return 1
    run "$ocdm" predict bad1.jpg --weights some/weights.safetensors --image-size 64 -o predicted
    same 0 "$code" &&
        same 'note: the weights were trained with --resize 36 --crop 32; they are used with --resize 73 --crop 64' "$(cat "$err")" || return 1
    fails 2 '--image-size 64 stands for --resize 73 --crop 64' 'leave --resize and --crop out' \
        predict bad1.jpg --weights some/weights.safetensors --image-size 64 --crop 60
}

# What a terminal would obey, 8-bit controls included, is not printed, whether the file can be written or not.
names_of_outputs_are_printable() {
    local name shown='x?[31m???.y'
    name=$(printf 'x\033[31m\302\233\n.y')
    run "$ocdm" weights export linear --onnx "$name" && same "$shown: linear, classes: 3" "$(head -n 1 "$out")" || return 1
    run "$ocdm" predict F.safetensors --weights linear -o "$name" && same "$shown: test samples: 2, classes: 3" "$(cat "$out")" || return 1
    run "$ocdm" weights info "no/$name"
    same "error: no/$shown: No such file or directory" "$(head -n 1 "$err")" || return 1
    cp bad1.jpg "$name.jpg"
    run "$ocdm" predict "$name.jpg" --weights some/weights.safetensors --top 1 --csv && grep -qF "$(head -n 1 <<< "$name")" "$out" || return 1
    run /usr/bin/python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' "$ocdm" predict "$name.jpg" --weights some/weights.safetensors --top 1 --csv
    same "\"$shown.jpg\",a" "$(sed -n '2s/,0[.].*//p' "$out")"
}

# pixel FILE GREY: a PNG of one grey pixel; 0 or 127.
pixel() {
    local row='\0143\0140\0000\0000\0000\0002\0000\0001' sum='\0345\0047\0336\0374'
    [ "$2" = 0 ] || { row='\0143\0250\0007\0000\0000\0201\0000\0200' sum='\0176\0034\0051\0307'; }
    printf '%b' '\0211PNG\r\n\0032\n\0000\0000\0000\0015IHDR\0000\0000\0000\0001\0000\0000\0000\0001\0010\0000\0000\0000\0000\0072\0176\0233\0125' \
        '\0000\0000\0000\0012IDAT\0170\0332'"$row$sum"'\0000\0000\0000\0000IEND\0256\0102\0140\0202' > "$1"
}

# A run on image files at 36 and 32 pixels: a stream "P.st" and the folder "trained".
trained() {
    [ ! -e trained ] || return 0
    local i
    for i in 1 2 3 4; do
        pixel p$i.png $((i % 2 * 127))
        printf '{"id":%d,"labels":["%s"],"split":"%s","image":"p%d.png"}\n' $i "$([ $((i % 2)) = 0 ] && echo night || echo 'day, grey')" \
            "$([ $i -lt 4 ] && echo train || echo test)" $i
    done > p.jsonl
    "$ocdm" stream build --records p.jsonl --images . -q -o P.st && "$ocdm" run P.st --model cnn --resize 36 --crop 32 -m 2 --replay 1 -q -o trained 2> "$err"
}

# The weights say at which size they were trained; before, eval and predict took 256 and 224 pixels.
takes_the_trained_size() {
    trained || return 1
    local w=trained/weights.safetensors note='note: the weights were trained with --resize 36 --crop 32; they are used with'
    run "$ocdm" eval P.st --weights $w -q --json
    same 0 "$code" && same "" "$(cat "$err")" && grep -q '^{"model":"cnn","resize":36,"crop":32,"tests":1,' "$out" || return 1
    run "$ocdm" eval P.st --weights $w -q --json --crop 24
    same 0 "$code" && same "$note --resize 36 --crop 24" "$(cat "$err")" && grep -q '"resize":36,"crop":24,' "$out" || return 1
    run "$ocdm" predict P.st --weights $w -q --split all -o own.npy
    same 0 "$code" && same "" "$(cat "$err")" || return 1
    run "$ocdm" predict P.st --weights $w -q --split all --resize 36 --crop 32 -o same.npy
    same 0 "$code" && same "" "$(cat "$err")" && cmp own.npy same.npy || return 1
    run "$ocdm" predict P.st --weights $w -q --split all --resize 48 --crop 48 -o other.npy
    same 0 "$code" && same "$note --resize 48 --crop 48" "$(cat "$err")" && ! cmp -s own.npy other.npy || return 1
    sed 's/night/nacht/' p.jsonl > q.jsonl
    "$ocdm" stream build --records q.jsonl --images . -q -o Q.st || return 1
    fails 3 "$w: class 1 of the weights is night, that of the stream is nacht" 'weights can predict the classes that they were trained with, in their order' \
        eval Q.st --weights $w -q && fails 3 "$w: class 1 of the weights is night, that of the stream is nacht" \
        'weights can predict the classes that they were trained with, in their order' predict Q.st --weights $w -o out.npy
}

describes_itself() {
    trained || return 1
    run "$ocdm" weights info trained/weights.safetensors
    same 0 "$code" && same 'model       cnn, classes: 2' "$(head -n 1 "$out")" &&
        grep -qxF 'input       images, --resize 36 --crop 32, mean [0.485,0.456,0.406], std [0.229,0.224,0.225]' "$out" &&
        grep -qx 'classes     day, grey, night' "$out" && grep -qx "run         $(grep -o '"id":"[0-9a-f]*' trained/summary.json | cut -c7-), by ocdm .*" "$out" || return 1
    run "$ocdm" weights info --json trained/weights.safetensors
    same 0 "$code" && grep -q ',"resize":36,"crop":32,"mean":\[0.485,0.456,0.406\],"std":\[0.229,0.224,0.225\],"class_names":\["day, grey","night"\],"tensors":' "$out" || return 1
    local take='this is the checkpoint of a run; take its weights, trained/weights.safetensors'
    run "$ocdm" weights info trained/checkpoint.safetensors
    same 0 "$code" && same "note: trained/checkpoint.safetensors: $take" "$(cat "$err")" && same 'model       cnn, classes: 2' "$(head -n 1 "$out")" || return 1
    run "$ocdm" eval P.st --weights trained/checkpoint.safetensors -q
    same 3 "$code" && same "error: trained/checkpoint.safetensors: $take" "$(cat "$err")" || return 1
    cp trained/checkpoint.safetensors alone.st
    fails 3 'alone.st: this is the checkpoint of a run that has not written its weights yet' \
        '`ocdm run --resume` finishes it and writes them: weights.safetensors' predict P.st --weights alone.st -o out.npy &&
        fails 3 'P.st: this is a stream, not a weights file' '`ocdm run` leaves weights: weights.safetensors' eval P.st --weights P.st -q
}

# Weights that say what they are, with tensors of no model: `weights info` read through a null pointer.
describes_weights_of_no_model() {
    trained || return 1
    sed 's/"bn4.bias"/"bn4.bios"/; s/"checksum"/"cheksumm"/' trained/weights.safetensors > unknown
    run "$ocdm" weights info unknown
    same 0 "$code" && grep -q '^model       none: the tensors are nearly those of cnn' "$out" &&
        grep -qxF 'input       images, --resize 36 --crop 32, mean [0.485,0.456,0.406], std [0.229,0.224,0.225]' "$out" || return 1
    run "$ocdm" weights info --json unknown
    same 0 "$code" && grep -q '"model":null,.*"std":\[0.229,0.224,0.225\]' "$out"
}

# Raw features are standardized as the weights say; a stream that was standardized in another way is refused, by name.
standardizes_as_the_weights_say() {
    local i note='note: the features of the stream are raw; they are standardized by the mean and deviation that the weights carry'
    for ((i = 0; i < 40; i++)); do
        echo "$([ $((i % 2)) = 0 ] && echo a || echo b) 1:$((100 + i % 7)) 2:$((i * i % 11)) 3:$((i % 2 * 3)) 4:5"
    done > many.svm
    tail -n 9 many.svm > few.svm
    local build=(stream build --format svm --test few.svm -q)
    "$ocdm" "${build[@]}" --records many.svm -o raw.st && "$ocdm" "${build[@]}" --records many.svm --standardize -o std.st &&
        "$ocdm" "${build[@]}" --records few.svm --standardize -o other.st
    "$ocdm" run std.st --model linear -m 12 -q -o on-std && "$ocdm" run raw.st --model linear -m 12 -q -o on-raw || return 1
    local w=on-std/weights.safetensors hint='build the stream without --standardize: raw features are standardized as the weights say'
    for i in raw std; do
        "$ocdm" eval $i.st --weights $w --json -q > $i.json 2> $i.err && "$ocdm" predict $i.st --weights $w -o $i.npy -q 2>> $i.err || return 1
    done
    cmp raw.json std.json && cmp raw.npy std.npy && same "" "$(cat std.err)" && same "$note"$'\n'"$note" "$(cat raw.err)" || return 1
    same "$(grep -o '"OF1":[0-9.]*' on-std/summary.json | head -n 1)" "$(grep -o '"OF1":[0-9.]*' raw.json | head -n 1)" || return 1
    fails 3 'on-raw/weights.safetensors was trained on raw features, and those of std.st are standardized' "$hint" \
        eval std.st --weights on-raw/weights.safetensors -q || return 1
    for i in "eval other.st -q" "predict other.st -o o.npy"; do
        # shellcheck disable=SC2086
        run "$ocdm" $i --weights $w
        same 3 "$code" && grep -q "^error: $w and other.st: the features were standardized in two ways; feature 0 has mean 10[0-9.]* and" "$err" &&
            same "hint: $hint" "$(tail -n 1 "$err")" || return 1
    done
}

predicts_files() {
    # shellcheck disable=SC2046
    make_weights two $(cnn_tensors 2)
    mkdir -p photos/sub
    pixel photos/b.png 0
    pixel photos/sub/a 127
    printf 'no image' > photos/notes.txt
    printf 'no image' > photos/.hidden.jpg
    printf 'cat\r\ndog, large\n' > names
    local flags=(--weights two --classes names --resize 32 --crop 32)
    run "$ocdm" predict photos "${flags[@]}"
    same 0 "$code" && same $'photos/b.png  cat 0.73, dog, large 0.73\nphotos/sub/a  cat 0.73, dog, large 0.73' "$(cat "$out")" && same "" "$(cat "$err")" || return 1
    run "$ocdm" predict photos/sub photos/b.png "${flags[@]}" --threshold 0.8
    same 0 "$code" && same $'photos/sub/a  nothing above 0.8; best is cat 0.73\nphotos/b.png  nothing above 0.8; best is cat 0.73' "$(cat "$out")" || return 1
    run "$ocdm" predict photos/b.png --weights two --resize 32 --crop 32 --top 1 --json
    same 0 "$code" && same '{"file":"photos/b.png","labels":[{"label":"0","probability":0.7311}]}' "$(cat "$out")" || return 1
    printf 'no image' > photos/c.jpg
    run "$ocdm" predict photos nowhere.jpg "${flags[@]}" --csv -o list.csv -q
    same 3 "$code" && same $'error: photos/c.jpg: neither a JPEG nor a PNG image\nerror: cannot open nowhere.jpg: No such file or directory' "$(cat "$err")" &&
        same $'file,label,probability\nphotos/b.png,cat,0.7311\nphotos/b.png,"dog, large",0.7311\nphotos/sub/a,cat,0.7311\nphotos/sub/a,"dog, large",0.7311' "$(cat list.csv)" || return 1
    run "$ocdm" predict photos/c.jpg photos/b.png "${flags[@]}" --json --threshold 0.9 --skip-bad
    same 0 "$code" && same $'{"file":"photos/c.jpg","error":"photos/c.jpg: neither a JPEG nor a PNG image"}\n{"file":"photos/b.png","labels":[]}' "$(cat "$out")" || return 1
    run "$ocdm" predict nowhere.jpg "${flags[@]}"
    same 4 "$code" && same "" "$(cat "$out")" || return 1
    trained && run "$ocdm" predict p1.png --weights trained/weights.safetensors --top 2
    same 0 "$code" && grep -q '^p1.png  .*day, grey 0' "$out" && grep -q 'night 0' "$out"
}

refuses_files() {
    trained || return 1
    mkdir -p none
    fails 3 "linear: the weights are for $features features, not for images" \
        'build a stream with such features of your images, then: ocdm predict STREAM --weights FILE -o scores.npy' predict p1.png --weights linear &&
        fails 2 '--json and --csv are both given' 'choose one of them' predict p1.png --weights two --json --csv &&
        fails 2 '--split is for streams, not for image files' 'leave it out' predict p1.png --weights two --split all &&
        fails 2 '--top is for image files, not for streams' 'leave it out' predict P.st --weights two --top 3 -o out.npy &&
        fails 2 'a stream among several files' 'predict it in a command of its own' predict p1.png P.st --weights two &&
        fails 2 'out.npy: NPY files of logits are made of streams, not of image files' 'take --csv or --json, or build a stream of the images' \
            predict p1.png --weights two -o out.npy &&
        fails 2 'p1.png is an input and the output' 'write to another file' predict p1.png --weights two -o p1.png &&
        fails 3 'p.jsonl: there are 4 names, and the weights have 2 classes' 'one name on each line, in the order of the head' predict p1.png --weights two --classes p.jsonl || return 1
    run "$ocdm" predict none --weights two
    same 3 "$code" && same 'error: none: no JPEG or PNG file is in the folder' "$(cat "$err")"
}

# What training programs put before the names of a network is taken away; what does not fit is refused with its one reason.
unwraps_names() {
    local wrapper no='`ocdm weights info FILE` lists them; docs/agent.md describes the models'
    trained || return 1
    # shellcheck disable=SC2046
    make_weights two $(cnn_tensors 2)
    "$ocdm" predict P.st --weights two --resize 32 --crop 32 -q -o two.npy || return 1
    for wrapper in module. state_dict. model.module. state_dict.model._orig_mod.; do
        # shellcheck disable=SC2046
        make_weights wrapped epoch=1 $(for pair in $(cnn_tensors 2); do echo "$wrapper$pair"; done) optimizer.state=3
        run "$ocdm" weights info wrapped
        same 0 "$code" && same 'model       cnn, classes: 2' "$(head -n 1 "$out")" && grep -qx "wrapper     $wrapper, other tensors: 2" "$out" || return 1
        run "$ocdm" predict P.st --weights wrapped --resize 32 --crop 32 -q -o wrapped.npy
        same 0 "$code" && cmp two.npy wrapped.npy || { cat "$err"; return 1; }
    done
    make_weights timm conv_stem.weight=32,3,3,3 bn1.weight=32 classifier.weight=2,8 classifier.bias=2
    fails 3 "timm: the tensors are those of no model here but of timm's MobileNet or EfficientNet (conv_stem.weight)" "$no" eval P.st --weights timm -q || return 1
    # shellcheck disable=SC2046
    make_weights lacking $(cnn_tensors 2 | tr ' ' '\n' | grep -v bn4.bias)
    fails 3 'lacking: the tensors are nearly those of cnn, but the file lacks bn4.bias' "$no" eval P.st --weights lacking -q || return 1
    run "$ocdm" weights info lacking
    same 0 "$code" && same 'model       none: the tensors are nearly those of cnn, but the file lacks bn4.bias' "$(head -n 1 "$out")"
}

exports_onnx() {
    trained || return 1
    run "$ocdm" weights export trained/weights.safetensors --onnx net.onnx
    same 0 "$code" && same "" "$(cat "$err")" && same 'net.onnx: cnn, classes: 2
input   image, batch x 3 x 32 x 32: RGB, 0 to 255; the shorter side resized to 36 pixels, then the square of 32 in the middle
output  logits and probabilities, batch x 2' "$(cat "$out")" && grep -qaF '["day, grey","night"]' net.onnx || return 1
    run "$ocdm" weights export linear --onnx linear.onnx -q
    same 0 "$code" && same "" "$(cat "$out" "$err")" && grep -qa Gemm linear.onnx && ! grep -qa offset linear.onnx || return 1
    "$ocdm" stream build --records train.svm --test test.svm --format svm --standardize -q -o Z.st && "$ocdm" run Z.st -m 2 --replay 1 -q -o standard || return 1
    run "$ocdm" weights export standard/weights.safetensors --onnx standard.onnx
    same 0 "$code" && grep -q ': features before they are standardized$' "$out" && grep -qa offset standard.onnx || return 1
    fails 2 'no weights file is given' 'name a safetensors file' weights export --onnx out.npy &&
        fails 2 '--onnx is missing' 'name the file to write' weights export linear &&
        fails 2 'linear is an input and the output' 'write to another file' weights export linear --onnx linear &&
        fails 2 'the model linear takes no images' 'leave --resize, --crop and --image-size out' weights export linear --crop 3 --onnx out.npy &&
        fails 3 'headless: the weights have no head, so they cannot predict' '`ocdm stream featurize` needs no head; predicting does' weights export headless --onnx out.npy
}

# linear and mlp use one thread, whatever is asked for; a flag for images is no error there, as one script times all models.
times_with_its_threads() {
    local model
    for model in linear mlp; do
        run "$bench" train --model $model --image 224 --features 5 --classes 2 --steps 1 --threads 3 --json
        same 0 "$code" && grep -q "^{\"model\":\"$model\",\"precision\":\"f32\",\"threads\":1," "$out" || return 1
    done
    run "$bench" train --model linear --features 5 --classes 2 --steps 1 --threads 3
    same 0 "$code" && grep -q ', 1 thread: ' "$out" || return 1
    run "$bench" train --model cnn --image 16 --batch 2 --classes 2 --steps 1 --threads 3 --json
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
check eval_and_predict_take_the_size_of_training takes_the_trained_size
check weights_say_what_they_are describes_itself
check weights_of_no_model_are_described describes_weights_of_no_model
check features_are_standardized_as_the_weights_say standardizes_as_the_weights_say
check predict_prints_the_labels_of_image_files predicts_files
check predict_refuses_what_image_files_cannot_have refuses_files
check weights_of_other_programs_are_unwrapped_or_refused unwraps_names
check weights_export_writes_onnx exports_onnx
check run_and_eval_fail_when_no_image_can_be_decoded runs_on_images_alone
check names_of_outputs_are_printable names_of_outputs_are_printable
check featurize_writes_a_stream_of_features featurizes
check weights_info_lists_tensors_and_the_model describes_weights
check weights_info_refuses_what_is_no_safetensors refuses_weights
check bench_train_tells_the_threads_that_it_used times_with_its_threads
check predict_stops_at_a_signal_and_leaves_the_file stops
finish
