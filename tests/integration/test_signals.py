"""A job under `record` receives the same signals, equally often, as it would without, and they end, stop
and continue it in the same way. Nothing is left behind, whatever ended it.

    test_signals.py alone | group | stops | stopped-by-somebody | ignored | killed
                                                        a program without a launcher
    test_signals.py launcher ompi|mpich                 in front of a launcher
    test_signals.py behind ompi|mpich                   behind it
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import time
from pathlib import Path

from harness import PROGRAMS, _job_environment, check, check_equal, run_test, scratch, wait_until
from mpi_jobs import MPIS
from recordings import record_command

PROGRAM = PROGRAMS / "signals_taken"
LAST = signal.SIGRTMAX  # ends the program that counts
NEVER = {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}
ALL = [s for s in signal.valid_signals() if s < 32 and s not in NEVER]  # the 28 that can be caught
STOPS = {signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
VALUE = 4711


class Job:
    """A process group of its own in this session, so that it may be stopped as by a shell."""

    def __init__(self, folder, program, *, recorded=True, launcher=(), behind=False, ranks=1):
        self.folder = folder
        self.is_of_hydra = "mpiexec.mpich" in launcher
        folder.mkdir()
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        self.ready = [folder / f"ready.{rank}" for rank in range(ranks)]
        words = [PROGRAM, folder / "ready", program]
        if behind:
            words = record_command(folder / "data", words)
        words = [*launcher, *words]
        if recorded and not behind:
            words = record_command(folder / "data", words)
        with (folder / "out").open("w") as out, (folder / "err").open("w") as err:
            self.process = subprocess.Popen(
                [str(word) for word in words], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                env=_job_environment({"TMPDIR": str(self.temporary)}), process_group=0)

    def wait_ready(self):
        for path in self.ready:
            wait_until(path.exists, f"the program did not start: {self.errors()}")

    @property
    def pids(self):
        return [int(path.read_text()) for path in self.ready]

    def errors(self):
        return (self.folder / "err").read_text()

    def taken(self):
        """{signal: (count, value)} of all ranks, and how it ended."""
        lines = (self.folder / "out").read_text().splitlines()
        return sorted(tuple(map(int, line.split())) for line in lines)

    def status(self):
        """As a shell sees it, None while it runs."""
        status = self.process.poll()
        return status if status is None or status >= 0 else 128 - status

    def finish(self):
        wait_until(lambda: self.status() is not None, f"the job did not end: {self.errors()}")
        return self.status()

    def check_nothing_left(self, what):
        """No process of the job, and nothing that uctrace made in the system's temporary folder."""
        wait_until(lambda: not any(is_alive(pid) for pid in self.pids), f"{what}: a rank lives on")
        left = [path.name for path in self.temporary.glob("uctrace-*")]
        check_equal(left, [], f"{what}: left in the temporary folder")

    def end(self):
        for pid in [self.process.pid] + (self.pids if all(p.exists() for p in self.ready) else []):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@contextlib.contextmanager
def jobs(folder):
    """Starts jobs; none outlives the block."""
    started = []

    def start(name, program, **how):
        started.append(Job(folder / name, program, **how))
        return started[-1]

    try:
        yield start
    finally:
        for job in started:
            job.end()


def state_of(pid):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return ""


def is_alive(pid):
    return state_of(pid) not in ("", "Z", "X")


def waits(pid):
    return state_of(pid) == "S"


def queue(pid, number, value):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.sigqueue.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_void_p]
    check(libc.sigqueue(pid, number, value) == 0, "sigqueue failed")


# --- a program without a launcher ----------------------------------------------------------------


def outcome(job):
    """How a job is after a signal: ended with a status, stopped, or neither. Hydra's statuses after
    SIGINT and SIGQUIT differ from run to run (2 or 0, 3 or 11): of those only that there is one."""
    if job.status() is not None:
        return "ends" if job.is_of_hydra and job.status() < 128 else job.status()
    return "stopped" if state_of(job.pids[0]) == "T" else "goes on"


