"""Mistakes in the data that tg-run is given, in what it is asked for, and in what it runs on."""

from case import Case, changed, floats, npy, safetensors

MODEL = """tg 1
module @m
buffer @x : f32[4, 8] input
buffer @w : f32[8] param = file("w.safetensors", "weight")
buffer @y : f32[4, 8] output

graph @main {
  %x = buffer @x : f32
  %w = buffer @w : f32
  %0 = reshape %w {shape = [1, 8]} : f32
  %1 = expand %0 {shape = [4, 8]} : f32
  %2 = mul %x, %1 : f32
  sink %2 -> @y
}
"""

SYMBOLIC = """tg 1
module @m
var @n : [1, 16]
buffer @y : f32[@n] output

graph @main {
  %n = var @n : index
  %f = cast %n : f32
  %1 = reshape %f {shape = [1]} : f32
  %2 = expand %1 {shape = [%n]} : f32
  sink %2 -> @y
}
"""

# A kernel for one device of its own: what can only go wrong there.
KERNEL = """tg 1
module @m
buffer @x : f32[16] input
buffer @y : f32[16] output

graph @main {
  %y = buffer @y : f32
  %x = buffer @x : f32
  %k = kernel @k(%y, %x)
  %r = assign %y, %k : f32
  sink %r
}

kernel @k : kernel {axes = [i0:16 global]} {
  %y = define_global {arg = 0} : ptr<f32, 16>
  %x = define_global {arg = 1} : ptr<f32, 16>
  %v = load %x : f32
  %2 = exp2 %v : f32
  %3 = store %y, %2
  sink %3
}
"""

HUGE = """tg 1
module @m
buffer @x : f32[1] input
buffer @y : f32[1099511627776] output

graph @main {
  %x = buffer @x : f32
  %0 = expand %x {shape = [1099511627776]} : f32
  sink %0 -> @y
}
"""

LOCAL = """tg 1
module @m
buffer @y : f32[4] output

graph @main {
  %y = buffer @y : f32
  %k = kernel @k(%y)
  %r = assign %y, %k : f32
  sink %r
}

kernel @k : linear {
  %y = define_global {arg = 0} : ptr<f32, 4>
  %s = scratch {id = 0} : ptr<f32, 16777216, local>
  %n = const 4 : i32
  %v = const 1.5 : f32
  %l = special %n {name = local0} : i32
  %0 = index %s, %l : ptr<f32, 16777216, local>
  %1 = store %0, %v
  %2 = barrier %1
  %3 = after %s, %2 : ptr<f32, 16777216, local>
  %4 = index %3, %l : ptr<f32, 16777216, local>
  %5 = load %4 : f32
  %6 = index %y, %l : ptr<f32, 4>
  %7 = store %6, %5
  sink %7
}
"""

GROUP = """tg 1
module @m
buffer @y : f32[1048576] output

graph @main {
  %y = buffer @y : f32
  %k = kernel @k(%y)
  %r = assign %y, %k : f32
  sink %r
}

kernel @k : linear {
  %y = define_global {arg = 0} : ptr<f32, 1048576>
  %n = const 1048576 : i32
  %v = const 1.5 : f32
  %l = special %n {name = local0} : i32
  %0 = index %y, %l : ptr<f32, 1048576>
  %1 = store %0, %v
  sink %1
}
"""

HEADER = '{"weight": {"dtype": "F32", "shape": [8], "data_offsets": [0, 32]}}'
WEIGHTS = safetensors(HEADER, floats(8))
X = npy("<f4", "(4, 8)", floats(32))
RUN = "tg-run m.uop --device=reference --input x=x.npy --output y=y.npy"
RUN_KERNEL = "tg-run m.uop --device=cpu --input x=x.npy --output y=y.npy"
X16 = npy("<f4", "(16,)", floats(16))


