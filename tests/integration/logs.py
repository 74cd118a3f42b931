"""The bytes of an event log (docs/log-format.md), for tests that read or change records."""

import re
import shutil
import struct
import tempfile
from pathlib import Path

from harness import PROGRAMS, SOURCE_ROOT, run_well

PAGE_BYTES = 128 * 1024
LANES_OFFSET, LANE_BYTES, COUNTERS_OFFSET = 8192, 640, 8
CAUSES_OFFSET = 512  # of a lane: records dropped by cause
COUNTERS = (
    "uct_posted_ok uct_inprogress uct_completed uct_without_handle uct_untracked uct_errors"
    " uct_no_resource uct_arrivals ucp_operations ucp_untracked ucp_sends ucp_receives"
    " ucp_completed mpi_calls dropped_uct dropped_ucp dropped_mpi dropped_definitions"
    " recorded_events ucp_puts ucp_gets ucp_atomics ucp_flushes ucp_am_sends ucp_am_receives"
    " ucp_am_data_receives uct_pending_added uct_pending_refused uct_pending_untracked"
    " uct_tag_receives uct_tag_receives_ended ucp_stream_sends ucp_stream_receives"
    " ucp_requests_not_carried overwritten_uct overwritten_ucp overwritten_mpi"
    " overwritten_definitions overwritten_until_tick stacks_captured stacks_unwound"
    " stacks_truncated stacks_skipped outside_uct outside_ucp outside_mpi"
    " uct_pending_left ucp_messages_taken mpi_request_records memory_words"
    " memory_queries memory_unknown mpi_polls mpi_poll_ticks memory_calls registered_bytes"
    " library_calls"
).split()
CHUNK_HEADER = struct.Struct("=IIHBxI")  # magic, bytes, lane, stream, sequence
CHUNK_HEADER_BYTES = 64
EVENTS, DEFINITIONS = 1, 2
UCT_OPERATION, UCT_COMPLETION, UCT_ARRIVAL, UCP_OPERATION = 1, 2, 3, 4
UCT_PENDING, MEMORY_CALL, LIBRARY_CALL, TEXT, UCT_INTERFACE = 8, 11, 12, 32, 33
NETWORK_CARD = 16  # kind of a text
ACTIVE_MESSAGES = range(23, 29)  # AM ids of what the program sends


def documented(what):
    """[name of 1, name of 2, ...] as docs/log-format.md lists the numbers of `what`."""
    text = (SOURCE_ROOT / "docs" / "log-format.md").read_text()
    listed = " ".join(re.search(rf"^\* {what}: (.*?)\n(?:\*|$)", text, re.S | re.M)[1].split())
    numbered = re.findall(r"(\d+) (.+?)(?:, (?=\d)| \(|$)", listed)
    assert [int(number) for number, _ in numbered] == list(range(1, len(numbered) + 1)), listed
    return [name for _, name in numbered]


HANDLER_CALL = "a call of a handler of active messages"
UCP_FUNCTIONS = ["active_message_handler" if name == HANDLER_CALL else f"ucp_{name}"
                 for name in documented("function of a ucp_operation")]
UCT_OPS = ["none", *documented("op")]


def unpack(*logs):
    """Converts closed logs, in place, to unpacked ones: records in chunks. The reader accepts
    both."""
    run_well([PROGRAMS / "unpack_log", *logs])


class Log:
    """The bytes of one closed log, unpacked, and the places of its records."""

    def __init__(self, path):
        self.path = path
        with tempfile.TemporaryDirectory(prefix="uctrace-") as folder:
            copy = Path(shutil.copy(path, folder))
            copy.chmod(0o644)
            unpack(copy)
            self.bytes = bytearray(copy.read_bytes())

    @property
    def pid(self):
        return struct.unpack_from("=I", self.bytes, 144)[0]

    def u64(self, offset):
        return struct.unpack_from("=Q", self.bytes, offset)[0]

    def set_u64(self, offset, value):
        struct.pack_into("=Q", self.bytes, offset, value)

    def records(self, wanted, in_stream=EVENTS):
        """(offset, a, b) of the records of a type."""
        chunk = PAGE_BYTES
        while chunk < len(self.bytes):
            _, size, _, stream, sequence = CHUNK_HEADER.unpack_from(self.bytes, chunk)
            offset, end = chunk + CHUNK_HEADER_BYTES, min(chunk + size, len(self.bytes))
            while sequence and stream == in_stream and offset < end:
                kind, words, a, b = struct.unpack_from("=BBHi", self.bytes, offset)
                if words == 0:
                    break
                if kind == wanted:
                    yield offset, a, b
                offset += words * 8
            chunk += size

    def ucp_functions(self):
        """The name of the function of each UCP operation."""
        for _, function, _ in self.records(UCP_OPERATION):
            yield UCP_FUNCTIONS[(function & 0xFF) - 1]

    def uct_interfaces(self):
        """{interface id: its transport}"""
        found = {}
        for offset, number, _ in self.records(UCT_INTERFACE, DEFINITIONS):
            found[number] = self.bytes[offset + 32 : offset + 48].rstrip(b"\0").decode()
        return found

    def uct_operations(self):
        """The content of each UCT operation's record, in the order in which the calls returned."""
        transports = self.uct_interfaces()
        ends = {}
        for offset, _, status in self.records(UCT_COMPLETION):
            ends[self.u64(offset + 16)] = status
        found = []
        for offset, interface, status in self.records(UCT_OPERATION):
            op, am_id, flags = struct.unpack_from("=BBB", self.bytes, offset + 8)
            start, duration, endpoint, size = struct.unpack_from("=4Q", self.bytes, offset + 16)
            optional = {}
            at = offset + 56
            for bit, name in ((1, "id"), (2, "local"), (4, "remote"), (8, "parent")):
                if flags & bit:
                    optional[name] = self.u64(at)
                    at += 8
            found.append(
                {
                    "returned": start + duration,
                    "transport": transports[interface],
                    "op": UCT_OPS[op],
                    "am_id": am_id,
                    "status": status,
                    "endpoint": endpoint,
                    "bytes": size,
                    "remote": optional.get("remote", 0),
                    "end": ends.get(optional.get("id")),
                }
            )
        return sorted(found, key=lambda operation: operation["returned"])

    def active_sent(self):
        """(operation, its bytes, AM id, header words) of the program's active messages."""
        for offset, _, status in self.records(UCT_OPERATION):
            op, am_id, flags = struct.unpack_from("=BBB", self.bytes, offset + 8)
            if am_id in ACTIVE_MESSAGES and status >= 0:
                at = offset + 56 + 8 * (flags & 15).bit_count()
                size = self.u64(offset + 40)
                yield UCT_OPS[op], size, am_id, struct.unpack_from(f"={flags >> 4 & 7}Q", self.bytes, at)

    def active_arrived(self):
        """(AM id, header words) of arrivals."""
        for offset, _, _ in self.records(UCT_ARRIVAL):
            am_id, words = struct.unpack_from("=BB", self.bytes, offset + 28)
            if am_id in ACTIVE_MESSAGES:
                yield am_id, struct.unpack_from(f"={words}Q", self.bytes, offset + 32)

    def network_texts(self):
        """(offset, whether at the end, text) of readings of network cards."""
        for offset, kind, size in self.records(TEXT, DEFINITIONS):
            if kind & 0xFF == NETWORK_CARD:
                text = self.bytes[offset + 24 : offset + 24 + size].decode()
                yield offset + 24, bool(self.u64(offset + 16) & 1), text

    def save(self):
        self.path.write_bytes(self.bytes)
