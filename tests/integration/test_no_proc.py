"""Without /proc, as in a chroot or a bare container: jobs are recorded, and missing facts are
explained in plain sentences."""

import json
import os
import re

from harness import TOOL, Skip, check, check_equal, need, run, run_test, scratch
from mpi_jobs import MPIS
from recordings import record_command

HIDE_PROC = 'mount -t tmpfs none /proc && exec "$@"'


def without_proc(command, **options):
    return run([need("unshare"), "-m", "sh", "-c", HIDE_PROC, "sh", *command], **options)


def said(result):
    """Without the lines of UCX's log, which have times and numbers of processes."""
    return re.sub(r"^\[[\d.]+\] \[.*\] .* UCX .*\n", "", result.stdout, flags=re.MULTILINE)


def plain_sentences(result):
    for word in ("unexpected", "filesystem error", "terminate"):
        check(word not in result.stderr, f"no plain sentence: {result}")


def works_without_proc():
    if os.geteuid() != 0:
        raise Skip("only root can hide /proc")
    with scratch() as folder:
        if without_proc(["true"]).status != 0:
            raise Skip("no mount namespace can be made here")
        # Not over UCX, which makes no worker without /proc.
        job = MPIS["ompi"].job("selves", options=["--mca", "pml", "ob1"])
        alone = without_proc(job)
        check_equal(alone.status, 0, f"without uctrace: {alone}")
        result = without_proc(record_command(folder / "data", job))
        check_equal(result.status, 0, f"exit status: {result}")
        check_equal(said(result), said(alone), "output of the program")
        check("there is no /proc here" in result.stderr, f"record says nothing: {result}")
        plain_sentences(result)
        info = json.loads(without_proc([TOOL, "info", folder / "data", "--format", "json"]).stdout)
        check_equal(info["complete"], True, "complete")
        check(info["events"]["mpi"] > 0, f"no MPI calls: {info['events']}")

        checked = without_proc([TOOL, "check", "--format", "json", folder / "data", "--", *job])
        plain_sentences(checked)
        found = {f["id"] for f in json.loads(checked.stdout)["findings"]}
        check("kernel-no-proc" in found, f"check says nothing: {checked}")


run_test(works_without_proc)
