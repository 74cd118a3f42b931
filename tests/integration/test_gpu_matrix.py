"""GPUs and network cards: bytes between them equal those of the messages, and distances come from the
node's topology, which is taken once per node by a separate program that nobody notices.

    test_gpu_matrix.py CASE"""

import json
import os
from collections import Counter
from pathlib import Path

from gpu_jobs import SHARED_MEMORY, check_findings, check_gpus, place
from harness import (PROGRAMS, VIRTUAL_GPUS, WITHOUT_GPU_MODULES, check, check_equal, run_test, run_well, scratch,
                     wait_until)
from node_xml import CARD_BUS, FROM_CARD, NUMA_NODES, node_xml
from recordings import Recording, record_command
from two_hosts import CABLE

COLUMNS = ("out_operations", "out_bytes", "in_operations", "in_bytes", "out_staged_bytes", "in_staged_bytes")


def topologies(recording):
    return sorted(recording.folder.glob("*.topology.xml*"))


def wait_for_topologies(recording, count):
    """The job may end before the program that looks at the node."""
    wait_until(lambda: [path.suffix for path in topologies(recording)] == [".xml"] * count,
               f"not {count} topologies in {recording.folder}")


def rows_of(recording):
    report = recording.ask("report", "--by", "gpu-nic", "--format", "json")
    check_equal(report.status, 0, f"status of {report}")
    return json.loads(report.stdout)["gpu_nic"]


def sums_over_messages(recording):
    """By host, kind of memory, GPU and card."""
    hosts = {process["key"]: process["host"] for process in recording.info["processes"]}
    sums = {}
    for message in recording.messages:
        copied = {step["issued_by"] for step in message["path"] if step["role"] == "staging"}
        for step in message["path"]:
            if step["role"] != "data" or step["transport"] != "tcp":
                continue
            ends = {"src": step["remote_device"], "dst": step["remote_device"]}
            ends[step["issued_by"]] = step["device"]
            for end, memory, way in (("src", "from", "out"), ("dst", "to", "in")):
                host = hosts[message[f"{end}_process"]]
                where = host, step[memory]["kind"], step[memory]["gpu"], ends[end]
                row = sums.setdefault(where, Counter())
                row[f"{way}_operations"] += step["count"]
                row[f"{way}_bytes"] += step["bytes"]
                own = message[f"{end}_memory"]
                if step[memory]["kind"] == "host" and own["kind"] != "host" and end in copied:
                    of_gpu = sums.setdefault((host, own["kind"], own["gpu"], ends[end]), Counter())
                    of_gpu[f"{way}_staged_bytes"] += step["bytes"]
    return {where: tuple(row[column] for column in COLUMNS) for where, row in sums.items()}


def check_bytes(recording, rows):
    expected = sums_over_messages(recording)
    check(any(row[1] > 0 for row in expected.values()), "no bytes went over a card")
    staged = [row for where, row in expected.items() if where[1] == "gpu" and row[4] > 0 and row[5] > 0]
    check_equal(len(staged), 4, "GPUs whose data is staged")
    found = {}
    for row in rows:
        where = row["host"], row["memory"], row["gpu"], row["nic"]
        sums = tuple(row[column] for column in COLUMNS)
        if any(sums) or row["memory"] != "gpu":
            found[where] = sums
    check_equal(found, expected, "bytes between memory and cards")


def check_distances(recording, rows):
    """Each GPU has a row with the cable, as far from it as the topology says."""
    gpus = recording.info["gpu"]
    for device in gpus["devices"]:
        check_equal(device["numa"], NUMA_NODES[device["bus"]], f"NUMA node of {device}")
        name = f'{device["host"]}/{device["uuid"]}'
        own = [row for row in rows if row["gpu"] == name and row["nic"] == CABLE and row["memory"] == "gpu"]
        check_equal([(row["distance"], row["numa_distance"]) for row in own], [FROM_CARD[device["bus"]]],
                    f"distance of {name}")
        check_equal((own[0]["host"], own[0]["nic_bus"]), (device["host"], CARD_BUS), "host and card")
    for row in rows:
        if row["gpu"] is None:
            check_equal((row["distance"], row["numa_distance"]), (None, None), f"distance in {row}")
    hosts = sorted(recording.info["hosts"])
    check_equal(gpus["topology"], [{"host": host, "taken": True, "why": None} for host in hosts], "topology")


def check_store(recording, rows):
    nics = recording.table("nics")
    check_equal({(nic["host"], nic["device"], nic["bus"], nic["numa"]) for nic in nics if nic["device"] == CABLE},
                {(host, CABLE, CARD_BUS, 0) for host in recording.info["hosts"]}, "cards in the store")
    stored = recording.table("gpu_nic")
    check_equal([tuple(row[column] for column in COLUMNS) for row in stored],
                [tuple(row[column] for column in COLUMNS) for row in rows], "the matrix in the store")


