#!/usr/bin/env bash
# What a user of the library gets: installs into a folder, moves it, and builds a program against it in every way offered.
# $1: unused; $2: the source folder.
. "$(dirname "$0")/tap.sh"
source=$2
prefix=$place/moved
headers="$prefix/include/ocdm/ocdm.h $prefix/include/ocdm/metrics.h $prefix/include/ocdm/split.h"

cat > "$place/user.c" << 'END'
#include <ocdm/ocdm.h>
#include <stdio.h>

int main(void)
{
    ocdm_options options = ocdm_options_default();
    ocdm_memory *memory = NULL;
    ocdm_error error;
    uint32_t label = 7;
    ocdm_sample sample = {1, &label, 1};
    if (ocdm_memory_create(&options, &memory, &error) != OCDM_OK ||
        ocdm_memory_update(memory, &sample, 1, NULL, &error) != OCDM_OK)
        return puts(error.message), 1;
    printf("%s %u %u\n", ocdm_version(), ocdm_memory_size(memory), ocdm_memory_kept(memory, 7));
    ocdm_memory_destroy(memory);
    return 0;
}
END

install_and_move() {
    cmake -Wno-dev -S "$source" -B "$place/build" -DCMAKE_INSTALL_PREFIX="$place/first" &&
        cmake --build "$place/build" --parallel 2 && cmake --install "$place/build" && mv "$place/first" "$prefix"
}

everything_is_there() {
    local file
    for file in bin/ocdm include/ocdm/ocdm.h lib/libocdm.a lib/libocdm.so lib/libocdm.so.1 lib/pkgconfig/ocdm.pc \
        include/ocdm/experiment.h include/ocdm/stream.h include/ocdm/metrics.h include/ocdm/split.h lib/libocdm_experiment.a lib/pkgconfig/ocdm_experiment.pc \
        lib/cmake/ocdm/ocdmConfig.cmake lib/cmake/ocdm/ocdmConfigVersion.cmake share/man/man1/ocdm.1 \
        share/bash-completion/completions/ocdm share/zsh/site-functions/_ocdm share/fish/vendor_completions.d/ocdm.fish; do
        [ -s "$prefix/$file" ] || { echo "no $file"; return 1; }
    done
    same "$("$prefix/bin/ocdm" man)" "$(cat "$prefix/share/man/man1/ocdm.1")"
}

package() { PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config "$@" ocdm; }

says_hello() { # says_hello PROGRAM: it ran, and with the version that was installed
    same "$(package --modversion) 1 1" "$(LD_LIBRARY_PATH=$prefix/lib "$1")"
}

builds_by_pkg_config_shared() {
    # shellcheck disable=SC2046
    cc "$place/user.c" -o "$place/by-pc" $(package --cflags --libs) && says_hello "$place/by-pc" &&
        LD_LIBRARY_PATH=$prefix/lib ldd "$place/by-pc" | grep "$prefix/lib/libocdm.so.1"
}

builds_by_pkg_config_static() {
    # shellcheck disable=SC2046
    cc -static "$place/user.c" -o "$place/by-pc-static" $(package --static --cflags --libs) && says_hello "$place/by-pc-static"
}

