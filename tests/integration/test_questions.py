"""The nine questions of docs/questions.md for runs with known answers: answered with at most two commands, or at most
three clicks on the page. Each question is asked for runs with different answers, so constant text cannot pass.

    test_questions.py document|commands|chromium|firefox [MPI [QUESTION...]]"""

import json
import re

from harness import SOURCE_ROOT, Failure, check, check_equal, run_test, run_well, scratch, TOOL
from mpi_jobs import MPIS
from page import PAGE_TESTS, in_browser
from question_runs import RUNS
from questions import READERS, ask, byte_count, filled, nanoseconds, read_questions, table

# For numbers with one decimal; medians are within 1/64.
ROUNDING = 0.01
MEDIAN_ERROR = 1 / 64 + ROUNDING
SHARE_ERROR = 0.6  # percent: what set the connections up is among the bytes of a card


# --- what the commands answer --------------------------------------------------------------------


def read_fabric(outputs):
    verdict = re.search(r"^(met|not_met) +inter: (?:all|\S+ \S+ of) (\S+ \S+) between hosts went by rc$", outputs[0], re.MULTILINE)
    check(verdict, f"no verdict: {outputs[0]}")
    answer = {"met": verdict[1] == "met", "payload": verdict[2]}
    if not answer["met"]:
        rows = table(outputs[0], "Pairs that did not do as expected")
        check({row["source host"] != row["destination host"] for row in rows} == {True}, f"pairs of one host: {rows}")
        answer["transports"] = tuple(sorted({row["transport"] for row in rows}))
    return answer


def read_cards(outputs):
    answer = {}
    for row in table(outputs[0], "Network cards:"):
        share = float(row["share"].removesuffix(" %"))
        if share > answer.get(row["host"], ("", -1))[1]:
            answer[row["host"]] = (row["card"], share)
    return answer


def read_settings(outputs):
    lines = outputs[0].splitlines()
    check("UCX_" in outputs[0], f"no setting of UCX: {outputs[0]}")
    return [(found[1], found[2]) for found in (re.fullmatch(r"(\S+=.*)  (ranks? .*) only", line) for line in lines) if found]


def read_protocols(outputs):
    rows = [(row["protocol"], row) for row in table(outputs[0], "By protocol")]
    rows += [(f"{row['protocol']} within {row['within']}", row) for row in table(outputs[0], "By protocol and size")]
    return {name: (int(row["messages"]), nanoseconds(row["median latency"])) for name, row in rows}


def read_switch(outputs):
    rows = table(outputs[0], "By protocol and size")
    sizes = {kind: [row["from"] for row in rows if row["protocol"].startswith(kind)] for kind in ("eager", "rndv")}
    return max(sizes["eager"], key=byte_count), min(sizes["rndv"], key=byte_count)


PIECES = re.compile(r"(?P<count>[\d,]+) [x×] (?P<op>\S+) over (?P<way>\S+/\S+?),")


def read_message(outputs):
    head = re.search(r"^Message #(\d+): (\d+) B\b.* from rank (\d+) to rank (\d+)$", outputs[1], re.MULTILINE)
    check(head, f"no message: {outputs[1]}")
    timeline = outputs[1].partition("  Timeline ")[2].partition("\n  Call stack")[0]
    pieces, costs = [], []
    for line in timeline.splitlines():
        piece = PIECES.search(line)
        if piece:
            pieces.append((int(piece["count"]), piece["op"], piece["way"]))
            cost = re.search(r", for (\S+ \S+)$", line)
            costs.append(cost[1] if cost else None)
    duration = re.search(r"^  Outcome +\S+ after (?:about )?(\S+ \w+)(?: \+- (\S+ \w+))?\.$", outputs[1], re.MULTILINE)
    check(duration, f"nothing says how long it took: {outputs[1]}")
    tag = re.search(r" with tag (\d+);", outputs[1])
    return {"id": int(head[1]), "bytes": int(head[2]), "src": int(head[3]), "dst": int(head[4]), "tag": int(tag[1]),
            "ns": nanoseconds(duration[1]), "error_ns": nanoseconds(duration[2] or "0 ns"), "pieces": pieces, "costs": costs}


def read_late(outputs):
    first = outputs[0].splitlines()[0]
    found = re.match(r"rank (\S+) makes the others wait most: .*, coming late to (\S+) at (.*)$", first)
    check(found, f"the first line names no rank: {first}")
    waits = table(outputs[0], "Waits, and time of which it is not known")
    return {"late": found[1], "site": found[3], "waiting": waits[0]["call site"]}


def read_pairs(outputs):
    rows = table(outputs[0], "By rank pair")
    most = rows[0]["payload"]
    return {(row["source"], row["destination"]): (row["messages"], byte_count(row["payload"])) for row in rows if row["payload"] == most}


