#!/usr/bin/env bash
# `ocdm compare` and `ocdm paper`: folders, tables, going on, failures, signals, the memory alone. $1: the program.
. "$(dirname "$0")/tap.sh"
ocdm=$1
cd "$place" || exit 1

build() {
    run "$ocdm" stream build --recipe scenes --as features -o s.safetensors
    same 0 "$code" && [ -s s.safetensors ]
}

# The memory of every method follows from the bytes, a second call finds the same runs, and the memory alone has the same size.
takes_a_memory_in_bytes() {
    run "$ocdm" compare s.safetensors --methods rs,finetune --seeds 1 --memory-bytes 40K --store u8 -o bytes
    same 0 "$code" || return 1
    local kept
    kept=$(grep -o '"memory":[0-9]*' bytes/rs-s0/summary.json | head -n 1)
    same "$kept" "$(grep -o '"memory":[0-9]*' bytes/finetune-s0/summary.json | head -n 1)" &&
        same "${kept#*:}" "$(wc -l < bytes/rs-s0/memory.jsonl)" &&
        grep -q '"memory_bytes":40960,"store":"u8"' bytes/rs-s0/summary.json || return 1
    run "$ocdm" compare s.safetensors --methods rs,finetune --seeds 1 --memory-bytes 40K --store u8 -o bytes
    same 0 "$code" && same "" "$(cat "$err")" || return 1
    run "$ocdm" compare s.safetensors --model none --methods rs --seeds 1 --memory-bytes 40K --store u8 --format csv
    same 0 "$code" && grep -q "^rs,${kept#*:}," "$out" || return 1
    run "$ocdm" compare s.safetensors --methods rs --memory-bytes 40K --memory 300 -o both
    same 2 "$code" && grep -q '^error: --memory-bytes and --memory exclude each other$' "$err" && [ ! -e both ]
}

# value FILE METHOD GROUP METRIC: the mean in a row of CSV.
value() {
    awk -F, -v m="$2" -v g="$3" -v k="$4" '$1 == m && $2 == g && $3 == k { print $5 }' "$1"
}

# of_summary FILE: total mAP at the end of a run.
of_summary() {
    grep -o '"final":.*' "$1" | grep -o '"total":{[^}]*}' | head -n 1 | sed 's/.*"mAP":\([0-9.]*\).*/\1/'
}

compares() {
    run "$ocdm" compare s.safetensors --methods rs,ocdm --seeds 2 --memory 200 --lr 0.005 -o c --format csv
    same 0 "$code" && same "compare.json ocdm-s0 ocdm-s1 rs-s0 rs-s1 runs.json" "$(ls c | tr '\n' ' ' | sed 's/ $//')" || return 1
    same method,group,metric,classes,mean,std,n,low,high,bold,other,difference,difference_low,difference_high,chosen,seed_0,seed_1 "$(head -n 1 "$out")" &&
        same 103 "$(wc -l < "$out")" || return 1
    grep -q '4 of 4: ' "$err" && cp "$out" first.csv || return 1
    a=$(of_summary c/ocdm-s0/summary.json) b=$(of_summary c/ocdm-s1/summary.json)
    same ok "$(awk -v a="$a" -v b="$b" -v m="$(value "$out" ocdm total mAP)" 'BEGIN { d = (a + b) / 2 - m; print (a > 10 && d < 1e-9 && d > -1e-9) ? "ok" : a " " b " " m }')"
}

# Seeds by range and by list; the same seed is the same run, and its value is in its column.
takes_the_seeds_that_are_named() {
    run "$ocdm" compare s.safetensors --methods rs,ocdm --seeds 1..2,1 --memory 200 --lr 0.005 -o c --format csv
    same 0 "$code" && same ocdm-s0,ocdm-s1,ocdm-s2 "$(find c -name 'ocdm-s*' -printf '%f\n' | sort | paste -sd,)" &&
        same seed_1,seed_2 "$(head -n 1 "$out" | cut -d, -f16-)" &&
        grep -q '"seeds":\[1,2\],"flags":\["--methods","rs,ocdm","--seeds","1..2,1","--memory","200","--lr","0.005"\]' c/compare.json || return 1
    same "$(awk -F, '$1 == "ocdm" && $2 == "total" && $3 == "mAP" { print $17 }' first.csv)" "$(awk -F, '$1 == "ocdm" && $2 == "total" && $3 == "mAP" { print $16 }' "$out")" || return 1
    for bad in 0 2..1 1, ..3 1..2x 1..99999 x 1,,2; do
        run "$ocdm" compare s.safetensors --methods rs --seeds "$bad" -o n
        same 2 "$code" && grep -q "^error: --seeds $bad is no list" "$err" || { echo "$bad"; return 1; }
    done
    rm -r c/*-s2
}

# Nothing runs again, and the table is the same.
leaves_alone_what_is_done() {
    touch -d '2001-01-01' c/*/summary.json
    echo 'error: of an attempt before' > c/rs-s0.log
    run "$ocdm" compare s.safetensors --methods rs,ocdm --seeds 2 --memory 200 --lr 0.005 -o c --resume --format csv
    same 0 "$code" && same "" "$(cat "$err")" && [ ! -e c/rs-s0.log ] && cmp first.csv "$out" && same 4 "$(find c -name summary.json ! -newermt 2002-01-01 | wc -l)"
}

