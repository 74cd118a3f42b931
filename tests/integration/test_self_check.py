"""A UCX with unexpected operation tables: the UCT layer turns itself off with one warning, the
others go on, and the job runs."""

import platform

from harness import PROGRAMS, Skip, check, check_equal, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import record_well

FAKE_UCX = PROGRAMS / "fake_ucx_table.so"


def failed_self_check_is_survived(mpi_name):
    if platform.machine() != "x86_64":
        raise Skip("the fake table is made of x86-64 code")
    job = MPIS[mpi_name].job("allreduce", 65536, 2)
    with scratch() as folder:
        alone = run_well(job)
        # `record` puts its own library before this one.
        result, recording = record_well(folder / "data", job, env={"LD_PRELOAD": str(FAKE_UCX)})
        check_equal(result.stdout, alone.stdout, "output of the job")
        layers = recording.info["layers"]
        check_equal(layers["uct"]["state"], "off", f"layer uct in {layers}")
        check("self_check" in layers["uct"]["why"], f"layer uct does not say why: {layers}")
        for name in ("ucp", "mpi"):
            check_equal(layers[name]["state"], "on", f"layer {name} in {layers}")
        warnings = [line for line in result.stderr.splitlines() if "UCT" in line]
        check_equal(len(warnings), 1, f"warnings about the UCT layer in {result}")
        results = {i["name"]: i["result"] for i in recording.info["identities"]}
        check_equal(results["uct"], "incomplete", "identity uct")
        check(recording.messages, "no message without the UCT layer")


run_test(failed_self_check_is_survived)
