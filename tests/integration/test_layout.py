"""The preload library brings nothing along: it needs only libc (and libgcc for unwinding), and
exports only the functions that it measures."""

import re

from harness import LIBRARY, check, check_equal, need, run_test, run_well

PERMITTED_NEEDS = re.compile(r"libc\.so\.6|libgcc_s\.so\.1|ld-linux-[\w-]+\.so\.\d+")
PERMITTED_EXPORTS = re.compile(r"(uct|ucp|P?MPIX?)_\w+|ucs_memtype_cache_lookup|uctrace_device_event|dlclose|__asan_default_options|UCTRACE_OPTIONAL")


def library_is_self_contained():
    dynamic = run_well([need("readelf"), "--dynamic", "--wide", LIBRARY]).stdout
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic)
    check("libc.so.6" in needed, f"libc is not needed? {needed}")
    check_equal([n for n in needed if not PERMITTED_NEEDS.fullmatch(n)], [], "libraries needed")

    symbols = run_well([need("nm"), "--dynamic", "--defined-only", LIBRARY]).stdout
    exported = [line.split()[-1].partition("@")[0] for line in symbols.splitlines()]
    check("MPI_Send" in exported, "MPI_Send is not exported")
    check_equal([e for e in exported if not PERMITTED_EXPORTS.fullmatch(e)], [], "exports")


run_test(library_is_self_contained)
