"""Generated kernels under Oclgrind, a simulator that reports accesses outside of buffers, races, and
values that are read before they are written.

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


# The simulator's check for uninitialized values takes lane 11 of a shuffled vector for undefined, and
# a lane that is for one of another address (docs/testing.md). So it is on where vectors are short.
UNINITIALIZED = "--uninitialized"
SHORT_VECTORS = "cl-gpu"


def simulate(command, *checks):
    """Runs a command under Oclgrind. Returns (exit status, what it said, what Oclgrind found)."""
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        # Without optimisation every access of the source is made.
        oclgrind = ["oclgrind", "--data-races", *checks, "--max-errors", "3", "--log", log,
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


class Uninitialized(unittest.TestCase):
    """In a process for each graph: the simulator does not forget the memory of the one before."""

    GRAPHS = 48

    def test_random_graphs(self):
        ran = 0
        for seed in range(2100000, 2100000 + self.GRAPHS):
            _, said, found = simulate(
                [FUZZ, "--seed=%d" % seed, "--count=1", "--device=oclgrind", "--no-compare",
                 "--target=" + SHORT_VECTORS, "--passes=linearize", "--table"], UNINITIALIZED)
            self.assertEqual(found, "", said)
            ran += "1  run on the device" in said
        self.assertGreater(ran, self.GRAPHS // 2)


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
  %old = load %a : f32
  %new = add %old, %v : f32
  %s = store %a, @VALUE
  sink %s
}
"""

    def check(self, expected, *checks, index="add %g, %g", size="4", count="2", value="%v"):
        text = self.KERNEL
        for name, replacement in (("@INDEX", index), ("@SIZE", size), ("@COUNT", count),
                                  ("@VALUE", value)):
            text = text.replace(name, replacement)
        with tempfile.NamedTemporaryFile("w", suffix=".uop") as f:
            f.write(text)
            f.flush()
            _, said, found = simulate([RUN, f.name, "--device=oclgrind", "--random-inputs=1"],
                                      *checks)
        self.assertIn(expected, found, said)

    def test_access_outside(self):
        self.check("Invalid write", index="add %g, %n", count="4")

    def test_race(self):
        self.check("race", index="sub %g, %g", count="4")

    def test_uninitialized(self):
        self.check("Uninitialized value", UNINITIALIZED, value="%new")


class Modules(unittest.TestCase):
    pass


def check_module(case, module, *checks):
    with open(module, encoding="utf-8") as f:
        variables = re.findall(r"^var @(\w+) : \[.*, (\d+)\]", f.read(), re.MULTILINE)
    command = [RUN, module, "--device=oclgrind", "--random-inputs=1"]
    for name, greatest in variables:
        command += ["--var", "%s=%s" % (name, greatest)]
    if checks:
        command.append("--target=" + SHORT_VECTORS)
    status, said, found = simulate(command, *checks)
    case.assertEqual(found, "", said)
    if "no kernel" in said or "has no f64" in said:
        case.skipTest("the simulator, or the target, lacks an instruction or a type")
    case.assertEqual(status, 0, said)


for module in MODULES:
    name = "test_" + re.sub(r"\W", "_", os.path.basename(module)[:-4])
    setattr(Modules, name, lambda self, module=module: check_module(self, module))
    setattr(Modules, name + "_uninitialized",
            lambda self, module=module: check_module(self, module, UNINITIALIZED))
