# Tests by their names: tests/<kind>/test_*.c is a program each, with the other .c files of its folder, cmocka, and everything
# of the project but main.c. tools/run-tests runs them all.
enable_testing()
find_path(CMOCKA_INCLUDE cmocka.h REQUIRED)
find_library(CMOCKA_LIBRARY cmocka REQUIRED)

add_library(ocdm_all STATIC src/cli/table.c $<TARGET_OBJECTS:ocdm_core> $<TARGET_OBJECTS:ocdm_loop> $<TARGET_OBJECTS:ocdm_rest>)
target_link_libraries(ocdm_all PRIVATE ocdm_flags)
# The programs of bench/ are tested too.
set_target_properties(ocdm_bench ocdm-bench PROPERTIES EXCLUDE_FROM_ALL OFF)
add_library(ocdm_measures STATIC $<TARGET_OBJECTS:ocdm_bench>)
set_target_properties(ocdm_measures PROPERTIES LINKER_LANGUAGE C)
target_link_libraries(ocdm_measures INTERFACE ocdm_all)
target_include_directories(ocdm_measures INTERFACE ${PROJECT_SOURCE_DIR})

# Calls that a fault test may make fail: each of its programs defines __wrap_ versions of all of these.
set(wrapped malloc calloc realloc free open read write close fsync rename)
list(TRANSFORM wrapped PREPEND "LINKER:--wrap=" OUTPUT_VARIABLE fault_options)
set(unit_options "")
set(property_options "")

foreach(kind unit property fault)
  file(GLOB programs CONFIGURE_DEPENDS tests/${kind}/test_*.c)
  file(GLOB helpers CONFIGURE_DEPENDS tests/${kind}/*.c)
  list(FILTER helpers EXCLUDE REGEX "/test_[^/]*$")
  if(helpers)
    add_library(${kind}_helpers OBJECT ${helpers})
    target_include_directories(${kind}_helpers PRIVATE ${CMOCKA_INCLUDE})
    target_link_libraries(${kind}_helpers PRIVATE ocdm_flags)
    set(helpers $<TARGET_OBJECTS:${kind}_helpers>)
  endif()
  foreach(program ${programs})
    get_filename_component(name ${program} NAME_WE)
    add_executable(${name} ${program} ${helpers})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY tests/${kind})
    target_include_directories(${name} PRIVATE ${CMOCKA_INCLUDE})
    target_link_options(${name} PRIVATE ${${kind}_options})
    target_link_libraries(${name} PRIVATE ocdm_flags ocdm_measures ocdm_all ocdm_parts ${CMOCKA_LIBRARY} m)
    add_test(NAME ${kind}/${name} COMMAND ${name})
  endforeach()
endforeach()

# Fuzz targets without a fuzzer: each replays its corpus and the same changes of it every time.
file(GLOB programs CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
file(GLOB helpers CONFIGURE_DEPENDS tests/fuzz/*.c)
list(FILTER helpers EXCLUDE REGEX "/fuzz_[^/]*$")
foreach(program ${programs})
  get_filename_component(name ${program} NAME_WE)
  add_executable(${name} ${program} ${helpers} tests/fuzz/replay/replay.c)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY tests/fuzz)
  target_include_directories(${name} PRIVATE ${CMOCKA_INCLUDE})
  target_link_libraries(${name} PRIVATE ocdm_flags ocdm_all ocdm_parts ${CMOCKA_LIBRARY} m)
endforeach()
target_sources(fuzz_memory_judge PRIVATE $<TARGET_OBJECTS:property_helpers>)

add_executable(save_memory tests/torture/save_memory.c)
set_target_properties(save_memory PROPERTIES RUNTIME_OUTPUT_DIRECTORY tests/torture)
target_link_libraries(save_memory PRIVATE ocdm_flags ocdm_static)

add_executable(soak_updates tests/torture/soak_updates.c)
set_target_properties(soak_updates PROPERTIES RUNTIME_OUTPUT_DIRECTORY tests/torture)
target_link_libraries(soak_updates PRIVATE ocdm_flags ocdm_measures ocdm_all ocdm_parts m)

include(cmake/examples.cmake)
