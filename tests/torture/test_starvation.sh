#!/usr/bin/env bash
# Memory that the system refuses: test_starvation.sh OCDM SOURCE [all]. A run is done with one of its requests for memory refused,
# or all from that one on (starve.c), most of them oneDNN's: it ends well or with one error line and exit code 5, and then
# continues to the same bytes as a run that nobody disturbed. A sample of the requests is tried, or all of them.
ocdm=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
source=$(cd "$2" && pwd)
picks=3
[ "${3:-}" = all ] && picks=1000000
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/../cli/tap.sh"
cd "$place" || exit 1

cc -O1 -o starve "$source/tests/torture/starve.c" || exit 1
"$source/tests/ranks/make-stream" "$ocdm" . 20 16 > log 2>&1 || exit 1

# starved WHEN NUMBER FOLDER MODEL [FLAG...]: a run without request number NUMBER; 0: with all of them.
starved() {
    local when=$1 number=$2 folder=$3 model=$4 stream=f.safetensors
    shift 4
    case $model in cnn | resnet18) stream=s.safetensors ;; esac
    run ./starve count "$number" "$when" "$ocdm" run $stream -o "$folder" --model "$model" --memory 8 --replay 4 --batch 5 \
        --checkpoint-every 2 --resume -q "$@"
}

results() { cat "$1/weights.safetensors" "$1/memory.jsonl" && sed 's/"times":{.*//' "$1/summary.json"; }

# Those before it are the loader's and those of the libraries' constructors.
./starve count 0 once "$ocdm" --version > log 2>&1 || exit 1
first=$(($(cat count) + 1))

# tries WHEN MODEL [FLAG...]: at a sample of the requests.
tries() {
    local when=$1 n step last refused=0
    shift
    rm -rf whole && starved once 0 whole "$@"
    same 0 "$code" || return 1
    last=$(cat count)
    [ "$last" -gt "$first" ] || { echo "only $last requests"; return 1; }
    step=$(((last - first) / picks > 1 ? (last - first) / picks : 1))
    for ((n = first + step / 2; n <= last; n += step)); do
        rm -rf trial && starved "$when" "$n" trial "$@"
        if [ "$code" -ne 0 ]; then
            same 5 "$code" && same 1 "$(grep -c '^error: ' "$err")" || { echo "at request $n of $last"; return 1; }
            refused=$((refused + 1))
        fi
        starved once 0 trial "$@"
        same 0 "$code" && cmp <(results whole) <(results trial) || { echo "after request $n of $last"; return 1; }
    done
    [ "$refused" -gt 0 ] || { echo "no request was missed"; return 1; }
}

# Address space for less and less: what real shortage looks like. A sanitizer takes more of it than there is.
shrinks() {
    local kilobytes
    rm -rf whole && starved once 0 whole "$@"
    for ((kilobytes = 400000; kilobytes > 60000; kilobytes -= 7000)); do
        rm -rf trial
        (ulimit -v "$kilobytes" && starved once 0 trial "$@" && exit "$code")
        code=$?
        grep -q 'loading shared libraries\|^libgomp' "$err" && break
        [ "$code" -eq 0 ] || { same 5 "$code" && same 1 "$(grep -c '^error: ' "$err")"; } || { echo "in $kilobytes kB"; return 1; }
        starved once 0 trial "$@"
        same 0 "$code" && cmp <(results whole) <(results trial) || { echo "after $kilobytes kB"; return 1; }
    done
}

check a_network_survives_one_refused_request tries once cnn --image-size 16 --threads 1
check a_network_survives_the_end_of_memory tries on cnn --image-size 16 --threads 2
if [ "$picks" -gt 3 ]; then
    check threads_survive_one_refused_request tries once cnn --image-size 16 --threads 3
    for model in linear mlp; do
        check "${model}_survives_one_refused_request" tries once $model
        check "${model}_survives_the_end_of_memory" tries on $model
    done
    check ridge_survives_the_end_of_memory tries on ridge # malloc makes up for a single one
    check a_network_survives_less_and_less_memory shrinks cnn --image-size 16 --threads 2
    picks=60
    check a_large_network_survives_one_refused_request tries once resnet18 --image-size 32 --threads 1
    check a_large_network_survives_the_end_of_memory tries on resnet18 --image-size 32 --threads 2
fi
finish
