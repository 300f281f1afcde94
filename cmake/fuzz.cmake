# Fuzz targets: tests/fuzz/fuzz_*.c, each with libFuzzer and everything of the project but main.c, all of it instrumented.
if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "OCDM_FUZZ needs clang: -DCMAKE_C_COMPILER=clang")
endif()
set(fuzz_sanitizers address,undefined)
target_compile_options(ocdm_flags INTERFACE -g -fsanitize=fuzzer-no-link,${fuzz_sanitizers} -fno-sanitize-recover=all
                                            -fno-omit-frame-pointer)

file(GLOB programs CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
file(GLOB helpers CONFIGURE_DEPENDS tests/fuzz/*.c)
list(FILTER helpers EXCLUDE REGEX "/fuzz_[^/]*$")
include(cmake/rest.cmake)
add_library(ocdm_rest OBJECT ${OCDM_REST_SOURCES})
target_link_libraries(ocdm_rest PRIVATE ocdm_flags ocdm_parts)
add_library(ocdm_all STATIC src/cli/table.c $<TARGET_OBJECTS:ocdm_core> $<TARGET_OBJECTS:ocdm_rest>)
target_link_libraries(ocdm_all PRIVATE ocdm_flags)
# Some share headers with the tests, which assert with cmocka.
find_path(CMOCKA_INCLUDE cmocka.h REQUIRED)
find_library(CMOCKA_LIBRARY cmocka REQUIRED)
foreach(program ${programs})
  get_filename_component(name ${program} NAME_WE)
  add_executable(${name} ${program} ${helpers})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer,${fuzz_sanitizers})
  target_include_directories(${name} PRIVATE ${CMOCKA_INCLUDE})
  target_link_libraries(${name} PRIVATE ocdm_flags ocdm_all ocdm_parts ${CMOCKA_LIBRARY} m)
endforeach()

# The judge of the property tests.
file(GLOB judge CONFIGURE_DEPENDS tests/property/naive*.c)
target_sources(fuzz_memory_judge PRIVATE tests/property/compare.c tests/property/pair.c ${judge})
