#!/usr/bin/env bash
# `make` and its tools: what they install, and what they say while they work. $1: unused; $2: the source folder.
. "$(dirname "$0")/tap.sh"
source=$2
cd "$place" || exit 1

# Every command but cmake, and an apt-get that fails and says that it was called.
mkdir commands
for folder in /usr/local/bin /usr/bin /bin /usr/sbin /sbin; do
    for command in "$folder"/*; do
        [ -e "commands/${command##*/}" ] || ln -s "$command" commands/
    done
done
rm -f commands/cmake commands/apt-get commands/sudo
printf '#!/bin/sh\necho "$@" >> "%s/called"\nexit 1\n' "$place" > commands/apt-get
printf '#!/bin/sh\nexec "$@"\n' > commands/sudo
chmod +x commands/apt-get commands/sudo

make_without_cmake() { # make_without_cmake TARGET...
    rm -f called
    run env PATH="$place/commands" make -C "$source" BUILD="$place/build" "$@"
    [ "$code" -ne 0 ]
}

make_lists_what_is_missing() {
    local target
    for target in all install bench check; do
        make_without_cmake "$target" && [ ! -e called ] && [ ! -e build ] &&
            grep -q "^error: these packages are missing (Debian's names):.* cmake" "$err" && grep -qx 'hint: make setup installs them' "$err" || { echo "$target"; return 1; }
    done
}

demo_and_test_install_and_say_so() {
    local target
    for target in demo test setup; do
        make_without_cmake "$target" && grep -q '^installing Debian packages:.* cmake' "$out" && grep -q '^install -y .* cmake' called || { echo "$target"; return 1; }
    done
}

other_packages_have_their_command() {
    run env PATH="$place/commands" "$source/tools/setup" --list build coverage
    same 1 "$code" && grep -qx 'hint: tools/setup build coverage installs them' "$err"
}

# A tree of two test programs, of which the first waits for the other one's line in the log.
programs_are_reported_as_they_end() {
    mkdir -p tree/tools tree/tests/unit built/tests/unit
    cp "$source/tools/run-tests" tree/tools/
    touch tree/tests/unit/test_first.c tree/tests/unit/test_second.c
    printf '#!/bin/sh\nfor i in $(seq 600); do grep -q "^unit/test_second .* 2 passed" "%s/log" && { echo "ok 1"; echo 1..1; exit; }; sleep 0.1; done\necho "not ok 1"; echo 1..1\n' "$place" > built/tests/unit/test_first
    printf '#!/bin/sh\necho "ok 1"; echo "ok 2"; echo 1..2\n' > built/tests/unit/test_second
    chmod +x built/tests/unit/test_*
    tree/tools/run-tests built 2 unit > log 2>&1
    # the programs of the networks are not in this tree
    grep -q '^unit/test_first  *[0-9]* s  *1 passed$' log && grep -q '^failed: unit/test_agent_layers with AVX2$' log && ! grep -q '^failed: unit/test_first' log &&
        same '3 passed, 3 failed' "$(tail -n 1 log)" || { cat log; return 1; }
}

check make_lists_what_is_missing_and_installs_nothing make_lists_what_is_missing
check demo_and_test_install_and_say_so demo_and_test_install_and_say_so
check other_packages_have_their_command other_packages_have_their_command
check programs_are_reported_as_they_end programs_are_reported_as_they_end
finish
