"""Compares random small networks of pictures or sequences of any size with ONNX Runtime.

    python3 tools/onnx/open_sizes.py [--tg-run=bazel-bin/tools/tg-run] [--device=native] [--count=1000] [--seed=1]
                                     [--kind=pictures|sequences] [--every=4]

Needs the Python packages onnx, onnxruntime and numpy. A network is a chain of one to four operators. It is
compiled with --max for both sizes, and its general plan runs for a size drawn at random, 1 and odd ones
among them; of --every networks one also with the size as a number, and by the interpreter with the sizes
open. Prints what differs by more than 1e-3 of the largest value, what only open sizes refuse, and counts.
What is refused with numbers too is left out.
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
    """A chain of operators on x. `operators` adds one of them."""

    def __init__(self, seed):
        self.random, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.nodes, self.constants = [], []
        self.channels = self.inputs = self.random.choice([1, 2, 3, 4, 8, 16])
        self.last = "x"
        for _ in range(self.random.randint(1, 4)):
            self.random.choice(self.operators())()
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

    def unary(self):
        self.add(self.random.choice(["Relu", "Sigmoid", "Tanh"]), self.last)

    def model(self):
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape("h", "v"))
        y = helper.make_tensor_value_info(self.last, TensorProto.FLOAT, list("abcd")[:len(self.shape(1, 1))])
        graph = helper.make_graph(self.nodes, "network", [x], [y], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        return model


class Pictures(Network):
    """Of shape [1, channels, h, v]."""

    def operators(self):
        return [self.conv, self.conv, self.depthwise, self.pool, self.pool, self.same, self.unary,
                self.pad, self.resize, self.scale, self.slice, self.excite,
                self.transposed, self.softmax, self.scores, self.concat]

    def shape(self, h, v):
        return [1, self.inputs, h, v]

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

    def same(self):
        """As many results as strides are begun, or as windows are."""
        kernel, pads = self.between(1, 4, 2), {"auto_pad": self.random.choice(["SAME_UPPER", "SAME_LOWER"])}
        strides = [self.random.choice([s for s in (1, 2, 3) if k in (1,) or s <= k]) for k in kernel]
        op = self.random.choice(["MaxPool", "AveragePool", "Conv", "ceil"])
        if op == "Conv":
            outputs = self.random.choice([1, 3, 8, 16])
            self.add(op, self.last, self.weights(outputs, self.channels, *kernel), strides=strides, **pads)
            self.channels = outputs
        elif op == "ceil":
            self.add(self.random.choice(["MaxPool", "AveragePool"]), self.last, kernel_shape=[max(k, 2) for k in kernel],
                     strides=[min(s, k, 2) for s, k in zip(strides, kernel)], ceil_mode=1)
        else:
            self.add(op, self.last, kernel_shape=kernel, strides=strides, **pads)

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


class Sequences(Network):
    """Of shape [h, v, channels]: h sequences of length v."""

    def operators(self):
        return [self.linear, self.linear, self.unary, self.norm, self.attention, self.reduce, self.running,
                self.conv, self.recurrent, self.slice, self.ends, self.pad, self.heads, self.mask, self.softmax,
                self.gather, self.flip]

    def shape(self, h, v):
        return [h, v, self.inputs]

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def linear(self):
        outputs = self.random.choice([1, 3, 8, 16, 32])
        self.add("MatMul", self.last, self.weights(self.channels, outputs))
        self.add("Add", self.last, self.weights(outputs))
        self.channels = outputs

    def norm(self):
        self.add("LayerNormalization", self.last, self.weights(self.channels), self.weights(self.channels))

    def attention(self):
        x = self.last
        self.add("MatMul", x, self.weights(self.channels, self.channels))
        keys = self.last
        self.add("Transpose", keys, perm=[0, 2, 1])
        self.add("MatMul", x, self.last)
        self.add("Softmax", self.last, axis=-1)
        self.add("MatMul", self.last, x)

    def reduce(self):
        x = self.last
        op, axis = self.random.choice(["ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2"]), self.random.randint(0, 1)
        self.add(op, x, axes=[axis], keepdims=1)
        if self.random.random() < 0.6:
            self.add(self.random.choice(["Add", "Sub", "Mul"]), x, self.last)

    def running(self):
        self.add("CumSum", self.last, self.constant(np.array(self.random.randint(0, 1), np.int64)),
                 reverse=self.random.randint(0, 1), exclusive=self.random.randint(0, 1))

    def conv(self):
        outputs, width = self.random.choice([1, 3, 8, 16]), self.random.randint(1, 7)
        self.add("Transpose", self.last, perm=[0, 2, 1])
        self.add("Conv", self.last, self.weights(outputs, self.channels, width), pads=self.between(0, 3, 2),
                 strides=self.between(1, 3, 1), dilations=self.between(1, 2, 1))
        self.add("Transpose", self.last, perm=[0, 2, 1])
        self.channels = outputs

    def recurrent(self):
        """One direction, the batch first or not."""
        op, hidden = self.random.choice(["LSTM", "GRU", "RNN"]), self.random.choice([1, 4, 8, 16])
        gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[op] * hidden
        swaps = self.random.randint(0, 1)
        if swaps:
            self.add("Transpose", self.last, perm=[1, 0, 2])
        self.add(op, self.last, self.weights(1, gates, self.channels), self.weights(1, gates, hidden),
                 hidden_size=hidden)
        self.add("Squeeze", self.last, self.ints(1))
        if swaps:
            self.add("Transpose", self.last, perm=[1, 0, 2])
        self.channels = hidden

    def slice(self):
        begin, step = self.random.choice([0, 1, 2]), self.random.choice([1, 2, 3])
        self.add("Slice", self.last, self.ints(begin), self.ints(2**31), self.ints(1), self.ints(step))

    def ends(self):
        """The last element before all, as by an exporter's roll."""
        x = self.last
        self.add("Slice", x, self.ints(-1), self.ints(2**31), self.ints(1))
        self.add("Concat", self.last, x, axis=1)

    def pad(self):
        mode = self.random.choice(["constant", "edge"])
        self.add("Pad", self.last, self.ints(0, self.random.randint(0, 3), 0, 0, self.random.randint(0, 3), 0),
                 mode=mode)

    def heads(self):
        if self.channels % 2 != 0:
            return
        x = self.last
        self.add("Reshape", x, self.ints(0, 0, 2, self.channels // 2))
        self.add("Transpose", self.last, perm=[0, 2, 1, 3])
        self.add("Softmax", self.last, axis=self.random.choice([1, 2, 3]))
        self.add("Transpose", self.last, perm=[0, 2, 1, 3])
        self.add("Reshape", self.last, self.ints(0, 0, self.channels))

    def mask(self):
        """Elements from some place on are 0, by a range of the length."""
        x = self.last
        self.add("Shape", x, start=1, end=2)
        self.add("Squeeze", self.last, self.ints(0))
        zero, one = (self.constant(np.array(n, np.int64)) for n in (0, 1))
        self.add("Range", zero, self.last, one)
        self.add("Less", self.last, self.constant(np.array(self.random.randint(1, LARGEST), np.int64)))
        self.add("Unsqueeze", self.last, self.ints(1))
        self.add("Where", self.last, x, self.constant(np.array(0, np.float32)))

    def softmax(self):
        self.add("Softmax", self.last, axis=self.random.randint(0, 2))

    def gather(self):
        """Rows by their greatest channel."""
        count = self.channels
        self.add("ArgMax", self.last, axis=2, keepdims=0)
        self.channels = self.random.choice([1, 4, 16])
        self.add("Gather", self.weights(count, self.channels), self.last, axis=0)

    def flip(self):
        self.add("Slice", self.last, self.ints(-1), self.ints(-2**31), self.ints(self.random.randint(0, 1)),
                 self.ints(-1))


KINDS = {"pictures": Pictures, "sequences": Sequences}


def run(options, folder, output, *extra, device=None):
    """The output, or the error's text."""
    result = folder / "y.npy"
    result.unlink(missing_ok=True)
    done = subprocess.run(
        [options.tg_run, f"--device={device or options.device}", "--cache=false", folder / "m.onnx", "--input",
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
    parser.add_argument("--kind", choices=KINDS, default="pictures")
    parser.add_argument("--every", type=int, default=4)
    options = parser.parse_args()
    onnxruntime.set_default_logger_severity(4)
    equal = wrong = left_out = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for seed in range(options.seed, options.seed + options.count):
            network = KINDS[options.kind](seed)
            x = network.numbers.uniform(-1, 1, network.shape(*network.size)).astype(np.float32)
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
            fixed = interpreted = expected
            if bad or seed % options.every == 0:
                fixed = run(options, folder, network.last)
                interpreted = run(options, folder, network.last, *sizes[:4], device="reference")
            if isinstance(fixed, str) or expected.size == 0:
                left_out += 1
                continue
            if bad or differs(fixed, expected) or differs(interpreted, expected):
                wrong += 1
                print(f"seed {seed}: {[n.op_type for n in network.nodes]} of {network.size}:",
                      general if isinstance(general, str) else "values differ", flush=True)
            else:
                equal += 1
    print(f"{equal} equal, {wrong} not, {left_out} left out")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
