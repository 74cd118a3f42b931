"""The runs for the questions, each with known answers: from the design of the program, or from the truth of a
generated job. For each question there are runs with different answers."""

import json
import re
from dataclasses import dataclass, field, replace
from statistics import median_high, median_low

from harness import SOURCE_ROOT, check
from questions import bytes_text
from recordings import Recording, record_well
from stores import generate

KIB = 1024
HOSTS_OF_GENERATED = 2
# Makes UCX 1.16 and later choose like earlier versions.
PROTOCOLS_V1 = {"UCX_PROTO_ENABLE": "n"}


@dataclass
class Run:
    recording: Recording
    truth: object
    values: dict = field(default_factory=dict)  # for the words in capitals
    before: Recording = None  # the earlier run

    def words(self):
        words = {"RUN": self.recording.folder, **self.values}
        return {**words, "EARLIER": self.before.folder} if self.before else words


def recorded(folder, mpi, program, *arguments, ranks=2, **env):
    command = replace(mpi, ranks=ranks).job(program, *arguments)
    return record_well(folder, command, env={**PROTOCOLS_V1, **env})[1]


# --- generated jobs ------------------------------------------------------------------------------


class Generated:
    """A job of several hosts, and its messages from truth.json."""

    def __init__(self, folder, mpi, *options, processes=4):
        flavour = {"ompi": "openmpi"}.get(mpi.name, mpi.name)
        generate(folder, 4000, "--processes", processes, "--hosts", HOSTS_OF_GENERATED, "--mpi", flavour, "--truth", "full", *options)
        truth = json.loads((folder / "truth.json").read_text())
        self.recording = Recording(folder)
        self.host = {process["rank"]: process["host"] for process in truth["by_process"]}
        self.messages = [message for process in truth["by_process"] for message in process["messages"]]
        check(self.messages, "a job without messages says nothing")

    def between_hosts(self):
        return [m for m in self.messages if self.host[m["src"]] != self.host[m["dst"]]]

    def reach(self, message):
        src, dst = message["src"], message["dst"]
        return "process" if src == dst else "host" if self.host[src] == self.host[dst] else "network"

    def cards(self):
        """{(host, card): wire bytes} that left and reached each card."""
        sums = {}
        for message in self.between_hosts():
            for step in message["path"]:
                if step["role"] == "staging":
                    continue
                for rank in (message["src"], message["dst"]):
                    key = (self.host[rank], step["device"])
                    sums[key] = sums.get(key, 0) + step["wire_bytes"]
        return sums

    def transports(self):
        return tuple(sorted({step["transport"] for m in self.between_hosts() for step in m["path"] if step["role"] == "data"}))


def fabric_or_tcp(folder, mpi):
    for network in ("rc_mlx5", "tcp"):
        job = Generated(folder / network, mpi, "--network", network)
        payload = bytes_text(sum(message["bytes"] for message in job.between_hosts()))
        transports = job.transports()
        check(transports == (network,), f"the job is as asked for: {transports}")
        yield Run(job.recording, {"met": network == "rc_mlx5", "payload": payload, "transports": transports})


def shares_of_cards(folder, mpi):
    # The sum of two ranks' numbers selects the card: with three ranks on a host, neighbours use the second card.
    for processes in (4, 6):
        job = Generated(folder / str(processes), mpi, "--cards", 2, "--mix", "only,nonblocking=1", processes=processes)
        sums = job.cards()
        truth = {}
        for host in sorted(set(job.host.values())):
            of_host = {card: count for (where, card), count in sums.items() if where == host}
            most = max(of_host, key=of_host.get)
            truth[host] = (most, 100 * of_host[most] / sum(of_host.values()))
        yield Run(job.recording, truth)


def protocol_of_64k(folder, mpi):
    """Medians are known of generated jobs only."""
    for network in ("rc_mlx5", "tcp"):
        job = Generated(folder / network, mpi, "--network", network, "--sizes", "65536:65536", "--mix", "only,nonblocking=1")
        times = {}
        for m in job.messages:
            within = f"{m['protocol']} within {job.reach(m)}"
            for name in (m["protocol"], within):
                times.setdefault(name, []).append(max(0, m["t_end_ns"] - max(m["t_start_ns"], m["t_posted_recv_ns"])))
        yield Run(job.recording, {name: (len(ns), median_low(ns), median_high(ns)) for name, ns in times.items()})
    for name, threshold, begin in (("eager", "1m", "eager/"), ("rndv", "1k", "rndv/")):
        recording = recorded(folder / name, mpi, "phases", "network", 10, f"{64 * KIB},100", UCX_RNDV_THRESH=threshold)
        yield Run(recording, {begin: (20, None, None)})


