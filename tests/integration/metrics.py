"""Runs `uctrace serve --metrics` and reads the result: a strict reader of both text formats, and the same numbers
from `uctrace counters`."""

import contextlib
import http.client
import re
import urllib.parse
from dataclasses import dataclass

from harness import TOOL, check, check_equal, started

OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
CLASSIC = "text/plain; version=0.0.4; charset=utf-8"
SUFFIXES = {"counter": ["_total"], "gauge": [""], "info": ["_info"], "histogram": ["_bucket", "_sum", "_count"]}
GROWING = ("_total", "_bucket", "_sum", "_count")
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)')
ESCAPES = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}


@dataclass(frozen=True)
class Scrape:
    types: dict  # {family: type}
    values: dict  # {(name, ((label, value), ...)): number}

    def sums(self):
        """The values that never decrease."""
        return {series: value for series, value in self.values.items() if series[0].endswith(GROWING)}

    def of(self, name, *labels):
        """{(value of each label): number}"""
        found = {}
        for (series, pairs), value in self.values.items():
            if series == name:
                of = dict(pairs)
                found[tuple(of[label] for label in labels)] = value
        return found

    def job(self):
        jobs = {dict(labels)["job_id"] for _, labels in self.values if "job_id" in dict(labels)}
        check(len(jobs) == 1, f"one job: {jobs}")
        return jobs.pop()


def read_labels(text):
    labels, at = [], 0
    while at < len(text):
        match = LABEL.match(text, at)
        check(match, f"labels: {text}")
        labels.append((match[1], re.sub(r'\\[\\"n]', lambda escape: ESCAPES[escape[0]], match[2])))
        at = match.end()
    check_equal(len({name for name, _ in labels}), len(labels), f"each label once: {text}")
    return tuple(sorted(labels))


def read_metrics(text, is_open):
    """A Scrape from a text; checks every line."""
    lines = text.split("\n")
    check_equal(lines.pop(), "", "the text ends with its last line")
    if is_open:
        check_equal(lines.pop(), "# EOF", "the end of OpenMetrics")
    types, values, family, helped = {}, {}, None, None
    for line in lines:
        if line.startswith("# HELP "):
            helped = line.split(" ")[2]
        elif line.startswith("# TYPE "):
            _, _, family, kind = line.split(" ")
            check(family not in types and family == helped, f"a family in one piece, with help: {line}")
            types[family] = kind
        elif line.startswith("# UNIT "):
            _, _, of, unit = line.split(" ")
            check(is_open and of == family and family.endswith(f"_{unit}"), f"a unit ends the name: {line}")
        else:
            match = re.fullmatch(r"([a-z_]+)(?:\{(.*)\})? ([0-9]+)", line)
            check(match and family, f"a sample: {line!r}")
            base = family if is_open else family.removesuffix("_total").removesuffix("_info")
            kind = "info" if base != family and family.endswith("_info") else types[family]
            check(match[1].removeprefix(base) in SUFFIXES[kind], f"a sample of {family}: {line}")
            series = match[1], read_labels(match[2] or "")
            check(series not in values, f"each series once: {line}")
            values[series] = int(match[3])
    return Scrape(types, values)


class Server:
    """A running server at `url`."""

    def __init__(self, process):
        self.process = process
        self.line = process.stdout.readline().strip()
        self.url = urllib.parse.urlsplit(self.line)
        check(self.url.path == "/metrics", f"it prints its URL: {self.line!r} {self.url.port or process.stderr.read()}")

    def ask(self, path="/metrics", method="GET", **headers):
        """The answer, and its body."""
        connection = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=30)
        with contextlib.closing(connection):
            connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            return answer, answer.read().decode()

    def scrape(self):
        answer, text = self.ask(Accept="application/openmetrics-text")
        check_equal((answer.status, answer.getheader("Content-Type")), (200, OPEN_METRICS), text)
        return read_metrics(text, True)

    def stop(self):
        self.process.terminate()
        check_equal(self.process.wait(timeout=30), 0, "status of serve after SIGTERM")
        check_equal(self.process.stdout.read(), "", "it prints no more")


@contextlib.contextmanager
def serving(folder, *options):
    with started([TOOL, "serve", "--metrics", folder, "--port", 0, *options]) as process:
        yield Server(process)


def check_not_less(before, after):
    """Nothing decreased, and nothing disappeared."""
    now = after.sums()
    for series, value in before.sums().items():
        check(series in now and now[series] >= value, f"{series} was {value}, is {now.get(series)}")


def _flows(rows, labels, count):
    """{labels: (count, bytes)} of rows of `uctrace counters`, those of the same labels summed."""
    flows = {}
    for row in rows:
        of = tuple("unknown" if row[label] is None else str(row[label]) for label in labels)
        of = tuple("unnamed" if value.startswith("#") else value for value in of)
        messages, size = flows.get(of, (0, 0))
        flows[of] = messages + row[count], size + row["bytes"]
    return flows


TABLES = (
    ("pairs", ("class", "rank", "peer"), "messages", "uctrace_messages_total", "uctrace_payload_bytes_total"),
    ("transports", ("transport", "device", "operation"), "operations", "uctrace_transport_operations_total",
     "uctrace_transport_bytes_total"),
    ("gpus", ("host", "gpu", "bus", "memory", "data"), "operations", "uctrace_gpu_operations_total",
     "uctrace_gpu_bytes_total"),
    ("functions", ("function",), "calls", "uctrace_mpi_calls_total", "uctrace_mpi_call_bytes_total"),
    ("communicators", ("communicator", "size", "kind"), "calls", "uctrace_collective_calls_total",
     "uctrace_collective_call_bytes_total"),
)


def flows_of_counters(found):
    """{table: {labels: (how many, bytes)}} of what `uctrace counters` says."""
    return {name: _flows(found[name], labels, count) for name, labels, count, _, _ in TABLES}


def flows_of_scrape(scrape):
    flows = {}
    for name, labels, _, counted, sized in TABLES:
        counts, sizes = scrape.of(counted, *labels), scrape.of(sized, *labels)
        check_equal(set(counts), set(sizes), f"series of {name}")
        flows[name] = {of: (counts[of], sizes[of]) for of in counts}
    return flows


def check_equal_counters(scrape, found):
    """A scrape agrees with `uctrace counters`."""
    ours, theirs = flows_of_scrape(scrape), flows_of_counters(found)
    for name in ours:
        check_equal(ours[name], theirs[name], f"{name} of a scrape, and of counters")
    check_equal(set(scrape.of("uctrace_waiting_messages", "class").values()), {0}, "messages that wait for a rank")
    check_sizes(scrape, found)


def check_sizes(scrape, found):
    buckets = scrape.of("uctrace_message_size_bytes_bucket", "class", "le")
    for which in {row["class"] for row in found["sizes"]}:
        rows = [row for row in found["sizes"] if row["class"] == which]
        bounds = {le: value for (of, le), value in buckets.items() if of == which}
        check_equal(len(bounds), 42, f"buckets of {which}: {bounds}")
        for le, value in bounds.items():
            check_equal(value, sum(row["messages"] for row in rows if row["from_bytes"] <= float(le)),
                        f"{which} of up to {le} bytes")
        check_equal(scrape.of("uctrace_message_size_bytes_sum", "class")[which,], sum(row["bytes"] for row in rows),
                    f"bytes of {which}")
        check_equal(scrape.of("uctrace_message_size_bytes_count", "class")[which,], bounds["+Inf"], f"all of {which}")
