"""The command line for people and scripts, independent of the run: help, typing errors, formats,
limits, colours, and output that cannot be written."""

import csv
import fcntl
import io
import json
import os
import pty
import re
import struct
import subprocess
import termios
from collections import Counter

from harness import TOOL, check, check_equal, run, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import Recording, record_well

TOOL_FAILURE = 125


def refused(arguments, *parts, **options):
    """A one-line error, only on standard error, that contains these parts."""
    result = run([TOOL, *arguments], **options)
    check_equal(result.status, TOOL_FAILURE, f"exit status: {result}")
    check_equal(result.stdout, "", f"standard output: {result}")
    check_equal(len(result.stderr.splitlines()), 1, f"lines of the error: {result}")
    check(not re.search(r"[.?!][.?!]$", result.stderr.rstrip()), f"it ends with two signs: {result}")
    for part in ("uctrace: ", *parts):
        check(part in result.stderr, f"not said: {part!r}: {result}")


def help_is_no_error(_):
    for words in ([], ["help"], ["--help"], ["-h"], ["help", "report"], ["report", "--help"],
                  ["record", "-h"], ["version"], ["--version"]):
        result = run_well([TOOL, *words])
        check(result.stdout and not result.stderr, f"help goes to standard output: {result}")


def typing_errors_are_explained(data):
    refused(["recrod", "--", "true"], "no such verb", "did you mean 'record'?")
    refused(["mess"], "did you mean 'messages'?")
    refused([""], "no such verb")
    refused(["help", "recrod"], "did you mean 'record'?")
    refused(["help", "record", "more"], "not expected")
    refused(["report", data, "--fromat", "csv"], "did you mean '--format'?")
    refused(["report", data, "--by", "par"], "contenders|mpi|pairs|call-sites|gpu-nic|protocol|registration|connections|library|rails|all",
            "did you mean 'pairs'?")
    refused(["report", data, "--format", "js"], "did you mean 'json'?")
    refused(["messages", data, "--role", "dta"], "did you mean 'data'?")
    refused(["report", data, "--kind", "putt"], "did you mean 'put'?")
    refused(["report", data, "--mpi", "MPI_Isned"], "did you mean 'MPI_Isend'?")
    refused(["report", data, "--mpi", "mpi_isend"], "did you mean 'MPI_Isend'?")
    refused(["report", data, "--comm", "MPI_COMM_WROLD"], "did you mean 'MPI_COMM_WORLD'?")
    refused(["messages", data, "--src", "77"], "this run has 0, 1")
    refused(["report", data, data], "not expected after the other arguments")
    refused(["record", "--verbos", "--", "true"], "did you mean '--verbose'?")
    refused(["check", "mpirun", "-np", "4", "./app"], "put -- in front of the command")
    refused(["check", "--fromat", "json"], "did you mean '--format'?")
    refused(["record"], "there is no command to run")
    refused(["record", "--"], "there is no command to run")
    refused(["record", "--", ""], "there is no command to run")


def odd_values_are_refused(data):
    for arguments in (["report", ""], ["report", data, "--job", ""], ["record", "-o", "", "true"],
                      ["report", data, "--mpi", ""], ["view", data, "-o", ""]):
        refused(arguments, "is empty")
    for number, why in (("-1", "less than 0"), ("ten", "no number"), ("1.5", "no number"),
                        ("", "no number"), ("9" * 30, "too large")):
        refused(["messages", data, "--limit", number], "--limit", why)
    for number in ("0", "9"):
        refused(["record", "--helpers", number, "--", "true"], f"--helpers {number}", "is not 1 to 8")
    refused(["record", "--helpers", "two", "--", "true"], "--helpers two", "no number")
    refused(["record", "--helpers", "2", "--no-helper", "--", "true"], "--helpers", "--no-helper")
    levels = ",".join(f"pcontrol:{level}" for level in range(17))
    refused(["record", "--start-on", levels, "--", "true"], "--start-on", "more than 16 times")
    refused(["report", "--", "--odd"], "cannot read './--odd'")
    whole = Recording(data).ask("messages", "--format", "ndjson").stdout
    huge = Recording(data).ask("messages", "--format", "ndjson", "--limit", str(2**64 - 1)).stdout
    check_equal(huge, whole, "messages with a huge limit")
    refused(["messages", data, "--id", "1,999999"], "--id 999999", "this run has messages 0 to ")
    refused(["messages", data, "--id", "first"], "--id", "no number")


