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

    def test_a_table_of_tg_bench(self):
        timing = {"seconds": 2e-3, "least": 1e-3, "spread": 0.125, "batch": 50, "turns": 10}
        row = {"name": "m", "work": "matmul", "operations": 4_000_000, "bytes_read": 3_000_000,
               "bytes_written": 1_000_000, "limit_seconds": 5e-4, "tg": timing,
               "peers": {"A": dict(timing, seconds=3e-6, least=5e-4, ratio=1.25),
                         "B": dict(timing, ratio=2)}}
        report = {"tool": "tg-bench", "measured": "today", "device": "D", "target": "T",
                  "limits": {"copy_bytes_per_second": 1e9, "read_bytes_per_second": 2e9,
                             "flops_per_second": 3e9},
                  "peers": [{"name": name, "version": "1"} for name in "AB"],
                  "rows": [row, dict(row, work="softmax", operations=0, peers={})]}
        page = self.maker.render([("bench", report)])
        self.assertIn("| matmul | 2 ms | 12 % | 2.0 | 2.0 | 25 % | 3 us | 2 ms | 1.25 | 0.50 |\n", page)
        self.assertIn("| softmax | 2 ms | 12 % |  | 2.0 | 25 % |  |  |  |  |\n", page)
        self.assertIn("Noisy. Measured today.", self.maker.render([("b", dict(report, note="Noisy."))]))
        self.assertNotIn("Peers", self.maker.render([("bench", dict(report, peers=[]))]))
        with self.assertRaises(ValueError):
            self.maker.render([("bench", dict(report, limits=None))])

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
