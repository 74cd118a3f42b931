"""The headers of the virtual GPUs say the same as those of a CUDA toolkit, where one is installed:
what is compiled with the one runs with the other's libraries.

    compare_headers.py [TOOLKIT]    default: $CUDA_HOME, /usr/local/cuda, /usr"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

OWN = Path(__file__).resolve().parent / "include"
HEADERS = ("cuda.h", "cuda_runtime.h", "cupti.h")
SKIPPED = 77
# Later toolkits give the plain name to a form with one argument more.
OTHER_MEANING = {"CUDA_VERSION", "CUDART_VERSION", "CUPTI_API_VERSION", "cuCtxCreate"}
TYPE = re.compile(r"^(?:typedef )?((?:struct|enum) \w+) \{(.*?)^\}", re.DOTALL | re.MULTILINE)
WITHOUT_TAG = re.compile(r"^typedef (?:struct|enum) \{(.*?)\} (\w+);", re.DOTALL | re.MULTILINE)
FIELD = re.compile(r"(\w+)(?:\[\w+\])?;")


def known_to(toolkit):
    """Those of our headers that the toolkit has: CUPTI may be a package of its own."""
    return [header for header in HEADERS if (toolkit / header).exists()]


def compiled(source, include, folder):
    """What the program prints; the compiler's complaints are ours."""
    program = Path(folder) / "program"
    text = Path(folder) / "source.c"
    text.write_text(source)
    subprocess.run(["cc", "-w", f"-I{include}", "-o", program, text], check=True)
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()


def values_in(header):
    """C expressions: the values of enumerations and macros, sizes of types, places of members."""
    text = (OWN / header).read_text()
    types = TYPE.findall(text) + [(name, body) for body, name in WITHOUT_TAG.findall(text)]
    for name, body in types:
        yield f"sizeof({name})"
        body = re.sub(r"struct \{.*?\} (\w+);", r"\1;", body, flags=re.DOTALL)
        constants = re.findall(r"(\w+) = \w+(?:,|\s*$)", body, re.MULTILINE)
        yield from constants or [f"offsetof({name}, {field})" for field in FIELD.findall(body)]
    yield from re.findall(r"^#define (\w+) [\d(]", text, re.MULTILINE)


def aliases_in(header):
    """Plain names of functions that mean a later form."""
    return re.findall(r"^#define (\w+) cu\w+", (OWN / header).read_text(), re.MULTILINE)


def check_values(toolkit, folder):
    headers = known_to(toolkit)
    values = [n for h in headers for n in values_in(h) if n not in OTHER_MEANING]
    aliases = [n for h in headers for n in aliases_in(h) if n not in OTHER_MEANING]
    lines = "".join(f'  printf("{name} %lld\\n", (long long)({name}));\n' for name in values)
    lines += "".join(f'  printf("plain {name[2:]}: " TEXT({name}) "\\n");\n' for name in aliases)
    includes = "".join(f"#include <{h}>\n" for h in ("stddef.h", "stdio.h", *headers))
    macros = "#define TEXT_OF(x) #x\n#define TEXT(x) TEXT_OF(x)\n"
    source = f"{includes}{macros}int main(void) {{\n{lines}}}\n"
    own, theirs = compiled(source, OWN, folder), compiled(source, toolkit, folder)
    differing = [f"{mine}, but {its}" for mine, its in zip(own, theirs) if mine != its]
    for difference in differing:
        print(f"FAIL: {difference}")
    return len(own), not differing


def check_functions(toolkit, folder):
    """A second declaration that differs from the first does not compile."""
    own = "".join(f'#include "{OWN / header}"\n' for header in known_to(toolkit))
    theirs = "".join(f"#include <{header}>\n" for header in known_to(toolkit))
    source = f"{theirs}#define UCTRACE_ONLY_FUNCTIONS\n{own}int main(void) {{ return 0; }}\n"
    compiled(source, toolkit, folder)


def main():
    places = sys.argv[1:] or [os.environ.get("CUDA_HOME", ""), "/usr/local/cuda", "/usr"]
    found = [Path(place) / "include" for place in places if (Path(place) / "include/cuda.h").exists()]
    if not found:
        print("SKIP: no CUDA toolkit is installed")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        check_functions(found[0], folder)
        count, same = check_values(found[0], folder)
    print(f"{count} values of {found[0]} were compared")
    return 0 if same else 1


sys.exit(main())
