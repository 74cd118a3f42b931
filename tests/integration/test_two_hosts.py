"""Jobs on two hosts, started there with an empty environment: each message matches what the ranks
report, hosts, processes and clocks are distinguished, and the bytes handed to the tcp transport equal
those that the kernel counted on its device.

Of Open MPI only: MPICH's jobs over tcp hang in MPI_Finalize now and then, with uctrace and without."""

import json
import time
from collections import Counter

from checks import check_complete, check_copies, check_messages_are, read_truth
from harness import PROGRAMS, check, check_equal, run, run_test, run_well, scratch, ucx_version
from launchers import launcher_version
from page import data_of
from recordings import Recording, record_command
from two_host_jobs import open_mpi
from two_hosts import AHEAD_S, CABLE, HOSTS, two_hosts

SECOND_NS = 10**9
FIRST_PID = 3000
INSIDE = {"self", "sysv", "posix", "cma"}

# What a packet has in front of the bytes of a TCP connection: Ethernet, IPv4, TCP with timestamps.
PACKET_HEADER_BYTES = 14 + 20 + 20 + 12
# What UCX's tcp transport puts in front of an operation (uct_tcp_am_hdr_t, uct_tcp_ep_put_req_hdr_t).
AM_HEADER_BYTES = 5
PUT_HEADER_BYTES = AM_HEADER_BYTES + 20


def host_of(info):
    return {process["key"]: process["host"] for process in info["processes"]}


def check_paths(recording):
    """Inside a host through its memory, between the hosts over the cable."""
    hosts = host_of(recording.info)
    ways = Counter()
    for message in recording.messages:
        ends = {hosts[message["src_process"]], hosts[message["dst_process"]]}
        for step in message["path"]:
            if len(ends) == 1:
                check(step["transport"] in INSIDE, f"not inside {ends}: {message}")
            else:
                way = (step["transport"], step["device"], step["remote_device"])
                check_equal(way, ("tcp", CABLE, CABLE), f"between hosts: {message}")
            ways[len(ends)] += 1
    check(ways[2] > 0, "no message went from host to host")
    return ways


def check_hosts_are_named(recording, ranks_of):
    """`ranks_of` is {host: [rank]}."""
    info = recording.info
    check_equal(info["hosts"], list(HOSTS), "hosts of info")
    host_of_rank = {rank: host for host, ranks in ranks_of.items() for rank in ranks}
    found = {process["rank"]: process["host"] for process in info["processes"]}
    check_equal(found, host_of_rank, "hosts of the processes")

    report = json.loads(recording.ask("report", "--format", "json").stdout)
    for pair in report["pairs"]:
        named = (pair["src_host"], pair["dst_host"])
        ranks = (int(pair["src"]), int(pair["dst"]))
        check_equal(named, tuple(host_of_rank[rank] for rank in ranks), f"hosts of {pair}")
    between = recording.ask("messages", "--format", "json", "--src-host=node1", "--dst-host=node2")
    expected = [
        message
        for message in recording.messages
        if (host_of_rank[message["src"]], host_of_rank[message["dst"]]) == HOSTS
    ]
    check_equal(json.loads(between.stdout)["messages"], expected, "messages chosen by their hosts")

    page = recording.folder / "page.html"
    written = recording.ask("view", "-o", page)
    check_equal(written.status, 0, f"status of view: {written}")
    shown = {process["rank"]: process["host"] for process in data_of(page.read_text())["processes"]}
    check_equal(shown, host_of_rank, "hosts on the page")


def check_clocks(recording):
    """The monotonic clocks of the hosts are far apart, and were measured against each other."""
    clock = recording.info["clock"]
    check_equal(clock["hosts_aligned_by"], "measured", "what joins the clocks")
    by = {host["host"]: host["by"] for host in clock["hosts"]}
    check_equal(by, {"node1": "same clock", "node2": "measured"}, "what places the hosts")
    check(0 < clock["max_error_ns"] < SECOND_NS / 1000, f"error bound: {clock}")
    check_equal(clock["violations"], 0, f"messages that were received before they were sent: {clock}")
    check_equal(clock["disagreements"], [], "clocks of one host that disagree")
    check(recording.info["messages"]["tool"] > 100, "the tool's own messages")
    for message in recording.messages:
        error = message["t_error_ns"]
        check(0 <= error <= 2 * clock["max_error_ns"] + 1, f"error of the times of {message}")
    return clock


