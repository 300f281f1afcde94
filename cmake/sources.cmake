# Which file belongs to what: the core is libocdm, the rest only the program. main.c is in neither, so that tests can link both.
# OCDM_CORE_SOURCES and OCDM_HOT_SOURCES: the lists `core` and `hot` of sources.txt.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS cmake/sources.txt)
foreach(list core hot)
  string(TOUPPER OCDM_${list}_SOURCES variable)
  file(STRINGS cmake/sources.txt patterns REGEX "^${list} ")
  list(TRANSFORM patterns REPLACE "^${list} " "")
  file(GLOB ${variable} CONFIGURE_DEPENDS ${patterns})
endforeach()
file(GLOB_RECURSE OCDM_REST_SOURCES CONFIGURE_DEPENDS src/base/*.c src/stream/*.c src/agent/*.c src/experiment/*.c
     src/sample/*.c src/bench/*.c src/report/*.c src/cli/*.c)
list(FILTER OCDM_REST_SOURCES EXCLUDE REGEX "/src/cli/main\\.c$")
list(REMOVE_ITEM OCDM_REST_SOURCES ${OCDM_CORE_SOURCES})

# What libocdm_experiment has of the rest: stream files, the online loop and the files of runs; no networks, no images.
file(GLOB OCDM_EXPERIMENT_SOURCES CONFIGURE_DEPENDS src/experiment/loop/*.c src/experiment/folder/*.c)
set(experiment_others experiment/experiment agent/model stream/file stream/label_table stream/statistics stream/write
    stream/recipes/class_groups_file)
foreach(source ${experiment_others})
  list(APPEND OCDM_EXPERIMENT_SOURCES ${PROJECT_SOURCE_DIR}/src/${source}.c)
endforeach()
foreach(source ${OCDM_REST_SOURCES})
  if(source MATCHES "/src/base/")
    list(APPEND OCDM_EXPERIMENT_SOURCES ${source})
  endif()
endforeach()

# The paper's loop is the yardstick of every speed: the same optimisation in every kind of build.
file(GLOB reference_sources CONFIGURE_DEPENDS src/bench/reference*.c)
set_source_files_properties(${reference_sources} PROPERTIES COMPILE_OPTIONS -O2)

if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set_source_files_properties(${OCDM_HOT_SOURCES} PROPERTIES COMPILE_OPTIONS -O3)
endif()
