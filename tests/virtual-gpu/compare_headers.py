"""The headers of the virtual GPUs agree with those of the vendors, where these are installed: programs
compiled with one run with the other's libraries.

    compare_headers.py [PLACE ...]    default: $CUDA_HOME, /usr/local/cuda, /opt/rocm, /usr

A place has a folder `include`. Debian's packages are libhsa-runtime-dev and libze-dev."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

OWN = Path(__file__).resolve().parent / "include"
# By vendor; each is looked for by its first one.
HEADERS = {
    "CUDA": ("cuda.h", "cuda_runtime.h", "cupti.h"),
    "ROCm": ("hsa/hsa.h", "hsa/hsa_ext_amd.h"),
    "Level Zero": ("level_zero/ze_api.h",),
}
SKIPPED = 77
# Later toolkits give the plain name to a form with one argument more.
OTHER_MEANING = {"CUDA_VERSION", "CUDART_VERSION", "CUPTI_API_VERSION", "cuCtxCreate"}
# Debian 12's HSA is older than virtual memory (AMD's extension 1.4) and what it tells of it (1.12). Its Level
# Zero is older than imported host memory.
NEWER = re.compile(r"vmem|VMEM|RESERVED_ADDR|MEMORY_TYPE_(NONE|PINNED)|hsa_amd_memory_(type|access_desc)"
                   r"|ADDRESS_NOT_FOUND|HOST_IMPORTED|memmap_sysmem|MEMMAP_SYSMEM")
# A type of a later release may have grown at its end.
GROWS = {"sizeof(struct hsa_amd_pointer_info_s)"}
TYPE = re.compile(r"^(?:typedef )?((?:struct|enum) \w+) \{(.*?)^\}", re.DOTALL | re.MULTILINE)
WITHOUT_TAG = re.compile(r"^typedef (?:struct|enum) \{(.*?)\} (\w+);", re.DOTALL | re.MULTILINE)
FIELD = re.compile(r"(\w+)(?:\[\w+\])?;")


def known_to(toolkit, vendor):
    """Those of our headers that the toolkit has: CUPTI may be a package of its own."""
    return [header for header in HEADERS[vendor] if (toolkit / header).exists()]


def is_compared(name, text):
    """Whether the vendor's headers have it: a name missing in their text is from a newer release."""
    return name not in OTHER_MEANING and (not NEWER.search(name) or all(
        word in text for word in re.findall(r"\w+", name) if word not in ("sizeof", "offsetof", "struct", "enum")))


def compiled(source, include, folder):
    """The program's output; the compiler's errors are reported as ours."""
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


def check_values(toolkit, vendor, folder):
    headers = known_to(toolkit, vendor)
    text = "".join((toolkit / header).read_text() for header in headers)
    values = [n for h in headers for n in values_in(h) if is_compared(n, text) and n not in GROWS]
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


def types_missing_in(text, headers):
    """Our own declarations of types that the vendor's headers do not have, for our functions."""
    for header in headers:
        for body, name in WITHOUT_TAG.findall((OWN / header).read_text()):
            if NEWER.search(name) and name not in text:
                yield f"typedef enum {{{body}}} {name};\n"
        for tag, body in TYPE.findall((OWN / header).read_text()):
            if NEWER.search(tag) and tag.split()[1] not in text:
                yield f"typedef {tag} {{{body}}} {tag.split()[1].removesuffix('_s')}_t;\n"


def check_functions(toolkit, vendor, folder):
    """A second declaration that differs from the first does not compile."""
    headers = known_to(toolkit, vendor)
    text = "".join((toolkit / header).read_text() for header in headers)
    own = "".join(f'#include "{OWN / header}"\n' for header in headers)
    theirs = "".join(f"#include <{header}>\n" for header in headers)
    missing = "".join(types_missing_in(text, headers))
    source = f"{theirs}{missing}#define UCTRACE_ONLY_FUNCTIONS\n{own}int main(void) {{ return 0; }}\n"
    compiled(source, toolkit, folder)


def main():
    places = sys.argv[1:] or [os.environ.get("CUDA_HOME", ""), "/usr/local/cuda", "/opt/rocm", "/usr"]
    folders = [Path(place) / "include" for place in places]
    found = {vendor: next((folder for folder in folders if (folder / headers[0]).exists()), None)
             for vendor, headers in HEADERS.items()}
    well = True
    for vendor, toolkit in found.items():
        if toolkit is None:
            print(f"no headers of {vendor} are installed")
            continue
        with tempfile.TemporaryDirectory() as folder:
            check_functions(toolkit, vendor, folder)
            count, same = check_values(toolkit, vendor, folder)
        print(f"{count} values of {vendor} in {toolkit} were compared")
        well &= same
    if not any(found.values()):
        print("SKIP: no vendor's headers are installed")
        return SKIPPED
    return 0 if well else 1


sys.exit(main())
