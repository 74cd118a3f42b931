"""What `record` says at the end of a job whose log lags behind it."""

import re
import signal

from harness import PROGRAMS, check, check_equal, run, run_test, scratch
from recordings import Recording, record_command

MESSAGES = 20_000


def of_a_killed_process():
    """A drained log: its page is up to half a second older than its records when the process is
    killed. The last line counts the records."""
    with scratch() as folder:
        program = [PROGRAMS / "sandboxed", "SIGKILL", MESSAGES]
        environment = {"UCX_TLS": "self", "UCTRACE_DRAIN": "1"}
        result = run(record_command(folder / "data", program), env=environment)
        check_equal(result.status, 128 + signal.SIGKILL, "exit status")
        check("did not close" in result.stderr, f"the log is open, and record does not say so: {result}")
        told = int(re.search(r"(\d+) events? of 1 process", result.stderr)[1])
        processes = Recording(folder / "data").info["processes"]
        check_equal(told, sum(process["events"] for process in processes), "events in the last line")
        check(told > MESSAGES, f"the log has next to nothing: {told}")


run_test(lambda case: {"drained": of_a_killed_process}[case]())
