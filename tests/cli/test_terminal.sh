#!/usr/bin/env bash
# What the program draws on a terminal, at several widths and while the window changes. $1: the program.
. "$(dirname "$0")/tap.sh"
ocdm=$1
terminal=$2/tests/cli/terminal.py
cd "$place" || exit 1

"$ocdm" stream build --recipe scenes --as features -o s.safetensors --quiet

# on_terminal WIDTHS DRAWN COMMAND...: what is on the screen at the end, and before it what was wrong.
on_terminal() {
    run /usr/bin/python3 "$terminal" "$@"
    sed 's/[0-9][0-9]*/N/g' "$out"
}

# Many passes: the run is stopped long before its end.
a_run_draws_one_line_in_place() {
    same "$(printf 'before\nnote: r: stopped after step N, and saved')" \
        "$(on_terminal 80,30,100,12 2 "$ocdm" run s.safetensors -o r --method multitask --epochs 1000 --threads 1)"
}

# The line of a comparison says which runs are running, and at which step each is.
a_comparison_draws_one_line_in_place() {
    same "$(printf 'before\nN runs\nstopped; the same command goes on')" \
        "$(on_terminal 80,20,100 2 "$ocdm" compare s.safetensors -o c --methods multitask --seeds 2 --epochs 1000 --jobs 2)"
}

a_comparison_says_which_run_is_at_which_step() {
    mkdir w && printf '{"format":"ocdm-runs","version":1,"runs":[{"name":"rs-s0","steps":40},{"name":"rs-s1","steps":40}]}' > w/runs.json
    mkdir w/rs-s0 w/rs-s1 && touch w/rs-s0/summary.json w/rs-s1/lock
    printf '{"type":"start"}\n{"type":"step","step":10,"seconds":20}\n' | tee w/rs-s0/run.jsonl > w/rs-s1/run.jsonl
    flock w/rs-s1/lock timeout 1 "$ocdm" watch w > "$out"
    same '1 of 2 runs done, about 60 s left: rs-s1 step 10 of 40' "$(cat "$out")"
}

watching_draws_a_comparison_in_place() {
    same "$(printf 'before\nN of N runs done, about N s left\nrs-sN            [#####               ] step N of N (N %%)')" \
        "$(on_terminal 80,30,80 2 flock w/rs-s1/lock "$ocdm" watch w)"
}

watching_tells_that_a_comparison_stopped() {
    run "$ocdm" watch w
    same 0 "$code" && same 'the comparison stopped with 1 of 2 runs done and is not going on' "$(tail -n 1 "$out")"
}

watching_refuses_a_folder_that_is_neither() {
    mkdir empty
    run "$ocdm" watch empty
    same 4 "$code" && grep -q '^hint: name the FOLDER of `ocdm run -o FOLDER` or of `ocdm compare`$' "$err"
}

check a_run_draws_one_line_in_place a_run_draws_one_line_in_place
check a_comparison_draws_one_line_in_place a_comparison_draws_one_line_in_place
check a_comparison_says_which_run_is_at_which_step a_comparison_says_which_run_is_at_which_step
check watching_draws_a_comparison_in_place watching_draws_a_comparison_in_place
check watching_tells_that_a_comparison_stopped watching_tells_that_a_comparison_stopped
check watching_refuses_a_folder_that_is_neither watching_refuses_a_folder_that_is_neither
finish