def one_message(folder, mpi):
    for name, options in (("get", ()), ("tcp", ("--network", "tcp")), ("short", ("--sizes", "0:64"))):
        job = Generated(folder / name, mpi, *options, "--mix", "only,nonblocking=1")
        largest = max(m["bytes"] for m in job.messages)
        protocol = next(m["protocol"] for m in job.messages if m["bytes"] == largest)
        yield Run(job.recording, job.messages, {"PROTOCOL": protocol})
    for name, transports, threshold in (("posix", "posix,self", "1m"), ("sysv", "sysv,self", "1m")):
        recording = recorded(folder / name, mpi, "phases", "network", 2, f"{64 * KIB},100", UCX_TLS=transports, UCX_RNDV_THRESH=threshold)
        yield Run(recording, f"{name}/memory", {"PROTOCOL": "eager"})


# --- jobs of programs ----------------------------------------------------------------------------


def settings_of_ranks(folder, mpi):
    """One rank has a different setting, from a shell between launcher and program; or all have the same."""
    ranks = 2
    *launcher, program = replace(mpi, ranks=ranks).job("allreduce", 10)[:-1]
    rank = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
    for name, of, value in (("UCX_ZCOPY_THRESH", 1, "1234567"), ("UCX_RNDV_THRESH", 0, "7654321")):
        script = f'[ "{rank}" != {of} ] || export {name}={value}; exec "$0" 10'
        _, recording = record_well(folder / name, [*launcher, "sh", "-c", script, program], env={"UCX_TLS": "sm,self"})
        yield Run(recording, [(f"{name}={value}", f"rank {of}")])
    yield Run(recorded(folder / "same", mpi, "allreduce", 10, UCX_ZCOPY_THRESH="1234567"), [])


def switch_of_protocols(folder, mpi):
    """The program sends 0, 16, 256, 4096 and 65536 B: the classes of sizes on both sides of the switch."""
    for threshold, last, first in ((1 * KIB, 256, 4 * KIB), (16 * KIB, 4 * KIB, 64 * KIB)):
        recording = recorded(folder / str(threshold), mpi, "patterns", "ring", UCX_RNDV_THRESH=str(threshold))
        yield Run(recording, (last, first))


def line_of(program, function, call):
    """Of the last such call in a function of a test program, counted from 1."""
    lines = (SOURCE_ROOT / "tests" / "programs" / f"{program}.c").read_text().splitlines()
    begin = next(i for i, line in enumerate(lines) if re.match(rf"static void {function}\(.*\{{", line))
    end = next(i for i in range(begin, len(lines)) if lines[i] == "}")
    return [f"{function} ({program}.c:{i + 1})" for i in range(begin, end) if f"{call}(" in lines[i]]


def late_rank(folder, mpi):
    """In `waits ring` the middle rank computes longest; in `phases barrier` the first rank."""
    ring = recorded(folder / "ring", mpi, "waits", "ring", ranks=4)
    yield Run(ring, {"late": "2", "sites": line_of("waits", "ring", "MPI_Isend"), "waiting": line_of("waits", "ring", "MPI_Waitall")})
    barrier = recorded(folder / "barrier", mpi, "phases", "root", 10, "20000,1000", ranks=3)
    yield Run(barrier, {"late": "0", "sites": line_of("phases", "root", "MPI_Bcast") + line_of("phases", "root", "MPI_Recv"),
                        "waiting": line_of("phases", "root", "MPI_Bcast")})


def talking_ranks(folder, mpi):
    """Each rank exchanges MUCH blocks of 1 MiB with the rank half of all away, and LESS with its neighbour."""
    for much, less in ((6, 1), (1, 5)):
        recording = recorded(folder / f"{much}-{less}", mpi, "partners", much, less, ranks=4)
        pairs = [("0", "2"), ("1", "3")] if much > less else [("0", "1"), ("2", "3")]
        blocks = max(much, less)
        truth = {pair: (str(blocks), blocks * KIB**2) for a, b in pairs for pair in ((a, b), (b, a))}
        yield Run(recording, truth)


def changes(folder, mpi):
    """Another transport; more data; and the same job again."""

    def network(name, size, transport):
        return recorded(folder / name, mpi, "phases", "network", 12, f"{size},3000", UCX_TLS=f"{transport},self", UCX_RNDV_THRESH="1m")

    before = network("before", 64 * KIB, "sysv")
    payload, double = 24 * 64 * KIB, 24 * 128 * KIB
    yield Run(network("posix", 64 * KIB, "posix"),
              {"settings": [("UCX_TLS", "sysv,self", "posix,self")],
               "changes": {"transport posix: payload": (0, payload), "transport sysv: payload": (payload, 0)}},
              before=before)
    yield Run(network("double", 128 * KIB, "sysv"),
              {"settings": [], "changes": {"transport sysv: payload": (payload, double)}}, before=before)
    same = [Generated(folder / name, mpi).recording for name in ("one", "other")]
    yield Run(same[1], {"settings": [], "changes": {}}, before=same[0])


RUNS = {1: fabric_or_tcp, 2: shares_of_cards, 3: settings_of_ranks, 4: protocol_of_64k, 5: switch_of_protocols,
        6: one_message, 7: late_rank, 8: talking_ranks, 9: changes}
