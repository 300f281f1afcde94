# The sources of the libraries: OCDM_CORE_SOURCES, OCDM_HOT_SOURCES and OCDM_EXPERIMENT_SOURCES: the lists of sources.txt.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS cmake/sources.txt)
foreach(list core hot experiment)
  string(TOUPPER OCDM_${list}_SOURCES variable)
  file(STRINGS cmake/sources.txt patterns REGEX "^${list} ")
  list(TRANSFORM patterns REPLACE "^${list} " "")
  file(GLOB ${variable} CONFIGURE_DEPENDS ${patterns})
endforeach()
list(REMOVE_ITEM OCDM_EXPERIMENT_SOURCES ${OCDM_CORE_SOURCES})

if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set_source_files_properties(${OCDM_HOT_SOURCES} PROPERTIES COMPILE_OPTIONS -O3)
endif()
