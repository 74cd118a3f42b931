"""Shared by the integration tests: the form of a test, the UCX under test, and running programs.

A test is a script: it calls `run_test(body)`, fails by raising (usually through `check`), and is
skipped by raising Skip, which exits with 77 after printing the reason. The build to test comes from
UCTRACE_BUILD_ROOT (Meson sets it) or `--build DIR`, by default <source>/build.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SOURCE_ROOT = Path(__file__).resolve().parents[2]
JOB_TIMEOUT_S = 60
SKIPPED = 77  # the exit status that Meson takes for a skip


class Skip(Exception):
    """The test cannot run here; the message says why."""


class Failure(Exception):
    """The tool did not do what it must; the message says what was found."""


def check(condition, message):
    if not condition:
        raise Failure(message)


def check_equal(found, expected, what):
    check(found == expected, f"{what}: found {found!r}, expected {expected!r}")


# --- the script ----------------------------------------------------------------------------------


def _take_build_root(arguments):
    if "--build" in arguments:
        at = arguments.index("--build")
        root = arguments[at + 1]
        del arguments[at : at + 2]
        return Path(root).resolve()
    return Path(os.environ.get("UCTRACE_BUILD_ROOT", SOURCE_ROOT / "build")).resolve()


_arguments = sys.argv[1:]
BUILD_ROOT = _take_build_root(_arguments)
TOOL = BUILD_ROOT / "uctrace"
LIBRARY = BUILD_ROOT / "libuctrace.so"
PROGRAMS = BUILD_ROOT / "tests" / "programs"


# Drop causes of a machine that is too busy: records come faster than uctrace's threads get a core, and are
# dropped and counted. Checks of such a recording are meaningless.
LATE = {"helper_late", "packing_slow", "storage_slow"}
ATTEMPTS = 3

_dropped_by_busy_machine = {}


def note_drops(info):
    """For a recording examined by a test."""
    causes = info.get("events", {}).get("dropped_by_cause", {})
    if causes and set(causes) <= LATE:
        _dropped_by_busy_machine.update(causes)


def run_test(body, attempts=ATTEMPTS):
    """Runs body(*arguments of the script) and exits as Meson expects: 0, 1, or 77 for a skip. If it fails and
    the machine was too busy to record everything, it is run again: a real drop fails every time."""
    signal.signal(signal.SIGTERM, _end_at_once)
    for attempt in range(attempts):
        _dropped_by_busy_machine.clear()
        try:
            body(*_arguments)
        except Skip as reason:
            print(f"SKIP: {reason}")
            sys.exit(SKIPPED)
        except Failure as failure:
            print(f"FAIL: {failure}")
        except Exception:
            traceback.print_exc()
        else:
            print("OK")
            return
        if not _dropped_by_busy_machine:
            break
        print(f"the machine was too busy, records were dropped: {_dropped_by_busy_machine}")
    sys.exit(1)


@contextlib.contextmanager
def scratch():
    """A temporary folder, removed at the end whatever happens."""
    folder = Path(tempfile.mkdtemp(prefix="uctrace-test-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def need(command):
    """The path of a command that a test cannot do without."""
    path = shutil.which(command)
    if path is None:
        raise Skip(f"{command} is not installed")
    return path


def in_private_mounts(script, *arguments):
    """A command that runs a shell script in a private mount namespace."""
    return [need("unshare"), "--mount", "sh", "-ec", script, "sh", *arguments]


def need_private_mounts():
    if run(in_private_mounts("mount -t tmpfs tmpfs /mnt")).status != 0:
        raise Skip("private mounts are not permitted here")


def rebuilt_ucx():
    """The prefix of a UCX with hooks, made by `uctrace build-ucx` from the distribution's sources."""
    prefix = Path(os.environ.get("UCTRACE_TEST_REBUILT_UCX", BUILD_ROOT / "ucx-hooks"))
    libraries = list(prefix.glob("lib/libucp.so.0"))
    check(libraries, f"there is no UCX with hooks; make it: {TOOL} build-ucx --prefix {prefix}")
    return prefix


