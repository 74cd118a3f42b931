"""A sanitizer finds the deliberate mistake of a program, and nothing without it.

usage: check_seeded.py PROGRAM MISTAKE REPORT
"""

import subprocess
import sys

program, mistake, report = sys.argv[1:]
well = subprocess.run([program], capture_output=True, text=True)
if well.returncode != 0 or well.stderr:
    sys.exit(f"without a mistake it failed: {well}")
found = subprocess.run([program, mistake], capture_output=True, text=True)
if found.returncode == 0 or report not in found.stderr:
    sys.exit(f"{mistake} was not found: {found}")
