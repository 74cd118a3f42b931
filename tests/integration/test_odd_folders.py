"""Anomalies in a folder of logs are named by info and by the notes of merge: several jobs, copies,
foreign files, missing ranks, contradictions, and clocks that cannot be right."""

import os
import shutil
import struct

from checks import check_complete, results_of
from harness import check, check_equal, run_test, scratch
from logs import unpack
from mpi_jobs import MPIS
from recordings import Recording, record_well

# docs/log-format.md
VERSION, HOST, BOOT_ID, ANCHOR_COUNT, ANCHORS = 8, 32, 96, 288, 296
ANCHOR = struct.Struct("=QQQ")  # tick, monotonic, realtime
LANES, LANE_BYTES, FIRST_COUNTER = 8192, 512, 8
MPI_CALLS = 13  # of the counters
PAGE_BYTES, CHUNK_ANCHOR = 128 * 1024, 16
MIN_CHUNK_BYTES = 64 * 1024
SECOND_NS = 10**9
YEAR_NS = 366 * 86400 * SECOND_NS


def edit(path, change):
    data = bytearray(path.read_bytes())
    change(data)
    path.write_bytes(data)


def put(offset, form, *values):
    return lambda data: struct.pack_into(form, data, offset, *values)


def anchor_places(data):
    (count,) = struct.unpack_from("=I", data, ANCHOR_COUNT)
    yield from (ANCHORS + i * ANCHOR.size for i in range(count))
    chunk = PAGE_BYTES
    while chunk + 64 <= len(data):
        yield chunk + CHUNK_ANCHOR
        chunk += max(struct.unpack_from("=I", data, chunk + 4)[0], MIN_CHUNK_BYTES)


def move_wall_clock(by_ns, *, places=slice(None)):
    def change(data):
        for place in list(anchor_places(data))[places]:
            tick, monotonic, realtime = ANCHOR.unpack_from(data, place)
            ANCHOR.pack_into(data, place, tick, monotonic, realtime + by_ns)

    return change


def copy_of(recording, folder, *, name="{}"):
    folder.mkdir(exist_ok=True)
    for log in recording.logs:
        shutil.copy(log, folder / name.format(log.name))
    return Recording(folder)


def check_noted(recording, *parts):
    """In info's notes, its text, and what merge says."""
    for said in ("\n".join(recording.info["notes"]), recording.ask("info").stdout,
                 recording.ask("merge").stdout):
        for part in parts:
            check(part in said, f"{part!r} is not said: {said}")


def two_jobs(first, second, folder):
    mixed = copy_of(first, folder)
    copy_of(second, folder)
    jobs = mixed.info["folder"]["jobs"]
    check_equal(sorted((job["processes"], job["shown"]) for job in jobs), [(2, True), (4, False)],
                "jobs of the folder")
    check_noted(mixed, "the folder holds 2 jobs; this is the newest", "--job takes another", "4 proc")
    other = next(job["job"] for job in jobs if not job["shown"])
    check_complete(Recording(folder).info, processes=2)
    asked = mixed.ask("info", "--job", other)
    check_equal(asked.stdout.count(" finalized"), 4, f"processes of the other job: {asked}")


def a_copy(first, _, folder):
    twice = copy_of(first, folder)
    shutil.copy(first.logs[0], folder / "copy.ulog")
    check_complete(twice.info, processes=4)
    check_equal([log["same"] for log in twice.info["folder"]["second_logs"]], [True], "second logs")
    check_noted(twice, "copy.ulog", "it is counted once")


def an_older_copy(first, _, folder):
    twice = copy_of(first, folder)
    shutil.copy(first.logs[0], folder / "0.ulog")
    os.truncate(folder / "0.ulog", PAGE_BYTES + 4096)
    check_complete(twice.info, processes=4)
    check_equal([log["same"] for log in twice.info["folder"]["second_logs"]], [False], "second logs")
    check_noted(twice, "0.ulog", "with other content")


def other_formats(first, _, folder):
    odd = copy_of(first, folder)
    magic = odd.logs[0].read_bytes()[:8]
    edit(odd.logs[0], put(0, "8s", magic[::-1]))
    edit(odd.logs[1], put(VERSION, "=I", 0))
    edit(odd.logs[2], put(VERSION, "=I", 999))
    left_out = {file["why"] for file in odd.info["folder"]["left_out"]}
    check_equal(len(left_out), 3, f"files left out: {left_out}")
    check_equal(odd.info["folder"]["missing_ranks"], 3, "missing ranks")
    check_noted(odd, "other byte order", "has format 0", "has format 999", "no log of rank")


