"""ONNX models as C: unit, header and weights, compiled, linked to a program, run and compared."""

import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "bad_inputs"))

from onnx_cases import FLOAT, INT64, model, node, tensor, value  # noqa: E402

TG_OPT, TG_COMPILE = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
ROWS, INNER, COLUMNS = 5, 128, 96

# The program of docs/renderers.md, for these models.
MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include "net.h"

static void* read(const char* path, size_t bytes) {
  void* data = aligned_alloc(64, (bytes + 63) / 64 * 64);
  FILE* file = fopen(path, "rb");
  if (!data || !file || fread(data, 1, bytes, file) != bytes) exit(2);
  fclose(file);
  return data;
}

int main(int argc, char** argv) {
  const int64_t rows = argc > 1 ? atoi(argv[1]) : 5;
  void* weights = read("net.weights", NET_WEIGHTS_BYTES);
  float* x = read("x.bin", 5 * 128 * 4);
  float* y = calloc(5 * 96, 4);
  void* scratch = aligned_alloc(64, NET_SCRATCH_BYTES + 64);
#ifdef NET_STATES_BYTES
  void* states = aligned_alloc(64, NET_STATES_BYTES);
  if (net_init(weights, states, scratch)) return 3;
#endif
  if (CALL) return 1;
  fwrite(y, 4, 5 * 96, stdout);
  return 0;
}
"""


class OnnxUnits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        make = random.Random(1)
        self.x = [make.randint(-9, 9) for _ in range(ROWS * INNER)]
        self.w = [make.randint(-9, 9) for _ in range(INNER * COLUMNS)]
        (self.folder / "x.bin").write_bytes(struct.pack(f"<{len(self.x)}f", *self.x))

    def product(self, rows):
        return [float(sum(self.x[r * INNER + k] * self.w[k * COLUMNS + c] for k in range(INNER)))
                for r in range(rows) for c in range(COLUMNS)]

    def write(self, nodes, inputs, *options):
        """Writes the model and its unit; w is a tensor that stays in the model's file."""
        weights = tensor("w", [INNER, COLUMNS], struct.pack(f"<{len(self.w)}f", *self.w), FLOAT)
        made = model(nodes, inputs, [value("y", ["n", COLUMNS])], [weights])
        (self.folder / "model.onnx").write_bytes(made)
        return self.run_tool(TG_OPT, "--emit=c", "model.onnx", "-o", "net.c", *options)

    def run_tool(self, *command):
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)

    def run_unit(self, call, *arguments, compiler="gcc", objects=()):
        """Compiles with the program, runs, and returns (exit code, numbers)."""
        states = "states, " if "NET_STATES_BYTES" in (self.folder / "net.h").read_text() else ""
        call = call.replace("weights, ", "weights, " + states)
        (self.folder / "main.c").write_text(MAIN.replace("CALL", call))
        subprocess.run([compiler, "-std=c17", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-psabi",
                        "main.c", "net.c", *objects, "-lm", "-o", "net"], cwd=self.folder,
                       check=True)
        done = subprocess.run([self.folder / "net", *arguments], cwd=self.folder,
                              capture_output=True, check=False)
        return done.returncode, list(struct.unpack(f"<{len(done.stdout) // 4}f", done.stdout))

    def test_sizes_stay_variables_up_to_max(self):
        done = self.write([node("MatMul", ["x", "w"], ["y"])], [value("x", ["n", INNER])], "--max=n=5")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        header = (self.folder / "net.h").read_text()
        self.assertIn("//   x is @x : f32[@n, 128] input\n", header)
        self.assertIn("//   n is @n, 1 to 5\n", header)
        call = "net_main(x, y, rows, weights, scratch)"
        for compiler in ("gcc", "clang"):
            code, numbers = self.run_unit(call, "3", compiler=compiler)
            self.assertEqual(code, 0)
            self.assertEqual(numbers, self.product(3) + [0.0] * (2 * COLUMNS))
        # A size that is not allowed: nothing is written.
        self.assertEqual(self.run_unit(call, "6"), (1, []))

    def test_an_input_that_decides_the_graph(self):
        inputs = [value("x", [ROWS * INNER]), value("shape", [2], INT64)]
        nodes = [node("Reshape", ["x", "shape"], ["r"]), node("MatMul", ["r", "w"], ["y"])]
        done = self.write(nodes, inputs, f"--value=shape={ROWS},{INNER}")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        header = (self.folder / "net.h").read_text()
        self.assertNotIn("shape", header)
        call = "(void)rows, net_main(x, y, weights, scratch)"
        self.assertEqual(self.run_unit(call), (0, self.product(ROWS)))

    def test_machine_code_in_an_object(self):
        nodes, inputs = [node("MatMul", ["x", "w"], ["y"])], [value("x", ["n", INNER])]
        self.write(nodes, inputs, "--max=n=5")
        for name in ("net.c", "net.h", "net.weights"):
            (self.folder / name).unlink()
        done = self.run_tool(TG_COMPILE, "--emit=object", "model.onnx", "-o", "net.o", "--max=n=5")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        call = "net_main(x, y, rows, weights, scratch)"
        for compiler in ("gcc", "clang"):
            code, numbers = self.run_unit(call, "3", compiler=compiler, objects=["net.o"])
            self.assertEqual(code, 0)
            self.assertEqual(numbers, self.product(3) + [0.0] * (2 * COLUMNS))
        self.assertEqual(self.run_unit(call, "6", objects=["net.o"]), (1, []))

    def test_tg_compile_writes_c_and_names_what_is_wrong(self):
        nodes, inputs = [node("MatMul", ["x", "w"], ["y"])], [value("x", [ROWS, INNER])]
        self.write(nodes, inputs)
        done = self.run_tool(TG_COMPILE, "--emit=c", "model.onnx", "-o", "net.c")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.run_unit("(void)rows, net_main(x, y, weights, scratch)"),
                         (0, self.product(ROWS)))
        for options, error in (
                (["--emit=object", "-o", "net.a"], "net.a does not end in .o"),
                (["--emit=object", "--weights=external"], "are for --emit=tgx"),
                (["--emit=c", "--device=native"], "are not for --emit=c")):
            done = self.run_tool(TG_COMPILE, "model.onnx", *options)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(error, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_what_is_wrong_with_the_options(self):
        nodes, inputs = [node("MatMul", ["x", "w"], ["y"])], [value("x", ["n", INNER])]
        for option, code, error in (
                ("--var=m=3", 1, "tg-opt: --var m: there is no dimension @m"),
                ("--max=n=0", 2, "tg-opt: --max needs NAME=NUMBER, a size of at least 1, not 'n=0'"),
                ("--value=z=1", 1, "tg-opt: --value z: there is no input 'z'"),
                ("--value=x=", 2, "tg-opt: --value needs NAME=NUMBER,NUMBER,..., not 'x='")):
            done = self.write(nodes, inputs, option)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(error, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1)
            self.assertFalse((self.folder / "net.c").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
