#!/usr/bin/env python3
"""Generates jobs and compares uctrace's results with the truth.

    test_tracegen.py UCTRACE GENERATOR CASE
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import compare
import partly_recorded
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
    "halves": ["--comms", "inter,inter,parity", "--processes", 7, "--seed", 23],
    "halves-open-mpi": ["--comms", "inter,world", "--mpi", "openmpi", "--burst", 2, "--seed", 24],
    "worlds": ["--spawn", 3, "--comms", "world,spawned,parity,inter", "--processes", 5,
               "--seed", 25],
    "worlds-open-mpi": ["--spawn", 6, "--comms", "spawned,world", "--mpi", "openmpi", "--lanes", 2,
                        "--protocols", "v2", "--seed", 26],
    "spawned-one": ["--spawn", 1, "--comms", "spawned,duplicate", "--processes", 3, "--gpus", 1,
                    "--seed", 27],
    "partitioned": ["--mix", "only,partitioned=3,nonblocking=1", "--processes", 5, "--seed", 28],
    "partitioned-threads": ["--mix", "partitioned=9", "--lanes", 2, "--burst", 2, "--protocols",
                            "v2", "--network", "tcp", "--seed", 29],
    "files": ["--mix", "only,file=2,collective=1,icollective=1", "--processes", 5, "--seed", 60],
    "files-open-mpi": ["--mix", "only,file=1,nonblocking=1", "--mpi", "openmpi", "--spawn", 2,
                       "--seed", 61],
    "interfaces-match": ["--matching", "interface", "--gpus", 1, "--processes", 6, "--hosts", 3,
                         "--seed", 62],
    "interfaces-match-v2": ["--matching", "interface", "--network", "dc_mlx5", "--protocols", "v2",
                            "--lanes", 2, "--mpi", "openmpi", "--mix",
                            "only,blocking=2,nonblocking=3,wildcard=1,persistent=1", "--seed", 63],
    "connected": ["--mix", "only,connected=3,nonblocking=1", "--processes", 7, "--hosts", 3,
                  "--seed", 64],
    "connected-threads": ["--mix", "connected=9", "--lanes", 2, "--burst", 2, "--network", "tcp",
                          "--seed", 65],
    "callers": ["--stacks", "callers", "--seed", 66],
    "stacks": ["--stacks", "mpi", "--mix", "partitioned=2,file=2,connected=2", "--seed", 67],
    "all-stacks": ["--stacks", "all", "--gpus", 1, "--lanes", 2, "--mpi", "openmpi", "--protocols",
                   "v2", "--seed", 68],
    "collectives": ["--mix", "only,collective=1,icollective=1", "--processes", 6, "--seed", 22],
}

# Recorded in windows; all but one on a single clock, which shows when the job was quiescent.
WINDOWS = {
    "together": ["--window", "3:12", "--window", "20:30", "--stacks", "mpi", "--seed", 30],
    "from-start": ["--window", "0:9", "--window", "15:40", "--seed", 31],
    "to-end": ["--window", "5:1000", "--protocols", "v2", "--seed", 32],
    "apart": ["--window", "3:12:2", "--window", "18:30:3", "--seed", 33],
    "open-mpi": ["--window", "2:9:1", "--window", "12:24", "--mpi", "openmpi", "--seed", 34],
    "threads": ["--window", "3:12:1", "--window", "18:30", "--lanes", 3, "--mix",
                "only,nonblocking=3,wildcard=1,persistent=1", "--gpus", 2, "--seed", 35],
    "gpus": ["--window", "3:12:1", "--window", "18:30", "--gpus", 2, "--seed", 36],
    "partitioned": ["--window", "4:14:1", "--window", "20:32", "--mix",
                    "only,partitioned=2,file=1,nonblocking=1", "--seed", 38],
    "copies": ["--window", "6:10", "--window", "11:17:2", "--gpus", 1, "--processes", 2,
               "--burst", 3, "--mpi", "openmpi", "--mix", "only,nonblocking=3,blocking=1,sendrecv=1", "--sizes",
               "100:8000", "--seed", 5],
    "streams": ["--window", "1:7:3", "--window", "11:16:1", "--processes", 2, "--burst", 3, "--mpi",
                "openmpi", "--protocols", "v2", "--events", 4000, "--seed", 39],
    "worlds": ["--window", "3:12:1", "--window", "18:30", "--spawn", 2, "--comms",
               "world,inter,spawned", "--mix", "file=2,connected=2", "--seed", 42],
    "hosts": ["--hosts", 3, "--window", "3:12:1", "--window", "18:30", "--seed", 39],
    "many": ["--window", "3:8:1", "--window", "10:14", "--processes", 12, "--events", 12000,
             "--seed", 37],
}
# With a bound on the size of logs.
BOUNDED = {
    "plain": ["--processes", 2, "--events", 150000, "--seed", 40],
    "threads": ["--processes", 3, "--events", 200000, "--lanes", 3, "--protocols", "v2", "--mix",
                "only,nonblocking=3,wildcard=1,persistent=1", "--gpus", 1, "--seed", 41],
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
                compare.compare_communicators(folder)
                agree(compare.compare_messages(folder) > 0, "there is no message")
            except Disagreement as why:
                raise Disagreement(f"{name}: {why}") from None

    def windows(self):
        for name, options in WINDOWS.items():
            try:
                folder = self.generate("--hosts", 1, *options)
                sure = partly_recorded.compare_windows(folder)
                agree(sure > 20 or folder.truth["hosts"] > 1, f"only {sure} are certain")
                agree(folder.info["complete"], "the run is not complete")
                for identity in folder.info["identities"]:
                    agree(identity["result"] == "holds", f"identity {identity}")
            except Disagreement as why:
                raise Disagreement(f"{name}: {why}") from None

    def bounded(self):
        """Logs of bounded size keep the newest events."""
        whole = {"events", "hooks", "drops", "recorded_uct", "recorded_ucp", "recorded_mpi"}
        for name, options in BOUNDED.items():
            try:
                folder = self.generate("--hosts", 1, "--max-log", 4 * 65536, *options)
                sure = partly_recorded.compare_bounded(folder)
                agree(sure > 500, f"only {sure} messages are certain")
                for identity in folder.info["identities"]:
                    agree(identity["result"] == "holds" or identity["name"] not in whole
                          and identity["result"] == "incomplete", f"identity {identity}")
            except Disagreement as why:
                raise Disagreement(f"{name}: {why}") from None

    def missing(self):
        """Messages to and from a rank without a log are unmatched, everything else is unchanged."""
        folder = self.generate("--fault", "missing:3")
        compare.compare_totals(folder)
        compare.compare_messages(folder)
        agree(not folder.info["complete"], "the run is taken for complete")
        self.noted(folder, "no log of rank 3 (of 4)")
        self.noted(folder, "1 UCP peer left no log of this job")
        agree(folder.truth["totals"]["unmatched_sends"] > 0, "nothing was sent to rank 3")

    def missing_of_world(self):
        """A rank of one world is missing, though another world has one of this number."""
        for rank, said in ((1, "no log of rank 1 (of 5):"),
                           (6, "no log of rank 1 (of 3) of a spawned world")):
            folder = self.generate("--spawn", 3, "--processes", 5, "--mpi", "openmpi", "--comms",
                                   "world,spawned", "--fault", f"missing:{rank}")
            self.noted(folder, said)
            self.nothing_violated(folder)
            compare.compare_totals(folder)

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
        # Similar messages, so that only their order distinguishes them.
        folder = self.generate("--fault", "dropped:1:6", "--sizes", "64:64")
        exact = compare.check_exact(folder, "tag")
        agree(exact > 300, f"only {exact} messages are exact")
        self.noted(folder, "ambiguous because records were dropped")
        agree(not any("received before" in note for note in folder.info["notes"]),
              f"clocks are blamed for lost records: {folder.info['notes']}")
        # Which message a copy to a GPU is for, the order of arrivals tells.
        folder = self.generate("--hosts", 1, "--processes", 2, "--gpus", 1, "--burst", 3, "--mpi",
                               "openmpi", "--mix", "only,nonblocking=3,blocking=1,sendrecv=1",
                               "--events", 4000, "--sizes", "100:8000", "--fault", "dropped:1:4",
                               "--seed", 8)
        agree(partly_recorded.check_copies(folder) > 50, "there are no copies")

    def repeatable(self):
        """The same options make the same bytes, with any number of threads; another seed makes
        others."""
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
        """About the requested number of events, in totals that need no list of messages."""
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
        """However late a store turns out to be damaged: the output is that of the logs, and without
        the logs a beginning of it and an error."""
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
        """Impossible options are reported in one line, and nothing is overwritten."""
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
