#!/usr/bin/env bash
# The frame of the program: help, man page, completion, errors and exit codes. $1: the program; $2: the source folder.
. "$(dirname "$0")/tap.sh"
ocdm=$1
source=$2

overview=$("$ocdm" --help)
listed() { sed -n 's/^  \([a-z][a-z ]*[a-z]\)   *[^ ].*/\1/p'; } # the verbs of a list
families=$(sed -n 's/^  \([a-z]*\) VERB .*/\1/p' <<< "$overview")
mapfile -t verbs < <(listed <<< "$overview"; for family in $families; do "$ocdm" "$family" --help | listed; done)
flags_of() { # the long flags in a verb's help
    # shellcheck disable=SC2086
    "$ocdm" $1 --help | sed -n 's/^  \(-[a-zA-Z], \|    \)--\([a-z-]*\).*/\2/p'
}

# fails_with CODE MESSAGE HINT WORDS...: nothing on stdout, two lines on stderr.
fails_with() {
    local want=$1 message=$2 hint=$3
    shift 3
    run "$ocdm" "$@"
    same "$want" "$code" && same "" "$(cat "$out")" && same "error: $message
hint: $hint" "$(cat "$err")"
}

version_is_the_headers() {
    local header=$source/include/ocdm/ocdm.h version
    version=$(awk '/#define OCDM_VERSION_/ { printf "%s%s", dot, $3; dot = "." }' "$header")
    run "$ocdm" --version
    same 0 "$code" && same "ocdm $version" "$(cat "$out")" && same "" "$(cat "$err")"
}

# The header is where the version is written.
other_files_have_the_version_of_the_header() {
    local version
    version=$(awk '/#define OCDM_VERSION_/ { printf "%s%s", dot, $3; dot = "." }' "$source/include/ocdm/ocdm.h")
    same "$version" "$(sed -n 's/^version: //p' "$source/CITATION.cff")" &&
        same "$version" "$(sed -n 's/^## \([0-9.]*\).*/\1/p' "$source/CHANGELOG.md" | head -n 1)" &&
        same "libocdm.so.${version%%.*}" "$(sed -n '1s/ .*//p' "$source/packaging/debian/libocdm1.symbols")" &&
        same "$version" "$(/usr/bin/python3 -B -c 'import sys; sys.path.insert(0, sys.argv[1]); import backend; print(backend.version())' "$source/python")"
}

# A function that is added to the headers is added to the list of Debian's symbols.
debian_symbols_are_those_of_the_headers() {
    cat "$source"/include/ocdm/ocdm.h "$source"/include/ocdm/metrics.h "$source"/include/ocdm/split.h | cc -I"$source/include" -E -P -x c - | grep -oE '\bocdm_[a-z_]+\(' | tr -d "(" |
        sort -u > "$place/declared"
    [ "$(wc -l < "$place/declared")" -gt 20 ] && sed -n 's/^ \(.*\)@Base .*/\1/p' "$source/packaging/debian/libocdm1.symbols" | sort | diff "$place/declared" -
}

overview_fits_a_screen() {
    [ "$(wc -l <<< "$overview")" -le 24 ] && awk 'length > 80 { print; bad = 1 } END { exit bad }' <<< "$overview"
}

overview_lists_the_verbs() {
    local wanted
    for wanted in sample demo "stream build" "stream info" run compare report "weights info" help man completion; do
        printf '%s\n' "${verbs[@]}" | grep -qx "$wanted" || { echo "no $wanted"; return 1; }
    done
}

overview_goes_to_stderr() {
    run "$ocdm"
    same 2 "$code" && same "" "$(cat "$out")" && same "$overview" "$(cat "$err")"
}

each_verb_explains_itself() {
    local verb
    for verb in "${verbs[@]}"; do
        # shellcheck disable=SC2086
        run "$ocdm" $verb --help
        same 0 "$code" && grep -q "^Usage: ocdm $verb" "$out" && grep -q -- '-h, --help' "$out" || { echo "in $verb"; return 1; }
        awk '!/^  [^ -]/ && length > 80 { print; bad = 1 } END { exit bad }' "$out" || return 1
        # shellcheck disable=SC2086
        same "$(cat "$out")" "$("$ocdm" help $verb)" || return 1
    done
}

