"""The life of a process that uses UCX: exec, children, odd ends, interruptions. Its output and exit
status are the same with the tool, and everything it did is in the log."""

import shutil
import signal

from checks import check_complete, check_delivered, check_incomplete, results_of
from stores import DISTURBED

from harness import PROGRAMS, check, check_equal, run, run_test, scratch
from recordings import Recording, record

# name: (processes, messages of all)
WHOLE = {
    "fork": (2, 12),
    "raw-fork": (2, 12),
    "fork-amid": (1, None),
    "fork-in-loader": (1, 4),
    "raw-fork-in-loader": (1, 4),
    "fork-in-settings": (2, 8),
    "commands": (1, 12),
    "main-ends": (1, 10),
    "last-thread": (1, 10),
    "signals": (1, 4228),
    "long-jump": (1, 20),
    "quick-exit": (1, 8),
}


def check_whole(recording, processes, messages):
    check_complete(recording.info, layers=("uct", "ucp"), processes=processes)
    if messages is not None:
        check_equal(recording.info["messages"]["matched"], messages, "messages")
    else:
        check(recording.info["messages"]["matched"] > 0, "no messages")


def check_two_images(recording):
    """Both images of a process have their own log; the first image could not close its log."""
    check_equal(len(recording.logs), 2, "logs")
    check_equal(recording.info["messages"]["matched"], 8, "messages of both images")
    check_delivered(recording.messages)
    names = sorted({message["src_process"] for message in recording.messages})
    check_equal(names[1:], [f"{names[0]}:1"], "names of the processes")
    check_incomplete(recording.info)
    complete = sorted(process["complete"] for process in recording.info["processes"])
    check_equal(complete, [False, True], "complete")


def check_protocols_of_child(folder, program):
    """The log of a child names its protocols and its UCX itself, though its parent's log does, too."""
    _, recording = record(folder / "named", program, env={"UCX_PROTO_ENABLE": "y"})
    check(recording.info["ucx"]["version"] is not None, f"{recording.info['ucx']}")
    by_process = {}
    for message in recording.messages:
        if message["protocol_from"] == "ucx":
            by_process.setdefault(message["src_process"], set()).add(message["protocol"])
    check_equal(len(by_process), 2, f"processes with protocols that UCX named: {by_process}")
    check_equal(len(set(map(frozenset, by_process.values()))), 1, f"protocols: {by_process}")
    for log in recording.logs:
        alone = folder / log.stem
        alone.mkdir()
        shutil.copy(log, alone)
        version = Recording(alone).info["ucx"]["version"]
        check_equal(version, recording.info["ucx"]["version"], f"UCX of {log.name} alone")


def check_facts_of_child(folder, program):
    """So do facts recorded once per log: its UCX, and the excluded hooks."""
    _, recording = record(folder / "left", program, env={"UCTRACE_LEAVE_OUT": "ep_fence"})
    check_equal(len(recording.logs), 2, "logs")
    for log in recording.logs:
        alone = folder / "left" / log.stem
        alone.mkdir()
        shutil.copy(log, alone)
        info = Recording(alone).info
        faults = [(fault["fault"], fault["detail"]) for fault in info["faults"]]
        check_equal(faults, [("left_out", "ep_fence")], f"faults of {log.name} alone")
        libraries = [used["path"] for used in info["ucx"]["ucp_libraries"]]
        check(len(libraries) == 1 and libraries[0], f"libucp of {log.name} alone: {libraries}")


def check_until_exit(recording):
    """The process ended without a word while it used UCX."""
    check_incomplete(recording.info)
    check(recording.info["messages"]["matched"] >= 12, f"messages: {recording.info['messages']}")


def check_closed(recording, result):
    """Events after the end of the log are in no log, not even a new one."""
    check_equal(len(recording.logs), 1, "logs")
    check_equal([p["exit"] for p in recording.info["processes"]], ["exited"], "ends of processes")
    check_equal(results_of(recording.info).get("violated", []), [], "violated identities")
    check("did not close" not in result.stderr, f"record tells of an open log: {result}")


def check_ends_among_threads(program, folder):
    """UCX destroys its state while threads still use it: even without the tool, one in a hundred runs
    crashes in UCX. Such a run does not count."""
    attempts, crashed = 10, 0
    for i in range(attempts):
        result, recording = record(folder / str(i), program)
        if result.status in (128 + signal.SIGSEGV, 128 + signal.SIGABRT):
            crashed += 1
            continue
        check_equal(result.status, 0, f"exit status of {result}")
        check_closed(recording, result)
    check(crashed <= 2, f"{crashed} of {attempts} programs crashed")


def check_signals(folder, program, alone):
    """A handler that interrupts the switch from one chunk to the next in its few stores is not
    recorded, and counted as such. That is rare: most recordings are whole."""
    attempts = 4
    whole = 0
    for i in range(attempts):
        result, recording = record(folder / str(i), program)
        check_equal((result.status, result.stdout), (alone.status, alone.stdout), "of the program")
        events = recording.info["events"]
        check_equal(set(events["dropped_by_cause"]) - {"in_switch"}, set(), "causes of drops")
        if events["dropped"] == 0:
            check_whole(recording, *WHOLE["signals"])
            whole += 1
    check(whole > attempts / 2, f"only {whole} of {attempts} recordings are whole")


def check_late(recording, result):
    check_closed(recording, result)
    check_equal(recording.info["messages"]["matched"], 4, "messages")


def check_late_log(folder, program, alone):
    """The file system responds only after the program has given up its log: the log is removed again,
    and records from then on are counted elsewhere."""
    environment = {"LD_PRELOAD": str(DISTURBED), "HOLD_OPEN": "/data/", "HOLD_UNTIL": str(folder / "go")}
    result, recording = record(folder / "data", program, env=environment)
    check_equal((result.status, result.stdout), (alone.status, alone.stdout), "of the program")
    check("the file system did not answer" in result.stderr, f"the reason is not told: {result}")
    check_equal(len(recording.info["processes"]), 1, "processes")
    check_equal(results_of(recording.info).get("violated", []), [], "violated identities")
    check(recording.info["messages"]["sent"] >= 8, f"counted: {recording.info['messages']}")


def life_is_recorded(case):
    program = [PROGRAMS / "process_life", case]
    switches = {"late-signal": ["--stop-on", "signal:USR1"]}.get(case, [])
    with scratch() as folder:
        if case == "exit-amid":
            check_ends_among_threads(program, folder)
            return
        if case == "late-log":
            check_late_log(folder, program, run(program))
            return
        if case == "signals":
            check_signals(folder, program, run(program))
            return
        result, recording = record(folder / "data", program, switches=switches)
        if case == "late-signal":  # which would end the program without the tool
            check_equal(result.status, 0, f"exit status of {result}")
            check("lives" in result.stdout, result.stdout)
            check_late(recording, result)
            return
        alone = run(program)
        check_equal(result.status, alone.status, f"exit status of {result}")
        check_equal(result.stdout, alone.stdout, "output of the program")
        if case == "exec":
            check_two_images(recording)
        elif case == "late-use":
            check_late(recording, result)
        elif case == "thread-exits":
            check_until_exit(recording)
        else:
            check_whole(recording, *WHOLE[case])
        if case in ("fork", "raw-fork"):
            check_protocols_of_child(folder, program)
            check_facts_of_child(folder, program)


run_test(life_is_recorded)
