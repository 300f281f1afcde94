#!/usr/bin/env bash
# Runs on several ranks of MPI, compared byte for byte with runs of one process; ranks that die, stop or differ.
# $1: ocdm, by default that of `make test`; $2: the source folder; $3: ocdm-mpi, by default beside $1; $4: "all" for every model and
# number of ranks.
set -u
source=${2:-$(cd "$(dirname "$0")/../.." && pwd)}
ocdm=${1:-$source/build/test/ocdm}
parallel=${3:-$(dirname "$ocdm")/ocdm-mpi}
extent=${4:-some}
# shellcheck source=tests/cli/tap.sh
. "$source/tests/cli/tap.sh"
cd "$place" || exit 1

# Ranks outnumber cores here, and tests may run as root. MPI keeps memory until the end on purpose.
# Open MPI removes its folder in /tmp when a job ends, even if another one is about to use it: this test has its own.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_orte_tmpdir_base=$place
export ASAN_OPTIONS=detect_leaks=0
launcher=${LAUNCHER:-mpirun.openmpi --oversubscribe --bind-to none}

# ranks N COMMAND...: on N ranks. Each tells its process number in the file pid.RANK. 0 ranks: without a launcher.
ranks() {
    local count=$1
    shift
    [ "$count" -eq 0 ] && exec "$parallel" "$@"
    # shellcheck disable=SC2086,SC2016 # the launcher is several words; the rank's shell expands the rest
    exec $launcher -n "$count" bash -c 'echo $$ > "pid.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"; exec "$@"' rank "$parallel" "$@"
}

settings=(--crop 32 --resize 32 -m 20 --log-every 1 --lr 0.001 --negatives 0.25 --focal 1 --loss-balance 0.5 --ema 0.5,0.9 --ema-start class
    --optimiser sgd --warmup 3 --replay-policy loss --dark 0.1 --store jpeg:60:24 -q)
stream_of() { case $1 in linear | mlp) echo f.safetensors ;; *) echo s.safetensors ;; esac }
settings_of() { case $1 in linear | mlp) echo --memory-bytes 3K --store u8 --log-every 1 --lr 0.001 -q ;; *) echo "${settings[@]}" ;; esac }

# without_times FILE: what a run wrote, without what belongs to a machine.
without_times() {
    sed -E 's/"(seconds|total|evaluate|draw|decode|train|update|threads|time|s)":[-+.0-9eE]*//g; s/,"(times|files)":\{[^}]*\}//g' "$1"
}

same_run() { # same_run FOLDER FOLDER
    (cd "$1" && sha256sum weights*) | (cd "$2" && sha256sum --check --quiet) && cmp "$1/memory.jsonl" "$2/memory.jsonl" &&
        same "$(without_times "$1/summary.json")" "$(without_times "$2/summary.json")" &&
        same "$(without_times "$1/run.jsonl" | grep -v resumed)" "$(without_times "$2/run.jsonl" | grep -v resumed)"
}

# one_process MODEL: the run that others are compared with, made once, on two threads.
one_process() {
    [ -e "one-$1/summary.json" ] && return 0
    # shellcheck disable=SC2046
    run "$ocdm" run "$(stream_of "$1")" -o "one-$1" --model "$1" --threads 2 $(settings_of "$1")
    same 0 "$code"
}

same_on() { # same_on MODEL RANKS THREADS
    one_process "$1" || return 1
    # shellcheck disable=SC2046
    run ranks_apart "$2" run "$(stream_of "$1")" -o "many-$1-$2-$3" --model "$1" --threads "$3" $(settings_of "$1")
    same 0 "$code" && same_run "one-$1" "many-$1-$2-$3"
}
ranks_apart() { (ranks "$@"); }

# Images that cannot be decoded are left out, whichever rank finds them, and the others are dealt anew.
leaves_out_the_same_images_on() { # leaves_out_the_same_images_on RANKS
    local words=(run s.safetensors --model cnn "${settings[@]}" --images damaged)
    cp -r images damaged
    for i in 3 17 30 44 60; do head -c 60 "images/$i.png" > "damaged/$i.png"; done
    run "$ocdm" "${words[@]}" -o left-out-one --threads 2
    same 0 "$code" && same 1 "$(grep -c 'cannot be decoded: 5, the first because of .*30.png' "$err")" || return 1
    run ranks_apart "$1" "${words[@]}" -o left-out-many --threads 1
    same 0 "$code" && same 1 "$(grep -c 'cannot be decoded: 5, the first because of .*30.png' "$err")" &&
        same_run left-out-one left-out-many
}

