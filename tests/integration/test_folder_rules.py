"""Which folders `record` uses and which it leaves alone: the marker, numbers of older runs, planted
files and links, jobs that run or wait elsewhere, two `record`s at once, and the default folder
(docs/folders.md)."""

import contextlib
import json
import os
import struct
import time

from checks import check_complete
from harness import (
    MPIS,
    PROGRAMS,
    TOOL,
    Recording,
    Skip,
    check,
    check_equal,
    finish,
    need,
    record_command,
    record_well,
    run,
    run_test,
    run_well,
    scratch,
    started,
    ucx_version,
    wait_for,
    wait_until,
)

REFUSED = 125
BOOT_ID, CLOSED, HEARTBEAT = 96, 230, 744  # docs/log-format.md
SILENCE_S = 120  # event-log/reader/liveness.hpp
STRANGER = 65534  # the id of another user
WAIT_FOR = "touch {0}.ready; while [ ! -e {0} ]; do sleep 0.05; done"


def quick_job(*go):
    """Two processes that use UCX, without a launcher. With a file `go` they wait for it at the end."""
    return [PROGRAMS / "plain_ucp", *go]


def waiting(go):
    """A command that records nothing and ends when the file `go` is there."""
    return ["sh", "-c", WAIT_FOR.format(go)]


