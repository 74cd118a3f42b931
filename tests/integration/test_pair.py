"""The two processes of the programs without MPI: none outlives the failure of the other, which
would leave it polling for ever."""

import os
import select
import signal

from harness import PROGRAMS, check, check_equal, finish, run_test, scratch, started, wait_until

END_TIMEOUT_S = 30


def other_pid(folder, process):
    """The program's second process, once both write what they call."""
    pids = [int(path.name.split(".")[1]) for path in folder.glob("truth.*.jsonl")]
    return next((pid for pid in pids if pid != process.pid), None)


def pair_ends_together(killed):
    with scratch() as folder:
        program = [PROGRAMS / "plain_rma", folder / "truth"]
        with started(program, env={"UCX_TLS": "posix,self"}) as process:
            wait_until(lambda: other_pid(folder, process), "there is no second process")
            other = other_pid(folder, process)
            handle = os.pidfd_open(other)
            try:
                os.kill(other, signal.SIGSTOP)  # so that neither can come to its end
                os.kill(process.pid if killed == "first" else other, signal.SIGKILL)
                result = finish(process)
                ended, _, _ = select.select([handle], [], [], END_TIMEOUT_S)
                check(ended, "the second process goes on without the first")
            finally:
                try:
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                os.close(handle)
        check_equal(result.status, 137 if killed == "first" else 1, "status of the first process")


run_test(pair_ends_together)