# One line names the rank that needs the image and the step.
ends_when_a_rank_cannot_read_an_image() {
    mkdir some && cp images/*.png some && rm some/40.png || return 1
    run ranks_apart 3 run s.safetensors -o unread --model cnn --threads 1 "${settings[@]}" --images some
    same 4 "$code" && same 1 "$(grep -cE '^error: rank [0-2] of 3, step [0-9]+: cannot open some/40.png' "$err")" &&
        same 1 "$(grep -c '^error' "$err")"
}

# Every rank opens the stream file itself.
refuses_another_stream() {
    local words=("$parallel" run s.safetensors -o mixed-up --model cnn --threads 1 "${settings[@]}" --images "$place/images")
    mkdir elsewhere && cp f.safetensors elsewhere/s.safetensors || return 1
    # shellcheck disable=SC2016,SC2086
    run $launcher -n 1 "${words[@]}" : -n 1 bash -c 'cd elsewhere && exec "$@"' rank "${words[@]}"
    same 2 "$code" && grep '^error: rank 1: ' "$err" && [ ! -e mixed-up/run.jsonl ] || return 1
    sed 's/c6/c5/' s.jsonl > other.jsonl
    "$ocdm" stream build --records other.jsonl --images images -o elsewhere/s.safetensors > "$out" 2> "$err" || return 1
    # shellcheck disable=SC2016,SC2086
    run $launcher -n 1 "${words[@]}" : -n 1 bash -c 'cd elsewhere && exec "$@"' rank "${words[@]}"
    same 3 "$code" && grep '^error: rank 1 has another stream' "$err" && [ ! -e mixed-up/run.jsonl ] || return 1
    rm elsewhere/s.safetensors
    # shellcheck disable=SC2016,SC2086
    run $launcher -n 1 "${words[@]}" : -n 1 bash -c 'cd elsewhere && exec "$@"' rank "${words[@]}"
    same 4 "$code" && grep '^error: rank 1: s.safetensors: No such file' "$err" && [ ! -e mixed-up/run.jsonl ]
}

# The same names and paths, other pictures: both decode, and the run would depend on which rank has which sample. Replayed samples are read by
# several ranks; the first evaluation finds it.
refuses_other_images() {
    local words=("$parallel" run s.safetensors -o other-images --model cnn --threads 1 "${settings[@]}" --images pictures) i
    mkdir -p away/pictures && cp -r images pictures && cp s.safetensors away/ || return 1
    for i in images/*.png; do cp "$i" away/pictures/; done
    # shellcheck disable=SC2016,SC2086
    run $launcher -n 1 "${words[@]}" : -n 1 bash -c 'cd away && exec "$@"' rank "${words[@]}"
    same 0 "$code" && rm -r other-images || return 1
    for i in $(seq 2 $(($(find images -name '*.png' | wc -l) - 1))); do [ -e "images/$i.png" ] && cp "images/$((i - 1)).png" "away/pictures/$i.png"; done
    # shellcheck disable=SC2016,SC2086
    run $launcher -n 1 "${words[@]}" : -n 1 bash -c 'cd away && exec "$@"' rank "${words[@]}"
    same 3 "$code" && grep -q '^error: rank 0 of 2, step [0-9]*: pictures/[0-9]*.png: rank 1 has read another file of this name than a rank before it' "$err" &&
        [ ! -e other-images/summary.json ]
}

# compared A B: the runs of two comparisons, and what they found.
compared() {
    local name
    for name in "$1"/*/; do
        same_run "$name" "$2/$(basename "$name")" || return 1
    done
    same "$(ls "$1")" "$(ls "$2")" && same "$(grep -vE '"(seconds_per_1000_steps|update_share)"' "$1/compare.json")" \
        "$(grep -vE '"(seconds_per_1000_steps|update_share)"' "$2/compare.json")"
}

