"""Thousands of logs in a folder: of one job, of one job each, and files that are not logs. No verb keeps
them open, keeps unneeded parts in memory, or prints a line for each."""

import json
import struct

from harness import BUILD_ROOT, TOOL, check, check_equal, peak_kb_of, run_test, run_well, scratch

# docs/log-format.md
PID, JOB, JOB_BYTES, WORLD_RANK, WORLD_SIZE, LANES = 144, 160, 64, 232, 236, 8192
PAGE_BYTES, LANE_BYTES = 128 * 1024, 640
LOGS, OPEN_FILES = 3000, 256
MOST_KB = 200_000  # 130,000 are seen, more on machines of many cores; a page of each would add 390,000
MOST_NOTES = 40


def write_logs(like, folder, change):
    """LOGS copies of a log, with unused parts of their pages as holes."""
    folder.mkdir()
    data = bytearray(like.read_bytes())
    used = LANES + LANE_BYTES
    check(not any(data[used:PAGE_BYTES]), "one lane is used")
    for number in range(LOGS):
        change(data, number)
        struct.pack_into("=I", data, PID, 100_000 + number)
        with open(folder / f"node-{number}.ulog", "wb") as file:
            file.write(data[:used])
            file.seek(PAGE_BYTES)
            file.write(data[PAGE_BYTES:])


def of_one_job(data, number):
    struct.pack_into("=ii", data, WORLD_RANK, number, LOGS)


def of_their_own(data, number):
    data[JOB : JOB + JOB_BYTES] = f"job-{number:04}".encode().ljust(JOB_BYTES, b"\0")
    struct.pack_into("=ii", data, WORLD_RANK, 0, 1)


def ask(*arguments, most_lines=200):
    """The output of a verb with few open files allowed; it must not need much memory."""
    line = " ".join(f"'{word}'" for word in (TOOL, *arguments))
    status, said, peak = peak_kb_of("sh", "-c", f"ulimit -n {OPEN_FILES}; exec {line}")
    check(status in (0, 1), f"{arguments} ended with {status}: {said[-2000:]}")
    check(peak < MOST_KB, f"{arguments} took {peak} KB")
    lines = said.splitlines()
    check(len(lines) <= most_lines, f"{arguments} said {len(lines)} lines")
    check(max(map(len, lines), default=0) < 4000, f"{arguments} said a line without end")
    return said


def check_verbs(folder, most_lines=200):
    ask("merge", folder)
    ask("report", "--limit", "3", folder)
    ask("info", folder, most_lines=most_lines)
    info = json.loads(run_well([TOOL, "info", "--format", "json", folder]).stdout)
    check(len(info["notes"]) <= MOST_NOTES, f"{len(info['notes'])} notes")
    return info


def check_record(folder):
    """What lies there is looked at, and moved away."""
    (folder / "uctrace.folder").touch()
    ask("record", "-o", folder, "--", "true")
    moved = folder.with_name(folder.name + ".old.1")
    check_equal(len(list(moved.glob("*.ulog"))), LOGS, "logs that were moved")


def many_logs():
    with scratch() as top:
        run_well([BUILD_ROOT / "uctrace-tracegen", "-o", top / "like", "--processes", "2", "--events", "40"])
        like = sorted((top / "like").glob("*.ulog"))[0]

        write_logs(like, top / "one", of_one_job)
        info = check_verbs(top / "one", LOGS + 200)
        check_equal(len(info["processes"]), LOGS, "processes of one job")
        check_record(top / "one")

        write_logs(like, top / "several", of_their_own)
        info = check_verbs(top / "several")
        check_equal(len(info["folder"]["jobs"]), LOGS, "jobs")
        check_equal(len(info["processes"]), 1, "processes of one of many jobs")

        foreign = top / "foreign"
        foreign.mkdir()
        for number in range(LOGS):
            (foreign / f"node-{number}.ulog").write_text("no log")
        (foreign / "node.ulog").write_bytes(like.read_bytes())
        info = check_verbs(foreign)
        check_equal(len(info["folder"]["left_out"]), LOGS, "files that are no logs")


run_test(many_logs)
