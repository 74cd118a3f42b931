"""Each function that the headers of UCP and UCT declare is wrapped by the preload library, or its slot
is replaced in the table of an interface, or a list has the reason why not: a new function of a
newer UCX is noticed.

    test_ucx_census.py [FOLDER...]    with the headers, as PREFIX/include or src of the sources;
                                      none: those of the UCX that is installed
"""

import re
from pathlib import Path

from harness import LIBRARY, SOURCE_ROOT, check, check_equal, need, run_test, run_well

KNOWN = {"ucp": "ucp_tag_send_nbx", "uct": "uct_ep_put_short"}  # in every version
SLOTS = SOURCE_ROOT / "event-log" / "format" / "ucx_functions.hpp"


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)


def declared_functions(layer, include):
    """Of all headers, also those of folders below; and of UCT the slots of an interface, as the
    functions that call them."""
    declared, tables = set(), []
    for header in (include / layer / "api").rglob("*.h"):
        text = without_comments(header.read_text())
        declared |= set(re.findall(rf"\b({layer}_[a-z0-9_]+)\s*\(", text))
        if table := re.search(r"struct uct_iface_ops \{(.*?)\}", text, re.DOTALL):
            slots = set(re.findall(r"\b((?:ep|iface)_[a-z0-9_]+);", table[1]))
            check(len(slots) > 40, f"{header} has a table of a form that is not known: {slots}")
            tables.append(header.name)
            declared |= {f"uct_{slot}" for slot in slots}
    check_equal(len(tables), 1 if layer == "uct" else 0, f"tables of operations in {include}/{layer}: {tables}")
    check(KNOWN[layer] in declared, f"the headers in {include} declare no known function of {layer}")
    return declared


def wrapped_functions(layer):
    symbols = run_well([need("nm"), "--dynamic", "--defined-only", LIBRARY]).stdout
    exported = {line.split()[-1].partition("@")[0] for line in symbols.splitlines()}
    slots = re.findall(r"^  X\(((?:ep|iface)_[a-z0-9_]+), ", SLOTS.read_text(), re.MULTILINE)
    return {name for name in exported if name.startswith(f"{layer}_")} | (
        {f"uct_{slot}" for slot in slots} if layer == "uct" else set())


def listed_functions(path):
    listed = set()
    for line in path.read_text().splitlines():
        name, _, reason = line.partition(" ")
        if name and name != "#":
            check(reason.strip(), f"{path.name} has no reason for {name}")
            check(name not in listed, f"{path.name} lists {name} twice")
            listed.add(name)
    return listed


def each_function_is_wrapped_or_has_a_reason(*folders):
    installed = run_well([need("pkg-config"), "--variable=includedir", "ucx"]).stdout.strip()
    for layer in ("ucp", "uct"):
        path = SOURCE_ROOT / f"{layer}-shim" / "not_wrapped.txt"
        wrapped, listed = wrapped_functions(layer), listed_functions(path)
        check_equal(sorted(wrapped & listed), [], f"wrapped, and in {path}")
        for folder in folders or (installed,):
            declared = declared_functions(layer, Path(folder))
            check_equal(sorted(declared - wrapped - listed), [], f"in {folder}, neither wrapped nor in {path}")


run_test(each_function_is_wrapped_or_has_a_reason)
