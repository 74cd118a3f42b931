"""Which rooms may include which. rooms.txt names for each room the rooms whose headers it may include; a
room may always include its own. Fails for any other include, for an unused permission, and for rooms
that include each other in a cycle.

    check_rooms.py ROOT ROOMS     checks the sources below ROOT
    check_rooms.py --self-test    each kind of mistake is found
"""

import re
import sys
import tempfile
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s+"(.+)/[^/"]+"', re.MULTILINE)
SOURCES = {".c", ".h", ".cpp", ".hpp", ".in"}


def read_rooms(text):
    """{room: rooms that it may include}"""
    rooms = {}
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        if line:
            room, _, may = line.partition(":")
            rooms[room.strip()] = set(may.split())
    return rooms


def includes_below(root, rooms):
    """(room, included room, file) of every include between rooms, and of files in no room."""
    tops = sorted({room.split("/")[0] for room in rooms})
    for top in tops:
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SOURCES or not path.is_file() or "node_modules" in path.parts:
                continue
            room = str(path.parent.relative_to(root))
            for included in INCLUDE.findall(path.read_text()):
                if included != room and (root / included).is_dir():
                    yield room, included, str(path.relative_to(root))


def circle_in(rooms):
    """A way through `rooms` that comes back to where it began, or nothing."""
    done = set()

    def walk(room, way):
        if room in way:
            return way[way.index(room):] + [room]
        if room in done:
            return None
        for next_room in sorted(rooms.get(room, ())):
            if found := walk(next_room, way + [room]):
                return found
        done.add(room)
        return None

    return next((found for room in sorted(rooms) if (found := walk(room, []))), None)


def mistakes_of(root, rooms):
    mistakes, needed = [], {room: set() for room in rooms}
    for room, included, path in includes_below(root, rooms):
        needed.setdefault(room, set()).add(included)
        if included not in rooms.get(room, set()):
            mistakes.append(f"{path} includes a header of {included}, which {room} may not")
    for room, may in sorted(rooms.items()):
        if not (root / room).is_dir():
            mistakes.append(f"there is no room {room}")
        for unused in sorted(may - needed[room]):
            mistakes.append(f"{room} may include {unused}, and does not")
    if circle := circle_in(rooms):
        mistakes.append("rooms that include each other: " + " -> ".join(circle))
    return mistakes


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in (("a/one.hpp", ""), ("b/two.hpp", '#include "a/one.hpp"\n'),
                           ("b/c/three.cpp", '#include "b/two.hpp"\n')):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        right = "a:\nb: a\nb/c: b\n"
        for text, part in ((right, None), ("a:\nb:\nb/c: b", "b may not"), ("a: b\nb: a\nb/c: b", "a -> b -> a"),
                           (right + "d:", "no room d"), ("a:\nb: a b/c\nb/c: b", "and does not"),
                           ("a:\nb: a", "b/c may not")):
            found = mistakes_of(root, read_rooms(text))
            if not (any(part in line for line in found) if part else found == []):
                sys.exit(f"FAIL: {text!r}: expected {part!r}, found {found}")


if sys.argv[1:] == ["--self-test"]:
    self_test()
else:
    found = mistakes_of(Path(sys.argv[1]), read_rooms(Path(sys.argv[2]).read_text()))
    sys.exit("\n".join(["FAIL: see tests/rooms/rooms.txt"] + found) if found else 0)
