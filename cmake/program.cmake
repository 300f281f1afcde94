# The program ocdm, the same over MPI, and the programs of bench/.
include(cmake/rest.cmake)
list(REMOVE_ITEM OCDM_REST_SOURCES ${OCDM_EXPERIMENT_SOURCES})
add_library(ocdm_rest OBJECT ${OCDM_REST_SOURCES})
target_link_libraries(ocdm_rest PRIVATE ocdm_flags ocdm_parts)
add_executable(ocdm_program src/cli/main.c src/cli/table.c $<TARGET_OBJECTS:ocdm_core> $<TARGET_OBJECTS:ocdm_loop> $<TARGET_OBJECTS:ocdm_rest>)
set_target_properties(ocdm_program PROPERTIES OUTPUT_NAME ocdm)
target_link_libraries(ocdm_program PRIVATE ocdm_flags ocdm_parts m)

# The same program over MPI, where that is installed. -DMPI_C_COMPILER=mpicc.mpich builds it with another one.
find_package(MPI QUIET COMPONENTS C)
if(MPI_C_FOUND)
  add_executable(ocdm_mpi_program src/cli/main.c src/cli/table.c src/ranks/mpi.c $<TARGET_OBJECTS:ocdm_core>
                                  $<TARGET_OBJECTS:ocdm_loop> $<TARGET_OBJECTS:ocdm_rest>)
  set_target_properties(ocdm_mpi_program PROPERTIES OUTPUT_NAME ocdm-mpi)
  target_link_libraries(ocdm_mpi_program PRIVATE ocdm_flags ocdm_parts MPI::MPI_C m)
endif()

# The paper's loop is the yardstick of every speed: the same optimisation in every kind of build.
set_source_files_properties(bench/reference.c PROPERTIES COMPILE_OPTIONS -O2)

# What measures is not part of the product: `make bench` builds it.
file(GLOB bench_sources CONFIGURE_DEPENDS bench/verb_*.c bench/memory.c bench/reference.c bench/steady.c bench/gap*.c
     bench/label_stream.c)
add_library(ocdm_bench OBJECT EXCLUDE_FROM_ALL ${bench_sources})
target_include_directories(ocdm_bench PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(ocdm_bench PRIVATE ocdm_flags ocdm_parts)
set(bench_objects $<TARGET_OBJECTS:ocdm_core> $<TARGET_OBJECTS:ocdm_loop> $<TARGET_OBJECTS:ocdm_rest> $<TARGET_OBJECTS:ocdm_bench>)
add_executable(ocdm-bench EXCLUDE_FROM_ALL src/cli/main.c bench/table.c ${bench_objects})
target_link_libraries(ocdm-bench PRIVATE ocdm_flags ocdm_parts m)
if(MPI_C_FOUND)
  add_executable(ocdm-bench-mpi EXCLUDE_FROM_ALL src/cli/main.c bench/table.c src/ranks/mpi.c ${bench_objects})
  target_link_libraries(ocdm-bench-mpi PRIVATE ocdm_flags ocdm_parts MPI::MPI_C m)
endif()
