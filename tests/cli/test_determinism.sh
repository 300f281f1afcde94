#!/usr/bin/env bash
# Same seed, same stream: the same bytes, whatever the compiler, its optimisation and the CPU's instructions. Builds what decides
# about them (sample_alone.c) several times and compares what each makes of the built-in stream. $1: a built program; $2: the
# source folder.
. "$(dirname "$0")/tap.sh"
given=$1
source=$2

# The build's own rule (cmake/flags.cmake): no contraction. Everything else varies.
builds=(
    "gcc -O0"
    "gcc -O3 -march=native"
    "clang -O1"
    "clang -O3 -march=native"
)
mapfile -t sources < <(cd "$source/src" && ls "$source"/tests/cli/sample_alone.c "$PWD"/{base,memory}/*.c \
    "$PWD"/stream/records/{record,content,delimited,doubt,jsonl}.c "$PWD"/stream/{label_table,lines}.c \
    "$PWD"/stream/scenes/builtin.c "$PWD"/sample/*.c \
    "$PWD"/ranks/{ranks,files}.c "$PWD"/metrics/{metrics,rankings}.c "$PWD"/report/{text,figures/balance,tables/table}.c "$PWD"/report/charts/*.c \
    "$PWD"/stream/statistics.c \
    "$PWD"/cli/verbs/{sample,demo}.c "$PWD"/cli/{flags,console}.c)
build_one() { # build_one NUMBER COMPILER FLAGS...
    local program=$place/ocdm-$1
    shift
    "$@" -std=c11 -D_POSIX_C_SOURCE=200809L -ffp-contract=off -I"$source/include" -I"$source/src" -o "$program" "${sources[@]}" -lm -lz -lzstd
}

# One line each: the name of the run, then the flags of `ocdm sample`.
runs() {
    local policy distance tie
    for policy in ocdm onlyone rs prs cbes max random; do
        echo "policy-$policy -p $policy"
        echo "policy-$policy-rho -p $policy --rho -0.5 --seed 7 -b 3"
    done
    for distance in kl reverse-kl l2 tv; do
        for tie in key oldest newest uniform; do
            echo "$distance-$tie --distance $distance --tie $tie"
        done
        echo "$distance-rho --distance $distance --rho 0.3 --seed 18446744073709551615"
        echo "$distance-large --distance $distance -m 2000 -b 64"
    done
}

# sample_all PROGRAM FOLDER: everything that the program prints, except the seconds it took.
sample_all() {
    local program=$1 folder=$2 name flags
    mkdir -p "$folder"
    while read -r name flags; do
        # shellcheck disable=SC2086
        sample_one "$program" "$folder/$name" "$place/stream.jsonl" $flags || return 1
    done < <(runs)
    sample_one "$program" "$folder/policy-cbrs" "$place/single.jsonl" -p cbrs
    "$program" demo --print-stream > "$folder/stream"
}

sample_one() { # sample_one PROGRAM RESULT STREAM FLAGS...
    local program=$1 result=$2 stream=$3
    shift 3
    "$program" sample -q -m 200 "$@" --trace "$result.trace" --summary "$place/summary" "$stream" > "$result.kept" || {
        echo "sample $* failed"
        return 1
    }
    sed 's/"seconds": *[-+.0-9eE]*/"seconds":0/' "$place/summary" > "$result.summary"
}

builds_cleanly() {
    cat "$place/build-$1"
    [ -x "$place/ocdm-$1" ] && [ ! -s "$place/build-$1" ]
}

agrees() { # agrees PROGRAM: with the first build
    rm -rf "$place/other"
    sample_all "$1" "$place/other" && diff -rq "$place/first" "$place/other"
}

runs_differ_from_each_other() { # or the comparison would prove nothing
    local distinct
    distinct=$(cat "$place"/first/*.trace | sort -u | wc -l)
    [ "$distinct" -gt 10000 ] && ! cmp -s "$place/first/policy-rs.kept" "$place/first/policy-max.kept" &&
        ! cmp -s "$place/first/kl-key.kept" "$place/first/kl-oldest.kept" && [ "$(wc -l < "$place/first/kl-key.kept")" -eq 200 ]
}

# However the pipe cuts the stream into pieces.
chunks_do_not_matter() {
    local size
    head -n 3000 "$place/stream.jsonl" > "$place/short.jsonl"
    "$given" sample -q -m 200 "$place/short.jsonl" > "$place/whole" || return 1
    for size in 1 7 4096 65537; do
        dd if="$place/short.jsonl" bs="$size" 2> /dev/null | "$given" sample -q -m 200 --format jsonl - > "$place/cut" || return 1
        cmp "$place/whole" "$place/cut" || { echo "in pieces of $size"; return 1; }
    done
}

# Two compilations at a time, as many as the smallest machine has cores.
for number in "${!builds[@]}"; do
    # shellcheck disable=SC2086
    build_one "$number" ${builds[number]} > "$place/build-$number" 2>&1 &
    [ $((number % 2)) -eq 1 ] && wait
done
wait

"$place/ocdm-0" demo --print-stream > "$place/all.jsonl"
head -n 8000 "$place/all.jsonl" > "$place/stream.jsonl"
sed 's/\("labels": *\[[^],]*\),[^]]*\]/\1]/' "$place/stream.jsonl" > "$place/single.jsonl"
for number in "${!builds[@]}"; do
    check "program_builds_with_${builds[number]// /_}" builds_cleanly "$number"
done
check "sampling_works_with_every_policy_distance_and_tie" sample_all "$place/ocdm-0" "$place/first"
check "runs_differ_from_each_other" runs_differ_from_each_other
for number in "${!builds[@]}"; do
    [ "$number" -eq 0 ] || check "bytes_are_the_same_with_${builds[number]// /_}" agrees "$place/ocdm-$number"
done
check "bytes_are_the_same_with_sanitizers" agrees "$given"
check "bytes_are_the_same_however_the_pipe_is_cut" chunks_do_not_matter
finish
