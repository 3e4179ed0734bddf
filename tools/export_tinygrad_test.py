"""Exports graphs from the installed tinygrad and runs them; skipped without tinygrad.

    python3 tools/export_tinygrad_test.py TG_RUN

Any device of tinygrad's will do (GPU=1 or DEV=CL for OpenCL, PYTHON=1 or DEV=PYTHON for none).
"""

import array
import os
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
try:
    import tinygrad
except ImportError:
    tinygrad = None


def npy(values, shape):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
            array.array("f", values).tobytes())


def flat(values):
    return [y for x in values for y in flat(x)] if isinstance(values, list) else [values]


@unittest.skipIf(tinygrad is None, "tinygrad is not installed")
class Export(unittest.TestCase):
    def run_model(self, outputs, inputs, params=None, suffix=".repr", steps=()):
        """steps: functions that make the outputs of further runs. The outputs of the last run are compared."""
        from export_tinygrad import export
        with tempfile.TemporaryDirectory() as folder:
            at = lambda name: os.path.join(folder, name)  # noqa: E731
            export(at("model" + suffix), outputs, inputs, params)
            with open(at("model" + suffix)) as file:
                text = file.read()
            values = {name: flat(tensor.tolist()) for name, tensor in outputs.items()}
            for step in steps:
                values = {name: flat(tensor.tolist()) for name, tensor in step().items()}
            values |= {name: flat(tensor.tolist()) for name, tensor in inputs.items()}
            command = [TG_RUN, at("model" + suffix), f"--repeat={1 + len(steps)}"]
            for what, tensors in (("input", inputs), ("expect", outputs)):
                for name, tensor in tensors.items():
                    with open(at(f"{name}.npy"), "wb") as file:
                        file.write(npy(values[name], tensor.shape))
                    command.append(f"--{what}={name}={at(name)}.npy" + (":1e-4" * (what == "expect")))
            result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(result.returncode, 0, result.stdout.decode())
            return text

    def test_weights_and_names(self):
        from tinygrad import Tensor
        x, w = Tensor.rand(3, 5).realize(), Tensor.rand(5, 4).realize()
        text = self.run_model({"y": (x @ w).relu()}, {"x": x}, {"layer.weight": w})
        self.assertRegex(text, r'# tg: param layer.weight = \d+ \[5, 4\] '
                               r'file\("model.safetensors", "layer.weight"\)')
        self.assertRegex(text, r"# tg: output y = 0 \[3, 4\]")

    def test_several_outputs(self):
        from tinygrad import Tensor
        x = Tensor.rand(2, 3, 8, 8).realize()
        w = Tensor.rand(4, 3, 3, 3).realize()
        y = x.conv2d(w, padding=1)
        self.run_model({"y": y, "mean": y.mean((2, 3)), "p": y.flatten(1).softmax()}, {"x": x})

    def test_uop(self):
        from tinygrad import Tensor
        x = Tensor.rand(4).realize()
        text = self.run_model({"y": x * 2 + 1}, {"x": x}, suffix=".uop")
        self.assertTrue(text.startswith("tg 1\n"))

    def test_states_begin_with_their_contents(self):
        from tinygrad import Tensor
        for suffix in (".repr", ".uop"):
            x, s = Tensor.rand(6).realize(), Tensor.rand(6).realize()

            def step():
                s.assign(s * 0.5 + x)
                return {"y": s + 1}
            text = self.run_model(step(), {"x": x}, suffix=suffix, steps=[step] * 2)
            self.assertRegex(text, r'file\("model.safetensors", "buf')

    def test_states_have_names(self):
        from tinygrad import Tensor
        x, s, last = (Tensor.rand(2, 3).realize() for _ in range(3))
        names = {"sum": s, "last": last}

        def step():
            s.assign(s + x)
            last.assign(x * 2)  # which no output reads
            return {"y": s.sum(1)}
        text = self.run_model(step(), {"x": x}, names, steps=[step] * 2)
        for name in names:
            self.assertRegex(text, rf'# tg: state {name} = \d+ \[2, 3\] file\("model.safetensors", '
                                   rf'"{name}"\)')

    def test_inputs_that_are_not_read(self):
        from tinygrad import Tensor
        x, z = Tensor.rand(4).realize(), Tensor.rand(2, 3).realize()
        text = self.run_model({"y": x * 2}, {"z": z, "x": x})
        self.assertIn("# tg: input z = none [2, 3] dtypes.float\n", text)

    def test_weights_of_fp8(self):
        from tinygrad import Tensor, dtypes
        x, w = Tensor.rand(4).realize(), Tensor([0.5, -3, 7, 1.625])
        try:
            w = w.cast(dtypes.fp8e4m3).realize()
        except Exception as e:  # any of a device's compiler
            self.skipTest(f"tinygrad makes none here: {type(e).__name__}")
        self.run_model({"y": x + w.float()}, {"x": x})

    def test_names_that_no_file_could_hold(self):
        from export_tinygrad import export
        from tinygrad import Tensor
        x, w = Tensor.rand(4).realize(), Tensor.rand(4).realize()
        for name in ("x y", "", "x=1", "f(x)", 'x"'):
            for names in ([{name: x + w}, {"x": x}], [{"y": x + w}, {name: x}],
                          [{"y": x + w}, {"x": x}, {name: w}]):
                with self.assertRaisesRegex(ValueError, "a name is not empty"):
                    export("none.repr", *names)
        with self.assertRaisesRegex(ValueError, "'a' and 'b' are one buffer"):
            export("none.repr", {"y": x + w}, {"a": x, "b": x.reshape(2, 2)})

    def test_a_permuted_tensor_is_no_buffer(self):
        from export_tinygrad import export
        from tinygrad import Tensor
        x = Tensor.rand(2, 3).realize()
        with self.assertRaisesRegex(ValueError, "'x' is computed"):
            export("none.repr", {"y": x + 1}, {"x": x.T})

    def test_what_is_missing_is_said(self):
        from export_tinygrad import export
        from tinygrad import Tensor
        x = Tensor.empty(4)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.repr")
            with self.assertRaisesRegex(ValueError, "no contents"):
                export(path, {"y": x + 1})
            with self.assertRaisesRegex(ValueError, "'x' is computed"):
                export(path, {"y": x + 1}, {"x": x + 1})


TG_RUN = os.path.abspath(sys.argv[1])
if __name__ == "__main__":
    os.environ.setdefault("TG_IMPORT", os.path.join(os.path.dirname(TG_RUN), "tg-import"))
    unittest.main(argv=sys.argv[:1])
