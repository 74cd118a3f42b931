"""Runs a fuzzer a given number of times, always with the same seed, under limits of memory and time
that do not depend on its input. Fails on any finding, and when it ran less often than asked."""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
LIMITS = {
    "rss_limit_mb": 1024,
    "malloc_limit_mb": 64,  # the largest input is 2 MiB
    "timeout": 10,  # seconds an execution
    "max_len": 1024,
}

# A quarantine of what was freed costs most of the time: a log is freed after it has been read.
ASAN_OPTIONS = (
    "quarantine_size_mb=0:thread_local_quarantine_size_kb=0:malloc_context_size=2"
)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("fuzzer", type=Path, nargs="?")
    options = parser.parse_args()
    if options.fuzzer is None:
        print("SKIP: there was no clang++ with libFuzzer and sanitizers when build/ was configured")
        return SKIPPED

    with tempfile.TemporaryDirectory(prefix="uctrace-fuzz-") as folder:
        command = [options.fuzzer.resolve(), f"-runs={options.runs}", f"-seed={options.seed}"]
        command += [f"-{name}={value}" for name, value in LIMITS.items()]
        command += ["-print_final_stats=1", "-verbosity=1", f"-artifact_prefix={folder}/"]
        result = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "ASAN_OPTIONS": ASAN_OPTIONS},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        lines = result.stderr.splitlines()
        done = re.search(r"^stat::number_of_executed_units:\s*(\d+)", result.stderr, re.MULTILINE)
        ran = int(done.group(1)) if done else 0
        if result.returncode == 0 and ran >= options.runs:
            print("\n".join(lines[-8:]))
            return 0
        print("\n".join(lines[-80:]))
        for finding in Path(folder).iterdir():
            print(f"input {finding.name}: {finding.read_bytes().hex()}")
        print(f"FAIL: {ran} of {options.runs} executions, exit status {result.returncode}")
        return 1


sys.exit(main())
