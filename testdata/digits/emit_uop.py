#!/usr/bin/env python3
"""Writes the digit network of train.py as tensor graphs in tg's text.

  digits.uop          one picture,       x f32[1, 1, 8, 8]   -> logits f32[1, 10]
  digits_heldout.uop  all held-out ones, x f32[360, 1, 8, 8] -> logits f32[360, 10]
  digits_train.uop    a batch to train,  x f32[64, 1, 8, 8]  -> logits f32[64, 10]

A convolution is made of movement ops, a multiplication and a sum. Its sliding windows come from a
repetition: where a line of i elements repeats without end, element i*a + (a + b) is line[a + b], so
rows of i + 1 elements start one element further each time, and row a holds window offset a. See
Net.windows.

Lines come out in the printer's own order, so printing a file that was read gives it back.

Usage: emit_uop.py [--out=DIR] [--check]     (--check: compare with the files instead of writing)
"""

import argparse
import math
import pathlib
import sys

WEIGHTS = "digits.safetensors"
FILES = {"digits.uop": ("digits", 1), "digits_heldout.uop": ("digits_heldout", 360),
         "digits_train.uop": ("digits_train", 64)}
KERNEL = 3  # every convolution's window is KERNEL x KERNEL


class Value:
    """A node that has been emitted: its name in the text and its shape."""

    def __init__(self, name, shape):
        self.name, self.shape = name, tuple(shape)


def pairs(values):
    return "[" + ", ".join(f"({a}, {b})" for a, b in values) + "]"


