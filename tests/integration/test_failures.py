"""Operations that fail, without MPI: cancelled, truncated, abandoned with their endpoint, or in
progress when the other process dies. They count as failed, never as traffic that arrived."""

from collections import Counter

from checks import check_accounts, results_of
from harness import PROGRAMS, check, check_equal, run_test, run_well, scratch
from recordings import record_well

# From 1.16 on UCX would send what is meant as a rendezvous at once.
QUIET = {"UCX_TLS": "tcp,self", "UCX_LOG_LEVEL": "fatal", "UCX_RNDV_THRESH": "100k"}
CONNECT, SHORT, NEVER, UNWANTED = range(4)  # tags of plain_failures.c
BYTES = 1 << 20


def failures_are_recorded(how):
    program = [PROGRAMS / "plain_failures", how]
    with scratch() as folder:
        alone = run_well(program, env=QUIET)
        result, recording = record_well(folder / "data", program, env=QUIET)
        check_equal(result.stdout, alone.stdout, "output of the program")

        info = recording.info
        results = results_of(info)
        check_equal(results.get("violated", []), [], "violated identities")
        check_accounts(info)
        exits = Counter(process["exit"] for process in info["processes"])
        check_equal(exits, Counter({"exited": 1, "killed": 1}), "how the processes ended")
        check(not info["complete"], "a recording of a process that was killed is not complete")

        of_tag = {}
        for message in recording.messages:
            of_tag.setdefault(int(message["ucp_tag"], 16), []).append(message)
        for message in of_tag[CONNECT]:
            check_equal(message["status"], "UCS_OK", f"status of {message}")
        check_equal(
            [message["status"] for message in of_tag[SHORT]],
            ["UCS_ERR_MESSAGE_TRUNCATED"],
            "status of what was truncated",
        )
        check_equal(len(of_tag[UNWANTED]), 4, "sends that failed")
        for message in of_tag[UNWANTED]:
            check(message["status"].startswith("UCS_ERR_"), f"not failed: {message}")
            check_equal(message["match"], "unmatched", f"match of {message}")
            if message["bytes"] == BYTES:
                carried = sum(hop["bytes"] for hop in message["path"])
                check_equal(carried, 0, f"payload that nobody fetched: {message}")
        failed = [
            row for row in recording.table("ucp_operations") if row["status"].startswith("UCS_ERR_")
        ]
        tags = Counter(row["tag"] for row in failed)
        check_equal(tags[NEVER], 1, "cancelled receives")
        check_equal(tags[UNWANTED], 4, "failed sends")
        # The cancelled receive, and the sends that were accepted; the truncated one took something.
        check(info["messages"]["failed"] >= 1 + 3, f"failed: {info['messages']}")


run_test(failures_are_recorded)
