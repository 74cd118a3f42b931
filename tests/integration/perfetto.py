"""A reader of Perfetto traces for tests: the wire format of Protocol Buffers, and the messages for
track events (https://protobuf.dev/programming-guides/encoding/, Perfetto's
protos/perfetto/trace/)."""

import struct
from collections import defaultdict
from dataclasses import dataclass, field

from harness import check

SLICE_BEGIN, SLICE_END, INSTANT, COUNTER = 1, 2, 3, 4
STATE_CLEARED, NEEDS_STATE = 1, 2
REALTIME, BOOTTIME = 1, 6


def fields_of(data):
    """{number: [value]} of a message: integers, and bytes for fields with a length."""
    found, at = defaultdict(list), 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = varint()
        number, kind = key >> 3, key & 7
        if kind == 0:
            found[number].append(varint())
        elif kind == 1:
            found[number].append(struct.unpack_from("<Q", data, at)[0])
            at += 8
        else:
            check(kind == 2, f"wire type {kind} of field {number}")
            length = varint()
            check(at + length <= len(data), f"field {number} ends behind its message")
            found[number].append(data[at : at + length])
            at += length
    return found


@dataclass
class Event:
    kind: int
    track: int
    time_ns: int
    name: str
    category: str
    arguments: dict
    flows: list
    value: float
    end_ns: int = None  # of a slice that ends


@dataclass
class Trace:
    tracks: dict = field(default_factory=dict)  # uuid: (name, parent)
    processes: dict = field(default_factory=dict)  # uuid: name
    units: dict = field(default_factory=dict)  # uuid of a counter: its unit
    clocks: dict = field(default_factory=dict)
    events: list = field(default_factory=list)  # in the order of the file

    def of(self, category, *kinds):
        return [e for e in self.events if e.category == category and e.kind in kinds]

    def process_of(self, track):
        while track not in self.processes:
            track = self.tracks[track][1]
        return self.processes[track]


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def read_trace(path):
    trace, interned = Trace(), defaultdict(dict)
    for packet in fields_of(path.read_bytes())[1]:
        packet = fields_of(packet)
        check(packet[10] == [1], "a packet of another sequence")
        if packet[6]:
            check(packet[13] == [STATE_CLEARED], "the state of names does not begin with the trace")
            for clock in fields_of(packet[6][0])[1]:
                clock = fields_of(clock)
                trace.clocks[clock[1][0]] = clock[2][0]
            continue
        check(packet[13] == [NEEDS_STATE], "a packet does not say that it needs the names before it")
        for data in packet[12]:
            for kind, texts in fields_of(data).items():
                for text in texts:
                    text = fields_of(text)
                    interned[kind][text[1][0]] = text[2][0].decode()
        if packet[60]:
            _add_track(trace, fields_of(packet[60][0]))
        if packet[11]:
            _add_event(trace, interned, packet[8][0], fields_of(packet[11][0]))
    return trace


def _add_track(trace, track):
    uuid = track[1][0]
    check(uuid not in trace.tracks, f"two tracks have the uuid {uuid}")
    trace.tracks[uuid] = track[2][0].decode(), next(iter(track[5]), None)
    if track[3]:
        process = fields_of(track[3][0])
        trace.processes[uuid] = process[6][0].decode()
    if track[8]:
        trace.units[uuid] = fields_of(track[8][0])[6][0].decode()


def _argument(interned, argument):
    """(name, value); the value of a list is one of {name: value}."""
    argument = fields_of(argument)
    name = interned[3][argument[1][0]]
    if argument[12]:
        return name, [dict(_argument(interned, each) for each in fields_of(entry)[11]) for entry in argument[12]]
    text = [interned[29][number] for number in argument[17]]
    return name, (text or argument[3] or [signed(number) for number in argument[4]])[0]


def _add_event(trace, interned, time_ns, event):
    arguments = dict(_argument(interned, argument) for argument in event[4])
    kind, track = event[9][0], event[11][0]
    check(track in trace.tracks, "an event of a track that was not described")
    name = interned[2][event[10][0]] if event[10] else None
    category = interned[1][event[3][0]] if event[3] else None
    value = struct.unpack("<d", struct.pack("<Q", event[44][0]))[0] if event[44] else None
    trace.events.append(Event(kind, track, time_ns, name, category, arguments, event[47], value))


def close_slices(trace):
    """Fills in the ends of slices, and checks that slices of a track nest."""
    by_track = defaultdict(list)
    for event in trace.events:
        by_track[event.track].append(event)
    for events in by_track.values():
        # A stable sort, as in a viewer.
        open_slices = []
        for event in sorted(events, key=lambda e: e.time_ns):
            if event.kind == SLICE_BEGIN:
                open_slices.append(event)
            elif event.kind == SLICE_END:
                check(open_slices, f"a slice ends that did not begin, at {event.time_ns}")
                open_slices.pop().end_ns = event.time_ns
