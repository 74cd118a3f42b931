"""UCX in private scopes: loaded by a plug-in, under other names, twice in one process, and through a handle,
where calls of UCP bypass the preload library."""

import json
import shutil
from pathlib import Path

from checks import check_complete, check_delivered, results_of
from harness import TOOL, PROGRAMS, check, check_equal, need, run, run_test, run_well, scratch
from recordings import record_well

MESSAGES = 4  # of each use; a plug-in is used twice
LIBRARIES = ("libucm", "libucs", "libuct", "libucp")


def library_in_use(name):
    for line in run_well(["ldd", PROGRAMS / "ucp_plugin.so"]).stdout.splitlines():
        if line.split()[0].startswith(f"{name}.so"):
            return Path(line.split()[2]).resolve()
    raise AssertionError(f"the plug-in does not need {name}")


def renamed(folder, user):
    """A user of UCX, with a copy of UCX under other library names."""
    patchelf = need("patchelf")
    names = {f"{name}.so.0": f"{name}-copy.so.0" for name in LIBRARIES}
    for name in LIBRARIES:
        shutil.copy(library_in_use(name), folder / names[f"{name}.so.0"])
    shutil.copy(PROGRAMS / user, folder / user)
    for copy in [*names.values(), user]:
        for change in (
            *((("--set-soname", copy),) if ".so" in copy else ()),
            ("--set-rpath", folder),
            *(("--replace-needed", old, new) for old, new in names.items()),
        ):
            run_well([patchelf, *change, folder / copy])
    return folder / user


def renamed_plugin(folder):
    return renamed(folder, "ucp_plugin.so")


def plugins_are_recorded(folder, plugins, options=(), times=1, env=None):
    command = [PROGRAMS / "plugin_host", *options, *plugins]
    alone = run_well(command, env=env)
    result, recording = record_well(folder / "data", command, env=env)
    check_equal(result.stdout, alone.stdout, "output of the program")
    check_complete(recording.info, layers=("uct", "ucp"), processes=1)
    check_equal(recording.info["uct"]["reasons"]["direct_uct"], 0, "direct use of UCT")
    check_equal(len(recording.messages), 2 * MESSAGES * len(plugins) * times, "messages")
    check_delivered(recording.messages)


def plugin_is_recorded(folder):
    plugins_are_recorded(folder, [PROGRAMS / "ucp_plugin.so"])


def renamed_ucx_is_recorded(folder):
    plugins_are_recorded(folder, [renamed_plugin(folder)])


def two_copies_are_recorded(folder):
    # UCX loads its FUSE module, if any, into the global scope, and itself with it: a second UCX would then
    # call functions of the first.
    apart = {"UCX_MODULES": "^fuse"}
    plugins_are_recorded(folder, [PROGRAMS / "ucp_plugin.so", renamed_plugin(folder)], env=apart)


def unloaded_ucx_is_recorded(folder):
    """Nothing calls unloaded code, and a reloaded library is recorded again."""
    plugins_are_recorded(folder, [PROGRAMS / "ucp_plugin.so"], ["unload"], times=6)


def unloaded_copy_is_recorded(folder):
    plugins_are_recorded(folder, [renamed_plugin(folder)], ["unload"], times=6)


def bypassed_calls_are_told(folder):
    command = [PROGRAMS / "ucp_by_handle", library_in_use("libucp")]
    alone = run_well(command)
    result, recording = record_well(folder / "data", command)
    check_equal(result.stdout, alone.stdout, "output of the program")
    info = recording.info
    check_equal([fault["fault"] for fault in info["faults"]], ["ucp_bypassed"], "faults")
    check("libucp" in info["faults"][0]["detail"], f"which library: {info['faults']}")
    check_equal(info["layers"]["ucp"]["state"], "off", "the layer of UCP")
    check_equal(info["uct"]["reasons"]["direct_uct"], 0, "UCP's operations, not the program's")
    check(info["uct"]["posted_ok"] > 0, "UCT operations are recorded all the same")
    check("past uctrace" in result.stderr, f"record says nothing: {result.stderr}")


def bypass_is_told_of_layers_that_are_wanted(folder):
    """`--layers`: unwanted layers are not missed, and wanted ones are missed even without UCT."""
    by_handle = [PROGRAMS / "ucp_by_handle", library_in_use("libucp")]
    for name, command, missing in (("deep", host("deepbind"), {"uct", "ucp"}), ("by-handle", by_handle, {"ucp"})):
        for layers in ("uct", "ucp", "uct,ucp", "mpi"):
            result, recording = record_well(folder / f"{name}-{layers}", command, switches=["--layers", layers])
            told = missing & set(layers.split(","))
            if not result.stderr.count("nothing was recorded"):
                info = recording.info
                check_equal({fault["layer"]: fault["fault"] for fault in info["faults"]},
                            {layer: "ucp_bypassed" for layer in told}, f"faults of {name} with {layers}")
                check_equal(info["complete"], not told, f"complete of {name} with {layers}")
            check_equal("past uctrace" in result.stderr, bool(told), f"what is said of {name} with {layers}: {result}")


def host(*words, plugin="ucp_plugin.so"):
    return [PROGRAMS / "plugin_host", *words, PROGRAMS / plugin]