comparison=(--seeds 2 --methods rs,ocdm --memory 20 --log-every 1)

# Four runs on three ranks: a rank has more than one.
compares_on_ranks() {
    run "$ocdm" compare f.safetensors "${comparison[@]}" -o compared-one
    same 0 "$code" || return 1
    run ranks_apart 3 compare f.safetensors "${comparison[@]}" -o compared-many
    same 0 "$code" && same 4 "$(grep -cE '^[1-4] of 4: (rs|ocdm)-s[01], ' "$err")" && compared compared-one compared-many
}

# One run on two ranks.
compares_with_all_ranks_on_each_run() {
    one_process cnn || return 1
    run ranks_apart 2 compare s.safetensors --methods ocdm --model cnn -o joint "${settings[@]}"
    same 0 "$code" && same_run one-cnn joint/ocdm-s0 && [ ! -e joint/ocdm-s0.log ]
}

# A run that fails is told with its message; the others are made. Another number of ranks makes what is missing.
reports_failed_runs_of_ranks() {
    mkdir failing && : > failing/rs-s1 || return 1
    run ranks_apart 2 compare f.safetensors "${comparison[@]}" -o failing
    same 4 "$code" && same 1 "$(grep -c '^error: rs-s1: cannot make the folder' "$err")" && [ -s failing/rs-s1.log ] &&
        [ -s failing/ocdm-s1/summary.json ] || return 1
    rm failing/rs-s1 failing/rs-s1.log
    run ranks_apart 3 compare f.safetensors "${comparison[@]}" -o failing
    same 0 "$code" && grep '^4 runs, 3 done already' "$err" && compared compared-one failing
}

# A signal ends a comparison; one process goes on with it.
saves_the_runs_of_all_ranks() {
    local words=(compare s.safetensors --methods rs,ocdm --model cnn --crop 32 --resize 32 --memory 20 --log-every 1 --checkpoint-every 1)
    rm -f pid.*
    (ranks 2 "${words[@]}" -o halted) > "$out" 2> "$err" &
    job=$!
    for _ in $(seq 1200); do
        [ -s halted/rs-s0/checkpoint.safetensors ] && [ -s halted/ocdm-s0/checkpoint.safetensors ] && break
        sleep 0.05
    done
    kill -TERM "$(cat pid.0)"
    wait "$job"
    code=$?
    same 143 "$code" && grep '^stopped; the same command goes on' "$err" || return 1
    run "$ocdm" "${words[@]}" -o halted
    same 0 "$code" && grep -E '^2 runs, .*2 to go on with' "$err" || return 1
    run "$ocdm" "${words[@]}" -o unhalted
    same 0 "$code" && compared unhalted halted
}

# start N FOLDER [STREAM STEPS]: a run in the background that saves after each step; returns when it has saved one, or STEPS. $job is its
# process.
start() {
    local count=$1 folder=$2 stream=${3:-s.safetensors} steps=${4:-1}
    rm -f pid.*
    (ranks "$count" run "$stream" -o "$folder" --model cnn --threads 1 --checkpoint-every 1 "${settings[@]}") > "$out" 2> "$err" &
    job=$!
    for _ in $(seq 1200); do
        [ -s "$folder/checkpoint.safetensors" ] && [ "$(grep -c '"type":"step"' "$folder/run.jsonl")" -ge "$steps" ] && return 0
        sleep 0.05
    done
    echo "no checkpoint within a minute"
    return 1
}

ends_soon() { # within 30 seconds, with an error
    ( sleep 30; kill -9 "$job" 2> /dev/null ) &
    local guard=$!
    wait "$job"
    code=$?
    kill "$guard" 2> /dev/null
    [ "$code" -ne 0 ] && [ "$code" -ne 143 ]
}

