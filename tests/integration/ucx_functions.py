"""The functions that the headers of UCP and UCT declare: of a source tree or a prefix, and of every
release of UCX that uctrace knows, from a list (ucx_functions.txt, which tests/ucx-sources makes)."""

import re
from pathlib import Path

from harness import SOURCE_ROOT, check, check_equal

LAYERS = ("ucp", "uct")
LIST = Path(__file__).with_name("ucx_functions.txt")
RELEASES = SOURCE_ROOT / "ucx-facts" / "releases.hpp"
SLOTS = SOURCE_ROOT / "event-log" / "format" / "ucx_functions.hpp"
OF_THE_PATCH = {"uct_tool_attach"}  # in the headers of a rebuilt UCX; uctrace calls it
KNOWN = {"ucp": "ucp_tag_send_nbx", "uct": "uct_ep_put_short"}  # in every version


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)


def declared_functions(layer, include):
    """Of all headers, including subfolders; for UCT also the slots of an interface, as the functions
    that call them."""
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
    return declared - OF_THE_PATCH


def hooked_slots():
    """The slots of an interface's table that uctrace replaces."""
    table = re.search(r"#define UCTRACE_UCT_SLOTS\(X\)(.*?)\n\n", SLOTS.read_text(), re.DOTALL)
    slots = re.findall(r"^  X\((\w+), \w+\)", table[1], re.MULTILINE)
    check(len(slots) > 20, f"{SLOTS} has a list of slots of a form that is not known: {slots}")
    return slots


def known_releases():
    """The minor numbers of the rows of ucx-facts."""
    rows = re.findall(r"^    \{(\d+), (?:true|false), \{", RELEASES.read_text(), re.MULTILINE)
    check(len(rows) > 10, f"the rows in {RELEASES} have a form that is not known")
    return [int(minor) for minor in rows]


# --- the list ------------------------------------------------------------------------------------

HEAD = """\
# The public functions of UCP and UCT (src/ucp/api and src/uct/api, with the slots of uct_iface_ops_t as the
# functions that call them), and the releases of UCX 1 whose headers declare them. Names only.
# Made by tests/ucx-sources --write; test_ucx_census.py reads it.
#
# release, the versions that were read"""


def in_ranges(minors, releases):
    """[11, 12, 14] -> "11-12 14"; neighbours are consecutive entries of `releases`."""
    runs = []
    for minor in sorted(minors):
        if runs and releases.index(minor) == releases.index(runs[-1][1]) + 1:
            runs[-1][1] = minor
        else:
            runs.append([minor, minor])
    return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def write_list(functions, versions):
    """`functions`: {minor: names}; `versions`: {minor: the versions that were read}."""
    releases = sorted(functions)
    lines = [HEAD, *(f"# {minor}: {', '.join(versions[minor])}" for minor in releases), ""]
    for name in sorted(set().union(*functions.values())):
        lines.append(f"{name} {in_ranges([m for m in releases if name in functions[m]], releases)}")
    LIST.write_text("\n".join(lines) + "\n")


def minors_in(ranges):
    for part in ranges.split():
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def listed_releases():
    return [int(minor) for minor in re.findall(r"^# (\d+): ", LIST.read_text(), re.MULTILINE)]


def functions_by_release():
    """{name: the minor numbers of the releases that have it}, of all layers."""
    found = {}
    for line in LIST.read_text().splitlines():
        if line and not line.startswith("#"):
            name, _, ranges = line.partition(" ")
            check(name not in found and ranges, f"{LIST.name}: {line!r} is no line of it")
            found[name] = set(minors_in(ranges))
    return found
