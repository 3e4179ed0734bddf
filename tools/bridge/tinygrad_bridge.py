"""Runs tinygrad v0.10.3 on tg: tg-serve compiles and runs everything that a Tensor realizes.

    TG_SERVE=path/to/tg-serve python3 -m pytest -p tinygrad_bridge test/test_ops.py

Import it before tinygrad. The device GPU becomes host memory without a compiler. Where tinygrad
groups a graph into kernels, the bridge cuts it at copies between devices and makes one kernel of
each part, whose AST is the text for tg; the schedule has an item for each kernel that tg makes of
it. Copies of buffers stay tinygrad's. tg also compiles a Kernel that is made by hand from an
AST and opts (kernel_bridge.py). There is no fallback: a call of a compiler of tinygrad raises
NotThroughTg.

NOOPT of tinygrad is schedule:none of tg. TG_BRIDGE_WIDE=1 also declares the types supported that tg
has and tinygrad's OpenCL lacks (bf16, fp8). TG_BRIDGE_DUMP=folder keeps the texts.
"""

import atexit
import hashlib
import os
import sys
import types

os.environ.setdefault("GPU", "1")
sys.setrecursionlimit(20000)

import tinygrad.device
import tinygrad.engine.realize as realize
import tinygrad.engine.schedule as schedule
import tinygrad.tensor
from tinygrad.dtype import dtypes
from tinygrad.engine.grouper import Kernel
from tinygrad.helpers import prod
from tinygrad.ops import GroupOp, Ops, UOp
from tinygrad.renderer.cstyle import OpenCLRenderer
from tinygrad.shape.shapetracker import ShapeTracker

from graph_program import Program, ProgramRunner, Step, StepRunner, counts, kernel_bridge, server
from kernel_bridge import Compiler, NotThroughTg, runtime_of
from walk import walk

HOST_ONLY = ("NPY", "PYTHON", "DISK")


# ---- Graphs


def is_scheduled(u):
    """Whether the node is memory that a kernel writes."""
    return u.op is Ops.ASSIGN and u.src[1].op is Ops.KERNEL


def is_memory(u):
    return u.op in (Ops.BUFFER, Ops.BUFFER_VIEW) or is_scheduled(u)


def rebuild(sink, replace):
    """{node: node with its sources replaced}; replace(node, sources) gives a node or None."""
    new = {}
    for u in walk(sink, is_scheduled):
        if is_scheduled(u):
            new[u] = u
            continue
        sources = tuple(new[s] for s in u.src)
        other = replace(u, sources)
        new[u] = other if other is not None else u if sources == u.src else u.replace(src=sources)
    return new


def target_of(assign):
    """The buffer that an ASSIGN writes, below views and earlier assigns."""
    target = assign.src[0].base
    while target.op is Ops.ASSIGN and not is_scheduled(target):
        target = target.src[0].base
    return target


def prepare(u, sources):
    """tinygrad's rules that decide what is memory."""
    if u.op in (Ops.BUFFER, Ops.COPY) and u.size == 0:
        return u.const_like(0)
    if u.op is Ops.CONTIGUOUS:
        source = sources[0]
        if source.base.op in (Ops.CONTIGUOUS, Ops.COPY, Ops.ASSIGN, Ops.BUFFER):
            if source.base.size == source.size and source.st.contiguous:
                return source
    if u.op is Ops.ASSIGN and target_of(u.replace(src=sources)).op not in (
            Ops.BUFFER, Ops.BUFFER_VIEW) and not is_scheduled(target_of(u.replace(src=sources))):
        return UOp(Ops.CONTIGUOUS, u.dtype, (sources[1],))
    if u.op is Ops.COPY:
        source = sources[0]
        if source.base.op is Ops.CONST:
            return source
        # Host memory is copied as a whole: no graph runs there.
        if source.op in GroupOp.Movement or source.op is Ops.VIEW:
            if source.base.op is Ops.BUFFER and source.device.startswith(HOST_ONLY):
                return replay(source, u.replace(src=(source.base, *sources[1:])))
    return None


def replay(view, base):
    """The movement ops of `view` on another base."""
    steps = []
    while view is not view.base:
        steps.append(view)
        view = view.src[0]
    for step in reversed(steps):
        base = step.replace(src=(base,))
    return base


def levels_of(nodes):
    """The number of copies on the path to each node."""
    levels = {}
    for u in nodes:
        if is_scheduled(u):
            levels[u] = 0
            continue
        levels[u] = max((levels[s] for s in u.src), default=0) + (u.op is Ops.COPY)
    return levels