def rows(verb, data, *options):
    result = run([TOOL, verb, data, "--format", "ndjson", *options])
    check(result.status == 0, f"{verb} as ndjson: {result}")
    return [json.loads(line) for line in result.stdout.splitlines()]


def csv_rows(verb, data, *options):
    text = run_well([TOOL, verb, data, "--format", "csv", *options]).stdout
    return list(csv.DictReader(io.StringIO(text)))


LISTS = {
    "report": ("--by", ["contenders", "mpi", "pairs"]),
    "info": ("--list", ["processes", "layers", "identities", "links", "faults", "notes"]),
}


def formats_hold_the_same_rows(data):
    for verb, (option, names) in LISTS.items():
        together = rows(verb, data)
        whole = json.loads(run_well([TOOL, verb, data, "--format", "json"]).stdout)
        for name in names:
            one = rows(verb, data, option, name)
            check_equal([{k: v for k, v in row.items() if k != "table"}
                         for row in together if row["table"] == name], one, f"{verb}: {name}")
            check_equal(len(csv_rows(verb, data, option, name)), len(one), f"{verb}: {name} as CSV")
            check_equal(len(whole[name]), len(one), f"{verb}: {name} as JSON")
            shown = run_well([TOOL, verb, data, option, name]).stdout
            check(shown.strip(), f"{verb} {option} {name} as text")
        refused([verb, data, "--format", "csv"], option)
    ids = [row["id"] for row in rows("messages", data)]
    check_equal([int(row["id"]) for row in csv_rows("messages", data)], ids, "messages as CSV")
    some = rows("messages", data, "--id", f"{ids[-1]},{ids[0]}")
    check_equal([row["id"] for row in some], [ids[-1], ids[0]], "messages chosen by id")
    full = run_well([TOOL, "messages", data, "--id", str(ids[0])]).stdout
    check("Message #0: " in full and "\n  Pipelined  " in full, f"a message in full: {full}")


def limits_mean_the_same(data):
    for verb, (option, names) in LISTS.items():
        for name in names:
            whole = rows(verb, data, option, name)
            for limit in (0, 1, 2):
                cut = rows(verb, data, option, name, "--limit", limit)
                check_equal(cut, whole[:limit], f"{verb} {name} --limit {limit}")
                text = run_well([TOOL, verb, data, option, name, "--limit", limit]).stdout
                if verb == "info" and len(whole) > limit:
                    check(f"({len(whole) - limit} more rows)" in text, f"{verb} {name}: {text}")
    full = run_well([TOOL, "report", data, "--by", "contenders"]).stdout
    cut = run_well([TOOL, "report", data, "--by", "contenders", "--limit", 1]).stdout
    operations = {row["op"] for row in rows("report", data, "--by", "contenders")}
    check(len(operations) > 1, f"too few operations for this test: {operations}")
    check(f"({len(operations) - 1} more rows)" in cut, f"the matrix was not cut: {cut}")

    def total(text):
        return next(line.split() for line in text.splitlines() if line.startswith("total"))

    check_equal(total(cut), total(full), "totals of the cut matrix")
    best = rows("report", data, "--by", "contenders", "--limit", 1)[0]["op"]
    check(any(line.startswith(best) for line in cut.splitlines()), f"{best} was cut off: {cut}")


def what_chooses_nothing_is_said(data):
    for verb in ("report", "messages", "comms", "waits", "view"):
        refused([verb, data, "--from", "2s", "--to", "1s"], "--from is not before --to")
        refused([verb, data, "--from", "1s", "--to", "1s"], "--from is not before --to")
        refused([verb, data, "--from", "1.5s", "--to", "0.2s"], "--from 1.5s --to 0.2s: ")
        refused([verb, data, "--from", "100000s"], "nothing lies behind that")
    refused(["messages", data, "--min-bytes", "2K", "--max-bytes", "1K"], "no message has such a length")
    for option in ("--src", "--dst", "--rank"):
        refused(["report", data, option, "77"], "this run has 0, 1")
    for verb in ("comms", "waits"):
        refused([verb, data, "--rank", "77"], "this run has 0, 1")
    refused(["simulate", data, "--faster", "compute@77=2"], "77")
    sites = ["report", data, "--by", "call-sites"]
    refused([*sites, "--src", "0"], "of MPI calls only function, communicator and time are known")
    check("MPI_" in run_well([TOOL, *sites]).stdout, "call sites without a filter")
    told = json.loads(run_well([TOOL, "report", data, "--src", "0", "--format", "json"]).stdout)
    check("call_sites" not in told, "a table of call sites that nothing was chosen for")
    check(any("by call site" in note for note in told["notes"]), f"notes: {told['notes']}")
    check("by call site" in run_well([TOOL, "report", data, "--src", "0"]).stdout, "as text")


