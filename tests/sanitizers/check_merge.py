"""Several threads merge the logs of a generated job to the same run as one, under a sanitizer if the
program is built with one.

usage: check_merge.py GENERATOR PROGRAM
"""

import subprocess
import sys
import tempfile
from pathlib import Path

generator, program = sys.argv[1:]
# All kinds of steps; logs that are large enough for several threads.
JOBS = [["--processes", 6, "--events", 60000, "--seed", 1],
        ["--processes", 3, "--lanes", 2, "--hosts", 3, "--events", 40000, "--seed", 2]]

with tempfile.TemporaryDirectory() as scratch:
    for number, options in enumerate(JOBS):
        logs = Path(scratch) / f"job{number}"
        subprocess.run([generator, "-o", logs, *map(str, options)], check=True)
        merged = subprocess.run([program, logs, scratch], capture_output=True, text=True)
        if merged.returncode != 0 or merged.stderr:
            sys.exit(f"{' '.join(map(str, options))}: {merged}")