def without_bindings(arg, variables):
    """An argument with variables in place of their bindings, which are collected."""
    if isinstance(arg, UOp):
        new = {}
        for u in arg.toposort():
            sources = tuple(new[s] for s in u.src)
            new[u] = u if sources == u.src else u.replace(src=sources)
            if u.op is Ops.BIND:
                var = u.src[0].replace(src=())
                variables[var] = UOp(Ops.BIND, u.dtype, (var, UOp.const(u.dtype, u.src[1].arg)))
                new[u] = var
        return new[arg]
    if isinstance(arg, ShapeTracker):
        view_vars = [x for x in arg.vars() if x.op is Ops.BIND]
        for x in view_vars:
            without_bindings(x, variables)
        return arg.unbind()[0] if view_vars else arg
    if isinstance(arg, tuple):
        return tuple(without_bindings(x, variables) for x in arg)
    return arg


def greatest_sizes(nodes):
    """({BUFFER: elements}, reshapes in between) of buffers that are only read in a symbolic shape.

    In a jit, a buffer that was realized with one value of a variable may be replaced by a buffer that
    was realized with another value: memory for the greatest shape fits all of them.
    """
    users, sizes, between = {}, {}, set()
    for u in nodes:
        for s in u.src:
            users.setdefault(s, []).append(u)
    for buffer in nodes:
        stack, found, static = [buffer], [], set()
        while stack and found is not None:
            for u in users.get(stack.pop(), []):
                if u.op is not Ops.RESHAPE:
                    found = None
                    break
                if any(isinstance(d, UOp) for d in u.shape):
                    found.append(prod(d.vmax if isinstance(d, UOp) else d for d in u.shape))
                else:
                    static.add(u)
                    stack.append(u)
        if buffer.op is Ops.BUFFER and found:
            sizes[buffer] = max(found + [buffer.size])
            between |= static
    return sizes, between


def behind_symbolic(u):
    """The memory behind a reshape to numbers of a reshape to variables: a jit's result carries the
    variables' values of the run that was captured, but is as its user says. Else None."""
    if u.op is not Ops.RESHAPE or any(isinstance(d, UOp) for d in u.shape):
        return None
    is_symbolic = False
    while u.op is Ops.RESHAPE:
        is_symbolic |= any(isinstance(d, UOp) for d in u.shape)
        u = u.src[0]
    return u if is_symbolic and (u.op is Ops.BUFFER or is_scheduled(u)) else None