refuses_other_settings() {
    run "$ocdm" compare s.safetensors --methods rs,ocdm --seeds 2 --memory 200 --lr 0.006 -o c
    same 2 "$code" && grep -q '^error: c/rs-s0/summary.json: the run began with lr 0.005, not 0.006$' "$err" || return 1
    run "$ocdm" compare s.safetensors --methods rs --memory 300 --lr 0.005 -o c
    same 2 "$code" && grep -q 'the run began with memory 200, not 300$' "$err" || return 1
    "$ocdm" stream build --recipe scenes --as features --seed 5 -o other.safetensors > /dev/null 2>&1
    run "$ocdm" compare other.safetensors --methods rs --memory 200 --lr 0.005 -o c
    same 3 "$code" && grep -q '^error: c/rs-s0/summary.json: the run was made on the stream s.safetensors ' "$err"
}

prints_tables() {
    for format in text markdown latex json; do
        run "$ocdm" compare s.safetensors --methods rs,ocdm --seeds 2 --memory 200 --lr 0.005 -o c --format $format
        same 0 "$code" && cp "$out" c.$format || return 1
    done
    same "" "$(awk '{ gsub(/±/, "+"); if (length > 100) print }' c.text)" && grep -q '^method .*mAP against best other$' c.text &&
        grep -q '^rs .*\] ocdm$' c.text && ! grep -q "$(printf '\033')" c.text && grep -q '^| ocdm |' c.markdown &&
        grep -q '\\pm' c.latex && grep -q 'minority (5)' c.latex && grep -q '| total (44) mAP |' c.markdown && grep -q -- '- majority (12) -' c.text && grep -q '{"method":"ocdm","group":"total","metric":"mAP","classes":44,"mean":' c.json
}

# A file where a folder should be: that run fails, the others go on, and the exit code is the first failure's.
tells_failures_and_goes_on() {
    mkdir f && echo > f/rs-s0
    run "$ocdm" compare s.safetensors --methods rs,ocdm --memory 100 -j 2 -o f
    same 4 "$code" && grep -q '^error: rs-s0: .' "$err" && grep -q '^hint: .*f/rs-s0.log has what it said$' "$err" &&
        grep -q '^error: ' f/rs-s0.log && [ -s f/ocdm-s0/summary.json ] && [ ! -e f/ocdm-s0.log ] && grep -q '^ocdm ' "$out" || return 1
    run "$ocdm" compare s.safetensors --methods rs,ocdm --memory 100 --seeds 2 -o f
    same 4 "$code" && grep -q 'over 2 seeds (rs: 1); after' "$out" && [ -e f/rs-s0.log ]
}

# One of two at once does it all, the other is told at once.
refuses_a_folder_where_another_works() {
    local command=("$ocdm" compare s.safetensors --methods rs,ocdm --memory 100 --lr 0.005 -j 1 -q -o both)
    "${command[@]}" > first.out 2> first.err &
    local process=$!
    for _ in $(seq 400); do
        [ -e both/rs-s0/run.jsonl ] && break
        sleep 0.02
    done
    run "${command[@]}"
    same 4 "$code" && grep -q '^error: both: another comparison is writing here$' "$err" || return 1
    wait "$process" || { cat first.err; return 1; }
    run "${command[@]}"
    same 0 "$code" && cmp first.out "$out"
}

# Passes over the data are for multitask alone, and the others are not asked about them.
passes_epochs_to_multitask() {
    run "$ocdm" compare s.safetensors --methods rs,multitask --epochs 2 --memory 100 -o e --json
    same 0 "$code" && grep -q '"epochs":2' e/multitask-s0/summary.json && grep -q '"epochs":1' e/rs-s0/summary.json &&
        grep -q '^{"method":"rs","group":"majority",' "$out" || return 1
    run "$ocdm" compare s.safetensors --methods rs,multitask --epochs 2 --memory 100 -o e --json
    same 0 "$code" && same "" "$(cat "$err")"
}

# validation FOLDER: the mAP of a run on what it holds out.
validation() {
    grep -o '"validation":{"samples":[0-9]*,"total":{[^}]*}' "$1/summary.json" | sed 's/.*"mAP":\([0-9.]*\).*/\1/'
}

