"""Compares uctrace's results for a generated folder with the truth next to the logs."""

import json
import subprocess
from collections import Counter, defaultdict

EXACT = ("kind", "match", "bytes", "tag", "ucp_tag", "comm", "mpi", "mpi_recv", "protocol",
         "protocol_from", "src_memory", "dst_memory")
TIMES = ("t_start_ns", "t_posted_recv_ns", "t_end_ns")
HOP = ("transport", "device", "op", "issued_by", "role", "count", "bytes", "wire_bytes", "exact")
SITES = ("call_site", "recv_call_site")  # where call stacks are kept
# When two threads share a tag, it is unknown which of their messages a receive got.
OF_AMBIGUOUS = ("kind", "match", "bytes", "tag", "ucp_tag", "comm", "mpi", "protocol")
# Of a process that left no log.
OF_UNMATCHED = ("kind", "match", "bytes", "tag", "ucp_tag")
ROUNDING_NS = 2
FIRST_PID = 1000


class Disagreement(Exception):
    pass


def agree(condition, text):
    if not condition:
        raise Disagreement(text)


def uctrace(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    agree(done.returncode == 0, f"{' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout


class Folder:
    """A generated folder, and the command's output for it."""

    def __init__(self, program, path):
        self.program, self.path = program, path
        self.truth = json.loads((path / "truth.json").read_text())
        self.info = json.loads(uctrace(program, "info", "--format", "json", path))
        self.worlds = any("world_rank" in process for process in self.truth["by_process"])

    def messages(self):
        text = uctrace(self.program, "messages", "--format", "ndjson", self.path)
        messages = [json.loads(line) for line in text.splitlines()]
        for message in messages if self.worlds else []:
            for end in ("src", "dst"):
                process = message[end + "_process"]  # for an unknown process the rank means little
                message[end] = process and self.number_of(process.split(":")[3])
        return messages

    @staticmethod
    def number_of(pid):
        return int(pid) - FIRST_PID

    def process_called(self, name):
        """A rank, or where several worlds have it `RANK@HOST:PID`."""
        if isinstance(name, str):
            return self.number_of(name.split(":")[1])
        ranks = [p.get("world_rank", p["rank"]) for p in self.truth["by_process"]]
        return ranks.index(name)

    def true_messages(self):
        return [m for process in self.truth["by_process"] for m in process.get("messages", [])]


def identity_of(message):
    return (message["kind"], message["src"], message["dst"], message["ucp_tag"])


def instant_of(message):
    times = [message[t] for t in TIMES]
    return next(t for t in times if t is not None)


def in_groups(messages):
    """By what does not depend on times; within a group in the order of time. Those of one group
    began in one process, so that no two clocks are compared."""
    groups = defaultdict(list)
    for message in messages:
        groups[identity_of(message)].append(message)
    for group in groups.values():
        group.sort(key=instant_of)
    return groups


def memory_name(memory):
    """As the truth spells it."""
    if isinstance(memory, dict):
        return memory.get("gpu") or memory.get("name") or memory.get("kind")
    return memory


def hops(path):
    return sorted(json.dumps([hop[k] for k in HOP]) for hop in path)


class Clock:
    """The time error according to the command itself."""

    def __init__(self, folder, messages):
        self.error_ns = folder.info["clock"]["max_error_ns"]
        # The rate of a host's clock is that of a line through two measurements with this error.
        length = max((instant_of(m) for m in messages), default=0)
        self.rate_error = 2 * self.error_ns / max(length, 1)


def compare_times(true, found, clock):
    """Against the job's clock, and between the two ends of the message."""
    off = []
    for name in TIMES:
        agree((found[name] is None) == (true[name] is None), f"{name}: {true} {found}")
        if true[name] is not None:
            off.append(found[name] - true[name])
    agree(max(map(abs, off)) <= clock.error_ns + ROUNDING_NS, f"times {off}: {true} {found}")
    instants = [true[name] for name in TIMES if true[name] is not None]
    error = found["t_error_ns"] + clock.rate_error * (max(instants) - min(instants))
    apart = max(off) - min(off)
    agree(apart <= error + ROUNDING_NS, f"times {off}, not within {error}: {true} {found}")


def compare_message(true, found, clock):
    # A source that left no log is named by the tag alone.
    names = {"ambiguous": OF_AMBIGUOUS, "unmatched": OF_UNMATCHED}.get(true["match"], EXACT)
    sites = [name for name in SITES if name in true and names is EXACT]
    for name in [*names, *sites]:
        value = memory_name(found[name]) if name.endswith("memory") else found[name]
        agree(value == true[name], f"{name} is {value}, not {true[name]}: {true} {found}")
    if true["match"] != "exact":
        return
    compare_times(true, found, clock)
    agree(hops(found["path"]) == hops(true["path"]),
          f"path: {hops(true['path'])} {hops(found['path'])}: {true}")


def compare_messages(folder):
    true, found = in_groups(folder.true_messages()), in_groups(folder.messages())
    clock = Clock(folder, folder.true_messages())
    agree(true.keys() == found.keys(),
          f"only in the truth {sorted(map(str, true.keys() - found.keys()))[:3]}, "
          f"only found {sorted(map(str, found.keys() - true.keys()))[:3]}")
    for key, messages in true.items():
        agree(len(messages) == len(found[key]),
              f"{key}: {len(found[key])} messages, not {len(messages)}")
        for one, other in zip(messages, found[key]):
            compare_message(one, other, clock)
    return sum(map(len, true.values()))


def check_exact(folder, kind):
    """That each message of a kind that is called exact is a true one, with its times at both ends. Returns
    how many these are."""
    error = folder.info["clock"]["max_error_ns"] + ROUNDING_NS
    true = defaultdict(list)
    for message in folder.true_messages():
        true[message["src"], message["dst"], message["kind"], message["ucp_tag"]].append(message)
    exact = [m for m in folder.messages() if m["kind"] == kind and m["match"] == "exact"]
    for found in exact:
        candidates = true[found["src"], found["dst"], kind, found["ucp_tag"]]
        agree(any(abs(one["t_start_ns"] - found["t_start_ns"]) <= error and
                  abs((one["t_end_ns"] or 0) - (found["t_end_ns"] or 0)) <= error for one in candidates),
              f"no such message: {found}")
    return len(exact)


def compare_totals(folder):
    totals, info = folder.truth["totals"], folder.info
    pairs = {
        "uct": (totals["uct_posted"], info["uct"]["posted_ok"]),
        "ucp": (totals["ucp_operations"], info["events"]["ucp"]),
        "mpi": (totals["mpi_calls"], info["events"]["mpi"]),
        "exact": (totals["exact"], info["links"]["match"]["exact"]),
        "ambiguous": (totals["ambiguous"], info["messages"]["ambiguous"]),
        "unmatched sends": (totals["unmatched_sends"], info["messages"]["unmatched_sends"]),
        "unmatched receives": (totals["unmatched_receives"],
                               info["messages"]["unmatched_receives"]),
        "cancelled": (totals["cancelled"], info["messages"]["failed"]),
        "tool": (totals["tool_sends"], info["messages"]["tool"]),
        "dropped": (totals["dropped"], info["events"]["dropped"]),
        "stacks": (totals["stacks"], info["stacks"]["captured"]),
        "events": (totals["events"], sum(p["events"] for p in info["processes"])),
        "kinds": (totals["kinds"], info["messages"]["kinds"]),
    }
    for name, (true, found) in pairs.items():
        agree(true == found, f"{name}: {found}, not {true}")


def cubes(folder):
    columns = folder.truth["cube_columns"]
    for process in folder.truth["by_process"]:
        for cell in process["cubes"]:
            yield dict(zip(columns, cell))


def sums(cells, *names):
    found = defaultdict(lambda: [0, 0])
    for cell in cells:
        total = found[tuple(cell[name] for name in names)]
        total[0] += cell["messages"]
        total[1] += cell["bytes"]
    return dict(found)


def compare_report(folder):
    text = uctrace(folder.program, "report", "--format", "json", folder.path)
    tables = json.loads(text)
    compare_pairs(folder, tables["pairs"])
    compare_transports(folder, tables["contenders"])


def compare_pairs(folder, rows):
    """Messages and bytes between ranks."""
    true = sums(cubes(folder), "src", "dst")
    name = folder.process_called if folder.worlds else lambda rank: rank
    found = {(name(r["src"]), name(r["dst"])): [r["messages"], r["bytes"]] for r in rows}
    agree(found == true, f"pairs: {found}, not {true}")


def compare_transports(folder, rows):
    """Bytes by transport and operation."""
    true, found = defaultdict(int), defaultdict(int)
    for message in folder.true_messages():
        for hop in message["path"]:
            if hop["role"] == "data":
                true[hop["transport"], hop["op"]] += hop["bytes"]
    for row in rows:
        found[row["transport"], row["op"]] += row["bytes"]
    true, found = ({k: v for k, v in sums.items() if v} for sums in (true, found))
    agree(found == true, f"transports: {found}, not {true}")


def compare_communicators(folder):
    """An intercommunicator is one, whichever side its messages come from."""
    rows = json.loads(uctrace(folder.program, "comms", "--format", "json", folder.path))["comms"]
    found = {(row["comm"], row["user_name"], row["size"]) for row in rows if row["comm"]}
    spawned = {p["rank"]: p.get("world_rank", p["rank"]) != p["rank"]
               for p in folder.truth["by_process"]}
    sizes = Counter(spawned.values())
    used = {(cell["comm"], spawned[cell["src"]]) for cell in cubes(folder)
            if cell["src"] is not None}
    expected = [("both", sizes[world]) for name, world in used if name == "both"]
    if any(name == "children" for name, _ in used):
        expected.append(("children", sum(sizes.values())))
    inter = sorted((name, size) for _, name, size in found if name in ("both", "children"))
    agree(inter == sorted(expected), f"intercommunicators: {inter}, not {expected}")


def check_whole(folder):
    """Requirements on a run whose logs are all complete."""
    info = folder.info
    agree(info["complete"], "the run is not complete")
    # The programs of generated jobs are no files.
    notes = [note for note in info["notes"] if not note.startswith("call stacks: ")]
    agree(notes == [], f"notes: {notes}")
    for identity in info["identities"]:
        agree(identity["result"] == "holds", f"identity {identity}")
    agree(info["clock"]["violations"] == 0, f"clock: {info['clock']}")
    agree(info["uct"]["unattributed"] == 0, f"uct: {info['uct']}")


def is_touched(folder, message):
    """Whether records of a message were dropped, by either of its processes."""
    spans = {p["rank"]: p["dropped_steps"] for p in folder.truth["by_process"]
             if "dropped_steps" in p}
    return any(spans[rank][0] <= message["step"] < spans[rank][1]
               for rank in (message["src"], message["dst"]) if rank in spans)


def wrong_pairs(folder):
    """For a run with dropped records: the messages shown as exact that have an end of another one, and the
    number of exact ones. Results must be correct, or marked as uncertain."""
    error = folder.info["clock"]["max_error_ns"] + ROUNDING_NS
    true = in_groups(folder.true_messages())
    wrong, exact = [], 0
    for found in folder.messages():
        if found["match"] != "exact" or found["t_start_ns"] is None or found["t_end_ns"] is None:
            continue
        exact += 1
        group = true.get(identity_of(found), [])
        same = [m for m in group if m["t_start_ns"] is not None
                and abs(m["t_start_ns"] - found["t_start_ns"]) <= error]
        if len(same) == 1 and abs(same[0]["t_end_ns"] - found["t_end_ns"]) > 2 * error:
            wrong.append((same[0], found))
    return wrong, exact
