"""Programs that put themselves into a sandbox (seccomp). If it refuses system calls, the job runs on
and the recording ends with a reason; if it kills the caller, `--no-helper` records everything."""

import os

from checks import check_complete
from harness import PROGRAMS, Skip, TOOL, check, check_equal, need, run, run_test, scratch
from mpi_jobs import MPIS
from recordings import Recording

PROGRAM = PROGRAMS / "sandboxed"
TRANSPORTS = {"UCX_TLS": "self"}
NOT_HERE = 77
SIGSYS = 31
FEWER, FEW, MANY = 200, 1000, 40_000  # fewer: they fit into what is ready at the start


def alone(program, environment):
    result = run(program, env=environment)
    if result.status == NOT_HERE:
        raise Skip("no filter of system calls can be set here")
    check_equal(result.status, 0, "exit status without the tool")
    return result


def recorded(folder, program, environment, *options):
    return run([TOOL, "record", "-o", folder, *options, "--", *program], env=environment)


def check_holds(info, *names):
    results = {identity["name"]: identity["result"] for identity in info["identities"]}
    check_equal({results[name] for name in names}, {"holds"}, f"results of {names}")


def check_same(result, by_itself):
    check_equal((result.status, result.stdout), (by_itself.status, by_itself.stdout), "the program")


def refused(error, storage):
    """Much more than fits into the memory that is ready when the calls are first refused. A drained log
    cannot tell of it."""
    program = [PROGRAM, error, MANY]
    environment = TRANSPORTS | ({"UCTRACE_DRAIN": "1"} if storage == "drained" else {})
    by_itself = alone(program, environment)
    with scratch() as folder:
        result = recorded(folder / "data", program, environment)
        check_same(result, by_itself)
        if storage == "drained":  # its file is in the state of the first refusal
            check("did not close" in result.stderr and "by a sandbox" in result.stderr,
                  f"the reason is not told: {result}")
            return
        check("records were dropped" in result.stderr and "was refused, by a sandbox" in result.stderr,
              f"the reason is not told: {result}")
        info = Recording(folder / "data").info
        check_holds(info, "drops")
        causes = info["events"]["dropped_by_cause"]
        check_equal(sum(causes.values()), info["events"]["dropped"], "records dropped, by cause")
        check(causes.get("refused", 0) > 0, f"causes of drops: {causes}")
        check(info["messages"]["sent"] == 2 * MANY, f"counted: {info['messages']}")
        check(any("was refused, by a sandbox" in note for note in info["notes"]), f"{info['notes']}")


def cannot_allocate():
    """A file system, or a sandbox, without fallocate: writing allocates, too."""
    program = [PROGRAM, "fallocate", FEW, "before"]
    by_itself = alone(program, TRANSPORTS)
    with scratch() as folder:
        for options in ((), ("--max-log", "1M"), ("--no-helper",)):
            data = folder / "-".join(("data", *options))
            result = recorded(data, program, TRANSPORTS, *options)
            check_same(result, by_itself)
            check("warning" not in result.stderr, f"record warns: {result}")
            check_complete(Recording(data).info, layers=("uct", "ucp"), processes=1)


def killed(kind):
    program = [PROGRAM, kind, FEW]
    by_itself = alone(program, TRANSPORTS)
    with scratch() as folder:
        with_helper = recorded(folder / "helper", program, TRANSPORTS)
        check_equal(with_helper.status, 128 + SIGSYS, "what the helper's calls lead to")
        result = recorded(folder / "data", program, TRANSPORTS, "--no-helper")
        check_same(result, by_itself)
        check("warning" not in result.stderr, f"record warns: {result}")
        recording = Recording(folder / "data")
        check_complete(recording.info, layers=("uct", "ucp"), processes=1)
        check_equal(recording.info["messages"]["matched"], 2 * FEW, "messages")
        size = sum(log.stat().st_size for log in recording.logs)
        check(size < 8 << 20, f"what was not used is still there: {size} bytes")


def helper_is_killed():
    """Kills only the helper at one of its calls: nothing prepares memory any more."""
    program = [PROGRAM, "thread", MANY]
    by_itself = alone(program, TRANSPORTS)
    with scratch() as folder:
        result = recorded(folder / "data", program, TRANSPORTS)
        check_same(result, by_itself)
        check("uctrace's thread did not run for a second or more" in result.stderr,
              f"the reason is not told: {result}")
        causes = Recording(folder / "data").info["events"]["dropped_by_cause"]
        check(causes.get("helper_gone", 0) > 0, f"causes of drops: {causes}")


