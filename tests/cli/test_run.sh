#!/usr/bin/env bash
# `ocdm run` and `ocdm eval` on a built-in stream: files, signals, SIGKILL, resuming, bad input. $1: the program.
. "$(dirname "$0")/tap.sh"
ocdm=$1
cd "$place" || exit 1

# Settings under which a run takes a second or two, so that it can be stopped half way.
settings="--lr 0.005 --memory 200 --seed 3 --checkpoint-every 20 --threads 1"

build() {
    run "$ocdm" stream build --recipe scenes --as features -o s.safetensors
    same 0 "$code" && [ -s s.safetensors ]
}

# without_times FILE: a summary without what belongs to a machine.
without_times() {
    sed 's/,"times":{.*$//' "$1"
}

same_runs() { # same_runs A B
    cmp "$1/weights.safetensors" "$2/weights.safetensors" && cmp "$1/memory.jsonl" "$2/memory.jsonl" &&
        same "$(without_times "$1/summary.json")" "$(without_times "$2/summary.json")"
}

makes_its_files() {
    # shellcheck disable=SC2086
    run "$ocdm" run s.safetensors -o whole $settings
    same 0 "$code" || return 1
    for file in run.jsonl summary.json memory.jsonl weights.safetensors checkpoint.safetensors checkpoint.previous.safetensors lock; do
        [ -e "whole/$file" ] || { echo "no $file"; return 1; }
    done
    same 7 "$(find whole -type f | wc -l)" && same 200 "$(wc -l < whole/memory.jsonl)" && grep -q '^total ' "$out" &&
        grep -q '"format":"ocdm-run","version":1,' whole/summary.json &&
        same 1 "$(grep -c '"type":"end"' whole/run.jsonl)"
}

# Every member that docs/run-files.md names is where it should be, and no other.
tells_everything() {
    /usr/bin/python3 - << 'END'
import json
summary = json.load(open("whole/summary.json"))
def has(where, names):
    node = summary
    for key in where:
        node = node[key]
    assert list(node) == names.split(), (where, list(node))
metrics = "classes CF1 OF1 mAP CP CR CF1_macro OP OR AUC ranking_loss coverage hamming one_error ECE"
evaluation = "after task step samples distance distance_seen total majority moderate minority tasks"
has([], "format version id program settings stream classes evaluations final forgetting BWT FWT mean_mAP mean_CF1 mean_OF1 memory cost curve steps samples skipped times environment")
has(["settings"], "method memory batch replay rho class_weights distance tie model weights precision lr adam_eps clip seed order epochs resize crop "
    "groups log_every validation resample_tests loss negatives focal loss_balance ema ema_start optimiser weight_decay momentum schedule horizon warmup lambda project class_balance "
    "replay_policy dark memory_bytes store blur eval_every eval_samples steps_per_batch budget tolerance ema_delay pseudo threshold transfer")
has(["stream"], "file checksum ids_sha256 train test classes tasks kind width")
has(["classes", 0], "name group train test tasks")
for i in range(summary["stream"]["tasks"]):
    has(["evaluations", i], evaluation)
    has(["evaluations", i, "total"], metrics)
    has(["evaluations", i, "tasks", i], "task " + metrics)
has(["final"], evaluation + " per_class")
has(["final", "per_class", 0], "AP precision recall positives AUC ECE")
has(["forgetting"], "mean tasks")
has(["forgetting", "tasks", 0], "task points")
has(["memory"], "kept counts target seen labels labels_seen pairs")
memory = summary["memory"]
assert abs(memory["labels"] - sum(memory["counts"]) / memory["kept"]) < 1e-9, memory["labels"]
assert abs(memory["labels_seen"] - sum(memory["seen"]) / summary["stream"]["train"]) < 1e-9, memory["labels_seen"]
kept = [json.loads(line)["labels"] for line in open("whole/memory.jsonl")]
name = lambda c: summary["classes"][c]["name"]
for pair in memory["pairs"]:
    low, high = pair["classes"]
    assert pair["kept"] == sum(name(low) in labels and name(high) in labels for labels in kept), pair
assert 0 < len(memory["pairs"]) <= 20 and any(pair["kept"] for pair in memory["pairs"])
assert [pair["seen"] for pair in memory["pairs"]] == sorted((pair["seen"] for pair in memory["pairs"]), reverse=True)
has(["cost"], "updates missed gflop gflop_per_step payload_bytes label_bytes beside_bytes memory_bytes")
has(["curve"], "step task loss distance distance_seen")
has(["times"], "per_1000_steps draw decode train update evaluate total update_share ended")
has(["environment"], "cpu cores threads system machine files")
for key in ("weights", "class_weights", "clip", "resize", "crop"):
    assert summary["settings"][key] is None, key
END
}

