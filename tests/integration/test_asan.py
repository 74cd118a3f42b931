"""A program built by GCC with AddressSanitizer runs the same under `record`, before and after the
launcher: the sanitizer starts, and finds the same mistakes."""

import json
from dataclasses import replace

from checks import check_complete, check_delivered
from harness import PROGRAMS, TOOL, check, check_equal, run, run_test, scratch
from launchers import tells_failures
from mpi_jobs import MPIS
from recordings import Recording, record, record_command

# MPI libraries leak by themselves.
WITHOUT_LEAKS = {"ASAN_OPTIONS": "detect_leaks=0"}
MISTAKES = {"overflow": "ERROR: AddressSanitizer: heap-buffer-overflow", "leak": "Direct leak of 12345 byte"}
SETTING = "verify_asan_link_order=0"


def said(result, mpi):
    lines = sorted(result.stdout.splitlines())
    return lines if tells_failures(mpi.name) else [line for line in lines if line.startswith("asan:")]


def found_by(result):
    """The sanitizer's findings in all ranks; lines of several ranks may be interleaved."""
    return {mistake for mistake in MISTAKES.values() if mistake in result.stderr}


def job_of(mpi, program="asan", *arguments):
    """Open MPI 5 patches the code of mprotect(), which the sanitizer also replaces."""
    options = [*mpi.transport_options, "--mca", "memory", "^patcher"] if mpi.name == "ompi" else None
    return mpi.job(program, *arguments, options=options)


def check_same(mpi, result, alone, what, *, ranks_fail=False):
    if not ranks_fail or tells_failures(mpi.name):
        check_equal(result.status, alone.status, f"{what}: exit status: {result}")
    check_equal(said(result, mpi), said(alone, mpi), f"{what}: output")
    check_equal(found_by(result), found_by(alone), f"{what}: what the sanitizer found: {result.stderr}")


def mistakes_are_found(mpi, folder):
    for action, mistake in MISTAKES.items():
        options = WITHOUT_LEAKS if action == "overflow" else {}
        alone = run(job_of(mpi, "asan", action), env=options)
        check_equal(found_by(alone), {mistake}, f"without uctrace: {alone}")
        result, _ = record(folder / action, job_of(mpi, "asan", action), env=options)
        check_same(mpi, result, alone, action, ranks_fail=True)


def job_is_recorded(mpi, folder):
    job = job_of(mpi, "asan", "none")
    alone = run(job, env=WITHOUT_LEAKS)
    check_equal(alone.status, 0, f"exit status: {alone}")
    result, recording = record(folder / "front", job, env=WITHOUT_LEAKS)
    check_same(mpi, result, alone, "in front")
    check_complete(recording.info, processes=mpi.ranks)
    check_delivered(recording.messages)
    at = job.index(PROGRAMS / f"asan.{mpi.name}")
    behind = [*job[:at], *record_command(folder / "behind", job[at:])]
    check_same(mpi, run(behind, env=WITHOUT_LEAKS), alone, "behind")
    check_complete(Recording(folder / "behind").info, processes=mpi.ranks)


def findings(job, env=None):
    said = run([TOOL, "check", "--format", "json", "--", *job], env=env).stdout
    return json.loads(said)["findings"]


def check_names_it(mpi, folder):
    """Also if a program has its own settings, which replace uctrace's: the printed fix works."""
    found = [f["found"] for f in findings(job_of(mpi))]
    check(any("AddressSanitizer (libasan" in text for text in found), f"not named: {found}")
    job = job_of(mpi, "asan_options")
    trouble = [f for f in findings(job) if f["id"] == "program-sanitizer"]
    check(len(trouble) == 1 and SETTING in trouble[0]["fix"], f"not named: {findings(job)}")
    result, recording = record(folder / "own", job, env={"ASAN_OPTIONS": SETTING})
    check_same(mpi, result, run(job), "settings of its own")
    check_complete(recording.info, processes=mpi.ranks)
    trouble = [f["id"] for f in findings(job, env={"ASAN_OPTIONS": SETTING})]
    check("program-sanitizer" not in trouble, f"named, although it is mended: {trouble}")


def asan_runs(name):
    mpi = replace(MPIS[name], ranks=2)
    with scratch() as folder:
        job_is_recorded(mpi, folder)
        mistakes_are_found(mpi, folder)
        check_names_it(mpi, folder)


run_test(asan_runs)
