"""Connections and operations that fail: data that arrived is a normal message; the rest is reported as
failed, with its status, and counts as no payload."""

import json

from checks import check_accounts, check_delivered, results_of
from harness import PROGRAMS, check, check_equal, run_test, run_well, scratch
from recordings import record_well
from scripted import check_recording_is, read_oracle

# The transport's script for the second half, and how many of its ten sends fail.
SCRIPTS = {
    "endpoint": ("am_zcopy:fail=2/3", 1),
    "first-fragments": ("am_bcopy:late am_zcopy:fail", 8),  # four of them have arrived all the same
    "far-endpoint": ("get_zcopy:fail/2", 4),
    "fetches": ("get_zcopy:error=2/2", 4),
    "short": ("am_short:error/4", 2),
    "all-short": ("am_short:fail", 6),
}
# Fragments of 8 KB by am_zcopy, which protocols v2 (UCX 1.18's default) send by other operations.
ENVIRONMENT = {"endpoint": {"UCX_PROTO_ENABLE": "n"}, "first-fragments": {"UCX_PROTO_ENABLE": "n"}}
OK = 0


def read_truth(result):
    """{tag: {what: row}} of the program's lines."""
    truth = {}
    for row in map(json.loads, result.stdout.splitlines()):
        if row["what"] in ("send", "receive"):
            truth.setdefault(row["tag"], {})[row["what"]] = row
    return truth


def arrived(ends):
    return ends["send"]["status"] == OK and ends["receive"]["status"] == OK


def failure_is_recorded(case):
    script, failed_sends = SCRIPTS[case]
    program = [PROGRAMS / "scripted_failure", script]
    with scratch() as folder:
        environment = {"UCX_TLS": "scripted", **ENVIRONMENT.get(case, {})}
        alone = run_well(program, env=environment)
        environment["SCRIPTED_TRANSPORT_ORACLE"] = str(folder / "oracle")
        result, recording = record_well(folder / "data", program, env=environment)
        check_equal(result.stdout, alone.stdout, "output of the program")
        check_recording_is(recording, read_oracle(folder))
        check_accounts(recording.info)
        check_equal(results_of(recording.info).get("violated", []), [], "violated identities")

        truth = read_truth(result)
        failed = [tag for tag, ends in truth.items() if ends["send"]["status"] != OK]
        check_equal(len(failed), failed_sends, f"sends that fail: {failed}")
        messages = {}
        for message in recording.messages:
            messages.setdefault(int(message["ucp_tag"], 16), []).append(message)
        for tag, ends in truth.items():
            if arrived(ends):
                (message,) = messages[tag]
                check_equal(message["bytes"], ends["send"]["bytes"], f"bytes of {message}")
                check_delivered([message])
            else:
                ok = [m for m in messages.get(tag, []) if m["status"] == "UCS_OK" and m["src_process"]]
                check(not ok, f"a message that failed is said to be well: {ok}")
        delivered = sum(ends["send"]["bytes"] for ends in truth.values() if arrived(ends))
        (payload,) = [i for i in recording.info["identities"] if i["name"] == "payload"]
        check_equal(payload["left"], delivered, "bytes of delivered messages")
        check_equal(payload["right"], delivered, "bytes that their operations carried")


run_test(failure_is_recorded)
