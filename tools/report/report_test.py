"""Reports of tg-run: sums agree, the page holds the numbers and needs no network, runs are compared.

    report_test.py TG_RUN TG_REPORT MODULE
"""

import html.parser
import json
import os
import subprocess
import sys
import tempfile
import unittest

TG_RUN, TG_REPORT, SOFTMAX = (os.path.abspath(path) for path in sys.argv[1:4])

# Three kernels in a chain, of two different sources.
CHAIN = """tg 1
module @chain
buffer @x : f32[64, 32] input
buffer @y : f32[64, 1] output

graph @main {
  %x = buffer @x : f32
  %0 = reduce_axis %x {op = add, axes = [1]} : f32
  %1 = contiguous %0 : f32
  %2 = exp2 %1 : f32
  %3 = contiguous %2 : f32
  %4 = exp2 %3 : f32
  sink %4 -> @y
}
"""


def run(*command):
    """Returns (exit code, standard output, standard error)."""
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    return result.returncode, result.stdout, result.stderr


class Page(html.parser.HTMLParser):
    """The text of the element with the id `data`, and every attribute's value."""

    def __init__(self, text):
        super().__init__()
        self.data, self.values, self.tags, self.is_data = "", [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.values += [value or "" for _, value in attributes]
        self.is_data = ("id", "data") in attributes

    def handle_endtag(self, tag):
        self.is_data = False

    def handle_data(self, data):
        if self.is_data:
            self.data += data


class ReportTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.page, self.json = self.at("r.html"), self.at("r.json")

    def at(self, name, text=None):
        path = os.path.join(self.folder, name)
        if text is not None:
            with open(path, "w") as out:
                out.write(text)
        return path

    def read(self, path):
        with open(path) as source:
            return source.read()

    def report(self, model, *options):
        code, out, err = run(TG_RUN, model, "--device=cpu", "--random-inputs=1",
                             "--report=" + self.page, "--report=" + self.json, *options)
        self.assertEqual((code, err), (0, ""), out)
        return json.loads(self.read(self.json))

    def check_sums(self, report):
        kernels, totals, memory = report["kernels"], report["totals"], report["memory"]
        self.assertEqual(totals["kernels"], sum(not k["is_copy"] for k in kernels))
        self.assertAlmostEqual(totals["device_seconds"], sum(k["seconds"] for k in kernels))
        self.assertAlmostEqual(sum(k["share"] for k in kernels), 1)
        self.assertEqual(totals["ops"], sum(k["ops"] for k in kernels))
        self.assertEqual(totals["run_seconds"], min(report["runs"]))
        self.assertLessEqual(totals["device_seconds"], max(report["runs"]))
        device = report["devices"][0]
        for kernel in kernels:
            self.assertAlmostEqual(kernel["flops"] * kernel["seconds"], kernel["ops"])
            self.assertAlmostEqual(kernel["bandwidth"] * kernel["seconds"], kernel["touched_bytes"])
            limit = max(kernel["ops"] / device["flops_per_second"],
                        kernel["touched_bytes"] / device["bytes_per_second"])
            self.assertAlmostEqual(kernel["limit_seconds"], limit)
            self.assertAlmostEqual(kernel["limit_share"] * kernel["seconds"], limit)
            self.assertEqual(report["sources"][kernel["source"]].count("\n"), kernel["source_lines"])
        temporaries = [b for b in report["buffers"] if b["role"] == "temp"]
        self.assertEqual(memory["separate_bytes"], sum(b["bytes"] for b in temporaries))
        self.assertEqual(memory["stored_bytes"],
                         sum(b["bytes"] for b in report["buffers"] if b["role"] != "temp"))
        self.assertEqual(memory["live_bytes"], max(memory["live_by_kernel"]))
        for i, live in enumerate(memory["live_by_kernel"]):
            self.assertEqual(live, sum(b["bytes"] for b in temporaries if b["first"] <= i <= b["last"]))
        # Buffers that are live together do not overlap, and all are within the blocks.
        for b in temporaries:
            self.assertLessEqual(b["offset"] + b["bytes"], memory["temporary_bytes"])
            for other in temporaries:
                if b is not other and b["first"] <= other["last"] and other["first"] <= b["last"]:
                    self.assertTrue(b["offset"] + b["bytes"] <= other["offset"] or
                                    other["offset"] + other["bytes"] <= b["offset"])
        stages = {stage["name"]: stage for stage in report["stages"]}
        self.assertEqual(stages["run"]["count"], len(report["runs"]))
        self.assertAlmostEqual(stages["run"]["seconds"], sum(report["runs"]))
        for name in ("read", "passes", "build", "upload"):
            self.assertGreater(stages[name]["seconds"], 0, name)

    def test_sums_of_a_chain(self):
        report = self.report(self.at("m.uop", CHAIN), "--repeat=3")
        self.check_sums(report)
        kernels, buffers = report["kernels"], report["buffers"]
        self.assertEqual([k["depends_on_input"] for k in kernels], [True, True, True])
        self.assertEqual(len(report["runs"]), 3)
        # Each kernel reads what the one before it writes.
        for before, after in zip(kernels, kernels[1:]):
            written = [u["buffer"] for u in before["uses"] if u["writes"]]
            read = [u["buffer"] for u in after["uses"] if u["reads"]]
            self.assertEqual(written, read)
        self.assertGreaterEqual(kernels[0]["ops"], 64 * 31)
        self.assertEqual([b["type"] for b in buffers if b["role"] == "input"], ["f32[64, 32]"])

    def test_kernels_of_init_are_counted(self):
        model = CHAIN.replace("\ngraph @main {", """buffer @w : f32[4] param = [1.0, 2.0, 3.0, 4.0]
buffer @k : f32[4] state

graph @init {
  %k = buffer @k : f32
  %w = buffer @w : f32
  %0 = exp2 %w : f32
  %1 = assign %k, %0 : f32
  sink %1
}

graph @main {""")
        self.assertEqual(self.report(SOFTMAX)["init_kernels"], 0)
        report = self.report(self.at("m.uop", model))
        self.assertEqual((report["init_kernels"], report["totals"]["kernels"]), (1, 3))

    def test_sums_of_a_model(self):
        self.check_sums(self.report(SOFTMAX))

    def test_page(self):
        model = self.at("<b>&.uop", CHAIN)
        report = self.report(model)
        text = self.read(self.page)
        page = Page(text)
        self.assertEqual(json.loads(page.data), report)
        self.assertEqual(report["model"], "<b>&.uop")
        self.assertEqual(page.tags.count("b"), 0)
        self.assertNotRegex(text, r"https?:|src=|@import|url\(")
        self.assertLess(len(text), 100_000)
        # The page of the same numbers is the same.
        again = self.at("again.html")
        self.assertEqual(run(TG_REPORT, "--page=" + again, self.json), (0, "", ""))
        self.assertEqual(self.read(again), text)

    def test_texts_stay_in_the_data(self):
        report = self.report(self.at("m.uop", CHAIN))
        bad = "</script><b>\u2028 @SCRIPT@ <!--"
        report["model"] = report["buffers"][0]["name"] = report["sources"][0] = bad
        report["kernels"][0]["made_of"] = [bad]
        path = self.at("bad.json", json.dumps(report))
        self.assertEqual(run(TG_REPORT, "--page=" + self.page, path), (0, "", ""))
        page = Page(self.read(self.page))
        self.assertEqual(json.loads(page.data), report)
        self.assertEqual(page.tags.count("b"), 0)
        self.assertEqual(page.tags.count("script"), 2)

    def test_long_sources_are_left_out(self):
        report = self.report(self.at("m.uop", CHAIN))
        slow, fast = report["kernels"][0], report["kernels"][1]
        self.assertNotEqual(slow["source"], fast["source"])
        slow["seconds"] = 1
        for kernel in (slow, fast):
            report["sources"][kernel["source"]] = "<\n" * 100_000
        path = self.at("long.json", json.dumps(report))
        self.assertEqual(run(TG_REPORT, "--page=" + self.page, path), (0, "", ""))
        text = self.read(self.page)
        self.assertLess(len(text), 1_000_000)
        sources = json.loads(Page(text).data)["sources"]
        self.assertEqual([len(sources[k["source"]]) for k in (slow, fast)], [200_000, 0])

    def test_comparison(self):
        self.report(self.at("m.uop", CHAIN))
        report = json.loads(self.read(self.json))
        report["sources"][:3] = ["a\n", "b\n", "c\n"]
        names = ["a", "b", "c"]
        for kernel, name in zip(report["kernels"], names):
            kernel.update(name=name, seconds=1e-3, made_of=[name], source=names.index(name))
        one = self.at("one.json", json.dumps(report))
        # The first is gone, the second has another schedule, one is new.
        kernels = report["kernels"]
        del kernels[0]
        kernels[0].update(name="b2", seconds=2e-3)
        report["sources"][1] = "b2\n"
        kernels.append(dict(kernels[1], name="d", made_of=["d"]))
        for buffer in report["buffers"]:
            buffer.update(first=0, last=0)
        two = self.at("two.json", json.dumps(report))
        code, out, err = run(TG_REPORT, "--compare", one, two)
        self.assertEqual((code, err), (0, ""))
        rows = [line.split() for line in out.splitlines()]
        table = [row for row in rows if len(row) > 2 and row[0] in ("1", "2", "3", "-")]
        self.assertEqual([row[:3] for row in table],
                         [["1", "-", "a"], ["2", "1", "b"], ["3", "2", "c"], ["-", "3", "d"]])
        self.assertIn("b -> b2", out)
        self.assertIn("\nof the kernels, 1 have the same source in A and B, 1 another one, 1 are only in A, 1 only in B\n", out)
        self.assertIn("+100.0 %", " ".join(table[1]))
        self.assertIn(["kernels", "3", "3", "+0.0", "%"], rows)

    def test_what_is_no_report(self):
        self.report(self.at("m.uop", CHAIN))
        good = json.loads(self.read(self.json))
        for text, message in [
                ("{", "no JSON: "),
                ("[]", "no report of tg-run: it has no tg_report"),
                (json.dumps(dict(good, tg_report=0)), "version 0, not 2"),
                (json.dumps(dict(good, runs=3)), "runs is not a list"),
                (json.dumps(dict(good, runs=["a"])), "runs[0] is not a number"),
                (json.dumps(dict(good, sources=[])), "kernels[0].source: there is no such source"),
                (json.dumps(dict(good, devices=[])), "kernels[0].device: there is no such device"),
                (json.dumps(dict(good, buffers=[])), "kernels[0].uses: there is no such buffer"),
                (json.dumps(dict(good, kernels=[])), "buffers[0]: there is no such kernel")]:
            bad = self.at("bad.json", text)
            code, out, err = run(TG_REPORT, "--compare", self.json, bad)
            self.assertEqual((code, out), (1, ""), text)
            self.assertTrue(err.startswith(f"tg-report: {bad}: no "), err)
            self.assertIn(message, err)
            self.assertEqual(err.count("\n"), 1, err)
        code, out, err = run(TG_REPORT, "--compare", self.json)
        self.assertEqual((code, err), (2, "tg-report: --compare needs two reports, not 1\n"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
