"""docs/troubleshooting.md has every message: the names of check's troubles, and each sentence that the
command's sources hold. A sentence counts as told if the page has its beginning, placeholders and the
ends that the page shortens apart; so a message cannot be added or reworded without the page."""

import re

from harness import SOURCE_ROOT, check, check_equal, run_test

CLI = SOURCE_ROOT / "cli"
LAUNCHER_LINE = SOURCE_ROOT / "launcher-line"
PAGE = SOURCE_ROOT / "docs" / "troubleshooting.md"
BUILD_UCX = CLI / "build_ucx"
# What it reads of other programs' output, which is no message.
OUTPUT_OF_OTHERS = {"configuration.cpp", "resources.cpp", "source_list.cpp"}
BUILD_UCX_PAGE = SOURCE_ROOT / "docs" / "build-ucx.md"
# What they print is the manual, no message.
MANUAL = {"grammar.cpp", "option_kinds.cpp", "verb_texts.cpp", "manual.cpp", "help.cpp", "man_page.cpp",
          "generate_manual.cpp", "completion_bash.cpp", "completion_zsh.cpp", "completion_fish.cpp"}
# Of what is spoken over HTTP, what a person reads.
SERVING = ["page_server.cpp", "port.hpp", "stop_signals.hpp"]
# Where an error sends its reader, which is no message.
REFERENCE = "uctrace help"
FEWEST_WORDS = 3
WORDS_TOLD = 4

TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\])+'|R"\((?P<raw>.*?)\)"|"(?P<plain>(?:\\.|[^"\\\n])*)"|(?P<other>\S)""",
    re.DOTALL)


def literals(text):
    """String literals, those that stand side by side joined, as the compiler does. What an error says
    is to be done is left out: the page has a column of its own words for that."""
    text = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
    joined, code, is_to_do = [], "", False
    for token in TOKEN.finditer(text + ";"):
        literal = token["raw"] if token["raw"] is not None else token["plain"]
        if literal is not None:
            joined.append(literal)
        elif token["other"] is not None:
            if joined and not is_to_do:
                yield "".join(joined)
            joined = []
            code = (code + token["other"])[-7:]
            if code.endswith(".to_do="):
                is_to_do = True
            elif token["other"] in "};":
                is_to_do = False


def words_of(text):
    """Words without what Markdown and the shortened form add."""
    text = text.replace("\\n", " ").replace("\\|", "|").replace("`", " ")
    return re.findall(r"[\w./{}*+=-]*[A-Za-z][\w./*+=-]*", text)


def sources():
    """Name, text and page of what prints messages. Of the launchers' tables of options only the reasons for
    leaving a line as it is are messages."""
    for path in sorted([*CLI.glob("*.cpp"), *(CLI / "serving" / name for name in SERVING)]):
        if path.name not in MANUAL:
            yield path.name, path.read_text(), PAGE
    for path in sorted(BUILD_UCX.glob("*.cpp")):
        if path.name not in OUTPUT_OF_OTHERS:
            yield path.name, path.read_text(), BUILD_UCX_PAGE
    for path in sorted(LAUNCHER_LINE.glob("*.cpp")):
        for reason in re.findall(r"\bunclear = (.*?;)", path.read_text(), re.DOTALL):
            yield path.name, reason, PAGE


def sentences(text):
    """Of each sentence the first part, between its placeholders and stops, that is long enough."""
    for literal in literals(text):
        parts = re.split(r"\{[^}]*\}|[:;]", literal.replace('\\"', '"'))
        words = [words_of(part) for part in parts]
        long_enough = [part for part in words if len(part) >= FEWEST_WORDS]
        if long_enough:
            yield literal, long_enough[0][:WORDS_TOLD]


def has_run(page, words):
    size = len(words)
    return any(page[i : i + size] == words for i in range(len(page) - size + 1))


def sentences_are_told():
    told = {page: words_of(page.read_text()) for page in (PAGE, BUILD_UCX_PAGE)}
    found, missing = 0, []
    for name, text, page in sources():
        for literal, words in sentences(text):
            found += 1
            if not literal.startswith(REFERENCE) and not has_run(told[page], words):
                missing.append(f"{page.name}, of {name}: {literal!r} (looked for: {' '.join(words)})")
    check(found > 40, f"only {found} sentences were found: is the search broken?")
    check(not missing, "docs/ does not tell of\n  " + "\n  ".join(missing))


def troubles_are_told():
    source = (CLI / "check" / "finding.hpp").read_text()
    troubles = re.findall(r'constexpr Trouble k\w+\{"([a-z-]+)"\}', source)
    check(len(troubles) > 30, f"only {len(troubles)} troubles were found: is the search broken?")
    check_equal(len(set(troubles)), len(troubles), "each name once")
    section = PAGE.read_text().partition("\n## check\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([a-z-]+)` \| (.+?) \| (.+?) \|$", section, re.MULTILINE)
    check_equal(sorted(name for name, _, _ in rows), sorted(troubles), "troubles in the page")
    used = "".join(path.read_text() for path in CLI.glob("check/*.cpp"))
    for constant in re.findall(r"constexpr Trouble (k\w+)\{", source):
        check(constant in used, f"{constant} is told of, but nothing reports it")


def page_is_complete():
    troubles_are_told()
    sentences_are_told()


run_test(page_is_complete)
