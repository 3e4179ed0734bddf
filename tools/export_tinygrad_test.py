"""Exports from the tinygrad that is installed, and runs what comes out; without tinygrad it is skipped.

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
    def run_model(self, outputs, inputs, params=None, suffix=".repr"):
        from export_tinygrad import export
        with tempfile.TemporaryDirectory() as folder:
            at = lambda name: os.path.join(folder, name)  # noqa: E731
            export(at("model" + suffix), outputs, inputs, params)
            with open(at("model" + suffix)) as file:
                text = file.read()
            command = [TG_RUN, at("model" + suffix)]
            for what, tensors in (("input", inputs), ("expect", outputs)):
                for name, tensor in tensors.items():
                    with open(at(f"{name}.npy"), "wb") as file:
                        file.write(npy(flat(tensor.tolist()), tensor.shape))
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