def read_changes(outputs):
    answer = {"settings": [], "changes": {}}
    if "Settings that differ" in outputs[0]:
        answer["settings"] = [(row["setting"], row["A"], row["B"]) for row in table(outputs[0], "Settings that differ")
                              if row["setting"] != "command"]  # it stands there, too
    if "What changed, the most first" in outputs[0]:
        answer["changes"] = {row["what"]: (row["A"], row["B"]) for row in table(outputs[0], "What changed, the most first")}
    return answer


READ = {1: read_fabric, 2: read_cards, 3: read_settings, 4: read_protocols, 5: read_switch, 6: read_message,
        7: read_late, 8: read_pairs, 9: read_changes}


# --- whether that is right -----------------------------------------------------------------------


def same_parts(found, truth):
    """Commands and page tell different parts of it."""
    return bool(found) and all(truth[name] == value for name, value in found.items())


def same_shares(found, truth):
    return found.keys() == truth.keys() and all(
        found[host][0] == card and abs(found[host][1] - share) < SHARE_ERROR for host, (card, share) in truth.items())


def same_protocols(found, truth):
    """The page has no sums by process, host and network."""
    kinds = {" within " in name for name in found}
    if all(name.endswith("/") for name in truth):
        (begin, (count, _, _)), = truth.items()
        return all(name.startswith(begin) for name in found) and sum(n for n, _ in found.values()) == count * len(kinds)
    truth = {name: values for name, values in truth.items() if (" within " in name) in kinds}
    return found.keys() == truth.keys() and all(
        found[name][0] == count and (1 - MEDIAN_ERROR) * low <= found[name][1] <= (1 + MEDIAN_ERROR) * high
        for name, (count, low, high) in truth.items())


def same_message(found, truth):
    if isinstance(truth, str):
        return [way for _, _, way in found["pieces"]] == [truth] and found["pieces"][0][0] > 1 and None not in found["costs"]
    wanted = {name: found[name] for name in ("src", "dst", "bytes", "tag")}
    for message in truth:
        pieces = [(step["count"], step["op"], f"{step['transport']}/{step['device']}") for step in message["path"]]
        duration = message["t_end_ns"] - message["t_start_ns"]
        if ({name: message[name] for name in wanted} == wanted and sorted(pieces) == sorted(found["pieces"])
                and abs(found["ns"] - duration) <= found["error_ns"] + ROUNDING * duration):
            return True
    return False


def same_switch(found, truth):
    return tuple(map(byte_count, found)) == truth


def same_late(found, truth):
    return found["late"] == truth["late"] and found["site"] in truth["sites"] and found["waiting"] in truth["waiting"]


def with_counts(found):
    return {pair: byte_count(payload) for pair, payload in found.items()}


def same_pairs(found, truth):
    """The page has room for the payload only."""
    if all(isinstance(pair, tuple) for pair in found):
        return found == truth
    return with_counts(found) == {f"{src} → {dst}": payload for (src, dst), (_, payload) in truth.items()}


def same_changes(found, truth):
    """Other numbers, of devices and operations, follow from these, and times depend on the machine."""
    return (found["settings"] == truth["settings"] and bool(found["changes"]) == bool(truth["changes"])
            and all(tuple(map(byte_count, found["changes"].get(what, ()))) == values for what, values in truth["changes"].items()))


SAME = {1: same_parts, 2: same_shares, 4: same_protocols, 5: same_switch, 6: same_message, 7: same_late, 8: same_pairs, 9: same_changes}


def judge(number, answers, runs):
    """Each answer fits its own run, and no other."""
    same = SAME.get(number, lambda found, truth: found == truth)
    for at, answer in enumerate(answers):
        check(same(answer, runs[at].truth), f"question {number}, run {runs[at].recording.folder.name}: {answer}, in truth {shown(runs[at].truth)}")
        for other, run in enumerate(runs):
            check(other == at or not same(answer, run.truth), f"question {number}: the answer of run {at} is that of run {other}, too")


def shown(truth):
    return str(truth)[:2000]


# --- the three parts -----------------------------------------------------------------------------


def tutorials_agree(questions):
    """Each tutorial has a table of its reader's questions: the question, the commands, the clicks."""
    for reader in READERS.values():
        text = (SOURCE_ROOT / "docs" / f"tutorial-{reader}.md").read_text()
        own = [question for question in questions.values() if question.reader == reader]
        check_equal(len(own), 3, f"questions for {reader}")
        for question in own:
            row = question_row(question)
            check(row in text, f"the tutorial for {reader} lacks this line:\n{row}")