def _cases():
    def run(what, error, command=RUN, code=1, model=MODEL, x=X, weights=WEIGHTS, **more):
        files = {"m.uop": model, "x.npy": x, "w.safetensors": weights}
        files = {name: data for name, data in files.items() if data != "absent"}
        return Case(group, what, command, error, code, files, **more)

    def kernel(what, error, command=RUN_KERNEL, model=KERNEL, **more):
        return run(what, error, command, model=model, x=X16, **more)

    group = "Inputs (npy)"
    yield run("a missing input file", "", x="absent")
    yield run("a folder for an input", "", x=None)
    yield run("an empty file", "", x=b"")
    yield run("text for an npy file", "", x="1 2 3\n")
    yield run("cut off in the header", "", x=X[:40])
    yield run("cut off in the data", "", x=X[:-5])
    yield run("more data than the shape", "", x=X + b"\0")
    yield run("another type", "", x=npy("<i4", "(4, 8)", floats(32)))
    yield run("a type that is not known", "", x=npy("<c8", "(4, 4)", floats(32)))
    yield run("another shape", "", x=npy("<f4", "(8, 4)", floats(32)))
    yield run("a huge shape", "", x=npy("<f4", "(4611686018427387904, 8)", floats(32)))
    yield run("a shape that does not fit in 64 bits", "",
              x=npy("<f4", "(99999999999999999999, 8)", floats(32)))
    yield run("a negative extent", "", x=npy("<f4", "(-4, -8)", floats(32)))
    yield run("a newer npy format", "", x=X[:6] + b"\x09\x00" + X[8:])
    yield run("no input", "", RUN.replace(" --input x=x.npy", ""))
    yield run("an input that the module does not have", "", RUN + " --input z=x.npy")
    yield run("an output given as an input", "", RUN + " --input y=x.npy")
    yield run("an input given twice", "", RUN + " --input x=x.npy")

    group = "Params (safetensors)"
    yield run("a missing file", "", weights="absent")
    yield run("an empty file", "", weights=b"")
    yield run("cut off in the header", "", weights=WEIGHTS[:30])
    yield run("cut off in the data", "", weights=WEIGHTS[:-3])
    yield run("a header of 2^63 bytes", "", weights=safetensors(HEADER, floats(8), 1 << 63))
    yield run("a header that is not JSON", "", weights=safetensors(HEADER[:-1] + "]", floats(8)))
    yield run("another tensor", "", weights=safetensors(HEADER.replace("weight", "weights"), floats(8)))
    yield run("another type", "", weights=safetensors(HEADER.replace("F32", "I32"), floats(8)))
    yield run("another shape", "", weights=safetensors(HEADER.replace("[8]", "[2, 4]"), floats(8)))
    yield run("offsets that do not fit the shape", "",
              weights=safetensors(HEADER.replace("32]", "28]"), floats(7)))
    yield run("offsets outside of the file", "", weights=safetensors(HEADER.replace("[0, 32]", "[32, 64]"), floats(8)))
    yield run("overlapping tensors", "", weights=safetensors(
        HEADER[:-1] + ', "b": {"dtype": "F32", "shape": [8], "data_offsets": [16, 48]}}', floats(12)))
    yield run("a tensor that is there twice", "", weights=safetensors(
        HEADER[:-1] + ", " + HEADER[1:], floats(8)))
    yield run("a type that is not known", "", weights=safetensors(HEADER.replace("F32", "C64"), floats(8)))

    group = "What is asked for"
    yield run("a missing module", "", RUN.replace("m.uop", "n.uop"))
    yield run("a folder for a module", "", RUN.replace("m.uop", "w.safetensors"), weights=None)
    yield run("an unknown graph", "", RUN + " --graph=mian")
    yield run("an unknown output", "", RUN.replace("y=y", "z=y"))
    yield run("an unknown buffer to print", "", RUN + " --print=z")
    yield run("an unknown target", "", RUN_KERNEL + " --target=cl-cpux")
    yield run("an unknown target in the module", "", RUN_KERNEL, model=changed(MODEL, "module @m", 'module @m {target = "cl-cpux"}'))
    yield run("a device that is not there", "", RUN.replace("reference", "abacus"))
    yield run("a device number that is not there", "", RUN.replace("reference", "99"))
    yield run("no value for a variable", "", "tg-run m.uop --device=reference --output y=y.npy", model=SYMBOLIC)
    yield run("a variable out of its bounds", "", "tg-run m.uop --device=reference --var n=17 --output y=y.npy", model=SYMBOLIC)
    yield run("a variable that is not declared", "", "tg-run m.uop --device=reference --var n=3 --var m=3 --output y=y.npy", model=SYMBOLIC)
    yield run("a variable's value that is no number", "", "tg-run m.uop --device=reference --var n=five --output y=y.npy", code=2, model=SYMBOLIC)
    yield run("a variable's value that does not fit in 64 bits", "", "tg-run m.uop --device=reference --var n=99999999999999999999 --output y=y.npy", code=2, model=SYMBOLIC)
    yield run("results that are not the expected ones", "", RUN + " --expect y=x.npy")
    yield run("no module", "", "tg-run --device=reference", code=2)
    yield run("an unknown option", "", RUN + " --ouput y=y.npy", code=2)
    yield run("an option without its value", "", "tg-run m.uop --input", code=2)
    yield run("an input without a file", "", "tg-run m.uop --input x", code=2)

    group = "What it is written to"
    yield run("a folder that is not there", "", RUN.replace("y.npy", "no/y.npy"))
    yield run("a folder", "", RUN.replace("y.npy", "w.safetensors"), model=changed(MODEL, ' = file("w.safetensors", "weight")', " = [1, 2, 3, 4, 5, 6, 7, 8]"), weights=None)
    yield run("a full disk", "", RUN.replace("y.npy", "/dev/full"))
    yield run("a disk that is full after 64 bytes", "", file_limit=64)
    yield run("a trace on a full disk", "", RUN_KERNEL + " --profile=/dev/full")

    group = "On the device"
    yield kernel("a kernel that does not build", "", RUN_KERNEL + " --target=cl-adreno")
    yield kernel("more local memory than there is", "", "tg-run m.uop --device=cpu --output y=y.npy", model=LOCAL)
    yield kernel("a work-group that is too large", "", "tg-run m.uop --device=cpu --output y=y.npy", model=GROUP)
    yield kernel("an opt that makes the work-group too large", "", model=changed(KERNEL, "i0:16 global]", "i0:16 global], opts = [local(i0, 100000)]"))
    yield kernel("an opt that does not divide its axis", "", model=changed(KERNEL, "i0:16 global]", "i0:16 global], opts = [local(i0, 5)]"))
    yield kernel("an unknown opt", "", model=changed(KERNEL, "i0:16 global]", "i0:16 global], opts = [tile(i0, 4)]"))
    yield kernel("an opt on an axis that is not there", "", model=changed(KERNEL, "i0:16 global]", "i0:16 global], opts = [local(i1, 4)]"))
    yield kernel("an opt on the wrong kind of axis", "", model=changed(KERNEL, "i0:16 global]", "i0:16 global], opts = [unroll(i0, 4)]"))
    yield run("a result larger than any memory", "", "tg-run m.uop --device=cpu --input x=x.npy --output y=y.npy", model=HUGE, x=npy("<f4", "(1,)", floats(1)))
    yield run("the same, interpreted", "", model=HUGE, x=npy("<f4", "(1,)", floats(1)))
    yield run("random inputs larger than any memory", "", "tg-run m.uop --device=cpu --random-inputs=1 --output y=y.npy", model=changed(MODEL, "@x : f32[4, 8]", "@x : f32[4, 1099511627776]").replace("@y : f32[4, 8]", "@y : f32[4, 1]").replace("%1 = expand %0 {shape = [4, 8]}", "%1 = shrink %0 {arg = [(0, 1), (0, 1)]}").replace("mul %x, %1", "shrink %x {arg = [(0, 4), (7, 8)]}"))


RUN_CASES = list(_cases())
