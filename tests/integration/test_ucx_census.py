"""Each function that the headers of UCP and UCT declare is wrapped by the preload library, or its slot
is replaced in the table of an interface, or a list states why not: for every release of UCX that uctrace
knows (ucx_functions.txt), and for the headers at hand.

    test_ucx_census.py [FOLDER...]    with the headers, as PREFIX/include or src of the sources;
                                      none: those of the UCX that is installed
"""

from pathlib import Path

from harness import LIBRARY, SOURCE_ROOT, check, check_equal, need, run_test, run_well
from ucx_functions import (LAYERS, LIST, declared_functions, functions_by_release, hooked_slots,
                           known_releases, listed_releases)



def wrapped_functions(layer):
    symbols = run_well([need("nm"), "--dynamic", "--defined-only", LIBRARY]).stdout
    exported = {line.split()[-1].partition("@")[0] for line in symbols.splitlines()}
    return {name for name in exported if name.startswith(f"{layer}_")} | (
        {f"uct_{slot}" for slot in hooked_slots()} if layer == "uct" else set())


def functions_with_reasons(path):
    listed = set()
    for line in path.read_text().splitlines():
        name, _, reason = line.partition(" ")
        if name and name != "#":
            check(reason.strip(), f"{path.name} has no reason for {name}")
            check(name not in listed, f"{path.name} lists {name} twice")
            listed.add(name)
    return listed


def installed_ucx():
    """Its headers, and its minor number."""
    told = [run_well([need("pkg-config"), *words, "ucx"]).stdout.strip()
            for words in (["--variable=includedir"], ["--modversion"])]
    return Path(told[0]), int(told[1].split(".")[1])


def the_list_is_right():
    """The list covers all releases that uctrace knows, and agrees with the installed headers. Not all
    headers are installed: tests/ucx-sources compares the others."""
    check_equal(listed_releases(), known_releases(), f"releases in {LIST.name}, and in ucx-facts")
    include, minor = installed_ucx()
    listed = {name for name, minors in functions_by_release().items() if minor in minors}
    for layer in LAYERS:
        unlisted = sorted(declared_functions(layer, include) - listed)
        check_equal(unlisted, [], f"in {include}, and not in {LIST.name} for UCX 1.{minor}")


def each_function_is_wrapped_or_has_a_reason(*folders):
    the_list_is_right()
    of_all_releases = functions_by_release()
    for layer in LAYERS:
        path = SOURCE_ROOT / f"{layer}-shim" / "not_wrapped.txt"
        wrapped, reasoned = wrapped_functions(layer), functions_with_reasons(path)
        check_equal(sorted(wrapped & reasoned), [], f"wrapped, and in {path}")
        known = {name for name in of_all_releases if name.startswith(f"{layer}_")}
        check_equal(sorted(known - wrapped - reasoned), [], f"in {LIST.name}, neither wrapped nor in {path}")
        check_equal(sorted(reasoned - known), [], f"in {path}, and no release of UCX has it")
        for folder in folders or (installed_ucx()[0],):
            declared = declared_functions(layer, Path(folder))
            check_equal(sorted(declared - wrapped - reasoned), [], f"in {folder}, neither wrapped nor in {path}")


run_test(each_function_is_wrapped_or_has_a_reason)