# Of two learning rates the one with the better validation mAP is chosen for each method, and run again on the whole stream.
chooses_by_validation() {
    local command=("$ocdm" compare s.safetensors --methods rs,ocdm --seeds 2 --memory 200 --grid lr=0.0001,0.006 --validation 0.2 -o v)
    run "${command[@]}" --json
    same 0 "$code" && same 8 "$(find v/grid -name summary.json | wc -l)" && same 4 "$(find v -maxdepth 2 -name summary.json | wc -l)" || return 1
    for method in rs ocdm; do
        same ok "$(awk -v a="$(validation v/grid/$method-s0-lr0.0001)" -v b="$(validation v/grid/$method-s0-lr0.006)" 'BEGIN { print (a > 0 && b > a) ? "ok" : a " " b }')" &&
            grep -q '"lr":0.006.*"validation":0,' v/$method-s0/summary.json && grep -q '"lr":0.0001.*"validation":0.2,' v/grid/$method-s1-lr0.0001/summary.json &&
            grep -q "{\"method\":\"$method\",\"settings\":\"lr 0.006\",.*\"n\":2,\"chosen\":1}" v/compare.json &&
            grep -q "{\"method\":\"$method\",\"settings\":\"lr 0.0001\",.*\"chosen\":0}" v/compare.json &&
            grep -q "^{\"method\":\"$method\",\"group\":\"total\",\"metric\":\"mAP\",.*\"chosen\":\"lr 0.006\"" "$out" || return 1
    done
    # 26,617 training samples: a fifth is held out, and does not enter the stream.
    grep -q '"validation":{"samples":532[0-9],' v/grid/rs-s0-lr0.006/summary.json && grep -q '"samples":2129[0-9],"skipped"' v/grid/rs-s0-lr0.006/summary.json &&
        grep -q '"samples":26617,"skipped"' v/rs-s0/summary.json || return 1
    touch -d '2001-01-01' v/*/summary.json v/grid/*/summary.json
    run "${command[@]}"
    same 0 "$code" && same "" "$(cat "$err")" && same "" "$(find v -name summary.json -newermt 2002-01-01)" && grep -qE '^ocdm +lr 0.006 ' "$out" &&
        grep -q 'Chosen by mean validation mAP over the seeds from' "$out" || return 1
    run "${command[@]}" --grid-seeds 1
    same 0 "$code" && same "" "$(cat "$err")" && grep -q 'Chosen by mean validation mAP over the first 1 seeds from' "$out" && grep -q '"settings":"lr 0.006",.*"n":1,"chosen":1}' v/compare.json || return 1
    run "$ocdm" paper strategies --stream mscoco=s.safetensors --runs w --grid lr=0.0001,0.006 -q --grid adam-eps=1e-4
    same 0 "$code" && grep -q 'lr 0.006, adam_eps 1e-4' <(tr '\n' ' ' < "$out") && [ -s w/mscoco/grid/max-s0-lr0.0001-adam_eps1e-4/summary.json ]
}

refuses_grids_that_choose_nothing() {
    for grid in lr lr= rho=1 nothing=1 groups=1 lr=x lr=0.1,; do
        run "$ocdm" compare s.safetensors --methods rs --grid "$grid" -o n
        same 2 "$code" && same 1 "$(grep -c '^error: ' "$err")" || { echo "$grid"; return 1; }
    done
    run "$ocdm" compare s.safetensors --model none --grid lr=1 -o n
    same 2 "$code" && grep -q '^error: --grid chooses by predictions' "$err" || return 1
    run "$ocdm" compare s.safetensors --methods rs --ema 0.9,0.99 --grid lr=0.003,0.006 -o n
    same 2 "$code" && grep -q '^error: --grid with 2 rates of --ema: ' "$err" && [ ! -e n ] || return 1
    run "$ocdm" compare s.safetensors --methods rs --grid-seeds 2 -o n
    same 2 "$code" && grep -q '^error: --grid-seeds without --grid$' "$err" || return 1
    run "$ocdm" compare s.safetensors --model none --validation 0.1
    same 2 "$code" && [ ! -e n ]
}

# tensors FILE: the data of a safetensors file, without the header, which has the id of the run.
tensors() { tail -c +$((9 + $(od -An -t u8 -N 8 "$1"))) "$1"; }

# The same network, judged by other tests.
draws_tests_by_seed() {
    for flags in '' '--resample-tests'; do
        # shellcheck disable=SC2086
        run "$ocdm" compare s.safetensors --methods rs,finetune --seeds 2 --memory 100 $flags -o "u$flags" --format csv
        same 0 "$code" || return 1
    done
    cmp <(tensors u/rs-s0/weights.safetensors) <(tensors u--resample-tests/rs-s0/weights.safetensors) &&
        [ "$(of_summary u/rs-s0/summary.json)" != "$(of_summary u--resample-tests/rs-s0/summary.json)" ] &&
        same ok "$(awk -v a="$(of_summary u/rs-s0/summary.json)" -v b="$(of_summary u--resample-tests/rs-s0/summary.json)" 'BEGIN { d = a - b; print (d < 3 && d > -3) ? "ok" : d }')"
}