def compare_outcomes(start, signals, what, **how):
    """Sends each signal to a job without `record`, and to `record` alone."""
    plain = {s: start(f"plain-{what}-{s}", "default", recorded=False, **how) for s in signals}
    for number, job in plain.items():
        job.wait_ready()
        job.process.send_signal(number)
    settle(plain.values())
    recorded = {s: start(f"recorded-{what}-{s}", "default", **how) for s in signals}
    for number, job in recorded.items():
        job.wait_ready()
        job.process.send_signal(number)
    for number, job in recorded.items():
        name = f"{what}: {signal.Signals(number).name}"
        expected = outcome(plain[number])
        wait_until(lambda: outcome(job) == expected,
                   f"{name}: with record {outcome(job)}, without {expected}: {job.errors()}")
        if expected not in ("stopped", "goes on"):
            if not any(is_alive(pid) for pid in plain[number].pids):
                job.check_nothing_left(name)
    settle(recorded.values())
    for number, job in recorded.items():
        check_equal(outcome(job), outcome(plain[number]), f"{what}: {number}, later")


def settle(all_jobs):
    """Waits until nothing has changed for a while: whether a launcher is about to end cannot be
    observed."""
    before, since = None, time.monotonic()
    while time.monotonic() - since < 1.5:
        now = [outcome(job) for job in all_jobs]
        if now != before:
            before, since = now, time.monotonic()
        time.sleep(0.05)


def by_default(folder, start):
    compare_outcomes(start, ALL, "alone")


def each_once(folder, start):
    """All signals that a program can handle, sent to `record` alone: each arrives once, with its
    value."""
    # SIGCONT and the stop signals cancel each other while pending.
    numbers = [s for s in signal.valid_signals() if s not in NEVER | {LAST, signal.SIGCONT}]
    job = start("count", "count")
    job.wait_ready()
    for number in numbers:
        if number >= signal.SIGRTMIN:
            queue(job.process.pid, number, VALUE)
            queue(job.process.pid, number, VALUE)
        else:
            job.process.send_signal(number)
    job.process.send_signal(LAST)
    check_equal(job.finish(), 7, f"exit status: {job.errors()}")
    expected = [(s, 2, VALUE) if s >= signal.SIGRTMIN else (s, 1, 0) for s in numbers] + [(LAST, 1, 0)]
    check_equal(job.taken(), sorted((int(s), n, v) for s, n, v in expected), "signals")
    job.check_nothing_left("count")


def alone():
    with scratch() as folder, jobs(folder) as start:
        by_default(folder, start)
        each_once(folder, start)


def group():
    """A signal to the whole group, as from `kill %1` or a terminal, arrives once and not twice; also
    when the processes are signalled one at a time."""
    numbers = [s for s in ALL if s not in STOPS and s != signal.SIGCONT]
    with scratch() as folder, jobs(folder) as start:
        job = start("group", "count")
        job.wait_ready()
        for number in numbers:
            os.killpg(job.process.pid, number)
            # Wait until the program has it, and `record` has decided: only then would a second one be
            # distinguished from the first.
            for pid in [*job.pids, job.process.pid]:
                wait_until(lambda: not pending(pid, number), "a signal is not taken")
        # The signal that ends the program is already pending when `record` learns of the end.
        os.kill(job.process.pid, signal.SIGSTOP)
        wait_until(lambda: state_of(job.process.pid) == "T", "record does not stop")
        os.killpg(job.process.pid, LAST)
        wait_until(lambda: not is_alive(job.pids[0]), "the program does not end")
        os.kill(job.process.pid, signal.SIGCONT)
        check_equal(job.finish(), 7, f"exit status: {job.errors()}")
        check_equal(job.taken(), sorted((int(s), 1, 0) for s in [*numbers, LAST]), "signals")
        job.check_nothing_left("group")


def pending(pid, number):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(("SigPnd:", "ShdPnd:")) and int(line.split()[1], 16) >> (number - 1) & 1:
            return True
    return False


def stops():
    """Ctrl-Z and what follows: both stop, whichever way they are signalled, and both continue."""
    with scratch() as folder, jobs(folder) as start:
        for number in sorted(STOPS):
            for to_group in (False, True):
                name = f"{signal.Signals(number).name} to {'the group' if to_group else 'record'}"
                send = os.killpg if to_group else os.kill
                job = start(f"stop-{number}-{to_group}", "default")
                job.wait_ready()
                send(job.process.pid, number)
                stopped = os.waitid(os.P_PID, job.process.pid, os.WSTOPPED | os.WNOWAIT)
                check_equal(stopped.si_status, number, f"{name}: what the shell sees")
                check_equal(state_of(job.pids[0]), "T", f"{name}: state of the program")
                send(job.process.pid, signal.SIGCONT)
                wait_until(lambda: waits(job.pids[0]), f"{name}: the program does not go on")
                job.process.terminate()
                check_equal(job.finish(), 128 + 15, f"{name}: exit status")
                job.check_nothing_left(name)