VIRTUAL_GPUS = BUILD_ROOT / "tests" / "virtual-gpu"
# Makes uctrace believe in the devices that drivers need.
VIRTUAL_DEVICES = {"UCTRACE_TEST_DEVICES": str(VIRTUAL_GPUS / "devices")}
# The system's UCX beside the virtual GPUs knows of none of them: Debian 13's has a module for ROCm, which would
# initialise that driver itself.
WITHOUT_GPU_MODULES = {"UCX_MODULES": "^cuda*,rocm*,ze*"}


def cuda_ucx():
    """The same UCX with hooks, built with the virtual GPUs."""
    prefix = rebuilt_ucx()
    made = list(prefix.glob("lib/ucx/libuct_cuda.so.0"))
    option = f"--configure --with-cuda={VIRTUAL_GPUS}/cuda"
    check(made, f"the UCX in {prefix} has no CUDA; make it: {TOOL} build-ucx --prefix {prefix} --replace {option}")
    return prefix


# --- the UCX that jobs run over ------------------------------------------------------------------


def _minor_of(version):
    return int(version.split(".")[1])


@cache
def _compiled_with():
    """The version of UCX's headers on this machine."""
    # Not with run(), which needs the environment that this is a part of.
    told = subprocess.run([need("pkg-config"), "--modversion", "ucx"], stdout=subprocess.PIPE, text=True, check=True)
    return told.stdout.strip()


@dataclass(frozen=True)
class UcxUnderTest:
    """Another UCX than the machine's, or other protocols: any test can be run over it
    (ucx_matrix.py says what is then checked besides)."""

    mode: str  # stock or rebuilt
    protocols: str  # v1 or v2
    version: str
    prefix: str  # "" = the machine's own
    report: str  # a file that gets a line of JSON for each recording

    @property
    def environment(self):
        chosen = {"UCX_PROTO_ENABLE": "y" if self.protocols == "v2" else "n"}
        if _minor_of(self.version) < _minor_of(_compiled_with()):
            chosen["UCX_LOG_LEVEL"] = "error"  # it warns of programs that were compiled with newer headers
        if self.prefix:
            chosen["LD_LIBRARY_PATH"] = f"{self.prefix}/lib"
        return chosen

    def tell(self, info):
        """For the table of the matrix, for good and bad recordings."""
        facts = {"uct_ucp": info["links"]["uct_ucp"], "messages": info["messages"]["matched"],
                 "posted_ok": info["uct"]["posted_ok"]}
        with open(self.report, "a") as report:
            report.write(json.dumps(facts) + "\n")

    @property
    def record_options(self):
        return ["--ucx", self.prefix] if self.mode == "rebuilt" else []


def _ucx_under_test():
    chosen = os.environ.get("UCTRACE_TEST_UCX")
    return UcxUnderTest(**json.loads(chosen)) if chosen else None


UCX_UNDER_TEST = _ucx_under_test()


@cache
def ucx_version():
    """(major, minor) of the UCX that jobs run over."""
    if UCX_UNDER_TEST:
        return tuple(map(int, UCX_UNDER_TEST.version.split(".")[:2]))
    # In a process of its own: UCX takes over signals when it is loaded.
    ask = (
        "from ctypes import *; numbers = (c_uint * 3)(); at = lambda i: byref(numbers, 4 * i);"
        "CDLL('libucp.so.0').ucp_get_version(at(0), at(1), at(2)); print(*numbers[:2])"
    )
    return tuple(map(int, run_well([sys.executable, "-c", ask]).stdout.split()))


def uses_protocols_v2(environment):
    """Whether a job with these environment changes uses them. Since UCX 1.16 they are the default."""
    asked = _job_environment(environment).get("UCX_PROTO_ENABLE")
    return asked == "y" if asked else ucx_version() >= (1, 16)