refuses_nonsense() {
    run "$ocdm" compare s.safetensors --methods rs,nothing -o n
    same 2 "$code" || return 1
    run "$ocdm" compare s.safetensors --memory 300,x -o n
    same 2 "$code" && grep -q '^error: --memory: "x" is no whole number' "$err" || return 1
    run "$ocdm" compare s.safetensors --order '0,1;2' -o n
    same 2 "$code" || return 1
    run "$ocdm" compare s.safetensors --order '0,1,2,3;0,1,2,2' -o n
    same 2 "$code" && same 'error: the order names task 2 twice' "$(grep '^error' "$err")" || return 1
    run "$ocdm" compare s.safetensors --methods rs -o ''
    same 2 "$code" && grep -q "^error: the folder's name is empty" "$err" || return 1
    run "$ocdm" compare s.safetensors --methods rs
    same 2 "$code" && grep -q '^error: no folder' "$err" || return 1
    run "$ocdm" compare nothing.safetensors -o n
    same 4 "$code" && [ ! -e n ]
}

# wait_for FILE: until it is there, twenty seconds at most.
wait_for() {
    for _ in $(seq 2000); do
        [ -e "$1" ] && return 0
        sleep 0.01
    done
    echo "no $1"
    return 1
}

# stops SIGNAL CODE FOLDER: children end too, nothing half written counts as done, and the same command goes on.
stops() {
    local command=("$ocdm" compare s.safetensors --methods rs,prs,ocdm,max --seeds 2 --memory 300 --lr 0.005 --checkpoint-every 20 -j 2 -o "$3" --format csv)
    interruptible "${command[@]}" > /dev/null 2> stopped.err &
    local process=$!
    wait_for "$3/prs-s0/checkpoint.safetensors" || { kill -9 $process; return 1; }
    kill "-$1" $process
    wait $process
    code=$?
    same "$2" "$code" && same "" "$(grep '^error' stopped.err)" || return 1
    [ "$(find "$3" -name summary.json | wc -l)" -lt 8 ] || { echo "it had finished"; return 1; }
    for folder in "$3"/*/; do
        exec 9< "$folder/lock" && flock -n 9 || { echo "$folder is still in use"; return 1; }
        exec 9<&-
    done
    run "${command[@]}"
    same 0 "$code" && grep -q 'to go on with' "$err" && same 8 "$(find "$3" -name summary.json | wc -l)"
}

# A comparison that was stopped comes to the numbers of one that was not.
stopping_changes_nothing() {
    stops INT 130 i && cp "$out" i.csv && stops TERM 143 t && same "$(grep -v ,run, i.csv)" "$(grep -v ,run, "$out")"
}

# member FILE NAME: the first number of that name.
member() {
    sed 's/.*"'"$2"'":\([^,}]*\).*/\1/' <<< "$(grep -o '"'"$2"'":[^,}]*' "$1" | head -n 1)"
}

# Tasks of whole batches, so that batches do not depend on whether a task ends: then records through `ocdm sample` are the same.
memory_alone_equals_sample() {
    awk 'BEGIN { srand(5); for (i = 0; i < 1200; i++) { t = int(i / 400); a = 4 * t + int(3.99 * rand() ^ 3); b = 4 * t + int(4 * rand());
        printf "{\"id\":%d,\"task\":%d,\"labels\":[\"c%02d\"%s]}\n", i, t, a, (b != a && rand() < 0.6) ? sprintf(",\"c%02d\"", b) : "" } }' > r.jsonl
    "$ocdm" stream build --records r.jsonl -o r.safetensors > /dev/null 2>&1 || return 1
    for memory in 50 200; do
        for order in 0,1,2 2,0,1; do
            run "$ocdm" compare r.safetensors --model none --methods ocdm,onlyone,rs,random --seeds 2 --memory $memory --order $order -o m
            same 0 "$code" || return 1
            for policy in ocdm onlyone rs random; do
                "$ocdm" stream export r.safetensors --seed 1 --order $order | "$ocdm" sample -p $policy -m $memory --seed 1 -q --summary s.json > /dev/null
                grep "\"method\":\"$policy\".*\"seed\":1," m/compare.json > row
                same "$(member s.json distance) $(member s.json distance_seen)" "$(member row distance) $(member row distance_seen)" || return 1
            done
        done
    done
}

memory_alone_equals_run() {
    run "$ocdm" compare s.safetensors --model none --methods all --seeds 1 --memory 150 --order 2,0,3,1 -o a
    same 0 "$code" && same 9 "$(grep -c '"method"' a/compare.json)" || return 1
    for method in ocdm prs prs-released cbes max onlyone bat-ocdm; do
        "$ocdm" run s.safetensors -o alone-$method --model none --method $method --memory 150 --order 2,0,3,1 -q || return 1
        grep "\"method\":\"$method\"" a/compare.json > row
        sed 's/.*"final":{//' alone-$method/summary.json > final
        same "$(member final distance) $(member final distance_seen)" "$(member row distance) $(member row distance_seen)" || return 1
    done
}

