"""Mistakes in the text of a module. tg-opt and tg-run report them with the same words."""

from case import Case, changed, floats, npy, safetensors

GRAPH = """tg 1
module @m {target = "cl-cpu"}
var @n : [1, 16]
buffer @x : f32[4, 8] input
buffer @w : f32[8, 4] param
buffer @s : f32[4, 8] state
buffer @y : f32[4, 8] output

graph @main {
  %x = buffer @x : f32
  %a = neg %x : f32
  sink %a -> @y
}
"""

NEGATION = """UOp(Ops.NEG, dtypes.float, arg=None, src=(
  UOp(Ops.CONST, dtypes.float, arg=1.0, src=()),))
"""

KERNEL = """tg 1
module @m
buffer @x : f32[16] input
buffer @y : f32[16] output

graph @main {
  %y = buffer @y : f32
  %x = buffer @x : f32
  %k = kernel @double(%y, %x)
  %r = assign %y, %k : f32
  sink %r
}

kernel @double : kernel {axes = [i0:16 global], schedule = [local(i0, 4)]} {
  %y = define_global {arg = 0} : ptr<f32, 16>
  %x = define_global {arg = 1} : ptr<f32, 16>
  %v = load %x : f32
  %2 = add %v, %v : f32
  %3 = store %y, %2
  sink %3
}
"""

LOOP = """tg 1
module @m

kernel @fill : linear {
  %y = define_global {arg = 0} : ptr<f32, 8>
  %n = const 8 : index
  %v = const 1.5 : f32
  %i = range %n {id = 0} : index
    %p = index %y, %i : ptr<f32, 8>
    %s = store %p, %v
  %e = end %s, %i
  sink %e
}
"""

NEG = "%a = neg %x : f32"


