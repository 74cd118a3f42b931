"""docs/troubleshooting.md contains every message: the names of the problems that `check` reports, and each
sentence in the command's sources. A sentence counts as documented if the page contains its beginning, except for
placeholders and ends that the page shortens; so no message can be added or reworded without the page."""

import re

from harness import SOURCE_ROOT, check, check_equal, run_test

CLI = SOURCE_ROOT / "cli"
LAUNCHER_LINE = SOURCE_ROOT / "launcher-line"
PAGE = SOURCE_ROOT / "docs" / "troubleshooting.md"
BUILD_UCX = CLI / "build_ucx"
# These parse other programs' output, which is not a message.
OUTPUT_OF_OTHERS = {"configuration.cpp", "resources.cpp", "source_list.cpp"}
BUILD_UCX_PAGE = SOURCE_ROOT / "docs" / "build-ucx.md"
# They print the manual, not messages.
MANUAL = {"grammar.cpp", "option_kinds.cpp", "verb_texts.cpp", "manual.cpp", "help.cpp", "man_page.cpp",
          "generate_manual.cpp", "completion_bash.cpp", "completion_zsh.cpp", "completion_fish.cpp"}
# The part of the HTTP server whose texts a person reads.
SERVING = ["page_server.cpp", "port.hpp", "stop_signals.hpp"]
# The reference at the end of an error, which is not a message.
REFERENCE = "uctrace help"
FEWEST_WORDS = 3
WORDS_TOLD = 4

TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\])+'|R"\((?P<raw>.*?)\)"|"(?P<plain>(?:\\.|[^"\\\n])*)"|(?P<other>\S)""",
    re.DOTALL)


def literals(text):
    """String literals, those that stand side by side joined, as the compiler does. The remedy that an error
    names is left out: the page has a separate column, with its own words, for it."""
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
