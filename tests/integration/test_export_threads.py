"""For threads that communicate at the same time, exports have as many tracks, or locations, as
operations overlap, and everything in the store."""

from collections import Counter, defaultdict

import perfetto
from exports import end_of_transfer, export_otf2, export_perfetto
from harness import check, check_equal, run_test, scratch
from mpi_jobs import MPIS
from recordings import record_well

UCP, UCT = "UCP", "UCT {transport} {device}"


def greatest_overlap(spans):
    """Of (start, end). One that takes no time overlaps those that are not over."""
    most, open_ends = 0, []
    for start, end in sorted(spans):
        open_ends = [e for e in open_ends if e > start]
        open_ends.append(end)
        most = max(most, len(open_ends))
    return most


def spans_of(recording):
    """{(process, group): [(start, end)]} of what is spread over tracks."""
    spans = defaultdict(list)
    for table, name, end in (("ucp_operations", UCP, lambda r: r["t_end_ns"]), ("transfers", UCT, end_of_transfer)):
        for row in recording.table(table):
            start = row["t_start_ns"]
            spans[row["process"], name.format(**row)].append((start, max(start, end(row))))
    return spans


def threads_are_exported(mpi_name):
    with scratch() as folder:
        _, recording = record_well(folder / "data", MPIS[mpi_name].job("threads"))
        lanes = Counter(call["lane"] for call in recording.table("mpi_calls"))
        check(len(lanes) > 2, f"threads of MPI calls: {lanes}")
        spans = spans_of(recording)
        overlaps = {group: greatest_overlap(of_group) for group, of_group in spans.items()}
        trace = export_perfetto(recording, folder / "trace")
        processes = list(trace.processes.values())
        tracks, slices = defaultdict(set), defaultdict(list)
        for event in trace.of("ucp", perfetto.SLICE_BEGIN, perfetto.INSTANT) + trace.of("uct", perfetto.SLICE_BEGIN):
            if trace.tracks[event.track][0] == "messages":
                continue
            group = processes.index(trace.process_of(event.track)), trace.tracks[event.track][0]
            tracks[group].add(event.track)
            slices[group].append((event.time_ns, event.time_ns if event.end_ns is None else event.end_ns))
        check_equal({group: len(of_group) for group, of_group in tracks.items()}, overlaps, "tracks in Perfetto")
        check_equal({g: sorted(s) for g, s in slices.items()}, {g: sorted(s) for g, s in spans.items()}, "slices")
        found = export_otf2(recording, folder / "archive")
        locations, regions = defaultdict(set), defaultdict(list)
        for process, location, _, start, end, *_ in found["spans"]:
            group = process, location.rpartition(" ")[0]
            if not location.startswith("MPI thread"):
                locations[group].add(location)
                regions[group].append((start, end))
        check_equal({group: len(of_group) for group, of_group in locations.items()}, overlaps, "locations in OTF2")
        check_equal({g: sorted(s) for g, s in regions.items()}, {g: sorted(s) for g, s in spans.items()}, "regions")


run_test(threads_are_exported)
