# Which file belongs to what: the core is libocdm, the rest only the program. main.c is in neither, so that tests can link both.
file(GLOB memory_sources CONFIGURE_DEPENDS src/memory/*.c)
file(GLOB metrics_sources CONFIGURE_DEPENDS src/metrics/*.c)
file(GLOB base_sources CONFIGURE_DEPENDS src/base/*.c)
file(GLOB_RECURSE OCDM_REST_SOURCES CONFIGURE_DEPENDS src/stream/*.c src/agent/*.c src/experiment/*.c
     src/sample/*.c src/bench/*.c src/report/*.c src/cli/*.c)
list(FILTER OCDM_REST_SOURCES EXCLUDE REGEX "/src/cli/main\\.c$")

# What memory and metrics need of src/base.
set(core_base allocate error hash_table input json logarithm output safetensors)
set(OCDM_CORE_SOURCES ${memory_sources} ${metrics_sources})
foreach(source ${base_sources})
  get_filename_component(name ${source} NAME_WE)
  if(name IN_LIST core_base)
    list(APPEND OCDM_CORE_SOURCES ${source})
  else()
    list(APPEND OCDM_REST_SOURCES ${source})
  endif()
endforeach()

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

# The memory's inner loops are short and hot, and so are those of its hash table and its logarithm.
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set_source_files_properties(${memory_sources} src/base/hash_table.c src/base/logarithm.c PROPERTIES COMPILE_OPTIONS -O3)
endif()
