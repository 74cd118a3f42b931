"""What was run on other systems, and when: results.json, and the table of docs/systems.md that is made of it.

usage: results.py record SUITE STEP FILE...   a step ended in a root of SUITE. FILE: logs of `meson test`,
                                              or `passed`, `failed`; VERSIONS and COMMIT are in the environment
       results.py last SUITE                  prints when each step last ran there, and how it ended
       results.py make                        writes that table
       results.py check                       whether the document says what is in results.json
"""

import datetime
import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results.json"
DOCUMENT = HERE.parents[1] / "docs" / "systems.md"
BEGIN, END = "<!-- made by tests/systems/results.py -->\n", "<!-- end -->\n"
SYSTEMS = {"bookworm": "Debian 12", "trixie": "Debian 13 (trixie)", "sid": "Debian unstable (sid)"}
STEPS = {"quickstart": "`./quickstart`", "unit": "unit suite", "integration": "integration tests",
         "mpi4py": "mpi4py's own tests", "all": "`./run-tests`", "package": "Debian package"}
PASSED = {"OK", "EXPECTEDFAIL"}


def counted(logs):
    """Of each test the last run in these logs."""
    results = {}
    for log in logs:
        for line in Path(log).read_text().splitlines():
            test = json.loads(line)
            results[test["name"].rpartition(" / ")[2]] = test
    failed = sorted(name for name, test in results.items() if test["result"] not in PASSED | {"SKIP"})
    skipped = {name: last_line(test) for name, test in sorted(results.items()) if test["result"] == "SKIP"}
    return {"passed": len(results) - len(failed) - len(skipped), "failed": failed, "skipped": skipped,
            "names": sorted({name.split()[0] for name in results})}


def last_line(test):
    lines = [line for line in (test.get("stdout", "") + test.get("stderr", "")).splitlines() if line.strip()]
    return lines[-1].strip() if lines else "gave no reason"


def record(results, suite, step, files):
    found = {"result": files[0]} if files[0] in ("passed", "failed") else counted(files)
    found |= {"date": str(datetime.date.today()), "commit": os.environ["COMMIT"]}
    system = results.setdefault(suite, {"steps": {}})
    system["versions"] = dict(line.split() for line in os.environ["VERSIONS"].splitlines())
    system["steps"][step] = found
    RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")


def outcome(step):
    if "result" in step:
        return step["result"]
    return f"{step['passed']} passed, {len(step['failed'])} failed, {len(step['skipped'])} skipped"


def ordered(steps):
    return [(name, steps[name]) for name in STEPS if name in steps]


def table(results):
    lines = ["| system | what | result | when, of which commit |", "|---|---|---|---|"]
    notes = []
    for suite, title in SYSTEMS.items():
        if suite not in results:
            continue
        system = results[suite]
        versions = ", ".join(f"{name} {version}" for name, version in sorted(system["versions"].items()))
        for number, (name, step) in enumerate(ordered(system["steps"])):
            first = f"{title}: {versions}" if number == 0 else ""
            lines.append(f"| {first} | {STEPS[name]} | {outcome(step)} | {step['date']}, {step['commit']} |")
            if name == "integration":
                notes.append(f"* {title}, integration tests: {', '.join(step['names'])}.")
            notes += [f"* {title}, failed: {test}." for test in step.get("failed", [])]
            notes += [f"* {title}, skipped: {test}: {why}" for test, why in step.get("skipped", {}).items()]
    return "\n".join(lines) + "\n\n" + "".join(note + "\n" for note in notes)


def parts(text):
    before, begin, rest = text.partition(BEGIN)
    middle, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"{DOCUMENT} has no place for the table")
    return before + begin, middle, end + after


def main(action, *arguments):
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if action == "last":
        (suite,) = arguments
        steps = ordered(results.get(suite, {}).get("steps", {}))
        for name, step in steps:
            print(f"last run on {suite}: {name}: {outcome(step)} ({step['date']}, {step['commit']})")
        if not steps:
            print(f"last run on {suite}: none")
        return 0
    if action == "record":
        suite, step, *files = arguments
        record(results, suite, step, files)
    before, old, after = parts(DOCUMENT.read_text())
    new = table(results)
    if action == "check":
        if old != new:
            print(f"{DOCUMENT} does not say what is in {RESULTS}: tests/systems/results.py make")
        return int(old != new)
    DOCUMENT.write_text(before + new + after)
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in ("record", "last", "check", "make"):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
