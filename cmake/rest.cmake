# OCDM_REST_SOURCES: the program without libocdm, and without main.c and table.c, so that tests and other programs can link it.
file(GLOB_RECURSE OCDM_REST_SOURCES CONFIGURE_DEPENDS src/base/*.c src/metrics/*.c src/ranks/ranks.c src/ranks/files.c src/stream/*.c src/agent/*.c
     src/experiment/*.c src/sample/*.c src/report/*.c src/cli/*.c)
list(FILTER OCDM_REST_SOURCES EXCLUDE REGEX "/src/cli/(main|table)\\.c$")
list(REMOVE_ITEM OCDM_REST_SOURCES ${OCDM_CORE_SOURCES})

# Texts that are files of their own, which the program has as arrays: the page's style sheet and script, what the help says, the
# completion of shells.
function(embed name)
  set(array ${PROJECT_BINARY_DIR}/${name}.c)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/)
  list(JOIN ARGN "," files)
  add_custom_command(OUTPUT ${array} DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    COMMAND ${CMAKE_COMMAND} -DNAME=ocdm__${name} -DINPUT=${files} -DOUTPUT=${array} -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
  set(OCDM_REST_SOURCES ${OCDM_REST_SOURCES} ${array} PARENT_SCOPE)
endfunction()
embed(page_css src/report/page/page.css)
embed(page_js src/report/page/page.js)
embed(help_text src/cli/help.txt bench/help.txt)
foreach(shell bash zsh fish)
  embed(completion_${shell} src/cli/completion.${shell})
endforeach()
