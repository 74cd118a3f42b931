"""Prints the content of an OTF2 archive as JSON, read by OTF2's Python module. A separate program,
because that module may exist only for the system's Python.

    read_otf2.py ARCHIVE/traces.otf2
"""

import json
import sys

import _otf2
import otf2
from otf2 import events as e

SENDS = {e.MpiSend: "send", e.MpiIsend: "isend"}
RECEIVES = {e.MpiRecv: "recv", e.MpiIrecv: "irecv"}
ONE_SIDED = {e.RmaPut: "put", e.RmaGet: "get", e.RmaAtomic: "atomic"}
BEGIN_REQUESTS = (e.MpiIsend, e.MpiIrecvRequest)
NO_ROOT = 2**32 - 1  # OTF2_COLLECTIVE_ROOT_NONE
END_REQUESTS = (e.MpiIsendComplete, e.MpiIrecv)


def process_of(location):
    return location.group._ref


def member(comm, rank):
    return process_of(comm.group.members[rank])


def plain(value):
    if isinstance(value, (int, float, str)):
        return value
    if hasattr(value, "line_number"):  # a place in the source
        return f"{value.file}:{value.line_number}"
    if hasattr(value, "region"):  # a call path, outermost first
        return (plain(value.parent) if value.parent else []) + [value.region.name]
    return value.name


def attributes_of(event):
    found = event.attributes or {}
    return {attribute.name: plain(value) for attribute, value in found.items()}


def follow_request(kind, event, where, pending):
    """Readers do not check either that requests begin before they complete."""
    if kind in BEGIN_REQUESTS:
        assert event.request_id not in pending, f"{where} begins request {event.request_id} again"
        pending.add(event.request_id)
    elif kind in END_REQUESTS:
        assert event.request_id in pending, f"{where} completes request {event.request_id} before it begins"
        pending.remove(event.request_id)
    elif kind in ONE_SIDED:
        pending.add(("rma", event.matching_id))
    elif kind is e.RmaOpCompleteRemote:
        assert ("rma", event.matching_id) in pending, f"{where} completes operation {event.matching_id} before it begins"


def root_of(event):
    """The rank of the root and its process; nothing for an operation without one."""
    if event.root == NO_ROOT:
        return None, None
    members = event.communicator.group.members
    assert event.root < len(members), f"rank {event.root} is none of {event.communicator.name}"
    return event.root, process_of(members[event.root])


def end_of_collective(event):
    rank, process = root_of(event)
    return [str(event.collective_op), event.communicator.name, process, event.size_sent, event.size_received, rank]


def read(path):
    found = {"spans": [], "messages": [], "collectives": [], "begun": [], "not_completed": [], "last": {}}
    begun = {}  # by process and request
    with otf2.reader.open(path) as trace:
        definitions = trace.definitions
        found["processes"] = [group.name for group in definitions.location_groups]
        found["communicators"] = [
            [comm.name, [process_of(location) for location in comm.group.members]] for comm in definitions.comms]
        _, found["definitions_at_once"] = _otf2.Reader_GetChunkSize(trace._handle)
        found["resolution"] = definitions.clock_properties.timer_resolution
        open_spans, requests = {}, {}
        for location, event in trace.events:
            here, kind, time = process_of(location), type(event), event.time
            # Readers do not check the order of a location's records.
            assert time >= found["last"].get(location._ref, 0), f"{location.name} goes back at {time}"
            found["last"][location._ref] = time
            follow_request(kind, event, location.name, requests.setdefault(location._ref, set()))
            stack = open_spans.setdefault(location._ref, [])
            entered = {"entered": stack[-1][3]} if stack else {}
            if kind is e.Enter:
                stack.append([here, location.name, event.region.name, time, None, attributes_of(event),
                              str(event.region.paradigm), str(event.region.region_role)])
            elif kind is e.Leave:
                span = stack.pop()
                assert span[2] == event.region.name, f"{span} is left as {event.region.name}"
                span[4] = time
                found["spans"].append(span)
            elif kind in SENDS:
                found["messages"].append([SENDS[kind], here, member(event.communicator, event.receiver),
                                          event.msg_length, event.msg_tag, event.communicator.name,
                                          stack[-1][2] if stack else None, {**attributes_of(event), **entered}])
            elif kind in RECEIVES:
                found["messages"].append([RECEIVES[kind], member(event.communicator, event.sender), here,
                                          event.msg_length, event.msg_tag, event.communicator.name,
                                          stack[-1][2] if stack else None, {**attributes_of(event), **entered}])
            elif kind in ONE_SIDED:
                length = event.bytes_sent if kind is e.RmaAtomic else event.bytes
                found["messages"].append([ONE_SIDED[kind], here, member(event.win.comm, event.remote), length,
                                          None, event.win.comm.name, stack[-1][2] if stack else None,
                                          {**attributes_of(event), **entered}])
            elif kind is e.MpiCollectiveEnd:
                found["collectives"].append([here, stack[-1][2], *end_of_collective(event)])
            elif kind is e.NonBlockingCollectiveRequest:
                assert (here, event.request_id) not in begun, f"{location.name} begins {event.request_id} again"
                begun[here, event.request_id] = stack[-1][2]
            elif kind is e.NonBlockingCollectiveComplete:
                # An operation that did not begin before it is completed is a KeyError.
                found["begun"].append([here, begun.pop((here, event.request_id)), stack[-1][2],
                                       *end_of_collective(event)])
        assert not any(open_spans.values()), "a region is entered and not left"
    found["not_completed"] = [[process, region] for (process, _), region in begun.items()]
    return found


json.dump(read(sys.argv[1]), sys.stdout)