# ends_with_the_rank SIGNAL VICTIM COUNT OTHER: the job ends and names the rank and a step; OTHER ranks go on to the same bytes.
ends_with_the_rank() {
    local folder=killed-$1-$2-$3
    [ "$1" = STOP ] && export OCDM_STALL_SECONDS=3
    one_process cnn && start "$3" "$folder" || return 1
    kill "-$1" "$(cat "pid.$2")"
    ends_soon || return 1
    unset OCDM_STALL_SECONDS
    grep -E "^error: rank $2 of $3 no longer answers; .* step [0-9]+$" "$err" || return 1
    run ranks_apart "$4" run s.safetensors -o "$folder" --model cnn --threads 2 --checkpoint-every 1 --resume "${settings[@]}"
    same 0 "$code" && cmp one-cnn/weights.safetensors "$folder/weights.safetensors" &&
        cmp one-cnn/memory.jsonl "$folder/memory.jsonl"
}

# A longer run, whose rank is killed again and again as it goes on, each time on another number of ranks.
goes_on_after_kills() { # goes_on_after_kills VICTIM
    local settings=(--crop 32 --resize 32 -m 20 --log-every 1 -q) count=4 folder=kills-$1
    [ -e long ] || "$source/tests/ranks/make-stream" "$ocdm" long 200 > "$out" 2> "$err" || return 1
    [ -e long/one ] || "$ocdm" run long/s.safetensors -o long/one --model cnn --threads 2 "${settings[@]}" > "$out" 2> "$err" || return 1
    for step in 2 7 13; do
        start "$count" "$folder" long/s.safetensors "$step" || return 1
        kill -9 "$(cat "pid.$(($1 % count))")"
        ends_soon || return 1
        settings+=(--resume)
        count=$((count - 1))
    done
    run ranks_apart 5 run long/s.safetensors -o "$folder" --model cnn --threads 1 --checkpoint-every 1 "${settings[@]}"
    same 0 "$code" && same_run long/one "$folder"
}

# SIGTERM to rank 0, or SIGUSR1 to the launcher, which passes it on to all ranks.
saves_when_asked_to_stop() { # saves_when_asked_to_stop leader|launcher
    rm -rf stopped
    one_process cnn && start 3 stopped || return 1
    if [ "$1" = leader ]; then kill -TERM "$(cat pid.0)"; else kill -USR1 "$job"; fi
    wait "$job"
    code=$?
    same 143 "$code" && grep 'and saved' "$err" || return 1
    run "$ocdm" run s.safetensors -o stopped --model cnn --threads 1 --checkpoint-every 1 --resume "${settings[@]}"
    same 0 "$code" && cmp one-cnn/weights.safetensors stopped/weights.safetensors
}

# What docs/scale.md advises where only SIGTERM comes: a shell passes it on to the launcher as SIGUSR1.
saves_when_a_script_is_terminated() {
    one_process cnn || return 1
    declare -f ranks > script && declare -p launcher parallel settings out err >> script || return 1
    # shellcheck disable=SC2016
    echo '(ranks 2 run s.safetensors -o scripted --model cnn --threads 1 "${settings[@]}") & trap "kill -USR1 $!" TERM; wait $! || wait $!' >> script
    bash script > "$out" 2> "$err" &
    job=$!
    for _ in $(seq 1200); do
        grep -q '"type":"step"' scripted/run.jsonl 2> /dev/null && break
        sleep 0.05
    done
    kill -TERM "$job"
    wait "$job"
    code=$?
    same 143 "$code" && grep 'and saved' "$err" || return 1
    run "$ocdm" run s.safetensors -o scripted --model cnn --threads 1 --resume "${settings[@]}"
    same 0 "$code" && same_run one-cnn scripted
}

# Open MPI's launcher passes the signal on and kills what is left a second later; its own exit code is 1.
leaves_a_whole_checkpoint_when_the_launcher_is_asked_to_stop() {
    one_process cnn && start 3 asked || return 1
    kill -TERM "$job"
    wait "$job"
    code=$?
    [ "$code" -ne 0 ] || return 1
    run "$ocdm" run s.safetensors -o asked --model cnn --threads 1 --checkpoint-every 1 --resume "${settings[@]}"
    same 0 "$code" && cmp one-cnn/weights.safetensors asked/weights.safetensors
}

# From the end of the first task on, with what is kept beside the samples of the memory.
goes_on_after_the_first_task() {
    one_process cnn || return 1
    cp -r one-cnn first-task && rm first-task/{summary.json,checkpoint.safetensors,memory.jsonl,weights*} || return 1
    run ranks_apart 2 run s.safetensors -o first-task --model cnn --threads 1 --resume "${settings[@]}"
    same 0 "$code" && grep 'going on from the checkpoint before it' "$err" && same_run one-cnn first-task
}