sample_has_the_promised_flags() {
    local flag
    run "$ocdm" sample --help
    for flag in "-m, --memory" "-p, --policy" "-b, --batch" --rho --distance --tie --seed --format --labels --id --sep --trace \
        --summary --skip-bad "-q, --quiet"; do
        grep -q -- "^  *$flag" "$out" || { echo "no $flag"; return 1; }
    done
    grep -q 'default 1000' "$out" && grep -q 'cbrs' "$out" && grep -q 'reverse-kl' "$out"
}

family_lists_its_verbs() {
    run "$ocdm" weights --help
    same 0 "$code" && grep -q '^  weights info ' "$out" && grep -q '^  weights export ' "$out" && same "$(cat "$out")" "$("$ocdm" help weights)"
}

widest_help() { # widest_help COLUMNS: of `sample --help` on a terminal that wide; examples are never wrapped
    script -qec "stty cols $1 rows 50; '$ocdm' sample --help" /dev/null < /dev/null | tr -d '\r' |
        awk '!/^  [^ -]/ && length > most { most = length } END { print most }'
}

# Wrapped to the terminal, never wider than 100 columns.
help_follows_the_terminal() {
    local narrow wide
    narrow=$(widest_help 70)
    wide=$(widest_help 150)
    echo "$narrow of 70, $wide of 150"
    [ "$narrow" -gt 50 ] && [ "$narrow" -le 70 ] && [ "$wide" -gt 80 ] && [ "$wide" -le 100 ]
}

full_disk_is_an_error() {
    "$ocdm" --help > /dev/full 2> "$err"
    code=$?
    same 4 "$code" && grep -q '^error: standard output: No space left' "$err" && grep -q '^hint: ' "$err"
}

# The writer waits until its reader has closed the pipe for certain.
closed_pipe_is_an_error() {
    {
        while [ ! -e "$place/closed" ]; do sleep 0.05; done
        "$ocdm" man 2> "$err" < /dev/null
        echo $? > "$place/code"
    } | {
        exec <&-
        : > "$place/closed"
        while [ ! -s "$place/code" ]; do sleep 0.05; done
    }
    code=$(cat "$place/code")
    same 4 "$code" && grep -q '^error: standard output: Broken pipe' "$err"
}

man_page_is_complete() {
    local verb flag
    run "$ocdm" man
    same 0 "$code" && grep -q '^\.TH OCDM 1' "$out" || return 1
    for verb in "${verbs[@]}"; do
        grep -qx "\.SS ocdm $verb" "$out" || { echo "no $verb"; return 1; }
        for flag in $(flags_of "$verb" | grep -vx help); do
            grep -qF -- "\\-\\-${flag//-/\\-}\\fR" "$out" || { echo "no --$flag"; return 1; }
        done
    done
    grep -E "^[.']" "$out" | grep -vE '^\.(TH|SH|SS|TP|PP|B|br)( |$)' && return 1
    return 0
}

# The scripts ask the program, which answers each shell in the same way.
completions_know_every_flag() {
    local shell verb flag
    for shell in bash zsh fish; do
        run "$ocdm" completion "$shell"
        same 0 "$code" && grep -q "completion $shell -- " "$out" || return 1
        for verb in "${verbs[@]}"; do
            [ "$verb" != help ] || continue
            # shellcheck disable=SC2086
            run "$ocdm" completion "$shell" -- $verb --
            for flag in $(flags_of "$verb"); do
                grep -qE -- "^--$flag($|	)" "$out" || { echo "$shell: no --$flag"; return 1; }
            done
        done
    done
}

complete_in_bash() { # complete_in_bash WORD...: the words that bash would offer for the last one
    bash -c 'source <("$0" completion bash); COMP_WORDS=("$0" "$@"); COMP_CWORD=$#; _ocdm; echo "${COMPREPLY[*]}"' "$ocdm" "$@"
}