def sizes_and_beginnings(data):
    whole = rows("messages", data)
    for option, fits in (("--min-bytes", lambda n: n >= 1024), ("--max-bytes", lambda n: n <= 1024)):
        expected = [m["id"] for m in whole if fits(m["bytes"])]
        check(0 < len(expected) < len(whole), f"{option} chooses nothing, or all")
        for size in ("1024", "1K", "1KiB", "1KB"):
            check_equal([m["id"] for m in rows("messages", data, option, size)], expected,
                        f"{option} {size}")
        refused(["messages", data, option, "1X"], "is no size", "64K")
    short = {p: [m["id"] for m in whole if re.match(p + "\\b", m["protocol"])] for p in ("eager", "rndv")}
    for protocol, ids in short.items():
        check(ids, f"no message of {protocol}")
        check_equal([m["id"] for m in rows("messages", data, "--protocol", protocol)], ids, protocol)
    gets = [m["id"] for m in whole if any(h["op"].startswith("am_") for h in m["path"])]
    check_equal([m["id"] for m in rows("messages", data, "--op", "am")], gets, "--op am")
    refused(["messages", data, "--op", "a"], "this run has")


def waits_are_chosen_and_told_apart(data):
    each = rows("waits", data)
    check(each, "nobody waited")
    whole = sum(row["time_ns"] for row in each)
    by = {"pair": ["waiting_rank", "causing_rank"], "rank": ["waiting_rank"], "call-site": ["call_site"],
          "comm": ["comm"], "kind": []}
    for name, keys in by.items():
        expected = Counter()
        for row in each:
            expected[tuple(row[key] for key in ("kind", *keys))] += row["time_ns"]
        found = {tuple(row[key] for key in ("kind", *keys)): row["time_ns"] for row in rows("waits", data, "--by", name)}
        check_equal(found, dict(expected), f"waits --by {name}")
        check(all(set(row) >= set(each[0]) for row in rows("waits", data, "--by", name)), f"keys of --by {name}")
    by_path = rows("waits", data, "--by", "call-path")
    check_equal(sum(row["time_ns"] for row in by_path), whole, "waits by call path")
    check(all(row["call_path"] for row in by_path if row["time_ns"] > 0), f"call paths: {by_path}")
    by_time = rows("waits", data, "--by", "time", "--interval", "1ms")
    check_equal(sum(row["time_ns"] for row in by_time), whole, "waits by time")
    check(all(row["from_ns"] % 1_000_000 == 0 for row in by_time), f"intervals: {by_time}")
    kind, rank, comm = each[0]["kind"], each[0]["waiting_rank"], each[0]["comm"]
    chosen = {"--kind": (kind, lambda row: row["kind"] == kind), "--comm": (comm, lambda row: row["comm"] == comm),
              "--rank": (rank, lambda row: rank in (row["waiting_rank"], row["causing_rank"]))}
    for option, (value, fits) in chosen.items():
        check_equal(rows("waits", data, option, value), [row for row in each if fits(row)], f"waits {option}")
    text = run_well([TOOL, "waits", data, "--kind", kind]).stdout
    first, _, rest = text.partition("# From here on: the whole run")
    check(first.startswith("Waits, and time") and kind in first, f"what was chosen comes first: {text}")
    check("# efficiency: " in rest and "Waits, and time" not in rest, f"then the whole run: {text}")
    check("From here on" not in run_well([TOOL, "waits", data]).stdout, "all waits: no part is chosen")
    begin = by_time[-1]["from_ns"]
    later = rows("waits", data, "--by", "time", "--interval", "1ms", "--from", f"{begin}ns")
    check_equal(later, [row for row in by_time if row["from_ns"] >= begin], "waits --from")
    functions = {row["op"] for row in rows("comms", data)}
    of_function = {name: rows("waits", data, "--by", "kind", "--mpi", name) for name in functions}
    for kind in {row["kind"] for row in each}:
        check_equal(sum(row["time_ns"] for of in of_function.values() for row in of if row["kind"] == kind),
                    sum(row["time_ns"] for row in each if row["kind"] == kind), f"waits of {kind} by --mpi")
    check(any(not of for of in of_function.values()), f"waits of every function: {sorted(of_function)}")
    refused(["waits", data, "--kind", "nonsense"], "late_sender")
    refused(["waits", data, "--mpi", "MPI_Bariver"], "did you mean")
    refused(["waits", data, "--host", "nowhere"], "this run has")