runs_the_memory_alone() {
    run "$ocdm" run s.safetensors -o alone --model none --method prs --memory 50 --json
    same 0 "$code" && cmp "$out" alone/summary.json && same 50 "$(wc -l < alone/memory.jsonl)" &&
        [ ! -e alone/weights.safetensors ] && grep -q '"mAP":null' "$out" && grep -q '"loss":\[null' "$out"
}

# wait_for FILE PATTERN: until a line is there, ten seconds at most.
wait_for() {
    for _ in $(seq 1000); do
        grep -q "$2" "$1" 2> /dev/null && return 0
        sleep 0.01
    done
    echo "no $2 in $1"
    return 1
}

# stopped_by SIGNAL CODE: a run that is sent a signal after some steps, then goes on.
stopped_by() {
    rm -rf parts
    # shellcheck disable=SC2086
    interruptible "$ocdm" run s.safetensors -o parts $settings -q 2> "$err" &
    local child=$!
    wait_for parts/run.jsonl '^{"type":"step","step":60,' || return 1
    kill "-$1" "$child"
    wait "$child" 2> /dev/null
    code=$?
    same "$2" "$code" || return 1
    [ ! -e parts/summary.json ] || { echo "it had finished"; return 1; }
    # shellcheck disable=SC2086
    run "$ocdm" run s.safetensors -o parts $settings --resume -q
    same 0 "$code" && same_runs whole parts && grep -q '"resumed":' parts/run.jsonl
}

# Killed again and again, at any moment after new steps were saved: checkpoints are 20 steps apart.
killed_often() {
    local step=0
    rm -rf parts
    for pause in 0.00 0.03 0.01 0.04 0.02; do
        step=$((step + 60))
        # shellcheck disable=SC2086
        "$ocdm" run s.safetensors -o parts $settings --resume -q 2> /dev/null &
        local child=$!
        wait_for parts/run.jsonl "^{\"type\":\"step\",\"step\":$step," || return 1
        sleep "$pause"
        kill -KILL "$child" || { echo "it had ended"; return 1; }
        wait "$child" 2> /dev/null
        [ ! -e parts/summary.json ] || { echo "it had finished"; return 1; }
        step=$(grep -o '^{"type":"step","step":[0-9]*' parts/run.jsonl | tail -n 1 | sed 's/.*://')
    done
    # shellcheck disable=SC2086
    run "$ocdm" run s.safetensors -o parts $settings --resume -q
    same 0 "$code" && same_runs whole parts || return 1
    # Each went on from a later checkpoint than the one before.
    grep -o '"resumed":[0-9]*' parts/run.jsonl | sed 's/.*://' > resumed
    same 5 "$(wc -l < resumed)" && sort -nu resumed | cmp - resumed && [ "$(head -n 1 resumed)" -ge 40 ]
}

# fails CODE PATTERN ARGUMENTS...: nothing on stdout, one line of error.
fails() {
    local expected=$1 pattern=$2
    shift 2
    run "$ocdm" "$@"
    same "$expected" "$code" && same "" "$(cat "$out")" && same 1 "$(grep -c '^error: ' "$err")" && grep -q -- "$pattern" "$err"
}

