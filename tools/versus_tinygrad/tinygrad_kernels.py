"""Writes the kernels that tinygrad makes of a printed graph. Needs tinygrad v0.10.3.

    GPU=1 python3 tinygrad_kernels.py GRAPH.repr[.xz] FOLDER

For each different kernel N of the schedule, with the opts of tinygrad's heuristics:
FOLDER/N.lowered   its graph after lowering, printed: ranges, coordinates and addresses, before any
                   of tinygrad's simplification
FOLDER/N.cl        tinygrad's OpenCL C of it
FOLDER/N.runs      how often the schedule runs it
"""

import collections
import itertools
import lzma
import os
import re
import sys

from tinygrad import Device, Tensor, dtypes
from tinygrad.codegen.heuristic import hand_coded_optimizations
from tinygrad.codegen.kernel import Kernel
from tinygrad.codegen.lowerer import get_index, pm_lowerer
from tinygrad.ops import Ops, UOp, graph_rewrite
from tinygrad.shape.shapetracker import ShapeTracker, View

# Numbers of buffers that tinygrad itself makes must not meet those of the text.
UOp.unique_num = itertools.count(10**6)
NAMES = dict(Ops=Ops, dtypes=dtypes, ShapeTracker=ShapeTracker, View=View, inf=float("inf"),
             nan=float("nan"))
NODE = re.compile(r"\s*(?:(?P<name>x\d+):=)?UOp\((?P<op>Ops\.\w+), (?P<dtype>.*?), "
                  r"arg=(?P<arg>.*), src=\((?P<rest>.*)$")
REFERENCE = re.compile(r"\s*(?P<name>x\d+),(?P<rest>.*)$")


def read_graph(path, device=None):
    """Returns (the UOp that a text means, its BUFFERs in the order of the text).

    All of it is for `device`, where one is given. Python's own parser refuses more than 200 brackets."""
    with (lzma.open if path.endswith(".xz") else open)(path, "rt") as file:
        lines = file.read().splitlines()
    named, open_nodes, root, buffers = {}, [], None, []
    for line in lines:
        found = NODE.match(line)
        if found:
            values = [eval(found[key], NAMES) for key in ("op", "dtype", "arg")]
            open_nodes.append((found["name"], values, []))
        else:
            found = REFERENCE.match(line)
            open_nodes[-1][2].append(named[found["name"]])
        # Each node that ends on this line is closed by "))", or "),)" behind its last source.
        for _ in range(found["rest"].count(")") // 2):
            name, (op, dtype, arg), sources = open_nodes.pop()
            if device and op is Ops.DEVICE:
                arg = device
            root = UOp(op, dtype, tuple(sources), arg)
            if name:
                named[name] = root
            if op is Ops.BUFFER:
                buffers.append(root)
            if open_nodes:
                open_nodes[-1][2].append(root)
    return root, buffers


def main():
    path, folder = sys.argv[1:]
    outputs = [Tensor(u, device="GPU") for u in read_graph(path)[0].src]
    schedule = outputs[0].schedule(*outputs[1:])
    runs = collections.Counter(item.ast for item in schedule if item.ast.op is Ops.SINK)
    renderer = Device["GPU"].renderer
    for number, (ast, count) in enumerate(runs.items()):
        kernel = Kernel(ast, opts=renderer)
        for opt in hand_coded_optimizations(kernel):
            kernel.apply_opt(opt)
        optimized = kernel.get_optimized_ast("kernel")
        lowered = graph_rewrite(optimized, pm_lowerer, ctx=get_index(optimized, renderer))
        parts = {"lowered": str(lowered) + "\n", "cl": kernel.to_program("kernel").src + "\n",
                 "runs": "%d\n" % count}
        for suffix, text in parts.items():
            with open(os.path.join(folder, "%d.%s" % (number, suffix)), "w") as file:
                file.write(text)


if __name__ == "__main__":
    main()
