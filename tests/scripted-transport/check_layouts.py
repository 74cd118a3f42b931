#!/usr/bin/env python3
"""Compares the layouts of internals.hpp with UCX's own headers.

    check_layouts.py SOURCE [INCLUDE]

SOURCE is a source tree of UCX of the same version as the headers that are installed, in the compiler's
usual folders or in INCLUDE. Each structure that internals.hpp states must have the same members at the
same places; those which it states in full must have the same size as well."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Only what libuct touches in them is stated.
HEADS = {"uct_base_iface", "uct_iface_is_reachable_params"}
NAMES_OF_UCX = {"uct_md_attr_v2": "uct_md_attr_v2_t"}  # which has no tag
# The configuration that a release build would have produced.
CONFIGURATION = """
#define ENABLE_STATS 0
#define ENABLE_DEBUG_DATA 0
#define ENABLE_PARAMS_CHECK 0
#define UCS_MAX_LOG_LEVEL 3
#define UCX_MODULE_SUBDIR "ucx"
"""
UCX_HEADERS = ("uct/base/uct_component.h", "uct/base/uct_md.h", "uct/base/uct_iface.h")


def run(command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def structures(preprocessed):
    """{name: [member]} of the structures that our headers state."""
    ours, of_ours = [], False
    for line in preprocessed.splitlines():
        if line.startswith("# "):
            of_ours = Path(line.split('"')[1]).parent == HERE
        elif of_ours:
            ours.append(line.partition("//")[0])
    found = {}
    for name, body in re.findall(r"^struct (\w+) \{$(.*?)^\};$", "\n".join(ours), re.M | re.S):
        body = re.sub(r"\{.*?\}", "", body, flags=re.S)  # structures inside
        members = [re.sub(r"\)\(.*|\[.*", "", member, flags=re.S) for member in body.split(";")]
        found[name] = [re.findall(r"\w+", member)[-1] for member in members if member.strip()]
    return found


def program(found, headers, names):
    lines = [f'#include "{header}"' for header in headers] + ["#include <stddef.h>", "#include <stdio.h>"]
    lines.append("int main(void) {")
    for structure, members in found.items():
        its = names.get(structure, f"struct {structure}")
        if structure not in HEADS:
            lines.append(f'printf("{structure}: %zu bytes\\n", sizeof({its}));')
        for member in members:
            lines.append(
                f'printf("{structure}.{member} at %zu, %zu bytes\\n",'
                f" offsetof({its}, {member}), sizeof((({its}*)0)->{member}));"
            )
    return "\n".join(lines + ["}", ""])


def answers(compiler, text, folder):
    source, built = folder / f"layouts.{compiler[0][-1]}", folder / "layouts"
    source.write_text(text)
    run([*compiler, "-w", "-I", folder, source, "-o", built])
    return run([built]).splitlines()


def main(source, include=None):
    ours = ["g++", "-x", "c++", "-std=c++20", "-I", HERE] + (["-I", include] if include else [])
    theirs = ["gcc", "-DHAVE_CONFIG_H", "-I", f"{source}/src"]
    found = structures(run([*ours, "-w", "-E", HERE / "internals.hpp"]))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "config.h").write_text(CONFIGURATION)
        stated = answers(ours, program(found, ["internals.hpp"], {}), folder)
        true = answers(theirs, program(found, UCX_HEADERS, NAMES_OF_UCX), folder)
    for one, other in zip(stated, true):
        if one != other:
            print(f"stated: {one}\nUCX:    {other}")
    print(f"{len(stated)} sizes and places in {len(found)} structures")
    return 0 if found and stated == true else 1


sys.exit(main(*sys.argv[1:]))