def two_hosts():
    with place("two-hosts") as jobs:
        node = jobs.folder / "node.xml"
        node.write_text(node_xml(CABLE))
        settings = {"UCX_TLS": f"cuda_copy,{SHARED_MEMORY},tcp", "HWLOC_XMLFILE": str(node)}
        recording = jobs.recorded("gpu_exchange", "device", "device", jobs.folder / "truth", settings=settings)
        wait_for_topologies(recording, 2)
        check_gpus(recording, 4)
        check_equal(recording.info["faults"], [], "faults")
        rows = rows_of(recording)
        check_bytes(recording, rows)
        check_distances(recording, rows)
        check_store(recording, rows)
        # A host has one card here, so none is nearer to a GPU than the one that is far from it. Nor does the virtual driver
        # let a card reach GPU memory: findings_of_data_test.cpp has runs with both.
        check_findings(recording, "staged-through-host")
        told = recording.ask("report").stdout
        check("GPU 0000:10:00.0" in told and "PIX (10)" in told and "SYS (21)" in told, told)


def not_taken():
    """hwloc cannot read the node: the job runs as usual, and the lack of distances is explained, by
    one of two ranks."""
    with place("ompi") as jobs:
        node = jobs.folder / "node.xml"
        node.write_text("this is no topology")
        settings = {"UCX_TLS": f"cuda_copy,{SHARED_MEMORY},tcp", "HWLOC_XMLFILE": str(node)}
        recording = jobs.recorded("gpu_exchange", "device", "device", jobs.folder / "truth", settings=settings)
        info = recording.info
        check_equal([(fault["layer"], fault["fault"], fault["value"]) for fault in info["faults"]],
                    [("gpu", "topology_not_taken", 1)], "faults")
        check_equal(info["layers"]["gpu"], {"state": "on", "why": None}, "layer gpu")
        check_equal([device["numa"] for device in info["gpu"]["devices"]], [None, None], "NUMA nodes")
        (topology,) = info["gpu"]["topology"]
        check(not topology["taken"] and "uctrace-topology ended with status 1" in topology["why"], topology)
        rows = rows_of(recording)
        check(rows and all(row["distance"] is None for row in rows), f"a distance was made up: {rows}")


def why_not(recording):
    """Why the topology of the one host was not taken, as the folder is now; None if it was."""
    (topology,) = Recording(recording.folder).info["gpu"]["topology"]
    check_equal(topology["taken"], topology["why"] is None, f"{topology}")
    return topology["why"]


def damaged():
    """A file that is no topology any more: said, and nothing is lost but distances."""
    with place("ompi") as jobs:
        settings = {"UCX_TLS": f"cuda_copy,{SHARED_MEMORY}"}
        recording = jobs.recorded("gpu_exchange", "device", "device", jobs.folder / "truth", settings=settings)
        wait_for_topologies(recording, 1)
        (path,) = topologies(recording)
        # If it is unfinished when the logs are merged, it is read later.
        part = path.rename(path.with_name(path.name + ".part"))
        check("not finished" in why_not(recording), "the topology is read before it is finished")
        part.rename(path)
        check_equal(why_not(recording), None, "a topology that was finished after the merge")
        path.write_bytes(path.read_bytes()[:-30])
        check("it is cut" in why_not(recording), "a topology that is cut")


def unseen():
    """The process with a GPU has no children or files beyond its own."""
    with scratch() as folder:
        program = PROGRAMS / "gpu_children"
        environment = {"LD_LIBRARY_PATH": str(VIRTUAL_GPUS), "VIRTUAL_GPU_COUNT": "2", **WITHOUT_GPU_MODULES}
        alone = run_well([program], env=environment)
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()[:8]
        topology = folder / "data" / f"{os.uname().nodename}-{boot}.topology.xml"
        result = run_well(record_command(folder / "data", [program, topology]), env=environment)
        check_equal(result.stdout, alone.stdout, "output of the program")
        recording = Recording(folder / "data")
        check_equal(len(recording.info["gpu"]["devices"]), 2, "GPUs")
        check_equal([t["taken"] for t in recording.info["gpu"]["topology"]], [True], "topology")
        check("<topology version=" in topology.read_text(), "no topology of hwloc")


def without_gpus():
    """No GPU, no program."""
    with scratch() as folder:
        result = run_well(record_command(folder / "data", [PROGRAMS / "plain_ucp"]))
        recording = Recording(folder / "data")
        check_equal(topologies(recording), [], f"topologies of {result}")
        check_equal(recording.info["gpu"]["topology"], [], "topology")
        check("network cards" not in recording.ask("report").stdout, "a matrix without GPUs")
        check_findings(recording)


CASES = {"two-hosts": two_hosts, "not-taken": not_taken, "damaged": damaged, "unseen": unseen,
         "without-gpus": without_gpus}

run_test(lambda case: CASES[case]())
