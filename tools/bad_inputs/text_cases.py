"""Mistakes in the text of a module. tg-opt and tg-run report them with the same words."""

from case import Case, changed

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

kernel @double : kernel {axes = [i0:16 global], opts = [local(i0, 4)]} {
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

    def graph(what, old, new, error):
        return text(what, changed(GRAPH, old, new), error)

    def line(what, new, error):
        return graph(what, NEG, new, error)

    def kernel(what, old, new, error):
        return text(what, changed(KERNEL, old, new), error)

    def loop(what, old, new, error):
        return text(what, changed(LOOP, old, new), error)

    group = "A damaged file"
    yield text("an empty file", "", "")
    yield text("random bytes", bytes((i * 151 + 91) % 256 for i in range(512)), "")
    yield text("an npy file where a module belongs", b"\x93NUMPY\x01\x00v\x00{'descr': '<f4'}", "")
    yield text("cut off in the middle of a line", GRAPH[:GRAPH.index(" %x : f32\n  sink")], "")
    yield text("cut off in the middle of a string", GRAPH[:GRAPH.index("cpu")], "")
    yield text("cut off in the middle of a body", GRAPH[:GRAPH.index("  sink")], "")
    yield text("cut off in a list", KERNEL[:KERNEL.index(":16 global")], "")
    yield graph("a NUL byte", "neg %x", "neg\0%x", "")
    yield text("not UTF-8", GRAPH.encode().replace(b"@m {", b"@m\xff {"), "")
    yield text("a byte order mark", b"\xef\xbb\xbf" + GRAPH.encode(), "")
    yield text("UTF-16", GRAPH.encode("utf-16"), "")
    yield graph("no version", "tg 1\n", "", "")
    yield graph("a newer version", "tg 1\n", "tg 2\n", "")
    yield graph("no module line", 'module @m {target = "cl-cpu"}\n', "", "")

    group = "Names"
    yield line("an undefined name", "%a = neg %xs : f32", "")
    yield line("used before its definition", "%a = neg %b : f32\n  %b = neg %x : f32", "")
    yield line("a cycle", "%a = neg %b : f32\n  %b = neg %a : f32", "")
    yield line("defined twice", NEG + "\n  " + NEG, "")
    yield graph("a buffer that is not declared", "-> @y", "-> @z", "")
    yield graph("a buffer declared twice", "buffer @s", "buffer @x", "")
    yield line("a variable that is not declared", "%a = var @m : index", "")
    yield kernel("a kernel that does not exist", "kernel @double(", "kernel @doubel(", "")
    yield graph("an unknown role", "input", "inptu", "")
    yield graph("an unknown module field", "target =", "traget =", "")
    yield kernel("an unknown stage", "@double : kernel", "@double : kernle", "")
    yield kernel("an unknown kind of axis", "i0:16 global", "i0:16 globl", "")
    yield line("an unknown op", "%a = negate %x : f32", "")
    yield line("an unknown type", "%a = neg %x : float", "")
    yield line("an unknown attribute", "%a = neg %x {axis = 1} : f32", "")
    yield line("a missing attribute", "%a = reduce_axis %x {axes = [1]} : f32", "")
    yield kernel("an unknown special", "%v = load %x : f32",
                 "%v = load %x : f32\n  %c = const 4 : index\n  %l = special %c {name = lane} : index", "")

    group = "Numbers"
    yield line("an integer that does not fit in 64 bits",
               "%a = reshape %x {shape = [99999999999999999999]} : f32", "")
    yield line("a constant that does not fit its type", "%a = const 300 : u8", "")
    yield line("a float for an integer", "%a = const 1.5 : i32", "")
    yield line("a float out of range", "%a = const 1e99 : f32", "")
    yield graph("a shape of 2^62 elements", "buffer @s : f32[4, 8]", "buffer @s : f32[4611686018427387904]", "")
    yield graph("a shape whose size overflows", "buffer @s : f32[4, 8]",
                "buffer @s : f32[4294967296, 4294967296]", "")
    yield line("a value whose size overflows",
               "%b = reshape %x {shape = [4, 8, 1]} : f32\n"
               "  %a = expand %b {shape = [4, 8, 4611686018427387904]} : f32", "")
    yield graph("a negative extent", "buffer @s : f32[4, 8]", "buffer @s : f32[4, -8]", "")
    yield line("a negative extent of a value", "%a = reshape %x {shape = [-4, -8]} : f32", "")
    yield graph("the bounds of a variable the wrong way round", "[1, 16]", "[16, 1]", "")
    yield kernel("a kernel axis of size 0", "i0:16", "i0:0", "")

    group = "Operands and types"
    yield line("too few operands", "%a = add %x : f32", "")
    yield line("too many operands", "%a = neg %x, %x : f32", "")
    yield line("the wrong type of a result", "%a = neg %x : f16", "")
    yield line("operands of different types", "%i = cast %x : i32\n  %a = add %x, %i : f32", "")
    yield line("an op that the type does not have", "%a = and %x, %x : f32", "")
    yield line("an op of another stage", "%a = barrier", "")
    yield line("no type", "%a = neg %x", "")
    yield line("a reduction that is none", "%a = reduce_axis %x {op = sub, axes = [1]} : f32", "")
    yield line("a bitcast that changes the size", "%a = bitcast %x : f64", "")

    group = "Shapes"
    yield line("reshape: another number of elements", "%a = reshape %x {shape = [5, 8]} : f32", "")
    yield line("expand: an axis that is not 1", "%a = expand %x {shape = [4, 16]} : f32", "")
    yield line("expand: another rank", "%a = expand %x {shape = [4, 8, 2]} : f32", "")
    yield line("shrink: outside of its source", "%a = shrink %x {arg = [(0, 4), (3, 9)]} : f32", "")
    yield line("shrink: the wrong way round", "%a = shrink %x {arg = [(0, 4), (5, 3)]} : f32", "")
    yield line("pad: a negative amount", "%a = pad %x {pad = [(0, 0), (-1, 0)]} : f32", "")
    yield line("pad: beyond 62 bits", "%a = pad %x {pad = [(0, 0), (9223372036854775807, 1)]} : f32", "")
    yield line("permute: no permutation", "%a = permute %x {order = [0, 0]} : f32", "")
    yield line("flip: no such axis", "%a = flip %x {axes = [2]} : f32", "")
    yield line("reduce_axis: no such axis", "%a = reduce_axis %x {op = add, axes = [2]} : f32", "")
    yield line("elementwise: different shapes", "%w = buffer @w : f32\n  %a = add %x, %w : f32", "")
    yield line("assign: different shapes",
               "%w = buffer @w : f32\n  %s = buffer @s : f32\n  %a = assign %s, %w : f32", "")
    yield line("sink: not the buffer's shape", "%a = buffer @w : f32", "")
    yield kernel("store: different shapes", "%2 = add %v, %v : f32",
                 "%2 = reshape %v {shape = [4, 4]} : f32", "")
    yield line("view: outside of its source",
               "%a = view %x {st = [view(shape = [4, 8], strides = [8, 1], offset = 1)]} : f32", "")

    group = "Meaning"
    yield graph("an input is written", "-> @y", "-> @x", "")
    yield line("two assigns without an order",
               "%s = buffer @s : f32\n  %b = assign %s, %x : f32\n  %c = exp2 %x : f32\n"
               "  %d = assign %s, %c : f32\n  %a = add %b, %d : f32", "")
    yield line("an assign to a value", "%b = neg %x : f32\n  %a = assign %b, %x : f32", "")
    yield kernel("a kernel called with too few buffers", "@double(%y, %x)", "@double(%y)", "")
    yield kernel("a kernel called with a buffer of another size", "buffer @x : f32[16]", "buffer @x : f32[8]", "")
    yield kernel("what a kernel writes is not assigned", "%r = assign %y, %k : f32\n  sink %r", "sink %k", "")
    yield loop("an access outside of the memory", "index %y, %i ", "index %y, %n ", "")
    yield loop("a loop that is not closed", "  %e = end %s, %i\n  sink %e", "  sink %s", "")
    yield loop("an end that closes no loop", "end %s, %i", "end %s, %n", "")
    yield graph("no sink", "  sink %a -> @y\n", "", "")
    yield graph("a statement after the sink", "-> @y\n", "-> @y\n  %b = neg %a : f32\n", "")


TEXT_CASES = list(_cases())
