"""Call stacks: the line of the source that asked for a message, the same on all ranks."""

import json
import re
import shutil
from collections import Counter, defaultdict

from checks import check_complete
from harness import BUILD_ROOT, PROGRAMS, TOOL, check, check_equal, need, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import Recording, record_command


def record_with_stacks(folder, job, mode="mpi", **options):
    command = record_command(folder, job)
    command[2:2] = ["--stacks", mode]
    return run_well(command, **options), Recording(folder)


def told_sites(output, file="call_sites.c"):
    """By tag: where the program says that it called MPI."""
    sites = {}
    for tag, function, line in re.findall(r"^(\d+) (\w+) (\d+)$", output, re.MULTILINE):
        sites[int(tag)] = f"{function} ({file}:{line})"
    check(sites, f"the program tells no sites: {output}")
    return sites


def of_program(recording):
    """MPICH sends messages of its own when it starts and ends."""
    own = ("MPI_Init", "MPI_Finalize")
    return [message for message in recording.messages if message["mpi"] not in own]


def check_counts(stacks, mode):
    check_equal(stacks["mode"], mode, "mode")
    check(stacks["captured"] > stacks["unwound"] > 0, f"repeated stacks are unwound: {stacks}")
    check(0 < stacks["distinct"] <= stacks["unwound"], f"stacks are not kept once: {stacks}")
    check_equal((stacks["truncated"], stacks["skipped"]), (0, 0), "cut and not taken")


def check_sites(recording, sites, ranks):
    for message in of_program(recording):
        truth = sites[message["tag"]]
        check_equal((message["call_site"], message["recv_call_site"]), (truth, truth), message)
    # One row for all ranks, in spite of ASLR.
    labels = [row["label"] for row in recording.table("call_sites")]
    labels = [label for label in labels if label in sites.values()]
    check_equal(sorted(labels), sorted(set(sites.values())), "call sites")
    report = recording.ask("report", "--by", "call-sites", "--format", "json")
    calls = defaultdict(Counter)
    for row in json.loads(report.stdout)["call_sites"]:
        calls[row["call_site"]][row["function"]] += row["calls"]
        if row["call_site"] in sites.values():
            check_equal(row["ranks"], ranks, f"ranks of {row}")
    messages = Counter(message["call_site"] for message in of_program(recording))
    for site, count in messages.items():
        expected = {"MPI_Irecv": count, "MPI_Send": count, "MPI_Wait": count}
        check_equal(dict(calls[site]), expected, f"calls of {site}")


def sites_are_found(mpi_name, mode):
    mpi = MPIS[mpi_name]
    with scratch() as folder:
        job = mpi.job("call_sites")
        result, recording = record_with_stacks(folder / "data", job, mode)
        check_complete(recording.info, processes=mpi.ranks)
        check_counts(recording.info["stacks"], mode)
        check_sites(recording, told_sites(result.stdout), mpi.ranks)
        told = recording.ask("messages", "--id", of_program(recording)[0]["id"]).stdout
        check("Call stack, innermost first:\n    plainly (call_sites.c:" in told, told)
        check(re.search(r"^    main \(call_sites.c:\d+\)$", told, re.MULTILINE), told)
        if mode == "all":
            for name in ("ucp_operations", "transfers"):
                without = [row for row in recording.table(name) if row["stack"] < 0]
                check_equal(without, [], f"{name} without a stack")


def callers_are_found(mpi_name):
    """Without stacks the place of each call is known, and nothing above it."""
    mpi = MPIS[mpi_name]
    with scratch() as folder:
        result, recording = record_with_stacks(folder / "data", mpi.job("call_sites"), "off")
        check_complete(recording.info, processes=mpi.ranks)
        stacks = recording.info["stacks"]
        check_equal((stacks["mode"], stacks["captured"]), ("off", 0), "stacks")
        check_sites(recording, told_sites(result.stdout), mpi.ranks)
        frames = {row["frames"] for row in recording.table("stacks")}
        check_equal(frames, {1, 2}, "frames of a caller: 2 where it is inlined")
        report = recording.ask("report", "--by", "call-sites").stdout
        check("--stacks mpi" in report, f"nothing says how to record more: {report}")


