"""The guard of the record path can fail: on changed numbers, and on a real run that does more work
than it is divided by."""

import shutil
import sys
import unittest
from pathlib import Path

from count_instructions import OPERATIONS, CannotCount, compare, count_all_added, read_dumps
from jobs import Build

BUILD = Build(Path(sys.argv.pop()).resolve())


def verdicts(baseline, counts):
    return {change.kind: change.verdict for change in compare(baseline, counts)}


class Comparison(unittest.TestCase):
    def test_verdicts(self):
        baseline = {"a": 100.0, "b": 100.0, "c": 100.0, "d": 100.0}
        counts = {"a": 104.9, "b": 105.1, "c": 95.1, "d": 94.9}
        expected = {"a": "ok", "b": "MORE", "c": "ok", "d": "less: update the baseline"}
        self.assertEqual(verdicts(baseline, counts), expected)

    def test_kinds_come_and_go(self):
        said = verdicts({"gone": 1.0}, {"new": 1.0})
        self.assertEqual(said, {kind: "another set of kinds" for kind in ("gone", "new")})

    def test_least_of_repetitions(self):
        part = "desc: Trigger: --dump-after=batch_{}\nevents: Ir\nsummary: 1\n\ntotals: {}\n"
        text = "".join(part.format(*dump) for dump in (("a", 7), ("a", 5), ("b", 9), ("a", 6)))
        self.assertEqual(read_dumps(text), {"a": 5, "b": 9})


@unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed")
class RealRun(unittest.TestCase):
    def test_a_sixteenth_more_is_seen(self):
        try:
            (counts, _), (more, _) = count_all_added(BUILD), count_all_added(BUILD, more=OPERATIONS // 16)
        except CannotCount as reason:
            self.skipTest(str(reason))
        self.assertEqual(set(verdicts(counts, more).values()), {"MORE"})
        self.assertEqual(set(verdicts(counts, counts).values()), {"ok"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