def check_equal_pids(recording):
    """Each host counts its processes for itself: a pid names two of them."""
    processes = recording.info["processes"]
    pids = sorted((process["host"], process["pid"]) for process in processes)
    expected = [(host, FIRST_PID + local) for host in HOSTS for local in range(2)]
    check_equal(pids, expected, "process ids")
    check_equal(len({process["key"] for process in processes}), 4, "keys of the processes")


def own_lines(result):
    """What the job prints. UCX 1.13 may complain at the end about ranks that left before."""
    return [line for line in result.stdout.splitlines() if not line.startswith("[")]


def check_peers(recording):
    """Each UCT operation has the correct peer, also where both hosts number their processes, ports and
    segments alike."""
    hosts = [process["host"] for process in recording.table("processes")]
    for transfer in recording.table("transfers"):
        peer = transfer["peer_process"]
        check(peer >= 0, f"nobody at the other end: {transfer}")
        inside = hosts[transfer["process"]] == hosts[peer]
        check_equal(inside, transfer["transport"] in INSIDE, f"where the peer of {transfer} is")
        if transfer["transport"] == "self":
            check_equal(peer, transfer["process"], f"peer of {transfer}")


def recorded(rig, folder, mpi, program, *arguments):
    """Records a job from login, whose output must be that of the job alone."""
    command = mpi.job(program, *arguments)
    alone = run_well(rig.on_login(command))
    result = run_well(rig.on_login(record_command(folder, command)))
    check_equal(own_lines(result), own_lines(alone), "output of the job")
    check("warning" not in result.stderr, f"record warns: {result}")
    return Recording(folder)


def open_mpi_job(rig, folder):
    mpi = open_mpi(rig)
    truth = folder / "truth"
    program = [FIRST_PID, PROGRAMS / "exchange.ompi", truth]
    recording = recorded(rig, folder / "data", mpi, PROGRAMS / "at_pid", *program)
    check_messages_are(recording, read_truth(truth, mpi))
    check_complete(recording.info, processes=mpi.ranks)
    check_equal(check_paths(recording)[1] > 0, True, "messages inside a host")
    check_hosts_are_named(recording, {"node1": [0, 1], "node2": [2, 3]})
    check_equal_pids(recording)
    check_peers(recording)
    check_clocks(recording)


def one_sided_job(rig, folder):
    """Windows on two hosts: over the cable the targets' CPUs serve puts, gets and atomics."""
    mpi = open_mpi(rig)
    truth = folder / "truth"
    recording = recorded(rig, folder / "data", mpi, "rma", truth)
    check_copies(recording, read_truth(truth, mpi))
    check_complete(recording.info, processes=mpi.ranks)
    check_paths(recording)


def handed_to_tcp(recording, host):
    """{kind of operation: (operations, bytes)} that UCT took over for the cable on a host."""
    hosts = [process["host"] for process in recording.table("processes")]
    operations, amounts = Counter(), Counter()
    for transfer in recording.table("transfers"):
        if transfer["transport"] != "tcp" or hosts[transfer["process"]] != host:
            continue
        check_equal(transfer["device"], CABLE, "device of the tcp transport")
        check(transfer["status"] >= 0, f"refused, but a transfer: {transfer}")
        kind = transfer["op"].partition("_")[0]
        if transfer["wire_bytes"] > 0:
            check(kind in ("am", "put"), f"the tcp transport has no {transfer['op']}")
            operations[kind] += 1
            amounts[kind] += transfer["wire_bytes"]
    return operations, amounts


