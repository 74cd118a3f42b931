"""A job that still runs can be merged and is marked incomplete; its folder is not taken away."""

from checks import check_complete, check_incomplete, check_messages_are, read_truth
from harness import (
    MPIS,
    Recording,
    check,
    check_equal,
    finish,
    record,
    record_command,
    run_test,
    scratch,
    started,
    wait_for,
)

def running_job_is_readable():
    mpi = MPIS["ompi"]
    with scratch() as folder:
        go = folder / "go"
        job = mpi.job("faults", f"hang-until:{go}", 1, 20, folder / "truth")
        with started(record_command(folder / "data", job)) as process:
            wait_for(folder / "go.ready")
            hanging = Recording(folder / "data")
            logs = hanging.logs
            check_equal(len(logs), mpi.ranks, "logs of the running job")
            check_incomplete(hanging.info)
            check(hanging.sent_by("MPI_Send"), "no message of the running job")
            record(folder / "data", ["true"])
            check(all(log.exists() for log in logs), "another record took the folder away")
            go.touch()
            check_equal(finish(process).status, 0, "exit status")
        ended = Recording(folder / "data")
        check_messages_are(ended, read_truth(folder / "truth", mpi))
        check_complete(ended.info, processes=mpi.ranks)


run_test(running_job_is_readable)
