"""Conan 2 recipe of libocdm and libocdm_experiment: `conan create packaging/conan`. Its syntax is checked; it was not run."""
import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load


class Ocdm(ConanFile):
    name = "ocdm"
    description = "Replay memory for multi-label online continual learning: exact, fast, balanced"
    license = "MIT"
    topics = ("continual-learning", "replay", "multi-label")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False]}
    default_options = {"shared": False}
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

    def set_version(self):
        header = load(self, os.path.join(self.root, "include", "ocdm", "ocdm.h"))
        self.version = ".".join(re.search(rf"#define OCDM_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*"):
            copy(self, pattern, self.root, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def configure(self):
        self.settings.rm_safe("compiler.cppstd")
        self.settings.rm_safe("compiler.libcxx")

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["OCDM_PROGRAM"] = False
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "ocdm")
        self.cpp_info.set_property("cmake_target_name", "ocdm::ocdm" if self.options.shared else "ocdm::static")
        self.cpp_info.set_property("pkg_config_name", "ocdm")
        self.cpp_info.libs = ["ocdm"]
        self.cpp_info.system_libs = ["m"]
