"""Folders with running or waiting jobs: `record` leaves them in place as long as any process may be
alive, and two concurrent `record`s keep both recordings (docs/folders.md)."""

import contextlib
import json
import os
import struct
import time

from folders import BOOT_ID, CLOSED, HEARTBEAT, SILENCE_S, WAIT_FOR, quick_job, write_at
from harness import (
    Skip, check, check_equal, finish, need, run, run_test, run_well, scratch, started, ucx_version, wait_for,
    wait_until,
)
from recordings import Recording, record_command, record_well


def waiting(go):
    """A command that records nothing and ends when the file `go` is there."""
    return ["sh", "-c", WAIT_FOR.format(go)]


def in_pid_namespace(command):
    command = [need("unshare"), "--pid", "--fork", "--kill-child", "--mount-proc", *command]
    if run([*command[:5], "true"]).status != 0:
        raise Skip("PID namespaces are not permitted here")
    return command


def silence(path, seconds):
    """Ages the last sign of life of a log or lease, in its page and its modification time."""
    then = time.time_ns() - seconds * 10**9
    if path.suffix == ".ulog":
        write_at(path, HEARTBEAT, struct.pack("=Q", then))
    os.utime(path, ns=(then, then))


def keeps(data, job, because):
    """`record` leaves the data where it is, and says why."""
    before = {path.name for path in data.iterdir() if path.suffix == ".ulog"}
    result = run_well(record_command(data, job))
    check("keeps an older job beside this one" in result.stderr, f"not told: {result}")
    check(because in result.stderr, f"the reason is not told: {result}")
    after = {path.name for path in data.iterdir() if path.suffix == ".ulog"}
    check(before <= after, f"logs that went: {before - after}")
    check_equal(list(data.parent.glob("data.old*")), [], "older runs")


def moves(data, job):
    older = {path.name for path in data.iterdir() if path.suffix == ".ulog"}
    numbers = len(list(data.parent.glob("data.old.*")))
    result = run_well(record_command(data, job))
    check("older data moved" in result.stderr, f"not moved: {result}")
    moved = data.parent / f"data.old.{numbers + 1}"
    check(older <= {path.name for path in moved.iterdir()}, f"logs of {moved}")


def jobs_in_another_namespace():
    """The processes of a job cannot be seen from here, as those of another host."""
    with scratch() as folder:
        data, go = folder / "data", folder / "go"
        hanging = record_command(data, quick_job(go))
        with started(in_pid_namespace(hanging)) as process:
            wait_for(folder / "go.ready")
            (lease,) = data.glob("*.lease")
            keeps(data, quick_job(), "waits for its job there")
            silent = lease.read_bytes()
            lease.unlink()
            logs = sorted(data.glob("*.ulog"))
            # Without a lease, as behind the launcher.
            keeps(data, quick_job(), "is still writing there")
            go.touch()
            ended = finish(process)
            check_equal(ended.status, 0, f"the job: {ended}")
        # An ended job, though nobody can see that it has ended.
        lease.write_bytes(silent)
        silence(lease, SILENCE_S + 60)
        check(logs, "there were no logs")
        moves(data, ["true"])


def jobs_under_the_proc_of_the_host():
    """In a PID namespace without its own /proc, where numbers refer to other processes."""
    command = [need("unshare"), "--pid", "--fork", "--kill-child"]
    if run([*command, "true"]).status != 0:
        raise Skip("PID namespaces are not permitted here")
    with scratch() as folder:
        data, go = folder / "data", folder / "go"
        first, second = (" ".join(str(word) for word in record_command(data, quick_job(*more)))
                         for more in ([go], []))
        script = (f"{first} & while [ ! -e {go}.ready ]; do :; done; rm {data}/*.lease; {second}; "
                  f"touch {go}; wait")
        # From 1.18 on UCX opens shared memory of others through /proc, which has other processes.
        environment = {"UCX_TLS": "tcp,self"} if ucx_version() >= (1, 18) else None
        result = run_well([*command, "sh", "-ec", script], env=environment)
        check("is still writing there" in result.stderr, f"the reason is not told: {result}")
        check_equal(list(folder.glob("data.old*")), [], "older runs")


def a_folder_that_is_moved():
    """While the job runs, by its user: what the job leaves follows it."""
    with scratch() as folder:
        data, moved, go = folder / "data", folder / "mine", folder / "go"
        with started(record_command(data, quick_job(go))) as process:
            wait_for(folder / "go.ready")
            data.rename(moved)
            run(record_command(data, ["sh", "-c", "exit 7"]))
            go.touch()
            result = finish(process)
        check_equal(result.status, 0, f"the job: {result}")
        check(f"is called {moved} now" in result.stderr, f"not told: {result}")
        statuses = {place: json.loads((place / "run.json").read_text())["exit_status"]
                    for place in (data, moved)}
        check_equal(statuses, {data: 7, moved: 0}, "exit statuses in run.json")
        check_equal(list(moved.glob("*.lease")), [], "leases")


def fake_elsewhere(recording, *, closed=0):
    """The run of a job on another host that did not end."""
    for log in recording.logs:
        write_at(log, BOOT_ID, b"another0")
        write_at(log, CLOSED, bytes([closed]))


