"""Real logs, damaged in hundreds of ways: the merger and the commands always end in time and within
bounded memory, with a valid exit status and plain lines."""

import json
import resource
import shutil
import subprocess

from harness import BUILD_ROOT, PROGRAMS, TOOL, check, check_equal, run_test, scratch
from logs import unpack
from mpi_jobs import MPIS
from recordings import record_well

MUTANTS = 500  # in one process
COMMAND_MUTANTS = 13  # through the command: one for each kind of damage
SEED = 20261121
MEMORY_BYTES = 1 << 30
TIMEOUT_S = 60
STATUSES = {0, 1, 125}  # 1: an identity is violated
QUESTIONS = (
    ["merge"],
    ["info"],
    ["info", "--format", "json"],
    ["report"],
    ["messages"],
    ["view"],
)
DRIVER = BUILD_ROOT / "tests" / "fuzz" / "merge_mutants"


def limited(command):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))

    return subprocess.run(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=TIMEOUT_S,
        preexec_fn=limit,
    )


def check_plain(data, command):
    text = data.decode("utf-8")  # raises where it is not
    odd = [c for c in text if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160]
    check(not odd, f"{command} wrote control characters: {odd[:5]}")


def check_violations_are_named(info, mutant):
    """Visible damage is reported: then nothing is claimed."""
    violated = [i["name"] for i in info["identities"] if i["result"] == "violated"]
    seen = info["folder"]["damaged"] or info["folder"]["missing_ranks"]
    check(not (violated and seen), f"mutant {mutant}: {violated} violated beside damage: {seen}")


def ask_commands(logs, folder, mutant):
    folder.mkdir()
    check_equal(limited([DRIVER, SEED, mutant, *logs, "-o", folder]).returncode, 0, "the driver")
    for verb, *options in QUESTIONS:
        result = limited([TOOL, verb, folder, *options])
        said = f"mutant {mutant}: {verb} {options}: {result}"
        check(result.returncode in STATUSES, f"exit status: {said}")
        check_plain(result.stdout, said)
        check_plain(result.stderr, said)
        if result.returncode == 125:
            check_equal(len(result.stderr.splitlines()), 1, f"lines of the error: {said}")
        elif "json" in options:
            check_violations_are_named(json.loads(result.stdout), mutant)
    shutil.rmtree(folder)


def check_job(command, folder):
    """Packed blocks have a checksum that reveals damage, so unpacked records are damaged, too."""
    _, recording = record_well(folder / "data", command)
    check_mutants(recording.logs, folder)
    unpack(*recording.logs)
    check_mutants(recording.logs, folder)


def check_mutants(logs, folder):
    result = limited([DRIVER, SEED, MUTANTS, *logs])
    said = result.stderr.decode(errors="replace").split("\r")[-1]
    check_equal(result.returncode, 0, f"exit status of the driver, which ended at: {said}")
    shown = int(result.stdout.split()[2])
    check(shown > MUTANTS // 2, f"only {shown} of {MUTANTS} mutants were read: too much damage")
    for mutant in range(COMMAND_MUTANTS):
        ask_commands(logs, folder / f"mutant{mutant}", mutant)


def damaged_logs_do_no_harm(job):
    command = [PROGRAMS / "plain_ucp"] if job == "plain_ucp" else MPIS[job].job("allreduce", 40000, 3)
    with scratch() as folder:
        check_job(command, folder)


run_test(damaged_logs_do_no_harm)
