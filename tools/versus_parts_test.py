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


class VersusParts(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(self.folder.cleanup)

    def results(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w") as file:
            file.write(text)
        outputs = re.findall(r"^buffer @(\w+) : .* output$", text, re.M)
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

    def test_times(self):
        module = versus_parts.run([TG_OPT, "--pass=kernelize", MODULES[0]])
        name, kernel, graph = next(versus_parts.pairs_of(module))
        args = argparse.Namespace(tg_opt=TG_OPT, tg_run=TG_RUN, target="cl-cpu", run_target=None, device="cpu",
                                  repeat=2, rounds=3, seconds=1e9, control=False)
        pair = versus_parts.Pair(args, f"module {name}", kernel, graph, self.folder.name)
        versus_parts.measure(args, [pair], self.folder.name)
        for path in (pair.whole, pair.parts):
            kernels, in_all = pair.times(path, False), pair.times(path, True)
            self.assertEqual(len(kernels), 3)
            for device, run in zip(kernels, in_all):
                self.assertGreater(device, 0, name)
                self.assertGreater(run, device, name)
        with open(pair.parts) as file:
            self.assertEqual(pair.count(), len(re.findall(r"= kernel @", file.read())), name)
        self.assertGreater(pair.count(), 1, name)

    def test_quotients(self):
        pair = versus_parts.Pair.__new__(versus_parts.Pair)
        pair.name, pair.whole, pair.parts = "k", "whole", "parts"
        pair.turns = {"whole": [[4.0, 5.0], [2.0, 8.0], [3.0, 3.0]],
                      "parts": [[2.0, 2.0, 5.0], [3.0, 1.0, 16.0], [1.0, 5.0, 9.0]]}
        # On the device: least 2 and 1 + 1, medians 3 and 4 of 4, 4, 6, quotients 1, 2, 2.
        self.assertEqual(pair.quotients(False), (2 / 2, 4 / 3, 2))
        # In all: least 3 and 5, medians 5 and 9, quotients 1, 2, 3.
        self.assertEqual(pair.quotients(True), (5 / 3, 9 / 5, 2))
        self.assertEqual(pair.report(), "k: 2.0 us, 2 parts 2.0 us, 1.000 1.333 2.000; "
                                        "in all 3.0 us, 5.0 us, 1.667 1.800 2.000")
        self.assertFalse(pair.is_slower(False))
        # Nine turns in which the kernel takes 10 and its parts from 5 to 9.
        pair.turns = {"whole": [[10.0, 10.0]] * 9, "parts": [[5.0 + n / 2, 20.0] for n in range(9)]}
        self.assertTrue(pair.is_slower(False))
        self.assertFalse(pair.is_slower(True))
        self.assertIn("0.700 [0.500, 0.900]; in all", pair.report())

    def test_interval(self):
        self.assertIsNone(versus_parts.interval([1.0] * 7))
        # 2 / 2^8 < 1 %: outside of all eight samples; of twelve, 2 * (1 + 12) / 2^12 is too.
        self.assertEqual(versus_parts.interval([3.0, 1.0, 2.0, 8.0, 7.0, 4.0, 5.0, 6.0]), (1.0, 8.0))
        self.assertEqual(versus_parts.interval([float(n) for n in range(12)]), (1.0, 10.0))
        self.assertEqual(versus_parts.interval([float(n) for n in range(12)], 0.5), (4.0, 7.0))

    def test_control(self):
        module = versus_parts.run([TG_OPT, "--pass=kernelize", MODULES[0]])
        name, kernel, graph = next(versus_parts.pairs_of(module))
        args = argparse.Namespace(tg_opt=TG_OPT, target="cl-cpu", control=True)
        pair = versus_parts.Pair(args, name, kernel, graph, self.folder.name)
        with open(pair.whole) as whole, open(pair.parts) as parts:
            self.assertEqual(whole.read(), parts.read())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
