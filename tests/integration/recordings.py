"""Records a job, and queries the recording with uctrace."""

import json
from functools import cached_property
from pathlib import Path

from harness import TOOL, UCX_UNDER_TEST, Failure, check, need, note_drops, run, run_well

class Recording:
    """A folder filled by `uctrace record`, and the answers of the other verbs about it."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def ask(self, verb, *options):
        return run([TOOL, verb, self.folder, *options])

    def _ask_json(self, verb):
        result = self.ask(verb, "--format", "json")
        # 1: an identity is violated; the caller checks which.
        check(result.status in ((0, 1) if verb == "info" else (0,)), f"{verb} failed: {result}")
        try:
            return json.loads(result.stdout)
        except json.JSONDecodeError as error:
            raise Failure(f"{verb} wrote no JSON ({error}): {result}") from None

    @cached_property
    def info(self):
        found = self._ask_json("info")
        note_drops(found)
        if UCX_UNDER_TEST:
            UCX_UNDER_TEST.tell(found)
        return found

    @cached_property
    def messages(self):
        return self._ask_json("messages")["messages"]

    def table(self, name):
        """The rows of a table of the merged run (docs/store-schema.md), texts as text."""
        check(self.info, "the run is merged")
        packed, _ = self._datasets("texts")
        data, ends = bytes(packed["bytes"]), packed["offsets"]
        texts = [data[a:b].decode(errors="replace") for a, b in zip(ends, ends[1:])]
        columns, units = self._datasets(name)
        for column in columns:
            if units.get(column) == "text":
                columns[column] = [texts[number] for number in columns[column]]
        for difference in [column for column in columns if "_minus_" in column]:
            of, base = difference.split("_minus_")
            # For unsigned columns, a negative difference is 2^64 too high.
            columns[of] = [(a + b) if a + b < 2**64 else a + b - 2**64
                           for a, b in zip(columns.pop(difference), columns[base])]
        return [dict(zip(columns, row)) for row in zip(*columns.values())]

    def named_table(self, name):
        """The same, with the names of enumerated values."""
        rows, names = self.table(name), self._enumerations(name)
        return [{c: names[c][v] if c in names else v for c, v in row.items()} for row in rows]

    def _enumerations(self, group):
        """{dataset: [name of each value]} of those of a group that are enumerated."""
        dump = [need("h5dump"), "-A", "-y", "-w", "0", "-g", f"/{group}", self.folder / "run.h5"]
        names, dataset, attribute = {}, None, None
        for line in run_well(dump).stdout.splitlines():
            first, _, rest = line.strip().partition(" ")
            if first == "DATASET":
                dataset = rest.split('"')[1]
            elif first == "ATTRIBUTE":
                attribute = rest.split('"')[1]
            elif attribute == "values" and first.startswith('"'):
                names[dataset] = line.split('"')[1].split(",")
        return names

    def _datasets(self, group):
        """{dataset: [number]} and {dataset: unit} of a group of the store."""
        dump = [need("h5dump"), "-y", "-w", "0", "-g", f"/{group}", self.folder / "run.h5"]
        numbers, units, dataset, attribute = {}, {}, None, None
        for line in run_well(dump).stdout.splitlines():
            first, _, rest = line.strip().partition(" ")
            if first == "DATASET":
                dataset, attribute = rest.split('"')[1], None
                numbers[dataset] = []
            elif first == "ATTRIBUTE":
                attribute = rest.split('"')[1]
            elif dataset and not attribute and first.strip("-,").isdigit():
                numbers[dataset] += map(int, line.replace(",", " ").split())
            elif attribute == "unit" and first.startswith('"'):
                units[dataset] = line.split('"')[1]
        return numbers, units

    @property
    def logs(self):
        return sorted(self.folder.glob("*.ulog"))

    def sent_by(self, *functions):
        return [message for message in self.messages if message["mpi"] in functions]


def record_command(folder, command, switches=()):
    check(TOOL.exists(), f"there is no {TOOL}; build first, or give --build DIR")
    options = UCX_UNDER_TEST.record_options if UCX_UNDER_TEST else []
    return [TOOL, "record", "-o", folder, *options, *switches, "--", *command]


def record(folder, command, switches=(), **options):
    """The job's result and its recording; `switches` are options of `record`."""
    result = run(record_command(folder, command, switches), **options)
    return result, Recording(folder)


def record_over_tcp(folder, command, env):
    """As record_well(), with the recording in a folder of `folder`. MPICH 4.0.2 does not always end over tcp, without
    uctrace either (docs/contributing.md): such a run is repeated, twice at most."""
    for attempt in ("first", "second"):
        try:
            return record_well(folder / attempt, command, env=env, timeout=30)
        except Failure as failure:
            if "timed out" not in str(failure):
                raise
    return record_well(folder / "third", command, env=env)


def record_well(folder, command, **options):
    result, recording = record(folder, command, **options)
    check(result.status == 0, f"the recorded job failed: {result}")
    return result, recording
