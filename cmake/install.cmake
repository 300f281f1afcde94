# Where things go: header, libraries, ocdm.pc, the CMake package, the program, its man page and its completions.
include(CMakePackageConfigHelpers)

if(OCDM_PROGRAM)
  install(TARGETS ocdm_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(OCDM_PROGRAM AND MPI_C_FOUND)
  install(TARGETS ocdm_mpi_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(TARGETS ocdm_static ocdm_shared ocdm_experiment EXPORT ocdm ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
                                                    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/ocdm/ocdm.h include/ocdm/metrics.h include/ocdm/split.h include/ocdm/experiment.h include/ocdm/stream.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ocdm)

# ocdm.pc derives its prefix from its own location, so that an installed tree can be moved.
set(pkgconfig_dir ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pc_prefix ${pkgconfig_dir} ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" pc_prefix ${pc_prefix})
file(RELATIVE_PATH pc_libdir ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH pc_includedir ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
configure_file(cmake/ocdm.pc.in ocdm.pc @ONLY)
configure_file(cmake/ocdm_experiment.pc.in ocdm_experiment.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/ocdm.pc ${PROJECT_BINARY_DIR}/ocdm_experiment.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ocdm)
configure_package_config_file(cmake/ocdmConfig.cmake.in ocdmConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(ocdmConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(EXPORT ocdm FILE ocdmTargets.cmake NAMESPACE ocdm:: DESTINATION ${package_dir})
install(FILES ${PROJECT_BINARY_DIR}/ocdmConfig.cmake ${PROJECT_BINARY_DIR}/ocdmConfigVersion.cmake
        DESTINATION ${package_dir})

# The program writes its own documents; one that cannot run here (cross-compiled) is installed without them.
if(OCDM_PROGRAM AND NOT CMAKE_CROSSCOMPILING)
  set(documents ocdm.1 completion.bash completion.zsh completion.fish)
  add_custom_command(OUTPUT ${documents} DEPENDS ocdm_program VERBATIM
                     COMMAND ocdm_program man > ocdm.1
                     COMMAND ocdm_program completion bash > completion.bash
                     COMMAND ocdm_program completion zsh > completion.zsh
                     COMMAND ocdm_program completion fish > completion.fish)
  add_custom_target(ocdm_documents ALL DEPENDS ${documents})
  set(made ${PROJECT_BINARY_DIR})
  set(share ${CMAKE_INSTALL_DATADIR})
  install(FILES ${made}/ocdm.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${made}/completion.bash DESTINATION ${share}/bash-completion/completions RENAME ocdm)
  install(FILES ${made}/completion.zsh DESTINATION ${share}/zsh/site-functions RENAME _ocdm)
  install(FILES ${made}/completion.fish DESTINATION ${share}/fish/vendor_completions.d RENAME ocdm.fish)
endif()
