"""Gradients of networks against recorded ones of PyTorch in f64 (testdata/train/make.py).

    gradients_test.py TG_TRAIN FOLDER
"""

import array
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import unittest

NETWORKS = ["bert", "constants", "convolutional_lstm", "convolutions", "masked_attention"]
DATA = {"constants": "convolutions"}  # another form of the same network


def tensors(path):
    """{name: (shape, numbers)} of a safetensors file of f64."""
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    found = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        assert entry["dtype"] == "F64", (name, entry)
        found[name] = entry["shape"], array.array("d", data[slice(*entry["data_offsets"])])
    return found


class Gradients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tool, cls.folder = (os.path.abspath(path) for path in sys.argv[1:])

    def check(self, network, device, bound):
        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, "gradients.safetensors")
            path = os.path.join(self.folder, network)
            data = os.path.join(self.folder, DATA.get(network, network))
            result = subprocess.run(
                [self.tool, path + ".onnx", "--loss=mse:y,t", "--data=" + data + ".npz",
                 "--device=" + device, "--gradients=" + output],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.assertEqual((result.returncode, result.stdout), (0, ""))
            found = tensors(output)
        expected = tensors(data + ".safetensors")
        self.assertEqual(set(found), set(expected))
        worst = 0.0
        for name, (shape, numbers) in expected.items():
            self.assertEqual(found[name][0], shape, name)
            greatest = max(map(abs, numbers))
            self.assertGreater(greatest, 0, name)
            for a, b in zip(found[name][1], numbers):
                self.assertFalse(math.isnan(a), name)
                worst = max(worst, abs(a - b) / greatest)
                self.assertLess(abs(a - b) / greatest, bound, name)
        print("%s: %d weights, the largest error is %.1e of the largest gradient" %
              (network, len(expected), worst))

    def test_cpu(self):
        for network in NETWORKS:
            with self.subTest(network):
                self.check(network, "cpu", 1e-12)

    def test_the_reference(self):
        self.check("masked_attention", "reference", 1e-12)


if __name__ == "__main__":
    unittest.main()
