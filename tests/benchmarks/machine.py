"""The machine of the measurement, for comparisons."""

import os
import platform
import subprocess
from pathlib import Path


def first_line(path, prefix=""):
    try:
        for line in Path(path).read_text().splitlines():
            if line.startswith(prefix):
                return line[len(prefix) :].strip(" \t:=\"")
    except OSError:
        pass
    return "unknown"


def file_system_of(folder):
    found = subprocess.run(
        ["stat", "-f", "-c", "%T", str(folder)], capture_output=True, text=True, check=False
    )
    return found.stdout.strip().replace("ext2/ext3", "ext4") or "unknown"


def describe(folder):
    return {
        "cpu": first_line("/proc/cpuinfo", "model name"),
        "cores": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
        "system": first_line("/etc/os-release", "PRETTY_NAME="),
        "clock": first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "file_system": file_system_of(folder),
    }
