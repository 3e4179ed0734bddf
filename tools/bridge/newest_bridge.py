"""Runs the newest tinygrad on tg: tg-serve compiles and runs everything that a Tensor realizes.

    TG_SERVE=path/to/tg-serve DEV=CL python3 -m pytest -p newest_bridge test/backend/test_ops.py

Import it before tinygrad. The devices CL and CPU become host memory without a compiler. Where
tinygrad schedules a graph, the bridge cuts it at copies between devices (newest_cut.py), and each
part is the text for tg (newest_program.py); a schedule has an item for each kernel that tg makes of
it. Copies of buffers stay tinygrad's. There is no fallback: a call of tinygrad's own scheduler
or compiler raises NotThroughTg.

NOOPT of tinygrad is schedule:none of tg. TG_BRIDGE_WIDE=1 also declares the types supported that tg
has and tinygrad's OpenCL lacks on PoCL (half, fp8). TG_BRIDGE_EXACT=1 reads what a graph says where
tinygrad's scheduler reads late or fails (newest_order.py). TG_BRIDGE_DUMP=folder keeps the texts.
"""

import os
import sys
import types

os.environ.setdefault("DEV", "CL")

import tinygrad.codegen
import tinygrad.device
import tinygrad.engine.realize as realize
import tinygrad.schedule as schedule
from tinygrad.dtype import dtypes
from tinygrad.renderer.cstyle import ClangRenderer, OpenCLRenderer
from tinygrad.uop.ops import Ops, PatternMatcher, UOp, UPat

from newest_cut import Cut, NotThroughTg
from newest_order import is_cycle
from newest_program import counts, make_part, run, to_program

# Of what PoCL offers on a CPU, all that tinygrad looks at: which types are supported depends on it.
OPENCL = "cl_khr_fp64"


def make_linear(sink):
    """Replaces tinygrad's scheduler: returns a LINEAR of calls."""
    cut, calls = Cut(sink), []
    for time in cut.times():
        steps = cut.copies(time)
        calls += steps
        counts["copies"] += sum(step.src[0].op is Ops.COPY for step in steps)
        for roots in cut.parts(time):
            calls += make_part(roots, lambda: is_cycle(sink))
    return UOp(Ops.LINEAR, src=tuple(calls))


def exec_part(ctx, call, ast):
    resolved = realize.resolve_params(call, ctx.input_uops)
    for buffers, device_vars in realize.unwrap_multi(call, resolved):
        run(ast, buffers, {**ctx.var_vals, **device_vars})
    return []


class Memory(tinygrad.device.Allocator):
    """Host memory."""

    def _alloc(self, size, options):
        return memoryview(bytearray(size))

    def _as_buffer(self, src):
        return src

    def _copyin(self, dest, src):
        dest[:] = src

    def _copyout(self, dest, src):
        dest[:] = src

    def _offset(self, buf, size, offset):
        return buf[offset:offset + size]


class Renderer(OpenCLRenderer):
    """Prints nothing; reports the supported types."""

    def supported_dtypes(self):
        wide = {dtypes.half, dtypes.fp8e4m3, dtypes.fp8e5m2} if os.environ.get("TG_BRIDGE_WIDE") else set()
        return super().supported_dtypes() | wide


class Device(tinygrad.device.Compiled):
    def __init__(self, device):
        is_cl = device.startswith("CL")
        super().__init__(device, Memory(self), [Renderer if is_cl else ClangRenderer], None,
                         arch=OPENCL if is_cl else "x86_64,native")


def refuse(*args, **kwargs):
    raise NotThroughTg("tinygrad's own compiler")


def install():
    for name in ("cl", "cpu"):
        module = types.ModuleType(f"tinygrad.runtime.ops_{name}")
        cls = type(f"{name.upper()}Device", (Device,), {"__module__": module.__name__})
        setattr(module, cls.__name__, cls)
        sys.modules[module.__name__] = module
    schedule.get_kernel_graph = lambda sink: sink
    schedule.create_schedule = make_linear
    realize.to_program = to_program
    realize.get_worker_pool = lambda: None
    realize.get_runtime = refuse
    tinygrad.codegen.do_to_program = refuse
    ours = PatternMatcher([
        (UPat(Ops.CALL, src=(UPat(Ops.PROGRAM, name="ast"),), name="call", allow_any_len=True), exec_part)])
    realize.pm_exec = ours + realize.pm_exec


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"through tg: {counts}")


install()
