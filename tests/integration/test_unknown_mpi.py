"""An MPI that uctrace does not know: its calls pass through, and the recording states why it contains
none."""

from harness import PROGRAMS, check, check_equal, run_test, run_well, scratch
from recordings import record_well

# The last one is what a wrapper with its own handles may pass on from the MPI that it wraps.
TEXTS = ("Nobody's MPI 0.1", "Nobody's wrapper 2.11, wrapping: MPICH Version: 4.0.2")


def unknown_library_is_passed_through():
    program = [PROGRAMS / "unknown_mpi_user"]
    for text in TEXTS:
        environment = {"UNKNOWN_MPI_TEXT": text}
        with scratch() as folder:
            alone = run_well(program, env=environment)
            result, recording = record_well(folder / "data", program, env=environment)
            check_equal(result.stdout, alone.stdout, "output of the program")
            faults = [(fault["fault"], fault["detail"]) for fault in recording.info["faults"]]
            check_equal(faults, [("unknown_mpi_library", text)], "faults")
            layer = recording.info["layers"]["mpi"]
            check_equal(layer["state"], "off", "layer mpi")
            check(text in layer["why"], f"the layer does not say why: {layer}")
            warnings = [line for line in result.stderr.splitlines() if text in line]
            check_equal(len(warnings), 1, f"warnings in {result}")
            check("Open MPI, of MPICH or of MPI's standard (MPI 5)" in warnings[0], f"no advice: {warnings}")
            check_equal(recording.table("mpi_calls"), [], "calls")


run_test(unknown_library_is_passed_through)