def plugins_are_told_apart(mpi_name, mode):
    """Plug-ins that use MPI, in a program that does not, and one at the address where another was
    loaded before."""
    mpi = MPIS[mpi_name]
    one, other = (PROGRAMS / f"{name}.{mpi_name}.so" for name in ("mpi_plugin", "mpi_plugin_other"))
    with scratch() as folder:
        holder = folder / "holder.so"
        shutil.copy(one, holder)
        plugins = [holder, one, other, one, other, other]
        job = mpi.job(PROGRAMS / "mpi_plugin_host", *plugins)
        alone = run_well(job)
        result, recording = record_with_stacks(folder / "data", job, mode)
        check_equal(result.stdout, alone.stdout, "output of the program")
        places = re.findall(r"plug-in of turn \d+ at (\w+)", result.stderr)
        check(places[1] == places[2] == places[3], f"no plug-in is where another lay: {places}")
        check_complete(recording.info, processes=mpi.ranks)
        sites = told_sites(result.stdout, "mpi_plugin.c")
        check_equal(len(sites), len(plugins), "turns")
        for message in of_program(recording):
            truth = sites[message["tag"]]
            check_equal((message["call_site"], message["recv_call_site"]), (truth, truth), message)
        check_equal(len(of_program(recording)), len(plugins) * mpi.ranks, "messages")


def fortran_is_found(mpi_name, binding):
    mpi = MPIS[mpi_name]
    with scratch() as folder:
        _, recording = record_with_stacks(folder / "data", mpi.job(f"fortran_{binding}"))
        sites = {(m["mpi"], m["call_site"]) for m in of_program(recording)}
        for function in ("MPI_Isend", "MPI_Sendrecv"):
            found = [site for name, site in sites if name == function]
            check_equal(len(found), 1, f"call sites of {function}")
            pattern = rf"fortran_{binding} \(fortran_{binding}\.f90:\d+\)"
            check(re.fullmatch(pattern, found[0] or "", re.IGNORECASE), f"{function}: {found}")


def plain_ucp_is_found():
    with scratch() as folder:
        _, recording = record_with_stacks(folder / "data", [PROGRAMS / "plain_ucp"])
        check(recording.messages, "no messages")
        for message in of_program(recording):
            site = message["call_site"] or ""
            check(re.fullmatch(r"\w+ \(plain_ucp\.c:\d+\)", site), f"call site of {message}")


def without_debug_information():
    """Stripped, rebuilt or deleted binaries: the merger reports what it can, and why not more."""
    mpi = MPIS["ompi"]
    need("strip")
    with scratch() as folder:
        program = folder / "program"
        shutil.copy(mpi.job("call_sites")[-1], program)
        _, kept = record_with_stacks(folder / "data", [*mpi.job("call_sites")[:-1], program])
        check("(call_sites.c:" in kept.messages[0]["call_site"], kept.messages[0])

        def merged_again():
            run_well([TOOL, "merge", kept.folder])
            return Recording(kept.folder)

        program.rename(folder / "away")
        gone = merged_again()
        check(all("program+0x" in m["call_site"] for m in gone.messages), gone.messages[0])
        check(any("it is not here" in note for note in gone.info["notes"]), gone.info["notes"])
        check_equal(len({m["call_site"] for m in gone.messages}),
                    len({m["call_site"] for m in kept.messages}), "call sites without lines")

        shutil.copy(mpi.job("exchange")[-1], program)
        other = merged_again()
        check(all("program+0x" in m["call_site"] for m in other.messages), other.messages[0])
        check(any("another build" in note for note in other.info["notes"]), other.info["notes"])

        run_well(["strip", "-o", program, folder / "away"])
        stripped = merged_again()
        check(all("program+0x" in m["call_site"] for m in stripped.messages), stripped.messages[0])
        check_equal([n for n in stripped.info["notes"] if "call stacks" in n], [], "notes")


def solver_in_cpp_is_found():
    mpi = MPIS["ompi"]
    with scratch() as folder:
        job = mpi.job(BUILD_ROOT / "examples" / "cg.ompi", "--poisson", 24)
        _, recording = record_with_stacks(folder / "data", job)
        sites = {m["call_site"] for m in of_program(recording) if m["mpi"] == "MPI_Isend"}
        check(sites and all(re.search(r" \(halo\.cpp:\d+\)$", site or "") for site in sites), sites)


CASES = {
    "sites": sites_are_found,
    "callers": callers_are_found,
    "plug-ins": plugins_are_told_apart,
    "fortran": fortran_is_found,
    "plain": plain_ucp_is_found,
    "without": without_debug_information,
    "cpp": solver_in_cpp_is_found,
}
run_test(lambda case, *arguments: CASES[case](*arguments))
