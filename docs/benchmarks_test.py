"""docs/benchmarks.md is what tools/benchmarks_page.py makes of docs/benchmarks/*.json."""

import importlib.util
import sys
import unittest


def load(path):
    spec = importlib.util.spec_from_file_location("benchmarks_page", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Benchmarks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.maker = load(sys.argv[1])

    def test_the_page_is_up_to_date(self):
        tables = self.maker.read("docs/benchmarks")
        self.assertGreater(len(tables), 5)
        with open("docs/benchmarks.md") as source:
            self.assertEqual(
                source.read(), self.maker.render(tables),
                "run: python3 tools/benchmarks_page.py docs/benchmarks > docs/benchmarks.md")

    def test_ratios(self):
        for row, expected in [({"tg": 2, "peer": 3}, "1.50"), ({"tg": 1, "peer": 12.34}, "12.3"),
                              ({"tg": 4.15, "peer": 522}, "126"), ({"tg": 1}, ""),
                              ({"ratio": 0.998}, "0.998")]:
            with self.subTest(row):
                self.assertEqual(self.maker.ratio(row), expected)

    def test_bad_tables_are_refused(self):
        good = {"order": 1, "title": "T", "note": "N.", "unit": "us", "peer": "P",
                "measured": "today", "machine": "M", "rows": [{"work": "w", "tg": 1, "peer": 2}]}
        self.assertIn("| w | M | 1 | 2 | 2.00 |", self.maker.render([("t", good)]))
        for change in [{"title": None}, {"extra": 1}, {"rows": [{"work": "w"}]},
                       {"rows": [{"tg": 1}]}, {"rows": [{"work": "w", "peer": 2}]},
                       {"rows": [{"work": "w", "tg": "1"}]}, {"rows": [{"work": "w", "tg": 1, "x": 2}]},
                       {"peer": ""}]:
            with self.subTest(change):
                with self.assertRaises(ValueError):
                    self.maker.check("t", dict(good, **change))
