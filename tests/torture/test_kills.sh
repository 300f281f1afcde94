#!/usr/bin/env bash
# Kills and faults at every call that changes a file: test_kills.sh OCDM SOURCE [all]. Every job is done with something evil at its
# n-th such call (door.c says what), then once more in peace: nothing is lost, and the end is that of a job that nobody disturbed.
# A sample of the calls is tried, or all of them. tests/torture/save_memory is expected beside the program.
ocdm=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
source=$(cd "$2" && pwd)
picks=2
[ "${3:-}" = all ] && picks=1000000
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"
cd "$place" || exit 1
save=$(dirname "$ocdm")/tests/torture/save_memory

cc -O1 -fPIC -shared -o door.so "$source/tests/torture/door.c" || exit 1
"$source/tests/ranks/make-stream" "$ocdm" . 60 8 > log 2>&1 || exit 1
head -n 40 s.jsonl > a.jsonl && tail -n +41 s.jsonl > b.jsonl || exit 1
for shard in a b; do
    "$ocdm" sample -q -m 12 --shard $([ $shard = a ] && echo 0 || echo 1) --summary $shard.json $shard.jsonl > $shard.kept || exit 1
done

without_times() { sed 's/"times":{.*//; s/"seconds":[^,}]*//g' "$1"; }

# NAME_do: the job, in a folder of its own; NAME_result: what it made, on stdout; NAME_files: files that are old or new, never else.
run_do() { "$ocdm" run ../f.safetensors -o r --memory 10 --batch 5 --model linear --checkpoint-every 4 --resume -q; }
run_result() { cat r/weights.safetensors r/memory.jsonl && without_times r/summary.json; }
run_files=''

compare_do() { "$ocdm" compare ../f.safetensors --methods rs,ocdm --seeds 1 --memory 10 --batch 20 -j 1 -q -o c --format csv > table; }
compare_result() { grep -v ,run, table; }
compare_files=''

build_do() { "$ocdm" stream build --records ../s.jsonl --features ../f.npy -o out.safetensors -q; }
build_result() { cat out.safetensors; }
build_files=out.safetensors

sample_do() { "$ocdm" sample -m 12 -q ../s.jsonl --trace trace.jsonl --summary sum.json -o kept.jsonl; }
sample_result() { cat kept.jsonl trace.jsonl && without_times sum.json; }
sample_files='kept.jsonl trace.jsonl'

save_do() { "$save" memory.safetensors; }
save_result() { cat memory.safetensors; }
save_files=memory.safetensors

merge_do() { "$ocdm" merge -q -m 12 -o merged.jsonl ../a.kept ../b.kept --summary ../a.json ../b.json; }
merge_result() { cat merged.jsonl; }
merge_files=merged.jsonl

sanitized=''
grep -q __asan_init "$ocdm" && sanitized=verify_asan_link_order=0

# disturbed JOB EVIL CALL: does it in the folder `trial`; $code, and the number of calls in $calls.
disturbed() {
    rm -rf trial && mkdir trial && printf '\0\0\0\0\0\0\0\0' > counter
    for file in $(eval "echo \$$1_files"); do echo old > "trial/$file"; done
    (cd trial && export LD_PRELOAD=$place/door.so ASAN_OPTIONS=$sanitized OCDM_DOOR_COUNTER=$place/counter OCDM_DOOR=$2 OCDM_DOOR_AT=$3 && "$1_do") \
        > "$out" 2> "$err"
    code=$?
    calls=$(od -An -tu8 counter | tr -d ' ')
}

# old_or_new JOB: no file of the job is half of something.
old_or_new() {
    for file in $(eval "echo \$$1_files"); do
        [ ! -e "trial/$file" ] || same old "$(head -c 100 "trial/$file")" > /dev/null || cmp -s "trial/$file" "whole-$1/$file" ||
            { echo "$file is neither old nor new"; return 1; }
    done
}

# right_end EVIL: the exit code and messages that such a disturbance may have.
right_end() {
    case $1 in
    kill | torn | power | entries) [ "$code" -ne 0 ] || { echo "it was not killed"; return 1; } ;;
    short) same 0 "$code" ;;
    *) [ "$code" -eq 0 ] || { [ "$code" -le 6 ] && same 1 "$(grep -c '^error: ' "$err")" && same "" "$(find trial -name '.ocdm-*.tmp')"; } ;;
    esac
}

# tries JOB EVIL: at a sample of the calls.
tries() {
    local n step last
    disturbed "$1" "$2" 0 && same 0 "$code" || return 1
    last=$calls
    [ "$last" -gt 3 ] || { echo "only $last calls"; return 1; }
    step=$((last / picks > 1 ? last / picks : 1))
    for ((n = 1 + (${#2} * 7 + ${#1}) % step; n <= last; n += step)); do
        trials=$((trials + 1))
        disturbed "$1" "$2" "$n"
        right_end "$2" && old_or_new "$1" || { echo "at call $n of $last"; return 1; }
        (cd trial && "$1_do") > "$out" 2> "$err"
        code=$?
        same 0 "$code" && (cd trial && "$1_result") | cmp - "whole-$1/result" || { echo "after call $n of $last"; return 1; }
    done
}

trials=0
for job in run compare build sample save merge; do
    mkdir whole-$job && (cd whole-$job && "${job}_do" > /dev/null && "${job}_result" > result) || { echo "Bail out! $job fails undisturbed"; exit 1; }
    for evil in kill torn power entries short EIO ENOSPC EINTR EMFILE ENOMEM; do
        check "${job}_survives_$evil" tries $job $evil
    done
done
echo "# $trials jobs were disturbed"
finish
