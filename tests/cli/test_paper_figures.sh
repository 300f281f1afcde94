#!/usr/bin/env bash
# `ocdm paper FIGURE --svg FILE`: every figure on the built-in stream. $1: the program.
. "$(dirname "$0")/tap.sh"
ocdm=$1
cd "$place" || exit 1

# whole FILE: one picture with a title, a description, text and marks; no number that is none.
whole() {
    same 1 "$(grep -c xmlns= "$1")" && same '</svg>' "$(tail -n 1 "$1")" && same "$(grep -c '^<svg' "$1")" "$(grep -c '</svg>$' "$1")" &&
        grep -q '^<title>Figure ' "$1" && grep -q '<desc>.*\.</desc>' "$1" && [ "$(grep -cE '<(rect [^>]*class="[^"]*k[0-3]"|polyline|path class="dot )' "$1")" -gt 5 ] &&
        ! grep -qiE '["(> ,-](nan|inf)["), <]' "$1"
}

# No --stream: the first makes the built-in one, and says so.
draws_the_memory() {
    for figure in memory process stream-mscoco stream-nuswide memory-onlyone strategies-memory orders-memory orders-distance; do
        run "$ocdm" paper $figure --runs p --svg $figure.svg
        same 0 "$code" && same "" "$(cat "$out")" && grep -q "^$figure.svg: written\$" "$err" && whole $figure.svg || { echo "$figure"; return 1; }
    done
    grep -q '>scenes, in place of mscoco<' memory.svg && grep -q '>over 40: [0-9]*, paper 18<' memory.svg && grep -q '>order 2,1,3,0<' orders-memory.svg
}

# Figures with a network run what is missing.
draws_what_was_learned() {
    run "$ocdm" paper curves --runs p --svg curves.svg -q
    same 0 "$code" && same "" "$(cat "$err")" && whole curves.svg && grep -q 'the paper: 43<' curves.svg && [ -s p/scenes/prs-s0/summary.json ] || return 1
    run "$ocdm" paper rho --runs p --svg rho.svg -q
    same 0 "$code" && whole rho.svg && grep -q 'majority (paper: rises)' rho.svg && ! grep -q 'left out' rho.svg
}

# The bars are the table's numbers.
agrees_with_the_table() {
    run "$ocdm" paper memory --runs p --format csv
    same 0 "$code" || return 1
    kept=$(awk -F, '$2 == "ocdm" { print $(NF - 1) }' "$out" | sort | head -n 1)
    same "$(awk -F, -v k="$kept" 'NR > 1 && $(NF - 1) == k' "$out" | wc -l)" "$(grep -c ": $kept, target " memory.svg)"
}

refuses_what_it_cannot_draw() {
    for item in amlr mscoco claims; do
        run "$ocdm" paper $item --runs p --svg x.svg
        same 2 "$code" && grep -q "^error: --svg: $item is no figure of the paper\$" "$err" && [ ! -e x.svg ] || return 1
    done
    run "$ocdm" paper memory --runs p --svg x.svg --json
    same 2 "$code" && grep -q 'neither --format nor --json' "$err" || return 1
    run "$ocdm" paper process --runs p --svg no/such/x.svg
    same 4 "$code" && grep -q '^error: cannot write no/such/x.svg: ' "$err"
}

check paper_draws_the_memory draws_the_memory
check paper_draws_what_was_learned draws_what_was_learned
check paper_draws_the_numbers_that_it_prints agrees_with_the_table
check paper_refuses_what_it_cannot_draw refuses_what_it_cannot_draw
finish
