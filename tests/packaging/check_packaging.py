"""The build dependencies of packages, recipes and the container agree with scripts/install-packages; and every version
named is that of the sources.

usage: check_packaging.py ROOT    of the sources
"""

import json
import re
import sys
from pathlib import Path

root = Path(sys.argv[1])

# Debian's builds have a compiler and certificates; the page comes with the sources; the rest is for
# tests alone.
NOT_FOR_DEBIAN = {"ca-certificates", "doctest-dev", "g++", "gfortran"}
# The container serves jobs whose MPI it does not contain, and is built without tests. Without SCOTCH uctrace uses its
# own placement.
NOT_FOR_CONTAINER = {"doctest-dev", "gfortran", "libmpich-dev", "libopenmpi-dev", "libscotch-dev", "mpich",
                     "openmpi-bin"}
FOR_CONTAINER = {"nodejs", "npm"}  # install-packages asks for them where they are missing
# For a cross compiler: the C and C++ libraries of the target machine, which for a native build come with g++.
FOR_ARM = {"libc6-dev", "libstdc++6"}
MPIS = {"libmpich-dev", "libopenmpi-dev"}
# Spack's names of libraries; the others are optional.
SPACK = {"libcli11-dev": "cli11", "libdeflate-dev": "libdeflate", "libdw-dev": "elfutils", "libfmt-dev": "fmt",
         "libhdf5-dev": "hdf5", "libhwloc-dev": "hwloc", "libsqlite3-dev": "sqlite", "libucx-dev": "ucx",
         "libopen-trace-format2-dev": "otf2", "nlohmann-json3-dev": "nlohmann-json", "zlib1g-dev": "zlib-api"}
NOT_FOR_SPACK = {"doctest-dev", "libscotch-dev", "libunwind-dev"}  # tests only; uctrace has its own placement, libgcc
                                                                   # its own unwinder
SPACK_TOOLS = {"c", "cxx", "meson", "mpi", "node-js", "npm", "python"}


def installed_packages():
    script = (root / "scripts/install-packages").read_text()
    words = re.search(r"^wanted=\((.*?)\)$", script, re.DOTALL | re.MULTILINE)[1].split()
    return {word for word in words if not word.startswith('"')}


def debian_build_dependencies():
    """The last field of the paragraph of the sources."""
    sources = (root / "packaging/debian/control").read_text().split("\n\n")[0]
    names = {entry.split()[0] for entry in sources.partition("Build-Depends:")[2].split(",")}
    return names - {"debhelper-compat"}


def version():
    return re.search(r"version: '([^']+)'", (root / "meson.build").read_text())[1]


def debian_version():
    first = (root / "packaging/debian/changelog").read_text().splitlines()[0]
    return re.match(r"uctrace \((.+)-\d+\)", first)[1]


def words_between(path, begin, end):
    text = (root / path).read_text()
    return set(text.partition(begin)[2].partition(end)[0].replace("\\\n", " ").split())


def spack_dependencies():
    recipe = (root / "packaging/spack/spack_repo/uctrace/packages/uctrace/package.py").read_text()
    return set(re.findall(r'^    depends_on\("([a-z0-9-]+)', recipe, re.MULTILINE)) - SPACK_TOOLS


def page_version():
    return json.loads((root / "viewer/package.json").read_text())["version"]


installed = installed_packages()
libraries = {name for name in installed if name.endswith("-dev")}
mistakes = []
for path, asked, needed in (
        ("packaging/debian/control", debian_build_dependencies(), installed - NOT_FOR_DEBIAN),
        ("packaging/container/Containerfile", words_between("packaging/container/Containerfile",
                                                            "--no-install-recommends", "\nCOPY"),
         installed - NOT_FOR_CONTAINER | FOR_CONTAINER),
        ("tests/systems/aarch64", words_between("tests/systems/aarch64", "libraries=(", ")"),
         libraries - MPIS | FOR_ARM),
        ("Spack's package.py", spack_dependencies(),
         {SPACK.get(name, name) for name in libraries - MPIS - NOT_FOR_SPACK})):
    if asked != needed:
        mistakes.append(f"{path}: builds need {sorted(needed - asked)}, and not {sorted(asked - needed)}")
for path, named in (("packaging/debian/changelog", debian_version()), ("viewer/package.json", page_version())):
    if named != version():
        mistakes.append(f"{path}: {named}, and the sources are {version()}")
print("\n".join(mistakes) or "the packages need what a build needs")
sys.exit(bool(mistakes))
