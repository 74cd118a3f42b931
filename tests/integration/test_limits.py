"""A process at limits set by its site or user, or in an odd environment: it behaves as without the tool, and
unrecorded events are counted with their cause."""

import os

from checks import check_complete, check_incomplete, check_losses_are_told
from harness import PROGRAMS, Skip, check, check_equal, need, run, run_test, scratch, ucx_version
from recordings import Recording, record_command

MESSAGES = 1000
STRANGER = 61234  # a user who runs nothing else: a limit on threads counts all a user's


def limited(*limits):
    return [need("prlimit"), *limits]


def as_stranger(*words):
    if os.getuid() != 0:
        raise Skip("only root can become another user")
    identity = [f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups"]
    return [need("setpriv"), *identity, *words]


def in_shell(script):
    return ["sh", "-c", f'{script}; exec "$@"', "sh"]


def whole(result, recording):
    check_complete(recording.info, layers=("uct", "ucp"), processes=1)
    check("warning" not in result.stderr, f"record warns: {result}")


def all_lost(reason):
    def check_recording(result, recording):
        told = check_losses_are_told(result)
        check(reason in result.stderr, f"the reason is not told: {result}")
        info = recording.info
        check_equal(info["events"]["dropped"], told, "dropped records in info and by record")
        check_equal(info["events"]["ucp"], 0, "records of UCP operations")
        check_incomplete(info)

    return check_recording


def some_lost(reason):
    """The files may only grow to the size of a few records; the rest is counted."""

    def check_recording(result, recording):
        told = check_losses_are_told(result)
        check(reason in result.stderr, f"the reason is not told: {result}")
        info = recording.info
        check_equal(info["events"]["dropped"], told, "dropped records in info and by record")
        check_incomplete(info)

    return check_recording


def counted(result, recording):
    """Complete if the room was enough; else every loss is reported."""
    if "warning" in result.stderr:
        check_losses_are_told(result)
        check_incomplete(recording.info)
    else:
        whole(result, recording)


def nothing(result, recording):
    check_equal(recording.logs, [], "logs")
    check("nothing was recorded" in result.stderr, f"record does not say so: {result}")


def unfinished(result, recording):
    """The process that opened the log continued in a child, which a log cannot follow."""
    check("warning" in result.stderr, f"record does not warn: {result}")
    check_incomplete(recording.info)


def with_little_memory():
    """The program alone takes 27 MB of address space (53 MB with UCX 1.18), and 38 MB more if recorded:
    tables of which few pages are touched. With a little less, UCX waits for memory for ever."""
    return limited(f"--as={95000000 if ucx_version() >= (1, 18) else 68000000}")


def with_threads():
    return as_stranger(*limited("--nproc=2"))  # UCX needs one beside the program's own


# name: (in front of the program, transports, what becomes of the recording)
CASES = {
    "open-files": (limited("--nofile=16"), "posix", whole),
    "stack": (in_shell("ulimit -s 128"), "posix", whole),
    "memory": (limited("--as=120000000"), "posix", counted),
    "little-memory": (with_little_memory, "posix", counted),
    "file-size": (limited("--fsize=140000"), "tcp", some_lost("the limit on file sizes")),
    "tiny-files": (limited("--fsize=512"), "tcp", nothing),
    "threads": (with_threads, "posix", all_lost("may start no more threads")),
    "umask": (in_shell("umask 777"), "sysv", whole),
    "elsewhere": (in_shell("cd /"), "posix", whole),
    "other-user": (as_stranger, "posix", whole),
    "no-temporary": (["env", "TMPDIR=/nonexistent"], "posix", whole),
}


def with_jail():
    """Prepares a chroot with UCX's needs in the working folder."""
    script = 'for i in proc sys dev; do mkdir -p $i; mount --rbind /$i $i; done; exec "$@"'
    if os.getuid() != 0 or run([need("unshare"), "--mount", "true"]).status != 0:
        raise Skip("no private mounts here")
    return ["unshare", "--mount", "sh", "-ec", script, "sh"]


PREPARED = {"chroot": with_jail}

# The program's own change of circumstances (tests/programs/circumstances.h): the result of the recording
CIRCUMSTANCES = {
    "chroot": nothing,
    "daemon": whole,
    "daemon-later": unfinished,
    "closes-before": whole,
    "closes-later": whole,
    "uses-files-up": whole,
    "forks-inside": whole,
    "old-kernel": whole,
}


def limit_is_survived(case, storage):
    itself = case in CIRCUMSTANCES
    prefix, transports, check_recording = (
        (PREPARED.get(case, []), "sysv", CIRCUMSTANCES[case]) if itself else CASES[case]
    )
    prefix = prefix() if callable(prefix) else prefix
    program = [*prefix, PROGRAMS / "many_ucp", "outstanding", MESSAGES, *([case] if itself else [])]
    environment = {"UCX_TLS": transports}
    if itself:
        environment["UCX_LOG_LEVEL"] = "fatal"  # UCX tells what it misses, with the time
    if storage == "drained":
        environment["UCTRACE_DRAIN"] = "1"
    with scratch() as folder:
        data = folder / "data"
        for path in (folder, data):
            path.mkdir(exist_ok=True)
            path.chmod(0o777)  # the program may be another user's
        alone = run(program, env=environment, cwd=folder)
        if alone.status != 0:
            raise Skip(f"the program does not run under this limit here: {alone}")
        result = run(record_command(data, program), env=environment, cwd=folder)
        check_equal((result.status, result.stdout), (alone.status, alone.stdout), "the program")
        of_program = [s for s in result.stderr.splitlines() if not s.startswith("uctrace: ")]
        check_equal(of_program, alone.stderr.splitlines(), "what the program says on stderr")
        check_recording(result, Recording(data))


run_test(limit_is_survived)