refuses_bad_settings() {
    fails 2 'a memory of 5 samples is smaller than the 10 that are replayed' run s.safetensors -o bad --memory 5 &&
        fails 2 'the stream has features, the model resnet18 takes images' run s.safetensors -o bad --model resnet18 &&
        fails 2 'the method finetune needs a model' run s.safetensors -o bad --method finetune --model none &&
        fails 5 '^error: 1 places cannot be divided among 4 tasks$' run s.safetensors -o bad --method bat-ocdm --memory 1 --replay 1 &&
        fails 2 'the method sees the stream once' run s.safetensors -o bad --epochs 3 &&
        fails 2 'the order names 1 tasks' run s.safetensors -o bad --order 0 &&
        fails 3 'the method cbrs takes samples with one label' run s.safetensors -o bad --method cbrs &&
        fails 2 'no folder is named' run s.safetensors &&
        fails 4 'no-such-file' run no-such-file -o bad &&
        fails 4 'no-weights' run s.safetensors -o bad --weights no-weights &&
        fails 2 '^error: the order names task 9, which the stream does not have$' run s.safetensors -o bad/deep --order 0,9 &&
        fails 2 '^error: the order names task 1 twice$' run s.safetensors -o bad/ --order 0,1,1,2 &&
        [ ! -e bad ]
}

# What was there before a refused run stays.
refusing_leaves_what_was_there() {
    mkdir there && touch there/mine
    fails 4 'no-weights' run s.safetensors -o there/new/er --weights no-weights && same mine "$(ls -A there)" &&
        fails 4 'no-weights' run s.safetensors -o there --weights no-weights && same mine "$(ls -A there)"
}