builds_by_cmake() { # builds_by_cmake TARGET VERSION
    local folder=$place/cmake-${1//:/}-$2
    mkdir -p "$folder"
    cat > "$folder/CMakeLists.txt" << END
cmake_minimum_required(VERSION 3.18)
project(user C)
find_package(ocdm $2 REQUIRED)
add_executable(user $place/user.c)
target_link_libraries(user PRIVATE $1)
END
    cmake -S "$folder" -B "$folder/build" -DCMAKE_PREFIX_PATH="$prefix" && cmake --build "$folder/build" && says_hello "$folder/build/user"
}

series() { package --modversion | awk -F . -v more="$1" '{ print $1 + more ".0" }'; } # of versions: this major one, or the next

refuses_another_major_version() {
    ! builds_by_cmake ocdm::ocdm "$(series 1)" && grep -q "with requested version \"$(series 1)\"" "$place/why"
}

# Exactly what the headers declare: nothing internal, nothing forgotten.
exports_the_header() {
    nm -D --defined-only "$prefix/lib/libocdm.so" | awk '{ print $NF }' | sort > "$place/exported"
    # shellcheck disable=SC2086
    cat $headers | cc -I"$prefix/include" -E -P -x c - | grep -oE '\bocdm_[a-z_]+\(' | tr -d "(" | sort -u > "$place/declared"
    [ "$(wc -l < "$place/declared")" -gt 20 ] && diff "$place/declared" "$place/exported"
}

needs_libc_and_libm_only() {
    local needed
    needed=$(readelf -d "$prefix/lib/libocdm.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')
    grep -q '^libc\.so' <<< "$needed" && same "" "$(grep -vE '^lib[cm]\.so' <<< "$needed")" || return 1
    same "" "$(ldd "$prefix/lib/libocdm.so" | grep -vE 'linux-vdso|/ld-|lib[cm]\.so')"
}

static_names_are_ours() { # a program that links the archive finds no stray name in its way
    nm -g --defined-only "$prefix/lib/libocdm.a" | awk 'NF == 3 { names++; if ($3 !~ /^ocdm_/) { print $3; bad = 1 } }
        END { exit bad || names == 0 }'
}

header_is_cpp() {
    local compiler header
    echo '#include <ocdm/ocdm.h>
int main() { ocdm_options options = ocdm_options_default(); return options.capacity == 1000 ? 0 : 1; }' > "$place/user.cpp"
    for compiler in g++ clang; do
        for header in $headers; do
            "$compiler" -x c++ -std=c++11 -Wall -Wextra -Wpedantic -Wold-style-cast -Werror -fsyntax-only -I"$prefix/include" "$header" || return 1
        done
    done
    # shellcheck disable=SC2046
    g++ "$place/user.cpp" -o "$place/user-cpp" $(package --cflags --libs) && LD_LIBRARY_PATH=$prefix/lib "$place/user-cpp"
}

header_is_c() {
    local compiler header
    for compiler in gcc clang; do
        for header in $headers; do
            "$compiler" -x c -std=c99 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$prefix/include" "$header" || return 1
        done
    done
}

experiment_headers_are_c_and_cpp() {
    local header
    for header in "$prefix/include/ocdm/experiment.h" "$prefix/include/ocdm/stream.h"; do
        cc -x c -std=c99 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$prefix/include" "$header" &&
            g++ -x c++ -std=c++11 -Wall -Wextra -Wpedantic -Wold-style-cast -Werror -fsyntax-only -I"$prefix/include" "$header" || return 1
    done
}

# A learner of your own needs no oneDNN and no image decoder.
builds_a_learner() {
    # shellcheck disable=SC2046
    cc "$source/examples/nearest_mean.c" -o "$place/learner" $(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs ocdm_experiment) &&
        same "usage: nearest_mean STREAM FOLDER" "$("$place/learner")" && ! ldd "$place/learner" | grep -E "dnnl|jpeg|png"
}

nothing_names_the_build() { # an installed tree may be moved and shipped
    [ -s "$prefix/lib/pkgconfig/ocdm.pc" ] && ! grep -rlF -e "$place/first" -e "$place/build" "$prefix/lib/pkgconfig" "$prefix/lib/cmake" "$prefix/share" "$prefix/include"
}

check tree_installs install_and_move
check everything_is_installed everything_is_there
check program_builds_through_pkg_config_with_the_shared_library builds_by_pkg_config_shared
check program_builds_through_pkg_config_with_the_static_library builds_by_pkg_config_static
check program_builds_through_cmake_with_the_shared_library builds_by_cmake ocdm::ocdm "$(series 0)"
check program_builds_through_cmake_with_the_static_library builds_by_cmake ocdm::static "$(series 0)"
check cmake_refuses_another_major_version refuses_another_major_version
check shared_library_exports_exactly_the_header exports_the_header
check library_needs_libc_and_libm_only needs_libc_and_libm_only
check static_library_defines_no_stray_name static_names_are_ours
check header_compiles_as_cpp header_is_cpp
check header_compiles_alone_as_c99 header_is_c
check experiment_headers_compile_as_c_and_cpp experiment_headers_are_c_and_cpp
check learner_builds_through_pkg_config_without_onednn_or_decoders builds_a_learner
check installed_files_do_not_name_the_build_folder nothing_names_the_build
finish
