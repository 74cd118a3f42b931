"""Builds and runs the unit tests of a cross build under qemu-user.

usage: run_units.py BUILD QEMU...    QEMU: the command that runs a program of the other machine

Left out are test cases that ask for what qemu-user 7.2 does not do, each with its reason.
"""

import json
import os
import subprocess
import sys

NOT_UNDER_QEMU = {
    "a lock that another thread held at the fork*": "MADV_WIPEONFORK is accepted and ignored",
    "processes have numbers of their own": "MADV_WIPEONFORK is accepted and ignored",
    "what was planted under the name of a log*": "execl of a program for Arm",
    "a process that ends while its log is read*": "/proc/PID/stat differs from /proc/self/stat",
    "a zombie does not run": "/proc/PID/stat differs from /proc/self/stat",
    "a page alone tells the same": "/proc/PID/stat differs from /proc/self/stat",
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
    """The programs, and what they open themselves."""
    files = {target["id"]: target["filename"]
             for target in json.loads(subprocess.check_output(["meson", "introspect", "--targets", build]))}
    wanted = {program for _, program, _, _ in tests}
    wanted |= {file for *_, needed in tests for target in needed for file in files.get(target, [])}
    return sorted(os.path.relpath(file, build) for file in wanted)


def main(build, *qemu):
    build = os.path.realpath(build)
    tests = list(unit_tests(build))
    subprocess.run(["ninja", "-C", build, "uctrace", "libuctrace.so", *targets(build, tests)], check=True)
    left_out = "--test-case-exclude=" + ",".join(NOT_UNDER_QEMU)
    failed = []
    for name, program, env, _ in tests:
        ran = subprocess.run([*qemu, program, left_out], env=os.environ | env, timeout=TIMEOUT_S,
                             capture_output=True, text=True, errors="replace")
        print(f"{name}: {'ok' if ran.returncode == 0 else 'FAILED'}", flush=True)
        if ran.returncode != 0:
            failed.append(name)
            print(ran.stdout, ran.stderr)
    for case, reason in NOT_UNDER_QEMU.items():
        print(f"left out: {case}: qemu-user: {reason}")
    print(f"{len(tests) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed or not tests else 0


sys.exit(main(*sys.argv[1:]))
