# shellcheck shell=bash
# What the shell tests share: a folder of their own, results as TAP, the plan at the end.
# A test is a function; `run` remembers what a command did: $code, $out and $err (files).
set -u
export LC_ALL=C
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
out=$place/stdout
err=$place/stderr
code=0
tap_number=0
tap_failures=0

# run COMMAND...: keeps exit code, stdout and stderr.
run() {
    "$@" > "$out" 2> "$err" < /dev/null
    code=$?
}

# A shell starts background jobs with SIGINT ignored, and the program leaves it so: `interruptible COMMAND... &` sets it back.
interruptible() {
    exec env --default-signal=INT "$@"
}

# check NAME COMMAND...: one test; what the command prints tells why it failed.
check() {
    local name=$1
    shift
    tap_number=$((tap_number + 1))
    if "$@" > "$place/why" 2>&1; then
        echo "ok $tap_number - $name"
    else
        echo "not ok $tap_number - $name"
        tap_failures=$((tap_failures + 1))
        { tail -n 30 "$place/why"; echo "exit code $code; stderr:"; head -n 20 "$err"; } 2> /dev/null | sed 's/^/# /'
    fi
}

same() { # same EXPECTED ACTUAL
    [ "$1" = "$2" ] && return 0
    printf 'expected: %s\nactual:   %s\n' "$1" "$2"
    return 1
}

# in_little_memory MEGABYTES COMMAND...: with address space for that much, or, since a sanitizer takes all there is, 100 MB more of
# real memory; $ocdm tells which.
in_little_memory() {
    local megabytes=$1
    shift
    if grep -q __asan_init "$ocdm"; then
        ASAN_OPTIONS="hard_rss_limit_mb=$((megabytes + 100)):quarantine_size_mb=1" "$@"
    else
        (ulimit -v $((megabytes * 1024)) && "$@")
    fi
}

finish() {
    echo "1..$tap_number"
    [ "$tap_failures" -eq 0 ]
    exit
}
