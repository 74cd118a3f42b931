"""Reads the tables of libraries above UCX: which functions are measured (openshmem_functions.txt, ucc_functions.txt)."""

import re
import sys
from dataclasses import dataclass
from itertools import product
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "mpi-attribution"))
from mpi_tables import TableError, table_lines  # noqa: E402

MAX_FUNCTIONS = 4096  # log::LibraryCall::kMaxFunctions
CLASSES = {"init", "finalize", "exit", "memory", "context", "team", "put", "get", "atomic", "collective", "sync",
           "order", "wait", "lock", "post", "release", "task"}
MOVES_AN_ELEMENT = {"put", "get", "atomic"}  # unless it has a count
RESULTS = {"", "status", "element"}
HANDLES = ("scope", "new_scope", "request", "new_request")
# Of UCC: the runtime reads them. With their names in call.h.
UCC_ROLES = {"operation": "kUctraceOperation", "event": "kUctraceEvent", "team_params": "kUctraceTeamParams",
             "ended_team": "kUctraceEndedTeam"}
ROLES = {"-", "pe", "nelems", "count", "bytes", "value", *HANDLES, *UCC_ROLES}


@dataclass(frozen=True)
class Function:
    name: str
    kind: str
    result: str
    roles: tuple  # one for each argument
    element: str  # its type in C, or its number of bytes; "" if it has none

    def argument(self, role):
        """The C name of the argument with this role, None if there is none."""
        return f"a{self.roles.index(role)}" if role in self.roles else None


@dataclass(frozen=True)
class Library:
    name: str
    functions: tuple  # in the order of their numbers


def read_set(words, sets):
    """{name: element}"""
    elements = {}
    for word in words:
        if word.startswith("+"):
            elements.update(sets[word[1:]])
        else:
            name, _, element = word.partition("=")
            elements[name] = (element or name).replace(".", " ")
    return elements


def expand(pattern, sets):
    """For each name that a pattern stands for: the name, its element, and whether it has what is in brackets."""
    inner = re.search(r"\{[^{}]*\}|\[\w+\]", pattern)
    if inner:
        text = inner[0]
        choices = ([(choice, False) for choice in text[1:-1].split(",")] if text[0] == "{" else
                   [("", False), (text[1:-1], True)])
        for choice, bracketed in choices:
            rest = pattern[:inner.start()] + choice + pattern[inner.end():]
            for name, element, has in expand(rest, sets):
                yield name, element, has or bracketed
        return
    found = re.search(r"<(\w+)>", pattern)
    if not found:
        yield pattern, "", False
        return
    for name, element in sets[found[1]].items():
        yield pattern[:found.start()] + name + pattern[found.end():], element, False


def read_roles(words, bracketed):
    roles = [word for word in words if bracketed or not word.startswith("[")]
    return tuple(role.strip("[]") for role in roles)


def check(function):
    if function.kind not in CLASSES:
        raise TableError(f"unknown class {function.kind}")
    if function.result not in RESULTS:
        raise TableError(f"unknown result {function.result}")
    if unknown := set(function.roles) - ROLES:
        raise TableError(f"unknown role {', '.join(sorted(unknown))}")
    if any(function.roles.count(role) > 1 for role in set(function.roles) - {"-", "value"}):
        raise TableError("a role is given twice")
    in_elements = {"nelems", "count", "value"} & set(function.roles) or function.result == "element"
    if in_elements and function.kind != "memory" and not function.element:
        raise TableError("it counts elements, and nothing says what these are")


def read_library(path):
    name, sets, functions = "", {}, {}
    for place, line in table_lines(path):
        words = line.split()
        try:
            if words[0] == "library":
                name = words[1]
                continue
            if words[0] == "types":
                sets[words[1]] = read_set(words[2:], sets)
                continue
            kind, _, result = words[1].partition(":")
            for function, element, bracketed in expand(words[0], sets):
                if function in functions:
                    raise TableError(f"{function} is listed twice")
                functions[function] = Function(function, kind, result, read_roles(words[2:], bracketed), element)
                check(functions[function])
        except (IndexError, KeyError) as error:
            raise TableError(f"{place}: not understood: {error}") from None
        except TableError as error:
            raise TableError(f"{place}: {error}") from None
    if not name:
        raise TableError(f"{path}: it names no library")
    if len(functions) > MAX_FUNCTIONS:
        raise TableError(f"{path}: a record has room for the numbers of {MAX_FUNCTIONS} functions")
    return Library(name, tuple(functions.values()))
