"""A job that fails on one rank: its exit status is kept, everything sent until then is readable,
and the recording says that it is incomplete. Forking is not a fault: the recording is complete."""

from checks import (
    SENT_COLUMNS,
    check_complete,
    check_delivered,
    check_incomplete,
    check_messages_are,
    check_same_multiset,
    read_truth,
    sent_like,
)
from harness import check, check_equal, run, run_test, scratch
from launchers import tells_failures
from mpi_jobs import MPIS
from recordings import record

HARMLESS = ("none", "fork", "fork-mpi", "fork-exec", "commands", "interrupted")
RANK, MESSAGES = 1, 20


def check_all_until_the_fault(recording, truth):
    """Every message before the fault is there and was delivered. Tag 0 is used again after it."""
    truth = [row for row in truth if row["tag"] > 0]
    messages = [m for m in sent_like(truth, recording) if m["tag"] > 0]
    check_same_multiset(messages, truth, SENT_COLUMNS, "messages until the fault")
    check_delivered(messages)


def keeping_status(command, path):
    """The command, with its exit status written to `path` as well: what MPICH's launcher reports of
    a job that fails depends on which of its ranks it notices first."""
    script = 'status=$1; shift; "$@"; code=$?; echo $code > "$status"; exit $code'
    return ["sh", "-c", script, "sh", path, *command]


def fault_is_survived(mpi_name, action):
    mpi = MPIS[mpi_name]
    with scratch() as folder:
        alone = run(mpi.job("faults", action, RANK, MESSAGES))
        job = mpi.job("faults", action, RANK, MESSAGES, folder / "truth")
        result, recording = record(folder / "data", keeping_status(job, folder / "status"))
        truth = read_truth(folder / "truth", mpi)
        check_equal(result.status, int((folder / "status").read_text()), "exit status of record")
        if tells_failures(mpi_name):
            check_equal(result.status == 0, alone.status == 0, "success with and without the tool")
        if mpi_name == "ompi":
            check_equal(result.status, alone.status, "exit status with and without the tool")
        check_equal(len(recording.logs), mpi.ranks, "logs")
        check_equal(len(recording.info["processes"]), mpi.ranks, "processes")
        if action in HARMLESS:
            check_equal(result.stdout, alone.stdout, "output of the job")
            check_messages_are(recording, truth)
            check_complete(recording.info)
        else:
            check_incomplete(recording.info)
            check_all_until_the_fault(recording, truth)
            incomplete = [p for p in recording.info["processes"] if not p["complete"]]
            check(incomplete, "every process claims to be complete")


run_test(fault_is_survived)
