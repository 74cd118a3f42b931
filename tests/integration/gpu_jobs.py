"""Jobs on virtual GPUs (tests/virtual-gpu), recorded over the UCX with hooks, which has CUDA: on this
machine, or on two hosts with GPUs of their own."""

import contextlib
import json
from dataclasses import replace

from checks import sent_like
from harness import PROGRAMS, VIRTUAL_DEVICES, VIRTUAL_GPUS, check, check_equal, cuda_ucx, run_well, scratch
from mpi_jobs import MPIS, OPEN_MPI_OVER_UCX, Mpi
from plain import pid_of
from recordings import Recording, record_command
from two_hosts import CABLE, HOSTS, LAUNCH_NETWORK, two_hosts

SHARED_MEMORY = "sysv,posix,cma,self"
# Without its hooks UCX asks the driver each time, and nothing reports frees.
UNHOOKED = {"UCX_MEMTYPE_CACHE": "n", "UCX_MEM_CUDA_HOOK_MODE": "none"}
# For programs that reuse addresses. UCX 1.18 would find the registration of freed memory, and end the
# process if that was another kind of memory.
UNREGISTERED = {**UNHOOKED, "UCX_RCACHE_ENABLE": "n"}
PROTOCOLS = {"v1": "n", "v2": "y"}
# From the programs' names of memory kinds to those of the store.
KINDS = {"device": "device", "pool": "pool", "vmm": "mapped", "managed": "managed"}


def gpu_environment(settings):
    """The environment of the ranks: the test's variables, and the path of the virtual GPUs."""
    return {"LD_LIBRARY_PATH": f"{VIRTUAL_GPUS}:{cuda_ucx()}/lib", **VIRTUAL_DEVICES, **settings}


class OneHost:
    def __init__(self, folder, name):
        self.folder, self.mpi = folder, MPIS[name]

    def recorded(self, program, *arguments, settings, ranks=2, switches=(), said=None):
        """`switches` are more options of `record`; its messages go into the list `said`."""
        mpi = replace(self.mpi, ranks=ranks)
        environment = gpu_environment(settings)
        if mpi.name == "ompi":
            exported = [word for name in environment for word in ("-x", name)]
            mpi = replace(mpi, transport_options=[*mpi.transport_options, *exported])
        command = mpi.job(program, *arguments)
        alone = run_well(command, env=environment)
        data = self.folder / "data"
        options = ["--ucx", cuda_ucx(), *switches]
        result = run_well(record_command(data, command, options), env=environment)
        check_same_output(result, alone)
        if said is not None:
            said += result.stderr.splitlines()
        return Recording(data)


class TwoHosts:
    """Four ranks: two on each host, and each on a GPU of its own there."""

    def __init__(self, folder, rig):
        self.folder, self.rig = folder, rig

    def recorded(self, program, *arguments, settings):
        environment = gpu_environment({"UCX_NET_DEVICES": CABLE, **settings})
        options = [
            *OPEN_MPI_OVER_UCX,
            *["--mca", "plm_rsh_agent", self.rig.agent, "--mca", "plm_rsh_no_tree_spawn", "1"],
            *["--mca", "oob_tcp_if_include", LAUNCH_NETWORK],
            *["-H", ",".join(f"{host}:2" for host in HOSTS)],
        ]
        for name, value in environment.items():
            options += ["-x", f"{name}={value}"]
        command = Mpi("ompi", "ompi", ["mpirun.openmpi"], 4, "-np", options).job(program, *arguments)
        alone = run_well(self.rig.on_login(command))
        data = self.folder / "data"
        result = run_well(self.rig.on_login(record_command(data, command, ["--ucx", cuda_ucx()])))
        check_equal(own_lines(result), own_lines(alone), "output of the job")
        return Recording(data)


def record_pair(folder, program, *arguments, settings, switches=()):
    """For a program of two processes without MPI; its truth is in folder/truth."""
    environment = gpu_environment(settings)
    command = [PROGRAMS / program, *arguments]
    alone = run_well(command, env=environment)
    command.append(folder / "truth")
    recorded = record_command(folder / "data", command, ["--ucx", cuda_ucx(), *switches])
    check_same_output(run_well(recorded, env=environment), alone)
    return Recording(folder / "data")


def own_lines(result):
    """What the job prints. UCX 1.13 may complain at the end about ranks that left before."""
    return [line for line in result.stdout.splitlines() if not line.startswith("[")]


def check_memory(recording, truth):
    """Each message is in the program's memory at both ends, by the name of the GPU rather than a
    rank's ordinal. Nothing is unknown, and the parts of its path are connected."""
    def name_of(message):
        return tuple(message[column] for column in ("src", "dst", "bytes", "tag", "function"))

    told = {name_of(row): row for row in truth}
    messages = sent_like(truth, recording)
    check_equal(len(messages), len(told), "messages whose memory is told")
    for message in messages:
        for end in ("src_memory", "dst_memory"):
            found = {key: message[end][key] for key in ("kind", "gpu")}
            check_equal(found, told[name_of(message)][end], f"{end} of {message}")
            check_equal(message[end]["bus"] is None, found["gpu"] is None, f"bus at {end} of {message}")
        check_way(message)