def threads_have_no_helper():
    """None of many threads that begin to record waits for a dead helper."""
    program = [PROGRAMS / "ucp_threads", "orphaned", 100, 4]
    by_itself = alone(program, TRANSPORTS)
    with scratch() as folder:
        check_same(recorded(folder / "data", program, TRANSPORTS), by_itself)
        causes = Recording(folder / "data").info["events"]["dropped_by_cause"]
        check(causes.get("helper_gone", 0) > 0, f"causes of drops: {causes}")


def goes_there_at_once():
    """The thread that prepared the log has made its last system call when the program goes on."""
    program = [need("taskset"), "-c", min(os.sched_getaffinity(0)), PROGRAM, "ends", FEW, "at-once"]
    alone(program, TRANSPORTS)
    with scratch() as folder:
        for i in range(5):
            result = recorded(folder / str(i), program, TRANSPORTS, "--no-helper")
            check_equal(result.status, 0, f"exit status: {result}")


def cannot_read_there(storage):
    """The counters of a log are read back when it ends; they are known without that, too."""
    program = [PROGRAM, "pread", FEWER]
    environment = TRANSPORTS | ({"UCTRACE_DRAIN": "1"} if storage == "drained" else {})
    by_itself = alone(program, environment)
    with scratch() as folder:
        result = recorded(folder / "data", program, environment)
        check_same(result, by_itself)
        check("warning" not in result.stderr, f"record warns: {result}")
        check_complete(Recording(folder / "data").info, layers=("uct", "ucp"), processes=1)


def cannot_wait(storage):
    """Neither futex nor sleep is allowed: the thread that makes the log must not spin on a core."""
    program = [PROGRAM, "waits", FEW]
    environment = TRANSPORTS | ({"UCTRACE_DRAIN": "1"} if storage == "drained" else {})
    by_itself = alone(program, environment)
    check("it rests" in by_itself.stdout, f"alone it does not rest: {by_itself}")
    with scratch() as folder:
        check_same(recorded(folder / "data", program, environment), by_itself)
        info = Recording(folder / "data").info
        if storage == "mapped":
            check_equal([p["exit"] for p in info["processes"]], ["exited"], "ends of processes")
            check_equal(info["messages"]["sent"], 2 * FEW, "messages counted")
            check_holds(info, "drops")


def newest_are_kept():
    """Without a helper a log of bounded size goes round as well, and all is accounted for."""
    program = [PROGRAM, "strict", MANY]
    alone(program, TRANSPORTS)
    with scratch() as folder:
        result = recorded(folder / "data", program, TRANSPORTS, "--no-helper", "--max-log", "1M")
        check_equal(result.status, 0, "exit status")
        info = Recording(folder / "data").info
        check(info["events"]["overwritten"] > 0, f"nothing gave way: {info['events']}")
        check_equal(info["events"]["dropped"], 0, "dropped records")
        check_holds(info, "events", "recorded_uct", "recorded_ucp", "drops")


def needs_a_mapping():
    program = [PROGRAM, "none", FEW]
    with scratch() as folder:
        environment = TRANSPORTS | {"UCTRACE_DRAIN": "1"}
        result = recorded(folder / "data", program, environment, "--no-helper")
        check_equal(result.status, 0, "exit status")
        check("with --no-helper a log needs a file system that it can be mapped on" in result.stderr,
              f"the reason is not told: {result}")
        info = Recording(folder / "data").info
        check_equal(info["messages"]["sent"], 2 * FEW, "messages counted")
        check(info["events"]["dropped"] > 2 * FEW, f"dropped: {info['events']}")


def mpi_job(name):
    mpi = MPIS[name]
    job = mpi.job("sandboxed_mpi", "kill", FEW)
    by_itself = alone(job, {})
    with scratch() as folder:
        result = recorded(folder / "data", job, {}, "--no-helper")
        check_equal(result.stdout, by_itself.stdout, "output of the job")
        check_equal(result.status, 0, "exit status")
        info = Recording(folder / "data").info
        check_complete(info, processes=mpi.ranks)
        check(info["events"]["mpi"] >= 2 * FEW * mpi.ranks, f"events: {info['events']}")


CASES = {"refused": refused, "fallocate": cannot_allocate, "killed": killed,
         "gone": helper_is_killed,
         "orphaned": threads_have_no_helper, "at-once": goes_there_at_once,
         "pread": cannot_read_there, "waits": cannot_wait, "bounded": newest_are_kept, "drained": needs_a_mapping, "mpi": mpi_job}
run_test(lambda case, *arguments: CASES[case](*arguments))