# Partial labels, a memory of bytes whose images are stored as JPEG, blurred tasks, evaluations in between, two steps for a batch, and a budget
# that misses some: on three ranks, and on two from the end of the first task on.
makes_the_same_run_of_stored_images_with_partial_labels() {
    local words=(run partial.safetensors --model cnn --crop 32 --resize 32 --log-every 1 --lr 0.001 --memory-bytes 20K --store jpeg:90:32
        --dark 0.1 --blur 0.3 --eval-every 2 --eval-samples 10 --steps-per-batch 2 --budget 2gflop --threads 1 -q)
    run "$ocdm" stream build --records s.jsonl --images images --recipe incremental --step 3 -o partial.safetensors
    same 0 "$code" || return 1
    run "$ocdm" "${words[@]}" -o stored-one
    same 0 "$code" || return 1
    run ranks_apart 3 "${words[@]}" -o stored-many
    same 0 "$code" && same_run stored-one stored-many || return 1
    cp -r stored-one stored-first && rm stored-first/{summary.json,checkpoint.safetensors,memory.jsonl,weights*} || return 1
    run ranks_apart 2 "${words[@]}" -o stored-first --resume
    same 0 "$code" && grep 'going on from the checkpoint before it' "$err" && same_run stored-one stored-first
}

# Which average it reports is found again, by all ranks.
shows_a_finished_run() {
    local words=(run s.safetensors -o shown --model cnn --validation 0.2 "${settings[@]}")
    run "$ocdm" "${words[@]}" --threads 2
    same 0 "$code" || return 1
    run ranks_apart 2 "${words[@]}" --threads 1 --resume
    same 0 "$code" && grep 'the run is finished' "$err"
}

same_predictions() {
    one_process cnn || return 1
    local shape=(--model cnn --weights one-cnn/weights.safetensors --resize 32 --crop 32)
    run "$ocdm" predict s.safetensors "${shape[@]}" -o one.npy
    same 0 "$code" || return 1
    run ranks_apart 3 predict s.safetensors "${shape[@]}" -o three.npy
    same 0 "$code" && cmp one.npy three.npy || return 1
    run "$ocdm" stream featurize s.safetensors "${shape[@]}" -o one.features
    same 0 "$code" || return 1
    run ranks_apart 3 stream featurize s.safetensors "${shape[@]}" -o three.features
    same 0 "$code" && cmp one.features three.features || return 1
    run ranks_apart 2 eval s.safetensors "${shape[@]}" --json
    cp "$out" two.json
    run "$ocdm" eval s.safetensors "${shape[@]}" --json
    same "$(without_times "$out")" "$(without_times two.json)"
}

# Ranks decode their own parts; what one cannot decode is dealt with as in one process.
predicts_around_damaged_images() {
    one_process cnn || return 1
    local shape=(--weights one-cnn/weights.safetensors --images marred --threads 1)
    cp -r images marred
    for i in 3 55 60 61; do head -c 60 "images/$i.png" > "marred/$i.png"; done
    for words in 'predict s.safetensors --skip-bad --split all --batch 7 -o rows' 'eval s.safetensors --json -q'; do
        # shellcheck disable=SC2086
        run "$ocdm" $words "${shape[@]}"
        same 0 "$code" && cp "$out" one.out && cp "$err" one.err || return 1
        [ -e one.rows ] || mv rows one.rows
        # shellcheck disable=SC2086
        run ranks_apart 3 $words "${shape[@]}"
        same 0 "$code" && cmp "$out" one.out && same 1 "$(grep -c 'the first because of .*png' "$err")" || return 1
    done
    cmp rows one.rows || return 1
    run ranks_apart 3 predict s.safetensors "${shape[@]}" -o none.npy
    same 3 "$code" && same 1 "$(grep -c '^error: marred/55.png: ' "$err")" && same 1 "$(grep -c ^error "$err")" && [ ! -e none.npy ] || return 1
    run ranks_apart 3 stream featurize s.safetensors "${shape[@]}" -o none.features
    same 3 "$code" && same 1 "$(grep -c '^error: marred/3.png: ' "$err")" && [ ! -e none.features ] || return 1
    run "$ocdm" predict images/5.png missing.png images/6.png --weights one-cnn/weights.safetensors --json
    same 4 "$code" && cp "$out" one.out || return 1
    run ranks_apart 2 predict images/5.png missing.png images/6.png --weights one-cnn/weights.safetensors --json
    same 4 "$code" && cmp "$out" one.out
}