class Net:
    """Builds a graph line by line. Each op returns a Value; `name` makes it a named one."""

    def __init__(self):
        self.buffers, self.lines, self.zero, self.anonymous = [], [], None, 0

    def emit(self, op, sources, attributes, shape, name=None):
        if name is None:
            name = str(self.anonymous)
            self.anonymous += 1
        operands = ", ".join("%" + s.name for s in sources)
        text = " ".join(part for part in (op, operands, attributes) if part)
        self.lines.append(f"  %{name} = {text} : f32")
        return Value(name, shape)

    def declare(self, symbol, shape, role):
        self.buffers.append(f"buffer @{symbol} : f32{list(shape)} {role}")

    def input(self, symbol, shape):
        self.declare(symbol, shape, "input")
        return self.emit(f"buffer @{symbol}", [], "", shape, symbol)

    def param(self, symbol, shape):
        self.declare(symbol, shape, f'param = file("{WEIGHTS}", "{symbol}")')
        return self.emit(f"buffer @{symbol}", [], "", shape, symbol)

    def constant(self, value, name):
        return self.emit(f"const {float(value)!r}", [], "", (), name)

    def reshape(self, x, shape, name=None):
        assert math.prod(shape) == math.prod(x.shape)
        if x.shape == tuple(shape):
            return x
        return self.emit("reshape", [x], f"{{shape = {list(shape)}}}", shape, name)

    def expand(self, x, shape):
        assert all(a in (1, b) for a, b in zip(x.shape, shape, strict=True))
        if x.shape == tuple(shape):
            return x
        return self.emit("expand", [x], f"{{shape = {list(shape)}}}", shape)

    def permute(self, x, order):
        return self.emit("permute", [x], f"{{axes = {list(order)}}}", [x.shape[i] for i in order])

    def pad(self, x, amounts):
        shape = [before + size + after for size, (before, after) in zip(x.shape, amounts)]
        return self.emit("pad", [x], f"{{widths = {pairs(amounts)}}}", shape)

    def shrink(self, x, shape, name=None):
        """Keeps the first shape[i] elements of each axis i."""
        assert all(a >= b for a, b in zip(x.shape, shape, strict=True))
        return self.emit("shrink", [x], f"{{ranges = {pairs((0, s) for s in shape)}}}", shape, name)

    def reduce(self, x, op, axes, name=None):
        shape = [1 if i in axes else size for i, size in enumerate(x.shape)]
        return self.emit("reduce_axis", [x], f"{{op = {op}, axes = {list(axes)}}}", shape, name)

    def binary(self, op, a, b, name=None):
        """Elementwise; b has a's shape or, as a scalar, none."""
        assert b.shape in (a.shape, ())
        return self.emit(op, [a, b], "", a.shape, name)

    def relu(self, x, name):
        self.zero = self.zero or self.constant(0.0, "zero")
        return self.binary("max", x, self.zero, name)

    def windows(self, x, name):
        """All KERNEL x KERNEL windows of [n, c, i, i], as [n, c, KERNEL, o, KERNEL, o]:
        element (.., a, p, b, q) is x[.., a + p, b + q]; o = i - KERNEL + 1."""
        n, c, i, _ = x.shape
        k, o = KERNEL, i - KERNEL + 1
        repeats = -(-k * (i + 1) // i)  # enough copies for k rows of i + 1 elements
        x = self.reshape(x, (n, c, 1, i, 1, i))
        x = self.expand(x, (n, c, repeats, i, repeats, i))
        x = self.reshape(x, (n, c, repeats * i, repeats * i))
        x = self.shrink(x, (n, c, k * (i + 1), k * (i + 1)))
        x = self.reshape(x, (n, c, k, i + 1, k, i + 1))
        return self.shrink(x, (n, c, k, o, k, o), name)

    def conv(self, x, layer, out_channels, padding):
        """relu(conv(x) + bias): [n, c, i, i] -> [n, out_channels, o, o], stride 1."""
        if padding:
            x = self.pad(x, [(0, 0), (0, 0), (padding, padding), (padding, padding)])
        n, c = x.shape[:2]
        k = KERNEL
        x = self.windows(x, layer + ".windows")
        o = x.shape[3]
        x = self.reshape(x, (n, 1, c, k, o, k, o))
        x = self.permute(x, (0, 1, 4, 6, 2, 3, 5))
        full = (n, out_channels, o, o, c, k, k)
        x = self.expand(x, full)
        w = self.param(layer + ".weight", (out_channels, c, k, k))
        w = self.expand(self.reshape(w, (1, out_channels, 1, 1, c, k, k)), full)
        x = self.reduce(self.binary("mul", x, w), "add", (4, 5, 6))
        x = self.reshape(x, (n, out_channels, o, o), layer + ".sum")
        b = self.param(layer + ".bias", (out_channels,))
        b = self.expand(self.reshape(b, (1, out_channels, 1, 1)), x.shape)
        return self.relu(self.binary("add", x, b), layer + ".relu")

    def max_pool(self, x, name):
        """The maximum of each 2 x 2 block: [n, c, i, i] -> [n, c, i/2, i/2]."""
        n, c, i, _ = x.shape
        x = self.reshape(x, (n, c, i // 2, 2, i // 2, 2))
        x = self.reduce(x, "max", (3, 5))
        return self.reshape(x, (n, c, i // 2, i // 2), name)

    def linear(self, x, layer, outputs, name):
        """x w^T + bias: [n, ...] -> [n, outputs]."""
        n, inputs = x.shape[0], math.prod(x.shape[1:])
        full = (n, outputs, inputs)
        x = self.expand(self.reshape(x, (n, 1, inputs)), full)
        w = self.param(layer + ".weight", (outputs, inputs))
        w = self.expand(self.reshape(w, (1, outputs, inputs)), full)
        x = self.reduce(self.binary("mul", x, w), "add", (2,))
        x = self.reshape(x, (n, outputs), layer + ".sum")
        b = self.param(layer + ".bias", (outputs,))
        b = self.expand(self.reshape(b, (1, outputs)), (n, outputs))
        return self.binary("add", x, b, name)


def digits(name, batch):
    """The text of module `name`: the network of train.py on `batch` raw pictures."""
    net = Net()
    x = net.input("x", (batch, 1, 8, 8))
    x = net.binary("mul", x, net.constant(0.0625, "scale"), "scaled")
    x = net.conv(x, "conv1", 16, padding=1)
    x = net.max_pool(net.conv(x, "conv2", 32, padding=1), "pool")
    x = net.conv(x, "conv3", 64, padding=0)
    logits = net.linear(x, "fc", 10, "logits")
    net.declare("logits", logits.shape, "output")
    return "\n".join(["tg 1", f"module @{name}", *net.buffers, "", "graph @main {", *net.lines,
                      "  sink %logits -> @logits", "}", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    parser.add_argument("--check", action="store_true",
                        help="write nothing; fail where a file differs from what it should be")
    args = parser.parse_args()
    stale = []
    for file, (name, batch) in FILES.items():
        text = digits(name, batch)
        if not args.check:
            (args.out / file).write_text(text)
        elif (args.out / file).read_text() != text:
            stale.append(file)
    if stale:
        sys.exit("differs from what emit_uop.py writes: " + ", ".join(stale))


if __name__ == "__main__":
    main()