def messages_are_sorted(data):
    whole = rows("messages", data)

    def duration(message):
        start, end = message["t_start_ns"], message["t_end_ns"]
        return -1 if start is None or end is None else end - start

    for order, key in (("wait", lambda m: m["wait_ns"]), ("duration", duration), ("bytes", lambda m: m["bytes"])):
        expected = [m["id"] for m in sorted(whole, key=lambda m: (-key(m), m["id"]))]
        check_equal([m["id"] for m in rows("messages", data, "--sort", order)], expected, f"--sort {order}")
        cut = run_well([TOOL, "messages", data, "--sort", order, "--limit", 1]).stdout
        check(f"# 1 of {len(whole)} messages; {len(whole) - 1} more are selected" in cut, f"--sort {order}: {cut}")
    longest = max(whole, key=lambda m: m["wait_ns"])
    check(longest["wait_ns"] > 0, "no call waited for a message")
    check("waiting: " in run_well([TOOL, "messages", data, "--sort", "wait", "--limit", 1]).stdout, "the wait in a receipt")
    full = run_well([TOOL, "messages", data, "--id", longest["id"]]).stdout
    check("MPI calls waited " in full, f"the wait in a full receipt: {full}")


def json_says_which_run(data):
    run_id = json.loads(run_well([TOOL, "report", data, "--format", "json"]).stdout)["run"]
    for verb in ("report", "messages", "comms", "waits"):
        told = json.loads(run_well([TOOL, verb, data, "--format", "json"]).stdout)
        check_equal(list(told)[:2], ["schema", "run"], f"first keys of {verb}")
        check_equal(told["run"], run_id, f"the run of {verb}")
    for verb in ("messages", "comms"):
        check_equal(json.loads(run_well([TOOL, verb, data, "--format", "json"]).stdout)[verb],
                    rows(verb, data), f"{verb} as JSON and as NDJSON")
    none = json.loads(run_well([TOOL, "messages", data, "--format", "json", "--limit", 0]).stdout)
    check_equal(none["messages"], [], "no messages")


READERS = (["report"], ["messages", "--limit", "5"], ["messages", "--id", "0"], ["comms"], ["waits"],
           ["simulate", "--balance", "run"], ["partitions"], ["hang"], ["info"], ["placement"])


def tables_fit_the_terminal(data):
    commands = [[TOOL, words[0], data, *words[1:]] for words in READERS]
    commands += [[TOOL, "diff", data, data], [TOOL, "check", "--run", data, "--expect", "intra=posix|sysv|cma|self|tcp"],
                 [TOOL, "counters", data], [TOOL, "top", data, "--once"]]
    for command in commands:
        words = command[1:]
        for columns in (80, 132):
            text = re.sub("\033\\[[0-9;]*m", "", on_a_terminal(command, columns=columns))
            for line in text.splitlines():
                # A word that is longer than the terminal, as a path, has no place to break.
                longest = max(map(len, line.split(" ")), default=0)
                check(len(line) <= columns or longest > columns - 12, f"{words}: {len(line)}: {line}")
        wide = re.sub("\033\\[[0-9;]*m", "", on_a_terminal([*command, "--wide"], columns=80))
        check_equal(wide.replace("\r\n", "\n"), run(command).stdout, f"{words} --wide and in a pipe")


def on_a_terminal(command, columns=200, **environment):
    """The output of the command on a terminal."""
    master, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "CLICOLOR_FORCE")}
    process = subprocess.Popen([str(w) for w in command], stdout=terminal, stdin=subprocess.DEVNULL,
                               env={**env, "TERM": "xterm", **environment})
    os.close(terminal)
    output = b""
    while True:
        try:
            block = os.read(master, 65536)
        except OSError:  # what Linux says when the last writer has gone
            break
        if not block:
            break
        output += block
    os.close(master)
    check_equal(process.wait(), 0, f"status of {command}")
    return output.decode()


