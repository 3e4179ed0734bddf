"""Compares a graph's outputs with tinygrad's on random inputs.

    python3 outputs.py --tg-run=TG_RUN --tg-import=TG_IMPORT [--device=LLVM] GRAPH.repr[.xz] ...

Needs tinygrad v0.10.3 and numpy. Both run the same printed graph on the same numbers: tinygrad on
its OpenCL device or another (unet has halves, which its OpenCL for PoCL lacks), tg as tg-run does.
For each graph a line: its outputs, the greatest difference as a share of the greatest number of its
output, and the change of tinygrad's own result if each input is off by about one rounding. Exit
code 1 where a difference is over --tolerance and over ten times that change, or an
integer differs.
"""

import argparse
import lzma
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
from tinygrad import Tensor
from tinygrad_kernels import read_graph

TYPES = {"f32": np.float32, "i32": np.int32, "bool": np.bool_}


def random_array(rng, dtype, shape):
    """Numbers that leave a deep network's values within reach: small indices, weights that keep
    the size of what they are applied to, and vectors (scales and variances too) around 1."""
    if dtype != np.float32:
        return rng.integers(0, 2, shape).astype(dtype)
    if len(shape) < 2 or np.prod(shape) == max(shape):
        return rng.uniform(0.8, 1.2, shape).astype(dtype)
    terms = np.prod(shape[1:])
    return (rng.standard_normal(shape) / np.sqrt(terms)).astype(dtype)


def share_of(difference, numbers):
    """The greatest difference as a share of the greatest number; of integers, any is infinite."""
    exact = not np.issubdtype(numbers.dtype, np.floating)
    return np.abs(difference).max() / (1e-300 if exact else max(np.abs(numbers).max(), 1e-30))


def run_tinygrad(root, buffers, folder, device, rng=None):
    """Returns the outputs for the contents in the folder; with rng, each number off by a rounding."""
    for number, buffer in enumerate(buffers):
        array = np.load(os.path.join(folder, "buf%d.npy" % number))
        if rng is not None and array.dtype == np.float32:
            array = (array * (1 + 6e-8 * rng.standard_normal(array.shape))).astype(np.float32)
        memory = buffer.buffer
        (memory if memory.is_allocated() else memory.allocate()).copyin(
            memoryview(array.reshape(-1)).cast("B"))
    outputs = [Tensor(u, device=device) for u in root.src]
    Tensor.realize(*outputs)
    return [output.numpy() for output in outputs]


def read_text(path):
    with (lzma.open if path.endswith(".xz") else open)(path, "rt") as file:
        return file.read()


def compare(options, path):
    """Returns [(name, difference of tg's result, change of tinygrad's own)], as shares."""
    text = read_text(path)
    module = subprocess.run([options.tg_import, "-"], input=text, stdout=subprocess.PIPE, text=True,
                            check=True).stdout
    found = re.findall(r"^buffer @(\w+) : (\w+)\[(.*?)\] (\w+)", module, re.M)
    names = [name for name, _, _, use in found if use == "output"]
    rng = np.random.default_rng(options.seed)
    root, buffers = read_graph(path, options.device)
    results = []
    # Whole models are large: their weights are on disk, and in one process at a time.
    with tempfile.TemporaryDirectory() as folder:
        command = [options.tg_run, "-"] + options.tg_option
        for number, buffer in enumerate(buffers):
            name = "buf%d" % number
            (kind, sizes), = [(t, s) for n, t, s, _ in found if n == name]
            shape = [int(n) for n in sizes.split(",")] if sizes else []
            array = random_array(rng, TYPES[kind], shape)
            assert array.size == buffer.arg, (number, array.size, buffer.arg)
            np.save(os.path.join(folder, name + ".npy"), array)
            command.append("--input=%s=%s/%s.npy" % (name, folder, name))
        command += ["--output=%s=%s/%s.npy" % (name, folder, name) for name in names]
        run = subprocess.run(command, input=text, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             text=True)
        if run.returncode != 0:
            sys.exit("%s: %s" % (path, run.stderr[-500:]))
        outputs = run_tinygrad(root, buffers, folder, options.device)
        changed = run_tinygrad(root, buffers, folder, options.device, rng)
        assert len(names) == len(outputs), (names, len(outputs))
        for name, theirs, other in zip(names, outputs, changed):
            ours = np.load(os.path.join(folder, name + ".npy")).reshape(theirs.shape)
            if not np.isfinite(theirs).all():
                sys.exit("%s: tinygrad's %s is not finite; nothing can be compared" % (path, name))
            theirs64 = theirs.astype(np.float64)
            results.append((name, share_of(ours - theirs64, theirs),
                            share_of((other - theirs64) * (theirs.dtype.kind == "f"), theirs)))
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tg-run", required=True)
    parser.add_argument("--tg-import", required=True)
    parser.add_argument("--tg-option", action="append", default=[], help="another option for tg-run")
    parser.add_argument("--device", default="GPU", help="tinygrad's, for example LLVM")
    parser.add_argument("--tolerance", type=float, default=1e-5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("graphs", nargs="+")
    options = parser.parse_args()
    failed = False
    for path in options.graphs:
        results = compare(options, path)
        def excess(result):
            return result[1] / max(options.tolerance, 10 * result[2])
        name, share, change = max(results, key=lambda r: excess(r) if r[1] == r[1] else np.inf)
        good = excess((name, share, change)) <= 1
        failed |= not good
        print("%s %s: %d outputs, the greatest difference %.1e of the greatest number, in %s; of "
              "rounded inputs %.1e" % ("equal    " if good else "DIFFERENT",
                                       os.path.basename(path).split(".")[0], len(results), share, name,
                                       change), flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