def make_kernel(roots, after):
    """(KERNEL, {root: replacement}) of values and assigns."""
    variables, memory, written = {}, {}, set()

    def number(u):
        buffer = u.buf_uop if u.op is not Ops.BUFFER_VIEW else u
        known = memory.setdefault(buffer, u)
        if known is not u:
            raise RuntimeError("a graph reads a buffer before and after a kernel that writes it")
        return list(memory).index(buffer)

    def canonical(u, sources):
        if u.op is Ops.BUFFER:
            return UOp(Ops.BUFFER, u.dtype, (UOp(Ops.UNIQUE, arg=number(u)), UOp(Ops.DEVICE, arg="GPU")),
                       sizes.get(u, u.arg))
        if u in between:
            return sources[0]
        if (memory_of := behind_symbolic(u)) is not None:
            whole = new[memory_of]
            part = whole if whole.size == u.size else whole.shrink(((0, u.size),))
            return UOp(Ops.RESHAPE, u.dtype, (part,), u.arg)
        if u.op is Ops.BIND:
            return without_bindings(u, variables).replace(src=sources[0].src)
        if u.op is Ops.DEVICE:
            return UOp(Ops.DEVICE, arg="GPU")
        arg = without_bindings(u.arg, variables) if u.op in GroupOp.Movement or u.op is Ops.VIEW else u.arg
        return u.replace(src=sources, arg=arg)

    sink = UOp.sink(*roots)
    nodes = walk(sink, is_scheduled)
    sizes, between = greatest_sizes(nodes)
    scheduled = [u for u in nodes if is_scheduled(u)]
    for u in nodes:
        if u.op is Ops.ASSIGN and not is_scheduled(u):
            written.add(u)
    stand_ins = {u: UOp(Ops.BUFFER, u.dtype, (UOp(Ops.UNIQUE, arg=number(u)), UOp(Ops.DEVICE, arg="GPU")),
                        u.buf_uop.size) for u in scheduled}
    new = {}
    for u in nodes:
        new[u] = stand_ins[u] if u in stand_ins else canonical(u, tuple(new[s] for s in u.src))
    written_numbers = {number(t if is_scheduled(t := target_of(a)) else t) for a in written}

    values = [r for r in roots if r.op is not Ops.ASSIGN]
    lines = []
    for i, buffer in enumerate(memory):
        role = "state" if i in written_numbers else "input"
        lines.append(f"# tg: {role} b{i} = {i} [{sizes.get(buffer, buffer.size)}]")
    for i, root in enumerate(roots):
        if root.op is not Ops.ASSIGN:
            lines.append(f"# tg: output o{values.index(root)} = {i} []")
    text = "\n".join(lines) + "\n" + repr(new[sink]) + "\n"
    dump(text)
    names = [f"o{i}" for i in range(len(values))] + [f"b{i}" for i in range(len(memory))]
    outputs = names[:len(values)] + [f"b{i}" for i in sorted(written_numbers)]
    program = Program(text, new[sink], names + [None] * len(after), outputs, set(names[:len(values)]))
    for i, buffer in enumerate(memory):
        if buffer in sizes:
            program.bytes[f"b{i}"] = sizes[buffer] * buffer.dtype.itemsize
    program.greatest = {v.arg[0]: v.arg[2] for v in variables}
    server.compile(text, program.pipeline)  # before anything refers to it

    new_buffers = [UOp.new_buffer(root.device, root.size, root.dtype) for root in values]
    ast = UOp(Ops.SINK, dtypes.void, tuple(variables.values()), program)
    kernel = UOp(Ops.KERNEL, src=(*new_buffers, *memory.values(), *after), arg=Kernel(ast))
    counts["graphs"] += 1

    done = {}
    for root, buffer in zip(values, new_buffers):
        assign = UOp(Ops.ASSIGN, root.dtype, (buffer, kernel))
        program.assigns.append(assign)
        done[root] = assign.reshape(root.shape)
    for root in roots:
        if root.op is not Ops.ASSIGN:
            continue
        target = target_of(root)
        assign = UOp(Ops.ASSIGN, target.dtype, (target.buf_uop, kernel))
        program.assigns.append(assign)
        view = root.src[0]
        while view.base.op is Ops.ASSIGN and not is_scheduled(view.base):
            view = replay(view, view.base.src[0])
        done[root] = replay(view, assign)
    return kernel, done


def dump(text):
    folder = os.environ.get("TG_BRIDGE_DUMP")
    if folder:
        test = os.environ.get("PYTEST_CURRENT_TEST", "none").split("::")[-1].split(" ")[0]
        name = hashlib.sha256(text.encode()).hexdigest()[:8]
        with open(os.path.join(folder, f"{test}.{name}.repr"), "w") as file:
            file.write(text)


def make_copy(copy, source):
    buffer = UOp.new_buffer(copy.device, copy.size, copy.dtype)
    memory = source.base
    if memory.size != copy.size:
        raise NotThroughTg("a copy of a part of host memory")
    kernel = UOp(Ops.KERNEL, src=(buffer, memory), arg=Kernel(UOp(Ops.COPY, copy.dtype, (memory.buf_uop, copy.src[1]))))
    counts["copies"] += 1
    return UOp(Ops.ASSIGN, copy.dtype, (buffer, kernel)).reshape(copy.shape)


def is_value(u):
    """Whether the node needs new memory."""
    return not is_memory(u) and u.op not in (Ops.CONST, Ops.BIND, Ops.DEFINE_VAR)


