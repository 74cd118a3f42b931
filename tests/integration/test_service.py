"""A service in Python that uses UCX through a plug-in and is killed: everything up to the kill is
recorded."""

import os
import signal
import sys

from checks import check_accounts, check_delivered, results_of
from harness import PROGRAMS, SOURCE_ROOT, check, check_equal, finish, run_test, scratch, started
from recordings import Recording, record_command

SERVICE = SOURCE_ROOT / "tests" / "programs" / "ucp_service.py"
TOLD = {"idle": 1, "busy": 50}  # how often it has told before it is killed


def killed_service(folder, how):
    """How many messages it said that it had sent."""
    command = [sys.executable, SERVICE, PROGRAMS / "ucp_plugin.so", how]
    with started(record_command(folder, command)) as job:
        service = int(job.stdout.readline())
        told = [int(job.stdout.readline()) for _ in range(TOLD[how])]
        os.kill(service, signal.SIGKILL)
        result = finish(job)
    check_equal(result.status, 128 + signal.SIGKILL, f"exit status: {result}")
    return told[-1]


def service_keeps_its_record(how):
    with scratch() as folder:
        told = killed_service(folder / "data", how)
        recording = Recording(folder / "data")
        info, messages = recording.info, recording.messages
        check_equal([process["exit"] for process in info["processes"]], ["killed"], "how it ended")
        check(not info["complete"], "a recording of a process that was killed is not complete")
        check_equal(results_of(info).get("violated", []), [], "violated identities")
        check_equal((info["faults"], info["events"]["dropped"]), ([], 0), "faults and dropped events")
        check_accounts(info)
        if how == "idle":
            check_equal(len(messages), told, "messages")
        # The kill may have come during the last one.
        check(len(messages) >= told, f"it had sent {told}: {len(messages)} messages")
        check_delivered(messages[: max(told, len(messages) - 1)])


run_test(service_keeps_its_record)
