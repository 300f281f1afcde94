"""Building and installing: wheel, sdist, editable, offline and with build isolation, from a fresh virtual environment."""
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

import tap

SOURCE = pathlib.Path(os.environ["OCDM_SOURCE"])
CLEAN = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "LD_PRELOAD", "PYTHONMALLOC")}
CLEAN.update(PIP_NO_INDEX="1", PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_NO_CACHE_DIR="1")
PROOF = "import ocdm, sys; m = ocdm.Memory(2); m.update([1, 2, 3], [[0], [0], [1]]); assert len(m) == 2; print(ocdm.__version__)"


def run(*command, cwd=None):
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=CLEAN, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    if done.returncode != 0:
        raise AssertionError(f"{command}:\n{done.stdout}")
    return done.stdout.strip()


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.package = cls.copy_of_the_sources()
        run("/usr/bin/python3", "-m", "venv", "--system-site-packages", cls.folder / "venv")
        cls.python = cls.folder / "venv/bin/python3"
        run(cls.python, "-m", "pip", "wheel", "--no-deps", "-w", cls.folder / "first", cls.package)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @classmethod
    def copy_of_the_sources(cls):
        for part in ("python", "src", "include", "cmake"):
            shutil.copytree(SOURCE / part, cls.folder / "tree" / part, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        shutil.copy(SOURCE / "LICENSE", cls.folder / "tree")
        return cls.folder / "tree/python"

    def wheel(self, folder):
        wheels = list((self.folder / folder).glob("*.whl"))
        self.assertEqual(len(wheels), 1)
        return wheels[0]

    def test_the_wheel_installs_and_works(self):
        run(self.python, "-m", "pip", "install", "--force-reinstall", self.wheel("first"))
        version = run(self.python, "-c", PROOF, cwd=self.folder)
        self.assertIn(f"ocdm-{version}-cp311-abi3-manylinux_", self.wheel("first").name)

    def test_the_tag_of_the_wheel_names_the_newest_glibc_that_the_module_needs(self):
        with zipfile.ZipFile(self.wheel("first")) as archive:
            archive.extract("ocdm/_ocdm.abi3.so", self.folder)
            tags = [line for line in archive.read(next(name for name in archive.namelist() if name.endswith("/WHEEL"))).decode().split("\n")
                    if line.startswith("Tag: ")]
        symbols = run("objdump", "-T", self.folder / "ocdm/_ocdm.abi3.so")
        newest = max(int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)", symbols))
        self.assertLessEqual(newest, 28)
        self.assertEqual(tags, [f"Tag: cp311-abi3-manylinux_2_{newest}_{platform.machine()}"])

    def test_the_sdist_builds_the_same_wheel_byte_by_byte_in_another_place(self):
        code = "import sys; sys.path.insert(0, '.'); import backend; backend.build_sdist(sys.argv[1])"
        run(self.python, "-c", code, self.folder, cwd=self.package)
        run(self.python, "-m", "pip", "wheel", "--no-deps", "-w", self.folder / "second", *self.folder.glob("ocdm-*.tar.gz"))
        self.assertEqual(self.wheel("first").read_bytes(), self.wheel("second").read_bytes())

    def test_an_editable_install_uses_the_files_of_the_folder(self):
        run(self.python, "-m", "pip", "install", "-e", self.package)
        self.assertEqual(run(self.python, "-c", "import ocdm; print(ocdm.__file__)", cwd=self.folder),
                         str(self.package / "ocdm/__init__.py"))

    def test_the_wheel_has_types_and_needs_libc_and_libm_only(self):
        with zipfile.ZipFile(self.wheel("first")) as archive:
            self.assertLessEqual({"ocdm/_ocdm.abi3.so", "ocdm/py.typed", "ocdm/memory.pyi"}, set(archive.namelist()))
            archive.extract("ocdm/_ocdm.abi3.so", self.folder)
        needed = run("objdump", "-p", self.folder / "ocdm/_ocdm.abi3.so")
        names = [line.split()[1] for line in needed.splitlines() if "NEEDED" in line]
        self.assertLessEqual(set(names), {"libc.so.6", "libm.so.6"})
        symbols = run("nm", "-D", "--defined-only", self.folder / "ocdm/_ocdm.abi3.so")
        self.assertEqual([line.split()[-1] for line in symbols.splitlines()], ["PyInit__ocdm"])


if __name__ == "__main__":
    tap.main()