memory_alone_sweeps() {
    run "$ocdm" compare r.safetensors --model none --methods ocdm,rs --seeds 3 --memory 20,50 --rho 0,0.5 --order all --format csv
    same 0 "$code" && same 9 "$(wc -l < "$out")" && same 8 "$(grep -c ',18,' "$out")" || return 1
    cp "$out" one.csv
    run "$ocdm" compare r.safetensors --model none --methods ocdm,rs --seeds 3 --memory 20,50 --rho 0,0.5 --order all --format csv -j 3
    cmp one.csv "$out"
}

memory_alone_refuses_what_needs_a_network() {
    run "$ocdm" compare r.safetensors --model none --methods gss
    same 2 "$code" && grep -q '^error: gss does not run without a network$' "$err"
}

memory_alone_has_no_runs_to_show() {
    run "$ocdm" compare r.safetensors --model none --methods rs -o alone
    same 0 "$code" && same compare.json "$(ls alone)" || return 1
    local verb
    for verb in "report alone -o alone.html" "watch alone"; do
        # shellcheck disable=SC2086
        run "$ocdm" $verb
        same 4 "$code" && grep -q '^error: alone: a comparison of memories alone has no runs to show$' "$err" || return 1
    done
}

memory_alone_refuses_weights() {
    run "$ocdm" compare r.safetensors --model none --weights w.safetensors
    same 2 "$code" && grep -q '^error: --weights has no effect with --method ocdm, --model none: the model computes and predicts nothing$' "$err"
}

# What SIGKILL may leave: a log alone; or, between two renames, a log and the older checkpoint.
goes_on_without_its_newest_checkpoint() {
    local command=("$ocdm" compare s.safetensors --methods rs,ocdm --memory 100 -j 2 -o k)
    run "${command[@]}"
    same 0 "$code" && cp -r k/rs-s0 k/ocdm-s0 . || return 1
    rm k/rs-s0/{summary.json,checkpoint.safetensors,checkpoint.previous.safetensors} k/ocdm-s0/{summary.json,checkpoint.safetensors}
    run "${command[@]}"
    same 0 "$code" && grep -q '2 to go on with' "$err" && cmp rs-s0/memory.jsonl k/rs-s0/memory.jsonl &&
        cmp ocdm-s0/weights.safetensors k/ocdm-s0/weights.safetensors
}

# A flag that is left out asks for its default.
refuses_runs_with_more_flags() {
    run "$ocdm" compare s.safetensors --methods rs --memory 100 --clip 3 -o x
    same 0 "$code" || return 1
    run "$ocdm" compare s.safetensors --methods rs --memory 100 -o x
    same 2 "$code" && grep -q 'the run began with clip 3, not null$' "$err" || return 1
    run "$ocdm" compare s.safetensors --methods rs --memory 100 --order 3,2,1,0 -o y
    same 0 "$code" || return 1
    run "$ocdm" compare s.safetensors --methods rs --memory 100 -o y
    same 2 "$code" && grep -qF 'the run began with order [3,2,1,0], not [0,1,2,3]' "$err"
}

# A file of groups may be called otherwise tomorrow, and must say the same.
compares_groups_by_content() {
    grep -o '"name":"[^"]*","group":"[a-z]*"' y/rs-s0/summary.json | sed 's/"name":"\([^"]*\)","group":"\([a-z]*\)"/minority: \1/' > few.txt
    mkdir -p changed && cp few.txt renamed.txt && sed '3s/^minority/majority/' few.txt > changed/few.txt && ! cmp -s few.txt changed/few.txt || return 1
    run "$ocdm" compare s.safetensors --methods rs --memory 100 --groups few.txt -o g
    same 0 "$code" || return 1
    run "$ocdm" compare s.safetensors --methods rs --memory 100 --groups renamed.txt -o g
    same 0 "$code" && same "" "$(cat "$err")" || return 1
    run "$ocdm" compare s.safetensors --methods rs --memory 100 --groups changed/few.txt -o g
    same 2 "$code" && grep -q '^error: g/rs-s0/summary.json: the run began with the class .* in the group minority, not majority$' "$err" || return 1
    run "$ocdm" compare s.safetensors --methods rs --memory 100 -o g
    same 2 "$code" && grep -q 'the run began with groups "few.txt", not "600,100"$' "$err" || return 1
    run "$ocdm" compare s.safetensors --methods rs --memory 100 --groups no-such-file -o g
    same 4 "$code" && same 1 "$(grep -c '^error: ' "$err")"
}

lists_the_paper() {
    run "$ocdm" paper
    same 0 "$code" && same 18 "$(grep -cE '(Table|Figure|text)' <<< "$(grep '^  ' "$out")")" || return 1
    run "$ocdm" paper memmory
    same 2 "$code" && grep -q 'did you mean memory?' "$err" || return 1
    run "$ocdm" paper mscoco --stream cocoseq=s.safetensors --runs p
    same 2 "$code" && grep -q '^error: --stream cocoseq=s.safetensors: mscoco is about mscoco$' "$err" && [ ! -e p/scenes.safetensors ]
}

