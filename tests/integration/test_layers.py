"""`record --layers`: unwanted layers are not recorded, the job is unchanged, and no identity is
violated by that."""

import itertools

from checks import results_of
from harness import PROGRAMS, TOOL, check, check_equal, run, run_test, run_well, scratch
from mpi_jobs import MPIS
from recordings import Recording

LAYERS = ("uct", "ucp", "mpi")
# Both sides come from this layer alone, so they hold without the others.
OWN_ACCOUNTS = {
    "uct": ("uct", "completions", "pending", "hooks", "arrivals"),
    "ucp": ("ucp", "ucp_completions", "tag_sends", "puts"),
    "mpi": ("mpi",),
}


def command_of(program):
    return MPIS[program].job("exchange") if program in MPIS else [PROGRAMS / program]


def record_layers(folder, layers, command):
    result = run_well([TOOL, "record", "-o", folder, "--layers", ",".join(layers), "--", *command])
    return result, Recording(folder)


def check_layers(info, layers, used):
    for layer in LAYERS:
        state = info["layers"][layer]
        if layer not in layers:
            check_equal(state, {"state": "off", "why": "by --layers"}, f"layer {layer}")
            check_equal(info["events"][layer], 0, f"events of {layer}")
        elif layer in used:
            check_equal(state, {"state": "on", "why": None}, f"layer {layer}")
            check(info["events"][layer] > 0, f"no events of {layer}")


def check_accounts_of_layers(info, layers, used):
    results = {i["name"]: i["result"] for i in info["identities"]}
    check("violated" not in results.values(), f"{layers}: {results_of(info).get('violated')}")
    for layer in layers:
        for name in OWN_ACCOUNTS[layer] if layer in used else ():
            check_equal(results[name], "holds", f"{name} with {layers}")
    for layer in set(LAYERS) - set(layers):
        for name in OWN_ACCOUNTS[layer]:
            check_equal(results[name], "incomplete", f"{name} with {layers}")
    check_equal(info["faults"], [], "faults")
    check_equal(info["events"]["dropped"], 0, "dropped events")


def sums_of(info, layer):
    """A layer's records do not depend on the others."""
    if layer == "mpi":
        return info["events"]["mpi"]
    if layer == "ucp":
        return {k: info["messages"][k] for k in ("sent", "failed", "kinds")}
    return info["layers"]["uct"]["state"]  # progress posts more or less of them in each run


def each_choice_of_layers(program):
    used = LAYERS if program in MPIS else LAYERS[:2]
    with scratch() as folder:
        alone = run_well(command_of(program))
        found = {}
        for count in (3, 1, 2):
            for layers in itertools.combinations(LAYERS, count):
                if not set(layers) & set(used):
                    continue
                result, recording = record_layers(folder / "-".join(layers), layers,
                                                  command_of(program))
                info = recording.info
                check_equal(result.stdout, alone.stdout, f"output with {layers}")
                check("warning" not in result.stderr, f"{layers}: {result.stderr}")
                check_layers(info, layers, used)
                check_accounts_of_layers(info, layers, used)
                for layer in layers:
                    sums = sums_of(info, layer)
                    check_equal(sums, found.setdefault(layer, sums), f"{layer} of {layers}")
                for verb in ("report", "messages", "view"):
                    result = recording.ask(verb)
                    check_equal(result.status, 0, f"{verb} with {layers}: {result}")


def words_of_the_option():
    with scratch() as folder:
        for word, to_do in (("upc", "did you mean 'ucp'?"), ("", "give a value")):
            result = run([TOOL, "record", "-o", folder / "data", "--layers", word, "--", "true"])
            check_equal(result.status, 125, f"status with --layers '{word}'")
            check(to_do in result.stderr, f"--layers '{word}': {result.stderr}")
        # By hand, and for a program without MPI: the layer of MPI is never touched.
        env = {"UCTRACE_LAYERS": "ucp"}
        recorded = [TOOL, "record", "-o", folder / "data", "--", PROGRAMS / "plain_ucp"]
        run_well(recorded, env=env)
        states = {k: v["state"] for k, v in Recording(folder / "data").info["layers"].items()}
        check_equal(states, {"uct": "off", "ucp": "on", "mpi": "off", "gpu": "unused", "library": "off"}, "layers")


def layers_are_chosen(what):
    if what == "option":
        words_of_the_option()
    else:
        each_choice_of_layers(what)


run_test(layers_are_chosen)
