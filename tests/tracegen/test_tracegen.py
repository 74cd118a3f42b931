#!/usr/bin/env python3
"""Generates jobs and holds what uctrace finds against what they did.

    test_tracegen.py UCTRACE GENERATOR CASE
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import compare
from compare import Disagreement, Folder, agree

# Whole runs. The mixes are such that each kind of step, transport, protocol and MPI is in several.
WHOLE = {
    "small": ["--processes", 2, "--seed", 1],
    "alone": ["--processes", 1, "--seed", 2],
    "three-hosts": ["--processes", 3, "--hosts", 3, "--seed", 3],
    "v2": ["--protocols", "v2", "--seed", 4],
    "open-mpi": ["--mpi", "openmpi", "--seed", 5],
    "tcp": ["--network", "tcp", "--seed", 6],
    "tcp-v2": ["--network", "tcp", "--protocols", "v2", "--mpi", "openmpi", "--seed", 7],
    "cards": ["--network", "dc_mlx5", "--cards", 3, "--hosts", 4, "--processes", 8, "--seed", 8],
    "threads": ["--lanes", 3, "--mix", "shared_tag=4", "--seed", 9],
    "gpus": ["--gpus", 2, "--seed", 10],
    "gpus-v2": ["--gpus", 2, "--protocols", "v2", "--processes", 6, "--seed", 11],
    "many": ["--processes", 16, "--events", 20000, "--seed", 12],
    "burst": ["--processes", 7, "--burst", 3, "--seed", 13],
    "clocks": ["--skew", 3600 * 10**9, "--drift", 100000, "--round-trip", 9000, "--seed", 14],
    "chain": ["--processes", 12, "--hosts", 12, "--events", 12000, "--seed", 15],
    "tree": ["--processes", 20, "--hosts", 20, "--events", 16000, "--seed", 16],
    "empty": ["--sizes", "0:8", "--seed", 17],
    "large": ["--sizes", "100000:4000000", "--seed", 18],
    "rma": ["--mix", "only,rma=1,am=1,stream=1", "--seed", 19],
    "rma-tcp": ["--mix", "only,rma=1", "--network", "tcp", "--seed", 20],
    "requests": ["--mix", "only,persistent=1,cancel=1,probe=1,wildcard=1", "--seed", 21],
    "collectives": ["--mix", "only,collective=1,icollective=1", "--processes", 6, "--seed", 22],
}


class Case:
    def __init__(self, uctrace, generator, folder):
        self.uctrace, self.generator, self.folder = uctrace, generator, folder

    def generate(self, *options, name="job"):
        path = self.folder / name
        shutil.rmtree(path, ignore_errors=True)
        arguments = ["-o", path, "--events", 5000, "--truth", "full", *options]
        subprocess.run([self.generator, *map(str, arguments)], check=True)
        return Folder(self.uctrace, path)

    def whole(self):
        for name, options in WHOLE.items():
            try:
                folder = self.generate(*options)
                compare.compare_totals(folder)
                compare.compare_report(folder)
                compare.check_whole(folder)
                agree(compare.compare_messages(folder) > 0, "there is no message")
            except Disagreement as why:
                raise Disagreement(f"{name}: {why}") from None

    def missing(self):
        """What went to and came from a rank without a log is unmatched, all else as ever."""
        folder = self.generate("--fault", "missing:3")
        compare.compare_totals(folder)
        compare.compare_messages(folder)
        agree(not folder.info["complete"], "the run is taken for complete")
        self.noted(folder, "no log of rank 3 (of 4)")
        self.noted(folder, "1 UCP peer left no log of this job")
        agree(folder.truth["totals"]["unmatched_sends"] > 0, "nothing was sent to rank 3")

    def unclosed(self):
        """Rank 2 was killed in MPI_Finalize: all its messages were over."""
        folder = self.generate("--fault", "unclosed:2")
        compare.compare_totals(folder)
        compare.compare_messages(folder)
        process = folder.info["processes"][2]
        agree(not process["complete"] and process["exit"] == "unseen", process)
        agree([call["mpi"] for call in process["in_calls"]] == ["MPI_Finalize"], process)
        self.noted(folder, "rank 2 (unseen) was in MPI_Finalize")

    def cut(self):
        folder = self.generate("--fault", "cut:1:2000")
        cut = folder.truth["by_process"][1]
        agree(cut["missing_bytes"] == 2000, cut["missing_bytes"])
        self.noted(folder, f"{cut['log']}: 2000 bytes are missing at the end of the file")
        self.noted(folder, "events were counted by the process but not found")
        agree([p["complete"] for p in folder.info["processes"]] == [True, False, True, True],
              folder.info["processes"])
        self.nothing_violated(folder)

    def dropped(self):
        folder = self.generate("--fault", "dropped:1:6")
        by_kind = folder.info["events"]["dropped_by_kind"]
        true = folder.truth["by_process"][1]["dropped"]
        agree(list(by_kind.values()) == true and sum(true) > 0, f"{by_kind}, not {true}")
        self.noted(folder, f"{sum(true)} records were dropped")
        self.nothing_violated(folder)
        # Messages that look alike, so that only their order tells which is which.
        folder = self.generate("--fault", "dropped:1:6", "--sizes", "64:64")
        exact = compare.check_exact(folder, "tag")
        agree(exact > 300, f"only {exact} messages are exact")
        self.noted(folder, "ambiguous because records were dropped")
        agree(not any("received before" in note for note in folder.info["notes"]),
              f"clocks are blamed for lost records: {folder.info['notes']}")

    def repeatable(self):
        """The same options make the same bytes, with as many threads as may be; a seed others."""
        options = ["--processes", 9, "--lanes", 2, "--gpus", 1]
        first = self.generate(*options).path
        again = self.generate(*options, "--threads", 4, name="again").path
        other = self.generate(*options, "--seed", 2, name="other").path
        names = sorted(p.name for p in first.iterdir() if p.suffix in (".ulog", ".json"))
        for name in names:
            agree((first / name).read_bytes() == (again / name).read_bytes(), f"{name} differs")
        agree((first / "truth.json").read_bytes() != (other / "truth.json").read_bytes(),
              "another seed makes the same job")

    def amounts(self):
        """About as many events as were asked for, in totals that need no list of messages."""
        for processes, events in ((2, 3000), (16, 60000), (64, 400000)):
            path = self.folder / "amounts"
            shutil.rmtree(path, ignore_errors=True)
            arguments = ["-o", path, "--processes", processes, "--events", events,
                         "--truth", "totals"]
            subprocess.run([self.generator, *map(str, arguments)], check=True)
            truth = json.loads((path / "truth.json").read_text())
            made = truth["totals"]["events"]
            agree(0.7 * events < made < 1.4 * events, f"{made} events, not {events}")
            agree("messages" not in truth["by_process"][0], "messages are listed")

    def damaged_store(self):
        """However late it turns out that a store is damaged: what is told is what the logs say, and
        without the logs a beginning of it and an error."""
        path = self.generate("--events", 700000, "--truth", "totals").path
        alone = self.folder / "alone"
        alone.mkdir()
        verbs = [("messages", "--format", "csv"), ("report", "--from", "1ms"), ("comms",)]
        expected = {verb: compare.uctrace(self.uctrace, *verb, path) for verb in verbs}
        store = (path / "run.h5").read_bytes()

        def damaged(place):
            return (store[:place] + bytes(byte ^ 0x5a for byte in store[place:place + 64])
                    + store[place + 64:])

        def ask_alone(verb, place):
            (alone / "run.h5").write_bytes(damaged(place))
            done = subprocess.run([self.uctrace, *verb, alone], capture_output=True, text=True)
            agree(expected[verb].startswith(done.stdout), f"{verb}: no beginning, byte {place}")
            agree(done.returncode == 0 and done.stdout == expected[verb]
                  or done.returncode == 125 and done.stderr.count("\n") == 1, f"{verb}: {done}")
            return done

        def turns_out_late(place):
            done = ask_alone(verbs[0], place)
            return done.returncode != 0 and done.stdout != ""

        places = range(len(store) // 100, len(store), len(store) // 50)
        late = next(filter(turns_out_late, places), None)
        agree(late is not None, "all damage turned out before anything was told")
        for place in (late, places[5], places[30]):
            for verb in verbs:
                ask_alone(verb, place)
                (path / "run.h5").write_bytes(damaged(place))
                told = compare.uctrace(self.uctrace, *verb, path)
                agree(told == expected[verb], f"{verb}: something else is told of byte {place}")

    def refused(self):
        """What cannot be is said in one line, and nothing is written over."""
        self.generate()
        for options, said in (
            (["-o", self.folder / "job"], "is not empty"),
            (["--events", "10"], "-o DIR"),
            (["-o", self.folder / "x", "--mix", "only"], "weights"),
            (["-o", self.folder / "x", "--events", "many"], "is no number"),
            (["-o", self.folder / "x", "--fault", "cut:9"], "rank 9"),
            (["-o", self.folder / "x", "--what"], "--help"),
        ):
            done = subprocess.run([self.generator, *map(str, options)], capture_output=True,
                                  text=True)
            agree(done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1,
                  f"{options}: {done}")
        agree(not (self.folder / "x").exists(), "a folder was made all the same")

    @staticmethod
    def noted(folder, text):
        agree(any(text in note for note in folder.info["notes"]),
              f"no note says '{text}': {folder.info['notes']}")

    @staticmethod
    def nothing_violated(folder):
        agree(not folder.info["complete"], "the run is taken for complete")
        for identity in folder.info["identities"]:
            agree(identity["result"] != "violated", f"identity {identity}")


def main():
    uctrace, generator, case = sys.argv[1:4]
    with tempfile.TemporaryDirectory(prefix="uctrace-tracegen-") as folder:
        getattr(Case(uctrace, generator, Path(folder)), case)()


if __name__ == "__main__":
    main()
