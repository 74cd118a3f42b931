"""Counters compared with the program's own account, with a trace of the same run, and in the files of Open MPI's
monitoring."""

import json
import os
import re
import shutil
import struct
from collections import Counter
from pathlib import Path

from checks import check_complete
from counter_files import CLASSES, by_pair, check_truth, counters, read_prof
from harness import PROGRAMS, TOOL, Skip, check, check_equal, need, run, run_test, run_well, scratch
from launchers import PRELOADING, write_script
from mpi_jobs import MPIS
from recordings import Recording, record_well
from red_identities import IDENTITY_VIOLATED, names_with

SENDS = {f"MPI_{name}" for name in ("Send", "Isend", "Sendrecv", "Start", "Startall")}
IDENTITY = "counted_transports"
UCP_SENDS = re.compile(r"ucp_(tag_send|am_send|stream_send)|^(tag_send|am_send|stream_send)")


def check_whole(found, ranks):
    processes = found["processes"]
    check_equal([row["rank"] for row in processes], list(range(ranks)), "processes")
    for row in processes:
        check_equal((row["closed"], row["unplaced"], row["lost_names"]), ("yes", 0, 0), f"{row}")


def check_trace(mpi, found, recording):
    """Sums of counters are those of the records of the same run."""
    ranks = [row["rank"] for row in recording.table("processes")]
    external, internal = {}, {}

    def add(to, key, size):
        messages, total = to.get(key, (0, 0))
        to[key] = messages + 1, total + size

    for message in recording.messages:
        if message["kind"] == "tag" and message["mpi"] in SENDS:
            add(external, ("external", message["src"], message["dst"]), message["bytes"])
    for op in recording.table("ucp_operations"):
        if UCP_SENDS.search(op["function"]) and op["asked_by"] not in SENDS:
            add(internal, ("internal", ranks[op["process"]], ranks[op["peer_process"]]), op["bytes"])
    # MPICH delivers within a communicator of one without UCX: the trace has the calls but no messages.
    by_ucx = {
        key: count
        for key, count in by_pair(found, "external").items()
        if key in external or not (mpi.name == "mpich" and key[1] == key[2])
    }
    check_equal(by_ucx, external, "external messages, by the trace")
    check_equal(by_pair(found, "internal"), internal, "internal messages, by the trace")

    transfers = {}
    for row in recording.table("transfers"):
        if row["status"] >= 0:
            add(transfers, (row["transport"], row["device"], row["op"]), row["wire_bytes"])
    check_equal(
        {
            (row["transport"], row["device"], row["operation"]): (row["operations"], row["bytes"])
            for row in found["transports"]
        },
        transfers,
        "operations by transport and device, by the trace",
    )
    calls = Counter(row["function"] for row in recording.table("mpi_calls"))
    check_equal({row["function"]: row["calls"] for row in found["functions"]}, calls, "MPI calls")


