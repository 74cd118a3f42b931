"""Two UCX that were built under names of their own (--with-soname-suffix), in one process; the modules of the
second bind to it first (--enable-module-deepbind). tests/build-suffixed-ucx makes them, and
UCTRACE_TEST_SUFFIXED_UCX names a folder with two of another version."""

import json
import os
import re
from pathlib import Path

from checks import check_complete, check_delivered, results_of
from harness import BUILD_ROOT, PROGRAMS, SOURCE_ROOT, TOOL, check, check_equal, need, run_test, run_well, scratch
from recordings import record_well

PREFIX = Path(os.environ.get("UCTRACE_TEST_SUFFIXED_UCX", BUILD_ROOT / "ucx-suffixed")).resolve()
SUFFIXES = ("one", "two")
MESSAGES = 8  # of each
# The largest of them goes over a module.
MODULE = {"UCX_TLS": "posix,cma", "UCX_RNDV_SCHEME": "get_zcopy"}


def library(suffix, name):
    path = PREFIX / suffix / "lib" / f"{name}-{suffix}.so.0"
    check(path.exists(), f"there is no {path}; make it: {SOURCE_ROOT}/tests/build-suffixed-ucx")
    return path


def built(folder, source, suffix, *options):
    """A program or plug-in, linked with one of them."""
    libraries = library(suffix, "libucp").parent
    result = folder / f"{Path(source).stem}-{suffix}"
    run_well([need("cc"), "-std=gnu11", *options, f"-I{libraries.parent}/include",
              SOURCE_ROOT / "tests" / "programs" / source, "-o", result, f"-L{libraries}", "-lucp", "-lucs",
              f"-Wl,-rpath,{libraries}"])
    return result


def plugins(folder):
    return [built(folder, "ucp_plugin.c", suffix, "-fPIC", "-shared") for suffix in SUFFIXES]


def check_modules(command):
    """The loader looks for what a module needs in the program first, or, where it is bound deep, in itself."""
    told = run_well(command, env={**MODULE, "LD_DEBUG": "scopes"}).stderr
    for suffix, is_deep in zip(SUFFIXES, (False, True)):
        found = re.search(rf"object=(\S+/{suffix}/lib/ucx/libuct_cma\S*) .*\n.*scope 0: (\S+)", told)
        check(found, f"the module of {suffix} is not loaded: {told[-4000:]}")
        check_equal(found[1] == found[2], is_deep, f"the module of {suffix} is bound deep, by {found[0]}")


def both_are_recorded(folder):
    command = [PROGRAMS / "plugin_host", *plugins(folder)]
    check_modules(command)
    alone = run_well(command, env=MODULE)
    result, recording = record_well(folder / "data", command, env=MODULE)
    check_equal(result.stdout, alone.stdout, "output of the program")
    info, messages = recording.info, recording.messages
    check_complete(info, layers=("uct", "ucp"), processes=1)
    check_equal(info["uct"]["reasons"]["direct_uct"], 0, "direct use of UCT")
    check_equal(len(messages), 2 * MESSAGES, "messages")
    check_delivered(messages)
    check_libraries(info["ucx"])
    check_alike(messages)


def check_libraries(ucx):
    """Each operation is told of the library that it was asked of."""
    used = ucx["ucp_libraries"]
    check_equal([known["path"] for known in used], [str(library(suffix, "libucp")) for suffix in SUFFIXES], "libucp")
    for known in used:
        check_equal(known["version"], ucx["version"], f"version of {known}")
        check_equal((known["processes"], known["workers"]), (1, 2), f"use of {known}")
        # Each worker's endpoint is closed, too.
        check_equal(known["operations"], 2 * MESSAGES + 2, f"operations of {known}")
    check_equal([known["path"] for known in ucx["uct_libraries"]],
                [str(library(suffix, "libuct")) for suffix in SUFFIXES], "libuct")


