"""Every link in the documents leads to a file, and to a heading that is in it.

usage: check_links.py ROOT        of the sources
       check_links.py --self-test
"""

import re
import sys
import tempfile
from pathlib import Path

LINK = re.compile(r"\]\(([^)\s]+)\)")
OTHER_PLACE = re.compile(r"[a-z]+:")


def prose(path):
    """Without quoted parts: they contain no links, and a # there does not begin a heading."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", lambda quoted: re.sub(r"[\[\]()]", "", quoted[0]), text)


def anchors(path):
    """The anchors that sites make from Markdown headings."""
    for heading in re.findall(r"^#+ (.*)$", prose(path), re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip().lower())
        yield re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def broken_links(root):
    rooms = ("docs", "packaging", "tests")
    for document in [root / "README.md", *(path for room in rooms for path in sorted((root / room).rglob("*.md")))]:
        for link in LINK.findall(prose(document)):
            if OTHER_PLACE.match(link):
                continue
            name, _, anchor = link.partition("#")
            target = document.parent / name if name else document
            if not target.exists():
                yield f"{document.relative_to(root)}: there is no {link}"
            elif anchor and target.suffix == ".md" and anchor not in anchors(target):
                yield f"{document.relative_to(root)}: {link} has no such heading"


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "docs").mkdir()
        (root / "README.md").write_text("[good](docs/a.md#one-two) [gone](docs/b.md)\n[no](docs/a.md#three)\n")
        (root / "docs/a.md").write_text("# One, `two`\n[up](../README.md) [far](https://example.org/#x)\n")
        found = list(broken_links(root))
        assert found == ["README.md: there is no docs/b.md",
                         "README.md: docs/a.md#three has no such heading"], found


if sys.argv[1] == "--self-test":
    self_test()
else:
    found = list(broken_links(Path(sys.argv[1])))
    print("\n".join(found) or "all links lead somewhere")
    sys.exit(bool(found))
