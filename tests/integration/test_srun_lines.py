"""srun, or its stand-in, with every way to choose which part of the environment a job gets."""

import os
import sys
from pathlib import Path

from checks import check_complete
from harness import TOOL, check, check_equal, run_test, run_well, scratch
from launchers import SHOW, write_script
from mpi_jobs import MPIS
from recordings import record_well

USERS = "libm.so.6"
LIBRARY = TOOL.parent / "libuctrace.so"
LINES = {
    "default": ([], {}),
    "all": (["--export=ALL"], {"SLURM_EXPORT_ENV": "NONE"}),
    "none": (["--export=NONE"], {}),
    "list": (["--export", "OWN,PATH"], {"OWN": "mine"}),
    "own LD_PRELOAD": ([f"--export=OWN=1,LD_PRELOAD={USERS}"], {}),
    "all and LD_PRELOAD": ([f"--export=ALL,LD_PRELOAD={USERS}"], {}),
    "variable": ([], {"SLURM_EXPORT_ENV": "OWN=2"}),
    "nothing by variable": ([], {"SLURM_EXPORT_ENV": "NONE"}),
}


def shown(result):
    lines = [line for line in result.stdout.splitlines() if line.startswith("preload=")]
    return sorted(line.replace(f"={LIBRARY}", "=", 1).replace("=:", "=", 1) for line in lines)


def lines_are_edited(srun="stand-in"):
    with scratch() as folder:
        program = MPIS["mpich"].job("allreduce")[-1]
        show = write_script(folder / "show.sh", SHOW)
        if srun == "stand-in":
            stand_in = Path(__file__).with_name("srun_stand_in.py")
            srun = write_script(folder / "srun", f'#!/bin/sh\nexec {sys.executable} {stand_in} "$@"\n')
        for name, (options, env) in LINES.items():
            env = {"SLURM_CONF": os.environ.get("SLURM_CONF", ""), **env}
            line = [srun, *options, "-n", 2, show, program, 64]
            alone = run_well(line, env=env)
            result, recording = record_well(folder / "data", line, env=env)
            check_equal(shown(result), shown(alone), f"what the ranks get: {name}")
            check("warning" not in result.stderr, f"{name}: {result}")
            check_complete(recording.info, processes=2)


run_test(lines_are_edited)
