# Which file belongs to what: the core is libocdm, the rest only the program. main.c and
# table.c are in neither, so that tests and other programs can link both.
# OCDM_CORE_SOURCES, OCDM_HOT_SOURCES and OCDM_EXPERIMENT_SOURCES: the lists of sources.txt.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS cmake/sources.txt)
foreach(list core hot experiment)
  string(TOUPPER OCDM_${list}_SOURCES variable)
  file(STRINGS cmake/sources.txt patterns REGEX "^${list} ")
  list(TRANSFORM patterns REPLACE "^${list} " "")
  file(GLOB ${variable} CONFIGURE_DEPENDS ${patterns})
endforeach()
file(GLOB_RECURSE OCDM_REST_SOURCES CONFIGURE_DEPENDS src/base/*.c src/ranks/ranks.c src/stream/*.c src/agent/*.c src/experiment/*.c
     src/sample/*.c src/report/*.c src/cli/*.c)
list(FILTER OCDM_REST_SOURCES EXCLUDE REGEX "/src/cli/(main|table)\\.c$")
list(REMOVE_ITEM OCDM_REST_SOURCES ${OCDM_CORE_SOURCES})
list(REMOVE_ITEM OCDM_EXPERIMENT_SOURCES ${OCDM_CORE_SOURCES})

# The paper's loop is the yardstick of every speed: the same optimisation in every kind of build.
set_source_files_properties(bench/reference.c PROPERTIES COMPILE_OPTIONS -O2)

if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set_source_files_properties(${OCDM_HOT_SOURCES} PROPERTIES COMPILE_OPTIONS -O3)
endif()
