"""Parts of graphs that tg runs instead of tinygrad's kernels, and their items in a schedule."""

import hashlib

import tinygrad.engine.realize as realize
from tinygrad.helpers import NOOPT
from tinygrad.renderer import Estimates

from kernel_bridge import KernelBridge
from tg_server import Server

# In tinygrad an assign that would need a copy of what it overwrites is an error.
PIPELINE = "kernelize:copies=false,%s,lower,expand,devectorize,linearize"

counts = {"graphs": 0, "runs": 0, "kernels": 0, "copies": 0}


server = Server()
kernel_bridge = KernelBridge(server)


class Program:
    """A part of a graph that tg runs: the AST of a KERNEL.

    names: for each buffer of the kernel what it is called in the text, None where it only orders.
    outputs: which of them are written, written_only: which of those are not read. graph: what the
    text prints.
    """

    def __init__(self, text, graph, names, outputs, written_only):
        self.text, self.names = text, names
        self.pipeline = PIPELINE % ("schedule:none" if NOOPT else "schedule")
        self.outputs, self.written_only = outputs, written_only
        self.assigns = []  # the ASSIGNs whose value is this kernel
        self.graph = graph
        self.bytes = {}  # by buffer, if tg's buffer has the size of its greatest shape
        self.greatest = {}  # value of each variable

    @property
    def src(self):
        """The source of its kernels."""
        return "\n".join(k[-1] for k in server.kernels(self.text, self.pipeline, self.greatest))

    # As in a ProgramSpec: positions of buffers that are only written, or read.
    @property
    def outs(self):
        return [i for i, name in enumerate(self.names) if name in self.outputs]

    @property
    def ins(self):
        return [i for i, name in enumerate(self.names) if name and name not in self.written_only]

    def __repr__(self):
        return f"<tg {hashlib.sha256(self.text.encode()).hexdigest()[:8]}>"


class Step:
    """Represents a further kernel of a Program in a schedule."""

    src, outs, ins = "", (), ()


class ProgramRunner(realize.CompiledRunner):
    """The jit reads the written buffers from `p`."""

    def __init__(self, program, device):
        realize.Runner.__init__(self, repr(program), device)
        self.p = program

    def __call__(self, rawbufs, var_vals, wait=False):
        p = self.p
        inputs = {}
        for name, buf in zip(p.names, rawbufs):
            if name is not None and name not in p.written_only:
                size = p.bytes.get(name, buf.nbytes)
                inputs[name] = bytes(buf.as_buffer())[:size].ljust(size, b"\0")
        variables = {var.arg[0]: value for var, value in var_vals.items()}
        results, kernels, ops = server.run(p, variables, inputs, p.outputs)
        by_name = dict(zip(p.names, rawbufs))
        for name, data in zip(p.outputs, results):
            buf = by_name[name]
            buf.copyin(memoryview(bytearray(data[:buf.nbytes].ljust(buf.nbytes, b"\0"))))
        counts["runs"] += 1
        counts["kernels"] += kernels
        self.estimates = Estimates(ops, 0, 0)
        return 0.0 if wait else None


class StepRunner(realize.CompiledRunner):
    def __init__(self, device):
        realize.Runner.__init__(self, "<tg kernel>", device)
        self.p = Step()

    def __call__(self, rawbufs, var_vals, wait=False):
        return 0.0 if wait else None