def check_profiles(folder, data, found, ranks):
    run_well([TOOL, "counters", data, "--prof", folder / "app_1", "--gather", folder / "all.prof",
              "--matrices", folder / "all", "--directed", folder / "all"])
    pairs, bins = {}, {}
    for rank in range(ranks):
        of_rank, of_bins = read_prof(folder / f"app_1.{rank}.prof")
        pairs |= of_rank
        bins |= of_bins
    check_equal(pairs, by_pair(found, *CLASSES), "profiles of all ranks")
    check_equal(read_prof(folder / "all.prof")[0], pairs, "the gathered profile")
    for pair, histogram in bins.items():
        check_equal(len(histogram), 66, f"bins of {pair}")
        point_to_point = [pairs.get((name, *pair), (0, 0))[0] for name in ("external", "internal")]
        check_equal(sum(histogram), sum(point_to_point), f"bins of {pair}")

    def square(name):
        return [[int(n) for n in line.split()] for line in (folder / name).read_text().splitlines()]

    for suffix, classes in (("all", CLASSES), ("external", ["external"]), ("coll", ["collective"])):
        directed = square(f"all_directed_size_{suffix}.mat")
        for i in range(ranks):
            for j in range(ranks):
                sent = sum(pairs.get((name, i, j), (0, 0))[1] for name in classes)
                check_equal(directed[i][j], sent, f"{suffix}: bytes of {i} to {j}")
        symmetric = square(f"all_size_{suffix}.mat")
        messages, average = square(f"all_directed_msg_{suffix}.mat"), square(f"all_directed_avg_{suffix}.mat")
        for i in range(ranks):
            for j in range(ranks):
                check(abs(2 * symmetric[i][j] - directed[i][j] - directed[j][i]) <= 1, f"{suffix} is symmetric")
                mean = directed[i][j] / messages[i][j] if messages[i][j] else 0
                check(abs(average[i][j] - mean) <= 0.5, f"{suffix}: average of {i} to {j}")
    again = run([TOOL, "counters", data, "--prof", folder / "app_1"])
    check_equal(again.status, 0, "profiles of ours are replaced")
    (folder / "other.0.prof").write_text("mine\n")
    foreign = run([TOOL, "counters", data, "--prof", folder / "other"])
    check(foreign.status == 125 and "something else lies there" in foreign.stderr, f"{foreign}")
    check_equal((folder / "other.0.prof").read_text(), "mine\n", "what was there")


def everything(mpi):
    with scratch() as folder:
        job = mpi.job_with_windows("counted")
        result, recording = record_well(folder / "too", job, switches=["--counters", "--trace"])
        check_complete(recording.info, processes=mpi.ranks)
        found = counters(recording.folder)
        check_whole(found, mpi.ranks)
        check_truth(found, result.stdout)
        check_trace(mpi, found, recording)
        check_identity(recording, folder)
        check_profiles(folder, recording.folder, found, mpi.ranks)

        result, recording = record_well(folder / "only", job, switches=["--counters", "--prof", folder / "end"])
        check("next: uctrace counters" in result.stderr, f"{result}")
        only = counters(recording.folder)
        check_whole(only, mpi.ranks)
        check_truth(only, result.stdout)
        check_equal(read_prof(folder / "end.0.prof")[0],
                    {k: v for k, v in by_pair(only, *CLASSES).items() if k[1] == 0}, "the profile at the end")
        check_equal(sum(recording.info["events"][layer] for layer in ("uct", "ucp", "mpi")), 0, "events")
        check(IDENTITY not in {i["name"] for i in recording.info["identities"]}, "checked without a trace")
        check_equal(names_with(recording, "violated"), set(), "violated with counters alone")
        check(any("only counters were kept" in note for note in recording.info["notes"]), f"{recording.info['notes']}")
        plain = run_well(job)
        check_equal(sorted(plain.stdout.splitlines()), sorted(result.stdout.splitlines()), "the output")


PAGE_BYTES, ROWS, OF_INTERFACE = 4096, 2, 10  # docs/counters.md


def count_a_byte_more(counters_file):
    """In the first row of an interface."""
    data = bytearray(counters_file.read_bytes())
    section = PAGE_BYTES
    while section < len(data):
        _, kind, size = struct.unpack_from("=IB3xQ", data, section)
        for row in range(section + 64, section + size, 32) if kind == ROWS else ():
            key, _, total = struct.unpack_from("=3Q", data, row)
            if key >> 56 == OF_INTERFACE:
                struct.pack_into("=Q", data, row + 16, total + 1)
                counters_file.write_bytes(data)
                return
        section += size
    check(False, f"no row of an interface in {counters_file}")


