"""MPI jobs over a transport that refuses, delays and completes by script: the ranks' messages used
the devices of a NIC, and the recording equals what the transport saw."""

from checks import check_complete, check_messages_are, read_truth
from harness import run_test, scratch
from mpi_jobs import MPIS
from recordings import record_well
from scripted import check_paths, check_peers, check_recording_is, environment, read_oracle


def scripted_mpi_is_recorded(mpi_name, program, setting):
    mpi = MPIS[mpi_name]
    with scratch() as folder:
        job = mpi.job(program, folder / "truth")
        _, recording = record_well(folder / "data", job, env=environment(folder, setting))
        check_messages_are(recording, read_truth(folder / "truth", mpi))
        check_complete(recording.info, processes=mpi.ranks)
        check_recording_is(recording, read_oracle(folder))
        check_paths(recording.messages, setting)
        check_peers(recording)


run_test(scripted_mpi_is_recorded)
