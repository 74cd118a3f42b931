"""Very many at once in one process: endpoints to 1,024 workers, 10^6 outstanding receives and
sends. Recorded with --never-drop nothing is lost; peers and matches are right."""

from checks import check_accounts, check_complete
from harness import PROGRAMS, check, check_equal, run_test, run_well, scratch
from recordings import record_well


def check_endpoints(recording, count):
    """Every message knows its peers, and each of its bytes the transfer that carried it."""
    check_complete(recording.info, layers=("uct", "ucp"), processes=1)
    tags = sorted(int(message["ucp_tag"], 16) for message in recording.messages)
    check_equal(tags, list(range(2 * count)), "tags of the messages")
    for message in recording.messages:
        check(message["src_process"], f"sender unknown: {message}")
        check_equal(message["src_process"], message["dst_process"], "process of both sides")


def check_outstanding(recording, count):
    info = recording.info
    check_accounts(info)
    check_complete(info, layers=("uct", "ucp"), processes=1)
    check_equal(info["messages"]["matched"], count + 1, "messages, with one to connect")
    check_equal(info["links"]["match"]["exact"], count + 1, "exact matches")


CASES = {
    "endpoints": (check_endpoints, {"UCX_TLS": "tcp"}),
    "outstanding": (check_outstanding, {"UCX_TLS": "posix"}),
}


def much_is_recorded(case, count):
    check_recording, environment = CASES[case]
    program = [PROGRAMS / "many_ucp", case, count]
    with scratch() as folder:
        alone = run_well(program, env=environment)
        result, recording = record_well(folder / "data", program, env=environment, switches=["--never-drop"])
        check_equal(result.stdout, alone.stdout, "output of the program")
        check_recording(recording, int(count))


run_test(much_is_recorded)
