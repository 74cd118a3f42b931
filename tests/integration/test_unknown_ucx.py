"""A UCX of unknown version: the layers turn themselves off with one warning each; the job runs."""

from harness import PROGRAMS, check, check_equal, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import record_well

FAKE_UCX = PROGRAMS / "fake_ucx_version.so"  # claims to be UCX 9.9.9
FAKE_REQUESTS = PROGRAMS / "fake_ucx_requests.so"  # claims to have requests of 4096 bytes


def unknown_version_is_passed_through(mpi_name):
    job = MPIS[mpi_name].job("allreduce", 65536, 2)
    # `record` puts its own library before this one. UCX's own warning is irrelevant here.
    environment = {"LD_PRELOAD": str(FAKE_UCX), "UCX_LOG_LEVEL": "error"}
    with scratch() as folder:
        alone = run_well(job)
        result, recording = record_well(folder / "data", job, env=environment)
        check_equal(result.stdout, alone.stdout, "output of the job")
        warnings = [line for line in result.stderr.splitlines() if "9.9.9" in line]
        layers = recording.info["layers"]
        check_equal(layers["mpi"]["state"], "on", "layer mpi")
        off = [name for name in ("uct", "ucp") if layers[name]["state"] == "off"]
        check(off, f"neither UCX layer is off: {layers}")
        check(1 <= len(warnings) <= len(off), f"not one warning for a layer: {result}")
        for advice in ("UCX 1.11 to 1.23", "LD_LIBRARY_PATH", "build-ucx", "--ucx", "newer uctrace"):
            check(all(advice in line for line in warnings), f"'{advice}' is not advised: {warnings}")
        for name in off:
            check(layers[name]["why"], f"layer {name} does not say why: {layers}")
        # A layer that is not requested gives no warning.
        _, recording = record_well(folder / "ucp", job, env=environment, switches=["--layers", "ucp,mpi"])
        told = {fault["layer"] for fault in recording.info["faults"]}
        check_equal(told, {"ucp"}, "layers with faults where UCT is not wanted")


def unknown_requests_are_told():
    """A UCX whose requests are of an unknown size: reported once, and everything is recorded."""
    job = [PROGRAMS / "plain_ucp"]
    with scratch() as folder:
        alone = run_well(job)
        result, recording = record_well(folder, job, env={"LD_PRELOAD": str(FAKE_REQUESTS)})
        check_equal(result.stdout, alone.stdout, "output of the job")
        faults = [(fault["process"], fault["fault"], fault["detail"]) for fault in recording.info["faults"]]
        detail = f"requests of 4096 bytes of UCX {recording.info['ucx']['version']} were not measured"
        processes = {process for process, _, _ in faults}
        expected = sorted((process, "self_check_failed", detail) for process in processes)
        check_equal(sorted(faults), expected, "faults, one of a process")
        check_equal(len(processes), len(recording.logs), "processes that tell it")
        check_equal(recording.info["layers"]["ucp"]["state"], "on", "layer ucp")


def unknown_ucx(mpi_name):
    unknown_version_is_passed_through(mpi_name)
    unknown_requests_are_told()


run_test(unknown_ucx)
