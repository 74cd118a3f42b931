"""A server and its clients without MPI: endpoints made by socket address find each other, and so do
those that UCP itself made for replies. A peer without a log is named."""

from checks import check_accounts, check_delivered, check_same_multiset, results_of
from harness import PROGRAMS, check, check_equal, run_test, run_well, scratch
from logs import Log
from plain import as_called, read_calls
from recordings import Recording, record_well

CLIENTS, CONNECTIONS = 3, 2
SETTINGS = {
    "sockets": ([], {}),
    "any-address": (["--listen", "any"], {}),
    "tcp": ([], {"UCX_TLS": "tcp,self"}),
    "protocols-v2": ([], {"UCX_PROTO_ENABLE": "y"}),
    "worker-address": (["--by-worker"], {}),
}


def check_peers(peers, by_worker):
    # Each connection has an endpoint at both ends; by worker address UCP itself made the server's.
    connections = CLIENTS * CONNECTIONS
    check_equal(peers["by_connection"], 0 if by_worker else 2 * connections, "by socket addresses")
    check_equal(peers["by_worker_address"], connections if by_worker else 0, "by worker address")
    # Nobody listens where each client tries to connect at last.
    check_equal(peers["unknown"], 0 if by_worker else CLIENTS, "endpoints that lead nowhere")


def is_complete(info, failed):
    """Complete except for the failing sends to nobody."""
    results = results_of(info)
    check_equal(set(results), {"holds"}, f"identities {results}")
    check_equal(info["faults"], [], "faults")
    check_accounts(info)
    check_equal(info["uct"]["unattributed"], 0, "unattributed UCT operations")
    for name, expected in (("unmatched", 0), ("ambiguous", 0), ("failed", failed)):
        check_equal(info["messages"][name], expected, f"{name} messages")
    check_equal(len(info["processes"]), 1 + CLIENTS, "processes")


def clients_are_known(setting):
    options, environment = SETTINGS[setting]
    by_worker = "--by-worker" in options
    program = PROGRAMS / "client_server"
    with scratch() as folder:
        alone = run_well([program, *options], env=environment)
        result, recording = record_well(
            folder / "data", [program, folder / "truth", *options], env=environment
        )
        check_equal(result.stdout, alone.stdout, "output of the program")
        failed = 0 if by_worker else CLIENTS
        is_complete(recording.info, failed)
        check_peers(recording.info["peers"], by_worker)

        truth = [row for row in read_calls(folder / "truth")]
        messages = [m for m in recording.messages if m["dst_process"] is not None]
        check_equal(len(recording.messages) - len(messages), failed, "messages to nobody")
        check_delivered(messages)
        check_same_multiset(
            map(as_called, messages), truth, ("kind", "by", "to", "bytes"), "messages"
        )
        for message in messages:
            check_equal(message["match"], "exact", f"match of {message}")


def a_stranger_is_named():
    """With one client's log removed, its messages have no partner, but still name the peer."""
    with scratch() as folder:
        _, recording = record_well(folder / "data", [PROGRAMS / "client_server"])
        max(recording.logs, key=lambda log: Log(log).pid).unlink()  # the server was there first
        rest = Recording(folder / "data")
        check_equal(len(rest.info["processes"]), CLIENTS, "processes")
        strangers = [s for s in rest.info["peers"]["strangers"] if s["peer"] is not None]
        check_equal(len(strangers), CONNECTIONS, f"strangers: {strangers}")
        for stranger in strangers:
            check(stranger["peer"].startswith("127.0.0.1:"), f"address of {stranger}")
            check(stranger["operations"] > 0, f"operations to {stranger}")
            check(
                any(stranger["peer"] in note for note in rest.info["notes"]),
                f"no note names {stranger}: {rest.info['notes']}",
            )
        check_equal(results_of(rest.info).get("violated", []), [], "violated identities")


def run_case(case):
    a_stranger_is_named() if case == "stranger" else clients_are_known(case)


run_test(run_case)
