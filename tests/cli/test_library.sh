#!/usr/bin/env bash
# The library without the program: as a project of its own, as part of another project, and joined into two files.
# $1: unused; $2: the source folder.
. "$(dirname "$0")/tap.sh"
source=$2

build() { # build FOLDER OF A PROJECT, FLAGS OF CMAKE
    cmake -Wno-dev -S "$1" -B "$1-build" "${@:2}" && cmake --build "$1-build" --parallel 2 --target user --target shared
}

# What the program needs and the library does not is never looked for.
library_builds_alone() {
    mkdir -p "$place/alone" && cmake -Wno-dev -S "$source" -B "$place/alone" -DOCDM_PROGRAM=OFF && cmake --build "$place/alone" --parallel 2 &&
        [ -s "$place/alone/libocdm.so" ] && [ ! -e "$place/alone/ocdm" ] && ! grep -iE '^[^/#].*(dnnl|jpeg|png|zlib|zstd)' "$place/alone/CMakeCache.txt"
}

library_installs_alone() {
    cmake --install "$place/alone" --prefix "$place/installed" && [ ! -e "$place/installed/bin" ] &&
        [ -s "$place/installed/lib/libocdm.a" ] && [ -s "$place/installed/lib/libocdm_experiment.a" ] || return 1
    user "$place/found" "find_package(ocdm REQUIRED)"
    build "$place/found" -DCMAKE_PREFIX_PATH="$place/installed" && decides_the_same "$place/found-build/user"
}

user() { # user FOLDER LINE: a project that has the library through this line of CMake
    mkdir -p "$1"
    cat > "$1/CMakeLists.txt" << END
cmake_minimum_required(VERSION 3.18)
project(user C)
$2
add_executable(user $source/tests/cli/decide.c)
target_link_libraries(user PRIVATE ocdm::static)
add_executable(shared $source/tests/cli/decide.c)
target_link_libraries(shared PRIVATE ocdm::ocdm)
END
}

decides_the_same() { # decides_the_same PROGRAM: as the library that was built alone
    [ -s "$place/decisions" ] || { cc -I"$source/include" "$source/tests/cli/decide.c" "$place/alone/libocdm.a" -lm -o "$place/decide" &&
        "$place/decide" > "$place/decisions"; } || return 1
    [ "$(wc -l < "$place/decisions")" -gt 40 ] && "$1" | diff "$place/decisions" -
}

is_a_part_of() { # is_a_part_of NAME LINE
    user "$place/$1" "$2" && build "$place/$1" && decides_the_same "$place/$1-build/user" && decides_the_same "$place/$1-build/shared" &&
        ! grep -iE '^[^/#].*(dnnl|jpeg|png|zlib|zstd)' "$place/$1-build/CMakeCache.txt"
}

joins_into_two_files() {
    "$source/tools/amalgamate" "$place/joined" && [ "$(wc -l < "$place/joined/ocdm.c")" -lt 9000 ] &&
        same "ocdm.c ocdm.h" "$(ls "$place/joined" | paste -sd ' ')"
}

# joined_decides COMPILER...: a program of two files decides as the library does
joined_decides() {
    mkdir -p "$place/joined/ocdm"
    for header in ocdm metrics split; do echo '#include "../ocdm.h"' > "$place/joined/ocdm/$header.h"; done
    "$@" -Wall -Wextra -Wno-unused-function -Werror -ffp-contract=off -O2 -I"$place/joined" "$source/tests/cli/decide.c" "$place/joined/ocdm.c" \
        -lm -o "$place/joined/decide" && decides_the_same "$place/joined/decide"
}

joined_header_is_cpp() {
    for compiler in g++ clang++; do
        "$compiler" -x c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only "$place/joined/ocdm.h" || return 1
    done
}

check library_builds_with_a_c_compiler_alone library_builds_alone
check library_without_the_program_installs_and_is_found library_installs_alone
check library_is_part_of_a_project_through_add_subdirectory is_a_part_of subdirectory "add_subdirectory($source ocdm)"
check library_is_part_of_a_project_through_fetchcontent is_a_part_of fetched "include(FetchContent)
FetchContent_Declare(ocdm SOURCE_DIR $source)
FetchContent_MakeAvailable(ocdm)"
check sources_join_into_two_files joins_into_two_files
check joined_sources_decide_as_the_library_under_gcc joined_decides gcc -std=c11
check joined_sources_decide_as_the_library_under_clang joined_decides clang -std=c11
check joined_sources_are_c99 joined_decides gcc -std=c99
check joined_header_is_cpp joined_header_is_cpp
finish
