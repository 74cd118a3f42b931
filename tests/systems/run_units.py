"""Builds and runs the unit tests of a cross build under qemu-user.

usage: run_units.py BUILD QEMU...    QEMU: the command that runs a program of the other machine

As many programs run at a time as there are processors; their results come in the order of the list.
Test cases that need features missing in qemu-user 7.2 are skipped, each with its reason. """

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

NOT_UNDER_QEMU = {
    "a lock that another thread held at the fork*": "MADV_WIPEONFORK is accepted and ignored",
    "processes have numbers of their own": "MADV_WIPEONFORK is accepted and ignored",
    "what was told in the log of a process*": "MADV_WIPEONFORK is accepted and ignored",
    "what was planted under the name of a log*": "execl of a program for Arm",
    "a process that ends while its log is read*": "/proc/PID/stat differs from /proc/self/stat",
    "a zombie does not run": "/proc/PID/stat differs from /proc/self/stat",
    "a page alone tells the same": "/proc/PID/stat differs from /proc/self/stat",
    "a process whose first thread has ended*": "/proc/PID/stat differs from /proc/self/stat",
    "a fork child counts in a file of its own*": "it ends a child of several threads that starts one (core.c:221)",
    "a child forked while several threads pack*": "it ends a child of several threads that starts one (core.c:221)",
    "a chunk that a thread of the program is still reading*": "recording and packing are too slow for its time",
    "threads that wait for a chunk pack others*": "recording and packing are too slow for its time",
    "inside a handler of a signal": "no vDSO, which says how to go through a signal's frame",
}
TIMEOUT_S = 900


def unit_tests(build):
    """Those that are programs of tests/unit; scripts and sanitizers are for the machine itself."""
    tests = json.loads(subprocess.check_output(["meson", "introspect", "--tests", build]))
    units = os.path.join(build, "tests", "unit", "")
    for test in tests:
        program = next((word for word in test["cmd"] if word.startswith(units)), None)
        if program:
            yield test["name"], program, test["env"], test["depends"]


def targets(build, tests):
    """The programs, and the libraries that they open themselves."""
    files = {target["id"]: target["filename"]
             for target in json.loads(subprocess.check_output(["meson", "introspect", "--targets", build]))}
    wanted = {program for _, program, _, _ in tests}
    wanted |= {file for *_, needed in tests for target in needed for file in files.get(target, [])}
    return sorted(os.path.relpath(file, build) for file in wanted)


def run(test, qemu):
    """Its output if it failed, or None; and the seconds it took."""
    _, program, env, _ = test
    left_out = "--test-case-exclude=" + ",".join(NOT_UNDER_QEMU)
    started = time.monotonic()
    try:
        ran = subprocess.run([*qemu, program, left_out], env=os.environ | env, timeout=TIMEOUT_S,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        fault, output = ran.returncode and f"status {ran.returncode}", ran.stdout
    except subprocess.TimeoutExpired as expired:
        fault, output = f"not done after {TIMEOUT_S} s", expired.stdout or b""
    output = f"{output.decode(errors='replace')}\n{fault}" if fault else None
    return output, time.monotonic() - started


def main(build, *qemu):
    build = os.path.realpath(build)
    tests = list(unit_tests(build))
    subprocess.run(["ninja", "-C", build, "uctrace", "libuctrace.so", *targets(build, tests)], check=True)
    failed = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for test, (output, seconds) in zip(tests, pool.map(lambda test: run(test, qemu), tests)):
            print(f"{test[0]}: {'ok' if output is None else 'FAILED'} ({seconds:.0f} s)", flush=True)
            if output is not None:
                failed.append(test[0])
                print(output, flush=True)
    for case, reason in NOT_UNDER_QEMU.items():
        print(f"left out: {case}: qemu-user: {reason}")
    print(f"{len(tests) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed or not tests else 0


sys.exit(main(*sys.argv[1:]))
