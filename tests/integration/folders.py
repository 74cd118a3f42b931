"""Folders of runs as described in docs/folders.md, read from disk without the tool, and the small jobs
recorded by the tests of folders."""

import json
import os
import re
import stat
import struct
import time
from pathlib import Path

from harness import PROGRAMS

REFUSED = 125
# docs/log-format.md
HOST, BOOT_ID, PID, START, JOB, CLOSED, HEARTBEAT = 32, 96, 144, 152, 160, 230, 744
SILENCE_S = 120  # event-log/reader/liveness.hpp
STRANGER = 65534  # the id of another user
WAIT_FOR = "touch {0}.ready; while [ ! -e {0} ]; do sleep 0.05; done"
OURS = re.compile(
    r"(uctrace\.folder|run\.json|run\.h5|profile\.db|report\.html|libuctrace\.so|launcher-file-.*"
    r"|.+\.ulog|.+\.ulog\.live|.+\.topology\.xml|.+\.topology\.xml\.part|.+\.lease)(\.uctrace-new-.*)?")
NO_RUN = re.compile(r"(uctrace\.folder|libuctrace\.so|.+\.lease)(\.uctrace-new-.*)?")


def quick_job(*go):
    """Two processes that use UCX, without a launcher. With a file `go` they wait for it at the end."""
    return [PROGRAMS / "plain_ucp", *go]


def write_at(path, offset, data):
    mode = path.stat().st_mode
    path.chmod(0o644)
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(data)
    path.chmod(mode)


def entries(folder):
    return sorted(folder.iterdir()) if folder.is_dir() else []


def kind_of(folder):
    """missing, empty, ours, older run or foreign."""
    if not os.path.lexists(folder):
        return "missing"
    if not folder.is_dir():
        return "foreign"
    found = entries(folder)
    if not found:
        return "empty"
    for path in found:
        mode = path.lstat().st_mode
        if not (stat.S_ISREG(mode) and OURS.fullmatch(path.name)):
            return "foreign"
    if not (folder / "uctrace.folder").exists():
        return "foreign"
    return "older run" if any(not NO_RUN.fullmatch(path.name) for path in found) else "ours"


def runs(pid, start):
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return fields[0] not in "ZX" and int(fields[19]) == start


def page_of(log):
    with open(log, "rb") as file:
        return file.read(8192)


def text_at(page, offset, size):
    return page[offset : offset + size].split(b"\0")[0].decode()


def job_key(log):
    return text_at(page_of(log), JOB, 64)


def process_of(log):
    page = page_of(log)
    return page[HOST : PID + 4] + page[START : START + 8]


def heard_lately(times):
    """Whether one of these signs is fresh; none is near the limit."""
    return any(abs(time.time() - at) < SILENCE_S for at in times)


def this_boot():
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def log_lives(log):
    page = page_of(log)
    if len(page) < 8192 or page[CLOSED]:
        return False
    if text_at(page, BOOT_ID, 40) == this_boot():
        pid, start = struct.unpack_from("=I", page, PID)[0], struct.unpack_from("=Q", page, START)[0]
        return runs(pid, start)
    heartbeat = struct.unpack_from("=Q", page, HEARTBEAT)[0] / 1e9
    times = [heartbeat, log.stat().st_mtime]
    return heard_lately(times) or all(at > time.time() for at in times)


def lease_lives(lease):
    holder = json.loads(lease.read_text())
    return runs(holder["pid"], holder["start_time"])


def lives(folder):
    return any(log_lives(path) for path in folder.glob("*.ulog")) or any(
        lease_lives(path) for path in folder.glob("*.lease"))


def identity(path):
    status = path.lstat()
    return status.st_dev, status.st_ino


def state_of(path):
    """Everything that must not change about a foreign file, link or folder."""
    status = path.lstat()
    content = os.readlink(path) if path.is_symlink() else path.is_file() and path.read_bytes()
    return status.st_ino, status.st_mode, status.st_uid, status.st_mtime_ns, content
