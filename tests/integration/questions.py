"""The questions of docs/questions.md: the commands and clicks that answer each, and reading answers from tables."""

import re
import shlex
from dataclasses import dataclass

from harness import SOURCE_ROOT, TOOL, check, run

DOCUMENT = SOURCE_ROOT / "docs" / "questions.md"
READERS = {"For administrators": "administrators", "For library developers": "libraries",
           "For application developers": "applications"}
MOST_COMMANDS = 2
MOST_CLICKS = 3
# Actions on the page, by the form of the sentence.
ACTIONS = {
    "click": r"Click \*\*(?P<name>[^*]+)\*\*\.",
    "press": r"Press `(?P<value>[^`]+)`\.",
    "type": r"Type `(?P<value>[^`]+)`\.",
}
UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9}


@dataclass(frozen=True)
class Question:
    number: int
    reader: str
    text: str
    commands: list  # of words
    clicks: list  # of {"action", "name", "value"}


def _click(sentence):
    for action, form in ACTIONS.items():
        found = re.fullmatch(form, sentence)
        if found:
            return {"action": action, **found.groupdict()}
    raise AssertionError(f"{DOCUMENT.name} has a click of no known form: {sentence}")


def read_questions():
    """Those of the document, by their numbers."""
    questions, reader = {}, None
    for part in re.split(r"^(?=##)", DOCUMENT.read_text(), flags=re.MULTILINE):
        heading, _, body = part.partition("\n")
        if heading.startswith("## "):
            reader = READERS[heading.removeprefix("## ")]
        found = re.fullmatch(r"### (\d+)\. (.*\?)", heading)
        if not found:
            continue
        commands = [shlex.split(line) for line in re.findall(r"^    (uctrace .*)$", body, re.MULTILINE)]
        clicks = [_click(sentence) for sentence in re.findall(r"^\d+\. (.*)$", body, re.MULTILINE)]
        check("On the page" in body, f"{heading} says nothing of the page")
        number = int(found[1])
        check(1 <= len(commands) <= MOST_COMMANDS, f"{heading}: {len(commands)} commands")
        check(len(clicks) <= MOST_CLICKS, f"{heading}: {len(clicks)} clicks")
        questions[number] = Question(number, reader, found[2], commands, clicks)
    return questions


def filled(text, values):
    """With the words in capitals replaced."""
    return re.sub(r"\b[A-Z]{2,}\b", lambda word: str(values.get(word[0], word[0])), text)


def ask(question, values, statuses=(0,)):
    """The results of its commands. ID is the first message that an earlier one names."""
    results = []
    for words in question.commands:
        check(words[0] == "uctrace", f"no command of uctrace: {words}")
        result = run([TOOL, *(filled(word, values) for word in words[1:])])
        check(result.status in statuses, f"question {question.number}: {result}")
        results.append(result)
        named = re.search(r"^#(\d+) ", result.stdout, re.MULTILINE)
        if named:
            values = {**values, "ID": named[1]}
    return results


# --- tables that people read ---------------------------------------------------------------------


def table(output, title):
    """The rows of a table by column titles; cells are separated by two or more blanks."""
    lines = output.splitlines()
    at = next((i for i, line in enumerate(lines) if line.startswith(title)), None)
    check(at is not None, f"there is no table {title!r} in:\n{output}")
    head, *rows = lines[at + 1 :]
    names, found = re.split(r" {2,}", head.strip()), []
    for row in rows:
        if not row.strip() or re.fullmatch(r"\(none\)|\(\d+ more rows\)", row):
            break
        cells = re.split(r" {2,}", row.strip())
        check(len(cells) == len(names), f"{len(cells)} cells of {names}: {row}")
        found.append(dict(zip(names, cells)))
    return found


def bytes_text(count):
    """As uctrace writes it."""
    if count < 1024:
        return f"{count} B"
    power = min(4, (count.bit_length() - 1) // 10)
    return f"{count / 1024**power:.1f} {('KiB', 'MiB', 'GiB', 'TiB')[power - 1]}"


def byte_count(text):
    """Of "8.0 MiB", or "8.00 MiB" as the page has it; other texts as they are."""
    found = re.fullmatch(r"([\d.]+) (B|[KMGT]iB)", text)
    return float(found[1]) * 1024 ** "BKMGT".index(found[2][0]) if found else text


def nanoseconds(text):
    """Of "23.3 us"."""
    number, unit = text.split(" ")
    return float(number.replace(",", "")) * UNITS[unit]