def contradicting_counters(first, _, folder):
    odd = copy_of(first, folder)
    place = LANES + FIRST_COUNTER + 8 * MPI_CALLS
    edit(odd.logs[0], put(place, "=Q", 77))
    (found,) = odd.info["folder"]["contradictions"]
    check_equal((found["what"], found["counted"]), ("MPI calls", 77), "contradiction")
    check_equal(len(results_of(odd.info)["violated"]), 1, "violated identities")
    check_noted(odd, "it counted 77 MPI calls", "although it looks whole")


def a_wall_clock_that_was_set(first, _, folder):
    odd = copy_of(first, folder)
    for log in odd.logs:
        edit(log, move_wall_clock(5 * SECOND_NS, places=slice(1, None)))
    (step,) = odd.info["clock"]["wall_clock_steps"]
    check(abs(step["step_ns"] - 5 * SECOND_NS) < SECOND_NS, f"size of the step: {step}")
    check_noted(odd, "was set forward by 5.0 s during the run")


def a_clock_that_goes_back(first, _, folder):
    odd = copy_of(first, folder)
    edit(odd.logs[0], put(ANCHORS, "=QQ", 2**62, 1))
    check_equal(len(odd.info["clock"]["backward"]), 1, "logs with a clock that goes back")
    check_noted(odd, "its clock went backwards")


def hosts_that_disagree(first, _, folder):
    """One rank on another host whose clock is an hour behind: what it receives seems to come early."""
    odd = copy_of(first, folder)
    edit(odd.logs[0], put(HOST, "8s", b"elsewhe"))
    edit(odd.logs[0], put(BOOT_ID, "8s", b"another"))
    edit(odd.logs[0], move_wall_clock(-3600 * SECOND_NS))
    clock = odd.info["clock"]
    check_equal(clock["max_error_ns"], None, "error bound between hosts that only share a wall clock")
    (pair,) = clock["violations_by_hosts"]
    check_equal(pair["dst"], "elsewhe", "where messages arrive before they are sent")
    check_equal(pair["messages"], clock["violations"], "violations")
    check(abs(pair["worst_ns"] - 3600 * SECOND_NS) < 60 * SECOND_NS, f"the worst: {pair}")
    check_noted(odd, "were received before they were sent, by up to", "their wall clocks disagree")


def two_clocks_on_one_host(first, _, folder):
    odd = copy_of(first, folder)
    edit(odd.logs[1], move_wall_clock(60 * SECOND_NS))
    check_equal(len(odd.info["clock"]["disagreements"]), 1, "logs with a clock of their own")
    check_noted(odd, "on the same host differ by 60.0 s")


def a_job_from_the_future(first, _, folder):
    odd = copy_of(first, folder)
    for log in odd.logs:
        edit(log, move_wall_clock(YEAR_NS))
    check_noted(odd, "began in the future")
    check_complete(odd.info, processes=4)


def no_process(_, __, folder):
    folder.mkdir()
    (folder / "notes.txt").write_text("not ours\n")
    for verb in ("info", "merge", "report"):
        said = Recording(folder).ask(verb)
        check_equal(said.status, 125, f"exit status without a log: {said}")
        check("holds n" in said.stderr and "uctrace record" in said.stderr, f"no advice: {said}")
    for name in ("a.ulog", "b.ulog"):
        (folder / name).write_bytes(b"")
    said = Recording(folder).ask("info")
    check_equal(said.status, 125, f"exit status with empty logs: {said}")
    check("none of its 2 logs" in said.stderr and "a.ulog" in said.stderr, f"not said: {said}")


CASES = (two_jobs, a_copy, an_older_copy, other_formats, contradicting_counters,
         a_wall_clock_that_was_set, a_clock_that_goes_back, hosts_that_disagree,
         two_clocks_on_one_host, a_job_from_the_future, no_process)


def odd_folders_are_named():
    with scratch() as folder:
        jobs = []
        for ranks in (4, 2):
            job = MPIS["ompi"].job("allreduce", 40000, 3)
            job[job.index(4)] = ranks
            jobs.append(record_well(folder / str(ranks), job)[1])
            unpack(*jobs[-1].logs)
        check_equal(jobs[0].info["notes"], [], "notes of an ordinary job")
        for case in CASES:
            case(*jobs, folder / case.__name__)


run_test(odd_folders_are_named)
