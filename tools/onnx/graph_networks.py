"""Compares tg with ONNX Runtime on networks of the same shapes as those of testdata/graphs.

    python3 tools/onnx/graph_networks.py FOLDER [--only=NAME] [--make-only] [--json=FILE --machine="..."]

Writes resnet50.onnx, bert.onnx, vit.onnx, effnet_b2.onnx with random weights, and the graphs, into FOLDER unless
they are there. The sizes of all weights and inputs are compared with those
of the graph, and tg's values with ONNX Runtime's; then ONNX Runtime, tg-run on the network and tg-run
on the graph run by turns. Needs the Python packages numpy, onnx and onnxruntime.
"""

import argparse
import collections
import datetime
import json
import lzma
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

TREE = pathlib.Path(__file__).resolve().parent.parent.parent
KINDS = {"float": TensorProto.FLOAT, "int": TensorProto.INT32}


class Network:
    """Collects nodes and weights; each method adds a layer and returns the name of its result."""

    def __init__(self, seed=0):
        self.nodes, self.weights, self.inputs = [], [], []
        self.random = np.random.default_rng(seed)
        self.parameters = collections.Counter()  # (type, elements), as the graphs count them

    def input(self, name, kind, shape):
        self.inputs.append(helper.make_tensor_value_info(name, KINDS[kind], shape))
        self.parameters[kind, math.prod(shape)] += 1
        return name

    def constant(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def weight(self, shape, scale, mean=0.0):
        self.parameters["float", math.prod(shape)] += 1
        values = mean + scale * self.random.standard_normal(shape, dtype=np.float32)
        return self.constant(values.astype(np.float32))

    def node(self, op, *inputs, **attributes):
        name = f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def conv(self, x, inputs, outputs, kernel, stride=1, pads=None, groups=1, bias=False):
        fan_in = inputs // groups * kernel * kernel
        operands = [x, self.weight((outputs, inputs // groups, kernel, kernel), fan_in**-0.5)]
        if bias:
            operands.append(self.weight((outputs,), 0.1))
        return self.node("Conv", *operands, kernel_shape=[kernel] * 2, strides=[stride] * 2,
                         pads=pads or [kernel // 2] * 4, group=groups)

    def batch_norm(self, x, channels, scale=1.0):
        gamma, beta = self.weight((channels,), 0.1 * scale, scale), self.weight((channels,), 0.1)
        self.parameters["float", channels] += 2
        mean = self.constant(0.1 * self.random.standard_normal(channels, dtype=np.float32))
        variance = self.constant(self.random.uniform(0.7, 1.4, channels).astype(np.float32))
        return self.node("BatchNormalization", x, gamma, beta, mean, variance, epsilon=1e-5)

    def linear(self, x, inputs, outputs):
        product = self.node("MatMul", x, self.weight((inputs, outputs), inputs**-0.5))
        return self.node("Add", product, self.weight((outputs,), 0.1))

    def layer_norm(self, x, width, epsilon):
        return self.node("LayerNormalization", x, self.weight((width,), 0.1, 1.0),
                         self.weight((width,), 0.1), epsilon=epsilon)

    def attention(self, x, width, heads, mask=None):
        split = self.constant(np.array([1, -1, heads, width // heads], np.int64))

        def project(order):
            linear = self.node("Reshape", self.linear(x, width, width), split)
            return self.node("Transpose", linear, perm=order)

        scores = self.node("MatMul", project([0, 2, 1, 3]), project([0, 2, 3, 1]))
        scores = self.node("Div", scores, self.constant(np.float32((width // heads)**0.5)))
        if mask:
            scores = self.node("Add", scores, mask)
        weighted = self.node("MatMul", self.node("Softmax", scores, axis=-1), project([0, 2, 1, 3]))
        joined = self.node("Transpose", weighted, perm=[0, 2, 1, 3])
        joined = self.node("Reshape", joined, self.constant(np.array([1, -1, width], np.int64)))
        return self.linear(joined, width, width)

    def feed_forward(self, x, width, inner, approximate):
        hidden = self.node("Gelu", self.linear(x, width, inner), approximate=approximate)
        return self.linear(hidden, inner, width)

    def save(self, result, shape, path):
        output = helper.make_tensor_value_info(result, TensorProto.FLOAT, shape)
        graph = helper.make_graph(self.nodes, path.stem, self.inputs, [output], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
        model.ir_version = 9
        onnx.checker.check_model(model)
        onnx.save(model, path)


def resnet50(path):
    net = Network()
    x = net.conv(net.input("x", "float", (1, 3, 224, 224)), 3, 64, 7, 2)
    x = net.node("Relu", net.batch_norm(x, 64))
    x = net.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    inputs = 64
    for width, layers, first_stride in (64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2):
        for layer in range(layers):
            stride = first_stride if layer == 0 else 1
            y = net.node("Relu", net.batch_norm(net.conv(x, inputs, width, 1), width))
            y = net.node("Relu", net.batch_norm(net.conv(y, width, width, 3, stride), width))
            y = net.batch_norm(net.conv(y, width, 4 * width, 1), 4 * width, 0.3)
            if layer == 0:
                x = net.batch_norm(net.conv(x, inputs, 4 * width, 1, stride), 4 * width)
            x, inputs = net.node("Relu", net.node("Add", y, x)), 4 * width
    x = net.node("Flatten", net.node("GlobalAveragePool", x))
    net.save(net.linear(x, inputs, 1000), (1, 1000), path)
    return net


def effnet_b2(path):
    net = Network()

    def swish(x):
        return net.node("Mul", x, net.node("Sigmoid", x))

    def same(kernel, stride):
        before = (kernel - 1) // 2 - (stride - 1)
        return [before, before, (kernel - 1) // 2, (kernel - 1) // 2]

    x = net.conv(net.input("x", "float", (1, 3, 260, 260)), 3, 32, 3, 2, same(3, 2))
    x, inputs = swish(net.batch_norm(x, 32)), 32
    for expand, outputs, layers, first_stride, kernel in (
            (1, 16, 2, 1, 3), (6, 24, 3, 2, 3), (6, 48, 3, 2, 5), (6, 88, 4, 2, 3), (6, 120, 4, 1, 5),
            (6, 208, 5, 2, 5), (6, 352, 2, 1, 3)):
        for layer in range(layers):
            stride, width, y = first_stride if layer == 0 else 1, expand * inputs, x
            if expand > 1:
                y = swish(net.batch_norm(net.conv(y, inputs, width, 1), width))
            y = net.conv(y, width, width, kernel, stride, same(kernel, stride), groups=width)
            y = swish(net.batch_norm(y, width))
            squeezed = max(1, inputs // 4)
            s = net.conv(net.node("GlobalAveragePool", y), width, squeezed, 1, bias=True)
            s = net.conv(swish(s), squeezed, width, 1, bias=True)
            y = net.node("Mul", y, net.node("Sigmoid", s))
            y = net.batch_norm(net.conv(y, width, outputs, 1), outputs)
            x = net.node("Add", y, x) if stride == 1 and inputs == outputs else y
            inputs = outputs
    x = swish(net.batch_norm(net.conv(x, inputs, 1408, 1), 1408))
    x = net.node("Flatten", net.node("GlobalAveragePool", x))
    net.save(net.linear(x, 1408, 1000), (1, 1000), path)
    return net


def vit(path):
    net, width = Network(), 192
    x = net.conv(net.input("x", "float", (1, 3, 224, 224)), 3, width, 16, 16, [0] * 4, bias=True)
    x = net.node("Reshape", x, net.constant(np.array([1, width, -1], np.int64)))
    x = net.node("Concat", net.weight((1, 1, width), 1.0), net.node("Transpose", x, perm=[0, 2, 1]), axis=1)
    x = net.node("Add", x, net.weight((1, 197, width), 0.5))
    for _ in range(12):
        x = net.node("Add", x, net.attention(net.layer_norm(x, width, 1e-5), width, 3))
        x = net.node("Add", x, net.feed_forward(net.layer_norm(x, width, 1e-5), width, 4 * width, "tanh"))
    x = net.node("Gather", net.layer_norm(x, width, 1e-5), net.constant(np.array(0, np.int64)), axis=1)
    net.save(net.linear(x, width, 1000), (1, 1000), path)
    return net


def bert(path):
    net, width, tokens, words = Network(), 768, 128, 30522
    ids = net.input("ids", "int", (1, tokens))
    kinds = net.input("kinds", "int", (1, tokens))
    mask = net.input("mask", "float", (1, tokens))
    mask = net.node("Unsqueeze", mask, net.constant(np.array([1, 2], np.int64)))
    mask = net.node("Mul", net.node("Sub", net.constant(np.float32(1)), mask), net.constant(np.float32(-1e4)))
    x = net.node("Gather", net.weight((words, width), 0.5), ids)
    places = net.constant(np.arange(tokens, dtype=np.int64)[None])
    x = net.node("Add", x, net.node("Gather", net.weight((512, width), 0.5), places))
    x = net.node("Add", x, net.node("Gather", net.weight((2, width), 0.5), kinds))
    x = net.layer_norm(x, width, 1e-12)
    for _ in range(12):
        x = net.layer_norm(net.node("Add", x, net.attention(x, width, 12, mask)), width, 1e-12)
        y = net.feed_forward(x, width, 4 * width, "none")
        x = net.layer_norm(net.node("Add", x, y), width, 1e-12)
    net.save(x, (1, tokens, width), path)
    return net


def random_inputs(path):
    rng = np.random.default_rng(1)
    inputs = {}
    for value in onnx.load(path, load_external_data=False).graph.input:
        shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
        if value.name == "mask":
            inputs[value.name] = np.r_[np.ones(100), np.zeros(shape[1] - 100)].astype(np.float32)[None]
        elif value.type.tensor_type.elem_type == TensorProto.INT32:
            inputs[value.name] = rng.integers(0, 2 if value.name == "kinds" else 30522, shape, np.int32)
        else:
            inputs[value.name] = rng.standard_normal(shape, dtype=np.float32)
    return inputs


def make(name, folder):
    """Writes the network and the graph; the weights and inputs of both must have the same sizes."""
    graph = folder / f"{name}.repr"
    graph.write_bytes(lzma.decompress((TREE / f"testdata/graphs/{name}.repr.xz").read_bytes()))
    buffers = re.findall(r"Ops\.BUFFER, dtypes\.(\w+), arg=(\d+)", graph.read_text())
    expected = collections.Counter((kind, int(size)) for kind, size in buffers)
    net = MAKERS[name](folder / f"{name}.onnx")
    if net.parameters != expected:
        sys.exit(f"{name}: more than in the graph {net.parameters - expected}, less {expected - net.parameters}")


class Contest:
    """One network, ready to run in ONNX Runtime and in tg-run."""

    def __init__(self, args, name):
        self.args, self.name, self.folder = args, name, args.folder
        self.path = self.folder / f"{name}.onnx"
        self.inputs = random_inputs(self.path)
        self.output = onnx.load(self.path, load_external_data=False).graph.output[0].name
        for key, value in self.inputs.items():
            np.save(self.folder / f"{name}.{key}.npy", value)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = args.threads
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(str(self.path), options, providers=["CPUExecutionProvider"])

    def run_tg(self, path, *options):
        command = [self.args.tg_run, str(path), f"--device={self.args.device}", *options]
        if path.suffix == ".onnx":
            command += [f"--input={k}={self.folder / f'{self.name}.{k}.npy'}" for k in self.inputs]
        else:
            command.append("--random-inputs=1")
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def difference(self):
        """The largest difference relative to the largest value; builds tg's kernels."""
        result = self.folder / f"{self.name}.out.npy"
        self.run_tg(self.path, f"--output={self.output}={result}")
        actual = np.load(result).astype(np.float64)
        expected = self.session.run(None, self.inputs)[0].astype(np.float64)
        if actual.shape != expected.shape or not np.isfinite(expected).all():
            sys.exit(f"{self.name}: shapes {actual.shape} and {expected.shape}, or values that are not finite")
        return float(np.abs(actual - expected).max() / np.abs(expected).max())

    def time_tg(self, path):
        """The median and the least time of a turn's runs, in milliseconds."""
        text = self.run_tg(path, f"--repeat={self.args.repeat}")
        found = dict((kind, float(number) * {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}[unit])
                     for kind, number, unit in re.findall(r"(least|median) ([0-9.]+) (ns|us|ms|s)\b", text))
        return found["median"], found["least"]

    def time_onnxruntime(self):
        times = []
        for _ in range(self.args.repeat):
            start = time.perf_counter()
            self.session.run(None, self.inputs)
            times.append(1e3 * (time.perf_counter() - start))
        time.sleep(0.1)  # its threads wait actively for a moment
        return statistics.median(times), min(times)

    def measure(self):
        """Milliseconds of a run: medians of the turns' medians, and of the turns' ratios."""
        row = {"work": self.name, "difference": self.difference()}
        graph, turns = self.folder / f"{self.name}.repr", []
        self.run_tg(graph)
        for _ in range(self.args.turns):
            turns.append((self.time_onnxruntime(), self.time_tg(self.path), self.time_tg(graph)))
        peer, network, of_graph = zip(*turns)
        for key, times in ("onnxruntime", peer), ("tg", network), ("tg_graph", of_graph):
            row[key] = round(statistics.median(t[0] for t in times), 3)
            ratio = statistics.median(p[0] / t[0] for p, t in zip(peer, times))
            least = min(t[1] for t in peer) / min(t[1] for t in times)
            if key != "onnxruntime":
                row[f"ratio_{key}"], row[f"of_least_{key}"] = round(ratio, 3), round(least, 3)
        row["load"] = os.getloadavg()[0]
        return row


def write_table(args, rows):
    table = {
        "order": 17, "title": "Networks of the graphs",
        "note": "[graph_networks.py](../tools/onnx/graph_networks.py): ONNX networks with the shapes of "
                f"testdata/graphs, by turns, medians of {args.turns * args.repeat} runs with launches; then the "
                "largest difference relative to the largest value, and the time of the graph itself, whose "
                "weights are inputs.",
        "unit": "ms", "peer": f"ONNX Runtime {onnxruntime.__version__}, {args.threads} threads",
        "measured": datetime.date.today().isoformat(), "machine": args.machine,
        "rows": [{"work": f"{r['work']}: difference {r['difference']:.1e}, graph {r['tg_graph']:.1f} ms",
                  "tg": round(r["tg"], 2), "peer": round(r["onnxruntime"], 2)} for r in rows],
    }
    pathlib.Path(args.json).write_text(json.dumps(table, indent=1) + "\n")


MAKERS = {"resnet50": resnet50, "bert": bert, "vit": vit, "effnet_b2": effnet_b2}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", choices=sorted(MAKERS), action="append")
    parser.add_argument("--make-only", action="store_true")
    parser.add_argument("--tg-run", default="bazel-bin/tools/tg-run")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--repeat", type=int, default=10, help="runs of a turn")
    parser.add_argument("--machine", default="")
    parser.add_argument("--json", default="", help="the table for docs/benchmarks")
    args = parser.parse_args()
    names = args.only or list(MAKERS)
    args.folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        if not (args.folder / f"{name}.onnx").exists():
            make(name, args.folder)
    if args.make_only:
        return
    rows = []
    for name in names:
        row = Contest(args, name).measure()
        rows.append(row)
        print(json.dumps(row), flush=True)
    if args.json:
        write_table(args, rows)


if __name__ == "__main__":
    main()