REACTION_S = 3  # cli/launching/run_program.cpp


def stopped_by_somebody():
    """A program that handled Ctrl-Z itself, and is stopped by another process much later, stops
    alone."""
    with scratch() as folder, jobs(folder) as start:
        job = start("later", "count")
        job.wait_ready()
        os.kill(job.process.pid, signal.SIGTSTP)
        wait_until(lambda: not pending(job.process.pid, signal.SIGTSTP), "record takes no signals")
        passed = time.monotonic() + REACTION_S + 0.5
        wait_until(lambda: time.monotonic() > passed, "time stands still")
        os.kill(job.pids[0], signal.SIGSTOP)
        wait_until(lambda: state_of(job.pids[0]) == "T", "the program does not stop")
        os.kill(job.pids[0], signal.SIGCONT)
        os.kill(job.pids[0], LAST)
        check_equal(job.finish(), 7, "exit status")
        check(int(signal.SIGTSTP) in [number for number, _, _ in job.taken()], f"{job.taken()}")


def ignored():
    """Under nohup, and from a parent that ignores SIGCHLD."""
    with scratch() as folder, jobs(folder) as start:
        for number in (signal.SIGHUP, signal.SIGCHLD):
            before = signal.signal(number, signal.SIG_IGN)
            try:
                job = start(f"ignored-{number}", "default")
            finally:
                signal.signal(number, before)
            job.wait_ready()
            mask = [line for line in Path(f"/proc/{job.pids[0]}/status").read_text().splitlines()
                    if line.startswith("SigIgn:")]
            check(int(mask[0].split()[1], 16) >> (number - 1) & 1, f"{number} is not ignored: {mask}")
            job.process.send_signal(number)
            job.process.terminate()
            check_equal(job.finish(), 128 + 15, "exit status")


def killed():
    """SIGKILL for `record`: the job goes on and nothing stays behind but the job."""
    with scratch() as folder, jobs(folder) as start:
        job = start("killed", "count")
        job.wait_ready()
        job.process.kill()
        check_equal(job.finish(), 128 + 9, "exit status of record")
        left = lambda: list(job.temporary.glob("uctrace-*"))
        wait_until(lambda: not left(), f"left in the temporary folder: {left()}")
        check(is_alive(job.pids[0]), "the program died with record")
        os.kill(job.pids[0], LAST)
        wait_until(lambda: not is_alive(job.pids[0]), "the program does not end")
        check_equal(job.taken(), [(int(LAST), 1, 0)], "signals")


# --- launchers -----------------------------------------------------------------------------------


def launcher_of(mpi):
    return [*MPIS[mpi].launcher, MPIS[mpi].count_option, 2]


def launcher(mpi):
    with scratch() as folder, jobs(folder) as start:
        for part in (ALL[:14], ALL[14:]):  # a small machine cannot run more at once
            compare_outcomes(start, part, mpi, launcher=launcher_of(mpi), ranks=2)


def behind(mpi):
    """Each rank gets every signal sent to it, and no process of `record` is in between."""
    numbers = [s for s in signal.valid_signals() if s not in NEVER | {signal.SIGCONT}]
    found = {}
    with scratch() as folder, jobs(folder) as start:
        for recorded in (False, True):
            job = start(f"behind-{recorded}", "count", launcher=launcher_of(mpi), ranks=2,
                        recorded=recorded, behind=recorded)
            job.wait_ready()
            for pid in job.pids:
                for number in numbers:
                    os.kill(pid, number)
            found[recorded] = (job.finish(), job.taken())
            job.check_nothing_left(f"behind {mpi}")
    check_equal(found[True], found[False], "status and signals of the ranks")
    check(len(found[True][1]) == 2 * len(numbers), f"signals of the ranks: {found[True]}")


CASES = {"alone": alone, "group": group, "stops": stops,
         "stopped-by-somebody": stopped_by_somebody, "ignored": ignored, "killed": killed,
         "launcher": launcher, "behind": behind}
run_test(lambda case, *mpi: CASES[case](*mpi))
