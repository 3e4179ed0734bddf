"""A part of the newest tinygrad's graph as tg runs it: its text, its item in a schedule, its run."""

import hashlib
import os
from dataclasses import dataclass, replace

from tinygrad.dtype import Invalid
from tinygrad.helpers import NOOPT
from tinygrad.renderer import Estimates
from tinygrad.uop.ops import KernelInfo, Ops, ParamArg, ProgramInfo, UOp

from newest_cut import SHARDS, NotThroughTg, is_variable, rebuild, state_of
from newest_fp8 import without_fp8
from newest_order import as_scheduled
from tg_server import Server

# Whether reads follow the graph where tinygrad's scheduler reads late or fails.
EXACT = bool(os.environ.get("TG_BRIDGE_EXACT"))
PIPELINE = "kernelize:cycles=%s,%s,lower,expand,devectorize,linearize"


def pipeline(copies_cycles):
    """copies_cycles: whether a copy is made where kernels wait for each other, or for themselves."""
    return PIPELINE % ("true" if copies_cycles else "false", "schedule:none" if NOOPT else "schedule")


counts = {"graphs": 0, "runs": 0, "kernels": 0, "copies": 0}
server = Server()


@dataclass(frozen=True)
class Part(KernelInfo):
    """Represents a part in a schedule: the argument of a SINK over its variables.

    buffers: the name of each operand in the text. outputs and inputs: positions of the written and the
    read operands. variables: names in the text of the variables below the SINK. copies_cycles: of its
    pipeline. pipeline: of its PROGRAM.
    """

    text: str = ""
    copies_cycles: bool = True
    pipeline: str = ""
    buffers: tuple = ()
    outputs: tuple = ()
    inputs: tuple = ()
    variables: tuple = ()


@dataclass(frozen=True)
class Step(KernelInfo):
    """Represents a further kernel of a part."""


def read_before(sink, buffers):
    """Buffers that are read or partly written: not only the target of STOREs to the whole buffer."""
    whole, found, invalid = set(buffers), set(), set()

    def is_store_of(effect, memory):
        target = effect.src[0] if effect.op is Ops.STORE else None
        return target in whole and target.buf_uop is memory.buf_uop

    for u in sink.toposort(enter_calls=False):
        # A partly Invalid value is stored only where it is defined.
        if (u.op is Ops.CONST and u.arg is Invalid) or any(s in invalid for s in u.src):
            if u.op is Ops.STORE:
                found.add(u.src[0].buf_uop)
            elif u.op is not Ops.AFTER:
                invalid.add(u)
        for i, s in enumerate(u.src):
            if s not in whole:
                continue
            if u.op in (Ops.RESHAPE, Ops.DETACH):
                whole.add(u)
            elif i > 0 or u.op not in (Ops.STORE, Ops.AFTER) or (
                    u.op is Ops.AFTER and not any(is_store_of(e, s) for e in u.src[1:])):
                found.add(s.buf_uop)
    return found


def without_views(memory):
    """Memory of several devices, of buffers as they are."""
    if memory.op not in SHARDS:
        return memory
    return memory.replace(src=tuple(without_views(state_of(s)) for s in memory.src))


def compile_part(text, is_error):
    """(copies_cycles, kernels). In tinygrad some graphs of which kernels wait for each other are an
    error, others run. is_error(): whether this one is."""
    if not EXACT:
        try:
            return False, server.compile(text, pipeline(False))[1]
        except RuntimeError as error:
            if "; cycles=false" not in str(error) or is_error():
                raise
    return True, server.compile(text, pipeline(True))[1]


