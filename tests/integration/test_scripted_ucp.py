"""UCP over a transport that refuses, delays and completes as a script says: programs without MPI are
recorded as the transport itself saw them, and their messages went over the devices of a NIC."""

from collections import Counter

from checks import check_complete, check_delivered
from harness import PROGRAMS, check, check_equal, record_well, run_test, run_well, scratch
from scripted import DEVICES, check_recording_is, environment, read_oracle

# UCX takes UCS_ERR_NO_RESOURCE of an interface's flush for a failure.
STUBBORN = "iface_flush:ok *:no_resource/3 *:late=2/2 *:thread/5 connect:late=5"
SETTINGS = {
    "at-once": ("", {"UCX_TLS": "scripted"}),
    "stubborn": (STUBBORN, {"UCX_TLS": "scripted"}),
    "put": (STUBBORN, {"UCX_TLS": "scripted", "UCX_RNDV_SCHEME": "put_zcopy"}),
    "eager": (STUBBORN, {"UCX_TLS": "scripted", "UCX_RNDV_THRESH": "inf"}),
    "endpoints": (STUBBORN, {"UCX_TLS": "script_ep,scripted:aux"}),
    "protocols-v2": (STUBBORN, {"UCX_TLS": "scripted", "UCX_PROTO_ENABLE": "y"}),
    "endpoints-v2": (STUBBORN, {"UCX_TLS": "script_ep,scripted:aux", "UCX_PROTO_ENABLE": "y"}),
}
ROUNDS = 3
RAILS = {"at-once", "stubborn", "put", "protocols-v2"}  # large messages are split over both devices


def check_paths(messages, setting):
    """Messages go over the devices of this transport, the largest ones half over each."""
    transport = "script_ep" if setting.startswith("endpoints") else "scripted"
    for message in messages:
        by_device = Counter()
        for step in message["path"]:
            check_equal(step["transport"], transport, f"transport of {message}")
            check(step["device"] in DEVICES, f"device of {message}")
            check_equal(step["remote_device"], step["device"], f"rails of {message}")
            if step["role"] == "data":
                by_device[step["device"]] += step["bytes"]
        if setting in RAILS and message["bytes"] == 1 << 20 and message["kind"] == "tag":
            check_equal(by_device, Counter(dict.fromkeys(DEVICES, 1 << 19)), f"halves of {message}")


def scripted_ucp_is_recorded(setting, program):
    script, settings = SETTINGS[setting]
    with scratch() as folder:
        variables = environment(folder, script, **settings)
        alone = run_well([PROGRAMS / program], env=variables)
        for account in folder.glob("oracle.*"):
            account.unlink()
        result, recording = record_well(folder / "data", [PROGRAMS / program], env=variables)
        check_equal(result.stdout, alone.stdout, "output of the program")
        check_complete(recording.info, layers=("uct", "ucp"), processes=2)
        check_delivered(recording.messages)
        check_recording_is(recording, read_oracle(folder))
        check_paths(recording.messages, setting)


run_test(scripted_ucp_is_recorded)