def question_row(question):
    anchor = re.sub(r"[^\w\- ]", "", f"{question.number}. {question.text}".lower()).replace(" ", "-")
    commands = ", then ".join(f"`{raw}`" for raw in raw_commands(question))
    clicks = ", then ".join(click_words(click) for click in question.clicks) or "no click: it stands at the top"
    return f"| [{question.text}](questions.md#{anchor}) | {commands} | {clicks} |"


def raw_commands(question):
    text = (SOURCE_ROOT / "docs" / "questions.md").read_text()
    part = text.partition(f"### {question.number}. ")[2].partition("\n##")[0]
    return [line.replace("|", "\\|") for line in re.findall(r"^    (uctrace .*)$", part, re.MULTILINE)]


def click_words(click):
    name, value = click.get("name"), click.get("value")
    return {"click": f"**{name}**", "press": f"`{value}`", "type": f"`{value}`"}[click["action"]]


def answer_of(question, run):
    # `check` exits with 1 where an expectation is not met.
    results = ask(question, run.words(), (0, 1) if question.number == 1 else (0,))
    answer = READ[question.number]([result.stdout for result in results])
    if question.number == 1:
        check_equal(results[0].status, 0 if answer["met"] else 1, "exit status")
    return answer


def commands_answer(questions, mpi, numbers):
    for number in numbers:
        with scratch() as folder:
            runs = list(RUNS[number](folder, mpi))
            check(len(runs) > 1, f"question {number} has no other run")
            answers = [answer_of(questions[number], run) for run in runs]
            judge(number, answers, runs)
        print(f"ok   {number}. {questions[number].text}: {len(runs)} runs, {len(questions[number].commands)} commands", flush=True)


def page_answers(questions, mpi, numbers, browser):
    """All pages are looked at by one browser."""
    with scratch() as folder:
        runs = {number: list(RUNS[number](folder / str(number), mpi)) for number in numbers}
        plan = [task(questions[number], run, folder / f"{number}-{at}.html") for number in numbers for at, run in enumerate(runs[number])]
        (folder / "plan.json").write_text(json.dumps(plan))
        in_browser("--plan", folder / "plan.json", "--answers", folder / "answers.json", script=PAGE_TESTS / "questions.mjs",
                   browser=browser)
        answered = iter(json.loads((folder / "answers.json").read_text()))
        for number in numbers:
            found = [next(answered) for _ in runs[number]]
            for one in found:
                check_equal(one["clicks"], len(questions[number].clicks), f"clicks for question {number}")
            answers = [with_tuples(one["answer"]) for one in found]
            judge(number, answers, runs[number])
            if number == 6:
                for answer, run in zip(answers, runs[number]):
                    check_same_costs(answer, run)
            print(f"ok   {number}. {questions[number].text}: {len(found)} pages, {found[0]['clicks']} clicks", flush=True)


def task(question, run, page):
    before = ["--before", run.before.folder] if run.before else []
    run_well([TOOL, "view", run.recording.folder, "-o", page, *before])
    clicks = [{name: filled(text, run.words()) for name, text in click.items()} for click in question.clicks]
    return {"number": question.number, "page": str(page), "clicks": clicks}


def with_tuples(answer):
    """As the commands' answers have them."""
    if isinstance(answer, dict):
        return {name: with_tuples(value) for name, value in answer.items()}
    if isinstance(answer, list) and not all(isinstance(value, (list, dict)) for value in answer):
        return tuple(answer)
    return [with_tuples(value) for value in answer] if isinstance(answer, list) else answer


def near(found_ns, expected_ns):
    """By the digits that are shown."""
    return abs(found_ns - expected_ns) <= max(50, ROUNDING * expected_ns)


def check_same_costs(answer, run):
    """The times of the pieces on the page are those of the command."""
    told = run_well([TOOL, "messages", run.recording.folder, "--id", answer["id"]]).stdout
    said = read_message(["", told])
    check_equal(answer["pieces"], said["pieces"], "pieces of a message")
    for shown, printed in zip(answer["costs"], said["costs"]):
        same = shown == printed if None in (shown, printed) else near(nanoseconds(shown), nanoseconds(printed))
        check(same, f"a piece takes {shown} on the page, and {printed} by the command:\n{told}")


def main(part, mpi="", *numbers):
    questions = read_questions()
    check_equal(sorted(questions), list(range(1, 10)), "questions of the document")
    wanted = [int(number) for number in numbers] or list(questions)
    if part == "document":
        tutorials_agree(questions)
    elif part == "commands":
        commands_answer(questions, MPIS[mpi], wanted)
    elif part in ("chromium", "firefox"):
        page_answers(questions, MPIS[mpi], wanted, browser=part)
    else:
        raise Failure(f"there is no part {part}")


run_test(main)