# What a user may type next: streams and folders, not other files; after a comma; names of the paper; second words of help.
bash_completion_follows_what_values_are() {
    mkdir "$place/in" && touch "$place/in/a.safetensors" "$place/in/b.txt" && mkdir "$place/in/runs"
    same "$place/in/a.safetensors $place/in/runs" "$(complete_in_bash run "$place/in/")" &&
        same "$place/in/runs" "$(complete_in_bash run -o "$place/in/")" && same "$place/in/runs" "$(complete_in_bash watch "$place/in/")" &&
        same "$place/in/runs" "$(complete_in_bash report "$place/in/r")" &&
        same "rs,finetune" "$(complete_in_bash compare --methods rs,fi)" && same "rs,finetune" "$(complete_in_bash compare --methods = rs,fi)" &&
        same "stream-mscoco stream-nuswide" "$(complete_in_bash paper stream)" && same "info" "$(complete_in_bash help stream inf)" &&
        same "stream" "$(complete_in_bash str)" && same "info" "$(complete_in_bash stream inf)" && same "" "$(complete_in_bash help sample --m)" &&
        same "--methods=rs,finetune" "$("$ocdm" completion fish -- compare --methods=rs,fi)" &&
        same "--seed	seed of the stream and of the policies" "$("$ocdm" completion zsh -- demo --se)" &&
        same "$place/in/b.txt" "$(complete_in_bash paper --stream mscoco = "$place/in/b")" &&
        same "a,$place/in/b.txt" "$(complete_in_bash paper --stream mscoco = "a,$place/in/b")"
}

# Every --flag in a text of the program, a hint or a help, is a flag of some verb.
texts_name_flags_that_exist() {
    local verb
    for verb in "${verbs[@]}"; do
        # shellcheck disable=SC2086
        "$ocdm" $verb --help | grep -oE -- '^ *(-., )?--[a-z][a-z0-9-]*' | sed "s/.*--/$verb:/"
    done > "$place/flags"
    /usr/bin/python3 - "$source" "$place/flags" << 'END'
import pathlib, re, sys
source, of_verb = pathlib.Path(sys.argv[1]) / "src", {}
for line in open(sys.argv[2]):
    verb, flag = line.strip().split(":")
    of_verb.setdefault(verb, {"help"}).add(flag)
everywhere = set().union(*of_verb.values()) | {"version"}
others = {"logdir"}  # of TensorBoard
wrong = []
for path in sorted(source.rglob("*.[ch]")) + [source / "cli/help.txt"]:
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    for literal in [text] if path.suffix == ".txt" else re.findall(r'"((?:[^"\\]|\\.)*)"', text):
        for flag in re.findall(r"(?<![\w-])--([a-z][a-z0-9-]*)", literal):
            if flag not in everywhere | others:
                wrong.append(f"{path.relative_to(source)}: --{flag}")
print("\n".join(wrong))
assert len(of_verb) > 15 and not wrong
END
}

bash_completion_completes() {
    : > "$place/some file"
    same "sample" "$(complete_in_bash sam)" && same "export" "$(complete_in_bash weights ex)" &&
        same "--memory" "$(complete_in_bash sample --mem)" && same "reverse-kl" "$(complete_in_bash sample --distance = rev)" &&
        same "onlyone" "$(complete_in_bash sample -p on)" && same "fish" "$(complete_in_bash completion f)" &&
        same "weights" "$(complete_in_bash help wei)" && same "" "$(complete_in_bash sample -m 1)" &&
        same "$place/some file" "$(complete_in_bash sample --trace "$place/som")" &&
        same "$place/some file" "$(complete_in_bash sample "$place/som")"
}

