"""tinygrad's kernels on tg: tg-serve compiles the results of Kernel(ast), apply_opt and to_program.

tinygrad only chooses the opts: tg gets the AST before any opt, at stage `kernel`, with the opts in
tg's notation. tg applies them, lowers, prints OpenCL C, counts its operations, and runs it. The code
is scalar (devectorize's widths are 0): integer operations are not vectorized, as in tinygrad's
sources, so that counts are comparable.
"""

import ctypes
import hashlib
import re
from dataclasses import dataclass, field

import tinygrad.codegen.kernel as tinygrad_kernel
import tinygrad.device
import tinygrad.engine.grouper as grouper
from tinygrad.codegen.kernel import Kernel, OptOps
from tinygrad.dtype import ImageDType
from tinygrad.helpers import ansistrip
from tinygrad.ops import Ops, UOp
from tinygrad.renderer import Estimates, ProgramSpec

PIPELINE = "schedule:none,lower,expand,devectorize:alu-width=0:mem-width=0,linearize"
HEADER = re.compile(r"^(kernel @\S+ : kernel \{.*?)axes = \[(.*?)\]\} \{$", re.M)
MARKS = {"cyan": "local", "green": "group", "magenta": "unroll", "yellow": "upcast"}


class NotThroughTg(Exception):
    """Raised where tinygrad's own compiler would be needed."""


@dataclass
class Piece:
    """An axis of a Kernel: its origin, and tg's name of it."""

    name: str
    size: int