def colour_is_for_terminals(data):
    for verb in ("report", "info"):
        command = [TOOL, verb, data]
        check("\033" in on_a_terminal(command), f"{verb} on a terminal")
        check("\033" not in on_a_terminal(command, NO_COLOR="1"), f"{verb} with NO_COLOR")
        check("\033" not in on_a_terminal(command, TERM="dumb"), f"{verb} on a dumb terminal")
        check("\033" not in run_well(command).stdout, f"{verb} into a pipe")
        forced = {"CLICOLOR_FORCE": "1"}
        check("\033" in run_well(command, env=forced).stdout, f"{verb} with CLICOLOR_FORCE")
        forced["NO_COLOR"] = "1"
        check("\033" not in run_well(command, env=forced).stdout, "NO_COLOR has the last word")


def output_that_cannot_be_written(data):
    for words in (["messages", data], ["info", data], ["report", data], ["view", data, "-o", "-"],
                  ["merge", data], ["help", "report"], ["version"]):
        line = " ".join(f"'{w}'" for w in [TOOL, *words])
        full = run(["sh", "-c", f"{line} > /dev/full"])
        check_equal(full.status, TOOL_FAILURE, f"a full disk: {full}")
        check("cannot write the output" in full.stderr, f"a full disk: {full}")
        closed = run(["bash", "-c", f"set -o pipefail; {line} | true; echo ${{PIPESTATUS[0]}}"])
        check(closed.stdout.strip() in ("0", "141"), f"a closed pipe: {closed}")
        check_equal(closed.stderr, "", f"a closed pipe: {closed}")


def page_goes_to_standard_output(data):
    with scratch() as folder:
        page = run_well([TOOL, "view", data, "-o", "-"], cwd=folder).stdout
        check(page.lower().startswith("<!doctype html>"), f"no page: {page[:80]}")
        check_equal(list(folder.iterdir()), [], "files written beside standard output")
        named = run_well([TOOL, "view", data, "-o", folder / "page.html"])
        check_equal(named.stdout.strip(), str(folder / "page.html"), "the name that is printed")
        check_equal((folder / "page.html").read_text(), page, "the same page in a file")


def numbers_are_rounded(data):
    text = run_well([TOOL, "info", data]).stdout
    line = next(line for line in text.splitlines() if "bytes_per_event" in line)
    number = line.partition("bytes_per_event ")[2].split(",")[0]
    check(len(number.partition(".")[2]) <= 1, f"not rounded: {line}")


def helpers_are_passed_on(_):
    with scratch() as folder:
        for said, number in ((["--helpers", "1"], "1"), (["--helpers", "3"], "3"), ([], "5")):
            result = run([TOOL, "record", *said, "-o", folder / number, "--", "env"],
                         env={"UCTRACE_HELPERS": "5"})
            check_equal([line for line in result.stdout.splitlines() if "UCTRACE_HELPERS" in line],
                        [f"UCTRACE_HELPERS={number}"], f"the option is stronger: {result}")


def unreadable_folders_are_explained(_):
    with scratch() as folder:
        (folder / "a.ulog").write_bytes(b"abc")
        refused(["info", folder], "it is not a uctrace log", "name a folder of logs")
        (folder / "a.ulog").write_bytes(b"")
        refused(["info", folder], "had not begun to write it", "leave this file out")


def future_log_is_explained(data):
    with scratch() as folder:
        log = bytearray(Recording(data).logs[0].read_bytes())
        log[8:12] = (9999).to_bytes(4, "little")
        (folder / "newer.ulog").write_bytes(log)
        refused(["info", folder], "it has format 9999", "newer uctrace that recorded it")


def command_line_is_usable():
    with scratch() as folder:
        _, good = record_well(folder / "data", MPIS["ompi"].job("exchange", folder / "truth"),
                              switches=["--counters", "--trace"])
        for case in (help_is_no_error, what_chooses_nothing_is_said, sizes_and_beginnings,
                     waits_are_chosen_and_told_apart, messages_are_sorted,
                     json_says_which_run, tables_fit_the_terminal, typing_errors_are_explained, odd_values_are_refused,
                     helpers_are_passed_on,
                     formats_hold_the_same_rows, limits_mean_the_same, colour_is_for_terminals,
                     output_that_cannot_be_written, page_goes_to_standard_output,
                     numbers_are_rounded, unreadable_folders_are_explained,
                     future_log_is_explained):
            case(good.folder)


run_test(command_line_is_usable)
