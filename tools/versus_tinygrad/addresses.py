"""Compares integer operations per load with tinygrad's own sources of the same kernels.

    addresses.py --tinygrad=PYTHON --tg-opt=TG_OPT [--worse=N] GRAPH.repr[.xz] ...

PYTHON runs an interpreter with tinygrad v0.10.3. The first table compares kernel by kernel: tg is
given tinygrad's kernels as lowered, opts applied and nothing simplified, and both sides' OpenCL C
is counted by opencl_cost.py, weighted by trip counts, work-items and runs. The second counts the
kernels that tg itself makes of the whole graph, which are fewer, with the opts that tg chooses.
--worse=N also lists the N kernels with the greatest excess over tinygrad.
"""

import argparse
import collections
import concurrent.futures
import glob
import lzma
import os
import re
import subprocess
import sys
import tempfile

import opencl_cost

# This graph computes in halves, as tinygrad's OpenCL does.
TARGET = "cl-nvidia-sm90"
SAME = ["--pass=simplify,lower,expand,devectorize,linearize", "--target=" + TARGET]
OWN_TARGETS = ("cl-gpu", "cl-cpu")
OWN = "--pass=kernelize,schedule,lower,expand,devectorize,linearize"


def compile_text(tg_opt, path, *options):
    """Returns (OpenCL C, what was printed on standard error)."""
    with (lzma.open if path.endswith(".xz") else open)(path, "rt") as file:
        text = file.read()
    run = subprocess.run(
        [tg_opt, "-", "--emit=opencl", "--crash-reproducer=none", *options], input=text,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if run.returncode != 0:
        sys.exit("%s: %s" % (path, run.stderr.strip()[-500:]))
    return run.stdout, run.stderr


class Sum:
    """Loads and operations of several kernels, weighted by their runs."""

    def __init__(self):
        self.loads = self.ints = 0

    def add(self, cost, runs):
        self.loads += cost.run_loads * runs
        self.ints += cost.run_ints * runs

    def __str__(self):
        return "%.2f" % (self.ints / max(1, self.loads))


def compare_kernel(tg_opt, path):
    """Returns (number of the kernel, runs, tinygrad's Cost, tg's)."""
    base = path[:-len(".runs")]
    with open(path) as file:
        runs = int(file.read())
    with open(base + ".cl") as file:
        (theirs,) = opencl_cost.measure(file.read()).values()
    (ours,) = opencl_cost.measure(compile_text(tg_opt, base + ".lowered", *SAME)[0]).values()
    return int(os.path.basename(base)), runs, theirs, ours


def compare_graph(options, pool, path):
    """Returns [(number, runs, tinygrad's Cost, tg's)] of the graph's kernels."""
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tinygrad_kernels.py")
        subprocess.run([options.tinygrad, script, path, folder], check=True,
                       env=dict(os.environ, GPU="1"))
        return list(pool.map(lambda p: compare_kernel(options.tg_opt, p),
                             sorted(glob.glob(os.path.join(folder, "*.runs")))))


def count_own(tg_opt, path, target):
    source, stages = compile_text(tg_opt, path, OWN, "--target=" + target, "--print-after=schedule")
    runs = collections.Counter(re.findall(r"^  \S+ = kernel @(\w+)", stages, re.M))
    total = Sum()
    for name, cost in opencl_cost.measure(source).items():
        if name not in runs:
            sys.exit("%s: nothing runs %s" % (path, name))
        total.add(cost, runs[name])
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tinygrad", required=True, help="a Python with tinygrad v0.10.3")
    parser.add_argument("--tg-opt", required=True)
    parser.add_argument("--worse", type=int, default=0)
    parser.add_argument("graphs", nargs="+")
    options = parser.parse_args()
    worse, own = [], []
    print("| graph | kernels | operations per load: tinygrad | tg | tg / tinygrad, operations "
          "| kernels with more |\n| --- | --- | --- | --- | --- | --- |")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path in options.graphs:
            name = os.path.basename(path).split(".")[0]
            theirs, ours, more = Sum(), Sum(), 0
            kernels = compare_graph(options, pool, path)
            for number, runs, their_cost, our_cost in kernels:
                theirs.add(their_cost, runs)
                ours.add(our_cost, runs)
                excess = our_cost.run_ints - their_cost.run_ints
                if excess > 0:
                    more += 1
                    worse.append((excess * runs, "%s kernel %d: %d, tinygrad %d" % (
                        name, number, our_cost.run_ints, their_cost.run_ints)))
            print("| %s | %d | %s | %s | %.2f | %d |" % (
                name, len(kernels), theirs, ours, ours.ints / max(1, theirs.ints), more), flush=True)
            own.append((name, theirs, [count_own(options.tg_opt, path, t) for t in OWN_TARGETS]))
    print("\n| graph | tinygrad: loads, operations, per load | " + " | ".join(OWN_TARGETS) + " |")
    print("| --- " * (2 + len(OWN_TARGETS)) + "|")
    for name, theirs, totals in own:
        cells = ["%.1fM, %.1fM, %s" % (t.loads / 1e6, t.ints / 1e6, t) for t in [theirs] + totals]
        print("| %s | %s |" % (name, " | ".join(cells)))
    for _, line in sorted(worse, reverse=True)[:options.worse]:
        print(line)


if __name__ == "__main__":
    main()
