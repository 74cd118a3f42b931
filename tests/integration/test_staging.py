"""Messages from and to device memory: UCX copies between it and host memory inside and between network
operations. These copies belong to the messages, but do not count as payload."""

from checks import check_complete, check_delivered
from harness import PROGRAMS, check, check_equal, run_test, run_well, scratch
from recordings import record_well

SETTINGS = {
    "rendezvous": {},
    "eager": {"UCX_RNDV_THRESH": "inf"},
    "put": {"UCX_RNDV_SCHEME": "put_zcopy"},
    "tag-offload": {
        "UCX_TLS": "script_tm,script_cp",
        "UCX_TM_THRESH": "1",
        "UCX_TM_FORCE_THRESH": "1",
    },
    "protocols-v2": {"UCX_PROTO_ENABLE": "y"},
}
COPIES = "script_cp"


def staging_belongs_to_its_message(setting):
    program = [PROGRAMS / "scripted_gpu"]
    environment = {"UCX_TLS": f"scripted,{COPIES}", "UCX_MEMTYPE_CACHE": "n", **SETTINGS[setting]}
    with scratch() as folder:
        alone = run_well(program, env=environment)
        result, recording = record_well(folder / "data", program, env=environment)
        check_equal(result.stdout, alone.stdout, "output of the program")
        check_complete(recording.info, layers=("uct", "ucp"), processes=2)
        check_delivered(recording.messages)
        staged = 0
        for message in recording.messages:
            for step in message["path"]:
                copies = step["transport"] == COPIES
                check_equal(step["role"] == "staging", copies, f"role of {step} of {message}")
                if copies:
                    staged += step["count"]
                    check_equal(step["bytes"], 0, f"payload of {step}")
        check(staged > 0, "nothing was staged")


run_test(staging_belongs_to_its_message)
