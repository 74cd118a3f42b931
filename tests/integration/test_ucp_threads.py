"""Threads that use UCP at the same time, with a worker each or one for all, and short-lived
threads: every message of every thread is recorded and matched without doubt."""

from collections import Counter

from checks import check_complete, check_delivered
from harness import PROGRAMS, check_equal, run_test, run_well, scratch
from recordings import record_well

SHORT = 4  # messages of a short-lived thread
CASES = {"own": (8, 200), "shared": (8, 200), "short": (500, SHORT),
         "crowd": (300, 4)}


def threads_are_recorded(case):
    threads, messages = CASES[case]
    program = [PROGRAMS / "ucp_threads", case, threads, messages]
    with scratch() as folder:
        alone = run_well(program)
        result, recording = record_well(folder / "data", program)
        check_equal(result.stdout, alone.stdout, "output of the program")
        check_complete(recording.info, layers=("uct", "ucp"), processes=1)
        found = Counter(int(message["ucp_tag"], 16) for message in recording.messages)
        sent = [thread + 1 << 32 | i for thread in range(threads) for i in range(messages)]
        check_equal(found, Counter(sent), "tags of the messages")
        check_delivered(recording.messages)


run_test(threads_are_recorded)