# --- running -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Result:
    command: list
    status: int  # as a shell sees it: 128 + number for a signal
    stdout: str
    stderr: str

    def __str__(self):
        return (
            f"{' '.join(map(str, self.command))}\nexit status {self.status}"
            f"\n--- stdout\n{self.stdout}\n--- stderr\n{self.stderr}"
        )


def _session_members(session):
    """Processes of a session. Launchers give each rank a process group, but not a session."""
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = entry.read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                yield int(entry.parent.name)


def _kill_session(session):
    for pid in _session_members(session):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _stop(process):
    """Ends a job that we started: politely first, so that its launcher can clean up."""
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=5)
    _kill_session(process.pid)


_running = {}  # session: command


def _end_at_once(*_):
    """Meson asks a test that takes too long to end, and kills it half a second later: its jobs, which are in
    their own sessions, would otherwise run on during all later tests."""
    for session, command in tuple(_running.items()):
        os.write(sys.stderr.fileno(), f"ended from outside, with what still ran: {command}\n".encode())
        _kill_session(session)
    os._exit(1)


def _ucx_of_machine():
    """The thread of UCX's virtual file system, if it has one, holds a lock of UCX for a while at the start: a
    program that forks meanwhile hangs in the child, with and without uctrace."""
    module = any(Path("/usr/lib").glob("*/ucx/libucs_fuse.so.0"))
    return {"UCX_VFS_ENABLE": "n"} if module else {}


def _job_environment(changes=None):
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("UCTRACE_", "UCX_", "OMPI_", "PMIX_", "LD_PRELOAD"))
    }
    if UCX_UNDER_TEST:
        environment.update(UCX_UNDER_TEST.environment)
    environment.update(_ucx_of_machine())
    environment["XDG_CACHE_HOME"] = str(BUILD_ROOT / "test-cache")  # for the runs of other users
    environment["OMPI_ALLOW_RUN_AS_ROOT"] = "1"
    environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    environment.update(changes or {})
    return environment


@contextlib.contextmanager
def started(command, *, env=None, cwd=None):
    """A job that runs during the block and is ended with it."""
    process = subprocess.Popen(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=_job_environment(env),
        cwd=cwd,
        start_new_session=True,
    )
    _running[process.pid] = " ".join(process.args)
    try:
        yield process
    finally:
        if process.poll() is None:
            _stop(process)
        del _running[process.pid]


def finish(process, *, timeout=JOB_TIMEOUT_S):
    """The result of a started job."""
    try:
        stdout, stderr = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        raise Failure(f"timed out after {timeout} s: {' '.join(process.args)}") from None
    status = process.returncode if process.returncode >= 0 else 128 - process.returncode
    return Result(process.args, status, stdout, stderr)


def wait_until(condition, otherwise, *, timeout=30):
    deadline = time.monotonic() + timeout
    while not condition():
        check(time.monotonic() < deadline, f"{otherwise}, after {timeout} s")
        time.sleep(0.02)


def wait_for(path):
    """Waits until a program has made the file."""
    wait_until(path.exists, f"there is no {path.name}")


def run(command, *, env=None, cwd=None, timeout=JOB_TIMEOUT_S):
    with started(command, env=env, cwd=cwd) as process:
        return finish(process, timeout=timeout)


# The peak of a process includes its parent's memory at the start: hence a small parent.
MEASURE = """
import resource, subprocess, sys
ended = subprocess.run(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, flush=True)
sys.exit(ended.returncode)
"""


def peak_kb_of(*command):
    """Status, output and the most memory that the command had at a time."""
    measured = subprocess.run([sys.executable, "-c", MEASURE, *map(str, command)], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    *output, peak = measured.stdout.splitlines(keepends=True)
    return measured.returncode, "".join(output), int(peak)


def run_well(command, **options):
    """Runs what must succeed."""
    result = run(command, **options)
    check(result.status == 0, f"the command failed: {result}")
    return result
