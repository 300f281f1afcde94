#!/usr/bin/env bash
# `ocdm-bench memory`, `memory --steady`, `gap` and `train` at small sizes: every flag, tables, JSON, errors.
# Times are compared with each other only where arithmetic orders them, as quantiles. $1: the program.
. "$(dirname "$0")/tap.sh"
ocdm=${1%/*}/ocdm-bench
cd "$place" || exit 1
awk 'BEGIN { srand(1); for (i = 0; i < 1200; i++) print "{\"labels\":[" int(9 * rand()) "," 9 + int(4 * rand()) "]}" }' > pairs.jsonl
awk 'BEGIN { srand(2); for (i = 0; i < 300; i++) print "{\"labels\":[" int(9 * rand()) "]}" }' > single.jsonl

# fails_with CODE MESSAGE HINT WORDS...: nothing on stdout; one line and at most one hint on stderr.
fails_with() {
    local want=$1 message=$2 hint=$3
    shift 3
    run "$ocdm" "$@"
    same "$want" "$code" && same "" "$(cat "$out")" && same "error: $message${hint:+
hint: $hint}" "$(cat "$err")"
}

# json EXPRESSION: of what was printed last, `j`; its value is printed.
json() {
    node -e 'const j = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8")); console.log(String(eval(process.argv[2])));' "$out" "$1"
}

# ---- whole passes ---------------------------------------------------------------------------------------------------------------

memory_prints_a_table() {
    run "$ocdm" memory --records pairs.jsonl -m 50,2000 -b 7 --repeat 2 --seed 3
    same 0 "$code" && same "" "$(cat "$err")" || return 1
    same "pairs.jsonl: 1200 samples, 13 classes, 2.00 labels a sample" "$(head -n 1 "$out")" || return 1
    grep -q '^cbrs takes one label per sample: left out on this stream$' "$out" && grep -q '^memory 50, batch 7$' "$out" &&
        grep -q '^memory 2000, batch 7: the stream does not fill it, nothing is deleted$' "$out" || return 1
    same "reference ocdm prs prs-released cbes max onlyone rs random bat-ocdm " "$(awk '/^memory 50,/ { on = 1; next } /^$/ { on = 0 } on && $1 != "policy" { printf "%s ", $1 }' "$out")" || return 1
    same 9 "$(awk '/^memory 50,/ { on = 1 } /^$/ { on = 0 } on && NF == 7 && $6 == 172 && $7 == 2' "$out" | wc -l)"
}

memory_prints_json() {
    run "$ocdm" memory --records single.jsonl -m 20,30 --repeat 1 --policies ocdm,cbrs,reference --json
    same 0 "$code" && same "" "$(cat "$err")" || return 1
    same "reference,ocdm,cbrs,reference,ocdm,cbrs" "$(json 'j.results.map(r => r.policy)')" && same "20,20,20,30,30,30" "$(json 'j.results.map(r => r.memory)')" || return 1
    same true "$(json 'j.results.every(r => r.batch === 10 && r.steps >= 4 && r.steps <= 30 && r.us_per_step >= 0 && r.final_distance >= 0)')"
}

memory_runs_on_the_built_in_stream() {
    run "$ocdm" memory -m 30 --repeat 1 -p rs
    same 0 "$code" && grep -q '^built-in stream: ' "$out" && grep -q '^rs  *[0-9.]* ' "$out"
}

# ---- the steady state -----------------------------------------------------------------------------------------------------------

keys=clock,clock_us,batch,warmup,tie,rho,distance,results
row_keys=stream,policy,memory,updates,single_deletions,mean_us,p50_us,p99_us,p999_us,max_us,searches_per_deletion,steps_per_deletion
small=(--steady --seconds 1000 --warmup 2)

steady_prints_json() {
    run "$ocdm" memory "${small[@]}" -m 20,45 --updates 12 --json
    same 0 "$code" && same "" "$(cat "$err")" || return 1
    same "$keys" "$(json 'Object.keys(j)')" && same "$row_keys" "$(json '[...new Set(j.results.map(r => String(Object.keys(r))))].join("|")')" || return 1
    same "wall 10 2 key 0 kl" "$(json '[j.clock, j.batch, j.warmup, j.tie, j.rho, j.distance].join(" ")')" || return 1
    same "skewed,uniform,records,single" "$(json '[...new Set(j.results.map(r => r.stream))]')" &&
        same "reference,ocdm,prs,rs" "$(json '[...new Set(j.results.map(r => r.policy))]')" &&
        same "20,45" "$(json '[...new Set(j.results.map(r => r.memory))]')" && same 32 "$(json 'j.results.length')" || return 1
    same true "$(json 'j.clock_us >= 0 && j.results.every(r => r.updates === 12 && r.single_deletions === 0)')" &&
        same true "$(json 'j.results.every(r => 0 <= r.p50_us && r.p50_us <= r.p99_us && r.p99_us <= r.p999_us && r.p999_us <= r.max_us && r.mean_us >= 0)')" &&
        same true "$(json 'j.results.every(r => (r.policy === "ocdm") === (r.searches_per_deletion > 0) && (r.policy === "ocdm") === (r.steps_per_deletion > 0))')"
}

steady_prints_tables() {
    run "$ocdm" memory "${small[@]}" -m 20,45 -b 5 --updates 12
    same 0 "$code" && same "" "$(cat "$err")" || return 1
    grep -qE '^elapsed time, less [0-9.]+ us for reading the clock; tie key, rho 0, distance kl$' "$out" &&
        same 8 "$(grep -c '^policy  *mean  *p50  *p99  *p99.9  *max  *reference/this  *searches  *steps  from$' "$out")" &&
        same 4 "$(grep -c '^memory 45, batch 5, after 135 samples$' "$out")" &&
        same 2 "$(grep -c '^uniform: 1 to 8 of 1000 classes$' "$out")" || return 1
    same 32 "$(grep -cE '^(reference|ocdm|prs|rs) ( *([0-9.]+|-)){8}  12 updates$' "$out")" && same 8 "$(grep -cE '^reference ( *[0-9.]+){5}  *1\.00 ' "$out")"
}

# An update is 20 million logarithms here: more than a millisecond on any machine.
steady_says_when_the_reference_is_extrapolated() {
    run "$ocdm" memory --steady --seconds 0.001 --warmup 0 -m 2000 --updates 5 --streams uniform -p reference
    same 0 "$code" && same 1 "$(grep -cE '^reference  *[0-9.]+( *-){4}  *1\.00  *-  *-  1 deletion$' "$out")" || return 1
    run "$ocdm" memory --steady --seconds 0.001 --warmup 0 -m 2000 --updates 5 --streams uniform -p reference --json
    same "1 0 1 null" "$(json '[j.results.length, j.results[0].updates, j.results[0].single_deletions, j.results[0].p50_us].map(String).join(" ")')"
}

# work FLAGS...: what ocdm counted, which depends on the options and not on the machine.
work() {
    run "$ocdm" memory "${small[@]}" -m 300 --updates 20 -p ocdm --json "$@"
    [ "$code" = 0 ] && json 'j.results.map(r => [r.searches_per_deletion, r.steps_per_deletion].join(" ")).join(" ")'
}

steady_counts_the_same_work_in_every_run() {
    local first
    first=$(work --streams skewed,uniform,single) && same "$first" "$(work --streams skewed,uniform,single --clock cpu)" || return 1
    same "$first" "$(work --streams skewed,uniform,single -p ocdm,reference | cut -d ' ' -f 3-4,7-8,11-12)" || return 1
    ! same "$first" "$(work --streams skewed,uniform,single --seed 1)" > /dev/null
}

steady_takes_every_option() {
    local tie distance rho
    for tie in key oldest newest uniform; do
        run "$ocdm" memory "${small[@]}" -m 60 --updates 5 -p ocdm,onlyone --json --tie $tie
        same 0 "$code" && same "$tie 8" "$(json '[j.tie, j.results.length].join(" ")')" || return 1
    done
    for distance in kl reverse-kl l2 tv; do
        run "$ocdm" memory "${small[@]}" -m 60 --updates 5 -p reference,ocdm --json --distance $distance
        same 0 "$code" && same "$distance 8" "$(json '[j.distance, j.results.length].join(" ")')" || return 1
    done
    for rho in 0.5 -1; do
        run "$ocdm" memory "${small[@]}" -m 60 --updates 5 -p ocdm --json --rho $rho
        same 0 "$code" && same "$rho 4" "$(json '[j.rho, j.results.length].join(" ")')" || return 1
    done
    run "$ocdm" memory "${small[@]}" -m 60 --updates 5 --clock cpu --rho 0.5 --tie oldest --distance l2 --streams single
    same 0 "$code" && grep -q '^CPU time of the thread, less .*; tie oldest, rho 0.5, distance l2$' "$out"
}

steady_times_every_policy() {
    run "$ocdm" memory "${small[@]}" -m 60 -b 3 --updates 5 --streams single -p random,max,cbrs,cbes,prs,rs,onlyone,ocdm,reference --json
    same 0 "$code" && same "reference,random,max,cbrs,cbes,prs,rs,onlyone,ocdm" "$(json 'j.results.map(r => r.policy)')" && same 3 "$(json j.batch)"
}

# With one label set in the file every draw is that set.
steady_draws_from_records() {
    echo '{"labels":["a","b"]}' > one.jsonl
    run "$ocdm" memory "${small[@]}" --records one.jsonl --streams records -m 30 --updates 5 --json
    same 0 "$code" && same "records,records,records,records" "$(json 'j.results.map(r => r.stream)')" || return 1
    run "$ocdm" memory "${small[@]}" --records single.jsonl --streams records,single -m 30 --updates 5 -p cbrs --json
    same 0 "$code" && same "cbrs,cbrs" "$(json 'j.results.map(r => r.policy)')" || return 1
    fails_with 4 'cannot open missing.jsonl: No such file or directory' '' memory --steady --records missing.jsonl -m 30 || return 1
    : > empty.jsonl
    fails_with 3 'empty.jsonl: there are no records in it' '' memory --steady --records empty.jsonl -m 30
}

# ---- errors ---------------------------------------------------------------------------------------------------------------------

memory_help='`ocdm-bench memory --help` lists what it takes'

steady_flags_need_steady() {
    local flag value
    while read -r flag value; do
        fails_with 2 "--$flag needs --steady" '' memory -m 10 --"$flag" "$value" || return 1
    done << 'FLAGS'
streams single
warmup 1
updates 5
seconds 1
clock cpu
tie key
rho 0
distance kl
FLAGS
    fails_with 2 '--repeat counts whole passes, --steady makes none' '--updates is the number of updates to time' memory --steady --repeat 3
}

# refuses FLAG VALUE: exit code 2, one line that names the flag and the last word of the value, nothing is measured.
refuses() {
    run "$ocdm" memory --steady "--$1" "$2"
    same 2 "$code" && same "" "$(cat "$out")" && same 1 "$(grep -c '^error: ' "$err")" && grep -q -- "^error: --$1.*${2##*,}" "$err"
}

steady_refuses_bad_values() {
    local flag value
    while read -r flag value; do
        refuses "$flag" "$value" || return 1
    done << 'FLAGS'
memory 0
memory 10,x
batch 0
streams skewed,other
policies ocdm,other
warmup -1
updates 0
seconds 0
seconds nan
clock sun
tie best
rho 17
distance l3
seed x
FLAGS
}

steady_refuses_what_cannot_run() {
    fails_with 2 '--records is given, but none of the streams uses it' 'add `records` to --streams, or leave --records out' \
        memory --steady --records pairs.jsonl --streams single || return 1
    fails_with 2 'cbrs takes one label per sample, and the stream skewed has samples with more' \
        'use --streams single; cbes is the form of cbrs for label sets' memory --steady -p ocdm,cbrs || return 1
    fails_with 2 'cbrs takes one label per sample, and the stream records has samples with more' \
        'use --streams single; cbes is the form of cbrs for label sets' memory --steady -p cbrs --streams single,records --records pairs.jsonl
}

memory_refuses_bad_values() {
    fails_with 2 'ocdm-bench memory has no flag --stead' "did you mean --steady? $memory_help" memory --stead || return 1
    run "$ocdm" memory --records pairs.jsonl -m 20 -p cbrs
    [ "$code" -ne 0 ] && same "" "$(cat "$out")" && grep -q '^error: pairs.jsonl: cbrs takes one label per sample, ' "$err" || return 1
    run "$ocdm" memory --repeat 0
    same 2 "$code" && grep -q '^error: --repeat ' "$err" || return 1
    run "$ocdm" memory --memory ''
    same 2 "$code" && grep -q '^error: --memory ' "$err"
}

full_disk_is_an_error() {
    [ -e /dev/full ] || return 0
    "$ocdm" memory "${small[@]}" -m 20 --updates 5 --streams single -p rs --json > /dev/full 2> "$err"
    code=$?
    same 4 "$code" || return 1
    "$ocdm" memory "${small[@]}" -m 20 --updates 5 --streams single -p rs > /dev/full 2> "$err"
    code=$?
    same 4 "$code"
}

# ---- the other verbs --------------------------------------------------------------------------------------------------------------

gap_prints_a_table_and_json() {
    run "$ocdm" gap --records pairs.jsonl --seed 2
    same 0 "$code" && grep -q '^The greedy against the best choice of eq. (3), KL, rho 0; full pools from pairs.jsonl$' "$out" &&
        same 3 "$(grep -cE '^(brute-force|pairs|swaps)  *[0-9]+  *[0-9]+  *[0-9]+ ' "$out")" || return 1
    awk '$1 ~ /^(brute-force|pairs|swaps)$/ && NF == 9 { print $1, $2, $4 }' "$out" > table
    run "$ocdm" gap --records pairs.jsonl --seed 2 --json
    same 0 "$code" && same "$(cat table)" "$(json 'j.results.map(r => [r.search, r.pools, r.optimal].join(" ")).join("\n")')" || return 1
    same search,pools,mean_sets,optimal,mean_gap,worst_gap,mean_limit,worst_limit,mean_distance "$(json 'Object.keys(j.results[0])')" &&
        same true "$(json 'j.results.every(r => r.optimal <= r.pools && 0 <= r.mean_gap && r.mean_gap <= r.worst_gap && r.mean_gap <= r.mean_limit && r.worst_gap <= r.worst_limit)')"
}

gap_refuses_bad_values() {
    run "$ocdm" gap --seed -1
    same 2 "$code" && same 1 "$(grep -c '^error: ' "$err")" || return 1
    fails_with 4 'cannot open missing.jsonl: No such file or directory' '' gap --records missing.jsonl
}

train_prints_json() {
    run "$ocdm" train --model mlp --features 6 --classes 3 --batch 4 --steps 3 --precision f32 --json
    same 0 "$code" && same model,precision,threads,ms_per_step,peak_bytes,least_ms,steps,ranks,waiting "$(json 'Object.keys(j)')" &&
        same "mlp f32 3 true" "$(json '[j.model, j.precision, j.steps, j.least_ms <= j.ms_per_step].join(" ")')"
}

train_refuses_bad_values() {
    local flag value
    while read -r flag value; do
        run "$ocdm" train "--$flag" "$value"
        same 2 "$code" && same "" "$(cat "$out")" && same 1 "$(grep -c '^error: ' "$err")" && grep -q -- "^error: --$flag.*$value" "$err" || return 1
    done << 'FLAGS'
model other
image 0
features 0
classes 0
batch 0
precision f16
threads 0
steps x
FLAGS
}

check bench_memory_prints_a_table memory_prints_a_table
check bench_memory_prints_json memory_prints_json
check bench_memory_runs_on_the_built_in_stream memory_runs_on_the_built_in_stream
check steady_prints_json_with_ordered_quantiles steady_prints_json
check steady_prints_tables steady_prints_tables
check steady_says_when_the_reference_is_extrapolated steady_says_when_the_reference_is_extrapolated
check steady_counts_the_same_work_in_every_run steady_counts_the_same_work_in_every_run
check steady_takes_every_option steady_takes_every_option
check steady_times_every_policy steady_times_every_policy
check steady_draws_from_records steady_draws_from_records
check steady_flags_need_steady steady_flags_need_steady
check steady_refuses_bad_values steady_refuses_bad_values
check steady_refuses_what_cannot_run steady_refuses_what_cannot_run
check bench_memory_refuses_bad_values memory_refuses_bad_values
check full_disk_gives_exit_code_4 full_disk_is_an_error
check bench_gap_prints_a_table_and_json gap_prints_a_table_and_json
check bench_gap_refuses_bad_values gap_refuses_bad_values
check bench_train_prints_json train_prints_json
check bench_train_refuses_bad_values train_refuses_bad_values
finish