def check_faults(folder, command, expected, said, **options):
    """The faults are (layer, fault, value); value 1: whether it was used is not known."""
    alone = run_well(command, **options)
    result, recording = record_well(folder, command, **options)
    check_equal(result.stdout, alone.stdout, "output of the program")
    check(said in result.stderr, f"record does not say '{said}': {result}")
    info = recording.info
    told = [(fault["layer"], fault["fault"], fault["value"]) for fault in info["faults"]]
    check_equal(told, expected, f"faults of {command}")
    check_equal(info["complete"], False, "complete")
    check("violated" not in results_of(info), f"identities: {results_of(info)}")
    return recording


def both_layers(value):
    return [(layer, "ucp_bypassed", value) for layer in ("uct", "ucp")]


NO_MODULES = {"UCX_MODULES": " "}
WENT_PAST = "calls of UCP went past uctrace"
MAY_HAVE = "calls of UCP may have gone past uctrace"


def bypass_without_modules_is_told(folder):
    """A UCX without modules is detected by its calls, if the loader tells."""
    check_faults(folder / "lazy", host("lazy", "deepbind"), both_layers(0), WENT_PAST, env=NO_MODULES)
    check_faults(folder / "now", host("deepbind"), both_layers(1), MAY_HAVE, env=NO_MODULES)
    check_faults(folder / "gone", host("unload", "deepbind"), both_layers(1), MAY_HAVE, env=NO_MODULES)
    copy = renamed(folder, "ucp_plugin.so")
    beside = check_faults(folder / "beside", [PROGRAMS / "opened_ucp", "global", library_in_use("libucp"), "deepbind",
                                              copy.parent / "libucp-copy.so.0"], both_layers(1), MAY_HAVE,
                          env=NO_MODULES)
    check_equal([beside.info["layers"][layer]["state"] for layer in ("uct", "ucp")], ["on", "on"], "layers")


def idle_copy_is_no_fault(folder):
    """A lazily bound library that calls nothing is not missed."""
    result = run_well([TOOL, "record", "-o", folder / "data", "--", *host("lazy", "deepbind", "unused")])
    check("nothing was recorded" in result.stderr, f"a UCX that was not used: {result}")


def bypassed_uct_is_told(folder):
    """Also without a libucp."""
    uct = host("deepbind", plugin="uct_plugin.so")
    said = "calls of UCT went past uctrace"
    recording = check_faults(folder / "modules", uct, [("uct", "uct_bypassed", 0)], said)
    check("libuct" in recording.info["faults"][0]["detail"], f"which library: {recording.info['faults']}")
    check_equal(recording.info["layers"]["uct"]["state"], "off", "the layer of UCT")
    lazy = host("lazy", "deepbind", plugin="uct_plugin.so")
    check_faults(folder / "lazy", lazy, [("uct", "uct_bypassed", 0)], said, env=NO_MODULES)
    may_have = "calls of UCT may have gone past uctrace"
    check_faults(folder / "now", uct, [("uct", "uct_bypassed", 1)], may_have, env=NO_MODULES)
    # The modules belong to the user that is recorded.
    shared = [*host(), "deepbind", "unused", PROGRAMS / "uct_plugin.so"]
    check_faults(folder / "shared", shared, [("uct", "uct_bypassed", 1)], may_have)
    _, recording = record_well(folder / "seen", host(plugin="uct_plugin.so"))
    check_equal((recording.info["faults"], recording.info["complete"]), ([], True), "UCT that comes by")


def look_amid_hides_nothing(folder):
    """The program unloads something after UCX loaded its modules and before UCP calls UCT."""
    for how in ([], ["lazy"]):
        check_faults(folder / f"data-{len(how)}", host(*how, "deepbind", "staged"), both_layers(0), WENT_PAST)


def renamed_ucx_is_checked(folder):
    """Before the job `check` tries the UCX of that name, and not the system's."""
    program = renamed(folder, "plain_ucp")
    result = run([TOOL, "check", "--format", "json", "--", program])
    findings = json.loads(result.stdout)["findings"]
    tried = [finding["found"] for finding in findings if finding["subject"] == "ucx"]
    check(any("libucp-copy.so.0" in found for found in tried), f"the UCX that is tried: {findings}")
    unused = [finding for finding in findings if "uses neither MPI" in finding["found"]]
    check_equal(unused, [], "the program is taken for one without UCX")


CASES = {
    "renamed-checked": renamed_ucx_is_checked,
    "plug-in": plugin_is_recorded,
    "renamed": renamed_ucx_is_recorded,
    "two-copies": two_copies_are_recorded,
    "unloaded": unloaded_ucx_is_recorded,
    "unloaded-copy": unloaded_copy_is_recorded,
    "by-handle": bypassed_calls_are_told,
    "bypassed-bare": bypass_without_modules_is_told,
    "bypassed-uct": bypassed_uct_is_told,
    "bypassed-staged": look_amid_hides_nothing,
    "idle": idle_copy_is_no_fault,
    "bypassed-layers": bypass_is_told_of_layers_that_are_wanted,
}


def run_case(case):
    with scratch() as folder:
        CASES[case](folder)


run_test(run_case)
