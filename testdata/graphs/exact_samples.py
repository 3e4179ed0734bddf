"""Makes the samples of testdata/graphs/samples that must come out bit for bit.

    exact_samples.py FOLDER SUFFIX        (SUFFIX: v10 or v14, the version of tinygrad that runs)

Needs tinygrad, numpy and tools/export_tinygrad.py on the path. tinygrad v0.10.3 computes in half
with CPU=1, v0.14.0 in all types with DEV=CL; the rest works anywhere.
"""

import os
import sys

import numpy as np
from export_tinygrad import export
from tinygrad import Tensor, dtypes

INTEGERS = {
    "i8": (dtypes.int8, np.int8), "u8": (dtypes.uint8, np.uint8),
    "i16": (dtypes.int16, np.int16), "u16": (dtypes.uint16, np.uint16),
    "i32": (dtypes.int32, np.int32), "u32": (dtypes.uint32, np.uint32),
    "i64": (dtypes.int64, np.int64), "u64": (dtypes.uint64, np.uint64),
}
FLOATS = {"f16": (dtypes.float16, np.float16), "f32": (dtypes.float32, np.float32),
          "f64": (dtypes.float64, np.float64)}
WORDS = {2: dtypes.uint16, 4: dtypes.uint32, 8: dtypes.uint64}


class Sample:
    """A graph with its inputs, and what tinygrad makes of them."""

    def __init__(self, folder, name):
        self.stem, self.inputs, self.outputs, self.near = os.path.join(folder, name), {}, {}, set()

    def input(self, name, values):
        tensor = Tensor(values).realize()
        self.inputs[name] = tensor
        np.save(f"{self.stem}.{name}.in.npy", values)
        return tensor

    def output(self, name, tensor, near=False):
        self.outputs[name] = tensor
        if near:
            self.near.add(name)

    def write(self, step=None, repeat=1):
        """step: makes the outputs of the next run, {name: Tensor}, of a graph that has states."""
        export(self.stem + ".repr", self.outputs, self.inputs)
        exact = [name for name in self.outputs if name not in self.near]
        with open(self.stem + ".repr") as file:
            text = file.read()
        with open(self.stem + ".repr", "w") as file:
            file.write(f"# exact: {' '.join(exact)}\n")
            file.write(f"# run with --repeat={repeat}\n" * (repeat > 1) + text)
        values = {name: tensor.numpy() for name, tensor in self.outputs.items()}
        for _ in range(1, repeat):
            values = {name: tensor.numpy() for name, tensor in step().items()}
        for name, value in values.items():
            np.save(f"{self.stem}.{name}.out.npy", value)


def bits(tensor):
    """Floats as their bits."""
    if not dtypes.is_float(tensor.dtype):
        return tensor.cast(dtypes.uint8) if tensor.dtype == dtypes.bool else tensor
    return tensor.bitcast(WORDS[tensor.dtype.itemsize])


