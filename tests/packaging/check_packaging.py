"""What the packages need is what scripts/install-packages installs, and all name the same version.

usage: check_packaging.py ROOT    of the sources
"""

import re
import sys
from pathlib import Path

root = Path(sys.argv[1])

# Debian's builds have a compiler and certificates; the page comes with the sources; the rest is for
# tests alone.
NOT_FOR_DEBIAN = {"ca-certificates", "doctest-dev", "g++", "gfortran"}


def installed_packages():
    script = (root / "scripts/install-packages").read_text()
    words = re.search(r"^wanted=\((.*?)\)$", script, re.DOTALL | re.MULTILINE)[1].split()
    return {word for word in words if not word.startswith('"')}


def debian_build_dependencies():
    """The last field of the paragraph of the sources."""
    sources = (root / "packaging/debian/control").read_text().split("\n\n")[0]
    names = {entry.split()[0] for entry in sources.partition("Build-Depends:")[2].split(",")}
    return names - {"debhelper-compat"}


def version():
    return re.search(r"version: '([^']+)'", (root / "meson.build").read_text())[1]


def debian_version():
    first = (root / "packaging/debian/changelog").read_text().splitlines()[0]
    return re.match(r"uctrace \((.+)-\d+\)", first)[1]


mistakes = []
if (asked := debian_build_dependencies()) != (needed := installed_packages() - NOT_FOR_DEBIAN):
    mistakes.append(f"packaging/debian/control: builds need {sorted(needed - asked)}, and not "
                    f"{sorted(asked - needed)}")
if debian_version() != version():
    mistakes.append(f"packaging/debian/changelog: {debian_version()}, and the sources are {version()}")
print("\n".join(mistakes) or "the packages need what a build needs")
sys.exit(bool(mistakes))
