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


def built(folder, source, suffix, *options, first=None):
    """A program or plug-in, linked with one of them; libraries in the folder `first` take precedence."""
    libraries = [first] if first else []
    libraries.append(library(suffix, "libucp").parent)
    result = folder / f"{Path(source).stem}-{suffix}"
    run_well([need("cc"), "-std=gnu11", *options, f"-I{PREFIX}/{suffix}/include",
              SOURCE_ROOT / "tests" / "programs" / source, "-o", result, *(f"-L{place}" for place in libraries),
              "-lucp", "-lucs", *(f"-Wl,-rpath,{place}" for place in libraries)])
    return result


def plugins(folder):
    return [plugin(folder, suffix) for suffix in SUFFIXES]


def plugin(folder, suffix, **options):
    return built(folder, "ucp_plugin.c", suffix, "-fPIC", "-shared", **options)


def check_modules(command):
    """The loader resolves a module's symbols in the program first, or, with deep binding, in the module's own
    dependencies."""
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
    check_named(recording, messages)


def check_libraries(ucx):
    """Each operation is reported for the library that was called."""
    used = ucx["ucp_libraries"]
    check_equal([known["path"] for known in used], [str(library(suffix, "libucp")) for suffix in SUFFIXES], "libucp")
    for known in used:
        check_equal(known["version"], ucx["version"], f"version of {known}")
        check_equal((known["processes"], known["workers"]), (1, 2), f"use of {known}")
        # Each worker's endpoint is closed, too.
        check_equal(known["operations"], 2 * MESSAGES + 2, f"operations of {known}")
    check_equal([known["path"] for known in ucx["uct_libraries"]],
                [str(library(suffix, "libuct")) for suffix in SUFFIXES], "libuct")


def check_named(recording, messages):
    """Each message names the library that carried it, in every form."""
    libraries = [str(library(suffix, "libucp")) for suffix in SUFFIXES for _ in range(MESSAGES)]
    for side in ("src", "dst"):
        check_equal([message[f"{side}_library"] for message in messages], libraries, f"library of {side}")
    texts = recording.ask("messages").stdout.splitlines()
    check_equal([line.split()[1] for line in texts if line.startswith("  library: ")], libraries, "lists")
    in_full = recording.ask("messages", "--id", str(MESSAGES)).stdout
    check(f"  Library    {libraries[MESSAGES]}.\n" in in_full, f"in full: {in_full}")
    for row, name in zip(recording.table("messages"), libraries, strict=True):
        check_equal((row["src_library"], row["dst_library"]), (name, name), "in the store")


def check_alike(messages):
    """Deep binding loses no operation."""
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
    both = [library(suffix, "libucp") for suffix in SUFFIXES]
    program = built(folder, "plain_ucp.c", "one", "-pthread", "-Wl,--no-as-needed", both[1],
                    f"-Wl,-rpath,{both[1].parent}")
    said = json.loads(run_well([TOOL, "check", "--format", "json", "--", program]).stdout)
    tried = [finding["found"] for finding in said["findings"] if finding["subject"] == "ucx"]
    for path in both:
        check(any(str(path) in found for found in tried), f"each UCX of a program that has two is tried: {tried}")


def bypass_is_told(folder):
    """A plug-in opened with RTLD_DEEPBIND calls its own UCX past every preloaded library; also where another UCX
    of the process is recorded."""
    own, deep = (library(suffix, "libucp") for suffix in SUFFIXES)
    check_bypass_is_told(folder / "alone", [PROGRAMS / "plugin_host", "deepbind", *plugins(folder)], "off")
    check_bypass_is_told(folder / "beside", [PROGRAMS / "opened_ucp", "global", own, "deepbind", deep], "on")
    # Noticed before the other one is loaded.
    first, second = plugins(folder)
    staged = [PROGRAMS / "plugin_host", "deepbind", "staged", second, "plain", first]
    recording = check_bypass_is_told(folder / "first", staged, "on")
    check_equal(len(recording.messages), MESSAGES, "messages through the one that comes by")
    check_delivered(recording.messages)


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
    return recording


def unknown_libucp(folder):
    """A copy of the second libucp that reports an unknown version, also to itself: its own version function is
    renamed, and a dependency has one of the original name."""
    stock = library("two", "libucp")
    copy = folder / stock.name
    name, other = b"\0ucp_get_version\0", b"\0ucp_hDt_version\0"  # 33 * "g" + "e" is 33 * "h" + "D"
    content = stock.read_bytes()
    check(name in content, f"{stock} has no function of this name")
    copy.write_bytes(content.replace(name, other))
    run_well([need("patchelf"), "--add-needed", PROGRAMS / "fake_ucx_version.so", copy])
    (folder / "libucp.so").symlink_to(copy.name)
    return copy


def unknown_is_left_alone(folder):
    """Each UCX of a process is asked for its version, not only the first one; in either load order the known one
    is recorded, and the other one is reported missing."""
    unknown = unknown_libucp(folder)
    known = plugin(folder, "one")
    other = plugin(folder, "two", first=folder)
    check_unknown(folder / "second", [known, other], unknown)
    check_unknown(folder / "first", [other, known], unknown)


def check_unknown(folder, plugins_in_order, unknown):
    command = [PROGRAMS / "plugin_host", *plugins_in_order]
    quiet = {"UCX_LOG_LEVEL": "error"}  # UCX complains of that version itself
    alone = run_well(command, env=quiet)
    result, recording = record_well(folder, command, env=quiet)
    check_equal(result.stdout, alone.stdout, "output of the program")
    said = f"9.9.9 in {unknown}"
    check(said in result.stderr, f"record does not say '{said}': {result}")
    info = recording.info
    faults = [(fault["layer"], fault["fault"], fault["detail"]) for fault in info["faults"]]
    check_equal(faults, [(layer, "unknown_ucx_version", said) for layer in ("uct", "ucp")], "faults")
    check_equal([info["layers"][layer]["state"] for layer in ("uct", "ucp")], ["on", "on"], "layers")
    check_equal(info["complete"], False, "complete")
    check_equal([used["path"] for used in info["ucx"]["uct_libraries"]], [str(library("one", "libuct"))], "libuct")
    workers = {used["path"]: (used["processes"], used["workers"]) for used in info["ucx"]["ucp_libraries"]}
    check_equal(workers, {str(library("one", "libucp")): (1, 2), str(unknown): (1, 0)}, "libucp")
    # Calls to UCP are recorded nevertheless, but not their UCT operations.
    whole = [message for message in recording.messages if message["match"] != "unmatched"]
    check_equal(len(whole), MESSAGES, "messages through the one that is known")
    check_delivered(whole)
    check_equal(results_of(info).get("violated", []), [], "violated identities")


CASES = {"together": both_are_recorded, "checked": own_names_are_checked, "deep": bypass_is_told,
         "unknown": unknown_is_left_alone}


def run_case(case):
    with scratch() as folder:
        CASES[case](folder)


run_test(run_case)