# little PARTS...: a stream of 20 samples with features; a part for each, over and over.
little() {
    for i in $(seq 0 19); do
        parts=("$@")
        printf '{"id":%d,"split":"%s","labels":["a"%s%s]}\n' "$i" "${parts[i % $#]}" "$([ $((i % 4)) -ne 1 ] || echo ',"b"')" \
            "$([ "$i" -ne 4 ] || echo ',"c"')"
    done > little.jsonl
    /usr/bin/python3 -c 'import struct
header = "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (20, 2), }".ljust(117) + "\n"
open("little.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.encode() + struct.pack("<40f", *range(40)))'
    "$ocdm" stream build little.jsonl --features little.npy -o little.safetensors --quiet
}

a_stream_without_tests_says_so() {
    little train && run "$ocdm" run little.safetensors -o untested
    same 0 "$code" && same 'note: the stream has no test samples: there will be no metrics' "$(cat "$err")" &&
        same 'metrics   none: the stream has no test samples' "$(head -n 1 "$out")" && ! grep -q '^total' "$out"
}

# Of a, b and c, only a and b are tested; a has 10 training samples, b none, c 1.
classes_without_tests_are_named() {
    little train test && run "$ocdm" run little.safetensors -o named
    same 0 "$code" && same 'note: classes without test samples, which do not count in the metrics: 1 of 3: c' "$(cat "$err")"
}

small_data_sets_have_terciles() {
    little train train test && run "$ocdm" run little.safetensors -o thirds
    same 0 "$code" && same 'terciles  classes' "$(head -n 1 "$out" | cut -c 1-17)" && grep -q '"groups":"terciles"' thirds/summary.json &&
        same 'a majority b moderate c minority ' "$(/usr/bin/python3 -c 'import json
for c in json.load(open("thirds/summary.json"))["classes"]: print(c["name"], c["group"], end=" ")')" &&
        "$ocdm" run little.safetensors -o bounds --groups 600,100 > "$out" && same '          classes' "$(head -n 1 "$out" | cut -c 1-17)"
}

refuses_a_folder_with_a_run() {
    # shellcheck disable=SC2086
    fails 2 'whole: a finished run is there' run s.safetensors -o whole $settings || return 1
    # shellcheck disable=SC2086
    run "$ocdm" run s.safetensors -o whole $settings --resume
    same 0 "$code" && grep -q 'note: the run is finished' "$err" && grep -q '^total ' "$out" &&
        fails 2 'the run began with memory 200, not 300' run s.safetensors -o whole --lr 0.005 --memory 300 --seed 3 --resume
}

# Somebody made room: the summary tells as much as the checkpoint did.
compares_what_is_finished() {
    cp -r whole bare && rm bare/checkpoint*.safetensors || return 1
    # shellcheck disable=SC2086
    run "$ocdm" run s.safetensors -o bare $settings --resume
    same 0 "$code" && same 'note: the run is finished: nothing is left to do' "$(cat "$err")" || return 1
    fails 2 '^error: bare/summary.json: the run began with memory 200, not 300$' run s.safetensors -o bare --lr 0.005 --memory 300 --seed 3 --resume &&
        fails 2 'the run began with lr 0.005, not 0.0001$' run s.safetensors -o bare --memory 200 --seed 3 --resume &&
        cmp whole/summary.json bare/summary.json
}

# Every x86-64 CPU that runs the networks has more than SSE4.1, so the limit always changes something.
tells_other_instructions() {
    cp -r whole moved && rm moved/summary.json || return 1
    # shellcheck disable=SC2086
    DNNL_MAX_CPU_ISA=SSE41 fails 2 'moved: the run was saved with oneDNN .*, here is oneDNN SSE4.1' run s.safetensors -o moved $settings --resume \
        --strict || return 1
    # shellcheck disable=SC2086
    DNNL_MAX_CPU_ISA=SSE41 run "$ocdm" run s.safetensors -o moved $settings --resume -q
    same 0 "$code" && grep -q '^note: the run was saved with oneDNN .*: the last bits may differ' "$err" && [ -e moved/summary.json ]
}

# Groups are what the file says, not what it is called.
compares_groups_by_content() {
    local group='"name":"\([^"]*\)","group":"\([a-z]*\)"'
    grep -o '"name":"[^"]*","group":"[a-z]*"' whole/summary.json | sed "s/$group/\2: \1/" > groups.txt
    mkdir -p elsewhere changed && sort -r groups.txt > elsewhere/renamed.txt || return 1
    # The first class goes to the next group.
    sed -e '1s/^majority/none/;1s/^m[a-z]*/majority/;1s/^none/moderate/' groups.txt > changed/groups.txt
    [ "$(wc -l < groups.txt)" -gt 20 ] && same 1 "$(diff groups.txt changed/groups.txt | grep -c '^>')" || return 1
    run "$ocdm" run s.safetensors -o grouped --model none --memory 50 --groups groups.txt -q
    same 0 "$code" || return 1
    for compared in checkpoint summary; do
        run "$ocdm" run s.safetensors -o grouped --model none --memory 50 --groups elsewhere/renamed.txt --resume -q
        same 0 "$code" && grep -q 'note: the run is finished' "$err" || return 1
        fails 2 "^error: grouped/$compared.*: the run began with the class .* in the group [a-z]*, not [a-z]*\$" run s.safetensors -o grouped --model none --memory 50 \
            --groups changed/groups.txt --resume || return 1
        rm -f grouped/checkpoint*.safetensors
    done
}

# The weights reach the target, and are compared by what the file says.
weighs_classes() {
    local first
    first=$(grep -o '"classes":\[{"name":"[^"]*"' whole/summary.json | sed 's/.*:"//; s/"$//')
    mkdir -p heavier && echo "$first: 5" > weights.txt && echo "{\"$first\": 5}" > heavier/same.json && echo "$first: 6" > heavier/weights.txt
    run "$ocdm" run s.safetensors -o weighed --model none --memory 100 --class-weights weights.txt -q
    same 0 "$code" && grep -q '"class_weights":"weights.txt"' weighed/summary.json || return 1
    run "$ocdm" run s.safetensors -o unweighed --model none --memory 100 -q
    same 0 "$code" && /usr/bin/python3 - << 'END' || return 1
import json
weighed, plain = (json.load(open(f"{name}/summary.json")) for name in ("weighed", "unweighed"))
assert [c["weight"] for c in weighed["classes"]] == [5] + [1] * (len(plain["classes"]) - 1)
assert not any("weight" in c for c in plain["classes"])
target = weighed["memory"]["target"]
assert abs(target[0] / target[1] - 5) < 1e-9 and len(set(target[1:])) == 1 and len(set(plain["memory"]["target"])) == 1
assert weighed["memory"]["counts"][0] > 2 * plain["memory"]["counts"][0]
END
    for compared in checkpoint summary; do
        run "$ocdm" run s.safetensors -o weighed --model none --memory 100 --class-weights heavier/same.json --resume -q
        same 0 "$code" && grep -q 'note: the run is finished' "$err" || return 1
        fails 2 "^error: weighed/$compared.*: the run began with the weight 5 for the class $first, not 6\$" run s.safetensors -o weighed --model none \
            --memory 100 --class-weights heavier/weights.txt --resume &&
            fails 2 "^error: weighed/$compared.*: the run began with class_weights \"weights.txt\", not null\$" run s.safetensors -o weighed \
                --model none --memory 100 --resume &&
            fails 2 "^error: unweighed/$compared.*: the run began with class_weights null, not \"weights.txt\"\$" run s.safetensors -o unweighed \
                --model none --memory 100 --class-weights weights.txt --resume || return 1
        rm -f weighed/checkpoint*.safetensors unweighed/checkpoint*.safetensors
    done
    run "$ocdm" compare s.safetensors --model none --methods ocdm --memory 100 --class-weights weights.txt --json
    same 0 "$code" && grep -q "$(grep -o '"distance_seen":[0-9.e-]*' weighed/run.jsonl | tail -n 1 | sed 's/.*://')" "$out" || return 1
    echo "no-such-class: 2" > bad.txt
    fails 3 '^error: bad.txt:1:1: the stream has no class "no-such-class"$' run s.safetensors -o bad --model none --class-weights bad.txt &&
        fails 4 'none.txt' run s.safetensors -o bad --model none --class-weights none.txt
}

refuses_another_stream() {
    run "$ocdm" stream build --recipe scenes --as features --seed 5 -o other.safetensors
    # shellcheck disable=SC2086
    same 0 "$code" && fails 3 'has changed since the run began' run other.safetensors -o whole $settings --resume
}

# A file system that takes a little: what was saved before stays whole. /dev/full takes nothing at all.
tells_when_nothing_can_be_written() {
    mkdir full && ln -s /dev/full full/run.jsonl
    fails 4 'run.jsonl' run s.safetensors -o full --resume --lr 0.005
}

evaluates_what_was_saved() {
    run "$ocdm" eval s.safetensors --weights whole/weights.safetensors --json --per-class
    same 0 "$code" || return 1
    # The last evaluation of the run was on the same tests with the same weights.
    for part in total majority minority; do
        grep -o "\"$part\":{[^}]*}" "$out" | head -1 > now
        grep -o "\"$part\":{[^}]*}" whole/summary.json | tail -1 > then
        cmp now then || return 1
    done
    same "$(grep -o '"per_class":.*\]' "$out")" "$(grep -o '"per_class":\[[^]]*\]' whole/summary.json)"
}

# Told once, although the program looks at its output twice.
tells_a_full_output_once() {
    "$ocdm" eval s.safetensors --weights whole/weights.safetensors -q > /dev/full 2> "$err"
    code=$?
    same 4 "$code" && same 1 "$(grep -c '^error' "$err")"
}

refuses_an_empty_folder_name() {
    fails 2 "the folder's name is empty" run s.safetensors -o '' --model none
}

# The weights to start from may move and be renamed, but not change.
compares_weights() {
    mkdir -p w && cp whole/weights.safetensors w/first && "$ocdm" run s.safetensors -o from --model linear --weights w/first --method finetune -q > /dev/null || return 1
    grep -q "\"weights\":\"first\",\"weights_sha256\":\"$(sha256sum < w/first | cut -c1-64)\"" from/summary.json || return 1
    cp w/first w/second && run "$ocdm" run s.safetensors -o from --weights w/second --method finetune --resume
    same 0 "$code" || return 1
    cp from/weights.safetensors w/first && run "$ocdm" run s.safetensors -o from --weights w/first --method finetune --resume
    same 2 "$code" && grep -qE '^error: from/.*: the run began with other weights than w/first has: SHA-256 [0-9a-f]{64}, not [0-9a-f]{64}$' "$err" || return 1
    run "$ocdm" run s.safetensors -o to --weights w/none
    same 4 "$code" && grep -q '^error: w/none: No such file' "$err" && [ ! -e to ]
}

explains() {
    run "$ocdm" eval --explain
    same 0 "$code" && grep -q '^mAP  *mean over classes of AP_c$' "$out" && grep -q '^CF1 ' "$out" || return 1
    run "$ocdm" eval s.safetensors --weights whole/weights.safetensors --per-class
    same 0 "$code" && grep -q '^class ' "$out" && grep -q '^total ' "$out" &&
        fails 2 'no weights file' eval s.safetensors &&
        fails 2 'takes images' eval s.safetensors --weights whole/weights.safetensors --model cnn
}

# The example of a learner of the caller's: its run is one like all others, and is done when it is asked for again.
runs_a_learner_of_the_caller() {
    local learner
    learner=$(dirname "$ocdm")/examples/nearest_mean
    run "$learner" s.safetensors own/nearest-mean
    same 0 "$code" && grep -q '"model":"nearest-mean"' own/nearest-mean/summary.json || return 1
    run "$learner" s.safetensors own/nearest-mean
    same 1 "$code" && grep -q 'a finished run is there' "$out" || return 1
    cp -r whole own/linear
    run "$ocdm" report own -o own.html
    same 0 "$code" && grep -q 'nearest-mean' own.html && grep -q '2 runs' "$err" "$out"
}

check "a stream is built" build
check "a run leaves its files" makes_its_files
check "a summary has every member" tells_everything
check "--model none runs the memory alone" runs_the_memory_alone
check "SIGINT saves, exits with 130, and --resume ends the same" stopped_by INT 130
check "SIGTERM saves, exits with 143, and --resume ends the same" stopped_by TERM 143
check "after SIGKILL --resume ends the same" stopped_by KILL 137
check "killed often, it ends the same" killed_often
check "settings that contradict are refused" refuses_bad_settings
check "a refused run leaves what was there" refusing_leaves_what_was_there
check "a stream without tests says so" a_stream_without_tests_says_so
check "classes without tests are named" classes_without_tests_are_named
check "small data sets have terciles" small_data_sets_have_terciles
check "a folder with a run is refused, or told to be done" refuses_a_folder_with_a_run
check "a finished run without checkpoints is compared" compares_what_is_finished
check "a resume with other instructions is reported, or refused" tells_other_instructions
check "groups are compared by what their file says" compares_groups_by_content
check "--class-weights changes the target and is compared by content" weighs_classes
check "another stream is refused" refuses_another_stream
check "a log that cannot be written is reported" tells_when_nothing_can_be_written
check "eval gives the run's last numbers" evaluates_what_was_saved
check "a full output is reported once" tells_a_full_output_once
check "weights are compared by content, not by name" compares_weights
check "a folder without a name is refused" refuses_an_empty_folder_name
check "eval explains its numbers" explains
check "a learner of the caller's runs like a model" runs_a_learner_of_the_caller
finish
