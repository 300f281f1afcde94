# The flags of everything that is compiled here. Decisions must not depend on the compiler: -ffp-contract=off everywhere, and
# nothing like -ffast-math anywhere.
add_library(ocdm_flags INTERFACE)
target_include_directories(ocdm_flags INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(ocdm_flags INTERFACE _POSIX_C_SOURCE=200809L)
target_compile_options(ocdm_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wvla -Wstrict-prototypes
                                            -ffp-contract=off)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  # Position-independent code then calls its own functions as directly as any other.
  target_compile_options(ocdm_flags INTERFACE -fno-semantic-interposition)
endif()
if(OCDM_WERROR)
  target_compile_options(ocdm_flags INTERFACE -Werror)
endif()

if(NOT OCDM_SANITIZE STREQUAL "")
  target_compile_options(ocdm_flags INTERFACE -fsanitize=${OCDM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${OCDM_SANITIZE})
endif()
