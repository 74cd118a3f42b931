"""Each function that UCP's headers declare is wrapped by the preload library or listed with the reason
why not, so that a new function of a newer UCX is noticed."""

import re
from pathlib import Path

from harness import LIBRARY, check, check_equal, need, run_test, run_well

LIST = Path(__file__).resolve().parents[2] / "ucp-shim" / "not_wrapped.txt"
HEADERS = ("ucp.h", "ucp_compat.h")


def declared_functions():
    include = run_well([need("pkg-config"), "--variable=includedir", "ucx"]).stdout.strip()
    declared = set()
    for header in HEADERS:
        text = (Path(include) / "ucp" / "api" / header).read_text()
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
        declared |= set(re.findall(r"\b(ucp_[a-z0-9_]+)\s*\(", text))
    check("ucp_tag_send_nbx" in declared, f"the headers in {include} declare no known function")
    return declared


def each_function_is_wrapped_or_has_a_reason():
    symbols = run_well([need("nm"), "--dynamic", "--defined-only", LIBRARY]).stdout
    exported = {line.split()[-1].partition("@")[0] for line in symbols.splitlines()}
    wrapped = {name for name in exported if name.startswith("ucp_")}
    listed = {}
    for line in LIST.read_text().splitlines():
        name, _, reason = line.partition(" ")
        if name and name != "#":
            check(reason.strip(), f"{LIST.name} has no reason for {name}")
            check(name not in listed, f"{LIST.name} lists {name} twice")
            listed[name] = reason.strip()
    declared = declared_functions()
    check_equal(sorted(declared - wrapped - set(listed)), [], f"neither wrapped nor in {LIST.name}")
    check_equal(sorted(wrapped & set(listed)), [], f"wrapped, and in {LIST.name}")


run_test(each_function_is_wrapped_or_has_a_reason)