# What the README shows is what the program makes: the picture to the byte, and each policy's distance.
readme_shows_what_the_demo_makes() {
    run "$ocdm" demo --picture "$place/balance.svg"
    same 0 "$code" && cmp "$place/balance.svg" "$source/docs/balance.svg" || return 1
    awk '$1 ~ /^(ocdm|prs|max|cbes|onlyone|rs|random)$/ && NF > 10 { print $1, $2, $3 }' "$out" | sort > "$place/made"
    sed -n 's/\*//g; s/ (reservoir)//; s/^| \([a-z]*\) | \([0-9.]*\) | \([0-9.]*\) | [0-9]* | .*/\1 \2 \3/p' "$source/README.md" |
        sort > "$place/shown"
    same 7 "$(grep -c . "$place/made")" && diff "$place/made" "$place/shown"
}

check other_files_have_the_version_of_the_header other_files_have_the_version_of_the_header
check debian_symbols_are_those_of_the_headers debian_symbols_are_those_of_the_headers
check version_is_the_one_of_the_header version_is_the_headers
check overview_fits_24_lines_of_80_columns overview_fits_a_screen
check overview_lists_the_verbs overview_lists_the_verbs
check overview_goes_to_stderr_when_no_verb_is_given overview_goes_to_stderr
check verbs_explain_themselves_and_help_says_the_same each_verb_explains_itself
check sample_has_the_promised_flags sample_has_the_promised_flags
check family_lists_its_verbs family_lists_its_verbs
check help_follows_the_terminals_width help_follows_the_terminal
list='`ocdm --help` lists the verbs'
check verb_is_suggested_when_mistyped fails_with 2 'there is no verb "smaple"' "did you mean \`ocdm sample\`? $list" smaple -m 5
check second_word_is_suggested_when_mistyped \
    fails_with 2 'there is no verb "weights ifno"' "did you mean \`ocdm weights info\`? $list" weights ifno
check verb_is_refused_when_unknown fails_with 2 'there is no verb "frobnicate"' "$list" frobnicate
check second_word_is_asked_for_when_missing fails_with 2 'ocdm weights needs a second word' 'one of info, export' weights
check flag_is_refused_before_the_verb \
    fails_with 2 'ocdm itself has no flag -m' 'flags come after the verb: `ocdm --help`' -m 5 sample
check flag_is_suggested_when_mistyped fails_with 2 'ocdm sample has no flag --memroy' \
    'did you mean --memory? `ocdm sample --help` lists what it takes' sample --memroy 5
check help_refuses_a_third_word \
    fails_with 2 '"extra" is one argument too many' '`ocdm help VERB` takes the words of one verb' help sample extra
check shell_is_refused_when_unknown \
    fails_with 2 'ocdm completion does not support the shell "tcsh"' 'one of bash, zsh, fish' completion tcsh
check full_disk_gives_exit_code_4 full_disk_is_an_error
check closed_pipe_gives_exit_code_4 closed_pipe_is_an_error
check man_page_has_every_verb_and_flag man_page_is_complete
check completions_know_every_flag completions_know_every_flag
check readme_shows_what_the_demo_makes readme_shows_what_the_demo_makes
check bash_completion_follows_what_values_are bash_completion_follows_what_values_are
check texts_name_flags_that_exist texts_name_flags_that_exist
check bash_completion_completes_verbs_flags_choices_and_files bash_completion_completes
# What is printed can be made again: whatever stream a command of the README or of docs/usage.md reads, a command before it builds.
readme_builds_what_it_reads() {
    awk 'FNR == 1 { delete built }
    /^    ocdm|^    mpirun|^    srun|^        --|^\| .*`/ {
        gsub(/[`"()|]/, " ")
        for (i = 1; i <= NF; i++) {
            name = $i
            sub(/.*=/, "", name)
            if (name !~ /^[A-Za-z0-9]+\.safetensors$/) continue
            if ($(i - 1) == "-o") built[name] = 1
            else if (!(name in built)) { print name " in " FILENAME ", line " FNR; bad = 1 }
            read[FILENAME]++
        }
    } END { exit bad || read[ARGV[1]] < 6 || read[ARGV[2]] < 14 }' "$source/README.md" "$source/docs/usage.md"
}
check readme_builds_the_streams_that_it_reads readme_builds_what_it_reads
finish
