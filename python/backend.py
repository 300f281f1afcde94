"""Builds the package: a PEP 517 backend that compiles libocdm and the module with the C compiler. Standard library only.

The C sources are those of the repository around this folder, or the copy in core/ that an sdist brings along. Environment:
CC, CFLAGS, LDFLAGS as usual (-fsanitize=address, say), SOURCE_DATE_EPOCH for the dates in archives.

    python3 backend.py FOLDER     puts the package with its compiled module into FOLDER, for PYTHONPATH
"""
import base64
import concurrent.futures
import gzip
import hashlib
import io
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
import tomllib
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
CORE = HERE / "core" if (HERE / "core").is_dir() else HERE.parent
PROJECT = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
MODULE = "_ocdm.abi3.so"
LIMITED_API = "0x030B0000"
MAC = sys.platform == "darwin"
EPOCH = max(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), 315532800)  # a zip knows no year before 1980

# libocdm's flags: decisions must not depend on the compiler or the CPU.
FLAGS = ["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-O2", "-DNDEBUG", "-fPIC", "-ffp-contract=off", "-fno-semantic-interposition", "-fvisibility=hidden",
         "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wvla", "-Wstrict-prototypes"]


def version():
    header = (CORE / "include/ocdm/ocdm.h").read_text()
    return ".".join(re.search(rf"#define OCDM_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))


# ---- compiling ---------------------------------------------------------------------------------------------------------

def listed(name):
    """The files of one list of cmake/sources.txt, sorted."""
    lines = (line.split() for line in (CORE / "cmake/sources.txt").read_text().splitlines())
    patterns = [words[1] for words in lines if len(words) == 2 and words[0] == name]
    return sorted({path for pattern in patterns for path in CORE.glob(pattern)})


def library():
    """All that is compiled of the repository: libocdm, libocdm_experiment and the drawer of bars."""
    return sorted({*listed("core"), *listed("experiment"), *listed("drawer")})


def run(command):
    done = subprocess.run(command, cwd=CORE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.stdout:
        print(done.stdout, file=sys.stderr, end="")
    if done.returncode != 0:
        sys.exit(f"error: {shlex.join(map(str, command))} failed")


def compile_module(target):
    """Compiles libocdm and the module into the shared object `target`. Same sources, same bytes."""
    compiler = shlex.split(os.environ.get("CC") or (shutil.which("cc") and "cc") or "gcc")
    extra, headers = shlex.split(os.environ.get("CFLAGS", "")), sysconfig.get_path("include")
    if not pathlib.Path(headers, "Python.h").exists():
        sys.exit(f"error: {headers}/Python.h does not exist\nhint: apt install python3-dev")
    module, hot = sorted((HERE / "src").glob("*.c")), set(listed("hot"))
    includes = [f"-I{CORE}/include", f"-I{CORE}/src"]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        commands, objects = [], []
        for number, source in enumerate(library() + module):
            objects.append(f"{folder}/{number}.o")
            special = ["-O3"] if source in hot else []
            if source in module:
                special = [f"-DPy_LIMITED_API={LIMITED_API}", f"-isystem{headers}"]
            commands.append([*compiler, *FLAGS, *includes, *special, *extra, "-c", source, "-o", objects[-1]])
        list(pool.map(run, commands))
        shared = ["-bundle", "-undefined", "dynamic_lookup"] if MAC else ["-shared"]
        strip = [] if "-g" in extra or MAC else ["-s"]
        run([*compiler, *shared, *extra, *strip, *objects, "-o", target, "-lm", *shlex.split(os.environ.get("LDFLAGS", ""))])


def platform_of(module):
    """The oldest platform that the compiled module runs on, as wheels name it: what its own symbols and machine say."""
    name = re.sub(r"[.-]", "_", sysconfig.get_platform())
    if not module.startswith(b"\x7fELF"):
        return name
    machine = {62: "x86_64", 183: "aarch64"}.get(int.from_bytes(module[18:20], "little"), name.removeprefix("linux_"))
    glibc = [tuple(map(int, found.split(b"."))) for found in re.findall(rb"GLIBC_([0-9.]+)\0", module)]
    if glibc:
        major, minor, *_ = max(glibc)
        return f"manylinux_{major}_{minor}_{machine}"
    return f"musllinux_1_2_{machine}"  # 1.2 of 2020 is the first that keeps times in 64 bits everywhere


def package_files():
    names = (path for path in sorted((HERE / "ocdm").rglob("*")) if path.suffix in (".py", ".pyi") or path.name == "py.typed")
    return [(f"ocdm/{path.relative_to(HERE / 'ocdm')}", path.read_bytes()) for path in names]


# ---- archives ----------------------------------------------------------------------------------------------------------

def metadata():
    lines = ["Metadata-Version: 2.1", f"Name: {PROJECT['name']}", f"Version: {version()}", f"Summary: {PROJECT['description']}",
             f"Author: {PROJECT['authors'][0]['name']}", f"License: {PROJECT['license']['text']}", "License-File: LICENSE", f"Keywords: {','.join(PROJECT['keywords'])}",
             *(f"Classifier: {text}" for text in PROJECT["classifiers"]), f"Requires-Python: {PROJECT['requires-python']}"]
    for extra, packages in PROJECT["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}", *(f'Requires-Dist: {name}; extra == "{extra}"' for name in packages)]
    lines += ["Description-Content-Type: text/markdown", "", (HERE / PROJECT["readme"]).read_text()]
    return "\n".join(lines).encode()


def info_files(tag):
    wheel = f"Wheel-Version: 1.0\nGenerator: ocdm {version()}\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    return [("METADATA", metadata()), ("WHEEL", wheel), ("LICENSE", (CORE / "LICENSE").read_bytes())]


def info_folder():
    return f"{PROJECT['name']}-{version()}.dist-info"


def write_wheel(folder, files, module):
    tag = f"cp311-abi3-{platform_of(module)}"
    files = files + [(f"{info_folder()}/{name}", data) for name, data in info_files(tag)]
    record = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}"
              for name, data in files]
    files.append((f"{info_folder()}/RECORD", "\n".join([*record, f"{info_folder()}/RECORD,,", ""]).encode()))
    name = f"{PROJECT['name']}-{version()}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(folder, name), "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files:
            entry = zipfile.ZipInfo(path, time.gmtime(EPOCH)[:6])
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, (0o755 if path.endswith(".so") else 0o644) << 16
            archive.writestr(entry, data)
    return name


# ---- what pip and build call -----------------------------------------------------------------------------------------------

def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_sdist = get_requires_for_build_editable = get_requires_for_build_wheel


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = pathlib.Path(metadata_directory, info_folder())
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in info_files(f"cp311-abi3-{re.sub(r'[.-]', '_', sysconfig.get_platform())}"):
        (folder / name).write_bytes(data)
    return folder.name


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with tempfile.TemporaryDirectory() as folder:
        compile_module(pathlib.Path(folder, MODULE))
        module = pathlib.Path(folder, MODULE).read_bytes()
    return write_wheel(wheel_directory, package_files() + [(f"ocdm/{MODULE}", module)], module)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """The module is compiled into the package's folder; changed C files need another `pip install -e`."""
    compile_module(HERE / "ocdm" / MODULE)
    return write_wheel(wheel_directory, [("ocdm.pth", f"{HERE}\n".encode())], (HERE / "ocdm" / MODULE).read_bytes())


def sdist_files():
    own = [path for pattern in ("*.toml", "*.py", "*.md", "src/*.[ch]", "examples/*.py") for path in HERE.glob(pattern)]
    core = [path for pattern in ("cmake/sources.txt", "include/ocdm/*.h", "src/**/*.h", "LICENSE") for path in CORE.glob(pattern)]
    return ([(str(path.relative_to(HERE)), path.read_bytes()) for path in sorted(own)] + package_files() +
            [(f"core/{path.relative_to(CORE)}", path.read_bytes()) for path in sorted({*core, *library()})])


def build_sdist(sdist_directory, config_settings=None):
    name, plain = f"{PROJECT['name']}-{version()}", io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, data in [("PKG-INFO", metadata()), *sdist_files()]:
            entry = tarfile.TarInfo(f"{name}/{path}")
            entry.size, entry.mtime, entry.mode = len(data), EPOCH, 0o644
            archive.addfile(entry, io.BytesIO(data))
    pathlib.Path(sdist_directory, f"{name}.tar.gz").write_bytes(gzip.compress(plain.getvalue(), mtime=EPOCH))
    return f"{name}.tar.gz"


def build_folder(folder):
    for name, data in package_files():
        path = pathlib.Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    compile_module(pathlib.Path(folder, "ocdm", MODULE).absolute())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build_folder(sys.argv[1])