# Runs are taken from where a comparison left them; what is missing is run.
puts_ours_beside_the_paper() {
    run "$ocdm" paper strategies --stream mscoco=s.safetensors --runs p --format csv
    same 0 "$code" && grep -q '3 runs' "$err" && same 13 "$(wc -l < "$out")" && [ -s p/mscoco/max-s0/summary.json ] || return 1
    awk -F, '$3 == "max" && $5 == "mAP" { exit !($6 > 10 && $9 == 39.6 && $10 == 1.6) }' "$out" || return 1
    run "$ocdm" paper strategies --stream mscoco=s.safetensors --runs p
    same 0 "$code" && same "" "$(cat "$err")" && grep -q '39.6 ± 1.6' "$out" && same "" "$(awk '{ gsub(/±/, "+"); if (length > 100) print }' "$out")" || return 1
    grep -q '^ *-* total (44) -*$' "$out" && grep -q '^All runs on mscoco: memory 1000, batch 10, replay 10, rho 0, ' "$out" && cp -r p q
}

# The paper's MSCOCO has 44 classes: beside its numbers, those of a stream of three are of something else, and the head says so.
tells_other_classes() {
    awk 'BEGIN { for (i = 0; i < 60; i++) print "c" i % 3, "1:" i % 3, "2:" i }' > three.svm
    "$ocdm" stream build --records three.svm --test three.svm --format svm -q -o three.st || return 1
    run "$ocdm" paper strategies --stream mscoco=three.st --runs t3 -q
    same 0 "$code" && grep -q '; ours on mscoco has 3 classes, the paper.s stream 44' <(head -n 2 "$out" | tr '\n' ' ') || return 1
    run "$ocdm" paper amlr --stream nuswideseq=three.st,mscoco=s.safetensors --format markdown
    same 0 "$code" && same 1 "$(grep -c 'classes, the paper' "$out")" && grep -q 'ours on nuswideseq has 3 classes, the paper.s stream 49' "$out" || return 1
    run "$ocdm" paper amlr --stream mscoco=three.st --format csv
    same 0 "$code" && same "warning: ours on mscoco has 3 classes, the paper's stream 44" "$(cat "$err")"
}

# Two lists of tasks for one stream: each has runs in a folder of its name, the table has their mean and range, CSV has both.
averages_over_lists() {
    cp s.safetensors t.safetensors && mkdir l && cp -r q/mscoco l/s && cp -r q/mscoco l/t || return 1
    sed -i -E 's/("final":.*"total":\{"classes":44,"CF1":)[0-9.]*,("OF1":[0-9.]*,"mAP":)[0-9.]*/\110,\220/' l/t/max-s0/summary.json
    of_s=$(of_summary l/s/max-s0/summary.json)
    same 20 "$(of_summary l/t/max-s0/summary.json)" || return 1
    run "$ocdm" paper strategies --stream mscoco=s.safetensors,t.safetensors --runs l --format markdown
    same 0 "$code" && same "" "$(cat "$err")" && grep -q '^Ours on mscoco: mean \[lowest, highest\] over 2 lists of tasks: s, t; without brackets, the same on all\.$' "$out" &&
        same 1 "$(grep -c '^All runs on mscoco: memory 1000, .*, lr 0.006, ' "$out")" || return 1
    same "$(awk -v a="$of_s" 'BEGIN { printf "%.1f [%.1f, %.1f]", (a + 20) / 2, (a < 20 ? a : 20), (a < 20 ? 20 : a) }')" "$(awk -F ' *[|] *' '/^\| max, ours/ { print $5 }' "$out")" &&
        same 0 "$(grep -c '^| ocdm, ours.*\[.*\[.*\[.*\[' "$out")" || return 1
    run "$ocdm" paper strategies --stream mscoco=s.safetensors,t.safetensors --runs l --format csv
    same 0 "$code" && same 25 "$(wc -l < "$out")" && same "s t" "$(awk -F, 'NR > 1 { print $1 }' "$out" | uniq | paste -sd' ')" || return 1
    run "$ocdm" paper amlr --stream nuswide=other.safetensors,mscoco=s.safetensors,t.safetensors --runs l
    same 0 "$code" && same "nuswide mscoco" "$(awk '$2 == "total" { print $1 }' "$out" | paste -sd' ')" || return 1
    run "$ocdm" paper strategies --stream mscoco=s.safetensors,./s.safetensors --runs l
    same 2 "$code" && grep -q '^error: --stream: s.safetensors and ./s.safetensors have the same name$' "$err"
}

