"""Forced Allreduce algorithms show the textbook communication pattern, in UCP and UCT records."""

from collections import Counter

from checks import check_complete, check_delivered, check_same_multiset
from harness import run_test, scratch
from mpi_jobs import MPIS, OPEN_MPI_OVER_UCX
from recordings import record_well

BYTES = 65536
REPETITIONS = 3


def recursive_doubling(ranks):
    """In step k every rank exchanges the whole vector with the rank at distance 2^k."""
    distance = 1
    while distance < ranks:
        yield from ((rank, rank ^ distance, BYTES) for rank in range(ranks))
        distance *= 2


def ring(ranks):
    """ranks - 1 steps of reduce-scatter and as many of allgather pass one block to the right."""
    for _ in range(2 * (ranks - 1)):
        yield from ((rank, (rank + 1) % ranks, BYTES // ranks) for rank in range(ranks))


def reduce_scatter_allgather(ranks):
    """Rabenseifner: reduce-scatter halves the vector while it doubles the distance; the allgather
    goes back the same way."""
    distance, portion = 1, BYTES
    while distance < ranks:
        portion //= 2
        for rank in range(ranks):
            yield from [(rank, rank ^ distance, portion)] * 2
        distance *= 2


# Numbers of Open MPI's coll_tuned_allreduce_algorithm.
ALGORITHMS = {3: recursive_doubling, 4: ring, 6: reduce_scatter_allgather}


def as_rows(pairs):
    return [{"src": src, "dst": dst, "bytes": size} for src, dst, size in pairs]


def matrix_of(triples):
    matrix = Counter()
    for src, dst, size in triples:
        matrix[src, dst] += size
    return [{"src": src, "dst": dst, "bytes": size} for (src, dst), size in matrix.items()]


def allreduce_is_by_the_book(number):
    algorithm, mpi = ALGORITHMS[int(number)], MPIS["ompi"]
    options = [*OPEN_MPI_OVER_UCX, "--mca", "coll_tuned_use_dynamic_rules", "1"]
    options += ["--mca", "coll_tuned_allreduce_algorithm", number]
    with scratch() as folder:
        job = mpi.job("allreduce", BYTES, REPETITIONS, options=options)
        _, recording = record_well(folder / "data", job)
        messages = recording.sent_by("MPI_Allreduce")
        check_complete(recording.info, processes=mpi.ranks)
        check_delivered(messages)

    textbook = list(algorithm(mpi.ranks)) * REPETITIONS
    columns = ("src", "dst", "bytes")
    check_same_multiset(messages, as_rows(textbook), columns, "UCP messages")
    transfers = [
        (message["src"], message["dst"], step["bytes"])
        for message in messages
        for step in message["path"]
        if step["role"] == "data" and step["hop"] == 0
    ]
    check_same_multiset(
        matrix_of(transfers), matrix_of(textbook), columns, "bytes carried by UCT, by pair"
    )


run_test(allreduce_is_by_the_book)
