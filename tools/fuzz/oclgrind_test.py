"""Generated kernels under Oclgrind, a simulator that reports accesses outside of buffers and races.

Arguments: tg-fuzz, tg-run, then modules that tg-run can run on made-up inputs.
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

FUZZ, RUN = sys.argv[1:3]
MODULES = sys.argv[3:]


def simulate(command):
    """Runs a command under Oclgrind. Returns (exit status, what it said, what Oclgrind found)."""
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        # Without optimisation every access of the source is made.
        oclgrind = ["oclgrind", "--data-races", "--max-errors", "3", "--log", log,
                    "--build-options", "-cl-opt-disable"]
        done = subprocess.run(oclgrind + command, capture_output=True, text=True,
                              env=dict(os.environ, HOME=folder))
        found = ""
        if os.path.exists(log):
            with open(log, encoding="utf-8") as f:
                found = f.read()
        # It refuses kernels in which the compiler found a rotation.
        reports = [r for r in found.split("\n\n") if r.strip() and "llvm.fsh" not in r]
        return done.returncode, done.stdout + done.stderr, "\n\n".join(reports)


class RandomGraphs(unittest.TestCase):
    """Values are not compared: the simulator converts NaN to integers in its own way."""

    def check(self, target, seed):
        _, said, found = simulate(
            [FUZZ, "--seed=%d" % seed, "--count=100", "--device=oclgrind", "--no-compare",
             "--target=" + target, "--passes=linearize", "--table"])
        self.assertEqual(found, "", said)
        failed = [line for line in said.splitlines()
                  if line.startswith("FAILED") and "device: no kernel" not in line]
        self.assertEqual(failed, [], said)
        ran = re.search(r"(\d+)  run on the device", said)
        self.assertGreater(int(ran.group(1)), 50, said)


for target in ("cl-cpu", "cl-gpu"):
    for block in range(3):
        def test(self, target=target, seed=2000000 + 100 * block):
            self.check(target, seed)
        setattr(RandomGraphs, "test_%s_%d" % (target.replace("-", "_"), block), test)


class Planted(unittest.TestCase):
    """Checks that an error would be found."""

    KERNEL = """tg 1
module @bad
buffer @y : f32[4] output

graph @main {
  %y = buffer @y : f32
  %k = kernel @E_4(%y)
  %a = assign %y, %k : f32
  sink %a
}

kernel @E_4 : linear {
  %p = define_global {arg = 0} : ptr<f32, @SIZE>
  %n = const @COUNT : i32
  %g = special %n {name = grid0} : i32
  %v = cast %g : f32
  %i = @INDEX : i32
  %a = index %p, %i : ptr<f32, @SIZE>
  %s = store %a, %v
  sink %s
}
"""

    def check(self, index, size, count, expected):
        text = self.KERNEL.replace("@INDEX", index).replace("@SIZE", size).replace("@COUNT", count)
        with tempfile.NamedTemporaryFile("w", suffix=".uop") as f:
            f.write(text)
            f.flush()
            _, said, found = simulate([RUN, f.name, "--device=oclgrind", "--random-inputs=1"])
        self.assertIn(expected, found, said)

    def test_access_outside(self):
        self.check("add %g, %n", "4", "4", "Invalid write")

    def test_race(self):
        self.check("sub %g, %g", "4", "4", "race")


class Modules(unittest.TestCase):
    pass


for module in MODULES:
    def test(self, module=module):
        with open(module, encoding="utf-8") as f:
            variables = re.findall(r"^var @(\w+) : \[.*, (\d+)\]", f.read(), re.MULTILINE)
        command = [RUN, module, "--device=oclgrind", "--random-inputs=1"]
        for name, greatest in variables:
            command += ["--var", "%s=%s" % (name, greatest)]
        status, said, found = simulate(command)
        self.assertEqual(found, "", said)
        if "no kernel" in said:
            self.skipTest("the simulator lacks an instruction")
        self.assertEqual(status, 0, said)
    setattr(Modules, "test_" + re.sub(r"\W", "_", os.path.basename(module)[:-4]), test)
