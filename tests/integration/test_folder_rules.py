"""Which folders `record` uses or leaves alone: the marker, numbers of older runs, planted files and
links, and the default folder (docs/folders.md)."""

import json
import os

from checks import check_complete
from folders import REFUSED, STRANGER, WAIT_FOR, quick_job
from harness import TOOL, Skip, check, check_equal, finish, need, run, run_test, run_well, scratch, started, wait_for
from mpi_jobs import MPIS
from recordings import Recording, record_command, record_well



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
    """A user's files of every kind, some with names of ours."""
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
        # Other files beside a run keep it in place.
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
    """After a launcher each rank checks, one reports, and the job ends with that status."""
    with scratch() as folder:
        mine = project(folder / "project")
        before = contents(folder)
        for name in ("ompi", "mpich"):
            mpi = MPIS[name]
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
        # Numbers in use are skipped, whatever has them.
        (folder / "data.old.3").write_text("mine")
        (folder / "data.old.7").symlink_to("nothing")
        (folder / "data.old.x").mkdir()
        result, _ = record_well(data, quick_job())
        check(f"older data moved to {data}.old.8" in result.stderr, f"what is said: {result}")
        check_equal(Recording(folder / "data.old.8").info["job"], jobs[2], "job of the newest number")
        check_equal((folder / "data.old.3").read_text(), "mine", "a file with a number")
        check_equal(os.readlink(folder / "data.old.7"), "nothing", "a link with a number")


def a_remote_folder():
    """FUSE stands in for NFS, which has no rename without replacement."""
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
        # If the parent folder is read-only, both stay, and it is reported.
        folder.chmod(0o555)
        user = []
        if os.geteuid() == 0:
            user = ["setpriv", "--reuid", STRANGER, "--regid", STRANGER, "--clear-groups"]
            if run([*user, *quick_job()]).status != 0:
                raise Skip("another user may not run programs of this build")
            for path in (folder / "data", *(folder / "data").iterdir()):
                os.chown(path, STRANGER, STRANGER)
        result = run_well([*user, *record_command(folder / "data", quick_job())])
        folder.chmod(0o700)
        check("older data cannot be moved to" in result.stderr, f"not told: {result}")
        check_equal(len(Recording(folder / "data").info["folder"]["jobs"]), 2, "jobs in the folder")


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
        # The tool does not guess.
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
    "default": batch_jobs_have_their_own,
}


def folder_rules(case):
    CASES[case]()


run_test(folder_rules)
