"""Datatypes of calls: combiner and extent, also if the handle named another datatype before, if it
was freed while in use, and with 64-bit counts."""

import json

from checks import check_complete
from harness import check, check_equal, run_test, scratch
from logs import DEFINITIONS, Log
from mpi_jobs import MPIS
from recordings import record_well

DATATYPE, DATATYPE_FREE = 51, 52
FACTS = ("combiner", "size", "extent", "contiguous")


def sends_of(recording, rank):
    """{tag: (datatype that is sent, that of what is received)} of a rank."""
    datatypes = recording.table("datatypes")
    ranks = [process["rank"] for process in recording.table("processes")]
    found = {}
    for call in recording.table("mpi_calls"):
        if ranks[call["process"]] != rank or call["function"] not in ("MPI_Sendrecv", "MPI_Isend"):
            continue
        sent, received = call["datatype"], call["recv_datatype"]
        found[call["tag"]] = (datatypes[sent], datatypes[received] if received >= 0 else None)
    return found


def check_rank(recording, rank, truth):
    sends = sends_of(recording, rank)
    check_equal(len(sends), len(truth), f"sends of rank {rank}")
    for row in truth:
        sent, received = sends[row["tag"]]
        facts = {key: sent[key] for key in FACTS}
        check_equal(facts, {key: row[key] for key in FACTS}, f"datatype of {row}")
        if row["name"] != "?":
            check_equal(sent["name"], row["name"], f"name of {row}")
        if received is not None:
            check_equal(received["name"], "MPI_INT", f"what is received of {row}")


def each_is_defined_once(recording):
    """Not defined at each use; and all freed datatypes of the program are released."""
    for path in recording.logs:
        log = Log(path)
        defined = [log.u64(offset + 16) for offset, _, _ in log.records(DATATYPE, DEFINITIONS)]
        freed = [log.u64(offset + 16) for offset, _, _ in log.records(DATATYPE_FREE, DEFINITIONS)]
        derived = [handle for handle in defined if handle in freed]
        check_equal(sorted(derived), sorted(freed), f"definitions of what is freed in {path.name}")
        check(len(set(freed)) < len(freed), f"no handle of {path.name} is used again: {freed}")


def datatypes_are_known(mpi_name):
    mpi = MPIS[mpi_name]
    with scratch() as folder:
        _, recording = record_well(folder / "data", mpi.job("datatypes", folder / "truth"))
        check_complete(recording.info, processes=mpi.ranks)
        for rank in range(mpi.ranks):
            lines = (folder / f"truth.{rank}.jsonl").read_text().splitlines()
            check_rank(recording, rank, [json.loads(line) for line in lines])
        each_is_defined_once(recording)


run_test(datatypes_are_known)