# Nothing is run, printed or drawn: not where a run is missing, not for a stream that comes before the one with the wrong runs.
refuses_runs_of_another_stream() {
    rm -r p/mscoco/random-s0 && cp -r p/mscoco p/nuswide && ls -R p > before || return 1
    run "$ocdm" paper strategies --stream mscoco=other.safetensors --runs p
    same 3 "$code" && same "" "$(cat "$out")" && same 1 "$(grep -c '^error: ' "$err")" && same 2 "$(wc -l < "$err")" || return 1
    grep -qE '^error: p/mscoco/max-s0/summary.json: the run was made on the stream s.safetensors \(checksum [0-9a-f]{32}\), not on other.safetensors \([0-9a-f]{32}\)$' "$err" || return 1
    run "$ocdm" paper strategies --stream mscoco=s.safetensors,nuswide=other.safetensors --runs p
    same 3 "$code" && same "" "$(cat "$out")" && grep -q '^error: p/nuswide/max-s0/summary.json: the run was made on' "$err" || return 1
    run "$ocdm" paper curves --stream mscoco=other.safetensors --runs p --svg curves.svg
    same 3 "$code" && [ ! -e curves.svg ] && ls -R p | cmp before -
}

# A table is of one memory, rho, order, network, ...: what is there with others is no substitute, and what is asked for is no less.
refuses_runs_with_other_settings() {
    run "$ocdm" compare s.safetensors --methods ocdm,max,random --seeds 1 --lr 0.006 -m 100 --rho 1 --order 3,2,1,0 -o mix/mscoco -q
    same 0 "$code" || return 1
    run "$ocdm" paper strategies --stream mscoco=s.safetensors --runs mix --seeds 1
    same 3 "$code" && same "" "$(cat "$out")" && same 'error: mix/mscoco/max-s0/summary.json: the run began with memory 100, not 1000' "$(grep '^error' "$err")" || return 1
    for asked in '--lr 0.003' '--model mlp' '--batch 20' '--replay 5' '--groups 500,50' '--clip 2' '--distance l2'; do
        # shellcheck disable=SC2086
        run "$ocdm" paper strategies --stream mscoco=s.safetensors --runs q $asked
        same 3 "$code" && same "" "$(cat "$out")" && grep -qE "^error: q/mscoco/max-s0/summary.json: the run began with $(cut -c 3- <<< "${asked% *}") .*, not \"?${asked#* }\"?\$" "$err" ||
            { echo "$asked"; cat "$err"; return 1; }
    done
    run "$ocdm" paper strategies --stream mscoco=s.safetensors --runs q --model cnn
    same 2 "$code" && grep -q '^error: s.safetensors: the stream has features, the model cnn takes images$' "$err"
}

# Image files and a network for them: the flags of `ocdm run` are the table's, the folder of the images among them.
learns_from_images() {
    mkdir -p dots && base64 -d > dots/dot.png <<< iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
    for i in $(seq 60); do
        printf '{"id":%d,"task":%d,"split":"%s","labels":["c%d"],"image":"dot.png"}\n' "$i" $((i % 4)) "$([ "$i" -gt 40 ] && echo test || echo train)" $((i % 4))
    done > dots.jsonl
    "$ocdm" stream build --records dots.jsonl --images dots -q -o i.safetensors > /dev/null && mv dots moved || return 1
    run "$ocdm" paper strategies --stream mscoco=i.safetensors --runs j --model cnn --lr 1e-3 --images moved --resize 36 --crop 32 -q
    same 0 "$code" && same "" "$(cat "$err")" && grep -q '"model":"cnn".*"precision":"f32","lr":0.001.*"resize":36,"crop":32' j/mscoco/max-s0/summary.json &&
        grep -q 'resize 36, crop 32' <(tr '\n' ' ' < "$out") || return 1
    run "$ocdm" paper strategies --stream mscoco=i.safetensors --runs j --model cnn --lr 1e-3 --images moved --resize 36 -q
    same 3 "$code" && grep -q 'max-s0/summary.json: the run began with crop 32, not 224$' "$err" || return 1
    run "$ocdm" paper claims --stream mscoco=i.safetensors --runs j
    same 2 "$code" && grep -q '^error: i.safetensors: the stream has images, the model linear takes features$' "$err" &&
        grep -q '^hint: gss needs a model of what the stream has: name one with --model, or leave gss out with --model none$' "$err"
}

draws_on_the_memory_alone() {
    for item in process stream-mscoco memory memory-onlyone strategies-memory orders-memory orders-distance amlr; do
        run "$ocdm" paper $item --stream mscoco=s.safetensors --runs p --format csv
        same 0 "$code" && [ "$(wc -l < "$out")" -gt 5 ] && ! grep -q nan "$out" || { echo "$item"; return 1; }
    done
}

# over MARK: the mean over the runs p/mscoco/gss-s* of the classes with more samples in memory, as the table rounds it.
over() {
    sed 's/.*"memory":{"kept":[0-9]*,"counts":\[\([0-9,]*\)\].*/\1/' p/mscoco/gss-s*/summary.json |
        awk -F, -v mark="$1" '{ for (i = 1; i <= NF; i++) n += $i > mark } END { printf "%.1f", n / NR }'
}