def becomes_map_of(big_sink):
    """Replaces tinygrad's grouper: the replacement of each node after tg has run."""
    prepared = rebuild(big_sink, prepare)
    sink = prepared[big_sink]
    nodes = walk(sink, is_scheduled)
    levels = levels_of(nodes)
    roots = {}  # by level, in order
    for u in nodes:
        if is_scheduled(u) or u.op is Ops.SINK:
            continue
        if u.op in (Ops.CONTIGUOUS, Ops.ASSIGN):
            roots.setdefault(levels[u], {})[u] = None
        if u.op is Ops.COPY:
            source = u.src[0]
            whole = source.base.size == u.size and source.st.contiguous
            if not (whole and is_memory(source.base)):
                roots.setdefault(levels[source], {})[source.base if whole else source] = None
    for s in sink.src:
        if is_value(s.base):
            roots.setdefault(levels[s.base], {})[s.base] = None

    done, written, after = {}, set(), []
    for level in range(max(levels.values()) + 1):
        for u in nodes:
            if u.op is Ops.COPY and levels[u] == level:
                source = u.src[0]
                source = done[source] if source in done else replay(source, done.get(source.base, source.base))
                if not (is_memory(source.base) and source.base.size == u.size and source.st.contiguous):
                    raise NotThroughTg(f"a copy of {source.base.op} {source.st}")
                done[u] = make_copy(u, source)
        waiting = []
        for u in roots.get(level, {}):
            if u.op is Ops.COPY:
                continue
            if u.size == 0:
                done[u] = u.const_like(0)
            else:
                waiting.append(u)
        if not waiting:
            continue
        new = {}
        for u in nodes:
            if u.op is Ops.SINK or levels[u] > level:
                continue
            if u in done:
                new[u] = done[u]
            elif is_scheduled(u):
                new[u] = u
            else:
                sources = tuple(new[s] for s in u.src)
                new[u] = u if sources == u.src else u.replace(src=sources)
        now = [new[u] for u in waiting]
        below = {u for u in walk(UOp.sink(*now), is_scheduled) if u.op is Ops.BUFFER}
        if written & below:
            raise NotThroughTg("a buffer is read as it was before an assign of an earlier part")
        kernel, made = make_kernel(list(dict.fromkeys(now)), after)
        for u, n in zip(waiting, now):
            done[u] = made[n]
            if n.op is Ops.ASSIGN:
                written.add(target_of(n).buf_uop)
        after = kernel.arg.ast.arg.assigns[:1]
    result = {}
    for u, p in prepared.items():
        if is_scheduled(u) or u.op is Ops.SINK:
            continue
        if p in done:
            result[u] = done[p]
        elif u is not p and u.op in (Ops.CONTIGUOUS, Ops.COPY, Ops.ASSIGN):
            result[u] = replay(p, done.get(p.base, p.base))
    return result


# ---- Patches


tinygrad_schedule = schedule.create_schedule_with_vars


def create_schedule_with_vars(sched_sink):
    items, var_vals, becomes = tinygrad_schedule(sched_sink)
    result = []
    for item in items:
        program = item.ast.arg if item.ast.op is Ops.SINK else None
        if isinstance(program, Program):
            for assign in program.assigns:
                becomes[assign] = assign.buf_uop
            kernels = server.compile(program.text, program.pipeline)[1]
            step = UOp(Ops.SINK, dtypes.void, (), Step())
            result += [schedule.ScheduleItem(step, item.bufs[:1])] * (kernels - 1)
            ast = UOp(Ops.SINK, dtypes.void, program.graph.src, program)
            item = schedule.ScheduleItem(ast, item.bufs, item.metadata, item.fixedvars)
        result.append(item)
    return result, var_vals, becomes


tinygrad_lower = realize.lower_schedule_item


def program_of(ast):
    return ast.arg if ast.op is Ops.SINK and isinstance(ast.arg, Program) else None


def lower_schedule_item(si):
    program = si.ast.arg if si.ast.op is Ops.SINK else None
    if isinstance(program, Program):
        return realize.ExecItem(ProgramRunner(program, si.bufs[0].device), list(si.bufs), si.metadata, si.fixedvars)
    if isinstance(program, Step):
        return realize.ExecItem(StepRunner(si.bufs[0].device), list(si.bufs), si.metadata, si.fixedvars)
    return tinygrad_lower(si)


class GPUDevice(tinygrad.device.Compiled):
    def __init__(self, device):
        super().__init__(device, tinygrad.device.MallocAllocator, OpenCLRenderer(), Compiler(kernel_bridge),
                         runtime_of(kernel_bridge))


def install():
    module = types.ModuleType("tinygrad.runtime.ops_gpu")
    module.GPUDevice = GPUDevice
    sys.modules["tinygrad.runtime.ops_gpu"] = module
    tinygrad.tensor.get_becomes_map = becomes_map_of
    tinygrad.tensor.create_schedule_with_vars = create_schedule_with_vars
    schedule.create_schedule_with_vars = create_schedule_with_vars
    realize.lower_schedule_item = lower_schedule_item
    kernel_bridge.install(program_of)
    if os.environ.get("TG_BRIDGE_WIDE"):
        supported = tinygrad.device.is_dtype_supported

        def is_dtype_supported(dtype, device=None):
            wide = device in (None, "GPU") and dtype in (dtypes.bfloat16, *dtypes.fp8s)
            return wide or supported(dtype, device)

        tinygrad.device.is_dtype_supported = is_dtype_supported
    if "TG_BRIDGE_COUNTS" in os.environ:
        atexit.register(write_counts)


def write_counts():
    with open(os.environ["TG_BRIDGE_COUNTS"], "a") as file:
        file.write(f"{counts | kernel_bridge.counts}\n")


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"through tg: {counts | kernel_bridge.counts}")


install()
