"""Each accounting identity can fail: a log is changed so that exactly this one is violated."""

from checks import results_of
from harness import PROGRAMS, check, check_equal, run_test, scratch
from logs import (
    CAUSES_OFFSET,
    COUNTERS,
    COUNTERS_OFFSET,
    DEFINITIONS,
    LANES_OFFSET,
    MEMORY_CALL,
    UCP_OPERATION,
    UCT_INTERFACE,
    UCT_OPERATION,
)
from mpi_jobs import MPIS
from recordings import record_well
from red_identities import IDENTITY_VIOLATED, changed_copy, names_with

AM_BCOPY, INPROGRESS, HAS_ID = 9, 1, 1
EAGER_ONLY = 2
TAG_SEND_NBX, AM_HANDLER, STREAM_RECV_NBX = 3, 39, 48
DEREGISTRATIONS = {4, 5}  # functions of a memory_call


def count_one_more(counter):
    def change(log):
        offset = LANES_OFFSET + COUNTERS_OFFSET + COUNTERS.index(counter) * 8
        log.set_u64(offset, log.u64(offset) + 1)
        return True

    return change


def drop_without_kind(log):
    """A drop with a cause but without a kind."""
    offset = LANES_OFFSET + CAUSES_OFFSET
    log.set_u64(offset, log.u64(offset) + 1)
    return True


def detach_completion(log):
    """A completion for an operation that does not expect one."""
    for offset, _, status in log.records(UCT_OPERATION):
        if status == INPROGRESS and log.bytes[offset + 10] & HAS_ID:
            log.set_u64(offset + 56, 0)
            return True
    return False


def change_tag(log):
    """A message that was received with another tag than it was sent with."""
    for offset, function, _ in log.records(UCP_OPERATION):
        if function & 0xFF == TAG_SEND_NBX:
            log.set_u64(offset + 48, log.u64(offset + 48) ^ 1 << 41)
            return True
    return False


def lose_a_byte(log):
    """A fragment that carried one byte less of its message."""
    for offset, _, _ in log.records(UCT_OPERATION):
        op, am_id = log.bytes[offset + 8], log.bytes[offset + 9]
        if op == AM_BCOPY and am_id == EAGER_ONLY and log.u64(offset + 40) > 8:
            log.set_u64(offset + 40, log.u64(offset + 40) - 1)
            return True
    return False


def change_handler(log):
    """An active message that reached another handler than it was sent to."""
    for offset, function, _ in log.records(UCP_OPERATION):
        if function & 0xFF == AM_HANDLER:
            log.set_u64(offset + 48, log.u64(offset + 48) + 1)
            return True
    return False


def unhook(log):
    """An interface with one slot that lacks a hook."""
    for offset, _, _ in log.records(UCT_INTERFACE, DEFINITIONS):
        hooked = log.u64(offset + 112)
        log.set_u64(offset + 112, hooked & (hooked - 1))
        return True
    return False


def take_too_much(log):
    """A receive that took more bytes of a stream than were sent."""
    for offset, function, _ in log.records(UCP_OPERATION):
        if function & 0xFF == STREAM_RECV_NBX and log.u64(offset + 56) > 0:
            log.set_u64(offset + 56, log.u64(offset + 56) + 1_000_000)
            return True
    return False


def end_another_registration(log):
    """A deregistration of what was never registered."""
    for offset, function, _ in log.records(MEMORY_CALL):
        if function & 0xFF in DEREGISTRATIONS:
            log.set_u64(offset + 32, log.u64(offset + 32) + 1)
            return True
    return False


CHANGES = {
    "events": detach_completion,
    "uct": count_one_more("uct_posted_ok"),
    "completions": count_one_more("uct_inprogress"),
    "pending": count_one_more("uct_pending_added"),
    "tag_offload": count_one_more("uct_tag_receives"),
    "hooks": unhook,
    "arrivals": count_one_more("uct_arrivals"),
    "ucp": count_one_more("ucp_operations"),
    "ucp_completions": count_one_more("ucp_completed"),
    "tag_sends": count_one_more("ucp_sends"),
    "tag_receives": count_one_more("ucp_receives"),
    "tag": change_tag,
    "puts": count_one_more("ucp_puts"),
    "gets": count_one_more("ucp_gets"),
    "atomics": count_one_more("ucp_atomics"),
    "flushes": count_one_more("ucp_flushes"),
    "am_sends": count_one_more("ucp_am_sends"),
    "am_receives": count_one_more("ucp_am_receives"),
    "am_data": count_one_more("ucp_am_data_receives"),
    "am": change_handler,
    "stream_sends": count_one_more("ucp_stream_sends"),
    "stream_receives": count_one_more("ucp_stream_receives"),
    "stream": take_too_much,
    "drops": drop_without_kind,
    "payload": lose_a_byte,
    "mpi": count_one_more("mpi_calls"),
    "library_calls": count_one_more("library_calls"),
    "memory": count_one_more("memory_words"),
    "memory_calls": count_one_more("memory_calls"),
    "registered_bytes": count_one_more("registered_bytes"),
    "deregistrations": end_another_registration,
}


# Identities of network ports need several machines, those of counters need counters: see
# test_network_counters.py and test_counters.py. About the merger's own sums: no log can violate
# them, only a wrong sum (unit tests).
OF_SUMS = {"profile_calls", "profile_time", "profile_bytes", "waits", "delays"}
OF_LOGS = set(CHANGES)


def each_identity_goes_red():
    mpi = MPIS["ompi"]
    with scratch() as folder:
        # Open MPI sends no active messages; MPICH does for operations that its UCX lacks.
        _, tags = record_well(folder / "tags", mpi.job("exchange", folder / "truth"))
        _, actives = record_well(folder / "actives", MPIS["mpich"].job("rma"))
        _, streams = record_well(folder / "streams", [PROGRAMS / "plain_streams"])
        _, memories = record_well(folder / "memories", [PROGRAMS / "memory_life", folder / "calls"])
        for good in (tags, actives, streams, memories):
            check_equal(set(results_of(good.info)), {"holds"}, f"{results_of(good.info)}")
            check_equal(names_with(good, "holds"), OF_LOGS | OF_SUMS, "identities with a red test")
        for name, change in CHANGES.items():
            good = {change_handler: actives, take_too_much: streams,
                    end_another_registration: memories}.get(change, tags)
            red = changed_copy(good, folder / name, change)
            check_equal(names_with(red, "violated"), {name}, f"violated by the change for {name}")
            check_equal(names_with(red, "holds"), (OF_LOGS | OF_SUMS) - {name}, f"still hold: {name}")
            check_equal(red.ask("info").status, IDENTITY_VIOLATED, f"exit status of info: {name}")


run_test(each_identity_goes_red)
