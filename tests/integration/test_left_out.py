"""Each missing hook is noticed: without it the job runs as before, and at least one identity is
violated, one about data if the hook is about data."""

from harness import PROGRAMS, check, check_equal, run_test, scratch, uses_protocols_v2
from logs import UCP_FUNCTIONS
from recordings import record_well
from scripted import LIBRARY

# Over the scripted transport, which has all operations.
SCRIPTED = {"LD_PRELOAD": str(LIBRARY), "UCX_TLS": "scripted"}
TAGS = {"LD_PRELOAD": str(LIBRARY), "UCX_TLS": "script_tm", "UCX_TM_THRESH": "1"}
TAGS["UCX_TM_FORCE_THRESH"] = "1"
JOBS = {
    "memory": ("plain_rma", SCRIPTED),
    "messages": ("plain_ucp", SCRIPTED),
    "bounced": ("plain_ucp", {**SCRIPTED, "UCX_ZCOPY_THRESH": "inf", "UCX_RNDV_THRESH": "inf"}),
    # Protocols v2 only announce large messages, while v1 passes them to the interface.
    "tags": ("plain_ucp", {**TAGS, "UCX_PROTO_ENABLE": "n"}),
    "announced": ("plain_ucp", {**TAGS, "UCX_TM_SW_RNDV": "y", "UCX_RNDV_SCHEME": "am"}),
    "bounced tags": ("plain_ucp", {**TAGS, "UCX_ZCOPY_THRESH": "inf", "UCX_RNDV_THRESH": "inf"}),
    "all": ("scripted_uct", {}),
    "all tags": ("scripted_tags", {}),
}

# Hook: the job without it, and the identity violated besides `hooks`.
UCT = {
    "ep_put_short": ("memory", "payload"),
    "ep_put_bcopy": ("memory", "payload"),
    "ep_put_zcopy": ("memory", "payload"),
    "ep_get_short": ("all", None),  # UCP uses it for nothing but staging
    "ep_get_bcopy": ("memory", "payload"),
    "ep_get_zcopy": ("memory", "payload"),
    "ep_am_short": ("memory", "payload"),
    "ep_am_short_iov": ("memory", "payload"),
    "ep_am_bcopy": ("bounced", "payload"),
    "ep_am_zcopy": ("memory", "payload"),
    "ep_atomic_cswap64": ("memory", "payload"),
    "ep_atomic_cswap32": ("memory", "payload"),
    "ep_atomic32_post": ("memory", "payload"),
    "ep_atomic64_post": ("memory", "payload"),
    "ep_atomic32_fetch": ("memory", "payload"),
    "ep_atomic64_fetch": ("memory", "payload"),
}
TAG_OFFLOAD = {
    "ep_tag_eager_short": ("tags", "payload"),
    "ep_tag_eager_bcopy": ("bounced tags", "payload"),
    "ep_tag_eager_zcopy": ("tags", "payload"),
    "ep_tag_rndv_zcopy": ("tags", "payload"),
    "ep_tag_rndv_cancel": ("tags", None),  # its operation stays outstanding
    "ep_tag_rndv_request": ("announced", "payload"),
    "iface_tag_recv_zcopy": ("bounced tags" if uses_protocols_v2({}) else "announced", "payload"),
    # They move no data, and nothing else counts them: a receive only seems to be still posted.
    "iface_tag_recv_cancel": ("all tags", None),
    "ep_pending_add": ("all", None),
    "ep_pending_purge": ("all", "pending"),
    "ep_flush": ("memory", None),
    "ep_fence": ("memory", None),
    "ep_check": ("all", None),
    "iface_flush": ("memory", None),
    "uct_iface_set_am_handler": ("memory", None),  # what is lost depends on time
}
# Without the record of a UCP operation, its UCT operations count as unattributed, which is not a
# contradiction.
NAMES = [name.replace("active_message_handler", "ucp_am_handler") for name in UCP_FUNCTIONS]
UCP = {name: ("messages" if "_tag_" in name else "memory", None) for name in NAMES}
TAG_FUNCTIONS = 10  # they come first
PARTS = {
    "uct": UCT,
    "tag-offload": TAG_OFFLOAD,
    "ucp-tags": dict(list(UCP.items())[:TAG_FUNCTIONS]),
    "ucp-memory": dict(list(UCP.items())[TAG_FUNCTIONS:29]),
    "ucp-others": dict(list(UCP.items())[29:]),
}


def record_without(hook, job, folder):
    program, environment = JOBS[job]
    # What UCX logs has the time in it.
    quiet = {"UCX_LOG_LEVEL": "fatal"}
    variables = {**environment, **quiet, **({"UCTRACE_LEAVE_OUT": hook} if hook else {})}
    return record_well(folder, [PROGRAMS / program], env=variables)


def violated_in(recording):
    return {i["name"] for i in recording.info["identities"] if i["result"] == "violated"}


def each_hook_is_missed(part):
    hooks = PARTS[part]
    with scratch() as folder:
        outputs = {}
        for job in dict.fromkeys(job for job, _ in hooks.values()):
            result, whole = record_without(None, job, folder / "whole" / job)
            outputs[job] = result.stdout
            check_equal(violated_in(whole), set(), f"violated with all hooks in place: {job}")
        for hook, (job, identity) in hooks.items():
            result, recording = record_without(hook, job, folder / hook)
            check_equal(result.stdout, outputs[job], f"output without {hook}")
            violated = violated_in(recording)
            check("hooks" in violated, f"nobody misses {hook}: violated {violated}")
            faults = {(fault["fault"], fault["detail"]) for fault in recording.info["faults"]}
            check_equal(faults, {("left_out", hook)}, f"faults without {hook}")
            check(
                identity is None or identity in violated,
                f"{identity} holds without {hook}: violated {violated}",
            )


run_test(each_hook_is_missed)
