"""Options of `meson setup` that cannot be satisfied are refused, and optional dependencies may be
missing.

usage: check_setup.py ROOT    of the sources; 77: meson is not there as a command
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

root = Path(sys.argv[1])
meson = shutil.which("meson")
if meson is None:
    print("there is no command meson")
    sys.exit(77)


def setup(build, *options, path=""):
    """Exit status and output; `path` comes before the others in PATH."""
    env = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}" if path else os.environ["PATH"]}
    result = subprocess.run([meson, "setup", build, root, *options], env=env, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return result.returncode, result.stdout


def program(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def mistakes_of_page(folder):
    template, older = root / "viewer/page.html", folder / "older.html"
    older.write_text('<script id="uctrace-data"></script>')
    for page, said in (("page.html", "give the whole path"), (folder / "none.html", "there is no such file"),
                       (template, "is no page that was made"), (older, "or one of another version")):
        status, output = setup(folder / "page", f"-Dpage={page}")
        if status == 0 or said not in output:
            yield f"-Dpage={page} is not refused: {output[-1000:]}"


def mistakes_of_compilers(folder):
    """Fake MPI compilers: the preprocessor's output is written by hand."""
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    for name in ("mpicc", "mpicc.openmpi", "mpicc.mpich"):
        program(bin_folder / name, "echo this compiler is broken >&2; exit 3")
    prefix = folder / "a prefix"
    page = folder / "made.html"
    page.write_text('<script id="uctrace-packed"></script>')
    status, output = setup(folder / "default", f"-Dpage={page}", f"--prefix={prefix}", path=bin_folder)
    if status != 0 or "this compiler is broken" not in output:
        yield f"a default mpicc that does not work ends all: {output[-1000:]}"
    else:
        yield from mistakes_of_module(folder / "default", prefix)
    ours = [program(folder / name, "echo '#define OPEN_MPI 1'") for name in ("first", "second")]
    status, output = setup(folder / "asked", f"-Dpage={page}", f"-Dmpicc={ours[0]},{ours[1]}")
    if status != 0 or f"{ours[1]} is left out" not in output:
        yield f"nothing is said of a second compiler of the same MPI: {output[-1000:]}"
    status, output = setup(folder / "broken", f"-Dpage={page}", f"-Dmpicc={bin_folder}/mpicc")
    if status == 0:
        yield f"a compiler that was asked for and does not work is not refused: {output[-1000:]}"


def mistakes_of_module(build, prefix):
    """Tcl splits words at spaces."""
    for file in (build / "packaging/modulefiles").glob("[0-9]*"):
        for line in file.read_text().splitlines():
            if str(prefix) in line and f"{{{prefix}/" not in line:
                yield f"{file.name}: a path is several words: {line}"
        return
    yield "no module file was made"


with tempfile.TemporaryDirectory() as place:
    mistakes = [*mistakes_of_page(Path(place)), *mistakes_of_compilers(Path(place))]
print("\n".join(mistakes) or "options are met or refused")
sys.exit(bool(mistakes))