def signs_of_life_decide():
    with scratch() as folder:
        _, recording = record_well(folder / "data", quick_job())
        data = recording.folder
        fake_elsewhere(recording)
        logs = recording.logs
        for log in logs:
            silence(log, 10)
        keeps(data, ["true"], "is still writing there")
        for log in logs:
            silence(log, SILENCE_S + 60)
        os.utime(logs[0])  # what it wrote last is new by the clock of the file server
        keeps(data, ["true"], "is still writing there")
        write_at(logs[0], HEARTBEAT, struct.pack("=Q", 0))
        os.utime(logs[0], (1, 1))
        keeps(data, ["true"], "cannot be told")
        silence(logs[0], -(SILENCE_S + 600))
        keeps(data, ["true"], "cannot be told")
        silence(logs[0], SILENCE_S + 60)
        moves(data, ["true"])
        # On this host, in this namespace, what is gone is dead at once.
        _, recording = record_well(folder / "data", quick_job())
        for log in recording.logs:
            write_at(log, CLOSED, bytes([0]))
            silence(log, 0)
        moves(data, ["true"])


def a_job_that_waits_in_a_queue():
    """There is no process and no log yet: the lease of its `record` protects the folder."""
    with scratch() as folder:
        data, go = folder / "data", folder / "go"
        with started(record_command(data, waiting(go))) as process:
            wait_for(folder / "go.ready")
            keeps(data, quick_job(), "waits for its job there")
            (lease,) = data.glob("*.lease")
            silence(lease, SILENCE_S + 60)
            wait_until(lambda: time.time() - lease.stat().st_mtime < SILENCE_S / 2, "no sign of life")
            go.touch()
            check_equal(finish(process).status, 0, "the one that waited")
        check_equal(list(data.glob("*.lease")), [], "leases that stayed")
        moves(data, quick_job())
        # Killed, it leaves its lease behind: dead at once where it can be seen, else after a while.
        go.unlink()
        (folder / "go.ready").unlink()
        with started(record_command(data, waiting(go))) as process:
            wait_for(folder / "go.ready")
            (lease,) = data.glob("*.lease")
            text = json.loads(lease.read_text())
            process.kill()
            process.wait()
            go.touch()
        result = run_well(record_command(data, ["true"]))
        check("keeps" not in result.stderr, f"a dead lease holds the folder: {result}")
        text["boot_id"] = "another"
        for old, because in ((10, "waits for its job"), (-1000, "cannot be told")):
            lease.write_text(json.dumps(text))
            silence(lease, old)
            result = run_well(record_command(data, ["true"]))
            check(because in result.stderr, f"a lease of {old} s: {result}")
        lease.write_text(json.dumps({**text, "host": "a\x1b[31m\nuctrace: all is well"}))
        silence(lease, 10)
        result = run_well(record_command(data, ["true"]))
        check("waits for its job" in result.stderr, f"a lease of a strange host: {result}")
        check("\x1b" not in result.stderr and "\nuctrace: all" not in result.stderr,
              f"characters that others chose reach the terminal: {result}")
        for nonsense in ("", "{", '{"pid": -1}', "[1]"):
            lease.write_text(nonsense)
            silence(lease, 10)
            result = run_well(record_command(data, ["true"]))
            check("waits for its job" in result.stderr, f"a lease {nonsense!r}: {result}")
        silence(lease, SILENCE_S + 60)
        result = run_well(record_command(data, ["true"]))
        check("keeps" not in result.stderr, f"an old lease holds the folder: {result}")


def two_at_once():
    """Two that begin together each keep their logs, and earlier runs are still there."""
    rounds = 6
    with scratch() as folder:
        data = folder / "data"
        for _ in range(rounds):
            with contextlib.ExitStack() as both:
                jobs = [both.enter_context(started(record_command(data, quick_job())))
                        for _ in range(2)]
                results = [finish(job) for job in jobs]
            for result in results:
                check_equal(result.status, 0, f"one of two: {result}")
                check("next: uctrace report" in result.stderr, f"nothing was recorded: {result}")
        folders = [data, *folder.glob("data.old.*")]
        logs = [log for place in folders for log in place.glob("*.ulog")]
        per_job = {}
        for place in folders:
            for job in Recording(place).info["folder"]["jobs"]:
                per_job[job["job"]] = per_job.get(job["job"], 0) + job["processes"]
        check_equal(len(per_job), 2 * rounds, f"jobs in {len(folders)} folders")
        check_equal(sum(per_job.values()), len(logs), "logs of them")
        check_equal({count for count in per_job.values()}, {len(logs) // (2 * rounds)}, "logs of each")


CASES = {
    "namespace": jobs_in_another_namespace,
    "proc-of-host": jobs_under_the_proc_of_the_host,
    "moved": a_folder_that_is_moved,
    "signs": signs_of_life_decide,
    "queue": a_job_that_waits_in_a_queue,
    "at-once": two_at_once,
}


def folder_jobs(case):
    CASES[case]()


run_test(folder_jobs)