# Image files without a stream, in batches whose last one is smaller than the number of ranks; some are damaged or missing.
predicts_the_same_of_image_files() {
    one_process cnn || return 1
    local words=(predict marred images/5.png missing.png --weights one-cnn/weights.safetensors --batch 5 --json)
    [ -e marred ] || { cp -r images marred && head -c 60 images/3.png > marred/3.png; } || return 1
    run "$ocdm" "${words[@]}"
    same 3 "$code" && cp "$out" one.out && cp "$err" one.err && grep marred/3.png one.err || return 1
    for count in 2 4 7; do
        run ranks_apart "$count" "${words[@]}"
        same 3 "$code" && cmp "$out" one.out && same "$(grep ^error one.err)" "$(grep ^error "$err")" || return 1
    done
    run ranks_apart 2 "${words[@]}" --strict
    same 3 "$code" && same 1 "$(grep -c ^error "$err")"
}

# A rank whose files are damaged leaves out those of its part, and no others.
decodes_image_files_on_all_ranks() {
    one_process cnn || return 1
    local files=(images/1.png images/2.png images/4.png images/5.png)
    local words=("$parallel" predict "${files[@]}" --weights "$place/one-cnn/weights.safetensors" --csv --top 1)
    mkdir -p there/images && cp images/[12].png there/images && for i in 4 5; do head -c 60 "images/$i.png" > "there/images/$i.png"; done
    # shellcheck disable=SC2016,SC2086
    run $launcher -n 1 "${words[@]}" : -n 1 bash -c 'cd there && exec "$@"' rank "${words[@]}"
    same 4 "$code" && same 2 "$(grep -c '^error: images/[45].png: another rank' "$err")" && same 2 "$(grep -c '^images/[12].png,' "$out")" &&
        same 3 "$(wc -l < "$out")"
}

refuses_verbs_of_one_rank() {
    run ranks_apart 2 stream info s.safetensors
    same 2 "$code" && grep 'works on one rank, not on 2' "$err" || return 1
    run ranks_apart 2 run s.safetensors -o watched --watch
    same 2 "$code" && grep 'not under mpirun' "$err" && [ ! -e watched ]
}

# Five files of different lengths, one of them compressed; labels and ids differ from file to file.
make_shards() {
    for k in 0 1 2 3 4; do
        awk -v k="$k" 'BEGIN { for (i = 0; i < 40 + 30 * k; i++)
            printf "{\"id\":\"%d-%d\",\"labels\":[\"c%d\",\"d%d\"]}\n", k, i, i * (k + 3) % 7 * (i % 3 > 0), (i * i + k) % 5 }' > "part$k.jsonl"
    done
    gzip -f part3.jsonl
    parts=(part0.jsonl part1.jsonl part2.jsonl part3.jsonl.gz part4.jsonl)
}

sampling=(-m 25 -b 4 --seed 5 --rho 0.3 --weight c1=2 --min d2=6 --ignore c0)

# What `ocdm sample --shard` for each file and `ocdm merge` keep; made once.
merge_shards() {
    make_shards
    [ -e merged ] && return 0
    for k in 0 1 2 3 4; do
        run "$ocdm" sample -q "${sampling[@]}" --shard "$k" --summary "$k.json" -o "$k.kept" "${parts[$k]}"
        same 0 "$code" || return 1
    done
    run "$ocdm" merge -m 25 --min d2=6 --ignore c0 {0,1,2,3,4}.kept --trace trace --merged-summary merged.json --summary {0,1,2,3,4}.json
    cp "$err" table && same 0 "$code" && same 25 "$(wc -l < "$out")" && cp "$out" merged
}