def not_accounted_for(rig, folder, *options):
    """[part of what the kernel sent that the record does not explain], by host: what the device sent
    should be what UCT was handed, with the headers of UCX's tcp transport in front of each operation
    and those of the network in front of each packet."""
    mpi = open_mpi(rig)
    *launcher, program = mpi.job("large")
    before = {host: rig.counters(host) for host in HOSTS}
    run_well(rig.on_login(record_command(folder, [*launcher, *options, program])))
    counted = {host: rig.counters(host) - before[host] for host in HOSTS}
    recording = Recording(folder)
    parts = []
    for host, other in (HOSTS, HOSTS[::-1]):
        operations, amounts = handed_to_tcp(recording, host)
        kernel = counted[host]
        # Requirements on the cable: no packets are lost, and nothing else uses it.
        arrived = (counted[other].received_bytes, counted[other].received_packets)
        check_equal(arrived, (kernel.sent_bytes, kernel.sent_packets), f"what {other} got")
        least = 16 << 20 if launcher_version("ompi") >= (5, 0) else 20 << 20  # its collectives send less
        check(kernel.sent_bytes > least, f"too little to compare: {kernel}")
        accounted = (
            amounts.total()
            + AM_HEADER_BYTES * operations["am"]
            + PUT_HEADER_BYTES * operations["put"]
            + PACKET_HEADER_BYTES * kernel.sent_packets
        )
        off = kernel.sent_bytes - accounted
        parts.append(off / kernel.sent_bytes)
        print(
            f"{host}: the kernel sent {kernel.sent_bytes} B in {kernel.sent_packets} packets, UCT was "
            f"handed {amounts.total()} B in {operations.total()} operations; with headers "
            f"{accounted} B: {off} B ({100 * parts[-1]:.4f} %) are not accounted for"
        )
    return recording, parts


def bytes_are_the_kernels(rig, folder):
    recording, parts = not_accounted_for(rig, folder / "data")
    check_complete(recording.info, processes=4)
    check(all(abs(part) < 0.01 for part in parts), f"parts not accounted for: {parts}")
    # The same for a recording without one hook. Later protocols put nothing over tcp.
    hook = "ep_am_zcopy" if ucx_version() >= (1, 18) else "ep_put_zcopy"
    _, parts = not_accounted_for(rig, folder / "cut", "-x", f"UCTRACE_LEAVE_OUT={hook}")
    check(all(part > 0.1 for part in parts), f"what is left out is not missed: {parts}")


# --- clocks --------------------------------------------------------------------------------------


def truth_of_clocks(prefix, ranks):
    """{rank: [(call, before, after)]}"""
    truth = {rank: [] for rank in range(ranks)}
    for path in prefix.parent.glob(f"{prefix.name}.*.jsonl"):
        for line in path.read_text().splitlines():
            row = json.loads(line)
            truth[row["rank"]].append((row["call"], row["before"], row["after"]))
    check(all(truth.values()), f"the program left no truth at {prefix}")
    return truth


def ahead_of_the_wall(recording, truth):
    """{rank: [(wall clock, at least, at most)]}: how far the times that uctrace reports for a rank's
    calls are ahead of the wall clock that the rank read around them."""
    ranks = [process["rank"] for process in recording.table("processes")]
    calls = {rank: [] for rank in truth}
    for call in recording.table("mpi_calls"):
        if call["function"] == "MPI_Iprobe":
            calls[ranks[call["process"]]].append((call["t_start_ns"], call["t_end_ns"]))
    ahead = {}
    for rank, rows in truth.items():
        times = sorted(calls[rank])
        ahead[rank] = [(before, times[i][1] - after, times[i][0] - before) for i, before, after in rows]
    return ahead


def check_against_the_wall(recording, truth):
    """The difference between any rank and rank 0 is within the bound. They share one wall clock, so that
    its adjustments affect both: rounds of the same time are compared. Returns the largest difference."""
    ahead = ahead_of_the_wall(recording, truth)
    limit = 2 * recording.info["clock"]["max_error_ns"]
    off = 0
    for rank, rows in ahead.items():
        for wall, least, most in rows:
            _, least_0, most_0 = min(ahead[0], key=lambda row: abs(row[0] - wall))
            beyond = max(least - most_0, least_0 - most)  # <= 0: they may be equal
            off = max(off, beyond)
            check(beyond <= limit, f"rank {rank} is {beyond} ns off rank 0, more than {limit} ns")
    return off


def clocks_job(rig, folder, seconds, launcher_options, wrapper=()):
    mpi = open_mpi(rig)
    truth = folder / "truth"
    launcher = [*mpi.job("clocks")[:-1], *launcher_options, *wrapper]
    command = [*launcher, PROGRAMS / "clocks.ompi", truth, seconds]
    run_well(rig.on_login(record_command(folder / "data", command)))
    recording = Recording(folder / "data")
    check_complete(recording.info, processes=mpi.ranks)
    return recording, truth_of_clocks(truth, mpi.ranks)


