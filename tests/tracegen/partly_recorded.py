"""The expected results for a generated run with intentionally missing events: those outside of
windows, or those that a log of bounded size lost."""

from collections import Counter, defaultdict

from compare import ROUNDING_NS, TIMES, Clock, agree, compare_message, hops, identity_of


OF_PERSISTENT = ("MPI_Startall", "MPI_Pready")


class Recorded:
    """Which steps the processes recorded."""

    def __init__(self, truth):
        self.spans = {p["rank"]: p["recorded_steps"] for p in truth["by_process"]}
        self.lanes = truth["lanes"]
        self.took_part = defaultdict(set)
        for process in truth["by_process"]:
            for message in process["messages"]:
                for rank in (message["src"], message["dst"]):
                    self.took_part[rank].add(message["step"])

    def by(self, rank, step):
        return any(begin <= step < end for begin, end in self.spans[rank])

    def by_all(self, step):
        return all(self.by(rank, step) for rank in self.spans)

    def is_sure(self, step):
        """Whether a step is certainly known completely. Operations in progress when recording ended
        may have begun after the last known operation of their thread. A second thread follows after
        its next event, so that it lacks the first of a window."""
        if not self.by_all(step) or (self.lanes > 1 and step > 0 and not self.by_all(step - 1)):
            return False
        ends = [end for spans in self.spans.values() for begin, end in spans if begin <= step < end]
        last = min(ends)
        return all(any(step < other < last for other in steps)
                   for steps in self.took_part.values())

    def is_known(self, message):
        """Whether an end of it was recorded. Of a second thread one event more is."""
        step = message["step"]
        return any(self.by(rank, at) for rank in (message["src"], message["dst"])
                   for at in (step, step - 1 if self.lanes > 1 else step))


def near(true, found, names, error_ns):
    return all(true[name] is not None and abs(true[name] - found[name]) <= error_ns
               for name in names if found[name] is not None)


def true_one(candidates, found, error_ns):
    """The message that a row is about, identified by one end, or by both where they are reported as
    a pair."""
    doubtful = found["match"] == "ambiguous" and found["t_start_ns"] is not None
    names = ["t_start_ns"] if doubtful else ["t_start_ns", "t_posted_recv_ns"]
    same = [m for m in candidates
            if m["bytes"] == found["bytes"] and near(m, found, names, error_ns)]
    agree(same, f"no such message: {found}")
    return min(same, key=lambda m: sum(abs(m[name] - found[name]) for name in names
                                       if found[name] is not None))


def compare_known(true, found, clock):
    """Except for what is marked as inferred, and what cannot be known: the purpose of persistent
    requests is only in the call that made them, and the message of a copy to a GPU follows only
    from the order of arrivals."""
    truly, seen = hops(true["path"]), hops(found["path"])
    sure = [hop for hop in found["path"] if hop["exact"] or hops([hop])[0] in truly]
    path = [hop for hop in true["path"] if hop["role"] != "staging" or hops([hop])[0] in seen]
    unknown = [name for name in ("mpi", "comm")
               if found[name] is None and true["mpi"] in OF_PERSISTENT]
    expected = {**true, "path": path, **{name: None for name in unknown}}
    compare_message(expected, {**found, "path": sure}, clock)


def check_half(true, found):
    """For a message with one known end: every reported hop of its path is correct."""
    names = ("transport", "op", "role", "issued_by")[:3 if true["src"] == true["dst"] else 4]
    parts = [[hop[name] for name in names] for hop in true["path"]]
    for hop in found["path"]:
        agree([hop[name] for name in names] in parts or not hop["exact"],
              f"{hop} is no part of {true}")


def check_copies(folder):
    """For a run with dropped records: a copy to or from a GPU that is attributed to a message has
    its length. Returns the number of these."""
    copies = 0
    for message in folder.messages():
        for hop in message["path"] if message["match"] != "ambiguous" else []:
            if hop["role"] == "staging" and hop["exact"]:
                agree(hop["wire_bytes"] == message["bytes"] * hop["count"], f"{hop} of {message}")
                copies += 1
    return copies


def compare_partly(folder, is_sure, is_known):
    """Each row is a real message, and correct where a pair is reported; a message that `is_sure` is
    listed with all its facts. Returns the number of these."""
    everything = folder.true_messages()
    clock = Clock(folder, everything)
    true, sure = defaultdict(list), {}
    for number, message in enumerate(everything):
        message["number"] = number
        for known in (message, {**message, "src": None}):  # the sender of an active message is
                                                           # unknown
            true[identity_of(known)].append(message)
        if message["kind"] != "stream" and is_sure(message):
            sure[number] = message
    required, seen = len(sure), Counter()
    for found in folder.messages():
        one = true_one(true[identity_of(found)], found, clock.error_ns + ROUNDING_NS)
        seen[one["number"]] += 1
        agree(is_known(one), f"it was not recorded: {found}")
        # A message without a protocol has lost its transfers.
        claimed = found["match"] in ("exact", "inferred") and found["protocol"] is not None
        if claimed or one["number"] in sure:
            expected = sure.pop(one["number"], {**one, "match": found["match"]})
            compare_known(expected, found, clock)
        else:
            check_half(one, found)
        agree(found["match"] != "unmatched", f"it has a partner: {found}")
    agree(not sure, f"{len(sure)} messages are missing, as {list(sure.values())[:1]}")
    # Two rows only where each is one end of it. Between hosts several may be meant.
    agree(folder.truth["hosts"] > 1 or max(seen.values(), default=0) <= 2, f"{seen.most_common(1)}")
    return required


def compare_bounded(folder):
    processes, totals, info = folder.truth["by_process"], folder.truth["totals"], folder.info
    agree(totals["overwritten"] == info["events"]["overwritten"] > 0, info["events"])
    left = totals["events"] - totals["overwritten"]
    agree(left == sum(p["events"] for p in info["processes"]), info["processes"])
    agree(totals["uct_posted"] == info["uct"]["posted_ok"], info["uct"])
    since = max(p["overwritten_until_ns"] for p in processes)
    whole = info["recording"]["whole_from_ns"]
    agree(abs(whole - since) <= 10 * ROUNDING_NS, f"whole from {whole}, not {since}")
    # A record is written when its operation is over.
    return compare_partly(
        folder, lambda m: min(m[t] for t in TIMES if m[t] is not None) > since + 10 * ROUNDING_NS,
        lambda m: True)


def compare_windows(folder):
    recorded = Recorded(folder.truth)
    totals, info = folder.truth["totals"], folder.info
    agree(totals["outside_window"] == info["events"]["outside_window"] > 0, info["events"])
    agree(totals["uct_posted"] == info["uct"]["posted_ok"], info["uct"])
    agree(totals["events"] == sum(p["events"] for p in info["processes"]), info["processes"])
    found = Counter(folder.number_of(window["process"].split(":")[3]) for window in info["windows"])
    opened = {rank: sum(begin < folder.truth["steps"] for begin, _ in spans)
              for rank, spans in recorded.spans.items()}
    agree(found == Counter(opened), f"windows: {found}, not {opened}")
    if folder.truth["hosts"] > 1:  # it is unknown when a job on several clocks was quiescent
        return compare_partly(folder, lambda m: False, recorded.is_known)
    return compare_partly(folder, lambda m: recorded.is_sure(m["step"]), recorded.is_known)
