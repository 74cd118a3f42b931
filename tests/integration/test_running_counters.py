"""Counters of a running job, files written meanwhile, and counters of a killed job."""

import json
import os
import signal

from counter_files import CLASSES, by_pair, check_truth, counters, read_prof, truth_of
from harness import TOOL, check, check_equal, finish, run, run_test, scratch, started, wait_until
from launchers import tells_failures
from mpi_jobs import MPIS
from recordings import record, record_command


def live(mpi):
    """Read while it runs: no number goes down, and the last ones are those of the program."""
    with scratch() as folder:
        job = mpi.job_with_windows("counted", "wait", folder)
        seen = {}

        def there():
            if list((folder / "data").glob("*.counters")):
                found = run([TOOL, "counters", folder / "data", "--format", "json"])
                if found.status == 0:
                    rows = by_pair(json.loads(found.stdout), *CLASSES)
                    for key, (messages, total) in seen.items():
                        now = rows.get(key, (0, 0))
                        check(now[0] >= messages and now[1] >= total, f"{key} went from {seen[key]} to {now}")
                    seen.update(rows)
            return all_there(folder, mpi)

        with started(record_command(folder / "data", job, switches=["--counters"])) as process:
            wait_until(there, "the ranks did not come so far", timeout=100)
            while_it_ran = counters(folder / "data")
            check_equal({row["closed"] for row in while_it_ran["processes"]}, {"no"}, "it runs")
            (folder / "go").write_text("")
            result = finish(process)
        check_equal(result.status, 0, f"{result}")
        check_truth(while_it_ran, result.stdout)
        check_truth(counters(folder / "data"), result.stdout)


AN_HOUR = 3600


def profiles_are(folder, mpi, expected):
    """Whether all profiles are there, and say this."""
    pairs = {}
    for rank in range(mpi.ranks):
        path = folder / f"app.{rank}.prof"
        if not path.exists():
            return False
        pairs |= read_prof(path)[0]
    return pairs == expected


def take_profiles(folder):
    for path in folder.glob("app.*.prof"):
        path.unlink()


def flushed(mpi):
    """Profiles that are written again: when a signal asks for it, and every N seconds; the last ones when the
    job has ended."""
    with scratch() as folder:
        (folder / "out").mkdir()
        prefix = folder / "out" / "app"
        recorded = ["--counters", "--prof", prefix, "--prof-every", 1]
        command = record_command(folder / "data", mpi.job_with_windows("counted", "wait", folder), switches=recorded)
        with started(command) as process:
            wait_until(lambda: all_there(folder, mpi), "the ranks did not come so far", timeout=100)
            now = by_pair(counters(folder / "data"), *CLASSES)
            wait_until(lambda: profiles_are(folder / "out", mpi, now), "record --prof-every writes no profiles")
            take_profiles(folder / "out")
            wait_until(lambda: profiles_are(folder / "out", mpi, now), "record --prof-every writes them once only")
            asked, every = folder / "asked", folder / "every"
            for to in (asked, every):
                to.mkdir()
            with (started([TOOL, "counters", folder / "data", "--prof", asked / "app", "--every", AN_HOUR]) as by_signal,
                  started([TOOL, "counters", folder / "data", "--prof", every / "app", "--every", 1]) as by_time):
                for to in (asked, every):
                    wait_until(lambda: profiles_are(to, mpi, now), f"no profiles in {to}")
                    take_profiles(to)
                wait_until(lambda: profiles_are(every, mpi, now), "counters --every writes them once only")
                check(not list(asked.glob("*.prof")), "nobody asked for them")
                by_signal.send_signal(signal.SIGUSR1)
                wait_until(lambda: profiles_are(asked, mpi, now), "SIGUSR1 writes no profiles")
                (folder / "go").write_text("")
                check_equal(finish(process).status, 0, "the job")
                by_signal.send_signal(signal.SIGUSR1)
                for one in (by_signal, by_time):
                    check_equal(finish(one).status, 0, "counters --every ends with the job")
        last = by_pair(counters(folder / "data"), *CLASSES)
        for to in (folder / "out", asked, every):
            check(profiles_are(to, mpi, last), f"the last profiles in {to}")


def all_there(folder, mpi):
    return all((folder / f"there.{rank}").exists() for rank in range(mpi.ranks))


def killed_at_once(mpi):
    """A process that is killed leaves its last numbers."""
    with scratch() as folder:
        result, _ = record(folder / "data", mpi.job_with_windows("counted", "die"), switches=["--counters"])
        check(result.status != 0, "a rank was killed")
        found = counters(folder / "data")
        check("no" in {row["closed"] for row in found["processes"]}, f"{found['processes']}")
        pairs, _, _ = truth_of(result.stdout)
        of_first = {k: v for k, v in pairs.items() if k[:2] == ("external", 0)}
        check(of_first, "the killed rank had sent")
        check_equal({k: v for k, v in by_pair(found, "external").items() if k[1] == 0}, of_first,
                    "what the killed rank had sent")


def killed_drained(mpi):
    """Where the file cannot be mapped, it holds a copy that is a second old at most."""
    with scratch() as folder:
        job = mpi.job_with_windows("counted", "wait", folder)
        command = record_command(folder / "data", job, switches=["--counters"])
        with started(command, env={"UCTRACE_DRAIN": "1"}) as process:
            wait_until(lambda: all_there(folder, mpi), "the ranks did not come so far", timeout=100)
            wait_until(lambda: is_copied(folder / "data", mpi.ranks), "nothing was written")
            for row in counters(folder / "data")["processes"]:
                os.kill(row["pid"], signal.SIGKILL)
            result = finish(process)
        if tells_failures(mpi.name):
            check(result.status != 0, "ranks were killed")
        found = counters(folder / "data")
        check_equal({row["closed"] for row in found["processes"]}, {"no"}, "killed")
        check_truth(found, result.stdout)


def is_copied(folder, ranks):
    result = run([TOOL, "counters", folder, "--format", "json"])
    if result.status != 0:
        return False
    # The last that ranks do before they wait is their third barrier.
    barriers = {row["function"]: row["calls"] for row in json.loads(result.stdout)["functions"]}
    return barriers.get("MPI_Barrier") == 3 * ranks


def main(mpi, part):
    {"live": live, "killed": killed_at_once, "drained": killed_drained, "flushed": flushed}[part](MPIS[mpi])


run_test(main)
