"""Each accounting identity can go red: a log is changed so that just this one is violated."""

import shutil
import struct
from pathlib import Path

from checks import results_of
from harness import MPIS, Recording, check, check_equal, record_well, run_test, scratch

IDENTITY_VIOLATED = 1  # exit status of `info`

# docs/log-format.md
PAGE_BYTES = 64 * 1024
LANES_OFFSET, LANE_BYTES, COUNTERS_OFFSET = 4096, 256, 8
COUNTERS = (
    "uct_posted_ok uct_inprogress uct_completed uct_without_handle uct_untracked uct_errors"
    " uct_no_resource uct_arrivals ucp_operations ucp_untracked ucp_sends ucp_receives"
    " ucp_completed mpi_calls"
).split()
CHUNK_HEADER = struct.Struct("=IIHBxI")  # magic, bytes, lane, stream, sequence
CHUNK_HEADER_BYTES = 64
EVENTS = 1
UCT_OPERATION, UCP_OPERATION = 1, 4
AM_BCOPY, INPROGRESS, HAS_ID = 9, 1, 1
EAGER_ONLY = 2
TAG_SEND_NBX = 3


class Log:
    """The bytes of one log, and where its records lie."""

    def __init__(self, path):
        self.path = path
        self.bytes = bytearray(path.read_bytes())

    def u64(self, offset):
        return struct.unpack_from("=Q", self.bytes, offset)[0]

    def set_u64(self, offset, value):
        struct.pack_into("=Q", self.bytes, offset, value)

    def records(self, wanted):
        """(offset, a, b) of the event records of a type."""
        chunk = PAGE_BYTES
        while chunk < len(self.bytes):
            _, size, _, stream, sequence = CHUNK_HEADER.unpack_from(self.bytes, chunk)
            offset, end = chunk + CHUNK_HEADER_BYTES, min(chunk + size, len(self.bytes))
            while sequence and stream == EVENTS and offset < end:
                kind, words, a, b = struct.unpack_from("=BBHi", self.bytes, offset)
                if words == 0:
                    break
                if kind == wanted:
                    yield offset, a, b
                offset += words * 8
            chunk += size

    def save(self):
        self.path.write_bytes(self.bytes)


def count_one_more(counter):
    def change(log):
        offset = LANES_OFFSET + COUNTERS_OFFSET + COUNTERS.index(counter) * 8
        log.set_u64(offset, log.u64(offset) + 1)
        return True

    return change


def detach_completion(log):
    """A completion whose operation does not say that it waits for one."""
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


CHANGES = {
    "events": detach_completion,
    "uct": count_one_more("uct_posted_ok"),
    "completions": count_one_more("uct_inprogress"),
    "arrivals": count_one_more("uct_arrivals"),
    "ucp": count_one_more("ucp_operations"),
    "ucp_completions": count_one_more("ucp_completed"),
    "tag_sends": count_one_more("ucp_sends"),
    "tag_receives": count_one_more("ucp_receives"),
    "tag": change_tag,
    "payload": lose_a_byte,
    "mpi": count_one_more("mpi_calls"),
}


def changed_copy(good, folder, change):
    """The logs with one of them changed: the first that has what is to be changed."""
    folder.mkdir()
    logs = [Log(Path(shutil.copy(log, folder))) for log in good.logs]
    changed = next((log for log in logs if change(log)), None)
    check(changed is not None, f"no log has anything for {change.__name__}")
    changed.save()
    return Recording(folder)


def names_with(recording, result):
    return {i["name"] for i in recording.info["identities"] if i["result"] == result}


def each_identity_goes_red():
    mpi = MPIS["ompi"]
    with scratch() as folder:
        _, good = record_well(folder / "data", mpi.job("exchange", folder / "truth"))
        check_equal(set(results_of(good.info)), {"holds"}, f"identities {results_of(good.info)}")
        check_equal(names_with(good, "holds"), set(CHANGES), "identities with a red test")
        for name, change in CHANGES.items():
            red = changed_copy(good, folder / name, change)
            check_equal(names_with(red, "violated"), {name}, f"violated by the change for {name}")
            check_equal(names_with(red, "holds"), set(CHANGES) - {name}, f"still hold: {name}")
            check_equal(red.ask("info").status, IDENTITY_VIOLATED, f"exit status of info: {name}")


run_test(each_identity_goes_red)