# gss needs a network: its claim is about the memories of runs, 10 unless others are asked for, which are checked like those of tables.
learns_what_claims_need() {
    rm -rf p/mscoco/gss-s* && run "$ocdm" paper claims --stream mscoco=s.safetensors,nuswide=r.safetensors --runs p
    same 0 "$code" && same 10 "$(find p/mscoco/gss-s* -name summary.json | wc -l)" && [ ! -e p/nuswide/gss-s0 ] || return 1
    same "$(over 500) 1" "$(awk '$1 == "mscoco" && $2 == "gss:" { print $(NF - 1), $NF }' "$out")" && grep -q 'ocdm: classes with more than 40 samples' "$out" || return 1
    same "- 2" "$(awk '$1 == "nuswide" && $2 == "gss:" { print $(NF - 1), $NF }' "$out")" &&
        grep -q '^No gss on nuswide: it needs a network, and the stream has labels alone\.$' "$out" &&
        grep -q '^All runs on mscoco (gss, 10 seeds): memory 1000, ' "$out" && grep -q 'model linear, *precision f32, lr 0.006' <(tr '\n' ' ' < "$out") || return 1
    run "$ocdm" paper claims --stream mscoco=s.safetensors --runs p --model none
    same 0 "$code" && grep -q '^No gss on mscoco: .*--model none' "$out" || return 1
    run "$ocdm" paper claims --stream mscoco=s.safetensors --runs p --lr 0.003
    same 3 "$code" && same "" "$(cat "$out")" && grep -q '^error: p/mscoco/gss-s0/summary.json: the run began with lr 0.006, not 0.003$' "$err" || return 1
    rm -r p/mscoco/gss-s[2-9] && sed -i 's/"counts":\[[0-9]*,[0-9]*,/"counts":[501,502,/' p/mscoco/gss-s1/summary.json
    run "$ocdm" paper claims --stream mscoco=s.safetensors --runs p --seeds 2
    same 0 "$code" && same "" "$(grep -v '^memories: ' "$err")" && [ "$(over 500)" != 1.0 ] &&
        same "$(over 500)" "$(awk '$2 == "gss:" { print $(NF - 1) }' "$out")" || return 1
    sed -i 's/"counts":\[501,/"counts":[/' p/mscoco/gss-s1/summary.json
    run "$ocdm" paper claims --stream mscoco=s.safetensors --runs p --seeds 2 -q
    same 3 "$code" && grep -q '^error: p/mscoco/gss-s1/summary.json: no counts of the [0-9]* classes in memory$' "$err"
}

check build_makes_the_stream build
check compare_runs_and_averages compares
check compare_takes_the_seeds_that_are_named takes_the_seeds_that_are_named
check compare_leaves_alone_what_is_done leaves_alone_what_is_done
check compare_takes_a_memory_in_bytes takes_a_memory_in_bytes
check compare_refuses_other_settings_in_the_same_folder refuses_other_settings
check compare_prints_every_format prints_tables
check compare_tells_failures_and_goes_on tells_failures_and_goes_on
check compare_refuses_a_folder_where_another_works refuses_a_folder_where_another_works
check compare_passes_epochs_to_multitask_alone passes_epochs_to_multitask
check compare_chooses_settings_by_validation chooses_by_validation
check compare_refuses_grids_that_choose_nothing refuses_grids_that_choose_nothing
check compare_draws_tests_by_seed draws_tests_by_seed
check compare_refuses_nonsense refuses_nonsense
check compare_goes_on_after_signals stopping_changes_nothing
check memory_alone_equals_sample memory_alone_equals_sample
check memory_alone_equals_run memory_alone_equals_run
check memory_alone_sweeps_whatever_the_threads memory_alone_sweeps
check memory_alone_refuses_what_needs_a_network memory_alone_refuses_what_needs_a_network
check memory_alone_has_no_runs_to_show memory_alone_has_no_runs_to_show
check memory_alone_refuses_weights memory_alone_refuses_weights
check compare_goes_on_without_the_newest_checkpoint goes_on_without_its_newest_checkpoint
check compare_refuses_runs_with_more_flags refuses_runs_with_more_flags
check compare_compares_groups_by_content compares_groups_by_content
check paper_lists_its_items lists_the_paper
check paper_puts_ours_beside_its_numbers puts_ours_beside_the_paper
check paper_tells_when_the_stream_has_other_classes tells_other_classes
check paper_averages_over_lists_of_tasks averages_over_lists
check paper_refuses_runs_of_another_stream refuses_runs_of_another_stream
check paper_refuses_runs_with_other_settings refuses_runs_with_other_settings
check paper_learns_from_images learns_from_images
check paper_computes_memories_itself draws_on_the_memory_alone
check paper_counts_the_memory_of_gss_in_runs learns_what_claims_need
finish
