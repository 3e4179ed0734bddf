"""Models of a few nodes through tg-run on the interpreter: loops without iterations, open sizes, names."""

import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "bad_inputs"))

from case import npy  # noqa: E402
from onnx_cases import BOOL, FLOAT, INT64, STRING, field, model, node, number, subgraph, tensor, value  # noqa: E402

TG_RUN = pathlib.Path(sys.argv[1]).resolve()


def longs(*numbers):
    return struct.pack(f"<{len(numbers)}q", *numbers)


def floats(*numbers):
    return struct.pack(f"<{len(numbers)}f", *numbers)


def vector(name, *numbers):
    return tensor(name, [len(numbers)], longs(*numbers), INT64)


def untyped(name):
    """An output whose type the model leaves out."""
    return field(1, name)


class SmallModels(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_model(self, made, shapes, *options):
        """Runs tg-run on inputs of these shapes, which count from 1 on."""
        folder = pathlib.Path(self.folder.name)
        (folder / "m.onnx").write_bytes(made)
        command = [TG_RUN, "m.onnx", "--device=reference", *options]
        for name, shape in shapes.items():
            count = 1
            for extent in shape:
                count *= extent
            dims = "".join(f"{extent}," for extent in shape)
            data = struct.pack(f"<{count}f", *range(1, count + 1))
            (folder / f"{name}.npy").write_bytes(npy("<f4", f"({dims})", data))
            command += ["--input", f"{name}={name}.npy"]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=100)

    def expect(self, printed, made, shapes, *options):
        done = self.run_model(made, shapes, *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, printed)

    def expect_error(self, error, made, shapes, *options):
        done = self.run_model(made, shapes, *options)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(error, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    # ---- Loops without iterations

    def loop(self, declared):
        """A loop of no iterations that scans 2 x; `declared`: the result's type in the body."""
        body = subgraph("body", [node("Identity", ["c"], ["d"]), node("Add", ["x", "x"], ["z"])],
                        [value("i", [], INT64), value("c", [], BOOL)], [value("d", [], BOOL), declared])
        nodes = [node("Loop", ["trips", ""], ["s"], attributes=[body]),
                 node("ReduceSum", ["s", "axis"], ["y"], attributes=[number("keepdims", 0)])]
        return model(nodes, [value("x", [4])], [untyped("s"), untyped("y")],
                     [tensor("trips", [], longs(0), INT64), vector("axis", 0)])

    def test_a_loop_without_iterations_gives_no_elements(self):
        for declared in (value("z", [4]), value("z", ["any"]), untyped("z")):
            self.expect("@s f32[0, 4]\n@y f32[4]\n  0 0 0 0\n", self.loop(declared), {"x": [4]},
                        "--print=s,y")

    # ---- Loops that count, as TensorFlow writes them

    def counting(self, end):
        """Running sums of x[n], by a loop without a trip count that goes on while i + 1 < `end`."""
        body = subgraph("body",
                        [node("Add", ["i", "one"], ["next"]), node("Gather", ["x", "i"], ["here"]),
                         node("Add", ["s", "here"], ["t"]), node("Identity", ["t"], ["row"]),
                         node("Cast", ["next"], ["left"], attributes=[number("to", FLOAT)]),
                         node("Cast", ["stop"], ["right"], attributes=[number("to", FLOAT)]),
                         node("Less", ["left", "right"], ["more"])],
                        [value("step", [], INT64), value("c", [], BOOL), value("i", [], INT64),
                         value("s", []), value("stop", [], INT64)],
                        [value("more", [], BOOL), value("next", [], INT64), value("t", []),
                         value("stop", [], INT64), value("row", [])])
        nodes = [*end, node("Squeeze", ["size"], ["n"]), node("Less", ["zero", "n"], ["some"]),
                 node("Loop", ["", "some", "zero", "start", "n"], ["last", "sum", "same", "y"],
                      attributes=[body])]
        return model(nodes, [value("x", ["n"])], [untyped("sum"), untyped("y")],
                     [tensor("zero", [], longs(0), INT64), tensor("one", [], longs(1), INT64),
                      tensor("start", [], floats(0))])

    def test_a_loop_that_counts_to_a_size_stacks_results(self):
        made = self.counting([node("Shape", ["x"], ["size"])])
        twelve = " ".join(str(n * (n + 1) // 2) for n in range(1, 13))
        for options in ([], ["--max=n=64"]):
            self.expect(f"@sum f32[]\n  78\n@y f32[12]\n  {twelve}\n", made, {"x": [12]},
                        "--print=sum,y", "--limit=0", *options)
        self.expect("@sum f32[]\n  6\n@y f32[3]\n  1 3 6\n", made, {"x": [3]}, "--print=sum,y",
                    "--max=n=64")

    def test_a_loop_whose_end_is_data_stacks_no_results(self):
        end = [node("ReduceMax", ["x"], ["greatest"], attributes=[number("keepdims", 1)]),
               node("Cast", ["greatest"], ["size"], attributes=[number("to", INT64)])]
        self.expect_error("a loop that stacks results, and whose end depends on an input",
                          self.counting(end), {"x": [12]}, "--print=y", "--max=n=64")

    # ---- Signals

    def test_stft_takes_real_signals_without_an_axis_of_parts(self):
        printed = []
        for shape in ([1, 16], [1, 16, 1]):
            made = model([node("STFT", ["x", "step", "", "length"], ["y"])], [value("x", shape)],
                         [untyped("y")],
                         [tensor("step", [], longs(4), INT64), tensor("length", [], longs(8), INT64)])
            done = self.run_model(made, {"x": shape}, "--print=y", "--limit=0")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            printed.append(done.stdout)
        self.assertTrue(printed[0].startswith("@y f32[1, 3, 5, 2]\n"), printed[0])
        # The sums of the frames 1 to 8, 5 to 12 and 9 to 16.
        for total in ("36 0", "68 0", "100 0"):
            self.assertIn(total, printed[0])
        self.assertEqual(*printed)

    # ---- Open sizes

    RELU = model([node("Relu", ["x"], ["y"])], [value("x", ["n", 2])], [value("y", ["n", 2])])

    def test_a_variable_size_may_be_0(self):
        self.expect("@y f32[0, 2]\n", self.RELU, {"x": [0, 2]}, "--max=n=8", "--print=y")
        self.expect("@y f32[3, 2]\n  1 2\n  3 4\n  5 6\n", self.RELU, {"x": [3, 2]}, "--max=n=8",
                    "--print=y")
        self.expect_error("@n in [1, 8], not f32[9, 2]", self.RELU, {"x": [9, 2]}, "--max=n=8",
                          "--print=y")

    def test_squeeze_without_axes_drops_a_size_that_is_1(self):
        made = model([node("Squeeze", ["x"], ["y"])], [value("x", ["n", 1, 2])], [untyped("y")])
        self.expect("@y f32[2]\n  1 2\n", made, {"x": [1, 1, 2]}, "--max=n=8", "--print=y")
        self.expect("@y f32[2, 2]\n  1 2\n  3 4\n", made, {"x": [2, 1, 2]}, "--max=n=8", "--print=y")

    def test_resize_keeps_a_symbolic_batch(self):
        nodes = [node("Shape", ["x"], ["shape"]), node("Slice", ["shape", "from", "to"], ["batch"]),
                 node("Concat", ["batch", "rest"], ["sizes"], attributes=[number("axis", 0)]),
                 node("Resize", ["x", "", "", "sizes"], ["y"])]
        made = model(nodes, [value("x", ["n", 1, 2])], [untyped("y")],
                     [vector("from", 0), vector("to", 1), vector("rest", 1, 4)])
        self.expect("@y f32[2, 1, 4]\n  1 1 2 2\n  3 3 4 4\n", made, {"x": [2, 1, 2]}, "--max=n=8",
                    "--print=y")

    def slice_of_x(self, nodes, start, stop, step=1):
        """x[start:stop:step], where names of `nodes` tell the bounds; n is x's extent, [n]."""
        before = [node("Shape", ["x"], ["n"]), *nodes]
        return model([*before, node("Slice", ["x", start, stop, "zero", "step"], ["y"])],
                     [value("x", ["n"])], [untyped("y")],
                     [vector("zero", 0), vector("one", 1), vector("two", 2), vector("step", step),
                      vector("last", 2**62), vector("first", -2**62)])

    def test_slices_have_symbolic_bounds(self):
        half = [node("Div", ["n", "two"], ["h"])]
        back = [*half, node("Neg", ["h"], ["b"])]
        for nodes, start, stop, step, expected in (
                (half, "h", "last", 1, "4 5 6 7"),
                (back, "b", "last", 1, "5 6 7"),
                (back, "zero", "b", 1, "1 2 3 4"),
                (half, "h", "first", -1, "4 3 2 1"),
                (half, "h", "zero", -1, "4 3 2"),
                (back, "b", "first", -2, "5 3 1")):
            made = self.slice_of_x(nodes, start, stop, step)
            printed = f"@y f32[{len(expected.split())}]\n  {expected}\n"
            for options in ([], ["--max=n=9"]):
                with self.subTest(start=start, stop=stop, step=step, options=options):
                    self.expect(printed, made, {"x": [7]}, "--print=y", *options)

    # ---- Names and types

    def test_names_may_have_commas(self):
        made = model([node("Relu", ["x"], ["a,b"]), node("Neg", ["x"], ["c"]), node("Abs", ["x"], ["a"])],
                     [value("x", [2])], [value("a,b", [2]), value("c", [2]), value("a", [2])])
        self.expect("@a,b f32[2]\n  1 2\n@c f32[2]\n  -1 -2\n@a f32[2]\n  1 2\n", made, {"x": [2]},
                    "--print=a,b,c,a")
        self.expect("@a f32[2]\n  1 2\n@c f32[2]\n  -1 -2\n", made, {"x": [2]}, "--print=a,c")
        self.expect_error("there is no ", made, {"x": [2]}, "--print=b,c")

    def test_a_listing_does_not_offer_what_is_refused(self):
        made = model([node("Relu", ["x"], ["y"])], [value("x", [2]), value("q", ["k"], STRING)],
                     [value("y", [2])])
        done = self.run_model(made, {})
        self.assertEqual(done.returncode, 1)
        self.assertIn("q  string[k], a type that tg does not read\n", done.stdout)
        self.assertNotIn("run it by", done.stdout)
        self.assertIn("m.onnx: 'q': an input of type string", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
