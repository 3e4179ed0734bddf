"""Writes a network like those of driver assistance as an ONNX model with random weights.

    python3 tools/onnx/driving_network.py OUT.onnx [--gru-operator] [--seed=0]

Two pictures of 12 channels, 128 x 256, go through an EfficientNet-B2 with ELU; a GRU of 512 keeps a
state between frames; perceptrons give the plan, lanes, leads and the pose. Needs the Python packages
onnx and numpy. --gru-operator writes the recurrent step as one node of operator GRU, otherwise it is
written out in products and activations.
"""

import argparse
import math
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# (expansion, channels, layers, stride, kernel), with the width of 1.1 and the depth of 1.2 of B2.
STAGES = [(1, 16, 2, 1, 3), (6, 24, 3, 2, 3), (6, 48, 3, 2, 5), (6, 88, 4, 2, 3), (6, 120, 4, 1, 5),
          (6, 208, 5, 2, 5), (6, 352, 2, 1, 3)]
STEM, LAST = 32, 1408
STATE = 512
HEADS = {"plan": 4955, "lanes": 536, "leads": 102, "pose": 12, "desire": 32}


class Network:
    """Collects nodes and weights; each method adds one layer and returns its result's name."""

    def __init__(self, seed):
        self.nodes, self.weights = [], []
        self.random = np.random.default_rng(seed)

    def weight(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, op, inputs, **attributes):
        name = f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def normal(self, shape, fan_in, gain=1.0):
        return (self.random.standard_normal(shape) * gain / math.sqrt(fan_in)).astype(np.float32)

    def conv(self, x, inputs, outputs, kernel, stride=1, groups=1):
        shape = (outputs, inputs // groups, kernel, kernel)
        w = self.weight(self.normal(shape, inputs // groups * kernel * kernel))
        b = self.weight(self.normal((outputs,), 100))
        before = (kernel - stride) // 2
        pads = [before, before, kernel - stride - before, kernel - stride - before]
        if kernel == 1:
            pads = [0, 0, 0, 0]
        return self.node("Conv", [x, w, b], kernel_shape=[kernel, kernel], strides=[stride, stride],
                         pads=pads, group=groups)

    def elu(self, x):
        return self.node("Elu", [x], alpha=1.0)

    def gemm(self, x, inputs, outputs, gain=1.0):
        w = self.weight(self.normal((outputs, inputs), inputs, gain))
        b = self.weight(self.normal((outputs,), 100))
        return self.node("Gemm", [x, w, b], transB=1)

    def block(self, x, inputs, outputs, expansion, kernel, stride):
        """An inverted bottleneck with squeeze and excitation."""
        inner = inputs * expansion
        y = self.elu(self.conv(x, inputs, inner, 1)) if expansion > 1 else x
        y = self.elu(self.conv(y, inner, inner, kernel, stride, inner))
        squeezed = max(1, inputs // 4)
        s = self.node("GlobalAveragePool", [y])
        s = self.elu(self.conv(s, inner, squeezed, 1))
        s = self.node("Sigmoid", [self.conv(s, squeezed, inner, 1)])
        y = self.conv(self.node("Mul", [y, s]), inner, outputs, 1)
        return self.node("Add", [y, x]) if stride == 1 and inputs == outputs else y

    def backbone(self, x, channels):
        x = self.elu(self.conv(x, channels, STEM, 3, 2))
        channels = STEM
        for expansion, outputs, layers, stride, kernel in STAGES:
            for layer in range(layers):
                x = self.block(x, channels, outputs, expansion, kernel, stride if layer == 0 else 1)
                channels = outputs
        return self.elu(self.conv(x, channels, LAST, 1))

    def gru(self, x, inputs, state):
        """A step of a GRU: products for the three gates, then their activations."""
        def part(value, i):
            ends = [self.weight(np.array([n], np.int64)) for n in (i * STATE, (i + 1) * STATE, 1)]
            return self.node("Slice", [value, ends[0], ends[1], ends[2]])

        of_input, of_state = self.gemm(x, inputs, 3 * STATE), self.gemm(state, STATE, 3 * STATE)
        update = self.node("Sigmoid", [self.node("Add", [part(of_input, 0), part(of_state, 0)])])
        reset = self.node("Sigmoid", [self.node("Add", [part(of_input, 1), part(of_state, 1)])])
        scaled = self.node("Mul", [reset, part(of_state, 2)])
        hidden = self.node("Tanh", [self.node("Add", [part(of_input, 2), scaled])])
        change = self.node("Mul", [update, self.node("Sub", [state, hidden])])
        return self.node("Add", [hidden, change])

    def gru_operator(self, x, inputs, state):
        w = self.weight(self.normal((1, 3 * STATE, inputs), inputs))
        r = self.weight(self.normal((1, 3 * STATE, STATE), STATE))
        b = self.weight(self.normal((1, 6 * STATE), 100))
        zero = self.weight(np.array([0], np.int64))
        name = f"gru{len(self.nodes)}"
        sequence, before = (self.node("Unsqueeze", [v, zero]) for v in (x, state))
        self.nodes.append(helper.make_node("GRU", [sequence, w, r, b, "", before], ["", name], name=name,
                                           hidden_size=STATE, linear_before_reset=1))
        return self.node("Squeeze", [name, zero])


def build(seed=0, gru_operator=False):
    net = Network(seed)
    pictures = [("input_imgs", (1, 12, 128, 256)), ("big_input_imgs", (1, 12, 128, 256))]
    others = [("desire", (1, 8)), ("traffic_convention", (1, 2)), ("initial_state", (1, STATE))]
    x = net.backbone(net.node("Concat", ["input_imgs", "big_input_imgs"], axis=1), 24)
    x = net.elu(net.conv(x, LAST, 32, 1))
    x = net.node("Flatten", [x], axis=1)
    x = net.elu(net.gemm(x, 32 * 4 * 8, 1024))
    x = net.node("Concat", [x, "desire", "traffic_convention"], axis=1)
    step = net.gru_operator if gru_operator else net.gru
    state = step(x, 1024 + 8 + 2, "initial_state")
    results = []
    for size in HEADS.values():
        y = net.elu(net.gemm(state, STATE, 256))
        results.append(net.gemm(net.elu(net.gemm(y, 256, 256)), 256, size))
    outputs = net.node("Concat", results + [state], axis=1)
    total = sum(HEADS.values()) + STATE
    graph = helper.make_graph(
        net.nodes, "driving",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in pictures + others],
        [helper.make_tensor_value_info(outputs, TensorProto.FLOAT, (1, total))], net.weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--gru-operator", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    model = build(args.seed, args.gru_operator)
    onnx.save(model, args.out)
    count = sum(int(np.prod(t.dims)) for t in model.graph.initializer)
    print(f"{args.out}: {len(model.graph.node)} nodes, {count / 1e6:.1f} M parameters")
    return 0


if __name__ == "__main__":
    sys.exit(main())
