"""Precompiles, with clang, headers that many others include. A header that includes it sees it in any case, so it may
come before that header, too. An include within #if, or below a declaration or a #define, does not count."""

import re
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
DIRECTIVE = re.compile(r'^\s*#\s*(?:(include)\s+([<"][^>"]+[>"])|(if\w*)|(endif)|(define|undef|pragma\s+\w+_macro)|\w+)')
POPULAR = 8  # A name is precompiled only if this many headers include it.
USERS = 25  # A file is precompiled only if this many headers use it.


@cache
def direct_includes(path):
    """(names as written, whether all includes precede everything else)"""
    names, depth, is_below, at_top = [], 0, False, True
    for line in COMMENT.sub("", path.read_text()).replace("\\\n", " ").splitlines():
        directive = DIRECTIVE.match(line)
        if directive is None:
            is_below = is_below or bool(line.strip())
            continue
        include, name, begins, ends, changes_macros = directive.groups()
        depth += bool(begins) - bool(ends)
        is_below = is_below or bool(changes_macros)
        at_top = at_top and not (include and is_below)
        if include and depth == 0 and not is_below:
            names.append(name)
    return names, at_top


class Closures:
    """What headers include, directly or not: paths of the tree, and names of others in <> or quotes."""

    def __init__(self, root):
        self.root = root
        self.known = {}

    def of(self, header):
        if header not in self.known:
            self.known[header] = set()  # of one that includes itself
            path = self.root / header
            for name in direct_includes(path)[0]:
                found = next((p for p in (self.root / name[1:-1], path.parent / name[1:-1]) if p.is_file()), None)
                if found is None or name.startswith("<"):
                    self.known[header].add(name)
                else:
                    inner = str(found.resolve().relative_to(self.root))
                    self.known[header] |= {inner} | self.of(inner)
        return self.known[header]


def choose(root, headers):
    """{header: frozenset of what is precompiled for it}, of C++ headers with the same options."""
    closures = Closures(root)
    popular = {name for name, count in Counter(n for h in headers for n in closures.of(h)).items() if count >= POPULAR}
    left = {h: frozenset(closures.of(h) & popular - {h}) for h in headers if direct_includes(root / h)[1]}
    chosen = {}
    for precompiled in sorted(set(left.values()), key=lambda names: (-len(names), sorted(names))):
        users = [h for h in left if h not in chosen and precompiled <= left[h]]
        if precompiled and len(users) >= USERS:
            chosen |= dict.fromkeys(users, precompiled)
    return chosen


def make(command, names, file, directory):
    """Whether `file` was made: if not, one of the headers does not compile, which its own check then reports."""
    source = Path(file).with_suffix(".hpp")
    source.write_text("".join(f"#include {n if n[0] in '<' + chr(34) else chr(34) + n + chr(34)}\n" for n in sorted(names)))
    return subprocess.run([*command, "-x", "c++-header", source, "-o", file], cwd=directory, check=False,
                          capture_output=True).returncode == 0