def random_integers(rng, np_type, count):
    info = np.iinfo(np_type)
    values = rng.integers(info.min, info.max, count, dtype=np_type, endpoint=True)
    values[:6] = [0, 1, info.min, info.max, info.max - 1, info.max // 2]
    return values


def random_floats(rng, np_type, count, emulated):
    """Every magnitude, subnormals, infinities, and halfway points between numbers of 16 bits.

    emulated: without what v0.14.0 gets wrong where it emulates half: it has no subnormals of half,
    and infinity begins at 65504.5.
    """
    values = np.ldexp(rng.uniform(-2, 2, count), rng.integers(-40, 40, count)).astype(np.float64)
    values[:8] = [0, np.inf, -np.inf, 65519.99, 65520, 2.0**-25, 1.5 * 2.0**-25, 2.0**-24]
    values[8:12] = [1 + 2.0**-11, 1 + 3 * 2.0**-11, 1 + 2.0**-8, 1 + 3 * 2.0**-8]
    if emulated:
        values[3] = 65504
        values[(abs(values) < 2.0**-14) & (values != 0)] = 1
    with np.errstate(over="ignore"):
        return values.astype(np_type)


def random(folder, suffix):
    Tensor.manual_seed(1337)
    sample = Sample(folder, "random_" + suffix)
    sample.output("first", Tensor.rand(3, 7))
    sample.output("second", Tensor.rand(11))  # the counter went on
    sample.output("double", Tensor.rand(6, dtype=dtypes.float64))
    sample.output("half", Tensor.rand(9, dtype=dtypes.float16).cast(dtypes.float32))
    if suffix != "v10":  # v0.10.3 has no device here that computes it
        sample.output("bfloat", Tensor.rand(9, dtype=dtypes.bfloat16).cast(dtypes.float32))
    sample.output("ints", Tensor.randint(4, 5, low=-5, high=100))
    sample.output("uniform", Tensor.uniform(8, low=-2.0, high=3.0), near=True)
    sample.output("normal", Tensor.randn(5, 3), near=True)
    sample.write()


def bitcasts(folder, suffix):
    rng = np.random.default_rng(2)
    sample = Sample(folder, "bitcast_" + suffix)
    sizes = {1: ["i8", "u8"], 2: ["i16", "u16", "f16"], 4: ["i32", "u32", "f32"],
             8: ["i64", "u64", "f64"]}
    kinds = INTEGERS | FLOATS
    for size, names in sizes.items():
        word, rows = np.dtype(f"u{size}"), []
        for name in names:
            values = rng.integers(0, np.iinfo(word).max, 16, dtype=word, endpoint=True)
            if name in FLOATS:  # numbers, whose bits no device changes
                values = rng.normal(size=16).astype(FLOATS[name][1]).view(word)
            x = sample.input(name, values.view(kinds[name][1]))
            # There, and back to the unsigned type.
            rows += [x.bitcast(kinds[other][0]).bitcast(kinds[f"u{8 * size}"][0])
                     for other in names if other != name and (name in FLOATS or other not in FLOATS)]
        sample.output(f"bits{8 * size}", Tensor.stack(*rows))
    sample.output("wide", sample.inputs["u8"].bitcast(dtypes.uint32))
    sample.output("parts", sample.inputs["f64"].bitcast(dtypes.uint16))
    sample.write()


def casts(folder, suffix):
    rng = np.random.default_rng(3)
    sample = Sample(folder, "cast_" + suffix)
    emulated = suffix != "v10"
    sources, small = {}, {}
    for name, (_, np_type) in INTEGERS.items():
        sources[name] = sample.input(name, random_integers(rng, np_type, 24))
    sources["bool"] = sample.input("bool", rng.integers(0, 2, 24).astype(bool))
    for name, (_, np_type) in FLOATS.items():
        sources[name] = sample.input(name, random_floats(rng, np_type, 24, emulated))
        # What every type of integers holds.
        small[name] = sample.input(name + "_small",
                                   (rng.integers(0, 8 * 127, 24) / 8).astype(np_type))
    if emulated:
        values = random_floats(rng, np.float32, 24, emulated)
        words = sample.input("bf16", values.view(np.uint32) >> 16)
        sources["bf16"] = words.cast(dtypes.uint16).bitcast(dtypes.bfloat16)
        words = sample.input("bf16_small", (rng.integers(0, 254, 24) / 2).astype(np.float32)
                             .view(np.uint32) >> 16)
        small["bf16"] = words.cast(dtypes.uint16).bitcast(dtypes.bfloat16)
    targets = {n: t for n, (t, _) in (INTEGERS | FLOATS).items()} | {"bool": dtypes.bool}
    if emulated:
        targets["bf16"] = dtypes.bfloat16
    for name, dtype in targets.items():
        chosen = sources if name == "bool" or name in FLOATS or name == "bf16" else sources | small
        rows = [bits(x.cast(dtype)) for x in chosen.values()]
        sample.output("to_" + name, Tensor.stack(*rows))
    sample.write()


def integers(folder, suffix):
    rng = np.random.default_rng(4)
    sample = Sample(folder, "integers_" + suffix)
    for name, (_, np_type) in INTEGERS.items():
        signed = np.iinfo(np_type).min < 0
        x = sample.input(name + "_x", random_integers(rng, np_type, 20))
        divisors = random_integers(rng, np_type, 20)
        small = rng.integers(-7 if signed else 1, 7, 20).astype(np_type)
        divisors = np.where(rng.random(20) < 0.7, small, divisors)
        # 0 has no quotient in tinygrad, nor has -1 below the least number.
        divisors[divisors == 0] = 3
        if signed:
            divisors[divisors == -1] = 3
        y = sample.input(name + "_y", divisors)
        # v0.14.0 has another name for it, which in v0.10.3 means a quotient of floats.
        quotient = x.idiv(y) if hasattr(x, "idiv") else x.div(y, rounding_mode="trunc")
        rows = [x + y, x - y, x * y, quotient, x & y, x | y, x ^ y]
        if not signed:
            rows += [x << 3, x >> 2]
        sample.output(name, Tensor.stack(*rows))
        # v0.10.3 rounds these by way of f32.
        near = sample.input(name + "_near", rng.integers(-99 if signed else 0, 99, 20).astype(np_type))
        by = sample.input(name + "_by", small + (small == 0).astype(np_type))
        sample.output(name + "_floor", Tensor.stack(near // by, near % by))
    sample.write()


def whole_numbers(folder, suffix):
    """trunc and what v0.14.0 makes of it; the quotients distinguish the zeros."""
    rng = np.random.default_rng(7)
    sample = Sample(folder, "whole_" + suffix)
    for name in ("f32", "f64"):
        np_type = FLOATS[name][1]
        values = np.ldexp(rng.uniform(-2, 2, 40), rng.integers(-3, 70, 40)).astype(np_type)
        values[:12] = [0.0, -0.0, 0.5, -0.5, -0.999, 0.999, 1, -1, 2.5, -2.5, np.inf, -np.inf]
        x = sample.input(name, values)
        rows = [x.trunc(), x.ceil(), x.floor(), x.round()]
        sample.output(name + "_of", Tensor.stack(*rows, *[1 / row for row in rows[:3]]))
    sample.write()


def functions_of_integers(folder, suffix):
    """v0.14.0 prints no conversion below them."""
    rng = np.random.default_rng(6)
    sample = Sample(folder, "int_functions_" + suffix)
    for name in ("i8", "u16", "i32", "u32", "i64"):
        np_type = INTEGERS[name][1]
        x = sample.input(name, random_integers(rng, np_type, 12))
        small = sample.input(name + "_small", rng.integers(1, 9, 12).astype(np_type))
        rows = [x.sqrt(), x.reciprocal(), x.log2(), small.exp2(), small.sin(), x / small]
        sample.output(name + "_of", Tensor.stack(*rows), near=True)
    flags = sample.input("bool", rng.integers(0, 2, 12).astype(bool))
    sample.output("bool_of", flags.sqrt() + flags.reciprocal() * 2)
    sample.write()


def states(folder, suffix):
    """A step with momentum, whose moments have a history, and rows appended to a table."""
    rng = np.random.default_rng(5)
    sample = Sample(folder, "states_" + suffix)
    g = sample.input("g", rng.integers(-64, 64, (2, 6)).astype(np.float32))
    weights = Tensor(rng.integers(-64, 64, (2, 6)).astype(np.float32)).realize()
    moments = Tensor(rng.integers(-64, 64, (2, 6)).astype(np.float32)).realize()
    table = Tensor(rng.integers(-9, 9, (5, 6)).astype(np.int32)).realize()

    def step():
        moments.assign(moments * 0.5 + g)
        weights.assign(weights - moments * 0.25)
        table.assign(table[2:].cat(g.cast(dtypes.int32) + table[:2]).contiguous())
        return {"moments": moments + 0, "weights": weights + 0, "sum": table.sum(0)}

    for name, tensor in step().items():
        sample.output(name, tensor)
    sample.write(step, repeat=3)


if __name__ == "__main__":
    for make in (random, bitcasts, casts, integers, functions_of_integers, whole_numbers, states):
        make(*sys.argv[1:3])
