"""How the benchmarks process numbers: statistics, targets, tables, documents."""

import tempfile
import unittest
from pathlib import Path

from bench_messages import Contents
from documents import put_into
from rows import Target, least, middle
from tables import as_text, counts_of_targets, judged_targets, targets_table

ABOUT = {"group": "messages", "subject": "self", "level": "all", "unit": "ns"}
TIMED = {**ABOUT, "quantity": "thread CPU of one"}
TARGET = Target("added", 100, "a target")
BARE, RECORDED = [[60, 70, 90], [61, 80, 85]], [[155, 180, 300], [158, 172, 190]]


def run_of(*rows):
    return {
        "date": "today", "uctrace": "0", "command": "build/bench", "rounds": 2, "seconds": 1,
        "load": {"before": 0, "after": 0}, "notes": ["a note"],
        "machine": dict.fromkeys(("system", "kernel", "cores", "cpu", "clock", "file_system"), "x"),
        "rows": [row.as_json() for row in rows],
    }


class Statistics(unittest.TestCase):
    def test_least_is_of_all_batches(self):
        row = least(BARE, RECORDED, **TIMED)
        self.assertEqual((row.bare, row.value, row.added), (60, 155, 95))

    def test_middle_is_of_differences_within_rounds(self):
        row = middle(BARE, RECORDED, **TIMED)
        self.assertEqual((row.bare, row.value), (75, 176))
        self.assertEqual((row.added, row.spread), (101, 9))  # of 110 and 92
        self.assertAlmostEqual(row.ratio, (180 / 70 + 172 / 80) / 2)

    def test_a_ratio_to_nothing_is_none(self):
        self.assertIsNone(middle([[0.0]], [[5.0]], **TIMED).ratio)


class Targets(unittest.TestCase):
    rows = [least(BARE, RECORDED, [TARGET], **TIMED), middle(BARE, RECORDED, [TARGET], **TIMED)]

    def test_both_statistics_have_to_meet_it(self):
        run = run_of(*self.rows)
        self.assertEqual(len(judged_targets(run["rows"])), 1)
        self.assertEqual(counts_of_targets(run["rows"]), "0 of 1 targets met")
        self.assertEqual(targets_table(run["rows"])[1][-1], "as min only")
        met = run_of(self.rows[0])
        self.assertEqual(counts_of_targets(met["rows"]), "1 of 1 targets met")
        missed = run_of(self.rows[1])
        self.assertEqual(targets_table(missed["rows"])[1][-1], "**not met**")

    def test_what_the_spread_hides_is_said(self):
        text = as_text(run_of(*self.rows))
        self.assertIn("<= 100: met, 5.0 under)", text)
        self.assertIn("<= 100: NOT met, 1.00 over, less than the spread)", text)
        self.assertIn("note: a note", text)


class Floors(unittest.TestCase):
    def test_a_reading_costs_what_the_clock_that_was_read_costs(self):
        prices = {"tick_ns": 10, "vdso_ns": 25, "store_ns_per_byte_median": 0.5}
        floor = lambda clock: Contents(events=1, uct_events=1, clock=clock, readings=2, bytes=64).floor_ns(prices)
        self.assertEqual(floor("cycle counter"), 2 * 10 + 32)
        self.assertEqual(floor("system"), 2 * 25 + 32)


class Documents(unittest.TestCase):
    def put(self, text, *rows):
        with tempfile.TemporaryDirectory() as folder:
            document = Path(folder) / "document.md"
            document.write_text(text)
            put_into(document, run_of(*rows))
            return document.read_text()

    def test_only_what_is_between_marks_changes(self):
        text = "before\n<!-- bench: line -->\nold\n<!-- bench: end -->\nafter\n"
        found = self.put(text, *Targets.rows)
        self.assertTrue(found.startswith("before\n<!-- bench: line -->\nOn a machine whose kernel keeps time by x, "
                                         "recording everything adds 95.0 ns to the 60.0 ns"))
        self.assertTrue(found.endswith("\n<!-- bench: end -->\nafter\n"))
        self.assertNotIn("old", found)
        self.assertEqual(self.put(found, *Targets.rows), found)

    def test_a_document_without_marks_is_refused(self):
        with self.assertRaises(SystemExit):
            self.put("nothing here\n", *Targets.rows)


if __name__ == "__main__":
    unittest.main(verbosity=2)
