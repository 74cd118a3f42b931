"""scripts/summarize-tests on logs made here: what it counts, names and answers."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "summarize-tests"


class Summary(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def log(self, name, **results):
        """A log of `meson test`: of each test its suites and its result."""
        path = self.folder / name
        path.write_text("".join(
            json.dumps({"name": f"uctrace:{suites} / {test}", "result": result, "stdout": f"{test} said\n"}) + "\n"
            for test, (suites, result) in results.items()))
        return path

    def planned(self, **suites):
        path = self.folder / "planned"
        path.write_text(json.dumps([{"name": test, "suite": [f"uctrace:{s}" for s in of.split("+")]}
                                    for test, of in suites.items()]))
        return path

    def summarize(self, *arguments):
        done = subprocess.run([sys.executable, SCRIPT, *map(str, arguments)], check=False, text=True, capture_output=True)
        return done.returncode, done.stdout, done.stderr

    def counts(self, *arguments):
        status, output, _ = self.summarize(*arguments)
        return status, output.splitlines()[-1]

    def test_counts_of_all_logs(self):
        first = self.log("first", a=("unit", "OK"), b=("unit", "SKIP"))
        second = self.log("second", c=("page+long", "OK"))
        self.assertEqual(self.counts(first, second), (0, "2 passed, 0 failed, 1 skipped"))
        self.assertEqual(self.counts(first, self.folder / "none"), (0, "1 passed, 0 failed, 1 skipped"))

    def test_nothing_ran(self):
        status, _, told = self.summarize(self.folder / "none")
        self.assertEqual((status, "no test ran" in told), (1, True))
        self.assertEqual(self.counts(self.log("empty")), (1, "0 passed, 0 failed, 0 skipped"))

    def test_failure_is_told_and_listed(self):
        log = self.log("first", a=("unit", "OK"), b=("unit", "FAIL"), c=("unit", "TIMEOUT"))
        status, output, _ = self.summarize(log)
        self.assertEqual((status, "FAILED: uctrace:unit / b (FAIL)\n    b said" in output), (1, True))
        self.assertEqual(self.summarize(log, "--list-failed")[1], "b\nc\n")

    def test_what_passes_alone_is_unstable(self):
        log, again = self.log("first", a=("unit", "FAIL")), self.log("again", a=("unit", "OK"))
        status, output, _ = self.summarize(log, "--again", again)
        self.assertEqual((status, "unstable" in output, output.splitlines()[-1]),
                         (0, True, "1 passed, 0 failed, 0 skipped"))

    def test_planned_and_not_run(self):
        log = self.log("first", a=("unit", "OK"))
        planned = self.planned(a="unit", b="unit", c="page+long", d="foreign")
        status, output, _ = self.summarize(log, "--planned", planned, "--left-out", "foreign")
        self.assertEqual((status, output.splitlines()[-1]), (1, "1 passed, 2 failed, 0 skipped"))
        self.assertEqual(self.counts(log, "--planned", planned), (1, "1 passed, 3 failed, 0 skipped"))
        self.assertEqual(self.counts(log, "--planned", planned, "--left-out", "foreign", "--left-out", "long"),
                         (1, "1 passed, 1 failed, 0 skipped"))
        self.assertIn("FAILED: uctrace:unit / b (did not run)", output)

    def test_late_ones_are_named_and_no_skips_of_their_own(self):
        log = self.log("first", a=("unit", "OK"), b=("unit", "SKIP"))
        late = self.log("late", c=("page+long", "INTERRUPT"))
        planned = self.planned(a="unit", b="unit", c="page+long", d="fuzz+instrumented")
        skips = self.folder / "skips"
        status, output, _ = self.summarize(log, late, "--planned", planned, "--may-be-late", "--skips", skips)
        self.assertEqual((status, output.splitlines()[-1]), (0, "1 passed, 0 failed, 3 skipped"))
        self.assertIn("skipped: uctrace:fuzz+instrumented / d: no time was left", output)
        self.assertEqual(skips.read_text(), "uctrace:unit / b\n")
        self.assertEqual(self.counts(log, late, "--planned", planned), (1, "1 passed, 2 failed, 1 skipped"))

    def test_late_ones_are_not_run_again(self):
        log = self.log("late", a=("unit", "FAIL"), b=("fuzz+instrumented", "INTERRUPT"), c=("page+long", "FAIL"))
        self.assertEqual(self.summarize(log, "--list-failed", "--may-be-late")[1], "a\nc\n")

    def test_a_cut_line_is_of_a_test_that_did_not_end(self):
        log = self.log("first", a=("unit", "OK"), b=("unit", "OK"))
        log.write_text(log.read_text()[:-20])
        self.assertEqual(self.counts(log, "--planned", self.planned(a="unit", b="unit")),
                         (1, "1 passed, 1 failed, 0 skipped"))

    def test_only_the_last_suites_may_be_late(self):
        log, planned = self.log("first", a=("unit", "OK"), b=("unit", "INTERRUPT")), self.planned(a="unit", b="unit", c="unit")
        self.assertEqual(self.counts(log, "--planned", planned, "--may-be-late"), (1, "1 passed, 2 failed, 0 skipped"))


if __name__ == "__main__":
    unittest.main()
