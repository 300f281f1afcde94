# OCDM_REST_SOURCES: the program without libocdm, and without main.c and table.c, so that tests and other programs can link it.
file(GLOB_RECURSE OCDM_REST_SOURCES CONFIGURE_DEPENDS src/base/*.c src/metrics/*.c src/ranks/ranks.c src/ranks/files.c src/stream/*.c src/agent/*.c
     src/experiment/*.c src/sample/*.c src/report/*.c src/cli/*.c)
list(FILTER OCDM_REST_SOURCES EXCLUDE REGEX "/src/cli/(main|table)\\.c$")
list(REMOVE_ITEM OCDM_REST_SOURCES ${OCDM_CORE_SOURCES})

# The page's style sheet and script are files that a browser can read; the program has them as arrays.
foreach(ending css js)
  set(page_file ${PROJECT_SOURCE_DIR}/src/report/page/page.${ending})
  set(page_array ${PROJECT_BINARY_DIR}/page_${ending}.c)
  add_custom_command(OUTPUT ${page_array} DEPENDS ${page_file} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    COMMAND ${CMAKE_COMMAND} -DNAME=ocdm__page_${ending} -DINPUT=${page_file} -DOUTPUT=${page_array}
            -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
  list(APPEND OCDM_REST_SOURCES ${page_array})
endforeach()
