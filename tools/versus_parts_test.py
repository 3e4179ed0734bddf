"""tools/versus_parts.py: a kernel and its parts compute the same.

    versus_parts_test.py TG_OPT TG_RUN MODULE...
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import unittest

import versus_parts

TG_OPT, TG_RUN = sys.argv[1:3]
MODULES = sys.argv[3:]


# Sums of rows and of columns, which are kernels of different shapes.


class VersusParts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(self.folder.cleanup)

    def results(self, name, text, outputs=None):
        path = os.path.join(self.folder.name, name)
        with open(path, "w") as file:
            file.write(text)
        outputs = outputs or re.findall(r"^buffer @(\w+) : .* output$", text, re.M)
        done = subprocess.run([TG_RUN, "--device=reference", "--random-inputs=1", "--print=" + ",".join(outputs), path],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        numbers = re.findall(r"-?\d+\.?\d*(?:e[+-]?\d+)?", done.stdout)
        return [float(n) for n in numbers]

    def test_kernel_and_graph_agree(self):
        found = 0
        for module in MODULES:
            text = versus_parts.run([TG_OPT, "--pass=kernelize", module])
            for name, kernel, graph in versus_parts.pairs_of(text):
                found += 1
                one, other = self.results("kernel.uop", kernel), self.results("graph.uop", graph)
                self.assertGreater(len(one), 1, name)
                self.assertEqual(len(one), len(other), name)
                for a, b in zip(one, other):
                    self.assertAlmostEqual(a, b, delta=1e-3 * max(1, abs(a)), msg=name)
        self.assertGreater(found, 1)

    def pair(self, number=0):
        module = versus_parts.run([TG_OPT, "--pass=kernelize", MODULES[0]])
        name, kernel, graph = list(versus_parts.pairs_of(module))[number]
        args = argparse.Namespace(tg_opt=TG_OPT, tg_run=TG_RUN, target="cl-cpu", run_target=None, device="cpu",
                                  repeat=2, rounds=3, seconds=1e9)
        return args, versus_parts.Pair(args, name, kernel, graph, self.folder.name)

    def test_together(self):
        _, pair = self.pair()
        for path, at in zip(pair.orders, (1, -1)):
            with open(path) as file:
                text = file.read()
            # The module is valid, and the kernel's outputs are its parts'.
            outputs = re.findall(r"^buffer @(w\d+) : .* output$", text, re.M)
            self.assertGreater(len(outputs), 0)
            own = self.results(os.path.basename(path), text, outputs)
            others = self.results(os.path.basename(path), text, [name.replace("w", "b") for name in outputs])
            self.assertEqual(len(own), len(others))
            for a, b in zip(own, others):
                self.assertAlmostEqual(a, b, delta=1e-3 * max(1, abs(a)))
            # They run in the order of the graph, behind the kernel that does nothing.
            optimized = versus_parts.run([TG_OPT, "--pass=schedule", path])
            calls = re.findall(r"= kernel @\S+?\((%\w+)", optimized)
            buffers = dict(re.findall(r"^  (%\w+) = buffer @(\w+)", optimized, re.M))
            order = [buffers.get(first, "") for first in calls]
            self.assertEqual(order[0], "lead")
            self.assertEqual([n for n, name in enumerate(order) if name.startswith("w")], [at % len(order)])

    def test_times(self):
        args, pair = self.pair()
        versus_parts.measure(args, [pair], self.folder.name)
        self.assertEqual(len(pair.turns), 3)
        for times in (times for turn in pair.turns for times in turn):
            self.assertEqual(len(times), 2)
            for kernel, parts, kernel_in_all, parts_in_all in times:
                self.assertGreater(len(parts), 1)
                self.assertGreater(min(kernel, *parts), 0)
                self.assertGreater(kernel_in_all, kernel)
                self.assertGreater(parts_in_all, sum(parts))

    def test_quotients(self):
        pair = versus_parts.Pair.__new__(versus_parts.Pair)
        pair.name = "k"
        # One turn: 4 / 2, 6 / 3 and 3 / 1 where the kernel comes first, else 2 / 4.
        first = [(2.0, [3.0, 1.0], 2.0, 8.0), (3.0, [1.0, 5.0], 4.0, 8.0), (1.0, [1.0, 2.0], 2.0, 8.0)]
        second = [(4.0, [1.0, 1.0], 8.0, 8.0)]
        pair.turns = [(first, second)]
        self.assertEqual(pair.quotients(False), [1.0])
        self.assertEqual(pair.quotients(True), [2.0])
        self.assertEqual(pair.least(False), (1.0, 2.0))
        self.assertEqual(pair.least(True), (2.0, 8.0))
        self.assertEqual(pair.report(), "k: 1.0 us, 2 parts 2.0 us, 2.000 1.000; with launches 2.0 us, 8.0 us, 4.000 2.000")
        self.assertFalse(pair.is_slower(False))
        # Nine turns in which the kernel takes 10 and its parts from 5 to 9.
        pair.turns = [([(10.0, [3.0, 2.0 + n / 2], 10.0, 20.0)],) * 2 for n in range(9)]
        self.assertTrue(pair.is_slower(False))
        self.assertFalse(pair.is_slower(True))
        self.assertIn("0.700 [0.500, 0.900]; with launches", pair.report())

    def test_interval(self):
        self.assertIsNone(versus_parts.interval([1.0] * 7))
        # 2 / 2^8 < 1 %: outside of all eight samples; of twelve, 2 * (1 + 12) / 2^12 is too.
        self.assertEqual(versus_parts.interval([3.0, 1.0, 2.0, 8.0, 7.0, 4.0, 5.0, 6.0]), (1.0, 8.0))
        self.assertEqual(versus_parts.interval([float(n) for n in range(12)]), (1.0, 10.0))
        self.assertEqual(versus_parts.interval([float(n) for n in range(12)], 0.5), (4.0, 7.0))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
