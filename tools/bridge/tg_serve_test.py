"""Tests tg-serve through tg_server: runs, state, variables, errors."""

import os
import random
import struct
import subprocess
import sys
import types
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import tg_server

COUNTER = """tg 1
module @counter
var @n : [1, 8]
buffer @x : f32[8] input
buffer @total : f32[8] state
buffer @y : f32[@n] output

graph @main {
  %x = buffer @x : f32
  %total = buffer @total : f32
  %sum = add %total, %x : f32
  %new = assign %total, %sum : f32
  %n = var @n : index
  %head = shrink %new {ranges = [(0, %n)]} : f32
  sink %new, %head -> @y
}
"""


# A kernel as a front end makes it: with given opts, without a heuristic.
TWICE = """tg 1
module @m
buffer @x : f32[64] input
buffer @y : f32[64] output
graph @main {
  %y = buffer @y : f32
  %x = buffer @x : f32
  %k = kernel @twice(%y, %x)
  %a = assign %y, %k : f32
  sink %a
}
kernel @twice : kernel {schedule = [local(i0, 16)]} {
  %0 = define_global {arg = 0} : ptr<f32, 64>
  %1 = define_global {arg = 1} : ptr<f32, 64>
  %2 = load %1 : f32
  %3 = add %2, %2 : f32
  %4 = store %0, %3
  sink %4
}
"""

# tinygrad's text: the first four columns of the columns up to a variable, times three.
SLICE = """# tg: input x = 0 [%d]
# tg: output y = 0 [3, 4]
UOp(Ops.SINK, dtypes.void, arg=None, src=(
  UOp(Ops.SHRINK, dtypes.float, arg=None, src=(
    UOp(Ops.MUL, dtypes.float, arg=None, src=(
      UOp(Ops.SHRINK, dtypes.float, arg=None, src=(
        UOp(Ops.RESHAPE, dtypes.float, arg=None, src=(
          UOp(Ops.PARAM, dtypes.float, arg=ParamArg(0, dtypes.float, device='CL'), src=(
            UOp(Ops.CONST, dtypes.weakint, arg=%d, src=()),)),
          UOp(Ops.STACK, dtypes.weakint, arg=None, src=(
            x5:=UOp(Ops.CONST, dtypes.weakint, arg=3, src=()),
            UOp(Ops.CONST, dtypes.weakint, arg=%d, src=()),)),)),
        x7:=UOp(Ops.STACK, dtypes.weakint, arg=None, src=(
          x8:=UOp(Ops.CONST, dtypes.weakint, arg=0, src=()),
          x8,)),
        UOp(Ops.STACK, dtypes.weakint, arg=None, src=(
          x5,
          UOp(Ops.PARAM, dtypes.weakint, arg=ParamArg(
              -1, dtypes.weakint, vmin_vmax=(1, 10), name='i', addrspace=AddrSpace.ALU), src=(
            UOp(Ops.STACK, dtypes.void, arg=None, src=()),)),)),)),
      UOp(Ops.CONST, dtypes.float, arg=3.0, src=()),)),
    x7,
    UOp(Ops.STACK, dtypes.weakint, arg=None, src=(
      x5,
      UOp(Ops.CONST, dtypes.weakint, arg=4, src=()),)),)),))
"""


def program(text):
    return types.SimpleNamespace(text=text, pipeline="default")


def pack(values):
    return struct.pack(f"{len(values)}f", *values)


class ServeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = tg_server.Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.process.stdin.close()
        assert cls.server.process.wait() == 0
        cls.server.process.stdout.close()

    def test_run(self):
        self.assertGreaterEqual(self.server.compile(COUNTER, "default")[1], 1)
        for n in (3, 8):
            x = [float(random.randrange(100)) for _ in range(8)]
            total = [float(random.randrange(100)) for _ in range(8)]
            (new, head), kernels, ops = self.server.run(
                program(COUNTER), {"n": n}, {"x": pack(x), "total": pack(total)}, ["total", "y"])
            want = pack([a + b for a, b in zip(x, total)])
            self.assertEqual(new, want)
            self.assertEqual(head, want[:4 * n])
            self.assertGreaterEqual(kernels, 1)
            self.assertGreaterEqual(ops, 8)

    def test_a_kernel_with_opts(self):
        named = self.server.print(TWICE, "schedule:none")
        self.assertIn("axes = [i0.0:4 global, i0.1:16 local]", named)
        pipeline = "schedule:none,lower,expand,devectorize,linearize"
        ((name, ops, traffic, groups, local, source),) = self.server.kernels(named, pipeline, {})
        self.assertEqual((ops, traffic, groups, local), (64, 512, [4, 1, 1], [16, 1, 1]))
        self.assertRegex(source, rf"void {name}\(|define .*{name}\.group")
        x = [float(random.randrange(100)) for _ in range(64)]
        twice = types.SimpleNamespace(text=named, pipeline=pipeline)
        (y,), _, _ = self.server.run(twice, {}, {"x": pack(x)}, ["y"])
        self.assertEqual(y, pack([2 * v for v in x]))

    def test_a_slice_past_a_variable(self):
        """A tensor that TinyJit returns has the variable's value of the capture."""
        x = [float(random.randrange(100)) for _ in range(30)]
        want = pack([3 * x[10 * row + column] for row in range(3) for column in range(4)])
        for i in (2, 4, 7):
            (y,), _, _ = self.server.run(
                program(SLICE % (30, 30, 10)), {"i": i}, {"x": pack(x)}, ["y"])
            self.assertEqual(y, want)
        # Where memory does not hold it either, the run compares the extents.
        with self.assertRaisesRegex(RuntimeError, "4 must be at most @i; they are 4 and 2"):
            self.server.run(program(SLICE % (9, 9, 3)), {"i": 2}, {"x": bytes(36)}, ["y"])

    def test_errors_leave_it_running(self):
        with self.assertRaisesRegex(RuntimeError, "expected"):
            self.server.compile("tg 1\nmodule", "default")
        with self.assertRaisesRegex(RuntimeError, "unknown pass"):
            self.server.compile(COUNTER, "nonsense")
        with self.assertRaisesRegex(RuntimeError, "no axis 'i1'"):
            self.server.print(TWICE.replace("local(i0", "local(i1"), "schedule:none")
        with self.assertRaisesRegex(RuntimeError, "bounds"):
            self.server.run(program(COUNTER), {"n": 9}, {"x": bytes(32)}, [])
        with self.assertRaisesRegex(RuntimeError, "input x has 4 bytes"):
            self.server.run(program(COUNTER), {"n": 1}, {"x": bytes(4)}, [])
        self.test_run()

    def test_what_is_no_request_ends_it(self):
        compiled = f"compile {len(COUNTER)} default\n{COUNTER}"
        for request, message in [
                ("compile -1 default\ntg 1", "the text is cut off"),
                ("compile 9223372036854775807 default\ntg 1", "the text is cut off"),
                ("print many default\n", "no request: 'print many default'"),
                (compiled + "run 0 0 1 0\nx 18446744073709551615\nabc", "input x is cut off"),
                (compiled + "run 0 0 1 0\nx all\n", "no request: 'x all'"),
                (compiled + "run 0 1 0 0\nn three\n", "no request: 'n three'"),
                ("run 0 0\n", "no request: 'run 0 0'"),
                ("kernels 0\n", "no request: 'kernels 0'"),
                ("drop it\n", "no request: 'drop it'"),
                ("stop\n", "no request: 'stop'")]:
            done = subprocess.run([os.environ["TG_SERVE"]], input=request, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual((done.returncode, done.stderr), (1, f"tg-serve: {message}\n"), request)


os.environ["TG_SERVE"] = os.path.abspath(sys.argv[1])

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
