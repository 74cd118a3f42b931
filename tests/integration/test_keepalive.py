"""UCX's own operations have a reason: keepalive checks, and discarding endpoints that are closed by
force, which is part of the program's close."""

from checks import check_complete
from harness import PROGRAMS, check, check_equal, run_test, run_well, scratch
from recordings import record_well
from scripted import LIBRARY

EXACT = 0  # log-merger/model/model.hpp
TRANSPORTS = {
    "tcp": {"UCX_TLS": "tcp,self"},
    "all": {},
    "scripted": {"UCX_TLS": "scripted", "LD_PRELOAD": str(LIBRARY)},
    "protocols-v2": {"UCX_TLS": "tcp,self", "UCX_PROTO_ENABLE": "y"},
}


def check_closed(recording):
    """Endpoints that UCX discards below belong to the call that closed the endpoint."""
    flushes = [row for row in recording.table("transfers") if row["op"] == "ep_flush"]
    check(len(flushes) >= 2, f"each side closed by force: {flushes}")
    for row in flushes:
        check(row["link"] == EXACT, f"nobody closed: {row}")


def reasons_of(folder, environment, *arguments):
    command = [PROGRAMS / "keepalive", *arguments]
    alone = run_well(command, env=environment)
    result, recording = record_well(folder, command, env=environment)
    check_equal(result.stdout, alone.stdout, "output of the program")
    check_complete(recording.info, layers=("uct", "ucp"), processes=2)
    check_closed(recording)
    return recording.info["uct"]["reasons"]


def keepalive_has_its_reason(transport):
    with scratch() as folder:
        environment = {**TRANSPORTS[transport], "UCX_KEEPALIVE_INTERVAL": "1ms"}
        reasons = reasons_of(folder / "often", environment)
        check(reasons["keepalive"] >= 10, f"UCX asked every millisecond: {reasons}")
        check_equal(reasons["direct_uct"], 0, "direct UCT")
        environment["UCX_KEEPALIVE_INTERVAL"] = "inf"
        reasons = reasons_of(folder / "never", environment, "0.01")
        check_equal(reasons["keepalive"], 0, "UCX did not ask")


run_test(keepalive_has_its_reason)