def check_identity(good, folder):
    """Counters that contradict the records violate it; without some counters it is not known."""
    def copy(name, change):
        (folder / name).mkdir()
        for path in good.folder.iterdir():
            if path.suffix in (".ulog", ".counters"):
                shutil.copy(path, folder / name)
        for path in (folder / name).iterdir():
            path.chmod(0o644)
        change(sorted((folder / name).glob("*.counters")))
        return Recording(folder / name)

    check(IDENTITY in names_with(good, "holds"), "the identity of counters and trace is not checked")
    red = copy("red", lambda files: count_a_byte_more(files[0]))
    check_equal(names_with(red, "violated"), {IDENTITY}, "violated by a counter that is too high")
    check_equal(red.ask("info").status, IDENTITY_VIOLATED, "exit status of info")
    few = copy("few", lambda files: files[0].unlink())
    check_equal(names_with(few, "incomplete"), {IDENTITY}, "incomplete without the counters of a process")
    damaged = copy("damaged", lambda files: os.truncate(files[0], PAGE_BYTES + 64))
    check_equal(names_with(damaged, "incomplete"), {IDENTITY}, "incomplete with counters that are cut short")
    none = copy("none", lambda files: [file.unlink() for file in files])
    check(IDENTITY not in {i["name"] for i in none.info["identities"]}, "checked without counters")


MONITORING = "--mca pml ucx,monitoring --mca pml_ucx_tls any --mca pml_ucx_devices any --mca pml_monitoring_enable 2" \
             " --mca pml_monitoring_enable_output 3"
PATTERNS = ("ring", "stencil", "all-to-all")


def beside_open_mpi():
    """Open MPI's own monitoring of the same run: the same matrices of point-to-point messages, and sizes."""
    mpi = MPIS["ompi"]
    for program in PATTERNS:
        with scratch() as folder:
            options = [*MONITORING.split(), "--mca", "pml_monitoring_filename", folder / "theirs"]
            if run(mpi.job("patterns", program, options=options)).status != 0:
                raise Skip("the monitoring of this Open MPI fails without uctrace as well")
            _, recording = record_well(folder / "data", mpi.job("patterns", program, options=options),
                                       switches=["--counters"])
            run_well([TOOL, "counters", recording.folder, "--prof", folder / "ours"])
            messages = 0
            for rank in range(mpi.ranks):
                theirs, their_bins = read_prof(folder / f"theirs.{rank}.prof")
                ours, our_bins = read_prof(folder / f"ours.{rank}.prof")
                if not theirs:
                    raise Skip("this Open MPI has no monitoring")
                mine = {key: value for key, value in ours.items() if key[0] == "external"}
                check_equal(mine, {key: value for key, value in theirs.items() if key[0] == "external"},
                            f"{program}: messages of rank {rank}")
                check_equal(our_bins, their_bins, f"{program}: sizes of rank {rank}")
                messages += sum(count for count, _ in mine.values())
            check(messages > 0, f"{program} sends nothing")


def sums_of(found):
    """The time-independent parts."""
    functions = {row["function"]: (row["calls"], row["bytes"]) for row in found["functions"]}
    sizes = {row["bin"]: row["messages"] for row in found["sizes"] if row["class"] == "external"}
    return functions, by_pair(found, "external"), sizes


def shorter_way(mpi):
    """Without records most calls take a shorter path: the sums equal those beside a trace. For Fortran, whose
    bindings call PMPI, and for a program with another tool, which does that, too."""
    with scratch() as folder:
        tool = PROGRAMS / f"pmpi_tool.{mpi.name}.so"
        behind = write_script(folder / "behind.sh", PRELOADING["behind"] % tool)
        *launcher, tooled = mpi.job("tooled")
        jobs = {"mpif": mpi.job("fortran_mpif"), "f08": mpi.job("fortran_f08"), "behind": [*launcher, behind, tooled],
                "linked": mpi.job("tooled_linked")}
        for name, job in jobs.items():
            expected = None
            for switches in (["--counters", "--trace"], ["--counters"]):
                data = folder / f"{name}{len(switches)}"
                record_well(data, job, switches=switches)
                found = sums_of(counters(data))
                if expected is not None:
                    check_equal(found, expected, f"sums of {name}, {switches}")
                expected = found
            functions, pairs, _ = expected
            check(sum(calls for calls, _ in functions.values()) > 4 * mpi.ranks, f"calls of {name}: {functions}")
            # Calls of a linked tool are not the program's.
            check(bool(pairs) == (name != "linked"), f"messages of {name}: {pairs}")


