"""Counts the records of event logs (docs/log-format.md): how many bytes and clock readings a job's
messages take."""

import struct
from collections import Counter
from dataclasses import dataclass, field

PAGE_BYTES = 128 * 1024
CHUNK_MAGIC = 0x4B4E4843
CHUNK_HEADER_BYTES = 64
EVENT_STREAM = 1

# Type of record: name, and the readings of the clock that it holds.
EVENT_RECORDS = {
    1: ("uct_operation", 2),
    2: ("uct_completion", 1),
    3: ("uct_arrival", 2),
    4: ("ucp_operation", 2),
    5: ("ucp_completion", 1),
    6: ("mpi_call", 2),
}


@dataclass
class LogContents:
    records: Counter = field(default_factory=Counter)  # by name
    bytes: Counter = field(default_factory=Counter)  # by name
    clock_readings: int = 0

    def add_chunk(self, chunk):
        at = CHUNK_HEADER_BYTES
        while at + 8 <= len(chunk) and chunk[at] != 0:
            name, readings = EVENT_RECORDS[chunk[at]]
            size = 8 * chunk[at + 1]
            self.records[name] += 1
            self.bytes[name] += size
            self.clock_readings += readings
            at += size


def read_logs(folder):
    contents = LogContents()
    for path in folder.glob("*.ulog"):
        log = path.read_bytes()
        at = PAGE_BYTES
        while at + CHUNK_HEADER_BYTES <= len(log):
            magic, size, _lane, stream, sequence = struct.unpack_from("=IIHBxI", log, at)
            if magic != CHUNK_MAGIC:
                at += PAGE_BYTES
                continue
            if stream == EVENT_STREAM and sequence != 0:
                contents.add_chunk(log[at : at + size])
            at += size
    return contents