def check_messages_lie(recording, truth):
    """Like check_memory(), for tag messages between processes without ranks: `truth` has each end."""
    ends = {(row["pid"], row["function"], row["tag"]): row for row in truth}
    messages = [message for message in recording.messages if message["kind"] == "tag"]
    check_equal(2 * len(messages), len(ends), "ends of messages whose memory is told")
    for message in messages:
        tag = int(message["ucp_tag"], 16)
        for end, function in (("src", "ucp_tag_send_nbx"), ("dst", "ucp_tag_recv_nbx")):
            row = ends[pid_of(message[f"{end}_process"]), function, tag]
            found = message[f"{end}_memory"]
            check_equal((found["kind"], found["gpu"]), (row["memory"], row["gpu"]),
                        f"memory at {end} of {message}")
        check_way(message)


def check_way(message):
    """The first step leaves the source's memory, each step continues where the previous one ended,
    and the last one ends in the destination's memory. Copies on a side are between its GPU and the
    host."""
    def place(memory):
        return memory["kind"], memory["gpu"]

    steps = [step for step in message["path"] if step["role"] != "control"]
    hops = sorted({step["hop"] for step in steps})
    check_equal(hops, list(range(len(hops))), f"numbers of the steps of {message}")
    at = {place(message["src_memory"])}
    for hop in hops:
        of_hop = [step for step in steps if step["hop"] == hop]
        check_equal({place(step["from"]) for step in of_hop}, at, f"where hop {hop} begins in {message}")
        at = {place(step["to"]) for step in of_hop}
    check_equal(at, {place(message["dst_memory"])}, f"where the way ends of {message}")
    for step in steps:
        if step["role"] == "staging":
            end = step["to" if step["issued_by"] == "src" else "from"]
            check_equal(end["kind"], "host", f"memory that is copied to or from in {message}")


def check_gpus(recording, count):
    """The layer is complete: each used GPU is known, and the driver answered all questions."""
    gpus = recording.info["gpu"]
    check_equal(recording.info["layers"]["gpu"]["state"], "on", "layer gpu")
    devices = {(device["host"], device["uuid"], device["bus"]) for device in gpus["devices"]}
    check_equal(len(devices), len(gpus["devices"]), "devices that are told apart")
    check_equal(len(devices), count, "devices")
    check_equal(gpus["unanswered"], 0, "questions that the driver did not answer")
    check(gpus["queries"] > 0, "the driver was asked nothing")


# Rules of docs/findings.md that are about GPUs.
FINDINGS = {"staged-through-host", "memory-mistaken", "card-far-from-gpu"}
OF_THE_HOST = {"host", "pinned", "registered", "unknown"}


def lies_on_gpu(memory):
    return memory["kind"] not in OF_THE_HOST


def is_staged(message):
    """GPU memory at one end, and a copy between GPU and host memory on its way."""
    copies = [step for step in message["path"] if step["role"] == "staging"]
    ends = [message["src_memory"], message["dst_memory"]]
    return any(map(lies_on_gpu, ends)) and any(lies_on_gpu(c["from"]) != lies_on_gpu(c["to"]) for c in copies)


def check_findings(recording, *rules):
    """Of the findings about GPUs these are there and no others, and their numbers are those of what they are about."""
    result = recording.ask("report", "--findings", "--format", "json")
    check_equal(result.status, 0, f"{result}")
    found = {one["rule"]: one["evidence"] for one in json.loads(result.stdout)["findings"] if one["rule"] in FINDINGS}
    check_equal(set(found), set(rules), "findings about GPUs")
    staged = [message["bytes"] for message in recording.messages if is_staged(message)]
    disagreements = recording.info["gpu"]["disagreements"] if recording.info["gpu"] else []
    check_equal("staged-through-host" in found, sum(staged) > 0, "whether data of GPUs was staged")
    check_equal("memory-mistaken" in found, disagreements != [], "whether UCX took memory for another kind")
    if staged:
        told = found["staged-through-host"]
        check_equal((told["staged_messages"], told["staged_bytes"]), (len(staged), sum(staged)), "what was staged")
    if disagreements:
        check_equal([found["memory-mistaken"][name] for name in ("operations", "bytes")],
                    [sum(one[name] for one in disagreements) for name in ("operations", "bytes")], "what was mistaken")


@contextlib.contextmanager
def place(name):
    """Where jobs run: an MPI on this machine, or "two-hosts"."""
    with scratch() as folder:
        if name != "two-hosts":
            yield OneHost(folder, name)
            return
        with two_hosts(folder / "rig", own_boot_ids=True) as rig:
            yield TwoHosts(folder, rig)


def complaints_of_ucx(result):
    """Each kind once, without the time and the process."""
    return {line.split("]", 2)[-1] for line in result.stdout.splitlines() if line.startswith("[")}


def check_same_output(recorded, alone):
    """UCX 1.18 complains of virtual GPUs that it cannot map memory of, with uctrace as without."""
    check_equal(own_lines(recorded), own_lines(alone), "output of the job")
    check_equal(complaints_of_ucx(recorded), complaints_of_ucx(alone), "what UCX complains of")
