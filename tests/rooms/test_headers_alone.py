"""check_headers_alone.py finds what does not compile alone among many headers that do, also where it precompiles."""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from check_headers_alone import clang

HERE = Path(__file__).resolve().parent
TAKES_IT_FROM_OTHERS = '#pragma once\n#include <string>\ninline std::deque<int> missing;\n'
TOO_LATE = '#pragma once\ninline std::deque<int> late;\n#include "common.hpp"\n'
ON_A_CONDITION = '#pragma once\n#ifdef NOBODY_DEFINES_IT\n#include "common.hpp"\n#endif\ninline std::deque<int> unsure;\n'
# What a macro before an include changes is not what others see of it.
WITH_A_MACRO = '#pragma once\n#define ASKS_FOR_MORE\n#include "asked.hpp"\n#include "common.hpp"\ninline int more = kMore;\n'
BAD = {"missing.hpp", "late.hpp", "unsure.hpp"}
ASKED = '#pragma once\n#ifdef ASKS_FOR_MORE\ninline const int kMore = 1;\n#endif\n'


def make_tree(root):
    rooms = root / "tests" / "rooms"
    rooms.mkdir(parents=True)
    for script in ("check_headers_alone.py", "precompiled.py"):
        shutil.copy(HERE / script, rooms)
    headers = {"common.hpp": "#pragma once\n#include <deque>\n#include <string>\n"}
    for number in range(30):
        headers[f"good_{number}.hpp"] = ('#pragma once\n#include "common.hpp"\n#include "asked.hpp"\n'
                                         f"inline std::deque<int> of_{number};\n")
    headers |= {"missing.hpp": TAKES_IT_FROM_OTHERS, "late.hpp": TOO_LATE, "unsure.hpp": ON_A_CONDITION,
                "macro.hpp": WITH_A_MACRO, "asked.hpp": ASKED}
    for name, text in headers.items():
        (root / name).write_text(text)
    (root / "all.cpp").write_text("".join(f'#include "{name}"\n' for name in headers))
    build = root / "build"
    build.mkdir()
    command = {"directory": str(build), "file": "../all.cpp", "command": "c++ -I. -I.. -std=c++20 -o all.o -c ../all.cpp"}
    (build / "compile_commands.json").write_text(json.dumps([command]))
    return rooms / "check_headers_alone.py", build


with tempfile.TemporaryDirectory(prefix="uctrace-headers-") as folder:
    check, build = make_tree(Path(folder).resolve())
    answer = subprocess.run([sys.executable, check, build], check=False, capture_output=True, text=True)
    found = {line[:-1] for line in answer.stdout.splitlines() if line.endswith(".hpp:")}
    made = list((build / "headers-alone").glob("*.pch"))
    print(answer.stdout, answer.stderr, sep="\n")
    is_right = answer.returncode == 1 and found == BAD and bool(made) == (clang() is not None)
    print("right" if is_right else f"wrong: {sorted(found)}, {len(made)} precompiled")
    sys.exit(not is_right)