same_sample_on() { # same_sample_on RANKS
    merge_shards || return 1
    mkdir -p temporary
    TMPDIR=$PWD/temporary run ranks_apart "$1" sample "${sampling[@]}" "${parts[@]}" --trace trace-on --summary on.json
    same 0 "$code" && cmp "$out" merged && cmp "$err" table && cmp trace-on trace &&
        same "$(without_times on.json)" "$(without_times merged.json)" && same "" "$(find temporary -name 'ocdm-*')"
}

# The first bad file is reported, whichever rank has it and whatever others found, and nothing is written.
tells_the_first_bad_file_on() { # tells_the_first_bad_file_on RANKS
    make_shards
    echo '{"id":' >> part2.jsonl
    run ranks_apart "$1" sample -m 25 "${parts[@]}" missing.jsonl -o none.jsonl
    same 3 "$code" && same 1 "$(grep -c '^error: part2.jsonl:101:' "$err")" && same 1 "$(grep -c ^error "$err")" &&
        [ ! -s "$out" ] && [ ! -e none.jsonl ] || return 1
    run ranks_apart "$1" sample -m 25 part0.jsonl missing.jsonl part2.jsonl
    same 4 "$code" && same 1 "$(grep -c '^error: cannot open missing.jsonl' "$err")" && same 1 "$(grep -c ^error "$err")" && [ ! -s "$out" ]
}

samples_one_file_as_one_process() {
    make_shards
    run "$ocdm" sample -m 25 -p rs part4.jsonl
    cp "$out" alone
    run ranks_apart 3 sample -m 25 -p rs part4.jsonl
    same 0 "$code" && cmp "$out" alone
}

refuses_what_cannot_be_dealt() {
    make_shards
    run ranks_apart 2 sample -m 25 - < part0.jsonl
    same 2 "$code" && grep 'standard input cannot be dealt' "$err" || return 1
    for words in '2 -m 10%' '0 --shard 3' '0 -p rs' '0 --no-such-flag'; do
        read -r count words <<< "$words"
        # shellcheck disable=SC2086
        run ranks_apart "$count" sample $words part0.jsonl part1.jsonl
        same 2 "$code" && same 1 "$(grep -c ^error "$err")" && [ ! -s "$out" ] || return 1
    done
}

# How much the program and MPI need before the first step differs from machine to machine: one of these limits ends it in the step.
ends_when_a_rank_has_no_memory() {
    local words=("$parallel" run s.safetensors -o little -q --model resnet18 --resize 224 --crop 224 --threads 1)
    for limit in 500 600 700 800 900 1000; do
        rm -rf little
        # shellcheck disable=SC2016,SC2086
        run $launcher -n 1 "${words[@]}" : -n 1 bash -c 'ulimit -v $((1024 * '"$limit"')); exec "$@"' rank "${words[@]}"
        [ "$code" -ne 0 ] || return 1
        grep -q '^error: rank 1: ' "$err" && [ -e little ] && { echo "a run that did not begin left its folder"; return 1; }
        grep -E '^error: rank 1 of 2, step [0-9]+: out of memory' "$err" && same 5 "$code" && return 0
    done
    return 1
}

# Its checksum is then not that of another build, which has exit code 2.
ends_when_a_rank_cannot_read_its_program() {
    local words=("$parallel" run s.safetensors -o unreadable -q --model cnn --resize 32 --crop 32 --threads 1)
    # shellcheck disable=SC2086
    run $launcher -n 1 "${words[@]}" : -n 1 strace -f -o strace.out -P /proc/self/exe -e trace=openat -e inject=openat:error=ENOMEM "${words[@]}"
    same 5 "$code" && same 1 "$(grep -c '^error: rank 1 of 2, .*/proc/self/exe: Cannot allocate memory' "$err")" &&
        same 1 "$(grep -c ^error "$err")" && [ ! -e unreadable ]
}

refuses_another_build() {
    cp "$parallel" another
    printf 'x' >> another
    # shellcheck disable=SC2086
    run $launcher -n 1 "$parallel" run s.safetensors -o mixed --model cnn : -n 1 ./another run s.safetensors -o mixed --model cnn
    [ "$code" -ne 0 ] && grep 'rank 1 has another build' "$err" && [ ! -e mixed ]
}

