"""Steps in which BatchNormalization and Dropout mean what they mean in training.

    modes_test.py TG_TRAIN FOLDER       with the networks of testdata/train/make.py
"""

import array
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

STEPS = 5  # of make.py
RATIO = 0.25


def tensors(path):
    """{name: numbers} of a safetensors file."""
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    kinds = {"F64": "d", "F32": "f", "U64": "Q", "I32": "i"}
    return {name: array.array(kinds[entry["dtype"]], data[slice(*entry["data_offsets"])])
            for name, entry in header.items() if name != "__metadata__"}


def floats(archive, name):
    """The numbers of an array of f32 in an archive of numpy."""
    with zipfile.ZipFile(archive) as file:
        contents = file.read(name + ".npy")
    return array.array("f", contents[10 + struct.unpack("<H", contents[8:10])[0]:])


class Modes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tool, cls.folder = (os.path.abspath(path) for path in sys.argv[1:])

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.output = os.path.join(folder.name, "out.")

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_tool(self, model, *options):
        command = [self.tool, self.path(model + ".onnx"), "--loss=mse:y,t", "--device=cpu",
                   "--data=" + self.path(model + ".npz"), *options]
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def train(self, model, *options, ending="safetensors"):
        """Returns the contents of the result."""
        result = self.run_tool(model, "-o", self.output + ending, *options)
        self.assertEqual(result.returncode, 0, result.stdout)
        with open(self.output + ending, "rb") as file:
            return file.read()

    def trained(self, model, *options):
        self.train(model, *options)
        return tensors(self.output + "safetensors")

    def assert_close(self, found, expected, bound):
        self.assertEqual(set(found), set(expected))
        for name, numbers in expected.items():
            self.assertEqual(len(found[name]), len(numbers), name)
            for a, b in zip(found[name], numbers):
                self.assertAlmostEqual(a, b, delta=bound, msg=name)

    STEP = ["--batch-norm", "--optimizer=sgd:lr=0.1:momentum=0.9"]

    def test_batch_norm_as_in_pytorch(self):
        expected = tensors(self.path("steps.safetensors"))
        # The whole batch, and one that is filled up with samples that count 0.
        for batch in ("6", "8"):
            with self.subTest(batch):
                self.assert_close(self.trained("steps", *self.STEP, "--batch=" + batch,
                                               "--epochs=%d" % STEPS), expected, 2e-5)
        # Without the option, no statistics change.
        frozen = self.trained("steps", "--optimizer=sgd:lr=0.1", "--batch=6")
        self.assertEqual({n for n in expected if "running" not in n}, set(frozen))

    def test_statistics_are_of_the_model(self):
        epochs = ["--epochs=%d" % STEPS, "--batch=6"]
        model = self.train("steps", *self.STEP, *epochs, ending="onnx")
        expected = self.train("steps", *self.STEP, *epochs)
        with open(self.path("steps.onnx"), "rb") as file:
            self.assertEqual(len(model), len(file.read()))
        # A step that changes nothing writes what the model has. An evaluation runs the model.
        at_rest = ["--batch-norm", "--optimizer=sgd:lr=0", "--epochs=0", "--batch=6"]
        self.folder, folder = os.path.dirname(self.output), self.folder
        os.symlink(os.path.join(folder, "steps.npz"), self.path("out.npz"))
        self.assertEqual(self.train("out", *at_rest), expected)

    def test_resumed_runs_have_the_same_bits(self):
        for model, options in [("steps", [*self.STEP, "--batch=4"]),
                               ("dropout", ["--dropout", "--optimizer=adam", "--batch=1"])]:
            with self.subTest(model):
                whole = self.train(model, *options, "--epochs=4")
                checkpoint = "--checkpoint=" + self.output + model
                self.train(model, *options, "--epochs=2", checkpoint)
                self.assertEqual(self.train(model, *options, "--epochs=4", checkpoint, "--resume"),
                                 whole)

    def test_random_weights_have_fresh_statistics(self):
        found = self.trained("steps", "--batch-norm", "--init", "--epochs=0", "--batch=6")
        for name, numbers in found.items():
            if "running" in name:
                self.assertEqual(set(numbers), {1.0 if "var" in name else 0.0}, name)

    def masks(self, *options, epochs=1):
        """For each step of 1 sample, which elements of w it changes."""
        x, t = (floats(self.path("dropout.npz"), name) for name in "xt")
        rate = 0.1
        at_rest = ["--optimizer=sgd:lr=0", "--batch=1"]
        old = self.trained("dropout", *at_rest)["w"]
        masks = []
        for n in range(1, epochs + 1):
            new = self.trained("dropout", "--dropout", "--optimizer=sgd:lr=%g" % rate, "--batch=1",
                               "--epochs=%d" % n, *options)["w"]
            masks.append([a != b for a, b in zip(old, new)])
            for keeps, a, b, xj, tj in zip(masks[-1], old, new, x, t):
                scaled = xj / (1 - RATIO) if keeps else 0.0
                expected = a - rate * 2 / len(x) * (scaled * a - tj) * scaled
                self.assertAlmostEqual(b, expected, delta=1e-6)
            old = new
        return masks

    def test_dropout(self):
        masks = self.masks(epochs=4)
        kept = sum(map(sum, masks)) / 256
        self.assertAlmostEqual(kept, 1 - RATIO, delta=0.1)
        self.assertEqual(len(set(map(tuple, masks))), 4, "masks of steps are the same")
        self.assertEqual(self.masks(), masks[:1])
        self.assertNotEqual(self.masks("--seed=2"), masks[:1])

    def test_an_evaluation_drops_nothing(self):
        x, t = (floats(self.path("dropout.npz"), name) for name in "xt")
        w = self.trained("dropout", "--optimizer=sgd:lr=0", "--batch=1")["w"]
        expected = sum((a * b - c)**2 for a, b, c in zip(x, w, t)) / len(x)
        result = self.run_tool("dropout", "--dropout", "--optimizer=sgd:lr=0", "--batch=1",
                               "--eval=" + self.path("dropout.npz"))
        self.assertIn("held out: loss %.4f" % expected, result.stdout)

    def test_errors(self):
        for model, option, expected in [
                ("dropout", "--batch-norm", "the model has no BatchNormalization"),
                ("steps", "--dropout", "--dropout: the model has no Dropout")]:
            result = self.run_tool(model, option)
            self.assertEqual((result.returncode, result.stdout), (1, "tg-train: %s\n" % expected))


if __name__ == "__main__":
    unittest.main()
