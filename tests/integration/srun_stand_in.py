"""A stand-in for srun on machines without Slurm: `srun [--export=...] -n N PROGRAM`. The program's
environment is as described in srun(1); Hydra starts its processes."""

import os
import shutil
import sys

KEPT = ("SLURM",)  # passed on whatever --export says


def exported(environment, choice):
    entries = choice.split(",")
    if entries[0] in ("NONE", "NIL"):
        entries = []
    passed = {}
    if "ALL" in entries:
        passed = dict(environment)
    for entry in entries:
        name, equals, value = entry.partition("=")
        if equals and not ("ALL" in entries and name in environment):
            passed[name] = value
        elif not equals and name in environment:
            passed[name] = environment[name]
    passed.update({n: v for n, v in environment.items() if n.startswith(KEPT)})
    return passed


def main(words):
    choice = os.environ.get("SLURM_EXPORT_ENV", "ALL")
    count = "1"
    while words[0].startswith("-"):
        word = words.pop(0)
        if word.startswith("--export"):
            choice = word.partition("=")[2] or words.pop(0)
        elif word == "-n":
            count = words.pop(0)
        else:
            sys.exit(f"srun: unrecognized option {word}")
    mpiexec = shutil.which("mpiexec.mpich")
    os.execve(mpiexec, [mpiexec, "-n", count, *words], exported(os.environ, choice))


main(sys.argv[1:])