reports_errors_once() {
    run ranks_apart 3 run missing.safetensors -o none --model cnn
    same 4 "$code" && same 1 "$(grep -c '^error' "$err")"
}

"$source/tests/ranks/make-stream" "$ocdm" "$place" > "$out" 2> "$err" || { cat "$err"; exit 1; }

if [ "$extent" = all ]; then
    for model in linear mlp cnn mobilenet1 resnet18; do
        for count in 1 2 3 4 8 16; do
            for threads in 1 2; do
                check "$model on $count ranks of $threads threads makes the same run" same_on "$model" "$count" "$threads"
            done
        done
    done
    for victim in 0 1 2 3; do
        check "a job of 4 whose rank $victim is killed ends, and goes on with 3" ends_with_the_rank KILL "$victim" 4 3
        check "a job of 4 whose rank $victim hangs ends, and goes on with 2" ends_with_the_rank STOP "$victim" 4 2
        check "a run whose rank $victim is killed at three steps goes on with fewer ranks" goes_on_after_kills "$victim"
    done
    check "a job of 2 whose rank 1 has no memory ends, and says so" ends_when_a_rank_has_no_memory
    check "a rank that cannot read its program ends the job as one without memory" ends_when_a_rank_cannot_read_its_program
else
    for case in 'cnn 1 2' 'cnn 11 1' 'resnet18 4 1' 'mobilenet1 2 2' 'mlp 3 1'; do
        read -r model count threads <<< "$case"
        check "$model on $count ranks of $threads threads makes the same run" same_on "$model" "$count" "$threads"
    done
    check "a job of 3 whose rank 2 is killed ends, and goes on with 2" ends_with_the_rank KILL 2 3 2
    check "a job of 3 whose rank 1 hangs ends, and goes on with 4" ends_with_the_rank STOP 1 3 4
fi
[ "$extent" = all ] && check "a run saves when its leader is asked to stop" saves_when_asked_to_stop leader
check "a run saves when its launcher passes SIGUSR1 on" saves_when_asked_to_stop launcher
check "a run saves when a script that passes SIGTERM on as SIGUSR1 is terminated" saves_when_a_script_is_terminated
check "the checkpoint is whole when the launcher is asked to stop" leaves_a_whole_checkpoint_when_the_launcher_is_asked_to_stop
check "two ranks go on with a run of one process" goes_on_after_the_first_task
check "images stored in bytes with partial labels make the same run" makes_the_same_run_of_stored_images_with_partial_labels
check "two ranks show a finished run whose average is chosen by validation" shows_a_finished_run
check "predictions, features and metrics are the same" same_predictions
check "predictions are the same around damaged images" predicts_around_damaged_images
check "labels of image files are the same" predicts_the_same_of_image_files
check "every rank decodes its part of image files" decodes_image_files_on_all_ranks
for count in 0 3 7; do
    check "files sampled on $count ranks (0: without mpirun) are merged to the same bytes" same_sample_on "$count"
done
for count in 0 3; do
    check "the first bad file of a sample on $count ranks (0: without mpirun) is reported" tells_the_first_bad_file_on "$count"
done
check "one file is sampled as by one process" samples_one_file_as_one_process
check "a sample that cannot be dealt to ranks is refused" refuses_what_cannot_be_dealt
check "images that cannot be decoded are left out alike on 3 ranks" leaves_out_the_same_images_on 3
check "a rank that cannot read its image ends the job, and says so" ends_when_a_rank_cannot_read_an_image
check "a rank with another stream, or none, is refused before the first step" refuses_another_stream
check "a rank with other images of the same names is found" refuses_other_images
check "a comparison on three ranks makes the same runs" compares_on_ranks
check "two ranks make the only run of a comparison together" compares_with_all_ranks_on_each_run
check "a run of a comparison that fails on a rank is told, and made later" reports_failed_runs_of_ranks
check "a comparison saves all runs when it is asked to stop, and one process goes on" saves_the_runs_of_all_ranks
check "verbs that do not distribute refuse several ranks" refuses_verbs_of_one_rank
check "ranks with another build are refused before a folder is made" refuses_another_build
check "an error of the leader is reported once and ends all ranks" reports_errors_once
finish