def make_part(roots, is_error):
    """The calls of AFTERs that are to run: one for each kernel that tg makes of them, the last of
    which runs them all. is_error: of compile_part."""
    memory, variables = {}, {}

    def canonical(u, sources):
        if is_variable(u):
            name = u.expr
            variables[name] = u.replace(op=Ops.PARAM, arg=replace(u.arg, slot=-1))
            return variables[name]
        if u.op is Ops.AFTER and is_variable(u.src[0]):
            return sources[0]
        if u.op in {Ops.PARAM, Ops.BUFFER} | SHARDS:
            number = memory.setdefault(without_views(u), len(memory))
            whole = UOp(Ops.PARAM, src=(UOp.const(u.max_numel()),),
                        arg=ParamArg(number, u.dtype, device="CL")).reshape(u.max_shape)
            # Memory of a symbolic shape, a precompiled function's argument, has the greatest extents.
            return whole if u.max_shape == u.shape else whole.shrink_to(u.replace(src=sources).shape)
        return None

    sink = UOp.sink(*roots) if EXACT else as_scheduled(UOp.sink(*roots))
    sink = without_fp8(rebuild(sink, canonical, lambda u: u.op in SHARDS))
    nodes = sink.toposort(enter_calls=False)
    written = {u.src[0].buf_uop for u in nodes if u.op is Ops.STORE and not is_variable(u.src[0])}
    numbered = {u.arg.slot: u for u in nodes if u.op is Ops.PARAM and not is_variable(u)}
    read = read_before(sink, numbered.values())
    names = [f"b{i}" for i in range(len(memory))]
    lines = []
    for i, u in numbered.items():
        lines.append(f"# tg: {'state' if u in written else 'input'} {names[i]} = {i} [{u.max_numel()}]")
    text = "\n".join(lines) + "\n" + repr(sink) + "\n"
    dump(text)
    copies_cycles, kernels = compile_part(text, is_error)
    counts["graphs"] += 1
    if kernels == 0:
        return []
    used = {name: var for name, var in variables.items() if var in nodes}
    part = Part(
        name=f"tg_{hash_of(text)}", text=text, copies_cycles=copies_cycles, buffers=tuple(names),
        outputs=tuple(i for i, u in numbered.items() if u in written),
        inputs=tuple(i for i, u in numbered.items() if u in read or u not in written),
        variables=tuple(used))
    body = UOp(Ops.SINK, src=tuple(used.values()), arg=part)
    step = UOp(Ops.SINK, arg=Step(name="tg_step"))
    operands = list(memory)
    first = operands[part.outputs[0]]
    return [step.call(first)] * (kernels - 1) + [body.call(*operands)]


def hash_of(text):
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def symbol_of(name):
    """A variable's name in tg."""
    return name if name[0].isalpha() or name[0] == "_" else "_" + name


def dump(text):
    folder = os.environ.get("TG_BRIDGE_DUMP")
    if folder:
        test = os.environ.get("PYTEST_CURRENT_TEST", "none").split("::")[-1].split(" ")[0]
        with open(os.path.join(folder, f"{test}.{hash_of(text)}.repr"), "w") as file:
            file.write(text)


def to_program(ast, renderer):
    """Replaces tinygrad's compiler: returns the PROGRAM of a SINK that make_part made."""
    if ast.op is Ops.PROGRAM and isinstance(ast.src[0].arg, (Part, Step)):
        return ast
    if ast.op is not Ops.SINK or not isinstance(ast.arg, (Part, Step)):
        raise NotThroughTg(f"a kernel that tinygrad made: {ast.op}")
    part, source = Part(), ""
    if isinstance(ast.arg, Part):
        part = replace(ast.arg, pipeline=pipeline(ast.arg.copies_cycles))
        greatest = {symbol_of(name): int(v.vmax) for name, v in zip(part.variables, ast.src)}
        work = server.kernels(part.text, part.pipeline, greatest)
        ops, traffic = sum(k[1] for k in work), sum(k[2] for k in work)
        ast = ast.replace(arg=replace(part, estimates=Estimates(ops, traffic, traffic)))
        source = "\n".join(k[-1] for k in work)
    info = ProgramInfo(ast.arg.name, local_size=(1, 1, 1), vars=ast.src, target=renderer.target,
                       globals=tuple(range(len(part.buffers))), outs=part.outputs, ins=part.inputs)
    # tinygrad replaces the SINK by the PROGRAM, so the PROGRAM must not contain the SINK.
    sources = (ast.rtag("tg"), UOp(Ops.LINEAR), UOp(Ops.SOURCE, arg=source), UOp(Ops.BINARY, arg=b"tg"))
    return UOp(Ops.PROGRAM, src=sources, arg=info)


def bytes_of(buffer):
    """The memory of a buffer of the host."""
    return buffer.allocator._as_buffer(buffer._buf).cast("B")


def run(program, buffers, var_vals):
    """Runs a PROGRAM on tinygrad's Buffers."""
    body = program.src[0]
    if isinstance(body.arg, Step):
        return
    part = body.arg
    # An unbound variable is an error of tinygrad's.
    variables = {symbol_of(name): v for name, v in zip(part.variables, program.arg.vals(var_vals))}
    inputs = {part.buffers[i]: bytes(bytes_of(buffers[i].ensure_allocated())) for i in part.inputs}
    names = [part.buffers[i] for i in part.outputs]
    results, kernels, _ = server.run(part, variables, inputs, names)
    for i, data in zip(part.outputs, results):
        bytes_of(buffers[i].ensure_allocated())[:] = data
    counts["runs"] += 1
    counts["kernels"] += kernels
