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
        args = argparse.Namespace(tg_opt=TG_OPT, tg_run=TG_RUN, target="cl-cpu", device="cpu", repeat=1, rounds=1)
        whole, parts, count = versus_parts.compare(args, kernel, graph, self.folder.name)
        for kernels, in_all in (whole, parts):
            self.assertGreater(kernels, 0, name)
            self.assertGreater(in_all, kernels, name)
        parts_file = os.path.join(self.folder.name, "parts.uop")
        with open(parts_file) as file:
            self.assertEqual(count, len(re.findall(r"= kernel @", file.read())), name)
        self.assertGreater(count, 1, name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
