"""Tests of this folder over another UCX: a cell of the matrix is one UCX, stock or rebuilt, with one
version of its protocols, and programs of one kind. Shared by test_ucx_matrix.py, which runs the cells
that this machine has, and tests/ucx-matrix, which builds and runs others."""

import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from harness import BUILD_ROOT, SKIPPED, UcxUnderTest

HERE = Path(__file__).resolve().parent
TEST_TIMEOUT_S = 180

# By kind of program: the test script with its arguments, V2 for those that run with protocols v2.
V2 = {"any": "protocols-v2", "default": "protocols-v2", "all": "protocols-v2", "tcp": "tcp-protocols-v2"}
PROGRAMS = {
    "ompi": [["exchange", "ompi"], ["rma", "ompi", "any"]],
    "mpich": [["exchange", "mpich"], ["rma", "mpich", "any"]],
    "plain": [["plain_ucp", "default"], ["plain_rma", "all"], ["plain_rma", "tcp"], ["streams", "all"]],
}


@dataclass(frozen=True)
class Row:
    """One test over one UCX."""

    version: str
    mode: str
    protocols: str
    test: str
    result: str  # ok, failed, skipped, or "fails by itself": also without the tool
    messages: int
    operations: int
    exact: int
    inferred: int
    why: str  # empty if ok

    @property
    def is_good(self):
        return self.result in ("ok", "fails by itself")


def has_protocols_v2(version, script):
    """Before 1.13 they were incomplete, and programs crash by themselves; UCP sends streams with them from 1.16
    on."""
    major, minor, _ = map(int, version.split("."))
    return (major, minor) >= (1, 16 if script == "streams" else 13)


def version_of(prefix):
    """Of the UCX in a prefix, or of the machine's own for ""."""
    program = f"{prefix}/bin/ucx_info" if prefix else "ucx_info"
    environment = {**os.environ, "LD_LIBRARY_PATH": f"{prefix}/lib"} if prefix else None
    told = subprocess.run([program, "-v"], capture_output=True, text=True, env=environment, check=True)
    for line in told.stdout.splitlines():
        # Since 1.14, of 1.13, and before.
        if told_version := re.match(r"# (?:Library version: |Version |UCT version=)([0-9.]+)", line):
            return told_version[1]
    raise RuntimeError(f"{program} -v does not tell its version")


def reason_of(output):
    """The first message of a failed test."""
    lines = [line for line in output.splitlines() if line.strip()]
    for mark in ("FAIL: ", "SKIP: "):
        for number, line in enumerate(lines):
            if line.startswith(mark):
                return " ".join(lines[number : number + 3])[len(mark):]
    return lines[-1] if lines else "no output"


def run_test_over(ucx, test):
    """A Row; `ucx` is an UcxUnderTest without a report."""
    script, *arguments = test
    if ucx.protocols == "v2":
        arguments = [V2.get(word, word) for word in arguments]
    with tempfile.TemporaryDirectory(prefix="uctrace-matrix-") as folder:
        report = Path(folder) / "report"
        chosen = json.dumps({**asdict(ucx), "report": str(report)})
        environment = {**os.environ, "UCTRACE_TEST_UCX": chosen, "UCTRACE_BUILD_ROOT": str(BUILD_ROOT)}
        command = [sys.executable, HERE / f"test_{script}.py", *arguments]
        try:
            ran = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True,
                                 errors="replace", stderr=subprocess.STDOUT, timeout=TEST_TIMEOUT_S)
            status, output = ran.returncode, ran.stdout
        except subprocess.TimeoutExpired:
            status, output = 1, f"FAIL: took more than {TEST_TIMEOUT_S} s"
        facts = [json.loads(line) for line in report.read_text().splitlines()] if report.exists() else []
    # A program that fails over this UCX without the tool says nothing about the tool.
    alone = re.search(r"^FAIL: the command failed: (?!.*uctrace record)", output, re.MULTILINE)
    if alone:
        status = None
    if status == 0 and not facts:
        status, output = 1, "FAIL: nothing was recorded over this UCX"
    return Row(
        version=ucx.version, mode=ucx.mode, protocols=ucx.protocols, test=" ".join(test),
        result={0: "ok", SKIPPED: "skipped", None: "fails by itself"}.get(status, "failed"),
        messages=sum(fact["messages"] for fact in facts),
        operations=sum(fact["posted_ok"] for fact in facts),
        exact=sum(fact["uct_ucp"]["exact"] for fact in facts),
        inferred=sum(fact["uct_ucp"]["inferred"] for fact in facts),
        why="" if status == 0 else reason_of(output))


def run_cell(mode, protocols, prefix, programs):
    """The rows of some of PROGRAMS over the UCX in `prefix` ("" = the machine's own)."""
    ucx = UcxUnderTest(mode, protocols, version_of(prefix), str(prefix), "")
    for name in programs:
        for test in PROGRAMS[name]:
            if protocols == "v1" or has_protocols_v2(ucx.version, test[0]):
                yield run_test_over(ucx, test)