def _cases():
    def text(what, bad, error):
        return Case(group, what, "tg-opt m.uop", "m.uop:" + error, files={"m.uop": bad})

    def binary(what, data, kind):
        return text(what, data, " error: this is " + kind)

    def graph(what, old, new, error):
        return text(what, changed(GRAPH, old, new), error)

    def line(what, new, error):
        return graph(what, NEG, new, error)

    def kernel(what, old, new, error):
        return text(what, changed(KERNEL, old, new), error)

    def loop(what, old, new, error):
        return text(what, changed(LOOP, old, new), error)

    group = "A damaged file"
    yield text("an empty file", "",
               "1:1: error: expected 'tg 1' as the first line (the version of the format), found the end of the file")
    yield text("random bytes", bytes((i * 151 + 91) % 256 for i in range(512)),
               "1:1: error: expected 'tg 1' as the first line (the version of the format), found '['")
    yield text("cut off in the middle of a line", GRAPH[:GRAPH.index(" %x : f32\n  sink")],
               "11:11: error: expected ':' and the type of 'neg', found the end of the file")
    yield text("cut off in the middle of a string", GRAPH[:GRAPH.index("cpu")],
               "2:21: error: expected a string, found a string that does not end on its line")
    yield text("cut off in the middle of a body", GRAPH[:GRAPH.index("  sink")],
               "12:1: error: expected '}' to end graph @main, which begins in line 9, found the end of the file")
    yield text("cut off in a list", KERNEL[:KERNEL.index(":16 global")],
               "14:36: error: expected ':' after the axis's name, found the end of the file")
    yield binary("a checkpoint of PyTorch", b"PK\x03\x04" + bytes(26),
                 "a zip archive, such as a PyTorch checkpoint or an npz file, not the text of a module; tg reads modules, ONNX models, and what tinygrad prints")
    yield binary("a file of weights", safetensors("{}", b""),
                 "a safetensors file, not the text of a module; a module takes weights from it: buffer @w : f32[8] param = file(\"m.safetensors\", \"w\")")
    yield binary("an npy file where a module belongs", npy("<f4", "(1,)", floats(1)),
                 "an npy array, not the text of a module; --input gives it to a buffer of the module")
    yield graph("a NUL byte", "neg %x", "neg\0%x",
                "11:11: error: expected an operand (%name) or ':' and the type of 'neg', found the byte 0x00, which has no place in the text")
    yield text("not UTF-8", GRAPH.encode().replace(b"@m {", b"@m\xff {"),
               "2:10: error: expected the end of the line after the module's name, found the byte 0xff, which has no place in the text")
    yield text("a byte order mark", b"\xef\xbb\xbf" + GRAPH.encode(),
               "1:1: error: expected 'tg 1' as the first line (the version of the format), found the byte 0xef, which has no place in the text")
    yield text("UTF-16", GRAPH.encode("utf-16"),
               "1:1: error: expected 'tg 1' as the first line (the version of the format), found the byte 0xff, which has no place in the text")
    yield graph("no version", "tg 1\n", "",
                "1:1: error: expected 'tg 1' as the first line (the version of the format), found 'module'")
    yield graph("a newer version", "tg 1\n", "tg 2\n",
                "1:4: error: the file has format version 2, this tg reads version 1: a newer tg is needed")
    yield graph("no module line", 'module @m {target = "cl-cpu"}\n', "",
                "2:1: error: expected 'module @name', found 'var'")

    group = "Names"
    yield line("an undefined name", "%a = neg %xs : f32",
               "11:12: error: '%xs' is not defined; did you mean '%x'?")
    yield line("used before its definition", "%a = neg %b : f32\n  %b = neg %x : f32",
               "11:12: error: '%b' is used before its definition in line 12")
    yield line("a cycle", "%a = neg %b : f32\n  %b = neg %a : f32",
               "11:12: error: cycle: %a -> %b -> %a; a value cannot depend on itself")
    yield line("defined twice", NEG + "\n  " + NEG,
               "12:3: error: '%a' is already defined in line 11")
    yield graph("a buffer that is not declared", "-> @y", "-> @z",
                "12:14: error: no buffer '@z' is declared")
    yield graph("a buffer declared twice", "buffer @s", "buffer @x",
                "6:8: error: '@x' is already declared in line 4")
    yield line("a variable that is not declared", "%a = var @m : index",
               "11:12: error: no variable '@m' is declared")
    yield kernel("a kernel that does not exist", "kernel @double(", "kernel @doubel(",
                 "9:15: error: no kernel '@doubel' is declared; did you mean '@double'?")
    yield graph("an unknown role", "input", "inptu",
                "4:23: error: expected input, output, param, state or temp, found 'inptu'")
    yield graph("an unknown module field", "target =", "traget =",
                "2:12: error: a module has no field 'traget'; did you mean 'target'?")
    yield kernel("an unknown stage", "@double : kernel", "@double : kernle",
                 "14:18: error: expected kernel, lowered, expanded or linear, found 'kernle'; did you mean 'kernel'?")
    yield kernel("an unknown kind of axis", "i0:16 global", "i0:16 globl",
                 "14:40: error: expected global, local, group, reduce, unroll, upcast, vector, loop or stage, found 'globl'; did you mean 'global'?")
    yield line("an unknown op", "%a = negate %x : f32", "11:8: error: unknown op 'negate'; write neg(x)")
    yield line("a function that is spelt with others", "%a = exp %x : f32",
               "11:8: error: unknown op 'exp'; write exp2(x * 1.4426950408889634)")
    yield line("an unknown type", "%a = neg %x : float",
               "11:17: error: unknown type 'float'; did you mean 'f32'?")
    yield line("an unknown attribute", "%a = neg %x {axis = 1} : f32",
               "11:16: error: 'neg' has no field 'axis'; it has none")
    yield line("a missing attribute", "%a = reduce_axis %x {axes = [1]} : f32",
               "11:8: error: 'reduce_axis' needs the field 'op'")
    yield kernel("an unknown special", "%v = load %x : f32",
                 "%v = load %x : f32\n  %c = const 4 : index\n  %l = special %c {name = lane} : index",
                 "19:27: error: expected grid0, grid1, grid2, local0, local1 or local2, found 'lane'")

    group = "Numbers"
    yield line("an integer that does not fit in 64 bits",
               "%a = reshape %x {shape = [99999999999999999999]} : f32",
               "11:29: error: 99999999999999999999 does not fit in 64 bits")
    yield line("a constant that does not fit its type", "%a = const 300 : u8",
               "11:14: error: 300 does not fit in u8 (0 to 255)")
    yield line("a float for an integer", "%a = const 1.5 : i32",
               "11:14: error: '1.5' is not an integer, and the type is i32")
    yield line("a float out of range", "%a = const 1e99 : f32",
               "11:14: error: '1e99' is out of the range of f32")
    yield graph("a shape of 2^62 elements", "buffer @s : f32[4, 8]",
                "buffer @s : f32[4611686018427387904]",
                "6:8: error: [V401] buffer @s: an extent is not from 0 to 2^56")
    yield graph("a shape whose size overflows", "buffer @s : f32[4, 8]",
                "buffer @s : f32[4294967296, 4294967296]",
                "6:8: error: [V401] buffer @s: it has too many elements")
    yield line("a value whose size overflows",
               "%b = reshape %x {shape = [4, 8, 1]} : f32\n" "  %a = expand %b {shape = [4, 8, 4611686018427387904]} : f32",
               "12:8: error: [V302] expand: 4611686018427387904 is not from 0 to 2^56")
    yield graph("a negative extent", "buffer @s : f32[4, 8]", "buffer @s : f32[4, -8]",
                "6:20: error: an extent cannot be negative")
    yield line("a negative extent of a value", "%a = reshape %x {shape = [-4, -8]} : f32",
               "11:8: error: [V302] reshape: -4 is not from 0 to 2^56")
    yield graph("the bounds of a variable the wrong way round", "[1, 16]", "[16, 1]",
                "3:5: error: [V401] var @n: its bounds are the wrong way round")
    yield kernel("a kernel axis of size 0", "i0:16", "i0:0",
                 "14:8: error: [V508] kernel @double: axis i0 has no size")

    group = "Operands and types"
    yield line("too few operands", "%a = add %x : f32",
               "11:8: error: 'add' takes 2 operands, not 1")
    yield line("too many operands", "%a = neg %x, %x : f32",
               "11:8: error: 'neg' takes 1 operand, not 2")
    yield line("the wrong type of a result", "%a = neg %x : f16",
               "11:8: error: [V203] neg: the type is f16, that of the sources f32")
    yield line("operands of different types", "%i = cast %x : i32\n  %a = add %x, %i : f32",
               "12:8: error: [V203] add: sources have types f32 and i32")
    yield line("an op that the type does not have", "%a = and %x, %x : f32",
               "11:8: error: [V206] and: it is not defined for f32 (only bool, integer)")
    yield line("an op of another stage", "%a = barrier",
               "11:8: error: [V102] barrier: not an op of stage tensor (but of lowered, expanded, linear)")
    yield line("no type", "%a = neg %x",
               "11:14: error: expected ':' and the type of 'neg', found the end of the line")
    yield line("a reduction that is none", "%a = reduce_axis %x {op = sub, axes = [1]} : f32",
               "11:8: error: [V211] reduce_axis: 'sub' does not reduce (add, mul, max, min, and, or, xor do)")
    yield line("a bitcast that changes the size", "%a = bitcast %x : f64",
               "11:8: error: [V207] bitcast: the bits of a lane change: f32 to f64")

    group = "Shapes"
    yield line("reshape: another number of elements", "%a = reshape %x {shape = [5, 8]} : f32",
               "11:8: error: [V301] reshape: [4, 8] and [5, 8] have different numbers of elements")
    yield line("expand: an axis that is not 1", "%a = expand %x {shape = [4, 16]} : f32",
               "11:8: error: [V301] expand: axis 1 of [4, 8] is not 1 and cannot become that of [4, 16]")
    yield line("expand: another rank", "%a = expand %x {shape = [4, 8, 2]} : f32",
               "11:8: error: [V301] expand: cannot expand rank 2 shape [4, 8] to [4, 8, 2] (reshape first, or use broadcast)")
    yield line("shrink: outside of its source", "%a = shrink %x {ranges = [(0, 4), (3, 9)]} : f32",
               "11:8: error: [V301] shrink: [3, 9) is not inside axis 1 of [4, 8]")
    yield line("shrink: the wrong way round", "%a = shrink %x {ranges = [(0, 4), (5, 3)]} : f32",
               "11:8: error: [V301] shrink: [5, 3) is not inside axis 1 of [4, 8]")
    yield line("pad: a negative amount", "%a = pad %x {widths = [(0, 0), (-1, 0)]} : f32",
               "11:8: error: [V301] pad: a negative amount on axis 1")
    yield line("pad: beyond 62 bits",
               "%a = pad %x {widths = [(0, 0), (9223372036854775807, 1)]} : f32",
               "11:8: error: [V302] pad: 9223372036854775807 is not from -2^56 to 2^56")
    yield line("permute: no permutation", "%a = permute %x {axes = [0, 0]} : f32",
               "11:8: error: [V301] permute: axes is not a permutation of the axes of [4, 8]")
    yield line("flip: no such axis", "%a = flip %x {axes = [2]} : f32",
               "11:8: error: [V301] flip: axes must be ascending axes of [4, 8]")
    yield line("reduce_axis: no such axis", "%a = reduce_axis %x {op = add, axes = [2]} : f32",
               "11:8: error: [V301] reduce_axis: axes must be ascending axes of [4, 8]")
    yield line("elementwise: different shapes", "%w = buffer @w : f32\n  %a = add %x, %w : f32",
               "12:8: error: [V301] add: sources have different shapes [4, 8] and [8, 4]")
    yield line("assign: different shapes",
               "%w = buffer @w : f32\n  %s = buffer @s : f32\n  %a = assign %s, %w : f32",
               "13:8: error: [V301] assign: the target has shape [4, 8], the value [8, 4]")
    yield line("sink: not the buffer's shape", "%a = buffer @w : f32",
               "12:3: error: [V406] sink: '@y' does not have the shape of %a")
    yield kernel("store: different shapes", "%2 = add %v, %v : f32",
                 "%2 = reshape %v {shape = [4, 4]} : f32",
                 "19:8: error: [V301] store: the target has shape [16], the value [4, 4]")
    yield line("view: outside of its source",
               "%a = view %x {views = [view(shape = [4, 8], strides = [8, 1], offset = 1)]} : f32",
               "11:8: error: [V303] view: view 0 reads elements 1 to 32 of 32")

    group = "Meaning"
    yield graph("an input is written", "-> @y", "-> @x",
                "12:3: error: [V402] sink: '@x' is written, and its role is input")
    yield graph("@init reads an input", "graph @main", "graph @init",
                "10:8: error: [V409] buffer: '@x' is an input, which each run has anew")
    yield graph("buffers of two devices without a copy", "buffer @y : f32[4, 8] output",
                'buffer @y : f32[4, 8] output on "gpu:1"',
                "12:3: error: [V410] sink: '@y' is on device 'gpu:1', %a on the default device; copy moves a value to another device")
    yield line("two assigns without an order",
               "%s = buffer @s : f32\n  %b = assign %s, %x : f32\n  %c = exp2 %x : f32\n" "  %d = assign %s, %c : f32\n  %a = add %b, %d : f32",
               "14:8: error: [V404] assign: it writes a part of '@s' that %b writes too, and neither comes after the other")
    yield line("an assign to a value", "%b = neg %x : f32\n  %a = assign %b, %x : f32",
               "12:8: error: [V403] assign: source 0 (%b, neg) is neither a buffer nor a view of one that can be written")
    yield kernel("a kernel called with too few buffers", "@double(%y, %x)", "@double(%y)",
                 "9:8: error: [V405] kernel: the kernel has 2 argument slots, there are 1 operands")
    yield kernel("a kernel called with a buffer of another size", "buffer @x : f32[16]",
                 "buffer @x : f32[8]",
                 "9:8: error: [V405] kernel: operand 1 (%x) has 8 elements, slot 1 of the kernel is ptr<f32, 16>")
    yield kernel("what a kernel writes is not assigned", "%r = assign %y, %k : f32\n  sink %r",
                 "sink %k",
                 "9:8: error: [V408] kernel: it writes operand 0 (%y), and no assign says so")
    yield loop("an access outside of the memory", "index %y, %i ", "index %y, %n ",
               "9:10: error: [V502] index: element 8 of ptr<f32, 8> (%y)")
    yield loop("a loop that is not closed", "  %e = end %s, %i\n  sink %e", "  sink %s",
               "8:8: error: [V604] range: no end closes this loop")
    yield loop("an end that closes no loop", "end %s, %i", "end %s, %n",
               "11:8: error: [V505] end: source 1 (%n) is no range")
    yield graph("no sink", "  sink %a -> @y\n", "",
                "12:1: error: graph @main has no sink; its last statement must be 'sink' of what it computes")
    yield graph("a statement after the sink", "-> @y\n", "-> @y\n  %b = neg %a : f32\n",
                "13:8: error: a statement after the sink in line 12")

    def tinygrad(what, bad, error):
        return Case(group, what, "tg-opt m.repr", "m.repr:" + error, files={"m.repr": bad})

    group = "A text of tinygrad"
    yield tinygrad("cut off", NEGATION[:-4], "2:48: error: the text ends here, but '(' of line 1, column 42 is still open")
    yield tinygrad("cut off in a word", NEGATION[:60],
                   "2:17: error: the text ends here, but 'UOp(' of line 2, column 3 is still open")
    yield tinygrad("an unknown op", changed(NEGATION, "NEG", "NEGATE"), "1:1: error: unknown op 'NEGATE'")
    yield tinygrad("an op without a counterpart", changed(NEGATION, "NEG", "WMMA"),
                   "1:1: error: WMMA: tg has no counterpart of this op")
    yield tinygrad("an unknown type", changed(NEGATION, "dtypes.float, arg=None", "dtypes.float128, arg=None"),
                   "1:14: error: unknown type 'dtypes.float128'")
    yield tinygrad("a name that is not defined", NEGATION.replace("UOp(Ops.CONST, dtypes.float, arg=1.0, src=())", "x3"),
                   "2:3: error: x3 is not defined above")
    yield tinygrad("a UOp of another form", changed(NEGATION, "arg=None", "value=None"),
                   "1:1: error: UOp of a form that is not known: unexpected 'value'")
    yield tinygrad("a wrong type", changed(NEGATION, "CONST, dtypes.float, arg=1.0", "CONST, dtypes.int, arg=1"),
                   "1:1: error: [V203] neg: the type is f32, that of the sources i32")


TEXT_CASES = list(_cases())