def check_alike(messages):
    """How the modules are bound takes no operation away."""
    def ways(some):
        return [(message["bytes"], message["protocol"],
                 [(step["transport"], step["op"], step["bytes"]) for step in message["path"]]) for message in some]

    check_equal(ways(messages[MESSAGES:]), ways(messages[:MESSAGES]), "ways of messages through both")
    modules = [message for message in messages if any(step["transport"] == "cma" for step in message["path"])]
    check(len(modules) >= 4, f"no message goes over a module: {ways(messages)}")


def own_names_are_checked(folder):
    """`check` tries the UCX of that name, and not the machine's."""
    for suffix in SUFFIXES:
        program = built(folder, "plain_ucp.c", suffix, "-pthread")
        said = json.loads(run_well([TOOL, "check", "--format", "json", "--", program]).stdout)
        found = {finding["subject"]: finding["found"] for finding in reversed(said["findings"])}
        check(str(library(suffix, "libucp")) in found["ucx"], f"the UCX that is tried: {found['ucx']}")
        check("identities: all" in found["trial"], f"the trial: {found['trial']}")


def bypass_is_told(folder):
    """A plug-in that is opened deep calls its own UCX past all that is preloaded; also where another UCX
    of the process is seen."""
    own, deep = (library(suffix, "libucp") for suffix in SUFFIXES)
    check_bypass_is_told(folder / "alone", [PROGRAMS / "plugin_host", "deepbind", *plugins(folder)], "off")
    check_bypass_is_told(folder / "beside", [PROGRAMS / "opened_ucp", "global", own, "deepbind", deep], "on")


def check_bypass_is_told(folder, command, state):
    alone = run_well(command)
    result, recording = record_well(folder, command)
    check_equal(result.stdout, alone.stdout, "output of the program")
    check("calls of UCP went past uctrace" in result.stderr, f"record says nothing: {result}")
    info = recording.info
    faults = [(fault["layer"], fault["fault"]) for fault in info["faults"]]
    check_equal(faults, [("uct", "ucp_bypassed"), ("ucp", "ucp_bypassed")], "faults")
    check_equal([info["layers"][layer]["state"] for layer in ("uct", "ucp")], [state] * 2, "layers")
    check_equal(info["complete"], False, "complete")
    check_equal(results_of(info).get("violated", []), [], "violated identities")


def unknown_second_is_left_alone(folder):
    """Each UCX of a process is asked for its version, and not the first one only."""
    known, _ = plugins(folder)
    unknown = built(folder, "ucp_plugin.c", "two", "-fPIC", "-shared", "-Wl,--no-as-needed",
                    PROGRAMS / "fake_ucx_version.so")
    command = [PROGRAMS / "plugin_host", known, unknown]
    quiet = {"UCX_LOG_LEVEL": "error"}  # UCX complains of that version itself
    alone = run_well(command, env=quiet)
    result, recording = record_well(folder / "data", command, env=quiet)
    check_equal(result.stdout, alone.stdout, "output of the program")
    check("9.9.9" in result.stderr, f"record says nothing: {result}")
    info = recording.info
    faults = [(fault["layer"], fault["fault"], fault["detail"]) for fault in info["faults"]]
    check_equal(faults, [(layer, "unknown_ucx_version", "9.9.9") for layer in ("uct", "ucp")], "faults")
    check_equal([info["layers"][layer]["state"] for layer in ("uct", "ucp")], ["on", "on"], "layers")
    # What UCP was asked for is seen all the same, and what became of it is not.
    whole = [message for message in recording.messages if message["match"] != "unmatched"]
    check_equal(len(whole), MESSAGES, "messages through the one that is known")
    check_delivered(whole)
    check_equal(results_of(info).get("violated", []), [], "violated identities")


CASES = {"together": both_are_recorded, "checked": own_names_are_checked, "deep": bypass_is_told,
         "unknown": unknown_second_is_left_alone}


def run_case(case):
    with scratch() as folder:
        CASES[case](folder)


run_test(run_case)
