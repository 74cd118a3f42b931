"""The preload library has no dependencies but libc (and libgcc for unwinding), and exports only the
functions that it measures."""

import re

from harness import LIBRARY, check, check_equal, need, run_test, run_well

PERMITTED_NEEDS = re.compile(r"libc\.so\.6|libgcc_s\.so\.1|ld-linux-[\w-]+\.so\.\d+")
# Compilers' start-up code refers to weak ones, which may be absent.
PERMITTED_IMPORTS = re.compile(r"U \w+@(GLIBC|GCC)_[\d.]+|w [\w@.]+")
PERMITTED_EXPORTS = re.compile(r"(uct|ucp|ucc|P?MPIX?|shmemx?)_\w+|start_pes|globalexit|sh(malloc|memalign|realloc|free)|ucs_memtype_cache_lookup|uctrace_device_event|dlclose|__cxa_finalize|__asan_default_options|UCTRACE_OPTIONAL")


def library_is_self_contained():
    dynamic = run_well([need("readelf"), "--dynamic", "--wide", LIBRARY]).stdout
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic)
    check("libc.so.6" in needed, f"libc is not needed? {needed}")
    check_equal([n for n in needed if not PERMITTED_NEEDS.fullmatch(n)], [], "libraries needed")

    undefined = run_well([need("nm"), "--dynamic", "--undefined-only", "--with-symbol-versions", LIBRARY])
    imports = [line.strip() for line in undefined.stdout.splitlines()]
    check(any("pwrite" in name for name in imports), f"libc's functions are not imported? {imports}")
    check_equal([name for name in imports if not PERMITTED_IMPORTS.fullmatch(name)], [],
                "functions that neither libc nor libgcc has")

    symbols = run_well([need("nm"), "--dynamic", "--defined-only", LIBRARY]).stdout
    exported = [line.split()[-1].partition("@")[0] for line in symbols.splitlines()]
    check("MPI_Send" in exported, "MPI_Send is not exported")
    check_equal([e for e in exported if not PERMITTED_EXPORTS.fullmatch(e)], [], "exports")


run_test(library_is_self_contained)
