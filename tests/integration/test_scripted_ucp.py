"""UCP over a transport that refuses, delays and completes by script: programs without MPI are
recorded as the transport saw them, and their messages used the devices of a NIC."""

from collections import Counter

from checks import check_complete, check_delivered
from harness import PROGRAMS, check, check_equal, run_test, run_well, scratch
from recordings import record_well
from scripted import DEVICES, check_paths, check_peers, check_recording_is, environment, read_oracle

RAILS = {"at-once", "stubborn", "put", "protocols-v2"}  # large messages are split over both devices


def check_halves(messages):
    """A large message goes half over each of the two devices."""
    large = [message for message in messages if message["bytes"] == 1 << 20]
    for message in large:
        by_device = Counter()
        for step in message["path"]:
            if step["role"] == "data":
                by_device[step["device"]] += step["bytes"]
        check_equal(by_device, Counter(dict.fromkeys(DEVICES, 1 << 19)), f"halves of {message}")
    check(large, "no large message")


def scripted_ucp_is_recorded(setting, program):
    # Active messages do not identify their sender: messages to self use another transport.
    beside = ",self" if program == "plain_rma" else ""
    with scratch() as folder:
        variables = environment(folder, setting, beside=beside)
        alone = run_well([PROGRAMS / program], env=variables)
        for account in folder.glob("oracle.*"):
            account.unlink()
        result, recording = record_well(folder / "data", [PROGRAMS / program], env=variables)
        check_equal(result.stdout, alone.stdout, "output of the program")
        check_complete(recording.info, layers=("uct", "ucp"), processes=2)
        check_delivered(recording.messages)
        check_recording_is(recording, read_oracle(folder))
        check_paths(recording.messages, setting)
        check_peers(recording)
        if setting in RAILS and program == "plain_ucp":
            check_halves(recording.messages)


run_test(scripted_ucp_is_recorded)
