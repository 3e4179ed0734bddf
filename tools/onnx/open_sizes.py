"""Compares random small networks whose pictures have any size with ONNX Runtime.

    python3 tools/onnx/open_sizes.py [--tg-run=bazel-bin/tools/tg-run] [--device=native] [--count=1000] [--seed=1]

Needs the Python packages onnx, onnxruntime and numpy. A network is a chain of one to four operators. It is
compiled with --max for both sizes, and its general plan runs for a size drawn at random, 1 and odd ones
among them; every fourth network also with the size as a number. Prints what differs by more than 1e-3 of
the largest value, what only open sizes refuse, and counts. What is refused with numbers too is left out.
"""

import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

LARGEST = 40


class Network:
    """A chain of operators on x, of shape [1, channels, h, v]."""

    def __init__(self, seed):
        self.random, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.nodes, self.constants = [], []
        self.channels = self.inputs = self.random.choice([1, 2, 3, 4, 8, 16])
        self.last = "x"
        for _ in range(self.random.randint(1, 4)):
            self.random.choice([self.conv, self.conv, self.depthwise, self.pool, self.pool, self.unary,
                                self.pad, self.resize, self.scale, self.slice, self.excite,
                                self.transposed, self.softmax, self.scores, self.concat])()
        self.size = [self.random.randint(1, LARGEST), self.random.randint(1, LARGEST)]

    def between(self, low, high, count):
        return [self.random.randint(low, high) for _ in range(count)]

    def constant(self, values):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def weights(self, *shape):
        scale = np.sqrt(np.prod(shape[1:]))
        return self.constant((self.numbers.uniform(-1, 1, shape) / scale).astype(np.float32))

    def add(self, op, *inputs, **attributes):
        self.last = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [self.last], **attributes))

    def conv(self, depthwise=False):
        kernel = self.between(1, 5, 2)
        outputs = self.channels if depthwise else self.random.choice([1, 3, 8, 16, 32])
        weights = self.weights(outputs, 1 if depthwise else self.channels, *kernel)
        self.add("Conv", self.last, weights, pads=self.between(0, 3, 4), strides=self.between(1, 3, 2),
                 dilations=self.between(1, 2, 2), group=self.channels if depthwise else 1)
        self.channels = outputs

    def depthwise(self):
        self.conv(depthwise=True)

    def pool(self):
        self.add(self.random.choice(["MaxPool", "AveragePool"]), self.last, pads=self.between(0, 1, 4),
                 kernel_shape=self.between(2, 3, 2), strides=self.between(1, 2, 2))

    def unary(self):
        self.add(self.random.choice(["Relu", "Sigmoid", "Tanh"]), self.last)

    def pad(self):
        pads = [0, 0] + self.between(0, 2, 2) + [0, 0] + self.between(0, 2, 2)
        self.add("Pad", self.last, self.constant(np.array(pads, np.int64)))

    def resize(self):
        scales = np.array([1, 1] + self.between(1, 3, 2), np.float32)
        self.add("Resize", self.last, "", self.constant(scales), mode="nearest", nearest_mode="floor",
                 coordinate_transformation_mode="asymmetric")

    def scale(self):
        self.add("Mul", self.last, self.weights(1, self.channels, 1, 1))

    def slice(self):
        ends = [np.array([n], np.int64) for n in (1, 2**31, self.random.choice([2, 3]))]
        self.add("Slice", self.last, *(self.constant(n) for n in ends))

    def excite(self):
        x = self.last
        self.add("GlobalAveragePool", x)
        self.add("Mul", x, self.last)

    def transposed(self):
        outputs = self.random.choice([1, 3, 8])
        self.add("ConvTranspose", self.last, self.weights(self.channels, outputs, 2, 2), strides=[2, 2])
        self.channels = outputs

    def softmax(self):
        self.add("Softmax", self.last, axis=self.random.choice([1, 3]))

    def scores(self):
        x = self.last
        self.add("Transpose", x, perm=[0, 1, 3, 2])
        self.add("MatMul", x, self.last)
        self.add("Sigmoid", self.last)

    def concat(self):
        self.add("Concat", self.last, self.last, axis=1)
        self.channels *= 2

    def model(self):
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, self.inputs, "h", "v"])
        y = helper.make_tensor_value_info(self.last, TensorProto.FLOAT, [1, "a", "b", "c"])
        graph = helper.make_graph(self.nodes, "network", [x], [y], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        return model


def run(options, folder, output, *extra):
    """The output, or the error's text."""
    result = folder / "y.npy"
    result.unlink(missing_ok=True)
    done = subprocess.run(
        [options.tg_run, f"--device={options.device}", "--cache=false", folder / "m.onnx", "--input",
         f"x={folder}/x.npy", "--output", f"{output}={result}", *extra], capture_output=True, text=True)
    return np.load(result) if done.returncode == 0 else done.stderr.strip()[-200:]


def differs(got, expected):
    if isinstance(got, str) or got.shape != expected.shape or expected.size == 0:
        return True
    return bool(np.max(np.abs(got - expected)) > 1e-3 * max(1.0, np.max(np.abs(expected))))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tg-run", default="bazel-bin/tools/tg-run")
    parser.add_argument("--device", default="native")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    onnxruntime.set_default_logger_severity(4)
    equal = wrong = left_out = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for seed in range(options.seed, options.seed + options.count):
            network = Network(seed)
            x = network.numbers.uniform(-1, 1, (1, network.inputs, *network.size)).astype(np.float32)
            np.save(folder / "x.npy", x)
            onnx.save(network.model(), folder / "m.onnx")
            try:
                session = onnxruntime.InferenceSession(str(folder / "m.onnx"))
                expected = session.run(None, {"x": x})[0]
            except Exception:  # pylint: disable=broad-except
                left_out += 1
                continue
            sizes = ["--max", f"h={LARGEST}", "--max", f"v={LARGEST}", "--specialize=false"]
            general = run(options, folder, network.last, *sizes)
            bad = differs(general, expected)
            fixed = run(options, folder, network.last) if bad or seed % 4 == 0 else expected
            if isinstance(fixed, str) or expected.size == 0:
                left_out += 1
                continue
            if bad or differs(fixed, expected):
                wrong += 1
                print(f"seed {seed}: {[n.op_type for n in network.nodes]} of {network.size}:",
                      general if isinstance(general, str) else "values differ", flush=True)
            else:
                equal += 1
    print(f"{equal} equal, {wrong} not, {left_out} left out")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
