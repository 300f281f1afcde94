# An overlay port that builds the source tree around it: vcpkg install ocdm --overlay-ports=packaging/vcpkg
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)

vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS -DOCDM_PROGRAM=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME ocdm CONFIG_PATH lib/cmake/ocdm)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
if(VCPKG_LIBRARY_LINKAGE STREQUAL "static")
  file(GLOB shared "${CURRENT_PACKAGES_DIR}/lib/libocdm.so*" "${CURRENT_PACKAGES_DIR}/debug/lib/libocdm.so*")
  if(shared)
    file(REMOVE ${shared})
  endif()
endif()
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