def tg_opts(kernel, axes):
    """The opts of a Kernel in tg's notation. axes: tg's [(name, size)] of the AST without opts.

    tinygrad numbers axes, and an opt renumbers them; so its opts are replayed, and each axis keeps
    the name that tg's `split` gives it. Marks come last, since tinygrad may split an axis again
    that it has marked. Raises NotThroughTg where tg has no such directive.
    """
    if not kernel.applied_opts:
        return []
    if len(kernel.reduceops) > 1:
        raise NotThroughTg("opts of a kernel with several reduces")
    replay = Kernel(kernel.ast, opts=kernel.opts)
    pieces = [Piece(*axis) for axis in axes]
    if [p.size for p in pieces] != list(replay.full_shape):
        raise NotThroughTg(f"axes {replay.full_shape}, in tg {axes}")
    padded, out = {}, []
    for opt in kernel.applied_opts:
        if opt.op is OptOps.TC:
            raise NotThroughTg("tensor cores")
        axis = replay.real_axis(opt)
        first_reduce, groups = replay.first_reduce, replay.group_for_reduces
        replay.apply_opt(opt)
        if opt.op is OptOps.NOLOCALS:
            continue
        if opt.op is OptOps.SWAP:
            out.append(f"swap({pieces[axis].name}, {pieces[opt.arg].name})")
            pieces[axis], pieces[opt.arg] = pieces[opt.arg], pieces[axis]
        elif opt.op is OptOps.PADTO:
            piece = pieces[axis]
            base, *digits = piece.name.split(".")
            if any(d != "0" for d in digits):
                raise NotThroughTg("padding of a part of an axis")
            piece.size = -(-piece.size // opt.arg) * opt.arg
            padded[base] = piece.size * inner_size(pieces, piece)
        else:
            place = {OptOps.LOCAL: first_reduce}.get(opt.op, len(pieces))
            if opt.op in (OptOps.GROUP, OptOps.GROUPTOP):
                place = first_reduce + groups
            shift(pieces, out, axis, opt.arg, opt.op is OptOps.GROUPTOP, place)
    if [p.size for p in pieces] != list(replay.full_shape):
        raise NotThroughTg(f"opts make {replay.full_shape} in tinygrad, {pieces} here")
    pads = [f"padto({base}, {size})" for base, size in padded.items()]
    marks = [f"{MARKS[color]}({p.name})" for p, color in zip(pieces, replay.colors()) if color in MARKS]
    return pads + out + marks


def inner_size(pieces, outer):
    """The product of the sizes of the axes that were split off an axis, further inwards."""
    base, size = outer.name.split(".")[0], 1
    for p in pieces:
        size *= p.size if p is not outer and p.name.split(".")[0] == base else 1
    return size


def shift(pieces, out, axis, amount, top, place):
    """Splits `amount` off an axis and moves it, as Kernel.shift_to does; `out` gets the split."""
    piece = pieces[axis]
    amount = amount or piece.size
    place = min(place, len(pieces))
    if amount == piece.size:
        pieces.insert(place, piece)
        del pieces[axis if place > axis else axis + 1]
        return
    rest = piece.size // amount
    out.append(f"split({piece.name}, {rest if top else amount})")
    outer, inner = piece.name + ".0", piece.name + ".1"
    moved, kept = (outer, inner) if top else (inner, outer)
    pieces.insert(place, Piece(moved, amount))
    pieces[axis if place > axis else axis + 1] = Piece(kept, rest)


def tinygrad_ast(program):
    """The kernel that tinygrad's scheduler makes of a graph, its globals numbered as the buffers of
    the Program. Raises NotThroughTg where it makes several of what tg makes one of."""
    becomes = grouper.get_becomes_map(program.graph)
    found = {u: None for value in becomes.values() for u in value.toposort()
             if u.op is Ops.KERNEL and all(s.op is Ops.STORE for s in u.arg.ast.src)}
    if len(found) != 1:
        raise NotThroughTg(f"tinygrad makes {len(found)} kernels of this graph")
    (kernel,) = found
    given = {u for u in program.graph.toposort() if u.op is Ops.BUFFER}
    outputs = sum(name is not None and name.startswith("o") for name in program.names)
    slots = [outputs + b.buf_uop.src[0].arg if b.buf_uop in given else 0 for b in kernel.src]
    ast, new = kernel.arg.ast, {}
    for u in ast.toposort():
        sources = tuple(new[s] for s in u.src)
        arg = slots[u.arg] if u.op is Ops.DEFINE_GLOBAL else u.arg
        new[u] = u if sources == u.src and arg == u.arg else u.replace(src=sources, arg=arg)
    return new[ast]


def with_sizes(ast):
    """An AST whose pointers are as large as what is read and written there; ASTs written by hand
    leave that out, or say 1."""
    sizes, new = {}, {}
    for u in ast.toposort():
        if u.op in (Ops.LOAD, Ops.STORE) and u.src[0].op is Ops.DEFINE_GLOBAL:
            sizes[u.src[0].arg] = max(sizes.get(u.src[0].arg, 1), u.st_arg.real_size())
    for u in ast.toposort():
        if u.op is Ops.DEFINE_GLOBAL and not isinstance(u.dtype, ImageDType):
            new[u] = u.replace(dtype=u.dtype.base.ptr(max(u.dtype.size, sizes.get(u.arg, 1))))
        else:
            sources = tuple(new[s] for s in u.src)
            new[u] = u if sources == u.src else u.replace(src=sources)
    return new[ast]


@dataclass
class TgProgram(ProgramSpec):
    """A ProgramSpec with tg's source and statistics."""

    work: Estimates = field(default_factory=Estimates)

    @property
    def estimates(self):
        return self.work


@dataclass
class Compiled:
    """The compilation of a source: its module, and the buffers and variables in calling order. A
    caller's buffers may be larger than the range that the kernel accesses."""

    text: str
    bytes: dict  # by slot
    outs: list
    vars: list
    pipeline: str = PIPELINE


class KernelBridge:
    """counts: kernels that tg has compiled and run here, by what happened."""

    def __init__(self, server):
        self.server = server
        self.compiled = {}  # by the source's hash
        self.counts = {"asts": 0, "ast runs": 0}

    def module_text(self, kernel, plain):
        """A Kernel as a module of tg; plain: its AST without opts."""
        text = self.server.print(str(plain) + "\n", "schedule:none")  # which names the axes
        headers = HEADER.findall(text)
        if len(headers) != 1:
            raise NotThroughTg("a kernel that tg does not import as one at stage `kernel`")
        axes = [(name, int(size)) for name, size in re.findall(r"(\w+):(\d+) \w+", headers[0][1])]
        opts = ", ".join(tg_opts(kernel, axes))
        text = HEADER.sub(lambda m: m[1] + (f"schedule = [{opts}]" if opts else f"axes = [{m[2]}]") + "} {", text)
        # A buffer that is partly written keeps its other elements.
        return re.sub(r"^(buffer @data\d+ : .*) output$", r"\1 state", text, flags=re.M)

    def to_program(self, kernel, name_override=None, ast_transform=None):
        if ast_transform is not None:
            raise NotThroughTg("a transformation of a kernel before tinygrad lowers it")
        plain = with_sizes(Kernel(kernel.ast, opts=kernel.opts).get_optimized_ast("kernel"))
        text = self.module_text(kernel, plain)
        variables = sorted(kernel.ast.variables(), key=lambda v: v.arg)
        ((name, ops, traffic, groups, local, source),) = self.server.kernels(
            text, PIPELINE, {v.arg[0]: v.arg[2] for v in variables})
        nodes = plain.toposort()
        sizes = {u.arg: u.dtype.nbytes() for u in nodes if u.op is Ops.DEFINE_GLOBAL}
        slots = sorted(sizes)
        outs = sorted({u.src[0].arg for u in nodes if u.op is Ops.STORE})
        ins = sorted({u.src[0].arg for u in nodes if u.op is Ops.LOAD})
        self.compiled[key_of(source)] = Compiled(
            text, {slot: sizes[slot] for slot in slots}, outs, [v.arg[0] for v in variables])
        self.counts["asts"] += 1
        return TgProgram(name_override or ansistrip(kernel.name), source, kernel.opts.device, kernel.ast,
                         applied_opts=kernel.applied_opts, global_size=groups, local_size=local,
                         vars=variables, globals=slots, outs=outs, ins=ins, _ran_post_init=True,
                         work=Estimates(ops, traffic, traffic))

    def install(self, program_of):
        """program_of(ast): the Program of a graph's AST, None of another."""
        tinygrad_init = Kernel.__init__

        def init(kernel, ast, opts=None):
            program = program_of(ast)
            tinygrad_init(kernel, tinygrad_ast(program) if program else ast, opts)

        def refuse(*args, **kwargs):
            raise NotThroughTg("tinygrad's own lowering of a kernel")

        Kernel.__init__ = init
        Kernel.to_program = lambda kernel, *args, **kwargs: self.to_program(kernel, *args, **kwargs)
        Kernel.linearize = refuse
        tinygrad_kernel.full_rewrite = refuse


def key_of(source):
    return hashlib.sha256(source.encode()).hexdigest().encode()


class Compiler(tinygrad.device.Compiler):
    """Accepts only sources that tg made."""

    def __init__(self, bridge):
        super().__init__()
        self.bridge = bridge

    def compile(self, src):
        if key_of(src) not in self.bridge.compiled:
            raise NotThroughTg("a source that tg has not made")
        return key_of(src)


def runtime_of(bridge):
    class Run:
        """Called with the buffers' memory, as CompiledRunner does."""

        def __init__(self, name, lib):
            self.compiled = bridge.compiled[bytes(lib)]

        def __call__(self, *buffers, global_size=None, local_size=None, vals=(), wait=False):
            c = self.compiled
            memory = dict(zip(c.bytes, buffers))
            inputs = {f"data{slot}": bytes(b)[:c.bytes[slot]].ljust(c.bytes[slot], b"\0")
                      for slot, b in memory.items()}
            results, _, _ = bridge.server.run(
                c, dict(zip(c.vars, vals)), inputs, [f"data{slot}" for slot in c.outs])
            for slot, data in zip(c.outs, results):
                ctypes.memmove(memory[slot], data, min(len(data), ctypes.sizeof(memory[slot])))
            bridge.counts["ast runs"] += 1
            return 0.0 if wait else None

    return Run