def patterns(mpi):
    """A ring, a stencil and an all-to-all: sums are those of the trace."""
    for program in PATTERNS:
        with scratch() as folder:
            job = mpi.job("patterns", program)
            _, recording = record_well(folder / "data", job, switches=["--counters", "--trace"])
            found = counters(recording.folder)
            check_whole(found, mpi.ranks)
            check_trace(mpi, found, recording)
            check(found["pairs"], f"{program} sends nothing")


def pairs_of_report(recording, *functions):
    """{(source, destination): messages} of the trace, as `report --by pairs` names them."""
    switches = ["--mpi", ",".join(functions)] if functions else []
    report = recording.ask("report", "--by", "pairs", "--format", "json", *switches)
    check_equal(report.status, 0, f"status of report: {report}")
    return Counter({(row["src"], row["dst"]): row["messages"] for row in json.loads(report.stdout)["pairs"]})


def pairs_of_counters(found, which):
    return Counter({(row["rank"], row["peer"]): row["messages"] for row in found["pairs"] if row["class"] == which})


def numbers_beside(prefix):
    """{number: name} from the list beside files with numbers only."""
    head, *lines = Path(f"{prefix}.numbers.tsv").read_text().splitlines()
    check_equal(head, "number\tname", "first line of the list of numbers")
    return {int(number): name for number, name in (line.split("\t") for line in lines)}


def without_mpi():
    """UCP alone: every send is the program's, and processes have names instead of ranks, as in a trace."""
    with scratch() as folder:
        for program in ("plain_ucp", "plain_rma"):  # the second one sends headers of active messages
            _, recording = record_well(folder / program, [PROGRAMS / program], switches=["--counters", "--trace"])
            found = counters(recording.folder)
            sends = [op for op in recording.table("ucp_operations") if UCP_SENDS.search(op["function"])]
            check(sends, f"{program} sends")
            external = [row for row in found["pairs"] if row["class"] == "external"]
            check_equal(sum(row["messages"] for row in external), len(sends), f"sends of {program}")
            check_equal(sum(row["bytes"] for row in external), sum(op["bytes"] for op in sends), f"bytes of {program}")
            if program == "plain_ucp":
                check_equal(pairs_of_counters(found, "external"), pairs_of_report(recording), "pairs of processes")
                check_numbered(folder, recording, pairs_of_counters(found, "external"))
            for verb in ("counters", "top"):
                told = run_well([TOOL, verb, recording.folder, *(["--once", "--by", "all"] if verb == "top" else [])])
                check_equal(told.stderr, "", f"{verb} warns of processes that it names")


def check_numbered(folder, recording, pairs):
    """Profiles and matrices have numbers, and a list of them where no process has a rank."""
    prefix = folder / "numbered"
    run_well([TOOL, "counters", recording.folder, "--prof", prefix, "--directed", prefix])
    number_of = {name: number for number, name in numbers_beside(prefix).items()}
    expected = {(number_of[str(a)], number_of[str(b)]): messages for (a, b), messages in pairs.items()}
    matrix = [line.split() for line in Path(f"{prefix}_directed_msg_external.mat").read_text().splitlines()]
    found = {(i, j): int(cell) for i, row in enumerate(matrix) for j, cell in enumerate(row) if cell != "0"}
    check_equal(found, expected, "matrix by number")
    told = {}
    for name in {a for a, _ in pairs}:
        told |= read_prof(f"{prefix}.{number_of[str(name)]}.prof")[0]
    check_equal({(a, b): count for (_, a, b), (count, _) in told.items()}, expected, "profiles by number")