def contents(folder):
    """Whatever must not change: {path: (inode, mtime, kind, content)} of all below."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = os.readlink(path) if path.is_symlink() else path.is_file() and path.read_bytes()
        found[path] = (status.st_ino, status.st_mtime_ns, status.st_mode, content)
    return found


def refused(command, *parts, **options):
    result = run(command, **options)
    check_equal(result.status, REFUSED, f"exit status: {result}")
    check_equal(len(result.stderr.splitlines()), 1, f"lines of the error: {result}")
    for part in ("cannot record into", "-o DIR", *parts):
        check(part in result.stderr, f"not said: {part!r}: {result}")
    check_equal(result.stdout, "", f"the job ran: {result}")


# --- foreign folders -----------------------------------------------------------------------------


def project(folder):
    """What a user has: files of every kind, some of them with names of ours."""
    folder.mkdir()
    (folder / "src").mkdir()
    (folder / "src" / "run.h5").write_text("a user's own")
    (folder / "main.c").write_text("int main(void) { return 0; }\n")
    (folder / "run.json").write_text("{}")
    (folder / "link").symlink_to("main.c")
    return folder


def foreign_folders_are_refused():
    command = ["echo", "ran"]
    with scratch() as folder:
        mine = project(folder / "project")
        before = contents(folder)
        for place, cwd in ((mine, None), (".", mine), ("../project", mine), (mine / "src" / "..", None)):
            refused(record_command(place, command), "'link'", cwd=cwd)
            check_equal(contents(folder), before, f"what is in a project, after -o {place}")
        refused(record_command(mine / "main.c", command), "it is not a folder")
        (folder / "nowhere").symlink_to("nothing")
        refused(record_command(folder / "nowhere", command), "it is a link to nothing")
        # A file with a name of ours is no marker.
        for name in ("run.json", "run.h5", "1.ulog", "libuctrace.so"):
            (folder / "named").mkdir(exist_ok=True)
            (folder / "named" / name).write_text("mine")
            refused(record_command(folder / "named", command), "no uctrace.folder")
            check_equal((folder / "named" / name).read_text(), "mine", f"content of {name}")
            (folder / "named" / name).unlink()
        # What lies beside a run keeps it where it is.
        _, recording = record_well(folder / "data", quick_job())
        for path in (recording.folder / "notes.txt", recording.folder / "more"):
            path.write_text("mine") if path.suffix else path.mkdir()
            before = contents(folder)
            refused(record_command(recording.folder, command), f"'{path.name}'")
            check_equal(contents(folder), before, "the folder of a run with a stranger in it")
            path.unlink() if path.suffix else path.rmdir()
        said = run([TOOL, "check", mine, "--format", "json"])
        ids = {finding["id"] for finding in json.loads(said.stdout)["findings"]}
        check("folder-taken" in ids, f"check accepts the folder: {said}")


def ranks_are_refused():
    """Behind a launcher each rank looks, one says it, and the job ends with that status."""
    with scratch() as folder:
        mine = project(folder / "project")
        before = contents(folder)
        for name, mpi in MPIS.items():
            *launcher, program, size = mpi.job("allreduce", 16)
            rank = [TOOL, "record", "-o", ".", "--", program, size]
            result = run([*launcher, *rank], cwd=mine)
            told = [line for line in result.stderr.splitlines() if "cannot record into" in line]
            check_equal(len(told), 1, f"lines that say it: {result}")
            check("'link'" in told[0] and "-o DIR" in told[0], f"what is said: {told}")
            check_equal(result.status, REFUSED, f"exit status of {name}'s launcher: {result}")
            check_equal(contents(folder), before, "what is in the project")
            run_well([*launcher, TOOL, "record", "-o", folder / name, "--", program, size])
            check((folder / name / "uctrace.folder").is_file(), "no marker behind the launcher")
            check_complete(Recording(folder / name).info, processes=mpi.ranks)
            # And in front the same folder is ours.
            run_well(record_command(folder / name, ["true"]))
            check_complete(Recording(folder / f"{name}.old.1").info, processes=mpi.ranks)
            for made in folder.glob(f"{name}*"):
                for path in made.iterdir():
                    path.unlink()
                made.rmdir()


def planted_links_are_not_followed():
    """Somebody else who may write into the folder plants links while the job runs."""
    with scratch() as folder:
        victim, data, go = folder / "victim", folder / "data", folder / "go"
        victim.write_text("precious")
        script = WAIT_FOR.format(go) + f"; exec {quick_job()[0]}"
        with started(record_command(data, ["sh", "-c", script])) as process:
            wait_for(folder / "go.ready")
            (data / "run.json").unlink()
            (data / "run.json").symlink_to(victim)
            (lease,) = data.glob("*.lease")
            lease.unlink()
            lease.symlink_to(victim)
            go.touch()
            result = finish(process)
        check_equal(result.status, 0, f"the job: {result}")
        check_equal(victim.read_text(), "precious", "content behind the links")
        check(not (data / "run.json").is_symlink(), "run.json is a link still")
        check_equal(json.loads((data / "run.json").read_text())["exit_status"], 0, "run.json")
        check(lease.is_symlink(), "a lease that is not ours was removed")


def a_scratch_folder_keeps_what_is_foreign():
    with scratch() as folder:
        temporary = folder / "temporary"
        temporary.mkdir()
        script = 'mkdir "$UCTRACE_FALLBACK_DIR/mine"; touch "$UCTRACE_FALLBACK_DIR/mine/file"'
        environment = {"TMPDIR": str(temporary)}
        result = run_well(record_command(folder / "a", ["sh", "-c", script]), env=environment)
        check_equal(len(list(temporary.glob("uctrace-*/mine/file"))), 1, "files that are not ours")
        check("is not removed" in result.stderr, f"it is not told: {result}")
        for left in temporary.glob("uctrace-*"):
            (left / "mine" / "file").unlink()
            (left / "mine").rmdir()
            left.rmdir()
        pipe = 'mkfifo "$UCTRACE_FALLBACK_DIR/x.ulog"'
        run_well(record_command(folder / "c", ["sh", "-c", pipe]), env=environment)
        run_well(record_command(folder / "b", quick_job()), env=environment)
        check_equal(list(temporary.iterdir()), [], "left in the temporary folder")


# --- older runs ----------------------------------------------------------------------------------


def older_runs_are_numbered():
    with scratch() as folder:
        data = folder / "data"
        jobs = []
        for _ in range(3):
            _, recording = record_well(data, quick_job())
            jobs.append(recording.info["job"])
        found = [Recording(folder / name).info["job"] for name in ("data.old.1", "data.old.2", "data")]
        check_equal(found, jobs, "jobs by folder")
        check_equal(len(set(jobs)), 3, "jobs")
        # Numbers that others have are passed over, whatever they are.
        (folder / "data.old.3").write_text("mine")
        (folder / "data.old.7").symlink_to("nothing")
        (folder / "data.old.x").mkdir()
        result, _ = record_well(data, quick_job())
        check(f"older data moved to {data}.old.8" in result.stderr, f"what is said: {result}")
        check_equal(Recording(folder / "data.old.8").info["job"], jobs[2], "job of the newest number")
        check_equal((folder / "data.old.3").read_text(), "mine", "a file with a number")
        check_equal(os.readlink(folder / "data.old.7"), "nothing", "a link with a number")


def a_remote_folder():
    """FUSE stands in for NFS, which can rename only what it may replace."""
    with scratch() as folder:
        (folder / "behind").mkdir()
        (folder / "remote").mkdir()
        if run([need("bindfs"), folder / "behind", folder / "remote"]).status != 0:
            raise Skip("bindfs cannot mount here")
        try:
            for _ in range(2):
                record_well(folder / "remote" / "data", quick_job())
            (folder / "behind" / "data.old.3").mkdir()
            _, recording = record_well(folder / "remote" / "data", quick_job())
            numbers = sorted(path.name for path in (folder / "behind").iterdir())
            check_equal(numbers, ["data", "data.old.1", "data.old.3", "data.old.4"], "folders")
            check_equal(list((folder / "behind" / "data.old.3").iterdir()), [], "a folder of a user")
            check_complete(Recording(folder / "behind" / "data.old.4").info, layers=("uct", "ucp"), processes=2)
        finally:
            run_well(["umount", folder / "remote"])


def what_is_not_renamed():
    with scratch() as folder:
        _, recording = record_well(folder / "data", quick_job())
        job = recording.info["job"]
        (folder / "link").symlink_to("data")
        command = ["echo", "ran"]
        refused(record_command(folder / "link", command), "holds an older run", "it is a link")
        refused(record_command(".", command), "it is the current folder", cwd=folder / "data")
        check_equal(Recording(folder / "data").info["job"], job, "the older run")
        # An empty one is used, whatever it is.
        for place, cwd in (("new", None), (".", folder / "new")):
            (folder / "new").mkdir(exist_ok=True)
            check_equal(run(record_command(place, ["true"]), cwd=cwd or folder).status, 0, f"-o {place}")
            for path in (folder / "new").iterdir():
                path.unlink()
        mounted = 'mount -t tmpfs tmpfs "$1"; shift; "$@" && "$@"'
        if run([need("unshare"), "--mount", "sh", "-ec", mounted, "sh", "/mnt", "true"]).status == 0:
            (folder / "disk").mkdir()
            result = run([need("unshare"), "--mount", "sh", "-ec", mounted, "sh", folder / "disk",
                          *record_command(folder / "disk", command)])
            check_equal((result.status, result.stdout), (REFUSED, "ran\n"), f"a mount: {result}")
            check("the root of a file system" in result.stderr, f"not told: {result}")
        # Where the folder above may not be changed, both stay, and it is said.
        folder.chmod(0o555)
        user = []
        if os.geteuid() == 0:
            user = ["setpriv", "--reuid", STRANGER, "--regid", STRANGER, "--clear-groups"]
            for path in (folder / "data", *(folder / "data").iterdir()):
                os.chown(path, STRANGER, STRANGER)
        result = run_well([*user, *record_command(folder / "data", quick_job())])
        folder.chmod(0o700)
        check("older data cannot be moved to" in result.stderr, f"not told: {result}")
        check_equal(len(Recording(folder / "data").info["folder"]["jobs"]), 2, "jobs in the folder")


# --- jobs that run or wait -----------------------------------------------------------------------


def in_pid_namespace(command):
    command = [need("unshare"), "--pid", "--fork", "--kill-child", "--mount-proc", *command]
    if run([*command[:5], "true"]).status != 0:
        raise Skip("PID namespaces are not permitted here")
    return command


def write_at(path, offset, data):
    mode = path.stat().st_mode
    path.chmod(0o644)
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(data)
    path.chmod(mode)


def silence(path, seconds):
    """The last sign of life of a log or lease was so long ago, by its page and by its time."""
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
    """In a PID namespace without a /proc of its own, whose numbers are of other processes."""
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
    """It has no process and no log yet: the lease of its `record` keeps the folder."""
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
    """Each of two that begin together has its logs, and those before them are there."""
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


# --- the default folder --------------------------------------------------------------------------


def batch_jobs_have_their_own():
    environments = ({"SLURM_JOB_ID": "17"}, {"PBS_JOBID": "18[2].server"}, {"LSB_JOBID": "19"},
                    {"LSB_JOBID": "19", "LSB_JOBINDEX": "3"}, {"FLUX_JOB_ID": "ƒ20"},
                    {"FLUX_URI": "local:///run/flux/local"})
    instance = 0x811c9dc5  # FNV-1a
    for byte in b"local:///run/flux/local":
        instance = (instance ^ byte) * 0x01000193 % 2**32
    names = ("17", "18_2_.server", "19", "19.3", "__20", f"flux-{instance:08x}")
    with scratch() as folder:
        for environment, name in zip(environments, names):
            data = folder / f"uctrace.data.{name}"
            result = run_well([TOOL, "record", "--", *quick_job()], env=environment, cwd=folder)
            check(f"next: uctrace report {data.name}" in result.stderr, f"what to type: {result}")
            check((data / "run.json").is_file(), f"no run in {data.name}")
            said = run_well([TOOL, "info", "--format", "json"], env=environment, cwd=folder).stdout
            job = json.loads((data / "run.json").read_text())["job"]
            check(json.loads(said)["job"].startswith(job), f"another run in {data.name}: {said}")
        check_equal(len(list(folder.iterdir())), len(names), "folders")
        # Nobody guesses which is meant.
        for environment in ({}, {"SLURM_JOB_ID": "99"}):
            result = run([TOOL, "info"], cwd=folder, env=environment)
            check_equal(result.status, REFUSED, f"exit status: {result}")
            check("name one of: " in result.stderr, f"not said: {result}")
            for name in names:
                check(f"uctrace.data.{name}" in result.stderr, f"{name} is not named: {result}")
        run_well([TOOL, "info", "uctrace.data.17"], cwd=folder)
        with scratch() as empty:
            result = run([TOOL, "info"], cwd=empty)
            check("record a job" in result.stderr, f"advice in an empty folder: {result}")


CASES = {
    "foreign": foreign_folders_are_refused,
    "ranks": ranks_are_refused,
    "links": planted_links_are_not_followed,
    "scratch": a_scratch_folder_keeps_what_is_foreign,
    "numbers": older_runs_are_numbered,
    "remote": a_remote_folder,
    "not-renamed": what_is_not_renamed,
    "namespace": jobs_in_another_namespace,
    "proc-of-host": jobs_under_the_proc_of_the_host,
    "moved": a_folder_that_is_moved,
    "signs": signs_of_life_decide,
    "queue": a_job_that_waits_in_a_queue,
    "at-once": two_at_once,
    "default": batch_jobs_have_their_own,
}


def folder_rules(case):
    CASES[case]()


run_test(folder_rules)
