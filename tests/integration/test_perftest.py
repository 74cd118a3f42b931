"""ucx_perftest as server and client, over UCP and over UCT directly: every operation is counted,
messages are matched between the two, and direct use of UCT is labelled as such."""

import os
import socket
from pathlib import Path

from checks import check_accounts, results_of
from harness import Failure, check, check_equal, need, run_well, run_test, scratch
from recordings import Recording, record_command

ITERATIONS = 300
UCP = {
    "tag_lat": "tag",
    "tag_bw": "tag",
    "ucp_am_bw": "am",
    "ucp_put_lat": "put",
    "ucp_get": "get",
    "ucp_fadd": "atomic",
    "ucp_cswap": "atomic",
}
UCT = [
    *(("am_lat", "tcp", "lo", size) for size in ("short", "bcopy", "zcopy")),
    *((test, "posix", "memory", "short") for test in ("am_lat", "put_lat")),
    ("am_bw", "sysv", "memory", "bcopy"),
    ("fadd", "posix", "memory", "short"),
    ("put_bw", "cma", "memory", "zcopy"),
]

# UCX's asynchronous progress: in its own thread, or in a signal handler.
ASYNC_MODES = ("thread_mutex", "signal")


def free_port():
    """A port below the kernel's ephemeral range: connections of other tests cannot take it before
    the server does."""
    lowest = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    start = 10000 + os.getpid() % 10000
    for port in [*range(start, lowest), *range(10000, start)]:
        with socket.socket() as probe:
            try:
                # Without SO_REUSEADDR, as the server binds.
                probe.bind(("0.0.0.0", port))
                return port
            except OSError:
                continue
    raise Failure(f"no port below {lowest} is free")


def is_of_mpi(perftest):
    """Whether it was built to be an MPI program as well. It then calls MPI_Init in any case."""
    return "libmpi" in run_well(["ldd", perftest]).stdout


def run_pair(folder, options):
    """Records server and client as one job."""
    port = free_port()
    perftest = [need("ucx_perftest"), "-p", str(port), "-n", str(ITERATIONS), "-w", "10", *options]
    if is_of_mpi(perftest[0]):
        perftest += ["-P", "0"]  # else it takes itself for a job of one rank
    # Both under one record; the client begins once the server listens.
    script = folder / "pair.sh"
    script.write_text(
        '"$@" & server=$!\n'
        f"until grep -q ':{port:04X} 00000000:0000 0A' /proc/net/tcp; do\n"
        "  kill -0 $server || exit 9\n"
        "done\n"
        '"$@" 127.0.0.1 || exit $?\n'
        "wait $server\n"
    )
    command = record_command(folder / "data", ["sh", script, *perftest])
    result = run_well(command)
    check("Final:" in result.stdout, f"no result: {result}")
    return Recording(folder / "data")


def is_consistent(recording):
    info = recording.info
    check_equal(set(results_of(info)), {"holds"}, f"identities {results_of(info)}")
    check_accounts(info)
    check_equal(info["faults"], [], "faults")
    check_equal(len(info["processes"]), 2, "processes")
    check_equal(info["uct"]["unattributed_with_payload"], 0, "unattributed with payload")


def ucp_is_recorded():
    for test, kind in UCP.items():
        with scratch() as folder:
            recording = run_pair(folder, ["-t", test, "-s", "8"])
            is_consistent(recording)
            info = recording.info
            check_equal(info["uct"]["reasons"]["direct_uct"], 0, f"direct use of UCT by {test}")
            count = info["messages"]["kinds"][kind]["messages"]
            check(count >= ITERATIONS, f"{test}: only {count} messages of kind {kind}")
            for name in ("unmatched", "ambiguous", "failed"):
                check_equal(info["messages"][name], 0, f"{name} messages of {test}")


def uct_is_recorded():
    for test, transport, device, size in UCT:
        with scratch() as folder:
            layout = ["-D", size, "-s", "8" if size == "short" else "4096"]
            recording = run_pair(folder, ["-t", test, "-x", transport, "-d", device, *layout])
            is_consistent(recording)
            uct = recording.info["uct"]
            check(
                uct["reasons"]["direct_uct"] >= ITERATIONS,
                f"{test} over {transport}: {uct['reasons']}",
            )
            check_equal(uct["reasons"]["direct_uct"], uct["posted_ok"], f"all of {test} is its own")
            used = {row["transport"] for row in recording.table("transfers")}
            check_equal(used, {transport}, f"transports of {test}")


def async_modes_are_recorded():
    """The connection comes up in UCX's thread or signal handler, and so do our hooks."""
    for mode in ASYNC_MODES:
        with scratch() as folder:
            layout = ["-D", "bcopy", "-s", "4096", "-A", mode]
            recording = run_pair(folder, ["-t", "am_lat", "-x", "tcp", "-d", "lo", *layout])
            is_consistent(recording)
            uct = recording.info["uct"]
            check(uct["reasons"]["direct_uct"] >= ITERATIONS, f"{mode}: {uct['reasons']}")
            check_equal(uct["reasons"]["direct_uct"], uct["posted_ok"], f"all of {mode} is its own")


KINDS = {"ucp": ucp_is_recorded, "uct": uct_is_recorded, "async": async_modes_are_recorded}


def run_kind(kind):
    KINDS[kind]()


run_test(run_kind)