def two_worlds(mpi):
    """A spawned world repeats ranks of the first one: each is named as in a trace."""
    job = mpi.job("spawns")
    job[job.index(mpi.count_option) + 1] = 2
    with scratch() as folder:
        _, recording = record_well(folder / "data", job, switches=["--counters", "--trace"])
        found = counters(recording.folder)
        all_pairs, sent = pairs_of_report(recording), pairs_of_report(recording, "MPI_Send", "MPI_Start")
        check_equal(len({name for pair in sent for name in pair}), 5, f"processes that sent: {sent}")
        check_equal(pairs_of_counters(found, "internal"), all_pairs - sent, "pairs of processes")
        check_equal(pairs_of_counters(found, "external"), sent, "messages to the other world")
        # Counters alone go another way.
        _, only = record_well(folder / "only", job, switches=["--counters"])
        external = pairs_of_counters(counters(only.folder), "external")
        check_equal((len(external), set(external.values())), (len(sent), set(sent.values())), "with counters alone")
        check(all(peer is not None for _, peer in external), f"each message has a peer: {external}")
        told = run([TOOL, "counters", recording.folder, "--matrices", folder / "m"])
        # From a collective call on a communicator with members of another world.
        check("of a peer or communicator that could not be named" in told.stderr, f"that is not said: {told}")
        names = set(numbers_beside(folder / "m").values())
        ranks = Counter(str(name).split("@")[0] for name in {name for pair in sent for name in pair})
        check_equal((len(names), ranks), (3, Counter({"0": 2, "1": 2, "2": 1})), "numbers that are no ranks")


def bad_input():
    with scratch() as folder:
        missing = run([TOOL, "counters", folder / "none"])
        check(missing.status == 125 and len(missing.stderr.splitlines()) == 1, f"{missing}")
        empty = run([TOOL, "counters", folder])
        check(empty.status == 125 and "no counters in" in empty.stderr, f"{empty}")
        (folder / "a.counters").write_bytes(struct.pack("=QI", 0x31544E4352544355, 99) + bytes(8192))
        (folder / "b.counters").write_bytes(b"not one")
        odd = run([TOOL, "counters", folder])
        check(odd.status == 125 and "version 99" in odd.stderr, f"{odd}")
        check_equal(len(odd.stderr.splitlines()), 1, f"lines of {odd}")
        behind = run([*MPIS["ompi"].job("counted")[:-1], TOOL, "record", "--counters", "--prof", folder / "p", "--", "true"])
        check("--prof behind a launcher" in behind.stderr and behind.status != 0, f"{behind}")
        for words in (["--trace"], ["--prof", "x"], ["--counters", "--no-helper"]):
            refused = run([TOOL, "record", *words, "--", "true"])
            check(refused.status == 125, f"record {words}: {refused}")


def scripts_of_open_mpi():
    """The scripts of Open MPI's own monitoring read the profiles, and make the same matrices."""
    scripts = os.environ.get("UCTRACE_TEST_OMPI_MONITORING")
    if not scripts:
        raise Skip("UCTRACE_TEST_OMPI_MONITORING names no folder with profile2mat.pl and aggregate_profile.pl")
    perl = need("perl")
    with scratch() as folder:
        record_well(folder / "data", MPIS["ompi"].job_with_windows("counted"), switches=["--counters"])
        run_well([TOOL, "counters", folder / "data", "--prof", folder / "phase_1", "--matrices", folder / "ours"])
        run_well([perl, Path(scripts) / "aggregate_profile.pl", folder / "phase"])
        run_well([perl, Path(scripts) / "profile2mat.pl", folder / "phase_1.prof"])
        theirs = sorted(folder.glob("phase_1_*.mat"))
        check_equal(len(theirs), 15, "matrices")
        for path in theirs:
            ours = folder / path.name.replace("phase_1", "ours")
            check_equal(ours.read_text(), path.read_text(), path.name)


def main(what, *parts):
    if what in MPIS:
        for part in parts or ("everything",):
            {"everything": everything, "patterns": patterns, "shorter": shorter_way,
             "worlds": two_worlds}[part](MPIS[what])
    else:
        {"without_mpi": without_mpi, "bad_input": bad_input, "scripts": scripts_of_open_mpi,
         "monitoring": beside_open_mpi}[what]()


run_test(main)