def clocks_are_placed(rig, folder):
    recording, truth = clocks_job(rig, folder, 3, [])
    clock = check_clocks(recording)
    off = check_against_the_wall(recording, truth)
    apart = (AHEAD_S["node2"] - AHEAD_S["node1"]) * SECOND_NS
    node2 = next(host for host in clock["hosts"] if host["host"] == "node2")
    difference = node2["offset_ns"] + apart
    check(abs(difference) < SECOND_NS / 1000, f"the offset of node2 is {difference} ns wrong")
    print(f"error {clock['max_error_ns']:.0f} ns, seen {off} ns: {clock['hosts']}")

    # Not measured: no error bound is given, and the clocks are joined by the wall clock, which here is
    # shared.
    recording, truth = clocks_job(rig, folder, 3, ["-x", "UCTRACE_CLOCK=off"])
    clock = recording.info["clock"]
    check_equal(clock["hosts_aligned_by"], "wall clock", "what joins the clocks")
    check_equal(clock["max_error_ns"], None, "error bound")
    why = {host["host"]: host.get("why", "") for host in clock["hosts"]}
    check("UCTRACE_CLOCK is off" in why["node2"], f"why it was not measured: {why}")
    check_equal(recording.info["messages"]["tool"], 0, "the tool's own messages")
    starts = [call["t_start_ns"] for call in recording.table("mpi_calls")]
    check(max(starts) - min(starts) < apart / 2, "a host's clock is taken for another's")
    errors = {message["t_error_ns"] is None for message in recording.messages
              if {message["src"] // 2, message["dst"] // 2} == {0, 1}}
    check_equal(errors, {True}, "whether the error between the hosts is not known")


DRIFT_PPM = 60
# A drift is reported only where the run is long compared with the errors of its measurements, which grow
# with the load of the machine: 0.3 ms for the first, 2.4 ms for the last.
DRIFT_SECONDS = (3, 6, 12, 24)
DRIFTS = f'[ "$(hostname)" = node1 ] || export UCTRACE_TEST_CLOCK={DRIFT_PPM}; exec "$@"'


def clocks_drift(rig, folder):
    """The clock of node2 runs too fast: during the run by more than the error may be."""
    for seconds in DRIFT_SECONDS:
        own = folder / f"{seconds}-seconds"
        own.mkdir()
        recording, truth = clocks_job(rig, own, seconds, [], ["sh", "-c", DRIFTS, "sh"])
        clock = check_clocks(recording)
        off = check_against_the_wall(recording, truth)
        node2 = next(host for host in clock["hosts"] if host["host"] == "node2")
        if node2["drift_ppm"] is not None:
            break
    print(f"error {clock['max_error_ns']:.0f} ns, seen {off} ns: {node2}")
    check(node2["drift_ppm"] is not None, f"no drift is told: {node2}")
    check_equal(node2["measurements"], 2, "measurements, at the start and at the end")
    # Each of the two measurements may be off by the stated error, which is larger on a busy machine.
    allowed_ppm = 2 * node2["error_ns"] / (seconds * 1e9) * 1e6
    check(abs(node2["drift_ppm"] + DRIFT_PPM) < allowed_ppm, f"drift of node2: {node2}, {allowed_ppm} ppm")


def one_rank_leaves(rig, folder):
    """A rank that exits without MPI_Finalize: the others do not wait long for its clock measurement."""
    mpi = open_mpi(rig)
    command = [*mpi.job("clocks", folder / "truth", 1), "exit"]
    begin = time.monotonic()
    alone = run(rig.on_login(command))
    middle = time.monotonic()
    recorded = run(rig.on_login(record_command(folder / "data", command)))
    end = time.monotonic()
    check_equal(recorded.status, alone.status, f"exit status: {recorded}")
    check_equal("done" in recorded.stdout, "done" in alone.stdout, f"output: {recorded}")
    print(f"{middle - begin:.1f} s alone, {end - middle:.1f} s recorded, status {alone.status}")
    check(end - middle < middle - begin + 4, f"it took {end - middle} s, alone {middle - begin} s")
    check(Recording(folder / "data").info["processes"], "no process was recorded")


CASES = {
    "ompi": open_mpi_job,
    "rma": one_sided_job,
    "tcp-bytes": bytes_are_the_kernels,
    "clocks": clocks_are_placed,
    "drift": clocks_drift,
    "exit": one_rank_leaves,
}


def on_two_hosts(case):
    with scratch() as folder, two_hosts(folder / "rig") as rig:
        CASES[case](rig, folder)


run_test(on_two_hosts)
