"""Scripts that make folders do not touch files that they did not make.

usage: check_folders.py ROOT    of the sources
"""

import subprocess
import sys
import tempfile
from pathlib import Path

root = Path(sys.argv[1])


def contents(folder):
    return {str(path.relative_to(folder)): path.read_text() if path.is_file() else path.is_symlink()
            for path in sorted(folder.rglob("*"))}


def mistakes_of(name, command, *files):
    """For a command that is to make `folder`, which already holds these files of another owner."""
    with tempfile.TemporaryDirectory() as place:
        others, folder = Path(place) / "others", Path(place) / "folder"
        others.write_text("of somebody else")
        for file in files:
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(others)
        (folder / "own").write_text("of somebody else")
        before = contents(Path(place))
        result = subprocess.run(command(folder), stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if result.returncode == 0 or "is not empty, and this script did not make it" not in result.stderr:
            yield f"{name}: a folder of somebody else is not refused: {result}"
        if contents(Path(place)) != before:
            yield f"{name}: it changed the folder of somebody else: {contents(Path(place))}"


mistakes = [
    *mistakes_of("tests/build-suffixed-ucx",
                 lambda folder: [root / "tests/build-suffixed-ucx", "--build", folder, "--prefix", folder],
                 "one/lib/libucp.so", "two/notes", "two.building/notes"),
    *mistakes_of("tests/systems/aarch64", lambda folder: [root / "tests/systems/aarch64", folder],
                 "apt/status", "root/lib/libc.so.6"),
]
print("\n".join(mistakes) or "what others made stays")
sys.exit(bool(mistakes))
